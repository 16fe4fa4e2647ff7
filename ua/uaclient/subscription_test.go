package uaclient_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// heard collects what a subscription says, one line each.
type heard struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func newHeard() *heard { return &heard{more: make(chan struct{}, 10000)} }

func (h *heard) add(format string, args ...any) {
	h.mu.Lock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
	h.mu.Unlock()
	select {
	case h.more <- struct{}{}:
	default:
	}
}

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lines)
}

// wait waits until what was heard satisfies a condition.
func (h *heard) wait(t *testing.T, what string, ok func(lines []string) bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		if ok(h.all()) {
			return
		}
		select {
		case <-h.more:
		case <-deadline:
			t.Fatalf("%s: heard only %q", what, h.all())
		}
	}
}

func (h *heard) waitFor(t *testing.T, line string) {
	t.Helper()
	h.wait(t, line, func(lines []string) bool { return slices.Contains(lines, line) })
}

// config writes down everything but keep-alives.
func (h *heard) config() uaclient.SubscriptionConfig {
	return uaclient.SubscriptionConfig{
		Interval: 20 * time.Millisecond,
		OnData: func(n *uaclient.DataNotification) {
			for item, v := range n.All() {
				h.add("%v=%v", item.Config().Data, v.Value)
			}
		},
		OnEvents: func(n *uaclient.EventNotification) {
			for item, fields := range n.All() {
				h.add("event %v %v", item.Config().Data, fields)
			}
		},
		OnStatus: func(s uaclient.SubscriptionStatus) {
			switch s.Kind {
			case uaclient.StatusGap:
				h.add("gap %d-%d", s.From, s.To)
			case uaclient.StatusChanged:
				h.add("changed %s", s.Status.String())
			case uaclient.StatusEnded:
				h.add("ended %s", ua.StatusOf(s.Err).String())
			default:
				h.add("%v", s.Kind)
			}
		},
	}
}

