package remote

import (
	"errors"
	"io"
	"net"
	"strconv"
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
	out     outBuffer
	writing bool // a goroutine writes
	queued  bool // a turn flushes when it ends
	closing bool // nothing is added any more
	failed  error
	idle    sync.Cond // nothing is being written

	io       rawIO // of who writes
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
	return "the message takes " + strconv.Itoa(e.size) + " bytes, and a frame holds " + strconv.Itoa(e.limit)
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
	case c.out.waiting() > c.r.cfg.SendLimit:
		c.mu.Unlock()
		return errFull
	}
	c.out.makeRoom(c.enc.estimate(msg))
	c.out.last, err = c.enc.appendFrame(c.out.last, w, from, s, msg, seq, ack)
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
	c.out.last = c.enc.framing.AppendControl(c.out.last, m)
	c.leave(actor.Turn{})
}

// pureAck sends an acknowledgement alone.
func (c *conn) pureAck(ack *akkapb.AcknowledgementInfo) {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.out.last = c.enc.framing.AppendAck(c.out.last, ack)
	c.leave(actor.Turn{})
}

// leave has what is pending sent, at the end of the turn if there is one and it is not much yet. It gives the lock back.
func (c *conn) leave(t actor.Turn) {
	if c.writing || c.queued && c.out.small() {
		c.mu.Unlock()
		return
	}
	if c.queued {
		c.flush()
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
	c.flush()
}

// flush is Flush with the lock held, which it gives back.
func (c *conn) flush() {
	if c.writing || c.out.empty() || c.failed != nil {
		c.mu.Unlock()
		return
	}
	c.writing = true
	if c.raw == nil && c.eager == nil {
		c.mu.Unlock()
		go c.write(nil, 0)
		return
	}
	for !c.out.empty() {
		buf := c.out.take()
		c.mu.Unlock()
		n, err := c.try(buf)
		if err == nil && n < len(buf) {
			go c.write(buf, n)
			return
		}
		c.mu.Lock()
		if err != nil {
			c.fail(err)
			return
		}
		c.out.giveBack(buf)
	}
	c.rest()
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
	c.out = outBuffer{}
	c.rest()
	c.nc.Close()
}

// try writes what the socket takes without waiting, and says how much that was.
func (c *conn) try(buf []byte) (int, error) {
	if c.eager != nil {
		return c.eager.TryWrite(buf)
	}
	c.io = rawIO{buf: buf}
	if err := c.raw.Write(c.writeRaw); err != nil {
		c.io.err = err
	}
	n, err := len(buf)-len(c.io.buf), c.io.err
	c.io = rawIO{}
	return n, err
}

// rawIO is what is handed to a function that reads or writes a socket, and what it hands back: a closure each time would
// be an allocation each time.
type rawIO struct {
	buf []byte
	n   int
	ok  bool
	err error
}

// rawWrite writes what the socket takes; whoever set writing has io.
func (c *conn) rawWrite(fd uintptr) bool {
	o := &c.io
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

// write is the goroutine that waits for the socket. It ends when there is nothing left. Of buf the first done bytes have
// been written.
func (c *conn) write(buf []byte, done int) {
	for {
		if done < len(buf) {
			if _, err := c.nc.Write(buf[done:]); err != nil {
				c.mu.Lock()
				c.fail(err)
				return
			}
		}
		c.mu.Lock()
		if buf != nil {
			c.out.giveBack(buf)
		}
		if c.out.empty() {
			c.rest()
			return
		}
		buf, done = c.out.take(), 0
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
