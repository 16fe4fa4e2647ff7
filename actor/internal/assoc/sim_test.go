package assoc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// world is two systems and what is between them, in virtual time: the loop that a transport is, made of slices.
type world struct {
	t       *testing.T
	seed    uint64
	rnd     *rand.Rand
	now     time.Duration
	set     Settings
	nodes   [2]*system
	queue   []packet
	wires   []*wire
	lossy   bool // messages on a connection may be lost, repeated and reordered
	cuts    bool // connections may break
	trouble time.Duration
	log     []string
	restart bool
	deadSys int
}

// system is one of them. Messages are numbers: system messages from 0 up, ordinary ones from -1 down.
type system struct {
	w        *world
	name     string
	origin   Origin
	uid      UID
	remote   *Remote[int, int]
	wires    map[ConnID]*wire
	nextSys  int
	nextUser int
	gotSys   []int
	gotUser  []int
	lostUser int
	quarant  int
	thisQ    int
}

// wire is one end of a connection.
type wire struct {
	sys   *system
	conn  *Conn
	id    ConnID
	other *wire
	dead  bool // ended at this side
	deaf  bool // as Akka.NET: its own connection, not read any more since the peer made one
	blind bool // nothing gets through any more, and nobody says so
	last  time.Duration
}

// packet is a PDU on its way, or the end of a connection.
type packet struct {
	at      time.Duration
	to      *wire
	sys     *system // of a dial
	id      ConnID  // of a dial
	command Command
	uid     UID
	payload *envelope
	closed  Cause
	isEnd   bool
	isDial  bool
	fails   bool
	refuse  UID
	refuses bool
}

type envelope struct {
	ack    *Ack
	some   bool
	seq    SeqNo
	number int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, rnd: rand.New(rand.NewPCG(seed, 40)), set: defaultSettings()}
	for i, name := range []string{"A", "B"} {
		w.nodes[i] = &system{w: w, name: name, origin: Origin{"tcp", name, "host", uint32(i + 1)}, nextUser: -1}
		w.nodes[i].boot()
	}
	return w
}

func (s *system) boot() {
	s.uid = UID(s.w.rnd.Int32N(1<<31-2) + 1)
	s.wires = map[ConnID]*wire{}
	s.remote = NewRemote[int, int](&s.w.set, s.w.now)
}

func (s *system) peer() *system {
	if s.w.nodes[0] == s {
		return s.w.nodes[1]
	}
	return s.w.nodes[0]
}

func (w *world) logf(format string, a ...any) {
	if len(w.log) > 400 {
		w.log = w.log[200:]
	}
	w.log = append(w.log, fmt.Sprintf("%8.2f ", w.now.Seconds())+fmt.Sprintf(format, a...))
}

func (w *world) fatal(format string, a ...any) {
	w.t.Helper()
	for _, l := range w.log {
		w.t.Log(l)
	}
	w.t.Fatalf("seed %d at %v: "+format, append([]any{w.seed, w.now}, a...)...)
}

// troubled says whether an accident happens now, once in n times.
func (w *world) troubled(n int) bool { return w.now < w.trouble && w.rnd.IntN(n) == 0 }

func (w *world) latency() time.Duration { return time.Duration(w.rnd.IntN(40)+1) * time.Millisecond }

// put sends a packet along a wire: in order, except where the carrier is bad.
func (w *world) put(from *wire, p packet) {
	to := from.other
	if from.blind {
		return
	}
	p.to = to
	p.at = max(w.now+w.latency(), to.last)
	if p.payload != nil && w.lossy {
		switch {
		case w.troubled(8):
			return
		case w.troubled(8):
			again := p
			again.at += time.Duration(w.rnd.IntN(3000)) * time.Millisecond
			w.queue = append(w.queue, again)
		case w.troubled(8):
			p.at += time.Duration(w.rnd.IntN(1000)) * time.Millisecond
			w.queue = append(w.queue, p)
			return
		}
	}
	to.last = p.at
	w.queue = append(w.queue, p)
}

