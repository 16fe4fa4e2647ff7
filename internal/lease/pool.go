// Package lease is the one home of ownership: bounded pools of objects, slices and byte buffers for
// memory that is rented, shared by counted owners and given back by the last of them.
//
// Pools are only a matter of speed. What is never given back is collected as garbage; nothing waits
// for it. In builds with -race or -tags leasecheck, memory that comes back is overwritten with a
// pattern (see Checking), so that whoever still reads it reads nonsense in a test and not in a plant.
package lease

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Bounds of what a pool keeps.
const (
	DefaultBound = 1024
	MaxBound     = 65536
)

// ErrBound is returned for a bound that is not positive.
var ErrBound = errors.New("lease: the bound of a pool must be positive")

// BoundFor is the bound for a process with this number of monitored items: what was rented comes back
// about two publishing cycles later, so twice the items, at least DefaultBound and at most MaxBound.
func BoundFor(items int) int {
	return min(max(items, DefaultBound/2), MaxBound/2) * 2
}

// Options tell a Pool what to do with objects. All are optional.
type Options[T any] struct {
	// New makes an object when the pool has none; the default is new(T).
	New func() *T
	// Clear takes everything out of an object that must not be seen again or kept alive. It runs
	// when the object is given back, and in checking builds once more when it is rented.
	Clear func(*T)
	// Poison overwrites an object that was given back in a build with Checking.
	Poison func(*T)
	// Idle is where an object remembers that it is in the pool; with it, giving back the same object
	// twice is harmless.
	Idle func(*T) *atomic.Uint32
}

// Pool keeps objects for further use, up to a bound. Rent and Return are O(1), allocate nothing and
// may be called by any number of goroutines. Use NewPool.
type Pool[T any] struct {
	opt                                    Options[T]
	first                                  atomic.Pointer[T] // what one goroutine rents and returns alone never gets further
	bound                                  atomic.Int64
	_                                      [64]byte
	count                                  atomic.Int64 // in queue, without first
	queue                                  atomic.Pointer[queue[T]]
	_                                      [64]byte
	rents, misses, returns, drops, doubles atomic.Uint64
}

// NewPool makes a pool that keeps up to bound objects. It returns ErrBound when bound is not positive.
func NewPool[T any](bound int, opt Options[T]) (*Pool[T], error) {
	if bound <= 0 {
		return nil, fmt.Errorf("%w, it is %d", ErrBound, bound)
	}
	p := &Pool[T]{opt: opt}
	p.bound.Store(int64(bound))
	return p, nil
}

// Rent returns an object of the pool or a new one.
func (p *Pool[T]) Rent() *T {
	p.rents.Add(1)
	x := p.take()
	if x == nil {
		p.misses.Add(1)
		if p.opt.New != nil {
			return p.opt.New()
		}
		return new(T)
	}
	if Checking && p.opt.Clear != nil && p.opt.Poison != nil {
		p.opt.Clear(x)
	}
	if p.opt.Idle != nil {
		p.opt.Idle(x).Store(0)
	}
	return x
}

func (p *Pool[T]) take() *T {
	if x := p.first.Load(); x != nil && p.first.CompareAndSwap(x, nil) {
		return x
	}
	if q := p.queue.Load(); q != nil && p.count.Load() > 0 {
		if x := q.pop(); x != nil {
			p.count.Add(-1)
			return x
		}
	}
	return nil
}

// Return gives an object back, of which the caller must not keep anything. Beyond the bound it is left
// to the collector. Nil, and an object that is known to be in the pool, are ignored.
func (p *Pool[T]) Return(x *T) {
	if x == nil {
		return
	}
	if p.opt.Idle != nil {
		if !p.opt.Idle(x).CompareAndSwap(0, 1) {
			p.doubles.Add(1)
			return
		}
	} else if p.first.Load() == x {
		p.doubles.Add(1)
		return
	}
	p.returns.Add(1)
	if p.opt.Clear != nil {
		p.opt.Clear(x)
	}
	if Checking && p.opt.Poison != nil {
		p.opt.Poison(x)
	}
	if !p.put(x) {
		p.drops.Add(1)
	}
}

func (p *Pool[T]) put(x *T) bool {
	if p.first.Load() == nil && p.first.CompareAndSwap(nil, x) {
		return true
	}
	limit := p.bound.Load() - 1 // one is first
	if p.count.Add(1) > limit {
		p.count.Add(-1)
		return false
	}
	q := p.queue.Load()
	if q == nil {
		p.queue.CompareAndSwap(nil, new(queue[T]))
		q = p.queue.Load()
	}
	if !q.push(x, int(limit)) {
		p.count.Add(-1)
		return false
	}
	return true
}

// Raise lets the pool keep bound objects; a bound below the present one changes nothing. It returns
// ErrBound when bound is not positive.
func (p *Pool[T]) Raise(bound int) error {
	if bound <= 0 {
		return fmt.Errorf("%w, it is %d", ErrBound, bound)
	}
	for {
		old := p.bound.Load()
		if int64(bound) <= old || p.bound.CompareAndSwap(old, int64(bound)) {
			return nil
		}
	}
}

// Stats are the counters of a pool, or the sum of several.
type Stats struct {
	Bound    int    // how many it may keep
	Idle     int    // how many it keeps now
	Rents    uint64 // since the start, like all below
	Misses   uint64 // rents that had to allocate
	Returns  uint64
	Drops    uint64 // returns beyond the bound, left to the collector
	Doubles  uint64 // returns of what was in the pool already, ignored
	IdleSize int    // bytes kept, without what objects refer to
}

// Outstanding is the number of rents that were not returned so far, lost ones included.
func (s Stats) Outstanding() int { return int(s.Rents - s.Returns) }

// Add adds the counters of another pool.
func (s *Stats) Add(o Stats) {
	s.Bound += o.Bound
	s.Idle += o.Idle
	s.Rents += o.Rents
	s.Misses += o.Misses
	s.Returns += o.Returns
	s.Drops += o.Drops
	s.Doubles += o.Doubles
	s.IdleSize += o.IdleSize
}

// Stats returns the counters. Each is read by itself, so while others rent and return they may differ
// by what is under way.
func (p *Pool[T]) Stats() Stats {
	var size T
	returns := p.returns.Load() // before rents, so that Outstanding is not negative
	s := Stats{
		Bound: int(p.bound.Load()), Idle: int(p.count.Load()),
		Rents: p.rents.Load(), Misses: p.misses.Load(), Returns: returns,
		Drops: p.drops.Load(), Doubles: p.doubles.Load(),
	}
	if p.first.Load() != nil {
		s.Idle++
	}
	s.IdleSize = s.Idle * int(unsafe.Sizeof(size))
	return s
}
