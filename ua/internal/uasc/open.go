package uasc

import (
	"encoding/binary"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// Message is a message received.
type Message struct {
	Type      uacp.MessageType // TypeMessage or TypeClose
	RequestID uint32
	// Body begins with the NodeID of the type. It is a part of the chunk given to Open, or of a
	// buffer of the conversation, and valid until the next call of Open.
	Body []byte
	// Err, an *uacp.Error, is set instead of Body when the message failed and the channel goes on: the
	// peer aborted it, or, on the client, it was longer than allowed.
	Err error
}

// Open decrypts a chunk of a message in place, checks it, and returns the message when it is the last
// chunk of one. The chunk is whole: its header says how long it is. An error ends the channel; it is
// an *uacp.Error whose status is for the peer. Only the reading goroutine may call it.
func (c *Conversation) Open(chunk []byte, now time.Time) (m Message, complete bool, err error) {
	c.in.message.release(c.budget)
	if len(chunk) < Room {
		return m, false, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a chunk of %d bytes is too short", len(chunk))
	}
	h, err := uacp.ParseHeader(chunk)
	if err != nil {
		return m, false, err
	}
	switch {
	case int(h.Size) != len(chunk):
		return m, false, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a chunk of %d bytes says that it has %d", len(chunk), h.Size)
	case h.Type != uacp.TypeMessage && h.Type != uacp.TypeClose:
		return m, false, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v chunk is not expected here", h.Type)
	}
	body, requestID, err := c.openChunk(chunk, now)
	if err != nil {
		return m, false, err
	}
	return c.assemble(h, requestID, body, now)
}

// openChunk decrypts, verifies and takes off what surrounds the body.
func (c *Conversation) openChunk(chunk []byte, now time.Time) (body []byte, requestID uint32, err error) {
	if id := binary.LittleEndian.Uint32(chunk[8:]); id != c.channelID || len(c.in.tokens) == 0 {
		return nil, 0, uacp.Errorf(ua.BadTcpSecureChannelUnknown, "this connection has no secure channel %d", id)
	}
	id := binary.LittleEndian.Uint32(chunk[12:])
	t := c.find(id)
	if t == nil {
		return nil, 0, uacp.Errorf(ua.BadSecureChannelTokenUnknown, "the security token %d is not known, or a later one was used already", id)
	}
	if c.side == Server && !t.usable(now, 0) {
		return nil, 0, staleToken(t, now)
	}
	l := c.layout()
	if l.block != 0 {
		if err := t.receive.Decrypt(chunk[securityHeader:]); err != nil {
			return nil, 0, uacp.Errorf(ua.BadSecurityChecksFailed, "%v", err)
		}
	}
	signed := len(chunk) - l.signature
	if signed < Room || l.signature != 0 && !t.receive.Verify(chunk[:signed], chunk[signed:]) {
		return nil, 0, uacp.Errorf(ua.BadSecurityChecksFailed, "the signature of a chunk does not verify")
	}
	body = chunk[Room:signed]
	if l.block != 0 {
		// The signature covers the padding, so a fault here is the peer's own, and telling of it
		// gives nothing away.
		if len(body) == 0 || len(body) < 1+int(body[len(body)-1]) {
			return nil, 0, uacp.Errorf(ua.BadSecurityChecksFailed, "the padding of a chunk is longer than its body")
		}
		body = body[:len(body)-1-int(body[len(body)-1])]
	}
	requestID = binary.LittleEndian.Uint32(chunk[20:])
	if !t.usable(now, requestID) {
		return nil, 0, staleToken(t, now)
	}
	if err := c.in.sequence.accept(binary.LittleEndian.Uint32(chunk[16:])); err != nil {
		return nil, 0, err
	}
	c.used(t)
	return body, requestID, nil
}

func staleToken(t *token, now time.Time) error {
	return uacp.Errorf(ua.BadSecureChannelTokenUnknown, "the security token %d of %v is used %v after it was issued", t.id, t.lifetime, now.Sub(t.created))
}
