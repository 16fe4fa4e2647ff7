package actor

import (
	"strings"
	"testing"
	"time"
)

// quiet is a message that does not count.
type quietMessage struct{}

func (quietMessage) NotInfluenceReceiveTimeout() {}

// waiting is an actor with a receive time-out, on the goroutine of the test, which moves the clock.
func waiting(t *testing.T, d time.Duration) (*testSystem, *handClock, *journal, *Ref) {
	clock := newHandClock()
	s := newTestSystem(t, Config{Clock: clock})
	j := newJournal()
	a := s.MustSpawn(bareProps(func(ctx *Context, msg any) {
		switch msg.(type) {
		case ReceiveTimeout:
			j.add("timeout at %v", clock.Now().Sub(time.Unix(1e9, 0)))
		default:
			j.add("%v", msg)
		}
	}).WithDispatcher(callingDispatcher), "a")
	if d > 0 {
		within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(d) })
	}
	return s, clock, j, a
}

func (j *journal) now(t *testing.T, want ...string) {
	t.Helper()
	if got := j.all(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestReceiveTimeoutNegative(t *testing.T) {
	s, _, _, a := waiting(t, 0)
	a.Tell(func(ctx *Context) { ctx.SetReceiveTimeout(-1) })
	s.log.contains(t, "receive time-out of -1ns")
}

func TestReceiveTimeoutRepeats(t *testing.T) {
	_, clock, j, a := waiting(t, 100*time.Millisecond)
	clock.advance(99 * time.Millisecond)
	j.now(t)
	clock.advance(time.Millisecond)
	j.now(t, "timeout at 100ms")
	clock.advance(99 * time.Millisecond)
	a.Tell("m")
	clock.advance(99 * time.Millisecond)
	j.now(t, "timeout at 100ms", "m")
	clock.advance(time.Millisecond)
	j.now(t, "timeout at 100ms", "m", "timeout at 299ms")
	clock.advance(200 * time.Millisecond)
	j.now(t, "timeout at 100ms", "m", "timeout at 299ms", "timeout at 399ms", "timeout at 499ms")
	within(t, a, func(ctx *Context) {
		if d := ctx.ReceiveTimeoutAfter(); d != 100*time.Millisecond {
			t.Errorf("%v", d)
		}
	})
}

func TestReceiveTimeoutIsSetOtherwise(t *testing.T) {
	s, clock, j, a := waiting(t, 100*time.Millisecond)
	clock.advance(50 * time.Millisecond)
	within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(10 * time.Millisecond) })
	clock.advance(10 * time.Millisecond)
	j.now(t, "timeout at 60ms")
	within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(time.Second) })
	clock.advance(999 * time.Millisecond)
	j.now(t, "timeout at 60ms")
	clock.advance(time.Millisecond)
	j.now(t, "timeout at 60ms", "timeout at 1.06s")
	within(t, a, func(ctx *Context) {
		ctx.SetReceiveTimeout(0)
		ctx.SetReceiveTimeout(0)
		if ctx.ReceiveTimeoutAfter() != 0 {
			t.Error("it is on still")
		}
	})
	clock.advance(time.Hour)
	j.now(t, "timeout at 60ms", "timeout at 1.06s")
	if n := s.scheduler.wheel.Len(); n != 0 {
		t.Errorf("%d timers", n)
	}
}

func TestReceiveTimeoutNotInfluenced(t *testing.T) {
	_, clock, j, a := waiting(t, 100*time.Millisecond)
	clock.advance(60 * time.Millisecond)
	a.Tell(quietMessage{})
	a.TellFrom(Identify{1}, a.sys.deadLetters)
	clock.advance(40 * time.Millisecond)
	j.now(t, "{}", "timeout at 100ms")
}

// A time-out that is in the mailbox already when a message before it is handled, or when the time-out is set
// otherwise, does not arrive.
func TestReceiveTimeoutThatIsNotTrueAnyMore(t *testing.T) {
	for name, f := range map[string]func(ctx *Context){
		"a message":  func(*Context) {},
		"disabled":   func(ctx *Context) { ctx.SetReceiveTimeout(0) },
		"set longer": func(ctx *Context) { ctx.SetReceiveTimeout(time.Hour) },
		"anew":       func(ctx *Context) { ctx.SetReceiveTimeout(0); ctx.SetReceiveTimeout(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := newHandClock()
			s := newTestSystem(t, Config{Clock: clock})
			j := newJournal()
			a := s.MustSpawn(bareProps(func(ctx *Context, msg any) { j.add("%T", msg) }).WithDispatcher(BlockingDispatcher), "a")
			within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(time.Second) })
			gate, in := make(chan struct{}), make(chan struct{})
			a.Tell(func(ctx *Context) { close(in); <-gate; f(ctx) })
			wait(t, in, "the actor")
			clock.advance(time.Second)
			if a.c.depth() == 0 {
				t.Fatal("the time-out is not in the mailbox")
			}
			close(gate)
			within(t, a, func(*Context) {})
			j.now(t)
			if name == "a message" { // it goes on from there
				clock.advance(time.Second)
				j.is(t, "actor.ReceiveTimeout")
			}
		})
	}
}

func TestReceiveTimeoutAfterFailure(t *testing.T) {
	for _, d := range []Directive{Resume, Restart, Stop} {
		t.Run(d.String(), func(t *testing.T) {
			clock := newHandClock()
			s := newTestSystem(t, Config{Clock: clock})
			j := newJournal()
			top := s.MustSpawn(bareProps(nil).WithDispatcher(callingDispatcher).WithSupervisor(Strategy{Decide: always(d)}), "top")
			a := child(t, top, bareProps(func(ctx *Context, msg any) {
				j.add("%T", msg)
				if _, ok := msg.(ReceiveTimeout); ok {
					ctx.Fail(errTest)
				}
			}).WithDispatcher(callingDispatcher), "a")
			within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(time.Second) })
			clock.advance(time.Second)
			j.now(t, "actor.ReceiveTimeout")
			clock.advance(time.Second)
			if d == Resume { // it fails, is resumed, and the time-out goes on
				j.now(t, "actor.ReceiveTimeout", "actor.ReceiveTimeout")
				return
			}
			j.now(t, "actor.ReceiveTimeout")
			if n := s.scheduler.wheel.Len(); n != 0 {
				t.Errorf("%d timers are left", n)
			}
		})
	}
}

func TestReceiveTimeoutInHooks(t *testing.T) {
	clock := newHandClock()
	s := newTestSystem(t, Config{Clock: clock})
	j := newJournal()
	a := s.MustSpawn(probe{j: j, name: "a",
		preStart: func(ctx *Context) { ctx.SetReceiveTimeout(time.Second) },
		postStop: func(ctx *Context) { ctx.SetReceiveTimeout(time.Second) },
	}.props().WithDispatcher(callingDispatcher), "a")
	clock.advance(time.Second)
	j.now(t, "a made", "a PreStart", "a: {}")
	s.Stop(a)
	if n := s.scheduler.wheel.Len(); n != 0 {
		t.Errorf("%d timers are left", n)
	}
}

// A message that counts costs no allocation.
func TestReceiveTimeoutAllocs(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(bareProps(nil).WithDispatcher(callingDispatcher), "")
	var msg any = "m"
	tell := func() { a.Tell(msg) }
	before := testing.AllocsPerRun(100, tell)
	within(t, a, func(ctx *Context) { ctx.SetReceiveTimeout(time.Hour) })
	if n := testing.AllocsPerRun(100, tell); n > before {
		t.Errorf("%v allocations a message, %v without a time-out", n, before)
	}
}
