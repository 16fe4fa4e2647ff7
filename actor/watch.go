package actor

// DeathWatch. The watcher keeps whom it watches, the watched one who watches it; a system message tells each of
// the other. A Terminated that is in the mailbox already is let through only while it is expected, so that none
// arrives after Unwatch.

// key is a Ref as a key of a map: equal for equal Refs.
func (r *Ref) key() any {
	if k, ok := r.t.(interface{ key(*Ref) any }); ok {
		return k.key(r)
	}
	return r
}

// watches is both sides of what a cell has to do with DeathWatch.
type watches struct {
	watching map[any]watched
	queued   map[any]queuedEnd
	watchers map[any]*Ref
}

// watched is one actor that a cell watches.
type watched struct {
	ref *Ref
	msg any // in place of Terminated, if set
}

// queuedEnd is an end whose Terminated is in the mailbox.
type queuedEnd struct {
	ref *Ref
	msg any
}

// startWatching asks for the end of ref. msg takes the place of Terminated, if it is not nil.
func (c *cell) startWatching(ref *Ref, msg any) {
	if ref == &c.ref || c.state == stopping || c.state == stopped {
		return
	}
	w := &c.more().watch
	k := ref.key()
	if old, ok := w.watching[k]; ok {
		if (old.msg == nil) != (msg == nil) || msg != nil {
			w.watching[k] = watched{ref, msg}
		}
		return
	}
	if w.watching == nil {
		w.watching = make(map[any]watched)
	}
	w.watching[k] = watched{ref, msg}
	ref.tellSystem(&sysMsg{kind: sysWatch, ref: ref, other: &c.ref})
}

// stopWatching takes it back, also where the Terminated waits in the mailbox.
func (c *cell) stopWatching(ref *Ref) {
	if c.ext == nil {
		return
	}
	w := &c.ext.watch
	k := ref.key()
	if _, ok := w.watching[k]; ok {
		delete(w.watching, k)
		ref.tellSystem(&sysMsg{kind: sysUnwatch, ref: ref, other: &c.ref})
	}
	delete(w.queued, k)
}

// unwatchAll forgets whom the cell watches, because it stops.
func (c *cell) unwatchAll() {
	if c.ext == nil {
		return
	}
	w := &c.ext.watch
	for _, x := range w.watching {
		x.ref.tellSystem(&sysMsg{kind: sysUnwatch, ref: x.ref, other: &c.ref})
	}
	w.watching, w.queued = nil, nil
}

func (c *cell) addWatcher(watchee, watcher *Ref) {
	if watcher == nil || watchee != nil && !watchee.Equal(&c.ref) {
		return
	}
	w := &c.more().watch
	if w.watchers == nil {
		w.watchers = make(map[any]*Ref)
	}
	w.watchers[watcher.key()] = watcher
}

func (c *cell) removeWatcher(_, watcher *Ref) {
	if c.ext == nil {
		return
	}
	delete(c.ext.watch.watchers, watcher.key())
}

// tellWatchers says that the cell has ended: first to those on other nodes, since one here may stop the node
// when it hears of it.
func (c *cell) tellWatchers() {
	if c.ext == nil {
		return
	}
	ws := c.ext.watch.watchers
	c.ext.watch.watchers = nil
	for _, local := range []bool{false, true} {
		for _, w := range ws {
			if (w.c != nil) == local && w != c.parent {
				w.tellSystem(&sysMsg{kind: sysDeathNotice, ref: &c.ref, existed: true})
			}
		}
	}
}

// ended handles the end of an actor that is watched, or a child, or both.
func (c *cell) ended(m *sysMsg) {
	if c.ext != nil {
		w := &c.ext.watch
		k := m.ref.key()
		if x, ok := w.watching[k]; ok {
			delete(w.watching, k)
			if c.state != stopping {
				if w.queued == nil {
					w.queued = make(map[any]queuedEnd)
				}
				w.queued[k] = queuedEnd(x)
				c.enqueueOwn(Terminated{Ref: x.ref, ExistenceConfirmed: m.existed, AddressTerminated: m.addressEnd}, x.ref)
			}
		}
	}
	if k := c.children().of(m.ref); k != nil {
		c.childEnded(k)
	}
}

// terminated hands a Terminated to the actor, unless it is not expected any more.
func (c *cell) terminated(m Terminated) {
	if c.ext == nil || m.Ref == nil {
		return
	}
	w := &c.ext.watch
	k := m.Ref.key()
	q, ok := w.queued[k]
	if !ok {
		return
	}
	delete(w.queued, k)
	if q.msg != nil {
		c.msg = q.msg
	}
	c.receive()
}
