package remote

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
	"github.com/actua/actua/actor/internal/assoc"
)

// association is all that there is between this system and one other address. What is decided is decided by its
// assoc.Remote; here is what carries it out.
//
// Locks: a connection's pmu, then mu, then the connection's mu. What may call code of others (dead letters, events,
// system messages for actors) happens with none of them held; inOrder keeps the system messages in order meanwhile.
type association struct {
	r    *Remoting
	addr actor.Address
	name string // text of addr

	writer atomic.Pointer[conn] // to write ordinary messages on; nil: ask the state

	inOrder sync.Mutex

	mu    sync.Mutex
	state *assoc.Remote[message, systemIn]
	conns map[assoc.ConnID]*conn
	dials map[assoc.ConnID]context.CancelFunc
	acts  []action
	nacks []assoc.SeqNo
	seqs  []uint64
	next  time.Duration
	alarm *actor.Cancelable
}

// systemIn is a system message that has come, with its receiver.
type systemIn struct {
	to   *actor.Ref
	m    actor.SystemMessage
	bare bool // the receiver's path came without a uid
}

type action = assoc.Action[message, systemIn]

func newAssociation(r *Remoting, addr actor.Address) *association {
	return &association{
		r: r, addr: addr, name: addr.String(), next: assoc.Never,
		state: assoc.NewRemote[message, systemIn](&r.low, r.now()),
		conns: make(map[assoc.ConnID]*conn), dials: make(map[assoc.ConnID]context.CancelFunc),
	}
}

// Address is the address of the node.
func (a *association) Address() actor.Address { return a.addr }

// Tell sends an ordinary message.
func (a *association) Tell(to *actor.Ref, msg any, sender *actor.Ref, t actor.Turn) {
	if w := a.writer.Load(); w != nil && !w.ackDue.Load() {
		switch err := w.send(to, msg, sender, assoc.Unsequenced, nil, t); err {
		case nil:
			return
		case errClosed: // its end is about to be told
		default:
			a.r.undeliverable(to, msg, sender, err)
			return
		}
	}
	m := message{to: to, body: msg, sender: sender}
	a.do(func(now time.Duration, acts []action) []action { return a.state.Send(now, m, acts) })
}

// TellSystem sends a system message.
func (a *association) TellSystem(to *actor.Ref, m actor.SystemMessage) {
	switch m.Kind {
	case actor.SystemWatch:
		if a.r.watcher.watch(m.Ref, m.Watcher) {
			return
		}
	case actor.SystemUnwatch:
		if a.r.watcher.unwatch(m.Ref, m.Watcher) {
			return
		}
	}
	a.sendSystem(to, m)
}

func (a *association) sendSystem(to *actor.Ref, m actor.SystemMessage) {
	out := message{to: to, system: m}
	a.do(func(now time.Duration, acts []action) []action { return a.state.SendSystem(now, out, acts) })
}

// do lets the state decide, and carries it out.
func (a *association) do(f func(now time.Duration, acts []action) []action) {
	a.mu.Lock()
	a.finish(f(a.r.now(), a.acts[:0]))
}

// finish carries out what the state wants, and gives the lock back before it does what may call others.
func (a *association) finish(acts []action) {
	var later []action
	for i := range acts {
		x := &acts[i]
		switch x.Do {
		case assoc.Dial:
			a.dial(x)
		case assoc.Write:
			if err := a.write(x); err != nil {
				y := *x
				y.Do, y.Why = assoc.DeadLetter, whyLost(err)
				a.r.logLost(a, &y.Out, err)
				if y.Out.body != nil {
					later = append(later, y)
				}
			}
		case assoc.WriteAck:
			if c := a.conns[x.Conn]; c != nil {
				c.pureAck(a.ackInfo(x.Ack))
			}
		case assoc.Disassociate:
			if cancel := a.dials[x.Conn]; cancel != nil {
				delete(a.dials, x.Conn)
				cancel()
			}
			later = append(later, *x)
		default:
			later = append(later, *x)
		}
	}
	conns := make([]*conn, len(later))
	for i := range later {
		conns[i] = a.conns[later[i].Conn]
	}
	clear(acts)
	a.acts = acts[:0]
	a.writer.Store(a.conns[a.state.Writer()])
	for id, c := range a.conns {
		c.ackDue.Store(a.state.AckDue(id))
	}
	a.setAlarm()
	a.mu.Unlock()
	for i := range later {
		a.after(&later[i], conns[i])
	}
}

// whyLost is why a message was not written.
func whyLost(err error) assoc.Why {
	switch err {
	case errClosed:
		return assoc.WhyDisassociated
	case errFull:
		return assoc.WhyOverflow
	}
	return assoc.WhyUnwritable
}

// after does what may call others.
func (a *association) after(x *action, c *conn) {
	switch x.Do {
	case assoc.Attach:
		if c != nil {
			c.attach()
		}
	case assoc.Disassociate:
		if c != nil {
			c.disassociate(x.Reason)
		}
	case assoc.Deliver:
		a.r.deliverSystem(x.In)
	case assoc.DeadLetter:
		a.r.deadLetter(&x.Out, x.Why.String())
	case assoc.Publish:
		a.publish(x, c)
	}
}

