package uaserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
)

// C25: the fault of each service echoes the handle; decode checks it.
func TestFaultsEchoTheHandle(t *testing.T) {
	s, _, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel())
	c.token = ua.NewOpaqueNodeID(0, []byte("nobody"))
	query, hist := ua.QueryFirstRequest{}, ua.HistoryReadRequest{}
	for _, x := range []struct {
		h    *ua.RequestHeader
		q    ua.Structure
		want ua.StatusCode
	}{
		{&query.RequestHeader, &query, ua.BadServiceUnsupported},
		{&hist.RequestHeader, &hist, ua.BadServiceUnsupported},
	} {
		wantStatus(t, fmt.Sprintf("%T", x.q), c.call(x.h, x.q, nil), x.want)
	}
	// Each service that needs a session, with one that does not exist.
	for id, row := range table {
		if row == nil || row.rule == noSession {
			continue
		}
		k := row.pool.New().(*call)
		wantStatus(t, fmt.Sprint(id), c.call(k.reqHeader, k.req, nil), ua.BadSessionIdInvalid)
	}
}

func TestUndecodableRequest(t *testing.T) {
	s, _, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel())
	q := ua.ReadRequest{NodesToRead: make([]ua.ReadValueID, 1)}
	q.RequestHeader.RequestHandle = 1001
	q.RequestHeader.ReturnDiagnostics = wantAdditionalInfo
	body := encode(&q)
	for cut := range body {
		if cut < 20 {
			continue // the header is not complete: handle 0 is all there is
		}
		c.id, c.ch.sent = 1, map[uint32][]byte{}
		c.conn.dispatch(c.conn.server.now(), 1, body[:cut], true)
		err := c.receive(1, nil)
		if !errors.Is(err, ua.BadDecodingError) {
			t.Fatalf("%d of %d bytes: %v", cut, len(body), err)
		}
	}
	// An array length from the wire is not believed.
	huge := append(body[:len(body)-4-4-2-2-4-6-2][:0:0], body...)
	copy(huge[len(huge)-len(encode(&q))+len(encode(&ua.ReadRequest{RequestHeader: q.RequestHeader}))-4:], []byte{0xff, 0xff, 0xff, 0x7f})
	c.conn.dispatch(c.conn.server.now(), 1, huge, true)
	var f *faultError
	if err := c.receive(1, nil); !errors.As(err, &f) || !f.header.ServiceResult.IsBad() || f.header.ServiceDiagnostics.AdditionalInfo == "" {
		t.Errorf("huge array: %v", err)
	}
}

func TestSessionRules(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel())
	if _, err := c.create(); err != nil {
		t.Fatal(err)
	}
	_, err := c.read(space.id(1))
	wantStatus(t, "before activation", err, ua.BadSessionNotActivated)
	wantStatus(t, "a session that was used too early", c.activate(nil), ua.BadSessionIdInvalid) // Part 4, 5.7.3.1
	if n := s.sessions.count(); n != 0 {
		t.Errorf("%d sessions", n)
	}
	c.logIn()
	if _, err := c.read(space.id(1)); err != nil {
		t.Fatal(err)
	}
	if !c.ch.trusted {
		t.Error("channel is not trusted after login")
	}

	other := s.fakeClient(t, newFakeChannel())
	other.token = c.token
	_, err = other.read(space.id(1))
	wantStatus(t, "other channel", err, ua.BadSecureChannelIdInvalid)
	q := ua.CloseSessionRequest{}
	wantStatus(t, "close on other channel", other.call(&q.RequestHeader, &q, nil), ua.BadSecureChannelIdInvalid)

	// The session moves with an activation there.
	if err := other.activate(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := other.read(space.id(1)); err != nil {
		t.Fatal(err)
	}
	_, err = c.read(space.id(1))
	wantStatus(t, "old channel", err, ua.BadSecureChannelIdInvalid)
	if c.ch.trusted || !other.ch.trusted {
		t.Error("trust did not move with the session")
	}

	cq, cp := ua.CloseSessionRequest{}, ua.CloseSessionResponse{}
	if err := other.call(&cq.RequestHeader, &cq, &cp); err != nil {
		t.Fatal(err)
	}
	_, err = other.read(space.id(1))
	wantStatus(t, "closed", err, ua.BadSessionIdInvalid)
	if other.ch.trusted || s.sessions.count() != 0 {
		t.Error("something is left of the session")
	}
}

