package uabin_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// primitive is one value of a primitive: what it looks like on the wire, and how it is written and
// read. read reports whether the value came back.
type primitive struct {
	name string
	wire string // hexadecimal
	put  func(b []byte) []byte
	read func(r *uabin.Reader) bool
}

func scalar[T comparable](name, wire string, v T, put func([]byte, T) []byte, get func(*uabin.Reader) T) primitive {
	return primitive{name, wire,
		func(b []byte) []byte { return put(b, v) },
		func(r *uabin.Reader) bool { return get(r) == v },
	}
}

// primitives has each primitive with its usual values and those at the edge.
func primitives() []primitive {
	text := func(name, wire, v string, put func([]byte, string) []byte, mark func(string) bool) primitive {
		return primitive{name, wire,
			func(b []byte) []byte { return put(b, v) },
			func(r *uabin.Reader) bool { s := r.String(); return s == v && mark(s) },
		}
	}
	binary := func(name, wire string, v []byte) primitive {
		return primitive{name, wire,
			func(b []byte) []byte { return uabin.AppendBytes(b, v) },
			func(r *uabin.Reader) bool {
				got := r.Bytes(nil)
				return bytes.Equal(got, v) && (got == nil) == (v == nil)
			},
		}
	}
	plain := func(s string) bool { return !uabin.IsNullString(s) && !uabin.IsEmptyString(s) }
	put, value := uabin.AppendString, uabin.AppendStringValue
	nan := math.Float64frombits(0x7FF8000000000001)
	return []primitive{
		scalar("true", "01", true, uabin.AppendBool, (*uabin.Reader).Bool),
		scalar("false", "00", false, uabin.AppendBool, (*uabin.Reader).Bool),
		scalar("uint8", "ff", uint8(255), uabin.AppendUint8, (*uabin.Reader).Uint8),
		scalar("int8", "80", int8(-128), uabin.AppendInt8, (*uabin.Reader).Int8),
		scalar("uint16", "fe01", uint16(0x01FE), uabin.AppendUint16, (*uabin.Reader).Uint16),
		scalar("int16", "0080", int16(math.MinInt16), uabin.AppendInt16, (*uabin.Reader).Int16),
		scalar("uint32", "04030201", uint32(0x01020304), uabin.AppendUint32, (*uabin.Reader).Uint32),
		scalar("int32", "00ca9a3b", int32(1e9), uabin.AppendInt32, (*uabin.Reader).Int32), // Part 6, 5.2.2.2
		scalar("int32 min", "00000080", int32(math.MinInt32), uabin.AppendInt32, (*uabin.Reader).Int32),
		scalar("uint64", "0807060504030201", uint64(0x0102030405060708), uabin.AppendUint64, (*uabin.Reader).Uint64),
		scalar("int64", "feffffffffffffff", int64(-2), uabin.AppendInt64, (*uabin.Reader).Int64),
		scalar("float32", "0000d0c0", float32(-6.5), uabin.AppendFloat32, (*uabin.Reader).Float32), // Part 6, 5.2.2.3
		scalar("float64", "182d4454fb210940", math.Pi, uabin.AppendFloat64, (*uabin.Reader).Float64),
		scalar("negative zero", "0000000000000080", math.Float64bits(math.Copysign(0, -1)),
			func(b []byte, v uint64) []byte { return uabin.AppendFloat64(b, math.Float64frombits(v)) },
			func(r *uabin.Reader) uint64 { return math.Float64bits(r.Float64()) }),
		scalar("NaN", "000000000000f8ff", uint64(0xFFF8<<48), // whatever bits it has: Part 6, 5.2.2.3
			func(b []byte, _ uint64) []byte { return uabin.AppendFloat64(b, nan) },
			func(r *uabin.Reader) uint64 { return math.Float64bits(r.Float64()) }),
		scalar("NaN of single precision", "0000c0ff", uint32(0xFFC0<<16),
			func(b []byte, _ uint32) []byte { return uabin.AppendFloat32(b, float32(nan)) },
			func(r *uabin.Reader) uint32 { return math.Float32bits(r.Float32()) }),
		text("string", "06000000e6b0b4426f79", "水Boy", put, plain), // Part 6, 5.2.2.4
		text("string that is no UTF-8", "02000000ff00", "\xff\x00", value, plain),
		text("null string", "ffffffff", uabin.NullString, put, uabin.IsNullString),
		text("null string value", "ffffffff", uabin.NullString, value, uabin.IsNullString),
		text("empty string", "00000000", uabin.EmptyString, put, uabin.IsEmptyString),
		text("empty string value", "00000000", uabin.EmptyString, value, uabin.IsEmptyString),
		binary("byte string", "0300000001ff00", []byte{1, 255, 0}),
		binary("null byte string", "ffffffff", nil),
		binary("empty byte string", "00000000", []byte{}),
		scalar("length", "07000000", 7, func(b []byte, n int) []byte { return uabin.AppendLen(b, n, false) },
			func(r *uabin.Reader) int { return int(r.Int32()) }),
		scalar("length of null", "ffffffff", -1, func(b []byte, _ int) []byte { return uabin.AppendLen(b, 0, true) },
			func(r *uabin.Reader) int { return int(r.Int32()) }),
	}
}

