package actor

import (
	"math"
	"time"
)

// Clock is where a system takes its time from: timeouts, timers and everything that is scheduled go by it.
// Without one in the configuration it is the machine's. testkit.VirtualTime is one that stands still until a
// test moves it. Its methods are called from many goroutines.
type Clock interface {
	// Now is the time. It should not go back; the machine's does not, as it is read with its
	// monotonic part.
	Now() time.Time
	// NewAlarm makes an alarm that is not set. It calls wake each time it goes off: never within
	// Set, and never while it holds a lock that Now, Set or Stop needs. Calls may overlap.
	NewAlarm(wake func()) Alarm
	// Resolution is the tick of a scheduler whose configuration names none; 0 means Akka.NET's 10 ms.
	Resolution() time.Duration
}

// Alarm calls a function once when a time has come. A Scheduler has one.
type Alarm interface {
	// Set lets the alarm go off at the time, or soon if that has passed, and never before it. It
	// replaces the time that was set before.
	Set(at time.Time)
	// Stop takes back what was set. A call that has begun goes on.
	Stop()
}

// machineClock is the machine's time. Its alarm is a timer of Go's runtime, which waits without a goroutine.
type machineClock struct{}

type machineAlarm struct{ timer *time.Timer }

// clockOr is the clock of a configuration: nil means the machine's.
func clockOr(c Clock) Clock {
	if c == nil {
		return machineClock{}
	}
	return c
}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Resolution() time.Duration { return 0 }

func (machineClock) NewAlarm(wake func()) Alarm {
	t := time.AfterFunc(math.MaxInt64, wake)
	t.Stop()
	return machineAlarm{t}
}

func (a machineAlarm) Set(at time.Time) { a.timer.Reset(time.Until(at)) }

func (a machineAlarm) Stop() { a.timer.Stop() }
