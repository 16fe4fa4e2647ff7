package memspace

import (
	"errors"
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/nodeset"
	"github.com/actua/actua/ua/uaid"
)

// at is the place of a node in its file, for errors.
func (n *newNode) at(err error) ImportError {
	return ImportError{File: n.file.Name, Line: n.src.Line, Node: n.src.Label, Err: err}
}

// find is a node that is there already or about to come.
func (im *importer) find(id ua.NodeID) *Node {
	if n := im.nodes[id]; n != nil {
		return n.Node
	}
	return im.s.nodes.find(id)
}

// create makes the nodes, without references and values.
func (im *importer) create() error {
	for _, f := range im.files {
		for _, src := range f.set.Nodes {
			n := &newNode{Node: im.make(src), src: src, file: f}
			if err := im.check(n); err != nil {
				if err := im.problem(n.at(err)); err != nil {
					return err
				}
				im.skipped[src.ID] = im.find(src.ID) == nil
				continue
			}
			im.nodes[src.ID] = n
			im.order = append(im.order, n)
		}
	}
	for _, n := range im.order {
		v := n.variable
		if v == nil {
			continue
		}
		if v.dataType = im.find(n.src.DataType); v.dataType == nil || v.dataType.Class() != ua.NodeClassDataType {
			if err := im.problem(n.at(fmt.Errorf("the data type %s is in none of the nodesets", im.text(n.src.DataType)))); err != nil {
				return err
			}
			im.skip(n)
		}
	}
	// Children go with their parents, which may stand behind them.
	for again := len(im.skipped) > 0; again; {
		again = false
		for _, n := range im.order {
			if im.nodes[n.id] == n && im.skipped[n.src.Parent] {
				if err := im.problem(n.at(errors.New("its parent is left out"))); err != nil {
					return err
				}
				im.skip(n)
				again = true
			}
		}
	}
	kept := im.order[:0]
	for _, n := range im.order {
		if im.nodes[n.id] == n {
			kept = append(kept, n)
		}
	}
	im.order = kept
	return nil
}

func (im *importer) skip(n *newNode) {
	delete(im.nodes, n.id)
	im.skipped[n.id] = true
}

// check says what is wrong with a node by itself.
func (im *importer) check(n *newNode) error {
	if other := im.nodes[n.id]; other != nil {
		return fmt.Errorf("the node is in %s too, line %d", other.file.Name, other.src.Line)
	}
	switch {
	case im.s.nodes.find(n.id) != nil:
		return fmt.Errorf("the address space has a node with this id already: %w", ua.BadNodeIdExists)
	case n.id.Namespace() == 0:
		return errors.New("namespace 0 is built in, and has no such node")
	case n.name.Name == "" || len(n.name.Name) > 512:
		return ua.BadBrowseNameInvalid
	}
	return nil
}

// text is an id for people, with its namespace as URI.
func (im *importer) text(id ua.NodeID) string {
	e := id.Expanded()
	if e.NamespaceURI = im.uri(id.Namespace()); e.NamespaceURI != "" {
		e.NodeID = e.NodeID.WithNamespace(0)
	}
	return e.String()
}

// make is a node with its attributes.
func (im *importer) make(src *nodeset.Node) *Node {
	n := &Node{space: im.s}
	if isVariable(src.Class) {
		v := &Variable{Node: Node{space: im.s}, rank: src.ValueRank, access: ua.AccessLevelType(src.AccessLevel)}
		v.variable = v
		n = &v.Node
		if len(src.ArrayDimensions) > 0 || src.MinimumSamplingInterval != 0 || src.Historizing {
			v.hooks = &hooks{dims: src.ArrayDimensions, sampling: src.MinimumSamplingInterval, historizing: src.Historizing}
		}
	}
	n.id, n.name, n.class, n.notifier = src.ID, src.BrowseName, uint8(src.Class), src.EventNotifier
	if d := src.DisplayName[0]; d != (ua.LocalizedText{Text: n.name.Name}) {
		n.extend().display = &d
	}
	if len(src.Description) > 0 {
		n.extend().description = src.Description[0]
	}
	if src.HasAccessRestrictions || len(src.RolePermissions) > 0 {
		n.extend().protection = &protection{src.RolePermissions, src.AccessRestrictions, src.HasAccessRestrictions}
	}
	// The other attributes cannot be written.
	if mask := ua.WriteMask(src.WriteMask) & (ua.WriteMaskDisplayName | ua.WriteMaskDescription); mask != 0 {
		n.extend().writeMask = mask
	}
	switch src.Class {
	case ua.NodeClassMethod:
		n.extend()
		n.idle = !src.Executable
	case ua.NodeClassView:
		n.extend().noLoops = src.ContainsNoLoops
	case ua.NodeClassObjectType, ua.NodeClassVariableType, ua.NodeClassDataType:
		n.extend().typ = &typeInfo{abstract: src.IsAbstract}
	case ua.NodeClassReferenceType:
		n.extend().typ = &typeInfo{abstract: src.IsAbstract, symmetric: src.Symmetric}
		if len(src.InverseName) > 0 {
			n.more.typ.inverse = src.InverseName[0]
		}
	}
	return n
}

