package subs

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// row is a behaviour and how it shows.
type row struct {
	name string
	play func(p *plant)
}

// playRows plays each row on a new subscription with one client that publishes by itself only if told.
func playRows(t *testing.T, limits Limits, rows []row) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := newRig(t, Config{Limits: limits})
			c := r.client()
			row.play(&plant{rig: r, c: c, sub: c.create(Params{})})
			r.m.CloseSession(r.now(), c.s, true, ua.BadSessionClosed)
			for _, sub := range r.m.orphans.subs {
				r.m.Delete(r.now(), r.m.orphans, sub.id)
			}
			if n := r.leased(); n != 0 {
				t.Errorf("%d messages are still out", n)
			}
			if n := r.m.items.Load(); n != 0 {
				t.Errorf("%d items are still counted", n)
			}
		})
	}
}

func (p *plant) equal(got, want any) {
	p.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		p.t.Fatalf("got %v, want %v", got, want)
	}
}

// TestPublishQueue is about the Publish requests of a session (T6; U13, U19, U21, U32).
func TestPublishQueue(t *testing.T) {
	playRows(t, Limits{MaxPublishRequests: 2, MinLifetime: time.Millisecond}, []row{
		{"a request without subscriptions is refused", func(p *plant) {
			p.m.Delete(p.now(), p.c.s, p.sub.id)
			p.c.publish(1)
			p.c.expect("BadNoSubscription")
		}},
		{"a request is parked when nothing is ready", func(p *plant) {
			p.c.publish(1)
			p.c.expect()
			p.equal(p.c.s.Parked(), 1)
		}},
		{"when full the oldest is answered (U13)", func(p *plant) {
			for n := range 3 {
				p.c.s.Publish(p.now(), &Request{Responder: p.c, Handle: uint32(n + 1)})
			}
			p.c.expect("BadTooManyPublishRequests")
			p.equal(p.c.s.Parked(), 2)
			p.equal(p.c.s.parked[0].Handle, 2)
			p.equal(p.c.s.parked[1].Handle, 3)
		}},
		{"requests are used in their order", func(p *plant) {
			p.c.publish(2)
			first := p.c.s.parked[0]
			p.cycle()
			p.equal(first.Answer.SubscriptionID, p.sub.id)
			p.equal(p.c.s.parked[0].Handle, 2)
		}},
		{"a false alarm leaves the request first", func(p *plant) {
			i := p.item(1)
			p.c.publish(2)
			p.cycle()
			p.c.publish(1)
			p.c.take()
			p.push(i, 1)
			p.sub.mu.Lock()
			p.sub.waiting = true // as if it had been ready
			p.sub.mu.Unlock()
			first := p.c.s.parked[0]
			p.c.s.mu.Lock()
			p.c.s.want(p.sub)
			p.c.s.serve(p.now())
			p.c.s.mu.Unlock()
			p.c.expect()
			if p.c.s.parked[0] != first || p.sub.waiting || p.sub.queued {
				p.t.Error("the request has moved or the subscription still wants one")
			}
		}},
		{"the highest priority is served first", func(p *plant) {
			high := p.c.create(Params{Priority: 9})
			mid := p.c.create(Params{Priority: 5})
			p.cycle()
			for _, want := range []*Subscription{high, mid, p.sub} {
				p.c.publish(1)
				p.c.expect(fmt.Sprintf("sub %d seq 1: keep-alive", want.id))
			}
		}},
		{"priority holds among those that become ready together", func(p *plant) {
			high := p.c.create(Params{Priority: 9})
			p.c.publish(1)
			p.cycle()
			p.c.expect(fmt.Sprintf("sub %d seq 1: keep-alive", high.id))
		}},
		{"of one priority who waited longest is served first", func(p *plant) {
			other := p.c.create(Params{})
			a, b := p.item(1, withQueue(9, true)), p.c.item(other, 2, withQueue(9, true))
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
			other.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
			p.push(a, 1, 2)
			p.push(b, 1, 2)
			p.cycle()
			var got []string
			for range 4 {
				p.c.publish(1)
				got = append(got, p.c.take()[0][:5])
			}
			p.equal(got, "[sub 1 sub 2 sub 1 sub 2]")
		}},
		{"modifying the priority holds at once", func(p *plant) {
			other := p.c.create(Params{Priority: 5})
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, Priority: 6})
			p.cycle()
			p.c.publish(1)
			p.c.expect(fmt.Sprintf("sub %d seq 1: keep-alive", p.sub.id))
			_ = other
		}},
		{"a subscription with more keeps its turn", func(p *plant) {
			i := p.item(1, withQueue(9, true))
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
			p.push(i, 1, 2)
			p.c.publish(2)
			p.cycle()
			p.c.expect("sub 1 seq 1: 1=1 avail [1] more", "sub 1 seq 2: 1=2 avail [1 2]")
		}},
		{"a deadline and half a second lead to BadTimeout", func(p *plant) {
			p.m.Modify5(p)
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Deadline: p.at + 200*time.Millisecond})
			p.pass(699 * time.Millisecond)
			p.c.expect()
			p.pass(time.Millisecond)
			p.c.expect("BadTimeout")
			p.equal(p.c.s.Parked(), 0)
		}},
		{"only requests whose time is up are timed out", func(p *plant) {
			p.m.Modify5(p)
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Deadline: p.at + time.Second, Handle: 1})
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Deadline: p.at + 200*time.Millisecond, Handle: 2})
			p.pass(800 * time.Millisecond)
			p.c.expect("BadTimeout")
			p.equal(p.c.s.parked[0].Handle, 1)
			p.pass(time.Second)
			p.c.expect("BadTimeout")
		}},
		{"a request without a hint waits", func(p *plant) {
			p.m.Modify5(p)
			p.c.publish(1)
			p.pass(20 * time.Second)
			p.c.expect()
		}},
		{"closing the session answers all", func(p *plant) {
			p.c.publish(2)
			p.m.CloseSession(p.now(), p.c.s, true, ua.BadSessionClosed)
			p.c.expect("BadSessionClosed", "BadSessionClosed")
			p.c.publish(1)
			p.c.expect("BadSessionClosed")
			p.m.CloseSession(p.now(), p.c.s, true, ua.BadSessionClosed) // twice does no harm
		}},
		{"the server's halt answers all", func(p *plant) {
			p.c.publish(1)
			p.m.CloseSession(p.now(), p.c.s, true, ua.BadServerHalted)
			p.c.expect("BadServerHalted")
		}},
		{"deleting the last subscription answers all", func(p *plant) {
			p.c.publish(2)
			p.m.Delete(p.now(), p.c.s, p.sub.id)
			p.c.expect("BadNoSubscription", "BadNoSubscription")
		}},
		{"deleting one of several answers none", func(p *plant) {
			p.c.create(Params{})
			p.c.publish(2)
			p.m.Delete(p.now(), p.c.s, p.sub.id)
			p.c.expect()
		}},
		{"requests of another channel are answered", func(p *plant) {
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Channel: 1})
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Channel: 2})
			p.equal(p.c.s.DropChannel(p.now(), 3), 0)
			p.equal(p.c.s.DropChannel(p.now(), 1), 1)
			p.c.expect("BadSecureChannelIdInvalid")
			p.equal(p.c.s.Parked(), 1)
		}},
		{"cancelled requests are answered", func(p *plant) {
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Handle: 7})
			p.c.s.Publish(p.now(), &Request{Responder: p.c, Handle: 8})
			p.equal(p.c.s.Cancel(p.now(), 7), 1)
			p.c.expect("BadRequestCancelledByClient")
			p.equal(p.c.s.Cancel(p.now(), 7), 0)
		}},
		{"each acknowledgement has its result", func(p *plant) {
			i := p.item(1)
			p.push(i, 1)
			p.c.publish(1)
			p.cycle()
			p.c.take()
			ack := func(sub, seq uint32) {
				p.c.acks = append(p.c.acks, ua.SubscriptionAcknowledgement{SubscriptionID: sub, SequenceNumber: seq})
			}
			ack(p.sub.id, 1)
			ack(p.sub.id, 1)
			ack(p.sub.id, 0)
			ack(77, 1)
			p.c.publish(1)
			p.push(i, 2)
			p.cycle()
			p.c.expect("sub 1 seq 2: 1=2 avail [2] results [Good BadSequenceNumberUnknown BadSequenceNumberInvalid BadSubscriptionIdInvalid]")
		}},
		{"another session's subscription is not acknowledged", func(p *plant) {
			i := p.item(1)
			p.push(i, 1)
			p.c.publish(1)
			p.cycle()
			other := p.client()
			other.create(Params{})
			other.acks = []ua.SubscriptionAcknowledgement{{SubscriptionID: p.sub.id, SequenceNumber: 1}}
			other.publish(1)
			p.pass(100 * time.Millisecond)
			other.expect("sub 2 seq 1: keep-alive results [BadSubscriptionIdInvalid]")
			p.equal(p.sub.sent.Len(), 1)
			p.m.CloseSession(p.now(), other.s, true, ua.BadSessionClosed)
		}},
		{"a status change goes before everything else", func(p *plant) {
			other := p.client()
			i := p.item(1)
			tr, _ := p.m.BeginTransfer(p.now(), other.s, p.sub.id)
			tr.Commit(p.now(), false, true, nil)
			p.push(i, 1)
			p.c.create(Params{})
			p.cycle()
			p.c.publish(1)
			p.c.expect("sub 1 seq 1: GoodSubscriptionTransferred")
			p.m.CloseSession(p.now(), other.s, true, ua.BadSessionClosed)
		}},
		{"a client with a slow cadence never expires (U19)", func(p *plant) {
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, LifetimeCount: 60, MaxKeepAliveCount: 20})
			for range 100 {
				p.pass(5900 * time.Millisecond)
				p.c.publish(1)
				p.pass(90 * time.Millisecond)
			}
			if p.m.Find(p.sub.id) == nil {
				p.t.Fatal("expired")
			}
		}},
		{"a subscription without items lives while a request is parked (U21)", func(p *plant) {
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, LifetimeCount: 30, MaxKeepAliveCount: 10})
			p.c.auto = true
			p.c.publish(1)
			p.pass(10 * time.Second)
			i := p.item(1)
			for n := range 30 {
				p.push(i, float64(n))
				p.pass(2 * time.Second)
			}
			if p.m.Find(p.sub.id) == nil || len(p.c.data[1]) != 30 {
				p.t.Fatalf("got %v", p.c.data)
			}
		}},
		{"a client that vanished leaves nothing (U19, U32)", func(p *plant) {
			node := new(Node)
			p.item(1, func(c *ItemConfig) { c.Node = node })
			p.c.auto = true
			p.c.publish(1)
			p.cycle()
			p.c.auto = false
			p.m.CloseSession(p.now(), p.c.s, false, ua.BadSessionClosed)
			p.pass(time.Hour)
			p.equal(p.m.Stats(p.now()).Subscriptions, 0)
			p.equal(node.Len(), 0)
			p.equal(p.removed, 1)
			if p.next != never {
				p.t.Errorf("something is due at %v", p.next)
			}
		}},
		{"a client that never publishes has bounded queues (U18)", func(p *plant) {
			i := p.item(1, withQueue(10, true))
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, LifetimeCount: 1000, MaxKeepAliveCount: 10})
			for n := range 500 {
				p.push(i, float64(n))
				p.pass(10 * time.Millisecond)
			}
			p.equal(i.count(), 10)
			p.equal(p.leased(), 0)
		}},
		{"a client that never acknowledges has a bounded queue (U18)", func(p *plant) {
			i := p.item(1)
			p.c.auto = true
			p.c.publish(1)
			for n := range 10_000 {
				p.push(i, float64(n))
				p.cycle()
			}
			p.equal(p.sub.sent.Len(), 100)
			p.equal(p.leased(), 100)
			var out Ref
			p.equal(p.sub.Republish(p.now(), p.c.s, 1, &out), ua.BadMessageNotAvailable)
			p.equal(len(p.c.data[1]), 10_000)
		}},
	})
}

