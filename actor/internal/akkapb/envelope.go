package akkapb

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// NoSeq is the sequence number of ordinary messages. Reliable ones are counted from 0, and 0 is not
// written: an envelope without the field is reliable message number 0.
const NoSeq = math.MaxUint64

// AcknowledgementInfo says which reliable messages have come and which are missing. That of number 0 has
// no bytes: its presence counts.
type AcknowledgementInfo struct {
	CumulativeAck uint64
	Nacks         []uint64
}

// Size is the number of bytes that Append adds.
func (m *AcknowledgementInfo) Size() int {
	return sizeFixed(m.CumulativeAck) + sizeBytes(8*len(m.Nacks))
}

// Append adds the message to dst.
func (m *AcknowledgementInfo) Append(dst []byte) []byte {
	dst = appendFixed(slices.Grow(dst, m.Size()), 1, m.CumulativeAck)
	if len(m.Nacks) == 0 {
		return dst
	}
	dst = appendHead(dst, 2, 8*len(m.Nacks))
	for _, n := range m.Nacks {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *AcknowledgementInfo) Decode(b []byte) error {
	m.reset()
	return m.merge(b)
}

func (m *AcknowledgementInfo) reset() {
	m.CumulativeAck = 0
	m.Nacks = m.Nacks[:0]
}

func (m *AcknowledgementInfo) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | fix64:
			m.CumulativeAck = f.num
		case 2<<3 | fix64:
			m.Nacks = append(m.Nacks, f.num)
		case 2<<3 | blob:
			if len(f.body)%8 != 0 {
				f.fail(badPacked)
				break
			}
			m.Nacks = slices.Grow(m.Nacks, len(f.body)/8)
			for p := f.body; len(p) > 0; p = p[8:] {
				m.Nacks = append(m.Nacks, binary.LittleEndian.Uint64(p))
			}
		}
	}
	return f.err("AcknowledgementInfo")
}

// RemoteEnvelope is one message on its way. Recipient and sender are the paths of their ActorRefData.
type RemoteEnvelope struct {
	Recipient    []byte
	Message      Payload
	Sender       []byte
	Seq          uint64 // NoSeq: not reliable
	HasRecipient bool
	HasMessage   bool
	HasSender    bool
}

// Size is the number of bytes that Append adds.
func (m *RemoteEnvelope) Size() int {
	return sizeRef(m.HasRecipient, m.Recipient) + sizePart(m.HasMessage, &m.Message) + sizeRef(m.HasSender, m.Sender) + sizeFixed(m.Seq)
}

// Append adds the message to dst. [Outbound] is the faster way to send one.
func (m *RemoteEnvelope) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendRef(dst, 1, m.HasRecipient, m.Recipient)
	dst = appendPart(dst, 2, m.HasMessage, &m.Message)
	dst = appendRef(dst, 4, m.HasSender, m.Sender)
	return appendFixed(dst, 5, m.Seq)
}

func (m *RemoteEnvelope) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasRecipient = true
			if err := mergeRef(&m.Recipient, f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.HasMessage = true
			if err := m.Message.merge(f.body); err != nil {
				return err
			}
		case 4<<3 | blob:
			m.HasSender = true
			if err := mergeRef(&m.Sender, f.body); err != nil {
				return err
			}
		case 5<<3 | fix64:
			m.Seq = f.num
		}
	}
	return f.err("RemoteEnvelope")
}

// Check says what makes Akka.NET end an association although the bytes can be decoded: no recipient, no
// message, or a sender with an empty path.
func (m *RemoteEnvelope) Check() error {
	switch {
	case !m.HasRecipient:
		return &DecodeError{Message: "RemoteEnvelope", Field: 1, Reason: badRecipient}
	case !m.HasMessage:
		return &DecodeError{Message: "RemoteEnvelope", Field: 2, Reason: badNoMessage}
	case m.HasSender && len(m.Sender) == 0:
		return &DecodeError{Message: "RemoteEnvelope", Field: 4, Reason: badSender}
	}
	return nil
}

// AckAndEnvelopeContainer is the payload of a frame: an acknowledgement, an envelope, or both.
type AckAndEnvelopeContainer struct {
	Envelope    RemoteEnvelope
	Ack         AcknowledgementInfo
	HasAck      bool
	HasEnvelope bool
}

