package uaserver

import (
	"bytes"
	"context"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uapki"
)

// Sizes of nonces and tokens in bytes (Part 4, 5.7.2).
const (
	minNonce  = 32
	maxNonce  = 1024
	nonceSize = 32
)

// maxDescription bounds what a client that nobody knows yet can make a session hold, in bytes.
const maxDescription = 32 << 10

// defaultSessionTimeout is given to clients that ask for 0.
const defaultSessionTimeout = 2 * time.Minute

// createSession is the service CreateSession (Part 4, 5.7.2). Signing takes a while, so where there is
// something to sign it runs on a goroutine of its own.
func createSession(k *call, q *ua.CreateSessionRequest, p *ua.CreateSessionResponse) outcome {
	s := k.server
	if s.stopping.Load() {
		return k.fail(ua.BadServerHalted, "the server is being stopped")
	}
	if k.conn.channel.Policy().IsNone() {
		k.createSession(q, p)
		return answered
	}
	return k.handshake(func(k *call) { k.createSession(q, p) })
}

// handshake is background for work on keys and passwords, of which the server does so much at a time.
func (k *call) handshake(work func(*call)) outcome {
	select {
	case k.server.handshakes <- struct{}{}:
	default:
		return k.fail(ua.BadServerTooBusy, "too many clients log in at the same time")
	}
	o := k.background(func(k *call) {
		defer func() { <-k.server.handshakes }()
		work(k)
	})
	if o == answered {
		<-k.server.handshakes
	}
	return o
}

// keyWork runs an operation with a private key when it is its turn.
func (k *call) keyWork(operation func()) { k.server.gate.Do(k.conn.logins.Load() > 0, operation) }

func (k *call) createSession(q *ua.CreateSessionRequest, p *ua.CreateSessionResponse) {
	s, ch := k.server, k.conn.channel
	policy := ch.Policy()
	leaf, status, detail := k.checkCreate(q)
	if status.IsBad() {
		s.stats.sessionsRejected.Add(1)
		s.log.Warn("session refused", "remote", k.conn.remote(), "client", clip(q.ClientDescription.ApplicationURI),
			"status", status, "reason", detail)
		k.fail(status, detail)
		return
	}
	now := s.now()
	x := &session{
		id:          ua.NewGUIDNodeID(1, ua.GUID(randomBytes(16))),
		token:       ua.NewOpaqueNodeID(0, randomBytes(32)),
		name:        q.SessionName,
		client:      q.ClientDescription,
		certificate: leaf,
		security:    security{policy, ch.Mode()},
		timeout:     s.reviseTimeout(q.RequestedSessionTimeout),
		maxResponse: int(min(q.MaxResponseMessageSize, 1<<30)),
		createdAt:   now,
		nonce:       randomBytes(nonceSize),
	}
	if s.cfg.Diagnostics {
		x.diagnostics = &sessionDiagnostics{serverURI: q.ServerURI, services: make([]serviceCount, len(services))}
		if len(q.EndpointURL) <= maxEndpointURL {
			x.diagnostics.endpointURL = q.EndpointURL
		}
	}
	x.client.DiscoveryURLs = append([]string(nil), q.ClientDescription.DiscoveryURLs...)
	if x.name == "" {
		x.name = x.id.String()
	}
	x.ctx, x.end = context.WithCancel(s.ctx)
	x.bound.Store(k.conn)
	x.touch(now)

	signature := ua.SignatureData{}
	if !policy.IsNone() {
		data := append(bytes.Clone(leaf), q.ClientNonce...)
		var sig []byte
		var err error
		k.keyWork(func() { sig, err = policy.AsymSign(s.cfg.Identity.Key, nil, data) })
		if err != nil {
			s.log.Error("cannot sign a new session", "error", err)
			k.fail(ua.BadInternalError, "")
			return
		}
		signature = ua.SignatureData{Algorithm: policy.AsymmetricSignatureURI, Signature: sig}
	}
	dropped, ok := s.sessions.add(x, s.cfg.Limits.MaxSessions)
	if !ok {
		x.end()
		if s.stopping.Load() {
			k.fail(ua.BadServerHalted, "the server is being stopped")
			return
		}
		s.stats.sessionsRejected.Add(1)
		s.log.Warn("session refused: there are as many as Limits.MaxSessions allows", "remote", k.conn.remote())
		k.fail(ua.BadTooManySessions, "")
		return
	}
	if dropped != nil {
		s.dropSession(dropped)
	}
	s.stats.sessionsCreated.Add(1)
	*p = ua.CreateSessionResponse{
		SessionID:             x.id,
		AuthenticationToken:   x.token,
		RevisedSessionTimeout: float64(x.timeout.Milliseconds()),
		ServerNonce:           bytes.Clone(x.nonce),
		ServerCertificate:     s.cfg.cert,
		ServerEndpoints:       s.endpoints(k.clientURL(q.EndpointURL), nil),
		ServerSignature:       signature,
		MaxRequestMessageSize: advertised(s.cfg.Limits.MaxMessageSize),
	}
}

