package uaclient

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
)

// SubscriptionConfig says what a subscription is to be like (Part 4, 5.14.2). It is checked and copied by
// Subscribe. The zero value is a message a second with what changed.
//
// The callbacks run on a goroutine of the subscription's own, one at a time, in the order in which the
// server said it. A slow one holds up neither the connection nor other subscriptions. Any may be nil.
type SubscriptionConfig struct {
	// Interval is how often the server looks for something to report; default 1 s. The server may revise
	// it, and the counts.
	Interval time.Duration
	// KeepAliveCount is after how many intervals without anything to report the server gives a sign of
	// life; default 10.
	KeepAliveCount uint32
	// LifetimeCount is after how many intervals without a Publish request the server ends the subscription,
	// at least three times KeepAliveCount; default 1000.
	LifetimeCount uint32
	// MaxNotifications is how many notifications one message has at most; 0: the server decides.
	MaxNotifications uint32
	// Priority is served first among the subscriptions of a session when the higher.
	Priority uint8
	// Paused creates the subscription without publishing: there are keep-alives only, until SetPublishing.
	Paused bool

	// Queue is how many messages wait for the callbacks; default 100. One for which there is no room is
	// not acknowledged: it is asked for again when there is, and a StatusGap if the server has discarded
	// it by then.
	Queue int

	// OnData gets the data changes of one message.
	OnData func(*DataNotification)
	// OnEvents gets the events of one message.
	OnEvents func(*EventNotification)
	// OnKeepAlive hears that there is nothing to report.
	OnKeepAlive func(*KeepAlive)
	// OnStatus hears of losses, of silence, and of the end.
	OnStatus func(SubscriptionStatus)
}

// check completes the configuration.
func (c *SubscriptionConfig) check() error {
	defaultTo(&c.Interval, time.Second)
	defaultTo(&c.KeepAliveCount, 10)
	defaultTo(&c.LifetimeCount, max(1000, 3*c.KeepAliveCount))
	defaultTo(&c.Queue, 100)
	switch {
	case c.Interval < 0:
		return reason(ua.BadInvalidArgument, "Interval %v: a time above zero is wanted", c.Interval)
	case c.Queue < 0:
		return reason(ua.BadInvalidArgument, "Queue %d: a number above zero is wanted", c.Queue)
	case uint64(c.LifetimeCount) < 3*uint64(c.KeepAliveCount):
		return reason(ua.BadInvalidArgument, "LifetimeCount %d is less than three times KeepAliveCount %d", c.LifetimeCount, c.KeepAliveCount)
	}
	return nil
}

// Revised are the numbers of a subscription as the server decided.
type Revised struct {
	Interval                      time.Duration
	LifetimeCount, KeepAliveCount uint32
}

// Subscription is a subscription of a session. Its notifications reach the callbacks of its configuration
// until Close, the end of the session, or the server's end of it; Done and Err tell. It is safe for use by
// several goroutines, and by its own callbacks.
type Subscription struct {
	c          *Client
	id         uint32
	cfg        SubscriptionConfig
	generation uint64 // of the publisher; guarded by its lock
	ctx        context.Context
	cancel     context.CancelFunc
	closing    atomic.Bool
	quiet      atomic.Int64 // ns after which the server gives a sign of life
	heard      atomic.Int64 // monotonic ns of the last one
	wake       chan struct{}
	done       chan struct{}

	mu         sync.Mutex
	revised    Revised
	items      map[uint32]*MonitoredItem // by client handle
	lastHandle uint32
	queue      []*published
	available  []uint32 // that the server can send again, as it said last
	doubts     []uint32 // numbers whose acknowledgement may have been lost
	newest     uint32   // the last number that the server has used
	ended      bool
	err        error

	// The goroutine's.
	expected uint32 // sequence number
	started  bool   // a message has come
	silent   bool
}

// Subscribe creates a subscription and publishes for it. The context bounds the creation and nothing after
// it. The subscription has no items yet: Add adds them.
func (c *Client) Subscribe(ctx context.Context, config SubscriptionConfig) (*Subscription, error) {
	if err := config.check(); err != nil {
		return nil, &Error{Step: StepService, Op: "Subscribe", Err: err}
	}
	req := &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: inMilliseconds(config.Interval), RequestedLifetimeCount: config.LifetimeCount,
		RequestedMaxKeepAliveCount: config.KeepAliveCount, MaxNotificationsPerPublish: config.MaxNotifications,
		Priority: config.Priority, PublishingEnabled: !config.Paused,
	}
	resp := new(ua.CreateSubscriptionResponse)
	var s *Subscription
	err := c.sendOrUndo(ctx, "CreateSubscription", &req.RequestHeader, req, resp, &resp.ResponseHeader, func() {
		// Before the first notification can arrive.
		s = &Subscription{
			c: c, id: resp.SubscriptionID, cfg: config, items: map[uint32]*MonitoredItem{}, expected: 1, newest: before(1),
			wake: make(chan struct{}, 1), done: make(chan struct{}),
		}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.revise(resp.RevisedPublishingInterval, resp.RevisedLifetimeCount, resp.RevisedMaxKeepAliveCount)
		s.heard.Store(monotonic())
		go s.run()
		c.publisher.add(s)
	}, func() {
		ctx, cancel := context.WithTimeout(context.Background(), lateAnswer)
		defer cancel()
		_, _ = c.DeleteSubscriptions(ctx, &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{resp.SubscriptionID}})
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// inMilliseconds is a time as a Duration of the standard (Part 3, 8.13).
func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// revise notes the server's numbers.
func (s *Subscription) revise(interval float64, lifetime, keepAlive uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revised = Revised{milliseconds(interval), lifetime, keepAlive}
	quiet := float64(s.revised.Interval) * float64(max(keepAlive, 1))
	s.quiet.Store(int64(min(quiet, float64(math.MaxInt64/4))))
}

// ID is the server's number of the subscription.
func (s *Subscription) ID() uint32 { return s.id }

// Revised are the interval and the counts that the server decided on.
func (s *Subscription) Revised() Revised {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revised
}

// Done is closed when the subscription has ended and no callback runs any more.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Err is why the subscription has ended: nil while it lives, and when Close or the client's Close ended it.
func (s *Subscription) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// call is a context for a service of this subscription: an error once that has ended.
func (s *Subscription) check(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		return nil
	}
	return &Error{Step: StepService, Op: op, Err: reason(ua.BadSubscriptionIdInvalid, "the subscription has ended")}
}

