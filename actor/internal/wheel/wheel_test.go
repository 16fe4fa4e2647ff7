package wheel

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// named is a timer with a name, as its owner would embed it.
type named struct {
	Timer
	name string
	run  func()
}

func (n *named) Run() {
	if n.run != nil {
		n.run()
	}
}

func timer(name string) *named {
	n := &named{name: name}
	n.Do = n
	return n
}

// advance runs what is due, and returns the names in order.
func advance(w *Wheel, now time.Duration) string {
	var names []string
	for t := w.Advance(now); t != nil; t = w.Advance(now) {
		t.Do.Run()
		names = append(names, t.Do.(*named).name)
	}
	return strings.Join(names, " ")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestRemoveOfWhatIsNotPending(t *testing.T) {
	w := New(0, 0)
	a := timer("a")
	if w.Remove(&a.Timer) || a.Pending() || w.Len() != 0 {
		t.Error("a timer that was never added could be removed")
	}
	w.Add(&a.Timer, 10*ms)
	if !w.Remove(&a.Timer) || w.Remove(&a.Timer) || w.Len() != 0 {
		t.Error("a pending timer is removed once, and no second time")
	}
	w.Add(&a.Timer, 10*ms)
	want(t, "due", advance(w, 10*ms), "a")
	if w.Remove(&a.Timer) || a.Pending() || w.Len() != 0 {
		t.Error("a timer that was handed out could be removed")
	}
	if _, ok := w.Next(); ok {
		t.Error("an empty wheel has something next")
	}
}

func TestRemoveOfOneThatIsDueInTheSameTick(t *testing.T) {
	for _, deadlines := range [][3]time.Duration{{1 * ms, 2 * ms, 3 * ms}, {3 * ms, 2 * ms, 1 * ms}, {2 * ms, 2 * ms, 2 * ms}} {
		w := New(0, 0)
		all := []*named{timer("a"), timer("b"), timer("c")}
		for i, n := range all {
			n.run = func() {
				for _, other := range all {
					if other != n && !w.Remove(&other.Timer) {
						t.Errorf("%s was not pending any more", other.name)
					}
				}
			}
			w.Add(&n.Timer, deadlines[i])
		}
		first := all[slices.Index(deadlines[:], slices.Min(deadlines[:]))].name
		want(t, fmt.Sprint(deadlines), advance(w, 10*ms), first)
		if w.Len() != 0 {
			t.Errorf("%d timers left", w.Len())
		}
	}
}

func TestAMovedTimerIsDueOnce(t *testing.T) {
	w := New(0, 0)
	a, b := timer("a"), timer("b")
	w.Add(&a.Timer, 10*ms)
	w.Add(&b.Timer, 10*ms)
	w.Add(&a.Timer, 10*ms) // goes behind b
	want(t, "the same time", advance(w, 10*ms), "b a")
	w.Add(&a.Timer, 20*ms)
	w.Add(&a.Timer, time.Hour)
	want(t, "later", advance(w, 30*ms), "")
	w.Add(&a.Timer, 40*ms)
	want(t, "earlier", advance(w, 40*ms), "a")
	if w.Len() != 0 || a.Pending() {
		t.Error("something is left")
	}
	w.Add(&b.Timer, 50*ms)
	a.run = func() { w.Add(&b.Timer, 70*ms) }
	w.Add(&a.Timer, 45*ms)
	want(t, "one of the same tick moves the other away", advance(w, 60*ms), "a")
	want(t, "it comes then", advance(w, 70*ms), "b")
}

func TestNeverEarlyAndLessThanATickLate(t *testing.T) {
	w := New(0, 0)
	a := timer("a")
	for _, c := range []struct{ deadline, at time.Duration }{
		{0, 10 * ms}, {-5, 20 * ms}, {math.MinInt64, 30 * ms}, {30*ms + 1, 40 * ms}, {50 * ms, 50 * ms}, {50*ms + 1, 60 * ms}, {69*ms + 999999, 70 * ms},
	} {
		if at := w.Add(&a.Timer, c.deadline); at != c.at {
			t.Errorf("deadline %v: due at %v, want %v", c.deadline, at, c.at)
		}
		if next, ok := w.Next(); !ok || next != c.at {
			t.Errorf("deadline %v: next is %v, %v", c.deadline, next, ok)
		}
		want(t, "a nanosecond early", advance(w, c.at-1), "")
		want(t, "in time", advance(w, c.at), "a")
	}
}

func TestAClockThatStandsStillOrGoesBack(t *testing.T) {
	w := New(0, 0)
	a := timer("a")
	runs := 0
	a.run = func() { runs++; w.Add(&a.Timer, 0) } // due again as soon as it can be
	w.Add(&a.Timer, 0)
	for _, now := range []time.Duration{0, 0, 9 * ms, 10 * ms, 10 * ms, 10 * ms, 0, -time.Hour, math.MinInt64, 19 * ms} {
		advance(w, now)
	}
	if runs != 1 {
		t.Errorf("%d runs in the first tick, want 1", runs)
	}
	if advance(w, 20*ms); runs != 2 {
		t.Errorf("%d runs after the second tick, want 2", runs)
	}
}

func TestReach(t *testing.T) {
	w := New(0, 0)
	a, b, c := timer("a"), timer("b"), timer("c")
	w.Add(&a.Timer, time.Hour)
	w.Reach(time.Minute)
	if at := w.Add(&b.Timer, time.Minute); at != time.Minute+10*ms {
		t.Errorf("due at %v, want the next tick", at)
	}
	w.Reach(2 * time.Hour) // b is due: that comes first
	w.Reach(3 * time.Hour)
	w.Add(&c.Timer, 30*time.Minute)
	want(t, "nothing is lost", advance(w, 30*time.Minute), "b c")
	want(t, "nothing is lost", advance(w, 2*time.Hour), "a")
}

func TestHugeDeadlines(t *testing.T) {
	for _, w := range []*Wheel{New(0, 0), New(1, 2), New(1, 512), New(3, MaxSlots), New(math.MaxInt64, 8), New(math.MaxInt64-1, 8)} {
		huge := []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - w.Tick(), math.MaxInt64 / 2}
		timers := make([]Timer, len(huge))
		repeats := Timer{Every: math.MaxInt64}
		w.Add(&repeats, math.MaxInt64)
		for i, d := range huge {
			if at := w.Add(&timers[i], d); at < d && at != math.MaxInt64 {
				t.Errorf("tick %v: %v is due at %v", w.Tick(), d, at)
			}
		}
		last := time.Duration(-1)
		for range 1000 {
			next, ok := w.Next()
			if !ok || next <= last {
				break
			}
			last = next
			for x := w.Advance(next); x != nil; x = w.Advance(next) {
				if x.Deadline() > next && x != &repeats {
					t.Errorf("tick %v: %v is due at %v", w.Tick(), x.Deadline(), next)
				}
			}
		}
		for i := range timers {
			w.Remove(&timers[i])
		}
		if w.Remove(&repeats); w.Len() != 0 {
			t.Errorf("tick %v: %d timers left", w.Tick(), w.Len())
		}
	}
}

