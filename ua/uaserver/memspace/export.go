package memspace

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/nodeset"
	"github.com/actua/actua/ua/uaid"
)

// Export writes nodes and all below them, along forward hierarchical references, as a file in the
// UANodeSet format (Part 6, Annex F) that Import reads. Nodes of namespace 0 are not written, but may
// be where to begin: Root, the node i=84, exports all.
//
// The file is complete for the namespaces of its nodes: types that the nodes use are written too when
// they are in one of those, while other namespaces are named as required models. References to nodes
// of the file's namespaces that are not in it are left out; an object, variable or method that thereby
// loses its parent is put into the Objects folder. Values are those of now; status and time are not
// written, nor are callbacks. Models that were imported keep version and date.
//
// It gives BadNodeIdUnknown for a node that is not in the Space, an error for text that XML cannot hold, and
// those of w.
func (s *Space) Export(w io.Writer, roots ...Referent) error {
	e := s.newExporter()
	for _, r := range roots {
		n := nodeOf(r)
		if n == nil {
			return fmt.Errorf("memspace: export: one of the nodes is nil, as Node gives for an unknown id: %w", ua.BadNodeIdUnknown)
		}
		if s.nodes.find(n.id) != n {
			return fmt.Errorf("memspace: export %v: %w", n.id, ua.BadNodeIdUnknown)
		}
		e.visit(n, true)
	}
	e.addTypes()
	return e.write(w)
}

// ExportModels writes all nodes of some namespaces, whether a reference leads to them or not, as Export
// does. It gives BadNotFound for a namespace that is not one of the Space's own.
func (s *Space) ExportModels(w io.Writer, uris ...string) error {
	e := s.newExporter()
	for _, uri := range uris {
		i, ok := s.index(uri)
		if !ok || i == 0 {
			return fmt.Errorf("memspace: export: no namespace %q: %w", uri, ua.BadNotFound)
		}
		e.namespaces[i] = true
	}
	s.nodes.each(func(n *Node) bool {
		if e.namespaces[n.id.Namespace()] {
			e.seen[n] = true
			e.order = append(e.order, n)
		}
		return true
	})
	slices.SortFunc(e.order, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.id.Namespace(), b.id.Namespace()), cmp.Compare(a.id.Type(), b.id.Type()),
			cmp.Compare(a.id.Numeric(), b.id.Numeric()), cmp.Compare(a.id.String(), b.id.String()))
	})
	return e.write(w)
}

func (s *Space) newExporter() *exporter {
	return &exporter{
		s: s, seen: map[*Node]bool{}, namespaces: map[uint16]bool{},
		hierarchical: s.zero(uaid.HierarchicalReferences), aggregates: s.zero(uaid.Aggregates),
	}
}

// write writes the nodes that were collected.
func (e *exporter) write(w io.Writer) error {
	s := e.s
	s.mu.Lock()
	imported := maps.Clone(s.models)
	s.mu.Unlock()
	out := &nodeset.Writer{URI: s.uriOf, Structure: s.structureOf, Local: s.local, Model: func(uri string) nodeset.Model {
		return imported[uri].model
	}}
	var models []string
	for _, n := range e.order {
		if uri := s.uriOf(n.id.Namespace()); uri != "" && !slices.Contains(models, uri) {
			models = append(models, uri)
		}
	}
	for _, n := range e.order {
		src, definition, inherited := e.node(n)
		out.Node(src, definition, inherited)
	}
	file, err := out.File(models)
	if err != nil {
		return fmt.Errorf("memspace: export: %w", err)
	}
	_, err = w.Write(file)
	return err
}

// uriOf is the URI of one of the Space's own namespaces; "" for another index.
func (s *Space) uriOf(index uint16) string {
	if i := slices.Index(*s.indexes.Load(), index); i >= 0 {
		return (*s.uris.Load())[i]
	}
	return ""
}

// structureOf describes a structure of the Space by the id of its encoding; nil if it is not known.
func (s *Space) structureOf(encoding ua.NodeID) *ua.StructureInfo {
	if t := s.dataTypeOf(&ua.ExtensionObject{TypeID: encoding}); t != nil && t.info() != nil {
		return t.info().structure
	}
	return nil
}

// exporter collects the nodes of a file.
type exporter struct {
	s                        *Space
	seen                     map[*Node]bool // those of namespace 0 too
	order                    []*Node
	namespaces               map[uint16]bool // of the nodes in order
	hierarchical, aggregates *Node
}

// references are the references of a node, with their types.
func (e *exporter) references(n *Node, f func(t *Node, r ref)) {
	var list []ref
	n.each(func(r ref) bool {
		list = append(list, r)
		return true
	})
	kinds := *e.s.kinds.Load()
	for _, r := range list {
		f(kinds[r.kind()], r)
	}
}

// visit adds a node and what is below it. Of a type that is only used, the subtypes are not.
func (e *exporter) visit(n *Node, subtypes bool) {
	type step struct {
		n        *Node
		subtypes bool
	}
	for todo := []step{{n, subtypes}}; len(todo) > 0; {
		n, subtypes := todo[0].n, todo[0].subtypes
		todo = todo[1:]
		if e.seen[n] || n.class == 0 {
			continue
		}
		e.seen[n] = true
		own := n.id.Namespace() != 0
		if own {
			e.order = append(e.order, n)
			e.namespaces[n.id.Namespace()] = true
		}
		e.references(n, func(t *Node, r ref) {
			below := isSubtype(t, e.hierarchical) || t.id == ua.ID(uaid.HasEncoding)
			if !r.forward() || !below || own && r.target.id.Namespace() == 0 || !subtypes && t.id == ua.ID(uaid.HasSubtype) {
				return
			}
			todo = append(todo, step{r.target, subtypes})
		})
	}
}

