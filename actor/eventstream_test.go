package actor

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

type (
	apple  struct{ n int }
	pear   struct{ n int }
	fruit  interface{ weight() int }
	stoned interface{ stones() int }
)

func (a apple) weight() int { return a.n }
func (p *pear) weight() int { return p.n }
func (p *pear) stones() int { return 1 }

func TestStreamRefusesMistakes(t *testing.T) {
	s, book, _ := observed(t, Config{})
	panics(t, "Subscribe of nobody", func() { Subscribe[apple](s, nil) })
	panics(t, "Unsubscribe of nobody", func() { Unsubscribe[apple](s, nil) })
	panics(t, "UnsubscribeAll of nobody", func() { s.EventStream().UnsubscribeAll(nil) })
	panics(t, "SubscribeFunc of nothing", func() { SubscribeFunc[apple](s, nil) })

	s.EventStream().Publish(nil)
	if n := len(book.of("WARN", "dropped", "cannot be nil", "/system/eventStream")); n != 1 || s.Stats().Dropped != 1 {
		t.Errorf("%d lines, %d dropped after an event that is nil", n, s.Stats().Dropped)
	}
	r, ch := forwarder(s)
	Subscribe[any](s, r)
	s.EventStream().Publish(nil)
	if m := got(t, r, ch); len(m) != 1 || pathOf(m[0].(Dropped).Recipient) != "/system/eventStream" {
		t.Errorf("got %v", m)
	}
}

func TestStreamOfStoppedActor(t *testing.T) {
	s, _, _ := observed(t, Config{})
	r, _ := forwarder(s)
	endActor(t, r)
	if Subscribe[apple](s, r) {
		t.Error("an actor that has stopped could subscribe")
	}
	if !s.EventStream().quiet() || len(s.EventStream().watched) != 0 {
		t.Error("its subscription is still there")
	}
	if Subscribe[apple](s, s.DeadLetters()) {
		t.Error("the dead letters could subscribe")
	}
	if Unsubscribe[apple](s, r) || s.EventStream().UnsubscribeAll(r) {
		t.Error("it could unsubscribe")
	}
}

// A subscriber that stops is taken off, and nothing of it is kept.
func TestStreamForgetsSubscribers(t *testing.T) {
	s, _, _ := observed(t, Config{})
	e := s.EventStream()
	for range 200 {
		r, _ := forwarder(s)
		if !Subscribe[apple](s, r) || !Subscribe[fruit](s, r) || Subscribe[fruit](s, r) {
			t.Fatal("subscribing reports the wrong thing")
		}
		go e.Publish(apple{})
		s.Stop(r)
	}
	eventually(t, "all are taken off", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.quiet() && len(e.watched) == 0
	})
}

// Subscribing, unsubscribing and stopping at the same time leaves nothing behind.
func TestStreamRace(t *testing.T) {
	s, _, _ := observed(t, Config{})
	e := s.EventStream()
	for range 50 {
		r, _ := forwarder(s)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				for range 20 {
					if i == 0 {
						Subscribe[apple](s, r)
					} else {
						e.UnsubscribeAll(r)
					}
					e.Publish(apple{})
				}
			})
		}
		wg.Go(func() { s.Stop(r) })
		wg.Wait()
	}
	eventually(t, "all are taken off", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.quiet() && len(e.watched) == 0
	})
}

func TestStreamByType(t *testing.T) {
	s, _, _ := observed(t, Config{})
	e := s.EventStream()
	all := []any{apple{1}, &pear{2}, "text", 3, pear{4}}
	for _, c := range []struct {
		name      string
		subscribe func(*Ref)
		want      []any
	}{
		{"type", func(r *Ref) { Subscribe[apple](s, r) }, []any{apple{1}}},
		{"pointer", func(r *Ref) { Subscribe[*pear](s, r) }, []any{all[1]}},
		{"interface", func(r *Ref) { Subscribe[fruit](s, r) }, []any{apple{1}, all[1]}},
		{"two interfaces and the type: once", func(r *Ref) {
			Subscribe[fruit](s, r)
			Subscribe[stoned](s, r)
			Subscribe[*pear](s, r)
		}, []any{apple{1}, all[1]}},
		{"any", func(r *Ref) { Subscribe[any](s, r) }, all},
		{"without a part", func(r *Ref) { Subscribe[any](s, r); Unsubscribe[fruit](s, r) }, []any{"text", 3, pear{4}}},
		{"a part of the part again", func(r *Ref) {
			Subscribe[any](s, r)
			Unsubscribe[fruit](s, r)
			Subscribe[apple](s, r)
		}, []any{apple{1}, "text", 3, pear{4}}},
		{"not any more", func(r *Ref) { Subscribe[apple](s, r); Unsubscribe[apple](s, r) }, nil},
		{"none at all", func(r *Ref) { Subscribe[apple](s, r); Subscribe[int](s, r); e.UnsubscribeAll(r) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ch := forwarder(s)
			e.Publish(apple{0}) // fills the table by type before
			c.subscribe(r)
			for range 2 {
				for _, m := range all {
					e.Publish(m)
				}
				if g := got(t, r, ch); !reflect.DeepEqual(g, c.want) {
					t.Errorf("got %v, want %v", g, c.want)
				}
			}
			endActor(t, r)
		})
	}
}

