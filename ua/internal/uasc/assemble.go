package uasc

import (
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// assembly is the message whose chunks are arriving. There is one at most: Part 6, 6.7.3 says that
// the chunks of a message are sent one after the other, so a chunk of another request in between is
// a fault of the peer, and not a reason to hold several unfinished messages.
type assembly struct {
	active    bool
	done      bool // handed out, to be released at the next chunk
	requestID uint32
	chunks    uint32
	size      int
	begun     time.Time
	buffer    *[]byte
	reserved  int   // bytes of the Budget
	refused   error // the message is too long and its remaining chunks are dropped
}

// buffers keeps what messages of several chunks are assembled in, up to keepBuffer bytes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keepBuffer = 1 << 20

// release gives the buffer back after the message was handed out.
func (a *assembly) release(b *Budget) {
	if !a.done {
		return
	}
	b.Release(a.reserved)
	if a.buffer != nil && cap(*a.buffer) <= keepBuffer {
		buffers.Put(a.buffer)
	}
	*a = assembly{}
}

// Release gives back everything that the conversation holds; it is done with. Only the reading
// goroutine may call it.
func (c *Conversation) Release() {
	c.in.message.done = true
	c.in.message.release(c.budget)
}

// Unfinished tells since when a message of several chunks waits for its end, by the times given to
// Open. Only the reading goroutine may call it.
func (c *Conversation) Unfinished() (since time.Time, ok bool) {
	return c.in.message.begun, c.in.message.active
}

// assemble adds the body of a chunk to its message and returns the message when it is complete. One
// that came in a single chunk is not copied.
func (c *Conversation) assemble(h uacp.Header, requestID uint32, body []byte, now time.Time) (m Message, complete bool, err error) {
	a := &c.in.message
	m = Message{Type: h.Type, RequestID: requestID}
	switch {
	case h.Type == uacp.TypeClose:
		m.Body = body
		return m, true, nil
	case a.active && a.requestID != requestID:
		return m, false, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a chunk of request %d among those of request %d", requestID, a.requestID)
	case h.Chunk == uacp.Abort:
		a.active, a.done = false, true
		e, err := uacp.DecodeError(body)
		if err != nil {
			return m, false, err
		}
		m.Err = e
		return m, true, nil
	}
	if !a.active {
		*a = assembly{active: true, requestID: requestID, begun: now}
	}
	a.chunks++
	a.size += len(body)
	if err := c.checkReceive(a); err != nil {
		return m, false, err
	}
	if h.Chunk == uacp.Final {
		a.active, a.done = false, true
		if a.refused != nil {
			m.Err = a.refused
			return m, true, nil
		}
		if a.chunks == 1 {
			m.Body = body
			return m, true, nil
		}
	}
	if a.refused != nil {
		return m, false, nil
	}
	if err := c.grow(a, len(body)); err != nil {
		return m, false, err
	}
	*a.buffer = append(*a.buffer, body...)
	if a.active {
		return m, false, nil
	}
	m.Body = *a.buffer
	return m, true, nil
}

// checkReceive compares the message so far with the limits. The client drops what is too long and
// goes on, so that its other calls live (report C22); the server ends the connection.
func (c *Conversation) checkReceive(a *assembly) error {
	if a.refused != nil {
		return nil
	}
	var err error
	limit := c.maxBody.Load()
	status := ua.BadTcpMessageTooLarge
	if c.side == Client {
		status = ua.BadResponseTooLarge
	}
	switch {
	case limit != 0 && a.size > int(limit):
		err = uacp.Errorf(status, "a message of more than %d bytes", limit)
	case c.limits.ReceiveChunks != 0 && a.chunks > c.limits.ReceiveChunks:
		err = uacp.Errorf(status, "a message of more than %d chunks", c.limits.ReceiveChunks)
	}
	if c.side == Server {
		return err
	}
	a.refused = err
	return nil
}

// grow makes room for n more bytes, within the Budget.
func (c *Conversation) grow(a *assembly, n int) error {
	if a.buffer == nil {
		a.buffer = buffers.Get().(*[]byte)
		*a.buffer = (*a.buffer)[:0]
	}
	b := *a.buffer
	want := max(cap(b), len(b)+n)
	if want > cap(b) {
		want = max(want, 2*cap(b))
	}
	if more := want - a.reserved; more > 0 {
		if !c.budget.Reserve(more, c.trusted.Load()) {
			return uacp.Errorf(ua.BadTcpNotEnoughResources, "too many unfinished messages, no memory for another %d bytes", more)
		}
		a.reserved = want
	}
	if want > cap(b) {
		*a.buffer = append(make([]byte, 0, want), b...)
	}
	return nil
}
