package actor

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// notes is a Meter that remembers.
type notes struct {
	mu      sync.Mutex
	systems []*System
	classes map[string]*classNotes
	asked   int
}

type classNotes struct {
	mu                            sync.Mutex
	took                          []time.Duration
	failed, restarted, deadLetter int
}

func (n *notes) Attach(s *System) { n.systems = append(n.systems, s) }

func (n *notes) Class(_ *System, class string) ClassMeter {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.classes == nil {
		n.classes = make(map[string]*classNotes)
	}
	n.asked++
	c := &classNotes{}
	n.classes[class] = c
	return c
}

func (n *notes) of(class string) *classNotes {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.classes[class]; c != nil {
		return c
	}
	return &classNotes{}
}

func (c *classNotes) note(f func()) { c.mu.Lock(); f(); c.mu.Unlock() }

func (c *classNotes) Handled(d time.Duration) { c.note(func() { c.took = append(c.took, d) }) }
func (c *classNotes) Failed()                 { c.note(func() { c.failed++ }) }
func (c *classNotes) Restarted()              { c.note(func() { c.restarted++ }) }
func (c *classNotes) DeadLetter()             { c.note(func() { c.deadLetter++ }) }

// badMeter is a Meter that panics, or has nothing for a class.
type badMeter struct{ null bool }

func (badMeter) Attach(*System) { panic("attach") }
func (b badMeter) Class(_ *System, class string) ClassMeter {
	if b.null {
		return nil
	}
	if class == "" {
		panic("class")
	}
	return b
}
func (badMeter) Handled(time.Duration) { panic("handled") }
func (badMeter) Failed()               { panic("failed") }
func (badMeter) Restarted()            { panic("restarted") }
func (badMeter) DeadLetter()           { panic("dead letter") }

func TestMeterPanics(t *testing.T) {
	for _, null := range []bool{false, true} {
		s, book, _ := observed(t, Config{Meter: badMeter{null}})
		ok := make(chan any, 10)
		r := s.MustSpawn(FromFunc(func(_ *Context, m any) {
			if m == "fail" {
				panic(m)
			}
			ok <- m
		}), "")
		for _, m := range []any{"fail", 1, "fail", 2} {
			r.Tell(m)
		}
		if <-ok != 1 || <-ok != 2 {
			t.Error("a message was lost")
		}
		endActor(t, r)
		r.Tell("late")
		s.DeadLetters().Tell("late")
		if st := s.Stats(); st.Failures != 2 || st.Restarts != 2 || st.DeadLetters != 2 {
			t.Errorf("%+v", st)
		}
		if n := len(book.of("ERROR", "Config.Meter panicked")); n == 0 {
			t.Error("nothing was logged")
		}
	}
}

func TestMeter(t *testing.T) {
	m := &notes{}
	s, _, clock := observed(t, Config{Meter: m})
	if len(m.systems) != 1 || m.systems[0] != s {
		t.Fatal("not attached")
	}
	done := make(chan struct{})
	r := s.MustSpawn(FromFunc(func(_ *Context, msg any) {
		switch msg := msg.(type) {
		case time.Duration:
			clock.advance(msg)
		case string:
			clock.advance(7)
			panic(msg)
		case int:
			done <- struct{}{}
		case nil:
		}
	}).WithClass("press"), "")
	for _, msg := range []any{time.Duration(5), time.Duration(3), "fail", time.Duration(9), 0} {
		r.Tell(msg)
	}
	<-done
	endActor(t, r)
	r.Tell(1)
	s.DeadLetters().Tell(1)
	n := m.of("press")
	n.mu.Lock()
	defer n.mu.Unlock()
	// The last is PoisonPill.
	if got := fmt.Sprint(n.took); got != "[5ns 3ns 7ns 9ns 0s 0s]" {
		t.Errorf("processing times %s", got)
	}
	if n.failed != 1 || n.restarted != 1 || n.deadLetter != 1 || m.of("").deadLetter != 1 {
		t.Errorf("%+v", n)
	}
}

// All messages are handled, each once, whatever of throughput, failures and ends of goroutines there is.
func TestMeteredTurn(t *testing.T) {
	for _, cfg := range []DispatcherConfig{{Throughput: 1}, {Throughput: 7}, {}, {ThroughputDeadline: time.Microsecond}, {Kind: Goroutine}, {Kind: Pinned}, {Kind: CallingThread}} {
		t.Run(fmt.Sprint(cfg), func(t *testing.T) {
			m := &notes{}
			s, _, _ := observed(t, Config{Meter: m, Dispatchers: map[string]DispatcherConfig{DefaultDispatcher: cfg}})
			const senders, each = 4, 500
			var next [senders]int
			exits := 0
			done := make(chan struct{})
			handled := 0
			r := s.MustSpawn(FromFunc(func(_ *Context, msg any) {
				p := msg.([2]int)
				if p[1] != next[p[0]] {
					t.Errorf("sender %d: %d, not %d", p[0], p[1], next[p[0]])
				}
				next[p[0]]++
				if handled++; handled == senders*each {
					defer close(done)
				}
				switch {
				case p[1]%50 == 3:
					panic("now and then")
				case p[1]%100 == 7 && cfg.Kind != CallingThread:
					exits++
					runtime.Goexit()
				}
			}).WithClass("c"), "")
			var wg sync.WaitGroup
			for i := range senders {
				wg.Go(func() {
					for j := range each {
						r.Tell([2]int{i, j})
					}
				})
			}
			wg.Wait()
			<-done
			endActor(t, r)
			c := m.of("c")
			eventually(t, "the last is told", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.took) == handled-exits+1 // PoisonPill
			})
		})
	}
}

