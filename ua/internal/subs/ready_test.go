package subs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// mute is a Custom item that cannot signal and never has anything: its subscription scans.
type mute struct{}

func (mute) Signals() bool                          { return false }
func (mute) Pending(time.Duration) int              { return 0 }
func (mute) Next(time.Duration, *ua.DataValue) bool { return false }
func (mute) SetMode(ua.MonitoringMode)              {}
func (mute) Resend()                                {}
func withCustom(c Custom) func(*ItemConfig)         { return func(i *ItemConfig) { i.Custom = c } }
func both(list ...func(*ItemConfig)) func(*ItemConfig) {
	return func(c *ItemConfig) {
		for _, f := range list {
			f(c)
		}
	}
}

// plant is a subscription with one client, for the cases of the ready list.
type plant struct {
	*rig
	c   *client
	sub *Subscription
}

func (p *plant) item(handle uint32, change ...func(*ItemConfig)) *Item {
	return p.c.item(p.sub, handle, both(change...))
}

func (p *plant) cycle() { p.pass(100 * time.Millisecond) }

func (p *plant) mode(i *Item, m ua.MonitoringMode) {
	p.t.Helper()
	if _, _, status := p.sub.SetMode(p.now(), p.c.s, i.id, m); status != ua.Good {
		p.t.Fatal(status)
	}
}

func (p *plant) trigger(i *Item, links ...*Item) {
	p.t.Helper()
	var ids []uint32
	for _, l := range links {
		ids = append(ids, l.id)
	}
	if _, _, status := p.sub.SetTriggering(p.now(), p.c.s, i.id, ids, nil); status != ua.Good {
		p.t.Fatal(status)
	}
}

// readyCases are the six of the ready list (T3): each is played on a subscription of items that signal and on
// one that also has an item that cannot, and clients must see the same. want guards against both being
// wrong.
var readyCases = []struct {
	name string
	play func(p *plant)
	want string
}{
	{"TriggeringWithSamplingItems", func(p *plant) {
		t, a, b := p.item(1), p.item(2, withMode(ua.MonitoringModeSampling), withQueue(3, true)), p.item(3, withMode(ua.MonitoringModeSampling))
		p.trigger(t, a, b)
		p.push(t, 1)
		p.push(a, 10)
		p.cycle() // an initial value does not trigger
		p.push(a, 11)
		p.cycle()
		p.push(t, 2)
		p.cycle()
		p.push(a, 12)
		p.push(b, 20)
		p.cycle()
		p.push(t, 3)
		p.cycle()
	}, "1=1 | 1=2 2=10 2=11 | 1=3 2=12 3=20"},
	{"TriggeringWithBacklog", func(p *plant) {
		p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
		t, a := p.item(1, withQueue(20, true)), p.item(2, withMode(ua.MonitoringModeSampling), withQueue(5, true))
		p.trigger(t, a)
		p.push(a, 10)
		p.push(t, 1, 2, 3, 4, 5, 6, 7, 8)
		p.cycle()
		p.push(a, 11)
		p.push(t, 9)
		p.cycle()
		for range 12 {
			p.cycle()
		}
	}, "1=1 | 1=2 | 1=3 | 2=10 | 1=4 | 1=5 | 1=6 | 1=7 | 1=8 | 1=9 | 2=11 | keep-alive"},
	{"ModeChanges", func(p *plant) {
		a, b := p.item(1, withQueue(3, true)), p.item(2)
		p.push(a, 1)
		p.push(b, 1)
		p.cycle()
		p.mode(a, ua.MonitoringModeSampling)
		p.push(a, 2, 3)
		p.cycle()
		p.mode(a, ua.MonitoringModeReporting)
		p.cycle()
		p.mode(a, ua.MonitoringModeDisabled)
		p.push(a, 4)
		p.cycle()
		p.mode(a, ua.MonitoringModeReporting)
		p.push(a, 5)
		p.push(b, 2)
		p.mode(b, ua.MonitoringModeDisabled) // just before the tick
		p.cycle()
		p.mode(b, ua.MonitoringModeSampling)
		p.push(b, 3)
		p.cycle()
		p.mode(b, ua.MonitoringModeReporting)
		p.cycle()
		p.push(b, 4) // of an item that is not tracked
		p.cycle()
	}, "1=1 2=1 | 1=2 1=3 | 1=5 | 2=3 | 2=4"},
	{"PublishingDisabledResendEnabled", func(p *plant) {
		a, b := p.item(1), p.item(2, withQueue(3, true))
		p.push(a, 1)
		p.push(b, 1)
		p.cycle()
		p.sub.SetPublishing(p.now(), p.c.s, false)
		p.push(b, 2, 3)
		p.pass(2500 * time.Millisecond)
		if status := p.m.ResendData(p.now(), p.c.s, p.sub.id); status != ua.Good {
			p.t.Fatal(status)
		}
		p.cycle()
		p.sub.SetPublishing(p.now(), p.c.s, true)
		p.cycle()
		p.cycle()
		p.push(a, 4)
		p.cycle()
	}, "1=1 2=1 | keep-alive | keep-alive | 1=1 2=2 2=3 | 1=4"},
	{"QueuedWhileInPublishList", func(p *plant) {
		a, b := p.item(1, withQueue(3, true)), p.item(2)
		p.c.auto = false
		p.push(a, 1)
		p.push(b, 1)
		p.cycle() // takes the one request
		p.push(a, 2)
		p.push(b, 2)
		p.cycle() // late: both are in the list
		p.push(a, 3)
		p.push(b, 3)
		p.c.publish(1)
		p.push(a, 4)
		p.c.publish(1)
		p.cycle()
	}, "1=1 2=1 | 1=2 1=3 2=3 | 1=4"},
	{"BacklogLeftReporting", func(p *plant) {
		p.sub.Modify(p.now(), p.c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10, MaxNotificationsPerPublish: 1})
		a, b := p.item(1, withQueue(20, true)), p.item(2, withMode(ua.MonitoringModeSampling), withQueue(2, true))
		c := p.item(3)
		p.c.auto = false
		p.push(b, 1)
		p.push(a, 1, 2, 3, 4, 5)
		p.cycle()
		p.push(a, 6)
		p.cycle() // late, with a in the list of those to publish
		p.mode(a, ua.MonitoringModeSampling)
		p.mode(b, ua.MonitoringModeReporting)
		p.c.auto = true
		p.c.publish(1)
		for range 5 {
			p.cycle()
		}
		p.mode(b, ua.MonitoringModeSampling)
		p.mode(a, ua.MonitoringModeReporting)
		for range 3 {
			p.cycle()
		}
		p.push(c, 9)
		p.cycle()
	}, "1=1 | 1=2 | 1=3 | 2=1 | 1=4 | 1=5 | 1=6 | 3=9"},
}