func TestFirstActivationNeedsItsChannel(t *testing.T) {
	s, _, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel())
	if _, err := c.create(); err != nil {
		t.Fatal(err)
	}
	other := s.fakeClient(t, newFakeChannel())
	other.token = c.token
	wantStatus(t, "first activation elsewhere", other.activate(nil), ua.BadSecureChannelIdInvalid)
}

// With secured endpoints only, a channel without security is for discovery.
func TestDiscoveryOnlyWithoutSecurity(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) { c.Identity, c.Policies = testIdentity(t), []string{"Basic256Sha256"} })
	c := s.fakeClient(t, newFakeChannel())
	_, err := c.create()
	wantStatus(t, "CreateSession", err, ua.BadSecurityPolicyRejected)
	q, p := ua.GetEndpointsRequest{}, ua.GetEndpointsResponse{}
	if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.Endpoints) != 2 {
		t.Errorf("GetEndpoints: %v, %d endpoints", err, len(p.Endpoints))
	}
}

func TestCancelAndPendingLimit(t *testing.T) {
	s, space, _ := newTestServer(t, func(c *Config) { c.Limits.MaxPendingRequests = 2 })
	c := s.fakeClient(t, newFakeChannel()).logIn()
	// The activation is pending itself until it is answered; wait for it to be gone.
	for s.sessions.find(c.token).pendingCount() > 0 {
		time.Sleep(time.Millisecond)
	}
	slow := func() (uint32, uint32) {
		q := ua.CallRequest{MethodsToCall: []ua.CallMethodRequest{{ObjectID: space.id(1), MethodID: space.id(2000)}}}
		id := c.send(&q.RequestHeader, &q)
		return id, q.RequestHeader.RequestHandle
	}
	first, handle := slow()
	second, _ := slow()
	third, _ := slow()
	wantStatus(t, "third", c.receive(third, nil), ua.BadTooManyOperations)

	cq, cp := ua.CancelRequest{RequestHandle: handle}, ua.CancelResponse{}
	if err := c.call(&cq.RequestHeader, &cq, &cp); err != nil || cp.CancelCount != 1 {
		t.Fatalf("Cancel: %v, count %d", err, cp.CancelCount)
	}
	wantStatus(t, "cancelled", c.receive(first, nil), ua.BadRequestCancelledByClient)
	if err := <-space.ctxErr; !errors.Is(err, context.Canceled) {
		t.Errorf("callback saw %v", err)
	}
	close(space.release)
	if err := c.receive(second, new(ua.CallResponse)); err != nil {
		t.Error(err)
	}
	if err := c.call(&cq.RequestHeader, &cq, &cp); err != nil || cp.CancelCount != 0 {
		t.Errorf("Cancel of nothing: %v, count %d", err, cp.CancelCount)
	}
}

func (s *session) pendingCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

func TestPanicFailsTheCallOnly(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	_, err := c.read(space.id(2001))
	wantStatus(t, "panic", err, ua.BadInternalError)
	if _, err := c.read(space.id(1)); err != nil {
		t.Error(err)
	}
}

// A Read that waits for a callback does not hold up those behind it, on the same channel even.
func TestBlockedReadLetsOthersPass(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	q := ua.ReadRequest{NodesToRead: []ua.ReadValueID{
		{NodeID: space.id(1), AttributeID: 13}, {NodeID: space.id(2000), AttributeID: 13}, {NodeID: space.id(2), AttributeID: 13}}}
	id := c.send(&q.RequestHeader, &q)
	for range 100 {
		if _, err := c.read(space.id(3)); err != nil {
			t.Fatal(err)
		}
	}
	close(space.release)
	var p ua.ReadResponse
	if err := c.receive(id, &p); err != nil {
		t.Fatal(err)
	}
	if p.Results[0].Value.Int() != 1 || p.Results[1].Value.Str() != "at last" || p.Results[2].Value.Int() != 2 {
		t.Errorf("results %v", p.Results)
	}
}

