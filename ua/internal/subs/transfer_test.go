package subs

import (
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// TestTransfer is about subscriptions that change their session (1.14).
func TestTransfer(t *testing.T) {
	begin := func(p *plant, to *client) *Transfer {
		p.t.Helper()
		tr, status := p.m.BeginTransfer(p.now(), to.s, p.sub.id)
		if status != ua.Good {
			p.t.Fatal(status)
		}
		return tr
	}
	end := func(p *plant, c *client) { p.m.CloseSession(p.now(), c.s, true, ua.BadSessionClosed) }
	playRows(t, Limits{MaxSubscriptionsPerSession: 2, MinLifetime: time.Millisecond}, []row{
		{"a claimed subscription stands still and loses nothing", func(p *plant) {
			to := p.client()
			i := p.item(1, withQueue(100, true))
			p.c.publish(2)
			p.push(i, 1)
			tr := begin(p, to)
			p.push(i, 2)
			p.pass(time.Hour) // not even its lifetime ends
			p.c.expect()
			p.push(i, 3)
			tr.Rollback(p.now())
			p.cycle()
			p.c.expect("sub 1 seq 1: 1=1 1=2 1=3 avail [1]")
			end(p, to)
		}},
		{"a request does not take what is claimed", func(p *plant) {
			to := p.client()
			i := p.item(1)
			p.push(i, 1)
			p.cycle() // late
			tr := begin(p, to)
			p.c.publish(1)
			p.c.expect()
			tr.Rollback(p.now())
			p.c.expect("sub 1 seq 1: 1=1 avail [1]")
			end(p, to)
		}},
		{"a second claim is refused", func(p *plant) {
			a, b := p.client(), p.client()
			tr := begin(p, a)
			_, status := p.m.BeginTransfer(p.now(), b.s, p.sub.id)
			p.equal(status, ua.BadInvalidState)
			_, status = tr.Commit(p.now(), false, false, nil)
			p.equal(status, ua.Good)
			_, status = p.m.BeginTransfer(p.now(), a.s, p.sub.id)
			p.equal(status, ua.BadNothingToDo)
			end(p, a)
			end(p, b)
		}},
		{"numbers go on without a gap, only sent ones are listed", func(p *plant) {
			to := p.client()
			p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
			i := p.item(1, withQueue(9, true))
			p.push(i, 1, 2, 3)
			p.c.publish(1)
			p.cycle()
			p.c.expect("sub 1 seq 1: 1=1 avail [1] more")
			available, status := begin(p, to).Commit(p.now(), true, false, nil)
			p.equal(status, ua.Good)
			p.equal(available, "[1]")
			to.publish(3)
			p.cycle()
			to.expect("sub 1 seq 2: 1=2 avail [1 2] more", "sub 1 seq 3: 1=3 avail [1 2 3]", "sub 1 seq 4: 1=3 avail [1 2 3 4]")
			p.c.publish(1)
			p.c.expect("sub 1 seq 2: GoodSubscriptionTransferred")
			end(p, to)
		}},
		{"initial values are sent once, for reporting items", func(p *plant) {
			to := p.client()
			a, b := p.item(1), p.item(2, withMode(ua.MonitoringModeSampling))
			p.push(a, 1)
			p.push(b, 1)
			p.c.publish(1)
			p.cycle()
			_, status := begin(p, to).Commit(p.now(), true, false, nil)
			p.equal(status, ua.Good)
			to.publish(2)
			p.cycle()
			p.cycle()
			to.expect("sub 1 seq 2: 1=1 avail [1 2]")
			end(p, to)
		}},
		{"deleted meanwhile", func(p *plant) {
			to := p.client()
			tr := begin(p, to)
			p.equal(p.m.Delete(p.now(), p.c.s, p.sub.id), ua.Good)
			_, status := tr.Commit(p.now(), false, false, nil)
			p.equal(status, ua.BadSubscriptionIdInvalid)
			end(p, to)
		}},
		{"the new session ends meanwhile: all stays where it was", func(p *plant) {
			to := p.client()
			i := p.item(1)
			tr := begin(p, to)
			end(p, to)
			_, status := tr.Commit(p.now(), false, false, nil)
			p.equal(status, ua.BadSessionClosed)
			p.push(i, 1)
			p.c.publish(1)
			p.cycle()
			p.c.expect("sub 1 seq 1: 1=1 avail [1]")
		}},
		{"the new session has too many: all stays where it was", func(p *plant) {
			to := p.client()
			to.create(Params{})
			to.create(Params{})
			p.c.publish(1)
			_, status := begin(p, to).Commit(p.now(), false, false, nil)
			p.equal(status, ua.BadTooManySubscriptions)
			p.cycle()
			p.c.expect("sub 1 seq 1: keep-alive")
			end(p, to)
		}},
		{"the old session ends meanwhile", func(p *plant) {
			to := p.client()
			i := p.item(1, withQueue(9, true))
			p.push(i, 1)
			tr := begin(p, to)
			p.m.CloseSession(p.now(), p.c.s, false, ua.BadSessionClosed)
			p.push(i, 2)
			_, status := tr.Commit(p.now(), false, false, nil)
			p.equal(status, ua.Good)
			to.publish(1)
			p.cycle()
			to.expect("sub 1 seq 1: 1=1 1=2 avail [1]")
			end(p, to)
		}},
		{"from a session that is gone, with all that was queued", func(p *plant) {
			to := p.client()
			i := p.item(1, withQueue(9, true))
			p.push(i, 1)
			p.c.publish(1)
			p.cycle()
			p.m.CloseSession(p.now(), p.c.s, false, ua.BadSessionClosed)
			p.push(i, 2, 3)
			p.pass(500 * time.Millisecond)
			available, status := begin(p, to).Commit(p.now(), false, false, nil)
			p.equal(status, ua.Good)
			p.equal(available, "[1]")
			to.publish(1)
			to.expect("sub 1 seq 2: 1=2 1=3 avail [1 2]") // it was late
			end(p, to)
		}},
		{"the owner is that of the session that is gone", func(p *plant) {
			who := p.m.OpenSession("alice")
			sub, _ := p.m.Create(p.now(), who, Params{}, true)
			p.m.CloseSession(p.now(), who, false, ua.BadSessionClosed)
			tr, _ := p.m.BeginTransfer(p.now(), p.c.s, sub.id)
			p.equal(tr.Owner(), "alice")
			tr.Rollback(p.now())
		}},
		{"durable: refused without support, for others, and with items", func(p *plant) {
			_, status := p.m.SetDurable(p.now(), p.c.s, p.sub.id, 1)
			p.equal(status, ua.BadNotSupported)
			p.m.cfg.Limits.MaxDurableHours = 10
			_, status = p.m.SetDurable(p.now(), p.client().s, p.sub.id, 1)
			p.equal(status, ua.BadUserAccessDenied)
			for ask, want := range map[uint32]uint32{0: 10, 11: 10, 2: 2} {
				hours, status := p.m.SetDurable(p.now(), p.c.s, p.sub.id, ask)
				p.equal(status, ua.Good)
				p.equal(hours, want)
				p.equal(p.sub.p.LifetimeCount, want*36000)
			}
			p.item(1)
			_, status = p.m.SetDurable(p.now(), p.c.s, p.sub.id, 1)
			p.equal(status, ua.BadInvalidState)
		}},
	})
}

// TestConcurrency: clients publish, change, transfer and leave while values come and ticks run.
func TestConcurrency(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MinPublishingInterval: time.Millisecond, MaxPublishRequests: 5}})
	r.m.cfg.Wake, r.m.schedule.wake, r.m.cfg.Removed = nil, func() {}, nil
	var now sync.Mutex
	at := time.Duration(0)
	clock := func() Now {
		now.Lock()
		defer now.Unlock()
		at += 50 * time.Microsecond
		return Now{At: at}
	}
	nodes := make([]Node, 5)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	work := func(f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		}()
	}
	work(func() { r.m.Run(clock()) })
	for n := range nodes {
		value := 0.0
		work(func() {
			value++
			nodes[n].Push(&ua.DataValue{Value: ua.Double(value)}, at0(clock))
		})
	}
	ids := make(chan uint32, 1000)
	for range 3 {
		work(func() {
			s := r.m.OpenSession(nil)
			d := &inOrder{t, map[uint32]uint32{}}
			sub, status := r.m.Create(clock(), s, Params{PublishingInterval: 1, MaxKeepAliveCount: 5}, true)
			if status != ua.Good {
				t.Error(status)
				return
			}
			var items []*Item
			for n := range nodes {
				mode := ua.MonitoringModeReporting
				if n == 4 {
					mode = ua.MonitoringModeSampling
				}
				if i, status := sub.CreateItem(clock(), s, &ItemConfig{Node: &nodes[n], Mode: mode, QueueSize: uint32(n + 1), DiscardOldest: true}); status == ua.Good {
					items = append(items, i)
				}
			}
			if len(items) == 5 {
				sub.SetTriggering(clock(), s, items[0].id, []uint32{items[4].id}, nil)
			}
			for n := range 50 {
				s.Publish(clock(), &Request{Responder: d, Acknowledgements: []ua.SubscriptionAcknowledgement{{SubscriptionID: sub.id, SequenceNumber: uint32(n)}}})
				if n%10 == 0 && len(items) == 5 {
					sub.SetMode(clock(), s, items[n%5].id, ua.MonitoringMode(n/10%3))
					r.m.ResendData(clock(), s, sub.id)
					var out Ref
					sub.Republish(clock(), s, uint32(n), &out)
					out.Release()
				}
				if n == 30 {
					select {
					case id := <-ids:
						if tr, status := r.m.BeginTransfer(clock(), s, id); status == ua.Good {
							if n := len(s.Subscriptions(nil)); n < 3 {
								tr.Commit(clock(), true, true, nil)
							} else {
								tr.Rollback(clock())
							}
						}
					default:
					}
				}
			}
			if len(items) == 5 {
				sub.DeleteItems(clock(), s, []uint32{items[2].id})
			}
			select {
			case ids <- sub.id:
			default:
			}
			r.m.CloseSession(clock(), s, at0(clock)%2 == 0, ua.BadSessionClosed)
		})
	}
	time.Sleep(700 * time.Millisecond)
	close(stop)
	wg.Wait()
	for _, sub := range r.m.orphans.subs {
		r.m.Delete(clock(), r.m.orphans, sub.id)
	}
	if n := r.leased(); n != 0 {
		t.Errorf("%d messages are still out", n)
	}
	if s := r.m.Stats(clock()); s.Sessions != 0 || s.Subscriptions != 0 || s.Items != 0 {
		t.Errorf("left over: %+v", s)
	}
	for n := range nodes {
		if nodes[n].Len() != 0 {
			t.Errorf("%d items are still on node %d", nodes[n].Len(), n)
		}
	}
}

