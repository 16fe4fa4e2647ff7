package tcp

import (
	"runtime/debug"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

const (
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
	sock  sender
	conv  *uasc.Conversation
	limit int // bytes that may wait
	now   func() time.Time

	mu      sync.Mutex
	quiet   sync.Cond // signalled after each write and when writing ends
	buf     *[]byte   // sealed and not written; nil for nothing
	writing bool
	stuck   *[]byte   // what the socket did not take; writing is true meanwhile
	gone    int       // bytes of stuck that it did take
	held    bool      // the reader writes later
	at      time.Time // the time while held
	err     error     // why nothing can be sent any more
	shut    error     // why nothing may be added any more; what is in the buffer still leaves
}

// sender is the sending half of a socket.
type sender interface {
	// send sends b. A socket that does not wait may return with a part of it sent and no error; it then
	// sees to it that outbound.resume is called when the peer has read some, or must be given up.
	send(b []byte) (n int, err error)
	// hurry gives what is being sent, and everything that is sent from now on, so long altogether.
	hurry(d time.Duration)
	// wake lets the reader look at the state of the connection when d has passed.
	wake(d time.Duration)
}

func (o *outbound) init(sock sender, limit int, now func() time.Time) {
	o.sock, o.limit, o.now = sock, limit, now
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

// time is the time at which a message is sealed, under the lock.
func (o *outbound) time() time.Time {
	if o.held {
		return o.at
	}
	return o.now()
}

// message seals a message under the lock: the NodeID of its type and its fields (Part 6, 5.2.9).
func (o *outbound) message(t uacp.MessageType, requestID uint32, m ua.Structure) error {
	if err := o.ready(); err != nil {
		return err
	}
	b, start := o.conv.Begin(*o.buf)
	b, err := encode(b, m)
	if err != nil {
		return err
	}
	b, err = o.conv.Seal(b, start, t, requestID, o.time())
	if err != nil {
		b = b[:start]
	}
	*o.buf = b
	return err
}

// encode appends a message. A structure of a user that panics, as a nil pointer in a Variant does, costs the
// message that it is in, not the connection.
func encode(b []byte, m ua.Structure) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = uacp.Errorf(ua.BadEncodingError, "panic in a structure that is encoded: %v\n%s", p, debug.Stack())
		}
	}()
	return m.AppendBinary(m.BinaryID().NodeID.AppendBinary(b)), nil
}

// fail ends sending under the lock. The connection is closed by the reading goroutine, which is woken:
// it may still find the peer's reason in what it reads.
func (o *outbound) fail(err error) {
	if o.err == nil {
		o.err = err
		o.sock.wake(lastWords)
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
		if !o.more() {
			break
		}
		o.writeOnce()
	}
	if o.more() {
		o.mu.Unlock()
		go o.drain()
		return
	}
	o.rest()
}

// more reports, under the lock, whether there is something to write now.
func (o *outbound) more() bool { return o.buf != nil && o.err == nil && o.stuck == nil }

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
	for o.more() {
		o.writeOnce()
	}
	o.rest()
}

// rest ends writing, unless the socket is stuck, and unlocks.
func (o *outbound) rest() {
	if o.stuck == nil || o.err != nil {
		o.writing = false
	}
	o.quiet.Broadcast()
	o.mu.Unlock()
}

// writeOnce writes the buffer; the lock is not held meanwhile.
func (o *outbound) writeOnce() {
	b := o.buf
	o.buf = nil
	o.write(b, 0)
}

// write writes what is left of b behind the first bytes.
func (o *outbound) write(b *[]byte, from int) {
	o.mu.Unlock()
	n, err := o.sock.send((*b)[from:])
	o.mu.Lock()
	switch {
	case err != nil:
		o.fail(lost(err, "writing"))
	case from+n < len(*b):
		o.stuck, o.gone = b, from+n
		return
	}
	if cap(*b) <= keepOutput {
		*b = (*b)[:0]
		outputs.Put(b)
	}
	o.quiet.Broadcast()
}

// finish waits under the lock until nobody writes.
func (o *outbound) finish() {
	for o.writing {
		o.quiet.Wait()
	}
}

// hold makes messages wait for release: the reader handles several requests, which it has read at the
// time now, and all answers leave with one write.
func (o *outbound) hold(now time.Time) {
	o.mu.Lock()
	o.held, o.at = true, now
	o.mu.Unlock()
}

// release writes what was held, and reports whether more waits than the reader should add to.
func (o *outbound) release() (full bool) {
	o.mu.Lock()
	o.held = false
	if o.buf != nil {
		o.leave()
		o.mu.Lock()
	}
	full = o.fullLocked()
	o.mu.Unlock()
	return full
}

func (o *outbound) fullLocked() bool {
	return o.writing && o.err == nil && o.buf != nil && len(*o.buf) > heldBytes
}

// full reports whether much waits for the peer.
func (o *outbound) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fullLocked()
}

// ebb waits while much waits for the peer: one that sends requests faster than it reads answers is
// read no faster than that.
func (o *outbound) ebb() {
	o.mu.Lock()
	for o.fullLocked() {
		o.quiet.Wait()
	}
	o.mu.Unlock()
}
