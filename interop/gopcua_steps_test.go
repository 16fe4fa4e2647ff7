package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	gua "github.com/gopcua/opcua/ua"
)

// The steps of gopcuaCase.

func (s *gopcuaSession) discovery(ctx context.Context, t *testing.T) {
	servers, err := s.Client.FindServers(ctx)
	if err != nil || len(servers.Servers) == 0 || servers.Servers[0].ApplicationURI == "" {
		t.Errorf("FindServers: %+v, %v", servers, err)
	}
	endpoints, err := s.Client.GetEndpoints(ctx)
	if err != nil || len(endpoints.Endpoints) == 0 {
		t.Errorf("GetEndpoints: %+v, %v", endpoints, err)
	}
}

func numeric(n uint32) *gua.NodeID { return gua.NewNumericNodeID(0, n) }

func (s *gopcuaSession) description(node *gua.NodeID) *gua.BrowseDescription {
	return &gua.BrowseDescription{
		NodeID: node, BrowseDirection: gua.BrowseDirectionForward, ReferenceTypeID: numeric(id.HierarchicalReferences),
		IncludeSubtypes: true, ResultMask: uint32(gua.BrowseResultMaskAll),
	}
}

// browseOnce sends one Browse request for one node.
func (s *gopcuaSession) browseOnce(ctx context.Context, d *gua.BrowseDescription, limit uint32) (*gua.BrowseResult, error) {
	resp, err := s.Client.Browse(ctx, &gua.BrowseRequest{
		View:                          &gua.ViewDescription{ViewID: gua.NewTwoByteNodeID(0)},
		RequestedMaxReferencesPerNode: limit, NodesToBrowse: []*gua.BrowseDescription{d},
	})
	if err != nil {
		return nil, err
	}
	if len(resp.Results) != 1 {
		return nil, fmt.Errorf("%d results", len(resp.Results))
	}
	return resp.Results[0], nil
}

// browseAll follows continuation points; rounds counts the answers.
func (s *gopcuaSession) browseAll(ctx context.Context, node *gua.NodeID, limit uint32) (refs []*gua.ReferenceDescription, rounds int, err error) {
	result, err := s.browseOnce(ctx, s.description(node), limit)
	for {
		if err != nil {
			return nil, rounds, err
		}
		if result.StatusCode != gua.StatusOK {
			return nil, rounds, result.StatusCode
		}
		rounds++
		refs = append(refs, result.References...)
		if len(result.ContinuationPoint) == 0 {
			return refs, rounds, nil
		}
		var next *gua.BrowseNextResponse
		next, err = s.Client.BrowseNext(ctx, &gua.BrowseNextRequest{ContinuationPoints: [][]byte{result.ContinuationPoint}})
		if err == nil {
			result = next.Results[0]
		}
	}
}

