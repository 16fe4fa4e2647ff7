package testkit

import (
	"fmt"
	"sync"
	"time"

	"github.com/actua/actua/actor"
)

// A Probe is an actor whose messages the test takes, one after the other, in the order in which they came
// (Akka.NET: TestProbe). Each method that takes messages waits for as long as the probe is patient: see Within.
type Probe struct {
	*probed
	within time.Duration
}

// probed is what all Probes of one actor share.
type probed struct {
	kit *Kit
	ref *actor.Ref

	mu    sync.Mutex
	queue []actor.Envelope
	last  actor.Envelope
	came  chan struct{} // holds one when the queue has grown
}

// NewProbe makes a probe below /user. An empty name is replaced by "probe-1" and so on.
func (k *Kit) NewProbe(name string) *Probe {
	k.t.Helper()
	if name == "" {
		name = fmt.Sprintf("probe-%d", k.probes.Add(1))
	}
	p := &probed{kit: k, came: make(chan struct{}, 1)}
	p.ref = k.Spawn(actor.FromFunc(p.receive).WithClass("testkit.Probe"), name)
	return &Probe{p, k.opt.Within}
}

// order is a message to the probe's actor from the test.
type order struct {
	do   func(ctx *actor.Context)
	done chan struct{}
}

// SuppressDeadLetter marks it as nothing to miss.
func (order) SuppressDeadLetter() {}

func (p *probed) receive(ctx *actor.Context, msg any) {
	if o, ok := msg.(order); ok {
		o.do(ctx)
		close(o.done)
		return
	}
	e := actor.Envelope{Message: msg}
	if ctx.HasSender() {
		e.Sender = ctx.Sender()
	}
	p.mu.Lock()
	p.queue = append(p.queue, e)
	p.mu.Unlock()
	select {
	case p.came <- struct{}{}:
	default:
	}
}

// run does something as the probe's actor, and waits for its end.
func (p *Probe) run(what string, do func(*actor.Context)) {
	p.kit.t.Helper()
	o := order{do, make(chan struct{})}
	p.ref.Tell(o)
	select {
	case <-o.done:
	case <-time.After(p.within):
		p.kit.t.Fatalf("testkit: %s: %s has not done it within %v; has it been stopped?", what, p.ref.Name(), p.within)
	}
}

// Ref is where to send messages for the probe.
func (p *Probe) Ref() *actor.Ref { return p.ref }

// Within is the same probe with another patience: p.Within(time.Second).Expect(m). It is real time, also
// where the system's is virtual.
func (p *Probe) Within(d time.Duration) *Probe { return &Probe{p.probed, d} }

// Send sends msg with the probe as the sender.
func (p *Probe) Send(to *actor.Ref, msg any) { to.TellFrom(msg, p.ref) }

// Sender is who sent the message that was taken last, nil if it had no sender.
func (p *Probe) Sender() *actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Sender
}

// LastMessage is the message that was taken last, nil before the first.
func (p *Probe) LastMessage() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Message
}

// Reply answers the sender of the message that was taken last. It fails the test where there is none.
func (p *Probe) Reply(msg any) {
	p.kit.t.Helper()
	to := p.Sender()
	if to == nil {
		p.kit.t.Fatalf("testkit: Reply: %s has taken no message with a sender; the last was %s", p.ref.Name(), show(p.LastMessage()))
	}
	p.Send(to, msg)
}

// Forward passes the message that was taken last on, with its sender kept.
func (p *Probe) Forward(to *actor.Ref) {
	p.kit.t.Helper()
	p.mu.Lock()
	e := p.last
	p.mu.Unlock()
	if e.Message == nil {
		p.kit.t.Fatalf("testkit: Forward: %s has taken no message", p.ref.Name())
	}
	to.TellFrom(e.Message, e.Sender)
}

// Watch has the probe get a Terminated when ref ends. It returns when the probe watches.
func (p *Probe) Watch(ref *actor.Ref) {
	p.kit.t.Helper()
	p.run("Watch", func(ctx *actor.Context) { ctx.Watch(ref) })
}

// Unwatch takes Watch back: no Terminated of ref comes after it. One that waits to be taken already stays.
func (p *Probe) Unwatch(ref *actor.Ref) {
	p.kit.t.Helper()
	p.run("Unwatch", func(ctx *actor.Context) { ctx.Unwatch(ref) })
}

// take takes the first message that want agrees to, and waits for it until the end. passed are those before it, which are
// taken too.
func (p *Probe) take(end time.Time, want func(actor.Envelope) bool) (e actor.Envelope, passed []any, ok bool) {
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	for {
		p.mu.Lock()
		for len(p.queue) > 0 {
			e = p.queue[0]
			p.queue[0] = actor.Envelope{}
			p.queue = p.queue[1:]
			p.last = e
			if want == nil || want(e) {
				p.mu.Unlock()
				return e, passed, true
			}
			passed = append(passed, e.Message)
		}
		p.mu.Unlock()
		select {
		case <-p.came:
		case <-timer.C:
			return actor.Envelope{}, passed, false
		}
	}
}

// Receive takes the next message, and waits for it for so long. ok is false if there was none; that fails no test.
func (p *Probe) Receive(timeout time.Duration) (msg any, ok bool) {
	e, _, ok := p.take(time.Now().Add(timeout), nil)
	return e.Message, ok
}

// Waiting are the messages that have come and were not taken, in order.
func (p *Probe) Waiting() []any {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]any, len(p.queue))
	for i, e := range p.queue {
		out[i] = e.Message
	}
	return out
}
