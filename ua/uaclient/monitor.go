package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
)

// CreateMonitoredItems sends one CreateMonitoredItems request (Part 4, 5.13.2). Results stand in the order
// of ItemsToCreate, each with its own status. Two items with one client handle, which nobody could tell
// apart, are BadInvalidArgument before anything is sent (U14); Subscription.Add gives handles by itself.
func (c *Client) CreateMonitoredItems(ctx context.Context, req *ua.CreateMonitoredItemsRequest) (*ua.CreateMonitoredItemsResponse, error) {
	err := differentHandles("CreateMonitoredItems", len(req.ItemsToCreate), func(i int) uint32 { return req.ItemsToCreate[i].RequestedParameters.ClientHandle })
	if err != nil {
		return nil, err
	}
	r := *req
	resp := new(ua.CreateMonitoredItemsResponse)
	if err := c.send(ctx, "CreateMonitoredItems", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("CreateMonitoredItems", len(resp.Results), len(r.ItemsToCreate))
}

// ModifyMonitoredItems sends one ModifyMonitoredItems request (Part 4, 5.13.3). Results stand in the order
// of ItemsToModify, each with its own status. Equal client handles are refused as in CreateMonitoredItems.
func (c *Client) ModifyMonitoredItems(ctx context.Context, req *ua.ModifyMonitoredItemsRequest) (*ua.ModifyMonitoredItemsResponse, error) {
	err := differentHandles("ModifyMonitoredItems", len(req.ItemsToModify), func(i int) uint32 { return req.ItemsToModify[i].RequestedParameters.ClientHandle })
	if err != nil {
		return nil, err
	}
	r := *req
	resp := new(ua.ModifyMonitoredItemsResponse)
	if err := c.send(ctx, "ModifyMonitoredItems", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("ModifyMonitoredItems", len(resp.Results), len(r.ItemsToModify))
}

// differentHandles refuses a request in which a client handle stands twice.
func differentHandles(op string, n int, handle func(i int) uint32) error {
	if n < 2 {
		return nil
	}
	seen := make(map[uint32]int, n)
	for i := range n {
		h := handle(i)
		if first, twice := seen[h]; twice {
			return &Error{Step: StepService, Op: op, Err: reason(ua.BadInvalidArgument, "items %d and %d have the client handle %d both", first, i, h)}
		}
		seen[h] = i
	}
	return nil
}

// SetMonitoringMode sends one SetMonitoringMode request (Part 4, 5.13.4). Results stand in the order of
// MonitoredItemIDs.
func (c *Client) SetMonitoringMode(ctx context.Context, req *ua.SetMonitoringModeRequest) (*ua.SetMonitoringModeResponse, error) {
	r := *req
	resp := new(ua.SetMonitoringModeResponse)
	if err := c.send(ctx, "SetMonitoringMode", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("SetMonitoringMode", len(resp.Results), len(r.MonitoredItemIDs))
}

// SetTriggering sends one SetTriggering request (Part 4, 5.13.5). AddResults and RemoveResults stand in the
// order of LinksToAdd and LinksToRemove.
func (c *Client) SetTriggering(ctx context.Context, req *ua.SetTriggeringRequest) (*ua.SetTriggeringResponse, error) {
	r := *req
	resp := new(ua.SetTriggeringResponse)
	if err := c.send(ctx, "SetTriggering", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	if err := results("SetTriggering", len(resp.AddResults), len(r.LinksToAdd)); err != nil {
		return resp, err
	}
	return resp, results("SetTriggering", len(resp.RemoveResults), len(r.LinksToRemove))
}

// DeleteMonitoredItems sends one DeleteMonitoredItems request (Part 4, 5.13.6). Results stand in the order
// of MonitoredItemIDs.
func (c *Client) DeleteMonitoredItems(ctx context.Context, req *ua.DeleteMonitoredItemsRequest) (*ua.DeleteMonitoredItemsResponse, error) {
	r := *req
	resp := new(ua.DeleteMonitoredItemsResponse)
	if err := c.send(ctx, "DeleteMonitoredItems", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("DeleteMonitoredItems", len(resp.Results), len(r.MonitoredItemIDs))
}
