package akkapb

import "slices"

// SelectionType is the kind of one step of a selection.
type SelectionType int32

// The kinds of steps.
const (
	SelectionNone         SelectionType = 0
	SelectionParent       SelectionType = 1
	SelectionChildName    SelectionType = 2
	SelectionChildPattern SelectionType = 3
)

// Selection is one step: to the parent, to a child by its name, or to children by a pattern.
type Selection struct {
	Type    SelectionType
	Matcher []byte
}

func (m *Selection) size() int { return sizeInt(int32(m.Type)) + sizeBytes(len(m.Matcher)) }

func (m *Selection) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | vint:
			m.Type = SelectionType(f.num)
		case 2<<3 | blob:
			m.Matcher = f.body
		}
	}
	return f.err("Selection")
}

// SelectionEnvelope (serializer 6) is a message to what the steps lead to, from the recipient on.
type SelectionEnvelope struct {
	Payload    Payload
	Pattern    []Selection
	HasPayload bool
}

// Size is the number of bytes that Append adds.
func (m *SelectionEnvelope) Size() int { return sizePart(m.HasPayload, &m.Payload) + m.PatternSize() }

// PatternSize is the number of bytes that AppendPattern adds.
func (m *SelectionEnvelope) PatternSize() (n int) {
	for i := range m.Pattern {
		n += sizeMessage(m.Pattern[i].size())
	}
	return n
}

// Append adds the message to dst.
func (m *SelectionEnvelope) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	return m.AppendPattern(appendPart(dst, 1, m.HasPayload, &m.Payload))
}

// AppendPattern adds the steps only: what stands behind a payload that was written with [BeginField].
func (m *SelectionEnvelope) AppendPattern(dst []byte) []byte {
	for i := range m.Pattern {
		s := &m.Pattern[i]
		dst = appendHead(dst, 2, s.size())
		dst = appendInt(dst, 1, int32(s.Type))
		dst = appendBytes(dst, 2, s.Matcher)
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *SelectionEnvelope) Decode(b []byte) error {
	*m = SelectionEnvelope{Pattern: m.Pattern[:0]}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasPayload = true
			if err := m.Payload.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.Pattern = append(m.Pattern, Selection{})
			if err := m.Pattern[len(m.Pattern)-1].merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("SelectionEnvelope")
}
