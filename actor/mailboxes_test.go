package actor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestBadMailboxes(t *testing.T) {
	s := newTestSystem(t, Config{})
	for want, p := range map[string]*Props{
		"capacity of 0":       bareProps(nil).WithMailbox(BoundedMailbox(0, 0)),
		"capacity of -5":      bareProps(nil).WithMailbox(BoundedDequeMailbox(-5, time.Second)),
		"priority function":   bareProps(nil).WithMailbox(UnboundedPriorityMailbox(nil)),
		"a priority mailbox":  bareProps(nil).WithMailbox(UnboundedStablePriorityMailbox(nil)),
		"a capacity of -2":    bareProps(nil).WithStashCapacity(-2),
		"no dispatcher \"x\"": bareProps(nil).WithDispatcher("x"),
	} {
		if _, err := s.Spawn(p, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// blocked is an actor with a mailbox whose handler waits for the gate to close, after the first message.
func blocked(t *testing.T, s *testSystem, j *journal, m Mailbox) (ref *Ref, open func()) {
	t.Helper()
	gate, in := make(chan struct{}), make(chan struct{})
	ref = s.MustSpawn(probe{j: j, name: "a"}.props().WithMailbox(m).WithDispatcher(BlockingDispatcher), "")
	ref.Tell(func(*Context) { close(in); <-gate })
	wait(t, in, "the actor")
	return ref, sync.OnceFunc(func() { close(gate) })
}

// waiters is how many senders wait for room in the mailbox.
func waiters(ref *Ref) (n int) {
	ref.c.mu.Lock()
	defer ref.c.mu.Unlock()
	for p := ref.c.box.(*boundedQueue).first; p != nil; p = p.next {
		n++
	}
	return n
}

func untilWaiters(t *testing.T, ref *Ref, n int) {
	t.Helper()
	for start := time.Now(); waiters(ref) != n; runtime.Gosched() {
		if time.Since(start) > patienceOfTests {
			t.Fatalf("%d senders wait, not %d", waiters(ref), n)
		}
	}
}

func TestBoundedPushTimeout(t *testing.T) {
	clock := newHandClock()
	s := newTestSystem(t, Config{Clock: clock})
	j := newJournal()
	a, open := blocked(t, s, j, BoundedMailbox(2, DefaultPushTimeout))
	a.Tell(1)
	a.Tell(2)
	var told sync.WaitGroup
	told.Go(func() { a.Tell("late") })
	untilWaiters(t, a, 1)
	clock.advance(DefaultPushTimeout - time.Millisecond)
	q := a.c.box.(*boundedQueue)
	q.first.late(q) // an alarm of a sender before, who needed it no more
	if waiters(a) != 1 || len(s.lost.all()) != 0 {
		t.Error("the sender has given up too early")
	}
	told.Go(func() { a.Tell("second") })
	untilWaiters(t, a, 2)
	clock.advance(time.Millisecond)
	s.lost.is(t, "late to "+a.path)
	untilWaiters(t, a, 1)
	open()
	told.Wait()
	j.is(t, "a made", "a PreStart", "a: 1", "a: 2", "a: second")
	if n := clock.set(); n > 1 { // the scheduler's may be
		t.Errorf("%d alarms are set", n)
	}
	if d := a.c.depth(); d != 0 {
		t.Errorf("depth %d", d)
	}
}

func TestBoundedDoesNotWait(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a, open := blocked(t, s, j, BoundedMailbox(1, 0))
	for i := range 3 {
		a.Tell(i)
	}
	s.lost.is(t, "1 to "+a.path, "2 to "+a.path)
	open()
	j.is(t, "a made", "a PreStart", "a: 0")
}

// Senders that wait are served in the order in which they came, and nobody gets in between.
func TestBoundedOrder(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a, open := blocked(t, s, j, BoundedMailbox(1, -1))
	a.Tell(0)
	want := []string{"a made", "a PreStart", "a: 0"}
	var told sync.WaitGroup
	for i := 1; i <= 20; i++ {
		told.Go(func() { a.Tell(i) })
		untilWaiters(t, a, i)
		want = append(want, fmt.Sprintf("a: %d", i))
	}
	open()
	told.Wait()
	j.is(t, want...)
}

func TestBoundedActorStops(t *testing.T) {
	s := newTestSystem(t, Config{})
	a, open := blocked(t, s, newJournal(), BoundedMailbox(1, -1))
	a.Tell(1)
	var told sync.WaitGroup
	told.Go(func() { a.Tell(2) })
	untilWaiters(t, a, 1)
	told.Go(func() { a.Tell(3) })
	untilWaiters(t, a, 2)
	s.Stop(a)
	open()
	told.Wait()
	ended(t, a)
	s.lost.is(t, "1 to "+a.path, "2 to "+a.path, "3 to "+a.path)
	a.Tell(4)
	s.lost.is(t, "1 to "+a.path, "2 to "+a.path, "3 to "+a.path, "4 to "+a.path)
}

// An actor that tells itself into its own full mailbox does not wait, on no dispatcher and by no way of telling.
func TestBoundedOwn(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		a := s.MustSpawn(probe{j: j, name: "a"}.props().WithMailbox(BoundedMailbox(1, -1)).WithDispatcher(d), "a")
		within(t, a, func(ctx *Context) {
			ctx.Tell(a, 1)
			ctx.Tell(a, 2)
			a.Tell(3)
			a.TellFrom(4, a)
		})
		s.lost.is(t, "2 to /user/a", "3 to /user/a", "4 to /user/a")
		j.is(t, "a made", "a PreStart", "a: 1")
	})
}

// On the calling thread nobody else can make room.
func TestBoundedCallingThread(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a"}.props().WithMailbox(BoundedMailbox(1, -1)).WithDispatcher(callingDispatcher), "a")
	b := s.MustSpawn(bareProps(nil).WithDispatcher(callingDispatcher), "b")
	within(t, b, func(ctx *Context) {
		ctx.Tell(a, 1)
		ctx.Tell(a, 2)
	})
	s.lost.is(t, "2 to /user/a")
	j.is(t, "a made", "a PreStart", "a: 1")
}

// What the runtime sends does not wait, and what must arrive takes room that is not there.
func TestBoundedRuntime(t *testing.T) {
	clock := newHandClock()
	s := newTestSystem(t, Config{Clock: clock})
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a"}.props().WithMailbox(BoundedMailbox(1, -1)).WithDispatcher(BlockingDispatcher), "a")
	w := s.MustSpawn(bareProps(nil), "w")
	within(t, a, func(ctx *Context) {
		ctx.Watch(w)
		ctx.Timers().StartSingleTimer("k", "timer", time.Second)
	})
	gate, in := make(chan struct{}), make(chan struct{})
	a.Tell(func(*Context) { close(in); <-gate })
	wait(t, in, "the actor")
	a.Tell(1)
	s.Scheduler().ScheduleTellOnce(time.Second, a, "scheduled", nil)
	done := make(chan struct{})
	go func() { clock.advance(2 * time.Second); close(done) }()
	wait(t, done, "the scheduler")
	s.lost.has(t, "timer to /user/a")
	s.lost.has(t, "scheduled to /user/a")
	s.Stop(w)
	ended(t, w)
	within(t, s.MustSpawn(bareProps(nil), ""), func(*Context) {})
	close(gate)
	j.has(t, "a: 1")
	j.until(t, "Terminated", func(ls []string) bool { return strings.Contains(ls[len(ls)-1], "true false") })
}

// A subscriber to dead letters whose own mailbox is full does not make one of another without end.
func TestBoundedDeadLetterSubscriber(t *testing.T) {
	s := newTestSystem(t, Config{})
	a, open := blocked(t, s, newJournal(), BoundedMailbox(1, 0))
	defer open()
	SubscribeFunc(s.System, func(d DeadLetter) { a.Tell(d) })
	for i := range 5 {
		s.DeadLetters().Tell(i)
	}
	s.Stop(a)
	open()
	ended(t, a)
	s.DeadLetters().Tell("last")
	s.lost.is(t, "0 to /deadLetters", "1 to /deadLetters", "2 to /deadLetters", "3 to /deadLetters", "4 to /deadLetters", "last to /deadLetters")
}

// Senders that wait are actors of the pool, one a worker, and those they wait for lie in the workers' queues: the
// watchman has them run.
func TestBoundedBlocksWorkers(t *testing.T) {
	s := newTestSystem(t, Config{Dispatchers: map[string]DispatcherConfig{"small": {Parallelism: 2}}})
	const pairs, n = 8, 2000
	var got sync.WaitGroup
	for p := range pairs {
		got.Add(1)
		next := 0
		to := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
			if msg.(int) != next {
				t.Errorf("%v, not %d", msg, next)
			}
			if next++; next == n {
				got.Done()
			}
		}).WithMailbox(BoundedMailbox(7, -1)).WithDispatcher("small"), "")
		from := s.MustSpawn(bareProps(nil).WithDispatcher("small"), fmt.Sprintf("from%d", p))
		from.Tell(func(ctx *Context) {
			for i := range n {
				ctx.Tell(to, i)
			}
		})
	}
	done := make(chan struct{})
	go func() { got.Wait(); close(done) }()
	wait(t, done, "the senders")
	if l := s.lost.all(); len(l) != 0 {
		t.Errorf("dead letters: %v", l)
	}
}

