package actor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// apart runs f on a goroutine of its own, which an actor's code may end, and waits for that.
func apart(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	wait(t, done, "a call into the runtime")
}

var nothing []int

// ways are the ways in which an actor's code fails.
var ways = map[string]struct {
	do   func(ctx *Context)
	says string
}{
	"panic":   {func(*Context) { panic("boom") }, "boom"},
	"error":   {func(*Context) { panic(errTest) }, errTest.Error()},
	"runtime": {func(*Context) { nothing[runtime.NumGoroutine()]++ }, "out of range"},
	"Goexit":  {func(*Context) { runtime.Goexit() }, "Goexit"},
}

// hookFault is a hook that fails, and what comes of it.
type hookFault struct {
	name    string
	props   func(j *journal, fail func(*Context)) *Props
	trigger func(s *testSystem, a *Ref)
	stops   bool
	cause   any    // a pointer to the type of error that the parent gets; nil for any
	log     string // what is in the log, instead of a failure
}

func hookFaults() []hookFault {
	failure := func(_ *testSystem, a *Ref) { a.Tell(errTest) }
	stop := func(s *testSystem, a *Ref) { s.Stop(a) }
	make2 := func(at int, f func(*Context)) *Props {
		n := 0
		return NewProps(func() Actor {
			if n++; n == at {
				f(nil)
			}
			return &bare{}
		})
	}
	return []hookFault{
		{name: "constructor", props: func(_ *journal, f func(*Context)) *Props { return make2(1, f) }, stops: true, cause: new(*InitializationError)},
		{name: "PreStart", props: func(j *journal, f func(*Context)) *Props { return probe{j: j, preStart: f}.props() }, stops: true, cause: new(*InitializationError)},
		{name: "constructor at a restart", props: func(_ *journal, f func(*Context)) *Props { return make2(2, f) }, trigger: failure, stops: true, cause: new(*RestartError)},
		{name: "PostRestart", props: func(j *journal, f func(*Context)) *Props {
			return probe{j: j, postRestart: func(ctx *Context, _ error) { f(ctx) }}.props()
		}, trigger: failure, stops: true, cause: new(*RestartError)},
		{name: "PreRestart", props: func(j *journal, f func(*Context)) *Props {
			return probe{j: j, preRestart: func(ctx *Context, _ error, _ any) { f(ctx) }}.props()
		}, trigger: failure, log: "PreRestart failed"},
		{name: "PostStop at a restart", props: func(j *journal, f func(*Context)) *Props { return probe{j: j, postStop: callOnce(f)}.props() }, trigger: failure, log: "PreRestart failed"},
		{name: "PostStop", props: func(j *journal, f func(*Context)) *Props { return probe{j: j, postStop: f}.props() }, trigger: stop, stops: true, log: "PostStop failed"},
		{name: "Receive", props: func(j *journal, f func(*Context)) *Props { return bareProps(nil) }, trigger: nil},
		{name: "become", props: func(j *journal, f func(*Context)) *Props {
			return probe{j: j, preStart: func(ctx *Context) {
				ctx.Become(func(ctx *Context, msg any) {
					if msg == "fail" {
						f(ctx)
					}
					if g, ok := msg.(func(*Context)); ok {
						g(ctx)
					}
				})
			}}.props()
		}, trigger: func(_ *testSystem, a *Ref) { a.Tell("fail") }},
	}
}

// once lets f fail the first time only, whatever actor of the Props calls it.
func callOnce(f func(*Context)) func(*Context) {
	n := 0
	return func(ctx *Context) {
		if n++; n == 1 {
			f(ctx)
		}
	}
}

func TestFaultInEveryHook(t *testing.T) {
	for _, h := range hookFaults() {
		for how, way := range ways {
			t.Run(h.name+"/"+how, func(t *testing.T) {
				onEach(t, func(t *testing.T, d string) { faultInHook(t, h, way.do, way.says, d) })
			})
		}
	}
}

