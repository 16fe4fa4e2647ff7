package subs

import (
	"time"

	"github.com/actua/actua/ua"
)

// Now is the time of a call: At of a clock that never jumps, from whatever beginning the caller chose,
// and the same moment as clients see it. Times of one Manager must come from one clock.
type Now struct {
	At   time.Duration
	Wall ua.DateTime
}

// Limits bound what clients can ask for. Fields of 0 mean the default beside them.
type Limits struct {
	MaxSubscriptionsPerSession int // 100
	MaxItemsPerSubscription    int // 100,000
	MaxPublishRequests         int // parked in a session; 20
	MaxRetained                int // messages of the retransmission queue; 100
	MaxDataQueue               uint32
	MaxEventQueue              uint32
	MaxNotificationsPerPublish uint32 // 10,000

	MinPublishingInterval time.Duration // 10 ms
	MaxPublishingInterval time.Duration // 1 h
	PublishingResolution  time.Duration // 1 ms: intervals are rounded up to a multiple of it
	// Phase makes publishing timers that begin within the same multiple of it expire together, so that many
	// subscriptions cost one wake-up; the first cycle is shorter than the others for that. 0: each begins
	// when it is made.
	Phase               time.Duration
	MinLifetime         time.Duration // 10 s
	MaxLifetime         time.Duration // 1 h
	MinSamplingInterval time.Duration // 10 ms, for nodes that are sampled
	// MaxDurableHours is the longest life of a durable subscription without its client; 0: there are
	// none, and SetDurable answers BadNotSupported.
	MaxDurableHours uint32
}

func (l Limits) withDefaults() Limits {
	set(&l.MaxSubscriptionsPerSession, 100)
	set(&l.MaxItemsPerSubscription, 100_000)
	set(&l.MaxPublishRequests, 20)
	set(&l.MaxRetained, 100)
	set(&l.MaxDataQueue, 1000)
	set(&l.MaxEventQueue, 10_000)
	set(&l.MaxNotificationsPerPublish, 10_000)
	set(&l.MinPublishingInterval, 10*time.Millisecond)
	set(&l.MaxPublishingInterval, time.Hour)
	set(&l.PublishingResolution, time.Millisecond)
	set(&l.MinLifetime, 10*time.Second)
	set(&l.MaxLifetime, time.Hour)
	set(&l.MinSamplingInterval, 10*time.Millisecond)
	return l
}

func set[T ~int | ~int64 | ~uint32](p *T, v T) {
	if *p <= 0 {
		*p = v
	}
}

// Config is what a Manager is made with.
type Config struct {
	Limits Limits
	// Pools rent out messages; nil: every message is allocated.
	Pools *Pools
	// FirstID is the first subscription id, which a server chooses at random so that the ids of an
	// earlier run are not taken for those of this one (1.13); 0 means 1.
	FirstID uint32
	// Wake is called when Manager.Run has to be called earlier than it last said. It is called with
	// locks held and from any goroutine: it must neither block nor call back.
	Wake func()
	// Removed is told of items that are gone, with no lock held: their subscription was deleted or
	// expired, or DeleteItems was called. The items are already off their nodes.
	Removed func([]*Item)
	// FullMirror and DeltaMirror are told of every change of a retransmission queue, MirrorStore of
	// subscriptions that are gone. Each may be nil.
	FullMirror  FullMirror
	DeltaMirror DeltaMirror
	MirrorStore MirrorStore
	// Same compares values of items without a filter; nil: ua.Variant.Equal, which allocates for large
	// scalars.
	Same func(a, b ua.Variant) bool
	// Scan makes every subscription look at all its items at every tick, as one with an item that
	// cannot signal does. For tests: clients see the same.
	Scan bool
}

// DataFilter decides which values of an item become notifications (Part 4, 7.22.2). It is called with
// the item's lock held: it must not call back.
type DataFilter interface {
	// Accept compares a new value with the last one that was accepted.
	Accept(last, new *ua.DataValue) bool
}

