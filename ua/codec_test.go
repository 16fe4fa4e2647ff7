package ua

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/actua/actua/ua/uabin"
)

// sample is a built-in type with a scalar, and constructors of its arrays.
type sample struct {
	scalar Variant
	many   Variant // an array of 4
	null   Variant // a null array
	empty  Variant // an empty array
	grid   Variant // the elements of many as 2 by 2
}

func sampleOf[T Element](v ...T) sample {
	grid, err := Matrix(v, 2, 2)
	if err != nil {
		panic(err)
	}
	return sample{Scalar(v[0]), Array(v), Array[T](nil), Array([]T{}), grid}
}

// samples has all 25 built-in types; the scalar of TypeVariant is not one.
func samples() map[BuiltInType]sample {
	g := GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	when := NewDateTime(time.Date(2024, 2, 29, 12, 30, 15, 123456700, time.UTC))
	rng := NewExtensionObject(&Range{Low: -1, High: 1.5})
	raw := ExtensionObject{TypeID: NewNodeID(7, 700), Encoding: BodyBinary, Body: []byte{1, 2, 3}}
	xml := ExtensionObject{TypeID: NewStringNodeID(7, "x"), Encoding: BodyXML, Body: []byte("<a/>")}
	inner := DiagnosticInfo{Mask: DiagnosticSymbolicID | DiagnosticAdditionalInfo, SymbolicID: 3, AdditionalInfo: "more"}
	return map[BuiltInType]sample{
		TypeBoolean:    sampleOf(true, false, true, true),
		TypeSByte:      sampleOf[int8](-5, math.MinInt8, math.MaxInt8, 0),
		TypeByte:       sampleOf[uint8](200, 0, 255, 1),
		TypeInt16:      sampleOf[int16](-300, math.MinInt16, math.MaxInt16, 0),
		TypeUInt16:     sampleOf[uint16](300, 0, math.MaxUint16, 1),
		TypeInt32:      sampleOf[int32](-70000, math.MinInt32, math.MaxInt32, 0),
		TypeUInt32:     sampleOf[uint32](70000, 0, math.MaxUint32, 1),
		TypeInt64:      sampleOf[int64](math.MinInt64, math.MaxInt64, 9007199254740993, 0),
		TypeUInt64:     sampleOf[uint64](math.MaxUint64, 0, 9007199254740993, 1),
		TypeFloat:      sampleOf(float32(1.1), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32),
		TypeDouble:     sampleOf(math.Pi, math.Inf(-1), math.SmallestNonzeroFloat64, math.Copysign(0, -1)),
		TypeString:     sampleOf("text", uabin.NullString, uabin.EmptyString, "ü\x00\n\"\\"),
		TypeDateTime:   sampleOf(when, 0, MaxDateTime, 1),
		TypeGUID:       sampleOf(g, GUID{}, g, g),
		TypeByteString: sampleOf([]byte{0, 255}, nil, []byte{}, bytes.Repeat([]byte{7}, 100)),
		TypeXMLElement: sampleOf(XMLElement("<a>1</a>"), XMLElement(uabin.NullString), XMLElement(uabin.EmptyString), "<b/>"),
		TypeNodeID:     sampleOf(NewStringNodeID(2, "Pump.Speed"), NodeID{}, NewGUIDNodeID(300, g), NewOpaqueNodeID(1, []byte{1, 0})),
		TypeExpandedNodeID: sampleOf(ExpandedNodeID{NodeID: ID(1), NamespaceURI: "urn:a;b", ServerIndex: 3},
			ExpandedNodeID{}, ID(85).Expanded(), ExpandedNodeID{NodeID: NewNodeID(3, 70000), ServerIndex: 1}),
		TypeStatusCode:      sampleOf(BadNodeIdUnknown, Good, BadTimeout|StatusOverflow|StatusInfoDataValue, UncertainInitialValue),
		TypeQualifiedName:   sampleOf(QualifiedName{2, "Name"}, QualifiedName{}, QualifiedName{0, "1:x"}, QualifiedName{65535, uabin.EmptyString}),
		TypeLocalizedText:   sampleOf(LocalizedText{"de", "Pumpe"}, LocalizedText{}, LocalizedText{Text: uabin.EmptyString}, LocalizedText{Locale: "en"}),
		TypeExtensionObject: sampleOf(rng, ExtensionObject{}, raw, xml),
		TypeDataValue: sampleOf(DataValue{Value: Double(1.5), Status: UncertainInitialValue, SourceTimestamp: when, SourcePicoseconds: 12, ServerTimestamp: when + 1, ServerPicoseconds: 9999},
			DataValue{}, DataValue{Value: Array([]string{"a"})}, DataValue{Status: BadNoData}),
		TypeVariant: sampleOf(Int32(1), Variant{}, Array([]float64{1, 2}), String("x")),
		TypeDiagnosticInfo: sampleOf(DiagnosticInfo{Mask: 0x7F, SymbolicID: 1, NamespaceURI: 2, Locale: 3, LocalizedText: 4, AdditionalInfo: "info", InnerStatusCode: BadInternalError, Inner: &inner},
			DiagnosticInfo{}, inner, DiagnosticInfo{Mask: DiagnosticLocale, Locale: -1}),
	}
}

