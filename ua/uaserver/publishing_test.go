package uaserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func TestKeepAlive(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe()
	p := c.next() // the first comes at once, to say that it runs
	if len(p.NotificationMessage.NotificationData) != 0 || p.NotificationMessage.SequenceNumber != 1 || p.SubscriptionID != sub {
		t.Errorf("first keep-alive: %+v", p)
	}
	id := c.publish()
	w.pass(900 * time.Millisecond)
	if c.Answered(id) {
		t.Error("a keep-alive before its time")
	}
	w.pass(200 * time.Millisecond)
	if p, err := c.answer(id); err != nil || len(p.NotificationMessage.NotificationData) != 0 || p.NotificationMessage.SequenceNumber != 1 {
		t.Errorf("keep-alive: %v, %+v", err, p)
	}
	c.monitor(sub, item(v.ID(), 1))
	if p := c.next(); p.NotificationMessage.SequenceNumber != 1 || len(changes(p)) != 1 || len(p.AvailableSequenceNumbers) != 1 {
		t.Errorf("first message: %+v", p)
	}
}

func TestLifetime(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	c := w.client()
	sub := c.subscribe(func(q *ua.CreateSubscriptionRequest) { q.RequestedMaxKeepAliveCount, q.RequestedLifetimeCount = 3, 100 })
	c.monitor(sub, item(v.ID(), 1))
	c.next()
	set(t, v, ua.Int32(2))
	w.pass(9 * time.Second)
	if st := w.s.PublishStats(); st.Subscriptions != 1 || st.Late == 0 {
		t.Errorf("within its life: %+v", st)
	}
	w.pass(2 * time.Second)
	if st := w.s.PublishStats(); st.Subscriptions != 0 || st.MonitoredItems != 0 || st.Retained != 0 {
		t.Errorf("after its life: %+v", st)
	}
	if p := c.next(); statusOf(p) != ua.BadTimeout || p.SubscriptionID != sub {
		t.Errorf("StatusChange: %+v", p)
	}
	_, err := c.answer(c.publish())
	wantStatus(t, "no more subscriptions", err, ua.BadNoSubscription)
}

func TestCancelAndTimeoutOfPublish(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	c.subscribe()
	c.next()
	a, b := c.publish(), c.publish()
	q, p := ua.CancelRequest{RequestHandle: c.Handle(b)}, ua.CancelResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil || p.CancelCount != 1 {
		t.Errorf("Cancel: %v, %d", err, p.CancelCount)
	}
	_, err := c.answer(b)
	wantStatus(t, "cancelled", err, ua.BadRequestCancelledByClient)
	if c.Answered(a) {
		t.Error("another was answered")
	}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil || p.CancelCount != 0 {
		t.Errorf("again: %v, %d", err, p.CancelCount)
	}
	hinted := ua.PublishRequest{}
	hinted.RequestHeader.TimeoutHint = 300
	h := c.Send(&hinted.RequestHeader, &hinted)
	w.pass(700 * time.Millisecond)
	if c.Answered(h) {
		t.Error("answered before its time")
	}
	w.pass(200 * time.Millisecond)
	_, err = c.answer(h)
	wantStatus(t, "TimeoutHint", err, ua.BadTimeout)
	c.next() // the first, which has no hint, has the next keep-alive
}

func TestTooManyPublishRequests(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) { c.Limits.MaxPublishRequests = 3 })
	c := w.client()
	_, err := c.answer(c.publish())
	wantStatus(t, "without a subscription", err, ua.BadNoSubscription)
	c.subscribe()
	c.next()
	var ids []uint32
	for range 5 {
		ids = append(ids, c.publish())
	}
	for i, id := range ids {
		if got := c.Answered(id); got != (i < 2) {
			t.Errorf("request %d of 5 answered: %v", i, got)
		}
	}
	for _, id := range ids[:2] {
		_, err := c.answer(id)
		wantStatus(t, "the oldest", err, ua.BadTooManyPublishRequests)
	}
}

