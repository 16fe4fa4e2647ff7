package ua

import (
	"math"
	"unsafe"

	"github.com/actua/actua/ua/uabin"
)

// BuiltInType is one of the 25 types that a Variant can hold, or TypeNull (Part 6, 5.1.2).
type BuiltInType uint8

// The built-in types with their numbers on the wire (Part 6, 5.1.2).
const (
	TypeNull BuiltInType = iota
	TypeBoolean
	TypeSByte
	TypeByte
	TypeInt16
	TypeUInt16
	TypeInt32
	TypeUInt32
	TypeInt64
	TypeUInt64
	TypeFloat
	TypeDouble
	TypeString
	TypeDateTime
	TypeGUID
	TypeByteString
	TypeXMLElement
	TypeNodeID
	TypeExpandedNodeID
	TypeStatusCode
	TypeQualifiedName
	TypeLocalizedText
	TypeExtensionObject
	TypeDataValue
	TypeVariant
	TypeDiagnosticInfo
)

// Variant is a value of any built-in type: a scalar, an array, or an array of several dimensions
// (Part 6, 5.1.9). The zero value is null. Scalars of fixed size and strings are held without a heap
// allocation. A Variant is a value: it may be copied and kept, and what it holds must not be changed.
type Variant struct {
	ptr   unsafe.Pointer // string data, first element, *matrix, or the value of a large scalar
	num   uint64         // value of a small scalar, length of a string or array
	typ   BuiltInType
	shape shape
}

type shape uint8

const (
	scalar shape = iota
	array
	multi // an array with ArrayDimensions: ptr is a *matrix
)

type matrix struct {
	dims  []uint32
	elems unsafe.Pointer
	n     int
}

// Element lists the Go types of the built-in types. A []byte is a ByteString; a uint8 is a Byte.
type Element interface {
	bool | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64 |
		string | DateTime | GUID | []byte | XMLElement | NodeID | ExpandedNodeID | StatusCode |
		QualifiedName | LocalizedText | ExtensionObject | DataValue | Variant | DiagnosticInfo
}

// typeOf is the built-in type that T stands for.
func typeOf[T Element]() BuiltInType {
	switch any((*T)(nil)).(type) {
	case *bool:
		return TypeBoolean
	case *int8:
		return TypeSByte
	case *uint8:
		return TypeByte
	case *int16:
		return TypeInt16
	case *uint16:
		return TypeUInt16
	case *int32:
		return TypeInt32
	case *uint32:
		return TypeUInt32
	case *int64:
		return TypeInt64
	case *uint64:
		return TypeUInt64
	case *float32:
		return TypeFloat
	case *float64:
		return TypeDouble
	case *string:
		return TypeString
	case *DateTime:
		return TypeDateTime
	case *GUID:
		return TypeGUID
	case *[]byte:
		return TypeByteString
	case *XMLElement:
		return TypeXMLElement
	case *NodeID:
		return TypeNodeID
	case *ExpandedNodeID:
		return TypeExpandedNodeID
	case *StatusCode:
		return TypeStatusCode
	case *QualifiedName:
		return TypeQualifiedName
	case *LocalizedText:
		return TypeLocalizedText
	case *ExtensionObject:
		return TypeExtensionObject
	case *DataValue:
		return TypeDataValue
	case *Variant:
		return TypeVariant
	case *DiagnosticInfo:
		return TypeDiagnosticInfo
	}
	return TypeNull
}

func small(t BuiltInType, n uint64) Variant { return Variant{typ: t, num: n} }

func boxed[T Element](v T) Variant { return Variant{typ: typeOf[T](), ptr: unsafe.Pointer(&v)} }

// Boolean returns a Variant of type Boolean.
func Boolean(v bool) Variant {
	if v {
		return small(TypeBoolean, 1)
	}
	return small(TypeBoolean, 0)
}

// SByte returns a Variant of type SByte.
func SByte(v int8) Variant { return small(TypeSByte, uint64(int64(v))) }

// Byte returns a Variant of type Byte.
func Byte(v uint8) Variant { return small(TypeByte, uint64(v)) }

// Int16 returns a Variant of type Int16.
func Int16(v int16) Variant { return small(TypeInt16, uint64(int64(v))) }

// UInt16 returns a Variant of type UInt16.
func UInt16(v uint16) Variant { return small(TypeUInt16, uint64(v)) }

// Int32 returns a Variant of type Int32.
func Int32(v int32) Variant { return small(TypeInt32, uint64(int64(v))) }

// UInt32 returns a Variant of type UInt32.
func UInt32(v uint32) Variant { return small(TypeUInt32, uint64(v)) }

// Int64 returns a Variant of type Int64.
func Int64(v int64) Variant { return small(TypeInt64, uint64(v)) }

// UInt64 returns a Variant of type UInt64.
func UInt64(v uint64) Variant { return small(TypeUInt64, v) }

// Float returns a Variant of type Float.
func Float(v float32) Variant { return small(TypeFloat, uint64(math.Float32bits(v))) }

// Double returns a Variant of type Double.
func Double(v float64) Variant { return small(TypeDouble, math.Float64bits(v)) }

// String returns a Variant of type String; "" is the empty string, uabin.NullString a null one.
func String(v string) Variant {
	return Variant{typ: TypeString, ptr: unsafe.Pointer(unsafe.StringData(v)), num: uint64(len(v))}
}

// ByteString returns a Variant of type ByteString that holds v itself; nil is a null one.
func ByteString(v []byte) Variant {
	return Variant{typ: TypeByteString, ptr: unsafe.Pointer(unsafe.SliceData(v)), num: uint64(len(v))}
}

// Variant returns d as a Variant of type DateTime.
func (d DateTime) Variant() Variant { return small(TypeDateTime, uint64(d)) }