// connect finds both ends of all references, each once, however often the files have them.
func (im *importer) connect() error {
	seen := map[newLink]bool{}
	add := func(l newLink) {
		if !seen[l] {
			seen[l] = true
			im.links = append(im.links, l)
		}
	}
	hierarchical := im.s.zero(uaid.HierarchicalReferences)
	for _, n := range im.order {
		for _, r := range n.src.References {
			if im.skipped[r.Target] {
				continue
			}
			l := newLink{n.Node, im.find(r.Type), im.find(r.Target)}
			var err error
			switch {
			case l.kind == nil || l.kind.Class() != ua.NodeClassReferenceType:
				err = fmt.Errorf("the reference type %s is in none of the nodesets", im.text(r.Type))
			case l.b == nil:
				err = fmt.Errorf("the node %s, to which a reference leads, is in none of the nodesets", im.text(r.Target))
			case !r.Forward:
				l.a, l.b = l.b, l.a
			}
			if err == nil {
				err = im.note(l)
			}
			if err == nil {
				add(l)
			} else if err := im.problem(n.at(err)); err != nil {
				return err
			}
		}
	}
	// What the files leave out: a type definition, and the reference from the parent that an attribute
	// names.
	placed := map[*Node]bool{}
	for _, l := range im.links {
		if isSubtype(l.kind, hierarchical) {
			placed[l.b] = true
		}
	}
	for _, n := range im.order {
		if n.typeDef == nil {
			switch n.Class() {
			case ua.NodeClassObject:
				n.typeDef = im.s.known.baseObject
			case ua.NodeClassVariable:
				n.typeDef = im.s.known.dataVariable
			}
			if n.typeDef != nil {
				add(newLink{n.Node, im.s.zero(uaid.HasTypeDefinition), n.typeDef})
			}
		}
		if parent := im.find(n.src.Parent); parent != nil && !placed[n.Node] {
			add(newLink{parent, im.parentReference(n), n.Node})
		}
	}
	return nil
}

func (im *importer) parentReference(n *newNode) *Node {
	switch {
	case n.info() != nil:
		return im.s.zero(uaid.HasSubtype)
	case n.typeDef == im.s.known.property:
		return im.s.zero(uaid.HasProperty)
	}
	return im.s.zero(uaid.HasComponent)
}

// note takes from a reference what nodes know about themselves.
func (im *importer) note(l newLink) error {
	if l.kind.id.Namespace() != 0 {
		return nil
	}
	switch l.kind.id.Numeric() {
	case uaid.HasSubtype:
		if l.a.info() == nil || l.b.info() == nil || l.a.class != l.b.class {
			return fmt.Errorf("HasSubtype from %s to %s does not join two types of one kind", im.text(l.a.id), im.text(l.b.id))
		}
		if im.nodes[l.b.id] != nil {
			l.b.info().super.CompareAndSwap(nil, l.a)
		}
	case uaid.HasTypeDefinition:
		want := ua.NodeClassObjectType
		if l.a.Class() == ua.NodeClassVariable {
			want = ua.NodeClassVariableType
		}
		if l.b.Class() != want || l.a.Class() != ua.NodeClassObject && l.a.Class() != ua.NodeClassVariable {
			return fmt.Errorf("%s is no type for a node of class %v", im.text(l.b.id), l.a.Class())
		}
		if l.a.typeDef != l.b {
			if l.a.typeDef != nil || im.nodes[l.a.id] == nil {
				return fmt.Errorf("%s has two type definitions", im.text(l.a.id))
			}
			l.a.typeDef = l.b
		}
	case uaid.HasEncoding:
		im.encodes[l.b.id] = l.a
	}
	return nil
}

// fill decodes the values.
func (im *importer) fill() error {
	now := ua.Now()
	for _, n := range im.order {
		v := n.variable
		if v == nil {
			continue
		}
		v.accepts = builtIn(v.dataType)
		value, err := n.file.set.DecodeValue(n.src)
		if err != nil {
			e := located(n.file.Name, err)
			e.Node = n.src.Label
			if err := im.problem(e); err != nil {
				return err
			}
			value = ua.Variant{}
		}
		if value.Type() != ua.TypeNull {
			fit, ok := im.accept(v, value)
			if !ok {
				err := fmt.Errorf("the value, %s, does not fit the data type %s with rank %d", describeValue(value), im.text(v.dataType.id), v.rank)
				im.report.Doubtful = append(im.report.Doubtful, n.at(err))
			}
			value = fit
		}
		switch {
		case value.Type() != ua.TypeNull:
			v.value = ua.DataValue{Value: value, SourceTimestamp: now}
		case n.Class() == ua.NodeClassVariable:
			v.value = ua.DataValue{Status: ua.BadWaitingForInitialData, SourceTimestamp: now}
		}
	}
	return nil
}

