package uasc

import (
	"time"

	"github.com/actua/actua/ua/internal/secpol"
)

// maxTokens is how many tokens of a channel are readable at once: the one in use, and those issued
// since that the peer has not used yet.
const maxTokens = 3

// token is one security token with the keys of both directions (Part 4, 5.6.2; Part 6, 6.7.4). Times
// are those of this side's clock: a peer whose clock is hours off does no harm.
type token struct {
	id       uint32
	order    uint32 // the how manieth token of the channel
	created  time.Time
	lifetime time.Duration
	send     *secpol.Keys // used under the caller's outbound lock
	receive  *secpol.Keys // used by the reading goroutine

	// retired is set when the peer has used a later token: what arrives under this one is out of
	// date, unless it answers a request that was sent under it.
	retired bool
	// On the client: a later token took over for requests above lastRequest.
	superseded  bool
	lastRequest uint32
}

// expires is when the token should not be used for sending any more.
func (t *token) expires() time.Time { return t.created.Add(t.lifetime) }

// dies is when the token is not accepted any more: a quarter of its lifetime later (Part 4, 5.6.2).
func (t *token) dies() time.Time { return t.created.Add(t.lifetime + t.lifetime/4) }

// renewal is when a client asks for the next token: at 75 % of the lifetime.
func (t *token) renewal() time.Time { return t.created.Add(t.lifetime/2 + t.lifetime/4) }

// usable reports whether a chunk with this request id is accepted under the token.
func (t *token) usable(now time.Time, requestID uint32) bool {
	if !t.retired && !now.After(t.dies()) {
		return true
	}
	return t.superseded && int32(requestID-t.lastRequest) <= 0
}

// find returns the readable token with this id; nil if there is none. The latest comes first.
func (c *Conversation) find(id uint32) *token {
	for i := len(c.in.tokens) - 1; i >= 0; i-- {
		if c.in.tokens[i].id == id {
			return c.in.tokens[i]
		}
	}
	return nil
}

// install makes a token readable, and on the client the one that is sent with.
func (c *Conversation) install(t *token, now time.Time) {
	c.issued++
	t.order, t.created = c.issued, now
	if len(c.in.tokens) == maxTokens {
		c.in.tokens = append(c.in.tokens[:0], c.in.tokens[1:]...)
	}
	c.in.tokens = append(c.in.tokens, t)
	c.out.latest = t
	if old := c.out.token; old == nil {
		c.out.token = t
	} else if c.side == Client {
		old.superseded, old.lastRequest = true, c.out.lastRequest
		c.out.token = t
	}
}

// used notes that the peer has secured a chunk with t: earlier tokens are done with. On the server
// this side answers under t from now on (Part 4, 5.6.2).
func (c *Conversation) used(t *token) {
	if c.in.token == t {
		return
	}
	if c.in.token != nil && int32(t.order-c.in.token.order) < 0 {
		return // an answer in flight
	}
	c.in.token = t
	for i, old := range c.in.tokens {
		if old == t {
			if c.side == Server {
				c.in.tokens = append(c.in.tokens[:0], c.in.tokens[i:]...)
			}
			break
		}
		old.retired = true
	}
	c.activated.Store(t)
}

// sendToken is the token to seal with. A server changes to a new token when the client has used it,
// or when the old one has expired.
func (c *Conversation) sendToken(now time.Time) *token {
	t := c.out.token
	if t == nil || t == c.out.latest {
		return t
	}
	if a := c.activated.Load(); a != nil && int32(a.order-t.order) > 0 {
		t = a
	}
	if t != c.out.latest && !now.Before(t.expires()) {
		t = c.out.latest
	}
	c.out.token = t
	return t
}

// Dies is when the channel ends unless its token is renewed: 125 % of the lifetime of the latest
// token. Only the reading goroutine may ask.
func (c *Conversation) Dies() time.Time {
	if len(c.in.tokens) == 0 {
		return time.Time{}
	}
	return c.in.tokens[len(c.in.tokens)-1].dies()
}

// Renewal is when the client asks for the next token. Only the reading goroutine may ask.
func (c *Conversation) Renewal() time.Time {
	if len(c.in.tokens) == 0 {
		return time.Time{}
	}
	return c.in.tokens[len(c.in.tokens)-1].renewal()
}
