package uaserver

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

func readRequest(space *testSpace, change func(*ua.ReadRequest)) *ua.ReadRequest {
	q := &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth,
		NodesToRead: []ua.ReadValueID{{NodeID: space.id(10), AttributeID: uint32(ua.AttributeValue)}}}
	change(q)
	return q
}

func TestReadRefusals(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxNodesPerRead = 20 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	for name, x := range map[string]struct {
		change func(*ua.ReadRequest)
		want   ua.StatusCode
	}{
		"MaxAge":       {func(q *ua.ReadRequest) { q.MaxAge = -1 }, ua.BadMaxAgeInvalid},
		"MaxAge NaN":   {func(q *ua.ReadRequest) { q.MaxAge = math.NaN() }, ua.BadMaxAgeInvalid},
		"timestamps":   {func(q *ua.ReadRequest) { q.TimestampsToReturn = 4 }, ua.BadTimestampsToReturnInvalid},
		"timestamps -": {func(q *ua.ReadRequest) { q.TimestampsToReturn = -1 }, ua.BadTimestampsToReturnInvalid},
		"empty":        {func(q *ua.ReadRequest) { q.NodesToRead = nil }, ua.BadNothingToDo},
		"V13 21 of 20": {func(q *ua.ReadRequest) { q.NodesToRead = make([]ua.ReadValueID, 21) }, ua.BadTooManyOperations},
	} {
		q := readRequest(space, x.change)
		wantStatus(t, name, c.call(&q.RequestHeader, q, new(ua.ReadResponse)), x.want)
	}
	for name, x := range map[string]struct {
		change func(*ua.ReadValueID)
		want   ua.StatusCode
	}{
		"null":              {func(r *ua.ReadValueID) { r.NodeID = ua.NodeID{} }, ua.BadNodeIdInvalid},
		"namespace":         {func(r *ua.ReadValueID) { r.NodeID = ua.NewNodeID(99, 1) }, ua.BadNodeIdUnknown},
		"no manager":        {func(r *ua.ReadValueID) { r.NodeID = ua.NewNodeID(1, 1) }, ua.BadNodeIdUnknown},
		"attribute 0":       {func(r *ua.ReadValueID) { r.AttributeID = 0 }, ua.BadAttributeIdInvalid},
		"attribute 28":      {func(r *ua.ReadValueID) { r.AttributeID = 28 }, ua.BadAttributeIdInvalid},
		"range":             {func(r *ua.ReadValueID) { r.IndexRange = "5:2" }, ua.BadIndexRangeInvalid},
		"C31 behind":        {func(r *ua.ReadValueID) { r.IndexRange = "10:11" }, ua.BadIndexRangeNoData},
		"C31 over":          {func(r *ua.ReadValueID) { r.IndexRange = "8:4000" }, ua.Good},
		"encoding":          {func(r *ua.ReadValueID) { r.DataEncoding.Name = "Default XML" }, ua.BadDataEncodingUnsupported},
		"encoding, scalar":  {func(r *ua.ReadValueID) { r.DataEncoding.Name = "Default Binary" }, ua.BadDataEncodingInvalid},
		"encoding, no data": {func(r *ua.ReadValueID) { r.DataEncoding.Name, r.AttributeID = "Default Binary", 1 }, ua.BadDataEncodingInvalid},
	} {
		q, p := readRequest(space, func(q *ua.ReadRequest) { x.change(&q.NodesToRead[0]) }), new(ua.ReadResponse)
		if err := c.call(&q.RequestHeader, q, p); err != nil || p.Results[0].Status != x.want {
			t.Errorf("%s: %v, status %v, want %v", name, err, p.Results[0].Status, x.want)
		}
		if name == "C31 over" && string(p.Results[0].Value.Bytes()) != "89" {
			t.Errorf("%s: %v", name, p.Results[0].Value)
		}
	}
	for ts, want := range map[ua.TimestampsToReturn][2]bool{ua.TimestampsToReturnSource: {true, false}, ua.TimestampsToReturnServer: {false, true},
		ua.TimestampsToReturnBoth: {true, true}, ua.TimestampsToReturnNeither: {false, false}} {
		q, p := readRequest(space, func(q *ua.ReadRequest) { q.TimestampsToReturn = ts }), new(ua.ReadResponse)
		if err := c.call(&q.RequestHeader, q, p); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{p.Results[0].SourceTimestamp != 0, p.Results[0].ServerTimestamp != 0}; got != want {
			t.Errorf("timestamps %v: %v", ts, got)
		}
	}
}

