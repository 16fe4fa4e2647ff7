package actor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// script is an actor that calls the functions it is sent, and tells of its life.
type script struct {
	life chan<- string
	id   string
}

func (a *script) Receive(ctx *Context, msg any) {
	switch m := msg.(type) {
	case func(*Context):
		m(ctx)
	case Terminated:
		a.life <- fmt.Sprintf("%s: %s has ended", a.id, m.Ref.Name())
	default:
		a.life <- fmt.Sprintf("%s: %v", a.id, m)
	}
}

func (a *script) PreStart(*Context) { a.life <- a.id + " starts" }

func (a *script) PostStop(*Context) { a.life <- a.id + " stops" }

func (a *script) PreRestart(ctx *Context, cause error, msg any) {
	what := "nothing"
	if msg != nil {
		what = "a message"
	}
	a.life <- fmt.Sprintf("%s restarts with %s: %v", a.id, what, cause)
	ctx.DefaultPreRestart()
}

func (a *script) PostRestart(*Context, error) { a.life <- a.id + " goes on" }

// decide is a strategy that says what it is asked.
func decide(d Directive, causes chan<- error) Strategy {
	return Strategy{Quiet: true, Decide: func(err error) Directive {
		causes <- err
		return d
	}}
}

// scripted makes a script below a parent that deals with its failures by d.
func scripted(t testing.TB, s *System, name string, d Directive) (r *Ref, life chan string, causes chan error) {
	t.Helper()
	life, causes = make(chan string, 10_000), make(chan error, 10_000)
	made := make(chan *Ref)
	boss := s.MustSpawn(FromFunc(func(ctx *Context, _ any) {
		made <- ctx.MustSpawn(NewProps(func() Actor { return &script{life, name} }), name)
	}).WithSupervisor(decide(d, causes)), name+"-boss")
	boss.Tell(1)
	r = next(t, made)
	wantLife(t, life, name+" starts")
	return r, life, causes
}

func wantLife(t testing.TB, life <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := next(t, life); got != w {
			t.Fatalf("%q, want %q", got, w)
		}
	}
}

// ends waits for the end of an actor.
func ends(t testing.TB, r *Ref) {
	t.Helper()
	w := newEndWaiter(r)
	r.tellSystem(&sysMsg{kind: sysWatch, ref: r, other: &w.ref})
	next(t, w.done)
}

func panicsInWork() (int, error) { panic("no work today") }

func panicsInThen() { panic("not then") }

func TestAwaitFailures(t *testing.T) {
	never := func(*Context, int, error) { t.Error("then was called") }
	for _, c := range []struct {
		name  string
		f     func(*Context)
		cause string
		stack string
	}{
		{"panic in work", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { return panicsInWork() }, never)
			Await(ctx, func(context.Context) (int, error) { t.Error("a second work was begun"); return 1, nil }, never)
		}, "no work today", "panicsInWork"},
		{"Goexit in work", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { runtime.Goexit(); return 0, nil }, never)
		}, errGoexit.Error(), ""},
		{"nil panic in work", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { panic(nil) }, never)
		}, "panic called with nil argument", "TestAwaitFailures"},
		{"panic in then", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { return 1, nil }, func(ctx *Context, _ int, _ error) {
				Await(ctx, func(context.Context) (int, error) { return 2, nil }, never)
				panicsInThen()
			})
			Await(ctx, func(context.Context) (int, error) { t.Error("a second work was begun"); return 1, nil }, never)
		}, "not then", "panicsInThen"},
		{"Goexit in then", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { return 1, nil }, func(*Context, int, error) { runtime.Goexit() })
		}, errGoexit.Error(), ""},
		{"Fail in then", func(ctx *Context) {
			Await(ctx, func(context.Context) (int, error) { return 0, errors.New("sorry") }, func(ctx *Context, _ int, err error) { ctx.Fail(err) })
		}, "sorry", ""},
		{"panic after Await", func(ctx *Context) {
			Await(ctx, func(ended context.Context) (int, error) { <-ended.Done(); return 1, nil }, never)
			panicsInThen()
		}, "not then", "panicsInThen"},
		{"no work", func(ctx *Context) { Await(ctx, nil, never) }, "two functions", ""},
		{"no then", func(ctx *Context) {
			Await[int](ctx, func(context.Context) (int, error) { return 1, nil }, nil)
		}, "two functions", ""},
	} {
		for _, d := range []Directive{Resume, Restart, Stop} {
			t.Run(fmt.Sprint(c.name, ", ", d), func(t *testing.T) {
				s, events := treeSystem(t, Config{})
				r, life, causes := scripted(t, s, "a", d)
				r.Tell(c.f)
				r.Tell("after")
				err := next(t, causes)
				if !strings.Contains(err.Error(), c.cause) {
					t.Errorf("%v, want %s", err, c.cause)
				}
				if c.stack != "" {
					var p *PanicError
					if !errors.As(err, &p) || !strings.Contains(string(p.Stack), c.stack) {
						t.Errorf("%T does not show %s", err, c.stack)
					}
				}
				switch d {
				case Resume:
					wantLife(t, life, "a: after")
				case Restart:
					wantLife(t, life, "a restarts with a message: "+err.Error(), "a stops", "a goes on", "a: after")
				case Stop:
					wantLife(t, life, "a stops")
					if d := next(t, events).(DeadLetter); d.Message != "after" {
						t.Errorf("%+v", d)
					}
				}
				if d != Stop { // it still can
					r.Tell(func(ctx *Context) {
						Await(ctx, func(context.Context) (int, error) { return 3, nil },
							func(_ *Context, n int, err error) { life <- fmt.Sprint(n, err) })
					})
					r.Tell("more")
					wantLife(t, life, "3 <nil>", "a: more")
				}
				if len(causes) > 0 {
					t.Error(<-causes)
				}
			})
		}
	}
}

