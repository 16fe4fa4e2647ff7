package uaclient_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/big"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

// interferer stands between a client and the stub. It passes on the server's chunks until the one with a
// number, counted over all connections, and does something else with that one.
type interferer struct {
	url    string
	number int
	act    func(chunk, before []byte, client net.Conn) (goOn bool)

	mu   sync.Mutex
	seen int
	gone chan struct{} // closed at the end of the test: those that stall give up
}

func interfere(t *testing.T, s *stub, number int, act func(chunk, before []byte, client net.Conn) bool) *interferer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &interferer{url: "opc.tcp://" + l.Addr().String(), number: number, act: act, gone: make(chan struct{})}
	var pumps sync.WaitGroup
	pumps.Go(func() {
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
			pumps.Go(func() {
				_, _ = io.Copy(server, client)
				server.Close()
			})
			pumps.Go(func() {
				p.pump(client, server)
				client.Close()
				server.Close()
			})
		}
	})
	t.Cleanup(func() { l.Close(); close(p.gone); pumps.Wait() })
	return p
}

func (p *interferer) pump(client, server net.Conn) {
	var before []byte
	for {
		chunk := make([]byte, 8)
		if _, err := io.ReadFull(server, chunk); err != nil {
			return
		}
		chunk = append(chunk, make([]byte, binary.LittleEndian.Uint32(chunk[4:])-8)...)
		if _, err := io.ReadFull(server, chunk[8:]); err != nil {
			return
		}
		p.mu.Lock()
		p.seen++
		mine := p.seen == p.number
		p.mu.Unlock()
		if mine {
			if !p.act(chunk, before, client) {
				return
			}
		} else if _, err := client.Write(chunk); err != nil {
			return
		}
		before = chunk
	}
}

// misdeeds are what happens to one chunk of the server. All but those that cannot be seen without
// security must fail the step that the chunk belongs to.
var misdeeds = map[string]func(gone <-chan struct{}, chunk, before []byte, client net.Conn) bool{
	"close": func(<-chan struct{}, []byte, []byte, net.Conn) bool { return false },
	"stall": func(gone <-chan struct{}, _, _ []byte, _ net.Conn) bool { <-gone; return false },
	"half": func(_ <-chan struct{}, chunk, _ []byte, c net.Conn) bool {
		_, _ = c.Write(chunk[:len(chunk)/2])
		return false
	},
	"garbage": func(gone <-chan struct{}, _, _ []byte, c net.Conn) bool {
		_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		<-gone
		return false
	},
	"huge": func(gone <-chan struct{}, chunk, _ []byte, c net.Conn) bool {
		b := append([]byte(nil), chunk...)
		binary.LittleEndian.PutUint32(b[4:], 0x7FFFFFFF)
		_, _ = c.Write(b)
		<-gone
		return false
	},
	"tiny": func(gone <-chan struct{}, chunk, _ []byte, c net.Conn) bool {
		b := append([]byte(nil), chunk...)
		binary.LittleEndian.PutUint32(b[4:], 7)
		_, _ = c.Write(b)
		<-gone
		return false
	},
	"again": func(gone <-chan struct{}, _, before []byte, c net.Conn) bool {
		if before == nil {
			return false
		}
		_, _ = c.Write(before)
		<-gone
		return false
	},
	"error": func(gone <-chan struct{}, _, _ []byte, c net.Conn) bool {
		b := append([]byte("ERRF\x00\x00\x00\x00"), 0, 0, 0, 0, 4, 0, 0, 0, 'b', 'u', 's', 'y')
		binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
		binary.LittleEndian.PutUint32(b[8:], ua.BadTcpServerTooBusy.Code())
		_, _ = c.Write(b)
		<-gone
		return false
	},
}

