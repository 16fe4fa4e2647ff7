package uaclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

// wantFailure dials and checks step and status (S28).
func wantFailure(t *testing.T, url string, config *uaclient.Config, step uaclient.Step, status ua.StatusCode) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c, err := uaclient.Dial(ctx, url, config)
	if err == nil {
		c.Close(context.Background())
		t.Fatal("connected")
	}
	if uaclient.StepOf(err) != step {
		t.Errorf("step %q, want %q: %v", uaclient.StepOf(err), step, err)
	}
	if status != 0 && !errors.Is(err, status) {
		t.Errorf("want %v: %v", status, err)
	}
	return err
}

// S28: the usual faults name their step and wrap the true status.
func TestDialNamesTheStep(t *testing.T) {
	silentListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silentListener.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	wantFailure(t, "opc.tcp://"+closed.Addr().String(), nil, uaclient.StepTCP, 0)
	wantFailure(t, "opc.tcp://"+silentListener.Addr().String(), nil, uaclient.StepHello, ua.BadTimeout)
	wantFailure(t, "http://localhost", nil, uaclient.StepTCP, ua.BadTcpEndpointUrlInvalid)
	wantFailure(t, "opc.wss://localhost", nil, uaclient.StepTCP, ua.BadNotSupported)

	s := newStub(t, nil)
	for name, reject := range map[string]struct {
		request ua.Structure
		step    uaclient.Step
	}{
		"GetEndpoints":    {&ua.GetEndpointsRequest{}, uaclient.StepEndpoints},
		"CreateSession":   {&ua.CreateSessionRequest{}, uaclient.StepSession},
		"ActivateSession": {&ua.ActivateSessionRequest{}, uaclient.StepActivate},
	} {
		s.setAnswer(func(req ua.Structure) ua.Structure {
			if req.DataTypeID() == reject.request.DataTypeID() {
				return fault(ua.BadTooManySessions)
			}
			return nil
		})
		err := wantFailure(t, s.url, nil, reject.step, ua.BadTooManySessions)
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// S27: what the server does not offer is refused with its own status before any session is made.
func TestNotOffered(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	store := s.trusting()
	for _, x := range []struct {
		config uaclient.Config
		want   ua.StatusCode
	}{
		{uaclient.Config{SecurityPolicy: "Aes256_Sha256_RsaPss"}, ua.BadSecurityPolicyRejected},
		{uaclient.Config{SecurityPolicy: "Basic256Sha256", Mode: ua.MessageSecurityModeSign}, ua.BadSecurityModeRejected},
		{uaclient.Config{Mode: ua.MessageSecurityModeSign}, ua.BadSecurityModeRejected},
		{uaclient.Config{User: uaclient.UserName{Name: "u", Password: "p"}}, ua.BadIdentityTokenRejected},
		{uaclient.Config{SecurityPolicy: "Basic256"}, ua.BadSecurityPolicyRejected},
		{uaclient.Config{SecurityPolicy: "None", Mode: ua.MessageSecurityModeSign}, ua.BadSecurityModeRejected},
	} {
		x.config.Identity, x.config.PKI = client, store
		wantFailure(t, s.url, &x.config, uaclient.StepEndpoints, x.want)
	}
	if n := s.count("CreateSessionRequest"); n != 0 {
		t.Errorf("%d sessions were made", n)
	}
}

// S25: an unknown certificate is refused, recorded, and never leads to a session without security.
func TestUnknownCertificate(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	store, err := uapki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	err = wantFailure(t, s.url, &uaclient.Config{Identity: client, PKI: store}, uaclient.StepCertificate, ua.BadCertificateUntrusted)
	var refused *uaclient.CertificateError
	if !errors.As(err, &refused) || len(refused.Certificate.Thumbprint) != 40 || len(refused.Certificate.Offered) != 2 {
		t.Errorf("no CertificateError with thumbprint and endpoints: %v", err)
	}
	if list, _ := store.ListRejected(); len(list) != 1 {
		t.Errorf("%d rejected certificates were recorded", len(list))
	}
	if s.count("CreateSessionRequest") != 0 {
		t.Error("a session was made")
	}
	c := s.dial(&uaclient.Config{Identity: client, InsecureSkipVerify: true})
	if e := c.Endpoint(); e.SecurityMode != ua.MessageSecurityModeSignAndEncrypt {
		t.Errorf("mode %v", e.SecurityMode)
	}
	// Only when it is asked for.
	if e := s.dial(&uaclient.Config{SecurityPolicy: "None"}).Endpoint(); e.SecurityMode != ua.MessageSecurityModeNone {
		t.Errorf("mode %v", e.SecurityMode)
	}
}

func TestServerMustProveItsKey(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	store := s.trusting()
	for name, spoil := range map[string]func(*ua.CreateSessionResponse){
		"signature": func(r *ua.CreateSessionResponse) { r.ServerSignature.Signature[5] ^= 1 },
		"no nonce":  func(r *ua.CreateSessionResponse) { r.ServerNonce = nil },
		"downgrade": func(r *ua.CreateSessionResponse) {
			r.ServerEndpoints = append(r.ServerEndpoints[:1:1], r.ServerEndpoints[1])
			r.ServerEndpoints[1].SecurityPolicyURI = secpol.URIPrefix + "Aes256_Sha256_RsaPss"
		},
		"certificate": func(r *ua.CreateSessionResponse) { r.ServerCertificate = client.Certificate() },
	} {
		s.setAnswer(func(req ua.Structure) ua.Structure {
			create, ok := req.(*ua.CreateSessionRequest)
			if !ok {
				return nil
			}
			p, _ := secpol.ByName("Basic256Sha256")
			sig, _ := p.AsymSign(s.identity.Key, nil, append(append([]byte(nil), create.ClientCertificate...), create.ClientNonce...))
			r := &ua.CreateSessionResponse{
				AuthenticationToken: ua.NewNodeID(0, 77), ServerNonce: make([]byte, 32), ServerEndpoints: s.endpoints,
				ServerCertificate: s.identity.Certificate(), ServerSignature: ua.SignatureData{Signature: sig},
			}
			spoil(r)
			return r
		})
		t.Run(name, func(t *testing.T) {
			created, closed := s.count("CreateSessionRequest"), s.count("CloseSessionRequest")
			wantFailure(t, s.url, &uaclient.Config{Identity: client, PKI: store}, uaclient.StepSession, 0)
			if s.count("ActivateSessionRequest") != 0 {
				t.Error("the session was activated")
			}
			if s.count("CreateSessionRequest")-created != 1 || s.count("CloseSessionRequest")-closed != 1 { // V03
				t.Error("the session was not closed")
			}
		})
	}
}

// V03: sessions that were created and closed are equal in number, however a connect fails.
func TestFailedConnectsLeaveNoSession(t *testing.T) {
	s := newStub(t, func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.ActivateSessionRequest); ok {
			return fault(ua.BadUserAccessDenied)
		}
		return nil
	})
	for range 10 {
		wantFailure(t, s.url, nil, uaclient.StepActivate, ua.BadUserAccessDenied)
	}
	if a, b := s.count("CreateSessionRequest"), s.count("CloseSessionRequest"); a != 10 || b != 10 {
		t.Errorf("%d created, %d closed", a, b)
	}
	// The context ends while CreateSession is on its way: its session is closed when it comes.
	hold := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	s.setAnswer(func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.CreateSessionRequest); ok {
			cancel()
			<-hold
		}
		return nil
	})
	begin := time.Now()
	if _, err := uaclient.Dial(ctx, s.url, nil); !errors.Is(err, context.Canceled) || uaclient.StepOf(err) != uaclient.StepSession {
		t.Errorf("%v", err)
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("returned after %v", d)
	}
	close(hold)
	for deadline := time.Now().Add(5 * time.Second); s.count("CloseSessionRequest") != 11; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the late session was not closed")
		}
	}
}

