package filter

import (
	"fmt"
	"math"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

func raw(typeID uint32, body ...byte) ua.ExtensionObject {
	return ua.ExtensionObject{TypeID: ua.ID(typeID), Encoding: ua.BodyBinary, Body: body}
}

// different has, for each built-in type, values that all differ from each other.
func different() map[ua.BuiltInType][]ua.Variant {
	object := func(s ua.Structure) ua.Variant { return ua.NewExtensionObject(s).Variant() }
	m := map[ua.BuiltInType][]ua.Variant{
		ua.TypeBoolean:         {ua.Boolean(false), ua.Boolean(true)},
		ua.TypeSByte:           {ua.SByte(0), ua.SByte(-1), ua.SByte(127)},
		ua.TypeByte:            {ua.Byte(0), ua.Byte(255)},
		ua.TypeInt16:           {ua.Int16(0), ua.Int16(-1)},
		ua.TypeUInt16:          {ua.UInt16(0), ua.UInt16(65535)},
		ua.TypeInt32:           {ua.Int32(0), ua.Int32(-1)},
		ua.TypeUInt32:          {ua.UInt32(0), ua.UInt32(math.MaxUint32)},
		ua.TypeInt64:           {ua.Int64(math.MaxInt64), ua.Int64(math.MaxInt64 - 1), ua.Int64(math.MinInt64)},
		ua.TypeUInt64:          {ua.UInt64(math.MaxUint64), ua.UInt64(math.MaxUint64 - 1)},
		ua.TypeFloat:           {ua.Float(0), ua.Float(1), ua.Float(float32(math.Inf(1))), ua.Float(float32(math.NaN()))},
		ua.TypeDouble:          {ua.Double(0), ua.Double(math.Nextafter(0, 1)), ua.Double(math.Inf(-1)), ua.Double(math.NaN())},
		ua.TypeString:          {ua.String(""), ua.String("a"), ua.String("A")},
		ua.TypeDateTime:        {ua.DateTime(0).Variant(), ua.DateTime(1).Variant()},
		ua.TypeGUID:            {ua.GUID{}.Variant(), ua.GUID{15: 1}.Variant()},
		ua.TypeByteString:      {ua.ByteString([]byte{}), ua.ByteString([]byte{0})},
		ua.TypeXMLElement:      {ua.XMLElement("").Variant(), ua.XMLElement("<a/>").Variant()},
		ua.TypeNodeID:          {ua.ID(1).Variant(), ua.NewNodeID(1, 1).Variant(), ua.NewStringNodeID(0, "1").Variant()},
		ua.TypeExpandedNodeID:  {ua.ID(1).Expanded().Variant(), ua.ExpandedNodeID{NodeID: ua.ID(1), ServerIndex: 1}.Variant()},
		ua.TypeStatusCode:      {ua.Good.Variant(), ua.BadTimeout.Variant()},
		ua.TypeQualifiedName:   {ua.QualifiedName{Name: "a"}.Variant(), ua.QualifiedName{NamespaceIndex: 1, Name: "a"}.Variant()},
		ua.TypeLocalizedText:   {ua.Text("a").Variant(), ua.LocalizedText{Locale: "en", Text: "a"}.Variant()},
		ua.TypeExtensionObject: {object(&ua.Range{High: 1}), object(&ua.Range{High: 2}), raw(9999, 1).Variant(), raw(9999, 2).Variant(), raw(9998, 1).Variant()},
		ua.TypeDataValue: {ua.DataValue{Value: ua.Int32(1)}.Variant(), ua.DataValue{Value: ua.Int32(2)}.Variant(),
			ua.DataValue{Value: ua.Int32(1), Status: ua.BadTimeout}.Variant()},
		ua.TypeDiagnosticInfo: {ua.DiagnosticInfo{}.Variant(), ua.DiagnosticInfo{Mask: ua.DiagnosticSymbolicID}.Variant(),
			ua.DiagnosticInfo{Mask: ua.DiagnosticInner, Inner: &ua.DiagnosticInfo{Mask: ua.DiagnosticSymbolicID}}.Variant()},
		ua.TypeVariant: {ua.Array([]ua.Variant{ua.Int32(1)}), ua.Array([]ua.Variant{ua.Int64(1)}), ua.Array([]ua.Variant{ua.Array([]int32{1})})},
	}
	return m
}

// decoded is the value as somebody else would have it, sharing no memory.
func decoded(t testing.TB, v ua.Variant) (w ua.Variant) {
	t.Helper()
	r := uabin.NewReader(v.AppendBinary(nil))
	if w.DecodeBinary(r); r.Err() != nil {
		t.Fatal(r.Err())
	}
	return w
}

func arrays[T ua.Element](vs []ua.Variant) (out []ua.Variant) {
	one := make([]T, len(vs))
	for i, v := range vs {
		one[i], _ = ua.As[T](v)
	}
	last := append([]T{}, one...)
	last[len(last)-1] = one[0]
	out = append(out, ua.Array(one), ua.Array(last), ua.Array(one[:1]))
	m := append(append([]T{}, one...), one...)
	a, _ := ua.Matrix(m, 2, uint32(len(one)))
	b, _ := ua.Matrix(m, uint32(len(one)), 2)
	if len(one) != 2 { // else the two are the same
		out = append(out, b)
	}
	return append(out, a, ua.Array(m))
}

func arraysOf(t ua.BuiltInType, vs []ua.Variant) []ua.Variant {
	makers := []func([]ua.Variant) []ua.Variant{nil, arrays[bool], arrays[int8], arrays[uint8], arrays[int16], arrays[uint16],
		arrays[int32], arrays[uint32], arrays[int64], arrays[uint64], arrays[float32], arrays[float64], arrays[string],
		arrays[ua.DateTime], arrays[ua.GUID], arrays[[]byte], arrays[ua.XMLElement], arrays[ua.NodeID], arrays[ua.ExpandedNodeID],
		arrays[ua.StatusCode], arrays[ua.QualifiedName], arrays[ua.LocalizedText], arrays[ua.ExtensionObject],
		arrays[ua.DataValue], arrays[ua.Variant], arrays[ua.DiagnosticInfo]}
	return makers[t](vs)
}

func TestEqualOfEveryType(t *testing.T) {
	var all []ua.Variant
	for typ := ua.TypeBoolean; typ <= ua.TypeDiagnosticInfo; typ++ {
		vs := different()[typ]
		if len(vs) < 2 {
			t.Fatalf("no values of type %v", typ)
		}
		all = append(all, vs...)
		if typ != ua.TypeVariant {
			all = append(all, arraysOf(typ, vs)...)
		}
	}
	all = append(all, ua.Variant{})
	for i, v := range all {
		for j, w := range all {
			if got := Equal(v, decoded(t, w)); got != (i == j) {
				t.Errorf("%v %v and %v %v: Equal is %v", v.Type(), v, w.Type(), w, got)
			}
		}
	}
}

func TestEqualOfWhatOnlyLooksDifferent(t *testing.T) {
	nan := math.Float64frombits(0x7FF8000000000123)
	object := ua.NewExtensionObject(&ua.Range{Low: 1, High: 2})
	bytes := (&ua.Range{Low: 1, High: 2}).AppendBinary(nil)
	for i, c := range []struct{ a, b ua.Variant }{
		{ua.Double(nan), ua.Double(math.NaN())},
		{ua.Float(float32(nan)), ua.Float(float32(math.NaN()))},
		{ua.Array([]float64{nan}), ua.Array([]float64{math.NaN()})},
		{ua.Double(0), ua.Double(math.Copysign(0, -1))},
		{ua.Null(ua.TypeString), ua.String("")},
		{ua.Null(ua.TypeByteString), ua.ByteString([]byte{})},
		{ua.Null(ua.TypeXMLElement), ua.XMLElement("").Variant()},
		{ua.Array[int32](nil), ua.Array([]int32{})},
		{ua.Array([]string{uabin.NullString}), ua.Array([]string{""})},
		{ua.Array([][]byte{nil}), ua.Array([][]byte{{}})},
		{object.Variant(), raw(object.TypeID.Numeric(), bytes...).Variant()},
		{ua.ExtensionObject{Value: object.Value}.Variant(), object.Variant()},
		{ua.Array([]ua.Variant{ua.Null(ua.TypeString)}), ua.Array([]ua.Variant{ua.String("")})},
	} {
		if !Equal(c.a, c.b) || !Equal(c.b, c.a) {
			t.Errorf("case %d: %v and %v differ", i, c.a, c.b)
		}
	}
	// Null is not the same as an empty value of some type, nor are the empty values of two types.
	for i, c := range []struct{ a, b ua.Variant }{
		{ua.Variant{}, ua.String("")},
		{ua.String(""), ua.ByteString(nil)},
		{ua.Array[int32](nil), ua.Array[uint32](nil)},
		{ua.Int32(1), ua.UInt32(1)},
		{ua.Int32(1), ua.Array([]int32{1})},
	} {
		if Equal(c.a, c.b) || Equal(c.b, c.a) {
			t.Errorf("case %d: %v and %v are equal", i, c.a, c.b)
		}
	}
}

func TestEqualDoesNotAllocate(t *testing.T) {
	for typ, vs := range different() {
		cases := append([]ua.Variant{}, vs...)
		if typ != ua.TypeVariant {
			cases = append(cases, arraysOf(typ, vs)...)
		}
		for _, v := range cases {
			w := decoded(t, v)
			if raceEnabled && (typ == ua.TypeExtensionObject || typ == ua.TypeDiagnosticInfo) {
				continue // the race detector makes sync.Pool forget
			}
			if n := testing.AllocsPerRun(20, func() { Equal(v, w) }); n != 0 {
				t.Errorf("%v %v: %v allocations", typ, v, n)
			}
		}
	}
}

func BenchmarkEqual(b *testing.B) {
	many := make([]float64, 1000)
	for _, v := range []ua.Variant{ua.Double(1.5), ua.Int32(7), ua.String("a text of some length"), ua.NewStringNodeID(2, "Plant.Line1").Variant(),
		ua.Array(many), ua.NewExtensionObject(&ua.Range{High: 1}).Variant()} {
		w := decoded(b, v)
		b.Run(fmt.Sprintf("%v_%d", v.Type(), v.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !Equal(v, w) {
					b.Fatal("differ")
				}
			}
		})
	}
}
