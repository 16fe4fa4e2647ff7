package filter

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// outcome evaluates one operator over fields of an event that have the values of the operands, so that
// nothing is known when the filter is compiled.
func outcome(t testing.TB, operator ua.FilterOperator, values ...ua.Variant) ua.Variant {
	t.Helper()
	types := newTypeTable()
	e := NewBaseEvent(Base{EventType: vendorType})
	var operands []any
	for i, v := range values {
		name := "2:Operand" + string(rune('a'+i))
		types.fields[vendorType][name] = ua.NodeClassVariable
		e.Set(v, ua.Good, qn(name)...)
		operands = append(operands, name)
	}
	f, result, status := CompileEvents(where(t, op{operator, operands}), types, Options{Diagnostics: true})
	if status != ua.Good {
		t.Fatalf("%v: %v, %+v", operator, status, result)
	}
	var s Scratch
	got := f.run(e, &s)
	if matches := f.Matches(e, &s); matches != got.Bool() {
		t.Errorf("%v: matches is %v with %v", operator, matches, got)
	}
	if s.results[0] != null {
		t.Errorf("%v: the scratch keeps %v", operator, s.results[0])
	}
	return got
}

// literally evaluates the same over literals, which happens when the filter is compiled; false when
// it does not let them pass.
func literally(t testing.TB, operator ua.FilterOperator, values ...ua.Variant) (bool, bool) {
	t.Helper()
	var operands []any
	for _, v := range values {
		operands = append(operands, v)
	}
	f, _, status := CompileEvents(where(t, op{operator, operands}), testTypes, Options{})
	if status != ua.Good {
		return false, false
	}
	if operator != ua.FilterOperatorOfType && len(f.elements) != 0 {
		t.Errorf("%v: %d elements are left of literals", operator, len(f.elements))
	}
	return f.Matches(vendorEvent(), new(Scratch)), true
}

type row struct {
	operator ua.FilterOperator
	operands []ua.Variant
	want     ua.Variant // yes, no, null or a value
}

func v(x ...ua.Variant) []ua.Variant { return x }

func testRows(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		got := outcome(t, r.operator, r.operands...)
		if got.Type() != r.want.Type() || !Equal(got, r.want) {
			t.Errorf("%v of %v is %v %v, want %v", r.operator, r.operands, got.Type(), got, r.want)
		}
		if matches, ok := literally(t, r.operator, r.operands...); ok && matches != r.want.Bool() {
			t.Errorf("%v of the literals %v matches: %v", r.operator, r.operands, matches)
		}
	}
}

func TestEquals(t *testing.T) {
	eq := ua.FilterOperatorEquals
	nan := ua.Double(math.NaN())
	guid := ua.GUID{1, 2, 3}
	testRows(t, []row{
		{eq, v(ua.Int32(1), ua.Int32(1)), yes},
		{eq, v(ua.Int32(1), ua.Int32(2)), no},
		// Null on either side is neither.
		{eq, v(ua.Variant{}, ua.Int32(2)), null},
		{eq, v(ua.Int32(2), ua.Variant{}), null},
		{eq, v(ua.Variant{}, ua.Variant{}), null},
		// Null and empty strings and arrays are the same.
		{eq, v(ua.Null(ua.TypeString), ua.String("")), yes},
		{eq, v(ua.Null(ua.TypeByteString), ua.ByteString([]byte{})), yes},
		{eq, v(ua.Array[int32](nil), ua.Array([]int32{})), yes},
		{eq, v(ua.Null(ua.TypeString), ua.Int32(0)), no},
		// Implicit conversions by precedence.
		{eq, v(ua.Int32(1), ua.Double(1)), yes},
		{eq, v(ua.Float(1.5), ua.Double(1.5)), yes},
		{eq, v(ua.Float(0.1), ua.Double(0.1)), no},
		{eq, v(ua.Byte(7), ua.UInt64(7)), yes},
		{eq, v(ua.Int16(-1), ua.UInt16(65535)), no}, // does not fit
		{eq, v(ua.Int64(-1), ua.UInt64(math.MaxUint64)), no},
		{eq, v(ua.Int64(math.MaxInt64), ua.UInt64(math.MaxInt64)), yes},
		{eq, v(ua.Int32(-1), ua.UInt32(math.MaxUint32)), no},
		{eq, v(ua.Int32(16777217), ua.Float(16777216)), yes}, // the Float goes first, and rounds
		{eq, v(ua.Boolean(true), ua.Int32(1)), yes},
		{eq, v(ua.Boolean(true), ua.Byte(2)), no},
		{eq, v(ua.String("true"), ua.Boolean(true)), yes},
		{eq, v(ua.String("TRUE"), ua.Boolean(true)), yes},
		{eq, v(ua.String("yes"), ua.Boolean(true)), no},
		{eq, v(ua.String("42"), ua.Int32(42)), yes},
		{eq, v(ua.String("42.5"), ua.Double(42.5)), yes},
		{eq, v(ua.String("42.5"), ua.Int32(42)), no},
		{eq, v(ua.String("x"), ua.Int32(42)), no},
		{eq, v(ua.String("300"), ua.Byte(44)), no},
		{eq, v(ua.StatusCode(0x80010000).Variant(), ua.UInt32(0x80010000)), yes},
		{eq, v(ua.StatusCode(0x80010000).Variant(), ua.Int32(-0x7FFF0000)), yes},
		{eq, v(ua.StatusCode(0x80010000).Variant(), ua.UInt16(0x8001)), yes},
		{eq, v(ua.StatusCode(0x80010000).Variant(), ua.Int16(1)), no},
		{eq, v(ua.ID(5).Variant(), ua.ID(5).Expanded().Variant()), yes},
		{eq, v(theSource.Variant(), ua.String("ns=2;s=Plant.Mixer")), yes},
		{eq, v(ua.ID(5).Expanded().Variant(), ua.String("i=5")), yes},
		{eq, v(ua.Text("a").Variant(), ua.String("a")), yes},
		{eq, v(ua.LocalizedText{Locale: "de", Text: "a"}.Variant(), ua.String("a")), yes},
		{eq, v(ua.QualifiedName{NamespaceIndex: 1, Name: "a"}.Variant(), ua.String("a")), yes},
		{eq, v(ua.QualifiedName{NamespaceIndex: 1, Name: "a"}.Variant(), ua.Text("a").Variant()), yes},
		{eq, v(guid.Variant(), ua.String(guid.String())), yes},
		{eq, v(guid.Variant(), ua.String("no guid")), no},
		// No conversion.
		{eq, v(guid.Variant(), ua.ByteString(guid[:])), no},
		{eq, v(ua.DateTime(1).Variant(), ua.Int64(1)), no},
		{eq, v(ua.DateTime(1).Variant(), ua.DateTime(1).Variant()), yes},
		{eq, v(ua.XMLElement("a").Variant(), ua.String("a")), no},
		{eq, v(ua.ID(5).Variant(), guid.Variant()), no},
		{eq, v(ua.NewExtensionObject(&ua.Range{High: 1}).Variant(), ua.Int32(1)), no},
		{eq, v(ua.NewExtensionObject(&ua.Range{High: 1}).Variant(), ua.NewExtensionObject(&ua.Range{High: 1}).Variant()), yes},
		{eq, v(nan, nan), yes},
		{eq, v(nan, ua.Double(1)), no},
		{eq, v(ua.String("a"), ua.String("A")), no},
		// Arrays: element by element, and one of one element as a scalar.
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([]int32{1, 2})), yes},
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([]int32{1, 3})), no},
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([]float64{1, 2})), yes},
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([]float64{1, 2.5})), no},
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([]float64{1})), no},
		{eq, v(ua.Array([]int32{1, 2}), ua.Array([][]byte{{1}, {2}})), no},
		{eq, v(ua.Array([]int32{7}), ua.Int32(7)), yes},
		{eq, v(ua.Double(7), ua.Array([]int32{7})), yes},
		{eq, v(ua.Array([]int32{7, 7}), ua.Int32(7)), no},
		{eq, v(matrix([]int32{1, 2, 3, 4}, 2, 2), matrix([]int64{1, 2, 3, 4}, 2, 2)), yes},
		{eq, v(matrix([]int32{1, 2, 3, 4}, 2, 2), ua.Array([]int64{1, 2, 3, 4})), no},
	})
}

