package subs

import "github.com/actua/actua/ua"

// ring is a queue of values that grows up to its bound, so that an item with a long queue that never
// fills costs little.
type ring struct {
	buf   []ua.DataValue
	first int
	n     int
}

func (r *ring) at(i int) *ua.DataValue {
	if i += r.first; i >= len(r.buf) {
		i -= len(r.buf)
	}
	return &r.buf[i]
}

func (r *ring) oldest() *ua.DataValue { return r.at(0) }
func (r *ring) newest() *ua.DataValue { return r.at(r.n - 1) }

// put appends a value; there is room below the bound.
func (r *ring) put(v *ua.DataValue, bound uint32) {
	if r.n == len(r.buf) {
		r.buf = grown(r.buf, r.first, bound)
		r.first = 0
	}
	r.n++
	*r.newest() = *v
}

// drop takes the oldest out.
func (r *ring) drop() {
	*r.oldest() = ua.DataValue{}
	if r.first++; r.first == len(r.buf) {
		r.first = 0
	}
	r.n--
}

func (r *ring) dropNewest() {
	*r.newest() = ua.DataValue{}
	r.n--
}

// grown copies a full ring into one of twice the size, at most the bound.
func grown[T any](buf []T, first int, bound uint32) []T {
	b := make([]T, min(max(2*len(buf), 4), max(int(bound), len(buf)+1)))
	copy(b[copy(b, buf[first:]):], buf[:first])
	return b
}

// queuedEvent is an event that waits, and what of it is reported.
type queuedEvent struct {
	event  Event
	fields []ua.Variant
}

// eventQueue is a ring of events. An overflow is one more event (Part 4, 7.22.3), first when the
// oldest is discarded, last when the newest is.
type eventQueue struct {
	buf      []queuedEvent
	first    int
	n        int
	overflow bool
}

func (q *eventQueue) at(i int) *queuedEvent {
	if i += q.first; i >= len(q.buf) {
		i -= len(q.buf)
	}
	return &q.buf[i]
}

func (q *eventQueue) has(e Event) bool {
	for i := range q.n {
		if q.at(i).event == e {
			return true
		}
	}
	return false
}

func (q *eventQueue) pending() int {
	if q.overflow {
		return q.n + 1
	}
	return q.n
}

func (q *eventQueue) put(e Event, fields []ua.Variant, bound uint32) {
	if q.n == len(q.buf) {
		q.buf = grown(q.buf, q.first, bound)
		q.first = 0
	}
	q.n++
	*q.at(q.n - 1) = queuedEvent{e, fields}
}

func (q *eventQueue) drop() {
	*q.at(0) = queuedEvent{}
	if q.first++; q.first == len(q.buf) {
		q.first = 0
	}
	q.n--
}

func (q *eventQueue) dropNewest() {
	*q.at(q.n - 1) = queuedEvent{}
	q.n--
}

// next takes out the fields of the oldest event, or those of the overflow.
func (q *eventQueue) next(f EventFilter, oldestFirst bool) ([]ua.Variant, bool) {
	switch {
	case q.overflow && (oldestFirst || q.n == 0):
		q.overflow = false
		return f.Overflow(), true
	case q.n == 0:
		return nil, false
	}
	fields := q.at(0).fields
	q.drop()
	return fields, true
}
