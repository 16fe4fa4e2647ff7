package uaserver

import (
	"slices"
	"sync"
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
	others []*subs.Group // to be read through their managers
	sorted []*subs.Group
	batch  batch
	items  []ReadItem
	values []ua.DataValue
	value  ua.DataValue
	ctx    Context

	mu   sync.Mutex
	slow map[sampleKey]*slowRead // what is being read by goroutines
}

// slowRead is one reading of a source that may take its time, for all who wait for it.
type slowRead struct {
	groups []*subs.Group // that are due
	items  []*subs.Item  // that want their first value
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

// sampled is the tag of an item that is read. What changes is guarded by Server.monitorMu.
type sampled struct {
	group  *subs.Group
	key    sampleKey // its session changes with a transfer
	source Sampler
	least  float64 // the node's MinimumSamplingInterval in ms
	paused bool    // disabled
	gone   bool    // deleted

	perSession bool
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
	p.ctx = p.server.samplingContext(x, now)
	p.done, p.others = p.done[:0], p.others[:0]
	for left := groups; len(left) > 0; {
		left = p.readDirect(now, left)
	}
	if len(p.others) > 0 {
		p.readOthers(now, p.others)
	}
	p.wheel.Done(p.done)
	clear(p.done)
	clear(p.others)
}

// readDirect reads the groups whose source does it itself, and returns what is left when one has panicked.
func (p *sampler) readDirect(now subs.Now, groups []*subs.Group) (left []*subs.Group) {
	var at int
	defer func() {
		if e := recover(); e != nil {
			p.server.log.Error("panic while a value is sampled", "node", groups[at].Source.(*source).id, "panic", e, "stack", stack())
			p.took(now, groups[at], &ua.DataValue{Status: ua.BadInternalError})
			left = groups[at+1:]
		}
	}()
	for at = range groups {
		g := groups[at]
		src := g.Source.(*source)
		if src.direct == nil {
			p.others = append(p.others, g)
			continue
		}
		p.value = ua.DataValue{}
		if !src.direct.Sample(&p.ctx, &p.value) {
			p.readSlowly(src.sampleKey, g, nil)
			continue
		}
		p.took(now, g, &p.value)
	}
	return nil
}

// took gives what was read to the items of a group.
func (p *sampler) took(now subs.Now, g *subs.Group, v *ua.DataValue) {
	g.Sample(stamped(v, now), now.At)
	p.done = append(p.done, g)
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
		s.readItems(s.cfg.Nodes[r.manager], &p.ctx, p.items[r.from:r.to])
	}
	for i := range p.batch.len() {
		g := p.sorted[i]
		if p.items[i].Blocked {
			p.readSlowly(g.Source.(*source).sampleKey, g, nil)
			continue
		}
		p.took(now, g, &p.values[i])
	}
	clear(p.sorted)
}

// stamped gives a value that was read its server time.
func stamped(v *ua.DataValue, now subs.Now) *ua.DataValue {
	v.ServerTimestamp, v.ServerPicoseconds = now.Wall, 0
	return v
}

// samplingContext is who reads: a session while it lives, or the server.
func (s *Server) samplingContext(x *session, now subs.Now) Context {
	ctx := Context{Context: s.ctx, Session: s.self, Now: now.Wall}
	if x == nil {
		return ctx
	}
	if info := x.info.Load(); info != nil {
		ctx.Session, ctx.LocaleIDs = &info.SessionInfo, info.locales
	}
	if !x.ended.Load() { // its subscriptions may live on
		ctx.Context = x.ctx
	}
	return ctx
}