func TestPrimitives(t *testing.T) {
	for _, p := range primitives() {
		b := p.put([]byte{0xAA}) // what stands before must stay
		if got := hex.EncodeToString(b[1:]); got != p.wire || b[0] != 0xAA {
			t.Errorf("%s: appended %s, want %s", p.name, got, p.wire)
		}
		r := uabin.NewReader(b[1:])
		if !p.read(r) || r.Err() != nil || r.Remaining() != 0 || r.Offset() != len(b)-1 {
			t.Errorf("%s: read something else: %v, %d bytes left", p.name, r.Err(), r.Remaining())
		}
	}
}

// TestBoolOfOtherBytes: every value but 0 is true (Part 6, 5.2.2.1); only 0 and 1 are written.
func TestBoolOfOtherBytes(t *testing.T) {
	for v := range 256 {
		if got := uabin.NewReader([]byte{byte(v)}).Bool(); got != (v != 0) {
			t.Errorf("%d reads as %t", v, got)
		}
	}
}

const null, empty = "ffffffff", "00000000"

func asField(s string) string { return hex.EncodeToString(uabin.AppendString(nil, s)) }
func asValue(s string) string { return hex.EncodeToString(uabin.AppendStringValue(nil, s)) }

// TestEmptyStringsOfOtherOrigin: an empty string that nobody marked takes the meaning of its place.
func TestEmptyStringsOfOtherOrigin(t *testing.T) {
	var zero string
	for name, s := range map[string]string{
		"literal": "", "zero value": zero, "made": string([]byte{}), "end of another": "abc"[3:],
		"clone of null": strings.Clone(uabin.NullString), "clone of empty": strings.Clone(uabin.EmptyString),
	} {
		if uabin.IsNullString(s) || uabin.IsEmptyString(s) || asField(s) != null || asValue(s) != empty {
			t.Errorf("%s: field %s, value %s", name, asField(s), asValue(s))
		}
	}
	if uabin.IsNullString("a") || uabin.IsEmptyString("a") {
		t.Error("a string with bytes is neither")
	}
}

// TestMarksBehaveAsEmpty: whoever does not know of them sees ordinary empty strings.
func TestMarksBehaveAsEmpty(t *testing.T) {
	for _, s := range []string{uabin.NullString, uabin.EmptyString} {
		m := map[string]int{s: 1}
		if s != "" || len(s) != 0 || m[""] != 1 || s+"x" != "x" || strings.TrimSpace(s) != "" || []byte(s) == nil {
			t.Errorf("%q is not an ordinary empty string", s)
		}
	}
}

// TestMarksSurviveCopies: wherever the string header is copied as it is, the mark goes along.
func TestMarksSurviveCopies(t *testing.T) {
	type text string
	type pair struct {
		id int
		s  string
	}
	check := func(how string, n, e string) {
		t.Helper()
		if !uabin.IsNullString(n) || uabin.IsEmptyString(n) || asField(n) != null || asValue(n) != null {
			t.Errorf("%s: null is field %s, value %s", how, asField(n), asValue(n))
		}
		if !uabin.IsEmptyString(e) || uabin.IsNullString(e) || asField(e) != empty || asValue(e) != empty {
			t.Errorf("%s: empty is field %s, value %s", how, asField(e), asValue(e))
		}
	}
	n, e := uabin.NullString, uabin.EmptyString
	check("variables", n, e)
	pn, pe := pair{1, n}, pair{2, e}
	copies := []pair{pn, pe}
	copies = append(make([]pair, 0, 9), copies...)
	check("structures in slices", copies[0].s, copies[1].s)
	s := make([]string, 2)
	copy(s, []string{n, e})
	check("slices", s[0], s[1])
	m := map[int]string{0: n, 1: e}
	check("values of maps", m[0], m[1])
	check("named types", string(text(n)), string(text(e)))
	check("slices of strings", n[:0], e[0:])
	boxed = []any{pn, &e, [2]string{n, e}}
	check("structures and pointers in interfaces", boxed[0].(pair).s, *boxed[1].(*string))
	check("arrays in interfaces", boxed[2].([2]string)[0], boxed[2].([2]string)[1])
	c := make(chan string, 2)
	c <- n
	c <- e
	check("channels", <-c, <-c)
	rn, re := func() (string, string) { return n, e }()
	check("results", rn, re)
}

// boxed makes what is stored in it escape to the heap.
var boxed []any

// TestMarksInInterfaces: Go gives an empty string that is put into an interface on the heap another
// origin, so a mark may get lost there. What is left takes the meaning of its place, nothing else.
func TestMarksInInterfaces(t *testing.T) {
	boxed = []any{uabin.NullString, uabin.EmptyString}
	n, e := boxed[0].(string), boxed[1].(string)
	if n != "" || uabin.IsEmptyString(n) || asField(n) != null {
		t.Errorf("null: field %s", asField(n))
	}
	if e != "" || uabin.IsNullString(e) || asValue(e) != empty {
		t.Errorf("empty: value %s", asValue(e))
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	b := make([]byte, 0, 1024)
	all := primitives()
	if n := testing.AllocsPerRun(100, func() {
		b = b[:0]
		for i := range all {
			b = all[i].put(b)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	buf := make([]byte, 0, 64)
	for b.Loop() {
		buf = uabin.AppendUint32(buf[:0], 1)
		buf = uabin.AppendString(buf, "Pump.Speed")
		buf = uabin.AppendFloat64(buf, 1.5)
	}
}