// IntervalFilter is a DataFilter that makes values when an interval ends, as aggregates do (Part 13).
// Accept takes a raw value in and says whether that makes one available.
type IntervalFilter interface {
	DataFilter
	// Due reports whether an interval has ended, so that Next has a value. Waiting reports whether
	// one will end without another raw value, so that the item stays a candidate.
	Due(at time.Duration) bool
	Waiting() bool
	// Next takes out the value of the oldest interval that has ended, false when there is none.
	Next(at time.Duration, v *ua.DataValue) bool
}

// Event is something that happened. Its dynamic type must be comparable, such as a pointer: an item
// whose queue still has an event does not take the same again.
type Event any

// EventFilter decides which events an item reports and what of them (Part 4, 7.22.3).
type EventFilter interface {
	// Select returns the fields of an event, false when the where clause leaves it out. The fields are
	// the item's from then on. It is called with no lock held.
	Select(e Event) ([]ua.Variant, bool)
	// Overflow returns the fields of an EventQueueOverflowEventType event (Part 4, 7.22.3). It is called with
	// the item's lock held: it must not call back.
	Overflow() []ua.Variant
}

// Custom is a monitored item that a node manager brings itself instead of pushing values to an Item. Its
// methods are called with the subscription's and the item's lock held: they must not call back, and
// return at once. If it signals, it calls Item.Signal, without a lock of its own that these methods
// need, after it has something new.
type Custom interface {
	// Signals reports whether it calls Item.Signal. A subscription with one that does not looks at all its
	// items at every tick. It is asked once.
	Signals() bool
	// Pending is the number of values that Next would give.
	Pending(at time.Duration) int
	// Next takes out the oldest value, false when there is none.
	Next(at time.Duration, v *ua.DataValue) bool
	// SetMode is told the monitoring mode, at the beginning too. Disabled drops what is pending.
	SetMode(mode ua.MonitoringMode)
	// Resend makes Next give the last value again if nothing is pending.
	Resend()
}

// Responder sends the answer of a Publish request. It is called once for each request, with no lock
// held, by a goroutine that called Session.Publish, Manager.Run or another method; for one session by one
// after the other, in the order in which messages were made. r.Answer is valid until r is used again. A
// Responder may call Session.Publish. It releases r.Answer.Message when it has been encoded or dropped.
type Responder interface {
	Answer(r *Request)
}

// Request is a Publish request. Its memory is the caller's, who may use it again after the answer. All
// fields up to Answer are the caller's to fill in.
type Request struct {
	Responder Responder
	Handle    uint32 // RequestHandle, for Session.Cancel
	Channel   uint32 // secure channel it came over, for Session.DropChannel
	// Deadline is when the client gives up by its TimeoutHint; 0: never. The answer is BadTimeout half
	// a second later.
	Deadline         time.Duration
	Acknowledgements []ua.SubscriptionAcknowledgement

	Answer PublishAnswer
	// More is set when the answer of another request over the same channel follows at once.
	More bool

	next *Request // among those to be answered
}

// PublishAnswer is a Publish response in the making. With a Status other than Good it is a ServiceFault.
type PublishAnswer struct {
	Status            ua.StatusCode
	SubscriptionID    uint32
	Available         []uint32 // sequence numbers that Republish has; memory is used again
	MoreNotifications bool
	Message           Ref             // released by whoever answers
	Results           []ua.StatusCode // of the acknowledgements; memory is used again
}

// answers is a list of requests to be answered once all locks are released.
type answers struct{ first, last *Request }

func (a *answers) add(r *Request) {
	r.next = nil
	if a.last == nil {
		a.first = r
	} else {
		a.last.next = r
	}
	a.last = r
}

// deliver calls the Responders.
func (a *answers) deliver() {
	for r := a.first; r != nil; {
		next := r.next
		r.next = nil
		r.More = next != nil && next.Channel == r.Channel
		r.Responder.Answer(r)
		r = next
	}
	a.first, a.last = nil, nil
}
