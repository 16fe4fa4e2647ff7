package uaserver_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/actua/actua/internal/config"
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// limitCase is a line under limits of a configuration file, and what clients see of it.
type limitCase struct {
	line string
	see  func(t *testing.T, s *uaserver.Server, c *client, ids []ua.NodeID)
}

// createWith asks for a subscription.
func (c *client) createWith(interval float64, life, keepAlive, most uint32) ua.CreateSubscriptionResponse {
	var p ua.CreateSubscriptionResponse
	c.do(&ua.CreateSubscriptionRequest{RequestHeader: c.h, RequestedPublishingInterval: interval, RequestedLifetimeCount: life,
		RequestedMaxKeepAliveCount: keepAlive, MaxNotificationsPerPublish: most, PublishingEnabled: true}, &p)
	return p
}

// item asks for a monitored item of an attribute.
func (c *client) item(id ua.NodeID, a ua.AttributeID, sampling float64, queue uint32) ua.MonitoredItemCreateResult {
	q := ua.CreateMonitoredItemsRequest{RequestHeader: c.h, SubscriptionID: c.subscribe(), ItemsToCreate: []ua.MonitoredItemCreateRequest{{
		ItemToMonitor: ua.ReadValueID{NodeID: id, AttributeID: uint32(a)}, MonitoringMode: ua.MonitoringModeReporting,
		RequestedParameters: ua.MonitoringParameters{SamplingInterval: sampling, QueueSize: queue},
	}}}
	if a == ua.AttributeEventNotifier {
		q.ItemsToCreate[0].RequestedParameters.Filter = ua.NewExtensionObject(&ua.EventFilter{SelectClauses: []ua.SimpleAttributeOperand{{
			TypeDefinitionID: ua.ID(uaid.BaseEventType), BrowsePath: []ua.QualifiedName{{Name: "Message"}}, AttributeID: uint32(ua.AttributeValue)}}})
	}
	var p ua.CreateMonitoredItemsResponse
	c.do(&q, &p)
	return p.Results[0]
}

func (c *client) value(id uint32) ua.Variant { return c.read(ua.AttributeValue, ua.ID(id))[0].Value }

// lifeOf is how long a subscription lives without its client.
func lifeOf(p ua.CreateSubscriptionResponse) time.Duration {
	return time.Duration(float64(p.RevisedLifetimeCount) * p.RevisedPublishingInterval * float64(time.Millisecond))
}

