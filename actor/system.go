package actor

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A System is a tree of actors that live and end together. A process may have several.
type System struct {
	name        string
	cfg         Config
	log         *slog.Logger
	addr        Address
	wireAddr    Address // by which other nodes reach the system; addr without a provider
	wireFields  func(path []byte) (sender, recipient []byte)
	provider    Provider
	clock       Clock
	scheduler   *Scheduler
	events      *EventStream
	dispatchers map[string]*dispatcher
	standard    *dispatcher

	deadLetters  *Ref
	nobodysChild *Ref // the parent of the root
	tempDir      *Ref // /temp
	root         *cell
	user, system *cell

	lost       losses
	limit      lineLimit
	counts     counts
	meters     *meters // nil without Config.Meter
	extensions extensions

	temps     sync.Map // name below /temp to *Ref: pending asks that somebody knows by name
	tempNames atomic.Uint64

	terminating atomic.Bool
	terminated  chan struct{}
}

// NewSystem makes a system. Its name is made of letters, digits and hyphens, and begins with no hyphen.
func NewSystem(name string, cfg Config) (*System, error) {
	if err := ValidSystemName(name); err != nil {
		return nil, err
	}
	addr, err := LocalAddress(name)
	if err != nil {
		return nil, err
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	dispatchers, err := cfg.makeDispatchers()
	if err != nil {
		return nil, err
	}
	s := &System{
		name: name, cfg: cfg, log: cfg.Logger, addr: addr, clock: cfg.Clock,
		dispatchers: dispatchers, standard: dispatchers[DefaultDispatcher],
		terminated: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.log = s.log.With(slog.String("system", name))
	s.clock = clockOr(s.clock)
	s.scheduler = newScheduler(s.clock, 0, 0, s.scheduledFailed)
	s.events = newEventStream(s)
	s.lost.init()
	s.startMeter()
	s.deadLetters = s.newRef(deadLetters{}, "/deadLetters")
	s.nobodysChild = s.newRef(nobody{s}, "")
	s.tempDir = s.newRef(tempDir{}, "/temp")
	s.wireAddr = addr
	if s.provider = cfg.Provider; s.provider != nil {
		if err := s.provider.Start(&Port{s}); err != nil {
			return nil, err
		}
	}
	s.startGuardians()
	if s.provider != nil {
		if err := s.provider.Started(); err != nil {
			s.Terminate()
			<-s.terminated
			return nil, err
		}
	}
	return s, nil
}

func (s *System) newRef(t target, path string) *Ref { return &Ref{t: t, sys: s, path: path} }

// Name is the name of the system.
func (s *System) Name() string { return s.name }

// Log is the system's logger.
func (s *System) Log() *slog.Logger { return s.log }

// Scheduler runs things later, for this system.
func (s *System) Scheduler() *Scheduler { return s.scheduler }

// EventStream is where dead letters and other news of the system are published.
func (s *System) EventStream() *EventStream { return s.events }

// DeadLetters takes messages that are for nobody, and publishes each as a [DeadLetter].
func (s *System) DeadLetters() *Ref { return s.deadLetters }

// Spawn makes an actor below /user: see [Context.Spawn].
func (s *System) Spawn(p *Props, name string) (*Ref, error) { return s.user.spawn(p, name, nil) }

// MustSpawn is Spawn that panics where Spawn returns an error.
func (s *System) MustSpawn(p *Props, name string) *Ref {
	r, err := s.Spawn(p, name)
	if err != nil {
		panic(err)
	}
	return r
}

// Stop stops an actor: after the message that it is handling, without those that wait.
func (s *System) Stop(ref *Ref) { ref.stop() }

func (s *System) now() time.Time { return s.clock.Now() }

func (s *System) dispatcher(p *Props) *dispatcher {
	if p.dispatcher == "" {
		return s.standard
	}
	return s.dispatchers[p.dispatcher]
}

// newUID is a random number of 1 to 2^31-2.
func newUID() int32 { return 1 + rand.Int32N(1<<31-2) }

// scheduledFailed is told of a scheduled function that panicked.
func (s *System) scheduledFailed(err error, stack []byte) {
	s.logLimited(slog.LevelError, "a scheduled function failed", slog.Any("error", err), slog.String("stack", string(stack)))
}

// refuseNil deals with a nil message.
func (s *System) refuseNil(to, sender *Ref) {
	s.drop(to, nil, sender, "a message cannot be nil")
}

func pathOf(r *Ref) string {
	if r == nil {
		return ""
	}
	return r.elements()
}

// Address is the address of the system's actors.
func (s *System) Address() Address { return s.addr }

// String is the text of the address: akka://name.
func (s *System) String() string { return s.addr.String() }
