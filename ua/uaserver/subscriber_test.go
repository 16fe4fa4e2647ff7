package uaserver_test

import (
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// world is a server on a memspace whose time passes when a test says so: what is due runs on the test's
// goroutine.
type world struct {
	t     testing.TB
	s     *uaserver.Server
	space *memspace.Space
	clock *uaserver.Clock
	held  int64 // messages that somebody else holds
	n     uint32
}

func newWorld(t testing.TB, change func(*uaserver.Config)) *world {
	t.Helper()
	w := &world{t: t, space: memspace.New("urn:test:plant"), clock: uaserver.NewClock()}
	cfg := uaserver.Config{Nodes: []uaserver.NodeManager{w.space}, Now: w.clock.Now,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if change != nil {
		change(&cfg)
	}
	w.held = int64(subs.SharedPools().Stats().Messages.Outstanding())
	var err error
	if w.s, err = uaserver.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.s.Close()
		w.empty()
	})
	return w
}

// empty checks that the server has given all back.
func (w *world) empty() {
	w.t.Helper()
	if st := w.s.PublishStats(); st.Subscriptions != 0 || st.MonitoredItems != 0 || st.Retained != 0 || st.MessagesHeld != w.held {
		w.t.Errorf("left behind: %+v, %d messages were held before", st, w.held)
	}
	if n, sampled := w.s.Monitored(); n != 0 || sampled {
		w.t.Errorf("left behind: %d notifiers and items, sampled %v", n, sampled)
	}
}

// pass lets time pass, with all that is due meanwhile.
func (w *world) pass(d time.Duration) {
	for end := d; ; {
		wait := w.s.RunDue()
		if wait < 0 || wait > end {
			w.clock.Add(end)
			w.s.RunDue()
			return
		}
		wait = max(wait, time.Millisecond)
		w.clock.Add(min(wait, end))
		if end -= wait; end <= 0 {
			w.s.RunDue()
			return
		}
	}
}

// subscriber is a client of a world.
type subscriber struct {
	uaserver.FakeClient
	w       *world
	pending []uint32
}

func (w *world) client() *subscriber { return w.clientOf("", "") }

func (w *world) clientOf(user, password string) *subscriber {
	w.t.Helper()
	w.n++
	return &subscriber{FakeClient: w.s.NewFakeClient(w.t, w.n).LogIn(user, password), w: w}
}

// subscribe makes a subscription: publishing every 100 ms, keep-alive after 10, lifetime 100.
func (c *subscriber) subscribe(change ...func(*ua.CreateSubscriptionRequest)) uint32 {
	c.w.t.Helper()
	q, p := ua.CreateSubscriptionRequest{RequestedPublishingInterval: 100, RequestedMaxKeepAliveCount: 10,
		RequestedLifetimeCount: 100, PublishingEnabled: true}, ua.CreateSubscriptionResponse{}
	for _, f := range change {
		f(&q)
	}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p.SubscriptionID
}

// item is a request for the value of a node, sampled as fast as it goes, queue of 10.
func item(id ua.NodeID, handle uint32, change ...func(*ua.MonitoredItemCreateRequest)) ua.MonitoredItemCreateRequest {
	r := ua.MonitoredItemCreateRequest{
		ItemToMonitor:       ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)},
		MonitoringMode:      ua.MonitoringModeReporting,
		RequestedParameters: ua.MonitoringParameters{ClientHandle: handle, QueueSize: 10, DiscardOldest: true},
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

func (c *subscriber) tryMonitor(sub uint32, items ...ua.MonitoredItemCreateRequest) ([]ua.MonitoredItemCreateResult, error) {
	q, p := ua.CreateMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: ua.TimestampsToReturnBoth, ItemsToCreate: items}, ua.CreateMonitoredItemsResponse{}
	err := c.Call(&q.RequestHeader, &q, &p)
	return p.Results, err
}

// monitor creates items that are all good, and returns their ids.
func (c *subscriber) monitor(sub uint32, items ...ua.MonitoredItemCreateRequest) (ids []uint32) {
	c.w.t.Helper()
	results, err := c.tryMonitor(sub, items...)
	if err != nil {
		c.w.t.Fatal(err)
	}
	for i, r := range results {
		if r.StatusCode != ua.Good {
			c.w.t.Fatalf("item %d: %v", i, r.StatusCode)
		}
		ids = append(ids, r.MonitoredItemID)
	}
	return ids
}

