package subs

import (
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// A value that was signalled while another item is deleted is published at the next tick, whatever calls of
// the client plan the timer anew before it.
func TestDeletingAnItemForgetsNoOther(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{})
	a, b := c.item(sub, 1, nil), c.item(sub, 2, nil)
	c.auto, c.ack = true, true
	c.publish(3)
	r.push(a, 1)
	r.push(b, 1)
	r.pass(550 * time.Millisecond) // asleep: nothing was sent lately
	c.take()
	r.push(a, 2)
	r.pass(0)
	if _, status := sub.DeleteItems(r.now(), c.s, []uint32{b.ID()}); status != ua.Good {
		t.Fatal(status)
	}
	if _, status := sub.Modify(r.now(), c.s, Params{PublishingInterval: 100, MaxKeepAliveCount: 10}); status != ua.Good {
		t.Fatal(status)
	}
	r.pass(100 * time.Millisecond)
	if got := c.data[1]; len(got) != 2 {
		t.Fatalf("values of item 1 two ticks later: %v, want two", got)
	}
}

// What one Publish makes fits the retransmission queue, so that nothing is dropped that never was sent.
func TestOneCallMakesNoMoreThanTheQueueTakes(t *testing.T) {
	for _, most := range []int{1, 2, 3, 4, 5, 8} {
		r := newRig(t, Config{Limits: Limits{MaxRetained: most}})
		c := r.client()
		sub := c.create(Params{MaxNotificationsPerPublish: 2})
		want := map[uint32]int{}
		for n := range uint32(12) {
			i := c.item(sub, n+1, withQueue(20, true))
			want[n+1] = int(n*7%9 + 1)
			for v := range want[n+1] {
				r.push(i, float64(v))
			}
		}
		c.auto, c.ack = true, true
		c.publish(2)
		r.pass(10 * time.Second)
		for handle, n := range want {
			if got := len(c.data[handle]); got != n {
				t.Errorf("queue of %d: item %d: %d values, want %d", most, handle, got, n)
			}
		}
		if n := sub.sent.Dropped(); n > 0 {
			t.Errorf("queue of %d: %d messages dropped that never were sent", most, n)
		}
	}
}

// fickle is an item whose answer changes: it is asked once.
type fickle struct {
	Custom
	signals bool
}

func (f *fickle) Signals() bool { f.signals = !f.signals; return f.signals }

// A custom item is asked once whether it signals, so that its deletion takes back what its creation did.
func TestSignalsIsAskedOnce(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{})
	i := c.item(sub, 1, func(cfg *ItemConfig) { cfg.Custom = &fickle{Custom: quietCustom{}} })
	if _, status := sub.DeleteItems(r.now(), c.s, []uint32{i.ID()}); status != ua.Good || sub.scanning != 0 {
		t.Errorf("%v, %d items are scanned of none", status, sub.scanning)
	}
}

type quietCustom struct{}

func (quietCustom) Signals() bool                          { return true }
func (quietCustom) Pending(time.Duration) int              { return 0 }
func (quietCustom) Next(time.Duration, *ua.DataValue) bool { return false }
func (quietCustom) SetMode(ua.MonitoringMode)              {}
func (quietCustom) Resend()                                {}

func slow(c *ItemConfig) { c.Sampling, c.Continuous = time.Minute, true }

// An item that is enabled again reports its first value at once, however long the interval was it waited for.
func TestFirstValueAfterEnablingDoesNotWait(t *testing.T) {
	r := newRig(t, Config{})
	c := r.client()
	sub := c.create(Params{})
	i := c.item(sub, 1, slow)
	c.auto = true
	c.publish(2)
	r.push(i, 1)
	r.pass(time.Second)
	for _, mode := range []ua.MonitoringMode{ua.MonitoringModeDisabled, ua.MonitoringModeReporting} {
		if _, _, status := sub.SetMode(r.now(), c.s, i.ID(), mode); status != ua.Good {
			t.Fatal(status)
		}
	}
	i.PushInitial(&ua.DataValue{Value: ua.Double(2)}, r.at)
	r.pass(time.Second)
	if got := c.data[1]; len(got) != 2 {
		t.Errorf("a second after it was enabled: %v, want two values", got)
	}
}

// A shorter sampling interval holds from the moment it is set.
func TestShorterSamplingHoldsAtOnce(t *testing.T) {
	for _, sampling := range []time.Duration{0, 200 * time.Millisecond} {
		r := newRig(t, Config{})
		c := r.client()
		sub := c.create(Params{})
		i := c.item(sub, 1, slow)
		c.auto = true
		c.publish(2)
		r.push(i, 1)
		r.pass(time.Second)
		r.push(i, 2) // waits
		r.pass(time.Second)
		cfg := ItemConfig{ClientHandle: 1, QueueSize: 1, Sampling: sampling, Continuous: true, Timestamps: ua.TimestampsToReturnBoth}
		if status := sub.ModifyItem(r.now(), c.s, i.ID(), &cfg); status != ua.Good {
			t.Fatal(status)
		}
		r.pass(time.Second)
		r.push(i, 3)
		r.pass(time.Second)
		if got := c.data[1]; len(got) != 3 {
			t.Errorf("sampled every %v: %v, want three values", sampling, got)
		}
	}
}
