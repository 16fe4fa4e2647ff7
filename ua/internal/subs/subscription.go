package subs

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
)

// Subscription is one subscription (Part 4, 5.14). Its state follows the table of 5.14.1.2, with this
// difference in form: counters are not counted but follow from the number of the publishing timer's
// tick, so that a subscription that has nothing to send needs no tick until its keep-alive.
type Subscription struct {
	m  *Manager
	id uint32

	session atomic.Pointer[Session] // changes with the locks of both sessions held

	// What pushing goroutines touch.
	intake         intake
	asleep         atomic.Bool // no tick before the keep-alive: the first signal must rouse it
	poked          atomic.Bool // in the schedule's list
	nextPoked      *Subscription
	priority       atomic.Uint32
	overflows      atomic.Uint32
	eventOverflows atomic.Uint32

	// Guarded by the session's lock.
	queued bool   // in Session.ready
	turn   uint64 // when it was served last, as the session counts

	timer timer // guarded by the schedule's lock

	mu         sync.Mutex
	items      map[uint32]*Item
	candidates []*Item
	publish    []*Item // items to publish, in the order in which they became ready
	firing     []*Item // scratch of collect
	order      []*Item // all items by id, for scanning; nil: to be made
	scanning   int     // items that cannot signal
	links      int     // triggering links
	timed      bool    // a candidate needs a look at the next tick
	enabled    bool
	closed     bool
	claimed    bool // a transfer is in progress
	durable    bool
	owner      any  // tag of the session that has it, or had it last
	held       bool // restored with publishing enabled, disabled until it is transferred

	p        Revised
	anchor   time.Duration // tick k is at anchor + k intervals
	touched  time.Duration // last activity of the client, or message sent
	aliveAt  int64         // tick of the next keep-alive
	started  bool          // a message has been sent
	waiting  bool          // wants a Publish request
	more     bool          // because the last message left something
	late     bool          // has not got one at a tick that wanted it
	lateFrom int64         // the tick at which it became late

	sent    SentQueue
	data    []ua.MonitoredItemNotification // scratch of produce
	taken   ua.DataValue                   // likewise
	events  []ua.EventFieldList
	built   []*Message
	counter counters
}

// counters are those of SubscriptionDiagnosticsDataType that nothing else knows (Part 5, 12.15).
type counters struct {
	modify, enable, disable        uint32
	republishRequests, republished uint32
	transfers, toAlternate, toSame uint32
	publishes, dataChanges, events uint32
	late                           uint32
}

// ID is the subscription id.
func (s *Subscription) ID() uint32 { return s.id }

// Params are the parameters that hold.
func (s *Subscription) Params() Revised {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.p
}

// tickAt is the number of the last tick at or before a time.
func (s *Subscription) tickAt(at time.Duration) int64 {
	return floorDiv(at-s.anchor, s.p.PublishingInterval)
}

// timeOf is when a tick is.
func (s *Subscription) timeOf(tick int64) time.Duration {
	return s.anchor + time.Duration(tick)*s.p.PublishingInterval
}

// lifeEnd is the tick at which the subscription expires if its client does nothing: the one that finds the
// lifetime counter at 1 (row 27). The interval in which the client did something does not count, so that
// no less than the lifetime passes. The session's lock is held.
func (s *Subscription) lifeEnd(from *Session, now time.Duration) int64 {
	active := max(s.touched, from.active)
	if len(from.parked) > 0 {
		active = now
	}
	return s.tickAt(active-1) + 1 + int64(s.p.LifetimeCount)
}

// touch notes a service call of the client: rows 18 to 26 reset the lifetime counter.
func (s *Subscription) touch(now Now) { s.touched = max(s.touched, now.At) }

// outcome is what a tick says.
type outcome uint8

const (
	quiet outcome = iota
	wantsRequest
	expired
)

// tick is the publishing timer's expiry (1.3). Several missed ones are one. Locks of session and
// subscription are held.
func (s *Subscription) tick(from *Session, now Now) outcome {
	if s.closed || s.claimed {
		return quiet
	}
	k := s.tickAt(now.At)
	if k >= s.lifeEnd(from, now.At) {
		return expired // row 27
	}
	if s.waiting {
		s.beLate(k) // rows 8, 12 and 17
		return wantsRequest
	}
	if s.enabled {
		s.collect(now.At)
	}
	if s.available() || k >= s.aliveAt {
		s.waiting, s.more = true, false
		return wantsRequest
	}
	return quiet // rows 9 and 16
}

// available is NotificationsAvailable of the state table, as of the last collect.
func (s *Subscription) available() bool {
	return s.enabled && (len(s.publish) > 0 || s.sent.Unsent() > 0)
}

func (s *Subscription) beLate(tick int64) {
	if !s.late {
		s.late, s.lateFrom = true, tick
	}
}

// lateTicks is how often the timer has expired while a request was waited for, up to a tick.
func (s *Subscription) lateTicks(tick int64) uint32 {
	if !s.late {
		return s.counter.late
	}
	return s.counter.late + uint32(max(tick-s.lateFrom, 0))
}

