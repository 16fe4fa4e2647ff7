package uaserver

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uapki"
)

func openRequest(p *secpol.Policy, mode ua.MessageSecurityMode) *tcp.OpenRequest {
	return &tcp.OpenRequest{Policy: p, Mode: mode}
}

var makeIdentities = sync.OnceValues(func() ([2]*uapki.Identity, error) {
	var ids [2]*uapki.Identity
	for i, uri := range []string{"urn:test:server", "urn:test:client"} {
		id, err := uapki.NewIdentity(uapki.CertificateOptions{ApplicationURI: uri})
		if err != nil {
			return ids, err
		}
		ids[i] = id
	}
	return ids, nil
})

func testIdentity(t testing.TB) *uapki.Identity   { return identities(t)[0] }
func clientIdentity(t testing.TB) *uapki.Identity { return identities(t)[1] }

func identities(t testing.TB) [2]*uapki.Identity {
	ids, err := makeIdentities()
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func userToken(t testing.TB, e *ua.EndpointDescription, channel *secpol.Policy, nonce []byte, user, password string) *ua.UserNameIdentityToken {
	t.Helper()
	for _, p := range e.UserIdentityTokens {
		if p.TokenType != ua.UserTokenTypeUserName {
			continue
		}
		policy := channel
		if p.SecurityPolicyURI != "" {
			policy, _ = secpol.ByURI(p.SecurityPolicyURI)
		}
		tok := &ua.UserNameIdentityToken{PolicyID: p.PolicyID, UserName: user, Password: []byte(password), EncryptionAlgorithm: policy.AsymmetricEncryptionURI}
		if !policy.IsNone() {
			pub, err := secpol.LeafPublicKey(e.ServerCertificate)
			if err != nil {
				t.Fatal(err)
			}
			if tok.Password, err = policy.EncryptSecret(pub, []byte(password), nonce); err != nil {
				t.Fatal(err)
			}
		}
		return tok
	}
	t.Fatal("no user name policy offered")
	return nil
}

// S21: channel None, password encrypted with the policy of the token.
func TestTokenPolicyDiffersFromChannel(t *testing.T) {
	long := strings.Repeat("ü", 200)
	s, _, _ := newTestServer(t, func(c *Config) {
		c.Identity, c.Users = testIdentity(t), map[string]string{"ada": "secret", long: "other"}
	})
	for user, password := range map[string]string{"ada": "secret", long: "other"} {
		c := s.fakeClient(t, newFakeChannel())
		p, err := c.create()
		if err != nil {
			t.Fatal(err)
		}
		e := &p.ServerEndpoints[0]
		if e.SecurityPolicyURI != secpol.None.URI {
			t.Fatalf("first endpoint has policy %s", e.SecurityPolicyURI)
		}
		if err := c.activate(userToken(t, e, secpol.None, c.nonce, user, "wrong")); !errors.Is(err, ua.BadUserAccessDenied) {
			t.Errorf("wrong password: %v", err)
		}
		if err := c.activate(&ua.UserNameIdentityToken{PolicyID: userNamePolicyID + "-encrypted", UserName: user, Password: []byte(password)}); !errors.Is(err, ua.BadIdentityTokenInvalid) {
			t.Errorf("password in clear: %v", err)
		}
		tok := userToken(t, e, secpol.None, c.nonce, user, password)
		if err := c.activate(tok); err != nil {
			t.Errorf("right password: %v", err)
		}
		if err := c.activate(tok); !errors.Is(err, ua.BadIdentityTokenRejected) {
			t.Errorf("a token used twice: %v", err)
		}
	}
}

// S24 and S27: what is not offered is refused, whatever it is.
func TestOnlyOfferedTokens(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) {
		c.Identity, c.Users = testIdentity(t), map[string]string{"ada": "secret"}
	})
	ch := newFakeChannel()
	for name, x := range map[string]struct {
		token ua.Structure
		want  ua.StatusCode
	}{
		"null":            {nil, ua.BadIdentityTokenInvalid},
		"anonymous":       {&ua.AnonymousIdentityToken{PolicyID: anonymousPolicyID}, ua.BadIdentityTokenInvalid},
		"certificate":     {&ua.X509IdentityToken{PolicyID: "x"}, ua.BadIdentityTokenInvalid},
		"issued":          {&ua.IssuedIdentityToken{PolicyID: "x"}, ua.BadIdentityTokenInvalid},
		"no token at all": {&ua.Argument{}, ua.BadIdentityTokenInvalid},
		"policy id":       {&ua.UserNameIdentityToken{PolicyID: "x", UserName: "ada", Password: []byte("secret")}, ua.BadIdentityTokenInvalid},
		"empty user":      {&ua.UserNameIdentityToken{PolicyID: userNamePolicyID + "-encrypted"}, ua.BadIdentityTokenInvalid},
	} {
		c := s.fakeClient(t, ch)
		if _, err := c.create(); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, name, c.activate(x.token), x.want)
	}
	c := s.fakeClient(t, ch)
	p, _ := c.create()
	wantStatus(t, "empty password", c.activate(userToken(t, &p.ServerEndpoints[0], secpol.None, c.nonce, "ada", "")), ua.BadUserAccessDenied)
	wantStatus(t, "unknown user", c.activate(userToken(t, &p.ServerEndpoints[0], secpol.None, c.nonce, "bob", "secret")), ua.BadUserAccessDenied)
	if got := s.Stats(); got.Logins != 0 || got.LoginsRejected != 9 {
		t.Errorf("stats %+v", got)
	}
}