// write encodes one message, with the acknowledgement that waits for it.
func (a *association) write(x *action) error {
	c := a.conns[x.Conn]
	if c == nil {
		return errClosed
	}
	var info *akkapb.AcknowledgementInfo
	if ack, ok := a.state.TakeAck(x.Conn, a.nacks[:0]); ok {
		info = a.ackInfo(ack)
	}
	body := x.Out.body
	if body == nil {
		body = a.r.wireSystem(&x.Out.system)
	}
	return c.send(x.Out.to, body, x.Out.sender, x.Seq, info, actor.Turn{})
}

func (a *association) ackInfo(k assoc.Ack) *akkapb.AcknowledgementInfo {
	a.seqs = a.seqs[:0]
	for _, n := range k.Nacks {
		a.seqs = append(a.seqs, uint64(n))
	}
	return &akkapb.AcknowledgementInfo{CumulativeAck: uint64(k.Cumulative), Nacks: a.seqs}
}

// setAlarm wakes the state when it wants to be.
func (a *association) setAlarm() {
	next := a.state.Next()
	if next == assoc.Never || next >= a.next {
		return
	}
	a.next = next
	if a.alarm != nil {
		a.alarm.Cancel()
	}
	a.alarm = a.r.sys.Scheduler().ScheduleOnce(max(next-a.r.now(), 0), a.tick)
}

func (a *association) tick() {
	a.mu.Lock()
	a.next = assoc.Never
	a.finish(a.state.Tick(a.r.now(), a.acts[:0]))
}

// dial makes a connection, on a goroutine of its own.
func (a *association) dial(x *action) {
	ctx, cancel := context.WithTimeout(a.r.ctx, a.r.set.ConnectionTimeout)
	a.dials[x.Conn] = cancel
	id, uid, refuse := x.Conn, x.UID, x.Refuse
	go func() {
		defer cancel()
		nc, err := a.r.transport.dial(ctx, a.addr)
		if err != nil {
			a.r.log.Info("no connection to another node", slog.String("address", a.name), slog.Any("error", err))
			a.do(func(now time.Duration, acts []action) []action {
				delete(a.dials, id)
				return a.state.Ended(now, id, assoc.Unknown, assoc.CauseDialFailed, acts)
			})
			return
		}
		c := a.r.newConn(nc, assoc.Dialer, assoc.NewDialer(&a.r.low, a.name, uid, refuse))
		a.mu.Lock()
		if a.dials[id] == nil { // not wanted any more
			a.mu.Unlock()
			nc.Close()
			return
		}
		delete(a.dials, id)
		c.id = id
		a.conns[id] = c
		c.assoc.Store(a)
		a.mu.Unlock()
		a.r.run(c)
	}()
}

// associated tells that the handshake of a connection is done.
func (a *association) associated(c *conn, uid assoc.UID) {
	a.mu.Lock()
	acts := a.acts[:0]
	if c.role == assoc.Dialer {
		acts = a.state.Associated(a.r.now(), c.id, uid, acts)
	} else {
		var id assoc.ConnID
		id, acts = a.state.Inbound(a.r.now(), uid, acts)
		c.id = id
		a.conns[id] = c
		c.assoc.Store(a)
	}
	a.finish(acts)
}

// connEnded tells that a connection is over.
func (a *association) connEnded(c *conn, reason assoc.Reason, cause assoc.Cause) {
	a.do(func(now time.Duration, acts []action) []action {
		acts = a.state.Ended(now, c.id, reason, cause, acts)
		if a.conns[c.id] == c {
			delete(a.conns, c.id)
		}
		return acts
	})
}

// received tells of a reliable message that has come on c.
func (a *association) received(c *conn, seq assoc.SeqNo, in systemIn) {
	a.inOrder.Lock()
	defer a.inOrder.Unlock()
	a.do(func(now time.Duration, acts []action) []action { return a.state.Received(now, c.id, seq, in, acts) })
}

// acked tells of an acknowledgement that has come on c.
func (a *association) acked(c *conn, cumulative uint64, nacks []uint64) {
	a.do(func(now time.Duration, acts []action) []action {
		a.nacks = a.nacks[:0]
		for _, n := range nacks {
			a.nacks = append(a.nacks, assoc.SeqNo(n))
		}
		return a.state.Ack(now, c.id, assoc.Ack{Cumulative: assoc.SeqNo(cumulative), Nacks: a.nacks}, acts)
	})
}

// unreachable is what remote watch says of the node.
func (a *association) unreachable() {
	a.do(func(now time.Duration, acts []action) []action { return a.state.Unreachable(now, acts) })
}

// quarantine cuts an incarnation of the node off.
func (a *association) quarantine(uid assoc.UID) {
	a.do(func(now time.Duration, acts []action) []action { return a.state.Quarantine(now, uid, acts) })
}

// shutdown ends everything in order.
func (a *association) shutdown() {
	a.do(func(now time.Duration, acts []action) []action { return a.state.Shutdown(now, acts) })
}

// done reports whether all connections have ended.
func (a *association) done() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Done(a.r.now())
}
