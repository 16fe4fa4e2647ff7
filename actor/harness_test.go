package actor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what has to happen before it says that it does not.
const patienceOfTests = 20 * time.Second

// journal is what a test saw, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
	grown chan struct{} // closed at the next line
}

func newJournal() *journal { return &journal{grown: make(chan struct{})} }

func (j *journal) add(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	j.mu.Lock()
	j.lines = append(j.lines, line)
	close(j.grown)
	j.grown = make(chan struct{})
	j.mu.Unlock()
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lines...)
}

// until waits until the lines satisfy ok.
func (j *journal) until(t *testing.T, what string, ok func([]string) bool) []string {
	t.Helper()
	late := time.After(patienceOfTests)
	for {
		j.mu.Lock()
		lines, grown := append([]string(nil), j.lines...), j.grown
		j.mu.Unlock()
		if ok(lines) {
			return lines
		}
		select {
		case <-grown:
		case <-late:
			t.Fatalf("never seen: %s\nseen:\n%s", what, strings.Join(lines, "\n"))
		}
	}
}

// has waits for a line.
func (j *journal) has(t *testing.T, line string) {
	t.Helper()
	j.until(t, line, func(ls []string) bool {
		for _, l := range ls {
			if l == line {
				return true
			}
		}
		return false
	})
}

// contains waits for a line with part in it.
func (j *journal) contains(t *testing.T, part string) {
	t.Helper()
	j.until(t, "..."+part+"...", func(ls []string) bool {
		for _, l := range ls {
			if strings.Contains(l, part) {
				return true
			}
		}
		return false
	})
}

// is waits for as many lines as want has, and compares.
func (j *journal) is(t *testing.T, want ...string) {
	t.Helper()
	got := j.until(t, fmt.Sprintf("%d lines: %s", len(want), strings.Join(want, ", ")), func(ls []string) bool { return len(ls) >= len(want) })
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Fatalf("got:\n%s\nwant:\n%s", g, w)
	}
}

// isAround is is, but the line at may come later than want says, though before the line before.
func (j *journal) isAround(t *testing.T, at, before string, want ...string) {
	t.Helper()
	got := j.until(t, fmt.Sprintf("%d lines", len(want)), func(ls []string) bool { return len(ls) >= len(want) })
	w := slices.Index(want, at)
	g := slices.Index(got, at)
	if g < w || g > w+slices.Index(want[w:], before) {
		t.Errorf("%q is line %d, not between %d and %q", at, g, w, before)
	}
	got, want = slices.Delete(slices.Clone(got), g, g+1), slices.Delete(slices.Clone(want), w, w+1)
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Fatalf("got:\n%s\nwant, but for %q:\n%s", g, at, w)
	}
}

// logJournal is a handler of slog, so that a test sees what is logged.
type logJournal struct {
	*journal
	attrs string
}

func (l logJournal) Enabled(context.Context, slog.Level) bool { return true }

func (l logJournal) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message + l.attrs
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "stack" {
			line += " " + a.String()
		}
		return true
	})
	l.add("%s", line)
	return nil
}

func (l logJournal) WithAttrs(as []slog.Attr) slog.Handler {
	for _, a := range as {
		l.attrs += " " + a.String()
	}
	return l
}

func (l logJournal) WithGroup(string) slog.Handler { return l }

// testSystem is a system whose log and dead letters a test can look at.
type testSystem struct {
	*System
	log  *journal
	lost *journal // dead letters, as "message to path"
}

// quick is a dispatcher on the goroutine of the sender.
const callingDispatcher = "calling"