// playReady plays a case and returns what the client got: notifications of each message, in their order.
func playReady(t *testing.T, scans bool, cfg Config, play func(*plant)) string {
	t.Helper()
	r := newRig(t, cfg)
	c := r.client()
	p := &plant{rig: r, c: c, sub: c.create(Params{})}
	if scans {
		c.item(p.sub, 99, withCustom(mute{}))
	}
	c.auto, c.ack = true, true
	c.publish(1)
	play(p)
	var got []string
	for _, text := range c.take() {
		_, text, _ = strings.Cut(text, ": ")
		text = strings.TrimSuffix(text, " more")
		text, _, _ = strings.Cut(text, " avail")
		text, _, _ = strings.Cut(text, " results")
		parts := strings.Fields(text)
		slices.SortStableFunc(parts, func(a, b string) int { return strings.Compare(a[:2], b[:2]) }) // order across items is free
		got = append(got, strings.Join(parts, " "))
	}
	r.m.CloseSession(r.now(), c.s, true, ua.BadSessionClosed)
	if n := r.leased(); n != 0 {
		t.Errorf("%d messages are still out", n)
	}
	return strings.Join(got, " | ")
}

func TestReadyEquivalence(t *testing.T) {
	for _, c := range readyCases {
		t.Run(c.name, func(t *testing.T) {
			list, scan := playReady(t, false, Config{}, c.play), playReady(t, true, Config{}, c.play)
			if list != c.want {
				t.Errorf("with the ready list\n got %s\nwant %s", list, c.want)
			}
			if scan != c.want {
				t.Errorf("scanning\n got %s\nwant %s", scan, c.want)
			}
		})
	}
}

// TestReadyIdleItemIsNotTracked: R4.
func TestReadyIdleItemIsNotTracked(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	c.auto = true
	sub := c.create(Params{})
	i := c.item(sub, 1, nil)
	r.push(i, 1)
	c.publish(1)
	r.pass(100 * time.Millisecond)
	if !sub.intake.empty() || len(sub.candidates)+len(sub.publish) != 0 || i.place != nowhere || i.signal.Load() != free {
		t.Errorf("candidates %d, to publish %d, place %d, signal %d", len(sub.candidates), len(sub.publish), i.place, i.signal.Load())
	}
	if len(c.data[1]) != 1 {
		t.Fatalf("got %v", c.data)
	}
	runs := r.runs
	r.pass(900 * time.Millisecond)
	if n := r.runs - runs; n > 3 {
		t.Errorf("an idle subscription ran %d times in 900 ms", n)
	}
}

