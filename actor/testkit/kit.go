// Package testkit is for tests of programs made of actors: systems that end with the test ([New]), actors whose
// messages the test takes ([Probe]), time that the test moves ([VirtualTime]), and checks of what a system logs and
// publishes ([Kit.ExpectEvents]).
//
// Two kinds of tests go well. One runs the actors as the program does, and waits: probes expect each message within
// [Options.Within]. The other is deterministic: with [Options.Time] or [Options.CallingThread] the actors run on the
// goroutine of the test, so that all that a message leads to has happened when Tell returns.
//
// Methods that fail the test call Fatalf, so they belong to the goroutine of the test, and not into actors.
package testkit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/peek"
)

// Options say how [New] sets a system up. The zero value is the defaults of a program, and waits as Akka.NET's
// test kit does.
type Options struct {
	// Name of the system; empty is "test".
	Name string

	// Config of the system. Its Logger gets the system's log as it is; nil is the log of the test.
	Config actor.Config

	// LogLevel is from where on there is a log at all, for Kit.ExpectEvents too; nil is slog.LevelInfo.
	LogLevel slog.Leveler

	// Within is how long a message, an event or a condition is waited for; 0 is three seconds
	// (akka.test.single-expect-default). It is real time.
	Within time.Duration

	// ShutdownWithin is how long the system may take to end with the test; 0 is ten seconds.
	ShutdownWithin time.Duration

	// Time is the system's time, which Kit.Advance moves. It brings CallingThread along.
	Time *VirtualTime

	// CallingThread runs all actors on the goroutine that sends, those on dispatchers of Config.Dispatchers left out.
	CallingThread bool

	// NoFailures fails the test if an actor has failed, other than Kit.ExpectEvents expected it with Failures.
	NoFailures bool

	// NoDeadLetters fails the test if there were dead letters before its end, other than Kit.ExpectEvents expected.
	NoDeadLetters bool
}

// Kit is a system under test, with what a test needs around it.
type Kit struct {
	*actor.System
	t        testing.TB
	opt      Options
	probes   atomic.Int32
	expected atomic.Int64 // failures that were

	mu         sync.Mutex
	watching   []*tally
	failures   []string // some that were not expected
	letters    []string // dead letters that were not
	moreLetter int      // and so many more
}

// kept is how many things that were not expected are shown.
const kept = 10

// New makes a system for a test, and ends it with the test: all actors are stopped. It fails the test if
// the system cannot be made, or does not end in time; then it says which actors are in the way, with their
// stacks. Of several options the last count.
func New(t testing.TB, options ...Options) *Kit {
	t.Helper()
	k := &Kit{t: t}
	for _, o := range options {
		k.opt = o
	}
	o := &k.opt
	if o.Name == "" {
		o.Name = "test"
	}
	if o.Within <= 0 {
		o.Within = 3 * time.Second
	}
	if o.ShutdownWithin <= 0 {
		o.ShutdownWithin = 10 * time.Second
	}
	if o.Time != nil {
		o.Config.Clock, o.CallingThread = o.Time, true
	}
	o.Config.Dispatchers = dispatchers(o.Config.Dispatchers, o.CallingThread)
	log := newTestLog(t, o)
	o.Config.Logger = slog.New(&logHandler{kit: k, to: log.handler, level: o.LogLevel})
	sys, err := actor.NewSystem(o.Name, o.Config)
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
	k.System = sys
	cancel := actor.SubscribeFunc(sys, k.event)
	t.Cleanup(func() {
		defer log.end()
		k.finish(cancel)
	})
	return k
}

// CallingThreadDispatcher is the dispatcher, in all systems of [New], for single actors that run on the goroutine which
// sends to them (Akka.NET: CallingThreadDispatcher.Id).
const CallingThreadDispatcher = "calling-thread-dispatcher"

// dispatchers adds CallingThreadDispatcher, and with all set those that every system has, on the calling thread.
func dispatchers(own map[string]actor.DispatcherConfig, all bool) map[string]actor.DispatcherConfig {
	names := []string{CallingThreadDispatcher}
	if all {
		names = append(names, actor.DefaultDispatcher, actor.BlockingDispatcher, actor.PinnedDispatcher)
	}
	out := map[string]actor.DispatcherConfig{}
	for _, name := range names {
		out[name] = actor.DispatcherConfig{Kind: actor.CallingThread}
	}
	maps.Copy(out, own)
	return out
}

