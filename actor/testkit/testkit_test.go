package testkit

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

// fakeT is a test that is expected to fail.
type fakeT struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	log      strings.Builder
	cleanups []func()
}

func (f *fakeT) Helper()           {}
func (f *fakeT) Output() io.Writer { return f }
func (f *fakeT) Cleanup(c func())  { f.cleanups = append(f.cleanups, c) }

func (f *fakeT) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(b)
}

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
	f.mu.Unlock()
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// failureOf runs a test, to its end, and returns how it failed.
func failureOf(run func(t *fakeT)) string {
	f := &fakeT{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(f.cleanups) - 1; i >= 0; i-- {
				f.cleanups[i]()
			}
		}()
		run(f)
	}()
	<-done
	return strings.Join(f.failures, "\n")
}

// fails runs a test that has to fail, with each of the texts in what it says.
func fails(t *testing.T, run func(t *fakeT), texts ...string) {
	t.Helper()
	got := failureOf(run)
	if got == "" {
		t.Error("the test did not fail")
		return
	}
	for _, x := range texts {
		if !strings.Contains(got, x) {
			t.Errorf("the failure does not say %q, but\n%s", x, got)
		}
	}
}

type done struct{ N int }

// probeFails lets a probe get messages, and then fail.
func probeFails(t *testing.T, msgs []any, run func(k *Kit, p *Probe), texts ...string) {
	t.Helper()
	fails(t, func(t *fakeT) {
		k := New(t)
		p := k.NewProbe("p").Within(20 * time.Millisecond)
		for _, m := range msgs {
			p.Ref().Tell(m)
		}
		k.Settle()
		run(k, p)
	}, texts...)
}

func TestProbeFailures(t *testing.T) {
	probeFails(t, nil, func(_ *Kit, p *Probe) { p.Expect(done{1}) }, "p has got no message within 20ms", "want testkit.done {N:1}")
	probeFails(t, []any{done{2}, "x", 3}, func(_ *Kit, p *Probe) { p.Expect(done{1}) },
		"got  testkit.done {N:2}\n", "want testkit.done {N:1}\n", `these wait: "x", 3`)
	probeFails(t, []any{int32(1)}, func(_ *Kit, p *Probe) { p.Expect(1) }, "got  int32 1\n", "want 1")
	probeFails(t, nil, func(_ *Kit, p *Probe) { ExpectType[done](p) }, "want a message of type testkit.done")
	probeFails(t, []any{"x"}, func(_ *Kit, p *Probe) { ExpectType[error](p) }, `got  "x"`, "want a message of type error")
	probeFails(t, []any{"x", "y"}, func(_ *Kit, p *Probe) { p.ExpectNone(0) }, `got  "x"`, "want none", `these wait: "y"`)
	probeFails(t, []any{1, 4}, func(_ *Kit, p *Probe) { p.ExpectAllOf(1, 2, 3) }, "got  4", "one of 2, 3")
	probeFails(t, []any{3, 1}, func(_ *Kit, p *Probe) { p.ExpectAllOf(1, 2, 3) }, "within 20ms", "missing 2")
	probeFails(t, []any{1, 2}, func(_ *Kit, p *Probe) { p.FishFor("a three", func(m any) bool { return m == 3 }) },
		"want a three", "these came: 1, 2")
	probeFails(t, nil, func(_ *Kit, p *Probe) { p.FishFor("a three", func(m any) bool { return m == 3 }) }, "none came")
	probeFails(t, []any{1}, func(_ *Kit, p *Probe) { p.Expect(1); p.Reply(2) }, "no message with a sender; the last was 1")
	probeFails(t, nil, func(_ *Kit, p *Probe) { p.Reply(2) }, "the last was nil")
	probeFails(t, nil, func(_ *Kit, p *Probe) { p.Forward(p.Ref()) }, "Forward: p has taken no message")
	probeFails(t, nil, func(_ *Kit, p *Probe) { p.ExpectTerminated(p.Ref()) }, "want the actor.Terminated of [akka://test/user/p#")
	probeFails(t, []any{1}, func(_ *Kit, p *Probe) { p.ExpectTerminated(p.Ref()) }, "got  1", "want the actor.Terminated of")
	probeFails(t, []any{actor.PoisonPill{}}, func(_ *Kit, p *Probe) { p.Watch(p.Ref()) }, "Watch: p has not done it", "has it been stopped?")
	probeFails(t, nil, func(k *Kit, _ *Probe) { k.NewProbe("p") }, "there is a child of this name already")
	probeFails(t, []any{strings.Repeat("é", 1000)}, func(_ *Kit, p *Probe) { p.Expect(1) }, "... (2002 bytes)")
	var many []any
	for i := range 100 {
		many = append(many, i)
	}
	probeFails(t, many, func(_ *Kit, p *Probe) { p.ExpectNone(0) }, "10, and 89 more")
}