func TestOrderOperators(t *testing.T) {
	gt, lt, ge, le := ua.FilterOperatorGreaterThan, ua.FilterOperatorLessThan, ua.FilterOperatorGreaterThanOrEqual, ua.FilterOperatorLessThanOrEqual
	nan := ua.Double(math.NaN())
	for _, c := range []struct {
		a, b           ua.Variant
		gt, lt, ge, le ua.Variant
	}{
		{ua.Int32(2), ua.Int32(1), yes, no, yes, no},
		{ua.Int32(1), ua.Int32(1), no, no, yes, yes},
		{ua.Int32(1), ua.Double(1.5), no, yes, no, yes},
		{ua.UInt64(math.MaxUint64), ua.UInt64(math.MaxUint64 - 1), yes, no, yes, no},
		{ua.Int64(math.MinInt64), ua.Int64(math.MaxInt64), no, yes, no, yes},
		{ua.UInt64(math.MaxUint64), ua.Int64(1), no, no, no, no}, // the conversion fails
		{ua.Int16(-1), ua.UInt32(1), no, no, no, no},
		{ua.UInt16(700), ua.Int32(500), yes, no, yes, no},
		{ua.Float(1), ua.Boolean(false), yes, no, yes, no},
		{ua.String("5"), ua.Int32(30), no, yes, no, yes},
		{ua.String("5"), ua.String("30"), yes, no, yes, no},
		{ua.Text("b").Variant(), ua.String("a"), yes, no, yes, no},
		{ua.DateTime(2).Variant(), ua.DateTime(1).Variant(), yes, no, yes, no},
		{ua.StatusCode(2).Variant(), ua.UInt32(1), yes, no, yes, no},
		{ua.Array([]int32{2}), ua.Int32(1), yes, no, yes, no},
		// No order.
		{nan, ua.Double(1), no, no, no, no},
		{ua.Double(1), nan, no, no, no, no},
		{nan, nan, no, no, yes, yes},
		{ua.Boolean(true), ua.Boolean(false), no, no, no, no},
		{ua.StatusCode(2).Variant(), ua.StatusCode(1).Variant(), no, no, no, no},
		{ua.ID(2).Variant(), ua.ID(1).Variant(), no, no, no, no},
		{ua.DateTime(2).Variant(), ua.Int64(1), no, no, no, no},
		{ua.ByteString([]byte{2}), ua.ByteString([]byte{1}), no, no, no, no},
		{ua.Array([]int32{2, 2}), ua.Array([]int32{1, 1}), no, no, no, no},
		{ua.String("x"), ua.Int32(1), no, no, no, no},
		// Null.
		{ua.Variant{}, ua.Int32(1), null, null, null, null},
		{ua.Int32(1), ua.Variant{}, null, null, null, null},
	} {
		testRows(t, []row{{gt, v(c.a, c.b), c.gt}, {lt, v(c.a, c.b), c.lt}, {ge, v(c.a, c.b), c.ge}, {le, v(c.a, c.b), c.le}})
	}
}