func TestPriority(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		for _, m := range []Mailbox{UnboundedPriorityMailbox(intPriority), UnboundedStablePriorityMailbox(intPriority)} {
			s := newTestSystem(t, Config{})
			j := newJournal()
			a := s.MustSpawn(probe{j: j, name: "a"}.props().WithMailbox(m).WithDispatcher(d), "a")
			within(t, a, func(ctx *Context) {
				for _, i := range []int{5, 1, 4, 1, 3} {
					ctx.Tell(a, i)
				}
				ctx.Tell(a, PoisonPill{}) // 100, as all that are no numbers
				ctx.Tell(a, 101)
			})
			ended(t, a)
			j.is(t, "a made", "a PreStart", "a: 1", "a: 1", "a: 3", "a: 4", "a: 5", "a PostStop")
			s.lost.is(t, "101 to /user/a")
		}
	})
}

func intPriority(msg any) int {
	if i, ok := msg.(int); ok {
		return i
	}
	return 100
}

// The heap against a stable sort.
func TestPriorityOrder(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		q := &priorityQueue{}
		var model []ranked
		for range r.IntN(200) {
			if len(model) > 0 && r.IntN(3) == 0 {
				slices.SortStableFunc(model, func(a, b ranked) int { return a.rank - b.rank })
				e, ok := q.pop()
				if !ok || e.msg != model[0].e.msg {
					t.Fatalf("seed %d: %v, not %v", seed, e.msg, model[0].e.msg)
				}
				model = model[1:]
				continue
			}
			rank, id := r.IntN(5), envelope{msg: r.Int()}
			if r.IntN(4) == 0 {
				q.pushFront(id, rank)
				model = slices.Insert(model, 0, ranked{rank: rank, e: id})
			} else {
				q.push(id, rank, false)
				model = append(model, ranked{rank: rank, e: id})
			}
			if q.len() != len(model) {
				t.Fatalf("seed %d: %d, not %d", seed, q.len(), len(model))
			}
		}
	}
}