func TestLockout(t *testing.T) {
	var log strings.Builder
	s, _, clock := newTestServer(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Users, c.AllowPlainPasswords = map[string]string{"ada": "secret", "bob": "x"}, true
		c.Limits.MaxLoginFailures = 3
	})
	ch := newFakeChannel()
	try := func(ch *fakeChannel, user, password string) error {
		c := s.fakeClient(t, ch)
		if _, err := c.create(); err != nil {
			t.Fatal(err)
		}
		return c.activate(&ua.UserNameIdentityToken{PolicyID: userNamePolicyID, UserName: user, Password: []byte(password)})
	}
	for range 3 {
		wantStatus(t, "wrong", try(ch, "ada", "wrong"), ua.BadUserAccessDenied)
	}
	wantStatus(t, "locked out", try(ch, "ada", "secret"), ua.BadUserAccessDenied)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, line := range lines {
		if locked := strings.Contains(line, "is locked out"); locked != (i == 3) || strings.Count(line, "BadUserAccessDenied") != 1 {
			t.Errorf("the log says %s", line)
		}
	}
	if len(lines) != 4 {
		t.Errorf("the log has %d lines", len(lines))
	}
	if err := try(ch, "bob", "x"); err != nil {
		t.Errorf("other user: %v", err)
	}
	elsewhere := newFakeChannel()
	elsewhere.addr = "192.0.2.2:1"
	if err := try(elsewhere, "ada", "secret"); err != nil {
		t.Errorf("other address: %v", err)
	}
	clock.add(s.cfg.Limits.LockoutTime)
	if err := try(ch, "ada", "secret"); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// secured is a client on a secured fake channel.
func secured(t testing.TB, s *Server, policy *secpol.Policy, mode ua.MessageSecurityMode) *fakeClient {
	ch := newFakeChannel()
	ch.policy, ch.mode, ch.cert = policy, mode, clientIdentity(t).Certificate()
	return s.fakeClient(t, ch)
}

func (c *fakeClient) createSecured(change func(*ua.CreateSessionRequest)) (*ua.CreateSessionResponse, []byte, error) {
	q, p := ua.CreateSessionRequest{ClientNonce: bytes.Repeat([]byte{7}, 32), ClientCertificate: c.ch.cert}, new(ua.CreateSessionResponse)
	q.ClientDescription.ApplicationURI = "urn:test:client"
	q.RequestHeader.AuthenticationToken = ua.NewOpaqueNodeID(0, []byte{0})
	if change != nil {
		change(&q)
	}
	err := c.call(&q.RequestHeader, &q, p)
	c.token, c.nonce = p.AuthenticationToken, p.ServerNonce
	return p, q.ClientNonce, err
}

