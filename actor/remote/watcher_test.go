package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
	"github.com/actua/actua/actor/testkit"
)

// watchWait is how long a test waits for what has to happen.
const watchWait = 10 * time.Second

// watchWorld is some nodes with one clock, and cables between them that can be pulled.
type watchWorld struct {
	t     *testing.T
	clock *testkit.VirtualTime

	mu  sync.Mutex
	cut map[string]bool // by system
}

// wire is a TCP connection from one system to another. Once pulled it takes bytes and brings none.
type wire struct {
	net.Conn
	from, to string
	w        *watchWorld
}

func (w *watchWorld) pulled(systems ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range systems {
		if w.cut[s] {
			return true
		}
	}
	return false
}

func (c *wire) Write(b []byte) (int, error) {
	if c.w.pulled(c.from, c.to) {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// CloseWrite is that of TCP: an end in order needs it.
func (c *wire) CloseWrite() error {
	if c.w.pulled(c.from, c.to) {
		return nil
	}
	return c.Conn.(*net.TCPConn).CloseWrite()
}

// pull cuts a system off from all others, without a word.
func (w *watchWorld) pull(system string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[system] = true
}

// loop is the transport of one system of a world.
type loop struct {
	w      *watchWorld
	system string
	l      net.Listener
}

func (t *loop) listen(s *Settings, system string) (addr actor.Address, err error) {
	t.system = system
	if t.l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port)); err != nil {
		return addr, err
	}
	return actor.NewAddress("akka.tcp", system, "127.0.0.1", t.l.Addr().(*net.TCPAddr).Port)
}

func (t *loop) accept() (net.Conn, error) {
	c, err := t.l.Accept()
	if err != nil {
		return nil, err
	}
	return &wire{c, t.system, t.system, t.w}, nil
}

func (t *loop) dial(ctx context.Context, to actor.Address) (net.Conn, error) {
	if t.w.pulled(t.system, to.System()) {
		return nil, errors.New("no route to host")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", to.Host(), to.Port()))
	if err != nil {
		return nil, err
	}
	return &wire{c, t.system, to.System(), t.w}, nil
}

func (t *loop) close() error { return t.l.Close() }

func newWatchWorld(t *testing.T) *watchWorld {
	return &watchWorld{t: t, clock: testkit.NewVirtualTime(time.Unix(1000, 0)), cut: map[string]bool{}}
}

// watchNode is one node.
type watchNode struct {
	*Remoting
	w    *watchWorld
	sys  *actor.System
	seen *lines // what its actors were told, and what it logged
}

// lines is what a test saw.
type lines struct {
	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func (l *lines) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf(format, args...))
	close(l.more)
	l.more = make(chan struct{})
}

func (l *lines) count(part string) (n int, more chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.all {
		if strings.Contains(x, part) {
			n++
		}
	}
	return n, l.more
}

// String is all of it.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// wait waits for a line with part in it.
func (n *watchNode) wait(part string) { n.w.t.Helper(); n.waitFor(part, 1) }

func (n *watchNode) waitFor(part string, times int) {
	n.w.t.Helper()
	late := time.After(watchWait)
	for {
		have, more := n.seen.count(part)
		if have >= times {
			return
		}
		select {
		case <-more:
		case <-late:
			n.w.t.Fatalf("%s: %q was seen %d times, not %d. Seen:\n%s", n.sys.Name(), part, have, times, n.seen)
		}
	}
}

func (n *watchNode) never(part string) {
	n.w.t.Helper()
	if have, _ := n.seen.count(part); have > 0 {
		n.w.t.Fatalf("%s: %q was seen. Seen:\n%s", n.sys.Name(), part, n.seen)
	}
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	line := "log " + r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "stack" {
			line += " " + a.String()
		}
		return true
	})
	l.add("%s", line)
	return nil
}

