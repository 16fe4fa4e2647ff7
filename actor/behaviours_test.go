package actor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// mustPanic calls f, which has to panic with a text that has want in it.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
			t.Errorf("panic: %s, want %s", r, want)
		}
	}()
	f()
}

func TestBehaviorMistakes(t *testing.T) {
	none := func(*Context, any) {}
	mustPanic(t, "needs a function", func() { Receive[int](nil) })
	mustPanic(t, "On needs", func() { On[int](nil) })
	mustPanic(t, "OnIf needs", func() { OnIf(nil, func(*Context, int) {}) })
	mustPanic(t, "OnIf needs", func() { OnIf(func(int) bool { return true }, nil) })
	mustPanic(t, "OnAny needs", func() { OnAny(nil) })
	mustPanic(t, "handler 1 is empty", func() { Behavior(Handler{}) })
	mustPanic(t, "handler 2 takes all", func() { Behavior(On(func(*Context, int) {}), OnAny(none), OnAny(none)) })
	Behavior(OnAny(none))
	Behavior()
}

// alarm is a protocol: what has its method is a message of it.
type alarm interface{ level() int }

type fire struct{ floor int }

func (f fire) level() int { return f.floor }

type smoke struct{ floor int }

func (s *smoke) level() int { return s.floor }

func TestReceiveOthersAreUnhandled(t *testing.T) {
	s, events := treeSystem(t, Config{})
	got := make(chan any, 100)
	for _, c := range []struct {
		p         *Props
		takes     []any
		leaves    []any
		wantClass string
	}{
		{Receive(func(_ *Context, m int) { got <- m }), []any{1, 0, -5}, []any{int32(1), "x", fire{1}, new(int)}, "func(int)"},
		{Receive(func(_ *Context, m fire) { got <- m }), []any{fire{1}}, []any{&fire{1}, &smoke{1}, 1}, "func(actor.fire)"},
		{Receive(func(_ *Context, m *smoke) { got <- m }), []any{&smoke{1}, (*smoke)(nil)}, []any{smoke{1}, fire{1}}, "func(*actor.smoke)"},
		{Receive(func(_ *Context, m alarm) { got <- m }), []any{fire{1}, &smoke{2}, &fire{3}}, []any{smoke{1}, 1}, "func(actor.alarm)"},
		{Receive(func(_ *Context, m any) { got <- m }), []any{fire{1}, 1, "x"}, nil, "func(interface {})"},
		{Receive(func(_ *Context, m error) { got <- m }), []any{ErrActorKilled}, []any{1}, "func(error)"},
	} {
		if c.p.Class() != c.wantClass {
			t.Errorf("class %s, want %s", c.p.Class(), c.wantClass)
		}
		r := s.MustSpawn(c.p, "")
		for _, m := range c.takes {
			r.Tell(m)
			if v := next(t, got); v != m {
				t.Errorf("%s: %v, want %v", c.wantClass, v, m)
			}
		}
		for _, m := range c.leaves {
			r.TellFrom(m, s.DeadLetters())
			if u, ok := next(t, events).(UnhandledMessage); !ok || u.Message != m || u.Recipient != r || u.Sender != s.DeadLetters() {
				t.Errorf("%s: %+v", c.wantClass, u)
			}
		}
	}
	if len(got) > 0 {
		t.Error(<-got)
	}
}

// TestReceiveAndDeathPact has an actor of one type ignore the end of one that it watches.
func TestReceiveAndDeathPact(t *testing.T) {
	causes := make(chan error, 10)
	s, _ := treeSystem(t, Config{Guardian: decide(Stop, causes)})
	watched := s.MustSpawn(Receive(func(*Context, int) {}), "watched")
	r := s.MustSpawn(Receive(func(ctx *Context, _ int) { ctx.Watch(watched) }), "")
	r.Tell(1)
	s.Stop(watched)
	var pact *DeathPactError
	if err := next(t, causes); !errors.As(err, &pact) || pact.Dead != watched {
		t.Error(err)
	}
	ends(t, r)
}

func TestBehaviorFirstMatchWins(t *testing.T) {
	s, events := treeSystem(t, Config{})
	got := make(chan string, 100)
	say := func(what string) func(*Context, int) {
		return func(_ *Context, n int) { got <- fmt.Sprint(what, n) }
	}
	handlers := []Handler{
		OnIf(func(n int) bool { return n < 0 }, say("negative ")),
		OnIf(func(n int) bool { return n > 100 }, say("large ")),
		On(say("int ")),
		OnIf(func(n int) bool { t.Error("asked, though On has taken it"); return true }, say("never ")),
		On(func(_ *Context, f fire) { got <- fmt.Sprint("fire ", f.floor) }),
		On(func(_ *Context, a alarm) { got <- fmt.Sprint("alarm ", a.level()) }),
		On(func(ctx *Context, s string) { ctx.Become(Behavior(OnAny(func(*Context, any) { got <- "changed" }))) }),
	}
	r := s.MustSpawn(FromFunc(Behavior(handlers...)), "a")
	handlers[0] = OnAny(func(*Context, any) { t.Error("a handler was exchanged") })
	for m, want := range map[any]string{-3: "negative -3", 101: "large 101", 100: "int 100", 0: "int 0", fire{2}: "fire 2", &smoke{3}: "alarm 3"} {
		r.Tell(m)
		wantLife(t, got, want)
	}
	r.Tell(1.5)
	if u := next(t, events).(UnhandledMessage); u.Message != 1.5 {
		t.Errorf("%+v", u)
	}
	r.Tell("x")
	r.Tell(1.5)
	wantLife(t, got, "changed")
}

