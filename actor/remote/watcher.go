package remote

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/assoc"
	"github.com/actua/actua/actor/serial"
)

// watcher is remote watch at work: /system/remote-watcher. What is decided is decided by its watching; here is what
// carries it out. Akka.NET nodes know no other watcher on this node: it tells those who really watch.
type watcher struct {
	r   *Remoting
	ref atomic.Pointer[actor.Ref] // of the actor

	mu      sync.Mutex
	state   *watching
	todo    []watchAct
	busy    bool // somebody carries todo out
	closed  bool
	next    time.Duration
	alarm   *actor.Cancelable
	foreign map[actor.Address]*foreignWatches
}

func newWatcher(r *Remoting) *watcher {
	return &watcher{r: r, state: newWatching(&r.set), next: assoc.Never, foreign: make(map[actor.Address]*foreignWatches)}
}

// watcherName is the name of the actor, below /system.
const watcherName = "remote-watcher"

// start makes the actor.
func (w *watcher) start() error {
	ref, err := w.r.port.SpawnSystem(actor.FromFunc(w.receive).WithClass("RemoteWatcher"), watcherName)
	if err == nil {
		w.ref.Store(ref)
	}
	return err
}

// self is the actor.
func (w *watcher) self() *actor.Ref { return w.ref.Load() }

// stop ends it: nothing is watched any more.
func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.state = newWatching(&w.r.set)
	w.foreign = nil
	w.todo = nil
	if w.alarm != nil {
		w.alarm.Cancel()
	}
}

// receive is the actor: other nodes ask whether this one lives, and answer.
func (w *watcher) receive(ctx *actor.Context, msg any) {
	switch m := msg.(type) {
	case serial.Heartbeat:
		if ctx.HasSender() {
			ctx.Reply(serial.HeartbeatRsp{UID: int32(w.r.uid)})
		}
	case serial.HeartbeatRsp:
		if t := w.r.port.Target(ctx.Sender()); t != nil {
			w.response(t.Address(), assoc.UID(m.UID))
		}
	default:
		ctx.Unhandled()
	}
}

// watch notes that an actor here watches one elsewhere, and has the other node told. It is false where that is to
// be done by whoever calls: the watcher's own Watch.
func (w *watcher) watch(watchee, by *actor.Ref) bool { return w.add(watchee, by, asWatcher, w.drain) }

// supervise is watch for the parent of an actor that is made elsewhere. It is called with a lock of the parent's held.
func (w *watcher) supervise(child, parent *actor.Ref) {
	w.add(child, parent, asParent, func() { go w.drain() })
}

func (w *watcher) add(watchee, by *actor.Ref, why watchWhy, drain func()) bool {
	node, ok := w.nodeOf(watchee, by)
	if !ok {
		return false
	}
	of := watcherOf{ref: by}
	if t := w.r.port.Target(by); t != nil && t.Address() != w.r.address {
		of.at = t.Address()
	}
	w.do(drain, func(now time.Duration, acts []watchAct) []watchAct {
		return w.state.watch(now, node, idOf(watchee), watchee, w.keyOf(by), of, why, acts)
	})
	return true
}

// unwatch takes it back. It is false as watch is.
func (w *watcher) unwatch(watchee, by *actor.Ref) bool {
	node, ok := w.nodeOf(watchee, by)
	if ok {
		w.do(w.drain, func(_ time.Duration, acts []watchAct) []watchAct {
			return w.state.unwatch(node, idOf(watchee), w.keyOf(by), asWatcher, acts)
		})
	}
	return ok
}

// nodeOf is where the watchee is, if that is this watcher's business.
func (w *watcher) nodeOf(watchee, by *actor.Ref) (actor.Address, bool) {
	if watchee == nil || by == nil || by == w.self() {
		return actor.Address{}, false
	}
	t := w.r.port.Target(watchee)
	if t == nil {
		return actor.Address{}, false
	}
	return t.Address(), true
}

func idOf(r *actor.Ref) watcheeID {
	return watcheeID{path: r.Path().StringWithoutAddress(), uid: r.UID()}
}

// keyOf tells watchers apart: a Ref of another node may be made twice.
func (w *watcher) keyOf(by *actor.Ref) any {
	if w.r.port.Target(by) == nil {
		return by
	}
	return string(w.r.port.Wire(by).Path)
}

// ended is what a node says of one of its actors.
func (w *watcher) ended(ref *actor.Ref, existed, addressed bool) {
	if t := w.r.port.Target(ref); t != nil {
		w.do(w.drain, func(_ time.Duration, acts []watchAct) []watchAct {
			return w.state.ended(t.Address(), idOf(ref), existed, addressed, acts)
		})
	}
}

// response is an answer to a heartbeat.
func (w *watcher) response(node actor.Address, uid assoc.UID) {
	w.do(w.drain, func(now time.Duration, acts []watchAct) []watchAct { return w.state.response(now, node, uid, acts) })
}

// addressTerminated says that all actors of a node are gone, by whatever it was found out. To say it twice is harmless.
func (w *watcher) addressTerminated(node actor.Address) {
	w.do(w.drain, func(_ time.Duration, acts []watchAct) []watchAct { return w.state.gone(node, acts) })
	w.mu.Lock()
	f := w.foreign[node]
	delete(w.foreign, node)
	w.mu.Unlock()
	if f != nil {
		f.end(w.r.port)
	}
}