// addTypes adds the types that the nodes use, as long as they are in namespaces of the file.
func (e *exporter) addTypes() {
	for before := -1; before != len(e.order); {
		before = len(e.order)
		for i := 0; i < len(e.order); i++ {
			for _, t := range e.uses(e.order[i]) {
				if t != nil && !e.seen[t] && e.namespaces[t.id.Namespace()] {
					e.visit(t, false)
				}
			}
		}
	}
}

// uses are the types that a node needs.
func (e *exporter) uses(n *Node) (list []*Node) {
	e.references(n, func(t *Node, r ref) {
		if !r.forward() && !isSubtype(t, e.hierarchical) {
			return
		}
		list = append(list, t)
		if r.forward() && r.target.class != 0 && r.target.info() != nil && t.id != ua.ID(uaid.HasSubtype) ||
			!r.forward() && t.id == ua.ID(uaid.HasSubtype) {
			list = append(list, r.target)
		}
	})
	if v := n.variable; v != nil {
		list = append(list, v.dataType)
		value := v.Get()
		objects, _ := ua.ArrayOf[ua.ExtensionObject](value)
		if o, ok := ua.As[ua.ExtensionObject](value); ok {
			objects = []ua.ExtensionObject{o}
		}
		for i := range objects {
			list = append(list, e.s.dataTypeOf(&objects[i]))
		}
	}
	if n.Class() == ua.NodeClassDataType {
		if d, ok := n.info().definitionOf().Structure().(*ua.StructureDefinition); ok {
			for i := range d.Fields {
				list = append(list, e.s.nodes.find(d.Fields[i].DataType))
			}
		}
	}
	return list
}

// node is a node as files have it, with its DataTypeDefinition and the number of fields in that which
// come from base types.
func (e *exporter) node(n *Node) (src *nodeset.Node, definition ua.Structure, inherited int) {
	src = &nodeset.Node{
		Class: n.Class(), ID: n.id, BrowseName: n.name, DisplayName: []ua.LocalizedText{n.DisplayName()},
		Description: []ua.LocalizedText{n.describe()}, WriteMask: uint32(n.writeMask()), EventNotifier: n.notifier,
	}
	if n.more != nil && n.more.protection != nil { // never changes
		p := n.more.protection
		src.RolePermissions, src.AccessRestrictions, src.HasAccessRestrictions = p.roles, p.restrictions, p.restricted
	}
	if v := n.variable; v != nil {
		h := v.rare()
		src.DataType, src.ValueRank, src.ArrayDimensions = v.DataType(), v.rank, h.dims
		src.AccessLevel, src.MinimumSamplingInterval, src.Historizing = uint32(v.access), h.sampling, h.historizing
		src.Value = v.Get()
	}
	switch n.Class() {
	case ua.NodeClassMethod:
		n.mu.Lock()
		src.Executable = !n.idle
		n.mu.Unlock()
	case ua.NodeClassView:
		src.ContainsNoLoops = n.more != nil && n.more.noLoops
	}
	if t := n.info(); t != nil {
		src.IsAbstract, src.Symmetric = t.abstract, t.symmetric
		src.InverseName = []ua.LocalizedText{t.inverse}
	}
	if n.Class() == ua.NodeClassDataType {
		definition = n.info().definitionOf().Structure()
		src.Definition = &nodeset.Definition{IsOptionSet: !isSubtype(n, e.s.zero(uaid.Enumeration))}
		if super := n.info().super.Load(); super != nil {
			if d, ok := super.info().definitionOf().Structure().(*ua.StructureDefinition); ok {
				inherited = len(d.Fields)
			}
		}
	}
	e.link(n, src)
	return src, definition, inherited
}

// link takes the references that the file can have.
func (e *exporter) link(n *Node, src *nodeset.Node) {
	lost := false
	e.references(n, func(t *Node, r ref) {
		target := r.target
		inside := e.seen[target] && target.id.Namespace() != 0
		hierarchical := isSubtype(t, e.hierarchical)
		switch {
		case !inside && e.namespaces[target.id.Namespace()], !inside && target.class == 0:
			lost = lost || hierarchical && !r.forward()
			return
		case r.forward():
		case inside && !hierarchical: // stands at the other end
			return
		case !inside && !hierarchical && target.id.Namespace() != 0: // a node of another model that needs this one
			return
		}
		if !r.forward() && hierarchical && n.info() == nil {
			if src.Parent.IsNull() || isSubtype(t, e.aggregates) {
				src.Parent = target.id
			}
		}
		src.References = append(src.References, nodeset.Reference{Type: t.id, Target: target.id, Forward: r.forward()})
	})
	if lost && src.Parent.IsNull() && n.info() == nil {
		src.References = append(src.References, nodeset.Reference{Type: ua.ID(uaid.Organizes), Target: e.s.known.objects.id})
	}
}
