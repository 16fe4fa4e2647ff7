package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

const (
	// parting is how long a connection that ends may take to deliver its last words.
	parting = 500 * time.Millisecond
	// trustedMessage is how long a trusted peer may take from the first to the last chunk of a
	// message.
	trustedMessage = time.Minute
)

// lastChannel numbers the channels of the process. It begins at the time of the start, so that a
// client that comes back with the number of an earlier run is not taken for another.
var lastChannel atomic.Uint32

func init() { lastChannel.Store(uint32(time.Now().Unix())) }

// ServerConn is a connection of a server whose secure channel is open. Its methods may be called by
// any goroutine.
type ServerConn struct {
	// Data is the Handler's to use.
	Data any

	cfg     *ServerConfig
	nc      net.Conn
	url     string
	conv    *uasc.Conversation
	in      frames
	out     outbound
	trusted atomic.Bool
	leaving atomic.Bool // Close was called: what has been read is not handled any more

	// The reading goroutine's.
	last     time.Time // when something arrived
	deadline time.Time // the read deadline of nc, by cfg.Now
	opened   bool
}

// Serve handles one connection until it ends: handshake, requests, closing. Whatever the peer sends,
// it ends at most this connection, and with an ERR message where the standard has one.
func Serve(nc net.Conn, cfg *ServerConfig) { NewServerConn(nc, cfg).Serve() }

// NewServerConn makes a connection that is not served yet. Until its handler hears of it, only Serve and
// Close may be called.
func NewServerConn(nc net.Conn, cfg *ServerConfig) *ServerConn {
	c := &ServerConn{cfg: cfg.withDefaults(), nc: nc}
	c.out.init(nc, c.cfg.WriteTimeout, c.cfg.MaxOutbound, c.cfg.Now)
	c.in = frames{nc: nc, limit: uacp.MaxHelloSize, budget: c.cfg.Budget}
	return c
}

// Serve is the function Serve for the connection.
func (c *ServerConn) Serve() { c.end(c.run()) }

// Refuse ends a connection that is not served with an ERR message (Part 6, 7.1.2.5). It waits a moment
// for the peer to read that.
func Refuse(nc net.Conn, status ua.StatusCode, reason string) {
	nc.SetWriteDeadline(time.Now().Add(parting))
	nc.Write(uacp.Errorf(status, "%s", reason).Append(nil))
	linger(nc)
	nc.Close()
}

// run reads until the connection ends; nil when the client closed the channel.
func (c *ServerConn) run() error {
	if err := c.hello(); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	c.last = c.cfg.Now()
	for {
		c.out.hold()
		closed, err := c.handle()
		c.out.release()
		if closed || err != nil {
			return err
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
}

// handle handles all chunks that have been read.
func (c *ServerConn) handle() (closed bool, err error) {
	for {
		if c.leaving.Load() {
			return false, nil
		}
		h, chunk, err := c.in.next()
		if err != nil || chunk == nil {
			c.in.begun(c.last)
			return false, err
		}
		switch h.Type {
		case uacp.TypeMessage, uacp.TypeClose:
			m, complete, err := c.conv.Open(chunk, c.last)
			switch {
			case err != nil:
				return false, err
			case !complete:
			case m.Type == uacp.TypeClose:
				return true, nil
			case m.Err != nil:
				c.cfg.Log.Debug("opcua: a client aborted its request", "remote", c.nc.RemoteAddr(), "request", m.RequestID, "err", m.Err)
			default:
				c.cfg.Handler.ServeMessage(c, m.RequestID, m.Body)
			}
		case uacp.TypeOpen:
			if err := c.renew(chunk); err != nil {
				return false, err
			}
		case uacp.TypeError:
			return false, peerError(chunk)
		default:
			return false, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v message on an open channel", h.Type)
		}
	}
}

// peerError is what an ERR chunk says.
func peerError(chunk []byte) error {
	e, err := uacp.DecodeError(chunk[uacp.HeaderSize:])
	if err != nil {
		return err
	}
	return e
}

// fill reads once more, until the deadline that the state of the connection sets.
func (c *ServerConn) fill() error {
	c.in.trusted = c.trusted.Load()
	for {
		if err := c.setDeadline(); err != nil {
			return err
		}
		err := c.in.fill()
		now := c.cfg.Now()
		if err == nil {
			c.last = now
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return c.readError(err)
		}
		c.deadline = time.Time{}
		if due, why := c.due(); !now.Before(due) {
			return c.overdue(why)
		}
	}
}

// setDeadline moves the read deadline when it is later than it should be. One that is too early only
// wakes the connection once; moving it at each read would cost every request.
func (c *ServerConn) setDeadline() error {
	due, _ := c.due()
	if c.deadline.IsZero() || due.Before(c.deadline) {
		c.deadline = due
		return c.until(time.Now().Add(due.Sub(c.cfg.Now())))
	}
	return c.ended()
}

// until sets the read deadline, unless the connection is to end: whoever ends it has set one, too.
func (c *ServerConn) until(t time.Time) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if err := c.endedLocked(); err != nil {
		return err
	}
	if err := c.nc.SetReadDeadline(t); err != nil {
		return lost(err, "reading")
	}
	return nil
}

// ended is why the connection is to end, nil while it goes on.
func (c *ServerConn) ended() error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.endedLocked()
}

