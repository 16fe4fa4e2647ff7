package actor

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The pool's scheduling. The first tests are its goroutines themselves: they call what a worker's goroutine calls, in the
// order that matters. The last ones run actors.

// handPool is a pool whose workers' goroutines are the test: a wake-up is left in the channel.
func handPool(workers int) *pool {
	p := newPool(workers, new(atomic.Bool))
	for _, w := range p.workers {
		w.started = true
	}
	p.watch.awake.Store(true) // and nobody watches
	return p
}

// somebody are cells to be moved about. Their turns are not run.
func somebody(n int) []*cell {
	out := make([]*cell, n)
	for i := range out {
		out[i] = &cell{}
		out[i].ref.path = fmt.Sprint("/user/", i)
	}
	return out
}

// woken reports which workers have been woken, and takes the wake-ups.
func woken(p *pool) (out []int) {
	for i, w := range p.workers {
		select {
		case <-w.wake:
			out = append(out, i)
		default:
		}
	}
	return out
}

// rouseAll takes all workers off the list of the idle ones.
func rouseAll(p *pool) {
	for range p.workers {
		p.wakeOne()
	}
	woken(p)
}

// everywhere lists all cells that the pool holds, those in turns included.
func everywhere(p *pool) (out []*cell) {
	take := func(r *ring) {
		for c := r.pop(); c != nil; c = r.pop() {
			out = append(out, c)
		}
	}
	take(&p.common)
	for _, w := range p.workers {
		take(&w.queue)
		if w.next != nil {
			out = append(out, w.next)
		}
		if w.now != nil {
			out = append(out, w.now)
		}
	}
	return out
}

// once fails unless the pool holds each of the cells once, and nothing else.
func once(t *testing.T, p *pool, cells ...*cell) {
	t.Helper()
	count := map[*cell]int{}
	for _, c := range everywhere(p) {
		count[c]++
	}
	for _, c := range cells {
		if n := count[c]; n != 1 {
			t.Errorf("%s is %d times in the pool: 0 is a lost wake-up, 2 is a double run", c.ref.path, n)
		}
		delete(count, c)
	}
	if len(count) > 0 {
		t.Errorf("%d cells are in the pool that should not", len(count))
	}
}

// A cell that becomes ready outside of the pool wakes a worker that is idle, one for each.
func TestPoolScheduleWakes(t *testing.T) {
	p := handPool(3)
	c := somebody(4)
	for i, x := range c {
		p.schedule(x, nil)
		if got, want := len(woken(p)), 1; i < 3 && got != want {
			t.Errorf("cell %d has woken %d workers", i, got)
		}
	}
	if n := p.idlers.Load(); n != 0 {
		t.Errorf("%d workers count as idle", n)
	}
	once(t, p, c...)
}

// One that looks for work already is enough.
func TestPoolScheduleWhileSpinning(t *testing.T) {
	p := handPool(2)
	p.spinning.Store(1)
	p.schedule(somebody(1)[0], nil)
	if got := woken(p); got != nil {
		t.Errorf("woken: %v", got)
	}
}

// What an actor makes ready goes into next, then into the queue, of which idle workers are told.
func TestPoolScheduleInTurn(t *testing.T) {
	p := handPool(2)
	c := somebody(3)
	w := p.popIdle()
	w.now = c[0]
	p.schedule(c[1], w)
	if got := woken(p); w.next != c[1] || got != nil {
		t.Errorf("next is %v, woken %v", w.next, got)
	}
	p.schedule(c[2], w)
	if got := woken(p); w.queue.len() != 1 || len(got) != 1 {
		t.Errorf("%d in the queue, woken %v", w.queue.len(), got)
	}
	once(t, p, c...)
}

// A worker that was given away and is asleep takes nothing: whoever wakes up in it would wait for ever.
func TestPoolScheduleFromLostTurn(t *testing.T) {
	p := handPool(2)
	c := somebody(2)
	lost := p.workers[0] // all are idle
	p.schedule(c[0], lost)
	if got := woken(p); lost.next != nil || lost.queue.len() != 0 || len(got) != 1 {
		t.Errorf("next is %v, %d in the queue, woken %v", lost.next, lost.queue.len(), got)
	}
	other := handPool(1)
	other.workers[0].now = c[0]
	p.schedule(c[1], other.workers[0])
	if other.workers[0].next != nil || len(woken(p)) != 1 {
		t.Error("a worker of another pool got the cell")
	}
	if p.common.len() != 2 {
		t.Errorf("%d in the common queue", p.common.len())
	}
}

