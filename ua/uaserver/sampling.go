package uaserver

import (
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// sampler reads what has to be read: each attribute once an interval, whatever the number of its items.
type sampler struct {
	server *Server
	wheel  subs.Wheel

	// The loop's.
	groups []*subs.Group
	done   []*subs.Group
	others []*subs.Group // to be read through their manager
	sorted []*subs.Group
	batch  batch
	items  []ReadItem
	values []ua.DataValue
	value  ua.DataValue
	ctx    Context
}

// sampleKey is what is read: for a session if who asks matters.
type sampleKey struct {
	id        ua.NodeID
	attribute ua.AttributeID
	session   *session
}

// source is how a group is read.
type source struct {
	sampleKey
	direct Sampler // nil: through the manager
}

// sampled is the tag of an item that is read.
type sampled struct {
	group  *subs.Group
	key    sampleKey
	source Sampler
	least  float64 // the node's MinimumSamplingInterval in ms
	paused bool    // disabled; guarded by Server.monitorMu
}

// run reads what is due and returns when to call it again.
func (p *sampler) run(now subs.Now) time.Duration {
	groups, next := p.wheel.Due(now.At, p.groups[:0])
	p.groups = groups
	for len(groups) > 0 {
		// Groups of one session together; those that are of none have nil.
		x := groups[0].Source.(*source).session
		n := 1
		for n < len(groups) && groups[n].Source.(*source).session == x {
			n++
		}
		p.read(now, x, groups[:n])
		groups = groups[n:]
	}
	return next
}

// read reads the groups of a session.
func (p *sampler) read(now subs.Now, x *session, groups []*subs.Group) {
	s := p.server
	p.ctx = Context{Context: s.ctx, Session: s.self, Now: now.Wall}
	if x != nil {
		if info := x.info.Load(); info != nil {
			p.ctx.Context, p.ctx.Session, p.ctx.LocaleIDs = x.ctx, &info.SessionInfo, info.locales
		}
	}
	p.done, p.others = p.done[:0], p.others[:0]
	defer func() { // also when a manager panics
		p.wheel.Done(p.done)
		clear(p.done)
		clear(p.others)
	}()
	for _, g := range groups {
		direct := g.Source.(*source).direct
		if direct == nil {
			p.others = append(p.others, g)
			continue
		}
		p.value = ua.DataValue{}
		if !direct.Sample(&p.ctx, &p.value) {
			go p.readSlowly(g, p.ctx)
			continue
		}
		g.Sample(stamped(&p.value, now), now.At)
		p.done = append(p.done, g)
	}
	if len(p.others) > 0 {
		p.readOthers(now, p.others)
	}
}

// readOthers reads groups through the managers that have their nodes.
func (p *sampler) readOthers(now subs.Now, groups []*subs.Group) {
	s, n := p.server, len(groups)
	p.batch.reset(n)
	for i, g := range groups {
		p.batch.owner[i] = int32(s.managerOf(g.Source.(*source).id.Namespace()))
	}
	p.batch.sort(len(s.cfg.Nodes))
	p.items, p.values, p.sorted = resize(p.items, n), resize(p.values, n), resize(p.sorted, n)
	for i := range p.batch.len() {
		at := p.batch.at(i)
		src := groups[at].Source.(*source)
		it := &p.items[i]
		it.NodeID, it.Attribute, it.Blocked = src.id, src.attribute, false
		p.values[i] = ua.DataValue{}
		it.Result = &p.values[i]
		p.sorted[i] = groups[at]
	}
	for _, r := range p.batch.runs {
		s.cfg.Nodes[r.manager].Read(&p.ctx, p.items[r.from:r.to])
	}
	for i := range p.batch.len() {
		g := p.sorted[i]
		if p.items[i].Blocked {
			go p.readSlowly(g, p.ctx)
			continue
		}
		g.Sample(stamped(&p.values[i], now), now.At)
		p.done = append(p.done, g)
	}
	clear(p.sorted)
}

// stamped gives a value that was read its server time.
func stamped(v *ua.DataValue, now subs.Now) *ua.DataValue {
	v.ServerTimestamp, v.ServerPicoseconds = now.Wall, 0
	return v
}

// readSlowly reads what needs a callback that may take its time. The group is not read again meanwhile.
func (p *sampler) readSlowly(g *subs.Group, ctx Context) {
	defer p.wheel.Done([]*subs.Group{g})
	src := g.Source.(*source)
	var v ua.DataValue
	p.server.readOne(&ctx, src.id, src.attribute, &v)
	now := p.server.clock(p.server.now())
	g.Sample(stamped(&v, now), now.At)
}

// readOne reads an attribute on a goroutine that may wait. A callback that panics gives BadInternalError.
func (s *Server) readOne(ctx *Context, id ua.NodeID, attribute ua.AttributeID, v *ua.DataValue) {
	defer func() {
		if e := recover(); e != nil {
			s.log.Error("panic while a value is read", "node", id, "panic", e, "stack", stack())
			*v = ua.DataValue{Status: ua.BadInternalError}
		}
	}()
	ctx.MayBlock = true
	m := s.NodeManagerOf(id.Namespace())
	if m == nil {
		v.Status = ua.BadNodeIdUnknown
		return
	}
	m.Read(ctx, []ReadItem{{NodeID: id, Attribute: attribute, Result: v}})
}

// resize is a slice of n elements in the memory of s if there is enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