func (c *ServerConn) endedLocked() error {
	if c.out.shut != nil {
		return c.out.shut
	}
	return c.out.err
}

// reason is why a connection ends at its deadline.
type reason uint8

const (
	tokenDied reason = iota
	idled
	unfinished
)

// due is when the connection ends if nothing more arrives, and why.
func (c *ServerConn) due() (due time.Time, why reason) {
	due = c.conv.Dies()
	sooner := func(t time.Time, r reason) {
		if t.Before(due) {
			due, why = t, r
		}
	}
	if c.cfg.IdleTimeout > 0 {
		sooner(c.last.Add(c.cfg.IdleTimeout), idled)
	}
	if since, ok := c.conv.Unfinished(); ok {
		sooner(since.Add(c.patience()), unfinished)
	}
	if !c.in.partial.IsZero() {
		sooner(c.in.partial.Add(c.patience()), unfinished)
	}
	return due, why
}

// patience is how long the peer may take for a message.
func (c *ServerConn) patience() time.Duration {
	if c.trusted.Load() {
		return trustedMessage
	}
	return c.cfg.HandshakeTimeout
}

// overdue is the error of a deadline that has passed.
func (c *ServerConn) overdue(why reason) error {
	switch why {
	case idled:
		return uacp.Errorf(ua.BadTimeout, "nothing was received for %v", c.cfg.IdleTimeout)
	case unfinished:
		return uacp.Errorf(ua.BadTimeout, "a message was not finished within %v", c.patience())
	}
	return uacp.Errorf(ua.BadSecureChannelClosed, "the security token was not renewed in time")
}

// readError tells why reading ended: what this side decided comes before what the network says.
func (c *ServerConn) readError(err error) error {
	if why := c.ended(); why != nil {
		return why
	}
	var e *uacp.Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, io.EOF) {
		return &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the client closed the connection", Cause: err}
	}
	return lost(err, "reading")
}

// end sends the last words, tells the handler, and closes.
func (c *ServerConn) end(err error) {
	var e *uacp.Error
	errors.As(err, &e)
	// What came from the peer or the network needs no answer: nobody would read it.
	answer := e != nil && !e.Remote && e.Status != ua.BadConnectionClosed
	c.out.mu.Lock()
	asked := c.out.shut != nil
	if answer {
		c.out.add(func(b []byte) ([]byte, error) { return e.Append(b), nil })
	}
	if !asked {
		c.out.shut = &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the connection has ended", Cause: err}
	}
	c.out.hurry(time.Now().Add(parting))
	c.out.leave()
	c.out.mu.Lock()
	c.out.finish()
	c.out.mu.Unlock()
	c.log(e, asked)
	if c.conv != nil {
		c.conv.Release()
	}
	c.in.release()
	if c.opened {
		c.cfg.Handler.Closed(c, err)
	}
	if answer {
		linger(c.nc)
	}
	c.nc.Close()
}

