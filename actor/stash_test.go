package actor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// stasher stashes strings until it gets a number, and writes down the rest.
func stasher(j *journal) *Props {
	return probe{j: j, name: "a", receive: func(ctx *Context, msg any) {
		if m, ok := msg.(string); ok && strings.HasPrefix(m, "stash") {
			ctx.Stash()
			return
		}
		if m, ok := msg.(Terminated); ok {
			j.add("Terminated %s", m.Ref.Name())
			return
		}
		j.add("%v from %s", msg, ctx.Sender().Name())
	}}.props()
}

func onEachMailbox(t *testing.T, f func(t *testing.T, m Mailbox)) {
	for name, m := range map[string]Mailbox{
		"unbounded": {}, "deque": UnboundedDequeMailbox(), "bounded deque": BoundedDequeMailbox(100, 0),
		"stable priority": UnboundedStablePriorityMailbox(func(any) int { return 0 }),
	} {
		t.Run(name, func(t *testing.T) { f(t, m) })
	}
}

func TestStashFailures(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	causes := make(chan error, 1)
	top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Decide: func(err error) Directive { causes <- err; return Resume }}), "top")
	a := child(t, top, stasher(j).WithStashCapacity(2), "a")
	fails := func(want error) {
		t.Helper()
		select {
		case err := <-causes:
			if !errors.Is(err, want) || !strings.Contains(err.Error(), "/user/top/a") {
				t.Errorf("%v, not %v", err, want)
			}
		case <-time.After(patienceOfTests):
			t.Fatalf("no failure, want %v", want)
		}
	}
	a.Tell(func(ctx *Context) { ctx.Stash(); ctx.Stash() })
	fails(ErrStashedTwice)
	within(t, a, func(ctx *Context) { ctx.ClearStash() })
	a.Tell("stash 1")
	a.Tell("stash 1") // an equal message is another one
	a.Tell("stash 3")
	fails(ErrStashFull)
	within(t, a, func(ctx *Context) {
		if n := ctx.StashLen(); n != 2 {
			t.Errorf("%d are stashed", n)
		}
		ctx.ClearStash()
	})
	a.Tell(func(ctx *Context) {
		AskThen(ctx, ctx.Self(), "stash", time.Millisecond, func(ctx *Context, _ any, _ error) { ctx.Stash() })
	})
	fails(ErrNothingToStash)

	for name, p := range map[string]probe{
		"PreStart": {preStart: (*Context).Stash},
		"PostRestart": {receive: func(ctx *Context, _ any) { panic("restart") },
			postRestart: func(ctx *Context, _ error) { ctx.Stash() }},
	} {
		got := make(chan error, 10)
		top := s.MustSpawn(bareProps(nil).WithSupervisor(Strategy{Decide: func(err error) Directive {
			got <- err
			return DefaultDecider(err)
		}}), "")
		p.j = newJournal()
		within(t, top, func(ctx *Context) { ctx.Tell(ctx.MustSpawn(p.props(), "x"), "go") })
		for {
			if err := <-got; errors.Is(err, ErrNothingToStash) {
				break
			} else if name == "PreStart" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// In PostStop it is an error of the hook, and in the log.
	x := s.MustSpawn(probe{j: newJournal(), postStop: (*Context).Stash}.props(), "x")
	s.Stop(x)
	ended(t, x)
	s.log.contains(t, ErrNothingToStash.Error())
}

func TestUnstash(t *testing.T) {
	onEachMailbox(t, func(t *testing.T, m Mailbox) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		me := s.MustSpawn(bareProps(nil), "me")
		a := s.MustSpawn(stasher(j).WithMailbox(m), "a")
		for i := range 3 {
			a.TellFrom(fmt.Sprintf("stash %d", i), me)
		}
		within(t, a, func(ctx *Context) {
			// Back come: first 0, before what waits; then the others, before that.
			ctx.Become(func(ctx *Context, msg any) {
				if f, ok := msg.(func(*Context)); ok {
					f(ctx)
					return
				}
				j.add("%v from %s", msg, ctx.Sender().Name())
			})
			ctx.Tell(a, "x")
			ctx.Tell(a, func(ctx *Context) { ctx.UnstashAll(); ctx.UnstashAll(); ctx.Unstash() })
			ctx.Tell(a, "y")
			ctx.Unstash()
			if n := ctx.StashLen(); n != 2 {
				t.Errorf("%d are left", n)
			}
		})
		j.is(t, "a made", "a PreStart", "stash 0 from me", "x from a", "stash 1 from me", "stash 2 from me", "y from a")
	})
}

