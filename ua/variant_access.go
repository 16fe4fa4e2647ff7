package ua

import (
	"math"
	"unsafe"

	"github.com/actua/actua/ua/uabin"
)

// Type is the built-in type of the value or of the elements; TypeNull for a null Variant.
func (v Variant) Type() BuiltInType { return v.typ }

// IsNull reports whether there is no value: no type, or a null array, String, ByteString or
// XmlElement.
func (v Variant) IsNull() bool {
	switch {
	case v.typ == TypeNull:
		return true
	case v.shape == array:
		return v.ptr == nil
	case v.shape == multi:
		return false
	}
	switch v.typ {
	case TypeByteString:
		return v.ptr == nil
	case TypeString, TypeXMLElement:
		return v.isNullString()
	}
	return false
}

// IsArray reports whether the value is an array of one or more dimensions.
func (v Variant) IsArray() bool { return v.shape != scalar }

// Len is the number of elements of an array of any number of dimensions; 1 for a scalar, 0 for null.
func (v Variant) Len() int {
	switch {
	case v.typ == TypeNull:
		return 0
	case v.shape == array:
		return int(v.num)
	case v.shape == multi:
		return (*matrix)(v.ptr).n
	}
	return 1
}

// Dimensions are the lengths of the dimensions: nil for a scalar, one entry for an array.
func (v Variant) Dimensions() []uint32 {
	switch v.shape {
	case array:
		return []uint32{uint32(v.num)}
	case multi:
		return append([]uint32(nil), (*matrix)(v.ptr).dims...)
	}
	return nil
}

// elements is the memory of an array and its length.
func (v Variant) elements() (unsafe.Pointer, int) {
	if v.shape == multi {
		m := (*matrix)(v.ptr)
		return m.elems, m.n
	}
	return v.ptr, int(v.num)
}

func (v Variant) str() string {
	return unsafe.String((*byte)(v.ptr), int(v.num))
}

func (v Variant) bytes() []byte {
	if v.ptr == nil {
		return nil
	}
	return unsafe.Slice((*byte)(v.ptr), int(v.num))
}

// As returns a scalar as its Go type; false when the Variant is of another type or an array.
func As[T Element](v Variant) (T, bool) {
	var out T
	if v.shape != scalar || v.typ != typeOf[T]() {
		if p, ok := any(&out).(*Variant); ok {
			*p = v
			return out, true
		}
		return out, false
	}
	switch p := any(&out).(type) {
	case *bool:
		*p = v.num != 0
	case *int8:
		*p = int8(v.num)
	case *uint8:
		*p = uint8(v.num)
	case *int16:
		*p = int16(v.num)
	case *uint16:
		*p = uint16(v.num)
	case *int32:
		*p = int32(v.num)
	case *uint32:
		*p = uint32(v.num)
	case *int64:
		*p = int64(v.num)
	case *uint64:
		*p = v.num
	case *float32:
		*p = math.Float32frombits(uint32(v.num))
	case *float64:
		*p = math.Float64frombits(v.num)
	case *DateTime:
		*p = DateTime(v.num)
	case *StatusCode:
		*p = StatusCode(v.num)
	case *string:
		*p = v.str()
	case *XMLElement:
		*p = XMLElement(v.str())
	case *[]byte:
		*p = v.bytes()
	default:
		out = *(*T)(v.ptr)
	}
	return out, true
}

// ArrayOf returns the elements of an array as a slice that shares its memory: nil for a null array;
// false when the Variant is of another type or a scalar. Elements of an array of several dimensions
// stand in the order in which the last one varies fastest.
func ArrayOf[T Element](v Variant) ([]T, bool) {
	if v.shape == scalar || v.typ != typeOf[T]() {
		return nil, false
	}
	p, n := v.elements()
	if p == nil {
		return nil, true
	}
	return unsafe.Slice((*T)(p), n), true
}

// Bool is the value of a Boolean; false for any other type.
func (v Variant) Bool() bool { return v.shape == scalar && v.typ == TypeBoolean && v.num != 0 }

// Int is the value of a scalar of any integer type, StatusCode or Boolean (0 or 1); a Float or Double
// is cut to an integer; a UInt64 above the range wraps. 0 for other types.
func (v Variant) Int() int64 {
	if v.shape != scalar {
		return 0
	}
	switch v.typ {
	case TypeFloat:
		return int64(math.Float32frombits(uint32(v.num)))
	case TypeDouble:
		return int64(math.Float64frombits(v.num))
	case TypeBoolean, TypeSByte, TypeByte, TypeInt16, TypeUInt16, TypeInt32, TypeUInt32, TypeInt64,
		TypeUInt64, TypeStatusCode, TypeDateTime:
		return int64(v.num)
	}
	return 0
}

// Uint is Int as an unsigned number.
func (v Variant) Uint() uint64 { return uint64(v.Int()) }

// Float is the value of a scalar of any numeric type; 0 for other types.
func (v Variant) Float() float64 {
	if v.shape != scalar {
		return 0
	}
	switch v.typ {
	case TypeFloat:
		return float64(math.Float32frombits(uint32(v.num)))
	case TypeDouble:
		return math.Float64frombits(v.num)
	case TypeUInt64:
		return float64(v.num)
	}
	return float64(v.Int())
}

// Str is the value of a String or XmlElement, the text of a LocalizedText, the name of a
// QualifiedName; "" for other types. String renders any value.
func (v Variant) Str() string {
	if v.shape != scalar {
		return ""
	}
	switch v.typ {
	case TypeString, TypeXMLElement:
		return v.str()
	case TypeLocalizedText:
		return (*LocalizedText)(v.ptr).Text
	case TypeQualifiedName:
		return (*QualifiedName)(v.ptr).Name
	}
	return ""
}

// Bytes is the value of a ByteString, sharing its memory; nil for other types.
func (v Variant) Bytes() []byte {
	b, _ := As[[]byte](v)
	return b
}

// DateTime is the value of a DateTime; 0 for other types.
func (v Variant) DateTime() DateTime {
	d, _ := As[DateTime](v)
	return d
}

// NodeID is the value of a NodeId, or of an ExpandedNodeId that is local; null for other types.
func (v Variant) NodeID() NodeID {
	if n, ok := As[NodeID](v); ok {
		return n
	}
	if e, ok := As[ExpandedNodeID](v); ok && e.IsLocal() {
		return e.NodeID
	}
	return NodeID{}
}

// Structure is the decoded structure that the Variant holds; nil when it holds none, or one of a type
// that nobody registered.
func (v Variant) Structure() Structure {
	if e, ok := As[ExtensionObject](v); ok {
		return e.Value
	}
	return nil
}

// Any is the value as its Go type (see Element): a scalar, or a slice for an array; nil for null.
func (v Variant) Any() any {
	if v.typ == TypeNull || int(v.typ) >= len(codecs) {
		return nil
	}
	return codecs[v.typ].any(v)
}

// Index is element i of an array as a scalar; the null Variant when there is no such element.
func (v Variant) Index(i int) Variant {
	if v.shape == scalar || i < 0 || i >= v.Len() {
		return Variant{}
	}
	return codecs[v.typ].index(v, i)
}

func (v Variant) isNullString() bool { return uabin.IsNullString(v.str()) }

// SameShape reports whether both are scalars or null, or both arrays with the same dimensions. A null
// array has the shape of an empty one.
func (v Variant) SameShape(w Variant) bool {
	n := v.rank()
	if n != w.rank() {
		return false
	}
	for i := range n {
		if v.length(i) != w.length(i) {
			return false
		}
	}
	return true
}
