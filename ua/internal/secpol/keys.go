package secpol

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"

	"github.com/actua/actua/ua"
)

// Keys are the symmetric keys of one direction of a secure channel under one
// token. They hold the state of the MAC and of the cipher, so that signing and
// encrypting allocate nothing. One goroutine uses a Keys at a time; the two
// directions have separate ones.
type Keys struct {
	policy *Policy
	mac    hash.Hash
	enc    restartable
	dec    restartable
	iv     [aes.BlockSize]byte
	sum    [sha256.Size]byte
}

// restartable is CBC that can begin anew with the same key. The modes of
// crypto/cipher have the method, though BlockMode does not list it.
type restartable interface {
	cipher.BlockMode
	SetIV(iv []byte)
}

// DeriveKeys computes the keys with which the sender of seedNonce's side works
// (Part 6, 6.7.5): the client's keys come from secretNonce = the server's nonce and
// seedNonce = the client's, the server's keys from the nonces swapped. Under None
// the result signs and encrypts nothing.
func (p *Policy) DeriveKeys(secretNonce, seedNonce []byte) *Keys {
	k := &Keys{policy: p}
	if p.IsNone() {
		return k
	}
	material := pHash(p.hash, secretNonce, seedNonce, p.SigningKeySize+p.SymmetricKeySize+p.SymmetricBlockSize)
	defer clear(material)
	signing, rest := material[:p.SigningKeySize], material[p.SigningKeySize:]
	k.mac = hmac.New(p.hash.New, signing)
	block, err := aes.NewCipher(rest[:p.SymmetricKeySize])
	if err != nil {
		panic("secpol: policy table names an impossible AES key size: " + err.Error())
	}
	copy(k.iv[:], rest[p.SymmetricKeySize:])
	k.enc = cipher.NewCBCEncrypter(block, k.iv[:]).(restartable)
	k.dec = cipher.NewCBCDecrypter(block, k.iv[:]).(restartable)
	return k
}

// pHash is P_SHA1 or P_SHA256, the pseudo random function of TLS (RFC 5246,
// section 5) that Part 6, 6.7.5 takes over. The result has n bytes.
func pHash(h crypto.Hash, secret, seed []byte, n int) []byte {
	mac := hmac.New(h.New, secret)
	out := make([]byte, 0, n+h.Size())
	a := seed
	for len(out) < n {
		mac.Reset()
		mac.Write(a)
		a = mac.Sum(nil)
		mac.Reset()
		mac.Write(a)
		mac.Write(seed)
		out = mac.Sum(out)
	}
	return out[:n]
}

// SignatureSize returns the bytes that Sign appends.
func (k *Keys) SignatureSize() int { return k.policy.SymmetricSignatureSize }

// BlockSize returns the block that the length of Encrypt and Decrypt is a
// multiple of; 1 for None.
func (k *Keys) BlockSize() int { return k.policy.SymmetricBlockSize }

// Sign appends the MAC over data to dst and allocates nothing when dst has
// room. Data may be the content of dst.
func (k *Keys) Sign(dst, data []byte) []byte {
	if k.mac == nil {
		return dst
	}
	k.mac.Reset()
	k.mac.Write(data)
	return k.mac.Sum(dst)
}

// Verify reports whether sig is the MAC over data, in constant time. A
// signature of any other length is wrong.
func (k *Keys) Verify(data, sig []byte) bool {
	want := k.Sign(k.sum[:0], data)
	return subtle.ConstantTimeCompare(want, sig) == 1
}

// Encrypt encrypts in place. Each call begins with the derived initialization
// vector, as each chunk does (Part 6, 6.7.2). The length must be a multiple of
// BlockSize: the caller has padded the chunk, anything else is its bug and
// panics.
func (k *Keys) Encrypt(inout []byte) {
	if k.enc == nil {
		return
	}
	k.enc.SetIV(k.iv[:])
	k.enc.CryptBlocks(inout, inout)
}

// Decrypt decrypts in place. A length that is no multiple of BlockSize, which
// only a faulty or hostile peer sends, gives an error that wraps
// ua.BadSecurityChecksFailed and leaves the bytes alone.
func (k *Keys) Decrypt(inout []byte) error {
	if k.dec == nil {
		return nil
	}
	if len(inout)%k.policy.SymmetricBlockSize != 0 {
		return fmt.Errorf("encrypted part of %d bytes is not a multiple of the cipher's %d: %w", len(inout), k.policy.SymmetricBlockSize, ua.BadSecurityChecksFailed)
	}
	k.dec.SetIV(k.iv[:])
	k.dec.CryptBlocks(inout, inout)
	return nil
}
