package uaserver_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func sampling(ms float64) func(*ua.MonitoredItemCreateRequest) {
	return func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = ms }
}

func mode(m ua.MonitoringMode) func(*ua.MonitoredItemCreateRequest) {
	return func(r *ua.MonitoredItemCreateRequest) { r.MonitoringMode = m }
}

func withFilter(f ua.Structure) func(*ua.MonitoredItemCreateRequest) {
	return func(r *ua.MonitoredItemCreateRequest) {
		r.RequestedParameters.Filter = ua.NewExtensionObject(f)
	}
}

func attribute(a ua.AttributeID) func(*ua.MonitoredItemCreateRequest) {
	return func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.AttributeID = uint32(a) }
}

func indexRange(s string) func(*ua.MonitoredItemCreateRequest) {
	return func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.IndexRange = s }
}

func (c *subscriber) setMode(sub uint32, m ua.MonitoringMode, ids ...uint32) []ua.StatusCode {
	c.w.t.Helper()
	q, p := ua.SetMonitoringModeRequest{SubscriptionID: sub, MonitoringMode: m, MonitoredItemIDs: ids}, ua.SetMonitoringModeResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p.Results
}

func (c *subscriber) modify(sub uint32, items ...ua.MonitoredItemModifyRequest) []ua.MonitoredItemModifyResult {
	c.w.t.Helper()
	q, p := ua.ModifyMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: ua.TimestampsToReturnBoth, ItemsToModify: items}, ua.ModifyMonitoredItemsResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p.Results
}

func set(t testing.TB, v *memspace.Variable, x ua.Variant) {
	t.Helper()
	if err := v.Set(x); err != nil {
		t.Fatal(err)
	}
}

func TestPushedValues(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 7))
	wantValues(t, "initial", changes(c.next()), 7, int32(1))
	for i := range int32(5) {
		set(t, v, ua.Int32(10+i))
	}
	set(t, v, ua.Int32(14)) // the same again is no change
	wantValues(t, "in order", changes(c.next()), 7, int32(10), 11, 12, 13, 14)
	c.quiet(time.Second)
	for i := range int32(25) {
		set(t, v, ua.Int32(100+i))
	}
	got := changes(c.next())
	if len(got) != 10 || got[0].Value.Value.Int() != 115 || got[0].Value.Status&ua.StatusOverflow == 0 || got[1].Value.Status != ua.Good {
		t.Errorf("overflow: %v", got)
	}
	if got[9].Value.SourceTimestamp == 0 || got[9].Value.ServerTimestamp == 0 {
		t.Errorf("timestamps: %+v", got[9].Value)
	}
}

// A value that is set while items are created is never lost, and the first comes once.
func TestFirstValueInTheRace(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int64(0))
	var last atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := int64(1); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = v.Set(ua.Int64(n)) // it fits
			last.Store(n)
		}
	}()
	c := w.client()
	for range 200 {
		sub := c.subscribe()
		before := last.Load()
		c.monitor(sub, item(v.ID(), 1, func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 1000 }))
		w.clock.Add(time.Second)
		w.s.RunDue()
		p := c.next()
		got := changes(p)
		for i, n := range got {
			x := n.Value.Value.Int()
			if x < before || i > 0 && x <= got[i-1].Value.Value.Int() {
				t.Fatalf("value %d of %d is %d, %d had been set before; before it %v", i, len(got), x, before, got[max(i-1, 0)].Value.Value)
			}
		}
		if len(got) == 0 {
			t.Fatal("no value")
		}
		c.deleteSubscriptions(sub)
	}
	close(stop)
	<-done
}

func (c *subscriber) deleteSubscriptions(ids ...uint32) []ua.StatusCode {
	c.w.t.Helper()
	q, p := ua.DeleteSubscriptionsRequest{SubscriptionIDs: ids}, ua.DeleteSubscriptionsResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p.Results
}