// values lists every shape of every built-in type, and null.
func values() []Variant {
	all := []Variant{{}}
	for t, s := range samples() {
		if t != TypeVariant {
			all = append(all, s.scalar)
		}
		all = append(all, s.many, s.null, s.empty, s.grid)
	}
	return append(all, Null(TypeString), Null(TypeByteString), Null(TypeXMLElement), String(""), ByteString([]byte{}), DateTime(0).Variant(), Int64(0), Double(math.NaN()), Float(float32(math.NaN())))
}

func decodeVariant(t testing.TB, b []byte) Variant {
	t.Helper()
	r := uabin.NewReader(b)
	var v Variant
	v.DecodeBinary(r)
	if err := r.Err(); err != nil {
		t.Fatalf("% x: %v", b, err)
	}
	if r.Remaining() != 0 {
		t.Fatalf("% x: %d bytes left", b, r.Remaining())
	}
	return v
}

func TestVariantRoundTrip(t *testing.T) {
	if n := len(samples()); n != int(TypeDiagnosticInfo) {
		t.Fatalf("%d types", n)
	}
	for _, v := range values() {
		b := v.AppendBinary(nil)
		got := decodeVariant(t, b)
		if !got.Equal(v) || got.Type() != v.Type() || got.IsArray() != v.IsArray() || got.Len() != v.Len() || got.IsNull() != v.IsNull() || !slices.Equal(got.Dimensions(), v.Dimensions()) {
			t.Errorf("%v of %v came back as %v", v, v.Type(), got)
		}
		if again := got.AppendBinary(nil); !bytes.Equal(again, b) {
			t.Errorf("%v: % x became % x", v, b, again)
		}
		if back, err := NewVariant(v.Any()); v.rank() < 2 && (v.Type() != TypeByte || !v.IsArray()) && (err != nil || !back.Equal(v) && !v.IsNull()) {
			t.Errorf("NewVariant(Any()) of %v is %v, %v", v, back, err)
		}
		_ = v.String()
		for i := range v.Len() {
			_ = v.Index(i)
		}
	}
}

// Every beginning of a value must give an error, not a panic and not a value.
func TestVariantTruncated(t *testing.T) {
	for _, v := range values() {
		b := v.AppendBinary(nil)
		for n := range b {
			r := uabin.NewReader(b[:n:n])
			var got Variant
			got.DecodeBinary(r)
			if r.OK() && !(v.Type() == TypeNull) {
				t.Errorf("%v: %d of %d bytes gave %v", v, n, len(b), got)
			}
			if err := r.Err(); err != nil && !errors.Is(err, BadDecodingError) {
				t.Errorf("%v: %v", v, err)
			}
		}
	}
}