// Modify asks for other numbers: Interval, both counts, MaxNotifications and Priority of config, with the
// defaults of Subscribe; the rest of it stays as it was (Part 4, 5.14.3).
func (s *Subscription) Modify(ctx context.Context, config SubscriptionConfig) (Revised, error) {
	err := config.check()
	if err != nil {
		return Revised{}, &Error{Step: StepService, Op: "ModifySubscription", Err: err}
	}
	if err := s.check("ModifySubscription"); err != nil {
		return Revised{}, err
	}
	resp, err := s.c.ModifySubscription(ctx, &ua.ModifySubscriptionRequest{
		SubscriptionID: s.id, RequestedPublishingInterval: inMilliseconds(config.Interval), RequestedLifetimeCount: config.LifetimeCount,
		RequestedMaxKeepAliveCount: config.KeepAliveCount, MaxNotificationsPerPublish: config.MaxNotifications, Priority: config.Priority,
	})
	if err != nil {
		return Revised{}, err
	}
	s.revise(resp.RevisedPublishingInterval, resp.RevisedLifetimeCount, resp.RevisedMaxKeepAliveCount)
	s.stir()
	return s.Revised(), nil
}

// SetPublishing stops the notifications and lets them go on; keep-alives come all the time (Part 4, 5.14.4).
func (s *Subscription) SetPublishing(ctx context.Context, enabled bool) error {
	if err := s.check("SetPublishingMode"); err != nil {
		return err
	}
	resp, err := s.c.SetPublishingMode(ctx, &ua.SetPublishingModeRequest{PublishingEnabled: enabled, SubscriptionIDs: []uint32{s.id}})
	if err != nil {
		return err
	}
	return stepError(StepService, "SetPublishingMode", resp.Results[0].Err())
}

// Close deletes the subscription with its items. Messages that wait for a callback are dropped, and no
// callback begins any more; one that runs may still do so until Done. A second Close does nothing.
func (s *Subscription) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	wasEnded := s.end(nil, true)
	s.c.publisher.remove(s)
	if wasEnded {
		return nil
	}
	resp, err := s.c.DeleteSubscriptions(ctx, &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{s.id}})
	switch {
	case s.c.Err() != nil:
		return nil // it ended with the session
	case err != nil:
		return err
	case resp.Results[0].Base() == ua.BadSubscriptionIdInvalid:
		return nil
	}
	return stepError(StepService, "DeleteSubscriptions", resp.Results[0].Err())
}

// end ends the subscription on this side; drop forgets what waits. It reports whether it had ended before.
func (s *Subscription) end(err error, drop bool) (was bool) {
	s.mu.Lock()
	was = s.ended
	if !was {
		s.ended, s.err = true, err
		s.cancel()
	}
	if drop {
		for _, m := range s.queue {
			m.release()
		}
		s.queue = nil
	}
	s.mu.Unlock()
	s.stir()
	return was
}

// stir has the goroutine look.
func (s *Subscription) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// arrived takes a message over, on the goroutine that reads. again are numbers to acknowledge once more.
func (s *Subscription) arrived(m *published) (again []uint32, taken bool) {
	r := &m.response
	number := r.message.SequenceNumber
	s.heard.Store(monotonic())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.available = append(s.available[:0], r.AvailableSequenceNumbers...)
	for _, n := range s.doubts {
		if slices.Contains(s.available, n) {
			again = append(again, n)
		}
	}
	s.doubts = s.doubts[:0]
	last := number
	if len(r.message.NotificationData) == 0 {
		last = before(number) // a keep-alive has the next number, without using it (Part 4, 5.14.1.1)
	}
	if ahead(s.newest, last) > 0 || !s.started && len(s.queue) == 0 {
		s.newest = last
	}
	if s.ended || len(s.queue) >= s.cfg.Queue && r.message.ends() == ua.Good {
		m.release()
		return again, false
	}
	s.queue = append(s.queue, m)
	s.stir()
	return again, true
}

// doubt notes a number that was acknowledged with a request that failed.
func (s *Subscription) doubt(number uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.doubts) < maxAcks {
		s.doubts = append(s.doubts, number)
	}
}
