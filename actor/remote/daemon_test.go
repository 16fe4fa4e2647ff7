package remote

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// hosts lets a node make observers for others.
func hosts(w *watchWorld, n **watchNode) func(*Config) {
	return func(c *Config) {
		c.Deployable = map[string]func(args []any) (*actor.Props, error){
			"Test.Observer, test": func(args []any) (*actor.Props, error) {
				return actor.NewProps(func() actor.Actor { return &deployed{n: *n, args: args} }), nil
			},
			"Test.Bad, test":  func([]any) (*actor.Props, error) { return nil, errors.New("no such thing today") },
			"Test.Nil, test":  func([]any) (*actor.Props, error) { return nil, nil },
			"Test.Boom, test": func([]any) (*actor.Props, error) { panic("boom") },
			"Test.NoStart, test": func([]any) (*actor.Props, error) {
				return actor.NewProps(func() actor.Actor { panic("no actor") }), nil
			},
		}
	}
}

// deployed is an actor that is made for others.
type deployed struct {
	n    *watchNode
	args []any
}

func (d *deployed) PreStart(ctx *actor.Context) {
	d.n.seen.add("started %s %v", ctx.Self(), d.args)
}
func (d *deployed) PostStop(ctx *actor.Context) { d.n.seen.add("stopped %s", ctx.Self()) }

func (d *deployed) Receive(ctx *actor.Context, msg any) {
	switch msg {
	case "fail":
		ctx.Fail(errors.New("as told"))
	case "kill":
		ctx.Fail(actor.ErrActorKilled)
	case "child":
		ctx.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), "child")
		ctx.Reply("has a child")
	case "suicide":
		ctx.Stop(ctx.Self())
	default:
		ctx.Reply(msg)
	}
}

// two nodes, of which B makes actors for A.
func deployment(t *testing.T, change func(*Config)) (w *watchWorld, a, b *watchNode) {
	w = newWatchWorld(t)
	a = w.node("A", nil)
	b = w.node("B", func(c *Config) {
		hosts(w, &b)(c)
		if change != nil {
			change(c)
		}
	})
	return w, a, b
}

// remotely is the recipe of an actor on b.
func remotely(b *watchNode, class string, args ...any) *actor.Props {
	return actor.FromFunc(func(*actor.Context, any) {}).WithClass(class).WithScope(b.address).WithArgs(args...)
}

func (n *watchNode) hosted() int {
	n.daemon.mu.Lock()
	defer n.daemon.mu.Unlock()
	if n.daemon.count == 0 && (len(n.daemon.hosted) != 0 || len(n.daemon.parents) != 0) {
		n.w.t.Errorf("of no actor at all %d paths and %d parents are left", len(n.daemon.hosted), len(n.daemon.parents))
	}
	return n.daemon.count
}

func (n *watchNode) watches() int {
	n.watcher.mu.Lock()
	defer n.watcher.mu.Unlock()
	return len(n.watcher.state.nodes)
}

// quiet waits until nothing is hosted and nobody watched.
func (n *watchNode) quiet() {
	n.w.t.Helper()
	n.w.passUntil(func() bool { return n.hosted() == 0 && n.watches() == 0 })
}

func spawn(parent *actor.Ref, p *actor.Props, name string) (child *actor.Ref, err error) {
	do(parent, func(ctx *actor.Context) { child, err = ctx.Spawn(p, name) })
	return child, err
}

func TestRow22DeployRefusedHere(t *testing.T) {
	_, a, b := deployment(t, nil)
	p := a.observer("p")
	for what, props := range map[string]*actor.Props{
		"no class":            actor.NewProps(func() actor.Actor { return nil }).WithScope(b.address),
		"argument of no type": remotely(b, "Test.Observer, test", make(chan int)),
		"too large":           remotely(b, "Test.Observer, test", make([]byte, 200000)),
	} {
		if c, err := spawn(p, props, "c"); err == nil {
			t.Errorf("%s: made %s", what, c)
		}
	}
	other, err := actor.NewAddress("akka.ssl.tcp", "B", "127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := spawn(p, remotely(b, "Test.Observer, test").WithScope(other), "c"); err == nil {
		t.Errorf("of another protocol: made %s", c)
	}
	a.quiet()
}

