// Package digits writes whole numbers in decimal into buffers of a fixed size: how many characters a number
// takes, and the number itself at the end of a buffer or at a position in it. Actor paths need it: the length
// of "path#uid" is computed first, then everything is written in place (Akka.NET 1.5, SpanHacks, PR 6195).
// A buffer that is too small is reported and left as it was; nothing is ever written outside the range asked
// for, and no loop pays for a bounds check (a test asks the compiler).
package digits

import "math/bits"

// Max is the longest a number gets, in characters: that of the least int64, "-9223372036854775808".
const Max = 20

// powers are 10^n; the entries past 10^19 are never reached and make the table as long as its mask.
var powers = [32]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// pairs are the numbers 00 to 99 in two characters each; the rest fills the table up to its mask.
var pairs = func() (t [128][2]byte) {
	for i := range 100 {
		t[i] = [2]byte{'0' + byte(i/10), '0' + byte(i%10)}
	}
	return t
}()

// Count is how many characters v takes in decimal, the sign included: 1 to Max.
//
// Of the ways measured (a division a digit, a division every two digits, a ladder of comparisons, and this)
// it is the one that takes the same time for every number: the number of bits times log10(2) is the number of digits
// or one less, and one comparison with a power of ten tells which. The ladder wins below a thousand and loses
// from where uids are, most of which have nine or ten digits.
func Count(v int64) int {
	u, sign := magnitude(v)
	return count(u) + sign
}

// magnitude splits v. The least int64 has no positive twin in int64, but in uint64.
func magnitude(v int64) (u uint64, sign int) {
	if v < 0 {
		return -uint64(v), 1
	}
	return uint64(v), 0
}

func count(u uint64) int {
	u |= 1                          // 0 has a digit too; no power of ten but 1 is odd, so nothing else changes
	n := bits.Len64(u) * 1233 >> 12 // 1233/4096 is log10(2), exact enough for 64 bits
	if u >= powers[n&31] {
		n++
	}
	return n
}

// FormatEnd writes v in decimal so that its last character is the last byte of buf, and returns where its
// first one is. If buf is too small it returns false, and buf is as it was.
func FormatEnd(buf []byte, v int64) (start int, ok bool) {
	u, sign := magnitude(v)
	start = len(buf) - count(u) - sign
	if start < 0 {
		return 0, false
	}
	fill(buf[start:], u, sign)
	return start, true
}

// FormatAt writes v in decimal so that its first character is buf[pos], and returns the position after its
// last one. If what is left of buf is too small, or pos is not in buf, it returns false, and buf is as it was.
func FormatAt(buf []byte, pos int, v int64) (end int, ok bool) {
	if pos < 0 || pos > len(buf) {
		return 0, false
	}
	u, sign := magnitude(v)
	n := count(u) + sign
	if n > len(buf)-pos {
		return 0, false
	}
	fill(buf[pos:pos+n], u, sign)
	return pos + n, true
}

// Append appends v in decimal to dst. It allocates only where dst has to grow.
func Append(dst []byte, v int64) []byte {
	u, sign := magnitude(v)
	n := count(u) + sign
	l := len(dst)
	if cap(dst)-l < n {
		var text [Max]byte
		fill(text[:n], u, sign)
		return append(dst, text[:n]...)
	}
	dst = dst[: l+n : cap(dst)]
	fill(dst[l:], u, sign)
	return dst
}

// fill writes u, with a minus before it if sign is 1, into b, which has exactly the length of that. It goes
// backwards and takes two digits a division, because each division waits for the one before it. One digit a
// division, which needs no count first, is faster up to four digits, and slower from where uids are. The lengths
// in the conditions are always true; they are what tells the compiler that no index needs a check.
func fill(b []byte, u uint64, sign int) {
	if sign == 1 && len(b) > 0 {
		b[0] = '-'
	}
	for u >= 100 && len(b) >= 2 {
		q := u / 100
		p := &pairs[(u-q*100)&127]
		b[len(b)-2], b[len(b)-1] = p[0], p[1]
		b = b[:len(b)-2]
		u = q
	}
	if u >= 10 && len(b) >= 2 {
		p := &pairs[u&127]
		b[len(b)-2], b[len(b)-1] = p[0], p[1]
	} else if len(b) >= 1 {
		b[len(b)-1] = '0' + byte(u)
	}
}
