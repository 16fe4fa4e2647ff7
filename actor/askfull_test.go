package actor

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAContinuationIsNoMessage(t *testing.T) {
	s := newTestSystem(t, Config{})
	j := newJournal()
	other := s.MustSpawn(bareProps(func(_ *Context, msg any) { j.add("other got %T", msg) }), "other")
	echo := s.MustSpawn(FromFunc(func(ctx *Context, _ any) { ctx.Reply("reply") }), "echo")
	a := s.MustSpawn(probe{name: "a", j: j}.props(), "a")
	done := make(chan any, 1)
	within(t, a, func(ctx *Context) {
		AskThen(ctx, echo, 1, 0, func(ctx *Context, _ string, _ error) {
			ctx.Forward(other)
			ctx.Unhandled()
			done <- ctx.Message()
		})
	})
	if m := <-done; m != nil {
		t.Errorf("the message is a %T", m)
	}
	within(t, a, func(*Context) {})
	within(t, other, func(*Context) {})
	if n := s.Stats().Unhandled; n != 0 {
		t.Errorf("%d unhandled messages", n)
	}
}

func TestAskOfAFullMailbox(t *testing.T) {
	s := newTestSystem(t, Config{})
	gate, begun := make(chan struct{}), make(chan struct{}, 100)
	full := func(push time.Duration) *Ref {
		a := s.MustSpawn(FromFunc(func(_ *Context, _ any) { begun <- struct{}{}; <-gate }).WithMailbox(BoundedMailbox(1, push)), "")
		a.Tell(1)
		<-begun
		a.Tell(2)
		return a
	}
	defer close(gate)
	waits, refuses := full(time.Hour), full(0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := Ask[int](deadline(t, 50*time.Millisecond), waits, 3); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Ask: %v", err)
		}
		if _, err := AskFor[int](waits, 3, 50*time.Millisecond); !errors.Is(err, ErrAskTimeout) {
			t.Errorf("AskFor: %v", err)
		}
		if _, err := AskFor[int](refuses, 3, time.Hour); !errors.Is(err, ErrMailboxFull) {
			t.Errorf("no room and no wait: %v", err)
		}
		for _, a := range []*Ref{waits, refuses} {
			if err := GracefulStop(deadline(t, 50*time.Millisecond), a, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("GracefulStop: %v", err)
			}
		}
	}()
	wait(t, done, "asks of an actor whose mailbox is full")
}

func TestGracefulStopOfAFullMailbox(t *testing.T) {
	s := newTestSystem(t, Config{})
	gate := make(chan struct{})
	a := s.MustSpawn(FromFunc(func(*Context, any) { <-gate }).WithMailbox(BoundedMailbox(1, 0)), "")
	for range 5 {
		a.Tell(1)
	}
	time.AfterFunc(20*time.Millisecond, func() { close(gate) })
	if err := GracefulStop(deadline(t, 5*time.Second), a, nil); err != nil {
		t.Error(err)
	}
}
