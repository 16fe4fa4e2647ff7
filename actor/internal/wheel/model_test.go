package wheel

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// model does what a Wheel does, with a slice that it sorts.
type model struct {
	tick    time.Duration
	cur     uint64
	seq     int
	pending []entry
}

type entry struct {
	t        *Timer
	tick     uint64
	deadline time.Duration
	seq      int
}

func (m *model) add(t *Timer, deadline time.Duration) {
	m.remove(t)
	e := entry{t: t, deadline: max(deadline, 0), seq: m.seq}
	e.tick = uint64(e.deadline / m.tick)
	if e.deadline%m.tick != 0 {
		e.tick++
	}
	e.tick = max(e.tick, m.cur+1)
	m.seq++
	m.pending = append(m.pending, e)
	slices.SortFunc(m.pending, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.seq, b.seq))
	})
}

func (m *model) remove(t *Timer) bool {
	i := slices.IndexFunc(m.pending, func(e entry) bool { return e.t == t })
	if i >= 0 {
		m.pending = slices.Delete(m.pending, i, i+1)
	}
	return i >= 0
}

func (m *model) advance(now time.Duration) *Timer {
	if !m.reach(now) {
		return nil
	}
	e := m.pending[0]
	m.pending = m.pending[1:]
	if e.t.Every > 0 {
		next := e.deadline
		if now >= next {
			next += ((now-next)/e.t.Every + 1) * e.t.Every
		}
		m.add(e.t, next)
	}
	return e.t
}

// reach reports whether something is due.
func (m *model) reach(now time.Duration) bool {
	target := max(uint64(max(now, 0)/m.tick), m.cur)
	if len(m.pending) == 0 || m.pending[0].tick > target {
		m.cur = target
		return false
	}
	m.cur = max(m.cur, m.pending[0].tick)
	return true
}

// steps does to a wheel and to the model what the bytes say, and compares.
func steps(t *testing.T, data []byte) {
	byteOf := func() (b byte) {
		if len(data) > 0 {
			b, data = data[0], data[1:]
		}
		return b
	}
	// span is a duration of any size: most are within some turns, some are huge.
	span := func() time.Duration {
		var raw [8]byte
		shift := byteOf() % 64
		for i := range raw[:2] {
			raw[i] = byteOf()
		}
		return time.Duration((binary.LittleEndian.Uint64(raw[:]) << shift) & math.MaxInt64)
	}
	tick := max(time.Duration(byteOf())*time.Duration(byteOf()), 1)
	w := New(tick, int(byteOf()))
	m := &model{tick: tick}
	timers := make([]Timer, 16)
	now := time.Duration(0)
	for len(data) > 0 {
		x := &timers[byteOf()%16]
		switch op := byteOf() % 9; op {
		case 0, 1, 2:
			d := span()
			if op == 1 && d < math.MaxInt64-now {
				d += now
			}
			if m.remove(x) != w.Remove(x) {
				t.Fatal("Remove before Add differs from the model")
			}
			x.Every = 0
			if every := time.Duration(byteOf()) << 20; op == 2 && every > 0 && d < math.MaxInt64/4 {
				x.Every = every
			}
			m.add(x, d)
			w.Add(x, d)
		case 3:
			if m.remove(x) != w.Remove(x) {
				t.Fatal("Remove differs from the model")
			}
		case 4:
			if next, ok := w.Next(); ok && next > now && next < math.MaxInt64/2 {
				now = next
			}
		case 5:
			if d := span(); d < math.MaxInt64/2-now {
				now += d
			}
		case 6:
			m.reach(now)
			w.Reach(now)
		default: // sometimes only a part of what is due
			for range byteOf() {
				got, want := w.Advance(now), m.advance(now)
				if got != want {
					t.Fatalf("Advance(%v) differs from the model: got %v, want %v", now, got, want)
				}
				if got == nil {
					break
				}
				if got.Every == 0 && got.deadline > now {
					t.Fatalf("due at %v, early at %v", got.deadline, now)
				}
			}
		}
		if w.Len() != len(m.pending) {
			t.Fatalf("%d timers, want %d", w.Len(), len(m.pending))
		}
		next, ok := w.Next()
		if ok != (len(m.pending) > 0) {
			t.Fatal("Next differs from the model")
		}
		if ok && next > w.time(m.pending[0].tick) {
			t.Fatalf("Next is %v, after the first at %v", next, w.time(m.pending[0].tick))
		}
	}
}

func TestAgainstTheModel(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 300
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 6))
		data := make([]byte, 2000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		steps(t, data)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzWheel(f *testing.F) {
	f.Add([]byte{200, 200, 8, 1, 0, 20, 1, 1, 2, 0, 20, 1, 1, 4, 4, 7, 9})
	f.Add([]byte{1, 1, 2, 1, 0, 62, 255, 255, 0, 4, 7, 9})
	f.Add([]byte{10, 250, 9, 3, 2, 20, 5, 5, 1, 3, 5, 30, 9, 9, 7, 255})
	f.Fuzz(steps)
}
