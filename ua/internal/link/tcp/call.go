package tcp

import (
	"context"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// asyncBytes is how much may be on its way to the server, with nothing come back since, before a call
// with a context has another goroutine write for it: so little always fits in the buffers of a socket,
// and beyond it writing may wait for the server and outlast the context.
const asyncBytes = 16 << 10

// serviceFaultID is the NodeID of the binary encoding of ServiceFault.
var serviceFaultID = (*ua.ServiceFault)(nil).BinaryID().NodeID

// call is a request that waits for its response.
type call struct {
	resp ua.Structure
	done chan error  // of one; sent to once resp is not touched any more
	then func(error) // of Start, which uses it in place of done
}

// nextID is a request id that no call uses, under the lock. 0 is left out: some servers use it for
// messages that answer nothing.
func (c *ClientConn) nextID() uint32 {
	for {
		c.lastID++
		if _, used := c.pending[c.lastID]; !used && c.lastID != 0 {
			return c.lastID
		}
	}
}

// Call sends a request and decodes the answer with its request id into resp, whose slices are used
// again. Calls of several goroutines are on their way at once. The errors:
//
//   - a *ServiceFault, which is its ServiceResult under errors.Is, when the server answers so;
//   - the server's status and reason when it aborts its answer, or ends the connection with an ERR
//     message; BadConnectionClosed when it just goes away;
//   - BadRequestTooLarge, when the request is larger than the server allows, and BadResponseTooLarge,
//     when the answer is larger than ClientConfig.Limits: the connection goes on;
//   - BadUnknownResponse for an answer of another type, BadDecodingError or
//     BadEncodingLimitsExceeded for one that cannot be read;
//   - the context's error. Its late answer is dropped then.
func (c *ClientConn) Call(ctx context.Context, req, resp ua.Structure) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := calls.Get().(*call)
	w.resp = resp
	id, err := c.send(ctx, req, w)
	if err != nil {
		w.release()
		return err
	}
	select {
	case err = <-w.done:
	case <-ctx.Done():
		if err = ctx.Err(); !c.forget(id) {
			err = <-w.done // being decoded right now
		}
	case <-c.done:
		if err = c.err; !c.forget(id) {
			err = <-w.done
		}
	}
	w.release()
	return err
}

// Start is Call for a request whose answer nobody waits for: then is called once, with what Call would
// have returned, on the goroutine that reads. So answers are heard of in the order in which the server
// sent them, and a request that the server holds occupies no goroutine. then must not block; it may
// Start the next request. When Start itself returns an error, then is not called.
func (c *ClientConn) Start(req, resp ua.Structure, then func(error)) error {
	c.out.mu.Lock()
	_, err := c.enter(req, &call{resp: resp, then: then}, true)
	return err
}

func (w *call) release() {
	w.resp = nil
	calls.Put(w)
}

// send seals the request and notes who waits for the answer.
func (c *ClientConn) send(ctx context.Context, req ua.Structure, w *call) (id uint32, err error) {
	o := &c.out
	o.mu.Lock()
	if o.err != nil || o.shut != nil {
		o.mu.Unlock()
		<-c.done // the reading goroutine finds out why
		return 0, c.err
	}
	return c.enter(req, w, ctx.Done() != nil)
}

// enter seals the request and notes its call, under the lock, which it gives back. A caller that is
// hasty does not wait for the network.
func (c *ClientConn) enter(req ua.Structure, w *call, hasty bool) (id uint32, err error) {
	o := &c.out
	id = c.nextID()
	before := 0
	if o.buf != nil {
		before = len(*o.buf)
	}
	if err := o.message(uacp.TypeMessage, id, req); err != nil {
		o.mu.Unlock()
		return 0, err
	}
	c.pending[id] = w
	c.unread += len(*o.buf) - before
	if hasty && c.unread > asyncBytes {
		o.leaveLater()
	} else {
		o.leave()
	}
	return id, nil
}

// forget takes a call off the list and reports whether it was still there.
func (c *ClientConn) forget(id uint32) bool {
	c.out.mu.Lock()
	_, ok := c.pending[id]
	delete(c.pending, id)
	c.out.mu.Unlock()
	return ok
}

// deliver hands a message to the call that waits for it. Answers are paired by request id only: the
// request handle inside them is 0 with some servers (report C25).
func (c *ClientConn) deliver(m *uasc.Message) {
	c.out.mu.Lock()
	w := c.pending[m.RequestID]
	delete(c.pending, m.RequestID)
	c.out.mu.Unlock()
	if w == nil {
		c.cfg.Log.Debug("opcua: an answer that nobody waits for", "url", c.url, "request", m.RequestID)
		return
	}
	err := m.Err
	if err == nil {
		err = c.decode(m.Body, w.resp)
	}
	w.finish(err)
}

func (w *call) finish(err error) {
	if w.then != nil {
		w.then(err)
		return
	}
	w.done <- err
}

// dropStarted ends, once the connection has ended, the calls of Start.
func (c *ClientConn) dropStarted() {
	var ended []*call
	c.out.mu.Lock()
	for id, w := range c.pending {
		if w.then != nil {
			delete(c.pending, id)
			ended = append(ended, w)
		}
	}
	c.out.mu.Unlock()
	for _, w := range ended {
		w.then(c.err)
	}
}

// decode reads an answer into resp.
func (c *ClientConn) decode(body []byte, resp ua.Structure) error {
	r := &c.reader
	r.Reset(body, c.cfg.DecodeLimits)
	var id ua.NodeID
	id.DecodeBinary(r)
	switch want := resp.BinaryID().NodeID; {
	case !r.OK():
		return r.Err()
	case id == want:
		resp.DecodeBinary(r)
		return r.Err()
	case id == serviceFaultID:
		var fault ua.ServiceFault
		fault.DecodeBinary(r)
		if !r.OK() {
			return r.Err()
		}
		return &ServiceFault{Header: fault.ResponseHeader}
	default:
		return uacp.Errorf(ua.BadUnknownResponse, "a message of type %v in answer, not %v", id, want)
	}
}

// Close closes the secure channel and the connection; calls that wait get BadConnectionClosed. It
// does not wait for the server, only, for a moment, for the network to take the last message.
func (c *ClientConn) Close(ctx context.Context) error {
	o := &c.out
	o.mu.Lock()
	if !c.closing {
		c.closing = true
		c.renewal.Stop()
		end := time.Now().Add(lastWords / 2)
		if d, ok := ctx.Deadline(); ok && d.Before(end) {
			end = d
		}
		o.sock.hurry(time.Until(end))
		request := ua.CloseSecureChannelRequest{RequestHeader: ua.RequestHeader{Timestamp: ua.NewDateTime(c.cfg.Now())}}
		if o.message(uacp.TypeClose, c.nextID(), &request) == nil {
			o.shut = errClosed
			o.leave()
			o.mu.Lock()
			o.finish()
		}
		o.mu.Unlock()
		c.nc.Close()
	} else {
		o.mu.Unlock()
	}
	<-c.done
	return nil
}
