package uasc

import "sync/atomic"

// Budget bounds the memory that all connections of a server together hold for messages that are not
// complete yet. It is safe for use by several goroutines; a nil Budget has no bound.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a Budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Reserve takes n bytes and reports whether they were left. Peers that nobody trusts yet find the
// second half of the Budget closed, so that however many of them come, clients with a session can
// still send long messages.
func (b *Budget) Reserve(n int, trusted bool) bool {
	if b == nil {
		return true
	}
	limit := b.limit
	if !trusted {
		limit /= 2
	}
	if b.used.Add(int64(n)) > limit {
		b.used.Add(-int64(n))
		return false
	}
	return true
}

// Release gives back n bytes of earlier Reserves.
func (b *Budget) Release(n int) {
	if b != nil {
		b.used.Add(-int64(n))
	}
}

// Used is the number of bytes now reserved.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}