func (c *fakeClient) activateSecured(id *uapki.Identity, serverCert []byte, token ua.Structure) error {
	q, p := ua.ActivateSessionRequest{}, new(ua.ActivateSessionResponse)
	if token != nil {
		q.UserIdentityToken = ua.NewExtensionObject(token)
	}
	sig, err := c.ch.policy.AsymSign(id.Key, nil, append(bytes.Clone(serverCert), c.nonce...))
	if err != nil {
		c.t.Fatal(err)
	}
	q.ClientSignature = ua.SignatureData{Algorithm: c.ch.policy.AsymmetricSignatureURI, Signature: sig}
	if err := c.call(&q.RequestHeader, &q, p); err != nil {
		return err
	}
	c.nonce = p.ServerNonce
	return nil
}

func TestSecuredSessions(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) {
		c.Identity, c.Users, c.AllowAnonymous = testIdentity(t), map[string]string{"ada": "secret"}, true
	})
	if n := len(s.cfg.secure); n != 7 {
		t.Fatalf("%d pairs of policy and mode offered, want 7", n)
	}
	for _, sec := range s.cfg.secure {
		if sec.policy.IsNone() {
			continue
		}
		c := secured(t, s, sec.policy, sec.mode)
		p, nonce, err := c.createSecured(nil)
		if err != nil {
			t.Fatalf("%s %v: %v", sec.policy, sec.mode, err)
		}
		pub, _ := secpol.LeafPublicKey(p.ServerCertificate)
		if err := sec.policy.AsymVerify(pub, append(bytes.Clone(c.ch.cert), nonce...), p.ServerSignature.Signature); err != nil {
			t.Errorf("server signature: %v", err)
		}
		wantStatus(t, "wrong key", c.activateSecured(testIdentity(t), p.ServerCertificate, nil), ua.BadApplicationSignatureInvalid)
		wantStatus(t, "wrong data", c.activateSecured(clientIdentity(t), p.ServerCertificate[1:], nil), ua.BadApplicationSignatureInvalid)
		if err := c.activateSecured(clientIdentity(t), p.ServerCertificate, nil); err != nil {
			t.Fatalf("%s %v: %v", sec.policy, sec.mode, err)
		}
		tok := userToken(t, &p.ServerEndpoints[1], sec.policy, c.nonce, "ada", "secret") // empty policy URI: the channel's
		if err := c.activateSecured(clientIdentity(t), p.ServerCertificate, tok); err != nil {
			t.Fatalf("%s %v, user: %v", sec.policy, sec.mode, err)
		}
		if _, err := c.read(space.id(1)); err != nil {
			t.Error(err)
		}

		// Another channel takes the session over only with the same certificate and security.
		for name, change := range map[string]func(*fakeChannel){
			"certificate": func(ch *fakeChannel) { ch.cert = testIdentity(t).Certificate() },
			"none":        func(ch *fakeChannel) { ch.policy, ch.mode, ch.cert = secpol.None, ua.MessageSecurityModeNone, nil },
			"mode": func(ch *fakeChannel) {
				ch.mode = ua.MessageSecurityModeSign + ua.MessageSecurityModeSignAndEncrypt - ch.mode
			},
		} {
			thief := secured(t, s, sec.policy, sec.mode)
			change(thief.ch)
			thief.token, thief.nonce = c.token, c.nonce
			wantStatus(t, name, thief.activateSecured(clientIdentity(t), p.ServerCertificate, nil), ua.BadSecurityChecksFailed)
		}
	}
}

