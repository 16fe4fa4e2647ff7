package ua

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/actua/actua/ua/uabin"
)

// codec holds what differs between the built-in types.
type codec struct {
	size   int // least bytes of an element on the wire
	append func(b []byte, p unsafe.Pointer, n int) []byte
	// decode reads n elements of a new array. When it fails there may be fewer: nobody may look.
	decode func(r *uabin.Reader, n int) unsafe.Pointer
	index  func(v Variant, i int) Variant
	any    func(v Variant) any
	equal  func(a, b Variant) bool // of arrays of the same length
	stride uintptr                 // bytes of an element in memory
	alloc  func(n int) unsafe.Pointer
	move   func(dst, src unsafe.Pointer, at, from, n int)
	set    func(p unsafe.Pointer, i int, v Variant) // element i of an array in the making
}

// codecOf builds the codec of T from the functions for one element.
func codecOf[T Element](size int, put func([]byte, *T) []byte, get func(*uabin.Reader, *T)) codec {
	return codec{
		size:   size,
		stride: unsafe.Sizeof(*new(T)),
		append: func(b []byte, p unsafe.Pointer, n int) []byte {
			s := unsafe.Slice((*T)(p), n)
			for i := range s {
				b = put(b, &s[i])
			}
			return b
		},
		decode: func(r *uabin.Reader, n int) unsafe.Pointer {
			s := uabin.Resize[T](r, nil, n)
			for i := range s {
				if get(r, &s[i]); !r.OK() {
					break
				}
			}
			return unsafe.Pointer(unsafe.SliceData(s))
		},
		index: func(v Variant, i int) Variant {
			s, _ := ArrayOf[T](v)
			return Scalar(s[i])
		},
		any: func(v Variant) any {
			if v.shape == scalar {
				x, _ := As[T](v)
				return x
			}
			s, _ := ArrayOf[T](v)
			return s
		},
		equal: func(a, b Variant) bool {
			x, _ := ArrayOf[T](a)
			y, _ := ArrayOf[T](b)
			var p, q []byte
			for i := range x {
				p, q = put(p[:0], &x[i]), put(q[:0], &y[i])
				if !bytes.Equal(p, q) {
					return false
				}
			}
			return true
		},
		alloc: func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]T, n))) },
		move: func(dst, src unsafe.Pointer, at, from, n int) {
			copy(unsafe.Slice((*T)(dst), at+n)[at:], unsafe.Slice((*T)(src), from+n)[from:])
		},
		set: func(p unsafe.Pointer, i int, v Variant) {
			x, _ := As[T](v)
			unsafe.Slice((*T)(p), i+1)[i] = x
		},
	}
}

// codecs has the codec of each built-in type. It is filled by init since a Variant contains Variants.
var codecs [TypeDiagnosticInfo + 1]codec

