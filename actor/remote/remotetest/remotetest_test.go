package remotetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/testkit"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func frame(body string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// reader takes the frames of a connection apart, on a goroutine that always waits for more.
type reader struct {
	mu  sync.Mutex
	got []string
	err error
}

func readAll(c net.Conn) *reader {
	r := &reader{}
	go func() {
		for {
			head := make([]byte, 4)
			_, err := io.ReadFull(c, head)
			body := make([]byte, binary.LittleEndian.Uint32(head))
			if err == nil {
				_, err = io.ReadFull(c, body)
			}
			r.mu.Lock()
			if err != nil {
				r.err = err
				r.mu.Unlock()
				return
			}
			r.got = append(r.got, string(body))
			r.mu.Unlock()
		}
	}()
	return r
}

func (r *reader) now() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.got, " "), r.err
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 10000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("not within 10 s: " + what)
}

// virtual is a network of virtual time with a connection from a to b.
func virtual(t *testing.T, seed uint64) (v *testkit.VirtualTime, n *Network, a, b net.Conn) {
	t.Helper()
	v = testkit.NewVirtualTime(epoch)
	n = NewNetwork(Options{Clock: v, Seed: seed})
	l, err := n.Host("b").Listen(context.Background(), "tcp", "b:2552")
	if err != nil {
		t.Fatal(err)
	}
	if a, err = n.Host("a").Dial(context.Background(), "tcp", "b:2552"); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); a.Close(); b.Close() })
	return v, n, a, b
}

func TestRow38NetworkFails(t *testing.T) {
	n := NewNetwork(Options{})
	ctx := context.Background()
	a := n.Host("A")
	for _, bad := range []string{"", "a", "a:x", "a:-1", "a:70000"} {
		if _, err := a.Dial(ctx, "tcp", bad); err == nil {
			t.Errorf("dial %q works", bad)
		}
		if _, err := a.Listen(ctx, "tcp", bad); err == nil {
			t.Errorf("listen %q works", bad)
		}
	}
	if _, err := a.Dial(ctx, "tcp", "b:1"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := a.Listen(ctx, "tcp", "b:1"); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("another's address: %v", err)
	}
	l, err := a.Listen(ctx, "tcp", ":7")
	if err != nil || l.Addr().String() != "a:7" {
		t.Fatal(l, err)
	}
	if _, err := a.Listen(ctx, "tcp", "localhost:7"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("twice: %v", err)
	}
	waiting, err := a.Dial(ctx, "tcp", "127.0.0.1:7")
	if err != nil || n.Quiet() {
		t.Fatal("a connection that nobody has accepted: ", err)
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("close after close: %v", err)
	}
	if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("not accepted: %v", err)
	}
	if l, err = a.Listen(ctx, "tcp", ":7"); err != nil {
		t.Errorf("once more: %v", err)
	} else {
		l.Close()
	}
}

func TestRow38ConnectionsEnd(t *testing.T) {
	_, n, a, b := virtual(t, 1)
	a.Write([]byte{9, 0, 0, 0, 'h', 'a', 'l', 'f'})
	a.(*conn).CloseWrite()
	if got, err := io.ReadAll(b); err != nil || len(got) != 8 {
		t.Errorf("half a frame, then the end: %q, %v", got, err)
	}
	if _, err := a.Write([]byte("x")); err == nil {
		t.Error("a write after the end works")
	}
	b.Write(frame("answer"))
	b.Close()
	b.Close()
	if got, err := io.ReadAll(a); err != nil || string(got[4:]) != "answer" {
		t.Errorf("the other way: %q, %v", got, err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	a.Close()
	if n.Connections() != 0 {
		t.Errorf("%d connections are left", n.Connections())
	}

	_, _, a, b = virtual(t, 1)
	a.Write(frame("unread"))
	b.Close()
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("closed with something unread: %v", err)
	}
	_, _, a, b = virtual(t, 1)
	b.Close()
	if _, err := a.Write(frame("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("write to a closed one: %v", err)
	}
	_, n, a, b = virtual(t, 1)
	a.Write(frame("on its way"))
	if n.Cut("b", "A") != 1 || n.Cut("a", "b") != 0 || n.Cut("a", "c") != 0 {
		t.Error("not one connection was cut")
	}
	for _, c := range []net.Conn{a, b} {
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read after a cut: %v", err)
		}
		if _, err := c.Write(frame("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("write after a cut: %v", err)
		}
	}
}

func TestRow38Deadlines(t *testing.T) {
	v, _, a, b := virtual(t, 1)
	b.SetReadDeadline(time.Unix(1, 0))
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a deadline of long ago: %v", err)
	}
	b.SetReadDeadline(time.Time{})
	r := readAll(b)
	a.Write(frame("x"))
	until(t, "reading goes on", func() bool { got, _ := r.now(); return got == "x" })
	b.SetDeadline(time.Now().Add(time.Hour))
	v.Advance(59 * time.Minute)
	if _, err := r.now(); err != nil {
		t.Errorf("too early: %v", err)
	}
	v.Advance(time.Minute)
	until(t, "the deadline", func() bool { _, err := r.now(); return errors.Is(err, os.ErrDeadlineExceeded) })
	if _, err := b.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write after the deadline: %v", err)
	}
	var timeout net.Error
	if _, err := b.Read(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("not a timeout: %v", err)
	}
}

