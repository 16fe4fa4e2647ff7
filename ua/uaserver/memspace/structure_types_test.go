package memspace

import (
	"errors"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

func expanded(uri string, id uint32) ua.ExpandedNodeID {
	return ua.ExpandedNodeID{NodeID: ua.ID(id), NamespaceURI: uri}
}

func TestAddStructure(t *testing.T) {
	s := newSpace(t)
	info := &ua.StructureInfo{
		Name: "Point", DataTypeID: expanded(testURI, 3001), BinaryID: expanded(testURI, 3002),
		Fields: []ua.Field{{Name: "X", Type: ua.TypeDouble}, {Name: "Tags", Type: ua.TypeString, Array: true}},
	}
	lost := *info
	lost.DataTypeID = expanded("urn:nobody", 1)
	if n := newSpace(t).AddStructure(&lost); !errors.Is(n.Err(), ua.BadNodeIdRejected) {
		t.Errorf("foreign namespace: %v", n.Err())
	}
	n := s.AddStructure(info)
	p := ua.NewDynamicStructure(info)
	v := s.AddVariable(s.Objects(), "P", ua.ExtensionObject{Value: p}.Variant(), Writable())
	list := s.AddVariable(s.Objects(), "L", ua.Array([]ua.ExtensionObject{{Value: p}}), Writable())
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	expect(t, "data type", v.DataType(), n.ID())
	expect(t, "data type", list.DataType(), n.ID())
	e, _ := ua.As[ua.ExtensionObject](v.Get())
	expect(t, "encoding", e.TypeID, ua.NewNodeID(2, 3002))
	d := read(s, n.ID(), ua.AttributeDataTypeDefinition).Value.Structure().(*ua.StructureDefinition)
	if len(d.Fields) != 2 || d.Fields[1].ValueRank != 1 || d.DefaultEncodingID != e.TypeID {
		t.Errorf("%+v", d)
	}
	raw := ua.ExtensionObject{TypeID: e.TypeID, Encoding: ua.BodyBinary, Body: p.AppendBinary(nil)}.Variant()
	expect(t, "not decoded", write(s, v.ID(), raw), ua.Good)
	expect(t, "another structure", write(s, v.ID(), ua.NewExtensionObject(&ua.Range{}).Variant()), ua.BadTypeMismatch)
	expect(t, "in a list", write(s, list.ID(), ua.Array([]ua.ExtensionObject{{Value: p}, {Value: &ua.Range{}}})), ua.BadTypeMismatch)
}

func TestAddEnumeration(t *testing.T) {
	s := newSpace(t)
	n := s.AddEnumeration("State", []string{"Off", "On"})
	d := read(s, n.ID(), ua.AttributeDataTypeDefinition).Value.Structure().(*ua.EnumDefinition)
	if len(d.Fields) != 2 || d.Fields[1].Value != 1 || d.Fields[1].Name != "On" {
		t.Errorf("%+v", d)
	}
	expect(t, "subtype", s.IsSubtype(n.ID(), ua.ID(uaid.Enumeration)), true)
}
