package uaserver_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// client is a session over a socket, without the comforts of package uaclient.
type client struct {
	t    *testing.T
	conn *tcp.ClientConn
	h    ua.RequestHeader
}

func (c *client) do(q, p ua.Structure) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	if err := c.conn.Call(ctx, q, p); err != nil {
		c.t.Fatalf("%T: %v", q, err)
	}
}

// start serves a space and returns a client with a session.
func start(t *testing.T, space *memspace.Space, change func(*uaserver.Config)) (*uaserver.Server, *client) {
	t.Helper()
	cfg := uaserver.Config{Nodes: []uaserver.NodeManager{space}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if change != nil {
		change(&cfg)
	}
	s, err := uaserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.Listen("opc.tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { _ = s.Close() })
	conn, err := tcp.Dial(t.Context(), "opc.tcp://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	c := &client{t: t, conn: conn}
	q, p := ua.CreateSessionRequest{}, ua.CreateSessionResponse{}
	c.do(&q, &p)
	c.h.AuthenticationToken = p.AuthenticationToken
	c.do(&ua.ActivateSessionRequest{RequestHeader: c.h}, &ua.ActivateSessionResponse{})
	return s, c
}

func (c *client) read(attribute ua.AttributeID, ids ...ua.NodeID) []ua.DataValue {
	c.t.Helper()
	q, p := ua.ReadRequest{RequestHeader: c.h, TimestampsToReturn: ua.TimestampsToReturnBoth}, ua.ReadResponse{}
	for _, id := range ids {
		q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: id, AttributeID: uint32(attribute)})
	}
	c.do(&q, &p)
	return p.Results
}

// V12: a client that browses everything and reads all attributes of all nodes, as the common ones do,
// sees no bad status but BadAttributeIdInvalid, and values that are not there yet.
func TestBrowseAndReadEverything(t *testing.T) {
	_, c := start(t, memspace.New("urn:test:plant"), nil)
	seen := map[ua.NodeID]ua.NodeClass{ua.ID(uaid.RootFolder): ua.NodeClassObject}
	next := []ua.NodeID{ua.ID(uaid.RootFolder)}
	for len(next) > 0 {
		q, p := ua.BrowseRequest{RequestHeader: c.h}, ua.BrowseResponse{}
		for _, id := range next[:min(len(next), 500)] {
			q.NodesToBrowse = append(q.NodesToBrowse, ua.BrowseDescription{NodeID: id, ResultMask: 63, IncludeSubtypes: true,
				ReferenceTypeID: ua.ID(uaid.HierarchicalReferences)})
		}
		next = next[len(q.NodesToBrowse):]
		c.do(&q, &p)
		for i, r := range p.Results {
			if r.StatusCode.IsBad() || len(r.ContinuationPoint) > 0 {
				t.Fatalf("%v: %v", q.NodesToBrowse[i].NodeID, r.StatusCode)
			}
			for _, ref := range r.References {
				if id := ref.NodeID.NodeID; seen[id] == 0 {
					if ref.NodeClass == 0 || ref.BrowseName.Name == "" || ref.DisplayName.Text == "" {
						t.Errorf("%v is not described: %+v", id, ref)
					}
					seen[id] = ref.NodeClass
					next = append(next, id)
				}
			}
		}
	}
	if len(seen) < 4000 {
		t.Errorf("only %d nodes", len(seen))
	}
	q, p := ua.ReadRequest{RequestHeader: c.h}, ua.ReadResponse{}
	check := func() {
		c.do(&q, &p)
		for i, r := range p.Results {
			switch r.Status {
			case ua.BadUserAccessDenied: // what sessions use is for users who have logged in
				if q.NodesToRead[i].NodeID != securityArray {
					t.Errorf("%v: %v", q.NodesToRead[i].NodeID, r.Status)
				}
			case ua.Good, ua.BadAttributeIdInvalid, ua.BadWaitingForInitialData, ua.BadNotReadable:
			default:
				t.Errorf("%v attribute %v: %v", q.NodesToRead[i].NodeID, ua.AttributeID(q.NodesToRead[i].AttributeID), r.Status)
			}
		}
		q.NodesToRead = q.NodesToRead[:0]
	}
	for id := range seen {
		for a := uint32(1); a <= 27; a++ {
			q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: id, AttributeID: a})
		}
		if len(q.NodesToRead) > 5000 {
			check()
		}
	}
	check()
}