// TestRow38Pulled pulls the cable: nothing is lost, nobody can dial, and who sends waits in the end.
func TestRow38Pulled(t *testing.T) {
	v, n, a, b := virtual(t, 1)
	r := readAll(b)
	n.SetBoth("a", "b", Mode{Hold: true})
	a.Write(frame("1"))
	v.Advance(time.Hour)
	if got, _ := r.now(); got != "" {
		t.Errorf("%q came", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	dialed := make(chan error, 1)
	go func() {
		_, err := n.Host("b").Dial(ctx, "tcp", "a:1")
		dialed <- err
	}()
	until(t, "the dial gives up in virtual time", func() bool {
		v.Advance(time.Second)
		select {
		case err := <-dialed:
			if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
				t.Errorf("the dial gave %v", err)
			}
			return true
		default:
			return false
		}
	})
	go func() {
		c, err := n.Host("a").Dial(context.Background(), "tcp", "b:2552")
		if err == nil {
			c.Close()
		}
		dialed <- err
	}()
	a.(*conn).TryWrite(frame(strings.Repeat("x", window)))
	if n, err := a.(*conn).TryWrite(frame("no room")); n != 0 || err != nil {
		t.Errorf("without room %d bytes were taken, %v", n, err)
	}
	written := make(chan struct{})
	go func() {
		for i := range 6 {
			a.Write(frame(strings.Repeat(fmt.Sprint(i), 64<<10)))
		}
		close(written)
	}()
	select {
	case <-written:
		t.Error("384 KiB went into a pulled cable")
	case err := <-dialed:
		t.Errorf("the dial gave %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	n.SetBoth("a", "b", Mode{})
	<-written
	if err := <-dialed; err != nil {
		t.Errorf("the dial after that: %v", err)
	}
	until(t, "everything arrives", func() bool { got, _ := r.now(); return len(got) == 1+1+window+6*(1+64<<10) })
}

// TestRow38Blackhole loses everything, and the end comes when that is over.
func TestRow38Blackhole(t *testing.T) {
	_, n, a, b := virtual(t, 1)
	r := readAll(b)
	n.Set("a", "", Mode{Blackhole: true})
	a.Write(frame("lost"))
	b.Write(frame("back"))
	if got := make([]byte, 8); true {
		if _, err := io.ReadFull(a, got); err != nil || string(got[4:]) != "back" {
			t.Errorf("the way back: %q, %v", got, err)
		}
	}
	a.Close()
	until(t, "it is quiet", n.Quiet)
	if got, err := r.now(); got != "" || err != nil {
		t.Errorf("%q and %v came", got, err)
	}
	n.Set("", "", Mode{})
	until(t, "the end", func() bool { got, err := r.now(); return got == "" && err == io.EOF })
	if frames, lost := n.Counts(); frames != 2 || lost != 1 {
		t.Errorf("%d frames, %d lost", frames, lost)
	}
}

func TestRow38DelayAndRate(t *testing.T) {
	v, n, a, b := virtual(t, 1)
	r := readAll(b)
	at := func(d time.Duration, want string) {
		t.Helper()
		v.Advance(d)
		until(t, "it is quiet", n.Quiet)
		if got, _ := r.now(); got != want {
			t.Errorf("after %v there is %q, want %q", v.Now().Sub(epoch), got, want)
		}
	}
	n.Set("a", "b", Mode{Delay: 100 * time.Millisecond})
	a.Write(frame("1"))
	at(99*time.Millisecond, "")
	n.Set("a", "b", Mode{}) // what comes later does not overtake
	a.Write(frame("2"))
	at(0, "")
	at(time.Millisecond, "1 2")
	n.Set("a", "b", Mode{Rate: 100, Burst: 20}) // a frame of 10 bytes takes 0.1 s, and two go at once
	for _, body := range []string{"aaaaaa", "bbbbbb", "cccccc", "dddddd"} {
		a.Write(frame(body))
	}
	at(0, "1 2 aaaaaa bbbbbb")
	at(99*time.Millisecond, "1 2 aaaaaa bbbbbb")
	at(time.Millisecond, "1 2 aaaaaa bbbbbb cccccc")
	at(100*time.Millisecond, "1 2 aaaaaa bbbbbb cccccc dddddd")
	dialed := make(chan error, 1)
	n.Set("", "", Mode{Delay: 50 * time.Millisecond})
	start := v.Now()
	go func() {
		_, err := n.Host("a").Dial(context.Background(), "tcp", "b:2552")
		dialed <- err
	}()
	until(t, "a dial takes its time", func() bool {
		v.Advance(10 * time.Millisecond)
		return len(dialed) > 0
	})
	if took := v.Now().Sub(start); took < 100*time.Millisecond {
		t.Errorf("the dial took %v", took)
	}
}

// TestRow38DropIsDeterministic loses the same frames with the same seed, others with another, and none by half.
func TestRow38DropIsDeterministic(t *testing.T) {
	run := func(seed uint64, cut int) string {
		v, n, a, b := virtual(t, seed)
		r := readAll(b)
		n.Set("a", "b", Mode{Drop: 0.5, Delay: time.Millisecond, Jitter: 50 * time.Millisecond})
		var all []byte
		for i := range 200 {
			all = append(all, frame(fmt.Sprint(i))...)
		}
		for len(all) > 0 { // however it is cut
			k := min(cut, len(all))
			a.Write(all[:k])
			all = all[k:]
		}
		a.(*conn).CloseWrite()
		until(t, "the end", func() bool { v.Advance(10 * time.Millisecond); _, err := r.now(); return err != nil })
		got, err := r.now()
		frames, lost := n.Counts()
		if err != io.EOF || frames != 200 || lost != 200-len(r.got) {
			t.Errorf("%v, %d frames, %d lost, %d came", err, frames, lost, len(r.got))
		}
		if !slices.IsSortedFunc(r.got, func(x, y string) int { return len(x) - len(y) }) {
			t.Error("out of order")
		}
		return got
	}
	first := run(7, 1<<20)
	if n := len(strings.Fields(first)); n < 60 || n > 140 {
		t.Errorf("%d of 200 came", n)
	}
	if run(7, 3) != first {
		t.Error("the same seed lost others")
	}
	if run(8, 1<<20) == first {
		t.Error("another seed lost the same")
	}
}

// TestRow38OddFrames lets what is no frame through as it is.
func TestRow38OddFrames(t *testing.T) {
	_, _, a, b := virtual(t, 1)
	go a.Write([]byte{0xff, 0xff, 0xff, 0xff, 1})
	got := make([]byte, 5)
	if _, err := io.ReadFull(b, got); err != nil || got[4] != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func associate(host string, port uint32) []byte {
	return akkapb.Framing{}.AppendControl(nil, &akkapb.AkkaControlMessage{
		Command: akkapb.CommandAssociate, HasHandshake: true,
		Handshake: akkapb.AkkaHandshakeInfo{HasOrigin: true, Origin: akkapb.AddressData{
			Protocol: []byte("tcp"), System: []byte("S"), Hostname: []byte(host), Port: port,
		}},
	})
}

// TestRow38FaultsOverTCP has the faults at either end of real sockets.
func TestRow38FaultsOverTCP(t *testing.T) {
	f := NewFaults(Options{Seed: 1})
	l, err := f.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := f.Dial(context.Background(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("nobody is there")
	}
	connect := func() (a, b net.Conn) {
		a, err := f.Dial(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, err = l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	a, b := connect()
	r, back := readAll(b), readAll(a)
	a.Write(associate("Node", 99)) // now b knows who that is
	until(t, "the handshake", func() bool { got, _ := r.now(); return got != "" })
	hello, _ := r.now()
	f.Set("node:99", Send, Mode{Blackhole: true})
	b.Write(frame("lost"))
	f.Set("node:99", Both, Mode{})
	b.Write(frame("found"))
	a.Write(frame("1"))
	until(t, "both ways", func() bool { x, _ := r.now(); y, _ := back.now(); return x == hello+" 1" && y == "found" })
	f.Set(l.Addr().String(), Send, Mode{Hold: true})
	a.Write(frame("2"))
	a.Close() // what was written before still goes
	time.Sleep(10 * time.Millisecond)
	if got, err := r.now(); got != hello+" 1" || err != nil {
		t.Errorf("%q and %v came", got, err)
	}
	f.Set("", Both, Mode{})
	until(t, "the rest and the end", func() bool { got, err := r.now(); return got == hello+" 1 2" && err == io.EOF })
	b.Close()

	a, b = connect()
	r, back = readAll(b), readAll(a)
	until(t, "all that is over is forgotten", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.conns) == 2 })
	if n := f.Cut("other:1"); n != 0 {
		t.Errorf("%d were cut", n)
	}
	if n := f.Cut(l.Addr().String()); n != 1 {
		t.Errorf("%d were cut", n)
	}
	for _, x := range []*reader{r, back} {
		until(t, "the reset", func() bool { _, err := x.now(); return errors.Is(err, syscall.ECONNRESET) })
	}
	b.Close()
}
