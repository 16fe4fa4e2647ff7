package tcp

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// writePiece is how much is written under one deadline: the timeout is for a peer that reads nothing,
// not for one that is slow with a long answer.
const writePiece = 256 << 10

// netSocket is a socket with a goroutine that reads it, and writes that wait.
type netSocket struct {
	nc      net.Conn
	timeout time.Duration

	// The write deadline of nc. It has a lock because it is moved while somebody writes.
	mu       sync.Mutex
	deadline time.Time
	final    bool
}

func (s *netSocket) send(b []byte) (n int, err error) {
	for n < len(b) {
		if err := s.extend(); err != nil {
			return n, err
		}
		k, err := s.nc.Write(b[n:min(len(b), n+writePiece)])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// extend gives the next write its time. Moving the deadline each time would cost more than many a
// write does, so it is left alone while most of it is to come.
func (s *netSocket) extend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.final || s.deadline.Sub(now) >= s.timeout*3/4 {
		return nil
	}
	s.deadline = now.Add(s.timeout)
	return s.nc.SetWriteDeadline(s.deadline)
}

func (s *netSocket) hurry(d time.Duration) {
	s.mu.Lock()
	s.final = true
	s.nc.SetWriteDeadline(time.Now().Add(d))
	s.mu.Unlock()
}

func (s *netSocket) wake(d time.Duration) {
	if d == 0 {
		s.nc.SetReadDeadline(time.Unix(1, 0))
		return
	}
	s.nc.SetReadDeadline(time.Now().Add(d))
}

func (s *netSocket) cut() { s.nc.Close() }

func (s *netSocket) stuck() bool { return false }

// NewServerConn makes a connection that is not served yet. Until its handler hears of it, only Start,
// Serve and Close may be called. It owns nc from now on.
func NewServerConn(nc net.Conn, cfg *ServerConfig) *ServerConn {
	if c := cfg.Loops.take(nc, cfg); c != nil {
		return c
	}
	c := newServerConn(nc.RemoteAddr(), cfg)
	s := &netSocket{nc: nc, timeout: c.cfg.WriteTimeout}
	c.sock, c.in.src, c.mayWait = s, nc, true
	c.out.init(s, c.cfg.MaxOutbound, c.cfg.Now)
	return c
}

// Start serves the connection, and calls done when all is over. It does not wait for that. Done must not
// block.
func (c *ServerConn) Start(done func()) {
	s, ok := c.sock.(*netSocket)
	if !ok {
		c.sock.(interface{ start(func()) }).start(done)
		return
	}
	go func() {
		c.serve(s)
		done()
	}()
}

// Serve is the function Serve for a connection that NewServerConn made.
func (c *ServerConn) Serve() {
	over := make(chan struct{})
	c.Start(func() { close(over) })
	<-over
}

func (c *ServerConn) serve(s *netSocket) {
	err := c.read(s)
	answer := c.farewell(err)
	c.out.mu.Lock()
	c.out.finish()
	c.out.mu.Unlock()
	c.bury(err)
	if answer {
		linger(s.nc)
	}
	s.nc.Close()
}

// read reads until the connection ends; nil when the client closed the channel.
func (c *ServerConn) read(s *netSocket) error {
	var deadline time.Time // the read deadline, by cfg.Now
	for {
		c.in.trusted = c.trusted.Load()
		due, _ := c.due()
		// A deadline that is too early only wakes the connection once; moving it at each read would
		// cost every request.
		if deadline.IsZero() || due.Before(deadline) {
			deadline = due
			if err := c.until(s.nc, time.Now().Add(due.Sub(c.cfg.Now()))); err != nil {
				return err
			}
		} else if err := c.ended(); err != nil {
			return err
		}
		err := c.in.fill()
		now := c.cfg.Now()
		switch {
		case err == nil:
			c.last = now
			c.out.hold(now)
			s, err := c.advance()
			c.out.release()
			if s == closed || err != nil {
				return err
			}
			c.out.ebb()
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return c.readError(err)
		default:
			deadline = time.Time{}
			if err := c.ended(); err != nil {
				return err
			}
			if due, why := c.due(); !now.Before(due) {
				return c.overdue(why)
			}
		}
	}
}

// until sets the read deadline, unless the connection is to end: whoever ends it has set one, too.
func (c *ServerConn) until(nc net.Conn, t time.Time) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if err := c.endedLocked(); err != nil {
		return err
	}
	if err := nc.SetReadDeadline(t); err != nil {
		return lost(err, "reading")
	}
	return nil
}

// linger lets the peer read what was sent last: closing a socket with bytes unread in it would reset
// the connection and take the ERR message with it.
func linger(nc net.Conn) {
	half, ok := nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	nc.SetReadDeadline(time.Now().Add(lastWords))
	var sink [2048]byte
	for {
		if _, err := nc.Read(sink[:]); err != nil {
			return
		}
	}
}

// lost is the error of a connection that failed underneath.
func lost(err error, doing string) *uacp.Error {
	e := &uacp.Error{Status: ua.BadConnectionClosed, Reason: doing + ": " + err.Error(), Cause: err}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		e.Reason = doing + ": the peer does not read"
	}
	return e
}
