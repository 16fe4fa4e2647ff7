package secpol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/actua/actua/ua"
)

// seal encrypts a hand-made secret structure.
func seal(t testing.TB, p *Policy, plain []byte) []byte {
	t.Helper()
	cipher, err := p.AsymEncrypt(&testKey(t, "rsa2048").PublicKey, nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	return cipher
}

func TestSecretsOfWrongForm(t *testing.T) {
	priv, nonce := testKey(t, "rsa2048"), filled(32)
	form := func(length int, parts ...[]byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(length)), bytes.Join(parts, nil)...)
	}
	wrong := bytes.Clone(nonce)
	wrong[31]++
	for _, p := range Policies()[1:] {
		texts := map[string]bool{}
		for name, plain := range map[string][]byte{
			"three bytes":                     {1, 2, 3},
			"no nonce":                        form(6, []byte("secret")),
			"wrong nonce":                     form(38, []byte("secret"), wrong),
			"nonce first":                     form(38, nonce, []byte("secret")),
			"length too large":                form(39, []byte("secret"), nonce),
			"length too small":                form(37, []byte("secret"), nonce),
			"length below the nonce":          form(31, nonce),
			"length zero":                     form(0, []byte("secret"), nonce),
			"length negative":                 form(-1, []byte("secret"), nonce),
			"length at the end of the number": form(-5, []byte("secret"), nonce),
			"bytes behind":                    form(38, []byte("secret"), nonce, []byte{0, 1}),
		} {
			got, err := p.DecryptSecret(priv, seal(t, p, plain), nonce)
			if !errors.Is(err, ua.BadIdentityTokenRejected) || got != nil {
				t.Errorf("%v, %s: %q, %v", p, name, got, err)
				continue
			}
			texts[err.Error()] = true
		}
		good := seal(t, p, form(38, []byte("secret"), nonce))
		good[10] ^= 1
		_, err := p.DecryptSecret(priv, good, nonce)
		if !errors.Is(err, ua.BadIdentityTokenRejected) {
			t.Errorf("%v, broken block: %v", p, err)
		} else {
			texts[err.Error()] = true
		}
		if len(texts) != 1 {
			t.Errorf("%v tells faults apart: %v", p, texts)
		}
		for _, n := range []int{0, 1, 255, 257, 256 * (MaxAsymBlocks + 1)} {
			if _, err := p.DecryptSecret(priv, make([]byte, n), nonce); !errors.Is(err, ua.BadIdentityTokenInvalid) {
				t.Errorf("%v, %d bytes: %v", p, n, err)
			}
		}
		if _, err := p.DecryptSecret(nil, good, nonce); !errors.Is(err, ua.BadIdentityTokenRejected) {
			t.Errorf("no key: %v", err)
		}
		if _, err := p.EncryptSecret(&priv.PublicKey, make([]byte, 300*MaxAsymBlocks), nonce); !errors.Is(err, ua.BadIdentityTokenInvalid) {
			t.Errorf("huge secret: %v", err)
		}
		if _, err := p.EncryptSecret(nil, nil, nonce); err == nil {
			t.Error("encrypted without a key")
		}
	}
}

func TestSecretsRoundTrip(t *testing.T) {
	for _, p := range Policies() {
		for _, name := range keyNames {
			priv := testKey(t, name)
			for _, n := range []int{0, 1, 64, 200, 1000} {
				for _, nonce := range [][]byte{nil, filled(32)} {
					secret := filled(n)
					cipher, err := p.EncryptSecret(&priv.PublicKey, secret, nonce)
					if err != nil {
						t.Fatal(err)
					}
					got, err := p.DecryptSecret(priv, cipher, nonce)
					if err != nil || !bytes.Equal(got, secret) {
						t.Fatalf("%v %s %d bytes: %v", p, name, n, err)
					}
				}
			}
		}
	}
}

// TestRecordedSecrets opens user tokens that the .NET client made on channels
// without security; it fills its last block with zeros.
func TestRecordedSecrets(t *testing.T) {
	priv, p := testKey(t, "recorded-server.key"), mustPolicy(t, "Basic256Sha256")
	var got []string
	for _, r := range lines[struct{ Nonce, Cipher string }](t, "secrets.jsonl") {
		secret, err := p.DecryptSecret(priv, unhex(t, r.Cipher), unhex(t, r.Nonce))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.DecryptSecret(priv, unhex(t, r.Cipher), filled(32)); !errors.Is(err, ua.BadIdentityTokenRejected) {
			t.Errorf("replayed under another nonce: %v", err)
		}
		got = append(got, string(secret))
	}
	if len(got) < 2 || got[1] != "password1" {
		t.Errorf("secrets %q", got)
	}
}

func FuzzDecryptSecret(f *testing.F) {
	priv, nonce := testKey(f, "rsa1024"), filled(32)
	for _, p := range Policies() {
		cipher, err := p.EncryptSecret(&priv.PublicKey, []byte("secret"), nonce)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Name, cipher, []byte(nil))
	}
	f.Add("Basic128Rsa15", []byte(nil), append([]byte{38, 0, 0, 0}, filled(40)...))
	f.Fuzz(func(t *testing.T, name string, cipher, plain []byte) {
		p, err := ByName(name)
		if err != nil || len(cipher) > 4*128 || len(plain) > 4*64 {
			return
		}
		p.DecryptSecret(priv, cipher, nonce)
		// The form behind the encryption, which random cipher text never reaches.
		sealed, err := p.AsymEncrypt(&priv.PublicKey, nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := p.DecryptSecret(priv, sealed, nonce)
		if err == nil && !p.IsNone() && !bytes.Contains(plain, append(bytes.Clone(secret), nonce...)) {
			t.Fatalf("%q comes from %x", secret, plain)
		}
	})
}
