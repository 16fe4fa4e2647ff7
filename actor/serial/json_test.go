package serial_test

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

const (
	numbersType = `"$type":"AkkaPeer.Numbers, akka-peer"`
	innerType   = `"$type":"AkkaPeer.Inner, akka-peer"`
	outerType   = `"$type":"AkkaPeer.Outer, akka-peer"`
)

func decodeJSON(r *serial.Registry, body string) (any, error) {
	return r.Decode(1, nil, []byte(body), exchange(r))
}

// TestJSONRefused: what is no message is an error, and the next message is none the worse for it.
func TestJSONRefused(t *testing.T) {
	r := register(t, serial.Options{})
	x := exchange(r)
	for _, body := range []string{
		"", " ", "{", "[", `"`, `"\`, `"\u12`, `"\ud800\u`, `"\x"`, "nul", "tru", "-", "--1", "1 2", "{}}", "[1,]x", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, "\xff",
		`{"$type":"X, Y"}`, `{` + numbersType, `{` + numbersType + `,`, `{` + numbersType + `,"I"`, `{` + numbersType + `,"I":`, `{` + numbersType + `,"I":{"$":"I1"}`,
		`{` + numbersType + `,"I":{"$":"X1"}}`, `{` + numbersType + `,"I":{"$":"I"}}`, `{` + numbersType + `,"I":{"$":1}}`, `{` + numbersType + `,"I":{}}`,
		`{` + numbersType + `,"I":{"$":"I1","x":1}}`, `{` + numbersType + `,"I":[]}`, `{` + numbersType + `,"I":true}`, `{` + numbersType + `,"I":"x"}`,
		`{` + numbersType + `,"I":2147483648}`, `{` + numbersType + `,"I":{"$":"I2147483648"}}`, `{` + numbersType + `,"I":1.5}`, `{` + numbersType + `,"B":256}`, `{` + numbersType + `,"B":-1}`,
		`{` + numbersType + `,"U":-1}`, `{` + numbersType + `,"UL":18446744073709551616}`, `{` + numbersType + `,"L":9223372036854775808}`, `{` + numbersType + `,"D":1e999}`,
		`{` + numbersType + `,"M":{"$":"Mx"}}`, `{` + numbersType + `,"M":1e99}`, `{` + numbersType + `,"T":"x"}`, `{` + numbersType + `,"T":"24:00:00"}`, `{` + numbersType + `,"T":"00:60:00"}`,
		`{` + numbersType + `,"T":"106752.00:00:00"}`, `{` + numbersType + `,"DT":"yesterday"}`, `{` + numbersType + `,"DT":"2026-13-01T00:00:00"}`, `{` + numbersType + `,"G":"x"}`,
		`{` + numbersType + `,"G":"0102030405060708090a0b0c0d0e0fzz"}`, `{` + numbersType + `,"By":"?"}`, `{` + numbersType + `,"By":5}`, `{` + numbersType + `,"C":"xy"}`, `{` + numbersType + `,"C":"😀"}`, `{` + numbersType + `,"E":"Someday"}`,
		`{` + outerType + `,"Inner":5}`, `{` + outerType + `,"Inner":{"$type":"AkkaPeer.Reading, akka-peer"}}`, `{` + outerType + `,"Inner":{"$type":"X, Y"}}`, `{` + outerType + `,"Inner":{"$ref":"1"}}`,
		`{` + outerType + `,"Items":5}`, `{` + outerType + `,"Items":{}}`, `{` + outerType + `,"Items":{"$values":{}}}`, `{` + outerType + `,"Map":[]}`, `{` + outerType + `,"Any":{"$type":"X, Y"}}`, `{` + outerType + `,"Any":{"$ref":"7"}}`,
		`{"$type":"Akka.Actor.ActorRefBase+Surrogate, Akka"}`, `{"$type":"Akka.Actor.ActorRefBase+Surrogate, Akka","Path":"nowhere"}`, `{"$type":"Akka.Actor.ActorPath+Surrogate, Akka","Path":"nowhere"}`,
		`{"$type":"Akka.Actor.Address+AddressSurrogate, Akka"}`, `{"$type":"Akka.Actor.Address+AddressSurrogate, Akka","Protocol":"akka","System":"a","Host":"b","Port":99999}`,
		`{"$type":"AkkaPeer.Reading, akka-peer","ReplyTo":{}}`, `{"$type":"AkkaPeer.Reading, akka-peer","ReplyTo":5}`, `{"$type":"AkkaPeer.Reading, akka-peer","ReplyTo":` + `{` + innerType + `}}`, `{"$type":"AkkaPeer.Reading, akka-peer","Labels":[1,{}]}`,
		`{"$type":"System.Int32[], mscorlib"}`, `{"$type":"System.Diagnostics.Process, System"}`, `{"$type":"System.Collections.Generic.List` + "`" + `1[[X, Y]], mscorlib","$values":[]}`,
	} {
		if msg, err := r.Decode(1, nil, []byte(body), x); err == nil {
			t.Errorf("%s became %#v", body, msg)
		}
		if msg, err := r.Decode(1, nil, []byte(`{`+innerType+`,"A":{"$":"I1"}}`), x); err != nil || msg != any(Inner{1}) {
			t.Fatalf("after %s: %v, %v", body, msg, err)
		}
	}
}

// TestJSONUnknownType names the type that is not allowed, and makes nothing of it.
func TestJSONUnknownType(t *testing.T) {
	r := register(t, serial.Options{})
	for body, name := range map[string]string{
		`{"$type":"System.IO.FileInfo, mscorlib","OriginalPath":"/etc/passwd"}`:                                          "System.IO.FileInfo, mscorlib",
		`{` + outerType + `,"Any":{"$type":"X, Y"}}`:                                                                     "X, Y",
		`{` + outerType + `,"Inner":{"$type":"X, Y"}}`:                                                                   "X, Y",
		`{"$id":"1","$type":"AkkaPeer.Inner, other"}`:                                                                    "AkkaPeer.Inner, other",
		`{"$type":"AkkaPeer.Reading, akka-peer","ReplyTo":{"$type":"Evil, E","Path":"akka://a/b"}}`:                      "Evil, E",
		`{"$type":"` + strings.Repeat("x", 10000) + `"}`:                                                                 strings.Repeat("x", 10000),
		`{"$type":"System.Collections.Generic.List` + "`" + `1[[System.IO.FileInfo, mscorlib]], mscorlib","$values":[]}`: "System.Collections.Generic.List`1[[System.IO.FileInfo, mscorlib]], mscorlib",
	} {
		var e *serial.UnknownTypeError
		if _, err := decodeJSON(r, body); !errors.As(err, &e) || e.Type != name || e.Go {
			t.Errorf("%.100s: %v", body, err)
		} else if len(err.Error()) > 400 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

// TestJSONBounded: depth and memory have an end.
func TestJSONBounded(t *testing.T) {
	r := register(t, serial.Options{})
	deep := 100000
	for _, body := range []string{
		strings.Repeat("[", deep), strings.Repeat(`{"a":`, deep), strings.Repeat("[", deep) + strings.Repeat("]", deep),
		`{` + outerType + `,"x":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`,
		strings.Repeat(`{`+outerType+`,"Any":`, 100) + "null" + strings.Repeat("}", 100),
	} {
		if msg, err := decodeJSON(r, body); !errors.Is(err, serial.ErrTooDeep) {
			t.Errorf("%.80s: %T, %v", body, msg, err)
		}
	}
	// A few bytes an element, and a struct of 200 for each.
	body := `{"$type":"AkkaPeer.Numbers[], akka-peer","$values":[` + strings.TrimSuffix(strings.Repeat(`{},`, 100000), ",") + `]}`
	if _, err := decodeJSON(r, body); !errors.Is(err, serial.ErrTooLarge) {
		t.Errorf("structs: %v", err)
	}
	body = `{` + outerType + `,"Any":{"$type":"AkkaPeer.Numbers[], akka-peer","$values":[{"$id":"7"},` + strings.TrimSuffix(strings.Repeat(`{"$ref":"7"},`, 30000), ",") + `]}}`
	if _, err := decodeJSON(r, body); err != nil && !errors.Is(err, serial.ErrTooLarge) {
		t.Errorf("copies: %v", err)
	}
	x := exchange(r)
	a := []any{nil, nil}
	a[0], a[1] = a, a
	for _, msg := range []any{Outer{Any: a}, map[string]any{"a": a}} {
		if _, _, _, err := r.Append(nil, msg, x); !errors.Is(err, serial.ErrTooDeep) {
			t.Errorf("a value within itself: %v", err)
		}
	}
	x.MaxSize = 1000
	many := make([]any, 1000)
	for i := range many {
		many[i] = "0123456789"
	}
	if out, _, _, err := r.Append(nil, Outer{Any: many}, x); !errors.Is(err, serial.ErrTooLarge) || len(out) != 0 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestJSONSeen is the table of section 13, row by row: what a .NET receiver took, and what it lost. We take all of
// it, and write what it takes.
func TestJSONSeen(t *testing.T) {
	r := register(t, serial.Options{})
	num := func(members string) string { return `{"$id":"1",` + numbersType + `,` + members + `}` }
	i5 := int32(5)
	for _, c := range []struct {
		row  string
		body string
		want any
	}{
		{"1 int bare", num(`"I":7`), Numbers{I: 7}},
		{"1 float bare", num(`"F":1.5`), Numbers{F: 1.5}},
		{"1 decimal bare", num(`"M":9.90`), Numbers{M: "9.90"}},
		{"2 int wrapped", num(`"I":{"$":"I7"}`), Numbers{I: 7}},
		{"2 float wrapped", num(`"F":{"$":"F1.5"}`), Numbers{F: 1.5}},
		{"2 decimal wrapped", num(`"M":{"$":"M9.90"}`), Numbers{M: "9.90"}},
		{"3 int? bare", num(`"NI":5`), Numbers{NI: &i5}},
		{"3 int? wrapped", num(`"NI":{"$":"I5"}`), Numbers{NI: &i5}},
		{"4 bare", num(`"L":9,"S":11,"B":12,"U":13,"UL":14,"D":2.5`), Numbers{L: 9, S: 11, B: 12, U: 13, UL: 14, D: 2.5}},
		{"4 double as 1", num(`"D":1`), Numbers{D: 1}},
		{"5 enum as number", num(`"E":5`), Numbers{E: 5}},
		{"5 enum as name", num(`"E":"Friday"`), Numbers{E: 5}},
		{"6 object, bare integer", num(`"O":5`), Numbers{O: int64(5)}},
		{"6 object, wrapped int", num(`"O":{"$":"I5"}`), Numbers{O: int32(5)}},
		{"6 object, date", num(`"O":"2026-01-02T03:04:05Z"`), Numbers{O: "2026-01-02T03:04:05Z"}},
		{"7 TimeSpan", num(`"T":"00:01:30"`), Numbers{T: 90 * time.Second}},
		{"7 DateTime", num(`"DT":"2026-01-02T03:04:05.678Z"`), Numbers{DT: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)}},
		{"7 DateTimeOffset", num(`"DO":"2026-01-02T03:04:05+00:00"`), Numbers{DO: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 0))}},
		{"7 Guid", num(`"G":"01020304-0506-0708-090a-0b0c0d0e0f10"`), Numbers{G: serial.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}},
		{"7 bytes", num(`"By":"AQID"`), Numbers{By: []byte{1, 2, 3}}},
		{"8 root string", `"x"`, "x"}, {"8 root number", `5`, int64(5)}, {"8 root wrapped", `{"$":"I5"}`, int32(5)}, {"8 root double", `1.5`, 1.5}, {"8 root bool", `true`, true},
		{"9 typed array", `{"$type":"System.String[], mscorlib","$values":["a"]}`, []string{"a"}},
		{"9 bare array", `["a"]`, serial.JArray(`["a"]`)},
		{"10 root without type", `{"a": 1}`, serial.JObject(`{"a": 1}`)},
	} {
		msg, err := decodeJSON(r, c.body)
		if err != nil || !reflect.DeepEqual(msg, c.want) {
			t.Errorf("row %s: %s\ngot  %#v, %v\nwant %#v", c.row, c.body, msg, err, c.want)
		}
	}
	// row 11: an unknown $type is lost.
	var e *serial.UnknownTypeError
	if _, err := decodeJSON(r, `{"$type":"X, Y"}`); !errors.As(err, &e) {
		t.Errorf("row 11: %v", err)
	}
	// row 12, and rows 1 to 3 of what is written.
	for _, c := range []struct {
		msg  any
		want string
	}{
		{Numbers{}, num(`"C":"\u0000"`)},
		{Numbers{I: 7, NI: &i5, F: 1.5, M: "9.90", C: 'x'}, num(`"I":{"$":"I7"},"NI":5,"F":{"$":"F1.5"},"M":{"$":"M9.90"},"C":"x"`)},
		{Numbers{NI: new(int32), C: 'x', E: 5, O: int32(5), OL: int64(6)}, num(`"NI":0,"E":5,"O":{"$":"I5"},"OL":6,"C":"x"`)},
		{Reading{}, `{"$id":"1","$type":"AkkaPeer.Reading, akka-peer","Tag":""}`},
		{serial.JObject(`{"a": 1}`), `{"a": 1}`}, {serial.JArray(`["a"]`), `["a"]`},
		{1.0, "1.0"}, {float32(1.5), `{"$":"F1.5"}`}, {serial.Decimal("1.50"), `{"$":"M1.50"}`}, {true, "true"}, {int16(3), "3"}, {serial.Char('x'), `"x"`},
	} {
		if _, _, body := encode(t, r, c.msg); body != c.want {
			t.Errorf("%#v\ngot  %s\nwant %s", c.msg, body, c.want)
		}
	}
}

// TestJSONTolerant: members that are unknown, absent, null, out of order or in other letters; white space; names
// with versions and old assemblies.
func TestJSONTolerant(t *testing.T) {
	r := register(t, serial.Options{})
	want := Reading{Tag: "a", Quality: 3, Labels: []string{"x"}}
	for _, body := range []string{
		`{"$type":"AkkaPeer.Reading, akka-peer","Tag":"a","Quality":3,"Labels":["x"]}`,
		` { "$type" : "AkkaPeer.Reading, akka-peer" , "Labels" : [ "x" ] , "Quality" : 3 , "Tag" : "a" } `,
		`{"$type":"AkkaPeer.Reading, akka-peer, Version=1.0.0.0, Culture=neutral, PublicKeyToken=null","tag":"a","QUALITY":"3","labels":{"$values":["x"]}}`,
		`{"$id":"9","$type":"AkkaPeer.Reading, akka-peer","new":{"a":[{}]},"Tag":"a","more":[1,[2]],"Quality":{"$":"I3"},"Value":null,"Labels":{"$type":"System.String[], mscorlib","$values":["x"]},"ReplyTo":null}`,
		`{"$type":"AkkaPeer.Reading, akka-peer","Tag":"\u0061","Quality":3.0,"Labels":{"$id":"4","$type":"System.Collections.Generic.List` + "`" + `1[[System.String, mscorlib]], mscorlib","$values":["x"]}}`,
		"\ufeff" + `{"$type":"AkkaPeer.Reading, akka-peer","Tag":"a","Quality":3,"Labels":["x"]}`,
		`{"$type":"AkkaPeer.Reading, akka-peer","Labels":["gone"],"Tag":"a","Quality":3,"Labels":["x"]}`,
	} {
		if msg, err := decodeJSON(r, body); err != nil || !reflect.DeepEqual(msg, want) {
			t.Errorf("%s\n%#v, %v", body, msg, err)
		}
	}
}

// TestJSONReferences: an object that is there twice is one object on the other side too.
func TestJSONReferences(t *testing.T) {
	r := register(t, serial.Options{})
	one := &Inner{1}
	_, _, body := encode(t, r, Outer{Inner: one, Same: one, Items: []*Inner{one, nil, {1}}, Any: one})
	want := `{"$id":"1",` + outerType + `,"Inner":{"$id":"2",` + innerType + `,"A":{"$":"I1"}},"Same":{"$ref":"2"},` +
		`"Items":{"$type":"System.Collections.Generic.List` + "`" + `1[[AkkaPeer.Inner, akka-peer]], System.Private.CoreLib","$values":[{"$ref":"2"},null,{"$id":"3",` + innerType + `,"A":{"$":"I1"}}]},"Any":{"$ref":"2"}}`
	if body != want {
		t.Errorf("\n%s\n%s", body, want)
	}
	got := decode(t, r, 1, "", body).(Outer)
	if got.Inner != got.Same || got.Items[0] != got.Inner || got.Items[1] != nil || got.Items[2] == got.Inner || got.Any != any(Inner{1}) {
		t.Errorf("%#v", got)
	}
	// A type registered by its pointer stays shared in a member of type object, and a cycle is no trouble.
	type Node struct {
		Next  *Node
		Any   any
		Value []Inner
	}
	r = serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[*Node](r, "N, A")
	n := &Node{Value: []Inner{{7}, {8}}}
	n.Next, n.Any = n, n
	_, _, body = encode(t, r, n)
	back := decode(t, r, 1, "", body).(*Node)
	if back.Next != back || back.Any != any(back) || !reflect.DeepEqual(back.Value, n.Value) {
		t.Errorf("%s became %#v", body, back)
	}
	// By value there is no cycle.
	type V struct {
		A any
		B Inner
		C Inner
	}
	r = serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[V](r, "V, A")
	if _, err := decodeJSON(r, `{"$id":"1","$type":"V, A","A":{"$ref":"1"}}`); err == nil {
		t.Error("a value contains itself")
	}
	if v := decode(t, r, 1, "", `{"$id":"1","$type":"V, A","B":{"$id":"2","A":5},"C":{"$ref":"2"}}`).(V); v.C.A != 5 {
		t.Errorf("%#v", v)
	}
	// Many references are found as fast as few.
	var b strings.Builder
	b.WriteString(`{"$type":"System.Object[], mscorlib","$values":[`)
	for i := range 40 {
		b.WriteString(strings.ReplaceAll(`{"$id":"N","$type":"V, A"},{"$ref":"N"},`, "N", strings.Repeat("i", i+1)))
	}
	if v := decode(t, r, 1, "", b.String()+`1]}`).([]any); len(v) != 81 {
		t.Errorf("%d elements", len(v))
	}
}

type Shape interface{ Area() float64 }
type Square struct{ Side float64 }
type Circle struct{ Radius float64 }

func (s Square) Area() float64  { return s.Side * s.Side }
func (c *Circle) Area() float64 { return math.Pi * c.Radius * c.Radius }

// TestJSONPolymorphic: what an interface holds says its type.
func TestJSONPolymorphic(t *testing.T) {
	type Drawing struct {
		Main   Shape
		Others []Shape `net:"Others,bare"`
		Named  map[string]Shape
	}
	r := serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[Drawing](r, "D.Drawing, D")
	serial.RegisterJSON[Square](r, "D.Square, D")
	serial.RegisterJSON[*Circle](r, "D.Circle, D")
	serial.RegisterJSON[Inner](r, "D.Inner, D")
	d := Drawing{Main: Square{2}, Others: []Shape{&Circle{1}, nil, Square{3}}, Named: map[string]Shape{"b": Square{1}, "a": &Circle{2}}}
	_, _, body := encode(t, r, d)
	want := `{"$id":"1","$type":"D.Drawing, D","Main":{"$id":"2","$type":"D.Square, D","Side":2.0},"Others":[{"$id":"3","$type":"D.Circle, D","Radius":1.0},null,{"$id":"4","$type":"D.Square, D","Side":3.0}],` +
		`"Named":{"$id":"5","a":{"$id":"6","$type":"D.Circle, D","Radius":2.0},"b":{"$id":"7","$type":"D.Square, D","Side":1.0}}}`
	if body != want {
		t.Errorf("\n%s\n%s", body, want)
	}
	if got := decode(t, r, 1, "", body); !reflect.DeepEqual(got, d) {
		t.Errorf("%#v", got)
	}
	for _, bad := range []string{`{"$type":"D.Inner, D"}`, `5`, `"x"`, `{}`} {
		if msg, err := decodeJSON(r, `{"$type":"D.Drawing, D","Main":`+bad+`}`); err == nil {
			t.Errorf("%s is a shape: %#v", bad, msg)
		}
	}
}

// TestJSONForms: every kind of member, there and back.
func TestJSONForms(t *testing.T) {
	type Base struct{ Created time.Time }
	type Color uint8
	type All struct {
		Base
		Skip    int32 `net:"-"`
		hidden  int32
		Named   string  `net:"name,null"`
		Opt     *string `net:"Opt"`
		Bools   []bool
		Ints    []int32
		Longs   serial.List[int64]
		Set     []string `net:"Set,set"`
		Nested  [][]int32
		ByInt   map[int32]string
		ByGUID  map[serial.GUID]int64
		Color   Color
		Colors  []Color
		Value   Inner
		Path    actor.Path
		Address actor.Address
		Ref     *actor.Ref
		Raw     serial.JObject
		Times   []time.Time `net:"Times,offset"`
		Nullf   *float32
		Nulld   *serial.Decimal
		Go      int
		Chars   []serial.Char
		Any     any
	}
	r := serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[All](r, "A.All, A")
	serial.RegisterJSON[Inner](r, "A.Inner, A")
	serial.RegisterEnum(r, "A.Color, A", map[string]Color{"Red": 1, "Green": 2, "Blue": 4})
	text, f, dec := "", float32(2), serial.Decimal("1.10")
	p, _ := actor.ParsePath("akka.tcp://S@h:1/user/a#7")
	v := All{
		Base: Base{time.Date(2026, 1, 2, 3, 4, 5, 1234500, serial.Unspecified)}, Opt: &text, Bools: []bool{true, false}, Ints: []int32{}, Longs: serial.List[int64]{1},
		Set: []string{"s"}, Nested: [][]int32{{1}, nil, {}}, ByInt: map[int32]string{2: "b", 1: "a"}, ByGUID: map[serial.GUID]int64{{1}: 5},
		Color: 2, Colors: []Color{1, 4}, Value: Inner{3}, Path: p, Address: p.Address(), Ref: theNode().echo, Raw: `{"x":[1,2]}`,
		Times: []time.Time{time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", -9000))}, Nullf: &f, Nulld: &dec, Go: 5, Chars: []serial.Char{'a', 0xd800}, Any: map[string]any{"k": serial.GUID{9}},
	}
	_, _, body := encode(t, r, v)
	core := "System.Private.CoreLib"
	for _, part := range []string{
		`{"$id":"1","$type":"A.All, A","Created":"2026-01-02T03:04:05.0012345","Opt":"","Bools":{"$type":"System.Boolean[], ` + core + `","$values":[true,false]},"Ints":{"$type":"System.Int32[], ` + core + `","$values":[]},`,
		`"Longs":{"$type":"System.Collections.Generic.List` + "`" + `1[[System.Int64, ` + core + `]], ` + core + `","$values":[1]},"Set":{"$type":"System.Collections.Generic.HashSet` + "`" + `1[[System.String, ` + core + `]], ` + core + `","$values":["s"]},`,
		`"Nested":{"$type":"System.Int32[][], ` + core + `","$values":[{"$type":"System.Int32[], ` + core + `","$values":[{"$":"I1"}]},null,{"$type":"System.Int32[], ` + core + `","$values":[]}]},`,
		`"ByInt":{"$id":"2","$type":"System.Collections.Generic.Dictionary` + "`" + `2[[System.Int32, ` + core + `],[System.String, ` + core + `]], ` + core + `","1":"a","2":"b"},`,
		`"Color":2,"Colors":{"$type":"A.Color[], A","$values":[1,4]},"Value":{"$id":"4","$type":"A.Inner, A","A":{"$":"I3"}},"Path":{"$id":"5","$type":"Akka.Actor.ActorPath+Surrogate, Akka","Path":"akka.tcp://S@h:1/user/a#7"},`,
		`"Raw":{"x":[1,2]},"Times":{"$type":"System.DateTimeOffset[], ` + core + `","$values":["2026-01-02T03:04:05-02:30"]},"Nullf":2.0,"Nulld":1.10,"Go":5,"Chars":{"$type":"System.Char[], ` + core + `","$values":["a","\ud800"]},`,
	} {
		if !strings.Contains(body, part) {
			t.Errorf("%s\nis missing in\n%s", part, body)
		}
	}
	got := decode(t, r, 1, "", body).(All)
	if !got.Times[0].Equal(v.Times[0]) {
		t.Errorf("%v", got.Times)
	}
	got.Times = v.Times
	v.Any = map[string]any{"k": serial.GUID{9}.String()} // in an object nothing tells it from a text
	if !reflect.DeepEqual(got, v) {
		t.Errorf("\n%#v\n%#v", got, v)
	}
	if v.hidden != 0 || got.Skip != 0 {
		t.Error("fields that are no members")
	}
	for body, want := range map[string]Color{`"green"`: 2, `"Red, Blue"`: 5, `4`: 4, `"4"`: 4} {
		if msg, err := decodeJSON(r, `{"$type":"A.All, A","Color":`+body+`}`); err != nil || msg.(All).Color != want {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, _, _, err := r.Append(nil, All{Raw: `{"x":`}, exchange(r)); err == nil {
		t.Error("a JObject that is no JSON is sent")
	}
	if _, _, _, err := r.Append(nil, serial.Decimal("1e5"), exchange(r)); err == nil {
		t.Error("a Decimal that is none is sent")
	}
	if _, _, _, err := r.Append(nil, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), exchange(r)); err == nil {
		t.Error("the year 10000 is sent")
	}
}

// TestJSONText: strings with all that may be in them.
func TestJSONText(t *testing.T) {
	r := register(t, serial.Options{})
	for in, want := range map[string]string{
		"":                       `""`,
		"a\"b\\c/d'e<>&":         `"a\"b\\c/d'e<>&"`,
		"\b\f\n\r\t\x00\x1f\x7f": `"\b\f\n\r\t\u0000\u001f` + "\x7f" + `"`,
		"größe ✓ 漢字 😀":           `"größe ✓ 漢字 😀"`,
		"\u0085\u2028\u2029":     `"\u0085\u2028\u2029"`,
		"a\xffb":                 `"a` + "\ufffd" + `b"`,
	} {
		_, _, body := encode(t, r, Order{Name: in})
		if !strings.Contains(body, `"Name":`+want) {
			t.Errorf("%q: %s", in, body)
		}
		if got := decode(t, r, 1, "", body).(Order).Name; got != strings.ToValidUTF8(in, "\ufffd") {
			t.Errorf("%q became %q", in, got)
		}
	}
	for body, want := range map[string]string{
		`"\u00e4\/\'"`: "ä/'", `"\ud83d\ude00"`: "😀", `"\ud83d"`: "\ufffd", `"\ud83dx"`: "\ufffdx", `"\ud83d\u0041"`: "\ufffdA", "\"a\xffb\"": "a\ufffdb", "\"\\n\xff\"": "\n\ufffd",
		"\"tab\there\"": "tab\there", `5`: "5", `1.50`: "1.50", `true`: "true",
	} {
		msg, err := decodeJSON(r, `{"$type":"Shop.Order, akka-peer","Name":`+body+`}`)
		if err != nil || msg.(Order).Name != want {
			t.Errorf("%s: %q, %v", body, msg, err)
		}
	}
}

// TestJSONNumbers: doubles as .NET writes them.
func TestJSONNumbers(t *testing.T) {
	r := register(t, serial.Options{})
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -1.5: "-1.5", 1e14: "100000000000000.0", 1e15: "1000000000000000.0", 1e16: "10000000000000000.0", 1e17: "1E+17", 9.9e-5: "9.9E-05", 1.5e300: "1.5E+300", 0.0001: "0.0001", 0.00001: "1E-05", 1.0 / 3: "0.3333333333333333",
		123456789012345680: "1.2345678901234568E+17", math.MaxFloat64: "1.7976931348623157E+308", math.Inf(1): `"Infinity"`, math.Inf(-1): `"-Infinity"`,
	} {
		_, _, body := encode(t, r, v)
		if body != want {
			t.Errorf("%v: %s, want %s", v, body, want)
		}
		if !math.IsInf(v, 0) {
			if got := decode(t, r, 1, "", body); got != v {
				t.Errorf("%v became %v", v, got)
			}
		}
	}
	for _, body := range []string{`"NaN"`, `"Infinity"`, `"-Infinity"`, "1E+15", "-0.0"} {
		msg, err := decodeJSON(r, `{`+numbersType+`,"D":`+body+`}`)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if _, _, again := encode(t, r, msg); body[0] == '"' && !strings.Contains(again, body) {
			t.Errorf("%s became %s", body, again)
		}
	}
	for d, want := range map[time.Duration]string{
		time.Second: "00:00:01", -90 * time.Second: "-00:01:30", 25*time.Hour + 100: "1.01:00:00.0000001", math.MaxInt64: "106751.23:47:16.8547758", 1500 * time.Millisecond: "00:00:01.5000000",
	} {
		_, _, body := encode(t, r, Numbers{T: d})
		if !strings.Contains(body, `"T":"`+want+`"`) {
			t.Errorf("%v: %s", d, body)
		}
		if got := decode(t, r, 1, "", body).(Numbers).T; got != d/100*100 {
			t.Errorf("%v became %v", d, got)
		}
	}
}

// TestJSONBoxes: structs that Go keeps in an any in its own ways.
func TestJSONBoxes(t *testing.T) {
	type One struct{ P *Inner }
	type OneAndNothing struct {
		_ [0]int32
		P *Inner
		_ struct{}
	}
	type Map struct{ M map[string]int32 }
	type Empty struct{}
	type Nested struct{ O One }
	type Small struct{ B bool }
	type Slice struct{ S []int32 }
	r := serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[One](r, "One, A")
	serial.RegisterJSON[OneAndNothing](r, "OneAndNothing, A")
	serial.RegisterJSON[Map](r, "Map, A")
	serial.RegisterJSON[Empty](r, "Empty, A")
	serial.RegisterJSON[Nested](r, "Nested, A")
	serial.RegisterJSON[*Small](r, "Small, A")
	serial.RegisterJSON[Slice](r, "Slice, A")
	serial.RegisterJSON[Inner](r, "Inner, A")
	one := &Inner{1}
	for _, msg := range []any{
		One{one}, One{}, OneAndNothing{P: one}, OneAndNothing{}, Map{map[string]int32{"a": 1}}, Map{}, Empty{}, Nested{One{one}}, &Small{true}, Slice{[]int32{1}}, Slice{},
		[]One{{one}, {}}, []any{One{one}, &Small{}, Nested{}}, map[string]any{"a": One{one}}, map[string]One{"b": {one}},
	} {
		for range 3 {
			id, _, body := encode(t, r, msg)
			got := decode(t, r, id, "", body)
			runtime.GC()
			if !reflect.DeepEqual(got, msg) {
				t.Errorf("%#v became %#v (%s)", msg, got, body)
			}
		}
	}
}

// TestJSONRegistered: collections that stand alone, classes kept as text, paths with quotes in them, fields that
// are surrogates.
func TestJSONRegistered(t *testing.T) {
	type Names []string
	type Holder struct {
		Path   actor.Path
		Nobody serial.Nobody
		Where  actor.Address
		ByEnum map[DayOfWeek]bool
		Text   serial.JArray
		Map    map[string]string
		Again  map[string]string
	}
	r := serial.NewRegistry(serial.Options{})
	serial.RegisterCollection[map[int64][]string](r)
	serial.RegisterCollection[Names](r)
	serial.RegisterJSONText(r, "Shop.Blob, Shop")
	serial.RegisterJSON[Holder](r, "H, A")
	serial.RegisterEnum(r, "System.DayOfWeek, System.Private.CoreLib", map[string]DayOfWeek{"Monday": 1})
	quoted, err := actor.ParsePath(`akka.tcp://S@h:1/user/a"b\ü`)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{"a": "b"}
	for _, msg := range []any{
		map[int64][]string{-5: {"a"}, 7: nil}, Names{"x"}, serial.JObject(`{"$id":"1","$type":"Shop.Blob, Shop, Version=1.0.0.0","A":[{"$":"I1"}]}`), quoted,
		Holder{Path: quoted, Where: quoted.Address(), ByEnum: map[DayOfWeek]bool{1: true}, Text: "[1]", Map: m, Again: m}, DayOfWeek(3), []DayOfWeek{1},
	} {
		id, _, body := encode(t, r, msg)
		got := decode(t, r, id, "", body)
		if d, ok := msg.(DayOfWeek); ok {
			msg = int64(d) // a number, as from an enumeration of .NET
		}
		if !reflect.DeepEqual(got, msg) {
			t.Errorf("%#v became %#v (%s)", msg, got, body)
		}
	}
	if h := decode(t, r, 1, "", `{"$type":"H, A","ByEnum":{"Monday":true},"Map":{"$id":"5","a":"b"},"Again":{"$ref":"5"}}`).(Holder); !h.ByEnum[1] || h.Again["a"] != "b" {
		t.Errorf("%#v", h)
	}
	var v struct{ A int }
	if err := serial.JObject(`{"A":5}`).Unmarshal(&v); err != nil || v.A != 5 {
		t.Errorf("%v, %v", v, err)
	}
	var a []int
	if err := serial.JArray(`[5]`).Unmarshal(&a); err != nil || len(a) != 1 {
		t.Errorf("%v, %v", a, err)
	}
	if r.ByID(1) == nil || r.ByID(99) != nil {
		t.Error("ByID")
	}
}
