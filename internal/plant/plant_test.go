package plant

import (
	"context"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func build(t *testing.T) (*memspace.Space, *Plant) {
	t.Helper()
	s := memspace.New("urn:actua:demo")
	p, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func asker() *uaserver.Context {
	return &uaserver.Context{Context: context.Background(), Session: new(uaserver.SessionInfo), Now: ua.Now(), MayBlock: true}
}

func variable(t *testing.T, s *memspace.Space, name string) *memspace.Variable {
	t.Helper()
	v := s.Variable(ua.NewStringNodeID(s.Namespace(), name))
	if v == nil {
		t.Fatalf("no variable %q", name)
	}
	return v
}

func write(s *memspace.Space, v *memspace.Variable, x ua.Variant) (status ua.StatusCode) {
	s.Write(asker(), []uaserver.WriteItem{{
		NodeID: v.ID(), Attribute: ua.AttributeValue, Value: &ua.DataValue{Value: x}, Result: &status,
	}})
	return status
}

func call(s *memspace.Space, object, method string, inputs ...ua.Variant) (r ua.CallMethodResult) {
	ns := s.Namespace()
	s.Call(asker(), &uaserver.CallItem{
		ObjectID: ua.NewStringNodeID(ns, object), MethodID: ua.NewStringNodeID(ns, object+"."+method), Inputs: inputs, Result: &r,
	})
	return r
}

func run(p *Plant, seconds int) {
	for range seconds * 10 {
		p.step(100 * time.Millisecond)
	}
}

func TestSetPointRefused(t *testing.T) {
	s, _ := build(t)
	v := variable(t, s, "Plant.Line1.Filler.SpeedSetPoint")
	for _, c := range []struct {
		value ua.Variant
		want  ua.StatusCode
	}{
		{ua.Double(601), ua.BadOutOfRange}, {ua.Double(-1), ua.BadOutOfRange}, {ua.Int32(5), ua.BadTypeMismatch},
	} {
		if got := write(s, v, c.value); got != c.want || v.Get().Float() != 280 {
			t.Errorf("write %v: %v, value %v", c.value, got, v.Get())
		}
	}
	if got := write(s, variable(t, s, "Plant.Line1.Filler.Speed"), ua.Double(1)); got != ua.BadNotWritable {
		t.Errorf("write of Speed: %v", got)
	}
}

func TestSetPointMovesSpeed(t *testing.T) {
	s, p := build(t)
	speed := variable(t, s, "Plant.Line1.Filler.Speed")
	run(p, 60)
	if x := speed.Get().Float(); x < 279 || x > 281 {
		t.Errorf("speed %v, set point 280", x)
	}
	if got := write(s, variable(t, s, "Plant.Line1.Filler.SpeedSetPoint"), ua.Double(500)); got != ua.Good {
		t.Fatal(got)
	}
	run(p, 60)
	if x := speed.Get().Float(); x < 499 || x > 501 {
		t.Errorf("speed %v, set point 500", x)
	}
	for _, name := range []string{"Filler.Produced", "Filler.Rejected", "Filler.State", "Packer.Temperature", "Output"} {
		v := variable(t, s, "Plant.Line1."+name)
		if v.Get().Float() <= 0 {
			t.Errorf("%s is %v", name, v.Get())
		}
	}
	if trend, _ := ua.ArrayOf[float64](variable(t, s, "Plant.Line1.OutputTrend").Get()); len(trend) != 60 || trend[59] <= 0 {
		t.Errorf("trend %v", trend)
	}
}

func TestBatch(t *testing.T) {
	s, p := build(t)
	const filler = "Plant.Line1.Filler"
	if r := call(s, filler, "StartBatch", ua.String(""), ua.UInt32(5)); r.StatusCode != ua.BadInvalidArgument || r.InputArgumentResults[0] != ua.BadOutOfRange {
		t.Errorf("no recipe: %v", r)
	}
	if r := call(s, filler, "StartBatch", ua.String("cola"), ua.UInt32(0)); r.InputArgumentResults[1] != ua.BadOutOfRange {
		t.Errorf("no pieces: %v", r)
	}
	r := call(s, filler, "StartBatch", ua.String("cola"), ua.UInt32(100))
	if r.StatusCode != ua.Good || r.OutputArguments[0].Uint() != 1 {
		t.Fatalf("%v", r)
	}
	if r := call(s, filler, "StartBatch", ua.String("cola"), ua.UInt32(1)); r.StatusCode != ua.BadInvalidState {
		t.Errorf("second batch: %v", r.StatusCode)
	}
	run(p, 60)
	b := variable(t, s, filler+".Batch").Get().Structure().(*ua.DynamicStructure)
	done, _ := b.Get("Done")
	if done.Uint() != 100 || variable(t, s, filler+".State").Get().Int() != stateComplete {
		t.Errorf("done %v, state %v", done, variable(t, s, filler+".State").Get())
	}
	if r := call(s, filler, "Reset"); r.StatusCode != ua.Good || variable(t, s, filler+".Produced").Get().Uint() != 0 {
		t.Errorf("reset: %v", r)
	}
	run(p, 10)
	if variable(t, s, filler+".Produced").Get().Uint() == 0 {
		t.Error("no production after Reset")
	}
}

// Every variable of AllTypes takes its own value back.
func TestAllTypes(t *testing.T) {
	s, _ := build(t)
	names := []string{"Structure", "Variant"}
	for b := ua.TypeBoolean; b <= ua.TypeDiagnosticInfo; b++ {
		if b != ua.TypeExtensionObject && b != ua.TypeVariant {
			names = append(names, b.String())
		}
	}
	for _, folder := range []string{"Scalars", "Arrays", "Matrices"} {
		for _, name := range names {
			v := variable(t, s, "AllTypes."+folder+"."+name)
			if got := write(s, v, v.Get()); got != ua.Good {
				t.Errorf("%s %s: %v", folder, name, got)
			}
			if folder != "Scalars" && !v.Get().IsArray() {
				t.Errorf("%s %s is no array", folder, name)
			}
		}
	}
}

func TestRunEnds(t *testing.T) {
	_, p := build(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	cancel()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("Run goes on")
	}
}

// The plant tells of batches, of its machines' states and of the line's output.
func TestEvents(t *testing.T) {
	s, p := build(t)
	var got []uaserver.Event
	p.Emit(func(e uaserver.Event) { got = append(got, e) })
	if r := call(s, "Plant.Line1.Mixer", "StartBatch", ua.String("Bread"), ua.UInt32(5)); r.StatusCode != ua.Good {
		t.Fatal(r.StatusCode)
	}
	run(p, 26)
	want := map[string]int{"Batch 1 begins: 5 pieces of Bread": 1, "Batch 1 is complete: 5 pieces of Bread": 1, "Mixer: Ramping": 1, "Mixer: Complete": 1, "Filler: Producing": 1}
	outputs := 0
	for _, e := range got {
		if e.Source.IsNull() || e.SourceName == "" || e.Severity == 0 || e.Severity > 1000 {
			t.Errorf("%+v", e)
		}
		want[e.Message.Text]--
		if e.SourceName == "Line1" {
			outputs++
		}
	}
	for text, n := range want {
		if n > 0 {
			t.Errorf("no event %q", text)
		}
	}
	if outputs != 5 {
		t.Errorf("%d events of the line in 26 s", outputs)
	}
}