// Items of two managers that take turns reach each manager in one call.
func TestItemsAreGroupedByManager(t *testing.T) {
	second := newTestSpace()
	second.uri = "urn:test:second"
	s, first, _ := newTestServer(t, func(c *Config) { c.Nodes = append(c.Nodes, second) })
	if got := s.Namespaces(); len(got) != 4 || got[3] != second.uri || second.ns != 3 {
		t.Fatalf("namespaces %q", got)
	}
	c := s.fakeClient(t, newFakeChannel()).logIn()
	second.values[5] = ua.Int32(55)
	var ids []ua.NodeID
	for range 10 {
		ids = append(ids, first.id(4), second.id(5), ua.ID(85))
	}
	p, err := c.read(ids...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range p.Results {
		switch want := []int64{4, 55, 0}[i%3]; {
		case want == 0 && r.Status != ua.BadNodeIdUnknown, want != r.Value.Int():
			t.Errorf("result %d: %v", i, r)
		}
	}
	if first.batches.Load() != 1 || second.batches.Load() != 1 {
		t.Errorf("%d and %d calls", first.batches.Load(), second.batches.Load())
	}
}

func TestWriteAndCall(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	w, wp := ua.WriteRequest{}, ua.WriteResponse{}
	wantStatus(t, "empty write", c.call(&w.RequestHeader, &w, &wp), ua.BadNothingToDo)
	for _, id := range []ua.NodeID{space.id(1), {}, ua.NewNodeID(9, 9), space.id(5000)} {
		w.NodesToWrite = append(w.NodesToWrite, ua.WriteValue{NodeID: id, AttributeID: 13, Value: ua.DataValue{Value: ua.Double(2)}})
	}
	w.NodesToWrite = append(w.NodesToWrite, ua.WriteValue{NodeID: space.id(1), AttributeID: 77}, ua.WriteValue{NodeID: space.id(1), AttributeID: 13, IndexRange: "x"})
	if err := c.call(&w.RequestHeader, &w, &wp); err != nil {
		t.Fatal(err)
	}
	want := []ua.StatusCode{ua.Good, ua.BadNodeIdInvalid, ua.BadNodeIdUnknown, ua.BadNodeIdUnknown, ua.BadAttributeIdInvalid, ua.BadIndexRangeInvalid}
	if fmt.Sprint(wp.Results) != fmt.Sprint(want) || space.values[1].Float() != 2 {
		t.Errorf("write: %v, value %v", wp.Results, space.values[1])
	}

	q, p := ua.CallRequest{}, ua.CallResponse{}
	wantStatus(t, "empty call", c.call(&q.RequestHeader, &q, &p), ua.BadNothingToDo)
	q.MethodsToCall = []ua.CallMethodRequest{
		{ObjectID: space.id(1), MethodID: space.id(2), InputArguments: []ua.Variant{ua.Int32(1)}},
		{MethodID: space.id(2)}, {ObjectID: space.id(1)}, {ObjectID: ua.NewNodeID(9, 9), MethodID: space.id(2)}}
	if err := c.call(&q.RequestHeader, &q, &p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []ua.StatusCode{ua.Good, ua.BadNodeIdInvalid, ua.BadMethodInvalid, ua.BadNodeIdUnknown} {
		if p.Results[i].StatusCode != want {
			t.Errorf("call %d: %v, want %v", i, p.Results[i].StatusCode, want)
		}
	}
	if out := p.Results[0].OutputArguments; len(out) != 2 || out[1].Int() != 1 {
		t.Errorf("outputs %v", out)
	}
}

func (c *fakeClient) browse(max uint32, ids ...ua.NodeID) (*ua.BrowseResponse, error) {
	q, p := ua.BrowseRequest{RequestedMaxReferencesPerNode: max}, new(ua.BrowseResponse)
	for _, id := range ids {
		q.NodesToBrowse = append(q.NodesToBrowse, ua.BrowseDescription{NodeID: id, ResultMask: 63})
	}
	return p, c.call(&q.RequestHeader, &q, p)
}

func (c *fakeClient) browseNext(release bool, points ...[]byte) (*ua.BrowseNextResponse, error) {
	q, p := ua.BrowseNextRequest{ReleaseContinuationPoints: release, ContinuationPoints: points}, new(ua.BrowseNextResponse)
	return p, c.call(&q.RequestHeader, &q, p)
}

// V05: with one point, ten folders browsed at once give all their references in the end, and never a
// point together with a bad status.
func TestFewContinuationPoints(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxBrowseContinuationPoint = 1 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	todo, total := []ua.NodeID{}, 0
	for i := range uint32(10) {
		todo = append(todo, space.id(1000+i))
	}
	for len(todo) > 0 {
		p, err := c.browse(100, todo...)
		if err != nil {
			t.Fatal(err)
		}
		var again []ua.NodeID
		for i, r := range p.Results {
			if r.StatusCode == ua.BadNoContinuationPoints {
				if len(r.ContinuationPoint) > 0 || len(r.References) > 0 {
					t.Fatal("BadNoContinuationPoints together with a result")
				}
				again = append(again, todo[i])
				continue
			}
			for total += len(r.References); len(r.ContinuationPoint) > 0; {
				n, err := c.browseNext(false, r.ContinuationPoint)
				if err != nil || n.Results[0].StatusCode.IsBad() {
					t.Fatal(err, n.Results)
				}
				r = n.Results[0]
				total += len(r.References)
			}
		}
		if len(again) == len(todo) {
			t.Fatal("no progress")
		}
		todo = again
	}
	if total != 9990 {
		t.Errorf("%d references, want 9990", total)
	}
}

func TestContinuationPoints(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxBrowseContinuationPoint = 2 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	first := func() []byte {
		p, err := c.browse(10, space.id(1000))
		if err != nil || len(p.Results[0].References) != 10 || len(p.Results[0].ContinuationPoint) == 0 {
			t.Fatal(err, p.Results)
		}
		return p.Results[0].ContinuationPoint
	}
	status := func(release bool, id []byte) ua.StatusCode {
		n, err := c.browseNext(release, id)
		if err != nil {
			t.Fatal(err)
		}
		return n.Results[0].StatusCode
	}
	a := first()
	if got := status(false, append([]byte{}, a[:15]...)); got != ua.BadContinuationPointInvalid {
		t.Errorf("cut id: %v", got)
	}
	guess := append([]byte{}, a...)
	guess[15] ^= 1
	if got := status(false, guess); got != ua.BadContinuationPointInvalid {
		t.Errorf("guessed id: %v", got)
	}
	other := s.fakeClient(t, newFakeChannel()).logIn()
	if n, err := other.browseNext(false, a); err != nil || n.Results[0].StatusCode != ua.BadContinuationPointInvalid {
		t.Errorf("other session's: %v %v", err, n.Results)
	}
	if got := status(true, a); got != ua.Good {
		t.Errorf("release: %v", got)
	}
	if got := status(false, a); got != ua.BadContinuationPointInvalid {
		t.Errorf("released: %v", got)
	}
	b := first()
	first()
	first() // b is the oldest, and of an earlier request: it makes room
	if got := status(false, b); got != ua.BadContinuationPointInvalid {
		t.Errorf("dropped: %v", got)
	}
	wantStatus(t, "nothing", func() error { _, err := c.browseNext(false); return err }(), ua.BadNothingToDo)
}

// C17: without a limit on references the client's message size decides how long a page is.
func TestBrowseFillsTheMessage(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	ch := newFakeChannel()
	c := s.fakeClient(t, ch).logIn()
	p, err := c.browse(0, space.id(1000))
	if err != nil || len(p.Results[0].References) != 999 || p.Results[0].ContinuationPoint != nil {
		t.Fatalf("no limits: %v, %d references", err, len(p.Results[0].References))
	}
	ch.limit = 8192
	p, err = c.browse(0, space.id(1000), space.id(1001), space.id(1002))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range p.Results {
		n := len(r.References)
		for len(r.ContinuationPoint) > 0 {
			next, err := c.browseNext(false, r.ContinuationPoint)
			if err != nil {
				t.Fatal(err)
			}
			r = next.Results[0]
			n += len(r.References)
		}
		if n != 999 || r.StatusCode.IsBad() {
			t.Errorf("folder %d: %d references, %v", i, n, r.StatusCode)
		}
	}
}

func TestBrowseRefusals(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxNodesPerBrowse = 5 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	_, err := c.browse(0)
	wantStatus(t, "empty", err, ua.BadNothingToDo)
	_, err = c.browse(0, make([]ua.NodeID, 6)...)
	wantStatus(t, "too many", err, ua.BadTooManyOperations)
	q := ua.BrowseRequest{NodesToBrowse: make([]ua.BrowseDescription, 1), View: ua.ViewDescription{ViewID: space.id(3)}}
	wantStatus(t, "view", c.call(&q.RequestHeader, &q, nil), ua.BadViewIdUnknown)
	for name, x := range map[string]struct {
		d    ua.BrowseDescription
		want ua.StatusCode
	}{
		"null":      {ua.BrowseDescription{}, ua.BadNodeIdInvalid},
		"unknown":   {ua.BrowseDescription{NodeID: space.id(5000)}, ua.BadNodeIdUnknown},
		"direction": {ua.BrowseDescription{NodeID: space.id(1000), BrowseDirection: 3}, ua.BadBrowseDirectionInvalid},
		"type":      {ua.BrowseDescription{NodeID: space.id(1000), ReferenceTypeID: space.id(1)}, ua.BadReferenceTypeIdInvalid},
	} {
		q, p := ua.BrowseRequest{NodesToBrowse: []ua.BrowseDescription{x.d}}, ua.BrowseResponse{}
		if err := c.call(&q.RequestHeader, &q, &p); err != nil || p.Results[0].StatusCode != x.want {
			t.Errorf("%s: %v, %v, want %v", name, err, p.Results[0].StatusCode, x.want)
		}
	}
}

func TestTranslate(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	path := func(start ua.NodeID, names ...string) ua.BrowsePath {
		b := ua.BrowsePath{StartingNode: start}
		for _, n := range names {
			b.RelativePath.Elements = append(b.RelativePath.Elements, ua.RelativePathElement{TargetName: ua.QualifiedName{Name: n}})
		}
		return b
	}
	for name, x := range map[string]struct {
		path    ua.BrowsePath
		status  ua.StatusCode
		targets int
		rest    uint32
	}{
		"one":            {path(space.id(1), "one"), ua.Good, 1, math.MaxUint32},
		"two steps":      {path(space.id(1), "twice", "twice"), ua.Good, 2, math.MaxUint32},
		"no match":       {path(space.id(1), "one", "none"), ua.BadNoMatch, 0, 0},
		"empty path":     {path(space.id(1)), ua.BadNothingToDo, 0, 0},
		"null":           {path(ua.NodeID{}, "one"), ua.BadNodeIdInvalid, 0, 0},
		"unknown":        {path(ua.NewNodeID(9, 1), "one"), ua.BadNodeIdUnknown, 0, 0},
		"name in middle": {path(space.id(1), "", "one"), ua.BadBrowseNameInvalid, 0, 0},
		"other server":   {path(space.id(1), "one", "far", "one"), ua.Good, 1, 2},
	} {
		q, p := ua.TranslateBrowsePathsToNodeIDsRequest{BrowsePaths: []ua.BrowsePath{x.path}}, ua.TranslateBrowsePathsToNodeIDsResponse{}
		if err := c.call(&q.RequestHeader, &q, &p); err != nil {
			t.Fatal(err)
		}
		r := p.Results[0]
		if r.StatusCode != x.status || len(r.Targets) != x.targets || x.targets > 0 && r.Targets[0].RemainingPathIndex != x.rest {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestRegisterNodes(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxNodesPerRegisterNodes = 2 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	for n, want := range map[int]ua.StatusCode{0: ua.BadNothingToDo, 2: ua.Good, 3: ua.BadTooManyOperations} {
		q, p := ua.RegisterNodesRequest{}, ua.RegisterNodesResponse{}
		u, up := ua.UnregisterNodesRequest{}, ua.UnregisterNodesResponse{}
		for i := range n {
			q.NodesToRegister = append(q.NodesToRegister, space.id(uint32(i+1)))
		}
		u.NodesToUnregister = q.NodesToRegister
		err := c.call(&q.RequestHeader, &q, &p)
		if want == ua.Good && err == nil && p.RegisteredNodeIDs[1] == space.id(2) {
			if err := c.call(&u.RequestHeader, &u, &up); err != nil {
				t.Error(err)
			}
			continue
		}
		wantStatus(t, fmt.Sprint(n), err, want)
		wantStatus(t, fmt.Sprint(n), c.call(&u.RequestHeader, &u, &up), want)
	}
}

// V14 and V15: addresses follow what the client used.
func TestEndpointAddresses(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) {
		c.URLs = []string{"opc.tcp://container-7:4840/plant", "opc.tcp://10.0.0.1:4840/plant"}
	})
	c := s.fakeClient(t, newFakeChannel())
	for used, want := range map[string]string{
		"opc.tcp://127.0.0.1:48405":  "opc.tcp://127.0.0.1:48405/plant",
		"opc.tcp://[::1]:4840/other": "opc.tcp://[::1]:4840/plant",
		"opc.tcp://plant.example:9":  "opc.tcp://plant.example:9/plant",
		"":                           "opc.tcp://used:1234/plant", // of the Hello
		"http://x/":                  "opc.tcp://used:1234/plant",
		"%%%":                        "opc.tcp://used:1234/plant",
	} {
		q, p := ua.GetEndpointsRequest{EndpointURL: used}, ua.GetEndpointsResponse{}
		if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.Endpoints) != 1 || p.Endpoints[0].EndpointURL != want {
			t.Errorf("%q: %v %+v", used, err, p.Endpoints)
		}
		f, fp := ua.FindServersRequest{EndpointURL: used}, ua.FindServersResponse{}
		if err := c.call(&f.RequestHeader, &f, &fp); err != nil || len(fp.Servers) != 1 || fp.Servers[0].DiscoveryURLs[0] != want {
			t.Errorf("%q: %v %+v", used, err, fp.Servers)
		}
	}
	q, p := ua.GetEndpointsRequest{ProfileURIs: []string{"http://other"}}, ua.GetEndpointsResponse{}
	if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.Endpoints) != 0 {
		t.Errorf("other profile: %v %v", err, p.Endpoints)
	}
	f, fp := ua.FindServersRequest{ServerURIs: []string{"urn:other"}}, ua.FindServersResponse{}
	if err := c.call(&f.RequestHeader, &f, &fp); err != nil || len(fp.Servers) != 0 {
		t.Errorf("other server: %v %v", err, fp.Servers)
	}
	if got := s.Endpoints(); len(got) != 2 || got[0].EndpointURL != "opc.tcp://container-7:4840/plant" {
		t.Errorf("own endpoints %v", got)
	}
}

// V01 and V02: sessions end by time, those that nobody activated within seconds.
func TestSessionsEnd(t *testing.T) {
	s, space, clock := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	idle := s.fakeClient(t, newFakeChannel())
	if _, err := idle.create(); err != nil {
		t.Fatal(err)
	}
	clock.add(10 * time.Second)
	s.sweep(clock.now())
	if got := s.Stats(); got.Sessions != 1 || got.SessionsTimedOut != 1 {
		t.Errorf("%+v", got)
	}
	wantStatus(t, "never activated", idle.activate(nil), ua.BadSessionIdInvalid)
	if _, err := c.read(space.id(1)); err != nil {
		t.Fatal(err)
	}
	for range 3 { // in use it lives on
		clock.add(59 * time.Second)
		s.sweep(clock.now())
		if _, err := c.read(space.id(1)); err != nil {
			t.Fatal(err)
		}
	}
	clock.add(time.Minute)
	s.sweep(clock.now())
	_, err := c.read(space.id(1))
	wantStatus(t, "timed out", err, ua.BadSessionIdInvalid)
	if n := s.Stats().Sessions; n != 0 || c.ch.trusted {
		t.Errorf("session count %v", n)
	}
}

// V02: failed logins cannot fill the table.
func TestFailedLoginsLeaveRoom(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) {
		c.Limits.MaxSessions, c.Users, c.AllowPlainPasswords = 3, map[string]string{"ada": "secret"}, true
	})
	logIn := func(user, password string) error {
		c := s.fakeClient(t, newFakeChannel())
		if _, err := c.create(); err != nil {
			return err
		}
		return c.activate(&ua.UserNameIdentityToken{PolicyID: userNamePolicyID, UserName: user, Password: []byte(password)})
	}
	for range 50 {
		wantStatus(t, "wrong", logIn("mallory", "x"), ua.BadUserAccessDenied)
	}
	for range 3 {
		if err := logIn("ada", "secret"); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, "full of users", logIn("ada", "secret"), ua.BadTooManySessions)
}

