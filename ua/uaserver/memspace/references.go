package memspace

import (
	"sort"
)

// ref is one reference as its source or, inverse, its target knows it. A node has those that lead away
// and those that lead to it in two lists, so that neither search goes through the other: a folder has
// many children and one parent, a type few references and many instances. In both they stand in the
// order in which they were added and carry ascending numbers: a browse cursor is such a number, so it
// stays valid whatever is added and removed around it.
type ref struct {
	target *Node  // nil: removed
	back   uint64 // number of the same reference at the target
	meta   uint64 // number<<16 | kind<<1 | direction
}

// direction is the place of a list in Node.refs.
type direction uint8

const (
	inverse direction = iota
	forward
)

// kind is the place of a reference type in Space.kinds.
type kind uint16

const maxKinds = 1 << 15

func newRef(number uint64, k kind, d direction, target *Node, back uint64) ref {
	return ref{target, back, number<<16 | uint64(k)<<1 | uint64(d)}
}

func (r *ref) number() uint64       { return r.meta >> 16 }
func (r *ref) kind() kind           { return kind(r.meta >> 1 & (maxKinds - 1)) }
func (r *ref) direction() direction { return direction(r.meta & 1) }
func (r *ref) forward() bool        { return r.direction() == forward }

// inverseCursor marks the cursors of the inverse references, which come behind the others.
const inverseCursor = 1 << 62

// cursor is where browsing goes on with this reference; never 0.
func (r *ref) cursor() uint64 {
	if r.forward() {
		return r.number()
	}
	return r.number() | inverseCursor
}

// position is the index of the first reference with that number or a higher one.
func position(refs []ref, number uint64) int {
	if len(refs) == 0 || refs[0].number() >= number {
		return 0
	}
	return sort.Search(len(refs), func(i int) bool { return refs[i].number() >= number })
}

// link adds a reference from a to b and its inverse, the inverse first, so that whoever finds b by
// browsing a finds it complete. Space.mu is held.
func link(a *Node, k kind, b *Node) {
	a.last++
	out := a.last
	b.last++
	in := b.last
	b.append(newRef(in, k, inverse, a, out))
	a.append(newRef(out, k, forward, b, in))
}

func (n *Node) append(r ref) {
	d := r.direction()
	n.mu.Lock()
	if n.refs[d] = append(n.refs[d], r); d == forward {
		n.index(&r)
	}
	n.mu.Unlock()
}

// unlink removes the reference with that number at one end. Space.mu is held. The list is compacted
// when more than half of it is gone, which keeps the cost of a removal constant on average.
func (n *Node) unlink(d direction, number uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refs := n.refs[d]
	i := position(refs, number)
	if i == len(refs) || refs[i].number() != number || refs[i].target == nil {
		return
	}
	refs[i].target = nil
	n.dead[d]++
	if int(n.dead[d])*2 <= len(refs) {
		return
	}
	kept := refs[:0]
	if left := len(refs) - int(n.dead[d]); left*4 < cap(refs) {
		kept = make([]ref, 0, left)
	}
	for _, r := range refs {
		if r.target != nil {
			kept = append(kept, r)
		}
	}
	clear(refs[min(len(kept), len(refs)):])
	if n.refs[d], n.dead[d] = kept, 0; d == forward {
		n.dropIndex()
	}
}

// findRef searches the shorter of the two lists for a reference from a to b; its numbers at both
// ends. Space.mu is held, so the lists do not change.
func findRef(a *Node, k kind, b *Node) (atA, atB uint64, ok bool) {
	list, to := a.refs[forward], b
	if len(b.refs[inverse]) < len(list) {
		list, to = b.refs[inverse], a
	}
	for i := range list {
		if r := &list[i]; r.target == to && r.kind() == k {
			if r.forward() {
				return r.number(), r.back, true
			}
			return r.back, r.number(), true
		}
	}
	return 0, 0, false
}

// each calls f with the references of a node until it returns false: with the forward ones, then the
// inverse ones. f gets copies and must not block.
func (n *Node) each(f func(r ref) bool) {
	if n.eachOf(forward, 0, f) {
		n.eachOf(inverse, 0, f)
	}
}

// eachOf calls f with the references of one direction, from a number on, until it returns false; it
// reports whether it never did. Between blocks the node is not locked.
func (n *Node) eachOf(d direction, from uint64, f func(r ref) bool) bool {
	const block = 256
	for {
		n.mu.Lock()
		refs := n.refs[d]
		i := position(refs, from)
		end := min(i+block, len(refs))
		for ; i < end; i++ {
			if refs[i].target != nil && !f(refs[i]) {
				n.mu.Unlock()
				return false
			}
		}
		if end == len(refs) {
			n.mu.Unlock()
			return true
		}
		from = refs[end].number()
		n.mu.Unlock()
	}
}
