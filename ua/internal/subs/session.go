package subs

import (
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// Session is what subscriptions of one session share: the Publish requests that wait, and which
// subscription is to have the next (1.4).
type Session struct {
	m      *Manager
	tag    any
	number uint64          // order of the locks of two sessions
	due    []*Subscription // scratch of Manager.Run
	named  bool            // in the list of Manager.Run
	timer  timer           // earliest deadline of a parked request

	mu     sync.Mutex
	turns  uint64     // how often a subscription was served
	parked []*Request // oldest first
	subs   map[uint32]*Subscription
	ready  []*Subscription // want a request
	status []statusChange  // to be told before anything else
	active time.Duration   // when the last Publish request came, or the last parked one went
	closed bool
	out    answers // to be given to their Responders, in this order
	giving bool    // by a goroutine that does so
}

// deliver gives answers to their Responders, in the order in which they were made, with no lock held. One
// goroutine does so for a session; what others make meanwhile it takes along.
func (s *Session) deliver() {
	s.mu.Lock()
	if !s.giving {
		s.giving = true
		for s.out.first != nil {
			list := s.out
			s.out = answers{}
			s.mu.Unlock()
			list.deliver()
			s.mu.Lock()
		}
		s.giving = false
	}
	s.mu.Unlock()
}

// statusChange is a StatusChangeNotification that waits for a request (Part 4, 7.25.4).
type statusChange struct {
	subscription uint32
	number       uint32
	code         ua.StatusCode
}

// grace is how long after its deadline a request is answered.
const grace = 500 * time.Millisecond

// Tag is what OpenSession was given.
func (s *Session) Tag() any { return s.tag }

// Publish takes a Publish request (Part 4, 5.14.5): acknowledgements are handled at once, and the request
// is answered as soon as a subscription has something to send, at once if one has.
// Of more than Limits.MaxPublishRequests the oldest is answered BadTooManyPublishRequests.
func (s *Session) Publish(now Now, r *Request) {
	s.mu.Lock()
	s.acknowledge(now, r)
	switch {
	case s.closed:
		s.refuse(r, ua.BadSessionClosed)
	case len(s.subs) == 0 && len(s.status) == 0:
		s.refuse(r, ua.BadNoSubscription)
	default:
		s.active = now.At
		if len(s.parked) >= s.m.cfg.Limits.MaxPublishRequests {
			s.refuse(s.pop(now), ua.BadTooManyPublishRequests)
		}
		s.parked = append(s.parked, r)
		s.serve(now)
		if r.Deadline > 0 && slices.Contains(s.parked, r) {
			s.watch(r.Deadline + grace)
		}
	}
	s.mu.Unlock()
	s.deliver()
}

// acknowledge handles the acknowledgements of a request, each with a result of its own.
func (s *Session) acknowledge(now Now, r *Request) {
	a := &r.Answer
	a.Status, a.SubscriptionID, a.MoreNotifications = ua.Good, 0, false
	a.Available, a.Results = a.Available[:0], a.Results[:0]
	for _, ack := range r.Acknowledgements {
		sub := s.subs[ack.SubscriptionID]
		if sub == nil {
			a.Results = append(a.Results, ua.BadSubscriptionIdInvalid)
			continue
		}
		sub.mu.Lock()
		a.Results = append(a.Results, sub.sent.Acknowledge(ack.SequenceNumber))
		sub.mu.Unlock()
	}
}

func (s *Session) refuse(r *Request, status ua.StatusCode) {
	r.Answer.Status = status
	r.Answer.Message.Release()
	s.out.add(r)
}

// pop takes the oldest parked request.
func (s *Session) pop(now Now) *Request {
	r := s.parked[0]
	n := copy(s.parked, s.parked[1:])
	s.parked[n] = nil
	s.parked = s.parked[:n]
	s.active = max(s.active, now.At)
	return r
}

// watch sees to it that a deadline is looked at.
func (s *Session) watch(deadline time.Duration) {
	s.m.schedule.sooner(&s.timer, deadline)
}

// expire answers requests whose time is up.
func (s *Session) expire(now Now) {
	next := never
	kept := s.parked[:0]
	for _, r := range s.parked {
		switch d := r.Deadline + grace; {
		case r.Deadline <= 0:
		case d <= now.At:
			s.refuse(r, ua.BadTimeout)
			s.active = max(s.active, now.At)
			continue
		default:
			next = min(next, d)
		}
		kept = append(kept, r)
	}
	clear(s.parked[len(kept):])
	s.parked = kept
	if next != never {
		s.watch(next)
	}
}

// want puts a subscription in line for a request.
func (s *Session) want(sub *Subscription) {
	if !sub.queued {
		sub.queued = true
		s.ready = append(s.ready, sub)
	}
}

// unwant takes it out.
func (s *Session) unwant(sub *Subscription) {
	if sub.queued {
		sub.queued = false
		n := slices.Index(s.ready, sub)
		s.ready = slices.Delete(s.ready, n, n+1)
	}
}

// serve pairs parked requests with status changes, then with subscriptions: the highest priority first,
// of those the one that has waited longest. A request whose subscription turns out to have nothing
// stays the first in the queue.
func (s *Session) serve(now Now) {
	for len(s.parked) > 0 && len(s.status) > 0 {
		r, c := s.pop(now), s.status[0]
		s.status = slices.Delete(s.status, 0, 1)
		m := s.m.cfg.Pools.NewMessage()
		m.SequenceNumber, m.PublishTime = c.number, now.Wall
		m.SetStatus(c.code)
		r.Answer.SubscriptionID = c.subscription
		r.Answer.Message.Adopt(m)
		s.out.add(r)
	}
	for len(s.parked) > 0 && len(s.ready) > 0 {
		sub := s.next()
		sub.mu.Lock()
		late := sub.late
		ok := sub.produce(now, &s.parked[0].Answer)
		again := ok && sub.waiting
		if !again {
			s.unwant(sub)
		}
		if ok {
			s.turns++
			sub.turn = s.turns
			s.out.add(s.pop(now))
		}
		if late {
			sub.settle(s, now)
		}
		sub.mu.Unlock()
	}
	if len(s.subs) == 0 && len(s.status) == 0 {
		for len(s.parked) > 0 {
			s.refuse(s.pop(now), ua.BadNoSubscription)
		}
	}
}

// next chooses among the subscriptions that want a request. Of those that were not served yet the oldest is
// first, whatever the order of their timers.
func (s *Session) next() *Subscription {
	best := s.ready[0]
	for _, sub := range s.ready[1:] {
		p, q := sub.priority.Load(), best.priority.Load()
		if p > q || p == q && (sub.turn < best.turn || sub.turn == best.turn && sub.id < best.id) {
			best = sub
		}
	}
	return best
}

// tell queues a status change; of too many the oldest is lost.
func (s *Session) tell(c statusChange) {
	if s.closed {
		return
	}
	if len(s.status) >= s.m.cfg.Limits.MaxSubscriptionsPerSession {
		s.status = slices.Delete(s.status, 0, 1)
	}
	s.status = append(s.status, c)
}

// Cancel answers the parked requests with this handle with BadRequestCancelledByClient (Part 4, 5.7.5) and
// returns how many there were.
func (s *Session) Cancel(now Now, handle uint32) int {
	return s.drop(now, ua.BadRequestCancelledByClient, func(r *Request) bool { return r.Handle == handle })
}

// DropChannel answers the parked requests that came over a secure channel after the session has moved to
// another, or the channel has ended: no message is to be lost in them. Those of other channels stay.
func (s *Session) DropChannel(now Now, gone uint32) int {
	return s.drop(now, ua.BadSecureChannelIdInvalid, func(r *Request) bool { return r.Channel == gone })
}

func (s *Session) drop(now Now, status ua.StatusCode, which func(*Request) bool) int {
	s.mu.Lock()
	n := 0
	s.parked = slices.DeleteFunc(s.parked, func(r *Request) bool {
		if !which(r) {
			return false
		}
		n++
		s.refuse(r, status)
		return true
	})
	if n > 0 {
		s.active = max(s.active, now.At)
	}
	s.mu.Unlock()
	s.deliver()
	return n
}

// Parked is the number of Publish requests that wait.
func (s *Session) Parked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parked)
}

// Subscriptions appends the ids of the session's subscriptions, in no order.
func (s *Session) Subscriptions(dst []uint32) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.subs {
		dst = append(dst, id)
	}
	return dst
}
