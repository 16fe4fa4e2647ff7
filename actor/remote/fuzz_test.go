package remote

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/remote/remotetest"
	"github.com/actua/actua/actor/serial"
)

// oddFrame is an envelope as a peer may write it.
type oddFrame struct {
	to, from string
	id       int32
	manifest string
	body     string
	seq      uint64
	reliable bool
	noSender bool
}

func (o oddFrame) bytes(addr string) []byte {
	full := func(path string) []byte {
		if strings.HasPrefix(path, "/") {
			path = addr + path
		}
		return []byte(path)
	}
	out := akkapb.Outbound{To: akkapb.RecipientField(full(o.to)), SerializerID: o.id, Reliable: o.reliable, Seq: o.seq}
	if !o.noSender {
		if o.from == "" {
			o.from = "akka.tcp://R@127.0.0.1:1/user/r"
		}
		out.From = akkapb.SenderField([]byte(o.from))
	}
	if o.manifest != "" {
		out.Manifest = akkapb.ManifestField(o.manifest)
	}
	return out.AppendFrameString(nil, akkapb.Framing{Max: 1 << 20}, o.body)
}

func rawFrame(body string) []byte { return akkapb.Framing{}.AppendFrame(nil, []byte(body)) }

// selectionFrame is one of a message "s" to a selection of these names.
func selectionBody(names ...string) string {
	r := serial.NewRegistry(serial.Options{})
	m := serial.Selection{Message: "s"}
	for _, n := range names {
		kind := serial.SelectChildName
		switch {
		case n == "..":
			kind, n = serial.SelectParent, ""
		case strings.ContainsAny(n, "*?"):
			kind = serial.SelectChildPattern
		}
		m.Elements = append(m.Elements, serial.SelectionElement{Kind: kind, Matcher: n})
	}
	b, _, _, err := r.Append(nil, m, &serial.Exchange{Registry: r})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestOddFrames sends what a live Akka.NET node was sent; the answers are the same.
func TestOddFrames(t *testing.T) {
	const lives, ends, silent = "lives", "DISASSOCIATE and the end", "the end without a word"
	a := newLoopNode(t, func(c *Config) { c.Dial = noDial })
	got := make(chan any, 100)
	a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { got <- msg; ctx.Reply(msg) }), "x")
	addr := a.address.String()
	const watchee = "Akka.Dispatch.SysMsg.Watch, Akka"
	text := func(to string) oddFrame { return oddFrame{to: to, id: 17, manifest: "S", body: "odd"} }
	with := func(f oddFrame, change func(*oddFrame)) []byte { change(&f); return f.bytes(addr) }
	for i, c := range []struct {
		what      string
		b         []byte
		want      string
		delivered bool
	}{
		{"an ordinary message", text("/user/x").bytes(addr), lives, true},
		{"a recipient of another system", text("akka.tcp://Other@127.0.0.1:" + strconv.Itoa(a.address.Port()) + "/user/x").bytes(addr), lives, false},
		{"another name of the host", text("akka.tcp://S@localhost:" + strconv.Itoa(a.address.Port()) + "/user/x").bytes(addr), lives, false},
		{"the local form", text("akka://S/user/x").bytes(addr), lives, true},
		{"a recipient that is no path", text("nonsense").bytes(addr), lives, false},
		{"no sender", with(text("/user/x"), func(f *oddFrame) { f.noSender = true }), lives, true},
		{"an unknown manifest", with(text("/user/x"), func(f *oddFrame) { f.manifest = "Q" }), lives, false},
		{"an unknown serializer", with(text("/user/x"), func(f *oddFrame) { f.id = 99 }), lives, false},
		{"a null message", with(text("/user/x"), func(f *oddFrame) { f.id, f.manifest, f.body = 0, "", "" }), lives, false},
		{"a negative serializer", with(text("/user/x"), func(f *oddFrame) { f.id = -5 }), lives, false},
		{"an unknown type", with(text("/user/x"), func(f *oddFrame) { f.id, f.manifest, f.body = 1, "", `{"$type":"Evil.Type, evil"}` }), lives, false},
		{"a sender in local form", with(text("/user/x"), func(f *oddFrame) { f.from = "akka://R/user/r" }), ends, false},
		{"a sender that is no path", with(text("/user/x"), func(f *oddFrame) { f.from = "nonsense" }), ends, false},
		{"no message", rawFrame("\x0a\x04\x12\x02\x0a\x00"), ends, false},
		{"an undecodable container", rawFrame("\x0a\x03\xff\xff\xff"), ends, false},
		{"a malformed system message", oddFrame{to: "/user/x", id: 22, manifest: watchee, body: "\xff", reliable: true}.bytes(addr), ends, false},
		{"no system message", oddFrame{to: "/user/x", id: 17, manifest: "S", body: "s", reliable: true}.bytes(addr), ends, false},
		{"an undecodable PDU", rawFrame("\xff\xff"), silent, false},
		{"an unknown command", rawFrame("\x12\x02\x08\x09"), silent, false},
		{"a negative length", []byte{0xff, 0xff, 0xff, 0xff}, silent, false},
		{"too large a length", []byte{0xfd, 0xf3, 0x01, 0x00}, silent, false}, // 127 997
		{"an empty frame", []byte{0, 0, 0, 0}, lives, false},
		{"a second ASSOCIATE", associateFrame(1, 7), lives, false},
		{"an acknowledgement of nothing", rawFrame("\x0a\x0b\x0a\x09\x09\x63\x00\x00\x00\x00\x00\x00\x00"), lives, false},
		{"a heartbeat", rawFrame("\x12\x02\x08\x03"), lives, false},
	} {
		p := dialRaw(t, a.address, 1000+i, 7+i) // a fresh address and uid each
		p.send(c.b)
		if c.want == lives {
			p.send(oddFrame{to: "/user/x", id: 17, manifest: "S", body: "after"}.bytes(addr))
			if c.delivered {
				if m := wait(t, got); m != "odd" {
					t.Errorf("%s: %v arrived", c.what, m)
				}
			}
			if m := wait(t, got); m != "after" {
				t.Errorf("%s: %v came after", c.what, m)
			}
			p.Close()
			continue
		}
		b, err := p.frame()
		if c.want == ends {
			if string(b) != "\x12\x02\x08\x02" {
				t.Errorf("%s: the answer is %q, %v", c.what, b, err)
			}
			b, err = p.frame()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: in place of the end came %q, %v", c.what, b, err)
		}
		p.Close()
	}
	// Before the handshake.
	for _, b := range [][]byte{rawFrame("\x12\x02\x08\x03"), text("/user/x").bytes(addr)} {
		p := newRawPeer(t, dialTCP(t, a.address))
		p.send(b)
		if f, err := p.frame(); string(f) != "\x12\x02\x08\x02" {
			t.Errorf("%q before the handshake: %q, %v", b, f, err)
		}
		if _, err := p.frame(); !errors.Is(err, io.EOF) {
			t.Errorf("%q before the handshake: %v", b, err)
		}
	}
	if len(got) > 0 {
		t.Errorf("%v was delivered", <-got)
	}
}

func noDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("this network goes one way")
}

// fuzzNode is a node that takes what comes, for as long as nobody has ended it.
type fuzzNode struct {
	*Remoting
	sys *actor.System
	net *remotetest.Network
}

func (n *fuzzNode) fresh(t testing.TB) {
	if n.sys != nil {
		select {
		case <-n.sys.WhenTerminated():
		default:
			if len(n.all()) < 200 { // those of the addresses that were made up stay
				return
			}
			n.sys.Terminate()
			<-n.sys.WhenTerminated()
		}
	}
	n.net = remotetest.NewNetwork(remotetest.Options{})
	set := DefaultSettings()
	set.Hostname, set.FlushWaitOnShutdown = "n", 10*time.Millisecond
	n.Remoting = New(Config{Settings: &set, Listen: n.net.Host("n").Listen, Dial: noDial})
	var err error
	if n.sys, err = actor.NewSystem("S", actor.Config{Provider: n.Remoting, Logger: slog.New(slog.DiscardHandler), LogDeadLetters: -1}); err != nil {
		t.Fatal(err)
	}
	n.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		if ctx.Children() == nil {
			ctx.MustSpawn(actor.FromFunc(func(*actor.Context, any) {}), "child")
		}
	}), "x").Tell("up")
}

// FuzzConnection feeds a node with anything, behind a good handshake and without one: it does not panic, keeps what it
// has within bounds, and the connection ends when its input does.
func FuzzConnection(f *testing.F) {
	const addr = "akka.tcp://S@n:2552"
	good := oddFrame{to: "/user/x", id: 17, manifest: "S", body: "text"}
	for _, b := range [][]byte{
		good.bytes(addr), associateFrame(1, 7), rawFrame("\x12\x02\x08\x03"), rawFrame("\x12\x02\x08\x02"), rawFrame("\x12\x02\x08\x05"),
		{}, {0, 0, 0, 0}, {0xff, 0xff, 0xff, 0x7f}, rawFrame("\x0a\x03\xff\xff\xff"),
		oddFrame{to: "/", id: 6, body: selectionBody("user", "*", "..", "x")}.bytes(addr),
		oddFrame{to: "/user/x", id: 22, manifest: "Akka.Dispatch.SysMsg.Terminate, Akka", reliable: true}.bytes(addr),
		oddFrame{to: "/user/x", id: 22, manifest: "Akka.Dispatch.SysMsg.Watch, Akka", reliable: true, seq: 1,
			body: "\x0a\x1f\x0a\x1dakka.tcp://S@n:2552/user/x#12\x12\x22\x0a\x20akka.tcp://R@127.0.0.1:1/user/rr"}.bytes(addr),
		oddFrame{to: "/remote", id: 3, body: "\x0a\x00"}.bytes(addr),
		oddFrame{to: "/user/x", id: 16, manifest: "ID", body: "\x0a\x05\x0a\x01x\x10\x11"}.bytes(addr),
		oddFrame{to: "/user/x", id: 1, body: `{"$type":"System.Object[], System.Private.CoreLib","$values":[1]}`}.bytes(addr),
		oddFrame{to: "/system/remote-watcher", id: 16, manifest: "RWHB"}.bytes(addr),
		rawFrame("\x0a\x02\x0a\x00"), append(good.bytes(addr), good.bytes(addr)[:20]...),
	} {
		f.Add(true, b)
		f.Add(false, b)
	}
	n := &fuzzNode{}
	f.Cleanup(func() {
		if n.sys != nil {
			n.sys.Terminate()
			<-n.sys.WhenTerminated()
		}
	})
	var base uint64
	rounds := 0
	f.Fuzz(func(t *testing.T, shake bool, b []byte) {
		n.fresh(t)
		nc, err := n.net.Host("r").Dial(t.Context(), "tcp", "n:2552")
		if err != nil {
			t.Skip() // the system was just ended by what was sent
		}
		defer nc.Close()
		if shake {
			nc.Write(associateFrame(1, 7+rounds)) // an incarnation of its own, whatever became of the last
		}
		nc.Write(b)
		nc.(interface{ CloseWrite() error }).CloseWrite()
		nc.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, nc); err != nil {
			select {
			case <-n.sys.WhenTerminated():
			default:
				if !n.port.Terminating() {
					t.Errorf("the connection does not end: %v", err)
				}
			}
		}
		if rounds++; rounds%2000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			if base = max(base, 1); base == 1 {
				base = m.HeapAlloc
			} else if m.HeapAlloc > base+256<<20 {
				t.Errorf("%d bytes are in use, %d at the start", m.HeapAlloc, base)
			}
		}
	})
}