// Size is the number of bytes that Append adds.
func (m *AckAndEnvelopeContainer) Size() int {
	n := 0
	if m.HasAck {
		n += sizeMessage(m.Ack.Size())
	}
	if m.HasEnvelope {
		n += sizeMessage(m.Envelope.Size())
	}
	return n
}

// Append adds the message to dst. [Outbound] is the faster way to send one.
func (m *AckAndEnvelopeContainer) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	if m.HasAck {
		dst = m.Ack.Append(appendHead(dst, 1, m.Ack.Size()))
	}
	if m.HasEnvelope {
		dst = m.Envelope.Append(appendHead(dst, 2, m.Envelope.Size()))
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *AckAndEnvelopeContainer) Decode(b []byte) error {
	m.HasAck = false
	if m.Ack.CumulativeAck != 0 || len(m.Ack.Nacks) != 0 {
		m.Ack.reset()
	}
	if m.usual(b) {
		return nil
	}
	m.HasEnvelope = false
	m.Envelope = RemoteEnvelope{}
	return m.merge(b)
}

func (m *AckAndEnvelopeContainer) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasAck = true
			if err := m.Ack.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.HasEnvelope = true
			if err := m.Envelope.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("AckAndEnvelopeContainer")
}

// usual decodes the form in which nearly all messages come: an envelope only, its fields in order, a
// recipient and a message among them, each at most once. It sets all of the envelope, or reports false.
func (m *AckAndEnvelopeContainer) usual(b []byte) bool {
	env, rest, ok := cut(b, 2<<3|byte(blob))
	if !ok || len(rest) != 0 {
		return false
	}
	ref, env, ok := cut(env, 1<<3|byte(blob))
	if !ok {
		return false
	}
	to, rest, ok := cut(ref, 1<<3|byte(blob))
	if !ok || len(rest) != 0 {
		return false
	}
	msg, env, ok := cut(env, 2<<3|byte(blob))
	if !ok {
		return false
	}
	body, rest, ok := cut(msg, 1<<3|byte(blob))
	if ok {
		msg = rest
	}
	id := int32(0)
	if len(msg) > 1 && msg[0] == 2<<3|byte(vint) {
		v, n := uvarint(msg[1:])
		if n < 0 {
			return false
		}
		id, msg = int32(v), msg[1+n:]
	}
	manifest, rest, ok := cut(msg, 3<<3|byte(blob))
	if ok {
		msg = rest
	}
	if len(msg) != 0 {
		return false
	}
	var from []byte
	ref, rest, hasFrom := cut(env, 4<<3|byte(blob))
	if hasFrom {
		env = rest
		if from, rest, ok = cut(ref, 1<<3|byte(blob)); !ok || len(rest) != 0 {
			return false
		}
	}
	seq := uint64(0)
	if len(env) == 9 && env[0] == 5<<3|byte(fix64) {
		seq, env = binary.LittleEndian.Uint64(env[1:]), nil
	}
	if len(env) != 0 {
		return false
	}
	m.HasEnvelope = true
	e := &m.Envelope
	e.Recipient, e.HasRecipient = to, true
	e.Message.Message, e.Message.SerializerID, e.Message.Manifest, e.HasMessage = body, id, manifest, true
	e.Sender, e.HasSender = from, hasFrom
	e.Seq = seq
	return true
}

// cut takes one field off the front of b if it has this tag and is whole.
func cut(b []byte, tag byte) (body, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, nil, false
	}
	l, n := int(b[1]), 2
	if l >= 0x80 {
		v, w := protowire.ConsumeVarint(b[1:])
		if w < 0 || v > uint64(len(b)) {
			return nil, nil, false
		}
		l, n = int(v), 1+w
	}
	end := n + l
	if end > len(b) {
		return nil, nil, false
	}
	return b[n:end:end], b[end:], true
}

// sizeRef, appendRef and mergeRef are for an ActorRefData as a field.

func sizeRef(has bool, path []byte) int {
	if !has {
		return 0
	}
	return sizeMessage(sizeBytes(len(path)))
}

func appendRef(dst []byte, field byte, has bool, path []byte) []byte {
	if !has {
		return dst
	}
	return appendBytes(appendHead(dst, field, sizeBytes(len(path))), 1, path)
}

func mergeRef(path *[]byte, b []byte) error {
	m := ActorRefData{Path: *path}
	err := m.merge(b)
	*path = m.Path
	return err
}
