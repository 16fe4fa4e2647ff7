package akka

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// bigger sends a string of that size to the collector of the other node and reports whether it came.
func bigger(t *testing.T, a, b *node, size int, limit time.Duration) bool {
	t.Helper()
	since := b.mark()
	a.do("tell-ref", "to", b.path("/user/collector"), "type", "big", "value", size, "id", "big")
	e, ok := b.find(since, limit, named("received", "value", func(s string) bool { return strings.HasPrefix(s, "x") }))
	if ok && len(e.text("value")) != size {
		t.Errorf("sent %d, received %d bytes", size, len(e.text("value")))
	}
	return ok
}

// TestFrameLimit goes up to the limit of a frame and beyond: what is too large is lost, what comes later is not.
func TestFrameLimit(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		a.ask(t, b.path("/user/echo"), patience)
		since := a.mark()
		for _, size := range []int{32768, 127000, 127700} {
			if !bigger(t, a, b, size, 20*time.Second) {
				t.Errorf("a string of %d bytes did not come", size)
			}
		}
		// An Akka.NET sender checks before it adds the last header: 8 bytes around the limit kill its connection. We know better.
		sizes := []int{127900, 128000, 1000000}
		if p.a == golang {
			for size := 127750; size < 127820; size += 3 {
				sizes = append(sizes, size)
			}
		}
		for _, size := range sizes {
			since := b.mark()
			a.do("tell-ref", "to", b.path("/user/collector"), "type", "big", "value", size)
			a.do("tell-ref", "to", b.path("/user/collector"), "type", "string", "value", "after "+itoa(size))
			b.expectSince(t, since, patience, "received", "value", "after "+itoa(size))
			if _, ok := b.find(since, 0, named("received", "value", func(s string) bool { return strings.HasPrefix(s, "x") })); ok && size >= 127900 {
				t.Errorf("a string of %d bytes came", size)
			}
		}
		a.refuse(t, since, 200*time.Millisecond, "lifecycle", "kind", "DisassociatedEvent")
	})
}

// TestLargeFrames sends what fits only in a larger limit.
func TestLargeFrames(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p, "--frame", "2000000")
		e := a.answer(t, b.path("/user/echo"), "big", 1900000, patience)
		if len(e.text("value")) != 1900000 {
			t.Errorf("%.300s", e)
		}
	})
}

// TestFrameMismatch sends more than the other one takes: it ends the connection, and the next one works.
func TestFrameMismatch(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		b := launch(t, p.b, systemName("B"))
		a := start(t, p.a, systemName("A"), "--frame", "2000000")
		b.ready(t)
		a.ask(t, b.path("/user/echo"), patience)
		if bigger(t, a, b, 500000, 2*time.Second) {
			t.Error("a frame beyond the limit of the receiver came through")
		}
		a.expect(t, patience, "lifecycle", "kind", "DisassociatedEvent")
		a.ask(t, b.path("/user/echo"), patience)
		b.ask(t, a.path("/user/echo"), patience)
	})
}
