package actor

import (
	"errors"
	"fmt"
)

// ErrStashFull is the failure of an actor that stashes more than [Props.WithStashCapacity] allows (Akka.NET:
// StashOverflowException).
var ErrStashFull = errors.New("the stash is full")

// ErrStashedTwice is the failure of an actor that stashes a message twice (Akka.NET: IllegalActorStateException).
var ErrStashedTwice = errors.New("the message is in the stash already")

// ErrNothingToStash is the failure of an actor that stashes while it handles no message: in a hook, a
// continuation, a strategy.
var ErrNothingToStash = errors.New("there is no message to stash: none is being handled")

// An Envelope is a message with its sender, nil if it has none.
type Envelope struct {
	Message any
	Sender  *Ref
}

// Stash puts the message that is being handled aside, with its sender, until it is unstashed. Failures:
// [ErrStashFull], [ErrStashedTwice], [ErrNothingToStash].
//
// A restart puts all that is stashed back to the front of the mailbox, so that the fresh actor gets it; when the
// actor stops, what is stashed becomes dead letters. (Akka.NET: IStash.)
func (x *Context) Stash() {
	switch x.running {
	case inReceive:
	case hasStashed:
		x.failStash(ErrStashedTwice)
	default:
		x.failStash(ErrNothingToStash)
	}
	m := (*cell)(x).more()
	if limit := x.props.stash; limit > 0 && len(m.stash) >= limit {
		x.Fail(fmt.Errorf("actor: %s cannot stash a %T as well as %d others: %w", x.ref.path, x.msg, limit, ErrStashFull))
	}
	m.stash = append(m.stash, envelope{x.msg, x.sender})
	x.running = hasStashed
}

func (x *Context) failStash(err error) {
	x.Fail(fmt.Errorf("actor: %s cannot stash: %w", x.ref.path, err))
}

// StashLen is how many messages are stashed.
func (x *Context) StashLen() int {
	if x.ext == nil {
		return 0
	}
	return len(x.ext.stash)
}

// Unstash puts the message that was stashed first back to the front of the mailbox: it is handled next. Without
// one it does nothing. A bounded mailbox has room for it.
func (x *Context) Unstash() {
	if x.StashLen() == 0 {
		return
	}
	m := x.ext
	c := (*cell)(x)
	e := m.stash[:1:1]
	m.stash = m.stash[1:]
	c.putBack(e)
	e[0] = envelope{}
	if len(m.stash) == 0 {
		m.stash = nil
	}
}

// UnstashAll puts all stashed messages back to the front of the mailbox, in the order in which they were stashed.
func (x *Context) UnstashAll() { (*cell)(x).unstashAll() }

// UnstashAllWhere is UnstashAll of those for which where reports true. The stash is empty afterwards, as in
// Akka.NET: the others are dropped, each published as [Dropped].
func (x *Context) UnstashAllWhere(where func(Envelope) bool) {
	if x.StashLen() == 0 {
		return
	}
	var back, rest []envelope
	for _, e := range x.ext.stash {
		if where(Envelope{e.msg, e.sender}) {
			back = append(back, e)
		} else {
			rest = append(rest, e)
		}
	}
	x.ext.stash = nil
	(*cell)(x).putBack(back)
	for _, e := range rest {
		x.ref.sys.drop(&x.ref, e.msg, e.sender, "it was stashed, and not selected when others were unstashed")
	}
}

// ClearStash empties the stash, and returns what was in it, in order.
func (x *Context) ClearStash() []Envelope {
	n := x.StashLen()
	if n == 0 {
		return nil
	}
	out := make([]Envelope, n)
	for i, e := range x.ext.stash {
		out[i] = Envelope{e.msg, e.sender}
	}
	x.ext.stash = nil
	return out
}

func (c *cell) unstashAll() {
	if c.ext == nil || len(c.ext.stash) == 0 {
		return
	}
	es := c.ext.stash
	c.ext.stash = nil
	c.putBack(es)
}

// putBack puts messages that were stashed before all others. A Terminated is expected again: it was let through
// once, and the Terminated of a watch that was ended is not.
func (c *cell) putBack(es []envelope) {
	for _, e := range es {
		if t, ok := e.msg.(Terminated); ok {
			w := &c.more().watch
			if w.queued == nil {
				w.queued = make(map[any]queuedEnd)
			}
			w.queued[t.Ref.key()] = queuedEnd{ref: t.Ref}
		}
	}
	c.pushFront(es)
}
