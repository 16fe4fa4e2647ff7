package remotetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Network is a network of hosts in memory.
type Network struct {
	o Options

	mu        sync.Mutex
	listeners map[string]*listener // by "host:port"
	wires     []*wire
	rules     rules
	made      map[[2]string]int // connections, from one host to another
	port      int
	changed   chan struct{} // closed when the rules or listeners change
	frames    int           // of connections that are over
	dropped   int
}

// wire is a connection.
type wire struct {
	from, to    string // hosts
	there, back *link
	near, far   *conn
}

// NewNetwork makes a network.
func NewNetwork(o Options) *Network {
	if o.Clock == nil {
		o.Clock = machine{}
	}
	return &Network{o: o, listeners: make(map[string]*listener), made: make(map[[2]string]int), port: 40000, changed: make(chan struct{})}
}

// Host is a place on the network; Dial and Listen are for remote.Config.
type Host struct {
	n    *Network
	name string
}

// Host is the place of that name. Its nodes have it as their Hostname; to itself it is "localhost" as well.
func (n *Network) Host(name string) *Host { return &Host{n, strings.ToLower(name)} }

// Set says what happens from now on to what goes from one host to another; "" is any host. Connections that are there
// follow.
func (n *Network) Set(from, to string, m Mode) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rules = n.rules.with(strings.ToLower(from), strings.ToLower(to), m)
	n.prune()
	for _, w := range n.wires {
		w.there.setMode(n.rules.of(w.from, w.to))
		w.back.setMode(n.rules.of(w.to, w.from))
	}
	n.change()
}

// SetBoth says it of both ways between two hosts.
func (n *Network) SetBoth(a, b string, m Mode) {
	n.Set(a, b, m)
	n.Set(b, a, m)
}

// Cut resets the connections between two hosts, whoever has made them; "" is any host. It returns how many it were.
func (n *Network) Cut(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	fits := func(x, y string) bool { return (a == "" || a == x) && (b == "" || b == y) }
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prune()
	cut := 0
	for _, w := range n.wires {
		if fits(w.from, w.to) || fits(w.to, w.from) {
			w.near.reset()
			cut++
		}
	}
	return cut
}

// Counts are the frames that were sent, and how many of them were lost.
func (n *Network) Counts() (frames, dropped int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prune()
	frames, dropped = n.frames, n.dropped
	for _, w := range n.wires {
		for _, l := range []*link{w.there, w.back} {
			f, d := l.counts()
			frames, dropped = frames+f, dropped+d
		}
	}
	return frames, dropped
}

// Connections is how many there are.
func (n *Network) Connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prune()
	return len(n.wires)
}

// Quiet reports whether nothing moves: what has arrived is read, and who reads waits for more. A test with a virtual
// clock advances it when this is so; what a goroutine is about to write it cannot know.
func (n *Network) Quiet() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prune()
	for _, w := range n.wires {
		if !w.there.quiet() || !w.back.quiet() {
			return false
		}
	}
	for _, l := range n.listeners {
		if !l.quiet() {
			return false
		}
	}
	return true
}

// prune forgets connections that are over, under the lock.
func (n *Network) prune() {
	live := n.wires[:0]
	for _, w := range n.wires {
		if !w.there.over() || !w.back.over() {
			live = append(live, w)
			continue
		}
		for _, l := range []*link{w.there, w.back} {
			f, d := l.counts()
			n.frames, n.dropped = n.frames+f, n.dropped+d
		}
	}
	clear(n.wires[len(live):])
	n.wires = live
}

// change tells those who wait for another network, under the lock.
func (n *Network) change() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// own are the names by which a host reaches itself.
func own(host string) bool {
	switch host {
	case "", "localhost", "127.0.0.1", "0.0.0.0", "::", "::1":
		return true
	}
	return false
}

// place is what an address means to a host.
func (h *Host) place(op, address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(strings.ToLower(address))
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, &net.OpError{Op: op, Net: "tcp", Addr: addr(address), Err: fmt.Errorf("%q is no address", address)}
	}
	if own(host) {
		host = h.name
	}
	return host, port, nil
}

