package actor

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// How the log speaks of messages that went nowhere (Akka.NET: DeadLetterListener): of the first few, then not for
// some minutes, then of the next few. A flood costs a count and a look at the clock each.

// lossLog counts the messages of one kind and logs the first of them.
type lossLog struct {
	text  string
	level slog.Level

	total    atomic.Int64
	late     atomic.Int64              // while the system terminates, not logged one by one
	silentTo atomic.Pointer[time.Time] // nil while the log is not silent

	mu        sync.Mutex
	lines     int   // since the last silence
	accounted int64 // of total, in the lines that were written
}

// losses are the kinds that each system counts.
type losses struct{ dead, unhandled, dropped lossLog }

func (l *losses) init() {
	l.dead.text, l.dead.level = "dead letter: a message was not delivered", slog.LevelInfo
	l.unhandled.text, l.unhandled.level = "a message was not handled", slog.LevelDebug
	l.dropped.text, l.dropped.level = "a message was dropped", slog.LevelWarn
}

// note counts a message, and logs it if it is one of the first.
func (l *lossLog) note(s *System, to *Ref, msg any, sender *Ref, reason string) {
	n := l.total.Add(1)
	max := s.cfg.logDeadLetters()
	if max <= 0 {
		return
	}
	if s.terminating.Load() && !s.cfg.LogDeadLettersDuringShutdown {
		l.late.Add(1)
		return
	}
	var now time.Time
	if t := l.silentTo.Load(); t != nil {
		if now = s.now(); now.Before(*t) {
			return
		}
	}
	if !s.logs(l.level) {
		return
	}
	if now.IsZero() {
		now = s.now()
	}
	write, silent, missed := l.line(n, max, now, s.cfg.silence())
	if !write {
		return
	}
	as := append(make([]slog.Attr, 0, 6), slog.String("type", typeName(msg)), slog.String("from", pathOf(sender)),
		slog.String("to", pathOf(to)), slog.Int64("count", n))
	if reason != "" {
		as = append(as, slog.String("reason", reason))
	}
	if missed > 0 {
		as = append(as, slog.Int64("not_logged", missed))
	}
	s.write(l.level, l.text, as...)
	if silent {
		s.write(l.level, "the log is silent for "+shortDuration(s.cfg.silence())+" about more of: "+l.text)
	}
}

// line decides whether the n-th message is logged, whether the log falls silent after it, and how many before it
// were left out.
func (l *lossLog) line(n int64, max int, now time.Time, silence time.Duration) (write, silent bool, missed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.silentTo.Load(); t != nil {
		if now.Before(*t) {
			return false, false, 0
		}
		// The first after a silence has a line beside those of the next round.
		l.silentTo.Store(nil)
		l.lines = 0
		missed = n - l.accounted - 1
	} else if l.lines++; l.lines >= max {
		until := now.Add(silence)
		l.silentTo.Store(&until)
		silent = true
	}
	l.accounted += missed + 1
	return true, silent, missed
}

// finish writes what was counted and not logged, at the end of the system.
func (l *lossLog) finish(s *System) {
	if s.cfg.logDeadLetters() <= 0 || !s.logs(l.level) {
		return
	}
	l.mu.Lock()
	total, late := l.total.Load(), l.late.Load()
	missed := total - l.accounted
	l.accounted = total
	l.mu.Unlock()
	if missed > 0 {
		s.write(l.level, "messages without a line of their own: "+l.text, slog.Int64("count", total),
			slog.Int64("not_logged", missed), slog.Int64("during_shutdown", late))
	}
}

// finishDeadLetters ends the log of lost messages: the system has ended.
func (s *System) finishDeadLetters() {
	s.lost.dead.finish(s)
	s.lost.dropped.finish(s)
	s.lost.unhandled.finish(s)
	s.limit.finish(s)
}

// logDeadLetters is how many lines there are before a silence.
func (c *Config) logDeadLetters() int {
	if c.LogDeadLetters == 0 {
		return 10
	}
	return c.LogDeadLetters
}

func (c *Config) silence() time.Duration {
	if c.LogDeadLettersSilence == 0 {
		return 5 * time.Minute
	}
	return c.LogDeadLettersSilence
}

// shortDuration is "5 minutes" where Go writes 5m0s.
func shortDuration(d time.Duration) string {
	if d > time.Minute && d%time.Minute == 0 {
		return slog.Int64Value(int64(d/time.Minute)).String() + " minutes"
	}
	return d.String()
}