func TestProbeNamesTheSender(t *testing.T) {
	probeFails(t, nil, func(k *Kit, p *Probe) {
		k.NewProbe("other").Send(p.Ref(), "x")
		p.Within(time.Second).Expect("y")
	}, `got  "x" from [akka://test/user/other#`)
}

func TestKitFailures(t *testing.T) {
	fails(t, func(t *fakeT) { New(t, Options{Name: "no name"}) }, "testkit: ")
	fails(t, func(t *fakeT) { New(t).Spawn(nil, "a") }, "Props are nil")
	fails(t, func(t *fakeT) { New(t).Advance(1) }, "Advance needs Options.Time")
	fails(t, func(t *fakeT) {
		New(t, Options{Within: 20 * time.Millisecond}).AwaitCondition("the moon is full", func() bool { return false })
	}, "not within 20ms: the moon is full")
}

// A system whose actor does not end fails the test, and says where it is.
func TestKitDoesNotEnd(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	fails(t, func(t *fakeT) {
		k := New(t, Options{ShutdownWithin: 50 * time.Millisecond, Within: 20 * time.Millisecond})
		a := k.Spawn(actor.FromFunc(func(*actor.Context, any) { <-release }), "stuck")
		a.Tell(1)
		a.Tell(2)
		k.Settle()
	}, "the actors do not settle within 20ms", "for /user/stuck", "the system does not end within 50ms", "TestKitDoesNotEnd")
}

func failing() *actor.Props {
	return actor.FromFunc(func(ctx *actor.Context, msg any) {
		if text, ok := msg.(string); ok {
			panic(text)
		}
		ctx.Fail(msg.(error))
	})
}

func TestKitNoFailures(t *testing.T) {
	fails(t, func(t *fakeT) {
		k := New(t, Options{NoFailures: true})
		a := k.Spawn(failing(), "a")
		a.Tell(errors.New("of one kind"))
		k.ExpectEvents(1, Failures("other kind"), func() { a.Tell("of the other kind") })
		k.Settle()
	}, "actors have failed 1 times, unexpectedly\n", "of one kind")
	quiet := func(o Options) func(t *fakeT) {
		return func(t *fakeT) {
			o.Config.Guardian.Quiet = true
			k := New(t, o)
			k.Spawn(failing(), "a").Tell("boom")
			k.Settle()
		}
	}
	fails(t, quiet(Options{NoFailures: true}), "actors have failed 1 times, unexpectedly\n\tand 1 more")
	if got := failureOf(quiet(Options{})); got != "" {
		t.Errorf("without the option: %s", got)
	}
	// A failure that is passed on is one.
	if got := failureOf(func(t *fakeT) {
		k := New(t, Options{NoFailures: true})
		top := k.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
			ctx.MustSpawn(failing(), "below").Tell(msg)
		}).WithSupervisor(actor.Strategy{Decide: func(error) actor.Directive { return actor.Escalate }}), "top")
		k.ExpectEvents(1, Failures("boom"), func() { top.Tell("boom") })
	}); got != "" {
		t.Error(got)
	}
}