// At the end of a turn the cell goes back to the queue if it has more to do, and not if it is idle: then it may be
// running elsewhere already.
func TestPoolTurned(t *testing.T) {
	for _, again := range []bool{false, true} {
		p := handPool(2)
		c := somebody(1)[0]
		w := p.popIdle()
		w.now = c
		if !w.turned(c, w.epoch, again) {
			t.Error("the worker does not go on")
		}
		if w.now != nil {
			t.Error("the worker is in a turn still")
		}
		if again {
			once(t, p, c)
		} else {
			once(t, p)
		}
	}
}

// A cell that goes back behind others is one that an idle worker can take.
func TestPoolTurnedWakes(t *testing.T) {
	for _, others := range []int{0, 1} {
		p := handPool(2)
		c := somebody(2)
		w := p.popIdle()
		w.now = c[0]
		if others == 1 {
			w.add(c[1])
		}
		w.turned(c[0], w.epoch, true)
		if n := len(woken(p)); n != others {
			t.Errorf("%d workers were woken for %d cells in the way", n, others)
		}
	}
}

// A goroutine whose worker was given away meanwhile leaves it, and its cell to the common queue.
func TestPoolTurnedAfterLoss(t *testing.T) {
	for _, again := range []bool{false, true} {
		p := handPool(2)
		c := somebody(2)
		w := p.popIdle()
		old := w.epoch
		w.epoch++
		w.now = c[1] // of the new goroutine
		p.stuck[lostTurn{w, old}] = turnInfo{c: c[0]}
		if w.turned(c[0], old, again) {
			t.Error("two goroutines serve one worker")
		}
		if w.now != c[1] {
			t.Error("the turn of the other goroutine was ended")
		}
		if len(p.stuck) != 0 {
			t.Error("the turn counts as stuck still")
		}
		if got := woken(p); (len(got) == 1) != again {
			t.Errorf("again %v: woken %v", again, got)
		}
		if again {
			once(t, p, c...)
		} else {
			once(t, p, c[1])
		}
	}
}

// take, look and steal move cells, and neither lose nor double one.
func TestPoolMovesEachCellOnce(t *testing.T) {
	p := handPool(2)
	rouseAll(p)
	w, v := p.workers[0], p.workers[1]
	c := somebody(20)
	w.now = c[0]
	for _, x := range c[1:8] {
		p.schedule(x, w)
	}
	for _, x := range c[8:] {
		p.schedule(x, nil)
	}
	run := map[*cell]bool{}
	ran := func(w *worker, c *cell) {
		if c == nil || run[c] {
			t.Fatalf("%v was run twice, or is nothing", c)
		}
		if w.now != c {
			t.Fatal("the worker does not know what it runs")
		}
		run[c] = true
		if !w.turned(c, w.epoch, false) {
			t.Fatal("the worker is lost")
		}
	}
	ran(w, c[0])
	ran(w, w.take())
	if w.next != nil {
		t.Fatal("next was not taken out")
	}
	if got := v.take(); got != nil {
		t.Fatal("a worker had something of its own")
	}
	ran(v, v.steal(w))
	ran(v, p.takeCommon(v))
	for len(run) < len(c) {
		for _, w := range p.workers {
			x := w.take()
			if x == nil {
				x = w.look()
			}
			if x != nil {
				ran(w, x)
			} else if len(run) < len(c) && !p.anywhere() {
				t.Fatalf("%d of %d cells were run, and nothing is left", len(run), len(c))
			}
		}
	}
	once(t, p)
}

// Where an actor and another keep each other ready, what waits in the queue gets its turn all the same.
func TestPoolNextDoesNotStarveQueue(t *testing.T) {
	p := handPool(1)
	rouseAll(p)
	w := p.workers[0]
	c := somebody(3)
	w.now = c[0]
	w.add(c[1])
	w.add(c[2]) // in the queue
	w.turned(c[0], w.epoch, false)
	for range 2 * maxHops {
		x := w.take()
		if x == c[2] {
			return
		}
		w.add(x) // it makes itself ready, as a pair would
		w.turned(x, w.epoch, false)
	}
	t.Errorf("the queue had no turn within %d", 2*maxHops)
}

