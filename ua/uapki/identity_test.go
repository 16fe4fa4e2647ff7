package uapki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

func TestLoadIdentityFaults(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		write(t, path, data)
		return path
	}
	id := sign(t, 0, nil)
	cert := file("good.der", id.Chain[0])
	text, _ := encodeKey(id.Key)
	key := file("good.pem", text)
	other, _ := encodeKey(rsaKeys[1]())
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ecDER, _ := x509.MarshalPKCS8PrivateKey(ec)
	for _, c := range []struct{ name, cert, key, text string }{
		{"no certificate file", filepath.Join(dir, "none.der"), key, "none.der"},
		{"no key file", cert, filepath.Join(dir, "none.pem"), "none.pem"},
		{"garbage certificate", file("garbage.der", []byte("x")), key, "garbage.der"},
		{"empty certificate", file("empty.der", nil), key, "empty.der"},
		{"key instead of a certificate", key, key, "good.pem"},
		{"certificate instead of a key", cert, cert, "good.der"},
		{"broken certificate in PEM", file("broken.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{0x30, 0}})), key, "broken.pem"},
		{"password", cert, file("locked.pem", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}})), "password"},
		{"elliptic key", cert, file("ec.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: ecDER})), "RSA wanted"},
		{"SEC 1 key", cert, file("ec1.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: []byte{1}})), "RSA wanted"},
		{"key of another", cert, file("other.pem", other), "does not belong"},
	} {
		got, err := LoadIdentity(c.cert, c.key)
		if err == nil || got != nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLoadIdentityForms(t *testing.T) {
	dir := t.TempDir()
	root := newAuthority(t, nil, "root", nil)
	mid := newAuthority(t, root, "mid", nil)
	stray := newAuthority(t, nil, "stray", nil)
	leaf := mid.leaf(t, nil)
	key := rsaKeys[0]()
	pkcs8, _ := encodeKey(key)
	der8, _ := x509.MarshalPKCS8PrivateKey(key)
	der1 := x509.MarshalPKCS1PrivateKey(key)
	pkcs1 := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der1})
	want := [][]byte{leaf.Raw, mid.cert.Raw, root.cert.Raw}
	certs := map[string][]byte{
		"ordered.pem":  bytes.Join([][]byte{pemOf(leaf), pemOf(mid.cert), pemOf(root.cert)}, nil),
		"reversed.pem": bytes.Join([][]byte{[]byte("comment\n"), pemOf(root.cert), pemOf(stray.cert), pemOf(mid.cert), pemOf(leaf)}, nil),
		"chain.der":    bytes.Join(want, nil),
		"with key.pem": bytes.Join([][]byte{pkcs8, pemOf(leaf), pemOf(mid.cert), pemOf(root.cert)}, nil),
	}
	keys := map[string][]byte{"8.pem": pkcs8, "1.pem": pkcs1, "8.der": der8, "1.der": der1, "both.pem": certs["with key.pem"]}
	for cn, c := range certs {
		write(t, filepath.Join(dir, cn), c)
		for kn, k := range keys {
			write(t, filepath.Join(dir, kn), k)
			id, err := LoadIdentity(filepath.Join(dir, cn), filepath.Join(dir, kn))
			if err != nil {
				t.Errorf("%s with %s: %v", cn, kn, err)
				continue
			}
			if !bytes.Equal(id.Certificate(), bytes.Join(want, nil)) || len(id.Chain) != 3 || !id.Key.Equal(key) || id.ApplicationURI != "urn:client" {
				t.Errorf("%s with %s: chain of %d, URI %q", cn, kn, len(id.Chain), id.ApplicationURI)
			}
		}
	}
}

// TestThumbprintOfChains is user reports S05 and S06 for what an identity sends.
func TestThumbprintOfChains(t *testing.T) {
	ca := newAuthority(t, nil, "ca", nil)
	leaf := ca.leaf(t, nil)
	want := sha1.Sum(leaf.Raw)
	for _, id := range []*Identity{{Chain: ders(leaf)}, {Chain: ders(leaf, ca.cert)}, {Chain: ders(leaf, ca.cert, ca.cert)}} {
		field := id.Certificate()
		if Thumbprint(field) != want {
			t.Errorf("thumbprint of a chain of %d is %x", len(id.Chain), Thumbprint(field))
		}
		chain, err := ParseChain(field)
		if err != nil || len(chain) != len(id.Chain) || !chain[0].Equal(leaf) {
			t.Errorf("chain of %d: %v", len(id.Chain), err)
		}
	}
}

// TestNewCertificate holds the table of Part 6, 6.2.2 against the certificate.
func TestNewCertificate(t *testing.T) {
	id := sign(t, 0, nil)
	c := leafOf(t, id)
	if c.Version != 3 || c.SignatureAlgorithm != x509.SHA256WithRSA || c.SerialNumber.BitLen() != 127 {
		t.Errorf("version %d, %v, serial of %d bits", c.Version, c.SignatureAlgorithm, c.SerialNumber.BitLen())
	}
	usage := x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign
	if c.KeyUsage != usage || len(c.ExtKeyUsage) != 2 || !c.BasicConstraintsValid || c.IsCA {
		t.Errorf("usage %b %v, CA %v", c.KeyUsage, c.ExtKeyUsage, c.IsCA)
	}
	if ApplicationURIOf(c) != "urn:plant:Line 1" || id.ApplicationURI != "urn:plant:Line 1" {
		t.Errorf("URI %q", ApplicationURIOf(c))
	}
	if len(c.DNSNames) != 1 || c.DNSNames[0] != "plc1" || len(c.IPAddresses) != 2 || len(c.IPAddresses[0]) != 4 || len(c.IPAddresses[1]) != 16 {
		t.Errorf("hosts %v %v", c.DNSNames, c.IPAddresses)
	}
	if c.Subject.CommonName != "Line 1" || c.Subject.Organization[0] != "Plant" || !bytes.Equal(c.SubjectKeyId, c.AuthorityKeyId) || len(c.SubjectKeyId) != 20 {
		t.Errorf("subject %v, key ids %x %x", c.Subject, c.SubjectKeyId, c.AuthorityKeyId)
	}
	if !c.NotBefore.Equal(now.Add(-24*time.Hour)) || !c.NotAfter.Equal(now.Add(5*365*24*time.Hour)) {
		t.Errorf("valid %v to %v", c.NotBefore, c.NotAfter)
	}
	if err := signatureOf(c, c); err != nil {
		t.Error(err)
	}
	if bytes.Equal(sign(t, 0, nil).Chain[0], id.Chain[0]) {
		t.Error("two certificates with one serial number")
	}
}

func TestNewCertificateDefaultsAndRefusals(t *testing.T) {
	c := leafOf(t, sign(t, 0, func(o *CertificateOptions) { *o = CertificateOptions{CommonName: "My App"} }))
	if uri := ApplicationURIOf(c); !strings.HasPrefix(uri, "urn:") || !strings.HasSuffix(uri, ":My-App") {
		t.Errorf("URI %q", uri)
	}
	if c.VerifyHostname("localhost") != nil || c.VerifyHostname("127.0.0.1") != nil || len(c.IPAddresses) > 2+maxAddresses {
		t.Errorf("hosts %v %v", c.DNSNames, c.IPAddresses)
	}
	for _, bad := range []CertificateOptions{
		{Bits: 1024}, {Bits: 8192}, {Validity: -1}, {ApplicationURI: "urn:ü"}, {ApplicationURI: "urn:\n"},
		{HostNames: []string{""}}, {HostNames: []string{"plc\x00"}}, {ApplicationURI: ":"},
	} {
		if id, err := NewIdentity(bad); err == nil || id != nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestApplicationURIIsKeptAsWritten: peers compare the URI as a string, so no
// form of net/url may get between.
func TestApplicationURIIsKeptAsWritten(t *testing.T) {
	for _, uri := range []string{"urn:a:b:c", "URN:Upper:Case", "http://Host/a b", "urn:x%2fy", "opc.tcp://h:4840/?q=1#f"} {
		id := sign(t, 0, func(o *CertificateOptions) { o.ApplicationURI = uri })
		if got := ApplicationURIOf(leafOf(t, id)); got != uri {
			t.Errorf("%q became %q", uri, got)
		}
	}
	ca := newAuthority(t, nil, "ca", nil)
	if got := ApplicationURIOf(ca.cert); got != "" {
		t.Errorf("an authority has the URI %q", got)
	}
}

func TestSigningRequest(t *testing.T) {
	id := sign(t, 0, nil)
	der, err := id.SigningRequest()
	if err != nil {
		t.Fatal(err)
	}
	req, err := x509.ParseCertificateRequest(der)
	if err != nil || req.CheckSignature() != nil {
		t.Fatal(err, req.CheckSignature())
	}
	if req.Subject.CommonName != "Line 1" || len(req.URIs) != 1 || len(req.IPAddresses) != 2 || !id.Key.PublicKey.Equal(req.PublicKey) {
		t.Errorf("request %v %v %v", req.Subject, req.URIs, req.IPAddresses)
	}
	if _, err := (&Identity{}).SigningRequest(); !errors.Is(err, ua.BadCertificateInvalid) {
		t.Error(err)
	}
}

func FuzzParseChain(f *testing.F) {
	der := sign(f, 0, nil).Chain[0]
	ca := newAuthority(f, nil, "ca", nil)
	f.Add([]byte{})
	f.Add(der)
	f.Add(append(bytes.Clone(ca.cert.Raw), der...))
	f.Add(der[:len(der)-1])
	s := open(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		chain, err := ParseChain(data)
		Thumbprint(data)
		if err != nil {
			if !errors.Is(err, ua.BadCertificateInvalid) || chain != nil {
				t.Fatalf("%v", err)
			}
			return
		}
		var joined []byte
		for _, c := range chain {
			joined = append(joined, c.Raw...)
			ApplicationURIOf(c)
			fileName(c)
		}
		if !bytes.Equal(joined, data) || Thumbprint(data) != sha1.Sum(chain[0].Raw) {
			t.Fatal("the chain is not the field")
		}
		if s.Validate([][]byte{data}, ValidateOptions{Now: now, HostName: "h", ApplicationURI: "u"}) == nil {
			t.Fatal("trusted by an empty store")
		}
	})
}