func TestUnstashAllWhere(t *testing.T) {
	s := newTestSystem(t, Config{})
	j, dropped := newJournal(), newJournal()
	SubscribeFunc(s.System, func(d Dropped) { dropped.add("%v", d.Message) })
	a := s.MustSpawn(stasher(j), "a")
	for i := range 4 {
		a.Tell(fmt.Sprintf("stash %d", i))
	}
	within(t, a, func(ctx *Context) {
		ctx.Become(func(ctx *Context, msg any) { j.add("%v", msg) })
		ctx.UnstashAllWhere(func(e Envelope) bool { return e.Message == "stash 3" || e.Message == "stash 1" })
		if ctx.StashLen() != 0 || ctx.ClearStash() != nil {
			t.Error("the stash is not empty")
		}
	})
	j.is(t, "a made", "a PreStart", "stash 1", "stash 3")
	dropped.is(t, "stash 0", "stash 2")
}

func TestClearStash(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(stasher(newJournal()), "a")
	a.TellFrom("stash 1", a)
	a.Tell("stash 2")
	within(t, a, func(ctx *Context) {
		if got, want := ctx.ClearStash(), []Envelope{{"stash 1", a}, {"stash 2", nil}}; !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

func TestStashSurvivesRestart(t *testing.T) {
	onEachMailbox(t, func(t *testing.T, m Mailbox) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		life := 0
		a := s.MustSpawn(NewProps(func() Actor {
			life++
			first := life == 1
			return &bare{func(ctx *Context, msg any) {
				if first {
					ctx.Stash()
					return
				}
				j.add("%v from %s", msg, ctx.Sender().Name())
			}}
		}).WithMailbox(m), "a")
		a.TellFrom(1, a)
		a.TellFrom(2, a)
		within(t, a, func(ctx *Context) {
			ctx.Tell(a, errTest)
			ctx.Tell(a, 3)
		})
		j.is(t, "1 from a", "2 from a", "3 from a")
	})
}

func TestStashOfStoppedActor(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(stasher(newJournal()), "a")
	a.Tell("stash 1")
	a.Tell("stash 2")
	a.Tell(PoisonPill{})
	a.Tell("3")
	ended(t, a)
	s.lost.is(t, "stash 1 to /user/a", "stash 2 to /user/a", "3 to /user/a")
}

// A Terminated that was stashed arrives when it is unstashed, and only then.
func TestStashTerminated(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	b := s.MustSpawn(bareProps(nil), "b")
	stashed := make(chan struct{})
	open := false
	a := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
		m, ok := msg.(Terminated)
		switch {
		case !ok:
		case open:
			j.add("Terminated %s", m.Ref.Name())
		default:
			ctx.Stash()
			close(stashed)
		}
	}), "a")
	within(t, a, func(ctx *Context) { ctx.Watch(b) })
	s.Stop(b)
	wait(t, stashed, "Terminated")
	within(t, a, func(ctx *Context) { open = true; ctx.UnstashAll() })
	j.is(t, "Terminated b")
}

// Many single Unstash do not move the whole mailbox each time, and keep the order.
func TestUnstashMany(t *testing.T) {
	const n = 20_000
	s := newTestSystem(t, Config{})
	done := make(chan struct{})
	next, phase := 0, 0
	a := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
		if phase == 0 {
			ctx.Stash()
			return
		}
		if msg.(int) == n-1-next {
			next++
		}
		if next == n {
			close(done)
		}
	}), "a")
	for i := range n {
		a.Tell(i)
	}
	within(t, a, func(ctx *Context) {
		for range n {
			ctx.Tell(a, -1)
		}
		phase = 1
	})
	start := time.Now()
	within(t, a, func(ctx *Context) {
		for range n {
			ctx.Unstash() // each before the last one
		}
	})
	wait(t, done, "the stashed messages")
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A message that was taken out of a special mailbox, and not handled before the actor was suspended, goes back behind what
// was stashed before it.
func TestPushFrontBeforeWhatWasTaken(t *testing.T) {
	for name, box := range map[string]messageQueue{"bounded": &boundedQueue{limit: 9}, "priority": &priorityQueue{priority: func(any) int { return 0 }}} {
		c := &cell{status: special, box: box}
		box.push(envelope{msg: 3}, 0, false)
		box.push(envelope{msg: 4}, 0, false)
		if !c.refillLocked() {
			t.Fatal("nothing was taken")
		}
		c.pushFront([]envelope{{msg: 1}, {msg: 2}})
		if n := c.depth(); n != 4 {
			t.Errorf("%s: depth %d", name, n)
		}
		for want := 1; want <= 4; want++ {
			if !c.refillLocked() || c.out[0].msg != want {
				t.Errorf("%s: %v, not %d", name, c.out, want)
			}
		}
	}
}
