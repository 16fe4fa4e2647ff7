package subs

import (
	"slices"

	"github.com/actua/actua/ua"
)

// SentQueue is the retransmission queue of a subscription (Part 4, 5.14.1.1 and 5.14.5): the messages that
// were sent and not acknowledged, and behind them those that wait for a Publish request. It holds one
// reference of each. It is guarded by the lock of its subscription; only the references it hands out
// are safe beyond that. Use NewSentQueue.
type SentQueue struct {
	id          uint32
	max         int
	next        uint32
	messages    []*Message // oldest first
	firstUnsent int        // messages[:firstUnsent] were returned by a Publish
	discarded   uint32

	full    FullMirror
	delta   DeltaMirror
	removed []uint32 // scratch of one operation
	dropped int      // new messages that the last Enqueue had no room for
}

// NewSentQueue makes an empty queue of at most max messages (at least one) for the subscription with this
// id. The first sequence number is 1.
func NewSentQueue(id uint32, max int) *SentQueue {
	q := new(SentQueue)
	q.Init(id, max)
	return q
}

// Init does what NewSentQueue does for a queue that is part of another structure.
func (q *SentQueue) Init(id uint32, limit int) {
	*q = SentQueue{id: id, max: max(limit, 1), next: 1}
}

// SetMirror lets the queue report its changes, to a store of one kind or of the other. Either may be nil.
func (q *SentQueue) SetMirror(full FullMirror, delta DeltaMirror) { q.full, q.delta = full, delta }

// after is the sequence number that follows n: 0 is never used (Part 4, 7.6, Counter).
func after(n uint32) uint32 {
	if n++; n == 0 {
		n = 1
	}
	return n
}

// NextNumber takes the next sequence number, 1 to MaxUint32 and then 1 again, for a message that is
// enqueued under the same lock.
func (q *SentQueue) NextNumber() uint32 {
	n := q.next
	q.next = after(n)
	return n
}

// TakeNumber takes the next sequence number for a message that is not retained, a status change, and
// lets the mirror know that it is used up.
func (q *SentQueue) TakeNumber() uint32 {
	n := q.NextNumber()
	q.report(nil)
	return n
}

// Announced is the number that a keep-alive carries: that of the message which the client will get next
// (Part 4, 5.14.1.1). It is not taken.
func (q *SentQueue) Announced() uint32 {
	if q.firstUnsent < len(q.messages) {
		return q.messages[q.firstUnsent].SequenceNumber
	}
	return q.next
}

// Len is the number of retained messages, sent or not.
func (q *SentQueue) Len() int { return len(q.messages) }

// Unsent is the number of retained messages that wait for a Publish request.
func (q *SentQueue) Unsent() int { return len(q.messages) - q.firstUnsent }

// Max is the bound of Len.
func (q *SentQueue) Max() int { return q.max }

// Discarded counts the messages that were lost to the client because the queue was full: evicted before
// they were acknowledged, or dropped before they were sent. It wraps like the counter of the
// diagnostics that it is for (Part 5, 12.16, DiscardedMessageCount).
func (q *SentQueue) Discarded() uint32 { return q.discarded }

// Enqueue takes over the raw references of new messages, numbered in this order, and lets out acquire the
// first message that was not sent so far, which counts as sent from now on. It reports whether more are
// waiting. Of more than Max new messages the oldest are dropped; then as many of the oldest retained ones are
// evicted as exceed Max. What is dropped or evicted is released at once. Dropped tells how many of the
// last call were dropped, which means that the queue is too small for what one Publish produces.
func (q *SentQueue) Enqueue(new []*Message, out *Ref) (more bool) {
	q.removed, q.dropped = q.removed[:0], 0
	if n := len(new) - q.max; n > 0 {
		for _, m := range new[:n] {
			m.release()
		}
		q.dropped, new = n, new[n:]
		q.discarded += uint32(n)
	}
	if n := len(q.messages) + len(new) - q.max; n > 0 {
		q.discarded += uint32(n)
		q.removeFirst(n)
	}
	q.messages = append(q.messages, new...)
	m := q.takeUnsent()
	if m != nil {
		out.Acquire(m)
	}
	q.report(new)
	return q.Unsent() > 0
}

// Dropped is the number of new messages that the last Enqueue had no room for.
func (q *SentQueue) Dropped() int { return q.dropped }

// Dequeue lets out acquire the first message that was not sent so far, which counts as sent from now on.
// It reports whether there was one.
func (q *SentQueue) Dequeue(out *Ref) bool {
	m := q.takeUnsent()
	if m == nil {
		return false
	}
	out.Acquire(m)
	q.removed = q.removed[:0]
	q.report(nil)
	return true
}

