// Command actua is Akka.NET's SpawnBenchmark on our runtime: the twin of ../protoactor.
package main

import (
	"fmt"
	"time"

	"github.com/actua/actua/actor"
)

type start struct {
	level  int
	number int64
}

type node struct {
	todo  int
	count int64
}

var props = actor.NewProps(func() actor.Actor { return &node{todo: 10} })

func (n *node) Receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case *start:
		if m.level == 1 {
			ctx.Tell(ctx.Parent(), m.number)
			ctx.Stop(ctx.Self())
			return
		}
		for i := range int64(10) {
			ctx.Tell(spawn(ctx), &start{m.level - 1, m.number*10 + i})
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

func spawn(ctx *actor.Context) *actor.Ref {
	ref, err := ctx.Spawn(props, "")
	if err != nil {
		panic(err)
	}
	return ref
}

func main() {
	sys, err := actor.NewSystem("main", actor.Config{})
	if err != nil {
		panic(err)
	}
	results := make(chan int64)
	root, err := sys.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
		switch m := msg.(type) {
		case int64:
			results <- m
		case *start:
			ctx.Tell(spawn(ctx), m)
		}
	}), "root")
	if err != nil {
		panic(err)
	}
	for n := 5; n >= 1; n-- {
		begin := time.Now()
		root.Tell(&start{level: 7})
		fmt.Printf("Run %d result: %d in %d ms\n", n, <-results, time.Since(begin).Milliseconds())
	}
}
