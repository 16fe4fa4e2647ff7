package uaclient

import (
	"iter"
	"slices"
	"time"

	"github.com/actua/actua/ua"
)

// DataNotification is what one notification message says of data (Part 4, 7.25.2). It is the callback's
// until that returns; the values may be kept.
type DataNotification struct {
	Subscription   *Subscription
	SequenceNumber uint32
	PublishTime    ua.DateTime
	More           bool // the server has more to say already
	Republished    bool // the message was lost once
	values         []ua.MonitoredItemNotification
}

// Len is the number of values, those of items that are deleted included.
func (n *DataNotification) Len() int { return len(n.values) }

// All are the values with their items, in the server's order: of one item the oldest first. Values of items
// that were deleted meanwhile are left out.
func (n *DataNotification) All() iter.Seq2[*MonitoredItem, ua.DataValue] {
	return func(yield func(*MonitoredItem, ua.DataValue) bool) {
		for i := range n.values {
			if item := n.Subscription.item(n.values[i].ClientHandle); item != nil && !yield(item, n.values[i].Value) {
				return
			}
		}
	}
}

// EventNotification is what one notification message says of events (Part 4, 7.25.3). It is the callback's
// until that returns; the fields may be kept.
type EventNotification struct {
	Subscription   *Subscription
	SequenceNumber uint32
	PublishTime    ua.DateTime
	More           bool // the server has more to say already
	Republished    bool // the message was lost once
	events         []ua.EventFieldList
}

// Len is the number of events, those of items that are deleted included.
func (n *EventNotification) Len() int { return len(n.events) }

// All are the events with their items, in the server's order. The fields stand in the order of the filter's
// select clauses; what an event does not have is null.
func (n *EventNotification) All() iter.Seq2[*MonitoredItem, []ua.Variant] {
	return func(yield func(*MonitoredItem, []ua.Variant) bool) {
		for i := range n.events {
			if item := n.Subscription.item(n.events[i].ClientHandle); item != nil && !yield(item, n.events[i].EventFields) {
				return
			}
		}
	}
}

// KeepAlive says that there was nothing to report (Part 4, 5.14.1.1). It is the callback's until that
// returns.
type KeepAlive struct {
	Subscription *Subscription
	NextNumber   uint32 // sequence number that the next message will have
	PublishTime  ua.DateTime
}

// StatusKind says what a SubscriptionStatus is about.
type StatusKind uint8

// What OnStatus hears of.
const (
	StatusGap     StatusKind = iota + 1 // messages are lost: From to To
	StatusSilent                        // no sign of life for as long as the server promised one, and a second
	StatusResumed                       // the silence is over
	StatusChanged                       // the server sent a StatusChangeNotification with Status (Part 4, 7.25.4)
	StatusEnded                         // the subscription has ended, with Err; this is the last call
)

// String is a word such as "gap".
func (k StatusKind) String() string {
	if names := [...]string{"", "gap", "silent", "resumed", "changed", "ended"}; int(k) < len(names) {
		return names[k]
	}
	return ""
}

// SubscriptionStatus is what OnStatus hears.
type SubscriptionStatus struct {
	Subscription *Subscription
	Kind         StatusKind
	// From and To are the sequence numbers of the first and the last message that is lost, for StatusGap.
	From, To uint32
	// Status is what the server said, for StatusChanged and an end that it told of: BadTimeout, it had not
	// heard of the client for the lifetime; GoodSubscriptionTransferred, another session has taken the
	// subscription over.
	Status ua.StatusCode
	// Err is why the subscription has ended, for StatusEnded.
	Err error
}

// silenceMargin is how long a sign of life may be late.
const silenceMargin = time.Second

// run calls the callbacks until the subscription has ended.
func (s *Subscription) run() {
	defer close(s.done)
	timer := time.NewTimer(silenceMargin)
	defer timer.Stop()
	closed := s.c.Done()
	for {
		if m := s.next(); m != nil {
			s.handle(m)
			continue
		}
		if to, behind := s.behind(); behind {
			s.repair(to, nil, true)
			s.expected = to
			continue
		}
		s.mu.Lock()
		ended, err := s.ended, s.err
		s.mu.Unlock()
		if ended {
			s.c.publisher.remove(s)
			if err != nil {
				s.tell(SubscriptionStatus{Kind: StatusEnded, Status: ua.StatusOf(err), Err: err})
			}
			return
		}
		timer.Reset(s.listen())
		select {
		case <-s.wake:
		case <-timer.C:
		case <-closed:
			// Whatever had been read is in the queue.
			s.end(stepError(StepService, "Publish", s.c.Err()), false)
			closed = nil
		}
	}
}

// listen notes silence and returns when to look again.
func (s *Subscription) listen() time.Duration {
	left := time.Duration(s.quiet.Load()) + silenceMargin - time.Duration(monotonic()-s.heard.Load())
	if left > 0 {
		return left
	}
	if !s.silent {
		s.silent = true
		s.tell(SubscriptionStatus{Kind: StatusSilent})
	}
	return time.Hour
}

// next takes the next message from the queue; nil if there is none.
func (s *Subscription) next() *published {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	m := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return m
}

// behind reports whether messages were left at the server for want of room, and the number behind them.
func (s *Subscription) behind() (to uint32, yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return after(s.newest), s.started && !s.ended && len(s.queue) == 0 && ahead(s.expected, s.newest) >= 0
}

