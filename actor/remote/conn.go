package remote

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/internal/assoc"
)

// conn is one connection to another node. Its out side is here, its in side in inbound.go; what both decide by is
// the assoc.Conn.
type conn struct {
	r     *Remoting
	nc    net.Conn
	raw   syscall.RawConn // nil where bytes can only be written through nc: TLS
	eager tryWriter       // not nil where nc writes without waiting itself
	role  assoc.Role

	// The protocol, under pmu. acts is scratch.
	pmu   sync.Mutex
	proto *assoc.Conn
	acts  []assoc.ConnAction
	next  time.Duration // for when the alarm is set
	alarm *actor.Cancelable

	// Which association it belongs to, and by which name; set once, under the association's lock.
	assoc  atomic.Pointer[association]
	id     assoc.ConnID
	ackDue atomic.Bool // an acknowledgement waits for a message to ride on

	// What is on its way out, under mu.
	mu      sync.Mutex
	enc     encoder
	pending []byte
	spare   []byte
	writing bool // a goroutine writes
	queued  bool // a turn flushes when it ends
	closing bool // nothing is added any more
	failed  error
	idle    sync.Cond // nothing is being written

	out      rawIO // of who writes
	writeRaw func(fd uintptr) bool

	in inbound
}

var (
	errClosed = errors.New("the connection is closed")
	errFull   = errors.New("too much waits to be sent")
)

// tryWriter is a connection that writes what it can without waiting: those in memory do.
type tryWriter interface {
	TryWrite(p []byte) (int, error)
}

// tooLargeError is a message that does not fit into a frame.
type tooLargeError struct{ size, limit int }

func (e *tooLargeError) Error() string {
	return "the message takes " + itoa(e.size) + " bytes, and a frame holds " + itoa(e.limit)
}

func (r *Remoting) newConn(nc net.Conn, role assoc.Role, proto *assoc.Conn) *conn {
	c := &conn{r: r, nc: nc, role: role, proto: proto, next: assoc.Never}
	c.enc.framing = r.framing
	c.enc.exchange = r.exchange()
	c.idle.L = &c.mu
	c.writeRaw = c.rawWrite
	switch t := nc.(type) {
	case *net.TCPConn:
		c.raw, _ = t.SyscallConn()
	case tryWriter:
		c.eager = t
	}
	c.in.init(c)
	return c
}

// send encodes one message. A nil error says that it is on its way; others say why it is not. t is the sender's turn.
func (c *conn) send(to *actor.Ref, msg any, sender *actor.Ref, seq assoc.SeqNo, ack *akkapb.AcknowledgementInfo, t actor.Turn) error {
	if inner, steps, ok := c.r.port.Selection(msg); ok {
		msg = selectionOf(inner, steps)
	}
	s, err := c.r.registry.Find(msg)
	if err != nil {
		return err
	}
	if !plain(s.ID()) {
		e, err := c.r.encode(msg)
		if err != nil {
			return err
		}
		defer c.r.putBody(e)
		msg = e
	}
	w := c.r.port.Wire(to)
	var from *actor.Wire
	if sender != nil && sender != c.r.deadLetters {
		from = c.r.port.Wire(sender)
	}
	c.mu.Lock()
	switch {
	case c.closing:
		c.mu.Unlock()
		return errClosed
	case len(c.pending) > c.r.cfg.SendLimit:
		c.mu.Unlock()
		return errFull
	}
	c.pending, err = c.enc.appendFrame(c.pending, w, from, s, msg, seq, ack)
	if err != nil {
		c.mu.Unlock()
		return err
	}
	c.leave(t)
	return nil
}

// control sends a message of the protocol itself.
func (c *conn) control(m *akkapb.AkkaControlMessage) {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.pending = c.enc.framing.AppendControl(c.pending, m)
	c.leave(actor.Turn{})
}

// pureAck sends an acknowledgement alone.
func (c *conn) pureAck(ack *akkapb.AcknowledgementInfo) {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.pending = c.enc.framing.AppendAck(c.pending, ack)
	c.leave(actor.Turn{})
}

// leave has what is pending sent, at the end of the turn if there is one. It gives the lock back.
func (c *conn) leave(t actor.Turn) {
	if c.queued || c.writing {
		c.mu.Unlock()
		return
	}
	c.queued = true
	c.mu.Unlock()
	if !t.Later(c) {
		c.Flush()
	}
}

