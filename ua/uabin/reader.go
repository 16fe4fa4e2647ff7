package uabin

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Limits bound what a Reader accepts. Zero means the default, a negative value no limit of its own
// (the length of the input still bounds it).
type Limits struct {
	MaxString     int // bytes of a String; default 16 Mi
	MaxByteString int // bytes of a ByteString; default 16 Mi
	MaxArray      int // elements of an array; default 16 Mi
	MaxDepth      int // nesting of Variant, DataValue, ExtensionObject, DiagnosticInfo and recursive structures; default 100
	// MaxMemory is the sum of what arrays may take in memory, in bytes, however small they are on
	// the wire; default 64 times the input and at least 1 MiB.
	MaxMemory int
}

// Defaults of Limits.
const (
	DefaultMaxString     = 16 << 20
	DefaultMaxByteString = 16 << 20
	DefaultMaxArray      = 16 << 20
	DefaultMaxDepth      = 100
	minNested            = 100_000
	memoryFactor         = 64
	minMemory            = 1 << 20
)

// Status codes that a Reader reports (Part 4, 7.38); package ua has them by name.
const (
	badDecodingError          = 0x80070000
	badEncodingLimitsExceeded = 0x80080000
)

// Error tells why and where decoding stopped. It equals the status code that it stands for under
// errors.Is: BadDecodingError, or BadEncodingLimitsExceeded.
type Error struct {
	code   uint32
	Offset int    // bytes read when it happened
	Reason string // plain text
}

// Error says what happened and at which byte.
func (e *Error) Error() string {
	name := "BadDecodingError"
	if e.code == badEncodingLimitsExceeded {
		name = "BadEncodingLimitsExceeded"
	}
	return fmt.Sprintf("%s: %s at byte %d", name, e.Reason, e.Offset)
}

// Code is the status code as a number.
func (e *Error) Code() uint32 { return e.code }

// Is reports whether target is the same status code.
func (e *Error) Is(target error) bool {
	c, ok := target.(interface{ Code() uint32 })
	return ok && c.Code() == e.code
}

// Reader decodes the binary encoding. Errors stick: after the first one every method returns a zero
// value, and Err tells what went wrong. A Reader never panics on input and never allocates more than
// the input and Limits justify. Strings and byte strings are copies; the input may be reused.
type Reader struct {
	buf    []byte
	off    int
	err    *Error
	depth  int
	nested int // values that may still begin; see Enter
	memory int
	limits Limits

	// Types finds structures of namespaces other than 0; what it is, only package ua knows.
	Types any
	// Intern, when set, keeps strings that come again, so that they are not allocated each time.
	Intern *Interner
}

// NewReader returns a Reader over b with the default limits.
func NewReader(b []byte) *Reader {
	r := new(Reader)
	r.Reset(b, Limits{})
	return r
}

// OrDefault is a copy in which each limit is the number to compare with, for an input of size bytes.
func (l Limits) OrDefault(size int) Limits {
	or := func(v *int, def, none int) {
		switch {
		case *v == 0:
			*v = def
		case *v < 0:
			*v = none
		}
	}
	or(&l.MaxString, DefaultMaxString, math.MaxInt32)
	or(&l.MaxByteString, DefaultMaxByteString, math.MaxInt32)
	or(&l.MaxArray, DefaultMaxArray, math.MaxInt32)
	or(&l.MaxDepth, DefaultMaxDepth, math.MaxInt32)
	or(&l.MaxMemory, max(minMemory, memoryFactor*size), math.MaxInt)
	return l
}

// Reset starts over with other input, keeping Types and Intern.
func (r *Reader) Reset(b []byte, l Limits) {
	r.buf, r.off, r.err, r.depth, r.memory, r.limits = b, 0, nil, 0, 0, l.OrDefault(len(b))
	r.nested = minNested + len(b)
}

// Err is the first error, or nil.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// OK reports whether nothing has failed so far.
func (r *Reader) OK() bool { return r.err == nil }

// Offset is the number of bytes read.
func (r *Reader) Offset() int { return r.off }

// Remaining is the number of bytes not yet read.
func (r *Reader) Remaining() int { return len(r.buf) - r.off }

// Rest returns all bytes not yet read, as a part of the input, without reading them.
func (r *Reader) Rest() []byte { return r.buf[r.off:] }

// Skip passes over n bytes that are known to be there, since they were looked at in Rest.
func (r *Reader) Skip(n int) { r.off = min(r.off+n, len(r.buf)) }

// Fail makes the Reader fail with BadDecodingError, unless it has failed before.
func (r *Reader) Fail(reason string) { r.fail(badDecodingError, reason) }

// FailLimit makes the Reader fail with BadEncodingLimitsExceeded, unless it has failed before.
func (r *Reader) FailLimit(reason string) { r.fail(badEncodingLimitsExceeded, reason) }

func (r *Reader) fail(code uint32, reason string) {
	if r.err == nil {
		r.err = &Error{code: code, Offset: r.off, Reason: reason}
		r.buf = r.buf[:r.off] // every later read finds the end
	}
}

