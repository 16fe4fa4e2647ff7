package uaclient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
)

// channel is a secure channel with what every request on it needs.
type channel struct {
	conn     *tcp.ClientConn
	settings *settings
	token    ua.NodeID // of the session; null before there is one
	handle   atomic.Uint32
}

// roundTrip fills the request header, sends the request and waits for the response. The error wraps
// the status of a ServiceFault or of the response.
func (ch *channel) roundTrip(ctx context.Context, h *ua.RequestHeader, req, resp ua.Structure, rh *ua.ResponseHeader) error {
	ch.fill(h, timeoutHint(ctx))
	return outcome(ch.conn.Call(ctx, req, resp), rh)
}

// start is roundTrip for those that do not wait: then gets its error on the goroutine that reads, and must
// not block.
func (ch *channel) start(hint uint32, h *ua.RequestHeader, req, resp ua.Structure, rh *ua.ResponseHeader, then func(error)) error {
	ch.fill(h, hint)
	return ch.conn.Start(req, resp, func(err error) { then(outcome(err, rh)) })
}

// fill fills a request header.
func (ch *channel) fill(h *ua.RequestHeader, hint uint32) {
	h.AuthenticationToken = ch.token
	if h.Timestamp == 0 {
		h.Timestamp = ua.Now()
	}
	if h.RequestHandle == 0 {
		h.RequestHandle = ch.nextHandle()
	}
	if h.TimeoutHint == 0 {
		h.TimeoutHint = hint
	}
}

// outcome is the error of a call: that of the link, or the status of a ServiceFault or of the response.
func outcome(err error, rh *ua.ResponseHeader) error {
	if err != nil {
		var fault *tcp.ServiceFault
		if errors.As(err, &fault) {
			*rh = fault.Header
			return serviceError(rh)
		}
		return err
	}
	if !rh.ServiceResult.IsBad() {
		return nil
	}
	return serviceError(rh)
}

// serviceError is the status of a response with what the server says about it.
func serviceError(rh *ua.ResponseHeader) error {
	d := &rh.ServiceDiagnostics
	if d.Mask&ua.DiagnosticAdditionalInfo != 0 && d.AdditionalInfo != "" {
		return fmt.Errorf("%w (%.500s)", rh.ServiceResult, d.AdditionalInfo)
	}
	if i := int(d.LocalizedText); d.Mask&ua.DiagnosticLocalizedText != 0 && i >= 0 && i < len(rh.StringTable) {
		return fmt.Errorf("%w (%.500s)", rh.ServiceResult, rh.StringTable[i])
	}
	return rh.ServiceResult
}

// nextHandle never returns 0, which stands for "not set".
func (ch *channel) nextHandle() uint32 {
	for {
		if h := ch.handle.Add(1); h != 0 {
			return h
		}
	}
}

// timeoutHint is the time left until the deadline in ms, 0 without one (Part 4, 7.33).
func timeoutHint(ctx context.Context) uint32 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	ms := time.Until(deadline).Milliseconds()
	return uint32(min(max(ms, 1), math.MaxInt32))
}

// close ends the channel and the connection.
func (ch *channel) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	if err := ch.conn.Close(ctx); err != nil && !errors.Is(err, ua.BadConnectionClosed) {
		ch.settings.Log.Debug("closing the channel", "error", err)
	}
}