func init() {
	codecs = [...]codec{
		TypeBoolean: codecOf(1, func(b []byte, v *bool) []byte { return uabin.AppendBool(b, *v) },
			func(r *uabin.Reader, v *bool) { *v = r.Bool() }),
		TypeSByte: codecOf(1, func(b []byte, v *int8) []byte { return append(b, byte(*v)) },
			func(r *uabin.Reader, v *int8) { *v = r.Int8() }),
		TypeByte: codecOf(1, func(b []byte, v *uint8) []byte { return append(b, *v) },
			func(r *uabin.Reader, v *uint8) { *v = r.Uint8() }),
		TypeInt16: codecOf(2, func(b []byte, v *int16) []byte { return uabin.AppendInt16(b, *v) },
			func(r *uabin.Reader, v *int16) { *v = r.Int16() }),
		TypeUInt16: codecOf(2, func(b []byte, v *uint16) []byte { return uabin.AppendUint16(b, *v) },
			func(r *uabin.Reader, v *uint16) { *v = r.Uint16() }),
		TypeInt32: codecOf(4, func(b []byte, v *int32) []byte { return uabin.AppendInt32(b, *v) },
			func(r *uabin.Reader, v *int32) { *v = r.Int32() }),
		TypeUInt32: codecOf(4, func(b []byte, v *uint32) []byte { return uabin.AppendUint32(b, *v) },
			func(r *uabin.Reader, v *uint32) { *v = r.Uint32() }),
		TypeInt64: codecOf(8, func(b []byte, v *int64) []byte { return uabin.AppendInt64(b, *v) },
			func(r *uabin.Reader, v *int64) { *v = r.Int64() }),
		TypeUInt64: codecOf(8, func(b []byte, v *uint64) []byte { return uabin.AppendUint64(b, *v) },
			func(r *uabin.Reader, v *uint64) { *v = r.Uint64() }),
		TypeFloat: codecOf(4, func(b []byte, v *float32) []byte { return uabin.AppendFloat32(b, *v) },
			func(r *uabin.Reader, v *float32) { *v = r.Float32() }),
		TypeDouble: codecOf(8, func(b []byte, v *float64) []byte { return uabin.AppendFloat64(b, *v) },
			func(r *uabin.Reader, v *float64) { *v = r.Float64() }),
		TypeString: codecOf(4, func(b []byte, v *string) []byte { return uabin.AppendStringValue(b, *v) },
			func(r *uabin.Reader, v *string) { *v = r.String() }),
		TypeDateTime: codecOf(8, func(b []byte, v *DateTime) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *DateTime) { v.DecodeBinary(r) }),
		TypeGUID: codecOf(16, func(b []byte, v *GUID) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *GUID) { v.DecodeBinary(r) }),
		TypeByteString: codecOf(4, func(b []byte, v *[]byte) []byte { return uabin.AppendBytes(b, *v) },
			func(r *uabin.Reader, v *[]byte) { *v = r.Bytes(nil) }),
		TypeXMLElement: codecOf(4, func(b []byte, v *XMLElement) []byte { return uabin.AppendStringValue(b, string(*v)) },
			func(r *uabin.Reader, v *XMLElement) { *v = XMLElement(r.String()) }),
		TypeNodeID: codecOf(2, func(b []byte, v *NodeID) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *NodeID) { v.DecodeBinary(r) }),
		TypeExpandedNodeID: codecOf(2, func(b []byte, v *ExpandedNodeID) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *ExpandedNodeID) { v.DecodeBinary(r) }),
		TypeStatusCode: codecOf(4, func(b []byte, v *StatusCode) []byte { return uabin.AppendUint32(b, uint32(*v)) },
			func(r *uabin.Reader, v *StatusCode) { *v = StatusCode(r.Uint32()) }),
		TypeQualifiedName: codecOf(6, func(b []byte, v *QualifiedName) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *QualifiedName) { v.DecodeBinary(r) }),
		TypeLocalizedText: codecOf(1, func(b []byte, v *LocalizedText) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *LocalizedText) { v.DecodeBinary(r) }),
		TypeExtensionObject: codecOf(3, func(b []byte, v *ExtensionObject) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *ExtensionObject) { v.DecodeBinary(r) }),
		TypeDataValue: codecOf(1, func(b []byte, v *DataValue) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *DataValue) { v.DecodeBinary(r) }),
		TypeVariant: codecOf(1, func(b []byte, v *Variant) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *Variant) { v.DecodeBinary(r) }),
		TypeDiagnosticInfo: codecOf(1, func(b []byte, v *DiagnosticInfo) []byte { return v.AppendBinary(b) },
			func(r *uabin.Reader, v *DiagnosticInfo) { v.DecodeBinary(r) }),
	}
}

const (
	variantArray = 0x80
	variantDims  = 0x40
)

// AppendBinary appends the type, the shape and the value (Part 6, 5.2.2.16).
func (v *Variant) AppendBinary(b []byte) []byte {
	switch v.shape {
	case array:
		b = append(b, byte(v.typ)|variantArray)
		b = uabin.AppendLen(b, int(v.num), v.ptr == nil)
		return codecs[v.typ].append(b, v.ptr, int(v.num))
	case multi:
		m := (*matrix)(v.ptr)
		b = append(b, byte(v.typ)|variantArray|variantDims)
		b = uabin.AppendInt32(b, int32(m.n))
		b = codecs[v.typ].append(b, m.elems, m.n)
		b = uabin.AppendInt32(b, int32(len(m.dims)))
		for _, d := range m.dims {
			b = uabin.AppendUint32(b, d)
		}
		return b
	}
	b = append(b, byte(v.typ))
	switch v.typ {
	case TypeNull:
		return b
	case TypeBoolean, TypeSByte, TypeByte:
		return append(b, byte(v.num))
	case TypeInt16, TypeUInt16:
		return uabin.AppendUint16(b, uint16(v.num))
	case TypeInt32, TypeUInt32, TypeStatusCode:
		return uabin.AppendUint32(b, uint32(v.num))
	case TypeInt64, TypeUInt64:
		return uabin.AppendUint64(b, v.num)
	case TypeFloat:
		return uabin.AppendFloat32(b, math.Float32frombits(uint32(v.num)))
	case TypeDouble:
		return uabin.AppendFloat64(b, math.Float64frombits(v.num))
	case TypeDateTime:
		return DateTime(v.num).AppendBinary(b)
	case TypeString, TypeXMLElement:
		return uabin.AppendStringValue(b, v.str())
	case TypeByteString:
		return uabin.AppendBytes(b, v.bytes())
	}
	return codecs[v.typ].append(b, v.ptr, 1)
}

// numberSize is the number of bytes on the wire of the built-in types that are numbers of a fixed
// size and fit the num of a Variant; 0 for all others.
var numberSize = [TypeDiagnosticInfo + 1]uint8{
	TypeBoolean: 1, TypeSByte: 1, TypeByte: 1, TypeInt16: 2, TypeUInt16: 2, TypeInt32: 4, TypeUInt32: 4,
	TypeInt64: 8, TypeUInt64: 8, TypeFloat: 4, TypeDouble: 8, TypeDateTime: 8, TypeStatusCode: 4,
}

