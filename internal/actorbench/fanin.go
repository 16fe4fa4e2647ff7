package actorbench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/actua/actua/actor"
)

// FanIn lets many actors send to one. Each sends in batches of Credit; the last message of a batch asks for an
// acknowledgement, and the next batch goes when it arrives, so that no mailbox can grow without bound.
type FanIn struct {
	Senders int
	Each    int64 // messages a sender sends
	Credit  int64
	Limit   time.Duration // a run that takes longer has failed
}

// RateResult is one run of a workload that is measured by its rate.
type RateResult struct {
	Messages int64
	Usage    Usage
}

// Rate is messages a second.
func (r RateResult) Rate() float64 { return float64(r.Messages) / r.Usage.Wall.Seconds() }

// Run makes a system, lets the messages go, and ends the system. It returns ErrLate when messages are missing.
func (f FanIn) Run(ctx context.Context) (r RateResult, err error) {
	s, err := newSystem("FanIn", 0)
	if err != nil {
		return r, err
	}
	defer end(s)
	all := newLatch(1)
	sink := &sink{left: f.Each * int64(f.Senders), all: all}
	to, err := s.Spawn(actor.NewProps(func() actor.Actor { return sink }), "sink")
	if err != nil {
		return r, err
	}
	senders := make([]*actor.Ref, f.Senders)
	for i := range senders {
		props := actor.NewProps(func() actor.Actor {
			return &sender{to: to, left: f.Each, credit: f.Credit, plain: &drop{}, last: &drop{ack: true}}
		})
		if senders[i], err = s.Spawn(props, ""); err != nil {
			return r, err
		}
	}
	settle()
	m := startMeter()
	for _, to := range senders {
		to.Tell(&drop{})
	}
	if _, err := await(ctx, all.done, f.Limit); err != nil {
		return r, err
	}
	return RateResult{Messages: f.Each * int64(f.Senders), Usage: m.stop(time.Now())}, nil
}

// drop is the message.
type drop struct{ ack bool }

type sink struct {
	left int64
	all  *latch
}

// Receive implements actor.Actor.
func (s *sink) Receive(ctx *actor.Context, msg any) {
	if m, ok := msg.(*drop); ok {
		if m.ack {
			ctx.Reply(m)
		}
		if s.left--; s.left == 0 {
			s.all.hit()
		}
	}
}

type sender struct {
	to           *actor.Ref
	left, credit int64
	plain, last  *drop
}

// Receive implements actor.Actor.
func (s *sender) Receive(ctx *actor.Context, msg any) {
	n := min(s.left, s.credit)
	if _, ok := msg.(*drop); !ok || n == 0 {
		return
	}
	s.left -= n
	for range n - 1 {
		ctx.Tell(s.to, s.plain)
	}
	ctx.Tell(s.to, s.last)
}

// latch closes done with the last of n hits.
type latch struct {
	left atomic.Int64
	done chan struct{}
}

func newLatch(n int) *latch {
	l := &latch{done: make(chan struct{})}
	l.left.Store(int64(n))
	return l
}

func (l *latch) hit() {
	if l.left.Add(-1) == 0 {
		close(l.done)
	}
}

// Spread is minimum, median and maximum of a figure of several runs.
type Spread struct{ Min, Median, Max float64 }

// SpreadOf looks at a figure of each run.
func SpreadOf[R any](runs []R, figure func(R) float64) Spread {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = figure(r)
	}
	if len(v) == 0 {
		return Spread{}
	}
	return Spread{slices.Min(v), median(v), slices.Max(v)}
}

// String shows a rate.
func (s Spread) String() string {
	return fmt.Sprintf("%s / %s / %s", short(s.Min), short(s.Median), short(s.Max))
}

// short is a number with three digits that say something.
func short(v float64) string {
	unit := ""
	switch {
	case v >= 1e6:
		v, unit = v/1e6, " M"
	case v >= 1e3:
		v, unit = v/1e3, " k"
	}
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f%s", v, unit)
	case v >= 10:
		return fmt.Sprintf("%.1f%s", v, unit)
	}
	return fmt.Sprintf("%.2f%s", v, unit)
}
