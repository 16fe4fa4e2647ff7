package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
)

// RegisterNodes tells the server that nodes will be used often (Part 4, 5.9.5). The ids it returns, in
// the same order, are good for this session only and may be faster to use.
func (c *Client) RegisterNodes(ctx context.Context, nodes ...ua.NodeID) ([]ua.NodeID, error) {
	ids := make([]ua.NodeID, 0, len(nodes))
	limit := c.limit(ctx, len(nodes), func(l *Limits) uint32 { return l.MaxNodesPerRegisterNodes })
	err := batches(len(nodes), limit, func(from, to int) error {
		req := ua.RegisterNodesRequest{NodesToRegister: nodes[from:to]}
		var resp ua.RegisterNodesResponse
		err := c.send(ctx, "RegisterNodes", &req.RequestHeader, &req, &resp, &resp.ResponseHeader)
		if err == nil {
			err = results("RegisterNodes", len(resp.RegisteredNodeIDs), to-from)
		}
		if err == nil {
			ids = append(ids, resp.RegisteredNodeIDs...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// UnregisterNodes gives back what RegisterNodes returned (Part 4, 5.9.6).
func (c *Client) UnregisterNodes(ctx context.Context, nodes ...ua.NodeID) error {
	limit := c.limit(ctx, len(nodes), func(l *Limits) uint32 { return l.MaxNodesPerRegisterNodes })
	return batches(len(nodes), limit, func(from, to int) error {
		req := ua.UnregisterNodesRequest{NodesToUnregister: nodes[from:to]}
		var resp ua.UnregisterNodesResponse
		return c.send(ctx, "UnregisterNodes", &req.RequestHeader, &req, &resp, &resp.ResponseHeader)
	})
}
