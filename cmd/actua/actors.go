package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/internal/akkanode"
)

func (a *app) actorsCommand() *cobra.Command {
	return group("actors", "Talk to actors of other programs", `Talk to actors of other programs over Akka.NET's remoting, and be such a program.
PATH is akka.tcp://SYSTEM@HOST:PORT/user/NAME, ADDRESS the part before /user.`,
		"  actua actors node --port 9000\n  actua actors ask --to akka.tcp://NetSys@127.0.0.1:9000/user/echo hello",
		a.actorsNodeCommand(), a.actorsTellCommand(), a.actorsAskCommand(), a.actorsIdentifyCommand(), a.actorsTreeCommand())
}

// separate is a flag of true or false whose value is a word of its own, as the Akka.NET node has them.
type separate struct{ to *bool }

func (s separate) String() string {
	if s.to == nil {
		return ""
	}
	return strconv.FormatBool(*s.to)
}

func (s separate) Set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("true or false is wanted")
	}
	*s.to = v
	return nil
}

func (separate) Type() string { return "true|false" }

// nodeFlags are those of remoting.
type nodeFlags struct {
	cfg   akkanode.Config
	level string
}

func newNodeFlags() *nodeFlags { return &nodeFlags{cfg: akkanode.Defaults(), level: "WARNING"} }

func (f *nodeFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.cfg.Frame, "frame", f.cfg.Frame, "largest frame in bytes; the other node's has to be the same")
	fs.StringVar(&f.level, "loglevel", f.level, "what is logged on standard error: DEBUG, INFO, WARNING, ERROR, OFF")
	fs.StringVar(&f.cfg.TLS.Cert, "tls-cert", "", "PKCS#12 file with certificate and key; turns TLS on")
	fs.StringVar(&f.cfg.TLS.Password, "tls-password", "", "its password")
	fs.Var(separate{&f.cfg.TLS.Mutual}, "tls-mutual", "whether both sides have to show a certificate")
	fs.Var(separate{&f.cfg.TLS.Suppress}, "tls-suppress", "whether any certificate will do")
}

// config checks the flags.
func (f *nodeFlags) config(a *app, cmd *cobra.Command) (akkanode.Config, error) {
	cfg := f.cfg
	level, err := akkanode.Level(f.level)
	if err != nil {
		return cfg, usage("--loglevel: %v%s", err, didYouMean(f.level, akkanode.Levels()))
	}
	cfg.Logger = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	cfg.Version = version()
	for _, name := range []string{"tls-password", "tls-mutual"} {
		if cfg.TLS.Cert == "" && cmd.Flags().Changed(name) {
			return cfg, usage("--%s: TLS needs a certificate: --tls-cert FILE", name)
		}
	}
	for name, port := range map[string]int{"port": cfg.Port, "public-port": cfg.PublicPort} {
		if port < 0 || port > 1<<16-1 {
			return cfg, usage("--%s %d: a number from 0 to 65535 is wanted", name, port)
		}
	}
	if cfg.Frame < 32000 {
		return cfg, usage("--frame %d: at least 32000 bytes are wanted, such as 128000", cfg.Frame)
	}
	if cfg.Gate < 0 {
		return cfg, usage("--gate %v: a duration above zero is wanted, such as 1s", cfg.Gate)
	}
	return cfg, nil
}

func (a *app) actorsNodeCommand() *cobra.Command {
	f := newNodeFlags()
	cmd := &cobra.Command{
		Use:   "node",
		Short: "A node that does what JSON lines on standard input say",
		Long: `A node with actors to talk to, which does what JSON lines on standard input say and tells
what happens on standard output. docs/cli.md lists commands and events. The end of the
input ends it.`,
		Example: "  actua actors node --system NetSys --port 9000",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(a, cmd)
			if err != nil {
				return err
			}
			if err := actor.ValidSystemName(cfg.System); err != nil {
				return usage("--system: %v", err)
			}
			cfg.Crash = func() { os.Exit(128 + 6) } // as a shell shows an abort
			n, err := akkanode.Open(cfg, a.out)
			if err != nil {
				return nodeError(err, &cfg)
			}
			if err := n.Run(cmd.Context(), a.in); err != nil {
				return ourPart(err, "the node did not end well: %v", err)
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.cfg.System, "system", f.cfg.System, "name of the actor system")
	fs.StringVar(&f.cfg.Host, "host", f.cfg.Host, "host to listen on, and what others are told")
	fs.IntVar(&f.cfg.Port, "port", 0, "port to listen on; 0 is any")
	fs.IntVar(&f.cfg.PublicPort, "public-port", 0, "port that others are told; 0 is the one to listen on")
	fs.DurationVar(&f.cfg.Gate, "gate", f.cfg.Gate, "how long a node is left alone after a failure")
	f.register(cmd)
	return cmd
}

// nodeError is why a node could not be made.
func nodeError(err error, cfg *akkanode.Config) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return ourPart(err, "another program listens on port %d of %s already: stop it, or choose another one with --port", cfg.Port, cfg.Host)
	case errors.Is(err, syscall.EACCES):
		return ourPart(err, "listening on port %d is not permitted: choose one above 1023 with --port", cfg.Port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return ourPart(err, "%s is no address of this machine: choose one with --host", cfg.Host)
	}
	return ourPart(err, "%v", err)
}

