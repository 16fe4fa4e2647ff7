package akkapb

import (
	"math"
	"slices"
)

// The router configurations of serializer 16. RoundRobinPool (RORRP), BroadcastPool (ROBP), RandomPool
// (RORP) and ConsistentHashingPool (ROCHP) are a GenericRoutingPool.

// FromConfig (manifest FC): no bytes at all are the default one.
type FromConfig struct {
	Resizer          Payload
	HasResizer       bool
	RouterDispatcher []byte
}

// Size is the number of bytes that Append adds.
func (m *FromConfig) Size() int {
	return sizePart(m.HasResizer, &m.Resizer) + sizeBytes(len(m.RouterDispatcher))
}

// Append adds the message to dst.
func (m *FromConfig) Append(dst []byte) []byte {
	dst = appendPart(slices.Grow(dst, m.Size()), 1, m.HasResizer, &m.Resizer)
	return appendBytes(dst, 2, m.RouterDispatcher)
}

// Decode reads the message from b, see the package comment.
func (m *FromConfig) Decode(b []byte) error {
	*m = FromConfig{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasResizer = true
			if err := m.Resizer.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.RouterDispatcher = f.body
		}
	}
	return f.err("FromConfig")
}

// DefaultResizer (manifest DR) changes the size of a pool.
type DefaultResizer struct {
	LowerBound        uint32
	UpperBound        uint32
	PressureThreshold uint32
	RampupRate        float64
	BackoffThreshold  float64
	BackoffRate       float64
	MessagesPerResize uint32
}

// double is what a floating-point field is written as; C# leaves out what equals 0, so -0 too.
func double(v float64) uint64 {
	if v == 0 {
		return 0
	}
	return math.Float64bits(v)
}

// Size is the number of bytes that Append adds.
func (m *DefaultResizer) Size() int {
	return sizeUint(uint64(m.LowerBound)) + sizeUint(uint64(m.UpperBound)) + sizeUint(uint64(m.PressureThreshold)) +
		sizeFixed(double(m.RampupRate)) + sizeFixed(double(m.BackoffThreshold)) + sizeFixed(double(m.BackoffRate)) +
		sizeUint(uint64(m.MessagesPerResize))
}

// Append adds the message to dst.
func (m *DefaultResizer) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendUint(dst, 1, uint64(m.LowerBound))
	dst = appendUint(dst, 2, uint64(m.UpperBound))
	dst = appendUint(dst, 3, uint64(m.PressureThreshold))
	dst = appendFixed(dst, 4, double(m.RampupRate))
	dst = appendFixed(dst, 5, double(m.BackoffThreshold))
	dst = appendFixed(dst, 6, double(m.BackoffRate))
	return appendUint(dst, 7, uint64(m.MessagesPerResize))
}

// Decode reads the message from b, see the package comment.
func (m *DefaultResizer) Decode(b []byte) error {
	*m = DefaultResizer{}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | vint:
			m.LowerBound = uint32(f.num)
		case 2<<3 | vint:
			m.UpperBound = uint32(f.num)
		case 3<<3 | vint:
			m.PressureThreshold = uint32(f.num)
		case 4<<3 | fix64:
			m.RampupRate = math.Float64frombits(f.num)
		case 5<<3 | fix64:
			m.BackoffThreshold = math.Float64frombits(f.num)
		case 6<<3 | fix64:
			m.BackoffRate = math.Float64frombits(f.num)
		case 7<<3 | vint:
			m.MessagesPerResize = uint32(f.num)
		}
	}
	return f.err("DefaultResizer")
}

// GenericRoutingPool is what all pools have.
type GenericRoutingPool struct {
	Instances         uint32
	RouterDispatcher  []byte
	UsePoolDispatcher bool
	Resizer           Payload
	HasResizer        bool
}

// Size is the number of bytes that Append adds.
func (m *GenericRoutingPool) Size() int {
	return sizeUint(uint64(m.Instances)) + sizeBytes(len(m.RouterDispatcher)) + sizeBool(m.UsePoolDispatcher) + sizePart(m.HasResizer, &m.Resizer)
}

// Append adds the message to dst.
func (m *GenericRoutingPool) Append(dst []byte) []byte {
	dst = appendUint(slices.Grow(dst, m.Size()), 1, uint64(m.Instances))
	dst = appendBytes(dst, 2, m.RouterDispatcher)
	dst = appendBool(dst, 3, m.UsePoolDispatcher)
	return appendPart(dst, 4, m.HasResizer, &m.Resizer)
}

