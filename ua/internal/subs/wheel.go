package subs

import (
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// Wheel says which nodes have to be read when. Items that cannot be pushed to are grouped by what they
// monitor and how often: a Group is read once each interval, whatever the number of its items, and all
// groups of one interval are due together, so that they are read in one batch. A Wheel without active
// groups has nothing due. It is safe for use by several goroutines.
type Wheel struct {
	mu    sync.Mutex
	rates map[time.Duration]*rate
	order []*rate // those with active groups, by next
}

// rate is all groups of one interval.
type rate struct {
	interval time.Duration
	next     time.Duration
	active   []*Group
	groups   map[any]*Group // by key
}

// Group is the items of one key and interval. Its Node is what they are created with.
type Group struct {
	Node
	Key    any // the caller's: node and attribute
	Source any // the caller's, of the first item that has joined

	wheel  *Wheel
	rate   *rate
	at     int32 // in rate.active
	items  int32 // that have joined and not left
	active int32 // of these, not paused
	busy   bool  // handed out by Due and not yet done
}

// Join returns the group of a key, which must be comparable, and an interval, which must be positive, for
// one more item. It is active at once: pause it for an item that is disabled. A new group gets the source.
func (w *Wheel) Join(key, source any, interval, now time.Duration) *Group {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.rates[interval]
	if r == nil {
		if w.rates == nil {
			w.rates = map[time.Duration]*rate{}
		}
		r = &rate{interval: interval, groups: map[any]*Group{}}
		w.rates[interval] = r
	}
	g := r.groups[key]
	if g == nil {
		g = &Group{Key: key, Source: source, wheel: w, rate: r}
		r.groups[key] = g
	}
	g.items++
	g.resume(now)
	return g
}

// Leave takes an item out that Join has let in; active tells that it is not paused.
func (g *Group) Leave(active bool) {
	g.wheel.mu.Lock()
	defer g.wheel.mu.Unlock()
	if active {
		g.pause()
	}
	if g.items--; g.items > 0 {
		return
	}
	delete(g.rate.groups, g.Key)
	if len(g.rate.groups) == 0 {
		delete(g.wheel.rates, g.rate.interval)
	}
}

// Pause notes that an item of the group is disabled. A group whose items all are is not read.
func (g *Group) Pause() {
	g.wheel.mu.Lock()
	defer g.wheel.mu.Unlock()
	g.pause()
}

// Resume ends a Pause.
func (g *Group) Resume(now time.Duration) {
	g.wheel.mu.Lock()
	defer g.wheel.mu.Unlock()
	g.resume(now)
}

func (g *Group) resume(now time.Duration) {
	if g.active++; g.active > 1 {
		return
	}
	r := g.rate
	g.at = int32(len(r.active))
	r.active = append(r.active, g)
	if len(r.active) == 1 {
		r.next = now + r.interval
		g.wheel.order = append(g.wheel.order, r)
		g.wheel.sort()
	}
}

func (g *Group) pause() {
	if g.active--; g.active > 0 {
		return
	}
	r := g.rate
	last := len(r.active) - 1
	r.active[g.at] = r.active[last]
	r.active[g.at].at = g.at
	r.active[last] = nil
	r.active = r.active[:last]
	if last == 0 {
		g.wheel.order = slices.DeleteFunc(g.wheel.order, func(o *rate) bool { return o == r })
	}
}

// Interval is how often the group is read.
func (g *Group) Interval() time.Duration { return g.rate.interval }

// Due appends the groups that are to be read now, once however many readings were missed, and says when to
// call again: never, the greatest Duration, when nothing is active. A group whose last reading is not Done
// is left out, so that a slow source delays nobody else and gathers no backlog.
func (w *Wheel) Due(now time.Duration, dst []*Group) ([]*Group, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	moved := false
	for _, r := range w.order {
		if r.next > now {
			break
		}
		r.next += ((now-r.next)/r.interval + 1) * r.interval
		moved = true
		for _, g := range r.active {
			if !g.busy {
				g.busy = true
				dst = append(dst, g)
			}
		}
	}
	if moved {
		w.sort()
	}
	if len(w.order) == 0 {
		return dst, never
	}
	return dst, w.order[0].next
}

// Next is when something is due; never, the greatest Duration, when nothing is active.
func (w *Wheel) Next() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		return never
	}
	return w.order[0].next
}

// Done ends the reading of groups that Due handed out.
func (w *Wheel) Done(groups []*Group) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range groups {
		g.busy = false
	}
}

// sort orders the few rates by time.
func (w *Wheel) sort() {
	slices.SortStableFunc(w.order, func(a, b *rate) int {
		switch {
		case a.next < b.next:
			return -1
		case a.next > b.next:
			return 1
		}
		return 0
	})
}

// Sample gives what was read to the items of the group.
func (g *Group) Sample(v *ua.DataValue, at time.Duration) { g.Push(v, at) }
