package actor

import (
	"fmt"
	"time"

	"github.com/actua/actua/actor/internal/wheel"
)

// Timers sends messages to the actor itself, each timer under a key: a timer that is started under a key in
// use replaces the other. After a timer was cancelled or replaced its message never arrives, even if it stood
// in the mailbox already. All are cancelled when the actor restarts or stops. (Akka.NET: ITimerScheduler.)
//
// Keys are any comparable values; another one panics. So do a nil message, a negative delay, and an interval that
// is not positive. It must be used only within the actor, as its Context. For the resolution see Scheduler.
type Timers struct {
	scheduler *Scheduler
	self      interface{ tellNow(msg any, sender *Ref) }
	active    map[any]*keyedTimer
}

// keyedTimer is one timer. It is never used again, so that the identity of its message is the generation.
type keyedTimer struct {
	timer   wheel.Timer
	self    interface{ tellNow(msg any, sender *Ref) }
	message timerMessage
}

// timerMessage is what a timer puts into the mailbox: the cell unpacks it by accept before anybody sees it.
type timerMessage struct{ key, msg any }

func (m *timerMessage) unwrap() any { return m.msg }

// String is how it looks in a log.
func (m *timerMessage) String() string { return fmt.Sprintf("%v (of timer %v)", m.msg, m.key) }

// Run is called by the scheduler.
func (k *keyedTimer) Run() { k.self.tellNow(&k.message, nil) }

// newTimers makes the timers of one actor: self is its reference.
func newTimers(s *Scheduler, self interface{ tellNow(msg any, sender *Ref) }) *Timers {
	return &Timers{scheduler: s, self: self}
}

// StartSingleTimer sends msg once, after the delay.
func (t *Timers) StartSingleTimer(key, msg any, delay time.Duration) {
	t.start(key, msg, delay, 0)
}

// StartPeriodicTimer sends msg each interval, the first time after one.
func (t *Timers) StartPeriodicTimer(key, msg any, interval time.Duration) {
	t.StartPeriodicTimerWithInitialDelay(key, msg, interval, interval)
}

// StartPeriodicTimerWithInitialDelay sends msg after the initial delay and then each interval. The times do not
// drift; those that pass while the machine sleeps are made up for by one message.
func (t *Timers) StartPeriodicTimerWithInitialDelay(key, msg any, initial, interval time.Duration) {
	checkInterval(interval)
	t.start(key, msg, initial, interval)
}

func (t *Timers) start(key, msg any, delay, interval time.Duration) {
	checkDelay(delay)
	if msg == nil {
		panic("actor: a timer was started with a nil message")
	}
	t.Cancel(key)
	k := &keyedTimer{self: t.self, message: timerMessage{key, msg}}
	k.timer.Do, k.timer.Every = k, interval
	if !t.scheduler.add(&k.timer, delay) {
		return // the system has terminated
	}
	if t.active == nil {
		t.active = make(map[any]*keyedTimer)
	}
	t.active[key] = k
}

// Cancel ends a timer. A key that is not in use is no error.
func (t *Timers) Cancel(key any) {
	if k := t.active[key]; k != nil {
		t.scheduler.remove(&k.timer)
		delete(t.active, key)
	}
}

// CancelAll ends all timers. It may be called on nil.
func (t *Timers) CancelAll() {
	if t == nil {
		return
	}
	for _, k := range t.active {
		t.scheduler.remove(&k.timer)
	}
	clear(t.active)
}

// IsActive reports whether the key is in use: that of a single timer is until the actor receives its message.
func (t *Timers) IsActive(key any) bool { return t.active[key] != nil }

// Keys are those of the active timers, in no particular order.
func (t *Timers) Keys() []any {
	keys := make([]any, 0, len(t.active))
	for key := range t.active {
		keys = append(keys, key)
	}
	return keys
}

// accept unpacks a message of a timer when the actor is to receive it. False means that the timer was cancelled
// or replaced since, or belonged to what the actor was before a restart: nobody must see it. t may be nil.
func (t *Timers) accept(m *timerMessage) (msg any, ok bool) {
	if t == nil {
		return nil, false
	}
	k := t.active[m.key]
	if k == nil || &k.message != m {
		return nil, false
	}
	if k.timer.Every == 0 {
		delete(t.active, m.key)
	}
	return m.msg, true
}