func (q *SentQueue) takeUnsent() *Message {
	if q.firstUnsent >= len(q.messages) {
		return nil
	}
	m := q.messages[q.firstUnsent]
	q.firstUnsent++
	return m
}

// Available appends the numbers that the client may acknowledge or have republished: of all retained
// messages that were sent, never of one that was not (Part 4, 5.14.5, availableSequenceNumbers).
func (q *SentQueue) Available(dst []uint32) []uint32 {
	for _, m := range q.messages[:q.firstUnsent] {
		dst = append(dst, m.SequenceNumber)
	}
	return dst
}

// sent finds a message that was sent, -1 if there is none of that number.
func (q *SentQueue) sent(number uint32) int {
	for i, m := range q.messages[:q.firstUnsent] {
		if m.SequenceNumber == number {
			return i
		}
	}
	return -1
}

// Acknowledge releases the message with this number. It returns BadSequenceNumberInvalid for 0 and
// BadSequenceNumberUnknown for what is not retained or was not sent (Part 4, 5.14.5).
func (q *SentQueue) Acknowledge(number uint32) ua.StatusCode {
	if number == 0 {
		return ua.BadSequenceNumberInvalid
	}
	i := q.sent(number)
	if i < 0 {
		return ua.BadSequenceNumberUnknown
	}
	m := q.messages[i]
	q.messages = slices.Delete(q.messages, i, i+1)
	q.firstUnsent--
	m.release()
	q.removed = append(q.removed[:0], number)
	q.report(nil)
	return ua.Good
}

// FindForRepublish lets out acquire the message with this number. It returns BadMessageNotAvailable when it
// is not retained, and when it was not sent yet: Publish will deliver it, and the client would see the
// number twice (Part 4, 5.14.6).
func (q *SentQueue) FindForRepublish(number uint32, out *Ref) ua.StatusCode {
	i := q.sent(number)
	if i < 0 {
		return ua.BadMessageNotAvailable
	}
	out.Acquire(q.messages[i])
	return ua.Good
}

// Clear releases all messages. Numbering goes on.
func (q *SentQueue) Clear() {
	q.removed = q.removed[:0]
	if len(q.messages) == 0 {
		return
	}
	q.removeFirst(len(q.messages))
	q.report(nil)
}

// removeFirst releases the n oldest messages and notes their numbers.
func (q *SentQueue) removeFirst(n int) {
	for _, m := range q.messages[:n] {
		q.removed = append(q.removed, m.SequenceNumber)
		m.release()
	}
	q.messages = slices.Delete(q.messages, 0, n)
	q.firstUnsent = max(q.firstUnsent-n, 0)
}

// report tells the mirror of an operation that added messages or noted removed ones.
func (q *SentQueue) report(added []*Message) {
	q.reportDelta(SentDelta{Added: added, Removed: q.removed})
}

func (q *SentQueue) reportDelta(d SentDelta) {
	d.Next, d.FirstUnsent = q.next, q.firstUnsent
	if q.delta != nil {
		q.delta.StoreSentDelta(q.id, d)
	}
	if q.full != nil {
		q.full.StoreSent(q.id, SentState{Next: q.next, FirstUnsent: q.firstUnsent, Messages: q.messages})
	}
	q.removed = q.removed[:0]
}

// Capture returns what Restore needs. The state has a reference of each message; whoever gets it calls
// its Release, or passes it on.
func (q *SentQueue) Capture() SentState {
	s := SentState{Next: q.next, FirstUnsent: q.firstUnsent, Messages: slices.Clone(q.messages)}
	for _, m := range s.Messages {
		m.Retain()
	}
	return s
}

// Restore replaces the contents by a state, whose references it takes over. FirstUnsent is brought within
// 0 and the number of messages; without a next number that of the last message is followed. Of more
// than Max messages the oldest are released. The mirror is told.
func (q *SentQueue) Restore(s *SentState) {
	q.removed = q.removed[:0]
	q.removeFirst(len(q.messages))
	q.messages = append(q.messages, s.Messages...)
	q.firstUnsent = min(max(s.FirstUnsent, 0), len(q.messages))
	q.next = s.Next
	if q.next == 0 {
		q.next = 1
		if n := len(q.messages); n > 0 {
			q.next = after(q.messages[n-1].SequenceNumber)
		}
	}
	*s = SentState{}
	if n := len(q.messages) - q.max; n > 0 {
		q.discarded += uint32(n)
		q.removeFirst(n)
	}
	q.reportDelta(SentDelta{Reset: true, Added: q.messages})
}