// Enter begins a nested value and reports whether it is still allowed; Leave ends it. It fails the
// Reader with BadEncodingLimitsExceeded when values are nested too deep (Part 6, 5.2.2.16), or when
// there are many more of them than bytes: a structure of structures without fields takes no bytes.
func (r *Reader) Enter() bool {
	if r.depth >= r.limits.MaxDepth {
		r.FailLimit(fmt.Sprintf("values nested deeper than %d", r.limits.MaxDepth))
		return false
	}
	if r.nested--; r.nested < 0 {
		r.FailLimit("too many nested values without any bytes")
		return false
	}
	r.depth++
	return r.err == nil
}

// Leave ends what Enter began.
func (r *Reader) Leave() { r.depth-- }

// Window is a part of the input that is read on its own; see Narrow.
type Window struct {
	buf    []byte
	end    int
	depth  int
	failed bool // before it was opened, or by opening it
}

// Narrow restricts reading to the next n bytes until Widen. It fails when fewer are left.
func (r *Reader) Narrow(n int) Window {
	if n < 0 || n > r.Remaining() {
		r.short(n)
	}
	if r.err != nil {
		return Window{failed: true}
	}
	w := Window{buf: r.buf, end: r.off + n, depth: r.depth}
	r.buf = r.buf[:w.end]
	return w
}

// Widen ends a Narrow and goes on behind the window. The error tells what was wrong inside, be it
// only that bytes were left over. It does not stick, so that one bad value does not take the message
// with it; an exceeded limit does stick.
func (r *Reader) Widen(w Window) error {
	if w.failed {
		return r.Err()
	}
	if r.err == nil && r.off < w.end {
		r.Fail(fmt.Sprintf("%d bytes left over", w.end-r.off))
	}
	err := r.err
	if err == nil {
		r.buf = w.buf
		return nil
	}
	if err.code != badEncodingLimitsExceeded {
		r.buf, r.off, r.depth, r.err = w.buf, w.end, w.depth, nil
	}
	return err
}

// Rewind goes back to an earlier offset. What was read is counted against the limits all the same.
func (r *Reader) Rewind(offset int) {
	if r.err == nil && offset >= 0 && offset <= r.off {
		r.off = offset
	}
}

// take returns the next n bytes as a part of the input, or nil and a failure.
func (r *Reader) take(n int) []byte {
	if uint(n) > uint(len(r.buf)-r.off) {
		return r.short(n)
	}
	r.off += n
	return r.buf[r.off-n : r.off : r.off]
}

// short fails since n bytes are not left. It is kept out of line, so that what calls it is short
// enough to be compiled into its callers.
//
//go:noinline
func (r *Reader) short(n int) []byte {
	if r.err == nil {
		r.Fail(fmt.Sprintf("%d bytes wanted, %d left", n, r.Remaining()))
	}
	return nil
}

// Bool reads a Boolean; every value but 0 is true (Part 6, 5.2.2.1).
func (r *Reader) Bool() bool { return r.Uint8() != 0 }

// Uint8 reads a Byte.
func (r *Reader) Uint8() (v uint8) {
	if r.off < len(r.buf) {
		v = r.buf[r.off]
		r.off++
	} else {
		r.short(1)
	}
	return v
}

// Int8 reads an SByte.
func (r *Reader) Int8() int8 { return int8(r.Uint8()) }

// Uint16 reads a UInt16.
func (r *Reader) Uint16() uint16 {
	if len(r.buf)-r.off < 2 {
		r.short(2)
		return 0
	}
	v := binary.LittleEndian.Uint16(r.buf[r.off:])
	r.off += 2
	return v
}

// Int16 reads an Int16.
func (r *Reader) Int16() int16 { return int16(r.Uint16()) }

// Uint32 reads a UInt32.
func (r *Reader) Uint32() uint32 {
	if len(r.buf)-r.off < 4 {
		r.short(4)
		return 0
	}
	v := binary.LittleEndian.Uint32(r.buf[r.off:])
	r.off += 4
	return v
}

// Int32 reads an Int32.
func (r *Reader) Int32() int32 { return int32(r.Uint32()) }

// Uint64 reads a UInt64.
func (r *Reader) Uint64() uint64 {
	if len(r.buf)-r.off < 8 {
		r.short(8)
		return 0
	}
	v := binary.LittleEndian.Uint64(r.buf[r.off:])
	r.off += 8
	return v
}

// Int64 reads an Int64.
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Float32 reads a Float.
func (r *Reader) Float32() float32 { return math.Float32frombits(r.Uint32()) }

