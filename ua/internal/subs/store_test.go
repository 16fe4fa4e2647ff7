package subs

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/actua/actua/ua"
)

// describe writes a state as numbers does.
func describe(s SentState) string {
	q := SentQueue{messages: s.Messages, firstUnsent: s.FirstUnsent}
	return fmt.Sprintf("%s next %d", numbers(&q), s.Next)
}

// TestMirrors runs random operations and compares what the mirrors have with the queue after each. Then the
// other machine goes on, and the client gets every number once.
func TestMirrors(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		p := testPools(t)
		full, delta := new(MemoryMirror), new(MemoryMirror)
		q := NewSentQueue(9, 1+rnd.IntN(5))
		q.SetMirror(full, delta)
		client := uint32(0) // the last number that it got
		got := func(n uint32) {
			if n != client+1 {
				t.Fatalf("seed %d: the client got %d after %d", seed, n, client)
			}
			client = n
		}
		take := func(q *SentQueue, r *Ref) {
			if m := r.Message(); m != nil {
				// What was dropped or evicted unsent is a gap that the client knows of.
				if m.SequenceNumber > client+1 && q.Discarded() > 0 {
					client = m.SequenceNumber - 1
				}
				got(m.SequenceNumber)
			}
			r.Release()
		}
		step := func(q *SentQueue) {
			var r Ref
			switch rnd.IntN(7) {
			case 0, 1:
				if q.Unsent() == 0 {
					var list []*Message
					for range rnd.IntN(4) {
						list = append(list, build(p, q, "data"))
					}
					q.Enqueue(list, &r)
				}
			case 2, 3:
				q.Dequeue(&r)
			case 4:
				q.Acknowledge(1 + rnd.Uint32N(client+2))
			case 5:
				if q.Unsent() == 0 {
					got(q.TakeNumber())
				}
			case 6:
				if q.Unsent() == 0 && rnd.IntN(10) == 0 {
					q.Clear()
				}
			}
			take(q, &r)
			for name, store := range map[string]*MemoryMirror{"full": full, "delta": delta} {
				s, ok := store.LoadSent(9)
				want := describe(SentState{Next: q.next, FirstUnsent: q.firstUnsent, Messages: q.messages})
				if ok && describe(s) != want || !ok && q.next != 1 {
					t.Fatalf("seed %d: the %s mirror has %q, the queue %q", seed, name, describe(s), want)
				}
				s.Release()
			}
		}
		for range 40 {
			step(q)
		}
		// The machine is gone; another one continues from one of the mirrors and reports to both.
		s, _ := []*MemoryMirror{full, delta}[seed%2].LoadSent(9)
		other := NewSentQueue(9, q.max)
		other.discarded = q.discarded
		q.SetMirror(nil, nil)
		q.Clear()
		other.SetMirror(full, delta)
		other.Restore(&s)
		for range 40 {
			step(other)
		}
		other.SetMirror(nil, nil)
		other.Clear()
		full.RemoveSent(9)
		delta.RemoveSent(9)
		if _, ok := full.LoadSent(9); ok {
			t.Error("a removed subscription is still there")
		}
		drained(t, p)
	}
}

// TestMirrorKeepsMessages: what is acknowledged goes from the mirror, the rest is intact in it after
// the queue is gone.
func TestMirrorKeepsMessages(t *testing.T) {
	for _, kind := range []string{"full", "delta"} {
		t.Run(kind, func(t *testing.T) {
			p, store, q := testPools(t), new(MemoryMirror), NewSentQueue(9, 5)
			if kind == "full" {
				q.SetMirror(store, nil)
			} else {
				q.SetMirror(nil, store)
			}
			add(q, p, 3)
			q.Acknowledge(1)
			q.SetMirror(nil, nil)
			q.Clear()
			other := vandal(p)
			s, ok := store.LoadSent(9)
			if !ok || describe(s) != "| 2 3 next 4" {
				t.Fatal(describe(s))
			}
			store.RemoveSent(9)
			for i, m := range s.Messages {
				chunks.expect(t, m.AppendBinary(nil), uint32(i+2), "data")
			}
			s.Release()
			store.RemoveSent(9)
			other.release()
			drained(t, p)
		})
	}
}

func TestDurable(t *testing.T) {
	p, store := testPools(t), new(MemoryDurable)
	if s, err := store.LoadDurable(); err != nil || len(s) != 0 {
		t.Errorf("an empty store has %v, %v", s, err)
	}
	q := queueOf(t, p, 5, 4, 2)
	if err := store.SaveDurable([]DurableState{{Subscription: 9, Settings: []byte("s"), Sent: q.Capture()}}); err != nil {
		t.Fatal(err)
	}
	q.Clear()
	for range 2 { // a server may start twice
		states, err := store.LoadDurable()
		if err != nil || len(states) != 1 || string(states[0].Settings) != "s" {
			t.Fatalf("%+v, %v", states, err)
		}
		states[0].Settings[0] = 'x' // the caller's
		q := NewSentQueue(states[0].Subscription, 5)
		q.Restore(&states[0].Sent)
		want(t, q, "1 2 | 3 4", "1 2")
		var r Ref
		if !q.Dequeue(&r) || r.Message().SequenceNumber != 3 {
			t.Error("a restored queue does not go on with 3")
		}
		chunks.expect(t, chunks.park(&r).send(), 3, "data")
		q.Dequeue(&r)
		if n, _ := add(q, p, 1); n != 5 {
			t.Errorf("next number %d, want 5", n)
		}
		if s := q.Acknowledge(1); s != ua.Good {
			t.Error(s)
		}
		r.Release()
		q.Clear()
	}
	if err := store.SaveDurable(nil); err != nil {
		t.Fatal(err)
	}
	drained(t, p)
}
