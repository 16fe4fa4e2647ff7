package subs

import (
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// Carriers of the tests. A response is encoded when the carrier gets to it, which may be long after
// the client acknowledged it or the queue let go of it; the reference is released then, whatever
// the carrier.

// carrier encodes a message in its own form and reads it back.
type carrier struct {
	name   string
	encode func(m *Message) []byte
	decode func(b []byte) (ua.NotificationMessage, error)
}

// chunks stands for opc.tcp: the binary form behind others in one buffer.
var chunks = carrier{
	name:   "chunks",
	encode: func(m *Message) []byte { return m.AppendBinary([]byte("what leaves before"))[18:] },
	decode: func(b []byte) (v ua.NotificationMessage, err error) {
		r := uabin.NewReader(b)
		v.DecodeBinary(r)
		if r.Err() == nil && r.Remaining() > 0 {
			return v, fmt.Errorf("%d bytes behind the message", r.Remaining())
		}
		return v, r.Err()
	},
}

// requests stands for a carrier of one message per request in another encoding, JSON over HTTPS.
var requests = carrier{
	name: "one message per request",
	encode: func(m *Message) []byte {
		var v ua.NotificationMessage
		m.NotificationMessage(&v)
		defer ForgetView(&v)
		return new(ua.JSONOptions).AppendStructure(nil, &v)
	},
	decode: func(b []byte) (v ua.NotificationMessage, err error) {
		err = new(ua.JSONOptions).DecodeStructure(b, &v)
		return v, err
	},
}

var carriers = []carrier{chunks, requests}

// parked is a response that its carrier has not got to yet.
type parked struct {
	Ref
	run  chan struct{}
	sent chan []byte
}

// park takes the claim over, and encodes and releases on another goroutine when it is told to.
func (c carrier) park(claim *Ref) *parked {
	p := &parked{run: make(chan struct{}), sent: make(chan []byte)}
	p.Move(claim)
	go func() {
		<-p.run
		b := c.encode(p.Message())
		p.Release()
		p.sent <- b
	}()
	return p
}

func (p *parked) send() []byte {
	close(p.run)
	return <-p.sent
}

// build makes a message with handle 77 and the value or field 42.
func build(p *Pools, q *SentQueue, kind string) *Message {
	m := p.NewMessage()
	m.SequenceNumber, m.PublishTime = q.NextNumber(), 5
	switch kind {
	case "data":
		m.RentData(1)[0] = ua.MonitoredItemNotification{ClientHandle: 77, Value: ua.DataValue{Value: ua.Int32(42)}}
	case "events":
		f := m.RentFields(1)
		f[0] = ua.Int32(42)
		m.RentEvents(1)[0] = ua.EventFieldList{ClientHandle: 77, EventFields: f}
	}
	return m
}

// expect checks that an encoded message is what build made.
func (c carrier) expect(t *testing.T, b []byte, number uint32, kind string) {
	t.Helper()
	v, err := c.decode(b)
	if err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	if v.SequenceNumber != number || v.PublishTime != 5 || len(v.NotificationData) != 1 {
		t.Fatalf("number %d, time %d, %d parts; want number %d", v.SequenceNumber, v.PublishTime, len(v.NotificationData), number)
	}
	var handle uint32
	var value ua.Variant
	switch s := v.NotificationData[0].Value.(type) {
	case *ua.DataChangeNotification:
		if kind == "data" && len(s.MonitoredItems) == 1 {
			handle, value = s.MonitoredItems[0].ClientHandle, s.MonitoredItems[0].Value.Value
		}
	case *ua.EventNotificationList:
		if kind == "events" && len(s.Events) == 1 && len(s.Events[0].EventFields) == 1 {
			handle, value = s.Events[0].ClientHandle, s.Events[0].EventFields[0]
		}
	}
	if handle != 77 || !value.Equal(ua.Int32(42)) {
		t.Fatalf("handle %d, value %v, want 77 and 42 of %s", handle, value, kind)
	}
}

// vandal rents whatever the pools have and writes 999 all over it.
func vandal(p *Pools) *Message {
	m := p.NewMessage()
	m.SequenceNumber = 999
	m.RentData(1)[0] = ua.MonitoredItemNotification{ClientHandle: 999, Value: ua.DataValue{Value: ua.Int32(999)}}
	f := m.RentFields(1)
	f[0] = ua.Int32(999)
	m.RentEvents(1)[0] = ua.EventFieldList{ClientHandle: 999, EventFields: f}
	m.AppendBinary(nil)
	return m
}

func recycled(m *Message) bool { return m.pooled.Load() == 1 }

// leased is the number of slices and messages that are out.
func leased(p *Pools) int {
	s := p.Stats()
	return s.Messages.Outstanding() + s.Data.Outstanding() + s.Events.Outstanding() + s.Fields.Outstanding() + s.Bytes.Outstanding()
}

// drained checks that everything came back, and nothing twice.
func drained(t *testing.T, p *Pools) {
	t.Helper()
	s := p.Stats()
	if n := leased(p); n != 0 {
		t.Errorf("%d leases are not back: %+v", n, s)
	}
	if n := s.Messages.Doubles + s.Data.Doubles + s.Events.Doubles + s.Fields.Doubles + s.Bytes.Doubles; n != 0 {
		t.Errorf("%d were given back twice: %+v", n, s)
	}
}

// captured is a mirror store of both kinds that holds what it got first.
type captured struct {
	refs [2]Ref
	n    int
}

func (c *captured) keep(messages []*Message) {
	if c.n > 0 {
		return
	}
	for i, m := range messages {
		c.refs[i].Acquire(m)
		c.n++
	}
}

func (c *captured) StoreSent(_ uint32, s SentState)      { c.keep(s.Messages) }
func (c *captured) StoreSentDelta(_ uint32, d SentDelta) { c.keep(d.Added) }

// TestLifetimeMatrix: a message that a surface handed out is intact until that holder releases it,
// whatever becomes of the queue meanwhile, and is recycled exactly once after that.
func TestLifetimeMatrix(t *testing.T) {
	for _, c := range carriers {
		for _, surface := range []string{"publish", "queued", "republish", "fullMirror", "deltaMirror"} {
			for _, mutation := range []string{"acknowledge", "evict", "clear"} {
				for _, kind := range []string{"data", "events"} {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", c.name, surface, mutation, kind), func(t *testing.T) {
						lifetime(t, c, surface, mutation, kind)
					})
				}
			}
		}
	}
}

