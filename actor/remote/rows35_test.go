package remote

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// Row 34: what is bad about one message is bad for that message.

type unknownHere struct{ N int }

// refusing is a serializer of users: it fails as it is told.
type refusing struct{}

type refused struct{ How string }

func (refusing) ID() int32           { return 123 }
func (refusing) Manifest(any) string { return "" }
func (refusing) Append(dst []byte, msg any, _ *serial.Exchange) ([]byte, error) {
	switch how := msg.(refused).How; how {
	case "error":
		return append(dst, "half of it"...), errors.New("will not be written")
	case "panic":
		panic("cannot be written")
	default:
		return append(dst, how...), nil
	}
}
func (refusing) Decode(b, _ []byte, _ *serial.Exchange) (any, error) {
	switch string(b) {
	case "bad":
		return nil, errors.New("will not be read")
	case "worse":
		panic("cannot be read")
	}
	return refused{string(b)}, nil
}

func TestRow34TransientErrors(t *testing.T) {
	with := func(c *Config) {
		c.Registry = serial.NewRegistry(serial.Options{})
		if err := c.Registry.Register(refusing{}); err != nil {
			t.Fatal(err)
		}
		if err := serial.Bind[refused](c.Registry, 123); err != nil {
			t.Fatal(err)
		}
	}
	w := newRowWorld(t)
	a, b := w.start("A", with), w.start("B", with)
	c := w.start("C", nil) // knows no such serializer
	for _, n := range []*rowNode{b, c} {
		n.echo("echo")
		to := a.to(n, "/user/echo")
		says(t, to, "up")
		o := a.observer("o" + n.host)
		for _, msg := range []any{
			unknownHere{1}, make(chan int), func() {}, refused{"error"}, refused{"panic"}, // cannot be sent
			refused{"bad"}, refused{"worse"}, // cannot be read
		} {
			to.TellFrom(msg, o)
		}
		if got := says(t, to, "still here"); got != "still here" {
			t.Error(got)
		}
		n.waitFor("log ERROR a message could not be read and was dropped", 2)
	}
	if got := says(t, a.to(b, "/user/echo"), refused{"good"}); got != (refused{"good"}) {
		t.Error(got)
	}
	a.waitFor("log ERROR a message was not sent", 10)
	a.never("disassociated")
	if n := w.net.Connections(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestRow34AskFailure(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		ctx.Reply(actor.StatusFailure{Cause: errors.New("no " + msg.(string) + " today")})
	}), "no")
	_, err := actor.Ask[string](soon(t), a.to(b, "/user/no"), "fish")
	var far *serial.RemoteError
	if !errors.As(err, &far) || far.Message != "no fish today" || !strings.HasPrefix(far.TypeName, "System.Exception") {
		t.Errorf("got %v", err)
	}
	if _, err := actor.Ask[int32](soon(t), a.to(b, "/user/no"), strings.Repeat("f", 60_000)); err == nil {
		t.Error("no error")
	}
}

// Row 35: UntrustedSpec.
func TestRow35Untrusted(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", nil)
	b := w.start("B", func(c *Config) {
		c.Settings.UntrustedMode = true
		c.Settings.TrustedSelectionPaths = []string{"/user/receptionist"}
	})
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		if msg == "make" {
			for _, name := range [...]string{"child1", "child2", "user"} {
				ctx.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
					if msg == "make" {
						ctx.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { b.seen.add("below: %v", msg) }), "receptionist")
					}
					b.seen.add("%s: %v", ctx.Self().Name(), msg)
				}), name)
			}
		}
		b.seen.add("receptionist: %v", msg)
		ctx.Reply(msg)
	}), "receptionist")
	open := a.to(b, "/user/receptionist")
	says(t, open, "make")
	a.to(b, "/user/receptionist/user").Tell("make")
	b.wait("user: make")
	x := b.observer("x")
	o := a.observer("o")

	// What is harmful, to an actor, to /remote and by a Ref with a uid.
	ref := a.at(b.watchNode, x)
	do(o, func(ctx *actor.Context) { ctx.Watch(ref); ctx.Unwatch(ref) })
	a.sys.Stop(ref)
	for _, to := range []*actor.Ref{ref, a.to(b, "/user/x"), a.to(b, "/remote"), a.to(b, "/user"), a.to(b, "/")} {
		to.TellFrom(actor.PoisonPill{}, o)
		to.TellFrom(actor.Kill{}, o)
	}
	b.waitFor("a harmful message was dropped: untrusted mode", 10)
	b.wait("untrusted mode: a system message was dropped kind=Watch")
	b.wait("untrusted mode: a system message was dropped kind=Unwatch")
	b.wait("untrusted mode: a system message was dropped kind=Terminate")

	// Selections: the one that is allowed, and those that are not.
	sel := func(path string, msg any) {
		t.Helper()
		s, err := a.sys.Select(b.address.String() + path)
		if err != nil {
			t.Fatal(err)
		}
		s.TellFrom(msg, o)
	}
	sel("/user/receptionist", "allowed")
	b.wait("receptionist: allowed")
	refuse := []string{
		"/user/x", "/user/receptionist/child1", "/user/receptionist/../x", "/user/receptionist/*", "/user/recept*", "/user/*",
		"/user/receptionist/child1/..", "/system/remote-watcher", "/user", "/user/../user/receptionist",
	}
	for _, path := range refuse {
		sel(path, "refused")
	}
	sel("/user/receptionist", actor.PoisonPill{})
	sel("/user/receptionist", actor.Kill{})
	// From an anchor that is not the root: to /user/receptionist below an actor, by that very path.
	name := func(m string) serial.SelectionElement {
		return serial.SelectionElement{Kind: serial.SelectChildName, Matcher: m}
	}
	anchored := serial.Selection{Message: "refused", Elements: []serial.SelectionElement{name("user"), name("receptionist")}}
	a.to(b, "/user/receptionist").TellFrom(anchored, o)
	anchored.Elements = []serial.SelectionElement{name("user/receptionist")}
	a.to(b, "/").TellFrom(anchored, o)
	b.waitFor("a message to a selection was dropped: untrusted mode", len(refuse)+3)

	says(t, open, "still here")
	x.Tell("still here")
	b.wait("x: still here")
	w.settle()
	b.never(": refused")
	a.never("o: end of " + ref.String() + " existed=true")
	w.pass(3 * time.Second)
	b.never("stopped actor=/user/x")
}