// Modify5 makes the first keep-alive far away: nothing is to be sent for 50 s.
func (m *Manager) Modify5(p *plant) {
	p.c.publish(1)
	p.cycle()
	p.c.take()
	p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 10_000, MaxKeepAliveCount: 5, LifetimeCount: 100})
}

// TestLateCount: the counters of late requests and keep-alives follow from ticks that are not made.
func TestLateCount(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{LifetimeCount: 100})
	var d ua.SubscriptionDiagnosticsDataType
	r.pass(150 * time.Millisecond) // late from the first tick on
	if sub.Diagnostics(r.now(), &d); d.LatePublishRequestCount != 0 || d.CurrentLifetimeCount != 1 {
		t.Errorf("late %d, lifetime %d", d.LatePublishRequestCount, d.CurrentLifetimeCount)
	}
	r.pass(500 * time.Millisecond)
	if sub.Diagnostics(r.now(), &d); d.LatePublishRequestCount != 5 || d.CurrentLifetimeCount != 6 {
		t.Errorf("late %d, lifetime %d", d.LatePublishRequestCount, d.CurrentLifetimeCount)
	}
	c.publish(2)
	r.pass(300 * time.Millisecond)
	if sub.Diagnostics(r.now(), &d); d.LatePublishRequestCount != 5 || d.CurrentLifetimeCount != 0 || d.CurrentKeepAliveCount != 3 {
		t.Errorf("late %d, lifetime %d, keep-alive %d", d.LatePublishRequestCount, d.CurrentLifetimeCount, d.CurrentKeepAliveCount)
	}
}

