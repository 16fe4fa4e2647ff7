package digits

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// samples are 0, the limits, every power of ten with its neighbours, both signs, and every power of two with
// its neighbours, where a count by logarithm would go wrong first.
func samples() []int64 {
	out := []int64{0, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, math.MaxInt32, math.MinInt32, 100000, 123456789012, 999999999999, 100000000000}
	for p := int64(1); ; p *= 10 {
		for d := int64(-2); d <= 2; d++ {
			out = append(out, p+d, -(p + d))
		}
		if p == 1e18 {
			break
		}
	}
	for i := range 63 {
		for d := int64(-1); d <= 1; d++ {
			out = append(out, int64(1)<<i+d, -(int64(1)<<i + d))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// numbers are the samples and many random ones of every length.
func numbers() []int64 {
	out := samples()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		v := int64(r.Uint64() >> r.IntN(64))
		out = append(out, v, -v)
	}
	return out
}

func TestTooSmallBuffersAreReportedAndLeftAlone(t *testing.T) {
	const guard = 0xa5
	area := make([]byte, 8+25+8)
	for _, v := range samples() {
		want := strconv.FormatInt(v, 10)
		for size := 0; size <= 25; size++ {
			// The slice has room behind it on purpose: nothing may use it.
			fresh := func() []byte {
				for i := range area {
					area[i] = guard
				}
				return area[8 : 8+size]
			}
			expect := func(name string, at int, ok bool) {
				t.Helper()
				for i, c := range area {
					expected := byte(guard)
					if j := i - 8 - at; ok && j >= 0 && j < len(want) {
						expected = want[j]
					}
					if c != expected {
						t.Fatalf("%s of %s into %d bytes: byte %d is %q, want %q", name, want, size, i-8, c, expected)
					}
				}
			}

			start, ok := FormatEnd(fresh(), v)
			if ok != (size >= len(want)) || (ok && start != size-len(want)) || (!ok && start != 0) {
				t.Fatalf("FormatEnd of %s into %d bytes: %d %v", want, size, start, ok)
			}
			expect("FormatEnd", start, ok)

			for pos := -1; pos <= size+1; pos++ {
				end, ok := FormatAt(fresh(), pos, v)
				fits := pos >= 0 && pos+len(want) <= size
				if ok != fits || (ok && end != pos+len(want)) || (!ok && end != 0) {
					t.Fatalf("FormatAt(%d) of %s into %d bytes: %d %v", pos, want, size, end, ok)
				}
				expect("FormatAt", pos, ok)
			}
		}
	}
	for _, pos := range []int{math.MinInt, math.MaxInt} {
		if end, ok := FormatAt(make([]byte, 30), pos, 1); ok || end != 0 {
			t.Errorf("FormatAt(%d): %d %v", pos, end, ok)
		}
	}
	if _, ok := FormatEnd(nil, 0); ok {
		t.Error("FormatEnd into nil reports success")
	}
	if _, ok := FormatAt(nil, 0, 0); ok {
		t.Error("FormatAt into nil reports success")
	}
}

func TestNumbers(t *testing.T) {
	var buf [Max]byte
	room := make([]byte, 3, 64)
	for _, v := range numbers() {
		want := strconv.FormatInt(v, 10)
		for _, c := range counts {
			if got := c.f(v); got != len(want) {
				t.Fatalf("%s count of %s: %d, want %d", c.name, want, got, len(want))
			}
		}
		for _, f := range formats {
			if n := f.f(buf[:], v); string(buf[n:]) != want {
				t.Fatalf("%s format of %s: %s", f.name, want, buf[n:])
			}
		}
		if end, ok := FormatAt(buf[:], 0, v); !ok || string(buf[:end]) != want {
			t.Fatalf("FormatAt of %s: %s %v", want, buf[:end], ok)
		}
		if got := Append(nil, v); string(got) != want {
			t.Fatalf("Append of %s: %s", want, got)
		}
		if got := Append(room, v); string(got[3:]) != want || &got[0] != &room[0] {
			t.Fatalf("Append of %s to a buffer with room: %s", want, got[3:])
		}
	}
	if b := []byte("x"); !bytes.Equal(Append(b, 7), []byte("x7")) {
		t.Error("Append to a full slice")
	}
}

// TestMillions counts every number up to two millions, and a stride through the rest of int32.
func TestMillions(t *testing.T) {
	check := func(v int64) {
		want := 1
		for u := v; u >= 10; u /= 10 {
			want++
		}
		if got := Count(v); got != want {
			t.Fatalf("Count(%d) = %d, want %d", v, got, want)
		}
	}
	for v := range int64(2_000_000) {
		check(v)
	}
	for v := int64(0); v <= math.MaxInt32; v += 1009 {
		check(v)
	}
}

func TestNoAllocations(t *testing.T) {
	var buf [Max]byte
	dst := make([]byte, 0, 64)
	for _, v := range []int64{-1, 0, 1000, math.MaxInt32, math.MinInt64} {
		if n := testing.AllocsPerRun(100, func() {
			sink = Count(v)
			sink, _ = FormatEnd(buf[:], v)
			sink, _ = FormatAt(buf[:], 0, v)
			dst = Append(dst[:0], v)
		}); n != 0 {
			t.Errorf("%d: %v allocations", v, n)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, v := range []int64{0, -1, 10, math.MaxInt64, math.MinInt64} {
		f.Add(v, 20, 0)
	}
	f.Fuzz(func(t *testing.T, v int64, size, pos int) {
		if size < 0 || size > 64 {
			return
		}
		want := strconv.FormatInt(v, 10)
		area := bytes.Repeat([]byte{1}, size+2)
		buf := area[1 : 1+size]
		end, ok := FormatAt(buf, pos, v)
		if ok != (pos >= 0 && pos <= size && len(want) <= size-pos) || (ok && string(buf[pos:end]) != want) {
			t.Fatalf("FormatAt(%d bytes, %d, %s): %d %v %q", size, pos, want, end, ok, buf)
		}
		start, ok := FormatEnd(buf, v)
		if ok != (len(want) <= size) || (ok && string(buf[start:]) != want) {
			t.Fatalf("FormatEnd(%d bytes, %s): %d %v %q", size, want, start, ok, buf)
		}
		if area[0] != 1 || area[len(area)-1] != 1 {
			t.Fatal("written outside the buffer")
		}
	})
}
