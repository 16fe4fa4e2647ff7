package actor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/testkit"
)

const ms = time.Millisecond

var day = time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)

// bench is a scheduler on virtual time, and what happened on it.
type bench struct {
	*actor.Scheduler
	clock  *testkit.VirtualTime
	t      *testing.T
	mu     sync.Mutex
	events []string
}

func newBench(t *testing.T) *bench {
	b := &bench{clock: testkit.NewVirtualTime(day), t: t}
	b.Scheduler = actor.NewScheduler(b.clock, 0, 0, func(err error, stack []byte) {
		if !strings.Contains(string(stack), "scheduler_test.go") {
			t.Errorf("the stack does not show where it was:\n%s", stack)
		}
		b.note(err.Error())
	})
	return b
}

func (b *bench) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, fmt.Sprintf("%v %s", b.clock.Now().Sub(day), what))
}

// log is a function that notes its name.
func (b *bench) log(what string) func() { return func() { b.note(what) } }

// want compares what has happened since the last call.
func (b *bench) want(events ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if got, want := strings.Join(b.events, ", "), strings.Join(events, ", "); got != want {
		b.t.Errorf("got  %s\nwant %s", got, want)
	}
	b.events = nil
}

func panics(t *testing.T, what, message string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), message) {
			t.Errorf("%s: panicked with %v, want %q", what, v, message)
		}
	}()
	f()
}

func TestSchedulerRejectsMistakes(t *testing.T) {
	b := newBench(t)
	panics(t, "negative delay", "delay -1ms is negative", func() { b.ScheduleOnce(-ms, b.log("")) })
	panics(t, "negative initial delay", "delay -1ms is negative", func() { b.ScheduleRepeatedly(-ms, ms, b.log("")) })
	panics(t, "no interval", "interval 0s is not positive", func() { b.ScheduleRepeatedly(0, 0, b.log("")) })
	panics(t, "negative interval", "interval -1ns is not positive", func() { b.ScheduleRepeatedly(0, -1, b.log("")) })
	panics(t, "no function", "nil function", func() { b.ScheduleOnce(0, nil) })
	panics(t, "no function", "nil function", func() { b.ScheduleRepeatedly(0, ms, nil) })
	panics(t, "no recipient", "nil reference", func() { b.ScheduleTellOnce(0, nil, 1, nil) })
	panics(t, "no recipient", "nil reference", func() { b.ScheduleTellRepeatedly(0, ms, nil, 1, nil) })
	panics(t, "no interval", "not positive", func() { b.ScheduleTellRepeatedly(0, 0, nil, 1, nil) })
	panics(t, "no message", "nil message", func() { b.ScheduleTell(0, 0, &actor.Letterbox{}, nil, nil) })
	if b.Pending() != 0 || b.Armed() {
		t.Error("a mistake left something behind")
	}
}

func TestAPanicEndsNeitherTheSchedulerNorTheRepetition(t *testing.T) {
	b := newBench(t)
	cause := errors.New("broken")
	b.ScheduleRepeatedly(10*ms, 10*ms, func() { panic("oops") })
	b.ScheduleOnce(10*ms, func() { panic(cause) })
	b.ScheduleOnce(10*ms, b.log("after"))
	b.clock.Advance(20 * ms)
	b.want("10ms actor: a scheduled function panicked: oops", "10ms actor: a scheduled function panicked: broken",
		"10ms after", "20ms actor: a scheduled function panicked: oops")

	s := actor.NewScheduler(b.clock, 0, 0, func(err error, _ []byte) {
		if !errors.Is(err, cause) {
			t.Errorf("the cause is lost: %v", err)
		}
		panic("the log is broken too")
	})
	s.ScheduleOnce(0, func() { panic(cause) })
	s.ScheduleOnce(0, b.log("still alive"))
	actor.NewScheduler(b.clock, 0, 0, nil).ScheduleOnce(0, func() { panic("nobody is told") })
	b.clock.Advance(ms)
	b.want("21ms still alive")
}

