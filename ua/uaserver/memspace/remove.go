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
	defer s.mu.Unlock()
	a, k, b, err := s.ends(source, referenceType, target)
	if err != nil {
		return err
	}
	if _, _, ok := findRef(a, k, b); ok {
		return ua.BadDuplicateReferenceNotAllowed
	}
	link(a, k, b)
	if k == s.known.hasSubtype && b.info() != nil {
		b.info().super.CompareAndSwap(nil, a)
	}
	return nil
}

// RemoveReference removes a reference and its inverse. Beside the errors of AddReference it gives
// BadNotFound.
func (s *Space) RemoveReference(source, referenceType, target ua.NodeID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, k, b, err := s.ends(source, referenceType, target)
	if err != nil {
		return err
	}
	atA, atB, ok := findRef(a, k, b)
	if !ok {
		return ua.BadNotFound
	}
	a.unlink(atA)
	b.unlink(atB)
	if k == s.known.hasSubtype && b.info() != nil {
		b.info().super.CompareAndSwap(a, nil)
	}
	return nil
}

// ends finds the nodes of a reference. Either end may be of another manager, not both.
func (s *Space) ends(source, referenceType, target ua.NodeID) (a *Node, k kind, b *Node, err error) {
	a, b = s.nodes.find(source), s.nodes.find(target)
	if a == nil && b != nil && !source.IsNull() && !s.owns(source.Namespace()) {
		a = s.outside(source)
	}
	if a == nil {
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", source, ua.BadSourceNodeIdInvalid)
	}
	k, ok := s.kind(referenceType)
	if !ok {
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", referenceType, ua.BadReferenceTypeIdInvalid)
	}
	if b == nil && !target.IsNull() && !s.owns(target.Namespace()) {
		b = s.outside(target)
	}
	if b == nil {
		return nil, 0, nil, fmt.Errorf("memspace: %v: %w", target, ua.BadTargetNodeIdInvalid)
	}
	return a, k, b, nil
}

// Remove removes a node, all references to and from it, and the components and properties that
// nothing else has. Nodes of namespace 0 cannot be removed: BadNotSupported. A node that is not there
// any more gives BadNodeIdUnknown.
func (s *Space) Remove(node Referent) error {
	n := node.node()
	s.mu.Lock()
	defer s.mu.Unlock()
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
	n.mu.Lock()
	refs := n.refs
	n.refs, n.dead, n.removed = nil, 0, true
	n.mu.Unlock()
	for i := range refs {
		r := &refs[i]
		if r.target == nil || r.target == n {
			continue
		}
		r.target.unlink(r.back)
		if r.forward() && s.aggregates(r.kind(), aggregates) && !s.owned(r.target, aggregates) &&
			r.target.id.Namespace() != 0 && r.target.class != 0 {
			orphans = append(orphans, r.target)
		}
	}
	s.nodes.remove(n)
	return orphans
}

func (s *Space) aggregates(k kind, aggregates *Node) bool {
	return isSubtype((*s.kinds.Load())[k], aggregates)
}

// owned reports whether another node has n as a component or property.
func (s *Space) owned(n, aggregates *Node) bool {
	for i := range n.refs {
		if r := &n.refs[i]; r.target != nil && !r.forward() && s.aggregates(r.kind(), aggregates) {
			return true
		}
	}
	return n.removed
}
