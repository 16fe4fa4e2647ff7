package actor

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/actua/actua/actor/internal/wheel"
)

// SetReceiveTimeout sends the actor a [ReceiveTimeout] when d has passed since the end of its last message, and
// again each time that d passes after that, until the time-out is set otherwise; 0 ends it. It begins to count at
// once. A negative d is a failure of the actor. For the resolution see [Scheduler]; it is never early.
//
// Messages marked as [NotInfluenceReceiveTimeout], and those that the actor does not see ([Identify]), do not
// count. A ReceiveTimeout that waits in the mailbox behind a message that counts, or when the time-out is set
// otherwise, never arrives. A restart ends the time-out. (Akka.NET: SetReceiveTimeout.)
func (x *Context) SetReceiveTimeout(d time.Duration) {
	c := (*cell)(x)
	switch {
	case d < 0:
		x.Fail(fmt.Errorf("actor: %s cannot have a receive time-out of %v", c.ref.path, d))
	case d == 0:
		if c.ext != nil && c.ext.timeout != nil {
			c.ext.timeout.stop()
			c.ext.timeout = nil
		}
	case c.state != stopping && c.state != stopped:
		m := c.more()
		if m.timeout == nil {
			m.timeout = &receiveTimeout{c: c}
			m.timeout.timer.Do = m.timeout
		}
		m.timeout.set(d)
	}
}

// ReceiveTimeoutAfter is what [Context.SetReceiveTimeout] has set; 0 is none.
func (x *Context) ReceiveTimeoutAfter() time.Duration {
	if x.ext == nil || x.ext.timeout == nil {
		return 0
	}
	return time.Duration(x.ext.timeout.after.Load())
}

// receiveTimeout is the receive time-out of a cell. A message that counts just notes the time: the timer is not
// moved, but looks at that time when it is due, and goes on for the rest.
type receiveTimeout struct {
	c     *cell
	timer wheel.Timer
	after atomic.Int64  // the time-out; 0 when it is over
	last  atomic.Int64  // when the last message was handled, on the scheduler's clock
	count atomic.Uint32 // of messages; a time-out of another count is not delivered
	armed atomic.Bool   // the timer is pending, or will look at last
}

// receiveTimeoutMessage is a time-out in the mailbox.
type receiveTimeoutMessage struct {
	of    *receiveTimeout
	count uint32
}

func (m *receiveTimeoutMessage) unwrap() any { return ReceiveTimeout{} }

func (t *receiveTimeout) set(d time.Duration) {
	t.after.Store(int64(d))
	t.touch()
	t.armed.Store(true)
	t.c.ref.sys.scheduler.add(&t.timer, d)
}

// stop ends it for good.
func (t *receiveTimeout) stop() {
	t.after.Store(0)
	t.c.ref.sys.scheduler.remove(&t.timer)
}

func (t *receiveTimeout) touch() {
	t.count.Add(1)
	t.last.Store(int64(t.c.ref.sys.scheduler.now()))
}

// handled is called after each message that the actor has seen.
func (t *receiveTimeout) handled(c *cell) {
	if _, ok := c.msg.(NotInfluenceReceiveTimeout); ok {
		return
	}
	t.touch()
	if !t.armed.Load() {
		t.armed.Store(true)
		c.ref.sys.scheduler.add(&t.timer, time.Duration(t.after.Load()))
	}
}

// Run is called by the scheduler.
func (t *receiveTimeout) Run() {
	t.armed.Store(false) // first: a message that is handled from here on arms the timer
	count := t.count.Load()
	after := t.after.Load()
	if after == 0 {
		return
	}
	s := t.c.ref.sys.scheduler
	if left := t.last.Load() + after - int64(s.now()); left > 0 {
		t.armed.Store(true)
		s.add(&t.timer, time.Duration(left))
		if t.after.Load() == 0 {
			s.remove(&t.timer) // it has been stopped meanwhile
		}
		return
	}
	t.c.ref.tellNow(&receiveTimeoutMessage{t, count}, nil)
}

// timedOut hands a time-out to the actor, unless it is not true any more.
func (c *cell) timedOut(m *receiveTimeoutMessage) {
	if c.ext == nil || c.ext.timeout != m.of || m.of.count.Load() != m.count {
		return
	}
	c.msg = ReceiveTimeout{}
	c.receive()
}
