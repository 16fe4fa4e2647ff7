package subs

import (
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// Node is the list of monitored items that get the values of one attribute of a node, or of one Group of
// the Wheel. The zero value is an empty list. A node manager has one for each attribute that is monitored;
// pushing to an empty one costs a lock.
//
// Pushes to one Node are one after the other, so that all items see the values in one order.
type Node struct {
	mu    sync.Mutex
	items []*Item
}

// Push gives a value to all items of the list: an uncontended lock, a comparison and a copy for each, no
// allocation. v is not changed; what it holds is immutable, as every Variant.
func (n *Node) Push(v *ua.DataValue, at time.Duration) {
	n.mu.Lock()
	for k, i := range n.items {
		if k%ahead == 0 {
			touch(n.items[k:min(k+ahead, len(n.items))])
		}
		i.Push(v, at)
	}
	n.mu.Unlock()
}

// PushEvent gives an event to all items of the list. Filters ask the event with no lock held, since an
// event may be a user's; events that are pushed at the same time have no order.
func (n *Node) PushEvent(e Event) {
	n.mu.Lock()
	items := slices.Clone(n.items)
	n.mu.Unlock()
	for _, i := range items {
		i.PushEvent(e)
	}
}

// Len is the number of items.
func (n *Node) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.items)
}

func (n *Node) add(i *Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i.at = int32(len(n.items))
	n.items = append(n.items, i)
}

// remove takes an item off; one that is not there is left alone.
func (n *Node) remove(i *Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if int(i.at) >= len(n.items) || n.items[i.at] != i {
		return
	}
	last := len(n.items) - 1
	n.items[i.at] = n.items[last]
	n.items[i.at].at = i.at
	n.items[last] = nil
	n.items = n.items[:last]
	if last == 0 {
		n.items = nil
	}
}
