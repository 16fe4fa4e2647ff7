package actor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/actor/internal/wheel"
)

// ErrAskTimeout is why an ask without a reply ended (Akka.NET: AskTimeoutException). It is a
// context.DeadlineExceeded.
var ErrAskTimeout = fmt.Errorf("actor: no reply in time: %w", context.DeadlineExceeded)

// ErrTerminated is why an ask failed at once: the actor that was asked has ended.
var ErrTerminated = errors.New("actor: the actor that was asked has ended")

// ErrMailboxFull is why an ask failed: the bounded mailbox of the actor that was asked, or the inbox, had no room in
// time.
var ErrMailboxFull = errors.New("actor: the mailbox of the actor that was asked is full")

// ErrNotSent is why an ask failed: the message could not be sent to the other node. The text says why.
var ErrNotSent = errors.New("actor: the message was not sent to the other node")

// A ReplyTypeError is a reply of another type than was asked for.
type ReplyTypeError struct {
	Reply any
	Want  string // the type, as Go writes it
}

// Error names both types.
func (e *ReplyTypeError) Error() string {
	return fmt.Sprintf("actor: the reply is a %T, not a %s", e.Reply, e.Want)
}

// Ask sends msg to an actor and waits for its reply, a message of type R (any takes all). The reply is the first
// message that the actor sends to the sender of msg; later ones are dead letters. Errors: the context's
// (where it has no deadline, [Config.AskTimeout] ends the ask with ErrAskTimeout); ErrTerminated; ErrMailboxFull; ErrNotSent; the
// cause of a [StatusFailure] that came as the reply; a *ReplyTypeError.
//
// It blocks: inside an actor use [AskThen], since an actor that waits handles no messages, and two that ask each
// other wait for ever.
func Ask[R any](ctx context.Context, to *Ref, msg any) (R, error) {
	v, err := ask(ctx, to, msg, 0)
	return replyAs[R](v, err)
}

// AskFor is Ask with a time-out in place of a context, which costs less. 0 is no time-out.
func AskFor[R any](to *Ref, msg any, timeout time.Duration) (R, error) {
	v, err := ask(nil, to, msg, timeout) //lint:ignore SA1012 nil is no context: it costs nothing
	return replyAs[R](v, err)
}

// AskThen asks from within an actor, which goes on with its messages meanwhile. then is called as if the reply
// were a message to the actor: at its turn, and not if the actor has stopped or been restarted since. A time-out of
// 0 is Config.AskTimeout. Errors are those of [Ask].
func AskThen[R any](ctx *Context, to *Ref, msg any, timeout time.Duration, then func(*Context, R, error)) {
	c := (*cell)(ctx)
	if timeout <= 0 {
		timeout = c.ref.sys.cfg.AskTimeout
	}
	sender, life := c.sender, c.life()
	p := newPromise(to)
	p.then = func(v any, err error) {
		r, err := replyAs[R](v, err)
		c.ref.tellNow(&continuation{life: life, run: func(x *Context) { then(x, r, err) }}, sender)
	}
	p.arm(timeout)
	c.sendFrom(to, msg, &p.ref)
}

// replyAs makes the result of an ask of its reply.
func replyAs[R any](v any, err error) (R, error) {
	var zero R
	if err != nil {
		return zero, err
	}
	if r, ok := v.(R); ok {
		return r, nil
	}
	if f, ok := v.(StatusFailure); ok {
		if f.Cause == nil {
			return zero, errors.New("actor: the actor that was asked has failed, and did not say why")
		}
		return zero, f.Cause
	}
	return zero, &ReplyTypeError{Reply: v, Want: reflect.TypeFor[R]().String()}
}

// promise is the sender of an ask, for one reply. Whoever sets claimed gives the result: a reply, the time-out, the
// asker who gives up. So there is one, and the channel gets at most one signal.
type promise struct {
	ref     Ref
	to      *Ref
	claimed atomic.Bool
	state   atomic.Uint32
	value   any
	err     error
	wake    chan struct{}
	then    func(any, error) // in place of an asker who waits
	timer   wheel.Timer
	armed   atomic.Bool

	mu       sync.Mutex
	name     string // below /temp, once somebody has asked for it
	watchers []*Ref
}