// node starts a node.
func (w *watchWorld) node(name string, change func(*Config)) *watchNode {
	w.t.Helper()
	set := DefaultSettings()
	set.Port = 0
	cfg := Config{Settings: &set, transport: &loop{w: w}}
	if change != nil {
		change(&cfg)
	}
	n := &watchNode{Remoting: New(cfg), w: w, seen: &lines{more: make(chan struct{})}}
	sys, err := actor.NewSystem(name, actor.Config{Provider: n.Remoting, Clock: w.clock, Logger: slog.New(n.seen)})
	if err != nil {
		w.t.Fatal(err)
	}
	n.sys = sys
	if n.watcher.self() == nil {
		if err := n.Started(); err != nil {
			w.t.Fatal(err)
		}
	}
	actor.SubscribeFunc(sys, func(e QuarantinedEvent) { n.seen.add("quarantined %s", e.Remote.System()) })
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("%s has seen:\n%s", name, n.seen)
		}
		sys.Terminate()
		w.passUntil(func() bool {
			select {
			case <-sys.WhenTerminated():
				return true
			default:
				return false
			}
		})
	})
	return n
}

// pass lets time pass, in steps in which all that is due can be sent and answered.
func (w *watchWorld) pass(d time.Duration) {
	for ; d > 0; d -= 100 * time.Millisecond {
		w.clock.Advance(100 * time.Millisecond)
		time.Sleep(200 * time.Microsecond)
	}
	time.Sleep(2 * time.Millisecond)
}

// passUntil lets time pass until something has happened.
func (w *watchWorld) passUntil(done func() bool) time.Duration {
	w.t.Helper()
	late := time.Now().Add(watchWait)
	start := w.clock.Now()
	for !done() {
		if time.Now().After(late) {
			w.t.Fatalf("it never happens")
		}
		w.clock.Advance(100 * time.Millisecond)
		time.Sleep(time.Millisecond)
	}
	return w.clock.Now().Sub(start)
}

func (n *watchNode) passUntil(part string) time.Duration {
	n.w.t.Helper()
	return n.w.passUntil(func() bool { have, _ := n.seen.count(part); return have > 0 })
}

// crash resets all connections of a node and takes its listener away.
func (n *watchNode) crash() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.transport.close()
	for c := range n.conns {
		c.nc.(*wire).Conn.(*net.TCPConn).SetLinger(0)
		c.nc.Close()
	}
}

// observe is what an observer does when told.
type observe func(ctx *actor.Context)

// observer makes an actor that writes down what it is told, and does what it is asked to.
func (n *watchNode) observer(name string) *actor.Ref {
	return n.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		switch m := msg.(type) {
		case observe:
			m(ctx)
		case actor.Terminated:
			n.seen.add("%s: end of %s existed=%v address=%v", name, m.Ref, m.ExistenceConfirmed, m.AddressTerminated)
		case string:
			switch {
			case m == "fail":
				ctx.Fail(errors.New("as told"))
			case m == "panic":
				panic(errors.New("in panic"))
			case m == "who":
				ctx.Reply("me")
			}
			n.seen.add("%s: %s", name, m)
		default:
			n.seen.add("%s: %T", name, msg)
		}
	}), name)
}

// at is the Ref of an actor of another node as this one knows it.
func (n *watchNode) at(o *watchNode, local *actor.Ref) *actor.Ref {
	n.w.t.Helper()
	r, err := n.Resolve(string(o.port.Wire(local).Path))
	if err != nil {
		n.w.t.Fatal(err)
	}
	return r
}

// do has an actor do something and waits for it.
func do(to *actor.Ref, f func(ctx *actor.Context)) {
	done := make(chan struct{})
	to.Tell(observe(func(ctx *actor.Context) { defer close(done); f(ctx) }))
	<-done
}

// settle waits until system messages have gone one way and back.
func (w *watchWorld) settle() { time.Sleep(20 * time.Millisecond) }

func TestRow25NobodyListens(t *testing.T) {
	w := newWatchWorld(t)
	a := w.node("A", nil)
	for _, path := range []string{"akka.tcp://B@127.0.0.1:1/user/x#7", "akka.tcp://B@no-such-host.invalid:2552/user/x#7"} {
		ref, err := a.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		o := a.observer("w" + fmt.Sprint(len(path)))
		do(o, func(ctx *actor.Context) { ctx.Watch(ref) })
		if d := a.passUntil("end of [" + path + "] existed=false"); d > 20*time.Second {
			t.Errorf("%s: the end was told after %v", path, d)
		}
	}
	if n := len(a.watcher.state.nodes); n != 0 {
		t.Errorf("%d nodes are watched still", n)
	}
}

