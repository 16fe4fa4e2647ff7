package actor

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
)

// An Actor handles messages, one at a time. Its methods run on one goroutine at a time, so its fields need no
// lock. It may also have any of the hooks [PreStarter], [PostStopper], [PreRestarter], [PostRestarter] and
// [Supervisor].
type Actor interface {
	// Receive handles one message. A panic in it (or [Context.Fail]) is a failure, which the parent decides
	// about. What it does not handle it passes to ctx.Unhandled. Neither ctx nor anything got from it may be
	// used after Receive has returned or from another goroutine.
	Receive(ctx *Context, msg any)
}

// A ReceiveFunc is an actor that is a function, and what [Context.Become] takes.
type ReceiveFunc func(ctx *Context, msg any)

// Receive calls f.
func (f ReceiveFunc) Receive(ctx *Context, msg any) { f(ctx, msg) }

// A PreStarter is an actor with something to do before its first message.
type PreStarter interface{ PreStart(ctx *Context) }

// A PostStopper is an actor with something to do when it has stopped: its children have ended, and no message
// will come. At a restart the default PreRestart calls it too.
type PostStopper interface{ PostStop(ctx *Context) }

// A PreRestarter is an actor that prepares its restart. msg is the message that failed, nil if it was something
// else. Without this method [Context.DefaultPreRestart] does what Akka.NET does. Children that it does not stop
// are restarted too.
type PreRestarter interface {
	PreRestart(ctx *Context, cause error, msg any)
}

// A PostRestarter is an actor that begins otherwise after a restart than at its start. It is called on the fresh
// actor, in place of PreStart.
type PostRestarter interface {
	PostRestart(ctx *Context, cause error)
}

// A Supervisor is an actor with a strategy of its own for its children, asked at each failure. It goes before
// [Props.WithSupervisor].
type Supervisor interface{ SupervisorStrategy() Strategy }

// Props is the recipe for an actor: how to make it, and how to run it. It is immutable, and may be used for any
// number of actors, at the same time.
type Props struct {
	produce    func() Actor
	class      string                  // given by the user
	seen       *atomic.Pointer[string] // class of the first actor made
	dispatcher string
	mailbox    Mailbox
	strategy   *Strategy
	stash      int

	nonBlocking bool
	scope       Address // the node to make the actors on; zero is here
	args        []any
}

// NewProps makes actors with produce, which is called on the actor's own goroutine, once at the start and once
// at each restart. It must return a new actor each time.
func NewProps(produce func() Actor) *Props {
	if produce == nil {
		panic("actor: NewProps needs a function")
	}
	return &Props{produce: produce, seen: new(atomic.Pointer[string])}
}

// FromFunc makes actors of a function. Variables that it closes over are shared by all actors of these Props, and
// live on at a restart: an actor with state of its own is made by [NewProps].
func FromFunc(f ReceiveFunc) *Props {
	if f == nil {
		panic("actor: FromFunc needs a function")
	}
	return &Props{produce: func() Actor { return f }, class: "func", seen: new(atomic.Pointer[string])}
}

// WithDispatcher runs the actors on the dispatcher of that name in [Config.Dispatchers], or one of
// [DefaultDispatcher], [PinnedDispatcher] and [BlockingDispatcher].
func (p *Props) WithDispatcher(name string) *Props { q := *p; q.dispatcher = name; return &q }

// WithMailbox gives the actors another kind of mailbox. The zero Mailbox is the unbounded one.
func (p *Props) WithMailbox(m Mailbox) *Props { q := *p; q.mailbox = m; return &q }

// WithSupervisor sets the strategy for the actors' children.
func (p *Props) WithSupervisor(s Strategy) *Props { q := *p; q.strategy = &s; return &q }

// WithStashCapacity bounds how many messages an actor may have stashed: one more is a failure ([ErrStashFull]).
// 0 and -1 are no bound, as in Akka.NET.
func (p *Props) WithStashCapacity(n int) *Props { q := *p; q.stash = n; return &q }

// WithNonBlocking says that the actors never wait for anything while they handle a message, and take only some
// microseconds: an ask of one that is idle then runs it on the asker's own goroutine, which is several times
// faster than to hand the message over. An actor that waits in spite of it holds up its askers beyond their
// time-outs, and one that calls runtime.Goexit ends their goroutine. Actors with a bounded or priority mailbox are
// always handed over to.
func (p *Props) WithNonBlocking() *Props { q := *p; q.nonBlocking = true; return &q }

// WithScope makes the actors on another node, which is asked for one of the class of [Props.WithClass]. They are
// children of the actor that spawns them all the same: it supervises them (Akka.NET: RemoteScope).
func (p *Props) WithScope(node Address) *Props { q := *p; q.scope = node; return &q }

// Scope is the node of WithScope.
func (p *Props) Scope() Address { return p.scope }

// WithArgs is what the constructor on the other node is called with. They are serialized like messages.
func (p *Props) WithArgs(args ...any) *Props { q := *p; q.args = slices.Clone(args); return &q }

// Args is what WithArgs was given.
func (p *Props) Args() []any { return p.args }

// WithClass names the class of the actors, for [System.Tree], metrics and remote deployment. The default is
// their Go type.
func (p *Props) WithClass(name string) *Props { q := *p; q.class = name; return &q }

// made notes the class of an actor that was made.
func (p *Props) made(a Actor) {
	if p.class != "" || p.seen.Load() != nil {
		return
	}
	t := reflect.TypeOf(a)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.String()
	p.seen.Store(&name)
}

// Class is the class of the actors: what [Props.WithClass] said, else the Go type of the first one that was
// made; empty before that.
func (p *Props) Class() string {
	if p.class != "" {
		return p.class
	}
	if p.seen != nil {
		if s := p.seen.Load(); s != nil {
			return *s
		}
	}
	return ""
}

// check reports what is wrong with the props in system s.
func (p *Props) check(s *System) error {
	if p == nil {
		return fmt.Errorf("actor: Props are nil")
	}
	if p.produce == nil {
		return fmt.Errorf("actor: Props without a function: make them by NewProps, FromFunc or Receive")
	}
	if p.dispatcher != "" && s.dispatchers[p.dispatcher] == nil {
		return fmt.Errorf("actor: there is no dispatcher %q in the configuration", p.dispatcher)
	}
	if p.stash < -1 {
		return fmt.Errorf("actor: a stash cannot have a capacity of %d", p.stash)
	}
	return p.mailbox.check()
}
