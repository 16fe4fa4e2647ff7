package uapki

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

func parseList(t *testing.T, der []byte) *x509.RevocationList {
	t.Helper()
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAddRevocationList(t *testing.T) {
	s := open(t)
	root := newAuthority(t, nil, "Root / ..", nil)
	plant := newAuthority(t, root, "Plant", nil)
	impostor := newAuthority(t, nil, "Plant", nil)
	leaf := plant.leaf(t, nil)
	chain := ders(leaf, plant.cert)
	list := parseList(t, plant.crl(t, leaf))
	if _, err := s.AddRevocationList(list); !errors.Is(err, ua.BadCertificateChainIncomplete) {
		t.Errorf("a list of nobody: %v", err)
	}
	if err := errors.Join(s.Trust(root.cert), s.AddIssuer(plant.cert)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddRevocationList(parseList(t, impostor.crl(t, leaf))); !errors.Is(err, ua.BadCertificateInvalid) {
		t.Errorf("a list that another signed: %v", err)
	}
	opts := ValidateOptions{Now: now}
	if err := s.Validate(chain, opts); err != nil {
		t.Fatal(err)
	}
	file, err := s.AddRevocationList(list)
	if err != nil || filepath.Dir(file) != s.path("issuers/crl") || !strings.HasPrefix(filepath.Base(file), "Plant [") {
		t.Fatal(file, err)
	}
	if err := s.Validate(chain, opts); !errors.Is(err, ua.BadCertificateRevoked) {
		t.Errorf("a revoked certificate: %v", err)
	}
	// An older list does not take the newer one's place, a newer one does.
	numbered := func(n int64) *x509.RevocationList {
		der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{Number: big.NewInt(n), ThisUpdate: now, NextUpdate: now.AddDate(1, 0, 0)}, plant.cert, plant.key)
		if err != nil {
			t.Fatal(err)
		}
		return parseList(t, der)
	}
	if _, err := s.AddRevocationList(numbered(0)); !errors.Is(err, ua.BadCertificateInvalid) || !strings.Contains(err.Error(), "newer") {
		t.Errorf("an older list: %v", err)
	}
	if again, err := s.AddRevocationList(numbered(2)); err != nil || again != file {
		t.Errorf("a newer list: %v, %v", again, err)
	}
	if err := s.Validate(chain, opts); err != nil {
		t.Errorf("after the newer list: %v", err)
	}
	// That of a trusted authority lies beside it; what its name has in it harms no path.
	rooted, err := s.AddRevocationList(parseList(t, root.crl(t, plant.cert)))
	if err != nil || filepath.Dir(rooted) != s.path("trusted/crl") {
		t.Fatal(rooted, err)
	}
	if err := s.Validate(chain, opts); !errors.Is(err, ua.BadCertificateIssuerRevoked) {
		t.Errorf("a revoked issuer: %v", err)
	}
	all, err := s.ListRevocations()
	if err != nil || len(all) != 2 || all[0].File != rooted || len(all[0].List.RevokedCertificateEntries) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if err := s.RemoveIssuer(plant.cert); err != nil {
		t.Fatal(err)
	}
	issuers, err := s.ListIssuers()
	rejected, err2 := s.ListRejected()
	if len(issuers) != 0 || len(rejected) != 1 || err != nil || err2 != nil {
		t.Error(issuers, rejected, err, err2)
	}
}

func TestReadRevocationLists(t *testing.T) {
	root := newAuthority(t, nil, "Root", nil)
	der := root.crl(t)
	block := pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
	dir := t.TempDir()
	for name, test := range map[string]struct {
		data []byte
		want int
	}{
		"der": {der, 1}, "pem": {append(block, block...), 2}, "junk": {[]byte("junk"), 0}, "empty": {nil, 0}, "certificate": {root.cert.Raw, 0},
		"cut": {der[:len(der)-1], 0},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, test.data, 0o600); err != nil {
			t.Fatal(err)
		}
		lists, err := ReadRevocationLists(file)
		if len(lists) != test.want || (err == nil) != (test.want > 0) || err != nil && !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v, %v", name, lists, err)
		}
	}
	if _, err := ReadRevocationLists(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
