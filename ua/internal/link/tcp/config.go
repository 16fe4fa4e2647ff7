// Package tcp carries secure conversations over sockets (Part 6, 7.2): the handshake, the loop that
// reads chunks, the outbound lock that orders writers, deadlines, and the renewal of a client's
// token. What the bytes mean is decided in packages uacp and uasc.
package tcp

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// Identity is one side's application instance certificate chain and key.
type Identity = uasc.Identity

// Defaults of ServerConfig and ClientConfig.
const (
	DefaultHandshakeTimeout = 10 * time.Second
	DefaultWriteTimeout     = 30 * time.Second
	DefaultMinLifetime      = time.Minute
	DefaultMaxLifetime      = time.Hour
	DefaultMaxOpenMessage   = 256 << 10
	DefaultMaxOutbound      = 16 << 20
)

// ServerConfig tells how connections are served. It is shared by all connections of a server and
// must not be changed once one of them uses it. Zero values mean the defaults.
type ServerConfig struct {
	// Limits are what the server offers in its Acknowledge.
	Limits uacp.Limits
	// MaxOpenMessage is the largest message, in bytes, that a peer may send before the connection is
	// trusted (ServerConn.SetTrusted); default 256 KiB.
	MaxOpenMessage uint32
	// MaxOutbound bounds the bytes that wait for a peer that does not read: when they are more as
	// another message is sent, the connection ends. Default 16 MiB.
	MaxOutbound int
	// Identity returns the server's certificate chain and key, asked for each new channel. Nil, or
	// a nil result: only policy None is possible.
	Identity func() *uasc.Identity
	// Open is asked about each new channel once its signature is verified: whether the policy and
	// mode are offered at this URL, and whether the certificate is trusted. Its error leaves as an
	// ERR message with the status code that ua.StatusOf finds in it. Nil allows everything.
	Open func(o *OpenRequest) error
	// CheckURL is asked about the endpoint URL of the Hello. Host and port in it are what the client
	// dialled, which behind a port mapping is not what the server listens on (report V14): only the
	// path can matter. Nil allows every URL.
	CheckURL func(url string) error
	// HandshakeTimeout is how long a peer may take for its Hello, and again for its
	// OpenSecureChannel, and until the connection is trusted also for finishing a message that it
	// has begun; default 10 s.
	HandshakeTimeout time.Duration
	// IdleTimeout ends a connection that has sent nothing for that long. Zero: it ends when its
	// token is not renewed, at 125 % of the token's lifetime.
	IdleTimeout time.Duration
	// WriteTimeout is how long one write may take before the peer counts as gone; default 30 s.
	WriteTimeout time.Duration
	// MinLifetime and MaxLifetime bound the lifetime of a token; defaults 1 min and 1 h.
	MinLifetime, MaxLifetime time.Duration
	// Budget bounds the memory for incomplete messages of all connections together; nil: no bound.
	Budget *uasc.Budget
	// Gate bounds the work on OpenSecureChannel of all connections together; nil: no bound.
	Gate *Gate
	// Handler takes the requests. It must be set.
	Handler Handler
	// Loops serve connections of TCP; nil, or another kind of net.Conn: a goroutine a connection.
	Loops *Loops
	// Log takes a line for each connection that ends in an error; nil: slog.Default.
	Log *slog.Logger
	// Now is the clock by which the lifetimes of tokens are measured; nil: time.Now.
	Now func() time.Time
}

// withDefaults returns a copy whose zeros are replaced.
func (cfg *ServerConfig) withDefaults() *ServerConfig {
	c := *cfg
	c.Limits = c.Limits.WithDefaults()
	defaultTo(&c.MaxOpenMessage, DefaultMaxOpenMessage)
	c.MaxOpenMessage = min(c.MaxOpenMessage, c.Limits.MaxMessageSize)
	defaultTo(&c.MaxOutbound, DefaultMaxOutbound)
	defaultTo(&c.HandshakeTimeout, DefaultHandshakeTimeout)
	defaultTo(&c.WriteTimeout, DefaultWriteTimeout)
	defaultTo(&c.MinLifetime, DefaultMinLifetime)
	defaultTo(&c.MaxLifetime, DefaultMaxLifetime)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &c
}

func defaultTo[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// OpenRequest describes a channel that a client asks for, for ServerConfig.Open.
type OpenRequest struct {
	Policy      *secpol.Policy
	Mode        ua.MessageSecurityMode
	ClientChain [][]byte // DER, leaf first; as sent, also with policy None
	EndpointURL string   // of the Hello
	RemoteAddr  net.Addr
}

// Handler takes what arrives on the connections of a server.
type Handler interface {
	// ServeMessage is called where the connection is read, for each complete request. Body, which
	// begins with the type's NodeID, is valid until it returns; at is when it was read. It must not
	// block. If it would have to, because much is going on, it returns false without having done
	// anything and is called again where it may: when ServerConn.MayWait is true.
	ServeMessage(c *ServerConn, at time.Time, requestID uint32, body []byte) (done bool)
	// Closed is called once, when a connection whose channel was open has ended; nothing is called
	// after it. Err is nil when the client closed the channel.
	Closed(c *ServerConn, err error)
}

// ClientConfig tells how a connection is opened. Zero values mean the defaults.
type ClientConfig struct {
	Policy      *secpol.Policy         // nil: secpol.None
	Mode        ua.MessageSecurityMode // zero: None with policy None, else SignAndEncrypt
	Identity    *uasc.Identity         // may be nil with policy None
	ServerChain [][]byte               // DER, leaf first; may be empty with policy None
	// Limits are what the client offers in its Hello.
	Limits uacp.Limits
	// DecodeLimits bound what responses may make the decoder allocate.
	DecodeLimits uabin.Limits
	// Types knows structures of other namespaces than 0; may be nil.
	Types *ua.TypeTable
	// Lifetime is asked for each token; default 1 h. It is renewed at 75 % of what the server grants.
	Lifetime time.Duration
	// HandshakeTimeout bounds connecting and each of the two handshakes; default 10 s.
	HandshakeTimeout time.Duration
	// WriteTimeout is how long one write may take before the server counts as gone; default 30 s.
	WriteTimeout time.Duration
	// Dialer makes the connection; nil: net.Dialer.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// Done hears of each step that succeeded, on the dialling goroutine; nil: nobody does.
	Done func(step string)
	// Log takes a line for what no caller hears of; nil: slog.Default.
	Log *slog.Logger
	// Now is the clock by which the lifetimes of tokens are measured; nil: time.Now.
	Now func() time.Time
}

// withDefaults returns a copy whose zeros are replaced.
func (cfg *ClientConfig) withDefaults() *ClientConfig {
	c := ClientConfig{}
	if cfg != nil {
		c = *cfg
	}
	if c.Policy == nil {
		c.Policy = secpol.None
	}
	if c.Mode == ua.MessageSecurityModeInvalid {
		c.Mode = ua.MessageSecurityModeSignAndEncrypt
		if c.Policy.IsNone() {
			c.Mode = ua.MessageSecurityModeNone
		}
	}
	c.Limits = c.Limits.WithDefaults()
	defaultTo(&c.Lifetime, DefaultMaxLifetime)
	defaultTo(&c.HandshakeTimeout, DefaultHandshakeTimeout)
	defaultTo(&c.WriteTimeout, DefaultWriteTimeout)
	if c.Dialer == nil {
		c.Dialer = new(net.Dialer).DialContext
	}
	if c.Done == nil {
		c.Done = func(string) {}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &c
}
