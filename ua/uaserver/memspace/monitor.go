package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// Monitor implements uaserver.Monitor. Changes of values are pushed. What has to be asked for is read: values
// of OnRead callbacks and of the server's own nodes, values that not everybody may have, other attributes.
func (s *Space) Monitor(ctx *uaserver.Context, item *uaserver.MonitorItem) {
	n := s.nodes.find(item.NodeID)
	if n == nil {
		return
	}
	item.PerSession = n.guarded
	if item.Attribute != ua.AttributeValue || n.class != uint8(ua.NodeClassVariable) {
		return
	}
	v := n.variable
	item.MinSampling, item.Sampler = v.rare().sampling, (*sampled)(v)
	server := s.server.Load()
	if n.guarded || v.hooks != nil && v.hooks.onRead != nil || server == nil {
		return
	}
	if v.id.Namespace() == 0 {
		if _, live := server.Live(v.id.Numeric(), ctx.Now); live {
			return
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n.removed.Load() {
		return
	}
	if v.feed == nil {
		v.feed = server.NewFeed(v.id, ua.AttributeValue)
	}
	item.Feed = v.feed
}

// sampled is a variable that is read to see changes.
type sampled Variable

// Sample implements uaserver.Sampler.
func (x *sampled) Sample(ctx *uaserver.Context, value *ua.DataValue) bool {
	v := (*Variable)(x)
	it := uaserver.ReadItem{Attribute: ua.AttributeValue, Result: value}
	if v.removed.Load() { // there may be another one of the same id by now
		it.NodeID = v.id
		v.space.Read(ctx, []uaserver.ReadItem{it})
		return true
	}
	v.space.readValue(ctx, v, &it)
	return !it.Blocked
}

// maxParked bounds the feeds of removed nodes that are kept for nodes that come back.
const maxParked = 100_000

// park tells those who monitor a variable that it has been removed, and keeps them for one that comes back
// under the same id. Space.mu is held, the variable is not found any more.
func (s *Space) park(v *Variable) {
	v.mu.Lock()
	f := v.feed
	v.feed = nil
	v.mu.Unlock()
	if f == nil || f.Idle() {
		return
	}
	f.Push(ua.DataValue{Status: ua.BadNodeIdUnknown})
	if s.parked == nil {
		s.parked = map[ua.NodeID]*uaserver.Feed{}
	}
	if len(s.parked) >= maxParked {
		for id, f := range s.parked {
			if f.Idle() {
				delete(s.parked, id)
			}
		}
	}
	if len(s.parked) < maxParked {
		s.parked[v.id] = f
	}
}

// adopt gives a new variable those who monitored one of the same id. Space.mu is held.
func (s *Space) adopt(n *Node) {
	f := s.parked[n.id]
	if f == nil || n.class != uint8(ua.NodeClassVariable) {
		return
	}
	delete(s.parked, n.id)
	v := n.variable
	if f.Idle() || n.guarded || v.hooks != nil && v.hooks.onRead != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.feed = f
	f.Push(v.load())
}
