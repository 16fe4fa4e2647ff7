package actor

import (
	"context"
	"fmt"
	"time"
)

// What package remote reaches into a system through, and a system into package remote. Programs that only use
// actors need none of it.

// A Provider connects a system to others (akka.actor.provider = remote). It belongs to one system.
type Provider interface {
	// Start is called by [NewSystem], before there are actors. Its error is NewSystem's.
	Start(p *Port) error

	// Started is called when there are guardians, before the first actor of the program.
	Started() error

	// Ref is the actor of that path on another node. It is made without asking the node.
	Ref(a Address, elements string, uid int32) (*Ref, error)

	// Local finds actors of this system below paths that the provider looks after, /remote; nil for others.
	Local(elements string, uid int32) *Ref

	// Deploy asks the node of p's scope for an actor, which becomes a child of parent, and returns its Ref.
	// path is where it would be here. It must not wait.
	Deploy(p *Props, parent *Ref, path string, uid int32) (*Ref, error)

	// Stop ends what needs the system's own actors still, when all of /user have ended. ctx ends when the system
	// has waited for long enough.
	Stop(ctx context.Context)

	// Close ends the rest: all actors have ended.
	Close()
}

// A RemoteTarget is what is behind a Ref of another node. Its methods are called from any goroutine.
type RemoteTarget interface {
	// Address is the address of the node.
	Address() Address

	// Tell sends a message. What t is good for says [Turn.Later].
	Tell(to *Ref, msg any, sender *Ref, t Turn)

	// TellSystem sends a system message.
	TellSystem(to *Ref, m SystemMessage)
}

// SystemKind is what a [SystemMessage] asks for, by Akka.NET's names.
type SystemKind uint8

// The kinds of system messages.
const (
	SystemRecreate SystemKind = iota
	SystemSuspend
	SystemResume
	SystemTerminate
	SystemWatch
	SystemUnwatch
	SystemFailed
	SystemDeathWatchNotification
	SystemSupervise
)

// A SystemMessage is one that a node sends to another about the life of actors (Akka.Dispatch.SysMsg).
type SystemMessage struct {
	Kind SystemKind

	// Ref is the actor that is watched, has failed, has ended, or is to be supervised; Watcher is who watches.
	Ref, Watcher *Ref

	Cause              error
	UID                int32 // of the child that has failed
	ExistenceConfirmed bool
	AddressTerminated  bool
	Async              bool // of SystemSupervise
}

// kinds maps the kinds that cross the wire to those of the core.
var kinds = [...]sysKind{
	SystemRecreate: sysRecreate, SystemSuspend: sysSuspend, SystemResume: sysResume, SystemTerminate: sysTerminate,
	SystemWatch: sysWatch, SystemUnwatch: sysUnwatch, SystemFailed: sysFailed, SystemDeathWatchNotification: sysDeathNotice,
}

// remoteTarget makes a target of a RemoteTarget.
type remoteTarget struct {
	RemoteTarget
	addr Address
}

func (t *remoteTarget) address() Address { return t.addr }

func (t *remoteTarget) tell(to *Ref, msg any, sender *Ref) { t.Tell(to, msg, sender, Turn{}) }

func (t *remoteTarget) tellSystem(to *Ref, m *sysMsg) {
	for kind, k := range kinds {
		if k == m.kind {
			t.TellSystem(to, SystemMessage{
				Kind: SystemKind(kind), Ref: m.ref, Watcher: m.other, Cause: m.cause, UID: m.uid,
				ExistenceConfirmed: m.existed, AddressTerminated: m.addressEnd,
			})
			return
		}
	}
}

// remoteKey makes equal Refs of actors elsewhere one key.
type remoteKey struct {
	addr Address
	path string
	uid  int32
}

func (t *remoteTarget) key(r *Ref) any { return remoteKey{t.addr, r.path, r.uid} }

// A Port is a provider's way into its system.
type Port struct{ sys *System }

// System is the system.
func (p *Port) System() *System { return p.sys }

// Now is the system's time.
func (p *Port) Now() time.Time { return p.sys.now() }

// SetAddress says by which address other nodes reach the system. It is called in Start.
func (p *Port) SetAddress(a Address) { p.sys.wireAddr = a }

// NewRef makes the Ref of an actor on another node.
func (p *Port) NewRef(t RemoteTarget, elements string, uid int32) *Ref {
	return &Ref{t: &remoteTarget{t, t.Address()}, sys: p.sys, path: elements, uid: uid}
}

// Target is what NewRef was given; nil for other Refs.
func (p *Port) Target(r *Ref) RemoteTarget {
	if t, ok := r.t.(*remoteTarget); ok {
		return t.RemoteTarget
	}
	return nil
}

// Local finds the actor of a path of this system: "/user/a/b", uid 0 for any incarnation. For one that is not there
// it returns a Ref whose messages are dead letters.
func (p *Port) Local(elements string, uid int32) *Ref { return p.sys.local(elements, uid) }

// TellSystem hands a system message that came from another node to an actor here.
func (p *Port) TellSystem(to *Ref, m SystemMessage) {
	if int(m.Kind) >= len(kinds) {
		return // Supervise: whoever deployed the child knows it
	}
	to.tellSystem(&sysMsg{
		kind: kinds[m.Kind], ref: m.Ref, other: m.Watcher, cause: m.Cause, uid: m.UID,
		existed: m.ExistenceConfirmed, addressEnd: m.AddressTerminated,
	})
}

