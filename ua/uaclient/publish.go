package uaclient

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// Publish sends one Publish request (Part 4, 5.14.5), which the server holds until it has something to say:
// RequestTimeout does not end it, only the context does. Results are those of the acknowledgements; bad
// ones among them say nothing about the notifications (U01). Subscribe publishes by itself, and its
// requests and these would take each other's notifications.
func (c *Client) Publish(ctx context.Context, req *ua.PublishRequest) (*ua.PublishResponse, error) {
	r := *req
	resp := new(ua.PublishResponse)
	if err := c.ch.roundTrip(ctx, &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, stepError(StepService, "Publish", err)
	}
	return resp, nil
}

// Republish sends one Republish request (Part 4, 5.14.6). BadMessageNotAvailable: the server does not have
// the message any more.
func (c *Client) Republish(ctx context.Context, req *ua.RepublishRequest) (*ua.RepublishResponse, error) {
	r := *req
	resp := new(ua.RepublishResponse)
	if err := c.send(ctx, "Republish", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, nil
}

const (
	// maxAcks is how many acknowledgements one request takes along.
	maxAcks = 1000
	// Times between attempts to publish while the server answers with errors.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// publisher keeps Publish requests on their way for all subscriptions of a client. It has no goroutine:
// each answer sends the next request, on the goroutine that reads.
type publisher struct {
	c *Client

	mu         sync.Mutex
	subs       map[uint32]*Subscription
	acks       []ua.SubscriptionAcknowledgement // for the next request
	inFlight   int
	most       int           // in flight; lowered when the server takes fewer (U13)
	generation uint64        // counts the subscriptions there were
	pause      time.Duration // the last one; 0: the last request was answered well
	pausing    bool
	ended      bool
	err        error // why; nil: the client was closed
}

var publications = sync.Pool{New: func() any { return new(published) }}

func (m *published) release() {
	m.response.message.release()
	m.request.SubscriptionAcknowledgements = m.request.SubscriptionAcknowledgements[:0]
	publications.Put(m)
}

// add begins to publish for a subscription.
func (p *publisher) add(s *Subscription) {
	p.mu.Lock()
	if p.ended {
		err := p.err
		p.mu.Unlock()
		s.end(err, true)
		return
	}
	if p.subs == nil {
		p.subs = map[uint32]*Subscription{}
	}
	p.generation++
	s.generation = p.generation
	p.subs[s.id] = s
	p.mu.Unlock()
	p.fill()
}

// remove forgets a subscription and what was to be acknowledged for it: servers take offence at numbers
// that they do not know (U02).
func (p *publisher) remove(s *Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.subs[s.id] == s {
		delete(p.subs, s.id)
		p.acks = slices.DeleteFunc(p.acks, func(a ua.SubscriptionAcknowledgement) bool { return a.SubscriptionID == s.id })
	}
}

// acknowledge has the next request say that a message was received.
func (p *publisher) acknowledge(s *Subscription, number uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ack(s, number)
}

// ack is acknowledge under the lock.
func (p *publisher) ack(s *Subscription, number uint32) {
	if p.subs[s.id] == s {
		p.acks = append(p.acks, ua.SubscriptionAcknowledgement{SubscriptionID: s.id, SequenceNumber: number})
	}
}

// wanted is how many requests should be in flight, under the lock: one more than there are subscriptions, so
// that the server has one while it answers with another.
func (p *publisher) wanted() int {
	if len(p.subs) == 0 || p.pausing || p.ended {
		return 0
	}
	return min(len(p.subs)+1, p.most)
}

// fill sends requests until enough are in flight.
func (p *publisher) fill() {
	for {
		p.mu.Lock()
		if p.inFlight >= p.wanted() {
			p.mu.Unlock()
			return
		}
		p.inFlight++
		m := publications.Get().(*published)
		n := min(len(p.acks), maxAcks)
		m.request.SubscriptionAcknowledgements = append(m.request.SubscriptionAcknowledgements[:0], p.acks[:n]...)
		p.acks = append(p.acks[:0], p.acks[n:]...)
		m.generation = p.generation
		var longest time.Duration
		for _, s := range p.subs {
			longest = max(longest, time.Duration(s.quiet.Load()))
		}
		p.mu.Unlock()
		m.sent = monotonic()
		m.request.RequestHeader = ua.RequestHeader{}
		hint := uint32(min(max(2*longest, 10*time.Second), 30*time.Minute).Milliseconds())
		err := p.c.ch.start(hint, &m.request.RequestHeader, &m.request, &m.response, &m.response.ResponseHeader, func(err error) { p.answered(m, err) })
		if err != nil {
			p.answered(m, err)
			return
		}
	}
}

var began = time.Now()

// monotonic is a time that no clock change moves.
func monotonic() int64 { return int64(time.Since(began)) }

// answered takes the answer to a request, and sends the next.
func (p *publisher) answered(m *published, err error) {
	if err != nil {
		p.failed(m, err)
		return
	}
	r := &m.response
	p.mu.Lock()
	p.inFlight--
	p.pause = 0
	s := p.subs[r.SubscriptionID]
	if s == nil {
		p.mu.Unlock()
		p.c.settings.Log.Debug("opcua: a notification of a subscription that is not ours", "url", p.c.URL(), "subscription", r.SubscriptionID)
		m.release()
	} else {
		p.received(s, m)
		p.mu.Unlock()
	}
	p.fill()
}

// received hands a message to its subscription, under the lock. Only what was taken is acknowledged.
func (p *publisher) received(s *Subscription, m *published) {
	r := &m.response
	number, silent := r.message.SequenceNumber, len(r.message.NotificationData) == 0
	last := r.message.ends() != ua.Good
	again, taken := s.arrived(m)
	for _, n := range again {
		p.ack(s, n)
	}
	switch {
	case taken && last:
		// What still fails for want of it says nothing new.
		delete(p.subs, s.id)
		p.acks = slices.DeleteFunc(p.acks, func(a ua.SubscriptionAcknowledgement) bool { return a.SubscriptionID == s.id })
	case taken && !silent:
		p.ack(s, number)
	}
}

// failed handles the error of a request.
func (p *publisher) failed(m *published, err error) {
	age := time.Duration(monotonic() - m.sent)
	var gone []*Subscription
	p.mu.Lock()
	p.inFlight--
	// The server may have taken the acknowledgements or not: the next list of available messages tells.
	for _, a := range m.request.SubscriptionAcknowledgements {
		if s := p.subs[a.SubscriptionID]; s != nil {
			s.doubt(a.SequenceNumber)
		}
	}
	switch {
	case p.ended:
	case isOneOf(err, ua.BadTooManyPublishRequests):
		if p.inFlight > 0 {
			if p.most == maxPublish {
				p.c.settings.Log.Warn("opcua: the server takes fewer Publish requests than there are subscriptions", "url", p.c.URL(), "in flight", p.inFlight)
			}
			p.most = min(p.most, p.inFlight)
			break
		}
		p.most = 1
		p.wait()
	case isOneOf(err, ua.BadNoSubscription):
		// Those that the server had when the request was sent (U27).
		for _, s := range p.subs {
			if s.generation <= m.generation && !s.closing.Load() {
				gone = append(gone, s)
			}
		}
	case sessionEnded(err) || p.c.Err() != nil:
		p.ended, p.err = true, stepError(StepService, "Publish", err)
		for _, s := range p.subs {
			gone = append(gone, s)
		}
	case isOneOf(err, ua.BadTimeout, ua.BadRequestTimeout) && age > time.Second:
		// The server's patience with this request, as its TimeoutHint has it.
	default:
		p.c.settings.Log.Debug("opcua: Publish failed", "url", p.c.URL(), "err", err)
		p.wait()
	}
	ended := p.err
	p.mu.Unlock()
	m.release()
	for _, s := range gone {
		why := ended
		if why == nil {
			why = stepError(StepService, "Publish", err)
		}
		s.end(why, false)
	}
	p.fill()
}

// sessionEnded reports whether an error ends everything that the session had.
func sessionEnded(err error) bool {
	return isOneOf(err, ua.BadSessionIdInvalid, ua.BadSessionClosed, ua.BadSessionNotActivated, ua.BadSecureChannelIdInvalid,
		ua.BadSecureChannelClosed, ua.BadConnectionClosed, ua.BadServiceUnsupported, ua.BadNotImplemented, ua.BadUserAccessDenied)
}

// wait sends nothing for a while, under the lock.
func (p *publisher) wait() {
	if p.pausing {
		return
	}
	p.pause = min(max(2*p.pause, firstPause), longestPause)
	p.pausing = true
	time.AfterFunc(p.pause, func() {
		p.mu.Lock()
		p.pausing = false
		p.mu.Unlock()
		p.fill()
	})
}

// stop ends all subscriptions, since their client is closed.
func (p *publisher) stop() {
	p.mu.Lock()
	if !p.ended {
		p.ended, p.err = true, nil
	}
	list := make([]*Subscription, 0, len(p.subs))
	for _, s := range p.subs {
		list = append(list, s)
	}
	p.mu.Unlock()
	for _, s := range list {
		s.end(nil, true)
	}
}

// maxPublish is how many Publish requests are in flight at most.
const maxPublish = 15

// after is the sequence number behind n: 0 is none of them (Part 4, 7.8).
func after(n uint32) uint32 {
	if n == math.MaxUint32 {
		return 1
	}
	return n + 1
}

// before is the sequence number that n follows.
func before(n uint32) uint32 {
	if n <= 1 {
		return math.MaxUint32
	}
	return n - 1
}

// ahead is how many numbers b is ahead of a; negative if it is behind.
func ahead(a, b uint32) int64 {
	const ring = math.MaxUint32 // numbers without 0
	d := int64(b) - int64(a)
	switch {
	case d > ring/2:
		d -= ring
	case d < -ring/2:
		d += ring
	}
	return d
}
