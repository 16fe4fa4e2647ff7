package remote

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/remote/remotetest"
)

// The scenarios of Akka.NET's tests over several machines.

var blackhole = remotetest.Mode{Blackhole: true}

// stopped waits until a node has ended.
func (n *rowNode) stopped() time.Duration {
	n.w.t.Helper()
	return n.w.passUntil(func() bool {
		select {
		case <-n.sys.WhenTerminated():
			return true
		default:
			return false
		}
	})
}

// AttemptSysMsgRedelivery: no Watch and no end is lost by a link that is cut again and again.
func TestRow40AttemptSysMsgRedelivery(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	o := a.observer("o")
	const many = 30
	for i := range many {
		ref := a.at(b.watchNode, b.observer(fmt.Sprint("x", i)))
		do(o, func(ctx *actor.Context) { ctx.Watch(ref) })
		switch i % 10 {
		case 3:
			w.net.Cut("a", "b")
		case 5:
			w.net.Set("a", "b", remotetest.Mode{Drop: 0.3})
		case 8:
			w.net.SetBoth("a", "b", remotetest.Mode{})
		}
		w.pass(200 * time.Millisecond)
	}
	w.net.SetBoth("a", "b", remotetest.Mode{})
	for i := range many {
		b.sys.Stop(b.Local0(fmt.Sprint("/user/x", i)))
		if i%10 == 5 {
			w.net.Cut("a", "b")
		}
		w.pass(100 * time.Millisecond)
	}
	w.passUntil(func() bool { n, _ := a.seen.count("existed=true address=false"); return n == many })
	w.pass(5 * time.Second)
	if n, _ := a.seen.count("o: end of"); n != many {
		t.Errorf("%d ends were told", n)
	}
	a.never("quarantined")
	b.never("quarantined")
}

// RemoteGatePiercing: while a gate is closed the other node opens it from its side.
func TestRow40RemoteGatePiercing(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Settings.RetryGateClosedFor = time.Hour })
	b := w.start("B", func(c *Config) { c.Settings.RetryGateClosedFor = 100 * time.Millisecond })
	a.echo("echo")
	b.echo("echo")
	says(t, a.to(b, "/user/echo"), "up")
	w.net.Cut("a", "b")
	a.wait("gated B")
	a.to(b, "/user/echo").Tell("into the gate")
	a.wait("dead into the gate: gated")
	w.pass(time.Minute)
	a.to(b, "/user/echo").Tell("still closed")
	a.wait("dead still closed: gated")
	b.echo("who")
	w.passUntil(func() bool { // B's own gate opens soon
		b.to(a, "/user/echo").TellFrom("knock", b.Local0("/user/who"))
		n, _ := a.seen.count("associated B")
		return n >= 3 // with the disassociated
	})
	if got := says(t, a.to(b, "/user/echo"), "open"); got != "open" {
		t.Error(got)
	}
}

// RemoteQuarantinePiercing and PiercingShouldKeepQuarantine: only another incarnation comes through.
func TestRow40RemoteQuarantinePiercing(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	a.echo("echo")
	b.echo("echo")
	says(t, a.to(b, "/user/echo"), "up")
	a.Quarantine(b.address, b.UID())
	a.wait("quarantined B")
	b.wait("this system is quarantined by A")
	// B tries again, for longer than any gate.
	for range 30 {
		b.to(a, "/user/echo").Tell("knock")
		a.to(b, "/user/echo").Tell("for the quarantined")
		w.pass(time.Second)
	}
	if n, _ := a.seen.count("actor handled"); n != 0 {
		t.Error("?")
	}
	if n, _ := a.seen.count("associated B"); n < 1 {
		t.Error("never associated")
	}
	uid := b.UID()
	b.sys.Terminate()
	b.stopped()
	b2 := w.start("B", nil)
	if b2.UID() == uid {
		t.Fatal("the same uid")
	}
	b2.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply("new") }), "echo2")
	o := b2.observer("o")
	_ = o
	b2.reach(b2.to(a, "/user/echo"))
	if got := says(t, a.to(b2, "/user/echo2"), "hello"); got != "new" {
		t.Error(got)
	}
	if n, _ := b.seen.count("knock: "); n < 5 {
		t.Errorf("of 30 messages out of the quarantine %d became dead letters", n)
	}
}