// Variant returns s as a Variant of type StatusCode.
func (s StatusCode) Variant() Variant { return small(TypeStatusCode, uint64(s)) }

// Variant returns x as a Variant of type XmlElement.
func (x XMLElement) Variant() Variant {
	v := String(string(x))
	v.typ = TypeXMLElement
	return v
}

// Variant returns g as a Variant of type Guid.
func (g GUID) Variant() Variant { return boxed(g) }

// Variant returns n as a Variant of type NodeId.
func (n NodeID) Variant() Variant { return boxed(n) }

// Variant returns e as a Variant of type ExpandedNodeId.
func (e ExpandedNodeID) Variant() Variant { return boxed(e) }

// Variant returns q as a Variant of type QualifiedName.
func (q QualifiedName) Variant() Variant { return boxed(q) }

// Variant returns t as a Variant of type LocalizedText.
func (t LocalizedText) Variant() Variant { return boxed(t) }

// Variant returns e as a Variant of type ExtensionObject, that is, as a structure.
func (e ExtensionObject) Variant() Variant { return boxed(e) }

// Variant returns d as a Variant of type DataValue.
func (d DataValue) Variant() Variant { return boxed(d) }

// Variant returns d as a Variant of type DiagnosticInfo.
func (d DiagnosticInfo) Variant() Variant { return boxed(d) }

// Scalar returns a Variant that holds v. A Variant in a Variant exists only in arrays (Part 6,
// 5.1.9): Scalar of a Variant is that Variant.
func Scalar[T Element](v T) Variant {
	switch x := any(v).(type) {
	case bool:
		return Boolean(x)
	case int8:
		return SByte(x)
	case uint8:
		return Byte(x)
	case int16:
		return Int16(x)
	case uint16:
		return UInt16(x)
	case int32:
		return Int32(x)
	case uint32:
		return UInt32(x)
	case int64:
		return Int64(x)
	case uint64:
		return UInt64(x)
	case float32:
		return Float(x)
	case float64:
		return Double(x)
	case string:
		return String(x)
	case []byte:
		return ByteString(x)
	case DateTime:
		return x.Variant()
	case StatusCode:
		return x.Variant()
	case XMLElement:
		return x.Variant()
	case Variant:
		return x
	}
	return boxed(v)
}

// Array returns a Variant that holds the slice itself, without a copy; nil is a null array.
func Array[T Element](v []T) Variant {
	return Variant{typ: typeOf[T](), shape: array, ptr: unsafe.Pointer(unsafe.SliceData(v)), num: uint64(len(v))}
}

// Matrix returns an array of several dimensions. The elements stand in the order in which the last
// dimension varies fastest (Part 6, 5.2.2.16). It returns BadDecodingError when the product of the
// dimensions is not the number of elements, or a dimension is zero.
func Matrix[T Element](v []T, dims ...uint32) (Variant, error) {
	if !dimsFit(dims, len(v)) {
		return Variant{}, BadDecodingError
	}
	return newMatrix(Array(v), dims), nil
}

func newMatrix(a Variant, dims []uint32) Variant {
	m := &matrix{dims: dims, elems: a.ptr, n: int(a.num)}
	return Variant{typ: a.typ, shape: multi, ptr: unsafe.Pointer(m)}
}

// dimsFit reports whether the dimensions are all positive and their product is n.
func dimsFit(dims []uint32, n int) bool {
	product := uint64(1)
	for _, d := range dims {
		if d == 0 || d > math.MaxInt32 {
			return false
		}
		if product *= uint64(d); product > uint64(n) {
			return false
		}
	}
	return len(dims) > 0 && product == uint64(n)
}

// Null returns a null of a type whose scalars can be null on the wire: a String, ByteString or
// XmlElement; for other types, and for TypeNull, the null Variant.
func Null(t BuiltInType) Variant {
	switch t {
	case TypeString:
		return String(uabin.NullString)
	case TypeByteString:
		return ByteString(nil)
	case TypeXMLElement:
		return XMLElement(uabin.NullString).Variant()
	}
	return Variant{}
}

// NewVariant returns a Variant for a Go value: any type of Element, a slice of those, a Structure, an
// int (as Int64), or a Variant. Other values give BadTypeMismatch.
func NewVariant(v any) (Variant, error) {
	switch x := v.(type) {
	case nil:
		return Variant{}, nil
	case Variant:
		return x, nil
	case int:
		return Int64(int64(x)), nil
	case []byte: // also what is meant as an array of Byte: Array makes that
		return ByteString(x), nil
	case Structure:
		return ExtensionObject{Value: x}.Variant(), nil
	case []int:
		a := make([]int64, len(x))
		for i, n := range x {
			a[i] = int64(n)
		}
		return Array(a), nil
	}
	for _, f := range converters {
		if r, ok := f(v); ok {
			return r, nil
		}
	}
	return Variant{}, BadTypeMismatch
}

// converters try the Go types of the built-in types one by one.
var converters = []func(any) (Variant, bool){
	convert[bool], convert[int8], convert[uint8], convert[int16], convert[uint16], convert[int32],
	convert[uint32], convert[int64], convert[uint64], convert[float32], convert[float64],
	convert[string], convert[DateTime], convert[GUID], convert[[]byte], convert[XMLElement],
	convert[NodeID], convert[ExpandedNodeID], convert[StatusCode], convert[QualifiedName],
	convert[LocalizedText], convert[ExtensionObject], convert[DataValue], convert[DiagnosticInfo],
	convert[Variant],
}

func convert[T Element](v any) (Variant, bool) {
	switch x := v.(type) {
	case T:
		return Scalar(x), true
	case []T:
		return Array(x), true
	}
	return Variant{}, false
}
