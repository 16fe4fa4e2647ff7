package actor

import (
	"testing"
	"time"
)

func TestTimersOfPostStopEnd(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(NewProps(func() Actor {
		return &twoHooks{stop: func(ctx *Context) { ctx.Timers().StartPeriodicTimer(1, 1, time.Hour) }}
	}), "a")
	s.Stop(a)
	ended(t, a)
	s.scheduler.mu.Lock()
	n := s.scheduler.wheel.Len()
	s.scheduler.mu.Unlock()
	if n != 0 {
		t.Errorf("%d timers are left", n)
	}
}

// failsFirst does things in PreStart and then fails, the first time.
type failsFirst struct {
	bare
	first bool
}

func (f *failsFirst) PreStart(ctx *Context) {
	if f.first {
		ctx.Timers().StartPeriodicTimer(1, 1, time.Hour)
		ctx.SetReceiveTimeout(time.Hour)
		ctx.Become(func(*Context, any) {})
		panic("first")
	}
}

func TestAFailedStartLeavesNothingToTheNext(t *testing.T) {
	s := newTestSystem(t, Config{Guardian: Strategy{Decide: func(error) Directive { return Restart }}})
	first := true
	a := s.MustSpawn(NewProps(func() Actor {
		f := &failsFirst{first: first}
		first = false
		return f
	}), "a")
	within(t, a, func(ctx *Context) {
		if ctx.Timers().IsActive(1) || ctx.ReceiveTimeoutAfter() != 0 {
			t.Error("a timer of the actor that could not be started goes on")
		}
	})
}

// failsAgain fails once more at its restart.
type failsAgain struct {
	bare
	again bool
}

func (f *failsAgain) PostRestart(*Context, error) {
	if f.again {
		panic("again")
	}
}

func TestAnActorIsCountedOnce(t *testing.T) {
	s := newTestSystem(t, Config{Guardian: Strategy{Decide: func(error) Directive { return Restart }}})
	n := 0
	a := s.MustSpawn(NewProps(func() Actor {
		n++
		return &failsAgain{again: n == 2}
	}), "a")
	within(t, a, func(*Context) {})
	before := s.Stats()
	a.Tell(errTest)
	within(t, a, func(*Context) {})
	if st := s.Stats(); st.Started != before.Started || st.Actors != before.Actors {
		t.Errorf("before a restart that failed: %+v, after it: %+v", before, st)
	}
}
