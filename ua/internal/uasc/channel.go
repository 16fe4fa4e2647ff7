package uasc

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/uabin"
)

// Opening is an OpenSecureChannel request that a server has received and found sound (Part 4,
// 5.6.2). Whether its policy is offered and its certificate trusted is for others to decide.
type Opening struct {
	Policy    *secpol.Policy
	Mode      ua.MessageSecurityMode
	Chain     [][]byte      // the client's certificates, DER, leaf first
	Renew     bool          // of the open channel; otherwise the first token of a new one
	Lifetime  time.Duration // as the client asks
	RequestID uint32
	Handle    uint32 // RequestHandle

	nonce []byte
	key   *rsa.PublicKey
}

// Grant is what a server gives a client that asked for a token.
type Grant struct {
	ChannelID                uint32 // of a new channel
	MinLifetime, MaxLifetime time.Duration
}

// header checks what is common to the OpenSecureChannel chunks of both sides.
func openHeader(chunk []byte) (h AsymmetricHeader, err error) {
	if len(chunk) < uacp.HeaderSize {
		return h, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a chunk of %d bytes is too short", len(chunk))
	}
	t, err := uacp.ParseHeader(chunk)
	if err != nil {
		return h, err
	}
	if t.Type != uacp.TypeOpen || int(t.Size) != len(chunk) {
		return h, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v chunk where the secure channel is to be opened", t.Type)
	}
	return ParseAsymmetricHeader(chunk)
}

// ReceiveOpen checks an OpenSecureChannel chunk on the server: policy, thumbprint, certificate, key
// sizes, signature, sequence number, request type, mode and nonce. The error, an *uacp.Error with the
// status for the client, ends the connection. Only the reading goroutine may call it.
func (c *Conversation) ReceiveOpen(chunk []byte, now time.Time) (*Opening, error) {
	h, err := openHeader(chunk)
	if err != nil {
		return nil, err
	}
	o := &Opening{Renew: c.channelID != 0}
	if h.ChannelID != c.channelID {
		return nil, uacp.Errorf(ua.BadTcpSecureChannelUnknown, "this connection has no secure channel %d", h.ChannelID)
	}
	if o.Policy, err = secpol.ByURI(h.PolicyURI); err != nil {
		return nil, uacp.Errorf(ua.BadSecurityPolicyRejected, "security policy %q is not supported", h.PolicyURI)
	}
	if o.Renew && o.Policy != c.policy {
		return nil, uacp.Errorf(ua.BadSecurityChecksFailed, "a channel with policy %s cannot be renewed with policy %s", c.policy.Name, o.Policy.Name)
	}
	if err := c.receivePeer(o, &h); err != nil {
		return nil, err
	}
	var own *rsa.PrivateKey
	if c.identity != nil {
		own = c.identity.Key
	}
	requestID, body, err := c.openAsym(o.Policy, chunk, h.Size, own, o.key)
	if err != nil {
		return nil, err
	}
	o.RequestID = requestID
	return o, c.decodeOpen(o, body)
}

// receivePeer checks the certificates in the header of a client's chunk.
func (c *Conversation) receivePeer(o *Opening, h *AsymmetricHeader) error {
	if o.Policy.IsNone() {
		// A client may name its certificate without using it; one that cannot be read does no harm.
		o.Chain, _ = secpol.SplitChain(bytes.Clone(h.Certificate))
		return nil
	}
	if err := c.checkOwn(o.Policy); err != nil {
		return err
	}
	if want := secpol.Thumbprint(c.identity.Leaf()); !bytes.Equal(h.Thumbprint, want[:]) {
		return uacp.Errorf(ua.BadCertificateInvalid, "the receiver's thumbprint %x is not that of the server's certificate", h.Thumbprint)
	}
	var err error
	if o.Chain, err = secpol.SplitChain(bytes.Clone(h.Certificate)); err != nil {
		return uacp.Wrap(err, "the client's certificate")
	}
	if o.Renew {
		if !c.samePeer(o.Chain) {
			return uacp.Errorf(ua.BadSecurityChecksFailed, "a channel cannot be renewed with another certificate")
		}
		o.key = c.peerKey
		return nil
	}
	o.key, err = c.checkLeaf(o.Policy, o.Chain[0], "client's")
	return err
}

