package actor

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/actua/actua/actor/internal/wheel"
)

// lingerTicks is for how long, in ticks, an alarm stays set after the last timer was removed.
const lingerTicks = 10

// Scheduler runs functions and sends messages after a delay, once or repeatedly. Each system has one.
//
// It is Akka.NET's (akka.scheduler): a timing wheel with a tick of 10 ms. What is scheduled happens at the
// first tick after its delay, never early; a delay of 0 means the next tick. All that is due at a tick
// happens in the order of the times asked for, then in that of the calls.
//
// Functions run one after another on a goroutine of the scheduler, which exists only while something is due:
// they must not block, as everything else that is due waits for them, the timeouts of ask included. A function
// that panics is logged, and repeats if it was to. To work with the state of an actor, send it a message instead.
//
// A negative delay, an interval that is not positive, and a nil function, message or recipient are mistakes of
// the program: the methods panic, where Akka.NET throws ArgumentOutOfRangeException. After the system has
// terminated nothing happens any more, and what is scheduled then is cancelled from the start.
type Scheduler struct {
	clock   Clock
	machine bool // the clock is the machine's: read it without the detour
	origin  time.Time
	failed  func(err error, stack []byte)
	linger  time.Duration

	mu    sync.Mutex
	wheel *wheel.Wheel
	alarm Alarm
	// wakeAt is when the alarm goes off, never after the first timer is due; notSet if it is not set.
	wakeAt time.Duration
	// lingering is true when the alarm is set although the wheel was empty.
	lingering bool
	firing    bool
	closed    bool
	quiet     chan struct{} // made by close, closed when nothing is running any more
}

const notSet time.Duration = math.MaxInt64

// newScheduler makes a scheduler. A clock of nil is the machine's, a tick of 0 the clock's resolution or 10 ms,
// slots of 0 Akka.NET's 512. failed is told of functions that panicked, with their stacks; it may be nil.
func newScheduler(clock Clock, tick time.Duration, slots int, failed func(err error, stack []byte)) *Scheduler {
	clock = clockOr(clock)
	if tick <= 0 {
		tick = clock.Resolution()
	}
	s := &Scheduler{clock: clock, failed: failed, origin: clock.Now(), wheel: wheel.New(tick, slots), wakeAt: notSet}
	_, s.machine = clock.(machineClock)
	if s.linger = s.wheel.Tick(); s.linger < math.MaxInt64/lingerTicks {
		s.linger *= lingerTicks
	}
	return s
}

// Cancelable is what was scheduled. The zero value is something that has happened.
type Cancelable struct {
	timer     wheel.Timer
	scheduler *Scheduler
	cancelled bool
}

// Cancel prevents what was scheduled, and further repetitions of it. It does not wait for a function that is
// running at this moment. To cancel again, or what has happened, is harmless.
func (c *Cancelable) Cancel() {
	if s := c.scheduler; s != nil {
		s.mu.Lock()
		c.cancelled = true
		s.drop(&c.timer)
		s.mu.Unlock()
	}
}

// IsCancelled reports whether Cancel was called, or whether the system had terminated when this was scheduled.
func (c *Cancelable) IsCancelled() bool {
	if c.scheduler == nil {
		return false
	}
	c.scheduler.mu.Lock()
	defer c.scheduler.mu.Unlock()
	return c.cancelled
}

// action is a scheduled function.
type action struct {
	Cancelable
	f func()
}

// Run calls the function.
func (a *action) Run() { a.f() }

// ScheduleOnce calls f after the delay. See Scheduler for where f runs and what it must not do.
func (s *Scheduler) ScheduleOnce(delay time.Duration, f func()) *Cancelable {
	checkFunction(f)
	a := &action{f: f}
	return s.schedule(&a.Cancelable, a, delay, 0)
}

// ScheduleRepeatedly calls f after the initial delay and then each interval. The times do not drift, however
// late or long f is. Those that pass while f runs or the machine sleeps are left out: f is called once to
// catch up, and then at the next multiple of the interval. It is called at most once a tick.
func (s *Scheduler) ScheduleRepeatedly(initial, interval time.Duration, f func()) *Cancelable {
	checkFunction(f)
	checkInterval(interval)
	a := &action{f: f}
	return s.schedule(&a.Cancelable, a, initial, interval)
}

func checkFunction(f func()) {
	if f == nil {
		panic("actor: a nil function was scheduled")
	}
}

func checkDelay(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("actor: the delay %v is negative", d))
	}
}

func checkInterval(d time.Duration) {
	if d <= 0 {
		panic(fmt.Sprintf("actor: the interval %v is not positive", d))
	}
}

func (s *Scheduler) schedule(c *Cancelable, do wheel.Runner, delay, interval time.Duration) *Cancelable {
	checkDelay(delay)
	c.scheduler = s
	c.timer.Do, c.timer.Every = do, interval
	if !s.add(&c.timer, delay) {
		c.cancelled = true // nobody else has it yet
	}
	return c
}

