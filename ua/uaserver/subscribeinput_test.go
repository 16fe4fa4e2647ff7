package uaserver_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// A subscription that the bad input of others must leave alone.
type bystander struct {
	*subscriber
	v   *memspace.Variable
	sub uint32
	n   int32
}

func (w *world) bystander() *bystander {
	b := &bystander{subscriber: w.client(), v: w.space.AddVariable(w.space.Objects(), "Bystander", ua.Int32(0))}
	b.sub = b.subscribe()
	b.monitor(b.sub, item(b.v.ID(), 99))
	wantValues(w.t, "bystander", changes(b.next()), 99, int32(0))
	return b
}

func (b *bystander) undisturbed() {
	b.w.t.Helper()
	b.n++
	set(b.w.t, b.v, ua.Int32(b.n))
	wantValues(b.w.t, "bystander", changes(b.next()), 99, b.n)
}

func TestSubscriptionInput(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) {
		c.Limits.MaxSubscriptions, c.Limits.MaxMonitoredItemsPerCall = 2, 5
	})
	b := w.bystander()
	c := w.client()
	for _, x := range []struct {
		ms       float64
		keep     uint32
		life     uint32
		wantMS   float64
		wantKeep uint32
		wantLife uint32
	}{
		{math.NaN(), 10, 3000, 10, 10, 3000},
		{-1, 10, 3000, 10, 10, 3000},
		{math.Inf(1), 10, 30, 3_600_000, 1, 3},
		{math.Inf(-1), 10, 3000, 10, 10, 3000},
		{math.MaxFloat64, 0, 0, 3_600_000, 1, 3},
		{0, 0, 0, 10, 3, 1000},
		{1000, math.MaxUint32, math.MaxUint32, 1000, 3600, 10_800},
		{100.5, 5, 1, 101, 5, 100},
	} {
		q, p := ua.CreateSubscriptionRequest{RequestedPublishingInterval: x.ms, RequestedMaxKeepAliveCount: x.keep, RequestedLifetimeCount: x.life}, ua.CreateSubscriptionResponse{}
		if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
			t.Fatal(err)
		}
		if p.RevisedPublishingInterval != x.wantMS || p.RevisedMaxKeepAliveCount != x.wantKeep || p.RevisedLifetimeCount != x.wantLife {
			t.Errorf("Create %+v: %+v", x, p)
		}
		m, mp := ua.ModifySubscriptionRequest{SubscriptionID: p.SubscriptionID, RequestedPublishingInterval: x.ms, RequestedMaxKeepAliveCount: x.keep, RequestedLifetimeCount: x.life}, ua.ModifySubscriptionResponse{}
		if err := c.Call(&m.RequestHeader, &m, &mp); err != nil {
			t.Fatal(err)
		}
		if mp.RevisedPublishingInterval != x.wantMS || mp.RevisedMaxKeepAliveCount != x.wantKeep || mp.RevisedLifetimeCount != x.wantLife {
			t.Errorf("Modify %+v: %+v", x, mp)
		}
		wantStatuses(t, "delete", c.deleteSubscriptions(p.SubscriptionID, p.SubscriptionID, 0), ua.Good, ua.BadSubscriptionIdInvalid, ua.BadSubscriptionIdInvalid)
	}
	one, two := c.subscribe(), c.subscribe()
	q := ua.CreateSubscriptionRequest{}
	wantStatus(t, "a third of two", c.Call(&q.RequestHeader, &q, nil), ua.BadTooManySubscriptions)
	m := ua.ModifySubscriptionRequest{SubscriptionID: b.sub}
	wantStatus(t, "another's", c.Call(&m.RequestHeader, &m, nil), ua.BadSubscriptionIdInvalid)
	wantStatus(t, "another's", c.republish(b.sub, 1, nil), ua.BadSubscriptionIdInvalid)
	wantStatus(t, "nothing sent", c.republish(one, 1, nil), ua.BadMessageNotAvailable)
	wantStatus(t, "number 0", c.republish(one, 0, nil), ua.BadMessageNotAvailable)

	for n, want := range map[int]ua.StatusCode{0: ua.BadNothingToDo, 6: ua.BadTooManyOperations} {
		ids := make([]uint32, n)
		d, s, x := ua.DeleteSubscriptionsRequest{SubscriptionIDs: ids}, ua.SetPublishingModeRequest{SubscriptionIDs: ids}, ua.TransferSubscriptionsRequest{SubscriptionIDs: ids}
		wantStatus(t, fmt.Sprint(n), c.Call(&d.RequestHeader, &d, nil), want)
		wantStatus(t, fmt.Sprint(n), c.Call(&s.RequestHeader, &s, nil), want)
		wantStatus(t, fmt.Sprint(n), c.Call(&x.RequestHeader, &x, nil), want)
		wantStatus(t, fmt.Sprint(n), c.Call(&d.RequestHeader, &d, nil), want)
	}
	s, sp := ua.SetPublishingModeRequest{SubscriptionIDs: []uint32{one, b.sub, two, 0}}, ua.SetPublishingModeResponse{}
	if err := c.Call(&s.RequestHeader, &s, &sp); err != nil {
		t.Fatal(err)
	}
	wantStatuses(t, "SetPublishingMode", sp.Results, ua.Good, ua.BadSubscriptionIdInvalid, ua.Good, ua.BadSubscriptionIdInvalid)
	p := c.next(ua.SubscriptionAcknowledgement{SubscriptionID: one, SequenceNumber: 1}, ua.SubscriptionAcknowledgement{SubscriptionID: b.sub, SequenceNumber: 1},
		ua.SubscriptionAcknowledgement{SubscriptionID: one}, ua.SubscriptionAcknowledgement{SubscriptionID: one, SequenceNumber: math.MaxUint32})
	wantStatuses(t, "acknowledgements", p.Results, ua.BadSequenceNumberUnknown, ua.BadSubscriptionIdInvalid, ua.BadSequenceNumberInvalid, ua.BadSequenceNumberUnknown)
	b.undisturbed()
}

