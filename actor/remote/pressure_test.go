package remote

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/remote/remotetest"
)

// count reads frames until the end or until enough messages have come, and returns how many came, and their order.
func (p *rawPeer) messages(enough func(n int) bool) (bodies []string) {
	p.t.Helper()
	for !enough(len(bodies)) {
		b, err := p.frame()
		if err != nil {
			p.t.Fatalf("after %d messages: %v", len(bodies), err)
		}
		var m akkapb.AkkaControlMessage
		payload, err := akkapb.DecodePDU(b, &m)
		if err != nil || payload == nil {
			continue
		}
		var c akkapb.AckAndEnvelopeContainer
		if err := c.Decode(payload); err != nil {
			p.t.Fatal(err)
		}
		if c.HasEnvelope {
			bodies = append(bodies, string(c.Envelope.Message.Message))
		}
	}
	return bodies
}

// A peer that does not read costs SendLimit bytes; what comes then is a dead letter that says so, and what was taken arrives.
func TestPressureSendLimit(t *testing.T) {
	const limit, size, many = 1 << 20, 50_000, 600
	address, _, come := rawListener(t, true)
	a := newLoopNode(t, func(c *Config) { c.SendLimit = limit })
	var dead, other atomic.Int64
	actor.SubscribeFunc(a.sys, func(d actor.DeadLetter) {
		if d.Reason == "overflow" && strings.HasPrefix(d.Message.(string), "m") {
			dead.Add(1)
		} else {
			other.Add(1)
		}
	})
	to := a.to(t, address, "/user/x")
	to.Tell("first")
	p := wait(t, come)
	p.messages(func(n int) bool { return n == 1 })
	pad := strings.Repeat("x", size)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range many {
		to.Tell(fmt.Sprintf("m%d %s", i, pad))
	}
	c := a.association(to.Path().Address()).writer.Load()
	c.mu.Lock()
	room := cap(c.out.last) + cap(c.out.spare)
	for _, piece := range c.out.full {
		room += cap(piece)
	}
	c.mu.Unlock()
	if room > 4*limit {
		t.Errorf("%d bytes of room for a limit of %d", room, limit)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 12*limit {
		t.Errorf("%d bytes more are in use", grown)
	}
	// The subscriber is an actor: it may be late.
	settled := func() bool { n := dead.Load(); time.Sleep(20 * time.Millisecond); return n > 0 && n == dead.Load() }
	for end := time.Now().Add(watchWait); !settled(); {
		if time.Now().After(end) {
			t.Fatal("no dead letters")
		}
	}
	lost := int(dead.Load())
	if lost < many/4 || other.Load() != 0 {
		t.Errorf("%d dead letters of overflow, %d others", lost, other.Load())
	}
	last := -1
	for _, m := range p.messages(func(n int) bool { return n == many-lost }) {
		var i int
		if _, err := fmt.Sscanf(m, "m%d ", &i); err != nil || i <= last {
			t.Fatalf("%.10q after %d", m, last)
		}
		last = i
	}
	to.Tell("again")
	if got := p.messages(func(n int) bool { return n == 1 }); got[0] != "again" {
		t.Errorf("got %.20q", got)
	}
	if n, _ := a.seen.count("log ERROR"); n > 20 {
		t.Errorf("%d lines of errors", n)
	}
}

// One actor floods a peer that does not read, and talks to another meanwhile: that one is not held up, nor is the actor.
func TestPressureSlowPeerStallsNobody(t *testing.T) {
	address, _, come := rawListener(t, true)
	a := newLoopNode(t, func(c *Config) { c.SendLimit = 1 << 20 })
	b := newLoopNode(t, nil)
	b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), "echo")
	slow := a.to(t, address, "/user/x")
	fast := a.to(t, b.address.String(), "/user/echo")
	slow.Tell("first")
	wait(t, come)
	const many = 2000
	done := make(chan time.Duration, 1)
	pad := strings.Repeat("x", 10_000)
	var left, longest = many, time.Duration(0)
	var sent time.Time
	a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		if !sent.IsZero() {
			longest = max(longest, time.Since(sent))
		}
		if left--; left == 0 {
			done <- longest
			return
		}
		for range 5 {
			ctx.Tell(slow, pad)
		}
		sent = time.Now()
		ctx.Tell(fast, "ping")
	}), "both").Tell("go")
	select {
	case d := <-done:
		t.Logf("100 MB for a peer that does not read: the longest round trip with another took %v", d)
		if d > 5*time.Second {
			t.Errorf("the longest round trip took %v", d)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the other peer is stalled")
	}
}

