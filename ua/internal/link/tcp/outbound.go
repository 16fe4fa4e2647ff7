package tcp

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

const (
	// writePiece is how much is written under one deadline: the timeout is for a peer that reads
	// nothing, not for one that is slow with a long answer.
	writePiece = 256 << 10
	// heldBytes is how many answers are collected before they are written all the same.
	heldBytes = 256 << 10
	// keepOutput is the largest buffer that is kept for later messages.
	keepOutput = 1 << 20
	// writeTurns is how often a goroutine writes what others have added meanwhile, before it hands
	// the writing over so that it gets on with its own work.
	writeTurns = 2
)

var outputs = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// outbound is the sending side of a connection: a lock that puts messages, and with them sequence
// numbers, in order, and a buffer. There is no writing goroutine. Who adds a message also writes it,
// unless somebody is writing already, who then takes it along.
type outbound struct {
	nc      net.Conn
	conv    *uasc.Conversation
	timeout time.Duration
	limit   int // bytes that may wait
	now     func() time.Time

	mu      sync.Mutex
	quiet   sync.Cond // signalled after each write and when writing ends
	buf     *[]byte   // sealed and not written; nil for nothing
	writing bool
	held    bool  // the reading goroutine writes later
	err     error // why nothing can be sent any more
	shut    error // why nothing may be added any more; what is in the buffer still leaves

	// The write deadline of nc. It has a lock of its own, which is the inner one, because it is moved
	// while somebody writes.
	deadlineMu sync.Mutex
	deadline   time.Time
	final      bool
}

func (o *outbound) init(nc net.Conn, timeout time.Duration, limit int, now func() time.Time) {
	o.nc, o.timeout, o.limit, o.now = nc, timeout, limit, now
	o.quiet.L = &o.mu
}

// add appends to the buffer under the lock. What fails leaves the buffer as it was.
func (o *outbound) add(appendTo func([]byte) ([]byte, error)) error {
	if err := o.ready(); err != nil {
		return err
	}
	n := len(*o.buf)
	b, err := appendTo(*o.buf)
	if err != nil {
		b = b[:n]
	}
	*o.buf = b
	return err
}

// ready makes sure, under the lock, that there is a buffer, and that not too much waits in it.
func (o *outbound) ready() error {
	switch {
	case o.err != nil:
		return o.err
	case o.shut != nil:
		return o.shut
	}
	if o.buf == nil {
		o.buf = outputs.Get().(*[]byte)
	}
	if o.limit > 0 && len(*o.buf) > o.limit {
		o.fail(uacp.Errorf(ua.BadTcpNotEnoughResources, "the peer does not read, %d bytes wait for it", len(*o.buf)))
		return o.err
	}
	return nil
}

// message seals a message under the lock: the NodeID of its type and its fields (Part 6, 5.2.9).
func (o *outbound) message(t uacp.MessageType, requestID uint32, m ua.Structure) error {
	if err := o.ready(); err != nil {
		return err
	}
	b, start := o.conv.Begin(*o.buf)
	b = m.BinaryID().NodeID.AppendBinary(b)
	b = m.AppendBinary(b)
	b, err := o.conv.Seal(b, start, t, requestID, o.now())
	if err != nil {
		b = b[:start]
	}
	*o.buf = b
	return err
}

// fail ends sending under the lock. The connection is closed by the reading goroutine, which is woken:
// it may still find the peer's reason in what it reads.
func (o *outbound) fail(err error) {
	if o.err == nil {
		o.err = err
		o.nc.SetReadDeadline(time.Now().Add(parting))
	}
}

// leave unlocks, and writes first what is in the buffer unless somebody else does.
func (o *outbound) leave() {
	if o.writing || o.held && (o.buf == nil || len(*o.buf) < heldBytes) {
		o.mu.Unlock()
		return
	}
	o.writing = true
	for range writeTurns {
		if o.buf == nil || o.err != nil {
			break
		}
		o.writeOnce()
	}
	if o.buf != nil && o.err == nil {
		o.mu.Unlock()
		go o.drain()
		return
	}
	o.rest()
}

// leaveLater unlocks, and has another goroutine write: for a caller that must not wait for the peer.
func (o *outbound) leaveLater() {
	if o.writing || o.held {
		o.mu.Unlock()
		return
	}
	o.writing = true
	o.mu.Unlock()
	go o.drain()
}

// drain writes until nothing is left.
func (o *outbound) drain() {
	o.mu.Lock()
	for o.buf != nil && o.err == nil {
		o.writeOnce()
	}
	o.rest()
}

// rest ends writing and unlocks.
func (o *outbound) rest() {
	o.writing = false
	o.quiet.Broadcast()
	o.mu.Unlock()
}

// writeOnce writes the buffer; the lock is not held meanwhile.
func (o *outbound) writeOnce() {
	b := o.buf
	o.buf = nil
	o.mu.Unlock()
	err := o.write(*b)
	if cap(*b) <= keepOutput {
		*b = (*b)[:0]
		outputs.Put(b)
	}
	o.mu.Lock()
	if err != nil {
		o.fail(lost(err, "writing"))
	}
	o.quiet.Broadcast()
}

func (o *outbound) write(b []byte) error {
	for len(b) > 0 {
		if err := o.extend(); err != nil {
			return err
		}
		n, err := o.nc.Write(b[:min(len(b), writePiece)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// extend gives the next write its time. Moving the deadline each time would cost more than many a
// write does, so it is left alone while most of it is to come.
func (o *outbound) extend() error {
	o.deadlineMu.Lock()
	defer o.deadlineMu.Unlock()
	now := time.Now()
	if o.final || o.deadline.Sub(now) >= o.timeout*3/4 {
		return nil
	}
	o.deadline = now.Add(o.timeout)
	return o.nc.SetWriteDeadline(o.deadline)
}

// hurry sets the last deadline: for what is being written, too.
func (o *outbound) hurry(end time.Time) {
	o.deadlineMu.Lock()
	o.final = true
	o.nc.SetWriteDeadline(end)
	o.deadlineMu.Unlock()
}

// finish waits under the lock until nobody writes.
func (o *outbound) finish() {
	for o.writing {
		o.quiet.Wait()
	}
}

// hold makes messages wait for release: the reading goroutine handles several requests, and all
// answers leave with one write.
func (o *outbound) hold() {
	o.mu.Lock()
	o.held = true
	o.mu.Unlock()
}

// release writes what was held. When somebody else is writing and much waits, it waits too: a peer
// that sends requests faster than it reads answers is read no faster than that.
func (o *outbound) release() {
	o.mu.Lock()
	o.held = false
	o.leave()
	o.mu.Lock()
	for o.writing && o.err == nil && o.buf != nil && len(*o.buf) > heldBytes {
		o.quiet.Wait()
	}
	o.mu.Unlock()
}

// lost is the error of a connection that failed underneath.
func lost(err error, doing string) *uacp.Error {
	e := &uacp.Error{Status: ua.BadConnectionClosed, Reason: doing + ": " + err.Error(), Cause: err}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		e.Reason = doing + ": the peer does not read"
	}
	return e
}
