package akka

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// message is one kind of message that the nodes can send, and how it looks when it has come back.
type message struct {
	name  string // of the command's type
	value any
	typ   string // .NET's full name
	shown string // a regular expression
}

// messages lists every message type of the nodes' commands that an echo sends back.
var messages = []message{
	{"string", "hit", `System\.String`, `hit`},
	{"string", "", `System\.String`, ``},
	{"string", "größe ✓ 漢字 \x00 \U0001F600", `System\.String`, "größe ✓ 漢字 \x00 \U0001F600"},
	{"int", 42, `System\.Int32`, `42`},
	{"int", -2147483648, `System\.Int32`, `-2147483648`},
	{"long", int64(-9223372036854775808), `System\.Int64`, `-9223372036854775808`},
	{"long", int64(9223372036854775807), `System\.Int64`, `9223372036854775807`},
	{"double", 71.5, `System\.Double`, `71\.5`},
	{"double", -1e300, `System\.Double`, `-1E\+300`},
	{"bool", true, `System\.Boolean`, `True`},
	{"bool", false, `System\.Boolean`, `False`},
	{"bytes", "00ff10", `System\.Byte\[\]`, `hex:00ff10`},
	{"bytes", "", `System\.Byte\[\]`, `hex:`},
	{"big", 100000, `System\.String`, `x{100000}`},
	{"list", []string{"a", "b"}, "System\\.Collections\\.Generic\\.List`1.*", "System\\.Collections\\.Generic\\.List`1\\[System\\.String\\]"},
	{"reading", reading(false), `AkkaPeer\.Reading`, `\{"Tag":"line1/t","Value":71\.5,"Quality":192,"Ticks":638000000000000000,"Labels":\["a","b"\],"ReplyTo":null\}`},
	{"protobuf", "hello", `Google\.Protobuf\.WellKnownTypes\.StringValue`, `"hello"`},
	{"success", "ok", `Akka\.Actor\.Status\+Success`, `success:ok`},
}

func reading(reply bool) map[string]any {
	m := map[string]any{"tag": "line1/t", "value": 71.5, "quality": 192, "ticks": int64(638000000000000000), "labels": []string{"a", "b"}}
	if reply {
		m["replyToSelf"] = true
	}
	return m
}

// matches reports whether a whole text fits an expression. The repeat count of a big string is more than regexp takes.
func matches(pattern, text string) bool {
	if pattern == `x{100000}` {
		return text == strings.Repeat("x", 100000)
	}
	return regexp.MustCompile(`^(?s:` + pattern + `)$`).MatchString(text)
}

// TestMessages sends every kind of message there and back: told to a selection, told to a reference, asked.
func TestMessages(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		echo := b.path("/user/echo")
		a.ask(t, echo, patience)
		for _, m := range messages {
			for _, how := range []string{"tell", "tell-ref"} {
				t.Run(how+" "+m.name, func(t *testing.T) {
					since := a.mark()
					a.do(how, "to", echo, "type", m.name, "value", m.value)
					e := a.expectSince(t, since, patience, "received")
					if !matches(m.typ, e.text("type")) || !matches(m.shown, e.text("value")) || e.text("sender") != echo {
						t.Errorf("sent %s %v, received %.300s", m.name, m.value, e)
					}
				})
			}
			t.Run("ask "+m.name, func(t *testing.T) {
				e := a.answer(t, echo, m.name, m.value, 10*time.Second)
				if e.text("event") != "reply" || !matches(m.typ, e.text("type")) || !matches(m.shown, e.text("value")) {
					t.Errorf("asked %s %v, got %.300s", m.name, m.value, e)
				}
			})
		}
		t.Run("failure", func(t *testing.T) {
			since := a.mark()
			a.do("tell", "to", echo, "type", "failure", "value", "boom")
			if e := a.expectSince(t, since, patience, "received"); e.text("value") != "failure:boom" || e.text("type") != "Akka.Actor.Status+Failure" {
				t.Errorf("received %s", e)
			}
			if e := a.answer(t, echo, "failure", "boom", 10*time.Second); e.text("event") != "ask-failed" || !strings.HasSuffix(e.text("error"), ": boom") {
				t.Errorf("asked with a failure, got %s", e)
			}
		})
		t.Run("references", func(t *testing.T) { references(t, a, b) })
		t.Run("identify", func(t *testing.T) { identify(t, a, b) })
		t.Run("selection", func(t *testing.T) { selection(t, a, b) })
		t.Run("nobody there", func(t *testing.T) {
			if e := a.answer(t, b.path("/user/nobody"), "string", "x", time.Second); e.text("event") != "ask-failed" {
				t.Errorf("an actor that is not there answered: %s", e)
			}
			a.ask(t, echo, patience)
		})
	})
}

