package uaserver

import (
	"math"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/filter"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaid"
)

// monitoring is the scratch of the services for monitored items.
type monitoring struct {
	items  []*subs.Item // that were created, by operation; nil: refused, or needs no first value
	values []ua.DataValue

	refused []uint32 // ids of items that are deleted again
}

// checkItemsCall checks what all services for monitored items have in common.
func (k *call) checkItemsCall(id uint32, n int) (*subs.Subscription, *subs.Session, bool) {
	switch {
	case n == 0:
		k.fail(ua.BadNothingToDo, "the list of items is empty")
		return nil, nil, false
	case n > k.server.cfg.Limits.MaxMonitoredItemsPerCall:
		k.fail(ua.BadTooManyOperations, "more items than MaxMonitoredItemsPerCall")
		return nil, nil, false
	}
	sub, x := k.subscription(id)
	if sub == nil {
		k.fail(ua.BadSubscriptionIdInvalid, "the session has no such subscription")
		return nil, nil, false
	}
	return sub, x, true
}

func validStamps(t ua.TimestampsToReturn) bool {
	return t >= ua.TimestampsToReturnSource && t <= ua.TimestampsToReturnNeither
}

// createMonitoredItems is the service CreateMonitoredItems (Part 4, 5.13.2). Items take values from the
// moment they exist; then the present values are read, all together, and reach those that have had none.
func createMonitoredItems(k *call, q *ua.CreateMonitoredItemsRequest, p *ua.CreateMonitoredItemsResponse) outcome {
	sub, x, ok := k.checkItemsCall(q.SubscriptionID, len(q.ItemsToCreate))
	if !ok {
		return answered
	}
	if !validStamps(q.TimestampsToReturn) {
		return k.fail(ua.BadTimestampsToReturnInvalid, "")
	}
	n := len(q.ItemsToCreate)
	p.Results = append(p.Results[:0], make([]ua.MonitoredItemCreateResult, n)...)
	m := &k.monitoring
	m.items = resize(m.items, n)
	clear(m.items)
	defer k.undoItems(sub, x, p)
	for i := range q.ItemsToCreate {
		m.items[i] = k.createItem(sub, x, q.TimestampsToReturn, &q.ItemsToCreate[i], &p.Results[i])
	}
	k.firstValues(sub, x, q.ItemsToCreate, p.Results)
	clear(m.items)
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, n, func(_ *call, i int) ua.StatusCode { return p.Results[i].StatusCode })
	return answered
}

// undoItems deletes the items of a call that panics: the client is not told of them.
func (k *call) undoItems(sub *subs.Subscription, x *subs.Session, p *ua.CreateMonitoredItemsResponse) {
	e := recover()
	if e == nil {
		return
	}
	clear(k.monitoring.items)
	var ids []uint32
	for i := range p.Results {
		if id := p.Results[i].MonitoredItemID; id != 0 {
			ids = append(ids, id)
		}
	}
	_, _ = sub.DeleteItems(k.now(), x, ids) // if the subscription is gone, so are they
	panic(e)
}