func at(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// Listen takes connections at an address of the host; port 0 is any.
func (h *Host) Listen(ctx context.Context, _, address string) (net.Listener, error) {
	host, port, err := h.place("listen", address)
	if err != nil {
		return nil, err
	}
	n := h.n
	n.mu.Lock()
	defer n.mu.Unlock()
	if err = ctx.Err(); err == nil && host != h.name {
		err = syscall.EADDRNOTAVAIL
	}
	if port == 0 {
		n.port++
		port = n.port
	}
	key := at(host, port)
	if err == nil && n.listeners[key] != nil {
		err = syscall.EADDRINUSE
	}
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: addr(address), Err: os.NewSyscallError("bind", err)}
	}
	l := &listener{n: n, key: key}
	l.changed.L = &l.mu
	n.listeners[key] = l
	return l, nil
}

// Dial makes a connection from the host. While the way there or back lets nothing through it waits.
func (h *Host) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := h.place("dial", address)
	if err != nil {
		return nil, err
	}
	c, err := h.connect(ctx, host, port)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Source: addr(h.name), Addr: addr(at(host, port)), Err: err}
	}
	return c, nil
}

func (h *Host) connect(ctx context.Context, host string, port int) (net.Conn, error) {
	n := h.n
	limit := make(chan struct{})
	if end, ok := ctx.Deadline(); ok {
		stop := alarmIn(n.o.Clock, time.Until(end), limit)
		defer stop()
	}
	waited := false
	for {
		n.mu.Lock()
		there, back := n.rules.of(h.name, host), n.rules.of(host, h.name)
		pass := there.through() && back.through()
		changed := n.changed
		var takes chan struct{}
		stop := func() {}
		if d := there.Delay + back.Delay; pass && d > 0 && !waited {
			takes = make(chan struct{})
			stop = alarmIn(n.o.Clock, d, takes)
		} else if pass {
			c, err := n.join(h.name, host, port)
			n.mu.Unlock()
			return c, err
		}
		n.mu.Unlock()
		select {
		case <-changed:
		case <-takes:
			waited = true
		case <-limit:
			stop()
			return nil, os.ErrDeadlineExceeded
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
		stop()
	}
}

// join makes the connection, under the lock.
func (n *Network) join(from, to string, port int) (net.Conn, error) {
	l := n.listeners[at(to, port)]
	if l == nil {
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	n.prune()
	pair := [2]string{from, to}
	n.made[pair]++
	n.port++
	name := fmt.Sprintf("%s>%s/%d", from, to, n.made[pair])
	w := &wire{from: from, to: to}
	w.there = newLink(&n.o, name, n.rules.of(from, to))
	w.back = newLink(&n.o, name+"/back", n.rules.of(to, from))
	w.near = &conn{in: w.back, out: w.there, local: addr(at(from, n.port)), remote: addr(l.key)}
	w.far = &conn{in: w.there, out: w.back, local: addr(l.key), remote: w.near.local}
	n.wires = append(n.wires, w)
	l.put(w.far)
	return w.near, nil
}

// listener is where connections to one address come.
type listener struct {
	n   *Network
	key string

	mu      sync.Mutex
	changed sync.Cond
	come    []*conn
	closed  bool
}

func (l *listener) put(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.come = append(l.come, c)
	l.changed.Signal()
}

func (l *listener) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.come) == 0
}

// Accept waits for a connection.
func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.come) == 0 && !l.closed {
		l.changed.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	c := l.come[0]
	l.come = l.come[1:]
	return c, nil
}

// Close ends listening; connections that nobody has accepted are reset.
func (l *listener) Close() error {
	l.n.mu.Lock()
	if l.n.listeners[l.key] == l {
		delete(l.n.listeners, l.key)
	}
	l.n.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	l.closed = true
	for _, c := range l.come {
		c.reset()
	}
	l.come = nil
	l.changed.Broadcast()
	return nil
}

// Addr is where it listens.
func (l *listener) Addr() net.Addr { return addr(l.key) }
