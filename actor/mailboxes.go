package actor

import (
	"fmt"
	"log/slog"
	"time"
)

// What Akka.NET's bounded mailboxes have where the configuration says nothing (akka.actor.default-mailbox:
// mailbox-capacity = 1000, mailbox-push-timeout-time = 10s).
const (
	DefaultMailboxCapacity = 1000
	DefaultPushTimeout     = 10 * time.Second
)

// A Mailbox is a kind of mailbox, for [Props.WithMailbox]. The zero value is the default, [UnboundedMailbox].
//
// What is wrong with a Mailbox (a capacity below 1, no priority function) is reported by Spawn.
type Mailbox struct {
	kind     mailboxKind
	capacity int
	timeout  time.Duration
	priority func(msg any) int
}

type mailboxKind uint8

const (
	unboundedBox mailboxKind = iota
	boundedBox
	priorityBox
)

// UnboundedMailbox has room for all that comes, in the order in which it comes. It is the default. It can be
// stashed from ([Context.Stash]), as all mailboxes here can: in Akka.NET that takes UnboundedDequeMailbox.
func UnboundedMailbox() Mailbox { return Mailbox{} }

// UnboundedDequeMailbox is UnboundedMailbox, under the name of Akka.NET's mailbox for actors that stash.
func UnboundedDequeMailbox() Mailbox { return Mailbox{} }

// BoundedMailbox has room for capacity messages (at least 1; the one that is being handled is not counted). A
// sender who finds it full waits for room, those who came before him first, at most for pushTimeout: then his
// message is a [DeadLetter]. A negative pushTimeout waits without end, 0 does not wait. Akka.NET's defaults are
// [DefaultMailboxCapacity] and [DefaultPushTimeout]. The waiting ends with the actor, and the message is a dead
// letter then, too.
//
// An actor that sends to itself, and finds its own mailbox full, never waits, since it is the one that would
// have to make room: the message is a dead letter at once. (Akka.NET blocks it for the push time-out.) Two
// actors that send to each other's full mailboxes do wait for each other, until the push time-out of the first:
// give mailboxes without a time-out only to actors that send to none that send to them. What the runtime sends
// by itself (timers, scheduled messages) does not wait. What must not be lost ([Terminated], [ReceiveTimeout],
// continuations, unstashed messages) takes room that is not there.
func BoundedMailbox(capacity int, pushTimeout time.Duration) Mailbox {
	return Mailbox{kind: boundedBox, capacity: capacity, timeout: pushTimeout}
}

// BoundedDequeMailbox is BoundedMailbox, under the name of Akka.NET's mailbox for actors that stash. Messages
// that are unstashed are never refused: they take room that is not there.
func BoundedDequeMailbox(capacity int, pushTimeout time.Duration) Mailbox {
	return BoundedMailbox(capacity, pushTimeout)
}

// UnboundedPriorityMailbox gives the actor the waiting message with the lowest priority first. The order of
// messages of the same priority is not promised: see [UnboundedStablePriorityMailbox].
//
// priority is called by each sender, from any goroutine and more than one at a time, when the message is sent.
// It sees all messages that are sent to the actor, [PoisonPill], [Kill], [Terminated] and [ReceiveTimeout]
// included. Where it panics the message is a dead letter, and the log says so; one that must not be lost
// (Terminated, ReceiveTimeout, a message that is unstashed) goes first instead.
func UnboundedPriorityMailbox(priority func(msg any) int) Mailbox {
	return Mailbox{kind: priorityBox, priority: priority}
}

// UnboundedStablePriorityMailbox is [UnboundedPriorityMailbox] where messages of the same priority are handled
// in the order in which they came.
func UnboundedStablePriorityMailbox(priority func(msg any) int) Mailbox {
	return UnboundedPriorityMailbox(priority) // the order of arrival costs nothing that could be saved
}

// check reports what is wrong with it.
func (m Mailbox) check() error {
	switch {
	case m.kind == boundedBox && m.capacity < 1:
		return fmt.Errorf("actor: a mailbox cannot have a capacity of %d: it needs room for 1 message at least", m.capacity)
	case m.kind == priorityBox && m.priority == nil:
		return fmt.Errorf("actor: a priority mailbox needs a priority function")
	}
	return nil
}

// make makes the queue of one actor, nil for the default.
func (m Mailbox) make() messageQueue {
	switch m.kind {
	case boundedBox:
		return &boundedQueue{limit: m.capacity, timeout: m.timeout}
	case priorityBox:
		return &priorityQueue{priority: m.priority}
	}
	return nil
}

// deque is a queue with two ends.
type deque struct {
	buf        []envelope // its length is a power of two
	head, size int
}

func (d *deque) len() int { return d.size }

func (d *deque) grow() {
	if d.size == len(d.buf) {
		buf := make([]envelope, max(8, 2*len(d.buf)))
		n := copy(buf, d.buf[d.head:])
		copy(buf[n:], d.buf[:d.head])
		d.buf, d.head = buf, 0
	}
}

func (d *deque) pushBack(e envelope) {
	d.grow()
	d.buf[(d.head+d.size)&(len(d.buf)-1)] = e
	d.size++
}

func (d *deque) pushFirst(e envelope) {
	d.grow()
	d.head = (d.head - 1) & (len(d.buf) - 1)
	d.buf[d.head] = e
	d.size++
}

