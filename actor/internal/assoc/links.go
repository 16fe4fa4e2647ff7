package assoc

import (
	"slices"
	"time"
)

// Associated tells that the dial id is through its handshake, with a peer of this UID.
func (r *Remote[Out, In]) Associated(now time.Duration, id ConnID, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	l := r.link(id)
	if l == nil { // given up meanwhile
		return append(acts, Action[Out, In]{Do: Disassociate, Conn: id, Reason: r.farewell()})
	}
	if l.phase != linkDialing { // no dial, or told twice
		return acts
	}
	if r.refuses(uid) { // quarantined while the dial was under way
		r.remove(id)
		acts = append(acts, Action[Out, In]{Do: Disassociate, Conn: id, Reason: Quarantined})
		return r.dialEnded(now, Quarantined, CauseRefused, acts)
	}
	l.phase, l.uid = linkOpen, uid
	acts = r.adopt(now, uid, acts)
	for i := range r.links {
		// The peer stops reading its own connection when it gets ours: nothing may be written there any more.
		if o := &r.links[i]; o.id != id && o.phase == linkOpen {
			o.deaf = true
		}
	}
	acts = r.activate(now, id, acts)
	return r.unstash(now, acts)
}

// Inbound tells that a connection of the listener is through its handshake: the peer at this address has this UID. It
// gets the name id. The actions say whether it is read (Attach), sent away (Disassociate), or waits for either.
func (r *Remote[Out, In]) Inbound(now time.Duration, uid UID, acts []Action[Out, In]) (ConnID, []Action[Out, In]) {
	r.lastID++
	id := r.lastID
	return id, r.decide(now, id, uid, acts)
}

// decide takes, stashes or refuses an inbound connection that is in no list.
func (r *Remote[Out, In]) decide(now time.Duration, id ConnID, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	switch dial := r.dialing(); {
	case r.state == StateClosed:
		return append(acts, Action[Out, In]{Do: Disassociate, Conn: id, Reason: Shutdown})
	case r.refuses(uid):
		return append(acts, Action[Out, In]{Do: Disassociate, Conn: id, Reason: Quarantined})
	case dial != 0 && !r.known:
		return r.stash(id, uid, acts)
	case r.known && uid != r.uid && dial != 0:
		// The peer was restarted and is here: what is being dialed is at best the same.
		acts = r.drop(dial, Unknown, acts)
		r.state = StateIdle
	}
	acts = r.adopt(now, uid, acts)
	r.links = append(r.links, link{id: id, role: Listener, phase: linkOpen, uid: uid, ackAt: Never})
	if r.writer == 0 && r.state != StatePending && r.set.UsePassiveConnections {
		return r.activate(now, id, acts)
	}
	// One to read beside the one to write on is enough: the latest.
	for i := 0; i < len(r.links); {
		if o := r.links[i]; o.id != id && o.id != r.writer && o.phase == linkOpen {
			acts = r.drop(o.id, Unknown, acts)
		} else {
			i++
		}
	}
	if w := r.link(r.writer); w != nil && w.role == Dialer {
		r.link(id).deaf = true
	}
	acts = r.attach(id, Listener, uid, acts)
	if r.state == StateGated { // it is there again
		r.open()
	}
	if r.out.Len() > 0 || len(r.pending) > 0 {
		acts = r.dial(acts)
	}
	return acts
}

// stash lets an inbound connection wait until the dial under way has told the UID.
func (r *Remote[Out, In]) stash(id ConnID, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	n, oldest := 0, ConnID(0)
	for _, l := range r.links {
		if l.phase == linkStashed {
			if n++; oldest == 0 {
				oldest = l.id
			}
		}
	}
	if n >= r.set.StashLimit {
		acts = r.drop(oldest, Unknown, acts)
	}
	r.links = append(r.links, link{id: id, role: Listener, phase: linkStashed, uid: uid, ackAt: Never})
	return acts
}

// unstash decides about the connections that waited.
func (r *Remote[Out, In]) unstash(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	for i := 0; i < len(r.links); {
		l := r.links[i]
		if l.phase != linkStashed {
			i++
			continue
		}
		r.remove(l.id)
		acts = r.decide(now, l.id, l.uid, acts)
		i = 0 // the list may be another one now
	}
	return acts
}

// Ended tells that the connection or dial id is over, as its Conn says. A dial that never came to a connection has CauseDialFailed or
// CauseInvalidAddress.
func (r *Remote[Out, In]) Ended(now time.Duration, id ConnID, reason Reason, cause Cause, acts []Action[Out, In]) []Action[Out, In] {
	p := r.link(id)
	if p == nil {
		return acts
	}
	l, writer := *p, r.writer == id
	r.remove(id)
	if l.phase == linkOpen {
		acts = append(acts, Action[Out, In]{Do: Publish, Event: EventDisassociated, Conn: id, Role: l.role, Reason: reason, Cause: cause})
		r.contactAt = now
	}
	switch {
	case r.state == StateClosed || l.phase == linkStashed:
		return acts
	case l.phase == linkDialing:
		return r.dialEnded(now, reason, cause, acts)
	case reason == Quarantined && cause != CauseLocal:
		acts = append(acts, Action[Out, In]{Do: Publish, Event: EventThisActorSystemQuarantined})
	}
	if !writer {
		return acts
	}
	if reason == Unknown || cause == CauseReset {
		if other := r.candidate(); other != 0 {
			return r.take(now, other, acts)
		}
		// A reset is a shutdown to Akka.NET. But the same system may come back from it, so nothing is dropped here.
		return r.gate(now, false, cause, acts)
	}
	why := WhyPeerShutdown
	if reason == Quarantined {
		why = WhyThisQuarantined
	}
	acts = r.dropSystem(why, acts)
	return r.gate(now, true, cause, acts)
}

