package uaclient

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uapki"
)

// Config says how to connect. The zero value is an anonymous session under the best security that the
// server offers. It is checked and copied by Dial.
type Config struct {
	// SecurityPolicy is the short name of a policy ("Basic256Sha256"), its URI, "None", or "" or
	// "auto" for the best that the server offers and whose certificate is trusted. Auto takes None only when
	// the server offers nothing else; it never falls back to None because a certificate was refused.
	SecurityPolicy string
	// Mode is the message security mode; the zero value is the best that goes with the policy.
	Mode ua.MessageSecurityMode
	// AllowDeprecated permits policies that Part 7 withdrew: Basic128Rsa15 and Basic256.
	AllowDeprecated bool

	// User is who logs in: Anonymous (default) or UserName.
	User UserIdentity
	// AllowPlainPassword permits sending a password that neither the token policy nor the channel
	// encrypts. Without it such a login fails with BadIdentityTokenRejected before anything is sent.
	AllowPlainPassword bool

	// Identity is the client's certificate and key. Nil: the own certificate of PKI, made when there
	// is none. Policy None needs no identity.
	Identity *uapki.Identity
	// PKI holds the certificates that the client trusts. Refused ones are recorded in it.
	PKI *uapki.Store
	// VerifyServer has the last word on the server's certificate when not nil: nil accepts it. It is also
	// called when the checks found nothing (Err is nil then).
	VerifyServer func(ctx context.Context, cert *ServerCertificate) error
	// SkipHostName leaves out the check that the certificate is for the host that was dialled, for
	// servers behind address translation.
	SkipHostName bool
	// InsecureSkipVerify accepts any server certificate. The session is then encrypted, but nobody
	// knows for whom.
	InsecureSkipVerify bool

	// Endpoint skips discovery and connects to this endpoint at the dialled URL.
	Endpoint *ua.EndpointDescription

	// ApplicationName and ProductURI describe the client to the server; default "actua" and
	// "urn:actua". ApplicationURI is used without a certificate only, default urn:<host>:actua:client;
	// with one, the certificate's URI is sent, because servers compare the two.
	ApplicationName, ApplicationURI, ProductURI string
	// SessionName is shown in the server's diagnostics; default the application name and host.
	SessionName string
	// SessionTimeout is how long the server keeps the session without a request; default 60 s. The
	// server may revise it.
	SessionTimeout time.Duration
	// Locales are the languages wanted for texts, best first ("de-CH", "en").
	Locales []string

	// RequestTimeout bounds a call whose context has no deadline; default 30 s, negative for none.
	RequestTimeout time.Duration
	// Retry makes Dial try again until the server is there or the context ends. Nil: one attempt.
	Retry *Retry
	// ChannelLifetime is the requested lifetime of a security token; 0 is the link's default.
	ChannelLifetime time.Duration
	// Messages bounds what goes over the wire.
	Messages MessageLimits
	// Types knows structures of other namespaces than 0; LoadTypes adds to it. Nil makes a new one.
	Types *ua.TypeTable
	// Dialer opens connections; nil is a plain net.Dialer.
	Dialer func(ctx context.Context, network, address string) (net.Conn, error)
	// Trace hears of each step of Dial as it ends, on the goroutine that dials and in their order; the
	// last one may have failed; with Retry that goes for each attempt. Nil: nobody does.
	Trace func(Progress)
	// Log receives what is worth knowing; nil discards.
	Log *slog.Logger
}

// MessageLimits are the four numbers of the Hello message (Part 6, 7.1.2.3). 0 takes the default: 64
// KiB buffers, messages of 16 MiB in any number of chunks.
type MessageLimits struct {
	ReceiveBufferSize uint32 // bytes of the largest chunk to receive
	SendBufferSize    uint32 // bytes of the largest chunk to send
	MaxMessageSize    uint32 // bytes of the largest response body
	MaxChunkCount     uint32 // chunks of the largest response
}

// ServerCertificate is what Config.VerifyServer decides about.
type ServerCertificate struct {
	Chain      []*x509.Certificate // the leaf first
	Thumbprint string              // SHA-1 of the leaf in upper-case hex
	HostName   string              // the host that was dialled
	Endpoint   *ua.EndpointDescription
	Offered    []ua.EndpointDescription // all endpoints of the server
	Err        error                    // what the checks of Config.PKI found; nil when they passed
}

// UserIdentity is Anonymous or UserName (Part 4, 7.40).
type UserIdentity interface{ tokenType() ua.UserTokenType }

// Anonymous is a user without a name (Part 4, 7.40.3).
type Anonymous struct{}

func (Anonymous) tokenType() ua.UserTokenType { return ua.UserTokenTypeAnonymous }

