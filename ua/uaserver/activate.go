package uaserver

import (
	"bytes"
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// maxLocales is how many languages of a client are kept.
const maxLocales = 32

// activateSession is the service ActivateSession (Part 4, 5.7.3): it logs a user in, also another one
// than before, and moves the session to the channel of the request.
func activateSession(k *call, q *ua.ActivateSessionRequest, p *ua.ActivateSessionResponse) outcome {
	work := func(k *call) {
		if err := k.activate(q, p); err != nil {
			status := ua.StatusOf(err)
			k.server.stats.loginsRejected.Add(1)
			k.server.log.Warn("login refused", "remote", k.conn.remote(), "session", clip(k.session.name), "error", err)
			k.fail(status, "")
		}
	}
	if k.conn.channel.Policy().IsNone() && namesNobody(&q.UserIdentityToken) {
		work(k) // nothing to verify, and nobody to ask
		return answered
	}
	return k.handshake(work)
}

// namesNobody reports whether a token is an anonymous one.
func namesNobody(token *ua.ExtensionObject) bool {
	_, anonymous := token.Value.(*ua.AnonymousIdentityToken)
	return anonymous || token.IsNull()
}

func (k *call) activate(q *ua.ActivateSessionRequest, p *ua.ActivateSessionResponse) error {
	x, c := k.session, k.conn
	before := x.info.Load()
	old := x.bound.Load()
	switch {
	case old != c && before == nil:
		return fmt.Errorf("%w: the first activation must come on the channel that created the session", ua.BadSecureChannelIdInvalid)
	case old != c:
		if err := k.checkMove(); err != nil {
			return err
		}
	}
	x.mu.Lock()
	nonce := bytes.Clone(x.nonce)
	x.mu.Unlock()
	if err := k.checkSignature(&q.ClientSignature, nonce); err != nil {
		return err
	}
	user, err := k.identify(&q.UserIdentityToken, &q.UserTokenSignature, nonce)
	if err != nil {
		return err
	}
	if old != c && before.User != user {
		return fmt.Errorf("%w: a session moves to another channel only for the same user", ua.BadIdentityChangeNotSupported)
	}
	if err := k.bind(user, nonce, q, p); err != nil {
		return err
	}
	if y := x.subscriptions(); y != nil && old != c {
		y.DropChannel(k.now(), old.channel.ChannelID()) // nothing is to be lost on the old channel
	}
	return nil
}

// bind makes what activate has checked valid, unless another activation was faster with the same nonce
// or the session has ended meanwhile.
func (k *call) bind(user string, nonce []byte, q *ua.ActivateSessionRequest, p *ua.ActivateSessionResponse) error {
	err := k.exchange(user, nonce, q, p)
	if err == nil {
		k.server.stats.logins.Add(1)
		k.server.log.Debug("session activated", "session", clip(k.session.name), "user", clip(user), "remote", k.conn.remote())
	}
	return err
}

// exchange is bind under the session's lock, without what may call the user's functions.
func (k *call) exchange(user string, nonce []byte, q *ua.ActivateSessionRequest, p *ua.ActivateSessionResponse) error {
	x, c := k.session, k.conn
	now := k.server.now()
	info := &login{SessionInfo: SessionInfo{
		ID: x.id, Name: x.name, Client: x.client, User: user, Certificate: x.certificate,
		SecurityPolicyURI: x.security.policy.URI, SecurityMode: x.security.mode, RemoteAddr: c.channel.RemoteAddr(),
	}}
	info.locales = append(info.locales, q.LocaleIDs[:min(len(q.LocaleIDs), maxLocales)]...)

	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case !bytes.Equal(x.nonce, nonce):
		return fmt.Errorf("%w: the server nonce was used twice", ua.BadNonceInvalid)
	case x.ended.Load():
		return fmt.Errorf("%w: the session ended before it was activated", ua.BadSessionClosed)
	}
	if len(q.LocaleIDs) == 0 {
		if before := x.info.Load(); before != nil {
			info.locales = before.locales // an empty list changes nothing
		}
	}
	x.nonce = randomBytes(nonceSize)
	x.touch(now)
	before := x.info.Swap(info)
	x.diagnostics.loggedIn(user)
	if old := x.bound.Swap(c); old != c || before == nil {
		c.loggedIn(x)
		if before != nil {
			old.loggedOut(x)
		}
	}
	*p = ua.ActivateSessionResponse{ServerNonce: bytes.Clone(x.nonce)}
	return nil
}

// checkMove checks whether the session may come to this channel: with the certificate and security
// that it was created with (Part 4, 5.7.3).
func (k *call) checkMove() error {
	x, ch := k.session, k.conn.channel
	if x.security != (security{ch.Policy(), ch.Mode()}) {
		return fmt.Errorf("%w: the session was created with other security", ua.BadSecurityChecksFailed)
	}
	if ch.Policy().IsNone() {
		return nil
	}
	chain, err := secpol.SplitChain(ch.ClientCertificate())
	if err != nil || !bytes.Equal(chain[0], x.certificate) {
		return fmt.Errorf("%w: the session was created with another certificate", ua.BadSecurityChecksFailed)
	}
	return nil
}

// checkSignature checks the proof that the client has the key of its certificate. Clients sign the
// server's certificate as they got it, with or without its issuers.
func (k *call) checkSignature(sig *ua.SignatureData, nonce []byte) error {
	policy := k.conn.channel.Policy()
	if policy.IsNone() {
		return nil
	}
	pub, err := secpol.LeafPublicKey(k.session.certificate)
	if err != nil {
		return err
	}
	if sig.Algorithm != "" && sig.Algorithm != policy.AsymmetricSignatureURI {
		return fmt.Errorf("%w: the client signed with %.100q", ua.BadApplicationSignatureInvalid, sig.Algorithm)
	}
	id := k.server.cfg.Identity
	for _, cert := range [][]byte{id.Chain[0], k.server.cfg.cert} {
		data := append(bytes.Clone(cert), nonce...)
		if err = policy.AsymVerify(pub, data, sig.Signature); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: %v", ua.BadApplicationSignatureInvalid, err)
}
