package actor

import (
	"math"
	"time"
)

// What a cell keeps its messages in. Everything here runs with the cell's lock held, or on the one
// goroutine that runs the cell.
//
// User messages lie in two slices: senders append to in, and the cell takes all of it at once, by
// swapping it with out, when it has handled what was in out. So a message costs one short lock, and
// a batch one more. What does not fit into one slice waits in line: see pieces.go. System messages are a list of
// their own, looked at before each user message.
//
// The bit busy decides who runs the cell. It is set by whoever brings the first message, who then
// has to schedule the cell, and it is cleared only with nothing left to do. Both happen under the
// lock, so neither can a message be left lying (a lost wake-up) nor two goroutines run one cell.

// envelope is one user message.
type envelope struct {
	msg    any
	sender *Ref
}

// Bits of cell.status.
const (
	busy      uint8 = 1 << iota // scheduled, or running
	suspended                   // user messages wait
	closed                      // no messages any more: what comes is a dead letter
	special                     // messages go to cell.box
)

// messageQueue holds the user messages of a mailbox that is not the default one. It is used with the
// cell's lock held. The rank of a message is what its ranker said, else 0.
type messageQueue interface {
	push(e envelope, rank int, must bool) (ok bool) // false: no room; with must there always is
	pushFront(e envelope, rank int)                 // back to where it was taken from; never refused
	pop() (e envelope, ok bool)
	len() int
}

// ranker is a messageQueue that asks a function of the user's about each message: without the cell's lock.
type ranker interface {
	// rank reports false where that function failed.
	rank(c *cell, e envelope) (rank int, ok bool)
}

// waiter is a messageQueue that a sender may wait for.
type waiter interface {
	// waits reports whether senders wait at all.
	waits() bool

	// wait adds a message as soon as there is room. It reports false when there was none in time. It gives
	// the cell's lock back, and returns without it.
	wait(c *cell, e envelope) (ok bool)
}

// first is the rank of a message that has none and must not be lost.
const first = math.MinInt

// enqueue adds a user message and reports whether the caller has to schedule the cell.
func (c *cell) enqueue(msg any, sender *Ref) bool {
	c.mu.Lock()
	if c.status&(closed|special) != 0 {
		return c.enqueueSpecial(msg, sender, mayWait) // gives the lock back
	}
	if len(c.in) == piece {
		c.spill()
	}
	c.in = append(c.in, envelope{msg, sender})
	ready := c.status&(busy|suspended) == 0
	if ready {
		c.status |= busy
	}
	c.mu.Unlock()
	return ready
}

// patience is what a sender does about a mailbox that is full.
type patience uint8

const (
	mayWait   patience = iota
	noWait             // the message is a dead letter then
	waitApart          // a goroutine waits in place of the sender
	needed             // there is room for this one
)

// enqueueSpecial is the end of enqueue for a cell that is gone or has another kind of mailbox. It gives the lock
// back.
func (c *cell) enqueueSpecial(msg any, sender *Ref, p patience) (ready bool) {
	e := envelope{msg, sender}
	rank := 0
	if r, ok := c.box.(ranker); ok && c.status&closed == 0 {
		c.mu.Unlock()
		if rank, ok = c.rankOf(r, e, p == needed); !ok {
			return false
		}
		c.mu.Lock()
	}
	for once := true; c.status&closed == 0; once = false {
		if c.box.push(e, rank, p == needed) {
			ready = c.status&(busy|suspended) == 0
			if ready {
				c.status |= busy
			}
			c.mu.Unlock()
			return ready
		}
		w, ok := c.box.(waiter)
		switch {
		case p == noWait || !ok || !w.waits():
			c.mu.Unlock()
		case p == waitApart:
			c.mu.Unlock()
			go (&c.ref).TellFrom(msg, sender)
			return false
		case once:
			c.mu.Unlock()
			if !c.runsHere() {
				c.mu.Lock()
				continue
			}
		default:
			if w.wait(c, e) { // without the lock from here
				return false // the cell runs, as it has made room
			}
		}
		c.ref.sys.publishFull(&c.ref, msg, sender)
		return false
	}
	c.mu.Unlock()
	c.ref.sys.deadLetter(&c.ref, msg, sender)
	return false
}

// rankOf is the rank of a message, which is a dead letter where there is none. One that is needed has one always.
func (c *cell) rankOf(r ranker, e envelope, must bool) (rank int, ok bool) {
	if must {
		return c.rankApart(r, e), true
	}
	defer func() {
		if !ok {
			c.ref.sys.deadLetter(&c.ref, unwrapped(e.msg), e.sender)
		}
	}()
	return r.rank(c, e)
}

// rankApart asks the user's function on another goroutine: it may end the one that it runs on, and this one has
// things to do.
func (c *cell) rankApart(r ranker, e envelope) int {
	rank := first
	done := make(chan struct{})
	go func() {
		defer close(done)
		if n, ok := r.rank(c, e); ok {
			rank = n
		}
	}()
	<-done
	return rank
}

// runsHere reports whether the calling goroutine is the one that would have to make room in the mailbox: it runs
// the cell, or is the only one that may.
func (c *cell) runsHere() (here bool) {
	me := goroutineID()
	_, only := c.disp.runner.(*calling)
	c.disp.running(func(x *cell, g uint64, _ time.Duration) {
		here = here || g == me && (only || x == c)
	})
	return here
}

// enqueueOwn adds a message on the goroutine that runs the cell, which therefore sees it. There is always room.
func (c *cell) enqueueOwn(msg any, sender *Ref) {
	e := envelope{msg, sender}
	rank := 0
	if r, ok := c.box.(ranker); ok {
		rank, _ = c.rankOf(r, e, true)
	}
	c.mu.Lock()
	if c.status&special != 0 {
		c.box.push(e, rank, true)
	} else {
		if len(c.in) == piece {
			c.spill()
		}
		c.in = append(c.in, e)
	}
	c.mu.Unlock()
}

