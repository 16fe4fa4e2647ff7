package actor

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestNilIsRefused(t *testing.T) {
	s := newTestSystem(t, Config{})
	dropped := newJournal()
	SubscribeFunc(s.System, func(d Dropped) { dropped.add("%v to %s", d.Message, d.Recipient.path) })
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a"}.props(), "a")
	a.Tell(nil)
	dropped.has(t, "<nil> to /user/a")
	s.log.contains(t, "a message cannot be nil")
	within(t, a, func(ctx *Context) {
		ctx.Tell(a, nil)
		ctx.Reply(nil)
	})
	dropped.is(t, "<nil> to /user/a", "<nil> to /user/a", "<nil> to /deadLetters")
	j.is(t, "a made", "a PreStart")

	for what, f := range map[string]func(){
		"NewProps(nil)": func() { NewProps(nil) },
		"FromFunc(nil)": func() { FromFunc(nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", what)
				}
			}()
			f()
		}()
	}
	if _, err := s.Spawn(nil, "x"); err == nil {
		t.Error("nil Props were accepted")
	}
	if _, err := s.Spawn(NewProps(func() Actor { return nil }).WithDispatcher("nowhere"), "x"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a dispatcher that does not exist: %v", err)
	}
}

func TestChildNames(t *testing.T) {
	s := newTestSystem(t, Config{})
	p := bareProps(nil)
	a := s.MustSpawn(p, "a")
	if _, err := s.Spawn(p, "a"); !errors.Is(err, ErrNameNotUnique) {
		t.Errorf("the same name twice: %v", err)
	}
	within(t, a, func(ctx *Context) {
		b := ctx.MustSpawn(p, "b")
		if _, err := ctx.Spawn(p, "b"); !errors.Is(err, ErrNameNotUnique) {
			t.Errorf("the same name twice: %v", err)
		}
		if ctx.Child("b") != b || ctx.Child("c") != nil {
			t.Error("Child does not find the child, or finds another")
		}
		x, y := ctx.MustSpawn(p, ""), ctx.MustSpawn(p, "")
		if x.Name() != "$a" || y.Name() != "$b" {
			t.Errorf("automatic names are %q and %q", x.Name(), y.Name())
		}
		if ks := ctx.Children(); len(ks) != 3 || ks[0] != b || ks[1] != x || ks[2] != y {
			t.Errorf("the children are %v", ks)
		}
	})

	// A name is free again when the actor has ended, and its parent knows.
	uid := a.UID()
	again := make(chan *Ref, 1)
	boss := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
		if _, ok := msg.(Terminated); ok {
			again <- ctx.MustSpawn(p, "k")
		}
	}), "boss")
	var first *Ref
	within(t, boss, func(ctx *Context) {
		first = ctx.MustSpawn(p, "k")
		ctx.Watch(first)
		ctx.Stop(first)
		if _, err := ctx.Spawn(p, "k"); !errors.Is(err, ErrNameNotUnique) {
			t.Errorf("the name of an actor that is stopping: %v", err)
		}
	})
	select {
	case second := <-again:
		if second.Equal(first) || second.path != first.path {
			t.Errorf("the new actor %v is not another one of the same path as %v", second, first)
		}
		first.Tell("late")
		s.lost.has(t, "late to /user/boss/k")
	case <-time.After(patienceOfTests):
		t.Fatal("no Terminated")
	}
	if uid < 1 {
		t.Errorf("uid %d", uid)
	}
}

func TestStart(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		a := s.MustSpawn(probe{j: j, name: "a", preStart: func(ctx *Context) {
			if ctx.Message() != nil || ctx.HasSender() || ctx.Self().Name() != "a" || ctx.Parent().Name() != "user" || ctx.System() != s.System {
				t.Error("the context of PreStart is wrong")
			}
			ctx.MustSpawn(probe{j: j, name: "b"}.props().WithDispatcher(callingDispatcher), "b")
			ctx.Tell(ctx.Self(), "from PreStart")
		}}.props().WithDispatcher(d), "a")
		a.Tell("m")
		lines := j.until(t, "all messages", func(ls []string) bool { return len(ls) >= 6 })
		pos := map[string]int{}
		for i, l := range lines {
			pos[l] = i
		}
		for _, o := range [][2]string{{"a made", "a PreStart"}, {"a PreStart", "b made"}, {"b made", "b PreStart"}, {"a PreStart", "a: m"}, {"a PreStart", "a: from PreStart"}} {
			if pos[o[0]] >= pos[o[1]] {
				t.Errorf("%q did not come before %q:\n%s", o[0], o[1], strings.Join(lines, "\n"))
			}
		}
	})
}

