package tcp

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// occupy gives a descriptor number to one end of a pair of sockets, and returns the other end.
func occupy(t *testing.T, number int) (other int) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if pair[1] == number {
		pair[0], pair[1] = pair[1], pair[0]
	}
	if pair[0] != number {
		if err := syscall.Dup3(pair[0], number, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		syscall.Close(pair[0])
	}
	t.Cleanup(func() {
		syscall.Close(number)
		syscall.Close(pair[1])
	})
	return pair[1]
}

// untouched checks that nobody has written to or shut what occupy made.
func untouched(t *testing.T, other int) {
	t.Helper()
	var b [16]byte
	if n, err := syscall.Read(other, b[:]); err != syscall.EAGAIN {
		t.Errorf("%d bytes %x and %v from the new owner of a descriptor that had been closed", n, b[:max(n, 0)], err)
	}
}

// TestLoopsCloseTwice closes loops that have ended: the numbers of their descriptors may be others' then.
func TestLoopsCloseTwice(t *testing.T) {
	l, err := NewLoops(1)
	if err != nil {
		t.Fatal(err)
	}
	bell := l.all[0].bell
	l.Close()
	other := occupy(t, bell)
	l.Close()
	l.all[0].post(&polled{})
	untouched(t, other)
}

// TestLoopCutTooLate cuts a connection that has ended: the number of its descriptor may be another's.
func TestLoopCutTooLate(t *testing.T) {
	withLoops(t)
	c, nc, done := watched(t, ServerConfig{}, nil)
	nc.Close()
	<-done
	other := occupy(t, c.sock.(*polled).fd)
	c.Cut()
	untouched(t, other)
}

// watched is a connection on a loop of its own; before is called before it starts, done closed when it
// has ended.
func watched(t *testing.T, cfg ServerConfig, before func(*polled)) (c *ServerConn, nc net.Conn, done chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if nc, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	theirs, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Loops, err = NewLoops(1); err != nil {
		t.Fatal(err)
	}
	if cfg.Handler == nil {
		cfg.Handler = &echo{}
	}
	c = NewServerConn(theirs, &cfg)
	if before != nil {
		before(c.sock.(*polled))
	}
	done = make(chan struct{})
	c.Start(func() { close(done) })
	t.Cleanup(func() {
		c.Cut()
		<-done
		cfg.Loops.Close()
	})
	return c, nc, done
}

// TestLoopLookedAtWhileParting has the loop look at a connection once more while it only waits for the
// peer to close, which the peer never does.
func TestLoopLookedAtWhileParting(t *testing.T) {
	c, nc, done := watched(t, ServerConfig{}, nil)
	if _, err := nc.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1024)
	for {
		if _, err := nc.Read(b); err != nil {
			break
		}
	}
	p := c.sock.(*polled)
	p.loop.post(p)
	select {
	case <-done:
	case <-time.After(4 * lastWords):
		t.Error("it waits for ever")
	}
}

// TestLoopCannotWatch has the kernel refuse to watch a connection, which ends then at once, not at the
// time of a deadline.
func TestLoopCannotWatch(t *testing.T) {
	_, nc, done := watched(t, ServerConfig{HandshakeTimeout: time.Hour}, func(p *polled) {
		// What is watched already cannot be added.
		e := syscall.EpollEvent{Events: 1 << 31, Pad: -1}
		if err := syscall.EpollCtl(p.loop.ep, syscall.EPOLL_CTL_ADD, p.fd, &e); err != nil {
			t.Fatal(err)
		}
	})
	select {
	case <-done:
	case <-time.After(4 * lastWords):
		t.Error("it waits for its deadline")
	}
	var b [1]byte
	nc.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := nc.Read(b[:]); err == nil || ua.StatusOf(lost(err, "")) != ua.BadConnectionClosed {
		t.Error(err)
	}
}

// TestLoopSoonerWakeStays has a connection woken for later while it is to be looked at now.
func TestLoopSoonerWakeStays(t *testing.T) {
	l := &loop{closed: true}
	p := &polled{loop: l}
	p.wake(0)
	now := p.woken.Load()
	p.wake(time.Hour)
	if p.woken.Load() != now {
		t.Error("put off by another")
	}
	p.wake(-time.Hour)
	if p.woken.Load() >= now {
		t.Error("an earlier one is ignored")
	}
}
