package ua

import (
	"fmt"
	"slices"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

func readResponse() *ReadResponse {
	x := &ReadResponse{ResponseHeader: ResponseHeader{Timestamp: Now(), RequestHandle: 7}}
	for i := range 100 {
		x.Results = append(x.Results, DataValue{Value: Double(float64(i) * 1.5), SourceTimestamp: Now(), ServerTimestamp: Now()})
	}
	return x
}

func publishResponse(items int) *PublishResponse {
	n := &DataChangeNotification{}
	for i := range items {
		n.MonitoredItems = append(n.MonitoredItems, MonitoredItemNotification{ClientHandle: uint32(i), Value: DataValue{Value: Double(float64(i)), SourceTimestamp: Now(), ServerTimestamp: Now()}})
	}
	return &PublishResponse{
		ResponseHeader:      ResponseHeader{Timestamp: Now()},
		SubscriptionID:      5,
		NotificationMessage: NotificationMessage{SequenceNumber: 3, PublishTime: Now(), NotificationData: []ExtensionObject{NewExtensionObject(n)}},
	}
}

// readRequest asks for nodes, by number or by name.
func readRequest(nodes int, names bool) *ReadRequest {
	x := &ReadRequest{RequestHeader: RequestHeader{Timestamp: Now(), RequestHandle: 1}}
	for i := range nodes {
		id := NewNodeID(2, uint32(70_000+i))
		if names {
			id = NewStringNodeID(2, fmt.Sprintf("Plant.Line1.Pump%d.Speed", i))
		}
		x.NodesToRead = append(x.NodesToRead, ReadValueID{NodeID: id, AttributeID: uint32(AttributeValue)})
	}
	return x
}

var benchMessages = []struct {
	name string
	from Structure
	into Structure
}{
	{"ReadResponse", readResponse(), new(ReadResponse)},
	{"PublishResponse", publishResponse(100), new(PublishResponse)},
	{"ReadRequest", readRequest(100, false), new(ReadRequest)},
	{"ReadRequestNames", readRequest(100, true), new(ReadRequest)},
}

func BenchmarkEncode(b *testing.B) {
	for _, m := range benchMessages {
		b.Run(m.name, func(b *testing.B) {
			buf := m.from.AppendBinary(nil)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = m.from.AppendBinary(buf[:0])
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, m := range benchMessages {
		b.Run(m.name, func(b *testing.B) {
			buf := m.from.AppendBinary(nil)
			r := uabin.Reader{Intern: new(uabin.Interner)}
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(buf, uabin.Limits{})
				m.into.DecodeBinary(&r)
			}
			if r.Err() != nil {
				b.Fatal(r.Err())
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	o := new(JSONOptions)
	v := readResponse()
	text := o.AppendStructure(nil, v)
	b.Run("Encode", func(b *testing.B) {
		buf := text
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			buf = o.AppendStructure(buf[:0], v)
		}
	})
	b.Run("Decode", func(b *testing.B) {
		var into ReadResponse
		text := o.AppendStructure(nil, v)
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if err := o.DecodeStructure(text, &into); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Encoding, and decoding into structures that are used again, allocates nothing (report P01, with its 1,000
// items and 1,000 nodes). More names than uabin.Interner keeps are the exception: they cost one each.
func TestCodecAllocations(t *testing.T) {
	large := slices.Clone(benchMessages)
	for i := range large {
		large[i].name += " of 1000"
	}
	large[1].from, large[2].from, large[3].from = publishResponse(1000), readRequest(1000, false), readRequest(1000, true)
	for _, m := range append(large[1:], benchMessages...) {
		buf := m.from.AppendBinary(nil)
		if n := testing.AllocsPerRun(100, func() { buf = m.from.AppendBinary(buf[:0]) }); n != 0 {
			t.Errorf("%s: %v allocations to encode", m.name, n)
		}
		r := uabin.Reader{Intern: new(uabin.Interner)}
		decode := func() {
			r.Reset(buf, uabin.Limits{})
			m.into.DecodeBinary(&r)
		}
		decode()
		budget := 0.0
		if m.name == "ReadRequestNames of 1000" {
			budget = 1000
		}
		if n := testing.AllocsPerRun(100, decode); n > budget || r.Err() != nil {
			t.Errorf("%s: %v allocations to decode, %v", m.name, n, r.Err())
		}
		if string(m.into.AppendBinary(nil)) != string(buf) {
			t.Errorf("%s is not the same after a round trip", m.name)
		}
	}
}
