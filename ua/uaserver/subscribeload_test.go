package uaserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// plant is a server on a socket, with counters that all go up together.
type plant struct {
	t     testing.TB
	s     *uaserver.Server
	space *memspace.Space
	url   string
	nodes []*memspace.Variable
	count atomic.Int32
	got   ledger
}

// ledger is what the clients got: by subscription, message and item, the values.
type ledger struct {
	mu   sync.Mutex
	subs map[uint32]map[uint32][]ua.MonitoredItemNotification
}

func (l *ledger) enter(p *ua.PublishResponse) {
	list := changes(p)
	if len(list) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.subs[p.SubscriptionID] == nil {
		l.subs[p.SubscriptionID] = map[uint32][]ua.MonitoredItemNotification{}
	}
	l.subs[p.SubscriptionID][p.NotificationMessage.SequenceNumber] = list
}

// complete reports whether all items have had the last value.
func (l *ledger) complete(ids []uint32, last int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		newest := [3]int64{-1, -1, -1}
		for _, list := range l.subs[id] {
			for _, x := range list {
				newest[x.ClientHandle%3] = max(newest[x.ClientHandle%3], x.Value.Value.Int())
			}
		}
		if min(newest[0], newest[1], newest[2]) < last {
			return false
		}
	}
	return true
}

func newPlant(t testing.TB, nodes, loops int, change ...func(*uaserver.Config)) *plant {
	t.Helper()
	space := memspace.New("urn:test:plant")
	p := &plant{t: t, space: space, got: ledger{subs: map[uint32]map[uint32][]ua.MonitoredItemNotification{}}}
	for i := range nodes {
		p.nodes = append(p.nodes, space.AddVariable(space.Objects(), fmt.Sprint(i), ua.Int32(0)))
	}
	cfg := uaserver.Config{Nodes: []uaserver.NodeManager{space}, EventLoops: loops, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Users: map[string]string{"ada": "a"}, AllowPlainPasswords: true}
	cfg.Limits.MinSubscriptionLifetime, cfg.Limits.MinSessionTimeout = time.Second, time.Second
	for _, f := range change {
		f(&cfg)
	}
	var err error
	if p.s, err = uaserver.New(cfg); err != nil {
		t.Fatal(err)
	}
	l, err := p.s.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go p.s.Serve(l)
	t.Cleanup(func() { _ = p.s.Close() })
	p.url = "opc.tcp://" + l.Addr().String()
	return p
}

// write counts all nodes up until stop is closed.
func (p *plant) write(stop <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		n := p.count.Add(1)
		for _, v := range p.nodes {
			_ = v.Set(ua.Int32(n)) // it fits
		}
	}
}

// loadClient is a session that keeps some Publish requests with the server and acknowledges.
type loadClient struct {
	*tcp.ClientConn
	p     *plant
	token ua.NodeID
	wg    sync.WaitGroup

	leaving atomic.Bool

	mu   sync.Mutex
	acks []ua.SubscriptionAcknowledgement
}

func (p *plant) connect(timeout float64) (*loadClient, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	conn, err := tcp.Dial(ctx, p.url, nil)
	if err != nil {
		return nil, err
	}
	c := &loadClient{ClientConn: conn, p: p}
	var created ua.CreateSessionResponse
	if err := c.call(&ua.CreateSessionRequest{EndpointURL: p.url, RequestedSessionTimeout: timeout}, &created); err != nil {
		return nil, err
	}
	c.token = created.AuthenticationToken
	a := ua.ActivateSessionRequest{RequestHeader: c.header(), UserIdentityToken: ua.NewExtensionObject(&ua.UserNameIdentityToken{
		PolicyID: uaserver.UserNamePolicyID, UserName: "ada", Password: []byte("a")})}
	return c, c.call(&a, &ua.ActivateSessionResponse{})
}

func (c *loadClient) header() ua.RequestHeader { return ua.RequestHeader{AuthenticationToken: c.token} }

func (c *loadClient) call(q, p ua.Structure) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return c.Call(ctx, q, p)
}

