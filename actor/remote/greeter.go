package remote

import (
	"container/list"
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// handshakeError is the TLS handshake of one connection that failed.
type handshakeError struct {
	remote net.Addr
	err    error
}

func (e *handshakeError) Error() string {
	return "TLS with " + e.remote.String() + ": " + e.err.Error()
}
func (e *handshakeError) Unwrap() error { return e.err }

// greeter takes connections and does the TLS handshake of each on its own, so that none has to wait for another. Only
// those that are done come out.
type greeter struct {
	l       net.Listener
	secure  func(ctx context.Context, nc net.Conn) (net.Conn, error)
	timeout time.Duration
	most    int // connections in their handshake; one more ends the oldest

	ctx      context.Context // until close
	cancel   context.CancelFunc
	ready    chan net.Conn
	broken   chan error           // of the listener
	failures chan *handshakeError // what is not asked for is lost
	all      sync.WaitGroup

	mu   sync.Mutex
	busy *list.List // of net.Conn
}

func newGreeter(l net.Listener, secure func(context.Context, net.Conn) (net.Conn, error), timeout time.Duration, most int) *greeter {
	g := &greeter{
		l: l, secure: secure, timeout: timeout, most: most,
		ready: make(chan net.Conn), broken: make(chan error), failures: make(chan *handshakeError, 16), busy: list.New(),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.all.Add(1)
	go g.run()
	return g
}

// accept waits for a connection that is through.
func (g *greeter) accept() (net.Conn, error) {
	if g.ctx.Err() != nil {
		return nil, net.ErrClosed
	}
	select {
	case nc := <-g.ready:
		return nc, nil
	case err := <-g.broken:
		return nil, err
	case err := <-g.failures:
		return nil, err
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (g *greeter) run() {
	defer g.all.Done()
	for {
		nc, err := g.l.Accept()
		if err == nil {
			g.begin(nc)
			continue
		}
		select {
		case g.broken <- err: // whoever asks decides when to go on
		case <-g.ctx.Done():
			return
		}
	}
}

// begin starts the handshake of one connection.
func (g *greeter) begin(nc net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		nc.Close()
		return
	}
	if g.busy.Len() >= g.most {
		g.busy.Remove(g.busy.Front()).(net.Conn).Close()
	}
	e := g.busy.PushBack(nc)
	g.all.Add(1)
	go g.greet(nc, e)
}

func (g *greeter) greet(nc net.Conn, e *list.Element) {
	defer g.all.Done()
	defer func() {
		g.mu.Lock()
		g.busy.Remove(e) // no effect if it was the oldest once
		g.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(g.ctx, g.timeout)
	sc, err := g.secure(ctx, nc)
	cancel()
	if err == nil {
		select {
		case g.ready <- sc:
		case <-g.ctx.Done():
			nc.Close()
		}
		return
	}
	select {
	case g.failures <- &handshakeError{remote: nc.RemoteAddr(), err: err}:
	default:
	}
	hangUp(g.ctx, nc)
}

// close ends all handshakes, after the listener was closed. It waits for the goroutines.
func (g *greeter) close() {
	g.mu.Lock()
	g.cancel()
	for e := g.busy.Front(); e != nil; e = e.Next() {
		e.Value.(net.Conn).Close()
	}
	g.mu.Unlock()
	g.all.Wait()
}

// What hangUp waits for at most.
const (
	hangUpTime  = time.Second
	hangUpBytes = 64 << 10
)

// hangUp closes a connection on which something may be unread still. A close alone would be a reset then, which Akka.NET
// takes for a shutdown, and which may overtake the TLS alert that says what was wrong.
func hangUp(ctx context.Context, nc net.Conn) {
	defer nc.Close()
	h, ok := nc.(interface{ CloseWrite() error })
	if !ok || ctx.Err() != nil || h.CloseWrite() != nil {
		return
	}
	nc.SetDeadline(time.Now().Add(hangUpTime))
	io.CopyN(io.Discard, nc, hangUpBytes)
}
