package memspace

import (
	"slices"

	"github.com/actua/actua/ua"
)

// renumber gives the own namespaces other indexes: in node ids, browse names, and where values name
// nodes or types. It is done once, before the server serves. Space.mu is held.
func (s *Space) renumber(indexes []uint16) {
	old := *s.indexes.Load()
	if slices.Equal(old, indexes) {
		return
	}
	m := make(indexMap, len(old))
	for i, from := range old {
		m[from] = indexes[i]
	}
	var nodes []*Node
	s.nodes.each(func(n *Node) bool {
		nodes = append(nodes, n)
		return true
	})
	fresh := make([]uint16, len(indexes))
	copy(fresh, indexes)
	for _, n := range nodes {
		n.mu.Lock()
		n.dropIndex()
		n.mu.Unlock()
		if n.id.Namespace() != 0 {
			n.rename(m)
		}
	}
	for uri, from := range s.models {
		from.model.RolePermissions = m.roles(from.model.RolePermissions)
		s.models[uri] = from
	}
	s.indexes.Store(&fresh)
	s.nodes.slots.Store(nil)
	s.nodes.live = 0
	s.nodes.resize(len(nodes))
	for _, n := range nodes {
		s.nodes.insert(n)
	}
}

// indexMap translates namespace indexes; those that it does not have stay as they are.
type indexMap map[uint16]uint16

func (m indexMap) index(i uint16) uint16 {
	if to, ok := m[i]; ok {
		return to
	}
	return i
}

func (m indexMap) id(n ua.NodeID) ua.NodeID { return n.WithNamespace(m.index(n.Namespace())) }

func (m indexMap) roles(list []ua.RolePermissionType) []ua.RolePermissionType {
	list = slices.Clone(list)
	for i := range list {
		list[i].RoleID = m.id(list[i].RoleID)
	}
	return list
}

func (n *Node) rename(m indexMap) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id = m.id(n.id)
	n.name.NamespaceIndex = m.index(n.name.NamespaceIndex)
	if n.variable != nil {
		n.variable.value.Value = m.value(n.variable.value.Value)
	}
	if n.more == nil {
		return
	}
	if p := n.more.protection; p != nil {
		n.more.protection = &protection{m.roles(p.roles), p.restrictions, p.restricted}
	}
	if n.more.typ != nil {
		n.more.typ.definition = m.value(n.more.typ.definition)
	}
	if f := n.more.method.Load(); f != nil {
		m.arguments(f.inputs)
		m.arguments(f.outputs)
	}
}

func (m indexMap) arguments(list []argument) {
	for i := range list {
		list[i].DataType = m.id(list[i].DataType)
	}
}

// value translates the indexes in values that name nodes, in the structures of namespace 0 that
// describe types, and in structures of which a description is all that is known. Values of other
// structures are left as they are.
func (m indexMap) value(v ua.Variant) ua.Variant {
	if v.IsArray() {
		return m.array(v)
	}
	switch v.Type() {
	case ua.TypeNodeID:
		return m.id(v.NodeID()).Variant()
	case ua.TypeExpandedNodeID:
		e, _ := ua.As[ua.ExpandedNodeID](v)
		if e.IsLocal() {
			e.NodeID = m.id(e.NodeID)
		}
		return e.Variant()
	case ua.TypeQualifiedName:
		q, _ := ua.As[ua.QualifiedName](v)
		q.NamespaceIndex = m.index(q.NamespaceIndex)
		return q.Variant()
	case ua.TypeExtensionObject:
		e, _ := ua.As[ua.ExtensionObject](v)
		return m.object(e).Variant()
	}
	return v
}

func (m indexMap) array(v ua.Variant) ua.Variant {
	if len(v.Dimensions()) != 1 || v.IsNull() {
		return v
	}
	switch v.Type() {
	case ua.TypeNodeID:
		list, _ := ua.ArrayOf[ua.NodeID](v)
		list = slices.Clone(list)
		for i := range list {
			list[i] = m.id(list[i])
		}
		return ua.Array(list)
	case ua.TypeExpandedNodeID, ua.TypeQualifiedName, ua.TypeVariant:
		return m.elements(v)
	case ua.TypeExtensionObject:
		list, _ := ua.ArrayOf[ua.ExtensionObject](v)
		list = slices.Clone(list)
		for i := range list {
			list[i] = m.object(list[i])
		}
		return ua.Array(list)
	}
	return v
}

func (m indexMap) elements(v ua.Variant) ua.Variant {
	switch v.Type() {
	case ua.TypeExpandedNodeID:
		list, _ := ua.ArrayOf[ua.ExpandedNodeID](v)
		list = slices.Clone(list)
		for i := range list {
			if list[i].IsLocal() {
				list[i].NodeID = m.id(list[i].NodeID)
			}
		}
		return ua.Array(list)
	case ua.TypeQualifiedName:
		list, _ := ua.ArrayOf[ua.QualifiedName](v)
		list = slices.Clone(list)
		for i := range list {
			list[i].NamespaceIndex = m.index(list[i].NamespaceIndex)
		}
		return ua.Array(list)
	default:
		list, _ := ua.ArrayOf[ua.Variant](v)
		list = slices.Clone(list)
		for i := range list {
			list[i] = m.value(list[i])
		}
		return ua.Array(list)
	}
}

// dynamic is a copy of a structure with other indexes in its fields.
func (m indexMap) dynamic(d *ua.DynamicStructure) *ua.DynamicStructure {
	out := ua.NewDynamicStructure(d.StructureInfo())
	for i := range d.StructureInfo().Fields {
		f := &d.StructureInfo().Fields[i]
		if v, _ := d.Get(f.Name); v.Type() != ua.TypeNull {
			_ = out.Set(f.Name, m.value(v)) // it is of the same type
		}
	}
	return out
}

func (m indexMap) object(e ua.ExtensionObject) ua.ExtensionObject {
	e.TypeID = m.id(e.TypeID)
	switch x := e.Value.(type) {
	case *ua.DynamicStructure:
		e.Value = m.dynamic(x)
	case *ua.Argument:
		a := *x
		a.DataType = m.id(a.DataType)
		e.Value = &a
	case *ua.StructureDefinition:
		d := *x
		d.DefaultEncodingID, d.BaseDataType = m.id(d.DefaultEncodingID), m.id(d.BaseDataType)
		d.Fields = slices.Clone(d.Fields)
		for i := range d.Fields {
			d.Fields[i].DataType = m.id(d.Fields[i].DataType)
		}
		e.Value = &d
	}
	return e
}