func TestStopOrder(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		props := func(name string) *Props { return probe{j: j, name: name}.props().WithDispatcher(d) }
		w := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
			if m, ok := msg.(Terminated); ok {
				j.add("watcher hears of %s", m.Ref.Name())
			}
		}).WithDispatcher(d), "w")
		boss := s.MustSpawn(probe{j: newJournal(), name: "boss", receive: func(ctx *Context, msg any) {
			if m, ok := msg.(Terminated); ok {
				j.add("parent hears of %s, has %d", m.Ref.Name(), len(ctx.Children()))
			}
		}}.props().WithDispatcher(d), "boss")
		a := child(t, boss, props("a"), "a")
		b := child(t, a, props("b"), "b")
		child(t, b, props("c"), "c")
		within(t, boss, func(ctx *Context) { ctx.Watch(a) })
		within(t, w, func(ctx *Context) { ctx.Watch(a) })
		within(t, a, func(*Context) {}) // the watches have arrived
		before := len(j.all())
		gate := make(chan struct{})
		if d != callingDispatcher {
			a.Tell(func(*Context) { <-gate })
		}
		a.Tell("waits")
		if d == callingDispatcher {
			j.has(t, "a: waits")
			before++
		}
		within(t, boss, func(ctx *Context) { ctx.Stop(a) })
		close(gate)
		lines := j.until(t, "both Terminated", func(ls []string) bool { return len(ls) >= before+5 })[before:]
		if got := strings.Join(lines[:3], ", "); got != "c PostStop, b PostStop, a PostStop" {
			t.Errorf("stopped in the order %s", got)
		}
		rest := strings.Join(lines[3:], ", ")
		if !strings.Contains(rest, "parent hears of a, has 0") || !strings.Contains(rest, "watcher hears of a") {
			t.Errorf("after PostStop: %s", rest)
		}
		if d != callingDispatcher {
			s.lost.has(t, "waits to /user/boss/a")
		}
		a.Tell("late")
		s.lost.has(t, "late to /user/boss/a")
		if _, err := a.c.spawn(bareProps(nil), "x", nil); !errors.Is(err, ErrStopping) && err != nil {
			t.Errorf("a child of an actor that has stopped: %v", err)
		}
	})
}

func TestStopWhileChildBlocks(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a"}.props(), "a")
	b := child(t, a, probe{j: j, name: "b"}.props().WithDispatcher(BlockingDispatcher), "b")
	gate, in := make(chan struct{}), make(chan struct{})
	b.Tell(func(*Context) { close(in); <-gate })
	wait(t, in, "b")
	a.Tell(PoisonPill{})
	a.Tell("never seen")
	s.Stop(a) // twice is once
	s.Stop(a)
	before := j.all()
	if got := before[len(before)-1]; got != "b PreStart" {
		t.Errorf("%s, while the child has not stopped", got)
	}
	close(gate)
	ended(t, a)
	j.is(t, "a made", "a PreStart", "b made", "b PreStart", "b PostStop", "a PostStop")
	s.lost.has(t, "never seen to /user/a")
}

func TestSpawnInPostStop(t *testing.T) {
	s := newTestSystem(t, Config{})
	got := make(chan error, 2)
	a := s.MustSpawn(probe{j: newJournal(), name: "a", postStop: func(ctx *Context) {
		_, err := ctx.Spawn(bareProps(nil), "x")
		got <- err
		ctx.Watch(ctx.Parent()) // to no effect
	}}.props(), "a")
	child(t, a, bareProps(nil), "b")
	s.Stop(a)
	ended(t, a)
	if err := <-got; !errors.Is(err, ErrStopping) {
		t.Errorf("Spawn in PostStop: %v", err)
	}
}