// describeValue describes a value in a message.
func describeValue(v ua.Variant) string {
	switch n := len(v.Dimensions()); {
	case n == 0:
		return "a single " + v.Type().String()
	case n == 1:
		return "an array of " + v.Type().String()
	default:
		return fmt.Sprintf("an array of %s with %d dimensions", v.Type(), n)
	}
}

// accept is Space.accept for a variable whose data type may not be in the Space yet.
func (im *importer) accept(v *Variable, x ua.Variant) (ua.Variant, bool) {
	if x.Type() != ua.TypeExtensionObject {
		return v.accept(x)
	}
	list, _ := ua.ArrayOf[ua.ExtensionObject](x)
	if e, ok := ua.As[ua.ExtensionObject](x); ok {
		list = []ua.ExtensionObject{e}
	}
	if !v.accepts.has(ua.TypeExtensionObject) || !rankFits(x, v.rank, v.rare().dims) {
		return x, false
	}
	if v.dataType == im.s.known.baseDataType || v.dataType.id == ua.ID(uaid.Structure) {
		return x, true
	}
	for i := range list {
		if !list[i].IsNull() && !isSubtype(im.dataTypeOf(&list[i]), v.dataType) {
			return x, false
		}
	}
	return x, true
}

// commit adds all nodes: first with the references among themselves, last those that lead to them, so
// that whoever finds a node finds it complete. It returns the types for the server to decode.
func (im *importer) commit() ([]func() ua.Structure, error) {
	s := im.s
	kinds := *s.kinds.Load()
	kinds = append(make([]*Node, 0, len(kinds)+16), kinds...)
	for _, n := range im.order {
		if n.Class() != ua.NodeClassReferenceType {
			continue
		}
		if len(kinds) >= maxKinds {
			e := n.at(fmt.Errorf("more than %d reference types: %w", maxKinds, ua.BadOutOfMemory))
			return nil, &e
		}
		n.more.typ.kind = kind(len(kinds))
		kinds = append(kinds, n.Node)
	}
	indexes, uris := append([]uint16(nil), *s.indexes.Load()...), append([]string(nil), *s.uris.Load()...)
	for i, uri := range im.uris {
		indexes, uris = append(indexes, im.first+uint16(i)), append(uris, uri)
	}
	s.indexes.Store(&indexes)
	s.uris.Store(&uris)
	s.kinds.Store(&kinds)
	isNew := func(n *Node) bool { return im.nodes[n.id] != nil }
	for _, l := range im.links {
		if isNew(l.a) && isNew(l.b) {
			link(l.a, l.kind.more.typ.kind, l.b)
		}
	}
	for _, n := range im.order {
		s.nodes.insert(n.Node)
		s.adopt(n.Node)
	}
	for _, l := range im.links {
		if !isNew(l.a) || !isNew(l.b) {
			link(l.a, l.kind.more.typ.kind, l.b)
			if l.kind == s.zero(uaid.HasSubtype) {
				l.b.info().super.CompareAndSwap(nil, l.a)
			}
		}
	}
	im.count(isNew)
	var types []func() ua.Structure
	for n, info := range im.infos {
		if isNew(n) {
			n.more.typ.structure = info
			if !info.BinaryID.IsNull() {
				types = append(types, info.New)
			}
		}
	}
	s.types = append(s.types, types...)
	for _, m := range im.report.Models {
		s.models[m.URI] = importedFrom{m.File, im.models[m.URI]}
	}
	im.report.Nodes, im.report.References = len(im.order), len(im.links)
	return types, nil
}

// count counts an import as one change. The NodeVersions of the files stay as they are until something
// changes at their nodes.
func (im *importer) count(isNew func(*Node) bool) {
	s := im.s
	s.model.changed = len(im.order)+len(im.links) > 0
	for _, l := range im.links {
		k := l.kind.more.typ.kind
		if k == s.known.hasProperty && l.b.name == (ua.QualifiedName{Name: nodeVersion}) {
			if s.watchVersion(l.a, l.b); l.a.versioned && isNew(l.b) && l.b.variable != nil && l.b.variable.value.Value.Type() == ua.TypeNull {
				s.note(l.a, ua.ModelChangeStructureVerbMaskReferenceAdded)
			}
		}
		if !isNew(l.a) {
			s.note(l.a, ua.ModelChangeStructureVerbMaskReferenceAdded)
		}
		if !isNew(l.b) && k != s.known.hasType {
			s.note(l.b, ua.ModelChangeStructureVerbMaskReferenceAdded)
		}
	}
	for _, n := range im.order {
		if n.versioned {
			s.record(n.Node, ua.ModelChangeStructureVerbMaskNodeAdded)
		}
	}
}