func TestAFunctionThatEndsItsGoroutine(t *testing.T) {
	s := actor.NewScheduler(nil, ms, 0, nil)
	done := make(chan struct{})
	s.ScheduleOnce(0, runtime.Goexit)
	s.ScheduleOnce(0, func() { close(done) })
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the scheduler died with the goroutine")
	}
	<-s.Close()
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	var zero actor.Cancelable
	zero.Cancel()
	if zero.IsCancelled() {
		t.Error("the zero value is cancelled")
	}
	once, again := b.ScheduleOnce(10*ms, b.log("once")), b.ScheduleRepeatedly(10*ms, 10*ms, b.log("again"))
	if once.IsCancelled() || again.IsCancelled() {
		t.Error("cancelled from the start")
	}
	once.Cancel()
	once.Cancel()
	b.clock.Advance(20 * ms)
	b.want("10ms again", "20ms again")
	again.Cancel()
	if !once.IsCancelled() || !again.IsCancelled() || b.Pending() != 0 {
		t.Error("not cancelled")
	}
	b.clock.Advance(time.Hour)
	b.want()

	fired := b.ScheduleOnce(0, b.log("fired"))
	b.clock.Advance(10 * ms)
	fired.Cancel()
	b.clock.Advance(time.Hour)
	b.want("1h0m0.021s fired")
}

func TestCancelByAFunctionOfTheSameTick(t *testing.T) {
	b := newBench(t)
	var own, other, repeated *actor.Cancelable
	own = b.ScheduleRepeatedly(10*ms, 10*ms, func() {
		b.note("own")
		own.Cancel()
		other.Cancel()
		repeated.Cancel()
	})
	other = b.ScheduleOnce(10*ms, b.log("other"))
	repeated = b.ScheduleRepeatedly(10*ms, 10*ms, b.log("repeated"))
	b.clock.Advance(time.Second)
	b.want("10ms own")
}

func TestAfterClose(t *testing.T) {
	b := newBench(t)
	var timer actor.Timer
	b.Add(&timer, ms)
	pending := b.ScheduleRepeatedly(ms, ms, b.log("pending"))
	b.ScheduleOnce(0, func() {
		b.note("closes")
		quiet := b.Close()
		select {
		case <-quiet:
			t.Error("quiet while a function runs")
		default:
		}
		b.ScheduleOnce(0, b.log("added by the last one"))
	})
	b.ScheduleOnce(0, b.log("due in the same tick"))
	b.clock.Advance(time.Second)
	b.want("1ms closes")
	<-b.Close()
	<-b.Close()
	if b.Pending() != 0 || timer.Pending() {
		t.Error("timers are pending")
	}
	if !b.Remove(&timer) || b.Remove(&timer) || b.Add(&timer, 0) || timer.Pending() {
		t.Error("a dropped timer will not fire: Remove says so once, and Add does nothing")
	}
	pending.Cancel()
	for _, c := range []*actor.Cancelable{
		pending, b.ScheduleOnce(0, b.log("late")), b.ScheduleRepeatedly(0, ms, b.log("late")), b.ScheduleTell(0, 0, &actor.Letterbox{}, 1, nil),
	} {
		if !c.IsCancelled() {
			t.Error("not cancelled")
		}
		c.Cancel()
	}
	b.clock.Advance(time.Hour)
	b.want()
	<-actor.NewScheduler(nil, 0, 0, nil).Close() // one that never had anything to do
}

func TestCloseTellsThoseWhoWait(t *testing.T) {
	b := newBench(t)
	told, gone := actor.Timer{}, actor.Timer{}
	told.Do = actor.Waiter{F: func() {
		b.note("told")
		if !b.Remove(&told) || b.Add(&told, ms) {
			t.Error("a waiter may use the scheduler: it is closed")
		}
	}}
	gone.Do = actor.Waiter{F: b.log("removed before")}
	b.Add(&told, time.Hour)
	b.Add(&gone, time.Hour)
	b.Remove(&gone)
	b.Close()
	b.Close()
	b.want("0s told")
}

