package uaserver

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// large are values of every type that a client can make long, of about n bytes.
func large(n int) map[string]ua.Variant {
	text := strings.Repeat("x", n)
	return map[string]ua.Variant{
		"ByteString":     ua.ByteString(make([]byte, n)),
		"String":         ua.String(text),
		"XmlElement":     ua.Scalar(ua.XMLElement(text)),
		"LocalizedText":  ua.Text(text).Variant(),
		"Locale":         ua.LocalizedText{Locale: text}.Variant(),
		"QualifiedName":  ua.QualifiedName{Name: text}.Variant(),
		"NodeId":         ua.NewStringNodeID(2, text).Variant(),
		"opaque NodeId":  ua.NewOpaqueNodeID(2, make([]byte, n)).Variant(),
		"ExpandedNodeId": ua.Scalar(ua.ExpandedNodeID{NodeID: ua.ID(1), NamespaceURI: text}),
		"Structure":      ua.NewExtensionObject(&ua.Argument{Name: text}).Variant(),
		"opaque":         ua.Array([]ua.ExtensionObject{{TypeID: ua.NewNodeID(2, 1), Encoding: ua.BodyBinary, Body: make([]byte, n)}}),
		"DataValue":      ua.Scalar(ua.DataValue{Value: ua.String(text)}),
		"Variant":        ua.Array([]ua.Variant{ua.String(text)}),
		"DiagnosticInfo": ua.Scalar(ua.DiagnosticInfo{Mask: ua.DiagnosticInner, Inner: &ua.DiagnosticInfo{Mask: ua.DiagnosticAdditionalInfo, AdditionalInfo: text}}),
		"Double":         ua.Array(make([]float64, n/8)),
		"Float":          ua.Array(make([]float32, n/4)),
		"Int64":          ua.Array(make([]int64, n/8)),
		"UInt16":         ua.Array(make([]uint16, n/2)),
		"Byte":           ua.Array(make([]byte, n)),
		"Guid":           ua.Array(make([]ua.GUID, n/16)),
		"StatusCode":     ua.Array(make([]ua.StatusCode, n/4)),
		"Strings":        ua.Array(make([]string, n/4)),
		"Texts":          ua.Array(make([]ua.LocalizedText, n)),
		"NodeIds":        ua.Array(make([]ua.NodeID, n/2)),
		"DataValues":     ua.Array(make([]ua.DataValue, n)),
	}
}

// The size of a value is never above what it takes in a message, and not far below.
func TestValueSize(t *testing.T) {
	for name, v := range large(100_000) {
		real, got := len(v.AppendBinary(nil)), valueSize(v)
		if got > real || got < real*9/10 {
			t.Errorf("%s: size %d, encoded %d", name, got, real)
		}
	}
}

