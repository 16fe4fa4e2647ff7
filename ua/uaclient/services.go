package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
)

// send runs one service of the session. The caller's request has been copied, so that the header can
// be filled in.
func (c *Client) send(ctx context.Context, op string, h *ua.RequestHeader, req, resp ua.Structure, rh *ua.ResponseHeader) error {
	ctx, cancel := c.settings.limited(ctx)
	defer cancel()
	return stepError(StepService, op, c.ch.roundTrip(ctx, h, req, resp, rh))
}

// results checks that a response has as many results as the request has operations.
func results(op string, got, want int) error {
	if got == want {
		return nil
	}
	return &Error{Step: StepService, Op: op, Err: reason(ua.BadUnknownResponse, "%d results for %d operations", got, want)}
}

// Cancel asks the server to give up the requests with this RequestHandle (Part 4, 5.7.5) and returns
// how many it found.
func (c *Client) Cancel(ctx context.Context, requestHandle uint32) (uint32, error) {
	req := ua.CancelRequest{RequestHandle: requestHandle}
	var resp ua.CancelResponse
	err := c.send(ctx, "Cancel", &req.RequestHeader, &req, &resp, &resp.ResponseHeader)
	return resp.CancelCount, err
}
