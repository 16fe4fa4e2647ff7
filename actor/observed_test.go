package actor

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the tests of events, logs and counts share: a clock that stands still, a log that can be read, and an actor
// that passes on what it gets.

// stillClock is a clock that the test moves.
type stillClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms []*stillAlarm
}

type stillAlarm struct {
	clock *stillClock
	wake  func()
	at    time.Time
}

func newStillClock() *stillClock { return &stillClock{now: time.Unix(1e9, 0)} }

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) Resolution() time.Duration { return 0 }

func (c *stillClock) NewAlarm(wake func()) Alarm {
	a := &stillAlarm{clock: c, wake: wake}
	c.mu.Lock()
	c.alarms = append(c.alarms, a)
	c.mu.Unlock()
	return a
}

func (a *stillAlarm) Set(at time.Time) { a.clock.mu.Lock(); a.at = at; a.clock.mu.Unlock() }

func (a *stillAlarm) Stop() { a.Set(time.Time{}) }

// armed reports whether something waits for the time.
func (c *stillClock) armed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.alarms {
		if !a.at.IsZero() {
			return true
		}
	}
	return false
}

func (c *stillClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for _, a := range c.alarms {
		if !a.at.IsZero() && !a.at.After(c.now) {
			a.at = time.Time{}
			due = append(due, a.wake)
		}
	}
	c.mu.Unlock()
	for _, wake := range due {
		wake()
	}
}

// logBook keeps the lines of a log, as "LEVEL text key=value ...".
type logBook struct {
	level slog.Level
	book  *logLines
	with  string
}

type logLines struct {
	mu    sync.Mutex
	lines []string
}

func newLogBook(level slog.Level) *logBook { return &logBook{level: level, book: &logLines{}} }

func (b *logBook) Enabled(_ context.Context, l slog.Level) bool { return l >= b.level }

func (b *logBook) Handle(_ context.Context, r slog.Record) error {
	var s strings.Builder
	fmt.Fprintf(&s, "%v %s%s", r.Level, r.Message, b.with)
	r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&s, " %s=%v", a.Key, a.Value); return true })
	b.book.mu.Lock()
	b.book.lines = append(b.book.lines, s.String())
	b.book.mu.Unlock()
	return nil
}

func (b *logBook) WithAttrs(as []slog.Attr) slog.Handler {
	n := *b
	for _, a := range as {
		n.with += fmt.Sprintf(" %s=%v", a.Key, a.Value)
	}
	return &n
}

func (b *logBook) WithGroup(string) slog.Handler { return b }

// of are the lines so far that contain all of what.
func (b *logBook) of(what ...string) (out []string) {
	b.book.mu.Lock()
	defer b.book.mu.Unlock()
lines:
	for _, l := range b.book.lines {
		for _, w := range what {
			if !strings.Contains(l, w) {
				continue lines
			}
		}
		out = append(out, l)
	}
	return out
}

// observed makes a system with a readable log at debug level and a clock that stands still. It ends with the test.
func observed(t *testing.T, cfg Config) (*System, *logBook, *stillClock) {
	t.Helper()
	book, clock := newLogBook(slog.LevelDebug), newStillClock()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(book)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock
	}
	s, err := NewSystem("seen", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endSystem(t, s) })
	return s, book, clock
}

func endSystem(t *testing.T, s *System) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func endActor(t *testing.T, r *Ref) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := GracefulStop(ctx, r, nil); err != nil {
		t.Fatal(err)
	}
}

// forwarder is an actor that passes its messages on.
func forwarder(s *System) (*Ref, chan any) {
	ch := make(chan any, 4096)
	return s.MustSpawn(FromFunc(func(_ *Context, m any) { ch <- m }), ""), ch
}

// marker comes after all that was told to an actor before.
type marker struct{}

// got are the messages that an actor has passed on until a marker.
func got(t *testing.T, r *Ref, ch chan any) (out []any) {
	t.Helper()
	r.Tell(marker{})
	for {
		select {
		case m := <-ch:
			if m == (marker{}) {
				return out
			}
			out = append(out, m)
		case <-time.After(20 * time.Second):
			t.Fatal("the actor does not answer")
		}
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}

func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", what)
		}
	}()
	f()
}
