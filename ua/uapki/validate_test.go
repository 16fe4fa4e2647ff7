package uapki

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

func check(t *testing.T, s *Store, what string, chain [][]byte, opts ValidateOptions, want error) {
	t.Helper()
	if opts.Now.IsZero() {
		opts.Now = now
	}
	err := s.Validate(chain, opts)
	if !errors.Is(err, want) || (want == nil) != (err == nil) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestValidateWrongForm(t *testing.T) {
	s := open(t)
	id := sign(t, 0, nil)
	if err := s.Trust(leafOf(t, id)); err != nil {
		t.Fatal(err)
	}
	der := id.Chain[0]
	broken := bytes.Clone(der)
	broken[len(broken)-1] ^= 1
	for what, chain := range map[string][][]byte{
		"nil": nil, "empty": {{}}, "garbage": {[]byte("garbage")}, "cut": {der[:100]},
		"eleven": {der, der, der, der, der, der, der, der, der, der, der},
		"wrong signature, though the names are trusted": {broken},
		"garbage behind the leaf":                       {append(bytes.Clone(der), 1, 2, 3)},
	} {
		check(t, s, what, chain, ValidateOptions{}, ua.BadCertificateInvalid)
	}
	huge := &rsa.PublicKey{N: new(big.Int).Lsh(rsaKeys[0]().N, 8192), E: 65537}
	ca := newAuthority(t, nil, "ca", nil)
	check(t, s, "huge key", ders(issue(t, ca, "huge", huge, func(*x509.Certificate) {})), ValidateOptions{}, ua.BadCertificateInvalid)
	critical := ca.leaf(t, func(c *x509.Certificate) {
		c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: []int{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}})
	})
	check(t, s, "critical extension", ders(critical), ValidateOptions{}, ua.BadCertificateInvalid)
}

// TestValidateRefuses is the list of user report S25.
func TestValidateRefuses(t *testing.T) {
	s := open(t)
	id := sign(t, 0, nil)
	der := id.Chain
	check(t, s, "unknown", der, ValidateOptions{}, ua.BadCertificateUntrusted)
	err := s.Validate(der, ValidateOptions{Now: now})
	if !strings.Contains(err.Error(), filepath.Join("trusted", "certs")) || !strings.Contains(err.Error(), "Line 1") {
		t.Errorf("text: %v", err)
	}
	if err := s.Trust(leafOf(t, id)); err != nil {
		t.Fatal(err)
	}
	good := ValidateOptions{ApplicationURI: "urn:plant:Line 1", HostName: "PLC1", SecurityPolicyURI: secpol.URIPrefix + "Basic256Sha256"}
	check(t, s, "trusted", der, good, nil)
	with := func(change func(*ValidateOptions)) ValidateOptions { o := good; change(&o); return o }
	for _, host := range []string{"10.0.0.7", "[fd00::7]", "fd00::7", "plc1."} {
		check(t, s, host, der, with(func(o *ValidateOptions) { o.HostName = host }), nil)
	}
	for _, host := range []string{"plc2", "10.0.0.8", "plc1.example", "lc1"} {
		check(t, s, host, der, with(func(o *ValidateOptions) { o.HostName = host }), ua.BadCertificateHostNameInvalid)
	}
	for _, uri := range []string{"urn:plant:Line 2", "URN:plant:Line 1", "urn:plant:Line 1 "} {
		check(t, s, uri, der, with(func(o *ValidateOptions) { o.ApplicationURI = uri }), ua.BadCertificateUriInvalid)
	}
	check(t, s, "expired", der, with(func(o *ValidateOptions) { o.Now = now.Add(6 * 365 * 24 * time.Hour) }), ua.BadCertificateTimeInvalid)
	check(t, s, "not yet valid", der, with(func(o *ValidateOptions) { o.Now = now.Add(-25 * time.Hour) }), ua.BadCertificateTimeInvalid)
	check(t, s, "skewed clock", der, with(func(o *ValidateOptions) { o.Now = now.Add(-23 * time.Hour) }), nil)
	check(t, s, "unknown policy", der, with(func(o *ValidateOptions) { o.SecurityPolicyURI = "x" }), ua.BadSecurityPolicyRejected)
	if err := s.Untrust(leafOf(t, id)); err != nil {
		t.Fatal(err)
	}
	check(t, s, "no longer trusted", der, good, ua.BadCertificateUntrusted)
}

func TestValidateKeySizeAndSHA1(t *testing.T) {
	s, ca := open(t), newAuthority(t, nil, "ca", nil)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	leaf := issue(t, ca, "small", &small.PublicKey, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageDigitalSignature })
	if err := s.Trust(leaf); err != nil {
		t.Fatal(err)
	}
	policy := func(name string) ValidateOptions {
		return ValidateOptions{SecurityPolicyURI: secpol.URIPrefix + name}
	}
	check(t, s, "1024 bits", ders(leaf), policy("Basic256Sha256"), ua.BadCertificatePolicyCheckFailed)
	check(t, s, "1024 bits, deprecated policy", ders(leaf), policy("Basic256"), nil)
	check(t, s, "1024 bits, no policy", ders(leaf), ValidateOptions{}, nil)

	cert := *leaf // crypto/x509 makes no SHA-1 certificates any more
	cert.SignatureAlgorithm = x509.SHA1WithRSA
	for _, c := range []struct {
		opts ValidateOptions
		want error
	}{
		{ValidateOptions{}, ua.BadCertificatePolicyCheckFailed},
		{ValidateOptions{AllowSHA1: true}, nil},
		{policy("Basic256"), nil},
	} {
		if err := checkPolicy([]*x509.Certificate{&cert}, c.opts); !errors.Is(err, c.want) {
			t.Errorf("SHA-1 with %+v: %v", c.opts, err)
		}
	}
}