// States of a promise.
const (
	promiseOpen   uint32 = iota
	promiseParked        // the asker sleeps
	promiseDone
)

// wakes are channels of promises that are done.
var wakes = sync.Pool{New: func() any { return make(chan struct{}, 1) }}

func newPromise(to *Ref) *promise {
	p := &promise{to: to}
	p.ref.t, p.ref.sys = p, to.sys
	return p
}

// ask sends msg and waits. A nil context means that only the time-out ends the waiting.
func ask(ctx context.Context, to *Ref, msg any, timeout time.Duration) (any, error) {
	var ended <-chan struct{}
	if ctx != nil {
		if ended = ctx.Done(); ended != nil {
			select {
			case <-ended:
				return nil, context.Cause(ctx)
			default:
			}
		}
		if _, ok := ctx.Deadline(); !ok {
			timeout = to.sys.cfg.AskTimeout
		}
	}
	if msg == nil {
		to.sys.refuseNil(to, nil)
		return nil, errors.New("actor: a message cannot be nil")
	}
	p := newPromise(to)
	if !p.send(msg, ended == nil && timeout <= 0) {
		p.park(ctx, ended, timeout)
	}
	return p.value, p.err
}

// arm sets the time-out.
func (p *promise) arm(timeout time.Duration) {
	if timeout > 0 {
		p.timer.Do = p
		if !p.ref.sys.scheduler.add(&p.timer, timeout) {
			p.schedulerClosed()
			return
		}
		p.armed.Store(true)
		if p.claimed.Load() { // meanwhile, by somebody who may have missed that it is armed
			p.ref.sys.scheduler.remove(&p.timer)
		}
	}
}

// send asks, and reports whether the reply has come already. With patient set nothing but a reply ends the ask: then it
// may wait for room in a mailbox as any sender does.
func (p *promise) send(msg any, patient bool) (done bool) {
	c := p.to.c
	if c == nil {
		p.to.t.tell(p.to, msg, &p.ref)
		return false
	}
	var ready bool
	if c.box == nil || patient {
		ready = c.enqueue(msg, &p.ref)
	} else {
		c.mu.Lock()
		ready = c.enqueueSpecial(msg, &p.ref, waitApart)
	}
	if ready && c.props.nonBlocking && c.box == nil {
		c.disp.runHere(c)
		return p.state.Load() == promiseDone
	}
	near := c.disp.spinningNow()
	if ready {
		c.disp.schedule(c, nil)
	} else {
		near = c.depth() <= 2
	}
	return near && p.spin(&c.disp.askTrust)
}

// spin waits for some microseconds, if that was of use lately: where the actor runs on another processor at this
// moment, the reply comes before a goroutine could be put to sleep and woken.
func (p *promise) spin(trust *atomic.Int32) bool {
	t := trust.Load()
	if t <= 0 && rand.Uint32()%16 != 0 {
		return false
	}
	for range askSpins {
		if p.state.Load() == promiseDone {
			if t < askTrust {
				trust.Store(askTrust)
			}
			return true
		}
		pause()
	}
	trust.Store(t - 1)
	return false
}

const (
	askSpins = 160 // about two microseconds
	askTrust = 8   // so many times in a row in vain, and it is tried only now and then
)

func (p *promise) park(ctx context.Context, ended <-chan struct{}, timeout time.Duration) {
	p.arm(timeout)
	wake := wakes.Get().(chan struct{})
	p.wake = wake
	if p.state.CompareAndSwap(promiseOpen, promiseParked) {
		if ended == nil && timeout > 0 {
			<-wake
		} else {
			select {
			case <-wake:
			case <-ended:
				p.giveUp(context.Cause(ctx))
			case <-p.ref.sys.terminated:
				p.giveUp(ErrTerminated)
			}
		}
	}
	wakes.Put(wake)
}

// giveUp ends the waiting without a reply, unless one is on its way.
func (p *promise) giveUp(err error) {
	if p.claimed.CompareAndSwap(false, true) {
		p.err = err
		p.finish()
		return
	}
	<-p.wake
}

