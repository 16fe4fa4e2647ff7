package assoc

import "time"

// ConnID names a connection, or a dial that is to become one, within a Remote. 0 is none.
type ConnID uint32

// Do says what an Action wants done.
type Do uint8

// What a Remote wants.
const (
	// Dial makes a connection Conn, and refuses UID in its handshake if Refuse. It ends in Associated or Ended.
	Dial Do = iota + 1
	// Attach gives the connection Conn its reader: Conn.Attach.
	Attach
	// Disassociate ends the connection or dial Conn for Reason: Conn.Disassociate. The Remote has forgotten it already.
	Disassociate
	// Write sends Out on Conn with the number Seq, Unsequenced for an ordinary message.
	Write
	// WriteAck sends Ack on Conn, alone. Its Nacks are valid until the next call.
	WriteAck
	// Deliver handles the system message In.
	Deliver
	// DeadLetter gives Out up for Why.
	DeadLetter
	// Publish tells the event stream Event.
	Publish
)

var doNames = [...]string{"", "dial", "attach", "disassociate", "write", "ack", "deliver", "dead-letter", "publish"}

// String is the name of what is to be done.
func (d Do) String() string { return name(doNames[:], int(d)) }

// Action is one thing to do for a remote address. Out is the type of outgoing messages, In that of incoming system messages.
type Action[Out, In any] struct {
	Do     Do
	Event  Event  // of Publish
	Why    Why    // of DeadLetter, and of a Publish of EventQuarantined and EventAddressTerminated
	Reason Reason // of Disassociate and of a Publish of EventDisassociated
	Cause  Cause  // of a Publish of EventDisassociated, EventAssociationError and EventGated
	Role   Role   // of a Publish of EventAssociated, EventDisassociated and EventAssociationError
	Refuse bool   // of Dial
	Conn   ConnID // of all that concern a connection
	UID    UID    // of Dial, and of a Publish of EventAssociated and EventQuarantined
	Seq    SeqNo  // of Write
	Ack    Ack    // of WriteAck
	Out    Out    // of Write and DeadLetter
	In     In     // of Deliver
}

// Event is what the event stream is told of an address.
type Event uint8

// The events. Those with a counterpart in Akka.NET have its name there, with "Event" behind it.
const (
	EventAssociated                 Event = iota + 1 // a handshake is done
	EventDisassociated                               // a connection has ended
	EventAssociationError                            // a dial has failed
	EventQuarantined                                 // this incarnation is cut off for good
	EventThisActorSystemQuarantined                  // the peer has cut this system off
	EventGated                                       // the address is left alone for a while
	EventAddressTerminated                           // watchers have to be told that all actors there are gone
)

var eventNames = [...]string{"", "Associated", "Disassociated", "AssociationError", "Quarantined", "ThisActorSystemQuarantined", "Gated", "AddressTerminated"}

// String is the name of the event.
func (e Event) String() string { return name(eventNames[:], int(e)) }

// Why says why messages were given up or an address was quarantined.
type Why uint8

// The reasons to give something up.
const (
	WhyGated             Why = iota + 1 // the address is gated
	WhyOverflow                         // too many messages wait for the connection
	WhyDialFailed                       // there was no connection
	WhyDisassociated                    // the connection ended while they waited
	WhyPeerShutdown                     // the peer has shut down
	WhyPeerRestarted                    // they were for an earlier incarnation
	WhyPeerRefused                      // the peer is the incarnation that is quarantined
	WhyThisQuarantined                  // the peer has quarantined this system
	WhyQuarantined                      // the address was quarantined from outside (remote watch, the application)
	WhyBufferFull                       // too many system messages without acknowledgement
	WhyAckImpossible                    // the peer acknowledges or asks for what cannot be
	WhyDeliveryTimedOut                 // a system never reached, or one that acknowledges nothing
	WhySilence                          // not heard for too long
	WhyTerminated                       // this system shuts down
	WhyUnreachableUnseen                // declared unreachable before it was ever reached
	WhyUnwritable                       // it is too large, or has no serializer: said by whoever writes
)

var whyNames = [...]string{"", "gated", "overflow", "dial failed", "disassociated", "peer shut down", "peer restarted", "peer refused",
	"this system is quarantined", "quarantined", "system message buffer full", "impossible acknowledgement", "delivery timed out",
	"silent for too long", "this system shuts down", "unreachable, never seen", "not writable"}

// String says it in a few words.
func (w Why) String() string { return name(whyNames[:], int(w)) }

// State is what a remote address is in.
type State uint8

// The states.
const (
	StateIdle        State = iota // no connection to write on; the next message makes one
	StatePending                  // a dial is under way; messages wait
	StateActive                   // there is a connection to write on
	StateGated                    // left alone after a failure; messages are dead letters
	StateQuarantined              // an incarnation is cut off; the next message dials, and only another incarnation is taken
	StateClosed                   // this system shuts down
)

var stateNames = [...]string{"idle", "pending", "active", "gated", "quarantined", "closed"}

// String is the name of the state.
func (s State) String() string { return name(stateNames[:], int(s)) }

// link is a connection or dial of a Remote.
type link struct {
	id    ConnID
	role  Role
	phase linkPhase
	uid   UID
	// deaf: the peer may have stopped reading here, since there was a connection of ours beside it. Never written to.
	deaf  bool
	ackAt time.Duration // when the pending acknowledgement goes alone; Never: none is pending
}

type linkPhase uint8

const (
	linkDialing linkPhase = iota
	linkStashed           // inbound, waits until our dial has told the UID
	linkOpen              // of the present incarnation; those of another are dropped when it changes
)
