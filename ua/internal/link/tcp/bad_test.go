package tcp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// reader reads in a loop until stopped, and fails the test when it notices anything.
func reader(t *testing.T, url string) (stop func()) {
	c := dial(t, url, ClientConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			var r ua.ReadResponse
			if err := c.Call(t.Context(), request(100), &r); err != nil || sizeOf(&r) != 100 {
				t.Errorf("read %d of another client: %v", n, err)
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// TestOtherProtocols has whatever a port scanner says (report C16): an ERR and the end within a second,
// and a client that reads meanwhile notices nothing.
func TestOtherProtocols(t *testing.T) {
	url := onLoopback(t, ServerConfig{})
	defer reader(t, url)()
	random := make([]byte, 1<<20)
	rand.Read(random)
	for name, b := range map[string][]byte{
		"HTTP":   []byte("GET / HTTP/1.1\r\nHost: plc\r\n\r\n"),
		"TLS":    append([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), make([]byte, 500)...),
		"SSH":    []byte("SSH-2.0-OpenSSH_9.6\r\n"),
		"random": random,
		"zeros":  make([]byte, 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			nc, err := net.Dial("tcp", url[len("opc.tcp://"):])
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			within(t, 2*time.Second, func() {
				nc.SetDeadline(time.Now().Add(linktest.Patience))
				go nc.Write(b)
				linktest.NewPeer(t, nc).ExpectError(ua.BadTcpMessageTypeInvalid)
			})
		})
	}
}

// TestSizesThatLie has headers of all kinds with sizes that cannot be (report C15), as first message, in
// place of OpenSecureChannel, and on an open channel.
func TestSizesThatLie(t *testing.T) {
	l := inMemory(t, ServerConfig{})
	for _, kind := range []string{"HELF", "OPNF", "MSGF", "CLOF"} {
		for _, size := range []uint32{0, 4, 7, 8, 0x7FFFFFFF, 0xFFFFFFFF} {
			for state := range 3 {
				nc, _ := l.Dial(t.Context(), "", "")
				p := linktest.NewPeer(t, nc)
				switch state {
				case 1:
					p.Hello(uacp.Limits{}.Hello(anyURL))
				case 2:
					p.Connect(anyURL, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
				}
				p.Raw(binary.LittleEndian.AppendUint32([]byte(kind), size))
				within(t, time.Second, func() {
					e := p.ExpectError(0)
					if e.Status != ua.BadTcpMessageTypeInvalid && e.Status != ua.BadTcpMessageTooLarge {
						t.Errorf("%s of %d in state %d: %v", kind, size, state, e)
					}
				})
				nc.Close()
			}
		}
	}
}

// TestWrongOrder has sound messages at the wrong time, and ones with wrong contents.
func TestWrongOrder(t *testing.T) {
	l := inMemory(t, ServerConfig{
		CheckURL: func(url string) error {
			if url == anyURL {
				return nil
			}
			return errors.New("no such path")
		},
		Open: func(o *OpenRequest) error {
			if o.EndpointURL != anyURL {
				return errors.New("not reached")
			}
			return nil
		},
	})
	none := uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}
	hello := uacp.Limits{}.Hello(anyURL)
	for name, c := range map[string]struct {
		do   func(p *linktest.Peer)
		want ua.StatusCode
	}{
		"no Hello":      {func(p *linktest.Peer) { p.Raw(append([]byte("OPNF\x28\x00\x00\x00"), make([]byte, 32)...)) }, ua.BadTcpMessageTypeInvalid},
		"Acknowledge":   {func(p *linktest.Peer) { p.Raw((&uacp.Acknowledge{}).Append(nil)) }, ua.BadTcpMessageTypeInvalid},
		"wrong path":    {func(p *linktest.Peer) { h := uacp.Limits{}.Hello("opc.tcp://test/x"); p.Raw(h.Append(nil)) }, ua.BadTcpEndpointUrlInvalid},
		"URL cut short": {func(p *linktest.Peer) { b := hello.Append(nil); b[28] = 200; p.Raw(b) }, ua.BadDecodingError},
		"second Hello":  {func(p *linktest.Peer) { p.Hello(hello); p.Raw(hello.Append(nil)) }, ua.BadTcpMessageTypeInvalid},
		"no channel": {func(p *linktest.Peer) {
			p.Hello(hello)
			p.Raw(append([]byte("MSGF\x18\x00\x00\x00"), make([]byte, 16)...))
		}, ua.BadTcpMessageTypeInvalid},
		"Hello too late": {func(p *linktest.Peer) { p.Connect(anyURL, uacp.Limits{}, none, 0); p.Raw(hello.Append(nil)) }, ua.BadTcpMessageTypeInvalid},
		"other channel": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			b := p.Seal(1, request(1))
			b[8]++
			p.Raw(b)
		}, ua.BadTcpSecureChannelUnknown},
		"other token": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			b := p.Seal(1, request(1))
			b[12]++
			p.Raw(b)
		}, ua.BadSecureChannelTokenUnknown},
		"replayed": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			b := p.Seal(1, request(1))
			p.Raw(b)
			p.Receive()
			p.Raw(b)
		}, ua.BadSequenceNumberInvalid},
		"skipped": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			p.Seal(1, request(1))
			p.Send(2, request(1))
		}, ua.BadSequenceNumberInvalid},
		"no Read": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			p.Send(1, &ua.BrowseRequest{})
		}, ua.BadDecodingError},
		"too large": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			p.Raw(p.Seal(1, &ua.WriteRequest{NodesToWrite: []ua.WriteValue{{Value: ua.DataValue{Value: ua.ByteString(make([]byte, 300<<10))}}}}))
		}, ua.BadTcpMessageTooLarge},
		"two requests mixed": {func(p *linktest.Peer) {
			p.Connect(anyURL, uacp.Limits{}, none, 0)
			b := p.Seal(1, request(1))
			b[3] = uacp.Intermediate
			p.Raw(b)
			p.Send(2, request(1))
		}, ua.BadTcpMessageTypeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			nc, _ := l.Dial(t.Context(), "", "")
			defer nc.Close()
			p := linktest.NewPeer(t, nc)
			c.do(p)
			p.ExpectError(c.want)
		})
	}
}

