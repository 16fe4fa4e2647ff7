package subs

import (
	"testing"
	"time"
)

// TestPhase has publishing timers that begin at different times expire together, the first time within
// an interval.
func TestPhase(t *testing.T) {
	for _, ms := range []float64{10, 30, 100, 250, 1000} {
		m := New(Config{Limits: Limits{Phase: 100 * time.Millisecond}})
		x := m.OpenSession(nil)
		var due []time.Duration
		for _, at := range []time.Duration{1000, 1003, 1042, 1099} {
			at *= time.Millisecond
			s, _ := m.Create(Now{At: at}, x, Params{PublishingInterval: ms, MaxKeepAliveCount: 10, LifetimeCount: 100}, true)
			next := s.timeOf(s.tickAt(at) + 1)
			if next <= at || next > at+s.p.PublishingInterval || s.tickAt(at) != 0 {
				t.Errorf("interval %v ms: begun at %v, first due at %v, tick %d", ms, at, next, s.tickAt(at))
			}
			for next < 1100*time.Millisecond {
				next += s.p.PublishingInterval
			}
			due = append(due, next)
		}
		for _, d := range due[1:] {
			if d != due[0] {
				t.Errorf("interval %v ms: due at %v", ms, due)
				break
			}
		}
	}
}
