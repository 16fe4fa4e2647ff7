package subs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/actua/actua/internal/lease"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

func testPools(t testing.TB) *Pools {
	t.Helper()
	p, err := NewPools(1024)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMessageBinary compares the direct encoder with the generated one over a view.
func TestMessageBinary(t *testing.T) {
	p := testPools(t)
	m := p.NewMessage()
	m.SequenceNumber = 7
	d := m.RentData(3)
	if len(d) != 3 || cap(d) != 3 {
		t.Fatalf("len %d cap %d", len(d), cap(d))
	}
	for i := range d {
		d[i] = ua.MonitoredItemNotification{ClientHandle: 77, Value: ua.DataValue{Value: ua.Int32(42)}}
	}
	var v ua.NotificationMessage
	m.NotificationMessage(&v)
	want := v.AppendBinary(nil)
	for range 2 {
		if got := m.AppendBinary(nil); !bytes.Equal(got, want) {
			t.Fatalf("% x\nwant\n% x", got, want)
		}
	}
	var r Ref
	r.Adopt(m)
	r.Release()
	r.Release()
	if s := p.Stats(); s.Messages.Idle != 1 || s.Data.Idle != 1 || s.Bytes.Idle != 1 {
		t.Fatalf("%+v", s)
	}
}

// TestRefReleaseRace: many release one claim at the same time, the queue lets go too; one of them recycles.
func TestRefReleaseRace(t *testing.T) {
	p := testPools(t)
	for range 300 {
		q := NewSentQueue(9, 5)
		var r Ref
		q.Enqueue([]*Message{build(p, q, "events")}, &r)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(r.Release)
		}
		wg.Go(func() { q.Acknowledge(1) })
		wg.Wait()
	}
	drained(t, p)
}

func TestRefMove(t *testing.T) {
	p := testPools(t)
	var a, b, c Ref
	a.Adopt(p.NewMessage())
	m := a.Message()
	b.Move(&a)
	if a.Message() != nil || b.Message() != m {
		t.Error("the claim did not move")
	}
	a.Release()
	c.Move(&a) // nothing
	if c.Message() != nil || recycled(m) {
		t.Error("a claim came out of nothing")
	}
	b.Acquire(p.NewMessage()) // lets go of the first, and the test leaves a raw reference of the second
	if !recycled(m) {
		t.Error("what was held before was not released")
	}
	b.Move(&b)
	b.Message().release()
	b.Release()
	drained(t, p)
}

// TestMissedReleaseIsGarbage: a message that nobody releases is collected, and nothing waits for it.
func TestMissedReleaseIsGarbage(t *testing.T) {
	p := testPools(t)
	q := NewSentQueue(9, 5)
	gone := make(chan struct{})
	func() {
		r := new(Ref)
		m := build(p, q, "data")
		runtime.AddCleanup(m, func(struct{}) { close(gone) }, struct{}{})
		q.Enqueue([]*Message{m}, r)
		q.Acknowledge(1)
	}()
	for range 2000 {
		runtime.GC()
		select {
		case <-gone:
			if n := p.Stats().Messages.Outstanding(); n != 1 {
				t.Errorf("%d messages are said to be out, want the lost one", n)
			}
			// The pools work on.
			m := build(p, q, "data")
			m.release()
			return
		default:
			runtime.Gosched()
		}
	}
	t.Fatal("the message was not collected")
}

// TestForeignMemoryStaysOut: restored messages and fields of others never reach a pool.
func TestForeignMemoryStaysOut(t *testing.T) {
	p := testPools(t)
	data := make([]ua.MonitoredItemNotification, 8) // of the size of a class
	events := make([]ua.EventFieldList, 8)
	fields := []ua.Variant{ua.Int32(42), {}, {}, {}}
	m := RestoredMessage(3, 5, data, events)
	m.AppendBinary(nil)
	m.release()
	own := p.NewMessage()
	own.RentEvents(1)[0] = ua.EventFieldList{ClientHandle: 77, EventFields: fields}
	own.release()
	if s := p.Stats(); s.Messages.Idle != 1 || s.Data.Idle+s.Fields.Idle+s.Bytes.Idle != 0 || s.Events.Idle != 1 {
		t.Errorf("%+v", s)
	}
	if !fields[0].Equal(ua.Int32(42)) {
		t.Error("the fields of another were overwritten")
	}
}

// TestMessageWithoutPools: a nil *Pools rents and takes back nothing, with the same results.
func TestMessageWithoutPools(t *testing.T) {
	var p *Pools
	p.Raise(5000)
	q := NewSentQueue(9, 2)
	var r Ref
	q.Enqueue([]*Message{build(p, q, "data"), build(p, q, "events")}, &r)
	chunks.expect(t, chunks.park(&r).send(), 1, "data")
	q.Dequeue(&r)
	requests.expect(t, requests.park(&r).send(), 2, "events")
	q.Clear()
	p.ReturnData(p.RentData(5))
	p.ReturnEvents(p.RentEvents(5))
	if p.Stats() != (PoolStats{}) {
		t.Errorf("%+v", p.Stats())
	}
}