func TestReportC01(t *testing.T) {
	for _, dims := range [][]int32{{2, 2}, {0, 5}, {-1, 3}, {65536, 65536}, {1 << 30, 1 << 30, 1 << 30, 1 << 30}, {0, 0}} {
		b := []byte{byte(TypeInt32) | variantArray | variantDims, 0, 0, 0, 0}
		b = uabin.AppendInt32(b, int32(len(dims)))
		for _, d := range dims {
			b = uabin.AppendInt32(b, d)
		}
		r := uabin.NewReader(b)
		var v Variant
		v.DecodeBinary(r)
		if !errors.Is(r.Err(), BadDecodingError) || !v.IsNull() {
			t.Errorf("%v: %v, %v", dims, v, r.Err())
		}
		// The same within a request.
		w := WriteRequest{NodesToWrite: []WriteValue{{AttributeID: 13}}}
		body := w.AppendBinary(nil)
		body = append(body[:len(body)-1], append([]byte{valueBit}, b...)...)
		r = uabin.NewReader(body)
		new(WriteRequest).DecodeBinary(r)
		if !errors.Is(r.Err(), BadDecodingError) {
			t.Errorf("in a request: %v", r.Err())
		}
	}
	for _, b := range [][]byte{{byte(TypeInt32) | variantDims, 1, 0, 0, 0}, {26}, {0x80}, {0xC0, 0, 0, 0, 0}, {byte(TypeVariant), 1, 1}, {63}} {
		r := uabin.NewReader(b)
		new(Variant).DecodeBinary(r)
		if !errors.Is(r.Err(), BadDecodingError) {
			t.Errorf("% x: %v", b, r.Err())
		}
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestReportC02(t *testing.T) {
	const count = 100_000_000
	length := uabin.AppendInt32(nil, count)
	request := (&ReadRequest{}).AppendBinary(nil)
	request = append(request[:len(request)-4], length...)
	cases := map[string]struct {
		b    []byte
		into func(*uabin.Reader)
	}{
		"ReadRequest": {request, func(r *uabin.Reader) { new(ReadRequest).DecodeBinary(r) }},
		"String":      {length, func(r *uabin.Reader) { _ = r.String() }},
		"ByteString":  {length, func(r *uabin.Reader) { r.Bytes(nil) }},
		"ExtensionObject": {append([]byte{1, 0, 0xFF, 0xFF, 1}, length...),
			func(r *uabin.Reader) { new(ExtensionObject).DecodeBinary(r) }},
		"known ExtensionObject": {append(ID(886).AppendBinary(nil), append([]byte{1}, length...)...),
			func(r *uabin.Reader) { new(ExtensionObject).DecodeBinary(r) }},
	}
	for i := TypeBoolean; i <= TypeDiagnosticInfo; i++ {
		cases[i.String()+"[]"] = struct {
			b    []byte
			into func(*uabin.Reader)
		}{append([]byte{byte(i) | variantArray}, length...), func(r *uabin.Reader) { new(Variant).DecodeBinary(r) }}
	}
	for name, c := range cases {
		r := uabin.NewReader(c.b)
		n := allocated(func() { c.into(r) })
		if r.OK() || n > 64<<10 {
			t.Errorf("%s: %d bytes allocated, %v", name, n, r.Err())
		}
	}
	// A count that the input could hold, of elements that are much larger in memory: 1 MB of nulls
	// would be 100 MB of DiagnosticInfo.
	b := append([]byte{byte(TypeDiagnosticInfo) | variantArray}, uabin.AppendInt32(nil, 1<<20)...)
	b = append(b, make([]byte, 1<<20)...)
	r := uabin.NewReader(b)
	if n := allocated(func() { new(Variant).DecodeBinary(r) }); n > 70<<20 {
		t.Errorf("%d bytes allocated for 1 MiB, %v", n, r.Err())
	}
}

func TestReportC04(t *testing.T) {
	for _, c := range []struct {
		year int
		want int64
	}{{1, 0}, {1500, 0}, {1600, 0}, {10000, math.MaxInt64}, {20000, math.MaxInt64}} {
		d := NewDateTime(time.Date(c.year, 1, 1, 0, 0, 0, 0, time.UTC))
		if got := int64(binary.LittleEndian.Uint64(d.AppendBinary(nil))); got != c.want {
			t.Errorf("year %d is %d", c.year, got)
		}
	}
	if b := NewDateTime(time.Time{}).AppendBinary(nil); !bytes.Equal(b, make([]byte, 8)) {
		t.Errorf("the zero time is % x", b)
	}
	for _, raw := range []int64{math.MinInt64, -1, 0} {
		var d DateTime
		d.DecodeBinary(uabin.NewReader(uabin.AppendInt64(nil, raw)))
		if d != MinDateTime || !d.IsZero() || !d.Time().IsZero() {
			t.Errorf("%d is %v", raw, d)
		}
	}
	for _, raw := range []int64{math.MaxInt64, int64(lastTick), int64(lastTick) + 1} {
		var d DateTime
		d.DecodeBinary(uabin.NewReader(uabin.AppendInt64(nil, raw)))
		if d != MaxDateTime || d.Time().Year() != 9999 || NewDateTime(d.Time()) != MaxDateTime {
			t.Errorf("%d is %v", raw, d)
		}
	}
	for _, at := range []time.Time{
		time.Date(1601, 1, 1, 0, 0, 0, 100, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999900, time.UTC),
		time.Unix(0, 0).UTC(), time.Date(2200, 5, 5, 5, 5, 5, 500, time.UTC), time.Date(9999, 12, 31, 23, 59, 58, 999999900, time.UTC),
	} {
		if got := NewDateTime(at).Time(); !got.Equal(at) {
			t.Errorf("%v came back as %v", at, got)
		}
	}
}

func TestReportC05(t *testing.T) {
	var d DataValue
	r := uabin.NewReader([]byte{statusBit, 0, 0, 0x34, 0x80})
	d.DecodeBinary(r)
	v := d.Value
	if r.Err() != nil || d.Status != BadNodeIdUnknown || v.Type() != TypeNull || !v.IsNull() || v.IsArray() || v.Len() != 0 {
		t.Fatalf("%+v, %v", d, r.Err())
	}
	if v.Bool() || v.Int() != 0 || v.Uint() != 0 || v.Float() != 0 || v.Str() != "" || v.Bytes() != nil || v.DateTime() != 0 ||
		!v.NodeID().IsNull() || v.Structure() != nil || v.Any() != nil || !v.Index(0).IsNull() || v.Dimensions() != nil || v.String() != "null" {
		t.Error("an accessor returns something")
	}
	if _, ok := As[int32](v); ok {
		t.Error("As")
	}
	if _, ok := ArrayOf[int32](v); ok {
		t.Error("ArrayOf")
	}
	// Every accessor of every value: none may panic.
	for _, v := range values() {
		_, _, _, _, _, _, _ = v.Bool(), v.Int(), v.Uint(), v.Float(), v.Str(), v.Bytes(), v.DateTime()
		_, _, _, _ = v.NodeID(), v.Structure(), v.Any(), v.Index(1000)
		_, _ = As[Variant](v)
		_, _ = ArrayOf[string](v)
	}
}

func TestReportC06(t *testing.T) {
	for typ, s := range samples() {
		for _, c := range []struct {
			v    Variant
			want []byte
		}{
			{s.null, []byte{byte(typ) | variantArray, 0xFF, 0xFF, 0xFF, 0xFF}},
			{s.empty, []byte{byte(typ) | variantArray, 0, 0, 0, 0}},
		} {
			b := c.v.AppendBinary(nil)
			if !bytes.Equal(b, c.want) {
				t.Errorf("%v: % x, want % x", typ, b, c.want)
			}
			got := decodeVariant(t, b)
			if got.Type() != typ || !got.IsArray() || got.Len() != 0 || got.IsNull() != c.v.IsNull() || !got.Equal(c.v) {
				t.Errorf("%v came back as %v of %v", c.v, got, got.Type())
			}
			if s.null.Equal(s.empty) {
				t.Errorf("%v: null equals empty", typ)
			}
		}
	}
	// The arrays of structures make the same difference.
	for _, nodes := range [][]ReadValueID{nil, {}} {
		b := (&ReadRequest{NodesToRead: nodes}).AppendBinary(nil)
		var x ReadRequest
		x.DecodeBinary(uabin.NewReader(b))
		if (x.NodesToRead == nil) != (nodes == nil) || !bytes.Equal(x.AppendBinary(nil), b) {
			t.Errorf("%v came back as %v", nodes, x.NodesToRead)
		}
	}
}

func TestReportC08(t *testing.T) {
	for _, typ := range []BuiltInType{TypeString, TypeByteString, TypeXMLElement} {
		b := []byte{byte(typ), 0xFF, 0xFF, 0xFF, 0xFF}
		v := decodeVariant(t, b)
		if v.Type() != typ || !v.IsNull() || v.IsArray() || !v.Equal(Null(typ)) || !bytes.Equal(v.AppendBinary(nil), b) {
			t.Errorf("%v: %v", typ, v)
		}
		empty := []byte{byte(typ), 0, 0, 0, 0}
		if v := decodeVariant(t, empty); v.IsNull() || !bytes.Equal(v.AppendBinary(nil), empty) {
			t.Errorf("%v: the empty one is %v", typ, v)
		}
	}
}

func TestReportC10(t *testing.T) {
	for _, c := range []struct {
		rank int32
		dims []uint32
	}{{1, []uint32{}}, {1, []uint32{0}}, {2, []uint32{0, 0}}, {-1, nil}, {1, nil}} {
		a := Argument{Name: "Out", DataType: ID(12), ValueRank: c.rank, ArrayDimensions: c.dims}
		v := Array([]ExtensionObject{NewExtensionObject(&a)})
		got := decodeVariant(t, v.AppendBinary(nil))
		b, ok := got.Index(0).Structure().(*Argument)
		if !ok || b.ValueRank != c.rank || !slices.Equal(b.ArrayDimensions, c.dims) || (b.ArrayDimensions == nil) != (c.dims == nil) || b.Name != "Out" {
			t.Errorf("%+v came back as %+v", a, b)
		}
	}
}

func TestReportC11(t *testing.T) {
	chain := bytes.Repeat([]byte{byte(DiagnosticInner)}, 60_000)
	variants := bytes.Repeat([]byte{byte(TypeVariant) | variantArray, 1, 0, 0, 0}, 10_000)
	dataValues := bytes.Repeat([]byte{valueBit, byte(TypeDataValue)}, 10_000)
	for name, c := range map[string]struct {
		b    []byte
		into func(*uabin.Reader)
	}{
		"DiagnosticInfo": {chain, func(r *uabin.Reader) { new(DiagnosticInfo).DecodeBinary(r) }},
		"Variant":        {variants, func(r *uabin.Reader) { new(Variant).DecodeBinary(r) }},
		"DataValue":      {dataValues, func(r *uabin.Reader) { new(DataValue).DecodeBinary(r) }},
	} {
		r := uabin.NewReader(c.b)
		n := allocated(func() { c.into(r) })
		if !errors.Is(r.Err(), BadEncodingLimitsExceeded) || errors.Is(r.Err(), BadDecodingError) || n > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, r.Err(), n)
		}
	}
	// 100 levels are allowed, 101 are not.
	for depth, ok := range map[int]bool{100: true, 101: false} {
		v := Int32(7)
		for range depth {
			v = Array([]Variant{v})
		}
		r := uabin.NewReader(v.AppendBinary(nil))
		var got Variant
		got.DecodeBinary(r)
		if r.OK() != ok || ok && !got.Equal(v) {
			t.Errorf("%d levels: %v", depth, r.Err())
		}
		d := DiagnosticInfo{}
		for range depth - 1 {
			inner := d
			d = DiagnosticInfo{Mask: DiagnosticInner, Inner: &inner}
		}
		r = uabin.NewReader(d.AppendBinary(nil))
		new(DiagnosticInfo).DecodeBinary(r)
		if r.OK() != ok {
			t.Errorf("%d levels of DiagnosticInfo: %v", depth, r.Err())
		}
	}
	// A structure in a structure, by way of an ExtensionObject, must not turn too deep a value into
	// one that is merely not understood.
	e := ExtensionObject{TypeID: NewNodeID(1, 1), Encoding: BodyBinary}
	for range 150 {
		e = NewExtensionObject(&KeyValuePair{Value: e.Variant()})
	}
	r := uabin.NewReader(e.AppendBinary(nil))
	new(ExtensionObject).DecodeBinary(r)
	if !errors.Is(r.Err(), BadEncodingLimitsExceeded) {
		t.Errorf("nested structures: %v", r.Err())
	}
}

