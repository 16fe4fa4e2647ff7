// Command actua runs the shared workloads on our own runtime: the adapter of the harness, like that of
// protoactor beside the harness.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"actorbench/harness"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
)

type (
	run struct{}
	msg struct{ ack bool }
)

type peer struct {
	sys *actor.System
	seq int
}

func (*peer) Name() string { return "actua" }

// must ends the program: what fails here makes the run worthless.
func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return v
}

func (p *peer) StartLocal() { p.sys = must(actor.NewSystem("bench", actor.Config{})) }

// spawn makes an actor below /user.
func (p *peer) spawn(produce func() actor.Actor) *actor.Ref {
	return must(p.sys.Spawn(actor.NewProps(produce), ""))
}

// destination sends every message back.
type destination struct{}

func (destination) Receive(ctx *actor.Context, message any) {
	if m, ok := message.(*msg); ok {
		ctx.Reply(m)
	}
}

type client struct {
	to                     *actor.Ref
	sent, received, repeat int64
	window                 int
	latch                  *harness.Latch
}

func (c *client) Receive(ctx *actor.Context, message any) {
	switch m := message.(type) {
	case *msg:
		c.received++
		if c.sent < c.repeat {
			c.sent++
			ctx.Tell(c.to, m)
		} else if c.received == c.repeat {
			c.latch.Hit()
		}
	case *run:
		m2 := &msg{}
		for range min(int64(c.window), c.repeat) {
			c.sent++
			ctx.Tell(c.to, m2)
		}
	}
}

func (p *peer) PingPong(pairs, window int, repeat int64) harness.Job {
	l := harness.NewLatch(pairs)
	var cs []*actor.Ref
	for range pairs {
		d := p.spawn(func() actor.Actor { return destination{} })
		cs = append(cs, p.spawn(func() actor.Actor {
			return &client{to: d, repeat: repeat, window: window, latch: l}
		}))
	}
	return harness.Job{Start: func() {
		for _, c := range cs {
			c.Tell(&run{})
		}
	}, Done: l.C()}
}

// sink counts, and answers the messages that ask for it.
type sink struct {
	left  int64
	latch *harness.Latch
}

func (s *sink) Receive(ctx *actor.Context, message any) {
	if m, ok := message.(*msg); ok {
		if m.ack {
			ctx.Reply(m)
		}
		s.left--
		if s.left == 0 {
			s.latch.Hit()
		}
	}
}

type sender struct {
	to           *actor.Ref
	left, credit int64
	plain, last  *msg
}

func (s *sender) Receive(ctx *actor.Context, message any) {
	switch message.(type) {
	case *run, *msg:
		n := min(s.left, s.credit)
		if n == 0 {
			return
		}
		s.left -= n
		for range n - 1 {
			ctx.Tell(s.to, s.plain)
		}
		ctx.Tell(s.to, s.last)
	}
}

func (p *peer) FanIn(senders int, perSender, credit int64) harness.Job {
	l := harness.NewLatch(1)
	to := p.spawn(func() actor.Actor { return &sink{left: int64(senders) * perSender, latch: l} })
	var ss []*actor.Ref
	for range senders {
		ss = append(ss, p.spawn(func() actor.Actor {
			return &sender{to: to, left: perSender, credit: credit, plain: &msg{}, last: &msg{ack: true}}
		}))
	}
	return harness.Job{Start: func() {
		for _, s := range ss {
			s.Tell(&run{})
		}
	}, Done: l.C()}
}

func (p *peer) Tell(total int64) (func(int64), <-chan struct{}) {
	l := harness.NewLatch(1)
	to := p.spawn(func() actor.Actor { return &sink{left: total, latch: l} })
	m := &msg{}
	return func(n int64) {
		for range n {
			to.Tell(m)
		}
	}, l.C()
}

// Ask asks an actor as the other adapters do; with ACTUA_ASK=nonblocking one that is declared never to wait, which
// the asking goroutine may then run itself.
func (p *peer) Ask() func(int, int, []int64) {
	props := actor.NewProps(func() actor.Actor { return destination{} })
	if os.Getenv("ACTUA_ASK") == "nonblocking" {
		props = props.WithNonBlocking()
	}
	to := must(p.sys.Spawn(props, ""))
	m := &msg{}
	return func(_, n int, lat []int64) {
		for i := range n {
			t := time.Now()
			if _, err := actor.AskFor[*msg](to, m, 5*time.Second); err != nil {
				panic(err)
			}
			if lat != nil {
				lat[i] = int64(time.Since(t))
			}
		}
	}
}