func TestPriorityFunctionFails(t *testing.T) {
	for name, how := range map[string]func(){"panic": func() { panic(errTest) }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d string) {
				s := newTestSystem(t, Config{})
				j := newJournal()
				a := s.MustSpawn(probe{j: j, name: "a"}.props().WithDispatcher(d).WithMailbox(UnboundedPriorityMailbox(func(msg any) int {
					switch msg.(type) {
					case func(*Context), int:
						return 0
					}
					how()
					return 0
				})), "a")
				done := make(chan struct{})
				go func() { // a goroutine that may end with the function
					defer close(done)
					a.Tell("bad")
				}()
				wait(t, done, "Tell")
				s.lost.has(t, "bad to /user/a")
				s.log.contains(t, "the priority function of a mailbox failed")
				w := s.MustSpawn(bareProps(nil), "w")
				within(t, a, func(ctx *Context) { ctx.Watch(w) })
				a.Tell(1)
				j.has(t, "a: 1")
				s.Stop(w)
				j.until(t, "Terminated", func(ls []string) bool { return strings.Contains(ls[len(ls)-1], "true false") })
			})
		})
	}
}

// What timers send has the priority of what the actor will see.
func TestPriorityOfTimers(t *testing.T) {
	s := newTestSystem(t, Config{})
	seen := newJournal()
	a := s.MustSpawn(bareProps(nil).WithMailbox(UnboundedPriorityMailbox(func(msg any) int {
		if _, ok := msg.(func(*Context)); !ok {
			seen.add("%v", msg)
		}
		return 0
	})), "a")
	within(t, a, func(ctx *Context) {
		ctx.Timers().StartSingleTimer(1, "tick", 0)
		ctx.SetReceiveTimeout(time.Millisecond)
	})
	seen.has(t, "tick")
	seen.has(t, "{}")
}

