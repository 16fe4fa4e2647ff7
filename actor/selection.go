package actor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/actua/actua/actor/internal/wheel"
)

// ErrActorNotFound is why [Selection.ResolveOne] found nobody (Akka.NET: ActorNotFoundException).
var ErrActorNotFound = errors.New("there is no such actor")

// A Selection is a way through the tree of actors that may lead to none, one or many of them. It is walked anew
// for each message, so it finds actors that were made later. Unlike a [Ref] it does not tell incarnations apart,
// unless its last element ends in # and a uid. It is immutable and may be used by any number of goroutines.
//
// The elements of the path are names, ".." for one up (the root is its own parent), patterns (a name with * for any
// run of characters or ? for one; letter case does not matter; at most 32 patterns), and as the last one **, which
// is everything below. Names of actors that have a * in them can be selected by Ref only, or by a pattern that
// happens to match.
//
// Whoever sends walks the tree, on the goroutine that calls Tell: the names of children can be looked up from
// anywhere. So the message is in the mailboxes when Tell returns, and stays in order with all else that this sender
// sends to those actors, be it by Ref or by selection. An actor gets a message once, however many ways lead to it
// (in Akka.NET /user/*/.. delivers once for each child).
//
// Where nobody is found, an [Identify] is answered with no Subject, and other messages are dead letters, with the
// selected path as the recipient. Once a pattern has matched more than one actor, branches that lead nowhere are
// skipped in silence (Akka.NET 1.5, ActorSelection).
type Selection struct {
	anchor   *Ref
	sender   *Ref // of Tell; nil where the selection was made outside of actors
	elements []selectionElement
}

// elementKind is what an element of a selection does; the values are those of the protocol
// (Akka.NET 1.5, SelectionEnvelope.Selection.PatternType).
type elementKind uint8

const (
	parentElement  elementKind = 1 // ".."
	childName      elementKind = 2
	childPattern   elementKind = 3
	childRecursive elementKind = 4 // "**"; there is no such thing in the protocol
)

// selectionElement is one step of a selection.
type selectionElement struct {
	kind    elementKind
	matcher string // as it is written, and on the wire; empty for a parent there
	name    string // matcher without uid
	uid     int32  // 0: any incarnation
}

// maxPatterns bounds the work that one message can cause: each pattern may look at every actor.
const maxPatterns = 32

// Select makes a selection of a path from the root ("/user/a" and "user/a" are the same), or a full address of this
// system ("akka://name/user/a"). The error says what is wrong with the path; a path that leads to nobody is
// no error.
func (s *System) Select(path string) (*Selection, error) { return s.selection(&s.root.ref, nil, path) }

// Select is [System.Select] where a path without a slash first starts at this actor: "child", "../sibling". What
// is told to the selection with Tell has this actor as the sender.
func (x *Context) Select(path string) (*Selection, error) {
	return x.ref.sys.selection(&x.ref, &x.ref, path)
}

func (s *System) selection(from, sender *Ref, path string) (*Selection, error) {
	rest := path
	if i := strings.Index(path, "://"); i >= 0 && i < strings.IndexByte(path, '/') {
		at, names, err := SplitAddress(path)
		if err != nil {
			return nil, err
		}
		anchor, err := s.rootOf(at)
		if err != nil {
			return nil, selectError(path, err.Error())
		}
		from, rest = anchor, names
	} else if strings.HasPrefix(path, "/") {
		from = &s.root.ref
	} else if path == "" {
		return nil, selectError(path, "the path is empty")
	}
	elements, reason := parseElements(rest)
	if reason != "" {
		return nil, selectError(path, reason)
	}
	return &Selection{anchor: from, sender: sender, elements: elements}, nil
}

// rootOf is the root of the system of that address: this one, or another node's.
func (s *System) rootOf(a Address) (*Ref, error) {
	switch {
	case a == s.addr || a == s.wireAddr:
		return &s.root.ref, nil
	case s.provider != nil:
		return s.provider.Ref(a, "/", 0)
	}
	return nil, fmt.Errorf("%s is another system than %s", clip(a.String()), s.addr)
}

// clip keeps errors short whatever was asked for.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

func selectError(path, reason string) error {
	return fmt.Errorf("actor: select %q: %s", clip(path), reason)
}

// parseElements reads the part of a path behind the address. Empty elements are skipped. A reason that is not empty
// says what is wrong.
func parseElements(path string) (elements []selectionElement, reason string) {
	n, patterns := 0, 0
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			n++
		}
	}
	if n == 0 {
		return nil, ""
	}
	elements = make([]selectionElement, 0, n)
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		e, reason := parseElement(name, len(elements) == n-1)
		switch {
		case reason != "":
			return nil, reason
		case len(elements) == 0 && path[0] != '/' && n > 1 && strings.HasSuffix(name, ":"):
			return nil, "an address has two slashes after its protocol"
		case e.kind == childPattern || e.kind == childRecursive:
			patterns++
		}
		elements = append(elements, e)
	}
	if patterns > maxPatterns {
		return nil, fmt.Sprintf("more than %d patterns", maxPatterns)
	}
	return elements, ""
}

