package tcp

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// ClientConn is a connection of a client with an open secure channel. Its methods may be called by any
// goroutine.
type ClientConn struct {
	cfg  *ClientConfig
	nc   net.Conn
	url  string
	conv *uasc.Conversation
	in   frames
	out  outbound

	limits uacp.Negotiated

	// Under out.mu.
	pending map[uint32]*call
	lastID  uint32
	closing bool
	renewal *time.Timer
	unread  int // bytes sent since something arrived

	done chan struct{} // closed when the connection has ended
	err  error         // why; set before done is closed

	reader uabin.Reader // the reading goroutine's
}

// start begins reading, and sets the times of the first token.
func (c *ClientConn) start() {
	c.reader.Intern = new(uabin.Interner)
	if c.cfg.Types != nil {
		c.reader.Types = c.cfg.Types
	}
	c.out.mu.Lock()
	c.renewal = time.AfterFunc(time.Hour, c.renew)
	c.schedule()
	c.out.mu.Unlock()
	go c.read()
}

// schedule sets the timer of the next renewal and the end of the token, under the lock.
func (c *ClientConn) schedule() {
	now := c.cfg.Now()
	c.renewal.Reset(c.conv.Renewal().Sub(now))
	c.nc.SetReadDeadline(time.Now().Add(c.conv.Dies().Sub(now)))
}

// renew asks for the next token, at 75 % of the lifetime of the last one. Calls go on under the old
// token until the answer is there.
func (c *ClientConn) renew() {
	c.out.mu.Lock()
	if c.closing {
		c.out.mu.Unlock()
		return
	}
	id := c.nextID()
	err := c.out.add(func(b []byte) ([]byte, error) { return c.conv.RequestOpen(b, id, c.cfg.Lifetime, c.cfg.Now()) })
	c.out.leave()
	if err != nil {
		c.cfg.Log.Warn("opcua: the security token cannot be renewed", "url", c.url, "err", err)
	}
}

// read handles what the server sends until the connection ends.
func (c *ClientConn) read() {
	var err error
	for err == nil {
		if err = c.handle(); err == nil {
			err = c.in.fill()
		}
	}
	c.out.mu.Lock()
	c.err = c.cause(err)
	// What is wrong with the server's messages it should hear.
	var e *uacp.Error
	if errors.As(err, &e) && !e.Remote {
		c.out.add(func(b []byte) ([]byte, error) { return e.Append(b), nil })
	}
	if c.out.shut == nil {
		c.out.shut = c.err
	}
	c.closing = true
	c.renewal.Stop()
	c.out.sock.hurry(lastWords)
	c.out.leave()
	c.out.mu.Lock()
	c.out.finish()
	c.out.mu.Unlock()
	c.nc.Close()
	c.conv.Release()
	close(c.done)
	c.dropStarted()
}

// cause is the error that all calls get when reading has ended with err.
func (c *ClientConn) cause(err error) error {
	var e *uacp.Error
	switch {
	case c.closing:
		return errClosed
	case errors.As(err, &e):
		return e
	case c.out.err != nil:
		return c.out.err // the network gave way while writing
	case errors.Is(err, io.EOF):
		return &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the server closed the connection without giving a reason", Cause: err}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return uacp.Errorf(ua.BadSecureChannelClosed, "the server did not renew the security token in time")
	}
	return lost(err, "reading")
}

// handle handles all chunks that have been read.
func (c *ClientConn) handle() error {
	c.out.mu.Lock()
	c.unread = 0
	c.out.mu.Unlock()
	now := c.cfg.Now()
	for {
		h, chunk, err := c.in.next()
		if err != nil || chunk == nil {
			return err
		}
		switch h.Type {
		case uacp.TypeMessage:
			m, complete, err := c.conv.Open(chunk, now)
			if err != nil {
				return err
			}
			if complete {
				c.deliver(&m)
			}
		case uacp.TypeOpen:
			c.out.mu.Lock()
			err := c.conv.CompleteOpen(chunk, now)
			if err == nil && !c.closing && c.out.err == nil {
				c.schedule()
			}
			c.out.mu.Unlock()
			if err != nil {
				return err
			}
		case uacp.TypeError:
			return peerError(chunk)
		case uacp.TypeClose:
			return &uacp.Error{Status: ua.BadSecureChannelClosed, Reason: "the server closed the secure channel", Remote: true}
		default:
			return uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v message on an open channel", h.Type)
		}
	}
}

// Done is closed when the connection has ended.
func (c *ClientConn) Done() <-chan struct{} { return c.done }

// Err is why the connection has ended; nil while it lives.
func (c *ClientConn) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// ChannelID is the number of the secure channel.
func (c *ClientConn) ChannelID() uint32 { return c.conv.ChannelID() }

// Policy is the security policy of the channel.
func (c *ClientConn) Policy() *secpol.Policy { return c.cfg.Policy }

// Mode is the security mode of the channel.
func (c *ClientConn) Mode() ua.MessageSecurityMode { return c.cfg.Mode }

// ServerChain is the server's certificate chain, DER, leaf first, as it was configured.
func (c *ClientConn) ServerChain() [][]byte { return c.cfg.ServerChain }

// Identity is the client's certificate and key; nil if it has none.
func (c *ClientConn) Identity() *Identity { return c.cfg.Identity }

// EndpointURL is the URL that the client gave in its Hello.
func (c *ClientConn) EndpointURL() string { return c.url }

// LocalAddr is the client's own address.
func (c *ClientConn) LocalAddr() net.Addr { return c.nc.LocalAddr() }

// RemoteAddr is the server's address.
func (c *ClientConn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// errClosed is what calls get after Close.
var errClosed error = &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the connection was closed by this client"}

// calls keeps the records of calls that are over.
var calls = sync.Pool{New: func() any { return &call{done: make(chan error, 1)} }}
