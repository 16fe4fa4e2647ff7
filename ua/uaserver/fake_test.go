package uaserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uabin"
)

// fakeChannel keeps the last response, encoded, by request id.
type fakeChannel struct {
	policy  *secpol.Policy
	mode    ua.MessageSecurityMode
	cert    []byte
	url     string
	addr    string
	limit   int
	trusted bool
	number  uint32 // ChannelID; 0: 1

	mu   sync.Mutex
	buf  []byte // of the last response
	sent map[uint32][]byte
	came chan uint32
}

func newFakeChannel() *fakeChannel {
	return &fakeChannel{policy: secpol.None, mode: ua.MessageSecurityModeNone, url: "opc.tcp://used:1234/x",
		addr: "192.0.2.1:5000", sent: map[uint32][]byte{}, came: make(chan uint32, 1000)}
}

func (c *fakeChannel) Send(id uint32, m ua.Structure) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		if recover() != nil {
			err = ua.BadEncodingError
		}
	}()
	c.buf = m.BinaryID().NodeID.AppendBinary(c.buf[:0])
	c.buf = m.AppendBinary(c.buf)
	if c.limit > 0 && len(c.buf) > c.limit {
		return ua.BadResponseTooLarge
	}
	if c.sent != nil {
		c.sent[id] = append([]byte(nil), c.buf...)
		select {
		case c.came <- id:
		default: // whoever waits has enough to look at
		}
	}
	return nil
}
func (c *fakeChannel) SendLater(id uint32, m ua.Structure) error { return c.Send(id, m) }

func (c *fakeChannel) ChannelID() uint32 { return max(c.number, 1) }

func (c *fakeChannel) Policy() *secpol.Policy       { return c.policy }
func (c *fakeChannel) Mode() ua.MessageSecurityMode { return c.mode }
func (c *fakeChannel) ClientCertificate() []byte    { return c.cert }
func (c *fakeChannel) EndpointURL() string          { return c.url }
func (c *fakeChannel) MaxResponse() int             { return c.limit }
func (c *fakeChannel) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.addr)
	return a
}
func (c *fakeChannel) SetTrusted(t bool)           { c.mu.Lock(); c.trusted = t; c.mu.Unlock() }
func (c *fakeChannel) Close(ua.StatusCode, string) {}

// fakeClient sends requests to a server's dispatch and decodes what comes back.
type fakeClient struct {
	t     testing.TB
	conn  *conn
	ch    *fakeChannel
	id    uint32
	token ua.NodeID
	nonce []byte
}

func (s *Server) fakeClient(t testing.TB, ch *fakeChannel) *fakeClient {
	return &fakeClient{t: t, conn: s.newConn(ch), ch: ch}
}

func encode(m ua.Structure) []byte {
	return m.AppendBinary(m.BinaryID().NodeID.AppendBinary(nil))
}

// send dispatches a request with a handle of its own, 1000 above its id.
func (c *fakeClient) send(h *ua.RequestHeader, q ua.Structure) uint32 {
	c.id++
	h.RequestHandle = 1000 + c.id
	if h.AuthenticationToken.IsNull() {
		h.AuthenticationToken = c.token
	}
	c.conn.dispatch(c.conn.server.now(), c.id, encode(q), true)
	return c.id
}

// receive waits for the answer to a request and decodes it; a fault is an error.
func (c *fakeClient) receive(id uint32, p ua.Structure) error {
	c.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		c.ch.mu.Lock()
		body, ok := c.ch.sent[id]
		delete(c.ch.sent, id)
		c.ch.mu.Unlock()
		if ok {
			return c.decode(id, body, p)
		}
		select {
		case <-c.ch.came:
		case <-deadline:
			c.t.Fatalf("no answer to request %d", id)
		}
	}
}

