package subs

import (
	"runtime"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// discard answers requests by releasing them, and offers them again.
type discard struct {
	s     *Session
	free  []*Request
	items int
	buf   []byte // for the binary form, if not nil
}

func (d *discard) Answer(r *Request) {
	if m := r.Answer.Message.Message(); m != nil {
		d.items += len(m.Data())
		if d.buf != nil {
			d.buf = m.AppendBinary(d.buf[:0])
		}
		r.Acknowledgements = append(r.Acknowledgements[:0], ua.SubscriptionAcknowledgement{SubscriptionID: r.Answer.SubscriptionID, SequenceNumber: m.SequenceNumber})
		if len(m.Data()) == 0 {
			r.Acknowledgements = r.Acknowledgements[:0]
		}
	}
	r.Answer.Message.Release()
	d.free = append(d.free, r)
}

// fanOut is subscriptions of items on the same nodes, all in one session.
type fanOut struct {
	m     *Manager
	d     *discard
	nodes []*Node
	now   Now
	value float64
}

func newFanOut(tb testing.TB, subs, nodes int, interval time.Duration) *fanOut {
	f := &fanOut{m: New(Config{Pools: SharedPools(), Limits: Limits{MaxSubscriptionsPerSession: subs, MaxPublishRequests: 2 * subs}})}
	s := f.m.OpenSession(nil)
	f.d = &discard{s: s}
	for range nodes {
		f.nodes = append(f.nodes, new(Node))
	}
	for range subs {
		sub, status := f.m.Create(f.now, s, Params{PublishingInterval: float64(interval.Milliseconds()), LifetimeCount: 100, MaxKeepAliveCount: 10}, true)
		if status != ua.Good {
			tb.Fatal(status)
		}
		for n, node := range f.nodes {
			if _, status := sub.CreateItem(f.now, s, &ItemConfig{Node: node, ClientHandle: uint32(n), Mode: ua.MonitoringModeReporting, QueueSize: 1, Timestamps: ua.TimestampsToReturnBoth}); status != ua.Good {
				tb.Fatal(status)
			}
		}
	}
	for range 2 * subs {
		f.d.free = append(f.d.free, &Request{Responder: f.d})
	}
	return f
}

func (f *fanOut) write() {
	f.value++
	for _, n := range f.nodes {
		v := ua.DataValue{Value: ua.Double(f.value), SourceTimestamp: f.now.Wall, ServerTimestamp: f.now.Wall}
		n.Push(&v, f.now.At)
	}
}

// publish offers all requests that are free, and those that are answered at once again.
func (f *fanOut) publish() {
	for n := 4 * len(f.d.free); n > 0 && len(f.d.free) > 0; n-- {
		last := len(f.d.free) - 1
		r := f.d.free[last]
		f.d.free = f.d.free[:last]
		f.d.s.Publish(f.now, r)
	}
}

func (f *fanOut) cycle(interval time.Duration) {
	f.now.At += interval
	f.now.Wall += ua.DateTime(interval / 100)
	f.write()
	f.m.Run(f.now)
	f.publish()
}

func benchmarkPushTick(b *testing.B, subs, nodes int, interval time.Duration, encode bool) {
	f := newFanOut(b, subs, nodes, interval)
	if encode {
		f.d.buf = make([]byte, 0, 1<<16)
	}
	for range 10 {
		f.cycle(interval)
	}
	f.d.items = 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		f.cycle(interval)
	}
	b.StopTimer()
	if f.d.items != b.N*subs*nodes {
		b.Fatalf("%d of %d notifications", f.d.items, b.N*subs*nodes)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(f.d.items), "ns/notification")
}

func BenchmarkPushTick100x100(b *testing.B) {
	benchmarkPushTick(b, 100, 100, 100*time.Millisecond, false)
}
func BenchmarkPushTick100x100at10ms(b *testing.B) {
	benchmarkPushTick(b, 100, 100, 10*time.Millisecond, false)
}
func BenchmarkPushTick1x1000(b *testing.B) {
	benchmarkPushTick(b, 1, 1000, 100*time.Millisecond, false)
}

