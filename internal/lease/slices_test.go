package lease

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"
)

func newTestSlices(t testing.TB, bound int) *Slices[int] {
	t.Helper()
	s, err := NewSlices(bound, SliceOptions[int]{MinLen: 4, MaxLen: 1000, Weight: 2, Poison: func(b []int) {
		for i := range b {
			b[i] = 999
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSlicesRent(t *testing.T) {
	s := newTestSlices(t, 16)
	for _, c := range []struct{ n, capacity int }{{-1, 0}, {0, 0}, {1, 4}, {4, 4}, {5, 8}, {8, 8}, {100, 128}, {1000, 1024}, {1024, 1024}, {1025, 1025}} {
		b := s.Rent(c.n)
		if len(b) != max(c.n, 0) || cap(b) != c.capacity {
			t.Errorf("Rent(%d): len %d cap %d, want capacity %d", c.n, len(b), cap(b), c.capacity)
		}
		s.Return(b)
	}
	st := s.Stats()
	if st.Outstanding() != 0 || s.Foreign() != 0 {
		t.Errorf("%+v, %d foreign", st, s.Foreign())
	}
}

func TestSlicesClearedAndUsedAgain(t *testing.T) {
	s := newTestSlices(t, 16)
	b := s.Rent(6)
	for i := range b {
		b[i] = 42
	}
	first := unsafe.SliceData(b)
	s.Return(b)
	want := map[bool]int{true: 999}[Checking]
	for i, v := range b {
		if v != want {
			t.Errorf("element %d is %d in the pool, want %d", i, v, want)
		}
	}
	b = s.Rent(8)
	if unsafe.SliceData(b) != first {
		t.Error("the slice was not used again")
	}
	for i, v := range b {
		if v != 0 {
			t.Errorf("element %d is %d after the rent", i, v)
		}
	}
}

func TestSlicesDirty(t *testing.T) {
	s, err := NewSlices(8, SliceOptions[byte]{MinLen: 4, MaxLen: 64, Dirty: true, Poison: func(b []byte) { b[0] = 0xDB }})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Rent(4)
	b[0] = 42
	s.Return(b)
	if want := map[bool]byte{true: 0xDB, false: 42}[Checking]; s.Rent(4)[0] != want {
		t.Errorf("not left as it was: %d", b[0])
	}
}

// TestSlicesForeign: what cannot be from the pool never gets into it.
func TestSlicesForeign(t *testing.T) {
	s := newTestSlices(t, 16)
	s.Return(make([]int, 5))      // no class
	s.Return(s.Rent(6)[:6:6])     // the exact slice instead of the whole
	s.Return(nil)                 // nothing
	s.Return(make([]int, 0))      // nothing
	s.Return(make([]int, 100000)) // above the largest
	s.Return(make([]int, 2))      // below the smallest
	if st := s.Stats(); st.Idle != 0 || s.Foreign() != 3 {
		t.Errorf("%+v, %d foreign", st, s.Foreign())
	}
}

func TestSlicesBound(t *testing.T) {
	s := newTestSlices(t, 100)
	kept := func(n int) int {
		t.Helper()
		before := s.Stats().Idle
		rented := make([][]int, 500)
		for i := range rented {
			rented[i] = s.Rent(n)
		}
		for _, b := range rented {
			s.Return(b)
		}
		return s.Stats().Idle - before
	}
	// Weight 2: 200 elements of each size, at most 100 slices, at least 2.
	for _, c := range []struct{ n, kept int }{{1, 50}, {8, 25}, {16, 12}, {32, 6}, {64, 3}, {1000, 2}} {
		if got := kept(c.n); got != c.kept {
			t.Errorf("%d slices of %d kept, want %d", got, c.n, c.kept)
		}
	}
	if err := s.Raise(2400); err != nil || s.Stats().Bound != 2400 {
		t.Errorf("bound %d after Raise: %v", s.Stats().Bound, err)
	}
	if got := kept(64); got != 75-3 {
		t.Errorf("%d more slices kept after Raise, want 72", got)
	}
	if err := s.Raise(10); err != nil || s.Stats().Bound != 2400 {
		t.Errorf("bound %d after a lower Raise: %v", s.Stats().Bound, err)
	}
}

func TestSlicesConcurrent(t *testing.T) {
	s := newTestSlices(t, 64)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			var held [][]int
			for i := range 2000 {
				b := s.Rent(1 + (i*7+w)%300)
				for j := range b {
					if b[j] != 0 {
						t.Errorf("element %d of a rented slice is %d", j, b[j])
						return
					}
					b[j] = w + 1
				}
				held = append(held, b)
				if len(held) > w%5 {
					for _, b := range held {
						for j := range b {
							if b[j] != w+1 {
								t.Error("a slice has two users")
								return
							}
						}
						s.Return(b)
					}
					held = held[:0]
				}
			}
			for _, b := range held {
				s.Return(b)
			}
		})
	}
	wg.Wait()
	if st := s.Stats(); st.Outstanding() != 0 || st.Misses != uint64(st.Idle)+st.Drops {
		t.Errorf("%+v", st)
	}
}

func TestSlicesAllocations(t *testing.T) {
	if Checking {
		t.Skip("the race detector allocates")
	}
	s := newTestSlices(t, 64)
	if n := testing.AllocsPerRun(1000, func() {
		a, b := s.Rent(100), s.Rent(100)
		s.Return(a)
		s.Return(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSlices(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"100", 100}, {"1000", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			s := newTestSlices(b, DefaultBound)
			b.ReportAllocs()
			for b.Loop() {
				s.Return(s.Rent(c.n))
			}
		})
		b.Run(c.name+"/16goroutines", func(b *testing.B) {
			s := newTestSlices(b, DefaultBound)
			b.ReportAllocs()
			b.SetParallelism((16 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s.Return(s.Rent(c.n))
				}
			})
		})
	}
}
