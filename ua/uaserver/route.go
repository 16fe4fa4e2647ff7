package uaserver

import (
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
	order []int32 // operations, those of a manager together and in their order
	next  []int32 // by manager, while sorting
	runs  []run
}

// run is a part of the order that one manager works on.
type run struct{ manager, from, to int }

func (b *batch) reset(n int) { b.owner = append(b.owner[:0], make([]int32, n)...) }

// sort fills order and runs from owner by counting.
func (b *batch) sort(managers int) {
	b.next = append(b.next[:0], make([]int32, managers)...)
	for _, o := range b.owner {
		if o >= 0 {
			b.next[o]++
		}
	}
	b.runs = b.runs[:0]
	at := 0
	for m, n := range b.next {
		b.next[m] = int32(at)
		if n > 0 {
			b.runs = append(b.runs, run{m, at, at + int(n)})
		}
		at += int(n)
	}
	b.order = append(b.order[:0], make([]int32, at)...)
	for i, o := range b.owner {
		if o >= 0 {
			b.order[b.next[o]] = int32(i)
			b.next[o]++
		}
	}
}

// nodeStatus is what is wrong with a NodeId before any manager is asked.
func nodeStatus(id ua.NodeID) ua.StatusCode {
	if id.IsNull() {
		return ua.BadNodeIdInvalid
	}
	return ua.BadNodeIdUnknown
}
