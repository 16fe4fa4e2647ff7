package uaserver

import (
	"math/rand/v2"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// The server has one goroutine for all subscriptions: it waits until something is due, be it a publishing
// timer or a sample, and does that. Nothing due, nothing done.

// subsLimits are the limits as package subs has them.
func (l *Limits) subs() subs.Limits {
	count := func(n int) uint32 { return uint32(min(n, noLimit)) }
	return subs.Limits{
		MaxSubscriptionsPerSession: l.MaxSubscriptions,
		MaxItemsPerSubscription:    l.MaxMonitoredItems,
		MaxPublishRequests:         l.MaxPublishRequests,
		MaxRetained:                l.MaxRetransmissionQueue,
		MaxDataQueue:               count(l.MaxDataQueue),
		MaxEventQueue:              count(l.MaxEventQueue),
		MaxNotificationsPerPublish: count(l.MaxNotificationsPerPublish),
		MinPublishingInterval:      l.MinPublishingInterval,
		MaxPublishingInterval:      l.MaxPublishingInterval,
		MinSamplingInterval:        l.MinSamplingInterval,
		MinLifetime:                l.MinSubscriptionLifetime,
		MaxLifetime:                l.MaxSubscriptionLifetime,
		MaxDurableHours:            uint32(min(l.MaxDurableLifetime/time.Hour, 1<<31-1)),
	}
}

// newSubscriptions makes the manager of subscriptions.
func (s *Server) newSubscriptions() {
	s.zero = s.now()
	s.wake = make(chan struct{}, 1)
	s.self = &SessionInfo{ID: serverObject, Name: "server"}
	s.sampler.server = s
	s.subs = subs.New(subs.Config{
		Limits:  s.cfg.Limits.subs(),
		Pools:   subs.SharedPools(),
		FirstID: rand.Uint32()>>1 + 1,
		Wake:    s.wakeLoop,
		Removed: s.itemsRemoved,
	})
}

// wakeLoop has the loop look what is due.
func (s *Server) wakeLoop() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// clock is a time as package subs wants it.
func (s *Server) clock(t time.Time) subs.Now {
	return subs.Now{At: t.Sub(s.zero), Wall: ua.NewDateTime(t)}
}

// publishLoop runs subscriptions and samples until the server is closed.
func (s *Server) publishLoop() {
	defer s.publishing.Done()
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for {
		now := s.clock(s.now())
		next := min(s.sampler.run(now), s.subs.Run(now))
		if wait := next - now.At; next == maxDuration {
			t.Stop()
		} else {
			t.Reset(max(wait, 0))
		}
		select {
		case <-t.C:
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
	}
}

const maxDuration time.Duration = 1<<63 - 1
