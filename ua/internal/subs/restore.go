package subs

import (
	"github.com/actua/actua/ua"
)

// State is a whole subscription, as it is saved when a server ends in order, and as another server takes it
// over. Filters and the like are those of the items themselves: who stores a State elsewhere keeps what
// they were made from.
type State struct {
	ID      uint32
	Params  Revised
	Enabled bool
	Durable bool
	Items   []ItemState // by id
	Sent    SentState   // owns a reference of each message
}

// ItemState is a monitored item and what waits in it.
type ItemState struct {
	ID       uint32
	Config   ItemConfig
	Last     ua.DataValue // the last value that was accepted
	HasLast  bool
	Values   []ua.DataValue // that wait, oldest first, with their overflow bits
	Events   [][]ua.Variant // that wait
	Overflow bool           // events were lost
	Links    []uint32       // items that it triggers
}

// Capture returns the state of the subscription, whose Sent the caller releases or passes on. It changes
// nothing. What waits in Custom items and in aggregates is left out.
func (s *Subscription) Capture() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{ID: s.id, Params: s.p, Enabled: s.enabled || s.held, Durable: s.durable, Sent: s.sent.Capture()}
	for _, i := range s.all() {
		st.Items = append(st.Items, i.capture())
	}
	return st
}

func (i *Item) capture() ItemState {
	i.mu.Lock()
	defer i.mu.Unlock()
	st := ItemState{ID: i.id, Last: i.value, HasLast: i.flags&hasValue != 0, Config: ItemConfig{
		Node: i.node, Tag: i.tag, ClientHandle: i.handle, Mode: i.mode, Timestamps: ua.TimestampsToReturn(i.stamps),
		QueueSize: i.size, DiscardOldest: i.flags&discardOldest != 0, Sampling: i.sampling, Continuous: i.flags&throttled != 0}}
	if i.flags&single != 0 {
		st.Values = append(st.Values, i.value)
	} else if i.ring != nil {
		for n := range i.ring.n {
			st.Values = append(st.Values, *i.ring.at(n))
		}
	}
	if x := i.ext; x != nil {
		c := &st.Config
		c.Filter, c.Events, c.Range, c.Encode, c.Custom = x.filter, x.events, x.rng, x.encode, x.custom
		for n := range x.queue.n {
			st.Events = append(st.Events, x.queue.at(n).fields)
		}
		st.Overflow = x.queue.overflow
		for _, l := range x.links {
			st.Links = append(st.Links, l.id)
		}
	}
	return st
}

// Restore makes a subscription of a state, whose references it takes over. It has no session, and publishing
// is disabled, until it is transferred; owner is what Transfer.Owner tells. Configs of items are used as
// they are, nodes included. The status is BadSubscriptionIdInvalid when there is one of this id.
func (m *Manager) Restore(now Now, st *State, owner any) (*Subscription, ua.StatusCode) {
	sub := &Subscription{m: m, id: st.ID, items: map[uint32]*Item{}, owner: owner, anchor: now.At, touched: now.At,
		held: st.Enabled, durable: st.Durable, started: true}
	sub.timer.sub = sub
	p := st.Params // of another run, perhaps with other limits
	p.PublishingInterval = max(p.PublishingInterval, m.cfg.Limits.MinPublishingInterval)
	p.MaxKeepAliveCount = max(p.MaxKeepAliveCount, 1)
	p.LifetimeCount = uint32(min(max(uint64(p.LifetimeCount), 3*uint64(p.MaxKeepAliveCount)), 1<<32-1))
	if n := m.cfg.Limits.MaxNotificationsPerPublish; p.MaxNotificationsPerPublish == 0 || p.MaxNotificationsPerPublish > n {
		p.MaxNotificationsPerPublish = n
	}
	sub.setParams(p, now)
	sub.aliveAt = int64(p.MaxKeepAliveCount)
	sub.sent.Init(st.ID, m.cfg.Limits.MaxRetained)
	sub.sent.SetMirror(m.cfg.FullMirror, m.cfg.DeltaMirror)
	m.orphans.mu.Lock()
	defer m.orphans.mu.Unlock()
	m.mu.Lock()
	taken := st.ID == 0 || m.subs[st.ID] != nil
	if !taken {
		m.subs[st.ID] = sub
		m.lastID = max(m.lastID, st.ID)
	}
	m.mu.Unlock()
	if taken {
		st.Sent.Release()
		return nil, ua.BadSubscriptionIdInvalid
	}
	sub.session.Store(m.orphans)
	m.orphans.subs[st.ID] = sub
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.sent.Restore(&st.Sent)
	for n := range st.Items {
		m.restoreItem(sub, &st.Items[n])
	}
	for n := range st.Items {
		for _, id := range st.Items[n].Links {
			if l := sub.items[id]; l != nil {
				sub.link(sub.items[st.Items[n].ID], l)
			}
		}
	}
	m.cfg.Pools.Raise(int(m.items.Load()))
	sub.settle(m.orphans, now)
	return sub, ua.Good
}

func (m *Manager) restoreItem(sub *Subscription, st *ItemState) {
	if st.ID == 0 || sub.items[st.ID] != nil {
		return // of a state that somebody has made up
	}
	c := &st.Config
	i := &Item{sub: sub, id: st.ID, mode: c.Mode, node: c.Node, tag: c.Tag, value: st.Last}
	i.configure(c)
	if st.HasLast {
		i.flags |= hasValue
	}
	if n := len(st.Values); n == 1 && i.size == 1 {
		i.flags |= single
	} else if n > 0 {
		i.ring = new(ring)
		for v := range st.Values[:min(n, int(i.size))] {
			i.ring.put(&st.Values[v], i.size)
		}
	}
	if i.ext != nil && c.Events != nil {
		for _, fields := range st.Events {
			i.ext.queue.put(nil, fields, i.size)
		}
		i.ext.queue.overflow = st.Overflow
	}
	sub.items[i.id] = i
	m.items.Add(1)
	for {
		last := m.lastItem.Load()
		if last >= i.id || m.lastItem.CompareAndSwap(last, i.id) {
			break
		}
	}
	if c.Custom != nil {
		if i.ext.scanned = !c.Custom.Signals(); i.ext.scanned {
			sub.scanning++
		}
		c.Custom.SetMode(c.Mode)
	}
	if i.node != nil {
		i.node.add(i)
	}
	sub.mark(i)
}
