package uabin_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// statusCode stands for ua.StatusCode, which uabin does not know.
type statusCode uint32

func (c statusCode) Error() string { return fmt.Sprintf("%#x", uint32(c)) }
func (c statusCode) Code() uint32  { return uint32(c) }

const (
	decodingError  = statusCode(0x80070000)
	limitsExceeded = statusCode(0x80080000)
)

// limited returns a Reader with limits of its own.
func limited(b []byte, l uabin.Limits) *uabin.Reader {
	r := new(uabin.Reader)
	r.Reset(b, l)
	return r
}

// fails checks that the Reader has failed with the code, and that it stays failed and yields zeros.
func fails(t *testing.T, what string, r *uabin.Reader, code statusCode) {
	t.Helper()
	err := r.Err()
	if !errors.Is(err, code) {
		t.Errorf("%s: got %v, want %v", what, err, code)
		return
	}
	at := r.Offset()
	if r.OK() || r.Bool() || r.Uint8() != 0 || r.Int8() != 0 || r.Uint16() != 0 || r.Int16() != 0 || r.Uint32() != 0 ||
		r.Int32() != 0 || r.Uint64() != 0 || r.Int64() != 0 || r.Float32() != 0 || r.Float64() != 0 ||
		r.String() != "" || r.Bytes(nil) != nil || r.Borrow(1) != nil || r.BorrowBytes() != nil || r.ArrayLen(1) != -1 ||
		uabin.Slice[int32](r, nil, 4) != nil || r.Enter() {
		t.Errorf("%s: a failed reader yields values", what)
	}
	if r.Err() != err || r.Remaining() != 0 || len(r.Rest()) != 0 || r.Offset() != at {
		t.Errorf("%s: the first error does not stick: %v, then %v", what, err, r.Err())
	}
}

func TestTruncation(t *testing.T) {
	for _, p := range primitives() {
		b := p.put(nil)
		for n := range b {
			r := uabin.NewReader(b[:n:n])
			p.read(r)
			fails(t, fmt.Sprintf("%s, %d of %d bytes", p.name, n, len(b)), r, decodingError)
		}
	}
}

func TestErrors(t *testing.T) {
	r := uabin.NewReader([]byte{1, 2, 3})
	r.Uint16()
	if r.Uint32(); r.Err() == nil || r.Err().Error() != "BadDecodingError: 4 bytes wanted, 1 left at byte 2" {
		t.Errorf("got %v", r.Err())
	}
	var e *uabin.Error
	if !errors.As(r.Err(), &e) || e.Offset != 2 || e.Code() != uint32(decodingError) || e.Reason == "" {
		t.Errorf("got %+v", e)
	}
	wrapped := fmt.Errorf("ns=2;s=Pump: %w", r.Err())
	if !errors.Is(wrapped, decodingError) || errors.Is(wrapped, limitsExceeded) || errors.Is(wrapped, io.EOF) || errors.Is(wrapped, nil) {
		t.Error("an Error is the status code that it stands for, and no other")
	}
	r.FailLimit("too late")
	if !errors.Is(r.Err(), decodingError) {
		t.Errorf("the second error won: %v", r.Err())
	}
	r = uabin.NewReader([]byte{1})
	r.FailLimit("much too much")
	if got := r.Err().Error(); got != "BadEncodingLimitsExceeded: much too much at byte 0" {
		t.Error(got)
	}
	fails(t, "FailLimit", r, limitsExceeded)
	r = uabin.NewReader([]byte{1})
	r.Fail("bad")
	fails(t, "Fail", r, decodingError)
	if r.Reset([]byte{7}, uabin.Limits{}); r.Uint8() != 7 || r.Err() != nil {
		t.Error("Reset does not forget the error")
	}
	if err := uabin.NewReader(nil).Err(); err != nil {
		t.Errorf("no error is %#v", err)
	}
}

