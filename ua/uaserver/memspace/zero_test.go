package memspace

import (
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// mandatory are the attributes that nodes of a class must have (Part 3, 5).
var mandatory = map[ua.NodeClass][]ua.AttributeID{
	ua.NodeClassObject: {ua.AttributeEventNotifier},
	ua.NodeClassVariable: {ua.AttributeValue, ua.AttributeDataType, ua.AttributeValueRank, ua.AttributeAccessLevel,
		ua.AttributeUserAccessLevel, ua.AttributeHistorizing},
	ua.NodeClassMethod:        {ua.AttributeExecutable, ua.AttributeUserExecutable},
	ua.NodeClassObjectType:    {ua.AttributeIsAbstract},
	ua.NodeClassVariableType:  {ua.AttributeIsAbstract, ua.AttributeDataType, ua.AttributeValueRank},
	ua.NodeClassReferenceType: {ua.AttributeIsAbstract, ua.AttributeSymmetric},
	ua.NodeClassDataType:      {ua.AttributeIsAbstract},
	ua.NodeClassView:          {ua.AttributeContainsNoLoops, ua.AttributeEventNotifier},
}

var optional = map[ua.NodeClass][]ua.AttributeID{
	ua.NodeClassVariable:      {ua.AttributeArrayDimensions, ua.AttributeMinimumSamplingInterval, ua.AttributeAccessLevelEx},
	ua.NodeClassVariableType:  {ua.AttributeValue, ua.AttributeArrayDimensions},
	ua.NodeClassReferenceType: {ua.AttributeInverseName},
	ua.NodeClassDataType:      {ua.AttributeDataTypeDefinition},
}

// V12: what a client like UaExpert does with every node shows no unexpected bad status.
func TestAllAttributesOfAllNodes(t *testing.T) {
	s := newSpace(t)
	if s.Len() < 5000 {
		t.Fatalf("%d nodes in namespace 0", s.Len())
	}
	seen := 0
	s.nodes.each(func(n *Node) bool {
		seen++
		must := append([]ua.AttributeID{ua.AttributeNodeID, ua.AttributeNodeClass, ua.AttributeBrowseName,
			ua.AttributeDisplayName, ua.AttributeDescription, ua.AttributeWriteMask, ua.AttributeUserWriteMask},
			mandatory[n.Class()]...)
		for a := ua.AttributeNodeID; a <= ua.AttributeAccessLevelEx; a++ {
			want := -1
			for _, m := range must {
				if m == a {
					want = 1
				}
			}
			for _, m := range optional[n.Class()] {
				if m == a {
					want = 0
				}
			}
			d := read(s, n.id, a)
			switch {
			case d.Status == ua.BadNotReadable && a == ua.AttributeValue && n.variable.access == 0:
			case d.Status == ua.Good && want >= 0, d.Status == ua.BadAttributeIdInvalid && want <= 0:
			default:
				t.Errorf("%v %v %s: %v gives %v", n.id, n.Class(), n.name.Name, a, d.Status)
			}
		}
		return !t.Failed()
	})
	expect(t, "nodes", seen, s.Len())
}

// Every reference of namespace 0 has its inverse at the other end, and leads to a node.
func TestReferencesHaveInverses(t *testing.T) {
	s := newSpace(t)
	type edge struct {
		source, kind, target ua.NodeID
	}
	forward, inverse := map[edge]int{}, map[edge]int{}
	s.nodes.each(func(n *Node) bool {
		for _, r := range browseAll(t, s, uaserver.BrowseItem{NodeID: n.id, Direction: ua.BrowseDirectionBoth, Max: 100}) {
			if s.Node(r.Target.NodeID) == nil {
				t.Errorf("%v leads to %v, which does not exist", n.id, r.Target)
			}
			if r.Forward {
				forward[edge{n.id, r.Type, r.Target.NodeID}]++
			} else {
				inverse[edge{r.Target.NodeID, r.Type, n.id}]++
			}
		}
		return true
	})
	expect(t, "inverse references", len(inverse), len(forward))
	for e, n := range forward {
		if n != 1 || inverse[e] != 1 {
			t.Fatalf("%v: %d forward, %d inverse", e, n, inverse[e])
		}
	}
}

func TestZeroIsReadOnly(t *testing.T) {
	s := newSpace(t)
	s.nodes.each(func(n *Node) bool {
		if v := n.Variable(); v != nil {
			if status := write(s, n.id, ua.Int32(1)); status != ua.BadNotWritable {
				t.Errorf("%v: %v", n.id, status)
			}
		}
		return true
	})
}

func TestZeroValues(t *testing.T) {
	s := newSpace(t)
	d := read(s, ua.ID(uaid.ServerState_EnumStrings), ua.AttributeValue)
	expect(t, "EnumStrings of ServerState", d.Value.Len(), 8)
	d = read(s, ua.ID(uaid.Argument), ua.AttributeDataTypeDefinition)
	if def, ok := d.Value.Structure().(*ua.StructureDefinition); !ok || len(def.Fields) != 5 {
		t.Errorf("definition of Argument: %v", d.Value)
	}
	d = read(s, ua.ID(uaid.Server_GetMonitoredItems), ua.AttributeExecutable)
	expect(t, "Executable of a method without function", d.Value.Bool(), false)
}

// The values that namespace 0 brings along are of the data types that it declares.
func TestZeroValuesFit(t *testing.T) {
	s := newSpace(t)
	values := 0
	s.nodes.each(func(n *Node) bool {
		if v := n.variable; v != nil && v.Get().Type() != ua.TypeNull {
			values++
			if _, ok := v.accept(v.Get()); !ok {
				t.Errorf("%v %s: %v is no %v of rank %d", n.id, n.name.Name, v.Get(), v.DataType(), v.rank)
			}
		}
		return true
	})
	if values < 1000 {
		t.Errorf("%d values", values)
	}
}

func TestTypeTree(t *testing.T) {
	s := newSpace(t)
	for _, c := range []struct {
		t, super uint32
		want     bool
	}{
		{uaid.Duration, uaid.Number, true},
		{uaid.Duration, uaid.Integer, false},
		{uaid.HasProperty, uaid.HierarchicalReferences, true},
		{uaid.HasTypeDefinition, uaid.HierarchicalReferences, false},
		{uaid.FolderType, uaid.BaseObjectType, true},
		{uaid.FolderType, uaid.FolderType, true},
		{uaid.BaseObjectType, uaid.FolderType, false},
		{uaid.ObjectsFolder, uaid.ObjectsFolder, false},
		{999_999, 999_999, false},
	} {
		if got := s.IsSubtype(ua.ID(c.t), ua.ID(c.super)); got != c.want {
			t.Errorf("IsSubtype(%d, %d) = %v", c.t, c.super, got)
		}
	}
}

func BenchmarkLoadZero(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(testURI)
	}
}
