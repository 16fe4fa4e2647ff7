package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// describeTypes makes the DataTypeDefinitions and, from them, the descriptions that values of
// structures are read with.
func (im *importer) describeTypes() error {
	for _, n := range im.order {
		if n.Class() == ua.NodeClassDataType {
			if d := im.define(n); d != nil {
				n.more.typ.definition = ua.NewExtensionObject(d).Variant()
			}
		}
	}
	for _, n := range im.order {
		if n.Class() == ua.NodeClassDataType {
			im.info(n.Node)
		}
	}
	im.dropInvalid()
	uris := make([]string, int(im.first)+len(im.uris))
	for i := range uris {
		uris[i] = im.uri(uint16(i))
	}
	im.table.SetNamespaces(uris)
	for _, n := range im.order {
		info := im.infos[n.Node]
		if info == nil {
			continue
		}
		im.coded[n.id] = info
		if info.BinaryID.IsNull() {
			continue
		}
		im.table.Register(info.New)
		for _, id := range []ua.ExpandedNodeID{info.BinaryID, info.XMLID, info.JSONID} {
			if !id.IsNull() {
				im.coded[id.NodeID] = info
			}
		}
	}
	return nil
}

// define makes the DataTypeDefinition of a data type, with the fields of its base types.
func (im *importer) define(n *newNode) ua.Structure {
	if n.def == nil && !n.defining {
		n.defining = true
		n.def = n.file.set.DataTypeDefinition(n.src, im.baseDefinition)
		n.defining = false
	}
	return n.def
}

// baseDefinition is the definition of a base type from another file or the Space; nil if it is no
// structure.
func (im *importer) baseDefinition(id ua.NodeID) *ua.StructureDefinition {
	t := im.find(id)
	if t == nil || !isSubtype(t, im.s.zero(uaid.Structure)) {
		return nil
	}
	if def := im.structureDefinition(t); def != nil {
		return def
	}
	return new(ua.StructureDefinition) // an abstract structure without fields
}

func (im *importer) structureDefinition(t *Node) *ua.StructureDefinition {
	var d ua.Structure
	if n := im.nodes[t.id]; n != nil {
		d = im.define(n)
	} else {
		d = t.info().definitionOf().Structure()
	}
	def, _ := d.(*ua.StructureDefinition)
	return def
}

// info describes a structure; nil for what is none, an abstract one, and one whose definition is
// missing or cannot be followed: values of those keep their XML.
func (im *importer) info(t *Node) *ua.StructureInfo {
	if t.id.Namespace() == 0 && t.id.Type() == ua.IDTypeNumeric {
		return ua.StructureOf(t.id.Numeric())
	}
	if info, ok := im.infos[t]; ok {
		return info
	}
	if info := t.info().structure; info != nil {
		return info
	}
	n := im.nodes[t.id]
	if n == nil || t.info().abstract || !isSubtype(t, im.s.zero(uaid.Structure)) {
		return nil
	}
	def := im.structureDefinition(t)
	if def == nil {
		return nil
	}
	set := n.file.set
	info := &ua.StructureInfo{
		Name: n.name.Name, Kind: def.StructureType.Kind(), DataTypeID: im.expanded(n.id), BinaryID: im.expanded(def.DefaultEncodingID),
		XMLID: im.expanded(set.Encoding(n.src, "Default XML")), JSONID: im.expanded(set.Encoding(n.src, "Default JSON")),
	}
	info.New = func() ua.Structure { return ua.NewDynamicStructure(info) }
	im.infos[t] = info
	fields := make([]ua.Field, len(def.Fields))
	for i := range def.Fields {
		var ok bool
		if fields[i], ok = im.field(def, i); !ok {
			im.infos[t] = nil
			return nil
		}
	}
	info.Fields = fields
	return info
}

// expanded names the namespace by its URI, so that a description stays right when the server gives
// other indexes; the index is that of now.
func (im *importer) expanded(id ua.NodeID) ua.ExpandedNodeID {
	e := id.Expanded()
	if !id.IsNull() {
		e.NamespaceURI = im.uri(id.Namespace())
	}
	return e
}

// field describes one field; false when that cannot be done.
func (im *importer) field(def *ua.StructureDefinition, i int) (ua.Field, bool) {
	d := &def.Fields[i]
	f, subtypes := def.Field(i)
	t := im.find(d.DataType)
	if t == nil || t.Class() != ua.NodeClassDataType || d.ValueRank != 1 && d.ValueRank != RankScalar {
		return f, false
	}
	f.Type = ua.TypeVariant // of an abstract type, such as Number
	types := builtIn(t)
	if types != 0 && types&(types-1) == 0 {
		for f.Type = ua.TypeBoolean; !types.has(f.Type); f.Type++ {
		}
	}
	switch {
	case f.Type == ua.TypeInt32 && t.id.Namespace() == 0:
		f.Enum = ua.EnumOf(t.id.Numeric())
	case f.Type == ua.TypeExtensionObject && !subtypes && !t.info().abstract && isSubtype(t, im.s.zero(uaid.Structure)) && t != im.s.zero(uaid.Structure):
		f.Struct = im.info(t)
		return f, f.Struct != nil
	}
	return f, true
}

// dropInvalid takes out descriptions that hold one that could not be made, or contain themselves
// without end.
func (im *importer) dropInvalid() {
	valid := map[*ua.StructureInfo]bool{}
	for _, info := range im.infos {
		valid[info] = info != nil && !info.Endless()
	}
	for again := true; again; {
		again = false
		for _, info := range im.infos {
			if !valid[info] {
				continue
			}
			for i := range info.Fields {
				if s := info.Fields[i].Struct; s != nil {
					if ok, ours := valid[s]; ours && !ok || !ours && s.New == nil {
						valid[info], again = false, true
					}
				}
			}
		}
	}
	for t, info := range im.infos {
		if !valid[info] {
			delete(im.infos, t)
		}
	}
}

// structure describes a structure for values, by the id of the data type or of an encoding. The id of
// its binary encoding has the index of now.
func (im *importer) structure(id ua.NodeID) *ua.StructureInfo {
	if id.Namespace() == 0 {
		return nil // package nodeset knows those
	}
	info := im.coded[id]
	if info == nil {
		t := im.s.nodes.find(id)
		if t == nil {
			return nil
		}
		if t.Class() != ua.NodeClassDataType {
			if t = im.s.dataTypeOf(&ua.ExtensionObject{TypeID: id}); t == nil || t.info() == nil {
				return nil
			}
		}
		if info = t.info().structure; info == nil {
			return nil
		}
	}
	binary, ok := im.local(info.BinaryID)
	if !ok || binary.IsNull() {
		return nil
	}
	now := *info
	now.BinaryID = binary.Expanded()
	return &now
}

// local is an id with the index that its namespace has now.
func (im *importer) local(id ua.ExpandedNodeID) (ua.NodeID, bool) {
	if id.NamespaceURI == "" {
		return id.NodeID, true
	}
	i, ok := im.index(id.NamespaceURI)
	return id.NodeID.WithNamespace(i), ok
}

// dataTypeOf is Space.dataTypeOf with the nodes that are about to come.
func (im *importer) dataTypeOf(e *ua.ExtensionObject) *Node {
	if e.Value != nil {
		id, ok := im.local(e.Value.DataTypeID())
		if !ok {
			return nil
		}
		return im.find(id)
	}
	if t := im.encodes[e.TypeID]; t != nil {
		return t
	}
	if t := im.find(e.TypeID); t != nil && t.Class() == ua.NodeClassDataType {
		return t
	}
	return im.s.dataTypeOf(e)
}