// Sessions that end, however they do: parked requests are answered, subscriptions deleted or kept.
func TestEndOfSession(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) {
		c.Users, c.AllowPlainPasswords = map[string]string{"ada": "a"}, true
	})
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	leave := func(c *subscriber, deleteSubscriptions bool) {
		id := c.publish()
		q := ua.CloseSessionRequest{DeleteSubscriptions: deleteSubscriptions}
		if err := c.Call(&q.RequestHeader, &q, &ua.CloseSessionResponse{}); err != nil {
			t.Fatal(err)
		}
		_, err := c.answer(id)
		wantStatus(t, "parked", err, ua.BadSessionClosed)
	}
	c := w.clientOf("ada", "a")
	c.monitor(c.subscribe(), item(v.ID(), 1))
	c.next()
	leave(c, true)
	if st := w.s.PublishStats(); st.Subscriptions != 0 || st.MonitoredItems != 0 || st.Retained != 0 {
		t.Errorf("with DeleteSubscriptions: %+v", st)
	}

	c = w.clientOf("ada", "a")
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1))
	c.next()
	leave(c, false)
	set(t, v, ua.Int32(2))
	d := w.clientOf("ada", "a")
	if r := d.transfer(false, sub); r[0].StatusCode != ua.Good {
		t.Errorf("transfer: %+v", r)
	}
	wantValues(t, "nothing lost", changes(d.next()), 1, int32(2))

	// A session that times out leaves its subscription for a while.
	d.publish()
	w.clock.Add(2 * time.Minute)
	w.s.Sweep()
	if st := w.s.PublishStats(); st.Subscriptions != 1 || w.s.Stats().Sessions != 0 {
		t.Errorf("after the time-out: %+v", st)
	}
	w.pass(11 * time.Second)
	if st := w.s.PublishStats(); st.Subscriptions != 0 {
		t.Errorf("after the lifetime: %+v", st)
	}
}

func (c *subscriber) transfer(sendInitialValues bool, subs ...uint32) []ua.TransferResult {
	c.w.t.Helper()
	q, p := ua.TransferSubscriptionsRequest{SubscriptionIDs: subs, SendInitialValues: sendInitialValues}, ua.TransferSubscriptionsResponse{}
	if err := c.Call(&q.RequestHeader, &q, &p); err != nil {
		c.w.t.Fatal(err)
	}
	return p.Results
}

func TestTransfers(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) {
		c.Users, c.AllowAnonymous, c.AllowPlainPasswords = map[string]string{"ada": "a", "bob": "b"}, true, true
	})
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1))
	ada, again, bob := w.clientOf("ada", "a"), w.clientOf("ada", "a"), w.clientOf("bob", "b")
	nobody, other := w.client(), w.client()
	sub, free := ada.subscribe(), nobody.subscribe()
	ada.monitor(sub, item(v.ID(), 1))
	first := ada.next()
	statuses := func(r []ua.TransferResult) (list []ua.StatusCode) {
		for _, x := range r {
			list = append(list, x.StatusCode)
		}
		return list
	}
	wantStatuses(t, "own", statuses(ada.transfer(false, sub, sub+1000, free)), ua.BadNothingToDo, ua.BadSubscriptionIdInvalid, ua.BadUserAccessDenied)
	wantStatuses(t, "other user", statuses(bob.transfer(true, sub)), ua.BadUserAccessDenied)
	wantStatuses(t, "anonymous", statuses(other.transfer(false, sub, free)), ua.BadUserAccessDenied, ua.BadUserAccessDenied)
	set(t, v, ua.Int32(2))
	wantValues(t, "nothing disturbed", changes(ada.next()), 1, int32(2))
	waits := ada.publish()
	r := again.transfer(true, sub)
	if r[0].StatusCode != ua.Good || len(r[0].AvailableSequenceNumbers) != 2 {
		t.Errorf("transfer: %+v", r)
	}
	if p, err := ada.answer(waits); err != nil || statusOf(p) != ua.GoodSubscriptionTransferred || p.SubscriptionID != sub {
		t.Errorf("the old session is told: %v, %+v", err, p)
	}
	p := again.next(ua.SubscriptionAcknowledgement{SubscriptionID: sub, SequenceNumber: first.NotificationMessage.SequenceNumber})
	wantValues(t, "initial values", changes(p), 1, int32(2))
	wantStatuses(t, "acknowledged by the new one", p.Results, ua.Good)
	wantStatus(t, "the old one has it no more", ada.republish(sub, 2, nil), ua.BadSubscriptionIdInvalid)
	var m ua.RepublishResponse
	wantStatus(t, "Republish after the transfer", again.republish(sub, 2, &m), ua.Good)
	wantStatuses(t, "delete", ada.deleteSubscriptions(sub), ua.BadSubscriptionIdInvalid)
}