// do carries out what a Remote wants.
func (s *system) do(acts []Action[int, int]) {
	w := s.w
	for _, a := range acts {
		switch a.Do {
		case Dial:
			w.logf("%s dials #%d", s.name, a.Conn)
			at := w.now + w.latency()
			if w.cuts && w.troubled(2) {
				at += time.Duration(w.rnd.IntN(15000)) * time.Millisecond
			}
			w.queue = append(w.queue, packet{at: at, sys: s, id: a.Conn, isDial: true, fails: w.cuts && w.troubled(3), refuse: a.UID, refuses: a.Refuse})
		case Attach:
			// Between two of our kind nobody goes deaf, so B does as Akka.NET: the peer's second connection silences its own.
			if s == w.nodes[1] && s.wires[a.Conn].conn.Role() == Listener {
				for _, c := range s.wires {
					if c.conn.Role() == Dialer && c.conn.State() == ConnOpen {
						c.deaf = true
					}
				}
			}
			s.doConn(s.wires[a.Conn], s.wires[a.Conn].conn.Attach(nil))
		case Disassociate:
			w.logf("%s disassociates #%d %v", s.name, a.Conn, a.Reason)
			if c := s.wires[a.Conn]; c != nil {
				s.doConn(c, c.conn.Disassociate(a.Reason, nil))
			}
		case Write:
			e := &envelope{some: true, seq: a.Seq, number: a.Out}
			if ack, ok := s.remote.TakeAck(a.Conn, nil); ok && w.rnd.IntN(2) == 0 {
				e.ack = &ack
			}
			s.write(a.Conn, e)
		case WriteAck:
			s.write(a.Conn, &envelope{ack: &Ack{a.Ack.Cumulative, slices.Clone(a.Ack.Nacks)}})
		case Deliver:
			if n := len(s.gotSys); n > 0 && s.gotSys[n-1] >= a.In {
				w.fatal("%s gets system message %d after %d", s.name, a.In, s.gotSys[n-1])
			} else if !w.restart && a.In != n {
				w.fatal("%s gets system message %d, %d is next", s.name, a.In, n)
			}
			s.gotSys = append(s.gotSys, a.In)
		case DeadLetter:
			if a.Out < 0 {
				s.lostUser++
			} else if w.deadSys++; !w.restart {
				w.fatal("%s gives up system message %d: %v", s.name, a.Out, a.Why)
			}
		case Publish:
			w.logf("%s publishes %v %v %v %v", s.name, a.Event, a.Reason, a.Cause, a.Why)
			switch a.Event {
			case EventQuarantined:
				if s.quarant++; !w.restart {
					w.fatal("%s quarantines: %v", s.name, a.Why)
				} else if a.Why != WhyPeerRestarted {
					w.fatal("%s quarantines because of %v", s.name, a.Why)
				}
			case EventThisActorSystemQuarantined:
				s.thisQ++
			}
		}
	}
}

func (s *system) write(id ConnID, e *envelope) {
	c := s.wires[id]
	if c == nil {
		s.w.fatal("%s writes on #%d, which was never opened", s.name, id)
	}
	if c.conn.State() == ConnOpen {
		s.w.put(c, packet{payload: e})
	}
}

// doConn carries out what a Conn wants.
func (s *system) doConn(c *wire, acts []ConnAction) {
	w := s.w
	for _, a := range acts {
		switch a.Do {
		case ConnSend:
			w.put(c, packet{command: a.Command, uid: s.uid})
		case ConnAssociated:
			if c.conn.Role() == Dialer {
				s.do(s.remote.Associated(w.now, c.id, a.UID, nil))
			} else {
				var acts []Action[int, int]
				c.id, acts = s.remote.Inbound(w.now, a.UID, nil)
				s.wires[c.id] = c
				s.do(acts)
			}
		case ConnDeliver:
			s.handle(c, string(a.Payload))
		case ConnEnded:
			if !c.dead {
				c.dead = true
				w.put(c, packet{isEnd: true, closed: CauseFin})
				if c.id != 0 {
					w.logf("%s: #%d ended, %v %v", s.name, c.id, a.Reason, a.Cause)
					s.do(s.remote.Ended(w.now, c.id, a.Reason, a.Cause, nil))
				}
			}
		}
	}
}