func TestReportC13(t *testing.T) {
	inner := DiagnosticInfo{Mask: DiagnosticAdditionalInfo, AdditionalInfo: "inner"}
	for mask := range 128 {
		d := DiagnosticInfo{Mask: DiagnosticMask(mask)}
		fields := []func(){
			func() { d.SymbolicID = 11 }, func() { d.NamespaceURI = 12 }, func() { d.LocalizedText = 13 }, func() { d.Locale = -1 },
			func() { d.AdditionalInfo = "text" }, func() { d.InnerStatusCode = BadTimeout }, func() { d.Inner = &inner },
		}
		for i, f := range fields {
			if mask&(1<<i) != 0 {
				f()
			}
		}
		b := ServiceFault{ResponseHeader: ResponseHeader{ServiceResult: BadTimeout, ServiceDiagnostics: d, StringTable: []string{"a", "b"}}}
		raw := b.AppendBinary(nil)
		var got ServiceFault
		r := uabin.NewReader(raw)
		got.DecodeBinary(r)
		h := got.ResponseHeader.ServiceDiagnostics
		if r.Err() != nil || r.Remaining() != 0 || !bytes.Equal(got.AppendBinary(nil), raw) {
			t.Fatalf("mask %02x: %v", mask, r.Err())
		}
		if h.Mask != d.Mask || h.SymbolicID != d.SymbolicID || h.NamespaceURI != d.NamespaceURI || h.Locale != d.Locale || h.LocalizedText != d.LocalizedText ||
			h.AdditionalInfo != d.AdditionalInfo || h.InnerStatusCode != d.InnerStatusCode || (h.Inner == nil) != (d.Inner == nil) || h.Inner != nil && h.Inner.AdditionalInfo != "inner" {
			t.Errorf("mask %02x: %+v", mask, h)
		}
	}
	// The order on the wire is not that of the bits: Locale comes before LocalizedText.
	d := DiagnosticInfo{Mask: DiagnosticLocale | DiagnosticLocalizedText, Locale: 1, LocalizedText: 2}
	if b := d.AppendBinary(nil); !bytes.Equal(b, []byte{0x0C, 1, 0, 0, 0, 2, 0, 0, 0}) {
		t.Errorf("% x", b)
	}
	if b := (&DiagnosticInfo{Mask: DiagnosticInner}).AppendBinary(nil); !bytes.Equal(b, []byte{0}) {
		t.Errorf("an inner one that is missing: % x", b)
	}
}

