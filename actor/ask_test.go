package actor

import (
	"runtime"
	"testing"
	"time"
)

// What AskThen calls is no message of the actor's: it cannot be passed on.
func TestAskThenSeesNoMessage(t *testing.T) {
	s := quietSystem(t)
	got := make(chan any, 10)
	other := s.MustSpawn(FromFunc(func(_ *Context, msg any) { got <- msg }), "other")
	echo := s.MustSpawn(NewProps(func() Actor { return echo{} }), "echo")
	asker := s.MustSpawn(FromFunc(func(ctx *Context, msg any) {
		if msg != "go" {
			return
		}
		AskThen(ctx, echo, 1, time.Minute, func(ctx *Context, n int, err error) {
			ctx.Forward(other)
			ctx.Unhandled()
			got <- ctx.Message()
			ctx.Tell(other, n)
		})
	}), "asker")
	asker.Tell("go")
	for _, want := range []any{nil, 1} {
		select {
		case m := <-got:
			if m != want {
				t.Errorf("got %v (%T), want %v", m, m, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nothing came")
		}
	}
}

// Failures of children that wait for their parent's own failure to be decided are all decided upon, even if the
// code that decides about the first of them ends its goroutine.
func TestHeldBackFailuresSurviveGoexit(t *testing.T) {
	s := quietSystem(t)
	release := make(chan struct{})
	failing := func(reply string) *Props {
		return FromFunc(func(ctx *Context, msg any) {
			if msg == "fail" {
				ctx.Fail(errTest)
			}
			ctx.Reply(reply)
		})
	}
	first := true
	kids := make(chan *Ref, 2)
	parent := FromFunc(func(ctx *Context, msg any) {
		switch msg {
		case "spawn":
			kids <- ctx.MustSpawn(failing("kid"), "")
		case "fail":
			ctx.Fail(errTest)
		}
	}).WithSupervisor(Strategy{Decide: func(error) Directive {
		if first {
			first = false
			runtime.Goexit()
		}
		return Resume
	}})
	p := make(chan *Ref, 1)
	s.MustSpawn(FromFunc(func(ctx *Context, _ any) { p <- ctx.MustSpawn(parent, "parent") }).WithSupervisor(Strategy{Decide: func(error) Directive {
		<-release
		return Resume
	}}), "top").Tell("go")
	pr := <-p
	pr.Tell("spawn")
	pr.Tell("spawn")
	a, b := <-kids, <-kids
	pr.Tell("fail")
	a.Tell("fail")
	b.Tell("fail")
	for _, r := range []*Ref{a, b, pr} { // all three are suspended, and nothing is on its way
		for {
			r.c.mu.Lock()
			settled := r.c.status&(suspended|busy) == suspended && r.c.sysHead == nil
			r.c.mu.Unlock()
			if settled {
				break
			}
			runtime.Gosched()
		}
	}
	close(release)
	if v, err := AskFor[string](b, "?", 20*time.Second); v != "kid" || err != nil {
		t.Errorf("the second child: %v, %v", v, err)
	}
}
