package actor

import (
	"time"

	"github.com/actua/actua/actor/internal/wheel"
)

// What the tests of the scheduler and the timers need; they are outside the package, as testkit imports it.
type (
	Timer        = wheel.Timer
	TimerMessage = timerMessage
)

var (
	NewScheduler = newScheduler
	NewTimers    = newTimers
)

// Letterbox is a recipient that keeps what it gets.
type Letterbox struct {
	Got     []any
	Senders []*Ref
}

func (i *Letterbox) tellNow(msg any, sender *Ref) {
	i.Got = append(i.Got, msg)
	i.Senders = append(i.Senders, sender)
}

// Waiter is the Do of a timer that hears of the end.
type Waiter struct{ F func() }

func (w Waiter) Run() { panic("a waiter ran") }

func (w Waiter) schedulerClosed() { w.F() }

const LingerTicks = lingerTicks

func (s *Scheduler) Add(t *Timer, d time.Duration) bool { return s.add(t, d) }

func (s *Scheduler) Remove(t *Timer) bool { return s.remove(t) }

func (s *Scheduler) Close() <-chan struct{} { return s.close() }

func (s *Scheduler) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wheel.Len()
}

// Armed reports whether the alarm is set.
func (s *Scheduler) Armed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wakeAt != notSet
}

func (s *Scheduler) ScheduleTell(delay, interval time.Duration, to recipient, msg any, sender *Ref) *Cancelable {
	return s.scheduleTell(delay, interval, to, msg, sender)
}

func (t *Timers) Accept(m *TimerMessage) (any, bool) { return t.accept(m) }
