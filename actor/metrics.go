package actor

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Stats are the counts of a system since it began. They are always kept.
type Stats struct {
	Actors      int64 // alive now: Started less Stopped, the guardians included
	Started     int64 // actors made whose PreStart has returned
	Stopped     int64 // of those, how many have ended
	Restarts    int64 // restarts that were completed
	Failures    int64 // failures of actors' code, each counted once however far it was escalated
	DeadLetters int64 // messages to actors that were not there, those marked as suppressed not counted
	Unhandled   int64 // messages passed to [Context.Unhandled]
	Dropped     int64 // messages not delivered for other reasons
}

// Stats returns the counts. It may be called from any goroutine, also after the end of the system.
func (s *System) Stats() Stats {
	var st Stats
	for i := range s.counts { // what ends before what begins: so that no more have ended than begun
		st.Stopped += s.counts[i].stopped.Load()
	}
	for i := range s.counts {
		n := &s.counts[i]
		st.Started += n.started.Load()
		st.Restarts += n.restarts.Load()
		st.Failures += n.failures.Load()
	}
	st.Actors = st.Started - st.Stopped
	st.DeadLetters = s.lost.dead.total.Load()
	st.Unhandled = s.lost.unhandled.total.Load()
	st.Dropped = s.lost.dropped.total.Load()
	return st
}

// counts are counters in several places, so that processors that start actors at the same time seldom want the same.
type counts [16]counters

type counters struct {
	started, stopped, restarts, failures atomic.Int64
	_                                    [32]byte // a cache line each
}

// of is where c counts: uids are random.
func (n *counts) of(c *cell) *counters {
	return &n[uint32(c.ref.uid)%uint32(len(n))]
}

// ClassStats are the actors of one class at one moment.
type ClassStats struct {
	Class   string // [Props.Class]; empty for actors of a kind that has not been made yet
	Actors  int
	Depth   int // user messages that wait, in all
	Deepest int // in one mailbox
}

// maxClasses is how many classes metrics tell apart. What has more of them, since it names classes after
// devices or the like, finds the rest under otherClass.
const (
	maxClasses = 250
	otherClass = "other"
)

// Classes counts actors and waiting messages by class, sorted by class. It looks at each actor, which takes
// some tenths of a second for a million, costs nothing in between, and may be called from any goroutine. Beyond 250 classes the rest is one class, "other".
func (s *System) Classes() []ClassStats {
	by := make(map[string]*ClassStats)
	var walk func(c *cell)
	walk = func(c *cell) {
		name := c.props.Class()
		if s.meters != nil {
			name = s.meters.entry(name).name
		}
		n := by[name]
		if n == nil {
			if len(by) >= maxClasses {
				name = otherClass
			}
			if n = by[name]; n == nil {
				n = &ClassStats{Class: name}
				by[name] = n
			}
		}
		d := c.depth()
		n.Actors++
		n.Depth += d
		n.Deepest = max(n.Deepest, d)
		for _, k := range c.children().unordered() {
			walk(k)
		}
	}
	if !s.hasEnded() {
		walk(s.root)
	}
	out := make([]ClassStats, 0, len(by))
	for _, n := range by {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b ClassStats) int { return cmp.Compare(a.Class, b.Class) })
	return out
}

func (s *System) hasEnded() bool {
	select {
	case <-s.terminated:
		return true
	default:
		return false
	}
}