func subscribe(t *testing.T, c *uaclient.Client, config uaclient.SubscriptionConfig) *uaclient.Subscription {
	t.Helper()
	s, err := c.Subscribe(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSubscription(t *testing.T) {
	r := startServer(t, func(c *uaserver.Config) { c.Limits.MaxMonitoredItemsPerCall = 7 })
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	config := h.config()
	alive := make(chan uint32, 1000)
	config.KeepAliveCount = 2
	config.OnKeepAlive = func(k *uaclient.KeepAlive) {
		select {
		case alive <- k.NextNumber:
		default:
		}
	}
	s := subscribe(t, c, config)
	if rev := s.Revised(); s.ID() == 0 || rev.Interval != 20*time.Millisecond || rev.KeepAliveCount != 2 || rev.LifetimeCount == 0 {
		t.Errorf("%d %+v", s.ID(), rev)
	}
	// 20 items, three requests, one of them for a node that is not there (U04).
	var items []uaclient.ItemConfig
	many, err := c.ResolvePath(ctx, "/Objects/Plant/Many")
	if err != nil {
		t.Fatal(err)
	}
	for ref, err := range c.References(ctx, many, uaclient.BrowseOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if items = append(items, uaclient.ItemConfig{Node: ref.NodeID.NodeID, Data: ref.BrowseName.Name}); len(items) == 20 {
			break
		}
	}
	items[9].Node = ua.NewNodeID(r.ns, 999999)
	made, err := s.Add(ctx, items...)
	if err != nil || len(made) != 20 {
		t.Fatal(len(made), err)
	}
	handles := map[uint32]bool{}
	for i, item := range made {
		handles[item.ClientHandle()] = true
		if bad := errors.Is(item.Err(), ua.BadNodeIdUnknown); bad != (i == 9) || (item.ID() == 0) != bad {
			t.Errorf("item %d: id %d, %v", i, item.ID(), item.Err())
		}
	}
	h.wait(t, "the first values", func(l []string) bool { return len(l) == 19 })
	speed, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "speed", Queue: 10, Sampling: uaclient.FastestSampling})
	if err != nil || speed[0].Err() != nil || speed[0].Queue() != 10 {
		t.Fatal(err, speed[0].Err())
	}
	h.waitFor(t, "speed=1.5")
	for i := range 5 {
		r.speed.Set(ua.Double(float64(100 + i)))
	}
	h.waitFor(t, "speed=104")
	if l := h.all(); !slices.Equal(l[len(l)-5:], []string{"speed=100", "speed=101", "speed=102", "speed=103", "speed=104"}) {
		t.Errorf("%q", l)
	}
	if n := <-alive; n == 0 {
		t.Error("a keep-alive without a number")
	}
	// A deadband from now on.
	change := speed[0].Change()
	change.Filter = &ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: uint32(ua.DeadbandTypeAbsolute), DeadbandValue: 10}
	if status, err := s.ModifyItems(ctx, change, uaclient.ItemChange{Item: made[9]}); err != nil || status[0] != ua.Good || status[1] != ua.BadMonitoredItemIdInvalid {
		t.Fatal(status, err)
	}
	r.speed.Set(ua.Double(105))
	r.speed.Set(ua.Double(200))
	h.waitFor(t, "speed=200")
	if slices.Contains(h.all(), "speed=105") {
		t.Error("a value within the deadband")
	}
	if status, err := s.SetMode(ctx, ua.MonitoringModeDisabled, speed[0], nil); err != nil || status[0] != ua.Good || status[1] != ua.BadMonitoredItemIdInvalid {
		t.Error(status, err)
	}
	r.speed.Set(ua.Double(300))
	if status, err := s.SetMode(ctx, ua.MonitoringModeReporting, speed...); err != nil || status[0] != ua.Good || speed[0].Config().Mode != ua.MonitoringModeReporting {
		t.Error(status, err)
	}
	h.waitFor(t, "speed=300")
	if rev, err := s.Modify(ctx, uaclient.SubscriptionConfig{Interval: 40 * time.Millisecond}); err != nil || rev.Interval != 40*time.Millisecond || s.Revised() != rev {
		t.Error(rev, err)
	}
	if err := s.SetPublishing(ctx, false); err != nil {
		t.Error(err)
	}
	r.speed.Set(ua.Double(400))
	if err := s.SetPublishing(ctx, true); err != nil {
		t.Error(err)
	}
	h.waitFor(t, "speed=400")
	if status, err := s.DeleteItems(ctx, speed...); err != nil || status[0] != ua.Good {
		t.Error(status, err)
	}
	// A handle is never given twice (U14).
	again, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "again"})
	if err != nil || handles[again[0].ClientHandle()] || again[0].ClientHandle() == speed[0].ClientHandle() {
		t.Error(again[0].ClientHandle(), err)
	}
	h.waitFor(t, "again=400")
	if r.PublishStats().MonitoredItems != 20 {
		t.Errorf("%+v", r.PublishStats())
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if s.Err() != nil || s.Close(ctx) != nil || r.PublishStats().Subscriptions != 0 {
		t.Error(s.Err(), r.PublishStats())
	}
	if _, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID()}); !errors.Is(err, ua.BadSubscriptionIdInvalid) {
		t.Error(err)
	}
	for _, l := range h.all() {
		if l == "gap" || l == "silent" {
			t.Error(l)
		}
	}
}

func TestSubscriptionEvents(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	s := subscribe(t, c, h.config())
	clauses, err := uaclient.EventFields(ua.NodeID{}, "Severity", "Message", "/Nothing")
	if err != nil {
		t.Fatal(err)
	}
	items, err := s.Add(ctx,
		uaclient.ItemConfig{Node: ua.ID(uaid.Server), Data: "server", Filter: &ua.EventFilter{SelectClauses: clauses}},
		uaclient.ItemConfig{Node: r.speed.ID(), Data: "speed", Filter: &ua.EventFilter{SelectClauses: clauses}})
	if err != nil || items[0].Err() != nil || items[1].Err() == nil {
		t.Fatal(err, items[0].Err(), items[1].Err())
	}
	if f, ok := items[0].FilterResult().(*ua.EventFilterResult); !ok || len(f.SelectClauseResults) != 3 || !f.SelectClauseResults[2].IsBad() {
		t.Errorf("%+v", items[0].FilterResult())
	}
	for i := range 3 {
		r.Emit(uaserver.Event{Severity: uint16(100 + i), Message: ua.Text(fmt.Sprint("n", i))})
	}
	h.wait(t, "three events", func(l []string) bool { return len(l) == 3 })
	if l := h.all(); l[0] != `event server [100 "n0" null]` || l[2] != `event server [102 "n2" null]` {
		t.Errorf("%q", l)
	}
	if _, err := uaclient.EventFields(ua.NodeID{}, "a/<"); !errors.Is(err, ua.BadSyntaxError) {
		t.Error(err)
	}
}

