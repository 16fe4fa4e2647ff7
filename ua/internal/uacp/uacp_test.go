package uacp

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

func TestMessagesRoundTrip(t *testing.T) {
	hello := Hello{1, 65535, 8192, 0, 7, "opc.tcp://host:4840/path"}
	ack := Acknowledge{0, 8192, 65535, 1 << 24, 0}
	fault := Error{Status: ua.BadTcpMessageTooLarge, Reason: "too much"}
	reverse := ReverseHello{"urn:server", "opc.tcp://host"}
	for name, c := range map[string]struct {
		chunk  []byte
		decode func([]byte) (any, error)
		want   any
	}{
		"Hello": {hello.Append([]byte{9})[1:], func(b []byte) (any, error) {
			var v Hello
			err := v.Decode(b)
			return v, err
		}, hello},
		"Acknowledge": {ack.Append(nil), func(b []byte) (any, error) {
			var v Acknowledge
			err := v.Decode(b)
			return v, err
		}, ack},
		"ReverseHello": {reverse.Append(nil), func(b []byte) (any, error) {
			var v ReverseHello
			err := v.Decode(b)
			return v, err
		}, reverse},
		"Error": {fault.Append(nil), func(b []byte) (any, error) {
			e, err := DecodeError(b)
			if err != nil {
				return nil, err
			}
			return *e, nil
		}, Error{Status: fault.Status, Reason: fault.Reason, Remote: true}},
	} {
		h, err := ParseHeader(c.chunk)
		if err != nil || int(h.Size) != len(c.chunk) || h.Chunk != Final {
			t.Errorf("%s: header %+v, %v", name, h, err)
		}
		if got, err := c.decode(c.chunk[HeaderSize:]); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		for n := range len(c.chunk) - HeaderSize {
			if _, err := c.decode(c.chunk[HeaderSize : HeaderSize+n]); ua.StatusOf(err) != ua.BadDecodingError {
				t.Errorf("%s cut to %d bytes: %v", name, n, err)
			}
		}
	}
}

