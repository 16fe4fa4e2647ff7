package uaclient

import (
	"context"
	"sync"

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

// sendOrUndo is send for a service that makes something in the server. made is called with the answer on
// the goroutine that reads, before anything that comes behind it is handled, and must not block. When the
// context ends first, undo is called, on a goroutine of its own, should the answer still come.
func (c *Client) sendOrUndo(ctx context.Context, op string, h *ua.RequestHeader, req, resp ua.Structure, rh *ua.ResponseHeader, made, undo func()) error {
	ctx, cancel := c.settings.limited(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return stepError(StepService, op, err)
	}
	var mu sync.Mutex
	abandoned, answered := false, false
	done := make(chan error, 1)
	err := c.ch.start(timeoutHint(ctx), h, req, resp, rh, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		switch answered = true; {
		case err != nil:
		case abandoned:
			go undo()
		default:
			made()
		}
		done <- err
	})
	if err != nil {
		return stepError(StepService, op, err)
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		mu.Lock()
		abandoned = !answered
		mu.Unlock()
		if err = ctx.Err(); !abandoned {
			err = <-done
		}
	}
	return stepError(StepService, op, err)
}
