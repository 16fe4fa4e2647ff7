package linktest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"embed"
	"encoding/pem"
	"math/big"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua/internal/uasc"
)

//go:embed testdata/*.pem
var keyFiles embed.FS

var (
	keysMu sync.Mutex
	keys   = map[string]*rsa.PrivateKey{}
)

// Key returns a key made for tests: "rsa2048", "rsa2048b", "rsa3072" or "rsa4096". They are stored
// because making one takes seconds.
func Key(t testing.TB, name string) *rsa.PrivateKey {
	t.Helper()
	keysMu.Lock()
	defer keysMu.Unlock()
	if k := keys[name]; k != nil {
		return k
	}
	text, err := keyFiles.ReadFile("testdata/" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	keys[name] = key.(*rsa.PrivateKey)
	return keys[name]
}

// Identity returns a self-signed certificate for the key with that name.
func Identity(t testing.TB, key string) *uasc.Identity {
	t.Helper()
	k := Key(t, key)
	c := certificate(key, false)
	return &uasc.Identity{Chain: [][]byte{sign(t, c, c, k, k)}, Key: k}
}

// ChainIdentity returns a certificate for the key with an intermediate and a root above it.
func ChainIdentity(t testing.TB, key string) *uasc.Identity {
	t.Helper()
	k, ca := Key(t, key), Key(t, "rsa2048b")
	root, middle, leaf := certificate("root", true), certificate("intermediate", true), certificate(key, false)
	return &uasc.Identity{Chain: [][]byte{
		sign(t, leaf, middle, k, ca),
		sign(t, middle, root, ca, ca),
		sign(t, root, root, ca, ca),
	}, Key: k}
}

func certificate(name string, ca bool) *x509.Certificate {
	c := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		BasicConstraintsValid: true,
		IsCA:                  ca,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	if !ca {
		c.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
		c.URIs = []*url.URL{{Scheme: "urn", Opaque: "actua:" + name}}
		c.DNSNames = []string{"localhost"}
	}
	return c
}

func sign(t testing.TB, c, parent *x509.Certificate, key, signer *rsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
