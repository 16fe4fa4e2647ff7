package assoc

import (
	"math"
	"time"
)

// DeadlineDetector takes a peer for dead when nothing has come for longer than a pause and an interval together
// (Akka.NET 1.5, DeadlineFailureDetector): the detector of connections. It allocates nothing.
type DeadlineDetector struct {
	limit time.Duration
	last  time.Duration
	seen  bool
}

// NewDeadlineDetector makes a detector for heartbeats every interval that may pause for so long.
func NewDeadlineDetector(pause, interval time.Duration) DeadlineDetector {
	return DeadlineDetector{limit: pause + interval}
}

// Heartbeat tells of a sign of life.
func (d *DeadlineDetector) Heartbeat(now time.Duration) { d.last, d.seen = now, true }

// Available reports whether the peer counts as alive. It does while nothing was ever heard of it.
func (d *DeadlineDetector) Available(now time.Duration) bool {
	return !d.seen || now-d.last <= d.limit
}

// Monitoring reports whether there has been a heartbeat.
func (d *DeadlineDetector) Monitoring() bool { return d.seen }

// PhiDetector weighs the time since the last heartbeat with the history of the intervals (Akka.NET 1.5,
// PhiAccrualFailureDetector; Hayashibara and others, 2004): the detector of watched nodes. Its window of samples is
// bounded and made once: a heartbeat allocates nothing.
type PhiDetector struct {
	cfg     PhiSettings
	samples []float64 // intervals in ms; a ring once it is full
	at      int       // where the next one goes in the full ring
	sum     float64
	squares float64
	last    time.Duration
	seen    bool
}

// NewPhiDetector makes a detector, with memory for all its samples.
func NewPhiDetector(cfg PhiSettings) *PhiDetector {
	cfg.MaxSampleSize = max(cfg.MaxSampleSize, 1)
	return &PhiDetector{cfg: cfg, samples: make([]float64, 0, max(cfg.MaxSampleSize, 2))}
}

// Heartbeat tells of a sign of life. The first one starts the history with two guesses around the expected interval;
// an interval that had the peer counted as dead is left out of it.
func (d *PhiDetector) Heartbeat(now time.Duration) {
	switch {
	case !d.seen:
		mean := ms(d.cfg.FirstHeartbeatEstimate)
		d.add(mean - mean/4)
		d.add(mean + mean/4)
	case d.Available(now):
		d.add(max(ms(now-d.last), 0))
	}
	d.last, d.seen = max(now, d.last), true
}

// add puts a sample into the window.
func (d *PhiDetector) add(v float64) {
	if len(d.samples) < d.cfg.MaxSampleSize {
		d.samples = append(d.samples, v)
		d.sum += v
		d.squares += v * v
		return
	}
	d.samples[d.at] = v
	if d.at++; d.at == len(d.samples) {
		d.at = 0
	}
	// Adding and taking away again would gather errors for as long as the node lives; a full sum of 200 costs 200 ns.
	d.sum, d.squares = 0, 0
	for _, s := range d.samples {
		d.sum += s
		d.squares += s * s
	}
}

// Mean is the mean interval of the window in milliseconds, 0 before the first heartbeat.
func (d *PhiDetector) Mean() float64 {
	if len(d.samples) == 0 {
		return 0
	}
	return d.sum / float64(len(d.samples))
}

// StdDeviation is the standard deviation of the window in milliseconds.
func (d *PhiDetector) StdDeviation() float64 {
	mean := d.Mean()
	if len(d.samples) == 0 {
		return 0
	}
	return math.Sqrt(max(d.squares/float64(len(d.samples))-mean*mean, 0))
}

// Phi is how suspicious the silence is: at 1 the chance to be wrong is 10 %, at 2 it is 1 %, and so on. 0
// before the first heartbeat.
func (d *PhiDetector) Phi(now time.Duration) float64 {
	if !d.seen {
		return 0
	}
	return phi(ms(now-d.last), d.Mean()+ms(d.cfg.AcceptableHeartbeatPause), max(d.StdDeviation(), ms(d.cfg.MinStdDeviation)))
}

// phi is the logistic approximation of the cumulative normal distribution, all in milliseconds.
func phi(t, mean, deviation float64) float64 {
	y := (t - mean) / deviation
	e := math.Exp(-y * (1.5976 + 0.070566*y*y))
	if t > mean {
		return -math.Log10(e / (1 + e))
	}
	return -math.Log10(1 - 1/(1+e))
}

// Available reports whether the peer counts as alive.
func (d *PhiDetector) Available(now time.Duration) bool { return d.Phi(now) < d.cfg.Threshold }

// Monitoring reports whether there has been a heartbeat.
func (d *PhiDetector) Monitoring() bool { return d.seen }

// Reset forgets everything, for a new incarnation of the peer.
func (d *PhiDetector) Reset() {
	d.samples, d.at, d.sum, d.squares, d.seen, d.last = d.samples[:0], 0, 0, 0, false, 0
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