func newTestSystem(t *testing.T, cfg Config) *testSystem {
	t.Helper()
	s := &testSystem{log: newJournal(), lost: newJournal()}
	cfg.Logger = slog.New(logJournal{journal: s.log})
	if cfg.Dispatchers == nil {
		cfg.Dispatchers = map[string]DispatcherConfig{}
	}
	cfg.Dispatchers[callingDispatcher] = DispatcherConfig{Kind: CallingThread}
	var err error
	if s.System, err = NewSystem("test", cfg); err != nil {
		t.Fatal(err)
	}
	SubscribeFunc(s.System, func(d DeadLetter) { s.lost.add("%v to %s", d.Message, d.Recipient.path) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patienceOfTests)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// onEach runs a test on each kind of dispatcher.
func onEach(t *testing.T, f func(t *testing.T, dispatcher string)) {
	for _, d := range []string{DefaultDispatcher, BlockingDispatcher, PinnedDispatcher, callingDispatcher} {
		t.Run(d, func(t *testing.T) { f(t, d) })
	}
}

// probe is an actor that writes down what happens to it. Its fields say what it does; all may be left out.
type probe struct {
	j    *journal
	name string

	receive     func(ctx *Context, msg any)
	preStart    func(ctx *Context)
	postStop    func(ctx *Context)
	preRestart  func(ctx *Context, cause error, msg any)
	postRestart func(ctx *Context, cause error)
	strategy    func() Strategy
}

func (p *probe) Receive(ctx *Context, msg any) {
	switch m := msg.(type) {
	case error:
		p.j.add("%s fails: %v", p.name, m)
		ctx.Fail(m)
	case func(*Context):
		m(ctx)
	default:
		if p.receive != nil {
			p.receive(ctx, msg)
			return
		}
		p.j.add("%s: %v", p.name, msg)
	}
}

func (p *probe) PreStart(ctx *Context) {
	p.j.add("%s PreStart", p.name)
	if p.preStart != nil {
		p.preStart(ctx)
	}
}

func (p *probe) PostStop(ctx *Context) {
	p.j.add("%s PostStop", p.name)
	if p.postStop != nil {
		p.postStop(ctx)
	}
}

func (p *probe) PreRestart(ctx *Context, cause error, msg any) {
	p.j.add("%s PreRestart(%v, %v)", p.name, cause, msg)
	if p.preRestart != nil {
		p.preRestart(ctx, cause, msg)
		return
	}
	ctx.DefaultPreRestart()
}

func (p *probe) PostRestart(ctx *Context, cause error) {
	p.j.add("%s PostRestart(%v)", p.name, cause)
	if p.postRestart != nil {
		p.postRestart(ctx, cause)
		return
	}
	p.PreStart(ctx)
}

func (p *probe) SupervisorStrategy() Strategy {
	if p.strategy == nil {
		return Strategy{}
	}
	return p.strategy()
}

// props makes probes like p.
func (p probe) props() *Props {
	return NewProps(func() Actor {
		q := p
		q.j.add("%s made", q.name)
		return &q
	})
}

// bare is a probe without hooks that write.
type bare struct{ receive func(ctx *Context, msg any) }

func (b *bare) Receive(ctx *Context, msg any) {
	switch m := msg.(type) {
	case func(*Context):
		m(ctx)
	case error:
		ctx.Fail(m)
	default:
		if b.receive != nil {
			b.receive(ctx, msg)
		}
	}
}

func bareProps(receive func(ctx *Context, msg any)) *Props {
	return NewProps(func() Actor { return &bare{receive} })
}

// within runs f in the actor, and waits for its end.
func within(t *testing.T, ref *Ref, f func(*Context)) {
	t.Helper()
	done := make(chan struct{})
	ref.Tell(func(ctx *Context) {
		defer close(done)
		f(ctx)
	})
	wait(t, done, "a function in "+ref.path)
}

func wait(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patienceOfTests):
		t.Fatalf("%s has not come to its end", what)
	}
}

// child makes a child of an actor whose handler takes functions.
func child(t *testing.T, of *Ref, p *Props, name string) (ref *Ref) {
	t.Helper()
	within(t, of, func(ctx *Context) { ref = ctx.MustSpawn(p, name) })
	within(t, ref, func(*Context) {}) // it has started
	return ref
}

// ended waits for the end of an actor.
func ended(t *testing.T, ref *Ref) {
	t.Helper()
	w := newEndWaiter(ref)
	ref.tellSystem(&sysMsg{kind: sysWatch, ref: ref, other: &w.ref})
	select {
	case <-w.done:
	case <-time.After(patienceOfTests):
		t.Fatalf("%s has not ended", ref.path)
	}
}

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// handClock is a clock that a test moves.
type handClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms map[*handAlarm]struct{}
}

type handAlarm struct {
	clock *handClock
	wake  func()
	at    time.Time
}

func newHandClock() *handClock {
	return &handClock{now: time.Unix(1e9, 0), alarms: make(map[*handAlarm]struct{})}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) NewAlarm(wake func()) Alarm { return &handAlarm{clock: c, wake: wake} }

func (c *handClock) Resolution() time.Duration { return time.Millisecond }

func (a *handAlarm) Set(at time.Time) {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	a.at = at
	a.clock.alarms[a] = struct{}{}
}

func (a *handAlarm) Stop() {
	a.clock.mu.Lock()
	defer a.clock.mu.Unlock()
	delete(a.clock.alarms, a)
}

// set is how many alarms are set.
func (c *handClock) set() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.alarms)
}

// advance moves the time on, alarm by alarm.
func (c *handClock) advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		var next *handAlarm
		for a := range c.alarms {
			if !a.at.After(end) && (next == nil || a.at.Before(next.at)) {
				next = a
			}
		}
		if next == nil {
			break
		}
		if next.at.After(c.now) {
			c.now = next.at
		}
		delete(c.alarms, next)
		c.mu.Unlock()
		next.wake()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

var errTest = errors.New("test failure")
