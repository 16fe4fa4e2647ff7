package actor

import (
	"context"
	"errors"
)

// Await runs work on a goroutine of its own, and then calls then with its results as a part of the actor, with the
// message, and so the sender, of the call of Await. Meanwhile the actor's messages wait in its mailbox, as if the
// actor were still busy with this one; but no goroutine of the dispatcher waits, failures of children are decided
// upon, and the actor can be stopped and restarted (Akka.NET: async handlers of ReceiveActor, RunTask).
//
// Await returns at once, and work begins at once: what the actor does after the call runs beside it, so Await is
// best the last thing that a handler does. work must not use ctx, nor fields of the actor; what it needs is given to
// it before, and what it finds is for then. More calls from one handler, and calls in then, are worked off one after
// another, in the order in which they would be if then were written in place of its Await; the messages wait until
// the last is done.
//
// The context of work ends when work returns, and when the actor stops or is restarted; then is not called any more
// after that, whenever work returns. Work that never returns holds up nothing but its own goroutine. A panic in work or
// in then (or an end of the goroutine, runtime.Goexit) is a failure of the actor, with the stack of where it
// happened, and ends all that the actor awaits. While the actor is suspended, because a child's failure was
// escalated or its parent has failed, then waits.
//
// Called in PostStop it does nothing: there will be no actor to go on with.
func Await[T any](ctx *Context, work func(context.Context) (T, error), then func(*Context, T, error)) {
	if work == nil || then == nil {
		ctx.Fail(errors.New("Await needs two functions"))
	}
	(*cell)(ctx).await(func(ended context.Context) func(*Context) {
		v, err := work(ended)
		return func(ctx *Context) { then(ctx, v, err) }
	})
}

// asyncWork is one Await. It belongs to the goroutine that runs the cell, but for what the work's own sets before it
// sends sysResumeAsync.
type asyncWork struct {
	work   func(context.Context) func(*Context)
	msg    any // that was handled when it was begun
	sender *Ref
	as     runState                // how it was handled
	cancel context.CancelCauseFunc // nil before its turn

	then    func(*Context)
	failure error

	done    bool // but the actor is suspended, and then has to wait
	running bool // then is being called
	next    *asyncWork
	nested  *asyncWork // from within then: goes before next
}

// errAwaitEnded is why the context of an Await ended before its work.
var errAwaitEnded = errors.New("the actor has stopped or been restarted")

// await begins the work, or lines it up. While any is there, ext.async is the one at work, and one of the
// suspensions of the cell is due to it.
func (c *cell) await(work func(context.Context) func(*Context)) {
	if c.state == stopping || c.state == stopped {
		return
	}
	a := &asyncWork{work: work, msg: c.msg, sender: c.sender, as: c.running}
	x := c.more()
	if x.async == nil {
		x.async = a
		c.suspend()
		c.startAsync(a)
		return
	}
	end := &x.async.next
	if x.async.running {
		end = &x.async.nested
	}
	for *end != nil {
		end = &(*end).next
	}
	*end = a
}

func (c *cell) startAsync(a *asyncWork) {
	ended, cancel := context.WithCancelCause(context.Background())
	a.cancel = cancel
	aside(func() error {
		a.then = a.work(ended)
		return nil
	}, func(err error) {
		a.failure = err
		cancel(nil)
		c.enqueueSystem(&sysMsg{kind: sysResumeAsync, then: a})
	})
}

// awaiting is how many of the cell's suspensions are due to work that it awaits: 1 or 0. All others are failures.
func (c *cell) awaiting() int32 {
	if c.ext != nil && c.ext.async != nil {
		return 1
	}
	return 0
}

// asyncDone goes on with the actor when work has ended.
func (c *cell) asyncDone(a *asyncWork) {
	x := c.ext
	if x == nil || x.async != a {
		return // dropped meanwhile
	}
	if c.suspends > 1 {
		a.done = true // resumeAsync calls again
		return
	}
	c.msg, c.sender = a.msg, a.sender
	err := a.failure
	if err == nil {
		a.running = true
		err = c.call(func() {
			c.running = a.as // it goes on with the message: Stash, say, is possible
			a.then((*Context)(c))
		})
	}
	if err != nil {
		x.failing = a.msg
		if x.timeout != nil {
			x.timeout.handled(c) // it may be resumed
		}
		c.fail(err, nil)
		c.msg, c.sender = nil, nil
		return
	}
	next := a.nested
	if next == nil {
		next = a.next
	} else {
		last := next
		for last.next != nil {
			last = last.next
		}
		last.next = a.next
	}
	if x.async = next; next != nil {
		c.startAsync(next)
	} else {
		c.endAwaiting()
		if x.timeout != nil {
			x.timeout.handled(c)
		}
	}
	c.msg, c.sender = nil, nil
}

// resumeAsync is called when a failure has been dealt with: work may have ended meanwhile.
func (c *cell) resumeAsync() {
	if c.suspends == 1 && c.awaiting() == 1 && c.ext.async.done {
		c.ext.async.done = false
		c.enqueueSystem(&sysMsg{kind: sysResumeAsync, then: c.ext.async})
	}
}

// dropAsync gives up all that is awaited: for the actor of before a restart, or one that stops, or has failed.
func (c *cell) dropAsync() {
	if c.awaiting() == 0 {
		return
	}
	a := c.ext.async
	c.ext.async = nil
	c.endAwaiting()
	a.cancel(errAwaitEnded)
}

// endAwaiting takes back the suspension of await.
func (c *cell) endAwaiting() {
	if c.suspends--; c.suspends == 0 {
		c.setSuspended(false)
	}
}