// subscribe makes a subscription with items on some nodes.
func (c *loadClient) subscribe(interval float64, nodes ...*memspace.Variable) (uint32, error) {
	var sub ua.CreateSubscriptionResponse
	if err := c.call(&ua.CreateSubscriptionRequest{RequestHeader: c.header(), RequestedPublishingInterval: interval, RequestedMaxKeepAliveCount: 20,
		RequestedLifetimeCount: 10, PublishingEnabled: true}, &sub); err != nil {
		return 0, err
	}
	q := ua.CreateMonitoredItemsRequest{RequestHeader: c.header(), SubscriptionID: sub.SubscriptionID, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for i, v := range nodes {
		q.ItemsToCreate = append(q.ItemsToCreate, item(v.ID(), uint32(i), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 100 }))
	}
	return sub.SubscriptionID, c.call(&q, &ua.CreateMonitoredItemsResponse{})
}

// publish runs n loops that publish until the session ends.
func (c *loadClient) publish(n int) {
	for range n {
		c.wg.Go(func() {
			for {
				q, p := ua.PublishRequest{RequestHeader: c.header()}, ua.PublishResponse{}
				c.mu.Lock()
				q.SubscriptionAcknowledgements, c.acks = c.acks, nil
				c.mu.Unlock()
				if err := c.call(&q, &p); err != nil {
					if errors.Is(err, ua.BadNoSubscription) && !c.leaving.Load() {
						time.Sleep(10 * time.Millisecond) // another session may lose one to this one
						continue
					}
					for _, end := range []ua.StatusCode{ua.BadNoSubscription, ua.BadSessionClosed, ua.BadSessionIdInvalid, ua.BadServerHalted} {
						if errors.Is(err, end) {
							return
						}
					}
					if c.Err() == nil {
						c.p.t.Error(err)
					}
					return
				}
				c.p.got.enter(&p)
				if len(p.NotificationMessage.NotificationData) > 0 {
					c.mu.Lock()
					c.acks = append(c.acks, ua.SubscriptionAcknowledgement{SubscriptionID: p.SubscriptionID, SequenceNumber: p.NotificationMessage.SequenceNumber})
					c.mu.Unlock()
				}
			}
		})
	}
}

// close ends the session.
func (c *loadClient) close(deleteSubscriptions bool) error {
	c.leaving.Store(true)
	err := c.call(&ua.CloseSessionRequest{RequestHeader: c.header(), DeleteSubscriptions: deleteSubscriptions}, &ua.CloseSessionResponse{})
	c.wg.Wait()
	return errors.Join(err, c.Close(context.Background()))
}

// churn connects, subscribes, deletes and leaves in each of the ways there are, until stop is closed.
func (p *plant) churn(stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		c, err := p.connect(1000)
		if err != nil {
			p.t.Error(err)
			return
		}
		var ids []uint32
		for range 3 {
			id, err := c.subscribe(50, p.nodes[:5]...)
			if err != nil {
				p.t.Error(err)
				return
			}
			ids = append(ids, id)
		}
		c.publish(2)
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		if err := c.call(&ua.DeleteSubscriptionsRequest{RequestHeader: c.header(), SubscriptionIDs: ids[:1+i%3]}, &ua.DeleteSubscriptionsResponse{}); err != nil {
			p.t.Error(err)
		}
		switch i % 3 {
		case 0:
			err = c.close(true)
		case 1:
			err = c.close(false) // what is left expires
		case 2:
			c.leaving.Store(true)
			err = c.Close(context.Background()) // and so does the session
			c.wg.Wait()
		}
		if err != nil {
			p.t.Error(err)
		}
	}
}

// shuffle moves subscriptions between sessions until stop is closed.
func (p *plant) shuffle(clients []*loadClient, subs []uint32, stop <-chan struct{}) (moved int) {
	for {
		select {
		case <-stop:
			return moved
		case <-time.After(20 * time.Millisecond):
		}
		c := clients[rand.IntN(len(clients))]
		q, r := ua.TransferSubscriptionsRequest{RequestHeader: c.header(), SubscriptionIDs: []uint32{subs[rand.IntN(len(subs))]}}, ua.TransferSubscriptionsResponse{}
		if err := c.call(&q, &r); err != nil {
			p.t.Error(err)
			return moved
		}
		switch s := r.Results[0].StatusCode; s {
		case ua.Good:
			moved++
		case ua.BadNothingToDo, ua.BadTooManySubscriptions:
		default:
			p.t.Errorf("transfer: %v", s)
		}
	}
}

