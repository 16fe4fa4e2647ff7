package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/actua/actua/actor"
)

// transport makes the connections. What goes over them is no business of its.
type transport interface {
	// listen begins to listen. addr is what others are told.
	listen(s *Settings, system string) (addr actor.Address, err error)
	// accept waits for a connection. After close the error is net.ErrClosed; a *handshakeError is that of one connection
	// that came and went.
	accept() (net.Conn, error)
	// dial makes a connection. It gives up when ctx ends.
	dial(ctx context.Context, to actor.Address) (net.Conn, error)
	// close ends listening. Connections that have been handed out stay.
	close() error
}

type (
	dialFunc   = func(ctx context.Context, network, address string) (net.Conn, error)
	listenFunc = func(ctx context.Context, network, address string) (net.Listener, error)
)

// sockets is the transport over TCP, or over what stands in for it, with TLS or without.
type sockets struct {
	set      Settings
	protocol string
	tls      *secrets // nil: none
	dialNet  dialFunc
	bind     listenFunc

	mu       sync.Mutex
	listener net.Listener
	greeter  *greeter // with TLS
	closed   bool
}

// newTransport is TCP, with TLS if the settings say so.
func newTransport(s *Settings) (transport, error) { return newTransportOver(s, nil, nil) }

// newTransportOver is a transport over other connections than those of TCP; nil is TCP's.
func newTransportOver(s *Settings, dial dialFunc, listen listenFunc) (transport, error) {
	t := &sockets{set: *s, protocol: "akka.tcp", dialNet: dial, bind: listen}
	if s.TLS.Enable {
		t.protocol = "akka.ssl.tcp"
		var err error
		if t.tls, err = newSecrets(&s.TLS); err != nil {
			return nil, err
		}
	}
	// Go's own keep-alive settings would find a lost peer before Akka.NET's failure detector does.
	alive := net.KeepAliveConfig{Enable: s.TCPKeepAlive, Idle: -1, Interval: -1, Count: -1}
	if t.dialNet == nil {
		d := &net.Dialer{KeepAlive: -1, KeepAliveConfig: alive}
		t.dialNet = d.DialContext
	}
	if t.bind == nil {
		c := &net.ListenConfig{KeepAlive: -1, KeepAliveConfig: alive}
		c.SetMultipathTCP(false)
		t.bind = c.Listen
	}
	return t, nil
}

func (t *sockets) listen(s *Settings, system string) (actor.Address, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return actor.Address{}, net.ErrClosed
	case t.listener != nil:
		return actor.Address{}, errors.New("the transport listens already")
	}
	host := s.PublicHostname
	if host == "" {
		host = s.Hostname
	}
	if host == "" {
		host = "0.0.0.0"
	}
	if _, err := actor.NewAddress(t.protocol, system, host, s.PublicPort); err != nil {
		return actor.Address{}, err // before anything is bound
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.StartupTimeout)
	defer cancel()
	at := net.JoinHostPort(bareHost(s.Hostname), strconv.Itoa(s.Port))
	l, err := t.bind(ctx, "tcp", at)
	if err != nil {
		return actor.Address{}, fmt.Errorf("listening at %s: %w", at, err)
	}
	setBacklog(l, s.Backlog)
	port := s.PublicPort
	if port == 0 {
		if port, err = portOf(l.Addr()); err != nil {
			l.Close()
			return actor.Address{}, err
		}
	}
	addr, err := actor.NewAddress(t.protocol, system, host, port)
	if err != nil {
		l.Close()
		return actor.Address{}, err
	}
	t.listener = l
	if t.tls != nil {
		t.greeter = newGreeter(l, t.secure, s.ConnectionTimeout, s.Backlog)
	}
	return addr, nil
}

// bareHost is an IPv6 address without its brackets, and any other host as it is.
func bareHost(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}

// portOf is the port that was bound.
func portOf(a net.Addr) (int, error) {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.Port, nil
	}
	_, text, err := net.SplitHostPort(a.String())
	if err != nil {
		return 0, fmt.Errorf("a listener without a port: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("a listener without a port: %w", err)
	}
	return port, nil
}

func (t *sockets) accept() (net.Conn, error) {
	t.mu.Lock()
	l, g, closed := t.listener, t.greeter, t.closed
	t.mu.Unlock()
	switch {
	case closed || l == nil:
		return nil, net.ErrClosed
	case g != nil:
		return g.accept()
	}
	nc, err := l.Accept()
	if err != nil {
		if t.over() {
			err = net.ErrClosed
		}
		return nil, err
	}
	t.tune(nc)
	return nc, nil
}

func (t *sockets) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// tune sets the options of a connection. One that cannot be set is left: the connection works without.
func (t *sockets) tune(nc net.Conn) {
	c, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	c.SetNoDelay(t.set.TCPNoDelay)
	c.SetReadBuffer(t.set.ReceiveBufferSize)
	c.SetWriteBuffer(t.set.SendBufferSize)
}

// secure is the listener's side of TLS.
func (t *sockets) secure(ctx context.Context, nc net.Conn) (net.Conn, error) {
	t.tune(nc)
	return t.tls.accept(ctx, nc)
}

func (t *sockets) dial(ctx context.Context, to actor.Address) (net.Conn, error) {
	switch {
	case to.IsZero() || !to.HasGlobalScope() || to.Port() <= 0:
		return nil, fmt.Errorf("%s: an address without host and port", to)
	case to.Protocol() != t.protocol:
		return nil, fmt.Errorf("%s: this system speaks %s", to, t.protocol)
	case t.over():
		return nil, net.ErrClosed
	}
	host := bareHost(to.Host())
	nc, err := t.dialNet(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(to.Port())))
	if err != nil {
		return nil, err
	}
	t.tune(nc)
	if t.tls == nil {
		return nc, nil
	}
	sc, err := t.tls.dial(ctx, nc, host)
	if err != nil {
		go hangUp(context.Background(), nc)
		return nil, &handshakeError{remote: nc.RemoteAddr(), err: err}
	}
	return sc, nil
}

func (t *sockets) close() error {
	t.mu.Lock()
	l, g, closed := t.listener, t.greeter, t.closed
	t.closed = true
	t.mu.Unlock()
	if closed || l == nil {
		return nil
	}
	err := l.Close()
	if g != nil {
		g.close()
	}
	return err
}