// Nor does a worker that has enough to do let the common queue wait.
func TestPoolQueueDoesNotStarveCommon(t *testing.T) {
	p := handPool(1)
	rouseAll(p)
	w := p.workers[0]
	c := somebody(3)
	w.now = c[0]
	w.turned(c[0], w.epoch, true)
	p.schedule(c[2], nil)
	for range 2 * commonEach {
		x := w.take()
		if x == c[2] {
			return
		}
		w.turned(x, w.epoch, true)
	}
	t.Errorf("the common queue had no turn within %d", 2*commonEach)
}

// blockedIn waits until a goroutine waits for a lock in a function.
func blockedIn(t *testing.T, function string) {
	t.Helper()
	b := make([]byte, 1<<20)
	for range 5000 {
		for _, g := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n") {
			if strings.Contains(g, function) && strings.Contains(g, "sync.(*Mutex)") {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("no goroutine waits for a lock in %s", function)
}

// found waits for the result of a search.
func found(t *testing.T, in chan *cell) *cell {
	t.Helper()
	select {
	case c := <-in:
		return c
	case <-time.After(5 * time.Second):
		t.Fatal("the worker sleeps, and there is work")
		return nil
	}
}

// Work that comes after a worker has looked and before it counts as idle wakes nobody: it is found by the last look.
func TestPoolLastLook(t *testing.T) {
	p := handPool(2)
	rouseAll(p)
	w, v := p.workers[0], p.workers[1]
	c := somebody(3)
	w.now = c[0]
	p.spinning.Store(1) // so that v does not spin
	p.mu.Lock()
	got := make(chan *cell, 1)
	go func() { got <- v.find(v.epoch) }()
	blockedIn(t, "(*worker).find")
	p.spinning.Store(0)
	p.schedule(c[1], w) // next: not to be had by others
	p.schedule(c[2], w)
	p.mu.Unlock()
	if x := found(t, got); x != c[2] {
		t.Errorf("found %s", x.ref.path)
	}
	if p.idlers.Load() != 0 {
		t.Error("the worker counts as idle")
	}
}

// While a worker looks for work nobody is woken, so it wakes others for what it does not take itself: whether it finds
// its work early or with its last look.
func TestPoolSpinWakesForTheRest(t *testing.T) {
	for _, patience := range []uint32{1, maxSpins} {
		p := handPool(2)
		w, v := p.popIdle(), p.workers[0]
		if w == v {
			t.Fatal("the other worker was meant")
		}
		w.patience.Store(patience)
		c := somebody(2)
		v.mu.Lock() // stops the first look of w
		got := make(chan *cell, 1)
		go func() { got <- w.spin() }()
		blockedIn(t, "(*worker).spin")
		p.schedule(c[0], nil)
		p.schedule(c[1], nil)
		v.mu.Unlock()
		if x := found(t, got); x != c[0] {
			t.Fatalf("patience %d: found %v", patience, x)
		}
		if n := len(woken(p)); n != 1 {
			t.Errorf("patience %d: %d workers were woken for what is left", patience, n)
		}
		once(t, p, c...)
	}
}

// The watchman stays while a worker is awake, also one that is in no turn yet.
func TestPoolWatchmanStays(t *testing.T) {
	p := handPool(2)
	p.watch.awake.Store(false)
	w := p.popIdle()
	w.rouse()
	for range 50 { // longer than the watchman stays with nothing to watch
		if time.Sleep(watchLinger * watchRarely / 20); !p.watch.awake.Load() {
			t.Fatal("nobody watches a worker that was woken")
		}
	}
	<-w.wake
	p.mu.Lock()
	p.idle = append(p.idle, w)
	p.idlers.Store(2)
	p.mu.Unlock()
	for range 500 {
		if time.Sleep(10 * time.Millisecond); !p.watch.awake.Load() {
			return
		}
	}
	t.Error("the watchman stays in an idle pool")
}

// dispatchersOfAllKinds are those whose goroutines are the runtime's.
var dispatchersOfAllKinds = map[string]DispatcherConfig{
	"pool": {Parallelism: 1}, "goroutine": {Kind: Goroutine}, "pinned": {Kind: Pinned}, "calling thread": {Kind: CallingThread},
}

// in5s fails unless the channel is closed in time.
func in5s(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s: not in time", what)
	}
}

// An actor whose code ends its goroutine fails, and that is all: it is restarted, and others go on.
func TestDispatcherGoexit(t *testing.T) {
	for name, d := range dispatchersOfAllKinds {
		t.Run(name, func(t *testing.T) {
			s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{"d": d}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Terminate()
			var made atomic.Int32
			done, others := make(chan struct{}), make(chan struct{})
			a := s.MustSpawn(NewProps(func() Actor {
				made.Add(1)
				return ReceiveFunc(func(_ *Context, msg any) {
					if msg == "exit" {
						runtime.Goexit()
					}
					close(done)
				})
			}).WithDispatcher("d"), "a")
			b := s.MustSpawn(FromFunc(func(*Context, any) { close(others) }).WithDispatcher("d"), "b")
			go func() { // since with the calling thread it is this one that ends
				defer a.Tell("go on")
				a.Tell("exit")
			}()
			in5s(t, done, "the message after")
			b.Tell(1)
			in5s(t, others, "the message to another")
			if n := made.Load(); n != 2 {
				t.Errorf("the actor was made %d times", n)
			}
		})
	}
}

// An actor that blocks holds up neither what waits behind it nor what it has made ready itself.
func TestPoolBlockedActor(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{DefaultDispatcher: {Parallelism: workers}}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Terminate()
			const blockers = 5
			release := make(chan struct{})
			var released atomic.Int32
			for range blockers {
				b := s.MustSpawn(FromFunc(func(*Context, any) { released.Add(1) }), "")
				s.MustSpawn(FromFunc(func(ctx *Context, _ any) {
					ctx.Tell(b, 1)
					<-release
					ctx.Tell(b, 2)
				}), "").Tell("block")
			}
			for range 500 {
				if released.Load() == blockers {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if n := released.Load(); n != blockers {
				t.Errorf("%d of %d actors were run behind those that block", n, blockers)
			}
			for i := range 20 {
				done := make(chan struct{})
				s.MustSpawn(FromFunc(func(*Context, any) { close(done) }), "").Tell(1)
				in5s(t, done, fmt.Sprint("a fresh actor ", i))
			}
			close(release)
			for range 500 {
				if released.Load() == 2*blockers {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d of %d messages came", released.Load(), 2*blockers)
		})
	}
}

// An idle pool has no goroutine that is in the way: those of the workers sleep, and the watchman has gone.
func TestPoolEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := NewSystem("test", Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		s.MustSpawn(FromFunc(func(*Context, any) {}), "").Tell(1)
	}
	s.Terminate()
	in5s(t, s.WhenTerminated(), "the end")
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before the system, %d after", before, runtime.NumGoroutine())
}

// The calling thread runs what an actor makes ready when that actor's turn has ended, not within it.
func TestCallingThreadOrder(t *testing.T) {
	s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{DefaultDispatcher: {Kind: CallingThread}}})
	if err != nil {
		t.Fatal(err)
	}
	var trace []string
	b := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		trace = append(trace, fmt.Sprint("b ", msg))
		ctx.Reply("answer")
	}), "b")
	a := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		trace = append(trace, fmt.Sprint("a ", msg))
		if msg == "go" {
			ctx.Tell(b, "question")
			trace = append(trace, "a done")
		}
	}), "a")
	a.Tell("go")
	if got, want := strings.Join(trace, ", "), "a go, a done, b question, a answer"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Terminate()
	select {
	case <-s.WhenTerminated():
	default:
		t.Error("Terminate has returned before the end")
	}
}

