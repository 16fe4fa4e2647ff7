package actor

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// cell is a local actor: its mailbox, its place in the tree, and what runs it. One goroutine at a time
// runs a cell (a turn); fields are that goroutine's unless they say otherwise.
type cell struct {
	// The first cache line is read by whoever sends, the second written by them, and those after it belong to the
	// goroutine that runs the cell: TestCellLayout.
	ref Ref

	// The mailbox: see mailbox.go. Under mu.
	mu               sync.Mutex
	status           uint8
	taken            int32 // messages in out, for depth
	in               []envelope
	sysHead, sysTail *sysMsg
	over             *overflow // full pieces that came before in; nil as a rule

	out        []envelope
	sysWaiting atomic.Bool // sysHead is not nil; read without the lock
	suspends   int32       // how often suspended and not yet resumed
	pos        int         // the next of out
	handled    int         // those of out before it are cleared
	plain      uintptr     // the type of a message that went to the actor: the next is often of the same
	lives      uint32      // restarts so far: see continuation
	born       uint32      // which child of its parent this is
	state      lifeState
	running    runState
	counted    bool // among the actors that were started
	box        messageQueue
	disp       *dispatcher
	w          *worker // that runs the cell now

	msg    any // that is being handled
	sender *Ref

	actor  Actor
	become ReceiveFunc // in place of actor.Receive; the top of ext.behaviours
	props  *Props
	parent *Ref
	kids   atomic.Pointer[children]
	ext    *extension // what few actors need

	stats *childStats // the parent's: how often it has restarted this child, once it has
}

// extension is what a cell has from when it is first needed.
type extension struct {
	behaviours []ReceiveFunc // below become
	heldBack   []*sysMsg
	failed     *Ref // the actor whose failure suspends this one: itself or a child
	judging    *Ref // the child whose failure is being decided upon
	watch      watches
	failing    any   // the message that failed
	restarting error // why the actor is being restarted, while the fresh one is made and begins
	stash      []envelope
	timers     *Timers
	timeout    *receiveTimeout
	async      *asyncWork
	log        *logCache
}

func (c *cell) more() *extension {
	if c.ext == nil {
		c.ext = &extension{}
	}
	return c.ext
}

// lifeState is where in its life a cell is.
type lifeState uint8

const (
	unborn   lifeState = iota // nothing has been done yet
	starting                  // not created yet, or creating failed
	alive
	stopping // waits for its children to stop
	stopped
)

// runState says whether a function of the user's is being called.
type runState uint8

const (
	inNothing  runState = iota
	inReceive           // as the handler of a message
	hasStashed          // the same, and the message was stashed
	inHook              // as something else
)

// newCell makes a cell, which startOn has to start. It is busy until then, so that nobody who finds it earlier (its
// name, its path) schedules it as well.
func newCell(sys *System, parent *Ref, path string, uid int32, props *Props) *cell {
	c := &cell{props: props, parent: parent, disp: sys.dispatcher(props), status: busy}
	c.ref.c, c.ref.sys, c.ref.path, c.ref.uid = c, sys, path, uid
	if box := props.mailbox.make(); box != nil {
		c.box, c.status = box, busy|special
	}
	c.sysWaiting.Store(true)
	return c
}

// startOn makes the actor, on a goroutine of its dispatcher. The first turn of a cell finds it unborn.
func (c *cell) startOn(w *worker) { c.disp.schedule(c, w) }

// outcome of a part of a turn.
type outcome uint8

const (
	broken outcome = iota // part did not return: a function of the user's panicked or ended the goroutine
	idle                  // nothing left to do: the cell is not ours any more
	yield                 // its share is used up, and there is more
	caught                // a function of the user's failed; the turn goes on
	exited                // a function of the user's ended the goroutine (runtime.Goexit)
)

// turn handles messages until none is left or the dispatcher's share is used up. It reports whether the
// cell has to be scheduled again.
func (c *cell) turn(w *worker) (again bool) { return c.turnOf(w, c.disp.throughput) }

// turnOf is a turn of at most so many messages.
func (c *cell) turnOf(w *worker, left int) (again bool) {
	if m := c.disp.meters; m != nil {
		return c.meteredTurn(w, m, left)
	}
	var until time.Time
	if d := c.disp.deadline; d > 0 {
		until = time.Now().Add(d)
	}
	c.w = w
	for {
		switch c.part(&left, until) {
		case idle:
			return false
		case yield:
			c.w = nil
			return true
		}
	}
}

