package assoc

import (
	"slices"
	"time"
)

// gate leaves the address alone for RetryGateClosedFor. With drops, system messages are dead letters as others are.
func (r *Remote[Out, In]) gate(now time.Duration, drops bool, cause Cause, acts []Action[Out, In]) []Action[Out, In] {
	r.state, r.writer, r.resendAt = StateGated, 0, Never
	r.gateUntil, r.gateDrops = now+r.set.RetryGateClosedFor, drops
	return append(acts, Action[Out, In]{Do: Publish, Event: EventGated, Cause: cause})
}

// open ends the gate, or whatever it was, in the state in which the next message dials.
func (r *Remote[Out, In]) open() {
	r.state, r.gateUntil, r.gateDrops = StateIdle, Never, false
	if len(r.refused) > 0 && !r.known {
		r.state = StateQuarantined
	}
}

// ungate goes on after the gate: with a dial if system messages wait.
func (r *Remote[Out, In]) ungate(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	r.open()
	if r.out.Len() == 0 {
		return acts
	}
	if !r.known && now >= r.bailoutAt {
		return r.hopeless(now, WhyDeliveryTimedOut, acts)
	}
	return r.dial(acts)
}

// hopeless ends a link whose system messages cannot be delivered: the two ends do not know the same of each other any more, and only
// a new incarnation can mend that. Without a UID there is nothing to quarantine.
func (r *Remote[Out, In]) hopeless(now time.Duration, why Why, acts []Action[Out, In]) []Action[Out, In] {
	if r.known {
		return r.cut(now, why, acts)
	}
	for len(r.links) > 0 {
		acts = r.drop(r.links[len(r.links)-1].id, Unknown, acts)
	}
	acts = r.dropPending(why, acts)
	acts = r.dropSystem(why, acts)
	acts = append(acts, Action[Out, In]{Do: Publish, Event: EventAddressTerminated, Why: why})
	return r.gate(now, true, CauseLocal, acts)
}

// cut quarantines the present incarnation.
func (r *Remote[Out, In]) cut(now time.Duration, why Why, acts []Action[Out, In]) []Action[Out, In] {
	for len(r.links) > 0 {
		acts = r.drop(r.links[len(r.links)-1].id, Quarantined, acts)
	}
	acts = r.dropPending(why, acts)
	acts = r.dropSystem(why, acts)
	acts = r.mark(now, r.uid, why, acts)
	r.known, r.contactAt = false, now
	r.reset()
	r.open()
	return acts
}

// refusal is the quarantine of one incarnation.
type refusal struct {
	uid   UID
	until time.Duration
}

// maxRefused bounds how many incarnations of one address are remembered as quarantined; the oldest is forgotten.
const maxRefused = 8

// refuses reports whether the incarnation is quarantined.
func (r *Remote[Out, In]) refuses(uid UID) bool {
	return slices.ContainsFunc(r.refused, func(f refusal) bool { return f.uid == uid })
}

// mark remembers the quarantine of an incarnation and tells everybody.
func (r *Remote[Out, In]) mark(now time.Duration, uid UID, why Why, acts []Action[Out, In]) []Action[Out, In] {
	if len(r.refused) >= maxRefused {
		r.refused = slices.Delete(r.refused, 0, 1)
	}
	r.refused = append(r.refused, refusal{uid, now + r.set.PruneQuarantineMarkerAfter})
	return append(acts, Action[Out, In]{Do: Publish, Event: EventQuarantined, UID: uid, Why: why},
		Action[Out, In]{Do: Publish, Event: EventAddressTerminated, Why: why})
}

// pruneAt is when the oldest quarantine is forgotten.
func (r *Remote[Out, In]) pruneAt() time.Duration {
	if len(r.refused) == 0 {
		return Never
	}
	return r.refused[0].until
}

// Quarantine cuts the incarnation uid off for good: remote watch or the application has decided so. One that is not the present one is
// history and left alone.
func (r *Remote[Out, In]) Quarantine(now time.Duration, uid UID, acts []Action[Out, In]) []Action[Out, In] {
	switch {
	case r.state == StateClosed:
		return acts
	case r.known && uid == r.uid:
		return r.cut(now, WhyQuarantined, acts)
	case r.known || r.refuses(uid):
		return acts
	}
	// Nobody has come from there yet, or nobody since the last quarantine.
	for i := 0; i < len(r.links); {
		if l := r.links[i]; l.phase == linkStashed && l.uid == uid {
			acts = r.drop(l.id, Quarantined, acts)
		} else {
			i++
		}
	}
	acts = r.mark(now, uid, WhyQuarantined, acts)
	if r.state == StateIdle {
		r.state = StateQuarantined
	}
	return acts
}