func at0(clock func() Now) time.Duration { return clock().At }

// inOrder releases what it gets. It needs no lock, as a session's answers come one after the other.
type inOrder struct {
	t    *testing.T
	last map[uint32]uint32
}

func (d *inOrder) Answer(r *Request) {
	if m := r.Answer.Message.Message(); m != nil {
		if id := r.Answer.SubscriptionID; m.SequenceNumber < d.last[id] {
			d.t.Errorf("subscription %d: number %d after %d", id, m.SequenceNumber, d.last[id])
		} else {
			d.last[id] = m.SequenceNumber
		}
	}
	r.Answer.Message.Release()
}

// TestNoLostWakeUp: R1. Goroutines push while ticks run; the last value of each item arrives without another
// push.
func TestNoLostWakeUp(t *testing.T) {
	r := newRig(t, Config{Limits: Limits{MinPublishingInterval: time.Millisecond}})
	wake := make(chan struct{}, 1)
	r.m.cfg.Wake = func() {}
	r.m.schedule.wake = func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	c := r.client()
	c.auto, c.ack = true, true
	sub := c.create(Params{PublishingInterval: 1})
	const items, pushes = 8, 2000
	nodes := make([]Node, items)
	for n := range nodes {
		c.item(sub, uint32(n), func(cfg *ItemConfig) { cfg.Node, cfg.QueueSize = &nodes[n], uint32(1+n%2*4) })
	}
	c.publish(2)
	var wg sync.WaitGroup
	for n := range nodes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for v := range pushes {
				nodes[n].Push(&ua.DataValue{Value: ua.Int32(int32(v + 1))}, 0)
			}
		}()
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		r.at += 100 * time.Microsecond
		r.m.Run(r.now())
	}
	// From here on only as a loop does it: when due or woken.
	next := r.m.Run(r.now())
	for range 50 {
		select {
		case <-wake:
			next = r.m.Run(r.now())
		default:
			r.at = next
			next = r.m.Run(r.now())
		}
	}
	for n := range nodes {
		list := c.data[uint32(n)]
		if len(list) == 0 || list[len(list)-1][:4] != "2000" {
			t.Errorf("item %d ends with %v", n, list[max(0, len(list)-3):])
		}
	}
}