// plcType is a structure as a user writes it, of a namespace known by URI.
type plcType struct {
	ID    NodeID
	Count int32
	Inner []float32
}

const plcURI = "urn:example:plc"

func (p *plcType) AppendBinary(b []byte) []byte {
	b = p.ID.AppendBinary(b)
	b = uabin.AppendInt32(b, p.Count)
	b = uabin.AppendLen(b, len(p.Inner), p.Inner == nil)
	for _, f := range p.Inner {
		b = uabin.AppendFloat32(b, f)
	}
	return b
}

func (p *plcType) DecodeBinary(r *uabin.Reader) {
	p.ID.DecodeBinary(r)
	p.Count = r.Int32()
	p.Inner = uabin.Slice(r, p.Inner, 4)
	for i := range p.Inner {
		p.Inner[i] = r.Float32()
	}
}

func (*plcType) DataTypeID() ExpandedNodeID {
	return ExpandedNodeID{NodeID: ID(3000), NamespaceURI: plcURI}
}

func (*plcType) BinaryID() ExpandedNodeID {
	return ExpandedNodeID{NodeID: ID(3001), NamespaceURI: plcURI}
}

func TestReportC26(t *testing.T) {
	var types TypeTable
	types.Register(func() Structure { return new(plcType) })
	types.SetNamespaces([]string{"http://opcfoundation.org/UA/", "urn:me", plcURI})
	var outs []ExtensionObject
	for i := range 3 {
		e, err := types.Wrap(&plcType{ID: NewNodeID(2, uint32(i)), Count: int32(i), Inner: []float32{1, 2}})
		if err != nil || e.TypeID != NewNodeID(2, 3001) {
			t.Fatal(e, err)
		}
		outs = append(outs, e)
	}
	v := Array(outs)
	wire := v.AppendBinary(nil)

	// Nobody knows the type: id and body are kept and written back.
	got := decodeVariant(t, wire)
	list, _ := ArrayOf[ExtensionObject](got)
	if len(list) != 3 {
		t.Fatalf("%v", got)
	}
	for i, e := range list {
		if e.Value != nil || e.TypeID != NewNodeID(2, 3001) || e.Encoding != BodyBinary || !bytes.Equal(e.Body, outs[i].Value.AppendBinary(nil)) {
			t.Errorf("element %d: %+v", i, e)
		}
	}
	if !bytes.Equal(got.AppendBinary(nil), wire) {
		t.Error("not written back unchanged")
	}
	// Decodable later.
	var late plcType
	late.DecodeBinary(uabin.NewReader(list[2].Body))
	if late.Count != 2 || len(late.Inner) != 2 {
		t.Errorf("%+v", late)
	}

	// With the type registered the same bytes are structures; the index follows the URI.
	r := uabin.NewReader(wire)
	r.Types = &types
	var known Variant
	known.DecodeBinary(r)
	p, ok := known.Index(1).Structure().(*plcType)
	if !ok || p.Count != 1 || p.ID != NewNodeID(2, 1) || !bytes.Equal(known.AppendBinary(nil), wire) {
		t.Errorf("%v %v", known, r.Err())
	}
	types.SetNamespaces([]string{"http://opcfoundation.org/UA/", plcURI})
	if types.New(NewNodeID(1, 3001)) == nil || types.New(NewNodeID(2, 3001)) != nil {
		t.Error("the type did not follow its namespace")
	}
	types.SetNamespaces(nil)
	if _, err := types.Wrap(p); !errors.Is(err, BadDataTypeIdUnknown) {
		t.Error(err)
	}

	// A body that does not fit its type is kept and does no harm to what follows.
	bad := ExtensionObject{TypeID: (&Range{}).BinaryID().NodeID, Encoding: BodyBinary, Body: []byte{1, 2, 3}}
	pair := Array([]ExtensionObject{bad, NewExtensionObject(&Range{Low: 4})})
	back := decodeVariant(t, pair.AppendBinary(nil))
	list, _ = ArrayOf[ExtensionObject](back)
	if list[0].Value != nil || !bytes.Equal(list[0].Body, bad.Body) || list[1].Value.(*Range).Low != 4 || !back.Equal(pair) {
		t.Errorf("%v", back)
	}
	// One with bytes left over as well.
	long := ExtensionObject{TypeID: bad.TypeID, Encoding: BodyBinary, Body: make([]byte, 17)}
	wire = long.AppendBinary(nil)
	r = uabin.NewReader(wire)
	var e ExtensionObject
	e.DecodeBinary(r)
	if r.Err() != nil || e.Value != nil || !bytes.Equal(e.AppendBinary(nil), wire) {
		t.Errorf("%+v, %v", e, r.Err())
	}
	// Null and empty bodies stay apart.
	for _, body := range [][]byte{nil, {}} {
		e := ExtensionObject{TypeID: NewNodeID(5, 5), Encoding: BodyBinary, Body: body}
		wire := e.AppendBinary(nil)
		var got ExtensionObject
		got.DecodeBinary(uabin.NewReader(wire))
		if !bytes.Equal(got.AppendBinary(nil), wire) || (got.Body == nil) != (body == nil) {
			t.Errorf("%v: %+v", body, got)
		}
	}
}

