package akka

import (
	"bytes"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

const sysMsg = "Akka.Dispatch.SysMsg."

// watchBody is a Watch or an Unwatch.
func watchBody(kind, watchee, watcher string) body {
	return body{22, sysMsg + kind + ", Akka", join(bytesField(1, textField(1, watchee)), bytesField(2, textField(1, watcher)))}
}

// ack is an acknowledgement that came.
type ack struct {
	cumulative uint64
	nacks      []uint64
}

// ackOf reads the acknowledgement of a payload, if it has one.
func ackOf(t *testing.T, p *pdu) *ack {
	t.Helper()
	if p == nil || p.command != 0 || !p.fields.has(1) {
		return nil
	}
	f := p.fields.sub(t, 1)
	a := &ack{cumulative: f.numbers[1]}
	for b := f.bytes[2]; len(b) >= 8; b = b[8:] {
		a.nacks = append(a.nacks, binary.LittleEndian.Uint64(b))
	}
	return a
}

// ack waits for an acknowledgement.
func (c *wire) ack(limit time.Duration) ack {
	c.t.Helper()
	for deadline := time.Now().Add(limit); ; {
		p := c.next(time.Until(deadline))
		if p == nil {
			c.t.Fatal("the connection ended, want an acknowledgement")
		}
		if a := ackOf(c.t, p); a != nil {
			return *a
		}
	}
}

// notification wants a DeathWatchNotification for a path and returns its letter.
func (c *wire) notification(to, of string, existence uint64) *letter {
	c.t.Helper()
	l := c.letter(patience, func(l *letter) bool { return l.body.id == 22 && l.to == to })
	f, err := parse(l.body.data)
	if err != nil || l.body.manifest != sysMsg+"DeathWatchNotification, Akka" {
		c.t.Fatalf("%s", l)
	}
	got := string(f.sub(c.t, 1).bytes[1])
	// Where the watcher named no uid, the answer may have it or not.
	if got != of && (strings.Contains(of, "#") || withoutUID(got) != of) || f.numbers[2] != existence || f.numbers[3] != 0 {
		c.t.Errorf("%s ended (existence %d, address %d), want %s (existence %d)", got, f.numbers[2], f.numbers[3], of, existence)
	}
	return l
}

// TestSystemMessages drives acknowledged delivery by hand.
func TestSystemMessages(t *testing.T) {
	t.Parallel()
	n := target(t)
	send := func(r *raw, to string, m body, seq uint64) {
		r.conn.send(payload(container(envelope(to, m, "", seq))))
	}
	t.Run("watch", func(t *testing.T) {
		r := dialRaw(t, n)
		path, watcher := n.spawn(t, "raw-watched"), r.path("/system/remote-watcher#7")
		// Number 0 without field 5, as .NET writes it.
		m := watchBody("Watch", path, watcher)
		r.conn.send(payload(container(join(bytesField(1, textField(1, path)), bytesField(2, m.encode())))))
		started := time.Now()
		if a := r.conn.ack(5 * time.Second); a.cumulative != 0 || len(a.nacks) > 0 {
			t.Errorf("number 0 is acknowledged with %v", a)
		}
		if d := time.Since(started); d > 3*time.Second {
			t.Errorf("the acknowledgement took %v", d)
		}
		// The same once more is a duplicate, which is acknowledged again.
		send(r, path, m, 0)
		if a := r.conn.ack(5 * time.Second); a.cumulative != 0 || len(a.nacks) > 0 {
			t.Errorf("number 0, twice, is acknowledged with %v", a)
		}
		n.do("stop", "name", "raw-watched")
		l := r.conn.notification(watcher, path, 1)
		if l.seq != 0 || l.hasSender {
			t.Errorf("the first notification is %s", l)
		}
		// Unacknowledged, it comes again; acknowledged, no more.
		if again := r.conn.notification(watcher, path, 1); again.seq != 0 {
			t.Errorf("the notification comes again as %s", again)
		}
		r.conn.send(payload(bytesField(1, nil)))
		r.ask(r.conn)
		quiet(t, r.conn, 3*time.Second)
	})
	t.Run("watch by uid", func(t *testing.T) {
		r := dialRaw(t, n)
		path, watcher := n.spawn(t, "raw-uid"), r.path("/user/someone#9")
		whole := withUID(t, r, path)
		send(r, whole, watchBody("Watch", whole, watcher), 0)
		r.conn.ack(5 * time.Second)
		n.do("stop", "name", "raw-uid")
		r.conn.notification(watcher, whole, 1)
	})
	t.Run("unwatch", func(t *testing.T) {
		r := dialRaw(t, n)
		path, watcher := n.spawn(t, "raw-unwatched"), r.path("/system/remote-watcher#7")
		whole := withUID(t, r, path)
		send(r, whole, watchBody("Watch", whole, watcher), 0)
		send(r, whole, watchBody("Unwatch", whole, watcher), 1)
		for r.conn.ack(5*time.Second).cumulative != 1 {
		}
		n.do("stop", "name", "raw-unwatched")
		if n.kind == golang { // Akka.NET 1.5.74 notifies all the same; the watcher does not mind
			quiet(t, r.conn, 1500*time.Millisecond)
		}
	})
	t.Run("watch of who has gone", func(t *testing.T) {
		r := dialRaw(t, n)
		watcher := r.path("/system/remote-watcher#7")
		stale := n.path("/user/echo#5")
		send(r, stale, watchBody("Watch", stale, watcher), 0)
		r.conn.notification(watcher, stale, 0)
		nobody := n.path("/user/nobody")
		send(r, nobody, watchBody("Watch", nobody, watcher), 1)
		r.conn.send(payload(bytesField(1, nil)))
		r.conn.notification(watcher, nobody, 0)
	})
	t.Run("gap", func(t *testing.T) {
		r := dialRaw(t, n)
		path, watcher := n.spawn(t, "raw-gap"), r.path("/system/remote-watcher#7")
		whole := withUID(t, r, path)
		// Unwatch overtakes Watch: it has to wait for its turn.
		send(r, whole, watchBody("Unwatch", whole, watcher), 1)
		if a := r.conn.ack(5 * time.Second); a.cumulative != 1 || !slices.Equal(a.nacks, []uint64{0}) {
			t.Errorf("number 1 alone is acknowledged with %v", a)
		}
		send(r, whole, watchBody("Watch", whole, watcher), 0)
		if a := r.conn.ack(5 * time.Second); a.cumulative != 1 || len(a.nacks) > 0 {
			t.Errorf("numbers 1, 0 are acknowledged with %v", a)
		}
		n.do("stop", "name", "raw-gap")
		if n.kind == golang {
			quiet(t, r.conn, 1500*time.Millisecond)
		}
	})
	t.Run("new connection", func(t *testing.T) {
		// What was not acknowledged comes again on the next connection of the same peer.
		r := dialRaw(t, n)
		path, watcher := n.spawn(t, "raw-again"), r.path("/system/remote-watcher#7")
		whole := withUID(t, r, path)
		send(r, whole, watchBody("Watch", whole, watcher), 0)
		r.conn.ack(5 * time.Second)
		n.do("stop", "name", "raw-again")
		r.conn.notification(watcher, whole, 1)
		r.conn.Close()
		r.conn = r.associate()
		letters := r.gather(t, r.conn)
		if l := first(t, letters, func(l *letter) bool { return l.body.id == 22 && l.to == watcher }); l.seq != 0 {
			t.Errorf("the notification comes again as %s", l)
		}
		// And what came before is known: number 0 is a duplicate, number 1 the next.
		other := n.path("/user/nobody")
		send(r, other, watchBody("Watch", other, watcher), 0)
		send(r, other, watchBody("Watch", other, watcher), 1)
		if l := first(t, letters, func(l *letter) bool { return l.body.id == 22 && l.seq == 1 }); l.to != watcher {
			t.Errorf("number 1 on the second connection is answered with %s", l)
		}
	})
}

// gather receives the messages of these connections and of those that the node dials from now on.
func (r *raw) gather(t *testing.T, conns ...*wire) <-chan *letter {
	letters := make(chan *letter, 100)
	read := func(c *wire) {
		for {
			p, err := c.read(2 * patience)
			if err != nil || p == nil {
				return
			}
			if l := letterOf(t, p); l != nil {
				select {
				case letters <- l:
				default:
				}
			}
		}
	}
	for _, c := range conns {
		go read(c)
	}
	go func() {
		for {
			nc, err := r.listener.Accept()
			if err != nil {
				return
			}
			c := &wire{t, nc}
			c.send(r.associatePDU())
			go read(c)
		}
	}()
	t.Cleanup(func() { r.listener.Close() })
	return letters
}

// first waits for a message that fits.
func first(t *testing.T, letters <-chan *letter, fits func(*letter) bool) *letter {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case l := <-letters:
			if fits(l) {
				return l
			}
		case <-deadline:
			t.Fatal("the message does not come")
		}
	}
}

