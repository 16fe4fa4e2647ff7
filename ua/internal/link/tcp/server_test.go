package tcp

import (
	"context"
	"errors"
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

// TestOneWrite finds that the answers to requests that arrive together leave together.
func TestOneWrite(t *testing.T) {
	a, b := linktest.Pipe(linktest.Faults{})
	go Serve(b, &ServerConfig{Handler: &echo{}, Log: quiet})
	p := linktest.NewPeer(t, a)
	p.Connect(anyURL, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
	before := b.Writes()
	var all []byte
	for i := range uint32(20) {
		all = append(all, p.Seal(i, request(10))...)
	}
	p.Raw(all)
	for i := range uint32(20) {
		if id := p.Expect(new(ua.ReadResponse)); id != i {
			t.Errorf("answer to %d, want %d", id, i)
		}
	}
	if n := b.Writes() - before; n != 1 {
		t.Errorf("%d writes", n)
	}
	a.Close()
}

// TestPeerThatDoesNotRead ends the connection, at the bound of what may wait or at the write timeout,
// and blocks no sender longer than that.
func TestPeerThatDoesNotRead(t *testing.T) {
	for name, c := range map[string]ServerConfig{
		"bound":   {MaxOutbound: 1 << 20, WriteTimeout: time.Minute},
		"timeout": {WriteTimeout: 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan error, 1)
			conns := make(chan *ServerConn, 1)
			c.Handler = &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) { conns <- c }, closed: func(_ *ServerConn, err error) { ended <- err }}
			l := inMemory(t, c)
			nc, _ := l.Dial(t.Context(), "", "")
			p := linktest.NewPeer(t, nc)
			p.Connect(anyURL, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
			p.Send(1, request(1))
			conn := <-conns
			within(t, 3*time.Second, func() {
				var senders sync.WaitGroup
				for range map[string]int{"bound": 4, "timeout": 1}[name] {
					senders.Go(func() {
						for conn.Send(1, response(50000)) == nil {
						}
					})
				}
				err := <-ended
				senders.Wait()
				if name == "bound" && !errors.Is(err, ua.BadTcpNotEnoughResources) || name == "timeout" && !errors.Is(err, ua.BadConnectionClosed) {
					t.Error(err)
				}
			})
			nc.Close()
		})
	}
}

// TestServerCloses sends the status and the reason.
func TestServerCloses(t *testing.T) {
	l := inMemory(t, ServerConfig{Handler: &echo{serve: func(c *ServerConn, id uint32, m *ua.ReadRequest) {
		switch m.MaxAge {
		case 1:
			c.Close(ua.BadShutdown, "the server stops")
		case 2:
			go c.Close(ua.BadShutdown, "the server stops")
		case 3:
			c.Abort(id, ua.BadResponseTooLarge, "many nodes")
		}
	}}})
	for i := range 2 {
		c := dial(t, anyURL, on(l))
		err := c.Call(t.Context(), request(3), new(ua.ReadResponse))
		if !errors.Is(err, ua.BadResponseTooLarge) {
			t.Error(err)
		}
		err = c.Call(t.Context(), request(1+i), new(ua.ReadResponse))
		var e *uacp.Error
		if !errors.As(err, &e) || e.Status != ua.BadShutdown || e.Reason != "the server stops" || !e.Remote {
			t.Error(err)
		}
	}
}

// TestClosedByClient has Closed called once, without an error for a client that says goodbye.
func TestClosedByClient(t *testing.T) {
	ended := make(chan error, 2)
	l := inMemory(t, ServerConfig{Handler: &echo{closed: func(_ *ServerConn, err error) { ended <- err }}})
	c := dial(t, anyURL, on(l))
	c.Close(context.Background())
	if err := <-ended; err != nil {
		t.Error(err)
	}
	dial(t, anyURL, on(l))
	l.CutAll()
	if err := <-ended; !errors.Is(err, ua.BadConnectionClosed) {
		t.Error(err)
	}
}

// TestCloseBeforeHello ends a connection whose peer has said nothing yet, with the reason.
func TestCloseBeforeHello(t *testing.T) {
	for name, first := range map[string][]byte{"nothing": nil, "half a Hello": []byte("HELF")} {
		t.Run(name, func(t *testing.T) {
			a, b := linktest.Pipe(linktest.Faults{})
			c := NewServerConn(b, &ServerConfig{Handler: &echo{}, Log: quiet})
			done := make(chan struct{})
			go func() { c.Serve(); close(done) }()
			p := linktest.NewPeer(t, a)
			if first != nil {
				p.Raw(first)
			}
			c.Close(ua.BadShutdown, "the server stops")
			if e := p.ExpectError(ua.BadShutdown); e.Reason != "the server stops" {
				t.Error(e)
			}
			<-done
		})
	}
}

// TestGate lets so many operations run at a time, and those who have logged in do not wait behind
// strangers.
func TestGate(t *testing.T) {
	g := NewGate(2)
	var running, most atomic.Int32
	release, started := make(chan struct{}), make(chan struct{}, 10)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			g.Do(false, func() {
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				started <- struct{}{}
				<-release
				running.Add(-1)
			})
		})
	}
	<-started
	<-started
	within(t, time.Second, func() { g.Do(true, func() {}) })
	close(release)
	all.Wait()
	if most.Load() != 2 {
		t.Errorf("%d at a time", most.Load())
	}
	ran := false
	(*Gate)(nil).Do(false, func() { ran = true })
	if !ran {
		t.Error("without a gate nothing runs")
	}
}

// badStructure panics when it is encoded.
type badStructure struct{ ua.PublishResponse }

func (*badStructure) AppendBinary([]byte) []byte { panic("a bug in a structure") }
