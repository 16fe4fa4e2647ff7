package subs

import (
	"slices"
	"sync"
)

// SentState is the whole of a retransmission queue, as a full mirror gets it and a restored subscription
// continues from.
type SentState struct {
	Next        uint32     // next sequence number to be taken; 0: the one behind the last message
	FirstUnsent int        // Messages[:FirstUnsent] were sent
	Messages    []*Message // oldest first
}

// Release gives up the references of a state that owns them, once.
func (s *SentState) Release() {
	for _, m := range s.Messages {
		m.release()
	}
	*s = SentState{}
}

// SentDelta is one change of a retransmission queue: first Removed go (all, with Reset), then Added come
// behind the others, then Next and FirstUnsent hold.
type SentDelta struct {
	Reset       bool // the queue was restored: nothing of before holds
	Next        uint32
	FirstUnsent int
	Added       []*Message
	Removed     []uint32 // sequence numbers
}

// FullMirror is a store that gets the whole queue after each change. The call is made under the lock of the
// subscription: it must be short, and it must Retain each message that it keeps beyond the call, and
// neither keep nor change the slice.
type FullMirror interface {
	StoreSent(subscription uint32, s SentState)
}

// DeltaMirror is a store that gets the changes of the queue, in their order. The rules of FullMirror hold.
type DeltaMirror interface {
	StoreSentDelta(subscription uint32, d SentDelta)
}

// MirrorStore is what a server that takes over restores from.
type MirrorStore interface {
	// LoadSent returns the state last stored, with a reference of each message for the caller.
	LoadSent(subscription uint32) (SentState, bool)
	// RemoveSent forgets a subscription that was deleted.
	RemoveSent(subscription uint32)
}

// MemoryMirror keeps the queues of subscriptions in memory, by reference. It is a FullMirror, a
// DeltaMirror and a MirrorStore, and safe for use by several goroutines. The zero value is empty.
type MemoryMirror struct {
	mu   sync.Mutex
	subs map[uint32]*SentState
}

func (s *MemoryMirror) entry(id uint32) *SentState {
	e := s.subs[id]
	if e == nil {
		if s.subs == nil {
			s.subs = map[uint32]*SentState{}
		}
		e = new(SentState)
		s.subs[id] = e
	}
	return e
}

// StoreSent replaces what is known of the subscription.
func (s *MemoryMirror) StoreSent(id uint32, state SentState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(id)
	for _, m := range state.Messages { // before the old ones are released: most are the same
		m.Retain()
	}
	for _, m := range e.Messages {
		m.release()
	}
	e.Messages = append(e.Messages[:0], state.Messages...)
	clear(e.Messages[len(e.Messages):cap(e.Messages)])
	e.Next, e.FirstUnsent = state.Next, state.FirstUnsent
}

// StoreSentDelta applies a change.
func (s *MemoryMirror) StoreSentDelta(id uint32, d SentDelta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(id)
	for _, m := range d.Added { // before others are released: they may be the same
		m.Retain()
	}
	if d.Reset {
		e.Release()
	}
	if len(d.Removed) > 0 {
		e.Messages = slices.DeleteFunc(e.Messages, func(m *Message) bool {
			if !slices.Contains(d.Removed, m.SequenceNumber) {
				return false
			}
			m.release()
			return true
		})
	}
	e.Messages = append(e.Messages, d.Added...)
	e.Next, e.FirstUnsent = d.Next, d.FirstUnsent
}

// LoadSent returns the state of the subscription.
func (s *MemoryMirror) LoadSent(id uint32) (SentState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.subs[id]
	if e == nil {
		return SentState{}, false
	}
	out := *e
	out.Messages = slices.Clone(e.Messages)
	for _, m := range out.Messages {
		m.Retain()
	}
	return out, true
}

// RemoveSent releases what it has of the subscription.
func (s *MemoryMirror) RemoveSent(id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.subs[id]; e != nil {
		e.Release()
		delete(s.subs, id)
	}
}

// DurableState is what a subscription that outlives the server is continued from (Part 4, 5.14.9).
type DurableState struct {
	Subscription uint32
	// Settings are parameters and items in the form that the subscription gave them, of no meaning to
	// a store.
	Settings []byte
	Sent     SentState
}

// DurableStore keeps subscriptions from the orderly end of a server to its next start.
type DurableStore interface {
	// SaveDurable replaces what was saved. It takes over the references of the states whether it
	// succeeds or not. The slice and Settings are the store's from then on.
	SaveDurable(states []DurableState) error
	// LoadDurable returns what was saved last, with references that are the caller's, and nothing when
	// nothing was. What cannot be read is an error; the server then starts without.
	LoadDurable() ([]DurableState, error)
}

// MemoryDurable is a DurableStore that keeps subscriptions in memory, by reference. It is safe for use by
// several goroutines. The zero value is empty.
type MemoryDurable struct {
	mu     sync.Mutex
	states []DurableState
}

// SaveDurable keeps the states. It returns no error.
func (s *MemoryDurable) SaveDurable(states []DurableState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.states {
		s.states[i].Sent.Release()
	}
	s.states = states
	return nil
}

// LoadDurable returns the states. It returns no error.
func (s *MemoryDurable) LoadDurable() ([]DurableState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.states)
	for i := range out {
		out[i].Settings = slices.Clone(out[i].Settings)
		out[i].Sent.Messages = slices.Clone(out[i].Sent.Messages)
		for _, m := range out[i].Sent.Messages {
			m.Retain()
		}
	}
	return out, nil
}
