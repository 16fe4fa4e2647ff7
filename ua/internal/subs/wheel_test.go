package subs

import (
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/internal/lease"
	"github.com/actua/actua/ua"
)

const ms = time.Millisecond

func keys(groups []*Group) []int {
	var out []int
	for _, g := range groups {
		out = append(out, g.Key.(int))
	}
	slices.Sort(out)
	return out
}

// TestWheel: one reading a node and interval, no burst, nothing for what is disabled, and nothing due
// when there is nothing.
func TestWheel(t *testing.T) {
	var w Wheel
	step := func(at time.Duration, want []int, next time.Duration) {
		t.Helper()
		got, n := w.Due(at, nil)
		if !slices.Equal(keys(got), want) || n != next {
			t.Errorf("at %v: %v and then %v, want %v and %v", at, keys(got), n, want, next)
		}
		w.Done(got)
	}
	step(0, nil, never)
	a := w.Join(1, nil, 10*ms, 0)
	if w.Join(1, nil, 10*ms, 3*ms) != a {
		t.Error("two groups of one node and interval")
	}
	b := w.Join(1, nil, 20*ms, 0)
	c := w.Join(2, nil, 10*ms, 5*ms)
	if a == b || a == c || a.Interval() != 10*ms {
		t.Error("groups are mixed up")
	}
	step(9*ms, nil, 10*ms)
	step(10*ms, []int{1, 2}, 20*ms)
	step(20*ms, []int{1, 1, 2}, 30*ms)
	step(95*ms, []int{1, 1, 2}, 100*ms) // seven were missed: one reading
	a.Leave(true)
	step(100*ms, []int{1, 1, 2}, 110*ms) // one more item is on it
	a.Pause()
	c.Pause()
	step(110*ms, nil, 120*ms)
	b.Leave(true)
	step(120*ms, nil, never)
	if w.Next() != never {
		t.Error("something is due")
	}
	if w.Join(1, nil, 10*ms, 120*ms) != a {
		t.Error("a paused group has a double")
	}
	a.Leave(true)
	a.Resume(121 * ms)
	step(131*ms, []int{1}, 141*ms)
	a.Leave(true)
	c.Leave(false)
	if len(w.rates) != 0 || len(w.order) != 0 {
		t.Errorf("%d rates are left", len(w.rates))
	}
}

// TestWheelSlowSource: a group that is being read is left out, others are not.
func TestWheelSlowSource(t *testing.T) {
	var w Wheel
	w.Join(1, nil, 10*ms, 0)
	w.Join(2, nil, 10*ms, 0)
	got, _ := w.Due(10*ms, nil)
	for _, g := range got {
		if g.Key == 2 {
			w.Done([]*Group{g})
		}
	}
	again, _ := w.Due(20*ms, nil)
	if !slices.Equal(keys(again), []int{2}) {
		t.Errorf("due are %v", keys(again))
	}
	w.Done(got)
	w.Done(again)
	if last, _ := w.Due(30*ms, nil); !slices.Equal(keys(last), []int{1, 2}) {
		t.Errorf("due are %v", keys(last))
	}
}

// newCounters has items on sampled nodes.
func newCounters(tb testing.TB, n int) (*fanOut, *Wheel) {
	f := newFanOut(tb, 1, 0, time.Second)
	sub := f.m.Find(1)
	w := new(Wheel)
	for k := range n {
		g := w.Join(k, nil, 10*ms, 0)
		if _, status := sub.CreateItem(f.now, f.d.s, &ItemConfig{Node: &g.Node, ClientHandle: uint32(k), Mode: ua.MonitoringModeReporting, Sampling: 10 * ms}); status != ua.Good {
			tb.Fatal(status)
		}
	}
	return f, w
}

// TestSamplingProgress: each of 4,000 counters sampled every 10 ms has all its samples in 5 s, and none of it
// allocates.
func TestSamplingProgress(t *testing.T) {
	f, w := newCounters(t, 4000)
	var due []*Group
	v := new(ua.DataValue)
	samples := 0
	step := func() {
		f.now.At += 10 * ms
		due, _ = w.Due(f.now.At, due[:0])
		f.value++
		for _, g := range due {
			v.Value = ua.Double(f.value)
			g.Push(v, f.now.At)
			samples++
		}
		w.Done(due)
		f.m.Run(f.now)
		f.publish()
	}
	for range 500 {
		step()
	}
	if samples != 500*4000 || f.d.items < 4*4000 {
		t.Errorf("%d samples, %d notifications", samples, f.d.items)
	}
	if lease.Checking {
		return
	}
	if n := testing.AllocsPerRun(100, step); n > 0 {
		t.Errorf("%v allocations a round of 4,000 samples", n)
	}
}

func BenchmarkSample4000(b *testing.B) {
	f, w := newCounters(b, 4000)
	var due []*Group
	v := new(ua.DataValue)
	b.ReportAllocs()
	for range b.N {
		f.now.At += 10 * ms
		due, _ = w.Due(f.now.At, due[:0])
		f.value++
		for _, g := range due {
			v.Value = ua.Double(f.value)
			g.Push(v, f.now.At)
		}
		w.Done(due)
		f.m.Run(f.now)
		f.publish()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(4000*b.N), "ns/sample")
}

// TestPushTickAllocations is the budget of the publish path: none.
func TestPushTickAllocations(t *testing.T) {
	if lease.Checking {
		t.Skip("the race detector allocates")
	}
	f := newFanOut(t, 10, 100, 100*ms)
	for range 20 {
		f.cycle(100 * ms)
	}
	f.d.items = 0
	n := testing.AllocsPerRun(200, func() { f.cycle(100 * ms) })
	if n > 0 {
		t.Errorf("%v allocations for 1,000 notifications", n)
	}
	if f.d.items < 200*1000 {
		t.Errorf("only %d notifications", f.d.items)
	}
	var node Node
	sub := f.m.Find(1)
	sub.CreateItem(f.now, f.d.s, &ItemConfig{Node: &node, Mode: ua.MonitoringModeReporting, QueueSize: 10, DiscardOldest: true, Filter: new(onlyEven)})
	v := new(ua.DataValue)
	at := 0.0
	if n := testing.AllocsPerRun(200, func() {
		at += 2
		v.Value = ua.Double(at)
		node.Push(v, f.now.At)
	}); n > 0 {
		t.Errorf("%v allocations a push to a filtered item with a queue", n)
	}
}