// An actor that sends and then goes on working for long does not keep what it and others have sent.
func TestPressureLongTurnHoldsNothingBack(t *testing.T) {
	a, b := newLoopNode(t, nil), newLoopNode(t, nil)
	got := make(chan any, 10)
	b.sys.MustSpawn(actor.FromFunc(func(_ *actor.Context, msg any) { got <- msg }), "x")
	to := a.to(t, b.address.String(), "/user/x")
	to.Tell("first")
	wait(t, got)
	goOn := make(chan struct{})
	sent := make(chan struct{})
	a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, _ any) {
		ctx.Tell(to, "from a long turn")
		close(sent)
		<-goOn
	}), "long").Tell("go")
	wait(t, sent)
	to.Tell("from elsewhere")
	for _, want := range []string{"from a long turn", "from elsewhere"} {
		if m := wait(t, got); m != want {
			t.Errorf("got %v, not %s", m, want)
		}
	}
	close(goOn)
}

// With no connection to a peer a bounded number of messages waits for it; then the gate, and then all is well again.
func TestPressureWhileDialing(t *testing.T) {
	w := newRowWorld(t)
	a := w.start("A", func(c *Config) { c.Settings.PendingSendLimit = 100 })
	b := w.start("B", nil)
	b.observer("x")
	to := a.to(b, "/user/x")
	w.net.SetBoth("a", "b", remotetest.Mode{Hold: true})
	for i := range 300 {
		to.Tell(fmt.Sprint("m", i))
	}
	a.waitFor("overflow", 200)
	d := a.passUntil("gated B")
	if d > 20*time.Second {
		t.Errorf("gated after %v", d)
	}
	a.waitFor(": dial failed", 100)
	to.Tell("gate")
	a.wait("dead gate: gated")
	w.net.SetBoth("a", "b", remotetest.Mode{})
	if d := a.reach(to); d > 10*time.Second {
		t.Errorf("back after %v", d)
	}
	b.never("x: m")
}

// A peer that names many nodes makes no associations with them.
func TestPressureNamedNodes(t *testing.T) {
	a := newLoopNode(t, nil)
	got := make(chan *actor.Ref, 1)
	a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		if msg == "last" {
			got <- ctx.Sender()
		}
	}), "x")
	p := dialRaw(t, a.address, 1, 7)
	f := akkapb.Framing{}
	const many = 20_000
	to := akkapb.RecipientField([]byte(a.address.String() + "/user/x"))
	var buf []byte
	for i := range many + 1 {
		msg := "m"
		if i == many {
			msg = "last"
		}
		o := akkapb.Outbound{
			To: to, From: akkapb.SenderField(fmt.Appendf(nil, "akka.tcp://N%d@10.1.1.1:%d/user/%s", i, 1+i%60000, strings.Repeat("y", i%2000))),
			SerializerID: primitives, Manifest: akkapb.ManifestField("S"),
		}
		buf = o.AppendFrameString(buf, f, msg)
	}
	p.send(buf)
	if s := wait(t, got); s == nil || s.Path().Address().System() != fmt.Sprint("N", many) {
		t.Errorf("the sender is %s", s)
	}
	if n := len(a.all()); n != 1 {
		t.Errorf("there are %d associations", n)
	}
}