func TestStreamFunc(t *testing.T) {
	s, book, _ := observed(t, Config{})
	var n, m int
	cancel := SubscribeFunc(s, func(a apple) { n += a.n })
	SubscribeFunc(s, func(f fruit) { m += f.weight() })
	s.EventStream().Publish(apple{3})
	s.EventStream().Publish(&pear{4})
	s.EventStream().Publish("text")
	cancel()
	cancel()
	s.EventStream().Publish(apple{5})
	if n != 3 || m != 12 {
		t.Errorf("got %d and %d", n, m)
	}
	if len(book.of("ERROR")) != 0 {
		t.Error(book.of(""))
	}
}

func TestStreamFuncPanics(t *testing.T) {
	s, book, clock := observed(t, Config{})
	after := 0
	SubscribeFunc(s, func(apple) { panic(errors.New("bad apple")) })
	SubscribeFunc(s, func(apple) { after++ })
	for range 1000 {
		s.EventStream().Publish(apple{})
	}
	if after != 1000 {
		t.Errorf("the next subscriber got %d of 1000", after)
	}
	lines := book.of("ERROR", "panicked", "actor.apple", "bad apple")
	if len(lines) != linesASecond || !strings.Contains(lines[0], "TestStreamFuncPanics") {
		t.Errorf("%d lines, the first %.200s", len(lines), lines)
	}
	clock.advance(1e9)
	s.EventStream().Publish(apple{})
	if n := len(book.of("suppressed=990")); n != 1 {
		t.Errorf("%d lines say how many were left out", n)
	}
}

// A function that publishes what it is called for does not go on for ever, nor do two that call each other, nor one
// that answers a dead letter with another.
func TestStreamFuncInCircles(t *testing.T) {
	s, book, _ := observed(t, Config{})
	r, _ := forwarder(s)
	endActor(t, r)
	var apples, pears, letters int
	SubscribeFunc(s, func(apple) { apples++; s.EventStream().Publish(pear{}); s.EventStream().Publish(pear{}) })
	SubscribeFunc(s, func(pear) { pears++; deep(2000, func() { s.EventStream().Publish(apple{}) }) })
	SubscribeFunc(s, func(DeadLetter) { letters++; r.Tell("more"); r.Tell("more") })
	s.EventStream().Publish(apple{})
	if apples == 0 || apples > 100 || pears == 0 || pears > 100 {
		t.Errorf("%d apples, %d pears", apples, pears)
	}
	r.Tell("one")
	if letters == 0 || letters > 100 {
		t.Errorf("%d dead letters", letters)
	}
	if len(book.of("ERROR", "causes it itself")) == 0 {
		t.Error("it was not logged")
	}
}

// deep calls f from so many frames further down.
//
//go:noinline
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

// Many goroutines in a function at the same time are no circle.
func TestStreamFuncConcurrent(t *testing.T) {
	s, book, _ := observed(t, Config{})
	const n = 50
	var in sync.WaitGroup
	in.Add(n)
	var calls atomic.Int64
	SubscribeFunc(s, func(apple) { calls.Add(1); in.Done(); in.Wait() })
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { s.EventStream().Publish(apple{}) })
	}
	wg.Wait()
	if calls.Load() != n || len(book.of("ERROR")) != 0 {
		t.Errorf("%d calls, %v", calls.Load(), book.of("ERROR"))
	}
}