func TestDeque(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	var d deque
	var model []any
	for range 20000 {
		switch r.IntN(5) {
		case 0, 1:
			m := r.Int()
			d.pushBack(envelope{msg: m})
			model = append(model, m)
		case 2:
			m := r.Int()
			d.pushFirst(envelope{msg: m})
			model = slices.Insert(model, 0, any(m))
		default:
			e, ok := d.popFirst()
			if ok != (len(model) > 0) || ok && e.msg != model[0] {
				t.Fatalf("seed %d: %v %v", seed, e.msg, ok)
			}
			if ok {
				model = model[1:]
			}
		}
		if d.len() != len(model) {
			t.Fatalf("seed %d: %d, not %d", seed, d.len(), len(model))
		}
	}
	for range 2 * keep {
		d.pushBack(envelope{})
	}
	for d.len() > 0 {
		d.popFirst()
	}
	if len(d.buf) > keep {
		t.Errorf("a buffer of %d is kept after a burst", len(d.buf))
	}
}

// FIFO and at most once, from many senders to mailboxes of all kinds, with restarts in between.
func TestRandomOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, m := range map[string]Mailbox{
		"unbounded": {}, "bounded": BoundedMailbox(3, -1), "priority": UnboundedStablePriorityMailbox(func(any) int { return 0 }),
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d string) {
				s := newTestSystem(t, Config{})
				r := rand.New(rand.NewPCG(seed, 1))
				senders, n := 4, 500
				last := make([]int, senders)
				var seen sync.WaitGroup
				seen.Add(senders)
				type from struct{ who, n int }
				failEach := 2 + r.IntN(40)
				top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Quiet: true}), "")
				var a *Ref
				within(t, top, func(ctx *Context) {
					a = ctx.MustSpawn(bareProps(func(ctx *Context, msg any) {
						f := msg.(from)
						if f.n != last[f.who]+1 {
							t.Errorf("seed %d: %d from %d after %d", seed, f.n, f.who, last[f.who])
						}
						if last[f.who] = f.n; f.n == n {
							seen.Done()
						}
						if f.n%failEach == 0 {
							panic(errTest)
						}
					}).WithMailbox(m).WithDispatcher(d), "")
				})
				for i := range senders {
					send := func(tell func(any)) {
						for k := range n {
							tell(from{i, k + 1})
						}
					}
					if i%2 == 0 {
						go send(a.Tell)
						continue
					}
					s.MustSpawn(bareProps(nil), "").Tell(func(ctx *Context) { send(func(m any) { ctx.Tell(a, m) }) })
				}
				done := make(chan struct{})
				go func() { seen.Wait(); close(done) }()
				wait(t, done, "the messages")
			})
		})
	}
}

func TestBoundedAllocs(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(bareProps(nil).WithMailbox(BoundedMailbox(1000, 0)).WithDispatcher(callingDispatcher), "")
	b := s.MustSpawn(bareProps(nil).WithMailbox(UnboundedPriorityMailbox(intPriority)).WithDispatcher(callingDispatcher), "")
	var msg any = errors.New("boxed once")
	for _, r := range []*Ref{a, b} {
		r.Tell("warm")
		r.c.mu.Lock()
		r.c.status |= suspended
		r.c.mu.Unlock()
	}
	for name, r := range map[string]*Ref{"bounded": a, "priority": b} {
		if n := testing.AllocsPerRun(100, func() {
			r.Tell(msg)
			r.c.mu.Lock()
			r.c.box.pop()
			r.c.mu.Unlock()
		}); n > 0 {
			t.Errorf("%s: %v allocations a message", name, n)
		}
	}
	for _, r := range []*Ref{a, b} {
		r.c.mu.Lock()
		r.c.status &^= suspended
		r.c.mu.Unlock()
	}
}
