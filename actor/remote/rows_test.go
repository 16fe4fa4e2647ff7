package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/remote/remotetest"
	"github.com/actua/actua/actor/serial"
)

// The rows of the list of Akka.NET's own tests that take two whole systems.

// rowWorld is a world whose nodes are on a network in memory.
type rowWorld struct {
	*watchWorld
	net *remotetest.Network
}

func newRowWorld(t *testing.T) *rowWorld {
	w := newWatchWorld(t)
	return &rowWorld{w, remotetest.NewNetwork(remotetest.Options{Clock: w.clock, Seed: 1})}
}

// rowNode is a node at a host of that network.
type rowNode struct {
	*watchNode
	w    *rowWorld
	host string
	dead atomic.Bool
}

// start starts a node. Its host has its name in lower case.
func (w *rowWorld) start(system string, change func(*Config)) *rowNode {
	w.t.Helper()
	return w.startAt(system, strings.ToLower(system), 2552, change)
}

func (w *rowWorld) startAt(system, host string, port int, change func(*Config)) *rowNode {
	w.t.Helper()
	n := &rowNode{w: w, host: host}
	h := w.net.Host(host)
	n.watchNode = w.node(system, func(c *Config) {
		c.transport, c.Listen = nil, h.Listen
		c.Settings.Hostname, c.Settings.Port = host, port
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if n.dead.Load() {
				return nil, errors.New("this host has no power")
			}
			return h.Dial(ctx, network, address)
		}
		if change != nil {
			change(c)
		}
	})
	for _, e := range []func(){
		func() { actor.SubscribeFunc(n.sys, func(e GatedEvent) { n.seen.add("gated %s", e.Remote.System()) }) },
		func() {
			actor.SubscribeFunc(n.sys, func(e AssociatedEvent) { n.seen.add("associated %s %d", e.Remote.System(), e.UID) })
		},
		func() {
			actor.SubscribeFunc(n.sys, func(e DisassociatedEvent) {
				n.seen.add("disassociated %s %s: %s", e.Remote.System(), e.Reason, e.Cause)
			})
		},
		func() {
			actor.SubscribeFunc(n.sys, func(e ThisActorSystemQuarantinedEvent) {
				n.seen.add("this system is quarantined by %s", e.Remote.System())
			})
		},
		func() {
			actor.SubscribeFunc(n.sys, func(e actor.DeadLetter) { n.seen.add("dead %v: %s", e.Message, e.Reason) })
		},
	} {
		e()
	}
	return n
}

// crash takes the power from a node's host.
func (n *rowNode) crash() {
	n.dead.Store(true)
	n.transport.close()
	n.w.net.Cut(n.host, "")
}

// to is an actor of another node, by its path alone.
func (n *rowNode) to(o *rowNode, path string) *actor.Ref {
	n.w.t.Helper()
	r, err := n.Resolve(o.address.String() + path)
	if err != nil {
		n.w.t.Fatal(err)
	}
	return r
}

// echo makes an actor that sends everything back.
func (n *rowNode) echo(name string) *actor.Ref {
	return n.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), name)
}

// says has an actor answer, and returns what.
func says(t *testing.T, to *actor.Ref, msg any) any {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), watchWait)
	defer cancel()
	got, err := actor.Ask[any](ctx, to, msg)
	if err != nil {
		t.Fatalf("%v: %v", msg, err)
	}
	return got
}

// reach tells an actor until it answers: gates open, connections are made.
func (n *rowNode) reach(to *actor.Ref) time.Duration {
	n.w.t.Helper()
	var answers atomic.Int64
	from := n.sys.MustSpawn(actor.FromFunc(func(*actor.Context, any) { answers.Add(1) }), "")
	return n.w.passUntil(func() bool {
		to.TellFrom("who", from)
		return answers.Load() > 0
	})
}

