package subs

import (
	"slices"

	"github.com/actua/actua/ua"
)

// produce answers a Publish request with what the subscription has to send (1.5); false when there is
// nothing, and the request stays where it is. Locks of session and subscription are held.
func (s *Subscription) produce(now Now, a *PublishAnswer) bool {
	more := false
	switch {
	case s.closed || s.claimed:
		return false
	case s.enabled && s.sent.Unsent() > 0:
		s.sent.Dequeue(&a.Message)
		more = s.sent.Unsent() > 0 || len(s.publish) > 0
	default:
		if s.enabled {
			if s.late {
				s.collect(now.At) // what has come since counts, row 10
			}
			s.build(now)
		}
		switch {
		case len(s.built) > 0:
			more = s.sent.Enqueue(s.built, &a.Message) || len(s.publish) > 0
			clear(s.built)
			s.built = s.built[:0]
		case s.late || s.tickAt(now.At) >= s.aliveAt:
			m := s.m.cfg.Pools.NewMessage()
			m.SequenceNumber, m.PublishTime = s.sent.Announced(), now.Wall
			a.Message.Adopt(m)
			s.trim()
		default:
			s.waiting = false
			return false
		}
	}
	a.Status, a.SubscriptionID, a.MoreNotifications = ua.Good, s.id, more
	a.Available = s.sent.Available(a.Available[:0])
	s.counter.publishes++
	s.served(now, more)
	return true
}

// build makes messages of what the items to publish have, and puts them into s.built.
func (s *Subscription) build(now Now) {
	if len(s.publish) == 0 {
		return
	}
	limit := int(s.p.MaxNotificationsPerPublish)
	if len(s.publish) <= limit && s.buildPlain(now) {
		return
	}
	most := max(s.sent.Max()-2, 1) // messages that one call makes
	data, events := 0, 0           // of the scratch, already in messages
	kept := s.publish[:0]
	for n, i := range s.publish {
		// What is dropped for want of room in the queue was never sent, and nobody could have it again.
		room := (s.sent.Max()-len(s.built))*limit - (len(s.data) - data + len(s.events) - events)
		if len(s.built) >= most || room <= 0 {
			kept = append(kept, s.publish[n:]...)
			break
		}
		if s.drain(i, now, min(3*limit, room)) {
			kept = append(kept, i)
		}
		for len(s.data)-data+len(s.events)-events > limit {
			data, events = s.message(now, data, events, limit)
		}
		if data+events > 4*limit { // or the scratch would be as long as all of them together
			s.data, s.events = slices.Delete(s.data, 0, data), slices.Delete(s.events, 0, events)
			data, events = 0, 0
		}
	}
	for data < len(s.data) || events < len(s.events) {
		data, events = s.message(now, data, events, limit)
	}
	clear(s.publish[len(kept):])
	s.publish = kept
	clear(s.data)
	clear(s.events)
	s.data, s.events = s.data[:0], s.events[:0]
}

// buildPlain is build when every item to publish has one value and no queue, as is most common: the
// notifications are made where they belong. False: some item is different, and nothing has been done.
func (s *Subscription) buildPlain(now Now) bool {
	n := len(s.publish)
	for _, i := range s.publish {
		if i.ext != nil { // set by calls that hold the subscription's lock
			return false
		}
	}
	m := s.m.cfg.Pools.NewMessage()
	data := m.RentData(n)
	for k, i := range s.publish {
		if !i.takePlain(&data[k]) {
			// Those before it have been taken: build goes on with them in the scratch.
			s.data = append(s.data, data[:k]...)
			m.release()
			s.publish = append(s.publish[:0], s.publish[k:]...)
			clear(s.publish[n-k : n])
			return false
		}
	}
	m.SequenceNumber, m.PublishTime = s.sent.NextNumber(), now.Wall
	s.counter.dataChanges += uint32(n)
	s.built = append(s.built, m)
	clear(s.publish)
	s.publish = s.publish[:0]
	return true
}

// takePlain takes the one value of an item without a queue, which leaves the list of items to publish. It
// reports whether the item is such a one.
func (i *Item) takePlain(n *ua.MonitoredItemNotification) bool {
	i.mu.Lock()
	if i.ring != nil && i.ring.n > 0 || i.mode != ua.MonitoringModeReporting || i.flags&(single|early|gone|resend) != single {
		i.mu.Unlock()
		return false
	}
	n.ClientHandle, n.Value = i.handle, i.value
	if i.stamps != uint8(ua.TimestampsToReturnBoth) {
		strip(&n.Value, ua.TimestampsToReturn(i.stamps))
	}
	i.flags &^= single | triggered
	i.place = nowhere
	i.signal.Store(free) // and nothing can have come: the item is locked
	i.mu.Unlock()
	return true
}

// message makes one of at most limit notifications of the scratch, events first, and says where the
// next begins.
func (s *Subscription) message(now Now, data, events, limit int) (int, int) {
	m := s.m.cfg.Pools.NewMessage()
	m.SequenceNumber, m.PublishTime = s.sent.NextNumber(), now.Wall
	n := min(len(s.events)-events, limit)
	copy(m.RentEvents(n), s.events[events:events+n])
	d := min(len(s.data)-data, limit-n)
	copy(m.RentData(d), s.data[data:data+d])
	s.counter.events += uint32(n)
	s.counter.dataChanges += uint32(d)
	s.built = append(s.built, m)
	return data + d, events + n
}

// drain takes up to limit notifications of an item into the scratch. It reports whether the item stays in
// the list, with more; otherwise it has left it.
func (s *Subscription) drain(i *Item, now Now, limit int) bool {
	i.mu.Lock()
	more := i.judge(now.At) == ready && s.drainSlow(i, now, limit)
	if !more {
		i.place = nowhere
		i.signal.Store(free)
	}
	left := !more && (i.judge(now.At) != idle || i.flags&readyTrigger != 0 && i.ext != nil && len(i.ext.links) > 0)
	i.mu.Unlock()
	if left {
		s.mark(i)
	}
	return more
}

// take adds a notification to the scratch.
func (s *Subscription) take(i *Item, v *ua.DataValue) {
	s.data = append(s.data, ua.MonitoredItemNotification{ClientHandle: i.handle, Value: *v})
	if stamps := ua.TimestampsToReturn(i.stamps); stamps != ua.TimestampsToReturnBoth {
		strip(&s.data[len(s.data)-1].Value, stamps)
	}
}

// drainSlow is drain for an item that is ready, of any kind. It reports whether more is left.
func (s *Subscription) drainSlow(i *Item, now Now, limit int) bool {
	x := i.ext
	again := i.flags&resend != 0
	i.flags &^= resend
	if x != nil && x.events != nil {
		for ; limit > 0; limit-- {
			fields, ok := x.queue.next(x.events, i.flags&discardOldest != 0)
			if !ok {
				break
			}
			s.events = append(s.events, ua.EventFieldList{ClientHandle: i.handle, EventFields: fields})
		}
	} else {
		if again && i.pending(now.At) == 0 && i.flags&hasValue != 0 {
			s.take(i, &i.value)
		}
		for v := &s.taken; limit > 0 && i.takeNext(now.At, v); limit-- {
			s.take(i, v)
		}
	}
	more := i.pending(now.At) > 0 && limit == 0
	if !more {
		i.flags &^= triggered
	}
	return more
}