// T05: a dial context ends with the dial, also at a black hole; afterwards nothing is left.
func TestDialContext(t *testing.T) {
	s := newStub(t, nil)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	c, err := uaclient.Dial(ctx, s.url, nil)
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 5)); err != nil {
		t.Errorf("read after the dial context ended: %v", err)
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 5)); err == nil {
		t.Error("read after Close")
	}
	select {
	case <-c.Done():
	case <-time.After(time.Second):
		t.Error("Done is not closed after Close")
	}

	hole := &uaclient.Config{Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err = uaclient.Dial(ctx, "opc.tcp://192.0.2.1", hole)
	if !errors.Is(err, ua.BadTimeout) || !errors.Is(err, context.DeadlineExceeded) || uaclient.StepOf(err) != uaclient.StepTCP || time.Since(begin) > time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	backTo(t, before)
}

// backTo waits until no more goroutines run than before.
func backTo(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// T05: Close with a peer that has fallen silent returns.
func TestCloseWithSilentPeer(t *testing.T) {
	s := newStub(t, nil)
	c := s.dial(nil)
	s.setAnswer(func(ua.Structure) ua.Structure { return &silent{} })
	begin := time.Now()
	c.Close(context.Background())
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("Close took %v", d)
	}
}

// deafConn stops handing on what the peer sends to it once it is told so: the peer's buffers fill up.
type deafConn struct {
	net.Conn
	deaf   *atomic.Bool
	closed chan struct{}
}

func (c *deafConn) Read(b []byte) (int, error) {
	if c.deaf.Load() {
		<-c.closed
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

// proxy forwards connections to the stub until it is told to be deaf to the client.
func (s *stub) proxy(deaf *atomic.Bool) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	closed := make(chan struct{})
	s.t.Cleanup(func() { l.Close(); close(closed) })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(s.url, "opc.tcp://"))
			if err != nil {
				client.Close()
				return
			}
			go func() {
				_, _ = io.Copy(struct{ io.Writer }{server}, &deafConn{Conn: client, deaf: deaf, closed: closed})
				server.Close()
			}()
			go func() {
				_, _ = io.Copy(client, server)
				client.Close()
			}()
		}
	}()
	return "opc.tcp://" + l.Addr().String()
}

