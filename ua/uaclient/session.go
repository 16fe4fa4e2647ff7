package uaclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"math"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uapki"
)

// openSession creates and activates the session. On failure session and channel are closed. pub is the
// key of the verified server certificate, discovered what GetEndpoints returned; both may be nil.
func (c *Client) openSession(ctx context.Context, pub *rsa.PublicKey, discovered []ua.EndpointDescription) error {
	req, err := c.createRequest()
	if err != nil {
		c.ch.close()
		return stepError(StepSession, "CreateSession", err)
	}
	steps := &c.settings.steps
	resp, err := c.createSession(ctx, req)
	if resp != nil {
		steps.heard(&resp.ResponseHeader)
	}
	if err != nil {
		return stepError(StepSession, "CreateSession", err)
	}
	c.ch.token, c.id = resp.AuthenticationToken, resp.SessionID
	c.timeout = milliseconds(resp.RevisedSessionTimeout)
	if err = c.checkCreated(req, resp, pub, discovered); err != nil {
		c.abandon()
		return stepError(StepSession, "CreateSession", err)
	}
	steps.end(StepSession, nil)
	if err = c.activate(ctx, resp, pub); err != nil {
		c.abandon()
		return stepError(StepActivate, "ActivateSession", err)
	}
	steps.end(StepActivate, nil)
	return nil
}

func (c *Client) createRequest() (*ua.CreateSessionRequest, error) {
	s := c.settings
	uri := s.ApplicationURI
	nonce := make([]byte, 32)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	req := &ua.CreateSessionRequest{
		EndpointURL: c.url.String(), SessionName: s.SessionName, ClientNonce: nonce,
		RequestedSessionTimeout: float64(s.SessionTimeout) / float64(time.Millisecond),
		MaxResponseMessageSize:  s.Messages.MaxMessageSize,
	}
	if !c.chosen.policy.IsNone() {
		id, err := s.identity()
		if err != nil {
			return nil, err
		}
		req.ClientCertificate, uri = id.Certificate(), id.ApplicationURI
	}
	req.ClientDescription = ua.ApplicationDescription{
		ApplicationURI: uri, ProductURI: s.ProductURI, ApplicationName: ua.Text(s.ApplicationName),
		ApplicationType: ua.ApplicationTypeClient,
	}
	return req, nil
}

// milliseconds is a Duration of the standard (Part 3, 8.13) as one of Go. What a server must not send, such
// as NaN and infinity, becomes the nearest that there is, NaN 0.
func milliseconds(ms float64) time.Duration {
	ns := ms * float64(time.Millisecond)
	switch {
	case !(ns > 0):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// lateAnswer is how long the answer to a CreateSession that nobody waits for any more is awaited, in
// order to close the session that it brings.
const lateAnswer = 5 * time.Second

// createSession sends the request. When the context ends first, it returns at once; the session is
// closed behind the caller's back when the server's answer still comes (V03).
func (c *Client) createSession(ctx context.Context, req *ua.CreateSessionRequest) (*ua.CreateSessionResponse, error) {
	type outcome struct {
		resp *ua.CreateSessionResponse
		err  error
	}
	done := make(chan outcome, 1)
	req.RequestHeader.TimeoutHint = timeoutHint(ctx)
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		resp := new(ua.CreateSessionResponse)
		err := c.ch.roundTrip(late, &req.RequestHeader, req, resp, &resp.ResponseHeader)
		done <- outcome{resp, err}
	}()
	select {
	case o := <-done:
		cancel()
		if o.err != nil {
			c.ch.close()
		}
		return o.resp, o.err
	case <-ctx.Done():
	}
	go func() {
		defer cancel()
		timer := time.AfterFunc(lateAnswer, cancel)
		defer timer.Stop()
		if o := <-done; o.err == nil {
			c.ch.token = o.resp.AuthenticationToken
			c.abandon()
			return
		}
		c.ch.close()
	}()
	return nil, ctx.Err()
}

// abandon closes a session that could not be used, and the channel.
func (c *Client) abandon() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if err := c.ch.closeSession(ctx); err != nil {
		c.settings.Log.Debug("closing the session of a failed login", "error", err)
	}
	c.ch.close()
}

func (ch *channel) closeSession(ctx context.Context) error {
	req := &ua.CloseSessionRequest{DeleteSubscriptions: true}
	var resp ua.CloseSessionResponse
	return ch.roundTrip(ctx, &req.RequestHeader, req, &resp, &resp.ResponseHeader)
}

// checkCreated proves that the session's server is the one of the certificate, and that nobody has
// changed the list of endpoints (Part 4, 5.7.2).
func (c *Client) checkCreated(req *ua.CreateSessionRequest, resp *ua.CreateSessionResponse, pub *rsa.PublicKey, discovered []ua.EndpointDescription) error {
	policy := c.chosen.policy
	if !policy.IsNone() {
		leaf, err := uapki.ParseChain(resp.ServerCertificate)
		if err != nil {
			return err
		}
		known, err := uapki.ParseChain(c.chosen.endpoint.ServerCertificate)
		if err != nil {
			return err
		}
		if !leaf[0].Equal(known[0]) {
			return reason(ua.BadCertificateInvalid, "the session's server certificate is not that of the endpoint")
		}
		if len(resp.ServerNonce) < 32 {
			return reason(ua.BadNonceInvalid, "the server's nonce has %d bytes, at least 32 wanted", len(resp.ServerNonce))
		}
		sig := resp.ServerSignature
		if err := policy.AsymVerify(pub, bytes.Join([][]byte{req.ClientCertificate, req.ClientNonce}, nil), sig.Signature); err != nil {
			// Some servers sign the leaf only when a chain was sent (Part 4, 5.7.2.2 leaves it open).
			id := c.settings.Identity
			if len(id.Chain) < 2 || policy.AsymVerify(pub, bytes.Join([][]byte{id.Chain[0], req.ClientNonce}, nil), sig.Signature) != nil {
				return reason(ua.BadApplicationSignatureInvalid, "the server's signature does not fit its certificate: %v", err)
			}
		}
	}
	if discovered == nil || policy.IsNone() && len(resp.ServerEndpoints) == 0 {
		return nil // small servers leave the list out; without security it would prove nothing
	}
	return sameEndpoints(discovered, resp.ServerEndpoints)
}
