package actor

import (
	"cmp"
	"slices"
	"sync"
)

// children are the children of a cell. A nil *children has none. The names are reserved under mu,
// since guardians get children from any goroutine; all else belongs to the goroutine that runs the cell.
type children struct {
	mu       sync.Mutex
	byName   map[string]*cell
	reserved map[string]struct{} // names of children that another node is being asked for
	names    uint64              // automatic names given so far
	born     uint32              // children so far
	ended    bool                // no more children: the cell is stopping, or has stopped

	wait  waitFor
	cause error
	dying map[*cell]struct{}
}

// noChildren are those of a cell that has ended: none, and no more.
var noChildren = children{ended: true}

// waitFor is what a cell does when the children that are being stopped have ended.
type waitFor uint8

const (
	waitNothing   waitFor = iota
	waitRecreate          // restart
	waitCreate            // make the actor that could not be made before
	waitTerminate         // end
)

func (c *cell) children() *children { return c.kids.Load() }

// makeChildren is children for a cell that gets its first.
func (c *cell) makeChildren() *children {
	if k := c.kids.Load(); k != nil {
		return k
	}
	k := &children{byName: make(map[string]*cell)}
	c.kids.Store(k)
	return k
}

// taken reports whether a name is in use. The lock is held, here and in the next two.
func (k *children) taken(name string) bool {
	_, reserved := k.reserved[name]
	return reserved || k.byName[name] != nil
}

func (k *children) reserve(name string) {
	if k.reserved == nil {
		k.reserved = make(map[string]struct{})
	}
	k.reserved[name] = struct{}{}
}

func (k *children) add(name string, child *cell) {
	child.born = k.born
	k.born++
	k.byName[name] = child
}

// waiting reports whether a restart waits for children to stop.
func (k *children) waiting() bool {
	return k != nil && (k.wait == waitRecreate || k.wait == waitCreate)
}

// terminating reports whether the cell is stopping.
func (k *children) terminating() bool { return k != nil && (k.wait == waitTerminate || k.ended) }

// waitFor lets what happens wait for the children that are being stopped. It reports false when there are none:
// then it can happen now.
func (k *children) waitFor(what waitFor, cause error) bool {
	if k == nil {
		return false
	}
	if what == waitTerminate {
		k.mu.Lock()
		k.ended = true
		k.mu.Unlock()
	}
	if len(k.dying) == 0 {
		return false
	}
	k.wait, k.cause = what, cause
	return true
}

// end refuses children from now on.
func (k *children) end() {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
}

// has reports whether child is one.
func (k *children) has(child *cell) bool { return k != nil && k.get(child.ref.Name()) == child }

// of is the child of that Ref, nil if it is none.
func (k *children) of(r *Ref) *cell {
	if c := r.c; c != nil {
		if k.has(c) {
			return c
		}
		return nil
	}
	if c := k.get(r.Name()); c != nil && c.ref.Equal(r) {
		return c
	}
	return nil
}

func (k *children) get(name string) *cell {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.byName[name]
}

// all are the children in the order in which they were made.
func (k *children) all() []*cell {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	out := make([]*cell, 0, len(k.byName))
	for _, c := range k.byName {
		out = append(out, c)
	}
	k.mu.Unlock()
	slices.SortFunc(out, func(a, b *cell) int { return cmp.Compare(a.born, b.born) })
	return out
}

// each calls f with each child, in the order in which they were made.
func (k *children) each(f func(*cell)) {
	for _, c := range k.all() {
		f(c)
	}
}

// stop stops one child, and remembers that it is ending.
func (k *children) stop(child *cell) {
	if !k.has(child) {
		return
	}
	if k.dying == nil {
		k.dying = make(map[*cell]struct{})
	}
	k.dying[child] = struct{}{}
	child.ref.tellSystem(&sysMsg{kind: sysTerminate})
}

func (k *children) stopAll() {
	if k != nil {
		k.each(k.stop)
	}
}

// remove takes off a child that has ended. Where that was the last that something waited for, it says what.
func (k *children) remove(child *cell) (waitFor, error) {
	if !k.has(child) {
		return waitNothing, nil
	}
	k.mu.Lock()
	delete(k.byName, child.ref.Name())
	if len(k.byName) == 0 && k.born > 1024 {
		k.byName = make(map[string]*cell) // a map keeps what it once needed
	}
	k.mu.Unlock()
	if delete(k.dying, child); len(k.dying) > 0 {
		return waitNothing, nil
	}
	k.dying = nil
	wait, cause := k.wait, k.cause
	k.wait, k.cause = waitNothing, nil
	return wait, cause
}
