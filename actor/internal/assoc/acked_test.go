package assoc

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRow09SeqNo(t *testing.T) {
	for _, c := range []struct {
		a, b   SeqNo
		before bool
	}{
		{0, 1, true}, {1, 0, false}, {5, 5, false}, {BeforeFirst, 0, true}, {0, BeforeFirst, false},
		{1<<63 - 1, 1 << 63, true}, // over the sign
		{1<<64 - 2, 3, true},       // round the end, with a gap
		{3, 1<<64 - 2, false},      // and back
		{0, 1<<63 - 1, true},       // the widest gap
		{0, 1<<63 + 1, false},      // beyond it, the other one is earlier
		{BeforeFirst, 1<<63 - 2, true},
	} {
		if c.a.Before(c.b) != c.before {
			t.Errorf("%d before %d: %v", c.a, c.b, !c.before)
		}
	}
	if BeforeFirst.Next() != 0 || SeqNo(7).Next() != 8 {
		t.Error("numbers do not follow each other")
	}
}

// seqs are the numbers of a part of a buffer.
func seqs(s iter.Seq2[SeqNo, string]) []SeqNo {
	var out []SeqNo
	for n := range s {
		out = append(out, n)
	}
	return out
}

func buffered(t *testing.T, capacity int, n int) *AckedSendBuffer[string] {
	t.Helper()
	b := NewAckedSendBuffer[string](capacity)
	for i := range n {
		if err := b.Buffer(SeqNo(i), fmt.Sprint("m", i)); err != nil {
			t.Fatal(err)
		}
	}
	return &b
}

func TestRow10SendBuffer(t *testing.T) {
	b := buffered(t, 3, 3)
	if err := b.Buffer(3, "over"); !errors.Is(err, ErrBufferFull) {
		t.Errorf("over the capacity: %v", err)
	}
	if err := b.Buffer(2, "again"); !errors.Is(err, ErrSeqNoOrder) {
		t.Errorf("a number again: %v", err)
	}
	if got := seqs(b.NonAcked); !slices.Equal(got, []SeqNo{0, 1, 2}) || b.Max() != 2 {
		t.Errorf("kept %v, max %d", got, b.Max())
	}
	if err := b.Acknowledge(BeforeFirst, nil); err != nil || b.Len() != 3 {
		t.Errorf("nothing acknowledged: %v, %d kept", err, b.Len())
	}
	if err := b.Acknowledge(1, nil); err != nil {
		t.Fatal(err)
	}
	if got := seqs(b.NonAcked); !slices.Equal(got, []SeqNo{2}) {
		t.Errorf("kept %v", got)
	}
	if err := b.Acknowledge(3, nil); !errors.Is(err, ErrAckBeyond) || b.Len() != 1 {
		t.Errorf("acknowledged beyond what was sent: %v, %d kept", err, b.Len())
	}
	if err := b.Buffer(7, "a gap is fine"); err != nil {
		t.Error(err)
	}
	if err := b.Acknowledge(7, nil); err != nil || b.Len() != 0 || b.Max() != 7 {
		t.Errorf("%v, %d kept, max %d", err, b.Len(), b.Max())
	}
}

func TestRow11Nacks(t *testing.T) {
	b := buffered(t, 10, 5)
	check := func(nacked, rest []SeqNo) {
		t.Helper()
		if got := seqs(b.Nacked); !slices.Equal(got, nacked) || b.NackedLen() != len(nacked) {
			t.Errorf("asked for again: %v (%d), want %v", got, b.NackedLen(), nacked)
		}
		if got := seqs(b.NonAcked); !slices.Equal(got, rest) {
			t.Errorf("not heard of: %v, want %v", got, rest)
		}
	}
	must := func(cumulative SeqNo, nacks ...SeqNo) {
		t.Helper()
		if err := b.Acknowledge(cumulative, nacks); err != nil {
			t.Fatal(err)
		}
	}
	must(3, 2, 0) // in any order
	check([]SeqNo{0, 2}, []SeqNo{4})
	if err := b.Acknowledge(4, []SeqNo{1}); !errors.Is(err, ErrNackUnknown) {
		t.Errorf("a number that is gone: %v", err)
	}
	if err := b.Acknowledge(4, []SeqNo{0, 9}); !errors.Is(err, ErrNackUnknown) {
		t.Errorf("a number that never was: %v", err)
	}
	check([]SeqNo{0, 2}, []SeqNo{4}) // nothing has changed
	must(0, 0)                       // an older one that comes late takes nothing away
	check([]SeqNo{0, 2}, []SeqNo{4})
	must(4, 2)
	check([]SeqNo{2}, nil)
	must(4)
	check(nil, nil)
	if s, ok := b.First(); ok {
		t.Errorf("first %d of none", s)
	}
}

