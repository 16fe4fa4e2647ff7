package actor

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// oddError is an error whose text cannot be had.
type oddError struct{}

func (oddError) Error() string { panic("no text") }

func TestFailureLog(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		switch m {
		case "panic":
			panic("out of paper")
		case "fail":
			ctx.Fail(fmt.Errorf("printer: %w", errors.New("no toner")))
		case "odd":
			ctx.Fail(oddError{})
		}
	}).WithClass("printer"), "p")
	for _, m := range []string{"panic", "fail", "odd"} {
		r.Tell(m)
	}
	endActor(t, r)
	for _, want := range [][]string{
		{"ERROR", "actor has failed", "actor=/user/p", "class=printer", "cause=out of paper", "directive=restart", "stack=", "TestFailureLog"},
		{"ERROR", "actor has failed", "cause=printer: no toner", "directive=restart"},
		{"ERROR", "actor has failed", "cause=an error whose Error method panics: actor.oddError"},
	} {
		if n := len(book.of(want...)); n != 1 {
			t.Errorf("%d lines with %v: %v", n, want, book.of("failed"))
		}
	}
	if n := len(book.of("no toner", "stack=")); n != 0 {
		t.Error("an error without a panic has a stack")
	}
}

// A panic in a constructor is logged with its stack, though another error wraps it.
func TestFailureLogOfConstructor(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r := s.MustSpawn(NewProps(func() Actor { panic("no paper") }), "p")
	endActor(t, r)
	if n := len(book.of("actor=/user/p", "no paper", "directive=stop", "stack=", "TestFailureLogOfConstructor")); n != 1 {
		t.Error(book.of(""))
	}
	if st := s.Stats(); st.Failures != 1 || st.Started != 3 || st.Stopped != 0 || st.Actors != 3 {
		t.Errorf("%+v", st)
	}
}

type badHooks struct{}

func (badHooks) Receive(ctx *Context, _ any)           { ctx.Fail(errors.New("failed")) }
func (badHooks) PostStop(*Context)                     { panic("post") }
func (badHooks) PreRestart(_ *Context, _ error, _ any) { panic("pre") }

func TestHookErrorLog(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r := s.MustSpawn(NewProps(func() Actor { return badHooks{} }), "p")
	r.Tell(1)
	endActor(t, r)
	for _, hook := range []string{"PreRestart", "PostStop"} {
		if n := len(book.of("ERROR", hook+" failed", "actor=/user/p", "class=actor.badHooks", "stack=")); n != 1 {
			t.Errorf("%d lines about %s", n, hook)
		}
	}
}

// A storm of restarts is ten lines a second, and the count of the others.
func TestRestartStorm(t *testing.T) {
	s, book, clock := observed(t, Config{})
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		if m == "fail" {
			ctx.Fail(errors.New("again"))
		}
		m.(chan struct{}) <- struct{}{}
	}), "")
	storm := func(n int) {
		for range n {
			r.Tell("fail")
		}
		done := make(chan struct{})
		r.Tell(done)
		<-done
	}
	storm(5000)
	if n := len(book.of("ERROR")); n != linesASecond {
		t.Errorf("%d lines", n)
	}
	clock.advance(time.Second)
	storm(20)
	if n, m := len(book.of("ERROR")), len(book.of("ERROR", "suppressed=4990")); n != 2*linesASecond || m != 1 {
		t.Errorf("%d lines, %d with the count", n, m)
	}
	if st := s.Stats(); st.Failures != 5020 || st.Restarts != 5020 {
		t.Errorf("%+v", st)
	}
	endSystem(t, s)
	if n := len(book.of("ERROR", "left out", "suppressed=10")); n != 1 {
		t.Errorf("at the end: %v", book.of("left out"))
	}
}

func TestFailuresCountedOnce(t *testing.T) {
	s, _, _ := observed(t, Config{})
	in := make(chan *Ref, 1)
	top := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		p := FromFunc(func(ctx *Context, m any) {
			if m == "spawn" {
				in <- ctx.MustSpawn(FromFunc(func(ctx *Context, _ any) { ctx.Fail(errors.New("deep")) }), "deep")
			}
		}).WithSupervisor(Strategy{Decide: func(error) Directive { return Escalate }})
		ctx.Tell(ctx.MustSpawn(p, "middle"), "spawn")
	}).WithSupervisor(Strategy{Decide: func(error) Directive { return Stop }}), "top")
	top.Tell("go")
	deep := <-in
	deep.Tell("fail")
	eventually(t, "it is stopped", func() bool { return s.Stats().Stopped == 2 })
	if n := s.Stats().Failures; n != 1 {
		t.Errorf("%d failures", n)
	}
}

type hooked struct {
	log chan *slog.Logger
}

func (h hooked) PreStart(ctx *Context)       { h.log <- ctx.Log() }
func (h hooked) Receive(ctx *Context, _ any) { h.log <- ctx.Log() }
func (h hooked) PostStop(ctx *Context)       { ctx.Log().Info("bye") }

func TestContextLog(t *testing.T) {
	s, book, _ := observed(t, Config{})
	log := make(chan *slog.Logger)
	r := s.MustSpawn(NewProps(func() Actor { return hooked{log} }), "h")
	first := <-log
	r.Tell(1)
	if first != <-log {
		t.Error("the logger is not kept")
	}
	first.Info("hello", "n", 1)
	endActor(t, r)
	first.Warn("after the end")
	for _, want := range []string{"INFO hello system=seen actor=/user/h n=1", "INFO bye system=seen actor=/user/h", "WARN after the end system=seen actor=/user/h"} {
		if n := len(book.of(want)); n != 1 {
			t.Errorf("%d lines %q: %v", n, want, book.of(""))
		}
	}
}

func TestLifecycleLog(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r := s.MustSpawn(FromFunc(func(ctx *Context, _ any) { ctx.Fail(errors.New("x")) }), "a")
	r.Tell(1)
	endActor(t, r)
	for _, text := range []string{"actor started", "actor restarted", "actor stopped"} {
		if n := len(book.of("DEBUG", text, "actor=/user/a", "class=func")); n != 1 {
			t.Errorf("%d lines %q", n, text)
		}
	}
}

func TestTelemetry(t *testing.T) {
	for _, on := range []bool{false, true} {
		s, _, _ := observed(t, Config{Telemetry: on})
		var seen []string
		mine := make(chan string, 100)
		SubscribeFunc(s, func(e ActorTelemetry) {
			if strings.HasPrefix(e.Subject().path, "/user/") {
				mine <- fmt.Sprintf("%T %s %s", e, e.Subject().path, e.Class())
			}
		})
		cause := make(chan error, 1)
		SubscribeFunc(s, func(e ActorRestarted) { cause <- e.Cause })
		r := s.MustSpawn(FromFunc(func(ctx *Context, _ any) { ctx.Fail(errors.New("x")) }).WithClass("c"), "a")
		r.Tell(1)
		endActor(t, r)
		endSystem(t, s)
		close(mine)
		for m := range mine {
			seen = append(seen, m)
		}
		want := "[actor.ActorStarted /user/a c actor.ActorRestarted /user/a c actor.ActorStopped /user/a c]"
		if !on {
			want = "[]"
		}
		if fmt.Sprint(seen) != want {
			t.Errorf("telemetry %v: %v", on, seen)
		}
		if on {
			if err := <-cause; err.Error() != "x" {
				t.Errorf("cause %v", err)
			}
		}
	}
}
