package subs

import (
	"sync"
	"sync/atomic"

	"github.com/actua/actua/ua"
)

// Message is a NotificationMessage (Part 4, 7.21) that several owners share: the retransmission queue,
// each response that carries it, stores. It has a count of references. Whoever makes it fills it in;
// from the moment it is given to a second owner nothing of it changes, so all read it without a lock.
// The last release gives the message and all that it rented back to its pools.
//
// A reference is held by a Ref, or "raw" by whoever called NewMessage or Retain: a raw reference is
// given up once, by release, or passed on, by Ref.Adopt and by SentQueue.Enqueue.
type Message struct {
	SequenceNumber uint32
	PublishTime    ua.DateTime

	refs   atomic.Int32
	pooled atomic.Uint32 // 1 while in the pool
	pools  *Pools        // nil: everything is left to the collector

	data   []ua.MonitoredItemNotification // rented, with the capacity of its class; handed out exact
	events []ua.EventFieldList
	fields []ua.Variant
	diags  []ua.DiagnosticInfo // of data; not rented, seldom there
	status ua.StatusChangeNotification
	kind   uint8 // bits of what there is

	// The binary form, made by the first that needs it.
	encoded atomic.Bool
	mu      sync.Mutex // held while it is made
	body    []byte     // rented

	last holder // who released last, in checking builds
}

// Bits of Message.kind, in the order in which the parts are encoded.
const (
	hasEvents = 1 << iota
	hasData
	hasStatus
)

// NewMessage returns an empty message with one raw reference, which is the caller's.
func (p *Pools) NewMessage() *Message {
	if p == nil {
		m := new(Message)
		m.refs.Store(1)
		return m
	}
	m := p.messages.Rent()
	m.pools = p
	m.refs.Store(1)
	return m
}

// RestoredMessage returns a message of slices that no pool has rented out, as it comes from storage or
// from another machine; they never reach a pool, nor does the message. Nil slices are left out.
// The caller has one raw reference.
func RestoredMessage(number uint32, published ua.DateTime, data []ua.MonitoredItemNotification, events []ua.EventFieldList) *Message {
	m := &Message{SequenceNumber: number, PublishTime: published}
	m.refs.Store(1)
	if data != nil {
		m.data, m.kind = data, m.kind|hasData
	}
	if events != nil {
		m.events, m.kind = events, m.kind|hasEvents
	}
	return m
}

// RentData gives the message n data changes, all zero, for the caller to fill in. The slice is exact:
// appending to it does not reach what is rented. It may be called once; for n <= 0 it does nothing.
func (m *Message) RentData(n int) []ua.MonitoredItemNotification {
	if n <= 0 {
		return nil
	}
	m.data = rent(m.pools, n, (*Pools).dataPool)
	m.kind |= hasData
	return m.data[:n:n]
}

// RentEvents gives the message n events, all zero, for the caller to fill in, like RentData. The
// EventFields of each are the caller's to provide: slices of RentFields, or any others, which are left
// to the collector.
func (m *Message) RentEvents(n int) []ua.EventFieldList {
	if n <= 0 {
		return nil
	}
	m.events = rent(m.pools, n, (*Pools).eventPool)
	m.kind |= hasEvents
	return m.events[:n:n]
}

// RentFields gives the message n Variants, all null, for the fields of all its events together; the
// caller cuts them: fields[a:b:b]. It may be called once.
func (m *Message) RentFields(n int) []ua.Variant {
	if n <= 0 {
		return nil
	}
	m.fields = rent(m.pools, n, (*Pools).fieldPool)
	return m.fields[:n:n]
}

// SetDiagnostics adds one DiagnosticInfo for each data change. Without it the message has none, which
// is what a message whose notifications have no diagnostics should have.
func (m *Message) SetDiagnostics(d []ua.DiagnosticInfo) { m.diags = d }

// SetStatus makes it a StatusChangeNotification (Part 4, 7.25.4).
func (m *Message) SetStatus(code ua.StatusCode) {
	m.status = ua.StatusChangeNotification{Status: code}
	m.kind |= hasStatus
}

// Data returns the data changes, not to be changed.
func (m *Message) Data() []ua.MonitoredItemNotification { return m.data[:len(m.data):len(m.data)] }

// Events returns the events, not to be changed.
func (m *Message) Events() []ua.EventFieldList { return m.events[:len(m.events):len(m.events)] }

// Status returns the status change, if it is one.
func (m *Message) Status() (ua.StatusCode, bool) { return m.status.Status, m.kind&hasStatus != 0 }

// IsKeepAlive reports whether there is nothing in it (Part 4, 5.14.1.1).
func (m *Message) IsKeepAlive() bool { return m.kind == 0 }

// Retain adds a raw reference. The caller must be sure that the message is held by somebody meanwhile,
// as it is for who holds the lock of the subscription that has it in its queue.
func (m *Message) Retain() *Message {
	if m.refs.Add(1) <= 1 {
		m.misused("retaining")
	}
	return m
}

// release gives up a raw reference. The caller must have one.
func (m *Message) release() {
	switch n := m.refs.Add(-1); {
	case n == 0:
		m.last.note()
		m.recycle()
	case n < 0:
		m.misused("a release")
	}
}

// Ref is the claim of one owner on a message. Release gives it up once, however often and by however many
// goroutines it is called. The zero value claims nothing. A Ref stays where it is: a copy of it, or of the
// struct it is in, claims nothing. Acquire, Adopt and Move are for its owner, who is done with what the Ref
// held before.
type Ref struct {
	m    atomic.Pointer[Message]
	self *Ref // tells a copy
}

// Acquire makes r an owner of the message, in addition to those it has; see Retain. What r held before is
// released.
func (r *Ref) Acquire(m *Message) { r.Adopt(m.Retain()) }

// Adopt makes r the owner of the caller's raw reference. What r held before is released.
func (r *Ref) Adopt(m *Message) {
	r.Release()
	r.self = r
	r.m.Store(m)
}

// Move takes over what another Ref holds, which is left with nothing, as when a response is parked.
func (r *Ref) Move(from *Ref) {
	if r == from {
		return
	}
	r.Release()
	if from.self != from {
		return
	}
	if m := from.m.Swap(nil); m != nil {
		r.self = r
		r.m.Store(m)
	}
}

// Message returns what r holds, nil after Release and in a copy.
func (r *Ref) Message() *Message {
	if r.self != r {
		return nil
	}
	return r.m.Load()
}

// Release gives the claim up. Without a claim it does nothing.
func (r *Ref) Release() {
	if r.self != r {
		return
	}
	if m := r.m.Swap(nil); m != nil {
		m.release()
	}
}