// handle delivers a message, and those before it that did not come.
func (s *Subscription) handle(m *published) {
	defer m.release()
	if s.silent {
		s.silent = false
		s.tell(SubscriptionStatus{Kind: StatusResumed})
	}
	r := &m.response
	n, quiet, last := r.message.SequenceNumber, len(r.message.NotificationData) == 0, r.message.ends()
	missing := ahead(s.expected, n)
	switch {
	case missing < 0 && !quiet && s.started:
		return // it was here already
	case missing > 0 && last == ua.Good:
		// What a server numbers from elsewhere than 1 is not lost, what it kept from before is.
		s.repair(n, r.AvailableSequenceNumbers, s.started)
		s.expected = n
	case !s.started:
		s.expected = n
	}
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	if quiet {
		if s.cfg.OnKeepAlive != nil {
			s.cfg.OnKeepAlive(&KeepAlive{Subscription: s, NextNumber: n, PublishTime: r.message.PublishTime})
		}
		return
	}
	s.expected = after(n)
	s.deliver(&r.message, r.MoreNotifications, false)
	if last != ua.Good {
		s.end(&Error{Step: StepService, Op: "Publish", Err: last}, false)
	}
}

// deliver calls the callbacks for one message.
func (s *Subscription) deliver(m *message, more, again bool) {
	for i := range m.NotificationData {
		if s.closing.Load() {
			return
		}
		switch d := m.NotificationData[i].Value.(type) {
		case *ua.DataChangeNotification:
			if s.cfg.OnData != nil && len(d.MonitoredItems) > 0 {
				s.cfg.OnData(&DataNotification{s, m.SequenceNumber, m.PublishTime, more, again, d.MonitoredItems})
			}
		case *ua.EventNotificationList:
			if s.cfg.OnEvents != nil && len(d.Events) > 0 {
				s.cfg.OnEvents(&EventNotification{s, m.SequenceNumber, m.PublishTime, more, again, d.Events})
			}
		case *ua.StatusChangeNotification:
			if !final(d.Status) {
				s.tell(SubscriptionStatus{Kind: StatusChanged, Status: d.Status})
			}
		default:
			s.c.settings.Log.Debug("opcua: a notification that cannot be read", "url", s.c.URL(), "type", m.NotificationData[i].TypeID)
		}
	}
}

// tell calls OnStatus.
func (s *Subscription) tell(status SubscriptionStatus) {
	if s.cfg.OnStatus != nil && !s.closing.Load() {
		status.Subscription = s
		s.cfg.OnStatus(status)
	}
}

// repair gets the messages from the expected number to the one before to: out of the queue, where a server
// sent them out of order, or from the server, if it says that it has them. Each is asked for once (U03).
// Those that cannot be had are told of as gaps.
func (s *Subscription) repair(to uint32, listed []uint32, gaps bool) {
	at := s.expected
	for _, n := range s.repairable(to, listed) {
		if s.ctx.Err() != nil {
			break
		}
		m, again, release := s.fetch(n)
		if m == nil {
			continue
		}
		if n != at && gaps {
			s.lost(at, n)
		}
		at = after(n)
		s.deliver(m, true, again)
		release()
	}
	if at != to && gaps && !s.closing.Load() {
		s.lost(at, to)
	}
}

// lost tells of the messages from a number to the one before to.
func (s *Subscription) lost(from, to uint32) {
	s.tell(SubscriptionStatus{Kind: StatusGap, From: from, To: before(to)})
}

// repairable lists, in order, the missing numbers before to that can be had.
func (s *Subscription) repairable(to uint32, listed []uint32) (list []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(n uint32) {
		if n != 0 && ahead(s.expected, n) >= 0 && ahead(n, to) > 0 {
			list = append(list, n)
		}
	}
	for _, n := range listed {
		add(n)
	}
	for _, n := range s.available {
		add(n)
	}
	for _, m := range s.queue {
		if len(m.response.message.NotificationData) > 0 {
			add(m.response.message.SequenceNumber)
		}
	}
	slices.SortFunc(list, func(a, b uint32) int { return int(ahead(b, a)) })
	return slices.Compact(list)
}

// fetch gets one missing message, out of the queue or again from the server; nil if it cannot be had.
// release gives its memory back.
func (s *Subscription) fetch(n uint32) (m *message, again bool, release func()) {
	s.mu.Lock()
	i := slices.IndexFunc(s.queue, func(m *published) bool {
		return m.response.message.SequenceNumber == n && len(m.response.message.NotificationData) > 0
	})
	if i >= 0 {
		found := s.queue[i]
		s.queue = slices.Delete(s.queue, i, i+1)
		s.mu.Unlock()
		return &found.response.message, false, found.release
	}
	s.mu.Unlock()
	req := &ua.RepublishRequest{SubscriptionID: s.id, RetransmitSequenceNumber: n}
	resp := new(republishResponse)
	if err := s.c.send(s.ctx, "Republish", &req.RequestHeader, req, resp, &resp.ResponseHeader); err != nil {
		resp.message.release()
		if s.ctx.Err() == nil {
			s.c.settings.Log.Debug("opcua: a message cannot be had again", "url", s.c.URL(), "subscription", s.id, "number", n, "err", err)
		}
		return nil, false, nil
	}
	s.c.publisher.acknowledge(s, n)
	return &resp.message, true, resp.message.release
}
