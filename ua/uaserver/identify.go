package uaserver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// identify finds out who logs in (Part 4, 7.40) and returns the user's name, "" for an anonymous one.
// Only what the endpoint of the session offers is accepted.
func (k *call) identify(token *ua.ExtensionObject, _ *ua.SignatureData, nonce []byte) (string, error) {
	offered := k.server.tokenPolicies(k.session.security)
	find := func(kind ua.UserTokenType, id string) (*ua.UserTokenPolicy, error) {
		i := slices.IndexFunc(offered, func(p ua.UserTokenPolicy) bool { return p.TokenType == kind && p.PolicyID == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: the endpoint does not offer %v with policy id %.100q", ua.BadIdentityTokenInvalid, kind, id)
		}
		return &offered[i], nil
	}
	switch t := token.Value.(type) {
	case nil:
		if !token.IsNull() {
			return "", fmt.Errorf("%w: a token of unknown type %v", ua.BadIdentityTokenInvalid, token.TypeID)
		}
		_, err := find(ua.UserTokenTypeAnonymous, anonymousPolicyID) // no token is an anonymous one
		return "", err
	case *ua.AnonymousIdentityToken:
		_, err := find(ua.UserTokenTypeAnonymous, t.PolicyID)
		return "", err
	case *ua.UserNameIdentityToken:
		p, err := find(ua.UserTokenTypeUserName, t.PolicyID)
		if err != nil {
			return "", err
		}
		return t.UserName, k.logIn(t, p, nonce)
	}
	return "", fmt.Errorf("%w: a token of type %T is not offered", ua.BadIdentityTokenInvalid, token.Value)
}

// maxUserName bounds a user's name in bytes.
const maxUserName = 1024

// logIn opens the password as the token's policy says and checks it.
func (k *call) logIn(t *ua.UserNameIdentityToken, p *ua.UserTokenPolicy, nonce []byte) error {
	s := k.server
	if t.UserName == "" || len(t.UserName) > maxUserName {
		return fmt.Errorf("%w: a user name of %d bytes", ua.BadIdentityTokenInvalid, len(t.UserName))
	}
	key := loginKey(t.UserName, k.conn.channel.RemoteAddr())
	if s.lockouts.locked(key, s.now()) {
		return fmt.Errorf("user %.100q is locked out after too many failures: %w", t.UserName, ua.BadUserAccessDenied)
	}
	var password []byte
	var err error
	k.keyWork(func() { password, err = s.openPassword(t, p, k.session.security.policy, nonce) })
	if err != nil {
		s.lockouts.failed(key, s.now())
		return err
	}
	defer clear(password)
	if err := s.cfg.verifyUser(k.ctx.Context, t.UserName, string(password)); err != nil {
		s.lockouts.failed(key, s.now())
		var status ua.StatusCode
		if errors.As(err, &status) && status.IsBad() {
			return fmt.Errorf("user %.100q: %w", t.UserName, err)
		}
		return fmt.Errorf("user %.100q: %w: %v", t.UserName, ua.BadUserAccessDenied, err)
	}
	s.lockouts.forget(key)
	return nil
}

// openPassword decrypts a password by the policy of its token, or by that of the channel if the
// token's policy names none (Part 4, 7.40.2.2).
func (s *Server) openPassword(t *ua.UserNameIdentityToken, p *ua.UserTokenPolicy, policy *secpol.Policy, nonce []byte) ([]byte, error) {
	if p.SecurityPolicyURI != "" {
		var err error
		if policy, err = secpol.ByURI(p.SecurityPolicyURI); err != nil {
			return nil, err
		}
	}
	if t.EncryptionAlgorithm != policy.AsymmetricEncryptionURI {
		return nil, fmt.Errorf("%w: the password is encrypted with %.100q, wanted %q", ua.BadIdentityTokenInvalid,
			t.EncryptionAlgorithm, policy.AsymmetricEncryptionURI)
	}
	if policy.IsNone() {
		return slices.Clone(t.Password), nil
	}
	return policy.DecryptSecret(s.cfg.Identity.Key, t.Password, nonce)
}

// lockouts counts failed logins of a user from an address.
type lockouts struct {
	mu     sync.Mutex
	limit  int
	period time.Duration
	table  map[string]*failures
}

type failures struct {
	count int
	until time.Time // when the count is forgotten, and the lock with it
}

// maxLockouts bounds the table. When it is full, further failures are not counted until a sweep.
const maxLockouts = 10_000

func loginKey(user string, addr net.Addr) string {
	host := ""
	if addr != nil {
		if h, _, err := net.SplitHostPort(addr.String()); err == nil {
			host = h
		}
	}
	return host + "\x00" + user
}

func (l *lockouts) locked(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.table[key]
	return f != nil && f.count >= l.limit && now.Before(f.until)
}

func (l *lockouts) failed(key string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.table[key]
	if f == nil {
		if len(l.table) >= maxLockouts {
			return
		}
		f = &failures{}
		l.table[key] = f
	}
	if !now.Before(f.until) {
		f.count = 0
	}
	f.count++
	f.until = now.Add(l.period)
}

func (l *lockouts) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.table, key)
}

func (l *lockouts) sweep(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, f := range l.table {
		if !now.Before(f.until) {
			delete(l.table, key)
		}
	}
}