// S28: whatever a server does with any of its messages, the error names the step that the message belongs
// to, comes in time, and nothing is left running.
func TestEveryMessageCanGoWrong(t *testing.T) {
	for security, steps := range map[string][]uaclient.Step{
		"None": {uaclient.StepHello, uaclient.StepChannel, uaclient.StepEndpoints, uaclient.StepSession, uaclient.StepActivate, uaclient.StepService},
		"Basic256Sha256": {
			uaclient.StepHello, uaclient.StepChannel, uaclient.StepEndpoints,
			uaclient.StepHello, uaclient.StepChannel, uaclient.StepSession, uaclient.StepActivate, uaclient.StepService,
		},
	} {
		s := newStub(t, nil)
		client := s.secure()
		store := s.trusting()
		for name, act := range misdeeds {
			for i, step := range steps {
				t.Run(security+"/"+name+"/"+string(step), func(t *testing.T) {
					before := runtime.NumGoroutine()
					var p *interferer
					p = interfere(t, s, i+1, func(chunk, before []byte, c net.Conn) bool { return act(p.gone, chunk, before, c) })
					ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
					defer cancel()
					begin := time.Now()
					c, err := uaclient.Dial(ctx, p.url, &uaclient.Config{SecurityPolicy: security, Identity: client, PKI: store})
					if err == nil {
						_, err = c.ReadValue(ctx, ua.NewNodeID(1, 5))
						c.Close(context.Background())
					}
					took := time.Since(begin)
					if err == nil || uaclient.StepOf(err) != step || took > 3*time.Second {
						t.Errorf("after %v at step %q: %v", took, uaclient.StepOf(err), err)
					}
					if name == "error" && (!errors.Is(err, ua.BadTcpServerTooBusy) || !strings.Contains(err.Error(), "busy")) {
						t.Errorf("the server's reason is lost: %v", err)
					}
					backTo(t, before+8) // the stub's and the interferer's own, which end with the test
				})
			}
		}
	}
}

// A context that is cancelled at any message ends the work at once, as what it is.
func TestCancelledAtEveryMessage(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	store := s.trusting()
	for n := 1; n <= 8; n++ {
		ctx, cancel := context.WithCancel(context.Background())
		var p *interferer
		p = interfere(t, s, n, func([]byte, []byte, net.Conn) bool { cancel(); <-p.gone; return false })
		begin := time.Now()
		c, err := uaclient.Dial(ctx, p.url, &uaclient.Config{Identity: client, PKI: store})
		if err == nil {
			_, err = c.ReadValue(ctx, ua.NewNodeID(1, 5))
			c.Close(context.Background())
		}
		if !errors.Is(err, context.Canceled) || time.Since(begin) > 3*time.Second {
			t.Errorf("message %d: %v after %v", n, err, time.Since(begin))
		}
		cancel()
	}
}

// selfSigned is a certificate with a key that the policies do not allow.
func selfSigned(t *testing.T, pub, priv any) []byte {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "odd"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, pub, priv)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// A certificate whose key cannot do what its policy needs is an error, also for those who do not verify:
// no password is sent, nothing panics.
func TestServerKeysThatDoNotFit(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	small, err := rsa.GenerateKey(rand.Reader, 512)
	if err != nil {
		t.Fatal(err)
	}
	_, client := makeIdentities(t)
	for name, der := range map[string][]byte{
		"curve": selfSigned(t, &curve.PublicKey, curve), "small": selfSigned(t, &small.PublicKey, small),
		"none": nil, "garbage": []byte("no certificate"),
	} {
		for _, policy := range []string{"None", "Aes256_Sha256_RsaPss"} {
			s := newStub(t, nil)
			s.set(func() {
				e := &s.endpoints[0]
				e.UserIdentityTokens = tokens(userToken("Aes256_Sha256_RsaPss"))
				e.ServerCertificate = der
				if policy != "None" {
					e.SecurityMode, e.SecurityPolicyURI = ua.MessageSecurityModeSignAndEncrypt, secpol.URIPrefix+policy
				}
			})
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			_, err := uaclient.Dial(ctx, s.url, &uaclient.Config{
				Identity: client, InsecureSkipVerify: true, SecurityPolicy: policy, User: uaclient.UserName{Name: "u", Password: "geheim"},
			})
			cancel()
			if err == nil || uaclient.StepOf(err) == "" || errors.Is(err, context.DeadlineExceeded) || s.count("ActivateSessionRequest") != 0 {
				t.Errorf("%s, %s: %v", name, policy, err)
			}
		}
	}
}

// The password is for the certificate that was verified; a session that shows another one gets nothing.
func TestCertificateSwappedBeforeLogin(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	s.set(func() { s.endpoints[0].UserIdentityTokens = tokens(userToken("Basic256Sha256")) })
	s.setAnswer(func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.CreateSessionRequest); !ok {
			return nil
		}
		return &ua.CreateSessionResponse{
			AuthenticationToken: ua.NewNodeID(0, 7), ServerNonce: make([]byte, 32), ServerEndpoints: s.endpoints,
			ServerCertificate: client.Certificate(),
		}
	})
	wantFailure(t, s.url, &uaclient.Config{
		SecurityPolicy: "None", PKI: s.trusting(), User: uaclient.UserName{Name: "u", Password: "geheim"},
	}, uaclient.StepActivate, ua.BadCertificateInvalid)
	if s.count("ActivateSessionRequest") != 0 || s.count("CloseSessionRequest") != 1 {
		t.Error("a login was sent, or the session was left")
	}
}

