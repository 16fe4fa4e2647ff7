package subs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/actua/actua/internal/lease"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// randomVariant is a value of any type that items report, arrays and structures too.
func randomVariant(rnd *rand.Rand) ua.Variant {
	switch rnd.IntN(14) {
	case 0:
		return ua.Variant{}
	case 1:
		return ua.Boolean(rnd.IntN(2) == 0)
	case 2:
		return ua.Int32(int32(rnd.Uint32()))
	case 3:
		return ua.UInt32(rnd.Uint32())
	case 4:
		return ua.Float(rnd.Float32())
	case 5:
		return ua.String(strings.Repeat("°C ", rnd.IntN(30)))
	case 6:
		return ua.ByteString(make([]byte, rnd.IntN(20)))
	case 7:
		return ua.Array(make([]float64, rnd.IntN(40)))
	case 8:
		return ua.Array([]string{"a", "", uabin.NullString})
	case 9:
		v, _ := ua.NewVariant(ua.LocalizedText{Locale: "en", Text: "High"})
		return v
	case 10:
		v, _ := ua.NewVariant(ua.NewStringNodeID(uint16(rnd.IntN(5)), "Boiler"))
		return v
	case 11:
		return ua.NewExtensionObject(&ua.EUInformation{UnitID: int32(rnd.IntN(9999))}).Variant()
	case 12:
		v, _ := ua.NewVariant(ua.DateTime(rnd.Uint64() >> 2))
		return v
	}
	return ua.Double(rnd.NormFloat64())
}

func randomDataValue(rnd *rand.Rand) (d ua.DataValue) {
	d.Value = randomVariant(rnd)
	if rnd.IntN(3) == 0 {
		d.Status = ua.BadSensorFailure
	}
	if rnd.IntN(2) == 0 {
		d.SourceTimestamp, d.SourcePicoseconds = ua.DateTime(rnd.Uint64()>>2), uint16(rnd.IntN(3)*100)
	}
	if rnd.IntN(2) == 0 {
		d.ServerTimestamp, d.ServerPicoseconds = ua.DateTime(rnd.Uint64()>>2), uint16(rnd.IntN(3)*100)
	}
	return d
}

// randomMessage makes any message that there can be.
func randomMessage(p *Pools, rnd *rand.Rand) *Message {
	m := p.NewMessage()
	m.SequenceNumber, m.PublishTime = rnd.Uint32(), ua.DateTime(rnd.Uint64()>>2)
	switch rnd.IntN(12) {
	case 0:
		return m // a keep-alive
	case 1:
		m.SetStatus(ua.GoodSubscriptionTransferred)
		return m
	}
	if rnd.IntN(3) > 0 {
		d := m.RentData(1 + rnd.IntN(60))
		for i := range d {
			d[i] = ua.MonitoredItemNotification{ClientHandle: rnd.Uint32(), Value: randomDataValue(rnd)}
		}
		if rnd.IntN(4) == 0 {
			infos := make([]ua.DiagnosticInfo, len(d))
			infos[rnd.IntN(len(d))] = ua.DiagnosticInfo{Mask: ua.DiagnosticAdditionalInfo, AdditionalInfo: "why"}
			m.SetDiagnostics(infos)
		}
	}
	if rnd.IntN(3) == 0 {
		e := m.RentEvents(1 + rnd.IntN(10))
		clauses := rnd.IntN(9)
		f := m.RentFields(len(e) * clauses)
		for i := range f {
			f[i] = randomVariant(rnd)
		}
		for i := range e {
			e[i] = ua.EventFieldList{ClientHandle: rnd.Uint32(), EventFields: f[i*clauses : (i+1)*clauses : (i+1)*clauses]}
		}
	}
	return m
}

