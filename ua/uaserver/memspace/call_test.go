package memspace

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// V11: a typed Go function with declared arguments, and all ways to call it wrongly.
func TestTypedMethod(t *testing.T) {
	s := newSpace(t)
	machine := s.AddObject(s.Objects(), "Machine")
	other := s.AddObject(s.Objects(), "Other")
	m := s.AddMethod(machine, "StartBatch", Func2(func(c Call, recipe string, pieces uint32) (uint32, error) {
		switch {
		case recipe == "":
			return 0, ArgumentError{0, ua.BadOutOfRange}
		case pieces == 0:
			return 0, fmt.Errorf("start: %w", ua.BadInvalidState)
		case pieces == 1:
			return 0, errors.New("disk full")
		}
		return pieces * 2, nil
	}, "recipe", "pieces", "batchId"))
	if err := m.Err(); err != nil {
		t.Fatal(err)
	}
	text, number := ua.String("cake"), ua.UInt32(5)
	for _, c := range []struct {
		name           string
		object, method ua.NodeID
		inputs         []ua.Variant
		want           ua.StatusCode
		arguments      []ua.StatusCode
	}{
		{"unknown object", ua.NewNodeID(2, 9), m.ID(), nil, ua.BadNodeIdUnknown, nil},
		{"unknown method", machine.ID(), ua.NewNodeID(2, 9), nil, ua.BadMethodInvalid, nil},
		{"no method", machine.ID(), machine.ID(), nil, ua.BadMethodInvalid, nil},
		{"wrong object", other.ID(), m.ID(), []ua.Variant{text, number}, ua.BadMethodInvalid, nil},
		{"too few", machine.ID(), m.ID(), []ua.Variant{text}, ua.BadArgumentsMissing, nil},
		{"too many", machine.ID(), m.ID(), []ua.Variant{text, number, number}, ua.BadTooManyArguments, nil},
		{"wrong type", machine.ID(), m.ID(), []ua.Variant{text, ua.Int32(5)}, ua.BadInvalidArgument, []ua.StatusCode{ua.Good, ua.BadTypeMismatch}},
		{"wrong rank", machine.ID(), m.ID(), []ua.Variant{ua.Array([]string{"a"}), number}, ua.BadInvalidArgument, []ua.StatusCode{ua.BadTypeMismatch, ua.Good}},
		{"refused value", machine.ID(), m.ID(), []ua.Variant{ua.String(""), number}, ua.BadInvalidArgument, []ua.StatusCode{ua.BadOutOfRange, ua.Good}},
		{"refused call", machine.ID(), m.ID(), []ua.Variant{text, ua.UInt32(0)}, ua.BadInvalidState, nil},
		{"other error", machine.ID(), m.ID(), []ua.Variant{text, ua.UInt32(1)}, ua.BadInternalError, nil},
		{"right", machine.ID(), m.ID(), []ua.Variant{text, number}, ua.Good, nil},
	} {
		r := call(s, c.object, c.method, c.inputs...)
		if r.StatusCode != c.want || !slices.Equal(r.InputArgumentResults, c.arguments) {
			t.Errorf("%s: %v %v", c.name, r.StatusCode, r.InputArgumentResults)
		}
		if c.want == ua.Good && (len(r.OutputArguments) != 1 || r.OutputArguments[0].Uint() != 10) {
			t.Errorf("outputs %v", r.OutputArguments)
		}
	}
	in := s.Node(ua.NewStringNodeID(2, "Machine.StartBatch.InputArguments"))
	expect(t, "InputArguments", read(s, in.ID(), ua.AttributeValue).Value.Len(), 2)
	a := read(s, in.ID(), ua.AttributeValue).Value.Index(1).Structure().(*ua.Argument)
	if a.Name != "pieces" || a.DataType != ua.ID(uaid.UInt32) || a.ValueRank != RankScalar {
		t.Errorf("argument %+v", a)
	}
}