// A server whose discovery hides its secured endpoints is found out by those of the session.
func TestDowngradeIsFoundOut(t *testing.T) {
	s := newStub(t, nil)
	client := s.secure()
	all := s.endpoints
	s.setAnswer(func(req ua.Structure) ua.Structure {
		if _, ok := req.(*ua.GetEndpointsRequest); ok {
			return &ua.GetEndpointsResponse{Endpoints: all[:1]}
		}
		return nil
	})
	store, err := uapki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.set(func() { s.identity = nil }) // the stub cannot sign under None
	wantFailure(t, s.url, &uaclient.Config{Identity: client, PKI: store}, uaclient.StepSession, ua.BadSecurityChecksFailed)
}

// Session timeouts that no server may send are no negative times.
func TestOddSessionTimeouts(t *testing.T) {
	for sent, want := range map[float64]time.Duration{
		math.NaN(): 0, math.Inf(1): math.MaxInt64, math.Inf(-1): 0, -5: 0, 1e300: math.MaxInt64, 1500: 1500 * time.Millisecond,
	} {
		s := newStub(t, nil)
		s.setAnswer(func(req ua.Structure) ua.Structure {
			if _, ok := req.(*ua.CreateSessionRequest); !ok {
				return nil
			}
			return &ua.CreateSessionResponse{
				AuthenticationToken: ua.NewNodeID(0, 7), ServerEndpoints: s.endpoints, RevisedSessionTimeout: sent,
			}
		})
		if got := s.dial(nil).SessionTimeout(); got != want {
			t.Errorf("%v ms: %v", sent, got)
		}
	}
}

// A server that always promises more references and never sends one ends the browse.
func TestEndlessEmptyPages(t *testing.T) {
	more := []ua.BrowseResult{{ContinuationPoint: []byte("more")}}
	s := newStub(t, func(req ua.Structure) ua.Structure {
		switch r := req.(type) {
		case *ua.BrowseRequest:
			return &ua.BrowseResponse{Results: more}
		case *ua.BrowseNextRequest:
			if r.ReleaseContinuationPoints {
				return nil
			}
			return &ua.BrowseNextResponse{Results: more}
		}
		return nil
	})
	c := s.dial(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := c.BrowseAll(ctx, ids(1), uaclient.BrowseOptions{}); !errors.Is(err, ua.BadUnknownResponse) {
		t.Error(err)
	}
	for _, err := range c.References(ctx, ids(1)[0], uaclient.BrowseOptions{}) {
		if !errors.Is(err, ua.BadUnknownResponse) {
			t.Error(err)
		}
	}
	if last, ok := s.lastOf("BrowseNextRequest").(*ua.BrowseNextRequest); !ok || !last.ReleaseContinuationPoints {
		t.Error("the continuation point is not released")
	}
}

// An answer of another type, or a request id that nobody waits for, fails one call and not the next.
func TestAnswerOfAnotherType(t *testing.T) {
	s := newStub(t, nil)
	c := s.dial(nil)
	s.setAnswer(func(ua.Structure) ua.Structure { return &ua.WriteResponse{} })
	if _, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 1)); !errors.Is(err, ua.BadUnknownResponse) || uaclient.StepOf(err) != uaclient.StepService {
		t.Error(err)
	}
	s.setAnswer(nil)
	if _, err := c.ReadValue(context.Background(), ua.NewNodeID(1, 1)); err != nil {
		t.Error(err)
	}
}

// Calls of many goroutines end when the session is closed under them, each with an error that says so.
func TestCloseUnderManyCalls(t *testing.T) {
	s := newStub(t, nil)
	before := runtime.NumGoroutine()
	for range 5 {
		c := s.dial(nil)
		var calls sync.WaitGroup
		for range 16 {
			calls.Go(func() {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
					_, err := c.ReadValues(ctx, ids(3)...)
					cancel()
					if err == nil {
						continue
					}
					if !errors.Is(err, ua.BadConnectionClosed) && !errors.Is(err, ua.BadSecureChannelClosed) {
						t.Error(err)
					}
					return
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		for range 2 {
			calls.Go(func() { c.Close(context.Background()) })
		}
		calls.Wait()
	}
	backTo(t, before+2)
}