// Float64 reads a Double.
func (r *Reader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Borrow reads n bytes and returns them as a part of the input: valid as long as the input is.
func (r *Reader) Borrow(n int) []byte { return r.take(n) }

// BorrowBytes reads a ByteString and returns it as a part of the input; nil for null.
func (r *Reader) BorrowBytes() []byte {
	n := r.length(r.limits.MaxByteString, "byte string")
	if n < 0 {
		return nil
	}
	return r.take(n)
}

// length reads the length of a string or byte string and checks it; -1 for null and for a failure.
func (r *Reader) length(limit int, what string) int {
	n := int(r.Int32())
	switch {
	case r.err != nil || n == -1:
		return -1
	case n < -1:
		// Part 6, 5.2.2.4 knows no other negative length, but some senders write them for null.
		return -1
	case n > limit:
		r.FailLimit(fmt.Sprintf("%s of %d bytes, the limit is %d", what, n, limit))
		return -1
	case n > r.Remaining():
		r.short(n)
		return -1
	}
	return n
}

// String reads a String: NullString for null, EmptyString for empty (Part 6, 5.2.2.4). Bytes that
// are not UTF-8 are kept as they are.
func (r *Reader) String() string {
	if b := r.buf[r.off:]; len(b) >= 4 && binary.LittleEndian.Uint32(b) == math.MaxUint32 {
		r.off += 4
		return NullString // as most strings in requests are
	}
	n := r.length(r.limits.MaxString, "string")
	switch {
	case n < 0:
		return NullString
	case n == 0:
		return EmptyString
	}
	b := r.take(n)
	if r.Intern != nil {
		return r.Intern.String(b)
	}
	return string(b)
}

// Bytes reads a ByteString into dst's memory if it is large enough: nil for null (Part 6, 5.2.2.7).
func (r *Reader) Bytes(dst []byte) []byte {
	n := r.length(r.limits.MaxByteString, "byte string")
	if n < 0 {
		return nil
	}
	if dst == nil {
		dst = make([]byte, 0, n)
	}
	return append(dst[:0], r.take(n)...)
}

// ArrayLen reads the length of an array whose elements take at least minSize bytes each on the wire
// (1 where that is unknown, 0 never): -1 for null. It fails when the elements cannot fit in what is
// left, before anything is allocated (Part 6, 5.2.5).
func (r *Reader) ArrayLen(minSize int) int {
	n := int(r.Int32())
	switch {
	case r.err != nil || n < 0:
		return -1
	case n > r.limits.MaxArray:
		r.FailLimit(fmt.Sprintf("array of %d elements, the limit is %d", n, r.limits.MaxArray))
		return -1
	case n > r.Remaining()/max(minSize, 1):
		r.Fail(fmt.Sprintf("array of %d elements in %d bytes", n, r.Remaining()))
		return -1
	}
	return n
}

// spend counts memory for n elements of the given size and fails beyond MaxMemory.
func (r *Reader) spend(n int, size uintptr) bool {
	if n != 0 && uintptr(r.limits.MaxMemory-r.memory)/max(size, 1) < uintptr(n) {
		r.FailLimit(fmt.Sprintf("more than %d bytes of memory wanted", r.limits.MaxMemory))
		return false
	}
	r.memory += n * int(size)
	return true
}

// Slice reads the length of an array and returns a slice of that length: nil for null, the memory of
// s if it is large enough. Elements keep what they held, so that their own slices can be used again:
// the caller overwrites each. minSize is that of ArrayLen.
func Slice[T any](r *Reader, s []T, minSize int) []T {
	n := r.ArrayLen(minSize)
	if n < 0 {
		return nil
	}
	return Resize(r, s, n)
}

// Resize returns a slice of n elements in the memory of s if that is large enough, never nil. It
// counts the memory against the Reader's limit and returns an empty slice when that is exceeded.
func Resize[T any](r *Reader, s []T, n int) []T {
	if n <= cap(s) && s != nil {
		return s[:n]
	}
	var zero T
	if !r.spend(n, unsafe.Sizeof(zero)) {
		return []T{}
	}
	return make([]T, n)
}

// Interner keeps strings that are likely to come again, such as the identifiers of nodes, in a
// table of fixed size. It is not safe for use by several goroutines. The zero value is ready.
type Interner struct {
	// Sets of ways strings each, those used last in front: with a single string a set, a request
	// for a hundred nodes would have dozens of them push each other out every time.
	slots [sets * ways]string
}

const (
	sets = 128
	ways = 4

	// internMax is the longest string kept, in bytes.
	internMax = 128
)

// String returns b as a string, without allocating if it is still in the table.
func (t *Interner) String(b []byte) string {
	if len(b) > internMax {
		return string(b)
	}
	h, rest := uint64(len(b)), b
	for ; len(rest) >= 8; rest = rest[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(rest))
	}
	var tail uint64
	for _, c := range rest {
		tail = tail<<8 | uint64(c)
	}
	at := mix(h^tail) >> 57 * ways // 57: the bits of 64 but for those of sets
	set := t.slots[at : at+ways]
	if set[0] == string(b) {
		return set[0]
	}
	i := 1
	for i < ways-1 && set[i] != string(b) {
		i++
	}
	s := set[i]
	if s != string(b) {
		s = string(b)
	}
	copy(set[1:i+1], set[:i])
	set[0] = s
	return s
}

// mix spreads the bits of a word over the result.
func mix(h uint64) uint64 {
	h *= 0x9E3779B97F4A7C15 // 2^64 by the golden ratio
	return h ^ h>>32
}