func TestRow15LookupAndAsk(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	for _, x := range [][2]*rowNode{{a, b}, {b, a}} {
		x[1].echo("echo")
		echo := x[0].to(x[1], "/user/echo")
		if got := says(t, echo, "hello"); got != "hello" {
			t.Errorf("got %v", got)
		}
		id := says(t, echo, actor.Identify{MessageID: "1"}).(actor.ActorIdentity)
		if id.MessageID != "1" || id.Subject == nil || id.Subject.UID() == 0 || id.Subject.Path().WithUID(0).String() != echo.Path().String() {
			t.Errorf("identity is %v", id)
		}
		if got := says(t, id.Subject, "with uid"); got != "with uid" {
			t.Errorf("got %v", got)
		}
		id = says(t, x[0].to(x[1], "/user/none"), actor.Identify{MessageID: "2"}).(actor.ActorIdentity)
		if id.MessageID != "2" || id.Subject != nil {
			t.Errorf("identity of nobody is %v", id)
		}
		x[0].to(x[1], "/user/none").Tell("lost")
		x[1].wait("dead lost: ")
		// What one is told of a sender is good to answer to later.
		var from atomic.Pointer[actor.Ref]
		keeper := x[1].sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, _ any) { from.Store(ctx.Sender()) }), "keeper")
		x[0].to(x[1], "/user/keeper").TellFrom("take me", x[0].observer("o"))
		w.passUntil(func() bool { return from.Load() != nil })
		from.Load().TellFrom("later", keeper)
		x[0].wait("o: later")
	}
	if n := w.net.Connections(); n != 1 {
		t.Errorf("there are %d connections", n)
	}
}

func TestRow16RecreatedActor(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	first := b.echo("x")
	old := a.at(b.watchNode, first)
	if got := says(t, old, "first"); got != "first" {
		t.Fatal(got)
	}
	bare := a.to(b, "/user/x")
	says(t, bare, "by path")
	for i := range 3 {
		b.sys.Stop(b.Local0("/user/x"))
		var next *actor.Ref
		w.passUntil(func() bool {
			var err error
			next, err = b.sys.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
				if msg == "for the old one" {
					b.seen.add("taken")
				}
				ctx.Reply(msg)
			}), "x")
			return err == nil
		})
		old.Tell("for the old one")
		says(t, a.at(b.watchNode, next), "for the new one")
		if got := says(t, bare, "by path"); got != "by path" {
			t.Errorf("the path leads to %v", got)
		}
		b.waitFor("dead for the old one: ", i+1)
	}
	b.never("taken")
}

// Local0 is the actor of a path, whichever incarnation.
func (n *rowNode) Local0(path string) *actor.Ref { return n.port.Local(path, 0) }

func TestRow17Selections(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		if msg == "make" {
			for _, name := range []string{"one", "two", "three"} {
				ctx.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
					b.seen.add("%s: %v", ctx.Self().Name(), msg)
					ctx.Reply(ctx.Self().Name())
				}), name)
			}
		}
		b.seen.add("parent: %v", msg)
		ctx.Reply("parent")
	}), "parent")
	says(t, a.to(b, "/user/parent"), "make")
	for i, c := range []struct {
		path string
		want string
	}{
		{"/user/parent", "parent"},
		{"/user/parent/one", "one"},
		{"/user/parent/t*", "three two"},
		{"/user/parent/T?o", "two"},
		{"/user/*/one", "one"},
		{"/user/parent/one/..", "parent"},
		{"/user/parent/one/../two", "two"},
		{"/user/parent/*/../one", "one"}, // once from each parent
		{"/user/parent/nobody", ""},
		{"/user/parent/x*", ""},
		{"/user/parent/*/none", ""},
	} {
		s, err := a.sys.Select(b.address.String() + c.path)
		if err != nil {
			t.Fatal(err)
		}
		msg := fmt.Sprintf("message %d", i)
		o := a.observer(fmt.Sprintf("o%d", i))
		s.TellFrom(msg, o)
		want := strings.Fields(c.want)
		for _, name := range want {
			b.wait(name + ": " + msg)
			a.wait(fmt.Sprintf("o%d: %s", i, name))
		}
		if len(want) == 0 && strings.Contains(c.path, "*") {
			continue // nobody answers
		}
		// Identify finds the same.
		ctx, cancel := context.WithTimeout(context.Background(), watchWait)
		ref, err := s.ResolveOne(ctx)
		cancel()
		switch {
		case len(want) == 0 && err == nil:
			t.Errorf("%s is %s", c.path, ref)
		case len(want) > 0 && (err != nil || !strings.Contains(c.want, ref.Name())):
			t.Errorf("%s is %s, %v", c.path, ref, err)
		}
		if len(want) > 0 {
			b.waitFor(": "+msg, len(want))
		}
	}
	b.wait("dead message 8: ")
	if s, err := a.sys.Select(b.address.String() + "/user/**"); err == nil {
		s.Tell("everywhere")
		b.settleNothing("everywhere")
	}
	// A Selection that starts at an actor over there.
	says(t, a.to(b, "/user/parent"), "still here")
}

