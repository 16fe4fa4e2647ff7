package subs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// got is what the client has got for a handle since the last call.
func (p *plant) got(handle uint32) string {
	list := p.c.data[handle]
	delete(p.c.data, handle)
	return fmt.Sprint(list)
}

func (p *plant) live() {
	p.c.auto, p.c.ack = true, true
	p.c.publish(1)
}

func (p *plant) status(i *Item, value float64, status ua.StatusCode) {
	i.Push(&ua.DataValue{Value: ua.Double(value), Status: status}, p.at)
}

// onlyEven is a filter that compares nothing.
type onlyEven struct{ calls int }

func (f *onlyEven) Accept(_, v *ua.DataValue) bool {
	f.calls++
	return int(v.Value.Float())%2 == 0
}

// newEvents are reported with a number; those below 0 are left out.
type newEvents struct{ overflows int }

type testEvent struct{ n int64 }

func (f *newEvents) Select(e Event) ([]ua.Variant, bool) {
	n := e.(*testEvent).n
	return []ua.Variant{ua.Int64(n)}, n >= 0
}
func (f *newEvents) Overflow() []ua.Variant {
	f.overflows++
	return []ua.Variant{ua.String("overflow")}
}

func withEvents(size uint32, discardOldest bool) func(*ItemConfig) {
	return func(c *ItemConfig) {
		c.Events, c.QueueSize, c.DiscardOldest = new(newEvents), size, discardOldest
	}
}

func (p *plant) event(i *Item, numbers ...int64) {
	for _, n := range numbers {
		i.PushEvent(&testEvent{n})
	}
}

