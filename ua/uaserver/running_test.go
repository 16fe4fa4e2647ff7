package uaserver_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// running is a client without any cost of its own, of a server that runs with all that belongs to it:
// it sends the same bytes again, with the next numbers in them.
type running struct {
	nc     net.Conn
	answer []byte
	number uint32
}

// round sends a sealed request and reads the answer.
func (r *running) round(t testing.TB, request []byte) {
	r.number++
	binary.LittleEndian.PutUint32(request[16:], r.number)
	if _, err := r.nc.Write(request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r.nc, r.answer[:8]); err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint32(r.answer[4:])
	if _, err := io.ReadFull(r.nc, r.answer[8:n]); err != nil {
		t.Fatal(err)
	}
}

// TestRunningServerAllocates is the budget of a server in its steady state, from the socket and back:
// nothing for a Read and a Write of 100 values, at most 2 allocations for a Browse of 100 references.
func TestRunningServerAllocates(t *testing.T) {
	if uaserver.RaceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	for name, loops := range map[string]int{"event loops": 0, "goroutines": -1} {
		t.Run(name, func(t *testing.T) { costOfRunning(t, loops) })
	}
}

func costOfRunning(t *testing.T, loops int) {
	space := memspace.New("urn:test:plant")
	folder := space.AddFolder(space.Objects(), "Folder")
	read := ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth}
	var write ua.WriteRequest
	for i := range 100 {
		v := space.AddVariable(folder, fmt.Sprintf("V%d", i), ua.Double(1), memspace.Writable())
		read.NodesToRead = append(read.NodesToRead, ua.ReadValueID{NodeID: v.ID(), AttributeID: uint32(ua.AttributeValue)})
		write.NodesToWrite = append(write.NodesToWrite, ua.WriteValue{NodeID: v.ID(), AttributeID: uint32(ua.AttributeValue), Value: ua.DataValue{Value: ua.Double(2)}})
	}
	browse := ua.BrowseRequest{NodesToBrowse: []ua.BrowseDescription{{NodeID: folder.ID(), ResultMask: 63}}}
	s, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}, EventLoops: loops})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p := linktest.NewPeer(t, nc)
	p.Connect("opc.tcp://"+l.Addr().String(), uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
	var created ua.CreateSessionResponse
	p.Send(2, &ua.CreateSessionRequest{RequestedSessionTimeout: 60_000})
	p.Expect(&created)
	activate := ua.ActivateSessionRequest{UserIdentityToken: ua.ExtensionObject{Value: &ua.AnonymousIdentityToken{PolicyID: "anonymous"}}}
	activate.RequestHeader.AuthenticationToken = created.AuthenticationToken
	p.Send(3, &activate)
	p.Expect(new(ua.ActivateSessionResponse))
	r := &running{nc: nc, answer: make([]byte, 64<<10)}
	for _, c := range []struct {
		name   string
		q      ua.Structure
		header *ua.RequestHeader
		budget float64
	}{
		{"Read of 100 values", &read, &read.RequestHeader, 0},
		{"Write of 100 values", &write, &write.RequestHeader, 0},
		{"Browse of 100 references", &browse, &browse.RequestHeader, 2},
	} {
		c.header.AuthenticationToken = created.AuthenticationToken
		request := p.Seal(4, c.q)
		r.number = max(r.number, binary.LittleEndian.Uint32(request[16:])-1)
		r.round(t, request)
		if id := binary.LittleEndian.Uint16(r.answer[26:]); id == uint16(uaid.ServiceFault_Encoding_DefaultBinary) {
			t.Fatalf("%s: a ServiceFault", c.name)
		}
		n := testing.AllocsPerRun(500, func() { r.round(t, request) })
		t.Logf("%s: %v allocations", c.name, n)
		if n > c.budget {
			t.Errorf("%s: %v allocations, the budget is %v", c.name, n, c.budget)
		}
	}
}