func TestConfigRefusals(t *testing.T) {
	for name, cfg := range map[string]Config{
		"url":           {URLs: []string{"http://x"}},
		"policy":        {Policies: []string{"Basic257"}},
		"deprecated":    {Policies: []string{"Basic256"}, Identity: testIdentity(t)},
		"identity":      {Policies: []string{"Basic256Sha256"}},
		"uri":           {Identity: testIdentity(t), ApplicationURI: "urn:other"},
		"mode":          {Modes: []ua.MessageSecurityMode{ua.MessageSecurityModeNone}},
		"timeouts":      {Limits: Limits{MinSessionTimeout: time.Hour, MaxSessionTimeout: time.Minute}},
		"two managers":  {Nodes: []NodeManager{newTestSpace(), newTestSpace()}},
		"nameless user": {Users: map[string]string{"": "x"}},
	} {
		if s, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close()
		}
	}
	s, err := New(Config{Policies: []string{"Basic256", "Basic128Rsa15"}, AllowDeprecated: true, Identity: testIdentity(t)})
	if err != nil || len(s.Endpoints()) != 0 { // no listener yet, so no address
		t.Errorf("deprecated allowed: %v", err)
	}
	if errors.Is(err, ua.BadSecurityPolicyRejected) {
		t.Error(err)
	}
}

