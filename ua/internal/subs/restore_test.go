package subs

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// TestRestore: a server ends at any moment; another goes on, from the state that was captured or with the
// messages of a mirror, and the client sees each value and each number once.
func TestRestore(t *testing.T) {
	for _, mirror := range []string{"captured", "full", "delta"} {
		t.Run(mirror, func(t *testing.T) {
			for seed := range uint64(100) {
				restoreOnce(t, mirror, seed)
			}
		})
	}
}

func restoreOnce(t *testing.T, mirror string, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	store := new(MemoryMirror)
	cfg := Config{MirrorStore: store}
	switch mirror {
	case "full":
		cfg.FullMirror = store
	case "delta":
		cfg.DeltaMirror = store
	}
	first := newRig(t, cfg)
	c := first.client()
	c.ack = rnd.IntN(2) == 0
	sub := c.create(Params{MaxNotificationsPerPublish: uint32(1 + rnd.IntN(3)), LifetimeCount: 1000})
	values := c.item(sub, 1, withQueue(1000, true))
	events := c.item(sub, 2, withEvents(1000, true))
	linked := c.item(sub, 3, sampling(1))
	if _, _, status := sub.SetTriggering(first.now(), c.s, values.id, []uint32{linked.id}, nil); status != ua.Good {
		t.Fatal(status)
	}
	pushed := 0
	play := func(r *rig, c *client, v, e *Item, steps int) {
		for range steps {
			switch rnd.IntN(4) {
			case 0:
				for range 1 + rnd.IntN(3) {
					r.push(v, float64(pushed))
					e.PushEvent(&testEvent{int64(pushed)})
					pushed++
				}
			case 1:
				c.publish(1)
			default:
				r.pass(time.Duration(rnd.IntN(150)) * time.Millisecond)
			}
		}
	}
	play(first, c, values, events, 5+rnd.IntN(40))
	st := sub.Capture()
	if mirror != "captured" {
		st.Sent.Release()
		st.Sent, _ = store.LoadSent(sub.id)
	}
	first.m.CloseSession(first.now(), c.s, true, ua.BadServerHalted)
	numbers := c.seq[st.ID]

	cfg.Pools = first.p
	second := newRig(t, cfg)
	again, status := second.m.Restore(second.now(), &st, "owner")
	if status != ua.Good {
		t.Fatal(status)
	}
	if _, status := second.m.Restore(second.now(), &State{ID: again.id}, nil); status != ua.BadSubscriptionIdInvalid {
		t.Fatal(status)
	}
	d := second.client()
	d.data, d.seq, d.ack = c.data, c.seq, true
	second.pass(time.Duration(rnd.IntN(2000)) * time.Millisecond)
	tr, status := second.m.BeginTransfer(second.now(), d.s, again.id)
	if status != ua.Good || tr.Owner() != "owner" {
		t.Fatal(status)
	}
	if _, status := tr.Commit(second.now(), false, true, nil); status != ua.Good {
		t.Fatal(status)
	}
	v, e := again.items[values.id], again.items[events.id]
	play(second, d, v, e, 20)
	d.auto = true
	d.publish(1)
	second.pass(3 * time.Second)
	if n := len(d.data[1]); n != pushed || d.data[1][max(n-1, 0)] != fmt.Sprint(float64(pushed-1)) {
		t.Errorf("seed %d: %d values of %d: %v", seed, n, pushed, d.data[1])
	}
	if n := len(d.data[2]); n != pushed {
		t.Errorf("seed %d: %d events of %d", seed, n, pushed)
	}
	if len(again.items[values.id].ext.links) != 1 {
		t.Errorf("seed %d: the link is gone", seed)
	}
	if got := again.sent.next - 1; d.seq[st.ID] != got || got < numbers {
		t.Errorf("seed %d: the last number is %d, the client had %d and now %d", seed, got, numbers, d.seq[st.ID])
	}
	d.auto = false
	second.m.CloseSession(second.now(), d.s, true, ua.BadSessionClosed)
	if _, ok := store.LoadSent(sub.id); ok {
		t.Errorf("seed %d: the mirror still has the subscription", seed)
	}
	if n := second.leased(); n != 0 {
		t.Errorf("seed %d: %d messages are still out", seed, n)
	}
}
