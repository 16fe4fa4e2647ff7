package uaserver

import (
	"sync"
	"time"

	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// A decoded request can be many times as large as its bytes: a Variant that takes one byte in a message
// takes 32 in memory. So a request may take memoryFactor times its bytes and requestBase more, but
// never more than a share of what all requests together may.
const (
	memoryFactor = 16
	requestBase  = 1 << 20
	// smallRequest is the size in bytes below which a request is not counted.
	smallRequest = 64 << 10
	// roomPatience is how long a request waits for others to be done.
	roomPatience = time.Second
)

// room bounds the memory that the decoded requests of all clients take together. Strangers get half of
// it at most.
type room struct {
	budget *uasc.Budget
	most   int // bytes of one request

	mu    sync.Mutex
	freed chan struct{} // closed when there is more room; nil when nobody waits
}

// newRoom makes a room for requests of which receive bytes may be on their way at a time: decoded they
// may take twice as much, and one of them a quarter of that.
func newRoom(receive int) *room {
	return &room{budget: uasc.NewBudget(2 * int64(receive)), most: max(receive/2, requestBase)}
}

// limits are those that a request of n bytes is decoded with.
func (r *room) limits(l uabin.Limits, n int) uabin.Limits {
	l.MaxMemory = min(memoryFactor*n+requestBase, r.most)
	return l
}

// enter takes n bytes, for which it waits a while if it may. It reports whether they were there.
func (r *room) enter(n int, trusted, mayWait bool, done <-chan struct{}) bool {
	var late <-chan time.Time
	for {
		r.mu.Lock()
		if r.budget.Reserve(n, trusted) {
			r.mu.Unlock()
			return true
		}
		if !mayWait {
			r.mu.Unlock()
			return false
		}
		if r.freed == nil {
			r.freed = make(chan struct{})
		}
		freed := r.freed
		r.mu.Unlock()
		if late == nil {
			t := time.NewTimer(roomPatience)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-freed:
		case <-late:
			return false
		case <-done:
			return false
		}
	}
}

// leave gives n bytes back.
func (r *room) leave(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.budget.Release(n)
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}
