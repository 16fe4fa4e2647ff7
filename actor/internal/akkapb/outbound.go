package akkapb

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// RecipientField is the recipient of an envelope as a whole field, to be made once for a reference.
func RecipientField(path []byte) []byte { return appendRef(nil, 1, true, path) }

// SenderField is the same for a sender. Nobody has no field: nil.
func SenderField(path []byte) []byte { return appendRef(nil, 4, true, path) }

// ManifestField is a manifest as a whole field of Payload, to be made once for a message type. There is
// none for an empty manifest.
func ManifestField(manifest string) []byte { return appendBytes(nil, 3, []byte(manifest)) }

// Outbound is a message that becomes a frame. Its zero value is an ordinary message, not a reliable one.
//
// With the body in hand:
//
//	dst = o.AppendFrame(dst, framing, body)
//
// With a serializer that appends, n being the size of the body or the best guess at it:
//
//	start := len(dst)
//	dst = o.AppendHead(dst, framing, n)
//	dst = serializer(dst)                  // on failure: dst = dst[:start]
//	dst = o.AppendTail(dst, framing, start, n)
//
// The two forms write the same bytes. With the right n, or one of which the lengths around the body take
// as many bytes, nothing is moved; otherwise the body is moved once, by a few bytes.
type Outbound struct {
	To           []byte // RecipientField
	From         []byte // SenderField, or nil
	Manifest     []byte // ManifestField, or nil
	Ack          *AcknowledgementInfo
	Seq          uint64 // of a reliable message
	Reliable     bool
	SerializerID int32
}

// layout holds the sizes of the messages within each other, without tag and length.
type layout struct{ ack, payload, envelope, container, pdu int }

func (o *Outbound) layout(body int) (l layout) {
	l.payload = sizeBytes(body) + len(o.Manifest)
	if id := uint32(o.SerializerID); id-1 < 0x7f {
		l.payload += 2
	} else {
		l.payload += sizeInt(o.SerializerID)
	}
	l.envelope = len(o.To) + sizeMessage(l.payload) + len(o.From)
	if !o.Reliable || o.Seq != 0 {
		l.envelope += 9
	}
	l.container = sizeMessage(l.envelope)
	if o.Ack != nil {
		l.ack = o.Ack.Size()
		l.container += sizeMessage(l.ack)
	}
	l.pdu = sizeMessage(l.container)
	return l
}

// tail is the number of bytes after the body.
func (o *Outbound) tail() int {
	n := len(o.Manifest) + sizeInt(o.SerializerID) + len(o.From)
	if !o.Reliable || o.Seq != 0 {
		n += 9
	}
	return n
}

// ContainerSize is the size of the AckAndEnvelopeContainer with a body of so many bytes, to be compared
// with [Framing.MaxContainer].
func (o *Outbound) ContainerSize(body int) int { return o.layout(body).container }

// AppendFrame adds a whole frame with this body.
func (o *Outbound) AppendFrame(dst []byte, f Framing, body []byte) []byte {
	l := o.layout(len(body))
	at := len(dst)
	dst = slices.Grow(dst, HeaderSize+l.pdu)[:at+HeaderSize+l.pdu]
	i := o.putHead(dst, at, f, &l, len(body))
	i += copy(dst[i:], body)
	o.putTail(dst, i)
	return dst
}

// AppendHead adds what stands in front of a body of n bytes, and makes room for the whole frame. The body
// is to be appended next, then [Outbound.AppendTail] called.
func (o *Outbound) AppendHead(dst []byte, f Framing, n int) []byte {
	l := o.layout(n)
	at := len(dst)
	dst = slices.Grow(dst, HeaderSize+l.pdu)
	i := o.putHead(dst[:at+HeaderSize+l.pdu], at, f, &l, n)
	return dst[:i]
}

// AppendTail adds what stands behind the body, whatever its size came to be. start and n are the length of
// dst before AppendHead and the size that was given to it.
func (o *Outbound) AppendTail(dst []byte, f Framing, start, n int) []byte {
	tail := o.tail()
	l := o.layout(n)
	body := start + HeaderSize + l.pdu - tail - n
	if got := len(dst) - body; got != n {
		l = o.layout(got)
		at := start + HeaderSize + l.pdu - tail - got
		if at > body {
			dst = slices.Grow(dst, at-body+tail)
		}
		end := at + got
		copy(dst[at:max(end, len(dst))], dst[body:])
		dst = dst[:end]
		o.putHead(dst, start, f, &l, got)
	}
	at := len(dst)
	dst = slices.Grow(dst, tail)[:at+tail]
	o.putTail(dst, at)
	return dst
}

// putHead writes from dst[i] on and returns the place of the body.
func (o *Outbound) putHead(dst []byte, i int, f Framing, l *layout, body int) int {
	f.put(dst[i:], l.pdu)
	i = putHead(dst, i+HeaderSize, 1, l.container)
	if o.Ack != nil {
		i = putHead(dst, i, 1, l.ack)
		i += len(o.Ack.Append(dst[i:i:len(dst)]))
	}
	i = putHead(dst, i, 2, l.envelope)
	i += copy(dst[i:], o.To)
	i = putHead(dst, i, 2, l.payload)
	if body != 0 {
		i = putHead(dst, i, 1, body)
	}
	return i
}

// putTail writes from dst[i] to its end.
func (o *Outbound) putTail(dst []byte, i int) {
	if id := uint32(o.SerializerID); id-1 < 0x7f {
		dst[i], dst[i+1] = 2<<3|byte(vint), byte(id)
		i += 2
	} else {
		i += len(appendInt(dst[i:i], 2, o.SerializerID))
	}
	i += copy(dst[i:], o.Manifest)
	i += copy(dst[i:], o.From)
	seq := uint64(NoSeq)
	if o.Reliable {
		if seq = o.Seq; seq == 0 {
			return
		}
	}
	dst[i] = 5<<3 | byte(fix64)
	binary.LittleEndian.PutUint64(dst[i+1:], seq)
}

// putHead writes the tag and the length of a field at dst[i] and returns the place of its content.
func putHead(dst []byte, i int, field byte, n int) int {
	dst[i] = field<<3 | byte(blob)
	switch {
	case n < 1<<7:
		dst[i+1] = byte(n)
		return i + 2
	case n < 1<<14:
		dst[i+1], dst[i+2] = byte(n)|0x80, byte(n>>7)
		return i + 3
	}
	return i + 1 + len(protowire.AppendVarint(dst[i+1:i+1], uint64(n)))
}

// BeginField starts a length-delimited field of about n bytes whose content is appended next; EndField
// then sets its length. Serializers use the two for messages within messages.
func BeginField(dst []byte, field byte, n int) []byte {
	return appendHead(slices.Grow(dst, sizeMessage(n)), field, n)
}

// EndField sets the length of the field begun at dst[start] with the guess n. The content moves only when
// its length takes more or fewer bytes than the guess did.
func EndField(dst []byte, start, n int) []byte {
	was := start + 1 + varlen(n)
	got := len(dst) - was
	if got == n {
		return dst
	}
	at := start + 1 + varlen(got)
	if at > was {
		dst = slices.Grow(dst, at-was)
	}
	copy(dst[at:max(at+got, len(dst))], dst[was:])
	dst = dst[:at+got]
	protowire.AppendVarint(dst[start+1:start+1:at], uint64(got))
	return dst
}
