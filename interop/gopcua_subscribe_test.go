package interop

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	gua "github.com/gopcua/opcua/ua"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// cutter is a TCP proxy whose connections can be cut.
type cutter struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns []net.Conn
	down  bool
}

func startCutter(t *testing.T, url string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{listener: l, target: strings.TrimPrefix(url, "opc.tcp://")}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp4", c.target)
			c.mu.Lock()
			if err != nil || c.down {
				in.Close()
				if out != nil {
					out.Close()
				}
			} else {
				c.conns = append(c.conns, in, out)
				for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
					go func() {
						io.Copy(pair[0], pair[1])
						pair[0].Close()
					}()
				}
			}
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		c.cut(0)
	})
	return c
}

// cut ends all connections, and takes none for a time.
func (c *cutter) cut(d time.Duration) {
	c.mu.Lock()
	c.down = true
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
	c.mu.Unlock()
	time.Sleep(d)
	c.mu.Lock()
	c.down = false
	c.mu.Unlock()
}

func (c *cutter) url() string { return "opc.tcp://" + c.listener.Addr().String() }

// numbers writes one number after the other to a node of the bench profile until the test ends.
func numbers(t *testing.T, url string, node ua.NodeID) {
	t.Helper()
	writer, err := uaclient.Dial(t.Context(), url, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := int32(1); ; n++ {
			if err := writer.WriteValue(context.Background(), node, ua.Int32(n)); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-ended
		writer.Close(context.Background())
	})
}

// TestGopcuaSubscriptions has gopcua's client subscribe to our server.
func TestGopcuaSubscriptions(t *testing.T) {
	demo, bench := startActua(t), startActua(t, "--profile", "bench")
	for _, c := range []securityCase{{"None", "None", "Anonymous"}, {"Basic256Sha256", "SignAndEncrypt", "Anonymous"}} {
		t.Run(c.String(), func(t *testing.T) {
			t.Run("data", func(t *testing.T) { gopcuaData(t, bench.url, c) })
			t.Run("items", func(t *testing.T) { gopcuaItems(t, demo.url, c) })
			t.Run("events", func(t *testing.T) { gopcuaEvents(t, demo.url, c) })
			t.Run("transfer", func(t *testing.T) { gopcuaTransfer(t, bench.url, c) })
		})
	}
	t.Run("after a cut", func(t *testing.T) { gopcuaCut(t, bench.url) })
}

// gopcuaSub is a subscription of gopcua's with what it heard.
type gopcuaSub struct {
	*opcua.Subscription
	ch chan *opcua.PublishNotificationData
}

