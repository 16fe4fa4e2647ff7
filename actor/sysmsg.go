package actor

import "slices"

// sysKind says what a system message asks for. The names are Akka.NET's (Akka.Dispatch.SysMsg).
type sysKind uint8

const (
	sysRecreate    sysKind = iota // restart because of cause
	sysSuspend                    // let user messages wait, here and below
	sysResume                     // go on; cause is set when this ends a failure of the cell itself
	sysTerminate                  // stop
	sysWatch                      // other watches ref
	sysUnwatch                    // other does not watch ref any more
	sysFailed                     // the child ref, incarnation uid, has failed with cause
	sysDeathNotice                // ref has ended (DeathWatchNotification)
	sysResumeAsync                // work that ran aside has ended: then continues it
)

// sysMsg is a system message. It belongs to the queue that it is in.
type sysMsg struct {
	next       *sysMsg
	kind       sysKind
	ref, other *Ref
	cause      error
	uid        int32
	existed    bool // the actor that ended had existed
	addressEnd bool // it ended because its node did
	then       *asyncWork
}

// holdsBack reports whether a message of this kind waits while the cell is in state s: a failure of a child
// is not decided upon by a parent that has failed itself, and what changes the cell's life waits for its
// children to stop before a restart.
func (k sysKind) holdsBack(s sysState) bool {
	switch s {
	case stateFailed:
		return k == sysFailed
	case stateWaiting:
		return k == sysFailed || k == sysRecreate || k == sysSuspend || k == sysResume
	}
	return false
}

// sysState orders the states of a cell by how much they hold back.
type sysState uint8

const (
	stateNormal  sysState = iota
	stateFailed           // user messages are suspended
	stateWaiting          // a restart waits for children to stop
)

func (c *cell) sysState() sysState {
	switch {
	case c.children().waiting():
		return stateWaiting
	case c.suspends > c.awaiting(): // not while it only awaits work of its own
		return stateFailed
	}
	return stateNormal
}

// handleSystem handles all system messages that are there, and those held back that may go on.
func (c *cell) handleSystem() {
	c.msg, c.sender = nil, nil
	if c.state == unborn {
		c.state = starting
		c.create()
	}
	for {
		m := c.dequeueSystem()
		if m == nil {
			return
		}
		c.system(m)
		if c.state == stopped {
			return
		}
	}
}

// system handles one message. What is held back is handled as soon as the state allows it, before newer ones.
func (c *cell) system(m *sysMsg) {
	before := c.sysState()
	if m.kind.holdsBack(before) {
		l := c.more()
		l.heldBack = append(l.heldBack, m)
		return
	}
	c.systemNow(m)
	for c.state != stopped {
		m := c.takeHeldBack()
		if m == nil {
			return
		}
		c.systemNow(m)
	}
}

// takeHeldBack is the first of those held back that may go on now. The others stay, whatever becomes of this one.
func (c *cell) takeHeldBack() *sysMsg {
	if c.ext == nil {
		return nil
	}
	state := c.sysState()
	for i, m := range c.ext.heldBack {
		if !m.kind.holdsBack(state) {
			c.ext.heldBack = slices.Delete(c.ext.heldBack, i, i+1)
			return m
		}
	}
	return nil
}

func (c *cell) systemNow(m *sysMsg) {
	switch m.kind {
	case sysRecreate:
		c.recreate(m.cause)
	case sysSuspend:
		c.suspend()
		c.suspendChildren(nil)
	case sysResume:
		c.resume(m.cause)
	case sysTerminate:
		c.terminate()
	case sysWatch:
		c.addWatcher(m.ref, m.other)
	case sysUnwatch:
		c.removeWatcher(m.ref, m.other)
	case sysFailed:
		c.childFailed(m)
	case sysDeathNotice:
		c.ended(m)
	case sysResumeAsync:
		c.asyncDone(m.then)
	}
}
