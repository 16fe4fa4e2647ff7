package nodeset

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

// file wraps nodes into a nodeset with one namespace of its own.
func file(nodes string) []byte {
	return []byte(`<?xml version="1.0" encoding="utf-8"?>
<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd">
<NamespaceUris><Uri>urn:test</Uri></NamespaceUris>
<Models><Model ModelUri="urn:test" Version="1.2" PublicationDate="2024-01-02T00:00:00Z"><RequiredModel ModelUri="http://opcfoundation.org/UA/" /></Model></Models>
<Aliases><Alias Alias="HasSubtype">i=45</Alias><Alias Alias="Int32">i=6</Alias></Aliases>
` + nodes + `</UANodeSet>`)
}

// five is where the server of the tests has the namespace.
var five = Options{Index: func(uri string) (uint16, error) {
	if uri != "urn:test" {
		return 0, errors.New("unknown namespace " + uri)
	}
	return 5, nil
}}

// value reads a variable with this value.
func value(t *testing.T, xml string, options Options) ua.Variant {
	t.Helper()
	set, err := Parse(file(`<UAVariable NodeId="ns=1;s=v" BrowseName="1:V"><Value>`+xml+`</Value></UAVariable>`), options)
	if err != nil {
		t.Fatalf("%s: %v", xml, err)
	}
	return set.Nodes[0].Value
}

