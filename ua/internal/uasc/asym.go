package uasc

import (
	"bytes"
	"crypto/rsa"
	"encoding/binary"
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/uabin"
)

// AsymmetricHeader is what stands between the chunk header and the encrypted part of an
// OpenSecureChannel chunk (Part 6, 6.7.2.3).
type AsymmetricHeader struct {
	ChannelID   uint32
	PolicyURI   string
	Certificate []byte // the sender's chain, leaf first; nil with policy None
	Thumbprint  []byte // SHA-1 of the receiver's leaf; nil with policy None
	// Size is where the header ends, from the start of the chunk.
	Size int
}

// ParseAsymmetricHeader reads the header of an OpenSecureChannel chunk; its slices are parts of the
// chunk. The error is an *uacp.Error of BadDecodingError, or of BadSecurityPolicyRejected when the
// policy URI is longer than any.
func ParseAsymmetricHeader(chunk []byte) (h AsymmetricHeader, err error) {
	if len(chunk) < uacp.HeaderSize {
		return h, uacp.Errorf(ua.BadDecodingError, "an OpenSecureChannel chunk of %d bytes", len(chunk))
	}
	r := uabin.NewReader(chunk[uacp.HeaderSize:])
	h.ChannelID = r.Uint32()
	uri := r.BorrowBytes()
	h.Certificate = r.BorrowBytes()
	h.Thumbprint = r.BorrowBytes()
	h.Size = uacp.HeaderSize + r.Offset()
	if !r.OK() {
		return h, uacp.Errorf(ua.BadDecodingError, "OpenSecureChannel header: %v", r.Err())
	}
	if len(uri) > uacp.MaxPolicyURI {
		return h, uacp.Errorf(ua.BadSecurityPolicyRejected, "the URI of a security policy has %d bytes, at most %d are allowed", len(uri), uacp.MaxPolicyURI)
	}
	h.PolicyURI = string(uri)
	return h, nil
}

// append appends the chunk header, whose size is still missing, and h.
func (h *AsymmetricHeader) append(b []byte) []byte {
	b = append(b, make([]byte, uacp.HeaderSize)...)
	b = uabin.AppendUint32(b, h.ChannelID)
	b = uabin.AppendString(b, h.PolicyURI)
	b = uabin.AppendBytes(b, h.Certificate)
	return uabin.AppendBytes(b, h.Thumbprint)
}

// sealOpen appends an OpenSecureChannel chunk with this body. It is signed with this side's key and
// encrypted with the peer's in both secured modes (Part 6, 6.7.4), and always a single chunk: its
// parts are bounded. When it fails, no sequence number is used up.
func (c *Conversation) sealOpen(buf []byte, requestID uint32, body func([]byte) []byte) ([]byte, error) {
	p, start := c.policy, len(buf)
	h := AsymmetricHeader{ChannelID: c.channelID, PolicyURI: p.URI}
	var own *rsa.PrivateKey
	var signature int
	if !p.IsNone() {
		own = c.identity.Key
		signature = p.AsymSignatureSize(&own.PublicKey)
		h.Certificate = c.identity.field()
		thumbprint := secpol.Thumbprint(c.peerChain[0])
		h.Thumbprint = thumbprint[:]
	}
	buf = h.append(buf)
	plain := len(buf)
	number := c.out.sequence.next()
	buf = uabin.AppendUint32(buf, number)
	buf = uabin.AppendUint32(buf, requestID)
	buf = body(buf)
	block, cipher := p.AsymPlainBlockSize(c.peerKey), p.AsymCipherBlockSize(c.peerKey)
	if !p.IsNone() {
		buf = appendPadding(buf, len(buf)-plain+signature, block, cipher > 256)
	}
	size := plain - start + (len(buf)-plain+signature)/block*cipher
	if size > int(c.limits.SendChunk) {
		return buf[:start], uacp.Errorf(ua.BadTcpMessageTooLarge, "an OpenSecureChannel chunk of %d bytes, the peer takes %d: the certificate chain has %d", size, c.limits.SendChunk, len(h.Certificate))
	}
	uacp.PutHeader(buf[start:], uacp.TypeOpen, uacp.Final, size)
	if !p.IsNone() {
		var err error
		if buf, err = p.AsymSign(own, buf, buf[start:]); err == nil {
			buf, err = p.AsymEncrypt(c.peerKey, buf[:plain], bytes.Clone(buf[plain:]))
		}
		if err != nil {
			return buf[:start], uacp.Errorf(ua.BadSecurityChecksFailed, "OpenSecureChannel: %v", err)
		}
	}
	c.out.sequence.take(number)
	return buf, nil
}