// readSlowly has a goroutine read what needs a callback that may take its time: for a group, which is not
// read again meanwhile, or for the first value of an item. Of one attribute one reading is under way at
// a time, whatever the number of those who wait for it.
func (p *sampler) readSlowly(key sampleKey, g *subs.Group, item *subs.Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.slow[key]
	if r == nil {
		if p.slow == nil {
			p.slow = map[sampleKey]*slowRead{}
		}
		r = new(slowRead)
		p.slow[key] = r
		go p.finishSlowly(key, r)
	}
	if g != nil {
		if len(r.groups) == cap(r.groups) {
			r.groups = slices.DeleteFunc(r.groups, func(g *subs.Group) bool {
				left := g.Len() == 0
				if left {
					p.wheel.Done([]*subs.Group{g})
				}
				return left
			})
		}
		r.groups = append(r.groups, g)
		return
	}
	if len(r.items) == cap(r.items) {
		r.items = slices.DeleteFunc(r.items, func(i *subs.Item) bool { return i.Mode() == ua.MonitoringModeDisabled })
	}
	r.items = append(r.items, item)
}

// finishSlowly reads, and gives the value to all who wait for it.
func (p *sampler) finishSlowly(key sampleKey, r *slowRead) {
	s := p.server
	ctx := s.samplingContext(key.session, s.clock(s.now()))
	ctx.MayBlock = true
	var v ua.DataValue
	if m := s.NodeManagerOf(key.id.Namespace()); m == nil {
		v.Status = ua.BadNodeIdUnknown
	} else {
		s.readItems(m, &ctx, []ReadItem{{NodeID: key.id, Attribute: key.attribute, Result: &v}})
	}
	p.mu.Lock()
	delete(p.slow, key)
	p.mu.Unlock()
	now := s.clock(s.now())
	stamped(&v, now)
	for _, g := range r.groups {
		g.Sample(&v, now.At)
	}
	for _, i := range r.items {
		i.PushInitial(&v, now.At)
	}
	p.wheel.Done(r.groups)
}

// readItems has a manager read. One that panics gives BadInternalError.
func (s *Server) readItems(m NodeManager, ctx *Context, items []ReadItem) {
	defer func() {
		if e := recover(); e != nil {
			s.log.Error("panic of a node manager while values are read", "node", items[0].NodeID, "panic", e, "stack", stack())
			for i := range items {
				*items[i].Result, items[i].Blocked = ua.DataValue{Status: ua.BadInternalError}, false
			}
		}
	}()
	m.Read(ctx, items)
}

// join makes an item part of a group that is read.
func (p *sampler) join(tag *sampled, interval time.Duration, now subs.Now) *subs.Group {
	g := p.wheel.Join(tag.key, &source{tag.key, tag.source}, interval, now.At)
	if tag.paused {
		g.Pause()
	}
	if next := p.wheel.Next(); next != maxDuration {
		p.server.wakeLoop()
	}
	return g
}

// regroup has an item read for the session and at the interval that want says.
func (s *Server) regroup(tag *sampled, want func() (*session, time.Duration), now subs.Now) *subs.Node {
	s.monitorMu.Lock()
	defer s.monitorMu.Unlock()
	x, interval := want()
	if !tag.gone && (tag.group.Interval() != interval || tag.key.session != x) {
		old := tag.group
		tag.key.session = x
		tag.group = s.sampler.join(tag, interval, now)
		old.Leave(!tag.paused)
	}
	return &tag.group.Node
}

// rehome has the items of a subscription that was transferred read for their new session, if it matters
// for whom.
func (s *Server) rehome(sub *subs.Subscription, x *subs.Session, now subs.Now) {
	to, _ := x.Tag().(*session)
	for _, item := range sub.Items() {
		tag, ok := item.Tag().(*sampled)
		if !ok || !tag.perSession {
			continue
		}
		sub.MoveItem(x, item, s.regroup(tag, func() (*session, time.Duration) { return to, tag.group.Interval() }, now))
	}
}

// pause has an item not read while it is disabled.
func (s *Server) pause(tag *sampled, paused bool, now subs.Now) {
	s.monitorMu.Lock()
	defer s.monitorMu.Unlock()
	switch {
	case tag.paused == paused || tag.gone:
	case paused:
		tag.group.Pause()
	default:
		tag.group.Resume(now.At)
		s.wakeLoop()
	}
	tag.paused = paused
}

// resize is a slice of n elements in the memory of s if there is enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