// TestReadyRaisesPools: 1,200 items raise the bounds to 2,400 at least.
func TestReadyRaisesPools(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{})
	for n := range 1200 {
		c.item(sub, uint32(n), nil)
	}
	if s := r.p.Stats(); s.Data.Bound < 2400 || s.Events.Bound < 2400 {
		t.Errorf("bounds %d and %d, want at least 2400", s.Data.Bound, s.Events.Bound)
	}
}

// interval is a test filter that gives the sum of what came in each 250 ms.
type interval struct {
	end   time.Duration
	sum   float64
	dirty bool
}

func (f *interval) Accept(_, v *ua.DataValue) bool {
	f.sum += v.Value.Float()
	f.dirty = true
	return false
}
func (f *interval) Due(at time.Duration) bool { return f.dirty && at >= f.end }
func (f *interval) Waiting() bool             { return f.dirty }
func (f *interval) Next(at time.Duration, v *ua.DataValue) bool {
	if !f.Due(at) {
		return false
	}
	for f.end <= at {
		f.end += 250 * time.Millisecond
	}
	*v = ua.DataValue{Value: ua.Double(f.sum)}
	f.sum, f.dirty = 0, false
	return true
}

// TestReadyInterval: an item whose value comes with time stays a candidate, on both kinds of subscription.
func TestReadyInterval(t *testing.T) {
	for _, scans := range []bool{false, true} {
		got := playReady(t, scans, Config{}, func(p *plant) {
			i := p.item(1, func(c *ItemConfig) { c.Filter = &interval{end: 250 * time.Millisecond} })
			p.push(i, 1, 2)
			p.pass(300 * time.Millisecond)
			p.push(i, 5)
			p.pass(time.Second)
			p.push(i, 7)
			p.pass(300 * time.Millisecond)
		})
		if want := "keep-alive | 1=3 | 1=5 | 1=7"; got != want {
			t.Errorf("scanning %v: got %s, want %s", scans, got, want)
		}
	}
}

// speaker is a Custom item that signals.
type speaker struct {
	values []float64
	last   float64
	mode   ua.MonitoringMode
}

func (s *speaker) Signals() bool             { return true }
func (s *speaker) Pending(time.Duration) int { return len(s.values) }
func (s *speaker) Next(_ time.Duration, v *ua.DataValue) bool {
	if len(s.values) == 0 {
		return false
	}
	s.last = s.values[0]
	*v = ua.DataValue{Value: ua.Double(s.last)}
	s.values = s.values[1:]
	return true
}
func (s *speaker) SetMode(m ua.MonitoringMode) {
	if s.mode = m; m == ua.MonitoringModeDisabled {
		s.values = nil
	}
}
func (s *speaker) Resend() {
	if len(s.values) == 0 {
		s.values = []float64{s.last}
	}
}

// TestReadyCustom: a node manager's own item, with a signal.
func TestReadyCustom(t *testing.T) {
	got := playReady(t, false, Config{}, func(p *plant) {
		s := new(speaker)
		i := p.item(1, withCustom(s))
		say := func(v ...float64) {
			s.values = append(s.values, v...)
			i.Signal()
		}
		say(1, 2)
		p.cycle()
		say(3)
		p.cycle()
		p.m.ResendData(p.now(), p.c.s, p.sub.id)
		p.cycle()
		p.mode(i, ua.MonitoringModeDisabled)
		p.cycle()
	})
	if want := "1=1 1=2 | 1=3 | 1=3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// lateValue is a Custom item that gets a value just after it was asked whether it has one, as if from another
// goroutine.
type lateValue struct {
	speaker
	item  *Item
	asked int
}

func (l *lateValue) Pending(at time.Duration) int {
	n := l.speaker.Pending(at)
	if l.asked++; l.asked == 1 {
		l.values = append(l.values, 7)
		l.item.Signal() // finds the signal held
	}
	return n
}

// TestReadyLooksAgain: R1. A value that comes between the look at an item and the release of its signal is
// seen by the second look.
func TestReadyLooksAgain(t *testing.T) {
	got := playReady(t, false, Config{}, func(p *plant) {
		l := new(lateValue)
		l.item = p.item(1, withCustom(l))
		p.cycle()
		p.cycle()
	})
	if want := "1=7"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
