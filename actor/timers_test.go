package actor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/testkit"
)

// owner is an actor with timers: its mailbox fills by itself, and is emptied by receive.
type owner struct {
	*actor.Timers
	mailbox actor.Letterbox
	clock   *testkit.VirtualTime
	s       *actor.Scheduler
	t       *testing.T
}

func newOwner(t *testing.T) *owner {
	o := &owner{clock: testkit.NewVirtualTime(day), t: t}
	o.s = actor.NewScheduler(o.clock, 0, 0, func(err error, _ []byte) { t.Error(err) })
	o.Timers = actor.NewTimers(o.s, &o.mailbox)
	return o
}

// receive is what the actor gets of its mailbox.
func (o *owner) receive() (got []any) {
	for _, m := range o.mailbox.Got {
		if msg, ok := o.Accept(m.(*actor.TimerMessage)); ok {
			got = append(got, msg)
		}
	}
	o.mailbox.Got = nil
	return got
}

func (o *owner) want(what, want string) {
	o.t.Helper()
	if got := fmt.Sprint(o.receive()); got != want {
		o.t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

func TestTimersRejectMistakes(t *testing.T) {
	o := newOwner(t)
	o.StartSingleTimer("key", "kept", ms)
	panics(t, "delay", "negative", func() { o.StartSingleTimer("key", 1, -1) })
	panics(t, "message", "nil message", func() { o.StartSingleTimer("key", nil, ms) })
	panics(t, "interval", "not positive", func() { o.StartPeriodicTimer("key", 1, 0) })
	panics(t, "interval", "not positive", func() { o.StartPeriodicTimerWithInitialDelay("key", 1, ms, -ms) })
	panics(t, "initial delay", "negative", func() { o.StartPeriodicTimerWithInitialDelay("key", 1, -ms, ms) })
	panics(t, "key", "unhashable", func() { o.StartSingleTimer([]int{1}, 1, ms) })
	o.Cancel("unknown")
	if o.IsActive("unknown") || o.s.Pending() != 1 {
		t.Error("a mistake left something behind")
	}
	o.clock.Advance(ms)
	o.want("a mistake does not replace a timer", "[kept]")
}

func TestATimerThatWasCancelledOrReplacedIsNotReceived(t *testing.T) {
	o := newOwner(t)
	o.StartSingleTimer("cancelled", 1, ms)
	o.StartSingleTimer("replaced", 2, ms)
	o.StartSingleTimer("restarted", 3, ms)
	o.StartPeriodicTimer("periodic", 4, ms)
	o.StartSingleTimer("kept", 5, ms)
	o.clock.Advance(3 * ms) // all stand in the mailbox
	o.Cancel("cancelled")
	o.StartSingleTimer("replaced", "new", 2*ms)
	o.Cancel("restarted")
	o.StartSingleTimer("restarted", "new too", 2*ms)
	o.Cancel("periodic")
	o.StartSingleTimer("far", 6, time.Minute)
	o.StartSingleTimer("far", 7, 2*time.Minute)
	if n := o.s.Pending(); n != 3 {
		t.Errorf("%d timers are pending: what was replaced should be gone", n)
	}
	o.want("in the mailbox", "[5]")
	o.clock.Advance(time.Hour)
	o.want("later", "[new new too 7]")
	if len(o.Keys()) != 0 || o.s.Pending() != 0 {
		t.Errorf("left: %v", o.Keys())
	}
}

func TestCancelAllAndRestart(t *testing.T) {
	o := newOwner(t)
	o.StartSingleTimer(1, "single", ms)
	o.StartPeriodicTimer(nil, "periodic", ms) // nil is a key like others
	o.StartSingleTimer("far", "far", time.Hour)
	o.clock.Advance(ms)
	o.CancelAll()
	if o.s.Pending() != 0 || len(o.Keys()) != 0 {
		t.Error("timers are left")
	}
	o.StartSingleTimer(1, "of the new instance", ms)
	o.want("what the old instance had in the mailbox", "[]")
	o.clock.Advance(ms)
	o.want("the new one", "[of the new instance]")

	o.StartSingleTimer(1, "old", ms)
	o.clock.Advance(ms)
	old := o.Timers
	o.Timers = actor.NewTimers(o.s, &o.mailbox) // a cell that makes new ones for each instance
	old.CancelAll()
	o.StartSingleTimer(1, "new", ms)
	o.want("another instance", "[]")

	var none *actor.Timers
	none.CancelAll()
	if _, ok := none.Accept(&actor.TimerMessage{}); ok {
		t.Error("accepted by an actor without timers")
	}
}

func TestTimersAfterTheSystemHasTerminated(t *testing.T) {
	o := newOwner(t)
	o.StartSingleTimer(1, "before", ms)
	o.s.Close()
	o.StartSingleTimer(2, "after", ms)
	o.clock.Advance(time.Second)
	o.want("closed", "[]")
	if o.IsActive(2) {
		t.Error("a timer that cannot fire is active")
	}
	o.CancelAll()
}

func TestSingleAndPeriodicTimers(t *testing.T) {
	o := newOwner(t)
	o.StartSingleTimer("single", "s", 0)
	o.StartPeriodicTimer("periodic", "p", 2*ms)
	o.StartPeriodicTimerWithInitialDelay("delayed", "d", 5*ms, 2*ms)
	keys := o.Keys()
	slices.SortFunc(keys, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if fmt.Sprint(keys) != "[delayed periodic single]" {
		t.Errorf("keys: %v", keys)
	}
	o.clock.Advance(ms)
	if !o.IsActive("single") || !strings.Contains(fmt.Sprint(o.mailbox.Got[0]), "s (of timer single)") {
		t.Error("it is active until it is received")
	}
	o.want("1 ms", "[s]")
	if o.IsActive("single") || !o.IsActive("periodic") {
		t.Error("a single timer ends when it is received, a periodic one does not")
	}
	for _, want := range []string{"[p]", "[]", "[p]", "[d]", "[p]", "[d]"} {
		o.clock.Advance(ms)
		o.want(fmt.Sprint(o.clock.Now().Sub(day)), want)
	}
	o.StartSingleTimer("periodic", "single now", ms)
	o.clock.Advance(ms)
	o.want("replaced by a single one", "[single now]")
}

// TestTimersAtRandom checks the promise: what is received is the message of the timer that is under its key.
func TestTimersAtRandom(t *testing.T) {
	o := newOwner(t)
	type running struct {
		id       int
		periodic bool
	}
	current := map[any]running{}
	received := 0
	for id := range 20000 {
		key := rand.IntN(5)
		d := time.Duration(rand.IntN(5)) * ms
		switch rand.IntN(8) {
		case 0:
			o.StartSingleTimer(key, [2]int{key, id}, d)
			current[key] = running{id, false}
		case 1:
			o.StartPeriodicTimerWithInitialDelay(key, [2]int{key, id}, d, d+ms)
			current[key] = running{id, true}
		case 2:
			o.Cancel(key)
			delete(current, key)
		case 3:
			if rand.IntN(20) == 0 {
				o.CancelAll()
				clear(current)
			}
		case 4, 5:
			o.clock.Advance(d)
		default:
			for _, m := range o.receive() {
				received++
				m := m.([2]int)
				if c, ok := current[m[0]]; !ok || c.id != m[1] {
					t.Fatalf("step %d: received %v, the timer under this key is %v", id, m, c)
				} else if !c.periodic {
					delete(current, m[0])
				}
			}
		}
		if _, ok := current[key]; len(o.Keys()) != len(current) || o.IsActive(key) != ok {
			t.Fatalf("step %d: active are %v, want %v", id, o.Keys(), current)
		}
	}
	if received < 1000 {
		t.Errorf("only %d messages", received)
	}
}

func TestTimerAllocations(t *testing.T) {
	o := newOwner(t)
	o.StartPeriodicTimer("key", "m", ms)
	o.mailbox.Got = make([]any, 0, 10000)
	o.mailbox.Senders = make([]*actor.Ref, 0, 10000)
	if n := testing.AllocsPerRun(1000, func() { o.clock.Advance(ms) }); n != 0 {
		t.Errorf("a message of a periodic timer: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { o.StartSingleTimer("key", "m", time.Hour) }); n != 1 {
		t.Errorf("to start a timer: %v allocations, want 1", n)
	}
}

func BenchmarkStartSingleTimer(b *testing.B) {
	b.ReportAllocs()
	s := actor.NewScheduler(nil, 0, 0, nil)
	timers := actor.NewTimers(s, &actor.Letterbox{})
	for range b.N {
		timers.StartSingleTimer("key", "m", time.Hour)
	}
	s.Close()
}
