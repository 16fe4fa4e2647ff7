package uaserver

import (
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/filter"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaid"
)

// Event is something that happened, for those who monitor the EventNotifier of its source, of the Server
// object, or of a notifier from which HasEventSource or its subtype HasNotifier lead to the source (Part 3,
// 4.6, 7.17, 7.18; Part 5, 6.4.2).
type Event struct {
	Type       ua.NodeID // derived from BaseEventType; null: BaseEventType
	Source     ua.NodeID // null: the Server object
	SourceName string
	Time       ua.DateTime // when it happened; 0: now
	Message    ua.LocalizedText
	Severity   uint16       // 1 to 1000, most urgent last; 0 counts as 1
	Fields     []EventField // of the type, beyond those of BaseEventType
}

// EventField is a field of an event: what stands under a browse path of its type.
type EventField struct {
	Path  []ua.QualifiedName
	Value ua.Variant
}

// notifiers are the objects whose events are monitored.
type notifiers struct {
	used atomic.Int32 // monitored items; 0: nobody listens
	mu   sync.Mutex
	by   map[ua.NodeID]*notifier
}

// notifier is an object whose events are monitored.
type notifier struct {
	id    ua.NodeID
	node  subs.Node
	items int // guarded by notifiers.mu
}

// eventItem is the tag of a monitored item for events.
type eventItem struct{ notifier *notifier }

var (
	serverObject   = ua.ID(uaid.Server)
	hasEventSource = ua.ID(uaid.HasEventSource)
	hasSubtype     = ua.ID(uaid.HasSubtype)
	baseEvent      = ua.ID(uaid.BaseEventType)
)

// maxNotifiers bounds how many nodes are looked at on the way from a source to those who listen.
const maxNotifiers = 1000

// Emit tells those who listen of an event, and returns its EventId. It costs next to nothing when nobody
// does. What e refers to must not change any more.
func (s *Server) Emit(e Event) (id []byte) {
	id = make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	if s.notifiers.used.Load() == 0 {
		return id
	}
	now := s.now()
	base := filter.Base{
		EventID: id, EventType: e.Type, SourceNode: e.Source, SourceName: e.SourceName, Time: e.Time,
		ReceiveTime: ua.NewDateTime(now), Message: e.Message, Severity: max(e.Severity, 1),
	}
	if base.SourceNode.IsNull() {
		base.SourceNode, base.SourceName = serverObject, "Server"
	}
	if base.Time == 0 {
		base.Time = base.ReceiveTime
	}
	ev := filter.NewBaseEvent(base)
	for _, f := range e.Fields {
		ev.Set(f.Value, ua.Good, f.Path...)
	}
	for _, n := range s.notified(base.SourceNode) {
		n.node.PushEvent(filter.Event(ev))
	}
	return id
}

// notified are the notifiers that an event of a source goes to: the Server object, the source itself, and
// those above it.
func (s *Server) notified(source ua.NodeID) (list []*notifier) {
	s.notifiers.mu.Lock()
	if n := s.notifiers.by[serverObject]; n != nil {
		list = append(list, n)
	}
	others := len(s.notifiers.by) > len(list)
	s.notifiers.mu.Unlock()
	if !others || source == serverObject {
		return list
	}
	ctx := Context{Context: s.ctx, Session: s.self, Now: ua.NewDateTime(s.now())}
	seen := map[ua.NodeID]bool{serverObject: true, source: true}
	for queue := []ua.NodeID{source}; len(queue) > 0 && len(seen) < maxNotifiers; queue = queue[1:] {
		id := queue[0]
		s.notifiers.mu.Lock()
		if n := s.notifiers.by[id]; n != nil {
			list = append(list, n)
		}
		s.notifiers.mu.Unlock()
		m := s.NodeManagerOf(id.Namespace())
		if m == nil {
			continue
		}
		up := BrowseItem{NodeID: id, Direction: ua.BrowseDirectionInverse, ReferenceType: hasEventSource, IncludeSubtypes: true, Max: maxNotifiers}
		m.Browse(&ctx, &up)
		for _, r := range up.References {
			if t := r.Target.NodeID; r.Target.IsLocal() && !seen[t] {
				seen[t] = true
				queue = append(queue, t)
			}
		}
	}
	return list
}

// createEventItem creates a monitored item for the events of an object or view.
func (k *call) createEventItem(sub *subs.Subscription, x *subs.Session, c *ua.MonitoredItemCreateRequest, cfg *subs.ItemConfig, r *ua.MonitoredItemCreateResult) {
	id := c.ItemToMonitor.NodeID
	if c.ItemToMonitor.IndexRange != "" {
		r.StatusCode = ua.BadIndexRangeInvalid // an EventNotifier is no array
		return
	}
	var v ua.DataValue
	k.server.NodeManagerOf(id.Namespace()).Read(&k.ctx, []ReadItem{{NodeID: id, Attribute: ua.AttributeEventNotifier, Result: &v}})
	switch {
	case v.Status.IsBad():
		r.StatusCode = v.Status
		return
	case v.Value.Uint()&uint64(ua.EventNotifierTypeSubscribeToEvents) == 0:
		r.StatusCode = ua.BadNotSupported
		return
	}
	var result *ua.EventFilterResult
	cfg.Events, result, r.StatusCode = k.eventFilter(&c.RequestedParameters.Filter)
	if result != nil {
		r.FilterResult = ua.NewExtensionObject(result)
	}
	if r.StatusCode != ua.Good {
		return
	}
	n := k.server.notifierOf(id)
	cfg.Node, cfg.Tag = &n.node, &eventItem{n}
	item, status := sub.CreateItem(k.now(), x, cfg)
	if r.StatusCode = status; status != ua.Good {
		k.server.forgetNotifier(n)
		return
	}
	r.MonitoredItemID, r.RevisedQueueSize = item.ID(), cfg.QueueSize
}

