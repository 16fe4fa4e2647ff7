package memspace

import (
	"errors"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// Call implements uaserver.NodeManager (Part 4, 5.12.2). A method that nobody has given a function is
// BadNotImplemented.
func (s *Space) Call(ctx *uaserver.Context, item *uaserver.CallItem) {
	r := item.Result
	obj := s.nodes.find(item.ObjectID)
	if obj == nil {
		r.StatusCode = ua.BadNodeIdUnknown
		return
	}
	m := s.methodOf(obj, item.MethodID)
	if m == nil {
		r.StatusCode = ua.BadMethodInvalid
		return
	}
	f := m.more.method.Load()
	switch {
	case f == nil:
		r.StatusCode = ua.BadNotImplemented
	case !m.executable():
		r.StatusCode = ua.BadNotExecutable
	case !m.allowed(ctx, ua.PermissionTypeCall):
		r.StatusCode = ua.BadUserAccessDenied
	case len(item.Inputs) < len(f.inputs):
		r.StatusCode = ua.BadArgumentsMissing
	case len(item.Inputs) > len(f.inputs):
		r.StatusCode = ua.BadTooManyArguments
	case !s.checkInputs(f, item):
		r.StatusCode = ua.BadInvalidArgument
	case !f.nonBlocking && !ctx.MayBlock:
		item.Blocked = true
	default:
		out, err := s.callMethod(f.call, Call{ctx, obj, m, item.Inputs})
		r.StatusCode, r.OutputArguments = s.outcome(m, f, item, out, err)
	}
}

// methodOf finds the method to run: a component of the object, or of its type; then the object's own
// of that name, if it has one (Part 4, 5.12.2; Part 3, 6.4). It is nil when there is no such method.
func (s *Space) methodOf(obj *Node, id ua.NodeID) *Node {
	m := s.nodes.find(id)
	if m == nil || m.Class() != ua.NodeClassMethod {
		return nil
	}
	if obj.has(m) {
		return m
	}
	for t, n := obj.typeDef, 0; t != nil && n < deepest; n++ {
		if t.has(m) {
			if own := obj.child(uaid.HasComponent, m.name); own != nil && own.Class() == ua.NodeClassMethod {
				return own
			}
			return m
		}
		if t.info() == nil {
			return nil
		}
		t = t.info().super.Load()
	}
	return nil
}

// has reports whether a method is a component of the node.
func (n *Node) has(m *Node) bool {
	found := false
	f, _ := n.space.newFilter(ua.BrowseDirectionInverse, ua.ID(uaid.HasComponent), true, 0)
	f.each(m, 0, func(r ref) bool {
		found = r.target == n && f.selects(&r)
		return !found
	})
	return found
}

// checkInputs checks types and ranks, and puts the reasons into the InputArgumentResults if one is
// wrong. Arguments that may be written in two ways are brought into the declared one.
func (s *Space) checkInputs(f *method, item *uaserver.CallItem) bool {
	ok := true
	for i := range f.inputs {
		a := &f.inputs[i]
		fit, fits := s.accept(item.Inputs[i], a.dataType, a.types, a.ValueRank, a.ArrayDimensions)
		if fits {
			item.Inputs[i] = fit
			continue
		}
		if ok {
			ok = false
			item.Result.InputArgumentResults = make([]ua.StatusCode, len(f.inputs))
		}
		item.Result.InputArgumentResults[i] = ua.BadTypeMismatch
	}
	return ok
}

// outcome is what the client is told about a call that was made.
func (s *Space) outcome(m *Node, f *method, item *uaserver.CallItem, out []ua.Variant, err error) (ua.StatusCode, []ua.Variant) {
	if err != nil {
		var arg ArgumentError
		if errors.As(err, &arg) && arg.Index >= 0 && arg.Index < len(f.inputs) {
			item.Result.InputArgumentResults = make([]ua.StatusCode, len(f.inputs))
			item.Result.InputArgumentResults[arg.Index] = arg.Status
			return ua.BadInvalidArgument, nil
		}
		var status ua.StatusCode
		if !errors.As(err, &status) {
			s.log.Load().Error("memspace: a method failed", "node", m.id.String(), "error", err)
			return ua.BadInternalError, nil
		}
		if status.IsBad() {
			return status, nil
		}
		err = status
	}
	status := ua.Good
	if err != nil {
		status = err.(ua.StatusCode)
	}
	fits := len(out) == len(f.outputs)
	for i := 0; fits && i < len(out); i++ {
		a := &f.outputs[i]
		out[i], fits = s.accept(out[i], a.dataType, a.types, a.ValueRank, a.ArrayDimensions)
	}
	if !fits {
		s.log.Load().Error("memspace: a method gave outputs that it does not declare", "node", m.id.String(), "outputs", out)
		return ua.BadInternalError, nil
	}
	return status, out
}
