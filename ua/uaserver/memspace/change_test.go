package memspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// nodeVersionOf is the value of a node's NodeVersion, as a client reads it.
func nodeVersionOf(t *testing.T, s *Space, n *Node) string {
	t.Helper()
	p := n.child(uaid.HasProperty, ua.QualifiedName{Name: nodeVersion})
	if p == nil {
		t.Fatalf("%v has no NodeVersion", n.id)
	}
	d := read(s, p.id, ua.AttributeValue)
	text, ok := ua.As[string](d.Value)
	if d.Status != ua.Good || !ok || text == "" || d.SourceTimestamp == 0 {
		t.Fatalf("NodeVersion of %v: %+v", n.id, d)
	}
	return text
}

// What changes the structure is counted once, what does not is not.
func TestModelVersion(t *testing.T) {
	s := newSpace(t)
	expect(t, "at first", s.ModelVersion(), 0)
	var f, g *Node
	var v *Variable
	organizes := ua.ID(uaid.Organizes)
	for _, x := range []struct {
		what string
		do   func()
		more uint64
	}{
		{"a folder", func() { f = s.AddFolder(s.Objects(), "F") }, 1},
		{"a variable", func() { v = s.AddVariable(f, "V", ua.Int32(1), Writable(), WithWriteMask(ua.WriteMaskDisplayName)) }, 1},
		{"one that has the NodeVersion", func() { g = s.AddFolder(f, "G", WithNodeVersion()) }, 1},
		{"one that cannot be added", func() { s.AddVariable(f, "V", ua.Int32(1)) }, 0},
		{"a value", func() { write(s, v.ID(), ua.Int32(2)); _ = v.Set(ua.Int32(3)) }, 0},
		{"a text", func() { v.SetDisplayName(ua.Text("x")) }, 0},
		{"a reference", func() { _ = s.AddReference(f.ID(), organizes, v.ID()) }, 1},
		{"the same again", func() { _ = s.AddReference(f.ID(), organizes, v.ID()) }, 0},
		{"no reference", func() { _ = s.RemoveReference(v.ID(), organizes, f.ID()) }, 0},
		{"the reference", func() { _ = s.RemoveReference(f.ID(), organizes, v.ID()) }, 1},
		{"a reference elsewhere", func() { _ = s.AddReference(f.ID(), organizes, ua.NewNodeID(99, 1)) }, 1},
		{"namespace 0", func() { _ = s.Remove(s.Objects()) }, 0},
		{"the subtree", func() { _ = s.Remove(f) }, 1},
		{"again", func() { _ = s.Remove(f) }, 0},
	} {
		before := s.ModelVersion()
		x.do()
		expect(t, x.what, s.ModelVersion()-before, x.more)
	}
	if s.Node(g.ID()) == nil || s.Node(v.ID()) != nil {
		t.Error("G, which F organizes, stays; V, its component, goes")
	}
}

// NodeVersion changes when a reference of its node comes or goes, and only then (Part 3, 9.32.2).
func TestNodeVersion(t *testing.T) {
	s := newSpace(t)
	line := s.AddObject(s.Objects(), "Line", WithNodeVersion())
	other := s.AddObject(s.Objects(), "Other")
	kind := s.AddType(s.zero(uaid.BaseObjectType), "Kind", WithNodeVersion())
	variable := s.AddVariable(other, "Versioned", ua.Int32(1), WithNodeVersion())
	method := s.AddMethod(other, "M", Func0(func(Call) (None, error) { return None{}, nil }), WithNodeVersion())
	for _, n := range []*Node{line, kind, variable.node(), method} {
		p := n.child(uaid.HasProperty, ua.QualifiedName{Name: nodeVersion})
		if p == nil || p.Variable().DataType() != ua.ID(uaid.String) || p.typeDef != s.known.property {
			t.Fatalf("%v: %v", n.id, p)
		}
		if status := write(s, p.id, ua.String("mine")); status != ua.BadNotWritable {
			t.Errorf("write: %v", status)
		}
	}
	seen := map[string]bool{}
	check := func(what string, n *Node, want bool, do func()) {
		t.Helper()
		before := nodeVersionOf(t, s, n)
		seen[before] = true
		do()
		after := nodeVersionOf(t, s, n)
		expect(t, what, after != before, want)
		if want && seen[after] {
			t.Errorf("%s: the version %s was there before", what, after)
		}
	}
	var v *Variable
	check("a child", line, true, func() { v = s.AddVariable(line, "V", ua.Double(0)) })
	check("a child of the child", line, false, func() { s.AddProperty(v, "P", ua.Int32(0)) })
	check("a value", line, false, func() { _ = v.Set(ua.Double(1)) })
	check("a child elsewhere", line, false, func() { s.AddVariable(other, "V", ua.Double(0)) })
	check("a reference to it", line, true, func() { _ = s.AddReference(other.id, ua.ID(uaid.Organizes), line.id) })
	check("that one removed", line, true, func() { _ = s.RemoveReference(other.id, ua.ID(uaid.Organizes), line.id) })
	check("the child removed", line, true, func() { _ = s.Remove(v) })
	check("an instance", kind, false, func() {
		v = s.AddVariable(other, "I", ua.Int32(1))
		s.AddObject(other, "O", WithTypeDefinition(kind.id))
	})
	check("a subtype", kind, true, func() { s.AddType(kind, "Sub") })
	check("a component of a type", kind, true, func() { s.AddVariable(kind, "Component", ua.Int32(1)) })
	check("a variable's property", variable.node(), true, func() { s.AddProperty(variable, "Q", ua.Int32(1)) })

	// Made by hand, and removed: then the node has none, and nothing is kept.
	p := s.AddProperty(other, nodeVersion, ua.String("1"), WithBrowseName(ua.QualifiedName{Name: nodeVersion}))
	check("by hand", other, true, func() { s.AddVariable(other, "W", ua.Double(0)) })
	if err := s.RemoveReference(other.id, ua.ID(uaid.HasProperty), p.ID()); err != nil || other.versioned {
		t.Error(err, other.versioned)
	}
	before := p.Get().String()
	s.AddVariable(other, "X", ua.Double(0))
	expect(t, "no longer a version", p.Get().String(), before)
	if err := s.AddReference(other.id, ua.ID(uaid.HasProperty), p.ID()); err != nil || p.Get().String() == before {
		t.Error("attached again", err, p.Get())
	}
	if err := s.Remove(p); err != nil || other.versioned {
		t.Error(err, other.versioned)
	}
	for _, n := range []Referent{line, kind, other} {
		if err := s.Remove(n); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "versions that are left", len(s.model.versions), 0)
}