func TestRow22DeployRefusedThere(t *testing.T) {
	w, a, b := deployment(t, nil)
	p := a.observer("p")
	for i, class := range []string{"Test.Unknown, test", "Test.Bad, test", "Test.Nil, test", "Test.Boom, test"} {
		c, err := spawn(p, remotely(b, class), fmt.Sprint("c", i))
		if err != nil {
			t.Fatal(err)
		}
		do(p, func(ctx *actor.Context) { ctx.Watch(c) })
		a.wait("p: end of " + c.String() + " existed=false")
		w.passUntil(func() bool { // the name is free again
			var have *actor.Ref
			do(p, func(ctx *actor.Context) { have = ctx.Child(c.Name()) })
			return have == nil
		})
	}
	b.waitFor("log ERROR an actor was not made for another node", 4)
	b.wait("not among the classes")
	b.wait("boom")
	a.quiet()
	b.quiet()
}

func TestRow22DeployedActorCannotStart(t *testing.T) {
	_, a, b := deployment(t, nil)
	p := a.observer("p")
	c, err := spawn(p, remotely(b, "Test.NoStart, test"), "c")
	if err != nil {
		t.Fatal(err)
	}
	do(p, func(ctx *actor.Context) { ctx.Watch(c) })
	a.wait("p: end of " + c.String())
	a.wait("no actor")
	a.quiet()
	b.quiet()
}

func TestRow35UntrustedDeploysNothing(t *testing.T) {
	w, a, b := deployment(t, func(c *Config) { c.Settings.UntrustedMode = true })
	p := a.observer("p")
	if _, err := spawn(p, remotely(b, "Test.Observer, test"), "c"); err != nil {
		t.Fatal(err)
	}
	b.wait("untrusted mode: an actor was not made")
	x := b.observer("x")
	ref := a.at(b, x)
	do(p, func(ctx *actor.Context) { ctx.Watch(ref) })
	a.sys.Stop(ref)
	b.wait("untrusted mode: a system message was dropped kind=Watch")
	b.wait("untrusted mode: a system message was dropped kind=Terminate")
	ref.Tell("still here")
	b.wait("x: still here")
	w.settle()
	b.never("started [akka.tcp")
	if b.hosted() != 0 {
		t.Error("there is an actor of another node")
	}
}

func TestRow22DeployAndSupervise(t *testing.T) {
	w, a, b := deployment(t, nil)
	p := a.observer("p")
	c, err := spawn(p, remotely(b, "Test.Observer, test", "one", int32(2)), "c")
	if err != nil {
		t.Fatal(err)
	}
	here := strings.Replace(a.address.String(), "://", "/", 1)
	if want := fmt.Sprintf("[%s/remote/%s/user/p/c#%d]", b.address, here, c.UID()); c.String() != want {
		t.Errorf("the child is %s, want %s", c, want)
	}
	do(p, func(ctx *actor.Context) { ctx.Tell(c, "hello") })
	a.wait("p: hello")
	b.wait("[one 2]")
	w.passUntil(func() bool { return a.watches() == 1 && b.watches() == 1 })
	w.pass(3 * time.Second)

	// It fails, and its parent has it restarted.
	do(p, func(ctx *actor.Context) { ctx.Tell(c, "fail"); ctx.Tell(c, "again") })
	a.wait("p: again")
	a.wait("as told")
	b.waitFor("started ", 2)

	// An actor below it.
	do(p, func(ctx *actor.Context) { ctx.Tell(c, "child") })
	a.wait("p: has a child")
	below, err := a.Resolve(string(a.port.Wire(c.System().DeadLetters()).Path))
	if err != nil {
		t.Fatal(err)
	}
	path := c.Path()
	if below, err = a.Resolve(path.WithUID(0).String() + "/child"); err != nil {
		t.Fatal(err)
	}
	do(p, func(ctx *actor.Context) { ctx.Tell(below, "below") })
	a.wait("p: below")
	if r := b.Local(c.Path().StringWithoutAddress(), c.UID()+1); r != nil {
		t.Errorf("another incarnation is %s", r)
	}

	// It is killed, which ends it.
	do(p, func(ctx *actor.Context) { ctx.Watch(c); ctx.Tell(c, "kill") })
	a.wait("p: end of " + c.String() + " existed=true address=false")
	a.quiet()
	b.quiet()
	if r := b.Local(c.Path().StringWithoutAddress(), 0); r != nil {
		t.Errorf("what has ended is %s", r)
	}

	// The next of that name.
	if c, err = spawn(p, remotely(b, "Test.Observer, test"), "c"); err != nil {
		t.Fatal(err)
	}
	do(p, func(ctx *actor.Context) { ctx.Watch(c); ctx.Unwatch(c); ctx.Tell(c, "suicide") })
	w.passUntil(func() bool {
		var have *actor.Ref
		do(p, func(ctx *actor.Context) { have = ctx.Child("c") })
		return have == nil
	})
	a.quiet()
	b.quiet()
}

