package subs

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
)

// Item is a monitored item (Part 4, 5.13.1). Values reach it from any goroutine; it keeps them until its
// subscription publishes. An idle one costs its memory and nothing else.
type Item struct {
	// What each value touches comes first, so that it takes two cache lines, not three.
	sub *Subscription

	// The ready list (ready.go).
	signal atomic.Uint32 // free or held
	place  place         // guarded by the subscription's lock
	stamps uint8         // ua.TimestampsToReturn; from here on guarded by mu, with what is noted
	flags  flags
	mu     sync.Mutex
	mode   ua.MonitoringMode
	handle uint32
	ext    *extra
	ring   *ring

	// value is the last one that was accepted. It is also the queue as long as there is at most one
	// value in it (flag single); the ring comes into being with the second.
	value ua.DataValue

	id       uint32 // never changes
	size     uint32 // of the queue
	at       int32  // index in node.items, guarded by the node's lock
	node     *Node  // changes with the subscription's lock
	sampling time.Duration
	due      time.Duration // of the next sample of a throttled item
	tag      any           // never changes
}

// extra is what few items have.
type extra struct {
	filter   DataFilter
	interval IntervalFilter // filter, if it is one
	events   EventFilter
	queue    eventQueue
	rng      ua.NumericRange
	encode   func(*ua.DataValue)
	custom   Custom
	in       ua.DataValue // the value that is looked at

	// Guarded by the subscription's lock.
	scanned     bool    // custom does not signal
	links       []*Item // items this one triggers
	triggeredBy []*Item
}

type flags uint16

const (
	hasValue      flags = 1 << iota // value is one that was accepted
	single                          // value waits to be published
	discardOldest                   // else the newest
	throttled                       // pushed values may come faster than the sampling interval
	early                           // the value that waits came before its time, see enqueue
	readyTrigger                    // a new value: its links are to be triggered
	triggered                       // to be reported once, whatever the mode
	resend                          // the last value is to be reported again
	gone                            // deleted: takes nothing any more
)

// ItemConfig is what an item is made of. Sampling and QueueSize are revised, filters are compiled.
type ItemConfig struct {
	// Node is the list of items that gets the values: that of a node whose manager pushes, or the Node of
	// a Group of the Wheel. Nil for a Custom, and for an item that the caller pushes to alone.
	Node *Node
	Tag  any // the caller's

	ClientHandle  uint32
	Mode          ua.MonitoringMode
	Timestamps    ua.TimestampsToReturn
	QueueSize     uint32
	DiscardOldest bool
	Sampling      time.Duration
	// Continuous says that values are pushed whenever they change, not read every Sampling. Of values
	// that come faster than Sampling the last holds (Part 4, 5.13.1.2).
	Continuous bool

	Filter DataFilter      // nil: status or value has changed
	Events EventFilter     // for EventNotifier; excludes Filter
	Range  ua.NumericRange // zero value: the whole value
	Encode func(*ua.DataValue)
	Custom Custom
}

func (i *Item) configure(c *ItemConfig) {
	i.handle, i.size, i.stamps, i.sampling = c.ClientHandle, max(c.QueueSize, 1), uint8(c.Timestamps), c.Sampling
	i.flags &^= discardOldest | throttled
	if c.DiscardOldest {
		i.flags |= discardOldest
	}
	if c.Continuous && c.Sampling > 0 {
		i.flags |= throttled
	}
	x := i.ext
	if x == nil {
		if c.Filter == nil && c.Events == nil && c.Range.IsWhole() && c.Encode == nil && c.Custom == nil {
			return
		}
		x = new(extra)
		i.ext = x
	}
	x.filter, x.events, x.rng, x.encode, x.custom = c.Filter, c.Events, c.Range, c.Encode, c.Custom
	x.interval, _ = c.Filter.(IntervalFilter)
}

// ID is the monitored item id, unique in the Manager.
func (i *Item) ID() uint32 { return i.id }

// Subscription is that of the item, for its whole life.
func (i *Item) Subscription() *Subscription { return i.sub }

// Tag is that of the ItemConfig.
func (i *Item) Tag() any { return i.tag }

// ClientHandle is the number that notifications carry.
func (i *Item) ClientHandle() uint32 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.handle
}

// Mode is the monitoring mode.
func (i *Item) Mode() ua.MonitoringMode {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.mode
}

