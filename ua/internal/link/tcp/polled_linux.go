package tcp

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
)

// polled is the socket of a connection that a loop watches. What has no note is the loop's, and while
// busy the goroutine's that works for it.
type polled struct {
	c    *ServerConn
	loop *loop
	fd   int    // of the loop and of who sends, which is over when it is closed
	done func() // called when all is over

	slot       int32
	generation int32
	armed      uint32 // events that are asked for; 0: none, and not even hang-ups are told
	started    bool
	busy       bool // a goroutine works on what takes long; see detach
	full       bool // nothing is read, because the answers are not
	dammed     bool // and requests that were read wait for that, too
	unwatched  bool // the kernel tells nothing about it: it ends
	wakeAt     time.Time

	// While busy, for the loop when that is over.
	turned step
	err    error

	// While parting.
	why      error
	answer   bool // the peer has something to read
	buried   bool
	shutdown bool // nothing is sent any more; the peer's end is awaited
	partBy   time.Time

	blocked atomic.Bool  // the peer does not read
	stuckBy atomic.Int64 // until when it must, in ns since the epoch
	woken   atomic.Int64 // when to look whether the connection has been ended, likewise; 0: not

	cutting sync.Mutex // of closed, for cut
	closed  bool       // fd is, and may be somebody else's by now

	posted   bool        // under loop.mu
	ready    atomic.Bool // start was called
	returned atomic.Bool // the goroutine of detach has ended
}

// generations tells the connections that had a slot one after the other apart.
var generations atomic.Int32

// start has the loop serve the connection, and call done when all is over.
func (p *polled) start(done func()) {
	p.done = done
	p.ready.Store(true)
	p.loop.post(p)
}

// errAgain is the end of what there is to read.
var errAgain = errors.New("nothing to read")

// Read reads without waiting.
func (p *polled) Read(b []byte) (int, error) {
	for {
		n, e := receive(p.fd, b)
		switch {
		case e == 0 && n == 0:
			return 0, io.EOF
		case e == 0:
			return n, nil
		case e == syscall.EAGAIN:
			return 0, errAgain
		case e != syscall.EINTR:
			return 0, e
		}
	}
}

// send implements sender without waiting.
func (p *polled) send(b []byte) (n int, err error) {
	for n < len(b) {
		k, e := transmit(p.fd, b[n:])
		switch {
		case e == 0:
			n += k
		case e == syscall.EAGAIN:
			p.stuckBy.Store(time.Now().Add(p.c.cfg.WriteTimeout).UnixNano())
			p.blocked.Store(true)
			p.loop.post(p)
			return n, nil
		case e != syscall.EINTR:
			return n, e
		}
	}
	return n, nil
}

// hurry implements sender: the loop keeps that time itself.
func (p *polled) hurry(time.Duration) {}

// wake implements sender.
func (p *polled) wake(d time.Duration) {
	at := time.Now().Add(d).UnixNano()
	for {
		w := p.woken.Load()
		if w != 0 && w <= at || p.woken.CompareAndSwap(w, at) {
			break
		}
	}
	p.loop.post(p)
}

// cut implements socket. The descriptor is closed by the loop, which has others with that number later.
func (p *polled) cut() {
	p.cutting.Lock()
	defer p.cutting.Unlock()
	if !p.closed {
		_ = syscall.Shutdown(p.fd, syscall.SHUT_RDWR) // it may have ended from the other side
	}
}

// stuck implements socket.
func (p *polled) stuck() bool { return p.blocked.Load() }

// arm tells the kernel which events are of interest now.
func (p *polled) arm() {
	var want uint32
	if !p.busy && !p.full && (p.c.phase != parting || p.shutdown) {
		want = syscall.EPOLLIN
	}
	if p.blocked.Load() && !p.buried {
		want |= syscall.EPOLLOUT
	}
	if want == p.armed {
		return
	}
	op := syscall.EPOLL_CTL_MOD
	switch {
	case p.armed == 0:
		op = syscall.EPOLL_CTL_ADD
	case want == 0: // with no events at all hang-ups would still be told, again and again
		op = syscall.EPOLL_CTL_DEL
	}
	p.armed = want
	if err := syscall.EpollCtl(p.loop.ep, op, p.fd, &syscall.EpollEvent{Events: want, Fd: p.slot, Pad: p.generation}); err != nil {
		// The kernel is out of memory for watches. Without events the connection must end.
		p.armed = 0
		if !p.unwatched {
			p.unwatched = true
			p.c.cfg.Log.Error("opcua: a connection cannot be watched", "remote", p.c.remote, "err", err)
			p.cut()
		}
		if !p.busy {
			p.wakeAt = time.Now()
			if p.c.phase == parting {
				p.wakeAt = p.partBy
			}
			p.loop.sooner(p.wakeAt)
		}
	}
}