// complete gives the result, unless there is one.
func (p *promise) complete(v any, err error) bool {
	if !p.claimed.CompareAndSwap(false, true) {
		return false
	}
	p.value, p.err = v, err
	p.finish()
	if then := p.then; then != nil {
		then(v, err)
	} else if p.state.Swap(promiseDone) == promiseParked {
		if c := p.to.c; c != nil {
			c.disp.woken.Store(true)
		}
		p.wake <- struct{}{}
	}
	return true
}

// finish gives back what the promise holds elsewhere. Whoever has claimed it calls.
func (p *promise) finish() {
	if p.armed.Load() {
		p.ref.sys.scheduler.remove(&p.timer)
	}
	p.mu.Lock()
	name, watchers := p.name, p.watchers
	p.watchers = nil
	p.mu.Unlock()
	if name != "" {
		p.ref.sys.temps.Delete(name)
	}
	for _, w := range watchers {
		w.tellSystem(&sysMsg{kind: sysDeathNotice, ref: &p.ref, existed: true})
	}
}

// Run is the time-out.
func (p *promise) Run() { p.complete(nil, ErrAskTimeout) }

// schedulerClosed ends the ask with the system.
func (p *promise) schedulerClosed() { p.complete(nil, ErrTerminated) }

// tell takes the reply.
func (p *promise) tell(to *Ref, msg any, sender *Ref) {
	switch m := msg.(type) {
	case Identify:
		if sender != nil {
			sender.Tell(ActorIdentity{MessageID: m.MessageID, Subject: &p.ref})
		}
		return
	case PoisonPill, Kill:
		p.complete(nil, ErrTerminated)
		return
	}
	if !p.complete(msg, nil) {
		to.sys.deadLetter(to, msg, sender)
	}
}

func (p *promise) tellSystem(to *Ref, m *sysMsg) {
	switch m.kind {
	case sysWatch:
		p.mu.Lock()
		open := !p.claimed.Load()
		if open {
			p.watchers = append(p.watchers, m.other)
		}
		p.mu.Unlock()
		if !open {
			to.sys.deadSystemMessage(to, m)
		}
	case sysUnwatch:
		p.mu.Lock()
		for i, w := range p.watchers {
			if w.Equal(m.other) {
				p.watchers = append(p.watchers[:i], p.watchers[i+1:]...)
				break
			}
		}
		p.mu.Unlock()
	case sysTerminate:
		p.complete(nil, ErrTerminated)
	}
}

// lost ends the ask, if sender is one, whose question has not reached the actor that was asked.
func lost(to, sender *Ref, why error) {
	if sender == nil {
		return
	}
	if p, ok := sender.t.(*promise); ok && to == p.to {
		p.complete(nil, why)
	}
}

// elements is the path of the promise, below /temp. Only who asks for it makes it have one: most never need it.
func (p *promise) elements() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == "" {
		sys := p.ref.sys
		p.name = autoName(sys.tempNames.Add(1) - 1)[1:]
		if !p.claimed.Load() {
			sys.temps.Store(p.name, &p.ref)
		}
	}
	return "/temp/" + p.name
}

// nameTemp gives r a name below /temp, by which answers find it until the name is deleted from temps.
func (s *System) nameTemp(r *Ref) string {
	name := autoName(s.tempNames.Add(1) - 1)[1:]
	s.temps.Store(name, r)
	return name
}

// temp is the pending ask of that name below /temp, nil if there is none.
func (s *System) temp(name string) *Ref {
	if r, ok := s.temps.Load(name); ok {
		return r.(*Ref)
	}
	return nil
}

// continuation is a message to an actor from code of its own that ran elsewhere.
type continuation struct {
	life uint32 // the incarnation that it belongs to
	run  func(*Context)
}

// life numbers the incarnations of the actor: a restart begins a new one.
func (c *cell) life() uint32 { return c.lives }

func (c *cell) continueWith(m *continuation) {
	if m.life != c.lives {
		return
	}
	c.msg = nil // it is none of the user's
	c.running = inHook
	m.run((*Context)(c))
	c.running = inNothing
}