// TestLimitsOfStrangers raises the largest message once the connection is trusted.
func TestLimitsOfStrangers(t *testing.T) {
	l := inMemory(t, ServerConfig{Handler: handlerFunc(func(c *ServerConn, id uint32, body []byte) {
		c.SetTrusted(true)
		c.Send(id, response(len(body)))
	})})
	c := dial(t, anyURL, on(l))
	var r ua.ReadResponse
	large := &ua.WriteRequest{NodesToWrite: []ua.WriteValue{{Value: ua.DataValue{Value: ua.ByteString(make([]byte, 300<<10))}}}}
	read2 := func(req ua.Structure) error { return c.Call(t.Context(), req, &r) }
	if err := read2(request(0)); err != nil {
		t.Fatal(err)
	}
	if err := read2(large); err != nil || sizeOf(&r) < 300<<10 {
		t.Error(err)
	}
	if err := read2(&ua.WriteRequest{NodesToWrite: []ua.WriteValue{{Value: ua.DataValue{Value: ua.ByteString(make([]byte, 17<<20))}}}}); !errors.Is(err, ua.BadRequestTooLarge) {
		t.Error(err)
	}
	if err := read2(request(0)); err != nil {
		t.Error(err)
	}
}

// heap is the memory in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestIdleConnections has a thousand peers that say nothing, one byte, or half a Hello (report V21):
// they cost little, are gone after the handshake timeout, and a real client is served meanwhile.
func TestIdleConnections(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	l := listen(t)
	before := heap()
	t.Run("peers", func(t *testing.T) {
		serve(t, l, ServerConfig{HandshakeTimeout: 2 * time.Second})
		hello := uacp.Limits{}.Hello(anyURL)
		half := hello.Append(nil)
		var peers []net.Conn
		for i := range 1000 {
			nc, _ := l.Dial(t.Context(), "", "")
			nc.Write(half[:[]int{0, 1, len(half) / 2}[i%3]])
			peers = append(peers, nc)
		}
		within(t, time.Second, func() { read(t, dial(t, anyURL, on(l)), 100) })
		if used := heap() - before; used > 32<<20 {
			t.Errorf("%d bytes used", used)
		}
		for _, nc := range peers {
			linktest.NewPeer(t, nc).ExpectError(ua.BadTimeout)
		}
	})
	waitGoroutines(t, goroutines)
}