// Push gives the item a value; v is not changed. At is the current time. Values of one item are pushed
// in their order, which Node.Push sees to.
func (i *Item) Push(v *ua.DataValue, at time.Duration) {
	i.mu.Lock()
	ok := i.take(v, at)
	i.mu.Unlock()
	if ok {
		i.Signal()
	}
}

// PushInitial is Push for the value read after the item was created or enabled. It is left out when a
// value has come meanwhile, which is newer.
func (i *Item) PushInitial(v *ua.DataValue, at time.Duration) {
	i.mu.Lock()
	ok := i.flags&hasValue == 0 && i.take(v, at)
	i.mu.Unlock()
	if ok {
		i.Signal()
	}
}

// PushEvent gives the item an event, if it is one for events. The filter looks at it with no lock held.
func (i *Item) PushEvent(e Event) {
	i.mu.Lock()
	var f EventFilter
	if i.wants(e) {
		f = i.ext.events
	}
	i.mu.Unlock()
	if f == nil {
		return
	}
	fields, ok := f.Select(e)
	if !ok {
		return
	}
	i.mu.Lock()
	if ok = i.wants(e); ok {
		i.takeEvent(e, fields)
	}
	i.mu.Unlock()
	if ok {
		i.Signal()
	}
}

// wants reports whether the item takes events, and this one does not wait already.
func (i *Item) wants(e Event) bool {
	x := i.ext
	return x != nil && x.events != nil && i.mode != ua.MonitoringModeDisabled && i.flags&gone == 0 && !x.queue.has(e)
}

// take accepts and queues a value; false when there is nothing to report. The item is locked.
func (i *Item) take(v *ua.DataValue, at time.Duration) bool {
	if i.mode == ua.MonitoringModeDisabled || i.flags&gone != 0 {
		return false
	}
	if i.ext != nil {
		i.ext.in = *v // so that the caller's does not escape
		return i.takeExtra(&i.ext.in, at)
	}
	if i.unchanged(v) {
		return false
	}
	i.accepted(v, at)
	return true
}

// unchanged is what an item without a filter leaves out (Part 4, 7.22.2): neither status nor value differ.
func (i *Item) unchanged(v *ua.DataValue) bool {
	return i.flags&hasValue != 0 && v.Status == i.value.Status && i.sub.m.cfg.Same(v.Value, i.value.Value)
}

// accepted queues a value that is one to report. The first one never triggers.
func (i *Item) accepted(v *ua.DataValue, at time.Duration) {
	if i.flags&hasValue != 0 {
		i.flags |= readyTrigger
	}
	i.enqueue(v, at)
}

// takeExtra is take for an item that has a filter or the like; v is its own.
func (i *Item) takeExtra(v *ua.DataValue, at time.Duration) bool {
	x := i.ext
	if x.events != nil || x.custom != nil {
		return false
	}
	if !x.rng.IsWhole() || x.encode != nil {
		x.cut(v)
	}
	switch {
	case x.interval != nil:
		if !x.filter.Accept(&i.value, v) {
			return x.interval.Waiting() // must be looked at when its interval ends
		}
		i.flags |= readyTrigger
		return true
	case x.filter == nil && i.unchanged(v), x.filter != nil && i.flags&hasValue != 0 && !x.filter.Accept(&i.value, v):
		return false
	}
	i.accepted(v, at)
	return true
}

// cut applies the IndexRange and the data encoding.
func (x *extra) cut(v *ua.DataValue) {
	if !x.rng.IsWhole() && !v.Status.IsBad() {
		part, status := x.rng.Of(v.Value)
		if v.Value = part; status.IsBad() {
			v.Value, v.Status = ua.Variant{}, status
		}
	}
	if x.encode != nil {
		x.encode(v)
	}
}

