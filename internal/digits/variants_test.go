package digits

import (
	"math"
	"strconv"
	"testing"
)

// The ways to count and to format that were measured against those chosen. They are checked by the same tests.
var (
	counts = []struct {
		name string
		f    func(int64) int
	}{{"chosen", Count}, {"loop", countLoop}, {"pairs", countPairs}, {"ladder", countLadder}}
	formats = []struct {
		name string
		f    func([]byte, int64) int
	}{{"chosen", formatChosen}, {"loop", formatLoop}, {"ladder", formatLadder}, {"strconv", formatStrconv}}
)

// countLoop divides once a digit.
func countLoop(v int64) int {
	u, n := magnitude(v)
	for n++; u >= 10; n++ {
		u /= 10
	}
	return n
}

// countPairs divides once every two digits.
func countPairs(v int64) int {
	u, n := magnitude(v)
	for ; u >= 100; n += 2 {
		u /= 100
	}
	if u >= 10 {
		n++
	}
	return n + 1
}

// countLadder compares with one power of ten after the other.
func countLadder(v int64) int {
	u, n := magnitude(v)
	switch {
	case u < 1e1:
		return n + 1
	case u < 1e2:
		return n + 2
	case u < 1e3:
		return n + 3
	case u < 1e4:
		return n + 4
	case u < 1e5:
		return n + 5
	case u < 1e6:
		return n + 6
	case u < 1e7:
		return n + 7
	case u < 1e8:
		return n + 8
	case u < 1e9:
		return n + 9
	case u < 1e10:
		return n + 10
	case u < 1e11:
		return n + 11
	case u < 1e12:
		return n + 12
	case u < 1e13:
		return n + 13
	case u < 1e14:
		return n + 14
	case u < 1e15:
		return n + 15
	case u < 1e16:
		return n + 16
	case u < 1e17:
		return n + 17
	case u < 1e18:
		return n + 18
	}
	return n + 19 // int64 ends before 10^19
}

// formatChosen counts by bits and writes two digits a division.
func formatChosen(b []byte, v int64) int {
	n, _ := FormatEnd(b, v)
	return n
}

// formatLoop writes one digit a division and needs no count.
func formatLoop(b []byte, v int64) int {
	u, sign := magnitude(v)
	i := len(b)
	for u >= 10 && i > 0 {
		q := u / 10
		i--
		b[i] = '0' + byte(u-q*10)
		u = q
	}
	i--
	b[i] = '0' + byte(u)
	if sign == 1 {
		i--
		b[i] = '-'
	}
	return i
}

// formatLadder counts by the ladder, as Akka.NET does, and writes one digit a division.
func formatLadder(b []byte, v int64) int {
	n := countLadder(v)
	u, sign := magnitude(v)
	b = b[len(b)-n:]
	if sign == 1 {
		b[0] = '-'
	}
	for i := len(b) - 1; i >= sign; i-- {
		q := u / 10
		b[i] = '0' + byte(u-q*10)
		u = q
	}
	return Max - n
}

func formatStrconv(b []byte, v int64) int {
	var text [Max]byte
	s := strconv.AppendInt(text[:0], v, 10)
	return len(b) - copy(b[len(b)-len(s):], s)
}

// values are those of Akka.NET's benchmark.
var values = []int64{-1, 0, 1, 1000, math.MaxInt32, math.MaxInt64}

var sink int

func BenchmarkCount(b *testing.B) {
	for _, c := range counts {
		for _, v := range values {
			b.Run(c.name+"/"+strconv.FormatInt(v, 10), func(b *testing.B) {
				f, v := c.f, v
				for b.Loop() {
					sink = f(v)
				}
			})
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	var buf [Max]byte
	for _, c := range formats {
		for _, v := range values {
			b.Run(c.name+"/"+strconv.FormatInt(v, 10), func(b *testing.B) {
				f, v := c.f, v
				for b.Loop() {
					sink = f(buf[:], v)
				}
			})
		}
	}
}