// deadband is a filter for changes of values.
func deadband(kind ua.DeadbandType, value float64) *ua.DataChangeFilter {
	return &ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: uint32(kind), DeadbandValue: value}
}

func TestMonitoredItemInput(t *testing.T) {
	w := newWorld(t, nil)
	b := w.bystander()
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	text := w.space.AddVariable(w.space.Objects(), "Text", ua.String("1"))
	array := w.space.AddVariable(w.space.Objects(), "Array", ua.Array([]int32{1, 2, 3}))
	hidden := w.space.AddVariable(w.space.Objects(), "Hidden", ua.Int32(1), memspace.WithAccess(ua.AccessLevelTypeCurrentWrite))
	object := w.space.AddObject(w.space.Objects(), "Object")
	c := w.client()
	sub := c.subscribe()
	change := func(f func(*ua.MonitoredItemCreateRequest)) func(*ua.MonitoredItemCreateRequest) { return f }
	id := func(n ua.NodeID) func(*ua.MonitoredItemCreateRequest) {
		return change(func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.NodeID = n })
	}
	encoding := func(s string) func(*ua.MonitoredItemCreateRequest) {
		return change(func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.DataEncoding.Name = s })
	}
	notifier := attribute(ua.AttributeEventNotifier)
	rows := []struct {
		name   string
		change []func(*ua.MonitoredItemCreateRequest)
		want   ua.StatusCode
	}{
		{"good", nil, ua.Good},
		{"null id", []func(*ua.MonitoredItemCreateRequest){id(ua.NodeID{})}, ua.BadNodeIdInvalid},
		{"unknown id", []func(*ua.MonitoredItemCreateRequest){id(ua.NewStringNodeID(2, "none"))}, ua.BadNodeIdUnknown},
		{"unknown namespace", []func(*ua.MonitoredItemCreateRequest){id(ua.NewStringNodeID(99, "none"))}, ua.BadNodeIdUnknown},
		{"unknown id, disabled", []func(*ua.MonitoredItemCreateRequest){id(ua.NewStringNodeID(2, "none")), mode(ua.MonitoringModeDisabled)}, ua.BadNodeIdUnknown},
		{"attribute 0", []func(*ua.MonitoredItemCreateRequest){attribute(0)}, ua.BadAttributeIdInvalid},
		{"attribute 99", []func(*ua.MonitoredItemCreateRequest){attribute(99)}, ua.BadAttributeIdInvalid},
		{"attribute of others", []func(*ua.MonitoredItemCreateRequest){attribute(ua.AttributeExecutable)}, ua.BadAttributeIdInvalid},
		{"not readable", []func(*ua.MonitoredItemCreateRequest){id(hidden.ID())}, ua.BadNotReadable},
		{"mode 3", []func(*ua.MonitoredItemCreateRequest){mode(3)}, ua.BadMonitoringModeInvalid},
		{"mode -1", []func(*ua.MonitoredItemCreateRequest){mode(-1)}, ua.BadMonitoringModeInvalid},
		{"range", []func(*ua.MonitoredItemCreateRequest){indexRange("3:1")}, ua.BadIndexRangeInvalid},
		{"range that is none", []func(*ua.MonitoredItemCreateRequest){indexRange("a")}, ua.BadIndexRangeInvalid},
		{"range behind the end", []func(*ua.MonitoredItemCreateRequest){id(array.ID()), indexRange("7")}, ua.Good},
		{"encoding XML", []func(*ua.MonitoredItemCreateRequest){encoding("Default XML")}, ua.BadDataEncodingUnsupported},
		{"encoding of a name", []func(*ua.MonitoredItemCreateRequest){encoding("Default Binary"), attribute(ua.AttributeDisplayName)}, ua.BadDataEncodingInvalid},
		{"another filter", []func(*ua.MonitoredItemCreateRequest){withFilter(&ua.EventFilter{})}, ua.BadFilterNotAllowed},
		{"no filter", []func(*ua.MonitoredItemCreateRequest){withFilter(&ua.ReadValueID{})}, ua.BadMonitoredItemFilterInvalid},
		{"aggregate", []func(*ua.MonitoredItemCreateRequest){withFilter(&ua.AggregateFilter{})}, ua.BadMonitoredItemFilterUnsupported},
		{"trigger 3", []func(*ua.MonitoredItemCreateRequest){withFilter(&ua.DataChangeFilter{Trigger: 3})}, ua.BadMonitoredItemFilterInvalid},
		{"deadband 3", []func(*ua.MonitoredItemCreateRequest){withFilter(deadband(3, 1))}, ua.BadMonitoredItemFilterUnsupported},
		{"deadband -1", []func(*ua.MonitoredItemCreateRequest){withFilter(deadband(ua.DeadbandTypeAbsolute, -1))}, ua.BadDeadbandFilterInvalid},
		{"deadband NaN", []func(*ua.MonitoredItemCreateRequest){withFilter(deadband(ua.DeadbandTypeAbsolute, math.NaN()))}, ua.BadDeadbandFilterInvalid},
		{"percent without EURange", []func(*ua.MonitoredItemCreateRequest){withFilter(deadband(ua.DeadbandTypePercent, 1))}, ua.BadDeadbandFilterInvalid},
		{"deadband of a text", []func(*ua.MonitoredItemCreateRequest){id(text.ID()), withFilter(deadband(ua.DeadbandTypeAbsolute, 1))}, ua.BadFilterNotAllowed},
		{"deadband of a name", []func(*ua.MonitoredItemCreateRequest){attribute(ua.AttributeDisplayName), withFilter(deadband(ua.DeadbandTypeAbsolute, 1))}, ua.BadFilterNotAllowed},
		{"deadband of nothing", []func(*ua.MonitoredItemCreateRequest){id(ua.NewStringNodeID(2, "none")), withFilter(deadband(ua.DeadbandTypeAbsolute, 1))}, ua.BadNodeIdUnknown},
		{"events of a variable", []func(*ua.MonitoredItemCreateRequest){notifier, withFilter(eventFilter())}, ua.BadAttributeIdInvalid},
		{"events of no notifier", []func(*ua.MonitoredItemCreateRequest){id(object.ID()), notifier, withFilter(eventFilter())}, ua.BadNotSupported},
		{"events of nothing", []func(*ua.MonitoredItemCreateRequest){id(ua.NewStringNodeID(2, "none")), notifier, withFilter(eventFilter())}, ua.BadNodeIdUnknown},
		{"events, range", []func(*ua.MonitoredItemCreateRequest){id(ua.ID(uaid.Server)), notifier, indexRange("1"), withFilter(eventFilter())}, ua.BadIndexRangeInvalid},
		{"events, no filter", []func(*ua.MonitoredItemCreateRequest){id(ua.ID(uaid.Server)), notifier}, ua.BadEventFilterInvalid},
		{"events, other filter", []func(*ua.MonitoredItemCreateRequest){id(ua.ID(uaid.Server)), notifier, withFilter(deadband(0, 0))}, ua.BadFilterNotAllowed},
		{"good again", nil, ua.Good},
	}
	var items []ua.MonitoredItemCreateRequest
	for i, x := range rows {
		items = append(items, item(v.ID(), uint32(i), x.change...))
	}
	results, err := c.tryMonitor(sub, items...)
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for i, x := range rows {
		r := results[i]
		if r.StatusCode != x.want || (r.MonitoredItemID != 0) != (x.want == ua.Good) {
			t.Errorf("%s: %v, id %d, want %v", x.name, r.StatusCode, r.MonitoredItemID, x.want)
		}
		if x.want == ua.Good {
			good++
		}
	}
	if got := w.s.PublishStats().MonitoredItems; got != good+1 {
		t.Errorf("%d items, want %d", got, good+1)
	}
	if got := changes(c.next()); len(got) != good {
		t.Errorf("first values: %v", got)
	}
	b.undisturbed()
}

