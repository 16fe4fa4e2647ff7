package secpol

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
)

var keyNames = []string{"rsa2048", "rsa2048b", "rsa3072", "rsa4096"}

func TestTamperedAsymmetricSignature(t *testing.T) {
	priv, other := testKey(t, "rsa2048"), testKey(t, "rsa2048b")
	data := filled(1000)
	for _, p := range Policies()[1:] {
		sig, err := p.AsymSign(priv, nil, data)
		if err != nil {
			t.Fatal(err)
		}
		bad := func(what string, pub *rsa.PublicKey, data, sig []byte) {
			t.Helper()
			if err := p.AsymVerify(pub, data, sig); !errors.Is(err, ua.BadSecurityChecksFailed) {
				t.Errorf("%v, %s: %v", p, what, err)
			}
		}
		for _, i := range []int{0, 1, 500, 999} {
			changed := bytes.Clone(data)
			changed[i] ^= 1
			bad(fmt.Sprintf("data byte %d changed", i), &priv.PublicKey, changed, sig)
		}
		for _, i := range []int{0, 1, 128, 255} {
			changed := bytes.Clone(sig)
			changed[i] ^= 0x80
			bad(fmt.Sprintf("signature byte %d changed", i), &priv.PublicKey, data, changed)
		}
		bad("other key", &other.PublicKey, data, sig)
		bad("short signature", &priv.PublicKey, data, sig[1:])
		bad("long signature", &priv.PublicKey, data, append(bytes.Clone(sig), 0))
		bad("no signature", &priv.PublicKey, data, nil)
		bad("no key", nil, data, sig)
		bad("zero key", &rsa.PublicKey{}, data, sig)
	}
	if err := None.AsymVerify(nil, data, []byte{1}); !errors.Is(err, ua.BadSecurityChecksFailed) {
		t.Errorf("None takes a signature: %v", err)
	}
}

