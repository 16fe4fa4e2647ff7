package ua

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/actua/actua/ua/uabin"
)

// Bounds of what String shows of a value.
const (
	textElements = 32  // elements of an array
	textBytes    = 32  // bytes of a ByteString
	textDepth    = 16  // values within values
	textString   = 500 // bytes of a String
)

// String renders a value for people: 21.5, "text", [1, 2, 3], Range{Low: 0, High: 100}. Long arrays and
// byte strings are cut. AppendValue of JSONOptions gives a form that can be read back.
func (v Variant) String() string { return string(v.appendText(nil, textDepth)) }

func (v Variant) appendText(b []byte, depth int) []byte {
	if depth <= 0 {
		return append(b, "…"...)
	}
	switch {
	case v.IsNull():
		return append(b, "null"...)
	case v.shape == multi && v.Len() > 0:
		at := 0
		return v.appendNested(b, 0, &at, depth)
	case v.shape != scalar:
		return appendListText(b, v.Len(), func(b []byte, i int) []byte {
			return v.Index(i).appendText(b, depth-1)
		})
	}
	switch v.typ {
	case TypeBoolean:
		return strconv.AppendBool(b, v.num != 0)
	case TypeSByte, TypeInt16, TypeInt32, TypeInt64:
		return strconv.AppendInt(b, int64(v.num), 10)
	case TypeByte, TypeUInt16, TypeUInt32, TypeUInt64:
		return strconv.AppendUint(b, v.num, 10)
	case TypeFloat:
		return strconv.AppendFloat(b, float64(math.Float32frombits(uint32(v.num))), 'g', -1, 32)
	case TypeDouble:
		return strconv.AppendFloat(b, math.Float64frombits(v.num), 'g', -1, 64)
	case TypeString, TypeXMLElement:
		return appendQuoted(b, v.str())
	case TypeByteString:
		return appendBytesText(b, v.bytes())
	case TypeDateTime:
		return DateTime(v.num).appendText(b)
	case TypeGUID:
		return (*GUID)(v.ptr).appendText(b)
	case TypeNodeID:
		return (*NodeID)(v.ptr).appendText(b)
	case TypeExpandedNodeID:
		return (*ExpandedNodeID)(v.ptr).appendText(b)
	case TypeStatusCode:
		return append(b, StatusCode(v.num).String()...)
	case TypeQualifiedName:
		return append(b, (*QualifiedName)(v.ptr).String()...)
	case TypeLocalizedText:
		t := (*LocalizedText)(v.ptr)
		b = appendQuoted(b, t.Text)
		if t.Locale != "" {
			b = append(append(append(b, " ("...), t.Locale...), ')')
		}
		return b
	case TypeExtensionObject:
		return appendObjectText(b, (*ExtensionObject)(v.ptr), depth)
	case TypeDataValue:
		d := (*DataValue)(v.ptr)
		b = d.Value.appendText(b, depth-1)
		if d.Status != Good {
			b = append(append(append(b, " ("...), d.Status.String()...), ')')
		}
		return b
	case TypeDiagnosticInfo:
		o := JSONOptions{}
		return (&jsonWriter{JSONOptions: &o, plain: true}).diagnosticInfo(b, (*DiagnosticInfo)(v.ptr))
	}
	return append(b, '?')
}

func appendQuoted(b []byte, s string) []byte {
	if len(s) <= textString {
		return strconv.AppendQuote(b, s)
	}
	cut := strings.ToValidUTF8(s[:textString], "")
	return fmt.Appendf(strconv.AppendQuote(b, cut), "… (%d bytes)", len(s))
}

func appendBytesText(b, v []byte) []byte {
	b = append(b, "0x"...)
	if len(v) <= textBytes {
		return hex.AppendEncode(b, v)
	}
	return fmt.Appendf(hex.AppendEncode(b, v[:textBytes]), "… (%d bytes)", len(v))
}

// appendListText renders up to textElements of n elements.
func appendListText(b []byte, n int, f func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range min(n, textElements) {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = f(b, i)
	}
	if n > textElements {
		b = fmt.Appendf(b, ", … (%d elements)", n)
	}
	return append(b, ']')
}