func TestVariantSize(t *testing.T) {
	if n := unsafe.Sizeof(Variant{}); n > 32 {
		t.Errorf("a Variant takes %d bytes", n)
	}
	if n := unsafe.Sizeof(NodeID{}); n > 24 {
		t.Errorf("a NodeID takes %d bytes", n)
	}
}

func TestVariantAllocations(t *testing.T) {
	buf := make([]byte, 0, 256)
	text := "a string that is long enough"
	blob := []byte{1, 2, 3}
	var sink Variant
	for name, f := range map[string]func(){
		"Int32":      func() { sink = Int32(5) },
		"Double":     func() { sink = Double(5) },
		"Boolean":    func() { sink = Boolean(true) },
		"String":     func() { sink = String(text) },
		"ByteString": func() { sink = ByteString(blob) },
		"DateTime":   func() { sink = DateTime(5).Variant() },
		"StatusCode": func() { sink = BadTimeout.Variant() },
		"Scalar":     func() { sink = Scalar(text) },
	} {
		if n := testing.AllocsPerRun(100, func() { f(); buf = sink.AppendBinary(buf[:0]); _, _ = As[string](sink) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	b := Double(1.5)
	wire := b.AppendBinary(nil)
	var r uabin.Reader
	if n := testing.AllocsPerRun(100, func() { r.Reset(wire, uabin.Limits{}); sink.DecodeBinary(&r) }); n != 0 {
		t.Errorf("decode: %v allocations", n)
	}
}

func TestNodeIDAsKey(t *testing.T) {
	m := map[NodeID]int{}
	g := GUID{1}
	ids := []NodeID{ID(1), NewNodeID(1, 1), NewStringNodeID(1, "1"), NewGUIDNodeID(1, g), NewOpaqueNodeID(1, []byte("1")), NewOpaqueNodeID(1, g[:])}
	for i, n := range ids {
		m[n] = i
	}
	if len(m) != len(ids) {
		t.Fatalf("%d keys", len(m))
	}
	for i, n := range ids {
		var got NodeID
		got.DecodeBinary(uabin.NewReader(n.AppendBinary(nil)))
		if j, ok := m[got]; !ok || j != i {
			t.Errorf("%v is not found after a round trip", n)
		}
	}
	// The forms of the wire are the shortest, and longer ones are the same id.
	for _, b := range [][]byte{{0, 5}, {1, 0, 5, 0}, {2, 0, 0, 5, 0, 0, 0}} {
		var got NodeID
		got.DecodeBinary(uabin.NewReader(b))
		if got != ID(5) || !bytes.Equal(got.AppendBinary(nil), []byte{0, 5}) {
			t.Errorf("% x: %v", b, got)
		}
	}
	for _, n := range []NodeID{{}, NewStringNodeID(0, ""), NewGUIDNodeID(0, GUID{}), NewOpaqueNodeID(0, nil)} {
		if !n.IsNull() || n.WithNamespace(1).IsNull() {
			t.Errorf("%v", n)
		}
	}
	for _, b := range [][]byte{{0x80, 5}, {0x40, 5}, {6}, {0xC3, 0, 0}} {
		r := uabin.NewReader(b)
		var n NodeID
		if n.DecodeBinary(r); !errors.Is(r.Err(), BadDecodingError) {
			t.Errorf("% x: %v", b, n)
		}
	}
}

// Null and empty strings are told apart by where they point. That has to survive what happens to a
// string on its way through a program.
func TestNullStringIdentity(t *testing.T) {
	type holder struct{ s, e string }
	h := holder{uabin.NullString, uabin.EmptyString}
	list := append(append([]string(nil), make([]string, 10)...), h.s, h.e)
	list = append(slices.Clone(list), "")[10:]
	m := map[int]string{0: list[0], 1: list[1]}
	var any any = m[0]
	ch := make(chan string, 1)
	ch <- any.(string)
	null, empty := <-ch, m[1]
	if !uabin.IsNullString(null) || uabin.IsEmptyString(null) || !uabin.IsEmptyString(empty) || uabin.IsNullString(empty) || uabin.IsNullString(list[2]) || uabin.IsEmptyString(list[2]) {
		t.Fatal("the identity got lost")
	}
	if null != "" || empty != "" || null != empty {
		t.Error("they are no empty strings")
	}
	for _, c := range []struct {
		s            string
		field, value []byte
	}{
		{null, []byte{0xFF, 0xFF, 0xFF, 0xFF}, []byte{0xFF, 0xFF, 0xFF, 0xFF}},
		{empty, make([]byte, 4), make([]byte, 4)},
		{"", []byte{0xFF, 0xFF, 0xFF, 0xFF}, make([]byte, 4)},
	} {
		if b := uabin.AppendString(nil, c.s); !bytes.Equal(b, c.field) {
			t.Errorf("as a field: % x", b)
		}
		v := String(c.s)
		copied := []Variant{v}[0]
		if b := copied.AppendBinary(nil)[1:]; !bytes.Equal(b, c.value) {
			t.Errorf("as a value: % x", b)
		}
		if s, _ := As[string](copied); uabin.IsNullString(s) != uabin.IsNullString(c.s) || uabin.IsEmptyString(s) != uabin.IsEmptyString(c.s) {
			t.Error("As loses it")
		}
	}
	runtime.GC()
	if !uabin.IsNullString(h.s) || !uabin.IsEmptyString(list[1]) {
		t.Error("lost after a collection")
	}
	// What was decoded is written back as it was.
	for _, b := range [][]byte{{1, 0, 0xFF, 0xFF, 0xFF, 0xFF}, {1, 0, 0, 0, 0, 0}} {
		var q QualifiedName
		q.DecodeBinary(uabin.NewReader(b))
		if !bytes.Equal(q.AppendBinary(nil), b) {
			t.Errorf("% x became % x", b, q.AppendBinary(nil))
		}
	}
	for _, b := range [][]byte{{0}, {1, 0, 0, 0, 0}, {3, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 1, 0, 0, 0, 'x'}} {
		var l LocalizedText
		l.DecodeBinary(uabin.NewReader(b))
		if !bytes.Equal(l.AppendBinary(nil), b) {
			t.Errorf("% x became % x", b, l.AppendBinary(nil))
		}
	}
}

func TestMatrixChecks(t *testing.T) {
	for _, dims := range [][]uint32{{}, {3}, {0}, {4, 0}, {2, 3}, {1 << 31, 1 << 31}, {1 << 16, 1 << 16, 1 << 16, 1 << 16}} {
		if v, err := Matrix([]int32{1, 2, 3, 4}, dims...); err != BadDecodingError || !v.IsNull() {
			t.Errorf("%v: %v, %v", dims, v, err)
		}
	}
	v := mustMatrix(t, []int32{1, 2, 3, 4}, 2, 2)
	v.Dimensions()[0] = 99
	if !slices.Equal(v.Dimensions(), []uint32{2, 2}) {
		t.Error("the dimensions can be changed from outside")
	}
}

func TestNewVariantRejects(t *testing.T) {
	for _, v := range []any{struct{}{}, new(int), map[string]int{}, []any{1}, uint(3), func() {}} {
		if got, err := NewVariant(v); err != BadTypeMismatch || !got.IsNull() {
			t.Errorf("%T: %v, %v", v, got, err)
		}
	}
	if v, err := NewVariant([]int{1, 2}); err != nil || !v.Equal(Array([]int64{1, 2})) {
		t.Error(v, err)
	}
	if v, err := NewVariant(&Range{Low: 1}); err != nil || v.Structure().(*Range).Low != 1 {
		t.Error(v, err)
	}
}

func TestVariantEqual(t *testing.T) {
	all := values()
	for i, v := range all {
		for j, w := range all {
			same := bytes.Equal(v.AppendBinary(nil), w.AppendBinary(nil))
			if v.Equal(w) != same {
				t.Errorf("%d %v and %d %v: Equal is %v", i, v, j, w, v.Equal(w))
			}
		}
	}
}

// Values that several goroutines read must not change by being read; the race detector tells.
func TestVariantShared(t *testing.T) {
	all := values()
	done := make(chan []byte, 4)
	for range 4 {
		go func() {
			var b []byte
			for _, v := range all {
				b = v.AppendBinary(b)
				b = append(b, v.String()...)
				b = new(JSONOptions).AppendVariant(b, v)
			}
			done <- b
		}()
	}
	first := <-done
	for range 3 {
		if !bytes.Equal(first, <-done) {
			t.Error("not the same")
		}
	}
}

func TestDataValueString(t *testing.T) {
	at, err := ParseDateTime("2026-01-02T03:04:05.5Z")
	if err != nil {
		t.Fatal(err)
	}
	for want, d := range map[string]DataValue{
		"1.5 2026-01-02T03:04:05.5Z": {Value: Double(1.5), SourceTimestamp: at},
		"null BadNodeIdUnknown":      {Status: BadNodeIdUnknown},
		`"x"`:                        {Value: String("x")},
	} {
		if got := d.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