// Payloads are the addresses of envelopes: a Conn wants bytes.
var envelopes = map[string]*envelope{}

func (s *system) handle(c *wire, key string) {
	e := envelopes[key]
	if e.ack != nil {
		s.do(s.remote.Ack(s.w.now, c.id, *e.ack, nil))
	}
	switch {
	case !e.some || c.deaf:
	case e.seq != Unsequenced:
		s.do(s.remote.Received(s.w.now, c.id, e.seq, e.number, nil))
	default:
		if n := len(s.gotUser); n > 0 && !s.w.lossy && s.gotUser[n-1] <= e.number {
			s.w.fatal("%s gets message %d after %d", s.name, e.number, s.gotUser[n-1])
		}
		s.gotUser = append(s.gotUser, e.number)
	}
}

// arrive handles a packet at its end.
func (w *world) arrive(p packet) {
	if p.isDial {
		s := p.sys
		if s.remote.link(p.id) == nil || s.uid == 0 {
			return
		}
		if p.fails {
			s.do(s.remote.Ended(w.now, p.id, Unknown, CauseDialFailed, nil))
			return
		}
		mine := &wire{sys: s, id: p.id, conn: NewDialer(&w.set, "akka.tcp://x@host:1", p.refuse, p.refuses)}
		theirs := &wire{sys: s.peer(), conn: NewListener(&w.set), other: mine}
		mine.other = theirs
		s.wires[p.id] = mine
		w.wires = append(w.wires, mine, theirs)
		s.doConn(mine, mine.conn.Opened(w.now, nil))
		theirs.sys.doConn(theirs, theirs.conn.Opened(w.now, nil))
		return
	}
	c := p.to
	if c.dead || c.blind {
		return
	}
	s := c.sys
	switch {
	case p.isEnd:
		s.doConn(c, c.conn.Closed(p.closed, nil))
	case p.payload != nil:
		key := strconv.Itoa(len(envelopes))
		envelopes[key] = p.payload
		s.doConn(c, c.conn.Payload(w.now, []byte(key), nil))
	default:
		s.doConn(c, c.conn.Control(w.now, p.command, s.peer().origin, p.uid, nil))
	}
}

// accident breaks a connection: closed in order, reset, or only dead.
func (w *world) accident() {
	open := slices.DeleteFunc(slices.Clone(w.wires), func(c *wire) bool { return c.dead || c.blind })
	if len(open) == 0 {
		return
	}
	c := open[w.rnd.IntN(len(open))]
	kind := w.rnd.IntN(4)
	w.logf("accident %d on #%d of %s", kind, c.id, c.sys.name)
	switch kind {
	case 0:
		c.blind, c.other.blind = true, true
	case 1: // only one side notices, the other hears of nothing
		c.blind, c.other.blind = true, true
		c.sys.doConn(c, c.conn.Closed(CauseFailed, nil))
	default:
		cause := []Cause{CauseFin, CauseReset}[kind-2]
		for _, e := range []*wire{c, c.other} {
			e.blind = true
			if !e.dead {
				e.sys.doConn(e, e.conn.Closed(cause, nil))
			}
		}
	}
}