// TestEncodeAsGenerated compares the direct encoder with the generated one, byte by byte, and with what
// comes back from a store.
func TestEncodeAsGenerated(t *testing.T) {
	p, rnd := testPools(t), rand.New(rand.NewPCG(1, 2))
	var v ua.NotificationMessage // one view for all, as a response has it
	for range 5000 {
		m := randomMessage(p, rnd)
		m.NotificationMessage(&v)
		want := v.AppendBinary([]byte("x"))
		for range 2 { // made, and copied
			if got := m.AppendBinary([]byte("x")); !bytes.Equal(got, want) {
				t.Fatalf("% x\nwant\n% x", got, want)
			}
		}
		back, err := DecodeMessage(want[1:])
		if err != nil {
			t.Fatalf("%v in % x", err, want)
		}
		if got := back.AppendBinary([]byte("x")); !bytes.Equal(got, want) {
			t.Fatalf("restored: % x\nwant\n% x", got, want)
		}
		back.release()
		ForgetView(&v)
		m.release()
	}
	drained(t, p)
	for i := range v.NotificationData[:cap(v.NotificationData)] {
		if d, ok := v.NotificationData[:cap(v.NotificationData)][i].Value.(*ua.DataChangeNotification); ok && d.MonitoredItems != nil {
			t.Error("a view that was let go of keeps notifications")
		}
	}
}

// TestEncodeOnce: of many that need the binary form at the same time, one makes it.
func TestEncodeOnce(t *testing.T) {
	p, rnd := testPools(t), rand.New(rand.NewPCG(3, 4))
	for range 200 {
		m := randomMessage(p, rnd)
		want := m.encode(nil)
		var wg sync.WaitGroup
		for range 8 {
			r := new(Ref)
			r.Acquire(m)
			wg.Go(func() {
				if got := r.Message().AppendBinary(nil); !bytes.Equal(got, want) {
					t.Error("another form")
				}
				r.Release()
			})
		}
		wg.Wait()
		if n := p.Stats().Bytes.Outstanding(); n != 1 {
			t.Fatalf("%d buffers", n)
		}
		m.release()
	}
	drained(t, p)
}