// askAnywhere asks on the first connection, again and again; the answer may come on any.
func (r *raw) askAnywhere(t *testing.T, conns ...*wire) {
	t.Helper()
	letters := r.gather(t, conns...)
	asker := r.path("/temp/" + nextID())
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conns[0].send(payload(container(envelope(r.to.path("/user/echo"), text("anywhere"), asker, noSeq))))
		wait := time.After(500 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case l := <-letters:
				if l.to == asker {
					return
				}
			case <-wait:
				waiting = false
			}
		}
	}
	t.Error("no answer on any connection")
}

// quiet wants no system message for some time.
func quiet(t *testing.T, c *wire, d time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(d); ; {
		p, err := c.read(time.Until(deadline))
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			return
		}
		if err != nil || p == nil {
			t.Fatalf("%v, %v", p, err)
		}
		if l := letterOf(t, p); l != nil && l.body.id == 22 {
			t.Errorf("unwanted: %s", l)
		}
	}
}

// withUID asks an actor for its path.
func withUID(t *testing.T, r *raw, path string) string {
	t.Helper()
	f, err := parse(r.once(t, path, body{16, "ID", nil}).body.data)
	if err != nil || !strings.HasPrefix(string(f.bytes[2]), path+"#") {
		t.Fatalf("%s identifies as %q", path, f.bytes[2])
	}
	return string(f.bytes[2])
}