// TestValidateChains is user report S07.
func TestValidateChains(t *testing.T) {
	s := open(t)
	root := newAuthority(t, nil, "root", nil)
	mid := newAuthority(t, root, "mid", nil)
	leaf := mid.leaf(t, nil)
	opts := ValidateOptions{ApplicationURI: "urn:client"}
	full, short := ders(leaf, mid.cert), ders(leaf)

	check(t, s, "nothing known", short, opts, ua.BadCertificateChainIncomplete)
	check(t, s, "root not known", full, opts, ua.BadCertificateChainIncomplete)
	if err := s.AddIssuer(root.cert); err != nil {
		t.Fatal(err)
	}
	check(t, s, "root is issuer only", full, opts, ua.BadCertificateUntrusted)
	if err := s.Trust(root.cert); err != nil {
		t.Fatal(err)
	}
	write(t, s.path("trusted/crl/root.crl"), root.crl(t))
	check(t, s, "intermediate sent", full, opts, nil)
	check(t, s, "sent as one field", [][]byte{bytes.Join(full, nil)}, opts, nil)
	check(t, s, "root sent too", ders(leaf, mid.cert, root.cert), opts, nil)
	check(t, s, "root before the intermediate", ders(leaf, root.cert, mid.cert), opts, nil)
	check(t, s, "without the intermediate", short, opts, ua.BadCertificateChainIncomplete)
	if err := s.AddIssuer(mid.cert); err != nil {
		t.Fatal(err)
	}
	check(t, s, "intermediate in issuers", short, opts, nil)

	other := open(t)
	if err := other.Trust(leaf); err != nil {
		t.Fatal(err)
	}
	check(t, other, "only the leaf is trusted", short, opts, nil)
	other = open(t)
	if err := other.Trust(mid.cert); err != nil {
		t.Fatal(err)
	}
	check(t, other, "only the intermediate is trusted", short, opts, nil)
}

func TestValidateIssuers(t *testing.T) {
	root := newAuthority(t, nil, "root", nil)
	s := open(t)
	if err := s.Trust(root.cert); err != nil {
		t.Fatal(err)
	}
	through := func(change func(*x509.Certificate)) [][]byte {
		mid := newAuthority(t, root, "mid", change)
		return ders(mid.leaf(t, nil), mid.cert)
	}
	check(t, s, "good", through(nil), ValidateOptions{}, nil)
	check(t, s, "no CA", through(func(c *x509.Certificate) { c.IsCA = false }), ValidateOptions{}, ua.BadCertificateIssuerUseNotAllowed)
	check(t, s, "no certSign", through(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign }), ValidateOptions{}, ua.BadCertificateIssuerUseNotAllowed)
	check(t, s, "expired", through(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }), ValidateOptions{}, ua.BadCertificateIssuerTimeInvalid)
	check(t, s, "name constraints", through(func(c *x509.Certificate) {
		c.PermittedDNSDomains, c.PermittedDNSDomainsCritical = []string{"plant"}, true
	}), ValidateOptions{}, ua.BadCertificateInvalid)

	short := newAuthority(t, nil, "short", func(c *x509.Certificate) { c.MaxPathLenZero = true })
	if err := s.Trust(short.cert); err != nil {
		t.Fatal(err)
	}
	mid := newAuthority(t, short, "mid2", nil)
	check(t, s, "path length", ders(mid.leaf(t, nil), mid.cert), ValidateOptions{}, ua.BadCertificateIssuerUseNotAllowed)
	check(t, s, "path length kept", ders(short.leaf(t, nil)), ValidateOptions{}, nil)

	stranger := newAuthority(t, nil, "root", nil)
	check(t, s, "authority of the same name", ders(stranger.leaf(t, func(c *x509.Certificate) { c.AuthorityKeyId = nil })), ValidateOptions{}, ua.BadCertificateChainIncomplete)

	forged := forge(t, &authority{cert: root.cert, key: stranger.key})
	check(t, s, "signature of another key", ders(forged), ValidateOptions{}, ua.BadCertificateInvalid)
}

// forge makes a certificate that names an authority whose key did not sign it.
func forge(t *testing.T, a *authority) *x509.Certificate {
	t.Helper()
	parent := *a.cert
	parent.PublicKey = a.key.Public() // else crypto/x509 notices
	return (&authority{cert: &parent, key: a.key}).leaf(t, nil)
}

