package uaclient

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"net/url"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/uasc"
)

// Client is a session with a server. It is safe for use by several goroutines.
type Client struct {
	ch       *channel
	settings *settings
	url      *url.URL
	chosen   candidate
	id       ua.NodeID
	timeout  time.Duration
	limits   lazy[Limits]
	spaces   lazy[[]string]
	types    knownTypes

	publisher publisher
}

// Dial connects to a server and opens a session: it asks for the endpoints, chooses one, checks the
// server's certificate, opens the channel, creates the session and activates it for the user. The
// context bounds all of that, and nothing after it. config may be nil.
//
// The host that was dialled is used throughout, whatever the server's endpoints call it. Every error is
// an *Error that names the step. A failed Dial leaves no session behind at the server: one that was
// created is closed. With Config.Retry it tries again while the server is absent.
func Dial(ctx context.Context, address string, config *Config) (*Client, error) {
	s, u, err := prepare("Dial", address, config)
	if err != nil {
		return nil, err
	}
	if s.Retry != nil {
		return s.keepDialling(ctx, u)
	}
	return s.dial(ctx, u)
}

// dial is one attempt. The settings are its own from now on.
func (s *settings) dial(ctx context.Context, u *url.URL) (*Client, error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	c := &Client{settings: s, url: u}
	c.publisher.c, c.publisher.most = c, maxPublish
	s.steps.begin(s.Trace)
	endpoints, plain, err := s.discover(ctx, u)
	if err == nil {
		err = c.connect(ctx, endpoints, plain)
	}
	if err != nil {
		s.steps.end(StepOf(err), err)
		return nil, err
	}
	return c, nil
}

// discover returns the endpoints, and the channel they were asked for on.
func (s *settings) discover(ctx context.Context, u *url.URL) ([]ua.EndpointDescription, *channel, error) {
	if s.Endpoint != nil {
		return []ua.EndpointDescription{*s.Endpoint}, nil, nil
	}
	ch, err := s.openPlain(ctx, "Dial", u)
	if err != nil {
		return nil, nil, err
	}
	endpoints, err := ch.getEndpoints(ctx, u)
	if err != nil {
		ch.close()
		return nil, nil, err
	}
	return endpoints, ch, nil
}

// connect chooses an endpoint and opens channel and session. It takes over the plain channel.
func (c *Client) connect(ctx context.Context, endpoints []ua.EndpointDescription, plain *channel) error {
	defer func() {
		if plain != nil {
			plain.close()
		}
	}()
	s := c.settings
	s.offered, s.steps.offered = endpoints, endpoints
	list, err := s.choose(endpoints, c.url)
	if err != nil {
		return stepError(StepEndpoints, "Dial", err)
	}
	s.steps.endpoint = list[0].endpoint
	s.steps.end(StepEndpoints, nil)
	var chain []*x509.Certificate
	if c.chosen, chain, err = c.trusted(ctx, list); err != nil {
		return stepError(StepCertificate, "Dial", err)
	}
	s.steps.endpoint = c.chosen.endpoint
	if chain != nil {
		s.steps.end(StepCertificate, nil)
	}
	if c.chosen.policy.IsNone() && plain != nil {
		c.ch, plain = plain, nil
	} else if c.ch, err = c.openChannel(ctx, chain); err != nil {
		return err
	}
	var pub *rsa.PublicKey
	if len(chain) > 0 {
		pub, _ = chain[0].PublicKey.(*rsa.PublicKey)
	}
	discovered := endpoints
	if s.Endpoint != nil {
		discovered = nil
	}
	return c.openSession(ctx, pub, discovered)
}

// trusted takes the best endpoint whose certificate is trusted. Endpoints of a server may have
// different certificates; a refused one never leads to an endpoint without security, because choose
// lists those only when there is nothing else or they were asked for.
func (c *Client) trusted(ctx context.Context, list []candidate) (candidate, []*x509.Certificate, error) {
	refused := map[string]bool{}
	var first error
	for i := range list {
		e := list[i].endpoint
		if list[i].policy.IsNone() && !c.settings.sendsEncryptedSecret(&list[i]) {
			return list[i], nil, nil
		}
		if refused[string(e.ServerCertificate)] {
			continue
		}
		chain, err := c.settings.verifyServer(ctx, &list[i], c.url.Hostname())
		if err == nil {
			return list[i], chain, nil
		}
		refused[string(e.ServerCertificate)] = true
		if first == nil {
			first = err
		}
	}
	return candidate{}, nil, first
}

func (c *Client) openChannel(ctx context.Context, chain []*x509.Certificate) (*channel, error) {
	config := &tcp.ClientConfig{Policy: c.chosen.policy, Mode: c.chosen.endpoint.SecurityMode}
	if !c.chosen.policy.IsNone() {
		id, err := c.settings.identity()
		if err != nil {
			return nil, stepError(StepCertificate, "Dial", err)
		}
		config.Identity = &uasc.Identity{Chain: id.Chain, Key: id.Key}
		config.ServerChain = rawChain(chain)
	}
	return c.settings.open(ctx, "Dial", c.url, config)
}

// Close ends the session with its subscriptions, and the channel. Notifications that wait for a callback are
// dropped. It waits for the server's answers
// until the context ends, at most half a second: a silent server is left alone then. Calls in flight
// fail. A second Close does nothing.
func (c *Client) Close(ctx context.Context) error {
	c.publisher.stop()
	defer c.ch.close()
	select {
	case <-c.ch.conn.Done():
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	err := c.ch.closeSession(ctx)
	if errors.Is(err, ua.BadSessionIdInvalid) || errors.Is(err, ua.BadConnectionClosed) || errors.Is(err, ua.BadSessionClosed) {
		return nil
	}
	return stepError(StepService, "CloseSession", err)
}

// Done is closed when the connection has ended; Err says why.
func (c *Client) Done() <-chan struct{} { return c.ch.conn.Done() }

// Err is why the connection ended; nil while it lives.
func (c *Client) Err() error { return c.ch.conn.Err() }

// Endpoint is the endpoint that was chosen, as the server described it.
func (c *Client) Endpoint() ua.EndpointDescription { return *c.chosen.endpoint }

// URL is the address that was dialled, in full.
func (c *Client) URL() string { return c.url.String() }

// SessionID is the node of the session's diagnostics in the server.
func (c *Client) SessionID() ua.NodeID { return c.id }

// SessionTimeout is how long the server keeps the session without a request.
func (c *Client) SessionTimeout() time.Duration { return c.timeout }
