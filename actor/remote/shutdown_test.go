package remote

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

// ended waits for the end of a system, within the time that it may take.
func (n *loopNode) ended(t *testing.T, most time.Duration) {
	t.Helper()
	start := time.Now()
	n.sys.Terminate()
	select {
	case <-n.sys.WhenTerminated():
	case <-time.After(most + 10*time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("no end after %v\n%s", time.Since(start), buf[:runtime.Stack(buf, true)])
	}
	if d := time.Since(start); d > most {
		t.Errorf("the end took %v, not %v at most", d, most)
	}
	if n, _ := n.seen.count("panic"); n > 0 {
		t.Errorf("a panic in the log")
	}
}

// noMore waits until there are no more goroutines of ours than before.
func noMore(t *testing.T, before int) {
	t.Helper()
	var stacks string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	buf := make([]byte, 1<<20)
	stacks = string(buf[:runtime.Stack(buf, true)])
	t.Errorf("%d goroutines, before it were %d\n%s", runtime.NumGoroutine(), before, stacks)
}

// TestShutdownInTheMiddle ends a system in the middle of everything: soon, with no goroutine left.
func TestShutdownInTheMiddle(t *testing.T) {
	const soonish = 1500 * time.Millisecond // well below what a flush may take
	flush := DefaultSettings().FlushWaitOnShutdown + time.Second
	pad := strings.Repeat("x", 100_000)
	for name, x := range map[string]struct {
		most time.Duration
		do   func(t *testing.T) *loopNode
	}{
		"alone": {soonish, func(t *testing.T) *loopNode { return newLoopNode(t, nil) }},
		"dialing": {soonish, func(t *testing.T) *loopNode {
			dials := make(chan struct{}, 10)
			a := newLoopNode(t, func(c *Config) {
				c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					dials <- struct{}{}
					<-ctx.Done()
					return nil, ctx.Err()
				}
			})
			to := a.to(t, "akka.tcp://R@127.0.0.1:1", "/user/x#5")
			o := a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Watch(to); ctx.Tell(to, msg) }), "o")
			o.Tell("hello")
			wait(t, dials)
			return a
		}},
		"handshake out": {flush, func(t *testing.T) *loopNode {
			address, _, come := rawListener(t, false)
			a := newLoopNode(t, nil)
			a.to(t, address, "/user/x").Tell("hello")
			wait(t, come)
			return a
		}},
		"handshake in": {flush, func(t *testing.T) *loopNode {
			a := newLoopNode(t, nil)
			for range 3 {
				newRawPeer(t, dialTCP(t, a.address)).send([]byte{1})
			}
			for end := time.Now().Add(watchWait); ; time.Sleep(time.Millisecond) {
				a.mu.Lock()
				n := len(a.conns)
				a.mu.Unlock()
				if n == 3 {
					return a
				}
				if time.Now().After(end) {
					t.Fatal("nobody accepts")
				}
			}
		}},
		"system messages without acknowledgement": {flush, func(t *testing.T) *loopNode {
			address, _, come := rawListener(t, true)
			a := newLoopNode(t, nil)
			for i := range 500 {
				to := a.to(t, address, fmt.Sprintf("/user/x%d#5", i))
				a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Watch(to) }), "").Tell("go")
			}
			p := wait(t, come)
			p.messages(func(n int) bool { return n >= 201 })
			return a
		}},
		"a peer that reads nothing": {flush, func(t *testing.T) *loopNode {
			address, _, come := rawListener(t, true)
			a := newLoopNode(t, nil)
			to := a.to(t, address, "/user/x")
			to.Tell("hello")
			wait(t, come)
			for range 200 { // more than the sockets take
				to.Tell(pad)
			}
			return a
		}},
		"a peer with TLS that reads nothing": {flush, func(t *testing.T) *loopNode {
			auth := newAuthority(t)
			a := newLoopNode(t, func(c *Config) { auth.tls(c.Settings) })
			b := newLoopNode(t, func(c *Config) { auth.tls(c.Settings) })
			block := make(chan struct{})
			t.Cleanup(func() { close(block) })
			b.sys.MustSpawn(actor.FromFunc(func(*actor.Context, any) {}), "x")
			to := a.to(t, b.address.String(), "/user/x")
			for range 200 {
				to.Tell(pad)
			}
			b.ended(t, flush)
			return a
		}},
		"traffic": {flush, func(t *testing.T) *loopNode {
			a, b := newLoopNode(t, nil), newLoopNode(t, nil)
			for i := range 10 {
				name := fmt.Sprint("echo", i)
				b.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), name)
				to := a.to(t, b.address.String(), "/user/"+name)
				a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Watch(to); ctx.Tell(to, msg) }), "").Tell("ball")
			}
			time.Sleep(20 * time.Millisecond)
			go b.sys.Terminate()
			return a
		}},
		"with a gate": {soonish, func(t *testing.T) *loopNode {
			a := newLoopNode(t, nil)
			gated := make(chan struct{}, 1)
			actor.SubscribeFunc(a.sys, func(GatedEvent) { gated <- struct{}{} })
			to := a.to(t, "akka.tcp://R@127.0.0.1:1", "/user/x#5")
			a.sys.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Watch(to) }), "o").Tell("go")
			wait(t, gated)
			return a
		}},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			t.Run("run", func(t *testing.T) { // its clean-up ends the raw peers
				x.do(t).ended(t, x.most)
			})
			noMore(t, before)
		})
	}
}
