package uaserver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/ua"
)

// sessionRule says what a service needs of the session that the request names (Part 4, 5.7).
type sessionRule uint8

const (
	noSession sessionRule = iota
	created               // the session may be not yet activated, and may be on another channel
	activated
)

// outcome is what a service says when it returns.
type outcome uint8

const (
	answered outcome = iota // the response is ready to be sent
	later                   // finish will be called
)

// service is a row of the dispatch table.
type service struct {
	name  string
	index int // in services
	rule  sessionRule
	serve func(*call) outcome
	pool  sync.Pool // of *call
}

// call is a request that is being worked on, with its response. Its memory is used again for a later
// request of the same service, so nothing of it may be kept except Variants and strings.
type call struct {
	service *service
	server  *Server
	conn    *conn
	id      uint32 // request id of the channel
	session *session
	ctx     Context
	status  ua.StatusCode // bad: the answer is a ServiceFault
	detail  string        // what a fault says beside its status, when the client wants to know
	size    int           // bytes of the request
	// reserved is what it may take in memory, in bytes of the server's room; 0 when it is small.
	reserved int

	req, resp  ua.Structure
	reqHeader  *ua.RequestHeader
	respHeader *ua.ResponseHeader
	fault      ua.ServiceFault

	// done is set by whoever answers: the service, or Cancel.
	done   atomic.Bool
	cancel context.CancelFunc

	at     time.Time // when the request was read
	parked *parked   // of Publish
	batch  batch
	reads  []ReadItem
	writes []WriteItem
	calls  []CallItem
	left   int // bytes of the response that the outputs of calls may still take
	browse browser

	monitoring monitoring
}

// numbers maps the number of a request's binary encoding to a row; those above the table are of
// services that no server but a discovery server has.
const numbers = 1024

// table has a row for each service; see services.go.
var table [numbers]*service

// services are all rows, in their order.
var services []*service

// row makes the row of a service. Q and P are its request and response.
func row[Q, P any, PQ interface {
	*Q
	ua.Structure
}, PP interface {
	*P
	ua.Structure
}](name string, rule sessionRule, reqHeader func(*Q) *ua.RequestHeader, respHeader func(*P) *ua.ResponseHeader,
	serve func(*call, *Q, *P) outcome) {
	s := &service{name: name, index: len(services), rule: rule}
	services = append(services, s)
	s.serve = func(k *call) outcome { return serve(k, (*Q)(k.req.(PQ)), (*P)(k.resp.(PP))) }
	s.pool.New = func() any {
		q, p := new(Q), new(P)
		k := &call{service: s, req: PQ(q), resp: PP(p)}
		k.reqHeader, k.respHeader = reqHeader(q), respHeader(p)
		k.browse.k = k
		return k
	}
	table[PQ(new(Q)).BinaryID().NodeID.Numeric()] = s
}

func lookup(id ua.NodeID) *service {
	if id.Namespace() == 0 && id.Type() == ua.IDTypeNumeric && id.Numeric() < numbers {
		return table[id.Numeric()]
	}
	return nil
}

// reusable is the size of a request above which its memory is left to the garbage collector.
const reusable = 1 << 20

func (k *call) release() {
	size := k.size
	k.leaveRoom()
	k.conn, k.session, k.ctx, k.cancel, k.detail, k.status = nil, nil, Context{}, nil, "", ua.Good
	k.done.Store(false)
	if size <= reusable {
		k.service.pool.Put(k)
	}
}

// leaveRoom gives back what was reserved for a large request.
func (k *call) leaveRoom() {
	if k.reserved > 0 {
		k.server.room.leave(k.reserved)
		k.reserved = 0
	}
}

// fail makes the answer a ServiceFault.
func (k *call) fail(status ua.StatusCode, detail string) outcome {
	k.status, k.detail = status, detail
	return answered
}

// dispatch decodes a request and works on it until it is answered or waits for something. Everything
// that all services have in common happens here (Part 4, 5.3).
func (c *conn) dispatch(at time.Time, requestID uint32, body []byte, mayWait bool) bool {
	r, s := &c.reader, c.server
	known := c.logins.Load() > 0
	r.Intern = nil
	if known { // strangers get no memory that lasts
		r.Intern = &c.intern
	}
	limits := s.room.limits(s.decode, len(body))
	r.Reset(body, limits)
	var typeID ua.NodeID
	typeID.DecodeBinary(r)
	row := lookup(typeID)
	reserved := 0
	if row != nil && len(body) > smallRequest {
		reserved = limits.MaxMemory
		if !s.room.enter(reserved, known, mayWait, s.ctx.Done()) {
			if !mayWait {
				return false
			}
			s.stats.requests.Add(1)
			c.refuseUnread(requestID, ua.BadServerTooBusy, "too many large requests are worked on")
			return true
		}
	}
	s.stats.requests.Add(1)
	if row == nil {
		c.refuseUnread(requestID, ua.BadServiceUnsupported, "no such service")
		return true
	}
	k := row.pool.Get().(*call)
	k.server, k.conn, k.id, k.size, k.reserved = s, c, requestID, len(body), reserved
	k.req.DecodeBinary(r)
	if err := r.Err(); err != nil {
		s.log.Warn("request cannot be decoded", "service", row.name, "remote", c.remote(), "error", err)
		c.refuse(requestID, k.reqHeader, ua.StatusOf(err), err.Error())
		k.release()
		return true
	}
	if !k.admit(at) || k.run() != later {
		k.answer()
	}
	return true
}

