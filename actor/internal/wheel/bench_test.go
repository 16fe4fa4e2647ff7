package wheel

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The pattern of ask: added with a timeout, removed by the answer; 64 in flight.
func BenchmarkAddRemove(b *testing.B) {
	b.ReportAllocs()
	w := New(0, 0)
	var timers [64]Timer
	now := time.Duration(0)
	for i := range b.N {
		t := &timers[i%64]
		w.Remove(t)
		now += 500
		w.Add(t, now+5*time.Second)
	}
}

// With a million timers on the wheel, each in memory of its own: what a move costs without the caches.
func BenchmarkMoveOneOfAMillion(b *testing.B) {
	b.ReportAllocs()
	w := New(0, 0)
	timers := make([]struct {
		Timer
		_ [200]byte
	}, 1_000_000)
	for i := range timers {
		w.Add(&timers[i].Timer, time.Duration(rand.Int64N(int64(time.Minute))))
	}
	at := make([]int32, 1<<16)
	for i := range at {
		at[i] = rand.Int32N(1_000_000)
	}
	b.ResetTimer()
	for i := range b.N {
		w.Add(&timers[at[i%len(at)]].Timer, time.Duration(i)+30*time.Second)
	}
}

// Everything of a tick, a timer an operation: 1000 timers a tick, added in order and out of order.
func BenchmarkAdvance(b *testing.B) {
	for _, order := range []string{"sorted", "random"} {
		b.Run(order, func(b *testing.B) {
			b.ReportAllocs()
			w := New(0, 0)
			timers := make([]Timer, 1000)
			now, n := time.Duration(0), 0
			for n < b.N {
				for i := range timers {
					d := time.Duration(i) * 10 * time.Microsecond
					if order == "random" {
						d = time.Duration(rand.Int64N(int64(10 * time.Millisecond)))
					}
					w.Add(&timers[i], now+d)
				}
				now += 10 * time.Millisecond
				for t := w.Advance(now); t != nil; t = w.Advance(now) {
					n++
				}
			}
		})
	}
}

// A clock that jumps an hour, a jump an operation.
func BenchmarkJump(b *testing.B) {
	b.ReportAllocs()
	w := New(0, 0)
	var t Timer
	now := time.Duration(0)
	for range b.N {
		w.Add(&t, now+59*time.Minute)
		now += time.Hour
		if w.Advance(now) == nil || w.Advance(now) != nil {
			b.Fatal("one timer is due")
		}
		now %= 100 * time.Hour
		if now == 0 {
			w = New(0, 0)
		}
	}
}

// The longest step: a slot of the second level, 5.12 s of timers that were far away, moves to the first.
func BenchmarkTurnWithAMillionFarTimers(b *testing.B) {
	timers := make([]struct {
		Timer
		_ [200]byte
	}, 1_000_000)
	for range b.N {
		b.StopTimer()
		w := New(0, 0)
		clear(timers)
		for i := range timers {
			w.Add(&timers[i].Timer, 512*10*time.Millisecond+time.Duration(rand.Int64N(int64(512*10*time.Millisecond))))
		}
		b.StartTimer()
		w.Advance(512 * 10 * time.Millisecond)
	}
}
