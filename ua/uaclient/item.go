package uaclient

import (
	"context"
	"math"
	"time"

	"github.com/actua/actua/ua"
)

// FastestSampling as ItemConfig.Sampling asks for every change where the server can tell, and else for
// samples as often as it can (Part 4, 7.21: 0).
const FastestSampling time.Duration = -1

// ItemConfig says what to monitor (Part 4, 5.13.2). The zero value but for Node reports changes of the
// Value attribute, sampled once a publishing interval, the newest of them only.
type ItemConfig struct {
	Node ua.NodeID
	// Attribute is the attribute to monitor; default Value, and EventNotifier with a *ua.EventFilter.
	Attribute    ua.AttributeID
	IndexRange   string           // part of an array, such as "0:9"
	DataEncoding ua.QualifiedName // of structures; the default is Default Binary
	// Sampling is how often the server looks at the value; 0: once a publishing interval.
	Sampling time.Duration
	// Queue is how many values the server keeps from one publishing to the next; 0: one value, and for
	// events as many as it can.
	Queue uint32
	// DiscardNewest has a full queue lose the newest value rather than the oldest.
	DiscardNewest bool
	// Mode is Reporting (also for the zero value) or Sampling, which reports when triggered. Disabled
	// creates the item without sampling.
	Mode     ua.MonitoringMode
	Disabled bool
	// Filter is a *ua.DataChangeFilter, *ua.EventFilter or *ua.AggregateFilter; nil: changes of status and
	// value.
	Filter ua.Structure
	// Data is the caller's, for MonitoredItem.Config.
	Data any
}

// check completes the configuration.
func (c *ItemConfig) check() error {
	if c.Attribute == 0 {
		c.Attribute = ua.AttributeValue
		if _, events := c.Filter.(*ua.EventFilter); events {
			c.Attribute = ua.AttributeEventNotifier
		}
	}
	if c.Disabled {
		c.Mode = ua.MonitoringModeDisabled
	} else if c.Mode == ua.MonitoringModeDisabled {
		c.Mode = ua.MonitoringModeReporting
	}
	if c.Mode < ua.MonitoringModeDisabled || c.Mode > ua.MonitoringModeReporting {
		return reason(ua.BadMonitoringModeInvalid, "mode %d", c.Mode)
	}
	return nil
}

func (c *ItemConfig) parameters(handle uint32) ua.MonitoringParameters {
	p := ua.MonitoringParameters{ClientHandle: handle, SamplingInterval: -1, QueueSize: c.Queue, DiscardOldest: !c.DiscardNewest}
	switch {
	case c.Attribute == ua.AttributeEventNotifier || c.Sampling < 0:
		p.SamplingInterval = 0
	case c.Sampling > 0:
		p.SamplingInterval = inMilliseconds(c.Sampling)
	}
	if c.Filter != nil {
		p.Filter = ua.NewExtensionObject(c.Filter)
	}
	return p
}

// MonitoredItem is an item of a Subscription.
type MonitoredItem struct {
	sub    *Subscription
	handle uint32

	// Guarded by the subscription's lock.
	cfg      ItemConfig
	id       uint32
	sampling time.Duration
	queue    uint32
	result   ua.ExtensionObject
	err      error
}

// Config is the configuration, with what Modify changed.
func (i *MonitoredItem) Config() ItemConfig {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.cfg
}

// Node is the node that is monitored.
func (i *MonitoredItem) Node() ua.NodeID { return i.cfg.Node }

// ClientHandle is the number that the client gave the item. A subscription gives each only once (U14).
func (i *MonitoredItem) ClientHandle() uint32 { return i.handle }

// ID is the server's number of the item; 0 if it refused the item.
func (i *MonitoredItem) ID() uint32 {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.id
}

// Err is why the item is not monitored, or nil.
func (i *MonitoredItem) Err() error {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.err
}

// Sampling is the sampling interval that the server decided on.
func (i *MonitoredItem) Sampling() time.Duration {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.sampling
}

// Queue is the queue size that the server decided on.
func (i *MonitoredItem) Queue() uint32 {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.queue
}

// FilterResult is what the server says about the filter, such as an *ua.EventFilterResult; nil for nothing.
func (i *MonitoredItem) FilterResult() ua.Structure {
	i.sub.mu.Lock()
	defer i.sub.mu.Unlock()
	return i.result.Value
}

// item finds an item by its handle; nil if there is none.
func (s *Subscription) item(handle uint32) *MonitoredItem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items[handle]
}

