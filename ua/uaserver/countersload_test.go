package uaserver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// counters adds variables that are read to see how far they are: each reading counts one.
func counters(space *memspace.Space, n int) (list []*memspace.Variable, reads *atomic.Int64) {
	reads = new(atomic.Int64)
	folder := space.AddFolder(space.Objects(), "Counters")
	for i := range n {
		var count atomic.Int32
		list = append(list, space.AddVariable(folder, fmt.Sprint(i), ua.Int32(0), memspace.NonBlocking(), memspace.OnRead(func(memspace.Read) ua.DataValue {
			reads.Add(1)
			return ua.DataValue{Value: ua.Int32(count.Add(1))}
		})))
	}
	return list, reads
}

func counterItems(list []*memspace.Variable) (items []ua.MonitoredItemCreateRequest) {
	for i, v := range list {
		items = append(items, item(v.ID(), uint32(i), sampling(10), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 200 }))
	}
	return items
}

// TestCountersProgress: 4000 items sampled every 10 ms and published every second. Each gets 99 % of the
// samples that were due in the time that passed, in order, less what others had the processors. They may spoil a try all the same.
func TestCountersProgress(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	n := 4000
	if uaserver.RaceEnabled {
		n = 200
	}
	for try := 1; ; try++ {
		if worst := countersProgress(t, n); worst >= 0.99 {
			return
		} else if try == 3 {
			t.Fatalf("the slowest item got %.1f %% of the samples that were due", 100*worst)
		}
	}
}

func countersProgress(t *testing.T, n int) (worst float64) {
	p := newPlant(t, 0, 0)
	list, _ := counters(p.space, n)
	c, err := p.connect(60_000)
	if err != nil {
		t.Fatal(err)
	}
	var sub ua.CreateSubscriptionResponse
	if err := c.call(&ua.CreateSubscriptionRequest{RequestHeader: c.header(), RequestedPublishingInterval: 1000, PublishingEnabled: true}, &sub); err != nil {
		t.Fatal(err)
	}
	items := counterItems(list)
	if err := c.call(&ua.CreateMonitoredItemsRequest{RequestHeader: c.header(), SubscriptionID: sub.SubscriptionID,
		TimestampsToReturn: ua.TimestampsToReturnServer, ItemsToCreate: items}, &ua.CreateMonitoredItemsResponse{}); err != nil {
		t.Fatal(err)
	}
	type progress struct {
		first, last ua.DateTime
		count       int
		value       int64
	}
	seen := make([]progress, n)
	_, before := processorTime()
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		var r ua.PublishResponse
		if err := c.call(&ua.PublishRequest{RequestHeader: c.header()}, &r); err != nil {
			t.Fatal(err)
		}
		for _, x := range changes(&r) {
			s := &seen[x.ClientHandle]
			if x.Value.Value.Int() <= s.value || x.Value.Status != ua.Good {
				t.Fatalf("item %d: %v after %d", x.ClientHandle, x.Value, s.value)
			}
			if s.value = x.Value.Value.Int(); s.count == 0 {
				s.first = x.Value.ServerTimestamp
			}
			s.last = x.Value.ServerTimestamp
			s.count++
		}
	}
	waited := time.Duration(0) // of the thread that had to wait longest
	_, after := processorTime()
	for name, d := range after {
		waited = max(waited, d-before[name])
	}
	if err := c.close(true); err != nil {
		t.Error(err)
	}
	worst, total := 2.0, 0
	for _, s := range seen {
		passed := time.Duration(s.last-s.first) * 100
		due := float64(max(passed-waited, passed/2)) / float64(10*time.Millisecond)
		if s.count < 100 {
			t.Fatalf("an item got %d samples in all", s.count)
		}
		worst = min(worst, float64(s.count-1)/due)
		total += s.count
	}
	t.Logf("%d samples of %d items, the slowest got %.2f %% of what was due; a thread waited %v for a processor", total, n, 100*worst, waited)
	return worst
}

// processorTime is how long the threads of the process have run together, and how long each has waited for a
// processor that others had; nothing where the system does not tell.
func processorTime() (ran time.Duration, waited map[string]time.Duration) {
	waited = map[string]time.Duration{}
	list, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is good
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var r, w int64
		if _, err := fmt.Sscan(string(text), &r, &w); err == nil {
			ran += time.Duration(r)
			waited[name] = time.Duration(w)
		}
	}
	return ran, waited
}

// TestSamplingAllocates is the budget of a sample in steady state: nothing, publishing included.
func TestSamplingAllocates(t *testing.T) {
	if uaserver.RaceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	w := newWorld(t, nil)
	list, reads := counters(w.space, 1000)
	c := w.client()
	sub := c.subscribe(func(q *ua.CreateSubscriptionRequest) { q.RequestedPublishingInterval = 1000 })
	c.monitor(sub, counterItems(list)...)
	for range 5 {
		c.next()
	}
	c.Mute()
	second := func() {
		c.publish()
		c.pending = c.pending[:0]
		for range 100 {
			w.clock.Add(10 * time.Millisecond)
			w.s.RunDue()
		}
	}
	second()
	before := reads.Load()
	n := testing.AllocsPerRun(5, second)
	samples := (reads.Load() - before) / 6
	t.Logf("%v allocations for %d samples", n, samples)
	if samples < 99_000 {
		t.Errorf("%d samples a second, want 100,000", samples)
	}
	if n > 50 { // those of the test's own request among them
		t.Errorf("%v allocations for %d samples and a message", n, samples)
	}
}

// The readings of one item cost as much as those of ten thousand intervals: clients cannot make up more
// than some thousand.
func TestIntervalsAreFew(t *testing.T) {
	w := newWorld(t, nil)
	list, reads := counters(w.space, 1)
	c := w.client()
	sub := c.subscribe()
	var items []ua.MonitoredItemCreateRequest
	for i := range 10_000 {
		items = append(items, item(list[0].ID(), uint32(i), sampling(10+float64(i)/1000)))
	}
	results, err := c.tryMonitor(sub, items...)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for i, r := range results {
		if want := items[i].RequestedParameters.SamplingInterval; r.RevisedSamplingInterval < want || r.RevisedSamplingInterval > want*1.01 {
			t.Fatalf("%v ms became %v", want, r.RevisedSamplingInterval)
		}
		seen[r.RevisedSamplingInterval] = true
	}
	reads.Store(0)
	w.pass(100 * time.Millisecond)
	t.Logf("%d intervals, %d readings in 100 ms", len(seen), reads.Load())
	if len(seen) > 101 || reads.Load() > 101*10 {
		t.Errorf("%d intervals, %d readings", len(seen), reads.Load())
	}
}

// Items that are created and deleted by many at a time leave nothing to be read.
func TestSamplesOfManyClients(t *testing.T) {
	p := newPlant(t, 0, 0)
	list, reads := counters(p.space, 50)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			c, err := p.connect(60_000)
			if err != nil {
				t.Error(err)
				return
			}
			c.publish(2)
			for i := range 20 {
				id, err := c.subscribe(20, list[i:i+20]...)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(10 * time.Millisecond)
				if err := c.call(&ua.DeleteSubscriptionsRequest{RequestHeader: c.header(), SubscriptionIDs: []uint32{id}}, &ua.DeleteSubscriptionsResponse{}); err != nil {
					t.Error(err)
				}
			}
			if err := c.close(true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	time.Sleep(50 * time.Millisecond)
	before := reads.Load()
	time.Sleep(100 * time.Millisecond)
	if n := reads.Load() - before; n != 0 || before == 0 {
		t.Errorf("%d readings, and %d afterwards without an item", before, n)
	}
}
