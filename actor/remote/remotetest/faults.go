package remotetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/actua/actua/actor/internal/akkapb"
)

// Direction is the way that something goes, as seen by the node with the Faults.
type Direction int

// The directions.
const (
	Send Direction = 1 << iota
	Receive
	Both = Send | Receive
)

// Faults makes connections worse, as Akka.NET's throttler (trttl) and failure injector (gremlin) do. Dial and Listen are
// for remote.Config. With TLS it lies below, so that only Hold, Delay, Rate and Cut leave a connection whole.
type Faults struct {
	o Options

	mu            sync.Mutex
	send, receive rules // by peer
	conns         map[*faulty]struct{}
	made          map[string]int
}

// NewFaults makes the connections of the options worse, as soon as Set is called.
func NewFaults(o Options) *Faults {
	if o.Clock == nil {
		o.Clock = machine{}
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Listen == nil {
		o.Listen = new(net.ListenConfig).Listen
	}
	return &Faults{o: o, conns: make(map[*faulty]struct{}), made: make(map[string]int)}
}

// Set says what happens from now on to what goes to a peer, or comes from it: "host:port" as in its address; "" is any.
// The peer of a connection that has come is known from its first frame on, the handshake. While nothing goes through, new
// connections are made and stay silent.
func (f *Faults) Set(peer string, d Direction, m Mode) {
	peer = strings.ToLower(peer)
	f.mu.Lock()
	defer f.mu.Unlock()
	if d&Send != 0 {
		f.send = f.send.with(peer, "", m)
	}
	if d&Receive != 0 {
		f.receive = f.receive.with(peer, "", m)
	}
	for c := range f.conns {
		f.apply(c)
	}
}

// apply sets the modes of a connection, under the lock.
func (f *Faults) apply(c *faulty) {
	c.out.setMode(f.send.of(c.peer, ""))
	c.in.setMode(f.receive.of(c.peer, ""))
}

// Cut resets the connections with a peer; "" is any. It returns how many it were.
func (f *Faults) Cut(peer string) int {
	peer = strings.ToLower(peer)
	f.mu.Lock()
	var cut []*faulty
	for c := range f.conns {
		if peer == "" || c.peer == peer {
			cut = append(cut, c)
		}
	}
	f.mu.Unlock()
	for _, c := range cut {
		c.reset()
	}
	return len(cut)
}

// Counts are the frames of the connections that are there, and how many of them were lost.
func (f *Faults) Counts() (frames, dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		for _, l := range []*link{c.in, c.out} {
			n, d := l.counts()
			frames, dropped = frames+n, dropped+d
		}
	}
	return frames, dropped
}

// Dial makes a connection.
func (f *Faults) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := f.o.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return f.wrap(nc, strings.ToLower(address)), nil
}

// Listen takes connections.
func (f *Faults) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	l, err := f.o.Listen(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return faultyListener{l, f}, nil
}

type faultyListener struct {
	net.Listener
	f *Faults
}

// Accept waits for a connection.
func (l faultyListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.f.wrap(nc, unknown), nil
}

// unknown is the peer of a connection that has not said who it is.
const unknown = "?"

// faulty is a connection on top of another.
type faulty struct {
	conn
	f      *Faults
	inner  net.Conn
	peer   string // under the lock of f
	done   chan struct{}
	finish sync.Once
}

func (f *Faults) wrap(nc net.Conn, peer string) *faulty {
	c := &faulty{f: f, inner: nc, peer: peer, done: make(chan struct{})}
	f.mu.Lock()
	f.made[peer]++
	name := fmt.Sprintf("%s/%d", peer, f.made[peer])
	c.out, c.in = newLink(&f.o, name+"/out", Mode{}), newLink(&f.o, name+"/in", Mode{})
	c.local, c.remote = nc.LocalAddr(), nc.RemoteAddr()
	c.closed = c.finished
	if peer == unknown && !f.o.NoFrames {
		c.in.first = c.named
	}
	f.conns[c] = struct{}{}
	f.apply(c)
	f.mu.Unlock()
	go c.pumpOut()
	go c.pumpIn()
	return c
}

// named learns from the handshake who the peer is.
func (c *faulty) named(body []byte) {
	var m akkapb.AkkaControlMessage
	if p, err := akkapb.DecodePDU(body, &m); err != nil || p != nil || m.Command != akkapb.CommandAssociate {
		return
	}
	o := &m.Handshake.Origin
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	c.peer = net.JoinHostPort(strings.Trim(strings.ToLower(string(o.Hostname)), "[]"), fmt.Sprint(o.Port))
	c.f.apply(c)
}

func (c *faulty) finished() { c.finish.Do(func() { close(c.done) }) }

func (c *faulty) reset() {
	c.conn.reset()
	if t, ok := c.inner.(interface{ SetLinger(int) error }); ok {
		t.SetLinger(0)
	}
	c.inner.Close()
	c.finished()
}

// pumpOut sends what the way out has let through.
func (c *faulty) pumpOut() {
	defer func() {
		c.inner.Close()
		c.f.mu.Lock()
		delete(c.f.conns, c)
		c.f.mu.Unlock()
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := c.out.read(buf)
		if n > 0 {
			if _, werr := c.inner.Write(buf[:n]); werr != nil {
				c.out.fail(werr)
				c.in.fail(werr)
				return
			}
		}
		switch {
		case err == io.EOF:
			if h, ok := c.inner.(interface{ CloseWrite() error }); ok {
				h.CloseWrite()
			}
			<-c.done
			return
		case err != nil:
			return
		}
	}
}

// pumpIn takes what comes, and goes on when nobody wants it any more, so that the end is no reset.
func (c *faulty) pumpIn() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.inner.Read(buf)
		if n > 0 {
			c.in.write(buf[:n], true)
		}
		switch {
		case err == io.EOF:
			c.in.seal()
			return
		case err != nil:
			c.in.fail(err)
			c.out.fail(err)
			return
		}
	}
}
