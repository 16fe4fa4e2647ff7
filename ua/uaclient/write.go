package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
)

// Write sends one Write request (Part 4, 5.11.4). Results stand in the order of NodesToWrite. A Value
// carries on the wire what its DataValue has: leave status and times zero for servers that refuse
// them.
func (c *Client) Write(ctx context.Context, req *ua.WriteRequest) (*ua.WriteResponse, error) {
	r := *req
	resp := new(ua.WriteResponse)
	if err := c.send(ctx, "Write", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("Write", len(resp.Results), len(r.NodesToWrite))
}

// WriteValue writes the Value attribute of a node: the value alone, without status and times, which
// many devices refuse. A bad status is an error.
func (c *Client) WriteValue(ctx context.Context, node ua.NodeID, value ua.Variant) error {
	return c.WriteRange(ctx, node, "", value)
}

// WriteRange writes the part of a value that an index range names, such as "2:4" or "1,0" (Part 4,
// 7.27); "" is the whole value.
func (c *Client) WriteRange(ctx context.Context, node ua.NodeID, indexRange string, value ua.Variant) error {
	status, err := c.WriteValues(ctx, []ua.WriteValue{{
		NodeID: node, AttributeID: uint32(ua.AttributeValue), IndexRange: indexRange, Value: ua.DataValue{Value: value},
	}})
	if err == nil {
		err = status[0].Err()
	}
	return nodeError("Write", node, err)
}

// WriteValues writes any number of attributes, in as many requests as the server's limits ask for.
// When a request fails, the statuses of those before it are returned with the error.
func (c *Client) WriteValues(ctx context.Context, items []ua.WriteValue) ([]ua.StatusCode, error) {
	status := make([]ua.StatusCode, 0, len(items))
	limit := c.limit(ctx, len(items), func(l *Limits) uint32 { return l.MaxNodesPerWrite })
	err := batches(len(items), limit, func(from, to int) error {
		resp, err := c.Write(ctx, &ua.WriteRequest{NodesToWrite: items[from:to]})
		if err == nil {
			status = append(status, resp.Results...)
		}
		return err
	})
	return status, err
}
