package uapki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

var baseOptions = CertificateOptions{
	ApplicationURI: "urn:plant:Line 1", CommonName: "Line 1", Organization: "Plant",
	HostNames: []string{"plc1", "10.0.0.7", "fd00::7"}, Now: clock,
}

// rsaKeys are made once per run.
var rsaKeys = [2]func() *rsa.PrivateKey{sync.OnceValue(makeKey), sync.OnceValue(makeKey)}

func makeKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// sign makes a self-signed identity with a key of the run.
func sign(t testing.TB, key int, change func(*CertificateOptions)) *Identity {
	t.Helper()
	opts := baseOptions
	if change != nil {
		change(&opts)
	}
	opts, err := opts.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	id, err := selfSign(rsaKeys[key](), opts)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func leafOf(t testing.TB, id *Identity) *x509.Certificate {
	t.Helper()
	leaf, err := id.Leaf()
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "pki"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// authority is a test CA; its keys are elliptic because they are quick to make.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

var serial int64 = 100

func issue(t testing.TB, parent *authority, name string, pub crypto.PublicKey, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		BasicConstraintsValid: true,
	}
	change(template)
	issuer := template
	if parent.cert != nil {
		issuer = parent.cert
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, pub, parent.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func newAuthority(t testing.TB, parent *authority, name string, change func(*x509.Certificate)) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parent == nil {
		parent = &authority{key: key}
	}
	return &authority{key: key, cert: issue(t, parent, name, &key.PublicKey, func(c *x509.Certificate) {
		c.IsCA = true
		c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
		if change != nil {
			change(c)
		}
	})}
}

func (a *authority) leaf(t testing.TB, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	return issue(t, a, "client", &rsaKeys[0]().PublicKey, func(c *x509.Certificate) {
		c.KeyUsage = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		san, err := alternativeNames("urn:client", []string{"host1"})
		if err != nil {
			t.Fatal(err)
		}
		c.ExtraExtensions = []pkix.Extension{san}
		if change != nil {
			change(c)
		}
	})
}

func (a *authority) crl(t testing.TB, revoked ...*x509.Certificate) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(time.Hour)}
	for _, c := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: now})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func ders(certs ...*x509.Certificate) [][]byte {
	var out [][]byte
	for _, c := range certs {
		out = append(out, c.Raw)
	}
	return out
}