var limitCases = []limitCase{
	{"max-subscriptions: 2", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		c.subscribe()
		c.subscribe()
		if err := c.conn.Call(t.Context(), &ua.CreateSubscriptionRequest{RequestHeader: c.h}, &ua.CreateSubscriptionResponse{}); ua.StatusOf(err) != ua.BadTooManySubscriptions {
			t.Error(err)
		}
		if v := c.value(uaid.Server_ServerCapabilities_MaxSubscriptionsPerSession); v.Uint() != 2 {
			t.Error(v)
		}
	}},
	{"max-monitored-items: 2", func(t *testing.T, _ *uaserver.Server, c *client, ids []ua.NodeID) {
		r := c.items(c.subscribe(), ids...)
		if r[1].StatusCode != ua.Good || r[2].StatusCode != ua.BadTooManyMonitoredItems {
			t.Error(r)
		}
		if v := c.value(uaid.Server_ServerCapabilities_MaxMonitoredItemsPerSubscription); v.Uint() != 2 {
			t.Error(v)
		}
	}},
	{"max-monitored-items-per-call: 2", func(t *testing.T, _ *uaserver.Server, c *client, ids []ua.NodeID) {
		q := ua.CreateMonitoredItemsRequest{RequestHeader: c.h, SubscriptionID: c.subscribe(ids[:2]...), ItemsToCreate: make([]ua.MonitoredItemCreateRequest, 3)}
		if err := c.conn.Call(t.Context(), &q, &ua.CreateMonitoredItemsResponse{}); ua.StatusOf(err) != ua.BadTooManyOperations {
			t.Error(err)
		}
		if v := c.value(uaid.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall); v.Uint() != 2 {
			t.Error(v)
		}
	}},
	{"max-publish-requests: 2", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		c.subscribe()
		c.publish() // the first keep-alive
		ends := make(chan error, 3)
		for range 3 {
			go func() {
				ends <- c.conn.Call(t.Context(), &ua.PublishRequest{RequestHeader: c.h}, &ua.PublishResponse{})
			}()
		}
		if err := <-ends; ua.StatusOf(err) != ua.BadTooManyPublishRequests {
			t.Error(err)
		}
	}},
	{"max-retransmission-queue: 1", func(t *testing.T, s *uaserver.Server, c *client, ids []ua.NodeID) {
		sub := c.subscribe(ids[0])
		c.publish()
		if c.items(sub, ids[1]); s.PublishStats().Retained != 1 {
			t.Errorf("%+v", s.PublishStats())
		}
		c.publish()
		for number, want := range map[uint32]ua.StatusCode{1: ua.BadMessageNotAvailable, 2: ua.Good} {
			err := c.conn.Call(t.Context(), &ua.RepublishRequest{RequestHeader: c.h, SubscriptionID: sub, RetransmitSequenceNumber: number}, &ua.RepublishResponse{})
			if ua.StatusOf(err) != want {
				t.Errorf("message %d: %v", number, err)
			}
		}
	}},
	{"max-notifications-per-publish: 2", func(t *testing.T, _ *uaserver.Server, c *client, ids []ua.NodeID) {
		p := c.createWith(10, 6000, 1000, 100)
		c.items(p.SubscriptionID, ids...)
		_, first := c.publish()
		if _, second := c.publish(); len(first) != 2 || len(second) != 1 {
			t.Errorf("%d and %d notifications", len(first), len(second))
		}
	}},
	{"max-data-queue: 7", func(t *testing.T, _ *uaserver.Server, c *client, ids []ua.NodeID) {
		if r := c.item(ids[0], ua.AttributeValue, 10, 100); r.StatusCode != ua.Good || r.RevisedQueueSize != 7 {
			t.Error(r)
		}
	}},
	{"max-event-queue: 20000", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if r := c.item(ua.ID(uaid.Server), ua.AttributeEventNotifier, 0, 100_000); r.StatusCode != ua.Good || r.RevisedQueueSize != 20_000 {
			t.Error(r)
		}
		if v := c.value(uaid.Server_ServerCapabilities_MaxMonitoredItemsQueueSize); v.Uint() != 20_000 {
			t.Error(v)
		}
	}},
	{"min-publishing-interval: 70ms", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if p := c.createWith(1, 1000, 10, 0); p.RevisedPublishingInterval != 70 {
			t.Error(p)
		}
	}},
	{"max-publishing-interval: 2s", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if p := c.createWith(1e6, 1000, 10, 0); p.RevisedPublishingInterval != 2000 {
			t.Error(p)
		}
	}},
	{"min-sampling-interval: 30ms", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		// CurrentTime is read to see changes.
		if r := c.item(ua.ID(uaid.Server_ServerStatus_CurrentTime), ua.AttributeValue, 1, 1); r.RevisedSamplingInterval != 30 {
			t.Error(r)
		}
		if v := c.value(uaid.Server_ServerCapabilities_MinSupportedSampleRate); v.Float() != 30 {
			t.Error(v)
		}
	}},
	{"min-subscription-lifetime: 20s", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if life := lifeOf(c.createWith(1000, 3, 1, 0)); life != 20*time.Second {
			t.Error(life)
		}
	}},
	{"max-subscription-lifetime: 30s", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if life := lifeOf(c.createWith(1000, 10_000, 1, 0)); life != 30*time.Second {
			t.Error(life)
		}
	}},
	{"max-durable-lifetime: 5h", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if r := c.method(uaid.Server, uaid.Server_SetSubscriptionDurable, ua.UInt32(c.subscribe()), ua.UInt32(9)); r.StatusCode != ua.Good || r.OutputArguments[0].Uint() != 5 {
			t.Error(r)
		}
	}},
	// Without a limit, what is asked for is still bounded by what the times hold.
	{"max-publishing-interval: none", func(t *testing.T, _ *uaserver.Server, c *client, _ []ua.NodeID) {
		if p := c.createWith(1e300, 1<<32-1, 1<<32-1, 0); p.RevisedPublishingInterval < 1e10 || p.RevisedLifetimeCount < 3*p.RevisedMaxKeepAliveCount {
			t.Error(p)
		}
	}},
	{"max-publishing-interval: none\n  max-subscription-lifetime: none\n  max-durable-lifetime: none", func(t *testing.T, _ *uaserver.Server, c *client, ids []ua.NodeID) {
		p := c.createWith(1e300, 1<<32-1, 1<<32-1, 0)
		if p.RevisedPublishingInterval < 1e10 || p.RevisedLifetimeCount < 3*p.RevisedMaxKeepAliveCount || lifeOf(p) < 30*365*24*time.Hour {
			t.Error(p)
		}
		sub := c.subscribe(ids...)
		if got, items := c.publish(); got != sub || len(items) != len(ids) {
			t.Errorf("subscription %d: %v", got, items)
		}
	}},
}