func TestCloseWhileAFunctionRuns(t *testing.T) {
	s := actor.NewScheduler(nil, ms, 0, nil)
	started, end := make(chan struct{}), make(chan struct{})
	var late atomic.Bool
	s.ScheduleOnce(0, func() { close(started); <-end })
	s.ScheduleOnce(0, func() { late.Store(true) })
	<-started
	quiet := s.Close() // does not wait
	select {
	case <-quiet:
		t.Error("quiet while a function runs")
	default:
	}
	close(end)
	<-quiet
	if late.Load() {
		t.Error("a function began after Close")
	}
}

func TestDelays(t *testing.T) {
	b := newBench(t)
	b.ScheduleOnce(3*ms, b.log("3"))
	b.ScheduleOnce(0, b.log("0"))
	b.ScheduleOnce(2500*time.Microsecond, b.log("2.5"))
	b.ScheduleOnce(3*ms, b.log("3 again"))
	b.ScheduleOnce(2*time.Hour, b.log("2h"))
	b.ScheduleOnce(math.MaxInt64, b.log("never"))
	b.clock.Advance(0)
	b.clock.Advance(ms - 1)
	b.want()
	b.clock.Advance(1)
	b.want("1ms 0")
	b.clock.Advance(2 * ms)
	b.want("3ms 2.5", "3ms 3", "3ms 3 again")
	b.clock.Advance(2*time.Hour - 3*ms - 1)
	b.want()
	b.clock.Advance(1)
	b.want("2h0m0s 2h")
	b.clock.Advance(100 * 365 * 24 * time.Hour)
	b.want()
}

func TestADelayWithinATick(t *testing.T) {
	b := newBench(t)
	b.clock.Advance(300 * time.Microsecond)
	b.ScheduleOnce(2*ms, b.log("2.3"))
	b.clock.Advance(2 * ms)
	b.want() // 2.3 ms: the tick is not over
	b.clock.Advance(ms)
	b.want("3ms 2.3")
}

func TestWhatIsScheduledByAFunction(t *testing.T) {
	b := newBench(t)
	n := 0
	var again func()
	again = func() {
		n++
		b.ScheduleOnce(0, again) // once a tick, and not for ever in one
	}
	b.ScheduleOnce(0, again)
	b.ScheduleOnce(5*ms, func() {
		b.note("first")
		b.ScheduleOnce(5*ms, b.log("second"))
		b.ScheduleOnce(5*ms+1, b.log("too late"))
	})
	b.clock.Advance(10 * ms)
	b.want("5ms first", "10ms second")
	if n != 10 {
		t.Errorf("%d calls in 10 ticks", n)
	}
}

func TestRepetition(t *testing.T) {
	b := newBench(t)
	c := b.ScheduleRepeatedly(0, 2500*time.Microsecond, b.log("a"))
	b.clock.Advance(11 * ms)
	// The times asked for are 0, 2.5, 5, 7.5 and 10 ms: no drift by the ticks.
	b.want("1ms a", "3ms a", "5ms a", "8ms a", "10ms a")
	c.Cancel()
	n := 0
	c = b.ScheduleRepeatedly(time.Second, time.Second, func() { n++ })
	b.clock.Advance(time.Hour)
	c.Cancel()
	if n != 3600 {
		t.Errorf("%d calls in an hour", n)
	}
}

// manual is a clock whose alarm goes off only when the test says so.
type manual struct {
	mu          sync.Mutex
	now         time.Time
	wake        func()
	sets, stops int
}

func (m *manual) Now() time.Time                   { m.mu.Lock(); defer m.mu.Unlock(); return m.now }
func (m *manual) Resolution() time.Duration        { return 0 }
func (m *manual) NewAlarm(wake func()) actor.Alarm { m.wake = wake; return m }
func (m *manual) Set(time.Time)                    { m.sets++ }
func (m *manual) Stop()                            { m.stops++ }
func (m *manual) move(d time.Duration)             { m.mu.Lock(); defer m.mu.Unlock(); m.now = m.now.Add(d) }
func (m *manual) scheduler() *actor.Scheduler      { return actor.NewScheduler(m, 0, 0, nil) }