func TestAwaitEndsWithRestart(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	r, life, causes := scripted(t, s, "a", Restart)
	began, release, left := make(chan context.Context), make(chan struct{}), make(chan struct{})
	r.Tell(func(ctx *Context) {
		Await(ctx, func(ended context.Context) (int, error) {
			began <- ended
			<-release // does not look at its context
			defer close(left)
			panic("too late to matter")
		}, func(*Context, int, error) { t.Error("then was called") })
		Await(ctx, func(context.Context) (int, error) { t.Error("the next work was begun"); return 0, nil },
			func(*Context, int, error) { t.Error("then was called") })
	})
	r.Tell("after")
	ended := next(t, began)
	r.tellSystem(&sysMsg{kind: sysSuspend}) // as when a sibling fails under AllForOne
	r.tellSystem(&sysMsg{kind: sysRecreate, cause: errors.New("a sibling failed")})
	wantLife(t, life, "a restarts with nothing: a sibling failed", "a stops", "a goes on", "a: after")
	next(t, ended.Done())
	if err := context.Cause(ended); !errors.Is(err, errAwaitEnded) {
		t.Error(err)
	}
	// The next incarnation awaits something when the work of the last one ends.
	more := make(chan struct{})
	r.Tell(func(ctx *Context) {
		Await(ctx, func(context.Context) (int, error) { began <- nil; <-more; return 7, nil },
			func(_ *Context, n int, _ error) { life <- fmt.Sprint(n) })
	})
	r.Tell("more")
	next(t, began)
	close(release)
	next(t, left)
	close(more)
	wantLife(t, life, "7", "a: more")
	if len(causes) > 0 {
		t.Error(<-causes)
	}
}

func TestAwaitEndsWithStop(t *testing.T) {
	s, events := treeSystem(t, Config{})
	for _, withChild := range []bool{false, true} {
		r, life, _ := scripted(t, s, fmt.Sprint("a", withChild), Restart)
		began, held := make(chan context.Context), make(chan struct{})
		if withChild {
			r.Tell(func(ctx *Context) {
				ctx.MustSpawn(FromFunc(func(*Context, any) { began <- nil; <-held }), "k").Tell(1)
			})
			next(t, began)
		}
		r.Tell(func(ctx *Context) {
			Await(ctx, func(ended context.Context) (int, error) { began <- ended; select {} }, // never returns
				func(*Context, int, error) { t.Error("then was called") })
		})
		r.Tell("after")
		ended := next(t, began)
		s.Stop(r)
		next(t, ended.Done())
		close(held)
		wantLife(t, life, r.Name()+" stops")
		if d := next(t, events).(DeadLetter); d.Message != "after" {
			t.Errorf("%+v", d)
		}
		ends(t, r)
	}
	// A shutdown neither waits for work: the one of treeSystem does, for work that never returns.
	r, _, _ := scripted(t, s, "last", Restart)
	began := make(chan struct{})
	r.Tell(func(ctx *Context) {
		Await(ctx, func(context.Context) (int, error) { close(began); select {} }, func(*Context, int, error) {})
	})
	next(t, began)
}

