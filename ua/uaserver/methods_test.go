package uaserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// another opens another session on the server.
func (c *client) another(s *uaserver.Server, user string) *client {
	c.t.Helper()
	conn, err := tcp.Dial(c.t.Context(), s.Endpoints()[0].EndpointURL, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	o := &client{t: c.t, conn: conn}
	q, p := ua.CreateSessionRequest{EndpointURL: "opc.tcp://here:1", SessionName: "another"}, ua.CreateSessionResponse{}
	o.do(&q, &p)
	o.h.AuthenticationToken = p.AuthenticationToken
	activate := ua.ActivateSessionRequest{RequestHeader: o.h, LocaleIDs: []string{"de"}}
	if user != "" {
		for _, t := range p.ServerEndpoints[0].UserIdentityTokens {
			if t.TokenType == ua.UserTokenTypeUserName {
				activate.UserIdentityToken = ua.NewExtensionObject(&ua.UserNameIdentityToken{PolicyID: t.PolicyID, UserName: user, Password: []byte(user)})
			}
		}
	}
	o.do(&activate, &ua.ActivateSessionResponse{})
	return o
}

// subscribe creates a subscription with items for nodes, whose client handles are 100 and above.
func (c *client) subscribe(nodes ...ua.NodeID) uint32 {
	c.t.Helper()
	var sub ua.CreateSubscriptionResponse
	c.do(&ua.CreateSubscriptionRequest{RequestHeader: c.h, RequestedPublishingInterval: 10, RequestedLifetimeCount: 6000,
		RequestedMaxKeepAliveCount: 1000, PublishingEnabled: true}, &sub)
	if len(nodes) > 0 {
		for i, r := range c.items(sub.SubscriptionID, nodes...) {
			if r.StatusCode != ua.Good {
				c.t.Fatalf("%v: %v", nodes[i], r.StatusCode)
			}
		}
	}
	return sub.SubscriptionID
}

func (c *client) items(sub uint32, nodes ...ua.NodeID) []ua.MonitoredItemCreateResult {
	c.t.Helper()
	q := ua.CreateMonitoredItemsRequest{RequestHeader: c.h, SubscriptionID: sub, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for i, id := range nodes {
		q.ItemsToCreate = append(q.ItemsToCreate, ua.MonitoredItemCreateRequest{
			ItemToMonitor:  ua.ReadValueID{NodeID: id, AttributeID: uint32(ua.AttributeValue)},
			MonitoringMode: ua.MonitoringModeReporting, RequestedParameters: ua.MonitoringParameters{ClientHandle: uint32(100 + i), QueueSize: 1},
		})
	}
	var p ua.CreateMonitoredItemsResponse
	c.do(&q, &p)
	return p.Results
}

// publish waits for the notifications of one message.
func (c *client) publish() (sub uint32, items []ua.MonitoredItemNotification) {
	c.t.Helper()
	var p ua.PublishResponse
	c.do(&ua.PublishRequest{RequestHeader: c.h}, &p)
	for _, n := range p.NotificationMessage.NotificationData {
		if d, ok := n.Value.(*ua.DataChangeNotification); ok {
			items = append(items, d.MonitoredItems...)
		}
	}
	return p.SubscriptionID, items
}

func (c *client) method(object, method uint32, inputs ...ua.Variant) ua.CallMethodResult {
	c.t.Helper()
	var p ua.CallResponse
	c.do(&ua.CallRequest{RequestHeader: c.h, MethodsToCall: []ua.CallMethodRequest{{
		ObjectID: ua.ID(object), MethodID: ua.ID(method), InputArguments: inputs}}}, &p)
	return p.Results[0]
}

func smallPlant(n int) (*memspace.Space, []ua.NodeID) {
	space := memspace.New("urn:test:plant")
	var ids []ua.NodeID
	for i := range n {
		ids = append(ids, space.AddVariable(space.Objects(), "V"+string(rune('A'+i)), ua.Double(float64(i))).ID())
	}
	return space, ids
}

var subscriptionMethods = []uint32{uaid.Server_GetMonitoredItems, uaid.Server_ResendData, uaid.Server_SetSubscriptionDurable}

// What is wrong with a call is told before anything is done: types, counts, whose the subscription is.
func TestMethodsOfSubscriptionsRefuse(t *testing.T) {
	space, ids := smallPlant(1)
	s, c := start(t, space, func(c *uaserver.Config) { c.Limits.MaxDurableLifetime = 10 * time.Hour })
	sub := c.subscribe(ids...)
	other, busy := c.another(s, ""), c.another(s, "")
	busy.subscribe()
	for _, m := range subscriptionMethods {
		name := map[uint32]string{subscriptionMethods[0]: "GetMonitoredItems", subscriptionMethods[1]: "ResendData", subscriptionMethods[2]: "SetSubscriptionDurable"}[m]
		args := func(id ua.Variant) []ua.Variant {
			if m == uaid.Server_SetSubscriptionDurable {
				return []ua.Variant{id, ua.UInt32(1)}
			}
			return []ua.Variant{id}
		}
		for _, x := range []struct {
			what   string
			c      *client
			inputs []ua.Variant
			want   ua.StatusCode
		}{
			{"another session's", busy, args(ua.UInt32(sub)), ua.BadUserAccessDenied},
			{"a session without subscriptions", other, args(ua.UInt32(sub)), ua.BadUserAccessDenied},
			{"unknown", c, args(ua.UInt32(sub + 1000)), ua.BadSubscriptionIdInvalid},
			{"unknown, without subscriptions", other, args(ua.UInt32(sub + 1000)), ua.BadSubscriptionIdInvalid},
			{"a type", c, args(ua.Int64(int64(sub))), ua.BadInvalidArgument},
			{"an array", c, args(ua.Array([]uint32{sub})), ua.BadInvalidArgument},
			{"nothing", c, nil, ua.BadArgumentsMissing},
			{"too much", c, append(args(ua.UInt32(sub)), ua.UInt32(1)), ua.BadTooManyArguments},
		} {
			r := x.c.method(uaid.Server, m, x.inputs...)
			if r.StatusCode != x.want || len(r.OutputArguments) > 0 {
				t.Errorf("%s, %s: %v %v, want %v", name, x.what, r.StatusCode, r.OutputArguments, x.want)
			}
			if x.want == ua.BadInvalidArgument && (len(r.InputArgumentResults) == 0 || r.InputArgumentResults[0] != ua.BadTypeMismatch) {
				t.Errorf("%s, %s: %v", name, x.what, r.InputArgumentResults)
			}
		}
		if r := c.method(uaid.ObjectsFolder, m, args(ua.UInt32(sub))...); r.StatusCode != ua.BadMethodInvalid {
			t.Errorf("%s on another object: %v", name, r.StatusCode)
		}
		for _, a := range []ua.AttributeID{ua.AttributeExecutable, ua.AttributeUserExecutable} {
			if v := c.read(a, ua.ID(m))[0]; v.Status != ua.Good || !v.Value.Bool() {
				t.Errorf("%s, %v: %v", name, a, v)
			}
		}
	}
	// With items it is too late to make it durable.
	if r := c.method(uaid.Server, uaid.Server_SetSubscriptionDurable, ua.UInt32(sub), ua.UInt32(1)); r.StatusCode != ua.BadInvalidState {
		t.Errorf("SetSubscriptionDurable with items: %v", r.StatusCode)
	}
	if _, got := c.publish(); len(got) != 1 {
		t.Errorf("the subscription was disturbed: %v", got)
	}
}

func TestGetMonitoredItems(t *testing.T) {
	space, ids := smallPlant(3)
	_, c := start(t, space, nil)
	empty := c.method(uaid.Server, uaid.Server_GetMonitoredItems, ua.UInt32(c.subscribe()))
	if empty.StatusCode != ua.Good || len(empty.OutputArguments) != 2 || empty.OutputArguments[0].Len() != 0 {
		t.Errorf("no items: %v %v", empty.StatusCode, empty.OutputArguments)
	}
	sub := c.subscribe()
	want := c.items(sub, ids...)
	// By the method's number in the type of the Server object, too.
	for _, m := range []uint32{uaid.Server_GetMonitoredItems, uaid.ServerType_GetMonitoredItems} {
		r := c.method(uaid.Server, m, ua.UInt32(sub))
		if r.StatusCode != ua.Good || len(r.OutputArguments) != 2 {
			t.Fatalf("%d: %v %v", m, r.StatusCode, r.OutputArguments)
		}
		server, _ := ua.ArrayOf[uint32](r.OutputArguments[0])
		handles, _ := ua.ArrayOf[uint32](r.OutputArguments[1])
		if len(server) != 3 || len(handles) != 3 {
			t.Fatalf("%v %v", server, handles)
		}
		for i := range server {
			if server[i] != want[i].MonitoredItemID || handles[i] != uint32(100+i) {
				t.Errorf("item %d: %d, handle %d; created as %d", i, server[i], handles[i], want[i].MonitoredItemID)
			}
		}
	}
}

func TestResendData(t *testing.T) {
	space, ids := smallPlant(2)
	_, c := start(t, space, nil)
	sub := c.subscribe(ids...)
	if _, first := c.publish(); len(first) != 2 {
		t.Fatal(first)
	}
	if r := c.method(uaid.Server, uaid.Server_ResendData, ua.UInt32(sub)); r.StatusCode != ua.Good || len(r.OutputArguments) != 0 {
		t.Fatal(r.StatusCode, r.OutputArguments)
	}
	id, again := c.publish()
	if id != sub || len(again) != 2 || again[0].Value.Value.Float() != 0 || again[1].Value.Value.Float() != 1 {
		t.Errorf("of %d: %v", id, again)
	}
}

// Hours are revised, and the life of the subscription with them; a server without durable subscriptions
// says so.
func TestSetSubscriptionDurable(t *testing.T) {
	for most, want := range map[time.Duration]struct {
		status ua.StatusCode
		hours  uint32
	}{0: {ua.BadNotSupported, 0}, time.Minute: {ua.BadNotSupported, 0}, 10 * time.Hour: {ua.Good, 10}, -1: {ua.Good, 400}} {
		space, _ := smallPlant(0)
		_, c := start(t, space, func(c *uaserver.Config) { c.Limits.MaxDurableLifetime, c.Diagnostics = most, true })
		sub := c.subscribe()
		r := c.method(uaid.Server, uaid.Server_SetSubscriptionDurable, ua.UInt32(sub), ua.UInt32(400))
		if r.StatusCode != want.status {
			t.Errorf("at most %v: %v", most, r.StatusCode)
			continue
		}
		if want.hours == 0 {
			continue
		}
		if len(r.OutputArguments) != 1 || r.OutputArguments[0].Uint() != uint64(want.hours) {
			t.Errorf("at most %v: %v", most, r.OutputArguments)
		}
		d := diagnosticsOf(t, c.read(ua.AttributeValue, ua.ID(uaid.Server_ServerDiagnostics_SubscriptionDiagnosticsArray))[0])
		if life := time.Duration(d[0].MaxLifetimeCount) * 10 * time.Millisecond; life != time.Duration(want.hours)*time.Hour {
			t.Errorf("at most %v: it lives for %v", most, life)
		}
	}
}

func diagnosticsOf(t *testing.T, v ua.DataValue) (list []ua.SubscriptionDiagnosticsDataType) {
	t.Helper()
	return structuresOf[ua.SubscriptionDiagnosticsDataType](t, v)
}

// structuresOf takes an array of structures apart.
func structuresOf[T any](t *testing.T, v ua.DataValue) (list []T) {
	t.Helper()
	objects, ok := ua.ArrayOf[ua.ExtensionObject](v.Value)
	if v.Status != ua.Good || !ok {
		t.Fatalf("%v", v)
	}
	for i := range objects {
		x, ok := objects[i].Value.(any).(*T)
		if !ok {
			t.Fatalf("%T", objects[i].Value)
		}
		list = append(list, *x)
	}
	return list
}

// A function of the user's own for a method of the Server object comes first.
func TestOwnFunctionForServerMethod(t *testing.T) {
	space, _ := smallPlant(0)
	called := false
	if err := space.Node(ua.ID(uaid.Server_ResendData)).HandleMethod(func(memspace.Call) ([]ua.Variant, error) {
		called = true
		return nil, ua.BadOutOfService
	}); err != nil {
		t.Fatal(err)
	}
	_, c := start(t, space, nil)
	if r := c.method(uaid.Server, uaid.Server_ResendData, ua.UInt32(1)); r.StatusCode != ua.BadOutOfService || !called {
		t.Error(r.StatusCode, called)
	}
}
