package uaserver

import (
	"context"
	"net"

	"github.com/actua/actua/ua"
)

// Context tells a node manager and the callbacks behind it who asks. It is the context of the request:
// done when the session ends, the client cancels the request (Part 4, 5.7.5) or its TimeoutHint has
// passed. It is valid until the call it was passed to returns.
type Context struct {
	context.Context
	// Session is the session that asks. It is never nil, does not change and may be kept.
	Session *SessionInfo
	// MayBlock is set when the call runs on a goroutine of its own; see NodeManager.
	MayBlock bool
	// Now is the time at which the request was received.
	Now ua.DateTime
	// LocaleIDs are the client's languages, best first (Part 4, 5.7.3).
	LocaleIDs []string

	session *session // nil when the server itself asks
}

// SessionInfo is what the server knows about the client of a session since its last activation.
type SessionInfo struct {
	ID     ua.NodeID // of the session's diagnostics node; not secret
	Name   string
	Client ua.ApplicationDescription
	// User is the name of the user; "" for an anonymous one.
	User string
	// Certificate is the client's application certificate in DER; nil without security.
	Certificate []byte
	// SecurityPolicyURI and SecurityMode are those of the session's channel.
	SecurityPolicyURI string
	SecurityMode      ua.MessageSecurityMode
	RemoteAddr        net.Addr
}

// Anonymous reports whether no user was named.
func (s *SessionInfo) Anonymous() bool { return s.User == "" }
