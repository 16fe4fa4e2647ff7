package ns0

import (
	"reflect"
	"sort"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
)

func find(t *testing.T, nodes []Node, id uint32) *Node {
	t.Helper()
	i := sort.Search(len(nodes), func(i int) bool { return nodes[i].ID >= id })
	if i == len(nodes) || nodes[i].ID != id {
		t.Fatalf("node %d is missing", id)
	}
	return &nodes[i]
}

func variant(t *testing.T, b []byte) ua.Variant {
	t.Helper()
	r := uabin.NewReader(b)
	var v ua.Variant
	if v.DecodeBinary(r); r.Err() != nil || r.Remaining() != 0 {
		t.Fatalf("%v, %d bytes left", r.Err(), r.Remaining())
	}
	return v
}

func TestCount(t *testing.T) {
	nodes := Load()
	if len(nodes) != NodeCount || NodeCount != 5476 {
		t.Errorf("%d nodes, want 5476", len(nodes))
	}
	count := map[ua.NodeClass]int{}
	for i := range nodes {
		count[nodes[i].Class]++
		if i > 0 && nodes[i-1].ID >= nodes[i].ID {
			t.Errorf("node %d is out of order", nodes[i].ID)
		}
	}
	want := map[ua.NodeClass]int{
		ua.NodeClassVariable: 3369, ua.NodeClassObject: 912, ua.NodeClassMethod: 462, ua.NodeClassDataType: 308,
		ua.NodeClassObjectType: 281, ua.NodeClassReferenceType: 80, ua.NodeClassVariableType: 64,
	}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("got %v\nwant %v", count, want)
	}
}

func TestWellKnownNodes(t *testing.T) {
	nodes := Load()
	time := find(t, nodes, uaid.Server_ServerStatus_CurrentTime)
	if time.BrowseName != "CurrentTime" || time.Class != ua.NodeClassVariable || time.DataType != uaid.UtcTime || time.ValueRank != -1 || time.AccessLevel != 1 {
		t.Errorf("CurrentTime: %+v", time)
	}
	organizes := find(t, nodes, uaid.Organizes)
	if organizes.InverseName != "OrganizedBy" || organizes.IsAbstract || organizes.Symmetric {
		t.Errorf("Organizes: %+v", organizes)
	}
	if n := find(t, nodes, uaid.References); !n.IsAbstract || !n.Symmetric {
		t.Errorf("References: %+v", n)
	}
	server := find(t, nodes, uaid.Server)
	if server.EventNotifier != 1 {
		t.Errorf("Server: EventNotifier %d", server.EventNotifier)
	}
	want := Reference{uaid.Organizes, uaid.ObjectsFolder, false}
	if !contains(server.References, want) || !contains(find(t, nodes, uaid.ObjectsFolder).References, Reference{uaid.Organizes, uaid.Server, true}) {
		t.Errorf("Server: no reference from Objects in %v", server.References)
	}
	call := find(t, nodes, uaid.Server_GetMonitoredItems)
	if call.Class != ua.NodeClassMethod || !call.Executable || !call.UserExecutable || call.IsAbstract {
		t.Errorf("GetMonitoredItems: %+v", call)
	}
}

func contains(refs []Reference, want Reference) bool {
	for _, r := range refs {
		if r == want {
			return true
		}
	}
	return false
}

func TestMethodArguments(t *testing.T) {
	nodes := Load()
	arguments := func(id uint32) (out []ua.Argument) {
		objects, ok := ua.ArrayOf[ua.ExtensionObject](variant(t, find(t, nodes, id).Value))
		if !ok {
			t.Fatalf("node %d is not an array of structures", id)
		}
		for i := range objects {
			out = append(out, *objects[i].Value.(*ua.Argument))
		}
		return out
	}
	check := func(a ua.Argument, name string, rank int32) {
		t.Helper()
		if a.Name != name || a.DataType != ua.ID(uaid.UInt32) || a.ValueRank != rank {
			t.Errorf("got %+v, want %s of rank %d", a, name, rank)
		}
	}
	in := arguments(uaid.Server_GetMonitoredItems_InputArguments)
	out := arguments(uaid.Server_GetMonitoredItems_OutputArguments)
	if len(in) != 1 || len(out) != 2 {
		t.Fatalf("%d in, %d out", len(in), len(out))
	}
	check(in[0], "SubscriptionId", -1)
	check(out[0], "ServerHandles", 1)
	check(out[1], "ClientHandles", 1)
}

// TestValues decodes all values: they fit the data type's rank and leave no structure undecoded.
func TestValues(t *testing.T) {
	nodes := Load()
	values, definitions := 0, 0
	for i := range nodes {
		n := &nodes[i]
		if n.Value != nil {
			values++
			v := variant(t, n.Value)
			if n.ValueRank == 1 != v.IsArray() && n.ValueRank >= -1 {
				t.Errorf("node %d (%s): rank %d, value %v", n.ID, n.BrowseName, n.ValueRank, v.Type())
			}
			if objects, ok := ua.ArrayOf[ua.ExtensionObject](v); ok {
				for j := range objects {
					if objects[j].Value == nil {
						t.Errorf("node %d (%s): structure %v is not decoded", n.ID, n.BrowseName, objects[j].TypeID)
					}
				}
			}
		}
		if n.Definition != nil {
			definitions++
			if variant(t, n.Definition).Structure() == nil {
				t.Errorf("node %d (%s): the definition is not decoded", n.ID, n.BrowseName)
			}
		}
	}
	if values < 1200 || definitions != 251 {
		t.Errorf("%d values, %d definitions", values, definitions)
	}
}

