package uaserver

import (
	"slices"

	"github.com/actua/actua/ua"
)

// NamespaceURI0 is the URI of namespace 0, the standard's own nodes.
const NamespaceURI0 = "http://opcfoundation.org/UA/"

// managerOf is the index of the manager that has a namespace; -1 for none.
func (s *Server) managerOf(namespace uint16) int {
	if int(namespace) < len(s.owners) {
		return s.owners[namespace]
	}
	return -1
}

// NodeManagerOf is the manager that has the nodes of a namespace; nil if there is none.
func (s *Server) NodeManagerOf(namespace uint16) NodeManager {
	if i := s.managerOf(namespace); i >= 0 {
		return s.cfg.Nodes[i]
	}
	return nil
}

// batch orders the operations of a request by the manager that has their nodes.
type batch struct {
	owner []int32 // by operation; -1: already decided
	order []int32 // operations, those of a manager together and in their order; nil: as they are
	next  []int32 // by manager, while sorting
	kept  []int32 // the memory of order
	runs  []run
}

// run is a part of the order that one manager works on.
type run struct{ manager, from, to int }

func (b *batch) reset(n int) { b.owner = slices.Grow(b.owner[:0], n)[:n] }

// sort fills order and runs from owner.
func (b *batch) sort(managers int) {
	b.runs, b.order = b.runs[:0], nil
	if n := len(b.owner); n > 0 && b.uniform() {
		b.runs = append(b.runs, run{int(b.owner[0]), 0, n})
		return
	}
	b.next = append(b.next[:0], make([]int32, managers)...)
	for _, o := range b.owner {
		if o >= 0 {
			b.next[o]++
		}
	}
	at := 0
	for m, n := range b.next {
		b.next[m] = int32(at)
		if n > 0 {
			b.runs = append(b.runs, run{m, at, at + int(n)})
		}
		at += int(n)
	}
	b.kept = slices.Grow(b.kept[:0], at)[:at]
	b.order = b.kept
	for i, o := range b.owner {
		if o >= 0 {
			b.order[b.next[o]] = int32(i)
			b.next[o]++
		}
	}
}

// uniform reports whether one manager has all nodes, as it mostly is.
func (b *batch) uniform() bool {
	first := b.owner[0]
	for _, o := range b.owner {
		if o != first {
			return false
		}
	}
	return first >= 0
}

// len is the number of operations that managers work on.
func (b *batch) len() int {
	if b.order == nil && len(b.runs) == 1 {
		return len(b.owner)
	}
	return len(b.order)
}

// at is the operation that comes i-th.
func (b *batch) at(i int) int {
	if b.order == nil {
		return i
	}
	return int(b.order[i])
}

// nodeStatus is what is wrong with a NodeId before any manager is asked.
func nodeStatus(id ua.NodeID) ua.StatusCode {
	if id.IsNull() {
		return ua.BadNodeIdInvalid
	}
	return ua.BadNodeIdUnknown
}
