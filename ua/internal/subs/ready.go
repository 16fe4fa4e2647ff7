package subs

import (
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// The ready list. An item that has something to report takes its signal by compare-and-swap and joins the
// intake of its subscription, from whatever goroutine; the publishing tick looks at those that did, the
// candidates, and at no others. The signal stays held while the item is in intake, candidates or the
// list of those to publish, so it is there at most once.

// States of Item.signal.
const (
	free = iota
	held
)

// place says in which list of its subscription an item is.
type place uint8

const (
	nowhere place = iota // or in the intake
	candidate
	publishing
)

// intake is a list that many add to and one takes from, in the order in which they came. Its lock is a
// leaf. (A list linked through the items would need no lock, but to walk it one item after the other would
// have to be fetched into the cache.)
type intake struct {
	mu    sync.Mutex
	items []*Item
	spare []*Item // the taker's
}

func (l *intake) push(i *Item) {
	l.mu.Lock()
	l.items = append(l.items, i)
	l.mu.Unlock()
}

func (l *intake) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items) == 0
}

// takeAll appends all items to dst. It is called by one goroutine at a time.
func (l *intake) takeAll(dst []*Item) []*Item {
	l.mu.Lock()
	list := l.items
	l.items, l.spare = l.spare, nil
	l.mu.Unlock()
	dst = append(dst, list...)
	clear(list)
	if cap(list) <= 1<<14 || len(list) > cap(list)/4 { // or so many were there at once
		l.spare = list[:0]
	}
	return dst
}

// ahead is how many items are fetched into the cache together.
const ahead = 8

// touch fetches items that will be needed soon. Each takes two cache lines, and a processor that comes to
// them one after the other, with a lock for each, would wait for each line alone.
//
//go:noinline
func touch(items []*Item) (x uint32) {
	for _, i := range items {
		x += i.signal.Load() + i.id
	}
	return x
}

// Signal tells the subscription that the item has something to report. A Custom calls it after it has
// queued a value; all others do so themselves. It may be called at any time from any goroutine.
func (i *Item) Signal() {
	if i.signal.Load() == free && i.signal.CompareAndSwap(free, held) {
		i.sub.intake.push(i)
		i.sub.rouse()
	}
}

// mark makes an item a candidate because the subscription knows of something that the item cannot
// signal: it was created, modified, restored, its mode or its links have changed, or it leaves the list of
// those to publish with something pending. The subscription is locked.
func (s *Subscription) mark(i *Item) {
	if i.signal.CompareAndSwap(free, held) {
		i.place = candidate
		s.candidates = append(s.candidates, i)
	}
	s.timed = true
}

// verdict is what a look at a candidate says.
type verdict uint8

const (
	idle  verdict = iota // nothing to report; the signal has been given back
	ready                // to be published
	waits                // time will make it ready
	holds                // a mode change or a trigger may make it ready
)

// look decides about a candidate, and says whether it triggers others. An idle one has its signal back.
func (i *Item) look(at time.Duration) (v verdict, fires bool) {
	i.mu.Lock()
	if fires = i.flags&readyTrigger != 0; fires {
		i.flags &^= readyTrigger
	}
	if i.ext == nil && i.mode == ua.MonitoringModeReporting && i.flags&(single|early|gone|resend) == single {
		v = ready // without further thought: most items
	} else if v = i.judge(at); v == idle && !i.letGo(at) {
		v = i.judge(at)
	}
	i.mu.Unlock()
	return v, fires
}

// letGo gives the signal back, and takes it again when something has come meanwhile: whoever queued it
// has seen the signal held, or takes it itself. False: the item still is a candidate.
func (i *Item) letGo(at time.Duration) bool {
	i.signal.Store(free)
	return i.judge(at) == idle || !i.signal.CompareAndSwap(free, held)
}

// judge decides as 1.11 of the specification of the publish path says.
func (i *Item) judge(at time.Duration) verdict {
	if i.mode == ua.MonitoringModeDisabled || i.flags&gone != 0 {
		return idle
	}
	if i.flags&(resend|hasValue) == resend|hasValue && i.mode == ua.MonitoringModeReporting {
		return ready
	}
	switch {
	case i.pending(at) == 0:
		if x := i.ext; x != nil && x.interval != nil && x.interval.Waiting() {
			return waits
		}
		return idle
	case i.flags&triggered != 0:
		return ready
	case i.mode != ua.MonitoringModeReporting:
		return holds
	case i.flags&early != 0 && at < i.due-i.sampling/2:
		return waits
	}
	return ready
}

// trigger sets the flag of a linked item that its triggering item has fired; false when it has nothing
// to report.
func (i *Item) trigger(at time.Duration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.mode == ua.MonitoringModeDisabled || i.pending(at) == 0 {
		return false
	}
	i.flags |= triggered
	return true
}
