package subs

import "github.com/actua/actua/ua"

// Diagnostics fills in what is known of the subscription (Part 5, 12.15), all but the session id.
func (s *Subscription) Diagnostics(now Now, d *ua.SubscriptionDiagnosticsDataType) {
	from := s.session.Load()
	from.mu.Lock()
	defer from.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
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
