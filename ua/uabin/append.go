// Package uabin holds the primitives of the OPC UA binary encoding (Part 6, 5.2): functions that
// append a value to a slice, and a Reader that checks every length against the bytes that remain
// before it allocates. It knows nothing of the types above it; package ua builds on it.
package uabin

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// AppendBool appends a Boolean: one byte, 1 for true (Part 6, 5.2.2.1).
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendUint8 appends a Byte (Part 6, 5.2.2.2).
func AppendUint8(b []byte, v uint8) []byte { return append(b, v) }

// AppendInt8 appends an SByte (Part 6, 5.2.2.2).
func AppendInt8(b []byte, v int8) []byte { return append(b, byte(v)) }

// AppendUint16 appends a UInt16, least significant byte first (Part 6, 5.2.2.2).
func AppendUint16(b []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(b, v) }

// AppendInt16 appends an Int16 (Part 6, 5.2.2.2).
func AppendInt16(b []byte, v int16) []byte { return binary.LittleEndian.AppendUint16(b, uint16(v)) }

// AppendUint32 appends a UInt32 (Part 6, 5.2.2.2).
func AppendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// AppendInt32 appends an Int32 (Part 6, 5.2.2.2).
func AppendInt32(b []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(b, uint32(v)) }

// AppendUint64 appends a UInt64 (Part 6, 5.2.2.2).
func AppendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

// AppendInt64 appends an Int64 (Part 6, 5.2.2.2).
func AppendInt64(b []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

// The one NaN that is written, whatever bits a NaN has in memory (Part 6, 5.2.2.3).
const (
	quietNaN32 = 0xFFC00000
	quietNaN64 = 0xFFF8000000000000
)

// AppendFloat32 appends a Float, IEEE 754 single precision; every NaN as the quiet one (Part 6, 5.2.2.3).
func AppendFloat32(b []byte, v float32) []byte {
	return binary.LittleEndian.AppendUint32(b, Float32Bits(v))
}

// Float32Bits are the bits of a Float as they are written.
func Float32Bits(v float32) uint32 {
	if v != v {
		return quietNaN32
	}
	return math.Float32bits(v)
}

// AppendFloat64 appends a Double, IEEE 754 double precision; every NaN as the quiet one (Part 6, 5.2.2.3).
func AppendFloat64(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, Float64Bits(v))
}

// Float64Bits are the bits of a Double as they are written.
func Float64Bits(v float64) uint64 {
	if v != v {
		return quietNaN64
	}
	return math.Float64bits(v)
}

// AppendLen appends the length of an array or string: -1 stands for null (Part 6, 5.2.5).
func AppendLen(b []byte, n int, null bool) []byte {
	if null {
		return AppendInt32(b, -1)
	}
	return AppendInt32(b, int32(n))
}

// AppendBytes appends a ByteString; nil is null (length -1), an empty slice is empty (Part 6, 5.2.2.7).
func AppendBytes(b, v []byte) []byte {
	if v == nil {
		return AppendInt32(b, -1)
	}
	return append(AppendInt32(b, int32(len(v))), v...)
}

// OPC UA knows a null string and an empty one; a Go string knows no difference. The two are told
// apart by where an empty string points: NullString and EmptyString point at bytes of this package,
// as do all strings that the Reader made of length -1 and 0. They compare equal and behave as any
// other empty string. An empty string of any other origin takes the meaning of its place: null as
// a field of a structure, empty as a value in a Variant. (So does one that went through an interface
// value by itself, where the Go runtime keeps no pointer of an empty string.)
var marks = [2]byte{}

var (
	// NullString is the string of length -1 (Part 6, 5.2.2.4).
	NullString = unsafe.String(&marks[0], 1)[:0]
	// EmptyString is the string of length 0 that is written as such everywhere.
	EmptyString = unsafe.String(&marks[1], 1)[:0]
)

// IsNullString reports whether s is NullString or was decoded from a null string.
func IsNullString(s string) bool { return len(s) == 0 && unsafe.StringData(s) == &marks[0] }

// IsEmptyString reports whether s is EmptyString or was decoded from an empty string.
func IsEmptyString(s string) bool { return len(s) == 0 && unsafe.StringData(s) == &marks[1] }

// AppendString appends a String that is a field of a structure: an empty one is written as null,
// unless it is EmptyString (Part 6, 5.2.2.4).
func AppendString(b []byte, s string) []byte {
	if len(s) == 0 && !IsEmptyString(s) {
		return AppendInt32(b, -1)
	}
	return append(AppendInt32(b, int32(len(s))), s...)
}

// AppendStringValue appends a String that is a value: an empty one is written with length 0,
// unless it is NullString.
func AppendStringValue(b []byte, s string) []byte {
	if IsNullString(s) {
		return AppendInt32(b, -1)
	}
	return append(AppendInt32(b, int32(len(s))), s...)
}
