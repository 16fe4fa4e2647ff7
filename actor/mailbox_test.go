package actor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The mailbox's scheduling: no wake-up is lost, and no two goroutines run one cell. The first tests drive a cell
// by hand, with a runner that only notes what it is asked for; the last ones use goroutines, for what lies between two
// locks.

// handRunner notes who has to be run. The test is the goroutine that runs it.
type handRunner struct {
	t      *testing.T
	ready  []*cell
	inTurn *cell
}

func (r *handRunner) schedule(c *cell, _ *worker) {
	if c == r.inTurn {
		r.t.Fatalf("%s was scheduled in its own turn: two goroutines would run it", c.ref.path)
	}
	for _, x := range r.ready {
		if x == c {
			r.t.Fatalf("%s was scheduled twice: two goroutines would run it", c.ref.path)
		}
	}
	r.ready = append(r.ready, c)
}

func (r *handRunner) stop() {}

func (r *handRunner) running(func(*cell, uint64, time.Duration)) {}

// turn runs the cell that has waited longest, and reports false if there is none.
func (r *handRunner) turn() bool {
	if len(r.ready) == 0 {
		return false
	}
	c := r.ready[0]
	r.ready = r.ready[1:]
	r.inTurn = c
	again := c.turn(nil)
	r.inTurn = nil
	if again {
		r.schedule(c, nil)
	}
	return true
}

// sink is something that takes messages and does nothing with them, such as a parent.
type sink struct{}

func (sink) tell(*Ref, any, *Ref)         {}
func (sink) tellSystem(*Ref, *sysMsg)     {}
func sinkRef(s *System, path string) *Ref { return s.newRef(sink{}, path) }

func plainSystem(t testing.TB) *System {
	t.Helper()
	s, err := NewSystem("test", Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.Terminate(); t.Failed() {
			return
		}
		select {
		case <-s.WhenTerminated():
		case <-time.After(5 * time.Second):
			t.Error("the system does not end")
		}
	})
	return s
}

// handCell is a cell that has no place in a tree and is run by r.
func handCell(s *System, r runner, throughput int, f ReceiveFunc) *cell {
	c := newCell(s, sinkRef(s, "/user"), "/user/hand", 1, FromFunc(f))
	c.disp = &dispatcher{runner: r, name: "hand", throughput: throughput}
	return c
}

// runnable reports whether a cell has something to do, as it should be: not how the cell sees it.
func runnable(c *cell) bool {
	return c.sysHead != nil || (c.status&(suspended|closed) == 0 && (len(c.in) > 0 || c.pos < len(c.out)))
}

// TestMailboxModel does random things to a cell, outside of its turns and in them, and checks after each that it is
// scheduled if and only if there is something to do.
func TestMailboxModel(t *testing.T) {
	s := plainSystem(t)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 6))
		r := &handRunner{t: t}
		var (
			c            *cell
			sent, seen   int
			suspensions  int
			trace        []string
			anything     func(depth int)
			checkPending = func() {
				want := 0
				if runnable(c) {
					want = 1
				}
				if len(r.ready) != want {
					t.Fatalf("seed %d: scheduled %d times where it should be %d, after %v", seed, len(r.ready), want, trace)
				}
			}
		)
		c = handCell(s, r, 1+rnd.IntN(5), func(_ *Context, msg any) {
			if msg != seen {
				t.Fatalf("seed %d: message %v came where %d is next, after %v", seed, msg, seen, trace)
			}
			seen++
			for range rnd.IntN(3) {
				anything(1)
			}
			if rnd.IntN(8) == 0 {
				trace = append(trace, "fail")
				suspensions++ // until the parent decides
				panic("a failure")
			}
		})
		anything = func(depth int) {
			switch what := rnd.IntN(10); {
			case what < 5 && sent-seen < 40:
				trace = append(trace, fmt.Sprint("tell ", sent, " depth ", depth))
				m := sent
				sent++
				c.ref.Tell(m)
			case what < 6:
				trace = append(trace, "suspend")
				suspensions++
				c.enqueueSystem(&sysMsg{kind: sysSuspend})
			case what < 8 && suspensions > 0:
				trace = append(trace, "resume")
				suspensions--
				c.enqueueSystem(&sysMsg{kind: sysResume, cause: errors.New("decided")})
			}
		}
		c.startOn(nil)
		if len(r.ready) != 1 {
			t.Fatalf("a new cell was scheduled %d times", len(r.ready))
		}
		r.turn()
		for range 200 {
			if rnd.IntN(2) == 0 {
				anything(0)
			} else if len(r.ready) > 0 {
				trace = append(trace, "turn")
				r.turn()
			}
			checkPending()
		}
		for range suspensions {
			c.enqueueSystem(&sysMsg{kind: sysResume, cause: errors.New("decided")})
			suspensions--
		}
		for rounds := 0; seen < sent; rounds++ {
			for r.turn() {
			}
			for ; suspensions > 0; suspensions-- {
				c.enqueueSystem(&sysMsg{kind: sysResume, cause: errors.New("decided")})
			}
			if rounds > 1000 {
				t.Fatalf("seed %d: %d of %d messages were handled, after %v", seed, seen, sent, trace)
			}
		}
		for r.turn() {
		}
		checkPending()
	}
}

