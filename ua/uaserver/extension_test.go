package uaserver_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// ownItem is a monitored item of a manager, and what the server does with it.
type ownItem struct {
	signals bool

	mu      sync.Mutex
	signal  func()
	pending []ua.DataValue
	last    ua.DataValue
	mode    ua.MonitoringMode
	log     []string
}

func (o *ownItem) note(s string) { o.log = append(o.log, s) }

func (o *ownItem) Signals() bool { return o.signals }
func (o *ownItem) Start(signal func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.signal = signal
	o.note("start")
}

func (o *ownItem) put(values ...int32) {
	o.mu.Lock()
	for _, v := range values {
		o.pending = append(o.pending, ua.DataValue{Value: ua.Int32(v)})
	}
	o.mu.Unlock()
	if o.signals {
		o.signal()
	}
}

func (o *ownItem) Pending(time.Time) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending)
}

func (o *ownItem) Next(_ time.Time, v *ua.DataValue) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return false
	}
	*v, o.last, o.pending = o.pending[0], o.pending[0], o.pending[1:]
	return true
}

func (o *ownItem) SetMode(m ua.MonitoringMode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mode = m
	if m == ua.MonitoringModeDisabled {
		o.pending = nil
	}
	o.note(m.String())
}

func (o *ownItem) Resend() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		o.pending = append(o.pending, o.last)
	}
}

func (o *ownItem) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note("close")
}

func (o *ownItem) history() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// ownItems is a manager that brings the items it is given, one after the other.
type ownItems struct {
	*memspace.Space
	next []*ownItem
}

func (m *ownItems) Monitor(ctx *uaserver.Context, item *uaserver.MonitorItem) {
	if len(m.next) > 0 {
		item.Item, m.next = m.next[0], m.next[1:]
		return
	}
	m.Space.Monitor(ctx, item)
}

func TestCustomItems(t *testing.T) {
	for name, signals := range map[string]bool{"signalling": true, "scanned": false} {
		t.Run(name, func(t *testing.T) { customItem(t, signals) })
	}
}

func customItem(t *testing.T, signals bool) {
	m := &ownItems{Space: memspace.New("urn:test:own")}
	w := newWorld(t, func(c *uaserver.Config) {
		c.Nodes, c.Limits.MaxMonitoredItems = []uaserver.NodeManager{m}, 2
		c.Users, c.AllowPlainPasswords = map[string]string{"ada": "a"}, true
	})
	w.space = m.Space
	v := w.space.AddVariable(w.space.Objects(), "V", ua.Int32(0))
	c := w.clientOf("ada", "a")
	sub := c.subscribe()
	o := &ownItem{signals: signals}
	m.next = []*ownItem{o}
	ids := c.monitor(sub, item(v.ID(), 1), item(v.ID(), 2))
	wantValues(t, "the other's first value", changes(c.next()), 2, int32(0))
	o.put(1, 2)
	wantValues(t, "own values", changes(c.next()), 1, int32(1), 2)
	set(t, v, ua.Int32(7))
	wantValues(t, "the other", changes(c.next()), 2, int32(7))
	c.quiet(300 * time.Millisecond)

	c.setMode(sub, ua.MonitoringModeSampling, ids[0])
	o.put(3)
	c.quiet(300 * time.Millisecond)
	c.setMode(sub, ua.MonitoringModeReporting, ids[0])
	wantValues(t, "what waited", changes(c.next()), 1, int32(3))
	o.put(4)
	c.setMode(sub, ua.MonitoringModeDisabled, ids[0])
	c.setMode(sub, ua.MonitoringModeReporting, ids[0])
	c.quiet(300 * time.Millisecond)
	r := c.modify(sub, ua.MonitoredItemModifyRequest{MonitoredItemID: ids[0], RequestedParameters: ua.MonitoringParameters{ClientHandle: 11, QueueSize: 5}})
	if r[0].StatusCode != ua.Good {
		t.Errorf("modify: %+v", r)
	}

	// A transfer with initial values asks for the last one.
	d := w.clientOf("ada", "a")
	if r := d.transfer(true, sub); r[0].StatusCode != ua.Good {
		t.Fatal(r)
	}
	got := changes(d.next())
	slices.SortFunc(got, func(a, b ua.MonitoredItemNotification) int { return int(b.ClientHandle) - int(a.ClientHandle) })
	if len(got) != 2 || got[0].ClientHandle != 11 || got[0].Value.Value.Int() != 3 || got[1].Value.Value.Int() != 7 {
		t.Errorf("initial values: %v", got)
	}
	// One that is refused after all is closed, and has not been started.
	refused := &ownItem{signals: signals}
	m.next = []*ownItem{refused}
	if r, err := d.tryMonitor(sub, item(v.ID(), 3)); err != nil || r[0].StatusCode != ua.BadTooManyMonitoredItems {
		t.Errorf("a third of two: %v %v", err, r)
	}
	if h := refused.history(); len(h) != 1 || h[0] != "close" {
		t.Errorf("refused: %q", h)
	}
	d.deleteSubscriptions(sub)
	if h := o.history(); len(h) < 5 || h[0] != "Reporting" || h[1] != "start" || h[len(h)-1] != "close" {
		t.Errorf("history: %q", h)
	}
	o.put(5) // nobody is there any more
	w.pass(time.Second)
}