func TestRow12ReceiveBuffer(t *testing.T) {
	b := NewAckedReceiveBuffer[string](100)
	if _, ok := b.Ack(nil); ok {
		t.Error("an acknowledgement of nothing")
	}
	for _, c := range []struct {
		seq     SeqNo
		deliver []string
		ack     SeqNo
		nacks   []SeqNo
	}{
		{1, nil, 1, []SeqNo{0}},
		{0, []string{"0", "1"}, 1, nil},
		{4, nil, 4, []SeqNo{2, 3}},
		{2, []string{"2"}, 4, []SeqNo{3}},
		{4, nil, 4, []SeqNo{3}},
		{3, []string{"3", "4"}, 4, nil},
		{3, nil, 4, nil},
		{0, nil, 4, nil},
	} {
		got, ok := b.Receive(c.seq, fmt.Sprint(c.seq), nil)
		ack, _ := b.Ack(nil)
		if !ok || !slices.Equal(got, c.deliver) || ack.Cumulative != c.ack || !slices.Equal(ack.Nacks, c.nacks) {
			t.Errorf("%d: %v, delivers %v, ack %v", c.seq, ok, got, ack)
		}
	}
	// Too far ahead: it has not been here.
	if got, ok := b.Receive(105, "far", nil); ok || got != nil || b.Held() != 0 {
		t.Errorf("far ahead: %v %v, %d held", ok, got, b.Held())
	}
	if ack, _ := b.Ack(nil); ack.Cumulative != 4 || len(ack.Nacks) != 0 {
		t.Errorf("ack %v", ack)
	}
	if _, ok := b.Receive(104, "edge", nil); !ok {
		t.Error("the last one of the window is refused")
	}
}

// TestRow12Merge joins two buffers of one incarnation.
func TestRow12Merge(t *testing.T) {
	fill := func(seqs ...SeqNo) *AckedReceiveBuffer[string] {
		b := NewAckedReceiveBuffer[string](100)
		for _, s := range seqs {
			b.Receive(s, fmt.Sprint(s), nil)
		}
		return &b
	}
	for _, c := range []struct {
		a, b    []SeqNo
		deliver []string
		last    SeqNo
		ack     SeqNo
		nacks   []SeqNo
	}{
		{nil, nil, nil, BeforeFirst, BeforeFirst, nil},
		{[]SeqNo{0, 1, 3}, nil, nil, 1, 3, []SeqNo{2}},
		{nil, []SeqNo{0, 1, 3}, nil, 1, 3, []SeqNo{2}},
		{[]SeqNo{0, 2}, []SeqNo{0, 1}, []string{"2"}, 2, 2, nil},
		{[]SeqNo{0, 1}, []SeqNo{0, 2}, []string{"2"}, 2, 2, nil},
		{[]SeqNo{0, 2, 5}, []SeqNo{0, 1, 2, 3, 6}, nil, 3, 6, []SeqNo{4}},
		{[]SeqNo{1, 3}, []SeqNo{2, 4}, nil, BeforeFirst, 4, []SeqNo{0}},
	} {
		a := fill(c.a...)
		got := a.Merge(fill(c.b...), nil)
		ack, _ := a.Ack(nil)
		if c.last == BeforeFirst && len(c.a) == 0 {
			ack.Cumulative = BeforeFirst
		}
		if !slices.Equal(got, c.deliver) || a.LastDelivered() != c.last || ack.Cumulative != c.ack || !slices.Equal(ack.Nacks, c.nacks) {
			t.Errorf("%v and %v: delivers %v, last %d, ack %v", c.a, c.b, got, a.LastDelivered(), ack)
		}
	}
}

