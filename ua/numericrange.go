package ua

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// NumericRange is a part of an array, a String or a ByteString: one index or a range of indexes for
// each dimension (Part 4, 7.27). The zero value stands for the whole value. It is comparable.
type NumericRange struct {
	dims  uint32
	first indexes
	more  string // the bounds of the other dimensions, 8 bytes each
}

// indexes are the first and the last index in a dimension; equal for a single index.
type indexes struct{ low, high uint32 }

func (x indexes) count() int { return int(x.high) - int(x.low) + 1 }

// clip cuts what lies beyond a length of n; false when nothing is left.
func (x indexes) clip(n int) (indexes, bool) {
	if int64(x.low) >= int64(n) {
		return x, false
	}
	if int64(x.high) >= int64(n) {
		x.high = uint32(n - 1)
	}
	return x, true
}

// ParseNumericRange reads a range such as "5", "0:9" or, for two dimensions, "1:2,0:1". "" is the
// whole value. Of two bounds the first is the lower one; equal bounds are not allowed (Part 4, 7.27
// and A.3). The error says what is wrong and is BadIndexRangeInvalid.
func ParseNumericRange(s string) (NumericRange, error) {
	var r NumericRange
	if s == "" {
		return r, nil
	}
	var more []byte
	for rest, last := s, false; !last; {
		part := rest
		if i := strings.IndexByte(rest, ','); i >= 0 {
			part, rest = rest[:i], rest[i+1:]
		} else {
			last = true
		}
		x, reason := parseIndexes(part)
		if reason != "" {
			return NumericRange{}, &textError{BadIndexRangeInvalid, fmt.Sprintf("%.100q: %s", s, reason)}
		}
		if r.dims == 0 {
			r.first = x
		} else {
			more = append(more, byte(x.low), byte(x.low>>8), byte(x.low>>16), byte(x.low>>24),
				byte(x.high), byte(x.high>>8), byte(x.high>>16), byte(x.high>>24))
		}
		r.dims++
	}
	r.more = string(more)
	return r, nil
}

func parseIndexes(s string) (x indexes, reason string) {
	low, high, isRange := strings.Cut(s, ":")
	if !isRange {
		high = low
	}
	a, ok := parseUint(low, math.MaxUint32)
	b, ok2 := parseUint(high, math.MaxUint32)
	switch {
	case !ok || !ok2:
		return x, fmt.Sprintf("%.30q is no index or range of two indexes from 0 to %d", s, uint32(math.MaxUint32))
	case isRange && a >= b:
		return x, fmt.Sprintf("the first index of %q is not below the second", s)
	}
	return indexes{uint32(a), uint32(b)}, ""
}

// IsWhole reports whether the range stands for the whole value.
func (r NumericRange) IsWhole() bool { return r.dims == 0 }

// Dimensions is the number of dimensions, 0 for the whole value.
func (r NumericRange) Dimensions() int { return int(r.dims) }

// String is the text form that ParseNumericRange reads.
func (r NumericRange) String() string {
	var b []byte
	for i := range int(r.dims) {
		if i > 0 {
			b = append(b, ',')
		}
		x := r.at(i)
		b = strconv.AppendUint(b, uint64(x.low), 10)
		if x.high != x.low {
			b = strconv.AppendUint(append(b, ':'), uint64(x.high), 10)
		}
	}
	return string(b)
}

func (r NumericRange) at(i int) indexes {
	if i == 0 {
		return r.first
	}
	m := r.more[8*(i-1):]
	return indexes{
		uint32(m[0]) | uint32(m[1])<<8 | uint32(m[2])<<16 | uint32(m[3])<<24,
		uint32(m[4]) | uint32(m[5])<<8 | uint32(m[6])<<16 | uint32(m[7])<<24,
	}
}

// Of is the part of v that the range selects (Part 4, 7.27). What lies beyond the end of v is left
// out; the status is BadIndexRangeNoData when nothing is left, or when the range has not the
// dimensions of v. The part of an array is an array, that of a matrix a matrix, even of a single
// element; in a String the indexes count characters, in a ByteString bytes. One dimension more than
// an array of String or ByteString has selects within its elements: those that are too short become
// null. A part of an array of one dimension, and of a string, shares the memory of v.
func (r NumericRange) Of(v Variant) (Variant, StatusCode) {
	dims := v.rank()
	switch {
	case r.dims == 0:
		return v, Good
	case v.IsNull():
		return Variant{}, BadIndexRangeNoData
	case int(r.dims) == dims+1 && v.hasSubstrings():
		if dims == 0 {
			return r.first.substring(v)
		}
		return r.substrings(v, dims)
	case int(r.dims) != dims:
		return Variant{}, BadIndexRangeNoData
	}
	return r.elements(v, dims)
}

