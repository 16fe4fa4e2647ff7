package subs

import (
	"math"
	"time"

	"github.com/actua/actua/ua"
)

// Params are what a client asks for with CreateSubscription and ModifySubscription (Part 4, 5.14.2).
type Params struct {
	PublishingInterval         float64 // ms
	LifetimeCount              uint32
	MaxKeepAliveCount          uint32
	MaxNotificationsPerPublish uint32
	Priority                   uint8
}

// Revised are the parameters that hold.
type Revised struct {
	PublishingInterval         time.Duration
	LifetimeCount              uint32
	MaxKeepAliveCount          uint32
	MaxNotificationsPerPublish uint32
	Priority                   uint8
}

// Milliseconds is the publishing interval as responses have it.
func (r *Revised) Milliseconds() float64 {
	return float64(r.PublishingInterval) / float64(time.Millisecond)
}

// Revise makes parameters of what was asked for. Values that cannot be taken are no error (Part 4, 5.14.2.2):
// they become the nearest that can. maxLifetime is the longest life without a client: Limits.MaxLifetime or
// that of a durable subscription.
func (l *Limits) Revise(p Params, maxLifetime time.Duration) Revised {
	ms := float64(time.Millisecond)
	interval := l.MinPublishingInterval
	switch want := p.PublishingInterval * ms; {
	case math.IsNaN(want) || want < float64(interval):
	case want > float64(l.MaxPublishingInterval):
		interval = l.MaxPublishingInterval
	default:
		interval = time.Duration(want)
	}
	interval = roundUp(interval, l.PublishingResolution)
	keepAlive := uint64(p.MaxKeepAliveCount)
	if keepAlive == 0 {
		keepAlive = 3
	}
	for _, limit := range []time.Duration{maxLifetime, l.MaxPublishingInterval} {
		if n := counts(limit, interval); keepAlive > n {
			keepAlive = n
		}
	}
	// The limit comes first, so that three keep-alive intervals are possible in any case.
	lifetime := min(uint64(p.LifetimeCount), counts(maxLifetime, interval))
	lifetime = max(lifetime, 3*keepAlive)
	if l.MinLifetime > interval {
		lifetime = max(lifetime, counts(l.MinLifetime, interval))
	}
	lifetime = min(lifetime, math.MaxUint32)
	notifications := p.MaxNotificationsPerPublish
	if notifications == 0 || notifications > l.MaxNotificationsPerPublish {
		notifications = l.MaxNotificationsPerPublish
	}
	return Revised{interval, uint32(lifetime), uint32(keepAlive), notifications, p.Priority}
}

// counts is how many intervals it takes to reach d, at least 1.
func counts(d, interval time.Duration) uint64 {
	return max(uint64((d+interval-1)/interval), 1)
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// Sampling intervals are kept within a year.
const maxSampling = 365 * 24 * time.Hour

// ReviseSampling makes a sampling interval of what was asked for in milliseconds: negative, or not a
// number, is the publishing interval (Part 4, 7.21). minimum is the node's MinimumSamplingInterval in
// milliseconds. A continuous node, whose values are pushed, takes any interval from 0 on; all others take
// what neither the node's minimum nor the server's forbids.
func (l *Limits) ReviseSampling(ms float64, publishing time.Duration, minimum float64, continuous bool) time.Duration {
	d := publishing
	if ms >= 0 {
		d = milliseconds(ms)
	}
	if continuous {
		return min(d, maxSampling)
	}
	if minimum > 0 {
		d = max(d, milliseconds(minimum))
	}
	return min(coarse(max(d, l.MinSamplingInterval)), maxSampling)
}

// coarse rounds an interval up to three digits: each interval of readings has costs of its own, and clients
// could think of millions.
func coarse(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for 1000*unit <= d {
		unit *= 10
	}
	return roundUp(d, unit)
}

// milliseconds converts a number that is not negative and not NaN.
func milliseconds(ms float64) time.Duration {
	if ms >= float64(maxSampling/time.Millisecond) {
		return maxSampling
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// reviseQueue makes a queue size of what was asked for (Part 4, 7.21): 0 means the default.
func (l *Limits) reviseQueue(size uint32, events bool) uint32 {
	if !events {
		return min(max(size, 1), l.MaxDataQueue)
	}
	if size == 0 {
		size = 1000
	}
	return min(size, l.MaxEventQueue)
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b time.Duration) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return int64(q)
}

// stripped takes out of v the timestamps that a client did not ask for (Part 4, 7.39).
func strip(v *ua.DataValue, stamps ua.TimestampsToReturn) {
	if stamps == ua.TimestampsToReturnServer || stamps == ua.TimestampsToReturnNeither {
		v.SourceTimestamp, v.SourcePicoseconds = 0, 0
	}
	if stamps == ua.TimestampsToReturnSource || stamps == ua.TimestampsToReturnNeither {
		v.ServerTimestamp, v.ServerPicoseconds = 0, 0
	}
}

// begin is when a publishing timer begins that is started at a time: less than an interval before.
func (l *Limits) begin(at, interval time.Duration) time.Duration {
	if l.Phase <= 0 {
		return at
	}
	return at - (at-time.Duration(floorDiv(at, l.Phase))*l.Phase)%interval
}
