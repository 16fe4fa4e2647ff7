package uaserver

import (
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/subs"
	"github.com/actua/actua/ua/uabin"
)

// parked is a Publish request that waits: no goroutine does so for it. It belongs to its call.
type parked struct {
	subs.Request
	call   *call
	answer publishResponse
}

// publish is the service Publish (Part 4, 5.14.5).
func publish(k *call, q *ua.PublishRequest, p *ua.PublishResponse) outcome {
	x := k.session.subscriptions()
	if x == nil {
		return k.fail(ua.BadNoSubscription, "the session has no subscription")
	}
	if len(q.SubscriptionAcknowledgements) > k.server.cfg.Limits.MaxMonitoredItemsPerCall {
		return k.fail(ua.BadTooManyOperations, "too many acknowledgements in one request")
	}
	// While it waits it holds nothing of a large request, nor the room for one.
	k.reqHeader.AdditionalHeader, k.reqHeader.AuditEntryID = ua.ExtensionObject{}, ""
	k.leaveRoom()
	r := k.parked
	if r == nil {
		r = &parked{call: k}
		r.Responder = r
		k.parked = r
	}
	r.Handle, r.Channel, r.Deadline = k.reqHeader.RequestHandle, k.conn.channel.ChannelID(), 0
	now := k.now()
	if hint := k.reqHeader.TimeoutHint; hint > 0 {
		r.Deadline = now.At + time.Duration(hint)*time.Millisecond
	}
	r.Acknowledgements = q.SubscriptionAcknowledgements
	s, c := k.session, k.conn
	x.Publish(now, &r.Request) // and the call may be another's
	if s.bound.Load() != c {
		x.DropChannel(now, c.channel.ChannelID()) // it has moved meanwhile
	}
	return later
}

// Answer implements subs.Responder.
func (r *parked) Answer(*subs.Request) {
	k, a := r.call, &r.Request.Answer
	if a.Status.IsBad() {
		k.fail(a.Status, "")
		k.answer()
		return
	}
	s, p := k.server, k.resp.(*ua.PublishResponse)
	p.ResponseHeader.Timestamp = ua.NewDateTime(s.now())
	p.ResponseHeader.RequestHandle, p.ResponseHeader.ServiceResult = k.reqHeader.RequestHandle, ua.Good
	p.SubscriptionID, p.AvailableSequenceNumbers, p.MoreNotifications = a.SubscriptionID, a.Available, a.MoreNotifications
	p.Results = a.Results
	p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, p.Results)
	m := a.Message.Message()
	if see := s.cfg.InterceptPublish; see != nil {
		m.NotificationMessage(&p.NotificationMessage)
		k.intercept(see, p)
		subs.ForgetView(&p.NotificationMessage)
	}
	r.answer = publishResponse{p, m}
	var err error
	if r.More {
		err = k.conn.channel.SendLater(k.id, &r.answer)
	} else {
		err = k.conn.channel.Send(k.id, &r.answer)
	}
	r.answer = publishResponse{}
	if err != nil {
		status, detail, tell := k.conn.unsent(err, "a notification message is larger than the client takes; ask for fewer notifications in one")
		if tell {
			k.conn.sendFault(k.id, k.reqHeader, &k.fault, status, detail)
		}
	}
	p.ResponseHeader.StringTable = p.ResponseHeader.StringTable[:0]
	p.AvailableSequenceNumbers, p.Results = nil, nil
	a.Message.Release() // before the call, and with it the request, is used again
	k.release()
}

// intercept shows a response to the interceptor. One that panics is left out: others wait for their answers.
func (k *call) intercept(see func(*SessionInfo, *ua.PublishResponse), p *ua.PublishResponse) {
	defer func() {
		if e := recover(); e != nil {
			k.server.log.Error("panic in InterceptPublish", "panic", e, "stack", stack())
		}
	}()
	see(&k.session.info.Load().SessionInfo, p)
}

// publishResponse is a PublishResponse whose message is encoded by those who share it.
type publishResponse struct {
	*ua.PublishResponse
	message *subs.Message
}

// AppendBinary implements ua.Structure: the fields of PublishResponse in their order (Part 4, 5.14.5.2).
func (p *publishResponse) AppendBinary(b []byte) []byte {
	b = p.ResponseHeader.AppendBinary(b)
	b = uabin.AppendUint32(b, p.SubscriptionID)
	b = uabin.AppendLen(b, len(p.AvailableSequenceNumbers), p.AvailableSequenceNumbers == nil)
	for _, n := range p.AvailableSequenceNumbers {
		b = uabin.AppendUint32(b, n)
	}
	b = uabin.AppendBool(b, p.MoreNotifications)
	b = p.message.AppendBinary(b)
	b = uabin.AppendLen(b, len(p.Results), p.Results == nil)
	for _, r := range p.Results {
		b = uabin.AppendUint32(b, uint32(r))
	}
	b = uabin.AppendLen(b, len(p.DiagnosticInfos), p.DiagnosticInfos == nil)
	for i := range p.DiagnosticInfos {
		b = p.DiagnosticInfos[i].AppendBinary(b)
	}
	return b
}

// republish is the service Republish (Part 4, 5.14.6).
func republish(k *call, q *ua.RepublishRequest, p *ua.RepublishResponse) outcome {
	sub, x := k.subscription(q.SubscriptionID)
	if sub == nil {
		return k.fail(ua.BadSubscriptionIdInvalid, "the session has no such subscription")
	}
	var held subs.Ref
	if status := sub.Republish(k.now(), x, q.RetransmitSequenceNumber, &held); status != ua.Good {
		return k.fail(status, "")
	}
	defer held.Release()
	p.ResponseHeader.Timestamp = k.ctx.Now
	p.ResponseHeader.RequestHandle, p.ResponseHeader.ServiceResult = k.reqHeader.RequestHandle, ua.Good
	if err := k.conn.channel.Send(k.id, &republishResponse{p, held.Message()}); err != nil {
		if status, detail, tell := k.conn.unsent(err, "the notification message is larger than the client takes"); tell {
			return k.fail(status, detail)
		}
	}
	k.release()
	return later
}

// republishResponse is to RepublishResponse what publishResponse is to PublishResponse.
type republishResponse struct {
	*ua.RepublishResponse
	message *subs.Message
}

// AppendBinary implements ua.Structure.
func (p *republishResponse) AppendBinary(b []byte) []byte {
	return p.message.AppendBinary(p.ResponseHeader.AppendBinary(b))
}