func TestSignaturesOfAnotherPolicyAreRefused(t *testing.T) {
	priv, data := testKey(t, "rsa2048"), filled(100)
	pss, pkcs, sha1 := mustPolicy(t, "Aes256_Sha256_RsaPss"), mustPolicy(t, "Basic256Sha256"), mustPolicy(t, "Basic256")
	for _, signer := range []*Policy{pss, pkcs, sha1} {
		sig, err := signer.AsymSign(priv, nil, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, verifier := range []*Policy{pss, pkcs, sha1} {
			if err := verifier.AsymVerify(&priv.PublicKey, data, sig); (err == nil) != (signer == verifier) {
				t.Errorf("%v by %v: %v", signer, verifier, err)
			}
		}
	}
	for _, salt := range []int{0, 20, 222} {
		sig, err := rsa.SignPSS(rand.Reader, priv, crypto.SHA256, pss.digest(data), &rsa.PSSOptions{SaltLength: salt})
		if salt == 0 {
			continue // 0 is crypto/rsa's word for the longest salt
		}
		if err != nil {
			t.Fatal(err)
		}
		if pss.AsymVerify(&priv.PublicKey, data, sig) == nil {
			t.Errorf("a salt of %d bytes passes", salt)
		}
	}
}

func TestCipherTextThatDoesNotOpen(t *testing.T) {
	priv, other := testKey(t, "rsa2048"), testKey(t, "rsa2048b")
	plain := filled(1000)
	for _, p := range Policies()[1:] {
		sealed, err := p.AsymEncrypt(&priv.PublicKey, nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		open := func(what string, key *rsa.PrivateKey, cipher []byte) {
			t.Helper()
			got, err := p.AsymDecrypt(key, []byte("head"), cipher)
			if err == nil && p.asym.encryptPadding == padPKCS1 {
				if len(got) > 4 && bytes.Equal(got[4:], plain) {
					t.Errorf("%v, %s: opened", p, what)
				}
				return
			}
			if !errors.Is(err, ua.BadSecurityChecksFailed) || string(got) != "head" {
				t.Errorf("%v, %s: %q, %v", p, what, got, err)
			}
		}
		for _, i := range []int{5, 256 + 5, len(sealed) - 1} {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1
			open(fmt.Sprintf("byte %d changed", i), priv, changed)
		}
		open("key of another", other, sealed)
		for _, n := range []int{0, 1, 255, 257} {
			if got, err := p.AsymDecrypt(priv, nil, sealed[:n]); !errors.Is(err, ua.BadSecurityChecksFailed) || got != nil {
				t.Errorf("%v opens %d bytes: %v", p, n, err)
			}
		}
		if _, err := p.AsymDecrypt(priv, nil, make([]byte, 256*(MaxAsymBlocks+1))); !errors.Is(err, ua.BadSecurityChecksFailed) {
			t.Errorf("%v opens %d blocks: %v", p, MaxAsymBlocks+1, err)
		}
		if _, err := p.AsymDecrypt(nil, nil, sealed); !errors.Is(err, ua.BadSecurityChecksFailed) {
			t.Errorf("no key: %v", err)
		}
		if _, err := p.AsymEncrypt(nil, nil, plain); !errors.Is(err, ua.BadSecurityChecksFailed) {
			t.Errorf("no key: %v", err)
		}
		if _, err := p.AsymSign(nil, nil, plain); !errors.Is(err, ua.BadSecurityChecksFailed) {
			t.Errorf("no key: %v", err)
		}
	}
}

// TestPaddingFaultLooksLikeRandomBytes: under Basic128Rsa15 a block whose
// padding is wrong is no error and every time something else.
func TestPaddingFaultLooksLikeRandomBytes(t *testing.T) {
	priv, p := testKey(t, "rsa2048"), mustPolicy(t, "Basic128Rsa15")
	block := make([]byte, 256)
	block[255] = 7
	for _, blocks := range []int{1, 3} {
		cipher := bytes.Repeat(block, blocks)
		one, err1 := p.AsymDecrypt(priv, nil, cipher)
		two, err2 := p.AsymDecrypt(priv, nil, cipher)
		if err1 != nil || err2 != nil || len(one) != 245*blocks || bytes.Equal(one[:16], two[:16]) {
			t.Errorf("%d blocks: %d bytes, %v, %v", blocks, len(one), err1, err2)
		}
	}
}

// TestAsymmetricMatrix is user report S10 at this level: keys of different
// sizes on the two sides, one block and many.
func TestAsymmetricMatrix(t *testing.T) {
	for _, p := range Policies() {
		for _, signer := range keyNames {
			for _, receiver := range keyNames {
				from, to := testKey(t, signer), testKey(t, receiver)
				block := p.AsymPlainBlockSize(&to.PublicKey)
				for _, n := range []int{1, block, block + 1, 1024} {
					body := filled(n)
					msg, err := p.AsymSign(from, append(make([]byte, 0, 4096), body...), body)
					if err != nil {
						t.Fatal(err)
					}
					if len(msg) != n+p.AsymSignatureSize(&from.PublicKey) {
						t.Fatalf("%v: signature of %d bytes", p, len(msg)-n)
					}
					sealed, err := p.AsymEncrypt(&to.PublicKey, []byte("hd"), msg)
					if err != nil {
						t.Fatal(err)
					}
					blocks := (len(msg) + block - 1) / block
					if len(sealed) != 2+blocks*p.AsymCipherBlockSize(&to.PublicKey) || string(sealed[:2]) != "hd" {
						t.Fatalf("%v: %d bytes sealed", p, len(sealed))
					}
					opened, err := p.AsymDecrypt(to, []byte("hd"), sealed[2:])
					if err != nil || !bytes.Equal(opened[2:], msg) {
						t.Fatalf("%v %s to %s, %d bytes: %v", p, signer, receiver, n, err)
					}
					if err := p.AsymVerify(&from.PublicKey, opened[2:2+n], opened[2+n:]); err != nil {
						t.Fatalf("%v %s to %s: %v", p, signer, receiver, err)
					}
				}
			}
		}
	}
}

func TestBlockSizes(t *testing.T) {
	pub := &testKey(t, "rsa2048").PublicKey
	want := map[string]int{"None": 1, "Basic128Rsa15": 245, "Basic256": 214, "Basic256Sha256": 214, "Aes128_Sha256_RsaOaep": 214, "Aes256_Sha256_RsaPss": 190}
	for _, p := range Policies() {
		if got := p.AsymPlainBlockSize(pub); got != want[p.Name] {
			t.Errorf("%v: plain block %d", p, got)
		}
	}
	if None.AsymSignatureSize(pub) != 0 || None.AsymCipherBlockSize(pub) != 1 {
		t.Error("None has sizes")
	}
}