// TestQueueing is about the queues of monitored items (T6).
func TestQueueing(t *testing.T) {
	playRows(t, Limits{}, []row{
		{"a queue of one has no ring and keeps the newest", func(p *plant) {
			i := p.item(1)
			p.push(i, 1, 2, 3)
			p.equal(i.ring == nil, true)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[3]")
		}},
		{"a queue of one has no overflow bit", func(p *plant) {
			i := p.item(1, withQueue(1, false))
			p.push(i, 1, 2, 3)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[3]")
		}},
		{"values keep their order", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 1, 2, 3)
			p.live()
			p.cycle()
			p.push(i, 4)
			p.cycle()
			p.equal(p.got(1), "[1 2 3 4]")
		}},
		{"exactly full overflows nothing", func(p *plant) {
			i := p.item(1, withQueue(3, true))
			p.push(i, 1, 2, 3)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2 3]")
		}},
		{"discard oldest marks the new oldest", func(p *plant) {
			i := p.item(1, withQueue(3, true))
			p.push(i, 1, 2, 3, 4, 5)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[3! 4 5]")
			p.equal(p.sub.overflows.Load(), 2)
		}},
		{"discard newest overwrites and marks the newest", func(p *plant) {
			i := p.item(1, withQueue(3, false))
			p.push(i, 1, 2, 3, 4, 5)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2 5!]")
		}},
		{"the overflow bit is gone with its value", func(p *plant) {
			i := p.item(1, withQueue(2, false))
			p.push(i, 1, 2, 3)
			p.live()
			p.cycle()
			p.push(i, 3) // is what was accepted last
			p.push(i, 4, 5)
			p.cycle()
			p.equal(p.got(1), "[1 3! 4 5]")
		}},
		{"a ring goes round", func(p *plant) {
			i := p.item(1, withQueue(3, true))
			p.live()
			for n := range 20 {
				p.push(i, float64(2*n), float64(2*n+1))
				p.cycle()
			}
			p.equal(len(p.c.data[1]), 40)
			p.equal(slices.Contains(p.c.data[1], "39"), true)
		}},
		{"the same value is reported once", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 1, 1, 1, 2, 2)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2]")
		}},
		{"a change of status is reported", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 1)
			p.status(i, 1, ua.BadCommunicationError)
			p.push(i, 1)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 1(BadCommunicationError) 1]")
		}},
		{"a new timestamp alone is not reported", func(p *plant) {
			i := p.item(1)
			i.Push(&ua.DataValue{Value: ua.Double(1), SourceTimestamp: 5}, 0)
			p.live()
			p.cycle()
			i.Push(&ua.DataValue{Value: ua.Double(1), SourceTimestamp: 6}, 0)
			p.cycle()
			p.equal(p.got(1), "[1]")
		}},
		{"the placeholder of the initial value is overwritten", func(p *plant) {
			for handle, size := range map[uint32]uint32{1: 1, 2: 5} {
				i := p.item(handle, withQueue(size, true))
				p.status(i, 0, ua.BadWaitingForInitialData)
				p.push(i, 7)
			}
			p.live()
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[7][7]")
		}},
		{"an initial value that is late is left out", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 2)
			i.PushInitial(&ua.DataValue{Value: ua.Double(1)}, p.at)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[2]")
		}},
		{"a sample before its time overwrites the newest", func(p *plant) {
			i := p.item(1, func(c *ItemConfig) { c.QueueSize, c.Sampling, c.Continuous = 5, 40*time.Millisecond, true })
			for n := range 10 {
				p.push(i, float64(n))
				p.at += 10 * time.Millisecond
			}
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 5 9]")
		}},
		{"a sample before its time alone waits for it", func(p *plant) {
			i := p.item(1, func(c *ItemConfig) { c.Sampling, c.Continuous = 600*time.Millisecond, true })
			p.live()
			p.push(i, 1)
			p.cycle()
			p.push(i, 2)
			p.cycle()
			p.equal(p.got(1), "[1]")
			p.push(i, 3)
			p.cycle()
			p.equal(p.got(1), "[3]")
		}},
		{"a source with the period of the sampling loses nothing", func(p *plant) {
			i := p.item(1, func(c *ItemConfig) { c.QueueSize, c.Sampling, c.Continuous = 10, 100*time.Millisecond, true })
			p.live()
			for n := range 50 {
				p.until(time.Duration(n+1)*100*time.Millisecond + time.Duration(n*7%11-5)*time.Millisecond)
				p.push(i, float64(n))
			}
			p.cycle()
			p.cycle()
			p.equal(len(p.c.data[1]), 50)
		}},
		{"the marker of an unknown node is not overwritten", func(p *plant) {
			i := p.item(1, func(c *ItemConfig) { c.QueueSize, c.Sampling, c.Continuous = 5, time.Second, true })
			p.status(i, 0, ua.BadNodeIdUnknown)
			p.push(i, 7)
			p.live()
			p.pass(3 * time.Second)
			p.equal(p.got(1), "[0(BadNodeIdUnknown) 7]")
		}},
		{"a smaller queue keeps the newest", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 1, 2, 3, 4)
			cfg := ItemConfig{ClientHandle: 1, QueueSize: 2, DiscardOldest: true, Timestamps: ua.TimestampsToReturnBoth}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[3! 4]")
		}},
		{"a smaller queue keeps the oldest and the very newest", func(p *plant) {
			i := p.item(1, withQueue(5, false))
			p.push(i, 1, 2, 3, 4)
			cfg := ItemConfig{ClientHandle: 1, QueueSize: 2, Timestamps: ua.TimestampsToReturnBoth}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 4!]")
		}},
		{"a queue that becomes one keeps the newest", func(p *plant) {
			i := p.item(1, withQueue(5, false))
			p.push(i, 1, 2, 3)
			cfg := ItemConfig{ClientHandle: 1, QueueSize: 1, Timestamps: ua.TimestampsToReturnBoth}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			p.live()
			p.cycle()
			p.push(i, 4)
			p.cycle()
			p.equal(p.got(1), "[3 4]")
		}},
		{"a larger queue keeps what waits", func(p *plant) {
			i := p.item(1)
			p.push(i, 1)
			cfg := ItemConfig{ClientHandle: 1, QueueSize: 5, DiscardOldest: true, Timestamps: ua.TimestampsToReturnBoth}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			p.push(i, 2, 3)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2 3]")
		}},
		{"another group gives the values after a new sampling interval", func(p *plant) {
			var w Wheel
			old, other := w.Join(1, nil, 10*ms, 0), w.Join(1, nil, 20*ms, 0)
			i := p.item(1, func(c *ItemConfig) { c.Node = &old.Node })
			cfg := ItemConfig{ClientHandle: 1, Node: &other.Node, Sampling: 20 * ms}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			old.Sample(&ua.DataValue{Value: ua.Double(1)}, 0)
			other.Sample(&ua.DataValue{Value: ua.Double(2)}, 0)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[2]")
			p.equal(old.Len()+other.Len(), 1)
		}},
		{"a new client handle holds for what waits", func(p *plant) {
			i := p.item(1, withQueue(5, true))
			p.push(i, 1, 2)
			cfg := ItemConfig{ClientHandle: 8, QueueSize: 5, DiscardOldest: true, Timestamps: ua.TimestampsToReturnBoth}
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, i.id, &cfg), ua.Good)
			p.live()
			p.cycle()
			p.equal(p.got(1)+p.got(8), "[][1 2]")
		}},
		{"two items with one client handle both report (U14)", func(p *plant) {
			a, b := p.item(1), p.item(1)
			p.push(a, 1)
			p.push(b, 2)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2]")
		}},
		{"a queue size of 0 is the default", func(p *plant) {
			c := ItemConfig{}
			p.sub.CreateItem(p.now(), p.c.s, &c)
			e := ItemConfig{Events: new(newEvents)}
			p.sub.CreateItem(p.now(), p.c.s, &e)
			p.equal(fmt.Sprint(c.QueueSize, e.QueueSize), "1 1000")
		}},
		{"timestamps that were not asked for are left out", func(p *plant) {
			want := map[ua.TimestampsToReturn]string{ua.TimestampsToReturnSource: "5 0", ua.TimestampsToReturnServer: "0 6", ua.TimestampsToReturnBoth: "5 6", ua.TimestampsToReturnNeither: "0 0"}
			for stamps := range want {
				i := p.item(uint32(stamps), func(c *ItemConfig) { c.Timestamps = stamps })
				i.Push(&ua.DataValue{Value: ua.Double(1), SourceTimestamp: 5, ServerTimestamp: 6}, 0)
			}
			p.c.keep = []*Ref{}
			p.c.publish(1)
			p.cycle()
			for _, n := range p.c.keep[0].Message().Data() {
				p.equal(fmt.Sprint(int64(n.Value.SourceTimestamp), int64(n.Value.ServerTimestamp)), want[ua.TimestampsToReturn(n.ClientHandle)])
			}
			p.c.keep[0].Release()
		}},
		{"a range is cut before values are compared", func(p *plant) {
			rng, _ := ua.ParseNumericRange("1:2")
			i := p.item(1, both(withQueue(9, true), func(c *ItemConfig) { c.Range = rng }))
			for _, a := range [][]int32{{1, 2, 3}, {9, 2, 3}, {9, 2, 4}, {1}} {
				i.Push(&ua.DataValue{Value: ua.Array(a)}, 0)
			}
			p.live()
			p.cycle()
			p.equal(len(p.c.data[1]), 3)
			p.equal(p.c.data[1][2], "null(BadIndexRangeNoData)")
		}},
		{"a filter sees what was accepted last", func(p *plant) {
			f := new(onlyEven)
			i := p.item(1, both(withQueue(9, true), func(c *ItemConfig) { c.Filter = f }))
			p.push(i, 1, 2, 3, 4, 5) // the first one is always reported
			p.live()
			p.cycle()
			p.equal(p.got(1), "[1 2 4]")
			p.equal(f.calls, 4)
		}},
		{"an item without a filter has nothing extra", func(p *plant) { p.equal(p.item(1).ext == nil, true) }},
		{"a limit of 2 notifications means 6 of an item", func(p *plant) {
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 2})
			a, b := p.item(1, withQueue(100, true)), p.item(2)
			for n := range 10 {
				p.push(a, float64(n))
			}
			p.push(b, 77)
			p.c.publish(4)
			p.cycle()
			p.c.expect("sub 1 seq 1: 1=0 1=1 avail [1] more", "sub 1 seq 2: 1=2 1=3 avail [1 2] more",
				"sub 1 seq 3: 1=4 1=5 avail [1 2 3] more", "sub 1 seq 4: 2=77 avail [1 2 3 4] more")
			p.c.publish(2)
			p.c.expect("sub 1 seq 5: 1=6 1=7 avail [1 2 3 4 5] more", "sub 1 seq 6: 1=8 1=9 avail [1 2 3 4 5 6]")
		}},
		{"at most two less than are retained are made at once", func(p *plant) {
			p.sub.sent.Init(p.sub.id, 5)
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
			for n := range 10 {
				p.push(p.item(uint32(n)), 1)
			}
			p.c.publish(1)
			p.cycle()
			p.equal(fmt.Sprint(p.sub.sent.Len(), len(p.sub.publish)), "4 6")
			p.live()
			p.cycle()
			p.equal(len(p.c.data), 10)
			p.equal(p.sub.sent.Discarded(), 0)
		}},
		{"events go before values", func(p *plant) {
			v, e := p.item(1), p.item(2, withEvents(10, true))
			p.push(v, 1)
			p.event(e, 5)
			p.c.publish(1)
			p.cycle()
			p.c.expect("sub 1 seq 1: e2=[5] 1=1 avail [1]")
		}},
		{"events keep their order, and the filter leaves out", func(p *plant) {
			e := p.item(1, withEvents(10, true))
			p.event(e, 1, -1, 2, 3)
			p.live()
			p.cycle()
			p.equal(p.got(1), "[[1] [2] [3]]")
		}},
		{"an event that waits is not taken twice", func(p *plant) {
			e := p.item(1, withEvents(10, true))
			ev := &testEvent{4}
			e.PushEvent(ev)
			e.PushEvent(ev)
			p.live()
			p.cycle()
			e.PushEvent(ev)
			p.cycle()
			p.equal(p.got(1), "[[4] [4]]")
		}},
		{"discarding the oldest events reports it first", func(p *plant) {
			e := p.item(1, withEvents(2, true))
			p.event(e, 1, 2, 3, 4)
			p.live()
			p.cycle()
			p.event(e, 5)
			p.cycle()
			p.equal(p.got(1), `[["overflow"] [3] [4] [5]]`)
			p.equal(p.sub.eventOverflows.Load(), 2)
		}},
		{"discarding the newest events reports it last", func(p *plant) {
			e := p.item(1, withEvents(2, false))
			p.event(e, 1, 2, 3, 4)
			p.live()
			p.cycle()
			p.equal(p.got(1), `[[1] [2] ["overflow"]]`)
		}},
		{"an item for events takes no values, and the reverse", func(p *plant) {
			e, v := p.item(1, withEvents(2, true)), p.item(2)
			p.push(e, 1)
			p.event(v, 1)
			p.live()
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[][]")
		}},
		{"a disabled item takes nothing", func(p *plant) {
			v, e := p.item(1, withMode(ua.MonitoringModeDisabled)), p.item(2, both(withEvents(2, true), withMode(ua.MonitoringModeDisabled)))
			p.push(v, 1)
			p.event(e, 1)
			p.mode(v, ua.MonitoringModeReporting)
			p.mode(e, ua.MonitoringModeReporting)
			p.live()
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[][]")
		}},
		{"what is enabled again reports its value even if it is the old one", func(p *plant) {
			i := p.item(1)
			p.push(i, 1)
			p.live()
			p.cycle()
			p.mode(i, ua.MonitoringModeDisabled)
			p.mode(i, ua.MonitoringModeReporting)
			i.PushInitial(&ua.DataValue{Value: ua.Double(1)}, p.at)
			p.cycle()
			p.equal(p.got(1), "[1 1]")
		}},
		{"resending gives one value of each reporting item (U33)", func(p *plant) {
			a, b, s, e := p.item(1, withQueue(5, true)), p.item(2, withQueue(5, true)), p.item(3, withMode(ua.MonitoringModeSampling)), p.item(4, withEvents(5, true))
			p.push(a, 1, 2)
			p.push(s, 3)
			p.event(e, 9)
			p.live()
			p.cycle()
			p.push(b, 5, 6) // waits, so nothing is repeated
			p.c.data = map[uint32][]string{}
			p.equal(p.m.ResendData(p.now(), p.c.s, p.sub.id), ua.Good)
			p.cycle()
			p.cycle()
			p.equal(p.got(1)+p.got(2)+p.got(3)+p.got(4), "[2][5 6][][]")
		}},
		{"resending for another session is refused (U33)", func(p *plant) {
			other := p.client()
			p.equal(p.m.ResendData(p.now(), other.s, p.sub.id), ua.BadUserAccessDenied)
			_, _, status := p.m.GetMonitoredItems(p.now(), other.s, p.sub.id)
			p.equal(status, ua.BadUserAccessDenied)
			p.equal(p.m.ResendData(p.now(), p.c.s, 99), ua.BadSubscriptionIdInvalid)
		}},
		{"the items are listed in pairs (U33)", func(p *plant) {
			for n := range 20 {
				p.item(uint32(100 + n))
			}
			server, handles, _ := p.m.GetMonitoredItems(p.now(), p.c.s, p.sub.id)
			p.equal(len(server), 20)
			for n, id := range server {
				p.equal(p.sub.items[id].handle, handles[n])
			}
		}},
		{"a deleted item reports nothing more", func(p *plant) {
			node := new(Node)
			a := p.item(1, func(c *ItemConfig) { c.Node = node })
			b := p.item(2, func(c *ItemConfig) { c.Node = node })
			node.Push(&ua.DataValue{Value: ua.Double(1)}, 0)
			results, _ := p.sub.DeleteItems(p.now(), p.c.s, []uint32{a.id, 99, a.id})
			p.equal(names(results), "[Good BadMonitoredItemIdInvalid BadMonitoredItemIdInvalid]")
			p.push(a, 5)
			p.live()
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[][1]")
			p.equal(fmt.Sprint(node.Len(), p.removed, b.at), "1 1 0")
		}},
		{"unknown items and modes have their status", func(p *plant) {
			_, _, status := p.sub.SetMode(p.now(), p.c.s, 99, ua.MonitoringModeSampling)
			p.equal(status, ua.BadMonitoredItemIdInvalid)
			_, _, status = p.sub.SetMode(p.now(), p.c.s, p.item(1).id, 3)
			p.equal(status, ua.BadMonitoringModeInvalid)
			p.equal(p.sub.ModifyItem(p.now(), p.c.s, 99, &ItemConfig{}), ua.BadMonitoredItemIdInvalid)
			_, status = p.sub.DeleteItems(p.now(), p.client().s, nil)
			p.equal(status, ua.BadSubscriptionIdInvalid)
		}},
	})
}

