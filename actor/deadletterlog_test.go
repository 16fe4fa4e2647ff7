package actor

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// brokenHandler is a log handler that panics.
type brokenHandler struct{}

func (brokenHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (brokenHandler) Handle(context.Context, slog.Record) error { panic("the disk is full") }
func (h brokenHandler) WithAttrs([]slog.Attr) slog.Handler      { return h }
func (h brokenHandler) WithGroup(string) slog.Handler           { return h }

// A log that panics costs its lines, and neither an actor nor the process.
func TestLogPanics(t *testing.T) {
	s, _, _ := observed(t, Config{Logger: slog.New(brokenHandler{})})
	SubscribeFunc(s, func(apple) { panic("bad") })
	s.EventStream().Publish(apple{})
	s.EventStream().Publish(nil)
	ok := make(chan any)
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		switch m {
		case "fail":
			panic(m)
		case "odd":
			ctx.Unhandled()
		case "ok":
			ok <- m
		}
	}), "")
	r.Tell("odd")
	r.Tell("fail")
	r.Tell("ok")
	<-ok
	endActor(t, r)
	r.Tell("late")
	if st := s.Stats(); st.Failures != 1 || st.Restarts != 1 || st.Unhandled != 1 || st.DeadLetters != 1 || st.Dropped != 1 {
		t.Errorf("%+v", st)
	}
}

func TestDeadLetterOfNothing(t *testing.T) {
	s, book, _ := observed(t, Config{})
	s.DeadLetters().Tell(DeadLetter{})
	s.DeadLetters().Tell(DeadLetter{Message: DeadLetter{Message: "x"}})
	s.DeadLetters().Tell("x")
	s.DeadLetters().Tell(nil)
	// A question that is news itself, to somebody who is gone, is answered at once all the same.
	r, _ := forwarder(s)
	endActor(t, r)
	if _, err := AskFor[any](r, DeadLetter{}, time.Hour); !errors.Is(err, ErrTerminated) {
		t.Errorf("error %v", err)
	}
	if n := s.Stats().DeadLetters; n != 4 || len(book.of("dead letter:")) != 2 || len(book.of("type=nil", "to=/deadLetters")) != 2 {
		t.Errorf("%d dead letters: %v", n, book.of(""))
	}
}

func TestDeadLetterLog(t *testing.T) {
	s, book, clock := observed(t, Config{})
	r, _ := forwarder(s)
	from, _ := forwarder(s)
	endActor(t, r)
	tell := func(n int) {
		for range n {
			r.TellFrom(apple{}, from)
		}
	}
	tell(1)
	line := book.of("INFO", "dead letter", "type=actor.apple", "from="+from.path+" ", "to="+r.path+" ", "count=1", "system=seen")
	if len(line) != 1 {
		t.Fatal(book.of(""))
	}
	tell(24)
	if n := len(book.of("dead letter:", "count=")); n != 10 {
		t.Errorf("%d lines of 25", n)
	}
	if n := len(book.of("INFO", "silent for 5 minutes")); n != 1 {
		t.Errorf("%d lines about the silence", n)
	}
	clock.advance(5*time.Minute - 1)
	tell(1)
	if n := len(book.of("dead letter:", "count=")); n != 10 {
		t.Errorf("%d lines before the end of the silence", n)
	}
	clock.advance(1)
	tell(1)
	if n := len(book.of("dead letter:", "count=27", "not_logged=16")); n != 1 {
		t.Errorf("the first after the silence: %v", book.of("count=27"))
	}
	tell(30)
	if n, m := len(book.of("dead letter:", "count=")), len(book.of("silent for 5 minutes")); n != 21 || m != 2 {
		t.Errorf("%d lines, %d about silence, in the second round", n, m)
	}
	endSystem(t, s)
	if n := len(book.of("INFO", "dead letter:", "count=57", "not_logged=20", "during_shutdown=0")); n != 1 {
		t.Errorf("at the end: %v", book.of("not_logged"))
	}
}