// TestIncarnations comes again from one address: with another uid, with the old one, after a reset, and twice at once.
func TestIncarnations(t *testing.T) {
	t.Parallel()
	n := target(t)
	t.Run("new uid", func(t *testing.T) {
		r := dialRaw(t, n)
		r.ask(r.conn)
		old, oldUID := r.conn, r.uid
		r.uid += 1 << 20
		r.conn = r.associate()
		r.ask(r.conn)
		old.ends(true)
		// The old incarnation is a ghost.
		newUID := r.uid
		r.uid = oldUID
		ghost := r.dial()
		ghost.send(r.associatePDU())
		r.welcome(ghost)
		if p := ghost.next(patience); p == nil || p.command != cmdQuarantined {
			t.Errorf("the old incarnation is told %v", p)
		}
		ghost.ends(false)
		// The new one is not disturbed by it.
		r.uid = newUID
		r.ask(r.conn)
	})
	t.Run("reset", func(t *testing.T) {
		r := dialRaw(t, n)
		r.ask(r.conn)
		_ = r.conn.Conn.(*net.TCPConn).SetLinger(0)
		r.conn.Close()
		r.conn = r.associate()
		r.ask(r.conn)
	})
	t.Run("closed", func(t *testing.T) {
		r := dialRaw(t, n)
		r.ask(r.conn)
		r.conn.Close()
		// The answer may come on a connection that the node dials.
		r.conn = r.associate()
		r.askAnywhere(t, r.conn)
	})
	t.Run("second connection", func(t *testing.T) {
		// Both are read. Answers go to the one that the node writes on.
		r := dialRaw(t, n)
		r.ask(r.conn)
		second := r.associate()
		r.askAnywhere(t, second, r.conn)
	})
	t.Run("quarantined by us", func(t *testing.T) {
		r := dialRaw(t, n)
		r.ask(r.conn)
		since := n.mark()
		r.conn.send(control(cmdQuarantined))
		r.conn.ends(false)
		n.expectSince(t, since, patience, "lifecycle", "kind", "ThisActorSystemQuarantinedEvent")
	})
}

