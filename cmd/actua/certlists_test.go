package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testAuthority is an authority with the files that it hands out.
type testAuthority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newTestAuthority(t *testing.T, name string) *testAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &testAuthority{cert, key}
}

func (a *testAuthority) list(t *testing.T, number int64) []byte {
	t.Helper()
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour),
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: big.NewInt(77), RevocationTime: time.Now()}},
	}, a.cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Authorities and their revocation lists: among the trusted, among the issuers, and what is refused.
func TestAuthoritiesAndRevocationLists(t *testing.T) {
	w := isolated(t)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	plant, middle := newTestAuthority(t, "plant authority"), newTestAuthority(t, "middle authority")
	root := write("root.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: plant.cert.Raw}))
	rootList := write("root.crl", plant.list(t, 5))
	both := write("middle.pem", append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: middle.cert.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: middle.list(t, 1)})...))
	refused := func(want string, args ...string) {
		t.Helper()
		if code, out, stderr := w.run(t.Context(), args...); code != exitOurPart || !strings.Contains(stderr, want) || out != "" {
			t.Errorf("%v: exit %d, %s%s", args, code, out, stderr)
		}
	}
	done := func(want string, args ...string) {
		t.Helper()
		if code, out, stderr := w.run(t.Context(), args...); code != 0 || out != want || stderr != "" {
			t.Errorf("%v: exit %d, %q, %s", args, code, out, stderr)
		}
	}
	refused("trust the authority first", "cert", "trust", rootList)
	done("trusted  "+thumbprint(plant.cert)+"  CN=plant authority\ntrusted/crl  1 revoked by CN=plant authority\n", "cert", "trust", root, rootList)
	refused("newer", "cert", "trust", write("old.crl", plant.list(t, 4)))
	refused("is no certificate", "cert", "trust", write("junk.crl", []byte("junk")))
	done("issuers  "+thumbprint(middle.cert)+"  CN=middle authority\nissuers/crl  1 revoked by CN=middle authority\n", "cert", "trust", both, "--issuer")

	_, out, _ := w.run(t.Context(), "cert", "list")
	for _, want := range []string{"issuers  CN=middle authority", "trusted  CN=plant authority", "\n\nLIST         REVOKED        BY", "trusted/crl  1 certificate  CN=plant authority", "issuers/crl"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if _, out, _ := w.run(t.Context(), "cert", "list", "--json"); strings.Count(out, "\n") != 2 || strings.Contains(out, "crl") {
		t.Errorf("lines that are no certificates: %s", out)
	}
	_, out, stderr := w.run(t.Context(), "cert", "trust", rootList, "--json")
	var line struct {
		List, File, Issuer, ThisUpdate, NextUpdate string
		Revoked                                    int
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil || line.List != "trusted/crl" || line.Revoked != 1 || line.Issuer != "CN=plant authority" || line.NextUpdate == "" || line.ThisUpdate == "" {
		t.Errorf("%s%s", out, stderr)
	}
	if _, err := os.Stat(line.File); err != nil {
		t.Error(err)
	}

	// Who is no authority is not put among them.
	thumb := peer(t, "client")
	refused("is no authority", "cert", "trust", thumb, "--issuer")
	done("rejected  "+thumbprint(middle.cert)+"  CN=middle authority\n", "cert", "reject", thumbprint(middle.cert)[:8], "--issuer")
	if code, _, stderr := w.run(t.Context(), "cert", "reject", thumbprint(plant.cert)[:8], "--issuer"); code != exitUsage || !strings.Contains(stderr, "issuers") {
		t.Error(code, stderr)
	}
}