func TestPoisonPillKillGracefulStop(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		spawn := func(name string) *Ref {
			return s.MustSpawn(probe{j: j, name: name}.props().WithDispatcher(d), name)
		}
		a := spawn("a")
		a.Tell(1)
		a.Tell(PoisonPill{})
		a.Tell(2)
		ended(t, a)
		j.is(t, "a made", "a PreStart", "a: 1", "a PostStop")
		s.lost.has(t, "2 to /user/a")

		b := spawn("b")
		b.Tell(Kill{})
		ended(t, b)
		j.is(t, "a made", "a PreStart", "a: 1", "a PostStop", "b made", "b PreStart", "b PostStop")
		s.log.contains(t, ErrActorKilled.Error())

		c := spawn("c")
		c.Tell(3)
		if err := GracefulStop(deadline(t, patienceOfTests), c, nil); err != nil {
			t.Error(err)
		}
		if l := j.all(); l[len(l)-1] != "c PostStop" || l[len(l)-2] != "c: 3" {
			t.Errorf("before GracefulStop returned: %v", l)
		}
		if err := GracefulStop(deadline(t, patienceOfTests), c, nil); err != nil {
			t.Errorf("GracefulStop of what has stopped: %v", err)
		}
	})
}

func TestGracefulStopTooLate(t *testing.T) {
	s := newTestSystem(t, Config{})
	gate := make(chan struct{})
	a := s.MustSpawn(bareProps(nil).WithDispatcher(BlockingDispatcher), "a")
	a.Tell(func(*Context) { <-gate })
	ctx := deadline(t, time.Millisecond)
	err := GracefulStop(ctx, a, nil)
	if err == nil || !errors.Is(err, ctx.Err()) || !strings.Contains(err.Error(), "/user/a") {
		t.Errorf("GracefulStop of an actor that blocks: %v", err)
	}
	close(gate)
	ended(t, a)
}

func TestRestart(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		a := s.MustSpawn(probe{j: j, name: "a"}.props().WithDispatcher(d), "a")
		uid := a.UID()
		b := child(t, a, probe{j: j, name: "b"}.props().WithDispatcher(d), "b")
		child(t, b, probe{j: j, name: "c"}.props().WithDispatcher(d), "c")
		within(t, a, func(ctx *Context) {
			// The mailbox when it fails: the failing message, which is lost, and two more.
			ctx.Tell(a, errTest)
			ctx.Tell(a, "kept")
			ctx.Tell(a, "kept too")
		})
		// The children are told to stop before PostStop is called, and may end before or after it.
		j.isAround(t, "a PostStop", "a made", "a made", "a PreStart", "b made", "b PreStart", "c made", "c PreStart",
			"a fails: test failure", "a PreRestart(test failure, test failure)",
			"a PostStop", "c PostStop", "b PostStop",
			"a made", "a PostRestart(test failure)", "a PreStart", "a: kept", "a: kept too")
		if a.UID() != uid || a.c.ref.uid != uid {
			t.Error("the uid has changed")
		}
		within(t, a, func(ctx *Context) {
			if len(ctx.Children()) != 0 {
				t.Error("the children have survived")
			}
		})
	})
}

// Akka stops the children from PreRestart, and calls PostStop within it: only then it waits for them. An actor whose
// PreRestart calls no default keeps them.
func TestRestartOfSurvivors(t *testing.T) {
	onEach(t, func(t *testing.T, d string) {
		s := newTestSystem(t, Config{})
		j := newJournal()
		a := s.MustSpawn(probe{j: j, name: "a", preRestart: func(*Context, error, any) {}}.props().WithDispatcher(d), "a")
		b := child(t, a, probe{j: j, name: "b"}.props().WithDispatcher(d), "b")
		a.Tell(errTest)
		j.is(t, "a made", "a PreStart", "b made", "b PreStart", "a fails: test failure", "a PreRestart(test failure, test failure)",
			"a made", "a PostRestart(test failure)", "a PreStart",
			"b PreRestart(test failure, <nil>)", "b PostStop", "b made", "b PostRestart(test failure)", "b PreStart")
		b.Tell("alive")
		j.has(t, "b: alive")
	})
}

