package uacp

import "github.com/actua/actua/ua"

// Defaults of Limits.
const (
	DefaultBufferSize     = 65535
	DefaultMaxMessageSize = 16 << 20
)

// Limits are what one side offers, in bytes and counts. Zero means the default.
type Limits struct {
	ReceiveBufferSize uint32 // largest chunk received; default 65,535, 1024 to 147,456
	SendBufferSize    uint32 // largest chunk sent; the same
	MaxMessageSize    uint32 // largest message received; default 16 MiB
	MaxChunkCount     uint32 // most chunks of a message received; default no limit
}

// WithDefaults returns l with its zeros replaced and its buffers within the bounds.
func (l Limits) WithDefaults() Limits {
	l.ReceiveBufferSize = clamp(l.ReceiveBufferSize, DefaultBufferSize)
	l.SendBufferSize = clamp(l.SendBufferSize, DefaultBufferSize)
	if l.MaxMessageSize == 0 {
		l.MaxMessageSize = DefaultMaxMessageSize
	}
	return l
}

func clamp(size, def uint32) uint32 {
	if size == 0 {
		return def
	}
	return min(max(size, MinBufferSizeECC), MaxBufferSize)
}

// Negotiated is what holds on a connection, seen from one side. Zero in the last two of each
// direction means no limit.
type Negotiated struct {
	ReceiveChunk   uint32 // largest chunk that the peer may send
	ReceiveMessage uint32 // largest message body that the peer may send
	ReceiveChunks  uint32 // most chunks of one
	SendChunk      uint32 // largest chunk that this side may send
	SendMessage    uint32 // largest message body that this side may send
	SendChunks     uint32 // most chunks of one
}

// Hello makes the client's first message out of what it offers.
func (l Limits) Hello(url string) Hello {
	l = l.WithDefaults()
	return Hello{
		ReceiveBufferSize: l.ReceiveBufferSize,
		SendBufferSize:    l.SendBufferSize,
		MaxMessageSize:    l.MaxMessageSize,
		MaxChunkCount:     l.MaxChunkCount,
		EndpointURL:       url,
	}
}

// peerBuffer takes a buffer size that a peer announced. Less than any policy allows is read as the
// least that the standard does: peers that write 0 or 1 there expect to be served, and the reference
// implementation serves them so.
func peerBuffer(size uint32) uint32 {
	if size < MinBufferSizeECC {
		return MinBufferSize
	}
	return min(size, MaxBufferSize)
}

// Accept is the server's side of the negotiation (Part 6, 7.1.3): neither buffer is larger than the
// other side's, and the limits of each receiver hold. A client of a later protocol version is served
// with version 0, as the standard says.
func Accept(h *Hello, l Limits) (Acknowledge, Negotiated) {
	l = l.WithDefaults()
	n := Negotiated{
		ReceiveChunk:   min(l.ReceiveBufferSize, peerBuffer(h.SendBufferSize)),
		ReceiveMessage: l.MaxMessageSize,
		ReceiveChunks:  l.MaxChunkCount,
		SendChunk:      min(l.SendBufferSize, peerBuffer(h.ReceiveBufferSize)),
		SendMessage:    h.MaxMessageSize,
		SendChunks:     h.MaxChunkCount,
	}
	a := Acknowledge{
		ReceiveBufferSize: n.ReceiveChunk,
		SendBufferSize:    n.SendChunk,
		MaxMessageSize:    n.ReceiveMessage,
		MaxChunkCount:     n.ReceiveChunks,
	}
	if n.ReceiveChunk == DefaultBufferSize {
		n.ReceiveChunk++ // gopcua 0.8 agrees to 65,535 bytes and encrypts chunks of 65,536
	}
	return a, n
}

// Confirm is the client's side of the negotiation. A server may lower the sizes that the client
// announced; one that raises them is held to what was announced. The error is an *Error of
// BadProtocolVersionUnsupported when the server speaks another version than 0.
func Confirm(l Limits, a *Acknowledge) (Negotiated, error) {
	l = l.WithDefaults()
	if a.ProtocolVersion != 0 {
		return Negotiated{}, Errorf(ua.BadProtocolVersionUnsupported, "the server speaks version %d, this client version 0", a.ProtocolVersion)
	}
	return Negotiated{
		// What the server will not send it may still send: the buffer was offered.
		ReceiveChunk:   l.ReceiveBufferSize,
		ReceiveMessage: l.MaxMessageSize,
		ReceiveChunks:  l.MaxChunkCount,
		SendChunk:      min(l.SendBufferSize, peerBuffer(a.ReceiveBufferSize)),
		SendMessage:    a.MaxMessageSize,
		SendChunks:     a.MaxChunkCount,
	}, nil
}
