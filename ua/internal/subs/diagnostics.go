package subs

import (
	"cmp"
	"slices"

	"github.com/actua/actua/ua"
)

// List is all subscriptions, by their ids.
func (m *Manager) List() []*Subscription {
	m.mu.Lock()
	list := make([]*Subscription, 0, len(m.subs))
	for _, s := range m.subs {
		list = append(list, s)
	}
	m.mu.Unlock()
	slices.SortFunc(list, func(a, b *Subscription) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Count is the number of subscriptions.
func (m *Manager) Count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.subs)
}

// SessionTag is the tag of the session that has the subscription, nil while none does.
func (s *Subscription) SessionTag() any { return s.session.Load().tag }

// Usage is how many subscriptions and monitored items the session has, and how many of its Publish
// requests wait.
func (s *Session) Usage() (subscriptions, items, parked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		sub.mu.Lock()
		items += len(sub.items)
		sub.mu.Unlock()
	}
	return len(s.subs), items, len(s.parked)
}

// Diagnostics fills in what is known of the subscription (Part 5, 12.15), all but the session id. It is
// false for a subscription that is gone.
func (s *Subscription) Diagnostics(now Now, d *ua.SubscriptionDiagnosticsDataType) bool {
	from := s.session.Load()
	from.mu.Lock()
	defer from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	k := s.tickAt(now.At)
	c := &s.counter
	disabled := uint32(0)
	for _, i := range s.items {
		if i.Mode() == ua.MonitoringModeDisabled {
			disabled++
		}
	}
	*d = ua.SubscriptionDiagnosticsDataType{
		SubscriptionID:               s.id,
		Priority:                     s.p.Priority,
		PublishingInterval:           s.p.Milliseconds(),
		MaxKeepAliveCount:            s.p.MaxKeepAliveCount,
		MaxLifetimeCount:             s.p.LifetimeCount,
		MaxNotificationsPerPublish:   s.p.MaxNotificationsPerPublish,
		PublishingEnabled:            s.enabled,
		ModifyCount:                  c.modify,
		EnableCount:                  c.enable,
		DisableCount:                 c.disable,
		RepublishRequestCount:        c.republishRequests,
		RepublishMessageRequestCount: c.republishRequests,
		RepublishMessageCount:        c.republished,
		TransferRequestCount:         c.transfers,
		TransferredToAltClientCount:  c.toAlternate,
		TransferredToSameClientCount: c.toSame,
		PublishRequestCount:          c.publishes,
		DataChangeNotificationsCount: c.dataChanges,
		EventNotificationsCount:      c.events,
		NotificationsCount:           c.dataChanges + c.events,
		LatePublishRequestCount:      s.lateTicks(k),
		CurrentKeepAliveCount:        uint32(min(max(k-(s.aliveAt-int64(s.p.MaxKeepAliveCount)), 0), int64(s.p.MaxKeepAliveCount))),
		CurrentLifetimeCount:         uint32(min(max(k-s.lifeEnd(from, now.At)+int64(s.p.LifetimeCount), 0), int64(s.p.LifetimeCount))),
		UnacknowledgedMessageCount:   uint32(s.sent.Len() - s.sent.Unsent()),
		DiscardedMessageCount:        s.sent.Discarded(),
		MonitoredItemCount:           uint32(len(s.items)),
		DisabledMonitoredItemCount:   disabled,
		MonitoringQueueOverflowCount: s.overflows.Load(),
		NextSequenceNumber:           s.sent.next,
		EventQueueOverflowCount:      s.eventOverflows.Load(),
	}
	return true
}

// State is where in the table of Part 4, 5.14.1.2 the subscription is.
func (s *Subscription) State(now Now) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return "CLOSED"
	case s.late:
		return "LATE"
	case s.started && !s.waiting && s.tickAt(now.At) > s.aliveAt-int64(s.p.MaxKeepAliveCount):
		return "KEEPALIVE"
	}
	return "NORMAL"
}