// TestTrustedApplicationIsNoAuthority: the certificate of a trusted application
// must not vouch for others, even when it carries the CA flag.
func TestTrustedApplicationIsNoAuthority(t *testing.T) {
	s := open(t)
	id := sign(t, 0, nil)
	app := leafOf(t, id)
	if err := s.Trust(app); err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: app, key: id.Key}
	check(t, s, "signed by an application", ders(a.leaf(t, nil)), ValidateOptions{}, ua.BadCertificateIssuerUseNotAllowed)

	flagged := issue(t, &authority{key: id.Key}, "flagged", &id.Key.PublicKey, func(c *x509.Certificate) {
		c.IsCA = true
		c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageDataEncipherment
		san, _ := alternativeNames("urn:flagged", nil)
		c.ExtraExtensions = []pkix.Extension{san}
	})
	if err := s.Trust(flagged); err != nil {
		t.Fatal(err)
	}
	check(t, s, "itself", ders(flagged), ValidateOptions{}, nil)
	a = &authority{cert: flagged, key: id.Key}
	check(t, s, "signed by an application with the CA flag", ders(a.leaf(t, nil)), ValidateOptions{}, ua.BadCertificateIssuerUseNotAllowed)
}

func TestValidateUsage(t *testing.T) {
	ca := newAuthority(t, nil, "ca", nil)
	s := open(t)
	if err := s.Trust(ca.cert); err != nil {
		t.Fatal(err)
	}
	check(t, s, "no digitalSignature", ders(ca.leaf(t, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment })), ValidateOptions{}, ua.BadCertificateUseNotAllowed)
	mail := ders(ca.leaf(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection} }))
	check(t, s, "mail", mail, ValidateOptions{}, ua.BadCertificateUseNotAllowed)
	check(t, s, "mail of a user", mail, ValidateOptions{User: true}, nil)
	check(t, s, "no extended usage", ders(ca.leaf(t, func(c *x509.Certificate) { c.ExtKeyUsage = nil })), ValidateOptions{}, nil)
}

func TestValidateRevoked(t *testing.T) {
	root := newAuthority(t, nil, "root", nil)
	mid := newAuthority(t, root, "mid", nil)
	leaf, sister := mid.leaf(t, nil), mid.leaf(t, nil)
	chain := ders(leaf, mid.cert)
	s := open(t)
	if err := s.Trust(root.cert); err != nil {
		t.Fatal(err)
	}
	crl := s.path("issuers/crl/mid.crl")
	write(t, crl, mid.crl(t, sister))
	check(t, s, "sister revoked", chain, ValidateOptions{}, nil)
	check(t, s, "the sister", ders(sister, mid.cert), ValidateOptions{}, ua.BadCertificateRevoked)
	write(t, crl, mid.crl(t, sister, leaf))
	check(t, s, "revoked while running", chain, ValidateOptions{}, ua.BadCertificateRevoked)
	trusting := open(t)
	if err := trusting.Trust(leaf); err != nil {
		t.Fatal(err)
	}
	write(t, trusting.path("trusted/crl/mid.crl"), mid.crl(t, leaf))
	check(t, trusting, "trusted, but revoked", chain, ValidateOptions{}, ua.BadCertificateRevoked)

	write(t, crl, pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: root.crl(t, mid.cert)}))
	check(t, s, "issuer revoked", chain, ValidateOptions{}, ua.BadCertificateIssuerRevoked)
	forged := newAuthority(t, nil, "mid", nil)
	write(t, crl, forged.crl(t, leaf))
	check(t, s, "list of a stranger", chain, ValidateOptions{}, nil)
	write(t, crl, []byte("garbage"))
	check(t, s, "unreadable list", chain, ValidateOptions{}, nil)
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "mid.crl") {
		t.Errorf("problems %v", p)
	}
}

// TestChainSearchIsBounded: certificates that all claim to issue one another
// cost a bounded number of signatures.
func TestChainSearchIsBounded(t *testing.T) {
	s := open(t)
	a, b := newAuthority(t, nil, "a", nil), newAuthority(t, nil, "b", nil)
	var pool []*x509.Certificate
	for range 4 {
		pool = append(pool,
			issue(t, &authority{cert: b.cert, key: b.key}, "a", a.key.Public(), func(c *x509.Certificate) { c.IsCA = true; c.KeyUsage = x509.KeyUsageCertSign }),
			issue(t, &authority{cert: a.cert, key: a.key}, "b", b.key.Public(), func(c *x509.Certificate) { c.IsCA = true; c.KeyUsage = x509.KeyUsageCertSign }))
	}
	chain := ders(append([]*x509.Certificate{a.leaf(t, nil)}, pool...)...)
	err := s.Validate(chain, ValidateOptions{Now: now})
	if !errors.Is(err, ua.BadCertificateInvalid) && !errors.Is(err, ua.BadCertificateChainIncomplete) {
		t.Errorf("circle: %v", err)
	}
	if err := s.Trust(a.cert); err != nil {
		t.Fatal(err)
	}
	check(t, s, "circle with a way out", chain, ValidateOptions{}, nil)
}