func (v Variant) appendNested(b []byte, dim int, at *int, depth int) []byte {
	if depth <= 0 {
		return append(b, "…"...)
	}
	start := *at
	size := 1 // of an element of this dimension, in elements of the last
	for i := dim + 1; i < v.rank(); i++ {
		size *= v.length(i)
	}
	b = appendListText(b, v.length(dim), func(b []byte, i int) []byte {
		*at = start + i*size
		if dim+1 < v.rank() {
			return v.appendNested(b, dim+1, at, depth-1)
		}
		return v.Index(*at).appendText(b, depth-1)
	})
	return b
}

// appendObjectText renders a structure with the names of its fields, or what is known of it.
func appendObjectText(b []byte, e *ExtensionObject, depth int) []byte {
	if e.IsNull() {
		return append(b, "null"...)
	}
	if e.Value != nil {
		if info := describe(e.Value); info != nil {
			return appendFieldsText(b, fieldReader(e.Value.AppendBinary(nil), nil), info, depth)
		}
		return fmt.Appendf(b, "%v{%d bytes}", e.Value.DataTypeID(), len(e.Value.AppendBinary(nil)))
	}
	b = append(e.TypeID.appendText(b), '{')
	if e.Encoding == BodyXML {
		return append(appendQuoted(b, string(e.Body)), '}')
	}
	if e.Body != nil {
		b = appendBytesText(b, e.Body)
	}
	return append(b, '}')
}

func appendFieldsText(b []byte, r *uabin.Reader, info *StructureInfo, depth int) []byte {
	b = append(append(b, info.Name...), '{')
	n := 0
	info.each(info.readHead(r), func(f *Field, present bool) {
		if !present || !r.OK() {
			return
		}
		if n++; n > 1 {
			b = append(b, ", "...)
		}
		b = append(append(b, f.Name...), ": "...)
		b = appendFieldText(b, r, f, depth-1)
	})
	return append(b, '}')
}

func appendFieldText(b []byte, r *uabin.Reader, f *Field, depth int) []byte {
	one := func(b []byte) []byte {
		switch {
		case f.Struct != nil:
			if !r.Enter() {
				return append(b, "…"...)
			}
			defer r.Leave()
			if depth > 0 {
				return appendFieldsText(b, r, f.Struct, depth)
			}
			// The fields are read all the same, to come to those behind them.
			at := len(b)
			b = appendFieldsText(b, r, f.Struct, 0)
			return append(b[:at], "…"...)
		case f.Enum != nil:
			return append(b, f.Enum.text(readBuiltIn(r, f.Type).Int())...)
		}
		return readBuiltIn(r, f.Type).appendText(b, depth)
	}
	if !f.Array {
		return one(b)
	}
	n := r.ArrayLen(0)
	if n < 0 {
		return append(b, "null"...)
	}
	b = appendListText(b, n, func(b []byte, i int) []byte {
		if !r.OK() {
			return append(b, '?')
		}
		return one(b)
	})
	for i := textElements; i < n && r.OK(); i++ {
		at := len(b)
		b = one(b)[:at]
	}
	return b
}

// ParseVariant reads a value of the given type as people write it in a command: a number, true or
// false, a time of ISO 8601, a node id, a status code by name, the text of a String as it is, bytes as
// base64 or as hexadecimal digits behind 0x. Text in brackets is an array in JSON, text in braces a
// structure, LocalizedText or other object in JSON. The error tells what is allowed; it is
// BadTypeMismatch, BadOutOfRange for a number beyond the range of its type, or what the reader of the
// text form reports.
func ParseVariant(t BuiltInType, text string) (Variant, error) {
	if t > TypeDiagnosticInfo {
		return Variant{}, &textError{BadDataTypeIdUnknown, fmt.Sprintf("%v is no type of a value", t)}
	}
	trimmed := strings.TrimSpace(text)
	if v, done, err := parseJSONText(t, trimmed); done {
		return v, err
	}
	switch t {
	case TypeString:
		return String(text), nil
	case TypeXMLElement:
		return XMLElement(text).Variant(), nil
	case TypeLocalizedText:
		return Text(text).Variant(), nil
	}
	text = trimmed
	switch t {
	case TypeNull, TypeVariant:
		return new(JSONOptions).DecodeValue([]byte(text), TypeVariant, nil, -2)
	case TypeBoolean:
		switch strings.ToLower(text) {
		case "true", "1":
			return Boolean(true), nil
		case "false", "0":
			return Boolean(false), nil
		}
		return Variant{}, mistyped(t, text, "true or false")
	case TypeSByte, TypeByte, TypeInt16, TypeUInt16, TypeInt32, TypeUInt32, TypeInt64, TypeUInt64:
		return parseInteger(t, text)
	case TypeFloat, TypeDouble:
		return parseFloat(t, text)
	case TypeByteString:
		return parseBytes(text)
	case TypeDateTime:
		d, err := ParseDateTime(text)
		return d.Variant(), err
	case TypeGUID:
		g, err := ParseGUID(text)
		return g.Variant(), err
	case TypeNodeID:
		n, err := ParseNodeID(text)
		return n.Variant(), err
	case TypeExpandedNodeID:
		e, err := ParseExpandedNodeID(text)
		return e.Variant(), err
	case TypeStatusCode:
		s, err := ParseStatusCode(text)
		if err != nil {
			return Variant{}, mistyped(t, text, "the name or the number of a status code")
		}
		return s.Variant(), nil
	case TypeQualifiedName:
		q, err := ParseQualifiedName(text)
		return q.Variant(), err
	}
	return Variant{}, mistyped(t, text, "an object in JSON")
}

