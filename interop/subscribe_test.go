package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
)

// collected is what our client's subscription heard.
type collected struct {
	mu       sync.Mutex
	values   []uint64 // of the counter
	again    int      // messages that came by Republish
	events   []string
	alive    int
	statuses []string
}

func (c *collected) config(slow time.Duration) uaclient.SubscriptionConfig {
	return uaclient.SubscriptionConfig{
		Interval: 100 * time.Millisecond, KeepAliveCount: 3,
		OnData: func(n *uaclient.DataNotification) {
			c.mu.Lock()
			if n.Republished {
				c.again++
			}
			for _, v := range n.All() {
				c.values = append(c.values, v.Value.Uint())
			}
			first := slow > 0 && len(c.values) < 5
			c.mu.Unlock()
			if first {
				time.Sleep(slow)
			}
		},
		OnEvents: func(n *uaclient.EventNotification) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, f := range n.All() {
				text, _ := ua.As[ua.LocalizedText](f[1])
				c.events = append(c.events, fmt.Sprint(f[0], " ", text.Text))
			}
		},
		OnKeepAlive: func(*uaclient.KeepAlive) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.alive++
		},
		OnStatus: func(s uaclient.SubscriptionStatus) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.statuses = append(c.statuses, fmt.Sprintf("%v %d-%d %v", s.Kind, s.From, s.To, s.Err))
		},
	}
}

// until waits for something to be true of what was heard.
func (c *collected) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		done := ok()
		c.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(deadline) {
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Fatalf("%s: %d values, %d again, events %q, %d keep-alives, %q", what, len(c.values), c.again, c.events, c.alive, c.statuses)
		}
	}
}

// consecutive checks that no value of a counter is missing, and none there twice.
func consecutive(t *testing.T, values []uint64) {
	t.Helper()
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1]+1 {
			t.Fatalf("%d follows %d, the %dth of %d values", values[i], values[i-1], i, len(values))
		}
	}
}

