package uaserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uapki"
)

// Config says what a Server offers. The zero value of every field is its default.
type Config struct {
	// ApplicationName is shown to people; default "Actua server".
	ApplicationName string
	// ApplicationURI identifies this installation, and is the URI of namespace 1. Default: the one in
	// the certificate, or "urn:" with the host name.
	ApplicationURI string
	ProductURI     string // default "urn:actua"
	// BuildInfo is shown in ServerStatus (Part 5, 12.4). An empty ProductURI is that of Config.
	BuildInfo ua.BuildInfo

	// URLs are the addresses that clients are told, such as "opc.tcp://plant7:4840", in which host and
	// port are replaced by what a client used to come here. ListenAndServe listens on their ports.
	// Default: those of the listeners.
	URLs []string

	// Identity is the server's certificate and key. Without one only policy None can be offered.
	Identity *uapki.Identity
	// Policies are the security policies offered, as names ("Basic256Sha256") or URIs. Default: None,
	// and with an Identity all that are not deprecated.
	Policies []string
	// AllowDeprecated lets Policies name Basic256 and Basic128Rsa15, which can be broken.
	AllowDeprecated bool
	// Modes are offered with every policy but None; default Sign and SignAndEncrypt.
	Modes []ua.MessageSecurityMode
	// VerifyClient decides whether a client's certificate, in DER with the leaf first, is trusted; the
	// client is told the status code in its error, or BadCertificateUntrusted. Default: Store decides,
	// and without a Store nobody is trusted. AcceptAnyClient trusts everybody.
	VerifyClient func(chain [][]byte, securityPolicyURI string) error
	// Store holds the trusted certificates. Those of refused clients are recorded in it.
	Store *uapki.Store

	// Users are user names with their passwords.
	Users map[string]string
	// Authenticate decides about the users that are not in Users. A bad ua.StatusCode in the error is
	// told to the client, any other error becomes BadUserAccessDenied. It may block.
	Authenticate func(ctx context.Context, user, password string) error
	// AllowAnonymous offers anonymous login beside Users and Authenticate. With neither of them
	// anonymous login is always offered.
	AllowAnonymous bool
	// AllowPlainPasswords offers user names where nothing can encrypt the password: on an endpoint of
	// policy None of a server without an Identity.
	AllowPlainPasswords bool

	// Diagnostics counts what sessions and subscriptions do, and lets clients read it under
	// ServerDiagnostics (Part 5, 6.3.3). Without it EnabledFlag is false and the rest not readable.
	Diagnostics bool

	// InterceptPublish sees each Publish response with a notification message before it leaves. It changes
	// nothing, returns at once, and copies what it keeps: the memory of the message is used again. Several
	// goroutines may call it at once, for different sessions.
	InterceptPublish func(session *SessionInfo, response *ua.PublishResponse)

	// EventLoops is how many threads serve connections, on Linux. Default: one less than the processors
	// that Go may use, so that one is left for what feeds the server, and at least one. Negative, and on
	// other systems: a goroutine for each connection.
	EventLoops int

	Limits Limits
	// Nodes are the node managers. Their namespaces follow namespace 1 in their order; one must have
	// namespace 0, "http://opcfoundation.org/UA/".
	Nodes []NodeManager
	// Logger gets a line for each refused or hostile client, at most 20 a second; default slog.Default.
	// It is called where requests are handled: it must not wait for this server.
	Logger *slog.Logger
	// Now is the clock; default time.Now. It is called with locks held and must not use the server.
	Now func() time.Time
}

// AcceptAnyClient is a Config.VerifyClient that trusts every client certificate. What clients do is
// then signed and encrypted, but anybody can be a client.
func AcceptAnyClient([][]byte, string) error { return nil }

// security is a pair of policy and mode that is offered.
type security struct {
	policy *secpol.Policy
	mode   ua.MessageSecurityMode
}

// settings is a Config after its checks.
type settings struct {
	Config
	secure    []security
	passwords map[string][sha256.Size]byte
	cert      []byte // of Identity, with its issuers; nil without
}

func processors() int { return runtime.GOMAXPROCS(0) }

