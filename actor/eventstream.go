package actor

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// EventStream passes on what is published to those who have subscribed to its type. Each system has one
// (Akka.NET: EventStream). The runtime publishes [DeadLetter], [SuppressedDeadLetter], [Dropped],
// [UnhandledMessage] and, with Config.Telemetry, [ActorTelemetry]; programs may publish what they like.
//
// A subscription to an interface type gets all events that implement it; one to any gets all. Who has several
// subscriptions that fit an event gets it once. Events from one goroutine reach a subscriber in the order in which
// they were published. They are not kept: who subscribes later has missed them.
//
// The subscriptions are an immutable list with a table by type beside it, which each change replaces. So to
// publish takes one load where nobody has subscribed, else one lookup, and no lock.
type EventStream struct {
	sys  *System
	self Ref // whom subscribers tell of their end
	now  atomic.Pointer[subscriptions]

	mu      sync.Mutex // of those who change the list
	watched map[any]struct{}
}

// subscriptions are all there are at one time.
type subscriptions struct {
	all    []*subscription
	byType sync.Map // reflect.Type of an event to []*subscription
}

// subscription is that of an actor, or of a function.
type subscription struct {
	typ reflect.Type
	not []reflect.Type // left out, though typ fits
	ref *Ref
	key any // of ref

	f     func(any)
	calls atomic.Int32 // of f that have not returned
}

func newEventStream(s *System) *EventStream {
	e := &EventStream{sys: s, watched: make(map[any]struct{})}
	e.self = Ref{t: streamEnd{e}, sys: s, path: "/system/eventStream"}
	return e
}

// Subscribe has events of type T sent to an actor, as messages without a sender, until it stops or [Unsubscribe] is
// called. It reports false where the actor has this subscription already, or has stopped. T may be an
// interface. A nil ref is a mistake of the program: Subscribe panics.
func Subscribe[T any](s *System, ref *Ref) bool {
	return s.events.subscribe(reflect.TypeFor[T](), ref)
}

// Unsubscribe takes Subscribe for the same type back, and reports whether there was something to take back. Where
// the actor has subscribed to an interface that T fits, but not to T, events that fit T are left out from now on
// (as in Akka.NET).
func Unsubscribe[T any](s *System, ref *Ref) bool {
	return s.events.unsubscribe(reflect.TypeFor[T](), ref)
}

// UnsubscribeAll ends all subscriptions of an actor, and reports whether it had any. A stopped actor needs none
// of this.
func (e *EventStream) UnsubscribeAll(ref *Ref) bool {
	mustRef(ref)
	return e.remove(ref.key())
}

// SubscribeFunc calls f with each event of type T until cancel is called. f runs on the goroutine that publishes,
// which may be one that runs actors, and several at a time: it must not block, nor end its goroutine. A panic in it is
// logged, and goes no further. Where f publishes, or causes, what it is called for, that goes on for
// four levels; what comes deeper does not reach it. It is called also after the system has terminated.
// cancel may be called more than once, from anywhere; a call of f that has begun goes on. A nil f is a
// mistake of the program: SubscribeFunc panics.
func SubscribeFunc[T any](s *System, f func(T)) (cancel func()) {
	if f == nil {
		panic("actor: SubscribeFunc needs a function")
	}
	x := &subscription{typ: reflect.TypeFor[T](), f: func(event any) { f(event.(T)) }}
	s.events.change(func(all []*subscription) []*subscription { return append(all, x) })
	return func() {
		s.events.change(func(all []*subscription) []*subscription {
			return slices.DeleteFunc(all, func(y *subscription) bool { return x == y })
		})
	}
}

func mustRef(ref *Ref) {
	if ref == nil {
		panic("actor: a subscriber cannot be nil")
	}
}

// Publish passes an event on. It may be called from any goroutine, also by subscribers, and waits for nobody: where
// the bounded mailbox of a subscriber is full, the event is a dead letter at once. A nil event is refused, and
// published as [Dropped]. An event about a message that went nowhere, which goes nowhere itself, is
// counted and not published again: so news of dead letters cannot go round in circles.
func (e *EventStream) Publish(event any) {
	subs := e.now.Load()
	if event == nil {
		e.sys.refuseNil(&e.self, nil)
		return
	}
	if subs == nil {
		return
	}
	t := reflect.TypeOf(event)
	to, ok := subs.byType.Load(t)
	if !ok {
		to = subs.find(t)
	}
	for _, x := range to.([]*subscription) {
		if x.ref != nil {
			x.ref.tellNow(event, nil)
		} else {
			callSubscriber(e.sys, x, event)
		}
	}
}

// quiet reports that there are no subscriptions at all, so that an event need not be made.
func (e *EventStream) quiet() bool { return e.now.Load() == nil }

// find makes the entry of the table for events of type t.
func (p *subscriptions) find(t reflect.Type) any {
	to := []*subscription{}
	for _, x := range p.all {
		if x.takes(t) && (x.ref == nil || !slices.ContainsFunc(to, func(y *subscription) bool { return y.key == x.key })) {
			to = append(to, x)
		}
	}
	was, _ := p.byType.LoadOrStore(t, to)
	return was
}