func TestDecodeMessageRefuses(t *testing.T) {
	data := ua.NewExtensionObject(&ua.DataChangeNotification{})
	events := ua.NewExtensionObject(&ua.EventNotificationList{})
	for name, parts := range map[string][]ua.ExtensionObject{
		"twice data":   {data, data},
		"wrong order":  {data, events},
		"another type": {ua.NewExtensionObject(&ua.EUInformation{})},
		"nothing":      {{}},
		"unknown body": {{TypeID: ua.NewNodeID(0, 811), Encoding: ua.BodyBinary, Body: []byte{1}}},
	} {
		b := (&ua.NotificationMessage{SequenceNumber: 1, NotificationData: parts}).AppendBinary(nil)
		if m, err := DecodeMessage(b); !errors.Is(err, ua.BadDecodingError) || m != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := (&ua.NotificationMessage{SequenceNumber: 1, NotificationData: []ua.ExtensionObject{events, data}}).AppendBinary(nil)
	for n := range good {
		if m, err := DecodeMessage(good[:n]); err == nil || m != nil {
			t.Errorf("%d of %d bytes were taken", n, len(good))
		}
	}
	if _, err := DecodeMessage(append(good, 0)); !errors.Is(err, ua.BadDecodingError) {
		t.Errorf("a byte too many: %v", err)
	}
}

// TestMessageAllocations: build, enqueue, send, acknowledge, republish; steady state.
func TestMessageAllocations(t *testing.T) {
	if lease.Checking {
		t.Skip("the race detector allocates")
	}
	p, q := testPools(t), NewSentQueue(9, 10)
	store := new(MemoryMirror)
	var out, again Ref
	var list [1]*Message
	var view ua.NotificationMessage
	buffer := make([]byte, 0, 1<<16)
	numbers := make([]uint32, 0, 16)
	cycle := func(kind string) func() {
		return func() {
			m := p.NewMessage()
			m.SequenceNumber = q.NextNumber()
			if kind == "data" {
				d := m.RentData(100)
				for i := range d {
					d[i] = ua.MonitoredItemNotification{ClientHandle: uint32(i), Value: ua.DataValue{Value: ua.Double(1.5), SourceTimestamp: 7, ServerTimestamp: 8}}
				}
			} else {
				e, f := m.RentEvents(10), m.RentFields(50)
				for i := range e {
					f[5*i] = ua.Int32(1)
					e[i] = ua.EventFieldList{ClientHandle: 3, EventFields: f[5*i : 5*i+5 : 5*i+5]}
				}
			}
			list[0] = m
			q.Enqueue(list[:], &out)
			buffer = out.Message().AppendBinary(buffer[:0])
			out.Message().NotificationMessage(&view)
			ForgetView(&view)
			out.Release()
			numbers = q.Available(numbers[:0])
			q.FindForRepublish(m.SequenceNumber, &again)
			buffer = again.Message().AppendBinary(buffer[:0])
			again.Release()
			q.Acknowledge(m.SequenceNumber)
		}
	}
	for _, mirror := range []string{"none", "delta", "full"} {
		switch mirror {
		case "delta":
			q.SetMirror(nil, store)
		case "full":
			q.SetMirror(store, nil)
		}
		for _, kind := range []string{"data", "events"} {
			run := cycle(kind)
			run()
			if n := testing.AllocsPerRun(100, run); n != 0 {
				t.Errorf("mirror %s, %s: %v allocations", mirror, kind, n)
			}
			if kind == "events" { // the view is made anew when the kind changes
				cycle("data")()
			}
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	p, q := testPools(b), NewSentQueue(9, 10)
	var out Ref
	var list [1]*Message
	buffer := make([]byte, 0, 1<<16)
	fill := func(d []ua.MonitoredItemNotification) {
		for i := range d {
			d[i] = ua.MonitoredItemNotification{ClientHandle: uint32(i), Value: ua.DataValue{Value: ua.Double(1.5), SourceTimestamp: 7, ServerTimestamp: 8}}
		}
	}
	cycle := func(m *Message) {
		m.SequenceNumber = q.NextNumber()
		list[0] = m
		q.Enqueue(list[:], &out)
		buffer = out.Message().AppendBinary(buffer[:0])
		out.Release()
		q.Acknowledge(m.SequenceNumber)
	}
	b.Run("cycle of 100 values", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := p.NewMessage()
			fill(m.RentData(100))
			cycle(m)
		}
	})
	b.Run("without pools", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := (*Pools)(nil).NewMessage()
			fill(m.RentData(100))
			cycle(m)
		}
	})
	b.Run("pools alone", func(b *testing.B) { // what of the cycle is the pools'
		b.ReportAllocs()
		for b.Loop() {
			m := p.NewMessage()
			m.RentData(100)
			m.body = p.bytes.Rent(3200)
			m.release()
		}
	})
	b.Run("encode first", func(b *testing.B) {
		m := p.NewMessage()
		fill(m.RentData(100))
		b.ReportAllocs()
		for b.Loop() {
			buffer = m.AppendBinary(buffer[:0])
			p.bytes.Return(m.body)
			m.body = nil
			m.encoded.Store(false)
		}
		m.release()
	})
	b.Run("encode again", func(b *testing.B) {
		m := p.NewMessage()
		fill(m.RentData(100))
		b.ReportAllocs()
		for b.Loop() {
			buffer = m.AppendBinary(buffer[:0])
		}
		m.release()
	})
}

// FuzzDecodeMessage: what is taken from a store is written back in a form that is read again as the same.
func FuzzDecodeMessage(f *testing.F) {
	p, rnd := testPools(f), rand.New(rand.NewPCG(5, 6))
	for range 40 {
		m := randomMessage(p, rnd)
		f.Add(m.AppendBinary(nil))
		m.release()
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			if m != nil {
				t.Fatal("a message and an error")
			}
			return
		}
		first := m.AppendBinary(nil)
		again, err := DecodeMessage(first)
		if err != nil {
			t.Fatalf("%v in what was written: % x", err, first)
		}
		if second := again.AppendBinary(nil); !bytes.Equal(first, second) {
			t.Fatalf("% x\nbecame\n% x", first, second)
		}
	})
}
