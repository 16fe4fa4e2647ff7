package secpol

import (
	"bytes"
	"crypto/rsa"
	"encoding/binary"
	"testing"
)

// recorded is the beginning of a conversation between a .NET client and a .NET
// server, with the keys of both sides in testdata: known answers for everything
// a policy does.
type recorded struct {
	Policy, Mode string
	Chunks       []struct{ Dir, Hex string }
}

// field cuts a length-prefixed field off the front of b.
func field(t *testing.T, b []byte) (value, rest []byte) {
	t.Helper()
	if len(b) < 4 {
		t.Fatal("chunk too short")
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 {
		return nil, b[4:]
	}
	return b[4 : 4+n], b[4+n:]
}

// openOPN checks everything of an OpenSecureChannel chunk and returns the nonce
// in its body.
func openOPN(t *testing.T, p *Policy, chunk []byte, from, to *rsa.PrivateKey) []byte {
	t.Helper()
	uri, rest := field(t, chunk[12:])
	if string(uri) != p.URI {
		t.Fatalf("policy %s", uri)
	}
	cert, rest := field(t, rest)
	thumb, rest := field(t, rest)
	pub, err := LeafPublicKey(cert)
	if err != nil || !pub.Equal(&from.PublicKey) {
		t.Fatalf("sender's certificate: %v", err)
	}
	if len(thumb) != 20 {
		t.Fatalf("thumbprint of %d bytes", len(thumb))
	}
	head := chunk[:len(chunk)-len(rest)]
	plain, err := p.AsymDecrypt(to, bytes.Clone(head), rest)
	if err != nil {
		t.Fatal(err)
	}
	split := len(plain) - p.AsymSignatureSize(&from.PublicKey)
	if err := p.AsymVerify(&from.PublicKey, plain[:split], plain[split:]); err != nil {
		t.Fatal(err)
	}
	for i := range plain[:split] {
		if i%97 == 0 {
			plain[i] ^= 1
			if p.AsymVerify(&from.PublicKey, plain[:split], plain[split:]) == nil {
				t.Fatalf("byte %d changed and verified", i)
			}
			plain[i] ^= 1
		}
	}
	// The nonce is the one ByteString of the policy's length in the body.
	prefix := binary.LittleEndian.AppendUint32(nil, uint32(p.NonceLength))
	i := bytes.LastIndex(plain[len(head):split-p.NonceLength], prefix)
	if i < 0 {
		t.Fatal("no nonce in the body")
	}
	nonce := plain[len(head)+i+4:][:p.NonceLength]
	if err := p.CheckNonce(nonce); err != nil {
		t.Fatal(err)
	}
	return nonce
}

func TestRecordedConversations(t *testing.T) {
	client, server := testKey(t, "recorded-client.key"), testKey(t, "recorded-server.key")
	seen := map[string]int{}
	for _, r := range lines[recorded](t, "recorded.jsonl") {
		t.Run(r.Policy+"/"+r.Mode, func(t *testing.T) {
			p := mustPolicy(t, r.Policy)
			seen[p.Name]++
			clientNonce := openOPN(t, p, unhex(t, r.Chunks[0].Hex), client, server)
			serverNonce := openOPN(t, p, unhex(t, r.Chunks[1].Hex), server, client)
			keys := map[string]*Keys{
				"c>s": p.DeriveKeys(serverNonce, clientNonce),
				"s>c": p.DeriveKeys(clientNonce, serverNonce),
			}
			for i, c := range r.Chunks[2:] {
				chunk, k := unhex(t, c.Hex), keys[c.Dir]
				sent := bytes.Clone(chunk)
				if r.Mode == "SignAndEncrypt" {
					if err := k.Decrypt(chunk[16:]); err != nil {
						t.Fatal(err)
					}
				}
				split := len(chunk) - k.SignatureSize()
				if !k.Verify(chunk[:split], chunk[split:]) {
					t.Fatalf("chunk %d %s does not verify", i, c.Dir)
				}
				again := k.Sign(bytes.Clone(chunk[:split]), chunk[:split])
				if r.Mode == "SignAndEncrypt" {
					k.Encrypt(again[16:])
				}
				if !bytes.Equal(again, sent) {
					t.Fatalf("chunk %d %s is not sealed to the same bytes", i, c.Dir)
				}
			}
		})
	}
	if len(seen) != 5 {
		t.Errorf("policies %v", seen)
	}
}
