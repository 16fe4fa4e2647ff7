package uaserver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

var (
	subscriptionArray = ua.ID(uaid.Server_ServerDiagnostics_SubscriptionDiagnosticsArray)
	sessionArray      = ua.ID(uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionDiagnosticsArray)
	securityArray     = ua.ID(uaid.Server_ServerDiagnostics_SessionsDiagnosticsSummary_SessionSecurityDiagnosticsArray)
	summary           = ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary)
	enabledFlag       = ua.ID(uaid.Server_ServerDiagnostics_EnabledFlag)
)

// Off by default: nothing is readable but the flag that says so (Part 5, 6.3.3).
func TestDiagnosticsAreOff(t *testing.T) {
	space, _ := smallPlant(0)
	_, c := start(t, space, nil)
	got := c.read(ua.AttributeValue, enabledFlag, summary, subscriptionArray, sessionArray, securityArray,
		ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSubscriptionCount))
	if got[0].Status != ua.Good || got[0].Value.Bool() {
		t.Errorf("EnabledFlag %v", got[0])
	}
	for i, want := range []ua.StatusCode{ua.BadNotReadable, ua.BadNotReadable, ua.BadNotReadable, ua.BadUserAccessDenied, ua.BadNotReadable} {
		if got[i+1].Status != want || !got[i+1].Value.IsNull() {
			t.Errorf("%d: %v, want %v", i+1, got[i+1], want)
		}
	}
}

// Whose certificates and names the sessions have is not for everybody: not for anonymous clients, not over
// channels that others can listen to.
func TestSecurityDiagnosticsAreForUsers(t *testing.T) {
	space, _ := smallPlant(0)
	s, c := start(t, space, func(c *uaserver.Config) {
		c.Diagnostics, c.AllowAnonymous, c.AllowPlainPasswords, c.Users = true, true, true, map[string]string{"anna": "anna"}
	})
	anna := c.another(s, "anna")
	for _, o := range []*client{c, anna} {
		if v := o.read(ua.AttributeValue, securityArray)[0]; v.Status != ua.BadUserAccessDenied || !v.Value.IsNull() {
			t.Error(v)
		}
		if v := o.read(ua.AttributeUserAccessLevel, securityArray)[0]; v.Value.Uint() != 0 {
			t.Errorf("UserAccessLevel %v", v)
		}
	}
	encrypted := uaserver.SessionInfo{User: "anna", SecurityMode: ua.MessageSecurityModeSignAndEncrypt}
	signed := uaserver.SessionInfo{User: "anna", SecurityMode: ua.MessageSecurityModeSign}
	nobody := uaserver.SessionInfo{SecurityMode: ua.MessageSecurityModeSignAndEncrypt}
	id := securityArray.Numeric()
	if !s.MayReadLive(id, &encrypted) || s.MayReadLive(id, &signed) || s.MayReadLive(id, &nobody) || !s.MayReadLive(sessionArray.Numeric(), &nobody) {
		t.Error("MayReadLive")
	}
	v, _ := s.Live(id, ua.Now())
	list := structuresOf[ua.SessionSecurityDiagnosticsDataType](t, ua.DataValue{Value: v})
	if len(list) != 2 {
		t.Fatal(list)
	}
	for i, want := range []struct{ user, how string }{{"", "Anonymous"}, {"anna", "UserName"}} {
		d := &list[i]
		if d.ClientUserIDOfSession != want.user || d.AuthenticationMechanism != want.how || !slices.Equal(d.ClientUserIDHistory, []string{want.user}) ||
			d.SecurityMode != ua.MessageSecurityModeNone || d.SecurityPolicyURI == "" || d.Encoding == "" || d.TransportProtocol == "" {
			t.Errorf("%+v", d)
		}
	}
}