// RemoteNodeRestartGate: a node that comes back while the gate is closed comes through.
func TestRow40RemoteNodeRestartGate(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Settings.RetryGateClosedFor = time.Hour })
	b := w.start("B", nil)
	a.echo("echo")
	b.echo("echo")
	says(t, a.to(b, "/user/echo"), "up")
	b.crash()
	a.wait("gated B")
	b2 := w.start("B", nil)
	b2.echo("echo")
	b2.reach(b2.to(a, "/user/echo"))
	if got := says(t, a.to(b2, "/user/echo"), "hello"); got != "hello" {
		t.Error(got)
	}
	a.never("quarantined by")
}

// RemoteNodeShutdownAndComesBack: system messages of before are not for the one who comes back.
func TestRow40RemoteNodeShutdownAndComesBack(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	x := b.observer("x")
	o := a.observer("o")
	ref := a.at(b.watchNode, x)
	do(o, func(ctx *actor.Context) { ctx.Watch(ref) })
	w.pass(2 * time.Second)
	b.sys.Terminate()
	a.passUntil("o: end of " + ref.String())
	b.stopped()
	b2 := w.start("B", nil)
	ref2 := a.at(b2.watchNode, b2.observer("x"))
	if d := a.reach(ref2); d > 15*time.Second {
		t.Errorf("back after %v", d)
	}
	do(o, func(ctx *actor.Context) { ctx.Watch(ref2) })
	w.pass(3 * time.Second)
	b2.sys.Stop(b2.Local0("/user/x"))
	a.passUntil("o: end of " + ref2.String() + " existed=true address=false")
	b2.never("bad system message")
}

// RemoteNodeRestartDeathWatch is in watcher_test.go. RemoteNodeDeathWatch: each way to end, each way to watch.
func TestRow40RemoteNodeDeathWatch(t *testing.T) {
	for _, how := range []string{"stop", "shutdown", "crash", "cable"} {
		t.Run(how, func(t *testing.T) {
			w := newRowWorld(t)
			a, b := w.start("A", nil), w.start("B", nil)
			ref := a.at(b.watchNode, b.observer("x"))
			other := a.at(b.watchNode, b.observer("y"))
			back := b.at(a.watchNode, a.observer("back"))
			o, o2, ob := a.observer("o"), a.observer("o2"), b.observer("ob")
			do(o, func(ctx *actor.Context) { ctx.Watch(ref); ctx.Watch(other); ctx.Unwatch(other) })
			do(o2, func(ctx *actor.Context) { ctx.Watch(ref) })
			do(ob, func(ctx *actor.Context) { ctx.Watch(back) })
			w.pass(3 * time.Second)
			existed := "existed=true address=false"
			switch how {
			case "stop":
				b.sys.Stop(b.Local0("/user/x"))
			case "shutdown":
				b.sys.Terminate()
			case "crash":
				b.crash()
				existed = "address=true"
			case "cable":
				w.net.SetBoth("a", "b", remotetest.Mode{Hold: true})
				existed = "address=true"
			}
			d := a.passUntil("o: end of " + ref.String())
			a.passUntil("o2: end of " + ref.String())
			a.wait(existed)
			if d > 30*time.Second {
				t.Errorf("after %v", d)
			}
			w.pass(3 * time.Second)
			a.never("o: end of " + other.String())
			if n, _ := a.seen.count(": end of"); n != 2 {
				t.Errorf("%d ends were told", n)
			}
			w.net.SetBoth("a", "b", remotetest.Mode{})
		})
	}
}

// RemoteRestartedQuarantined: a system that was cut off learns it, and its next start is welcome.
func TestRow40RemoteRestartedQuarantined(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	b.echo("echo")
	a.echo("echo")
	says(t, a.to(b, "/user/echo"), "up")
	w.net.SetBoth("a", "b", remotetest.Mode{Hold: true})
	a.Quarantine(b.address, b.UID())
	a.wait("quarantined B")
	w.pass(200 * time.Millisecond)
	w.net.SetBoth("a", "b", remotetest.Mode{})
	w.passUntil(func() bool {
		b.to(a, "/user/echo").Tell("knock")
		n, _ := b.seen.count("this system is quarantined by A")
		return n > 0
	})
	b.sys.Terminate()
	b.stopped()
	b2 := w.start("B", nil)
	b2.echo("echo")
	b2.reach(b2.to(a, "/user/echo"))
	if got := says(t, a.to(b2, "/user/echo"), "again"); got != "again" {
		t.Error(got)
	}
}

