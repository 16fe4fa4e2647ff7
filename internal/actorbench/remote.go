package actorbench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
)

// RemotePingPong is Akka.NET's benchmark of remoting (src/benchmark/RemotePingPong): two systems in one process, A and
// B. For each client A deploys an echo actor onto B, and has an actor of its own that gets Window times "hit" and passes on
// to the echo what it gets, until it has sent Each messages; the first one that comes after that ends it.
type RemotePingPong struct {
	Each   int64         // messages a client sends: 100,000 in the original
	Window int           // in flight a client: 50 in the original
	Limit  time.Duration // a run that takes longer has failed
	To     string        // the path of an echo actor elsewhere, which all clients share, instead of those on B
	Host   string        // of this machine, which the other node is told; empty: 127.0.0.1
}

// DefaultRemotePingPong is the original's workload.
func DefaultRemotePingPong() RemotePingPong {
	return RemotePingPong{Each: 100_000, Window: 50, Limit: 5 * time.Minute}
}

// RemoteClients are the original's rows.
func RemoteClients() []int { return []int{1, 5, 10, 15, 20, 25, 30} }

// RemoteResult is a row.
type RemoteResult struct {
	Clients                  int
	Messages                 int64 // two a round trip
	MsgsPerSec               int64 // -1 below a millisecond
	StartThreads, EndThreads int
	Usage                    Usage
}

// Header is what the original prints first.
func (p RemotePingPong) Header() string {
	lines := strings.Split(ReadMachine().Header(2*runtime.GOMAXPROCS(0), 2*p.Each), "\n")
	for i, l := range lines {
		if name, value, ok := strings.Cut(l, ":"); ok {
			if strings.HasPrefix(name, "Messages") {
				name += " per client"
			}
			lines[i] = fmt.Sprintf("%-35s%s", name+":", strings.TrimLeft(value, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// RemoteColumns is the line above the rows; processor time and allocation come after the original's.
const RemoteColumns = "Num clients, Total [msg], Msgs/sec, Total [ms], Start Threads, End Threads, CPU [s], Alloc [B/msg]"

// RemoteLine is a row under RemoteColumns.
func RemoteLine(r RemoteResult) string {
	_, _, _, bytes := r.Usage.PerMessage(r.Messages)
	return fmt.Sprintf("%11d, %11d, %8d, %10.2f, %13d, %11d, %7.2f, %13.2f",
		r.Clients, r.Messages, r.MsgsPerSec, ms(r.Usage.Wall), r.StartThreads, r.EndThreads, r.Usage.CPU.Seconds(), bytes)
}

// ErrUnreachable is an echo actor that does not answer.
var ErrUnreachable = errors.New("the echo actor does not answer")

const (
	remoteEcho = "RemotePingPong.EchoActor, RemotePingPong"
	hit        = "hit"
	readyTime  = 10 * time.Second
)

// newRemoteSystem makes a system that others can reach at a free port of this machine.
func newRemoteSystem(name, host string) (*actor.System, *remote.Remoting, error) {
	set := remote.DefaultSettings()
	set.Hostname, set.Port = host, 0
	r := remote.New(remote.Config{Settings: &set, Deployable: map[string]func([]any) (*actor.Props, error){
		remoteEcho: func([]any) (*actor.Props, error) { return remoteEchoProps(), nil },
	}})
	s, err := actor.NewSystem(name, actor.Config{Provider: r, Logger: slog.New(slog.DiscardHandler), LogDeadLetters: actor.NoLog})
	return s, r, err
}

func remoteEchoProps() *actor.Props {
	return actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }).WithClass(remoteEcho)
}

// Run measures one row, with systems of its own. It returns ErrLate when messages are missing, ErrUnreachable when an
// echo actor cannot be reached.
func (p RemotePingPong) Run(ctx context.Context, clients int) (r RemoteResult, err error) {
	r = RemoteResult{Clients: clients, Messages: int64(clients) * p.Each * 2, StartThreads: ReadMachine().Threads}
	host := p.Host
	if host == "" {
		host = "127.0.0.1"
	}
	a, _, err := newRemoteSystem("SystemA", host)
	if err != nil {
		return r, err
	}
	systems := []*actor.System{a}
	defer func() { endAll(systems) }()
	var node actor.Address
	if p.To == "" {
		b, at, err := newRemoteSystem("SystemB", host)
		if err != nil {
			return r, err
		}
		systems, node = append(systems, b), at.Address()
	}
	ended := newLatch(clients)
	actors := make([]*actor.Ref, clients)
	for i := range actors {
		echo, err := p.echo(ctx, a, node, i)
		if err != nil {
			return r, err
		}
		actors[i], err = a.Spawn(actor.NewProps(func() actor.Actor { return &remoteClient{to: echo, left: p.Each, toSend: p.Each, ended: ended} }), "benchmark"+strconv.Itoa(i))
		if err != nil {
			return r, err
		}
		if err := there(ctx, echo, actors[i]); err != nil {
			return r, err
		}
	}
	settle()
	m := startMeter()
	for _, c := range actors {
		for range p.Window {
			c.Tell(hit)
		}
	}
	if _, err := await(ctx, ended.done, p.Limit); err != nil {
		return r, err
	}
	r.Usage = m.stop(time.Now())
	r.MsgsPerSec = -1
	if whole := r.Usage.Wall.Milliseconds(); whole > 0 {
		r.MsgsPerSec = int64(math.Ceil(float64(r.Messages) / float64(whole) * 1000))
	}
	r.EndThreads = ReadMachine().Threads
	return r, nil
}

// echo is the actor that answers client i: deployed onto B, or the one that was named.
func (p RemotePingPong) echo(ctx context.Context, a *actor.System, node actor.Address, i int) (*actor.Ref, error) {
	if p.To == "" {
		return a.Spawn(remoteEchoProps().WithScope(node), "echo"+strconv.Itoa(i))
	}
	to, err := a.Select(p.To)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	ref, err := to.ResolveOne(within)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return ref, err
}

// there asks both of a pair who they are, as the original does before it starts.
func there(ctx context.Context, pair ...*actor.Ref) error {
	within, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for _, ref := range pair {
		id, err := actor.Ask[actor.ActorIdentity](within, ref, actor.Identify{})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrUnreachable, ref, err)
		case id.Subject == nil:
			return fmt.Errorf("%w: %s is not there", ErrUnreachable, ref)
		}
	}
	return nil
}

// endAll ends systems side by side: each waits for the other's answers.
func endAll(systems []*actor.System) {
	var wg sync.WaitGroup
	for _, s := range systems {
		wg.Go(func() { end(s) })
	}
	wg.Wait()
}

// remoteClient passes on what it gets.
type remoteClient struct {
	to           *actor.Ref
	left, toSend int64 // to receive and to send
	ended        *latch
}

// Receive implements actor.Actor.
func (c *remoteClient) Receive(ctx *actor.Context, msg any) {
	if c.left == 0 {
		c.left = -1 // what comes later does not count
		c.ended.hit()
	}
	if c.left < 0 {
		return
	}
	c.left--
	if c.toSend > 0 {
		c.toSend--
		ctx.Tell(c.to, msg)
	}
}