// What cannot be read cannot be watched; what can is sampled.
func TestWatchingDiagnostics(t *testing.T) {
	for on, want := range map[bool]ua.StatusCode{false: ua.BadNotReadable, true: ua.Good} {
		space, _ := smallPlant(0)
		s, c := start(t, space, func(c *uaserver.Config) { c.Diagnostics = on })
		sub := c.subscribe()
		r := c.items(sub, subscriptionArray, securityArray, enabledFlag)
		if r[0].StatusCode != want || r[1].StatusCode != ua.BadUserAccessDenied || r[2].StatusCode != ua.Good {
			t.Errorf("diagnostics %v: %+v", on, r)
		}
		o := c.another(s, "")
		o.subscribe()
		// The first value has one subscription or already two: another message has what changed.
		for seen := !on; !seen; {
			_, items := c.publish()
			for _, n := range items {
				seen = seen || n.ClientHandle == 100 && n.Value.Value.Len() == 2
			}
		}
	}
}

// A session remembers who used it, the last 32 of them, and counts what they may not do.
func TestUserHistory(t *testing.T) {
	space, _ := smallPlant(0)
	users := map[string]string{"anna": "anna", "ben": "ben"}
	s, c := start(t, space, func(c *uaserver.Config) {
		c.Diagnostics, c.AllowAnonymous, c.AllowPlainPasswords, c.Users = true, true, true, users
	})
	var policy string
	for _, p := range s.Endpoints()[0].UserIdentityTokens {
		if p.TokenType == ua.UserTokenTypeUserName {
			policy = p.PolicyID
		}
	}
	as := func(user, password string) error {
		token := ua.NewExtensionObject(&ua.UserNameIdentityToken{PolicyID: policy, UserName: user, Password: []byte(password)})
		return c.conn.Call(t.Context(), &ua.ActivateSessionRequest{RequestHeader: c.h, UserIdentityToken: token}, &ua.ActivateSessionResponse{})
	}
	for i := range 40 {
		user := []string{"anna", "anna", "ben", "ben"}[i%4] // again is no change
		if err := as(user, user); err != nil {
			t.Fatal(err)
		}
	}
	if err := as("anna", "wrong"); ua.StatusOf(err) != ua.BadUserAccessDenied {
		t.Fatal(err)
	}
	v, _ := s.Live(securityArray.Numeric(), ua.Now())
	d := structuresOf[ua.SessionSecurityDiagnosticsDataType](t, ua.DataValue{Value: v})[0]
	if n := len(d.ClientUserIDHistory); d.ClientUserIDOfSession != "ben" || n != 21 || d.ClientUserIDHistory[0] != "" || d.ClientUserIDHistory[n-1] != "ben" {
		t.Errorf("%+v", d)
	}
	for i := range 60 {
		user := []string{"anna", "ben"}[i%2]
		if err := as(user, user); err != nil {
			t.Fatal(err)
		}
	}
	v, _ = s.Live(securityArray.Numeric(), ua.Now())
	d = structuresOf[ua.SessionSecurityDiagnosticsDataType](t, ua.DataValue{Value: v})[0]
	if n := len(d.ClientUserIDHistory); n != 32 || d.ClientUserIDHistory[0] != "anna" || d.ClientUserIDHistory[31] != "ben" {
		t.Errorf("%d users: %v", n, d.ClientUserIDHistory)
	}
	x := structuresOf[ua.SessionDiagnosticsDataType](t, c.read(ua.AttributeValue, sessionArray)[0])[0]
	if x.UnauthorizedRequestCount != 1 || x.TotalRequestCount.ErrorCount != 1 {
		t.Errorf("%+v", x)
	}
}