// RemoteDelivery: three nodes pass messages round, in order.
func TestRow40RemoteDelivery(t *testing.T) {
	w := newRowWorld(t)
	nodes := []*rowNode{w.start("A", nil), w.start("B", nil), w.start("C", nil)}
	const many = 3000
	var mu sync.Mutex
	var got []string
	for i, n := range nodes {
		next := n.to(nodes[(i+1)%3], "/user/pass")
		n.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
			if m := msg.(string); strings.Count(m, ">") < 4 {
				ctx.Tell(next, m+">"+n.host)
				return
			}
			mu.Lock()
			got = append(got, msg.(string))
			mu.Unlock()
		}), "pass")
	}
	first := nodes[2].to(nodes[0], "/user/pass")
	for i := range many {
		first.Tell(fmt.Sprint(i))
	}
	w.passUntil(func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == many })
	for i, m := range got {
		if want := fmt.Sprintf("%d>a>b>c>a", i); m != want {
			t.Fatalf("%s came in place of %s", m, want)
		}
	}
}

// TransportFail: a connection that fails without an end of a watched node's system, and is made again.
func TestRow40TransportFail(t *testing.T) {
	w := newRowWorld(t)
	fast := func(c *Config) {
		c.Settings.HeartbeatInterval, c.Settings.AcceptableHeartbeatPause = time.Second, 2*time.Second
	}
	a, b := w.start("A", fast), w.start("B", fast)
	ref := a.at(b.watchNode, b.observer("x"))
	do(a.observer("o"), func(ctx *actor.Context) { ctx.Watch(ref) })
	w.pass(5 * time.Second)
	// The heartbeats of the transport stop before remote watch gives up.
	w.net.SetBoth("a", "b", blackhole)
	a.passUntil("disassociated B Unknown: no heartbeat")
	w.net.SetBoth("a", "b", remotetest.Mode{})
	w.pass(15 * time.Second)
	a.never("quarantined")
	a.never("end of")
	says(t, ref, "who")
	b.sys.Stop(b.Local0("/user/x"))
	a.passUntil("o: end of " + ref.String() + " existed=true address=false")
}

// Rows 18 and 40 end to end: both dial at the same time, again and again, and one connection is written on.
func TestRow18SimultaneousDial(t *testing.T) {
	w := newRowWorld(t)
	a, b := w.start("A", nil), w.start("B", nil)
	var lists [2]struct {
		sync.Mutex
		got []string
	}
	for i, n := range []*rowNode{a, b} {
		n.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) {
			lists[i].Lock()
			lists[i].got = append(lists[i].got, msg.(string))
			lists[i].Unlock()
		}), "list")
		n.observer("x")
	}
	w.net.SetBoth("a", "b", remotetest.Mode{Delay: 300 * time.Millisecond})
	// B's messages to A are more than a connection keeps until it has a reader.
	pad := strings.Repeat("x", 10_000)
	toB, toA := a.to(b, "/user/list"), b.to(a, "/user/list")
	const many = 300
	for i := range many {
		toB.Tell(fmt.Sprint(i, pad))
		toA.Tell(fmt.Sprint(i, pad))
	}
	for i := range lists {
		w.passUntil(func() bool { lists[i].Lock(); defer lists[i].Unlock(); return len(lists[i].got) >= many })
		for k, m := range lists[i].got {
			if !strings.HasPrefix(m, fmt.Sprint(k, "x")) {
				t.Fatalf("%.10s in place of %d", m, k)
			}
		}
	}
	a.never("gated")
	b.never("gated")
}

// A connection whose reader is not there yet pauses at its limit, and goes on when there is one.
func TestRow18PausedConnectionAttaches(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Settings.HoldLimit = 1000 })
	b := w.start("B", nil)
	got := make(chan int, 1000)
	a.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) { got <- len(msg.(string)) }), "size")
	// A dials an address where B is not: what comes from B meanwhile waits until it is known who that is.
	w.net.Set("a", "b", remotetest.Mode{Hold: true})
	a.to(b, "/user/none").Tell("dial")
	assocOf := a.association(b.address)
	w.passUntil(func() bool {
		assocOf.mu.Lock()
		defer assocOf.mu.Unlock()
		return assocOf.state.State() == assoc.StatePending
	})
	w.net.Set("a", "b", remotetest.Mode{})
	to := b.to(a, "/user/size")
	const many = 200
	for range many {
		to.Tell(strings.Repeat("x", 5000))
	}
	n := 0
	w.passUntil(func() bool {
		for {
			select {
			case <-got:
				n++
			default:
				return n == many
			}
		}
	})
}