func (c Config) check() (*settings, error) {
	s := &settings{Config: c}
	var err error
	if s.Limits, err = c.Limits.withDefaults(); err != nil {
		return nil, err
	}
	if s.EventLoops == 0 {
		s.EventLoops = max(processors()-1, 1)
	}
	s.URLs, s.Nodes, s.Modes = slices.Clone(c.URLs), slices.Clone(c.Nodes), slices.Clone(c.Modes)
	for _, u := range s.URLs {
		if p, err := url.Parse(u); err != nil || p.Scheme != "opc.tcp" || p.Host == "" {
			return nil, fmt.Errorf("Config.URLs: %q is not an address like opc.tcp://host:4840", u)
		}
	}
	if c.Identity != nil {
		if len(c.Identity.Chain) == 0 || c.Identity.Key == nil {
			return nil, errors.New("Config.Identity has no certificate or no key")
		}
		s.cert = c.Identity.Certificate()
	}
	if s.ApplicationURI == "" {
		if s.ApplicationURI = "urn:" + hostName() + ":actua"; c.Identity != nil && c.Identity.ApplicationURI != "" {
			s.ApplicationURI = c.Identity.ApplicationURI
		}
	}
	if c.Identity != nil && c.Identity.ApplicationURI != s.ApplicationURI {
		return nil, fmt.Errorf("Config.ApplicationURI %q is not the one in the certificate, %q", s.ApplicationURI, c.Identity.ApplicationURI)
	}
	fill(&s.ApplicationName, "Actua server")
	fill(&s.ProductURI, "urn:actua")
	fill(&s.BuildInfo.ProductURI, s.ProductURI)
	fill(&s.BuildInfo.ProductName, s.ApplicationName)
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.passwords = make(map[string][sha256.Size]byte, len(c.Users))
	for name, password := range c.Users {
		if name == "" {
			return nil, errors.New("Config.Users has a user without a name")
		}
		s.passwords[name] = sha256.Sum256([]byte(password))
	}
	s.Users = maps.Clone(c.Users)
	if len(c.Users) == 0 && c.Authenticate == nil {
		s.AllowAnonymous = true
	}
	return s, s.checkSecurity()
}

func fill(s *string, def string) {
	if *s == "" {
		*s = def
	}
}

func (s *settings) checkSecurity() error {
	if len(s.Modes) == 0 {
		s.Modes = []ua.MessageSecurityMode{ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt}
	}
	for _, m := range s.Modes {
		if m != ua.MessageSecurityModeSign && m != ua.MessageSecurityModeSignAndEncrypt {
			return fmt.Errorf("Config.Modes: %v is neither Sign nor SignAndEncrypt; to offer no security add policy None", m)
		}
	}
	names := s.Policies
	if len(names) == 0 {
		for _, p := range secpol.Policies() {
			if p.IsNone() || s.Identity != nil && !p.Deprecated {
				names = append(names, p.Name)
			}
		}
	}
	for _, name := range names {
		p, err := secpol.ByName(strings.TrimPrefix(name, secpol.URIPrefix))
		switch {
		case err != nil:
			return fmt.Errorf("Config.Policies: %w", err)
		case p.Deprecated && !s.AllowDeprecated:
			return fmt.Errorf("Config.Policies: %s can be broken; set AllowDeprecated to offer it all the same", p.Name)
		case p.IsNone():
			s.secure = append(s.secure, security{p, ua.MessageSecurityModeNone})
			continue
		case s.Identity == nil:
			return fmt.Errorf("Config.Policies: %s needs an Identity", p.Name)
		}
		if err := p.CheckKey(&s.Identity.Key.PublicKey); err != nil {
			return fmt.Errorf("Config.Identity: %w", err)
		}
		for _, m := range s.Modes {
			s.secure = append(s.secure, security{p, m})
		}
	}
	return nil
}

// offers reports whether sessions may use a policy with a mode.
func (s *settings) offers(p *secpol.Policy, mode ua.MessageSecurityMode) bool {
	return slices.Contains(s.secure, security{p, mode})
}

// verifyUser checks a user's password in constant time.
func (s *settings) verifyUser(ctx context.Context, user, password string) error {
	if want, ok := s.passwords[user]; ok {
		got := sha256.Sum256([]byte(password))
		if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
			return nil
		}
		return ua.BadUserAccessDenied
	}
	if s.Authenticate != nil && user != "" {
		return s.Authenticate(ctx, user, password)
	}
	return ua.BadUserAccessDenied
}