// askFlags are those of the commands to another node.
type askFlags struct {
	*nodeFlags
	to, typ string
	timeout time.Duration
}

func (f *askFlags) register(cmd *cobra.Command, to string, typ bool) {
	fs := cmd.Flags()
	fs.StringVar(&f.to, "to", "", to)
	if typ {
		fs.StringVar(&f.typ, "type", "string", "type of the message: "+strings.Join(akkanode.Types(), ", "))
	}
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "how long to wait")
	f.nodeFlags.register(cmd)
}

// value is the VALUE of the command line as JSON: texts may be written as they are.
func (f *askFlags) value(args []string) (json.RawMessage, error) {
	if !slices.Contains(akkanode.Types(), f.typ) {
		return nil, usage("--type %s: there is no such type%s", f.typ, didYouMean(f.typ, akkanode.Types()))
	}
	switch f.typ {
	case "poison", "kill":
		if len(args) > 0 {
			return nil, usage("%q is one argument too many: --type %s has no value", args[0], f.typ)
		}
		return nil, nil
	}
	if len(args) == 0 {
		return nil, usage("VALUE is missing: --type %s has one", f.typ)
	}
	text := json.RawMessage(args[0])
	switch f.typ {
	case "string", "bytes", "ref", "protobuf", "success", "failure", "identify":
		text, _ = json.Marshal(args[0])
	}
	if f.typ == "ref" {
		if _, err := actor.ParsePath(args[0]); err != nil {
			return nil, usage("VALUE: %v", err)
		}
	} else if _, err := akkanode.Value(f.typ, text); err != nil {
		return nil, usage("VALUE %q is no %s: %v", shorten(args[0], 60), f.typ, err)
	}
	return text, nil
}

// path checks --to.
func (f *askFlags) path() (actor.Path, error) {
	if f.to == "" {
		return actor.Path{}, usage("--to is missing, such as --to akka.tcp://NetSys@127.0.0.1:9000/user/echo")
	}
	p, err := actor.ParsePath(f.to)
	if err != nil {
		return p, usage("--to: %v", err)
	}
	addr := p.Address()
	switch {
	case !addr.HasGlobalScope() || addr.Port() <= 0:
		return p, usage("--to %s has no host and port: akka.tcp://NetSys@127.0.0.1:9000/user/echo has", f.to)
	case addr.Protocol() == "akka.ssl.tcp" && f.cfg.TLS.Cert == "":
		return p, usage("--to %s is a node with TLS: --tls-cert FILE is needed", f.to)
	case addr.Protocol() == "akka.tcp" && f.cfg.TLS.Cert != "":
		return p, usage("--to %s is a node without TLS: leave --tls-cert out, or write akka.ssl.tcp", f.to)
	case addr.Protocol() != "akka.tcp" && addr.Protocol() != "akka.ssl.tcp":
		return p, usage("--to %s: akka.tcp:// and akka.ssl.tcp:// can be reached", f.to)
	}
	return p, nil
}

