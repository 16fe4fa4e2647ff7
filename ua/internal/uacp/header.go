// Package uacp holds the messages that an OPC UA connection begins and ends with, Hello, Acknowledge,
// Error and ReverseHello, the header of every chunk, and the negotiation of sizes (Part 6, 7.1). It
// has no state and does no I/O: functions append to a slice, or read from one.
package uacp

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
)

// MessageType is the first three bytes of a chunk, as a number with the first byte lowest (Part 6,
// 7.1.2.2 and 6.7.2.2).
type MessageType uint32

// The types of messages.
const (
	TypeHello        MessageType = 'H' | 'E'<<8 | 'L'<<16
	TypeAcknowledge  MessageType = 'A' | 'C'<<8 | 'K'<<16
	TypeError        MessageType = 'E' | 'R'<<8 | 'R'<<16
	TypeReverseHello MessageType = 'R' | 'H'<<8 | 'E'<<16
	TypeOpen         MessageType = 'O' | 'P'<<8 | 'N'<<16
	TypeMessage      MessageType = 'M' | 'S'<<8 | 'G'<<16
	TypeClose        MessageType = 'C' | 'L'<<8 | 'O'<<16
)

// String is the three letters.
func (t MessageType) String() string {
	return string([]byte{byte(t), byte(t >> 8), byte(t >> 16)})
}

// The fourth byte of a chunk (Part 6, 6.7.2.2).
const (
	Intermediate byte = 'C' // more chunks follow
	Final        byte = 'F' // the last or only chunk
	Abort        byte = 'A' // the message ends here unfinished; the body tells why
)

// Sizes in bytes that the standard or the reference implementation fixes (Part 6, 7.1.2 and 6.7.2).
const (
	HeaderSize       = 8      // type, chunk letter and size
	MinBufferSize    = 8192   // smallest buffer that a peer must offer
	MinBufferSizeECC = 1024   // the same where only ECC policies are used
	MaxBufferSize    = 147456 // largest buffer that is negotiated
	MaxURLLength     = 4096   // of an endpoint URL or a server URI
	MaxReasonLength  = 4096   // of the reason in an Error
	MaxPolicyURI     = 256    // of the policy URI in an OpenSecureChannel header
)

// Smallest possible chunks, header included.
const (
	minHello        = HeaderSize + 24
	minAcknowledge  = HeaderSize + 20
	minError        = HeaderSize + 8
	minReverseHello = HeaderSize + 8
	minOpen         = HeaderSize + 4 + 12 + 8
	minMessage      = HeaderSize + 8 + 8
)

// Header is the first eight bytes of a chunk.
type Header struct {
	Type  MessageType
	Chunk byte   // Intermediate, Final or Abort
	Size  uint32 // of the whole chunk in bytes, these eight included
}

// ParseHeader reads the header at the start of b, which must hold at least HeaderSize bytes. An
// unknown type, a chunk letter that the type does not have and a size that the type cannot have are
// answered with an *Error of BadTcpMessageTypeInvalid, so that whatever else speaks to the port, be
// it HTTP or TLS, is told at the first eight bytes.
func ParseHeader(b []byte) (Header, error) {
	v := binary.LittleEndian.Uint32(b)
	h := Header{Type: MessageType(v & 0xFFFFFF), Chunk: byte(v >> 24), Size: binary.LittleEndian.Uint32(b[4:])}
	var least uint32
	chunked := false
	switch h.Type {
	case TypeHello:
		least = minHello
	case TypeAcknowledge:
		least = minAcknowledge
	case TypeError:
		least = minError
	case TypeReverseHello:
		least = minReverseHello
	case TypeOpen:
		least = minOpen
	case TypeMessage:
		least, chunked = minMessage, true
	case TypeClose:
		least = minMessage
	default:
		return h, Errorf(ua.BadTcpMessageTypeInvalid, "the first bytes %q are no OPC UA message", b[:4])
	}
	if h.Chunk != Final && !(chunked && (h.Chunk == Intermediate || h.Chunk == Abort)) {
		return h, Errorf(ua.BadTcpMessageTypeInvalid, "a %v chunk cannot be of kind %q", h.Type, h.Chunk)
	}
	if h.Size < least {
		return h, Errorf(ua.BadTcpMessageTypeInvalid, "a %v chunk cannot have a size of %d bytes, the least is %d", h.Type, h.Size, least)
	}
	return h, nil
}

// CheckSize refuses a chunk above limit bytes with an *Error of BadTcpMessageTooLarge.
func (h Header) CheckSize(limit uint32) error {
	if h.Size > limit {
		return Errorf(ua.BadTcpMessageTooLarge, "a %v chunk of %d bytes, at most %d are allowed", h.Type, h.Size, limit)
	}
	return nil
}

// appendHeader appends a header whose size finish fills in.
func appendHeader(b []byte, t MessageType) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(t)|uint64(Final)<<24)
}

// finish writes the size of the message that began at start.
func finish(b []byte, start int) []byte {
	binary.LittleEndian.PutUint32(b[start+4:], uint32(len(b)-start))
	return b
}

// PutHeader writes a header over the first eight bytes of b.
func PutHeader(b []byte, t MessageType, chunk byte, size int) {
	binary.LittleEndian.PutUint64(b, uint64(t)|uint64(chunk)<<24|uint64(uint32(size))<<32)
}

// Error is a status code with the reason in plain text: what an Error message carries, and what all
// faults of a connection are reported as.
type Error struct {
	Status ua.StatusCode
	Reason string
	// Remote is set when the peer said so.
	Remote bool
	// Cause is the error of the operating system or of another package behind it; may be nil.
	Cause error
}

// Errorf makes an Error of this side.
func Errorf(status ua.StatusCode, format string, args ...any) *Error {
	return &Error{Status: status, Reason: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error of this side out of another package's error: with the status that ua.StatusOf
// finds in it, and its text without the standard's explanation of the status behind.
func Wrap(err error, what string) *Error {
	status := ua.StatusOf(err)
	return &Error{Status: status, Reason: what + ": " + strings.TrimSuffix(err.Error(), ": "+status.Error())}
}

// Error names who says what, and the reason.
func (e *Error) Error() string {
	text := e.Status.String()
	switch {
	case strings.HasPrefix(e.Reason, text): // many peers begin the reason with the status
		text = e.Reason
	case e.Reason != "":
		text += ": " + e.Reason
	}
	if e.Remote {
		return "the peer reports " + text
	}
	return text
}

// Code is the status code as a number, which ua.StatusOf reads.
func (e *Error) Code() uint32 { return e.Status.Code() }

// Unwrap returns the status code and the cause, so that errors.Is finds them.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Status}
	}
	return []error{e.Status, e.Cause}
}