// Add monitors any number of nodes, in as many requests as the server's limits ask for. It returns an item
// for each configuration, in their order: one that the server refused has its Err, and the others are
// monitored all the same (U04). The error is about the adding as a whole; items of requests that had
// succeeded before stay. Notifications may arrive before Add returns.
func (s *Subscription) Add(ctx context.Context, configs ...ItemConfig) ([]*MonitoredItem, error) {
	const op = "CreateMonitoredItems"
	if err := s.check(op); err != nil {
		return nil, err
	}
	items := make([]*MonitoredItem, len(configs))
	requests := make([]ua.MonitoredItemCreateRequest, len(configs))
	for i := range configs {
		c := configs[i]
		if err := c.check(); err != nil {
			return nil, nodeError(op, c.Node, err)
		}
		items[i] = &MonitoredItem{sub: s, cfg: c}
	}
	s.mu.Lock()
	for i, item := range items {
		item.handle = s.newHandle()
		s.items[item.handle] = item
		requests[i] = ua.MonitoredItemCreateRequest{
			ItemToMonitor: ua.ReadValueID{NodeID: item.cfg.Node, AttributeID: uint32(item.cfg.Attribute),
				IndexRange: item.cfg.IndexRange, DataEncoding: item.cfg.DataEncoding},
			MonitoringMode: item.cfg.Mode, RequestedParameters: item.cfg.parameters(item.handle),
		}
	}
	s.mu.Unlock()
	limit := s.c.limit(ctx, len(items), func(l *Limits) uint32 { return l.MaxMonitoredItemsPerCall })
	done := 0
	err := batches(len(items), limit, func(from, to int) error {
		err := s.create(ctx, requests[from:to], items[from:to])
		if err == nil {
			done = to
		}
		return err
	})
	if err != nil {
		s.mu.Lock()
		for _, item := range items[done:] {
			item.err = err
			delete(s.items, item.handle)
		}
		s.mu.Unlock()
	}
	return items, err
}

// newHandle is a client handle that was never given, under the lock.
func (s *Subscription) newHandle() uint32 {
	for {
		s.lastHandle++
		if _, used := s.items[s.lastHandle]; !used && s.lastHandle != 0 {
			return s.lastHandle
		}
	}
}

// create sends one request.
func (s *Subscription) create(ctx context.Context, requests []ua.MonitoredItemCreateRequest, items []*MonitoredItem) error {
	const op = "CreateMonitoredItems"
	req := &ua.CreateMonitoredItemsRequest{SubscriptionID: s.id, TimestampsToReturn: ua.TimestampsToReturnBoth, ItemsToCreate: requests}
	resp := new(ua.CreateMonitoredItemsResponse)
	var wrong error
	err := s.c.sendOrUndo(ctx, op, &req.RequestHeader, req, resp, &resp.ResponseHeader, func() {
		if wrong = results(op, len(resp.Results), len(items)); wrong != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, item := range items {
			r := &resp.Results[i]
			if r.StatusCode.IsBad() {
				item.err = nodeError(op, item.cfg.Node, r.StatusCode)
				item.result = r.FilterResult
				delete(s.items, item.handle)
				continue
			}
			item.id, item.queue, item.result = r.MonitoredItemID, r.RevisedQueueSize, r.FilterResult
			item.sampling = milliseconds(r.RevisedSamplingInterval)
		}
	}, func() {
		var ids []uint32
		for i := range resp.Results {
			if !resp.Results[i].StatusCode.IsBad() {
				ids = append(ids, resp.Results[i].MonitoredItemID)
			}
		}
		if len(ids) > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), lateAnswer)
			defer cancel()
			_, _ = s.c.DeleteMonitoredItems(ctx, &ua.DeleteMonitoredItemsRequest{SubscriptionID: s.id, MonitoredItemIDs: ids})
		}
	})
	if err == nil {
		err = wrong
	}
	return err
}

// ids are the server's numbers of items. One that is not monitored, or not of this subscription, has 0,
// which stands for none: its status is BadMonitoredItemIdInvalid then.
func (s *Subscription) ids(items []*MonitoredItem) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]uint32, len(items))
	for i, item := range items {
		if item != nil && item.sub == s {
			ids[i] = item.id
		}
	}
	return ids
}

// each runs a service for items in pieces that the server takes, and returns their statuses.
func (s *Subscription) each(ctx context.Context, op string, items []*MonitoredItem, run func(ids []uint32, from, to int) ([]ua.StatusCode, error)) ([]ua.StatusCode, error) {
	if err := s.check(op); err != nil {
		return nil, err
	}
	ids := s.ids(items)
	status := make([]ua.StatusCode, 0, len(items))
	limit := s.c.limit(ctx, len(items), func(l *Limits) uint32 { return l.MaxMonitoredItemsPerCall })
	err := batches(len(items), limit, func(from, to int) error {
		some, err := run(ids[from:to], from, to)
		if err == nil {
			status = append(status, some...)
		}
		return err
	})
	return status, err
}

// ItemChange is what Modify changes of an item: all of it, so begin with that of MonitoredItem.Change.
type ItemChange struct {
	Item          *MonitoredItem
	Sampling      time.Duration
	Queue         uint32
	DiscardNewest bool
	Filter        ua.Structure
}