// parseJSONText reads what can only be meant as JSON; done tells that it was. For types whose values
// are free text, that is only what JSON can read.
func parseJSONText(t BuiltInType, text string) (v Variant, done bool, err error) {
	free := t == TypeString || t == TypeXMLElement || t == TypeLocalizedText || t == TypeQualifiedName
	switch {
	case strings.HasPrefix(text, "["):
	case strings.HasPrefix(text, "{") && t >= TypeNodeID:
	case text == "null" && !free && zeroOf(t).isNullValue():
		return zeroOf(t), true, nil
	default:
		return Variant{}, false, nil
	}
	v, err = new(JSONOptions).DecodeValue([]byte(text), t, nil, -2)
	if err != nil && free {
		return Variant{}, false, nil
	}
	return v, true, err
}

func mistyped(t BuiltInType, text, want string) error {
	return &textError{BadTypeMismatch, fmt.Sprintf("%.60q is no %v: %s is due", text, t, want)}
}

func parseInteger(t BuiltInType, text string) (Variant, error) {
	low, high := integerBounds(t)
	if n, ok := exactInteger(text, low, high); ok {
		return small(t, uint64(n)), nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil && strings.HasPrefix(text, "0") && n <= high {
		return small(t, n), nil // in hexadecimal, octal or binary digits
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && !math.IsInf(f, 0) {
		return Variant{}, &textError{BadOutOfRange, fmt.Sprintf("%.60s is out of range of %v: %d to %d", text, t, low, high)}
	}
	return Variant{}, mistyped(t, text, fmt.Sprintf("an integer from %d to %d", low, high))
}

func parseFloat(t BuiltInType, text string) (Variant, error) {
	bits, most := 64, math.MaxFloat64
	if t == TypeFloat {
		bits, most = 32, math.MaxFloat32
	}
	f, err := strconv.ParseFloat(text, bits)
	switch {
	case err != nil && math.IsInf(f, 0):
		return Variant{}, &textError{BadOutOfRange, fmt.Sprintf("%.60s is out of range of %v: %g to %g", text, t, -most, most)}
	case err != nil:
		return Variant{}, mistyped(t, text, "a number, NaN, Infinity or -Infinity")
	case t == TypeFloat:
		return Float(float32(f)), nil
	}
	return Double(f), nil
}

func parseBytes(text string) (Variant, error) {
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		if b, err := hex.DecodeString(digits); err == nil {
			return ByteString(b), nil
		}
	}
	b, err := decodeBase64(text)
	if err != nil {
		return Variant{}, mistyped(TypeByteString, text, "base64, or 0x and pairs of hexadecimal digits,")
	}
	return ByteString(b), nil
}

// String is the value for people, with its status unless that is Good, and its source time.
func (d DataValue) String() string {
	s := d.Value.String()
	if d.Status != Good {
		s += " " + d.Status.String()
	}
	if !d.SourceTimestamp.IsZero() {
		s += " " + d.SourceTimestamp.String()
	}
	return s
}
