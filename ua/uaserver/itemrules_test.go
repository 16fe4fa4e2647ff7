package uaserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func TestOtherAttributes(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	o := w.space.AddObject(w.space.Objects(), "O")
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, attribute(ua.AttributeDisplayName), sampling(50)), item(o.ID(), 2, attribute(ua.AttributeBrowseName), sampling(50)),
		item(v.ID(), 3, attribute(ua.AttributeDataType)))
	got := changes(c.next())
	if len(got) != 3 || got[0].Value.Value.Any().(ua.LocalizedText).Text != "V" || got[1].Value.Value.Any().(ua.QualifiedName).Name != "O" {
		t.Errorf("attributes: %v", got)
	}
	c.quiet(500 * time.Millisecond)
}

func TestDeadbands(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Double(0), memspace.WithRange(0, 200))
	n := w.space.AddVariable(w.space.Objects(), "N", ua.Array([]int32{0, 0}))
	c := w.client()
	sub := c.subscribe()
	ids := c.monitor(sub, item(v.ID(), 1, withFilter(deadband(ua.DeadbandTypePercent, 5))))
	c.next()
	for _, x := range []float64{9, 10, 10.5, 20, 25, 31} {
		set(t, v, ua.Double(x))
	}
	wantValues(t, "5 % of 200", changes(c.next()), 1, 10.5, 25)
	m := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0],
		RequestedParameters: ua.MonitoringParameters{ClientHandle: 1, QueueSize: 10, Filter: ua.NewExtensionObject(deadband(ua.DeadbandTypeAbsolute, 1))}})
	if m[0].StatusCode != ua.Good {
		t.Fatal(m)
	}
	set(t, v, ua.Double(26))
	set(t, v, ua.Double(26.5))
	w.pass(100 * time.Millisecond)
	set(t, v, ua.Double(27.5))
	wantValues(t, "1 absolute", changes(c.next()), 1, 26.5)
	m = c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0],
		RequestedParameters: ua.MonitoringParameters{ClientHandle: 1, QueueSize: 10, Filter: ua.NewExtensionObject(deadband(ua.DeadbandTypePercent, 101))}})
	if m[0].StatusCode != ua.BadDeadbandFilterInvalid {
		t.Errorf("101 %%: %+v", m)
	}
	set(t, v, ua.Double(27.4))
	c.quiet(200 * time.Millisecond) // the old filter holds
	c.deleteSubscriptions(sub)

	sub = c.subscribe()
	c.monitor(sub, item(n.ID(), 2, withFilter(deadband(ua.DeadbandTypeAbsolute, 5))))
	c.next()
	for _, x := range [][]int32{{5, 5}, {0, 6}, {1, 7}, {1, 7, 1}} {
		if err := n.Set(ua.Array(x)); err != nil {
			t.Fatal(err)
		}
	}
	if got := changes(c.next()); len(got) != 2 || fmt.Sprint(got[0].Value.Value) != fmt.Sprint(ua.Array([]int32{0, 6})) || got[1].Value.Value.Len() != 3 {
		t.Errorf("array: %v", got)
	}
}

func TestTriggersOfFilters(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, withFilter(&ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatus})),
		item(v.ID(), 2), item(v.ID(), 3, withFilter(&ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValueTimestamp})))
	c.next()
	for i, x := range []ua.DataValue{{Value: ua.Int32(1), SourceTimestamp: 1}, {Value: ua.Int32(1), SourceTimestamp: 2},
		{Value: ua.Int32(1), SourceTimestamp: 2, Status: ua.UncertainLastUsableValue}} {
		if err := v.SetValue(x); err != nil {
			t.Fatal(i, err)
		}
	}
	counts := map[uint32]int{}
	for _, n := range changes(c.next()) {
		counts[n.ClientHandle]++
	}
	if fmt.Sprint(counts) != "map[1:1 2:2 3:3]" {
		t.Errorf("%v", counts)
	}
}

