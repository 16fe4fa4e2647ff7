package secpol

import (
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1"   // registered for crypto.SHA1
	_ "crypto/sha256" // registered for crypto.SHA256
	"fmt"
	"io"
	"slices"

	"github.com/actua/actua/ua"
)

// MaxAsymBlocks bounds the RSA blocks that AsymDecrypt takes. A private key
// operation costs a millisecond and more, so a peer that nobody has
// authenticated yet must not order thousands with one message. The largest
// honest plain texts, issued tokens, need about twenty.
const MaxAsymBlocks = 64

// errAsymDecrypt is the one answer to every cipher text that does not open, so
// that nobody learns from it what was wrong with the padding.
var errAsymDecrypt = fmt.Errorf("asymmetric decryption failed: %w", ua.BadSecurityChecksFailed)

func (p *Policy) digest(data []byte) []byte {
	h := p.asym.signHash.New()
	h.Write(data)
	return h.Sum(nil)
}

// AsymSign appends the signature over data to dst; nothing for None. It signs
// OpenSecureChannel chunks (Part 6, 6.7.2), the session signatures (Part 4,
// 5.7.2 and 5.7.3) and X.509 user tokens. The signature is as long as the key.
func (p *Policy) AsymSign(priv *rsa.PrivateKey, dst, data []byte) ([]byte, error) {
	if p.IsNone() {
		return dst, nil
	}
	if priv == nil {
		return dst, fmt.Errorf("security policy %s: no private key to sign with: %w", p.Name, ua.BadSecurityChecksFailed)
	}
	var sig []byte
	var err error
	if p.asym.signPadding == padPSS {
		sig, err = rsa.SignPSS(rand.Reader, priv, p.asym.signHash, p.digest(data), p.pss())
	} else {
		sig, err = rsa.SignPKCS1v15(rand.Reader, priv, p.asym.signHash, p.digest(data))
	}
	if err != nil {
		return dst, fmt.Errorf("security policy %s: signing failed: %w", p.Name, err)
	}
	return append(dst, sig...), nil
}

// AsymVerify checks a signature of AsymSign. The error wraps
// ua.BadSecurityChecksFailed; a caller with a better code for its service
// (ua.BadApplicationSignatureInvalid, ua.BadUserSignatureInvalid) replaces it.
// Under None only an empty signature passes.
func (p *Policy) AsymVerify(pub *rsa.PublicKey, data, sig []byte) error {
	if p.IsNone() {
		if len(sig) != 0 {
			return fmt.Errorf("signature of %d bytes under security policy None: %w", len(sig), ua.BadSecurityChecksFailed)
		}
		return nil
	}
	if pub == nil || pub.N == nil {
		return fmt.Errorf("security policy %s: no public key to verify with: %w", p.Name, ua.BadSecurityChecksFailed)
	}
	if len(sig) != pub.Size() {
		return fmt.Errorf("asymmetric signature of %d bytes, the signer's key makes %d: %w", len(sig), pub.Size(), ua.BadSecurityChecksFailed)
	}
	var err error
	if p.asym.signPadding == padPSS {
		err = rsa.VerifyPSS(pub, p.asym.signHash, p.digest(data), sig, p.pss())
	} else {
		err = rsa.VerifyPKCS1v15(pub, p.asym.signHash, p.digest(data), sig)
	}
	if err != nil {
		return fmt.Errorf("asymmetric signature does not verify (%v): %w", err, ua.BadSecurityChecksFailed)
	}
	return nil
}

// pss fixes the salt to the length of the digest, as Part 7 demands of
// RSA-PSS-SHA2-256; a verifier that takes any length would accept what other
// stacks refuse.
func (p *Policy) pss() *rsa.PSSOptions {
	return &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: p.asym.signHash}
}

// AsymSignatureSize returns the bytes of a signature made with the key pair of
// pub, which is the signer's; 0 for None.
func (p *Policy) AsymSignatureSize(pub *rsa.PublicKey) int {
	if p.IsNone() || pub == nil || pub.N == nil {
		return 0
	}
	return pub.Size()
}

// AsymPlainBlockSize returns how many plain bytes one RSA block for the key of
// the receiver holds (Part 6, 6.7.2.5); 1 for None.
func (p *Policy) AsymPlainBlockSize(pub *rsa.PublicKey) int {
	if p.IsNone() || pub == nil || pub.N == nil {
		return 1
	}
	if p.asym.encryptPadding == padPKCS1 {
		return pub.Size() - 11
	}
	return pub.Size() - 2*p.asym.encryptHash.Size() - 2
}

// AsymCipherBlockSize returns the bytes of one encrypted RSA block for the key
// of the receiver; 1 for None.
func (p *Policy) AsymCipherBlockSize(pub *rsa.PublicKey) int {
	if p.IsNone() || pub == nil || pub.N == nil {
		return 1
	}
	return pub.Size()
}