func (n *rowNode) settleNothing(part string) {
	n.w.t.Helper()
	n.w.settle()
	n.never(": " + part)
}

func TestRow20OversizeSent(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.observer("x")
	x := a.to(b, "/user/x")
	size := func(n int) string { return strings.Repeat("y", n) }
	got := make(chan int, 16)
	b.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) {
		switch m := msg.(type) {
		case string:
			got <- len(m)
		case []byte:
			got <- len(m)
		}
	}), "size")
	to := a.to(b, "/user/size")
	to.Tell("first")
	wait(t, got)
	// The largest that passes, and the first that does not.
	limit := a.framing.MaxContainer()
	largest := 0
	e := encoder{framing: a.framing}
	s, err := a.registry.Find("")
	if err != nil {
		t.Fatal(err)
	}
	for n := limit; largest == 0; n-- {
		if _, err := e.appendFrame(nil, a.port.Wire(to), nil, s, size(n), assoc.Unsequenced, nil); err == nil {
			largest = n
		}
	}
	for _, msg := range []any{size(largest + 1), make([]byte, 200_000), size(5 << 20), actor.StatusSuccess{Status: size(limit)}} {
		to.Tell(msg)
	}
	to.Tell(size(largest))
	if n := wait(t, got); n != largest {
		t.Errorf("%d bytes arrived, not %d", n, largest)
	}
	a.waitFor("log ERROR a message was not sent", 4)
	a.wait("and a frame holds")
	x.Tell("still here")
	b.wait("x: still here")
	a.never("disassociated")
	if n := w.net.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A frame that is larger than the receiver allows ends the connection, as it does there; the next message makes another
// when the gate is open.
func TestRow20OversizeReceived(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Settings.MaximumFrameSize = 256000 })
	b := w.start("B", nil)
	b.observer("x")
	x := a.to(b, "/user/x")
	x.Tell(strings.Repeat("y", 127_000)) // below the limit of both
	b.wait("x: yyy")
	x.Tell(strings.Repeat("z", 129_000))
	b.wait("a connection sent a bad frame")
	a.wait("disassociated B")
	b.never("x: zzz")
	if d := a.reach(x); d > 20*time.Second {
		t.Errorf("back after %v", d)
	}
}

func TestRow21Nobody(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.echo("echo")
	if got := says(t, a.to(b, "/user/echo"), serial.Nobody{}); got != (serial.Nobody{}) {
		t.Errorf("nobody came back as %#v", got)
	}
	if got := says(t, a.to(b, "/user/echo"), actor.ActorIdentity{MessageID: "m"}); got != (actor.ActorIdentity{MessageID: "m"}) {
		t.Errorf("nobody's identity came back as %#v", got)
	}
}

// rowJSON is a message type of both sides.
type rowJSON struct {
	Name string
	N    int32
	To   *actor.Ref
	In   []rowJSON
}

// rowRegistry is the same on both sides.
func rowRegistry(t *testing.T, o serial.Options) *serial.Registry {
	r := serial.NewRegistry(o)
	if err := serial.RegisterJSON[rowJSON](r, "Row.Message, rows"); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRow29PrimitivesThereAndBack sends all that the serializers for values know, there and back.
func TestRow29PrimitivesThereAndBack(t *testing.T) {
	for _, o := range []serial.Options{{}, {ShortPrimitives: true}, {Mscorlib: true}} {
		t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
			w := newRowWorld(t)
			a := w.start("A", func(c *Config) { c.Registry = rowRegistry(t, o) })
			b := w.start("B", func(c *Config) { c.Registry = rowRegistry(t, serial.Options{}) })
			b.echo("echo")
			to := a.to(b, "/user/echo")
			for _, v := range []any{
				"", "a", "grün 😀 \x00", strings.Repeat("s", 70_000),
				int32(0), int32(1), int32(-1), int32(math.MinInt32), int32(math.MaxInt32),
				int64(0), int64(1), int64(-1), int64(math.MinInt64), int64(math.MaxInt64),
				[]byte("bytes"), true, 1.5, rowJSON{Name: "n", N: 7, In: []rowJSON{{Name: "m"}}},
			} {
				if got := says(t, to, v); !reflect.DeepEqual(got, v) {
					t.Errorf("%T %.40v came back as %T %.40v", v, v, got, got)
				}
			}
			if got := says(t, to, 5); got != int64(5) {
				t.Errorf("an int came back as %T %v", got, got)
			}
		})
	}
}

