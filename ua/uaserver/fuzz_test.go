package uaserver

import (
	"testing"

	"github.com/actua/actua/ua"
)

// FuzzDispatch feeds requests to a connection that is logged in: whatever they are, each has one answer,
// and the server goes on. The first byte picks the service, the rest is what follows the header.
func FuzzDispatch(f *testing.F) {
	s, space, _ := newTestServer(f, nil)
	close(space.release)
	var ids []uint32
	for id, row := range table {
		if row != nil {
			ids = append(ids, uint32(id))
		}
	}
	add := func(q ua.Structure) {
		for i, id := range ids {
			if id == q.BinaryID().NodeID.Numeric() {
				var none ua.RequestHeader
				f.Add(byte(i), q.AppendBinary(nil)[len(none.AppendBinary(nil)):])
			}
		}
	}
	for _, id := range ids {
		add(table[id].pool.New().(*call).req)
	}
	add(&ua.BrowseRequest{NodesToBrowse: []ua.BrowseDescription{{NodeID: space.id(1000), ResultMask: 63}}})
	add(readRequest(space, func(q *ua.ReadRequest) { q.NodesToRead[0].IndexRange = "1:2,3" }))
	add(&ua.CallRequest{MethodsToCall: []ua.CallMethodRequest{{ObjectID: space.id(1), MethodID: space.id(2000), InputArguments: []ua.Variant{ua.Int32(1)}}}})
	f.Fuzz(func(t *testing.T, service byte, rest []byte) {
		c := s.fakeClient(t, newFakeChannel()).logIn()
		h := ua.RequestHeader{AuthenticationToken: c.token, RequestHandle: 1077, ReturnDiagnostics: 0x3ff}
		body := ua.ID(ids[int(service)%len(ids)]).AppendBinary(nil)
		body = append(h.AppendBinary(body), rest...)
		for len(c.ch.came) > 0 {
			<-c.ch.came
		}
		c.conn.dispatch(c.conn.server.now(), 77, body, true)
		if id := <-c.ch.came; id != 77 || len(c.ch.came) > 0 {
			t.Fatalf("answers: first %d, %d more", id, len(c.ch.came))
		}
		if x := s.sessions.find(c.token); x != nil {
			s.endSession(x, true)
		}
	})
}
