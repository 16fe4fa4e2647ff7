package ua

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/actua/actua/ua/uabin"
)

// DataValue is a value with its quality and times (Part 4, 7.11). Times of 0 are absent, as is a null
// Variant. Picoseconds are counts of 10 ps, 0 to 9999, and absent without their time.
type DataValue struct {
	Value             Variant
	SourceTimestamp   DateTime
	ServerTimestamp   DateTime
	Status            StatusCode
	SourcePicoseconds uint16
	ServerPicoseconds uint16
}

// Bits of the mask in front of a DataValue (Part 6, 5.2.2.17).
const (
	valueBit             = 0x01
	statusBit            = 0x02
	sourceTimeBit        = 0x04
	serverTimeBit        = 0x08
	sourcePicosecondsBit = 0x10
	serverPicosecondsBit = 0x20
)

// AppendBinary appends a mask and the fields that are present (Part 6, 5.2.2.17).
func (d *DataValue) AppendBinary(b []byte) []byte {
	if size := numberSize[d.Value.typ]; size != 0 && d.Value.shape == scalar && d.SourcePicoseconds|d.ServerPicoseconds == 0 {
		return d.appendNumber(b, int(size))
	}
	at := len(b)
	var mask byte
	b = append(b, 0)
	if d.Value.typ != TypeNull {
		mask |= valueBit
		b = d.Value.AppendBinary(b)
	}
	if d.Status != Good {
		mask |= statusBit
		b = uabin.AppendUint32(b, uint32(d.Status))
	}
	if d.SourceTimestamp != 0 {
		mask |= sourceTimeBit
		b = d.SourceTimestamp.AppendBinary(b)
		if d.SourcePicoseconds != 0 {
			mask |= sourcePicosecondsBit
			b = uabin.AppendUint16(b, d.SourcePicoseconds)
		}
	}
	if d.ServerTimestamp != 0 {
		mask |= serverTimeBit
		b = d.ServerTimestamp.AppendBinary(b)
		if d.ServerPicoseconds != 0 {
			mask |= serverPicosecondsBit
			b = uabin.AppendUint16(b, d.ServerPicoseconds)
		}
	}
	b[at] = mask
	return b
}

// appendNumber is AppendBinary for a number of so many bytes, as nearly all values are: one look at the
// room does.
func (d *DataValue) appendNumber(b []byte, size int) []byte {
	const most = 1 + 1 + 8 + 4 + 8 + 8
	n := len(b)
	b = slices.Grow(b, most)
	p := b[n : n+most]
	mask := byte(valueBit)
	num := d.Value.num
	switch d.Value.typ {
	case TypeDateTime:
		num = uint64(DateTime(num).onWire())
	case TypeDouble:
		num = uabin.Float64Bits(math.Float64frombits(num))
	case TypeFloat:
		num = uint64(uabin.Float32Bits(math.Float32frombits(uint32(num))))
	}
	p[1] = byte(d.Value.typ)
	binary.LittleEndian.PutUint64(p[2:], num)
	at := 2 + size
	if d.Status != Good {
		mask |= statusBit
		binary.LittleEndian.PutUint32(p[at:], uint32(d.Status))
		at += 4
	}
	if d.SourceTimestamp != 0 {
		mask |= sourceTimeBit
		binary.LittleEndian.PutUint64(p[at:], uint64(d.SourceTimestamp.onWire()))
		at += 8
	}
	if d.ServerTimestamp != 0 {
		mask |= serverTimeBit
		binary.LittleEndian.PutUint64(p[at:], uint64(d.ServerTimestamp.onWire()))
		at += 8
	}
	p[0] = mask
	return b[:n+at]
}

// behindValue is the number of bytes that stand behind the value of a DataValue, by its mask.
var behindValue = func() (size [0x40]uint8) {
	for mask := range size {
		size[mask] = uint8(4*(mask>>1&1) + 8*(mask>>2&1) + 8*(mask>>3&1) + 2*(mask>>4&1) + 2*(mask>>5&1))
	}
	return size
}()

// DecodeBinary reads a DataValue. Nesting beyond the Reader's depth is an error.
func (d *DataValue) DecodeBinary(r *uabin.Reader) {
	mask := r.Uint8()
	if mask&0xC0 != 0 {
		r.Fail("DataValue with an unknown bit in its mask")
		mask = 0
	}
	if mask&valueBit != 0 {
		d.Value.DecodeBinary(r)
	} else {
		d.Value = Variant{}
	}
	d.Status, d.SourceTimestamp, d.ServerTimestamp, d.SourcePicoseconds, d.ServerPicoseconds = 0, 0, 0, 0, 0
	// One look at the length does for all that stands behind the value.
	n := int(behindValue[mask])
	b := r.Rest()
	if len(b) < n {
		r.Borrow(n) // fails
		return
	}
	r.Skip(n)
	if mask&statusBit != 0 {
		d.Status = StatusCode(binary.LittleEndian.Uint32(b))
		b = b[4:]
	}
	if mask&sourceTimeBit != 0 {
		d.SourceTimestamp = clamped(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if mask&sourcePicosecondsBit != 0 {
		d.SourcePicoseconds = min(binary.LittleEndian.Uint16(b), 9999)
		b = b[2:]
	}
	if mask&serverTimeBit != 0 {
		d.ServerTimestamp = clamped(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if mask&serverPicosecondsBit != 0 {
		d.ServerPicoseconds = min(binary.LittleEndian.Uint16(b), 9999)
	}
}
