package interop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/server"
	gua "github.com/gopcua/opcua/ua"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// TestGopcuaServer runs our client against gopcua's server. It has no security, and of the services only
// FindServers, GetEndpoints, the session, Browse without continuation points, Read and Write.
func TestGopcuaServer(t *testing.T) {
	url, namespace := startGopcuaServer(t)
	node := func(name string) ua.NodeID { return ua.NewStringNodeID(namespace, name) }
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	endpoints, err := uaclient.GetEndpoints(ctx, url, nil)
	if err != nil || len(endpoints) == 0 || endpoints[0].SecurityMode != ua.MessageSecurityModeNone {
		t.Fatalf("GetEndpoints: %+v, %v", endpoints, err)
	}
	c, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("browse", func(t *testing.T) {
		found, err := c.BrowseAll(ctx, []ua.NodeID{ua.ID(id.ObjectsFolder), ua.NewNodeID(namespace, id.ObjectsFolder)}, uaclient.BrowseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"Server", "Double"} {
			if !slices.ContainsFunc(found[i].References, func(r ua.ReferenceDescription) bool { return r.BrowseName.Name == want }) {
				t.Errorf("no %s among %d references (%v)", want, len(found[i].References), found[i].Status)
			}
		}
	})
	t.Run("read", func(t *testing.T) {
		for name, want := range map[string]ua.Variant{
			"Double": ua.Double(12.5), "Int32": ua.Int32(-7), "String": ua.String("gopcua"), "Boolean": ua.Boolean(true),
			"Array": ua.Array([]float32{1, 2.5}),
		} {
			if v, err := c.ReadValue(ctx, node(name)); err != nil || !v.Value.Equal(want) {
				t.Errorf("%s is %v, wanted %v (%v)", name, v.Value, want, err)
			}
		}
		if v, err := c.ReadAttribute(ctx, node("Double"), ua.AttributeNodeClass); err != nil || v.Value.Int() != int64(ua.NodeClassVariable) {
			t.Errorf("NodeClass is %v, %v", v.Value, err)
		}
		if _, err := c.ReadValue(ctx, node("does not exist")); !ua.StatusOf(err).IsBad() {
			t.Errorf("unknown node: %v", err)
		}
	})
	t.Run("write", func(t *testing.T) {
		if err := c.WriteValue(ctx, node("Written"), ua.Double(99.5)); err != nil {
			t.Fatal(err)
		}
		if v, err := c.ReadValue(ctx, node("Written")); err != nil || !v.Value.Equal(ua.Double(99.5)) {
			t.Errorf("came back as %v, %v", v.Value, err)
		}
	})
	t.Run("unsupported services", func(t *testing.T) {
		_, err := c.CallMethod(ctx, ua.ID(id.Server), ua.ID(id.Server_GetMonitoredItems), ua.UInt32(1))
		if !errors.Is(err, ua.BadServiceUnsupported) {
			t.Errorf("Call: %v", err)
		}
		if _, err := c.RegisterNodes(ctx, node("Double")); !errors.Is(err, ua.BadServiceUnsupported) {
			t.Errorf("RegisterNodes: %v", err)
		}
		if _, err := c.ReadValue(ctx, node("Double")); err != nil {
			t.Error("the read after them: ", err)
		}
	})
	if err := c.Close(ctx); err != nil {
		t.Error("Close: ", err)
	}
	t.Run("command line", func(t *testing.T) {
		name := node("Double").String()
		lines, code, stderr := runActua(t, "read", url, name, "--security", "None", "--pki", t.TempDir())
		if code != 0 || len(lines) != 1 || lines[0]["value"] != 12.5 {
			t.Errorf("read: %v, exit code %d\n%s", lines, code, stderr)
		}
	})
}

// startGopcuaServer starts a server in this process and returns its address and the namespace of its variables.
func startGopcuaServer(t *testing.T) (url string, namespace uint16) {
	t.Helper()
	port := freePort(t)
	s := server.New(
		server.EnableSecurity("None", gua.MessageSecurityModeNone),
		server.EnableAuthMode(gua.UserTokenTypeAnonymous),
		server.EndPoint("127.0.0.1", port),
	)
	variables := server.NewNodeNameSpace(s, "urn:actua-interop:gopcua")
	folder := variables.Objects()
	ns0, err := s.Namespace(0)
	if err != nil {
		t.Fatal(err)
	}
	ns0.Objects().AddRef(folder, id.HasComponent, true)
	for name, value := range map[string]any{
		"Double": 12.5, "Int32": int32(-7), "String": "gopcua", "Boolean": true, "Array": []float32{1, 2.5},
	} {
		folder.AddRef(variables.AddNewVariableStringNode(name, value), id.HasComponent, true)
	}
	everything := server.DataValueFromValue(byte(gua.AccessLevelTypeCurrentRead | gua.AccessLevelTypeCurrentWrite))
	written := server.NewNode(
		gua.NewStringNodeID(variables.ID(), "Written"),
		map[gua.AttributeID]*gua.DataValue{
			gua.AttributeIDAccessLevel: everything, gua.AttributeIDUserAccessLevel: everything,
			gua.AttributeIDNodeClass: server.DataValueFromValue(uint32(gua.NodeClassVariable)),
		},
		nil,
		func() *gua.DataValue { return server.DataValueFromValue(1.0) },
	)
	variables.AddNode(written)
	folder.AddRef(written, id.HasComponent, true)
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URLs()[0], variables.ID()
}