// enqueueNow adds a message to a special mailbox without waiting for room.
func (c *cell) enqueueNow(msg any, sender *Ref) {
	p := noWait
	switch msg.(type) {
	case *continuation, *receiveTimeoutMessage:
		p = needed
	}
	c.mu.Lock()
	if c.enqueueSpecial(msg, sender, p) {
		c.disp.schedule(c, nil)
	}
}

// enqueueSystem adds a system message, and schedules the cell where that is needed.
func (c *cell) enqueueSystem(m *sysMsg) {
	c.mu.Lock()
	if c.status&closed != 0 {
		c.mu.Unlock()
		c.ref.sys.deadSystemMessage(&c.ref, m)
		return
	}
	if c.sysTail == nil {
		c.sysHead = m
	} else {
		c.sysTail.next = m
	}
	c.sysTail = m
	c.sysWaiting.Store(true)
	ready := c.status&busy == 0
	c.status |= busy
	c.mu.Unlock()
	if ready {
		c.disp.schedule(c, nil)
	}
}

// dequeueSystem takes the first system message.
func (c *cell) dequeueSystem() *sysMsg {
	c.mu.Lock()
	m := c.sysHead
	if m != nil {
		c.sysHead, m.next = m.next, nil
	}
	if c.sysHead == nil {
		c.sysTail = nil
		c.sysWaiting.Store(false)
	}
	c.mu.Unlock()
	return m
}

// refillLocked takes what has come in since, and reports whether there was anything.
func (c *cell) refillLocked() bool {
	c.pos, c.handled = 0, 0
	if c.status&special != 0 {
		e, ok := c.box.pop()
		if !ok {
			c.out, c.taken = c.out[:0], 0
			return false
		}
		c.out = append(c.out[:0], e)
		c.taken = 1
		return true
	}
	if o := c.over; o != nil {
		lend(c.out)
		if c.out = o.pop(); o.len() == 0 {
			c.over = nil
		}
	} else {
		c.in, c.out = c.out[:0], c.in
	}
	c.taken = int32(len(c.out))
	return len(c.out) > 0
}

// rest ends a turn with nothing left to do, if that is so: then the cell is idle, and not this
// goroutine's any more.
func (c *cell) rest() (idle bool) {
	c.mu.Lock()
	switch {
	case c.sysHead != nil:
	case c.status&(suspended|closed) != 0, c.pos == len(c.out) && !c.refillLocked():
		c.status &^= busy
		c.taken = int32(len(c.out) - c.pos)
		idle = true
	}
	c.mu.Unlock()
	return idle
}

// setSuspended lets user messages wait, or not.
func (c *cell) setSuspended(on bool) {
	c.mu.Lock()
	if on {
		c.status |= suspended
	} else {
		c.status &^= suspended
	}
	c.mu.Unlock()
}

// close ends the mailbox. It returns what is left, in order.
func (c *cell) close() (left []envelope, system *sysMsg) {
	c.mu.Lock()
	c.status |= closed
	system, c.sysHead, c.sysTail = c.sysHead, nil, nil
	c.sysWaiting.Store(false)
	left = append(left, c.out[c.pos:]...)
	if c.over != nil {
		for c.over.len() > 0 {
			left = append(left, c.over.pop()...)
		}
		c.over = nil
	}
	left = append(left, c.in...)
	if c.status&special != 0 {
		for e, ok := c.box.pop(); ok; e, ok = c.box.pop() { // those of senders who wait for room included
			left = append(left, e)
		}
	}
	c.in, c.out, c.pos, c.handled, c.taken = nil, nil, 0, 0, 0
	c.mu.Unlock()
	return left, system
}

// pushFront puts messages before all others, in the order of es. Only the goroutine that runs the
// cell may call it.
func (c *cell) pushFront(es []envelope) {
	if len(es) == 0 {
		return
	}
	if c.status&special != 0 { // the bit never changes
		c.pushFrontSpecial(es)
		return
	}
	n := len(es)
	if n > c.pos {
		rest := c.out[c.pos:]
		room := n + len(rest)/2 // for messages to come, so that many single ones do not move the rest each time
		out := make([]envelope, room+len(rest))
		copy(out[room:], rest)
		c.out, c.pos, c.handled = out, room, room
	}
	c.pos -= n
	copy(c.out[c.pos:], es)
	c.handled = min(c.handled, c.pos)
	c.mu.Lock()
	c.taken = int32(len(c.out) - c.pos)
	c.mu.Unlock()
}

func (c *cell) pushFrontSpecial(es []envelope) {
	es = append(es[:len(es):len(es)], c.out[c.pos:]...) // what was taken and not handled goes back behind them
	ranks := make([]int, len(es))
	if r, ok := c.box.(ranker); ok {
		for i, e := range es {
			ranks[i], _ = c.rankOf(r, e, true)
		}
	}
	c.mu.Lock()
	for i := len(es) - 1; i >= 0; i-- {
		c.box.pushFront(es[i], ranks[i])
	}
	c.out, c.pos, c.taken = c.out[:0], 0, 0
	c.mu.Unlock()
}

// depth is how many user messages wait. While the cell runs it may count some that it has handled in
// this turn.
func (c *cell) depth() int {
	c.mu.Lock()
	n := len(c.in) + int(c.taken)
	if c.over != nil {
		n += c.over.len() * piece
	}
	if c.status&special != 0 {
		n = c.box.len() + int(c.taken)
	}
	c.mu.Unlock()
	return n
}

func (c *cell) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status&closed != 0
}
