// Package actorprom shows actor systems to Prometheus.
//
//	meter := actorprom.New(nil)
//	prometheus.MustRegister(meter)
//	system, err := actor.NewSystem("plant", actor.Config{Meter: meter})
//
// Metrics, all with the label system, those by class with class ([actor.Props.Class], at most 250 and "other"):
//
//	actua_actor_processing_seconds        histogram by class: time an actor took for a message
//	actua_actor_mailbox_depth             gauge by class: user messages that wait, in all
//	actua_actor_mailbox_depth_max         gauge by class: user messages that wait in the fullest mailbox
//	actua_actor_actors                    gauge by class: actors that live
//	actua_actor_failures_total            counter by class: failures of actors' code
//	actua_actor_restarts_total            counter by class
//	actua_actor_dead_letters_total        counter by class of the actor that had ended, "" where there was none
//	actua_actor_started_total             counter
//	actua_actor_stopped_total             counter
//	actua_actor_unhandled_messages_total  counter
//	actua_actor_dropped_messages_total    counter
//
// The gauges are taken when Prometheus asks, by a walk over all actors: some tenths of a second for a million.
package actorprom

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/actua/actua/actor"
)

// DefaultBuckets are those of actua_actor_processing_seconds: 1 µs to 10 s.
var DefaultBuckets = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}

// Meter is an [actor.Meter] and a prometheus.Collector. It may be the Meter of several systems, which have to have
// different names; one that has terminated is forgotten, with its gauges and its counters.
type Meter struct {
	processing                      *prometheus.HistogramVec
	failures, restarts, deadLetters *prometheus.CounterVec

	mu      sync.Mutex
	systems []*actor.System
}

// New makes a Meter. buckets are the upper bounds of the processing times in seconds, rising; nil is
// DefaultBuckets.
func New(buckets []float64) *Meter {
	if buckets == nil {
		buckets = DefaultBuckets
	}
	by := []string{"system", "class"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, by)
	}
	return &Meter{
		processing: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "actua_actor_processing_seconds", Help: "Time an actor took for a message.", Buckets: slices.Clone(buckets),
		}, by),
		failures:    counter("actua_actor_failures_total", "Failures of actors' code."),
		restarts:    counter("actua_actor_restarts_total", "Restarts of actors."),
		deadLetters: counter("actua_actor_dead_letters_total", "Messages to actors that were not there."),
	}
}

// Attach is called by actor.NewSystem.
func (m *Meter) Attach(s *actor.System) {
	m.mu.Lock()
	m.systems = append(m.systems, s)
	m.mu.Unlock()
}

// Class is called by the actor runtime.
func (m *Meter) Class(s *actor.System, class string) actor.ClassMeter {
	by := prometheus.Labels{"system": s.Name(), "class": class}
	return &classMeter{
		processing: m.processing.With(by), failures: m.failures.With(by),
		restarts: m.restarts.With(by), deadLetters: m.deadLetters.With(by),
	}
}

type classMeter struct {
	processing                      prometheus.Observer
	failures, restarts, deadLetters prometheus.Counter
}

func (c *classMeter) Handled(took time.Duration) { c.processing.Observe(took.Seconds()) }
func (c *classMeter) Failed()                    { c.failures.Inc() }
func (c *classMeter) Restarted()                 { c.restarts.Inc() }
func (c *classMeter) DeadLetter()                { c.deadLetters.Inc() }

var (
	depth     = byClass("actua_actor_mailbox_depth", "User messages that wait in mailboxes.")
	depthMax  = byClass("actua_actor_mailbox_depth_max", "User messages that wait in the fullest mailbox.")
	actors    = byClass("actua_actor_actors", "Actors that live.")
	started   = bySystem("actua_actor_started_total", "Actors that were started.")
	stopped   = bySystem("actua_actor_stopped_total", "Actors that have ended.")
	unhandled = bySystem("actua_actor_unhandled_messages_total", "Messages that actors did not handle.")
	dropped   = bySystem("actua_actor_dropped_messages_total", "Messages that were not delivered for other reasons than their receiver's end.")
)

func byClass(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"system", "class"}, nil)
}

func bySystem(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"system"}, nil)
}

// Describe is a method of prometheus.Collector.
func (m *Meter) Describe(to chan<- *prometheus.Desc) {
	m.processing.Describe(to)
	m.failures.Describe(to)
	m.restarts.Describe(to)
	m.deadLetters.Describe(to)
	for _, d := range []*prometheus.Desc{depth, depthMax, actors, started, stopped, unhandled, dropped} {
		to <- d
	}
}

// Collect is a method of prometheus.Collector.
func (m *Meter) Collect(to chan<- prometheus.Metric) {
	for _, s := range m.alive() {
		name := s.Name()
		for _, c := range s.Classes() {
			to <- prometheus.MustNewConstMetric(depth, prometheus.GaugeValue, float64(c.Depth), name, c.Class)
			to <- prometheus.MustNewConstMetric(depthMax, prometheus.GaugeValue, float64(c.Deepest), name, c.Class)
			to <- prometheus.MustNewConstMetric(actors, prometheus.GaugeValue, float64(c.Actors), name, c.Class)
		}
		st := s.Stats()
		to <- prometheus.MustNewConstMetric(started, prometheus.CounterValue, float64(st.Started), name)
		to <- prometheus.MustNewConstMetric(stopped, prometheus.CounterValue, float64(st.Stopped), name)
		to <- prometheus.MustNewConstMetric(unhandled, prometheus.CounterValue, float64(st.Unhandled), name)
		to <- prometheus.MustNewConstMetric(dropped, prometheus.CounterValue, float64(st.Dropped), name)
	}
	m.processing.Collect(to)
	m.failures.Collect(to)
	m.restarts.Collect(to)
	m.deadLetters.Collect(to)
}

// alive are the systems that have not terminated. The others are forgotten.
func (m *Meter) alive() []*actor.System {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.systems = slices.DeleteFunc(m.systems, func(s *actor.System) bool {
		select {
		case <-s.WhenTerminated():
			for _, v := range []*prometheus.MetricVec{m.processing.MetricVec, m.failures.MetricVec, m.restarts.MetricVec, m.deadLetters.MetricVec} {
				v.DeletePartialMatch(prometheus.Labels{"system": s.Name()})
			}
			return true
		default:
			return false
		}
	})
	return slices.Clone(m.systems)
}