func TestPoolsRaise(t *testing.T) {
	p := testPools(t)
	p.Raise(1200)
	p.Raise(3)
	for _, s := range []lease.Stats{p.Stats().Messages, p.Stats().Data, p.Stats().Events, p.Stats().Fields, p.Stats().Bytes} {
		if s.Bound < 2400 {
			t.Errorf("bound %d for 1,200 items, want 2,400", s.Bound)
		}
	}
	if _, err := NewPools(0); !errors.Is(err, lease.ErrBound) {
		t.Error(err)
	}
	if one, again := SharedPools(), SharedPools(); one == nil || one != again {
		t.Error("the pools of the process are not one")
	}
}

// TestPoolsForDecoder: what a client's decoder rents comes from the same pools and comes back cleared.
func TestPoolsForDecoder(t *testing.T) {
	p := testPools(t)
	d := p.RentData(100)
	d[99] = ua.MonitoredItemNotification{ClientHandle: 1}
	p.ReturnData(d)
	m := p.NewMessage()
	if again := m.RentData(90); &again[0] != &d[0] {
		t.Error("a message does not rent what a decoder returned")
	} else if again[89] != (ua.MonitoredItemNotification{}) {
		t.Error("not cleared")
	}
	m.release()
	p.ReturnEvents(p.RentEvents(7))
	drained(t, p)
}

// TestPoison: in checking builds, who reads what he has released sees 999 and bytes that are no message,
// and counts that cannot be right end the program.
func TestPoison(t *testing.T) {
	if !lease.Checking {
		t.Skip("needs -race or -tags leasecheck")
	}
	p := testPools(t)
	q := NewSentQueue(9, 5)
	m := build(p, q, "events")
	fields := m.Events()[0].EventFields
	events := m.Events()
	m.AppendBinary(nil)
	body := m.body
	m.release()
	if !fields[0].Equal(ua.Int32(PoisonNumber)) || events[0].ClientHandle != PoisonNumber || m.SequenceNumber != PoisonNumber {
		t.Errorf("%v, %+v, %d", fields, events, m.SequenceNumber)
	}
	if m.Data()[0].ClientHandle != PoisonNumber || !m.Data()[0].Value.Value.Equal(ua.Int32(PoisonNumber)) {
		t.Errorf("%+v", m.Data())
	}
	if body[0] != PoisonByte {
		t.Errorf("% x", body)
	}
	if _, err := DecodeMessage(m.AppendBinary(nil)); err == nil {
		t.Error("the encoded form of a message in the pool can be read")
	}
	d := p.RentData(3)
	p.ReturnData(d)
	if d[2].ClientHandle != PoisonNumber {
		t.Errorf("%+v", d[2])
	}
	for name, misuse := range map[string]func(){"a second raw release": m.release, "retaining": func() { m.Retain() }} {
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, "nobody holds") || !strings.Contains(s, "TestPoison") {
					t.Errorf("%s: %s", name, s)
				}
			}()
			misuse()
			t.Errorf("%s went unnoticed", name)
		}()
		m.refs.Store(0)
	}
}

// TestMessagesUnderLoad: a subscription publishes while carriers send late, twice or never, clients
// acknowledge, ask again and let the queue overflow, and stores take snapshots. Nobody ever sees a message
// that is not the one he holds.
func TestMessagesUnderLoad(t *testing.T) {
	p := testPools(t)
	var lock sync.Mutex // of the subscription
	q := NewSentQueue(9, 8)
	q.SetMirror(nil, new(MemoryMirror))
	work := make(chan *Ref, 64)
	check := func(m *Message, encode bool) {
		n := m.SequenceNumber
		for _, d := range m.Data() {
			if d.ClientHandle != n || !d.Value.Value.Equal(ua.UInt32(n)) {
				t.Errorf("message %d holds %+v", n, d)
			}
		}
		if encode {
			var v ua.NotificationMessage
			b := m.AppendBinary(nil)
			r := uabin.NewReader(b)
			if v.DecodeBinary(r); r.Err() != nil || v.SequenceNumber != n {
				t.Errorf("message %d is encoded as %d: %v", n, v.SequenceNumber, r.Err())
			}
		}
	}
	var carriers sync.WaitGroup
	for w := range 4 {
		carriers.Go(func() {
			for r := range work {
				if w%2 == 0 {
					runtime.Gosched()
				}
				check(r.Message(), w != 3)
				r.Release()
				if w == 2 {
					r.Release()
				}
			}
		})
	}
	var others sync.WaitGroup
	for w := range 3 {
		others.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for range 1500 {
				r := new(Ref)
				lock.Lock()
				newest := q.Announced()
				switch n := newest - rnd.Uint32N(10); rnd.IntN(8) {
				case 0, 1, 2:
					var list []*Message
					for range 1 + rnd.IntN(3) {
						m := p.NewMessage()
						m.SequenceNumber = q.NextNumber()
						d := m.RentData(1 + rnd.IntN(20))
						for i := range d {
							d[i] = ua.MonitoredItemNotification{ClientHandle: m.SequenceNumber, Value: ua.DataValue{Value: ua.UInt32(m.SequenceNumber)}}
						}
						list = append(list, m)
					}
					q.Enqueue(list, r)
				case 3:
					q.FindForRepublish(n, r)
				case 4:
					s := q.Capture()
					lock.Unlock()
					for _, m := range s.Messages {
						check(m, false)
					}
					s.Release()
					lock.Lock()
				case 5:
					q.Dequeue(r)
				default:
					q.Acknowledge(n)
				}
				lock.Unlock()
				if r.Message() != nil {
					work <- r
				}
			}
		})
	}
	others.Wait()
	close(work)
	carriers.Wait()
	q.Clear()
	drained(t, p)
}
