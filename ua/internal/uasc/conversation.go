// Package uasc is the OPC UA Secure Conversation (Part 6, 6.7) for both sides of a channel: messages
// are cut into chunks, signed and encrypted, and put together again; tokens are issued, renewed and
// expire. It does no I/O, reads no clock and starts no goroutine: chunks and times go in, chunks and
// messages come out.
//
// A Conversation has two halves. Opening belongs to the goroutine that reads the connection; sealing
// needs a lock of the caller, who also orders what is written by it. Methods say which of the two
// they need.
package uasc

import (
	"bytes"
	"crypto/rsa"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
)

// Side says who speaks.
type Side uint8

// The sides of a channel.
const (
	Server Side = iota
	Client
)

// Config says what is known of a conversation before its first chunk.
type Config struct {
	Side   Side
	Limits uacp.Negotiated
	Budget *Budget // of unfinished messages; nil: no bound

	// Identity is this side's certificate and key. A server that has none and a client with policy
	// None leave it nil.
	Identity *Identity

	// What the client wants; the server learns it from the first chunk.
	Policy      *secpol.Policy
	Mode        ua.MessageSecurityMode
	ServerChain [][]byte // DER, leaf first
}

// Conversation is one secure channel on one connection, seen from one side.
type Conversation struct {
	side     Side
	limits   uacp.Negotiated
	budget   *Budget
	identity *Identity

	// Set while the channel is opened, and constant then.
	policy    *secpol.Policy
	mode      ua.MessageSecurityMode
	peerChain [][]byte
	peerKey   *rsa.PublicKey
	channelID uint32

	issued    uint32 // tokens so far
	pending   *pendingOpen
	activated atomic.Pointer[token] // the latest token that the peer has used
	maxBody   atomic.Uint32         // the bound of a received message now; 0 for none
	trusted   atomic.Bool

	// weakKeys lets keys of any size pass: recorded conversations are opened again in tests.
	weakKeys bool

	in struct { // the reading goroutine's
		sequence sequence
		tokens   []*token // readable ones, in the order of issue
		token    *token   // the latest that the peer has used
		message  assembly
	}
	out struct { // under the outbound lock
		sequence    sequence
		token       *token // what is sealed with
		latest      *token
		lastRequest uint32
	}
}

// pendingOpen is an OpenSecureChannel request of this client that waits for its answer.
type pendingOpen struct {
	requestID uint32
	nonce     []byte
	lifetime  time.Duration
}

// New returns a conversation whose channel is not open yet. The error, on the client only, tells
// what is wrong with the certificates or the mode that it wants; it carries a status code.
func New(cfg Config) (*Conversation, error) {
	c := &Conversation{side: cfg.Side, limits: cfg.Limits, budget: cfg.Budget, identity: cfg.Identity}
	c.maxBody.Store(cfg.Limits.ReceiveMessage)
	// All policies that secpol has so far are legacy ones.
	c.in.sequence.legacy, c.out.sequence.legacy = true, true
	c.trusted.Store(cfg.Side == Client)
	if cfg.Side == Server {
		return c, nil
	}
	c.policy, c.mode, c.peerChain = cfg.Policy, cfg.Mode, cfg.ServerChain
	if err := checkMode(c.policy, c.mode); err != nil {
		return nil, err
	}
	if c.policy.IsNone() {
		return c, nil
	}
	if len(c.peerChain) == 0 {
		return nil, uacp.Errorf(ua.BadCertificateInvalid, "security policy %s needs the server's certificate", c.policy.Name)
	}
	var err error
	if c.peerKey, err = c.checkLeaf(c.policy, c.peerChain[0], "server's"); err != nil {
		return nil, err
	}
	return c, c.checkOwn(c.policy)
}

// checkMode refuses modes that do not exist or do not go with the policy (Part 4, 5.6.2).
func checkMode(p *secpol.Policy, mode ua.MessageSecurityMode) error {
	switch mode {
	case ua.MessageSecurityModeNone:
		if !p.IsNone() {
			return uacp.Errorf(ua.BadSecurityModeRejected, "security mode None does not go with policy %s", p.Name)
		}
	case ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt:
		if p.IsNone() {
			return uacp.Errorf(ua.BadSecurityModeRejected, "security mode %v does not go with policy None", mode)
		}
	default:
		return uacp.Errorf(ua.BadSecurityModeRejected, "there is no security mode %d", mode)
	}
	return nil
}

// checkLeaf reads the key of a peer's certificate and checks its size.
func (c *Conversation) checkLeaf(p *secpol.Policy, leaf []byte, whose string) (*rsa.PublicKey, error) {
	key, err := secpol.LeafPublicKey(leaf)
	if err == nil && !c.weakKeys {
		err = p.CheckKey(key)
	}
	if err != nil {
		return nil, uacp.Wrap(err, "the "+whose+" certificate")
	}
	return key, nil
}

// checkOwn checks that this side has a key that the policy allows.
func (c *Conversation) checkOwn(p *secpol.Policy) error {
	if c.identity == nil || c.identity.Key == nil || c.identity.Leaf() == nil {
		return uacp.Errorf(ua.BadSecurityPolicyRejected, "security policy %s needs a certificate and a private key, and the %s has none", p.Name, c.side)
	}
	if c.weakKeys {
		return nil
	}
	if err := p.CheckKey(&c.identity.Key.PublicKey); err != nil {
		return uacp.Wrap(err, "the "+c.side.String()+"'s own certificate")
	}
	return nil
}

// String is "server" or "client".
func (s Side) String() string {
	if s == Server {
		return "server"
	}
	return "client"
}

// SetTrusted tells that the peer is known by now, and sets the largest message in bytes that it may
// send, 0 for no limit. Any goroutine may call it.
func (c *Conversation) SetTrusted(trusted bool, maxMessage uint32) {
	c.trusted.Store(trusted)
	c.maxBody.Store(maxMessage)
}

// ChannelID is the channel's number; 0 before it is open.
func (c *Conversation) ChannelID() uint32 { return c.channelID }

// Policy is the security policy; nil on a server before the channel is open.
func (c *Conversation) Policy() *secpol.Policy { return c.policy }

// Mode is the security mode.
func (c *Conversation) Mode() ua.MessageSecurityMode { return c.mode }

// PeerChain is the peer's certificate chain in DER, leaf first.
func (c *Conversation) PeerChain() [][]byte { return c.peerChain }

// Identity is this side's certificate and key on the channel.
func (c *Conversation) Identity() *Identity { return c.identity }

// Limits are the sizes that were negotiated.
func (c *Conversation) Limits() uacp.Negotiated { return c.limits }

// samePeer reports whether a chain begins with the peer's certificate.
func (c *Conversation) samePeer(chain [][]byte) bool {
	return len(chain) > 0 && len(c.peerChain) > 0 && bytes.Equal(chain[0], c.peerChain[0])
}