// Items in mode Sampling report together with the one that they are linked to.
func TestSubscriptionTriggering(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	s := subscribe(t, c, h.config())
	samples, err := c.ResolvePath(ctx, "/Objects/Plant/Samples")
	if err != nil {
		t.Fatal(err)
	}
	items, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "speed"},
		uaclient.ItemConfig{Node: samples, Data: "samples", Mode: ua.MonitoringModeSampling})
	if err != nil {
		t.Fatal(err)
	}
	h.waitFor(t, "speed=1.5")
	added, removed, err := s.SetTriggering(ctx, items[0], items[1:], nil)
	if err != nil || len(added) != 1 || added[0] != ua.Good || len(removed) != 0 {
		t.Fatal(added, removed, err)
	}
	r.speed.Set(ua.Double(2))
	h.waitFor(t, "samples=[1, 2, 3]")
	if _, removed, err := s.SetTriggering(ctx, items[0], nil, items[1:]); err != nil || removed[0] != ua.Good {
		t.Error(removed, err)
	}
}

// The raw services, with their errors.
func TestSubscriptionServices(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	created, err := c.CreateSubscription(ctx, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 20, RequestedLifetimeCount: 1000, RequestedMaxKeepAliveCount: 5, PublishingEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	id := created.SubscriptionID
	create := &ua.CreateMonitoredItemsRequest{SubscriptionID: id, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for range 2 {
		create.ItemsToCreate = append(create.ItemsToCreate, ua.MonitoredItemCreateRequest{
			ItemToMonitor:  ua.ReadValueID{NodeID: r.speed.ID(), AttributeID: uint32(ua.AttributeValue)},
			MonitoringMode: ua.MonitoringModeReporting, RequestedParameters: ua.MonitoringParameters{ClientHandle: 7, QueueSize: 1},
		})
	}
	before := r.Stats().Requests
	if _, err := c.CreateMonitoredItems(ctx, create); !errors.Is(err, ua.BadInvalidArgument) || r.Stats().Requests != before {
		t.Errorf("equal client handles (U14): %v", err)
	}
	create.ItemsToCreate[1].RequestedParameters.ClientHandle = 8
	items, err := c.CreateMonitoredItems(ctx, create)
	if err != nil || items.Results[1].StatusCode != ua.Good {
		t.Fatal(err)
	}
	p, err := c.Publish(ctx, &ua.PublishRequest{})
	if err != nil || p.SubscriptionID != id || p.NotificationMessage.SequenceNumber != 1 {
		t.Fatal(p, err)
	}
	again, err := c.Republish(ctx, &ua.RepublishRequest{SubscriptionID: id, RetransmitSequenceNumber: 1})
	if d, ok := again.NotificationMessage.NotificationData[0].Value.(*ua.DataChangeNotification); err != nil || !ok || len(d.MonitoredItems) != 2 {
		t.Error(again, err)
	}
	if _, err := c.Republish(ctx, &ua.RepublishRequest{SubscriptionID: id, RetransmitSequenceNumber: 9}); !errors.Is(err, ua.BadMessageNotAvailable) {
		t.Error(err)
	}
	if _, err := c.ModifyMonitoredItems(ctx, &ua.ModifyMonitoredItemsRequest{ItemsToModify: make([]ua.MonitoredItemModifyRequest, 2)}); !errors.Is(err, ua.BadInvalidArgument) {
		t.Errorf("equal client handles (U14): %v", err)
	}
	other := r.dial(t, r.config(t))
	moved, err := other.TransferSubscriptions(ctx, &ua.TransferSubscriptionsRequest{SubscriptionIDs: []uint32{id, 1}})
	if err != nil || moved.Results[0].StatusCode != ua.Good || !slices.Equal(moved.Results[0].AvailableSequenceNumbers, []uint32{1}) ||
		moved.Results[1].StatusCode != ua.BadSubscriptionIdInvalid {
		t.Errorf("%+v, %v", moved, err)
	}
	// The old session hears of it.
	p, err = c.Publish(ctx, &ua.PublishRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := p.NotificationMessage.NotificationData[0].Value.(*ua.StatusChangeNotification); !ok || s.Status != ua.GoodSubscriptionTransferred {
		t.Errorf("%+v", p.NotificationMessage)
	}
	if d, err := other.DeleteSubscriptions(ctx, &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{id}}); err != nil || d.Results[0] != ua.Good {
		t.Error(d, err)
	}
	if _, err := other.Publish(ctx, &ua.PublishRequest{}); !errors.Is(err, ua.BadNoSubscription) {
		t.Error(err)
	}
	waiting, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	s := subscribe(t, other, uaclient.SubscriptionConfig{Paused: true})
	defer s.Close(ctx)
	if _, err := other.Publish(waiting, &ua.PublishRequest{}); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ua.BadTimeout) {
		t.Error(err)
	}
}

// A subscription that another session takes over ends with the reason.
func TestSubscriptionTransferred(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	s := subscribe(t, c, h.config())
	other := r.dial(t, r.config(t))
	if moved, err := other.TransferSubscriptions(ctx, &ua.TransferSubscriptionsRequest{SubscriptionIDs: []uint32{s.ID()}}); err != nil || moved.Results[0].StatusCode != ua.Good {
		t.Fatal(moved, err)
	}
	h.waitFor(t, "ended GoodSubscriptionTransferred")
	<-s.Done()
	if !errors.Is(s.Err(), ua.GoodSubscriptionTransferred) || slices.ContainsFunc(h.all(), func(l string) bool { return l != "ended GoodSubscriptionTransferred" }) {
		t.Error(s.Err(), h.all())
	}
}

// The end of the connection, and of the client, ends the subscriptions.
func TestSubscriptionEndsWithItsSession(t *testing.T) {
	r := startServer(t, nil)
	lost, closed := newHeard(), newHeard()
	c := r.dial(t, r.config(t))
	s := subscribe(t, c, closed.config())
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if s.Err() != nil || len(closed.all()) != 0 || s.Close(t.Context()) != nil {
		t.Error(s.Err(), closed.all())
	}
	c = r.dial(t, r.config(t))
	s = subscribe(t, c, lost.config())
	r.Close()
	<-s.Done()
	if l := lost.all(); s.Err() == nil || len(l) != 1 || l[0][:6] != "ended " {
		t.Error(s.Err(), l)
	}
	if _, err := c.Subscribe(t.Context(), uaclient.SubscriptionConfig{}); err == nil {
		t.Error("a subscription without a connection")
	}
}

// U10: a callback that never returns holds up neither its client, nor another subscription, nor the end.
func TestSlowCallback(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	stuck, release := make(chan struct{}), make(chan struct{})
	slow := subscribe(t, c, uaclient.SubscriptionConfig{Interval: 10 * time.Millisecond, Queue: 2, OnData: func(*uaclient.DataNotification) {
		select {
		case stuck <- struct{}{}:
		default:
		}
		<-release
	}})
	fast := subscribe(t, c, h.config())
	for _, s := range []*uaclient.Subscription{slow, fast} {
		if _, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "speed", Queue: 100}); err != nil {
			t.Fatal(err)
		}
	}
	<-stuck
	for i := range 20 {
		r.speed.Set(ua.Double(float64(i)))
		h.waitFor(t, fmt.Sprintf("speed=%d", i))
	}
	begin := time.Now()
	if err := slow.Close(ctx); err != nil || time.Since(begin) > 2*time.Second {
		t.Error(err, time.Since(begin))
	}
	if _, err := c.ReadValue(ctx, r.speed.ID()); err != nil {
		t.Error(err)
	}
	close(release)
	<-slow.Done()
}