// appendPadding appends the padding of an asymmetric chunk whose other parts have n bytes. A
// receiver's key of more than 256 bytes can need more than 255 bytes of padding; such chunks have the
// high byte of the length behind the padding (Part 6, 6.7.2.5).
func appendPadding(b []byte, n, block int, extra bool) []byte {
	n++
	if extra {
		n++
	}
	padding := (block - n%block) % block
	b = append(b, bytes.Repeat([]byte{byte(padding)}, 1+padding)...)
	if extra {
		b = append(b, byte(padding>>8))
	}
	return b
}

// maxOpenBlocks bounds the RSA blocks of an OpenSecureChannel chunk: each costs the receiver a private
// key operation, before it knows whom it is for. The longest honest ones, a request signed with 4096
// bits for a key of 2048, have four.
const maxOpenBlocks = 8

// openAsym decrypts and verifies an OpenSecureChannel chunk and returns its request id and body. own
// is the receiver's key, peer the sender's.
func (c *Conversation) openAsym(p *secpol.Policy, chunk []byte, header int, own *rsa.PrivateKey, peer *rsa.PublicKey) (requestID uint32, body []byte, err error) {
	plain := chunk
	signed := len(plain)
	if !p.IsNone() {
		if n := len(chunk) - header; n > maxOpenBlocks*own.Size() {
			return 0, nil, uacp.Errorf(ua.BadTcpMessageTooLarge, "OpenSecureChannel: %d encrypted bytes, at most %d are opened", n, maxOpenBlocks*own.Size())
		}
		plain, err = p.AsymDecrypt(own, bytes.Clone(chunk[:header]), chunk[header:])
		signed = len(plain) - p.AsymSignatureSize(peer)
		if err == nil && signed < header+sequenceHeader {
			err = fmt.Errorf("the chunk is too short for a signature: %w", ua.BadSecurityChecksFailed)
		}
		if err == nil {
			err = p.AsymVerify(peer, plain[:signed], plain[signed:])
		}
		if err != nil {
			return 0, nil, uacp.Wrap(err, "OpenSecureChannel")
		}
		if signed = cutPadding(plain[:signed], header+sequenceHeader, own.Size() > 256); signed < 0 {
			return 0, nil, uacp.Errorf(ua.BadSecurityChecksFailed, "OpenSecureChannel: wrong padding")
		}
	}
	if signed < header+sequenceHeader {
		return 0, nil, uacp.Errorf(ua.BadDecodingError, "OpenSecureChannel: no sequence header")
	}
	if err := c.in.sequence.accept(binary.LittleEndian.Uint32(plain[header:])); err != nil {
		return 0, nil, err
	}
	return binary.LittleEndian.Uint32(plain[header+4:]), plain[header+sequenceHeader : signed], nil
}

// cutPadding returns where the body ends in b, or -1 when the padding would reach before least.
func cutPadding(b []byte, least int, extra bool) int {
	end, padding := len(b), 0
	if extra && end > least {
		end--
		padding = int(b[end]) << 8
	}
	if end <= least {
		return -1
	}
	padding |= int(b[end-1])
	if end-1-padding < least {
		return -1
	}
	return end - 1 - padding
}