// accept waits for the node to dial.
func (r *raw) accept(t *testing.T) *wire {
	t.Helper()
	_ = r.listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	c, err := r.listener.Accept()
	if err != nil {
		t.Fatalf("the node does not dial: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return &wire{t, c}
}

// TestDialed lets the node dial the raw peer.
func TestDialed(t *testing.T) {
	t.Parallel()
	n := target(t)
	// expected is the frame with which the node has to begin, byte for byte.
	expected := (&raw{system: n.name, protocol: "tcp", port: n.port(t), uid: uint64(n.uid)}).associatePDU()
	tell := func(r *raw, what string) {
		n.do("tell", "to", r.path("/user/someone"), "type", "string", "value", what)
	}
	dialed := func(t *testing.T, r *raw, what string) *wire {
		t.Helper()
		tell(r, what)
		c := r.accept(t)
		if p := c.next(patience); p == nil || !bytes.Equal(p.raw, expected) {
			t.Fatalf("the node begins with %v, want %x", p, expected)
		}
		return c
	}
	t.Run("message", func(t *testing.T) {
		r := newRaw(t, n)
		c := dialed(t, r, "first")
		c.send(r.associatePDU())
		l := c.letter(patience, func(l *letter) bool { return l.body.id == 6 })
		f, err := parse(l.body.data)
		if err != nil || l.to != r.path("/") || l.seq != noSeq || !strings.HasPrefix(l.sender, n.path("/user/collector#")) || len(f.lists[2]) != 2 {
			t.Fatalf("%s", l)
		}
		inner := f.sub(t, 1)
		if string(inner.bytes[1]) != "first" || inner.numbers[2] != 17 || string(inner.bytes[3]) != "System.String, System.Private.CoreLib" {
			t.Errorf("%s", l)
		}
		if hex := f.lists[2][1]; !bytes.Equal(hex, join(varintField(1, 2), textField(2, "someone"))) {
			t.Errorf("the second element of the selection is %x", hex)
		}
		// An answer on the connection that the node dialed; and the sender of the first message is a way back.
		c.send(payload(container(envelope(l.sender, text("to the collector"), r.path("/user/someone"), noSeq))))
		n.expect(t, patience, "received", "value", "to the collector", "sender", r.path("/user/someone"))
		r.ask(c)
	})
	t.Run("heartbeat first", func(t *testing.T) {
		r := newRaw(t, n)
		c := dialed(t, r, "x")
		c.send(control(cmdHeartbeat))
		c.ends(true)
	})
	t.Run("message first", func(t *testing.T) {
		r := newRaw(t, n)
		c := dialed(t, r, "x")
		c.send(payload(container(envelope(n.path("/user/collector"), text("too early"), "", noSeq))))
		c.ends(true)
		n.refuse(t, 0, 0, "received", "value", "too early")
	})
	t.Run("refused", func(t *testing.T) {
		r := newRaw(t, n)
		c := dialed(t, r, "x")
		c.send(control(cmdDisassociate))
		c.ends(false)
		// The address is gated for a second, and dialed again after it.
		deadline := time.Now().Add(patience)
		again := make(chan *wire, 1)
		go func() {
			if nc, err := r.listener.Accept(); err == nil {
				again <- &wire{t, nc}
			}
		}()
		for {
			tell(r, "again")
			select {
			case c := <-again:
				defer c.Close()
				if p := c.next(patience); p == nil || p.command != cmdAssociate {
					t.Errorf("the node begins with %v", p)
				}
				return
			case <-time.After(300 * time.Millisecond):
				if time.Now().After(deadline) {
					t.Fatal("the node does not dial again")
				}
			}
		}
	})
	t.Run("quarantined uid", func(t *testing.T) {
		r := newRaw(t, n)
		c := dialed(t, r, "x")
		c.send(r.associatePDU())
		c.letter(patience, func(*letter) bool { return true })
		n.do("quarantine", "address", r.address(), "uid", r.uid, "id", r.system)
		n.expect(t, patience, "quarantine-set", "id", r.system)
		for p := c.next(patience); p != nil; p = c.next(patience) {
		}
		// The node dials again, for another incarnation might be there. The old one is refused.
		c = dialed(t, r, "y")
		c.send(r.associatePDU())
		if p := c.next(patience); p == nil || p.command != cmdQuarantined {
			t.Errorf("the quarantined incarnation is told %v", p)
		}
		c.ends(false)
		r.uid += 1 << 20
		time.Sleep(1500 * time.Millisecond) // the gate
		c = dialed(t, r, "z")
		c.send(r.associatePDU())
		r.ask(c)
	})
}

// TestWatcher lets the node watch an actor of the raw peer: Watch, heartbeats, Watch again, the end.
func TestWatcher(t *testing.T) {
	t.Parallel()
	n := target(t)
	r := newRaw(t, n)
	path, whole := r.path("/user/precious"), r.path("/user/precious#77")
	n.do("watch", "path", path)
	c := r.accept(t)
	c.next(patience)
	c.send(r.associatePDU())
	question := c.letter(patience, func(l *letter) bool { return l.body.id == 6 })
	selection, err := parse(question.body.data)
	if err != nil {
		t.Fatal(err)
	}
	// Identify with an id: it comes back untouched.
	inner, err := parse(selection.sub(t, 1).bytes[1])
	if err != nil {
		t.Fatal(err)
	}
	answer := body{16, "AID", join(bytesField(1, inner.bytes[1]), textField(2, whole))}
	c.send(payload(container(envelope(question.sender, answer, whole, noSeq))))
	n.expect(t, patience, "watching", "path", whole)
	isWatch := func(l *letter) bool { return l.body.manifest == sysMsg+"Watch, Akka" }
	isHeartbeat := func(l *letter) bool { return l.body.id == 6 && bytes.Contains(l.body.data, []byte("RWHB")) }
	first := c.letter(patience, isWatch)
	watch, err := parse(first.body.data)
	if err != nil {
		t.Fatal(err)
	}
	watcher := string(watch.sub(t, 2).bytes[1])
	if first.seq != 0 || first.to != whole || first.hasSender || string(watch.sub(t, 1).bytes[1]) != whole || !strings.HasPrefix(watcher, n.path("/system/remote-watcher#")) {
		t.Errorf("the first system message is %s", first)
	}
	c.send(payload(bytesField(1, nil)))
	beat := c.letter(patience, isHeartbeat)
	if beat.to != r.path("/") || beat.sender != watcher || beat.seq != noSeq {
		t.Errorf("the heartbeat is %s", beat)
	}
	alive := func() {
		c.send(payload(container(envelope(watcher, body{16, "RWHR", varintField(1, r.uid)}, r.path("/system/remote-watcher#5"), noSeq))))
	}
	alive()
	// The first answer makes it watch again, with the next number.
	second := c.letter(patience, isWatch)
	if second.seq != 1 || !bytes.Equal(second.body.data, first.body.data) {
		t.Errorf("after the first heartbeat comes %s", second)
	}
	c.send(payload(bytesField(1, fixedField(1, 1))))
	for range 2 {
		c.letter(patience, isHeartbeat)
		alive()
	}
	end := body{22, sysMsg + "DeathWatchNotification, Akka", join(bytesField(1, textField(1, whole)), varintField(2, 1))}
	c.send(payload(container(envelope(watcher, end, "", 0))))
	n.expect(t, patience, "terminated", "path", whole, "existence", true, "addressTerminated", false)
	// Nothing is watched any more: the heartbeats stop.
	time.Sleep(2500 * time.Millisecond)
	_ = c.SetReadDeadline(time.Now())
	for {
		if p, err := c.read(100 * time.Millisecond); err != nil || p == nil {
			break
		}
	}
	deadline := time.Now().Add(3 * time.Second)
	for {
		p, err := c.read(time.Until(deadline))
		if err != nil {
			break
		}
		if l := letterOf(t, p); l != nil && isHeartbeat(l) {
			t.Errorf("nothing is watched, and %s", l)
			break
		}
	}
}
