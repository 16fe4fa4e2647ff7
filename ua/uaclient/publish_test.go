package uaclient_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/uaclient"
)

// publishing is a stub whose Publish answers the test sends. It gives client handle 1 the values.
type publishing struct {
	*stub
	mu      sync.Mutex
	parked  []parkedPublish
	arrived chan struct{}
	most    int // parked; more: the oldest is refused
	acks    []ua.SubscriptionAcknowledgement
	asked   []uint32 // numbers of Republish
	kept    map[uint32]ua.StatusCode
	lastID  uint32
	deleted []uint32
}

type parkedPublish struct {
	conn *tcp.ServerConn
	id   uint32
	req  *ua.PublishRequest
}

func newPublishing(t *testing.T) *publishing {
	p := &publishing{arrived: make(chan struct{}, 10000), kept: map[uint32]ua.StatusCode{}}
	p.stub = newStub(t, p.services)
	p.hold = p.park
	return p
}

func (p *publishing) services(req ua.Structure) ua.Structure {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch req := req.(type) {
	case *ua.CreateSubscriptionRequest:
		p.lastID++
		return &ua.CreateSubscriptionResponse{SubscriptionID: p.lastID, RevisedPublishingInterval: req.RequestedPublishingInterval,
			RevisedLifetimeCount: req.RequestedLifetimeCount, RevisedMaxKeepAliveCount: req.RequestedMaxKeepAliveCount}
	case *ua.CreateMonitoredItemsRequest:
		resp := &ua.CreateMonitoredItemsResponse{}
		for _, i := range req.ItemsToCreate {
			resp.Results = append(resp.Results, ua.MonitoredItemCreateResult{MonitoredItemID: 100 + i.RequestedParameters.ClientHandle})
		}
		return resp
	case *ua.DeleteSubscriptionsRequest:
		p.deleted = append(p.deleted, req.SubscriptionIDs...)
		return &ua.DeleteSubscriptionsResponse{Results: make([]ua.StatusCode, len(req.SubscriptionIDs))}
	case *ua.RepublishRequest:
		p.asked = append(p.asked, req.RetransmitSequenceNumber)
		if status := p.kept[req.RetransmitSequenceNumber]; status != ua.Good {
			return fault(status)
		}
		return &ua.RepublishResponse{NotificationMessage: valueMessage(req.RetransmitSequenceNumber)}
	}
	return nil
}

// park takes Publish requests.
func (p *publishing) park(c *tcp.ServerConn, id uint32, req ua.Structure) bool {
	r, ok := req.(*ua.PublishRequest)
	if !ok {
		return false
	}
	p.mu.Lock()
	p.acks = append(p.acks, r.SubscriptionAcknowledgements...)
	p.parked = append(p.parked, parkedPublish{c, id, r})
	var refused []parkedPublish
	for p.most > 0 && len(p.parked) > p.most {
		refused = append(refused, p.parked[0])
		p.parked = p.parked[1:]
	}
	p.mu.Unlock()
	for _, x := range refused {
		p.send(x.conn, x.id, x.req, fault(ua.BadTooManyPublishRequests))
	}
	p.arrived <- struct{}{}
	return true
}

// reply answers the oldest Publish request, once there is one.
func (p *publishing) reply(resp ua.Structure) {
	p.t.Helper()
	for deadline := time.After(5 * time.Second); ; {
		p.mu.Lock()
		if len(p.parked) > 0 {
			x := p.parked[0]
			p.parked = p.parked[1:]
			p.mu.Unlock()
			p.send(x.conn, x.id, x.req, resp)
			return
		}
		p.mu.Unlock()
		select {
		case <-p.arrived:
		case <-deadline:
			p.t.Fatal("no Publish request came")
		}
	}
}

// settle waits until a number of requests is parked, and for nothing more to come.
func (p *publishing) settle(want int) {
	p.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		n := len(p.parked)
		p.mu.Unlock()
		if n == want {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%d requests are parked, want %d", n, want)
		}
	}
}

func (p *publishing) acknowledged() (list []uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.acks {
		list = append(list, a.SequenceNumber)
	}
	return list
}

// valueMessage is message n; its value is n.
func valueMessage(n uint32) ua.NotificationMessage {
	return ua.NotificationMessage{SequenceNumber: n, PublishTime: ua.Now(), NotificationData: []ua.ExtensionObject{
		ua.NewExtensionObject(&ua.DataChangeNotification{MonitoredItems: []ua.MonitoredItemNotification{{ClientHandle: 1, Value: ua.DataValue{Value: ua.UInt32(n)}}}}),
	}}
}

// value is a response with message n.
func value(n uint32, available ...uint32) *ua.PublishResponse {
	return &ua.PublishResponse{SubscriptionID: 1, AvailableSequenceNumbers: available, NotificationMessage: valueMessage(n)}
}

