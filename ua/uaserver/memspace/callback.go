package memspace

import (
	"runtime/debug"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// ReadFunc gives the value that a client reads. A source time of 0 becomes the time of the request.
type ReadFunc func(r Read) ua.DataValue

// Read is what a ReadFunc is told. Context is valid until the ReadFunc returns.
type Read struct {
	Context  *uaserver.Context
	Variable *Variable
}

// WriteFunc decides about a value that a client writes. With a bad status the variable keeps its old
// value, and the client gets the status.
type WriteFunc func(w Write) ua.StatusCode

// Write is what a WriteFunc is told. Context is valid until the WriteFunc returns. New is the whole
// value, even if the client wrote a part of it; its type is the variable's.
type Write struct {
	Context  *uaserver.Context
	Variable *Variable
	Old, New ua.DataValue
}

// User is the name of the user who writes; "" for an anonymous one.
func (w Write) User() string { return w.Context.Session.User }

// callRead runs a ReadFunc; false when it panicked.
func (s *Space) callRead(ctx *uaserver.Context, v *Variable) (d ua.DataValue, ok bool) {
	defer func() {
		if !ok {
			s.panicked("OnRead", &v.Node, recover())
		}
	}()
	d = v.hooks.onRead(Read{ctx, v})
	return d, true
}

// callWrite runs a WriteFunc; BadInternalError when it panicked.
func (s *Space) callWrite(w Write) (status ua.StatusCode) {
	done := false
	defer func() {
		if !done {
			s.panicked("OnWrite", &w.Variable.Node, recover())
			status = ua.BadInternalError
		}
	}()
	status = w.Variable.hooks.onWrite(w)
	done = true
	return status
}

// callMethod runs a MethodFunc; BadInternalError when it panicked.
func (s *Space) callMethod(f MethodFunc, c Call) (out []ua.Variant, err error) {
	done := false
	defer func() {
		if !done {
			s.panicked("method", c.Method, recover())
			out, err = nil, ua.BadInternalError
		}
	}()
	out, err = f(c)
	done = true
	return out, err
}

func (s *Space) panicked(what string, n *Node, reason any) {
	s.log.Load().Error("memspace: a callback panicked", "callback", what, "node", n.id.String(),
		"panic", reason, "stack", string(debug.Stack()))
}
