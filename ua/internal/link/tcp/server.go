package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

const (
	// lastWords is how long a connection that ends may take to deliver them.
	lastWords = 500 * time.Millisecond
	// trustedMessage is how long a trusted peer may take from the first to the last chunk of a
	// message.
	trustedMessage = time.Minute
)

// lastChannel numbers the channels of the process. It begins at the time of the start, so that a
// client that comes back with the number of an earlier run is not taken for another.
var lastChannel atomic.Uint32

func init() { lastChannel.Store(uint32(time.Now().Unix())) }

// ServerConn is a connection of a server. Its methods may be called by any goroutine.
type ServerConn struct {
	// Data is the Handler's to use.
	Data any

	cfg     *ServerConfig
	sock    socket
	remote  net.Addr
	url     string
	conv    *uasc.Conversation
	in      frames
	out     outbound
	trusted atomic.Bool
	leaving atomic.Bool // Close was called: what has been read is not handled any more

	// The reader's: of the goroutine of the connection, or of the loop that watches it.
	phase   phase
	mayWait bool // what takes long may be done where it was read
	again   struct {
		requestID uint32
		body      []byte
	} // a request that the Handler wants to have where it may wait; body is nil for none
	since  time.Time // when the phase began, by cfg.Now
	retime bool      // due may have come nearer
	last   time.Time // when something arrived
	opened bool
}

// phase is how far a connection has come.
type phase uint8

const (
	greeting phase = iota // a Hello is expected
	opening               // an OpenSecureChannel request is
	serving
	parting // the last words are on their way
)

// socket is what a connection needs of its carrier besides reading.
type socket interface {
	sender
	// cut ends the connection at once.
	cut()
	// stuck reports whether the peer does not read; a socket whose sending waits is never stuck.
	stuck() bool
}

// Serve handles one connection until it ends: handshake, requests, closing. Whatever the peer sends,
// it ends at most this connection, and with an ERR message where the standard has one.
func Serve(nc net.Conn, cfg *ServerConfig) { NewServerConn(nc, cfg).Serve() }

// newServerConn makes a connection without its socket.
func newServerConn(remote net.Addr, cfg *ServerConfig) *ServerConn {
	c := &ServerConn{cfg: cfg.withDefaults(), remote: remote}
	c.in = frames{limit: uacp.MaxHelloSize, budget: c.cfg.Budget}
	c.since = c.cfg.Now()
	c.last = c.since
	return c
}

// Refuse ends a connection that is not served with an ERR message (Part 6, 7.1.2.5). It waits a moment
// for the peer to read that.
func Refuse(nc net.Conn, status ua.StatusCode, reason string) {
	nc.SetWriteDeadline(time.Now().Add(lastWords))
	nc.Write(uacp.Errorf(status, "%s", reason).Append(nil))
	linger(nc)
	nc.Close()
}

// farewell is why a connection ends, put into the outbound buffer where the peer should hear of it.
// What came from the peer or the network needs no answer: nobody would read it.
func (c *ServerConn) farewell(err error) (answer bool) {
	var e *uacp.Error
	errors.As(err, &e)
	answer = e != nil && !e.Remote && e.Status != ua.BadConnectionClosed
	c.out.mu.Lock()
	asked := c.out.shut != nil
	if answer {
		c.out.add(func(b []byte) ([]byte, error) { return e.Append(b), nil })
	}
	if !asked {
		c.out.shut = &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the connection has ended", Cause: err}
	}
	c.out.sock.hurry(lastWords)
	c.out.leave()
	c.log(e, asked)
	return answer
}

// bury gives back what the connection holds and tells the handler; nothing of it leaves any more.
func (c *ServerConn) bury(err error) {
	if c.conv != nil {
		c.conv.Release()
	}
	c.in.release()
	if c.opened {
		c.cfg.Handler.Closed(c, err)
	}
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
	c.cfg.Log.Log(context.Background(), level, "opcua: connection ended", "remote", c.remote, "channel", c.ChannelID(), "status", e.Status.String(), "reason", e.Reason)
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

// SendLater is Send for a message that another one follows at once: it may wait for that.
func (c *ServerConn) SendLater(requestID uint32, m ua.Structure) error {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.message(uacp.TypeMessage, requestID, m)
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
		c.sock.wake(0)
	}
	c.out.leave()
}

// MayWait reports whether ServeMessage, which calls it, may wait for others.
func (c *ServerConn) MayWait() bool { return c.mayWait }

// Cut ends the connection at once, without a word.
func (c *ServerConn) Cut() { c.sock.cut() }

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
func (c *ServerConn) RemoteAddr() net.Addr { return c.remote }

// String names the connection in logs.
func (c *ServerConn) String() string {
	return fmt.Sprintf("channel %d of %v", c.ChannelID(), c.remote)
}
