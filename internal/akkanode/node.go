package akkanode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
)

// Config is that of a node. Start from Defaults.
type Config struct {
	System     string
	Host       string // to listen on, and what others are told
	Port       int    // 0: any
	PublicPort int    // what others are told; 0: Port
	Frame      int    // largest frame in bytes
	Gate       time.Duration
	TLS        TLS
	Version    string // for the ready event
	Logger     *slog.Logger
	Crash      func() // ends the process at once

	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// TLS is on where there is a certificate.
type TLS struct {
	Cert, Password string // a PKCS#12 file
	Mutual         bool   // both sides show a certificate
	Suppress       bool   // any certificate will do
}

// Defaults are those of the Akka.NET node.
func Defaults() Config {
	return Config{System: "NetSys", Host: "127.0.0.1", Frame: 128000, Gate: time.Second, TLS: TLS{Suppress: true}}
}

// Levels are the names of log levels, by Akka.NET's names.
func Levels() []string { return []string{"DEBUG", "INFO", "WARNING", "ERROR", "OFF"} }

// Level is the level of such a name.
func Level(name string) (slog.Level, error) {
	switch strings.ToUpper(name) {
	case "DEBUG":
		return slog.LevelDebug, nil
	case "INFO":
		return slog.LevelInfo, nil
	case "WARNING":
		return slog.LevelWarn, nil
	case "ERROR":
		return slog.LevelError, nil
	case "OFF":
		return slog.LevelError + 100, nil
	}
	return 0, fmt.Errorf("there is no log level %q: there is %s", name, strings.Join(Levels(), ", "))
}

// A Node is a system that others can reach.
type Node struct {
	cfg Config
	rem *remote.Remoting
	sys *actor.System

	collector, controller *actor.Ref

	mu  sync.Mutex // of the output
	out io.Writer
	buf []byte
	err error
	bad chan struct{} // closed when the output cannot be written
}

// Unlimited is what the Akka.NET node may have waiting, which has no limit.
const (
	unlimitedMessages = 50_000_000
	unlimitedBytes    = 1 << 30
)

// Settings are the settings of remoting that the configuration means.
func (c *Config) Settings() *remote.Settings {
	s := remote.DefaultSettings()
	s.Hostname, s.Port, s.PublicPort = c.Host, c.Port, c.PublicPort
	s.MaximumFrameSize, s.RetryGateClosedFor = c.Frame, c.Gate
	s.PendingSendLimit = unlimitedMessages
	if c.TLS.Cert != "" {
		s.TLS.Enable = true
		s.TLS.CertificatePath, s.TLS.CertificatePassword = c.TLS.Cert, c.TLS.Password
		s.TLS.RequireMutualAuthentication, s.TLS.SuppressValidation = c.TLS.Mutual, c.TLS.Suppress
	}
	return &s
}

// Open makes a node. Its events go to out, a JSON object a line; the first is "ready".
func Open(cfg Config, out io.Writer) (*Node, error) {
	n := &Node{cfg: cfg, out: out, bad: make(chan struct{})}
	registry, err := newRegistry()
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	n.rem = remote.New(remote.Config{
		Settings: cfg.Settings(), Registry: registry, SendLimit: unlimitedBytes, Logger: cfg.Logger, Dial: cfg.dial,
		Deployable: map[string]func([]any) (*actor.Props, error){
			echoClass:      func([]any) (*actor.Props, error) { return echoProps(), nil },
			sinkClass:      func([]any) (*actor.Props, error) { return sinkProps(), nil },
			collectorClass: func([]any) (*actor.Props, error) { return collectorProps(n.emit), nil },
		},
	})
	n.sys, err = actor.NewSystem(cfg.System, actor.Config{
		Logger: cfg.Logger, Provider: &provider{Remoting: n.rem}, LogDeadLetters: actor.NoLog,
	})
	if err != nil {
		return nil, err
	}
	if err := n.furnish(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// furnish makes the actors.
func (n *Node) furnish() error {
	for _, a := range []struct {
		name  string
		props *actor.Props
		ref   **actor.Ref
	}{
		{"echo", echoProps(), nil}, {"watchme", echoProps(), nil}, {"sink", sinkProps(), nil},
		{"collector", collectorProps(n.emit), &n.collector}, {"controller", controllerProps(n.emit), &n.controller},
	} {
		ref, err := n.sys.Spawn(a.props, a.name)
		if err != nil {
			return err
		}
		if a.ref != nil {
			*a.ref = ref
		}
	}
	n.emit(Event{"ready", []Field{{"address", n.rem.Address().String()}, {"uid", n.rem.UID()}, {"version", n.cfg.Version}}})
	return n.followLifecycle()
}

// Address is by which others reach the node.
func (n *Node) Address() actor.Address { return n.rem.Address() }

// System is the node's actors.
func (n *Node) System() *actor.System { return n.sys }

// closeTime is how long the end of a node may take.
const closeTime = 15 * time.Second

// Close ends the node in good order.
func (n *Node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return n.sys.Shutdown(ctx)
}

// emit writes an event.
func (n *Node) emit(e Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return
	}
	n.buf = append(e.Append(n.buf[:0]), '\n')
	if _, err := n.out.Write(n.buf); err != nil {
		n.err = err
		close(n.bad)
	}
	if cap(n.buf) > 1<<20 {
		n.buf = nil
	}
}

// failed is the event of a command that could not be done.
func failed(err error) Event { return Event{"error", []Field{{"error", err.Error()}}} }

// provider is remoting, and the actor that shows the tree.
type provider struct {
	*remote.Remoting
	port *actor.Port
}

// Start is for the system.
func (p *provider) Start(port *actor.Port) error {
	p.port = port
	return p.Remoting.Start(port)
}

// Started is for the system.
func (p *provider) Started() error {
	if err := p.Remoting.Started(); err != nil {
		return err
	}
	_, err := p.port.SpawnSystem(treeProps(p.port.System()), treeName)
	return err
}
