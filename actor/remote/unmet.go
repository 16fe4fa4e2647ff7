package remote

import (
	"sync/atomic"

	"github.com/actua/actua/actor"
)

// unmet is behind a Ref of a node to which nothing has been sent when the Ref was made. A peer may name any number of
// nodes: there is an association only with those that are sent something.
type unmet struct {
	r    *Remoting
	addr actor.Address
	met  atomic.Pointer[association]
}

func (u *unmet) association() *association {
	a := u.met.Load()
	if a == nil {
		a = u.r.association(u.addr)
		u.met.Store(a)
	}
	return a
}

// Address is the address of the node.
func (u *unmet) Address() actor.Address { return u.addr }

// Tell sends an ordinary message.
func (u *unmet) Tell(to *actor.Ref, msg any, sender *actor.Ref, t actor.Turn) {
	u.association().Tell(to, msg, sender, t)
}

// TellSystem sends a system message.
func (u *unmet) TellSystem(to *actor.Ref, m actor.SystemMessage) { u.association().TellSystem(to, m) }
