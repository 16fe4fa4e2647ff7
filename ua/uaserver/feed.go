package uaserver

import (
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// Monitor is an optional interface of a NodeManager that knows when values change: it then pushes them,
// and nobody has to read. Attributes of managers without it, and those for which it gives no Feed, are
// read at the sampling intervals of their monitored items.
type Monitor interface {
	// Monitor is asked whenever a monitored item is created for an attribute other than EventNotifier. It
	// must not call back into the server.
	Monitor(ctx *Context, item *MonitorItem)
}

// MonitorItem is a question to a Monitor.
type MonitorItem struct {
	NodeID    ua.NodeID
	Attribute ua.AttributeID

	// Feed, out: what the manager pushes the changes of the attribute into; the same for all items of the
	// attribute, made with NewFeed.
	Feed *Feed
	// PerSession, out, without a Feed: who asks matters for the value, so it is read for each session.
	PerSession bool
	// Sampler, out, without a Feed: reads the attribute without looking for the node each time; nil: Read does.
	Sampler Sampler
	// MinSampling, out, without a Feed: the node's MinimumSamplingInterval in ms (Part 3, 5.6.2).
	MinSampling float64
	// Item, out: a monitored item of the manager's own, in place of all above.
	Item CustomItem
}

// Sampler reads one attribute of one node again and again.
type Sampler interface {
	// Sample fills in value, status and source time, as NodeManager.Read does; v is zero before. Without
	// Context.MayBlock it returns false, having done nothing, when it needs a callback that may block.
	Sample(ctx *Context, v *ua.DataValue) (done bool)
}

// CustomItem is a monitored item that a node manager brings itself (MonitorItem.Item). Its methods are
// called with locks held: they return at once and do not call back.
type CustomItem interface {
	// Signals reports whether the item calls the function of Start when it has something new. A
	// subscription with one that does not looks at all its items at each of its ticks. It is asked once.
	Signals() bool
	// Start is called once, with what the item calls, from any goroutine and without a lock that the
	// other methods need, after it has something new.
	Start(signal func())
	// Pending is the number of values that Next would give at the time now.
	Pending(now time.Time) int
	// Next takes out the oldest value, false when there is none.
	Next(now time.Time, v *ua.DataValue) bool
	// SetMode is told the monitoring mode, at the beginning too. Disabled drops what is pending.
	SetMode(mode ua.MonitoringMode)
	// Resend makes Next give the last value again if nothing is pending.
	Resend()
	// Close is called when the item has been deleted.
	Close()
}

// Feed takes the changes of one attribute of a node to all its monitored items. It is safe for use by
// several goroutines. A change costs each item a comparison and a copy; nothing is allocated.
type Feed struct {
	server    *Server
	node      subs.Node
	id        ua.NodeID
	attribute ua.AttributeID
}

// NewFeed makes a Feed for an attribute of a node.
func (s *Server) NewFeed(id ua.NodeID, attribute ua.AttributeID) *Feed {
	return &Feed{server: s, id: id, attribute: attribute}
}

// Push gives a value to the items. Those who push into a Feed see to the order of values themselves, as by
// holding the lock that guards the value. What the value holds must not change any more. Without a
// server time it gets the present one.
func (f *Feed) Push(v ua.DataValue) {
	if f.node.Len() == 0 {
		return
	}
	now := f.server.now()
	if v.ServerTimestamp == 0 {
		v.ServerTimestamp = ua.NewDateTime(now)
	}
	f.node.Push(&v, now.Sub(f.server.zero))
}

// Idle reports whether no item is monitored: the manager may forget the Feed.
func (f *Feed) Idle() bool { return f.node.Len() == 0 }

// custom is a CustomItem as package subs knows it. Its methods are called with locks held, so none lets a panic
// through: the item then has nothing to report.
type custom struct {
	item   CustomItem
	server *Server
}

func (c custom) guard() {
	if e := recover(); e != nil {
		c.server.log.Error("panic in a monitored item of a node manager", "panic", e, "stack", stack())
	}
}

func (c custom) Signals() bool {
	defer c.guard()
	return c.item.Signals()
}

func (c custom) Pending(at time.Duration) int {
	defer c.guard()
	return c.item.Pending(c.server.zero.Add(at))
}

func (c custom) Next(at time.Duration, v *ua.DataValue) bool {
	defer c.guard()
	return c.item.Next(c.server.zero.Add(at), v)
}

func (c custom) SetMode(mode ua.MonitoringMode) {
	defer c.guard()
	c.item.SetMode(mode)
}

func (c custom) Resend() {
	defer c.guard()
	c.item.Resend()
}

func (c custom) close() {
	defer c.guard()
	c.item.Close()
}