// News of dead letters that cannot be delivered, or are not handled, are not news again.
func TestStreamNewsOfNews(t *testing.T) {
	s, _, _ := observed(t, Config{})
	in, busy := make(chan struct{}), make(chan struct{})
	n := 0
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		if n++; n > 1000 {
			return
		}
		if m == "wait" {
			close(in)
			<-busy
		}
		ctx.Unhandled()
	}), "")
	Subscribe[any](s, r)
	gone, _ := forwarder(s)
	endActor(t, gone)
	r.Tell("wait")
	<-in
	gone.Tell("nobody hears")
	s.Stop(r)
	close(busy)
	endActor(t, r)
	// In its mailbox are left the DeadLetter about gone, and the UnhandledMessage about "wait".
	if st := s.Stats(); n != 1 || st.DeadLetters != 3 || st.Unhandled != 1 {
		t.Errorf("%d messages handled, %+v", n, st)
	}
	handled := make(chan any, 100)
	q := s.MustSpawn(FromFunc(func(ctx *Context, m any) { handled <- m; ctx.Unhandled() }), "")
	Subscribe[UnhandledMessage](s, q)
	q.Tell("odd")
	<-handled
	if m := (<-handled).(UnhandledMessage); m.Message != "odd" {
		t.Errorf("got %v", m)
	}
	if m := got(t, q, handled); len(m) != 0 {
		t.Errorf("then got %v", m)
	}
}

// A function that ends the goroutine while an actor's last messages become dead letters does not keep its parent from
// hearing of the end.
func TestStreamFuncEndsGoroutine(t *testing.T) {
	s, _, _ := observed(t, Config{})
	in := make(chan struct{})
	r := s.MustSpawn(FromFunc(func(*Context, any) { <-in }), "")
	cancel := SubscribeFunc(s, func(DeadLetter) { runtime.Goexit() })
	defer cancel()
	for i := range 10 {
		r.Tell(i)
	}
	s.Stop(r)
	close(in)
	endActor(t, r)
	endSystem(t, s)
}

func TestStreamAfterTheEnd(t *testing.T) {
	s, _, _ := observed(t, Config{})
	r, _ := forwarder(s)
	n := 0
	SubscribeFunc(s, func(DeadLetter) { n++ })
	Subscribe[DeadLetter](s, r)
	endSystem(t, s)
	n = 0
	r.Tell("late")
	s.EventStream().Publish(apple{})
	if n != 1 || Subscribe[apple](s, r) || s.Stats().DeadLetters == 0 {
		t.Errorf("%d dead letters told", n)
	}
}

// Events of one publisher arrive in order, each once, while others subscribe and unsubscribe.
func TestStreamOrder(t *testing.T) {
	s, _, _ := observed(t, Config{})
	const publishers, events = 4, 500
	r, ch := forwarder(s)
	Subscribe[string](s, r)
	done := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				SubscribeFunc(s, func(fruit) {})()
			}
		}
	})
	var wg sync.WaitGroup
	for p := range publishers {
		wg.Go(func() {
			for i := range events {
				s.EventStream().Publish(fmt.Sprintf("%d %d", p, i))
			}
		})
	}
	wg.Wait()
	close(done)
	others.Wait()
	var next [publishers]int
	for _, m := range got(t, r, ch) {
		var p, i int
		fmt.Sscan(m.(string), &p, &i)
		if i != next[p] {
			t.Fatalf("publisher %d: %d after %d", p, i, next[p]-1)
		}
		next[p]++
	}
	for p, n := range next {
		if n != events {
			t.Errorf("publisher %d: %d of %d", p, n, events)
		}
	}
}

func TestStreamAlloc(t *testing.T) {
	s, _, _ := observed(t, Config{})
	var event any = apple{1}
	publish := func() { s.EventStream().Publish(event) }
	if n := testing.AllocsPerRun(100, publish); n != 0 {
		t.Errorf("%v allocations without subscribers", n)
	}
	var sum int
	SubscribeFunc(s, func(a apple) { sum += a.n })
	if n := testing.AllocsPerRun(100, publish); n != 0 {
		t.Errorf("%v allocations with a function", n)
	}
}

func BenchmarkPublish(b *testing.B) {
	s, err := NewSystem("seen", Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Terminate()
	var event any = &pear{1}
	run := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.EventStream().Publish(event)
		}
	}
	b.Run("nobody", run)
	cancel := SubscribeFunc(s, func(apple) {})
	b.Run("others", run)
	cancel()
	cancel = SubscribeFunc(s, func(fruit) {})
	b.Run("func", run)
	cancel()
	r := s.MustSpawn(FromFunc(func(*Context, any) {}), "")
	Subscribe[fruit](s, r)
	b.Run("actor", run)
}