func TestMonitoredItemParameters(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	slow := w.space.AddVariable(w.space.Objects(), "Slow", ua.Int32(1), memspace.WithSampling(250), memspace.NonBlocking(),
		memspace.OnRead(func(memspace.Read) ua.DataValue { return ua.DataValue{Value: ua.Int32(1)} }))
	c := w.client()
	sub := c.subscribe()
	year := float64(365 * 24 * 3600 * 1000)
	for _, x := range []struct {
		id       ua.NodeID
		ms, want float64
	}{
		{v.ID(), 0, 0}, {v.ID(), -1, 100}, {v.ID(), math.NaN(), 100}, {v.ID(), math.Inf(1), year}, {v.ID(), 77, 77},
		{slow.ID(), 0, 250}, {slow.ID(), -1, 250}, {slow.ID(), math.NaN(), 250}, {slow.ID(), math.MaxFloat64, year}, {slow.ID(), 333.33, 334},
	} {
		r, err := c.tryMonitor(sub, item(x.id, 1, sampling(x.ms)))
		if err != nil || r[0].StatusCode != ua.Good || r[0].RevisedSamplingInterval != x.want {
			t.Errorf("%v at %v: %v, %+v", x.id, x.ms, err, r[0])
		}
		m := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: r[0].MonitoredItemID, RequestedParameters: ua.MonitoringParameters{SamplingInterval: x.ms}})
		if m[0].StatusCode != ua.Good || m[0].RevisedSamplingInterval != x.want || m[0].RevisedQueueSize != 1 {
			t.Errorf("modified %v at %v: %+v", x.id, x.ms, m[0])
		}
	}
	for size, want := range map[uint32]uint32{0: 1, 1: 1, 7: 7, math.MaxUint32: 1000} {
		r, err := c.tryMonitor(sub, item(v.ID(), 1, func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = size }))
		if err != nil || r[0].RevisedQueueSize != want {
			t.Errorf("queue of %d: %v, %+v", size, err, r)
		}
	}
}