// admit finds the session and checks that the service may be used; else the call has failed.
func (k *call) admit(now time.Time) bool {
	k.at = now
	k.ctx = Context{Context: k.server.ctx, Now: ua.NewDateTime(now)}
	if k.service.rule == noSession {
		return true
	}
	s := k.conn.sessionOf(k.reqHeader.AuthenticationToken)
	if s == nil && k.server.stopping.Load() {
		k.fail(ua.BadServerHalted, "the server is being stopped")
		return false
	}
	if s == nil {
		k.fail(ua.BadSessionIdInvalid, "there is no such session, or it has ended")
		return false
	}
	k.session = s
	s.request(k.service)
	k.ctx.session = s
	if k.service.rule == created {
		return true
	}
	info := s.info.Load()
	switch {
	case info == nil:
		if s.bound.Load() != k.conn {
			k.fail(ua.BadSecureChannelIdInvalid, "the session belongs to another channel")
			return false
		}
		k.fail(ua.BadSessionNotActivated, "ActivateSession comes first")
		if !s.activating() { // Part 4, 5.7.3.1: using it before that ends the session
			k.server.endSession(s, true)
		}
		return false
	case s.bound.Load() != k.conn:
		k.fail(ua.BadSecureChannelIdInvalid, "the session belongs to another channel")
		return false
	}
	s.touch(now)
	k.ctx.Context, k.ctx.Session, k.ctx.LocaleIDs = s.ctx, &info.SessionInfo, info.locales
	return true
}

// run calls the service. A panic in it, which can come from a user's callback, fails the call only.
func (k *call) run() (o outcome) {
	defer k.recover(&o)
	return k.service.serve(k)
}

func (k *call) recover(o *outcome) {
	if p := recover(); p != nil {
		k.server.log.Error("panic in a service", "service", k.service.name, "panic", p, "stack", stack())
		*o = k.fail(ua.BadInternalError, "")
	}
}

// background lets work run on a goroutine of its own and answers the call afterwards. The number of
// calls that wait is limited per session.
func (k *call) background(work func(*call)) outcome {
	ctx, cancel := k.ctx.Context, context.CancelFunc(nil)
	if hint := k.reqHeader.TimeoutHint; hint > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(hint)*time.Millisecond)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	k.ctx.Context, k.ctx.MayBlock, k.cancel = ctx, true, cancel
	if s := k.session; s != nil && !s.addPending(k, k.server.cfg.Limits.MaxPendingRequests) {
		cancel()
		return k.fail(ua.BadTooManyOperations, "too many requests of this session wait for an answer")
	}
	go func() {
		var o outcome
		func() {
			defer k.recover(&o)
			work(k)
		}()
		k.finish()
	}()
	return later
}

// finish answers a call that returned later, unless Cancel did so before.
func (k *call) finish() {
	if k.session != nil {
		k.session.removePending(k)
	}
	k.cancel()
	if k.done.CompareAndSwap(false, true) {
		k.answer()
		return
	}
	k.release()
}

// answer sends the response or the fault and gives the call back.
func (k *call) answer() {
	if k.status.IsBad() {
		k.server.stats.rejected.Add(1)
		if k.session != nil {
			k.session.requestFailed(k.service, k.status)
		}
		k.conn.sendFault(k.id, k.reqHeader, &k.fault, k.status, k.detail)
		k.release()
		return
	}
	h := k.respHeader
	h.Timestamp, h.RequestHandle, h.ServiceResult = k.ctx.Now, k.reqHeader.RequestHandle, k.status
	if err := k.conn.channel.Send(k.id, k.resp); err != nil {
		status, detail, tell := k.conn.unsent(err, "the response is larger than the client takes; ask for less at a time or raise the client's limits")
		if tell {
			k.conn.sendFault(k.id, k.reqHeader, &k.fault, status, detail)
		}
	}
	h.StringTable = h.StringTable[:0]
	k.release()
}
