package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/actorbench"
)

func (a *app) benchPingPongCommand() *cobra.Command {
	f := &benchFlags{}
	b := actorbench.DefaultPingPong(runtime.GOMAXPROCS(0))
	var throughput []int
	var async bool
	cmd := &cobra.Command{
		Use:   "ping-pong",
		Short: "Pairs of actors that send a message to and fro",
		Long: `Akka.NET's PingPong: pairs of actors send messages to and fro, 1000 in flight a pair.
A row has the dispatcher's throughput: how many messages an actor may handle before
others have their turn. Columns are the original's, once for actors written as an
actor.Actor (ActorBase) and once for an actor.Behavior (ReceiveActor); then come processor
time and bytes allocated.`,
		Example: "  actua bench actors ping-pong\n  actua bench actors ping-pong --repeat 1000000 --throughput 30,100",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if b.Clients < 1 {
				return aboveZero("clients", b.Clients, 2)
			}
			if b.Window < 1 {
				return aboveZero("window", b.Window, 1000)
			}
			if err := allAboveZero("throughput", throughput); err != nil {
				return err
			}
			if f.repeat < int64(b.Clients) {
				return usage("--repeat %d: less than one round trip for each of %d --clients", f.repeat, b.Clients)
			}
			b.Repeat, b.Limit = f.repeat, f.timeout
			return measured(a.benchPingPong(cmd.Context(), b, actorbench.Variants(async), throughput, f.rounds))
		},
	}
	f.register(cmd, 1, "how often to go through the rows", b.Repeat, "round trips, of all pairs together")
	cmd.Flags().IntVar(&b.Clients, "clients", b.Clients, "pairs of actors (default: one a processor)")
	cmd.Flags().IntVar(&b.Window, "window", b.Window, "messages in flight a pair")
	cmd.Flags().IntSliceVar(&throughput, "throughput", actorbench.Throughputs(), "the rows")
	cmd.Flags().BoolVar(&async, "async", false, "also with clients that await each message (AsyncActor); slow, so give --repeat")
	cmd.Flags().Lookup("throughput").DefValue = "1,5,10,15, 20 to 90, 100 to 900"
	return cmd
}

func (a *app) benchPingPong(ctx context.Context, b actorbench.PingPong, variants []actorbench.Variant, throughput []int, rounds int) error {
	var now stage
	defer a.progress(now.String)()
	if !a.json {
		if err := a.printf("%s\n", b.Header()); err != nil {
			return err
		}
		for _, v := range variants {
			d, err := b.FirstStart(ctx, v)
			if err != nil {
				return err
			}
			if err := a.printf("%-12s first start time: %5.2f ms\n", v, float64(d)/float64(time.Millisecond)); err != nil {
				return err
			}
		}
		if err := a.printf("\n%s\n", actorbench.PingPongColumns(variants)); err != nil {
			return err
		}
	}
	for i := range rounds {
		for j, t := range throughput {
			now.set("round %d of %d, row %d of %d", i+1, rounds, j+1, len(throughput))
			r := make([]actorbench.PingPongResult, len(variants))
			for _, v := range variants {
				var err error
				if r[v], err = b.Run(ctx, v, t); err != nil {
					return err
				}
			}
			if !a.json {
				if err := a.printf("%s\n", actorbench.PingPongLine(t, r)); err != nil {
					return err
				}
				continue
			}
			l := (&line{}).set("throughput", t)
			for _, v := range variants {
				one := (&line{}).set("msgsPerSec", r[v].MsgsPerSec).set("startMs", millis(r[v].Start)).set("totalMs", millis(r[v].Total))
				l.set(strings.ToLower(v.String()[:1])+v.String()[1:], one.cost(r[v].Usage, r[v].Messages).object())
			}
			if err := a.print(l); err != nil {
				return err
			}
		}
	}
	if !a.json {
		return a.printf("Done..\n")
	}
	return nil
}

func millis(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 2) }

func (a *app) benchSpawnCommand() *cobra.Command {
	f := &benchFlags{}
	b := actorbench.Spawn{Level: 7}
	cmd := &cobra.Command{
		Use:   "spawn",
		Short: "A tree of 1,111,111 actors that count and stop",
		Long: `Akka.NET's SpawnBenchmark: an actor makes ten, each of which makes ten, and so on; those
of the last level answer their ordinal, the others the sum of the ten answers, and stop.
Its lines are the original's; below each stands what the run has cost.`,
		Example: "  actua bench actors spawn\n  actua bench actors spawn --level 5 --rounds 3",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if b.Level < 1 || b.Level > 8 {
				return usage("--level %d: a number from 1 to 8 is wanted; 7 makes 1,111,111 actors", b.Level)
			}
			b.Limit = f.timeout
			return measured(a.benchSpawn(cmd.Context(), b, f.rounds))
		},
	}
	f.register(cmd, 5, "how many runs", 0, "")
	cmd.Flags().IntVar(&b.Level, "level", b.Level, "levels of the tree")
	return cmd
}

func (a *app) benchSpawn(ctx context.Context, b actorbench.Spawn, rounds int) error {
	var now stage
	defer a.progress(now.String)()
	if !a.json {
		if err := a.printf("GC: GOGC=%s\n", actorbench.ReadMachine().GOGC); err != nil {
			return err
		}
	}
	s, err := b.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	wrong := 0
	for n := rounds; n >= 1; n-- { // the original counts down
		now.set("run %d", n)
		if !a.json {
			if err := a.printf("Start run %d\n", n); err != nil {
				return err
			}
		}
		r, err := s.Run(ctx)
		if err != nil {
			return err
		}
		if r.Sum != b.Sum() {
			wrong++
		}
		if a.json {
			l := (&line{}).set("run", n).set("result", r.Sum).set("ms", r.Usage.Wall.Milliseconds()).set("actors", r.Actors)
			err = a.print(l.cost(r.Usage, r.Actors))
		} else {
			_, _, allocs, bytes := r.Usage.PerMessage(r.Actors)
			err = a.printf("%s\n  CPU %.2f s, %.0f bytes and %.1f objects allocated an actor\n", actorbench.SpawnLine(n, r), r.Usage.CPU.Seconds(), bytes, allocs)
		}
		if err != nil {
			return err
		}
	}
	if wrong > 0 {
		return &exitError{code: exitBadStatus, text: fmt.Sprintf("%d of %d runs have a wrong result; right is %d", wrong, rounds, b.Sum())}
	}
	return nil
}
