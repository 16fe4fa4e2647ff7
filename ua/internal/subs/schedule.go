package subs

import (
	"sync"
	"sync/atomic"
	"time"
)

// schedule orders what has to be done by time: the next tick of each subscription, the next deadline of
// each session. What has nothing due is not walked. Its lock is a leaf.
type schedule struct {
	wake func()

	// poked are subscriptions that a signal has roused. They get their tick by Run, which knows the
	// time; pushing goroutines need no lock.
	poked atomic.Pointer[Subscription]

	mu    sync.Mutex
	heap  []*timer
	armed time.Duration // when the caller will call Run; minTime while it does
}

// timer is an entry of the schedule.
type timer struct {
	sub     *Subscription
	session *Session
	due     time.Duration
	place   int // in the heap, from 1 on; 0: not there
}

const (
	minTime time.Duration = -1 << 63
	never   time.Duration = 1<<63 - 1
)

// set plans a timer, or plans it anew unless it is due by now.
func (s *schedule) set(t *timer, due, now time.Duration) {
	s.mu.Lock()
	switch old := t.due; {
	case t.place != 0 && old <= now:
		s.mu.Unlock()
		return
	case t.place == 0:
		t.due = due
		s.heap = append(s.heap, t)
		t.place = len(s.heap)
		s.up(t)
	case due < old:
		t.due = due
		s.up(t)
	case due > old:
		t.due = due
		s.down(t)
	}
	earlier := due < s.armed
	if earlier {
		s.armed = due
	}
	s.mu.Unlock()
	if earlier {
		s.wake()
	}
}

// sooner plans a timer unless it is planned for an earlier time.
func (s *schedule) sooner(t *timer, due time.Duration) {
	s.mu.Lock()
	planned := t.place > 0 && t.due <= due
	s.mu.Unlock()
	if !planned {
		s.set(t, due, minTime)
	}
}

// cancel takes a timer out.
func (s *schedule) cancel(t *timer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.place > 0 {
		s.remove(t)
	}
}

// poke asks for a tick of a subscription that slept.
func (s *schedule) poke(sub *Subscription) {
	if !sub.poked.CompareAndSwap(false, true) {
		return // Run has yet to come to it
	}
	for {
		head := s.poked.Load()
		sub.nextPoked = head
		if s.poked.CompareAndSwap(head, sub) {
			if head == nil {
				s.wake()
			}
			return
		}
	}
}

// due takes out one timer that is due.
func (s *schedule) due(now time.Duration) *timer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = minTime
	if len(s.heap) == 0 || s.heap[0].due > now {
		return nil
	}
	t := s.heap[0]
	s.remove(t)
	return t
}

// arm says when the next timer is due, never if there is none.
func (s *schedule) arm() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = never
	if len(s.heap) > 0 {
		s.armed = s.heap[0].due
	}
	return s.armed
}

func (s *schedule) remove(t *timer) {
	last := s.heap[len(s.heap)-1]
	s.heap[len(s.heap)-1] = nil
	s.heap = s.heap[:len(s.heap)-1]
	if last != t {
		last.place = t.place
		s.heap[last.place-1] = last
		s.up(last)
		s.down(last)
	}
	t.place = 0
}

func (s *schedule) up(t *timer) {
	for t.place > 1 {
		p := s.heap[t.place/2-1]
		if p.due <= t.due {
			break
		}
		p.place = t.place
		s.heap[p.place-1] = p
		t.place /= 2
	}
	s.heap[t.place-1] = t
}

func (s *schedule) down(t *timer) {
	for {
		c := 2 * t.place
		if c > len(s.heap) {
			break
		}
		if c < len(s.heap) && s.heap[c].due < s.heap[c-1].due {
			c++
		}
		child := s.heap[c-1]
		if child.due >= t.due {
			break
		}
		child.place = t.place
		s.heap[child.place-1] = child
		t.place = c
	}
	s.heap[t.place-1] = t
}