func TestLiveValues(t *testing.T) {
	s, _, clock := newTestServer(t, func(c *Config) { c.Limits.MaxNodesPerRead, c.Diagnostics = -1, true })
	now := ua.NewDateTime(clock.now())
	for id, want := range map[uint32]string{
		uaid.Server_ServerStatus_State:                                  "0",
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead:  "0",
		uaid.Server_ServerCapabilities_OperationLimits_MaxNodesPerWrite: "10000",
		uaid.Server_ServiceLevel:                                        "255",
		// Those of subscriptions; a product that is no UInt32 is no limit.
		uaid.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall: "10000",
		uaid.Server_ServerCapabilities_MaxSubscriptions:                         "100000",
		uaid.Server_ServerCapabilities_MaxMonitoredItems:                        "0",
		uaid.Server_ServerCapabilities_MaxSubscriptionsPerSession:               "100",
		uaid.Server_ServerCapabilities_MaxMonitoredItemsPerSubscription:         "100000",
		uaid.Server_ServerCapabilities_MaxMonitoredItemsQueueSize:               "10000",
		uaid.Server_ServerCapabilities_MaxSelectClauseParameters:                "1000",
		uaid.Server_ServerCapabilities_MaxWhereClauseParameters:                 "4000",
		uaid.Server_ServerCapabilities_MaxHistoryContinuationPoints:             "0",
		uaid.Server_ServerRedundancy_RedundancySupport:                          "0",
	} {
		if v, ok := s.Live(id, now); !ok || fmt.Sprint(v.Int()) != want {
			t.Errorf("%d: %v", id, v)
		}
	}
	if _, ok := s.Live(85, now); ok {
		t.Error("Objects is no live value")
	}
	for id := range liveValues {
		if v, _ := s.Live(id, now); v.Type() == ua.TypeNull {
			t.Errorf("%d has no value", id)
		}
	}
	s.stopping.Store(true)
	s.stopAt.Store(int64(now) + 50_000_000)
	if st := s.Status(now); st.State != ua.ServerStateShutdown || st.SecondsTillShutdown != 5 {
		t.Errorf("%+v", st)
	}
}
