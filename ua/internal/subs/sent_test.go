package subs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
)

// queueOf makes a queue with messages 1 to n, of which sent were sent and released by their responses.
func queueOf(t *testing.T, p *Pools, limit, n, sent int) *SentQueue {
	t.Helper()
	q := NewSentQueue(9, limit)
	add(q, p, n)
	for q.firstUnsent < sent {
		var r Ref
		if !q.Dequeue(&r) {
			t.Fatal("nothing to dequeue")
		}
		r.Release()
	}
	return q
}

// add enqueues n new messages at once; the response releases the one that it gets.
func add(q *SentQueue, p *Pools, n int) (first uint32, more bool) {
	var list []*Message
	for range n {
		list = append(list, build(p, q, "data"))
	}
	var r Ref
	more = q.Enqueue(list, &r)
	if m := r.Message(); m != nil {
		first = m.SequenceNumber
	}
	r.Release()
	return first, more
}

// numbers lists all retained messages, a bar in front of those that were not sent.
func numbers(q *SentQueue) string {
	var b []string
	for i, m := range q.messages {
		if i == q.firstUnsent {
			b = append(b, "|")
		}
		b = append(b, fmt.Sprint(m.SequenceNumber))
	}
	return strings.Join(b, " ")
}

func available(q *SentQueue) string { return strings.Trim(fmt.Sprint(q.Available(nil)), "[]") }

// want checks retained messages and available numbers.
func want(t *testing.T, q *SentQueue, retained, avail string) {
	t.Helper()
	if got := numbers(q); got != retained {
		t.Errorf("retained %q, want %q", got, retained)
	}
	if got := available(q); got != avail {
		t.Errorf("available %q, want %q", got, avail)
	}
}

func TestSentNumbers(t *testing.T) {
	t.Run("start at 1", func(t *testing.T) {
		q := NewSentQueue(9, 5)
		if q.Announced() != 1 || q.NextNumber() != 1 || q.NextNumber() != 2 || q.Announced() != 3 {
			t.Error("numbers do not start at 1, or a keep-alive takes one")
		}
	})
	t.Run("never 0", func(t *testing.T) {
		p, q := testPools(t), NewSentQueue(9, 5)
		q.Restore(&SentState{Next: math.MaxUint32 - 1})
		add(q, p, 4)
		want(t, q, "4294967294 | 4294967295 1 2", "4294967294")
		if q.Announced() != 4294967295 || q.next != 3 {
			t.Errorf("announced %d, next %d", q.Announced(), q.next)
		}
		for _, n := range []uint32{4294967294} {
			if s := q.Acknowledge(n); s != ua.Good {
				t.Errorf("%d: %v", n, s)
			}
		}
		q.Clear()
		drained(t, p)
	})
	t.Run("status change takes one and is not retained", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 2, 2)
		store := new(MemoryMirror)
		q.SetMirror(nil, store)
		if q.TakeNumber() != 3 || q.Len() != 2 || q.Announced() != 4 {
			t.Error("wrong number")
		}
		if s, ok := store.LoadSent(9); !ok || s.Next != 4 {
			t.Errorf("the mirror does not know that the number is used up: %+v", s)
		}
	})
	t.Run("go on after clear", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 3, 1)
		q.Clear()
		if n, _ := add(q, p, 1); n != 4 {
			t.Errorf("next is %d, want 4", n)
		}
	})
}