func TestLiveServerNodes(t *testing.T) {
	s, c := start(t, memspace.New("urn:test:plant"), func(c *uaserver.Config) { c.Limits.MaxNodesPerRead, c.Diagnostics = 77, true })
	got := c.read(ua.AttributeValue, ua.ID(uaid.Server_ServerStatus), ua.ID(uaid.Server_ServerStatus_CurrentTime), ua.ID(uaid.Server_NamespaceArray),
		ua.ID(uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead), ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSessionCount))
	status, ok := got[0].Value.Structure().(*ua.ServerStatusDataType)
	if !ok || status.State != ua.ServerStateRunning || time.Since(status.CurrentTime.Time()) > time.Minute {
		t.Errorf("ServerStatus %v", got[0])
	}
	if now := got[1].Value.DateTime(); time.Since(now.Time()) > time.Minute {
		t.Errorf("CurrentTime %v", got[1])
	}
	if uris, _ := ua.ArrayOf[string](got[2].Value); fmt.Sprint(uris) != fmt.Sprint(s.Namespaces()) || len(uris) != 3 {
		t.Errorf("NamespaceArray %v", uris)
	}
	// The mandatory ones of other services have a value of their type, too.
	for _, id := range []uint32{uaid.Server_ServerCapabilities_MinSupportedSampleRate, uaid.Server_ServerCapabilities_MaxQueryContinuationPoints,
		uaid.Server_ServerCapabilities_SoftwareCertificates, uaid.Server_ServerRedundancy_RedundancySupport,
		uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSubscriptionCount} {
		if v := c.read(ua.AttributeValue, ua.ID(id))[0]; v.Value.Type() == ua.TypeNull || v.Status != ua.Good {
			t.Errorf("%d: %v", id, v)
		}
	}
	if got[3].Value.Int() != 77 || got[4].Value.Int() != 1 {
		t.Errorf("MaxNodesPerRead %v, sessions %v", got[3].Value, got[4].Value)
	}
}

// V07 and V11: a write reaches its callback, a call its function, with the user who made it.
func TestWritesAndCallsReachCallbacks(t *testing.T) {
	space := memspace.New("urn:test:plant")
	set := space.AddVariable(space.Objects(), "SetPoint", ua.Int32(1), memspace.Writable(func(w memspace.Write) ua.StatusCode {
		if w.New.Value.Int() > 100 {
			return ua.BadOutOfRange
		}
		return ua.Good
	}))
	add := space.AddMethod(space.Objects(), "Add", memspace.Func2(func(_ memspace.Call, a, b int32) (int32, error) { return a + b, nil }, "a", "b", "sum"))
	_, c := start(t, space, nil)
	for v, want := range map[int32]ua.StatusCode{5: ua.Good, 500: ua.BadOutOfRange} {
		q, p := ua.WriteRequest{RequestHeader: c.h, NodesToWrite: []ua.WriteValue{{NodeID: set.ID(), AttributeID: 13, Value: ua.DataValue{Value: ua.Int32(v)}}}}, ua.WriteResponse{}
		if c.do(&q, &p); p.Results[0] != want {
			t.Errorf("write %d: %v", v, p.Results[0])
		}
	}
	if got := c.read(ua.AttributeValue, set.ID()); got[0].Value.Int() != 5 {
		t.Errorf("value %v", got[0])
	}
	args := func(v ...ua.Variant) *ua.CallMethodResult {
		q, p := ua.CallRequest{RequestHeader: c.h, MethodsToCall: []ua.CallMethodRequest{{ObjectID: space.Objects().ID(), MethodID: add.ID(), InputArguments: v}}}, ua.CallResponse{}
		c.do(&q, &p)
		return &p.Results[0]
	}
	if r := args(ua.Int32(2), ua.Int32(3)); r.StatusCode != ua.Good || r.OutputArguments[0].Int() != 5 {
		t.Errorf("call: %+v", r)
	}
	for want, in := range map[ua.StatusCode][]ua.Variant{
		ua.BadArgumentsMissing: {ua.Int32(1)}, ua.BadTooManyArguments: {ua.Int32(1), ua.Int32(1), ua.Int32(1)},
		ua.BadInvalidArgument: {ua.Int32(1), ua.String("x")}} {
		if r := args(in...); r.StatusCode != want {
			t.Errorf("%v: got %v", want, r.StatusCode)
		}
	}
}

// A Read and a Write of 100 known values allocate nothing, from the request's bytes to the response's.
func TestReadAndWriteOfMemspaceDoNotAllocate(t *testing.T) {
	if uaserver.RaceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	for name, id := range map[string]func(i int) ua.NodeID{
		"numeric": func(i int) ua.NodeID { return ua.NewNodeID(2, uint32(i+1)) },
		"string":  func(i int) ua.NodeID { return ua.NewStringNodeID(2, fmt.Sprintf("Line%d.Machine%d.Speed", i/10, i%10)) },
	} {
		t.Run(name, func(t *testing.T) { costOfRounds(t, id) })
	}
}

func costOfRounds(t *testing.T, id func(i int) ua.NodeID) {
	space := memspace.New("urn:test:plant")
	var vars []*memspace.Variable
	for i := range 100 {
		vars = append(vars, space.AddVariable(space.Objects(), fmt.Sprintf("V%d", i), ua.Double(1), memspace.Writable(), memspace.WithNodeID(id(i))))
	}
	s, err := uaserver.New(uaserver.Config{Nodes: []uaserver.NodeManager{space}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var ids []ua.NodeID
	for _, v := range vars {
		ids = append(ids, v.ID())
	}
	read, write := uaserver.Rounds(t, s, ids, ua.Double(2))
	if n := testing.AllocsPerRun(200, read); n != 0 {
		t.Errorf("Read: %v allocations", n)
	}
	if n := testing.AllocsPerRun(200, write); n != 0 {
		t.Errorf("Write: %v allocations", n)
	}
}
