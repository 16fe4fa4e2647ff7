package uasc

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// Sizes in bytes of the parts of a chunk that is secured with symmetric keys (Part 6, 6.7.2).
const (
	securityHeader = uacp.HeaderSize + 4 + 4 // header, channel id, token id: never encrypted
	sequenceHeader = 4 + 4                   // sequence number, request id
	// Room is what Begin reserves in front of a message.
	Room = securityHeader + sequenceHeader
)

// layout says what stands behind the body of a chunk.
type layout struct {
	signature int
	block     int // of the cipher; 0 when nothing is encrypted
}

func (c *Conversation) layout() layout {
	l := layout{signature: c.policy.SymmetricSignatureSize}
	if c.mode == ua.MessageSecurityModeSignAndEncrypt {
		l.block = c.policy.SymmetricBlockSize
	}
	return l
}

// tail is the number of bytes behind a body: padding with its size byte, signature.
func (l layout) tail(body int) int {
	if l.block == 0 {
		return l.signature
	}
	n := sequenceHeader + body + 1 + l.signature
	return 1 + (l.block-n%l.block)%l.block + l.signature
}

// maxBody is the largest body of a chunk of the given size.
func (l layout) maxBody(chunk int) int {
	room := chunk - Room - l.signature
	if l.block == 0 {
		return room
	}
	return (chunk-securityHeader)/l.block*l.block - sequenceHeader - 1 - l.signature
}

var room [Room]byte

// Begin appends the room that a message needs in front of its body, and returns where the message
// begins. The caller appends the body, NodeID of the type first, and then seals.
func (c *Conversation) Begin(buf []byte) ([]byte, int) {
	return append(buf, room[:]...), len(buf)
}

// Seal makes chunks out of the message that begins at start and ends with buf, in place: a message
// that needs several chunks is spread from its end on, so that each chunk gets its header. Several
// messages may stand in one buffer one behind the other. What is longer than the peer allows gives
// BadResponseTooLarge (of a server) or BadRequestTooLarge (of a client), and it is as if nothing had
// been sealed: the caller cuts buf back to start and may send a fault in its place. It needs the
// outbound lock.
func (c *Conversation) Seal(buf []byte, start int, t uacp.MessageType, requestID uint32, now time.Time) ([]byte, error) {
	return c.seal(buf, start, t, uacp.Final, requestID, now)
}

// SealAbort appends an abort chunk: the peer's request, or the message of which it has had chunks,
// fails with the status and the reason (Part 6, 6.7.3). It needs the outbound lock.
func (c *Conversation) SealAbort(buf []byte, requestID uint32, e *uacp.Error, now time.Time) ([]byte, error) {
	buf, start := c.Begin(buf)
	return c.seal(e.AppendBody(buf), start, uacp.TypeMessage, uacp.Abort, requestID, now)
}

func (c *Conversation) seal(buf []byte, start int, t uacp.MessageType, last byte, requestID uint32, now time.Time) ([]byte, error) {
	key := c.sendToken(now)
	if key == nil {
		return buf, uacp.Errorf(ua.BadSecureChannelClosed, "the secure channel is not open")
	}
	l := c.layout()
	size := len(buf) - start - Room
	most := l.maxBody(int(c.limits.SendChunk))
	count := max(1, (size+most-1)/most)
	if err := c.checkSend(size, count); err != nil {
		return buf, err
	}
	// Full chunks in front, the rest in the last one.
	full := Room + most + l.tail(most)
	rest := size - (count-1)*most
	end := start + (count-1)*full + Room + rest + l.tail(rest)
	if end > len(buf) {
		buf = slices.Grow(buf, end-len(buf))[:end]
	}
	for i := count - 1; i > 0; i-- {
		from := start + Room + i*most
		copy(buf[start+i*full+Room:], buf[from:from+min(most, size-i*most)])
	}
	for i := range count {
		begin, body, kind := start+i*full, most, uacp.Intermediate
		if i == count-1 {
			body, kind = rest, last
		}
		c.sealChunk(buf[begin:begin+Room+body+l.tail(body)], body, l, key, t, kind, requestID)
	}
	if c.side == Client && int32(requestID-c.out.lastRequest) > 0 {
		c.out.lastRequest = requestID
	}
	return buf, nil
}

// MaxSend is the largest message that the peer takes, in bytes; 0 if it has no limit.
func (c *Conversation) MaxSend() int {
	limit := int(c.limits.SendMessage)
	if n := int(c.limits.SendChunks); n != 0 {
		if chunks := n * c.layout().maxBody(int(c.limits.SendChunk)); limit == 0 || chunks < limit {
			limit = chunks
		}
	}
	return limit
}

// checkSend compares a message with what the peer allows; 0 is no limit there (report C21).
func (c *Conversation) checkSend(size, count int) error {
	status := ua.BadResponseTooLarge
	if c.side == Client {
		status = ua.BadRequestTooLarge
	}
	if limit := c.limits.SendMessage; limit != 0 && size > int(limit) {
		return uacp.Errorf(status, "a message of %d bytes, the peer allows %d", size, limit)
	}
	if limit := c.limits.SendChunks; limit != 0 && count > int(limit) {
		return uacp.Errorf(status, "a message of %d bytes takes %d chunks, the peer allows %d", size, count, limit)
	}
	return nil
}

// sealChunk fills in header and tail of a chunk whose body is in place, signs and encrypts it.
func (c *Conversation) sealChunk(chunk []byte, body int, l layout, key *token, t uacp.MessageType, kind byte, requestID uint32) {
	uacp.PutHeader(chunk, t, kind, len(chunk))
	number := c.out.sequence.next()
	c.out.sequence.take(number)
	binary.LittleEndian.PutUint32(chunk[8:], c.channelID)
	binary.LittleEndian.PutUint32(chunk[12:], key.id)
	binary.LittleEndian.PutUint32(chunk[16:], number)
	binary.LittleEndian.PutUint32(chunk[20:], requestID)
	signed := len(chunk) - l.signature
	if l.block != 0 {
		// The size byte and the padding all have the value of the padding's length.
		padding := chunk[Room+body : signed]
		for i := range padding {
			padding[i] = byte(len(padding) - 1)
		}
	}
	if l.signature != 0 {
		key.send.Sign(chunk[:signed], chunk[:signed])
	}
	if l.block != 0 {
		key.send.Encrypt(chunk[securityHeader:])
	}
}