// TestItemLimit: one more than allowed is refused and leaves nothing.
func TestItemLimit(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MaxItemsPerSubscription: 2}})
	c := r.client()
	sub := c.create(Params{})
	node := new(Node)
	for n, want := range []ua.StatusCode{ua.Good, ua.Good, ua.BadTooManyMonitoredItems} {
		if _, status := sub.CreateItem(r.now(), c.s, &ItemConfig{Node: node}); status != want || sub.ItemLimit() != max(1-n, 0) {
			t.Errorf("item %d: %v, %d left", n, status, sub.ItemLimit())
		}
	}
	if node.Len() != 2 || r.m.items.Load() != 2 {
		t.Errorf("%d on the node, %d counted", node.Len(), r.m.items.Load())
	}
}

// reentrant is a filter whose event pushes to the node that it came from, as a user's event may.
type reentrant struct {
	newEvents
	node *Node
}

func (f *reentrant) Select(e Event) ([]ua.Variant, bool) {
	f.node.Push(&ua.DataValue{Value: ua.Int64(e.(*testEvent).n)}, 0)
	if n := e.(*testEvent).n; n < 3 {
		f.node.PushEvent(&testEvent{n + 1})
	}
	return f.newEvents.Select(e)
}

// TestEventsHoldNoLock: what an event does when it is asked for its fields cannot block.
func TestEventsHoldNoLock(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{})
	var node Node
	c.item(sub, 1, func(cfg *ItemConfig) { cfg.Node, cfg.Events, cfg.QueueSize = &node, &reentrant{node: &node}, 10 })
	c.item(sub, 2, func(cfg *ItemConfig) { cfg.Node, cfg.QueueSize = &node, 10 })
	node.PushEvent(&testEvent{1})
	c.publish(1)
	r.pass(100 * time.Millisecond)
	c.expect("sub 1 seq 1: e1=[3] e1=[2] e1=[1] 2=1 2=2 2=3 avail [1]")
}
