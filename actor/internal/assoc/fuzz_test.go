package assoc

import (
	"slices"
	"testing"
	"time"
)

// bytesOf hands out the bytes of a fuzz input, zeros at its end.
type bytesOf []byte

func (b *bytesOf) next() int {
	if len(*b) == 0 {
		return 0
	}
	v := (*b)[0]
	*b = (*b)[1:]
	return int(v)
}

// FuzzConn has a connection go through any order of events: nothing panics, what is held is bounded, the end comes once and
// nothing after it, nothing goes before the ASSOCIATE, and what is delivered is what came, once and in order.
func FuzzConn(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 5, 5, 3})
	f.Add([]byte{1, 0, 1, 1, 2, 2, 7, 2, 3})
	f.Add([]byte{1, 1, 2, 2, 2, 2, 8, 200, 4, 5, 6})
	f.Fuzz(func(t *testing.T, input []byte) {
		in := bytesOf(input[:min(len(input), 4000)])
		set := defaultSettings()
		set.HoldLimit, set.MaximumFrameSize = 200, 100
		now := time.Duration(0)
		var c *Conn
		if in.next()%2 == 0 {
			c = NewDialer(&set, "akka.tcp://B@b:1", 7, in.next()%2 == 0)
		} else {
			c = NewListener(&set)
		}
		came, delivered, ended, attached, said := 0, 0, false, false, false
		for len(in) > 0 {
			var acts []ConnAction
			was := c.State()
			switch in.next() % 10 {
			case 0:
				acts = c.Opened(now, nil)
			case 1:
				acts = c.Control(now, Associate, Origin{"tcp", "A", "a", uint32(in.next() % 3)}, UID(in.next()%9), nil)
			case 2:
				came++
				if acts = c.Payload(now, []byte{byte(came), byte(came >> 8)}, nil); c.State() != ConnOpen {
					came--
				}
			case 3:
				acts = c.Control(now, Command(in.next()), Origin{}, 0, nil)
			case 4:
				acts = c.Closed(Cause(in.next()%12), nil)
			case 5:
				c.Unwritable(now)
			case 6:
				acts = c.Disassociate(Reason(in.next()%3), nil)
			case 7:
				acts = c.Attach(nil)
				attached = true
			case 8:
				now += time.Duration(in.next()) * 100 * time.Millisecond
				acts = c.Tick(now, nil)
			case 9:
				if in.next()%20 == 0 {
					acts = c.Undecodable(nil)
				}
			}
			late := was == ConnDone
			for _, a := range acts {
				switch a.Do {
				case ConnSend:
					if late || ended {
						t.Fatalf("%v after the end", a.Command)
					}
					if a.Command == Associate {
						said = true
					} else if !said && a.Command == Heartbeat {
						t.Fatal("a heartbeat before the ASSOCIATE")
					}
				case ConnDeliver:
					delivered++
					if n := int(a.Payload[0]) | int(a.Payload[1])<<8; n != delivered || !attached {
						t.Fatalf("%d is delivered, %d is next, a reader: %v", n, delivered, attached)
					}
				case ConnAssociated:
					if was != ConnHandshake || c.State() != ConnOpen || a.UID == 7 && c.refusing {
						t.Fatalf("associated from %v to %v", was, c.State())
					}
				case ConnEnded:
					if ended && !(late && attached) {
						t.Fatal("it ends twice")
					}
					ended = true
				}
			}
			if ended != (c.State() == ConnDone) {
				t.Fatalf("ended %v in state %v", ended, c.State())
			}
			if held := len(c.held) + 8*len(c.heldEnds); held > 2*(200+100)+10 {
				t.Fatalf("%d bytes are held", held)
			}
			if attached && c.State() == ConnOpen && delivered != came {
				t.Fatalf("%d came, %d were delivered", came, delivered)
			}
			if c.State() == ConnDone && c.Next() != Never || c.State() == ConnHandshake && c.Next() == Never {
				t.Fatalf("next %v in state %v", c.Next(), c.State())
			}
		}
	})
}

