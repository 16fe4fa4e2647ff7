package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
)

// CreateSubscription sends one CreateSubscription request (Part 4, 5.14.2). Its notifications come with
// Publish; Subscribe does all of that by itself.
func (c *Client) CreateSubscription(ctx context.Context, req *ua.CreateSubscriptionRequest) (*ua.CreateSubscriptionResponse, error) {
	r := *req
	resp := new(ua.CreateSubscriptionResponse)
	if err := c.send(ctx, "CreateSubscription", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, nil
}

// ModifySubscription sends one ModifySubscription request (Part 4, 5.14.3).
func (c *Client) ModifySubscription(ctx context.Context, req *ua.ModifySubscriptionRequest) (*ua.ModifySubscriptionResponse, error) {
	r := *req
	resp := new(ua.ModifySubscriptionResponse)
	if err := c.send(ctx, "ModifySubscription", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, nil
}

// SetPublishingMode sends one SetPublishingMode request (Part 4, 5.14.4). Results stand in the order of
// SubscriptionIDs.
func (c *Client) SetPublishingMode(ctx context.Context, req *ua.SetPublishingModeRequest) (*ua.SetPublishingModeResponse, error) {
	r := *req
	resp := new(ua.SetPublishingModeResponse)
	if err := c.send(ctx, "SetPublishingMode", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("SetPublishingMode", len(resp.Results), len(r.SubscriptionIDs))
}

// TransferSubscriptions sends one TransferSubscriptions request (Part 4, 5.14.7). Results stand in the
// order of SubscriptionIDs.
func (c *Client) TransferSubscriptions(ctx context.Context, req *ua.TransferSubscriptionsRequest) (*ua.TransferSubscriptionsResponse, error) {
	r := *req
	resp := new(ua.TransferSubscriptionsResponse)
	if err := c.send(ctx, "TransferSubscriptions", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("TransferSubscriptions", len(resp.Results), len(r.SubscriptionIDs))
}

// DeleteSubscriptions sends one DeleteSubscriptions request (Part 4, 5.14.8). Results stand in the order
// of SubscriptionIDs. Those of Subscribe are closed with their Close.
func (c *Client) DeleteSubscriptions(ctx context.Context, req *ua.DeleteSubscriptionsRequest) (*ua.DeleteSubscriptionsResponse, error) {
	r := *req
	resp := new(ua.DeleteSubscriptionsResponse)
	if err := c.send(ctx, "DeleteSubscriptions", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("DeleteSubscriptions", len(resp.Results), len(r.SubscriptionIDs))
}