// checkCreate checks what a client says about itself and returns the leaf of its certificate.
func (k *call) checkCreate(q *ua.CreateSessionRequest) (leaf []byte, status ua.StatusCode, detail string) {
	s, ch := k.server, k.conn.channel
	policy := ch.Policy()
	switch {
	case !s.cfg.offers(policy, ch.Mode()):
		if policy.IsNone() {
			return nil, ua.BadSecurityPolicyRejected, "this server takes sessions on secured channels only"
		}
		return nil, ua.BadSecurityModeRejected, "the channel's policy and mode are not offered"
	case descriptionSize(q) > maxDescription:
		return nil, ua.BadEncodingLimitsExceeded, "the name and the description of the client are too long"
	case q.ServerURI != "" && q.ServerURI != s.cfg.ApplicationURI:
		return nil, ua.BadServerUriInvalid, "ServerUri is that of another server"
	case policy.IsNone():
		return nil, ua.Good, ""
	case len(q.ClientNonce) < minNonce || len(q.ClientNonce) > maxNonce:
		return nil, ua.BadNonceInvalid, "ClientNonce must have 32 bytes"
	}
	own, err := secpol.SplitChain(ch.ClientCertificate())
	if err != nil {
		return nil, ua.BadCertificateInvalid, "the channel has no client certificate"
	}
	sent, err := secpol.SplitChain(q.ClientCertificate)
	if err != nil || !bytes.Equal(sent[0], own[0]) {
		return nil, ua.BadCertificateInvalid, "ClientCertificate is not the one of the channel"
	}
	chain, err := uapki.ParseChain(own[0])
	if err != nil {
		return nil, ua.BadCertificateInvalid, "ClientCertificate cannot be read"
	}
	if uri := uapki.ApplicationURIOf(chain[0]); uri != q.ClientDescription.ApplicationURI {
		return nil, ua.BadCertificateUriInvalid, "the ApplicationUri of the client is not the one in its certificate"
	}
	return bytes.Clone(own[0]), ua.Good, ""
}

func descriptionSize(q *ua.CreateSessionRequest) int {
	d := &q.ClientDescription
	n := len(q.SessionName) + len(d.ApplicationURI) + len(d.ProductURI) + len(d.ApplicationName.Text) +
		len(d.ApplicationName.Locale) + len(d.GatewayServerURI) + len(d.DiscoveryProfileURI)
	for _, u := range d.DiscoveryURLs {
		n += 16 + len(u)
	}
	return n
}

// reviseTimeout brings a requested time-out in ms into the server's bounds.
func (s *Server) reviseTimeout(ms float64) time.Duration {
	l := &s.cfg.Limits
	d := defaultSessionTimeout
	switch {
	case ms >= float64(l.MaxSessionTimeout/time.Millisecond):
		d = l.MaxSessionTimeout
	case ms > 0:
		d = time.Duration(ms * float64(time.Millisecond))
	}
	return min(max(d, l.MinSessionTimeout), l.MaxSessionTimeout)
}

// closeSession is the service CloseSession (Part 4, 5.7.4).
func closeSession(k *call, q *ua.CloseSessionRequest, _ *ua.CloseSessionResponse) outcome {
	if k.session.bound.Load() != k.conn {
		return k.fail(ua.BadSecureChannelIdInvalid, "the session belongs to another channel")
	}
	k.server.endSession(k.session, q.DeleteSubscriptions)
	return answered
}

// cancelRequests is the service Cancel (Part 4, 5.7.5): calls of the session that wait are answered
// BadRequestCancelledByClient, and their contexts end.
func cancelRequests(k *call, q *ua.CancelRequest, p *ua.CancelResponse) outcome {
	type cancelled struct {
		conn   *conn
		id     uint32
		header ua.RequestHeader
	}
	var list []cancelled
	s := k.session
	s.mu.Lock()
	for o := range s.pending {
		if o.reqHeader.RequestHandle == q.RequestHandle && o.done.CompareAndSwap(false, true) {
			list = append(list, cancelled{o.conn, o.id, ua.RequestHeader{RequestHandle: q.RequestHandle, ReturnDiagnostics: o.reqHeader.ReturnDiagnostics}})
			o.cancel()
		}
	}
	s.mu.Unlock()
	// Sending may have to wait for the client, and the end of the session must not wait for that.
	for i := range list {
		list[i].conn.refuse(list[i].id, &list[i].header, ua.BadRequestCancelledByClient, "")
	}
	p.CancelCount = uint32(len(list))
	if y := s.subscriptions(); y != nil {
		p.CancelCount += uint32(y.Cancel(k.now(), q.RequestHandle))
	}
	return answered
}