// reboot ends one of the systems and starts it anew at the same address.
func (w *world) reboot(s *system) {
	w.logf("%s is restarted", s.name)
	for _, c := range w.wires {
		if c.sys == s && !c.dead {
			c.dead = true
			if w.rnd.IntN(2) == 0 {
				w.put(c, packet{isEnd: true, closed: []Cause{CauseFin, CauseReset}[w.rnd.IntN(2)]})
			} else {
				c.blind, c.other.blind = true, true
			}
		}
	}
	w.queue = slices.DeleteFunc(w.queue, func(p packet) bool { return p.sys == s || p.to != nil && p.to.sys == s })
	s.boot()
}

// step goes on to the next thing that happens; false if that is after end.
func (w *world) step(end time.Duration) bool {
	next, packetAt := end+1, -1
	for i, p := range w.queue {
		if p.at < next {
			next, packetAt = p.at, i
		}
	}
	w.wires = slices.DeleteFunc(w.wires, func(c *wire) bool { return c.dead && c.other.dead })
	var tick func()
	for _, c := range w.wires {
		if n := c.conn.Next(); !c.dead && n < next {
			next, tick = n, func() { c.sys.doConn(c, c.conn.Tick(w.now, nil)) }
		}
	}
	for _, s := range w.nodes {
		if n := s.remote.Next(); n < next {
			next, tick = n, func() { s.do(s.remote.Tick(w.now, nil)) }
		}
	}
	if next > end {
		w.now = end
		return false
	}
	w.now = max(w.now, next)
	if tick != nil {
		tick()
		return true
	}
	p := w.queue[packetAt]
	w.queue = slices.Delete(w.queue, packetAt, packetAt+1)
	w.arrive(p)
	return true
}

// run has both systems send for a while, in trouble, and then waits until all is quiet.
func (w *world) run(messages int) {
	clear(envelopes)
	steps := 0
	for range messages {
		end := w.now + time.Duration(w.rnd.IntN(1500))*time.Millisecond
		for w.step(end) {
			if steps++; steps > 200000 {
				w.fatal("no end: %d packets", len(w.queue))
			}
		}
		s := w.nodes[w.rnd.IntN(2)]
		for range w.rnd.IntN(4) {
			if w.rnd.IntN(2) == 0 {
				s.do(s.remote.SendSystem(w.now, s.take(&s.nextSys, 1), nil))
			} else {
				s.do(s.remote.Send(w.now, s.take(&s.nextUser, -1), nil))
			}
		}
		if w.cuts && w.troubled(12) {
			w.accident()
		}
		if w.restart && w.troubled(40) {
			w.reboot(w.nodes[w.rnd.IntN(2)])
		}
		for _, s := range w.nodes {
			w.check(s)
		}
	}
	w.trouble = 0
	w.logf("the trouble is over")
	for range 60 {
		for end := w.now + 10*time.Second; w.step(end); {
			if steps++; steps > 400000 {
				w.fatal("no end: %d packets", len(w.queue))
			}
		}
		if w.nodes[0].remote.Unacknowledged()+w.nodes[1].remote.Unacknowledged() == 0 {
			break
		}
	}
	for _, s := range w.nodes {
		if n := s.remote.Unacknowledged(); n > 0 {
			w.fatal("%s has %d system messages left in state %v", s.name, n, s.remote.State())
		}
		if got := len(s.peer().gotSys); !w.restart && got != s.nextSys {
			w.fatal("of %d system messages of %s arrived %d", s.nextSys, s.name, got)
		}
		if got := len(s.peer().gotUser); !w.cuts && !w.lossy && !w.restart && got != -1-s.nextUser {
			w.fatal("of %d messages of %s arrived %d, %d were given up", -1-s.nextUser, s.name, got, s.lostUser)
		}
		if s.thisQ > 0 && !w.restart {
			w.fatal("%s was told that it is quarantined", s.name)
		}
	}
}

// take is the next number.
func (s *system) take(n *int, by int) int {
	v := *n
	*n += by
	return v
}

