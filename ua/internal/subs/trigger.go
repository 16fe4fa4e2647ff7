package subs

import (
	"slices"
	"time"

	"github.com/actua/actua/ua"
)

// fires takes the flag that a triggering item in the list of those to publish has a new value.
func (i *Item) fires() bool {
	if i.ext == nil || len(i.ext.links) == 0 {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	f := i.flags&readyTrigger != 0
	i.flags &^= readyTrigger
	return f
}

// fire triggers the links of the items that fire; true when one has something to report.
func (s *Subscription) fire(at time.Duration) bool {
	any := false
	for _, i := range s.firing {
		for _, l := range i.ext.links {
			if l.trigger(at) {
				s.mark(l)
				any = true
			}
		}
	}
	clear(s.firing)
	s.firing = s.firing[:0]
	return any
}

// SetTriggering removes and adds links between a triggering item and others (Part 4, 5.13.5), in this order.
// The status is that of the call: BadSubscriptionIdInvalid, BadNothingToDo, BadMonitoredItemIdInvalid for
// the triggering item. The result of a link is BadMonitoredItemIdInvalid for an unknown item and for a
// link to be removed that is not there.
func (s *Subscription) SetTriggering(now Now, by *Session, item uint32, add, remove []uint32) (added, removed []ua.StatusCode, status ua.StatusCode) {
	if status := s.lockFor(by, now); status != ua.Good {
		return nil, nil, status
	}
	defer s.mu.Unlock()
	if len(add)+len(remove) == 0 {
		return nil, nil, ua.BadNothingToDo
	}
	t := s.items[item]
	if t == nil {
		return nil, nil, ua.BadMonitoredItemIdInvalid
	}
	removed = make([]ua.StatusCode, len(remove))
	for n, id := range remove {
		if l := s.items[id]; l == nil || !s.unlink(t, l) {
			removed[n] = ua.BadMonitoredItemIdInvalid
		}
	}
	added = make([]ua.StatusCode, len(add))
	for n, id := range add {
		l := s.items[id]
		if l == nil {
			added[n] = ua.BadMonitoredItemIdInvalid
			continue
		}
		s.link(t, l)
		s.mark(l)
	}
	s.mark(t)
	s.stir(now)
	return added, removed, ua.Good
}

func (i *Item) extended() *extra {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ext == nil {
		i.ext = new(extra)
	}
	return i.ext
}

func (s *Subscription) link(t, l *Item) {
	x := t.extended()
	if slices.Contains(x.links, l) {
		return
	}
	if len(x.links) == 0 { // what came before is no trigger
		t.mu.Lock()
		t.flags &^= readyTrigger
		t.mu.Unlock()
	}
	x.links = append(x.links, l)
	y := l.extended()
	y.triggeredBy = append(y.triggeredBy, t)
	s.links++
}

func (s *Subscription) unlink(t, l *Item) bool {
	if t.ext == nil {
		return false
	}
	n := slices.Index(t.ext.links, l)
	if n < 0 {
		return false
	}
	t.ext.links = slices.Delete(t.ext.links, n, n+1)
	if n := slices.Index(l.ext.triggeredBy, t); n >= 0 {
		l.ext.triggeredBy = slices.Delete(l.ext.triggeredBy, n, n+1)
	}
	s.links--
	return true
}

// unlinkAll takes an item that is deleted out of all links.
func (s *Subscription) unlinkAll(i *Item) {
	if i.ext == nil {
		return
	}
	for len(i.ext.links) > 0 {
		s.unlink(i, i.ext.links[0])
	}
	for len(i.ext.triggeredBy) > 0 {
		s.unlink(i.ext.triggeredBy[0], i)
	}
}
