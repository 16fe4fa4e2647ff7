package filter

import (
	"bytes"
	"slices"
	"sync"

	"github.com/actua/actua/ua"
)

// Equal reports whether two values are the same to a client that waits for changes: of the same type,
// shape and content. Null and empty arrays, Strings, ByteStrings and XmlElements of one type are the
// same (Part 4, 7.10), every NaN is the same as every other, and zero has no sign. Structures are
// compared by their encoded form. Scalars and arrays of all types are compared without allocation.
func Equal(a, b ua.Variant) bool {
	if a == b {
		return true // the same number, or the same memory, which nobody changes
	}
	t := a.Type()
	if t != b.Type() {
		return false
	}
	if a.IsArray() || b.IsArray() {
		return a.SameShape(b) && equalArrays(t, a, b)
	}
	switch t {
	case ua.TypeFloat, ua.TypeDouble:
		return equalFloats(a.Float(), b.Float())
	case ua.TypeString, ua.TypeXMLElement:
		return a.Str() == b.Str()
	case ua.TypeByteString:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case ua.TypeGUID:
		return equalScalars[ua.GUID](a, b)
	case ua.TypeNodeID:
		return equalScalars[ua.NodeID](a, b)
	case ua.TypeExpandedNodeID:
		return equalScalars[ua.ExpandedNodeID](a, b)
	case ua.TypeQualifiedName:
		return equalScalars[ua.QualifiedName](a, b)
	case ua.TypeLocalizedText:
		return equalScalars[ua.LocalizedText](a, b)
	case ua.TypeExtensionObject:
		x, _ := ua.As[ua.ExtensionObject](a)
		y, _ := ua.As[ua.ExtensionObject](b)
		return equalObjects(x, y)
	case ua.TypeDataValue:
		x, _ := ua.As[ua.DataValue](a)
		y, _ := ua.As[ua.DataValue](b)
		return equalDataValues(x, y)
	case ua.TypeDiagnosticInfo:
		x, _ := ua.As[ua.DiagnosticInfo](a)
		y, _ := ua.As[ua.DiagnosticInfo](b)
		return equalDiagnostics(x, y)
	}
	return false // the other types are numbers, which differ
}

func equalFloats[T float32 | float64](x, y T) bool { return x == y || x != x && y != y }

func equalScalars[T interface {
	comparable
	ua.Element
}](a, b ua.Variant) bool {
	x, _ := ua.As[T](a)
	y, _ := ua.As[T](b)
	return x == y
}

// equalArrays compares two arrays of the same type and dimensions.
func equalArrays(t ua.BuiltInType, a, b ua.Variant) bool {
	switch t {
	case ua.TypeBoolean:
		return equalElements[bool](a, b)
	case ua.TypeSByte:
		return equalElements[int8](a, b)
	case ua.TypeByte:
		return equalElements[uint8](a, b)
	case ua.TypeInt16:
		return equalElements[int16](a, b)
	case ua.TypeUInt16:
		return equalElements[uint16](a, b)
	case ua.TypeInt32:
		return equalElements[int32](a, b)
	case ua.TypeUInt32:
		return equalElements[uint32](a, b)
	case ua.TypeInt64:
		return equalElements[int64](a, b)
	case ua.TypeUInt64:
		return equalElements[uint64](a, b)
	case ua.TypeFloat:
		return equalBy(a, b, equalFloats[float32])
	case ua.TypeDouble:
		return equalBy(a, b, equalFloats[float64])
	case ua.TypeString:
		return equalElements[string](a, b)
	case ua.TypeDateTime:
		return equalElements[ua.DateTime](a, b)
	case ua.TypeGUID:
		return equalElements[ua.GUID](a, b)
	case ua.TypeByteString:
		return equalBy(a, b, bytes.Equal)
	case ua.TypeXMLElement:
		return equalElements[ua.XMLElement](a, b)
	case ua.TypeNodeID:
		return equalElements[ua.NodeID](a, b)
	case ua.TypeExpandedNodeID:
		return equalElements[ua.ExpandedNodeID](a, b)
	case ua.TypeStatusCode:
		return equalElements[ua.StatusCode](a, b)
	case ua.TypeQualifiedName:
		return equalElements[ua.QualifiedName](a, b)
	case ua.TypeLocalizedText:
		return equalElements[ua.LocalizedText](a, b)
	case ua.TypeExtensionObject:
		return equalBy(a, b, equalObjects)
	case ua.TypeDataValue:
		return equalBy(a, b, equalDataValues)
	case ua.TypeVariant:
		return equalBy(a, b, Equal)
	case ua.TypeDiagnosticInfo:
		return equalBy(a, b, equalDiagnostics)
	}
	return false
}

func equalElements[T interface {
	comparable
	ua.Element
}](a, b ua.Variant) bool {
	x, _ := ua.ArrayOf[T](a)
	y, _ := ua.ArrayOf[T](b)
	return slices.Equal(x, y)
}

func equalBy[T ua.Element](a, b ua.Variant, equal func(x, y T) bool) bool {
	x, _ := ua.ArrayOf[T](a)
	y, _ := ua.ArrayOf[T](b)
	return slices.EqualFunc(x, y, equal)
}

// equalDataValues ignores picoseconds without their time, which count as absent.
func equalDataValues(x, y ua.DataValue) bool {
	return x.Status == y.Status && x.SourceTimestamp == y.SourceTimestamp && x.ServerTimestamp == y.ServerTimestamp &&
		(x.SourcePicoseconds == y.SourcePicoseconds || x.SourceTimestamp == 0) &&
		(x.ServerPicoseconds == y.ServerPicoseconds || x.ServerTimestamp == 0) && Equal(x.Value, y.Value)
}

// encodings is memory for two encoded forms, with copies of the values: what a structure's append
// function is given would otherwise be allocated for each comparison.
type encodings[T any] struct {
	x, y T
	p, q []byte
}

// Buffers above this size are not kept.
const keptEncoding = 64 << 10

var (
	objects     = sync.Pool{New: func() any { return new(encodings[ua.ExtensionObject]) }}
	diagnostics = sync.Pool{New: func() any { return new(encodings[ua.DiagnosticInfo]) }}
)

// equalObjects finds structures different of which one panics when it is encoded, such as a nil pointer: values
// are compared with locks held.
func equalObjects(x, y ua.ExtensionObject) (same bool) {
	defer func() { _ = recover() }()
	return equalEncoded(&objects, x, y, (*ua.ExtensionObject).AppendBinary)
}

func equalDiagnostics(x, y ua.DiagnosticInfo) bool {
	return equalEncoded(&diagnostics, x, y, (*ua.DiagnosticInfo).AppendBinary)
}

// equalEncoded compares the encoded forms.
func equalEncoded[T any](pool *sync.Pool, x, y T, put func(*T, []byte) []byte) bool {
	e := pool.Get().(*encodings[T])
	e.x, e.y = x, y
	e.p, e.q = put(&e.x, e.p[:0]), put(&e.y, e.q[:0])
	same := bytes.Equal(e.p, e.q)
	var none T
	e.x, e.y = none, none
	if cap(e.p)+cap(e.q) <= keptEncoding {
		pool.Put(e)
	}
	return same
}
