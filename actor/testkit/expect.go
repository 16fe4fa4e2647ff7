package testkit

import (
	"fmt"
	"strings"
	"time"

	"github.com/actua/actua/actor"
)

// next takes the next message, and fails the test if there is none in time.
func (p *Probe) next(want string) actor.Envelope {
	p.kit.t.Helper()
	e, _, ok := p.take(time.Now().Add(p.within), nil)
	if !ok {
		p.kit.t.Fatalf("testkit: %s has got no message within %v\n\twant %s", p.ref.Name(), p.within, want)
	}
	return e
}

// fail fails the test because of a message.
func (p *Probe) fail(e actor.Envelope, want string) {
	p.kit.t.Helper()
	from := ""
	if e.Sender != nil {
		from = " from " + e.Sender.String()
	}
	p.kit.t.Fatalf("testkit: %s has got another message\n\tgot  %s%s\n\twant %s%s", p.ref.Name(), show(e.Message), from, want, p.rest())
}

// rest says what else waits.
func (p *Probe) rest() string {
	ms := p.Waiting()
	if len(ms) == 0 {
		return ""
	}
	return "\n\tand these wait: " + showAll(ms)
}

// Expect takes the next message, which must be equal to msg. Messages are equal as reflect.DeepEqual says, but a
// *actor.Ref is equal to one that names the same actor, and functions are equal if both are nil.
func (p *Probe) Expect(msg any) {
	p.kit.t.Helper()
	if e := p.next(show(msg)); !equal(e.Message, msg) {
		p.fail(e, show(msg))
	}
}

// ExpectAllOf takes as many messages as there are msgs, which must be those, in any order. All have to come within the
// probe's patience.
func (p *Probe) ExpectAllOf(msgs ...any) {
	p.kit.t.Helper()
	left := append([]any(nil), msgs...)
	end := time.Now().Add(p.within)
	for len(left) > 0 {
		e, _, ok := p.take(end, nil)
		if !ok {
			p.kit.t.Fatalf("testkit: %s has not got all messages within %v\n\tmissing %s", p.ref.Name(), p.within, showAll(left))
		}
		found := false
		for i, m := range left {
			if equal(e.Message, m) {
				left = append(left[:i], left[i+1:]...)
				found = true
				break
			}
		}
		if !found {
			p.fail(e, "one of "+showAll(left))
		}
	}
}

// ExpectType takes the next message of a probe, which must be a T, and returns it.
func ExpectType[T any](p *Probe) T {
	p.kit.t.Helper()
	want := "a message of type " + typeName[T]()
	e := p.next(want)
	m, ok := e.Message.(T)
	if !ok {
		p.fail(e, want)
	}
	return m
}

// ExpectNone fails the test if there is a message now, or one comes within d. Where the system has virtual time
// ([Options.Time]) it moves that by d.
func (p *Probe) ExpectNone(d time.Duration) {
	p.kit.t.Helper()
	if p.kit.opt.Time != nil {
		p.kit.Advance(d)
		d = 0
	} else if p.kit.opt.CallingThread {
		p.kit.Settle()
	}
	if e, _, ok := p.take(time.Now().Add(d), nil); ok {
		p.fail(e, fmt.Sprintf("none for %v", d))
	}
}

// ExpectTerminated takes the next message, which must be the Terminated of ref. The probe has to watch it.
func (p *Probe) ExpectTerminated(ref *actor.Ref) actor.Terminated {
	p.kit.t.Helper()
	want := fmt.Sprintf("the actor.Terminated of %s", ref)
	e := p.next(want)
	t, ok := e.Message.(actor.Terminated)
	if !ok || !t.Ref.Equal(ref) {
		p.fail(e, want)
	}
	return t
}

// FishFor takes messages until ok returns true, and returns that one. what says what is fished for. The others are taken too, and lost.
func (p *Probe) FishFor(what string, ok func(msg any) bool) any {
	p.kit.t.Helper()
	e, passed, found := p.take(time.Now().Add(p.within), func(e actor.Envelope) bool { return ok(e.Message) })
	if !found {
		got := "none came"
		if len(passed) > 0 {
			got = "these came: " + showAll(passed)
		}
		p.kit.t.Fatalf("testkit: %s has not got what it fished for within %v\n\twant %s\n\t%s", p.ref.Name(), p.within, what, got)
	}
	return e.Message
}

// show is a message in the text of a failure.
func show(msg any) string {
	const most = 300
	s := fmt.Sprintf("%+v", msg)
	switch msg.(type) {
	case nil:
		return "nil"
	case string:
		s = fmt.Sprintf("%q", msg)
	case bool, int, float64:
	default:
		s = fmt.Sprintf("%T %s", msg, s)
	}
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

// showAll lists messages, if they are not too many.
func showAll(msgs []any) string {
	var out []string
	for i, m := range msgs {
		if i == kept {
			out = append(out, fmt.Sprintf("and %d more", len(msgs)-i))
			break
		}
		out = append(out, show(m))
	}
	return strings.Join(out, ", ")
}
