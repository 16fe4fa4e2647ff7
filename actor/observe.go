package actor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// linesASecond is how many lines about failures a system logs in a second. More are counted in the next line.
const linesASecond = 10

// lineLimit keeps a storm of failures from becoming a flood of lines.
type lineLimit struct {
	mu     sync.Mutex
	began  time.Time
	lines  int
	missed int64
}

// allow reports whether a line may be written now, and how many were not since the last.
func (l *lineLimit) allow(now time.Time) (missed int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := now.Sub(l.began); d >= time.Second || d < 0 {
		l.began, l.lines = now, 0
	}
	if l.lines >= linesASecond {
		l.missed++
		return 0, false
	}
	l.lines++
	missed, l.missed = l.missed, 0
	return missed, true
}

func (l *lineLimit) finish(s *System) {
	l.mu.Lock()
	missed := l.missed
	l.missed = 0
	l.mu.Unlock()
	if missed > 0 {
		s.write(slog.LevelError, "lines about failures were left out", slog.Int64("suppressed", missed))
	}
}

// logs reports whether a line of that level would be written.
func (s *System) logs(level slog.Level) (yes bool) {
	defer func() { _ = recover() }()
	return s.log.Enabled(context.Background(), level)
}

// write logs a line of the runtime's. A handler that panics loses it, and harms nothing else.
func (s *System) write(level slog.Level, text string, as ...slog.Attr) {
	defer func() { _ = recover() }()
	s.log.LogAttrs(context.Background(), level, text, as...)
}

// logLimited is write for what may come in masses.
func (s *System) logLimited(level slog.Level, text string, as ...slog.Attr) {
	if !s.logs(level) {
		return
	}
	missed, ok := s.limit.allow(s.now())
	if !ok {
		return
	}
	if missed > 0 {
		as = append(as, slog.Int64("suppressed", missed))
	}
	s.write(level, text, as...)
}

// logError logs an error of the actor's own code that is no failure.
func (c *cell) logError(text string, err error) {
	c.ref.sys.logLimited(slog.LevelError, text, failureAttrs(c, err)...)
}

// logFailure logs a failure of child, one of c's, and what was decided.
func (c *cell) logFailure(child *cell, cause error, d Directive) {
	s := c.ref.sys
	if s.logs(slog.LevelError) {
		s.logLimited(slog.LevelError, "actor has failed",
			append(failureAttrs(child, cause), slog.String("directive", d.String()))...)
	}
}

// failureAttrs says which actor, and why. The stack is that of the panic, also where another error wraps it.
func failureAttrs(c *cell, cause error) []slog.Attr {
	as := append(make([]slog.Attr, 0, 6), slog.String("actor", c.ref.path), slog.String("class", c.props.Class()),
		slog.String("cause", errorText(cause)))
	if p := panicIn(cause); p != nil {
		as = append(as, slog.String("stack", string(p.Stack)))
	}
	return as
}

// panicIn is the panic that an error wraps, if any. The methods of errors are the user's code too.
func panicIn(err error) (p *PanicError) {
	defer func() { _ = recover() }()
	errors.As(err, &p)
	return p
}

// errorText is err.Error(), which is the user's code too.
func errorText(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = "an error whose Error method panics: " + typeName(err)
		}
	}()
	return err.Error()
}

// logCache is the logger of one actor.
type logCache struct{ log *slog.Logger }

// Log is a logger whose lines have the actor's path as the attribute "actor". It may be kept and used from any
// goroutine.
func (x *Context) Log() *slog.Logger {
	m := (*cell)(x).more()
	if m.log == nil {
		m.log = &logCache{x.ref.sys.log.With(slog.String("actor", x.ref.path))}
	}
	return m.log.log
}

// ActorTelemetry is what [ActorStarted], [ActorStopped] and [ActorRestarted] have in common: subscribe to it to get
// all three. They are published with Config.Telemetry.
type ActorTelemetry interface {
	Subject() *Ref // the actor
	Class() string // [Props.Class]
}

// subject is the part of telemetry events that says whom they are about.
type subject struct {
	ref   *Ref
	class string
}

func (s subject) Subject() *Ref { return s.ref }

func (s subject) Class() string { return s.class }

// ActorStarted says that an actor has been made and its PreStart has returned.
type ActorStarted struct{ subject }

// ActorStopped says that an actor has ended, PostStop included; also one that could never be started.
type ActorStopped struct{ subject }

// ActorRestarted says that an actor has been restarted, PostRestart included.
type ActorRestarted struct {
	subject
	Cause error // the failure that led to it
}

// telemetry publishes an event about c, if anybody wants to know.
func (s *System) telemetry(c *cell, event func(subject) any) {
	if s.cfg.Telemetry && !s.events.quiet() {
		s.events.Publish(event(subject{&c.ref, c.props.Class()}))
	}
}

func (s *System) lifecycle(c *cell, text string) {
	if s.logs(slog.LevelDebug) {
		s.write(slog.LevelDebug, text, slog.String("actor", c.ref.path), slog.String("class", c.props.Class()))
	}
}

// started is called when c has been created.
func (s *System) started(c *cell) {
	if !c.counted { // else it was made anew after a restart that failed
		c.counted = true
		s.counts.of(c).started.Add(1)
	}
	s.lifecycle(c, "actor started")
	s.telemetry(c, func(x subject) any { return ActorStarted{x} })
}

// restarted is called when c has been created again.
func (s *System) restarted(c *cell, cause error) {
	s.counts.of(c).restarts.Add(1)
	s.meters.report(c, ClassMeter.Restarted)
	s.lifecycle(c, "actor restarted")
	s.telemetry(c, func(x subject) any { return ActorRestarted{x, cause} })
}

// failed is called when the code of c has failed; not again where a supervisor escalates.
func (s *System) failed(c *cell) {
	s.counts.of(c).failures.Add(1)
	s.meters.report(c, ClassMeter.Failed)
}

// stoppedActor is called when c has ended, before anybody is told.
func (s *System) stoppedActor(c *cell) {
	if c.counted {
		s.counts.of(c).stopped.Add(1)
	}
	s.lifecycle(c, "actor stopped")
	s.telemetry(c, func(x subject) any { return ActorStopped{x} })
}
