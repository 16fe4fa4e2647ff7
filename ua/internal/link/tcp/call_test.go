package tcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

func TestCallInEveryMode(t *testing.T) {
	for _, p := range secpol.Policies() {
		modes := []ua.MessageSecurityMode{ua.MessageSecurityModeSign, ua.MessageSecurityModeSignAndEncrypt}
		if p.IsNone() {
			modes = []ua.MessageSecurityMode{ua.MessageSecurityModeNone}
		}
		for _, mode := range modes {
			t.Run(p.Name+"/"+mode.String(), func(t *testing.T) {
				var s ServerConfig
				var c ClientConfig
				secured(t, p.Name, mode, &s, &c)
				var seen *OpenRequest
				s.Open = func(o *OpenRequest) error { seen = o; return nil }
				conn := dial(t, onLoopback(t, s)+"/path", c)
				for _, n := range []int{0, 100, 70000, 1 << 20} {
					read(t, conn, n)
				}
				if seen.Policy != p || seen.Mode != mode || !p.IsNone() && len(seen.ClientChain) != 1 || seen.EndpointURL != conn.EndpointURL() {
					t.Errorf("%+v", seen)
				}
			})
		}
	}
}

// TestRenewalUnderLoad has many readers over many renewals, on both sides short of time (reports S11,
// S12 and S18): no call fails, and both ends check the order of the sequence numbers.
func TestRenewalUnderLoad(t *testing.T) {
	for _, policy := range []string{"None", "Basic256Sha256"} {
		t.Run(policy, func(t *testing.T) {
			s := ServerConfig{MinLifetime: 50 * time.Millisecond}
			// Half of the answers are sent by other goroutines.
			var late sync.WaitGroup
			s.Handler = &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
				if id%2 == 0 {
					answer(c, id, m)
					return
				}
				late.Go(func() { answer(c, id, m) })
			}}
			c := ClientConfig{Lifetime: time.Second}
			mode := ua.MessageSecurityModeNone
			if policy != "None" {
				mode = ua.MessageSecurityModeSignAndEncrypt
			}
			secured(t, policy, mode, &s, &c)
			conn := dial(t, onLoopback(t, s), c)
			defer late.Wait()
			end := time.Now().Add(2500 * time.Millisecond)
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					for time.Now().Before(end) {
						var r ua.ReadResponse
						n := rand.IntN(3000)
						if rand.IntN(50) == 0 {
							n = 100000
						}
						if err := conn.Call(t.Context(), request(n), &r); err != nil || sizeOf(&r) != n {
							t.Errorf("%d of %d bytes: %v", sizeOf(&r), n, err)
							return
						}
					}
				})
			}
			all.Wait()
			// Without renewal the connection would have ended after 1.25 s.
			read(t, conn, 10)
		})
	}
}

