package actor

import (
	"cmp"
	"slices"
	"strings"
)

// How a selection is walked. It is the sender's goroutine that walks: the children of a cell are in a map with a
// lock of its own, the parent of a cell never changes. So no mailbox lies between the sender and the mailboxes of those
// selected, and what the sender sends stays in order without further ado. (Through the threads of the actors on the way
// a selection would be overtaken by a Tell to the same actor.) The lock of one map is held for a look-up, or
// for as long as its children are copied; names are matched without it.
//
// The work for a message is bounded: names and parents cost their number; a pattern, the actors of one level; a last
// "**", each actor below once, collected before any of them gets the message, so that actors which it causes to be made
// do not get it. The way keeps one entry an actor at most.

// selectionMessage is a message on its way along a selection: to an anchor that is elsewhere, or from there.
type selectionMessage struct {
	msg      any
	elements []selectionElement
	fanOut   bool // a pattern has matched more than one: who is missing is skipped in silence
}

// nobody deals with a selection that leads to nobody from to. deadLetter calls it.
func (m *selectionMessage) nobody(s *System, to, sender *Ref) {
	if m.fanOut {
		return
	}
	if len(m.elements) > 0 {
		to = s.absent(joinElements(to.elements(), m.elements), 0)
	}
	s.deadLetter(to, m.msg, sender)
}

// unwrap is for who looks at messages in mailboxes: what a priority is given to, say.
func (m *selectionMessage) unwrap() any {
	if m.msg == nil {
		return m
	}
	return m.msg
}

// route handles a selection whose anchor is this actor. A message for the actor itself is handled at once: it
// has waited in the mailbox already.
func (c *cell) route(m *selectionMessage) {
	switch {
	case m.msg == nil:
		c.ref.sys.refuseNil(&c.ref, c.sender)
	case len(m.elements) == 0:
		c.msg = m.msg
		c.handle()
	default:
		deliverSelection(c, &c.ref, *m, c.sender)
	}
}

// severalNodes, as a number of mailboxes, says that another node counts them.
const severalNodes = -1

// deliverSelection brings m.msg to whom m.elements lead to from the anchor, and returns how many those are, or
// severalNodes. c is the cell whose turn this is, if any.
func deliverSelection(c *cell, anchor *Ref, m selectionMessage, sender *Ref) int {
	at := anchor
	for i := 0; i < len(m.elements); i++ {
		if at.foreign() {
			return forwardSelection(c, at, m, i, sender)
		}
		switch e := &m.elements[i]; e.kind {
		case parentElement:
			at = at.above()
		case childName:
			if r, n := at.provided(m.elements[i:]); n > 0 {
				at, i = r, i+n-1
			} else {
				at = at.child(e.name, e.uid)
			}
			if at == nil {
				return m.lost(anchor, sender)
			}
		default:
			return m.fan(c, anchor, at, i, sender)
		}
	}
	tellSelected(c, at, m.msg, sender)
	return 1
}

// provided is whom the names lead to from the root by a way that the provider looks after, /remote, and how many names those
// are; 0 for any other way.
func (r *Ref) provided(elements []selectionElement) (at *Ref, n int) {
	sys := r.sys
	if sys.provider == nil || r.c != sys.root || elements[0].name != "remote" {
		return nil, 0
	}
	var path strings.Builder
	var uid int32
	for ; n < len(elements) && elements[n].kind == childName; n++ {
		path.WriteByte('/')
		path.WriteString(elements[n].name)
		uid = elements[n].uid
	}
	return sys.provider.Local(path.String(), uid), n
}

func (m *selectionMessage) lost(anchor, sender *Ref) int {
	own := *m // the caller's does not have to be on the heap
	own.nobody(anchor.sys, anchor, sender)
	return 0
}

// fan is the rest of a way, from at on, whose element i is a pattern.
func (m *selectionMessage) fan(c *cell, anchor, at *Ref, i int, sender *Ref) int {
	fanOut, remote := m.fanOut, false
	level := []*Ref{at}
	for ; i < len(m.elements); i++ {
		e := &m.elements[i]
		var next []*Ref
		for _, r := range level {
			switch {
			case r.foreign():
				remote = true
				forwardSelection(c, r, selectionMessage{m.msg, m.elements, fanOut}, i, sender)
			case e.kind == parentElement:
				// Siblings follow one another on their level, so that this leaves each parent once.
				if p := r.above(); len(next) == 0 || next[len(next)-1] != p {
					next = append(next, p)
				}
			case e.kind == childName:
				if k := r.child(e.name, e.uid); k != nil {
					next = append(next, k)
				}
			case e.kind == childPattern:
				next = r.appendChildren(next, e.matcher)
			default:
				next = r.appendBelow(next)
			}
		}
		level = next
		if len(level) == 0 {
			if remote {
				return severalNodes
			}
			return (&selectionMessage{m.msg, m.elements, fanOut}).lost(anchor, sender)
		}
		if e.kind == childPattern || e.kind == childRecursive {
			fanOut = fanOut || len(level) > 1
		}
	}
	for _, r := range level {
		tellSelected(c, r, m.msg, sender)
	}
	if remote {
		return severalNodes
	}
	return len(level)
}

