package uaclient_test

import (
	"context"
	"testing"

	"github.com/actua/actua/internal/plant"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// C27: a structure that the client knows nothing of is read with its field names.
func TestLoadTypes(t *testing.T) {
	space := memspace.New("urn:plant")
	if _, err := plant.Build(space); err != nil {
		t.Fatal(err)
	}
	r := startServer(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{space} })
	c := r.dial(t, r.config(t))
	ctx := context.Background()
	batch, err := c.ResolvePath(ctx, "/Objects/Plant/Line1/Mixer/Batch")
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.ReadValue(ctx, batch)
	if err != nil || v.Value.Structure() != nil {
		t.Fatal(v.Value, err)
	}
	if n, err := c.LoadTypes(ctx, v); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if v, err = c.ReadValue(ctx, batch); err != nil {
		t.Fatal(err)
	}
	s, ok := v.Value.Structure().(*ua.DynamicStructure)
	if !ok {
		t.Fatalf("%T", v.Value.Structure())
	}
	if recipe, ok := s.Get("Recipe"); !ok || recipe.Type() != ua.TypeString {
		t.Error(recipe, ok)
	}
	if n, err := c.LoadTypes(ctx, v); err != nil || n != 0 {
		t.Error(n, err)
	}
}

// A server's description of a type may be nonsense: the value stays as it was received (C26).
func TestLoadTypesFromHostileServer(t *testing.T) {
	encoding, dataType := ua.NewNodeID(0, 70001), ua.NewNodeID(0, 70002)
	for name, fields := range map[string][]ua.StructureField{
		"itself":    {{Name: "Me", DataType: dataType, ValueRank: -1}},
		"matrix":    {{Name: "M", DataType: ua.ID(uaid.Double), ValueRank: 2}},
		"unknown":   {{Name: "U", DataType: ua.NewNodeID(0, 70099), ValueRank: -1}},
		"recursive": {{Name: "List", DataType: dataType, ValueRank: 1}},
	} {
		s := newStub(t, func(req ua.Structure) ua.Structure {
			switch r := req.(type) {
			case *ua.BrowseRequest:
				resp := &ua.BrowseResponse{Results: make([]ua.BrowseResult, len(r.NodesToBrowse))}
				switch r.NodesToBrowse[0].NodeID {
				case encoding:
					resp.Results[0].References = []ua.ReferenceDescription{{NodeID: dataType.Expanded()}}
				case dataType:
					resp.Results[0].References = []ua.ReferenceDescription{{NodeID: ua.ID(uaid.Structure).Expanded()}}
				}
				return resp
			case *ua.ReadRequest:
				resp := &ua.ReadResponse{Results: make([]ua.DataValue, len(r.NodesToRead))}
				switch ua.AttributeID(r.NodesToRead[0].AttributeID) {
				case ua.AttributeDataTypeDefinition:
					resp.Results[0].Value = ua.NewExtensionObject(&ua.StructureDefinition{DefaultEncodingID: encoding, Fields: fields}).Variant()
				case ua.AttributeValue:
					resp.Results[0].Value = ua.Array([]string{"http://opcfoundation.org/UA/"})
				}
				return resp
			}
			return nil
		})
		unknown := ua.DataValue{Value: ua.ExtensionObject{TypeID: encoding, Encoding: ua.BodyBinary, Body: []byte{1}}.Variant()}
		n, err := s.dial(&uaclient.Config{}).LoadTypes(context.Background(), unknown)
		want := 0
		if name == "recursive" {
			want = 1
		}
		if n != want || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
