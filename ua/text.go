package ua

import "github.com/actua/actua/ua/uabin"

// XMLElement is a fragment of XML as text (Part 6, 5.2.2.8).
type XMLElement string

// QualifiedName is a name with the index of its namespace (Part 3, 8.3).
type QualifiedName struct {
	NamespaceIndex uint16
	Name           string
}

// IsNull reports whether the name is empty and has no namespace.
func (q QualifiedName) IsNull() bool { return q.NamespaceIndex == 0 && q.Name == "" }

// AppendBinary appends the index and the name (Part 6, 5.2.2.13).
func (q QualifiedName) AppendBinary(b []byte) []byte {
	return uabin.AppendString(uabin.AppendUint16(b, q.NamespaceIndex), q.Name)
}

// DecodeBinary reads a QualifiedName.
func (q *QualifiedName) DecodeBinary(r *uabin.Reader) {
	q.NamespaceIndex = r.Uint16()
	q.Name = r.String()
}

// LocalizedText is text for people with the locale it is written in (Part 3, 8.5).
type LocalizedText struct {
	Locale string // such as "en" or "de-CH"; "" for none
	Text   string
}

// Text is a LocalizedText without a locale.
func Text(text string) LocalizedText { return LocalizedText{Text: text} }

const (
	hasLocale = 1
	hasText   = 2
)

// present reports whether an optional string is written.
func present(s string) bool { return s != "" || uabin.IsEmptyString(s) }

// AppendBinary appends a mask and those of the two strings that are not null (Part 6, 5.2.2.14).
func (t LocalizedText) AppendBinary(b []byte) []byte {
	at := len(b)
	b = append(b, 0)
	if present(t.Locale) {
		b[at] |= hasLocale
		b = uabin.AppendString(b, t.Locale)
	}
	if present(t.Text) {
		b[at] |= hasText
		b = uabin.AppendString(b, t.Text)
	}
	return b
}

// DecodeBinary reads a LocalizedText.
func (t *LocalizedText) DecodeBinary(r *uabin.Reader) {
	mask := r.Uint8()
	*t = LocalizedText{}
	if mask&hasLocale != 0 {
		t.Locale = r.String()
	}
	if mask&hasText != 0 {
		t.Text = r.String()
	}
}

// DiagnosticInfo is a vendor's detail of an error (Part 4, 7.12). The strings are indexes into the
// string table of the response header. Mask says which fields are present; zero is none.
type DiagnosticInfo struct {
	Mask            DiagnosticMask
	SymbolicID      int32 // index of the symbol of the error
	NamespaceURI    int32 // index of the namespace of the symbol
	Locale          int32 // index of the locale of the text
	LocalizedText   int32 // index of the text
	AdditionalInfo  string
	InnerStatusCode StatusCode
	Inner           *DiagnosticInfo
}

// DiagnosticMask tells which fields of a DiagnosticInfo are present (Part 6, 5.2.2.12).
type DiagnosticMask uint8

// The bits of a DiagnosticMask.
const (
	DiagnosticSymbolicID DiagnosticMask = 1 << iota
	DiagnosticNamespaceURI
	DiagnosticLocalizedText
	DiagnosticLocale
	DiagnosticAdditionalInfo
	DiagnosticInnerStatusCode
	DiagnosticInner
)

// AppendBinary appends the mask and the fields that are present (Part 6, 5.2.2.12).
func (d *DiagnosticInfo) AppendBinary(b []byte) []byte {
	mask := d.Mask
	if d.Inner == nil {
		mask &^= DiagnosticInner
	}
	b = append(b, byte(mask))
	if mask&DiagnosticSymbolicID != 0 {
		b = uabin.AppendInt32(b, d.SymbolicID)
	}
	if mask&DiagnosticNamespaceURI != 0 {
		b = uabin.AppendInt32(b, d.NamespaceURI)
	}
	if mask&DiagnosticLocale != 0 {
		b = uabin.AppendInt32(b, d.Locale)
	}
	if mask&DiagnosticLocalizedText != 0 {
		b = uabin.AppendInt32(b, d.LocalizedText)
	}
	if mask&DiagnosticAdditionalInfo != 0 {
		b = uabin.AppendString(b, d.AdditionalInfo)
	}
	if mask&DiagnosticInnerStatusCode != 0 {
		b = uabin.AppendUint32(b, uint32(d.InnerStatusCode))
	}
	if mask&DiagnosticInner != 0 {
		b = d.Inner.AppendBinary(b)
	}
	return b
}

// DecodeBinary reads a DiagnosticInfo; nesting beyond the Reader's depth is an error.
func (d *DiagnosticInfo) DecodeBinary(r *uabin.Reader) {
	*d = DiagnosticInfo{}
	if !r.Enter() {
		return
	}
	defer r.Leave()
	d.Mask = DiagnosticMask(r.Uint8())
	if d.Mask&0x80 != 0 {
		r.Fail("DiagnosticInfo with an unknown bit in its mask")
		return
	}
	if d.Mask&DiagnosticSymbolicID != 0 {
		d.SymbolicID = r.Int32()
	}
	if d.Mask&DiagnosticNamespaceURI != 0 {
		d.NamespaceURI = r.Int32()
	}
	if d.Mask&DiagnosticLocale != 0 {
		d.Locale = r.Int32()
	}
	if d.Mask&DiagnosticLocalizedText != 0 {
		d.LocalizedText = r.Int32()
	}
	if d.Mask&DiagnosticAdditionalInfo != 0 {
		d.AdditionalInfo = r.String()
	}
	if d.Mask&DiagnosticInnerStatusCode != 0 {
		d.InnerStatusCode = StatusCode(r.Uint32())
	}
	if d.Mask&DiagnosticInner != 0 {
		if inner := uabin.Resize[DiagnosticInfo](r, nil, 1); len(inner) == 1 { // counted as memory
			d.Inner = &inner[0]
			d.Inner.DecodeBinary(r)
		}
	}
}
