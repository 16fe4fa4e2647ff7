package uaserver

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
)

// now is when the request was received.
func (k *call) now() subs.Now { return k.server.clock(k.at) }

// subscriptions are what the session has in the publish path; nil before its first subscription.
func (s *session) subscriptions() *subs.Session { return s.subs.Load() }

// openSubscriptions makes that, nil if the session has ended.
func (s *session) openSubscriptions(m *subs.Manager) *subs.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs.Load() == nil && !s.ended.Load() {
		s.subs.Store(m.OpenSession(s))
	}
	return s.subs.Load()
}

// subscription finds one of the session's; nil if there is none of this id.
func (k *call) subscription(id uint32) (*subs.Subscription, *subs.Session) {
	x := k.session.subscriptions()
	if x == nil {
		return nil, nil
	}
	return k.server.subs.Subscription(x, id), x
}

// createSubscription is the service CreateSubscription (Part 4, 5.14.2).
func createSubscription(k *call, q *ua.CreateSubscriptionRequest, p *ua.CreateSubscriptionResponse) outcome {
	x := k.session.openSubscriptions(k.server.subs)
	if x == nil {
		return k.fail(ua.BadSessionClosed, "")
	}
	sub, status := k.server.subs.Create(k.now(), x, subs.Params{
		PublishingInterval: q.RequestedPublishingInterval, LifetimeCount: q.RequestedLifetimeCount,
		MaxKeepAliveCount: q.RequestedMaxKeepAliveCount, MaxNotificationsPerPublish: q.MaxNotificationsPerPublish, Priority: q.Priority,
	}, q.PublishingEnabled)
	if status != ua.Good {
		return k.fail(status, "as many subscriptions as a session may have")
	}
	k.server.stats.subscriptionsCreated.Add(1)
	r := sub.Params()
	p.SubscriptionID = sub.ID()
	p.RevisedPublishingInterval, p.RevisedLifetimeCount, p.RevisedMaxKeepAliveCount = r.Milliseconds(), r.LifetimeCount, r.MaxKeepAliveCount
	return answered
}

// modifySubscription is the service ModifySubscription (Part 4, 5.14.3).
func modifySubscription(k *call, q *ua.ModifySubscriptionRequest, p *ua.ModifySubscriptionResponse) outcome {
	sub, x := k.subscription(q.SubscriptionID)
	if sub == nil {
		return k.fail(ua.BadSubscriptionIdInvalid, "the session has no such subscription")
	}
	r, status := sub.Modify(k.now(), x, subs.Params{
		PublishingInterval: q.RequestedPublishingInterval, LifetimeCount: q.RequestedLifetimeCount,
		MaxKeepAliveCount: q.RequestedMaxKeepAliveCount, MaxNotificationsPerPublish: q.MaxNotificationsPerPublish, Priority: q.Priority,
	})
	if status != ua.Good {
		return k.fail(status, "")
	}
	p.RevisedPublishingInterval, p.RevisedLifetimeCount, p.RevisedMaxKeepAliveCount = r.Milliseconds(), r.LifetimeCount, r.MaxKeepAliveCount
	return answered
}

// eachSubscription does something with each of the subscriptions that a request names.
func (k *call) eachSubscription(ids []uint32, results []ua.StatusCode, do func(sub *subs.Subscription, x *subs.Session) ua.StatusCode) (_ []ua.StatusCode, ok bool) {
	if len(ids) == 0 {
		k.fail(ua.BadNothingToDo, "SubscriptionIds is empty")
		return nil, false
	}
	if len(ids) > k.server.cfg.Limits.MaxMonitoredItemsPerCall {
		k.fail(ua.BadTooManyOperations, "")
		return nil, false
	}
	results = results[:0]
	for _, id := range ids {
		sub, x := k.subscription(id)
		if sub == nil {
			results = append(results, ua.BadSubscriptionIdInvalid)
			continue
		}
		results = append(results, do(sub, x))
	}
	return results, true
}

// setPublishingMode is the service SetPublishingMode (Part 4, 5.14.4).
func setPublishingMode(k *call, q *ua.SetPublishingModeRequest, p *ua.SetPublishingModeResponse) outcome {
	var ok bool
	p.Results, ok = k.eachSubscription(q.SubscriptionIDs, p.Results, func(sub *subs.Subscription, x *subs.Session) ua.StatusCode {
		return sub.SetPublishing(k.now(), x, q.PublishingEnabled)
	})
	if ok {
		p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, p.Results)
	}
	return answered
}

// deleteSubscriptions is the service DeleteSubscriptions (Part 4, 5.14.8).
func deleteSubscriptions(k *call, q *ua.DeleteSubscriptionsRequest, p *ua.DeleteSubscriptionsResponse) outcome {
	var ok bool
	p.Results, ok = k.eachSubscription(q.SubscriptionIDs, p.Results, func(sub *subs.Subscription, x *subs.Session) ua.StatusCode {
		return k.server.subs.Delete(k.now(), x, sub.ID())
	})
	if ok {
		p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, p.Results)
	}
	return answered
}

// transferSubscriptions is the service TransferSubscriptions (Part 4, 5.14.7).
func transferSubscriptions(k *call, q *ua.TransferSubscriptionsRequest, p *ua.TransferSubscriptionsResponse) outcome {
	switch n := len(q.SubscriptionIDs); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "SubscriptionIds is empty")
	case n > k.server.cfg.Limits.MaxMonitoredItemsPerCall:
		return k.fail(ua.BadTooManyOperations, "")
	}
	x := k.session.openSubscriptions(k.server.subs)
	if x == nil {
		return k.fail(ua.BadSessionClosed, "")
	}
	p.Results = append(p.Results[:0], make([]ua.TransferResult, len(q.SubscriptionIDs))...)
	for i, id := range q.SubscriptionIDs {
		r := &p.Results[i]
		r.AvailableSequenceNumbers, r.StatusCode = k.transfer(x, id, q.SendInitialValues)
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), func(_ *call, i int) ua.StatusCode { return p.Results[i].StatusCode })
	return answered
}

// transfer moves one subscription to the session of the call: to the same user only, and for an anonymous one
// only where the client is known by its certificate.
func (k *call) transfer(x *subs.Session, id uint32, sendInitialValues bool) ([]uint32, ua.StatusCode) {
	t, status := k.server.subs.BeginTransfer(k.now(), x, id)
	if status != ua.Good {
		return nil, status
	}
	owner, _ := t.Owner().(*session)
	me := k.session.info.Load()
	same := false
	if owner != nil {
		if was := owner.info.Load(); was != nil {
			same = was.Client.ApplicationURI == me.Client.ApplicationURI
			if was.User != me.User || was.Anonymous() && !k.mayTakeOver(was) {
				t.Rollback(k.now())
				return nil, ua.BadUserAccessDenied
			}
		}
	}
	available, status := t.Commit(k.now(), sendInitialValues, same, nil)
	if status == ua.Good {
		k.server.rehome(t.Subscription(), x, k.now())
	}
	return available, status
}

// mayTakeOver reports whether an anonymous client is the one that had the session: by its certificate. The
// standard wants a channel that is signed at least (Part 4, 5.14.7).
func (k *call) mayTakeOver(was *login) bool {
	return k.session.security.mode != ua.MessageSecurityModeNone && string(was.Certificate) == string(k.session.certificate)
}
