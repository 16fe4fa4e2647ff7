package lease

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// object is what the tests rent.
type object struct {
	value int
	next  *object // what must not be kept alive
	idle  atomic.Uint32
	users atomic.Int32
}

func newTestPool(t testing.TB, bound int) *Pool[object] {
	t.Helper()
	p, err := NewPool(bound, Options[object]{
		Clear:  func(o *object) { o.value, o.next = 0, nil },
		Poison: func(o *object) { o.value = 999 },
		Idle:   func(o *object) *atomic.Uint32 { return &o.idle },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func rentMany(p *Pool[object], n int) []*object {
	out := make([]*object, n)
	for i := range out {
		out[i] = p.Rent()
	}
	return out
}

func TestPoolRentGivesReturned(t *testing.T) {
	p := newTestPool(t, 8)
	objects := rentMany(p, 5)
	returned := map[*object]bool{}
	for _, o := range objects {
		p.Return(o)
		returned[o] = true
	}
	for range objects {
		if o := p.Rent(); !returned[o] {
			t.Error("not an object that was returned")
		} else {
			delete(returned, o)
		}
	}
	if s := p.Stats(); s.Misses != 5 || s.Rents != 10 || s.Returns != 5 || s.Outstanding() != 5 || s.Idle != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPoolEmptyGivesFresh(t *testing.T) {
	p := newTestPool(t, 8)
	a, b := p.Rent(), p.Rent()
	if a == nil || b == nil || a == b {
		t.Fatal("two rents of an empty pool must be two objects")
	}
	if s := p.Stats(); s.Misses != 2 {
		t.Errorf("%d misses, want 2", s.Misses)
	}
}

func TestPoolDoubleReturn(t *testing.T) {
	t.Run("remembered by the object", func(t *testing.T) {
		p := newTestPool(t, 8)
		first, o := p.Rent(), p.Rent()
		p.Return(first) // so that o is not in the first slot
		p.Return(o)
		p.Return(o)
		if s := p.Stats(); s.Idle != 2 || s.Doubles != 1 || s.Returns != 2 {
			t.Errorf("%+v", s)
		}
		if a, b, c := p.Rent(), p.Rent(), p.Rent(); a == b || b == c || a == c {
			t.Error("an object was handed out twice")
		}
	})
	t.Run("in the first slot", func(t *testing.T) {
		p, _ := NewPool(8, Options[object]{})
		o := p.Rent()
		p.Return(o)
		p.Return(o)
		if s := p.Stats(); s.Idle != 1 || s.Doubles != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("nil", func(t *testing.T) {
		p := newTestPool(t, 8)
		p.Return(nil)
		if s := p.Stats(); s.Idle != 0 || s.Returns != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestPoolMarkClearedOnRent(t *testing.T) {
	p := newTestPool(t, 8)
	o := p.Rent()
	for range 3 {
		p.Return(o)
		if p.Rent() != o {
			t.Fatal("another object")
		}
		if o.idle.Load() != 0 {
			t.Fatal("a rented object still says that it is in the pool")
		}
	}
	if s := p.Stats(); s.Doubles != 0 || s.Returns != 3 {
		t.Errorf("%+v", s)
	}
}

func TestPoolFieldsReset(t *testing.T) {
	p := newTestPool(t, 8)
	o := p.Rent()
	o.value, o.next = 42, new(object)
	p.Return(o)
	if o.next != nil {
		t.Error("an object in the pool keeps another alive")
	}
	if want := map[bool]int{true: 999}[Checking]; o.value != want {
		t.Errorf("value in the pool is %d, want %d", o.value, want)
	}
	if o = p.Rent(); o.value != 0 {
		t.Errorf("value after the rent is %d", o.value)
	}
}

func TestPoolBound(t *testing.T) {
	for _, bound := range []int{1, 2, 63, 64, 65, 100, 1024} {
		p := newTestPool(t, bound)
		objects := rentMany(p, bound+10)
		for _, o := range objects {
			p.Return(o)
		}
		if s := p.Stats(); s.Idle != bound || s.Bound != bound || s.Drops != 10 {
			t.Errorf("bound %d: %+v", bound, s)
		}
		rentMany(p, bound)
		if s := p.Stats(); int(s.Misses) != bound+10 || s.Idle != 0 {
			t.Errorf("bound %d: not all kept objects came back: %+v", bound, s)
		}
	}
}

func TestPoolRejectsBound(t *testing.T) {
	for _, bound := range []int{0, -1, -1024} {
		if p, err := NewPool(bound, Options[object]{}); !errors.Is(err, ErrBound) || p != nil {
			t.Errorf("NewPool(%d): %v", bound, err)
		}
		if s, err := NewSlices(bound, SliceOptions[int]{MaxLen: 8}); !errors.Is(err, ErrBound) || s != nil {
			t.Errorf("NewSlices(%d): %v", bound, err)
		}
		p := newTestPool(t, 8)
		if err := p.Raise(bound); !errors.Is(err, ErrBound) || p.Stats().Bound != 8 {
			t.Errorf("Raise(%d): %v", bound, err)
		}
		s, _ := NewSlices(8, SliceOptions[int]{MaxLen: 8})
		if err := s.Raise(bound); !errors.Is(err, ErrBound) || s.Stats().Bound != 8 {
			t.Errorf("Slices.Raise(%d): %v", bound, err)
		}
	}
}

func TestPoolRaise(t *testing.T) {
	p := newTestPool(t, 4)
	fill := func() {
		for _, o := range rentMany(p, 500) {
			p.Return(o)
		}
	}
	fill()
	if err := p.Raise(200); err != nil {
		t.Fatal(err)
	}
	fill()
	if s := p.Stats(); s.Bound != 200 || s.Idle != 200 {
		t.Errorf("raised: %+v", s)
	}
	for _, lower := range []int{1, 199, 200} {
		if err := p.Raise(lower); err != nil || p.Stats().Bound != 200 {
			t.Errorf("Raise(%d): %v, bound %d", lower, err, p.Stats().Bound)
		}
	}
}

func TestBoundFor(t *testing.T) {
	for _, c := range []struct{ items, bound int }{
		{-5, 1024}, {0, 1024}, {512, 1024}, {513, 1026}, {1200, 2400}, {32768, 65536}, {1_000_000, 65536}, {1 << 62, 65536},
	} {
		if got := BoundFor(c.items); got != c.bound {
			t.Errorf("BoundFor(%d) = %d, want %d", c.items, got, c.bound)
		}
	}
}

// TestPoolQueueOnFirstUse: a pool that one user rents from alone has no queue.
func TestPoolQueueOnFirstUse(t *testing.T) {
	p := newTestPool(t, 1024)
	for range 100 {
		p.Return(p.Rent())
	}
	if p.queue.Load() != nil {
		t.Error("the queue was made without need")
	}
	a, b := p.Rent(), p.Rent()
	p.Return(a)
	p.Return(b)
	if q := p.queue.Load(); q == nil || len(q.front.Load().slots) != firstRing {
		t.Error("no small queue for the second object")
	}
}

// TestPoolConcurrent: no object has two users at a time, and none is lost or made up.
func TestPoolConcurrent(t *testing.T) {
	p := newTestPool(t, 100)
	const workers, rounds = 16, 3000
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var held []*object
			for i := range rounds {
				for range 1 + (w+i)%9 {
					o := p.Rent()
					if o.users.Add(1) != 1 {
						t.Error("an object has two users")
					}
					o.value = i
					held = append(held, o)
				}
				if i%64 == 0 {
					_ = p.Raise(100 + i/64)
					runtime.Gosched()
				}
				for _, o := range held {
					o.users.Add(-1)
					p.Return(o)
				}
				held = held[:0]
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	if s.Outstanding() != 0 || s.Doubles != 0 || s.Idle > s.Bound {
		t.Errorf("%+v", s)
	}
	if s.Misses != uint64(s.Idle)+s.Drops {
		t.Errorf("%d made, %d kept and %d dropped", s.Misses, s.Idle, s.Drops)
	}
	seen := map[*object]bool{}
	for range s.Idle {
		o := p.Rent()
		if seen[o] {
			t.Error("an object is twice in the pool")
		}
		seen[o] = true
	}
	if p.Stats().Misses != s.Misses {
		t.Error("an object that was counted is not there")
	}
}

func TestPoolAllocations(t *testing.T) {
	if Checking {
		t.Skip("the race detector allocates")
	}
	p := newTestPool(t, 1024)
	many := rentMany(p, 500)
	for _, o := range many {
		p.Return(o)
	}
	if n := testing.AllocsPerRun(1000, func() { p.Return(p.Rent()) }); n != 0 {
		t.Errorf("first slot: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		for i := range many {
			many[i] = p.Rent()
		}
		for _, o := range many {
			p.Return(o)
		}
	}); n != 0 {
		t.Errorf("queue: %v allocations", n)
	}
}

func BenchmarkPool(b *testing.B) {
	full := func(b *testing.B, bound int) *Pool[object] {
		p := newTestPool(b, bound)
		for _, o := range rentMany(p, bound) {
			p.Return(o)
		}
		return p
	}
	for _, bound := range []int{DefaultBound, MaxBound} {
		name := map[int]string{DefaultBound: "1024", MaxBound: "65536"}[bound]
		b.Run("full/"+name, func(b *testing.B) { // each return is beyond the bound
			p := full(b, bound)
			extra := new(object)
			b.ReportAllocs()
			for b.Loop() {
				p.Return(extra)
				extra.idle.Store(0)
			}
		})
		b.Run("queue/"+name, func(b *testing.B) { // rent two, return two: one of each is in the queue
			p := full(b, bound)
			b.ReportAllocs()
			for b.Loop() {
				x, y := p.Rent(), p.Rent()
				p.Return(x)
				p.Return(y)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		p := full(b, DefaultBound)
		b.ReportAllocs()
		for b.Loop() {
			p.Return(p.Rent())
		}
	})
	b.Run("empty", func(b *testing.B) {
		p := newTestPool(b, DefaultBound)
		b.ReportAllocs()
		for b.Loop() {
			sink = p.Rent()
		}
	})
	b.Run("16goroutines", func(b *testing.B) {
		p := full(b, DefaultBound)
		b.ReportAllocs()
		b.SetParallelism((16 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p.Return(p.Rent())
			}
		})
	})
}

var sink *object
