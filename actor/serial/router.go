package serial

import (
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// The configurations of Akka.NET's routers, as they travel with a deployment (serializer 16).
type (
	// FromConfig takes the router from the configuration.
	FromConfig struct {
		Resizer    any
		Dispatcher string
	}
	// DefaultResizer changes the size of a pool by its load.
	DefaultResizer struct {
		LowerBound, UpperBound, PressureThreshold uint32
		RampupRate, BackoffThreshold, BackoffRate float64
		MessagesPerResize                         uint32
	}
	// Pool is what all pools have.
	Pool struct {
		Instances         uint32
		Dispatcher        string // of the router
		UsePoolDispatcher bool
		Resizer           any // nil or a [DefaultResizer]
	}
	// RoundRobinPool sends to one after the other.
	RoundRobinPool struct{ Pool }
	// BroadcastPool sends to all.
	BroadcastPool struct{ Pool }
	// RandomPool sends to any.
	RandomPool struct{ Pool }
	// ConsistentHashingPool sends by the hash of a message, whose function does not travel.
	ConsistentHashingPool struct{ Pool }
	// ScatterGatherPool asks all and takes the first answer.
	ScatterGatherPool struct {
		Pool
		Within time.Duration
	}
	// TailChoppingPool asks one more each interval until there is an answer.
	TailChoppingPool struct {
		Pool
		Within, Interval time.Duration
	}
	// RemoteRouterConfig puts the routees of a pool on other nodes.
	RemoteRouterConfig struct {
		Local any // a pool
		Nodes []actor.Address
	}
)

func (x *Exchange) appendFromConfig(dst []byte, m FromConfig) ([]byte, error) {
	d := akkapb.FromConfig{RouterDispatcher: []byte(m.Dispatcher)}
	var err error
	if d.HasResizer = m.Resizer != nil; d.HasResizer {
		d.Resizer, err = x.payload(m.Resizer)
	}
	return d.Append(dst), err
}

func (x *Exchange) decodeFromConfig(b []byte) (any, error) {
	var d akkapb.FromConfig
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	m := FromConfig{Dispatcher: string(d.RouterDispatcher)}
	var err error
	m.Resizer, err = x.decodePayload(&d.Resizer)
	return m, err
}

func (x *Exchange) poolData(p *Pool) (akkapb.GenericRoutingPool, error) {
	d := akkapb.GenericRoutingPool{Instances: p.Instances, RouterDispatcher: []byte(p.Dispatcher), UsePoolDispatcher: p.UsePoolDispatcher}
	var err error
	if d.HasResizer = p.Resizer != nil; d.HasResizer {
		d.Resizer, err = x.payload(p.Resizer)
	}
	return d, err
}

func (x *Exchange) appendPool(dst []byte, p *Pool) ([]byte, error) {
	d, err := x.poolData(p)
	return d.Append(dst), err
}

func (x *Exchange) pool(d *akkapb.GenericRoutingPool) (Pool, error) {
	p := Pool{Instances: d.Instances, Dispatcher: string(d.RouterDispatcher), UsePoolDispatcher: d.UsePoolDispatcher}
	var err error
	p.Resizer, err = x.decodePayload(&d.Resizer)
	return p, err
}

func (x *Exchange) decodePool(b []byte) (Pool, error) {
	var d akkapb.GenericRoutingPool
	if err := d.Decode(b); err != nil {
		return Pool{}, err
	}
	return x.pool(&d)
}

// appendTimedPool writes a pool with times; interval is nil where there is none.
func (x *Exchange) appendTimedPool(dst []byte, p *Pool, within time.Duration, interval *time.Duration) ([]byte, error) {
	generic, err := x.poolData(p)
	d := akkapb.TimedPool{Generic: generic, HasGeneric: true, Within: protoDuration(within), HasWithin: true}
	if d.HasInterval = interval != nil; d.HasInterval {
		d.Interval = protoDuration(*interval)
	}
	return d.Append(dst), err
}

func (x *Exchange) decodeTimedPool(b []byte) (p Pool, within, interval time.Duration, err error) {
	var d akkapb.TimedPool
	if err = d.Decode(b); err != nil {
		return
	}
	p, err = x.pool(&d.Generic)
	return p, goDuration(d.Within), goDuration(d.Interval), err
}

func protoDuration(d time.Duration) akkapb.Duration {
	return akkapb.Duration{Seconds: int64(d / time.Second), Nanos: int32(d % time.Second)}
}

// goDuration stops at the ends of a time.Duration, 292 years.
func goDuration(d akkapb.Duration) time.Duration {
	const most = int64(1<<63-1) / int64(time.Second)
	s := max(min(d.Seconds, most-1), -most+1)
	return time.Duration(s)*time.Second + time.Duration(max(min(d.Nanos, 999999999), -999999999))
}

func (x *Exchange) appendRemoteRouter(dst []byte, m RemoteRouterConfig) ([]byte, error) {
	var d akkapb.RemoteRouterConfig
	var err error
	d.HasLocal = true
	if d.Local, err = x.payload(m.Local); err != nil {
		return dst, err
	}
	for _, a := range m.Nodes {
		d.Nodes = append(d.Nodes, addressData(a))
	}
	return d.Append(dst), nil
}

func (x *Exchange) decodeRemoteRouter(b []byte) (any, error) {
	var d akkapb.RemoteRouterConfig
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	m := RemoteRouterConfig{}
	var err error
	if m.Local, err = x.decodePayload(&d.Local); err != nil {
		return nil, err
	}
	for i := range d.Nodes {
		a, err := address(&d.Nodes[i])
		if err != nil {
			return nil, err
		}
		m.Nodes = append(m.Nodes, a)
	}
	return m, nil
}
