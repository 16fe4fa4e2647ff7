package secpol

import (
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"fmt"

	"github.com/actua/actua/ua"
)

// MaxChain bounds the certificates of one certificate field. Longer chains do
// not occur, and each certificate costs the receiver a signature check.
const MaxChain = 10

// SplitChain cuts a certificate field, the DER certificates of a chain one
// behind the other with the leaf first (Part 6, 6.7.2.3), into its elements. The
// elements share der's memory and are not parsed further. A field that is empty, cut
// short, no sequence of DER elements or longer than MaxChain gives an error that
// wraps ua.BadCertificateInvalid.
func SplitChain(der []byte) ([][]byte, error) {
	if len(der) == 0 {
		return nil, fmt.Errorf("empty certificate: %w", ua.BadCertificateInvalid)
	}
	var chain [][]byte
	for rest := der; len(rest) > 0; {
		n := elementLength(rest)
		if n == 0 {
			return nil, fmt.Errorf("certificate %d, at byte %d of %d, is no DER certificate: %w", len(chain)+1, len(der)-len(rest), len(der), ua.BadCertificateInvalid)
		}
		if len(chain) == MaxChain {
			return nil, fmt.Errorf("chain of more than %d certificates: %w", MaxChain, ua.BadCertificateInvalid)
		}
		chain = append(chain, rest[:n:n])
		rest = rest[n:]
	}
	return chain, nil
}

// elementLength returns the bytes of the DER SEQUENCE at the start of b, header
// included, or 0 when there is none that is complete. It is written out
// because the thumbprint check of every OpenSecureChannel needs the first
// element only, and no parse.
func elementLength(b []byte) int {
	if len(b) < 2 || b[0] != 0x30 {
		return 0
	}
	header, n := 2, int(b[1])
	if b[1] >= 0x80 {
		octets := int(b[1] & 0x7f)
		if octets == 0 || octets > 3 || len(b) < 2+octets {
			return 0
		}
		header, n = 2+octets, 0
		for _, o := range b[2:header] {
			n = n<<8 | int(o)
		}
	}
	if n > len(b)-header {
		return 0
	}
	return header + n
}

// Thumbprint returns the SHA-1 digest that names a certificate in
// ReceiverCertificateThumbprint (Part 6, 6.7.2.3). Of a chain only the leaf, the first
// DER element, counts. Bytes that are no DER are hashed whole.
func Thumbprint(der []byte) [sha1.Size]byte {
	if n := elementLength(der); n > 0 {
		der = der[:n]
	}
	return sha1.Sum(der)
}

// LeafPublicKey returns the RSA key of the first certificate of a field. An
// unreadable certificate or a key of another type gives an error that wraps
// ua.BadCertificateInvalid. It says nothing about trust.
func LeafPublicKey(der []byte) (*rsa.PublicKey, error) {
	chain, err := SplitChain(der)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return nil, fmt.Errorf("%v: %w", err, ua.BadCertificateInvalid)
	}
	pub, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("certificate %q has a key of type %v, RSA wanted: %w", cert.Subject, cert.PublicKeyAlgorithm, ua.BadCertificateInvalid)
	}
	return pub, nil
}