// awaiter awaits something in each hook.
type awaiter struct{ out chan<- string }

func (a *awaiter) hook(ctx *Context, name string) {
	Await(ctx, func(ended context.Context) (int, error) {
		if name == "PostStop" {
			<-ended.Done()
		}
		return 0, nil
	}, func(*Context, int, error) { a.out <- name })
	if c := (*cell)(ctx); c.state == stopping && c.awaiting() != 0 {
		a.out <- "awaits something, though it ends"
	}
}

func (a *awaiter) PreStart(ctx *Context)             { a.hook(ctx, "PreStart") }
func (a *awaiter) PostRestart(ctx *Context, _ error) { a.hook(ctx, "PostRestart") }
func (a *awaiter) PostStop(ctx *Context)             { a.hook(ctx, "PostStop"); a.out <- "stops" }
func (a *awaiter) Receive(ctx *Context, msg any) {
	a.out <- fmt.Sprint(msg)
	if msg == "fail" {
		ctx.Fail(errors.New("told to"))
	}
}

func TestAwaitInHooks(t *testing.T) {
	s, _ := treeSystem(t, Config{Guardian: Strategy{Quiet: true}})
	out := make(chan string, 100)
	r := s.MustSpawn(NewProps(func() Actor { return &awaiter{out} }), "a")
	r.Tell("first")
	r.Tell("fail")
	r.Tell("second")
	wantLife(t, out, "PreStart", "first", "fail", "stops", "PostRestart", "second")
	r.Tell(PoisonPill{})
	wantLife(t, out, "stops")
	ends(t, r)
	if len(out) > 0 {
		t.Error(<-out)
	}
}

// failsAtStart awaits something and then fails, in its first PreStart.
type failsAtStart struct {
	out   chan<- string
	again bool
}

func (a *failsAtStart) PreStart(ctx *Context) {
	Await(ctx, func(context.Context) (int, error) { return 0, nil }, func(*Context, int, error) { a.out <- "then" })
	if !a.again {
		panic("not the first time")
	}
}

func (a *failsAtStart) Receive(_ *Context, msg any) { a.out <- fmt.Sprint(msg) }

func TestAwaitInPreStartThatFails(t *testing.T) {
	for _, d := range []Directive{Restart, Resume} {
		s, _ := treeSystem(t, Config{Guardian: Strategy{Quiet: true, Decide: func(error) Directive { return d }}})
		out := make(chan string, 100)
		n := 0
		r := s.MustSpawn(NewProps(func() Actor { n++; return &failsAtStart{out, n > 1} }), "a")
		r.Tell("first")
		wantLife(t, out, "then", "first")
	}
}

func TestAwaitLetsSystemMessagesThrough(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	r, life, _ := scripted(t, s, "a", Restart)
	kids := make(chan *Ref, 2)
	kidLife := make(chan string, 100)
	r.Tell(func(ctx *Context) {
		for _, name := range []string{"k", "l"} {
			k := ctx.MustSpawn(NewProps(func() Actor { return &script{kidLife, name} }), name)
			ctx.Watch(k)
			kids <- k
		}
	})
	k, l := next(t, kids), next(t, kids)
	next(t, kidLife)
	next(t, kidLife)
	began, release := make(chan struct{}), make(chan struct{})
	r.Tell(func(ctx *Context) {
		Await(ctx, func(context.Context) (int, error) { close(began); <-release; return 0, nil },
			func(*Context, int, error) { life <- "then" })
	})
	r.Tell("after")
	next(t, began)
	// A child fails and is restarted, another one stops, while their parent awaits something.
	k.Tell(func(ctx *Context) { ctx.Fail(errors.New("a child's failure")) })
	k.Tell("restarted")
	wantLife(t, kidLife, "k restarts with a message: a child's failure", "k stops", "k goes on", "k: restarted")
	s.Stop(l)
	wantLife(t, kidLife, "l stops")
	ends(t, l)
	for r.c.children().get("l") != nil { // the parent has handled the end
	}
	close(release)
	wantLife(t, life, "then", "a: after", "a: l has ended")
}

// hookProbe runs f on the goroutine that runs an actor, between two system messages: that is where a watcher is asked
// for its key.
type hookProbe struct{ f func() }