func keepAlive(next uint32, available ...uint32) *ua.PublishResponse {
	return &ua.PublishResponse{SubscriptionID: 1, AvailableSequenceNumbers: available, NotificationMessage: ua.NotificationMessage{SequenceNumber: next, PublishTime: ua.Now()}}
}

func statusChange(n uint32, status ua.StatusCode) *ua.PublishResponse {
	r := keepAlive(n)
	r.NotificationMessage.NotificationData = []ua.ExtensionObject{ua.NewExtensionObject(&ua.StatusChangeNotification{Status: status})}
	return r
}

// start subscribes with one item, of client handle 1.
func (p *publishing) start(config uaclient.SubscriptionConfig) (*uaclient.Client, *uaclient.Subscription) {
	p.t.Helper()
	c := p.dial(nil)
	s := subscribe(p.t, c, config)
	if items, err := s.Add(p.t.Context(), uaclient.ItemConfig{Node: ua.NewNodeID(1, 1), Data: "v"}); err != nil || items[0].ClientHandle() != 1 || items[0].ID() != 101 {
		p.t.Fatal(items, err)
	}
	return c, s
}

// U01: bad results of acknowledgements are no errors of the notification.
func TestAcknowledgementResults(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	p.start(h.config())
	p.reply(value(1, 1))
	bad := value(2, 2)
	bad.Results = []ua.StatusCode{ua.BadSequenceNumberUnknown, ua.BadSubscriptionIdInvalid, ua.Good}
	p.reply(bad)
	p.reply(value(3, 3))
	h.waitFor(t, "v=3")
	if got := h.all(); !slices.Equal(got, []string{"v=1", "v=2", "v=3"}) {
		t.Errorf("%q", got)
	}
	p.settle(2)
	if got := p.acknowledged(); !slices.Equal(got, []uint32{1, 2, 3}) {
		t.Errorf("acknowledged %v", got)
	}
}

// U03: what is missing is asked for once, if the server has it; later messages go on in any case, and a gap
// is told of where it is.
func TestGaps(t *testing.T) {
	for _, x := range []struct {
		name  string
		kept  map[uint32]ua.StatusCode
		send  []*ua.PublishResponse
		asked []uint32
		want  []string
	}{
		{"none", nil, []*ua.PublishResponse{value(1, 1), keepAlive(2), keepAlive(2), value(2, 2)}, nil, []string{"v=1", "v=2"}},
		{"available", nil, []*ua.PublishResponse{value(1, 1), value(4, 2, 3, 4), value(5, 5)}, []uint32{2, 3}, []string{"v=1", "v=2", "v=3", "v=4", "v=5"}},
		{"not available", nil, []*ua.PublishResponse{value(1, 1), value(4, 4), value(5, 5)}, nil, []string{"v=1", "gap 2-3", "v=4", "v=5"}},
		{"one of three", nil, []*ua.PublishResponse{value(1, 1), value(5, 3, 5)}, []uint32{3}, []string{"v=1", "gap 2-2", "v=3", "gap 4-4", "v=5"}},
		{"gone meanwhile", map[uint32]ua.StatusCode{2: ua.BadMessageNotAvailable, 3: ua.BadMessageNotAvailable},
			[]*ua.PublishResponse{value(1, 1), value(4, 2, 3, 4), value(5, 2, 3, 5), keepAlive(6, 2, 3)}, []uint32{2, 3}, []string{"v=1", "gap 2-3", "v=4", "v=5"}},
		{"before a keep-alive", nil, []*ua.PublishResponse{value(1, 1), keepAlive(4, 2, 3), value(4, 4)}, []uint32{2, 3}, []string{"v=1", "v=2", "v=3", "v=4"}},
		{"lost before a keep-alive", nil, []*ua.PublishResponse{value(1, 1), keepAlive(3), value(3, 3)}, nil, []string{"v=1", "gap 2-2", "v=3"}},
		{"before the first", nil, []*ua.PublishResponse{value(3, 1, 2, 3), value(4, 4)}, []uint32{1, 2}, []string{"v=1", "v=2", "v=3", "v=4"}},
		{"numbers from elsewhere", nil, []*ua.PublishResponse{value(1000, 1000), value(1001, 1001)}, nil, []string{"v=1000", "v=1001"}},
		{"out of order", nil, []*ua.PublishResponse{value(1, 1), value(3, 2, 3), value(2, 2, 3), value(4, 4)}, nil, []string{"v=1", "v=2", "v=3", "v=4"}},
		{"twice", nil, []*ua.PublishResponse{value(1, 1), value(2, 2), value(1, 1, 2), value(2, 2), value(3, 3)}, nil, []string{"v=1", "v=2", "v=3"}},
		{"around", nil, []*ua.PublishResponse{value(1<<32-2, 1), value(1<<32-1, 1), value(1, 1), value(3, 2, 3)}, []uint32{2},
			[]string{"v=4294967294", "v=4294967295", "v=1", "v=2", "v=3"}},
		{"a long way", nil, []*ua.PublishResponse{value(1, 1), value(2_000_000_000), value(2_000_000_001)}, nil,
			[]string{"v=1", "gap 2-1999999999", "v=2000000000", "v=2000000001"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p, h := newPublishing(t), newHeard()
			if x.kept != nil {
				p.kept = x.kept
			}
			_, s := p.start(h.config())
			for _, r := range x.send {
				p.reply(r)
			}
			h.wait(t, "all", func(l []string) bool { return len(l) >= len(x.want) })
			p.settle(2)
			s.Close(t.Context())
			<-s.Done()
			if got := h.all(); !slices.Equal(got, x.want) {
				t.Errorf("heard %q, want %q", got, x.want)
			}
			if x.name != "out of order" && !slices.Equal(p.asked, x.asked) {
				t.Errorf("asked for %v, want %v", p.asked, x.asked)
			}
		})
	}
}

