package uapki

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"

	"github.com/actua/actua/ua"
)

// revocations is one revocation list, its serial numbers indexed once.
type revocations struct {
	list    *x509.RevocationList
	serials map[string]struct{}
}

// decodeRevocations reads a file of revocation lists in DER or PEM.
func decodeRevocations(data []byte) ([]*revocations, error) {
	if !bytes.Contains(data, []byte("-----BEGIN ")) {
		r, err := parseRevocations(data)
		if err != nil {
			return nil, err
		}
		return []*revocations{r}, nil
	}
	var all []*revocations
	for block := range pemBlocks(data) {
		if block.Type != "X509 CRL" {
			continue
		}
		r, err := parseRevocations(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, errors.New("no revocation list in it")
	}
	return all, nil
}

func parseRevocations(der []byte) (*revocations, error) {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return nil, err
	}
	r := &revocations{list: list, serials: make(map[string]struct{}, len(list.RevokedCertificateEntries))}
	for _, e := range list.RevokedCertificateEntries {
		r.serials[serialKey(e.SerialNumber)] = struct{}{}
	}
	return r, nil
}

func serialKey(n *big.Int) string { return string(n.Bytes()) }

// revokes reports whether the list is one of issuer's and names cert.
func (r *revocations) revokes(cert, issuer *x509.Certificate) bool {
	if _, listed := r.serials[serialKey(cert.SerialNumber)]; !listed {
		return false
	}
	return bytes.Equal(r.list.RawIssuer, issuer.RawSubject) && r.list.CheckSignatureFrom(issuer) == nil
}

// checkRevoked looks each certificate of a chain up in the lists of its issuer.
// An old list still revokes: what was revoked once stays so.
func (l lists) checkRevoked(chain []*x509.Certificate) error {
	for i, cert := range chain[:len(chain)-1] {
		issuer := chain[i+1]
		for _, r := range l.crls {
			if !r.revokes(cert, issuer) {
				continue
			}
			code := ua.BadCertificateRevoked
			if i > 0 {
				code = ua.BadCertificateIssuerRevoked
			}
			return fmt.Errorf("uapki: %s was revoked by %s: %w", describe(cert), describe(issuer), code)
		}
	}
	return nil
}