func TestSampledValues(t *testing.T) {
	w := newWorld(t, nil)
	var n atomic.Int32
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0), memspace.NonBlocking(),
		memspace.OnRead(func(memspace.Read) ua.DataValue { return ua.DataValue{Value: ua.Int32(n.Add(1))} }))
	c := w.client()
	sub := c.subscribe()
	ids := c.monitor(sub, item(v.ID(), 1, sampling(50)))
	wantValues(t, "initial, and every 50 ms", changes(c.next()), 1, int32(1), 2, 3)
	w.pass(190 * time.Millisecond)
	wantValues(t, "late", changes(c.next()), 1, int32(4), 5, 6)

	// Two items, one read; another interval, another group.
	other := c.subscribe()
	c.monitor(other, item(v.ID(), 2, sampling(50)))
	was := n.Load()
	w.pass(500 * time.Millisecond)
	if got := n.Load() - was; got != 10 {
		t.Errorf("%d reads in 500 ms for two items, want 10", got)
	}
	c.deleteSubscriptions(other)
	r := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0],
		RequestedParameters: ua.MonitoringParameters{ClientHandle: 3, SamplingInterval: 200, QueueSize: 5}})
	if r[0].StatusCode != ua.Good || r[0].RevisedSamplingInterval != 200 || r[0].RevisedQueueSize != 5 {
		t.Errorf("modified: %+v", r[0])
	}
	c.next() // what waited
	was = n.Load()
	w.pass(time.Second)
	if got := n.Load() - was; got != 5 {
		t.Errorf("%d reads in 1 s at 200 ms", got)
	}
	if got := changes(c.next()); len(got) == 0 || got[0].ClientHandle != 3 {
		t.Errorf("after the change: %v", got)
	}

	// Disabled it is not read; enabled it is read at once.
	wantStatuses(t, "disable", c.setMode(sub, ua.MonitoringModeDisabled, ids[0]), ua.Good)
	was = n.Load()
	w.pass(2 * time.Second)
	if got := n.Load() - was; got != 0 {
		t.Errorf("%d reads of a disabled item", got)
	}
	c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0], RequestedParameters: ua.MonitoringParameters{SamplingInterval: 100, QueueSize: 5}})
	w.pass(time.Second)
	if got := n.Load() - was; got != 0 {
		t.Errorf("%d reads of a disabled item that was modified", got)
	}
	wantStatuses(t, "enable", c.setMode(sub, ua.MonitoringModeReporting, ids[0]), ua.Good)
	if got := n.Load() - was; got != 1 {
		t.Errorf("%d reads at once, want 1", got)
	}
	w.pass(time.Second)
	if got := n.Load() - was; got != 11 {
		t.Errorf("%d reads in 1 s at 100 ms and one at once", got)
	}
	c.deleteSubscriptions(sub)
	was = n.Load()
	w.pass(time.Second)
	if n.Load() != was || w.s.RunDue() >= 0 {
		t.Error("without items something is still due")
	}
}

// A source that takes its time delays its own items only, however many ask for it.
func TestSlowSourceDelaysItself(t *testing.T) {
	w := newWorld(t, nil)
	release := make(chan struct{})
	var reads atomic.Int32
	slow := w.space.AddVariable(w.space.Objects(), "Slow", ua.Int32(0), memspace.OnRead(func(memspace.Read) ua.DataValue {
		n := reads.Add(1)
		<-release
		return ua.DataValue{Value: ua.Int32(n)}
	}))
	quick := w.space.AddVariable(w.space.Objects(), "Quick", ua.Int32(0), memspace.NonBlocking(),
		memspace.OnRead(func(memspace.Read) ua.DataValue { return ua.DataValue{Value: ua.Int32(7)} }))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(slow.ID(), 1, sampling(10)), item(slow.ID(), 2, sampling(20)), item(quick.ID(), 3, sampling(10)))
	wantValues(t, "the quick one", changes(c.next()), 3, int32(7))
	for range 20 { // items come and go while the source sleeps: it is asked once all the same
		other := c.subscribe()
		c.monitor(other, item(slow.ID(), 1, sampling(10)))
		w.pass(50 * time.Millisecond)
		c.deleteSubscriptions(other)
	}
	for end := time.Now().Add(5 * time.Second); reads.Load() == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := reads.Load(); got != 1 {
		t.Errorf("the source was asked %d times at a time", got)
	}
	close(release)
	seen := map[uint32]bool{}
	for end := time.Now().Add(5 * time.Second); len(seen) < 2 && time.Now().Before(end); {
		for _, n := range changes(c.next()) {
			if n.ClientHandle != 3 {
				seen[n.ClientHandle] = true
			}
		}
		time.Sleep(time.Millisecond)
	}
	if !seen[1] || !seen[2] {
		t.Errorf("after the source woke up: %v", seen)
	}
}

// badManager is a memspace that panics where it is told to.
type badManager struct {
	*memspace.Space
	read, monitor atomic.Bool
}

func (m *badManager) Read(ctx *uaserver.Context, items []uaserver.ReadItem) {
	if m.read.Load() {
		panic("a bug in a node manager")
	}
	m.Space.Read(ctx, items)
}