// AsymEncrypt encrypts plain for the key of the receiver, in blocks of
// AsymPlainBlockSize of which the last may be short, and appends the cipher
// text to dst. Plain and the appended part must not overlap. None appends plain
// as it is.
func (p *Policy) AsymEncrypt(pub *rsa.PublicKey, dst, plain []byte) ([]byte, error) {
	if p.IsNone() {
		return append(dst, plain...), nil
	}
	if pub == nil || pub.N == nil {
		return dst, fmt.Errorf("security policy %s: no public key to encrypt for: %w", p.Name, ua.BadSecurityChecksFailed)
	}
	size := p.AsymPlainBlockSize(pub)
	if size <= 0 {
		return dst, fmt.Errorf("RSA key of %d bits is too short to encrypt under security policy %s: %w", pub.N.BitLen(), p.Name, ua.BadSecurityChecksFailed)
	}
	start := len(dst)
	dst = slices.Grow(dst, (len(plain)+size-1)/size*pub.Size())
	for block := range slices.Chunk(plain, size) {
		var sealed []byte
		var err error
		if p.asym.encryptPadding == padPKCS1 {
			//lint:ignore SA1019 Basic128Rsa15 is defined by it; it is off unless AllowDeprecated is set
			sealed, err = rsa.EncryptPKCS1v15(rand.Reader, pub, block)
		} else {
			sealed, err = rsa.EncryptOAEP(p.asym.encryptHash.New(), rand.Reader, pub, block, nil)
		}
		if err != nil {
			return dst[:start], fmt.Errorf("security policy %s: asymmetric encryption failed: %w", p.Name, err)
		}
		dst = append(dst, sealed...)
	}
	return dst, nil
}

// AsymDecrypt opens what AsymEncrypt made and appends the plain text to dst.
// Cipher must not overlap the appended part. A length that is not a multiple of
// the block, more than MaxAsymBlocks blocks and a block that does not open give
// the same kind of error, which wraps ua.BadSecurityChecksFailed.
//
// Under Basic128Rsa15 a block with wrong padding gives random bytes and no
// error: the signature inside (or the nonce of a secret) then fails like any
// other, and an attacker cannot tell a padding fault from the rest.
func (p *Policy) AsymDecrypt(priv *rsa.PrivateKey, dst, cipher []byte) ([]byte, error) {
	if p.IsNone() {
		return append(dst, cipher...), nil
	}
	if priv == nil {
		return dst, fmt.Errorf("security policy %s: no private key to decrypt with: %w", p.Name, ua.BadSecurityChecksFailed)
	}
	size := priv.Size()
	blocks := len(cipher) / size
	if blocks == 0 || len(cipher)%size != 0 {
		return dst, fmt.Errorf("cipher text of %d bytes is not a multiple of the %d of the receiver's key: %w", len(cipher), size, ua.BadSecurityChecksFailed)
	}
	if blocks > MaxAsymBlocks {
		return dst, fmt.Errorf("cipher text of %d RSA blocks, at most %d are opened: %w", blocks, MaxAsymBlocks, ua.BadSecurityChecksFailed)
	}
	start := len(dst)
	dst = slices.Grow(dst, blocks*p.AsymPlainBlockSize(&priv.PublicKey))
	for i := range blocks {
		block := cipher[i*size : (i+1)*size]
		var plain []byte
		var err error
		if p.asym.encryptPadding == padPKCS1 {
			plain, err = p.openPKCS1(priv, block, i == blocks-1)
		} else {
			plain, err = p.openOAEP(priv, block)
		}
		if err != nil {
			clear(dst[start:])
			return dst[:start], errAsymDecrypt
		}
		dst = append(dst, plain...)
	}
	return dst, nil
}

func (p *Policy) openOAEP(priv *rsa.PrivateKey, block []byte) ([]byte, error) {
	return priv.Decrypt(nil, block, &rsa.OAEPOptions{Hash: p.asym.encryptHash, MGFHash: p.asym.encryptHash})
}

// openPKCS1 opens one block of PKCS #1 v1.5. All blocks but the last are full,
// so their length is known and crypto/rsa can swap in the random bytes in
// constant time. A short last block is possible in user secrets only. The one
// error left is a block that is no number below the modulus, which the sender
// could tell by itself.
func (p *Policy) openPKCS1(priv *rsa.PrivateKey, block []byte, last bool) ([]byte, error) {
	plain := make([]byte, p.AsymPlainBlockSize(&priv.PublicKey))
	if _, err := io.ReadFull(rand.Reader, plain); err != nil {
		return nil, err
	}
	if !last {
		//lint:ignore SA1019 see AsymEncrypt; a padding fault is not told
		return plain, rsa.DecryptPKCS1v15SessionKey(nil, priv, block, plain)
	}
	//lint:ignore SA1019 see AsymEncrypt; a padding fault is not told
	if opened, err := rsa.DecryptPKCS1v15(nil, priv, block); err == nil {
		return opened, nil
	}
	return plain, nil
}