func TestCreateSessionChecks(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) { c.Identity = testIdentity(t) })
	policy, _ := secpol.ByName("Basic256Sha256")
	for name, x := range map[string]struct {
		change func(*ua.CreateSessionRequest)
		want   ua.StatusCode
	}{
		"short nonce":     {func(q *ua.CreateSessionRequest) { q.ClientNonce = q.ClientNonce[:31] }, ua.BadNonceInvalid},
		"no certificate":  {func(q *ua.CreateSessionRequest) { q.ClientCertificate = nil }, ua.BadCertificateInvalid},
		"another's":       {func(q *ua.CreateSessionRequest) { q.ClientCertificate = testIdentity(t).Certificate() }, ua.BadCertificateInvalid},
		"application URI": {func(q *ua.CreateSessionRequest) { q.ClientDescription.ApplicationURI = "urn:x" }, ua.BadCertificateUriInvalid},
		"long name":       {func(q *ua.CreateSessionRequest) { q.SessionName = strings.Repeat("x", maxDescription) }, ua.BadEncodingLimitsExceeded},
		"server URI":      {func(q *ua.CreateSessionRequest) { q.ServerURI = "urn:x" }, ua.BadServerUriInvalid},
	} {
		_, _, err := secured(t, s, policy, ua.MessageSecurityModeSign).createSecured(x.change)
		wantStatus(t, name, err, x.want)
	}
}

// A session moves to another channel for the same user only, with the right certificate even (Part 4,
// 5.7.3.1).
func TestMoveKeepsTheUser(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) {
		c.Identity, c.Users, c.AllowAnonymous = testIdentity(t), map[string]string{"ada": "secret", "bob": "x"}, true
	})
	policy, _ := secpol.ByName("Basic256Sha256")
	c := secured(t, s, policy, ua.MessageSecurityModeSignAndEncrypt)
	p, _, err := c.createSecured(nil)
	if err != nil {
		t.Fatal(err)
	}
	token := func(user, password string) ua.Structure {
		return userToken(t, &p.ServerEndpoints[1], policy, c.nonce, user, password)
	}
	if err := c.activateSecured(clientIdentity(t), p.ServerCertificate, token("ada", "secret")); err != nil {
		t.Fatal(err)
	}
	other := secured(t, s, policy, ua.MessageSecurityModeSignAndEncrypt)
	other.token, other.nonce = c.token, c.nonce
	wantStatus(t, "anonymous", other.activateSecured(clientIdentity(t), p.ServerCertificate, nil), ua.BadIdentityChangeNotSupported)
	wantStatus(t, "another user", other.activateSecured(clientIdentity(t), p.ServerCertificate, token("bob", "x")), ua.BadIdentityChangeNotSupported)
	if _, err := c.read(space.id(1)); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if err := other.activateSecured(clientIdentity(t), p.ServerCertificate, token("ada", "secret")); err != nil {
		t.Errorf("the same user: %v", err)
	}
}

// Without security the token may have been seen by anybody.
func TestMoveWithoutSecurityKeepsTheUser(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) {
		c.Users, c.AllowPlainPasswords, c.AllowAnonymous = map[string]string{"ada": "secret"}, true, true
	})
	ada := &ua.UserNameIdentityToken{PolicyID: userNamePolicyID, UserName: "ada", Password: []byte("secret")}
	c := s.fakeClient(t, newFakeChannel())
	if _, err := c.create(); err != nil {
		t.Fatal(err)
	}
	if err := c.activate(ada); err != nil {
		t.Fatal(err)
	}
	other := s.fakeClient(t, newFakeChannel())
	other.token = c.token
	wantStatus(t, "anonymous", other.activate(nil), ua.BadIdentityChangeNotSupported)
	if _, err := c.read(space.id(1)); err != nil {
		t.Errorf("the owner: %v", err)
	}
	if err := other.activate(ada); err != nil {
		t.Errorf("the same user: %v", err)
	}
	if err := other.activate(nil); err != nil { // on its own channel the user may change
		t.Errorf("change of user: %v", err)
	}
}
