package testkit

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/actua/actua/actor"
)

// A Filter says which lines of the log, or which events, [Kit.ExpectEvents] counts.
type Filter struct {
	what  string
	match func(event any) bool
}

// Events are those of type T on the event stream for which match returns true; nil takes all. match is called on the goroutine that
// publishes.
func Events[T any](match func(T) bool) Filter {
	return Filter{"events of type " + typeName[T](), func(e any) bool {
		x, ok := e.(T)
		if _, log := e.(LogRecord); log && typeName[T]() != typeName[LogRecord]() {
			return false // that is no event of the stream
		}
		return ok && (match == nil || match(x))
	}}
}

// DeadLetters are the dead letters with a message of type T; any takes all.
func DeadLetters[T any]() Filter {
	f := Events(func(d actor.DeadLetter) bool { _, ok := d.Message.(T); return ok })
	f.what = "dead letters of type " + typeName[T]()
	return f
}

// Unhandled are the messages of type T that actors passed to Context.Unhandled.
func Unhandled[T any]() Filter {
	f := Events(func(u actor.UnhandledMessage) bool { _, ok := u.Message.(T); return ok })
	f.what = "unhandled messages of type " + typeName[T]()
	return f
}

// Log are the lines of a level, or above, that have text in them. See [Options.LogLevel].
func Log(level slog.Level, text string) Filter {
	return LogWhere(fmt.Sprintf("lines with %q of level %v", text, level), func(r LogRecord) bool {
		return r.Level >= level && strings.Contains(r.Message, text)
	})
}

// LogWhere are the lines for which match returns true. what names them where they do not come. match is called on the
// goroutine that logs, and must not log itself.
func LogWhere(what string, match func(LogRecord) bool) Filter {
	f := Events(match)
	f.what = what
	return f
}

// Failures are failures of actors whose cause has text in it. They are seen by their lines in the log, so those under a
// Strategy with Quiet are not, and of more than ten in a second only the first ten.
func Failures(text string) Filter {
	return LogWhere(fmt.Sprintf("failures with %q", text), func(r LogRecord) bool {
		return isFailure(r) && strings.Contains(r.Attrs["cause"].String(), text)
	})
}

// isFailure reports whether the line is one that a failure of an actor writes.
func isFailure(r LogRecord) bool {
	_, directive := r.Attrs["directive"]
	return directive && r.Attrs["directive"].String() != actor.Escalate.String()
}

// tally counts for one call of ExpectEvents.
type tally struct {
	filter Filter
	seen   []string
	n      int
}

// ExpectEvents calls run, and fails the test unless exactly n events that fit the filter come, in it or within
// [Options.Within] after it. It returns when they have come and the actors have settled. Such events are expected ones
// for [Options.NoFailures] and [Options.NoDeadLetters].
func (k *Kit) ExpectEvents(n int, filter Filter, run func()) {
	k.t.Helper()
	if filter.match == nil {
		k.t.Fatalf("testkit: the filter is none: make it with Events, Log, Failures, DeadLetters or Unhandled")
	}
	c := &tally{filter: filter}
	k.mu.Lock()
	k.watching = append(k.watching, c)
	k.mu.Unlock()
	defer k.forget(c) // also where run fails the test
	run()
	count := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return c.n
	}
	enough := poll(k.opt.Within, func() bool { return count() >= n })
	if enough {
		k.quietWithin(k.opt.Within) // there may be more
	}
	k.mu.Lock()
	seen, got := list(c.seen, c.n-len(c.seen)), c.n
	k.mu.Unlock()
	switch {
	case got > n:
		k.t.Fatalf("testkit: %d %s, and there were %d:%s", n, expectedOf(filter), got, seen)
	case got < n:
		k.t.Fatalf("testkit: %d %s within %v, and there were %d%s", n, expectedOf(filter), k.opt.Within, got, seen)
	}
}

func expectedOf(f Filter) string { return f.what + " were expected" }

func (k *Kit) forget(c *tally) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, x := range k.watching {
		if x == c {
			k.watching = append(k.watching[:i], k.watching[i+1:]...)
			return
		}
	}
}

// event counts a line of the log or an event of the stream where it is expected, and remembers it where not.
func (k *Kit) event(e any) {
	k.mu.Lock()
	watching := append([]*tally(nil), k.watching...)
	k.mu.Unlock()
	expected := false
	for _, c := range watching {
		if c.filter.match(e) { // without the lock: it is the user's
			expected = true
			k.mu.Lock()
			if c.n++; len(c.seen) < kept {
				c.seen = append(c.seen, show(e))
			}
			k.mu.Unlock()
		}
	}
	r, line := e.(LogRecord)
	switch d, letter := e.(actor.DeadLetter); {
	case line && isFailure(r) && expected:
		k.expected.Add(1)
	case line && isFailure(r):
		k.note(&k.failures, show(e))
	case letter && !expected:
		if !k.note(&k.letters, show(d)) {
			k.mu.Lock()
			k.moreLetter++
			k.mu.Unlock()
		}
	}
}

// note remembers a line, if there are not too many.
func (k *Kit) note(where *[]string, line string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(*where) >= kept {
		return false
	}
	*where = append(*where, line)
	return true
}
