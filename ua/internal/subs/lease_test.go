package subs

import (
	"reflect"
	"testing"

	"github.com/actua/actua/ua"
)

// The cases of a lease. Each runs over both carriers.

func overCarriers(t *testing.T, test func(t *testing.T, c carrier)) {
	for _, c := range carriers {
		t.Run(c.name, func(t *testing.T) { test(t, c) })
	}
}

// enqueued makes a queue with one message of this kind that was sent, and the response that carries it.
func enqueued(t *testing.T, p *Pools, kind string) (*SentQueue, *Message, *Ref) {
	t.Helper()
	q := NewSentQueue(9, 10)
	m := build(p, q, kind)
	r := new(Ref)
	if q.Enqueue([]*Message{m}, r) || r.Message() != m {
		t.Fatal("the message was not handed out")
	}
	return q, m, r
}

func TestLeaseAcknowledgeBeforeSendCompletion(t *testing.T) {
	overCarriers(t, func(t *testing.T, c carrier) {
		p := testPools(t)
		q, m, r := enqueued(t, p, "data")
		response := c.park(r)
		q.Acknowledge(1)
		if recycled(m) {
			t.Fatal("the acknowledgement recycled what is being sent")
		}
		other := vandal(p)
		c.expect(t, response.send(), 1, "data")
		if !recycled(m) {
			t.Error("not recycled when it was sent")
		}
		other.release()
		drained(t, p)
	})
}

func TestLeaseRepublishAfterSendCompletion(t *testing.T) {
	overCarriers(t, func(t *testing.T, c carrier) {
		p := testPools(t)
		q, m, r := enqueued(t, p, "events")
		c.expect(t, c.park(r).send(), 1, "events")
		if recycled(m) {
			t.Fatal("recycled though it is retained")
		}
		var again Ref
		if s := q.FindForRepublish(1, &again); s != ua.Good {
			t.Fatal(s)
		}
		response := c.park(&again)
		q.Acknowledge(1)
		other := vandal(p)
		c.expect(t, response.send(), 1, "events")
		if !recycled(m) {
			t.Error("not recycled when it was sent again")
		}
		other.release()
		drained(t, p)
	})
}

// TestLeaseRepublishInAnotherEncoding: sent in chunks, cut, transferred to a carrier of another encoding.
func TestLeaseRepublishInAnotherEncoding(t *testing.T) {
	for _, kind := range []string{"data", "events"} {
		for i, first := range carriers {
			second := carriers[1-i]
			t.Run(first.name+" then "+second.name+"/"+kind, func(t *testing.T) {
				p := testPools(t)
				q, _, r := enqueued(t, p, kind)
				first.expect(t, first.park(r).send(), 1, kind)
				var again Ref
				q.FindForRepublish(1, &again)
				response := second.park(&again)
				q.Acknowledge(1)
				other := vandal(p)
				second.expect(t, response.send(), 1, kind)
				other.release()
				drained(t, p)
			})
		}
	}
}

func TestLeaseFailedSendReleasesTwice(t *testing.T) {
	p := testPools(t)
	q, m, r := enqueued(t, p, "data")
	type answer struct {
		MoreNotifications bool
		Ref
	}
	var response, duplicate answer
	response.MoreNotifications = true
	response.Move(r)
	// The copy that vet forbids, as foreign code makes it.
	reflect.ValueOf(&duplicate).Elem().Set(reflect.ValueOf(&response).Elem())
	response.Release()
	response.Release()
	if !duplicate.MoreNotifications || duplicate.Message() != nil {
		t.Error("a copy of the response has a claim")
	}
	duplicate.Release()
	r.Release()
	if recycled(m) {
		t.Fatal("recycled though the queue has it")
	}
	var again Ref // of a Republish: the releases too many must not be on its account
	if s := q.FindForRepublish(1, &again); s != ua.Good {
		t.Fatal(s)
	}
	before := p.Stats().Messages.Returns
	q.Acknowledge(1)
	response.Release()
	duplicate.Release()
	if recycled(m) {
		t.Fatal("recycled though another response has it")
	}
	again.Release()
	if n := p.Stats().Messages.Returns - before; n != 1 || !recycled(m) {
		t.Errorf("recycled %d times", n)
	}
	drained(t, p)
	// The memory has a new user now, whom a late release must not take it from.
	other := vandal(p)
	response.Release()
	duplicate.Release()
	if other != m || recycled(other) {
		t.Error("a late release took the message from its new user")
	}
	other.release()
	drained(t, p)
}