func parseElement(text string, last bool) (e selectionElement, reason string) {
	e = selectionElement{kind: childName, matcher: text, name: text}
	switch text {
	case "..":
		e.kind = parentElement
		return e, ""
	case "**":
		if !last {
			return e, `"**" can only be the last element`
		}
		e.kind = childRecursive
		return e, ""
	}
	if name, uid, ok := strings.Cut(text, "#"); ok {
		if !last {
			return e, "a # before the last element"
		}
		n, err := strconv.ParseUint(uid, 10, 31)
		if err != nil {
			return e, fmt.Sprintf("the uid %q is not a number of 0 to 2147483647", clip(uid))
		}
		if name == "" {
			return e, "a uid without a name"
		}
		e.name, e.uid = name, int32(n)
	}
	if strings.ContainsAny(e.name, "*?") {
		if e.kind = childPattern; e.name != text {
			return e, "a pattern cannot have a uid"
		}
	}
	for i := 0; i < len(e.name); i++ {
		if ch := e.name[i]; !elementByte(ch) {
			r, _ := utf8.DecodeRuneInString(e.name[i:])
			return e, fmt.Sprintf("the element %q has a character (%q) that no name has", clip(text), r)
		}
	}
	return e, ""
}

// elementByte reports whether ch may be part of a name (Akka.NET 1.5, ActorPath.ValidSymbols) or a pattern.
func elementByte(ch byte) bool {
	return ch|0x20 >= 'a' && ch|0x20 <= 'z' || ch >= '0' && ch <= '9' ||
		strings.IndexByte(`-_.*$+:@&=,!~';()"%?`, ch) >= 0
}

// String is the path of the selection, without the address of the system.
func (l *Selection) String() string { return joinElements(l.anchor.elements(), l.elements) }

func joinElements(path string, elements []selectionElement) string {
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(path, "/"))
	for i := range elements {
		b.WriteByte('/')
		b.WriteString(elements[i].matcher)
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// Tell sends msg to all actors of the selection. The sender is the actor by whose [Context.Select] the selection
// was made; one of [System.Select] has none. Like [Ref.Tell] it waits for nothing but room in bounded mailboxes.
// A nil message is refused.
func (l *Selection) Tell(msg any) { l.deliver(nil, msg, l.sender) }

// TellFrom is Tell with another sender, or none (nil).
func (l *Selection) TellFrom(msg any, sender *Ref) { l.deliver(nil, msg, sender) }

// TellSelection is [Context.Tell] to a selection: this actor is the sender.
func (x *Context) TellSelection(to *Selection, msg any) { to.deliver((*cell)(x), msg, &x.ref) }

// deliver returns to how many mailboxes the message went, or severalNodes. c is the cell whose turn this is, if any.
func (l *Selection) deliver(c *cell, msg any, sender *Ref) int {
	if msg == nil {
		l.anchor.sys.refuseNil(l.anchor, sender)
		return 0
	}
	return deliverSelection(c, l.anchor, selectionMessage{msg: msg, elements: l.elements}, sender)
}

// ResolveOne asks all actors of the selection who they are ([Identify]), and returns the first that answers. So it
// waits until that actor has handled the messages that it has already. Errors: ErrActorNotFound, if all answers have
// come and none names an actor; where the context ends first (or it has no deadline, and [Config.AskTimeout]
// is over) an error that is both ErrActorNotFound and the context's cause (or ErrAskTimeout).
//
// It blocks: inside an actor, call it in [Await].
func (l *Selection) ResolveOne(ctx context.Context) (*Ref, error) {
	if ctx.Err() != nil {
		return nil, l.notFound(context.Cause(ctx))
	}
	sys := l.anchor.sys
	w := &identityWaiter{done: make(chan struct{})}
	name := sys.nameTemp(&w.ref)
	w.ref.t, w.ref.sys, w.ref.path = w, sys, "/temp/"+name
	defer sys.temps.Delete(name)
	if _, ok := ctx.Deadline(); !ok && sys.cfg.AskTimeout > 0 {
		w.timer.Do = w
		if !sys.scheduler.add(&w.timer, sys.cfg.AskTimeout) {
			return nil, l.notFound(ErrTerminated)
		}
		defer sys.scheduler.remove(&w.timer)
	}
	w.expect(l.deliver(nil, Identify{}, &w.ref))
	var err error
	select {
	case <-w.done:
		err = w.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-sys.terminated:
		err = ErrTerminated
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found != nil {
		return w.found, nil
	}
	return nil, l.notFound(err)
}

func (l *Selection) notFound(cause error) error {
	if cause == nil {
		return fmt.Errorf("actor: %s: %w", l, ErrActorNotFound)
	}
	return fmt.Errorf("actor: %s: %w in time: %w", l, ErrActorNotFound, cause)
}

// identityWaiter takes the answers of a ResolveOne.
type identityWaiter struct {
	ref   Ref
	timer wheel.Timer
	done  chan struct{}

	mu     sync.Mutex
	ended  bool
	known  bool // how many answers will come
	want   int
	nobody int // answers that name nobody
	found  *Ref
	err    error
}

// expect says how many were asked.
func (w *identityWaiter) expect(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n == severalNodes {
		n = 1 // as in Akka.NET, the first answer decides
	}
	w.known, w.want = true, n
	w.check(false)
}

// check ends the waiting when there is nothing to wait for; under mu.
func (w *identityWaiter) check(end bool) {
	if !w.ended && (end || w.found != nil || w.known && w.nobody >= w.want) {
		w.ended = true
		close(w.done)
	}
}

func (w *identityWaiter) tell(to *Ref, msg any, sender *Ref) {
	id, ok := msg.(ActorIdentity)
	if !ok {
		to.sys.deadLetter(to, msg, sender)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended: // another was faster
	case id.Subject != nil:
		w.found = id.Subject
	default:
		w.nobody++
	}
	w.check(false)
}

func (w *identityWaiter) tellSystem(to *Ref, m *sysMsg) { to.sys.deadSystemMessage(to, m) }

// Run is the time-out.
func (w *identityWaiter) Run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.err = ErrAskTimeout
	}
	w.check(true)
}
