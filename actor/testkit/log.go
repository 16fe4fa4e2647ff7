package testkit

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
)

// LogRecord is a line of a system's log.
type LogRecord struct {
	Level   slog.Level
	Message string
	Attrs   map[string]slog.Value // those of the logger included; of groups the names are joined with dots
}

// testLog is where the log goes.
type testLog struct {
	handler slog.Handler
	mu      sync.Mutex
	to      io.Writer // nil after the test
}

func newTestLog(t testing.TB, o *Options) *testLog {
	l := &testLog{}
	if o.LogLevel == nil {
		o.LogLevel = slog.LevelInfo
	}
	if own := o.Config.Logger; own != nil {
		l.handler = own.Handler()
		return l
	}
	l.to = t.Output()
	l.handler = slog.NewTextHandler(l, &slog.HandlerOptions{Level: o.LogLevel})
	return l
}

// Write writes to the log of the test, until that has ended.
func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return len(b), nil
	}
	return l.to.Write(b)
}

func (l *testLog) end() {
	l.mu.Lock()
	l.to = nil
	l.mu.Unlock()
}

// logHandler shows each line to the kit and passes it on.
type logHandler struct {
	kit   *Kit
	to    slog.Handler
	level slog.Leveler
	attrs []slog.Attr // with the names of their groups
	group string      // with a dot behind, if there is one
}

func (h *logHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	out := LogRecord{Level: r.Level, Message: r.Message, Attrs: make(map[string]slog.Value)}
	for _, a := range h.attrs {
		out.add("", a)
	}
	r.Attrs(func(a slog.Attr) bool { out.add(h.group, a); return true })
	h.kit.event(out)
	if !h.to.Enabled(ctx, r.Level) {
		return nil
	}
	return h.to.Handle(ctx, r)
}

func (r *LogRecord) add(group string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() != slog.KindGroup {
		r.Attrs[group+a.Key] = v
		return
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, x := range v.Group() {
		r.add(group, x)
	}
}

func (h *logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	out := *h
	out.attrs = slices.Clone(h.attrs)
	for _, a := range as {
		a.Key = h.group + a.Key
		out.attrs = append(out.attrs, a)
	}
	out.to = h.to.WithAttrs(as)
	return &out
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	out := *h
	out.group = h.group + name + "."
	out.to = h.to.WithGroup(name)
	return &out
}
