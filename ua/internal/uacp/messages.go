package uacp

import (
	"strings"
	"unicode/utf8"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// Hello is the client's first message (Part 6, 7.1.2.3). The sizes are in bytes.
type Hello struct {
	ProtocolVersion   uint32
	ReceiveBufferSize uint32 // largest chunk that the client receives
	SendBufferSize    uint32 // largest chunk that it sends
	MaxMessageSize    uint32 // largest response, 0 for no limit
	MaxChunkCount     uint32 // most chunks of a response, 0 for no limit
	EndpointURL       string
}

// MaxHelloSize is the largest Hello chunk, header included.
const MaxHelloSize = minHello + MaxURLLength

// Append appends the whole chunk.
func (h *Hello) Append(b []byte) []byte {
	start := len(b)
	b = appendHeader(b, TypeHello)
	b = uabin.AppendUint32(b, h.ProtocolVersion)
	b = uabin.AppendUint32(b, h.ReceiveBufferSize)
	b = uabin.AppendUint32(b, h.SendBufferSize)
	b = uabin.AppendUint32(b, h.MaxMessageSize)
	b = uabin.AppendUint32(b, h.MaxChunkCount)
	b = uabin.AppendString(b, h.EndpointURL)
	return finish(b, start)
}

// Decode reads what follows the header. A URL that is too long is BadTcpEndpointUrlInvalid.
func (h *Hello) Decode(body []byte) error {
	r := uabin.NewReader(body)
	h.ProtocolVersion = r.Uint32()
	h.ReceiveBufferSize = r.Uint32()
	h.SendBufferSize = r.Uint32()
	h.MaxMessageSize = r.Uint32()
	h.MaxChunkCount = r.Uint32()
	h.EndpointURL = r.String()
	return end(r, "Hello", h.EndpointURL)
}

// Acknowledge is the server's answer to Hello (Part 6, 7.1.2.4). The sizes are in bytes.
type Acknowledge struct {
	ProtocolVersion   uint32
	ReceiveBufferSize uint32 // largest chunk that the server receives
	SendBufferSize    uint32 // largest chunk that it sends
	MaxMessageSize    uint32 // largest request, 0 for no limit
	MaxChunkCount     uint32 // most chunks of a request, 0 for no limit
}

// Append appends the whole chunk.
func (a *Acknowledge) Append(b []byte) []byte {
	start := len(b)
	b = appendHeader(b, TypeAcknowledge)
	b = uabin.AppendUint32(b, a.ProtocolVersion)
	b = uabin.AppendUint32(b, a.ReceiveBufferSize)
	b = uabin.AppendUint32(b, a.SendBufferSize)
	b = uabin.AppendUint32(b, a.MaxMessageSize)
	b = uabin.AppendUint32(b, a.MaxChunkCount)
	return finish(b, start)
}

// Decode reads what follows the header.
func (a *Acknowledge) Decode(body []byte) error {
	r := uabin.NewReader(body)
	a.ProtocolVersion = r.Uint32()
	a.ReceiveBufferSize = r.Uint32()
	a.SendBufferSize = r.Uint32()
	a.MaxMessageSize = r.Uint32()
	a.MaxChunkCount = r.Uint32()
	return end(r, "Acknowledge", "")
}

// Append appends e as an Error chunk (Part 6, 7.1.2.5), its reason cut to MaxReasonLength bytes.
func (e *Error) Append(b []byte) []byte {
	start := len(b)
	b = appendHeader(b, TypeError)
	b = e.AppendBody(b)
	return finish(b, start)
}

// AppendBody appends the status and the reason, which is also what the body of an abort chunk holds
// (Part 6, 6.7.3).
func (e *Error) AppendBody(b []byte) []byte {
	b = uabin.AppendUint32(b, e.Status.Code())
	return uabin.AppendString(b, cut(e.Reason))
}

// cut shortens a reason at the boundary of a character.
func cut(s string) string {
	if len(s) <= MaxReasonLength {
		return s
	}
	n := MaxReasonLength
	for n > MaxReasonLength-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// DecodeError reads the status and reason of an Error chunk, or of the body of an abort chunk, as an
// error that the peer reports. A status that is not bad is kept as BadUnexpectedError, since the
// peer has given up all the same. Control characters in the reason become spaces: it goes to logs.
func DecodeError(body []byte) (*Error, error) {
	r := uabin.NewReader(body)
	e := &Error{Status: ua.StatusCode(r.Uint32()), Remote: true}
	e.Reason = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7F {
			return ' '
		}
		return c
	}, cut(r.String()))
	if !r.OK() {
		return nil, Errorf(ua.BadDecodingError, "Error message: %v", r.Err())
	}
	if !e.Status.IsBad() {
		e.Reason = strings.TrimSpace(e.Status.String() + " " + e.Reason)
		e.Status = ua.BadUnexpectedError
	}
	return e, nil
}

// ReverseHello is the first message of a server that connects to a client (Part 6, 7.1.2.6).
type ReverseHello struct {
	ServerURI   string
	EndpointURL string
}

// MaxReverseHelloSize is the largest ReverseHello chunk, header included.
const MaxReverseHelloSize = minReverseHello + 2*MaxURLLength

// Append appends the whole chunk.
func (h *ReverseHello) Append(b []byte) []byte {
	start := len(b)
	b = appendHeader(b, TypeReverseHello)
	b = uabin.AppendString(b, h.ServerURI)
	b = uabin.AppendString(b, h.EndpointURL)
	return finish(b, start)
}

// Decode reads what follows the header. A URI that is too long is BadTcpEndpointUrlInvalid.
func (h *ReverseHello) Decode(body []byte) error {
	r := uabin.NewReader(body)
	h.ServerURI = r.String()
	h.EndpointURL = r.String()
	if len(h.ServerURI) > len(h.EndpointURL) {
		return end(r, "ReverseHello", h.ServerURI)
	}
	return end(r, "ReverseHello", h.EndpointURL)
}

// end checks that a message was read whole and that its URL is not too long. Bytes behind the last
// field are let pass: a later version may put fields there.
func end(r *uabin.Reader, what, url string) error {
	if !r.OK() {
		return Errorf(ua.BadDecodingError, "%s message: %v", what, r.Err())
	}
	if len(url) > MaxURLLength {
		return Errorf(ua.BadTcpEndpointUrlInvalid, "%s message: a URL of %d bytes, at most %d are allowed", what, len(url), MaxURLLength)
	}
	return nil
}
