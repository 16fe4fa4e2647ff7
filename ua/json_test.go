package ua

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

var jsonForms = []*JSONOptions{{}, {Encoding: JSONVerbose}, {Namespaces: []string{"http://opcfoundation.org/UA/", "urn:me", "urn:a;b", plcURI}}}

// Report T10: all built-in types, NaN, infinities, Int64, in all forms, there and back.
func TestReportT10(t *testing.T) {
	for _, o := range jsonForms {
		for _, v := range values() {
			text := o.AppendVariant(nil, v)
			if !json.Valid(text) {
				t.Fatalf("%v: %s", v, text)
			}
			got, err := o.DecodeVariant(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			// The URI that the table knows comes back as the index.
			if !got.Equal(v) && v.Type() != TypeExpandedNodeID {
				t.Errorf("%s came back as %v of %v, want %v", text, got, got.Type(), v)
			}
			if again := o.AppendVariant(nil, got); !bytes.Equal(again, text) {
				t.Errorf("%s became %s", text, again)
			}
			d := DataValue{Value: v, Status: BadTimeout, ServerTimestamp: 5}
			text = o.AppendDataValue(nil, d)
			if got, err := o.DecodeDataValue(text); err != nil || !got.Value.Equal(v) && v.Type() != TypeExpandedNodeID || got.Status != d.Status || got.ServerTimestamp != 5 {
				t.Errorf("%s: %+v, %v", text, got, err)
			}
			// Without the type, as the command line shows it.
			text = o.AppendValue(nil, v)
			if !json.Valid(text) {
				t.Fatalf("%v: %s", v, text)
			}
			rank := -1
			if v.IsArray() {
				rank = v.rank()
			}
			got, err = o.DecodeValue(text, v.Type(), nil, rank)
			if err != nil || !got.Equal(v) && v.Type() != TypeExpandedNodeID {
				t.Errorf("%s of %v came back as %v, %v", text, v.Type(), got, err)
			}
		}
	}
}

func TestJSONText(t *testing.T) {
	guid := GUID{0x09, 0x08, 0x7e, 0x75, 0x8e, 0x5e, 0x49, 0x9b, 0x95, 0x4f, 0xf2, 0xa9, 0x60, 0x3d, 0xb2, 0x8a}
	when, _ := ParseDateTime("2024-02-29T12:30:15.1234567Z")
	for _, c := range []struct {
		v                       Variant
		compact, verbose, plain string
	}{
		{Variant{}, `null`, ``, `null`},
		{Double(21.5), `{"UaType":11,"Value":21.5}`, ``, `21.5`},
		{Double(math.NaN()), `{"UaType":11,"Value":"NaN"}`, ``, `"NaN"`},
		{Float(float32(math.Inf(-1))), `{"UaType":10,"Value":"-Infinity"}`, ``, `"-Infinity"`},
		{Float(0.1), `{"UaType":10,"Value":0.1}`, ``, `0.1`},
		{Double(1e30), `{"UaType":11,"Value":1e+30}`, ``, `1e+30`},
		{Int64(math.MinInt64), `{"UaType":8,"Value":"-9223372036854775808"}`, ``, `"-9223372036854775808"`},
		{UInt64(math.MaxUint64), `{"UaType":9,"Value":"18446744073709551615"}`, ``, `"18446744073709551615"`},
		{Int32(0), `{"UaType":6,"Value":0}`, ``, `0`},
		{Boolean(false), `{"UaType":1,"Value":false}`, ``, `false`},
		{String("a\"\\\n\x01é\xff"), `{"UaType":12,"Value":"a\"\\\n\u0001é�"}`, ``, `"a\"\\\n\u0001é�"`},
		{String(""), `{"UaType":12,"Value":""}`, ``, `""`},
		{Null(TypeString), `{"UaType":12}`, ``, `null`},
		{ByteString([]byte{1, 2, 255}), `{"UaType":15,"Value":"AQL/"}`, ``, `"AQL/"`},
		{when.Variant(), `{"UaType":13,"Value":"2024-02-29T12:30:15.1234567Z"}`, ``, `"2024-02-29T12:30:15.1234567Z"`},
		{guid.Variant(), `{"UaType":14,"Value":"09087e75-8e5e-499b-954f-f2a9603db28a"}`, ``, `"09087e75-8e5e-499b-954f-f2a9603db28a"`},
		{NewStringNodeID(2, "a").Variant(), `{"UaType":17,"Value":"ns=2;s=a"}`, ``, `"ns=2;s=a"`},
		{BadTimeout.Variant(), `{"UaType":19,"Value":{"Code":2148139008}}`, `{"UaType":19,"Value":{"Code":2148139008,"Symbol":"BadTimeout"}}`, `"BadTimeout"`},
		{Good.Variant(), `{"UaType":19,"Value":{}}`, ``, `"Good"`},
		{QualifiedName{2, "N"}.Variant(), `{"UaType":20,"Value":"2:N"}`, ``, `"2:N"`},
		{LocalizedText{"de", "Hallo"}.Variant(), `{"UaType":21,"Value":{"Locale":"de","Text":"Hallo"}}`, ``, `{"Locale":"de","Text":"Hallo"}`},
		{Array([]int32{1, 2}), `{"UaType":6,"Value":[1,2]}`, ``, `[1,2]`},
		{Array([]int32{}), `{"UaType":6,"Value":[]}`, ``, `[]`},
		{Array([]string{"a", uabin.NullString}), `{"UaType":12,"Value":["a",null]}`, ``, `["a",null]`},
		{mustMatrix(t, []int32{1, 2, 3, 4, 5, 6}, 2, 3), `{"UaType":6,"Value":[1,2,3,4,5,6],"Dimensions":[2,3]}`, ``, `[[1,2,3],[4,5,6]]`},
		{Array([]Variant{Int32(1), {}}), `{"UaType":24,"Value":[{"UaType":6,"Value":1},null]}`, ``, `[{"UaType":6,"Value":1},null]`},
		{NewExtensionObject(&Range{High: 100}).Variant(), `{"UaType":22,"Value":{"UaTypeId":"i=884","High":100}}`,
			`{"UaType":22,"Value":{"UaTypeId":"i=884","Low":0,"High":100}}`, `{"UaTypeId":"i=884","High":100}`},
		{ExtensionObject{TypeID: NewNodeID(2, 5), Encoding: BodyBinary, Body: []byte{1, 2}}.Variant(),
			`{"UaType":22,"Value":{"UaTypeId":"ns=2;i=5","UaEncoding":1,"UaBody":"AQI="}}`, ``, `{"UaTypeId":"ns=2;i=5","UaEncoding":1,"UaBody":"AQI="}`},
	} {
		if c.verbose == "" {
			c.verbose = c.compact
		}
		for want, got := range map[string][]byte{
			c.compact: new(JSONOptions).AppendVariant(nil, c.v),
			c.verbose: (&JSONOptions{Encoding: JSONVerbose}).AppendVariant(nil, c.v),
			c.plain:   new(JSONOptions).AppendValue(nil, c.v),
		} {
			if string(got) != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestJSONDataValue(t *testing.T) {
	when, _ := ParseDateTime("2024-02-29T12:00:00Z")
	d := DataValue{Value: Int32(5), Status: BadTimeout, SourceTimestamp: when, SourcePicoseconds: 10, ServerTimestamp: when}
	const want = `{"UaType":6,"Value":5,"Status":{"Code":2148139008},"SourceTimestamp":"2024-02-29T12:00:00Z","SourcePicoseconds":10,"ServerTimestamp":"2024-02-29T12:00:00Z"}`
	if got := new(JSONOptions).AppendDataValue(nil, d); string(got) != want {
		t.Errorf("%s", got)
	}
	if got := new(JSONOptions).AppendDataValue(nil, DataValue{}); string(got) != `{}` {
		t.Errorf("%s", got)
	}
	for _, text := range []string{want, // and the form of 1.04
		`{"Value":{"Type":6,"Body":5},"Status":2148139008,"SourceTimestamp":"2024-02-29T12:00:00Z","SourcePicoseconds":10,"ServerTimestamp":"2024-02-29T12:00:00Z"}`,
		`{"ServerTimestamp":"2024-02-29T12:00:00Z","SourcePicoseconds":10,"Value":5,"SourceTimestamp":"2024-02-29T12:00:00Z","Status":{"Symbol":"BadTimeout","Code":2148139008},"UaType":6}`,
	} {
		got, err := new(JSONOptions).DecodeDataValue([]byte(text))
		if err != nil || !got.Value.Equal(d.Value) || got.Status != d.Status || got.SourceTimestamp != when || got.SourcePicoseconds != 10 || got.ServerTimestamp != when {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// The reversible form of 1.04 is read.
func TestJSONReversible(t *testing.T) {
	guid, _ := ParseGUID("09087e75-8e5e-499b-954f-f2a9603db28a")
	o := &JSONOptions{Namespaces: []string{"", "urn:me", "urn:plant"}}
	for text, want := range map[string]Variant{
		`{"Type":11,"Body":21.5}`:                                                                 Double(21.5),
		`{"Type":8,"Body":"-5"}`:                                                                  Int64(-5),
		`{"Type":6,"Body":[1,2]}`:                                                                 Array([]int32{1, 2}),
		`{"Type":6,"Body":[1,2,3,4],"Dimensions":[2,2]}`:                                          mustMatrix(t, []int32{1, 2, 3, 4}, 2, 2),
		`{"Type":17,"Body":{"Id":5}}`:                                                             ID(5).Variant(),
		`{"Type":17,"Body":{"IdType":1,"Id":"x","Namespace":2}}`:                                  NewStringNodeID(2, "x").Variant(),
		`{"Type":17,"Body":{"IdType":1,"Id":"x","Namespace":"urn:plant"}}`:                        NewStringNodeID(2, "x").Variant(),
		`{"Type":17,"Body":{"IdType":2,"Id":"09087e75-8e5e-499b-954f-f2a9603db28a"}}`:             NewGUIDNodeID(0, guid).Variant(),
		`{"Type":17,"Body":{"IdType":3,"Id":"AQI=","Namespace":1}}`:                               NewOpaqueNodeID(1, []byte{1, 2}).Variant(),
		`{"Type":18,"Body":{"Id":5,"Namespace":"urn:x","ServerUri":3}}`:                           ExpandedNodeID{NodeID: ID(5), NamespaceURI: "urn:x", ServerIndex: 3}.Variant(),
		`{"Type":19,"Body":2148139008}`:                                                           BadTimeout.Variant(),
		`{"Type":20,"Body":{"Name":"a","Uri":2}}`:                                                 QualifiedName{2, "a"}.Variant(),
		`{"Type":20,"Body":{"Name":"a","Uri":"urn:plant"}}`:                                       QualifiedName{2, "a"}.Variant(),
		`{"Type":21,"Body":{"Text":"a","Locale":"en"}}`:                                           LocalizedText{"en", "a"}.Variant(),
		`{"Type":22,"Body":{"TypeId":{"Id":886},"Body":{"Low":1,"High":2}}}`:                      NewExtensionObject(&Range{Low: 1, High: 2}).Variant(),
		`{"Type":22,"Body":{"TypeId":{"Id":884},"Body":{"High":2}}}`:                              NewExtensionObject(&Range{High: 2}).Variant(),
		`{"Type":22,"Body":{"TypeId":{"Id":886},"Encoding":1,"Body":"AAAAAAAA8D8AAAAAAAAAQA=="}}`: NewExtensionObject(&Range{Low: 1, High: 2}).Variant(),
		`{"Type":22,"Body":{"TypeId":{"Id":5,"Namespace":2},"Encoding":2,"Body":"<a/>"}}`:         ExtensionObject{TypeID: NewNodeID(2, 5), Encoding: BodyXML, Body: []byte("<a/>")}.Variant(),
		`{"Type":24,"Body":[{"Type":12,"Body":"x"},null]}`:                                        Array([]Variant{String("x"), {}}),
		`{"Type":0}`: {}, `{}`: {}, `null`: {},
	} {
		got, err := o.DecodeVariant([]byte(text))
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestJSONNamespaces(t *testing.T) {
	o := &JSONOptions{Namespaces: []string{"http://opcfoundation.org/UA/", "urn:me", "urn:a;b%"}}
	for want, v := range map[string]Variant{
		`"nsu=urn:a%3Bb%25;s=x"`: NewStringNodeID(2, "x").Variant(),
		`"i=85"`:                 ID(85).Variant(),
		`"ns=7;i=1"`:             NewNodeID(7, 1).Variant(),
		`"nsu=urn:a%3Bb%25;N:1"`: QualifiedName{2, "N:1"}.Variant(),
		`"7:N"`:                  QualifiedName{7, "N"}.Variant(),
		`"N"`:                    QualifiedName{0, "N"}.Variant(),
	} {
		if got := o.AppendValue(nil, v); string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got, err := o.DecodeValue([]byte(want), v.Type(), nil, -1); err != nil || !got.Equal(v) {
			t.Errorf("%s: %v, %v", want, got, err)
		}
	}
	// What the table does not know is kept as a string (Part 6, 5.4.2.10); without a table it is an error.
	if n, err := o.DecodeNodeID([]byte(`"nsu=urn:other;i=1"`)); err != nil || n != NewStringNodeID(0, "nsu=urn:other;i=1") {
		t.Error(n, err)
	}
	if n, err := new(JSONOptions).DecodeNodeID([]byte(`"nsu=urn:other;i=1"`)); !errors.Is(err, BadDecodingError) {
		t.Error(n, err)
	}
	if n, err := new(JSONOptions).DecodeNodeID([]byte(`"nsu=http://opcfoundation.org/UA/;i=1"`)); err != nil || n != ID(1) {
		t.Error(n, err)
	}
	if e := o.AppendExpandedNodeID(nil, ExpandedNodeID{NodeID: ID(1), NamespaceURI: "urn:x", ServerIndex: 2}); string(e) != `"svr=2;nsu=urn:x;i=1"` {
		t.Errorf("%s", e)
	}
}

// every structure of namespace 0, filled with something in every field, there and back.
func TestJSONStructures(t *testing.T) {
	n := 0
	for _, info := range structuresByName {
		if info.New == nil || info.DataTypeID.IsNull() {
			continue // a type that the standard has given no node
		}
		for round := range 3 {
			s := info.New()
			fill := &filler{round: round}
			b := fill.structure(nil, info, 0)
			r := uabin.NewReader(b)
			s.DecodeBinary(r)
			if r.Err() != nil || r.Remaining() != 0 {
				t.Errorf("%s does not agree with its description: %v, %d bytes left", info.Name, r.Err(), r.Remaining())
				break
			}
			if again := s.AppendBinary(nil); !bytes.Equal(again, b) {
				t.Errorf("%s is written back as other bytes", info.Name)
			}
			for _, o := range jsonForms[:2] {
				text := o.AppendStructure(nil, s)
				if !json.Valid(text) {
					t.Fatalf("%s: %s", info.Name, text)
				}
				got := info.New()
				if err := o.DecodeStructure(text, got); err != nil {
					t.Errorf("%s: %v in %s", info.Name, err, text)
				} else if !bytes.Equal(got.AppendBinary(nil), b) {
					t.Errorf("%s came back as %s, %s", text, o.AppendStructure(nil, got), info.Name)
				}
			}
			_ = ExtensionObject{Value: s}.Variant().String()
			n++
		}
	}
	if n < 300 {
		t.Errorf("only %d structures", n)
	}
}

// filler makes the binary form of structures: round 0 leaves all fields at their default, 1 fills all,
// 2 has empty arrays and strings.
type filler struct{ round, n int }

func (f *filler) structure(b []byte, info *StructureInfo, depth int) []byte {
	var head uint32
	switch {
	case info.Kind == StructureWithOptionalFields && f.round == 1:
		for i := range info.Fields {
			if info.Fields[i].Optional {
				head = head<<1 | 1
			}
		}
	case info.Kind == StructureUnion:
		head = uint32(f.round)
	}
	if info.Kind != StructurePlain {
		b = uabin.AppendUint32(b, head)
	}
	info.each(head, func(field *Field, present bool) {
		if !present {
			return
		}
		count := 1
		if field.Array {
			count = []int{-1, 3, 0}[f.round]
			if depth > 3 {
				count = min(count, 0)
			}
			b = uabin.AppendInt32(b, int32(count))
		}
		for range count {
			if field.Struct != nil {
				b = f.structure(b, field.Struct, depth+1)
			} else {
				b = f.builtIn(b, field.Type, field)
			}
		}
	})
	return b
}

func (f *filler) builtIn(b []byte, t BuiltInType, field *Field) []byte {
	f.n++
	switch {
	case f.round == 0:
		return appendBuiltIn(b, t, zeroOf(t))
	case f.round == 2 && t == TypeString:
		return uabin.AppendString(b, uabin.EmptyString)
	case f.round == 2 && t == TypeByteString:
		return uabin.AppendBytes(b, []byte{})
	case field.Enum != nil && len(field.Enum.Values) > 0:
		return appendBuiltIn(b, t, small(t, uint64(field.Enum.Values[f.n%len(field.Enum.Values)].Value)))
	case t == TypeVariant:
		v := Array([]Variant{Int32(1), String("x"), {}})
		return v.AppendBinary(b)
	case t == TypeString && f.n%2 == 0:
		return uabin.AppendString(b, "0")
	}
	return appendBuiltIn(b, t, samples()[t].scalar)
}

func TestJSONStructureText(t *testing.T) {
	a := Argument{Name: "Speed", DataType: ID(11), ValueRank: -1, Description: Text("rpm")}
	compact, verbose := new(JSONOptions), &JSONOptions{Encoding: JSONVerbose}
	if got := string(compact.AppendStructure(nil, &a)); got != `{"Name":"Speed","DataType":"i=11","ValueRank":-1,"Description":{"Text":"rpm"}}` {
		t.Error(got)
	}
	if got := string(verbose.AppendStructure(nil, &a)); got != `{"Name":"Speed","DataType":"i=11","ValueRank":-1,"ArrayDimensions":null,"Description":{"Text":"rpm"}}` {
		t.Error(got)
	}
	d := AxisInformation{AxisScaleType: 1, EURange: Range{High: 5}, AxisSteps: []float64{0, 1}}
	if got := string(compact.AppendStructure(nil, &d)); got != `{"EURange":{"High":5},"AxisScaleType":1,"AxisSteps":[0,1]}` {
		t.Error(got)
	}
	if got := string(verbose.AppendStructure(nil, &d)); !strings.Contains(got, `"AxisScaleType":"Log_1"`) {
		t.Error(got)
	}
	for _, text := range []string{`{"AxisScaleType":1}`, `{"AxisScaleType":"1"}`, `{"AxisScaleType":"Log_1"}`, `{"AxisScaleType":"Log"}`} {
		d = AxisInformation{}
		if err := compact.DecodeStructure([]byte(text), &d); err != nil || d.AxisScaleType != 1 {
			t.Errorf("%s: %v, %v", text, d.AxisScaleType, err)
		}
	}
	name := "x"
	l := LogRecord{Severity: 100, SourceName: &name}
	if got := string(compact.AppendStructure(nil, &l)); got != `{"EncodingMask":4,"Severity":100,"SourceName":"x"}` {
		t.Error(got)
	}
	if got := string(verbose.AppendStructure(nil, &l)); strings.Contains(got, "EncodingMask") || strings.Contains(got, "EventType") {
		t.Error(got)
	}
	l = LogRecord{}
	if err := compact.DecodeStructure([]byte(`{"EncodingMask":7,"SourceName":"x"}`), &l); err != nil || l.EventType == nil || l.SourceNode == nil || *l.SourceName != "x" {
		t.Errorf("%+v, %v", l, err)
	}
	// Where the type is known the value of a node may be written without it.
	v, err := compact.DecodeValue([]byte(`{"Low":1,"High":2}`), TypeExtensionObject, describe(&Range{}), -1)
	if r, ok := v.Structure().(*Range); err != nil || !ok || r.High != 2 || !v.Equal(NewExtensionObject(&Range{Low: 1, High: 2}).Variant()) {
		t.Error(v, err)
	}
	v, err = compact.DecodeValue([]byte(`[{"Low":1},{"UaTypeId":"i=884","High":2}]`), TypeExtensionObject, describe(&Range{}), 1)
	if err != nil || v.Len() != 2 {
		t.Error(v, err)
	}
}

// plcNamed is plcType with a description.
type plcNamed struct{ plcType }

func (*plcNamed) StructureInfo() *StructureInfo { return &plcInfo }

var plcInfo = StructureInfo{Name: "Plc", DataTypeID: (&plcType{}).DataTypeID(), BinaryID: (&plcType{}).BinaryID(), Fields: []Field{
	{Name: "ID", Type: TypeNodeID}, {Name: "Count", Type: TypeInt32}, {Name: "Inner", Type: TypeFloat, Array: true},
}}

func TestJSONUserStructures(t *testing.T) {
	table := []string{"http://opcfoundation.org/UA/", "urn:me", plcURI}
	named, bare := new(TypeTable), new(TypeTable)
	named.Register(func() Structure { return new(plcNamed) })
	bare.Register(func() Structure { return new(plcType) })
	named.SetNamespaces(table)
	bare.SetNamespaces(table)
	p := plcType{ID: NewNodeID(2, 9), Count: 3, Inner: []float32{1.5}}
	for _, c := range []struct {
		o    *JSONOptions
		s    Structure
		want string
	}{
		{&JSONOptions{Types: named, Namespaces: table}, &plcNamed{p}, `{"UaTypeId":"nsu=urn:example:plc;i=3000","ID":"nsu=urn:example:plc;i=9","Count":3,"Inner":[1.5]}`},
		{&JSONOptions{Types: named}, &plcNamed{p}, `{"UaTypeId":"nsu=urn:example:plc;i=3000","ID":"ns=2;i=9","Count":3,"Inner":[1.5]}`},
		{&JSONOptions{Types: bare}, &p, `{"UaTypeId":"nsu=urn:example:plc;i=3000","UaEncoding":1,"UaBody":"AQIJAAMAAAABAAAAAADAPw=="}`},
	} {
		e, err := c.o.Types.Wrap(c.s)
		if err != nil {
			t.Fatal(err)
		}
		text := c.o.AppendExtensionObject(nil, e)
		if string(text) != c.want {
			t.Errorf("%s", text)
		}
		got, err := c.o.DecodeExtensionObject(text)
		if err != nil || got.Value == nil || !bytes.Equal(got.AppendBinary(nil), e.AppendBinary(nil)) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		// As a part of a structure of namespace 0.
		pair := NewExtensionObject(&KeyValuePair{Key: QualifiedName{0, "k"}, Value: e.Variant()})
		text = c.o.AppendExtensionObject(nil, pair)
		if !strings.Contains(string(text), c.want) {
			t.Errorf("%s", text)
		}
		if got, err = c.o.DecodeExtensionObject(text); err != nil || !bytes.Equal(got.AppendBinary(nil), pair.AppendBinary(nil)) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		v, err := c.o.DecodeValue(c.o.AppendValue(nil, e.Variant()), TypeExtensionObject, nil, -1)
		if err != nil || !v.Equal(e.Variant()) {
			t.Error(v, err)
		}
	}
	if _, err := (&JSONOptions{}).DecodeExtensionObject([]byte(`{"UaTypeId":"ns=2;i=3000","Count":3}`)); !errors.Is(err, BadDecodingError) {
		t.Error(err)
	}
	if err := new(JSONOptions).DecodeStructure([]byte(`{}`), &p); !errors.Is(err, BadDecodingError) {
		t.Error(err)
	}
}

func TestJSONUnion(t *testing.T) {
	info := &StructureInfo{Name: "Choice", Kind: StructureUnion, Fields: []Field{{Name: "A", Type: TypeInt32}, {Name: "B", Type: TypeDouble}}}
	info.New = func() Structure { return NewDynamicStructure(info) }
	s := NewDynamicStructure(info)
	o, verbose := new(JSONOptions), &JSONOptions{Encoding: JSONVerbose}
	if got := string(o.AppendStructure(nil, s)); got != `{}` {
		t.Error(got)
	}
	if err := s.Set("B", Double(3.5)); err != nil {
		t.Fatal(err)
	}
	if got := string(o.AppendStructure(nil, s)); got != `{"SwitchField":2,"B":3.5}` {
		t.Error(got)
	}
	if got := string(verbose.AppendStructure(nil, s)); got != `{"B":3.5}` {
		t.Error(got)
	}
	want := s.AppendBinary(nil)
	for _, text := range []string{`{"SwitchField":2,"B":3.5}`, `{"B":3.5}`, `{"SwitchField":2,"Value":3.5}`} {
		got := NewDynamicStructure(info)
		if err := o.DecodeStructure([]byte(text), got); err != nil || !bytes.Equal(got.AppendBinary(nil), want) {
			t.Errorf("%s: % x, %v", text, got.AppendBinary(nil), err)
		}
	}
	for _, text := range []string{`{"SwitchField":1,"B":3.5}`, `{"SwitchField":3}`, `{"A":1,"B":2}`, `{"C":1}`, `{"SwitchField":-1}`} {
		if err := o.DecodeStructure([]byte(text), NewDynamicStructure(info)); !errors.Is(err, BadDecodingError) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	o := new(JSONOptions)
	for text, want := range map[string]string{
		``:                                   "ends too early",
		`{`:                                  "ends too early",
		`[1`:                                 "",
		`{"UaType":6,"Value":1}x`:            "",
		`{"UaType":6,"Value":1}{}`:           "more text",
		`{"UaType":6,"Value":"x"}`:           "Value: \"x\" is no integer from -2147483648 to 2147483647",
		`{"UaType":6,"Value":2147483648}`:    "Value: ",
		`{"UaType":6,"Value":1.5}`:           "Value: ",
		`{"UaType":2,"Value":[1,2,128]}`:     "Value[2]: ",
		`{"UaType":26,"Value":1}`:            "UaType: ",
		`{"UaType":"Int32","Value":1}`:       "UaType: ",
		`{"UaType":24,"Value":{"UaType":1}}`: "Value: ",
		`{"UaType":24}`:                      "Value: ",
		`{"UaType":6,"UaType":6}`:            "comes twice",
		`{"UaType":6,"Value":[1,2],"Dimensions":[3]}`:                         "do not fit",
		`{"UaType":6,"Value":[],"Dimensions":[0,2147483647]}`:                 "do not fit",
		`{"UaType":6,"Value":1,"Dimensions":[1]}`:                             "no array",
		`{"UaType":6,"Value":1,"Dimensions":1}`:                               "Dimensions: ",
		`{"UaType":6,"Value":[[1],[1,2]]}`:                                    "same length",
		`{"UaType":6,"Extra":1}`:                                              "no field \"Extra\"",
		`{"Value":1}`:                                                         "UaType is missing",
		`5`:                                                                   "a number where a Variant is due",
		`{"UaType":15,"Value":"*"}`:                                           "base64",
		`{"UaType":14,"Value":"x"}`:                                           "GUID",
		`{"UaType":13,"Value":"yesterday"}`:                                   "time",
		`{"UaType":17,"Value":"x=1"}`:                                         "begins with",
		`{"UaType":17,"Value":"svr=1;i=1"}`:                                   "server index",
		`{"UaType":17,"Value":5}`:                                             "NodeId",
		`{"UaType":17,"Value":{"IdType":9,"Id":1}}`:                           "Value.IdType: ",
		`{"UaType":19,"Value":"BadWeather"}`:                                  "BadWeather",
		`{"UaType":21,"Value":{"Txt":"x"}}`:                                   "no field",
		`{"UaType":21,"Value":{"Text":1}}`:                                    "Value.Text: ",
		`{"UaType":1,"Value":1}`:                                              "true or false",
		`{"UaType":22,"Value":{"Low":1}}`:                                     "UaTypeId",
		`{"UaType":22,"Value":{"UaTypeId":"i=884","Low":"x"}}`:                "Value.Low: ",
		`{"UaType":22,"Value":{"UaTypeId":"i=884","Lo":1}}`:                   "no field \"Lo\"",
		`{"UaType":22,"Value":{"UaTypeId":"ns=9;i=1","Low":1}}`:               "not known",
		`{"UaType":22,"Value":{"UaTypeId":"i=298","ArrayDimensions":[1,-2]}}`: "Value.ArrayDimensions[1]: ",
		`{"UaType":23,"Value":{"UaType":6,"Value":"x"}}`:                      "Value: ",
		`{"UaType":11,"Value":"0x1p-2"}`:                                      "no number",
		`{"UaType":11,"Value":1e400}`:                                         "no number",
		`{"UaType":8,"Value":"9223372036854775808"}`:                          "no integer",
		`{"UaType":8,"Value":1e999999999}`:                                    "no integer",
		`{"UaType":6,"Value":nul}`:                                            "",
	} {
		v, err := o.DecodeVariant([]byte(text))
		if !errors.Is(err, BadDecodingError) || StatusOf(err) != BadDecodingError || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", text, v, err, want)
		}
	}
	for text, limits := range map[string]uabin.Limits{
		`{"UaType":12,"Value":"abcdef"}`:                                       {MaxString: 5},
		`{"UaType":15,"Value":"AAAAAAAA"}`:                                     {MaxByteString: 5},
		`{"UaType":6,"Value":[1,2,3]}`:                                         {MaxArray: 2},
		`{"UaType":22,"Value":{"UaTypeId":"i=298","ArrayDimensions":[1,2,3]}}`: {MaxArray: 2},
	} {
		if _, err := (&JSONOptions{Limits: limits}).DecodeVariant([]byte(text)); !errors.Is(err, BadEncodingLimitsExceeded) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := o.DecodeVariant([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{strings.Repeat("[", 1_000_000), strings.Repeat(`{"UaType":24,"Value":[`, 100_000), strings.Repeat(`{"a":`, 100_000)} {
		if _, err := o.DecodeVariant([]byte(text)); !errors.Is(err, BadEncodingLimitsExceeded) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	deep := strings.Repeat(`{"UaType":24,"Value":[`, 50) + `{"UaType":1,"Value":true}` + strings.Repeat(`]}`, 50)
	if _, err := o.DecodeVariant([]byte(deep)); !errors.Is(err, BadEncodingLimitsExceeded) {
		t.Errorf("101 levels: %v", err)
	}
	if _, err := (&JSONOptions{MaxDepth: 101}).DecodeVariant([]byte(deep)); err != nil {
		t.Error(err)
	}
}

func TestJSONDecodeValueRank(t *testing.T) {
	o := new(JSONOptions)
	for _, c := range []struct {
		text string
		rank int
		want Variant
		ok   bool
	}{
		{`1`, -1, Int32(1), true}, {`1`, 1, Variant{}, false}, {`1`, 0, Variant{}, false}, {`1`, -2, Int32(1), true}, {`1`, -3, Int32(1), true},
		{`[1]`, 1, Array([]int32{1}), true}, {`[1]`, -1, Variant{}, false}, {`[1]`, 2, Variant{}, false}, {`[1]`, -3, Array([]int32{1}), true},
		{`[[1,2]]`, 2, mustMatrix(t, []int32{1, 2}, 1, 2), true}, {`[[1,2]]`, 0, mustMatrix(t, []int32{1, 2}, 1, 2), true}, {`[[1,2]]`, -3, Variant{}, false},
		{`[]`, 2, Array([]int32{}), true}, {`[[],[]]`, 2, Variant{}, false}, {`null`, 1, Array([]int32(nil)), true}, {`null`, -1, Variant{}, true},
		{`"5"`, -1, Int32(5), true}, {`5.0`, -1, Int32(5), true}, {`5e2`, -1, Int32(500), true},
	} {
		got, err := o.DecodeValue([]byte(c.text), TypeInt32, nil, c.rank)
		if (err == nil) != c.ok || !got.Equal(c.want) {
			t.Errorf("%s with rank %d: %v, %v", c.text, c.rank, got, err)
		}
	}
	for _, c := range []struct {
		text string
		t    BuiltInType
		want Variant
	}{
		{`"text"`, TypeLocalizedText, Text("text").Variant()},
		{`"BadTimeout"`, TypeStatusCode, BadTimeout.Variant()},
		{`{"UaType":12,"Value":"x"}`, TypeVariant, String("x")},
		{`null`, TypeString, Null(TypeString)},
		{`9007199254740993`, TypeInt64, Int64(9007199254740993)},
		{`9007199254740993.0`, TypeInt64, Int64(9007199254740993)},
		{`18446744073709551615`, TypeUInt64, UInt64(math.MaxUint64)},
		{`"INF"`, TypeDouble, Double(math.Inf(1))},
	} {
		if got, err := o.DecodeValue([]byte(c.text), c.t, nil, -1); err != nil || !got.Equal(c.want) {
			t.Errorf("%s: %v, %v", c.text, got, err)
		}
	}
}

func TestVariantString(t *testing.T) {
	long := make([]int32, 1000)
	for want, v := range map[string]Variant{
		`null`:                     {},
		`21.5`:                     Double(21.5),
		`"te\"xt"`:                 String(`te"xt`),
		`[1, 2, 3]`:                Array([]int32{1, 2, 3}),
		`[[1, 2, 3], [4, 5, 6]]`:   mustMatrix(t, []int32{1, 2, 3, 4, 5, 6}, 2, 3),
		`Range{Low: 0, High: 100}`: NewExtensionObject(&Range{High: 100}).Variant(),
		`0x0102`:                   ByteString([]byte{1, 2}),
		`ns=2;i=5{0x0102}`:         ExtensionObject{TypeID: NewNodeID(2, 5), Encoding: BodyBinary, Body: []byte{1, 2}}.Variant(),
		`"Pumpe" (de)`:             LocalizedText{"de", "Pumpe"}.Variant(),
		`BadTimeout`:               BadTimeout.Variant(),
		`2:Pump`:                   QualifiedName{2, "Pump"}.Variant(),
		`[ns=1;s=a, i=5]`:          Array([]NodeID{NewStringNodeID(1, "a"), ID(5)}),
		`[true, "x", null]`:        Array([]Variant{Boolean(true), String("x"), {}}),
		`5 (BadTimeout)`:           DataValue{Value: Int32(5), Status: BadTimeout}.Variant(),
		`[[1], [2]]`:               mustMatrix(t, []int32{1, 2}, 2, 1),
		`Argument{Name: "a", DataType: i=1, ValueRank: 1, ArrayDimensions: [2], Description: ""}`: NewExtensionObject(&Argument{Name: "a", DataType: ID(1), ValueRank: 1, ArrayDimensions: []uint32{2}}).Variant(),
	} {
		if got := v.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, v := range []Variant{Array(long), mustMatrix(t, long, 500, 2), mustMatrix(t, long, 1, 1000), ByteString(make([]byte, 10000)), String(strings.Repeat("ü", 5000)),
		NewExtensionObject(&ReadRequest{NodesToRead: make([]ReadValueID, 1000)}).Variant()} {
		if s := v.String(); len(s) > 6000 || !strings.Contains(s, "…") {
			t.Errorf("%d bytes: %.100s", len(s), s)
		}
	}
	deep := Int32(1)
	for range 1000 {
		deep = Array([]Variant{deep})
	}
	if s := deep.String(); len(s) > 100 {
		t.Error(s)
	}
}

func TestParseVariant(t *testing.T) {
	for typ, s := range samples() {
		if typ == TypeVariant {
			continue
		}
		// What JSON shows of a value is read as that value.
		text := string(new(JSONOptions).AppendValue(nil, s.scalar))
		if unquoted := ""; json.Unmarshal([]byte(text), &unquoted) == nil {
			text = unquoted
		}
		if got, err := ParseVariant(typ, text); err != nil || !got.Equal(s.scalar) {
			t.Errorf("%v %s: %v, %v", typ, text, got, err)
		}
		text = string(new(JSONOptions).AppendValue(nil, s.many))
		if got, err := ParseVariant(typ, text); err != nil || !got.Equal(s.many) {
			t.Errorf("%v %s: %v, %v", typ, text, got, err)
		}
	}
	for _, c := range []struct {
		t    BuiltInType
		text string
		want Variant
	}{
		{TypeInt32, " 5 ", Int32(5)}, {TypeInt32, "0x1F", Int32(31)}, {TypeUInt64, "18446744073709551615", UInt64(math.MaxUint64)},
		{TypeBoolean, "True", Boolean(true)}, {TypeBoolean, "0", Boolean(false)},
		{TypeDouble, "1e3", Double(1000)}, {TypeDouble, "Infinity", Double(math.Inf(1))}, {TypeFloat, "0.1", Float(0.1)},
		{TypeString, " spaced ", String(" spaced ")}, {TypeString, "[draft] x", String("[draft] x")}, {TypeString, "null", String("null")},
		{TypeString, `["a"]`, Array([]string{"a"})}, {TypeString, `{"a":1}`, String(`{"a":1}`)},
		{TypeByteString, "0x0aFF", ByteString([]byte{10, 255})}, {TypeByteString, "AQI=", ByteString([]byte{1, 2})},
		{TypeStatusCode, "0x80340000", BadNodeIdUnknown.Variant()},
		{TypeLocalizedText, "Pumpe", Text("Pumpe").Variant()}, {TypeLocalizedText, `{"Locale":"de","Text":"Pumpe"}`, LocalizedText{"de", "Pumpe"}.Variant()},
		{TypeInt16, "[[1,2],[3,4]]", mustMatrix(t, []int16{1, 2, 3, 4}, 2, 2)},
		{TypeExtensionObject, `{"UaTypeId":"i=884","High":2}`, NewExtensionObject(&Range{High: 2}).Variant()},
		{TypeByteString, "null", Null(TypeByteString)},
	} {
		if got, err := ParseVariant(c.t, c.text); err != nil || !got.Equal(c.want) {
			t.Errorf("%v %q: %v, %v", c.t, c.text, got, err)
		}
	}
	for _, c := range []struct {
		t    BuiltInType
		text string
		code StatusCode
		want string
	}{
		{TypeByte, "256", BadOutOfRange, "0 to 255"}, {TypeSByte, "-129", BadOutOfRange, "-128 to 127"}, {TypeUInt16, "-1", BadOutOfRange, "0 to 65535"},
		{TypeInt32, "x", BadTypeMismatch, "-2147483648 to 2147483647"}, {TypeInt32, "1.5", BadTypeMismatch, "integer"}, {TypeInt32, "", BadTypeMismatch, "integer"},
		{TypeInt64, "9223372036854775808", BadOutOfRange, "9223372036854775807"}, {TypeFloat, "1e39", BadOutOfRange, "3.4"}, {TypeDouble, "1e309", BadOutOfRange, "1.79"},
		{TypeDouble, "one", BadTypeMismatch, "number"}, {TypeBoolean, "yes", BadTypeMismatch, "true or false"}, {TypeInt32, "null", BadTypeMismatch, "integer"},
		{TypeByteString, "0x123", BadTypeMismatch, "base64"}, {TypeNodeID, "Pump", BadNodeIdInvalid, "begins with"}, {TypeGUID, "1", BadSyntaxError, "GUID"},
		{TypeDateTime, "soon", BadSyntaxError, "form"}, {TypeStatusCode, "BadWeather", BadTypeMismatch, "status code"}, {TypeInt32, "[1,x]", BadDecodingError, ""},
		{TypeExtensionObject, "x", BadTypeMismatch, "JSON"}, {BuiltInType(77), "1", BadDataTypeIdUnknown, "no type"},
	} {
		if got, err := ParseVariant(c.t, c.text); !errors.Is(err, c.code) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %q: %v, %v", c.t, c.text, got, err)
		}
	}
}

func TestJSONInvalidUTF8(t *testing.T) {
	o := new(JSONOptions)
	text := o.AppendVariant(nil, String("a\xffb\xc3"))
	if string(text) != `{"UaType":12,"Value":"a�b�"}` {
		t.Errorf("%s", text)
	}
	v, err := o.DecodeVariant([]byte("{\"UaType\":12,\"Value\":\"a\xffb\"}"))
	if err != nil || v.Str() != "a�b" {
		t.Error(v, err)
	}
}

func TestJSONExtensionObjectKept(t *testing.T) {
	bad := (&Range{}).BinaryID().NodeID
	for _, e := range []ExtensionObject{
		{TypeID: NewNodeID(3, 1)},
		{TypeID: NewNodeID(3, 1), Encoding: BodyBinary},
		{TypeID: NewNodeID(3, 1), Encoding: BodyBinary, Body: []byte{}},
		{TypeID: bad, Encoding: BodyBinary, Body: []byte{1, 2, 3}},
		{TypeID: bad},
		{TypeID: StructureNamed("Range").XMLID.NodeID, Encoding: BodyXML, Body: []byte("<Range/>")},
		{TypeID: StructureNamed("Range").XMLID.NodeID, Encoding: BodyBinary, Body: make([]byte, 16)},
		{TypeID: StructureNamed("Range").JSONID.NodeID, Encoding: BodyBinary, Body: []byte("{}")},
		{TypeID: StructureNamed("Range").DataTypeID.NodeID.WithNamespace(0), Encoding: BodyXML, Body: []byte("x")},
	} {
		want := e.AppendBinary(nil)
		for _, o := range jsonForms {
			text := o.AppendExtensionObject(nil, e)
			got, err := o.DecodeExtensionObject(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
			} else if !slices.Equal(got.AppendBinary(nil), want) && e.TypeID != ID(884) {
				t.Errorf("%s: %+v, want %+v", text, got, e)
			}
		}
	}
}
