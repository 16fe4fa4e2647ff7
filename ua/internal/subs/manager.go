package subs

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
)

// Manager has the sessions and subscriptions of a server. Its methods may be called from any goroutine;
// Run from one at a time.
type Manager struct {
	cfg      Config
	schedule schedule
	items    atomic.Int64  // monitored items
	lastItem atomic.Uint32 // monitored item id

	mu       sync.Mutex
	subs     map[uint32]*Subscription
	lastID   uint32
	orphans  *Session // of subscriptions whose session is gone
	sessions int
	opened   uint64 // sessions ever, for their order

	run runState // of the goroutine that calls Run
}

type runState struct {
	sessions []*Session
}

// New makes a Manager.
func New(cfg Config) *Manager {
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Same == nil {
		cfg.Same = ua.Variant.Equal
	}
	if cfg.Wake == nil {
		cfg.Wake = func() {}
	}
	m := &Manager{cfg: cfg, subs: map[uint32]*Subscription{}, lastID: cfg.FirstID - 1}
	if cfg.FirstID == 0 {
		m.lastID = 0
	}
	m.schedule = schedule{wake: cfg.Wake, armed: never}
	m.orphans = m.newSession(nil, ^uint64(0))
	return m
}

// Limits are those of the configuration, with defaults filled in.
func (m *Manager) Limits() *Limits { return &m.cfg.Limits }

func (m *Manager) newSession(tag any, number uint64) *Session {
	s := &Session{m: m, tag: tag, number: number, subs: map[uint32]*Subscription{}}
	s.timer.session = s
	return s
}

// OpenSession makes a session; tag is the caller's.
func (m *Manager) OpenSession(tag any) *Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions++
	m.opened++
	return m.newSession(tag, m.opened)
}

// CloseSession ends a session. Parked requests are answered with the status, BadSessionClosed or
// BadServerHalted. Its subscriptions are deleted, or go on without a session until they are transferred or
// their lifetime ends (Part 4, 5.7.4, DeleteSubscriptions).
func (m *Manager) CloseSession(now Now, s *Session, deleteSubscriptions bool, status ua.StatusCode) {
	var dead []*Item
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	for len(s.parked) > 0 {
		s.refuse(s.pop(now), status)
	}
	s.status, s.ready = nil, nil
	left := s.subs
	s.subs = map[uint32]*Subscription{}
	for id, sub := range left {
		sub.queued = false
		sub.mu.Lock()
		if deleteSubscriptions {
			dead = append(dead, m.close(sub)...)
			delete(left, id)
		} else {
			sub.touch(now)
		}
		sub.mu.Unlock()
	}
	m.orphans.mu.Lock()
	for id, sub := range left {
		m.orphans.subs[id] = sub
		sub.session.Store(m.orphans)
		sub.mu.Lock()
		if sub.waiting && !sub.claimed {
			sub.beLate(sub.tickAt(now.At))
		}
		sub.settle(m.orphans, now)
		sub.mu.Unlock()
	}
	m.orphans.mu.Unlock()
	s.mu.Unlock()
	m.schedule.cancel(&s.timer)
	m.mu.Lock()
	m.sessions--
	m.mu.Unlock()
	s.deliver()
	m.bury(dead)
}

// Run does what is due, and returns when it has to be called again at the latest; Config.Wake asks for an
// earlier call.
func (m *Manager) Run(now Now) (next time.Duration) {
	for sub := m.schedule.poked.Swap(nil); sub != nil; {
		after := sub.nextPoked
		sub.nextPoked = nil
		sub.poked.Store(false)
		sub.mu.Lock()
		sub.stir(now)
		sub.mu.Unlock()
		sub = after
	}
	list := m.run.sessions[:0]
	for t := m.schedule.due(now.At); t != nil; t = m.schedule.due(now.At) {
		s := t.session
		if s == nil {
			s = t.sub.session.Load()
			s.due = append(s.due, t.sub)
		}
		if !s.named {
			s.named = true
			list = append(list, s)
		}
	}
	for _, s := range list {
		m.sweep(s, now)
	}
	clear(list)
	m.run.sessions = list[:0]
	return m.schedule.arm()
}

// sweep looks at all subscriptions of a session that are due before it pairs them with requests, so
// that priorities hold among those that became ready together.
func (m *Manager) sweep(s *Session, now Now) {
	var dead []*Item
	s.mu.Lock()
	s.named = false
	s.expire(now)
	for _, sub := range s.due {
		if s.subs[sub.id] != sub {
			continue // transferred or deleted meanwhile, by who has planned it anew
		}
		sub.mu.Lock()
		switch sub.tick(s, now) {
		case wantsRequest:
			s.want(sub)
		case expired:
			dead = append(dead, m.expire(s, sub)...)
		}
		sub.mu.Unlock()
	}
	s.serve(now)
	for _, sub := range s.due {
		if s.subs[sub.id] != sub {
			continue
		}
		sub.mu.Lock()
		if sub.queued && !sub.more { // row 5: what is more has time until the next tick
			sub.beLate(sub.tickAt(now.At))
		}
		sub.settle(s, now)
		sub.mu.Unlock()
	}
	clear(s.due)
	s.due = s.due[:0]
	s.mu.Unlock()
	s.deliver()
	m.bury(dead)
}