// U13: a server that takes two requests has two, all its subscriptions live, and nothing is asked for again
// and again.
func TestTooManyPublishRequests(t *testing.T) {
	p := newPublishing(t)
	p.most = 2
	var log lockedBuffer
	c := p.dial(&uaclient.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	var all []*heard
	for range 20 {
		h := newHeard()
		all = append(all, h)
		s := subscribe(t, c, h.config())
		if _, err := s.Add(t.Context(), uaclient.ItemConfig{Node: ua.NewNodeID(1, 1), Data: "v"}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint32(3) {
		for i := range all {
			r := value(n+1, n+1)
			r.SubscriptionID = uint32(i + 1)
			p.reply(r)
		}
	}
	for _, h := range all {
		h.waitFor(t, "v=3")
		if got := h.all(); len(got) != 3 {
			t.Errorf("%q", got)
		}
	}
	p.settle(2)
	if n := p.count("PublishRequest"); n < 62 || n > 62+20 {
		t.Errorf("%d Publish requests for 60 messages", n)
	}
	if got := p.acknowledged(); len(got) < 60 {
		t.Errorf("%d acknowledgements", len(got))
	}
	if text := log.String(); strings.Count(text, "fewer Publish requests") != 1 {
		t.Errorf("logged: %s", text)
	}
}

// lockedBuffer collects what is written while a test may read it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Acknowledgements of a request that failed are given again if the server still has the message, and not
// otherwise (U02).
func TestAcknowledgementsOfFailedRequests(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	_, s := p.start(h.config())
	p.reply(value(1, 1))
	p.reply(value(2, 1, 2))
	h.waitFor(t, "v=2")
	p.settle(2) // they have the acknowledgements of 1 and 2
	p.reply(fault(ua.BadInternalError))
	p.reply(fault(ua.BadInternalError))
	p.settle(2)
	p.reply(value(3, 2, 3)) // 1 was acknowledged well
	h.waitFor(t, "v=3")
	p.settle(2)
	if got := p.acknowledged(); len(got) != 4 || got[2] != 2 || got[3] != 3 {
		t.Errorf("acknowledged %v", got)
	}
	p.reply(value(4, 4))
	h.waitFor(t, "v=4")
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-s.Done()
}

// The server ends a subscription, loses all of them (U27), or the session.
func TestServerEndsSubscription(t *testing.T) {
	for _, x := range []struct {
		name string
		send []ua.Structure
		want []string
	}{
		{"lifetime", []ua.Structure{value(1, 1), statusChange(2, ua.BadTimeout)}, []string{"v=1", "ended BadTimeout"}},
		{"transferred, with another number", []ua.Structure{value(1, 1), statusChange(9, ua.GoodSubscriptionTransferred), fault(ua.BadNoSubscription)}, []string{"v=1", "ended GoodSubscriptionTransferred"}},
		{"another status", []ua.Structure{statusChange(1, ua.GoodOverload), value(2, 2), statusChange(3, ua.BadTimeout)}, []string{"changed GoodOverload", "v=2", "ended BadTimeout"}},
		{"forgotten", []ua.Structure{value(1, 1), fault(ua.BadNoSubscription)}, []string{"v=1", "ended BadNoSubscription"}},
		{"session gone", []ua.Structure{value(1, 1), fault(ua.BadSessionIdInvalid)}, []string{"v=1", "ended BadSessionIdInvalid"}},
		{"without Publish", []ua.Structure{fault(ua.BadServiceUnsupported)}, []string{"ended BadServiceUnsupported"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p, h := newPublishing(t), newHeard()
			_, s := p.start(h.config())
			for _, r := range x.send {
				p.reply(r)
			}
			<-s.Done()
			if got := h.all(); !slices.Equal(got, x.want) || s.Err() == nil {
				t.Errorf("heard %q, want %q", got, x.want)
			}
			if x.want[len(x.want)-1] == "ended BadTimeout" && p.count("DeleteSubscriptionsRequest") != 0 {
				t.Error("deleted although it is gone")
			}
		})
	}
}

// A busy server is asked again after a while, not at once.
func TestPublishBacksOff(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	p.start(h.config())
	p.settle(2)
	begin, n := time.Now(), p.count("PublishRequest")
	for range 3 {
		p.reply(fault(ua.BadServerTooBusy))
	}
	if d := time.Since(begin); d < 90*time.Millisecond || p.count("PublishRequest")-n > 6 {
		t.Errorf("%d requests in %v", p.count("PublishRequest")-n, d)
	}
	p.reply(value(1, 1))
	h.waitFor(t, "v=1")
}

// Silence is told of, and its end.
func TestSilence(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	config := h.config()
	config.KeepAliveCount = 1
	p.start(config)
	h.waitFor(t, "silent")
	p.reply(keepAlive(1))
	h.waitFor(t, "resumed")
	p.reply(value(1, 1))
	h.waitFor(t, "v=1")
	if got := h.all(); !slices.Equal(got, []string{"silent", "resumed", "v=1"}) {
		t.Errorf("%q", got)
	}
}

// A subscription that is made when nobody waits for it any more is deleted again.
func TestLateSubscription(t *testing.T) {
	p := newPublishing(t)
	c := p.dial(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var held []parkedPublish
	var reqs []ua.Structure
	got := make(chan struct{})
	p.set(func() {
		p.hold = func(conn *tcp.ServerConn, id uint32, req ua.Structure) bool {
			if _, ok := req.(*ua.CreateSubscriptionRequest); ok {
				held, reqs = append(held, parkedPublish{conn: conn, id: id}), append(reqs, req)
				close(got)
				return true
			}
			return p.park(conn, id, req)
		}
	})
	if _, err := c.Subscribe(ctx, uaclient.SubscriptionConfig{}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ua.BadTimeout) {
		t.Error(err)
	}
	<-got
	p.send(held[0].conn, held[0].id, reqs[0], p.services(reqs[0]))
	for deadline := time.Now().Add(5 * time.Second); p.count("DeleteSubscriptionsRequest") == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the late subscription was not deleted")
		}
	}
	if n := p.count("PublishRequest"); n != 0 {
		t.Errorf("%d Publish requests", n)
	}
}

// A message that cannot be read, and one of nobody's subscription, cost nothing else.
func TestOddMessages(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	p.start(h.config())
	foreign := value(1, 1)
	foreign.SubscriptionID = 77
	p.reply(foreign)
	odd := value(1, 1)
	odd.NotificationMessage.NotificationData = append(odd.NotificationMessage.NotificationData,
		ua.ExtensionObject{TypeID: ua.NewNodeID(5, 1), Encoding: ua.BodyBinary, Body: []byte{1, 2, 3}},
		ua.NewExtensionObject(&ua.DataChangeNotification{MonitoredItems: []ua.MonitoredItemNotification{{ClientHandle: 99}, {ClientHandle: 1, Value: ua.DataValue{Value: ua.String("x")}}}}),
		ua.ExtensionObject{TypeID: (*ua.DataChangeNotification)(nil).BinaryID().NodeID, Encoding: ua.BodyBinary, Body: []byte{9, 0, 0, 0}},
		ua.ExtensionObject{TypeID: (*ua.DataChangeNotification)(nil).BinaryID().NodeID, Encoding: ua.BodyBinary, Body: []byte{1, 0, 0, 0}})
	p.reply(odd)
	p.reply(value(2, 2))
	h.waitFor(t, "v=2")
	if got := h.all(); !slices.Equal(got, []string{"v=1", `v="x"`, "v=2"}) {
		t.Errorf("%q", got)
	}
}

// A message that exceeds the limits is asked for once more, and is a gap if that does not help.
func TestMessageThatIsTooLarge(t *testing.T) {
	p, h := newPublishing(t), newHeard()
	p.start(h.config())
	huge := value(2, 2)
	huge.NotificationMessage.NotificationData = []ua.ExtensionObject{
		{TypeID: (*ua.DataChangeNotification)(nil).BinaryID().NodeID, Encoding: ua.BodyBinary, Body: []byte{255, 255, 255, 127}}}
	p.reply(value(1, 1))
	p.reply(huge)
	p.reply(value(3, 2, 3))
	h.waitFor(t, "v=3")
	if got := h.all(); !slices.Equal(got, []string{"v=1", "v=2", "v=3"}) || !slices.Equal(p.asked, []uint32{2}) {
		t.Errorf("%q, asked for %v", got, p.asked)
	}
}