// FuzzRemote has a remote address go through any order of events, sensible or not: nothing panics, memory is bounded, the invariants of
// checkRemote hold, each message sent is given up at most once, written only on an open connection, ordinary ones at most once, system
// messages under one number an incarnation, and system messages are delivered once and in order.
func FuzzRemote(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 1, 3, 1, 4, 1, 0, 5, 1, 1, 0})
	f.Add([]byte{2, 1, 1, 0, 3, 0, 6, 50, 0, 2, 2, 7, 1, 8})
	f.Add([]byte{0, 0, 0, 2, 3, 2, 3, 2, 3, 7, 3, 4, 0, 3, 9})
	f.Fuzz(func(t *testing.T, input []byte) {
		in := bytesOf(input[:min(len(input), 4000)])
		set := defaultSettings()
		set.PendingSendLimit, set.SystemMessageBufferSize, set.ResendLimit, set.StashLimit = 5, 8, 4, 2
		set.SystemMessageReceiveWindow = 6
		if in.next()%4 == 0 {
			set.UsePassiveConnections = false
		}
		if in.next()%4 == 0 {
			set.GiveUpSystemMessageAfter = time.Minute
		}
		r := NewRemote[int, int](&set, 0)
		m := &model{t: t, r: r, attached: map[ConnID]bool{}, gone: map[ConnID]bool{}, fate: map[int]string{}, system: map[int]bool{}}
		now := time.Duration(0)
		for len(in) > 0 {
			id := ConnID(in.next()%8) + r.lastID - min(r.lastID, 6)
			if id > r.lastID {
				id += 1 << 20 // none that will ever be
			}
			var acts []Action[int, int]
			switch in.next() % 12 {
			case 0:
				m.sent++
				acts = r.Send(now, m.sent, nil)
			case 1, 2:
				m.sent++
				m.system[m.sent] = true
				acts = r.SendSystem(now, m.sent, nil)
			case 3:
				_, acts = r.Inbound(now, UID(in.next()%5), nil)
			case 4:
				acts = r.Associated(now, id, UID(in.next()%5), nil)
			case 5:
				m.gone[id] = m.gone[id] || r.link(id) != nil
				acts = r.Ended(now, id, Reason(in.next()%3), Cause(in.next()%12), nil)
			case 6:
				a := Ack{Cumulative: r.acked + SeqNo(in.next()%6) - 1}
				for range in.next() % 3 {
					a.Nacks = append(a.Nacks, r.acked+SeqNo(in.next()%8)-4)
				}
				acts = r.Ack(now, id, a, nil)
			case 7, 8:
				seq := r.in.LastDelivered() + SeqNo(in.next()%12) - 3
				m.known(r)
				acts = r.Received(now, id, seq, int(seq), nil)
			case 9:
				now += time.Duration(in.next()) * time.Duration(in.next()) * time.Second / 10
				if acts = r.Tick(now, nil); r.Next() <= now && r.State() != StateClosed {
					t.Fatalf("after a tick at %v it is due at %v again", now, r.Next())
				}
			case 10:
				switch in.next() % 8 {
				case 0:
					acts = r.Quarantine(now, UID(in.next()%5), nil)
				case 1:
					acts = r.Unreachable(now, nil)
				case 2:
					if in.next()%16 == 0 {
						acts = r.Shutdown(now, nil)
					}
				}
			case 11:
				if a, ok := r.TakeAck(id, nil); ok {
					m.ack(a)
				}
			}
			m.look(acts)
			checkRemote(r, t.Fatalf)
		}
	})
}

// model is what FuzzRemote knows about the messages.
type model struct {
	t        *testing.T
	r        *Remote[int, int]
	sent     int
	attached map[ConnID]bool
	gone     map[ConnID]bool
	fate     map[int]string
	system   map[int]bool
	last     SeqNo
}

// known starts the count of delivered messages anew with the receive buffer.
func (m *model) known(r *Remote[int, int]) { m.last = r.in.LastDelivered() }