// A session is shown with what it has and what it did.
func TestSessionDiagnostics(t *testing.T) {
	space, ids := smallPlant(3)
	s, c := start(t, space, func(c *uaserver.Config) { c.Diagnostics = true })
	o := c.another(s, "")
	sub := o.subscribe(ids...)
	o.publish()
	o.read(ua.AttributeValue, ids...)
	if err := o.conn.Call(t.Context(), &ua.ReadRequest{RequestHeader: o.h}, &ua.ReadResponse{}); ua.StatusOf(err) != ua.BadNothingToDo {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		waiting <- o.conn.Call(t.Context(), &ua.PublishRequest{RequestHeader: o.h}, &ua.PublishResponse{})
	}()
	var d ua.SessionDiagnosticsDataType
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		list := structuresOf[ua.SessionDiagnosticsDataType](t, c.read(ua.AttributeValue, sessionArray)[0])
		if len(list) != 2 {
			t.Fatal(list)
		}
		if d = list[1]; d.CurrentPublishRequestsInQueue == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the waiting Publish is not shown: %+v", d)
		}
	}
	count := func(total, failed uint32) ua.ServiceCounterDataType {
		return ua.ServiceCounterDataType{TotalCount: total, ErrorCount: failed}
	}
	switch {
	case d.SessionID.IsNull(), d.SessionName != "another", d.EndpointURL != "opc.tcp://here:1", !slices.Equal(d.LocaleIDs, []string{"de"}),
		d.ActualSessionTimeout != 120_000, d.ClientConnectionTime == 0, d.ClientLastContactTime < d.ClientConnectionTime,
		d.CurrentSubscriptionsCount != 1, d.CurrentMonitoredItemsCount != 3,
		d.ReadCount != count(2, 1), d.PublishCount != count(2, 0), d.CreateSubscriptionCount != count(1, 0),
		d.CreateMonitoredItemsCount != count(1, 0), d.TotalRequestCount != count(7, 1), d.WriteCount != count(0, 0):
		t.Errorf("%+v", d)
	}
	// Publishing goes on in the waiting request, and what is over is not shown.
	var del ua.DeleteSubscriptionsResponse
	o.do(&ua.DeleteSubscriptionsRequest{RequestHeader: o.h, SubscriptionIDs: []uint32{sub}}, &del)
	if err := <-waiting; ua.StatusOf(err) != ua.BadNoSubscription {
		t.Error(err)
	}
	o.do(&ua.CloseSessionRequest{RequestHeader: o.h}, &ua.CloseSessionResponse{})
	if list := structuresOf[ua.SessionDiagnosticsDataType](t, c.read(ua.AttributeValue, sessionArray)[0]); len(list) != 1 {
		t.Errorf("%d sessions", len(list))
	}
}