// unordered are the children in no order, which is cheaper than all.
func (k *children) unordered() []*cell {
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

// A Meter is told what the actors of a system do: Config.Meter. Packages actorprom and actorotel have one
// each. Figures are by class ([Props.Class]), at most 250 of them, and never by path, so that what they
// need is bounded. All methods are called from many goroutines, some while actors run: they must not block. One
// that panics is logged, and harms nothing else.
type Meter interface {
	// Attach is called by NewSystem, once for each system that the Meter is given to, before any actor runs.
	// [System.Stats] and [System.Classes] have what need not be told.
	Attach(s *System)

	// Class is called once for each class of a system. nil measures nothing of that class.
	Class(s *System, class string) ClassMeter
}

// A ClassMeter is told what actors of one class do.
type ClassMeter interface {
	// Handled says how long an actor took for one message, the system messages before it included. A
	// message whose handling failed counts too, one that ended its goroutine does not.
	Handled(took time.Duration)

	// Failed says that an actor's code has failed.
	Failed()

	// Restarted says that an actor has been restarted.
	Restarted()

	// DeadLetter says that a message came for an actor that had ended. Those for which there is no actor
	// are told to the class "".
	DeadLetter()
}

// meters is a Meter and the classes that it knows.
type meters struct {
	sys   *System
	meter Meter
	clock Clock

	now atomic.Pointer[map[string]*entry]
	mu  sync.Mutex
}

// startMeter makes the configured Meter the one of all dispatchers.
func (s *System) startMeter() {
	if s.cfg.Meter == nil {
		return
	}
	s.meters = &meters{sys: s, meter: s.cfg.Meter, clock: s.clock}
	s.meters.now.Store(&map[string]*entry{})
	for _, d := range s.dispatchers {
		d.meters = s.meters
	}
	s.meters.guard(func() { s.cfg.Meter.Attach(s) })
}

// guard calls a function of the Meter.
func (m *meters) guard(f func()) {
	defer func() {
		if r := recover(); r != nil {
			m.sys.logLimited(slog.LevelError, "Config.Meter panicked", slog.String("cause", fmt.Sprint(r)))
		}
	}()
	f()
}

// entry is a class that a Meter has heard of, or is about to.
type entry struct {
	name  string
	once  sync.Once
	meter ClassMeter
}

// entry is that of a class, or of the rest.
func (m *meters) entry(name string) *entry {
	if e := (*m.now.Load())[name]; e != nil {
		return e
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old := *m.now.Load()
	if e := old[name]; e != nil {
		return e
	}
	if len(old) >= maxClasses {
		if e := old[otherClass]; e != nil {
			return e
		}
		name = otherClass
	}
	next := maps.Clone(old)
	next[name] = &entry{name: name}
	m.now.Store(&next)
	return next[name]
}

// class is the meter of a class, nil if it has none. The Meter is asked without a lock of the table.
func (m *meters) class(name string) ClassMeter {
	e := m.entry(name)
	e.once.Do(func() { m.guard(func() { e.meter = m.meter.Class(m.sys, e.name) }) })
	return e.meter
}

// report tells the meter of c's class. A nil *meters has nobody to tell.
func (m *meters) report(c *cell, what func(ClassMeter)) {
	if m != nil {
		m.tell(c.props.Class(), what)
	}
}

// reportNobody is report for what concerns no actor.
func (m *meters) reportNobody(what func(ClassMeter)) {
	if m != nil {
		m.tell("", what)
	}
}

func (m *meters) tell(class string, what func(ClassMeter)) {
	if to := m.class(class); to != nil {
		m.guard(func() { what(to) })
	}
}

// handled tells how long a message took.
func (m *meters) handled(class string, took time.Duration) {
	if to := m.class(class); to != nil {
		m.guard(func() { to.Handled(took) })
	}
}

// meteredTurn is turn with the time of each message taken: it asks for the messages one by one. After the last
// the cell is not ours any more, so nothing of it is touched but what never changes.
func (c *cell) meteredTurn(w *worker, m *meters, left int) (again bool) {
	props := c.props
	var until time.Time
	if d := c.disp.deadline; d > 0 {
		until = time.Now().Add(d)
	}
	c.w = w
	begin := m.clock.Now()
	for {
		one := min(left, 1)
		end := c.part(&one, until)
		if handled := left > 0 && one == 0; handled {
			left--
			now := m.clock.Now()
			m.handled(props.Class(), now.Sub(begin))
			begin = now
		} else if end == yield {
			c.w = nil
			return true
		}
		if end == idle {
			return false
		}
		if end == yield && left == 0 {
			c.w = nil
			return true
		}
	}
}