// talk connects, and does f.
func (a *app) talk(cmd *cobra.Command, f *askFlags, to actor.Address, do func(ctx context.Context, c *akkanode.Client) error) error {
	cfg, err := f.config(a, cmd)
	if err != nil {
		return err
	}
	if f.timeout <= 0 {
		return usage("--timeout %v: a time above zero is wanted, such as 10s", f.timeout)
	}
	cfg.System = "actua"
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	c, err := akkanode.Connect(ctx, cfg, to)
	if err == nil {
		stop := a.progress(func() string { return "waiting for " + to.String() })
		err = do(ctx, c)
		stop()
		err = errors.Join(err, c.Close())
	}
	var lost *akkanode.ConnectError
	switch {
	case err == nil, cmd.Context().Err() != nil:
		return err
	case errors.As(err, &lost):
		hint := ""
		if lost.Step == "tcp" {
			hint = " (is the node running, and is the port right?)"
		}
		return &exitError{code: exitNoServer, text: lost.Error() + hint, err: err}
	case errors.Is(err, actor.ErrActorNotFound) && !errors.Is(err, context.DeadlineExceeded):
		return &exitError{code: exitBadStatus, text: fmt.Sprintf("there is no actor at %s", f.to), err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &exitError{code: exitBadStatus, text: fmt.Sprintf("the node is there, but %s did not answer in %v%s", f.to, f.timeout, longer), err: err}
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return &exitError{code: exitBadStatus, text: err.Error(), err: err}
}

// event prints what came of a command: for people the one field that matters, or its name.
func (a *app) event(e akkanode.Event, field string) error {
	if a.json {
		_, err := a.out.Write(append(e.Append(nil), '\n'))
		return outputError(err)
	}
	text := e.Name
	if field != "" {
		text = e.Text(field)
	}
	return a.printf("%s\n", cleanLines(text))
}

// answeredWith prints an event; where the command has failed only for scripts, since the error tells people.
func (a *app) answeredWith(e akkanode.Event, err error, field string) error {
	if err == nil {
		return a.event(e, field)
	}
	if _, lost := errors.AsType[*akkanode.ConnectError](err); lost || !a.json {
		return err
	}
	return errors.Join(a.event(e, ""), err)
}

func (a *app) messageCommand(name, short, long string, send func(c *akkanode.Client, ctx context.Context, to, typ string, value json.RawMessage) (akkanode.Event, error), field string) *cobra.Command {
	f := &askFlags{nodeFlags: newNodeFlags()}
	cmd := &cobra.Command{
		Use:     name + " --to PATH [VALUE]",
		Short:   short,
		Long:    long,
		Example: fmt.Sprintf("  actua actors %s --to akka.tcp://NetSys@127.0.0.1:9000/user/echo hello\n  actua actors %[1]s --to akka.tcp://NetSys@127.0.0.1:9000/user/echo --type int 42", name),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%q is one argument too many: a VALUE of several words goes into quotes", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := f.path()
			if err != nil {
				return err
			}
			value, err := f.value(args)
			if err != nil {
				return err
			}
			return a.talk(cmd, f, p.Address(), func(ctx context.Context, c *akkanode.Client) error {
				e, err := send(c, ctx, f.to, f.typ, value)
				return a.answeredWith(e, err, field)
			})
		},
	}
	f.register(cmd, "path of the actor", true)
	return cmd
}

func (a *app) actorsTellCommand() *cobra.Command {
	return a.messageCommand("tell", "Send a message to an actor", `Send a message to an actor. That it is there is asked before; whether it handles the
message nobody tells.`, (*akkanode.Client).Tell, "")
}

func (a *app) actorsAskCommand() *cobra.Command {
	return a.messageCommand("ask", "Send a message to an actor and show the answer", `Send a message to an actor and show its answer. An answer that tells of a failure, and
none within --timeout, is exit code 1.`, (*akkanode.Client).Ask, "value")
}

func (a *app) actorsIdentifyCommand() *cobra.Command {
	f := &askFlags{nodeFlags: newNodeFlags()}
	cmd := &cobra.Command{
		Use:     "identify --to PATH",
		Short:   "Ask whether an actor is there",
		Long:    `Ask whether an actor is there, and show its path with the number of its incarnation.`,
		Example: "  actua actors identify --to akka.tcp://NetSys@127.0.0.1:9000/user/echo",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.path()
			if err != nil {
				return err
			}
			return a.talk(cmd, f, p.Address(), func(ctx context.Context, c *akkanode.Client) error {
				e, err := c.Identify(ctx, f.to)
				return a.answeredWith(e, err, "path")
			})
		},
	}
	f.register(cmd, "path of the actor", false)
	return cmd
}

func (a *app) actorsTreeCommand() *cobra.Command {
	f := &askFlags{nodeFlags: newNodeFlags()}
	cmd := &cobra.Command{
		Use:   "tree --to ADDRESS",
		Short: "Show all actors of a node",
		Long: `Show all actors of a node, from the root down: class, messages that wait, children. Only
nodes of this program answer.`,
		Example: "  actua actors tree --to akka.tcp://NetSys@127.0.0.1:9000",
		Args:    nothingMore,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.path()
			if err != nil {
				return err
			}
			return a.talk(cmd, f, p.Address(), func(ctx context.Context, c *akkanode.Client) error {
				var t table
				err := c.Tree(ctx, p.Address(), func(x akkanode.TreeActor) error {
					if a.json {
						return a.print(new(line).set("path", x.Path).set("class", x.Class).set("mailbox", x.Mailbox).set("children", x.Children))
					}
					t.add(clean(x.Path), fmt.Sprintf("%d waiting", x.Mailbox), fmt.Sprintf("%d below", x.Children), clean(x.Class))
					return nil
				})
				if err != nil || a.json {
					return err
				}
				return a.printf("%s", t.String())
			})
		},
	}
	f.register(cmd, "address of the node", false)
	return cmd
}