// add adds a timer of the runtime's own, or moves it if it is pending, so that its Do runs in d (at least 0),
// and with Every again and again. It returns false, and has done nothing, if the scheduler is closed.
// Nothing is allocated. Do runs without a lock, and may add and remove timers, this one included.
func (s *Scheduler) add(t *wheel.Timer, d time.Duration) bool {
	// The clock is read before the lock is taken, so that it is held for a shorter time: a timer that
	// comes too late for its tick gets the next one.
	now := s.now()
	d = min(max(d, 0), math.MaxInt64-now)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	if d == 0 {
		s.wheel.Reach(now) // so that it means the next tick also at the very beginning of one
	}
	if at := s.wheel.Add(t, now+d); at < s.wakeAt && !s.firing {
		s.arm(at)
	}
	s.mu.Unlock()
	return true
}

// remove takes back a timer. It returns true if the timer was pending, and its Do will not run (again). It
// returns false if it was not: then a Do that is due may be running, or be about to.
func (s *Scheduler) remove(t *wheel.Timer) bool {
	s.mu.Lock()
	was := s.drop(t)
	s.mu.Unlock()
	return was
}

// drop is remove for who holds the lock.
func (s *Scheduler) drop(t *wheel.Timer) bool {
	was := s.wheel.Remove(t)
	// An empty wheel needs no alarm. But where asks come and are answered all the time, the next timer
	// comes at once, and to set an alarm costs more than all the rest: so it is moved near, once.
	if was && s.wheel.Len() == 0 && !s.lingering && !s.firing && !s.closed {
		s.lingering = true
		if at := s.now() + s.linger; at < s.wakeAt {
			s.arm(at)
		}
	}
	return was
}

// now is the time since the origin.
func (s *Scheduler) now() time.Duration {
	if s.machine {
		return time.Since(s.origin)
	}
	return max(s.clock.Now().Sub(s.origin), 0)
}

// arm sets the alarm; the lock is held.
func (s *Scheduler) arm(at time.Duration) {
	if s.alarm == nil {
		s.alarm = s.clock.NewAlarm(s.wake)
	}
	s.wakeAt = at
	s.alarm.Set(s.origin.Add(at))
}

// wake is called by the alarm, also too often or twice at once, and runs what is due.
func (s *Scheduler) wake() {
	s.mu.Lock()
	if s.firing || s.closed {
		s.mu.Unlock()
		return
	}
	s.firing, s.lingering, s.wakeAt = true, false, notSet
	s.mu.Unlock()
	defer s.rest() // deferred: a function may end this goroutine by runtime.Goexit, as testing.T.FailNow does
	now := s.now()
	for do := s.due(now); do != nil; do = s.due(now) {
		s.run(do)
	}
}

// due takes the next timer that is due off the wheel.
func (s *Scheduler) due(now time.Duration) wheel.Runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.wheel.Advance(now); t != nil {
		return t.Do
	}
	return nil
}

// rest is the end of wake: it sets the alarm for what comes next.
func (s *Scheduler) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.firing = false
	if s.closed {
		if s.quiet != nil {
			close(s.quiet)
		}
		return
	}
	if at, ok := s.wheel.Next(); ok {
		s.arm(at)
	} else {
		s.alarm.Stop() // a call that came late may have left it set
	}
}

func (s *Scheduler) run(do wheel.Runner) {
	defer func() {
		if v := recover(); v != nil {
			s.report(v, debug.Stack())
		}
	}()
	do.Run()
}

func (s *Scheduler) report(v any, stack []byte) {
	defer func() { _ = recover() }() // a log handler that panics must not end the scheduler either
	err, ok := v.(error)
	if ok {
		err = fmt.Errorf("actor: a scheduled function panicked: %w", err)
	} else {
		err = fmt.Errorf("actor: a scheduled function panicked: %v", v)
	}
	if s.failed != nil {
		s.failed(err, stack)
	}
}

// lastWord is the Do of a timer of the runtime's own that must hear of it when the scheduler closes, as somebody
// waits for it who would wait for ever: an ask.
type lastWord interface {
	// schedulerClosed is called instead of Run, at most once, without a lock.
	schedulerClosed()
}

// close drops all timers and ends the scheduler: no function begins to run after it, but one whose turn has just
// come. It tells each lastWord. It waits for nothing, so that a scheduled function may call it; the channel is closed
// as soon as none is running any more.
func (s *Scheduler) close() <-chan struct{} {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return s.quiet
	}
	s.closed = true
	s.quiet = make(chan struct{})
	var waiting []lastWord
	s.wheel.Clear(func(t *wheel.Timer) {
		if w, ok := t.Do.(lastWord); ok {
			waiting = append(waiting, w)
		}
	})
	if s.alarm != nil {
		s.alarm.Stop()
	}
	if !s.firing {
		close(s.quiet)
	}
	s.mu.Unlock()
	for _, w := range waiting {
		w.schedulerClosed()
	}
	return s.quiet
}