func TestNoBurstAfterAPause(t *testing.T) {
	clock := &manual{now: day}
	s := clock.scheduler()
	n := 0
	s.ScheduleRepeatedly(100*ms, 100*ms, func() {
		if n++; n == 3 {
			clock.move(350 * ms) // a slow one: the second wake makes up for three with one call
		}
	})
	for _, c := range []struct {
		pause time.Duration
		n     int
	}{{99 * ms, 0}, {ms, 1}, {time.Hour, 2}, {99 * ms, 2}, {ms, 4}, {49 * ms, 4}, {ms, 5}, {-time.Hour, 5}, {time.Hour, 5}} {
		clock.move(c.pause)
		clock.wake()
		clock.wake() // too often is harmless
		if n != c.n {
			t.Errorf("after %v: %d calls, want %d", c.pause, n, c.n)
		}
	}
}

func TestAlarmsThatOverlap(t *testing.T) {
	clock := &manual{now: day}
	s := clock.scheduler()
	n := 0
	s.ScheduleRepeatedly(10*ms, 10*ms, func() {
		n++
		clock.move(20 * ms)
		done := make(chan struct{})
		go func() { defer close(done); clock.wake() }()
		<-done
	})
	clock.move(10 * ms)
	clock.wake()
	if n != 1 {
		t.Errorf("%d calls at once", n)
	}
}

// TestAsksDoNotThrash has timers that come and go while the wheel is empty in between.
func TestAsksDoNotThrash(t *testing.T) {
	clock := &manual{now: day}
	s := clock.scheduler()
	var timer actor.Timer
	for range 100_000 {
		s.Add(&timer, 5*time.Second)
		s.Remove(&timer)
	}
	if clock.sets != 2 {
		t.Errorf("the alarm was set %d times, want 2: for the first timer, and near when it was removed", clock.sets)
	}
	clock.move(100 * ms)
	clock.wake()
	if s.Armed() || clock.stops != 1 {
		t.Error("the alarm is set although nothing has happened for 10 ticks")
	}
	s.ScheduleOnce(10*ms, func() {
		for range 100 {
			s.ScheduleOnce(10*ms, func() {}).Cancel()
			s.ScheduleOnce(20*ms, func() {})
		}
	})
	clock.move(10 * ms)
	clock.wake()
	if clock.sets != 4 {
		t.Errorf("the alarm was set %d times, want once more for the first and once at the end", clock.sets)
	}
}

func TestIdleSchedulerHasNoGoroutineAndNoAlarm(t *testing.T) {
	b := newBench(t)
	b.ScheduleOnce(5*time.Second, b.log("5 s")).Cancel()
	if !b.Armed() {
		t.Error("the alarm should linger")
	}
	for range 3 {
		b.clock.Advance(actor.LingerTicks * ms)
		if b.Armed() {
			t.Error("the alarm is set, with nothing to do")
		}
		b.ScheduleOnce(time.Hour, b.log("1 h")).Cancel()
	}
	b.clock.Advance(actor.LingerTicks * ms)
	b.ScheduleOnce(5*time.Second, b.log("5 s"))
	b.clock.Advance(5 * time.Second)
	b.want("5.04s 5 s")
	if b.Armed() {
		t.Error("the alarm is set, with nothing to do")
	}

	before := runtime.NumGoroutine()
	var all []*actor.Scheduler
	var wg sync.WaitGroup
	for range 100 {
		s := actor.NewScheduler(nil, ms, 0, nil)
		wg.Add(1)
		s.ScheduleOnce(0, wg.Done)
		s.ScheduleOnce(time.Hour, func() {}) // waits without a goroutine
		all = append(all, s)
	}
	wg.Wait()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	for _, s := range all {
		<-s.Close()
	}
}

func TestNeverEarlyOnTheMachinesClock(t *testing.T) {
	s := actor.NewScheduler(nil, ms, 0, nil)
	var wg sync.WaitGroup
	var early atomic.Int64
	for range 500 {
		d := time.Duration(rand.Int64N(int64(30 * ms)))
		wg.Add(1)
		start := time.Now()
		s.ScheduleOnce(d, func() {
			if time.Since(start) < d {
				early.Add(1)
			}
			wg.Done()
		})
	}
	wg.Wait()
	if n := early.Load(); n > 0 {
		t.Errorf("%d of 500 were early", n)
	}
	<-s.Close()
}