func TestRow22ParentEnds(t *testing.T) {
	_, a, b := deployment(t, nil)
	p := a.observer("p")
	for i := range 3 {
		if _, err := spawn(p, remotely(b, "Test.Observer, test"), fmt.Sprint("c", i)); err != nil {
			t.Fatal(err)
		}
	}
	b.waitFor("started ", 3)
	a.sys.Stop(p)
	b.waitFor("stopped ", 3)
	a.quiet()
	b.quiet()
}

func TestRow40RemoteDeploymentDeathWatch(t *testing.T) {
	for _, gone := range []string{"A", "B"} {
		t.Run(gone, func(t *testing.T) {
			w, a, b := deployment(t, nil)
			p := a.observer("p")
			c, err := spawn(p, remotely(b, "Test.Observer, test"), "c")
			if err != nil {
				t.Fatal(err)
			}
			do(p, func(ctx *actor.Context) { ctx.Watch(c) })
			b.wait("started ")
			w.passUntil(func() bool { return a.watches() == 1 && b.watches() == 1 })
			w.pass(2 * time.Second)
			w.pull(gone)
			b.passUntil("stopped ")
			a.passUntil("p: end of " + c.String() + " existed=true address=true")
			w.passUntil(func() bool {
				var have *actor.Ref
				do(p, func(ctx *actor.Context) { have = ctx.Child("c") })
				return have == nil
			})
			b.quiet()
		})
	}
}

func TestRow40RemoteRedeployment(t *testing.T) {
	w, a, b := deployment(t, nil)
	p := a.observer("p")
	if _, err := spawn(p, remotely(b, "Test.Observer, test"), "c"); err != nil {
		t.Fatal(err)
	}
	b.wait("started ")
	w.pass(2 * time.Second)
	// The node of the parent crashes, comes back and deploys again.
	a.crash()
	w.settle()
	a2 := w.node("A", func(c *Config) { c.Settings.Port = a.address.Port() })
	p2 := a2.observer("p")
	c2, err := spawn(p2, remotely(b, "Test.Observer, test"), "c")
	if err != nil {
		t.Fatal(err)
	}
	do(p2, func(ctx *actor.Context) { ctx.Tell(c2, "hello") })
	a2.passUntil("p: hello")
	b.passUntil("stopped ")
	w.passUntil(func() bool { return b.hosted() == 1 })
}