func TestNode(t *testing.T) {
	set, err := Parse(file(`
<UAVariable NodeId="ns=1;i=7" BrowseName="1:Speed" ParentNodeId="i=85" DataType="Int32" ValueRank="2" ArrayDimensions="3,0"
  AccessLevel="3" MinimumSamplingInterval="100.5" Historizing="true" AccessRestrictions="1">
  <DisplayName Locale="de">Drehzahl</DisplayName><Description>how fast</Description>
  <RolePermissions><RolePermission Permissions="33">i=15644</RolePermission></RolePermissions>
  <References><Reference ReferenceType="i=47" IsForward="false">i=85</Reference><Reference ReferenceType="i=40">i=63</Reference></References>
</UAVariable>`), five)
	if err != nil {
		t.Fatal(err)
	}
	n := set.Find(ua.NewNodeID(5, 7))
	if n == nil {
		t.Fatal("the namespace is not translated")
	}
	switch {
	case n.Class != ua.NodeClassVariable, n.BrowseName != ua.QualifiedName{NamespaceIndex: 5, Name: "Speed"},
		n.Parent != ua.ID(85), n.DataType != ua.ID(6), n.ValueRank != 2, len(n.ArrayDimensions) != 2,
		n.AccessLevel != 3, n.MinimumSamplingInterval != 100.5, !n.Historizing, !n.HasAccessRestrictions,
		n.DisplayName[0] != ua.LocalizedText{Locale: "de", Text: "Drehzahl"}, n.Description[0].Text != "how fast",
		len(n.RolePermissions) != 1, n.RolePermissions[0].Permissions != 33,
		len(n.References) != 2, n.References[0] != Reference{ua.ID(47), ua.ID(85), false}, !n.References[1].Forward,
		n.Line != 7:
		t.Errorf("got %+v", n)
	}
	if m := set.Models[0]; m.Version != "1.2" || m.PublicationDate.Time().Year() != 2024 || len(m.Required) != 1 {
		t.Errorf("got %+v", m)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		xml  string
		want ua.Variant
	}{
		{`<Boolean>true</Boolean>`, ua.Scalar(true)},
		{`<SByte>-3</SByte>`, ua.Scalar(int8(-3))},
		{`<Byte>200</Byte>`, ua.Scalar(uint8(200))},
		{`<Int32> 5 </Int32>`, ua.Scalar(int32(5))},
		{`<Int32>Running_0</Int32>`, ua.Scalar(int32(0))},
		{`<UInt64>18446744073709551615</UInt64>`, ua.Scalar(uint64(1<<64 - 1))},
		{`<Double>1.5e3</Double>`, ua.Scalar(1500.0)},
		{`<String> kept &amp; as it is </String>`, ua.Scalar(" kept & as it is ")},
		{`<DateTime>1970-01-01T00:00:01Z</DateTime>`, ua.DateTime(116_444_736_010_000_000).Variant()},
		{`<DateTime>1970-01-01T00:00:01</DateTime>`, ua.DateTime(116_444_736_010_000_000).Variant()},
		{`<Guid><String>72962B91-FA75-4AE6-8D28-B404DC7DAF63</String></Guid>`,
			ua.Scalar(ua.GUID{0x72, 0x96, 0x2b, 0x91, 0xfa, 0x75, 0x4a, 0xe6, 0x8d, 0x28, 0xb4, 0x04, 0xdc, 0x7d, 0xaf, 0x63})},
		{"<ByteString>AQ\n ID</ByteString>", ua.Scalar([]byte{1, 2, 3})},
		{`<XmlElement><a x="1">b</a></XmlElement>`, ua.Scalar(ua.XMLElement(`<a x="1">b</a>`))},
		{`<NodeId><Identifier>ns=1;s=a;b</Identifier></NodeId>`, ua.Scalar(ua.NewStringNodeID(5, "a;b"))},
		{`<NodeId><Identifier>ns=1;b=AQID</Identifier></NodeId>`, ua.Scalar(ua.NewOpaqueNodeID(5, []byte{1, 2, 3}))},
		{`<ExpandedNodeId><Identifier>svr=2;nsu=urn:x;i=3</Identifier></ExpandedNodeId>`,
			ua.Scalar(ua.ExpandedNodeID{NodeID: ua.ID(3), NamespaceURI: "urn:x", ServerIndex: 2})},
		{`<StatusCode><Code>2147483648</Code></StatusCode>`, ua.Scalar(ua.Bad)},
		{`<QualifiedName><NamespaceIndex>1</NamespaceIndex><Name>q</Name></QualifiedName>`, ua.Scalar(ua.QualifiedName{NamespaceIndex: 5, Name: "q"})},
		{`<LocalizedText><Locale>en</Locale><Text>t</Text></LocalizedText>`, ua.Scalar(ua.LocalizedText{Locale: "en", Text: "t"})},
		{`<Variant><Value><Int16>4</Int16></Value></Variant>`, ua.Scalar(int16(4))},
		{`<DataValue><Value><Int16>4</Int16></Value><StatusCode><Code>2147483648</Code></StatusCode></DataValue>`,
			ua.Scalar(ua.DataValue{Value: ua.Scalar(int16(4)), Status: ua.Bad})},
		{`<DiagnosticInfo><SymbolicId>4</SymbolicId></DiagnosticInfo>`, ua.Scalar(ua.DiagnosticInfo{Mask: ua.DiagnosticSymbolicID, SymbolicID: 4})},
		{`<ListOfString><String>a</String><String/></ListOfString>`, ua.Array([]string{"a", ""})},
		{`<ListOfVariant><Variant><Value><Int16>4</Int16></Value></Variant><Variant/></ListOfVariant>`, ua.Array([]ua.Variant{ua.Scalar(int16(4)), {}})},
		{`<ListOfInt32/>`, ua.Array([]int32{})},
	} {
		if got := value(t, c.xml, five); !got.Equal(c.want) {
			t.Errorf("%s: got %v, want %v", c.xml, got.Any(), c.want.Any())
		}
	}
	m := value(t, `<Matrix><Dimensions><UInt32>2</UInt32><UInt32>1</UInt32></Dimensions><Elements><Int32>1</Int32><Int32>2</Int32></Elements></Matrix>`, five)
	if d := m.Dimensions(); len(d) != 2 || d[0] != 2 || d[1] != 1 || m.Len() != 2 {
		t.Errorf("matrix: %v", m.Any())
	}
}

func TestStructures(t *testing.T) {
	v := value(t, `<ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument>
<Name>Speed</Name><DataType><Identifier>ns=1;i=3</Identifier></DataType><ValueRank>1</ValueRank>
<ArrayDimensions><UInt32>7</UInt32></ArrayDimensions><Description><Text>text</Text></Description></Argument></Body></ExtensionObject>`, five)
	a, ok := v.Structure().(*ua.Argument)
	if !ok || a.Name != "Speed" || a.DataType != ua.NewNodeID(5, 3) || a.ValueRank != 1 || len(a.ArrayDimensions) != 1 || a.Description.Text != "text" {
		t.Errorf("got %+v", v.Structure())
	}
	// Fields that are left out, and those in another order.
	v = value(t, `<ExtensionObject><TypeId><Identifier>i=885</Identifier></TypeId><Body><Range><High>2.5</High></Range></Body></ExtensionObject>`, five)
	if r, ok := v.Structure().(*ua.Range); !ok || r.Low != 0 || r.High != 2.5 {
		t.Errorf("got %+v", v.Structure())
	}
	// A structure of a namespace that nobody described keeps its XML.
	v = value(t, `<ExtensionObject><TypeId><Identifier>ns=1;i=9</Identifier></TypeId><Body><Own><A>1</A></Own></Body></ExtensionObject>`, five)
	e, _ := ua.As[ua.ExtensionObject](v)
	if e.TypeID != ua.NewNodeID(5, 9) || e.Encoding != ua.BodyXML || string(e.Body) != "<Own><A>1</A></Own>" {
		t.Errorf("got %+v", e)
	}
}

