package uaserver

import (
	"fmt"
	"testing"

	"github.com/actua/actua/ua"
)

// round is a request as bytes that is dispatched again and again.
func round(t testing.TB, strings bool, change ...func(*Config)) (c *fakeClient, read, write []byte) {
	s, space, _ := newTestServer(t, append(change, nil)[0])
	c = s.fakeClient(t, newFakeChannel()).logIn()
	c.ch.sent = nil
	q, w := ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth}, ua.WriteRequest{}
	q.RequestHeader.AuthenticationToken, w.RequestHeader.AuthenticationToken = c.token, c.token
	for i := range 100 {
		id := space.id(uint32(i + 100))
		if strings {
			id = ua.NewStringNodeID(space.ns, fmt.Sprintf("Line.%d", i))
		}
		q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)})
		w.NodesToWrite = append(w.NodesToWrite, ua.WriteValue{NodeID: id, AttributeID: uint32(ua.AttributeValue),
			Value: ua.DataValue{Value: ua.Double(1.5)}})
	}
	return c, encode(&q), encode(&w)
}

func TestReadAndWriteDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	for _, diagnostics := range []bool{false, true} {
		c, read, write := round(t, false, func(c *Config) { c.Diagnostics = diagnostics })
		for name, body := range map[string][]byte{"Read": read, "Write": write} {
			if n := testing.AllocsPerRun(200, func() { c.conn.dispatch(c.conn.server.now(), 7, body, true) }); n != 0 {
				t.Errorf("%s of 100 values, diagnostics %v: %v allocations, want 0", name, diagnostics, n)
			}
		}
	}
}

// Browse of nodes that are known, all references in one answer.
func TestBrowseHardlyAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	c, _, _ := round(t, false)
	q := ua.BrowseRequest{NodesToBrowse: []ua.BrowseDescription{{NodeID: ua.NewNodeID(2, 1000), ResultMask: 63}}}
	q.RequestHeader.AuthenticationToken = c.token
	body := encode(&q)
	if n := testing.AllocsPerRun(50, func() { c.conn.dispatch(c.conn.server.now(), 7, body, true) }); n > 2 {
		t.Errorf("Browse of 999 references: %v allocations, want at most 2", n)
	}
}

func BenchmarkRead100(b *testing.B) {
	c, read, _ := round(b, false)
	b.ReportAllocs()
	for b.Loop() {
		c.conn.dispatch(c.conn.server.now(), 7, read, true)
	}
}

func BenchmarkWrite100(b *testing.B) {
	c, _, write := round(b, false)
	b.ReportAllocs()
	for b.Loop() {
		c.conn.dispatch(c.conn.server.now(), 7, write, true)
	}
}

func BenchmarkRead100Strings(b *testing.B) {
	c, read, _ := round(b, true)
	b.ReportAllocs()
	for b.Loop() {
		c.conn.dispatch(c.conn.server.now(), 7, read, true)
	}
}