func (*hookProbe) tell(*Ref, any, *Ref)     {}
func (*hookProbe) tellSystem(*Ref, *sysMsg) {}
func (p *hookProbe) key(*Ref) any           { p.f(); return p }

// look is what f sees there.
func look[T any](t testing.TB, r *Ref, f func() T) T {
	t.Helper()
	c := make(chan T, 1)
	r.tellSystem(&sysMsg{kind: sysUnwatch, other: r.sys.newRef(&hookProbe{func() { c <- f() }}, "")})
	return next(t, c)
}

// TestAwaitWaitsWhileFailed has work end while the actor is suspended by a failure of its child that its own parent has
// not decided about.
func TestAwaitWaitsWhileFailed(t *testing.T) {
	for _, d := range []Directive{Resume, Restart, Stop} {
		t.Run(d.String(), func(t *testing.T) {
			s, _ := treeSystem(t, Config{})
			life := make(chan string, 100)
			asked, answer, kid := make(chan error), make(chan Directive), make(chan *Ref)
			boss := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
				p := NewProps(func() Actor { return &script{life, "a"} }).
					WithSupervisor(Strategy{Quiet: true, Decide: func(error) Directive { return Escalate }})
				msg.(chan *Ref) <- ctx.MustSpawn(p, "a")
			}).WithSupervisor(Strategy{Quiet: true, Decide: func(err error) Directive { asked <- err; return <-answer }}), "")
			made := make(chan *Ref)
			boss.Tell(made)
			r := next(t, made)
			wantLife(t, life, "a starts")
			r.Tell(func(ctx *Context) {
				kid <- ctx.MustSpawn(FromFunc(func(ctx *Context, msg any) { ctx.Fail(errors.New("of a child")) }), "k")
			})
			k := next(t, kid)
			release := make(chan struct{})
			r.Tell(func(ctx *Context) {
				Await(ctx, func(context.Context) (int, error) { <-release; return 0, nil },
					func(*Context, int, error) { life <- "then" })
				k.Tell("fail")
			})
			r.Tell("after")
			next(t, asked)
			close(release)
			for !look(t, r, func() bool { return r.c.ext.async.done }) {
				runtime.Gosched()
			}
			if len(life) > 0 {
				t.Fatal(<-life)
			}
			answer <- d
			switch d {
			case Resume:
				wantLife(t, life, "then", "a: after")
			case Restart:
				wantLife(t, life, "a restarts with nothing: of a child", "a stops", "a goes on", "a: after")
			case Stop:
				wantLife(t, life, "a stops")
			}
			if len(life) > 0 {
				t.Fatal(<-life)
			}
		})
	}
}

// TestAwaitBalance has suspensions and resumes come that do not belong to the Await.
func TestAwaitBalance(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	r, life, _ := scripted(t, s, "a", Restart)
	began, release := make(chan struct{}), make(chan struct{})
	r.Tell(func(ctx *Context) {
		Await(ctx, func(context.Context) (int, error) { close(began); <-release; return 0, nil },
			func(*Context, int, error) { life <- "then" })
	})
	r.Tell("after")
	next(t, began)
	suspends := func() int32 { return look(t, r, func() int32 { return r.c.suspends }) }
	for _, step := range []struct {
		kind sysKind
		want int32
	}{{sysResume, 1}, {sysSuspend, 2}, {sysSuspend, 3}, {sysResume, 2}, {sysResume, 1}, {sysResume, 1}, {sysSuspend, 2}} {
		r.tellSystem(&sysMsg{kind: step.kind})
		if n := suspends(); n != step.want {
			t.Fatalf("%d suspensions, want %d", n, step.want)
		}
	}
	close(release)
	for !look(t, r, func() bool { return r.c.ext.async.done }) {
		runtime.Gosched()
	}
	r.tellSystem(&sysMsg{kind: sysSuspend})
	r.tellSystem(&sysMsg{kind: sysResume})
	if n := suspends(); n != 2 || len(life) > 0 {
		t.Fatal(n, len(life))
	}
	r.tellSystem(&sysMsg{kind: sysResume})
	wantLife(t, life, "then", "a: after")
	if n := suspends(); n != 0 {
		t.Fatal(n)
	}
}

