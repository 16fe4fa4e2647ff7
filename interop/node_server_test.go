package interop

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/interop/pcapproxy"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uapki"
)

// ns1 is a node of node/server.js.
func ns1(id string) ua.NodeID { return ua.NewStringNodeID(1, id) }

// TestNodeServer runs our client against node-opcua's server, with every policy, mode and token. The other clients
// follow, as a control of the programs that our own server is tested with.
func TestNodeServer(t *testing.T) {
	s := startNodeServer(t)
	store := trustingStore(t, s.url)
	for _, c := range matrix(true, slices.Concat(currentPolicies, deprecatedPolicies)...) {
		t.Run(c.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client := dial(ctx, t, s.url, c, store)
			t.Run("view", func(t *testing.T) { viewOfNodeServer(ctx, t, client) })
			t.Run("read", func(t *testing.T) { readFromNodeServer(ctx, t, client) })
			t.Run("write", func(t *testing.T) { writeToNodeServer(ctx, t, client) })
			t.Run("call", func(t *testing.T) { callNodeServer(ctx, t, client) })
			t.Run("chunks", func(t *testing.T) { chunksFromNodeServer(ctx, t, client) })
			t.Run("parallel", func(t *testing.T) { readInParallel(ctx, t, client) })
			if err := client.Close(ctx); err != nil {
				t.Error("Close: ", err)
			}
		})
	}
	t.Run("discovery", func(t *testing.T) { discoverNodeServer(t, s.url) })
	t.Run("wrong password", func(t *testing.T) { wrongPassword(t, s.url, store) })
	t.Run("token renewal", func(t *testing.T) { renewTokens(t, s.url, store) })
	t.Run("command line", func(t *testing.T) { commandLine(t, s.url) })
	t.Run("control of client.js", func(t *testing.T) { nodeClientControl(t, s.url) })
	t.Run("control of gopcua", func(t *testing.T) { gopcuaClientControl(t, s.url) })
}

