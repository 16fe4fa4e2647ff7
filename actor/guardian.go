package actor

import (
	"context"
	"errors"
	"log/slog"
)

// The top of the tree. Below the root are /user, the actors of the program, and /system, those of the runtime.
// When /user has ended, /system is stopped, then the root, then the dispatchers.

func (s *System) startGuardians() {
	stop := Strategy{Decide: func(error) Directive { return Stop }}
	props := NewProps(func() Actor { return &rootGuardian{} }).WithSupervisor(stop)
	s.root = newCell(s, s.nobodysChild, "/", 0, props)
	kids := s.root.makeChildren()
	guardian := func(name string, st Strategy) *cell {
		p := NewProps(func() Actor { return guardian{} }).WithSupervisor(st)
		k := newCell(s, &s.root.ref, "/"+name, 0, p)
		k.makeChildren()
		k.born = kids.born
		kids.born++
		kids.byName[name] = k
		return k
	}
	s.system = guardian("system", Strategy{})
	s.user = guardian("user", s.cfg.Guardian)
	s.root.startOn(nil)
	s.system.startOn(nil)
	s.user.startOn(nil)
}

// guardian is the actor of /user and of /system.
type guardian struct{}

func (guardian) Receive(ctx *Context, _ any) { ctx.Unhandled() }

// PreRestart keeps the children: a guardian that is restarted by a strategy of the user's goes on with them.
func (guardian) PreRestart(*Context, error, any) {}

// rootGuardian ends the system when /user has ended.
type rootGuardian struct{}

func (rootGuardian) PreStart(ctx *Context) {
	ctx.Watch(&ctx.ref.sys.user.ref)
	ctx.Watch(&ctx.ref.sys.system.ref)
}

func (rootGuardian) Receive(ctx *Context, msg any) {
	sys := ctx.ref.sys
	switch m := msg.(type) {
	case Terminated:
		sys.terminating.Store(true)
		switch {
		case m.Ref == &sys.system.ref:
			ctx.Stop(ctx.Self())
		case sys.provider != nil:
			go sys.stopProvider(ctx.Self())
		default:
			ctx.Stop(&sys.system.ref)
		}
	case providerStopped:
		ctx.Stop(&sys.system.ref)
	default:
		ctx.Unhandled()
	}
}

// providerStopped says that /system may end.
type providerStopped struct{}

// stopProvider lets the provider end what it needs the system's own actors for.
func (s *System) stopProvider(root *Ref) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	s.provider.Stop(ctx)
	root.Tell(providerStopped{})
}

// nobody is the parent of the root.
type nobody struct{ sys *System }

func (n nobody) tell(to *Ref, msg any, sender *Ref) { n.sys.deadLetter(to, msg, sender) }

func (n nobody) tellSystem(_ *Ref, m *sysMsg) {
	switch m.kind {
	case sysDeathNotice:
		n.sys.ended()
	case sysFailed:
		n.sys.write(slog.LevelError, "the root of the system has failed", failureAttrs(n.sys.root, m.cause)...)
		n.sys.root.enqueueSystem(&sysMsg{kind: sysTerminate})
	}
}

// ended is the end of the system: all actors have ended.
func (s *System) ended() {
	if s.provider != nil {
		s.provider.Close()
	}
	s.scheduler.close()
	for _, d := range s.dispatchers {
		d.stop()
	}
	s.finishDeadLetters()
	close(s.terminated)
}

// Terminate stops all actors, children before parents, and then the system. It returns at once.
func (s *System) Terminate() {
	s.terminating.Store(true)
	s.user.enqueueSystem(&sysMsg{kind: sysTerminate})
}

// WhenTerminated is closed when all actors have ended.
func (s *System) WhenTerminated() <-chan struct{} { return s.terminated }

// Shutdown is Terminate, and waits for the end. Where the context ends first, it returns a [ShutdownError] that
// says which actors are in the way.
func (s *System) Shutdown(ctx context.Context) error {
	s.Terminate()
	select {
	case <-s.terminated:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-s.terminated:
		return nil
	default:
	}
	err := s.stuck(context.Cause(ctx))
	s.write(slog.LevelError, "the system does not end", slog.Any("error", err))
	return err
}

// GracefulStop stops an actor in order, and waits for its end: after the messages that it has already, with
// msg as the message that stops it; nil is [PoisonPill]. The error is the context's.
func GracefulStop(ctx context.Context, ref *Ref, msg any) error {
	if msg == nil {
		msg = PoisonPill{}
	}
	w := newEndWaiter(ref)
	defer ref.sys.temps.Delete(w.name)
	ref.tellSystem(&sysMsg{kind: sysWatch, ref: ref, other: &w.ref})
	if c := ref.c; c != nil && c.box != nil {
		c.mu.Lock()
		if c.enqueueSpecial(msg, nil, needed) { // a full mailbox must neither hold it up nor lose it
			c.disp.schedule(c, nil)
		}
	} else {
		ref.Tell(msg)
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		ref.tellSystem(&sysMsg{kind: sysUnwatch, ref: ref, other: &w.ref})
		return errors.Join(errors.New("actor: "+ref.path+" has not stopped"), context.Cause(ctx))
	}
}

// endWaiter is a watcher that is no actor.
type endWaiter struct {
	ref  Ref
	name string
	done chan struct{}
}

func newEndWaiter(of *Ref) *endWaiter {
	w := &endWaiter{done: make(chan struct{}, 1)}
	w.name = of.sys.nameTemp(&w.ref)
	w.ref.t, w.ref.sys, w.ref.path = w, of.sys, "/temp/"+w.name
	return w
}

func (w *endWaiter) tell(to *Ref, msg any, sender *Ref) { to.sys.deadLetter(to, msg, sender) }

func (w *endWaiter) tellSystem(_ *Ref, m *sysMsg) {
	if m.kind == sysDeathNotice {
		select {
		case w.done <- struct{}{}:
		default:
		}
	}
}