func TestDefinitions(t *testing.T) {
	nodes := Load()
	definition := func(id uint32) ua.Structure { return variant(t, find(t, nodes, id).Definition).Structure() }
	class := definition(uaid.NodeClass).(*ua.EnumDefinition)
	if len(class.Fields) != 9 || class.Fields[1].Name != "Object" || class.Fields[1].Value != 1 || class.Fields[1].DisplayName.Text != "Object" {
		t.Errorf("NodeClass: %+v", class)
	}
	argument := definition(uaid.Argument).(*ua.StructureDefinition)
	if argument.DefaultEncodingID != ua.ID(uaid.Argument_Encoding_DefaultBinary) || argument.BaseDataType != ua.ID(uaid.Structure) ||
		argument.StructureType != ua.StructureTypeStructure || len(argument.Fields) != 5 || argument.Fields[1].DataType != ua.ID(uaid.NodeId) {
		t.Errorf("Argument: %+v", argument)
	}
	// A derived structure begins with the fields of its base.
	field := definition(uaid.EnumField).(*ua.StructureDefinition)
	if len(field.Fields) != 4 || field.Fields[0].Name != "Value" || field.Fields[3].Name != "Name" || field.BaseDataType != ua.ID(uaid.EnumValueType) {
		t.Errorf("EnumField: %+v", field)
	}
	record := definition(19361).(*ua.StructureDefinition)
	if record.StructureType != ua.StructureTypeStructureWithOptionalFields || !record.Fields[2].IsOptional || record.Fields[0].IsOptional {
		t.Errorf("LogRecord: %+v", record)
	}
	if d := definition(uaid.DataSetWriterDataType).(*ua.StructureDefinition); d.StructureType != ua.StructureTypeStructureWithSubtypedValues {
		t.Errorf("DataSetWriterDataType: %v", d.StructureType)
	}
	// Definitions agree with the generated structures, field by field.
	for i := range nodes {
		info := ua.StructureOf(nodes[i].ID)
		if info == nil || nodes[i].Definition == nil {
			continue
		}
		d := definition(nodes[i].ID).(*ua.StructureDefinition)
		if len(d.Fields) != len(info.Fields) {
			t.Errorf("%s has %d fields, its definition %d", info.Name, len(info.Fields), len(d.Fields))
			continue
		}
		for j := range d.Fields {
			if d.Fields[j].Name != info.Fields[j].Name || d.Fields[j].ValueRank == 1 != info.Fields[j].Array {
				t.Errorf("%s: field %+v, definition %+v", info.Name, info.Fields[j], d.Fields[j])
			}
		}
		if !nodes[i].IsAbstract && d.DefaultEncodingID != info.BinaryID.NodeID {
			t.Errorf("%s: encoding %v, definition %v", info.Name, info.BinaryID.NodeID, d.DefaultEncodingID)
		}
	}
}

// TestReferences finds both ends of each reference, and each only once.
func TestReferences(t *testing.T) {
	nodes := Load()
	byID := map[uint32]*Node{}
	for i := range nodes {
		byID[nodes[i].ID] = &nodes[i]
	}
	type edge struct {
		from uint32
		Reference
	}
	seen := map[edge]bool{}
	for _, n := range nodes {
		for _, r := range n.References {
			e := edge{n.ID, r}
			if seen[e] {
				t.Errorf("%v stands there twice", e)
			}
			seen[e] = true
			if byID[r.Target] == nil || byID[r.Type] == nil || byID[r.Type].Class != ua.NodeClassReferenceType {
				t.Errorf("%v leads nowhere", e)
			}
		}
	}
	for e := range seen {
		if !seen[edge{e.Target, Reference{e.Type, e.from, !e.Forward}}] {
			t.Errorf("%v is seen from one end only", e)
		}
	}
}

// TestTypeTrees follows HasSubtype up from each type: it ends at the root of its class.
func TestTypeTrees(t *testing.T) {
	nodes := Load()
	base := map[uint32]uint32{}
	for _, n := range nodes {
		for _, r := range n.References {
			if r.Type == uaid.HasSubtype && !r.Forward {
				if base[n.ID] != 0 {
					t.Errorf("node %d has two bases", n.ID)
				}
				base[n.ID] = r.Target
			}
		}
	}
	roots := map[ua.NodeClass]uint32{
		ua.NodeClassObjectType: uaid.BaseObjectType, ua.NodeClassVariableType: uaid.BaseVariableType,
		ua.NodeClassDataType: uaid.BaseDataType, ua.NodeClassReferenceType: uaid.References,
	}
	for _, n := range nodes {
		root := roots[n.Class]
		if root == 0 {
			continue
		}
		id := n.ID
		for steps := 0; base[id] != 0 && steps < 100; steps++ {
			id = base[id]
		}
		if id != root {
			t.Errorf("node %d (%s) leads up to %d, not to %d", n.ID, n.BrowseName, id, root)
		}
	}
}

func TestLoadAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(5, func() { Load() }); n > 12 {
		t.Errorf("%.0f allocations", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Load()
	}
}