// createItem creates one item. It returns it if it wants its first value.
func (k *call) createItem(sub *subs.Subscription, x *subs.Session, stamps ua.TimestampsToReturn, c *ua.MonitoredItemCreateRequest, r *ua.MonitoredItemCreateResult) *subs.Item {
	id, attribute := c.ItemToMonitor.NodeID, ua.AttributeID(c.ItemToMonitor.AttributeID)
	cfg := subs.ItemConfig{
		ClientHandle: c.RequestedParameters.ClientHandle, Mode: c.MonitoringMode, Timestamps: stamps,
		QueueSize: c.RequestedParameters.QueueSize, DiscardOldest: c.RequestedParameters.DiscardOldest,
	}
	if r.StatusCode = checkRead(&c.ItemToMonitor, k.server.managerOf(id.Namespace())); r.StatusCode != ua.Good {
		return nil
	}
	if c.MonitoringMode < ua.MonitoringModeDisabled || c.MonitoringMode > ua.MonitoringModeReporting {
		r.StatusCode = ua.BadMonitoringModeInvalid
		return nil
	}
	if attribute == ua.AttributeEventNotifier {
		k.createEventItem(sub, x, c, &cfg, r)
		return nil
	}
	if c.ItemToMonitor.IndexRange != "" {
		cfg.Range, _ = ua.ParseNumericRange(c.ItemToMonitor.IndexRange) // checkRead has looked at it
	}
	if c.ItemToMonitor.DataEncoding.Name != "" {
		cfg.Encode = structuresOnly
	}
	if cfg.Filter, r.StatusCode = k.dataFilter(id, attribute, &c.RequestedParameters.Filter); r.StatusCode != ua.Good {
		return nil
	}
	source := MonitorItem{NodeID: id, Attribute: attribute, PerSession: true}
	if mon, ok := k.server.NodeManagerOf(id.Namespace()).(Monitor); ok {
		source.PerSession = false
		mon.Monitor(&k.ctx, &source)
	}
	now := k.now()
	sampling := k.server.subs.Limits().ReviseSampling(c.RequestedParameters.SamplingInterval, sub.Params().PublishingInterval,
		source.MinSampling, source.Feed != nil || source.Item != nil)
	cfg.Sampling = sampling
	var tag *sampled
	switch {
	case source.Item != nil:
		own := custom{source.Item, k.server}
		cfg.Custom, cfg.Tag = own, own
	case source.Feed != nil:
		cfg.Node, cfg.Continuous, cfg.Tag = &source.Feed.node, true, source.Feed
	default:
		key := sampleKey{id: id, attribute: attribute}
		if source.PerSession {
			key.session = k.session
		}
		tag = &sampled{key: key, source: source.Sampler, perSession: source.PerSession, least: source.MinSampling, paused: c.MonitoringMode == ua.MonitoringModeDisabled}
		tag.group = k.server.sampler.join(tag, sampling, now)
		cfg.Node, cfg.Tag = &tag.group.Node, tag
	}
	item, status := sub.CreateItem(now, x, &cfg)
	if r.StatusCode = status; status != ua.Good {
		if tag != nil {
			tag.group.Leave(!tag.paused)
		}
		if own, ok := cfg.Tag.(custom); ok {
			own.close()
		}
		return nil
	}
	r.MonitoredItemID, r.RevisedQueueSize = item.ID(), cfg.QueueSize
	r.RevisedSamplingInterval = float64(sampling.Microseconds()) / 1000
	if source.Item != nil {
		source.Item.Start(item.Signal)
		return nil
	}
	return item
}

// structuresOnly is what a data encoding means for values that have none (Part 4, 5.11.2.2).
func structuresOnly(v *ua.DataValue) {
	if !v.Status.IsBad() && v.Value.Type() != ua.TypeExtensionObject {
		v.Value, v.Status = ua.Variant{}, ua.BadDataEncodingInvalid
	}
}

// firstValues reads the present values of the items and hands them over. An item whose value cannot be had
// because there is no such thing, or not for this client, is refused after all.
func (k *call) firstValues(sub *subs.Subscription, x *subs.Session, items []ua.MonitoredItemCreateRequest, results []ua.MonitoredItemCreateResult) {
	m := &k.monitoring
	n := len(items)
	k.readFirst(n, func(i int) (ua.NodeID, ua.AttributeID, bool) {
		if m.items[i] == nil {
			return ua.NodeID{}, 0, false
		}
		return items[i].ItemToMonitor.NodeID, ua.AttributeID(items[i].ItemToMonitor.AttributeID), true
	})
	now := k.now()
	for i := range n {
		item := m.items[i]
		switch {
		case item == nil:
		case m.values[i].Status == blockedValue:
			k.server.firstSlowly(item)
		case refuses(m.values[i].Status):
			results[i] = ua.MonitoredItemCreateResult{StatusCode: m.values[i].Status}
			m.refused = append(m.refused, item.ID())
		case items[i].MonitoringMode != ua.MonitoringModeDisabled:
			item.PushInitial(stamped(&m.values[i], now), now.At)
		}
	}
	if len(m.refused) > 0 {
		_, _ = sub.DeleteItems(now, x, m.refused) // the session's own, a moment ago
		m.refused = m.refused[:0]
	}
}

