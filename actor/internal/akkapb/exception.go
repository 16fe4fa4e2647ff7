package akkapb

import "slices"

// ExceptionData is a .NET exception. An empty type name is the null exception.
type ExceptionData struct {
	TypeName          []byte // qualified by its assembly
	Message           []byte
	StackTrace        []byte
	Source            []byte
	Inner             []byte // the bytes of another ExceptionData, see DecodeInner
	HasInner          bool   // must be set for .NET whenever there is a type name
	CustomFields      []CustomField
	TypeForwardedFrom []byte // assembly to look for the type in if it is not found
}

// CustomField is one more field of an exception. Where a name comes twice the last one counts, see
// [ExceptionData.Custom].
type CustomField struct {
	Name     []byte
	Value    Payload
	HasValue bool
}

func (m *CustomField) size() int {
	return sizeBytes(len(m.Name)) + sizePart(m.HasValue, &m.Value)
}

func (m *CustomField) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.Name = f.body
		case 2<<3 | blob:
			m.HasValue = true
			if err := m.Value.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("ExceptionData.CustomFieldsEntry")
}

// Size is the number of bytes that Append adds.
func (m *ExceptionData) Size() int {
	n := sizeBytes(len(m.TypeName)) + sizeBytes(len(m.Message)) + sizeBytes(len(m.StackTrace)) + sizeBytes(len(m.Source)) + sizeBytes(len(m.TypeForwardedFrom))
	if m.HasInner {
		n += sizeMessage(len(m.Inner))
	}
	for i := range m.CustomFields {
		n += sizeMessage(m.CustomFields[i].size())
	}
	return n
}

// Append adds the message to dst.
func (m *ExceptionData) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendBytes(dst, 1, m.TypeName)
	dst = appendBytes(dst, 2, m.Message)
	dst = appendBytes(dst, 3, m.StackTrace)
	dst = appendBytes(dst, 4, m.Source)
	if m.HasInner {
		dst = append(appendHead(dst, 5, len(m.Inner)), m.Inner...)
	}
	for i := range m.CustomFields {
		c := &m.CustomFields[i]
		dst = appendHead(dst, 6, c.size())
		dst = appendBytes(dst, 1, c.Name)
		dst = appendPart(dst, 2, c.HasValue, &c.Value)
	}
	return appendBytes(dst, 7, m.TypeForwardedFrom)
}

// Decode reads the message from b, see the package comment. It checks the inner exceptions too, which may
// be nested 100 levels deep, but does not keep what they hold.
func (m *ExceptionData) Decode(b []byte) error {
	m.reset()
	if err := m.merge(b); err != nil {
		return err
	}
	return m.checkInner()
}

// DecodeInner reads the inner exception into another one and reports whether there is one. An inner
// exception without a type name is none.
func (m *ExceptionData) DecodeInner(into *ExceptionData) (bool, error) {
	if !m.HasInner {
		return false, nil
	}
	err := into.Decode(m.Inner)
	return err == nil && len(into.TypeName) != 0, err
}

// Custom finds a custom field.
func (m *ExceptionData) Custom(name string) (*Payload, bool) {
	for i := len(m.CustomFields) - 1; i >= 0; i-- {
		if c := &m.CustomFields[i]; string(c.Name) == name {
			return &c.Value, true
		}
	}
	return nil, false
}

func (m *ExceptionData) reset() { *m = ExceptionData{CustomFields: m.CustomFields[:0]} }

func (m *ExceptionData) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.TypeName = f.body
		case 2<<3 | blob:
			m.Message = f.body
		case 3<<3 | blob:
			m.StackTrace = f.body
		case 4<<3 | blob:
			m.Source = f.body
		case 5<<3 | blob:
			m.HasInner = true
			m.Inner = joined(m.Inner, f.body)
		case 6<<3 | blob:
			m.CustomFields = append(m.CustomFields, CustomField{})
			if err := m.CustomFields[len(m.CustomFields)-1].merge(f.body); err != nil {
				return err
			}
		case 7<<3 | blob:
			m.TypeForwardedFrom = f.body
		}
	}
	return f.err("ExceptionData")
}

// checkInner walks down the inner exceptions, level by level, so that a malformed one is found where all
// else is.
func (m *ExceptionData) checkInner() error {
	inner := m.Inner
	for level := 1; len(inner) != 0; level++ {
		if level == maxNesting {
			return &DecodeError{Message: "ExceptionData", Field: 5, Reason: badNesting}
		}
		b := inner
		inner = nil
		f := fields{rest: b}
		for f.next() {
			switch f.tag {
			case 5<<3 | blob:
				inner = joined(inner, f.body)
			case 6<<3 | blob:
				var c CustomField
				if err := c.merge(f.body); err != nil {
					return err
				}
			}
		}
		if err := f.err("ExceptionData"); err != nil {
			return err
		}
	}
	return nil
}

// sizeCause and appendCause write an ExceptionData as a field, where there is one.

func sizeCause(has bool, m *ExceptionData) int {
	if !has {
		return 0
	}
	return sizeMessage(m.Size())
}

func appendCause(dst []byte, field byte, has bool, m *ExceptionData) []byte {
	if !has {
		return dst
	}
	return m.Append(appendHead(dst, field, m.Size()))
}