func TestAJumpCostsNoEmptyTicks(t *testing.T) {
	w := New(0, 0)
	a := timer("a")
	runs, start := 0, time.Now()
	for now := time.Duration(0); now < math.MaxInt64/2; now += 100 * time.Hour {
		w.Add(&a.Timer, now+50*time.Hour)
		if advance(w, now+100*time.Hour) == "a" {
			runs++
		}
		if runs == 10000 {
			break
		}
	}
	// 36 million ticks each: to visit them would take hours.
	if took := time.Since(start); runs != 10000 || took > 5*time.Second {
		t.Errorf("%d jumps of 100 hours took %v", runs, took)
	}
}

func TestRepeating(t *testing.T) {
	w := New(ms, 0)
	a := timer("a")
	a.Every = 30 * ms
	w.Add(&a.Timer, 5*ms)
	for _, c := range []struct {
		now   time.Duration
		names string
		next  time.Duration
	}{
		{4 * ms, "", 5 * ms}, {5 * ms, "a", 35 * ms}, {36 * ms, "a", 65 * ms}, {95 * ms, "a", 125 * ms}, // no drift
		{time.Hour + 5*ms, "a", time.Hour + 35*ms}, // no burst
		{time.Hour + 64*ms, "a", time.Hour + 65*ms},
	} {
		want(t, c.now.String(), advance(w, c.now), c.names)
		if a.Deadline() != c.next || !a.Pending() || w.Len() != 1 {
			t.Errorf("at %v: next is %v, want %v", c.now, a.Deadline(), c.next)
		}
	}
	a.run = func() {
		if !w.Remove(&a.Timer) {
			t.Error("a repeating timer is not pending while it runs")
		}
	}
	want(t, "the last one", advance(w, 2*time.Hour), "a")
	want(t, "removed while it ran", advance(w, 3*time.Hour), "")
	a.run, a.Every = nil, ms/1000 // faster than the wheel: once a tick at most
	w.Add(&a.Timer, 0)
	want(t, "a pause", advance(w, 4*time.Hour), "a")
	want(t, "a tick", advance(w, 4*time.Hour+ms), "a")
}

