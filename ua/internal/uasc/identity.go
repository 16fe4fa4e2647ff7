package uasc

import (
	"bytes"
	"crypto/rsa"
)

// Identity is one side's application instance certificate with the chain above it, leaf first, in
// DER, and the private key of the leaf (Part 6, 6.2.2). It must not be changed once it is in use.
type Identity struct {
	Chain [][]byte
	Key   *rsa.PrivateKey
}

// Leaf is the application instance certificate itself; nil if there is none.
func (i *Identity) Leaf() []byte {
	if i == nil || len(i.Chain) == 0 {
		return nil
	}
	return i.Chain[0]
}

// field is the chain as it is sent: one certificate behind the other, leaf first (Part 6, 6.7.2.3).
func (i *Identity) field() []byte {
	if i == nil {
		return nil
	}
	return bytes.Join(i.Chain, nil)
}
