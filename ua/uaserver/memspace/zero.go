package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/ns0"
	"github.com/actua/actua/ua/uaid"
)

// readOnly are the bits of AccessLevel that variables of namespace 0 keep: nobody stores what clients
// write there.
const readOnly = ua.AccessLevelTypeCurrentRead

// loadZero fills an empty Space with namespace 0. All nodes and all their references come out of a few
// allocations; values are decoded when they are first read.
func (s *Space) loadZero() {
	list := ns0.Load()
	s.nodes.init(len(list) * 2)
	variables, references := 0, 0
	for i := range list {
		if isVariable(list[i].Class) {
			variables++
		}
		references += len(list[i].References)
	}
	nodes := make([]Node, len(list)-variables)
	vars := make([]Variable, variables)
	extra := make([]more, len(list))
	all := make([]*Node, len(list))
	refs := make([]ref, references)
	kinds := make([]*Node, 0, 128)
	for i := range list {
		z := &list[i]
		var n *Node
		if isVariable(z.Class) {
			v := &vars[0]
			n, vars = &v.Node, vars[1:]
			n.variable = v
			v.access = ua.AccessLevelType(z.AccessLevel) & readOnly
			v.rank = z.ValueRank
			v.set(z.ArrayDimensions, z.MinimumSamplingInterval)
		} else {
			n, nodes = &nodes[0], nodes[1:]
		}
		all[i] = n
		n.space, n.id, n.class = s, ua.ID(z.ID), uint8(z.Class)
		n.name.Name, n.notifier, n.more = z.BrowseName, z.EventNotifier, &extra[i]
		n.refs[forward], n.refs[inverse], refs = split(refs, z)
		n.more.fill(z, &kinds, n)
		s.nodes.insert(n)
	}
	s.kinds.Store(&kinds)
	for i := range list {
		for _, r := range list[i].References {
			t, target := s.zero(r.Type), s.zero(r.Target)
			if r.Forward && t != nil && target != nil {
				s.linkZero(all[i], t, target)
			}
		}
	}
	for i := range list {
		if v := all[i].variable; v != nil {
			v.dataType = s.zero(list[i].DataType)
			v.accepts = builtIn(v.dataType)
		}
	}
	s.remember()
}

// split cuts room for the references of a node off.
func split(refs []ref, z *ns0.Node) (out, in, rest []ref) {
	n := 0
	for i := range z.References {
		if z.References[i].Forward {
			n++
		}
	}
	all := len(z.References)
	return refs[:0:n], refs[n:n:all], refs[all:]
}

func isVariable(c ua.NodeClass) bool {
	return c == ua.NodeClassVariable || c == ua.NodeClassVariableType
}

// fill takes what few nodes have.
func (m *more) fill(z *ns0.Node, kinds *[]*Node, n *Node) {
	if z.DisplayName != z.BrowseName {
		m.display = &ua.LocalizedText{Text: z.DisplayName}
	}
	m.description.Text = z.Description
	m.pending = z.Value
	switch z.Class {
	case ua.NodeClassReferenceType:
		m.typ = &typeInfo{kind: kind(len(*kinds)), symmetric: z.Symmetric, inverse: ua.Text(z.InverseName)}
		*kinds = append(*kinds, n)
	case ua.NodeClassObjectType, ua.NodeClassVariableType:
		m.typ = new(typeInfo)
	case ua.NodeClassDataType:
		m.typ = &typeInfo{encoded: z.Definition}
	}
	if m.typ != nil {
		m.typ.abstract = z.IsAbstract
	}
}

// linkZero adds a reference before anybody else sees the Space.
func (s *Space) linkZero(a, t, b *Node) {
	k := t.more.typ.kind
	switch t.id.Numeric() {
	case uaid.HasSubtype:
		if b.more.typ != nil {
			b.more.typ.super.Store(a)
		}
	case uaid.HasTypeDefinition:
		a.typeDef = b
	}
	link(a, k, b)
}
