package actorotel_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/actorotel"
)

func TestMeterOfNothing(t *testing.T) {
	if _, err := actorotel.New(nil); err == nil {
		t.Error("no error without a meter")
	}
}

func TestMeter(t *testing.T) {
	reader := sdk.NewManualReader()
	meter, err := actorotel.New(sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := actor.NewSystem("plant", actor.Config{Meter: meter, Logger: log})
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
	got := collect(t, reader)
	for name, want := range map[string]int64{
		"actua.actor.actors press": 1, "actua.actor.actors actor.guardian": 2,
		"actua.actor.failures press": 1, "actua.actor.restarts press": 1, "actua.actor.dead_letters ": 1,
		"actua.actor.started": 4, "actua.actor.stopped": 0, "actua.actor.unhandled_messages": 1,
		"actua.actor.dropped_messages": 1, "actua.actor.processing press": 2,
	} {
		if n, ok := got[name]; !ok || n != want {
			t.Errorf("%s is %d (%v), not %d", name, n, ok, want)
		}
	}
	for range 5 {
		r.Tell("more")
	}
	got = collect(t, reader)
	if d, m := got["actua.actor.mailbox.depth press"], got["actua.actor.mailbox.depth.max press"]; d < 5 || d > 8 || m != d { // those of this turn may be counted
		t.Errorf("depth %d, at most %d", d, m)
	}
	close(out)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	got = collect(t, reader)
	if _, ok := got["actua.actor.actors press"]; ok {
		t.Error("a system that has ended is still looked at")
	}
	if err := meter.Close(); err != nil {
		t.Error(err)
	}
}

// collect are the values by name and class; of a histogram how many there are.
func collect(t *testing.T, reader *sdk.ManualReader) map[string]int64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	note := func(name string, by attribute.Set, v int64) {
		if s, _ := by.Value("system"); s.AsString() != "plant" {
			t.Errorf("%s is of system %q", name, s.AsString())
		}
		if c, ok := by.Value("class"); ok {
			name += " " + c.AsString()
		}
		out[name] = v
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					note(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					note(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				if m.Unit != "s" {
					t.Errorf("unit %q", m.Unit)
				}
				for _, p := range d.DataPoints {
					note(m.Name, p.Attributes, int64(p.Count))
				}
			default:
				t.Errorf("%T", d)
			}
		}
	}
	return out
}