func TestKitNoDeadLetters(t *testing.T) {
	fails(t, func(t *fakeT) {
		k := New(t, Options{NoDeadLetters: true})
		k.ExpectEvents(1, DeadLetters[int](), func() { k.DeadLetters().Tell(1) })
		for i := range 15 {
			k.DeadLetters().Tell(fmt.Sprint("lost ", i))
		}
	}, "there were 15 unexpected dead letters\n", "lost 9", "and 5 more")
	if got := failureOf(func(t *fakeT) { // those of the end are not meant
		k := New(t, Options{NoDeadLetters: true, CallingThread: true})
		a := k.Spawn(actor.FromFunc(func(ctx *actor.Context, _ any) { ctx.Stash() }), "a")
		a.Tell("kept until the end")
	}); got != "" {
		t.Error(got)
	}
}

func TestExpectEventsFailures(t *testing.T) {
	o := Options{Within: 50 * time.Millisecond}
	fails(t, func(t *fakeT) { New(t, o).ExpectEvents(1, Filter{}, func() {}) }, "make it with Events, Log")
	fails(t, func(t *fakeT) { New(t, o).ExpectEvents(2, DeadLetters[string](), func() {}) },
		"2 dead letters of type string were expected within 50ms, and there were 0")
	fails(t, func(t *fakeT) {
		k := New(t, o)
		k.ExpectEvents(1, DeadLetters[any](), func() { k.DeadLetters().Tell(1); k.DeadLetters().Tell("two") })
	}, "1 dead letters of type interface {} were expected, and there were 2:", "two")
	fails(t, func(t *fakeT) {
		k := New(t, o)
		k.ExpectEvents(0, Log(slog.LevelWarn, "fire"), func() { k.Log().Warn("a fire", "where", "cellar") })
	}, `0 lines with "fire" of level WARN were expected, and there were 1`, "cellar")
	fails(t, func(t *fakeT) {
		k := New(t, o)
		k.ExpectEvents(1, Log(slog.LevelWarn, "fire"), func() { k.Log().Info("fire"); k.Log().Warn("water") })
	}, "there were 0")
}

func TestExpectEvents(t *testing.T) {
	k := New(t, Options{NoFailures: true, NoDeadLetters: true, LogLevel: slog.LevelDebug})
	k.ExpectEvents(1, Events(func(n int) bool { return n == 2 }), func() {
		for i := range 4 {
			k.EventStream().Publish(i)
		}
	})
	k.ExpectEvents(1, Unhandled[string](), func() {
		k.Spawn(actor.Receive(func(*actor.Context, int) {}), "").Tell("x")
	})
	k.ExpectEvents(0, Events[any](nil), func() { k.Log().Debug("a line is no event") })
	var got LogRecord
	k.ExpectEvents(1, LogWhere("a line", func(r LogRecord) bool { got = r; return r.Message == "hello" }), func() {
		k.Log().With("a", 1).WithGroup("g").With("b", 2).Debug("hello", "c", 3, slog.Group("h", "d", 4))
	})
	for name, want := range map[string]int64{"a": 1, "g.b": 2, "g.c": 3, "g.h.d": 4} {
		if v := got.Attrs[name]; v.Kind() != slog.KindInt64 || v.Int64() != want {
			t.Errorf("%s is %v in %v", name, v, got)
		}
	}
	k.ExpectEvents(1, Failures("boom"), func() { k.Spawn(failing(), "").Tell("boom") })
}

// The log of the system is that of the test, and ends with it.
func TestLog(t *testing.T) {
	var kit *Kit
	f := &fakeT{}
	kit = New(f)
	kit.Log().Info("seen", "n", 1)
	kit.Log().Debug("too fine")
	for _, c := range f.cleanups {
		c()
	}
	kit.Log().Info("too late")
	if s := f.log.String(); !strings.Contains(s, "msg=seen system=test n=1") || strings.Contains(s, "too") {
		t.Errorf("the log is %q", s)
	}
	var own strings.Builder
	kit = New(t, Options{Config: actor.Config{Logger: slog.New(slog.NewTextHandler(&own, nil))}})
	kit.Log().Info("mine")
	if !strings.Contains(own.String(), "msg=mine") {
		t.Errorf("the own log is %q", own.String())
	}
}
