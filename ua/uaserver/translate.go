package uaserver

import (
	"math"
	"slices"

	"github.com/actua/actua/ua"
)

// maxTargets bounds the nodes that one browse path is followed through at a time.
const maxTargets = 10_000

// targetSize is the least that a target takes in a response, in bytes.
const targetSize = 6

// translate is the service TranslateBrowsePathsToNodeIds (Part 4, 5.9.4).
func translate(k *call, q *ua.TranslateBrowsePathsToNodeIDsRequest, p *ua.TranslateBrowsePathsToNodeIDsResponse) outcome {
	switch n := len(q.BrowsePaths); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "BrowsePaths is empty")
	case n > k.server.cfg.Limits.MaxNodesPerTranslatePaths:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerTranslateBrowsePathsToNodeIds")
	}
	p.Results = append(p.Results[:0], make([]ua.BrowsePathResult, len(q.BrowsePaths))...)
	left := k.maxResponse() / targetSize
	for i := range q.BrowsePaths {
		r := &p.Results[i]
		r.Targets, r.StatusCode = k.follow(&q.BrowsePaths[i])
		if left -= len(r.Targets); left < 0 {
			clear(p.Results)
			return k.fail(ua.BadResponseTooLarge, "the paths lead to more nodes than a response holds")
		}
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), translateStatus)
	return answered
}

func translateStatus(k *call, i int) ua.StatusCode {
	return k.resp.(*ua.TranslateBrowsePathsToNodeIDsResponse).Results[i].StatusCode
}

// follow walks one path, element by element, from all nodes that the elements before it led to.
func (k *call) follow(path *ua.BrowsePath) ([]ua.BrowsePathTarget, ua.StatusCode) {
	elements := path.RelativePath.Elements
	if path.StartingNode.IsNull() || k.server.managerOf(path.StartingNode.Namespace()) < 0 {
		return nil, nodeStatus(path.StartingNode)
	}
	if len(elements) == 0 {
		return nil, ua.BadNothingToDo
	}
	for i := range elements {
		// Only the last name may be left out: then all targets of the reference match.
		if elements[i].TargetName.Name == "" && i < len(elements)-1 {
			return nil, ua.BadBrowseNameInvalid
		}
	}
	var found []ua.BrowsePathTarget
	from := []ua.NodeID{path.StartingNode}
	for i := range elements {
		last := i == len(elements)-1
		var next []ua.NodeID
		seen := make(map[ua.ExpandedNodeID]struct{})
		for _, node := range from {
			it := TranslateItem{NodeID: node, Element: &elements[i]}
			m := k.server.NodeManagerOf(node.Namespace())
			if m == nil {
				continue
			}
			m.Translate(&k.ctx, &it)
			if it.Status.IsBad() && (i == 0 || it.Status.Base() != ua.BadNodeIdUnknown) {
				return nil, it.Status
			}
			for _, t := range it.Targets {
				if _, again := seen[t]; again {
					continue
				}
				seen[t] = struct{}{}
				switch {
				case last:
					found = append(found, ua.BrowsePathTarget{TargetID: t, RemainingPathIndex: math.MaxUint32})
				case !t.IsLocal(): // the client goes on there with what remains
					found = append(found, ua.BrowsePathTarget{TargetID: t, RemainingPathIndex: uint32(i + 1)})
				default:
					next = append(next, t.NodeID)
				}
			}
			if len(next)+len(found) > maxTargets {
				return nil, ua.BadTooManyMatches
			}
		}
		from = next
	}
	if len(found) == 0 {
		return nil, ua.BadNoMatch
	}
	return slices.Clip(found), ua.Good
}