func gopcuaSubscribe(ctx context.Context, t *testing.T, c *opcua.Client) *gopcuaSub {
	t.Helper()
	s := &gopcuaSub{ch: make(chan *opcua.PublishNotificationData, 1000)}
	var err error
	s.Subscription, err = c.Subscribe(ctx, &opcua.SubscriptionParameters{Interval: 50 * time.Millisecond, MaxKeepAliveCount: 3, LifetimeCount: 1000}, s.ch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// monitor adds items, whose client handles count from 1, and returns the server's ids.
func (s *gopcuaSub) monitor(ctx context.Context, t *testing.T, queue uint32, nodes ...*gua.NodeID) (ids []uint32) {
	t.Helper()
	var items []*gua.MonitoredItemCreateRequest
	for i, n := range nodes {
		item := opcua.NewMonitoredItemCreateRequestWithDefaults(n, gua.AttributeIDValue, uint32(i+1))
		item.RequestedParameters.QueueSize = queue
		items = append(items, item)
	}
	resp, err := s.Monitor(ctx, gua.TimestampsToReturnBoth, items...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range resp.Results {
		if r.StatusCode != gua.StatusOK {
			t.Fatalf("item %d: %v", i, r.StatusCode)
		}
		ids = append(ids, r.MonitoredItemID)
	}
	return ids
}

// next is the next notification that is not empty.
func (s *gopcuaSub) next(ctx context.Context, t *testing.T) any {
	t.Helper()
	for {
		select {
		case n := <-s.ch:
			if n.Error != nil {
				t.Fatal(n.Error)
			}
			if n.Value != nil {
				return n.Value
			}
		case <-ctx.Done():
			t.Fatal("no notification: ", ctx.Err())
		}
	}
}

// value waits for a value of the item with a client handle, and fails on one that unwanted names.
func (s *gopcuaSub) value(ctx context.Context, t *testing.T, handle uint32, want float64, unwanted ...float64) {
	t.Helper()
	for {
		d, ok := s.next(ctx, t).(*gua.DataChangeNotification)
		if !ok {
			continue
		}
		for _, i := range d.MonitoredItems {
			v := i.Value.Value.Float()
			for _, u := range unwanted {
				if i.ClientHandle == handle && v == u {
					t.Errorf("the value %v", u)
				}
			}
			if i.ClientHandle == handle && v == want {
				return
			}
		}
	}
}

func gopcuaDial(ctx context.Context, t *testing.T, url string, c securityCase) *gopcuaSession {
	t.Helper()
	s := &gopcuaSession{url: url}
	s.connect(ctx, t, c)
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func gopcuaData(t *testing.T, url string, c securityCase) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := gopcuaDial(ctx, t, url, c)
	numbers(t, url, ua.NewNodeID(1, 1001))
	sub := gopcuaSubscribe(ctx, t, s.Client)
	sub.monitor(ctx, t, 1000, gua.NewNumericNodeID(1, 1001))
	var values []uint64
	for len(values) < 300 {
		if d, ok := sub.next(ctx, t).(*gua.DataChangeNotification); ok {
			for _, i := range d.MonitoredItems {
				values = append(values, uint64(i.Value.Value.Int()))
			}
		}
	}
	consecutive(t, values)
	if err := sub.Cancel(ctx); err != nil {
		t.Error(err)
	}
}

// gopcuaItems has items and the subscription changed. The subscription stands still in between, for longer than its
// keep-alives: gopcua takes a subscription without them for lost.
func gopcuaItems(t *testing.T, url string, c securityCase) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := gopcuaDial(ctx, t, url, c)
	node := gua.NewStringNodeID(2, "Plant.Line1.Filler.SpeedSetPoint")
	write := func(v float64) {
		t.Helper()
		resp, err := s.Write(ctx, &gua.WriteRequest{NodesToWrite: []*gua.WriteValue{{NodeID: node, AttributeID: gua.AttributeIDValue,
			Value: &gua.DataValue{EncodingMask: gua.DataValueValue, Value: gua.MustVariant(v)}}}})
		if err != nil || resp.Results[0] != gua.StatusOK {
			t.Fatal(resp, err)
		}
	}
	write(100)
	sub := gopcuaSubscribe(ctx, t, s.Client)
	ids := sub.monitor(ctx, t, 10, node, gua.NewNumericNodeID(0, id.Server_ServerStatus_CurrentTime))
	sub.value(ctx, t, 1, 100)
	modified, err := sub.ModifyMonitoredItems(ctx, gua.TimestampsToReturnBoth, &gua.MonitoredItemModifyRequest{MonitoredItemID: ids[0],
		RequestedParameters: &gua.MonitoringParameters{ClientHandle: 1, QueueSize: 10, DiscardOldest: true, Filter: &gua.ExtensionObject{
			EncodingMask: gua.ExtensionObjectBinary, TypeID: &gua.ExpandedNodeID{NodeID: gua.NewNumericNodeID(0, id.DataChangeFilter_Encoding_DefaultBinary)},
			Value: gua.DataChangeFilter{Trigger: gua.DataChangeTriggerStatusValue, DeadbandType: uint32(gua.DeadbandTypeAbsolute), DeadbandValue: 10},
		}}})
	if err != nil || modified.Results[0].StatusCode != gua.StatusOK {
		t.Fatal(modified, err)
	}
	write(105)
	write(120)
	sub.value(ctx, t, 1, 120, 105)
	mode, err := sub.SetMonitoringMode(ctx, gua.MonitoringModeSampling, ids[1])
	if err != nil || mode.Results[0] != gua.StatusOK {
		t.Fatal(mode, err)
	}
	linked, err := sub.SetTriggering(ctx, ids[0], []uint32{ids[1]}, nil)
	if err != nil || linked.AddResults[0] != gua.StatusOK {
		t.Fatal(linked, err)
	}
	time.Sleep(time.Second)
	for len(sub.ch) > 0 {
		<-sub.ch
	}
	write(200)
	seen := false
	for !seen {
		if d, ok := sub.next(ctx, t).(*gua.DataChangeNotification); ok {
			for _, i := range d.MonitoredItems {
				seen = seen || i.ClientHandle == 2
			}
		}
	}
	if r, err := sub.ModifySubscription(ctx, opcua.SubscriptionParameters{Interval: 80 * time.Millisecond, MaxKeepAliveCount: 4, LifetimeCount: 100}); err != nil ||
		r.RevisedPublishingInterval != 80 || r.RevisedMaxKeepAliveCount != 4 {
		t.Error(r, err)
	}
	if gone, err := sub.Unmonitor(ctx, ids[1]); err != nil || gone.Results[0] != gua.StatusOK {
		t.Error(gone, err)
	}
	write(300)
	sub.value(ctx, t, 1, 300)
	if err := sub.Cancel(ctx); err != nil {
		t.Error(err)
	}
}

func gopcuaEvents(t *testing.T, url string, c securityCase) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := gopcuaDial(ctx, t, url, c)
	sub := gopcuaSubscribe(ctx, t, s.Client)
	var fields []*gua.SimpleAttributeOperand
	for _, name := range []string{"EventId", "EventType", "SourceName", "Message"} {
		fields = append(fields, &gua.SimpleAttributeOperand{TypeDefinitionID: gua.NewNumericNodeID(0, id.BaseEventType),
			BrowsePath: []*gua.QualifiedName{{Name: name}}, AttributeID: gua.AttributeIDValue})
	}
	resp, err := sub.Monitor(ctx, gua.TimestampsToReturnBoth, &gua.MonitoredItemCreateRequest{
		ItemToMonitor:  &gua.ReadValueID{NodeID: gua.NewNumericNodeID(0, id.Server), AttributeID: gua.AttributeIDEventNotifier, DataEncoding: &gua.QualifiedName{}},
		MonitoringMode: gua.MonitoringModeReporting,
		RequestedParameters: &gua.MonitoringParameters{ClientHandle: 42, QueueSize: 100, DiscardOldest: true, Filter: &gua.ExtensionObject{
			EncodingMask: gua.ExtensionObjectBinary, TypeID: &gua.ExpandedNodeID{NodeID: gua.NewNumericNodeID(0, id.EventFilter_Encoding_DefaultBinary)},
			Value: gua.EventFilter{SelectClauses: fields, WhereClause: &gua.ContentFilter{}},
		}}})
	if err != nil || resp.Results[0].StatusCode != gua.StatusOK {
		t.Fatal(resp, err)
	}
	for {
		list, ok := sub.next(ctx, t).(*gua.EventNotificationList)
		if !ok {
			continue
		}
		for _, e := range list.Events {
			if e.ClientHandle != 42 || len(e.EventFields) != 4 || len(e.EventFields[0].ByteString()) == 0 {
				t.Errorf("%+v", e)
			}
			if strings.HasSuffix(e.EventFields[3].LocalizedText().Text, "good pieces a minute leave the line") && e.EventFields[2].String() == "Line1" {
				return
			}
		}
	}
}

// gopcuaTransfer moves a subscription to another session, which is allowed where the server knows that it is the same
// client. The old session hears of it.
func gopcuaTransfer(t *testing.T, url string, c securityCase) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	first, second := gopcuaDial(ctx, t, url, c), gopcuaDial(ctx, t, url, c)
	sub := gopcuaSubscribe(ctx, t, first.Client)
	sub.monitor(ctx, t, 10, gua.NewNumericNodeID(1, 1003))
	sub.next(ctx, t)
	var resp *gua.TransferSubscriptionsResponse
	err := second.Send(ctx, &gua.TransferSubscriptionsRequest{SubscriptionIDs: []uint32{sub.SubscriptionID, 77}}, func(v gua.Response) error {
		resp, _ = v.(*gua.TransferSubscriptionsResponse)
		return nil
	})
	if err != nil || len(resp.Results) != 2 {
		t.Fatal(resp, err)
	}
	want := gua.StatusOK
	if c.policy == "None" {
		want = gua.StatusBadUserAccessDenied
	}
	if a, b := resp.Results[0].StatusCode, resp.Results[1].StatusCode; a != want || b != gua.StatusBadSubscriptionIDInvalid {
		t.Errorf("%v, %v", a, b)
	}
	if c.policy == "None" {
		return
	}
	if told, ok := sub.next(ctx, t).(*gua.StatusChangeNotification); !ok || told.Status != gua.StatusGoodSubscriptionTransferred {
		t.Errorf("%+v", told)
	}
}

// gopcuaCut cuts the connection. What gopcua makes of it is its own affair (reports U03 and U07 are about it); our
// server has to take the session back and go on.
func gopcuaCut(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	numbers(t, url, ua.NewNodeID(1, 1002))
	proxy := startCutter(t, url)
	c, err := opcua.NewClient(proxy.url(), opcua.SecurityMode(gua.MessageSecurityModeNone), opcua.AutoReconnect(true), opcua.ReconnectInterval(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	sub := gopcuaSubscribe(ctx, t, c)
	sub.monitor(ctx, t, 1000, gua.NewNumericNodeID(1, 1002))
	last := int64(0)
	for cuts := 0; ; cuts++ {
		for end := last + 100; last < end; {
			select {
			case n := <-sub.ch: // errors are the cut
				if d, ok := n.Value.(*gua.DataChangeNotification); ok && n.Error == nil {
					for _, i := range d.MonitoredItems {
						if v := i.Value.Value.Int(); v > last {
							last = v
						} else {
							t.Errorf("%d after %d", v, last)
						}
					}
				}
			case <-ctx.Done():
				t.Fatal("no values after the cut")
			}
		}
		if cuts == 2 {
			return
		}
		proxy.cut(500 * time.Millisecond)
	}
}