// TestNodeServerSubscriptions has our client subscribe to node-opcua's server.
func TestNodeServerSubscriptions(t *testing.T) {
	s := startNodeServer(t)
	store := trustingStore(t, s.url)
	for _, c := range []securityCase{{"None", "None", "Anonymous"}, {"Basic256Sha256", "SignAndEncrypt", "UserName"}} {
		t.Run(c.String(), func(t *testing.T) {
			client := dial(t.Context(), t, s.url, c, store)
			t.Run("data", func(t *testing.T) { nodeServerData(t, client) })
			t.Run("republish", func(t *testing.T) { nodeServerRepublish(t, client) })
			t.Run("events", func(t *testing.T) { nodeServerEvents(t, client) })
			t.Run("services", func(t *testing.T) { nodeServerServices(t, client) })
			if err := client.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("watch", func(t *testing.T) {
		lines, code, stderr := runActua(t, "watch", s.url, "ns=1;s=Counter", "--count", "5", "--security", "none")
		if code != 0 || len(lines) != 6 || lines[5]["node"] != "ns=1;s=Counter" || lines[5]["type"] != "UInt32" {
			t.Errorf("exit %d, %v\n%s", code, lines, stderr)
		}
		lines, code, stderr = runActua(t, "watch", s.url, "i=2253", "--events", "--count", "3", "--security", "none")
		if code != 0 || len(lines) != 4 || lines[3]["event"] != "event" || lines[3]["sourceName"] != "Pump" || lines[3]["typeName"] != "SystemEventType" {
			t.Errorf("exit %d, %v\n%s", code, lines, stderr)
		}
	})
}

// nodeServerData checks that all values come in order, bad nodes have their status, and changes of items and of the
// subscription are taken.
func nodeServerData(t *testing.T, client *uaclient.Client) {
	ctx := t.Context()
	var heard collected
	sub, err := client.Subscribe(ctx, heard.config(0))
	if err != nil {
		t.Fatal(err)
	}
	items, err := sub.Add(ctx, uaclient.ItemConfig{Node: ns1("Counter"), Sampling: uaclient.FastestSampling, Queue: 100}, uaclient.ItemConfig{Node: ns1("Nothing")})
	if err != nil || items[0].Err() != nil || !errors.Is(items[1].Err(), ua.BadNodeIdUnknown) {
		t.Fatal(err, items[0].Err(), items[1].Err())
	}
	heard.until(t, "values", func() bool { return len(heard.values) >= 30 })
	change := items[0].Change()
	change.Queue = 50
	if status, err := sub.ModifyItems(ctx, change); err != nil || status[0] != ua.Good || items[0].Queue() != 50 {
		t.Error(status, err, items[0].Queue())
	}
	if r, err := sub.Modify(ctx, uaclient.SubscriptionConfig{Interval: 150 * time.Millisecond, KeepAliveCount: 2}); err != nil || r.Interval != 150*time.Millisecond {
		t.Error(r, err)
	}
	heard.until(t, "values", func() bool { return len(heard.values) >= 50 })
	if status, err := sub.SetMode(ctx, ua.MonitoringModeDisabled, items[0]); err != nil || status[0] != ua.Good {
		t.Error(status, err)
	}
	heard.until(t, "keep-alives", func() bool { return heard.alive >= 2 })
	heard.mu.Lock()
	consecutive(t, heard.values)
	heard.mu.Unlock()
	if status, err := sub.DeleteItems(ctx, items[0]); err != nil || status[0] != ua.Good {
		t.Error(status, err)
	}
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	<-sub.Done()
	if len(heard.statuses) > 0 {
		t.Errorf("%q", heard.statuses)
	}
}

// nodeServerRepublish leaves messages at the server by being slow, and gets them all the same.
func nodeServerRepublish(t *testing.T, client *uaclient.Client) {
	ctx := t.Context()
	var heard collected
	config := heard.config(1500 * time.Millisecond)
	config.Queue = 2
	sub, err := client.Subscribe(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Add(ctx, uaclient.ItemConfig{Node: ns1("Counter"), Sampling: uaclient.FastestSampling, Queue: 100}); err != nil {
		t.Fatal(err)
	}
	heard.until(t, "messages again", func() bool { return heard.again >= 3 && len(heard.values) >= 50 })
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	<-sub.Done()
	consecutive(t, heard.values)
	if len(heard.statuses) > 0 {
		t.Errorf("%q", heard.statuses)
	}
}

func nodeServerEvents(t *testing.T, client *uaclient.Client) {
	ctx := t.Context()
	var heard collected
	sub, err := client.Subscribe(ctx, heard.config(0))
	if err != nil {
		t.Fatal(err)
	}
	fields, err := uaclient.EventFields(ua.NodeID{}, "Severity", "Message")
	if err != nil {
		t.Fatal(err)
	}
	items, err := sub.Add(ctx, uaclient.ItemConfig{Node: ua.ID(uaid.Server), Queue: 100, Filter: &ua.EventFilter{SelectClauses: fields}})
	if err != nil || items[0].Err() != nil {
		t.Fatal(err, items[0].Err())
	}
	heard.until(t, "events", func() bool { return len(heard.events) >= 10 })
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	<-sub.Done()
	n := 0
	for _, e := range heard.events {
		var k int
		if !strings.HasPrefix(e, "321 event ") {
			continue // the server has events of its own
		}
		if _, err := fmt.Sscanf(e, "321 event %d", &k); err != nil || n != 0 && k != n+1 {
			t.Errorf("%q after %d", e, n)
		}
		n = k
	}
	if n == 0 {
		t.Errorf("%q", heard.events)
	}
}

// nodeServerServices goes through what a Subscription does not use.
func nodeServerServices(t *testing.T, client *uaclient.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var heard collected
	sub, err := client.Subscribe(ctx, heard.config(0))
	if err != nil {
		t.Fatal(err)
	}
	items, err := sub.Add(ctx, uaclient.ItemConfig{Node: ns1("Counter")}, uaclient.ItemConfig{Node: ns1("AllTypes.Double"), Mode: ua.MonitoringModeSampling})
	if err != nil {
		t.Fatal(err)
	}
	if added, _, err := sub.SetTriggering(ctx, items[0], items[1:], nil); err != nil || added[0] != ua.Good {
		t.Error(added, err)
	}
	if err := sub.SetPublishing(ctx, false); err != nil {
		t.Error(err)
	}
	if _, err := client.Republish(ctx, &ua.RepublishRequest{SubscriptionID: sub.ID(), RetransmitSequenceNumber: 4_000_000}); !errors.Is(err, ua.BadMessageNotAvailable) {
		t.Error(err)
	}
	moved, err := client.TransferSubscriptions(ctx, &ua.TransferSubscriptionsRequest{SubscriptionIDs: []uint32{4_000_000_000}})
	if err != nil || moved.Results[0].StatusCode != ua.BadSubscriptionIdInvalid {
		t.Error(moved, err)
	}
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	gone, err := client.DeleteSubscriptions(ctx, &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{sub.ID()}})
	if err != nil || !slices.Equal(gone.Results, []ua.StatusCode{ua.BadSubscriptionIdInvalid}) {
		t.Error(gone, err)
	}
}

// TestNodeClientSubscriptions has node-opcua's client subscribe to our server.
func TestNodeClientSubscriptions(t *testing.T) {
	requireNode(t)
	demo, bench := startActua(t), startActua(t, "--profile", "bench")
	nodeProgram(t, []string{"node/subscribe.js", "--url", demo.url, "--bench", bench.url}, []securityCase{
		{"None", "None", "Anonymous"}, {"Basic256Sha256", "SignAndEncrypt", "Anonymous"},
	}, 8)
}

// Services of subscriptions by the numeric id of their binary encoding.
const (
	createItems         = 751
	modifyItems         = 763
	setMonitoringMode   = 769
	setTriggering       = 775
	deleteItems         = 781
	createSubscription  = 787
	modifySubscription  = 793
	setPublishingMode   = 799
	publish             = 826
	republish           = 832
	transfer            = 841
	deleteSubscriptions = 847
)

// TestTsharkSubscriptions lets Wireshark judge all services of subscriptions, with data changes of every built-in type,
// events and keep-alives.
func TestTsharkSubscriptions(t *testing.T) {
	requireTool(t, "tshark")
	s := startActua(t)
	r := record(t, s.url, subscribeToAll)
	r.judge(t, map[int]int{
		createItems: 2, modifyItems: 1, setMonitoringMode: 1, setTriggering: 1, deleteItems: 1, createSubscription: 2,
		modifySubscription: 1, setPublishingMode: 1, publish: 5, republish: 1, transfer: 1, deleteSubscriptions: 1,
	})
}

func subscribeToAll(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := uaclient.Dial(ctx, url, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	var heard collected
	sub, err := client.Subscribe(ctx, heard.config(0))
	if err != nil {
		t.Fatal(err)
	}
	var configs []uaclient.ItemConfig
	for _, path := range []string{"/Objects/AllTypes/Scalars", "/Objects/AllTypes/Arrays", "/Objects/AllTypes/Matrices"} {
		folder, err := client.ResolvePath(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		for ref, err := range client.References(ctx, folder, uaclient.BrowseOptions{NodeClasses: ua.NodeClassVariable}) {
			if err != nil {
				t.Fatal(err)
			}
			configs = append(configs, uaclient.ItemConfig{Node: ref.NodeID.NodeID})
		}
	}
	configs = append(configs, uaclient.ItemConfig{Node: ua.NewStringNodeID(2, "Nothing")})
	items, err := sub.Add(ctx, configs...)
	if err != nil || len(items) < 40 {
		t.Fatal(len(items), err)
	}
	heard.until(t, "a value of each type", func() bool { return len(heard.values) >= len(items)-1 })
	fields, err := uaclient.EventFields(ua.NodeID{}, "EventId", "EventType", "Message", "Time")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Add(ctx, uaclient.ItemConfig{Node: ua.ID(uaid.Server), Filter: &ua.EventFilter{SelectClauses: fields}}); err != nil {
		t.Fatal(err)
	}
	change := items[0].Change()
	change.Queue = 3
	_, modified := sub.ModifyItems(ctx, change)
	_, mode := sub.SetMode(ctx, ua.MonitoringModeSampling, items[1:3]...)
	_, _, links := sub.SetTriggering(ctx, items[0], items[1:3], nil)
	_, deleted := sub.DeleteItems(ctx, items[5:]...)
	_, revised := sub.Modify(ctx, uaclient.SubscriptionConfig{Interval: 50 * time.Millisecond, KeepAliveCount: 1})
	if err := errors.Join(modified, mode, links, deleted, revised, sub.SetPublishing(ctx, true)); err != nil {
		t.Error(err)
	}
	heard.until(t, "an event and a keep-alive", func() bool { return len(heard.events) > 0 && heard.alive > 0 })
	if err := sub.Close(ctx); err != nil {
		t.Error(err)
	}
	rawSubscription(ctx, t, client)
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
}

// rawSubscription asks for a message again, and acknowledges one that never was.
func rawSubscription(ctx context.Context, t *testing.T, client *uaclient.Client) {
	made, err := client.CreateSubscription(ctx, &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: 50, RequestedLifetimeCount: 30, RequestedMaxKeepAliveCount: 1, PublishingEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	id := made.SubscriptionID
	if _, err := client.CreateMonitoredItems(ctx, &ua.CreateMonitoredItemsRequest{SubscriptionID: id, TimestampsToReturn: ua.TimestampsToReturnBoth,
		ItemsToCreate: []ua.MonitoredItemCreateRequest{{
			ItemToMonitor: ua.ReadValueID{NodeID: ua.ID(uaid.Server_ServerStatus), AttributeID: uint32(ua.AttributeValue)}, MonitoringMode: ua.MonitoringModeReporting,
		}}}); err != nil {
		t.Fatal(err)
	}
	for {
		p, err := client.Publish(ctx, &ua.PublishRequest{SubscriptionAcknowledgements: []ua.SubscriptionAcknowledgement{{SubscriptionID: id, SequenceNumber: 77}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Results) != 1 || p.Results[0] != ua.BadSequenceNumberUnknown {
			t.Errorf("results %v", p.Results)
		}
		if n := p.NotificationMessage.SequenceNumber; len(p.NotificationMessage.NotificationData) > 0 {
			if _, err := client.Republish(ctx, &ua.RepublishRequest{SubscriptionID: id, RetransmitSequenceNumber: n}); err != nil {
				t.Error(err)
			}
			break
		}
	}
	if _, err := client.TransferSubscriptions(ctx, &ua.TransferSubscriptionsRequest{SubscriptionIDs: []uint32{id}}); err != nil {
		t.Error(err)
	}
	if d, err := client.DeleteSubscriptions(ctx, &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{id}}); err != nil || d.Results[0] != ua.Good {
		t.Error(d, err)
	}
}
