package akkapb

import "slices"

// Payload is a serialized message: its bytes, the id of the serializer and the manifest. A null message
// is a Payload with no fields.
type Payload struct {
	Message      []byte
	SerializerID int32
	Manifest     []byte
}

// Size is the number of bytes that Append adds.
func (m *Payload) Size() int {
	return sizeBytes(len(m.Message)) + sizeInt(m.SerializerID) + sizeBytes(len(m.Manifest))
}

// Append adds the message to dst.
func (m *Payload) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendBytes(dst, 1, m.Message)
	dst = appendInt(dst, 2, m.SerializerID)
	return appendBytes(dst, 3, m.Manifest)
}

// Decode reads the message from b, see the package comment.
func (m *Payload) Decode(b []byte) error {
	*m = Payload{}
	return m.merge(b)
}

func (m *Payload) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.Message = f.body
		case 2<<3 | vint:
			m.SerializerID = int32(f.num)
		case 3<<3 | blob:
			m.Manifest = f.body
		}
	}
	return f.err("Payload")
}

// sizePart and appendPart write a Payload as a field, where there is one.

func sizePart(has bool, m *Payload) int {
	if !has {
		return 0
	}
	return sizeMessage(m.Size())
}

func appendPart(dst []byte, field byte, has bool, m *Payload) []byte {
	if !has {
		return dst
	}
	return m.Append(appendHead(dst, field, m.Size()))
}
