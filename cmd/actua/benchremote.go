package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/actua/actua/internal/actorbench"
	"github.com/actua/actua/internal/akkanode"
)

func (a *app) benchRemoteCommand() *cobra.Command {
	f := &benchFlags{}
	to := &askFlags{nodeFlags: newNodeFlags()}
	b := actorbench.DefaultRemotePingPong()
	var clients []int
	cmd := &cobra.Command{
		Use:   "remote-ping-pong",
		Short: "Pairs of actors in two systems that send a message to and fro",
		Long: `Akka.NET's RemotePingPong: actors of one system send "hit" to actors that they have made in
another one, over TCP, 50 in flight each. Both systems are in this process, and new for
each row. Columns are the original's; then come processor time and bytes allocated, of
both systems. With --to the echo is an actor elsewhere, of any program that speaks Akka.NET's
remoting, and the costs are those of this side.`,
		Example: "  actua bench actors remote-ping-pong\n  actua bench actors remote-ping-pong --to akka.tcp://NetSys@127.0.0.1:9000/user/echo --clients 10",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := allAboveZero("clients", clients); err != nil {
				return err
			}
			if b.Window < 1 {
				return aboveZero("window", b.Window, 50)
			}
			if int64(b.Window) > f.repeat {
				return usage("--repeat %d: less than a --window of %d", f.repeat, b.Window)
			}
			if cmd.Flags().Changed("to") {
				p, err := to.path()
				if err != nil {
					return err
				}
				b.To = to.to
				if b.Host, err = akkanode.LocalHost(cmd.Context(), p.Address()); err != nil {
					return a.unreachable(cmd.Context(), err)
				}
			}
			b.Each, b.Limit = f.repeat, f.timeout
			return a.unreachable(cmd.Context(), measured(a.benchRemote(cmd.Context(), b, clients, f.rounds)))
		},
	}
	f.register(cmd, 1, "how often to go through the rows", b.Each, "messages that each client sends")
	cmd.Flags().IntVar(&b.Window, "window", b.Window, "messages in flight a client")
	cmd.Flags().IntSliceVar(&clients, "clients", actorbench.RemoteClients(), "the rows")
	cmd.Flags().StringVar(&to.to, "to", "", "path of an echo actor of another node")
	return cmd
}

// unreachable gives an echo that cannot be reached its exit code.
func (a *app) unreachable(ctx context.Context, err error) error {
	var lost *akkanode.ConnectError
	if ctx.Err() == nil && (errors.As(err, &lost) || errors.Is(err, actorbench.ErrUnreachable)) {
		return &exitError{code: exitNoServer, text: err.Error(), err: err}
	}
	return err
}

func (a *app) benchRemote(ctx context.Context, b actorbench.RemotePingPong, clients []int, rounds int) error {
	var now stage
	defer a.progress(now.String)()
	if !a.json {
		if err := a.printf("%s\n%s\n", b.Header(), actorbench.RemoteColumns); err != nil {
			return err
		}
	}
	for i := range rounds {
		for j, n := range clients {
			now.set("round %d of %d, row %d of %d", i+1, rounds, j+1, len(clients))
			r, err := b.Run(ctx, n)
			if err != nil {
				return err
			}
			if a.json {
				l := (&line{}).set("clients", n).set("messages", r.Messages).set("msgsPerSec", r.MsgsPerSec).set("totalMs", millis(r.Usage.Wall)).
					set("startThreads", r.StartThreads).set("endThreads", r.EndThreads)
				err = a.print(l.cost(r.Usage, r.Messages))
			} else {
				err = a.printf("%s\n", actorbench.RemoteLine(r))
			}
			if err != nil {
				return err
			}
		}
	}
	if !a.json {
		return a.printf("Done..\n")
	}
	return nil
}
