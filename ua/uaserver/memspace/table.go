package memspace

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/actua/actua/ua"
)

// table finds nodes by id. It is one open-addressed array: readers take no lock and allocate nothing,
// writers are ordered by Space.mu. Growing replaces the array; readers that still have the old one
// see the nodes of that moment.
type table struct {
	slots atomic.Pointer[[]atomic.Pointer[Node]]
	used  int // slots that are not nil, removed ones among them
	live  int
	seed  maphash.Seed
}

// tombstone stands where a node was removed, so that searches go on behind it.
var tombstone = new(Node)

const smallestTable = 1 << 6

func (t *table) init(nodes int) {
	t.seed = maphash.MakeSeed()
	t.resize(nodes)
}

// hash spreads ids but keeps eight numeric neighbours side by side, so that reading a block of ids
// touches few cache lines.
func (t *table) hash(id ua.NodeID) uint64 {
	switch id.Type() {
	case ua.IDTypeNumeric:
		n := uint64(id.Namespace())<<32 | uint64(id.Numeric())
		return (n>>3)*0x9E3779B97F4A7C15>>24&^7 | n&7
	case ua.IDTypeString:
		return maphash.String(t.seed, id.Text()) + uint64(id.Namespace())*0x9E3779B97F4A7C15
	}
	return maphash.Comparable(t.seed, id)
}

// find returns the node with an id, or nil.
func (t *table) find(id ua.NodeID) *Node {
	slots := *t.slots.Load()
	mask := uint64(len(slots) - 1)
	for i := t.hash(id); ; i++ {
		n := slots[i&mask].Load()
		if n == nil {
			return nil
		}
		if n.id == id && n != tombstone {
			return n
		}
	}
}

// insert adds a node whose id is not in the table.
func (t *table) insert(n *Node) {
	if slots := *t.slots.Load(); (t.used+1)*4 > len(slots)*3 {
		t.resize(t.live + 1)
	}
	t.place(*t.slots.Load(), n)
	t.live++
}

func (t *table) place(slots []atomic.Pointer[Node], n *Node) {
	mask := uint64(len(slots) - 1)
	for i := t.hash(n.id); ; i++ {
		slot := &slots[i&mask]
		switch slot.Load() {
		case nil:
			t.used++
			slot.Store(n)
			return
		case tombstone:
			slot.Store(n)
			return
		}
	}
}

// remove takes a node out; nothing happens when it is not in the table.
func (t *table) remove(n *Node) {
	slots := *t.slots.Load()
	mask := uint64(len(slots) - 1)
	for i := t.hash(n.id); ; i++ {
		switch slots[i&mask].Load() {
		case nil:
			return
		case n:
			slots[i&mask].Store(tombstone)
			if t.live--; t.live*8 < len(slots) && len(slots) > smallestTable {
				t.resize(t.live * 2)
			}
			return
		}
	}
}

// resize makes room for at least so many nodes and drops the tombstones.
func (t *table) resize(nodes int) {
	size := smallestTable
	for size*2 < nodes*3 {
		size *= 2
	}
	slots := make([]atomic.Pointer[Node], size)
	t.used = 0
	if old := t.slots.Load(); old != nil {
		for i := range *old {
			if n := (*old)[i].Load(); n != nil && n != tombstone {
				t.place(slots, n)
			}
		}
	}
	t.slots.Store(&slots)
}

// each calls f with every node until it returns false.
func (t *table) each(f func(*Node) bool) {
	slots := *t.slots.Load()
	for i := range slots {
		if n := slots[i].Load(); n != nil && n != tombstone && !f(n) {
			return
		}
	}
}
