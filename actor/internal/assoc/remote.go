package assoc

import (
	"slices"
	"time"
)

// Remote is what is known of one remote address, and what is on its way there: which connection to write on, whether the
// address is gated or an incarnation of it quarantined, and the system messages in both directions (Akka.NET 1.5,
// EndpointRegistry, ReliableDeliverySupervisor). Make one with NewRemote. Methods append what to do to acts, to be done in that order,
// and return it; they allocate nothing once their buffers have grown.
//
// The sequence numbers and the unacknowledged messages outlive connections and begin anew only with a new UID.
type Remote[Out, In any] struct {
	set    *Settings
	state  State
	links  []link
	writer ConnID // the connection to write on in StateActive
	lastID ConnID

	uid   UID // the incarnation that the buffers belong to
	known bool

	refused []refusal // the incarnations that are quarantined, the latest last; kept when another one is active

	gateUntil time.Duration
	gateDrops bool // system messages too are dead letters while gated

	pending []waiting[Out] // ordinary messages that wait for the dial
	out     AckedSendBuffer[Out]
	seq     SeqNo // of the last system message
	written SeqNo // the highest number written on the present connection
	sent    SeqNo // the highest number ever written
	acked   SeqNo // the highest cumulative acknowledgement
	in      AckedReceiveBuffer[In]

	resendAt   time.Duration
	bailoutAt  time.Duration // when a system that was never reached is given up; Never: nothing waits
	progressAt time.Duration // when system messages last moved
	contactAt  time.Duration // when the last connection ended
	closeBy    time.Duration

	deliver []In    // scratch
	nacks   []SeqNo // scratch
}

// waiting is an ordinary message that waits for a connection.
type waiting[Out any] struct {
	m     Out
	after SeqNo // the last system message before it
}

// NewRemote makes the state of an address of which nothing is known. It keeps set, which must not change any more.
func NewRemote[Out, In any](set *Settings, now time.Duration) *Remote[Out, In] {
	r := &Remote[Out, In]{set: set, contactAt: now, progressAt: now, bailoutAt: Never, resendAt: Never, gateUntil: Never, closeBy: Never}
	r.reset()
	return r
}

// reset starts the numbering anew. The caller has drained the buffer.
func (r *Remote[Out, In]) reset() {
	r.seq, r.written, r.sent, r.acked = BeforeFirst, BeforeFirst, BeforeFirst, BeforeFirst
	r.out = NewAckedSendBuffer[Out](r.set.SystemMessageBufferSize)
	r.in = NewAckedReceiveBuffer[In](r.set.SystemMessageReceiveWindow)
	r.resendAt, r.bailoutAt = Never, Never
}

// State is what the address is in.
func (r *Remote[Out, In]) State() State { return r.state }

// UID is the incarnation of the peer that is or was last connected, false if none was or it is quarantined.
func (r *Remote[Out, In]) UID() (UID, bool) { return r.uid, r.known }

// Refused is the incarnation that was quarantined last, if there is one: the one that a dial refuses.
func (r *Remote[Out, In]) Refused() (UID, bool) {
	if n := len(r.refused); n > 0 {
		return r.refused[n-1].uid, true
	}
	return 0, false
}

// Writer is the connection to write on, 0 if there is none. While it is not 0, ordinary messages may be written there without Send.
func (r *Remote[Out, In]) Writer() ConnID { return r.writer }

// Unacknowledged is how many system messages wait for their acknowledgement, Waiting how many others for a connection.
func (r *Remote[Out, In]) Unacknowledged() int { return r.out.Len() }

// Waiting is how many ordinary messages wait for a connection.
func (r *Remote[Out, In]) Waiting() int { return len(r.pending) }

// Done reports that a shut down Remote has no connection any more or has waited long enough.
func (r *Remote[Out, In]) Done(now time.Duration) bool {
	return r.state == StateClosed && (len(r.links) == 0 || now >= r.closeBy)
}

// Forgettable reports that nothing would be lost with the Remote: no connection, no message, no quarantine. One that has
// exchanged system messages must be kept for as long as its peer may come back with the same UID and count on.
func (r *Remote[Out, In]) Forgettable(now time.Duration) bool {
	if len(r.links) > 0 || r.out.Len() > 0 || len(r.pending) > 0 || len(r.refused) > 0 && now < r.refused[len(r.refused)-1].until || r.state == StateGated && now < r.gateUntil {
		return false
	}
	fresh := r.seq == BeforeFirst && r.in.LastDelivered() == BeforeFirst && r.in.Held() == 0
	return fresh || now-r.contactAt >= r.set.PruneQuarantineMarkerAfter
}

