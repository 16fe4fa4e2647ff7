package uaserver

import (
	"github.com/actua/actua/ua"
)

// callMethods is the service Call (Part 4, 5.12.2). Methods run in the order of the request; once one
// has to wait, those behind it wait for it.
func callMethods(k *call, q *ua.CallRequest, p *ua.CallResponse) outcome {
	switch n := len(q.MethodsToCall); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "MethodsToCall is empty")
	case n > k.server.cfg.Limits.MaxNodesPerMethodCall:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerMethodCall")
	}
	p.Results = append(p.Results[:0], make([]ua.CallMethodResult, len(q.MethodsToCall))...)
	k.calls, k.left = k.calls[:0], k.maxResponse()
	for i := range q.MethodsToCall {
		m := &q.MethodsToCall[i]
		k.calls = append(k.calls, CallItem{
			ObjectID: m.ObjectID, MethodID: m.MethodID, Inputs: m.InputArguments, Result: &p.Results[i],
		})
	}
	if next := k.callItems(0); next < len(k.calls) {
		return k.background(func(k *call) {
			k.callItems(next)
			finishCall(k, p)
		})
	}
	finishCall(k, p)
	return answered
}

// callItems calls the methods from one on and returns the first that has to wait. When the outputs are
// more than a response holds, no further ones are called.
func (k *call) callItems(from int) int {
	for i := from; i < len(k.calls); i++ {
		item := &k.calls[i]
		switch m := k.server.NodeManagerOf(item.ObjectID.Namespace()); {
		case item.ObjectID.IsNull() || m == nil:
			item.Result.StatusCode = nodeStatus(item.ObjectID)
		case item.MethodID.IsNull():
			item.Result.StatusCode = ua.BadMethodInvalid
		default:
			item.Blocked = false
			m.Call(&k.ctx, item)
			if item.Blocked && !k.ctx.MayBlock {
				return i
			}
			for _, out := range item.Result.OutputArguments {
				k.left -= valueSize(out)
			}
			if k.left < 0 {
				return len(k.calls)
			}
		}
	}
	return len(k.calls)
}

func finishCall(k *call, p *ua.CallResponse) {
	if k.left < 0 {
		clear(p.Results)
		k.fail(ua.BadResponseTooLarge, "the outputs are larger than a response may be; call fewer methods at a time")
		return
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), callStatus)
}

func callStatus(k *call, i int) ua.StatusCode { return k.resp.(*ua.CallResponse).Results[i].StatusCode }
