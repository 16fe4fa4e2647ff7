package subs

import (
	"github.com/actua/actua/internal/lease"
	"github.com/actua/actua/ua"
)

// Pools are where messages and what they consist of come from and go back to. They are safe for use by
// several goroutines. A nil *Pools allocates everything anew and keeps nothing. Use NewPools, or
// SharedPools for those of the process.
type Pools struct {
	messages *lease.Pool[Message]
	data     *lease.Slices[ua.MonitoredItemNotification]
	events   *lease.Slices[ua.EventFieldList]
	fields   *lease.Slices[ua.Variant]
	bytes    *lease.Slices[byte]
}

// Largest slices kept, in elements. What is larger is left to the collector.
const (
	maxPooledNotifications = 1 << 14
	maxPooledFields        = 1 << 16
	maxPooledBytes         = 1 << 20
)

// NewPools makes pools with the bound of lease.DefaultBound notifications, or the given one. A bound
// that is not positive is lease.ErrBound.
func NewPools(bound int) (*Pools, error) {
	p := new(Pools)
	var err error
	p.messages, err = lease.NewPool(bound, lease.Options[Message]{Clear: (*Message).clear, Poison: (*Message).poison,
		Idle: (*Message).idle})
	if err != nil {
		return nil, err
	}
	// A notification of a number with two timestamps takes about 40 bytes, and messages are seldom as
	// large as their class, hence the weights.
	p.data, _ = lease.NewSlices(bound, lease.SliceOptions[ua.MonitoredItemNotification]{MinLen: 1, MaxLen: maxPooledNotifications, Weight: 8, Poison: poisonData})
	p.events, _ = lease.NewSlices(bound, lease.SliceOptions[ua.EventFieldList]{MinLen: 1, MaxLen: maxPooledNotifications, Weight: 8, Poison: poisonEvents})
	p.fields, _ = lease.NewSlices(bound, lease.SliceOptions[ua.Variant]{MinLen: 4, MaxLen: maxPooledFields, Weight: 32, Poison: poisonFields})
	p.bytes, _ = lease.NewSlices(bound, lease.SliceOptions[byte]{MinLen: 64, MaxLen: maxPooledBytes, Weight: 512, Dirty: true, Poison: poisonBytes})
	return p, nil
}

var shared = func() *Pools {
	p, err := NewPools(lease.DefaultBound)
	if err != nil {
		panic(err) // the bound is a constant
	}
	return p
}()

// SharedPools are those of the process: all servers and clients in it rent from them.
func SharedPools() *Pools { return shared }

// Raise raises the bounds for this number of monitored items in the process (lease.BoundFor). Bounds
// are never lowered.
func (p *Pools) Raise(items int) {
	if p == nil {
		return
	}
	// BoundFor is positive: there is no error.
	bound := lease.BoundFor(items)
	_ = p.messages.Raise(bound)
	_ = p.data.Raise(bound)
	_ = p.events.Raise(bound)
	_ = p.fields.Raise(bound)
	_ = p.bytes.Raise(bound)
}

// PoolStats are the counters of Pools, for metrics. Messages.Outstanding is the number of messages that
// somebody holds.
type PoolStats struct {
	Messages, Data, Events, Fields, Bytes lease.Stats
}

// Stats returns the counters; all zero for nil.
func (p *Pools) Stats() PoolStats {
	if p == nil {
		return PoolStats{}
	}
	return PoolStats{Messages: p.messages.Stats(), Data: p.data.Stats(), Events: p.events.Stats(),
		Fields: p.fields.Stats(), Bytes: p.bytes.Stats()}
}

// RentData returns n zero notifications for a decoder, with the capacity of their class; ReturnData takes
// them back, cleared, when nobody uses them any more.
func (p *Pools) RentData(n int) []ua.MonitoredItemNotification { return rent(p, n, (*Pools).dataPool) }

// ReturnData takes back a slice of RentData. What has another capacity than those is left to the collector.
func (p *Pools) ReturnData(s []ua.MonitoredItemNotification) {
	if p != nil {
		p.data.Return(s)
	}
}

// RentEvents returns n zero events for a decoder, like RentData.
func (p *Pools) RentEvents(n int) []ua.EventFieldList { return rent(p, n, (*Pools).eventPool) }

// ReturnEvents takes back a slice of RentEvents, like ReturnData.
func (p *Pools) ReturnEvents(s []ua.EventFieldList) {
	if p != nil {
		p.events.Return(s)
	}
}

// rent rents a slice of n elements, or makes one when there are no pools.
func rent[T any](p *Pools, n int, pool func(*Pools) *lease.Slices[T]) []T {
	if n <= 0 {
		return nil
	}
	if p == nil {
		return make([]T, n)
	}
	return pool(p).Rent(n)
}

func (p *Pools) dataPool() *lease.Slices[ua.MonitoredItemNotification] { return p.data }
func (p *Pools) eventPool() *lease.Slices[ua.EventFieldList]           { return p.events }
func (p *Pools) fieldPool() *lease.Slices[ua.Variant]                  { return p.fields }
func (p *Pools) bytePool() *lease.Slices[byte]                         { return p.bytes }