func TestIndexRangeItems(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Array([]int32{1, 2, 3, 4}))
	s := w.space.AddVariable(w.space.Objects(), "S", ua.String("hello"))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, indexRange("1:2")), item(s.ID(), 2, indexRange("0:1")), item(v.ID(), 3, indexRange("4")))
	got := changes(c.next())
	if len(got) != 3 || fmt.Sprint(got[0].Value.Value) != fmt.Sprint(ua.Array([]int32{2, 3})) || got[1].Value.Value.Str() != "he" || got[2].Value.Status != ua.BadIndexRangeNoData {
		t.Errorf("first: %v", got)
	}
	if err := v.Set(ua.Array([]int32{9, 2, 3, 9})); err != nil {
		t.Fatal(err)
	}
	c.quiet(200 * time.Millisecond) // nothing in the range has changed
	if err := v.Set(ua.Array([]int32{9, 2, 5, 9, 7})); err != nil {
		t.Fatal(err)
	}
	got = changes(c.next())
	if len(got) != 2 || fmt.Sprint(got[0].Value.Value) != fmt.Sprint(ua.Array([]int32{2, 5})) || got[1].Value.Value.Index(0).Int() != 7 {
		t.Errorf("changed: %v", got)
	}
}

func TestDataEncodingItems(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	r := w.space.AddVariable(w.space.Objects(), "R", ua.NewExtensionObject(&ua.Range{High: 1}).Variant())
	binary := func(q *ua.MonitoredItemCreateRequest) { q.ItemToMonitor.DataEncoding.Name = "Default Binary" }
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, binary), item(r.ID(), 2, binary))
	if got := changes(c.next()); len(got) != 2 || got[0].Value.Status != ua.BadDataEncodingInvalid || got[1].Value.Status != ua.Good {
		t.Errorf("first: %v", got)
	}
}

func TestMonitoringModes(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	id := c.monitor(sub, item(v.ID(), 1, mode(ua.MonitoringModeDisabled)))[0]
	set(t, v, ua.Int32(2))
	c.quiet(300 * time.Millisecond)
	c.setMode(sub, ua.MonitoringModeSampling, id)
	set(t, v, ua.Int32(3))
	c.quiet(300 * time.Millisecond)
	c.setMode(sub, ua.MonitoringModeReporting, id)
	wantValues(t, "what was sampled", changes(c.next()), 1, int32(2), 3)
	set(t, v, ua.Int32(4))
	c.setMode(sub, ua.MonitoringModeDisabled, id)
	c.quiet(300 * time.Millisecond)
	c.setMode(sub, ua.MonitoringModeReporting, id, id)
	wantValues(t, "the present value", changes(c.next()), 1, int32(4))

	// Publishing disabled: nothing is lost up to the queue.
	q, p := ua.SetPublishingModeRequest{SubscriptionIDs: []uint32{sub}}, ua.SetPublishingModeResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		t.Fatal(err)
	}
	set(t, v, ua.Int32(5))
	set(t, v, ua.Int32(6))
	c.quiet(3 * time.Second)
	q.PublishingEnabled = true
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		t.Fatal(err)
	}
	wantValues(t, "enabled", changes(c.next()), 1, int32(5), 6)
}

func TestTimestampsOfItems(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.client()
	for stamps, want := range map[ua.TimestampsToReturn][2]bool{ua.TimestampsToReturnSource: {true, false}, ua.TimestampsToReturnServer: {false, true},
		ua.TimestampsToReturnBoth: {true, true}, ua.TimestampsToReturnNeither: {false, false}} {
		sub := c.subscribe()
		q, p := ua.CreateMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: stamps, ItemsToCreate: []ua.MonitoredItemCreateRequest{item(v.ID(), 1)}}, ua.CreateMonitoredItemsResponse{}
		if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
			t.Fatal(err)
		}
		for i := range int32(2) { // the first value, and a pushed one
			got := changes(c.next())
			if len(got) != 1 || [2]bool{got[0].Value.SourceTimestamp != 0, got[0].Value.ServerTimestamp != 0} != want {
				t.Errorf("%v: %+v", stamps, got)
			}
			set(t, v, ua.Int32(int32(stamps)*10+i+1))
		}
		c.deleteSubscriptions(sub)
	}
}

func TestMaxNotificationsPerPublish(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.client()
	sub := c.subscribe(func(q *ua.CreateSubscriptionRequest) { q.MaxNotificationsPerPublish = 2 })
	c.monitor(sub, item(v.ID(), 1))
	c.next()
	for i := range int32(5) {
		set(t, v, ua.Int32(i+1))
	}
	var all []ua.MonitoredItemNotification
	for i, more := range []bool{true, true, false} {
		p := c.next()
		if p.MoreNotifications != more || p.NotificationMessage.SequenceNumber != uint32(i+2) {
			t.Errorf("message %d: more %v, number %d", i, p.MoreNotifications, p.NotificationMessage.SequenceNumber)
		}
		all = append(all, changes(p)...)
	}
	wantValues(t, "in order", all, 1, int32(1), 2, 3, 4, 5)
}