// decodeOpen reads the request itself and checks it against the state of the channel.
func (c *Conversation) decodeOpen(o *Opening, body []byte) error {
	var request ua.OpenSecureChannelRequest
	if err := decode(body, &request); err != nil {
		return err
	}
	o.Mode, o.nonce, o.Handle = request.SecurityMode, request.ClientNonce, request.RequestHeader.RequestHandle
	o.Lifetime = time.Duration(request.RequestedLifetime) * time.Millisecond
	switch request.RequestType {
	case ua.SecurityTokenRequestTypeIssue:
		if o.Renew {
			return uacp.Errorf(ua.BadSecurityChecksFailed, "the secure channel is open already, its token can only be renewed")
		}
	case ua.SecurityTokenRequestTypeRenew:
		if !o.Renew {
			return uacp.Errorf(ua.BadTcpSecureChannelUnknown, "there is no secure channel to renew")
		}
	default:
		return uacp.Errorf(ua.BadRequestTypeInvalid, "there is no request type %d", request.RequestType)
	}
	if err := checkMode(o.Policy, o.Mode); err != nil {
		return err
	}
	if o.Renew && o.Mode != c.mode {
		return uacp.Errorf(ua.BadSecurityModeRejected, "a channel with mode %v cannot be renewed with mode %v", c.mode, o.Mode)
	}
	if err := o.Policy.CheckNonce(o.nonce); err != nil {
		return uacp.Wrap(err, "the client's nonce")
	}
	return nil
}

// decode reads a message whose type is known.
func decode(body []byte, m ua.Structure) error {
	r := uabin.NewReader(body)
	var id ua.NodeID
	id.DecodeBinary(r)
	if want := m.BinaryID().NodeID; r.OK() && id != want {
		return uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a message of type %v where %v is expected", id, want)
	}
	m.DecodeBinary(r)
	if !r.OK() {
		return uacp.Errorf(ua.BadDecodingError, "OpenSecureChannel: %v", r.Err())
	}
	return nil
}

// AnswerOpen grants a token and appends the chunk that says so. With policy None the nonce is null: it
// would be of no use, and one of zeros makes clients suspicious (report S02). It needs both the
// reading goroutine and the outbound lock.
func (c *Conversation) AnswerOpen(buf []byte, o *Opening, g Grant, now time.Time) ([]byte, error) {
	nonce, err := o.Policy.NewNonce()
	if err != nil {
		return buf, uacp.Errorf(ua.BadTcpInternalError, "%v", err)
	}
	if !o.Renew {
		c.policy, c.mode, c.peerChain, c.peerKey, c.channelID = o.Policy, o.Mode, o.Chain, o.key, g.ChannelID
	}
	t := &token{
		id:       c.issued + 1,
		lifetime: revise(o.Lifetime, g),
		send:     c.policy.DeriveKeys(o.nonce, nonce),
		receive:  c.policy.DeriveKeys(nonce, o.nonce),
	}
	response := ua.OpenSecureChannelResponse{
		ResponseHeader: ua.ResponseHeader{Timestamp: ua.NewDateTime(now), RequestHandle: o.Handle},
		SecurityToken: ua.ChannelSecurityToken{
			ChannelID:       c.channelID,
			TokenID:         t.id,
			CreatedAt:       ua.NewDateTime(now),
			RevisedLifetime: uint32(t.lifetime / time.Millisecond),
		},
		ServerNonce: nonce,
	}
	buf, err = c.sealOpen(buf, o.RequestID, func(b []byte) []byte {
		return response.AppendBinary(response.BinaryID().NodeID.AppendBinary(b))
	})
	if err == nil {
		c.install(t, now)
	}
	return buf, err
}

// revise bounds the lifetime that a client asks for; none is the longest.
func revise(d time.Duration, g Grant) time.Duration {
	if d == 0 {
		d = g.MaxLifetime
	}
	return min(max(d, g.MinLifetime), g.MaxLifetime).Truncate(time.Millisecond)
}

// RequestOpen appends the client's request for a first token, or for the next one when the channel is
// open. With policy None one byte of nonce is sent, since some devices hang up on none (report S01). It
// needs the outbound lock.
func (c *Conversation) RequestOpen(buf []byte, requestID uint32, lifetime time.Duration, now time.Time) ([]byte, error) {
	nonce, err := c.policy.NewNonce()
	if err == nil && len(nonce) == 0 {
		nonce = make([]byte, 1)
		_, err = rand.Read(nonce)
		nonce[0] |= 1
	}
	if err != nil {
		return buf, uacp.Errorf(ua.BadTcpInternalError, "%v", err)
	}
	request := ua.OpenSecureChannelRequest{
		RequestHeader:     ua.RequestHeader{Timestamp: ua.NewDateTime(now), RequestHandle: requestID},
		RequestType:       ua.SecurityTokenRequestTypeIssue,
		SecurityMode:      c.mode,
		ClientNonce:       nonce,
		RequestedLifetime: uint32(min(lifetime, 1<<32*time.Millisecond-time.Millisecond) / time.Millisecond),
	}
	if c.channelID != 0 {
		request.RequestType = ua.SecurityTokenRequestTypeRenew
	}
	buf, err = c.sealOpen(buf, requestID, func(b []byte) []byte {
		return request.AppendBinary(request.BinaryID().NodeID.AppendBinary(b))
	})
	if err == nil {
		c.pending = &pendingOpen{requestID: requestID, nonce: nonce, lifetime: lifetime}
	}
	return buf, err
}

