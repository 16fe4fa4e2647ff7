package assoc

import "time"

// Role says who made a connection.
type Role uint8

// The roles.
const (
	Dialer   Role = iota // this side
	Listener             // the peer
)

// String is "dialer" or "listener".
func (r Role) String() string { return name([]string{"dialer", "listener"}, int(r)) }

// ConnState is how far a connection is.
type ConnState uint8

// The states.
const (
	ConnNew       ConnState = iota // not yet opened
	ConnHandshake                  // waiting for the peer's ASSOCIATE
	ConnOpen                       // associated
	ConnDone                       // ended
)

// String is the name of the state.
func (s ConnState) String() string { return name([]string{"new", "handshake", "open", "done"}, int(s)) }

// ConnDo says what a ConnAction wants done.
type ConnDo uint8

// What a connection wants.
const (
	ConnSend       ConnDo = iota // write the control message Command (an ASSOCIATE with the own origin and UID)
	ConnDeliver                  // handle Payload; its memory is the connection's until its next method is called
	ConnAssociated               // the handshake is done: the peer is Address, UID. Next: Remote.Associated or Remote.Inbound
	ConnPause                    // stop reading: too much waits for a reader
	ConnResume                   // read on
	ConnEnded                    // it is over, for Reason and Cause: send what is to be sent, half-close, drain for a while, close
)

// ConnAction is one thing to do for a connection.
type ConnAction struct {
	Do      ConnDo
	Command Command // of ConnSend
	UID     UID     // of ConnAssociated
	Reason  Reason  // of ConnEnded
	Cause   Cause   // of ConnEnded
	Address string  // of ConnAssociated
	Payload []byte  // of ConnDeliver
}

// Conn is the handshake and the life of one connection (Akka.NET 1.5, ProtocolStateActor). Make one with NewDialer or
// NewListener and call Opened first. Methods append what to do to acts and return it. After its end a Conn does nothing.
type Conn struct {
	set      *Settings
	role     Role
	state    ConnState
	address  string
	uid      UID
	refuse   UID
	refusing bool
	detector DeadlineDetector

	handshakeBy time.Duration
	heartbeatAt time.Duration // Never: none is to be sent yet
	retryAt     time.Duration // when the ASSOCIATE is tried again; Never: it is out

	attached bool
	paused   bool
	held     []byte // payloads that wait for a reader, one after another
	heldEnds []int  // where each of them ends
	end      ConnAction
}

// NewDialer makes the connection that dials address. A peer with the UID refuse is sent away again if refusing.
func NewDialer(set *Settings, address string, refuse UID, refusing bool) *Conn {
	return &Conn{set: set, role: Dialer, address: address, refuse: refuse, refusing: refusing, heartbeatAt: Never, retryAt: Never,
		detector: NewDeadlineDetector(set.AcceptableHeartbeatPause, set.HeartbeatInterval)}
}

// NewListener makes a connection that the listener took.
func NewListener(set *Settings) *Conn {
	return &Conn{set: set, role: Listener, heartbeatAt: Never, retryAt: Never,
		detector: NewDeadlineDetector(set.AcceptableHeartbeatPause, set.HeartbeatInterval)}
}

// Role is who made the connection.
func (c *Conn) Role() Role { return c.role }

// State is how far the connection is.
func (c *Conn) State() ConnState { return c.state }

// Peer is who is at the other end, once the state is ConnOpen.
func (c *Conn) Peer() (address string, uid UID) { return c.address, c.uid }

// Opened tells that there is a connection: the dialer says ASSOCIATE, the listener waits for it.
func (c *Conn) Opened(now time.Duration, acts []ConnAction) []ConnAction {
	if c.state != ConnNew {
		return acts
	}
	c.state = ConnHandshake
	c.handshakeBy = now + c.set.handshake()
	if c.role == Dialer {
		c.heartbeatAt = now + c.set.HeartbeatInterval
		acts = append(acts, ConnAction{Do: ConnSend, Command: Associate})
	}
	return acts
}