// dialEnded goes on after a dial that failed: with a connection that the peer has made, or not at all for a while.
func (r *Remote[Out, In]) dialEnded(now time.Duration, reason Reason, cause Cause, acts []Action[Out, In]) []Action[Out, In] {
	acts = append(acts, Action[Out, In]{Do: Publish, Event: EventAssociationError, Role: Dialer, Reason: reason, Cause: cause})
	r.open()
	if other := r.candidate(); other != 0 {
		return r.take(now, other, acts)
	}
	if acts = r.unstash(now, acts); r.state == StateActive || r.state == StatePending {
		return acts // the peer is there: its connection is used, or, where that may not be, dialed once more
	}
	why, final := WhyDialFailed, true
	switch {
	case cause == CauseRefused:
		why = WhyPeerRefused
	case reason == Quarantined:
		why = WhyThisQuarantined
		acts = append(acts, Action[Out, In]{Do: Publish, Event: EventThisActorSystemQuarantined})
	case reason == Shutdown && cause != CauseReset:
		why = WhyPeerShutdown
	case cause == CauseInvalidAddress:
	default:
		final = false
	}
	acts = r.dropPending(why, acts)
	if final {
		acts = r.dropSystem(why, acts)
	}
	return r.gate(now, final, cause, acts)
}

// adopt makes uid the incarnation that the buffers belong to. If it was another one before, that one is cut off, and what was meant
// for it is given up.
func (r *Remote[Out, In]) adopt(now time.Duration, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	r.bailoutAt = Never
	if r.known && uid == r.uid {
		return acts
	}
	if r.known {
		old := r.uid
		for i := 0; i < len(r.links); {
			if l := r.links[i]; l.phase == linkOpen && l.uid == old {
				acts = r.drop(l.id, Unknown, acts)
			} else {
				i++
			}
		}
		if r.state == StateActive {
			r.state = StateIdle
		}
		acts = r.dropSystem(WhyPeerRestarted, acts)
		acts = r.mark(now, old, WhyPeerRestarted, acts)
		r.reset()
	}
	r.uid, r.known = uid, true
	return acts
}

// take makes a connection that is read already the one to write on.
func (r *Remote[Out, In]) take(now time.Duration, id ConnID, acts []Action[Out, In]) []Action[Out, In] {
	r.state, r.writer, r.gateUntil, r.gateDrops, r.written = StateActive, id, Never, false, BeforeFirst
	from := len(acts)
	acts = r.resend(now, true, acts)
	acts = r.writePending(id, from, acts)
	clear(r.pending)
	if r.pending = r.pending[:0]; cap(r.pending) > 1024 {
		r.pending = nil // a burst need not be paid for ever
	}
	return acts
}

// writePending writes the ordinary messages that waited, each behind the system messages that came before it: those are in acts
// from a place on. A watch of an actor that has just been asked for must not arrive before it is there.
func (r *Remote[Out, In]) writePending(id ConnID, from int, acts []Action[Out, In]) []Action[Out, In] {
	if len(r.pending) == 0 {
		return acts
	}
	system := slices.Clone(acts[from:])
	acts = acts[:from]
	for i := range r.pending {
		for len(system) > 0 && !r.pending[i].after.Before(system[0].Seq) {
			acts, system = append(acts, system[0]), system[1:]
		}
		acts = append(acts, Action[Out, In]{Do: Write, Conn: id, Seq: Unsequenced, Out: r.pending[i].m})
	}
	return append(acts, system...)
}

// activate gives a new connection a reader and writes on it.
func (r *Remote[Out, In]) activate(now time.Duration, id ConnID, acts []Action[Out, In]) []Action[Out, In] {
	l := r.link(id)
	acts = r.attach(id, l.role, l.uid, acts)
	return r.take(now, id, acts)
}

func (r *Remote[Out, In]) attach(id ConnID, role Role, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	return append(acts, Action[Out, In]{Do: Publish, Event: EventAssociated, Conn: id, Role: role, UID: uid},
		Action[Out, In]{Do: Attach, Conn: id})
}

// drop ends a connection or dial from this side and forgets it.
func (r *Remote[Out, In]) drop(id ConnID, reason Reason, acts []Action[Out, In]) []Action[Out, In] {
	if l := r.link(id); l.phase == linkOpen {
		acts = append(acts, Action[Out, In]{Do: Publish, Event: EventDisassociated, Conn: id, Role: l.role, Reason: reason, Cause: CauseLocal})
	}
	r.remove(id)
	return append(acts, Action[Out, In]{Do: Disassociate, Conn: id, Reason: reason})
}

// dialing is the dial under way, 0 if there is none.
func (r *Remote[Out, In]) dialing() ConnID {
	for _, l := range r.links {
		if l.phase == linkDialing {
			return l.id
		}
	}
	return 0
}

// candidate is an open connection that may be written on, 0 if there is none: the peer's latest that never had one of ours beside it.
func (r *Remote[Out, In]) candidate() ConnID {
	id := ConnID(0)
	for _, l := range r.links {
		if l.phase == linkOpen && !l.deaf && r.set.UsePassiveConnections {
			id = l.id
		}
	}
	return id
}

// farewell is the reason for which a connection is sent away that nobody expects.
func (r *Remote[Out, In]) farewell() Reason {
	if r.state == StateClosed {
		return Shutdown
	}
	return Unknown
}