func faultInHook(t *testing.T, h hookFault, do func(*Context), says, d string) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	causes := make(chan error, 10)
	top := s.MustSpawn(bareProps(nil).WithDispatcher(d).WithSupervisor(Strategy{Decide: func(err error) Directive {
		causes <- err
		return DefaultDecider(err)
	}}), "top")
	var a *Ref
	apart(t, func() {
		top.Tell(func(ctx *Context) {
			var err error
			if a, err = ctx.Spawn(h.props(j, do).WithDispatcher(d), "a"); err != nil {
				t.Error(err)
			}
			ctx.MustSpawn(bareProps(nil).WithDispatcher(d), "sibling")
		})
	})
	within(t, top, func(*Context) {})
	switch {
	case h.trigger != nil:
		apart(t, func() { h.trigger(s, a) })
	case h.name == "Receive":
		apart(t, func() { a.Tell(do) })
	}
	if h.stops {
		ended(t, a)
	} else {
		within(t, a, func(*Context) {}) // it goes on
	}
	within(t, top, func(ctx *Context) {
		if ctx.Child("sibling") == nil {
			t.Error("the sibling has gone")
		}
	})
	if h.log != "" {
		s.log.contains(t, h.log)
		s.log.contains(t, says)
		return
	}
	var last error
	for len(causes) > 0 {
		last = <-causes
	}
	if last == nil || !strings.Contains(last.Error(), says) {
		t.Fatalf("the cause is %v, which does not say %q", last, says)
	}
	if h.cause != nil && !errors.As(last, h.cause) {
		t.Errorf("the cause is a %T", last)
	}
	var p *PanicError
	if errors.As(last, &p) && !strings.Contains(string(p.Stack), "faults_test.go") {
		t.Errorf("the stack does not show where it was:\n%s", p.Stack)
	}
	s.log.contains(t, says)
}

// The same in a supervisor: the actor that supervises fails, and its own parent decides.
func TestFaultInSupervisor(t *testing.T) {
	for how, way := range ways {
		for _, method := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/method %v", how, method), func(t *testing.T) {
				onEach(t, func(t *testing.T, d string) {
					s := newTestSystem(t, Config{})
					causes := newJournal()
					top := s.MustSpawn(bareProps(nil).WithDispatcher(d).WithSupervisor(Strategy{Decide: func(err error) Directive {
						causes.add("%v", err)
						return Restart
					}}), "top")
					p := bareProps(nil).WithSupervisor(Strategy{Decide: func(error) Directive { way.do(nil); return Stop }})
					if method {
						p = probe{j: newJournal(), strategy: func() Strategy { way.do(nil); return Strategy{} }}.props()
					}
					mid := child(t, top, p.WithDispatcher(d), "mid")
					low := child(t, mid, bareProps(nil).WithDispatcher(d), "low")
					apart(t, func() { low.Tell(errTest) })
					ended(t, low)
					causes.contains(t, way.says)
					within(t, mid, func(ctx *Context) {
						if len(ctx.Children()) != 0 {
							t.Error("the child is there still")
						}
					})
				})
			})
		}
	}
}

func TestConstructorReturnsNil(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		a := s.MustSpawn(NewProps(func() Actor { return nil }).WithDispatcher(d), "a")
		a.Tell("m")
		ended(t, a)
		s.log.contains(t, "returned nil")
		s.lost.has(t, "m to /user/a")
	})
}

// A hook that fails the first two times is called again at each restart that the supervisor decides upon.
func TestInitializationRestarted(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		top := s.MustSpawn(bareProps(nil).WithDispatcher(d).WithSupervisor(Strategy{Decide: always(Restart)}), "top")
		tries := 0
		var a *Ref
		within(t, top, func(ctx *Context) {
			a = ctx.MustSpawn(probe{j: j, name: "a", preStart: func(ctx *Context) {
				ctx.MustSpawn(bareProps(nil), "kid") // of an attempt that failed: stopped
				if tries++; tries < 3 {
					ctx.Fail(errTest)
				}
			}}.props().WithDispatcher(d), "a")
			ctx.Tell(a, "m")
		})
		j.is(t, "a made", "a PreStart", "a made", "a PreStart", "a made", "a PreStart", "a: m")
	})
}