func TestClear(t *testing.T) {
	w := New(0, 0)
	a, b, c, d := timer("a"), timer("b"), timer("c"), timer("d")
	for _, n := range []*named{a, b} {
		w.Add(&n.Timer, 10*ms)
	}
	told := 0
	a.run = func() { w.Clear(func(*Timer) { told++ }) } // drops b, which is due
	w.Add(&c.Timer, time.Hour)
	w.Add(&d.Timer, 2*time.Hour)
	want(t, "cleared while one ran", advance(w, 10*ms), "a")
	if told != 3 {
		t.Errorf("told of %d timers, want 3", told)
	}
	if b.Pending() || c.Pending() || w.Len() != 0 || c.next != nil {
		t.Error("timers are pending after Clear")
	}
	if w.Remove(&a.Timer) {
		t.Error("a was handed out")
	}
	for _, n := range []*named{b, c} {
		if !w.Remove(&n.Timer) || w.Remove(&n.Timer) {
			t.Errorf("%s: what was cleared will not be due: true, once", n.name)
		}
	}
	w.Add(&d.Timer, 20*ms) // a cleared wheel can be used on
	want(t, "later", advance(w, 3*time.Hour), "d")
}

func TestOrder(t *testing.T) {
	w := New(0, 8)
	var wants []string
	type row struct {
		deadline time.Duration
		name     string
	}
	var rows []row
	for i := range 2000 {
		// Many of the same deadline, near and several levels away, and added at different times: one
		// added when its deadline was far comes before one added when it was near.
		d := time.Duration(rand.IntN(400)) * 3 * ms
		if d > time.Duration(i/10)*ms {
			n := timer(fmt.Sprint(i))
			w.Add(&n.Timer, d)
			rows = append(rows, row{d, n.name})
		}
		if i%100 == 0 {
			if got := advance(w, time.Duration(i/10)*ms); got != "" {
				wants = append(wants, got)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.deadline, b.deadline) })
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	want(t, "order", strings.Join(append(wants, advance(w, 2*time.Second)), " "), strings.Join(names, " "))
}

func TestSortOfAnyLength(t *testing.T) {
	for n := range 70 {
		for range 20 {
			var l list
			timers := make([]named, n)
			for i := range timers {
				timers[i].deadline = time.Duration(rand.IntN(1 + n/2))
				l.push(&timers[i].Timer)
			}
			wants := make([]*Timer, n)
			for i := range timers {
				wants[i] = &timers[i].Timer
			}
			slices.SortStableFunc(wants, func(a, b *Timer) int { return cmp.Compare(a.deadline, b.deadline) })
			l.sort()
			for i, x := range wants {
				if x.prev != wants[(i+n-1)%n] || x.next != wants[(i+1)%n] {
					t.Fatalf("%d timers: the ring is broken at %d", n, i)
				}
			}
			for i, x := range wants {
				if got := l.pop(); got != x {
					t.Fatalf("%d timers: wrong order at %d", n, i)
				}
			}
			if l.head != nil {
				t.Fatal("not empty")
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	w := New(0, 0)
	timers := make([]Timer, 100)
	now := time.Duration(0)
	round := func() {
		now += 10 * ms
		for i := range timers {
			w.Add(&timers[i], now+time.Duration(i*i)*ms)
		}
		for i := range timers {
			if i%3 == 0 {
				w.Remove(&timers[i])
			} else if i%3 == 1 {
				w.Add(&timers[i], now+time.Duration(100-i)*ms/3)
			}
		}
		for x := w.Advance(now); x != nil; x = w.Advance(now) {
			continue
		}
		w.Next()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func TestManyTimersWithinBoundedMemory(t *testing.T) {
	const n = 1_000_000
	w := New(0, 0)
	timers := make([]Timer, n)
	r := rand.New(rand.NewPCG(1, 2))
	allocs := testing.AllocsPerRun(1, func() {
		for i := range timers {
			w.Add(&timers[i], time.Duration(r.Int64N(int64(1000*time.Hour))))
		}
	})
	// The wheel itself: three slices of at most 512 pointers a level.
	if allocs > 20 || w.Len() != n {
		t.Errorf("%v allocations for %d timers", allocs, w.Len())
	}
	last, runs := time.Duration(0), 0
	for now := time.Duration(0); w.Len() > 0; now += 7 * time.Minute {
		for x := w.Advance(now); x != nil; x = w.Advance(now) {
			if x.Deadline() < last || x.Deadline() > now {
				t.Fatalf("%v after %v at %v", x.Deadline(), last, now)
			}
			last = x.Deadline()
			runs++
		}
	}
	if runs != n {
		t.Errorf("%d timers were due, want %d", runs, n)
	}
}
