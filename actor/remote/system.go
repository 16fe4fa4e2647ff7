package remote

import (
	"fmt"
	"log/slog"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// System messages between nodes: from the core's form to that of serializer 22 and back, and where those go that have
// come.

// wireSystem is the form that is sent.
func (r *Remoting) wireSystem(m *actor.SystemMessage) any {
	switch m.Kind {
	case actor.SystemRecreate:
		return serial.Recreate{Cause: wireCause(m.Cause)}
	case actor.SystemSuspend:
		return serial.Suspend{}
	case actor.SystemResume:
		return serial.Resume{Cause: wireCause(m.Cause)}
	case actor.SystemTerminate:
		return serial.Terminate{}
	case actor.SystemWatch:
		return serial.Watch{Watchee: m.Ref, Watcher: m.Watcher}
	case actor.SystemUnwatch:
		return serial.Unwatch{Watchee: m.Ref, Watcher: m.Watcher}
	case actor.SystemFailed:
		return serial.Failed{Child: m.Ref, Cause: wireCause(orUnknown(m.Cause)), UID: uint64(uint32(m.UID))}
	case actor.SystemSupervise:
		return serial.Supervise{Child: m.Ref, Async: m.Async}
	}
	return serial.DeathWatchNotification{Actor: m.Ref, ExistenceConfirmed: m.ExistenceConfirmed, AddressTerminated: m.AddressTerminated}
}

// fromWire is the form for the core; false if body is no system message, or one without its references.
func (r *Remoting) fromWire(body any) (actor.SystemMessage, bool) {
	switch m := body.(type) {
	case serial.Create:
		return actor.SystemMessage{Kind: actor.SystemSupervise}, true // starts what has started already: deliverSystem drops it
	case serial.Recreate:
		return actor.SystemMessage{Kind: actor.SystemRecreate, Cause: orUnknown(m.Cause)}, true
	case serial.Suspend:
		return actor.SystemMessage{Kind: actor.SystemSuspend}, true
	case serial.Resume:
		return actor.SystemMessage{Kind: actor.SystemResume, Cause: m.Cause}, true
	case serial.Terminate:
		return actor.SystemMessage{Kind: actor.SystemTerminate}, true
	case serial.Watch:
		return actor.SystemMessage{Kind: actor.SystemWatch, Ref: m.Watchee, Watcher: m.Watcher}, m.Watchee != nil && m.Watcher != nil
	case serial.Unwatch:
		return actor.SystemMessage{Kind: actor.SystemUnwatch, Ref: m.Watchee, Watcher: m.Watcher}, m.Watchee != nil && m.Watcher != nil
	case serial.Failed:
		return actor.SystemMessage{Kind: actor.SystemFailed, Ref: m.Child, Cause: childCause(m.Cause), UID: int32(uint32(m.UID))}, m.Child != nil
	case serial.DeathWatchNotification:
		return actor.SystemMessage{
			Kind: actor.SystemDeathWatchNotification, Ref: m.Actor,
			ExistenceConfirmed: m.ExistenceConfirmed, AddressTerminated: m.AddressTerminated,
		}, m.Actor != nil
	case serial.Supervise:
		return actor.SystemMessage{Kind: actor.SystemSupervise, Ref: m.Child, Async: m.Async}, m.Child != nil
	}
	return actor.SystemMessage{}, false
}

// deliverSystem hands a system message that has come to whom it is for.
func (r *Remoting) deliverSystem(in systemIn) {
	m := in.m
	switch {
	case r.set.UntrustedMode && harmfulSystem(m.Kind):
		r.log.Warn("untrusted mode: a system message was dropped", slog.String("kind", kindName(m.Kind)), slog.String("to", in.to.String()))
		return
	case in.to == r.watcher.self() && m.Kind == actor.SystemDeathWatchNotification:
		r.watcher.ended(m.Ref, m.ExistenceConfirmed, m.AddressTerminated)
		return
	case in.to == r.daemon.ref || m.Kind == actor.SystemSupervise:
		return // the daemon is nobody's child and nobody's watcher for others; whoever deployed an actor knows of it
	case m.Kind == actor.SystemWatch || m.Kind == actor.SystemUnwatch:
		if r.port.Target(in.to) == nil {
			r.deliverWatch(in)
			return
		}
	}
	r.port.TellSystem(in.to, m)
}

// harmfulSystem are the messages with which another node takes part in the life of actors here. What it says of its own
// actors is no such thing.
func harmfulSystem(k actor.SystemKind) bool {
	switch k {
	case actor.SystemFailed, actor.SystemDeathWatchNotification, actor.SystemSupervise:
		return false
	}
	return true
}

// deliverWatch hands Watch and Unwatch to an actor here. The receiver is the one that is watched: what is in the message
// was looked up at another moment, when another incarnation may have lived there.
//
// To the watcher an actor is its path and uid. So whoever watches by a path alone is told of the end of that path.
func (r *Remoting) deliverWatch(in systemIn) {
	m := in.m
	if m.Ref.Path().StringWithoutAddress() != in.to.Path().StringWithoutAddress() {
		r.log.Warn("a Watch of one actor was sent to another", slog.String("watchee", m.Ref.String()), slog.String("to", in.to.String()))
		return
	}
	m.Ref = in.to
	if in.bare && in.to.UID() != 0 {
		if b := r.bare(in.to, m.Watcher); b != nil {
			m.Watcher = b
		}
	}
	if in.to == r.port.Local(in.to.Path().StringWithoutAddress(), in.to.UID()) { // it lives
		r.watcher.watched(m.Kind == actor.SystemWatch, in.to, m.Watcher)
	}
	r.port.TellSystem(in.to, m)
}

// bareWatcher stands for a watcher of a path without uid: it passes the end on with that path.
type bareWatcher struct {
	nowhere
	r                *Remoting
	watcher, watchee *actor.Ref // the watchee is without uid
}

// bare makes the Ref of a bareWatcher; nil if the watcher is here. Two for the same are equal, so that Unwatch finds it.
func (r *Remoting) bare(watchee, watcher *actor.Ref) *actor.Ref {
	t := r.port.Target(watcher)
	if t == nil {
		return nil
	}
	b := &bareWatcher{
		nowhere: nowhere{t.Address()}, r: r, watcher: watcher,
		watchee: r.port.NewRef(nowhere{r.address}, watchee.Path().StringWithoutAddress(), 0),
	}
	return r.port.NewRef(b, watcher.Path().StringWithoutAddress()+" without uid", watcher.UID())
}

func (b *bareWatcher) TellSystem(_ *actor.Ref, m actor.SystemMessage) {
	if m.Kind == actor.SystemDeathWatchNotification {
		m.Ref = b.watchee
		b.r.port.TellSystem(b.watcher, m)
	}
}

// nowhere is behind a Ref that is only good to be named.
type nowhere struct{ addr actor.Address }

func (n nowhere) Address() actor.Address                     { return n.addr }
func (nowhere) Tell(*actor.Ref, any, *actor.Ref, actor.Turn) {}
func (nowhere) TellSystem(*actor.Ref, actor.SystemMessage)   {}

// deadSystem deals with a system message that could not be sent: who asked to watch is told of an end.
func (r *Remoting) deadSystem(to *actor.Ref, m actor.SystemMessage) {
	if m.Kind == actor.SystemWatch && m.Watcher == r.watcher.self() {
		r.watcher.ended(m.Ref, false, false)
		return
	}
	r.port.DeadSystemMessage(to, m)
}

var kindNames = [...]string{"Recreate", "Suspend", "Resume", "Terminate", "Watch", "Unwatch", "Failed", "DeathWatchNotification", "Supervise"}

func kindName(k actor.SystemKind) string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}
