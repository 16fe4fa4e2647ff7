package uaclient

import (
	"context"
	"errors"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// TranslateBrowsePathsToNodeIDs sends one request of that name (Part 4, 5.9.4).
func (c *Client) TranslateBrowsePathsToNodeIDs(ctx context.Context, req *ua.TranslateBrowsePathsToNodeIDsRequest) (*ua.TranslateBrowsePathsToNodeIDsResponse, error) {
	r := *req
	resp := new(ua.TranslateBrowsePathsToNodeIDsResponse)
	const op = "TranslateBrowsePathsToNodeIds"
	if err := c.send(ctx, op, &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results(op, len(resp.Results), len(r.BrowsePaths))
}

// ResolvePath finds the node at a browse path from the Root folder, such as
// "/Objects/Server/ServerStatus" or "/Objects/2:Plant" (Part 4, A.2).
//
// When the path as written leads nowhere, names without a namespace index are taken to match a browse
// name of any namespace, so that "/Objects/Plant" finds "2:Plant" too; two such nodes give
// BadTooManyMatches. A path that leads nowhere gives BadNoMatch.
func (c *Client) ResolvePath(ctx context.Context, path string) (ua.NodeID, error) {
	return c.ResolvePathFrom(ctx, ua.ID(uaid.RootFolder), path)
}

// ResolvePathFrom is ResolvePath from another node than Root.
func (c *Client) ResolvePathFrom(ctx context.Context, start ua.NodeID, path string) (ua.NodeID, error) {
	const op = "ResolvePath"
	if strings.Trim(path, "/") == "" {
		return start, nil
	}
	relative, err := ua.ParseRelativePath(strings.TrimRight(path, "/"), nil)
	if err != nil {
		return ua.NodeID{}, &Error{Step: StepService, Op: op, Err: err}
	}
	resp, err := c.TranslateBrowsePathsToNodeIDs(ctx, &ua.TranslateBrowsePathsToNodeIDsRequest{
		BrowsePaths: []ua.BrowsePath{{StartingNode: start, RelativePath: relative}},
	})
	if err != nil {
		return ua.NodeID{}, err
	}
	r := &resp.Results[0]
	switch {
	case errors.Is(r.StatusCode, ua.BadNoMatch):
		return c.search(ctx, start, relative, path)
	case r.StatusCode.IsBad():
		return ua.NodeID{}, pathError(path, r.StatusCode)
	}
	var found []ua.NodeID
	for _, t := range r.Targets {
		if t.RemainingPathIndex == ^uint32(0) {
			id, err := c.Resolve(ctx, t.TargetID)
			if err != nil {
				return ua.NodeID{}, err
			}
			found = append(found, id)
		}
	}
	return only(found, path)
}

// search follows a path by browsing, with names that match in any namespace.
func (c *Client) search(ctx context.Context, start ua.NodeID, path ua.RelativePath, text string) (ua.NodeID, error) {
	at := []ua.NodeID{start}
	for _, e := range path.Elements {
		options := BrowseOptions{ReferenceType: e.ReferenceTypeID, ExactType: !e.IncludeSubtypes}
		if e.IsInverse {
			options.Direction = ua.BrowseDirectionInverse
		}
		if e.ReferenceTypeID.IsNull() {
			options.AllReferences = true
		}
		found, err := c.BrowseAll(ctx, at, options)
		if err != nil {
			return ua.NodeID{}, err
		}
		at = nil
		seen := map[ua.NodeID]bool{}
		for i := range found {
			for _, ref := range found[i].References {
				if !nameMatches(e.TargetName, ref.BrowseName) || !ref.NodeID.IsLocal() || seen[ref.NodeID.NodeID] {
					continue
				}
				seen[ref.NodeID.NodeID] = true
				at = append(at, ref.NodeID.NodeID)
			}
		}
		if len(at) == 0 {
			return ua.NodeID{}, pathError(text, reason(ua.BadNoMatch, "nothing is called %q there", e.TargetName.String()))
		}
	}
	return only(at, text)
}

func nameMatches(want, have ua.QualifiedName) bool {
	return want == have || want.NamespaceIndex == 0 && want.Name == have.Name
}

// only is the one node of a list.
func only(found []ua.NodeID, path string) (ua.NodeID, error) {
	switch len(found) {
	case 0:
		return ua.NodeID{}, pathError(path, ua.BadNoMatch)
	case 1:
		return found[0], nil
	}
	return ua.NodeID{}, pathError(path, reason(ua.BadTooManyMatches,
		"%v and %v are both called that: put the namespace index before the names", found[0], found[1]))
}

func pathError(path string, err error) error {
	return &Error{Step: StepService, Op: "ResolvePath", Node: path, Err: err}
}
