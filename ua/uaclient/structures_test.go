package uaclient_test

import (
	"context"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// Report C27: a client without any prior knowledge reads a structure with an identifier, text, a time, an
// array of structures and an array of numbers, sees its fields, changes one and writes it back. The
// structures inside hold, through an array, the outer one again.
func TestReportC27ReadChangeWrite(t *testing.T) {
	const uri = "urn:pumps"
	id := func(n uint32) ua.ExpandedNodeID { return ua.ExpandedNodeID{NodeID: ua.ID(n), NamespaceURI: uri} }
	part := &ua.StructureInfo{Name: "Part", DataTypeID: id(10), BinaryID: id(11)}
	pump := &ua.StructureInfo{Name: "Pump", DataTypeID: id(20), BinaryID: id(21)}
	part.New = func() ua.Structure { return ua.NewDynamicStructure(part) }
	pump.New = func() ua.Structure { return ua.NewDynamicStructure(pump) }
	part.Fields = []ua.Field{
		{Name: "Number", Type: ua.TypeInt32}, {Name: "DrivenBy", Type: ua.TypeExtensionObject, Struct: pump, Array: true},
	}
	pump.Fields = []ua.Field{
		{Name: "Id", Type: ua.TypeNodeID}, {Name: "Name", Type: ua.TypeString}, {Name: "Since", Type: ua.TypeDateTime},
		{Name: "Parts", Type: ua.TypeExtensionObject, Struct: part, Array: true}, {Name: "Speeds", Type: ua.TypeFloat, Array: true},
	}
	space := memspace.New(uri)
	space.AddStructure(part)
	dataType := space.AddStructure(pump)
	p, seal := ua.NewDynamicStructure(pump), ua.NewDynamicStructure(part)
	for _, err := range []error{
		seal.Set("Number", ua.Int32(7)), p.Set("Name", ua.String("P1")), p.Set("Since", ua.Now().Variant()),
		p.Set("Parts", ua.Array([]ua.ExtensionObject{{Value: seal}})), p.Set("Speeds", ua.Array([]float32{1, 2, 3})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wrapped, err := space.Wrap(p)
	if err != nil {
		t.Fatal(err)
	}
	node := space.AddVariable(space.Objects(), "P1", wrapped, memspace.WithDataType(dataType.ID()), memspace.Writable())

	r := startServer(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{space} })
	c := r.dial(t, r.config(t))
	ctx := context.Background()
	v, err := c.ReadValue(ctx, node.ID())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.LoadTypes(ctx, v); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	if v, err = c.ReadValue(ctx, node.ID()); err != nil {
		t.Fatal(err)
	}
	got, ok := v.Value.Structure().(*ua.DynamicStructure)
	if !ok {
		t.Fatalf("read %v", v)
	}
	parts, _ := got.Get("Parts")
	if number, _ := parts.Index(0).Structure().(*ua.DynamicStructure).Get("Number"); number.Int() != 7 {
		t.Errorf("parts %v", parts)
	}
	if err := got.Set("Name", ua.String("P2")); err != nil {
		t.Fatal(err)
	}
	object, err := c.Types().Wrap(got)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WriteValue(ctx, node.ID(), object.Variant()); err != nil {
		t.Fatal(err)
	}
	written, ok := node.Get().Structure().(*ua.DynamicStructure)
	if !ok {
		t.Fatalf("the server has %v", node.Get())
	}
	name, _ := written.Get("Name")
	speeds, _ := written.Get("Speeds")
	if name.Str() != "P2" || speeds.Len() != 3 {
		t.Errorf("the server has %v", node.Get())
	}
}