// What is read for a session is read for the next one after a transfer.
func TestTransferOfGuardedItems(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) {
		c.Users, c.AllowPlainPasswords = map[string]string{"ada": "a"}, true
	})
	var asks *uaserver.SessionInfo
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(1), memspace.Allow(func(s *uaserver.SessionInfo, _ ua.PermissionType) bool {
		asks = s
		return true
	}))
	c, d := w.clientOf("ada", "a"), w.clientOf("ada", "a")
	sub := c.subscribe()
	ids := c.monitor(sub, item(v.ID(), 1, sampling(50)))
	c.next()
	before := asks.ID
	if r := d.transfer(false, sub); r[0].StatusCode != ua.Good {
		t.Fatal(r)
	}
	q := ua.CloseSessionRequest{DeleteSubscriptions: true}
	if err := c.Call(&q.RequestHeader, &q, &ua.CloseSessionResponse{}); err != nil {
		t.Fatal(err)
	}
	set(t, v, ua.Int32(2))
	wantValues(t, "goes on", changes(d.next()), 1, int32(2))
	if asks.ID == before {
		t.Error("the node is read for the session that is gone")
	}
	if r := d.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0], RequestedParameters: ua.MonitoringParameters{SamplingInterval: 100}}); r[0].StatusCode != ua.Good {
		t.Errorf("modify: %+v", r)
	}
	d.deleteSubscriptions(sub)
	w.pass(time.Second)
	if w.s.RunDue() >= 0 {
		t.Error("something is still read")
	}
}

func (c *subscriber) republish(sub, number uint32, p *ua.RepublishResponse) error {
	c.w.t.Helper()
	q := ua.RepublishRequest{SubscriptionID: sub, RetransmitSequenceNumber: number}
	if p == nil {
		p = new(ua.RepublishResponse)
	}
	return c.Call(&q.RequestHeader, &q, p)
}

// A connection that is cut with requests parked loses no message: after the activation on another channel
// what was sent meanwhile is there for Republish, the rest comes.
func TestCutAndRepublish(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1))
	c.next()
	lost := c.publish()
	set(t, v, ua.Int32(1))
	w.pass(200 * time.Millisecond) // this message goes out, and the client does not get it
	if !c.Answered(lost) {
		t.Fatal("no message")
	}
	c.publish()
	c.Cut()
	set(t, v, ua.Int32(2)) // nobody is there
	w.pass(500 * time.Millisecond)
	w.n++
	d := &subscriber{FakeClient: w.s.NewFakeClient(t, w.n), w: w}
	if err := d.TakeOver(c.FakeClient); err != nil {
		t.Fatal(err)
	}
	d.FakeClient = d.FakeClient.Of(c.FakeClient)
	var p ua.RepublishResponse
	wantStatus(t, "Republish 2", d.republish(sub, 2, &p), ua.Good)
	n, _ := p.NotificationMessage.NotificationData[0].Value.(*ua.DataChangeNotification)
	wantValues(t, "republished", n.MonitoredItems, 1, int32(1))
	wantStatus(t, "Republish 3", d.republish(sub, 3, nil), ua.BadMessageNotAvailable)
	m := d.next(ua.SubscriptionAcknowledgement{SubscriptionID: sub, SequenceNumber: 2})
	wantValues(t, "what came meanwhile", changes(m), 1, int32(2))
	if m.NotificationMessage.SequenceNumber != 3 || len(m.Results) != 1 || m.Results[0] != ua.Good {
		t.Errorf("next: %+v", m)
	}
	wantStatus(t, "acknowledged", d.republish(sub, 2, nil), ua.BadMessageNotAvailable)
	id := c.publish()
	_, err := c.answer(id)
	wantStatus(t, "Publish on the old channel", err, ua.BadSecureChannelIdInvalid)
}