// TestAckManyGaps has more gaps than fit one acknowledgement: it must not say of any that it has arrived.
func TestAckManyGaps(t *testing.T) {
	b := NewAckedReceiveBuffer[string](10000)
	for i := range SeqNo(3000) {
		b.Receive(2*i+1, "", nil)
	}
	ack, ok := b.Ack(nil)
	if !ok || len(ack.Nacks) != maxNacks || ack.Cumulative != 2*maxNacks-1 {
		t.Errorf("%v, %d nacks, cumulative %d", ok, len(ack.Nacks), ack.Cumulative)
	}
}

// TestRow13Cooperate sends through two buffers with a carrier that loses, repeats and reorders messages and
// acknowledgements: each message is delivered once, in order, and in the end all are.
func TestRow13Cooperate(t *testing.T) {
	runs := 3000
	if testing.Short() || raceEnabled {
		runs = 200
	}
	for seed := range uint64(runs) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		out, in := NewAckedSendBuffer[int](40), NewAckedReceiveBuffer[int](60)
		type packet struct {
			seq SeqNo
			msg int
		}
		var forth []packet
		var back []Ack
		n, got := 0, []int(nil)
		acked := BeforeFirst
		for step := 0; len(got) < 60 || out.Len() > 0; step++ {
			if step > 100000 {
				t.Fatalf("seed %d: no end, %d delivered, %d kept", seed, len(got), out.Len())
			}
			if n < 60 && out.Len() < 40 && rnd.IntN(2) == 0 {
				if err := out.Buffer(SeqNo(n), n); err != nil {
					t.Fatal(err)
				}
				forth = append(forth, packet{SeqNo(n), n})
				n++
			}
			if rnd.IntN(8) == 0 {
				out.NonAcked(func(s SeqNo, m int) bool { forth = append(forth, packet{s, m}); return rnd.IntN(3) > 0 })
			}
			if len(forth) > 0 {
				i := 0
				if rnd.IntN(3) == 0 {
					i = rnd.IntN(len(forth))
				}
				p := forth[i]
				if rnd.IntN(5) > 0 { // else it comes once more
					forth = slices.Delete(forth, i, i+1)
				}
				if rnd.IntN(3) > 0 { // else it is lost
					got, _ = in.Receive(p.seq, p.msg, got)
					if a, ok := in.Ack(nil); ok {
						back = append(back, a)
					}
				}
			}
			if len(back) > 0 && rnd.IntN(2) == 0 {
				i := 0
				if rnd.IntN(3) == 0 {
					i = rnd.IntN(len(back))
				}
				a := back[i]
				back = slices.Delete(back, i, i+1)
				if rnd.IntN(3) > 0 {
					err := out.Acknowledge(a.Cumulative, a.Nacks)
					if err != nil && (err != ErrNackUnknown || acked.Before(a.Cumulative)) {
						t.Fatalf("seed %d: %v by %v", seed, err, a)
					}
					acked = latest(acked, a.Cumulative)
					out.Nacked(func(s SeqNo, m int) bool { forth = append(forth, packet{s, m}); return true })
				}
			}
			if len(forth) > 500 {
				forth = forth[:0] // all of it lost
			}
		}
		for i, m := range got {
			if i != m {
				t.Fatalf("seed %d: delivered %v", seed, got)
			}
		}
	}
}

// TestAckedAllocations: in steady state reliable delivery allocates nothing.
func TestAckedAllocations(t *testing.T) {
	out, in := NewAckedSendBuffer[int](100), NewAckedReceiveBuffer[int](100)
	var deliver []int
	var nacks []SeqNo
	seq := SeqNo(0)
	round := func() {
		for range 10 {
			if err := out.Buffer(seq, 1); err != nil {
				t.Fatal(err)
			}
			seq++
		}
		for i := range SeqNo(10) {
			deliver, _ = in.Receive(seq-10+(i^1), 1, deliver[:0]) // pairs swapped
		}
		ack, _ := in.Ack(nacks[:0])
		if nacks = ack.Nacks; out.Acknowledge(ack.Cumulative, ack.Nacks) != nil || out.Len() != 0 {
			t.Fatal("not all is acknowledged")
		}
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
	// A buffer that is never empty does not grow either.
	for range 20 {
		out.Buffer(seq, 1)
		seq++
	}
	if n := testing.AllocsPerRun(1000, func() {
		out.Buffer(seq, 1)
		seq++
		out.Acknowledge(seq-20, nil)
	}); n != 0 || cap(out.entries) > 200 {
		t.Errorf("%v allocations, memory for %d", n, cap(out.entries))
	}
}
