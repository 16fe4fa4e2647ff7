package actorbench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
	ReceiveActor                // an actor.Behavior with a handler a type
	AsyncActor                  // the same, where the client handles a message in actor.Await
)

var variantNames = [...]string{"ActorBase", "ReceiveActor", "AsyncActor"}

// String is the original's name of the variant.
func (v Variant) String() string { return variantNames[v] }

// Variants are those that are measured: the last one, which is far slower, only where it is asked for.
func Variants(async bool) []Variant {
	if async {
		return []Variant{ActorBase, ReceiveActor, AsyncActor}
	}
	return []Variant{ActorBase, ReceiveActor}
}

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
func PingPongColumns(variants []Variant) string {
	const indent = "            "
	names, more := indent, ""
	columns, moreColumns := "Throughput, ", ""
	for i, v := range variants {
		if i > 0 {
			columns += ",  "
		}
		names += fmt.Sprintf("%-35s", v)
		more += fmt.Sprintf("%-25s", v)
		columns += "Msgs/sec, Start [ms], Total [ms]"
		moreColumns += ",  CPU [s], Alloc [B/msg]"
	}
	return strings.TrimRight(names+more, " ") + "\n" + columns + moreColumns
}

// PingPongLine is a row under PingPongColumns, with a result for each variant.
func PingPongLine(throughput int, results []PingPongResult) string {
	line, more := fmt.Sprintf("%10d, ", throughput), ""
	for i, r := range results {
		if i > 0 {
			line += ",  "
		}
		_, _, _, bytes := r.Usage.PerMessage(r.Messages)
		line += fmt.Sprintf("%8d, %10.2f, %10.2f", r.MsgsPerSec, ms(r.Start), ms(r.Total))
		more += fmt.Sprintf(",  %7.2f, %13.2f", r.Usage.CPU.Seconds(), bytes)
	}
	return line + more
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
		clients[i].TellFrom(&started{}, waiter)
		to.TellFrom(&started{}, waiter)
	}
	if _, err := await(ctx, g.started.done, 10*time.Second); err != nil {
		return r, fmt.Errorf("start: %w", err)
	}
	r.Start = time.Since(begin)
	m := startMeter()
	for _, c := range clients {
		c.Tell(&run{})
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

type (
	ball    struct{} // goes to and fro
	run     struct{} // begins the game
	started struct{} // asks whether an actor is there
)

// game is what the actors of one run share.
type game struct {
	window         int
	share          int64
	started, ended *latch
}

func (g *game) waitForStarts(_ *actor.Context, msg any) {
	if _, ok := msg.(*started); ok {
		g.started.hit()
	}
}

func (g *game) destination(v Variant) *actor.Props {
	if v == ActorBase {
		return actor.NewProps(func() actor.Actor { return destination{} })
	}
	return actor.NewProps(func() actor.Actor {
		return actor.Behavior(
			actor.On(func(ctx *actor.Context, m *ball) { ctx.Reply(m) }),
			actor.On(func(ctx *actor.Context, m *started) { ctx.Reply(m) }))
	})
}

func (g *game) client(v Variant, to *actor.Ref) *actor.Props {
	return actor.NewProps(func() actor.Actor {
		c := &client{game: g, to: to}
		if v == ActorBase {
			return c
		}
		hit := c.ball
		if v == AsyncActor {
			hit = func(ctx *actor.Context, m *ball) {
				actor.Await(ctx, func(context.Context) (*ball, error) { return m, nil },
					func(ctx *actor.Context, m *ball, _ error) { c.ball(ctx, m) })
			}
		}
		return actor.Behavior(actor.On(hit), actor.On(c.run), actor.On(func(ctx *actor.Context, m *started) { ctx.Reply(m) }))
	})
}

// destination sends every message back.
type destination struct{}

// Receive implements actor.Actor.
func (destination) Receive(ctx *actor.Context, msg any) {
	switch msg.(type) {
	case *ball, *started:
		ctx.Reply(msg)
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
	switch m := msg.(type) {
	case *ball:
		c.ball(ctx, m)
	case *run:
		c.run(ctx, m)
	case *started:
		ctx.Reply(m)
	}
}

func (c *client) ball(ctx *actor.Context, m *ball) {
	c.received++
	if c.sent < c.share {
		c.sent++
		ctx.Tell(c.to, m)
	} else if c.received == c.share {
		c.ended.hit()
	}
}

func (c *client) run(ctx *actor.Context, _ *run) {
	hit := &ball{}
	for range min(int64(c.window), c.share) {
		c.sent++
		ctx.Tell(c.to, hit)
	}
}