// idle is an actor that has nothing to do; PreStart is what Started is at protoactor.
type idle struct {
	started *atomic.Int64
	want    int64
	done    chan struct{}
}

func (a *idle) PreStart(*actor.Context) {
	if a.started.Add(1) == a.want {
		close(a.done)
	}
}

func (*idle) Receive(*actor.Context, any) {}

// spawning makes the idle actors: under a parent, and each with a name of its own (ACTUA_SPAWN=auto: with one
// that the runtime makes up, as protoactor's adapter does; ACTUA_SPAWN=user: the same from outside, below /user).
type spawning struct{ n int }

func (p *peer) Spawn(n int) {
	var started atomic.Int64
	done := make(chan struct{})
	props := actor.NewProps(func() actor.Actor { return &idle{started: &started, want: int64(n), done: done} })
	how := os.Getenv("ACTUA_SPAWN")
	if how == "user" {
		for range n {
			must(p.sys.Spawn(props, ""))
		}
		<-done
		return
	}
	p.seq++
	parent := must(p.sys.Spawn(actor.FromFunc(func(ctx *actor.Context, message any) {
		s, ok := message.(*spawning)
		if !ok {
			return
		}
		for i := range s.n {
			name := ""
			if how != "auto" {
				name = "actor-" + strconv.Itoa(i)
			}
			must(ctx.Spawn(props, name))
		}
	}), "parent-"+strconv.Itoa(p.seq)))
	parent.Tell(&spawning{n})
	<-done
}

// networked makes a system that others can reach at a free port of this machine.
func networked(name string) (*actor.System, *remote.Remoting) {
	set := remote.DefaultSettings()
	set.Hostname, set.Port = "127.0.0.1", 0
	r := remote.New(remote.Config{Settings: &set})
	return must(actor.NewSystem(name, actor.Config{Provider: r})), r
}

// deployed makes the path of an echo as long as it is where SystemA deploys it onto SystemB, /remote/akka.tcp/SystemA@
// 127.0.0.1:58231/user/echo0, and so the frames as long as Akka.NET's and mini's: 232 bytes.
const deployed = "remote-akka.tcp-SystemA-127.0.0.1-58231-"

// RemoteServer has n echo actors.
func (p *peer) RemoteServer(n int) string {
	s, r := networked("SystemB")
	for i := range n {
		must(s.Spawn(actor.FromFunc(func(ctx *actor.Context, message any) { ctx.Reply(message) }), deployed+"echo"+strconv.Itoa(i)))
	}
	return r.Address().String()
}

// remoteClient passes on what it gets until it has sent its share; the next one ends it.
type remoteClient struct {
	to           *actor.Ref
	sent, repeat int64
	ended        bool
	latch        *harness.Latch
}

func (c *remoteClient) Receive(ctx *actor.Context, message any) {
	switch {
	case c.sent < c.repeat:
		c.sent++
		ctx.Tell(c.to, message)
	case !c.ended:
		c.ended = true
		c.latch.Hit()
	}
}

// RemoteClient sends the string "hit" (serializer 17, with the long manifest) or bytes (serializer 4).
func (p *peer) RemoteClient(server string, n int, repeat int64, payload, window int) harness.Job {
	s, _ := networked("SystemA")
	var hit any = "hit"
	if payload > 0 {
		hit = make([]byte, payload)
	}
	l := harness.NewLatch(n)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var cs []*actor.Ref
	for i := range n {
		echo := must(must(s.Select(server + "/user/" + deployed + "echo" + strconv.Itoa(i))).ResolveOne(ctx))
		cs = append(cs, must(s.Spawn(actor.NewProps(func() actor.Actor {
			return &remoteClient{to: echo, repeat: repeat, latch: l}
		}), "benchmark"+strconv.Itoa(i))))
	}
	return harness.Job{Start: func() {
		for _, c := range cs {
			for range window {
				c.Tell(hit)
			}
		}
	}, Done: l.C()}
}

func main() { harness.Main(&peer{}) }
