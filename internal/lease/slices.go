package lease

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// SliceOptions tell a Slices how to work. All but MaxLen are optional.
type SliceOptions[T any] struct {
	MinLen, MaxLen int // smallest and largest size kept, rounded up to powers of two
	// Weight is how many elements of each size may be kept for each unit of the bound; 0 means 1.
	Weight int
	// Dirty leaves the elements as they are, for those who overwrite all that they rent and keep nothing
	// alive by it.
	Dirty bool
	// Poison overwrites a slice that was given back in a build with Checking.
	Poison func([]T)
}

// Slices is a pool of slices by size class (powers of two). Rent and Return are O(1) but for clearing,
// allocate nothing and may be called by any number of goroutines. Use NewSlices.
type Slices[T any] struct {
	opt      SliceOptions[T]
	minShift int
	bound    atomic.Int64
	classes  []*class[T]
	large    atomic.Uint64 // rents above MaxLen
	largeEnd atomic.Uint64 // their returns
	foreign  atomic.Uint64
}

// class keeps arrays of one size by the address of their first element.
type class[T any] struct {
	Pool[T]
	size int
}

// NewSlices makes a pool whose classes keep as many slices as bound allows: at most bound, at most
// bound x Weight elements, at least two. It returns ErrBound when bound is not positive.
func NewSlices[T any](bound int, opt SliceOptions[T]) (*Slices[T], error) {
	if bound <= 0 {
		return nil, fmt.Errorf("%w, it is %d", ErrBound, bound)
	}
	opt.Weight = max(opt.Weight, 1)
	opt.MinLen = max(opt.MinLen, 1)
	opt.MaxLen = max(opt.MaxLen, opt.MinLen)
	s := &Slices[T]{opt: opt, minShift: bits.Len(uint(opt.MinLen - 1))}
	for shift := s.minShift; shift <= bits.Len(uint(opt.MaxLen-1)); shift++ {
		c := &class[T]{size: 1 << shift}
		c.opt.New = func() *T { return unsafe.SliceData(make([]T, c.size)) }
		s.classes = append(s.classes, c)
	}
	s.bound.Store(int64(bound))
	s.setClasses(int64(bound))
	return s, nil
}

func (s *Slices[T]) setClasses(bound int64) {
	for _, c := range s.classes {
		n := min(max(bound*int64(s.opt.Weight)/int64(c.size), 2), max(bound, 2))
		_ = c.Raise(int(n)) // positive
	}
}

// Raise raises the bound; a lower one changes nothing. It returns ErrBound when bound is not positive.
func (s *Slices[T]) Raise(bound int) error {
	if bound <= 0 {
		return fmt.Errorf("%w, it is %d", ErrBound, bound)
	}
	for {
		old := s.bound.Load()
		if int64(bound) <= old {
			return nil
		}
		if s.bound.CompareAndSwap(old, int64(bound)) {
			s.setClasses(int64(bound))
			return nil
		}
	}
}

// classFor returns the class for n elements, nil if there is none that large.
func (s *Slices[T]) classFor(n int) *class[T] {
	i := max(bits.Len(uint(n-1))-s.minShift, 0)
	if i >= len(s.classes) {
		return nil
	}
	return s.classes[i]
}

// Rent returns a slice of n elements, zero unless Dirty. Its capacity is that of its class: pass s[:n:n] on, and keep
// s itself for Return. For n <= 0 it returns nil.
func (s *Slices[T]) Rent(n int) []T {
	if n <= 0 {
		return nil
	}
	c := s.classFor(n)
	if c == nil {
		s.large.Add(1)
		return make([]T, n)
	}
	b := unsafe.Slice(c.Pool.Rent(), c.size)
	if Checking && !s.opt.Dirty {
		clear(b) // of the pattern
	}
	return b[:n]
}

// Return clears a slice of Rent, unless Dirty, and gives it back; the caller must not keep anything of it. A slice
// whose capacity is of no class cannot be from here and is left to the collector.
func (s *Slices[T]) Return(b []T) {
	if cap(b) == 0 {
		return
	}
	c := s.classFor(cap(b))
	switch {
	case c == nil:
		s.largeEnd.Add(1)
		return
	case c.size != cap(b):
		s.foreign.Add(1)
		return
	}
	if !s.opt.Dirty {
		clear(b) // the elements behind len(b) were never given out
	}
	if Checking && s.opt.Poison != nil {
		s.opt.Poison(b[:cap(b)])
	}
	c.Pool.Return(unsafe.SliceData(b))
}

// Stats returns the sum of all classes; Bound is the bound given, not the sum.
func (s *Slices[T]) Stats() Stats {
	var sum Stats
	for _, c := range s.classes {
		one := c.Pool.Stats()
		one.IdleSize *= c.size
		sum.Add(one)
	}
	large := s.large.Load()
	sum.Returns += s.largeEnd.Load()
	sum.Rents += large
	sum.Misses += large
	sum.Bound = int(s.bound.Load())
	return sum
}

// Foreign is the number of returned slices that were refused because of their capacity.
func (s *Slices[T]) Foreign() uint64 { return s.foreign.Load() }