func TestLeaseKeepAliveHasOneOwner(t *testing.T) {
	overCarriers(t, func(t *testing.T, c carrier) {
		p, q := testPools(t), NewSentQueue(9, 10)
		m := p.NewMessage()
		m.SequenceNumber = q.Announced()
		var r Ref
		r.Adopt(m)
		if !m.IsKeepAlive() || q.Len() != 0 || q.FindForRepublish(1, new(Ref)) != ua.BadMessageNotAvailable {
			t.Error("a keep-alive is retained")
		}
		v, err := c.decode(c.park(&r).send())
		if err != nil || v.SequenceNumber != 1 || len(v.NotificationData) != 0 {
			t.Errorf("%+v, %v", v, err)
		}
		if !recycled(m) {
			t.Error("not recycled when it was sent")
		}
		if q.NextNumber() != 1 {
			t.Error("a keep-alive took a number")
		}
		drained(t, p)
	})
}

func TestLeaseRentedSlice(t *testing.T) {
	overCarriers(t, func(t *testing.T, c carrier) {
		for _, order := range []string{"acknowledge first", "send first"} {
			t.Run(order, func(t *testing.T) {
				p, q := testPools(t), NewSentQueue(9, 10)
				m := p.NewMessage()
				m.SequenceNumber = q.NextNumber()
				d := m.RentData(5) // of a class of 8
				for i := range d {
					d[i] = ua.MonitoredItemNotification{ClientHandle: uint32(i), Value: ua.DataValue{Value: ua.Int32(42)}}
				}
				_ = append(d, ua.MonitoredItemNotification{ClientHandle: 13}) // foreign code
				if cap(m.data) != 8 || m.data[:8][5].ClientHandle != 0 {
					t.Fatal("an append reached what is rented")
				}
				var r Ref
				q.Enqueue([]*Message{m}, &r)
				response := c.park(&r)
				send := func() {
					v, err := c.decode(response.send())
					if err != nil {
						t.Fatal(err)
					}
					items := v.NotificationData[0].Value.(*ua.DataChangeNotification).MonitoredItems
					if len(items) != 5 || items[4].ClientHandle != 4 || !items[4].Value.Value.Equal(ua.Int32(42)) {
						t.Errorf("%+v", items)
					}
				}
				out := func(when string, want int) {
					t.Helper()
					if n := p.Stats().Data.Outstanding(); n != want {
						t.Errorf("%s: %d slices are out, want %d", when, n, want)
					}
				}
				out("before", 1)
				if order == "send first" {
					send()
					out("sent", 1)
					q.Acknowledge(1)
				} else {
					q.Acknowledge(1)
					out("acknowledged", 1)
					send()
				}
				out("after both", 0)
				drained(t, p)
			})
		}
	})
}

func TestLeaseOverflowReturnsAtOnce(t *testing.T) {
	p, q := testPools(t), NewSentQueue(9, 2)
	var all []*Message
	for i := range 5 {
		all = append(all, build(p, q, []string{"data", "events"}[i%2]))
	}
	var r Ref
	more := q.Enqueue(all, &r)
	for i, m := range all {
		if recycled(m) != (i < 3) {
			t.Errorf("message %d: recycled is %v", i+1, recycled(m))
		}
	}
	if s := p.Stats(); s.Data.Outstanding() != 1 || s.Events.Outstanding() != 1 || s.Fields.Outstanding() != 1 {
		t.Errorf("slices of dropped messages are out: %+v", s)
	}
	if !more || q.Dropped() != 3 || q.Discarded() != 3 || r.Message() != all[3] {
		t.Errorf("more %v, dropped %d, discarded %d", more, q.Dropped(), q.Discarded())
	}
	// An evicted one goes at once too, but for the response that still has it.
	add(q, p, 2)
	if recycled(all[3]) || !recycled(all[4]) {
		t.Errorf("evicted: the one being sent is recycled %v, the one that was not sent %v", recycled(all[3]), recycled(all[4]))
	}
	r.Release()
	q.Clear()
	drained(t, p)
}
