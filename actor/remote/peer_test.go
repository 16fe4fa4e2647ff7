package remote

import (
	"bufio"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// loopNode is a node on loopback TCP with the machine's clock.
type loopNode struct {
	*Remoting
	sys  *actor.System
	seen *lines
}

func newLoopNode(t testing.TB, change func(*Config)) *loopNode {
	t.Helper()
	n := &loopNode{seen: &lines{more: make(chan struct{})}}
	set := DefaultSettings()
	set.Hostname, set.Port = "127.0.0.1", 0
	c := Config{Settings: &set}
	if change != nil {
		change(&c)
	}
	n.Remoting = New(c)
	logger := slog.New(n.seen)
	if _, ok := t.(*testing.B); ok {
		logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if n.sys, err = actor.NewSystem("S", actor.Config{Provider: n.Remoting, Logger: logger, LogDeadLetters: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.sys.Terminate()
		select {
		case <-n.sys.WhenTerminated():
		case <-time.After(20 * time.Second):
			t.Error("a system does not end")
		}
	})
	return n
}

func (n *loopNode) to(t testing.TB, addr, path string) *actor.Ref {
	t.Helper()
	r, err := n.Resolve(addr + path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rawPeer is the bare other end of a connection: what it says is up to the test.
type rawPeer struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

func newRawPeer(t testing.TB, nc net.Conn) *rawPeer {
	t.Cleanup(func() { nc.Close() })
	return &rawPeer{t, nc, bufio.NewReaderSize(nc, 1<<20)}
}

// associateFrame is the handshake of a system R at that port.
func associateFrame(port, uid int) []byte {
	return akkapb.Framing{}.AppendControl(nil, &akkapb.AkkaControlMessage{
		Command: akkapb.CommandAssociate, HasHandshake: true,
		Handshake: akkapb.AkkaHandshakeInfo{
			HasOrigin: true, UID: uint64(uid),
			Origin: akkapb.AddressData{System: []byte("R"), Hostname: []byte("127.0.0.1"), Port: uint32(port), Protocol: []byte("tcp")},
		},
	})
}

func (p *rawPeer) send(b []byte) {
	p.t.Helper()
	if _, err := p.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// frame reads a frame; io.EOF at the end.
func (p *rawPeer) frame() ([]byte, error) {
	p.SetReadDeadline(time.Now().Add(watchWait))
	var head [4]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err := io.ReadFull(p.r, b)
	return b, err
}

// command reads frames until one of the protocol comes.
func (p *rawPeer) command() akkapb.CommandType {
	p.t.Helper()
	for {
		b, err := p.frame()
		if err != nil {
			p.t.Fatal(err)
		}
		var m akkapb.AkkaControlMessage
		if payload, err := akkapb.DecodePDU(b, &m); err == nil && payload == nil {
			return m.Command
		}
	}
}

// dialRaw connects to a node, and shakes hands as the system at that port.
func dialRaw(t testing.TB, to actor.Address, port, uid int) *rawPeer {
	t.Helper()
	p := newRawPeer(t, dialTCP(t, to))
	p.send(associateFrame(port, uid))
	if c := p.command(); c != akkapb.CommandAssociate {
		t.Fatalf("the answer is %d", c)
	}
	return p
}

func dialTCP(t testing.TB, to actor.Address) net.Conn {
	t.Helper()
	nc, err := net.DialTimeout("tcp", net.JoinHostPort(to.Host(), strconv.Itoa(to.Port())), watchWait)
	if err != nil {
		t.Fatal(err)
	}
	return nc
}

// rawListener is a system R that takes connections and shakes hands, or does not. Its connections come out of the channel.
func rawListener(t testing.TB, shake bool) (address string, port int, come chan *rawPeer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	port = l.Addr().(*net.TCPAddr).Port
	come = make(chan *rawPeer, 100)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			p := newRawPeer(t, nc)
			if shake {
				if _, err := p.frame(); err != nil {
					continue
				}
				p.Write(associateFrame(port, 77))
			}
			come <- p
		}
	}()
	return "akka.tcp://R@127.0.0.1:" + strconv.Itoa(port), port, come
}
