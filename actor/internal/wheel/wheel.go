// Package wheel is the timing wheel of the actor runtime: it keeps timers and says which are due. It has
// no clock, no goroutine and no lock; time comes as an argument, and the caller calls what is due.
//
// It is the hashed wheel of Varghese and Lauck (SOSP 1987, scheme 7), as Akka.NET 1.5 has one
// (akka.scheduler.tick-duration = 10ms, ticks-per-wheel = 512), but a timer that is more than one turn away
// waits on a coarser wheel above instead of counting rounds: a turn does not touch what is not due in it,
// and a timer moves down at most once a level. The levels are made when they are first needed.
package wheel

import (
	"math"
	"math/bits"
	"time"
)

// Akka.NET's defaults, and the bounds of what may be asked for.
const (
	DefaultTick  = 10 * time.Millisecond
	DefaultSlots = 512
	MaxSlots     = 1 << 16
)

// Runner is what a timer runs when it is due. The wheel itself never calls it.
type Runner interface{ Run() }

// Timer is one timer, to be embedded in what it belongs to: to add, move or remove it allocates nothing.
// The zero value is ready. It must not be copied while it is pending, and belongs to one wheel at a time.
type Timer struct {
	// Do is run by the owner of the wheel when the timer is due.
	Do Runner
	// Every, when positive, adds the timer again each time it is due. It may change only while the
	// timer is not pending.
	Every time.Duration

	next, prev *Timer
	deadline   time.Duration
	place      int32 // where it is: see the constants
}

// Where a timer is. Other values are 1 + level * slots + slot.
const (
	nowhere int32 = 0
	due     int32 = -1
	dropped int32 = -2
)

// Pending reports whether the timer is on a wheel and will be due.
func (t *Timer) Pending() bool { return t.place > 0 || t.place == due }

// Deadline is the time for which the timer was last added, since the origin of its wheel; for a timer
// with Every it is the next one.
func (t *Timer) Deadline() time.Duration { return t.deadline }

// Wheel keeps timers. Times are durations since its origin; a wheel begins at 0. It must be made by New.
type Wheel struct {
	tick  time.Duration
	bits  uint
	mask  uint64
	slots int32

	// cur is the tick up to which everything has been handed out or stands in due. A timer's tick
	// is its deadline in ticks, rounded up. Its place follows from cur and its tick: the level is
	// that of the highest digit (in base slots) in which they differ, the slot is that digit.
	cur    uint64
	levels []level
	due    list // those of tick cur, in the order of their deadlines
	count  int
}

type level struct {
	slots []list
	used  []uint64 // a bit a slot that is not empty
}

// New makes a wheel. The tick is the resolution, DefaultTick when it is not positive; slots is how many a
// turn has, DefaultSlots when it is not positive, rounded up to a power of two (at least 2, at most MaxSlots).
func New(tick time.Duration, slots int) *Wheel {
	if tick <= 0 {
		tick = DefaultTick
	}
	if slots <= 0 {
		slots = DefaultSlots
	}
	b := uint(bits.Len(uint(min(max(slots, 2), MaxSlots) - 1)))
	return &Wheel{tick: tick, bits: b, mask: 1<<b - 1, slots: 1 << b}
}

// Len is the number of pending timers.
func (w *Wheel) Len() int { return w.count }

// Tick is the resolution of the wheel.
func (w *Wheel) Tick() time.Duration { return w.tick }

// Add adds a timer, or moves it if it is pending, and returns the time from which Advance will hand it
// out: the deadline rounded up to a tick, and never a tick that has been handed out already. That may be
// less than a tick late; it is never early. A deadline before the origin counts as the origin; one in the
// last tick before the end of time (292 years) is never due.
func (w *Wheel) Add(t *Timer, deadline time.Duration) (at time.Duration) {
	w.Remove(t)
	w.count++
	t.deadline = max(deadline, 0)
	return w.time(w.put(t))
}

// Remove takes a timer from the wheel. It returns true if the timer was pending (or was when the wheel was
// cleared): it will not be due, even if others of the same tick are already being handed out. False means that
// it was never added, has been removed or has been handed out.
func (w *Wheel) Remove(t *Timer) bool {
	switch t.place {
	case nowhere:
		return false
	case dropped:
		t.place = nowhere
		return true
	case due:
		w.due.remove(t)
	default:
		i := t.place - 1
		l := &w.levels[i/w.slots]
		s := uint64(i) & w.mask
		if l.slots[s].remove(t); l.slots[s].head == nil {
			l.used[s/64] &^= 1 << (s % 64)
		}
	}
	t.place = nowhere
	w.count--
	return true
}

