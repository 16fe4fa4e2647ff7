package testkit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

// counter counts its messages, and asks after its silence.
type counter struct {
	n    int
	tell *actor.Ref
}

func (c *counter) PreStart(ctx *actor.Context) {
	ctx.SetReceiveTimeout(time.Minute)
	ctx.Timers().StartPeriodicTimer("tick", "tick", 20*time.Second)
}

func (c *counter) Receive(ctx *actor.Context, msg any) {
	c.n++
	switch msg := msg.(type) {
	case error:
		ctx.Fail(msg)
	case actor.ReceiveTimeout:
		ctx.Tell(c.tell, "silence")
	case string:
		ctx.Tell(c.tell, msg)
		if msg == "quiet" {
			ctx.Timers().Cancel("tick")
		}
	}
}

// Everything that a message leads to has happened when Tell returns, and time stands still.
func TestVirtualSystem(t *testing.T) {
	vt := NewVirtualTime(day)
	k := New(t, Options{Time: vt, NoDeadLetters: true})
	p := k.NewProbe("p")
	a := k.Spawn(actor.NewProps(func() actor.Actor { return &counter{tell: p.Ref()} }), "a")
	at := func(d time.Duration, want ...any) {
		t.Helper()
		k.Advance(day.Add(d).Sub(vt.Now()))
		if got := p.Waiting(); !equal(got, append([]any{}, want...)) {
			t.Errorf("at %v: %v wait, want %v", d, got, want)
		}
		for range want {
			p.Receive(0)
		}
	}
	at(19 * time.Second)
	at(21*time.Second, "tick")
	at(62*time.Second, "tick", "tick")
	a.Tell("quiet")
	at(63*time.Second, "quiet")
	at(121 * time.Second)
	at(123*time.Second, "silence")
	at(190*time.Second, "silence")
	if c := Instance[*counter](k, a); c.n != 6 {
		t.Errorf("the actor has handled %d messages", c.n)
	}
	before := Instance[*counter](k, a)
	k.ExpectEvents(1, Failures("boom"), func() { a.Tell(errors.New("boom")) })
	if after := Instance[*counter](k, a); after == before || after.n != 0 {
		t.Error("the actor was not restarted when Tell returned")
	}
	p.ExpectNone(19 * time.Second)
	p.ExpectNone(0)
	k.Advance(2 * time.Second)
	p.Expect("tick") // the restarted one has its own timer
}

func TestVirtualAsk(t *testing.T) {
	k := New(t, Options{Time: NewVirtualTime(day)})
	p := k.NewProbe("p")
	a := k.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		actor.AskThen(ctx, p.Ref(), msg, time.Minute, func(ctx *actor.Context, reply string, err error) {
			ctx.Tell(p.Ref(), fmt.Sprint(reply, err))
		})
	}), "a")
	a.Tell("question")
	p.Expect("question")
	p.Reply("answer")
	p.Expect("answer<nil>")
	a.Tell("question")
	p.Expect("question")
	p.ExpectNone(59 * time.Second)
	k.Advance(2 * time.Second)
	p.Expect("actor: no reply in time: context deadline exceeded")
}

// A window of restarts goes by virtual time, too.
func TestVirtualSupervision(t *testing.T) {
	k := New(t, Options{Time: NewVirtualTime(day), Config: actor.Config{Guardian: actor.Strategy{MaxRetries: 2, Within: time.Minute}}})
	p := k.NewProbe("p")
	a := k.Spawn(failing(), "a")
	p.Watch(a)
	for range 5 {
		a.Tell("boom")
		k.Advance(40 * time.Second)
	}
	p.ExpectNone(time.Minute)
	for range 3 {
		a.Tell("boom")
	}
	p.ExpectTerminated(a)
}

func TestInstanceFailures(t *testing.T) {
	o := Options{CallingThread: true}
	fails(t, func(t *fakeT) { k := New(t); Instance[*counter](k, k.Spawn(echo(), "a")) }, "does not run on the calling thread")
	fails(t, func(t *fakeT) { k := New(t, o); Instance[*counter](k, k.DeadLetters()) }, "is no local actor")
	fails(t, func(t *fakeT) { k := New(t, o); Instance[*counter](k, k.Spawn(echo(), "a")) }, "is a actor.ReceiveFunc, not a *testkit.counter")
	fails(t, func(t *fakeT) {
		k := New(t, o)
		a := k.Spawn(echo(), "a")
		k.Stop(a)
		Instance[actor.ReceiveFunc](k, a)
	}, "has stopped")
	fails(t, func(t *fakeT) {
		k := New(t, o)
		k.Spawn(actor.FromFunc(func(ctx *actor.Context, _ any) { Instance[actor.ReceiveFunc](k, ctx.Self()) }), "a").Tell(1)
	}, "is handling a message")
}

// Settle is the end of what is under way, on the dispatchers of a program, too.
func TestSettle(t *testing.T) {
	k := New(t)
	var n int // of the last actor; Settle orders what it does before what the test reads
	to := k.Spawn(actor.FromFunc(func(*actor.Context, any) { n++ }), "")
	for range 8 {
		next := to
		to = k.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Tell(next, msg); ctx.Tell(next, msg) }), "")
	}
	for round := range 50 {
		to.Tell(round)
		k.Settle()
		if want := (round + 1) << 8; n != want {
			t.Fatalf("round %d: %d messages have come, want %d", round, n, want)
		}
	}
}

// A single actor can run on the goroutine of the test, in a system that is not deterministic.
func TestCallingThreadDispatcher(t *testing.T) {
	k := New(t)
	a := k.Spawn(actor.NewProps(func() actor.Actor { return &counter{tell: k.DeadLetters()} }).WithDispatcher(CallingThreadDispatcher), "a")
	for range 3 {
		a.Tell(1)
	}
	if c := Instance[*counter](k, a); c.n != 3 {
		t.Errorf("%d messages were handled when Tell returned", c.n)
	}
}

// Own dispatchers of a configuration stay what they are.
func TestCallingThreadKeepsOwnDispatchers(t *testing.T) {
	k := New(t, Options{CallingThread: true, Config: actor.Config{Dispatchers: map[string]actor.DispatcherConfig{"own": {}}}})
	release := make(chan struct{})
	p := k.NewProbe("p")
	a := k.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) { <-release; ctx.Reply(msg) }).WithDispatcher("own"), "a")
	p.Send(a, "later")
	if w := p.Waiting(); len(w) != 0 {
		t.Errorf("waiting: %v", w)
	}
	close(release)
	p.Expect("later")
}

func TestShow(t *testing.T) {
	for want, v := range map[string]any{`"a"`: "a", "1": 1, "nil": nil, "true": true, "int64 1": int64(1), "[]int [1 2]": []int{1, 2}, "time.Duration 1s": time.Second} {
		if got := show(v); got != want {
			t.Errorf("show gives %s, want %s", got, want)
		}
	}
	if s := show(strings.Repeat("é", 1000)); len(s) > 330 {
		t.Errorf("%d bytes", len(s))
	}
}