// happened handles events.
func (p *polled) happened(events uint32) {
	if events&(syscall.EPOLLOUT|syscall.EPOLLERR|syscall.EPOLLHUP) != 0 && p.blocked.Load() {
		p.resume()
		if p.slot < 0 {
			return
		}
	}
	if p.busy {
		p.arm()
		return
	}
	if p.armed&syscall.EPOLLIN != 0 && events&^syscall.EPOLLOUT != 0 {
		p.read()
		return
	}
	p.next()
}

// resume sends what the peer did not take before.
func (p *polled) resume() {
	p.blocked.Store(false)
	p.c.out.resume()
	p.full = p.blocked.Load() && p.c.out.full()
	switch {
	case p.busy:
	case p.c.phase == parting:
		p.part()
	case p.dammed && !p.full:
		p.dammed = false
		p.c.last = p.c.cfg.Now()
		p.turn()
	}
}

// read reads once and handles what has come.
func (p *polled) read() {
	c := p.c
	if c.phase == parting {
		p.discard()
		return
	}
	c.in.trusted = c.trusted.Load()
	c.in.borrow(p.loop.buf)
	err := c.in.fill()
	if err != nil {
		if e := c.in.settle(); e != nil && err == errAgain {
			err = e
		}
		if err != errAgain {
			p.end(c.readError(err))
		}
		return
	}
	c.last = c.cfg.Now()
	p.turn()
}

// turn handles what has been read.
func (p *polled) turn() {
	c := p.c
	c.out.hold(c.last)
	s, err := c.advance()
	full := c.out.release()
	if s == mustWait && c.in.shared && c.again.body != nil {
		c.again.body = bytes.Clone(c.again.body)
	}
	if e := c.in.settle(); err == nil {
		err = e
	}
	p.full = full && p.blocked.Load()
	p.after(s, err)
}

// after goes on when what was read has been handled.
func (p *polled) after(s step, err error) {
	switch {
	case s == closed || err != nil:
		p.end(err)
	case s == mustWait:
		p.detach()
	case s == dammed && !p.full: // it was, and has just been read
		p.turn()
	default:
		p.dammed = s == dammed
		p.next()
	}
}

// next makes ready for the next event.
func (p *polled) next() {
	c := p.c
	if c.phase != serving || c.retime || p.blocked.Load() || c.in.w > 0 || p.wakeAt.IsZero() || c.unfinished() {
		c.retime = false
		p.setTimer()
	}
	p.arm()
}

// setTimer finds when the loop must look at the connection though nothing happens.
func (p *polled) setTimer() {
	now := time.Now()
	var t time.Time
	sooner := func(u time.Time) {
		if t.IsZero() || u.Before(t) {
			t = u
		}
	}
	if p.c.phase == parting {
		sooner(p.partBy)
		if !now.Before(t) { // somebody still writes; without a pause the loop would spin
			t = now.Add(time.Millisecond)
		}
		if !p.buried && !p.blocked.Load() { // somebody is writing, which takes no time
			sooner(now.Add(time.Millisecond))
		}
	} else {
		due, _ := p.c.due()
		sooner(now.Add(due.Sub(p.c.cfg.Now())))
		if p.blocked.Load() {
			sooner(time.Unix(0, p.stuckBy.Load()))
		}
		if w := p.woken.Load(); w != 0 {
			sooner(time.Unix(0, w))
		}
	}
	p.wakeAt = t
	p.loop.sooner(t)
}

// expired is called at wakeAt.
func (p *polled) expired(now time.Time) {
	c := p.c
	if c.phase == parting {
		p.part()
		return
	}
	if p.blocked.Load() && now.UnixNano() >= p.stuckBy.Load() {
		c.out.giveUp()
		p.woken.Store(now.UnixNano())
	}
	if w := p.woken.Load(); w != 0 && now.UnixNano() >= w {
		p.woken.Store(0)
		if err := c.ended(); err != nil {
			p.end(err)
			return
		}
	}
	if p.unwatched {
		p.end(&uacp.Error{Status: ua.BadConnectionClosed, Reason: "the connection cannot be watched"})
		return
	}
	if due, why := c.due(); !c.cfg.Now().Before(due) {
		p.end(c.overdue(why))
		return
	}
	p.setTimer()
}

