package interop

import (
	"context"
	"slices"
	"testing"

	gua "github.com/gopcua/opcua/ua"
)

// call finds a method whose arguments it can make up.
func (s *gopcuaSession) call(ctx context.Context, t *testing.T) {
	for _, method := range s.methods {
		arguments, ok := s.arguments(ctx, t, method.MethodID)
		if !ok {
			continue
		}
		request := *method
		request.InputArguments = arguments
		result, err := s.Call(ctx, &request)
		if err == nil && result.StatusCode == gua.StatusBadInvalidState {
			s.reset(ctx, t, method.ObjectID)
			result, err = s.Call(ctx, &request)
		}
		if err != nil {
			t.Fatal(err)
		}
		if result.StatusCode != gua.StatusOK {
			continue
		}
		s.callErrors(ctx, t, request)
		return
	}
	t.Errorf("none of %d methods could be called", len(s.methods))
}

// reset calls the methods of an object that take no arguments: an earlier case may have left a machine busy.
func (s *gopcuaSession) reset(ctx context.Context, t *testing.T, object *gua.NodeID) {
	for _, method := range s.methods {
		if !method.ObjectID.Equal(object) {
			continue
		}
		if _, takes := s.arguments(ctx, t, method.MethodID); takes {
			continue
		}
		if result, err := s.Call(ctx, method); err != nil || result.StatusCode != gua.StatusOK {
			t.Logf("%v without arguments: %+v, %v", method.MethodID, result, err)
		}
	}
}

func (s *gopcuaSession) arguments(ctx context.Context, t *testing.T, method *gua.NodeID) (values []*gua.Variant, ok bool) {
	refs, _, err := s.browseAll(ctx, method, 0) // HasProperty is hierarchical
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(refs, func(r *gua.ReferenceDescription) bool { return r.BrowseName.Name == "InputArguments" })
	if at < 0 {
		return nil, false
	}
	value, err := s.Node(refs[at].NodeID.NodeID).Value(ctx)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := value.Value().([]*gua.ExtensionObject)
	for _, e := range list {
		argument, isArgument := e.Value.(*gua.Argument)
		if !isArgument || argument.ValueRank >= 0 {
			return nil, false
		}
		sample, known := map[uint32]any{
			1: true, 2: int8(1), 3: uint8(1), 4: int16(1), 5: uint16(1), 6: int32(1), 7: uint32(1), 8: int64(1), 9: uint64(1),
			10: float32(1), 11: float64(1), 12: "interop",
		}[argument.DataType.IntID()]
		if !known || argument.DataType.Namespace() != 0 {
			return nil, false
		}
		values = append(values, gua.MustVariant(sample))
	}
	return values, len(values) > 0
}

func (s *gopcuaSession) callErrors(ctx context.Context, t *testing.T, good gua.CallMethodRequest) {
	try := func(what string, change func(*gua.CallMethodRequest), want ...gua.StatusCode) *gua.CallMethodResult {
		request := good
		change(&request)
		result, err := s.Call(ctx, &request)
		if err != nil {
			t.Fatal(what, err)
		}
		expect(t, what, result.StatusCode, nil, want...)
		return result
	}
	result := try("a Guid for each argument", func(r *gua.CallMethodRequest) {
		r.InputArguments = slices.Clone(r.InputArguments)
		for i := range r.InputArguments {
			r.InputArguments[i] = gua.MustVariant(gua.NewGUID("72962B91-FA75-4AE6-8D28-B404DC7DAF63"))
		}
	}, gua.StatusBadInvalidArgument)
	if len(result.InputArgumentResults) != len(good.InputArguments) || result.InputArgumentResults[0] != gua.StatusBadTypeMismatch {
		t.Errorf("argument results %v", result.InputArgumentResults)
	}
	try("no arguments", func(r *gua.CallMethodRequest) { r.InputArguments = nil }, gua.StatusBadArgumentsMissing)
	try("too many arguments", func(r *gua.CallMethodRequest) {
		r.InputArguments = append(slices.Clone(r.InputArguments), r.InputArguments[0])
	}, gua.StatusBadTooManyArguments)
	try("unknown method", func(r *gua.CallMethodRequest) { r.MethodID = gua.NewStringNodeID(1, "does not exist") },
		gua.StatusBadMethodInvalid, gua.StatusBadNodeIDUnknown)
	try("unknown object", func(r *gua.CallMethodRequest) { r.ObjectID = gua.NewStringNodeID(1, "does not exist") }, gua.StatusBadNodeIDUnknown)
}