func TestInterceptPublish(t *testing.T) {
	var kept [][]ua.MonitoredItemNotification
	var users []string
	var panics atomic.Bool
	w := newWorld(t, func(c *uaserver.Config) {
		c.InterceptPublish = func(s *uaserver.SessionInfo, r *ua.PublishResponse) {
			users = append(users, s.User)
			if panics.Load() {
				panic("a bug in an interceptor")
			}
			for _, d := range r.NotificationMessage.NotificationData {
				if n, ok := d.Value.(*ua.DataChangeNotification); ok {
					kept = append(kept, slices.Clone(n.MonitoredItems))
				}
			}
		}
	})
	v := w.space.AddVariable(w.space.Objects(), "V", ua.String("first"))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1))
	acks := []ua.SubscriptionAcknowledgement{}
	texts := []string{"first"}
	for i := range 20 {
		p := c.next(acks...)
		wantValues(t, "client", changes(p), 1, texts[len(texts)-1])
		acks = []ua.SubscriptionAcknowledgement{{SubscriptionID: sub, SequenceNumber: p.NotificationMessage.SequenceNumber}}
		texts = append(texts, string(rune('a'+i)))
		set(t, v, ua.String(texts[len(texts)-1]))
	}
	if len(kept) != 20 || len(users) != 20 {
		t.Fatalf("%d messages seen", len(kept))
	}
	for i, k := range kept { // messages were used again meanwhile: the copies were not
		wantValues(t, "kept", k, 1, texts[i])
	}
	panics.Store(true)
	wantValues(t, "an interceptor that panics", changes(c.next(acks...)), 1, texts[20])
	panics.Store(false)
	set(t, v, ua.String("end"))
	wantValues(t, "goes on", changes(c.next()), 1, "end")
}

// pusher is a manager of its own with Feeds.
type pusher struct {
	*memspace.Space
	server *uaserver.Server
	mu     sync.Mutex
	feeds  map[ua.NodeID]*uaserver.Feed
}

func (p *pusher) Attach(s *uaserver.Server, index []uint16) error {
	p.server = s
	return p.Space.Attach(s, index)
}

func (p *pusher) Monitor(_ *uaserver.Context, item *uaserver.MonitorItem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if item.Attribute != ua.AttributeDescription {
		item.MinSampling = 1000
		return
	}
	if p.feeds[item.NodeID] == nil {
		p.feeds[item.NodeID] = p.server.NewFeed(item.NodeID, item.Attribute)
	}
	item.Feed = p.feeds[item.NodeID]
}

// A manager may push another attribute than Value.
func TestFeed(t *testing.T) {
	p := &pusher{Space: memspace.New("urn:test:feeds"), feeds: map[ua.NodeID]*uaserver.Feed{}}
	w := newWorld(t, func(c *uaserver.Config) { c.Nodes = []uaserver.NodeManager{p} })
	v := p.AddVariable(p.Objects(), "V", ua.Int32(1), memspace.WithDescription("first"))
	c := w.client()
	sub := c.subscribe()
	c.monitor(sub, item(v.ID(), 1, attribute(ua.AttributeDescription)), item(v.ID(), 1, attribute(ua.AttributeDescription)))
	wantValues(t, "first", changes(c.next()), 1, ua.Text("first"), ua.Text("first"))
	f := p.feeds[v.ID()]
	if f.Idle() {
		t.Error("idle with two items")
	}
	f.Push(ua.DataValue{Value: ua.Text("second").Variant()})
	got := changes(c.next())
	wantValues(t, "pushed", got, 1, ua.Text("second"), ua.Text("second"))
	if len(got) > 0 && got[0].Value.ServerTimestamp == 0 {
		t.Error("no server time")
	}
	c.deleteSubscriptions(sub)
	if !f.Idle() {
		t.Error("not idle without items")
	}
	f.Push(ua.DataValue{Value: ua.Text("nobody").Variant()})
}