// TestHeaderThatLies has what C15 and C16 saw on the wire.
func TestHeaderThatLies(t *testing.T) {
	for _, text := range []string{"GET / HT", "\x16\x03\x01\x02\x00\x01\x00\x01", "SSH-2.0-", "\x00\x00\x00\x00\x00\x00\x00\x00", "MSGX\x20\x00\x00\x00", "HELC\x20\x00\x00\x00", "OPNC\x80\x00\x00\x00", "CLOA\x20\x00\x00\x00"} {
		if _, err := ParseHeader([]byte(text)); ua.StatusOf(err) != ua.BadTcpMessageTypeInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, typ := range []MessageType{TypeHello, TypeOpen, TypeMessage, TypeClose} {
		for _, size := range []uint32{0, 4, 7, 8, 23, 0x7FFFFFFF, 0xFFFFFFFF} {
			b := make([]byte, HeaderSize)
			PutHeader(b, typ, Final, int(size))
			h, err := ParseHeader(b)
			want := ua.BadTcpMessageTypeInvalid
			if size > 27 {
				want = ua.BadTcpMessageTooLarge
				if err == nil {
					err = h.CheckSize(65535)
				}
			}
			if ua.StatusOf(err) != want {
				t.Errorf("%v of %d: %v", typ, size, err)
			}
		}
	}
}

func TestLongTexts(t *testing.T) {
	h := Hello{EndpointURL: strings.Repeat("u", MaxURLLength+1)}
	if err := new(Hello).Decode(h.Append(nil)[HeaderSize:]); ua.StatusOf(err) != ua.BadTcpEndpointUrlInvalid {
		t.Error(err)
	}
	e := Error{Status: ua.BadInternalError, Reason: strings.Repeat("ä\n", MaxReasonLength)}
	got, err := DecodeError(e.Append(nil)[HeaderSize:])
	if err != nil || len(got.Reason) > MaxReasonLength || strings.ContainsAny(got.Reason, "\n\uFFFD") {
		t.Errorf("%d bytes, %v", len(got.Reason), err)
	}
}

func TestErrorIsItsStatus(t *testing.T) {
	cause := errors.New("cause")
	var err error = &Error{Status: ua.BadConnectionClosed, Reason: "why", Cause: cause}
	if !errors.Is(err, ua.BadConnectionClosed) || !errors.Is(err, cause) || ua.StatusOf(err) != ua.BadConnectionClosed {
		t.Error(err)
	}
	good, _ := DecodeError((&Error{Status: ua.Good}).Append(nil)[HeaderSize:])
	if !good.Status.IsBad() {
		t.Error(good)
	}
}

func TestErrorNamesItsStatusOnce(t *testing.T) {
	for reason, want := range map[string]string{
		"":        "the peer reports BadTcpMessageTooLarge",
		"a chunk": "the peer reports BadTcpMessageTooLarge: a chunk",
		"BadTcpMessageTooLarge (0x80800000): a chunk": "the peer reports BadTcpMessageTooLarge (0x80800000): a chunk",
	} {
		if got := (&Error{Status: ua.BadTcpMessageTooLarge, Reason: reason, Remote: true}).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNegotiation(t *testing.T) {
	d := Limits{}.WithDefaults()
	// With 65,535 bytes agreed one more is taken: gopcua's encrypted chunks are 65,536 long.
	for name, c := range map[string]struct {
		hello  Hello
		limits Limits
		want   Negotiated
	}{
		"defaults":  {(Limits{}).Hello(""), Limits{}, Negotiated{65536, d.MaxMessageSize, 0, 65535, d.MaxMessageSize, 0}},
		"no limits": {Hello{ReceiveBufferSize: 65535, SendBufferSize: 65535}, Limits{}, Negotiated{65536, d.MaxMessageSize, 0, 65535, 0, 0}},
		"small":     {Hello{ReceiveBufferSize: 8192, SendBufferSize: 8192, MaxMessageSize: 9, MaxChunkCount: 3}, Limits{}, Negotiated{8192, d.MaxMessageSize, 0, 8192, 9, 3}},
		"nonsense":  {Hello{ReceiveBufferSize: 0, SendBufferSize: 5}, Limits{}, Negotiated{8192, d.MaxMessageSize, 0, 8192, 0, 0}},
		"huge":      {Hello{ReceiveBufferSize: math.MaxUint32, SendBufferSize: math.MaxUint32}, Limits{ReceiveBufferSize: math.MaxUint32, SendBufferSize: math.MaxUint32}, Negotiated{MaxBufferSize, d.MaxMessageSize, 0, MaxBufferSize, 0, 0}},
		"server":    {(Limits{}).Hello(""), Limits{ReceiveBufferSize: 9000, SendBufferSize: 10000, MaxMessageSize: 11, MaxChunkCount: 12}, Negotiated{9000, 11, 12, 10000, d.MaxMessageSize, 0}},
	} {
		a, got := Accept(&c.hello, c.limits)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		back, err := Confirm(Limits{ReceiveBufferSize: c.hello.ReceiveBufferSize, SendBufferSize: c.hello.SendBufferSize}, &a)
		if err != nil || back.SendChunk > got.ReceiveChunk || got.SendChunk > max(back.ReceiveChunk, MinBufferSize) {
			t.Errorf("%s: client %+v of server %+v, %v", name, back, got, err)
		}
	}
	if _, err := Confirm(Limits{}, &Acknowledge{ProtocolVersion: 1}); ua.StatusOf(err) != ua.BadProtocolVersionUnsupported {
		t.Error(err)
	}
}

func fuzz(f *testing.F, seed []byte, decode func([]byte)) {
	f.Add(seed)
	f.Add(seed[:len(seed)/2])
	f.Fuzz(func(t *testing.T, b []byte) { decode(b) })
}

func FuzzHello(f *testing.F) {
	h := (Limits{}).Hello("opc.tcp://host:4840")
	fuzz(f, h.Append(nil)[HeaderSize:], func(b []byte) { new(Hello).Decode(b) })
}

func FuzzAcknowledge(f *testing.F) {
	fuzz(f, (&Acknowledge{}).Append(nil)[HeaderSize:], func(b []byte) {
		var a Acknowledge
		if a.Decode(b) == nil {
			Confirm(Limits{}, &a)
		}
	})
}

func FuzzError(f *testing.F) {
	fuzz(f, Errorf(ua.BadTimeout, "reason").Append(nil)[HeaderSize:], func(b []byte) {
		if e, err := DecodeError(b); err == nil {
			e.Append(nil)
			_ = e.Error()
		}
	})
}

func FuzzReverseHello(f *testing.F) {
	fuzz(f, (&ReverseHello{"urn:s", "opc.tcp://c"}).Append(nil)[HeaderSize:], func(b []byte) { new(ReverseHello).Decode(b) })
}

func FuzzHeader(f *testing.F) {
	fuzz(f, []byte("MSGF\x20\x00\x00\x00"), func(b []byte) {
		if len(b) >= HeaderSize {
			if h, err := ParseHeader(b); err == nil {
				h.CheckSize(65535)
				_ = h.Type.String()
			}
		}
	})
}