// blockedValue marks a value that is read by a goroutine of its own. Servers do not send it.
const blockedValue = ua.StatusCode(math.MaxUint32)

// refuses reports whether the status of a first value means that the item cannot be (Part 4, 5.13.2.4).
func refuses(s ua.StatusCode) bool {
	switch s {
	case ua.BadNodeIdUnknown, ua.BadNodeIdInvalid, ua.BadAttributeIdInvalid, ua.BadNotReadable, ua.BadUserAccessDenied:
		return true
	}
	return false
}

// readFirst reads attributes into monitoring.values, each with the manager that has it.
func (k *call) readFirst(n int, what func(i int) (ua.NodeID, ua.AttributeID, bool)) {
	m := &k.monitoring
	m.values = resize(m.values, n)
	clear(m.values)
	k.batch.reset(n)
	for i := range n {
		id, _, wanted := what(i)
		k.batch.owner[i] = -1
		if wanted {
			k.batch.owner[i] = int32(k.server.managerOf(id.Namespace()))
		}
	}
	k.batch.sort(len(k.server.cfg.Nodes))
	k.reads = resize(k.reads, k.batch.len())
	for j := range k.reads {
		i := k.batch.at(j)
		id, attribute, _ := what(i)
		k.reads[j] = ReadItem{NodeID: id, Attribute: attribute, Result: &m.values[i]}
	}
	for _, run := range k.batch.runs {
		if run.from < run.to {
			k.server.readItems(k.server.cfg.Nodes[run.manager], &k.ctx, k.reads[run.from:run.to])
		}
	}
	for j := range k.reads {
		if k.reads[j].Blocked {
			k.reads[j].Result.Status = blockedValue
		}
	}
}

// firstSlowly has the first value of an item read whose callback may take its time.
func (s *Server) firstSlowly(item *subs.Item) {
	switch tag := item.Tag().(type) {
	case *sampled:
		s.monitorMu.Lock()
		key := tag.key
		s.monitorMu.Unlock()
		s.sampler.readSlowly(key, nil, item)
	case *Feed:
		s.sampler.readSlowly(sampleKey{id: tag.id, attribute: tag.attribute}, nil, item)
	}
}

// dataFilter compiles the filter of an item for values; nil for none.
func (k *call) dataFilter(id ua.NodeID, attribute ua.AttributeID, parameter *ua.ExtensionObject) (subs.DataFilter, ua.StatusCode) {
	f, status := filter.DataChangeOf(parameter, attribute)
	if f == nil || status != ua.Good {
		return nil, status
	}
	v := filter.Variable{Attribute: attribute}
	if f.DeadbandType != uint32(ua.DeadbandTypeNone) && attribute == ua.AttributeValue {
		data, status := k.readNow(id, ua.AttributeDataType)
		if refuses(status) {
			return nil, status
		}
		v.DataType = data.NodeID()
	}
	if f.DeadbandType == uint32(ua.DeadbandTypePercent) {
		v.EURange = k.rangeOf(id)
	}
	c, status := filter.CompileDataChange(f, v, k.server)
	if status != ua.Good {
		return nil, status
	}
	return c, ua.Good
}

// readNow reads an attribute that needs no callback; null if it cannot.
func (k *call) readNow(id ua.NodeID, attribute ua.AttributeID) (ua.Variant, ua.StatusCode) {
	var v ua.DataValue
	if m := k.server.NodeManagerOf(id.Namespace()); m != nil {
		m.Read(&k.ctx, []ReadItem{{NodeID: id, Attribute: attribute, Result: &v}})
	}
	return v.Value, v.Status
}

