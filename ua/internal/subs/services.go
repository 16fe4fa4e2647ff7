package subs

import (
	"cmp"
	"slices"
	"time"

	"github.com/actua/actua/ua"
)

// lockFor locks the subscription for a service call of a session and resets the lifetime counter. It
// does not lock, and returns BadSubscriptionIdInvalid, when the subscription is another's or is gone.
func (s *Subscription) lockFor(by *Session, now Now) ua.StatusCode {
	s.mu.Lock()
	if s.closed || s.session.Load() != by {
		s.mu.Unlock()
		return ua.BadSubscriptionIdInvalid
	}
	s.touch(now)
	return ua.Good
}

// Modify changes parameters (Part 4, 5.14.3).
func (s *Subscription) Modify(now Now, by *Session, p Params) (Revised, ua.StatusCode) {
	by.mu.Lock()
	defer by.mu.Unlock()
	if status := s.lockFor(by, now); status != ua.Good {
		return Revised{}, status
	}
	defer s.mu.Unlock()
	s.setParams(s.m.cfg.Limits.Revise(p, s.maxLifetime()), now)
	s.counter.modify++
	s.settle(by, now)
	return s.p, ua.Good
}

func (s *Subscription) maxLifetime() time.Duration {
	l := &s.m.cfg.Limits
	if s.durable {
		return max(l.MaxLifetime, time.Duration(l.MaxDurableHours)*time.Hour)
	}
	return l.MaxLifetime
}

// SetPublishing enables or disables publishing (Part 4, 5.14.4). While it is disabled nothing is
// collected and nothing lost; what was retained and not sent is held back, and keep-alives flow.
func (s *Subscription) SetPublishing(now Now, by *Session, enabled bool) ua.StatusCode {
	by.mu.Lock()
	defer by.mu.Unlock()
	if status := s.lockFor(by, now); status != ua.Good {
		return status
	}
	defer s.mu.Unlock()
	if enabled {
		s.counter.enable++
	} else {
		s.counter.disable++
	}
	s.enabled = enabled
	if s.waiting && !s.late { // row 19: MoreNotifications is false from now on
		s.waiting = false
		by.unwant(s)
	}
	s.settle(by, now)
	s.stir(now)
	return ua.Good
}

// Republish lets out acquire a message that was sent and not acknowledged (Part 4, 5.14.6):
// BadSubscriptionIdInvalid, BadMessageNotAvailable.
func (s *Subscription) Republish(now Now, by *Session, number uint32, out *Ref) ua.StatusCode {
	if status := s.lockFor(by, now); status != ua.Good {
		return status
	}
	defer s.mu.Unlock()
	s.counter.republishRequests++
	status := s.sent.FindForRepublish(number, out)
	if status == ua.Good {
		s.counter.republished++
	}
	return status
}

// ItemLimit is how many more items the subscription takes.
func (s *Subscription) ItemLimit() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.m.cfg.Limits.MaxItemsPerSubscription-len(s.items), 0)
}

// CreateItem makes a monitored item (Part 4, 5.13.2) and puts it on its Node, so that values reach it from
// now on. The caller then gives it the current value with PushInitial, unless it is disabled. The queue
// size is revised in c. The status is BadSubscriptionIdInvalid or BadTooManyMonitoredItems.
func (s *Subscription) CreateItem(now Now, by *Session, c *ItemConfig) (*Item, ua.StatusCode) {
	c.QueueSize = s.m.cfg.Limits.reviseQueue(c.QueueSize, c.Events != nil)
	i := &Item{sub: s, mode: c.Mode, node: c.Node, tag: c.Tag}
	i.configure(c)
	if status := s.lockFor(by, now); status != ua.Good {
		return nil, status
	}
	if len(s.items) >= s.m.cfg.Limits.MaxItemsPerSubscription {
		s.mu.Unlock()
		return nil, ua.BadTooManyMonitoredItems
	}
	for i.id == 0 {
		i.id = s.m.lastItem.Add(1)
	}
	s.items[i.id] = i
	s.order = nil
	if c.Custom != nil {
		if i.ext.scanned = !c.Custom.Signals(); i.ext.scanned {
			s.scanning++
		}
		c.Custom.SetMode(c.Mode)
	}
	s.m.cfg.Pools.Raise(int(s.m.items.Add(1)))
	s.mark(i)
	s.stir(now)
	// On the node before the lock goes: whoever deletes the subscription then finds it there.
	if i.node != nil {
		i.node.add(i)
	}
	s.mu.Unlock()
	return i, ua.Good
}

