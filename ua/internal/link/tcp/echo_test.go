package tcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// The tests speak with Read requests whose MaxAge says how many bytes the answer has.
func request(size int) *ua.ReadRequest { return &ua.ReadRequest{MaxAge: float64(size)} }

func response(size int) *ua.ReadResponse {
	var r ua.ReadResponse
	r.Results = []ua.DataValue{{Value: ua.ByteString(make([]byte, size))}}
	return &r
}

// sizeOf is the number of bytes in an answer.
func sizeOf(r *ua.ReadResponse) int {
	if len(r.Results) != 1 {
		return -1
	}
	b := r.Results[0].Value.Bytes()
	return len(b)
}

// echo answers requests, and a fault when the answer is too large.
type echo struct {
	serve  func(c *ServerConn, requestID uint32, r *ua.ReadRequest) // nil: answer at once
	closed func(c *ServerConn, err error)
}

func (e *echo) ServeMessage(c *ServerConn, _ time.Time, requestID uint32, body []byte) bool {
	r := uabin.NewReader(body)
	var id ua.NodeID
	id.DecodeBinary(r)
	var m ua.ReadRequest
	m.DecodeBinary(r)
	if !r.OK() || id != m.BinaryID().NodeID {
		c.Close(ua.BadDecodingError, "not a Read")
		return true
	}
	if e.serve != nil {
		e.serve(c, requestID, &m)
		return true
	}
	answer(c, requestID, &m)
	return true
}

func answer(c *ServerConn, requestID uint32, m *ua.ReadRequest) {
	err := c.Send(requestID, response(int(m.MaxAge)))
	if errors.Is(err, ua.BadResponseTooLarge) {
		c.Send(requestID, &ua.ServiceFault{ResponseHeader: ua.ResponseHeader{ServiceResult: ua.BadResponseTooLarge}})
	}
}

func (e *echo) Closed(c *ServerConn, err error) {
	if e.closed != nil {
		e.closed(c, err)
	}
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// serve serves a listener until the test ends, and then waits for all connections to end.
func serve(t testing.TB, l net.Listener, cfg ServerConfig) {
	t.Helper()
	if cfg.Handler == nil {
		cfg.Handler = &echo{}
	}
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	if overLoops {
		loops, err := NewLoops(2)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Loops = loops
		t.Cleanup(loops.Close)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[*ServerConn]bool{}
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			c := NewServerConn(nc, &cfg)
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				c.Serve()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for c := range open {
			c.Cut()
		}
		mu.Unlock()
		all.Wait()
	})
}

// overLoops has all connections served by event loops, which need sockets.
var overLoops bool

func listen(t testing.TB) *linktest.Listener {
	t.Helper()
	if !overLoops {
		return linktest.Listen()
	}
	l, err := linktest.ListenSocket()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// inMemory serves a listener in memory.
func inMemory(t testing.TB, cfg ServerConfig) *linktest.Listener {
	l := listen(t)
	serve(t, l, cfg)
	return l
}

// onLoopback serves a socket and returns its URL.
func onLoopback(t testing.TB, cfg ServerConfig) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, cfg)
	return "opc.tcp://" + l.Addr().String()
}

func dial(t testing.TB, url string, cfg ClientConfig) *ClientConn {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	c, err := Dial(t.Context(), url, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// on is the configuration of a client of a listener in memory.
func on(l *linktest.Listener) ClientConfig { return ClientConfig{Dialer: l.Dial, Log: quiet} }

const anyURL = "opc.tcp://test:1/path"

// secured sets up both sides for a policy and a mode.
func secured(t testing.TB, policy string, mode ua.MessageSecurityMode, s *ServerConfig, c *ClientConfig) {
	t.Helper()
	server := linktest.Identity(t, "rsa2048b")
	s.Identity = func() *uasc.Identity { return server }
	var err error
	if c.Policy, err = secpol.ByName(policy); err != nil {
		t.Fatal(err)
	}
	c.Mode, c.ServerChain, c.Identity = mode, server.Chain, linktest.Identity(t, "rsa2048")
}

// read calls and checks the answer.
func read(t testing.TB, c *ClientConn, size int) {
	t.Helper()
	var r ua.ReadResponse
	if err := c.Call(t.Context(), request(size), &r); err != nil {
		t.Fatal(err)
	}
	if n := sizeOf(&r); n != size {
		t.Fatalf("%d bytes, want %d", n, size)
	}
}

// within fails the test when f takes longer.
func within(t testing.TB, d time.Duration, f func()) {
	t.Helper()
	started := time.Now()
	f()
	if took := time.Since(started); took > d {
		t.Errorf("it took %v, more than %v", took, d)
	}
}
