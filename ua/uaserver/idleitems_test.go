package uaserver_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// idleItems makes monitored items of a server that runs, all by its services: subscriptions, each with an
// item on every node. It returns the heap that an item takes, first values published and acknowledged.
func idleItems(t testing.TB, subscriptions, nodes int) (perItem float64, end func()) {
	p := newPlant(t, 0, 0)
	folder := p.space.AddFolder(p.space.Objects(), "Folder")
	for i := range nodes {
		p.nodes = append(p.nodes, p.space.AddVariable(folder, fmt.Sprint(i), ua.Double(float64(i))))
	}
	c, err := p.connect(3_600_000)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	for range subscriptions {
		var sub ua.CreateSubscriptionResponse
		if err := c.call(&ua.CreateSubscriptionRequest{RequestHeader: c.header(), RequestedPublishingInterval: 10, RequestedMaxKeepAliveCount: 1 << 30,
			RequestedLifetimeCount: 1 << 30, PublishingEnabled: true}, &sub); err != nil {
			t.Fatal(err)
		}
		for from := 0; from < nodes; from += 10_000 {
			q, r := ua.CreateMonitoredItemsRequest{RequestHeader: c.header(), SubscriptionID: sub.SubscriptionID}, ua.CreateMonitoredItemsResponse{}
			for i, v := range p.nodes[from:min(from+10_000, nodes)] {
				q.ItemsToCreate = append(q.ItemsToCreate, item(v.ID(), uint32(i), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 1 }))
			}
			if err := c.call(&q, &r); err != nil {
				t.Fatal(err)
			}
			for _, x := range r.Results {
				if x.StatusCode != ua.Good {
					t.Fatal(x.StatusCode)
				}
			}
		}
	}
	for got, acks := 0, []ua.SubscriptionAcknowledgement(nil); got < subscriptions*nodes || acks != nil; {
		q, r := ua.PublishRequest{RequestHeader: c.header(), SubscriptionAcknowledgements: acks}, ua.PublishResponse{}
		q.RequestHeader.TimeoutHint = 200
		err := c.call(&q, &r)
		if acks = nil; err != nil {
			break // the last acknowledgement is in, and nothing more comes
		}
		if n := len(changes(&r)); n > 0 {
			got += n
			acks = []ua.SubscriptionAcknowledgement{{SubscriptionID: r.SubscriptionID, SequenceNumber: r.NotificationMessage.SequenceNumber}}
		}
	}
	if st := p.s.PublishStats(); st.MonitoredItems != subscriptions*nodes || st.Candidates != 0 || st.Retained != 0 {
		t.Fatalf("%+v", st)
	}
	perItem = (heap() - before) / float64(subscriptions*nodes)
	return perItem, func() {
		if err := c.close(true); err != nil {
			t.Error(err)
		}
	}
}

// heap is what is in use.
func heap() float64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// TestIdleItemsAreSmall is the budget of an idle monitored item: 400 bytes.
func TestIdleItemsAreSmall(t *testing.T) {
	if uaserver.RaceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	perItem, end := idleItems(t, 5, 20_000)
	t.Logf("%.0f bytes an item", perItem)
	if perItem > 400 {
		t.Errorf("an idle item takes %.0f bytes, the budget is 400", perItem)
	}
	end()
}

// BenchmarkIdleItems has a million monitored items on one server, 10 subscriptions of 100,000 nodes that publish every
// 10 ms, and measures their heap and what they cost while nothing happens. (go test -bench IdleItems)
func BenchmarkIdleItems(b *testing.B) {
	perItem, end := idleItems(b, 10, 100_000)
	time.Sleep(time.Second) // what the collector began while the items were made comes to its end
	for b.Loop() {
		const span = 2 * time.Second
		before, _ := processorTime()
		time.Sleep(span)
		after, _ := processorTime()
		b.ReportMetric(100*float64(after-before)/float64(span), "%core")
	}
	b.ReportMetric(perItem, "B/item")
	end()
}