// served notes that a message was sent: rows 5 to 7, 10, 11, 14 and 15.
func (s *Subscription) served(now Now, more bool) {
	k := s.tickAt(now.At)
	s.counter.late = s.lateTicks(k)
	s.late, s.waiting, s.more, s.started = false, more, more, true
	s.aliveAt = k + int64(s.p.MaxKeepAliveCount)
	s.touch(now)
}

// collect moves what is ready to the list of items to publish, and fires triggers.
func (s *Subscription) collect(at time.Duration) {
	from := len(s.candidates)
	s.candidates = s.intake.takeAll(s.candidates)
	for _, i := range s.candidates[from:] {
		i.place = candidate
	}
	if s.scanning > 0 || s.m.cfg.Scan {
		for _, i := range s.all() {
			s.mark(i)
		}
	}
	s.firing = s.firing[:0]
	if s.links > 0 { // an item in the list is no candidate, but new values of it trigger, too
		for _, i := range s.publish {
			if i.fires() {
				s.firing = append(s.firing, i)
			}
		}
	}
	s.sift(at)
	if s.links > 0 && s.fire(at) {
		s.sift(at)
	}
}

// sift looks at each candidate once.
func (s *Subscription) sift(at time.Duration) {
	s.timed = false
	kept := s.candidates[:0]
	for k, i := range s.candidates {
		if k%ahead == 0 {
			touch(s.candidates[k:min(k+ahead, len(s.candidates))])
		}
		v, fires := i.look(at)
		links := i.ext != nil && len(i.ext.links) > 0
		if fires && links {
			s.firing = append(s.firing, i)
		}
		switch v {
		case ready:
			i.place = publishing
			s.publish = append(s.publish, i)
		case idle:
			i.place = nowhere
		default:
			// An item that keeps its signal cannot rouse the subscription when a new value triggers.
			s.timed = s.timed || v == waits || links
			kept = append(kept, i)
		}
	}
	clear(s.candidates[len(kept):])
	s.candidates = kept
}

// settle plans the next tick. The session's lock is held.
func (s *Subscription) settle(from *Session, now Now) {
	if s.closed || s.claimed {
		return
	}
	k := s.tickAt(now.At)
	end := s.lifeEnd(from, now.At)
	next := min(max(s.aliveAt, k+1), end)
	asleep := false
	switch {
	case s.late:
		next = end
	case s.waiting:
		next = k + 1
	case !s.enabled:
	case s.timed || s.scanning > 0 || s.m.cfg.Scan || len(s.publish) > 0 || s.sent.Unsent() > 0 || s.busy(k):
		next = k + 1
	default:
		asleep = true
	}
	s.asleep.Store(asleep)
	if asleep && !s.intake.empty() && s.asleep.CompareAndSwap(true, false) {
		next = k + 1 // a signal that came before it could see that the subscription sleeps
	}
	s.m.schedule.set(&s.timer, s.timeOf(max(next, k+1)), now.At)
}

// busy reports whether something was sent at this tick or the one before: then the next is likely to find
// something, and planning it costs less than being roused.
func (s *Subscription) busy(tick int64) bool {
	return s.started && s.aliveAt-int64(s.p.MaxKeepAliveCount) >= tick-1
}

// rouse wakes a sleeping subscription because of a signal.
func (s *Subscription) rouse() {
	if s.asleep.Load() && s.asleep.CompareAndSwap(true, false) {
		s.m.schedule.poke(s)
	}
}

// stir plans a tick soon, because of a call of the client. The subscription is locked.
func (s *Subscription) stir(now Now) {
	if s.closed || s.claimed || s.late {
		return
	}
	s.asleep.Store(false)
	s.m.schedule.sooner(&s.timer, s.timeOf(s.tickAt(now.At)+1))
}

// setParams makes parameters hold: the timer starts anew with a new interval.
func (s *Subscription) setParams(p Revised, now Now) {
	if p.PublishingInterval != s.p.PublishingInterval {
		k := int64(0)
		left := int64(1)
		if s.p.PublishingInterval > 0 {
			k = s.tickAt(now.At)
			left = max(s.aliveAt-k, 1)
			s.counter.late = s.lateTicks(k)
		}
		s.anchor, s.aliveAt, s.lateFrom = s.m.cfg.Limits.begin(now.At, p.PublishingInterval), left, 0
		s.p.PublishingInterval = p.PublishingInterval
	}
	s.p = p
	s.priority.Store(uint32(p.Priority))
	if s.started {
		s.aliveAt = min(s.aliveAt, s.tickAt(now.At)+int64(p.MaxKeepAliveCount))
	}
}

// trim gives back the room that a burst has taken: nothing was sent for the time of a keep-alive.
func (s *Subscription) trim() {
	s.data, s.events, s.built = trimmed(s.data), trimmed(s.events), trimmed(s.built)
	s.publish, s.candidates, s.firing = trimmed(s.publish), trimmed(s.candidates), trimmed(s.firing)
}

func trimmed[T any](list []T) []T {
	if cap(list) > 256 && len(list) < cap(list)/4 {
		return slices.Clone(list)
	}
	return list
}

// all lists the items by id.
func (s *Subscription) all() []*Item {
	if s.order == nil {
		s.order = s.sorted(make([]*Item, 0, len(s.items)))
	}
	return s.order
}
