package serial_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/actua/actua/actor/serial"
)

// own is a serializer of a user.
type own struct {
	id    int32
	panic bool
}

func (o own) ID() int32           { return o.id }
func (o own) Manifest(any) string { return "m" }
func (o own) Append(dst []byte, msg any, _ *serial.Exchange) ([]byte, error) {
	if o.panic {
		panic("no")
	}
	return fmt.Appendf(dst, "%d:%v", o.id, msg), nil
}
func (o own) Decode(b, _ []byte, _ *serial.Exchange) (any, error) {
	if o.panic {
		panic("no")
	}
	return shape(b), nil
}

type shape string

func (s shape) String() string { return string(s) }
func (shape) Area() float64    { return 1 }

type shaper interface{ Area() float64 }

func TestSerializerIdsRefused(t *testing.T) {
	for _, id := range []int32{0, 1, 16, 17, 50, 100, -1, -5} {
		r := serial.NewRegistry(serial.Options{})
		if err := r.Register(own{id: id}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(id)) {
			t.Errorf("id %d: %v", id, err)
		}
		if err := r.Seal(); err == nil {
			t.Errorf("id %d: the registry may be used", id)
		}
		if _, _, _, err := r.Append(nil, "hit", exchange(r)); err == nil {
			t.Errorf("id %d: the registry writes", id)
		}
		if _, err := r.Decode(17, []byte("S"), nil, exchange(r)); err == nil {
			t.Errorf("id %d: the registry reads", id)
		}
	}
	r := serial.NewRegistry(serial.Options{})
	if err := r.Register(own{id: 101}); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(own{id: 101}); err == nil {
		t.Error("two serializers with one id")
	}
	r = serial.NewRegistry(serial.Options{})
	if err := serial.Bind[shape](r, 101); err == nil {
		t.Error("a type is bound to a serializer that is not there")
	}
	r = serial.NewRegistry(serial.Options{})
	r.Register(own{id: 101})
	if err := serial.Bind[any](r, 101); err == nil {
		t.Error("every type is bound")
	}
}

