package actor

import (
	"fmt"
	"log/slog"
	"time"
)

// Config is how a system is set up. The zero value has the defaults of Akka.NET 1.5, which the fields name.
type Config struct {
	// Logger gets what the system and its actors have to say; nil is slog.Default.
	Logger *slog.Logger

	// Dispatchers adds dispatchers, or replaces those that every system has, by name.
	Dispatchers map[string]DispatcherConfig

	// Guardian is the strategy for actors directly below /user (akka.actor.guardian-supervisor-strategy).
	Guardian Strategy

	// AskTimeout is how long an ask waits whose context has no deadline; 0 is without end
	// (akka.actor.ask-timeout).
	AskTimeout time.Duration

	// LogDeadLetters is how many dead letters are logged before the log is silent about them for
	// LogDeadLettersSilence; 0 is 10, NoLog none (akka.log-dead-letters).
	LogDeadLetters int

	// LogDeadLettersSilence is how long; 0 is five minutes (akka.log-dead-letters-suspend-duration).
	LogDeadLettersSilence time.Duration

	// LogDeadLettersDuringShutdown goes on with that while the system terminates
	// (akka.log-dead-letters-during-shutdown, which is on in Akka.NET; here dead letters of a shutdown are
	// counted in one line).
	LogDeadLettersDuringShutdown bool

	// Telemetry publishes [ActorStarted], [ActorStopped] and [ActorRestarted] on the event stream
	// (akka.actor.telemetry.enabled, off).
	Telemetry bool

	// Meter is told what actors do: see [Meter], and the packages actorprom and actorotel. nil measures nothing.
	Meter Meter

	// InboxSize is how many messages an [Inbox] holds; 0 is 1000 (akka.actor.inbox.inbox-size).
	InboxSize int

	// InboxTimeout is how long [Inbox.Receive] waits whose context has no deadline; 0 is 5 seconds
	// (akka.actor.inbox.default-timeout).
	InboxTimeout time.Duration

	// Clock is where the system gets its time from; nil is the real time. See package testkit.
	Clock Clock
}

// NoLog, as Config.LogDeadLetters, logs no dead letters.
const NoLog = -1

// check reports the first thing that is wrong.
func (c *Config) check() error {
	switch {
	case c.AskTimeout < 0:
		return fmt.Errorf("actor: Config.AskTimeout is negative")
	case c.LogDeadLetters < NoLog:
		return fmt.Errorf("actor: Config.LogDeadLetters is %d", c.LogDeadLetters)
	case c.LogDeadLettersSilence < 0:
		return fmt.Errorf("actor: Config.LogDeadLettersSilence is negative")
	case c.InboxSize < 0:
		return fmt.Errorf("actor: Config.InboxSize is negative")
	case c.InboxTimeout < 0:
		return fmt.Errorf("actor: Config.InboxTimeout is negative")
	}
	return nil
}

// makeDispatchers makes the standard dispatchers and those of the configuration.
func (c *Config) makeDispatchers() (map[string]*dispatcher, error) {
	all := map[string]DispatcherConfig{
		DefaultDispatcher:  {},
		BlockingDispatcher: {Kind: Goroutine, Throughput: 1},
		PinnedDispatcher:   {Kind: Pinned},
	}
	for name, d := range c.Dispatchers {
		if name == "" {
			return nil, fmt.Errorf("actor: a dispatcher in the configuration has no name")
		}
		all[name] = d
	}
	out := make(map[string]*dispatcher, len(all))
	for name, d := range all {
		m, err := d.make(name)
		if err != nil {
			return nil, err
		}
		out[name] = m
	}
	return out, nil
}
