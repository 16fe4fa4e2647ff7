package remote

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
)

// What remote watch decides by: who here watches whom elsewhere, and whether the nodes there still answer (Akka.NET
// 1.5, RemoteWatcher). Methods append what to do to acts, to be done in that order, and return it. There is no clock, no lock
// and no sending in this file.

// watching is the state. A node is in it for as long as somebody here watches an actor there.
type watching struct {
	set    *Settings
	nodes  map[actor.Address]*watchedNode
	born   uint64 // watchees and watchers so far: what is told to several is told in the order of their coming
	beatAt time.Duration
	reapAt time.Duration
	ticked time.Duration // when tick was called last
}

// watchedNode is one node.
type watchedNode struct {
	addr     actor.Address
	watchees map[watcheeID]*watchee
	detector *assoc.PhiDetector
	expectAt time.Duration // when the first answer is taken as due; Never: it is not, or has been
	uid      assoc.UID     // of the last answer, if known
	known    bool
	again    []*watchee // those whose Watch is to be sent again still
}

// watcheeID tells apart the actors of a node: the path without address, and the uid, 0 for any. To watch a path and
// to watch an incarnation are two things: the other side has to name it as it was named to it.
type watcheeID struct {
	path string
	uid  int32
}

type watchee struct {
	id       watcheeID
	ref      *actor.Ref
	born     uint64
	watchers map[any]*watcherOf
}

// watcherOf is one who watches.
type watcherOf struct {
	ref        *actor.Ref
	at         actor.Address // where it is, if not here
	born       uint64
	watches    bool
	supervises bool // as the parent of an actor that was deployed there
}

func (w *watcherOf) of(why watchWhy) *bool {
	if why == asParent {
		return &w.supervises
	}
	return &w.watches
}

// watchWhy is why somebody is told of an end: because it asked, or as the parent, whom Unwatch does not free.
type watchWhy uint8

const (
	asWatcher watchWhy = iota
	asParent
)

// watchDo says what a watchAct wants done.
type watchDo uint8

const (
	sendWatch     watchDo = iota // of ref
	sendUnwatch                  // of ref
	sendHeartbeat                // to node
	quarantine                   // node, whose incarnation is uid if that is known
	tellEnd                      // of ref to the watcher to
)

// watchAct is one thing to do.
type watchAct struct {
	do                 watchDo
	node               actor.Address
	ref, to            *actor.Ref
	uid                assoc.UID
	known              bool
	existed, addressed bool // of tellEnd: it had existed; it is gone because its node is
}

// rewatch is how many Watches are sent again at once. More at a time could fill the buffer of system messages.
const rewatch = 500

func newWatching(set *Settings) *watching {
	return &watching{set: set, nodes: make(map[actor.Address]*watchedNode), beatAt: assoc.Never, reapAt: assoc.Never}
}

// watch notes that a watcher watches an actor. key tells watchers apart.
func (w *watching) watch(now time.Duration, node actor.Address, id watcheeID, ref *actor.Ref, key any, by watcherOf, why watchWhy, acts []watchAct) []watchAct {
	n := w.nodes[node]
	if n == nil {
		n = &watchedNode{addr: node, watchees: make(map[watcheeID]*watchee), detector: assoc.NewPhiDetector(assoc.PhiSettings(w.set.WatchDetector)), expectAt: assoc.Never}
		if len(w.nodes) == 0 {
			w.beatAt, w.reapAt, w.ticked = now+w.set.WatchHeartbeatInterval, now+w.set.WatchUnreachableReaperInterval, now
		}
		w.nodes[node] = n
	}
	e := n.watchees[id]
	if e == nil {
		w.born++
		e = &watchee{id: id, ref: ref, born: w.born, watchers: make(map[any]*watcherOf, 1)}
		n.watchees[id] = e
		acts = append(acts, watchAct{do: sendWatch, node: node, ref: ref})
	}
	have := e.watchers[key]
	if have == nil {
		w.born++
		by.born = w.born
		have = &by
		e.watchers[key] = have
	}
	*have.of(why) = true
	return acts
}

// unwatch takes it back. The Watch is taken back from the other node when nobody is left.
func (w *watching) unwatch(node actor.Address, id watcheeID, key any, why watchWhy, acts []watchAct) []watchAct {
	n := w.nodes[node]
	if n == nil {
		return acts
	}
	e := n.watchees[id]
	if e == nil {
		return acts
	}
	by := e.watchers[key]
	if by == nil {
		return acts
	}
	*by.of(why) = false
	if by.watches || by.supervises {
		return acts
	}
	delete(e.watchers, key)
	return w.abandon(n, e, acts)
}

// abandon takes the Watch back where nobody is left.
func (w *watching) abandon(n *watchedNode, e *watchee, acts []watchAct) []watchAct {
	if len(e.watchers) > 0 {
		return acts
	}
	w.remove(n, e.id)
	return append(acts, watchAct{do: sendUnwatch, node: n.addr, ref: e.ref})
}

// remove forgets an actor, and its node if that was the last one there.
func (w *watching) remove(n *watchedNode, id watcheeID) {
	delete(n.watchees, id)
	if len(n.watchees) == 0 {
		w.drop(n)
	}
}