// Classes named after devices do not make metrics without bound.
func TestMeterClassesAreBounded(t *testing.T) {
	m := &notes{}
	s, _, _ := observed(t, Config{Meter: m})
	for i := range 1000 {
		r := s.MustSpawn(FromFunc(func(*Context, any) {}).WithClass(fmt.Sprint("device", i)), "")
		r.Tell(1)
	}
	eventually(t, "all are handled", func() bool {
		n := 0
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, c := range m.classes {
			c.mu.Lock()
			n += len(c.took)
			c.mu.Unlock()
		}
		return n == 1000
	})
	if m.asked > maxClasses+1 || m.classes[otherClass] == nil {
		t.Errorf("%d classes", m.asked)
	}
	total := 0
	cs := s.Classes()
	for _, c := range cs {
		total += c.Actors
	}
	if len(cs) > maxClasses+1 || total != 1003 {
		t.Errorf("%d classes, %d actors", len(cs), total)
	}
}

func TestClasses(t *testing.T) {
	s, _, _ := observed(t, Config{})
	in, out := make(chan struct{}), make(chan struct{})
	for i := range 3 {
		r := s.MustSpawn(FromFunc(func(_ *Context, m any) {
			if m == "wait" {
				in <- struct{}{}
				<-out
			}
		}).WithClass("c"), "")
		r.Tell("wait")
		<-in
		for range 10 * i {
			r.Tell(1)
		}
	}
	found := false
	for _, c := range s.Classes() {
		if c.Class == "c" {
			// What is being handled may be counted.
			found = c.Actors == 3 && c.Depth >= 30 && c.Depth <= 33 && c.Deepest >= 20 && c.Deepest <= 21
		}
	}
	if !found {
		t.Error(s.Classes())
	}
	close(out)
	endSystem(t, s)
	if c := s.Classes(); len(c) != 0 {
		t.Errorf("after the end: %v", c)
	}
}

func TestStats(t *testing.T) {
	s, _, _ := observed(t, Config{})
	const n = 500
	var wg sync.WaitGroup
	wg.Add(n)
	var refs []*Ref
	for range n {
		refs = append(refs, s.MustSpawn(FromFunc(func(ctx *Context, m any) {
			defer wg.Done()
			if m == "fail" {
				ctx.Fail(errors.New("x"))
			}
		}), ""))
	}
	for _, r := range refs {
		r.Tell("fail")
	}
	wg.Wait()
	eventually(t, "all are restarted", func() bool { return s.Stats().Restarts == n })
	if st := s.Stats(); st != (Stats{Actors: n + 3, Started: n + 3, Failures: n, Restarts: n}) {
		t.Errorf("%+v", st)
	}
	for _, r := range refs[:100] {
		endActor(t, r)
	}
	if st := s.Stats(); st.Actors != n-97 || st.Stopped != 100 {
		t.Errorf("%+v", st)
	}
	endSystem(t, s)
	if st := s.Stats(); st.Actors != 0 || st.Stopped != n+3 {
		t.Errorf("after the end %+v", st)
	}
}

// What is counted takes no room in a cell, and no two places of the counts share a cache line.
func TestCountsSize(t *testing.T) {
	if n := unsafe.Sizeof(counters{}); n != 64 {
		t.Errorf("counters take %d bytes", n)
	}
	var c cell
	if unsafe.Offsetof(c.counted)-unsafe.Offsetof(c.running) != 1 {
		t.Error("counted is not in the padding after running")
	}
}

// The cost of a meter: messages to one actor, without and with one.
func BenchmarkMetered(b *testing.B) {
	for name, m := range map[string]Meter{"off": nil, "on": freeMeter{}} {
		b.Run(name, func(b *testing.B) {
			s, err := NewSystem("seen", Config{Meter: m})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Terminate()
			done := make(chan struct{})
			r := s.MustSpawn(FromFunc(func(_ *Context, m any) {
				if m != nil && m == any(marker{}) {
					done <- struct{}{}
				}
			}), "")
			var msg any = &pear{}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if r.Tell(msg); i%1000 == 0 {
					r.Tell(marker{})
					<-done
				}
			}
		})
	}
}

// freeMeter is a Meter that does nothing.
type freeMeter struct{}

func (freeMeter) Attach(*System)                     {}
func (m freeMeter) Class(*System, string) ClassMeter { return m }
func (freeMeter) Handled(time.Duration)              {}
func (freeMeter) Failed()                            {}
func (freeMeter) Restarted()                         {}
func (freeMeter) DeadLetter()                        {}

func BenchmarkClasses(b *testing.B) {
	s, err := NewSystem("seen", Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Terminate()
	p := FromFunc(func(*Context, any) {})
	for range 100_000 {
		s.MustSpawn(p, "")
	}
	for b.Loop() {
		s.Classes()
	}
}
