// Package assoc is the part of remoting that decides: reliable delivery of system messages, failure detectors, the
// handshake and life of one connection ([Conn]), and what is known of one remote address ([Remote]). It speaks as
// Akka.NET 1.5 does (classic remoting), so that either side may be one or the other.
//
// Nothing in here has a clock, a socket or a goroutine. A method takes an event and the time, and appends what is to
// be done to the caller's slice. Times are durations since a moment of the caller's choice; they must come from a
// monotonic clock and need not be exact. Next of a type says when its Tick wants to be called. None of the types may be
// used by two goroutines at once: the caller has a lock for each.
//
// Whoever owns the sockets connects the two: what a Conn reports as [ConnAssociated] or [ConnEnded] is an event for the
// Remote of that address, and what a Remote wants done with a connection ([Attach], [Disassociate]) is a call of the Conn.
package assoc

import (
	"math"
	"time"
)

// Never is later than all times: nothing is to be done until something happens.
const Never = time.Duration(math.MaxInt64)
