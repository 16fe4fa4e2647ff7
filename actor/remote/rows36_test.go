package remote

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// What was told before the end arrives, and the end is said.
func TestRow36FlushAtTheEnd(t *testing.T) {
	for _, tls := range []bool{false, true} {
		auth := newAuthority(t)
		change := func(c *Config) {
			if tls {
				auth.tls(c.Settings)
			}
		}
		a, b := newLoopNode(t, change), newLoopNode(t, change)
		const many = 80
		var got atomic.Int64
		all := make(chan struct{})
		b.sys.MustSpawn(actor.FromFunc(func(*actor.Context, any) {
			if got.Add(1) == many {
				close(all)
			}
		}), "x")
		ended := make(chan DisassociatedEvent, 10)
		actor.SubscribeFunc(b.sys, func(e DisassociatedEvent) { ended <- e })
		to := a.to(t, b.address.String(), "/user/x")
		to.Tell("first")
		for got.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		pad := strings.Repeat("x", 100_000)
		for range many - 1 {
			to.Tell(pad)
		}
		a.ended(t, 3*time.Second)
		if e := wait(t, ended); e.Reason != "Shutdown" || e.Cause != "disassociated by the peer" {
			t.Errorf("TLS %v: the end was %s: %s", tls, e.Reason, e.Cause)
		}
		wait(t, all)
	}
}

// The peer of a system that ends hears so on each connection, one in the handshake included, and then the end of input.
func TestRow36SaysSo(t *testing.T) {
	a := newLoopNode(t, nil)
	peers := []*rawPeer{dialRaw(t, a.address, 1, 7), dialRaw(t, a.address, 2, 8), newRawPeer(t, dialTCP(t, a.address))}
	for end := time.Now().Add(watchWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		a.mu.Lock()
		n := len(a.conns)
		a.mu.Unlock()
		if n == len(peers) {
			break
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.ended(t, 4*time.Second)
	}()
	for i, p := range peers {
		if c := p.command(); c != akkapb.CommandDisassociateShuttingDown {
			t.Errorf("peer %d hears %d", i, c)
		}
		if _, err := p.frame(); err == nil || err.Error() != "EOF" {
			t.Errorf("peer %d: %v", i, err)
		}
		p.Close()
	}
	<-done
}

// Each side may end a connection, and both at once.
func TestRow36EitherSide(t *testing.T) {
	for _, who := range []string{"A", "B", "both"} {
		w := newRowWorld(t)
		a, b := w.start("A", nil), w.start("B", nil)
		b.echo("echo")
		says(t, a.to(b, "/user/echo"), "up")
		if who != "B" {
			a.sys.Terminate()
		}
		if who != "A" {
			b.sys.Terminate()
		}
		if who != "B" {
			a.stopped()
		} else {
			a.wait("disassociated B Shutdown")
		}
		if who != "A" {
			b.stopped()
		} else {
			b.wait("disassociated A Shutdown")
		}
	}
}