// TestDescribedStructures reads structures with descriptors of the test: with optional fields and a
// union.
func TestDescribedStructures(t *testing.T) {
	optional := &ua.StructureInfo{
		Name: "Optional", Kind: ua.StructureWithOptionalFields, BinaryID: ua.NewNodeID(5, 90).Expanded(),
		Fields: []ua.Field{
			{Name: "A", Type: ua.TypeInt32, Optional: true}, {Name: "B", Type: ua.TypeByte},
			{Name: "C", Type: ua.TypeString, Optional: true},
		},
	}
	union := &ua.StructureInfo{
		Name: "Union", Kind: ua.StructureUnion, BinaryID: ua.NewNodeID(5, 91).Expanded(),
		Fields: []ua.Field{{Name: "A", Type: ua.TypeInt32}, {Name: "B", Type: ua.TypeByte, Array: true}},
	}
	options := five
	options.Structure = func(id ua.NodeID) *ua.StructureInfo {
		switch id {
		case ua.NewNodeID(5, 9):
			return optional
		case ua.NewNodeID(5, 10):
			return union
		}
		return nil
	}
	for _, c := range []struct{ id, xml, want string }{
		{"ns=1;i=9", `<O><B>7</B><C>x</C></O>`, "\x02\x00\x00\x00\x07\x01\x00\x00\x00x"},
		{"ns=1;i=9", `<O><EncodingMask>1</EncodingMask><A>2</A><B>7</B></O>`, "\x01\x00\x00\x00\x02\x00\x00\x00\x07"},
		{"ns=1;i=10", `<U><SwitchField>2</SwitchField><B><Byte>7</Byte></B></U>`, "\x02\x00\x00\x00\x01\x00\x00\x00\x07"},
		{"ns=1;i=10", `<U/>`, "\x00\x00\x00\x00"},
	} {
		v := value(t, `<ExtensionObject><TypeId><Identifier>`+c.id+`</Identifier></TypeId><Body>`+c.xml+`</Body></ExtensionObject>`, options)
		e, _ := ua.As[ua.ExtensionObject](v)
		if string(e.Body) != c.want || e.TypeID.Namespace() != 5 {
			t.Errorf("%s: got %q of %v, want %q", c.xml, e.Body, e.TypeID, c.want)
		}
	}
}

