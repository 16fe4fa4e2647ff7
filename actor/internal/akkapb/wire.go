package akkapb

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxNesting is the recursion limit of the C# runtime.
const maxNesting = 100

// Low bits of a tag. All of our fields have numbers below 16, so that a tag is one byte.
const (
	vint  = uint32(protowire.VarintType)
	fix64 = uint32(protowire.Fixed64Type)
	blob  = uint32(protowire.BytesType)
)

// fields walks over the fields of one message:
//
//	f := fields{rest: b}
//	for f.next() {
//		switch f.tag { ... }
//	}
//	return f.err("Name")
type fields struct {
	rest []byte // what is still to read
	body []byte // content of a length-delimited field
	num  uint64 // value of a number
	tag  uint32 // field number and wire type of the current field
	bad  string // why the walk ended early
}

// next reads one field and reports whether there was one.
func (f *fields) next() bool {
	b := f.rest
	if len(b) == 0 {
		return false
	}
	tag, n := uint64(b[0]), 1
	if tag >= 0x80 {
		if tag, n = protowire.ConsumeVarint(b); n < 0 || tag > math.MaxUint32 {
			f.tag = 0
			return f.fail(badTag)
		}
	}
	f.tag = uint32(tag)
	if tag < 8 {
		return f.fail(badNumber)
	}
	b = b[n:]
	switch protowire.Type(tag & 7) {
	case protowire.VarintType:
		if f.num, n = uvarint(b); n < 0 {
			return f.fail(badVarint)
		}
		f.rest = b[n:]
	case protowire.Fixed64Type:
		if len(b) < 8 {
			return f.fail(badShort)
		}
		f.num = binary.LittleEndian.Uint64(b)
		f.rest = b[8:]
	case protowire.BytesType:
		l, n := uvarint(b)
		if n < 0 || l > uint64(len(b)-n) {
			return f.fail(badLength)
		}
		end := n + int(l)
		f.body, f.rest = b[n:end:end], b[end:]
	default:
		return f.unusual(b)
	}
	return true
}

// unusual skips what no field of ours is.
func (f *fields) unusual(b []byte) bool {
	switch protowire.Type(f.tag & 7) {
	case protowire.Fixed32Type:
		if len(b) < 4 {
			return f.fail(badShort)
		}
		f.rest = b[4:]
	case protowire.StartGroupType:
		var bad string
		if f.rest, bad = skipGroup(b, f.tag>>3); bad != "" {
			return f.fail(bad)
		}
	case protowire.EndGroupType:
		return f.fail(badEndGroup)
	default:
		return f.fail(badWireType)
	}
	return true
}

func (f *fields) fail(why string) bool {
	f.bad, f.rest = why, nil
	return false
}

// err is nil when the walk came to the end of the message.
func (f *fields) err(message string) error {
	if f.bad == "" {
		return nil
	}
	return &DecodeError{Message: message, Field: int(f.tag >> 3), Reason: f.bad}
}

// skipGroup returns what follows the end of the group whose start has just been read.
func skipGroup(b []byte, number uint32) (rest []byte, bad string) {
	var open [maxNesting]uint32
	open[0] = number
	depth := 1
	for {
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, badGroup
		}
		if tag > math.MaxUint32 {
			return nil, badTag
		}
		if tag < 8 {
			return nil, badNumber
		}
		b = b[n:]
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
			_, n = uvarint(b)
		case protowire.Fixed64Type:
			n = 8
		case protowire.Fixed32Type:
			n = 4
		case protowire.BytesType:
			_, n = protowire.ConsumeBytes(b)
		case protowire.StartGroupType:
			if depth == maxNesting {
				return nil, badNesting
			}
			open[depth] = uint32(tag >> 3)
			depth++
			continue
		case protowire.EndGroupType:
			depth--
			if open[depth] != uint32(tag>>3) {
				return nil, badEndGroup
			}
			if depth == 0 {
				return b, ""
			}
			continue
		default:
			return nil, badWireType
		}
		if n < 0 || n > len(b) {
			return nil, badGroup
		}
		b = b[n:]
	}
}

// uvarint reads a number; n is negative when it is malformed.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) > 1 {
		if b[0] < 0x80 {
			return uint64(b[0]), 1
		}
		if b[1] < 0x80 {
			return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
		}
	}
	return protowire.ConsumeVarint(b)
}

// joined is a message that comes in several pieces: to merge messages is to join their bytes. The first
// piece is a slice of the input without spare capacity, so that append copies it away.
func joined(have []byte, piece []byte) []byte {
	if len(have) == 0 {
		return piece
	}
	return append(have, piece...)
}

// varlen is the size of a length.
func varlen(n int) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14:
		return 2
	case n < 1<<21:
		return 3
	case n < 1<<28:
		return 4
	}
	return protowire.SizeVarint(uint64(n))
}

// Sizes of whole fields; of a default value it is 0.

func sizeUint(v uint64) int {
	if v == 0 {
		return 0
	}
	return 1 + protowire.SizeVarint(v)
}

func sizeInt(v int32) int { return sizeUint(uint64(int64(v))) }

func sizeBool(v bool) int {
	if v {
		return 2
	}
	return 0
}

func sizeFixed(v uint64) int {
	if v == 0 {
		return 0
	}
	return 9
}

func sizeBytes(n int) int {
	if n == 0 {
		return 0
	}
	return sizeMessage(n)
}

// sizeMessage is the size of a field that is written even if empty.
func sizeMessage(n int) int { return 1 + varlen(n) + n }

// Writers of whole fields; a default value writes nothing.

func appendUint(dst []byte, field byte, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(append(dst, field<<3|byte(vint)), v)
}

func appendInt(dst []byte, field byte, v int32) []byte {
	return appendUint(dst, field, uint64(int64(v)))
}

func appendBool(dst []byte, field byte, v bool) []byte {
	if !v {
		return dst
	}
	return append(dst, field<<3|byte(vint), 1)
}

func appendFixed(dst []byte, field byte, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return binary.LittleEndian.AppendUint64(append(dst, field<<3|byte(fix64)), v)
}

func appendBytes(dst []byte, field byte, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	return append(appendHead(dst, field, len(v)), v...)
}

// appendHead writes the tag and length of a field of n bytes that follow.
func appendHead(dst []byte, field byte, n int) []byte {
	return protowire.AppendVarint(append(dst, field<<3|byte(blob)), uint64(n))
}