// What has the name but cannot be a version is left alone; an id that is taken leaves nothing behind.
func TestNodeVersionOfAnotherKind(t *testing.T) {
	s := newSpace(t)
	zero := WithBrowseName(ua.QualifiedName{Name: nodeVersion})
	for i, p := range []func(n *Node) *Variable{
		func(n *Node) *Variable { return s.AddProperty(n, "Number", ua.Int32(1), zero) },
		func(n *Node) *Variable { return s.AddProperty(n, "Array", ua.Array([]string{"1"}), zero) },
		func(n *Node) *Variable { return s.AddVariable(n, "Component", ua.String("1"), zero) },
		func(n *Node) *Variable { return s.AddProperty(n, "Own name", ua.String("1")) },
	} {
		n := s.AddFolder(s.Objects(), fmt.Sprint("F", i))
		v := p(n)
		before := v.Get()
		s.AddFolder(n, "Child")
		if v.Err() != nil || n.versioned || v.Get().String() != before.String() {
			t.Errorf("%v: %v, versioned %v, %v", v.name, v.Err(), n.versioned, v.Get())
		}
	}
	s.AddFolder(s.Objects(), "Taken", WithNodeID(ua.NewStringNodeID(2, "N.NodeVersion")))
	expect(t, "no error so far", s.Err(), nil)
	n := s.AddFolder(s.Objects(), "N", WithNodeVersion())
	if n.Err() == nil || s.Node(ua.NewStringNodeID(2, "N")) != nil {
		t.Error("a folder whose NodeVersion cannot be added", n.Err())
	}
}

// An import is one change. Versions in files stay until something changes; a reference to a node that
// was there before is a change of that node.
func TestImportIsOneChange(t *testing.T) {
	from := newSpace(t)
	root := from.AddFolder(from.Objects(), "Root", WithNodeVersion())
	kind := from.AddType(from.zero(uaid.BaseObjectType), "Kind")
	rule := from.AddProperty(kind, nodeVersion, ua.String("rule"), WithBrowseName(ua.QualifiedName{Name: nodeVersion}))
	if err := from.AddReference(rule.ID(), ua.ID(uaid.HasModellingRule), ua.ID(uaid.ModellingRule_Mandatory)); err != nil {
		t.Fatal(err)
	}
	_ = rule.Set(ua.String("rule")) // a type of an application would come with it
	for i := range 100 {
		from.AddVariable(root, fmt.Sprint("V", i), ua.Int32(1))
	}
	var file strings.Builder
	if err := from.ExportModels(&file, testURI); err != nil || from.Err() != nil {
		t.Fatal(err, from.Err())
	}
	s := New("urn:test:other")
	if v := s.AddProperty(s.Objects(), nodeVersion, ua.String(""), WithBrowseName(ua.QualifiedName{Name: nodeVersion})); v.Err() != nil {
		t.Fatal(v.Err())
	}
	before, objects := s.ModelVersion(), nodeVersionOf(t, s, s.Objects())
	changes := 0
	s.watchModel(func() { changes++ })
	if _, err := s.Import(ImportOptions{}, NodeSetSource{"file", []byte(file.String())}); err != nil {
		t.Fatal(err)
	}
	expect(t, "changes", s.ModelVersion()-before, 1)
	expect(t, "told", changes, 1)
	if nodeVersionOf(t, s, s.Objects()) == objects {
		t.Error("the version of Objects stayed")
	}
	lines, complete := s.takeChanges()
	if !complete || len(lines) != 2 {
		t.Errorf("%+v %v", lines, complete)
	}
	ns, _ := s.index(testURI)
	copied := s.Node(ua.NewStringNodeID(ns, "Root"))
	expect(t, "version of the file", nodeVersionOf(t, s, copied), nodeVersionOf(t, from, root))
	s.AddFolder(copied, "New", WithNodeID(ua.NewNodeID(2, 5)))
	if nodeVersionOf(t, s, copied) == nodeVersionOf(t, from, root) {
		t.Error("the version of the imported node stayed")
	}
	s.AddType(s.Node(ua.NewStringNodeID(ns, kind.id.Text())), "Sub")
	expect(t, "an instance declaration", s.Variable(ua.NewStringNodeID(ns, rule.ID().Text())).Get().String(), ua.String("rule").String())
	if _, err := s.Import(ImportOptions{}, NodeSetSource{"again", []byte(file.String())}); err == nil || s.ModelVersion() != before+3 {
		t.Error("an import that failed", err, s.ModelVersion()-before)
	}
}