// Send sends the ordinary message m, keeps it until there is a connection, or gives it up.
func (r *Remote[Out, In]) Send(now time.Duration, m Out, acts []Action[Out, In]) []Action[Out, In] {
	switch r.state {
	case StateActive:
		return append(acts, Action[Out, In]{Do: Write, Conn: r.writer, Seq: Unsequenced, Out: m})
	case StateClosed:
		return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyTerminated, Out: m})
	case StateGated:
		if now < r.gateUntil {
			return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyGated, Out: m})
		}
		if acts = r.ungate(now, acts); r.state == StateGated {
			return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyGated, Out: m})
		}
	}
	if len(r.pending) >= r.set.PendingSendLimit {
		return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyOverflow, Out: m})
	}
	r.pending = append(r.pending, waiting[Out]{m, r.seq})
	return r.dial(acts)
}

// SendSystem sends the system message m reliably: it gets the next number and is kept until it is acknowledged. Only a
// gate after the peer's shutdown or a refusal, and one's own shutdown, make a dead letter of it at once.
func (r *Remote[Out, In]) SendSystem(now time.Duration, m Out, acts []Action[Out, In]) []Action[Out, In] {
	if r.state == StateClosed {
		return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyTerminated, Out: m})
	}
	if r.state == StateGated && now >= r.gateUntil {
		acts = r.ungate(now, acts)
	}
	if r.state == StateGated && r.gateDrops {
		return append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyGated, Out: m})
	}
	if r.out.Len() == 0 {
		r.progressAt = now
		if !r.known && r.bailoutAt == Never {
			r.bailoutAt = now + r.set.InitialSystemMessageDeliveryTimeout
		}
	}
	if err := r.out.Buffer(r.seq.Next(), m); err != nil {
		acts = append(acts, Action[Out, In]{Do: DeadLetter, Why: WhyBufferFull, Out: m})
		return r.hopeless(now, WhyBufferFull, acts)
	}
	r.seq = r.seq.Next()
	switch r.state {
	case StateActive:
		return r.flow(now, acts)
	case StateIdle, StateQuarantined:
		return r.dial(acts)
	}
	return acts
}

// dial makes a connection if none is being made.
func (r *Remote[Out, In]) dial(acts []Action[Out, In]) []Action[Out, In] {
	if r.state != StateIdle && r.state != StateQuarantined {
		return acts
	}
	r.state = StatePending
	r.lastID++
	r.links = append(r.links, link{id: r.lastID, role: Dialer, phase: linkDialing, ackAt: Never})
	uid, refuse := r.Refused()
	return append(acts, Action[Out, In]{Do: Dial, Conn: r.lastID, UID: uid, Refuse: refuse})
}

// flow writes the system messages that were never written on this connection, as many as may be on their way at once.
func (r *Remote[Out, In]) flow(now time.Duration, acts []Action[Out, In]) []Action[Out, In] {
	if r.written == r.seq {
		return acts
	}
	r.out.after(r.written, r.set.ResendLimit, func(seq SeqNo, m Out) bool {
		acts = append(acts, Action[Out, In]{Do: Write, Conn: r.writer, Seq: seq, Out: m})
		r.written, r.sent = seq, latest(r.sent, seq)
		return true
	})
	if r.resendAt == Never {
		r.resendAt = now + r.set.ResendInterval
	}
	return acts
}

// resend writes what was asked for again and the first of those of which nothing was heard, at most ResendLimit of each.
func (r *Remote[Out, In]) resend(now time.Duration, all bool, acts []Action[Out, In]) []Action[Out, In] {
	n := 0
	write := func(seq SeqNo, m Out) bool {
		if n++; n > r.set.ResendLimit {
			return false
		}
		acts = append(acts, Action[Out, In]{Do: Write, Conn: r.writer, Seq: seq, Out: m})
		r.written, r.sent = latest(r.written, seq), latest(r.sent, seq)
		return true
	}
	r.out.Nacked(write)
	if all {
		n = 0
		r.out.NonAcked(write)
		r.resendAt = Never
		if r.out.Len() > 0 {
			r.resendAt = now + r.set.ResendInterval
		}
	}
	return acts
}