// tellSelected delivers to one who was selected.
func tellSelected(c *cell, to *Ref, msg any, sender *Ref) {
	if id, ok := msg.(Identify); ok && to.c == nil && (to == to.sys.deadLetters || to == to.sys.tempDir) {
		if sender != nil {
			sender.Tell(ActorIdentity{MessageID: id.MessageID, Subject: to})
		}
		return
	}
	if c != nil {
		c.sendFrom(to, msg, sender)
		return
	}
	to.TellFrom(msg, sender)
}

// forwardSelection leaves the rest of the way, from element i on, to an anchor that is elsewhere.
func forwardSelection(c *cell, to *Ref, m selectionMessage, i int, sender *Ref) int {
	m.elements = m.elements[i:]
	tellSelected(c, to, &m, sender)
	return severalNodes
}

// foreign reports whether the tree goes on elsewhere at r, so that only whoever is behind r can walk on.
func (r *Ref) foreign() bool {
	if r.c != nil || r == r.sys.deadLetters || r == r.sys.tempDir {
		return false
	}
	_, ask := r.t.(*promise)
	return !ask
}

// above is the parent in the tree: the root's is the root.
func (r *Ref) above() *Ref {
	sys := r.sys
	switch {
	case r.c == sys.root, r == sys.deadLetters, r == sys.tempDir:
		return &sys.root.ref
	case r.c != nil:
		return r.c.parent
	}
	return sys.tempDir // an ask
}

// child is who has that name below r, nil if nobody. A uid other than 0 wants that incarnation.
func (r *Ref) child(name string, uid int32) *Ref {
	sys := r.sys
	if c := r.c; c != nil {
		if k := c.children().get(name); k != nil && (uid == 0 || uid == k.ref.uid) {
			return &k.ref
		}
		if c == sys.root && uid == 0 {
			switch name {
			case "deadLetters":
				return sys.deadLetters
			case "temp":
				return sys.tempDir
			}
		}
		return nil
	}
	if r == sys.tempDir {
		if k := sys.temp(name); k != nil && (uid == 0 || uid == k.uid) {
			return k
		}
	}
	return nil
}

// appendChildren adds the children that match, in the order in which they were made.
func (r *Ref) appendChildren(dst []*Ref, pattern string) []*Ref {
	if r.c == nil {
		return dst
	}
	ks := r.c.children().unsorted()
	ks = slices.DeleteFunc(ks, func(k *cell) bool { return !like(pattern, k.ref.Name()) })
	slices.SortFunc(ks, func(a, b *cell) int { return cmp.Compare(a.born, b.born) })
	dst = slices.Grow(dst, len(ks))
	for _, k := range ks {
		dst = append(dst, &k.ref)
	}
	return dst
}

// appendBelow adds all that is below r, parents before their children.
func (r *Ref) appendBelow(dst []*Ref) []*Ref {
	next := len(dst)
	dst = r.appendChildren(dst, "*")
	for ; next < len(dst); next++ {
		dst = dst[next].appendChildren(dst, "*")
	}
	return dst
}

// unsorted are the children in any order.
func (k *children) unsorted() []*cell {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]*cell, 0, len(k.byName))
	for _, c := range k.byName {
		out = append(out, c)
	}
	return out
}

// like reports whether a name matches a pattern of *, any run of characters, and ?, one of them. Case does not
// matter (Akka.NET 1.5, WildcardMatch.Like). After a failure only the last * is tried longer: an earlier one need not
// be, since what followed it has been found as far left as possible. So it takes at most pattern times name steps.
func like(pattern, name string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || lower(pattern[p]) == lower(name[n])):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// lower is enough for names, which are ASCII.
func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b |= 0x20
	}
	return b
}

// resolve finds who is at a path below the root: names, without address. A uid other than 0 wants that incarnation
// of the last one. Where there is nobody, the Ref is that of an actor that has ended: messages are dead letters,
// Identify is answered with no Subject, whoever watches it hears of its end at once.
func (s *System) resolve(path []string, uid int32) *Ref {
	at := &s.root.ref
	for i, name := range path {
		want := uid
		if i < len(path)-1 {
			want = 0
		}
		if at = at.child(name, want); at == nil {
			break
		}
	}
	if at == nil || uid != 0 && len(path) == 0 {
		return s.absent("/"+strings.Join(path, "/"), uid)
	}
	return at
}

// absent makes the Ref of an actor that is not there.
func (s *System) absent(path string, uid int32) *Ref {
	r := s.newRef(absent{}, path)
	r.uid = uid
	return r
}

// absent is what is behind such a Ref.
type absent struct{}

func (absent) tell(to *Ref, msg any, sender *Ref) { to.sys.deadLetter(to, msg, sender) }

func (absent) tellSystem(to *Ref, m *sysMsg) { to.sys.deadSystemMessage(to, m) }

// absentKey is equal for equal Refs of actors that are not there: each look-up makes a new one.
type absentKey struct {
	path string
	uid  int32
}

func (absent) key(r *Ref) any { return absentKey{r.path, r.uid} }

// tempDir is what is behind /temp, the place of pending asks.
type tempDir struct{ absent }