func TestBehaviours(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a"}.props(), "a")
	named := func(name string) ReceiveFunc {
		return func(ctx *Context, msg any) {
			switch m := msg.(type) {
			case func(*Context):
				m(ctx)
			case error:
				ctx.Fail(m)
			default:
				j.add("%s: %v", name, msg)
			}
		}
	}
	say := func(n int) { a.Tell(n) }
	start := []string{"a made", "a PreStart"}
	say(1)
	a.Tell(func(ctx *Context) { ctx.Become(named("x")) })
	say(2)
	a.Tell(func(ctx *Context) { ctx.BecomeStacked(named("y")) })
	say(3)
	a.Tell(func(ctx *Context) { ctx.BecomeStacked(named("z")) })
	say(4)
	a.Tell(func(ctx *Context) { ctx.UnbecomeStacked() })
	say(5)
	a.Tell(func(ctx *Context) { ctx.UnbecomeStacked() })
	say(6)
	a.Tell(func(ctx *Context) { ctx.UnbecomeStacked() })
	say(7)
	a.Tell(func(ctx *Context) { ctx.UnbecomeStacked() }) // one too many
	say(8)
	a.Tell(func(ctx *Context) { ctx.BecomeStacked(named("v")); ctx.BecomeStacked(named("w")) })
	say(9)
	a.Tell(errTest)
	say(10)
	a.Tell(func(ctx *Context) { ctx.UnbecomeStacked() })
	say(11)
	j.is(t, append(start, "a: 1", "x: 2", "y: 3", "z: 4", "y: 5", "x: 6", "a: 7", "a: 8", "w: 9",
		"a PreRestart(test failure, test failure)", "a PostStop", "a made", "a PostRestart(test failure)", "a PreStart", "a: 10", "a: 11")...)
}

func TestIdentifyAndUnhandled(t *testing.T) {
	s := newTestSystem(t, Config{})
	got := newJournal()
	me := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
		if m, ok := msg.(ActorIdentity); ok {
			got.add("%v is %v", m.MessageID, m.Subject != nil && m.Subject == ctx.Sender())
		}
	}), "me")
	a := s.MustSpawn(bareProps(func(ctx *Context, msg any) { ctx.Unhandled() }), "a")
	var unhandled atomic.Pointer[UnhandledMessage]
	seen := make(chan struct{})
	SubscribeFunc(s.System, func(u UnhandledMessage) { unhandled.Store(&u); close(seen) })
	a.TellFrom(Identify{1}, me)
	got.is(t, "1 is true")
	a.TellFrom("what?", me)
	wait(t, seen, "Unhandled")
	if u := unhandled.Load(); u.Message != "what?" || u.Sender != me || u.Recipient != a {
		t.Errorf("%+v", u)
	}
	s.Stop(a)
	ended(t, a)
	a.TellFrom(Identify{2}, me)
	got.is(t, "1 is true", "2 is false")
}

func TestSpawnWhileTheSystemEnds(t *testing.T) {
	// Nothing that Spawn has made may outlive the system: the guardian gets children from all sides.
	for round := range 40 {
		s, err := NewSystem("test", Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var made, stopped atomic.Int64
		props := NewProps(func() Actor {
			return probe{j: newJournal(), name: "a"}.with(func(*Context) { made.Add(1) }, func(*Context) { stopped.Add(1) })
		})
		done := make(chan error, 4)
		for i := range 4 {
			go func() {
				for n := 0; ; n++ {
					if _, err := s.Spawn(props, fmt.Sprintf("a%d-%d", i, n)); err != nil {
						done <- err
						return
					}
				}
			}()
		}
		s.Terminate()
		for range 4 {
			if err := <-done; !errors.Is(err, ErrStopping) {
				t.Fatal(err)
			}
		}
		wait(t, s.WhenTerminated(), fmt.Sprintf("system %d", round))
		if made.Load() != stopped.Load() {
			t.Fatalf("%d actors were started, %d stopped", made.Load(), stopped.Load())
		}
	}
}

func (p probe) with(start, stop func(*Context)) Actor {
	p.preStart, p.postStop = start, stop
	return &p
}
