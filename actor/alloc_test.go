package actor

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// The budgets of issue and DESIGN.md: what must not allocate, and how much an idle actor may weigh.

func skipRace(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
}

// TestAllocTell: a message between actors allocates nothing, whether the receiver is idle or not.
func TestAllocTell(t *testing.T) {
	skipRace(t)
	for _, window := range []int{1, 100} {
		s := quietSystem(t)
		startPingPong(s, 4, window, 10_000)() // rooms, rings and goroutines have their size
		const repeat = 50_000
		var before, after runtime.MemStats
		var done sync.WaitGroup
		done.Add(4)
		var ps []*Ref
		for range 4 {
			d := s.MustSpawn(NewProps(func() Actor { return echo{} }), "")
			p := &pinger{to: d, window: window, repeat: repeat, done: &done}
			ps = append(ps, s.MustSpawn(NewProps(func() Actor { return p }), ""))
		}
		runtime.ReadMemStats(&before)
		for _, p := range ps {
			p.Tell("go")
		}
		done.Wait()
		runtime.ReadMemStats(&after)
		if per := float64(after.Mallocs-before.Mallocs) / (2 * 4 * repeat); per > 0.005 {
			t.Errorf("window %d: %.4f allocations a message", window, per)
		}
	}
}

// TestAllocAsk: an ask is its promise, and at most one more.
func TestAllocAsk(t *testing.T) {
	skipRace(t)
	s := quietSystem(t)
	m := &ball{}
	for _, p := range []*Props{NewProps(func() Actor { return echo{} }), NewProps(func() Actor { return echo{} }).WithNonBlocking()} {
		r := s.MustSpawn(p, "")
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := AskFor[*ball](r, m, 5*time.Second); err != nil {
				t.Fatal(err)
			}
		}); n > 2 {
			t.Errorf("%.1f allocations an ask", n)
		}
	}
}

// TestAllocIdleActor: an idle actor, named and below a parent, weighs at most 480 bytes, and has neither goroutine nor
// timer.
func TestAllocIdleActor(t *testing.T) {
	skipRace(t)
	const n = 200_000
	s := quietSystem(t)
	var started sync.WaitGroup
	p := NewProps(func() Actor { return &starter{&started} })
	spawn := func(prefix string, n int) {
		started.Add(n)
		for i := range n {
			s.MustSpawn(p, fmt.Sprint(prefix, i))
		}
		started.Wait()
	}
	spawn("warm", 1000)
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, goroutines := heap(), runtime.NumGoroutine()
	spawn("idle", n)
	after := heap()
	per := float64(after-before) / n
	t.Logf("%.0f bytes an idle actor", per)
	if per > 480 {
		t.Errorf("an idle actor weighs %.0f bytes", per)
	}
	if g := runtime.NumGoroutine(); g > goroutines+runtime.GOMAXPROCS(0)+2 {
		t.Errorf("%d goroutines more", g-goroutines)
	}
	if s.scheduler.wheel.Len() != 0 {
		t.Errorf("%d timers", s.scheduler.wheel.Len())
	}
}

// TestAllocWire: the wire form of a Ref is copied.
func TestAllocWire(t *testing.T) {
	skipRace(t)
	s := quietSystem(t)
	r := s.MustSpawn(NewProps(func() Actor { return echo{} }), "wire")
	b := make([]byte, 0, 128)
	if n := testing.AllocsPerRun(1000, func() { b = r.AppendWire(b[:0]) }); n != 0 {
		t.Errorf("%.1f allocations", n)
	}
	if want := fmt.Sprintf("akka://bench/user/wire#%d", r.UID()); string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
}

func BenchmarkRefWire(b *testing.B) {
	s := quietSystem(b)
	r := s.MustSpawn(NewProps(func() Actor { return echo{} }), "wire")
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendWire(buf[:0])
	}
}

// TestCellLayout: what senders write and what the receiver reads for each message lie in cache lines apart.
func TestCellLayout(t *testing.T) {
	var c cell
	const line = 64
	if n := unsafe.Sizeof(c); n > 5*line && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("a cell has %d bytes, 320 is a size of Go's allocator that keeps lines apart", n)
	}
	if end := unsafe.Offsetof(c.over) + unsafe.Sizeof(c.over); unsafe.Offsetof(c.mu)/line != (end-1)/line {
		t.Error("what senders write is in two lines")
	}
	for name, at := range map[string]uintptr{"out": unsafe.Offsetof(c.out), "sysWaiting": unsafe.Offsetof(c.sysWaiting), "pos": unsafe.Offsetof(c.pos), "msg": unsafe.Offsetof(c.msg), "actor": unsafe.Offsetof(c.actor)} {
		if at/line == unsafe.Offsetof(c.mu)/line {
			t.Errorf("%s shares a line with what senders write", name)
		}
	}
}
