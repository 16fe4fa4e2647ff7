package actorprom_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/actorprom"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestMeter(t *testing.T) {
	meter := actorprom.New(nil)
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(meter)
	s, err := actor.NewSystem("plant", actor.Config{Meter: meter, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	in, out := make(chan struct{}), make(chan struct{})
	r := s.MustSpawn(actor.FromFunc(func(ctx *actor.Context, m any) {
		switch m {
		case "wait":
			in <- struct{}{}
			<-out
		case "fail":
			panic(m)
		case "odd":
			ctx.Unhandled()
		}
	}).WithClass("press"), "")
	r.Tell("fail")
	r.Tell("odd")
	r.Tell(nil)
	r.Tell("wait")
	<-in
	s.DeadLetters().Tell(1)
	want := `
# HELP actua_actor_actors Actors that live.
# TYPE actua_actor_actors gauge
actua_actor_actors{class="actor.guardian",system="plant"} 2
actua_actor_actors{class="actor.rootGuardian",system="plant"} 1
actua_actor_actors{class="press",system="plant"} 1
# HELP actua_actor_dead_letters_total Messages to actors that were not there.
# TYPE actua_actor_dead_letters_total counter
actua_actor_dead_letters_total{class="",system="plant"} 1
actua_actor_dead_letters_total{class="press",system="plant"} 0
# HELP actua_actor_dropped_messages_total Messages that were not delivered for other reasons than their receiver's end.
# TYPE actua_actor_dropped_messages_total counter
actua_actor_dropped_messages_total{system="plant"} 1
# HELP actua_actor_failures_total Failures of actors' code.
# TYPE actua_actor_failures_total counter
actua_actor_failures_total{class="",system="plant"} 0
actua_actor_failures_total{class="press",system="plant"} 1
# HELP actua_actor_restarts_total Restarts of actors.
# TYPE actua_actor_restarts_total counter
actua_actor_restarts_total{class="",system="plant"} 0
actua_actor_restarts_total{class="press",system="plant"} 1
# HELP actua_actor_started_total Actors that were started.
# TYPE actua_actor_started_total counter
actua_actor_started_total{system="plant"} 4
# HELP actua_actor_stopped_total Actors that have ended.
# TYPE actua_actor_stopped_total counter
actua_actor_stopped_total{system="plant"} 0
# HELP actua_actor_unhandled_messages_total Messages that actors did not handle.
# TYPE actua_actor_unhandled_messages_total counter
actua_actor_unhandled_messages_total{system="plant"} 1
`
	names := []string{}
	for l := range strings.Lines(want) {
		if f := strings.Fields(l); len(f) > 2 && f[1] == "TYPE" {
			names = append(names, f[2])
		}
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	for range 5 {
		r.Tell("more")
	}
	if d := gauge(t, reg, "actua_actor_mailbox_depth", "press"); d < 5 || d > 8 { // those of this turn may be counted
		t.Errorf("depth %v", d)
	}
	if d := gauge(t, reg, "actua_actor_mailbox_depth_max", "press"); d < 5 || d > 8 {
		t.Errorf("greatest depth %v", d)
	}
	close(out)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := actor.GracefulStop(ctx, r, nil); err != nil {
		t.Fatal(err)
	}
	// fail, odd, wait, five more, PoisonPill; the last is told after the end of the actor.
	for gauge(t, reg, "actua_actor_processing_seconds", "press") != 9 {
		if ctx.Err() != nil {
			t.Fatalf("%v messages measured", gauge(t, reg, "actua_actor_processing_seconds", "press"))
		}
	}
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if fs, err := reg.Gather(); err != nil || len(fs) != 0 {
		t.Errorf("of a system that has ended are left %v, %v", fs, err)
	}
}

// gauge is the value of a metric of a class, or the number of values of a histogram.
func gauge(t *testing.T, reg *prometheus.Registry, name, class string) float64 {
	t.Helper()
	fs, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetName() == "class" && l.GetValue() == class {
					if h := m.GetHistogram(); h != nil {
						return float64(h.GetSampleCount())
					}
					return m.GetGauge().GetValue()
				}
			}
		}
	}
	return -1
}