// log writes a line about a connection that did not end by itself or as this side asked.
func (c *ServerConn) log(e *uacp.Error, asked bool) {
	if e == nil {
		return
	}
	level := slog.LevelWarn
	if errors.Is(e, io.EOF) || asked {
		level = slog.LevelDebug
	}
	c.cfg.Log.Log(context.Background(), level, "opcua: connection ended", "remote", c.nc.RemoteAddr(), "channel", c.ChannelID(), "status", e.Status.String(), "reason", e.Reason)
}

// linger lets the peer read what was sent last: closing a socket with bytes unread in it would reset
// the connection and take the ERR message with it.
func linger(nc net.Conn) {
	half, ok := nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	nc.SetReadDeadline(time.Now().Add(parting))
	var sink [2048]byte
	for {
		if _, err := nc.Read(sink[:]); err != nil {
			return
		}
	}
}

// Send sends a response. Within ServeMessage it is collected with the answers to the other requests
// that were read together, and they leave with one write; otherwise it is written at once, or together
// with what somebody else is writing. A message that is larger than the client allows gives an error
// that is ua.BadResponseTooLarge, and nothing is sent: a ServiceFault may take its place. Any other
// error means that the connection has ended.
func (c *ServerConn) Send(requestID uint32, m ua.Structure) error {
	c.out.mu.Lock()
	err := c.out.message(uacp.TypeMessage, requestID, m)
	c.out.leave()
	return err
}

// Abort sends an abort chunk in place of a response (Part 6, 6.7.3).
func (c *ServerConn) Abort(requestID uint32, status ua.StatusCode, reason string) error {
	c.out.mu.Lock()
	err := c.out.add(func(b []byte) ([]byte, error) {
		return c.conv.SealAbort(b, requestID, &uacp.Error{Status: status, Reason: reason}, c.cfg.Now())
	})
	c.out.leave()
	return err
}

// SetTrusted tells that a session is active on the connection, or none any more: with one, the
// limits that were negotiated apply, without one MaxOpenMessage.
func (c *ServerConn) SetTrusted(trusted bool) {
	c.trusted.Store(trusted)
	limit := c.cfg.MaxOpenMessage
	if trusted {
		limit = c.cfg.Limits.MaxMessageSize
	}
	c.conv.SetTrusted(trusted, limit)
}

// Close sends an ERR message with the status and the reason, and ends the connection.
func (c *ServerConn) Close(status ua.StatusCode, reason string) {
	e := uacp.Errorf(status, "%s", reason)
	c.out.mu.Lock()
	if c.out.add(func(b []byte) ([]byte, error) { return e.Append(b), nil }) == nil {
		c.out.shut = e
		c.leaving.Store(true)
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
	c.out.leave()
}

// Cut ends the connection at once, without a word.
func (c *ServerConn) Cut() { c.nc.Close() }

// ChannelID is the number of the secure channel.
func (c *ServerConn) ChannelID() uint32 {
	if c.conv == nil {
		return 0
	}
	return c.conv.ChannelID()
}

// Policy is the security policy of the channel.
func (c *ServerConn) Policy() *secpol.Policy { return c.conv.Policy() }

// PolicyURI is the URI of the security policy of the channel.
func (c *ServerConn) PolicyURI() string { return c.conv.Policy().URI }

// Mode is the security mode of the channel.
func (c *ServerConn) Mode() ua.MessageSecurityMode { return c.conv.Mode() }

// ClientChain is the client's certificate chain, DER, leaf first; nil when it has sent none. With
// policy None nothing shows that it is the client's.
func (c *ServerConn) ClientChain() [][]byte { return c.conv.PeerChain() }

// Identity is the server's certificate and key on this channel; nil if it has none.
func (c *ServerConn) Identity() *Identity { return c.conv.Identity() }

// MaxResponse is the largest message that the client takes, in bytes; 0 if it has no limit.
func (c *ServerConn) MaxResponse() int { return c.conv.MaxSend() }

// EndpointURL is the URL that the client gave in its Hello.
func (c *ServerConn) EndpointURL() string { return c.url }

// RemoteAddr is the client's address.
func (c *ServerConn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// String names the connection in logs.
func (c *ServerConn) String() string {
	return fmt.Sprintf("channel %d of %v", c.ChannelID(), c.nc.RemoteAddr())
}