func TestDeadLetterLogConfig(t *testing.T) {
	for _, c := range []struct {
		name                string
		cfg                 Config
		lines, silent, last int
	}{
		{"none", Config{LogDeadLetters: NoLog}, 0, 0, 0},
		{"three", Config{LogDeadLetters: 3, LogDeadLettersSilence: 90 * time.Second}, 3, 1, 1},
		{"enough", Config{LogDeadLetters: 100}, 20, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, book, _ := observed(t, c.cfg)
			for range 20 {
				s.DeadLetters().Tell(1)
			}
			if n, m := len(book.of("dead letter:", "from=")), len(book.of("silent for")); n != c.lines || m != c.silent {
				t.Errorf("%d lines, %d of silence", n, m)
			}
			if c.silent > 0 && len(book.of("silent for 1m30s")) != 1 {
				t.Error(book.of("silent"))
			}
			endSystem(t, s)
			if n := len(book.of("not_logged=")); n != c.last {
				t.Errorf("%d lines at the end", n)
			}
			if n := s.Stats().DeadLetters; n != 20 {
				t.Errorf("%d counted", n)
			}
		})
	}
	for _, c := range []Config{{LogDeadLetters: -2}, {LogDeadLettersSilence: -1}, {InboxSize: -1}, {InboxTimeout: -1}} {
		if _, err := NewSystem("bad", c); err == nil || !strings.Contains(err.Error(), "Config.") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Dead letters of a shutdown are one line at its end, unless each was asked for.
func TestDeadLettersOfShutdown(t *testing.T) {
	for _, each := range []bool{false, true} {
		s, book, _ := observed(t, Config{LogDeadLettersDuringShutdown: each, LogDeadLetters: 1000})
		in, out := make(chan struct{}), make(chan struct{})
		r := s.MustSpawn(FromFunc(func(*Context, any) { close(in); <-out }), "")
		for i := range 101 {
			r.Tell(i)
		}
		<-in
		s.Terminate()
		eventually(t, "it is to stop", r.c.sysWaiting.Load)
		close(out)
		endSystem(t, s)
		lines, last := len(book.of("from=")), len(book.of("not_logged=100", "during_shutdown=100"))
		if each && (lines != 100 || last != 0) || !each && (lines != 0 || last != 1) {
			t.Errorf("each %v: %d lines, %d at the end: %v", each, lines, last, book.of("not_logged"))
		}
	}
}

func TestOtherLosses(t *testing.T) {
	s, book, _ := observed(t, Config{})
	events := make(chan any, 1000)
	SubscribeFunc(s, func(m UnhandledMessage) { events <- m })
	SubscribeFunc(s, func(m Dropped) { events <- m })
	r := s.MustSpawn(FromFunc(func(ctx *Context, _ any) { ctx.Unhandled() }), "")
	for i := range 30 {
		r.Tell(i)
		r.Tell(nil)
	}
	endActor(t, r)
	if n, m := len(book.of("DEBUG", "not handled", "from=")), len(book.of("WARN", "dropped", "reason=a message cannot be nil", "from=")); n != 10 || m != 10 {
		t.Errorf("%d unhandled, %d dropped logged", n, m)
	}
	if st := s.Stats(); st.Unhandled != 30 || st.Dropped != 30 || st.DeadLetters != 0 || len(events) != 60 {
		t.Errorf("%+v, %d events", st, len(events))
	}
}

// A million dead letters: all counted, a dozen lines, no memory kept.
func TestMillionDeadLetters(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r, _ := forwarder(s)
	endActor(t, r)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	var msg any = &pear{}
	for range 4 {
		wg.Go(func() {
			for range 250_000 {
				r.Tell(msg)
			}
		})
	}
	wg.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := s.Stats().DeadLetters; n != 1_000_000 {
		t.Errorf("%d counted", n)
	}
	if n := len(book.of("dead letter")); n != 11 {
		t.Errorf("%d lines", n)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes more on the heap", grown)
	}
	if n := testing.AllocsPerRun(100, func() { r.Tell(msg) }); n != 0 {
		t.Errorf("%v allocations for a dead letter that nobody wants to hear of", n)
	}
}

func BenchmarkDeadLetter(b *testing.B) {
	s, err := NewSystem("seen", Config{Logger: slog.New(newLogBook(slog.LevelInfo))})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Terminate()
	var msg any = &pear{}
	b.ReportAllocs()
	for b.Loop() {
		s.DeadLetters().Tell(msg)
	}
}
