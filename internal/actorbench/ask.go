package actorbench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/actor"
)

// Ask lets goroutines outside the actors ask one actor, which answers with the question, one question after the
// other each.
type Ask struct {
	Callers int
	Asks    int64         // of all callers together
	Limit   time.Duration // a run that takes longer has failed
}

// askTimeout is how long a caller waits for an answer.
const askTimeout = 5 * time.Second

// AskResult is one run.
type AskResult struct {
	RateResult
	Latency [3]time.Duration // of one caller: p50, p99, p99.9
}

// Run makes a system, asks, and ends the system.
func (b Ask) Run(ctx context.Context) (r AskResult, err error) {
	s, err := newSystem("Ask", 0)
	if err != nil {
		return r, err
	}
	defer end(s)
	to, err := s.Spawn(actor.NewProps(func() actor.Actor { return destination{} }), "echo")
	if err != nil {
		return r, err
	}
	stop := make(chan struct{})
	each := b.Asks / int64(b.Callers)
	warm := min(each, 2000)
	if _, err := askRepeatedly(to, warm, nil, stop); err != nil {
		return r, err
	}
	var callers sync.WaitGroup
	var first error
	var once sync.Once
	latency := make([]time.Duration, 0, min(each, 1<<20))
	settle()
	m := startMeter()
	for i := range b.Callers {
		keep := &latency
		if i > 0 {
			keep = nil
		}
		callers.Go(func() {
			if _, err := askRepeatedly(to, each, keep, stop); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	done := make(chan struct{})
	go func() {
		callers.Wait()
		close(done)
	}()
	_, err = await(ctx, done, b.Limit)
	now := time.Now()
	close(stop)
	<-done
	if err == nil {
		err = first
	}
	if err != nil {
		return r, err
	}
	r.Messages, r.Usage = each*int64(b.Callers), m.stop(now)
	slices.Sort(latency)
	for i, q := range []float64{0.50, 0.99, 0.999} {
		r.Latency[i] = latency[min(len(latency)-1, int(q*float64(len(latency))))]
	}
	return r, nil
}

// askRepeatedly asks n times, or until stop is closed. Latencies beyond the capacity of keep are not kept.
func askRepeatedly(to *actor.Ref, n int64, keep *[]time.Duration, stop <-chan struct{}) (asked int64, err error) {
	question := &ball{}
	for ; asked < n; asked++ {
		if asked%64 == 0 {
			select {
			case <-stop:
				return asked, nil
			default:
			}
		}
		begin := time.Now()
		if _, err := actor.AskFor[*ball](to, question, askTimeout); err != nil {
			return asked, err
		}
		if keep != nil && len(*keep) < cap(*keep) {
			*keep = append(*keep, time.Since(begin))
		}
	}
	return asked, nil
}