// Every limit of subscriptions is a key of the configuration file, and has an effect that clients see.
func TestLimitsOfSubscriptions(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[uaserver.Limits]()) {
		for _, word := range []string{"Subscription", "Monitored", "Publish", "Sampling", "Queue", "Retransmission", "Durable"} {
			if strings.Contains(f.Name, word) {
				missing[strings.ToLower(f.Name)] = true
			}
		}
	}
	if len(missing) != 14 {
		t.Errorf("%d limits: %v", len(missing), missing)
	}
	for _, x := range limitCases {
		t.Run(x.line, func(t *testing.T) {
			set, err := config.Parse("plant.yaml", []byte("limits:\n  "+x.line+"\n"), func(string, []string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			space, ids := smallPlant(3)
			s, c := start(t, space, func(c *uaserver.Config) {
				c.Limits = set.Limits
				c.Limits.IdleTimeout = 0 // as actua serve does it
			})
			x.see(t, s, c, ids)
		})
		key, _, _ := strings.Cut(x.line, ":")
		delete(missing, strings.ReplaceAll(key, "-", ""))
	}
	for name := range missing {
		t.Errorf("%s has no test", name)
	}
}

// The profile for load generators has what they need: thousands of sessions, intervals from 1 ms on, and
// room for many Publish requests.
func TestBenchLimits(t *testing.T) {
	space := memspace.New("urn:test:plant")
	_, c := start(t, space, func(c *uaserver.Config) { c.Limits = config.Profile("bench").Limits; c.Limits.IdleTimeout = 0 })
	for id, least := range map[uint32]uint64{
		uaid.Server_ServerCapabilities_MaxSessions:                              5000,
		uaid.Server_ServerCapabilities_OperationLimits_MaxMonitoredItemsPerCall: 100,
	} {
		if v := c.value(id); v.Uint() < least {
			t.Errorf("%d: %v", id, v)
		}
	}
	if v := c.value(uaid.Server_ServerCapabilities_MinSupportedSampleRate); v.Float() > 10 {
		t.Error(v)
	}
	if p := c.createWith(1, 10_000, 1000, 0); p.RevisedPublishingInterval != 1 {
		t.Error(p)
	}
	c.publish()
	ends := make(chan error, 100)
	for range cap(ends) {
		go func() {
			ends <- c.conn.Call(t.Context(), &ua.PublishRequest{RequestHeader: c.h}, &ua.PublishResponse{})
		}()
	}
	select {
	case err := <-ends:
		t.Errorf("a Publish does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if l := config.Profile("bench").Limits; l.MaxNotificationsPerPublish < 4000 {
		t.Errorf("%d notifications a message", l.MaxNotificationsPerPublish)
	}
}
