package uaserver

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// logLines is how many lines a second are let through.
const logLines = 20

// logLimit drops lines when a flood of hostile clients would fill the log, and says how many.
type logLimit struct {
	next  slog.Handler
	state *logState
}

type logState struct {
	mu      sync.Mutex
	now     func() time.Time
	since   time.Time
	lines   int
	dropped int
}

func newLogLimit(next slog.Handler, now func() time.Time) *logLimit {
	return &logLimit{next: next, state: &logState{now: now}}
}

// Enabled implements slog.Handler.
func (l *logLimit) Enabled(ctx context.Context, level slog.Level) bool {
	return l.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l *logLimit) Handle(ctx context.Context, r slog.Record) error {
	s := l.state
	now := s.now() // a function of the user: no lock is held
	s.mu.Lock()
	if now.Sub(s.since) >= time.Second || now.Before(s.since) {
		s.since, s.lines = now, 0
	}
	if s.lines >= logLines {
		s.dropped++
		s.mu.Unlock()
		return nil
	}
	s.lines++
	dropped := s.dropped
	s.dropped = 0
	s.mu.Unlock()
	if dropped > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("dropped_lines", dropped))
	}
	return l.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l *logLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logLimit{next: l.next.WithAttrs(attrs), state: l.state}
}

// WithGroup implements slog.Handler.
func (l *logLimit) WithGroup(name string) slog.Handler {
	return &logLimit{next: l.next.WithGroup(name), state: l.state}
}

// clipped is how many bytes of a text that a client chose get into the log.
const clipped = 100

func clip(s string) string {
	if len(s) <= clipped {
		return s
	}
	return s[:clipped] + "..."
}
