package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

// carrierSettings are those of a transport at a free port of 127.0.0.1.
func carrierSettings(change ...func(*Settings)) *Settings {
	s := DefaultSettings()
	s.Hostname, s.Port, s.ConnectionTimeout = "127.0.0.1", 0, 5*time.Second
	for _, f := range change {
		f(&s)
	}
	return &s
}

// listening is a transport that listens, and its address.
func listening(t *testing.T, s *Settings) (transport, actor.Address) {
	t.Helper()
	c, err := newTransport(s)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := c.listen(s, "Net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	return c, addr
}

type accepted struct {
	nc  net.Conn
	err error
}

// accepting takes one connection.
func accepting(c transport) <-chan accepted {
	ch := make(chan accepted, 1)
	go func() {
		nc, err := c.accept()
		ch <- accepted{nc, err}
	}()
	return ch
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func wait[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 s")
		panic("unreachable")
	}
}

// pair is a connection of two transports, the listening one's end second.
func pair(t *testing.T, from, to transport, addr actor.Address) (near, far net.Conn) {
	t.Helper()
	ch := accepting(to)
	near, err := from.dial(soon(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	a := wait(t, ch)
	if a.err != nil {
		t.Fatal(a.err)
	}
	t.Cleanup(func() { a.nc.Close() })
	for _, nc := range []net.Conn{near, a.nc} {
		nc.SetDeadline(time.Now().Add(20 * time.Second))
	}
	return near, a.nc
}

// talk sends one way and then the other.
func talk(t *testing.T, a, b net.Conn) {
	t.Helper()
	for range 2 {
		sent := strings.Repeat("0123456789abcdef", 4096)
		fail := make(chan error, 1)
		go func() {
			_, err := a.Write([]byte(sent))
			fail <- err
		}()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(b, got); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, fail); err != nil {
			t.Fatal(err)
		}
		if string(got) != sent {
			t.Fatal("other bytes arrived than were sent")
		}
		a, b = b, a
	}
}

func TestRow36ListenFails(t *testing.T) {
	_, taken := listening(t, carrierSettings())
	cases := []struct {
		name   string
		change func(*Settings)
		want   string
	}{
		{"port in use", func(s *Settings) { s.Port = taken.Port() }, "address already in use"},
		{"a host that is not ours", func(s *Settings) { s.Hostname = "192.0.2.1" }, "192.0.2.1:0"},
		{"a public host that is none", func(s *Settings) { s.PublicHostname = "a/b" }, "a/b"},
	}
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			s := carrierSettings(x.change)
			c, err := newTransport(s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = c.listen(s, "Net"); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("got %v, want an error with %q", err, x.want)
			}
			if err := c.close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a system name that is none", func(t *testing.T) {
		c, _ := newTransport(carrierSettings())
		if _, err := c.listen(carrierSettings(), "a/b"); err == nil {
			t.Error("it listens")
		}
	})
	t.Run("twice, and after close", func(t *testing.T) {
		s := carrierSettings()
		c, _ := listening(t, s)
		if _, err := c.listen(s, "Net"); err == nil {
			t.Error("it listens twice")
		}
		c.close()
		if _, err := c.listen(s, "Net"); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if _, err := c.accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRow36DialFails(t *testing.T) {
	c, free := listening(t, carrierSettings())
	c.close()
	c, _ = newTransport(carrierSettings())
	address := func(protocol, host string, port int) actor.Address {
		a, err := actor.NewAddress(protocol, "Net", host, port)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	local, _ := actor.LocalAddress("Net")
	for _, x := range []struct {
		name string
		to   actor.Address
		want string
	}{
		{"nobody there", free, "refused"},
		{"no such host", address("akka.tcp", "no-such-host.invalid", 1), "no-such-host.invalid"},
		{"another protocol", address("akka.ssl.tcp", "127.0.0.1", 1), "speaks akka.tcp"},
		{"port 0", address("akka.tcp", "127.0.0.1", 0), "without host and port"},
		{"a local address", local, "without host and port"},
		{"no address", actor.Address{}, "without host and port"},
	} {
		t.Run(x.name, func(t *testing.T) {
			nc, err := c.dial(soon(t), x.to)
			if err == nil {
				nc.Close()
			}
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("got %v, want an error with %q", err, x.want)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := c.dial(ctx, free); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRow36CloseWhileAccepting(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := carrierSettings()
		if secure {
			s = carrierSettings(newAuthority(t).tls)
		}
		c, addr := listening(t, s)
		near, far := pair(t, c, c, addr)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if nc, err := c.accept(); !errors.Is(err, net.ErrClosed) {
					t.Errorf("TLS %v: accept gave %v, %v", secure, nc, err)
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		c.close()
		all.Wait()
		c.close() // again
		if _, err := c.dial(soon(t), addr); !errors.Is(err, net.ErrClosed) {
			t.Errorf("TLS %v: a dial after close gave %v", secure, err)
		}
		talk(t, near, far) // what was handed out lives on
	}
}

// TestRow36HalfOpen has one end say that nothing more comes: the other may still send.
func TestRow36HalfOpen(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := carrierSettings()
		if secure {
			s = carrierSettings(newAuthority(t).tls)
		}
		c, addr := listening(t, s)
		near, far := pair(t, c, c, addr)
		if err := near.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if n, err := far.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("TLS %v: got %d bytes and %v, want the end", secure, n, err)
		}
		far.Write([]byte("more"))
		if got := make([]byte, 4); true {
			if _, err := io.ReadFull(near, got); err != nil || string(got) != "more" {
				t.Errorf("TLS %v: got %q and %v", secure, got, err)
			}
		}
		if secure { // and the socket is at its end too
			raw := far.(secureConn).NetConn()
			if n, err := raw.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("the socket gave %d bytes and %v, want the end", n, err)
			}
		}
	}
}

// TestRow36PeerGone has the other end vanish with a reset.
func TestRow36PeerGone(t *testing.T) {
	c, addr := listening(t, carrierSettings())
	near, far := pair(t, c, c, addr)
	far.(*net.TCPConn).SetLinger(0)
	far.Close()
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v", err)
	}
}

func TestRow37Addresses(t *testing.T) {
	t.Run("host in lower case, port of the kernel", func(t *testing.T) {
		c, addr := listening(t, carrierSettings(func(s *Settings) { s.Hostname = "LocalHost" }))
		if addr.Host() != "localhost" || addr.Port() == 0 || addr.Protocol() != "akka.tcp" || addr.System() != "Net" {
			t.Errorf("the address is %s", addr)
		}
		near, far := pair(t, c, c, addr)
		talk(t, near, far)
	})
	t.Run("public host and port", func(t *testing.T) {
		_, addr := listening(t, carrierSettings(func(s *Settings) { s.PublicHostname, s.PublicPort = "Gate.Example", 4711 }))
		if addr.String() != "akka.tcp://Net@gate.example:4711" {
			t.Errorf("the address is %s", addr)
		}
	})
	t.Run("all addresses", func(t *testing.T) {
		c, addr := listening(t, carrierSettings(func(s *Settings) { s.Hostname = "" }))
		if addr.Host() != "0.0.0.0" {
			t.Errorf("the address is %s", addr)
		}
		near, far := pair(t, c, c, addr)
		talk(t, near, far)
	})
	for _, host := range []string{"::1", "[::1]"} {
		t.Run("IPv6 "+host, func(t *testing.T) {
			if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
				t.Skip("no IPv6 here: ", err)
			} else {
				l.Close()
			}
			c, addr := listening(t, carrierSettings(func(s *Settings) { s.Hostname = host }))
			if addr.Host() != "[::1]" {
				t.Errorf("the address is %s", addr)
			}
			near, far := pair(t, c, c, addr)
			talk(t, near, far)
		})
	}
}

func TestRow37SocketOptions(t *testing.T) {
	for _, on := range []bool{true, false} {
		c, addr := listening(t, carrierSettings(func(s *Settings) {
			s.TCPNoDelay, s.TCPKeepAlive, s.ReceiveBufferSize, s.SendBufferSize = on, on, 50000, 60000
		}))
		near, far := pair(t, c, c, addr)
		for side, nc := range map[string]net.Conn{"dialed": near, "accepted": far} {
			for what, x := range map[string]struct {
				level, option int
				ok            func(v int) bool
			}{
				"TCP_NODELAY":  {syscall.IPPROTO_TCP, syscall.TCP_NODELAY, func(v int) bool { return (v != 0) == on }},
				"SO_KEEPALIVE": {syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, func(v int) bool { return (v != 0) == on }},
				"SO_RCVBUF":    {syscall.SOL_SOCKET, syscall.SO_RCVBUF, func(v int) bool { return v == 50000 || v == 100000 }}, // Linux doubles
				"SO_SNDBUF":    {syscall.SOL_SOCKET, syscall.SO_SNDBUF, func(v int) bool { return v == 60000 || v == 120000 }},
			} {
				if v, err := socketOption(nc, x.level, x.option); err != nil {
					t.Skip(err)
				} else if !x.ok(v) {
					t.Errorf("%s of the %s end is %d (on: %v)", what, side, v, on)
				}
			}
		}
	}
}

// TestRow37OtherCarriers has the connections come from elsewhere than TCP.
func TestRow37OtherCarriers(t *testing.T) {
	s := carrierSettings()
	boom := errors.New("boom")
	c, err := newTransportOver(s, func(context.Context, string, string) (net.Conn, error) { return nil, boom },
		func(context.Context, string, string) (net.Listener, error) { return nil, boom })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.listen(s, "Net"); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	to, _ := actor.ParseAddress("akka.tcp://Net@[::1]:7")
	if _, err := c.dial(soon(t), to); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	var asked string
	c, _ = newTransportOver(s, func(_ context.Context, network, address string) (net.Conn, error) {
		asked = network + " " + address
		return nil, os.ErrPermission
	}, nil)
	c.dial(soon(t), to)
	if asked != "tcp [::1]:7" {
		t.Errorf("the dialer was asked for %q", asked)
	}
}
