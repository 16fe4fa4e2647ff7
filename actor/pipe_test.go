package actor

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// post is a message with its sender.
type post struct {
	msg    any
	sender *Ref
}

// piper is an actor that calls what it is told to, and one that reports all it gets.
func piper(s *System) (actor, to *Ref, got <-chan post) {
	c := make(chan post, 100)
	actor = s.MustSpawn(Receive(func(ctx *Context, f func(*Context)) { f(ctx) }), "")
	to = s.MustSpawn(FromFunc(func(ctx *Context, msg any) { c <- post{msg, ctx.sender} }), "")
	return actor, to, c
}

func TestPipeToFailures(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	a, to, got := piper(s)
	sad := errors.New("sad")
	fails := func(context.Context) (int, error) { return 1, sad }
	works := func(context.Context) (int, error) { return 1, nil }
	for name, c := range map[string]struct {
		f    func(*Context)
		want func(error) bool
	}{
		"error": {func(ctx *Context) { PipeTo(ctx, to, fails) }, func(err error) bool { return err == sad }},
		"panic": {func(ctx *Context) {
			PipeTo(ctx, to, func(context.Context) (int, error) { return panicsInWork() })
		}, func(err error) bool {
			var p *PanicError
			return errors.As(err, &p) && p.Value == "no work today" && strings.Contains(string(p.Stack), "panicsInWork")
		}},
		"Goexit": {func(ctx *Context) {
			PipeTo(ctx, to, func(context.Context) (int, error) { runtime.Goexit(); return 1, nil })
		}, func(err error) bool { return err == errGoexit }},
		"nil result": {func(ctx *Context) {
			PipeTo(ctx, to, func(context.Context) (any, error) { return nil, nil })
		}, func(err error) bool { return err == errNilResult }},
		"nil made of the result": {func(ctx *Context) {
			PipeTo(ctx, to, works, PipeOptions[int]{Success: func(int) any { return nil }})
		}, func(err error) bool { return err == errNilResult }},
		"panic in Success": {func(ctx *Context) {
			PipeTo(ctx, to, works, PipeOptions[int]{Success: func(int) any { panic(sad) }})
		}, func(err error) bool { return errors.Is(err, sad) }},
		"Goexit in Success": {func(ctx *Context) {
			PipeTo(ctx, to, works, PipeOptions[int]{Success: func(int) any { runtime.Goexit(); return 1 }})
		}, func(err error) bool { return err == errGoexit }},
		"nil made of the error": {func(ctx *Context) {
			PipeTo(ctx, to, fails, PipeOptions[int]{Failure: func(error) any { return nil }})
		}, func(err error) bool { return err == sad }},
		"panic in Failure": {func(ctx *Context) {
			PipeTo(ctx, to, fails, PipeOptions[int]{Failure: func(error) any { panic("again") }})
		}, func(err error) bool { return errors.Is(err, sad) && strings.Contains(err.Error(), "again") }},
		"Goexit in Failure": {func(ctx *Context) {
			PipeTo(ctx, to, fails, PipeOptions[int]{Failure: func(error) any { runtime.Goexit(); return 1 }})
		}, func(err error) bool { return err == sad }},
	} {
		a.Tell(c.f)
		m := next(t, got)
		if f, ok := m.msg.(StatusFailure); !ok || !c.want(f.Cause) || m.sender != a {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if len(got) > 0 {
		t.Errorf("%+v", <-got)
	}
}

func TestPipeToMistakes(t *testing.T) {
	causes := make(chan error, 10)
	s, _ := treeSystem(t, Config{Guardian: decide(Resume, causes)})
	a, to, _ := piper(s)
	a.Tell(func(ctx *Context) { PipeTo(ctx, nil, func(context.Context) (int, error) { return 1, nil }) })
	a.Tell(func(ctx *Context) { PipeTo[int](ctx, to, nil) })
	for range 2 {
		if err := next(t, causes); !strings.Contains(err.Error(), "PipeTo needs") {
			t.Error(err)
		}
	}
}

func TestPipeToResults(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	a, to, got := piper(s)
	works := func(context.Context) (int, error) { return 5, nil }
	a.Tell(func(ctx *Context) {
		PipeTo(ctx, to, works)
	})
	if m := next(t, got); m != (post{5, a}) {
		t.Errorf("%+v", m)
	}
	a.Tell(func(ctx *Context) {
		PipeTo(ctx, to, works, PipeOptions[int]{Failure: func(error) any { return 1 }}, PipeOptions[int]{
			Success: func(n int) any { return StatusSuccess{n + 1} }, Sender: to})
	})
	if m := next(t, got); m != (post{StatusSuccess{6}, to}) {
		t.Errorf("%+v", m)
	}
	a.Tell(func(ctx *Context) {
		PipeTo(ctx, to, func(context.Context) (int, error) { return 0, errors.New("sad") },
			PipeOptions[int]{Success: func(int) any { return "no" }, Failure: func(err error) any { return err.Error() }})
	})
	if m := next(t, got); m != (post{"sad", a}) {
		t.Errorf("%+v", m)
	}
}

// TestPipeToGoesOn has an actor handle messages and stop while its work goes on.
func TestPipeToGoesOn(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	a, to, got := piper(s)
	began, release := make(chan context.Context), make(chan struct{})
	a.Tell(func(ctx *Context) {
		PipeTo(ctx, to, func(life context.Context) (error, error) { began <- life; <-release; return life.Err(), nil },
			PipeOptions[error]{Success: func(err error) any { return err == nil }})
	})
	life := next(t, began)
	meanwhile := make(chan struct{})
	a.Tell(func(*Context) { close(meanwhile) })
	next(t, meanwhile)
	s.Stop(a)
	ends(t, a)
	close(release)
	if m := next(t, got); m != (post{true, a}) {
		t.Errorf("%+v", m)
	}
	if _, ok := life.Deadline(); ok || life.Value(1) != nil {
		t.Error("a context of more than a lifetime")
	}
	below, cancel := context.WithTimeout(life, time.Minute)
	defer cancel()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	next(t, life.Done())
	next(t, below.Done())
	if life.Err() != context.Canceled || below.Err() != context.Canceled {
		t.Error(life.Err(), below.Err())
	}
}

// TestPipeToAsker pipes to a pending ask, which a StatusFailure fails.
func TestPipeToAsker(t *testing.T) {
	s, _ := treeSystem(t, Config{})
	sad := errors.New("sad")
	r := s.MustSpawn(Receive(func(ctx *Context, fail bool) {
		PipeTo(ctx, ctx.Sender(), func(context.Context) (string, error) {
			if fail {
				return "", sad
			}
			return "done", nil
		})
	}), "")
	if v, err := Ask[string](t.Context(), r, false); v != "done" || err != nil {
		t.Error(v, err)
	}
	if _, err := Ask[string](t.Context(), r, true); err != sad {
		t.Error(err)
	}
}
