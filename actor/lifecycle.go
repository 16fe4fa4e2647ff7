package actor

import "fmt"

// The life of a cell: create, fail, suspend, resume, restart, stop. The steps, and their order, are those of
// Akka.NET's ActorCell. All of it runs on the goroutine that runs the cell. A function of the user's may
// panic or end its goroutine; steps that must happen after one are deferred.

// create makes the actor and starts it.
func (c *cell) create() {
	if c.state != starting {
		return
	}
	if err := c.instantiate(func(a Actor) {
		if h, ok := a.(PreStarter); ok {
			h.PreStart((*Context)(c))
		}
	}); err != nil {
		c.actor = nil
		c.fail(&InitializationError{Actor: &c.ref, Cause: err}, nil)
		return
	}
	c.state = alive
	c.ref.sys.started(c)
}

// instantiate makes a fresh actor and calls its first hook.
func (c *cell) instantiate(hook func(Actor)) error {
	return c.call(func() {
		a := c.props.produce()
		if a == nil {
			panic(failing{fmt.Errorf("the function that makes the actor returned nil")})
		}
		c.actor = a
		c.props.made(a)
		hook(a)
	})
}

// suspend lets user messages wait until as many resumes have come.
func (c *cell) suspend() {
	if c.suspends++; c.suspends == 1 {
		c.setSuspended(true)
	}
}

func (c *cell) unsuspend() {
	if c.suspends == c.awaiting() {
		return
	}
	if c.suspends--; c.suspends == 0 {
		c.setSuspended(false)
	}
	c.resumeAsync()
}

func (c *cell) suspendChildren(except *Ref) {
	c.children().each(func(k *cell) {
		if &k.ref != except {
			k.ref.tellSystem(&sysMsg{kind: sysSuspend})
		}
	})
}

// failedBy is the actor whose failure suspends this cell: itself or a child; nil when none does.
func (c *cell) failedBy() *Ref {
	if c.ext == nil {
		return nil
	}
	return c.ext.failed
}

// fail is what happens when the actor's code fails: the cell and all below it are suspended, and its parent
// decides. child is the one whose failure this one passes on, and is suspended already.
func (c *cell) fail(cause error, child *Ref) {
	if c.state == starting {
		if _, ok := cause.(*InitializationError); !ok {
			c.actor = nil
			cause = &InitializationError{Actor: &c.ref, Cause: cause}
		}
	}
	if c.failedBy() != nil || c.state == stopped {
		return // the parent knows already
	}
	x := c.more()
	if x.restarting != nil {
		// As in Akka.NET, what is half restarted has no PreRestart and no PostStop.
		cause = &RestartError{Actor: &c.ref, Cause: cause, Original: x.restarting}
		c.actor, x.restarting = nil, nil
	}
	if child == nil {
		child = x.judging
		c.ref.sys.failed(c)
	}
	x.judging = nil
	if child == nil {
		c.dropAsync() // it belongs to the message that failed
	}
	c.suspend()
	x.failed = &c.ref
	if child != nil {
		x.failed = child
	}
	c.suspendChildren(child)
	c.parent.tellSystem(&sysMsg{kind: sysFailed, ref: &c.ref, cause: cause, uid: c.ref.uid})
}

// resume goes on after a suspension. With a cause it ends a failure of the cell itself.
func (c *cell) resume(cause error) {
	if c.actor == nil {
		// It failed before it existed: there is nothing to go on with, so it is made.
		c.recreateFirst()
		return
	}
	failed := c.failedBy()
	c.unsuspend()
	if cause != nil && c.ext != nil {
		c.ext.failed, c.ext.failing = nil, nil
	}
	c.children().each(func(k *cell) {
		m := &sysMsg{kind: sysResume}
		if failed == &k.ref {
			m.cause = cause
		}
		k.ref.tellSystem(m)
	})
}

// recreate restarts the actor: its children are stopped by PreRestart, and when they have ended a fresh actor
// takes over mailbox, name and uid (finishRecreate).
func (c *cell) recreate(cause error) {
	switch {
	case c.actor == nil:
		c.recreateFirst()
		return
	case c.children().terminating():
		c.resume(nil) // it is being stopped; only the balance of suspensions is kept
		return
	}
	failing := c.more().failing
	err := errGoexit
	defer func() {
		if err != nil {
			c.logError("PreRestart failed; the restart goes on", err)
		}
		c.dropActor()
		if !c.children().waitFor(waitRecreate, cause) {
			c.finishRecreate(cause)
		}
	}()
	err = c.call(func() {
		if h, ok := c.actor.(PreRestarter); ok {
			h.PreRestart((*Context)(c), cause, failing)
		} else {
			(*Context)(c).DefaultPreRestart()
		}
	})
}

// dropActor forgets the actor and all that belongs to this one incarnation of it.
func (c *cell) dropActor() {
	c.running = inNothing
	c.lives++
	c.actor, c.become = nil, nil
	c.msg, c.sender = nil, nil
	x := c.ext
	if x == nil {
		return
	}
	x.behaviours, x.failing = nil, nil
	if x.timers != nil {
		x.timers.CancelAll()
	}
	if x.timeout != nil {
		x.timeout.stop()
		x.timeout = nil
	}
	c.dropAsync()
	c.unstashAll()
}

