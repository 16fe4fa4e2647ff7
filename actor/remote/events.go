package remote

import (
	"log/slog"
	"math/rand/v2"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
)

// What the event stream is told of other nodes. The names are Akka.NET's.

// RemotingListenEvent says that others can reach the system.
type RemotingListenEvent struct{ Address actor.Address }

// RemotingShutdownEvent says that they cannot any more.
type RemotingShutdownEvent struct{}

// AssociatedEvent is a handshake that is done.
type AssociatedEvent struct {
	Local, Remote actor.Address
	UID           int32 // of the remote system
	Inbound       bool
}

// DisassociatedEvent is the end of a connection.
type DisassociatedEvent struct {
	Local, Remote actor.Address
	Inbound       bool
	Reason, Cause string
}

// AssociationErrorEvent is a connection that could not be made, or was refused.
type AssociationErrorEvent struct {
	Local, Remote actor.Address
	Inbound       bool
	Cause         string
}

// GatedEvent says that messages to a node are dead letters for a while.
type GatedEvent struct {
	Remote actor.Address
	Cause  string
}

// QuarantinedEvent says that an incarnation of a node is cut off for good: only its restart ends that.
type QuarantinedEvent struct {
	Remote actor.Address
	UID    int32
	Reason string
}

// ThisActorSystemQuarantinedEvent says that another node has cut this system off: only its restart ends that.
type ThisActorSystemQuarantinedEvent struct{ Local, Remote actor.Address }

// publish tells the event stream and the log.
func (a *association) publish(x *action, _ *conn) {
	r := a.r
	inbound := x.Role == assoc.Listener
	var event any
	level := slog.LevelDebug
	switch x.Event {
	case assoc.EventAssociated:
		event = AssociatedEvent{r.address, a.addr, int32(x.UID), inbound}
	case assoc.EventDisassociated:
		event = DisassociatedEvent{r.address, a.addr, inbound, x.Reason.String(), x.Cause.String()}
	case assoc.EventAssociationError:
		level = slog.LevelWarn
		event = AssociationErrorEvent{r.address, a.addr, inbound, x.Cause.String()}
	case assoc.EventGated:
		level = slog.LevelWarn
		event = GatedEvent{a.addr, x.Cause.String()}
	case assoc.EventQuarantined:
		level = slog.LevelError
		event = QuarantinedEvent{a.addr, int32(x.UID), x.Why.String()}
	case assoc.EventThisActorSystemQuarantined:
		level = slog.LevelError
		event = ThisActorSystemQuarantinedEvent{r.address, a.addr}
	case assoc.EventAddressTerminated:
		r.watcher.addressTerminated(a.addr)
		r.daemon.addressTerminated(a.addr)
		return
	}
	if r.log.Enabled(r.ctx, level) {
		r.log.Log(r.ctx, level, "remoting: "+x.Event.String(), slog.String("node", a.name), slog.String("reason", x.Reason.String()),
			slog.String("cause", x.Cause.String()), slog.String("why", x.Why.String()))
	}
	r.sys.EventStream().Publish(event)
}

// newUID is a random number of 1 to 2^31-2.
func newUID() assoc.UID { return assoc.UID(1 + rand.Int32N(1<<31-2)) }
