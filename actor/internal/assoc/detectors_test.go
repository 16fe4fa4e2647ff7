package assoc

import (
	"math"
	"testing"
	"time"
)

func TestRow39DeadlineDetector(t *testing.T) {
	d := NewDeadlineDetector(120*time.Second, 4*time.Second)
	if !d.Available(1000*time.Hour) || d.Monitoring() {
		t.Error("a peer never heard of counts as dead")
	}
	d.Heartbeat(10 * time.Second)
	if !d.Monitoring() || !d.Available(10*time.Second) || !d.Available(134*time.Second) {
		t.Error("dead within 124 s")
	}
	if d.Available(134*time.Second + 1) {
		t.Error("alive after 124 s")
	}
	d.Heartbeat(200 * time.Second)
	if !d.Available(300 * time.Second) {
		t.Error("it stays dead after a new heartbeat")
	}
}

func phiOf(threshold float64, samples int, deviation, pause, first time.Duration) *PhiDetector {
	return NewPhiDetector(PhiSettings{Threshold: threshold, MaxSampleSize: samples, MinStdDeviation: deviation, AcceptableHeartbeatPause: pause, FirstHeartbeatEstimate: first})
}

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

func TestRow39PhiFormula(t *testing.T) {
	// The chance that a normally distributed interval is longer, from tables of the distribution.
	for _, c := range []struct{ t, mean, deviation, p float64 }{
		{0, 0, 10, 0.5}, {6, 0, 10, 0.2743}, {15, 0, 10, 0.0668}, {20, 0, 10, 0.0228}, {25, 0, 10, 0.0062}, {35, 0, 10, 0.0002},
		{40, 0, 10, 0.00003}, {-10, 0, 10, 0.8413},
	} {
		if got := math.Pow(10, -phi(c.t, c.mean, c.deviation)); !near(got, c.p, 0.0003) {
			t.Errorf("%v of mean %v +- %v: %.5f, want %.5f", c.t, c.mean, c.deviation, got, c.p)
		}
	}
	// A step by hand: y 5, exponent -5(1.5976 + 0.070566*25).
	e := math.Exp(-5 * (1.5976 + 1.76415))
	if got, want := phi(1500, 1000, 100), -math.Log10(e/(1+e)); !near(got, want, 1e-12) || got < 7 {
		t.Errorf("%v, want %v", got, want)
	}
	last := -1.0
	for t0 := -100.0; t0 < 5000; t0 += 10 { // never falls, and stands extremes
		if p := phi(t0, 1000, 100); p < last || math.IsNaN(p) {
			t.Fatalf("at %v: %v after %v", t0, p, last)
		} else {
			last = p
		}
	}
	if p := phi(1e9, 1000, 100); !math.IsInf(p, 1) {
		t.Errorf("after ages %v", p)
	}
}

func TestRow39PhiDetector(t *testing.T) {
	d := phiOf(8, 1000, 100*time.Millisecond, 0, time.Second)
	if d.Phi(time.Hour) != 0 || !d.Available(time.Hour) || d.Monitoring() {
		t.Error("suspicious before the first heartbeat")
	}
	d.Heartbeat(0)
	// Two guesses: 750 and 1250 ms.
	if !near(d.Mean(), 1000, 1e-9) || !near(d.StdDeviation(), 250, 1e-9) || !d.Monitoring() {
		t.Errorf("first guess %v +- %v", d.Mean(), d.StdDeviation())
	}
	if p := d.Phi(time.Second); !near(p, 0.3, 0.2) {
		t.Errorf("phi after the expected interval %v", p)
	}
	if p := d.Phi(2 * time.Second); p < 4.5 {
		t.Errorf("phi after two intervals %v", p)
	}
	now := time.Duration(0)
	for range 500 {
		now += time.Second
		d.Heartbeat(now)
	}
	if !d.Available(now+1200*time.Millisecond) || d.Available(now+2*time.Second) {
		t.Errorf("phi %v after 1.2 s, %v after 2 s", d.Phi(now+1200*time.Millisecond), d.Phi(now+2*time.Second))
	}
	// Dead, and back: the gap does not become part of the history.
	mean := d.Mean()
	now += time.Minute
	if d.Available(now) {
		t.Error("alive after a minute")
	}
	d.Heartbeat(now)
	if !d.Available(now) || d.Mean() != mean {
		t.Errorf("after the return: phi %v, mean %v", d.Phi(now), d.Mean())
	}
	// A pause that is allowed.
	d = phiOf(3, 1000, 100*time.Millisecond, 3*time.Second, time.Second)
	for now = 0; now < 10*time.Second; now += time.Second {
		d.Heartbeat(now)
	}
	if now -= time.Second; !d.Available(now+3900*time.Millisecond) || d.Available(now+5*time.Second) {
		t.Error("the pause is not respected")
	}
	// The detector of remote watch with its defaults: between 10 and 13 s.
	w := NewPhiDetector(defaultPhi())
	for now = 0; now < time.Minute; now += time.Second {
		w.Heartbeat(now)
	}
	if now -= time.Second; !w.Available(now+11*time.Second) || w.Available(now+13*time.Second) {
		t.Errorf("phi %v after 11 s, %v after 13 s", w.Phi(now+11*time.Second), w.Phi(now+13*time.Second))
	}
}

func TestRow39PhiWindow(t *testing.T) {
	d := phiOf(10, 3, time.Millisecond, time.Hour, time.Second)
	now := time.Duration(0)
	d.Heartbeat(now)
	for _, interval := range []time.Duration{100, 200, 300, 400, 600} {
		now += interval * time.Millisecond
		d.Heartbeat(now)
	}
	if want := (300.0 + 400 + 600) / 3; !near(d.Mean(), want, 1e-9) || !near(d.StdDeviation(), 124.7219, 1e-3) {
		t.Errorf("%v +- %v", d.Mean(), d.StdDeviation())
	}
	d.Heartbeat(now - time.Second) // a clock that goes back must not break anything
	if m := d.Mean(); m < 0 || math.IsNaN(d.StdDeviation()) {
		t.Errorf("%v +- %v", m, d.StdDeviation())
	}
	d.Reset()
	if d.Monitoring() || d.Phi(time.Hour) != 0 {
		t.Error("not forgotten")
	}
	one := phiOf(10, 1, time.Millisecond, time.Hour, time.Second)
	for range 3 {
		now += time.Second
		one.Heartbeat(now)
	}
	if one.Mean() != 1000 {
		t.Errorf("a window of one: %v", one.Mean())
	}
}

func TestDetectorAllocations(t *testing.T) {
	d, p, now := NewDeadlineDetector(1, 1), NewPhiDetector(defaultPhi()), time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += time.Second
		d.Heartbeat(now)
		p.Heartbeat(now)
		if !d.Available(now) || !p.Available(now) {
			t.Fatal("dead")
		}
	}); n != 0 {
		t.Errorf("%v allocations a heartbeat", n)
	}
}