func (m *model) ack(a Ack) {
	if slices.Contains(a.Nacks, a.Cumulative) || len(a.Nacks) > 0 && !m.r.in.LastDelivered().Before(a.Nacks[0]) {
		m.t.Fatalf("ack %v with %d delivered", a, m.r.in.LastDelivered())
	}
}

func (m *model) look(acts []Action[int, int]) {
	for _, a := range acts {
		switch a.Do {
		case Attach:
			if m.attached[a.Conn] || m.gone[a.Conn] && m.r.link(a.Conn) == nil {
				m.t.Fatalf("#%d gets a reader twice, or after its end", a.Conn)
			}
			m.attached[a.Conn] = true
		case Disassociate:
			m.gone[a.Conn] = true
		case Write:
			if !m.attached[a.Conn] || m.gone[a.Conn] && m.r.link(a.Conn) == nil {
				m.t.Fatalf("%d is written on #%d, which is not open", a.Out, a.Conn)
			}
			if m.system[a.Out] == (a.Seq == Unsequenced) {
				m.t.Fatalf("%d has the number %d", a.Out, a.Seq)
			}
			if f := m.fate[a.Out]; f == "given up" || f != "" && !m.system[a.Out] {
				m.t.Fatalf("%d is written after it was %s", a.Out, f)
			}
			m.fate[a.Out] = "written"
		case WriteAck:
			m.ack(a.Ack)
		case DeadLetter:
			if f := m.fate[a.Out]; f == "given up" || f != "" && !m.system[a.Out] {
				m.t.Fatalf("%d is given up after it was %s", a.Out, f)
			}
			m.fate[a.Out] = "given up"
		case Deliver:
			if m.last = m.last.Next(); SeqNo(a.In) != m.last {
				m.t.Fatalf("%d is delivered, %d is next", a.In, m.last)
			}
		}
	}
	// Whatever was sent has been written, given up, or waits.
	waiting := len(m.r.pending) + m.r.out.Len()
	for n := m.sent; n > 0 && n > m.sent-20; n-- {
		if m.fate[n] == "" && m.r.State() != StateClosed {
			waiting--
		}
	}
	if waiting < 0 {
		m.t.Fatalf("messages have vanished: %d wait", len(m.r.pending)+m.r.out.Len())
	}
}

// TestRemoteAllocations: a message of either kind there and back, with its acknowledgement, allocates nothing.
func TestRemoteAllocations(t *testing.T) {
	set := defaultSettings()
	r := NewRemote[int, int](&set, 0)
	id, _ := r.Inbound(0, 1, nil)
	var acts []Action[int, int]
	var nacks []SeqNo
	now, seq := time.Duration(0), SeqNo(0)
	round := func() {
		now += time.Millisecond
		acts = r.Send(now, 1, acts[:0])
		acts = r.SendSystem(now, 2, acts)
		acts = r.Received(now, id, seq, 3, acts)
		if len(acts) != 3 || r.Writer() != id {
			t.Fatal(acts)
		}
		if !r.AckDue(id) {
			t.Fatal("no acknowledgement is due")
		}
		a, _ := r.TakeAck(id, nacks[:0])
		nacks = a.Nacks
		acts = r.Ack(now, id, Ack{Cumulative: seq}, acts)
		acts = r.Tick(now, acts)
		seq++
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	c, b := NewListener(&set), []byte("payload")
	c.Opened(0, nil)
	c.Control(0, Associate, Origin{"tcp", "A", "a", 1}, 1, nil)
	c.Attach(nil)
	var todo []ConnAction
	if n := testing.AllocsPerRun(1000, func() {
		now += time.Second
		todo = c.Payload(now, b, todo[:0])
		todo = c.Control(now, Heartbeat, Origin{}, 0, todo)
		if todo = c.Tick(now, todo); !c.Seen(now) {
			t.Fatal("not open")
		}
	}); n != 0 {
		t.Errorf("%v allocations of a connection", n)
	}
}
