package actor

import (
	"errors"
	"fmt"
	"strings"
)

// Context is what an actor sees of the system while it handles a message. It belongs to that actor: it must not
// be used from another goroutine, nor be kept.
type Context cell

// Self is the actor's own Ref.
func (x *Context) Self() *Ref { return &x.ref }

// System is the system that the actor lives in.
func (x *Context) System() *System { return x.ref.sys }

// Parent is the actor's supervisor.
func (x *Context) Parent() *Ref { return x.parent }

// Props is what the actor was made of.
func (x *Context) Props() *Props { return x.props }

// Message is the message that is being handled; nil in hooks.
func (x *Context) Message() any { return x.msg }

// Sender is who sent the message: the dead letters, where it came without a sender.
func (x *Context) Sender() *Ref { return (*cell)(x).replyTo() }

// HasSender reports whether the message came with a sender.
func (x *Context) HasSender() bool { return x.sender != nil }

// Tell sends msg, with this actor as the sender.
func (x *Context) Tell(to *Ref, msg any) { (*cell)(x).send(to, msg) }

// Reply sends msg to the sender of the message that is being handled.
func (x *Context) Reply(msg any) { (*cell)(x).reply(msg) }

// Forward passes the message on, with its sender kept.
func (x *Context) Forward(to *Ref) {
	if x.msg != nil {
		(*cell)(x).sendFrom(to, x.msg, x.sender)
	}
}

// Unhandled says that the message is not one for this actor: it is published as [UnhandledMessage]. For a
// [Terminated] it is a failure, a [DeathPactError].
func (x *Context) Unhandled() {
	switch m := x.msg.(type) {
	case nil:
	case Terminated:
		x.Fail(&DeathPactError{Dead: m.Ref})
	default:
		x.ref.sys.unhandled(&x.ref, m, x.sender)
	}
}

// Fail ends the handling of the message with a failure: it does not return.
func (x *Context) Fail(err error) {
	if err == nil {
		err = errors.New("the actor failed without an error")
	}
	panic(failing{err})
}

// ErrStopping is why an actor that is stopping, or has stopped, cannot have a new child.
var ErrStopping = errors.New("the actor is stopping")

// ErrNameNotUnique is why two children of one actor cannot have the same name.
var ErrNameNotUnique = errors.New("there is a child of this name already")

// Spawn makes a child. It returns at once; the child starts on its own. An empty name is replaced by one like
// $a. Errors: ErrNameNotUnique, ErrStopping, an illegal name ([ValidName]), Props that do not fit the
// configuration.
func (x *Context) Spawn(p *Props, name string) (*Ref, error) {
	c := (*cell)(x)
	if c.state == stopping || c.state == stopped {
		return nil, fmt.Errorf("actor: spawn %q below %s: %w", name, c.ref.path, ErrStopping)
	}
	return c.spawn(p, name, c.w)
}

// MustSpawn is Spawn where an error is a failure of the actor.
func (x *Context) MustSpawn(p *Props, name string) *Ref {
	r, err := x.Spawn(p, name)
	if err != nil {
		x.Fail(err)
	}
	return r
}

// Child finds a child by name, nil if there is none.
func (x *Context) Child(name string) *Ref {
	if k := (*cell)(x).children().get(name); k != nil {
		return &k.ref
	}
	return nil
}

// Children are the children, in the order in which they were made.
func (x *Context) Children() []*Ref {
	ks := (*cell)(x).children().all()
	out := make([]*Ref, len(ks))
	for i, k := range ks {
		out[i] = &k.ref
	}
	return out
}

// Stop stops a child, or the actor itself, or any other actor: after the message that it is handling, without
// those that wait.
func (x *Context) Stop(ref *Ref) {
	c := (*cell)(x)
	if k := c.children().of(ref); k != nil {
		c.children().stop(k)
		return
	}
	ref.stop()
}

// stop asks for the end of the actor: by its parent, which has to know.
func (r *Ref) stop() {
	if c := r.c; c != nil {
		c.enqueueSystem(&sysMsg{kind: sysTerminate})
		return
	}
	r.t.tellSystem(r, &sysMsg{kind: sysTerminate})
}

// Watch asks for a [Terminated] when ref ends, at once if it has ended already. Watching twice is watching once.
func (x *Context) Watch(ref *Ref) { (*cell)(x).startWatching(ref, nil) }

