package nodeset

import (
	"math"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

// Values of all types are read as they were written.
func TestWriteValues(t *testing.T) {
	nested := &ua.StructureInfo{Name: "Nested", DataTypeID: ua.NewNodeID(5, 80).Expanded(), Fields: []ua.Field{{Name: "A", Type: ua.TypeInt32}}}
	nested.New = func() ua.Structure { return ua.NewDynamicStructure(nested) }
	described := &ua.StructureInfo{
		Name: "Described", Kind: ua.StructureWithOptionalFields, DataTypeID: ua.NewNodeID(5, 9).Expanded(), BinaryID: ua.NewNodeID(5, 90).Expanded(),
		Fields: []ua.Field{
			{Name: "S", Type: ua.TypeString, Optional: true}, {Name: "B", Type: ua.TypeByteString}, {Name: "V", Type: ua.TypeVariant},
			{Name: "N", Type: ua.TypeExtensionObject, Struct: nested, Array: true}, {Name: "L", Type: ua.TypeLocalizedText}, {Name: "D", Type: ua.TypeDouble, Optional: true},
		},
	}
	described.New = func() ua.Structure { return ua.NewDynamicStructure(described) }
	union := &ua.StructureInfo{
		Name: "Union", Kind: ua.StructureUnion, DataTypeID: ua.NewNodeID(5, 10).Expanded(), BinaryID: ua.NewNodeID(5, 91).Expanded(),
		Fields: []ua.Field{{Name: "A", Type: ua.TypeInt32}, {Name: "B", Type: ua.TypeNodeID}},
	}
	union.New = func() ua.Structure { return ua.NewDynamicStructure(union) }
	set := func(d *ua.DynamicStructure, name string, v ua.Variant) {
		if err := d.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	d := ua.NewDynamicStructure(described)
	set(d, "S", ua.String(""))
	set(d, "V", ua.Array([]ua.NodeID{ua.NewNodeID(5, 1)}))
	n := ua.NewDynamicStructure(nested)
	set(n, "A", ua.Int32(-4))
	set(d, "N", ua.Array([]ua.ExtensionObject{{Value: n}, {Value: n}}))
	u := ua.NewDynamicStructure(union)
	set(u, "B", ua.NewStringNodeID(5, "x").Variant())
	object := func(s ua.Structure) ua.Variant { return ua.NewExtensionObject(s).Variant() }

	types := new(ua.TypeTable)
	types.Register(described.New)
	types.Register(union.New)
	find := func(id ua.NodeID) *ua.StructureInfo {
		for _, s := range []*ua.StructureInfo{described, union} {
			if id == s.DataTypeID.NodeID || id == s.BinaryID.NodeID {
				return s
			}
		}
		return nil
	}
	matrix, err := ua.Matrix([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	options := five
	options.Structure, options.Types = find, types
	for _, v := range []ua.Variant{
		ua.Scalar(true), ua.Scalar(int8(-3)), ua.Scalar(uint8(200)), ua.Scalar(int16(-300)), ua.Scalar(uint16(65535)), ua.Int32(-5), ua.UInt32(5),
		ua.Scalar(int64(math.MinInt64)), ua.Scalar(uint64(math.MaxUint64)), ua.Scalar(float32(1.1)), ua.Double(1e-300),
		ua.Double(math.Inf(-1)), ua.Scalar(float32(math.Inf(1))), ua.Double(math.NaN()),
		ua.String(" <kept>\r\n\t& as it is "), ua.String(""), ua.Null(ua.TypeString), ua.ByteString([]byte{0, 255}), ua.ByteString([]byte{}), ua.Null(ua.TypeByteString),
		ua.DateTime(116_444_736_010_000_007).Variant(), ua.MinDateTime.Variant(), ua.Scalar(ua.GUID{1, 2, 3}), ua.Scalar(ua.XMLElement(`<a x="1">b</a>`)),
		ua.NewNodeID(5, 7).Variant(), ua.NewOpaqueNodeID(5, []byte{1, 2}).Variant(), ua.NodeID{}.Variant(), ua.NewNodeID(5, 7).Expanded().Variant(),
		ua.ExpandedNodeID{NodeID: ua.ID(3), NamespaceURI: "urn:x", ServerIndex: 2}.Variant(), ua.Scalar(ua.BadNodeIdUnknown),
		ua.QualifiedName{NamespaceIndex: 5, Name: "a:b"}.Variant(), ua.LocalizedText{Locale: "de", Text: "Öl"}.Variant(),
		ua.Scalar(ua.DataValue{Value: ua.Int32(1), Status: ua.Bad, SourceTimestamp: ua.Now(), ServerPicoseconds: 3, ServerTimestamp: ua.Now()}),
		ua.Scalar(ua.DiagnosticInfo{Mask: ua.DiagnosticSymbolicID | ua.DiagnosticAdditionalInfo | ua.DiagnosticInner, SymbolicID: -1, AdditionalInfo: "x", Inner: &ua.DiagnosticInfo{Mask: ua.DiagnosticLocale, Locale: 2}}),
		matrix, ua.Array([]string{"a", ""}), ua.Array([]int32{}), ua.Null(ua.TypeNull), ua.Array([]ua.Variant{ua.Int32(1), {}, ua.Array([]bool{true})}),
		object(&ua.Range{Low: -1, High: 2}), object(&ua.Argument{Name: "X", DataType: ua.NewNodeID(5, 3), ValueRank: 1, ArrayDimensions: []uint32{7}, Description: ua.Text("text")}),
		ua.ExtensionObject{TypeID: ua.NewNodeID(5, 90), Value: d}.Variant(), ua.ExtensionObject{TypeID: ua.NewNodeID(5, 91), Value: u}.Variant(),
		ua.ExtensionObject{TypeID: ua.NewNodeID(5, 99), Encoding: ua.BodyBinary, Body: []byte{1, 2}}.Variant(),
		ua.ExtensionObject{TypeID: ua.NewNodeID(5, 90), Encoding: ua.BodyBinary, Body: []byte{1, 2}}.Variant(), // not what the type says
		ua.ExtensionObject{TypeID: ua.NewNodeID(5, 99), Encoding: ua.BodyXML, Body: []byte("<A>1</A>")}.Variant(), ua.ExtensionObject{}.Variant(),
	} {
		w := &Writer{
			URI:       func(uint16) string { return "urn:test" },
			Structure: find,
			Local:     func(id ua.ExpandedNodeID) (ua.NodeID, bool) { return id.NodeID, true },
		}
		w.Node(&Node{Class: ua.NodeClassVariable, ID: ua.NewNodeID(5, 1), BrowseName: ua.QualifiedName{NamespaceIndex: 5, Name: "V"}, DataType: ua.ID(24), Value: v}, nil, 0)
		file, err := w.File([]string{"urn:test"})
		if err != nil {
			t.Errorf("%v: %v", v, err)
			continue
		}
		set, err := Parse(file, options)
		if err != nil {
			t.Errorf("%v: %v\n%s", v, err, file)
			continue
		}
		if got := set.Nodes[0].Value; string(got.AppendBinary(nil)) != string(v.AppendBinary(nil)) {
			t.Errorf("got %v, want %v\n%s", got, v, file)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	for _, v := range []ua.Variant{ua.String("\x01"), ua.String("\xff"), ua.Scalar(ua.XMLElement("<a>")), ua.NewNodeID(6, 1).Variant()} {
		w := &Writer{URI: func(i uint16) string { return strings.Repeat("urn:test", int(6-i)) }}
		w.Node(&Node{Class: ua.NodeClassVariable, ID: ua.NewNodeID(5, 1), BrowseName: ua.QualifiedName{NamespaceIndex: 5, Name: "V"}, Value: v}, nil, 0)
		if _, err := w.File(nil); err == nil || !strings.Contains(err.Error(), "node ns=5;i=1 (V): ") {
			t.Errorf("%v: got %v", v, err)
		}
	}
}

func TestLaterValues(t *testing.T) {
	options := five
	options.LaterValues = true
	set, err := Parse(file("<UAVariable NodeId=\"ns=1;s=v\" BrowseName=\"1:V\">\n<Value><Int32>x</Int32></Value></UAVariable><UAVariable NodeId=\"ns=1;s=w\" BrowseName=\"1:W\"><Value><Int32>7</Int32></Value></UAVariable>"), options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.DecodeValue(set.Nodes[0]); err == nil || !strings.Contains(err.Error(), "line 7: node ns=1;s=v (1:V): Int32") {
		t.Errorf("got %v", err)
	}
	if v, err := set.DecodeValue(set.Nodes[1]); err != nil || v.Int() != 7 {
		t.Errorf("got %v, %v", v, err)
	}
	header, err := ParseHeader(file("<UAObject>"))
	if err != nil || len(header.Models) != 1 || len(header.NamespaceURIs) != 1 {
		t.Errorf("header: %+v, %v", header, err)
	}
}
