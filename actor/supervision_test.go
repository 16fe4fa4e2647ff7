package actor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// boss makes an actor with a strategy and probes below it, which have started.
func boss(t *testing.T, s *testSystem, j *journal, st Strategy, dispatcher string, kids ...string) (*Ref, []*Ref) {
	t.Helper()
	b := s.MustSpawn(bareProps(nil).WithSupervisor(st).WithDispatcher(dispatcher), "")
	var refs []*Ref
	for _, k := range kids {
		refs = append(refs, child(t, b, probe{j: j, name: k}.props().WithDispatcher(dispatcher), k))
	}
	return b, refs
}

func always(d Directive) Decider { return func(error) Directive { return d } }

func TestDirectives(t *testing.T) {
	start := []string{"a made", "a PreStart", "b made", "b PreStart"}
	for _, x := range []struct {
		name string
		st   Strategy
		want []string
	}{
		{"resume", Strategy{Decide: always(Resume)}, []string{"a: after"}},
		{"restart", Strategy{Decide: always(Restart)},
			[]string{"a PreRestart(test failure, test failure)", "a PostStop", "a made", "a PostRestart(test failure)", "a PreStart", "a: after"}},
		{"stop", Strategy{Decide: always(Stop)}, []string{"a PostStop"}},
		{"resume, all for one", Strategy{Decide: always(Resume), AllForOne: true}, []string{"a: after"}},
		{"none", Strategy{MaxRetries: NoRetries}, []string{"a PostStop"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d string) {
				s := newTestSystem(t, Config{})
				j := newJournal()
				_, kids := boss(t, s, j, x.st, d, "a", "b")
				within(t, kids[0], func(ctx *Context) {
					ctx.Tell(kids[0], errTest)
					ctx.Tell(kids[0], "after")
				})
				want := append(slices.Clone(start), "a fails: test failure")
				j.is(t, append(want, x.want...)...)
				if strings.HasPrefix(x.want[0], "a PostStop") {
					s.lost.has(t, "after to "+kids[0].path)
				}
				kids[1].Tell("well")
				j.has(t, "b: well")
			})
		})
	}
}

func TestAllForOne(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		_, kids := boss(t, s, j, Strategy{AllForOne: true, MaxRetries: 1}, d, "a", "b")
		n := len(j.all())
		kids[0].Tell(errTest)
		lines := j.until(t, "both restarted", func(ls []string) bool {
			return len(ls) >= n+11
		})[n:]
		for _, of := range []struct{ name, msg string }{{"a", "test failure"}, {"b", "<nil>"}} {
			var got []string
			for _, l := range lines {
				if strings.HasPrefix(l, of.name+" ") && !strings.Contains(l, "fails") {
					got = append(got, l)
				}
			}
			want := []string{of.name + " PreRestart(test failure, " + of.msg + ")", of.name + " PostStop", of.name + " made",
				of.name + " PostRestart(test failure)", of.name + " PreStart"}
			if !slices.Equal(got, want) {
				t.Errorf("of %s:\n%s", of.name, strings.Join(got, "\n"))
			}
		}
		// The second failure, of either, is one too many, and ends both.
		kids[1].Tell(errTest)
		ended(t, kids[0])
		ended(t, kids[1])
		s.log.contains(t, "failed too often")
	})
}

func TestDefaultDecider(t *testing.T) {
	for _, x := range []struct {
		cause error
		want  Directive
	}{
		{errTest, Restart},
		{&PanicError{Value: "x"}, Restart},
		{ErrActorKilled, Stop},
		{fmt.Errorf("wrapped: %w", ErrActorKilled), Stop},
		{&InitializationError{Cause: errTest}, Stop},
		{&RestartError{Cause: errTest}, Stop},
		{&DeathPactError{}, Stop},
		{errGoexit, Restart},
		{ErrStashFull, Restart},
	} {
		if got := DefaultDecider(x.cause); got != x.want {
			t.Errorf("%T: %v, not %v", x.cause, got, x.want)
		}
	}
	for d, want := range map[Directive]string{Restart: "restart", Resume: "resume", Stop: "stop", Escalate: "escalate", 99: "unknown directive"} {
		if d.String() != want {
			t.Errorf("%d is %q", d, d)
		}
	}
}

