package testkit

import (
	"fmt"
	"sync"
	"time"

	"github.com/actua/actua/actor"
)

// VirtualTime is a clock for tests: it stands still until Advance moves it. Several systems may share one. The
// zero value is ready and begins at the zero time.
//
// A system with virtual time schedules with a resolution of 1 ms. Advance runs what the schedulers have to do on
// the goroutine that calls it. That is deterministic; what the actors then do with their messages is, if they use
// the calling-thread dispatcher.
type VirtualTime struct {
	mu        sync.Mutex
	now       time.Time
	set       []*virtualAlarm // those that are set
	made      uint64
	advancing bool
}

type virtualAlarm struct {
	clock *VirtualTime
	order uint64 // of those for the same time the one that was made first goes first
	at    time.Time
	wake  func()
}

// NewVirtualTime makes a clock that begins at a time.
func NewVirtualTime(start time.Time) *VirtualTime { return &VirtualTime{now: start} }

// Now is the virtual time. For what runs within Advance that is the time for which it was scheduled.
func (v *VirtualTime) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// Advance moves the time by d and runs everything that is due until then, in order, before it returns; that
// includes what is scheduled meanwhile, if it is due within d. 0 runs only what is due already. It panics if
// d is negative, and when it is called while another Advance of the same clock runs.
func (v *VirtualTime) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("testkit: virtual time cannot go back by %v", -d))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.advancing {
		panic("testkit: Advance was called while another Advance of the same clock runs")
	}
	v.advancing = true
	defer func() { v.advancing = false }()
	end := v.now.Add(d)
	for a := v.next(end); a != nil; a = v.next(end) {
		if a.at.After(v.now) {
			v.now = a.at
		}
		v.call(a.wake)
	}
	v.now = end
}

// call gives the lock away while an alarm works.
func (v *VirtualTime) call(wake func()) {
	v.mu.Unlock()
	defer v.mu.Lock()
	wake()
}

// next takes the alarm that goes off first, nil if there is none until the end.
func (v *VirtualTime) next(end time.Time) *virtualAlarm {
	first := -1
	for i, a := range v.set {
		if a.at.After(end) {
			continue
		}
		if first < 0 || a.at.Before(v.set[first].at) || (a.at.Equal(v.set[first].at) && a.order < v.set[first].order) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	a := v.set[first]
	v.remove(a)
	return a
}

// NewAlarm is what a system calls.
func (v *VirtualTime) NewAlarm(wake func()) actor.Alarm {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made++
	return &virtualAlarm{clock: v, order: v.made, wake: wake}
}

// Resolution is 1 ms.
func (v *VirtualTime) Resolution() time.Duration { return time.Millisecond }

// Set lets the alarm go off within the Advance that reaches the time.
func (a *virtualAlarm) Set(at time.Time) {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.clock.remove(a)
	a.at = at
	a.clock.set = append(a.clock.set, a)
}

// Stop takes back what was set.
func (a *virtualAlarm) Stop() {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.clock.remove(a)
}

// remove takes an alarm off the list, if it is on it; the lock is held.
func (v *VirtualTime) remove(a *virtualAlarm) {
	for i := range v.set {
		if v.set[i] == a {
			last := len(v.set) - 1
			v.set[i], v.set[last] = v.set[last], nil
			v.set = v.set[:last]
			return
		}
	}
}