// Unreachable is what remote watch says of a node that does not answer: its incarnation is quarantined. One that
// was never seen only has its watchers told.
func (r *Remote[Out, In]) Unreachable(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	if r.known && r.state != StateClosed {
		return r.cut(now, WhyQuarantined, acts)
	}
	return append(acts, Action[Out, In]{Do: Publish, Event: EventAddressTerminated, Why: WhyUnreachableUnseen})
}

// Tick does what is due.
func (r *Remote[Out, In]) Tick(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	if r.state == StateClosed {
		return acts
	}
	if now >= r.pruneAt() {
		r.refused = slices.DeleteFunc(r.refused, func(f refusal) bool { return now >= f.until })
		if len(r.refused) == 0 && r.state == StateQuarantined {
			r.state = StateIdle
		}
	}
	if r.state == StateGated && now >= r.gateUntil {
		acts = r.ungate(now, acts)
	}
	acts = r.acknowledge(now, acts)
	if now >= r.giveUpAt() {
		return r.hopeless(now, WhyDeliveryTimedOut, acts)
	}
	if now >= r.silentAt() {
		return r.hopeless(now, WhySilence, acts)
	}
	if now >= r.resendAt {
		r.resendAt = Never
		if r.state == StateActive {
			acts = r.resend(now, true, acts)
		}
	}
	return acts
}

// acknowledge sends the acknowledgements that nothing has carried along in time.
func (r *Remote[Out, In]) acknowledge(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	r.nacks = r.nacks[:0]
	for i := range r.links {
		l := &r.links[i]
		if now < l.ackAt {
			continue
		}
		l.ackAt = Never
		from := len(r.nacks)
		if ack, ok := r.in.Ack(r.nacks); ok {
			r.nacks = ack.Nacks
			ack.Nacks = ack.Nacks[from:]
			acts = append(acts, Action[Out, In]{Do: WriteAck, Conn: l.id, Ack: ack})
		}
	}
	return acts
}

// Next is when Tick has to be called, Never if it need not be. For a closed Remote it is when Done has waited long enough.
func (r *Remote[Out, In]) Next() time.Duration {
	if r.state == StateClosed {
		return r.closeBy
	}
	next := min(r.gateUntil, r.resendAt, r.giveUpAt(), r.silentAt(), r.pruneAt())
	for i := range r.links {
		next = min(next, r.links[i].ackAt)
	}
	return next
}

// giveUpAt is when a connected system that acknowledges nothing is given up.
func (r *Remote[Out, In]) giveUpAt() time.Duration {
	if r.set.GiveUpSystemMessageAfter == 0 || r.state != StateActive || r.out.Len() == 0 {
		return Never
	}
	return r.progressAt + r.set.GiveUpSystemMessageAfter
}

// silentAt is when a system that is not connected is given up for its silence.
func (r *Remote[Out, In]) silentAt() time.Duration {
	if !r.known || r.out.Len() == 0 {
		return Never
	}
	for i := range r.links {
		if r.links[i].phase == linkOpen {
			return Never
		}
	}
	return r.contactAt + r.set.QuarantineAfterSilence
}

// Shutdown ends everything in order, since this system terminates: what is not acknowledged is sent once more, then the
// acknowledgements, then DISASSOCIATE_SHUTTING_DOWN. Done says when the connections have gone.
func (r *Remote[Out, In]) Shutdown(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	if r.state == StateClosed {
		return acts
	}
	acts = r.dropPending(WhyTerminated, acts)
	if r.state == StateActive {
		acts = r.resend(now, true, acts)
	} else {
		acts = r.dropSystem(WhyTerminated, acts)
	}
	for i := range r.links {
		if l := &r.links[i]; l.ackAt != Never {
			l.ackAt = now
		}
	}
	acts = r.acknowledge(now, acts)
	for i := 0; i < len(r.links); {
		if l := r.links[i]; l.phase == linkOpen { // it stays in the list until it has ended
			acts = append(acts, Action[Out, In]{Do: Disassociate, Conn: l.id, Reason: Shutdown})
			i++
		} else {
			acts = r.drop(l.id, Shutdown, acts)
		}
	}
	// Whether the last ones arrive is not known: they are no dead letters.
	r.out.Drain(func(SeqNo, Out) bool { return true })
	r.state, r.writer, r.resendAt, r.gateUntil, r.bailoutAt, r.closeBy = StateClosed, 0, Never, Never, Never, now+r.set.FlushWaitOnShutdown
	return acts
}
