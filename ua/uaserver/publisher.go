package uaserver

import (
	"math/rand/v2"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/filter"
	"github.com/actua/actua/ua/internal/subs"
)

// One thread does what subscriptions and samples want done in time. Nothing due, nothing done.

// longest is what stands for no limit of a subscription's life; a publishing interval is at most a fiftieth
// of it. Times that follow from both stay within what a Duration holds, 292 years.
const longest = 50 * 365 * 24 * time.Hour

// phase makes the subscriptions that begin within it publish at the same moments, which saves wake-ups: an
// eighth of all CPU with 100 subscriptions of 100 ms, against ten moments in that time.
const phase = 100 * time.Millisecond

// subs are the limits as package subs has them.
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
		Phase:                      phase,
		MaxPublishingInterval:      min(l.MaxPublishingInterval, longest/50),
		MinSamplingInterval:        l.MinSamplingInterval,
		MinLifetime:                l.MinSubscriptionLifetime,
		MaxLifetime:                min(l.MaxSubscriptionLifetime, longest),
		MaxDurableHours:            uint32(min(l.MaxDurableLifetime, longest) / time.Hour),
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
		Same:    filter.Equal,
		Wake:    s.wakeLoop,
		Removed: s.itemsRemoved,
	})
}

// wakeLoop has what is due looked at.
func (s *Server) wakeLoop() {
	if s.onLoop {
		s.loops.WakeTask()
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// clock is a time as package subs wants it.
func (s *Server) clock(t time.Time) subs.Now {
	return subs.Now{At: t.Sub(s.zero), Wall: ua.NewDateTime(t)}
}

// startPublishing begins to run subscriptions and samples: on the first event loop, where most values come
// in and most responses go out, or on a goroutine. Server.mu is held.
func (s *Server) startPublishing() {
	if loops := s.eventLoops(); loops != nil {
		s.onLoop = true
		if loops.SetTask(s.runDue) {
			return
		}
		s.onLoop = false
	}
	s.publishing.Add(1)
	go s.publishLoop()
}

// runDue does what is due, and returns how long there is nothing to do, -1 for ever.
func (s *Server) runDue() (wait time.Duration) {
	defer func() {
		if e := recover(); e != nil {
			s.log.Error("panic in a node manager while values are sampled", "panic", e, "stack", stack())
			wait = time.Second
		}
	}()
	now := s.clock(s.now())
	next := min(s.sampler.run(now), s.subs.Run(now))
	if next == maxDuration {
		return -1
	}
	return max(next-s.clock(s.now()).At, 0)
}

// publishLoop runs subscriptions and samples until the server is closed.
func (s *Server) publishLoop() {
	defer s.publishing.Done()
	t := time.NewTimer(time.Hour)
	defer t.Stop()
	for {
		if wait := s.runDue(); wait < 0 {
			t.Stop()
		} else {
			t.Reset(wait)
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
