package memspace

import (
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// AddReference adds a reference and its inverse. The target may be a node of another manager; that
// manager then has to have the inverse. It gives BadSourceNodeIdInvalid, BadReferenceTypeIdInvalid,
// BadTargetNodeIdInvalid or BadDuplicateReferenceNotAllowed (Part 4, 5.8.3).
func (s *Space) AddReference(source, referenceType, target ua.NodeID) error {
	s.mu.Lock()
	defer s.unlock()
	a, k, b, err := s.ends(source, referenceType, target)
	if err != nil {
		return err
	}
	if _, _, ok := findRef(a, k, b); ok {
		return ua.BadDuplicateReferenceNotAllowed
	}
	link(a, k, b)
	s.linked(a, k, b)
	if k == s.known.hasSubtype && b.info() != nil {
		b.info().super.CompareAndSwap(nil, a)
	}
	return nil
}

// RemoveReference removes a reference and its inverse. Beside the errors of AddReference it gives
// BadNotFound.
func (s *Space) RemoveReference(source, referenceType, target ua.NodeID) error {
	s.mu.Lock()
	defer s.unlock()
	a, k, b, err := s.ends(source, referenceType, target)
	if err != nil {
		return err
	}
	atA, atB, ok := findRef(a, k, b)
	if !ok {
		s.forget(a)
		s.forget(b)
		return ua.BadNotFound
	}
	a.unlink(forward, atA)
	b.unlink(inverse, atB)
	s.unlinked(a, k, b)
	return nil
}

// ends finds the nodes of a reference. Either end may be of another manager, not both.
func (s *Space) ends(source, referenceType, target ua.NodeID) (a *Node, k kind, b *Node, err error) {
	elsewhere := func(id ua.NodeID) bool { return !id.IsNull() && !s.owns(id.Namespace()) }
	a, b = s.nodes.find(source), s.nodes.find(target)
	if a == nil && (b == nil || !elsewhere(source)) {
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", source, ua.BadSourceNodeIdInvalid)
	}
	k, ok := s.kind(referenceType)
	if !ok {
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", referenceType, ua.BadReferenceTypeIdInvalid)
	}
	switch {
	case a == nil:
		a = s.outside(source)
	case b == nil && elsewhere(target):
		b = s.outside(target)
	case b == nil:
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", target, ua.BadTargetNodeIdInvalid)
	}
	return a, k, b, nil
}

// Remove removes a node, all references to and from it, and the components and properties that
// nothing else has. Nodes of namespace 0 cannot be removed: BadNotSupported. A node that is not there
// any more gives BadNodeIdUnknown.
func (s *Space) Remove(node Referent) error {
	n := nodeOf(node)
	if n == nil {
		return fmt.Errorf("memspace: remove: the node is nil, as Node gives for an unknown id: %w", ua.BadNodeIdUnknown)
	}
	s.mu.Lock()
	defer s.unlock()
	switch {
	case s.nodes.find(n.id) != n:
		return fmt.Errorf("memspace: remove %v: %w", n.id, ua.BadNodeIdUnknown)
	case n.id.Namespace() == 0:
		return fmt.Errorf("memspace: remove %v, a node of namespace 0: %w", n.id, ua.BadNotSupported)
	}
	aggregates := s.zero(uaid.Aggregates)
	for todo := []*Node{n}; len(todo) > 0; {
		n, todo = todo[len(todo)-1], todo[:len(todo)-1]
		todo = append(todo, s.detach(n, aggregates)...)
	}
	return nil
}

// detach takes one node out and returns the children that nothing else has any more.
func (s *Space) detach(n, aggregates *Node) (orphans []*Node) {
	s.note(n, ua.ModelChangeStructureVerbMaskNodeDeleted)
	n.removed.Store(true)
	n.mu.Lock()
	refs := n.refs
	n.refs, n.dead = [2][]ref{}, [2]uint32{}
	n.dropIndex()
	n.mu.Unlock()
	for _, r := range refs[inverse] {
		if r.target != nil && r.target != n {
			r.target.unlink(forward, r.back)
			s.unlinked(r.target, r.kind(), n)
		}
	}
	for _, r := range refs[forward] {
		if r.target == nil || r.target == n {
			continue
		}
		r.target.unlink(inverse, r.back)
		s.unlinked(n, r.kind(), r.target)
		if s.aggregates(r.kind(), aggregates) && !s.owned(r.target, aggregates) &&
			r.target.id.Namespace() != 0 && r.target.class != 0 {
			orphans = append(orphans, r.target)
		}
	}
	if n.versioned {
		s.unwatchVersion(n)
	}
	s.nodes.remove(n)
	if n.class == uint8(ua.NodeClassVariable) {
		s.park(n.variable)
	}
	return orphans
}

func (s *Space) aggregates(k kind, aggregates *Node) bool {
	return isSubtype((*s.kinds.Load())[k], aggregates)
}

// owned reports whether another node has n as a component or property.
func (s *Space) owned(n, aggregates *Node) bool {
	for i := range n.refs[inverse] {
		if r := &n.refs[inverse][i]; r.target != nil && s.aggregates(r.kind(), aggregates) {
			return true
		}
	}
	return n.removed.Load()
}
