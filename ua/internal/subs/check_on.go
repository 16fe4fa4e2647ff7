//go:build race || leasecheck

package subs

import (
	"fmt"
	"runtime"
	"strings"
)

// holder remembers who gave up the last reference of a message.
type holder struct {
	stack [16]uintptr
	n     int
}

func (h *holder) note() { h.n = runtime.Callers(3, h.stack[:]) }

func (h *holder) String() string {
	var b strings.Builder
	frames := runtime.CallersFrames(h.stack[:h.n])
	for more := h.n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		fmt.Fprintf(&b, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
	}
	return b.String()
}

// misused ends the program for an operation that a message without an owner was put to: counts are wrong
// from here on. The message says who released it last.
func (m *Message) misused(what string) {
	panic("subs: " + what + " of a message that nobody holds; its last reference was released at" + m.last.String())
}