func lifetime(t *testing.T, c carrier, surface, mutation, kind string) {
	p, q, store := testPools(t), NewSentQueue(9, 2), new(captured)
	switch surface {
	case "fullMirror":
		q.SetMirror(store, nil)
	case "deltaMirror":
		q.SetMirror(nil, store)
	}
	target := build(p, q, kind)
	second := build(p, q, kind)
	var publish, holder Ref
	q.Enqueue([]*Message{target, second}, &publish)
	switch surface {
	case "publish":
		holder.Move(&publish)
	case "queued":
		target = second
		if !q.Dequeue(&holder) {
			t.Fatal("nothing queued")
		}
	case "republish":
		if s := q.FindForRepublish(1, &holder); s != ua.Good {
			t.Fatal(s)
		}
	default:
		holder.Move(&store.refs[0])
		store.refs[1].Release()
	}
	publish.Release()
	number := target.SequenceNumber
	response := c.park(&holder)

	var next Ref
	switch mutation {
	case "acknowledge":
		if s := q.Acknowledge(number); s != ua.Good {
			t.Fatal(s)
		}
	case "evict":
		q.Enqueue([]*Message{build(p, q, kind), build(p, q, kind)}, &next)
	case "clear":
		q.Clear()
	}
	if recycled(target) {
		t.Error("recycled while it was held")
	}
	other := vandal(p)
	before := p.Stats().Messages.Returns
	c.expect(t, response.send(), number, kind)
	if n := p.Stats().Messages.Returns - before; n != 1 || !recycled(target) {
		t.Errorf("%d messages came back by the release", n)
	}
	response.Release()
	holder.Release()
	if n := p.Stats().Messages.Returns - before; n != 1 {
		t.Errorf("a second release gave %d back", n)
	}
	other.release()
	next.Release()
	q.Clear()
	drained(t, p)
}