func TestMonitoredItemCalls(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) { c.Limits.MaxMonitoredItemsPerCall, c.Limits.MaxMonitoredItems = 5, 4 })
	b := w.bystander()
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	ids := c.monitor(sub, item(v.ID(), 1), item(v.ID(), 2), item(v.ID(), 3))
	five := []ua.MonitoredItemCreateRequest{item(v.ID(), 1), item(v.ID(), 1), item(v.ID(), 1), item(v.ID(), 1), item(v.ID(), 1)}
	r, err := c.tryMonitor(sub, five...)
	if err != nil || r[0].StatusCode != ua.Good || r[1].StatusCode != ua.BadTooManyMonitoredItems || r[4].StatusCode != ua.BadTooManyMonitoredItems {
		t.Errorf("4 items are the most: %v %+v", err, r)
	}
	for n, want := range map[int]ua.StatusCode{0: ua.BadNothingToDo, 1: ua.BadSubscriptionIdInvalid, 6: ua.BadTooManyOperations} {
		for _, other := range []uint32{0, b.sub} {
			list := make([]uint32, n)
			create := ua.CreateMonitoredItemsRequest{SubscriptionID: other, ItemsToCreate: make([]ua.MonitoredItemCreateRequest, n)}
			modify := ua.ModifyMonitoredItemsRequest{SubscriptionID: other, ItemsToModify: make([]ua.MonitoredItemModifyRequest, n)}
			set := ua.SetMonitoringModeRequest{SubscriptionID: other, MonitoredItemIDs: list}
			remove := ua.DeleteMonitoredItemsRequest{SubscriptionID: other, MonitoredItemIDs: list}
			trigger := ua.SetTriggeringRequest{SubscriptionID: other, LinksToAdd: list[:n/2], LinksToRemove: list[n/2:]}
			for h, q := range map[*ua.RequestHeader]ua.Structure{&create.RequestHeader: &create, &modify.RequestHeader: &modify,
				&set.RequestHeader: &set, &remove.RequestHeader: &remove, &trigger.RequestHeader: &trigger} {
				wantStatus(t, fmt.Sprintf("%T of %d", q, n), c.Call(h, q, nil), want)
			}
		}
	}
	for _, stamps := range []ua.TimestampsToReturn{-1, 4} {
		q := ua.CreateMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: stamps, ItemsToCreate: five[:1]}
		wantStatus(t, "timestamps", c.Call(&q.RequestHeader, &q, nil), ua.BadTimestampsToReturnInvalid)
		m := ua.ModifyMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: stamps, ItemsToModify: make([]ua.MonitoredItemModifyRequest, 1)}
		wantStatus(t, "timestamps", c.Call(&m.RequestHeader, &m, nil), ua.BadTimestampsToReturnInvalid)
	}
	q := ua.SetMonitoringModeRequest{SubscriptionID: sub, MonitoringMode: 3, MonitoredItemIDs: ids}
	wantStatus(t, "mode", c.Call(&q.RequestHeader, &q, nil), ua.BadMonitoringModeInvalid)
	wantStatuses(t, "modes", c.setMode(sub, ua.MonitoringModeSampling, ids[0], 0, ids[1]), ua.Good, ua.BadMonitoredItemIdInvalid, ua.Good)
	m := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0], RequestedParameters: ua.MonitoringParameters{Filter: ua.NewExtensionObject(eventFilter())}},
		ua.MonitoredItemModifyRequest{MonitoredItemID: 12345})
	if m[0].StatusCode != ua.BadFilterNotAllowed || m[1].StatusCode != ua.BadMonitoredItemIdInvalid {
		t.Errorf("modify: %+v", m)
	}
	d, dp := ua.DeleteMonitoredItemsRequest{SubscriptionID: sub, MonitoredItemIDs: []uint32{ids[2], ids[2], 0}}, ua.DeleteMonitoredItemsResponse{}
	if err := c.Call(&d.RequestHeader, &d, &dp); err != nil {
		t.Fatal(err)
	}
	wantStatuses(t, "delete", dp.Results, ua.Good, ua.BadMonitoredItemIdInvalid, ua.BadMonitoredItemIdInvalid)
	b.undisturbed()
}

