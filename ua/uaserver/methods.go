package uaserver

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uaid"
)

// LiveMethod runs a method of the Server object. A bad status is that of the call, BadInvalidArgument
// for an input of a wrong type; then there are no outputs. It returns at once.
type LiveMethod func(ctx *Context, inputs []ua.Variant) (outputs []ua.Variant, status ua.StatusCode)

// LiveMethods are the methods of the Server object that only the server itself can run, by their numbers
// in package uaid: GetMonitoredItems, ResendData and SetSubscriptionDurable (Part 5, 9.1 to 9.3). A
// subscription that does not exist is BadSubscriptionIdInvalid, one of another session
// BadUserAccessDenied.
func (s *Server) LiveMethods() map[uint32]LiveMethod {
	return map[uint32]LiveMethod{
		uaid.Server_GetMonitoredItems:      s.getMonitoredItems,
		uaid.Server_ResendData:             s.resendData,
		uaid.Server_SetSubscriptionDurable: s.setSubscriptionDurable,
	}
}

// numbersOf are inputs that are to be n UInt32.
func numbersOf(inputs []ua.Variant, n int) (list [2]uint32, status ua.StatusCode) {
	switch {
	case len(inputs) < n:
		return list, ua.BadArgumentsMissing
	case len(inputs) > n:
		return list, ua.BadTooManyArguments
	}
	for i := range inputs {
		v, ok := ua.As[uint32](inputs[i])
		if !ok {
			return list, ua.BadInvalidArgument
		}
		list[i] = v
	}
	return list, ua.Good
}

// caller is what the session that calls a method has in the publish path. Without any, every subscription
// is another's.
func (s *Server) caller(ctx *Context, id uint32) (*subs.Session, ua.StatusCode) {
	if ctx.session != nil {
		if x := ctx.session.subscriptions(); x != nil {
			return x, ua.Good
		}
	}
	if s.subs.Find(id) == nil {
		return nil, ua.BadSubscriptionIdInvalid
	}
	return nil, ua.BadUserAccessDenied
}

// getMonitoredItems is the method GetMonitoredItems (Part 5, 9.1).
func (s *Server) getMonitoredItems(ctx *Context, inputs []ua.Variant) ([]ua.Variant, ua.StatusCode) {
	in, status := numbersOf(inputs, 1)
	if status != ua.Good {
		return nil, status
	}
	x, status := s.caller(ctx, in[0])
	if status != ua.Good {
		return nil, status
	}
	server, client, status := s.subs.GetMonitoredItems(s.clock(s.now()), x, in[0])
	if status != ua.Good {
		return nil, status
	}
	return []ua.Variant{ua.Array(server), ua.Array(client)}, ua.Good
}

// resendData is the method ResendData (Part 5, 9.2).
func (s *Server) resendData(ctx *Context, inputs []ua.Variant) ([]ua.Variant, ua.StatusCode) {
	in, status := numbersOf(inputs, 1)
	if status != ua.Good {
		return nil, status
	}
	x, status := s.caller(ctx, in[0])
	if status != ua.Good {
		return nil, status
	}
	return nil, s.subs.ResendData(s.clock(s.now()), x, in[0])
}

// setSubscriptionDurable is the method SetSubscriptionDurable (Part 5, 9.3).
func (s *Server) setSubscriptionDurable(ctx *Context, inputs []ua.Variant) ([]ua.Variant, ua.StatusCode) {
	in, status := numbersOf(inputs, 2)
	if status != ua.Good {
		return nil, status
	}
	x, status := s.caller(ctx, in[0])
	if status != ua.Good {
		return nil, status
	}
	hours, status := s.subs.SetDurable(s.clock(s.now()), x, in[0], in[1])
	if status != ua.Good {
		return nil, status
	}
	return []ua.Variant{ua.UInt32(hours)}, ua.Good
}