// Item finds a monitored item; nil if there is none of this id.
func (s *Subscription) Item(id uint32) *Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[id]
}

// Items lists the items by id.
func (s *Subscription) Items() []*Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted(make([]*Item, 0, len(s.items)))
}

// MoveItem puts an item on another Node, as of another Group for another reader. It does nothing when the
// subscription is not the session's any more, or the item is gone.
func (s *Subscription) MoveItem(by *Session, i *Item, to *Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.session.Load() != by || s.items[i.id] != i || to == i.node {
		return
	}
	if i.node != nil {
		i.node.remove(i)
	}
	i.node = to
	i.node.add(i)
}

// ModifyItem changes the parameters of an item (Part 4, 5.13.3). Of c the mode, range, encoding, tag and
// Custom stay what they were; an item stays one for values or for events. Another Node, as of another Group
// for another sampling interval, replaces the one it was on; nil does not. The queue size is revised in c. What waits is kept as far as the new queue has room. The status is BadSubscriptionIdInvalid or
// BadMonitoredItemIdInvalid.
func (s *Subscription) ModifyItem(now Now, by *Session, id uint32, c *ItemConfig) ua.StatusCode {
	if status := s.lockFor(by, now); status != ua.Good {
		return status
	}
	defer s.mu.Unlock()
	i := s.items[id]
	if i == nil {
		return ua.BadMonitoredItemIdInvalid
	}
	i.mu.Lock()
	n := *c
	if x := i.ext; x != nil {
		n.Range, n.Encode, n.Custom = x.rng, x.encode, x.custom
		if (x.events == nil) != (c.Events == nil) {
			n.Events = x.events
		}
	} else {
		n.Range, n.Encode, n.Custom, n.Events = ua.NumericRange{}, nil, nil, nil
	}
	c.QueueSize = s.m.cfg.Limits.reviseQueue(c.QueueSize, n.Events != nil)
	n.QueueSize = c.QueueSize
	i.configure(&n)
	i.due = min(i.due, now.At+i.sampling) // a shorter interval holds at once
	if i.flags&throttled == 0 {
		i.flags &^= early
	}
	i.resized()
	i.mu.Unlock()
	if c.Node != nil && c.Node != i.node {
		if i.node != nil {
			i.node.remove(i)
		}
		i.node = c.Node
		i.node.add(i)
	}
	s.mark(i)
	s.stir(now)
	return ua.Good
}

// SetMode changes the monitoring mode of an item (Part 4, 5.13.4): BadMonitoredItemIdInvalid,
// BadMonitoringModeInvalid. Disabled drops what waits. An item that was disabled and is no more needs the
// current value, by PushInitial: was tells.
func (s *Subscription) SetMode(now Now, by *Session, id uint32, mode ua.MonitoringMode) (i *Item, was ua.MonitoringMode, status ua.StatusCode) {
	if mode < ua.MonitoringModeDisabled || mode > ua.MonitoringModeReporting {
		return nil, 0, ua.BadMonitoringModeInvalid
	}
	if status := s.lockFor(by, now); status != ua.Good {
		return nil, 0, status
	}
	defer s.mu.Unlock()
	if i = s.items[id]; i == nil {
		return nil, 0, ua.BadMonitoredItemIdInvalid
	}
	i.mu.Lock()
	was, i.mode = i.mode, mode
	if mode == ua.MonitoringModeDisabled {
		i.clear()
		i.flags &^= hasValue
		i.value = ua.DataValue{}
	}
	if i.ext != nil && i.ext.custom != nil {
		i.ext.custom.SetMode(mode)
	}
	i.mu.Unlock()
	s.mark(i)
	s.stir(now)
	return i, was, ua.Good
}

// DeleteItems deletes monitored items (Part 4, 5.13.6), each with a result: Good or
// BadMonitoredItemIdInvalid.
func (s *Subscription) DeleteItems(now Now, by *Session, ids []uint32) ([]ua.StatusCode, ua.StatusCode) {
	if status := s.lockFor(by, now); status != ua.Good {
		return nil, status
	}
	results := make([]ua.StatusCode, len(ids))
	var dead []*Item
	for n, id := range ids {
		i := s.items[id]
		if i == nil {
			results[n] = ua.BadMonitoredItemIdInvalid
			continue
		}
		delete(s.items, id)
		s.unlinkAll(i)
		if i.ext != nil && i.ext.scanned {
			s.scanning--
		}
		dead = append(dead, i)
	}
	s.order = nil
	s.mu.Unlock()
	s.m.bury(dead)
	s.forget()
	return results, ua.Good
}