// T05: neither a call nor Close waits for a peer that reads no more.
func TestPeerThatReadsNoMore(t *testing.T) {
	s := newStub(t, nil)
	var deaf atomic.Bool
	c, err := uaclient.Dial(context.Background(), s.proxy(&deaf), nil)
	if err != nil {
		t.Fatal(err)
	}
	deaf.Store(true)
	begin := time.Now()
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if err := c.WriteValue(ctx, ua.NewNodeID(1, 1), ua.ByteString(make([]byte, 12<<20))); !errors.Is(err, ua.BadTimeout) {
			t.Error(err)
		}
		cancel()
	}
	c.Close(context.Background())
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("calls and Close took %v", d)
	}
}

// V15: the host that was dialled is kept, whatever the endpoints say; the path decides between
// several applications.
func TestEndpointHostAndPath(t *testing.T) {
	s := newStub(t, nil)
	other := s.endpoints[0]
	other.EndpointURL += "/other"
	other.UserIdentityTokens = []ua.UserTokenPolicy{{PolicyID: "other"}}
	s.set(func() { s.endpoints = []ua.EndpointDescription{other, s.endpoints[0]} })
	for url, id := range map[string]string{s.url: "anonymous", s.url + "/other": "other"} {
		c, err := uaclient.Dial(context.Background(), url, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Close(context.Background())
		token := s.lastOf("ActivateSessionRequest").(*ua.ActivateSessionRequest).UserIdentityToken.Value.(*ua.AnonymousIdentityToken)
		if token.PolicyID != id {
			t.Errorf("%s used token policy %q", url, token.PolicyID)
		}
	}
}

// S21: the password is encrypted by the token's policy, whatever the channel's is, and never sent in
// clear unasked.
func TestPasswordEncryption(t *testing.T) {
	login := uaclient.UserName{Name: strings.Repeat("ü", 200), Password: "geheim"}
	sent := func(s *stub) *ua.UserNameIdentityToken {
		return s.lastOf("ActivateSessionRequest").(*ua.ActivateSessionRequest).UserIdentityToken.Value.(*ua.UserNameIdentityToken)
	}
	check := func(s *stub, policy string) {
		t.Helper()
		p, err := secpol.ByName(policy)
		if err != nil {
			t.Fatal(err)
		}
		token := sent(s)
		plain, err := p.DecryptSecret(s.identity.Key, token.Password, []byte("0123456789abcdef0123456789abcdef"))
		if err != nil || string(plain) != "geheim" || token.UserName != login.Name || token.EncryptionAlgorithm != p.AsymmetricEncryptionURI {
			t.Errorf("password %q, %v, algorithm %q", plain, err, token.EncryptionAlgorithm)
		}
	}
	s := newStub(t, nil)
	client := s.secure()
	none := &uaclient.Config{SecurityPolicy: "None", PKI: s.trusting(), User: login}

	s.set(func() { s.endpoints[0].UserIdentityTokens = tokens(userToken("Basic256Sha256")) })
	s.set(func() { s.endpoints[1].UserIdentityTokens = tokens(userToken("")) })
	s.dial(none) // None channel, token policy Basic256Sha256
	check(s, "Basic256Sha256")
	s.dial(&uaclient.Config{Identity: client, PKI: none.PKI, User: login}) // empty policy: the channel's
	check(s, "Basic256Sha256")
	s.set(func() { s.endpoints[1].UserIdentityTokens = tokens(userToken("Aes256_Sha256_RsaPss")) })
	s.dial(&uaclient.Config{Identity: client, PKI: none.PKI, User: login})
	check(s, "Aes256_Sha256_RsaPss")

	// Without a trusted certificate nobody gets the password.
	empty, _ := uapki.Open(t.TempDir())
	wantFailure(t, s.url, &uaclient.Config{SecurityPolicy: "None", PKI: empty, User: login}, uaclient.StepCertificate, ua.BadCertificateUntrusted)
	// Nor in clear, nor with an unsafe algorithm.
	for _, policy := range []string{"None", "", "Basic256"} {
		s.set(func() { s.endpoints[0].UserIdentityTokens = tokens(userToken(policy)) })
		wantFailure(t, s.url, none, uaclient.StepEndpoints, ua.BadIdentityTokenRejected)
	}
	s.set(func() { s.endpoints[0].UserIdentityTokens = tokens(userToken("None")) })
	none.AllowPlainPassword = true
	s.dial(none)
	if token := sent(s); string(token.Password) != "geheim" || token.EncryptionAlgorithm != "" {
		t.Errorf("%q %q", token.Password, token.EncryptionAlgorithm)
	}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("login", "user", login)
	fmt.Fprintf(&logged, "%v %+v %#v %s", none, *none, login, login)
	if strings.Contains(logged.String(), "geheim") {
		t.Errorf("a log has the password: %s", logged.String())
	}
	if text := login.GoString(); strings.Contains(text, "geheim") || strings.Contains(login.String(), "geheim") {
		t.Error("a UserName prints its password")
	}
}
