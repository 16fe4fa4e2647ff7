package uaserver

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/linktest"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uabin"
)

// V21 and V16 of the port scanners: peers that say nothing, little or nonsense do not keep clients out.
func TestIdleConnections(t *testing.T) {
	s, space, url := listen(t, func(c *Config) { c.Limits.MaxChannels = 50 })
	addr := strings.TrimPrefix(url, "opc.tcp://")
	before := connect(t, url)
	hello := uacp.Limits{}.Hello(url)
	half := hello.Append(nil)
	var conns []net.Conn
	for i := range 500 {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		_, _ = c.Write([][]byte{nil, {'H'}, half[:len(half)/2]}[i%3])
	}
	start := time.Now()
	w := connect(t, url)
	if _, err := w.read(space.id(1)); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a client waited %v", took)
	}
	if _, err := before.read(space.id(1)); err != nil {
		t.Errorf("the client that was there first: %v", err)
	}
	s.mu.Lock()
	n := len(s.peers)
	s.mu.Unlock()
	if n > 50 {
		t.Errorf("%d connections, the limit is 50", n)
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

// With every place taken by somebody who is logged in, a newcomer is told so.
func TestTooManyConnections(t *testing.T) {
	_, space, url := listen(t, func(c *Config) { c.Limits.MaxChannels = 2 })
	a, b := connect(t, url), connect(t, url)
	_, err := dial(t, url, nil)
	wantStatus(t, "third", err, ua.BadTcpNotEnoughResources)
	for _, w := range []*wire{a, b} {
		if _, err := w.read(space.id(1)); err != nil {
			t.Error(err)
		}
	}
}

// Hostile clients get an ERR, a fault or a closed socket, and the others do not notice.
func TestHostileClients(t *testing.T) {
	s, space, url := listen(t, func(c *Config) {
		c.Identity, c.VerifyClient, c.AllowAnonymous = testIdentity(t), AcceptAnyClient, true
		c.Users = map[string]string{"ada": "secret"}
		c.Limits.MaxMessageSize = 1 << 20
	})
	addr := strings.TrimPrefix(url, "opc.tcp://")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	undisturbed(t, func() []time.Duration { return measureHostile(t, space, url, addr) })
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
	if got := s.Stats(); got.LoginsRejected < 5 {
		t.Errorf("%+v", got)
	}
}

func measureHostile(t *testing.T, space *testSpace, url, addr string) []time.Duration {
	return measure(t, url, space.id(1), 2, func() {
		for range 5 {
			w, err := dial(t, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantStatus(t, "wrong password", w.logIn(t, "ada", "wrong"), ua.BadUserAccessDenied)
		}
		// A message larger than allowed: before login and after.
		for _, trusted := range []bool{false, true} {
			w, err := dial(t, url, &tcp.ClientConfig{})
			if err != nil {
				t.Fatal(err)
			}
			if trusted {
				if err := w.logIn(t, "", ""); err != nil {
					t.Fatal(err)
				}
			}
			q := ua.WriteRequest{NodesToWrite: []ua.WriteValue{{NodeID: space.id(1), AttributeID: 13,
				Value: ua.DataValue{Value: ua.ByteString(make([]byte, 2<<20))}}}}
			q.RequestHeader.AuthenticationToken = w.token
			if err := w.call(&q, &ua.WriteResponse{}); err == nil {
				t.Error("a request larger than allowed was answered")
			}
		}
		for i, end := 0, time.Now().Add(500*time.Millisecond); i < 200 || time.Now().Before(end); i++ {
			c, err := net.DialTimeout("tcp", addr, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			junk := make([]byte, 1+rand.IntN(300))
			for j := range junk {
				junk[j] = byte(rand.Uint32())
			}
			switch i % 4 {
			case 0:
				junk = []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			case 1:
				junk = append([]byte("HELF\xff\xff\xff\x7f"), junk...)
			case 2:
				junk = append([]byte("MSGF"), junk...)
			}
			_, _ = c.Write(junk)
			if i%10 == 0 {
				_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
				_, _ = io.Copy(io.Discard, c)
			}
			_ = c.Close()
			time.Sleep(time.Millisecond)
		}
	})
}

// A client that there is no place for hears why even if it has sent something already, which a plain
// close would answer with a reset.
func TestRefusedConnectionHearsWhy(t *testing.T) {
	_, _, url := listen(t, func(c *Config) { c.Limits.MaxChannels = 1 })
	connect(t, url)
	hello := uacp.Limits{}.Hello(url)
	for range 30 {
		nc, err := net.Dial("tcp", strings.TrimPrefix(url, "opc.tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		p := linktest.NewPeer(t, nc)
		p.Raw(hello.Append(nil))
		p.ExpectError(ua.BadTcpNotEnoughResources)
		_ = nc.Close()
	}
}

// openFlood makes an OpenSecureChannel chunk whose RSA blocks all open, and whose signature is wrong.
func openFlood(t *testing.T, blocks int) []byte {
	policy, _ := secpol.ByName("Basic256Sha256")
	leaf := testIdentity(t).Chain[0]
	thumbprint := secpol.Thumbprint(leaf)
	pub, err := secpol.LeafPublicKey(leaf)
	if err != nil {
		t.Fatal(err)
	}
	chunk := make([]byte, uacp.HeaderSize+4)
	chunk = uabin.AppendString(chunk, policy.URI)
	chunk = uabin.AppendBytes(chunk, clientIdentity(t).Chain[0])
	chunk = uabin.AppendBytes(chunk, thumbprint[:])
	chunk, err = policy.AsymEncrypt(pub, chunk, bytes.Repeat([]byte{1}, blocks*policy.AsymPlainBlockSize(pub)))
	if err != nil {
		t.Fatal(err)
	}
	uacp.PutHeader(chunk, uacp.TypeOpen, uacp.Final, len(chunk))
	return chunk
}

// A flood of OpenSecureChannel, each of which costs the server work with its private key, does not slow
// down the reads of others.
func TestOpenFloodDelaysNobody(t *testing.T) {
	_, space, url := listen(t, func(c *Config) {
		c.Identity, c.VerifyClient, c.AllowAnonymous = testIdentity(t), AcceptAnyClient, true
	})
	hello := uacp.Limits{}.Hello(url)
	opening := append(hello.Append(nil), openFlood(t, 8)...)
	undisturbed(t, func() []time.Duration {
		return measure(t, url, space.id(1), 1, func() {
			end := time.Now().Add(time.Second)
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					for time.Now().Before(end) {
						nc, err := net.Dial("tcp", strings.TrimPrefix(url, "opc.tcp://"))
						if err != nil {
							t.Error(err)
							return
						}
						_, _ = nc.Write(opening)
						_ = nc.SetReadDeadline(end.Add(10 * time.Second))
						_, _ = io.Copy(io.Discard, nc)
						_ = nc.Close()
					}
				})
			}
			wg.Wait()
		})
	})
}

// Clients that try passwords as fast as they can, each with RSA work, do not slow down the others either.
func TestPasswordStormDelaysNobody(t *testing.T) {
	_, space, url := listen(t, func(c *Config) {
		c.Identity, c.VerifyClient, c.AllowAnonymous = testIdentity(t), AcceptAnyClient, true
		c.Users = map[string]string{"ada": "secret"}
		c.Limits.MaxLoginFailures = -1
	})
	undisturbed(t, func() []time.Duration {
		return measure(t, url, space.id(1), 1, func() {
			end := time.Now().Add(time.Second)
			var wg sync.WaitGroup
			for range 20 {
				w, err := dial(t, url, nil)
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					for time.Now().Before(end) {
						if err := w.logIn(t, "ada", "wrong"); err == nil {
							t.Error("logged in with a wrong password")
						}
					}
				})
			}
			wg.Wait()
		})
	})
}

