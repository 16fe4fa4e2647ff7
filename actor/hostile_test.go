package actor

import (
	"math"
	"testing"
	"time"
)

// evilError is an error whose methods panic.
type evilError struct{}

func (evilError) Error() string { panic("Error") }
func (evilError) Unwrap() error { panic("Unwrap") }
func (evilError) Is(error) bool { panic("Is") }
func (evilError) As(any) bool   { panic("As") }

type twoHooks struct {
	bare
	stop    func(*Context)
	restart func(*Context)
}

func (h *twoHooks) PostStop(ctx *Context) {
	if h.stop != nil {
		h.stop(ctx)
	}
}

func (h *twoHooks) PreRestart(ctx *Context, _ error, _ any) {
	if h.restart != nil {
		h.restart(ctx)
	}
}

func TestErrorsWhoseMethodsPanic(t *testing.T) {
	evil := func(ctx *Context) { ctx.Fail(evilError{}) }
	s := newTestSystem(t, Config{})
	for name, h := range map[string]*twoHooks{"receive": {}, "stop": {stop: evil}, "restart": {restart: evil}} {
		t.Run(name, func(t *testing.T) {
			a := s.MustSpawn(NewProps(func() Actor { c := *h; return &c }), "")
			a.Tell(func(ctx *Context) { ctx.Fail(evilError{}) })
			within(t, a, func(*Context) {})
			s.Stop(a)
			ended(t, a)
		})
	}
	within(t, s.MustSpawn(NewProps(func() Actor { return &twoHooks{} }), "another"), func(*Context) {})
}

func TestForgedTerminated(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(bareProps(nil), "a")
	within(t, a, func(ctx *Context) { ctx.Log() })
	a.Tell(Terminated{})
	within(t, a, func(*Context) {})
}

func TestTheZeroRefAsASender(t *testing.T) {
	s := newTestSystem(t, Config{})
	a := s.MustSpawn(bareProps(nil), "a")
	a.TellFrom(Identify{}, &Ref{})
	within(t, a, func(*Context) {})
	if n := s.Stats().Failures; n != 1 {
		t.Errorf("%d failures, want 1", n)
	}
}

func TestTheZeroProps(t *testing.T) {
	s := newTestSystem(t, Config{})
	if _, err := s.Spawn(&Props{}, "a"); err == nil {
		t.Error("Props without a function make an actor")
	}
}

func TestMoreRetriesThanAnInt32Has(t *testing.T) {
	for _, n := range []int{math.MaxInt32, math.MaxInt, math.MaxInt32 + 1, 1 << 32} {
		st := &Strategy{MaxRetries: n}
		var of childStats
		for range 3 {
			if !of.mayRestart(st, time.Time{}) {
				t.Errorf("MaxRetries %d: no restart", n)
			}
		}
	}
	var of childStats
	if of.mayRestart(&Strategy{MaxRetries: math.MinInt}, time.Time{}) {
		t.Error("MaxRetries of the least int: a restart")
	}
}
