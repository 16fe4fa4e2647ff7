package memspace

import (
	"hash/maphash"

	"github.com/actua/actua/ua"
)

// indexedFrom is the number of forward references above which a browse path is followed with an index.
const indexedFrom = 256

// nameIndex finds the forward references of a node by the browse name of their target: one open-addressed
// array of their numbers. It is made when a browse path first leads through a node with many references
// and grows with them; a number whose reference is gone stays until the list is compacted.
type nameIndex struct {
	slots   []uint64 // 0: empty
	used    int
	outside []uint64 // of nodes that another manager has: their names are not known here
}

var nameSeed = maphash.MakeSeed()

func hashName(q ua.QualifiedName) uint64 {
	return maphash.String(nameSeed, q.Name) + uint64(q.NamespaceIndex)*0x9E3779B97F4A7C15
}

func newNameIndex(refs []ref) *nameIndex {
	size := 1
	for size < len(refs)*2 {
		size *= 2
	}
	x := &nameIndex{slots: make([]uint64, size)}
	for i := range refs {
		if refs[i].target != nil {
			x.add(&refs[i])
		}
	}
	return x
}

// add takes a reference in; there has to be room, see full.
func (x *nameIndex) add(r *ref) {
	if r.target.class == 0 {
		x.outside = append(x.outside, r.number())
		return
	}
	mask := uint64(len(x.slots) - 1)
	i := hashName(r.target.name)
	for x.slots[i&mask] != 0 {
		i++
	}
	x.slots[i&mask] = r.number()
	x.used++
}

func (x *nameIndex) full() bool { return (x.used+1)*4 > len(x.slots)*3 }

// index takes a new forward reference into the index, if there is one. Node.mu is held.
func (n *Node) index(r *ref) {
	if n.more == nil || n.more.names == nil {
		return
	}
	if n.more.names.full() {
		n.more.names = newNameIndex(n.refs[forward]) // r is among them
		return
	}
	n.more.names.add(r)
}

// dropIndex forgets the index. Node.mu is held.
func (n *Node) dropIndex() {
	if n.more != nil {
		n.more.names = nil
	}
}

// named calls f with the forward references whose target has a browse name, and with those whose target
// another manager has. f gets copies and must not block.
func (n *Node) named(name ua.QualifiedName, f func(r ref)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	refs := n.refs[forward]
	if len(refs) < indexedFrom {
		for i := range refs {
			if t := refs[i].target; t != nil && (t.class == 0 || t.name == name) {
				f(refs[i])
			}
		}
		return
	}
	m := n.extend()
	if m.names == nil {
		m.names = newNameIndex(refs)
	}
	x := m.names
	mask := uint64(len(x.slots) - 1)
	for i := hashName(name); x.slots[i&mask] != 0; i++ {
		if r := at(refs, x.slots[i&mask]); r != nil && r.target.name == name {
			f(*r)
		}
	}
	for _, number := range x.outside {
		if r := at(refs, number); r != nil {
			f(*r)
		}
	}
}

// at is the reference with a number; nil when it was removed.
func at(refs []ref, number uint64) *ref {
	i := position(refs, number)
	if i == len(refs) || refs[i].number() != number || refs[i].target == nil {
		return nil
	}
	return &refs[i]
}