// An ask of an actor that says it never blocks runs it, where it is idle, on the goroutine that asks, for one message. What the actor has to do
// after it is scheduled, as it is where the actor's code ends that goroutine.
func TestAskRunsActorOnce(t *testing.T) {
	for name, d := range map[string]DispatcherConfig{"pool": {}, "goroutine": {Kind: Goroutine}} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSystem("test", Config{Dispatchers: map[string]DispatcherConfig{"d": d}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Terminate()
			rest := make(chan struct{})
			a := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
				switch msg {
				case "ask":
					ctx.Tell(ctx.Self(), "rest")
					ctx.Reply("done")
				case "exit":
					runtime.Goexit()
				case "rest":
					rest <- struct{}{}
				}
			}).WithDispatcher("d").WithNonBlocking(), "a")
			for range 3 {
				for a.c.isBusy() {
					runtime.Gosched()
				}
				if _, err := AskFor[string](a, "ask", 0); err != nil {
					t.Fatal(err)
				}
				in5s(t, rest, "what the actor had to do after the ask")
			}
			for a.c.isBusy() {
				runtime.Gosched()
			}
			go AskFor[any](a, "exit", 0)
			for s.Stats().Failures == 0 {
				runtime.Gosched()
			}
			a.Tell("rest")
			in5s(t, rest, "the message after")
		})
	}
}

func (c *cell) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status&busy != 0
}