// expire ends a subscription whose client is gone (row 27). Locks of session and subscription are held.
func (m *Manager) expire(s *Session, sub *Subscription) []*Item {
	s.unwant(sub)
	delete(s.subs, sub.id)
	if s != m.orphans {
		s.tell(statusChange{sub.id, sub.sent.TakeNumber(), ua.BadTimeout})
	}
	return m.close(sub)
}

// close ends a subscription, which is locked. The items are the caller's to bury, without locks.
func (m *Manager) close(sub *Subscription) []*Item {
	if sub.closed {
		return nil
	}
	sub.closed = true
	sub.asleep.Store(false)
	sub.sent.Clear()
	if m.cfg.MirrorStore != nil {
		m.cfg.MirrorStore.RemoveSent(sub.id)
	}
	m.schedule.cancel(&sub.timer)
	items := sub.sorted(nil)
	sub.items, sub.candidates, sub.publish, sub.order, sub.firing = nil, nil, nil, nil, nil
	sub.data, sub.events, sub.built = nil, nil, nil
	sub.links, sub.scanning = 0, 0
	sub.intake.takeAll(nil)
	m.mu.Lock()
	delete(m.subs, sub.id)
	m.mu.Unlock()
	return items
}

// bury takes items off their nodes.
func (m *Manager) bury(items []*Item) {
	if len(items) == 0 {
		return
	}
	for _, i := range items {
		if i.node != nil {
			i.node.remove(i)
		}
		i.mu.Lock()
		i.clear()
		i.flags |= gone
		i.mode = ua.MonitoringModeDisabled
		if i.ext != nil && i.ext.custom != nil {
			i.ext.custom.SetMode(ua.MonitoringModeDisabled)
		}
		i.mu.Unlock()
	}
	m.items.Add(-int64(len(items)))
	if m.cfg.Removed != nil {
		m.cfg.Removed(items)
	}
}

// Create makes a subscription (Part 4, 5.14.2). The status is BadTooManySubscriptions above the limit,
// BadSessionClosed for a session that is.
func (m *Manager) Create(now Now, s *Session, p Params, enabled bool) (*Subscription, ua.StatusCode) {
	l := &m.cfg.Limits
	sub := &Subscription{m: m, items: map[uint32]*Item{}, enabled: enabled, owner: s.tag, aliveAt: 1, touched: now.At}
	sub.timer.sub = sub
	sub.setParams(l.Revise(p, l.MaxLifetime), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ua.BadSessionClosed
	case len(s.subs) >= l.MaxSubscriptionsPerSession:
		return nil, ua.BadTooManySubscriptions
	}
	m.mu.Lock()
	for sub.id == 0 || m.subs[sub.id] != nil {
		m.lastID++
		sub.id = m.lastID
	}
	m.subs[sub.id] = sub
	m.mu.Unlock()
	sub.sent.Init(sub.id, l.MaxRetained)
	sub.sent.SetMirror(m.cfg.FullMirror, m.cfg.DeltaMirror)
	sub.session.Store(s)
	s.subs[sub.id] = sub
	sub.mu.Lock()
	sub.settle(s, now)
	sub.mu.Unlock()
	return sub, ua.Good
}

// Subscription finds one of a session's, nil if the session has none of this id.
func (m *Manager) Subscription(s *Session, id uint32) *Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs[id]
}

// Find finds a subscription of any session, nil if there is none of this id.
func (m *Manager) Find(id uint32) *Subscription {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.subs[id]
}

// Delete deletes a subscription of the session (Part 4, 5.14.8): BadSubscriptionIdInvalid if it has none
// of this id. When it was the last, parked requests are answered BadNoSubscription.
func (m *Manager) Delete(now Now, s *Session, id uint32) ua.StatusCode {
	s.mu.Lock()
	sub := s.subs[id]
	if sub == nil {
		s.mu.Unlock()
		return ua.BadSubscriptionIdInvalid
	}
	s.unwant(sub)
	delete(s.subs, id)
	sub.mu.Lock()
	dead := m.close(sub)
	sub.mu.Unlock()
	s.serve(now)
	s.mu.Unlock()
	s.deliver()
	m.bury(dead)
	return ua.Good
}

// Stats are counters for metrics.
type Stats struct {
	Sessions, Subscriptions, Items int
	Retained, Candidates           int    // messages and items, over all subscriptions
	Late, Discarded                uint32 // of the subscriptions that are there
}

// Stats walks the subscriptions.
func (m *Manager) Stats(now Now) Stats {
	m.mu.Lock()
	st := Stats{Sessions: m.sessions, Subscriptions: len(m.subs), Items: int(m.items.Load())}
	list := make([]*Subscription, 0, len(m.subs))
	for _, s := range m.subs {
		list = append(list, s)
	}
	m.mu.Unlock()
	for _, s := range list {
		s.mu.Lock()
		st.Retained += s.sent.Len()
		st.Candidates += len(s.candidates) + len(s.publish)
		st.Late += s.lateTicks(s.tickAt(now.At))
		st.Discarded += s.sent.Discarded()
		s.mu.Unlock()
	}
	return st
}