// Correctness under load: 50 sessions of 15 subscriptions get what is due to them, each item's values in
// order, while other clients come and go and subscriptions change hands.
func TestManySubscriptions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes fifteen seconds")
	}
	sessions, each := 50, 15
	if uaserver.RaceEnabled {
		sessions, each = 8, 5
	}
	t.Run("event loops", func(t *testing.T) { manySubscriptions(t, 0, sessions, each, 4*time.Second) })
	t.Run("goroutines", func(t *testing.T) { manySubscriptions(t, -1, sessions/2, each, 2*time.Second) })
}

func manySubscriptions(t *testing.T, loops, sessions, each int, d time.Duration) {
	held := int64(subs.SharedPools().Stats().Messages.Outstanding())
	p := newPlant(t, 50, loops)
	var clients []*loadClient
	var ids []uint32
	for i := range sessions {
		c, err := p.connect(60_000)
		if err != nil {
			t.Fatal(err)
		}
		for j := range each {
			n := (i*each + j) % (len(p.nodes) - 2)
			id, err := c.subscribe(100, p.nodes[n:n+3]...)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		clients = append(clients, c)
	}
	for _, c := range clients {
		c.publish(5)
	}
	stop, written := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	var moved int
	go func() {
		p.write(stop)
		close(written)
	}()
	for range 2 {
		wg.Go(func() { p.churn(stop) })
	}
	wg.Go(func() { moved = p.shuffle(clients, ids, stop) })
	time.Sleep(d)
	close(stop)
	<-written
	wg.Wait()
	stopped := time.Now()
	for end := stopped.Add(5 * time.Second); time.Now().Before(end) && !p.got.complete(ids, int64(p.count.Load())); {
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("the last values came within %v", time.Since(stopped).Round(10*time.Millisecond))
	for _, c := range clients {
		if err := c.close(true); err != nil {
			t.Error(err)
		}
	}
	p.check(ids, moved)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		st := p.s.PublishStats()
		if st.Subscriptions == 0 && st.MonitoredItems == 0 && st.Retained == 0 && st.MessagesHeld == held && p.s.Stats().Sessions == 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("left behind: %+v, %d sessions; %d messages were held before", st, p.s.Stats().Sessions, held)
			break
		}
	}
}

// check compares what came with what was due.
func (p *plant) check(ids []uint32, moved int) {
	due, missing, bad := 0, 0, 0
	for _, id := range ids {
		messages := p.got.subs[id]
		var numbers []uint32
		for n := range messages {
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		last := [3]int64{-1, -1, -1}
		came := 0
		first := int64(-1)
		for _, n := range numbers {
			for _, x := range messages[n] {
				v := x.Value.Value.Int()
				if first < 0 {
					first = v
				}
				if h := x.ClientHandle; h > 2 || v <= last[h] {
					bad++
				} else {
					last[h] = v
				}
				came++
			}
		}
		want := 3 * (int(p.count.Load()) - int(first) + 1)
		due += want
		missing += want - came
		if want != came {
			p.t.Logf("subscription %d: messages %d to %d, of them %d, values from %d to %v; %d were set", id, numbers[0], numbers[len(numbers)-1], len(numbers), first, last, p.count.Load())
		}
	}
	p.t.Logf("%d subscriptions, %d values due, %d missing, %d transfers", len(ids), due, missing, moved)
	if bad > 0 {
		p.t.Errorf("%d values out of order", bad)
	}
	if missing*100 > due || due == 0 {
		p.t.Errorf("%d of %d values are missing", missing, due)
	}
	if moved == 0 {
		p.t.Error("no subscription was transferred")
	}
}