// check looks at what must hold at any time.
func (w *world) check(s *system) {
	checkRemote(s.remote, func(format string, a ...any) { w.fatal(s.name+": "+format, a...) })
	for id := range s.wires {
		if s.remote.link(id) == nil && s.wires[id].dead {
			delete(s.wires, id)
		}
	}
}

// checkRemote holds what must be true of a Remote between any two calls.
func checkRemote[O, I any](r *Remote[O, I], fail func(string, ...any)) {
	dials, open, stashed := 0, 0, 0
	for _, l := range r.links {
		switch l.phase {
		case linkDialing:
			dials++
		case linkStashed:
			stashed++
		default:
			if open++; !r.known || l.uid != r.uid {
				fail("a connection of UID %d, known is %d %v", l.uid, r.uid, r.known)
			}
		}
	}
	writer := r.link(r.writer)
	switch {
	case dials > 1 || open > 2 && r.state != StateClosed || stashed > r.set.StashLimit:
		fail("%d dials, %d open, %d stashed in state %v", dials, open, stashed, r.state)
	case (r.state == StateActive) != (r.writer != 0):
		fail("state %v with writer #%d", r.state, r.writer)
	case r.writer != 0 && (writer == nil || writer.phase != linkOpen || writer.deaf):
		fail("the writer #%d is none", r.writer)
	case (r.state == StatePending) != (dials == 1):
		fail("state %v with %d dials", r.state, dials)
	case stashed > 0 && (dials == 0 || r.known):
		fail("%d stashed in state %v, UID known %v", stashed, r.state, r.known)
	case len(r.pending) > r.set.PendingSendLimit || r.out.Len() > r.set.SystemMessageBufferSize:
		fail("%d waiting, %d unacknowledged", len(r.pending), r.out.Len())
	case len(r.pending) > 0 && r.state != StatePending:
		fail("%d wait in state %v", len(r.pending), r.state)
	case r.out.Len() > 0 && r.state == StateActive && r.resendAt == Never:
		fail("%d unacknowledged, and nothing will send them again", r.out.Len())
	case r.out.Len() > 0 && r.Next() == Never && dials == 0:
		fail("%d unacknowledged in state %v, and nothing will happen", r.out.Len(), r.state)
	case r.state == StateQuarantined && len(r.refused) == 0:
		fail("quarantined without a UID")
	case r.in.Held() > r.set.SystemMessageReceiveWindow:
		fail("%d held", r.in.Held())
	case len(r.refused) > maxRefused:
		fail("%d refused", len(r.refused))
	}
}

// runs is how many seeds to try; ACTUA_ASSOC_RUNS asks for others.
func runs(n int) uint64 {
	if v, err := strconv.Atoi(os.Getenv("ACTUA_ASSOC_RUNS")); err == nil {
		return uint64(v)
	}
	if testing.Short() || raceEnabled {
		n /= 20
	}
	return uint64(n)
}

// TestReliableDelivery has two systems send each other system messages and others over connections that lose, repeat and
// reorder, break in every way, or cannot be made. System messages are delivered once, in order, all of them, and nobody is quarantined. Over
// connections that only break the others come in order, and all of them where nothing breaks.
func TestReliableDelivery(t *testing.T) {
	for _, c := range []struct {
		name        string
		lossy, cuts bool
		restart     bool
		runs        int
	}{
		{"quiet", false, false, false, 100},
		{"lossy", true, false, false, 500},
		{"cut", false, true, false, 700},
		{"lossy and cut", true, true, false, 1000},
		{"restart", false, true, true, 600},
		{"restart and lossy", true, true, true, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			accidents := 0
			for seed := range runs(c.runs) {
				w := newWorld(t, seed)
				w.lossy, w.cuts, w.restart, w.trouble = c.lossy, c.cuts, c.restart, 300*time.Second
				w.set.UsePassiveConnections = seed%5 != 4
				w.run(150)
				accidents += w.deadSys
			}
			if c.restart && accidents == 0 {
				t.Error("no restart has cost a message: is there one?")
			}
		})
	}
}