// waitGoroutines waits until all goroutines of a test have ended.
func waitGoroutines(t *testing.T, base int) {
	t.Helper()
	end := time.Now().Add(linktest.Patience)
	for runtime.NumGoroutine() > base+2 {
		if time.Now().After(end) {
			b := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d at first\n%s", runtime.NumGoroutine(), base, b[:runtime.Stack(b, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestFloodOfUnfinishedMessages has 50 strangers that send chunks without end, and one with a thousand
// request ids (report V22): the budget bounds what they cost, each is told or timed out, a trusted
// client still sends messages of many chunks, and all of the budget comes back.
func TestFloodOfUnfinishedMessages(t *testing.T) {
	budget := uasc.NewBudget(4 << 20)
	l := listen(t)
	t.Run("peers", func(t *testing.T) {
		serve(t, l, ServerConfig{Budget: budget, HandshakeTimeout: 2 * time.Second, Handler: handlerFunc(func(c *ServerConn, id uint32, body []byte) {
			c.SetTrusted(true)
			c.Send(id, response(len(body)))
		})})
		good := dial(t, anyURL, on(l))
		if err := good.Call(t.Context(), request(1), new(ua.ReadResponse)); err != nil {
			t.Fatal(err)
		}
		before := heap()
		var most int64
		var floods sync.WaitGroup
		got := make(chan ua.StatusCode, 100)
		none := uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}
		for i := range 51 {
			floods.Go(func() {
				nc, _ := l.Dial(t.Context(), "", "")
				defer nc.Close()
				p := linktest.NewPeer(t, nc)
				p.Connect(anyURL, uacp.Limits{}, none, time.Hour)
				for n := range 1600 {
					id := uint32(1)
					if i == 50 {
						id = uint32(n)
					}
					b, at := p.Conv.Begin(nil)
					b, _ = p.Conv.Seal(append(b, make([]byte, 65535-uasc.Room)...), at, uacp.TypeMessage, id, time.Now())
					b[3] = uacp.Intermediate
					nc.SetWriteDeadline(time.Now().Add(linktest.Patience))
					if i < 25 && n == 2 {
						break // and hold
					}
					if _, err := nc.Write(b); err != nil {
						break
					}
				}
				_, chunk, err := p.TryChunk()
				if err != nil {
					got <- 0 // closed, the ERR lost among what was not read
					return
				}
				e, err := uacp.DecodeError(chunk[uacp.HeaderSize:])
				if err != nil {
					t.Error(err)
					return
				}
				got <- e.Status
			})
		}
		stop := make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
					most = max(most, budget.Used())
				}
			}
		})
		var r ua.ReadResponse
		large := &ua.WriteRequest{NodesToWrite: []ua.WriteValue{{Value: ua.DataValue{Value: ua.ByteString(make([]byte, 900<<10))}}}}
		for range 20 {
			if err := good.Call(t.Context(), large, &r); err != nil {
				t.Fatal(err)
			}
		}
		floods.Wait()
		close(stop)
		watch.Wait()
		close(got)
		seen := map[string]int{}
		for s := range got {
			seen[s.String()]++
			switch s {
			case 0, ua.BadTcpMessageTooLarge, ua.BadTcpNotEnoughResources, ua.BadTimeout, ua.BadTcpMessageTypeInvalid:
			default:
				t.Errorf("a flood ends with %v", s)
			}
		}
		if most > 4<<20 {
			t.Errorf("%d bytes of the budget used", most)
		}
		if used := heap() - before; used > 64<<20 {
			t.Errorf("%d bytes still used", used)
		}
		t.Log(seen, "budget used", most)
	})
	if n := budget.Used(); n != 0 {
		t.Errorf("%d bytes of the budget are lost", n)
	}
}

// TestHalfAChunk is a trusted peer, and one that is not, that stop in the middle of a chunk.
func TestHalfAChunk(t *testing.T) {
	l := inMemory(t, ServerConfig{HandshakeTimeout: 100 * time.Millisecond})
	nc, _ := l.Dial(t.Context(), "", "")
	defer nc.Close()
	p := linktest.NewPeer(t, nc)
	p.Connect(anyURL, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
	time.Sleep(150 * time.Millisecond) // an open channel may be idle for longer than that
	p.Send(1, request(10))
	p.Receive()
	p.Raw(p.Seal(2, request(10))[:20])
	within(t, 2*time.Second, func() { p.ExpectError(ua.BadTimeout) })
}

func TestTimeouts(t *testing.T) {
	none := uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}
	t.Run("idle", func(t *testing.T) {
		l := inMemory(t, ServerConfig{IdleTimeout: 100 * time.Millisecond})
		nc, _ := l.Dial(t.Context(), "", "")
		p := linktest.NewPeer(t, nc)
		p.Connect(anyURL, uacp.Limits{}, none, time.Hour)
		for range 4 {
			time.Sleep(50 * time.Millisecond)
			p.Send(1, request(10))
			p.Receive()
		}
		within(t, time.Second, func() { p.ExpectError(ua.BadTimeout) })
	})
	t.Run("token", func(t *testing.T) {
		ended := make(chan error, 1)
		l := inMemory(t, ServerConfig{MinLifetime: time.Millisecond, Handler: &echo{closed: func(_ *ServerConn, err error) { ended <- err }}})
		nc, _ := l.Dial(t.Context(), "", "")
		p := linktest.NewPeer(t, nc)
		p.Connect(anyURL, uacp.Limits{}, none, 200*time.Millisecond)
		started := time.Now()
		time.Sleep(150 * time.Millisecond)
		p.Renew(200 * time.Millisecond)
		p.ExpectError(ua.BadSecureChannelClosed)
		if d := time.Since(started); d < 390*time.Millisecond || d > 2*time.Second {
			t.Errorf("ended after %v", d)
		}
		if err := <-ended; !errors.Is(err, ua.BadSecureChannelClosed) {
			t.Error(err)
		}
	})
	t.Run("Hello byte by byte", func(t *testing.T) {
		l := inMemory(t, ServerConfig{HandshakeTimeout: 100 * time.Millisecond})
		nc, _ := l.Dial(t.Context(), "", "")
		hello := uacp.Limits{}.Hello(anyURL)
		go func() {
			for _, b := range hello.Append(nil) {
				time.Sleep(10 * time.Millisecond)
				nc.Write([]byte{b})
			}
		}()
		within(t, time.Second, func() { linktest.NewPeer(t, nc).ExpectError(ua.BadTimeout) })
	})
}