// finish is the end of the test.
func (k *Kit) finish(cancel func()) {
	k.t.Helper()
	cancel() // what is in the mailboxes at the end is nobody's fault
	ctx, stop := context.WithTimeout(context.Background(), k.opt.ShutdownWithin)
	defer stop()
	if err := k.System.Shutdown(ctx); err != nil {
		k.t.Errorf("testkit: the system does not end within %v: %v", k.opt.ShutdownWithin, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := k.System.Stats().Failures - k.expected.Load(); k.opt.NoFailures && n > 0 {
		k.t.Errorf("testkit: actors have failed %d times, unexpectedly%s", n, list(k.failures, int(n)-len(k.failures)))
	}
	if n := len(k.letters) + k.moreLetter; k.opt.NoDeadLetters && n > 0 {
		k.t.Errorf("testkit: there were %d unexpected dead letters%s", n, list(k.letters, k.moreLetter))
	}
}

// list is some lines, and how many there would be more.
func list(lines []string, more int) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("\n\t" + l)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\n\tand %d more", more)
	}
	return b.String()
}

// Spawn is [actor.System.Spawn] where an error fails the test.
func (k *Kit) Spawn(p *actor.Props, name string) *actor.Ref {
	k.t.Helper()
	r, err := k.System.Spawn(p, name)
	if err != nil {
		k.t.Fatalf("testkit: %v", err)
	}
	return r
}

// Advance moves the virtual time of [Options.Time] by d, has done what is due until then, and lets the actors
// [Kit.Settle].
func (k *Kit) Advance(d time.Duration) {
	k.t.Helper()
	if k.opt.Time == nil {
		k.t.Fatalf("testkit: Advance needs Options.Time")
	}
	k.opt.Time.Advance(d)
	k.Settle()
}

// Settle waits until no actor has anything to do: all mailboxes are empty (or suspended), and nobody handles a
// message. It fails the test if that is not so within [Options.Within]. What is not there yet does not count: messages
// that goroutines other than actors will send, timers, work of actor.Await.
func (k *Kit) Settle() {
	k.t.Helper()
	if !k.quietWithin(k.opt.Within) {
		k.t.Fatalf("testkit: the actors do not settle within %v: %s", k.opt.Within, k.mailboxes())
	}
}

func (k *Kit) quietWithin(d time.Duration) bool {
	quiet := 0
	return poll(d, func() bool {
		// Messages may move behind the back of one look: so there are several.
		if peek.Busy(k.System) {
			quiet = 0
			return false
		}
		quiet++
		return quiet > 3 || k.opt.CallingThread
	})
}

// mailboxes says where messages wait.
func (k *Kit) mailboxes() string {
	var out []string
	var walk func(n *actor.TreeNode)
	walk = func(n *actor.TreeNode) {
		if n.Mailbox > 0 {
			out = append(out, fmt.Sprintf("%d messages wait for %s", n.Mailbox, n.Path))
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(k.System.Tree())
	if len(out) == 0 {
		return "one is handling a message"
	}
	return strings.Join(out, ", ")
}

// AwaitCondition waits until ok returns true, and fails the test if that is not so within [Options.Within]. what says what
// is waited for. ok is called again and again, on the goroutine of the test.
func (k *Kit) AwaitCondition(what string, ok func() bool) {
	k.t.Helper()
	if !poll(k.opt.Within, ok) {
		k.t.Fatalf("testkit: not within %v: %s", k.opt.Within, what)
	}
}

// poll asks a few times at once, then each millisecond.
func poll(d time.Duration, ok func() bool) bool {
	for i, end := 0, time.Now().Add(d); ; i++ {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		if i < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(time.Millisecond)
		}
	}
}

// Instance is the actor behind ref, to look at its fields: for actors on the calling thread, while none of them handles a
// message. After a restart it is another one. It fails the test where there is no such actor, or it is no A.
func Instance[A actor.Actor](k *Kit, ref *actor.Ref) A {
	k.t.Helper()
	x, why := peek.Instance(ref)
	if why != "" {
		k.t.Fatalf("testkit: Instance: %s %s", ref, why)
	}
	a, ok := x.(A)
	if !ok {
		k.t.Fatalf("testkit: Instance: %s is a %T, not a %s", ref, x, typeName[A]())
	}
	return a
}

// typeName is how Go writes T.
func typeName[T any]() string { return fmt.Sprintf("%T", (*T)(nil))[1:] }