// An actor that blocks for ever does not keep Shutdown from returning: it says who it is, and where.
func TestShutdownOfBlockedActors(t *testing.T) {
	for _, d := range []string{DefaultDispatcher, BlockingDispatcher, PinnedDispatcher} {
		t.Run(d, func(t *testing.T) {
			s := newTestSystem(t, Config{})
			gate := make(chan struct{})
			var refs []*Ref
			for i := range 3 {
				in := make(chan struct{})
				a := s.MustSpawn(bareProps(nil).WithClass("stubborn").WithDispatcher(d), fmt.Sprintf("a%d", i))
				a.Tell(func(*Context) { close(in); blockHere(gate) })
				wait(t, in, "the actor")
				refs = append(refs, a)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			ours := errors.New("enough")
			cancel(ours)
			err := s.Shutdown(ctx)
			var e *ShutdownError
			if !errors.As(err, &e) || !errors.Is(err, ours) {
				t.Fatalf("Shutdown returns %v", err)
			}
			found := 0
			for _, a := range e.Stuck { // a guardian may be in its turn just then, too
				if a.Class == "stubborn" && strings.Contains(a.Stack, "blockHere") && strings.Contains(err.Error(), a.Path) {
					found++
				}
			}
			if found != len(refs) || e.Left < len(refs) {
				t.Errorf("%d of %d found, %d left: %v", found, len(refs), e.Left, err)
			}
			s.log.contains(t, "the system does not end")
			close(gate)
		})
	}
}

func blockHere(gate chan struct{}) { <-gate }

// A million dead letters, from all sides, leave nothing behind.
func TestMillionDeadLettersReachTheStream(t *testing.T) {
	s, err := NewSystem("test", Config{LogDeadLetters: NoLog})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Spawn(bareProps(nil), "a")
	if err != nil {
		t.Fatal(err)
	}
	s.Stop(a)
	ended(t, a)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	for range 4 {
		go func() {
			for i := range 250_000 {
				a.Tell(i)
			}
			done <- struct{}{}
		}()
	}
	for range 4 {
		wait(t, done, "a sender")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	if err := s.Shutdown(deadline(t, patienceOfTests)); err != nil {
		t.Error(err)
	}
}

// Systems come and go without leaving goroutines.
func TestSystemsLeaveNothing(t *testing.T) {
	settle := func() (n int) {
		for start := time.Now(); time.Since(start) < 2*time.Second; runtime.Gosched() {
			if n = runtime.NumGoroutine(); n <= 5 {
				break
			}
		}
		return runtime.NumGoroutine()
	}
	before := settle()
	for range 30 {
		s, err := NewSystem("test", Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{DefaultDispatcher, BlockingDispatcher, PinnedDispatcher} {
			for range 5 {
				a, err := s.Spawn(bareProps(nil).WithDispatcher(d), "")
				if err != nil {
					t.Fatal(err)
				}
				a.Tell(func(ctx *Context) { ctx.SetReceiveTimeout(time.Hour) })
			}
		}
		if err := s.Shutdown(deadline(t, patienceOfTests)); err != nil {
			t.Fatal(err)
		}
	}
	late := time.Now().Add(patienceOfTests)
	for runtime.NumGoroutine() > before+5 {
		if time.Now().After(late) {
			b := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
		}
		runtime.Gosched()
	}
}

// A goroutine that an actor's code has ended is replaced: the pool goes on, however often that happens.
func TestGoexitStorm(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Quiet: true}).WithDispatcher(d), "top")
		n, done := 0, make(chan struct{})
		a := child(t, top, bareProps(func(*Context, any) {
			if n++; n == 1000 {
				close(done)
			}
			runtime.Goexit()
		}).WithDispatcher(d), "a")
		for i := range 1000 {
			if d == callingDispatcher {
				apart(t, func() { a.Tell(i) })
			} else {
				a.Tell(i)
			}
		}
		wait(t, done, "the storm")
		within(t, a, func(*Context) {})
	})
}