// Ack tells of an acknowledgement that came on a connection. Before the handshake is done, and from a connection
// that has been given up, it says nothing.
func (r *Remote[Out, In]) Ack(now time.Duration, id ConnID, ack Ack, acts []Action[Out, In]) []Action[Out, In] {
	l := r.link(id)
	if l == nil || l.phase != linkOpen || r.state == StateClosed || r.sent == BeforeFirst {
		return acts
	}
	if r.sent.Before(ack.Cumulative) { // the buffer knows only that it has the number, not whether it went out
		return r.hopeless(now, WhyAckImpossible, acts)
	}
	if err := r.out.Acknowledge(ack.Cumulative, ack.Nacks); err != nil {
		// With two connections an older acknowledgement may be read after a newer one; then what it asks for has arrived since.
		if err == ErrNackUnknown && !r.acked.Before(ack.Cumulative) && r.acked != BeforeFirst {
			return acts
		}
		return r.hopeless(now, WhyAckImpossible, acts)
	}
	if r.acked.Before(ack.Cumulative) {
		r.acked, r.progressAt = ack.Cumulative, now
		if r.resendAt != Never {
			r.resendAt = now + r.set.ResendInterval
		}
	}
	if r.out.Len() == 0 {
		r.resendAt = Never
	}
	if r.state != StateActive {
		return acts
	}
	acts = r.resend(now, false, acts)
	return r.flow(now, acts)
}

// Received tells of the system message m with the number seq that came on a connection. It is acknowledged on the same
// connection, and delivered when its turn comes; m must stay valid until then.
func (r *Remote[Out, In]) Received(now time.Duration, id ConnID, seq SeqNo, m In, acts []Action[Out, In]) []Action[Out, In] {
	l := r.link(id)
	if l == nil || l.phase != linkOpen || seq == Unsequenced {
		return acts
	}
	ready, ok := r.in.Receive(seq, m, r.deliver[:0])
	for i := range ready {
		acts = append(acts, Action[Out, In]{Do: Deliver, Conn: id, In: ready[i]})
	}
	clear(ready)
	r.deliver = ready[:0]
	if ok && l.ackAt == Never {
		l.ackAt = now + r.set.SystemMessageAckPiggybackTimeout
	}
	return acts
}

// TakeAck is what a message that is being written on a connection has to carry along: it appends to nacks. False means nothing.
func (r *Remote[Out, In]) TakeAck(id ConnID, nacks []SeqNo) (Ack, bool) {
	l := r.link(id)
	if l == nil || l.ackAt == Never {
		return Ack{}, false
	}
	l.ackAt = Never
	return r.in.Ack(nacks)
}

// AckDue reports whether TakeAck of that connection has something.
func (r *Remote[Out, In]) AckDue(id ConnID) bool {
	l := r.link(id)
	return l != nil && l.ackAt != Never
}

// link finds a connection.
func (r *Remote[Out, In]) link(id ConnID) *link {
	for i := range r.links {
		if r.links[i].id == id {
			return &r.links[i]
		}
	}
	return nil
}

// remove forgets a connection.
func (r *Remote[Out, In]) remove(id ConnID) {
	r.links = slices.DeleteFunc(r.links, func(l link) bool { return l.id == id })
	if r.writer == id {
		r.writer = 0
	}
}

// dropSystem gives up all system messages that are not acknowledged.
func (r *Remote[Out, In]) dropSystem(why Why, acts []Action[Out, In]) []Action[Out, In] {
	r.out.Drain(func(_ SeqNo, m Out) bool {
		acts = append(acts, Action[Out, In]{Do: DeadLetter, Why: why, Out: m})
		return true
	})
	r.resendAt, r.bailoutAt = Never, Never
	if !r.known { // nobody has seen a number yet: a gap would look like a loss
		r.reset()
	}
	return acts
}

// dropPending gives up all ordinary messages that wait for a connection.
func (r *Remote[Out, In]) dropPending(why Why, acts []Action[Out, In]) []Action[Out, In] {
	for i := range r.pending {
		acts = append(acts, Action[Out, In]{Do: DeadLetter, Why: why, Out: r.pending[i].m})
	}
	clear(r.pending)
	r.pending = r.pending[:0]
	return acts
}