func (x *subscription) takes(t reflect.Type) bool {
	return fits(t, x.typ) && !slices.ContainsFunc(x.not, func(n reflect.Type) bool { return fits(t, n) })
}

// fits reports whether a value of type t, which is no interface, is a want.
func fits(t, want reflect.Type) bool {
	return t == want || want.Kind() == reflect.Interface && t.Implements(want)
}

// maxNested is how often a function may be called for what it has caused itself.
const maxNested = 4

// callSubscriber calls a function. It counts its own frames on the stack where that of a function that goes round
// in circles may be among them.
//
//go:noinline
func callSubscriber(s *System, x *subscription, event any) {
	defer x.calls.Add(-1)
	if x.calls.Add(1) > maxNested && nestedCalls() > maxNested {
		s.logLimited(slog.LevelError, "an event was not passed on: the function that subscribed to it causes it itself",
			slog.String("type", typeName(event)))
		return
	}
	defer func() {
		if r := recover(); r != nil {
			s.logLimited(slog.LevelError, "a function that subscribed to events panicked",
				slog.String("type", typeName(event)), slog.String("cause", fmt.Sprint(r)),
				slog.String("stack", string(debug.Stack())))
		}
	}()
	x.f(event)
}

// nestedCalls is how many frames of callSubscriber are on the stack; it stops counting beyond maxNested.
func nestedCalls() (n int) {
	entry := reflect.ValueOf(callSubscriber).Pointer()
	var pcs [256]uintptr
	for skip := 0; ; skip += len(pcs) {
		got := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:got] {
			if f := runtime.FuncForPC(pc - 1); f != nil && f.Entry() == entry {
				if n++; n > maxNested {
					return n
				}
			}
		}
		if got < len(pcs) {
			return n
		}
	}
}

// change replaces the list. edit gets a copy.
func (e *EventStream) change(edit func([]*subscription) []*subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*subscription
	if p := e.now.Load(); p != nil {
		all = slices.Clone(p.all)
	}
	if all = edit(all); len(all) == 0 {
		e.now.Store(nil)
		return
	}
	e.now.Store(&subscriptions{all: all})
}

func (e *EventStream) subscribe(t reflect.Type, ref *Ref) bool {
	mustRef(ref)
	x := &subscription{typ: t, ref: ref, key: ref.key()}
	added, watch := false, false
	e.change(func(all []*subscription) []*subscription {
		for _, y := range all {
			if y.key == x.key && y.typ == t {
				return all
			}
		}
		added = true
		if _, ok := e.watched[x.key]; !ok {
			e.watched[x.key] = struct{}{}
			watch = true
		}
		return append(all, x)
	})
	if !watch {
		return added
	}
	// Without the lock: an actor that has stopped says so within this call. It is watched until its end, even if
	// it unsubscribes, so that the order of watching and not watching any more cannot be mixed up.
	ref.tellSystem(&sysMsg{kind: sysWatch, ref: ref, other: &e.self})
	p := e.now.Load()
	return p != nil && slices.Contains(p.all, x)
}

func (e *EventStream) unsubscribe(t reflect.Type, ref *Ref) (found bool) {
	mustRef(ref)
	k := ref.key()
	e.change(func(all []*subscription) []*subscription {
		left := slices.DeleteFunc(all, func(x *subscription) bool { return x.key == k && x.typ == t })
		if found = len(left) < len(all); found {
			return left
		}
		for i, x := range all {
			if x.key == k && fits(t, x.typ) && !slices.Contains(x.not, t) {
				found = true
				all[i] = &subscription{typ: x.typ, not: append(slices.Clone(x.not), t), ref: x.ref, key: x.key}
			}
		}
		return all
	})
	return found
}

// remove ends the subscriptions of an actor.
func (e *EventStream) remove(key any) (found bool) {
	e.change(func(all []*subscription) []*subscription {
		left := slices.DeleteFunc(all, func(x *subscription) bool { return x.ref != nil && x.key == key })
		found = len(left) < len(all)
		return left
	})
	return found
}

// streamEnd is the watcher of all subscribers. It is no actor: what it has to do is done by the goroutine of the
// subscriber that ends.
type streamEnd struct{ e *EventStream }

func (x streamEnd) tell(to *Ref, msg any, sender *Ref) { x.e.sys.deadLetter(to, msg, sender) }

func (x streamEnd) tellSystem(_ *Ref, m *sysMsg) {
	if m.kind != sysDeathNotice {
		return
	}
	k := m.ref.key()
	x.e.mu.Lock()
	delete(x.e.watched, k)
	x.e.mu.Unlock()
	x.e.remove(k)
}

// typeName is the type of a message, as logs show it.
func typeName(msg any) string {
	if msg == nil {
		return "nil"
	}
	return reflect.TypeOf(msg).String()
}
