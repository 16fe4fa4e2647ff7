package remote

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/serial"
)

// The way in. One goroutine reads a connection, handles all frames of a read, and then runs the actors that got
// messages (actor.Source).

const (
	readBuffer = 64 << 10
	maxRefs    = 8192 // recipients and senders that a connection remembers
	maxRefPath = 1024 // bytes of the path of one
)

// inbound is the in side of a connection; its reader's.
type inbound struct {
	c          *conn
	buf        []byte
	start, end int
	container  akkapb.AckAndEnvelopeContainer
	control    akkapb.AkkaControlMessage
	exchange   serial.Exchange
	recipients map[string]*actor.Ref
	senders    map[string]*actor.Ref
	wanted     atomic.Bool  // to attach
	batch      *actor.Batch // while attaching
	patience   int          // of read
	direct     bool         // payloads go straight to handlePayload
	over       atomic.Bool  // nothing is handled any more
	raw        rawIO        // the reader's
	readRaw    func(fd uintptr) bool
	lastTo     seenRef // the recipient and the sender of the message before: runs of messages have the same
	lastFrom   seenRef

	pause  sync.Mutex // with resumed: whether to read
	paused bool
	resume sync.Cond
}

func (in *inbound) init(c *conn) {
	in.c = c
	in.readRaw = in.rawRead
	in.patience = minPatience
	in.buf = make([]byte, readBuffer)
	in.exchange = c.r.exchange()
	in.recipients, in.senders = make(map[string]*actor.Ref), make(map[string]*actor.Ref)
	in.resume.L = &in.pause
}

// Fill reads what there is and handles it.
func (c *conn) Fill(b *actor.Batch) bool {
	in := &c.in
	in.waitResumed()
	in.attach(b)
	n, err := in.read(in.buf[in.end:])
	in.end += n
	if n > 0 && !in.over.Load() {
		in.frames(b)
	}
	if in.over.Load() {
		in.start, in.end = 0, 0
	}
	if err != nil && (in.over.Load() || !in.wanted.Load()) {
		c.event(func(acts []assoc.ConnAction) []assoc.ConnAction { return c.proto.Closed(causeOf(err), acts) })
		return false
	}
	return true
}

// read waits for bytes. Where they have come soon lately, it looks for them for some microseconds before it sleeps: to
// be woken takes longer.
func (in *inbound) read(b []byte) (int, error) {
	c := in.c
	if c.raw == nil {
		return c.nc.Read(b)
	}
	for i := range in.patience {
		n, ok := c.readNow(b)
		if ok {
			in.patience = min(2*in.patience, maxPatience)
			return n, nil
		}
		if i%8 == 7 {
			runtime.Gosched()
		}
	}
	in.patience = max(in.patience/2, minPatience)
	return c.nc.Read(b)
}

// How often a reader looks for bytes before it sleeps; a look takes about half a microsecond.
const (
	minPatience = 2
	maxPatience = 64
)

// attach gives the protocol its reader, if that is wanted: only the reader itself does, so that what was held is handled
// before what comes next.
func (in *inbound) attach(b *actor.Batch) {
	c := in.c
	if !in.wanted.Load() {
		return
	}
	in.pause.Lock()
	in.wanted.Store(false)
	c.nc.SetReadDeadline(time.Time{})
	in.pause.Unlock()
	if in.over.Load() { // that was the limit of conn.end
		c.nc.SetReadDeadline(time.Now().Add(drainTime))
	}
	in.batch = b
	c.event(c.proto.Attach)
	in.batch = nil
}

// Ended closes the socket after its last byte has been read.
func (c *conn) Ended() {
	c.nc.Close()
	c.r.forget(c)
}

// causeOf is how the end of reading is to be understood.
func causeOf(err error) assoc.Cause {
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF):
		return assoc.CauseFin
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED):
		return assoc.CauseReset
	case errors.Is(err, net.ErrClosed), errors.As(err, &timeout) && timeout.Timeout():
		return assoc.CauseFin
	}
	return assoc.CauseFailed
}

// frames handles the whole frames that are there, and moves the rest to the front.
func (in *inbound) frames(b *actor.Batch) {
	c := in.c
	in.direct = false
	for !in.over.Load() {
		body, size, err := c.r.framing.Next(in.buf[in.start:in.end])
		if err != nil {
			c.r.log.Warn("a connection sent a bad frame", slog.String("remote", c.nc.RemoteAddr().String()), slog.Any("error", err))
			c.event(c.proto.Undecodable)
			return
		}
		if size == 0 {
			in.makeRoom(in.frameSize())
			return
		}
		in.start += size
		if len(body) > 0 {
			in.frame(body, b)
		}
	}
}

// frameSize is the size of the frame that has begun, 0 while its header is not there.
func (in *inbound) frameSize() int {
	rest := in.buf[in.start:in.end]
	if len(rest) < akkapb.HeaderSize {
		return 0
	}
	n, _ := in.c.r.framing.Length(rest) // which Next has found right
	return akkapb.HeaderSize + n
}

