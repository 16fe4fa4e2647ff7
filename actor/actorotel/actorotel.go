// Package actorotel shows actor systems to OpenTelemetry.
//
//	meter, err := actorotel.New(provider.Meter("plant"))
//	system, err := actor.NewSystem("plant", actor.Config{Meter: meter})
//
// Instruments, all with the attribute system, those by class with class ([actor.Props.Class], at most 250 and
// "other"):
//
//	actua.actor.processing          histogram by class, s: time an actor took for a message
//	actua.actor.mailbox.depth       gauge by class: user messages that wait, in all
//	actua.actor.mailbox.depth.max   gauge by class: user messages that wait in the fullest mailbox
//	actua.actor.actors              gauge by class: actors that live
//	actua.actor.failures            counter by class: failures of actors' code
//	actua.actor.restarts            counter by class
//	actua.actor.dead_letters        counter by class of the actor that had ended, "" where there was none
//	actua.actor.started             counter
//	actua.actor.stopped             counter
//	actua.actor.unhandled_messages  counter
//	actua.actor.dropped_messages    counter
//
// An exporter to Prometheus makes of them the names of package actorprom. The gauges and the counters without a
// class are taken when a reader asks, by a walk over all actors.
package actorotel

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/actua/actua/actor"
)

// Meter is an [actor.Meter]. It may be the Meter of several systems, which have to have different names; one that
// has terminated is not looked at any more.
type Meter struct {
	processing                      metric.Float64Histogram
	failures, restarts, deadLetters metric.Int64Counter

	depth, depthMax, actors              metric.Int64ObservableGauge
	started, stopped, unhandled, dropped metric.Int64ObservableCounter
	registration                         metric.Registration

	mu      sync.Mutex
	systems []*actor.System
}

// New makes the instruments. Errors are those of the meter that makes them. A nil meter is an error.
func New(with metric.Meter) (*Meter, error) {
	if with == nil {
		return nil, errors.New("actorotel: New needs a meter")
	}
	m := &Meter{}
	var errs []error
	err := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	var e error
	m.processing, e = with.Float64Histogram("actua.actor.processing", metric.WithUnit("s"),
		metric.WithDescription("Time an actor took for a message."),
		metric.WithExplicitBucketBoundaries(1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10))
	err(e)
	counter := func(name, text string) metric.Int64Counter {
		c, e := with.Int64Counter(name, metric.WithDescription(text))
		err(e)
		return c
	}
	m.failures = counter("actua.actor.failures", "Failures of actors' code.")
	m.restarts = counter("actua.actor.restarts", "Restarts of actors.")
	m.deadLetters = counter("actua.actor.dead_letters", "Messages to actors that were not there.")
	gauge := func(name, text string) metric.Int64ObservableGauge {
		g, e := with.Int64ObservableGauge(name, metric.WithDescription(text))
		err(e)
		return g
	}
	m.depth = gauge("actua.actor.mailbox.depth", "User messages that wait in mailboxes.")
	m.depthMax = gauge("actua.actor.mailbox.depth.max", "User messages that wait in the fullest mailbox.")
	m.actors = gauge("actua.actor.actors", "Actors that live.")
	total := func(name, text string) metric.Int64ObservableCounter {
		c, e := with.Int64ObservableCounter(name, metric.WithDescription(text))
		err(e)
		return c
	}
	m.started = total("actua.actor.started", "Actors that were started.")
	m.stopped = total("actua.actor.stopped", "Actors that have ended.")
	m.unhandled = total("actua.actor.unhandled_messages", "Messages that actors did not handle.")
	m.dropped = total("actua.actor.dropped_messages", "Messages that were not delivered for other reasons than their receiver's end.")
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	m.registration, e = with.RegisterCallback(m.observe, m.depth, m.depthMax, m.actors, m.started, m.stopped, m.unhandled, m.dropped)
	if e != nil {
		return nil, e
	}
	return m, nil
}

// Close ends the observation. The error is that of the meter.
func (m *Meter) Close() error { return m.registration.Unregister() }

// Attach is called by actor.NewSystem.
func (m *Meter) Attach(s *actor.System) {
	m.mu.Lock()
	m.systems = append(m.systems, s)
	m.mu.Unlock()
}

// Class is called by the actor runtime.
func (m *Meter) Class(s *actor.System, class string) actor.ClassMeter {
	return &classMeter{m, metric.WithAttributeSet(attribute.NewSet(
		attribute.String("system", s.Name()), attribute.String("class", class)))}
}

type classMeter struct {
	m  *Meter
	by metric.MeasurementOption
}

func (c *classMeter) Handled(took time.Duration) {
	c.m.processing.Record(context.Background(), took.Seconds(), c.by)
}
func (c *classMeter) Failed()     { c.m.failures.Add(context.Background(), 1, c.by) }
func (c *classMeter) Restarted()  { c.m.restarts.Add(context.Background(), 1, c.by) }
func (c *classMeter) DeadLetter() { c.m.deadLetters.Add(context.Background(), 1, c.by) }

// observe is called by a reader.
func (m *Meter) observe(_ context.Context, to metric.Observer) error {
	for _, s := range m.alive() {
		system := attribute.String("system", s.Name())
		for _, c := range s.Classes() {
			by := metric.WithAttributes(system, attribute.String("class", c.Class))
			to.ObserveInt64(m.depth, int64(c.Depth), by)
			to.ObserveInt64(m.depthMax, int64(c.Deepest), by)
			to.ObserveInt64(m.actors, int64(c.Actors), by)
		}
		st, by := s.Stats(), metric.WithAttributes(system)
		to.ObserveInt64(m.started, st.Started, by)
		to.ObserveInt64(m.stopped, st.Stopped, by)
		to.ObserveInt64(m.unhandled, st.Unhandled, by)
		to.ObserveInt64(m.dropped, st.Dropped, by)
	}
	return nil
}

// alive are the systems that have not terminated. The others are forgotten.
func (m *Meter) alive() []*actor.System {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.systems = slices.DeleteFunc(m.systems, func(s *actor.System) bool {
		select {
		case <-s.WhenTerminated():
			return true
		default:
			return false
		}
	})
	return slices.Clone(m.systems)
}
