package uaserver

import (
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uabin"
)

// channel is what the services need of a secure channel, whatever carries it (Part 4, 5.6).
type channel interface {
	// Send sends a response from any goroutine. It returns BadResponseTooLarge, with nothing sent,
	// when the response exceeds the client's limits, and BadEncodingError when it cannot be encoded.
	Send(requestID uint32, m ua.Structure) error
	// SendLater is Send for a message that another one follows at once.
	SendLater(requestID uint32, m ua.Structure) error
	// ChannelID tells channels apart.
	ChannelID() uint32
	Policy() *secpol.Policy
	Mode() ua.MessageSecurityMode
	// ClientCertificate is the client's certificate field in DER; nil without security.
	ClientCertificate() []byte
	// EndpointURL is the address that the client used, as it said in its Hello.
	EndpointURL() string
	RemoteAddr() net.Addr
	// MaxResponse is the size of a response that the client takes, in bytes; 0 for no limit.
	MaxResponse() int
	// SetTrusted tells that a user has logged in.
	SetTrusted(bool)
	Close(status ua.StatusCode, reason string)
}

// conn is a secure channel with what its requests share. dispatch is called by one goroutine at a time.
type conn struct {
	server  *Server
	channel channel
	reader  uabin.Reader
	intern  uabin.Interner
	last    *session     // of the last request, so that most requests need no lookup
	logins  atomic.Int32 // sessions activated here
	trust   sync.Mutex   // so that logins and what the channel was told agree; guards sessions

	sessions map[*session]struct{} // activated here
}

func (s *Server) newConn(ch channel) *conn {
	c := &conn{server: s, channel: ch}
	c.reader.Types = s.types
	return c
}

func (c *conn) remote() string {
	if a := c.channel.RemoteAddr(); a != nil {
		return a.String()
	}
	return ""
}

// sessionOf finds the session of an authentication token; nil if there is none.
func (c *conn) sessionOf(token ua.NodeID) *session {
	if s := c.last; s != nil && s.token == token && !s.ended.Load() {
		return s
	}
	c.last = c.server.sessions.find(token)
	return c.last
}

// loggedIn and loggedOut count the sessions of the channel and tell it whether there are any.
func (c *conn) loggedIn(x *session) {
	c.trust.Lock()
	defer c.trust.Unlock()
	if c.sessions == nil {
		c.sessions = map[*session]struct{}{}
	}
	c.sessions[x] = struct{}{}
	c.countLogins(1)
}

func (c *conn) loggedOut(x *session) {
	c.trust.Lock()
	defer c.trust.Unlock()
	delete(c.sessions, x)
	c.countLogins(-1)
}

func (c *conn) countLogins(change int32) {
	before := c.logins.Load()
	c.logins.Store(before + change)
	if (before == 0) != (before+change == 0) {
		c.channel.SetTrusted(before == 0)
	}
}

// closed is called when the channel has ended. Sessions stay until their time-out, to be activated on another
// channel, but Publish requests that came over this one are gone.
func (c *conn) closed() {
	c.trust.Lock()
	list := make([]*session, 0, len(c.sessions))
	for x := range c.sessions {
		list = append(list, x)
	}
	c.trust.Unlock()
	for _, x := range list {
		if y := x.subs.Load(); y != nil {
			y.DropChannel(c.server.clock(c.server.now()), c.channel.ChannelID())
		}
	}
}

// refuse answers with a ServiceFault before there is a call.
func (c *conn) refuse(requestID uint32, h *ua.RequestHeader, status ua.StatusCode, detail string) {
	c.server.stats.rejected.Add(1)
	var f ua.ServiceFault
	c.sendFault(requestID, h, &f, status, detail)
}

// refuseUnread is refuse for a request of which only the header is decoded, within little memory: the
// client's handle comes before all that can be large.
func (c *conn) refuseUnread(requestID uint32, status ua.StatusCode, detail string) {
	limits := c.server.decode
	limits.MaxMemory = smallRequest
	c.reader.Reset(c.reader.Rest(), limits)
	var h ua.RequestHeader
	h.DecodeBinary(&c.reader)
	c.refuse(requestID, &h, status, detail)
}

func (c *conn) sendFault(requestID uint32, h *ua.RequestHeader, f *ua.ServiceFault, status ua.StatusCode, detail string) {
	f.ResponseHeader = ua.ResponseHeader{
		Timestamp:     ua.NewDateTime(c.server.now()),
		RequestHandle: h.RequestHandle,
		ServiceResult: status,
	}
	diagnoseService(&f.ResponseHeader, h.ReturnDiagnostics, status, detail)
	// An error here means that the channel is gone, and with it whoever wanted the answer.
	_ = c.channel.Send(requestID, f)
}

// unsent is what the client is to be told of a response that could not be sent, if the channel is still there
// for that.
func (c *conn) unsent(err error, large string) (status ua.StatusCode, detail string, tell bool) {
	switch status = ua.StatusOf(err).Base(); status {
	case ua.BadResponseTooLarge:
		return status, large, true
	case ua.BadEncodingError:
		c.server.log.Error("a response cannot be encoded", "remote", c.remote(), "error", err)
		return status, "a value cannot be encoded; the server's log has more", true
	}
	return status, "", false
}

func stack() string { return string(debug.Stack()) }