// makeRoom moves what has been read of a frame to the front, and makes room for all of it.
func (in *inbound) makeRoom(size int) {
	rest := in.buf[in.start:in.end]
	if size > len(in.buf) {
		buf := make([]byte, max(size, 2*len(in.buf)))
		in.end = copy(buf, rest)
		in.buf = buf
	} else {
		in.end = copy(in.buf, rest)
	}
	in.start = 0
}

// frame handles the body of one frame.
func (in *inbound) frame(body []byte, b *actor.Batch) {
	c := in.c
	payload, err := akkapb.DecodePDU(body, &in.control)
	switch {
	case err != nil:
		c.r.log.Warn("a connection sent what is no PDU", slog.String("remote", c.nc.RemoteAddr().String()), slog.Any("error", err))
		c.event(c.proto.Undecodable)
	case payload == nil:
		in.protocol(b)
	case in.direct || in.seen():
		in.direct = true
		in.payload(payload, b)
	default:
		now := c.r.now()
		c.event(func(acts []assoc.ConnAction) []assoc.ConnAction { return c.proto.Payload(now, payload, acts) })
	}
}

// seen asks, once for what was read together, whether payloads may be handled.
func (in *inbound) seen() bool {
	in.c.pmu.Lock()
	defer in.c.pmu.Unlock()
	return in.c.proto.Seen(in.c.r.now())
}

// protocol handles a message of the protocol itself.
func (in *inbound) protocol(b *actor.Batch) {
	c, m := in.c, &in.control
	var origin assoc.Origin
	var uid assoc.UID
	if m.Command == akkapb.CommandAssociate {
		o := &m.Handshake.Origin
		origin = assoc.Origin{Protocol: string(o.Protocol), System: string(o.System), Hostname: string(o.Hostname), Port: o.Port}
		uid = assoc.UIDOf(m.Handshake.UID)
	}
	now := c.r.now()
	in.direct = false
	c.event(func(acts []assoc.ConnAction) []assoc.ConnAction {
		return c.proto.Control(now, assoc.Command(m.Command), origin, uid, acts)
	})
	in.attach(b)
}

// payload handles an acknowledgement, a message, or both.
func (in *inbound) payload(p []byte, b *actor.Batch) {
	c, m := in.c, &in.container
	if err := m.Decode(p); err != nil {
		in.refuse("an undecodable message", err)
		return
	}
	a := c.assoc.Load()
	if m.HasAck {
		a.acked(c, m.Ack.CumulativeAck, m.Ack.Nacks)
	}
	if !m.HasEnvelope {
		return
	}
	e := &m.Envelope
	if err := e.Check(); err != nil {
		in.refuse("an incomplete message", err)
		return
	}
	var sender *actor.Ref
	if e.HasSender {
		var err error
		if sender, err = in.sender(e.Sender); err != nil {
			in.refuse("a message with a bad sender", err)
			return
		}
	}
	to, err := in.recipient(e.Recipient)
	if err != nil {
		c.r.log.Warn("a message for nobody here was dropped", slog.String("to", clip(e.Recipient)), slog.Any("error", err))
		return
	}
	body, err := c.r.registry.Decode(e.Message.SerializerID, e.Message.Manifest, e.Message.Message, &in.exchange)
	if e.Seq != akkapb.NoSeq {
		system, ok := c.r.fromWire(body)
		if err != nil || !ok {
			in.refuse("a bad system message", err)
			return
		}
		a.received(c, assoc.SeqNo(e.Seq), systemIn{to, system, bytes.IndexByte(e.Recipient, '#') < 0})
		return
	}
	if err != nil {
		c.r.log.Error("a message could not be read and was dropped", slog.String("to", to.String()), slog.String("from", a.name), slog.Any("error", err))
		return
	}
	c.r.deliver(to, body, sender, b)
}

// refuse ends the association because of what came on the connection.
func (in *inbound) refuse(what string, err error) {
	c := in.c
	c.r.log.Error("an association ends because of "+what, slog.String("remote", c.nc.RemoteAddr().String()), slog.Any("error", err))
	c.event(func(acts []assoc.ConnAction) []assoc.ConnAction { return c.proto.Disassociate(assoc.Unknown, acts) })
}

// seenRef is a path and who was there.
type seenRef struct {
	path []byte
	ref  *actor.Ref
}

// is reports whether it is this path.
func (s *seenRef) is(path []byte) bool { return s.ref != nil && bytes.Equal(s.path, path) }

func (s *seenRef) set(path []byte, r *actor.Ref) { s.path, s.ref = append(s.path[:0], path...), r }