// forget takes deleted items out of the lists, so that they are not held until the next tick.
func (s *Subscription) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	dead := func(i *Item) bool { return s.items[i.id] != i }
	s.candidates = slices.DeleteFunc(s.candidates, dead)
	s.publish = slices.DeleteFunc(s.publish, dead)
	for _, i := range s.intake.takeAll(nil) {
		if !dead(i) {
			i.place = candidate
			s.candidates = append(s.candidates, i)
			s.timed = true // the intake has it no more, which would keep the subscription awake
		}
	}
}

// GetMonitoredItems lists the items by id, with the handles of the client (Part 5, 9.1): BadSubscriptionIdInvalid,
// BadUserAccessDenied for another session's subscription.
func (m *Manager) GetMonitoredItems(now Now, by *Session, id uint32) (server, client []uint32, status ua.StatusCode) {
	s, status := m.own(now, by, id)
	if status != ua.Good {
		return nil, nil, status
	}
	defer s.mu.Unlock()
	for _, i := range s.all() {
		server = append(server, i.id)
		client = append(client, i.ClientHandle())
	}
	return server, client, ua.Good
}

// ResendData makes each reporting item for values report its last value again, if none waits (Part 5,
// 9.2): BadSubscriptionIdInvalid, BadUserAccessDenied for another session's subscription.
func (m *Manager) ResendData(now Now, by *Session, id uint32) ua.StatusCode {
	s, status := m.own(now, by, id)
	if status != ua.Good {
		return status
	}
	defer s.mu.Unlock()
	s.resendAll()
	s.stir(now)
	return ua.Good
}

// resendAll asks for the last values.
func (s *Subscription) resendAll() {
	for _, i := range s.all() {
		i.mu.Lock()
		ask := i.mode == ua.MonitoringModeReporting
		if x := i.ext; ask && x != nil {
			if ask = x.events == nil; x.custom != nil {
				x.custom.Resend()
			}
		}
		if ask {
			i.flags |= resend
		}
		i.mu.Unlock()
		if ask {
			s.mark(i)
		}
	}
}

// own locks a subscription for a method of the Server object.
func (m *Manager) own(now Now, by *Session, id uint32) (*Subscription, ua.StatusCode) {
	s := m.Find(id)
	switch {
	case s == nil:
		return nil, ua.BadSubscriptionIdInvalid
	case s.session.Load() != by:
		return nil, ua.BadUserAccessDenied
	}
	return s, s.lockFor(by, now)
}

// SetDurable makes a subscription outlive its client for some hours (Part 5, 9.3): BadNotSupported when
// the server has no durable ones, BadSubscriptionIdInvalid, BadUserAccessDenied for another session's,
// BadInvalidState when it has items. 0 hours and too many become the most.
func (m *Manager) SetDurable(now Now, by *Session, id, hours uint32) (revised uint32, status ua.StatusCode) {
	most := m.cfg.Limits.MaxDurableHours
	if most == 0 {
		return 0, ua.BadNotSupported
	}
	by.mu.Lock()
	defer by.mu.Unlock()
	s, status := m.own(now, by, id)
	if status != ua.Good {
		return 0, status
	}
	defer s.mu.Unlock()
	if len(s.items) > 0 {
		return 0, ua.BadInvalidState
	}
	if hours == 0 || hours > most {
		hours = most
	}
	s.durable = true
	s.p.LifetimeCount = uint32(min(max(counts(time.Duration(hours)*time.Hour, s.p.PublishingInterval), 3*uint64(s.p.MaxKeepAliveCount)), 1<<32-1))
	s.settle(by, now)
	return hours, ua.Good
}

// sorted appends the items by id.
func (s *Subscription) sorted(dst []*Item) []*Item {
	for _, i := range s.items {
		dst = append(dst, i)
	}
	slices.SortFunc(dst, func(a, b *Item) int { return cmp.Compare(a.id, b.id) })
	return dst
}
