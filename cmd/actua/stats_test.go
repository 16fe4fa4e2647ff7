package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// The statistics page shows what clients have: subscriptions, items, messages nobody acknowledges, ticks
// without a Publish request, and messages that had to go.
func TestStatsOfPublishing(t *testing.T) {
	isolated(t)
	page := freeAddress(t)
	s, _ := startServe(t, "--profile", "bench", "--listen", "127.0.0.1:0", "--stats", page)
	c, err := uaclient.Dial(t.Context(), s.URL, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	sub, err := c.CreateSubscription(t.Context(), &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 10,
		RequestedLifetimeCount: 6000, RequestedMaxKeepAliveCount: 1000, PublishingEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	node := ua.NewNodeID(1, 2000)
	if _, err := c.CreateMonitoredItems(t.Context(), &ua.CreateMonitoredItemsRequest{SubscriptionID: sub.SubscriptionID, ItemsToCreate: []ua.MonitoredItemCreateRequest{{
		ItemToMonitor: ua.ReadValueID{NodeID: node, AttributeID: uint32(ua.AttributeValue)}, MonitoringMode: ua.MonitoringModeReporting}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 103 { // three more than are kept
		if _, err := c.Publish(t.Context(), &ua.PublishRequest{}); err != nil {
			t.Fatal(err)
		}
		if err := c.WriteValue(t.Context(), node, ua.Double(float64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	var figures struct {
		Publish struct{ Subscriptions, MonitoredItems, Retained, Late, Discarded, MessagesHeld int }
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r, err := http.Get("http://" + page)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(r.Body).Decode(&figures)
		r.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if p := figures.Publish; p.Subscriptions == 1 && p.MonitoredItems == 1 && p.Retained == 100 && p.Discarded == 3 && p.Late > 0 && p.MessagesHeld >= 100 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", figures.Publish)
		}
	}
}
