package linktest

import (
	"context"
	"net"
	"sync"
)

// Listener is a net.Listener in memory. Its Dial has the form of a client's dialer.
type Listener struct {
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	faults Faults
	dialed []interface{ Cut() }
	socket net.Listener // carries the connections; nil: memory does
}

// Listen returns a Listener whose connections are good until SetFaults.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn, 1024), done: make(chan struct{})}
}

// ListenSocket returns a Listener whose connections are sockets of this machine. Faults have no effect.
func ListenSocket() (*Listener, error) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := Listen()
	l.socket = socket
	return l, nil
}

// cutSocket is a socket that can be cut.
type cutSocket struct{ *net.TCPConn }

func (c cutSocket) Cut() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// SetFaults says how connections made from now on misbehave.
func (l *Listener) SetFaults(f Faults) {
	l.mu.Lock()
	l.faults = f
	l.mu.Unlock()
}

// Dial makes a connection; network and address do not matter.
func (l *Listener) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.socket != nil {
		nc, err := new(net.Dialer).DialContext(ctx, "tcp", l.socket.Addr().String())
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		l.dialed = append(l.dialed, cutSocket{nc.(*net.TCPConn)})
		l.mu.Unlock()
		return nc, nil
	}
	l.mu.Lock()
	client, server := Pipe(l.faults)
	l.dialed = append(l.dialed, client)
	l.mu.Unlock()
	closed := &net.OpError{Op: "dial", Net: network, Err: net.ErrClosed}
	select {
	case <-l.done:
		return nil, closed
	default:
	}
	select {
	case <-l.done:
		return nil, closed
	case <-ctx.Done():
		return nil, ctx.Err()
	case l.conns <- server:
		return client, nil
	}
}

// CutAll cuts all connections that were made so far.
func (l *Listener) CutAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.dialed {
		c.Cut()
	}
	l.dialed = nil
}

// Accept waits for Dial.
func (l *Listener) Accept() (net.Conn, error) {
	if l.socket != nil {
		return l.socket.Accept()
	}
	select {
	case <-l.done:
		return nil, net.ErrClosed
	case c := <-l.conns:
		return c, nil
	}
}

// Close ends Accept and Dial; connections live on.
func (l *Listener) Close() error {
	if l.socket != nil {
		return l.socket.Close()
	}
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr is a name.
func (l *Listener) Addr() net.Addr { return addr("linktest") }
