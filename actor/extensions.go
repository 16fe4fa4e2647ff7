package actor

import (
	"sync"
	"sync/atomic"
)

// An Extension is something of which each system has one, made when it is first asked for: a connection pool, a
// registry, a client of a service (Akka.NET: ExtensionIdProvider). Make it once, as a variable of a package.
type Extension[T any] struct {
	make func(*System) T
}

// NewExtension makes an extension. A nil function is a mistake of the program: NewExtension panics.
func NewExtension[T any](make func(*System) T) *Extension[T] {
	if make == nil {
		panic("actor: NewExtension needs a function")
	}
	return &Extension[T]{make}
}

// Of returns the one of a system. The first call makes it; calls at the same time wait for it. The function that
// makes it may use other extensions. Where it panics, so does Of, and the next call tries again. It must not use
// its own extension, directly or through another: Of panics. What the extension has to close, it closes in an actor of
// its own, or when [System.WhenTerminated] says so.
func (x *Extension[T]) Of(s *System) T {
	if v, ok := s.extensions.made.Load(x); ok {
		return v.(holder[T]).value
	}
	unlock := s.extensions.lock(x)
	defer unlock()
	if v, ok := s.extensions.made.Load(x); ok {
		return v.(holder[T]).value
	}
	v := x.make(s)
	s.extensions.made.Store(x, holder[T]{v})
	return v
}

// holder lets T be an interface, and nil.
type holder[T any] struct{ value T }

// extensions are those of a system. One goroutine at a time makes extensions, since two that need each other's
// would wait for ever.
type extensions struct {
	made sync.Map // *Extension[T] to holder[T]

	mu     sync.Mutex
	maker  atomic.Uint64 // the goroutine that has mu
	making map[any]bool
}

// lock waits until extensions may be made. The goroutine that makes one may go on to make another.
func (e *extensions) lock(x any) (unlock func()) {
	me := goroutineID()
	if e.maker.Load() != me {
		e.mu.Lock()
		e.maker.Store(me)
		e.making = map[any]bool{x: true}
		return func() {
			e.maker.Store(0)
			e.making = nil
			e.mu.Unlock()
		}
	}
	if e.making[x] {
		panic("actor: an extension needs itself to be made")
	}
	e.making[x] = true
	return func() { delete(e.making, x) }
}
