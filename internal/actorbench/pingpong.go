package actorbench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/actua/actua/actor"
)

// PingPong is Akka.NET's local ping-pong (src/benchmark/PingPong). On "run" a client sends its destination
// min(Window, its share of Repeat) messages; the destination sends each one back; the client sends one more for
// each that comes back until its share is sent, and is done when its share has come back.
type PingPong struct {
	Clients int           // pairs; the original has one a processor
	Repeat  int64         // round trips of all clients together: 15,000,000 in the original
	Window  int           // messages a client has in flight: 1000 in the original
	Limit   time.Duration // a run that takes longer has failed
}

// DefaultPingPong is the original's workload on n processors.
func DefaultPingPong(n int) PingPong {
	return PingPong{Clients: n, Repeat: 30_000 * 500, Window: 1000, Limit: 5 * time.Minute}
}

// Throughputs are the original's rows: how many messages an actor may handle before others have their turn.
func Throughputs() (rows []int) {
	rows = append(rows, 1, 5, 10, 15)
	for i := 20; i < 100; i += 10 {
		rows = append(rows, i)
	}
	for i := 100; i < 1000; i += 100 {
		rows = append(rows, i)
	}
	return rows
}

// Variant is how the actors are written.
type Variant int

// The variants, in the order of the original's columns.
const (
	ActorBase    Variant = iota // an actor.Actor with a switch over the types
	ReceiveActor                // actor.Receive, which does the switch
)

// String is the original's name of the variant.
func (v Variant) String() string { return [...]string{"ActorBase", "ReceiveActor"}[v] }

// Variants are all of them.
var Variants = []Variant{ActorBase, ReceiveActor}

// PingPongResult is a group of the original's columns.
type PingPongResult struct {
	Messages   int64         // that were sent: two a round trip
	MsgsPerSec int64         // in whole thousands, as the original rounds; -1 below a millisecond
	Start      time.Duration // from before the system is made until all actors have answered
	Total      time.Duration // the same, until the system is asked to end
	Usage      Usage         // of the messages alone
}

// messages is how many messages a run sends.
func (p PingPong) messages() int64 { return p.Repeat / int64(p.Clients) * int64(p.Clients) * 2 }

// Header is what the original prints first.
func (p PingPong) Header() string { return ReadMachine().Header(2*p.Clients, p.messages()) }

// PingPongColumns are the two lines above the rows; processor time and allocation come after the original's.
const PingPongColumns = `            ActorBase                          ReceiveActor                       ActorBase             ReceiveActor
Throughput, Msgs/sec, Start [ms], Total [ms],  Msgs/sec, Start [ms], Total [ms],  CPU [s], Alloc [B/msg],  CPU [s], Alloc [B/msg]`

// PingPongLine is a row under PingPongColumns.
func PingPongLine(throughput int, base, receive PingPongResult) string {
	columns := func(r PingPongResult) string {
		return fmt.Sprintf("%8d, %10.2f, %10.2f", r.MsgsPerSec, ms(r.Start), ms(r.Total))
	}
	cost := func(r PingPongResult) string {
		_, _, _, bytes := r.Usage.PerMessage(r.Messages)
		return fmt.Sprintf("%7.2f, %13.2f", r.Usage.CPU.Seconds(), bytes)
	}
	return fmt.Sprintf("%10d, %s,  %s,  %s,  %s", throughput, columns(base), columns(receive), cost(base), cost(receive))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// FirstStart is how long it takes until the first pair of a new system answers.
func (p PingPong) FirstStart(ctx context.Context, v Variant) (time.Duration, error) {
	r, err := PingPong{Clients: 1, Repeat: 1, Window: 1, Limit: p.Limit}.Run(ctx, v, 1)
	return r.Start, err
}

// Run makes a system, lets the messages go, and ends the system. It returns ErrLate when messages are missing.
func (p PingPong) Run(ctx context.Context, v Variant, throughput int) (r PingPongResult, err error) {
	begin := time.Now()
	s, err := newSystem("PingPong", throughput)
	if err != nil {
		return r, err
	}
	defer end(s)
	g := &game{window: p.Window, share: p.Repeat / int64(p.Clients), ended: newLatch(p.Clients), started: newLatch(2 * p.Clients)}
	waiter, err := s.Spawn(actor.FromFunc(g.waitForStarts), "wait-for-starts")
	if err != nil {
		return r, err
	}
	clients := make([]*actor.Ref, p.Clients)
	for i := range clients {
		to, err := s.Spawn(g.destination(v), "destination-"+strconv.Itoa(i))
		if err != nil {
			return r, err
		}
		if clients[i], err = s.Spawn(g.client(v, to), "client-"+strconv.Itoa(i)); err != nil {
			return r, err
		}
		clients[i].TellFrom(&message{kind: started}, waiter)
		to.TellFrom(&message{kind: started}, waiter)
	}
	if _, err := await(ctx, g.started.done, 10*time.Second); err != nil {
		return r, fmt.Errorf("start: %w", err)
	}
	r.Start = time.Since(begin)
	m := startMeter()
	for _, c := range clients {
		c.Tell(&message{kind: run})
	}
	if _, err := await(ctx, g.ended.done, p.Limit); err != nil {
		return r, err
	}
	now := time.Now()
	r.Total = now.Sub(begin)
	r.Usage = m.stop(now)
	r.Messages = p.messages()
	r.MsgsPerSec = -1
	if whole := r.Usage.Wall.Milliseconds(); whole > 0 {
		r.MsgsPerSec = r.Messages / whole * 1000
	}
	return r, nil
}

// message is all that is sent here: a ball of the game, and what frames it.
type message struct{ kind kind }

type kind uint8

const (
	ball kind = iota
	run
	started
)

// game is what the actors of one run share.
type game struct {
	window         int
	share          int64
	started, ended *latch
}

func (g *game) waitForStarts(_ *actor.Context, msg any) {
	if m, ok := msg.(*message); ok && m.kind == started {
		g.started.hit()
	}
}

func (g *game) destination(v Variant) *actor.Props {
	if v == ReceiveActor {
		return actor.Receive(func(ctx *actor.Context, m *message) { ctx.Reply(m) })
	}
	return actor.NewProps(func() actor.Actor { return destination{} })
}

func (g *game) client(v Variant, to *actor.Ref) *actor.Props {
	if v == ReceiveActor {
		return actor.Receive((&client{game: g, to: to}).message)
	}
	return actor.NewProps(func() actor.Actor { return &client{game: g, to: to} })
}

// destination sends every message back.
type destination struct{}

// Receive implements actor.Actor.
func (destination) Receive(ctx *actor.Context, msg any) {
	if m, ok := msg.(*message); ok {
		ctx.Reply(m)
	}
}

// client sends its share of the messages.
type client struct {
	*game
	to             *actor.Ref
	sent, received int64
}

// Receive implements actor.Actor.
func (c *client) Receive(ctx *actor.Context, msg any) {
	if m, ok := msg.(*message); ok {
		c.message(ctx, m)
	}
}

func (c *client) message(ctx *actor.Context, m *message) {
	switch m.kind {
	case ball:
		c.received++
		if c.sent < c.share {
			c.sent++
			ctx.Tell(c.to, m)
		} else if c.received == c.share {
			c.ended.hit()
		}
	case run:
		hit := &message{}
		for range min(int64(c.window), c.share) {
			c.sent++
			ctx.Tell(c.to, hit)
		}
	case started:
		ctx.Reply(m)
	}
}
