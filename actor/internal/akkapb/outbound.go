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
//	dst = o.AppendFrame(dst, framing, body)        // or AppendFrameString
//
// With a serializer that appends, n being the size of the body or the best guess at it:
//
//	start := len(dst)
//	dst, mark := o.AppendHead(dst, framing, n)
//	dst = serializer(dst)                  // on failure: dst = dst[:start]
//	dst = o.AppendTail(dst, mark)
//
// The forms write the same bytes. With the right n nothing is done twice. With another one the head is
// written again, and only if the lengths in it then take more or fewer bytes is the body moved, once and
// by a few bytes: between 16 KiB and 2 MiB they take the same.
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
type layout struct{ payload, envelope, container, pdu int }

func (o *Outbound) layout(body int) (l layout) {
	l.payload = sizeBytes(body) + o.idSize() + len(o.Manifest)
	l.envelope = len(o.To) + sizeMessage(l.payload) + len(o.From) + o.seqSize()
	l.container = sizeMessage(l.envelope)
	if o.Ack != nil {
		l.container += sizeMessage(o.Ack.Size())
	}
	l.pdu = sizeMessage(l.container)
	return l
}

// smallID reports whether the id of the serializer takes one byte, as those of Akka.NET do.
func (o *Outbound) smallID() bool { return uint32(o.SerializerID)-1 < 0x7f }

func (o *Outbound) idSize() int {
	if o.smallID() {
		return 2
	}
	return sizeInt(o.SerializerID)
}

func (o *Outbound) seqSize() int {
	if o.Reliable && o.Seq == 0 {
		return 0
	}
	return 9
}

// ContainerSize is the size of the AckAndEnvelopeContainer with a body of so many bytes, to be compared
// with [Framing.MaxContainer].
func (o *Outbound) ContainerSize(body int) int { return o.layout(body).container }

// AppendFrame adds a whole frame with this body.
func (o *Outbound) AppendFrame(dst []byte, f Framing, body []byte) []byte {
	dst, i := o.head(dst, f, len(body))
	i += copy(dst[i:], body)
	o.putTail(dst, i)
	return dst
}

// AppendFrameString is AppendFrame for a body that is a string.
func (o *Outbound) AppendFrameString(dst []byte, f Framing, body string) []byte {
	dst, i := o.head(dst, f, len(body))
	i += copy(dst[i:], body)
	o.putTail(dst, i)
	return dst
}

// Mark is what AppendTail has to know of AppendHead.
type Mark struct {
	start, body, n int
	framing        Framing
}

// AppendHead adds what stands in front of a body of n bytes, and makes room for the whole frame. The body
// is to be appended next, then [Outbound.AppendTail] called; until then the message must not change.
func (o *Outbound) AppendHead(dst []byte, f Framing, n int) ([]byte, Mark) {
	m := Mark{start: len(dst), n: n, framing: f}
	dst, m.body = o.head(dst, f, n)
	return dst[:m.body], m
}

// AppendTail adds what stands behind the body, whatever its size came to be.
func (o *Outbound) AppendTail(dst []byte, m Mark) []byte {
	if len(dst) != m.body+m.n {
		dst = o.resize(dst, m)
	}
	i := len(dst)
	end := i + o.idSize() + len(o.Manifest) + len(o.From) + o.seqSize()
	if end > cap(dst) {
		dst = slices.Grow(dst, end-i)
	}
	dst = dst[:end]
	o.putTail(dst, i)
	return dst
}

// resize writes the head anew for a body of another size than promised, and moves the body if the head
// has become longer or shorter.
func (o *Outbound) resize(dst []byte, m Mark) []byte {
	n := len(dst) - m.body
	l := o.layout(n)
	end := m.start + HeaderSize + l.pdu
	dst = slices.Grow(dst, max(end-len(dst), 0))
	body := end - n - (o.idSize() + len(o.Manifest) + len(o.From) + o.seqSize())
	copy(dst[body:body+n], dst[m.body:])
	o.head(dst[:m.start], m.framing, n)
	return dst[:body+n]
}

// head makes dst longer by a frame with a body of n bytes, writes the head, and returns the place of the
// body.
func (o *Outbound) head(dst []byte, f Framing, n int) ([]byte, int) {
	l := o.layout(n)
	i := len(dst)
	end := i + HeaderSize + l.pdu
	if end > cap(dst) {
		dst = slices.Grow(dst, end-i)
	}
	dst = dst[:end]
	f.put(dst[i:], l.pdu)
	i += HeaderSize
	if l.container < 1<<14 && l.envelope >= 1<<7 && o.Ack == nil {
		b := dst[i : i+6]
		b[0], b[1], b[2] = 1<<3|byte(blob), byte(l.container)|0x80, byte(l.container>>7)
		b[3], b[4], b[5] = 2<<3|byte(blob), byte(l.envelope)|0x80, byte(l.envelope>>7)
		i += 6
	} else {
		i = putHead(dst, i, 1, l.container)
		if o.Ack != nil {
			i = putHead(dst, i, 1, o.Ack.Size())
			i += len(o.Ack.Append(dst[i:i:end]))
		}
		i = putHead(dst, i, 2, l.envelope)
	}
	i += copy(dst[i:], o.To)
	if l.payload < 1<<7 && n != 0 {
		b := dst[i : i+4]
		b[0], b[1], b[2], b[3] = 2<<3|byte(blob), byte(l.payload), 1<<3|byte(blob), byte(n)
		return dst, i + 4
	}
	i = putHead(dst, i, 2, l.payload)
	if n != 0 {
		i = putHead(dst, i, 1, n)
	}
	return dst, i
}

// putTail writes from dst[i] to its end.
func (o *Outbound) putTail(dst []byte, i int) {
	if o.smallID() {
		dst[i], dst[i+1] = 2<<3|byte(vint), byte(o.SerializerID)
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