// trustingStore is a certificate store that trusts the certificate of a server, so that all other checks on it count.
func trustingStore(t *testing.T, url string) *uapki.Store {
	t.Helper()
	store, err := uapki.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	endpoints, err := uaclient.GetEndpoints(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range endpoints {
		if len(e.ServerCertificate) == 0 {
			continue
		}
		chain, err := uapki.ParseChain(e.ServerCertificate)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Trust(chain[0]); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// configOf is how our client connects for a case.
func configOf(c securityCase, store *uapki.Store) *uaclient.Config {
	config := &uaclient.Config{
		SecurityPolicy: c.policy, AllowDeprecated: slices.Contains(deprecatedPolicies, c.policy), PKI: store,
		RequestTimeout: 20 * time.Second,
	}
	switch c.mode {
	case "None":
		config.Mode = ua.MessageSecurityModeNone
	case "Sign":
		config.Mode = ua.MessageSecurityModeSign
	case "SignAndEncrypt":
		config.Mode = ua.MessageSecurityModeSignAndEncrypt
	}
	if c.token == "UserName" {
		config.User = uaclient.UserName{Name: userName, Password: password}
	}
	return config
}

func dial(ctx context.Context, t *testing.T, url string, c securityCase, store *uapki.Store) *uaclient.Client {
	t.Helper()
	client, err := uaclient.Dial(ctx, url, configOf(c, store))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func discoverNodeServer(t *testing.T, url string) {
	servers, err := uaclient.FindServers(t.Context(), url, nil)
	if err != nil || len(servers) != 1 || servers[0].ApplicationURI != "urn:localhost:actua-interop:server" {
		t.Errorf("FindServers: %+v, %v", servers, err)
	}
	endpoints, err := uaclient.GetEndpoints(t.Context(), url, nil)
	if want := 1 + 2*(len(currentPolicies)+len(deprecatedPolicies)); err != nil || len(endpoints) != want {
		t.Errorf("%d endpoints, wanted %d; %v", len(endpoints), want, err)
	}
}

func viewOfNodeServer(ctx context.Context, t *testing.T, c *uaclient.Client) {
	found, err := c.BrowseAll(ctx, []ua.NodeID{ns1("Many"), ns1("AllTypes"), ns1("does not exist")}, uaclient.BrowseOptions{PageSize: 7})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(found[0].References); n != 500 || found[0].References[499].BrowseName.Name != "V499" {
		t.Errorf("%d references of Many", n)
	}
	if n := len(found[1].References); n != 46 {
		t.Errorf("%d references of AllTypes", n)
	}
	if found[2].Status != ua.BadNodeIdUnknown {
		t.Errorf("unknown node: %v", found[2].Status)
	}

	resp, err := c.Browse(ctx, &ua.BrowseRequest{RequestedMaxReferencesPerNode: 1, NodesToBrowse: []ua.BrowseDescription{
		{NodeID: ns1("Many"), ReferenceTypeID: ua.ID(33), IncludeSubtypes: true, ResultMask: 63}}})
	if err != nil || len(resp.Results[0].References) != 1 || len(resp.Results[0].ContinuationPoint) == 0 {
		t.Fatalf("Browse: %+v, %v", resp, err)
	}
	point := [][]byte{resp.Results[0].ContinuationPoint}
	if _, err := c.BrowseNext(ctx, &ua.BrowseNextRequest{ReleaseContinuationPoints: true, ContinuationPoints: point}); err != nil {
		t.Error("release: ", err)
	}
	next, err := c.BrowseNext(ctx, &ua.BrowseNextRequest{ContinuationPoints: point})
	if err != nil || next.Results[0].StatusCode != ua.BadContinuationPointInvalid {
		t.Errorf("a released continuation point: %+v, %v", next, err)
	}

	if node, err := c.ResolvePath(ctx, "/Objects/1:Calculator/1:Add"); err != nil || node != ns1("Calculator.Add") {
		t.Errorf("the path of Add leads to %v, %v", node, err)
	}
	if _, err := c.ResolvePath(ctx, "/Objects/NoSuchThing"); !errors.Is(err, ua.BadNoMatch) {
		t.Errorf("a path to nowhere: %v", err)
	}
	registered, err := c.RegisterNodes(ctx, ns1("AllTypes.Int32"), ns1("AllTypes.String"))
	if err != nil || len(registered) != 2 {
		t.Fatalf("RegisterNodes: %v, %v", registered, err)
	}
	if v, err := c.ReadValue(ctx, registered[0]); err != nil || v.Value.Int() != -2147483648 {
		t.Errorf("a registered node: %v, %v", v, err)
	}
	if err := c.UnregisterNodes(ctx, registered...); err != nil {
		t.Error("UnregisterNodes: ", err)
	}
}

// samples are the values of node/server.js as our types hold them.
func samples(t *testing.T) map[string]ua.Variant {
	guid := ua.GUID{0x72, 0x96, 0x2b, 0x91, 0xfa, 0x75, 0x4a, 0xe6, 0x8d, 0x28, 0xb4, 0x04, 0xdc, 0x7d, 0xaf, 0x63}
	leapDay := ua.NewDateTime(time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC))
	lastDay := ua.NewDateTime(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC))
	matrix, err := ua.Matrix([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]ua.Variant{
		"Boolean": ua.Boolean(true), "BooleanArray": ua.Array([]bool{true, false}),
		"SByte": ua.SByte(-128), "SByteArray": ua.Array([]int8{-128, 127}),
		"Byte": ua.Byte(0), "ByteArray": ua.Array([]uint8{0, 255}),
		"Int16": ua.Int16(-32768), "Int16Array": ua.Array([]int16{-32768, 32767}),
		"UInt16": ua.UInt16(0), "UInt16Array": ua.Array([]uint16{0, 65535}),
		"Int32": ua.Int32(-2147483648), "Int32Array": ua.Array([]int32{-2147483648, 2147483647}),
		"UInt32": ua.UInt32(0), "UInt32Array": ua.Array([]uint32{0, 4294967295}),
		"Int64": ua.Int64(-1 << 63), "Int64Array": ua.Array([]int64{-1 << 63, 1<<63 - 1}),
		"UInt64": ua.UInt64(1), "UInt64Array": ua.Array([]uint64{1, 1<<64 - 1}),
		"Float": ua.Float(1.5), "FloatArray": ua.Array([]float32{1.5, -0.25}),
		"Double": ua.Double(3.141592653589793), "DoubleArray": ua.Array([]float64{3.141592653589793, -1e300}),
		"String": ua.String("grüße, 世界"), "StringArray": ua.Array([]string{"grüße, 世界", "second"}),
		"DateTime": leapDay.Variant(), "DateTimeArray": ua.Array([]ua.DateTime{leapDay, lastDay}),
		"Guid": guid.Variant(), "GuidArray": ua.Array([]ua.GUID{guid, {15: 1}}),
		"ByteString": ua.ByteString([]byte{0, 1, 2, 255}), "ByteStringArray": ua.Array([][]byte{{0, 1, 2, 255}, []byte("xyz")}),
		"XmlElement": ua.XMLElement(`<a b="c"/>`).Variant(), "XmlElementArray": ua.Array([]ua.XMLElement{`<a b="c"/>`, "<d/>"}),
		"NodeId": ns1("AllTypes").Variant(), "NodeIdArray": ua.Array([]ua.NodeID{ns1("AllTypes"), ua.ID(2258)}),
		"ExpandedNodeId":      ua.NewGUIDNodeID(1, guid).Expanded().Variant(),
		"ExpandedNodeIdArray": ua.Array([]ua.ExpandedNodeID{ua.NewGUIDNodeID(1, guid).Expanded(), ua.ID(85).Expanded()}),
		"StatusCode":          ua.BadTimeout.Variant(), "StatusCodeArray": ua.Array([]ua.StatusCode{ua.BadTimeout, ua.Good}),
		"QualifiedName":      ua.QualifiedName{NamespaceIndex: 1, Name: "Qualified"}.Variant(),
		"QualifiedNameArray": ua.Array([]ua.QualifiedName{{NamespaceIndex: 1, Name: "Qualified"}, {Name: "Plain"}}),
		"LocalizedText":      ua.LocalizedText{Locale: "de", Text: "Pumpe"}.Variant(),
		"LocalizedTextArray": ua.Array([]ua.LocalizedText{{Locale: "de", Text: "Pumpe"}, ua.Text("no locale")}),
		"Structure":          ua.NewExtensionObject(&ua.Range{Low: 0, High: 100}).Variant(),
		"StructureArray": ua.Array([]ua.ExtensionObject{
			ua.NewExtensionObject(&ua.Range{Low: 0, High: 1}), ua.NewExtensionObject(&ua.Range{Low: -1, High: 1})}),
		"VariantArray": ua.Array([]ua.Variant{ua.Int32(7), ua.String("seven")}),
		"Matrix":       matrix,
	}
}

func readFromNodeServer(ctx context.Context, t *testing.T, c *uaclient.Client) {
	want := samples(t)
	var names []string
	var nodes []ua.NodeID
	for name := range want {
		names, nodes = append(names, name), append(nodes, ns1("AllTypes."+name))
	}
	values, err := c.ReadValues(ctx, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if v := values[i]; v.Status != ua.Good || !v.Value.Equal(want[name]) {
			t.Errorf("%s is %v (%v), wanted %v", name, v.Value, v.Status, want[name])
		}
	}

	var items []ua.ReadValueID
	for id := ua.AttributeNodeID; id.IsValid(); id++ {
		items = append(items, ua.ReadValueID{NodeID: ns1("AllTypes.Double"), AttributeID: uint32(id)})
	}
	attributes, err := c.ReadAttributes(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	attribute := func(id ua.AttributeID) ua.DataValue { return attributes[id-1] }
	if got := attribute(ua.AttributeBrowseName).Value.Any(); got != (ua.QualifiedName{NamespaceIndex: 1, Name: "Double"}) {
		t.Errorf("BrowseName is %v", got)
	}
	if got := attribute(ua.AttributeDataType).Value.NodeID(); got != ua.ID(11) {
		t.Errorf("DataType is %v", got)
	}
	if got := attribute(ua.AttributeValueRank).Value.Int(); got != -1 {
		t.Errorf("ValueRank is %d", got)
	}
	if got := attribute(ua.AttributeEventNotifier).Status; got != ua.BadAttributeIdInvalid {
		t.Errorf("EventNotifier of a variable: %v", got)
	}

	readDetails(ctx, t, c)
}

func readDetails(ctx context.Context, t *testing.T, c *uaclient.Client) {
	one := func(node ua.NodeID, indexRange string, stamps ua.TimestampsToReturn) ua.DataValue {
		resp, err := c.Read(ctx, &ua.ReadRequest{TimestampsToReturn: stamps, NodesToRead: []ua.ReadValueID{
			{NodeID: node, AttributeID: uint32(ua.AttributeValue), IndexRange: indexRange}}})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Results[0]
	}
	if v := one(ns1("AllTypes.Int32Array"), "1", ua.TimestampsToReturnNeither); !v.Value.Equal(ua.Array([]int32{2147483647})) {
		t.Errorf("element 1 is %v (%v)", v.Value, v.Status)
	}
	if v := one(ns1("AllTypes.Int32Array"), "7", ua.TimestampsToReturnNeither); v.Status != ua.BadIndexRangeNoData {
		t.Errorf("element 7: %v", v.Status)
	}
	if v := one(ns1("AllTypes.Matrix"), "0:1,1", ua.TimestampsToReturnNeither); !slices.Equal(v.Value.Dimensions(), []uint32{2, 1}) {
		t.Errorf("a column of the matrix is %v (%v)", v.Value, v.Status)
	}
	for _, stamps := range []ua.TimestampsToReturn{ua.TimestampsToReturnSource, ua.TimestampsToReturnServer, ua.TimestampsToReturnBoth, ua.TimestampsToReturnNeither} {
		v := one(ns1("AllTypes.Double"), "", stamps)
		source := stamps == ua.TimestampsToReturnSource || stamps == ua.TimestampsToReturnBoth
		server := stamps == ua.TimestampsToReturnServer || stamps == ua.TimestampsToReturnBoth
		if source == v.SourceTimestamp.IsZero() || server == v.ServerTimestamp.IsZero() {
			t.Errorf("timestamps %v: source %v, server %v", stamps, v.SourceTimestamp.Time(), v.ServerTimestamp.Time())
		}
	}
	if _, err := c.ReadValue(ctx, ns1("does not exist")); !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Errorf("unknown node: %v", err)
	}
	if _, err := c.Read(ctx, &ua.ReadRequest{}); !errors.Is(err, ua.BadNothingToDo) {
		t.Errorf("an empty Read: %v", err)
	}
}

func writeToNodeServer(ctx context.Context, t *testing.T, c *uaclient.Client) {
	for name, value := range samples(t) {
		if err := c.WriteValue(ctx, ns1("AllTypes."+name), value); err != nil {
			t.Error(err)
			continue
		}
		if v, err := c.ReadValue(ctx, ns1("AllTypes."+name)); err != nil || !v.Value.Equal(value) {
			t.Errorf("%s came back as %v, was %v (%v)", name, v.Value, value, err)
		}
	}
	array := ns1("AllTypes.Int32Array")
	if err := c.WriteRange(ctx, array, "1", ua.Array([]int32{4711})); err != nil {
		t.Error(err)
	}
	if v, err := c.ReadValue(ctx, array); err != nil || !v.Value.Equal(ua.Array([]int32{-2147483648, 4711})) {
		t.Errorf("after the write of element 1: %v, %v", v.Value, err)
	}
	if err := c.WriteValue(ctx, array, samples(t)["Int32Array"]); err != nil {
		t.Error(err)
	}
	if err := c.WriteValue(ctx, ns1("AllTypes.Int32"), ua.String("no number")); !errors.Is(err, ua.BadTypeMismatch) {
		t.Errorf("String to Int32: %v", err)
	}
	if err := c.WriteValue(ctx, ua.ID(2258), ua.Now().Variant()); !errors.Is(err, ua.BadNotWritable) && !errors.Is(err, ua.BadUserAccessDenied) {
		t.Errorf("CurrentTime: %v", err)
	}
}

func callNodeServer(ctx context.Context, t *testing.T, c *uaclient.Client) {
	object, method := ns1("Calculator"), ns1("Calculator.Add")
	out, err := c.CallMethod(ctx, object, method, ua.Double(1.25), ua.Double(2.5))
	if err != nil || len(out) != 1 || !out[0].Equal(ua.Double(3.75)) {
		t.Errorf("1.25 + 2.5 = %v, %v", out, err)
	}
	inputs, outputs, err := c.Arguments(ctx, method)
	if err != nil || len(inputs) != 2 || inputs[1].Name != "b" || inputs[1].DataType != ua.ID(11) || len(outputs) != 1 {
		t.Errorf("arguments: %+v, %+v, %v", inputs, outputs, err)
	}
	_, err = c.CallMethod(ctx, object, method, ua.String("one"), ua.Double(2))
	if bad, ok := errors.AsType[*uaclient.ArgumentError](err); !errors.Is(err, ua.BadInvalidArgument) || !ok || bad.Inputs[0] != ua.BadTypeMismatch {
		t.Errorf("a String for a Double: %v", err)
	}
	if _, err = c.CallMethod(ctx, object, method, ua.Double(1)); !errors.Is(err, ua.BadArgumentsMissing) {
		t.Errorf("one argument: %v", err)
	}
	if _, err = c.CallMethod(ctx, object, method, ua.Double(1), ua.Double(1), ua.Double(1)); !errors.Is(err, ua.BadTooManyArguments) {
		t.Errorf("three arguments: %v", err)
	}
	if _, err = c.CallMethod(ctx, object, ns1("does not exist")); !errors.Is(err, ua.BadMethodInvalid) && !errors.Is(err, ua.BadNodeIdUnknown) {
		t.Errorf("unknown method: %v", err)
	}
}

func chunksFromNodeServer(ctx context.Context, t *testing.T, c *uaclient.Client) {
	v, err := c.ReadValue(ctx, ns1("Large"))
	if large, ok := ua.ArrayOf[float64](v.Value); err != nil || !ok || len(large) != 100_000 || large[99_999] != 99_999.0/2 {
		t.Errorf("Large has %d elements: %v", v.Value.Len(), err)
	}
	node, text := ns1("AllTypes.String"), ua.String(strings.Repeat("actua ", 50_000))
	if err := c.WriteValue(ctx, node, text); err != nil {
		t.Fatal(err)
	}
	if v, err := c.ReadValue(ctx, node); err != nil || !v.Value.Equal(text) {
		t.Errorf("300 kB did not come back: %v", err)
	}
	if err := c.WriteValue(ctx, node, samples(t)["String"]); err != nil {
		t.Error(err)
	}
}

// readInParallel has many requests in flight on one channel; answers may come in any order.
func readInParallel(ctx context.Context, t *testing.T, c *uaclient.Client) {
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; i < 160; i += 8 {
				v, err := c.ReadValue(ctx, ns1("Many.V"+string(rune('0'+i%10))))
				if err != nil || v.Value.Int() != int64(i%10) {
					t.Errorf("V%d is %v, %v", i%10, v.Value, err)
				}
			}
		})
	}
	all.Wait()
}