// BenchmarkPushTickEncode makes the binary form of each message, too.
func BenchmarkPushTickEncode(b *testing.B) {
	benchmarkPushTick(b, 100, 100, 100*time.Millisecond, true)
}

// BenchmarkPush is one value to one item that is not yet a candidate, or is one.
func BenchmarkPush(b *testing.B) {
	f := newFanOut(b, 1, 1, 100*time.Millisecond)
	v := new(ua.DataValue)
	b.ReportAllocs()
	for n := range b.N {
		v.Value = ua.Double(float64(n))
		f.nodes[0].Push(v, 0)
	}
}

// BenchmarkIdleItems reports what a monitored item costs that has nothing to report.
func BenchmarkIdleItems(b *testing.B) {
	const items = 1_000_000
	for range b.N {
		before := heap()
		m := New(Config{Limits: Limits{MaxItemsPerSubscription: items}})
		s := m.OpenSession(nil)
		nodes := make([]Node, items)
		var now Now
		for n := range 10 {
			sub, _ := m.Create(now, s, Params{PublishingInterval: 100}, true)
			for i := range items / 10 {
				it, status := sub.CreateItem(now, s, &ItemConfig{Node: &nodes[n*items/10+i], Mode: ua.MonitoringModeReporting})
				if status != ua.Good {
					b.Fatal(status)
				}
				it.PushInitial(&ua.DataValue{Value: ua.Double(1)}, 0)
			}
		}
		// Initial values are published and acknowledged, and a keep-alive follows.
		f := &fanOut{m: m, d: &discard{s: s}, now: now}
		for range 20 {
			f.d.free = append(f.d.free, &Request{Responder: f.d})
		}
		for range 40 {
			f.now.At += 100 * time.Millisecond
			f.publish()
			m.Run(f.now)
		}
		if f.d.items != items || m.Stats(f.now).Retained != 0 {
			b.Fatalf("%d notifications, %+v", f.d.items, m.Stats(f.now))
		}
		b.ReportMetric(float64(heap()-before)/items, "B/item")
		runtime.KeepAlive(m)
		runtime.KeepAlive(nodes)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestIdleItemMemory: an idle item takes at most 400 bytes, with its node's list and the entry in its
// subscription's map.
func TestIdleItemMemory(t *testing.T) {
	const items = 50_000
	before := heap()
	f := newFanOut(t, 1, items, 100*time.Millisecond)
	for range 40 {
		f.now.At += 100 * time.Millisecond
		f.publish()
		f.m.Run(f.now)
	}
	perItem := float64(heap()-before) / items
	if perItem > 400 || perItem < 100 {
		t.Errorf("%.0f bytes an item", perItem)
	}
	runtime.KeepAlive(f)
}

// TestIdleCosts (report P09, idle): with 1,000 idle subscriptions of 10 ms for a minute, Run is called for keep-alives only.
func TestIdleCosts(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MaxSubscriptionsPerSession: 1000, MaxPublishRequests: 1000}})
	c := r.client()
	c.auto = true
	for range 1000 {
		c.item(c.create(Params{PublishingInterval: 10, MaxKeepAliveCount: 3000}), 1, nil)
	}
	c.publish(1000)
	r.pass(time.Second)
	runs := r.runs
	r.pass(time.Minute)
	if n := r.runs - runs; n > 10 {
		t.Errorf("Run was called %d times", n)
	}
	if len(c.got) < 2000 {
		t.Errorf("only %d keep-alives", len(c.got))
	}
}

// BenchmarkTickIdle has many watched items of which few change.
func BenchmarkTickIdle(b *testing.B) {
	for _, items := range []int{1_000, 100_000} {
		b.Run(map[int]string{1_000: "1000", 100_000: "100000"}[items], func(b *testing.B) {
			f := newFanOut(b, 2, items/2, 50*time.Millisecond)
			for range 10 {
				f.cycle(50 * time.Millisecond)
			}
			f.nodes = f.nodes[:20]
			for range 300 {
				f.cycle(50 * time.Millisecond)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				f.cycle(50 * time.Millisecond)
			}
		})
	}
}