func TestErrorsNameLineAndNode(t *testing.T) {
	for _, c := range []struct{ nodes, want string }{
		{"<UAVariable NodeId=\"i=1\" BrowseName=\"V\">\n<Value>\n<Int32>x</Int32></Value></UAVariable>", "line 8: node i=1 (V): Int32: "},
		{`<UAVariable NodeId="i=1" BrowseName="V"><Value><Argument/></Value></UAVariable>`, "Argument: not the name"},
		{`<UAVariable NodeId="i=1" BrowseName="V"><Value><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument><Nme/></Argument></Body></ExtensionObject></Value></UAVariable>`, "Argument has no such field"},
		{`<UAObject NodeId="x" BrowseName="V"/>`, "line 6: node x (V): attribute NodeId: "},
		{`<UAObject NodeId="ns=2;i=1" BrowseName="V"/>`, "namespace index 2"},
		{`<UAObject BrowseName="V"/>`, "missing or null"},
		{"<UAObject NodeId=\"i=1\" BrowseName=\"V\"><References>\n<Reference ReferenceType=\"Nonsense\">i=1</Reference></References></UAObject>", "line 7: node i=1 (V): Reference: attribute ReferenceType"},
		{`<UAObject NodeId="i=1" BrowseName="V"/><UAObject`, "line 6"},
		{`<NamespaceUris><Uri>urn:other</Uri></NamespaceUris>`, "unknown namespace urn:other"},
		{strings.Repeat("<a>", 300) + strings.Repeat("</a>", 300), "nested deeper"},
	} {
		_, err := Parse(file(c.nodes), five)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: got %v, want %q", c.nodes, err, c.want)
		}
	}
	for _, bad := range []string{"", "<x/>", "<UANodeSet>"} {
		if _, err := Parse([]byte(bad), Options{}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestDefinitions(t *testing.T) {
	set, err := Parse(file(`
<UADataType NodeId="ns=1;i=1" BrowseName="1:Base"><References><Reference ReferenceType="HasSubtype" IsForward="false">i=22</Reference></References>
<Definition Name="Base"><Field Name="A" DataType="Int32"/></Definition></UADataType>
<UADataType NodeId="ns=1;i=2" BrowseName="1:Derived"><References><Reference ReferenceType="HasSubtype" IsForward="false">ns=1;i=1</Reference></References>
<Definition Name="Derived"><Field Name="B" IsOptional="true" ValueRank="1"/></Definition></UADataType>
<UADataType NodeId="ns=1;i=3" BrowseName="1:Enum"><References><Reference ReferenceType="HasSubtype" IsForward="false">i=29</Reference></References>
<Definition Name="Enum"><Field Name="X" Value="-1"><Description>text</Description></Field></Definition></UADataType>
<UADataType NodeId="ns=1;i=4" BrowseName="1:Union"><References><Reference ReferenceType="HasSubtype" IsForward="false">i=12756</Reference></References>
<Definition Name="Union" IsUnion="true"><Field Name="A" DataType="Int32"/></Definition></UADataType>
<UAObject NodeId="ns=1;i=20" BrowseName="Default Binary"><References><Reference ReferenceType="i=38" IsForward="false">ns=1;i=2</Reference></References></UAObject>
`), five)
	if err != nil {
		t.Fatal(err)
	}
	def := func(i uint32) ua.Structure { return set.DataTypeDefinition(set.Find(ua.NewNodeID(5, i)), nil) }
	d := def(2).(*ua.StructureDefinition)
	if len(d.Fields) != 2 || d.Fields[0].Name != "A" || d.Fields[1].DataType != ua.ID(24) || d.StructureType != ua.StructureTypeStructureWithOptionalFields ||
		d.BaseDataType != ua.NewNodeID(5, 1) || d.DefaultEncodingID != ua.NewNodeID(5, 20) {
		t.Errorf("Derived: %+v", d)
	}
	e := def(3).(*ua.EnumDefinition)
	if len(e.Fields) != 1 || e.Fields[0].Value != -1 || e.Fields[0].DisplayName.Text != "X" || e.Fields[0].Description.Text != "text" {
		t.Errorf("Enum: %+v", e)
	}
	if u := def(4).(*ua.StructureDefinition); u.StructureType != ua.StructureTypeUnion {
		t.Errorf("Union: %+v", u)
	}
}

// TestOfficialNodeSets reads the companion specifications of the schema folder.
func TestOfficialNodeSets(t *testing.T) {
	folder := os.Getenv("ACTUA_SCHEMA")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "..", "shared", "schema")
	}
	files, _ := filepath.Glob(filepath.Join(folder, "nodesets", "*.xml"))
	if len(files) == 0 {
		t.Skipf("no nodesets in %s; set ACTUA_SCHEMA to the folder of the schema files", folder)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := Read(f, Options{})
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		for _, n := range set.Nodes {
			set.DataTypeDefinition(n, nil)
		}
		if len(set.Nodes) == 0 || len(set.Models) == 0 {
			t.Errorf("%s: %d nodes, %d models", filepath.Base(name), len(set.Nodes), len(set.Models))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(`<UAVariable NodeId="i=1" BrowseName="V"><Value><ListOfInt32><Int32>1</Int32></ListOfInt32></Value></UAVariable>`))
	f.Add(file(`<UAVariable NodeId="i=1" BrowseName="V"><Value><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument/></Body></ExtensionObject></Value></UAVariable>`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		set, err := Parse(b, Options{})
		if err != nil {
			return
		}
		for _, n := range set.Nodes {
			set.DataTypeDefinition(n, nil)
		}
	})
}