// publish parks a Publish request.
func (c *subscriber) publish(acks ...ua.SubscriptionAcknowledgement) uint32 {
	q := ua.PublishRequest{SubscriptionAcknowledgements: acks}
	id := c.Send(&q.RequestHeader, &q)
	c.pending = append(c.pending, id)
	return id
}

// answer is the answer to a Publish request.
func (c *subscriber) answer(id uint32) (*ua.PublishResponse, error) {
	c.w.t.Helper()
	p := new(ua.PublishResponse)
	return p, c.Receive(id, p)
}

// next is the next message: it sends a Publish request and lets time pass until it is answered.
func (c *subscriber) next(acks ...ua.SubscriptionAcknowledgement) *ua.PublishResponse {
	c.w.t.Helper()
	id := c.publish(acks...)
	for range 2000 {
		if c.Answered(id) {
			p, err := c.answer(id)
			if err != nil {
				c.w.t.Fatal(err)
			}
			return p
		}
		c.w.pass(10 * time.Millisecond)
	}
	c.w.t.Fatal("no message in 20 s")
	return nil
}

// changes are the data changes of a message.
func changes(p *ua.PublishResponse) (list []ua.MonitoredItemNotification) {
	for _, d := range p.NotificationMessage.NotificationData {
		if n, ok := d.Value.(*ua.DataChangeNotification); ok {
			list = append(list, n.MonitoredItems...)
		}
	}
	return list
}

// eventsOf are the events of a message.
func eventsOf(p *ua.PublishResponse) (list []ua.EventFieldList) {
	for _, d := range p.NotificationMessage.NotificationData {
		if n, ok := d.Value.(*ua.EventNotificationList); ok {
			list = append(list, n.Events...)
		}
	}
	return list
}

// statusOf is the status change of a message; Good if there is none.
func statusOf(p *ua.PublishResponse) ua.StatusCode {
	for _, d := range p.NotificationMessage.NotificationData {
		if n, ok := d.Value.(*ua.StatusChangeNotification); ok {
			return n.Status
		}
	}
	return ua.Good
}

// quiet checks that nothing is reported for a time, and takes the keep-alives that come.
func (c *subscriber) quiet(d time.Duration) {
	c.w.t.Helper()
	id := c.publish()
	for ; d > 0; d -= 10 * time.Millisecond {
		c.w.pass(10 * time.Millisecond)
		if c.Answered(id) {
			p, err := c.answer(id)
			if err != nil || len(p.NotificationMessage.NotificationData) > 0 {
				c.w.t.Errorf("nothing was to be reported: %v, %v %v", err, changes(p), eventsOf(p))
				return
			}
			id = c.publish()
		}
	}
	q, p := ua.CancelRequest{RequestHandle: c.Handle(id)}, ua.CancelResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil || p.CancelCount != 1 {
		c.w.t.Errorf("Cancel: %v, %d", err, p.CancelCount)
	}
	_, err := c.answer(id)
	wantStatus(c.w.t, "cancelled", err, ua.BadRequestCancelledByClient)
}

func wantStatus(t testing.TB, what string, err error, want ua.StatusCode) {
	t.Helper()
	if want == ua.Good && err == nil {
		return
	}
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// wantStatuses compares operation results.
func wantStatuses(t testing.TB, what string, got []ua.StatusCode, want ...ua.StatusCode) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}

// wantValues compares the values of data changes, all of one handle.
func wantValues[T any](t testing.TB, what string, got []ua.MonitoredItemNotification, handle uint32, want ...T) {
	t.Helper()
	list := []any{}
	for _, n := range got {
		if n.ClientHandle != handle {
			t.Errorf("%s: a value of handle %d", what, n.ClientHandle)
		}
		list = append(list, n.Value.Value.Any())
	}
	ok := len(list) == len(want)
	for i := range min(len(list), len(want)) {
		ok = ok && list[i] == any(want[i])
	}
	if !ok {
		t.Errorf("%s: got %v, want %v", what, list, want)
	}
}
