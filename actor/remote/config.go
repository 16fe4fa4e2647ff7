package remote

import (
	"log/slog"
	"strconv"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/serial"
)

// Config is how a system is connected to others. The zero value listens on all addresses at port 2552, as Akka.NET does;
// set Host (or PublicHost), since others are told that name.
type Config struct {
	// Settings are those with Akka.NET's names; nil is DefaultSettings.
	Settings *Settings

	// Registry has the serializers and the types that may cross; nil is serial.NewRegistry().
	Registry *serial.Registry

	// Deployable are the classes of actors that other nodes may have made here: by .NET type name, a function that
	// makes Props of the constructor's arguments.
	Deployable map[string]func(args []any) (*actor.Props, error)

	// SendLimit bounds the bytes that wait for one connection; what comes then is a dead letter. 0 is 16 MiB.
	SendLimit int

	// Logger gets what remoting has to say; nil is the system's.
	Logger *slog.Logger

	transport transport // nil: TCP, with TLS if the settings say so
}

// Settings are the settings of remoting, by Akka.NET's names.
type Settings = assoc.Settings

// DefaultSettings are Akka.NET's.
func DefaultSettings() Settings { return assoc.DefaultSettings() }

const defaultSendLimit = 16 << 20

func itoa(n int) string { return strconv.Itoa(n) }
