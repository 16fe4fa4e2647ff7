package actor

import (
	"errors"
	"log/slog"
	"math"
	"time"
)

// A Directive is what a supervisor decides about a child that has failed.
type Directive uint8

// The directives of Akka.NET.
const (
	Restart  Directive = iota // a fresh actor goes on with the mailbox of the failed one
	Resume                    // the same actor goes on, without the message that failed
	Stop                      // the actor is stopped
	Escalate                  // the supervisor fails itself, with the same cause
)

// String is the name in lower case.
func (d Directive) String() string {
	switch d {
	case Restart:
		return "restart"
	case Resume:
		return "resume"
	case Stop:
		return "stop"
	case Escalate:
		return "escalate"
	}
	return "unknown directive"
}

// A Decider maps the cause of a failure to a directive. It runs in the supervisor, must not block, and must
// not call its Context.
type Decider func(cause error) Directive

// DefaultDecider is Akka.NET's: actors that could not be started, were killed, or ignored the end of an actor
// they watch are stopped; all others are restarted.
func DefaultDecider(cause error) (d Directive) {
	defer func() {
		if recover() != nil {
			d = Restart // a method of the error has panicked: it is none of the runtime's own
		}
	}()
	var (
		init    *InitializationError
		restart *RestartError
		pact    *DeathPactError
	)
	if errors.As(cause, &init) || errors.As(cause, &restart) || errors.As(cause, &pact) || errors.Is(cause, ErrActorKilled) {
		return Stop
	}
	return Restart
}

// A Strategy says how an actor deals with failures of its children. The zero value is Akka.NET's default: the
// child that failed is restarted, as often as it takes ([DefaultDecider]).
type Strategy struct {
	// Decide maps causes to directives; nil is DefaultDecider.
	Decide Decider

	// AllForOne applies a restart or a stop to all children, not only to the one that failed.
	AllForOne bool

	// MaxRetries is how often a child may be restarted, within Within if that is set, else in all. One more
	// failure stops it. 0 is no limit, and with Within it is once; NoRetries is never.
	MaxRetries int

	// Within is the window that MaxRetries counts in: it begins with the first failure, and the first failure
	// after its end begins a new one.
	Within time.Duration

	// Quiet leaves the log lines about failures to Decide.
	Quiet bool
}

// NoRetries, as Strategy.MaxRetries, stops a child where it would be restarted.
const NoRetries = -1

// childStats is what a supervisor remembers of a child.
type childStats struct {
	restarts int32
	window   time.Time // when the present window began
}

// mayRestart counts a failure of a child. The parent calls it.
func (c *cell) mayRestart(st *Strategy, now time.Time) bool {
	if c.stats == nil {
		c.stats = &childStats{}
	}
	return c.stats.mayRestart(st, now)
}

// mayRestart counts a failure and reports whether the child may be restarted
// (Akka.NET: ChildRestartStats.RequestRestartPermission).
func (s *childStats) mayRestart(st *Strategy, now time.Time) bool {
	retries := int32(min(st.MaxRetries, math.MaxInt32))
	switch {
	case st.MaxRetries < 0:
		return false
	case st.Within <= 0:
		s.restarts++
		return retries == 0 || s.restarts <= retries
	case retries == 0:
		retries = 1
	}
	if s.window.IsZero() {
		s.window = now
	}
	if now.Sub(s.window) <= st.Within {
		s.restarts++
		return s.restarts <= retries
	}
	s.restarts, s.window = 1, now
	return true
}

// strategy is the one for the children of c.
func (c *cell) strategy() *Strategy {
	if s, ok := c.actor.(Supervisor); ok {
		st := s.SupervisorStrategy()
		return &st
	}
	if s := c.props.strategy; s != nil {
		return s
	}
	return &defaultStrategy
}

var defaultStrategy Strategy

// handleFailure does what the strategy says about child, one of c's. It reports false where the failure is to
// be passed on.
func (s *Strategy) handleFailure(c *cell, child *cell, cause error) bool {
	decide := s.Decide
	if decide == nil {
		decide = DefaultDecider
	}
	d := decide(cause)
	if !s.Quiet {
		c.logFailure(child, cause, d)
	}
	switch d {
	case Resume:
		child.ref.tellSystem(&sysMsg{kind: sysResume, cause: cause})
	case Restart:
		s.process(c, child, cause, true)
	case Stop:
		s.process(c, child, cause, false)
	case Escalate:
		return false
	default:
		panic(failing{errors.New("the decider returned " + d.String())})
	}
	return true
}

// process restarts or stops the child, or all children.
func (s *Strategy) process(c *cell, child *cell, cause error, restart bool) {
	kids := c.children()
	now := c.ref.sys.now()
	if !s.AllForOne {
		if restart && child.mayRestart(s, now) {
			child.ref.tellSystem(&sysMsg{kind: sysRecreate, cause: cause})
			return
		}
		s.giveUp(child, restart)
		kids.stop(child)
		return
	}
	all := kids.all()
	for _, k := range all {
		if restart && !k.mayRestart(s, now) {
			restart = false
			s.giveUp(k, true)
		}
	}
	for _, k := range all {
		switch {
		case !restart:
			kids.stop(k)
		case k == child:
			k.ref.tellSystem(&sysMsg{kind: sysRecreate, cause: cause})
		default:
			k.ref.tellSystem(&sysMsg{kind: sysSuspend})
			k.ref.tellSystem(&sysMsg{kind: sysRecreate, cause: cause})
		}
	}
}

func (s *Strategy) giveUp(child *cell, restart bool) {
	if restart && !s.Quiet {
		child.ref.sys.logLimited(slog.LevelError, "actor has failed too often and is stopped", slog.String("actor", child.ref.path),
			slog.Int("restarts", max(s.MaxRetries, 0)), slog.Duration("within", s.Within))
	}
}