// TestHandlerFails has each function of a handler panic.
func TestHandlerFails(t *testing.T) {
	causes := make(chan error, 10)
	s, _ := treeSystem(t, Config{Guardian: decide(Restart, causes)})
	r := s.MustSpawn(FromFunc(Behavior(
		OnIf(func(string) bool { panic("in the predicate") }, func(*Context, string) {}),
		On(func(*Context, int) { panic("in the handler") }),
		OnAny(func(ctx *Context, _ any) { ctx.Reply("well") }),
	)), "")
	for m, want := range map[any]string{"x": "in the predicate", 1: "in the handler"} {
		r.Tell(m)
		if err := next(t, causes); err.Error() != want {
			t.Error(err)
		}
	}
	if v, err := Ask[string](t.Context(), r, fire{}); v != "well" {
		t.Error(v, err)
	}
}

func TestTypedRefs(t *testing.T) {
	s, events := treeSystem(t, Config{})
	p := Receive(func(ctx *Context, a alarm) { ctx.Reply(a.level()) })
	r, err := SpawnTyped[alarm](s, p, "a")
	if err != nil || r.Ref() != s.resolve([]string{"user", "a"}, 0) {
		t.Fatal(err)
	}
	if again, err := SpawnTyped[alarm](s, p, "a"); !errors.Is(err, ErrNameNotUnique) || again.Ref() != nil {
		t.Error(err)
	}
	if n, err := TypedAsk[int](t.Context(), r, alarm(fire{4})); n != 4 || err != nil {
		t.Error(n, err)
	}
	if n, err := TypedAskFor[int](r, alarm(fire{5}), time.Minute); n != 5 || err != nil {
		t.Error(n, err)
	}
	var wrong *ReplyTypeError
	if _, err := TypedAsk[string](t.Context(), r, alarm(fire{4})); !errors.As(err, &wrong) {
		t.Error(err)
	}
	got := make(chan int, 10)
	parent := s.MustSpawn(Receive(func(ctx *Context, n int) {
		if ctx.HasSender() {
			got <- n
			return
		}
		k, err := SpawnTyped[alarm](ctx, p, "k")
		if err != nil {
			t.Error(err)
		}
		k.TellFrom(fire{6}, ctx.Self())
		TypedAskThen(ctx, k, alarm(&smoke{7}), 0, func(_ *Context, n int, err error) { got <- n })
	}), "parent")
	parent.Tell(0)
	for _, want := range []int{6, 7} {
		if n := next(t, got); n != want {
			t.Error(n, want)
		}
	}
	r.Tell(nil) // an interface without a value
	if _, ok := next(t, events).(Dropped); !ok {
		t.Error("a nil message was not refused")
	}
	Typed[int](r.Ref()).Tell(3)
	if u, ok := next(t, events).(UnhandledMessage); !ok || u.Message != 3 {
		t.Errorf("%+v", u)
	}
}

func TestBehaviorDoesNotAllocate(t *testing.T) {
	f := tenHandlers()
	var msg any = &smoke{1}
	if a := testing.AllocsPerRun(1000, func() { f(nil, msg) }); a > 0 {
		t.Errorf("%.1f allocations", a)
	}
}

// tenHandlers is a behaviour whose last handler takes *smoke.
func tenHandlers() ReceiveFunc {
	return Behavior(
		On(func(*Context, int) {}), On(func(*Context, string) {}), On(func(*Context, fire) {}), On(func(*Context, *fire) {}),
		On(func(*Context, error) {}), On(func(*Context, []byte) {}), On(func(*Context, float64) {}), On(func(*Context, *int) {}),
		OnIf(func(s *smoke) bool { return s == nil }, func(*Context, *smoke) {}), On(func(*Context, *smoke) {}))
}

func BenchmarkBehavior(b *testing.B) {
	ten := tenHandlers()
	for name, f := range map[string]ReceiveFunc{
		"one handler": Behavior(On(func(*Context, *smoke) {})),
		"last of ten": ten,
		"by hand": func(_ *Context, msg any) {
			switch m := msg.(type) {
			case int, string, fire, *fire:
			case error:
			case []byte, float64, *int:
			case *smoke:
				_ = m
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			var msg any = &smoke{1}
			b.ReportAllocs()
			for b.Loop() {
				f(nil, msg)
			}
		})
	}
}