// rank is the number of dimensions: 0 for a scalar.
func (v Variant) rank() int {
	switch v.shape {
	case array:
		return 1
	case multi:
		return len((*matrix)(v.ptr).dims)
	}
	return 0
}

// length is the length of a dimension of an array.
func (v Variant) length(dim int) int {
	if v.shape == multi {
		return int((*matrix)(v.ptr).dims[dim])
	}
	return int(v.num)
}

func (v Variant) hasSubstrings() bool { return v.typ == TypeString || v.typ == TypeByteString }

// elements selects the elements of an array by its first dims ranges.
func (r NumericRange) elements(v Variant, dims int) (Variant, StatusCode) {
	if dims == 1 {
		x, ok := r.first.clip(v.Len())
		if !ok {
			return Variant{}, BadIndexRangeNoData
		}
		p, _ := v.elements()
		p = unsafe.Add(p, uintptr(x.low)*codecs[v.typ].stride)
		part := Variant{typ: v.typ, shape: array, ptr: p, num: uint64(x.count())}
		if v.shape == multi {
			part = newMatrix(part, []uint32{uint32(x.count())})
		}
		return part, Good
	}
	x := make([]indexes, dims)
	sizes := make([]uint32, dims)
	total := 1
	for i := range x {
		var ok bool
		if x[i], ok = r.at(i).clip(v.length(i)); !ok {
			return Variant{}, BadIndexRangeNoData
		}
		sizes[i] = uint32(x[i].count())
		total *= x[i].count()
	}
	from, _ := v.elements()
	c := &codecs[v.typ]
	to := c.alloc(total)
	v.rows(x, func(at, n, row int) { c.move(to, from, row, at, n) })
	return newMatrix(Variant{typ: v.typ, shape: array, ptr: to, num: uint64(total)}, sizes), Good
}