// visited is called after post.
func (p *polled) visited() {
	if !p.ready.Load() {
		return // ended before it began; start posts it again
	}
	if !p.started {
		p.started = true
		p.generation = generations.Add(1)
		p.loop.add(p)
	}
	if p.slot < 0 {
		return
	}
	if p.returned.CompareAndSwap(true, false) {
		p.busy = false
		s, err := p.turned, p.err
		if e := p.c.in.settle(); err == nil {
			err = e
		}
		p.c.retime = true
		p.after(s, err)
		if p.slot < 0 {
			return
		}
	}
	p.full = p.blocked.Load() && p.c.out.full()
	if !p.busy {
		p.wakeAt = time.Time{}
		p.expired(time.Now())
		if p.slot < 0 {
			return
		}
		p.loop.sooner(p.wakeAt)
	}
	p.arm()
}

// detach lets a goroutine handle what has been read, because that may take long. Nothing more is read
// meanwhile.
func (p *polled) detach() {
	p.busy = true
	p.arm()
	go func() {
		p.c.mayWait = true
		p.turned, p.err = p.c.advance()
		p.c.mayWait = false
		p.returned.Store(true)
		p.loop.post(p)
	}()
}

// end begins the end of the connection.
func (p *polled) end(err error) {
	p.why = err
	p.c.phase = parting
	p.partBy = time.Now().Add(lastWords)
	p.answer = p.c.farewell(err)
	p.part()
}

// part goes on with the end of the connection: first what waits is sent, then the peer has a moment to
// read it, since closing a socket with bytes unread in it would reset the connection and take the ERR
// message with it.
func (p *polled) part() {
	late := !time.Now().Before(p.partBy)
	if !p.buried {
		if late {
			p.c.out.giveUp()
		}
		if !p.c.out.idle() {
			p.setTimer()
			p.arm()
			return
		}
		p.buried = true
		p.c.bury(p.why)
	}
	if p.answer && !p.shutdown && !late {
		p.shutdown = true
		if syscall.Shutdown(p.fd, syscall.SHUT_WR) == nil {
			p.partBy = time.Now().Add(lastWords)
			p.full = false
			p.setTimer()
			p.arm()
			return
		}
		late = true // the peer has gone before
	}
	if !p.answer || late {
		p.close()
		return
	}
	p.setTimer()
}

// discard reads what the peer still sends, until its end.
func (p *polled) discard() {
	if _, err := p.Read(p.loop.buf); err != nil && err != errAgain || !time.Now().Before(p.partBy) {
		p.close()
	}
}

// close is the end.
func (p *polled) close() {
	p.loop.remove(p)
	p.slot = -1
	p.cutting.Lock()
	p.closed = true
	_ = syscall.Close(p.fd) // nothing can be done about an error, and nothing is lost by it
	p.cutting.Unlock()
	p.done()
}

// resume goes on writing when a socket that was stuck takes more.
func (o *outbound) resume() {
	o.mu.Lock()
	if b := o.stuck; b != nil && o.err == nil {
		o.stuck = nil
		o.write(b, o.gone)
		for range writeTurns {
			if o.more() {
				o.writeOnce()
			}
		}
		if o.more() { // the loop has others to serve, too
			o.mu.Unlock()
			go o.drain()
			return
		}
		o.rest()
		o.mu.Lock()
	}
	o.mu.Unlock()
}

// giveUp ends sending to a peer that does not read.
func (o *outbound) giveUp() {
	o.mu.Lock()
	if o.err == nil {
		o.err = &uacp.Error{Status: ua.BadConnectionClosed, Reason: "writing: the peer does not read"}
	}
	if o.stuck != nil {
		o.stuck, o.writing = nil, false
	}
	o.quiet.Broadcast()
	o.mu.Unlock()
}

// idle reports whether nobody writes, and nobody will.
func (o *outbound) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil && o.stuck != nil {
		o.stuck, o.writing = nil, false
	}
	return !o.writing && (o.buf == nil || o.err != nil)
}