// The journal lists nodes that have a NodeVersion, a line each, and tells once until it is taken.
func TestJournal(t *testing.T) {
	s := newSpace(t)
	told := 0
	s.watchModel(func() {
		told++
		s.AddFolder(s.Objects(), fmt.Sprint("From the callback", told)) // no lock is held
	})
	plain := s.AddFolder(s.Objects(), "Plain")
	expect(t, "told of a node without version", told, 0)
	f := s.AddFolder(plain, "F", WithNodeVersion())
	expect(t, "told", told, 1)
	v := s.AddVariable(f, "V", ua.Int32(1))
	w := s.AddVariable(f, "W", ua.Int32(1), WithNodeVersion())
	_ = s.Remove(v)
	expect(t, "told before the journal was taken", told, 1)
	lines, complete := s.takeChanges()
	const added, deleted, refAdded, refDeleted = 1, 2, 4, 8
	want := []ua.ModelChangeStructureDataType{
		{Affected: f.id, AffectedType: ua.ID(uaid.FolderType), Verb: added | refAdded | refDeleted},
		{Affected: w.id, AffectedType: ua.ID(uaid.BaseDataVariableType), Verb: added | refAdded},
	}
	if !complete || fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%v %+v, want %+v", complete, lines, want)
	}
	if lines, complete = s.takeChanges(); len(lines) > 0 || !complete {
		t.Errorf("taken twice: %+v %v", lines, complete)
	}
	_ = s.Remove(f)
	expect(t, "told again", told, 2)
	lines, _ = s.takeChanges()
	if len(lines) != 2 || lines[0].Affected != f.id || lines[0].Verb&deleted == 0 || lines[1].Affected != w.id || lines[1].Verb&deleted == 0 {
		t.Errorf("removed: %+v", lines)
	}

	// Too many: nothing but that something changed, in bounded memory, and then lines again.
	for i := range mostChanges + 10 {
		s.AddFolder(plain, fmt.Sprint("G", i), WithNodeVersion())
	}
	if j := s.model.journal; len(j.lines) > mostChanges || len(j.at) > mostChanges {
		t.Error("the journal is not bounded")
	}
	if lines, complete = s.takeChanges(); complete || len(lines) > 0 {
		t.Errorf("overflow: %d lines, complete %v", len(lines), complete)
	}
	s.AddFolder(plain, "Last", WithNodeVersion())
	if lines, complete = s.takeChanges(); !complete || len(lines) != 1 {
		t.Errorf("after the overflow: %+v %v", lines, complete)
	}
	s.watchModel(nil)
	s.AddFolder(plain, "Unseen", WithNodeVersion())
	expect(t, "told when nobody watches", told, 4)
	if lines, complete = s.takeChanges(); len(lines) > 0 || !complete {
		t.Errorf("when nobody watches: %+v %v", lines, complete)
	}
}

// Many changes of one node cost little, and the NodeVersion of a Space begins anew with it.
func TestManyChangesAreCheap(t *testing.T) {
	s := newSpace(t)
	f := s.AddFolder(s.Objects(), "F", WithNodeVersion())
	v := s.AddVariable(f, "V", ua.Int32(1))
	n := testing.AllocsPerRun(1000, func() {
		_ = s.AddReference(f.id, ua.ID(uaid.Organizes), v.id)
		_ = s.RemoveReference(f.id, ua.ID(uaid.Organizes), v.id)
	})
	if n > 10 { // two texts; lists grow now and then
		t.Errorf("%v allocations for two changes", n)
	}
	again := newSpace(t)
	g := again.AddFolder(again.Objects(), "F", WithNodeVersion())
	if again.model.epoch == s.model.epoch || strings.HasPrefix(nodeVersionOf(t, again, g), s.model.epoch) {
		t.Error("two Spaces give the same NodeVersions")
	}
}