func TestDiagnostics(t *testing.T) {
	s, space, _ := newTestServer(t, nil)
	c := s.fakeClient(t, newFakeChannel()).logIn()
	q, p := ua.ReadRequest{}, ua.ReadResponse{}
	for _, n := range []uint32{1, 5000, 5001} {
		q.NodesToRead = append(q.NodesToRead, ua.ReadValueID{NodeID: space.id(n), AttributeID: 13})
	}
	if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.DiagnosticInfos) != 0 || len(p.ResponseHeader.StringTable) != 0 {
		t.Errorf("not asked for: %v %v", err, p.DiagnosticInfos)
	}
	q.RequestHeader.ReturnDiagnostics = (wantSymbolicID | wantLocalizedText) << operationShift
	if err := c.call(&q.RequestHeader, &q, &p); err != nil || len(p.DiagnosticInfos) != 3 {
		t.Fatalf("asked for: %v %v", err, p.DiagnosticInfos)
	}
	table := p.ResponseHeader.StringTable
	if d := p.DiagnosticInfos[2]; p.DiagnosticInfos[0].Mask != 0 || table[d.SymbolicID] != "BadNodeIdUnknown" ||
		table[d.LocalizedText] != ua.BadNodeIdUnknown.Text() || len(table) != 4 {
		t.Errorf("%+v, table %q", p.DiagnosticInfos, table)
	}
	q.RequestHeader.ReturnDiagnostics, q.NodesToRead = wantSymbolicID|wantAdditionalInfo, nil
	var f *faultError
	if err := c.call(&q.RequestHeader, &q, &p); !errors.As(err, &f) {
		t.Fatal(err)
	}
	if d := f.header.ServiceDiagnostics; f.header.StringTable[d.SymbolicID] != "BadNothingToDo" || d.AdditionalInfo == "" {
		t.Errorf("service diagnostics %+v", f.header)
	}
}

func TestChannelNeedsOfferedSecurity(t *testing.T) {
	s, _, _ := newTestServer(t, func(c *Config) {
		c.Identity, c.Policies, c.Modes = testIdentity(t), []string{"Basic256Sha256"}, []ua.MessageSecurityMode{ua.MessageSecurityModeSign}
	})
	aes, _ := secpol.ByName("Aes128_Sha256_RsaOaep")
	basic, _ := secpol.ByName("Basic256Sha256")
	wantStatus(t, "S27 policy", s.checkOpen(openRequest(aes, ua.MessageSecurityModeSign)), ua.BadSecurityPolicyRejected)
	wantStatus(t, "S27 mode", s.checkOpen(openRequest(basic, ua.MessageSecurityModeSignAndEncrypt)), ua.BadSecurityModeRejected)
	wantStatus(t, "S25 nobody is trusted", s.checkOpen(openRequest(basic, ua.MessageSecurityModeSign)), ua.BadCertificateUntrusted)
	if err := s.checkOpen(openRequest(secpol.None, ua.MessageSecurityModeNone)); err != nil {
		t.Errorf("discovery: %v", err)
	}
}

// Sessions that are made, moved, used, closed and swept at the same time leave nothing behind.
func TestSessionsInParallel(t *testing.T) {
	s, space, clock := newTestServer(t, func(c *Config) { c.Limits.MaxSessions = 20 })
	var wg sync.WaitGroup
	chans := make(chan *fakeChannel, 100)
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				a, b := s.fakeClient(t, newFakeChannel()), s.fakeClient(t, newFakeChannel())
				if _, err := a.create(); err != nil {
					continue
				}
				if a.activate(nil) != nil {
					continue // swept, or dropped to make room
				}
				b.token = a.token
				moved := make(chan error, 1)
				go func() { moved <- b.activate(nil) }()
				_, _ = a.read(space.id(1), space.id(2))
				if <-moved == nil {
					_, _ = b.browse(10, space.id(1000))
				}
				switch i % 3 {
				case 0:
					q := ua.CloseSessionRequest{}
					_ = b.call(&q.RequestHeader, &q, &ua.CloseSessionResponse{})
				case 1:
					clock.add(time.Second)
					s.sweep(clock.now())
				}
				select {
				case chans <- a.ch:
				case chans <- b.ch:
				default:
				}
			}
		}()
	}
	wg.Wait()
	clock.add(time.Hour)
	s.sweep(clock.now())
	if n := s.Stats().Sessions; n != 0 {
		t.Errorf("%d sessions left", n)
	}
	close(chans)
	for ch := range chans {
		if ch.mu.Lock(); ch.trusted {
			t.Error("a channel without a session is still trusted")
		}
		ch.mu.Unlock()
	}
}