func TestRow23WatchOfWhatIsNotThere(t *testing.T) {
	w := newWatchWorld(t)
	a, b := w.node("A", nil), w.node("B", nil)
	gone := b.observer("gone")
	there := b.at(b, gone)
	b.sys.Stop(gone)
	w.settle()
	for i, path := range []string{b.address.String() + "/user/nobody", there.String()[1 : len(there.String())-1]} {
		path = strings.Replace(path, "akka://B/", b.address.String()+"/", 1)
		ref, err := a.Resolve(path)
		if err != nil {
			t.Fatal(err)
		}
		do(a.observer(fmt.Sprint("w", i)), func(ctx *actor.Context) { ctx.Watch(ref) })
		a.wait(fmt.Sprintf("w%d: end of [%s] existed=false address=false", i, path))
	}
}

func TestRow23WatchAndEnd(t *testing.T) {
	for _, end := range []string{"stop", "poison pill", "kill", "failure"} {
		t.Run(end, func(t *testing.T) {
			w := newWatchWorld(t)
			a, b := w.node("A", nil), w.node("B", nil)
			x := b.observer("x")
			ref := a.at(b, x)
			bare, err := a.Resolve(b.address.String() + "/user/x")
			if err != nil {
				t.Fatal(err)
			}
			o, o2, o3 := a.observer("w"), a.observer("w2"), a.observer("w3")
			do(o, func(ctx *actor.Context) { ctx.Watch(ref); ctx.Watch(ref) })
			do(o2, func(ctx *actor.Context) { ctx.Watch(bare) })
			do(o3, func(ctx *actor.Context) { ctx.Watch(ref) })
			w.settle()
			w.pass(1500 * time.Millisecond) // with the first answer all is watched once more
			do(o3, func(ctx *actor.Context) { ctx.Unwatch(ref) })
			switch end {
			case "stop":
				a.sys.Stop(ref)
			case "poison pill":
				ref.Tell(actor.PoisonPill{})
			case "kill":
				ref.Tell(actor.Kill{})
			case "failure":
				b.sys.Stop(x)
			}
			a.wait("w: end of " + ref.String() + " existed=true address=false")
			a.wait("w2: end of " + bare.String() + " existed=true address=false")
			w.settle()
			a.never("w3: end")
			if n, _ := a.seen.count(": end of"); n != 2 {
				t.Errorf("%d ends were told", n)
			}
			if n := len(a.watcher.state.nodes); n != 0 {
				t.Errorf("%d nodes are watched still", n)
			}
		})
	}
}

func TestRow23WatcherEnds(t *testing.T) {
	w := newWatchWorld(t)
	a, b := w.node("A", nil), w.node("B", nil)
	x := b.observer("x")
	bare, err := a.Resolve(b.address.String() + "/user/x")
	if err != nil {
		t.Fatal(err)
	}
	o := a.observer("w")
	do(o, func(ctx *actor.Context) { ctx.Watch(a.at(b, x)); ctx.Watch(bare) })
	w.passUntil(func() bool { b.watcher.mu.Lock(); defer b.watcher.mu.Unlock(); return len(b.watcher.foreign) == 1 })
	a.sys.Stop(o)
	w.passUntil(func() bool { b.watcher.mu.Lock(); defer b.watcher.mu.Unlock(); return len(b.watcher.foreign) == 0 })
	w.passUntil(func() bool { a.watcher.mu.Lock(); defer a.watcher.mu.Unlock(); return len(a.watcher.state.nodes) == 0 })
}

func TestRow24NodeFallsSilent(t *testing.T) {
	w := newWatchWorld(t)
	a, b := w.node("A", nil), w.node("B", nil)
	x, y := b.observer("x"), b.observer("y")
	o := a.observer("w")
	do(o, func(ctx *actor.Context) { ctx.Watch(a.at(b, x)); ctx.Watch(a.at(b, y)) })
	w.pass(5 * time.Second)
	a.never("end of")
	w.pull("B")
	if d := a.passUntil("end of"); d < 8*time.Second || d > 20*time.Second {
		t.Errorf("the end was told after %v", d)
	}
	a.wait("w: end of " + a.at(b, x).String() + " existed=false address=true")
	a.wait("w: end of " + a.at(b, y).String() + " existed=false address=true")
	a.wait("quarantined B")
}