// rangeOf is the property EURange of a variable (Part 8, 5.3.2.3); nil if there is none.
func (k *call) rangeOf(id ua.NodeID) *ua.Range {
	m := k.server.NodeManagerOf(id.Namespace())
	if m == nil {
		return nil
	}
	step := TranslateItem{NodeID: id, Element: &ua.RelativePathElement{
		ReferenceTypeID: ua.ID(uaid.HasProperty), IncludeSubtypes: true, TargetName: ua.QualifiedName{Name: "EURange"},
	}}
	m.Translate(&k.ctx, &step)
	for _, t := range step.Targets {
		if !t.IsLocal() {
			continue
		}
		v, _ := k.readNow(t.NodeID, ua.AttributeValue)
		if e, ok := ua.As[ua.ExtensionObject](v); ok {
			if r, ok := e.Value.(*ua.Range); ok {
				return r
			}
		}
	}
	return nil
}

// IsSubtype asks the manager of namespace 0, for filters.
func (s *Server) IsSubtype(t, super ua.NodeID) bool {
	tree, ok := s.NodeManagerOf(0).(TypeTree)
	return ok && tree.IsSubtype(t, super)
}

// itemsRemoved is told of items that are gone, whoever deleted them.
func (s *Server) itemsRemoved(items []*subs.Item) {
	for _, i := range items {
		switch tag := i.Tag().(type) {
		case *sampled:
			s.monitorMu.Lock()
			tag.group.Leave(!tag.paused)
			tag.gone = true
			s.monitorMu.Unlock()
		case *eventItem:
			s.forgetNotifier(tag.notifier)
		case custom:
			tag.close()
		}
	}
}

// modifyMonitoredItems is the service ModifyMonitoredItems (Part 4, 5.13.3).
func modifyMonitoredItems(k *call, q *ua.ModifyMonitoredItemsRequest, p *ua.ModifyMonitoredItemsResponse) outcome {
	sub, x, ok := k.checkItemsCall(q.SubscriptionID, len(q.ItemsToModify))
	if !ok {
		return answered
	}
	if !validStamps(q.TimestampsToReturn) {
		return k.fail(ua.BadTimestampsToReturnInvalid, "")
	}
	p.Results = append(p.Results[:0], make([]ua.MonitoredItemModifyResult, len(q.ItemsToModify))...)
	for i := range q.ItemsToModify {
		k.modifyItem(sub, x, q.TimestampsToReturn, &q.ItemsToModify[i], &p.Results[i])
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), func(_ *call, i int) ua.StatusCode { return p.Results[i].StatusCode })
	return answered
}

func (k *call) modifyItem(sub *subs.Subscription, x *subs.Session, stamps ua.TimestampsToReturn, c *ua.MonitoredItemModifyRequest, r *ua.MonitoredItemModifyResult) {
	item := sub.Item(c.MonitoredItemID)
	if item == nil {
		r.StatusCode = ua.BadMonitoredItemIdInvalid
		return
	}
	want := &c.RequestedParameters
	cfg := subs.ItemConfig{ClientHandle: want.ClientHandle, Timestamps: stamps, QueueSize: want.QueueSize, DiscardOldest: want.DiscardOldest}
	publishing, limits, now := sub.Params().PublishingInterval, k.server.subs.Limits(), k.now()
	switch tag := item.Tag().(type) {
	case *eventItem:
		var result *ua.EventFilterResult
		if cfg.Events, result, r.StatusCode = k.eventFilter(&want.Filter); result != nil {
			r.FilterResult = ua.NewExtensionObject(result)
		}
	case *sampled:
		cfg.Sampling = limits.ReviseSampling(want.SamplingInterval, publishing, tag.least, false)
		if cfg.Filter, r.StatusCode = k.dataFilter(tag.key.id, tag.key.attribute, &want.Filter); r.StatusCode == ua.Good {
			cfg.Node = k.server.regroup(tag, func() (*session, time.Duration) { return tag.key.session, cfg.Sampling }, now)
		}
	case *Feed:
		cfg.Sampling, cfg.Continuous = limits.ReviseSampling(want.SamplingInterval, publishing, 0, true), true
		cfg.Filter, r.StatusCode = k.dataFilter(tag.id, tag.attribute, &want.Filter)
	default:
		cfg.Sampling = limits.ReviseSampling(want.SamplingInterval, publishing, 0, true)
	}
	if r.StatusCode != ua.Good {
		return
	}
	if r.StatusCode = sub.ModifyItem(now, x, c.MonitoredItemID, &cfg); r.StatusCode == ua.Good {
		r.RevisedSamplingInterval, r.RevisedQueueSize = float64(cfg.Sampling.Microseconds())/1000, cfg.QueueSize
	}
}

