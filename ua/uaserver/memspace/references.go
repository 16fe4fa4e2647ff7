package memspace

import (
	"sort"
)

// ref is one reference as its source or, inverse, its target knows it. References of a node stand in
// the order in which they were added and carry ascending numbers: a browse cursor is such a number,
// so it stays valid whatever is added and removed around it.
type ref struct {
	target *Node  // nil: removed
	back   uint64 // number of the same reference at the target
	meta   uint64 // number<<16 | kind<<1 | forward
}

// kind is the place of a reference type in Space.kinds.
type kind uint16

const maxKinds = 1 << 15

func newRef(number uint64, k kind, forward bool, target *Node, back uint64) ref {
	meta := number<<16 | uint64(k)<<1
	if forward {
		meta |= 1
	}
	return ref{target, back, meta}
}

func (r *ref) number() uint64 { return r.meta >> 16 }
func (r *ref) kind() kind     { return kind(r.meta >> 1 & (maxKinds - 1)) }
func (r *ref) forward() bool  { return r.meta&1 != 0 }

// position is the index of the first reference with that number or a higher one. Node.mu is held.
func (n *Node) position(number uint64) int {
	if len(n.refs) == 0 || n.refs[0].number() >= number {
		return 0
	}
	return sort.Search(len(n.refs), func(i int) bool { return n.refs[i].number() >= number })
}

// link adds a reference from a to b and its inverse, the inverse first, so that whoever finds b by
// browsing a finds it complete. Space.mu is held.
func link(a *Node, k kind, b *Node) {
	forward, inverse := a.last+1, b.last+1
	if a == b {
		inverse++
	}
	a.last, b.last = forward, inverse
	if a == b {
		a.last = inverse
		a.append(newRef(forward, k, true, b, inverse))
		a.append(newRef(inverse, k, false, a, forward))
		return
	}
	b.append(newRef(inverse, k, false, a, forward))
	a.append(newRef(forward, k, true, b, inverse))
}

func (n *Node) append(r ref) {
	n.mu.Lock()
	n.refs = append(n.refs, r)
	n.mu.Unlock()
}

// unlink removes the reference with that number at one end. Space.mu is held. The list is compacted
// when more than half of it is gone, which keeps the cost of a removal constant on average.
func (n *Node) unlink(number uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.position(number)
	if i == len(n.refs) || n.refs[i].number() != number || n.refs[i].target == nil {
		return
	}
	n.refs[i].target = nil
	n.dead++
	if int(n.dead)*2 <= len(n.refs) {
		return
	}
	kept := n.refs[:0]
	if left := len(n.refs) - int(n.dead); left*4 < cap(n.refs) {
		kept = make([]ref, 0, left)
	}
	for _, r := range n.refs {
		if r.target != nil {
			kept = append(kept, r)
		}
	}
	clear(n.refs[min(len(kept), len(n.refs)):])
	n.refs, n.dead = kept, 0
}

// findRef searches the shorter of the two lists for a reference from a to b; its numbers at both
// ends. Space.mu is held, so the lists do not change.
func findRef(a *Node, k kind, b *Node) (atA, atB uint64, ok bool) {
	from, to, forward := a, b, true
	if len(b.refs) < len(a.refs) {
		from, to, forward = b, a, false
	}
	for i := range from.refs {
		r := &from.refs[i]
		if r.target == to && r.kind() == k && r.forward() == forward {
			if forward {
				return r.number(), r.back, true
			}
			return r.back, r.number(), true
		}
	}
	return 0, 0, false
}

// each calls f with the references of a node until it returns false, in blocks between which the
// node is not locked. f gets copies and must not block.
func (n *Node) each(from uint64, f func(r ref) bool) {
	const block = 256
	for {
		n.mu.Lock()
		i := n.position(from)
		end := min(i+block, len(n.refs))
		for ; i < end; i++ {
			if n.refs[i].target != nil && !f(n.refs[i]) {
				n.mu.Unlock()
				return
			}
		}
		if end == len(n.refs) {
			n.mu.Unlock()
			return
		}
		from = n.refs[end].number()
		n.mu.Unlock()
	}
}
