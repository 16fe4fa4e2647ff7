package subs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// rig is a Manager with a clock of its own and clients that write down what they get.
type rig struct {
	t       testing.TB
	m       *Manager
	p       *Pools
	at      time.Duration
	next    time.Duration // what Run said
	woken   bool
	removed int
	runs    int
}

func newRig(t testing.TB, cfg Config) *rig {
	r := &rig{t: t, next: never}
	if cfg.Pools == nil {
		p, err := NewPools(1024)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Pools = p
	}
	r.p = cfg.Pools
	cfg.Wake = func() { r.woken = true }
	cfg.Removed = func(items []*Item) { r.removed += len(items) }
	r.m = New(cfg)
	return r
}

func (r *rig) now() Now { return Now{r.at, ua.DateTime(1e17) + ua.DateTime(r.at/100)} }

// until lets time pass, as a server's loop would: it calls Run only when it is due or was woken.
func (r *rig) until(at time.Duration) {
	for {
		if r.woken {
			r.woken = false
			r.runs++
			r.next = r.m.Run(r.now())
			continue
		}
		if r.next > at {
			break
		}
		r.at = max(r.at, r.next)
		r.runs++
		r.next = r.m.Run(r.now())
	}
	r.at = at
}

func (r *rig) pass(d time.Duration) { r.until(r.at + d) }

// client is a session that keeps what it was answered.
type client struct {
	r    *rig
	s    *Session
	got  []string
	acks []ua.SubscriptionAcknowledgement
	auto bool // publishes again after each answer
	ack  bool // and acknowledges
	sent int
	keep []*Ref // if not nil
	data map[uint32][]string
	seq  map[uint32]uint32
}

func (r *rig) client() *client {
	return &client{r: r, s: r.m.OpenSession(nil), data: map[uint32][]string{}, seq: map[uint32]uint32{}}
}

// publish sends n requests.
func (c *client) publish(n int) {
	for range n {
		c.sent++
		req := &Request{Responder: c, Handle: uint32(c.sent), Acknowledgements: c.acks}
		c.acks = nil
		c.s.Publish(c.r.now(), req)
	}
}

func valueText(v *ua.DataValue) string {
	text := "null"
	if !v.Value.IsNull() {
		text = fmt.Sprint(v.Value)
	}
	if v.Status&overflowBits == overflowBits {
		text += "!"
	}
	if code := v.Status &^ overflowBits; code != ua.Good {
		text += "(" + code.String() + ")"
	}
	return text
}

func messageText(m *Message) string {
	var parts []string
	for _, e := range m.Events() {
		parts = append(parts, fmt.Sprintf("e%d=%v", e.ClientHandle, e.EventFields))
	}
	for i := range m.Data() {
		n := &m.Data()[i]
		parts = append(parts, fmt.Sprintf("%d=%s", n.ClientHandle, valueText(&n.Value)))
	}
	if code, ok := m.Status(); ok {
		parts = append(parts, code.String())
	}
	if m.IsKeepAlive() {
		parts = append(parts, "keep-alive")
	}
	return fmt.Sprintf("seq %d: %s", m.SequenceNumber, strings.Join(parts, " "))
}

// Answer notes the answer.
func (c *client) Answer(q *Request) {
	a := &q.Answer
	var text string
	if a.Status != ua.Good {
		text = a.Status.String()
	} else {
		m := a.Message.Message()
		text = fmt.Sprintf("sub %d %s", a.SubscriptionID, messageText(m))
		if len(a.Available) > 0 {
			text += fmt.Sprintf(" avail %v", a.Available)
		}
		if a.MoreNotifications {
			text += " more"
		}
		for i := range m.Data() {
			n := &m.Data()[i]
			c.data[n.ClientHandle] = append(c.data[n.ClientHandle], valueText(&n.Value))
		}
		for _, e := range m.Events() {
			c.data[e.ClientHandle] = append(c.data[e.ClientHandle], fmt.Sprint(e.EventFields))
		}
		if c.ack && !m.IsKeepAlive() {
			c.acks = append(c.acks, ua.SubscriptionAcknowledgement{SubscriptionID: a.SubscriptionID, SequenceNumber: m.SequenceNumber})
		}
		if !m.IsKeepAlive() {
			c.seq[a.SubscriptionID] = m.SequenceNumber
		}
	}
	if len(a.Results) > 0 {
		text += fmt.Sprintf(" results %v", names(a.Results))
	}
	if text == "BadSessionClosed" || a.Status != ua.Good {
		c.auto = false
	}
	c.got = append(c.got, text)
	if c.keep != nil {
		kept := new(Ref)
		kept.Move(&a.Message)
		c.keep = append(c.keep, kept)
	}
	a.Message.Release()
	if c.auto {
		c.publish(1)
	}
}

func names(list []ua.StatusCode) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.String())
	}
	return out
}

// take returns what was got since the last call.
func (c *client) take() []string {
	got := c.got
	c.got = nil
	return got
}

func (c *client) create(p Params) *Subscription {
	c.r.t.Helper()
	if p.PublishingInterval == 0 {
		p.PublishingInterval = 100
	}
	if p.MaxKeepAliveCount == 0 {
		p.MaxKeepAliveCount = 10
	}
	sub, status := c.r.m.Create(c.r.now(), c.s, p, true)
	if status != ua.Good {
		c.r.t.Fatal(status)
	}
	return sub
}

// item creates a reporting item with a queue of one; change what differs.
func (c *client) item(sub *Subscription, handle uint32, change func(*ItemConfig)) *Item {
	c.r.t.Helper()
	cfg := ItemConfig{ClientHandle: handle, Mode: ua.MonitoringModeReporting, QueueSize: 1, DiscardOldest: true, Timestamps: ua.TimestampsToReturnBoth}
	if change != nil {
		change(&cfg)
	}
	i, status := sub.CreateItem(c.r.now(), c.s, &cfg)
	if status != ua.Good {
		c.r.t.Fatal(status)
	}
	return i
}

func (r *rig) push(i *Item, values ...float64) {
	for _, v := range values {
		i.Push(&ua.DataValue{Value: ua.Double(v)}, r.at)
	}
}

// expect compares what a client got.
func (c *client) expect(want ...string) {
	c.r.t.Helper()
	if got := c.take(); !slices.Equal(got, want) {
		c.r.t.Fatalf("at %v got\n  %s\nwant\n  %s", c.r.at, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// leased is the number of messages that somebody holds.
func (r *rig) leased() int { return r.p.Stats().Messages.Outstanding() }

func withMode(m ua.MonitoringMode) func(*ItemConfig) {
	return func(c *ItemConfig) { c.Mode = m }
}

func withQueue(n uint32, discardOldest bool) func(*ItemConfig) {
	return func(c *ItemConfig) { c.QueueSize, c.DiscardOldest = n, discardOldest }
}
