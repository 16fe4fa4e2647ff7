package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// Config is how a system is connected to others. The zero value listens on all addresses at port 2552, as Akka.NET does,
// and like that tells others that it is at 0.0.0.0, where they cannot reach it: set Settings.Hostname or
// Settings.PublicHostname.
type Config struct {
	// Settings are those with Akka.NET's names; nil is DefaultSettings. They are copied when the system starts.
	Settings *Settings

	// Registry has the serializers and the types that may cross; nil is serial.NewRegistry().
	Registry *serial.Registry

	// Deployable are the classes of actors that other nodes may have made here: by .NET type name, a function that
	// makes Props of the constructor's arguments.
	Deployable map[string]func(args []any) (*actor.Props, error)

	// SendLimit bounds the bytes that wait for one connection; what comes then is a dead letter. 0 is 64 MiB.
	SendLimit int

	// Logger gets what remoting has to say; nil is the system's.
	Logger *slog.Logger

	// Dial makes the connections to other nodes, and Listen takes theirs; nil is TCP. TLS, if the settings want it, is put
	// on top. Dial has to give up when ctx ends. Addresses are "host:port", IPv6 hosts in brackets, the network is "tcp".
	// Package remotetest has networks and faults for tests to put here.
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Listen func(ctx context.Context, network, address string) (net.Listener, error)

	transport transport // of this package's tests
}

// Check reports the first field that cannot work, by its name.
func (c *Config) Check() error {
	if c.SendLimit < 0 {
		return fmt.Errorf("SendLimit is %d bytes: it must not be negative", c.SendLimit)
	}
	for name, f := range c.Deployable {
		if name == "" || f == nil {
			return fmt.Errorf("class %q of Deployable: it needs a name and a function", name)
		}
	}
	if c.Settings == nil {
		return nil
	}
	if err := c.Settings.Check(); err != nil {
		return fmt.Errorf("Settings.%w", err)
	}
	return nil
}

const defaultSendLimit = 64 << 20