// What does not fit the queue is fetched again, in order.
func TestQueueOfMessages(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	config := h.config()
	entered, goOn := make(chan struct{}, 1), make(chan struct{})
	deliver := config.OnData
	var once sync.Once
	again := 0
	config.Interval, config.Queue = 10*time.Millisecond, 3
	config.OnData = func(n *uaclient.DataNotification) {
		once.Do(func() {
			entered <- struct{}{}
			<-goOn
		})
		if n.Republished {
			again++
		}
		deliver(n)
	}
	s := subscribe(t, c, config)
	if _, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "v", Sampling: uaclient.FastestSampling}); err != nil {
		t.Fatal(err)
	}
	<-entered
	want := []string{"v=1.5"}
	for i := range 20 {
		before := r.PublishStats().Retained
		r.speed.Set(ua.Double(float64(i)))
		want = append(want, fmt.Sprintf("v=%d", i))
		for deadline := time.Now().Add(5 * time.Second); i >= 4 && r.PublishStats().Retained == before && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(15 * time.Millisecond)
	}
	close(goOn)
	h.waitFor(t, "v=19")
	if got := h.all(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	s.Close(ctx)
	<-s.Done()
	if again < 10 {
		t.Errorf("%d messages were asked for again", again)
	}
}

func TestSubscriptionConfigIsChecked(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	for _, bad := range []uaclient.SubscriptionConfig{{Interval: -1}, {Queue: -1}, {KeepAliveCount: 10, LifetimeCount: 29}} {
		if _, err := c.Subscribe(ctx, bad); !errors.Is(err, ua.BadInvalidArgument) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	s := subscribe(t, c, uaclient.SubscriptionConfig{})
	if _, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Mode: 7}); !errors.Is(err, ua.BadMonitoringModeInvalid) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.Subscribe(ended, uaclient.SubscriptionConfig{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// U16: keep-alives announce the next sequence number and do not use it.
func TestKeepAliveNumbers(t *testing.T) {
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	made, err := c.CreateSubscription(ctx, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 10, RequestedLifetimeCount: 10000, RequestedMaxKeepAliveCount: 2, PublishingEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateMonitoredItems(ctx, &ua.CreateMonitoredItemsRequest{SubscriptionID: made.SubscriptionID, ItemsToCreate: []ua.MonitoredItemCreateRequest{{
		ItemToMonitor: ua.ReadValueID{NodeID: r.speed.ID(), AttributeID: uint32(ua.AttributeValue)}, MonitoringMode: ua.MonitoringModeReporting,
	}}}); err != nil {
		t.Fatal(err)
	}
	var numbers []uint32
	var data []bool
	for i := range 5 {
		if i == 4 {
			r.speed.Set(ua.Double(77))
		}
		p, err := c.Publish(ctx, &ua.PublishRequest{})
		if err != nil {
			t.Fatal(err)
		}
		numbers, data = append(numbers, p.NotificationMessage.SequenceNumber), append(data, len(p.NotificationMessage.NotificationData) > 0)
	}
	if !slices.Equal(numbers, []uint32{1, 2, 2, 2, 2}) || !slices.Equal(data, []bool{true, false, false, false, true}) {
		t.Errorf("numbers %v, with data %v", numbers, data)
	}
}

// Whatever happens to a message, its memory comes back: delivered, dropped for want of room, asked for again, left in
// the queue of a subscription that is closed, of nobody.
func TestNotificationMemory(t *testing.T) {
	outstanding := func() uint64 {
		s := subs.SharedPools().Stats()
		return uint64(s.Data.Outstanding()) + uint64(s.Events.Outstanding()) + uint64(s.Messages.Outstanding())
	}
	before := outstanding()
	r := startServer(t, nil)
	c, ctx := r.dial(t, r.config(t)), t.Context()
	h := newHeard()
	clauses, err := uaclient.EventFields(ua.NodeID{}, "Message")
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	for _, config := range []uaclient.SubscriptionConfig{h.config(), {Interval: 10 * time.Millisecond, Queue: 2, OnData: func(*uaclient.DataNotification) { <-release }}} {
		s := subscribe(t, c, config)
		if _, err := s.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID(), Data: "v", Queue: 10, Sampling: uaclient.FastestSampling},
			uaclient.ItemConfig{Node: ua.ID(uaid.Server), Data: "e", Filter: &ua.EventFilter{SelectClauses: clauses}}); err != nil {
			t.Fatal(err)
		}
	}
	other := r.dial(t, r.config(t)) // whose connection is cut with everything on its way
	lost := subscribe(t, other, uaclient.SubscriptionConfig{Interval: 10 * time.Millisecond})
	if _, err := lost.Add(ctx, uaclient.ItemConfig{Node: r.speed.ID()}); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		r.speed.Set(ua.Double(float64(i)))
		r.Emit(uaserver.Event{Message: ua.Text("x")})
		h.waitFor(t, fmt.Sprintf("v=%d", i))
	}
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
	close(release)
	r.Close()
	<-lost.Done()
	for deadline := time.Now().Add(5 * time.Second); outstanding() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d are out, %d were before: %+v", outstanding(), before, subs.SharedPools().Stats())
		}
	}
}