// rows calls f for every run of elements that the ranges select and that lie side by side: n
// elements from at on, of which the first is number row of all that are selected.
func (v Variant) rows(x []indexes, f func(at, n, row int)) {
	last := len(x) - 1
	n := x[last].count()
	index := make([]int, last) // within the range, all dimensions but the last
	for row := 0; ; row += n {
		at := 0
		for i := range x {
			j := int(x[i].low)
			if i < last {
				j += index[i]
			}
			at = at*v.length(i) + j
		}
		f(at, n, row)
		i := last - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < x[i].count() {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// substring selects within a String or ByteString.
func (x indexes) substring(v Variant) (Variant, StatusCode) {
	if v.typ == TypeByteString {
		b := v.bytes()
		y, ok := x.clip(len(b))
		if !ok {
			return Variant{}, BadIndexRangeNoData
		}
		return ByteString(b[y.low : int(y.high)+1 : int(y.high)+1]), Good
	}
	s := v.str()
	from, to, _ := x.characters(s)
	if from == len(s) {
		return Variant{}, BadIndexRangeNoData
	}
	return String(s[from:to]), Good
}

// characters finds the bytes of the characters that x selects; all reports whether they all exist.
func (x indexes) characters(s string) (from, to int, all bool) {
	from, to = len(s), len(s)
	n := int64(0)
	for i := range s {
		if n == int64(x.low) {
			from = i
		}
		if n == int64(x.high)+1 {
			return from, i, true
		}
		n++
	}
	return from, to, n > int64(x.high)
}

// substrings selects within the elements of an array: the last range is that of the characters.
func (r NumericRange) substrings(v Variant, dims int) (Variant, StatusCode) {
	part, status := r.elements(v, dims)
	if status != Good {
		return part, status
	}
	x := r.at(dims)
	c := &codecs[v.typ]
	_, n := part.elements()
	to := c.alloc(n)
	found := false
	for i := range n {
		sub, status := x.substring(part.Index(i))
		if status != Good {
			sub = Null(v.typ)
		} else {
			found = true
		}
		c.set(to, i, sub)
	}
	if !found {
		return Variant{}, BadIndexRangeNoData
	}
	return part.withElements(to), Good
}

// withElements is an array of the shape of v with other elements.
func (v Variant) withElements(p unsafe.Pointer) Variant {
	_, n := v.elements()
	a := Variant{typ: v.typ, shape: array, ptr: p, num: uint64(n)}
	if v.shape == multi {
		return newMatrix(a, (*matrix)(v.ptr).dims)
	}
	return a
}

// Into is a copy of old in which the part that the range selects is replaced by part (Part 4, 7.27).
// old is not changed. The status is BadTypeMismatch when part is of another type, or a scalar where
// an array is due; BadIndexRangeNoData when the range reaches beyond old or has not its dimensions;
// BadIndexRangeDataMismatch when the size of part is not that of the range. For a matrix, part is a
// matrix of the size of the range or an array with as many elements. A ByteString stands for an array
// of Byte and the reverse.
func (r NumericRange) Into(old, part Variant) (Variant, StatusCode) {
	if r.dims == 0 {
		return part, Good
	}
	if old.IsNull() {
		return Variant{}, BadIndexRangeNoData
	}
	dims := old.rank()
	inner := int(r.dims) == dims+1 && old.hasSubstrings()
	if !inner && int(r.dims) != dims {
		return Variant{}, BadIndexRangeNoData
	}
	part = part.likeBytes(old)
	if part.typ != old.typ || (part.shape == scalar) != (dims == 0) {
		return Variant{}, BadTypeMismatch
	}
	if dims == 0 {
		return r.first.replace(old, part)
	}
	x := make([]indexes, dims)
	total := 1
	for i := range x {
		x[i] = r.at(i)
		if n := old.length(i); int64(x[i].high) >= int64(n) {
			return Variant{}, BadIndexRangeNoData
		}
		total *= x[i].count()
	}
	if !part.fits(x, total) {
		return Variant{}, BadIndexRangeDataMismatch
	}
	c := &codecs[old.typ]
	from, n := old.elements()
	source, _ := part.elements()
	to := c.alloc(n)
	c.move(to, from, 0, 0, n)
	if !inner {
		old.rows(x, func(at, n, row int) { c.move(to, source, at, row, n) })
		return old.withElements(to), Good
	}
	status := Good
	last := r.at(dims)
	old.rows(x, func(at, n, row int) {
		for i := range n {
			s, err := last.replace(old.Index(at+i), part.Index(row+i))
			if err != Good {
				status = err
				return
			}
			c.set(to, at+i, s)
		}
	})
	if status != Good {
		return Variant{}, status
	}
	return old.withElements(to), Good
}

// fits reports whether an array has the size of the ranges, of total elements.
func (v Variant) fits(x []indexes, total int) bool {
	if v.Len() != total {
		return false
	}
	if v.shape != multi {
		return true
	}
	dims := (*matrix)(v.ptr).dims
	if len(dims) != len(x) {
		return false
	}
	for i := range x {
		if int(dims[i]) != x[i].count() {
			return false
		}
	}
	return true
}

// likeBytes makes an array of Byte out of a ByteString, or the reverse, where old is the other one:
// the two are the same to a sender that does not tell them apart (Part 6, 5.1.5).
func (v Variant) likeBytes(old Variant) Variant {
	switch {
	case v.typ == TypeByteString && v.shape == scalar && old.typ == TypeByte && old.shape == array:
		return Array(v.bytes())
	case v.typ == TypeByte && v.shape == array && old.typ == TypeByteString && old.shape == scalar:
		b, _ := ArrayOf[byte](v)
		return ByteString(b)
	}
	return v
}

// replace puts part in place of the characters or bytes that x selects.
func (x indexes) replace(old, part Variant) (Variant, StatusCode) {
	if old.typ == TypeByteString {
		b, p := old.bytes(), part.bytes()
		switch {
		case int64(x.high) >= int64(len(b)):
			return Variant{}, BadIndexRangeNoData
		case len(p) != x.count():
			return Variant{}, BadIndexRangeDataMismatch
		}
		c := append(make([]byte, 0, len(b)), b...)
		copy(c[x.low:], p)
		return ByteString(c), Good
	}
	s, p := old.str(), part.str()
	from, to, all := x.characters(s)
	switch {
	case !all:
		return Variant{}, BadIndexRangeNoData
	case utf8.RuneCountInString(p) != x.count():
		return Variant{}, BadIndexRangeDataMismatch
	}
	return String(s[:from] + p + s[to:]), Good
}
