package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// filter selects references by direction, type and the class of the target.
type filter struct {
	forward, inverse bool
	super            *Node // null filter: nil
	subtypes         bool
	mask             uint32
	kinds            []*Node
	last             kind // the type that was looked at last, and what came out
	known, match     bool
}

// newFilter is BadReferenceTypeIdInvalid when the type is none.
func (s *Space) newFilter(d ua.BrowseDirection, refType ua.NodeID, subtypes bool, mask uint32) (f filter, status ua.StatusCode) {
	if d < ua.BrowseDirectionForward || d > ua.BrowseDirectionBoth {
		return f, ua.BadBrowseDirectionInvalid
	}
	f = filter{
		forward: d != ua.BrowseDirectionInverse, inverse: d != ua.BrowseDirectionForward,
		subtypes: subtypes, mask: mask, kinds: *s.kinds.Load(),
	}
	if !refType.IsNull() {
		f.super = s.nodes.find(refType)
		if f.super == nil || f.super.Class() != ua.NodeClassReferenceType {
			return f, ua.BadReferenceTypeIdInvalid
		}
	}
	return f, ua.Good
}

// each calls do with the references of the directions that the filter wants, from a cursor on, until it
// returns false.
func (f *filter) each(n *Node, cursor uint64, do func(r ref) bool) {
	if cursor&inverseCursor == 0 {
		if f.forward && !n.eachOf(forward, cursor, do) {
			return
		}
		cursor = 0
	}
	if f.inverse {
		n.eachOf(inverse, cursor&^inverseCursor, do)
	}
}

func (f *filter) selects(r *ref) bool {
	if f.mask != 0 && r.target.class != 0 && f.mask&uint32(r.target.class) == 0 {
		return false
	}
	if f.super == nil {
		return true
	}
	if k := r.kind(); !f.known || k != f.last {
		f.last, f.known = k, true
		t := f.typeOf(k)
		f.match = t == f.super || f.subtypes && isSubtype(t, f.super)
	}
	return f.match
}

// typeOf is the reference type of a kind; nil for one that is younger than the filter.
func (f *filter) typeOf(k kind) *Node {
	if int(k) < len(f.kinds) {
		return f.kinds[k]
	}
	return nil
}

// Browse implements uaserver.NodeManager. The cursor is the number of a reference, so pages go on
// where they stopped whatever was added and removed meanwhile. Targets that another manager has pass any
// class mask.
func (s *Space) Browse(ctx *uaserver.Context, item *uaserver.BrowseItem) {
	n := s.nodes.find(item.NodeID)
	if n == nil {
		item.Status, item.Cursor = ua.BadNodeIdUnknown, 0
		return
	}
	f, status := s.newFilter(item.Direction, item.ReferenceType, item.IncludeSubtypes, item.ClassMask)
	if item.Status = status; status != ua.Good {
		item.Cursor = 0
		return
	}
	from, count := item.Cursor, 0
	item.Cursor = 0
	f.each(n, from, func(r ref) bool {
		if !f.selects(&r) {
			return true
		}
		if item.Max > 0 && count == item.Max {
			item.Cursor = r.cursor()
			return false
		}
		t := f.typeOf(r.kind())
		if t == nil {
			return true
		}
		count++
		item.References = append(item.References, uaserver.Reference{
			Type: t.id, Target: r.target.id.Expanded(), Forward: r.forward(),
		})
		return true
	})
}

// Describe implements uaserver.NodeManager.
func (s *Space) Describe(ctx *uaserver.Context, items []uaserver.DescribeItem) {
	for i := range items {
		it := &items[i]
		n := s.nodes.find(it.NodeID)
		if n == nil {
			it.Class = ua.NodeClassUnspecified
			continue
		}
		it.Class, it.BrowseName, it.DisplayName = n.Class(), n.name, n.DisplayName()
		it.TypeDefinition = ua.ExpandedNodeID{}
		if n.typeDef != nil && !n.typeDef.removed.Load() {
			it.TypeDefinition = n.typeDef.id.Expanded()
		}
	}
}

// Translate implements uaserver.NodeManager (Part 4, 5.9.4). Without a name all targets of the
// reference match. A null reference type stands for all hierarchical ones.
func (s *Space) Translate(ctx *uaserver.Context, item *uaserver.TranslateItem) {
	n := s.nodes.find(item.NodeID)
	if n == nil {
		item.Status = ua.BadNodeIdUnknown
		return
	}
	e := item.Element
	direction, refType, subtypes := ua.BrowseDirectionForward, e.ReferenceTypeID, e.IncludeSubtypes
	if e.IsInverse {
		direction = ua.BrowseDirectionInverse
	}
	if refType.IsNull() {
		refType, subtypes = ua.ID(uaid.HierarchicalReferences), true
	}
	f, status := s.newFilter(direction, refType, subtypes, 0)
	if status != ua.Good {
		item.Status = ua.BadNoMatch
		return
	}
	var outside []*Node
	take := func(r ref) bool {
		switch {
		case !f.selects(&r):
		case r.target.class == 0:
			outside = append(outside, r.target)
		case e.TargetName.Name == "" || r.target.name == e.TargetName:
			item.Targets = append(item.Targets, r.target.id.Expanded())
		}
		return true
	}
	if f.forward && e.TargetName.Name != "" {
		n.named(e.TargetName, func(r ref) { take(r) })
	} else {
		f.each(n, 0, take)
	}
	for _, t := range outside {
		if e.TargetName.Name == "" || s.foreignName(ctx, t) == e.TargetName {
			item.Targets = append(item.Targets, t.id.Expanded())
		}
	}
}

// foreignName asks another manager for the browse name of one of its nodes.
func (s *Space) foreignName(ctx *uaserver.Context, n *Node) ua.QualifiedName {
	server := s.server.Load()
	if server == nil {
		return ua.QualifiedName{}
	}
	m := server.NodeManagerOf(n.id.Namespace())
	if m == nil || m == uaserver.NodeManager(s) {
		return ua.QualifiedName{}
	}
	items := []uaserver.DescribeItem{{NodeID: n.id}}
	m.Describe(ctx, items)
	return items[0].BrowseName
}