// notifierOf is the notifier of an object, for one more item.
func (s *Server) notifierOf(id ua.NodeID) *notifier {
	l := &s.notifiers
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.by[id]
	if n == nil {
		if l.by == nil {
			l.by = map[ua.NodeID]*notifier{}
		}
		n = &notifier{id: id}
		l.by[id] = n
	}
	n.items++
	l.used.Add(1)
	return n
}

// forgetNotifier takes an item of a notifier back.
func (s *Server) forgetNotifier(n *notifier) {
	l := &s.notifiers
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.Add(-1)
	if n.items--; n.items == 0 {
		delete(l.by, n.id)
	}
}

// eventFilter compiles the filter of an item for events.
func (k *call) eventFilter(parameter *ua.ExtensionObject) (subs.EventFilter, *ua.EventFilterResult, ua.StatusCode) {
	f, status := filter.EventFilterOf(parameter)
	if status != ua.Good {
		return nil, nil, status
	}
	compiled, result, status := filter.CompileEvents(f, typeTree{k.server, k.ctx}, filter.Options{
		Diagnostics: k.reqHeader.ReturnDiagnostics>>operationShift != 0,
	})
	if status != ua.Good {
		return nil, result, status
	}
	return &eventFilter{filter: compiled, now: k.server.now}, result, ua.Good
}

// eventFilter is a compiled filter as package subs knows it.
type eventFilter struct {
	filter *filter.EventFilter
	now    func() time.Time
}

// scratches are for the filters of events that are emitted at the same time.
var scratches = sync.Pool{New: func() any { return new(filter.Scratch) }}

// Select implements subs.EventFilter.
func (f *eventFilter) Select(e subs.Event) ([]ua.Variant, bool) {
	ev, ok := e.(filter.Event)
	if !ok {
		return nil, false
	}
	scratch := scratches.Get().(*filter.Scratch)
	matches := f.filter.Matches(ev, scratch)
	scratches.Put(scratch)
	if !matches {
		return nil, false
	}
	out := make([]ua.Variant, f.filter.Fields())
	f.filter.Select(ev, out)
	return out, true
}

// Overflow implements subs.EventFilter.
func (f *eventFilter) Overflow() []ua.Variant {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	out := make([]ua.Variant, f.filter.Fields())
	f.filter.Select(filter.NewQueueOverflow(id, ua.NewDateTime(f.now())), out)
	return out
}

// typeTree is what event filters ask about types, of the managers that have them.
type typeTree struct {
	*Server
	ctx Context
}

// NodeClass implements filter.TypeTree.
func (t typeTree) NodeClass(id ua.NodeID) ua.NodeClass {
	m := t.NodeManagerOf(id.Namespace())
	if m == nil {
		return 0
	}
	d := []DescribeItem{{NodeID: id}}
	m.Describe(&t.ctx, d)
	return d[0].Class
}

// maxTypes bounds how many types are looked at for one browse path.
const maxTypes = 10_000

// FieldClass implements filter.TypeTree.
func (t typeTree) FieldClass(eventType ua.NodeID, path []ua.QualifiedName) ua.NodeClass {
	for id, n := eventType, 0; !id.IsNull() && n < 100; id, n = t.superType(id), n+1 {
		if class := t.below(id, path); class != 0 {
			return class
		}
	}
	if eventType != baseEvent {
		return 0
	}
	seen := map[ua.NodeID]bool{baseEvent: true}
	for queue := t.related(baseEvent, ua.BrowseDirectionForward); len(queue) > 0 && len(seen) < maxTypes; queue = queue[1:] {
		id := queue[0]
		if seen[id] {
			continue
		}
		seen[id] = true
		if class := t.below(id, path); class != 0 {
			return class
		}
		queue = append(queue, t.related(id, ua.BrowseDirectionForward)...)
	}
	return 0
}

func (t typeTree) superType(id ua.NodeID) ua.NodeID {
	if up := t.related(id, ua.BrowseDirectionInverse); len(up) > 0 {
		return up[0]
	}
	return ua.NodeID{}
}

// related are the types above or below a type.
func (t typeTree) related(id ua.NodeID, direction ua.BrowseDirection) (list []ua.NodeID) {
	m := t.NodeManagerOf(id.Namespace())
	if m == nil {
		return nil
	}
	it := BrowseItem{NodeID: id, Direction: direction, ReferenceType: hasSubtype, IncludeSubtypes: true}
	m.Browse(&t.ctx, &it)
	for _, r := range it.References {
		if r.Target.IsLocal() {
			list = append(list, r.Target.NodeID)
		}
	}
	return list
}

// below is the class of the node under a path of a type itself; 0 if there is none.
func (t typeTree) below(id ua.NodeID, path []ua.QualifiedName) ua.NodeClass {
	for i := range path {
		m := t.NodeManagerOf(id.Namespace())
		if m == nil {
			return 0
		}
		step := TranslateItem{NodeID: id, Element: &ua.RelativePathElement{
			ReferenceTypeID: ua.ID(uaid.Aggregates), IncludeSubtypes: true, TargetName: path[i],
		}}
		m.Translate(&t.ctx, &step)
		if len(step.Targets) == 0 || !step.Targets[0].IsLocal() {
			return 0
		}
		id = step.Targets[0].NodeID
	}
	return t.NodeClass(id)
}