// do lets the state decide, and has it carried out.
func (w *watcher) do(drain func(), f func(now time.Duration, acts []watchAct) []watchAct) {
	now := w.r.now()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.todo = f(now, w.todo)
	w.setAlarm(now)
	idle := w.busy || len(w.todo) == 0
	w.mu.Unlock()
	if !idle {
		drain()
	}
}

// drain carries out what there is to do, in order: one goroutine at a time, and without the lock, since what it
// calls may call back.
func (w *watcher) drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy {
		return
	}
	w.busy = true
	defer func() { w.busy = false }()
	for len(w.todo) > 0 {
		acts := w.todo
		w.todo = nil
		w.carryOut(acts)
	}
}

// carryOut gives the lock away meanwhile.
func (w *watcher) carryOut(acts []watchAct) {
	w.mu.Unlock()
	defer w.mu.Lock()
	for i := range acts {
		w.act(&acts[i])
	}
}

func (w *watcher) act(x *watchAct) {
	r := w.r
	switch x.do {
	case sendWatch:
		r.association(x.node).sendSystem(x.ref, actor.SystemMessage{Kind: actor.SystemWatch, Ref: x.ref, Watcher: w.self()})
	case sendUnwatch:
		r.association(x.node).sendSystem(x.ref, actor.SystemMessage{Kind: actor.SystemUnwatch, Ref: x.ref, Watcher: w.self()})
	case sendHeartbeat:
		if root, err := r.Ref(x.node, "/", 0); err == nil {
			r.association(x.node).Tell(root, heartbeat, w.self(), actor.Turn{})
		}
	case quarantine:
		r.log.Warn("another node does not answer any more; it is given up", slog.String("address", x.node.String()))
		if a := r.association(x.node); x.known {
			a.quarantine(x.uid)
		} else {
			a.unreachable()
		}
		w.addressTerminated(x.node)
	case tellEnd:
		r.port.TellSystem(x.to, actor.SystemMessage{
			Kind: actor.SystemDeathWatchNotification, Ref: x.ref, ExistenceConfirmed: x.existed, AddressTerminated: x.addressed,
		})
	}
}

// heartbeat is what is sent to the remote-watcher of another node, by way of its root.
var heartbeat = serial.Selection{Message: serial.Heartbeat{}, Elements: []serial.SelectionElement{
	{Kind: serial.SelectChildName, Matcher: "system"}, {Kind: serial.SelectChildName, Matcher: watcherName},
}}

// isHeartbeat reports whether msg is one that nobody misses when it is lost.
func isHeartbeat(msg any) bool {
	switch m := msg.(type) {
	case serial.Heartbeat, serial.HeartbeatRsp:
		return true
	case serial.Selection:
		return isHeartbeat(m.Message)
	}
	return false
}

// setAlarm wakes the state when it wants to be; the lock is held.
func (w *watcher) setAlarm(now time.Duration) {
	next := w.state.next()
	if next == assoc.Never || next >= w.next {
		return
	}
	w.next = next
	if w.alarm != nil {
		w.alarm.Cancel()
	}
	w.alarm = w.r.sys.Scheduler().ScheduleOnce(max(next-now, 0), w.tick)
}

func (w *watcher) tick() {
	w.do(w.drain, func(now time.Duration, acts []watchAct) []watchAct {
		w.next = assoc.Never
		return w.state.tick(now, acts)
	})
}

// watched notes, or forgets, that a watcher on another node watches an actor here. The actor itself keeps that, and
// would do so for ever where the node is gone.
func (w *watcher) watched(on bool, local, by *actor.Ref) {
	t := w.r.port.Target(by)
	if t == nil {
		return
	}
	key := foreignKey{local, string(w.r.port.Wire(by).Path)}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.foreign[t.Address()]
	switch {
	case w.closed:
	case on:
		if f == nil {
			f = &foreignWatches{by: make(map[foreignKey]*actor.Ref)}
			w.foreign[t.Address()] = f
		}
		f.add(key, by, w.r.port)
	case f != nil:
		if delete(f.by, key); len(f.by) == 0 {
			delete(w.foreign, t.Address())
		}
	}
}

// foreignWatches are the watches of one other node.
type foreignWatches struct {
	by    map[foreignKey]*actor.Ref
	sweep int // at how many those of ended actors are left out
}

type foreignKey struct {
	local *actor.Ref
	by    string
}

func (f *foreignWatches) add(key foreignKey, by *actor.Ref, port *actor.Port) {
	if len(f.by) >= max(f.sweep, 64) {
		for k := range f.by {
			if port.Ended(k.local) {
				delete(f.by, k)
			}
		}
		f.sweep = 2 * len(f.by)
	}
	f.by[key] = by
}

// end has the actors forget them.
func (f *foreignWatches) end(port *actor.Port) {
	for k, by := range f.by {
		port.TellSystem(k.local, actor.SystemMessage{Kind: actor.SystemUnwatch, Ref: k.local, Watcher: by})
	}
}
