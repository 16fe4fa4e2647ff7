package secpol

import (
	"crypto/rsa"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"github.com/actua/actua/ua"
)

// errSecret is the one answer to every secret that does not open, whichever
// step failed.
var errSecret = fmt.Errorf("the encrypted secret does not open with this key and nonce: %w", ua.BadIdentityTokenRejected)

// EncryptSecret makes the legacy encrypted form of a user's secret, a password
// or an issued token: length, secret and the server's last nonce, encrypted
// with the key of the server's certificate (Part 4, 7.40.2.2). Under None the
// secret itself is returned, as that section says. The result is a new slice.
func (p *Policy) EncryptSecret(pub *rsa.PublicKey, secret, nonce []byte) ([]byte, error) {
	if p.IsNone() {
		return append([]byte(nil), secret...), nil
	}
	plain := make([]byte, 0, 4+len(secret)+len(nonce))
	defer func() { clear(plain) }()
	plain = binary.LittleEndian.AppendUint32(plain, uint32(len(secret)+len(nonce)))
	plain = append(plain, secret...)
	plain = append(plain, nonce...)
	if pub != nil && pub.N != nil {
		if size := p.AsymPlainBlockSize(pub); size > 0 && len(plain) > MaxAsymBlocks*size {
			return nil, fmt.Errorf("secret of %d bytes is too long for the legacy format: %w", len(secret), ua.BadIdentityTokenInvalid)
		}
	}
	return p.AsymEncrypt(pub, nil, plain)
}

// DecryptSecret opens what EncryptSecret made and returns the secret. nonce is
// the last nonce that the server gave this session; it is compared in constant
// time, so a secret recorded from another session does not pass. Zero bytes
// behind the nonce are allowed: a widespread client fills its last block with
// them.
//
// A cipher text whose length cannot come from this key gives an error that
// wraps ua.BadIdentityTokenInvalid; every other fault gives the same error,
// which wraps ua.BadIdentityTokenRejected.
func (p *Policy) DecryptSecret(priv *rsa.PrivateKey, cipher, nonce []byte) ([]byte, error) {
	if p.IsNone() {
		return append([]byte(nil), cipher...), nil
	}
	if priv == nil {
		return nil, fmt.Errorf("security policy %s: no private key to open the secret with: %w", p.Name, ua.BadIdentityTokenRejected)
	}
	if size := priv.Size(); len(cipher) == 0 || len(cipher)%size != 0 || len(cipher)/size > MaxAsymBlocks {
		return nil, fmt.Errorf("encrypted secret of %d bytes, wanted 1 to %d blocks of %d: %w", len(cipher), MaxAsymBlocks, size, ua.BadIdentityTokenInvalid)
	}
	plain, err := p.AsymDecrypt(priv, nil, cipher)
	defer func() { clear(plain) }()
	if err != nil || len(plain) < 4 {
		return nil, errSecret
	}
	length, body := binary.LittleEndian.Uint32(plain), plain[4:]
	if uint64(length) > uint64(len(body)) || int(length) < len(nonce) {
		return nil, errSecret
	}
	split := int(length) - len(nonce)
	good := subtle.ConstantTimeCompare(body[split:length], nonce)
	var tail byte
	for _, b := range body[length:] {
		tail |= b
	}
	if good&subtle.ConstantTimeByteEq(tail, 0) != 1 {
		return nil, errSecret
	}
	return append([]byte(nil), body[:split]...), nil
}