func TestAwaitOrder(t *testing.T) {
	for _, kind := range []DispatcherKind{Pool, Goroutine, Pinned, CallingThread} {
		s, _ := treeSystem(t, Config{Dispatchers: map[string]DispatcherConfig{"d": {Kind: kind, Throughput: 1}}})
		out := make(chan string, 100)
		at := func(ctx *Context, name string, then func(*Context)) {
			Await(ctx, func(context.Context) (string, error) { out <- "work " + name; return name, errors.New("e" + name) },
				func(ctx *Context, v string, err error) {
					out <- fmt.Sprint("then ", v, " ", err)
					if then != nil {
						then(ctx)
					}
				})
		}
		r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
			if msg != "go" {
				out <- fmt.Sprint(msg)
				return
			}
			ctx.Become(func(_ *Context, msg any) { out <- fmt.Sprint("then: ", msg) })
			at(ctx, "1", func(ctx *Context) {
				at(ctx, "1a", func(ctx *Context) { at(ctx, "1a1", nil); at(ctx, "1a2", nil) })
				at(ctx, "1b", nil)
			})
			at(ctx, "2", func(ctx *Context) { at(ctx, "2a", nil) })
			at(ctx, "3", nil)
		}).WithDispatcher("d"), "")
		r.Tell("go")
		r.Tell("x")
		r.Tell("y")
		for _, n := range []string{"1", "1a", "1a1", "1a2", "1b", "2", "2a", "3"} {
			wantLife(t, out, "work "+n, fmt.Sprintf("then %s e%s", n, n))
		}
		wantLife(t, out, "then: x", "then: y")
		if c := look(t, r, func() *extension { return r.c.ext }); c.async != nil {
			t.Error("something is left")
		}
	}
}

func TestAwaitRestoresMessageAndSender(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	seen := make(chan any, 10)
	r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		Await(ctx, func(ended context.Context) (int, error) { return msg.(int) * 2, ended.Err() },
			func(ctx *Context, n int, err error) {
				if err != nil {
					ctx.Fail(err)
				}
				Await(ctx, func(context.Context) (int, error) { return n * 2, nil }, func(ctx *Context, n int, _ error) {
					seen <- ctx.Message()
					ctx.Reply(n)
				})
			})
	}), "")
	for i := range 100 {
		if n, err := Ask[int](t.Context(), r, i); err != nil || n != 4*i || next(t, seen) != i {
			t.Fatal(n, err)
		}
	}
	r.Tell(7) // nobody to answer
	next(t, seen)
}

