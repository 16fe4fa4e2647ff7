package plant

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// The numbers of the nodes of the structure Batch, in the namespace of the plant.
const (
	batchDataType = 3001
	batchBinary   = 3002
)

// The values of the enumeration MachineState.
const (
	stateStopped = iota
	stateRamping
	stateProducing
	stateComplete
)

var stateNames = []string{"Stopped", "Ramping", "Producing", "Complete"}

// types are the plant's types.
type types struct {
	machine, state, batch *memspace.Node
	info                  *ua.StructureInfo // of batch
}

func addTypes(s *memspace.Space) types {
	uri := s.NamespaceURIs()[1]
	id := func(n uint32) ua.ExpandedNodeID { return ua.ExpandedNodeID{NodeID: ua.ID(n), NamespaceURI: uri} }
	info := &ua.StructureInfo{
		Name: "Batch", DataTypeID: id(batchDataType), BinaryID: id(batchBinary),
		Fields: []ua.Field{
			{Name: "Id", Type: ua.TypeUInt32},
			{Name: "Recipe", Type: ua.TypeString},
			{Name: "Pieces", Type: ua.TypeUInt32},
			{Name: "Done", Type: ua.TypeUInt32},
			{Name: "Started", Type: ua.TypeDateTime},
		},
	}
	info.New = func() ua.Structure { return ua.NewDynamicStructure(info) }
	return types{
		machine: s.AddType(s.Node(ua.ID(uaid.BaseObjectType)), "MachineType"),
		state:   s.AddEnumeration("MachineState", stateNames),
		batch:   s.AddStructure(info),
		info:    info,
	}
}

// batch is a batch of pieces that a machine makes.
type batch struct {
	id           uint32
	recipe       string
	pieces, done uint32
	started      ua.DateTime
}

// value is a batch as a value of the structure.
func (b *batch) value(info *ua.StructureInfo) ua.Variant {
	d := ua.NewDynamicStructure(info)
	for _, f := range []struct {
		name  string
		value ua.Variant
	}{
		{"Id", ua.UInt32(b.id)}, {"Recipe", ua.String(b.recipe)}, {"Pieces", ua.UInt32(b.pieces)},
		{"Done", ua.UInt32(b.done)}, {"Started", b.started.Variant()},
	} {
		_ = d.Set(f.name, f.value) // the fields are those of addTypes
	}
	return ua.ExtensionObject{Value: d}.Variant()
}

// unit is a unit of measurement by its code of UN/CEFACT Recommendation 20 (Part 8, 5.6.3).
func unit(code int32, symbol, name string) ua.EUInformation {
	return ua.EUInformation{
		NamespaceURI: "http://www.opcfoundation.org/UA/units/un/cefact",
		UnitID:       code, DisplayName: ua.Text(symbol), Description: ua.Text(name),
	}
}

var (
	celsius  = unit(4408652, "°C", "degree Celsius")
	bar      = unit(4342098, "bar", "bar [unit of pressure]")
	kilowatt = unit(4937556, "kW", "kilowatt")
	percent  = unit(20529, "%", "percent")
	// There is no unit for pieces a minute in the list, so it has no code.
	perMinute = ua.EUInformation{UnitID: -1, DisplayName: ua.Text("1/min"), Description: ua.Text("pieces per minute")}
)