// WatchWith asks for msg in place of Terminated.
func (x *Context) WatchWith(ref *Ref, msg any) { (*cell)(x).startWatching(ref, msg) }

// Unwatch takes Watch back: no Terminated of ref arrives after it.
func (x *Context) Unwatch(ref *Ref) { (*cell)(x).stopWatching(ref) }

// Become lets f handle the messages from the next on, in place of what did. A restart undoes it.
func (x *Context) Become(f ReceiveFunc) { x.become = f }

// BecomeStacked is Become that UnbecomeStacked undoes.
func (x *Context) BecomeStacked(f ReceiveFunc) {
	m := (*cell)(x).more()
	m.behaviours = append(m.behaviours, x.become)
	x.become = f
}

// UnbecomeStacked goes back to what was before the last BecomeStacked; without one, to the actor's Receive.
func (x *Context) UnbecomeStacked() {
	m := (*cell)(x).more()
	n := len(m.behaviours)
	if n == 0 {
		x.become = nil
		return
	}
	x.become = m.behaviours[n-1]
	m.behaviours[n-1] = nil
	m.behaviours = m.behaviours[:n-1]
}

// Timers are the actor's timers. A restart and a stop cancel them.
func (x *Context) Timers() *Timers {
	m := (*cell)(x).more()
	if m.timers == nil {
		m.timers = newTimers(x.ref.sys.scheduler, &x.ref)
	}
	return m.timers
}

// DefaultPreRestart is what happens before a restart where the actor has no PreRestart: the children are stopped,
// and PostStop is called.
func (x *Context) DefaultPreRestart() {
	c := (*cell)(x)
	c.children().each(func(k *cell) {
		c.stopWatching(&k.ref)
		c.children().stop(k)
	})
	if h, ok := c.actor.(PostStopper); ok {
		h.PostStop(x)
	}
}

// spawn makes a child of c. Guardians are called from any goroutine, with w nil.
func (c *cell) spawn(p *Props, name string, w *worker) (*Ref, error) {
	sys := c.ref.sys
	if err := p.check(sys); err != nil {
		return nil, err
	}
	if name != "" {
		if err := ValidName(name); err != nil {
			return nil, fmt.Errorf("actor: spawn below %s: %w", c.ref.path, err)
		}
	}
	kids := c.makeChildren()
	kids.mu.Lock()
	switch {
	case kids.ended:
		kids.mu.Unlock()
		return nil, fmt.Errorf("actor: spawn %q below %s: %w", name, c.ref.path, ErrStopping)
	case name == "":
		name = autoName(kids.names)
		kids.names++
	case kids.taken(name):
		kids.mu.Unlock()
		return nil, fmt.Errorf("actor: spawn %q below %s: %w", name, c.ref.path, ErrNameNotUnique)
	}
	if !p.scope.IsZero() && p.scope != sys.wireAddr {
		kids.reserve(name)
		kids.mu.Unlock()
		return c.deploy(p, name)
	}
	k := newCell(sys, &c.ref, c.childPath(name), newUID(), p)
	kids.add(name, k)
	kids.mu.Unlock()
	k.startOn(w)
	return &k.ref, nil
}

// deploy has another node make a child, whose name is reserved, and returns what stands for it here.
func (c *cell) deploy(p *Props, name string) (*Ref, error) {
	sys, path, kids := c.ref.sys, c.childPath(name), c.children()
	r, err := (*Ref)(nil), fmt.Errorf("the system has no remoting")
	if sys.provider != nil {
		r, err = sys.provider.Deploy(p, &c.ref, path, newUID())
	}
	kids.mu.Lock()
	defer kids.mu.Unlock()
	delete(kids.reserved, name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("actor: spawn %s on %s: %w", path, p.scope, err)
	case kids.ended:
		r.stop()
		return nil, fmt.Errorf("actor: spawn %s on %s: %w", path, p.scope, ErrStopping)
	}
	k := &cell{props: p, parent: &c.ref}
	k.ref.t, k.ref.sys, k.ref.path, k.ref.uid = r.t, sys, r.path, r.uid
	kids.add(name, k)
	return &k.ref, nil
}

// childPath keeps path and name in one string.
func (c *cell) childPath(name string) string {
	if c.ref.path == "/" {
		return "/" + name
	}
	return strings.Join([]string{c.ref.path, name}, "/")
}