func TestRetries(t *testing.T) {
	second := time.Second
	for _, x := range []struct {
		name  string
		st    Strategy
		times []time.Duration // of failures, since the first; the last one stops the actor
	}{
		{"never", Strategy{MaxRetries: NoRetries}, []time.Duration{0}},
		{"3 in all", Strategy{MaxRetries: 3}, []time.Duration{0, second, 1000 * second, 100000 * second}},
		{"2 a minute", Strategy{MaxRetries: 2, Within: time.Minute}, []time.Duration{0, 59 * second, 60 * second}},
		{"2 a minute, then another", Strategy{MaxRetries: 2, Within: time.Minute},
			[]time.Duration{0, 59 * second, 61 * second, 120 * second, 122 * second, 123 * second, 124 * second}},
		{"window without a count", Strategy{Within: time.Minute}, []time.Duration{0, 61 * second, 122 * second, 182 * second}},
	} {
		t.Run(x.name, func(t *testing.T) {
			clock := newHandClock()
			s := newTestSystem(t, Config{Clock: clock})
			j := newJournal()
			_, kids := boss(t, s, j, x.st, DefaultDispatcher, "a")
			var at time.Duration
			for i, when := range x.times {
				clock.advance(when - at)
				at = when
				kids[0].Tell(errTest)
				if i == len(x.times)-1 {
					ended(t, kids[0])
					break
				}
				done := fmt.Sprintf("restarted %d times", i+1)
				j.until(t, done, func(ls []string) bool { return strings.Count(strings.Join(ls, "\n"), "PostRestart") == i+1 })
			}
			if n := strings.Count(strings.Join(j.all(), "\n"), "PostRestart"); n != len(x.times)-1 {
				t.Errorf("%d restarts, not %d", n, len(x.times)-1)
			}
		})
	}
}

func TestEscalate(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		top := s.MustSpawn(bareProps(nil).WithDispatcher(d), "top") // its strategy is the default one
		mid := child(t, top, probe{j: j, name: "mid", strategy: func() Strategy { return Strategy{Decide: always(Escalate)} }}.
			props().WithDispatcher(d), "mid")
		low := child(t, mid, probe{j: j, name: "low"}.props().WithDispatcher(d), "low")
		low.Tell(errTest)
		j.isAround(t, "mid PostStop", "mid made", "mid made", "mid PreStart", "low made", "low PreStart", "low fails: test failure",
			"mid PreRestart(test failure, <nil>)", "mid PostStop", "low PostStop",
			"mid made", "mid PostRestart(test failure)", "mid PreStart")
		ended(t, low)
		mid.Tell("on")
		j.has(t, "mid: on")
	})
}

// The failure goes up through /user, and the system ends.
func TestEscalateToTheEnd(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		up := Strategy{Decide: always(Escalate)}
		s := newTestSystem(t, Config{Guardian: up})
		j := newJournal()
		a := s.MustSpawn(probe{j: j, name: "a", strategy: func() Strategy { return up }}.props().WithDispatcher(d), "a")
		b := child(t, a, probe{j: j, name: "b"}.props().WithDispatcher(d), "b")
		b.Tell(errTest)
		wait(t, s.WhenTerminated(), "the system")
		j.is(t, "a made", "a PreStart", "b made", "b PreStart", "b fails: test failure", "b PostStop", "a PostStop")
		if _, err := s.Spawn(bareProps(nil), "late"); !errors.Is(err, ErrStopping) {
			t.Errorf("Spawn after the end: %v", err)
		}
	})
}

// While a supervisor decides, the failed actor and all below it handle no messages; after Resume they handle all.
func TestSuspendedSubtree(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	deciding, decide := make(chan struct{}), make(chan Directive)
	top, kids := boss(t, s, j, Strategy{Decide: func(error) Directive { close(deciding); return <-decide }}, BlockingDispatcher, "a", "other")
	a := kids[0]
	b := child(t, a, probe{j: j, name: "b"}.props(), "b")
	c := child(t, b, probe{j: j, name: "c"}.props(), "c")
	a.Tell(errTest)
	wait(t, deciding, "the supervisor")
	// The suspension goes down in system messages, whose arrival is seen from the suspension itself.
	for _, r := range []*Ref{a, b, c} {
		for {
			r.c.mu.Lock()
			on := r.c.status&suspended != 0
			r.c.mu.Unlock()
			if on {
				break
			}
		}
		r.Tell("1")
		r.Tell("2")
	}
	if n := c.c.depth(); n != 2 {
		t.Errorf("%d messages wait", n)
	}
	kids[1].Tell("not suspended")
	j.has(t, "other: not suspended")
	if l := strings.Join(j.all(), "\n"); strings.Contains(l, ": 1") {
		t.Errorf("a suspended actor has handled a message:\n%s", l)
	}
	decide <- Resume
	for _, r := range []*Ref{a, b, c} {
		j.has(t, r.Name()+": 1")
		j.has(t, r.Name()+": 2")
	}
	_ = top
}