// CompleteOpen takes the server's answer to RequestOpen. The channel is open then, or its next token
// is used for sending from now on. It needs both the reading goroutine and the outbound lock. The
// error, an *uacp.Error, ends the connection.
func (c *Conversation) CompleteOpen(chunk []byte, now time.Time) error {
	h, err := openHeader(chunk)
	if err != nil {
		return err
	}
	wanted := c.pending
	if wanted == nil {
		return uacp.Errorf(ua.BadTcpMessageTypeInvalid, "an OpenSecureChannel answer that nobody asked for")
	}
	if h.PolicyURI != c.policy.URI {
		return uacp.Errorf(ua.BadSecurityPolicyRejected, "the server answers with security policy %q", h.PolicyURI)
	}
	var own *rsa.PrivateKey
	if !c.policy.IsNone() {
		own = c.identity.Key
		if err := c.checkServer(&h); err != nil {
			return err
		}
	}
	requestID, body, err := c.openAsym(c.policy, chunk, h.Size, own, c.peerKey)
	if err != nil {
		return err
	}
	if requestID != wanted.requestID {
		return uacp.Errorf(ua.BadUnknownResponse, "an OpenSecureChannel answer to request %d, not %d", requestID, wanted.requestID)
	}
	c.pending = nil
	return c.acceptToken(wanted, &h, body, now)
}

// checkServer checks the certificates in the header of a server's answer.
func (c *Conversation) checkServer(h *AsymmetricHeader) error {
	if want := secpol.Thumbprint(c.identity.Leaf()); !bytes.Equal(h.Thumbprint, want[:]) {
		return uacp.Errorf(ua.BadCertificateInvalid, "the receiver's thumbprint %x in the server's answer is not that of the client's certificate", h.Thumbprint)
	}
	chain, err := secpol.SplitChain(h.Certificate)
	if err != nil {
		return uacp.Wrap(err, "the server's certificate")
	}
	if !c.samePeer(chain) {
		return uacp.Errorf(ua.BadSecurityChecksFailed, "the server answers with another certificate than that of its endpoint")
	}
	return nil
}

// acceptToken reads the answer itself. The lifetime counts from now by this side's clock, whatever
// the server's CreatedAt is (report S19); with policy None its nonce is of no use (report S02).
func (c *Conversation) acceptToken(wanted *pendingOpen, h *AsymmetricHeader, body []byte, now time.Time) error {
	var fault ua.ServiceFault
	if decode(body, &fault) == nil {
		return remoteFault(fault.ResponseHeader.ServiceResult)
	}
	var response ua.OpenSecureChannelResponse
	if err := decode(body, &response); err != nil {
		return err
	}
	if result := response.ResponseHeader.ServiceResult; result.IsBad() {
		return remoteFault(result)
	}
	granted := &response.SecurityToken
	if c.channelID != 0 && (granted.ChannelID != c.channelID || h.ChannelID != c.channelID) {
		return uacp.Errorf(ua.BadTcpSecureChannelUnknown, "the server renews secure channel %d, not %d", granted.ChannelID, c.channelID)
	}
	if granted.ChannelID == 0 {
		return uacp.Errorf(ua.BadTcpSecureChannelUnknown, "the server opens a secure channel with number 0")
	}
	if err := c.policy.CheckNonce(response.ServerNonce); err != nil {
		return uacp.Wrap(err, "the server's nonce")
	}
	t := &token{
		id:       granted.TokenID,
		lifetime: time.Duration(granted.RevisedLifetime) * time.Millisecond,
		send:     c.policy.DeriveKeys(response.ServerNonce, wanted.nonce),
		receive:  c.policy.DeriveKeys(wanted.nonce, response.ServerNonce),
	}
	if t.lifetime == 0 {
		t.lifetime = wanted.lifetime
	}
	c.channelID = granted.ChannelID
	c.install(t, now)
	return nil
}

func remoteFault(status ua.StatusCode) error {
	return &uacp.Error{Status: status, Reason: "the answer to OpenSecureChannel", Remote: true}
}
