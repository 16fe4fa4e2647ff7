package akkapb

import (
	"encoding/binary"
	"slices"
)

const (
	// HeaderSize is the size of the length in front of a frame.
	HeaderSize = 4
	// DefaultMaxFrame is Akka.NET's maximum-frame-size, header included.
	DefaultMaxFrame = 128000
)

// Framing says how frames are cut. The zero value is Akka.NET's default.
type Framing struct {
	BigEndian bool
	Max       int // largest frame, its header of 4 bytes included; 0: DefaultMaxFrame
}

func (f Framing) max() int {
	if f.Max == 0 {
		return DefaultMaxFrame
	}
	return f.Max
}

// MaxContainer is the size of the largest AckAndEnvelopeContainer that fits in a frame. Akka.NET itself
// compares the container with maximum-frame-size and forgets the 8 or 9 bytes around it: what lies between
// makes the receiver close the connection.
func (f Framing) MaxContainer() int {
	m := f.max() - HeaderSize - 1
	for n := 1; n <= 5; n++ {
		if varlen(m-n) <= n {
			return max(m-n, 0)
		}
	}
	return 0
}

// Next cuts one frame off the front of buf: size is the number of bytes that it takes there, 0 when it is
// not whole yet. An empty body is to be ignored. A length that is negative or above the limit is a
// [*FrameError], found as soon as the header is there; Akka.NET closes the connection.
func (f Framing) Next(buf []byte) (body []byte, size int, err error) {
	if len(buf) < HeaderSize {
		return nil, 0, nil
	}
	n, err := f.Length(buf)
	if err != nil {
		return nil, 0, err
	}
	size = HeaderSize + n
	if len(buf) < size {
		return nil, 0, nil
	}
	return buf[HeaderSize:size:size], size, nil
}

// Length reads the header of a frame, at least 4 bytes, and checks the length in it: bytes of the body.
func (f Framing) Length(header []byte) (int, error) {
	var n int32
	if f.BigEndian {
		n = int32(binary.BigEndian.Uint32(header))
	} else {
		n = int32(binary.LittleEndian.Uint32(header))
	}
	if n < 0 || int64(n)+HeaderSize > int64(f.max()) {
		return 0, &FrameError{Length: int64(n), Max: f.max()}
	}
	return int(n), nil
}

func (f Framing) put(header []byte, n int) {
	if f.BigEndian {
		binary.BigEndian.PutUint32(header, uint32(n))
	} else {
		binary.LittleEndian.PutUint32(header, uint32(n))
	}
}

// AppendFrame adds a frame around a body that exists already.
func (f Framing) AppendFrame(dst, body []byte) []byte {
	dst = slices.Grow(dst, HeaderSize+len(body))
	at := len(dst)
	dst = dst[:at+HeaderSize]
	f.put(dst[at:], len(body))
	return append(dst, body...)
}

// AppendControl adds a frame with a control message: a heartbeat, a disassociation or an ASSOCIATE.
func (f Framing) AppendControl(dst []byte, m *AkkaControlMessage) []byte {
	n := m.Size()
	all := sizeMessage(n)
	dst = slices.Grow(dst, HeaderSize+all)
	at := len(dst)
	dst = dst[:at+HeaderSize]
	f.put(dst[at:], all)
	return m.Append(appendHead(dst, 2, n))
}

// AppendAck adds a frame with nothing but an acknowledgement.
func (f Framing) AppendAck(dst []byte, ack *AcknowledgementInfo) []byte {
	n := ack.Size()
	con := sizeMessage(n)
	all := sizeMessage(con)
	dst = slices.Grow(dst, HeaderSize+all)
	at := len(dst)
	dst = dst[:at+HeaderSize]
	f.put(dst[at:], all)
	return ack.Append(appendHead(appendHead(dst, 1, con), 1, n))
}
