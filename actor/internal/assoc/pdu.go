package assoc

import (
	"strconv"
	"strings"
)

// UID tells the incarnations of a remote system at one address apart. A handshake carries it in 64 bits, of which the low 32
// count, as a signed number.
type UID int32

// UIDOf is the UID that a handshake carries.
func UIDOf(wire uint64) UID { return UID(int32(uint32(wire))) }

// Wire is the UID as a handshake carries it.
func (u UID) Wire() uint64 { return uint64(uint32(u)) }

// Command is the type of a control message between two connected systems (CommandType of AkkaControlMessage).
type Command uint8

// The commands, with the numbers of the wire.
const (
	NoCommand                Command = 0
	Associate                Command = 1
	DisassociateUnknown      Command = 2
	Heartbeat                Command = 3
	DisassociateShuttingDown Command = 4
	DisassociateQuarantined  Command = 5
)

var commandNames = [...]string{"NONE", "ASSOCIATE", "DISASSOCIATE", "HEARTBEAT", "DISASSOCIATE_SHUTTING_DOWN", "DISASSOCIATE_QUARANTINED"}

// String is the name of the command.
func (c Command) String() string { return name(commandNames[:], int(c)) }

// Origin is the address in a handshake (AddressData): Protocol is that of the transport, without "akka.".
type Origin struct {
	Protocol string
	System   string
	Hostname string
	Port     uint32
}

// Address is the origin as an address, "akka.tcp://System@host:2552", with the host in lower case. It is false if
// a part is missing or cannot be one: nobody could be answered there.
func (o Origin) Address() (string, bool) {
	if o.Protocol == "" || o.System == "" || o.Hostname == "" || o.Port == 0 || o.Port > 65535 {
		return "", false
	}
	if strings.ContainsAny(o.Protocol, "@:/#?") || strings.ContainsAny(o.System, "@:/#?") || strings.ContainsAny(o.Hostname, "@/#?") {
		return "", false
	}
	return "akka." + o.Protocol + "://" + o.System + "@" + strings.ToLower(o.Hostname) + ":" + strconv.Itoa(int(o.Port)), true
}

// Reason is what a disassociation means for the remote address (DisassociateInfo).
type Reason uint8

// The reasons.
const (
	Unknown     Reason = iota // a failure, or no reason given: the address is gated, system messages are kept
	Shutdown                  // the peer shuts down: the address is gated, system messages are dropped
	Quarantined               // the peer has quarantined this system
)

// String is the name of the reason.
func (r Reason) String() string { return name([]string{"Unknown", "Shutdown", "Quarantined"}, int(r)) }

// command is the PDU that carries the reason.
func (r Reason) command() Command {
	switch r {
	case Shutdown:
		return DisassociateShuttingDown
	case Quarantined:
		return DisassociateQuarantined
	}
	return DisassociateUnknown
}

// Cause is how a connection came to its end.
type Cause uint8

// The causes.
const (
	CauseLocal            Cause = iota // this side disassociated
	CauseDisassociated                 // the peer said so
	CauseFin                           // the peer closed without a word
	CauseReset                         // the connection was reset or aborted
	CauseFailed                        // the socket failed otherwise, or a frame was wrong
	CauseUndecodable                   // a PDU could not be decoded
	CauseUnexpected                    // the first PDU was no ASSOCIATE
	CauseHandshakeTimeout              // no ASSOCIATE in time
	CauseSilent                        // no heartbeat in time
	CauseRefused                       // the peer is the incarnation that this system has quarantined
	CauseDialFailed                    // there was no connection
	CauseInvalidAddress                // the address cannot be dialed at all
)

var causeNames = [...]string{"local", "disassociated by the peer", "closed by the peer", "connection reset", "connection failed",
	"undecodable PDU", "unexpected first PDU", "handshake timed out", "no heartbeat", "refused UID", "dial failed", "invalid address"}

// String says the cause in a few words.
func (c Cause) String() string { return name(causeNames[:], int(c)) }

// name is the i-th name, or the number where there is none.
func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}
