package lease

import "sync/atomic"

// ring is a bounded queue for any number of producers and consumers, after Dmitry Vyukov's: each slot
// has a turn that says whose it is, so that no operation waits for another. It is never shrunk;
// a full one gets a larger sibling in front of it (see queue).
type ring[T any] struct {
	slots []slot[T]
	mask  uint64
	older *ring[T]
	_     [64]byte // head and tail in cache lines of their own
	tail  atomic.Uint64
	_     [64]byte
	head  atomic.Uint64
	_     [64]byte
}

type slot[T any] struct {
	turn atomic.Uint64
	item *T
}

// newRing makes a ring of n slots, a power of two.
func newRing[T any](n int, older *ring[T]) *ring[T] {
	r := &ring[T]{slots: make([]slot[T], n), mask: uint64(n - 1), older: older}
	for i := range r.slots {
		r.slots[i].turn.Store(uint64(i))
	}
	return r
}

// push reports false when there is no free slot.
func (r *ring[T]) push(x *T) bool {
	at := r.tail.Load()
	for {
		s := &r.slots[at&r.mask]
		switch d := int64(s.turn.Load() - at); {
		case d == 0:
			if r.tail.CompareAndSwap(at, at+1) {
				s.item = x
				s.turn.Store(at + 1)
				return true
			}
			at = r.tail.Load()
		case d < 0:
			return false
		default:
			at = r.tail.Load()
		}
	}
}

// pop returns nil when there is nothing, or nothing whose push has ended.
func (r *ring[T]) pop() *T {
	at := r.head.Load()
	for {
		s := &r.slots[at&r.mask]
		switch d := int64(s.turn.Load() - at - 1); {
		case d == 0:
			if r.head.CompareAndSwap(at, at+1) {
				x := s.item
				s.item = nil
				s.turn.Store(at + r.mask + 1)
				return x
			}
			at = r.head.Load()
		case d < 0:
			return nil
		default:
			at = r.head.Load()
		}
	}
}

// queue is a chain of rings: small for a pool that holds little, twice the size with each ring that
// is added, so that a push or pop looks at a handful at most.
type queue[T any] struct {
	front atomic.Pointer[ring[T]]
}

const firstRing = 64

// push reports false when the rings are full and have room for limit items already.
func (q *queue[T]) push(x *T, limit int) bool {
	for {
		front := q.front.Load()
		size := 0
		for r := front; r != nil; r = r.older {
			if r.push(x) {
				return true
			}
			size += len(r.slots)
		}
		if size >= limit {
			return false
		}
		next := firstRing
		if front != nil {
			next = 2 * len(front.slots)
		}
		q.front.CompareAndSwap(front, newRing(next, front)) // whoever wins, there is room now
	}
}

func (q *queue[T]) pop() *T {
	for r := q.front.Load(); r != nil; r = r.older {
		if x := r.pop(); x != nil {
			return x
		}
	}
	return nil
}