// setMonitoringMode is the service SetMonitoringMode (Part 4, 5.13.4).
func setMonitoringMode(k *call, q *ua.SetMonitoringModeRequest, p *ua.SetMonitoringModeResponse) outcome {
	sub, x, ok := k.checkItemsCall(q.SubscriptionID, len(q.MonitoredItemIDs))
	if !ok {
		return answered
	}
	if q.MonitoringMode < ua.MonitoringModeDisabled || q.MonitoringMode > ua.MonitoringModeReporting {
		return k.fail(ua.BadMonitoringModeInvalid, "")
	}
	p.Results = p.Results[:0]
	var wake []*subs.Item
	for _, id := range q.MonitoredItemIDs {
		item, was, status := sub.SetMode(k.now(), x, id, q.MonitoringMode)
		p.Results = append(p.Results, status)
		if status != ua.Good || was == q.MonitoringMode {
			continue
		}
		if tag, ok := item.Tag().(*sampled); ok {
			k.server.pause(tag, q.MonitoringMode == ua.MonitoringModeDisabled, k.now())
		}
		if was == ua.MonitoringModeDisabled {
			wake = append(wake, item)
		}
	}
	k.wakeItems(wake)
	p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, p.Results)
	return answered
}

// wakeItems gives items that were disabled the present value.
func (k *call) wakeItems(items []*subs.Item) {
	source := func(i int) (ua.NodeID, ua.AttributeID, bool) {
		switch tag := items[i].Tag().(type) {
		case *sampled:
			return tag.key.id, tag.key.attribute, true
		case *Feed:
			return tag.id, tag.attribute, true
		}
		return ua.NodeID{}, 0, false
	}
	k.readFirst(len(items), source)
	now := k.now()
	for i, item := range items {
		_, _, ok := source(i)
		switch v := &k.monitoring.values[i]; {
		case !ok:
		case v.Status == blockedValue:
			k.server.firstSlowly(item)
		default:
			item.PushInitial(stamped(v, now), now.At)
		}
	}
}

// setTriggering is the service SetTriggering (Part 4, 5.13.5).
func setTriggering(k *call, q *ua.SetTriggeringRequest, p *ua.SetTriggeringResponse) outcome {
	sub, x, ok := k.checkItemsCall(q.SubscriptionID, len(q.LinksToAdd)+len(q.LinksToRemove))
	if !ok {
		return answered
	}
	added, removed, status := sub.SetTriggering(k.now(), x, q.TriggeringItemID, q.LinksToAdd, q.LinksToRemove)
	if status != ua.Good {
		return k.fail(status, "")
	}
	p.AddResults, p.RemoveResults = added, removed
	p.AddDiagnosticInfos = k.diagnoseStatuses(p.AddDiagnosticInfos, added)
	p.RemoveDiagnosticInfos = k.diagnoseStatuses(p.RemoveDiagnosticInfos, removed)
	return answered
}

// deleteMonitoredItems is the service DeleteMonitoredItems (Part 4, 5.13.6).
func deleteMonitoredItems(k *call, q *ua.DeleteMonitoredItemsRequest, p *ua.DeleteMonitoredItemsResponse) outcome {
	sub, x, ok := k.checkItemsCall(q.SubscriptionID, len(q.MonitoredItemIDs))
	if !ok {
		return answered
	}
	results, status := sub.DeleteItems(k.now(), x, q.MonitoredItemIDs)
	if status != ua.Good {
		return k.fail(status, "")
	}
	p.Results = results
	p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, results)
	return answered
}
