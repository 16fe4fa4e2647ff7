package uaclient

import (
	"bytes"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uabin"
)

func sampleResponse(values int) *ua.PublishResponse {
	data := &ua.DataChangeNotification{}
	for i := range values {
		data.MonitoredItems = append(data.MonitoredItems, ua.MonitoredItemNotification{
			ClientHandle: uint32(i), Value: ua.DataValue{Value: ua.Double(float64(i)), SourceTimestamp: 1, ServerTimestamp: 2},
		})
	}
	events := &ua.EventNotificationList{Events: []ua.EventFieldList{{ClientHandle: 1, EventFields: []ua.Variant{ua.Int32(1), ua.String("x")}}, {ClientHandle: 2}}}
	return &ua.PublishResponse{
		ResponseHeader: ua.ResponseHeader{RequestHandle: 5}, SubscriptionID: 7, AvailableSequenceNumbers: []uint32{1, 2}, MoreNotifications: true,
		NotificationMessage: ua.NotificationMessage{SequenceNumber: 3, PublishTime: 4, NotificationData: []ua.ExtensionObject{
			ua.NewExtensionObject(data), ua.NewExtensionObject(events), ua.NewExtensionObject(data), ua.NewExtensionObject(&ua.StatusChangeNotification{Status: ua.BadTimeout}),
			{TypeID: ua.NewNodeID(3, 3), Encoding: ua.BodyBinary, Body: []byte{1}}, {},
		}},
		Results: []ua.StatusCode{ua.Good, ua.BadSequenceNumberUnknown}, DiagnosticInfos: []ua.DiagnosticInfo{{}},
	}
}

// decodesAlike holds the decoder to the generated one.
func decodesAlike(t *testing.T, b []byte, again *publishResponse) {
	t.Helper()
	var want ua.PublishResponse
	r := uabin.NewReader(b)
	want.DecodeBinary(r)
	wantErr := r.Err()
	defer again.message.release()
	r = uabin.NewReader(b)
	again.DecodeBinary(r)
	if (r.Err() == nil) != (wantErr == nil) {
		t.Fatalf("%v, the generated decoder: %v", r.Err(), wantErr)
	}
	if wantErr != nil {
		return
	}
	got := again.PublishResponse
	got.NotificationMessage = again.message.NotificationMessage
	if a, b := want.AppendBinary(nil), got.AppendBinary(nil); !bytes.Equal(a, b) {
		t.Fatalf("got  %x\nwant %x", b, a)
	}
}

func TestPublishResponseDecodes(t *testing.T) {
	before := subs.SharedPools().Stats()
	again := new(publishResponse)
	for _, n := range []int{0, 1, 3, 100, 2, 20000} {
		b := sampleResponse(n).AppendBinary(nil)
		decodesAlike(t, b, again)
		for cut := 0; cut < len(b) && n <= 3; cut++ {
			decodesAlike(t, b[:cut], again)
		}
	}
	after := subs.SharedPools().Stats()
	if after.Data.Outstanding() != before.Data.Outstanding() || after.Events.Outstanding() != before.Events.Outstanding() || after.Data.Rents == before.Data.Rents {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// A message of numbers is decoded into memory that is there.
func TestPublishResponseAllocates(t *testing.T) {
	sample := sampleResponse(100)
	sample.NotificationMessage.NotificationData = sample.NotificationMessage.NotificationData[:1]
	b := sample.AppendBinary(nil)
	m, r := new(publishResponse), uabin.NewReader(nil)
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(b, uabin.Limits{})
		m.DecodeBinary(r)
		m.message.release()
	}); n != 0 || r.Err() != nil {
		t.Errorf("%v allocations, %v", n, r.Err())
	}
}

func FuzzPublishResponse(f *testing.F) {
	f.Add(sampleResponse(3).AppendBinary(nil))
	f.Add(sampleResponse(0).AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		again := new(publishResponse)
		decodesAlike(t, b, again)
		decodesAlike(t, b, again)
	})
}

func TestSequenceNumbers(t *testing.T) {
	const last = 1<<32 - 1
	for _, x := range []struct {
		a, b uint32
		want int64
	}{{1, 1, 0}, {1, 2, 1}, {2, 1, -1}, {last, 1, 1}, {1, last, -1}, {last - 1, 2, 3}, {2, last - 1, -3}, {1, 1 << 31, 1<<31 - 1}} {
		if got := ahead(x.a, x.b); got != x.want {
			t.Errorf("from %d to %d: %d, want %d", x.a, x.b, got, x.want)
		}
	}
	for _, n := range []uint32{1, 2, last - 1, last} {
		if before(after(n)) != n || after(before(n)) != n || after(n) == 0 || before(n) == 0 {
			t.Error(n, after(n), before(n))
		}
	}
}