func TestRow27MiscThereAndBack(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	var got atomic.Value
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { got.Store(&msg); ctx.Reply(msg) }), "echo")
	to := a.to(b, "/user/echo")
	self := a.observer("self")
	says(t, to, "up")
	for _, v := range []any{
		serial.Heartbeat{}, serial.HeartbeatRsp{UID: 7}, serial.LocalScope{}, serial.RemoteScope{Node: a.address},
		serial.FromConfig{}, serial.RoundRobinPool{Pool: serial.Pool{Instances: 3}}, serial.Config("a"),
		actor.StatusSuccess{Status: "done"}, actor.StatusSuccess{Status: int32(7)}, actor.ActorIdentity{MessageID: "x"},
	} {
		back := says(t, to, v)
		if fmt.Sprintf("%T %+v", back, v) != fmt.Sprintf("%T %+v", v, v) {
			t.Errorf("%T %+v came back as %T %+v", v, v, back, back)
		}
	}
	// A Ref is that of the same actor at the end of its way, here and there.
	back := says(t, to, self)
	if back != any(self) {
		t.Errorf("%s came back as %v", self, back)
	}
	if there := (*got.Load().(*any)).(*actor.Ref); there.Path().Address() != a.address || there.UID() != self.UID() {
		t.Errorf("%s is %s there", self, there)
	}
	// The messages that an actor gets no sight of.
	victim := b.observer("victim")
	ref := a.at(b.watchNode, victim)
	do(self, func(ctx *actor.Context) { ctx.Watch(ref) })
	ref.Tell(actor.PoisonPill{})
	a.wait("self: end of " + ref.String())
}

func TestRow28SystemMessagesThereAndBack(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	o := a.observer("o")
	// Many at once: more than may be on their way without acknowledgement.
	const many = 700
	var refs []*actor.Ref
	for i := range many {
		refs = append(refs, a.at(b.watchNode, b.observer(fmt.Sprintf("x%d", i))))
	}
	do(o, func(ctx *actor.Context) {
		for _, r := range refs {
			ctx.Watch(r)
		}
	})
	w.passUntil(func() bool {
		b.watcher.mu.Lock()
		defer b.watcher.mu.Unlock()
		f := b.watcher.foreign[a.address]
		return f != nil && len(f.by) == many
	})
	do(o, func(ctx *actor.Context) { ctx.Unwatch(refs[0]) })
	w.passUntil(func() bool {
		b.watcher.mu.Lock()
		defer b.watcher.mu.Unlock()
		return len(b.watcher.foreign[a.address].by) == many-1
	})
	for _, r := range refs {
		a.sys.Stop(r) // Terminate
	}
	w.passUntil(func() bool { n, _ := a.seen.count("o: end of"); return n == many-1 })
	w.pass(time.Second)
	a.never("o: end of " + refs[0].String())
	a.never("quarantined")
	if n := a.watches(); n != 0 {
		t.Errorf("%d nodes are watched still", n)
	}
}

// A message inside a selection is any message.
func TestRow30SelectionThereAndBack(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Registry = rowRegistry(t, serial.Options{}) })
	b := w.start("B", func(c *Config) { c.Registry = rowRegistry(t, serial.Options{}) })
	b.echo("echo")
	self := a.observer("self")
	s, err := a.sys.Select(b.address.String() + "/user/ec*")
	if err != nil {
		t.Fatal(err)
	}
	back := make(chan any, 1)
	from := a.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) { back <- msg }), "from")
	for _, v := range []any{"text", int32(4), []byte("b"), rowJSON{Name: "n", To: self}, self, actor.StatusSuccess{Status: "s"}, serial.Nobody{}} {
		s.TellFrom(v, from)
		if got := wait(t, back); !reflect.DeepEqual(got, v) {
			t.Errorf("%T %v came back as %T %v", v, v, got, got)
		}
	}
}
