package uaclient

import (
	"context"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uapki"
)

// CertificateError says that a server's certificate was not accepted. It wraps the cause, which holds
// the status.
type CertificateError struct {
	Certificate *ServerCertificate
	Err         error
}

// Error names the certificate with its thumbprint and the cause.
func (e *CertificateError) Error() string {
	return fmt.Sprintf("server certificate %q (SHA-1 %s) is not accepted: %v",
		e.Certificate.Chain[0].Subject.String(), e.Certificate.Thumbprint, e.Err)
}

// Unwrap is the cause.
func (e *CertificateError) Unwrap() error { return e.Err }

// verifyServer checks the certificate of an endpoint before anything secret is sent to it.
func (s *settings) verifyServer(ctx context.Context, c *candidate, host string) ([]*x509.Certificate, error) {
	e := c.endpoint
	if len(e.ServerCertificate) == 0 {
		return nil, reason(ua.BadCertificateInvalid, "the server sends no certificate for its endpoint %s", e.EndpointURL)
	}
	chain, err := uapki.ParseChain(e.ServerCertificate)
	if err != nil {
		return nil, err
	}
	thumb := uapki.Thumbprint(chain[0].Raw)
	cert := &ServerCertificate{
		Chain: chain, Thumbprint: strings.ToUpper(hex.EncodeToString(thumb[:])), HostName: host, Endpoint: e, Offered: s.offered,
	}
	policy := c.policy
	if policy.IsNone() {
		policy = c.secret
	}
	cert.Err = s.checkServer(cert, policy)
	switch {
	case s.VerifyServer != nil:
		err = s.VerifyServer(ctx, cert)
	case s.InsecureSkipVerify:
		if cert.Err != nil {
			s.Log.Warn("server certificate is not verified", "thumbprint", cert.Thumbprint, "found", cert.Err)
		}
		return chain, nil
	default:
		err = cert.Err
	}
	if err == nil {
		return chain, nil
	}
	if s.PKI != nil {
		err = errors.Join(err, s.PKI.Reject(chain[0]))
	}
	return nil, &CertificateError{Certificate: cert, Err: err}
}

func (s *settings) checkServer(cert *ServerCertificate, policy *secpol.Policy) error {
	if s.PKI == nil {
		return reason(ua.BadCertificateUntrusted, "there is no list of trusted certificates: set PKI, VerifyServer or InsecureSkipVerify")
	}
	options := uapki.ValidateOptions{
		ApplicationURI: cert.Endpoint.Server.ApplicationURI, HostName: cert.HostName, SecurityPolicyURI: policy.URI,
	}
	if s.SkipHostName {
		options.HostName = ""
	}
	return s.PKI.Validate(rawChain(cert.Chain), options)
}

func rawChain(chain []*x509.Certificate) [][]byte {
	raw := make([][]byte, len(chain))
	for i, c := range chain {
		raw[i] = c.Raw
	}
	return raw
}