func wrongPassword(t *testing.T, url string, store *uapki.Store) {
	config := configOf(securityCase{"Basic256Sha256", "SignAndEncrypt", "UserName"}, store)
	config.User = uaclient.UserName{Name: userName, Password: "wrong"}
	client, err := uaclient.Dial(t.Context(), url, config)
	if err == nil {
		_ = client.Close(t.Context())
	}
	if failed, ok := errors.AsType[*uaclient.Error](err); !ok || failed.Step != uaclient.StepActivate ||
		!errors.Is(err, ua.BadUserAccessDenied) && !errors.Is(err, ua.BadIdentityTokenRejected) {
		t.Errorf("wrong password: %v", err)
	}
}

// renewTokens keeps reading while the channel's token is renewed several times. The kind of a message is readable on
// the wire whatever the security, so a recording shows that it was.
func renewTokens(t *testing.T, url string, store *uapki.Store) {
	var recording bytes.Buffer
	proxy, err := pcapproxy.Start("127.0.0.1:0", strings.TrimPrefix(url, "opc.tcp://"), &recording)
	if err != nil {
		t.Fatal(err)
	}
	config := configOf(securityCase{"Aes256_Sha256_RsaPss", "SignAndEncrypt", "Anonymous"}, store)
	config.ChannelLifetime = time.Second
	client, err := uaclient.Dial(t.Context(), "opc.tcp://"+proxy.Address().String(), config)
	if err != nil {
		t.Fatal(errors.Join(err, proxy.Close()))
	}
	reads := 0
	// node-opcua grants 2.5 s at least; renewals come at three quarters of that.
	for end := time.Now().Add(4500 * time.Millisecond); time.Now().Before(end); reads++ {
		if _, err := client.ReadValue(t.Context(), ua.ID(2258)); err != nil {
			t.Errorf("after %d reads: %v", reads, err)
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := errors.Join(client.Close(t.Context()), proxy.Close()); err != nil {
		t.Error(err)
	}
	// Discovery opens a channel of its own; each opening or renewal is a request and an answer.
	if n := bytes.Count(recording.Bytes(), []byte("OPNF")); n < 2*(1+1+2) {
		t.Errorf("%d OpenSecureChannel messages in %d reads; there should be at least two renewals", n, reads)
	}
}

// commandLine runs the client commands of actua against the server.
func commandLine(t *testing.T, url string) {
	secured := []string{"--security", "Basic256Sha256", "--mode", "SignAndEncrypt", "--insecure", "--pki", t.TempDir(),
		"--user", userName, "--password", password}
	run := func(wantCode int, args ...string) []map[string]any {
		t.Helper()
		lines, code, stderr := runActua(t, append(args, secured...)...)
		if code != wantCode {
			t.Errorf("actua %s: exit code %d, wanted %d\n%s", strings.Join(args, " "), code, wantCode, stderr)
		}
		return lines
	}
	if lines, code, stderr := runActua(t, "endpoints", url); code != 0 || len(lines) != 11 {
		t.Errorf("endpoints: %d lines, exit code %d\n%s", len(lines), code, stderr)
	}
	if lines := run(0, "browse", url, "ns=1;s=Many"); len(lines) < 500 {
		t.Errorf("browse: %d lines", len(lines))
	}
	lines := run(0, "read", url, "ns=1;s=AllTypes.Int64", "ns=1;s=AllTypes.Matrix")
	if len(lines) != 2 || lines[0]["value"] != "-9223372036854775808" || lines[0]["type"] != "Int64" || lines[1]["type"] != "Double[,]" {
		t.Errorf("read: %v", lines)
	}
	if lines := run(0, "write", url, "ns=1;s=AllTypes.UInt16", "4711"); len(lines) != 1 || lines[0]["status"] != "Good" {
		t.Errorf("write: %v", lines)
	}
	if lines := run(0, "read", url, "ns=1;s=AllTypes.UInt16"); len(lines) != 1 || lines[0]["value"] != 4711.0 {
		t.Errorf("read of what was written: %v", lines)
	}
	lines = run(0, "call", url, "ns=1;s=Calculator", "ns=1;s=Calculator.Add", "1.5", "2.25")
	if len(lines) != 1 || lines[0]["status"] != "Good" {
		t.Errorf("call: %v", lines)
	} else if outputs, _ := lines[0]["outputs"].([]any); len(outputs) != 1 || outputs[0].(map[string]any)["value"] != 3.75 {
		t.Errorf("call: %v", lines)
	}
	if lines := run(1, "read", url, "ns=1;s=nothing"); len(lines) != 1 || lines[0]["status"] != "BadNodeIdUnknown" {
		t.Errorf("read of an unknown node: %v", lines)
	}
}