// Decode reads the message from b, see the package comment.
func (m *GenericRoutingPool) Decode(b []byte) error {
	*m = GenericRoutingPool{}
	return m.merge(b)
}

func (m *GenericRoutingPool) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | vint:
			m.Instances = uint32(f.num)
		case 2<<3 | blob:
			m.RouterDispatcher = f.body
		case 3<<3 | vint:
			m.UsePoolDispatcher = f.num != 0
		case 4<<3 | blob:
			m.HasResizer = true
			if err := m.Resizer.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("GenericRoutingPool")
}

// Duration is google.protobuf.Duration. Both parts have the same sign.
type Duration struct {
	Seconds int64
	Nanos   int32
}

func (m *Duration) size() int { return sizeUint(uint64(m.Seconds)) + sizeInt(m.Nanos) }

func (m *Duration) append(dst []byte) []byte {
	return appendInt(appendUint(dst, 1, uint64(m.Seconds)), 2, m.Nanos)
}

func (m *Duration) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | vint:
			m.Seconds = int64(f.num)
		case 2<<3 | vint:
			m.Nanos = int32(f.num)
		}
	}
	return f.err("Duration")
}

// TimedPool is ScatterGatherPool (manifest ROSGP), which has no interval, and TailChoppingPool (ROTCP).
type TimedPool struct {
	Generic     GenericRoutingPool
	Within      Duration
	Interval    Duration // TailChoppingPool only
	HasGeneric  bool
	HasWithin   bool
	HasInterval bool
}

// Size is the number of bytes that Append adds.
func (m *TimedPool) Size() (n int) {
	if m.HasGeneric {
		n += sizeMessage(m.Generic.Size())
	}
	if m.HasWithin {
		n += sizeMessage(m.Within.size())
	}
	if m.HasInterval {
		n += sizeMessage(m.Interval.size())
	}
	return n
}

// Append adds the message to dst.
func (m *TimedPool) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	if m.HasGeneric {
		dst = m.Generic.Append(appendHead(dst, 1, m.Generic.Size()))
	}
	if m.HasWithin {
		dst = m.Within.append(appendHead(dst, 2, m.Within.size()))
	}
	if m.HasInterval {
		dst = m.Interval.append(appendHead(dst, 3, m.Interval.size()))
	}
	return dst
}

// Decode reads the message from b, see the package comment. A field of TailChoppingPool in a
// ScatterGatherPool is for the caller to overlook.
func (m *TimedPool) Decode(b []byte) error {
	*m = TimedPool{}
	f := fields{rest: b}
	for f.next() {
		var err error
		switch f.tag {
		case 1<<3 | blob:
			m.HasGeneric = true
			err = m.Generic.merge(f.body)
		case 2<<3 | blob:
			m.HasWithin = true
			err = m.Within.merge(f.body)
		case 3<<3 | blob:
			m.HasInterval = true
			err = m.Interval.merge(f.body)
		}
		if err != nil {
			return err
		}
	}
	return f.err("TailChoppingPool")
}

// RemoteRouterConfig (manifest RORRC) is a pool whose routees live on other nodes.
type RemoteRouterConfig struct {
	Local    Payload
	Nodes    []AddressData
	HasLocal bool
}

// Size is the number of bytes that Append adds.
func (m *RemoteRouterConfig) Size() int {
	n := sizePart(m.HasLocal, &m.Local)
	for i := range m.Nodes {
		n += sizeMessage(m.Nodes[i].Size())
	}
	return n
}

// Append adds the message to dst.
func (m *RemoteRouterConfig) Append(dst []byte) []byte {
	dst = appendPart(slices.Grow(dst, m.Size()), 1, m.HasLocal, &m.Local)
	for i := range m.Nodes {
		dst = m.Nodes[i].Append(appendHead(dst, 2, m.Nodes[i].Size()))
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *RemoteRouterConfig) Decode(b []byte) error {
	*m = RemoteRouterConfig{Nodes: m.Nodes[:0]}
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.HasLocal = true
			if err := m.Local.merge(f.body); err != nil {
				return err
			}
		case 2<<3 | blob:
			m.Nodes = append(m.Nodes, AddressData{})
			if err := m.Nodes[len(m.Nodes)-1].merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("RemoteRouterConfig")
}