// TestLengths: -1 is null, so are other negative lengths; what is longer than the rest fails.
func TestLengths(t *testing.T) {
	behind := []byte("abc")
	for _, c := range []struct {
		n    int32
		want error
	}{
		{-1, nil}, {-2, nil}, {math.MinInt32, nil}, {0, nil}, {3, nil},
		{4, decodingError}, {1000, decodingError}, {math.MaxInt32, limitsExceeded},
	} {
		b := append(uabin.AppendInt32(nil, c.n), behind...)
		check := func(what string, r *uabin.Reader, isNull bool) {
			t.Helper()
			switch err := r.Err(); {
			case c.want != nil:
				fails(t, fmt.Sprintf("%s of length %d", what, c.n), r, c.want.(statusCode))
			case err != nil || isNull != (c.n < 0) || r.Offset() != 4+max(0, int(c.n)):
				t.Errorf("%s of length %d: %v, null %t, %d bytes read", what, c.n, err, isNull, r.Offset())
			}
		}
		r := uabin.NewReader(b)
		s := r.String()
		check("string", r, uabin.IsNullString(s))
		r = uabin.NewReader(b)
		v := r.Bytes(nil)
		check("byte string", r, v == nil)
		r = uabin.NewReader(b)
		v = r.BorrowBytes()
		check("borrowed byte string", r, v == nil)
		r = uabin.NewReader(b)
		a := uabin.Slice[uint8](r, nil, 1)
		for i := range a {
			a[i] = r.Uint8()
		}
		check("array", r, a == nil)
	}
	// Without a limit of its own, MaxInt32 is just more than there is.
	r := limited(uabin.AppendInt32(nil, math.MaxInt32), uabin.Limits{MaxString: -1})
	_ = r.String()
	fails(t, "string of length MaxInt32", r, decodingError)
}

// TestArrayLenOfSmallRest: minSize tells how many elements can stand in what is left.
func TestArrayLenOfSmallRest(t *testing.T) {
	b := append(uabin.AppendInt32(nil, 3), make([]byte, 12)...)
	for minSize, ok := range map[int]bool{0: true, 1: true, 4: true, 5: false, 1 << 40: false} {
		r := uabin.NewReader(b)
		if n := r.ArrayLen(minSize); ok != (n == 3) || ok != r.OK() {
			t.Errorf("minSize %d: %d elements, %v", minSize, n, r.Err())
		}
	}
}

