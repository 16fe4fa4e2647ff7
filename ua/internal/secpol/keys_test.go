package secpol

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
)

func TestTamperedSymmetric(t *testing.T) {
	for _, p := range Policies()[1:] {
		secret, seed := filled(p.NonceLength), bytes.Repeat([]byte{9}, p.NonceLength)
		k, reader, reverse := p.DeriveKeys(secret, seed), p.DeriveKeys(secret, seed), p.DeriveKeys(seed, secret)
		data := filled(1000)
		sig := k.Sign(nil, data)
		if len(sig) != p.SymmetricSignatureSize || len(sig) != k.SignatureSize() || !reader.Verify(data, sig) {
			t.Fatalf("%v: signature %x", p, sig)
		}
		for i := range data {
			data[i] ^= 4
			if reader.Verify(data, sig) {
				t.Fatalf("%v: data byte %d changed and verified", p, i)
			}
			data[i] ^= 4
		}
		for i := range sig {
			sig[i] ^= 4
			if reader.Verify(data, sig) {
				t.Fatalf("%v: signature byte %d changed and verified", p, i)
			}
			sig[i] ^= 4
		}
		for name, bad := range map[string][]byte{"none": nil, "short": sig[:len(sig)-1], "long": append(bytes.Clone(sig), 0)} {
			if reader.Verify(data, bad) {
				t.Errorf("%v takes the signature %s", p, name)
			}
		}
		if reverse.Verify(data, sig) {
			t.Errorf("%v: the other direction has the same key", p)
		}
		for n := range 64 {
			buf := filled(n)
			err := k.Decrypt(buf)
			if n%16 == 0 {
				if err != nil {
					t.Errorf("%v, %d bytes: %v", p, n, err)
				}
			} else if !errors.Is(err, ua.BadSecurityChecksFailed) || !bytes.Equal(buf, filled(n)) {
				t.Errorf("%v, %d bytes: %v", p, n, err)
			}
		}
	}
}

func TestSymmetricRoundTrip(t *testing.T) {
	for _, p := range Policies() {
		k := p.DeriveKeys(filled(32), filled(33))
		other := p.DeriveKeys(filled(32), filled(33))
		for _, blocks := range []int{1, 2, 64, 4096} {
			plain := filled(blocks * 16)
			for range 2 { // the vector restarts: the same text again, the same cipher
				buf := bytes.Clone(plain)
				k.Encrypt(buf)
				if (p == None) != bytes.Equal(buf, plain) {
					t.Fatalf("%v: encrypted %v", p, !bytes.Equal(buf, plain))
				}
				again := bytes.Clone(plain)
				k.Encrypt(again)
				if !bytes.Equal(buf, again) {
					t.Fatalf("%v: the vector does not restart", p)
				}
				if err := other.Decrypt(buf); err != nil || !bytes.Equal(buf, plain) {
					t.Fatalf("%v: %v", p, err)
				}
			}
		}
		if k.BlockSize() != p.SymmetricBlockSize {
			t.Error(k.BlockSize())
		}
	}
	k := None.DeriveKeys(nil, nil)
	if k.Sign(nil, []byte("x")) != nil || !k.Verify([]byte("x"), nil) || k.Verify([]byte("x"), []byte{0}) || k.Decrypt(make([]byte, 7)) != nil {
		t.Error("None signs")
	}
}

// TestPHash: the published vector of P_SHA256 is the TLS 1.2 PRF test of the
// IETF TLS working group, whose seed is label and seed. P_SHA1 has none of its own; the
// recorded conversations check it.
func TestPHash(t *testing.T) {
	secret := unhex(t, "9bbe436ba940f017b17652849a71db35")
	seed := append([]byte("test label"), unhex(t, "a0ba9f936cda311827a6f796ffd5198c")...)
	want := unhex(t, "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66")
	for n := range len(want) + 1 {
		if got := pHash(crypto.SHA256, secret, seed, n); !bytes.Equal(got, want[:n]) {
			t.Fatalf("%d bytes: %x", n, got)
		}
	}
}

func TestKeysAllocateNothing(t *testing.T) {
	for _, p := range Policies() {
		k := p.DeriveKeys(filled(32), filled(32))
		buf := make([]byte, 1024, 1024+64)
		var sig []byte
		for name, f := range map[string]func(){
			"Sign":    func() { sig = k.Sign(buf, buf)[len(buf):] },
			"Verify":  func() { k.Verify(buf, sig) },
			"Encrypt": func() { k.Encrypt(buf) },
			"Decrypt": func() { _ = k.Decrypt(buf) },
		} {
			f()
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%v.%s allocates %v times", p, name, n)
			}
		}
	}
}

func BenchmarkKeys(b *testing.B) {
	for _, p := range Policies()[3:] {
		k := p.DeriveKeys(filled(32), filled(32))
		for _, size := range []int{256, 8192} {
			buf := make([]byte, size, size+64)
			b.Run(fmt.Sprintf("%v/seal/%d", p, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					k.Sign(buf, buf)
					k.Encrypt(buf)
				}
			})
			b.Run(fmt.Sprintf("%v/open/%d", p, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				sig := k.Sign(nil, buf)
				for b.Loop() {
					_ = k.Decrypt(buf)
					k.Verify(buf, sig)
				}
			})
		}
	}
}