// An actor that fails while its parent is being restarted, or is suspended, is dealt with when the parent goes on.
func TestFailureWhileParentIsSuspended(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	deciding, decide := make(chan struct{}, 1), make(chan Directive)
	_, kids := boss(t, s, j, Strategy{Decide: func(error) Directive { deciding <- struct{}{}; return <-decide }}, BlockingDispatcher, "a")
	a := kids[0]
	b := child(t, a, probe{j: j, name: "b"}.props().WithDispatcher(BlockingDispatcher), "b")
	gate, in := make(chan struct{}), make(chan struct{})
	b.Tell(func(ctx *Context) {
		close(in)
		<-gate
		ctx.Fail(errTest)
	})
	wait(t, in, "b")
	a.Tell(errTest)
	<-deciding
	close(gate) // b fails while a is suspended
	for {
		b.c.mu.Lock()
		on := b.c.status&suspended != 0
		b.c.mu.Unlock()
		if on {
			break
		}
	}
	if strings.Contains(strings.Join(j.all(), "\n"), "b PreRestart") {
		t.Error("a failed actor has decided about its child")
	}
	decide <- Resume
	j.has(t, "b PostRestart(test failure)")
	b.Tell("well")
	j.has(t, "b: well")
}

func TestFailingSupervisor(t *testing.T) {
	bad := errors.New("bad supervisor")
	for name, p := range map[string]*Props{
		"decider panics": bareProps(nil).WithSupervisor(Strategy{Decide: func(error) Directive { panic(bad) }}),
		"no directive":   bareProps(nil).WithSupervisor(Strategy{Decide: always(77)}),
		"method panics":  probe{j: newJournal(), strategy: func() Strategy { panic(bad) }}.props(),
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d string) {
				s := newTestSystem(t, Config{})
				j := newJournal()
				causes := newJournal()
				top := s.MustSpawn(bareProps(nil).WithDispatcher(d).WithSupervisor(Strategy{Decide: func(err error) Directive {
					causes.add("%v", err)
					return Restart
				}}), "top")
				mid := child(t, top, p.WithDispatcher(d), "mid")
				low := child(t, mid, probe{j: j, name: "low"}.props().WithDispatcher(d), "low")
				low.Tell(errTest)
				ended(t, low) // the supervisor is restarted, and its children are stopped for that
				causes.contains(t, "test failure")
				within(t, mid, func(ctx *Context) {
					if len(ctx.Children()) != 0 {
						t.Error("the child is there still")
					}
				})
			})
		})
	}
}

// 100,000 failures in a row: nothing grows, and no message is lost but those that failed.
func TestRestartStormUnderSupervision(t *testing.T) {
	const n = 100_000
	s := newTestSystem(t, Config{})
	strategy := Strategy{Quiet: true}
	top := s.MustSpawn(bareProps(nil).WithSupervisor(strategy), "top")
	var made, good int
	done := make(chan struct{})
	var a *Ref
	within(t, top, func(ctx *Context) {
		a = ctx.MustSpawn(NewProps(func() Actor {
			made++
			return bare{receive: func(ctx *Context, msg any) {
				switch m := msg.(type) {
				case int:
					if m%2 == 0 {
						ctx.Fail(errTest)
					}
					if good++; m == 2*n-1 {
						close(done)
					}
				}
			}}.actor()
		}), "a")
	})
	for i := range 2 * n {
		a.Tell(i)
	}
	wait(t, done, "the storm")
	if made != n+1 || good != n {
		t.Errorf("%d actors made, %d messages handled", made, good)
	}
	if d := a.c.depth(); d != 0 {
		t.Errorf("%d messages wait", d)
	}
	within(t, top, func(ctx *Context) {
		if k := ctx.Children(); len(k) != 1 || k[0] != a {
			t.Errorf("children: %v", k)
		}
	})
}

func (b bare) actor() Actor { return &b }

// A child that fails in each of its starts, under a supervisor that restarts it each time: no recursion, and it can be
// stopped in between.
func TestEndlessInitialization(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		tries := make(chan int, 1)
		top := s.MustSpawn(bareProps(nil).WithDispatcher(d).WithSupervisor(Strategy{Decide: always(Restart), Quiet: true, MaxRetries: 1_000}), "top")
		n := 0
		var a *Ref
		within(t, top, func(ctx *Context) {
			a = ctx.MustSpawn(NewProps(func() Actor {
				if n++; n == 1_001 {
					tries <- n
				}
				panic("never")
			}).WithDispatcher(d), "a")
			ctx.Watch(a)
		})
		ended(t, a)
		select {
		case <-tries:
		default:
			t.Errorf("%d attempts", n)
		}
	})
}