// Unwritable tells that the socket did not take the ASSOCIATE: it is asked for again after BackoffInterval.
func (c *Conn) Unwritable(now time.Duration) {
	if c.state == ConnHandshake && c.role == Dialer || c.state == ConnOpen && c.role == Listener {
		c.retryAt = now + c.set.BackoffInterval
	}
}

// Control tells of a control message from the peer; origin and uid are those of an ASSOCIATE.
func (c *Conn) Control(now time.Duration, command Command, origin Origin, uid UID, acts []ConnAction) []ConnAction {
	switch c.state {
	case ConnHandshake:
		switch command {
		case Associate:
			return c.associate(now, origin, uid, acts)
		case DisassociateUnknown, DisassociateShuttingDown, DisassociateQuarantined:
			return c.finish(reasonOf(command), CauseDisassociated, acts)
		case Heartbeat:
			return c.say(Unknown, CauseUnexpected, acts)
		}
		return c.finish(Unknown, CauseUndecodable, acts)
	case ConnOpen:
		switch command {
		case Heartbeat:
			c.detector.Heartbeat(now)
		case Associate: // a second one means nothing
		case DisassociateUnknown, DisassociateShuttingDown, DisassociateQuarantined:
			return c.finish(reasonOf(command), CauseDisassociated, acts)
		default:
			return c.finish(Unknown, CauseUndecodable, acts)
		}
	}
	return acts
}

// associate handles the first ASSOCIATE.
func (c *Conn) associate(now time.Duration, origin Origin, uid UID, acts []ConnAction) []ConnAction {
	if c.role == Dialer {
		// Who answers is who was dialed, whatever it calls itself.
		if c.refusing && uid == c.refuse {
			return c.say(Quarantined, CauseRefused, acts)
		}
	} else {
		address, ok := origin.Address()
		if !ok {
			return c.finish(Unknown, CauseUndecodable, acts)
		}
		c.address = address
		c.heartbeatAt = now + c.set.HeartbeatInterval
		acts = append(acts, ConnAction{Do: ConnSend, Command: Associate})
	}
	c.state, c.uid, c.handshakeBy, c.retryAt = ConnOpen, uid, Never, Never
	c.detector.Heartbeat(now)
	return append(acts, ConnAction{Do: ConnAssociated, Address: c.address, UID: uid})
}

// Payload tells of a message from the peer. It is delivered, or copied until there is a reader.
func (c *Conn) Payload(now time.Duration, b []byte, acts []ConnAction) []ConnAction {
	switch c.state {
	case ConnHandshake:
		return c.say(Unknown, CauseUnexpected, acts)
	case ConnOpen:
		c.detector.Heartbeat(now)
		if c.attached {
			return append(acts, ConnAction{Do: ConnDeliver, Payload: b})
		}
		c.held = append(c.held, b...)
		c.heldEnds = append(c.heldEnds, len(c.held))
		switch held := len(c.held) + 8*len(c.heldEnds); { // the ends count too, or empty payloads would be free
		case held > 2*(c.set.HoldLimit+c.set.MaximumFrameSize): // what one read may still bring after ConnPause is less
			return c.say(Unknown, CauseFailed, acts)
		case held > c.set.HoldLimit && !c.paused:
			c.paused = true
			acts = append(acts, ConnAction{Do: ConnPause})
		}
	}
	return acts
}

// Seen is the short form of Payload for whoever has just read: true means that the payloads of this read may be handled
// directly, and the peer counts as alive.
func (c *Conn) Seen(now time.Duration) bool {
	if c.state != ConnOpen || !c.attached {
		return false
	}
	c.detector.Heartbeat(now)
	return true
}

// Undecodable tells that what came is no PDU: the connection ends without a word.
func (c *Conn) Undecodable(acts []ConnAction) []ConnAction {
	return c.finish(Unknown, CauseUndecodable, acts)
}