// number is the num of a Variant for the bytes that it has on the wire, the first one lowest; those
// behind it are ignored.
func number(t BuiltInType, wire uint64) uint64 {
	switch t {
	case TypeDouble, TypeInt64, TypeUInt64:
		return wire
	case TypeFloat, TypeUInt32, TypeStatusCode:
		return uint64(uint32(wire))
	case TypeInt32:
		return uint64(int64(int32(wire)))
	case TypeInt16:
		return uint64(int64(int16(wire)))
	case TypeUInt16:
		return uint64(uint16(wire))
	case TypeSByte:
		return uint64(int64(int8(wire)))
	case TypeByte:
		return uint64(uint8(wire))
	case TypeDateTime:
		return uint64(clamped(wire))
	}
	if uint8(wire) != 0 { // a Boolean
		return 1
	}
	return 0
}

// DecodeBinary reads a Variant. Dimensions that do not fit the number of elements, unknown types, a
// scalar that is itself a Variant and nesting beyond the Reader's depth are errors.
func (v *Variant) DecodeBinary(r *uabin.Reader) {
	// Nearly all values are numbers with more bytes behind them: one look at the length does.
	if b := r.Rest(); len(b) > 8 && b[0] < uint8(len(numberSize)) && numberSize[b[0]] != 0 {
		t := BuiltInType(b[0])
		*v = small(t, number(t, binary.LittleEndian.Uint64(b[1:])))
		r.Skip(1 + int(numberSize[t]))
		return
	}
	*v = Variant{}
	code := r.Uint8()
	t := BuiltInType(code &^ (variantArray | variantDims))
	switch {
	case code == 0:
		return
	case t == TypeNull || t > TypeDiagnosticInfo:
		r.Fail("Variant of an unknown type")
	case code&variantArray != 0:
		v.decodeArray(r, t, code&variantDims != 0)
	case code&variantDims != 0:
		r.Fail("Variant with dimensions that is no array")
	default:
		v.decodeScalar(r, t)
	}
}

// decodeScalar reads a scalar; null when that fails.
func (v *Variant) decodeScalar(r *uabin.Reader, t BuiltInType) {
	*v = Variant{}
	if n := int(numberSize[t]); n != 0 {
		var wire [8]byte
		copy(wire[:], r.Borrow(n))
		v.num = number(t, binary.LittleEndian.Uint64(wire[:]))
	} else {
		switch t {
		case TypeString, TypeXMLElement:
			*v = String(r.String())
		case TypeByteString:
			*v = ByteString(r.Bytes(nil))
		case TypeVariant:
			r.Fail("Variant that holds a Variant that is no array")
		default:
			if r.Enter() {
				v.ptr = codecs[t].decode(r, 1)
				r.Leave()
			}
		}
	}
	if v.typ = t; !r.OK() {
		*v = Variant{}
	}
}

// decodeArray reads an array; null when that fails.
func (v *Variant) decodeArray(r *uabin.Reader, t BuiltInType, dims bool) {
	*v = Variant{}
	if !r.Enter() {
		return
	}
	defer r.Leave()
	a := Variant{typ: t, shape: array}
	if n := r.ArrayLen(codecs[t].size); n >= 0 {
		a.ptr, a.num = codecs[t].decode(r, n), uint64(n)
	}
	if dims {
		// Without any dimension it is an array after all.
		if d := decodeArrayOfUInt32(r, nil); len(d) > 0 {
			if r.OK() && !dimsFit(d, int(a.num)) {
				r.Fail("dimensions of an array that do not fit its elements")
			}
			a = newMatrix(a, d)
		}
	}
	if r.OK() {
		*v = a
	}
}

// Equal reports whether both hold the same type, shape and value. A NaN equals every other NaN, as there
// is but one on the wire (Part 6, 5.2.2.3).
func (v Variant) Equal(w Variant) bool {
	if v.typ != w.typ || v.shape != w.shape || v.Len() != w.Len() || v.IsNull() != w.IsNull() {
		return false
	}
	switch {
	case v.typ == TypeNull:
		return true
	case v.shape == multi:
		a, b := (*matrix)(v.ptr).dims, (*matrix)(w.ptr).dims
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
	case v.shape == scalar:
		switch v.typ {
		case TypeString, TypeXMLElement:
			return v.str() == w.str()
		case TypeByteString:
			return bytes.Equal(v.bytes(), w.bytes())
		case TypeFloat, TypeDouble:
			return v.num == w.num || math.IsNaN(v.Float()) && math.IsNaN(w.Float())
		}
		if v.ptr == nil || w.ptr == nil {
			return v.num == w.num
		}
		return bytes.Equal(v.AppendBinary(nil), w.AppendBinary(nil))
	}
	return codecs[v.typ].equal(v, w)
}