// FuzzSelectionFromWire lets a message go along any path.
func FuzzSelectionFromWire(f *testing.F) {
	for _, s := range []string{"user/x", "user/*", "../../user", "user/x/../x/child", "**", "", "/", "user/x?/*", "a/**/b", "system/..", "user/%2F", "\x00", "user/x#1", "user/" + strings.Repeat("*", 60)} {
		f.Add(s, byte(0))
		f.Add(s, byte(0x1b))
	}
	n := &fuzzNode{}
	f.Cleanup(func() {
		if n.sys != nil {
			n.sys.Terminate()
			<-n.sys.WhenTerminated()
		}
	})
	f.Fuzz(func(t *testing.T, path string, kinds byte) {
		n.fresh(t)
		m := serial.Selection{Message: "s"}
		for i, e := range strings.Split(path, "/") {
			if i == 64 {
				break
			}
			m.Elements = append(m.Elements, serial.SelectionElement{Kind: serial.SelectionKind(1 + (int(kinds)>>(i%4*2)+1)%3), Matcher: e})
		}
		for _, to := range []*actor.Ref{n.port.Local("/", 0), n.port.Local("/user/x", 0), n.port.Local("/user/none", 0), n.sys.DeadLetters()} {
			n.deliver(to, m, nil, nil)
		}
	})
}
