package serial_test

import (
	"errors"
	"math"
	"testing"

	"github.com/actua/actua/actor/serial"
)

// TestPrimitivesRefused: bytes that are no primitive (section 10, row 29, and row 34: a bad message is an error, no more).
func TestPrimitivesRefused(t *testing.T) {
	r := register(t, serial.Options{})
	for _, c := range []struct{ manifest, body string }{
		{"I", ""}, {"I", "123"}, {"I", "12345"}, {"L", "1234"}, {"L", ""}, {"System.Int32, mscorlib", "12345678"},
	} {
		var bad *serial.FormatError
		if v, err := r.Decode(17, []byte(c.manifest), []byte(c.body), exchange(r)); !errors.As(err, &bad) {
			t.Errorf("%q %q: %v, %v", c.manifest, c.body, v, err)
		}
	}
	for _, manifest := range []string{"", "s", "D", "System.Double, mscorlib", "System.String", "System.String,mscorlib"} {
		var unknown *serial.ManifestError
		if v, err := r.Decode(17, []byte(manifest), []byte("1234"), exchange(r)); !errors.As(err, &unknown) || unknown.ID != 17 {
			t.Errorf("%q: %v, %v", manifest, v, err)
		}
	}
}

// TestPrimitives is section 10, row 29 (PrimitiveSerializersSpec, BugFix5279Spec): both manifest styles, and that of
// .NET Framework, for 0, 1, -1, the ends, and strings.
func TestPrimitives(t *testing.T) {
	forms := []struct {
		o       serial.Options
		s, i, l string
	}{
		{serial.Options{}, "System.String, System.Private.CoreLib", "System.Int32, System.Private.CoreLib", "System.Int64, System.Private.CoreLib"},
		{serial.Options{Mscorlib: true}, "System.String, mscorlib", "System.Int32, mscorlib", "System.Int64, mscorlib"},
		{serial.Options{ShortPrimitives: true}, "S", "I", "L"},
	}
	reader := register(t, serial.Options{})
	for _, f := range forms {
		r := register(t, f.o)
		check := func(msg, want any, manifest string) {
			t.Helper()
			id, m, body := encode(t, r, msg)
			if id != 17 || m != manifest {
				t.Errorf("%v: serializer %d, manifest %q", msg, id, m)
			}
			if got := decode(t, reader, id, m, body); got != want {
				t.Errorf("%v became %v", msg, got)
			}
		}
		for _, v := range []int32{0, 1, -1, math.MinInt32, math.MaxInt32} {
			check(v, v, f.i)
		}
		for _, v := range []int64{0, 1, -1, math.MinInt64, math.MaxInt64} {
			check(v, v, f.l)
			check(int(v), v, f.l) // Go's int is a long
		}
		for _, v := range []string{"", "hello", "größe ✓ 漢字", "\x00"} {
			check(v, v, f.s)
		}
	}
}

func TestPrimitiveAllocations(t *testing.T) {
	r := register(t, serial.Options{})
	x := exchange(r)
	buf := make([]byte, 0, 4096)
	for _, c := range []struct {
		name string
		msg  any
		most float64 // of reading
	}{
		{"string", "hello, how are you", 2}, {"string empty", "", 1}, {"int32", int32(1 << 20), 1}, {"int32 small", int32(42), 0},
		{"int64", int64(1 << 40), 1}, {"int64 small", int64(255), 0}, {"bytes", make([]byte, 100), 2},
	} {
		body, id, manifest, err := r.Append(nil, c.msg, x)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() { sinkBytes, _, _, _ = r.Append(buf, c.msg, x) }); n != 0 {
			t.Errorf("%s: %v allocations to write", c.name, n)
		}
		m := []byte(manifest)
		if n := testing.AllocsPerRun(100, func() { sinkAny, _ = r.Decode(id, m, body, x) }); n > c.most {
			t.Errorf("%s: %v allocations to read, at most %v are expected", c.name, n, c.most)
		}
	}
	var reading any = Reading{Tag: "line1", Value: 71.5, Quality: 192, Ticks: 638000000000000000, Labels: []string{"a", "b"}, ReplyTo: theNode().echo}
	if n := testing.AllocsPerRun(100, func() { sinkBytes, _, _, _ = r.Append(buf, reading, x) }); n != 0 {
		t.Errorf("a Reading: %v allocations to write", n)
	}
	body, _, _, _ := r.Append(nil, Reading{Tag: "line1", Value: 71.5, Quality: 192, Labels: []string{"a", "b"}}, x)
	if n := testing.AllocsPerRun(100, func() { sinkAny, _ = r.Decode(1, nil, body, x) }); n > 5 { // the Reading, the text, the array, its texts
		t.Errorf("a Reading: %v allocations to read", n)
	}
}

// TestDecodedBytesAreOurs: what is decoded keeps nothing of the buffer it came in.
func TestDecodedBytesAreOurs(t *testing.T) {
	r := register(t, serial.Options{})
	for _, g := range goldens(t) {
		body := append([]byte(nil), g.bytes...)
		manifest := []byte(g.Manifest)
		msg, err := r.Decode(g.SerializerID, manifest, body, exchange(r))
		if err != nil {
			t.Fatal(err)
		}
		for i := range body {
			body[i] = '!'
		}
		for i := range manifest {
			manifest[i] = '!'
		}
		if g.Name == "guid" {
			continue // a text after reading
		}
		out, _, _, err := r.Append(nil, msg, exchange(r))
		if err != nil || string(out) != string(g.bytes) {
			t.Errorf("%s: %q after its buffer was overwritten, %v", g.Name, out, err)
		}
	}
}

// TestTruncated cuts each recorded message at each place: an error, or another message, nothing worse.
func TestTruncated(t *testing.T) {
	r := register(t, serial.Options{})
	for _, g := range goldens(t) {
		for n := range g.bytes {
			msg, err := r.Decode(g.SerializerID, []byte(g.Manifest), g.bytes[:n], exchange(r))
			if g.SerializerID == 1 && err == nil && n < len(g.bytes) && g.bytes[0] == '{' {
				t.Errorf("%s: %d bytes became %v", g.Name, n, msg)
			}
		}
	}
}
