package actor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestExtensionMistakes(t *testing.T) {
	s, _, _ := observed(t, Config{})
	panics(t, "NewExtension of nothing", func() { NewExtension[int](nil) })

	var self *Extension[int]
	self = NewExtension(func(s *System) int { return self.Of(s) })
	panics(t, "an extension that needs itself", func() { self.Of(s) })
	var a, b *Extension[int]
	a = NewExtension(func(s *System) int { return b.Of(s) })
	b = NewExtension(func(s *System) int { return a.Of(s) })
	panics(t, "two that need each other", func() { a.Of(s) })

	// What fails once is tried again, by those too who waited for it.
	var calls atomic.Int64
	x := NewExtension(func(*System) int {
		switch calls.Add(1) {
		case 1:
			panic("not yet")
		case 2:
			runtime.Goexit()
		}
		return 7
	})
	panics(t, "an extension that panics", func() { x.Of(s) })
	var wg sync.WaitGroup
	wg.Go(func() { x.Of(s) })
	wg.Wait()
	if v := x.Of(s); v != 7 || calls.Load() != 3 {
		t.Errorf("%d after %d calls", v, calls.Load())
	}
}

func TestExtension(t *testing.T) {
	s1, _, _ := observed(t, Config{})
	s2, _, _ := observed(t, Config{})
	var made atomic.Int64
	base := NewExtension(func(s *System) *System { return s })
	x := NewExtension(func(s *System) *[2]*System {
		made.Add(1)
		return &[2]*System{base.Of(s), s}
	})
	var wg sync.WaitGroup
	var got [2]sync.Map
	for range 50 {
		wg.Go(func() { got[0].Store(x.Of(s1), true) })
		wg.Go(func() { got[1].Store(x.Of(s2), true); base.Of(s1) })
	}
	wg.Wait()
	for i, s := range []*System{s1, s2} {
		got[i].Range(func(k, _ any) bool {
			if v := k.(*[2]*System); v != x.Of(s) || v[0] != s || v[1] != s {
				t.Errorf("system %d has another one", i)
			}
			return true
		})
	}
	if made.Load() != 2 {
		t.Errorf("made %d times for 2 systems", made.Load())
	}
	// An interface, and nil, is a value like others.
	var asked int
	null := NewExtension(func(*System) error { asked++; return nil })
	_ = null.Of(s1)
	if null.Of(s1) != nil || asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	endSystem(t, s1)
	if x.Of(s1) == nil || made.Load() != 2 {
		t.Error("it is gone with the system")
	}
}

func BenchmarkExtension(b *testing.B) {
	s, err := NewSystem("seen", Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Terminate()
	x := NewExtension(func(s *System) *System { return s })
	for b.Loop() {
		x.Of(s)
	}
}