// Closed tells that the connection has gone: CauseFin, CauseReset, CauseFailed, or CauseDialFailed and CauseInvalidAddress where
// there never was one.
func (c *Conn) Closed(cause Cause, acts []ConnAction) []ConnAction {
	reason := Unknown
	if cause == CauseReset {
		reason = Shutdown // what Akka.NET makes of a reset; a Remote looks at the cause as well
	}
	return c.finish(reason, cause, acts)
}

// Disassociate ends the connection from this side.
func (c *Conn) Disassociate(reason Reason, acts []ConnAction) []ConnAction {
	if c.state == ConnNew {
		return c.finish(reason, CauseLocal, acts)
	}
	return c.say(reason, CauseLocal, acts)
}

// Attach tells that there is a reader now: it gets what was held, and the end if that has come already.
func (c *Conn) Attach(acts []ConnAction) []ConnAction {
	if c.attached {
		return acts
	}
	c.attached = true
	from := 0
	for _, to := range c.heldEnds {
		acts = append(acts, ConnAction{Do: ConnDeliver, Payload: c.held[from:to:to]})
		from = to
	}
	c.held, c.heldEnds = nil, nil
	if c.state == ConnDone {
		return append(acts, c.end)
	}
	if c.paused {
		c.paused = false
		acts = append(acts, ConnAction{Do: ConnResume})
	}
	return acts
}

// Tick does what is due.
func (c *Conn) Tick(now time.Duration, acts []ConnAction) []ConnAction {
	if c.state != ConnHandshake && c.state != ConnOpen {
		return acts
	}
	if c.state == ConnHandshake && now >= c.handshakeBy {
		return c.say(Unknown, CauseHandshakeTimeout, acts)
	}
	if now >= c.retryAt {
		c.retryAt = Never
		acts = append(acts, ConnAction{Do: ConnSend, Command: Associate})
	}
	if now >= c.heartbeatAt {
		// A connection that is not read is not silent.
		if !c.paused && !c.detector.Available(now) {
			return c.say(Unknown, CauseSilent, acts)
		}
		if c.heartbeatAt += c.set.HeartbeatInterval; c.heartbeatAt <= now {
			c.heartbeatAt = now + c.set.HeartbeatInterval // the caller was late: no volley of heartbeats
		}
		if c.retryAt == Never { // nothing goes before the ASSOCIATE
			acts = append(acts, ConnAction{Do: ConnSend, Command: Heartbeat})
		}
	}
	return acts
}

// Next is when Tick has to be called, Never if it need not be.
func (c *Conn) Next() time.Duration {
	switch c.state {
	case ConnHandshake:
		return min(c.handshakeBy, c.retryAt, c.heartbeatAt)
	case ConnOpen:
		return min(c.retryAt, c.heartbeatAt)
	}
	return Never
}

// say ends the connection and tells the peer.
func (c *Conn) say(reason Reason, cause Cause, acts []ConnAction) []ConnAction {
	if c.state != ConnDone {
		acts = append(acts, ConnAction{Do: ConnSend, Command: reason.command()})
	}
	return c.finish(reason, cause, acts)
}

// finish ends the connection. Without a reader, what was held stays for a late one, unless this side ended it.
func (c *Conn) finish(reason Reason, cause Cause, acts []ConnAction) []ConnAction {
	if c.state == ConnDone {
		return acts
	}
	c.state = ConnDone
	c.end = ConnAction{Do: ConnEnded, Reason: reason, Cause: cause}
	if cause == CauseLocal {
		c.held, c.heldEnds = nil, nil
	}
	return append(acts, c.end)
}

// reasonOf is what a DISASSOCIATE says.
func reasonOf(c Command) Reason {
	switch c {
	case DisassociateShuttingDown:
		return Shutdown
	case DisassociateQuarantined:
		return Quarantined
	}
	return Unknown
}
