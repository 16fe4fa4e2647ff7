package uaserver

import (
	"github.com/actua/actua/ua"
)

// registerNodes is the service RegisterNodes (Part 4, 5.9.5). Access by NodeId is as fast as it can be
// already, so the ids stay the same and nothing is kept.
func registerNodes(k *call, q *ua.RegisterNodesRequest, p *ua.RegisterNodesResponse) outcome {
	if !k.checkNodes(q.NodesToRegister) {
		return answered
	}
	p.RegisteredNodeIDs = append(p.RegisteredNodeIDs[:0], q.NodesToRegister...)
	return answered
}

// unregisterNodes is the service UnregisterNodes (Part 4, 5.9.6).
func unregisterNodes(k *call, q *ua.UnregisterNodesRequest, _ *ua.UnregisterNodesResponse) outcome {
	k.checkNodes(q.NodesToUnregister)
	return answered
}

func (k *call) checkNodes(ids []ua.NodeID) bool {
	switch {
	case len(ids) == 0:
		k.fail(ua.BadNothingToDo, "no nodes")
		return false
	case len(ids) > k.server.cfg.Limits.MaxNodesPerRegisterNodes:
		k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerRegisterNodes")
		return false
	}
	for _, id := range ids {
		if id.IsNull() {
			k.fail(ua.BadNodeIdInvalid, "a NodeId is null")
			return false
		}
	}
	return true
}