func (d *deque) popFirst() (e envelope, ok bool) {
	if d.size == 0 {
		return e, false
	}
	e, d.buf[d.head] = d.buf[d.head], envelope{}
	d.head = (d.head + 1) & (len(d.buf) - 1)
	if d.size--; d.size == 0 && len(d.buf) > keep {
		*d = deque{}
	}
	return e, true
}

// boundedQueue is a bounded mailbox. While senders wait it is full: whoever makes room fills it with the
// message of the first of them, so that none is overtaken.
type boundedQueue struct {
	deque
	limit       int
	timeout     time.Duration
	first, last *pusher
	spare       *pusher // for senders to come
	spares      int
}

// pusher is a sender who waits for room.
type pusher struct {
	c          *cell
	e          envelope
	next, prev *pusher
	waiting    bool
	until      time.Time // the end of the push time-out
	alarm      Alarm
	done       chan bool // whether there was room in time
}

const maxSpares = 16

func (q *boundedQueue) push(e envelope, _ int, must bool) bool {
	if q.size >= q.limit && !must {
		return false
	}
	q.pushBack(e)
	return true
}

func (q *boundedQueue) pushFront(e envelope, _ int) { q.pushFirst(e) }

func (q *boundedQueue) pop() (e envelope, ok bool) {
	e, ok = q.popFirst()
	for q.first != nil && q.size < q.limit {
		p := q.first
		q.pushBack(p.e)
		q.release(p, true)
	}
	return e, ok
}

func (q *boundedQueue) waits() bool { return q.timeout != 0 }

func (q *boundedQueue) wait(c *cell, e envelope) (ok bool) {
	p := q.spare
	if p != nil {
		q.spare, p.next = p.next, nil
		q.spares--
	} else {
		p = &pusher{c: c, done: make(chan bool, 1)}
	}
	p.e, p.waiting = e, true
	if p.prev = q.last; p.prev == nil {
		q.first = p
	} else {
		p.prev.next = p
	}
	q.last = p
	if q.timeout > 0 {
		p.until = c.ref.sys.clock.Now().Add(q.timeout)
	}
	c.mu.Unlock()
	if q.timeout > 0 {
		if p.alarm == nil {
			p.alarm = c.ref.sys.clock.NewAlarm(func() { p.late(q) })
		}
		p.alarm.Set(p.until)
	}
	ok = <-p.done
	if p.alarm != nil {
		p.alarm.Stop()
	}
	c.mu.Lock()
	if q.spares < maxSpares {
		p.next, q.spare = q.spare, p
		q.spares++
	}
	c.mu.Unlock()
	return ok
}

// late is the end of the push time-out. It may be called late, for a sender who has stopped waiting, or again.
func (p *pusher) late(q *boundedQueue) {
	now := p.c.ref.sys.clock.Now()
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if p.waiting && !now.Before(p.until) {
		q.release(p, false)
	}
}

// release ends the waiting of p.
func (q *boundedQueue) release(p *pusher, ok bool) {
	if p.prev == nil {
		q.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		q.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.next, p.prev, p.e, p.waiting = nil, nil, envelope{}, false
	p.done <- ok
}

// priorityQueue is a heap.
type priorityQueue struct {
	priority      func(any) int
	heap          []ranked
	newest, front int64 // the last place at the end and at the front
}

// ranked is a message with its place in the order.
type ranked struct {
	rank  int
	place int64 // among those of its rank
	e     envelope
}

func (r *ranked) before(o *ranked) bool {
	return r.rank < o.rank || r.rank == o.rank && r.place < o.place
}

func (q *priorityQueue) len() int { return len(q.heap) }

func (q *priorityQueue) push(e envelope, rank int, _ bool) bool {
	q.newest++
	q.add(ranked{rank, q.newest, e})
	return true
}

func (q *priorityQueue) pushFront(e envelope, rank int) {
	q.front--
	q.add(ranked{rank, q.front, e})
}

func (q *priorityQueue) add(r ranked) {
	q.heap = append(q.heap, r)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !r.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = r
}

func (q *priorityQueue) pop() (e envelope, ok bool) {
	n := len(q.heap) - 1
	if n < 0 {
		return e, false
	}
	e = q.heap[0].e
	r := q.heap[n]
	q.heap[n] = ranked{}
	q.heap = q.heap[:n]
	if n == 0 {
		if cap(q.heap) > keep {
			q.heap = nil
		}
		return e, true
	}
	h := q.heap
	i := 0
	for {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1].before(&h[down]) {
			down++
		}
		if !h[down].before(&r) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = r
	return e, true
}

// rank asks the user's function, without any lock. Where that fails, the message is dealt with.
func (q *priorityQueue) rank(c *cell, e envelope) (rank int, ok bool) {
	defer func() {
		if ok {
			return
		}
		err := errGoexit
		if r := recover(); r != nil {
			err = panicError(r)
		}
		c.ref.sys.logLimited(slog.LevelError, "the priority function of a mailbox failed", slog.String("actor", c.ref.path),
			slog.String("message", fmt.Sprintf("%T", unwrapped(e.msg))), slog.Any("error", err))
	}()
	return q.priority(unwrapped(e.msg)), true
}

// unwrapped is the message as the actor will see it, of one that the runtime has wrapped.
func unwrapped(msg any) any {
	if w, ok := msg.(interface{ unwrap() any }); ok {
		return w.unwrap()
	}
	return msg
}
