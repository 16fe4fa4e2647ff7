package actor

import (
	"sync/atomic"
	"testing"
	"time"
)

// drops is a Source that hands out the same messages again and again, and counts what had been handled when it was
// flushed.
type drops struct {
	to      *Ref
	each    int
	handled *atomic.Int64
	fills   int
	whole   int // flushes that found all of the batch handled
	end     chan struct{}
}

func (d *drops) Fill(b *Batch) bool {
	if d.fills--; d.fills < 0 {
		return false
	}
	for d.handled.Load() > 0 { // what others still handle of the last batch
		time.Sleep(10 * time.Microsecond)
	}
	d.handled.Store(int64(d.each))
	for range d.each {
		b.Tell(d.to, "x", nil)
	}
	return true
}

func (d *drops) Flush() {
	if d.handled.Load() == 0 {
		d.whole++
	}
}

func (d *drops) Ended() { close(d.end) }

// More messages than an actor handles in one turn are handled before the answers are sent, if it takes little time.
func TestReaderHandlesTheWholeBatch(t *testing.T) {
	sys, err := NewSystem("reader", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Terminate()
	for _, c := range []struct {
		name string
		work time.Duration // a message
		all  bool
	}{{"quick", 0, true}, {"slow", 50 * time.Microsecond, false}} {
		t.Run(c.name, func(t *testing.T) {
			var left atomic.Int64
			to := sys.MustSpawn(FromFunc(func(*Context, any) {
				for until := time.Now().Add(c.work); time.Now().Before(until); {
				}
				left.Add(-1)
			}), "")
			d := &drops{to: to, each: 5 * defaultThroughput, handled: &left, fills: 50, end: make(chan struct{})}
			(&Port{sys}).Read(d)
			select {
			case <-d.end:
			case <-time.After(20 * time.Second):
				t.Fatal("the source has not ended")
			}
			t.Logf("%d of 50 batches were handled whole", d.whole)
			if c.all && d.whole < 10 { // the machine may have had other things to do for some of them
				t.Errorf("%d of 50 batches were handled whole", d.whole)
			}
			if !c.all && d.whole > 40 {
				t.Errorf("%d of 50 batches held the connection up", d.whole)
			}
		})
	}
}