// part handles messages until one of them fails.
func (c *cell) part(left *int, until time.Time) (end outcome) {
	defer func() {
		if end == broken {
			// A panic may also be one of the runtime's own code, which what a message holds can break. An end of the
			// goroutine in a function that was dealt with already is no failure, and another may be running c by now.
			if r := recover(); r != nil || c.running != inNothing {
				end = c.recovered(r)
			}
		}
	}()
	for {
		if c.sysWaiting.Load() {
			c.handleSystem()
		}
		if c.pos >= len(c.out) || c.suspends > 0 || c.state == stopped {
			w := c.w
			c.w = nil
			c.forget()
			if c.rest() {
				return idle
			}
			c.w = w
			continue
		}
		if *left <= 0 || (!until.IsZero() && !time.Now().Before(until)) {
			c.forget()
			return yield
		}
		e := &c.out[c.pos]
		c.pos++
		*left--
		c.msg, c.sender = e.msg, e.sender
		if typeOf(e.msg) == c.plain {
			c.receive()
		} else {
			c.handle()
		}
	}
}

// forget lets go of the messages that this turn has handled.
func (c *cell) forget() {
	c.msg, c.sender = nil, nil
	if c.handled < c.pos {
		clear(c.out[c.handled:c.pos])
		c.handled = c.pos
	}
}

// typeOf is what tells the dynamic types of messages apart: the first word of an interface value.
func typeOf(msg any) uintptr { return *(*uintptr)(unsafe.Pointer(&msg)) }

// recovered makes a failure of the actor of what its code panicked with. r is nil when the code has
// ended its goroutine.
func (c *cell) recovered(r any) outcome {
	c.running = inNothing
	if c.msg != nil {
		x := c.more()
		x.failing = c.msg
		if x.timeout != nil {
			x.timeout.handled(c) // it may be resumed
		}
	}
	if r == nil {
		c.fail(errGoexit, nil)
		return exited
	}
	c.fail(panicError(r), nil)
	return caught
}

// handle handles the user message c.msg, which may be one that the runtime answers itself.
func (c *cell) handle() {
	switch m := c.msg.(type) {
	case PoisonPill:
		c.stopSelf()
		return
	case Kill:
		c.fail(ErrActorKilled, nil)
		return
	case Terminated:
		c.terminated(m)
		return
	case Identify:
		c.reply(ActorIdentity{MessageID: m.MessageID, Subject: &c.ref})
		return
	case *timerMessage:
		c.timerFired(m)
		return
	case *selectionMessage:
		c.route(m)
		return
	case *continuation:
		c.continueWith(m)
		return
	case *receiveTimeoutMessage:
		c.timedOut(m)
		return
	}
	c.plain = typeOf(c.msg)
	c.receive()
}

// receive calls the actor with c.msg.
func (c *cell) receive() {
	c.running = inReceive
	if c.become != nil {
		c.become((*Context)(c), c.msg)
	} else {
		c.actor.Receive((*Context)(c), c.msg)
	}
	c.running = inNothing
	if c.ext != nil && c.ext.timeout != nil {
		c.ext.timeout.handled(c)
	}
}

// timerFired hands the message of a timer to the actor, unless the timer was cancelled meanwhile.
func (c *cell) timerFired(m *timerMessage) {
	if c.ext == nil || c.ext.timers == nil {
		return
	}
	if msg, ok := c.ext.timers.accept(m); ok {
		c.msg = msg
		c.receive()
	}
}

// reply answers the sender of the message that is being handled.
func (c *cell) reply(msg any) { c.send(c.replyTo(), msg) }

func (c *cell) replyTo() *Ref {
	if c.sender != nil {
		return c.sender
	}
	return c.ref.sys.deadLetters
}

// send is Tell from within a turn: what becomes ready is run next by the same goroutine.
func (c *cell) send(to *Ref, msg any) { c.sendFrom(to, msg, &c.ref) }

func (c *cell) sendFrom(to *Ref, msg any, sender *Ref) {
	if msg == nil {
		c.ref.sys.refuseNil(to, sender)
		return
	}
	if t := to.c; t != nil {
		if t.enqueue(msg, sender) {
			t.disp.schedule(t, c.w)
		}
		return
	}
	if t, ok := to.t.(*remoteTarget); ok {
		t.Tell(to, msg, sender, Turn{c})
		return
	}
	to.t.tell(to, msg, sender)
}

// call runs a function of the user's that is no message handler: a hook, a strategy. Its panic comes back
// as an error. Where it ends its goroutine instead, call does not return: what has to happen in any case
// is deferred by the caller, and the cell then fails in part.
func (c *cell) call(f func()) (err error) {
	c.running = inHook
	defer func() {
		if r := recover(); r != nil {
			c.running = inNothing
			err = panicError(r)
		}
	}()
	f()
	c.running = inNothing
	return nil
}
