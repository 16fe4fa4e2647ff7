// Command protoactor is Akka.NET's SpawnBenchmark on protoactor-go: the twin of ../actua.
package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

type start struct {
	level  int
	number int64
}

type node struct {
	todo  int
	count int64
}

var props = actor.PropsFromProducer(func() actor.Actor { return &node{todo: 10} })

func (n *node) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *start:
		if m.level == 1 {
			ctx.Send(ctx.Parent(), m.number)
			ctx.Stop(ctx.Self())
			return
		}
		for i := range int64(10) {
			ctx.Send(ctx.Spawn(props), &start{m.level - 1, m.number*10 + i})
		}
	case int64:
		n.todo--
		n.count += m
		if n.todo == 0 {
			ctx.Send(ctx.Parent(), n.count)
			ctx.Stop(ctx.Self())
		}
	}
}

func main() {
	quiet := actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })
	sys, results := actor.NewActorSystem(quiet), make(chan int64)
	root := sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case int64:
			results <- m
		case *start:
			ctx.Send(ctx.Spawn(props), m)
		}
	}))
	for n := 5; n >= 1; n-- {
		begin := time.Now()
		sys.Root.Send(root, &start{level: 7})
		fmt.Printf("Run %d result: %d in %d ms\n", n, <-results, time.Since(begin).Milliseconds())
	}
}
