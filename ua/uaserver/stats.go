package uaserver

import (
	"sync/atomic"

	"github.com/actua/actua/internal/lease"
	"github.com/actua/actua/ua/internal/subs"
)

// Stats are counts since the server was made, and what is there now.
type Stats struct {
	Sessions uint64 // now, activated or not
	Channels uint64 // connections now

	SessionsCreated  uint64
	SessionsRejected uint64 // refused by CreateSession
	SessionsTimedOut uint64
	Logins           uint64 // successful activations
	LoginsRejected   uint64
	ChannelsRejected uint64 // connections refused or ended because there were too many
	Requests         uint64
	RequestsRejected uint64 // answered with a ServiceFault

	SubscriptionsCreated uint64
}

// PublishStats are figures of the publish path as it is now.
type PublishStats struct {
	Subscriptions  int
	MonitoredItems int
	Retained       int    // messages kept until they are acknowledged
	Candidates     int    // monitored items that the next tick of their subscription looks at
	Late           uint32 // ticks at which a subscription had no Publish request, of those there are
	Discarded      uint32 // messages dropped unacknowledged because too many were kept, likewise

	// The pools of the process: messages that somebody holds, what lies in the pools, and how much may.
	MessagesHeld int64
	PooledIdle   int64
	PoolBound    int64
	PoolMisses   uint64 // rents that found a pool empty
	Pools        PublishPools
}

// PublishPools are the pools of the process: messages, and the slices that they consist of.
type PublishPools struct {
	Messages    PoolStats
	DataChanges PoolStats // slices of notifications of values
	Events      PoolStats // slices of notifications of events
	Fields      PoolStats // slices of fields of events
	Buffers     PoolStats // binary forms of messages
}

// PoolStats are figures of one pool.
type PoolStats struct {
	Outstanding int64 // rented and not given back
	Idle        int64 // in the pool
	Bound       int64 // how many it keeps
	Misses      uint64
}

func poolStats(p lease.Stats) PoolStats {
	return PoolStats{Outstanding: int64(p.Outstanding()), Idle: int64(p.Idle), Bound: int64(p.Bound), Misses: p.Misses}
}

type counters struct {
	sessionsCreated, sessionsRejected, timedOut, logins, loginsRejected atomic.Uint64
	channels, channelsRejected, requests, rejected                      atomic.Uint64
	subscriptionsCreated                                                atomic.Uint64
}

// Stats returns the server's counts.
func (s *Server) Stats() Stats {
	c := &s.stats
	return Stats{
		Sessions:         uint64(s.sessions.count()),
		Channels:         c.channels.Load(),
		SessionsCreated:  c.sessionsCreated.Load(),
		SessionsRejected: c.sessionsRejected.Load(),
		SessionsTimedOut: c.timedOut.Load(),
		Logins:           c.logins.Load(),
		LoginsRejected:   c.loginsRejected.Load(),
		ChannelsRejected: c.channelsRejected.Load(),
		Requests:         c.requests.Load(),
		RequestsRejected: c.rejected.Load(),

		SubscriptionsCreated: c.subscriptionsCreated.Load(),
	}
}

// PublishStats returns figures of the publish path. It looks at every subscription.
func (s *Server) PublishStats() PublishStats {
	m, p := s.subs.Stats(s.clock(s.now())), subs.SharedPools().Stats()
	return PublishStats{
		Subscriptions: m.Subscriptions, MonitoredItems: m.Items, Retained: m.Retained, Candidates: m.Candidates,
		Late: m.Late, Discarded: m.Discarded,
		MessagesHeld: int64(p.Messages.Outstanding()), PoolBound: int64(p.Messages.Bound),
		PooledIdle: int64(p.Messages.Idle + p.Data.Idle + p.Events.Idle + p.Fields.Idle + p.Bytes.Idle),
		PoolMisses: p.Messages.Misses + p.Data.Misses + p.Events.Misses + p.Fields.Misses + p.Bytes.Misses,
		Pools:      PublishPools{poolStats(p.Messages), poolStats(p.Data), poolStats(p.Events), poolStats(p.Fields), poolStats(p.Bytes)},
	}
}
