package subs

import (
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

func sampling(size uint32) func(*ItemConfig) {
	return both(withMode(ua.MonitoringModeSampling), withQueue(size, true))
}

// links calls SetTriggering and returns the results as text.
func (p *plant) links(item uint32, add, remove []uint32) (added, removed []string, status ua.StatusCode) {
	a, r, status := p.sub.SetTriggering(p.now(), p.c.s, item, add, remove)
	return names(a), names(r), status
}

// TestTriggering is about SetTriggering and what it does (T6).
func TestTriggering(t *testing.T) {
	playRows(t, Limits{}, []row{
		{"nothing to do", func(p *plant) {
			_, _, status := p.links(p.item(1).id, nil, nil)
			p.equal(status, ua.BadNothingToDo)
		}},
		{"an unknown triggering item", func(p *plant) {
			_, _, status := p.links(99, []uint32{p.item(1).id}, nil)
			p.equal(status, ua.BadMonitoredItemIdInvalid)
		}},
		{"another session's subscription", func(p *plant) {
			_, _, status := p.sub.SetTriggering(p.now(), p.client().s, p.item(1).id, []uint32{1}, nil)
			p.equal(status, ua.BadSubscriptionIdInvalid)
		}},
		{"each link has its result", func(p *plant) {
			t, a := p.item(1), p.item(2)
			added, removed, status := p.links(t.id, []uint32{a.id, 99}, []uint32{a.id, 98})
			p.equal(status, ua.Good)
			p.equal(added, "[Good BadMonitoredItemIdInvalid]")
			p.equal(removed, "[BadMonitoredItemIdInvalid BadMonitoredItemIdInvalid]") // removed first
			_, removed, _ = p.links(t.id, nil, []uint32{a.id, a.id})
			p.equal(removed, "[Good BadMonitoredItemIdInvalid]")
			p.equal(p.sub.links, 0)
		}},
		{"a link twice is one", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			added, _, _ := p.links(t.id, []uint32{a.id, a.id}, nil)
			p.equal(added, "[Good Good]")
			p.equal(p.sub.links, 1)
		}},
		{"the initial value does not trigger", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(a, 10)
			p.push(t, 1)
			p.cycle()
			p.equal(p.got(2), "[]")
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(2), "[10]")
		}},
		{"a trigger reports once", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 1, 2)
			p.push(a, 10)
			p.cycle()
			p.push(a, 11)
			p.cycle()
			p.cycle()
			p.equal(p.got(2), "[10]")
		}},
		{"a trigger without a sample reports nothing, nor later", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 1, 2)
			p.cycle()
			p.push(a, 10)
			p.cycle()
			p.equal(p.got(2), "[]")
		}},
		{"all queued samples are reported", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(3))
			p.trigger(t, a)
			p.live()
			p.push(t, 1, 2)
			p.push(a, 10, 11, 12, 13)
			p.cycle()
			p.equal(p.got(2), "[11! 12 13]")
		}},
		{"a sampling item triggers too, and is not reported", func(p *plant) {
			t, a := p.item(1, sampling(1)), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 1)
			p.push(a, 10)
			p.cycle()
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[][10]")
		}},
		{"a disabled item does not trigger", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 1)
			p.push(a, 10)
			p.cycle()
			p.mode(t, ua.MonitoringModeDisabled)
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(2), "[]")
		}},
		{"a disabled item is not triggered", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 1)
			p.push(a, 10)
			p.mode(a, ua.MonitoringModeDisabled)
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(2), "[]")
		}},
		{"a reporting item that is linked reports as always", func(p *plant) {
			t, a := p.item(1), p.item(2)
			p.trigger(t, a)
			p.live()
			p.push(a, 10)
			p.cycle()
			p.push(t, 1, 2)
			p.cycle()
			p.push(a, 11)
			p.cycle()
			p.equal(p.got(2), "[10 11]")
		}},
		{"one item triggers many, and many one", func(p *plant) {
			t, u := p.item(1), p.item(2)
			a, b := p.item(3, sampling(1)), p.item(4, sampling(1))
			p.trigger(t, a, b)
			p.trigger(u, a)
			p.live()
			p.push(t, 1)
			p.push(u, 1)
			p.push(a, 10)
			p.push(b, 20)
			p.cycle()
			p.push(u, 2)
			p.cycle()
			p.equal(p.got(3)+p.got(4), "[10][]")
			p.push(a, 11)
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(3)+p.got(4), "[11][20]")
		}},
		{"an item may trigger itself", func(p *plant) {
			t := p.item(1, sampling(1))
			p.trigger(t, t)
			p.live()
			p.push(t, 1)
			p.cycle()
			p.push(t, 2)
			p.cycle()
			p.equal(p.got(1), "[2]")
		}},
		{"items that trigger each other come to an end", func(p *plant) {
			a, b := p.item(1, sampling(1)), p.item(2, sampling(1))
			p.trigger(a, b)
			p.trigger(b, a)
			p.live()
			p.push(a, 1)
			p.push(b, 1)
			p.cycle()
			p.push(a, 2)
			p.cycle()
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[][1]")
		}},
		{"a removed link triggers no more", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.links(t.id, nil, []uint32{a.id})
			p.live()
			p.push(t, 1, 2)
			p.push(a, 10)
			p.cycle()
			p.equal(p.got(2), "[]")
		}},
		{"a deleted linked item is out of the links", func(p *plant) {
			t, a, b := p.item(1), p.item(2, sampling(1)), p.item(3, sampling(1))
			p.trigger(t, a, b)
			p.sub.DeleteItems(p.now(), p.c.s, []uint32{a.id})
			p.equal(p.sub.links, 1)
			p.live()
			p.push(b, 20)
			p.push(t, 1, 2)
			p.cycle()
			p.equal(p.got(2)+p.got(3), "[][20]")
		}},
		{"a deleted triggering item is out of the links", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.sub.DeleteItems(p.now(), p.c.s, []uint32{t.id})
			p.equal(p.sub.links, 0)
			p.equal(len(a.ext.triggeredBy), 0)
		}},
		{"links survive a change of mode", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.mode(a, ua.MonitoringModeReporting)
			p.mode(a, ua.MonitoringModeSampling)
			p.mode(t, ua.MonitoringModeDisabled)
			p.mode(t, ua.MonitoringModeReporting)
			p.live()
			p.push(a, 10)
			p.push(t, 1, 2)
			p.cycle()
			p.equal(p.got(2), "[10]")
		}},
		{"events trigger samples", func(p *plant) {
			t, a := p.item(1, withEvents(5, true)), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(a, 10)
			p.event(t, 1)
			p.cycle()
			p.equal(p.got(1)+p.got(2), "[[1]][10]")
		}},
		{"what a filter leaves out does not trigger", func(p *plant) {
			t, a := p.item(1, func(c *ItemConfig) { c.Filter = new(onlyEven) }), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.push(t, 2)
			p.push(a, 10)
			p.cycle()
			p.push(t, 3)
			p.cycle()
			p.equal(p.got(2), "[]")
			p.push(t, 4)
			p.cycle()
			p.equal(p.got(2), "[10]")
		}},
		{"a trigger while publishing is disabled fires after it", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.live()
			p.sub.SetPublishing(p.now(), p.c.s, false)
			p.push(a, 10)
			p.push(t, 1, 2)
			p.cycle()
			p.equal(p.got(2), "[]")
			p.sub.SetPublishing(p.now(), p.c.s, true)
			p.cycle()
			p.equal(p.got(2), "[10]")
		}},
		{"a trigger while late fires with the next request", func(p *plant) {
			t, a := p.item(1), p.item(2, sampling(1))
			p.trigger(t, a)
			p.push(t, 1)
			p.pass(300 * time.Millisecond)
			p.push(a, 10)
			p.push(t, 2)
			p.live()
			p.equal(p.got(1)+p.got(2), "[2][10]")
		}},
	})
}