func TestSentEnqueue(t *testing.T) {
	t.Run("first goes out, others wait", func(t *testing.T) {
		q := NewSentQueue(9, 5)
		if n, more := add(q, testPools(t), 3); n != 1 || !more {
			t.Errorf("%d, more %v", n, more)
		}
		want(t, q, "1 | 2 3", "1")
		if q.Unsent() != 2 || q.Len() != 3 {
			t.Errorf("%d unsent of %d", q.Unsent(), q.Len())
		}
	})
	t.Run("single has no more", func(t *testing.T) {
		q := NewSentQueue(9, 5)
		if n, more := add(q, testPools(t), 1); n != 1 || more {
			t.Errorf("%d, more %v", n, more)
		}
		want(t, q, "1", "1")
	})
	t.Run("room for all evicts none", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 3, 3)
		add(q, p, 2)
		want(t, q, "1 2 3 4 | 5", "1 2 3 4")
		if q.Discarded() != 0 {
			t.Errorf("%d discarded", q.Discarded())
		}
	})
	t.Run("evicts only the excess", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 4, 4)
		add(q, p, 3)
		want(t, q, "3 4 5 | 6 7", "3 4 5")
		if q.Discarded() != 2 {
			t.Errorf("%d discarded, want 2", q.Discarded())
		}
	})
	t.Run("exactly full replaces all", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 3, 3, 3)
		add(q, p, 3)
		want(t, q, "4 | 5 6", "4")
		if q.Discarded() != 3 || q.Dropped() != 0 {
			t.Errorf("%d discarded, %d dropped", q.Discarded(), q.Dropped())
		}
	})
	t.Run("more new than bound drops oldest new", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 3, 2, 2)
		n, more := add(q, p, 5)
		want(t, q, "5 | 6 7", "5")
		if n != 5 || !more || q.Dropped() != 2 || q.Discarded() != 4 {
			t.Errorf("first %d, more %v, %d dropped, %d discarded", n, more, q.Dropped(), q.Discarded())
		}
		if n := p.Stats().Messages.Outstanding(); n != 3 {
			t.Errorf("%d messages are out, want 3", n)
		}
		add(q, p, 1)
		if q.Dropped() != 0 {
			t.Error("dropped is not that of the last call")
		}
	})
	t.Run("bound of 0 is 1", func(t *testing.T) {
		p, q := testPools(t), NewSentQueue(9, 0)
		add(q, p, 1)
		add(q, p, 1)
		want(t, q, "2", "2")
		if q.Max() != 1 {
			t.Errorf("Max %d", q.Max())
		}
	})
	t.Run("what waits goes out before what is new", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 3, 1)
		if n, more := add(q, p, 1); n != 2 || !more {
			t.Errorf("%d went out, more %v", n, more)
		}
		want(t, q, "1 2 | 3 4", "1 2")
	})
	t.Run("nothing new", func(t *testing.T) {
		q := NewSentQueue(9, 5)
		var r Ref
		if q.Enqueue(nil, &r) || r.Message() != nil {
			t.Error("something came out of nothing")
		}
	})
}

func TestSentDequeue(t *testing.T) {
	t.Run("in order, then none", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 3, 1)
		for _, n := range []uint32{2, 3} {
			var r Ref
			if q.Announced() != n || !q.Dequeue(&r) || r.Message().SequenceNumber != n {
				t.Errorf("not %d", n)
			}
		}
		var r Ref
		if q.Dequeue(&r) || r.Message() != nil {
			t.Error("a fourth message")
		}
		want(t, q, "1 2 3", "1 2 3")
	})
	t.Run("lists the returned one", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 3, 2)
		want(t, q, "1 2 | 3", "1 2")
	})
	t.Run("after the sent ones were acknowledged", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 3, 1)
		q.Acknowledge(1)
		var r Ref
		if !q.Dequeue(&r) || r.Message().SequenceNumber != 2 {
			t.Error("not 2")
		}
		want(t, q, "2 | 3", "2")
	})
	t.Run("a response that fails keeps it for republish", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 2, 2)
		var r Ref
		if s := q.FindForRepublish(2, &r); s != ua.Good || r.Message().SequenceNumber != 2 {
			t.Error(s)
		}
	})
}

func TestSentAcknowledge(t *testing.T) {
	for _, c := range []struct {
		name     string
		number   uint32
		status   ua.StatusCode
		retained string
		avail    string
	}{
		{"oldest", 1, ua.Good, "2 3 | 4", "2 3"},
		{"middle", 2, ua.Good, "1 3 | 4", "1 3"},
		{"newest sent", 3, ua.Good, "1 2 | 4", "1 2"},
		{"unsent", 4, ua.BadSequenceNumberUnknown, "1 2 3 | 4", "1 2 3"},
		{"never used", 5, ua.BadSequenceNumberUnknown, "1 2 3 | 4", "1 2 3"},
		{"largest", math.MaxUint32, ua.BadSequenceNumberUnknown, "1 2 3 | 4", "1 2 3"},
		{"zero", 0, ua.BadSequenceNumberInvalid, "1 2 3 | 4", "1 2 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPools(t)
			q := queueOf(t, p, 5, 4, 3)
			if s := q.Acknowledge(c.number); s != c.status {
				t.Errorf("%v, want %v", s, c.status)
			}
			want(t, q, c.retained, c.avail)
			if n := p.Stats().Messages.Outstanding(); n != q.Len() {
				t.Errorf("%d messages are out, %d are retained", n, q.Len())
			}
			if q.Announced() != 4 {
				t.Errorf("announced %d", q.Announced())
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 2, 2)
		if a, b := q.Acknowledge(1), q.Acknowledge(1); a != ua.Good || b != ua.BadSequenceNumberUnknown {
			t.Errorf("%v, %v", a, b)
		}
	})
	t.Run("evicted", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 2, 2, 2)
		add(q, p, 1)
		if s := q.Acknowledge(1); s != ua.BadSequenceNumberUnknown {
			t.Error(s)
		}
		want(t, q, "2 3", "2 3")
	})
	t.Run("makes room", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 2, 2, 2)
		q.Acknowledge(1)
		add(q, p, 1)
		want(t, q, "2 3", "2 3")
		if q.Discarded() != 0 {
			t.Error("an acknowledged message counts as discarded")
		}
	})
}

