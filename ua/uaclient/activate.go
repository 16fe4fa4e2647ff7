package uaclient

import (
	"bytes"
	"context"
	"crypto/rsa"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uapki"
)

// activate logs the user in (Part 4, 5.7.3).
func (c *Client) activate(ctx context.Context, created *ua.CreateSessionResponse, pub *rsa.PublicKey) error {
	s := c.settings
	if c.chosen.policy.IsNone() && s.sendsEncryptedSecret(&c.chosen) && len(created.ServerCertificate) > 0 {
		// The password is encrypted for the certificate that was verified; the session must have it too.
		known, err := uapki.ParseChain(c.chosen.endpoint.ServerCertificate)
		if err != nil {
			return err
		}
		now, err := uapki.ParseChain(created.ServerCertificate)
		if err != nil {
			return err
		}
		if !known[0].Equal(now[0]) {
			return reason(ua.BadCertificateInvalid, "the session's server certificate is not that of the endpoint")
		}
	}
	token, err := s.userToken(&c.chosen, pub, created.ServerNonce)
	if err != nil {
		return err
	}
	req := &ua.ActivateSessionRequest{LocaleIDs: s.Locales, UserIdentityToken: token}
	if p := c.chosen.policy; !p.IsNone() {
		signed := bytes.Join([][]byte{created.ServerCertificate, created.ServerNonce}, nil)
		signature, err := p.AsymSign(s.Identity.Key, nil, signed)
		if err != nil {
			return err
		}
		req.ClientSignature = ua.SignatureData{Algorithm: p.AsymmetricSignatureURI, Signature: signature}
	}
	var resp ua.ActivateSessionResponse
	err = c.ch.roundTrip(ctx, &req.RequestHeader, req, &resp, &resp.ResponseHeader)
	s.steps.heard(&resp.ResponseHeader)
	return err
}