// finishRecreate is the second half of a restart.
func (c *cell) finishRecreate(cause error) {
	survivors := c.children().all()
	c.unsuspend()
	x := c.more()
	x.failed = nil
	x.restarting = cause
	c.state = alive
	if err := c.instantiate(func(a Actor) {
		if h, ok := a.(PostRestarter); ok {
			h.PostRestart((*Context)(c), cause)
		} else if h, ok := a.(PreStarter); ok {
			h.PreStart((*Context)(c))
		}
	}); err != nil {
		c.fail(err, nil)
		return
	}
	c.ext.restarting = nil
	for _, k := range survivors {
		k.ref.tellSystem(&sysMsg{kind: sysRecreate, cause: cause})
	}
	c.ref.sys.restarted(c, cause)
}

// recreateFirst makes an actor that failed before it existed, when its parent wants it restarted or resumed.
func (c *cell) recreateFirst() {
	c.children().stopAll()
	if !c.children().waitFor(waitCreate, nil) {
		c.finishCreate()
	}
}

func (c *cell) finishCreate() {
	c.dropActor()
	c.unsuspend()
	if c.ext != nil {
		c.ext.failed = nil
	}
	c.state = starting
	c.create()
}

// stopSelf stops the cell as its parent would.
func (c *cell) stopSelf() { c.ref.stop() }

// terminate stops the actor: no user messages any more, first the children, then itself.
func (c *cell) terminate() {
	if c.state == stopped {
		return
	}
	x := c.ext
	if x != nil {
		if x.timers != nil {
			x.timers.CancelAll()
		}
		if x.timeout != nil {
			x.timeout.stop()
			x.timeout = nil
		}
		c.dropAsync()
	}
	c.unwatchAll()
	c.children().end() // first: /user gets children from any goroutine
	c.children().stopAll()
	was := c.state
	if c.children().waitFor(waitTerminate, nil) {
		if was != stopping {
			c.state = stopping
			c.suspend()
			c.more().failed = &c.ref
		}
		return
	}
	c.finishTerminate()
}

// finishTerminate ends the cell, whose children have ended.
func (c *cell) finishTerminate() {
	c.state = stopping
	c.children().end()
	h, ok := c.actor.(PostStopper)
	if !ok {
		c.afterStop()
		return
	}
	err := errGoexit
	defer func() {
		if err != nil {
			c.logError("PostStop failed; the actor is stopped all the same", err)
		}
		c.afterStop()
	}()
	err = c.call(func() { h.PostStop((*Context)(c)) })
}

// afterStop makes the mailbox's rest dead letters, system messages first, and tells the parent, then those who watch.
func (c *cell) afterStop() {
	c.running = inNothing
	c.state = stopped
	left, system := c.close()
	sys := c.ref.sys
	if c.ext != nil {
		c.ext.timers.CancelAll() // of PostStop
	}
	defer func() { // whatever those who hear of dead letters do
		c.parent.tellSystem(&sysMsg{kind: sysDeathNotice, ref: &c.ref, existed: true})
		c.tellWatchers()
		c.actor, c.become, c.ext, c.msg, c.sender = nil, nil, nil, nil, nil
		c.kids.Store(&noChildren)
	}()
	if c.ext != nil {
		for _, m := range c.ext.heldBack {
			sys.deadSystemMessage(&c.ref, m)
		}
	}
	for m := system; m != nil; {
		next := m.next
		m.next = nil
		sys.deadSystemMessage(&c.ref, m)
		m = next
	}
	if c.ext != nil {
		for _, e := range c.ext.stash {
			sys.deadLetter(&c.ref, e.msg, e.sender)
		}
		c.ext.stash = nil
	}
	for _, e := range left {
		sys.deadLetter(&c.ref, e.msg, e.sender)
	}
	sys.stoppedActor(c)
}

// childFailed decides what happens to a child that has failed.
func (c *cell) childFailed(m *sysMsg) {
	k := c.children().of(m.ref)
	if k == nil || k.ref.uid != m.uid {
		return // not a child any more
	}
	c.more().judging = m.ref
	var handled bool
	err := c.call(func() {
		handled = c.strategy().handleFailure(c, k, m.cause)
	})
	if err != nil {
		c.ref.sys.failed(c)
		c.fail(fmt.Errorf("the supervisor of %s failed while it dealt with %q: %w", m.ref.path, m.cause, err), m.ref)
		return
	}
	if c.ext != nil {
		c.ext.judging = nil
	}
	if !handled {
		c.fail(m.cause, m.ref)
	}
}

// childEnded takes a child that has ended off the list, and goes on with what waited for it.
func (c *cell) childEnded(k *cell) {
	switch wait, cause := c.children().remove(k); wait {
	case waitRecreate:
		c.finishRecreate(cause)
	case waitCreate:
		c.finishCreate()
	case waitTerminate:
		c.finishTerminate()
	}
}
