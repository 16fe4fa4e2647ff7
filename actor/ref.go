package actor

import (
	"strings"
	"sync/atomic"
)

// A Ref is the address of an actor, or of something that takes messages like one: a pending ask, the
// dead letters. It stays valid for as long as somebody holds it; what is sent to an actor that has
// stopped becomes a [DeadLetter]. A local actor has one Ref, so == tells whether two are the same;
// use [Ref.Equal] where actors of other nodes are possible.
type Ref struct {
	c    *cell   // the local actor; nil for everything else
	t    target  // what is behind it, where it is no local actor
	sys  *System // where it is
	path string  // elements, "/user/a/b"
	uid  int32   // incarnation; 0 is undefined
	wire atomic.Pointer[Wire]
}

// target is what is behind a Ref that is no local actor.
type target interface {
	tell(to *Ref, msg any, sender *Ref)
	tellSystem(to *Ref, m *sysMsg)
}

// Tell sends msg to the actor, without a sender. It returns at once, and does not say whether the
// message will be handled; it waits only for the room in a bounded mailbox, for at most that mailbox's
// push time-out. A nil message is refused: it is published as [Dropped].
//
// Inside an actor use [Context.Tell], which names the sender and is cheaper.
func (r *Ref) Tell(msg any) { r.TellFrom(msg, nil) }

// TellFrom is Tell with a sender, to whom the receiver can reply ([Context.Sender]).
func (r *Ref) TellFrom(msg any, sender *Ref) {
	if msg == nil {
		r.sys.refuseNil(r, sender)
		return
	}
	if c := r.c; c != nil {
		if c.enqueue(msg, sender) {
			c.disp.schedule(c, nil)
		}
		return
	}
	r.t.tell(r, msg, sender)
}

// tellSystem sends a system message, which overtakes user messages and is never lost while the actor lives.
func (r *Ref) tellSystem(m *sysMsg) {
	if c := r.c; c != nil {
		c.enqueueSystem(m)
		return
	}
	r.t.tellSystem(r, m)
}

// UID tells apart actors that have had the same path one after the other. 0 means undefined.
func (r *Ref) UID() int32 { return r.uid }

// System is the actor system that the Ref belongs to.
func (r *Ref) System() *System { return r.sys }

// Equal reports whether both name the same incarnation of the same actor: equal path and uid
// (Akka.NET: ActorRef equality).
func (r *Ref) Equal(o *Ref) bool {
	if r == o {
		return true
	}
	if r == nil || o == nil || r.c != nil || o.c != nil {
		return false
	}
	return r.uid == o.uid && r.path == o.path && r.sys == o.sys && r.address() == o.address()
}

// elements is the path without the address.
func (r *Ref) elements() string {
	if p, ok := r.t.(interface{ elements() string }); ok {
		return p.elements()
	}
	return r.path
}

// tellNow is TellFrom that never waits: where a bounded mailbox is full, the message is a dead letter at once.
func (r *Ref) tellNow(msg any, sender *Ref) {
	if c := r.c; c != nil && c.box != nil {
		c.enqueueNow(msg, sender)
		return
	}
	r.TellFrom(msg, sender)
}

// Name is the last element of the path.
func (r *Ref) Name() string {
	path := r.elements()
	return path[strings.LastIndexByte(path, '/')+1:]
}
