package tcp

import (
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// hello takes the Hello and answers it with an Acknowledge (Part 6, 7.1.3).
func (c *ServerConn) hello(chunk []byte) (err error) {
	var h uacp.Hello
	if err := h.Decode(chunk[uacp.HeaderSize:]); err != nil {
		return err
	}
	c.url = h.EndpointURL
	if c.cfg.CheckURL != nil {
		if err := c.cfg.CheckURL(h.EndpointURL); err != nil {
			return refusal(err, ua.BadTcpEndpointUrlInvalid)
		}
	}
	a, n := uacp.Accept(&h, c.cfg.Limits)
	c.in.limit = n.ReceiveChunk
	conversation := uasc.Config{Side: uasc.Server, Limits: n, Budget: c.cfg.Budget}
	if c.cfg.Identity != nil {
		conversation.Identity = c.cfg.Identity()
	}
	if c.conv, err = uasc.New(conversation); err != nil {
		return err
	}
	c.out.conv = c.conv
	c.SetTrusted(false)
	c.out.mu.Lock()
	err = c.out.add(func(b []byte) ([]byte, error) { return a.Append(b), nil })
	c.out.leave()
	c.enter(opening)
	return err
}

// open takes the first OpenSecureChannel and answers it, if the server wants the client.
func (c *ServerConn) open(chunk []byte) error {
	o, err := c.receiveOpen(chunk, c.cfg.Now())
	if err != nil {
		return err
	}
	if c.cfg.Open != nil {
		request := OpenRequest{Policy: o.Policy, Mode: o.Mode, ClientChain: o.Chain, EndpointURL: c.url, RemoteAddr: c.remote}
		if err := c.cfg.Open(&request); err != nil {
			return refusal(err, ua.BadSecurityChecksFailed)
		}
	}
	if err := c.grant(o); err != nil {
		return err
	}
	c.opened = true
	c.enter(serving)
	return nil
}

// renew answers a request for the next token.
func (c *ServerConn) renew(chunk []byte) error {
	o, err := c.receiveOpen(chunk, c.last)
	if err != nil {
		return err
	}
	c.retime = true
	return c.grant(o)
}

// receiveOpen checks a request for a token when it is its turn.
func (c *ServerConn) receiveOpen(chunk []byte, now time.Time) (o *uasc.Opening, err error) {
	if h, e := uasc.ParseAsymmetricHeader(chunk); e != nil || h.PolicyURI == secpol.None.URI {
		return c.conv.ReceiveOpen(chunk, now) // costs nothing
	}
	c.cfg.Gate.Do(c.trusted.Load(), func() { o, err = c.conv.ReceiveOpen(chunk, now) })
	return o, err
}

// grant sends a token. It is sealed when it is its turn, and written afterwards: a peer that does not
// read must not keep others from theirs.
func (c *ServerConn) grant(o *uasc.Opening) (err error) {
	g := uasc.Grant{MinLifetime: c.cfg.MinLifetime, MaxLifetime: c.cfg.MaxLifetime}
	if !o.Renew {
		for g.ChannelID == 0 {
			g.ChannelID = lastChannel.Add(1)
		}
	}
	seal := func() {
		c.out.mu.Lock()
		err = c.out.add(func(b []byte) ([]byte, error) { return c.conv.AnswerOpen(b, o, g, c.cfg.Now()) })
	}
	if o.Policy.IsNone() {
		seal()
	} else {
		c.cfg.Gate.Do(c.trusted.Load(), seal)
	}
	c.out.leave()
	return err
}