func TestSentRepublish(t *testing.T) {
	for _, c := range []struct {
		name   string
		number uint32
		status ua.StatusCode
	}{
		{"oldest", 1, ua.Good}, {"newest sent", 3, ua.Good}, {"unsent", 4, ua.BadMessageNotAvailable},
		{"never used", 9, ua.BadMessageNotAvailable}, {"zero", 0, ua.BadMessageNotAvailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := queueOf(t, testPools(t), 5, 4, 3)
			var r Ref
			if s := q.FindForRepublish(c.number, &r); s != c.status {
				t.Errorf("%v, want %v", s, c.status)
			}
			if m := r.Message(); (m != nil) != (c.status == ua.Good) || m != nil && m.SequenceNumber != c.number {
				t.Errorf("got %+v", m)
			}
			want(t, q, "1 2 3 | 4", "1 2 3")
		})
	}
	t.Run("acknowledged", func(t *testing.T) {
		q := queueOf(t, testPools(t), 5, 2, 2)
		q.Acknowledge(2)
		if s := q.FindForRepublish(2, new(Ref)); s != ua.BadMessageNotAvailable {
			t.Error(s)
		}
	})
	t.Run("evicted", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 2, 2, 2)
		add(q, p, 1)
		if s := q.FindForRepublish(1, new(Ref)); s != ua.BadMessageNotAvailable {
			t.Error(s)
		}
	})
	t.Run("again and again", func(t *testing.T) {
		p := testPools(t)
		q := queueOf(t, p, 5, 1, 1)
		var refs [3]Ref
		for i := range refs {
			q.FindForRepublish(1, &refs[i])
		}
		if n := q.messages[0].refs.Load(); n != 4 {
			t.Errorf("%d references", n)
		}
		for i := range refs {
			refs[i].Release()
		}
		q.Clear()
		drained(t, p)
	})
}

func TestSentClear(t *testing.T) {
	p := testPools(t)
	q := queueOf(t, p, 5, 4, 2)
	q.Clear()
	want(t, q, "", "")
	if q.Unsent() != 0 || q.Discarded() != 0 {
		t.Errorf("%d unsent, %d discarded", q.Unsent(), q.Discarded())
	}
	drained(t, p)
	q.Clear()
}

func TestSentRestore(t *testing.T) {
	messages := func(numbers ...uint32) (out []*Message) {
		for _, n := range numbers {
			out = append(out, RestoredMessage(n, 5, []ua.MonitoredItemNotification{{ClientHandle: 77}}, nil))
		}
		return out
	}
	for _, c := range []struct {
		name     string
		state    SentState
		retained string
		next     uint32
	}{
		{"nil list is empty", SentState{}, "", 1},
		{"next kept", SentState{Next: 8, FirstUnsent: 1, Messages: messages(3, 4)}, "3 | 4", 8},
		{"next behind the last", SentState{FirstUnsent: 2, Messages: messages(3, 4)}, "3 4", 5},
		{"next skips 0", SentState{FirstUnsent: 1, Messages: messages(math.MaxUint32)}, "4294967295", 1},
		{"first unsent below 0", SentState{FirstUnsent: -3, Messages: messages(3, 4)}, "| 3 4", 5},
		{"first unsent beyond the end", SentState{FirstUnsent: 7, Messages: messages(3, 4)}, "3 4", 5},
		{"more than fit", SentState{FirstUnsent: 3, Messages: messages(1, 2, 3, 4)}, "2 3 | 4", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPools(t)
			q := queueOf(t, p, 3, 2, 1) // what was there goes
			list := slices.Clone(c.state.Messages)
			q.Restore(&c.state)
			if got := numbers(q); got != c.retained || q.next != c.next {
				t.Errorf("%q next %d, want %q next %d", got, q.next, c.retained, c.next)
			}
			if c.state.Messages != nil {
				t.Error("the state still has the references")
			}
			for i := range list {
				list[i] = nil // the queue has its own list
			}
			if numbers(q) != c.retained {
				t.Error("the queue shares the list of the state")
			}
			q.Clear()
			drained(t, p)
			if s := p.Stats(); s.Messages.Returns != s.Messages.Rents || s.Data.Idle > 2 {
				t.Errorf("a restored message or slice reached a pool: %+v", s)
			}
		})
	}
}

// TestSentCapture: what is saved is a list of its own, of the same messages.
func TestSentCapture(t *testing.T) {
	p := testPools(t)
	q := queueOf(t, p, 5, 3, 2)
	s := q.Capture()
	q.Acknowledge(1)
	q.Clear()
	if len(s.Messages) != 3 || s.FirstUnsent != 2 || s.Next != 4 {
		t.Fatalf("%+v", s)
	}
	for i, m := range s.Messages {
		if recycled(m) {
			t.Fatal("recycled while a snapshot has it")
		}
		chunks.expect(t, m.AppendBinary(nil), uint32(i+1), "data")
	}
	s.Release()
	s.Release()
	drained(t, p)
}