// TestMailboxNewCell: a cell that others know already, but that is not started, is not scheduled by what they send. A
// guardian that stops its children may meet one.
func TestMailboxNewCell(t *testing.T) {
	s := plainSystem(t)
	r := &handRunner{t: t}
	c := handCell(s, r, 30, func(*Context, any) {})
	c.enqueueSystem(&sysMsg{kind: sysTerminate})
	c.ref.Tell(1)
	if len(r.ready) != 0 {
		t.Fatal("a cell that was not started was scheduled")
	}
	c.startOn(nil)
	for r.turn() {
	}
	if !c.isClosed() {
		t.Error("the cell has not stopped")
	}
	c.ref.Tell(2)
	c.enqueueSystem(&sysMsg{kind: sysSuspend})
	if len(r.ready) != 0 {
		t.Error("a cell that has ended was scheduled")
	}
}

// TestMailboxThroughput: a turn ends after its share, and the cell says that it wants another.
func TestMailboxThroughput(t *testing.T) {
	s := plainSystem(t)
	r := &handRunner{t: t}
	n := 0
	c := handCell(s, r, 30, func(*Context, any) { n++ })
	c.startOn(nil)
	r.turn()
	for range 100 {
		c.ref.Tell(1)
	}
	for _, want := range []int{30, 60, 90, 100} {
		if !r.turn() || n != want {
			t.Fatalf("%d messages have been handled, want %d", n, want)
		}
	}
	if r.turn() {
		t.Error("there was a turn without anything to do")
	}
}

// TestMailboxDeadline: a turn also ends after its time.
func TestMailboxDeadline(t *testing.T) {
	s := plainSystem(t)
	r := &handRunner{t: t}
	n := 0
	c := handCell(s, r, 1000, func(*Context, any) { n++; time.Sleep(2 * time.Millisecond) })
	c.disp.deadline = time.Millisecond
	c.startOn(nil)
	r.turn()
	for range 3 {
		c.ref.Tell(1)
	}
	for want := 1; want <= 3; want++ {
		if r.turn(); n != want {
			t.Fatalf("%d messages have been handled, want %d", n, want)
		}
	}
}

// TestMailboxSystemFirst: system messages go before user messages that are there already.
func TestMailboxSystemFirst(t *testing.T) {
	s := plainSystem(t)
	r := &handRunner{t: t}
	var c *cell
	n := 0
	c = handCell(s, r, 30, func(_ *Context, msg any) {
		if n++; msg == "suspend" {
			c.enqueueSystem(&sysMsg{kind: sysSuspend})
			c.enqueueSystem(&sysMsg{kind: sysSuspend})
			c.enqueueSystem(&sysMsg{kind: sysResume})
		}
	})
	c.startOn(nil)
	r.turn()
	c.ref.Tell("suspend")
	c.ref.Tell("later")
	for r.turn() {
	}
	if n != 1 || c.suspends != 1 {
		t.Fatalf("%d messages have been handled, and the cell is suspended %d times", n, c.suspends)
	}
	c.enqueueSystem(&sysMsg{kind: sysResume})
	for r.turn() {
	}
	if n != 2 {
		t.Fatal("the message that waited was not handled")
	}
}

// TestMailboxPushFront: what an actor puts back goes before the rest, whether it came from this batch or not.
func TestMailboxPushFront(t *testing.T) {
	s := plainSystem(t)
	for _, hold := range []int{1, 3, 20} { // 20 are more than the batch has had
		r := &handRunner{t: t}
		var got []int
		var kept []envelope
		c := handCell(s, r, 1000, func(x *Context, msg any) {
			c := (*cell)(x)
			m := msg.(int)
			switch {
			case m < hold && len(kept) < hold:
				kept = append(kept, envelope{msg: m})
				if m == 0 && hold == 20 { // into another batch
					for i := 1; i < 30; i++ {
						c.ref.Tell(i)
					}
				}
				if len(kept) == hold {
					c.pushFront(kept)
				}
			default:
				got = append(got, m)
			}
		})
		c.startOn(nil)
		r.turn()
		if hold == 20 {
			c.ref.Tell(0)
		} else {
			for i := range 30 {
				c.ref.Tell(i)
			}
		}
		for r.turn() {
		}
		if len(got) != 30 {
			t.Fatalf("hold %d: got %v", hold, got)
		}
		for i, m := range got {
			if m != i {
				t.Fatalf("hold %d: got %v", hold, got)
			}
		}
		if d := c.depth(); d != 0 {
			t.Errorf("hold %d: %d messages wait in an empty mailbox", hold, d)
		}
	}
}