// TestRandomUseFromManyGoroutines counts: what was not removed in time runs exactly once, what was never.
func TestRandomUseFromManyGoroutines(t *testing.T) {
	s := actor.NewScheduler(nil, ms, 8, nil)
	const goroutines, each = 8, 2000
	type counted struct {
		timer    actor.Timer
		ran      atomic.Int32
		min, max int32
	}
	all := make([][]*counted, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				c := &counted{min: 1, max: 1}
				c.timer.Do = runner(func() { c.ran.Add(1) })
				s.Add(&c.timer, time.Duration(rand.Int64N(int64(40*ms))))
				switch i % 3 {
				case 0:
					if s.Remove(&c.timer) {
						c.min, c.max = 0, 0
					}
				case 1: // moved, or added again if it has run
					s.Add(&c.timer, time.Duration(rand.Int64N(int64(20*ms))))
					c.max = 2
				}
				all[g] = append(all[g], c)
			}
		})
	}
	wg.Wait()
	for s.Pending() > 0 {
		runtime.Gosched()
	}
	<-s.Close()
	for _, list := range all {
		for _, c := range list {
			if n := c.ran.Load(); n < c.min || n > c.max {
				t.Fatalf("ran %d times, want %d to %d", n, c.min, c.max)
			}
		}
	}
}

type runner func()

func (r runner) Run() { r() }

func TestSchedulerAllocations(t *testing.T) {
	s := actor.NewScheduler(nil, 0, 0, nil)
	var timer actor.Timer
	f := func() {}
	s.Add(&timer, time.Hour)
	if n := testing.AllocsPerRun(1000, func() { s.Add(&timer, time.Hour); s.Remove(&timer) }); n != 0 {
		t.Errorf("the runtime's own timers: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { s.ScheduleOnce(time.Hour, f).Cancel() }); n != 1 {
		t.Errorf("a scheduled function: %v allocations, want 1", n)
	}
	<-s.Close()
}

func TestScheduledMessages(t *testing.T) {
	b := newBench(t)
	in, sender := &actor.Letterbox{}, &actor.Ref{}
	b.ScheduleTell(5*ms, 0, in, "once", sender)
	b.ScheduleTell(5*ms, 0, in, "cancelled", sender).Cancel()
	c := b.ScheduleTell(ms, 2*ms, in, "again", nil)
	b.clock.Advance(5 * ms)
	c.Cancel()
	b.clock.Advance(time.Second)
	if got := fmt.Sprint(in.Got); got != "[again again once again]" {
		t.Errorf("got %s", got)
	}
	if in.Senders[0] != nil || in.Senders[2] != sender {
		t.Error("wrong senders")
	}
}

func BenchmarkSchedulerAddRemove(b *testing.B) {
	b.ReportAllocs()
	s := actor.NewScheduler(nil, 0, 0, nil)
	var timer actor.Timer
	for range b.N {
		s.Add(&timer, 5*time.Second)
		s.Remove(&timer)
	}
	s.Close()
}

func BenchmarkSchedulerAddRemoveParallel(b *testing.B) {
	b.ReportAllocs()
	s := actor.NewScheduler(nil, 0, 0, nil)
	b.RunParallel(func(pb *testing.PB) {
		var timer actor.Timer
		for pb.Next() {
			s.Add(&timer, 5*time.Second)
			s.Remove(&timer)
		}
	})
	s.Close()
}

func BenchmarkScheduleOnceCancel(b *testing.B) {
	b.ReportAllocs()
	s := actor.NewScheduler(nil, 0, 0, nil)
	f := func() {}
	for range b.N {
		s.ScheduleOnce(5*time.Second, f).Cancel()
	}
	s.Close()
}

// A timer that fires, an operation: 1000 a tick on virtual time.
func BenchmarkSchedulerFire(b *testing.B) {
	b.ReportAllocs()
	clock := testkit.NewVirtualTime(day)
	s := actor.NewScheduler(clock, 0, 0, nil)
	n := 0
	count := runner(func() { n++ })
	timers := make([]actor.Timer, 1000)
	for n < b.N {
		for i := range timers {
			timers[i].Do = count
			s.Add(&timers[i], ms)
		}
		clock.Advance(ms)
	}
}