func TestRow24AnswersAlsoWithoutWatching(t *testing.T) {
	w := newWatchWorld(t)
	a, b := w.node("A", nil), w.node("B", nil)
	x := b.observer("x")
	do(a.observer("w"), func(ctx *actor.Context) { ctx.Watch(a.at(b, x)) })
	w.pass(60 * time.Second)
	a.never("end of")
	if n := len(b.watcher.state.nodes); n != 0 {
		t.Errorf("B watches %d nodes", n)
	}
	a.watcher.mu.Lock()
	defer a.watcher.mu.Unlock()
	if n := a.watcher.state.nodes[b.address]; n == nil || !n.known || n.uid != b.uid {
		t.Errorf("what A knows of B: %+v", n)
	}
}

// A node that crashes and comes back at its address has ended all that was there.
func TestRow40NodeRestartDeathWatch(t *testing.T) {
	w := newWatchWorld(t)
	a, b := w.node("A", nil), w.node("B", nil)
	x := b.observer("x")
	ref := a.at(b, x)
	do(a.observer("w"), func(ctx *actor.Context) { ctx.Watch(ref) })
	w.pass(3 * time.Second)
	b.crash()
	w.settle()
	b2 := w.node("B", func(c *Config) { c.Settings.Port = b.address.Port() })
	if b2.address != b.address {
		t.Fatal("not the same address")
	}
	a.passUntil("end of " + ref.String()) // the new node has said that there is no such actor, or the old one was missed first
}

func TestRow28SystemMessages(t *testing.T) {
	r := &Remoting{}
	ref := new(actor.Ref)
	for _, k := range []actor.SystemMessage{
		{Kind: actor.SystemRecreate, Cause: errors.New("c")}, {Kind: actor.SystemSuspend}, {Kind: actor.SystemResume},
		{Kind: actor.SystemTerminate}, {Kind: actor.SystemWatch, Ref: ref, Watcher: ref}, {Kind: actor.SystemUnwatch, Ref: ref, Watcher: ref},
		{Kind: actor.SystemFailed, Ref: ref, Cause: errors.New("c"), UID: 1<<31 - 1}, {Kind: actor.SystemSupervise, Ref: ref, Async: true},
		{Kind: actor.SystemDeathWatchNotification, Ref: ref, ExistenceConfirmed: true, AddressTerminated: true},
	} {
		body := r.wireSystem(&k)
		if !serial.IsSystemMessage(body) {
			t.Errorf("%s is sent as a %T", kindName(k.Kind), body)
		}
		back, ok := r.fromWire(body)
		if back.Cause != nil && k.Cause != nil {
			if !strings.Contains(back.Cause.Error(), "c") {
				t.Errorf("%s: %v", kindName(k.Kind), back.Cause)
			}
			back.Cause, k.Cause = nil, nil
		}
		if !ok || back != k {
			t.Errorf("%s came back as %+v", kindName(k.Kind), back)
		}
	}
	for _, bad := range []any{nil, "text", serial.Heartbeat{}, serial.Watch{}, serial.Watch{Watchee: ref}, serial.Unwatch{Watcher: ref}, serial.Failed{}, serial.Supervise{}, serial.DeathWatchNotification{}} {
		if m, ok := r.fromWire(bad); ok {
			t.Errorf("%T is taken for %s", bad, kindName(m.Kind))
		}
	}
	if m, ok := r.fromWire(serial.Failed{Child: ref}); !ok || m.Cause == nil {
		t.Errorf("a failure without a cause: %+v", m)
	}
	if m, ok := r.fromWire(serial.Recreate{}); !ok || m.Cause == nil {
		t.Errorf("a restart without a cause: %+v", m)
	}
	if m, ok := r.fromWire(serial.Create{}); !ok || m.Kind != actor.SystemSupervise {
		t.Errorf("Create: %+v", m)
	}
}