// A short request for large values again and again is refused before the response is built.
func TestReadAmplification(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	ids := make([]ua.NodeID, 5000)
	for i := range ids {
		ids[i] = space.id(1)
	}
	for name, v := range large(1 << 20) {
		space.values[1] = v
		got := allocated(func() {
			_, err := c.read(ids...)
			wantStatus(t, name, err, ua.BadResponseTooLarge)
		})
		if got > 64<<20 {
			t.Errorf("%s: %d bytes allocated for a refusal", name, got)
		}
		if _, err := c.read(ids[:10]...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// allocated is how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Methods whose outputs do not fit any more are not called.
func TestCallAmplification(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	var q ua.CallRequest
	for range 5000 {
		q.MethodsToCall = append(q.MethodsToCall, ua.CallMethodRequest{ObjectID: space.id(1), MethodID: space.id(2003)})
	}
	err := c.call(&q.RequestHeader, &q, new(ua.CallResponse))
	wantStatus(t, "5000 calls", err, ua.BadResponseTooLarge)
	if n := space.batches.Load(); n > 17 {
		t.Errorf("%d methods called", n)
	}
	q.MethodsToCall = q.MethodsToCall[:3]
	var p ua.CallResponse
	if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.Results) != 3 || len(p.Results[2].OutputArguments) != 1 {
		t.Errorf("3 calls: %v, %d results", err, len(p.Results))
	}
}

// inflated is a Write whose value is an array of n elements, each of which has the given bytes.
func inflated(c *fakeClient, node ua.NodeID, kind ua.BuiltInType, n int, element string) []byte {
	q := ua.WriteRequest{NodesToWrite: []ua.WriteValue{{NodeID: node, AttributeID: uint32(ua.AttributeValue)}}}
	q.RequestHeader.AuthenticationToken, q.RequestHeader.RequestHandle = c.token, 1001
	b := encode(&q)
	b = append(b[:len(b)-1], 1, byte(kind)|0x80)
	return append(uabin.AppendUint32(b, uint32(n)), strings.Repeat(element, n)...)
}

// A message whose elements take a byte each, and a hundred in memory, is refused before it has taken
// much; one of the same size that says what it holds is not.
func TestRequestsDoNotInflate(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	const size = 15 << 20
	for kind, element := range map[ua.BuiltInType]string{
		ua.TypeVariant: "\x00", ua.TypeDataValue: "\x00", ua.TypeDiagnosticInfo: "\x00", ua.TypeLocalizedText: "\x00",
		ua.TypeExtensionObject: "\x00\x00\x00", ua.TypeNodeID: "\x00\x00",
	} {
		body := inflated(c, space.id(1), kind, size/len(element), element)
		got := allocated(func() {
			c.conn.dispatch(c.conn.server.now(), 1, body, true)
			wantStatus(t, kind.String(), c.receive(1, nil), ua.BadEncodingLimitsExceeded)
		})
		if got > 160<<20 {
			t.Errorf("%v: %d bytes allocated", kind, got)
		}
	}
	for name, v := range map[string]ua.Variant{
		"doubles": ua.Array(make([]float64, size/8)), "bytes": ua.ByteString(make([]byte, size)), "strings": ua.Array(make([]string, size/4)),
	} {
		q, p := ua.WriteRequest{NodesToWrite: []ua.WriteValue{{NodeID: space.id(1), AttributeID: 13, Value: ua.DataValue{Value: v}}}}, ua.WriteResponse{}
		c.id = 0
		if err := c.call(&q.RequestHeader, &q, &p); err != nil || p.Results[0] != ua.Good {
			t.Errorf("%s: %v %v", name, err, p.Results)
		}
	}
	if n := s.room.budget.Used(); n != 0 {
		t.Errorf("%d bytes are not given back", n)
	}
}

// When large requests have taken all the memory there is for them, the next is refused, with the
// client's handle; small ones go on.
func TestLargeRequestsFindNoRoom(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	s.room.budget = uasc.NewBudget(1 << 20)
	q := ua.WriteRequest{NodesToWrite: []ua.WriteValue{{NodeID: space.id(1), AttributeID: 13, Value: ua.DataValue{Value: ua.ByteString(make([]byte, 100<<10))}}}}
	wantStatus(t, "large", c.call(&q.RequestHeader, &q, nil), ua.BadServerTooBusy)
	if _, err := c.read(space.id(2)); err != nil {
		t.Error(err)
	}
}

func TestRoom(t *testing.T) {
	r := newRoom(4 << 20) // 8 MiB for all, 2 MiB for one
	if l := r.limits(uabin.Limits{MaxArray: 7}, 1<<20); l.MaxMemory != 2<<20 || l.MaxArray != 7 {
		t.Errorf("limits %+v", l)
	}
	never := make(chan struct{})
	for i := range 4 {
		if !r.enter(2<<20, true, true, never) {
			t.Fatalf("no room for %d", i)
		}
	}
	if r.enter(1, false, true, never) {
		t.Error("room for a stranger")
	}
	came := make(chan bool)
	go func() { came <- r.enter(2<<20, true, true, never) }()
	select {
	case ok := <-came:
		t.Fatal("did not wait:", ok)
	case <-time.After(20 * time.Millisecond):
	}
	r.leave(2 << 20)
	if !<-came {
		t.Error("no room where another has left")
	}
	gone := make(chan struct{})
	close(gone)
	if r.enter(1, true, true, gone) {
		t.Error("room in a server that is closed")
	}
	for range 4 {
		r.leave(2 << 20)
	}
	if n := r.budget.Used(); n != 0 {
		t.Errorf("%d bytes left", n)
	}
}