// TestMailboxRace: many goroutines send to one cell, and each waits until its message was handled. A wake-up that is lost
// stops them; two goroutines that run the cell meet in it.
func TestMailboxRace(t *testing.T) {
	for name, d := range map[string]DispatcherConfig{
		"pool": {}, "one worker": {Parallelism: 1}, "goroutine": {Kind: Goroutine}, "pinned": {Kind: Pinned}, "calling thread": {Kind: CallingThread},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{"d": d}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Terminate()
			var inside, handled, meetings atomic.Int32
			r := s.MustSpawn(FromFunc(func(_ *Context, msg any) {
				if inside.Add(1) != 1 {
					meetings.Add(1)
				}
				handled.Add(1)
				if msg.(chan struct{}) != nil {
					msg.(chan struct{}) <- struct{}{}
				}
				inside.Add(-1)
			}).WithDispatcher("d"), "a")
			rounds := 4000
			if name == "pinned" || testing.Short() {
				rounds = 1000
			}
			var wg sync.WaitGroup
			const senders = 4
			for i := range senders {
				wg.Go(func() {
					done := make(chan struct{}, 1)
					for n := range rounds {
						r.Tell(done)
						select {
						case <-done:
						case <-time.After(5 * time.Second):
							t.Errorf("sender %d: message %d was not handled", i, n)
							return
						}
						if n%16 == i {
							runtime.Gosched()
						}
					}
				})
			}
			wg.Wait()
			if n := meetings.Load(); n > 0 {
				t.Errorf("the cell was run by two goroutines at once, %d times", n)
			}
			if n := handled.Load(); !t.Failed() && int(n) != senders*rounds {
				t.Errorf("%d messages were handled of %d", n, senders*rounds)
			}
		})
	}
}

// TestMailboxRest: the sender's next message comes just when the cell rests, again and again. As nobody else sends, a wake-up that
// is lost once is noticed.
func TestMailboxRest(t *testing.T) {
	for name, d := range map[string]DispatcherConfig{"pool": {}, "goroutine": {Kind: Goroutine}} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{"d": d}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Terminate()
			var handled atomic.Int64
			r := s.MustSpawn(FromFunc(func(*Context, any) { handled.Add(1) }).WithDispatcher("d"), "a")
			rounds := int64(200_000)
			if name == "goroutine" {
				rounds = 50_000
			}
			if raceEnabled {
				rounds /= 10 // the detector needs no luck
			}
			for n := range rounds {
				r.Tell(1)
				if !reaches(func() bool { return handled.Load() == n+1 }) {
					t.Fatalf("message %d: %d have been handled", n, handled.Load())
				}
			}
		})
	}
}

// TestMailboxSystemRest is the same with system messages.
func TestMailboxSystemRest(t *testing.T) {
	s := plainSystem(t)
	c := s.MustSpawn(FromFunc(func(*Context, any) {}), "a").c
	rounds := 50_000
	if raceEnabled {
		rounds /= 10
	}
	for n := range rounds {
		for on, kind := range map[bool]sysKind{true: sysSuspend, false: sysResume} {
			if on == (n%2 == 1) {
				continue
			}
			c.enqueueSystem(&sysMsg{kind: kind})
			if !reaches(func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return (c.status&suspended != 0) == on
			}) {
				t.Fatalf("system message %d was not handled", n)
			}
		}
	}
}

// reaches waits for a condition, at first without rest.
func reaches(ok func() bool) bool {
	for i := 0; ; i++ {
		switch {
		case ok():
			return true
		case i < 2000:
		case i < 4000:
			runtime.Gosched()
		case i < 6000:
			time.Sleep(time.Millisecond)
		default:
			return false
		}
	}
}

// TestMailboxSystemRace: system messages from many goroutines, while user messages make the cell rest and wake all the
// time. At the end the balance is even, so the last message has to come through.
func TestMailboxSystemRace(t *testing.T) {
	s := plainSystem(t)
	for round := range 300 {
		var last atomic.Bool
		done := make(chan struct{})
		r := s.MustSpawn(FromFunc(func(_ *Context, msg any) {
			if msg == "last" && !last.Swap(true) {
				close(done)
			}
		}), "")
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for range 20 {
					r.c.enqueueSystem(&sysMsg{kind: sysSuspend})
					r.Tell("some")
					r.c.enqueueSystem(&sysMsg{kind: sysResume})
				}
			})
		}
		wg.Wait()
		r.Tell("last")
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			t.Fatalf("round %d: the last message was not handled", round)
		}
		s.Stop(r)
	}
}
