package uaclient_test

import (
	"testing"

	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaserver"
)

// U29: 25,000 items in one Add, at a server that takes 1,000 a call. Each has its result, and the server has all.
func TestMoreItemsThanACallTakes(t *testing.T) {
	const items = 25_000
	r := startServer(t, func(c *uaserver.Config) { c.Limits.MaxMonitoredItemsPerCall = 1000 })
	c, ctx := r.dial(t, r.config(t)), t.Context()
	s := subscribe(t, c, uaclient.SubscriptionConfig{})
	list := make([]uaclient.ItemConfig, items)
	for i := range list {
		list[i] = uaclient.ItemConfig{Node: r.speed.ID(), Data: i}
	}
	made, err := s.Add(ctx, list...)
	if err != nil || len(made) != items {
		t.Fatal(len(made), err)
	}
	for i, item := range made {
		if item.Err() != nil || item.Config().Data != i {
			t.Fatalf("item %d: %v %v", i, item.Config().Data, item.Err())
		}
	}
	if n := r.PublishStats().MonitoredItems; n != items {
		t.Errorf("the server has %d", n)
	}
	status, err := s.DeleteItems(ctx, made...)
	if err != nil || len(status) != items || r.PublishStats().MonitoredItems != 0 {
		t.Error(len(status), err, r.PublishStats().MonitoredItems)
	}
}