// UserName is a user with a password (Part 4, 7.40.4).
type UserName struct{ Name, Password string }

func (UserName) tokenType() ua.UserTokenType { return ua.UserTokenTypeUserName }

// String hides the password.
func (u UserName) String() string { return u.Name }

// GoString hides the password.
func (u UserName) GoString() string { return fmt.Sprintf("uaclient.UserName{Name: %q}", u.Name) }

// LogValue hides the password from loggers of package log/slog.
func (u UserName) LogValue() slog.Value { return slog.StringValue(u.Name) }

// settings is a Config with defaults, checked.
type settings struct {
	Config
	policy  *secpol.Policy // nil: auto
	offered []ua.EndpointDescription
	steps   steps
}

func (c *Config) check() (*settings, error) {
	s := &settings{}
	if c != nil {
		s.Config = *c
	}
	if s.SecurityPolicy != "" && s.SecurityPolicy != "auto" {
		p, err := secpol.ByURI(s.SecurityPolicy)
		if err != nil {
			p, err = secpol.ByName(s.SecurityPolicy)
		}
		if err != nil {
			return nil, err
		}
		if p.Deprecated && !s.AllowDeprecated {
			return nil, reason(ua.BadSecurityPolicyRejected,
				"security policy %s is withdrawn because it is no longer safe, and not allowed here", p.Name)
		}
		s.policy = p
	}
	switch {
	case s.Mode < 0 || s.Mode > ua.MessageSecurityModeSignAndEncrypt,
		s.policy != nil && s.policy.IsNone() && s.Mode > ua.MessageSecurityModeNone,
		s.policy != nil && !s.policy.IsNone() && s.Mode == ua.MessageSecurityModeNone:
		return nil, reason(ua.BadSecurityModeRejected, "mode %v does not go with security policy %s", s.Mode, s.SecurityPolicy)
	}
	if s.User == nil {
		s.User = Anonymous{}
	}
	if u, ok := s.User.(UserName); ok && u.Name == "" {
		return nil, reason(ua.BadIdentityTokenInvalid, "user without a name")
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	defaultTo(&s.ApplicationName, "actua")
	defaultTo(&s.ApplicationURI, "urn:"+host+":actua:client")
	defaultTo(&s.ProductURI, "urn:actua")
	defaultTo(&s.SessionName, s.ApplicationName+" on "+host)
	defaultTo(&s.SessionTimeout, 60*time.Second)
	defaultTo(&s.RequestTimeout, 30*time.Second)
	if s.SessionTimeout < 0 || s.ChannelLifetime < 0 {
		return nil, reason(ua.BadConfigurationError, "a negative timeout")
	}
	if err := s.checkRetry(); err != nil {
		return nil, err
	}
	if s.Types == nil {
		s.Types = new(ua.TypeTable)
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

func defaultTo[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// identity is the client's certificate, loaded when first needed.
func (s *settings) identity() (*uapki.Identity, error) {
	if s.Identity != nil {
		return s.Identity, nil
	}
	if s.PKI == nil {
		return nil, reason(ua.BadConfigurationError, "a secure channel needs a client certificate: set Identity or PKI")
	}
	id, _, err := s.PKI.LoadOrCreate(uapki.CertificateOptions{CommonName: s.ApplicationName})
	if err != nil {
		return nil, err
	}
	s.Identity = id
	return id, nil
}

// limited gives a context without a deadline the request timeout.
func (s *settings) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || s.RequestTimeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.RequestTimeout)
}

// wire is what the Hello message offers.
func (m MessageLimits) wire() uacp.Limits {
	return uacp.Limits{
		ReceiveBufferSize: m.ReceiveBufferSize, SendBufferSize: m.SendBufferSize,
		MaxMessageSize: m.MaxMessageSize, MaxChunkCount: m.MaxChunkCount,
	}
}

// decode lets a single string or array fill a message whose limit was raised.
func (m MessageLimits) decode() uabin.Limits {
	var l uabin.Limits
	if n := int(m.MaxMessageSize); n > uabin.DefaultMaxByteString {
		l.MaxString, l.MaxByteString, l.MaxArray = n, n, n
	}
	return l
}

// PolicyInfo describes a security policy that this package supports.
type PolicyInfo struct {
	Name       string // short name, such as "Basic256Sha256"
	URI        string
	Deprecated bool // withdrawn by Part 7; needs Config.AllowDeprecated
}

// Policies lists the supported security policies, None first and the best last.
func Policies() []PolicyInfo {
	var all []PolicyInfo
	for _, p := range secpol.Policies() {
		all = append(all, PolicyInfo{Name: p.Name, URI: p.URI, Deprecated: p.Deprecated})
	}
	return all
}