// references sends actor references as messages and inside of messages.
func references(t *testing.T, a, b *node) {
	echo := b.path("/user/echo")
	// One of the receiver's own, one of the sender's: each comes back as what it is for the node that shows it.
	e := a.answer(t, echo, "ref", b.path("/user/sink"), 10*time.Second)
	if e.text("event") != "reply" || withoutUID(e.text("value")) != b.path("/user/sink") || !strings.Contains(e.text("value"), "#") {
		t.Errorf("a reference of %s came back as %s", b.name, e)
	}
	e = a.answer(t, echo, "ref", "/user/collector", 10*time.Second)
	if path := withoutUID(e.text("value")); path != "akka://"+a.name+"/user/collector" && path != a.path("/user/collector") {
		t.Errorf("a reference of %s came back as %s", a.name, e)
	}
	// Sent to the collector of the other one, which shows it with the sender's address.
	a.do("tell", "to", b.path("/user/collector"), "type", "ref", "value", "/user/sink")
	b.expect(t, patience, "received", "value", func(s string) bool { return withoutUID(s) == a.path("/user/sink") })
	// A reference inside of a message is answered to.
	since := a.mark()
	a.do("tell", "to", echo, "type", "reading", "value", reading(true))
	e = a.expectSince(t, since, patience, "received", "type", "AkkaPeer.Reading")
	if e.text("sender") != echo || !strings.Contains(e.text("value"), "/user/collector#") {
		t.Errorf("the answer to a reference inside of a message: %s", e)
	}
	a.do("tell", "to", b.path("/user/collector"), "type", "reading", "value", reading(true))
	b.expect(t, patience, "received", "type", "AkkaPeer.Reading", "value", containing(`"ReplyTo":"`+a.path("/user/collector")+"#"))
}

// identify asks actors who they are.
func identify(t *testing.T, a, b *node) {
	echo := b.path("/user/echo")
	id := nextID()
	a.do("identify", "path", echo, "id", id)
	whole := a.expect(t, patience, "identified", "id", id).text("path")
	if withoutUID(whole) != echo || whole == echo {
		t.Errorf("identified as %s", whole)
	}
	for _, path := range []string{b.path("/user/ech?"), b.path("/user/*cho"), b.path("/user/sink/../echo"), b.path("/user/echo/../echo")} {
		id := nextID()
		a.do("identify", "path", path, "id", id)
		if e := a.expect(t, patience, "identified", "id", id); e.text("path") != whole {
			t.Errorf("%s is %s, want %s", path, e, whole)
		}
	}
	for _, path := range []string{b.path("/user/nobody"), b.path("/nowhere/at/all"), b.path("/user/echo/child")} {
		id := nextID()
		a.do("identify", "path", path, "id", id)
		if e := a.expect(t, patience, "identify-failed", "id", id); e.text("error") != "ActorNotFoundException" {
			t.Errorf("%s: %s", path, e)
		}
	}
	for _, how := range []string{"tell", "tell-ref"} {
		since := a.mark()
		a.do(how, "to", echo, "type", "identify", "value", "who")
		if e := a.expectSince(t, since, patience, "received"); e.text("type") != "Akka.Actor.ActorIdentity" || e.text("value") != "identity:who:"+whole {
			t.Errorf("%s identify: %s", how, e)
		}
	}
	if e := a.answer(t, echo, "identify", "who", 10*time.Second); e.text("value") != "identity:who:"+whole {
		t.Errorf("ask identify: %s", e)
	}
	if e := a.answer(t, b.path("/user/nobody"), "identify", "who", 10*time.Second); e.text("value") != "identity:who:null" {
		t.Errorf("ask nobody to identify: %s", e)
	}
}

// selection tells many actors with one message.
func selection(t *testing.T, a, b *node) {
	first, second := b.spawn(t, "many-1"), b.spawn(t, "many-2")
	since := a.mark()
	a.do("tell", "to", b.path("/user/many-*"), "type", "string", "value", "to many")
	a.expectSince(t, since, patience, "received", "value", "to many", "sender", first)
	a.expectSince(t, since, patience, "received", "value", "to many", "sender", second)
}

// TestFlood sends 50,000 numbers each way at the same time. All must come, in order.
func TestFlood(t *testing.T) {
	const count = 50000
	eachPair(t, func(t *testing.T, p pair) {
		a, b := startBoth(t, p)
		a.ask(t, b.path("/user/echo"), patience)
		b.ask(t, a.path("/user/echo"), patience)
		a.do("flood", "to", b.path("/user/sink"), "count", count, "id", "flood")
		b.do("flood", "to", a.path("/user/sink"), "count", count, "id", "flood")
		report := func(from, to *node) {
			t.Helper()
			from.expect(t, 2*patience, "flooded", "id", "flood")
			deadline := time.Now().Add(2 * patience)
			for {
				e := from.answer(t, to.path("/user/sink"), "string", "report", 20*time.Second)
				if e.text("value") == "50000,0" {
					return
				}
				// The report is behind the numbers on the same way, so what is not there by now does not come.
				if e.text("event") == "reply" || time.Now().After(deadline) {
					t.Errorf("%s sent %d numbers to %s, count and out of order: %s", from.name, count, to.name, e)
					return
				}
			}
		}
		report(a, b)
		report(b, a)
	})
}