// recipient finds an actor of this system by the bytes of its path.
func (in *inbound) recipient(path []byte) (*actor.Ref, error) {
	if in.lastTo.is(path) {
		return in.lastTo.ref, nil
	}
	if r := in.recipients[string(path)]; r != nil {
		if !in.c.r.port.Ended(r) { // else a path without uid may lead to another by now
			if bytes.IndexByte(path, '#') >= 0 {
				in.lastTo.set(path, r)
			}
			return r, nil
		}
	}
	r, err := in.c.r.localRef(string(path))
	if err != nil {
		return nil, err
	}
	if in.c.r.port.Known(r) { // somebody who is not there may come yet
		remember(in.recipients, path, r)
	}
	return r, nil
}

// sender finds whoever has sent a message.
func (in *inbound) sender(path []byte) (*actor.Ref, error) {
	if in.lastFrom.is(path) {
		return in.lastFrom.ref, nil
	}
	if r := in.senders[string(path)]; r != nil {
		in.lastFrom.set(path, r)
		return r, nil
	}
	r, err := in.c.r.anyRef(string(path))
	if err != nil {
		return nil, err
	}
	remember(in.senders, path, r)
	return r, nil
}

func remember(m map[string]*actor.Ref, path []byte, r *actor.Ref) {
	if len(path) > maxRefPath {
		return
	}
	if len(m) >= maxRefs {
		clear(m)
	}
	m[string(path)] = r
}

// waitResumed waits while the connection is not to be read. Whoever has to attach does not: that ends the pause.
func (in *inbound) waitResumed() {
	in.pause.Lock()
	for in.paused && !in.wanted.Load() {
		in.resume.Wait()
	}
	in.pause.Unlock()
}

func (in *inbound) setPaused(p bool) {
	in.pause.Lock()
	in.paused = p
	in.pause.Unlock()
	in.resume.Broadcast()
}

// clip shortens what a peer has sent, for a log.
func clip(b []byte) string {
	const most = 200
	if len(b) > most {
		return string(b[:most]) + "..."
	}
	return string(b)
}

// event lets the protocol decide, and carries it out.
func (c *conn) event(f func(acts []assoc.ConnAction) []assoc.ConnAction) {
	c.pmu.Lock()
	acts := f(c.acts[:0])
	var up assoc.ConnAction
	var ups int
	var held [][]byte
	for i := range acts {
		x := &acts[i]
		switch x.Do {
		case assoc.ConnSend:
			c.control(c.r.controlMessage(x.Command))
		case assoc.ConnDeliver:
			held = append(held, x.Payload)
		case assoc.ConnPause:
			c.in.setPaused(true)
		case assoc.ConnResume:
			c.in.setPaused(false)
		case assoc.ConnAssociated, assoc.ConnEnded:
			up = *x // at most one of the two
			ups++
		}
	}
	clear(acts)
	c.acts = acts[:0]
	c.setAlarm()
	c.pmu.Unlock()
	for _, p := range held {
		c.in.payload(p, c.in.batch)
	}
	if ups == 0 {
		return
	}
	if up.Do == assoc.ConnAssociated {
		c.associated(up.Address, up.UID)
		return
	}
	c.over(up.Reason, up.Cause)
}

// associated tells the association of that address.
func (c *conn) associated(address string, uid assoc.UID) {
	addr, err := actor.ParseAddress(address)
	if err != nil {
		c.disassociate(assoc.Unknown)
		return
	}
	c.r.association(addr).associated(c, uid)
}

// over is the end of the connection.
func (c *conn) over(reason assoc.Reason, cause assoc.Cause) {
	c.in.over.Store(true)
	c.in.setPaused(false)
	c.stopAlarm()
	c.end()
	if a := c.assoc.Load(); a != nil {
		a.connEnded(c, reason, cause)
	}
}

// attach has the reader attach: where it waits for input, it is woken.
func (c *conn) attach() {
	c.in.pause.Lock() // or the reader could come between, attach, and stumble over the deadline then
	defer c.in.pause.Unlock()
	c.in.wanted.Store(true)
	c.in.resume.Broadcast()
	c.nc.SetReadDeadline(time.Unix(1, 0))
}

func (c *conn) disassociate(reason assoc.Reason) {
	c.event(func(acts []assoc.ConnAction) []assoc.ConnAction { return c.proto.Disassociate(reason, acts) })
}

// setAlarm wakes the protocol when it wants to be, under pmu.
func (c *conn) setAlarm() {
	next := c.proto.Next()
	if next == assoc.Never || next >= c.next {
		return
	}
	c.next = next
	if c.alarm != nil {
		c.alarm.Cancel()
	}
	c.alarm = c.r.sys.Scheduler().ScheduleOnce(max(next-c.r.now(), 0), c.tick)
}

func (c *conn) tick() {
	c.event(func(acts []assoc.ConnAction) []assoc.ConnAction {
		c.next = assoc.Never
		return c.proto.Tick(c.r.now(), acts)
	})
}

func (c *conn) stopAlarm() {
	c.pmu.Lock()
	if c.alarm != nil {
		c.alarm.Cancel()
	}
	c.pmu.Unlock()
}