func (s *gopcuaSession) browse(ctx context.Context, t *testing.T) {
	refs, _, err := s.browseAll(ctx, numeric(id.RootFolder), 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range refs {
		names = append(names, r.BrowseName.Name)
	}
	for _, name := range []string{"Objects", "Types", "Views"} {
		if !slices.Contains(names, name) {
			t.Errorf("no %s below Root: %v", name, names)
		}
	}
	result, err := s.browseOnce(ctx, s.description(gua.NewStringNodeID(1, "does not exist")), 0)
	if err != nil || result.StatusCode != gua.StatusBadNodeIDUnknown {
		t.Errorf("unknown node: %+v, %v", result, err)
	}
}

func (s *gopcuaSession) continuation(ctx context.Context, t *testing.T) {
	whole, _, err := s.browseAll(ctx, numeric(id.Server), 0)
	if err != nil {
		t.Fatal(err)
	}
	parts, rounds, err := s.browseAll(ctx, numeric(id.Server), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != len(whole) || rounds < 2 {
		t.Errorf("%d references in %d answers, %d at once", len(parts), rounds, len(whole))
	}
	first, err := s.browseOnce(ctx, s.description(numeric(id.Server)), 1)
	if err != nil || len(first.ContinuationPoint) == 0 {
		t.Fatalf("no continuation point: %+v, %v", first, err)
	}
	points := [][]byte{first.ContinuationPoint}
	if _, err := s.Client.BrowseNext(ctx, &gua.BrowseNextRequest{ReleaseContinuationPoints: true, ContinuationPoints: points}); err != nil {
		t.Error("release: ", err)
	}
	next, err := s.Client.BrowseNext(ctx, &gua.BrowseNextRequest{ContinuationPoints: points})
	if err != nil || next.Results[0].StatusCode != gua.StatusBadContinuationPointInvalid {
		t.Errorf("a released continuation point: %+v, %v", next, err)
	}
}

func (s *gopcuaSession) translate(ctx context.Context, t *testing.T) {
	node, err := s.Node(numeric(id.RootFolder)).TranslateBrowsePathInNamespaceToNodeID(ctx, 0, "Objects.Server.ServerStatus.State")
	if err != nil || node.String() != "i=2259" {
		t.Errorf("State is %v, %v", node, err)
	}
	if _, err := s.Node(numeric(id.RootFolder)).TranslateBrowsePathInNamespaceToNodeID(ctx, 0, "Objects.NoSuchThing"); !errors.Is(err, gua.StatusBadNoMatch) {
		t.Errorf("no such thing: %v", err)
	}
	registered, err := s.RegisterNodes(ctx, &gua.RegisterNodesRequest{NodesToRegister: []*gua.NodeID{numeric(2258), numeric(2259)}})
	if err != nil || len(registered.RegisteredNodeIDs) != 2 {
		t.Fatalf("RegisterNodes: %+v, %v", registered, err)
	}
	if _, err := s.Node(registered.RegisteredNodeIDs[0]).Value(ctx); err != nil {
		t.Error("read of a registered node: ", err)
	}
	if _, err := s.UnregisterNodes(ctx, &gua.UnregisterNodesRequest{NodesToUnregister: registered.RegisteredNodeIDs}); err != nil {
		t.Error("UnregisterNodes: ", err)
	}
}

// explore finds the folder AllTypes and the methods below Objects.
func (s *gopcuaSession) explore(ctx context.Context, t *testing.T) {
	var allTypes *gua.NodeID
	seen := map[string]bool{"i=2253": true}
	for level := []*gua.NodeID{numeric(id.ObjectsFolder)}; len(level) > 0; {
		var next []*gua.NodeID
		for _, parent := range level {
			refs, _, err := s.browseAll(ctx, parent, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range refs {
				if seen[r.NodeID.NodeID.String()] {
					continue
				}
				seen[r.NodeID.NodeID.String()] = true
				if r.BrowseName.Name == "AllTypes" {
					allTypes = r.NodeID.NodeID
				}
				switch r.NodeClass {
				case gua.NodeClassObject:
					next = append(next, r.NodeID.NodeID)
				case gua.NodeClassMethod:
					s.methods = append(s.methods, &gua.CallMethodRequest{ObjectID: parent, MethodID: r.NodeID.NodeID})
				}
			}
		}
		level = next
	}
	if allTypes == nil {
		t.Fatal("no folder AllTypes below Objects")
	}
	s.describe(ctx, t, allTypes)
	if len(s.variables) < 22 || len(s.methods) == 0 {
		t.Errorf("%d variables, %d methods", len(s.variables), len(s.methods))
	}
}

func (s *gopcuaSession) describe(ctx context.Context, t *testing.T, folder *gua.NodeID) {
	refs, _, err := s.browseAll(ctx, folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refs {
		if r.NodeClass == gua.NodeClassObject {
			s.describe(ctx, t, r.NodeID.NodeID)
		}
		if r.NodeClass != gua.NodeClassVariable {
			continue
		}
		values, err := s.Node(r.NodeID.NodeID).Attributes(ctx,
			gua.AttributeIDDataType, gua.AttributeIDValueRank, gua.AttributeIDAccessLevel, gua.AttributeIDValue)
		if err != nil {
			t.Errorf("%s: %v", r.BrowseName.Name, err)
			continue
		}
		s.variables = append(s.variables, gopcuaVariable{
			node: r.NodeID.NodeID, name: r.BrowseName.Name, dataType: values[0].Value.NodeID(), rank: values[1].Value.Int(),
			writable: values[2].Value.Uint()&2 != 0, value: values[3],
		})
	}
}

// find is the first writable variable of a built-in data type and rank.
func (s *gopcuaSession) find(t *testing.T, dataType gua.TypeID, rank int64) gopcuaVariable {
	t.Helper()
	at := slices.IndexFunc(s.variables, func(v gopcuaVariable) bool {
		return v.dataType.Namespace() == 0 && v.dataType.IntID() == uint32(dataType) && v.rank == rank && v.writable
	})
	if at < 0 {
		t.Fatalf("no writable variable of type %v and rank %d", dataType, rank)
	}
	return s.variables[at]
}

func (s *gopcuaSession) readOne(ctx context.Context, node *gua.NodeID, indexRange string, stamps gua.TimestampsToReturn) (*gua.DataValue, error) {
	resp, err := s.Client.Read(ctx, &gua.ReadRequest{
		TimestampsToReturn: stamps,
		NodesToRead:        []*gua.ReadValueID{{NodeID: node, AttributeID: gua.AttributeIDValue, IndexRange: indexRange}},
	})
	if err != nil {
		return nil, err
	}
	return resp.Results[0], nil
}

func (s *gopcuaSession) writeOne(ctx context.Context, node *gua.NodeID, indexRange string, value *gua.Variant) (gua.StatusCode, error) {
	resp, err := s.Client.Write(ctx, &gua.WriteRequest{NodesToWrite: []*gua.WriteValue{{
		NodeID: node, AttributeID: gua.AttributeIDValue, IndexRange: indexRange,
		Value: &gua.DataValue{EncodingMask: gua.DataValueValue, Value: value},
	}}})
	if err != nil {
		return 0, err
	}
	return resp.Results[0], nil
}

// expect reports a status other than those wanted.
func expect(t *testing.T, what string, got gua.StatusCode, err error, want ...gua.StatusCode) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if !slices.Contains(want, got) {
		t.Errorf("%s: %v, wanted %v", what, got, want)
	}
}

func (s *gopcuaSession) read(ctx context.Context, t *testing.T) {
	types := map[gua.TypeID]bool{}
	for _, v := range s.variables {
		if v.value.Status != gua.StatusOK || v.value.Value == nil {
			t.Errorf("%s: %v", v.name, v.value.Status)
			continue
		}
		got := v.value.Value
		types[got.Type()] = true
		if n := v.dataType.IntID(); v.dataType.Namespace() == 0 && n <= 21 && uint32(got.Type()) != n {
			t.Errorf("%s of type %d holds %v", v.name, n, got.Type())
		}
		if isArray := got.Has(gua.VariantArrayValues); isArray != (v.rank >= 1) {
			t.Errorf("%s of rank %d: array %v", v.name, v.rank, isArray)
		}
	}
	for want := gua.TypeIDBoolean; want <= gua.TypeIDExtensionObject; want++ {
		if !types[want] {
			t.Errorf("no variable of type %v", want)
		}
	}
	// Every attribute that a variable must have (Part 3, 5.6.2).
	values, err := s.Node(s.find(t, gua.TypeIDInt32, -1).node).Attributes(ctx, gua.AttributeIDNodeID, gua.AttributeIDNodeClass,
		gua.AttributeIDBrowseName, gua.AttributeIDDisplayName, gua.AttributeIDValue, gua.AttributeIDDataType, gua.AttributeIDValueRank,
		gua.AttributeIDAccessLevel, gua.AttributeIDUserAccessLevel, gua.AttributeIDHistorizing, gua.AttributeIDEventNotifier)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values[:len(values)-1] {
		expect(t, fmt.Sprintf("attribute %d in the list", i), v.Status, nil, gua.StatusOK)
	}
	expect(t, "EventNotifier of a variable", values[len(values)-1].Status, nil, gua.StatusBadAttributeIDInvalid)
	for _, stamps := range []gua.TimestampsToReturn{
		gua.TimestampsToReturnSource, gua.TimestampsToReturnServer, gua.TimestampsToReturnBoth, gua.TimestampsToReturnNeither,
	} {
		v, err := s.readOne(ctx, s.find(t, gua.TypeIDDouble, -1).node, "", stamps)
		if err != nil {
			t.Error(stamps, err)
			continue
		}
		source := stamps == gua.TimestampsToReturnSource || stamps == gua.TimestampsToReturnBoth
		server := stamps == gua.TimestampsToReturnServer || stamps == gua.TimestampsToReturnBoth
		if v.Has(gua.DataValueSourceTimestamp) != source || v.Has(gua.DataValueServerTimestamp) != server {
			t.Errorf("timestamps %v: mask %x", stamps, v.EncodingMask)
		}
	}
	v, err := s.readOne(ctx, gua.NewStringNodeID(1, "does not exist"), "", gua.TimestampsToReturnBoth)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "unknown node", v.Status, nil, gua.StatusBadNodeIDUnknown)
	_, err = s.Client.Read(ctx, &gua.ReadRequest{})
	if !errors.Is(err, gua.StatusBadNothingToDo) {
		t.Errorf("an empty Read: %v", err)
	}
}

func (s *gopcuaSession) readRange(ctx context.Context, t *testing.T) {
	array := s.find(t, gua.TypeIDInt32, 1)
	whole := array.value.Value.Value().([]int32)
	status := func(node *gua.NodeID, r string) gua.StatusCode {
		v, err := s.readOne(ctx, node, r, gua.TimestampsToReturnNeither)
		if err != nil {
			t.Fatal(err)
		}
		return v.Status
	}
	one, err := s.readOne(ctx, array.node, "1", gua.TimestampsToReturnNeither)
	if err != nil || one.Status != gua.StatusOK || !slices.Equal(one.Value.Value().([]int32), whole[1:2]) {
		t.Errorf("element 1: %+v, %v", one, err)
	}
	expect(t, "5000", status(array.node, "5000"), nil, gua.StatusBadIndexRangeNoData)
	expect(t, "2:1", status(array.node, "2:1"), nil, gua.StatusBadIndexRangeInvalid)
	if !s.quirks.rangeOfScalar {
		expect(t, "0 of a scalar", status(s.find(t, gua.TypeIDInt32, -1).node, "0"), nil, gua.StatusBadIndexRangeNoData)
	}
}

// unwritable says whether gopcua cannot send a value back: it keeps nothing of structures that are not registered
// with it, and of a ByteString array it encodes the length alone.
func unwritable(v *gua.Variant) bool {
	switch x := v.Value().(type) {
	case *gua.ExtensionObject:
		return x.Value == nil
	case []*gua.ExtensionObject:
		return slices.ContainsFunc(x, func(e *gua.ExtensionObject) bool { return e.Value == nil })
	case [][]byte, [][][]byte:
		return true
	}
	return false
}

func (s *gopcuaSession) write(ctx context.Context, t *testing.T) {
	written := 0
	for _, v := range s.variables {
		if !v.writable || v.value.Value == nil || unwritable(v.value.Value) {
			continue
		}
		status, err := s.writeOne(ctx, v.node, "", v.value.Value)
		expect(t, "write of "+v.name, status, err, gua.StatusOK)
		after, err := s.readOne(ctx, v.node, "", gua.TimestampsToReturnNeither)
		if err != nil || after.Value == nil {
			t.Errorf("read of %s: %+v, %v", v.name, after, err)
			continue
		}
		before, err1 := v.value.Value.Encode()
		now, err2 := after.Value.Encode()
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(before, now) {
			t.Errorf("%s came back as %v, was %v (%v)", v.name, after.Value, v.value.Value, err)
		}
		written++
	}
	if written < 21 {
		t.Errorf("only %d variables could be written", written)
	}
	array := s.find(t, gua.TypeIDInt32, 1)
	status, err := s.writeOne(ctx, array.node, "1", gua.MustVariant([]int32{4711}))
	expect(t, "write of element 1", status, err, gua.StatusOK)
	after, err := s.readOne(ctx, array.node, "", gua.TimestampsToReturnNeither)
	if err != nil || after.Value.Value().([]int32)[1] != 4711 {
		t.Errorf("after the write of element 1: %+v, %v", after, err)
	}
	status, err = s.writeOne(ctx, array.node, "", array.value.Value)
	expect(t, "write of the old array", status, err, gua.StatusOK)
}

func (s *gopcuaSession) writeErrors(ctx context.Context, t *testing.T) {
	scalar, array := s.find(t, gua.TypeIDInt32, -1), s.find(t, gua.TypeIDInt32, 1)
	status, err := s.writeOne(ctx, scalar.node, "", gua.MustVariant("no number"))
	expect(t, "String to Int32", status, err, gua.StatusBadTypeMismatch)
	if !s.quirks.arrayForScalar {
		status, err = s.writeOne(ctx, scalar.node, "", gua.MustVariant([]int32{1, 2}))
		expect(t, "array to scalar", status, err, gua.StatusBadTypeMismatch)
	}
	status, err = s.writeOne(ctx, array.node, "5000", gua.MustVariant([]int32{1}))
	expect(t, "beyond the array", status, err, gua.StatusBadIndexRangeNoData, gua.StatusBadIndexRangeInvalid)
	status, err = s.writeOne(ctx, numeric(2258), "", gua.MustVariant(time.Now()))
	expect(t, "CurrentTime", status, err, gua.StatusBadNotWritable, gua.StatusBadUserAccessDenied)
	status, err = s.writeOne(ctx, gua.NewStringNodeID(1, "does not exist"), "", gua.MustVariant(int32(1)))
	expect(t, "unknown node", status, err, gua.StatusBadNodeIDUnknown)
}

// chunks sends and gets messages of several chunks.
func (s *gopcuaSession) chunks(ctx context.Context, t *testing.T) {
	request := &gua.ReadRequest{TimestampsToReturn: gua.TimestampsToReturnNeither}
	for range 5000 {
		request.NodesToRead = append(request.NodesToRead, &gua.ReadValueID{NodeID: numeric(id.Server), AttributeID: gua.AttributeIDDisplayName})
	}
	resp, err := s.Client.Read(ctx, request)
	if err != nil || len(resp.Results) != len(request.NodesToRead) {
		t.Fatalf("5000 reads: %v", err)
	}
	v := s.find(t, gua.TypeIDByteString, -1)
	large := []byte(strings.Repeat("actua ", 50_000))
	status, err := s.writeOne(ctx, v.node, "", gua.MustVariant(large))
	expect(t, "write of 300 kB", status, err, gua.StatusOK)
	back, err := s.readOne(ctx, v.node, "", gua.TimestampsToReturnNeither)
	if err != nil || back.Value == nil || !bytes.Equal(back.Value.ByteString(), large) {
		t.Errorf("300 kB did not come back: %v", err)
	}
	status, err = s.writeOne(ctx, v.node, "", v.value.Value)
	expect(t, "write of the old value", status, err, gua.StatusOK)
}

func (s *gopcuaSession) unsupported(ctx context.Context, t *testing.T) {
	err := s.Send(ctx, &gua.QueryFirstRequest{
		View:   &gua.ViewDescription{ViewID: gua.NewTwoByteNodeID(0)},
		Filter: &gua.ContentFilter{},
	}, func(gua.Response) error { return nil })
	if !errors.Is(err, gua.StatusBadServiceUnsupported) {
		t.Errorf("QueryFirst: %v", err)
	}
	if _, err := s.Node(numeric(2258)).Value(ctx); err != nil {
		t.Error("the read after it: ", err)
	}
}

// malformed uses that gopcua encodes only the length of a ByteString array: the request ends in the middle. A server
// answers that and keeps the channel.
func (s *gopcuaSession) malformed(ctx context.Context, t *testing.T) {
	_, err := s.writeOne(ctx, numeric(2258), "", gua.MustVariant([][]byte{{1}, {2}}))
	if !errors.Is(err, gua.StatusBadDecodingError) {
		t.Errorf("a request that ends early: %v", err)
	}
	if _, err := s.Node(numeric(2258)).Value(ctx); err != nil {
		t.Error("the read after it: ", err)
	}
}