// Flush sends what is pending. It does not wait for the socket: what that does not take at once is left to a goroutine.
func (c *conn) Flush() {
	c.mu.Lock()
	c.queued = false
	if c.writing || len(c.pending) == 0 || c.failed != nil {
		c.mu.Unlock()
		return
	}
	c.writing = true
	if c.raw == nil && c.eager == nil {
		c.mu.Unlock()
		go c.write(nil)
		return
	}
	for len(c.pending) > 0 {
		buf := c.take()
		c.mu.Unlock()
		rest, err := c.try(buf)
		if err == nil && len(rest) > 0 {
			go c.write(rest)
			return
		}
		c.mu.Lock()
		if err != nil {
			c.fail(err)
			return
		}
		c.giveBack(buf)
	}
	c.rest()
}

// take takes all that is pending, under the lock.
func (c *conn) take() []byte {
	buf := c.pending
	c.pending, c.spare = c.spare[:0], nil
	return buf
}

// keepOut is how much room for bytes on their way out a connection holds on to.
const keepOut = 256 << 10

func (c *conn) giveBack(buf []byte) {
	if cap(buf) <= keepOut {
		c.spare = buf[:0]
	}
}

// rest ends writing, and gives the lock back.
func (c *conn) rest() {
	c.writing = false
	c.idle.Broadcast()
	c.mu.Unlock()
}

// fail ends the connection's out side, and gives the lock back. The reader learns of it from the socket.
func (c *conn) fail(err error) {
	c.failed = err
	c.closing = true
	c.pending, c.spare = nil, nil
	c.rest()
	c.nc.Close()
}

// try writes what the socket takes without waiting.
func (c *conn) try(buf []byte) (rest []byte, err error) {
	if c.eager != nil {
		n, err := c.eager.TryWrite(buf)
		return buf[n:], err
	}
	c.out = rawIO{buf: buf}
	if err := c.raw.Write(c.writeRaw); err != nil {
		c.out.err = err
	}
	buf, err = c.out.buf, c.out.err
	c.out = rawIO{}
	return buf, err
}

// rawIO is what is handed to a function that reads or writes a socket, and what it hands back: a closure each time would
// be an allocation each time.
type rawIO struct {
	buf []byte
	n   int
	ok  bool
	err error
}

// rawWrite writes what the socket takes; whoever set writing has out.
func (c *conn) rawWrite(fd uintptr) bool {
	o := &c.out
	for len(o.buf) > 0 {
		n, e := writeFD(fd, o.buf)
		if n > 0 {
			o.buf = o.buf[n:]
		}
		if e != nil {
			if !again(e) {
				o.err = e
			}
			return true
		}
		if n <= 0 {
			o.err = io.ErrUnexpectedEOF
			return true
		}
	}
	return true
}

// readNow reads what is there. It reports false where that is nothing, or anything but bytes.
func (c *conn) readNow(b []byte) (n int, ok bool) {
	in := &c.in.raw
	in.buf = b
	err := c.raw.Read(c.in.readRaw)
	in.buf = nil
	return in.n, in.ok && err == nil
}

func (in *inbound) rawRead(fd uintptr) bool {
	in.raw.n, in.raw.ok = readFD(fd, in.raw.buf)
	return true
}

// write is the goroutine that waits for the socket. It ends when there is nothing left.
func (c *conn) write(buf []byte) {
	for {
		if len(buf) > 0 {
			if _, err := c.nc.Write(buf); err != nil {
				c.mu.Lock()
				c.fail(err)
				return
			}
		}
		c.mu.Lock()
		if len(c.pending) == 0 {
			c.rest()
			return
		}
		buf = c.take()
		c.mu.Unlock()
	}
}

// end sends what is pending still, says so to the peer by the end of its input, and closes the socket when the peer
// has done the same, or after a while. A socket that is closed with bytes unread would be reset, which Akka.NET
// takes for a shutdown.
func (c *conn) end() {
	c.mu.Lock()
	if c.closing && c.failed != nil {
		c.mu.Unlock()
		c.nc.Close()
		return
	}
	c.closing = true
	c.mu.Unlock()
	go func() {
		limit := time.Now().Add(drainTime)
		c.nc.SetWriteDeadline(limit)
		c.Flush() // the turn that was to do it may take its time
		c.mu.Lock()
		for c.writing && c.failed == nil {
			c.idle.Wait()
		}
		c.mu.Unlock()
		if h, ok := c.nc.(interface{ CloseWrite() error }); ok {
			h.CloseWrite()
		}
		c.nc.SetReadDeadline(limit) // the reader goes on until then, and closes
	}()
}

// drainTime is how long a connection that ends waits for its peer.
const drainTime = 2 * time.Second
