package tcp

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// withLoops has the servers of a test served by event loops.
func withLoops(t *testing.T) {
	overLoops = true
	t.Cleanup(func() { overLoops = false })
}

// TestOverLoops runs the tests of servers again with connections that event loops serve.
func TestOverLoops(t *testing.T) {
	withLoops(t)
	for name, test := range map[string]func(*testing.T){
		"OtherProtocols":    TestOtherProtocols,
		"SizesThatLie":      TestSizesThatLie,
		"WrongOrder":        TestWrongOrder,
		"LimitsOfStrangers": TestLimitsOfStrangers,
		"IdleConnections":   TestIdleConnections,
		"Flood":             TestFloodOfUnfinishedMessages,
		"HalfAChunk":        TestHalfAChunk,
		"Timeouts":          TestTimeouts,
		"ServerCloses":      TestServerCloses,
		"ClosedByClient":    TestClosedByClient,
		"CallInEveryMode":   TestCallInEveryMode,
		"RenewalUnderLoad":  TestRenewalUnderLoad,
		"CloseAmongCalls":   TestCloseAmongCalls,
		"LargeAnswers":      TestLargeAnswers,
		"DialFails":         TestDialFails,
		"DialContext":       TestDialContext,
		"Chains":            TestChains,
		"Allocations":       TestAllocations,
	} {
		t.Run(name, test)
	}
}

var unsecured = uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}

// connected is a peer with an open channel, without security, over a socket.
func connected(t *testing.T, url string) (*linktest.Peer, *net.TCPConn) {
	t.Helper()
	nc, err := net.Dial("tcp", url[len("opc.tcp://"):])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	p := linktest.NewPeer(t, nc)
	p.Connect(url, uacp.Limits{}, unsecured, time.Hour)
	return p, nc.(*net.TCPConn)
}

// TestLoopSlowReader has a peer that does not read what others make the server send it: its connection
// ends at the bound of what may wait, or when it has not read anything for the write timeout, and
// nobody else on the loop notices.
func TestLoopSlowReader(t *testing.T) {
	withLoops(t)
	for name, c := range map[string]struct {
		cfg  ServerConfig
		want ua.StatusCode
	}{
		"bound":   {ServerConfig{MaxOutbound: 1 << 20, WriteTimeout: time.Minute}, ua.BadTcpNotEnoughResources},
		"timeout": {ServerConfig{MaxOutbound: 1 << 30, WriteTimeout: 200 * time.Millisecond}, ua.BadConnectionClosed},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			conns := make(chan *ServerConn, 1)
			c.cfg.Handler = &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
				if m.MaxAge == 7 {
					conns <- c
				}
				answer(c, id, m)
			}, closed: func(_ *ServerConn, err error) {
				select {
				case ended <- err:
				default:
				}
			}}
			url := onLoopback(t, c.cfg)
			p, _ := connected(t, url)
			p.Send(1, request(7))
			conn := <-conns
			stop := reader(t, url)
			within(t, 5*time.Second, func() {
				before := heap()
				for most := 64 << 20; most > 0 && conn.Send(1, response(50_000)) == nil; most -= 50_000 {
				}
				if used := heap() - before; name == "bound" && used > 8<<20 {
					t.Errorf("%d bytes wait", used)
				}
				if err := <-ended; !errors.Is(err, c.want) {
					t.Error(err)
				}
			})
			stop()
		})
	}
}

// TestLoopStopsReading has a peer that sends many requests before it reads any answer: it is read no
// faster than it reads, and gets all answers in order in the end.
func TestLoopStopsReading(t *testing.T) {
	withLoops(t)
	var served atomic.Int32
	url := onLoopback(t, ServerConfig{MaxOutbound: 8 << 20, Handler: &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
		served.Add(1)
		answer(c, id, m)
	}}})
	p, nc := connected(t, url)
	const requests, size = 2000, 100_000
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range uint32(requests) {
			p.Raw(p.Seal(i, request(size)))
		}
	})
	before := int32(-1)
	for n := served.Load(); n != before; n = served.Load() { // until nothing moves
		before = n
		time.Sleep(100 * time.Millisecond)
	}
	if before >= requests {
		t.Errorf("all of %d requests were handled, though no answer was read", before)
	}
	nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	for i := range uint32(requests) {
		var r ua.ReadResponse
		if id := p.Expect(&r); id != i || sizeOf(&r) != size {
			t.Fatalf("answer %d: id %d, %d bytes", i, id, sizeOf(&r))
		}
	}
	sending.Wait()
}

// waiting is a handler that wants to wait for each request until it is told.
type waiting struct {
	echo
	refused, served atomic.Int32
	let             chan struct{}
}

func (w *waiting) ServeMessage(c *ServerConn, at time.Time, id uint32, body []byte) bool {
	if !c.MayWait() && len(body) > 100 {
		w.refused.Add(1)
		return false
	}
	if len(body) > 100 {
		<-w.let
		w.served.Add(1)
	}
	return w.echo.ServeMessage(c, at, id, body)
}