func TestCallRights(t *testing.T) {
	s := newSpace(t)
	f := Method{Call: func(Call) ([]ua.Variant, error) { return nil, nil }}
	m := s.AddMethod(s.Objects(), "M", f)
	denied := s.AddMethod(s.Objects(), "Denied", f, Allow(func(u *uaserver.SessionInfo, p ua.PermissionType) bool {
		return p != ua.PermissionTypeCall
	}))
	objects := s.Objects().ID()
	m.SetExecutable(false)
	expect(t, "not executable", call(s, objects, m.ID()).StatusCode, ua.BadNotExecutable)
	m.SetExecutable(true)
	expect(t, "executable", call(s, objects, m.ID()).StatusCode, ua.Good)
	expect(t, "denied", call(s, objects, denied.ID()).StatusCode, ua.BadUserAccessDenied)
	expect(t, "UserExecutable", read(s, denied.ID(), ua.AttributeUserExecutable).Value.Bool(), false)
	ctx := session("")
	ctx.MayBlock = false
	it := uaserver.CallItem{ObjectID: objects, MethodID: m.ID(), Result: new(ua.CallMethodResult)}
	if s.Call(ctx, &it); !it.Blocked {
		t.Error("a method ran where it may not block")
	}
}

// Methods of a type are called on its instances; the instance's own comes first.
func TestMethodsOfTypes(t *testing.T) {
	s := newSpace(t)
	name := func(text string) Method {
		return Func0(func(Call) (string, error) { return text, nil }, "name")
	}
	base := s.AddType(s.zero(uaid.BaseObjectType), "Base")
	derived := s.AddType(base, "Derived")
	m := s.AddMethod(base, "Name", name("type"))
	plain := s.AddObject(s.Objects(), "Plain", WithTypeDefinition(derived.ID()))
	own := s.AddObject(s.Objects(), "Own", WithTypeDefinition(derived.ID()))
	s.AddMethod(own, "Name", name("own"))
	expect(t, "of the type", call(s, plain.ID(), m.ID()).OutputArguments[0].Str(), "type")
	expect(t, "of the object", call(s, own.ID(), m.ID()).OutputArguments[0].Str(), "own")
	expect(t, "on another object", call(s, s.Objects().ID(), m.ID()).StatusCode, ua.BadMethodInvalid)
}

func TestMethodsOfNamespaceZero(t *testing.T) {
	s := newSpace(t)
	server, m := ua.ID(uaid.Server), s.zero(uaid.Server_GetMonitoredItems)
	expect(t, "without a function", call(s, server, m.ID(), ua.UInt32(1)).StatusCode, ua.BadNotImplemented)
	if err := s.Objects().HandleMethod(func(Call) ([]ua.Variant, error) { return nil, nil }); !errors.Is(err, ua.BadMethodInvalid) {
		t.Errorf("a folder as method: %v", err)
	}
	err := m.HandleMethod(func(c Call) ([]ua.Variant, error) {
		return []ua.Variant{ua.Array([]uint32{1}), ua.Array([]uint32{2})}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "wrong type", call(s, server, m.ID(), ua.Int32(1)).StatusCode, ua.BadInvalidArgument)
	r := call(s, server, ua.ID(uaid.ServerType_GetMonitoredItems), ua.UInt32(1))
	if r.StatusCode != ua.Good || len(r.OutputArguments) != 2 {
		t.Errorf("through the type: %v", r)
	}
}

func TestMethodDeclarations(t *testing.T) {
	s := newSpace(t)
	type odd struct{ X int }
	for name, m := range map[string]Method{
		"names":       Func1(func(Call, string) (None, error) { return None{}, nil }),
		"type":        Func1(func(Call, odd) (None, error) { return None{}, nil }, "x"),
		"no function": {},
	} {
		if n := s.AddMethod(s.Objects(), name, m); n.Err() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	n := s.AddMethod(s.Objects(), "Good", Func3(func(_ Call, a []float64, b ua.Variant, r *ua.Range) (*ua.Range, error) {
		return &ua.Range{Low: a[0], High: r.High + b.Float()}, nil
	}, "a", "b", "r", "sum"))
	r := call(s, s.Objects().ID(), n.ID(), ua.Array([]float64{1}), ua.Int32(2), ua.NewExtensionObject(&ua.Range{High: 3}).Variant())
	if got, ok := r.OutputArguments[0].Structure().(*ua.Range); !ok || *got != (ua.Range{Low: 1, High: 5}) {
		t.Errorf("%v %v", r.StatusCode, r.OutputArguments)
	}
}