// TestAwaitSoak has actors that await, fail, are suspended, restarted and stopped at random: none is run by two
// goroutines, none calls a then of a former life, messages stay in order, and all that are left answer.
func TestAwaitSoak(t *testing.T) {
	s, _ := treeSystem(t, Config{Guardian: Strategy{Quiet: true, Decide: func(err error) Directive {
		if err.Error() == "resume" {
			return Resume
		}
		return Restart
	}}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const actors, messages = 50, 400
	var wg sync.WaitGroup
	for i := range actors {
		var inside atomic.Bool
		enter := func() func() {
			if inside.Swap(true) {
				t.Error("two at a time")
			}
			return func() { inside.Store(false) }
		}
		lives, last := 0, 0
		p := NewProps(func() Actor {
			lives++
			life := lives
			return ReceiveFunc(func(ctx *Context, msg any) {
				defer enter()()
				n, ok := msg.(int)
				if !ok {
					ctx.Reply("here")
					return
				}
				if n <= last {
					t.Errorf("%d after %d", n, last)
				}
				last = n
				rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				for range rng.IntN(3) {
					fate := rng.IntN(8)
					Await(ctx, func(ended context.Context) (int, error) {
						switch fate {
						case 0:
							panic("restart")
						case 1:
							runtime.Goexit()
						case 2:
							runtime.Gosched()
						}
						return n, nil
					}, func(ctx *Context, got int, _ error) {
						defer enter()()
						if life != lives || got != n || ctx.Message() != msg {
							t.Error("a then of another life or message")
						}
						switch fate {
						case 3:
							ctx.Fail(errors.New("resume"))
						case 4:
							panic("restart")
						}
					})
				}
				if rng.IntN(10) == 0 {
					panic("restart")
				}
			})
		})
		r := s.MustSpawn(p, "")
		wg.Go(func() {
			for n := 1; n <= messages; n++ {
				r.Tell(n)
				switch n % 50 {
				case 10:
					r.tellSystem(&sysMsg{kind: sysSuspend})
					r.tellSystem(&sysMsg{kind: sysResume})
				case 20:
					r.tellSystem(&sysMsg{kind: sysSuspend})
					r.tellSystem(&sysMsg{kind: sysRecreate, cause: errors.New("sibling")})
				}
				if n == messages/2 && i%5 == 0 {
					s.Stop(r)
				}
			}
			v, err := Ask[string](ctx, r, "there?")
			if i%5 == 0 {
				if !errors.Is(err, ErrTerminated) {
					t.Error(v, err)
				}
			} else if v != "here" {
				t.Error(v, err)
			}
		})
	}
	wg.Wait()
}

func TestAwaitDoesNotLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := NewSystem("t", Config{})
	if err != nil {
		t.Fatal(err)
	}
	r := s.MustSpawn(FromFunc(func(ctx *Context, _ any) {
		for range 10 {
			Await(ctx, func(context.Context) (int, error) { return 0, nil }, func(*Context, int, error) {})
		}
		ctx.Reply(1)
	}), "")
	for range 100 {
		if _, err := Ask[int](t.Context(), r, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before it were %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

func BenchmarkAwait(b *testing.B) {
	s, _ := treeSystem(b, Config{})
	done := make(chan struct{}, 1)
	r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		Await(ctx, func(context.Context) (int, error) { return 0, nil }, func(*Context, int, error) { done <- struct{}{} })
	}), "")
	b.ReportAllocs()
	for b.Loop() {
		r.Tell(b)
		<-done
	}
}

// TestAwaitAndStash has a message stashed from within then, and handled again.
func TestAwaitAndStash(t *testing.T) {
	causes := make(chan error, 10)
	s, _ := treeSystem(t, Config{Guardian: decide(Resume, causes)})
	out := make(chan string, 100)
	r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		Await(ctx, func(context.Context) (int, error) { return 0, nil }, func(ctx *Context, _ int, _ error) {
			switch msg {
			case "open":
				ctx.UnstashAll()
				ctx.Become(func(ctx *Context, msg any) { out <- fmt.Sprint(msg, " ", ctx.HasSender()) })
			case "twice":
				ctx.Stash()
				ctx.Stash()
			default:
				ctx.Stash()
			}
		})
	}), "")
	r.TellFrom(1, s.DeadLetters())
	r.Tell("twice")
	r.Tell(2)
	r.Tell("open")
	if err := next(t, causes); !errors.Is(err, ErrStashedTwice) {
		t.Error(err)
	}
	wantLife(t, out, "1 true", "twice false", "2 false")
}

// TestAwaitAndReceiveTimeout has the time-out come while the actor awaits something: then it is not true any more.
func TestAwaitAndReceiveTimeout(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	out := make(chan string, 100)
	r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		if msg != "go" {
			ctx.SetReceiveTimeout(0)
			out <- fmt.Sprintf("%T", msg)
			return
		}
		self := (*cell)(ctx)
		ctx.SetReceiveTimeout(time.Millisecond)
		Await(ctx, func(context.Context) (int, error) {
			for self.depth() == 0 { // until it waits in the mailbox
				runtime.Gosched()
			}
			return 0, nil
		}, func(ctx *Context, _ int, _ error) { ctx.Tell(ctx.Self(), 1) })
	}), "")
	r.Tell("go")
	wantLife(t, out, "int") // not the time-out that came first
	r.Tell("go")
	wantLife(t, out, "int")
}

// TestAwaitInContinuation begins in the answer to an ask, where no message is being handled.
func TestAwaitInContinuation(t *testing.T) {
	causes := make(chan error, 10)
	s, _ := treeSystem(t, Config{Guardian: decide(Restart, causes)})
	echo := s.MustSpawn(FromFunc(func(ctx *Context, msg any) { ctx.Reply(msg) }), "")
	out := make(chan any, 10)
	r := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		AskThen(ctx, echo, 1, 0, func(ctx *Context, n int, err error) {
			Await(ctx, func(context.Context) (int, error) { return n, err }, func(ctx *Context, n int, err error) {
				out <- ctx.Message()
				ctx.Reply(n)
				ctx.Stash()
			})
		})
	}), "")
	if n, err := Ask[int](t.Context(), r, "x"); n != 1 || err != nil {
		t.Error(n, err)
	}
	if m := next(t, out); m != nil {
		t.Error(m)
	}
	if err := next(t, causes); !errors.Is(err, ErrNothingToStash) {
		t.Error(err)
	}
}