// TestLoopWaits has requests that must wait: they do so without holding up the loop, and the requests
// of their connection that came with them are handled behind them.
func TestLoopWaits(t *testing.T) {
	withLoops(t)
	h := &waiting{let: make(chan struct{})}
	url := onLoopback(t, ServerConfig{Handler: h})
	slow := &ua.ReadRequest{MaxAge: 5, NodesToRead: make([]ua.ReadValueID, 20)}
	var peers []*linktest.Peer
	for range 8 { // some of them on each loop
		p, _ := connected(t, url)
		p.Raw(append(append(p.Seal(1, request(10)), p.Seal(2, slow)...), p.Seal(3, request(20))...))
		peers = append(peers, p)
	}
	stop := reader(t, url)
	time.Sleep(50 * time.Millisecond)
	stop()
	if n := h.served.Load(); n != 0 {
		t.Errorf("%d did not wait", n)
	}
	close(h.let)
	for _, p := range peers {
		for i, size := range []int{10, 5, 20} {
			var r ua.ReadResponse
			if id := p.Expect(&r); int(id) != i+1 || sizeOf(&r) != size {
				t.Errorf("answer %d: id %d, %d bytes", i+1, id, sizeOf(&r))
			}
		}
		p.Send(4, request(30))
		if id := p.Expect(new(ua.ReadResponse)); id != 4 {
			t.Errorf("afterwards: answer to %d", id)
		}
	}
	if n := h.refused.Load(); n != 8 {
		t.Errorf("asked %d times", n)
	}
}

// TestLoopGateTaken has strangers wait for their turn with a private key, while those who are connected
// are served.
func TestLoopGateTaken(t *testing.T) {
	withLoops(t)
	s, c := ServerConfig{Gate: NewGate(1)}, ClientConfig{}
	secured(t, "Basic256Sha256", ua.MessageSecurityModeSignAndEncrypt, &s, &c)
	url := onLoopback(t, s)
	stop := reader(t, url)
	free := make(chan struct{})
	taken := make(chan struct{})
	go s.Gate.Do(false, func() { close(taken); <-free })
	<-taken
	var dialled sync.WaitGroup
	for range 6 {
		dialled.Go(func() {
			conn, err := Dial(t.Context(), url, &c)
			if err != nil {
				t.Error(err)
				return
			}
			read(t, conn, 50)
			conn.Close(t.Context())
		})
	}
	time.Sleep(100 * time.Millisecond)
	close(free)
	dialled.Wait()
	stop()
}

// TestLoopGoroutines finds that idle connections have no goroutine, and that all is given back.
func TestLoopGoroutines(t *testing.T) {
	withLoops(t)
	base := runtime.NumGoroutine()
	t.Run("serving", func(t *testing.T) {
		url := onLoopback(t, ServerConfig{})
		loops := runtime.NumGoroutine()
		var conns []net.Conn
		for range 100 {
			_, nc := connected(t, url)
			conns = append(conns, nc)
		}
		// The tests' own listener has one for each.
		if n := runtime.NumGoroutine() - loops; n > 110 {
			t.Errorf("%d goroutines for 100 connections", n)
		}
		for _, nc := range conns {
			nc.Close()
		}
	})
	waitGoroutines(t, base)
}

// TestLoopEndsInAnyState closes connections from both sides at random moments.
func TestLoopEndsInAnyState(t *testing.T) {
	withLoops(t)
	var live sync.Map
	url := onLoopback(t, ServerConfig{HandshakeTimeout: 300 * time.Millisecond, Handler: &echo{
		serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
			if m.MaxAge == 5000 {
				live.Store(c, true)
			}
			answer(c, id, m)
		},
		closed: func(c *ServerConn, _ error) { live.Delete(c) },
	}})
	stop := reader(t, url)
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			nc, err := net.Dial("tcp", url[len("opc.tcp://"):])
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			hello := uacp.Limits{}.Hello(url)
			b := hello.Append(nil)
			switch i % 6 {
			case 0: // silence
			case 1:
				nc.Write(b[:i%len(b)])
			case 2:
				nc.Write(b)
			case 3:
				nc.(*net.TCPConn).SetLinger(0)
				nc.Write(b)
			default:
				p := linktest.NewPeer(t, nc)
				p.Connect(url, uacp.Limits{}, unsecured, time.Hour)
				for n := range uint32(i) {
					p.Send(n, request(5000))
				}
				if i%2 == 0 {
					nc.(*net.TCPConn).SetLinger(0)
				}
			}
			time.Sleep(time.Duration(i) * time.Millisecond)
		})
	}
	for range 20 {
		live.Range(func(c, _ any) bool {
			if time.Now().UnixNano()%3 == 0 {
				c.(*ServerConn).Cut()
			}
			return false
		})
		time.Sleep(3 * time.Millisecond)
	}
	all.Wait()
	stop()
}
