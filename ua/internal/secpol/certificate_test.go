package secpol

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"errors"
	"math/big"
	"testing"

	"github.com/actua/actua/ua"
)

func selfSigned(t testing.TB, key any, pub any) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, pub, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestSplitChainOfWrongForm(t *testing.T) {
	key := testKey(t, "rsa1024")
	der := selfSigned(t, key, &key.PublicKey)
	for name, bad := range map[string][]byte{
		"nil": nil, "zeros": make([]byte, 100), "text": []byte("-----BEGIN CERTIFICATE-----"),
		"tag only": {0x30}, "indefinite length": {0x30, 0x80, 0, 0}, "length of 4 bytes": {0x30, 0x84, 0, 0, 0, 1, 0},
		"length cut": {0x30, 0x82, 1}, "cut": der[:len(der)-1], "byte behind": append(bytes.Clone(der), 0),
		"second cut": append(bytes.Clone(der), der[:20]...), "eleven": bytes.Repeat(der, MaxChain+1),
	} {
		if chain, err := SplitChain(bad); !errors.Is(err, ua.BadCertificateInvalid) || chain != nil {
			t.Errorf("%s: %d elements, %v", name, len(chain), err)
		}
		if _, err := LeafPublicKey(bad); !errors.Is(err, ua.BadCertificateInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		Thumbprint(bad)
	}
	if _, err := LeafPublicKey([]byte{0x30, 2, 5, 0}); !errors.Is(err, ua.BadCertificateInvalid) {
		t.Errorf("DER that is no certificate: %v", err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LeafPublicKey(selfSigned(t, ec, &ec.PublicKey)); !errors.Is(err, ua.BadCertificateInvalid) {
		t.Errorf("ECC key: %v", err)
	}
}

// TestThumbprintIsOfTheLeaf is user reports S05 and S06.
func TestThumbprintIsOfTheLeaf(t *testing.T) {
	a, b := testKey(t, "rsa1024"), testKey(t, "rsa2048")
	leaf, issuer := selfSigned(t, a, &a.PublicKey), selfSigned(t, b, &b.PublicKey)
	want := sha1.Sum(leaf)
	for _, tail := range [][]byte{nil, issuer, append(bytes.Clone(issuer), issuer...)} {
		field := append(bytes.Clone(leaf), tail...)
		if got := Thumbprint(field); got != want {
			t.Errorf("with %d bytes behind the leaf: %x", len(tail), got)
		}
		chain, err := SplitChain(field)
		if err != nil || !bytes.Equal(chain[0], leaf) || !bytes.Equal(bytes.Join(chain, nil), field) {
			t.Errorf("chain of %d: %v", len(chain), err)
		}
		if pub, err := LeafPublicKey(field); err != nil || !pub.Equal(&a.PublicKey) {
			t.Errorf("key of the leaf: %v", err)
		}
	}
}