// What others send to /remote that is no deployment, or a bad one.
func TestDaemonBadRequests(t *testing.T) {
	w, a, b := deployment(t, nil)
	p := a.observer("p")
	parent := b.at(a, p)
	good := serial.DaemonMsgCreate{Props: serial.Props{Class: "Test.Observer, test"}, Supervisor: parent}
	base := b.address.String() + "/remote/akka.tcp/" + strings.TrimPrefix(a.address.String(), "akka.tcp://")
	var long strings.Builder
	for range maxDepth {
		long.WriteString("/x")
	}
	for _, path := range []string{
		"", "nonsense", base + "/user/p/c#99999999999", "akka.tcp://Other@127.0.0.1:1/remote/akka.tcp/A@127.0.0.1:1/user/c",
		b.address.String() + "/user/c", b.address.String() + "/remote", b.address.String() + "/remote/akka.tcp/A@127.0.0.1:1", base + long.String(),
	} {
		m := good
		m.Path = path
		b.daemon.create(b.daemon.ref, &m, nil)
	}
	for _, change := range []func(*serial.DaemonMsgCreate){
		func(m *serial.DaemonMsgCreate) { m.Supervisor = nil },
		func(m *serial.DaemonMsgCreate) { m.Supervisor = b.sys.DeadLetters() }, // of this node
		func(m *serial.DaemonMsgCreate) { m.Deploy.RouterConfig = serial.RoundRobinPool{} },
		func(m *serial.DaemonMsgCreate) { m.Props.Deploy.RouterConfig = serial.FromConfig{} },
		func(m *serial.DaemonMsgCreate) { m.Deploy.Dispatcher = "nowhere" },
	} {
		m := good
		m.Path = base + "/user/p/c#7"
		change(&m)
		b.daemon.create(b.daemon.ref, &m, nil)
	}
	m := good
	m.Path = base + "/user/p/c#7"
	b.daemon.create(b.observer("x"), &m, nil) // sent to somebody else
	if n := b.hosted(); n != 0 {
		t.Fatalf("%d actors were made", n)
	}
	b.never("started [akka")

	// Twice the same is once.
	b.daemon.create(b.daemon.ref, &m, nil)
	b.daemon.create(b.daemon.ref, &m, nil)
	if n := b.hosted(); n != 1 {
		t.Fatalf("%d actors were made", n)
	}
	// Another incarnation while the first lives is another actor, and the one who is found.
	m.Path = base + "/user/p/c#8"
	b.daemon.create(b.daemon.ref, &m, nil)
	elements := strings.TrimPrefix(base, b.address.String()) + "/user/p/c"
	if r := b.Local(elements, 0); r == nil || r.UID() != 8 {
		t.Errorf("found %s", r)
	}
	if r := b.Local(elements, 7); r == nil || r.UID() != 7 {
		t.Errorf("found %s", r)
	}
	for _, path := range []string{"/remotely", "/user/x", "/remote/x", elements + "/none", elements + strings.Repeat("/x", 5000)} {
		if r := b.Local(path, 0); r != nil {
			t.Errorf("%.40s is %s", path, r)
		}
	}
	if b.Local("/remote", 0) != b.daemon.ref {
		t.Error("/remote is not there")
	}
	b.daemon.ref.Tell("what is this?")
	b.wait("dead letter")
	// Nobody from outside speaks to the daemon.
	b.deliverSystem(systemIn{to: b.daemon.ref, m: actor.SystemMessage{Kind: actor.SystemDeathWatchNotification, Ref: parent}})
	w.settle()
	if n := b.hosted(); n != 2 {
		t.Errorf("%d actors are left", n)
	}
	// The parent does not exist any more.
	a.sys.Stop(p)
	b.passUntil("stopped ")
	b.quiet()
}

func TestDaemonIsBounded(t *testing.T) {
	_, a, b := deployment(t, nil)
	b.daemon.mu.Lock()
	b.daemon.count = maxHosted
	b.daemon.mu.Unlock()
	p := a.observer("p")
	c, err := spawn(p, remotely(b, "Test.Observer, test"), "c")
	if err != nil {
		t.Fatal(err)
	}
	do(p, func(ctx *actor.Context) { ctx.Watch(c) })
	a.wait("p: end of " + c.String() + " existed=false")
	b.daemon.mu.Lock()
	b.daemon.count = 0
	b.daemon.mu.Unlock()
}

// The end of a node ends what it has made for others, and they are told.
func TestRow36HostShutsDown(t *testing.T) {
	w, a, b := deployment(t, nil)
	p := a.observer("p")
	c, err := spawn(p, remotely(b, "Test.Observer, test"), "c")
	if err != nil {
		t.Fatal(err)
	}
	do(p, func(ctx *actor.Context) { ctx.Watch(c) })
	b.wait("started ")
	w.pass(time.Second)
	b.sys.Terminate()
	a.passUntil("p: end of " + c.String() + " existed=true address=false")
	b.wait("stopped ")
}