// Known reports whether there is, or was, somebody behind r: false for what Local returns of a path that leads to
// nobody.
func (p *Port) Known(r *Ref) bool {
	_, absent := r.t.(absent)
	return !absent
}

// DeadLetter publishes a message that cannot be delivered, and why.
func (p *Port) DeadLetter(to *Ref, msg any, sender *Ref, reason string) {
	lost(to, sender, fmt.Errorf("%w: %s", ErrNotSent, reason))
	p.sys.deadLetterFor(to, msg, sender, reason)
}

// DeadSystemMessage deals with a system message that cannot be delivered: whoever watches is told.
func (p *Port) DeadSystemMessage(to *Ref, m SystemMessage) {
	if m.Kind == SystemWatch && m.Watcher != nil {
		p.TellSystem(m.Watcher, SystemMessage{Kind: SystemDeathWatchNotification, Ref: m.Ref})
	}
}

// SpawnSystem makes an actor below /system.
func (p *Port) SpawnSystem(props *Props, name string) (*Ref, error) {
	return p.sys.system.spawn(props, name, nil)
}

// Adopt makes an actor for a parent on another node, at a path that the provider looks after.
func (p *Port) Adopt(props *Props, parent *Ref, path string, uid int32) (*Ref, error) {
	if err := props.check(p.sys); err != nil {
		return nil, err
	}
	c := newCell(p.sys, parent, path, uid, props)
	c.startOn(nil)
	return &c.ref, nil
}

// Ended reports whether a local actor has ended.
func (p *Port) Ended(r *Ref) bool { return r.c != nil && r.c.isClosed() }

// Terminating reports whether the system is ending.
func (p *Port) Terminating() bool { return p.sys.terminating.Load() }

// local is the actor of a path in this system.
func (s *System) local(elements string, uid int32) *Ref {
	if s.provider != nil {
		if r := s.provider.Local(elements, uid); r != nil {
			return r
		}
	}
	var buf [16]string
	path := buf[:0]
	for start := 0; start < len(elements); {
		if elements[start] == '/' {
			start++
			continue
		}
		end := start
		for end < len(elements) && elements[end] != '/' {
			end++
		}
		path = append(path, elements[start:end])
		start = end
	}
	return s.resolve(path, uid)
}

// SelectionKind is what a step of a selection does; the values are those of the protocol.
type SelectionKind = uint8

// The kinds of steps.
const (
	SelectParent  = SelectionKind(parentElement)
	SelectName    = SelectionKind(childName)
	SelectPattern = SelectionKind(childPattern)
)

// A SelectionElement is one step of a selection. Matcher is empty for a parent.
type SelectionElement struct {
	Kind    SelectionKind
	Matcher string
}

// Selection takes apart a message that is to go on along a path on the other node; ok is false for any other.
func (p *Port) Selection(msg any) (inner any, steps []SelectionElement, ok bool) {
	m, ok := msg.(*selectionMessage)
	if !ok {
		return nil, nil, false
	}
	steps = make([]SelectionElement, len(m.elements))
	for i, e := range m.elements {
		steps[i] = SelectionElement{Kind: SelectionKind(e.kind), Matcher: e.matcher}
		if e.kind == parentElement {
			steps[i].Matcher = ""
		}
	}
	return m.msg, steps, true
}

// TellSelection lets a message go on from anchor, an actor of this system. The error names a step that cannot be.
func (p *Port) TellSelection(anchor *Ref, msg any, steps []SelectionElement, sender *Ref) error {
	m := selectionMessage{msg: msg, elements: make([]selectionElement, len(steps))}
	for i, s := range steps {
		switch s.Kind {
		case SelectParent:
			m.elements[i] = selectionElement{kind: parentElement, matcher: ".."}
		case SelectName, SelectPattern:
			e, reason := parseElement(s.Matcher, i == len(steps)-1)
			if reason != "" || e.kind == childRecursive {
				return fmt.Errorf("actor: a selection with the step %q", s.Matcher)
			}
			if s.Kind == SelectName {
				e.kind = childName
			}
			m.elements[i] = e
		default:
			return fmt.Errorf("actor: a selection with a step of kind %d", s.Kind)
		}
	}
	deliverSelection(nil, anchor, m, sender)
	return nil
}

// A Turn is the turn of an actor that sends; its zero value is none.
type Turn struct{ c *cell }

// A Flusher has written something that it wants to send.
type Flusher interface{ Flush() }

// Later has f.Flush called when the turn ends, or the batch of turns that it belongs to, so that all that is written in
// it leaves at once. It reports false where there is no turn: then the caller flushes.
func (t Turn) Later(f Flusher) bool {
	if t.c == nil {
		return false
	}
	w := t.c.w
	if w == nil {
		return false
	}
	w.mu.Lock()
	ok := w.now == t.c // else the worker was given to another goroutine
	if ok {
		w.written = append(w.written, f)
	}
	w.mu.Unlock()
	return ok
}

// Wire is how a Ref is written in messages: the path, and what a provider makes of it.
type Wire struct {
	Path              []byte // address, path and uid
	Sender, Recipient []byte // as fields of an envelope
}

// Wire is the form of r for messages, which is kept.
func (p *Port) Wire(r *Ref) *Wire { return r.wireForm() }

// SetFields makes Wire.Sender and Wire.Recipient of the path. It is called in Start.
func (p *Port) SetFields(f func(path []byte) (sender, recipient []byte)) { p.sys.wireFields = f }
