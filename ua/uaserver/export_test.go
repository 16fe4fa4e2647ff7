package uaserver

import (
	"testing"

	"github.com/actua/actua/ua"
)

// Rounds gives functions that dispatch a Read and a Write of the nodes on a fake channel, for tests of
// what they cost with a real node manager.
func Rounds(t testing.TB, s *Server, ids []ua.NodeID, value ua.Variant) (read, write func()) {
	c := s.fakeClient(t, newFakeChannel()).logIn()
	q, w := ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth}, ua.WriteRequest{}
	q.RequestHeader.AuthenticationToken, w.RequestHeader.AuthenticationToken = c.token, c.token
	for _, id := range ids {
		q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)})
		w.NodesToWrite = append(w.NodesToWrite, ua.WriteValue{NodeID: id, AttributeID: uint32(ua.AttributeValue), Value: ua.DataValue{Value: value}})
	}
	if p, err := c.read(ids...); err != nil || p.Results[0].Status != ua.Good {
		t.Fatal(err, p.Results)
	}
	var p ua.WriteResponse
	if err := c.call(&w.RequestHeader, &w, &p); err != nil || p.Results[0] != ua.Good {
		t.Fatal(err, p.Results)
	}
	c.ch.sent = nil
	rb, wb := encode(&q), encode(&w)
	return func() { c.conn.dispatch(c.conn.server.now(), 7, rb, true) }, func() { c.conn.dispatch(c.conn.server.now(), 7, wb, true) }
}

// RaceEnabled tells external tests that the race detector is on.
const RaceEnabled = raceEnabled