func TestRegistrationRefused(t *testing.T) {
	type chans struct{ C chan int }
	type names struct {
		A int32 `net:"x"`
		B int32 `net:"x"`
	}
	type option struct {
		A int32 `net:"x,what"`
	}
	type dollar struct {
		A int32 `net:"$id"`
	}
	type self []self
	type selfish struct{ S self }
	type keys struct{ M map[Inner]string }
	type pp struct{ P **int32 }
	for name, do := range map[string]func(r *serial.Registry) error{
		"no assembly":    func(r *serial.Registry) error { return serial.RegisterJSON[Inner](r, "Shop.Order") },
		"empty":          func(r *serial.Registry) error { return serial.RegisterJSON[Inner](r, "") },
		"empty assembly": func(r *serial.Registry) error { return serial.RegisterJSON[Inner](r, "Shop.Order, ") },
		"control":        func(r *serial.Registry) error { return serial.RegisterJSON[Inner](r, "Shop.\nOrder, Shop") },
		"no struct":      func(r *serial.Registry) error { return serial.RegisterJSON[int32](r, "Shop.Order, Shop") },
		"twice": func(r *serial.Registry) error {
			serial.RegisterJSON[Inner](r, "A, B")
			return serial.RegisterJSON[Inner](r, "C, D")
		},
		"name twice": func(r *serial.Registry) error {
			serial.RegisterJSON[Inner](r, "A, B")
			return serial.RegisterJSON[Outer](r, "A, B, Version=1.0.0.0")
		},
		"chan":         func(r *serial.Registry) error { serial.RegisterJSON[chans](r, "A, B"); return r.Seal() },
		"member twice": func(r *serial.Registry) error { serial.RegisterJSON[names](r, "A, B"); return r.Seal() },
		"option":       func(r *serial.Registry) error { serial.RegisterJSON[option](r, "A, B"); return r.Seal() },
		"dollar":       func(r *serial.Registry) error { serial.RegisterJSON[dollar](r, "A, B"); return r.Seal() },
		"self":         func(r *serial.Registry) error { serial.RegisterJSON[selfish](r, "A, B"); return r.Seal() },
		"keys":         func(r *serial.Registry) error { serial.RegisterJSON[keys](r, "A, B"); return r.Seal() },
		"pointers":     func(r *serial.Registry) error { serial.RegisterJSON[pp](r, "A, B"); return r.Seal() },
		"enum":         func(r *serial.Registry) error { return serial.RegisterEnum(r, "A, B", map[string]int32{"x": 1}) },
		"collection":   serial.RegisterCollection[Inner],
		"proto twice": func(r *serial.Registry) error {
			return serial.RegisterProto[*wrapperspb.StringValue](r, "A, B")
		},
	} {
		r := serial.NewRegistry(serial.Options{})
		if err := do(r); err == nil {
			t.Errorf("%s: no error", name)
		} else if r.Seal() == nil {
			t.Errorf("%s: Seal has forgotten it", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestSealed(t *testing.T) {
	r := serial.NewRegistry(serial.Options{})
	encode(t, r, "first use")
	for _, err := range []error{
		r.Register(own{id: 200}), serial.RegisterJSON[Inner](r, "A, B"), serial.Bind[shape](r, 17),
		serial.RegisterProto[*wrapperspb.StringValue](r, "A, B"), serial.RegisterJSONText(r, "C, D"),
	} {
		if !errors.Is(err, serial.ErrSealed) {
			t.Errorf("%v", err)
		}
	}
	if err := r.Seal(); err != nil {
		t.Errorf("a registration that came too late has broken the registry: %v", err)
	}
}

// TestFind: the exact type, then interfaces in their order, then Akka.NET's own, then JSON (section 3.1).
func TestFind(t *testing.T) {
	r := serial.NewRegistry(serial.Options{})
	for _, id := range []int32{101, 102, 103, 104} {
		r.Register(own{id: id})
	}
	serial.Bind[shaper](r, 101)
	serial.Bind[fmt.Stringer](r, 102)
	serial.Bind[shape](r, 103)
	serial.Bind[string](r, 104)
	for _, c := range []struct {
		msg any
		id  int32
	}{
		{shape("s"), 103}, {ring{}, 101}, {serial.GUID{}, 102}, {"text", 104}, {int32(1), 17}, {wrapperspb.String("x"), 102}, {1.5, 1}, {[]byte{}, 4}, {nil, 0}, {Inner{}, 1},
	} {
		for range 2 { // found, then remembered
			s, err := r.Find(c.msg)
			if err != nil || s.ID() != c.id {
				t.Errorf("%T: %v, %v; %d is expected", c.msg, s, err, c.id)
			}
		}
	}
	if id, m, body := encode(t, r, shape("s")); id != 103 || m != "m" || body != "103:s" || decode(t, r, id, m, body) != any(shape("103:s")) {
		t.Errorf("%d %q %q", id, m, body)
	}
}

type ring struct{}

func (ring) Area() float64  { return 3 }
func (ring) String() string { return "ring" }

func TestUserSerializerPanics(t *testing.T) {
	r := serial.NewRegistry(serial.Options{})
	r.Register(own{id: 101, panic: true})
	serial.Bind[shape](r, 101)
	x := exchange(r)
	if out, _, _, err := r.Append([]byte("a"), shape(""), x); err == nil || string(out) != "a" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := r.Decode(101, nil, nil, x); err == nil {
		t.Error("no error")
	}
	for range 100 {
		r.Append(nil, serial.Selection{Message: shape("")}, x)
	}
	if _, _, _, err := r.Append(nil, serial.Selection{Message: "x"}, x); err != nil {
		t.Errorf("after panics: %v", err)
	}
}

func TestUnknown(t *testing.T) {
	r := register(t, serial.Options{})
	x := exchange(r)
	for _, id := range []int32{5, 7, 9, 13, 23, 30, 36, 101, -5, 1 << 30} {
		var e *serial.UnknownSerializerError
		if _, err := r.Decode(id, nil, []byte("x"), x); !errors.As(err, &e) || e.ID != id {
			t.Errorf("%d: %v", id, err)
		}
	}
	for _, c := range []struct {
		id       int32
		manifest string
	}{{16, ""}, {16, "XX"}, {16, "id"}, {22, ""}, {22, "Akka.Dispatch.SysMsg.NoMessage, Akka"}, {2, ""}} {
		var e *serial.ManifestError
		if _, err := r.Decode(c.id, []byte(c.manifest), nil, x); !errors.As(err, &e) {
			t.Errorf("%d %q: %v", c.id, c.manifest, err)
		}
	}
	var e *serial.UnknownTypeError
	if _, err := r.Decode(2, []byte("Shop.Order, Shop"), nil, x); !errors.As(err, &e) || e.Type != "Shop.Order, Shop" {
		t.Errorf("%v", err)
	}
	type secret struct{ A int }
	if out, _, _, err := r.Append([]byte("a"), secret{}, x); !errors.As(err, &e) || !e.Go || !strings.Contains(err.Error(), "secret") || string(out) != "a" {
		t.Errorf("%q %v", out, err)
	}
	if msg, err := r.Decode(0, nil, nil, x); msg != nil || err != nil {
		t.Errorf("null: %v, %v", msg, err)
	}
}

// TestConcurrentUse: one registry, many goroutines, from the first use on.
func TestConcurrentUse(t *testing.T) {
	all := goldens(t)
	r := serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[Reading](r, "AkkaPeer.Reading, akka-peer")
	serial.RegisterJSON[Inner](r, "AkkaPeer.Inner, akka-peer")
	serial.RegisterJSON[Outer](r, "AkkaPeer.Outer, akka-peer")
	serial.RegisterJSON[Numbers](r, "AkkaPeer.Numbers, akka-peer")
	serial.RegisterJSON[Order](r, "Shop.Order, akka-peer")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			x := exchange(r)
			for range 20 {
				for _, g := range all {
					msg, err := r.Decode(g.SerializerID, []byte(g.Manifest), g.bytes, x)
					if err != nil {
						t.Error(err)
						return
					}
					if _, _, _, err = r.Append(nil, msg, x); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