// Advance moves the wheel to now and returns the next timer that is due, nil if there is none: call it
// until then. Timers come in the order of their deadlines, those of the same deadline in the order in
// which they were added. A timer with Every is back on the wheel when it is returned, at the first multiple
// of Every after its deadline that is later than now: no drift, and no burst after a long pause. Between two
// calls timers may be added and removed. Its work does not depend on how far now is ahead; a now that lies
// behind changes nothing.
func (w *Wheel) Advance(now time.Duration) *Timer {
	w.Reach(now)
	t := w.due.head
	if t == nil {
		return nil
	}
	w.Remove(t)
	if t.Every > 0 {
		w.count++
		t.deadline = following(t.deadline, t.Every, now)
		w.put(t)
	}
	return t
}

// Reach tells the wheel the time without taking what is due: a timer that is added for this time is then due at
// the next tick, even if now is the very beginning of one.
func (w *Wheel) Reach(now time.Duration) {
	target := uint64(max(now, 0) / w.tick)
	for w.due.head == nil {
		start, lv, ok := w.first()
		if !ok || start > target {
			// Nothing lies in between, so no timer's place changes.
			w.cur = max(w.cur, target)
			return
		}
		w.enter(start, lv)
	}
}

// Next returns a time at which it is worth calling Advance: no timer is due before it. It is that of the
// earliest timer if it is due within this turn; else the moment from which the wheel can tell.
func (w *Wheel) Next() (time.Duration, bool) {
	if w.due.head != nil {
		return w.time(w.cur), true
	}
	start, _, ok := w.first()
	return w.time(start), ok
}

// Clear drops all timers: they are not pending any more, and do not keep each other in memory. It tells of each,
// in no particular order; each may not use the wheel.
func (w *Wheel) Clear(each func(*Timer)) {
	w.due.drop(each)
	for i := range w.levels {
		for j := range w.levels[i].slots {
			w.levels[i].slots[j].drop(each)
		}
	}
	w.levels, w.count = nil, 0
}

// put places a timer that is nowhere, and returns its tick. It keeps the order of those with the same tick,
// as all of them have the same place at any time, go to the end there and move on together.
func (w *Wheel) put(t *Timer) uint64 {
	tick := max(w.ticks(t.deadline), w.cur+1)
	lv, diff, digit := 0, tick^w.cur, tick
	for diff > w.mask {
		lv++
		diff >>= w.bits
		digit >>= w.bits
	}
	for lv >= len(w.levels) {
		w.levels = append(w.levels, level{slots: make([]list, w.slots), used: make([]uint64, (w.slots+63)/64)})
	}
	l, s := &w.levels[lv], digit&w.mask
	l.slots[s].push(t)
	l.used[s/64] |= 1 << (s % 64)
	t.place = 1 + int32(lv)*w.slots + int32(s)
	return tick
}

// first finds the slot that comes first: its first tick, and its level. What is on a lower level comes
// before everything above.
func (w *Wheel) first() (start uint64, lv int, ok bool) {
	for lv := range w.levels {
		shift := uint(lv) * w.bits
		if s, ok := w.levels[lv].after(w.cur >> shift & w.mask); ok {
			return (w.cur>>shift&^w.mask | s) << shift, lv, true
		}
	}
	return 0, 0, false
}

// after finds the first slot that is not empty. None is at or below s, the current one.
func (l *level) after(s uint64) (uint64, bool) {
	for i := s / 64; i < uint64(len(l.used)); i++ {
		set := l.used[i]
		if i == s/64 {
			set &= ^uint64(0) << (s % 64)
		}
		if set != 0 {
			return i*64 + uint64(bits.TrailingZeros64(set)), true
		}
	}
	return 0, false
}

// enter moves the wheel to the first tick of a slot. The timers of that tick become due, those of later
// ticks of a slot of a higher level move to the levels below, which are empty.
func (w *Wheel) enter(start uint64, lv int) {
	l, s := &w.levels[lv], start>>(uint(lv)*w.bits)&w.mask
	all := l.slots[s]
	l.slots[s].head = nil
	l.used[s/64] &^= 1 << (s % 64)
	w.cur = start
	if lv == 0 {
		for t := all.head; t != nil; {
			t.place = due
			if t = t.next; t == all.head {
				break
			}
		}
		w.due = all
	} else {
		for t := all.pop(); t != nil; t = all.pop() {
			if w.ticks(t.deadline) > start {
				w.put(t)
			} else {
				t.place = due
				w.due.push(t)
			}
		}
	}
	w.due.sort()
}

// ticks is a deadline in ticks, rounded up.
func (w *Wheel) ticks(deadline time.Duration) uint64 {
	if deadline <= 0 {
		return 0
	}
	return uint64((deadline-1)/w.tick) + 1
}

// time is when a tick is over; the end of time if that is later.
func (w *Wheel) time(tick uint64) time.Duration {
	if tick > uint64(math.MaxInt64/w.tick) {
		return math.MaxInt64
	}
	return time.Duration(tick) * w.tick
}

// following is the next deadline of a timer that repeats.
func following(deadline, every, now time.Duration) time.Duration {
	if missed := now - deadline; missed >= every {
		deadline += missed / every * every
	}
	if deadline > math.MaxInt64-every {
		return math.MaxInt64
	}
	return deadline + every
}