// Change is the item as it is, for Subscription.ModifyItems.
func (i *MonitoredItem) Change() ItemChange {
	c := i.Config()
	return ItemChange{i, c.Sampling, c.Queue, c.DiscardNewest, c.Filter}
}

// ModifyItems changes items (Part 4, 5.13.3), and returns a status for each. When a request fails, the
// statuses of those before it are returned with the error.
func (s *Subscription) ModifyItems(ctx context.Context, changes ...ItemChange) ([]ua.StatusCode, error) {
	items := make([]*MonitoredItem, len(changes))
	for i := range changes {
		items[i] = changes[i].Item
	}
	return s.each(ctx, "ModifyMonitoredItems", items, func(ids []uint32, from, to int) ([]ua.StatusCode, error) {
		req := &ua.ModifyMonitoredItemsRequest{SubscriptionID: s.id, TimestampsToReturn: ua.TimestampsToReturnBoth}
		for k, id := range ids {
			c := &changes[from+k]
			var p ua.MonitoringParameters
			if id != 0 {
				cfg := c.Item.Config()
				cfg.Sampling, cfg.Queue, cfg.DiscardNewest, cfg.Filter = c.Sampling, c.Queue, c.DiscardNewest, c.Filter
				p = cfg.parameters(c.Item.handle)
			} else {
				p.ClientHandle = math.MaxUint32 - uint32(k) // nobody's
			}
			req.ItemsToModify = append(req.ItemsToModify, ua.MonitoredItemModifyRequest{MonitoredItemID: id, RequestedParameters: p})
		}
		resp, err := s.c.ModifyMonitoredItems(ctx, req)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		status := make([]ua.StatusCode, len(resp.Results))
		for k := range resp.Results {
			r, c := &resp.Results[k], &changes[from+k]
			if status[k] = r.StatusCode; r.StatusCode.IsBad() || ids[k] == 0 {
				continue
			}
			i := c.Item
			i.cfg.Sampling, i.cfg.Queue, i.cfg.DiscardNewest, i.cfg.Filter = c.Sampling, c.Queue, c.DiscardNewest, c.Filter
			i.sampling, i.queue, i.result = milliseconds(r.RevisedSamplingInterval), r.RevisedQueueSize, r.FilterResult
		}
		return status, nil
	})
}

// SetMode sets the monitoring mode of items (Part 4, 5.13.4), and returns a status for each.
func (s *Subscription) SetMode(ctx context.Context, mode ua.MonitoringMode, items ...*MonitoredItem) ([]ua.StatusCode, error) {
	return s.each(ctx, "SetMonitoringMode", items, func(ids []uint32, from, to int) ([]ua.StatusCode, error) {
		resp, err := s.c.SetMonitoringMode(ctx, &ua.SetMonitoringModeRequest{SubscriptionID: s.id, MonitoringMode: mode, MonitoredItemIDs: ids})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for k, status := range resp.Results {
			if !status.IsBad() && ids[k] != 0 {
				c := &items[from+k].cfg
				c.Mode, c.Disabled = mode, mode == ua.MonitoringModeDisabled
			}
		}
		return resp.Results, nil
	})
}

// SetTriggering makes and ends links from an item to others that report together with it though they are
// in mode Sampling (Part 4, 5.13.5). There is a status for each link.
func (s *Subscription) SetTriggering(ctx context.Context, trigger *MonitoredItem, add, remove []*MonitoredItem) (added, removed []ua.StatusCode, err error) {
	if err := s.check("SetTriggering"); err != nil {
		return nil, nil, err
	}
	resp, err := s.c.SetTriggering(ctx, &ua.SetTriggeringRequest{
		SubscriptionID: s.id, TriggeringItemID: s.ids([]*MonitoredItem{trigger})[0], LinksToAdd: s.ids(add), LinksToRemove: s.ids(remove),
	})
	if err != nil {
		return nil, nil, err
	}
	return resp.AddResults, resp.RemoveResults, nil
}

// DeleteItems ends the monitoring of items (Part 4, 5.13.6), and returns a status for each. Values that are
// still on their way are not delivered.
func (s *Subscription) DeleteItems(ctx context.Context, items ...*MonitoredItem) ([]ua.StatusCode, error) {
	return s.each(ctx, "DeleteMonitoredItems", items, func(ids []uint32, from, to int) ([]ua.StatusCode, error) {
		resp, err := s.c.DeleteMonitoredItems(ctx, &ua.DeleteMonitoredItemsRequest{SubscriptionID: s.id, MonitoredItemIDs: ids})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for k, status := range resp.Results {
			if ids[k] != 0 && (!status.IsBad() || status.Base() == ua.BadMonitoredItemIdInvalid) {
				item := items[from+k]
				item.id = 0
				delete(s.items, item.handle)
			}
		}
		return resp.Results, nil
	})
}
