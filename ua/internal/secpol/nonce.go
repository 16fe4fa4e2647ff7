package secpol

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"

	"github.com/actua/actua/ua"
)

// NewNonce returns NonceLength random bytes, nil for None (Part 6, 6.7.4). The
// error is reserved for key exchanges that can fail to make an ephemeral key.
func (p *Policy) NewNonce() ([]byte, error) {
	if p.NonceLength == 0 {
		return nil, nil
	}
	nonce := make([]byte, p.NonceLength)
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("security policy %s: no random bytes for a nonce: %w", p.Name, err)
	}
	return nonce, nil
}

// CheckNonce refuses a peer's nonce from which no good keys come: one shorter
// than the policy's length, or one of zeros only, which is what a peer sends
// that forgot to fill it. Longer ones pass, because stacks in the field send 32
// bytes under every policy. The error wraps ua.BadNonceInvalid (Part 4, 5.6.2).
func (p *Policy) CheckNonce(nonce []byte) error {
	if len(nonce) < p.NonceLength {
		return fmt.Errorf("security policy %s: nonce of %d bytes, at least %d wanted: %w", p.Name, len(nonce), p.NonceLength, ua.BadNonceInvalid)
	}
	if p.NonceLength == 0 {
		return nil
	}
	var bits byte
	for _, b := range nonce {
		bits |= b
	}
	if bits == 0 {
		return fmt.Errorf("security policy %s: nonce of %d zero bytes: %w", p.Name, len(nonce), ua.BadNonceInvalid)
	}
	return nil
}

// CheckKey checks the size of a certificate's RSA key against the policy's
// limits, which hold for each certificate of a chain (Part 6, 6.1, Part 7). The
// error names the size and the limits and wraps
// ua.BadCertificatePolicyCheckFailed (Part 4, 6.1.3, the security policy check
// of certificates). A nil key wraps ua.BadCertificateInvalid. None accepts any.
func (p *Policy) CheckKey(pub *rsa.PublicKey) error {
	if p.IsNone() {
		return nil
	}
	if pub == nil || pub.N == nil {
		return fmt.Errorf("security policy %s needs an RSA key: %w", p.Name, ua.BadCertificateInvalid)
	}
	if bits := pub.N.BitLen(); bits < p.MinKeyBits || bits > p.MaxKeyBits {
		return fmt.Errorf("RSA key of %d bits, security policy %s wants %d to %d: %w",
			bits, p.Name, p.MinKeyBits, p.MaxKeyBits, ua.BadCertificatePolicyCheckFailed)
	}
	return nil
}
