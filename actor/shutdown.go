package actor

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A StuckActor is an actor that is in its own code at the end of the time for a shutdown.
type StuckActor struct {
	Path  string
	Class string
	Stack string // of its goroutine
}

// A ShutdownError says why a system has not ended in time.
type ShutdownError struct {
	Cause error // why the waiting ended
	Stuck []StuckActor
	Left  int // actors that have not ended, those included
}

// Error has a line for each actor that is stuck, and its stack.
func (e *ShutdownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "actor: %d actors have not stopped (%v)", e.Left, e.Cause)
	for _, a := range e.Stuck {
		fmt.Fprintf(&b, "\n%s (%s) is in its own code:\n%s", a.Path, a.Class, a.Stack)
	}
	return b.String()
}

// Unwrap is the context's error.
func (e *ShutdownError) Unwrap() error { return e.Cause }

// stuck makes the report of a shutdown that takes too long.
func (s *System) stuck(cause error) *ShutdownError {
	e := &ShutdownError{Cause: cause}
	walkCells(s.root, func(*cell) { e.Left++ })
	stacks := allStacks()
	for _, d := range s.dispatchers {
		d.running(func(c *cell, goroutine uint64, _ time.Duration) {
			e.Stuck = append(e.Stuck, StuckActor{Path: c.ref.path, Class: c.props.Class(), Stack: stacks[goroutine]})
		})
	}
	return e
}

// walkCells calls f with c and all below it.
func walkCells(c *cell, f func(*cell)) {
	f(c)
	c.children().each(func(k *cell) { walkCells(k, f) })
}

// allStacks are the stacks of all goroutines by number.
func allStacks() map[uint64]string {
	b := make([]byte, 64<<10)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) || len(b) >= 64<<20 {
			b = b[:n]
			break
		}
		b = make([]byte, 4*len(b))
	}
	out := make(map[uint64]string)
	for _, g := range strings.Split(string(b), "\n\n") {
		head, _, _ := strings.Cut(strings.TrimPrefix(g, "goroutine "), " ")
		if id, err := strconv.ParseUint(head, 10, 64); err == nil {
			out[id] = g
		}
	}
	return out
}
