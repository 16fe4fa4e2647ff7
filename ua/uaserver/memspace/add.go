package memspace

import (
	"fmt"
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// AddObject adds an object under a parent. See the package comment for errors.
func (s *Space) AddObject(parent Referent, name string, options ...Option) *Node {
	set := s.settings(name, options)
	set.class = ua.NodeClassObject
	if set.typeDef.IsNull() {
		set.typeDef = ua.ID(uaid.BaseObjectType)
	}
	n := &Node{space: s}
	s.add(parent, n, set)
	return n
}

// AddFolder adds an object of FolderType (Part 5, 6.6).
func (s *Space) AddFolder(parent Referent, name string, options ...Option) *Node {
	return s.AddObject(parent, name, append([]Option{WithTypeDefinition(ua.ID(uaid.FolderType))}, options...)...)
}

// AddType adds a subtype of an object, variable, data or reference type (Part 3, 5.5 to 5.8).
func (s *Space) AddType(super Referent, name string, options ...Option) *Node {
	set := s.settings(name, options)
	n := &Node{space: s, more: &more{typ: new(typeInfo)}}
	if above := nodeOf(super); above != nil {
		set.class = above.Class()
		if above.info() == nil {
			set.err = fmt.Errorf("%v is no type: %w", above.id, ua.BadParentNodeIdInvalid)
			set.class = ua.NodeClassObjectType
		}
		n.more.typ.super.Store(above)
	} else {
		set.class = ua.NodeClassObjectType // it is refused, and has to be called something
	}
	n.more.typ.abstract = set.abstract
	if set.definition != nil {
		n.more.typ.definition = ua.NewExtensionObject(set.definition).Variant()
	}
	if set.reference.IsNull() {
		set.reference = ua.ID(uaid.HasSubtype)
	}
	if set.class == ua.NodeClassVariableType {
		v := &Variable{Node: Node{space: s, more: n.more}, dataType: s.known.baseDataType, accepts: anyType, rank: RankAny}
		v.variable = v
		n = &v.Node
	}
	s.add(super, n, set)
	return n
}

func (s *Space) settings(name string, options []Option) *settings {
	set := &settings{access: ua.AccessLevelTypeCurrentRead}
	set.name = ua.QualifiedName{NamespaceIndex: s.Namespace(), Name: name}
	for _, o := range options {
		o(set)
	}
	return set
}

// add makes a node part of the Space, or notes why that cannot be.
func (s *Space) add(parent Referent, n *Node, set *settings) {
	n.prepare(set)
	err := set.err
	var version *Variable
	var versionSet *settings
	if set.versioned {
		version, versionSet = s.newVersion()
	}
	p := nodeOf(parent)
	s.mu.Lock()
	defer s.unlock()
	if err == nil {
		err = s.place(p, n, set)
	}
	if err == nil && version != nil {
		if err = s.place(n, &version.Node, versionSet); err != nil {
			s.detach(n, s.zero(uaid.Aggregates))
		} else {
			s.note(n, ua.ModelChangeStructureVerbMaskNodeAdded)
		}
	}
	if err != nil {
		n.mu.Lock()
		n.extend().err = s.fail(fmt.Errorf("memspace: add %v %q: %w", set.class, set.name.Name, err))
		n.mu.Unlock()
	}
}

// prepare takes over what all classes have.
func (n *Node) prepare(set *settings) {
	n.class, n.notifier, n.name = uint8(set.class), uint8(set.notifier), set.name
	n.guarded = set.allow != nil
	if set.display != nil || set.description.Text != "" || set.writeMask != 0 || set.allow != nil {
		m := n.extend()
		m.display, m.description, m.writeMask, m.allow = set.display, set.description, set.writeMask, set.allow
	}
}

// place checks a node and links it. Space.mu is held.
func (s *Space) place(parent, n *Node, set *settings) error {
	switch {
	case parent == nil, parent.space != s, s.nodes.find(parent.id) != parent:
		return fmt.Errorf("the parent is not in the Space: %w", ua.BadParentNodeIdInvalid)
	case n.name.Name == "" || len(n.name.Name) > 512:
		return ua.BadBrowseNameInvalid
	case !s.owns(n.name.NamespaceIndex):
		return fmt.Errorf("namespace %d is not one of the Space: %w", n.name.NamespaceIndex, ua.BadBrowseNameInvalid)
	}
	if n.id = set.id; n.id.IsNull() {
		n.id = s.newID(parent, n.name)
	}
	if ns := n.id.Namespace(); ns == 0 || !s.owns(ns) {
		return fmt.Errorf("%v is in no namespace of the Space: %w", n.id, ua.BadNodeIdRejected)
	}
	if s.nodes.find(n.id) != nil {
		return fmt.Errorf("%v is in use: %w", n.id, ua.BadNodeIdExists)
	}
	k := s.defaultReference(parent, n)
	if !set.reference.IsNull() {
		var ok bool
		if k, ok = s.kind(set.reference); !ok {
			return fmt.Errorf("%v: %w", set.reference, ua.BadReferenceTypeIdInvalid)
		}
	}
	if !set.typeDef.IsNull() {
		want := ua.NodeClassObjectType
		if set.class == ua.NodeClassVariable {
			want = ua.NodeClassVariableType
		}
		if n.typeDef = s.nodes.find(set.typeDef); n.typeDef == nil || n.typeDef.Class() != want {
			return fmt.Errorf("type %v: %w", set.typeDef, ua.BadTypeDefinitionInvalid)
		}
	}
	if set.class == ua.NodeClassReferenceType {
		if err := s.newKind(n); err != nil {
			return err
		}
	}
	s.join(parent, n, k)
	return nil
}

// join links a new node: first its own references, then the table, and last what leads to it, so that
// whoever finds it finds it complete.
func (s *Space) join(parent, n *Node, k kind) {
	both := make([]ref, 2) // one allocation for what most nodes have: a parent and a type
	n.last++
	parent.last++
	toParent, fromParent := n.last, parent.last
	both[0] = newRef(toParent, k, inverse, parent, fromParent)
	n.refs[inverse] = both[:1:1]
	if n.typeDef != nil {
		n.last++
		n.typeDef.last++
		both[1] = newRef(n.last, s.known.hasType, forward, n.typeDef, n.typeDef.last)
		n.refs[forward] = both[1:]
	}
	s.nodes.insert(n)
	s.adopt(n)
	if n.typeDef != nil {
		n.typeDef.append(newRef(n.typeDef.last, s.known.hasType, inverse, n, n.last))
	}
	parent.append(newRef(fromParent, k, forward, n, toParent))
	s.linked(parent, k, n)
}

// newID makes an id from the parent's and the name. Children of nodes with GUIDs or bytes get numbers.
func (s *Space) newID(parent *Node, name ua.QualifiedName) ua.NodeID {
	prefix := ""
	switch {
	case parent.id.Namespace() == 0:
	case parent.id.Type() == ua.IDTypeString:
		prefix = parent.id.Text() + "."
	case parent.id.Type() == ua.IDTypeNumeric:
		prefix = fmt.Sprint(parent.id.Numeric(), ".")
	default:
		for {
			s.nextID++
			if id := ua.NewNodeID(s.Namespace(), s.nextID); s.nodes.find(id) == nil {
				return id
			}
		}
	}
	return ua.NewStringNodeID(s.Namespace(), prefix+name.Name)
}

func (s *Space) defaultReference(parent, n *Node) kind {
	if n.class == uint8(ua.NodeClassObject) && isSubtype(parent.typeDef, s.known.folder) {
		return s.known.organizes
	}
	return s.known.hasComponent
}

// kind finds a reference type.
func (s *Space) kind(id ua.NodeID) (kind, bool) {
	n := s.nodes.find(id)
	if n == nil || n.Class() != ua.NodeClassReferenceType {
		return 0, false
	}
	return n.more.typ.kind, true
}

func (s *Space) newKind(n *Node) error {
	kinds := slices.Clone(*s.kinds.Load())
	if len(kinds) >= maxKinds {
		return fmt.Errorf("more than %d reference types: %w", maxKinds, ua.BadOutOfMemory)
	}
	n.more.typ.kind = kind(len(kinds))
	kinds = append(kinds, n)
	s.kinds.Store(&kinds)
	return nil
}