func TestRevise(t *testing.T) {
	l := Limits{MinPublishingInterval: 50 * time.Millisecond, PublishingResolution: 50 * time.Millisecond, MinLifetime: 10 * time.Second}.withDefaults()
	for _, c := range []struct {
		in   Params
		want Revised
	}{
		{Params{PublishingInterval: math.NaN()}, Revised{50 * time.Millisecond, 200, 3, 10_000, 0}},
		{Params{PublishingInterval: -1, Priority: 7}, Revised{50 * time.Millisecond, 200, 3, 10_000, 7}},
		{Params{PublishingInterval: 101, MaxKeepAliveCount: 10, LifetimeCount: 1000, MaxNotificationsPerPublish: 5}, Revised{150 * time.Millisecond, 1000, 10, 5, 0}},
		{Params{PublishingInterval: math.Inf(1), MaxKeepAliveCount: 10}, Revised{time.Hour, 3, 1, 10_000, 0}},
		{Params{PublishingInterval: 1e6, MaxKeepAliveCount: 10, LifetimeCount: 100}, Revised{1000 * time.Second, 12, 4, 10_000, 0}},
		{Params{PublishingInterval: 1000, MaxKeepAliveCount: math.MaxUint32, LifetimeCount: math.MaxUint32}, Revised{time.Second, 3 * 3600, 3600, 10_000, 0}},
		{Params{PublishingInterval: 1000, LifetimeCount: 5}, Revised{time.Second, 10, 3, 10_000, 0}},
	} {
		if got := l.Revise(c.in, l.MaxLifetime); got != c.want {
			t.Errorf("%+v gives %+v, want %+v", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		ms, minimum float64
		continuous  bool
		want        time.Duration
	}{
		{-1, 0, false, 500 * time.Millisecond},
		{math.NaN(), 0, false, 500 * time.Millisecond},
		{0, 0, false, 10 * time.Millisecond},
		{0, 250, false, 250 * time.Millisecond},
		{0, 250, true, 0},
		{20, 250, true, 20 * time.Millisecond},
		{math.MaxFloat64, 0, false, maxSampling},
		{math.Inf(1), 0, true, maxSampling},
		{300, 250, false, 300 * time.Millisecond},
	} {
		if got := l.ReviseSampling(c.ms, 500*time.Millisecond, c.minimum, c.continuous); got != c.want {
			t.Errorf("%+v gives %v", c, got)
		}
	}
	for size, want := range map[uint32]uint32{0: 1, 1: 1, 7: 7, math.MaxUint32: 1000} {
		if got := l.reviseQueue(size, false); got != want {
			t.Errorf("queue %d gives %d", size, got)
		}
	}
	if l.reviseQueue(0, true) != 1000 || l.reviseQueue(math.MaxUint32, true) != 10_000 {
		t.Error("event queues")
	}
}

// FuzzRevise: whatever is asked for, what holds can be worked with.
func FuzzRevise(f *testing.F) {
	f.Add(100.0, uint32(30), uint32(10), uint32(0), 50.0)
	f.Add(math.NaN(), uint32(0), uint32(math.MaxUint32), uint32(math.MaxUint32), math.Inf(-1))
	f.Add(math.Inf(1), uint32(math.MaxUint32), uint32(0), uint32(1), math.NaN())
	l := Limits{PublishingResolution: 7 * time.Millisecond}.withDefaults()
	f.Fuzz(func(t *testing.T, interval float64, lifetime, alive, most uint32, sampling float64) {
		r := l.Revise(Params{PublishingInterval: interval, LifetimeCount: lifetime, MaxKeepAliveCount: alive, MaxNotificationsPerPublish: most}, l.MaxLifetime)
		switch {
		case r.PublishingInterval < l.MinPublishingInterval, r.PublishingInterval > l.MaxPublishingInterval+l.PublishingResolution,
			r.PublishingInterval%l.PublishingResolution != 0:
			t.Errorf("interval %v", r.PublishingInterval)
		case r.MaxKeepAliveCount < 1, time.Duration(r.MaxKeepAliveCount-1)*r.PublishingInterval > l.MaxLifetime:
			t.Errorf("keep-alive count %d at %v", r.MaxKeepAliveCount, r.PublishingInterval)
		case uint64(r.LifetimeCount) < 3*uint64(r.MaxKeepAliveCount), time.Duration(r.LifetimeCount)*r.PublishingInterval < l.MinLifetime:
			t.Errorf("lifetime count %d at %v", r.LifetimeCount, r.PublishingInterval)
		case r.MaxNotificationsPerPublish < 1 || r.MaxNotificationsPerPublish > l.MaxNotificationsPerPublish:
			t.Errorf("notifications %d", r.MaxNotificationsPerPublish)
		}
		if d := l.ReviseSampling(sampling, r.PublishingInterval, interval, false); d < l.MinSamplingInterval || d > maxSampling {
			t.Errorf("sampling %v", d)
		}
		if d := l.ReviseSampling(sampling, r.PublishingInterval, interval, true); d < 0 || d > maxSampling {
			t.Errorf("continuous sampling %v", d)
		}
	})
}
