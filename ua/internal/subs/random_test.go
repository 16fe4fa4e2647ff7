package subs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/ua"
)

// operations plays a random life of two sessions and returns what they were answered, message by message.
func operations(t *testing.T, seed uint64, cfg Config, pools bool) []string {
	rnd := rand.New(rand.NewPCG(seed, 1))
	cfg.Limits = Limits{MaxPublishRequests: 3, MaxRetained: 6, MinLifetime: time.Millisecond}
	r := newRig(t, cfg)
	if !pools {
		r.m.cfg.Pools = nil
	}
	var log []string
	clients := []*client{r.client(), r.client()}
	var subs []*Subscription
	var items []*Item
	add := func(c *client) {
		p := Params{PublishingInterval: float64(10 * (1 + rnd.IntN(5))), MaxKeepAliveCount: uint32(1 + rnd.IntN(5)), LifetimeCount: 200,
			MaxNotificationsPerPublish: uint32(rnd.IntN(5)), Priority: uint8(rnd.IntN(3))}
		subs = append(subs, c.create(p))
	}
	for _, c := range clients {
		c.auto, c.ack = rnd.IntN(2) == 0, rnd.IntN(2) == 0
		add(c)
	}
	clients[0].publish(1)
	event := int64(0)
	owner := func(s *Subscription) *client {
		for _, c := range clients {
			if s.session.Load() == c.s {
				return c
			}
		}
		return clients[0]
	}
	for step := range 400 {
		n := rnd.IntN(100)
		s := subs[rnd.IntN(len(subs))]
		c := owner(s)
		var i *Item
		if len(items) > 0 {
			i = items[rnd.IntN(len(items))]
		}
		switch {
		case n < 30 && i != nil:
			for range 1 + rnd.IntN(4) {
				r.push(i, float64(rnd.IntN(8)))
			}
			event++
			i.PushEvent(&testEvent{event % 7})
		case n < 60:
			r.pass(time.Duration(rnd.IntN(30)) * time.Millisecond)
		case n < 70:
			c.publish(1 + rnd.IntN(2))
		case n < 76 && len(items) < 30:
			change := func(cfg *ItemConfig) {
				cfg.Mode, cfg.QueueSize, cfg.DiscardOldest = ua.MonitoringMode(rnd.IntN(3)), uint32(1+rnd.IntN(4)), rnd.IntN(2) == 0
				switch rnd.IntN(5) {
				case 0:
					cfg.Events = new(newEvents)
				case 1:
					cfg.Filter = new(onlyEven)
				case 2:
					cfg.Sampling, cfg.Continuous = 25*time.Millisecond, true
				case 3:
					cfg.Filter = &interval{end: r.at + 250*time.Millisecond}
				}
			}
			items = append(items, c.item(s, uint32(len(items)+1), change))
		case n < 84 && i != nil:
			mode := ua.MonitoringMode(rnd.IntN(3))
			_, _, status := i.sub.SetMode(r.now(), owner(i.sub).s, i.id, mode)
			log = append(log, fmt.Sprint(step, " mode ", status.String()))
		case n < 87 && i != nil:
			cfg := ItemConfig{ClientHandle: uint32(100 + step), QueueSize: uint32(1 + rnd.IntN(5)), DiscardOldest: rnd.IntN(2) == 0}
			if i.ext != nil {
				cfg.Events, cfg.Filter = i.ext.events, i.ext.filter
			}
			log = append(log, fmt.Sprint(step, " modify ", i.sub.ModifyItem(r.now(), owner(i.sub).s, i.id, &cfg).String()))
		case n < 90 && i != nil:
			j := items[rnd.IntN(len(items))]
			a, b, status := i.sub.SetTriggering(r.now(), owner(i.sub).s, i.id, []uint32{j.id}, nil)
			log = append(log, fmt.Sprint(step, " trigger ", names(a), names(b), status.String()))
		case n == 90:
			_, status := s.Modify(r.now(), c.s, Params{PublishingInterval: float64(10 * (1 + rnd.IntN(5))), MaxKeepAliveCount: uint32(1 + rnd.IntN(5)),
				LifetimeCount: 200, MaxNotificationsPerPublish: uint32(rnd.IntN(5))})
			log = append(log, fmt.Sprint(step, " parameters ", status.String()))
		case n < 92:
			s.SetPublishing(r.now(), c.s, rnd.IntN(3) > 0)
		case n < 94:
			r.m.ResendData(r.now(), c.s, s.id)
		case n < 96:
			to := clients[rnd.IntN(2)]
			if tr, status := r.m.BeginTransfer(r.now(), to.s, s.id); status == ua.Good {
				r.pass(time.Duration(rnd.IntN(40)) * time.Millisecond)
				if rnd.IntN(3) == 0 {
					tr.Rollback(r.now())
				} else {
					got, status := tr.Commit(r.now(), rnd.IntN(2) == 0, true, nil)
					log = append(log, fmt.Sprint(step, " transfer ", got, status.String()))
				}
			}
		case n < 98:
			var out Ref
			if s.Republish(r.now(), c.s, uint32(rnd.IntN(10)), &out) == ua.Good {
				log = append(log, "republish "+messageText(out.Message()))
			}
			out.Release()
		case len(items) > 3 && i != nil:
			i.sub.DeleteItems(r.now(), owner(i.sub).s, []uint32{i.id})
		}
		for n, c := range clients {
			for _, text := range c.take() {
				log = append(log, fmt.Sprintf("%d client %d: %s", step, n, text))
			}
		}
	}
	for _, c := range clients {
		c.auto = false
		r.m.CloseSession(r.now(), c.s, true, ua.BadSessionClosed)
	}
	for _, s := range r.m.orphans.subs {
		r.m.Delete(r.now(), r.m.orphans, s.id)
	}
	if n := r.leased(); n != 0 {
		t.Errorf("seed %d: %d messages are still out", seed, n)
	}
	return log
}

// TestRandomOperations: clients see the same with the ready list and scanning, with pools and without.
func TestRandomOperations(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 50
	}
	answers := 0
	for seed := range seeds {
		want := operations(t, seed, Config{}, true)
		answers += len(want)
		for name, got := range map[string][]string{
			"scanning":                    operations(t, seed, Config{Scan: true}, true),
			"without pools":               operations(t, seed, Config{}, false),
			"scanning, and without pools": operations(t, seed, Config{Scan: true}, false),
		} {
			if !slices.Equal(got, want) {
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("seed %d, %s, answer %d:\n got %s\nwant %s", seed, name, i, append(got, make([]string, len(want))...)[i], want[i])
					}
				}
				t.Fatalf("seed %d, %s: %d answers, want %d", seed, name, len(got), len(want))
			}
		}
	}
	if answers < int(seeds)*50 {
		t.Errorf("only %d answers: the test does too little", answers)
	}
}
