package secpol

import (
	"bytes"
	"crypto/rsa"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

func TestUnknownPolicyIsRejected(t *testing.T) {
	for _, uri := range []string{"", "None", URIPrefix, URIPrefix + "Basic256sha256", URIPrefix + "Basic256Sha256 ", strings.Repeat("x", 5000)} {
		p, err := ByURI(uri)
		if p != nil || !errors.Is(err, ua.BadSecurityPolicyRejected) {
			t.Errorf("ByURI(%.40q) = %v, %v", uri, p, err)
		}
		if len(err.Error()) > 700 {
			t.Errorf("ByURI repeats %d bytes of the peer's text", len(err.Error()))
		}
	}
	if _, err := ByName("Basic512"); !errors.Is(err, ua.BadSecurityPolicyRejected) || !strings.Contains(err.Error(), "Aes256_Sha256_RsaPss") {
		t.Errorf("ByName = %v", err)
	}
}

func TestPoliciesAreOrderedAndFound(t *testing.T) {
	all := Policies()
	if all[0] != None || all[len(all)-1].Name != "Aes256_Sha256_RsaPss" || len(all) != 6 {
		t.Fatalf("policies %v", all)
	}
	for i, p := range all {
		byURI, err1 := ByURI(p.URI)
		byName, err2 := ByName(p.Name)
		if byURI != p || byName != p || err1 != nil || err2 != nil {
			t.Errorf("%v is not found: %v %v", p, err1, err2)
		}
		if i > 0 && p.SecurityLevel <= all[i-1].SecurityLevel || p.SecurityLevel >= 100 {
			t.Errorf("%v has level %d", p, p.SecurityLevel)
		}
		if p.Deprecated != (p.Name == "Basic256" || p.Name == "Basic128Rsa15") {
			t.Errorf("%v: deprecated %v", p, p.Deprecated)
		}
	}
	all[0] = nil
	if Policies()[0] != None {
		t.Error("a caller can change the table")
	}
}

func TestCheckKeyNamesSizeAndRange(t *testing.T) {
	for _, p := range Policies()[1:] {
		for _, bits := range []int{512, 1024, 2048, 3072, 4096, 8192} {
			key := &rsa.PublicKey{E: 65537, N: new(big.Int).Lsh(big.NewInt(1), uint(bits-1))}
			err := p.CheckKey(key)
			if ok := bits >= p.MinKeyBits && bits <= p.MaxKeyBits; ok != (err == nil) {
				t.Errorf("%v with %d bits: %v", p, bits, err)
			}
			if err == nil {
				continue
			}
			if !errors.Is(err, ua.BadCertificatePolicyCheckFailed) {
				t.Errorf("%v: %v", p, err)
			}
		}
		if err := p.CheckKey(nil); !errors.Is(err, ua.BadCertificateInvalid) {
			t.Errorf("nil key: %v", err)
		}
	}
	err := mustPolicy(t, "Basic256Sha256").CheckKey(&testKey(t, "rsa1024").PublicKey)
	if err == nil || !strings.Contains(err.Error(), "1024 bits") || !strings.Contains(err.Error(), "2048 to 4096") {
		t.Errorf("text %v", err)
	}
	if err := None.CheckKey(nil); err != nil {
		t.Error(err)
	}
}

func TestNonces(t *testing.T) {
	want := map[string]int{"None": 0, "Basic128Rsa15": 16, "Basic256": 32, "Basic256Sha256": 32, "Aes128_Sha256_RsaOaep": 32, "Aes256_Sha256_RsaPss": 32}
	for _, p := range Policies() {
		a, err1 := p.NewNonce()
		b, err2 := p.NewNonce()
		if err1 != nil || err2 != nil || len(a) != want[p.Name] || (p != None && bytes.Equal(a, b)) || (p == None) != (a == nil) {
			t.Errorf("%v: %x %x", p, a, b)
		}
		if err := p.CheckNonce(a); err != nil {
			t.Errorf("%v refuses its own nonce: %v", p, err)
		}
		if p == None {
			continue
		}
		for _, bad := range [][]byte{nil, a[1:], make([]byte, len(a))} {
			if err := p.CheckNonce(bad); !errors.Is(err, ua.BadNonceInvalid) {
				t.Errorf("%v takes nonce %x: %v", p, bad, err)
			}
		}
		if err := p.CheckNonce(append(a, 1)); err != nil {
			t.Errorf("%v refuses a longer nonce: %v", p, err)
		}
	}
}
