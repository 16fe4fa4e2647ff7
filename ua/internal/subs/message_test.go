package subs

import (
	"bytes"
	"testing"

	"github.com/actua/actua/ua"
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