func TestTriggeringInput(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	x := w.space.AddVariable(w.space.Objects(), "X", ua.Int32(1))
	c := w.client()
	sub, other := c.subscribe(), c.subscribe()
	ids := c.monitor(sub, item(v.ID(), 1), item(x.ID(), 2, mode(ua.MonitoringModeSampling)))
	strange := c.monitor(other, item(v.ID(), 3, mode(ua.MonitoringModeDisabled)))[0]
	c.next()
	trigger := func(item uint32, add, remove []uint32) (*ua.SetTriggeringResponse, error) {
		q, p := ua.SetTriggeringRequest{SubscriptionID: sub, TriggeringItemID: item, LinksToAdd: add, LinksToRemove: remove}, new(ua.SetTriggeringResponse)
		return p, c.Call(&q.RequestHeader, &q, p)
	}
	_, err := trigger(12345, ids, nil)
	wantStatus(t, "triggering item", err, ua.BadMonitoredItemIdInvalid)
	_, err = trigger(strange, ids, nil)
	wantStatus(t, "another subscription's", err, ua.BadMonitoredItemIdInvalid)
	p, err := trigger(ids[0], []uint32{ids[1], 0, strange}, []uint32{strange, ids[0]})
	if err != nil {
		t.Fatal(err)
	}
	wantStatuses(t, "add", p.AddResults, ua.Good, ua.BadMonitoredItemIdInvalid, ua.BadMonitoredItemIdInvalid)
	wantStatuses(t, "remove", p.RemoveResults, ua.BadMonitoredItemIdInvalid, ua.BadMonitoredItemIdInvalid)

	set(t, x, ua.Int32(2))
	set(t, v, ua.Int32(2))
	seen := map[uint32]int64{}
	for range 2 {
		for _, n := range changes(c.next()) {
			seen[n.ClientHandle] = n.Value.Value.Int()
		}
		w.pass(100 * 1e6)
	}
	if seen[1] != 2 || seen[2] != 2 {
		t.Errorf("triggered: %v", seen)
	}
}
