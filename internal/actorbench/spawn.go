package actorbench

import (
	"context"
	"fmt"
	"time"

	"github.com/actua/actua/actor"
)

// Spawn is Akka.NET's SpawnBenchmark (src/benchmark/SpawnBenchmark): an actor of level n makes ten of level n-1
// and adds up what they answer; one of level 1 answers its ordinal. Each tells its parent, and stops.
type Spawn struct {
	Level int           // 7 in the original: 1,111,111 actors
	Limit time.Duration // a run that takes longer has failed
}

// SpawnResult is one run.
type SpawnResult struct {
	Sum    int64 // of the ordinals
	Actors int64
	Usage  Usage
}

// Actors is how many actors a run makes.
func (b Spawn) Actors() (n int64) {
	for range b.Level {
		n = n*10 + 1
	}
	return n
}

// Sum is what they add up to: 499,999,500,000 in the original.
func (b Spawn) Sum() int64 {
	leaves := int64(1)
	for range b.Level - 1 {
		leaves *= 10
	}
	return leaves * (leaves - 1) / 2
}

// Spawner is a system in which Spawn can be run several times, as the original does.
type Spawner struct {
	b       Spawn
	s       *actor.System
	root    *actor.Ref
	results chan int64
}

// Open makes the system and its root actor.
func (b Spawn) Open() (*Spawner, error) {
	s, err := newSystem("main", 0)
	if err != nil {
		return nil, err
	}
	r := &Spawner{b: b, s: s, results: make(chan int64, 1)}
	if r.root, err = s.Spawn(actor.FromFunc(r.receive), "root"); err != nil {
		end(s)
		return nil, err
	}
	return r, nil
}

// Close ends the system.
func (r *Spawner) Close() { end(r.s) }

// Run makes the tree once. The sum may be wrong: who calls compares it with [Spawn.Sum].
func (r *Spawner) Run(ctx context.Context) (SpawnResult, error) {
	m := startMeter()
	r.root.Tell(&branch{level: r.b.Level})
	sum, err := await(ctx, r.results, r.b.Limit)
	if err != nil {
		return SpawnResult{}, err
	}
	return SpawnResult{Sum: sum, Actors: r.b.Actors(), Usage: m.stop(time.Now())}, nil
}

// SpawnLine is the original's line of run n.
func SpawnLine(n int, r SpawnResult) string {
	return fmt.Sprintf("Run %d result: %d in %d ms", n, r.Sum, r.Usage.Wall.Milliseconds())
}

// receive is the root actor.
func (r *Spawner) receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case *branch:
		if ref, err := ctx.Spawn(branchProps, ""); err != nil {
			ctx.Fail(err)
		} else {
			ctx.Tell(ref, m)
		}
	case int64:
		r.results <- m
	}
}

// branch asks a node to answer for the leaves below it, of which number is the ordinal of the first at its level.
type branch struct {
	level  int
	number int64
}

// node is an actor of the tree.
type node struct {
	todo  int
	count int64
}

var branchProps = actor.NewProps(func() actor.Actor { return &node{todo: 10} })

// Receive implements actor.Actor.
func (n *node) Receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case *branch:
		if m.level == 1 {
			ctx.Tell(ctx.Parent(), m.number)
			ctx.Stop(ctx.Self())
			return
		}
		for i := range int64(10) {
			ref, err := ctx.Spawn(branchProps, "")
			if err != nil {
				ctx.Fail(err)
				return
			}
			ctx.Tell(ref, &branch{m.level - 1, m.number*10 + i})
		}
	case int64:
		n.todo--
		n.count += m
		if n.todo == 0 {
			ctx.Tell(ctx.Parent(), n.count)
			ctx.Stop(ctx.Self())
		}
	}
}