// enqueue puts an accepted value into the queue.
//
// A throttled item takes one value each sampling interval; one that comes before its time takes the
// place of the newest that waits, or else waits for its time. Half an interval of tolerance keeps a
// source whose period is the sampling interval, give or take, from losing values.
func (i *Item) enqueue(v *ua.DataValue, at time.Duration) {
	overwrite := false
	if i.flags&throttled != 0 {
		switch half := i.sampling / 2; {
		case at < i.due-half:
			overwrite = i.count() > 0
			if !overwrite {
				i.flags |= early
			}
		default:
			overwrite = i.flags&early != 0 && at < i.due+half
			i.flags &^= early
			i.due = max(at, i.due) + i.sampling
		}
	}
	switch {
	case i.size == 1 || i.count() == 0:
		i.value = *v
		i.flags |= single | hasValue
		return
	case i.flags&single != 0:
		if (overwrite && i.value.Status != ua.BadNodeIdUnknown) || i.value.Status == ua.BadWaitingForInitialData {
			i.value = *v
			return
		}
		if i.ring == nil {
			i.ring = new(ring)
		}
		i.ring.put(&i.value, i.size)
		i.flags &^= single
	}
	i.value = *v
	r := i.ring
	switch newest := r.newest(); {
	case overwrite && newest.Status != ua.BadNodeIdUnknown, newest.Status == ua.BadWaitingForInitialData:
		overflow := newest.Status & overflowBits
		*newest = *v
		if overflow == overflowBits {
			newest.Status |= overflowBits
		}
	case uint32(r.n) < i.size:
		r.put(v, i.size)
	case i.flags&discardOldest != 0:
		r.drop()
		r.put(v, i.size)
		r.oldest().Status |= overflowBits
		i.sub.overflows.Add(1)
	default:
		*newest = *v
		newest.Status |= overflowBits
		i.sub.overflows.Add(1)
	}
}

// overflowBits say that values were lost beside this one (Part 4, 7.38.1).
const overflowBits = ua.StatusInfoDataValue | ua.StatusOverflow

// count is the number of values that wait in the item's own queue.
func (i *Item) count() int {
	n := 0
	if i.flags&single != 0 {
		n = 1
	} else if i.ring != nil {
		n = i.ring.n
	}
	return n
}

// pending is the number of notifications that wait, wherever they do.
func (i *Item) pending(at time.Duration) int {
	x := i.ext
	switch {
	case x == nil:
		return i.count()
	case x.custom != nil:
		return x.custom.Pending(at)
	case x.events != nil:
		return x.queue.pending()
	case x.interval != nil && x.interval.Due(at):
		return i.count() + 1
	}
	return i.count()
}

// takeNext takes the oldest value out.
func (i *Item) takeNext(at time.Duration, v *ua.DataValue) bool {
	if x := i.ext; x != nil {
		if x.custom != nil {
			return x.custom.Next(at, v)
		}
		if x.interval != nil && i.count() == 0 {
			if !x.interval.Next(at, v) {
				return false
			}
			i.value = *v
			i.flags |= hasValue
			return true
		}
	}
	switch {
	case i.flags&single != 0:
		*v = i.value
		i.flags &^= single
	case i.ring != nil && i.ring.n > 0:
		*v = *i.ring.oldest()
		i.ring.drop()
	default:
		return false
	}
	if i.flags&early != 0 {
		i.flags &^= early
		i.due = max(at, i.due) + i.sampling
	}
	return true
}

// clear drops what waits.
func (i *Item) clear() {
	i.flags &^= single | early | readyTrigger | triggered | resend
	i.ring, i.due = nil, 0 // what comes next is the first
	if i.ext != nil {
		i.ext.queue = eventQueue{}
	}
}

// takeEvent queues an event.
func (i *Item) takeEvent(e Event, fields []ua.Variant) {
	q := &i.ext.queue
	i.flags |= readyTrigger
	if q.n < int(i.size) {
		q.put(e, fields, i.size)
		return
	}
	i.sub.eventOverflows.Add(1)
	q.overflow = true
	if i.flags&discardOldest != 0 {
		q.drop()
		q.put(e, fields, i.size)
	}
}

// resized follows a new queue size: what is too much is dropped on the side that the policy says.
func (i *Item) resized() {
	if i.ext != nil && i.ext.events != nil {
		q := &i.ext.queue
		for q.n > int(i.size) {
			q.overflow = true
			if i.flags&discardOldest != 0 {
				q.drop()
			} else {
				q.dropNewest()
			}
		}
		return
	}
	r := i.ring
	if r == nil {
		return
	}
	for r.n > int(i.size) {
		switch {
		case i.flags&discardOldest != 0 || i.size == 1: // a queue of one has the newest value
			r.drop()
			if i.size > 1 {
				r.oldest().Status |= overflowBits
			}
		default:
			// The newest takes the place of the one before.
			last := *r.newest()
			r.dropNewest()
			*r.newest() = last
			r.newest().Status |= overflowBits
		}
	}
	if i.size == 1 {
		if r.n > 0 {
			i.flags |= single
		}
		i.ring = nil
	}
}