// What the Acknowledge says about chunks is what holds, and by default there is a bound.
func TestChunkCountIsEnforced(t *testing.T) {
	s, _, _ := newTestServer(t, nil)
	if n := s.Limits().MaxChunkCount; n < 16<<20/8192 || n > 16<<20/8000+1 {
		t.Errorf("by default %d chunks", n)
	}
	_, _, url := listen(t, func(c *Config) { c.Limits.MaxChunkCount = 5 })
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "opc.tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p := linktest.NewPeer(t, nc)
	p.Connect(url, uacp.Limits{}, uasc.Config{Policy: secpol.None, Mode: ua.MessageSecurityModeNone}, time.Hour)
	chunk := p.Seal(7, &ua.ReadRequest{})
	chunk[3] = uacp.Intermediate
	for i := range byte(6) {
		chunk[16] = 2 + i // sequence number
		p.Raw(chunk)
	}
	p.ExpectError(ua.BadTcpMessageTooLarge)
}

// Close in the middle of reads, calls that wait, logins, half a Hello and silence: it returns soon, every
// client hears of it, and nothing is left.
func TestCloseAmidEverything(t *testing.T) {
	s, space, url := listen(t, nil)
	base := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range 12 {
		w := connect(t, url)
		wg.Go(func() {
			for {
				var err error
				switch i % 3 {
				case 0:
					_, err = w.read(space.id(1))
				case 1:
					err = w.logIn(t, "", "")
				default:
					q := ua.CallRequest{MethodsToCall: []ua.CallMethodRequest{{ObjectID: space.id(1), MethodID: space.id(2000)}}}
					q.RequestHeader.AuthenticationToken = w.token
					err = w.call(&q, &ua.CallResponse{})
				}
				if err == nil {
					continue
				}
				<-w.Done()
				wantStatus(t, "client", w.Err(), ua.BadShutdown)
				return
			}
		})
	}
	for i := range 20 {
		nc, err := net.Dial("tcp", strings.TrimPrefix(url, "opc.tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		_, _ = nc.Write([]byte("HELF")[:i%5])
	}
	for s.Stats().Channels < 32 {
		time.Sleep(time.Millisecond)
	}
	start := time.Now()
	if err := s.Close(); err != nil || time.Since(start) > 3*time.Second {
		t.Errorf("Close: %v after %v", err, time.Since(start))
	}
	wg.Wait()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > base+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d at the start", runtime.NumGoroutine(), base)
		}
	}
	if st := s.Stats(); st.Sessions != 0 || st.Channels != 0 {
		t.Errorf("%+v", st)
	}
}
