package memspace

import (
	"errors"
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

func TestAddErrors(t *testing.T) {
	s := newSpace(t)
	folder := s.AddFolder(s.Objects(), "Folder")
	gone := s.AddFolder(s.Objects(), "Gone")
	if err := s.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	id := ua.NewNodeID(2, 5)
	s.AddObject(folder, "First", WithNodeID(id))
	for _, c := range []struct {
		name string
		node *Node
		want ua.StatusCode
	}{
		{"no parent", s.AddObject(nil, "A"), ua.BadParentNodeIdInvalid},
		{"removed parent", s.AddObject(gone, "A"), ua.BadParentNodeIdInvalid},
		{"parent of another Space", s.AddObject(newSpace(t).Objects(), "A"), ua.BadParentNodeIdInvalid},
		{"id in use", s.AddObject(folder, "A", WithNodeID(id)), ua.BadNodeIdExists},
		{"name in use", s.AddObject(folder, "First", WithNodeID(id)), ua.BadNodeIdExists},
		{"namespace 0", s.AddObject(folder, "A", WithNodeID(ua.ID(70000))), ua.BadNodeIdRejected},
		{"foreign namespace", s.AddObject(folder, "A", WithNodeID(ua.NewNodeID(9, 1))), ua.BadNodeIdRejected},
		{"no name", s.AddObject(folder, ""), ua.BadBrowseNameInvalid},
		{"name of a foreign namespace", s.AddObject(folder, "A", WithBrowseName(ua.QualifiedName{NamespaceIndex: 9, Name: "A"})), ua.BadBrowseNameInvalid},
		{"reference type", s.AddObject(folder, "A", WithReference(ua.ID(uaid.FolderType))), ua.BadReferenceTypeIdInvalid},
		{"type of another class", s.AddObject(folder, "A", WithTypeDefinition(ua.ID(uaid.PropertyType))), ua.BadTypeDefinitionInvalid},
		{"subtype of no type", s.AddType(folder, "A"), ua.BadParentNodeIdInvalid},
		{"first value", &s.AddVariable(folder, "A", ua.Int32(1), WithDataType(ua.ID(uaid.String))).Node, ua.BadTypeMismatch},
		{"write mask", s.AddObject(folder, "A", WithWriteMask(ua.WriteMaskBrowseName)), ua.BadNotSupported},
	} {
		if err := c.node.Err(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := s.Node(c.node.ID()); got == c.node {
			t.Errorf("%s: the node is in the Space", c.name)
		}
	}
	if err := s.Err(); !errors.Is(err, ua.BadParentNodeIdInvalid) {
		t.Errorf("first error: %v", err)
	}
	if err := s.Attach(nil, []uint16{0, 2}); !errors.Is(err, ua.BadParentNodeIdInvalid) {
		t.Errorf("Attach: %v", err)
	}
}

func TestReferences(t *testing.T) {
	s := newSpace(t)
	a, b := s.AddFolder(s.Objects(), "A"), s.AddFolder(s.Objects(), "B")
	organizes, foreign := ua.ID(uaid.Organizes), ua.NewNodeID(9, 1)
	for _, c := range []struct {
		source, kind, target ua.NodeID
		want                 error
	}{
		{ua.NewNodeID(2, 1), organizes, b.ID(), ua.BadSourceNodeIdInvalid},
		{a.ID(), a.ID(), b.ID(), ua.BadReferenceTypeIdInvalid},
		{a.ID(), organizes, ua.NewNodeID(2, 1), ua.BadTargetNodeIdInvalid},
		{a.ID(), organizes, b.ID(), nil},
		{a.ID(), organizes, b.ID(), ua.BadDuplicateReferenceNotAllowed},
		{a.ID(), organizes, foreign, nil},
		{a.ID(), organizes, a.ID(), nil},
	} {
		if err := s.AddReference(c.source, c.kind, c.target); !errors.Is(err, c.want) {
			t.Errorf("%v -> %v: %v", c.source, c.target, err)
		}
	}
	item := uaserver.BrowseItem{NodeID: a.ID(), Direction: ua.BrowseDirectionForward, ReferenceType: organizes}
	expect(t, "organizes", len(browseAll(t, s, item)), 3)
	for _, want := range []error{nil, ua.BadNotFound} {
		if err := s.RemoveReference(a.ID(), organizes, b.ID()); !errors.Is(err, want) {
			t.Errorf("remove: %v", err)
		}
	}
	expect(t, "organizes", len(browseAll(t, s, item)), 2)
	item.NodeID, item.Direction = b.ID(), ua.BrowseDirectionInverse
	expect(t, "inverse", len(browseAll(t, s, item)), 1)
}

func TestBrowseFilters(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F")
	s.AddFolder(f, "Sub")
	v := s.AddVariable(f, "V", ua.Double(1), WithRange(0, 1), WithUnit(ua.EUInformation{UnitID: 1}))
	count := func(n *Node, d ua.BrowseDirection, refType uint32, subtypes bool, mask ua.NodeClass) int {
		item := uaserver.BrowseItem{NodeID: n.id, Direction: d, IncludeSubtypes: subtypes, ClassMask: uint32(mask)}
		if refType != 0 {
			item.ReferenceType = ua.ID(refType)
		}
		return len(browseAll(t, s, item))
	}
	expect(t, "both", count(f, ua.BrowseDirectionBoth, 0, false, 0), 4)
	expect(t, "forward", count(f, ua.BrowseDirectionForward, 0, false, 0), 3)
	expect(t, "inverse", count(f, ua.BrowseDirectionInverse, 0, false, 0), 1)
	expect(t, "hierarchical", count(f, ua.BrowseDirectionForward, uaid.HierarchicalReferences, true, 0), 2)
	expect(t, "hierarchical itself", count(f, ua.BrowseDirectionForward, uaid.HierarchicalReferences, false, 0), 0)
	expect(t, "variables", count(f, ua.BrowseDirectionForward, 0, false, ua.NodeClassVariable), 1)
	expect(t, "properties", count(&v.Node, ua.BrowseDirectionForward, uaid.HasProperty, false, 0), 2)
	for _, c := range []struct {
		item uaserver.BrowseItem
		want ua.StatusCode
	}{
		{uaserver.BrowseItem{NodeID: ua.NewNodeID(2, 9)}, ua.BadNodeIdUnknown},
		{uaserver.BrowseItem{NodeID: f.id, ReferenceType: f.id}, ua.BadReferenceTypeIdInvalid},
		{uaserver.BrowseItem{NodeID: f.id, ReferenceType: ua.ID(999999)}, ua.BadReferenceTypeIdInvalid},
		{uaserver.BrowseItem{NodeID: f.id, Direction: 3}, ua.BadBrowseDirectionInvalid},
	} {
		s.Browse(session(""), &c.item)
		expect(t, "bad browse", c.item.Status, c.want)
	}
	d := []uaserver.DescribeItem{{NodeID: v.ID()}, {NodeID: ua.NewNodeID(2, 9)}}
	s.Describe(session(""), d)
	if d[0].Class != ua.NodeClassVariable || d[0].BrowseName.Name != "V" || d[0].TypeDefinition.NodeID != ua.ID(uaid.AnalogItemType) {
		t.Errorf("%+v", d[0])
	}
	expect(t, "class of nothing", d[1].Class, 0)
}

// Pages survive what is added and removed between them: what stays is seen exactly once.
func TestPagesUnderChange(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F")
	var all []*Node
	for i := range 1000 {
		all = append(all, s.AddFolder(f, fmt.Sprint(i)))
	}
	item := uaserver.BrowseItem{NodeID: f.id, ReferenceType: ua.ID(uaid.Organizes), Max: 100}
	seen := map[ua.NodeID]int{}
	for page := 0; ; page++ {
		item.References = item.References[:0]
		s.Browse(session(""), &item)
		for _, r := range item.References {
			seen[r.Target.NodeID]++
		}
		if item.Cursor == 0 {
			break
		}
		for i := page; i < 1000; i += 10 { // each page, every tenth child goes
			if i%2 == 1 {
				_ = s.Remove(all[i])
			}
		}
		s.AddFolder(f, fmt.Sprint("new", page))
	}
	for i, n := range all {
		if c := seen[n.id]; c > 1 || i%2 == 0 && c != 1 {
			t.Errorf("child %d was seen %d times", i, c)
		}
	}
	if err := s.Remove(f); err != nil {
		t.Fatal(err)
	}
	item.Cursor = 5
	s.Browse(session(""), &item)
	expect(t, "browse of a removed node", item.Status, ua.BadNodeIdUnknown)
}

func TestRemove(t *testing.T) {
	s := newSpace(t)
	before := s.Len()
	f := s.AddFolder(s.Objects(), "F")
	a, b := s.AddObject(f, "A", WithReference(ua.ID(uaid.HasComponent))), s.AddObject(s.Objects(), "B")
	shared := s.AddVariable(a, "Shared", ua.Double(1), WithRange(0, 1))
	if err := s.AddReference(b.ID(), ua.ID(uaid.HasComponent), shared.ID()); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(s.Objects()); !errors.Is(err, ua.BadNotSupported) {
		t.Errorf("namespace 0: %v", err)
	}
	if err := s.Remove(f); err != nil {
		t.Fatal(err)
	}
	if s.Node(a.ID()) != nil || s.Node(shared.ID()) == nil {
		t.Error("a component remains, or one that another object has is gone")
	}
	expect(t, "status", read(s, a.ID(), ua.AttributeNodeID).Status, ua.BadNodeIdUnknown)
	if err := s.Remove(f); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Errorf("removed twice: %v", err)
	}
	if err := s.Remove(b); err != nil {
		t.Fatal(err)
	}
	expect(t, "nodes", s.Len(), before)
	expect(t, "set after removal", shared.Set(ua.Double(2)), nil)
	expect(t, "name is free again", s.AddFolder(s.Objects(), "F").Err(), nil)
}

func TestTranslate(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F")
	find := func(from ua.NodeID, e ua.RelativePathElement) ([]ua.ExpandedNodeID, ua.StatusCode) {
		it := uaserver.TranslateItem{NodeID: from, Element: &e}
		s.Translate(session(""), &it)
		return it.Targets, it.Status
	}
	name := ua.QualifiedName{NamespaceIndex: 2, Name: "F"}
	got, status := find(s.Objects().ID(), ua.RelativePathElement{TargetName: name})
	if status != ua.Good || len(got) != 1 || got[0].NodeID != f.ID() {
		t.Errorf("%v %v", got, status)
	}
	got, _ = find(s.Objects().ID(), ua.RelativePathElement{TargetName: ua.QualifiedName{Name: "F"}})
	expect(t, "other namespace", len(got), 0)
	got, _ = find(f.ID(), ua.RelativePathElement{IsInverse: true, TargetName: ua.QualifiedName{Name: "Objects"}})
	expect(t, "inverse", len(got), 1)
	_, status = find(ua.NewNodeID(2, 9), ua.RelativePathElement{TargetName: name})
	expect(t, "unknown node", status, ua.BadNodeIdUnknown)
}

// A server may give the namespace another index than the Space expected.
func TestAttachRenumbers(t *testing.T) {
	s := newSpace(t)
	typ := s.AddType(s.zero(uaid.Structure), "T")
	v := s.AddVariable(s.Objects(), "V", ua.ID(1).WithNamespace(2).Variant(), WithDataType(ua.ID(uaid.NodeId)))
	m := s.AddMethod(s.Objects(), "M", Method{
		Call:   func(Call) ([]ua.Variant, error) { return nil, nil },
		Inputs: []ua.Argument{{Name: "t", DataType: typ.ID(), ValueRank: RankScalar}},
	})
	if err := s.Attach(nil, []uint16{0}); err == nil {
		t.Error("too few indexes")
	}
	if err := s.Attach(nil, []uint16{0, 1}); err != nil {
		t.Fatal(err)
	}
	expect(t, "id", v.ID(), ua.NewStringNodeID(1, "V"))
	expect(t, "name", v.BrowseName(), ua.QualifiedName{NamespaceIndex: 1, Name: "V"})
	expect(t, "found", s.Variable(v.ID()), v)
	expect(t, "value", v.Get().NodeID(), ua.NewNodeID(1, 1))
	in := s.Variable(ua.NewStringNodeID(1, "M.InputArguments"))
	expect(t, "argument", in.Get().Index(0).Structure().(*ua.Argument).DataType, typ.ID())
	expect(t, "type of M", m.more.method.Load().inputs[0].DataType, typ.ID())
}