func TestLimits(t *testing.T) {
	five := append(uabin.AppendInt32(nil, 5), "12345"...)
	for _, c := range []struct {
		name   string
		limits func(n int) uabin.Limits
		read   func(*uabin.Reader)
	}{
		{"string", func(n int) uabin.Limits { return uabin.Limits{MaxString: n} }, func(r *uabin.Reader) { _ = r.String() }},
		{"byte string", func(n int) uabin.Limits { return uabin.Limits{MaxByteString: n} }, func(r *uabin.Reader) { r.Bytes(nil) }},
		{"borrowed", func(n int) uabin.Limits { return uabin.Limits{MaxByteString: n} }, func(r *uabin.Reader) { r.BorrowBytes() }},
		{"array", func(n int) uabin.Limits { return uabin.Limits{MaxArray: n} }, func(r *uabin.Reader) { r.ArrayLen(1) }},
		{"memory", func(n int) uabin.Limits { return uabin.Limits{MaxMemory: 8 * n} }, func(r *uabin.Reader) { uabin.Slice[int64](r, nil, 1) }},
	} {
		for _, n := range []int{5, 6, -1, 0} { // -1 is no limit, 0 the default
			r := limited(five, c.limits(n))
			if c.read(r); r.Err() != nil {
				t.Errorf("%s of 5, limit %d: %v", c.name, n, r.Err())
			}
		}
		for _, n := range []int{1, 4} {
			r := limited(five, c.limits(n))
			c.read(r)
			fails(t, fmt.Sprintf("%s of 5, limit %d", c.name, n), r, limitsExceeded)
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	length := func(n int) []byte { return uabin.AppendInt32(nil, int32(n)) }
	for name, read := range map[string]func(*uabin.Reader){
		"string":      func(r *uabin.Reader) { _ = r.String() },
		"byte string": func(r *uabin.Reader) { r.Bytes(nil) },
		"array":       func(r *uabin.Reader) { r.ArrayLen(0) },
	} {
		r := uabin.NewReader(length(16 << 20))
		read(r)
		fails(t, name+" at the limit, with nothing behind", r, decodingError)
		r = uabin.NewReader(length(16<<20 + 1))
		read(r)
		fails(t, name+" beyond the limit", r, limitsExceeded)
	}
}

func TestDepth(t *testing.T) {
	for limit, want := range map[int]int{1: 1, 3: 3, 0: uabin.DefaultMaxDepth} {
		r := limited([]byte{1}, uabin.Limits{MaxDepth: limit})
		n := 0
		for r.Enter() {
			n++
		}
		if n != want {
			t.Errorf("limit %d: %d levels", limit, n)
		}
		fails(t, "depth", r, limitsExceeded)
	}
	r := limited([]byte{1}, uabin.Limits{MaxDepth: 2})
	for range 1000 { // one after the other is not one in the other
		for range 2 {
			if !r.Enter() {
				t.Fatal(r.Err())
			}
		}
		r.Leave()
		r.Leave()
	}
	r = limited(nil, uabin.Limits{MaxDepth: -1})
	for range 100_000 {
		if !r.Enter() {
			t.Fatal(r.Err())
		}
	}
}

// TestMemory: elements that are small on the wire and large in memory are counted, over all arrays
// of a message; memory that is used again is not.
func TestMemory(t *testing.T) {
	type large struct{ _ [1000]byte }
	array := append(uabin.AppendInt32(nil, 10), make([]byte, 10)...)
	b := bytes.Repeat(array, 3)
	r := limited(b, uabin.Limits{MaxMemory: 20_000})
	for range 2 {
		if v := uabin.Slice[large](r, nil, 1); len(v) != 10 {
			t.Fatalf("%d elements, %v", len(v), r.Err())
		}
		r.Borrow(10)
	}
	if v := uabin.Slice[large](r, nil, 1); v == nil || len(v) != 0 {
		t.Errorf("%d elements beyond the limit", len(v))
	}
	fails(t, "third array", r, limitsExceeded)

	r.Reset(b, uabin.Limits{MaxMemory: 10_000})
	var v []large
	for range 3 {
		v = uabin.Slice(r, v, 1)
		r.Borrow(10)
	}
	if r.Err() != nil || len(v) != 10 {
		t.Errorf("memory that is used again is counted: %v", r.Err())
	}

	// The default is 64 times the input, at least 1 MiB.
	r = uabin.NewReader(make([]byte, 100))
	if v := uabin.Resize[large](r, nil, 1<<20/1000); len(v) != 1<<20/1000 {
		t.Error(r.Err())
	}
	uabin.Resize[large](r, nil, 1)
	fails(t, "default", r, limitsExceeded)
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestReportC02CountBeforeAllocation: a message of 4 bytes that announces 100,000,000 elements, or
// bytes of a string, makes the reader allocate next to nothing.
func TestReportC02CountBeforeAllocation(t *testing.T) {
	const limit = 64 << 10
	b := uabin.AppendInt32(nil, 100_000_000)
	few := append(bytes.Clone(b), make([]byte, 100)...)
	unlimited := uabin.Limits{MaxString: -1, MaxByteString: -1, MaxArray: -1, MaxDepth: -1, MaxMemory: -1}
	type large struct{ _ [64]byte }
	for name, read := range map[string]func(*uabin.Reader){
		"string":               func(r *uabin.Reader) { _ = r.String() },
		"interned string":      func(r *uabin.Reader) { r.Intern = new(uabin.Interner); _ = r.String() },
		"byte string":          func(r *uabin.Reader) { r.Bytes(nil) },
		"borrowed byte string": func(r *uabin.Reader) { r.BorrowBytes() },
		"bytes":                func(r *uabin.Reader) { uabin.Slice[byte](r, nil, 1) },
		"floats":               func(r *uabin.Reader) { uabin.Slice[float64](r, nil, 8) },
		"strings":              func(r *uabin.Reader) { uabin.Slice[string](r, nil, 4) },
		"structures":           func(r *uabin.Reader) { uabin.Slice[large](r, nil, 0) },
		"structures in a window": func(r *uabin.Reader) {
			w := r.Narrow(4)
			uabin.Slice[large](r, nil, 1)
			if err := r.Widen(w); err != nil {
				r.Fail(err.Error())
			}
		},
	} {
		for what, in := range map[string][]byte{"nothing": b, "100 bytes": few} {
			for _, l := range []uabin.Limits{{}, unlimited} {
				r := limited(in, l)
				if n := allocated(func() { read(r) }); n >= limit {
					t.Errorf("%s with %s behind: %d bytes allocated", name, what, n)
				}
				if r.OK() {
					t.Errorf("%s with %s behind: accepted", name, what)
				}
			}
		}
	}
}

func TestWindow(t *testing.T) {
	in := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	r := uabin.NewReader(in)
	w := r.Narrow(4)
	if r.Remaining() != 4 || len(r.Rest()) != 4 || r.Uint32() != 0x04030201 || r.Remaining() != 0 {
		t.Error("the window is not 4 bytes")
	}
	if err := r.Widen(w); err != nil || r.Remaining() != 4 || r.Uint8() != 5 {
		t.Errorf("after the window: %v, %d left", err, r.Remaining())
	}
	if err := r.Widen(r.Narrow(0)); err != nil {
		t.Errorf("an empty window: %v", err)
	}

	// Bytes left over are an error, and are skipped.
	r = uabin.NewReader(in)
	w = r.Narrow(4)
	r.Uint8()
	if err := r.Widen(w); !errors.Is(err, decodingError) || !strings.Contains(err.Error(), "3 bytes left over") {
		t.Errorf("left over: %v", err)
	}
	if !r.OK() || r.Offset() != 4 || r.Uint8() != 5 {
		t.Errorf("left over: %v at %d", r.Err(), r.Offset())
	}

	// So is an overrun: it does not see what stands behind the window, nor does it stick.
	r = uabin.NewReader(in)
	w = r.Narrow(4)
	if v := r.Uint64(); v != 0 || r.OK() {
		t.Errorf("read %#x beyond the window", v)
	}
	if err := r.Widen(w); !errors.Is(err, decodingError) || !r.OK() || r.Offset() != 4 || r.Uint32() != 0x08070605 {
		t.Errorf("overrun: %v, then %v at %d", err, r.Err(), r.Offset())
	}

	// A limit that is exceeded does stick.
	r = limited(append(uabin.AppendInt32(nil, 3), 1, 2, 3, 4), uabin.Limits{MaxString: 2})
	w = r.Narrow(7)
	_ = r.String()
	if err := r.Widen(w); !errors.Is(err, limitsExceeded) {
		t.Errorf("limit: %v", err)
	}
	fails(t, "limit in a window", r, limitsExceeded)

	// A window beyond what is left is a failure at once.
	for _, n := range []int{9, -1, math.MaxInt, math.MinInt} {
		r = uabin.NewReader(in)
		r.Narrow(n)
		fails(t, fmt.Sprintf("window of %d bytes", n), r, decodingError)
	}
}

func TestNestedWindows(t *testing.T) {
	in := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	r := limited(in, uabin.Limits{MaxDepth: 3})
	outer := r.Narrow(6)
	r.Enter()
	middle := r.Narrow(4)
	r.Enter()
	inner := r.Narrow(2)
	r.Enter()
	r.Uint32() // overruns the innermost
	if err := r.Widen(inner); err == nil || r.Offset() != 2 || r.Remaining() != 2 {
		t.Errorf("inner: %v at %d, %d left", err, r.Offset(), r.Remaining())
	}
	if !r.Enter() { // the level that was not left does not count any more
		t.Error(r.Err())
	}
	r.Leave()
	if r.Uint16() != 0x0403 {
		t.Error("after the inner window")
	}
	if r.Narrow(1); r.OK() { // more than the middle one has left, though the input has it
		t.Error("a window reaches beyond the one around it")
	}
	if err := r.Widen(middle); err == nil || r.Offset() != 4 {
		t.Errorf("middle: %v at %d", err, r.Offset())
	}
	r.Leave()
	if r.Uint16() != 0x0605 {
		t.Error("after the middle window")
	}
	if err := r.Widen(outer); err != nil || r.Uint16() != 0x0807 || r.Err() != nil {
		t.Errorf("outer: %v, %v", err, r.Err())
	}

	r = limited(in, uabin.Limits{MaxDepth: 1})
	outer = r.Narrow(6)
	inner = r.Narrow(3)
	for r.Enter() {
	}
	if err := r.Widen(inner); !errors.Is(err, limitsExceeded) {
		t.Errorf("limit inside: %v", err)
	}
	if err := r.Widen(outer); !errors.Is(err, limitsExceeded) {
		t.Errorf("limit outside: %v", err)
	}
	fails(t, "limit in nested windows", r, limitsExceeded)
}

func TestSliceUsesMemoryAgain(t *testing.T) {
	header := func(n int32) *uabin.Reader {
		return uabin.NewReader(append(uabin.AppendInt32(nil, n), make([]byte, 64)...))
	}
	old := [][]byte{{1}, {2}, {3}}
	if got := uabin.Slice(header(2), old, 4); len(got) != 2 || &got[0] != &old[0] || got[1][0] != 2 {
		t.Errorf("got %v", got)
	}
	if got := uabin.Slice(header(3), old[:0], 4); len(got) != 3 || &got[0] != &old[0] || got[2][0] != 3 {
		t.Errorf("up to the capacity: got %v", got)
	}
	if got := uabin.Slice(header(4), old, 4); len(got) != 4 || &got[0] == &old[0] || got[0] != nil {
		t.Errorf("beyond the capacity: got %v", got)
	}
	if got := uabin.Slice(header(-1), old, 4); got != nil {
		t.Errorf("null: got %v", got)
	}
	if got := uabin.Slice(header(0), old, 4); got == nil || len(got) != 0 {
		t.Errorf("empty: got %v", got)
	}
	if got := uabin.Slice[[]byte](header(0), nil, 4); got == nil || len(got) != 0 {
		t.Errorf("empty, without old memory: got %#v", got)
	}
	if got := uabin.Resize(header(0), old, 1); len(got) != 1 || &got[0] != &old[0] {
		t.Errorf("Resize: got %v", got)
	}
	if got := uabin.Resize[struct{}](header(0), nil, 1000); len(got) != 1000 {
		t.Errorf("Resize of what takes no memory: %d elements", len(got))
	}
}

func TestBytesUsesMemoryAgain(t *testing.T) {
	r := uabin.NewReader(uabin.AppendBytes(uabin.AppendBytes(nil, []byte{7, 8}), []byte{9}))
	dst := make([]byte, 1, 8)
	got := r.Bytes(dst)
	if !bytes.Equal(got, []byte{7, 8}) || &got[0] != &dst[0] {
		t.Errorf("got %v", got)
	}
	if got = r.Bytes(got); !bytes.Equal(got, []byte{9}) || &got[0] != &dst[0] {
		t.Errorf("got %v", got)
	}
}

// TestCopiesAndLoans: strings and byte strings outlive the input; what is borrowed is part of it, and
// appending to it does not write over what stands behind.
func TestCopiesAndLoans(t *testing.T) {
	in := uabin.AppendBytes(uabin.AppendString(nil, "abc"), []byte{1, 2})
	in = append(uabin.AppendBytes(in, []byte{3, 4}), 5, 6)
	r := uabin.NewReader(in)
	s, c, l, m := r.String(), r.Bytes(nil), r.BorrowBytes(), r.Borrow(1)
	_ = append(l, 99)
	_ = append(m, 99)
	if r.Uint8() != 6 || r.Err() != nil {
		t.Error("a loan can be extended over its neighbour")
	}
	clear(in)
	if s != "abc" || !bytes.Equal(c, []byte{1, 2}) || !bytes.Equal(l, []byte{0, 0}) || m[0] != 0 {
		t.Errorf("got %q %v %v %v", s, c, l, m)
	}
}

func TestInterner(t *testing.T) {
	var in uabin.Interner
	known := []byte("ns=2;s=Pump.Speed")
	first := in.String(known)
	if n := testing.AllocsPerRun(100, func() {
		if in.String(known) != first {
			t.Error("another string")
		}
	}); n != 0 {
		t.Errorf("%v allocations for a known string", n)
	}
	known[0] = 'X'
	if first != "ns=2;s=Pump.Speed" {
		t.Error("the string is part of the input")
	}

	// However many strings come, few are kept: 2 MB of names, then a new one each time.
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	name := []byte("a name of 100 bytes " + strings.Repeat("-", 80))
	for i := range 20_000 {
		copy(name, fmt.Sprintf("%06d", i))
		if in.String(name) != string(name) {
			t.Fatalf("wrong at %d", i)
		}
	}
	long := bytes.Repeat([]byte("x"), 1<<20) // too long to be kept
	for range 50 {
		_ = in.String(long)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 1<<20 {
		t.Errorf("%d bytes kept", kept)
	}
	runtime.KeepAlive(&in)

	r := uabin.NewReader(uabin.AppendString(uabin.AppendString(uabin.AppendString(nil, "a"), uabin.NullString), uabin.EmptyString))
	r.Intern = &in
	if r.String() != "a" || !uabin.IsNullString(r.String()) || !uabin.IsEmptyString(r.String()) {
		t.Error("an interner changes what is read")
	}
	if r.Reset([]byte{0}, uabin.Limits{}); r.Intern != &in {
		t.Error("Reset drops the interner")
	}
}

func TestReadsAllocateNothing(t *testing.T) {
	b := uabin.AppendBool(nil, true)
	b = uabin.AppendUint8(b, 1)
	b = uabin.AppendInt8(b, 1)
	b = uabin.AppendUint16(b, 2)
	b = uabin.AppendInt16(b, 2)
	b = uabin.AppendUint32(b, 3)
	b = uabin.AppendInt32(b, 3)
	b = uabin.AppendUint64(b, 4)
	b = uabin.AppendInt64(b, 4)
	b = uabin.AppendFloat32(b, 5)
	b = uabin.AppendFloat64(b, 5)
	b = uabin.AppendString(b, "Pump.Speed")
	b = uabin.AppendString(b, uabin.NullString)
	b = uabin.AppendString(b, uabin.EmptyString)
	b = uabin.AppendBytes(b, []byte{1, 2})
	b = uabin.AppendBytes(b, []byte{3, 4})
	b = uabin.AppendInt64(uabin.AppendLen(b, 1, false), 6)
	var r uabin.Reader
	r.Intern = new(uabin.Interner)
	dst, numbers := make([]byte, 0, 8), make([]int64, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(b, uabin.Limits{})
		w := r.Narrow(len(b))
		r.Enter()
		r.Bool()
		r.Uint8()
		r.Int8()
		r.Uint16()
		r.Int16()
		r.Uint32()
		r.Int32()
		r.Uint64()
		r.Int64()
		r.Float32()
		r.Float64()
		_, _, _ = r.String(), r.String(), r.String()
		dst = r.Bytes(dst)
		r.BorrowBytes()
		numbers = uabin.Slice(&r, numbers, 8)
		for i := range numbers {
			numbers[i] = r.Int64()
		}
		r.Leave()
		if err := r.Widen(w); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if r.Err() != nil || r.Remaining() != 0 || numbers[0] != 6 || dst[1] != 2 {
		t.Errorf("%v, %d left", r.Err(), r.Remaining())
	}
}

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	in := uabin.AppendFloat64(uabin.AppendString(uabin.AppendUint32(nil, 1), "Pump.Speed"), 1.5)
	var r uabin.Reader
	r.Intern = new(uabin.Interner)
	for b.Loop() {
		r.Reset(in, uabin.Limits{})
		r.Uint32()
		_ = r.String()
		r.Float64()
	}
}