func TestIsNull(t *testing.T) {
	is := ua.FilterOperatorIsNull
	testRows(t, []row{
		{is, v(ua.Variant{}), yes},
		{is, v(ua.Null(ua.TypeString)), yes},
		{is, v(ua.String("")), no},
		{is, v(ua.Null(ua.TypeByteString)), yes},
		{is, v(ua.Array[int32](nil)), yes},
		{is, v(ua.Array([]int32{})), no},
		{is, v(ua.NodeID{}.Variant()), yes},
		{is, v(ua.ID(1).Variant()), no},
		{is, v(ua.ExpandedNodeID{}.Variant()), yes},
		{is, v(ua.QualifiedName{}.Variant()), yes},
		{is, v(ua.LocalizedText{}.Variant()), yes},
		{is, v(ua.Text("a").Variant()), no},
		{is, v(ua.ExtensionObject{}.Variant()), yes},
		{is, v(ua.NewExtensionObject(&ua.Range{}).Variant()), no},
		{is, v(ua.Int32(0)), no},
		{is, v(ua.Boolean(false)), no},
		{is, v(ua.BadTimeout.Variant()), no}, // a field of type StatusCode
	})
	// A field that is not available is null, and so is what was computed of it.
	e := vendorEvent()
	for name, elements := range map[string][]op{
		"status":    {{is, []any{sao(vendorType, "2:Denied")}}},
		"uncertain": {{is, []any{sao(vendorType, "2:Unsure")}}},
		"absent":    {{is, []any{sao(vendorType, "2:Any")}}},
		"computed":  {{is, []any{1}}, {ua.FilterOperatorEquals, []any{sao(vendorType, "2:Denied"), ua.Int32(1)}}},
	} {
		if !compileEvents(t, where(t, elements...)).Matches(e, new(Scratch)) {
			t.Errorf("%s: not null", name)
		}
	}
}

func TestLogic(t *testing.T) {
	and, or, not := ua.FilterOperatorAnd, ua.FilterOperatorOr, ua.FilterOperatorNot
	testRows(t, []row{
		{and, v(yes, yes), yes}, {and, v(yes, no), no}, {and, v(no, yes), no}, {and, v(no, no), no},
		{and, v(yes, null), null}, {and, v(null, yes), null}, {and, v(null, null), null},
		{and, v(no, null), no}, {and, v(null, no), no},
		{or, v(yes, yes), yes}, {or, v(yes, no), yes}, {or, v(no, yes), yes}, {or, v(no, no), no},
		{or, v(yes, null), yes}, {or, v(null, yes), yes}, {or, v(null, null), null},
		{or, v(no, null), null}, {or, v(null, no), null},
		{not, v(yes), no}, {not, v(no), yes}, {not, v(null), null},
		// What is no Boolean is null; a text may be one.
		{and, v(yes, ua.Int32(1)), null}, {or, v(no, ua.Double(1)), null}, {not, v(ua.Int32(0)), null},
		{and, v(yes, ua.String("true")), yes}, {not, v(ua.String("0")), yes}, {or, v(no, ua.String("maybe")), null},
		{not, v(ua.Array([]bool{false})), yes}, {not, v(ua.Array([]bool{false, false})), null},
		{and, v(ua.Null(ua.TypeString), no), no},
	})
}

func TestBetweenAndInList(t *testing.T) {
	between, in := ua.FilterOperatorBetween, ua.FilterOperatorInList
	testRows(t, []row{
		{between, v(ua.Int32(5), ua.Int32(1), ua.Int32(9)), yes},
		{between, v(ua.Int32(1), ua.Int32(1), ua.Int32(9)), yes},
		{between, v(ua.Int32(9), ua.Int32(1), ua.Int32(9)), yes},
		{between, v(ua.Int32(0), ua.Int32(1), ua.Int32(9)), no},
		{between, v(ua.Int32(10), ua.Int32(1), ua.Int32(9)), no},
		{between, v(ua.Int32(5), ua.Int32(9), ua.Int32(1)), no},
		{between, v(ua.Byte(5), ua.Double(4.5), ua.String("5.5")), yes},
		{between, v(ua.String("5"), ua.Int32(1), ua.Int32(9)), yes},
		{between, v(ua.String("b"), ua.String("a"), ua.String("c")), yes},
		{between, v(ua.DateTime(5).Variant(), ua.DateTime(1).Variant(), ua.DateTime(9).Variant()), yes},
		{between, v(ua.DateTime(5).Variant(), ua.Int32(1), ua.Int32(9)), no},
		{between, v(ua.Int32(5), ua.Int32(1), ua.ID(9).Variant()), no},
		{between, v(ua.Int32(5), ua.Array([]int32{1, 2}), ua.Int32(9)), no},
		{between, v(ua.Double(math.NaN()), ua.Double(1), ua.Double(9)), no},
		{between, v(ua.Variant{}, ua.Int32(1), ua.Int32(9)), null},
		{between, v(ua.Int32(5), ua.Variant{}, ua.Int32(9)), null},
		{between, v(ua.Int32(5), ua.Int32(1), ua.Variant{}), null},

		{in, v(ua.Int32(5), ua.Int32(5)), yes},
		{in, v(ua.Int32(5), ua.Int32(1), ua.Double(5), ua.Int32(2)), yes},
		{in, v(ua.Int32(5), ua.Int32(1), ua.String("x"), ua.Int32(2)), no},
		{in, v(ua.Int32(5), ua.Int32(1), ua.Variant{}, ua.Int32(5)), yes},
		{in, v(ua.Int32(5), ua.Int32(1), ua.Variant{}, ua.Int32(2)), null},
		{in, v(ua.Variant{}, ua.Int32(1)), null},
		{in, v(theSource.Variant(), theCondition.Variant(), theSource.Variant()), yes},
	})
}

func TestLikeOperator(t *testing.T) {
	like := ua.FilterOperatorLike
	testRows(t, []row{
		{like, v(ua.String("main"), ua.String("m%n")), yes},
		{like, v(ua.String("main"), ua.String("x%")), no},
		{like, v(ua.Text("main").Variant(), ua.Text("m___").Variant()), yes},
		{like, v(ua.QualifiedName{NamespaceIndex: 3, Name: "main"}.Variant(), ua.String("main")), yes},
		{like, v(theSource.Variant(), ua.String("ns=2;s=Plant.%")), yes},
		{like, v(ua.Int32(5), ua.String("5")), no},
		{like, v(ua.String("5"), ua.Int32(5)), no},
		{like, v(ua.String("a]"), ua.String("[a")), no}, // a pattern that cannot be read
		{like, v(ua.Array([]string{"main"}), ua.String("main")), yes},
		{like, v(ua.Array([]string{"main", "main"}), ua.String("main")), no},
		{like, v(ua.Null(ua.TypeString), ua.String("%")), yes},
		{like, v(ua.Variant{}, ua.String("%")), null},
		{like, v(ua.String("a"), ua.Variant{}), null},
	})
}