func (m *badManager) Monitor(ctx *uaserver.Context, item *uaserver.MonitorItem) {
	if m.monitor.Load() && item.NodeID.Text() == "Bad" {
		panic("a bug in a node manager")
	}
	item.MinSampling = 100 // without a Feed: all is sampled
}

// A panic of a node manager costs values, and nothing for good.
func TestManagerPanics(t *testing.T) {
	bad := &badManager{Space: memspace.New("urn:test:bad")}
	w := newWorld(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{bad} })
	w.space = bad.Space
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	b := w.space.AddVariable(w.space.Objects(), "Bad", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, sampling(100)))
	wantValues(t, "initial", changes(c.next()), 1, int32(1))
	bad.read.Store(true)
	got := changes(c.next())
	if len(got) != 1 || got[0].Value.Status != ua.BadInternalError {
		t.Errorf("while it panics: %v", got)
	}
	// An item whose first value cannot be had is there all the same.
	c.monitor(sub, item(v.ID(), 2, sampling(100)))
	bad.read.Store(false)
	set(t, v, ua.Int32(2))
	w.pass(200 * time.Millisecond)
	seen := map[uint32]int64{}
	for range 2 {
		for _, n := range changes(c.next()) {
			seen[n.ClientHandle] = n.Value.Value.Int()
		}
		w.pass(100 * time.Millisecond)
		set(t, v, ua.Int32(3))
	}
	if seen[1] < 2 || seen[2] < 2 {
		t.Errorf("afterwards: %v", seen)
	}
	// One that the client is not told of is not there.
	bad.monitor.Store(true)
	before := w.s.PublishStats().MonitoredItems
	_, err := c.tryMonitor(sub, item(v.ID(), 3), item(b.ID(), 4))
	wantStatus(t, "Monitor panics", err, ua.BadInternalError)
	if got := w.s.PublishStats().MonitoredItems; got != before {
		t.Errorf("%d items, %d before", got, before)
	}
}

func TestGuardedNode(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) {
		c.Users, c.AllowAnonymous, c.AllowPlainPasswords = map[string]string{"ada": "a", "bob": "b"}, true, true
	})
	var allowed atomic.Bool
	allowed.Store(true)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1), memspace.Allow(func(s *uaserver.SessionInfo, _ ua.PermissionType) bool {
		return s.User == "ada" && allowed.Load()
	}))
	ada, bob := w.clientOf("ada", "a"), w.clientOf("bob", "b")
	sa, sb := ada.subscribe(), bob.subscribe()
	ada.monitor(sa, item(v.ID(), 1, sampling(50)))
	if r, err := bob.tryMonitor(sb, item(v.ID(), 2, sampling(50))); err != nil || r[0].StatusCode != ua.BadUserAccessDenied || r[0].MonitoredItemID != 0 {
		t.Errorf("not his: %v %v", err, r)
	}
	wantValues(t, "hers", changes(ada.next()), 1, int32(1))
	set(t, v, ua.Int32(2))
	wantValues(t, "hers", changes(ada.next()), 1, int32(2))
	allowed.Store(false)
	if got := changes(ada.next()); len(got) != 1 || got[0].Value.Status != ua.BadUserAccessDenied || !got[0].Value.Value.IsNull() {
		t.Errorf("revoked: %v", got)
	}
	set(t, v, ua.Int32(3))
	ada.quiet(300 * time.Millisecond)
	allowed.Store(true)
	wantValues(t, "given back", changes(ada.next()), 1, int32(3))
}

func TestRemovedAndAddedNode(t *testing.T) {
	w := newWorld(t, nil)
	add := func(x int32) *memspace.Variable {
		return w.space.AddVariable(w.space.Objects(), "V", ua.Int32(x))
	}
	v := add(1)
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1), item(v.ID(), 2, attribute(ua.AttributeDisplayName), sampling(50)))
	c.next()
	if err := w.space.Remove(v); err != nil {
		t.Fatal(err)
	}
	w.pass(100 * time.Millisecond)
	got := changes(c.next())
	if len(got) != 2 || got[0].Value.Status != ua.BadNodeIdUnknown || got[1].Value.Status != ua.BadNodeIdUnknown {
		t.Errorf("removed: %v", got)
	}
	c.quiet(300 * time.Millisecond)
	v = add(2)
	w.pass(100 * time.Millisecond)
	if got = changes(c.next()); len(got) != 2 || got[0].Value.Status.IsBad() || got[1].Value.Status.IsBad() {
		t.Errorf("added again: %v", got)
	}
	set(t, v, ua.Int32(3))
	wantValues(t, "goes on", changes(c.next()), 1, int32(3))
}