func (c *fakeClient) decode(id uint32, body []byte, p ua.Structure) error {
	c.t.Helper()
	r := uabin.NewReader(body)
	var typeID ua.NodeID
	typeID.DecodeBinary(r)
	var f ua.ServiceFault
	if typeID == f.BinaryID().NodeID {
		f.DecodeBinary(r)
		if h := f.ResponseHeader.RequestHandle; h != 1000+id {
			c.t.Errorf("C25: fault of request %d has handle %d, want %d", id, h, 1000+id)
		}
		return &faultError{f.ResponseHeader}
	}
	if p == nil || typeID != p.BinaryID().NodeID {
		c.t.Fatalf("request %d answered with type %v", id, typeID)
	}
	p.DecodeBinary(r)
	if err := r.Err(); err != nil {
		c.t.Fatal(err)
	}
	return nil
}

type faultError struct{ header ua.ResponseHeader }

func (e *faultError) Error() string { return e.header.ServiceResult.Error() }
func (e *faultError) Unwrap() error { return e.header.ServiceResult }

func (c *fakeClient) call(h *ua.RequestHeader, q, p ua.Structure) error {
	c.t.Helper()
	return c.receive(c.send(h, q), p)
}

func (c *fakeClient) create() (*ua.CreateSessionResponse, error) {
	q, p := ua.CreateSessionRequest{SessionName: "test", RequestedSessionTimeout: 60_000}, new(ua.CreateSessionResponse)
	q.RequestHeader.AuthenticationToken = ua.NewOpaqueNodeID(0, []byte{0}) // none yet
	err := c.call(&q.RequestHeader, &q, p)
	if err == nil {
		c.token, c.nonce = p.AuthenticationToken, p.ServerNonce
	}
	return p, err
}

func (c *fakeClient) activate(token ua.Structure) error {
	q, p := ua.ActivateSessionRequest{}, new(ua.ActivateSessionResponse)
	if token != nil {
		q.UserIdentityToken = ua.NewExtensionObject(token)
	}
	err := c.call(&q.RequestHeader, &q, p)
	if err == nil {
		c.nonce = p.ServerNonce
	}
	return err
}

func (c *fakeClient) logIn() *fakeClient {
	c.t.Helper()
	if _, err := c.create(); err != nil {
		c.t.Fatal(err)
	}
	if err := c.activate(nil); err != nil {
		c.t.Fatal(err)
	}
	return c
}

func (c *fakeClient) read(ids ...ua.NodeID) (*ua.ReadResponse, error) {
	q, p := ua.ReadRequest{}, new(ua.ReadResponse)
	for _, id := range ids {
		q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)})
	}
	return p, c.call(&q.RequestHeader, &q, p)
}

func wantStatus(t testing.TB, what string, err error, want ua.StatusCode) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// clock is a fake clock.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

var testStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newTestServer makes a server with a fake clock that nobody moves, on a testSpace.
func newTestServer(t testing.TB, change func(*Config)) (*Server, *testSpace, *clock) {
	t.Helper()
	c := &clock{t: testStart}
	space := newTestSpace()
	cfg := Config{ApplicationURI: "urn:test:server", Nodes: []NodeManager{space}, Now: c.now,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, space, c
}

// testSpace is a node manager of one namespace, index 2: numeric nodes 1 to 999 are variables, 1000 a
// folder of them, 2000 blocks until released, 2001 panics, 2002 as a method sleeps for a second, 2003 has
// an output of 1 MiB.
type testSpace struct {
	uri     string
	ns      uint16
	values  [1000]ua.Variant
	release chan struct{}
	batches atomic.Int64
	ctxErr  chan error
}

func newTestSpace() *testSpace {
	s := &testSpace{uri: "urn:test:nodes", release: make(chan struct{}), ctxErr: make(chan error, 10)}
	for i := range s.values {
		s.values[i] = ua.Int32(int32(i))
	}
	s.values[10] = ua.ByteString([]byte("0123456789"))
	return s
}

func (s *testSpace) id(n uint32) ua.NodeID                  { return ua.NewNodeID(s.ns, n) }
func (s *testSpace) NamespaceURIs() []string                { return []string{s.uri} }
func (s *testSpace) Attach(_ *Server, index []uint16) error { s.ns = index[0]; return nil }

func (s *testSpace) Read(ctx *Context, items []ReadItem) {
	s.batches.Add(1)
	for i := range items {
		it := &items[i]
		n := it.NodeID.Numeric()
		switch {
		case n == 2001:
			panic("a bug in a callback")
		case n == 2000 && !ctx.MayBlock:
			it.Blocked = true
		case n == 2000:
			select {
			case <-s.release:
				it.Result.Value = ua.String("at last")
			case <-ctx.Done():
				s.ctxErr <- ctx.Err()
				it.Result.Status = ua.BadTimeout
			}
		case n == 0 || n >= 1000:
			it.Result.Status = ua.BadNodeIdUnknown
		case it.Attribute == ua.AttributeValue:
			it.Result.Value, it.Result.SourceTimestamp = s.values[n], ctx.Now-1
		default:
			it.Result.Status = ua.BadAttributeIdInvalid
		}
	}
}

func (s *testSpace) Write(_ *Context, items []WriteItem) {
	for i := range items {
		if n := items[i].NodeID.Numeric(); n > 0 && n < 1000 {
			s.values[n] = items[i].Value.Value
		} else {
			*items[i].Result = ua.BadNodeIdUnknown
		}
	}
}

func (s *testSpace) Browse(_ *Context, it *BrowseItem) {
	if it.NodeID.Numeric() < 1000 || it.NodeID.Numeric() > 1999 {
		it.Status = ua.BadNodeIdUnknown
		return
	}
	i := int(it.Cursor)
	for it.Cursor = 0; i < 999; i++ {
		if len(it.References) == it.Max {
			it.Cursor = uint64(i)
			return
		}
		it.References = append(it.References, Reference{Type: ua.ID(35), Target: s.id(uint32(i + 1)).Expanded(), Forward: true})
	}
}

func (s *testSpace) Describe(_ *Context, items []DescribeItem) {
	for i := range items {
		items[i].Class, items[i].BrowseName = ua.NodeClassVariable, ua.QualifiedName{NamespaceIndex: s.ns, Name: "V"}
		items[i].DisplayName, items[i].TypeDefinition = ua.Text("V"), ua.ID(63).Expanded()
	}
}

func (s *testSpace) Translate(_ *Context, it *TranslateItem) {
	switch it.Element.TargetName.Name {
	case "one":
		it.Targets = append(it.Targets, s.id(1).Expanded())
	case "twice":
		it.Targets = append(it.Targets, s.id(1).Expanded(), s.id(1).Expanded(), s.id(2).Expanded())
	case "far":
		it.Targets = append(it.Targets, ua.ExpandedNodeID{NodeID: s.id(1), ServerIndex: 1})
	}
}

func (s *testSpace) Call(ctx *Context, it *CallItem) {
	if it.MethodID.Numeric() == 2002 {
		if it.Blocked = !ctx.MayBlock; ctx.MayBlock {
			time.Sleep(time.Second)
		}
		return
	}
	if it.MethodID.Numeric() == 2003 {
		s.batches.Add(1)
		it.Result.OutputArguments = []ua.Variant{ua.Text(strings.Repeat("x", 1<<20)).Variant()}
		return
	}
	if it.MethodID.Numeric() == 2000 {
		if it.Blocked = !ctx.MayBlock; ctx.MayBlock {
			select {
			case <-s.release:
			case <-ctx.Done():
				s.ctxErr <- context.Cause(ctx)
			}
		}
		return
	}
	it.Result.OutputArguments = []ua.Variant{ua.String(ctx.Session.User), ua.Int32(int32(len(it.Inputs)))}
}
