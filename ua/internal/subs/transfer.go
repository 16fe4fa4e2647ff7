package subs

import (
	"github.com/actua/actua/ua"
)

// Transfer is a subscription on its way to another session (Part 4, 5.14.7). Between BeginTransfer and
// Commit or Rollback, one of which must come, it is claimed: its timer stands still, no parked request gets
// it, and nothing is lost.
type Transfer struct {
	m   *Manager
	sub *Subscription
	to  *Session
}

// BeginTransfer claims a subscription for a session. The status is BadSubscriptionIdInvalid for an
// unknown one, BadNothingToDo when the session has it already, BadInvalidState when another transfer
// has claimed it. The caller then checks the user, see Owner, and prepares what it has to, with no lock held.
func (m *Manager) BeginTransfer(now Now, to *Session, id uint32) (*Transfer, ua.StatusCode) {
	sub := m.Find(id)
	if sub == nil {
		return nil, ua.BadSubscriptionIdInvalid
	}
	sub.mu.Lock()
	defer sub.mu.Unlock()
	sub.counter.transfers++
	switch {
	case sub.closed:
		return nil, ua.BadSubscriptionIdInvalid
	case sub.session.Load() == to:
		sub.touch(now) // row 22
		return nil, ua.BadNothingToDo
	case sub.claimed:
		return nil, ua.BadInvalidState
	}
	sub.claimed = true
	sub.asleep.Store(false)
	return &Transfer{m, sub, to}, ua.Good
}

// Owner is the tag of the session that has the subscription, or had it last. Another user than its is to
// be refused BadUserAccessDenied, and an anonymous one on a channel without security.
func (t *Transfer) Owner() any {
	t.sub.mu.Lock()
	defer t.sub.mu.Unlock()
	return t.sub.owner
}

// Subscription is the one that is transferred.
func (t *Transfer) Subscription() *Subscription { return t.sub }

// lock takes the locks of both sessions, in their order, and of the subscription.
func (t *Transfer) lock() (from *Session, unlock func()) {
	for {
		from = t.sub.session.Load()
		first, second := from, t.to
		if first.number > second.number {
			first, second = second, first
		}
		first.mu.Lock()
		if first != second {
			second.mu.Lock()
		}
		unlock = func() {
			if first != second {
				second.mu.Unlock()
			}
			first.mu.Unlock()
		}
		if t.sub.session.Load() == from {
			return from, unlock
		}
		unlock()
	}
}

// Commit moves the subscription, and appends to available the numbers of the messages that it has sent. The
// old session is told GoodSubscriptionTransferred; that message has the number the next one will have,
// and does not use it up, so that the new session sees no gap. With sendInitialValues each reporting
// item for values reports its last one, if none waits. On a status other than Good nothing has changed:
// BadSubscriptionIdInvalid (deleted meanwhile), BadSessionClosed, BadTooManySubscriptions.
func (t *Transfer) Commit(now Now, sendInitialValues, sameClient bool, available []uint32) ([]uint32, ua.StatusCode) {
	from, unlock := t.lock()
	sub, to := t.sub, t.to
	sub.mu.Lock()
	status := ua.Good
	switch {
	case sub.closed:
		status = ua.BadSubscriptionIdInvalid
	case to.closed:
		status = ua.BadSessionClosed
	case len(to.subs) >= t.m.cfg.Limits.MaxSubscriptionsPerSession:
		status = ua.BadTooManySubscriptions
	}
	sub.claimed = false
	if status == ua.Good {
		from.unwant(sub)
		delete(from.subs, sub.id)
		if from != t.m.orphans {
			from.tell(statusChange{sub.id, sub.sent.Announced(), ua.GoodSubscriptionTransferred})
		}
		to.subs[sub.id] = sub
		sub.session.Store(to)
		sub.owner = to.tag
		sub.turn = 0
		sub.enabled = sub.enabled || sub.held
		sub.held = false
		if sameClient {
			sub.counter.toSame++
		} else {
			sub.counter.toAlternate++
		}
		sub.touch(now)
		if sendInitialValues {
			sub.resendAll()
		}
		available = sub.sent.Available(available)
		t.settle(now, to)
	} else if !sub.closed {
		t.settle(now, from)
	}
	sub.mu.Unlock()
	from.serve(now)
	if from != to {
		to.serve(now)
	}
	unlock()
	from.deliver()
	to.deliver()
	return available, status
}

// Rollback gives the claim up: the subscription goes on where it was.
func (t *Transfer) Rollback(now Now) {
	from, unlock := t.lock()
	sub := t.sub
	sub.mu.Lock()
	sub.claimed = false
	if !sub.closed {
		t.settle(now, from)
	}
	sub.mu.Unlock()
	from.serve(now)
	unlock()
	from.deliver()
}

// settle lets the subscription go on in a session.
func (t *Transfer) settle(now Now, in *Session) {
	if t.sub.waiting {
		in.want(t.sub)
	}
	t.sub.settle(in, now)
}