func TestLikePatterns(t *testing.T) {
	for _, c := range []struct {
		pattern   string
		yes, no   []string
		malformed bool
	}{
		{"main", []string{"main"}, []string{"", "mai", "mainn", "Main"}, false},
		{"", []string{""}, []string{"a"}, false},
		{"%", []string{"", "a", "abc"}, nil, false},
		{"%%", []string{"", "abc"}, nil, false},
		{"main%", []string{"main", "main.e"}, []string{"amain", "mai"}, false},
		{"%en%", []string{"en", "entail", "green", "content"}, []string{"e", "xn"}, false},
		{"%ab%ab", []string{"abab", "xabyab", "ababab"}, []string{"ab", "xabya", "ababx"}, false},
		{"a%b%c", []string{"abc", "aXbYc", "abbcc"}, []string{"acb", "ab", "abcd"}, false},
		{"_ould", []string{"would", "could", "ßould"}, []string{"ould", "should"}, false},
		{"%_", []string{"a", "abc"}, []string{""}, false},
		{"5[%]", []string{"5%"}, []string{"5", "55", "5x"}, false},
		{"5[_]", []string{"5_"}, []string{"5x"}, false},
		{`5\%`, []string{"5%"}, []string{"5", `5\`, "55"}, false},
		{`\\%`, []string{`\`, `\x`}, []string{"x"}, false},
		{`\_\[\]\^`, []string{"_[]^"}, []string{"x[]^"}, false},
		{"Th[ia][ts]%", []string{"That", "This", "Thisx", "Thas"}, []string{"Then", "Thi"}, false},
		{"abc[13-68]", []string{"abc1", "abc3", "abc5", "abc6", "abc8"}, []string{"abc2", "abc7", "abc9", "abc-", "abc"}, false},
		{"xyz[c-f]", []string{"xyzc", "xyzf"}, []string{"xyzb", "xyzg", "xyz"}, false},
		{"ABC[^13-5]", []string{"ABC2", "ABC6", "ABC^"}, []string{"ABC1", "ABC4", "ABC"}, false},
		{"[a-]", []string{"a", "-"}, []string{"b"}, false},
		{"[-a]", []string{"a", "-"}, []string{"b"}, false},
		{`[\]]`, []string{"]"}, []string{`\`, "["}, false},
		{`[\^a]`, []string{"^", "a"}, []string{"b"}, false},
		{`[a\-c]`, []string{"a", "-", "c"}, []string{"b"}, false},
		{"[ä-ü]_", []string{"öß"}, []string{"ab", "ö"}, false},
		{"]", []string{"]"}, []string{""}, false},
		{"-^", []string{"-^"}, nil, false},
		{"[", nil, []string{"[", ""}, true},
		{"[a", nil, []string{"a", "[a"}, true},
		{"[]", nil, []string{"", "]", "[]"}, true},
		{"[^]", nil, []string{"a", "^"}, true},
		{"[c-a]", nil, []string{"a", "b"}, true},
		{`a\`, nil, []string{"a", `a\`}, true},
		{`[\`, nil, []string{`\`}, true},
		{"a%[", nil, []string{"b", "a"}, true},
		{strings.Repeat("a", maxPattern), []string{strings.Repeat("a", maxPattern)}, nil, false},
		{strings.Repeat("a", maxPattern+1), nil, []string{strings.Repeat("a", maxPattern+1)}, true},
	} {
		if validPattern(c.pattern) == c.malformed {
			t.Errorf("%.20q: malformed is not %v", c.pattern, c.malformed)
		}
		for _, s := range c.yes {
			if !like(s, c.pattern) {
				t.Errorf("%q does not match %q", s, c.pattern)
			}
		}
		for _, s := range c.no {
			if like(s, c.pattern) {
				t.Errorf("%q matches %q", s, c.pattern)
			}
		}
	}
	// Many wildcards over a text that almost matches: a naive matcher would not come back.
	began := time.Now()
	if like(strings.Repeat("a", 20_000), strings.Repeat("%a", 500)+"b") {
		t.Error("matches")
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestCast(t *testing.T) {
	cast := ua.FilterOperatorCast
	to := func(id uint32) ua.Variant { return ua.ID(id).Variant() }
	testRows(t, []row{
		{cast, v(ua.Double(1.5), to(uaid.Int32)), ua.Int32(2)},
		{cast, v(ua.Double(1.4), to(uaid.Int32)), ua.Int32(1)},
		{cast, v(ua.Double(-1.5), to(uaid.Int32)), ua.Int32(-1)},
		{cast, v(ua.Double(-1.7), to(uaid.Int32)), ua.Int32(-2)},
		{cast, v(ua.Double(0.49999999999999994), to(uaid.Int32)), ua.Int32(0)},
		{cast, v(ua.Double(1e10), to(uaid.Int32)), null},
		{cast, v(ua.Double(1<<63), to(uaid.Int64)), null},
		{cast, v(ua.Double(1<<63), to(uaid.UInt64)), ua.UInt64(1 << 63)},
		{cast, v(ua.Double(1<<64), to(uaid.UInt64)), null},
		{cast, v(ua.Double(math.NaN()), to(uaid.Int32)), null},
		{cast, v(ua.Double(math.Inf(-1)), to(uaid.Int32)), null},
		{cast, v(ua.Double(math.NaN()), to(uaid.Boolean)), null},
		{cast, v(ua.Double(1e300), to(uaid.Float)), null},
		{cast, v(ua.Double(math.Inf(1)), to(uaid.Float)), ua.Float(float32(math.Inf(1)))},
		{cast, v(ua.Int32(-1), to(uaid.UInt32)), null},
		{cast, v(ua.Int32(300), to(uaid.Byte)), null},
		{cast, v(ua.Int32(200), to(uaid.SByte)), null},
		{cast, v(ua.Int64(-5), to(uaid.Int16)), ua.Int16(-5)},
		{cast, v(ua.UInt64(math.MaxUint64), to(uaid.Int64)), null},
		{cast, v(ua.Int32(7), to(uaid.Boolean)), yes},
		{cast, v(ua.Int32(0), to(uaid.Boolean)), no},
		{cast, v(yes, to(uaid.String)), ua.String("1")},
		{cast, v(yes, to(uaid.Double)), ua.Double(1)},
		{cast, v(ua.Double(1.5), to(uaid.String)), ua.String("1.5")},
		{cast, v(ua.Float(0.1), to(uaid.String)), ua.String("0.1")},
		{cast, v(ua.UInt64(math.MaxUint64), to(uaid.String)), ua.String("18446744073709551615")},
		{cast, v(ua.Int64(math.MinInt64), to(uaid.String)), ua.String("-9223372036854775808")},
		{cast, v(ua.String("18446744073709551615"), to(uaid.UInt64)), ua.UInt64(math.MaxUint64)},
		{cast, v(ua.String(" 12 "), to(uaid.Int16)), ua.Int16(12)},
		{cast, v(ua.String("1e400"), to(uaid.Double)), null},
		{cast, v(ua.String("2026-08-01T10:00:00Z"), to(uaid.DateTime)), mustDate("2026-08-01T10:00:00Z")},
		{cast, v(mustDate("2026-08-01T10:00:00Z"), to(uaid.String)), ua.String("2026-08-01T10:00:00Z")},
		{cast, v(ua.String("yesterday"), to(uaid.DateTime)), null},
		{cast, v(ua.String("ns=2;s=Plant.Mixer"), to(uaid.NodeId)), theSource.Variant()},
		{cast, v(ua.String("ns=x"), to(uaid.NodeId)), null},
		{cast, v(ua.String("i=5"), to(uaid.ExpandedNodeId)), ua.ID(5).Expanded().Variant()},
		{cast, v(ua.ID(5).Expanded().Variant(), to(uaid.NodeId)), ua.ID(5).Variant()},
		{cast, v(ua.ExpandedNodeID{NodeID: ua.ID(5), ServerIndex: 1}.Variant(), to(uaid.NodeId)), null},
		{cast, v(ua.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9}.Variant(), to(uaid.ByteString)), ua.ByteString([]byte{4, 3, 2, 1, 6, 5, 8, 7, 9, 0, 0, 0, 0, 0, 0, 0})},
		{cast, v(ua.ByteString([]byte{4, 3, 2, 1, 6, 5, 8, 7, 9, 0, 0, 0, 0, 0, 0, 0}), to(uaid.Guid)), ua.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9}.Variant()},
		{cast, v(ua.ByteString([]byte{1}), to(uaid.Guid)), null},
		{cast, v(ua.String("a"), to(uaid.LocalizedText)), ua.Text("a").Variant()},
		{cast, v(ua.String("a"), to(uaid.QualifiedName)), ua.QualifiedName{Name: "a"}.Variant()},
		{cast, v(ua.Int32(-0x7FFF0000), to(uaid.StatusCode)), ua.StatusCode(0x80010000).Variant()},
		{cast, v(ua.UInt16(0x8001), to(uaid.StatusCode)), ua.StatusCode(0x80010000).Variant()},
		{cast, v(ua.StatusCode(0x80010000).Variant(), to(uaid.UInt16)), ua.UInt16(0x8001)},
		{cast, v(ua.Int64(-1), to(uaid.StatusCode)), null},
		{cast, v(ua.Int64(0x80010000), to(uaid.StatusCode)), ua.StatusCode(0x80010000).Variant()},
		// Types derived from built-in ones.
		{cast, v(ua.String("2.5"), to(uaid.Duration)), ua.Double(2.5)},
		{cast, v(ua.Double(2), to(uaid.ServerState)), ua.Int32(2)},
		{cast, v(ua.Int32(2), ua.ID(uaid.Double).Expanded().Variant()), ua.Double(2)},
		// What there is no conversion for, or no type.
		{cast, v(ua.Int32(1), to(uaid.Guid)), null},
		{cast, v(ua.Int32(1), to(uaid.DateTime)), null},
		{cast, v(ua.Int32(1), to(uaid.Number)), null},
		{cast, v(ua.Int32(1), to(uaid.BaseDataType)), null},
		{cast, v(ua.Int32(1), to(uaid.FolderType)), null},
		{cast, v(ua.Int32(1), ua.NewNodeID(9, 9).Variant()), null},
		{cast, v(ua.Int32(1), ua.String("i=6")), null},
		{cast, v(ua.Int32(1), ua.Int32(6)), null},
		{cast, v(ua.Variant{}, to(uaid.Int32)), null},
		{cast, v(ua.Int32(1), ua.Variant{}), null},
		{cast, v(ua.Null(ua.TypeString), to(uaid.Int32)), null},
		{cast, v(ua.Int32(1), to(uaid.Int32)), ua.Int32(1)},
		// Arrays.
		{cast, v(ua.Array([]int32{1, 2}), to(uaid.Double)), ua.Array([]float64{1, 2})},
		{cast, v(ua.Array([]float64{1.5, 2}), to(uaid.String)), ua.Array([]string{"1.5", "2"})},
		{cast, v(ua.Array([]int32{1, 300}), to(uaid.Byte)), null},
		{cast, v(matrix([]int32{1, 2, 3, 4}, 2, 2), to(uaid.Int64)), matrix([]int64{1, 2, 3, 4}, 2, 2)},
		{cast, v(ua.Array[int32](nil), to(uaid.Int64)), null},
		{cast, v(ua.Array([]int32{}), to(uaid.Int64)), ua.Array([]int64{})},
		{cast, v(ua.Array(make([]int32, maxCast)), to(uaid.Double)), ua.Array(make([]float64, maxCast))},
		{cast, v(ua.Array(make([]int32, maxCast+1)), to(uaid.Double)), null},
		{cast, v(ua.Array([]int32{1}), to(uaid.Structure)), null},
		{cast, v(ua.Array([]int32{1}), to(uaid.Guid)), null},
	})
}

func mustDate(s string) ua.Variant {
	d, err := ua.ParseDateTime(s)
	if err != nil {
		panic(err)
	}
	return d.Variant()
}

func TestBitwise(t *testing.T) {
	and, or := ua.FilterOperatorBitwiseAnd, ua.FilterOperatorBitwiseOr
	testRows(t, []row{
		{and, v(ua.Byte(0b1100), ua.Byte(0b1010)), ua.Byte(0b1000)},
		{or, v(ua.Byte(0b1100), ua.Byte(0b1010)), ua.Byte(0b1110)},
		{and, v(ua.Byte(0xFF), ua.Int32(0x1234)), ua.Int32(0x34)},
		{or, v(ua.Int64(1), ua.UInt16(2)), ua.Int64(3)},
		{or, v(ua.Int32(1), ua.UInt32(2)), ua.Int32(3)}, // one size: Int32 goes first
		{and, v(ua.UInt64(math.MaxUint64), ua.UInt64(1<<63)), ua.UInt64(1 << 63)},
		{and, v(ua.Int64(-1), ua.Int64(math.MinInt64)), ua.Int64(math.MinInt64)},
		{or, v(ua.SByte(-128), ua.SByte(1)), ua.SByte(-127)},
		{and, v(ua.SByte(-1), ua.Int16(0x7F)), ua.Int16(0x7F)},
		{and, v(ua.Int16(-1), ua.UInt32(1)), null}, // does not fit
		{and, v(ua.UInt64(math.MaxUint64), ua.Int64(1)), null},
		{and, v(ua.Double(1), ua.Int32(1)), null},
		{and, v(ua.String("1"), ua.Int32(1)), null},
		{and, v(yes, ua.Int32(1)), null},
		{and, v(ua.Array([]int32{1, 2}), ua.Int32(1)), null},
		{and, v(ua.Array([]int32{3}), ua.Int32(1)), ua.Int32(1)},
		{or, v(ua.Variant{}, ua.Int32(1)), null},
		{or, v(ua.Int32(1), ua.Variant{}), null},
	})
}

func TestOfType(t *testing.T) {
	of := ua.FilterOperatorOfType
	testRows(t, []row{
		{of, v(ua.ID(uaid.BaseEventType).Variant()), yes},
		{of, v(ua.ID(uaid.ConditionType).Variant()), yes},
		{of, v(vendorType.Variant()), yes},
		{of, v(vendorType.Expanded().Variant()), yes},
		{of, v(ua.ID(uaid.SystemEventType).Variant()), no},
		{of, v(ua.ID(uaid.FolderType).Variant()), no},
		{of, v(ua.NewNodeID(9, 9).Variant()), no},
		{of, v(ua.NodeID{}.Variant()), no},
		{of, v(ua.ExpandedNodeID{NodeID: vendorType, ServerIndex: 1}.Variant()), no},
		{of, v(ua.String("ns=2;i=1000")), no},
		{of, v(ua.Int32(1)), no},
		{of, v(ua.Variant{}), null},
	})
}

// Every operator that is not about null itself is null over null; and none of them matches then.
func TestNullEverywhere(t *testing.T) {
	for operator, rule := range operators {
		if o := ua.FilterOperator(operator); rule.operands != nil && o != ua.FilterOperatorIsNull {
			if got := outcome(t, o, make([]ua.Variant, len(rule.operands))...); got != null {
				t.Errorf("%v of nulls is %v", o, got)
			}
		}
	}
}

func TestWhereErrors(t *testing.T) {
	lit := ua.Int32(1)
	literal := ua.NewExtensionObject(&ua.LiteralOperand{Value: lit})
	text := ua.String("x")
	wrongPath := sao(ua.ID(uaid.BaseEventType), "Nothing")
	wrongRange := sao(ua.ID(uaid.BaseEventType), "Message")
	wrongRange.IndexRange = "x"
	eq, and, not := ua.FilterOperatorEquals, ua.FilterOperatorAnd, ua.FilterOperatorNot
	const opErr = ua.BadFilterOperandInvalid
	for name, c := range map[string]struct {
		elements []op
		at       int // the element that is wrong
		element  ua.StatusCode
		operands []ua.StatusCode
	}{
		"unknown operator":    {[]op{{18, []any{lit}}}, 0, ua.BadFilterOperatorInvalid, v0(1)},
		"negative operator":   {[]op{{-1, []any{lit}}}, 0, ua.BadFilterOperatorInvalid, v0(1)},
		"InView":              {[]op{{ua.FilterOperatorInView, []any{lit}}}, 0, ua.BadFilterOperatorUnsupported, v0(1)},
		"RelatedTo":           {[]op{{ua.FilterOperatorRelatedTo, []any{lit, lit, lit, lit, lit, lit}}}, 0, ua.BadFilterOperatorUnsupported, v0(6)},
		"no operand":          {[]op{{eq, nil}}, 0, ua.BadFilterOperandCountMismatch, v0(0)},
		"too few operands":    {[]op{{eq, []any{lit}}}, 0, ua.BadFilterOperandCountMismatch, v0(1)},
		"too many operands":   {[]op{{eq, []any{lit, lit, lit}}}, 0, ua.BadFilterOperandCountMismatch, v0(3)},
		"Between of 2":        {[]op{{ua.FilterOperatorBetween, []any{lit, lit}}}, 0, ua.BadFilterOperandCountMismatch, v0(2)},
		"InList of 1":         {[]op{{ua.FilterOperatorInList, []any{lit}}}, 0, ua.BadFilterOperandCountMismatch, v0(1)},
		"InList, the last":    {[]op{{ua.FilterOperatorInList, []any{lit, lit, lit, wrongPath}}}, 0, opErr, []ua.StatusCode{0, 0, 0, ua.BadNodeIdUnknown}},
		"element beyond":      {[]op{{and, []any{1, ua.Boolean(true)}}}, 0, opErr, []ua.StatusCode{ua.BadFilterElementInvalid, 0}},
		"element itself":      {[]op{{not, []any{0}}}, 0, opErr, []ua.StatusCode{ua.BadFilterElementInvalid}},
		"element backwards":   {[]op{{and, []any{1, 2}}, {not, []any{2}}, {not, []any{1}}}, 2, opErr, []ua.StatusCode{ua.BadFilterElementInvalid}},
		"element far beyond":  {[]op{{not, []any{ua.Structure(&ua.ElementOperand{Index: math.MaxUint32})}}}, 0, opErr, []ua.StatusCode{ua.BadFilterElementInvalid}},
		"AttributeOperand":    {[]op{{eq, []any{ua.Structure(&ua.AttributeOperand{AttributeID: 13}), lit}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"null operand":        {[]op{{eq, []any{ua.ExtensionObject{}, lit}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"no operand at all":   {[]op{{eq, []any{ua.Structure(&ua.Range{}), lit}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"broken operand":      {[]op{{eq, []any{raw(literal.TypeID.Numeric(), 200), lit}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"path":                {[]op{{eq, []any{wrongPath, lit}}}, 0, opErr, []ua.StatusCode{ua.BadNodeIdUnknown, 0}},
		"range":               {[]op{{eq, []any{lit, wrongRange}}}, 0, opErr, []ua.StatusCode{0, ua.BadIndexRangeInvalid}},
		"type":                {[]op{{eq, []any{sao(ua.ID(uaid.FolderType), "Message"), lit}}}, 0, opErr, []ua.StatusCode{ua.BadTypeDefinitionInvalid, 0}},
		"attribute":           {[]op{{eq, []any{sao(ua.ID(uaid.BaseEventType)), lit}}}, 0, opErr, []ua.StatusCode{ua.BadAttributeIdInvalid, 0}},
		"name":                {[]op{{eq, []any{ua.SimpleAttributeOperand{BrowsePath: make([]ua.QualifiedName, 1), AttributeID: 13}, lit}}}, 0, opErr, []ua.StatusCode{ua.BadBrowseNameInvalid, 0}},
		"not of a number":     {[]op{{not, []any{lit}}}, 0, opErr, []ua.StatusCode{ua.BadFilterLiteralInvalid}},
		"and of a text":       {[]op{{and, []any{text, ua.String("true")}}}, 0, opErr, []ua.StatusCode{ua.BadFilterLiteralInvalid, 0}},
		"order of node ids":   {[]op{{ua.FilterOperatorLessThan, []any{"Severity", ua.NewExtensionObject(&ua.Range{}).Variant()}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"order of arrays":     {[]op{{ua.FilterOperatorLessThan, []any{"Severity", ua.Array([]int32{1, 2})}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"bits of a Double":    {[]op{{ua.FilterOperatorBitwiseAnd, []any{"Severity", ua.Double(1)}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"pattern of a number": {[]op{{ua.FilterOperatorLike, []any{"Message", lit}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"pattern malformed":   {[]op{{ua.FilterOperatorLike, []any{"Message", ua.String("[a")}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"pattern too long":    {[]op{{ua.FilterOperatorLike, []any{"Message", ua.String(strings.Repeat("%", 2000))}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"OfType of a text":    {[]op{{ua.FilterOperatorOfType, []any{text}}}, 0, opErr, []ua.StatusCode{ua.BadFilterLiteralInvalid}},
		"OfType unknown":      {[]op{{ua.FilterOperatorOfType, []any{ua.NewNodeID(9, 9).Variant()}}}, 0, opErr, []ua.StatusCode{ua.BadNodeIdUnknown}},
		"OfType of an object": {[]op{{ua.FilterOperatorOfType, []any{ua.ID(uaid.Server).Variant()}}}, 0, opErr, []ua.StatusCode{opErr}},
		"OfType of a type":    {[]op{{ua.FilterOperatorOfType, []any{ua.ID(uaid.Int32).Variant()}}}, 0, opErr, []ua.StatusCode{opErr}},
		"Cast unknown":        {[]op{{ua.FilterOperatorCast, []any{lit, ua.NewNodeID(9, 9).Variant()}}}, 0, opErr, []ua.StatusCode{0, ua.BadNodeIdUnknown}},
		"Cast abstract":       {[]op{{ua.FilterOperatorCast, []any{lit, ua.ID(uaid.Number).Variant()}}}, 0, opErr, []ua.StatusCode{0, opErr}},
		"Cast to no type":     {[]op{{ua.FilterOperatorCast, []any{lit, lit}}}, 0, opErr, []ua.StatusCode{0, ua.BadFilterLiteralInvalid}},
		"bits of a truth":     {[]op{{ua.FilterOperatorBitwiseOr, []any{1, lit}}, {not, []any{ua.Boolean(true)}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"truth of bits":       {[]op{{not, []any{1}}, {ua.FilterOperatorBitwiseOr, []any{lit, lit}}}, 0, opErr, []ua.StatusCode{opErr}},
		"text of a truth":     {[]op{{ua.FilterOperatorLike, []any{1, text}}, {not, []any{ua.Boolean(true)}}}, 0, opErr, []ua.StatusCode{opErr, 0}},
		"deeper":              {[]op{{not, []any{1}}, {eq, []any{lit, wrongPath}}}, 1, opErr, []ua.StatusCode{0, ua.BadNodeIdUnknown}},
	} {
		f, result, status := CompileEvents(where(t, c.elements...), testTypes, Options{Diagnostics: true})
		if f != nil || status != ua.BadEventFilterInvalid || result == nil {
			t.Errorf("%s: %v, %v", name, status, result)
			continue
		}
		if !slices.Equal(result.SelectClauseResults, []ua.StatusCode{ua.Good}) || len(result.WhereClauseResult.ElementResults) != len(c.elements) {
			t.Errorf("%s: %+v", name, result)
		}
		for i, e := range result.WhereClauseResult.ElementResults {
			bad := i == c.at
			if bad && (e.StatusCode != c.element || !slices.Equal(e.OperandStatusCodes, c.operands)) {
				t.Errorf("%s: element %v, operands %v; want %v, %v", name, e.StatusCode, e.OperandStatusCodes, c.element, c.operands)
			}
			if !bad && e.StatusCode != ua.Good {
				t.Errorf("%s: element %d is %v", name, i, e.StatusCode)
			}
			if got := result.WhereClauseResult.ElementDiagnosticInfos[i].AdditionalInfo; (got != "") != bad {
				t.Errorf("%s: element %d: %q", name, i, got)
			}
			for j, d := range e.OperandDiagnosticInfos {
				if (d.AdditionalInfo != "") != (e.OperandStatusCodes[j] != ua.Good) {
					t.Errorf("%s: element %d, operand %d: %q", name, i, j, d.AdditionalInfo)
				}
			}
		}
		_, quiet, _ := CompileEvents(where(t, c.elements...), testTypes, Options{})
		if w := quiet.WhereClauseResult; w.ElementDiagnosticInfos != nil || w.ElementResults[c.at].OperandDiagnosticInfos != nil {
			t.Errorf("%s: diagnostics that nobody asked for", name)
		}
	}
}

func v0(n int) []ua.StatusCode { return make([]ua.StatusCode, n) }

func TestUnreachableElementsAreIgnored(t *testing.T) {
	e := vendorEvent()
	f := compileEvents(t, where(t,
		op{ua.FilterOperatorEquals, []any{"Severity", ua.Int32(700)}},
		op{ua.FilterOperatorInView, []any{ua.Int32(1)}},
		op{ua.FilterOperatorNot, []any{1, 1, 1}},
		op{99, nil}))
	if len(f.elements) != 1 || !f.Matches(e, new(Scratch)) {
		t.Errorf("%d elements", len(f.elements))
	}
}

func TestEmptyAndConstantWhere(t *testing.T) {
	var s Scratch
	e := vendorEvent()
	for name, c := range map[string]struct {
		elements []op
		want     bool
	}{
		"none":    {nil, true},
		"true":    {[]op{{ua.FilterOperatorEquals, []any{ua.Int32(1), ua.Double(1)}}}, true},
		"false":   {[]op{{ua.FilterOperatorEquals, []any{ua.Int32(1), ua.Double(2)}}}, false},
		"null":    {[]op{{ua.FilterOperatorEquals, []any{ua.Int32(1), ua.Variant{}}}}, false},
		"number":  {[]op{{ua.FilterOperatorCast, []any{ua.Int32(1), ua.ID(uaid.Double).Variant()}}}, false},
		"cast":    {[]op{{ua.FilterOperatorCast, []any{ua.Int32(1), ua.ID(uaid.Boolean).Variant()}}}, true},
		"chained": {[]op{{ua.FilterOperatorNot, []any{1}}, {ua.FilterOperatorIsNull, []any{2}}, {ua.FilterOperatorNot, []any{ua.Boolean(true)}}}, true},
		"partly":  {[]op{{ua.FilterOperatorAnd, []any{1, 2}}, {ua.FilterOperatorEquals, []any{ua.Int32(1), ua.Int32(1)}}, {ua.FilterOperatorIsNull, []any{"2:Any"}}}, true},
	} {
		f := compileEvents(t, where(t, c.elements...))
		if got := f.Matches(e, &s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if name != "partly" && len(f.elements) != 0 {
			t.Errorf("%s: %d elements are evaluated for each event", name, len(f.elements))
		}
	}
}

// Each conversion of the tables works for some value, and there are no others.
func TestEveryConversionOfTheTables(t *testing.T) {
	samples := map[ua.BuiltInType][]ua.Variant{}
	for typ, vs := range different() {
		samples[typ] = vs
	}
	samples[ua.TypeString] = v(ua.String("1"), ua.String(ua.GUID{1}.String()), ua.String("i=1"), ua.String("2026-08-01T10:00:00Z"))
	samples[ua.TypeInt64], samples[ua.TypeUInt64] = v(ua.Int64(1)), v(ua.UInt64(1))
	samples[ua.TypeByteString] = v(ua.ByteString(make([]byte, 16)))
	for from := ua.TypeBoolean; from <= ua.TypeDiagnosticInfo; from++ {
		for to := ua.TypeBoolean; to <= ua.TypeDiagnosticInfo; to++ {
			if from == to {
				continue
			}
			works := false
			for _, s := range samples[from] {
				w, ok := convert(s, to)
				works = works || ok
				if ok && w.Type() != to {
					t.Errorf("%v to %v gives %v", from, to, w.Type())
				}
			}
			if want := (implicit[from] | explicit[from]).has(to); works != want {
				t.Errorf("%v to %v: %v, want %v", from, to, works, want)
			}
			// What is converted without a cast goes to the type of higher precedence.
			if c := common(from, to); c != common(to, from) || c != 0 && c != from && c != to {
				t.Errorf("%v and %v have %v in common", from, to, c)
			}
		}
	}
	for pair, want := range map[[2]ua.BuiltInType]ua.BuiltInType{
		{ua.TypeInt32, ua.TypeFloat}:                 ua.TypeFloat,
		{ua.TypeUInt64, ua.TypeInt64}:                ua.TypeInt64,
		{ua.TypeSByte, ua.TypeByte}:                  ua.TypeSByte,
		{ua.TypeUInt16, ua.TypeStatusCode}:           ua.TypeStatusCode,
		{ua.TypeInt16, ua.TypeStatusCode}:            0,
		{ua.TypeBoolean, ua.TypeString}:              ua.TypeBoolean,
		{ua.TypeString, ua.TypeNodeID}:               ua.TypeString,
		{ua.TypeGUID, ua.TypeNodeID}:                 0,
		{ua.TypeLocalizedText, ua.TypeQualifiedName}: ua.TypeLocalizedText,
		{ua.TypeDateTime, ua.TypeString}:             0,
		{ua.TypeXMLElement, ua.TypeString}:           0,
	} {
		if got := common(pair[0], pair[1]); got != want {
			t.Errorf("%v and %v have %v in common, want %v", pair[0], pair[1], got, want)
		}
	}
}