// Subscriptions are shown with their session; that messages had no request, and that some were dropped, is
// among what is counted (DiscardedMessageCount, LatePublishRequestCount).
func TestSubscriptionDiagnostics(t *testing.T) {
	space, ids := smallPlant(1)
	s, c := start(t, space, func(c *uaserver.Config) { c.Diagnostics, c.Limits.MaxRetransmissionQueue = true, 1 })
	o := c.another(s, "")
	sub := o.subscribe(ids...)
	v := space.Node(ids[0]).Variable()
	for i := range 3 {
		o.publish() // without acknowledgement: the queue has room for one message
		if err := v.Set(ua.Double(float64(10 + i))); err != nil {
			t.Fatal(err)
		}
	}
	var d ua.SubscriptionDiagnosticsDataType
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		list := diagnosticsOf(t, c.read(ua.AttributeValue, subscriptionArray)[0])
		if len(list) != 1 {
			t.Fatal(list)
		}
		if d = list[0]; d.LatePublishRequestCount > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("never late: %+v", d)
		}
	}
	sessions := structuresOf[ua.SessionDiagnosticsDataType](t, c.read(ua.AttributeValue, sessionArray)[0])
	switch {
	case d.SubscriptionID != sub, d.SessionID != sessions[1].SessionID, d.PublishingInterval != 10, !d.PublishingEnabled,
		d.MonitoredItemCount != 1, d.DisabledMonitoredItemCount != 0, d.PublishRequestCount != 3, d.DataChangeNotificationsCount != 3,
		d.NotificationsCount != 3, d.DiscardedMessageCount != 2, d.UnacknowledgedMessageCount != 1, d.NextSequenceNumber != 4:
		t.Errorf("%+v", d)
	}
	if p := s.PublishStats(); p.Discarded != 2 || p.Late == 0 || p.Subscriptions != 1 || p.MonitoredItems != 1 || p.Retained != 1 ||
		p.MessagesHeld < 1 || p.Pools.Messages.Outstanding < 1 || p.Pools.Messages.Bound < 1024 || p.Pools.DataChanges.Bound < 1 {
		t.Errorf("%+v", p)
	}
	c.subscribe()
	read := func() (sum ua.ServerDiagnosticsSummaryDataType) {
		got := c.read(ua.AttributeValue, summary, ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CurrentSubscriptionCount),
			ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_CumulatedSubscriptionCount),
			ua.ID(uaid.Server_ServerDiagnostics_ServerDiagnosticsSummary_PublishingIntervalCount))
		sum = *got[0].Value.Structure().(*ua.ServerDiagnosticsSummaryDataType)
		if got[1].Value.Uint() != uint64(sum.CurrentSubscriptionCount) || got[2].Value.Uint() != uint64(sum.CumulatedSubscriptionCount) ||
			got[3].Value.Uint() != uint64(sum.PublishingIntervalCount) {
			t.Errorf("%+v, singly %v", sum, got[1:])
		}
		return sum
	}
	if sum := read(); sum.CurrentSubscriptionCount != 2 || sum.CumulatedSubscriptionCount != 2 || sum.PublishingIntervalCount != 1 || sum.CurrentSessionCount != 2 {
		t.Errorf("%+v", sum)
	}
	o.do(&ua.ModifySubscriptionRequest{RequestHeader: o.h, SubscriptionID: sub, RequestedPublishingInterval: 500}, &ua.ModifySubscriptionResponse{})
	if sum := read(); sum.PublishingIntervalCount != 2 {
		t.Errorf("%+v", sum)
	}
	o.do(&ua.CloseSessionRequest{RequestHeader: o.h, DeleteSubscriptions: true}, &ua.CloseSessionResponse{})
	if sum := read(); sum.CurrentSubscriptionCount != 1 || sum.CumulatedSubscriptionCount != 2 {
		t.Errorf("%+v", sum)
	}
}

// A subscription whose session is gone is shown without one.
func TestDiagnosticsOfOrphans(t *testing.T) {
	space, ids := smallPlant(1)
	s, c := start(t, space, func(c *uaserver.Config) { c.Diagnostics = true })
	o := c.another(s, "")
	o.subscribe(ids...)
	o.do(&ua.CloseSessionRequest{RequestHeader: o.h}, &ua.CloseSessionResponse{})
	list := diagnosticsOf(t, c.read(ua.AttributeValue, subscriptionArray)[0])
	if len(list) != 1 || !list[0].SessionID.IsNull() || list[0].MonitoredItemCount != 1 {
		t.Errorf("%+v", list)
	}
}

// However often one request asks for an array, it is made once.
func TestDiagnosticsAreMadeOnceARequest(t *testing.T) {
	space, _ := smallPlant(0)
	s, c := start(t, space, func(c *uaserver.Config) { c.Diagnostics = true })
	for range 20 {
		c.subscribe()
	}
	now := ua.Now()
	a, _ := s.Live(subscriptionArray.Numeric(), now)
	if n := testing.AllocsPerRun(100, func() { _, _ = s.Live(subscriptionArray.Numeric(), now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	c.subscribe()
	b, _ := s.Live(subscriptionArray.Numeric(), now+1)
	if a.Len() != 20 || b.Len() != 21 {
		t.Errorf("%d, then %d subscriptions", a.Len(), b.Len())
	}
}
