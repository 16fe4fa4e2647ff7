package memspace_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// serve runs a server with a Space and returns a client of it.
func serve(t *testing.T, space *memspace.Space, uri string) (context.Context, *uaclient.Client) {
	t.Helper()
	server, err := uaserver.New(uaserver.Config{
		ApplicationURI: uri, Nodes: []uaserver.NodeManager{space}, AllowAnonymous: true, Diagnostics: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		if err := <-done; !errors.Is(err, uaserver.ErrServerClosed) {
			t.Error(err)
		}
	})
	client, err := uaclient.Dial(ctx, "opc.tcp://"+l.Addr().String(), &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(ctx) })
	return ctx, client
}

// V07 and V11 with a client: a write that is refused and one that is not, a method.
func TestEmbedding(t *testing.T) {
	space := memspace.New("urn:test:plant")
	level := space.AddVariable(space.Objects(), "Level", ua.Int32(1), memspace.Writable(func(w memspace.Write) ua.StatusCode {
		if w.New.Value.Int() > 10 || w.Old.Value.Int() != 1 || w.User() != "" {
			return ua.BadOutOfRange
		}
		return ua.Good
	}))
	twice := space.AddMethod(space.Objects(), "Twice", memspace.Func1(func(_ memspace.Call, x float64) (float64, error) {
		return 2 * x, nil
	}, "x", "result"))
	ctx, client := serve(t, space, "urn:test:app")
	if err := client.WriteValue(ctx, level.ID(), ua.Int32(11)); !errors.Is(err, ua.BadOutOfRange) {
		t.Errorf("refused write: %v", err)
	}
	if err := client.WriteValue(ctx, level.ID(), ua.Int32(5)); err != nil {
		t.Error(err)
	}
	if v, err := client.ReadValue(ctx, level.ID()); err != nil || v.Value.Int() != 5 {
		t.Errorf("read %v: %v", v.Value, err)
	}
	out, err := client.CallMethod(ctx, space.Objects().ID(), twice.ID(), ua.Double(4))
	if err != nil || out[0].Float() != 8 {
		t.Errorf("call: %v %v", out, err)
	}
	var refused *uaclient.ArgumentError
	if _, err := client.CallMethod(ctx, space.Objects().ID(), twice.ID(), ua.String("x")); !errors.As(err, &refused) {
		t.Errorf("wrong argument: %v", err)
	}
	state, err := client.ReadValue(ctx, ua.ID(uaid.Server_ServerStatus_State))
	if err != nil || state.Value.Int() != int64(ua.ServerStateRunning) {
		t.Errorf("state %v: %v", state.Value, err)
	}
}

// The application's namespace may be that of the server itself, number 1.
func TestNamespaceOne(t *testing.T) {
	space := memspace.New("urn:test:app")
	v := space.AddVariable(space.Objects(), "V", ua.Int32(1), memspace.WithNodeID(ua.NewNodeID(space.Namespace(), 1000)))
	ctx, client := serve(t, space, "urn:test:app")
	if v.ID() != ua.NewNodeID(1, 1000) {
		t.Errorf("id %v", v.ID())
	}
	if _, err := client.ReadValue(ctx, ua.NewNodeID(1, 1000)); err != nil {
		t.Error(err)
	}
}

// V12: a client walks the whole tree and reads all attributes of all nodes.
func TestWalkWithClient(t *testing.T) {
	space := memspace.New("urn:test:plant")
	space.AddVariable(space.Objects(), "V", ua.Int32(1))
	ctx, client := serve(t, space, "urn:test:app")
	seen := map[ua.NodeID]bool{ua.ID(uaid.RootFolder): true}
	for todo := []ua.NodeID{ua.ID(uaid.RootFolder)}; len(todo) > 0; {
		batch := todo[:min(len(todo), 500)]
		todo = todo[len(batch):]
		results, err := client.BrowseAll(ctx, batch, uaclient.BrowseOptions{AllReferences: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if r.Status != ua.Good {
				t.Errorf("browse %v: %v", batch[i], r.Status)
			}
			for _, ref := range r.References {
				if id := ref.NodeID.NodeID; !seen[id] {
					seen[id] = true
					todo = append(todo, id)
				}
				if ref.NodeClass == 0 || ref.BrowseName.Name == "" {
					t.Errorf("%v describes %v as %+v", batch[i], ref.NodeID, ref)
				}
			}
		}
	}
	if len(seen) < 5000 {
		t.Errorf("%d nodes are reachable", len(seen))
	}
	var items []ua.ReadValueID
	for id := range seen {
		for a := ua.AttributeNodeID; a <= ua.AttributeAccessLevelEx; a++ {
			items = append(items, ua.ReadValueID{NodeID: id, AttributeID: uint32(a)})
		}
	}
	values, err := client.ReadAttributes(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	// What sessions use is for users who have logged in.
	security := ua.ReadValueID{NodeID: ua.ID(uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray),
		AttributeID: uint32(ua.AttributeValue)}
	for i, v := range values {
		if items[i] == security && v.Status == ua.BadUserAccessDenied {
			continue
		}
		if !slices.Contains([]ua.StatusCode{ua.Good, ua.BadAttributeIdInvalid}, v.Status) {
			t.Errorf("%v %v: %v", items[i].NodeID, ua.AttributeID(items[i].AttributeID), v.Status)
		}
	}
}