// TestCloseAmongCalls closes while 200 goroutines call (report S18): each ends with an answer or with
// the reason, and nothing hangs.
func TestCloseAmongCalls(t *testing.T) {
	conn := dial(t, onLoopback(t, ServerConfig{}), ClientConfig{})
	var all sync.WaitGroup
	var began sync.WaitGroup
	began.Add(200)
	for range 200 {
		all.Go(func() {
			for i := 0; ; i++ {
				var r ua.ReadResponse
				err := conn.Call(context.Background(), request(100), &r)
				if i == 0 {
					began.Done()
				}
				if err != nil {
					if !errors.Is(err, ua.BadConnectionClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	began.Wait()
	conn.Close(context.Background())
	all.Wait()
}

// TestLargeAnswers has the cases of reports C17, C21 and C22.
func TestLargeAnswers(t *testing.T) {
	l := inMemory(t, ServerConfig{})
	for name, c := range map[string]struct {
		limits uacp.Limits
		fails  bool
	}{
		"small buffers":    {uacp.Limits{ReceiveBufferSize: 8192, SendBufferSize: 8192}, false},
		"default":          {uacp.Limits{}, false},
		"2 MiB":            {uacp.Limits{MaxMessageSize: 2 << 20}, true},
		"10 chunks":        {uacp.Limits{MaxChunkCount: 10}, true},
		"1,000 chunks":     {uacp.Limits{MaxChunkCount: 1000}, false},
		"largest buffers":  {uacp.Limits{ReceiveBufferSize: 147456, SendBufferSize: 147456}, false},
		"chunks of 8,192,": {uacp.Limits{ReceiveBufferSize: 8192, MaxChunkCount: 600}, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := on(l)
			cfg.Limits = c.limits
			conn := dial(t, anyURL, cfg)
			var r ua.ReadResponse
			err := conn.Call(t.Context(), request(5<<20), &r)
			if c.fails {
				var fault *ServiceFault
				if !errors.As(err, &fault) || !errors.Is(err, ua.BadResponseTooLarge) {
					t.Errorf("%v, want a fault of BadResponseTooLarge", err)
				}
			} else if err != nil || sizeOf(&r) != 5<<20 {
				t.Errorf("%d bytes, %v", sizeOf(&r), err)
			}
			read(t, conn, 1000) // the connection lives
		})
	}
}

// TestHelloNumbers finds all four numbers of the client's limits on the wire (report C21).
func TestHelloNumbers(t *testing.T) {
	a, b := linktest.Pipe(linktest.Faults{})
	go Handshake(t.Context(), a, anyURL, &ClientConfig{Limits: uacp.Limits{ReceiveBufferSize: 9001, SendBufferSize: 9002, MaxMessageSize: 9003, MaxChunkCount: 9004}, Log: quiet})
	h, _ := linktest.NewPeer(t, b).AcceptHello(uacp.Limits{})
	if want := (uacp.Hello{ReceiveBufferSize: 9001, SendBufferSize: 9002, MaxMessageSize: 9003, MaxChunkCount: 9004, EndpointURL: anyURL}); h != want {
		t.Errorf("%+v", h)
	}
	b.Close()
}

// scripted connects a client to a server that the test plays.
func scripted(t *testing.T, cfg ClientConfig, grant uasc.Grant) (*ClientConn, *linktest.Peer) {
	t.Helper()
	a, b := linktest.Pipe(linktest.Faults{})
	cfg.Log = quiet
	got := make(chan *ClientConn, 1)
	go func() {
		c, err := Handshake(context.Background(), a, anyURL, &cfg)
		if err != nil {
			t.Error(err)
		}
		got <- c
	}()
	p := linktest.NewPeer(t, b)
	p.Accept(uacp.Limits{}, nil, grant)
	c := <-got
	if c == nil {
		t.FailNow()
	}
	t.Cleanup(func() { c.Close(context.Background()); b.Close() })
	return c, p
}

// begin begins a call and returns where its error arrives.
func begin(c *ClientConn, ctx context.Context, resp ua.Structure) chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, request(1), resp) }()
	return done
}

// TestAbortedAnswer is a server that gives up in the middle (report C23).
func TestAbortedAnswer(t *testing.T) {
	c, p := scripted(t, ClientConfig{}, uasc.Grant{})
	done := begin(c, t.Context(), new(ua.ReadResponse))
	var m ua.ReadRequest
	id := p.Expect(&m)
	// One intermediate chunk, made of a whole message.
	chunk := p.Seal(id, response(10))
	chunk[3] = uacp.Intermediate
	p.Raw(chunk)
	abort, err := p.Conv.SealAbort(nil, id, uacp.Errorf(ua.BadResponseTooLarge, "too many children"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Raw(abort)
	within(t, time.Second, func() {
		if err := <-done; !errors.Is(err, ua.BadResponseTooLarge) {
			t.Error(err)
		}
	})
	done = begin(c, t.Context(), new(ua.ReadResponse))
	p.Send(p.Expect(&m), response(10))
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestAnswersThatDoNotFit has late, foreign, broken and unknown answers.
func TestAnswersThatDoNotFit(t *testing.T) {
	c, p := scripted(t, ClientConfig{}, uasc.Grant{})
	var m ua.ReadRequest

	ctx, cancel := context.WithCancel(t.Context())
	done := begin(c, ctx, new(ua.ReadResponse))
	late := p.Expect(&m)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	done = begin(c, t.Context(), new(ua.ReadResponse))
	next := p.Expect(&m)
	p.Send(late, response(10))
	p.Send(99999, response(10))
	p.Send(next, &ua.BrowseResponse{})
	if err := <-done; !errors.Is(err, ua.BadUnknownResponse) {
		t.Error(err)
	}

	done = begin(c, t.Context(), new(ua.ReadResponse))
	chunk := p.Seal(p.Expect(&m), response(10))
	uacp.PutHeader(chunk, uacp.TypeMessage, uacp.Final, len(chunk)-5)
	p.Raw(chunk[:len(chunk)-5])
	if err := <-done; !errors.Is(err, ua.BadDecodingError) {
		t.Error(err)
	}

	// Answers in another order, with request handle 0 (report C25).
	var one, two ua.ReadResponse
	first := begin(c, t.Context(), &one)
	a := p.Expect(&m)
	second := begin(c, t.Context(), &two)
	p.Send(p.Expect(&m), response(2))
	p.Send(a, &ua.ServiceFault{ResponseHeader: ua.ResponseHeader{ServiceResult: ua.BadNodeIdUnknown}})
	if err := <-second; err != nil || sizeOf(&two) != 2 {
		t.Error(err)
	}
	if err := <-first; !errors.Is(err, ua.BadNodeIdUnknown) || ua.StatusOf(err) != ua.BadNodeIdUnknown {
		t.Error(err)
	}
}

// TestServerEndsWithReason has all calls fail with what the ERR message says (report S10).
func TestServerEndsWithReason(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *linktest.Peer)
		want ua.StatusCode
	}{
		"ERR": {func(p *linktest.Peer) {
			p.Raw(uacp.Errorf(ua.BadSecurityChecksFailed, "the signature is wrong").Append(nil))
		}, ua.BadSecurityChecksFailed},
		"end":            {func(p *linktest.Peer) { p.NC.Close() }, ua.BadConnectionClosed},
		"cut":            {func(p *linktest.Peer) { p.NC.(*linktest.Conn).Cut() }, ua.BadConnectionClosed},
		"garbage":        {func(p *linktest.Peer) { p.Raw([]byte("HTTP/1.1 400 Bad Request\r\n")) }, ua.BadTcpMessageTypeInvalid},
		"too large":      {func(p *linktest.Peer) { p.Raw([]byte("MSGF\xFF\xFF\xFF\x7F")) }, ua.BadTcpMessageTooLarge},
		"wrong sequence": {func(p *linktest.Peer) { p.Seal(1, response(1)); p.Send(2, response(1)) }, ua.BadSequenceNumberInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			conn, p := scripted(t, ClientConfig{}, uasc.Grant{})
			var calls []chan error
			for range 5 {
				calls = append(calls, begin(conn, t.Context(), new(ua.ReadResponse)))
				p.Receive()
			}
			c.end(p)
			for _, done := range calls {
				if err := <-done; !errors.Is(err, c.want) {
					t.Error(err)
				}
			}
			<-conn.Done()
			if !errors.Is(conn.Err(), c.want) {
				t.Error(conn.Err())
			}
			if err := conn.Call(t.Context(), request(1), new(ua.ReadResponse)); !errors.Is(err, c.want) {
				t.Errorf("a call after the end: %v", err)
			}
		})
	}
}

// TestSilentServer has calls that end with their context, however much was to be written, and a Close
// that does not wait (report T05).
func TestSilentServer(t *testing.T) {
	c, p := scripted(t, ClientConfig{}, uasc.Grant{})
	var calls []chan error
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	big := &ua.WriteRequest{NodesToWrite: []ua.WriteValue{{Value: ua.DataValue{Value: ua.ByteString(make([]byte, 100000))}}}}
	within(t, time.Second, func() {
		for range 10 { // four times what fits in the pipe
			done := make(chan error, 1)
			go func() { done <- c.Call(ctx, big, new(ua.WriteResponse)) }()
			calls = append(calls, done)
		}
		for _, done := range calls {
			if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
	})
	within(t, time.Second, func() { c.Close(context.Background()) })
	_ = p
}

// TestClientSaysGoodbye finds a CloseSecureChannel at the end.
func TestClientSaysGoodbye(t *testing.T) {
	c, p := scripted(t, ClientConfig{}, uasc.Grant{})
	c.Close(context.Background())
	if m := p.Receive(); m.Type != uacp.TypeClose {
		t.Errorf("a %v message", m.Type)
	}
	p.ExpectEnd()
	if err := c.Call(t.Context(), request(1), new(ua.ReadResponse)); !errors.Is(err, ua.BadConnectionClosed) {
		t.Error(err)
	}
}

// TestServerDoesNotRenew ends the connection when the token dies.
func TestServerDoesNotRenew(t *testing.T) {
	c, p := scripted(t, ClientConfig{Lifetime: 200 * time.Millisecond}, uasc.Grant{})
	started := time.Now()
	h, _ := p.Chunk()
	if h.Type != uacp.TypeOpen || time.Since(started) < 100*time.Millisecond {
		t.Errorf("a %v message after %v", h.Type, time.Since(started))
	}
	<-c.Done()
	if !errors.Is(c.Err(), ua.BadSecureChannelClosed) || time.Since(started) > 2*time.Second {
		t.Errorf("%v after %v", c.Err(), time.Since(started))
	}
}

// TestFaultyCarriers reads in tiny pieces, writes in tiny pieces, and breaks after any number of bytes:
// calls succeed, or fail with BadConnectionClosed.
func TestFaultyCarriers(t *testing.T) {
	l := inMemory(t, ServerConfig{})
	for _, f := range []linktest.Faults{{MaxRead: 1}, {MaxRead: 7, MaxWrite: 5}, {Buffer: 100}} {
		l.SetFaults(f)
		conn := dial(t, anyURL, on(l))
		for _, n := range []int{0, 1000, 100000} {
			read(t, conn, n)
		}
	}
	for cut := 1; cut < 1500; cut += 13 {
		l.SetFaults(linktest.Faults{CutAfter: cut})
		cfg := on(l)
		conn, err := Dial(t.Context(), anyURL, &cfg)
		for err == nil {
			err = conn.Call(t.Context(), request(100), new(ua.ReadResponse))
		}
		if !errors.Is(err, ua.BadConnectionClosed) {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
	}
}

// TestAllocations is the budget of a call: at most two on both sides together.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, policy := range []string{"None", "Basic256Sha256"} {
		t.Run(policy, func(t *testing.T) {
			fixed := &ua.ReadResponse{Results: []ua.DataValue{{Value: ua.Int32(5)}}}
			s := ServerConfig{Handler: handlerFunc(func(c *ServerConn, id uint32, body []byte) { c.Send(id, fixed) })}
			var c ClientConfig
			mode := ua.MessageSecurityModeNone
			if policy != "None" {
				mode = ua.MessageSecurityModeSignAndEncrypt
			}
			secured(t, policy, mode, &s, &c)
			conn := dial(t, onLoopback(t, s), c)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req := &ua.ReadRequest{NodesToRead: []ua.ReadValueID{{NodeID: ua.ID(2258), AttributeID: 13}}}
			var resp ua.ReadResponse
			n := testing.AllocsPerRun(2000, func() {
				if err := conn.Call(ctx, req, &resp); err != nil {
					t.Fatal(err)
				}
			})
			if n > 2 {
				t.Errorf("%v allocations a call", n)
			}
			t.Logf("%v allocations a call", n)
		})
	}
}

type handlerFunc func(c *ServerConn, requestID uint32, body []byte)

func (f handlerFunc) ServeMessage(c *ServerConn, _ time.Time, requestID uint32, body []byte) bool {
	f(c, requestID, body)
	return true
}

func (handlerFunc) Closed(*ServerConn, error) {}

func BenchmarkCall(b *testing.B) {
	for _, policy := range []string{"None", "Basic256Sha256"} {
		for _, parallel := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", policy, parallel), func(b *testing.B) {
				fixed := &ua.ReadResponse{Results: []ua.DataValue{{Value: ua.Int32(5)}}}
				s := ServerConfig{Handler: handlerFunc(func(c *ServerConn, id uint32, body []byte) { c.Send(id, fixed) })}
				var c ClientConfig
				mode := ua.MessageSecurityModeNone
				if policy != "None" {
					mode = ua.MessageSecurityModeSignAndEncrypt
				}
				secured(b, policy, mode, &s, &c)
				conn := dial(b, onLoopback(b, s), c)
				b.ReportAllocs()
				b.SetParallelism(parallel)
				b.RunParallel(func(pb *testing.PB) {
					req := request(1)
					var resp ua.ReadResponse
					for pb.Next() {
						if err := conn.Call(context.Background(), req, &resp); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}

// TestStructureThatPanics has a structure panic while it is encoded, on both sides: that message is not sent, and
// the connection goes on.
func TestStructureThatPanics(t *testing.T) {
	failed := make(chan error, 2)
	s := ServerConfig{Handler: &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
		failed <- c.Send(id, new(badStructure))
		failed <- c.SendLater(id, new(badStructure))
		answer(c, id, m)
	}}}
	conn := dial(t, onLoopback(t, s), ClientConfig{})
	if err := conn.Call(t.Context(), new(badStructure), new(ua.ReadResponse)); !errors.Is(err, ua.BadEncodingError) {
		t.Errorf("a request: %v", err)
	}
	read(t, conn, 100)
	for range 2 {
		if err := <-failed; !errors.Is(err, ua.BadEncodingError) {
			t.Errorf("a response: %v", err)
		}
	}
	read(t, conn, 1000)
}
