package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// Read implements uaserver.NodeManager.
func (s *Space) Read(ctx *uaserver.Context, items []uaserver.ReadItem) {
	for i := range items {
		it := &items[i]
		n := s.nodes.find(it.NodeID)
		switch {
		case n == nil:
			it.Result.Status = ua.BadNodeIdUnknown
		case it.Attribute == ua.AttributeValue && n.class == uint8(ua.NodeClassVariable):
			s.readValue(ctx, n.variable, it)
		default:
			it.Result.Value, it.Result.Status = n.attribute(ctx, it.Attribute)
		}
	}
}

func (s *Space) readValue(ctx *uaserver.Context, v *Variable, it *uaserver.ReadItem) {
	switch {
	case v.access&ua.AccessLevelTypeCurrentRead == 0:
		it.Result.Status = ua.BadNotReadable
		return
	case !v.allowed(ctx, ua.PermissionTypeRead):
		it.Result.Status = ua.BadUserAccessDenied
		return
	}
	if v.hooks != nil && v.hooks.onRead != nil {
		s.ask(ctx, v, it)
		return
	}
	v.mu.Lock()
	v.unfold()
	*it.Result = v.value
	v.mu.Unlock()
	if v.id.Namespace() == 0 {
		s.live(ctx, v, it.Result)
	}
}

// live replaces the value of a node of namespace 0 by what the server says about itself.
func (s *Space) live(ctx *uaserver.Context, v *Variable, result *ua.DataValue) {
	server := s.server.Load()
	if server == nil || v.id.Type() != ua.IDTypeNumeric {
		return
	}
	if value, ok := server.Live(v.id.Numeric(), ctx.Now); ok {
		*result = ua.DataValue{Value: value, SourceTimestamp: ctx.Now}
		if value.Type() == ua.TypeNull {
			result.Status = ua.BadNotReadable
		}
	}
}

// ask gets the value from the callback of OnRead.
func (s *Space) ask(ctx *uaserver.Context, v *Variable, it *uaserver.ReadItem) {
	h := v.hooks
	if it.MaxAge > 0 {
		v.mu.Lock()
		kept, at := v.value, h.readAt
		v.mu.Unlock()
		if age := float64(ctx.Now-at) / ticksPerMillisecond; at != 0 && age < it.MaxAge {
			*it.Result = kept
			return
		}
	}
	if !h.nonBlocking && !ctx.MayBlock {
		it.Blocked = true
		return
	}
	got, ok := s.callRead(ctx, v)
	if !ok {
		it.Result.Status = ua.BadInternalError
		return
	}
	if got.Value.Type() != ua.TypeNull {
		fit, ok := v.accept(got.Value)
		if !ok {
			s.log.Load().Error("memspace: OnRead gave a value that does not fit the variable", "node", v.id, "value", got.Value)
			it.Result.Status = ua.BadInternalError
			return
		}
		got.Value = fit
	}
	if got.SourceTimestamp == 0 {
		got.SourceTimestamp = ctx.Now
	}
	got.ServerTimestamp, got.ServerPicoseconds = 0, 0
	v.mu.Lock()
	v.store(got)
	h.readAt = ctx.Now
	v.mu.Unlock()
	*it.Result = got
}

const ticksPerMillisecond = 10_000

// allowed asks the node's AllowFunc.
func (n *Node) allowed(ctx *uaserver.Context, p ua.PermissionType) bool {
	if !n.guarded {
		return true
	}
	n.mu.Lock()
	f := n.more.allow
	n.mu.Unlock()
	return f(ctx.Session, p)
}