// A session that moves while requests wait on the old channel answers them there.
func TestMoveWithParkedRequests(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	c.subscribe()
	c.next()
	id := c.publish()
	w.n++
	d := w.s.NewFakeClient(t, w.n)
	if err := d.TakeOver(c.FakeClient); err != nil {
		t.Fatal(err)
	}
	_, err := c.answer(id)
	wantStatus(t, "parked on the old channel", err, ua.BadSecureChannelIdInvalid)
}

func TestShutdownAnswersParkedRequests(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	c.subscribe()
	c.next()
	id := c.publish()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	_, err := c.answer(id)
	wantStatus(t, "parked", err, ua.BadServerHalted)
}

// Clients that do not do their part: what is kept for them is bounded, and goes when they do.
func TestCarelessClients(t *testing.T) {
	w := newWorld(t, func(c *uaserver.Config) { c.Limits.MaxRetransmissionQueue = 5 })
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	never := w.client() // acknowledges nothing
	sub := never.subscribe()
	never.monitor(sub, item(v.ID(), 1))
	var last *ua.PublishResponse
	for i := range int32(20) {
		set(t, v, ua.Int32(i+1))
		last = never.next()
	}
	st := w.s.PublishStats()
	if len(last.AvailableSequenceNumbers) != 5 || last.AvailableSequenceNumbers[0] != last.NotificationMessage.SequenceNumber-4 || st.Retained != 5 || st.Discarded != 15 {
		t.Errorf("%+v, available %v", st, last.AvailableSequenceNumbers)
	}
	silent := w.client() // publishes never
	other := silent.subscribe()
	silent.monitor(other, item(v.ID(), 1, func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 1 << 30 }))
	for i := range int32(5000) {
		set(t, v, ua.Int32(i))
		if i%100 == 0 {
			w.pass(100 * time.Millisecond)
		}
	}
	if got := changes(silent.next()); len(got) != 1000 {
		t.Errorf("%d values were kept, the limit is 1000", len(got))
	}
	w.pass(30 * time.Second) // both vanish
	if st := w.s.PublishStats(); st.Subscriptions != 0 || st.MonitoredItems != 0 || st.MessagesHeld != w.held {
		t.Errorf("still there: %+v", st)
	}
}

// A large request that waits holds no room from others.
func TestParkedRequestHoldsNoRoom(t *testing.T) {
	w := newWorld(t, nil)
	c := w.client()
	c.subscribe()
	c.next()
	q := ua.PublishRequest{}
	q.RequestHeader.AuditEntryID = string(make([]byte, 200_000))
	id := c.Send(&q.RequestHeader, &q)
	if c.Answered(id) || w.s.RoomTaken() != 0 {
		t.Errorf("answered %v, %d bytes", c.Answered(id), w.s.RoomTaken())
	}
	acks := make([]ua.SubscriptionAcknowledgement, 10_001)
	_, err := c.answer(c.publish(acks...))
	wantStatus(t, "acknowledgements", err, ua.BadTooManyOperations)
}

// A message that the client cannot take is told it, and stays for Republish.
func TestMessageTooLarge(t *testing.T) {
	w := newWorld(t, nil)
	v := w.space.AddVariable(w.space.Objects(), "V", ua.String(string(make([]byte, 10_000))))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1))
	c.Limit(5000)
	id := c.publish()
	w.pass(200 * time.Millisecond)
	_, err := c.answer(id)
	wantStatus(t, "Publish", err, ua.BadResponseTooLarge)
	wantStatus(t, "Republish", c.republish(sub, 1, nil), ua.BadResponseTooLarge)
	c.Limit(0)
	wantStatus(t, "Republish", c.republish(sub, 1, nil), ua.Good)
}