// drop forgets a node.
func (w *watching) drop(n *watchedNode) {
	delete(w.nodes, n.addr)
	if len(w.nodes) == 0 {
		w.beatAt, w.reapAt = assoc.Never, assoc.Never
	}
}

// ended is what a node says of one of its actors, by the uid with which that has lived: who watches the path
// without a uid means it too.
func (w *watching) ended(node actor.Address, id watcheeID, existed, addressed bool, acts []watchAct) []watchAct {
	for _, id := range [...]watcheeID{id, {path: id.path}} {
		n := w.nodes[node]
		if n == nil {
			return acts
		}
		if e := n.watchees[id]; e != nil {
			w.remove(n, id)
			acts = e.tell(n.addr, existed, addressed, acts)
		}
	}
	return acts
}

// tell tells all who watch.
func (e *watchee) tell(node actor.Address, existed, addressed bool, acts []watchAct) []watchAct {
	for _, by := range slices.SortedFunc(maps.Values(e.watchers), func(a, b *watcherOf) int { return cmp.Compare(a.born, b.born) }) {
		acts = append(acts, watchAct{do: tellEnd, node: node, ref: e.ref, to: by.ref, existed: existed || addressed && by.supervises, addressed: addressed})
	}
	return acts
}

// gone is the end of all actors of a node, and of those there who watch.
func (w *watching) gone(node actor.Address, acts []watchAct) []watchAct {
	if n := w.nodes[node]; n != nil {
		w.drop(n)
		for _, e := range n.sorted() {
			acts = e.tell(node, false, true, acts)
		}
	}
	for _, n := range w.sorted() {
		for _, e := range n.sorted() {
			was := len(e.watchers)
			maps.DeleteFunc(e.watchers, func(_ any, by *watcherOf) bool { return !by.at.IsZero() && by.at == node })
			if len(e.watchers) < was {
				acts = w.abandon(n, e, acts)
			}
		}
	}
	return acts
}

// response is an answer to a heartbeat. The first one, and the first of another incarnation, have every Watch sent
// again.
func (w *watching) response(now time.Duration, node actor.Address, uid assoc.UID, acts []watchAct) []watchAct {
	n := w.nodes[node]
	if n == nil {
		return acts
	}
	if !n.known || n.uid != uid {
		if n.known {
			n.detector.Reset()
		}
		n.again = n.sorted()
	}
	n.uid, n.known, n.expectAt = uid, true, assoc.Never
	n.detector.Heartbeat(now)
	return n.watchAgain(acts)
}

// watchAgain sends some of the Watches that are to be sent again.
func (n *watchedNode) watchAgain(acts []watchAct) []watchAct {
	some := n.again[:min(len(n.again), rewatch)]
	n.again = n.again[len(some):]
	for _, e := range some {
		if n.watchees[e.id] == e { // still
			acts = append(acts, watchAct{do: sendWatch, node: n.addr, ref: e.ref})
		}
	}
	if len(n.again) == 0 {
		n.again = nil
	}
	return acts
}

// tick does what is due: heartbeats, first answers that are taken as due, and the judgement of those that do not
// answer.
func (w *watching) tick(now time.Duration, acts []watchAct) []watchAct {
	paused := now-w.ticked > w.set.WatchUnreachableReaperInterval+w.set.WatchDetector.AcceptableHeartbeatPause/2
	w.ticked = now
	if now >= w.beatAt {
		w.beatAt = following(w.beatAt, w.set.WatchHeartbeatInterval, now)
		for _, n := range w.sorted() {
			acts = append(acts, watchAct{do: sendHeartbeat, node: n.addr})
			if n.expectAt == assoc.Never && !n.detector.Monitoring() {
				n.expectAt = now + w.set.WatchExpectedResponseAfter
			}
		}
	}
	for _, n := range w.nodes {
		if now >= n.expectAt {
			n.expectAt = assoc.Never
			n.detector.Heartbeat(now)
		}
	}
	if now < w.reapAt {
		return acts
	}
	w.reapAt = following(w.reapAt, w.set.WatchUnreachableReaperInterval, now)
	if paused {
		return acts // it was this process that has stood still: whoever lives answers until the next time
	}
	for _, n := range w.sorted() {
		if w.nodes[n.addr] == n && !n.detector.Available(now) {
			acts = append(acts, watchAct{do: quarantine, node: n.addr, uid: n.uid, known: n.known})
			acts = w.gone(n.addr, acts)
		}
	}
	return acts
}

// following is the next time of what happens every interval.
func following(at, interval, now time.Duration) time.Duration {
	if at += interval; at <= now {
		at = now + interval
	}
	return at
}

// next is when tick has to be called, Never while nothing is watched.
func (w *watching) next() time.Duration {
	next := min(w.beatAt, w.reapAt)
	for _, n := range w.nodes {
		next = min(next, n.expectAt)
	}
	return next
}

func (w *watching) sorted() []*watchedNode {
	return slices.SortedFunc(maps.Values(w.nodes), func(a, b *watchedNode) int { return a.addr.Compare(b.addr) })
}

func (n *watchedNode) sorted() []*watchee {
	return slices.SortedFunc(maps.Values(n.watchees), func(a, b *watchee) int { return cmp.Compare(a.born, b.born) })
}
