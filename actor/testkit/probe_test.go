package testkit

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

func echo() *actor.Props {
	return actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) })
}

func TestProbe(t *testing.T) {
	k := New(t, Options{NoFailures: true, NoDeadLetters: true})
	p, q := k.NewProbe(""), k.NewProbe("")
	if p.Ref().Name() != "probe-1" || q.Ref().Name() != "probe-2" {
		t.Errorf("the probes are %s and %s", p.Ref(), q.Ref())
	}
	a := k.Spawn(echo(), "echo")
	p.Send(a, "hello")
	p.Expect("hello")
	if p.Sender() != a || p.LastMessage() != "hello" {
		t.Errorf("%v from %v", p.LastMessage(), p.Sender())
	}
	q.Send(p.Ref(), done{1})
	if d := ExpectType[done](p); d.N != 1 {
		t.Errorf("got %v", d)
	}
	p.Reply(done{2})
	q.Expect(done{2})
	p.Forward(a) // done{1}, from q
	q.Expect(done{1})
	p.ExpectNone(10 * time.Millisecond)
	for i := range 10 {
		p.Ref().Tell(i)
	}
	if m := p.FishFor("a seven", func(m any) bool { return m == 7 }); m != 7 {
		t.Errorf("fished %v", m)
	}
	k.Settle()
	if w := p.Waiting(); len(w) != 2 || w[0] != 8 {
		t.Errorf("waiting: %v", w)
	}
	p.ExpectAllOf(9, 8)
	if m, ok := p.Receive(time.Millisecond); ok || m != nil {
		t.Errorf("received %v", m)
	}
	p.Ref().Tell("x")
	if m, ok := p.Receive(time.Second); !ok || m != "x" || p.Sender() != nil {
		t.Errorf("received %v from %v", m, p.Sender())
	}
}

func TestProbeWatches(t *testing.T) {
	k := New(t)
	p := k.NewProbe("p")
	a, b := k.Spawn(echo(), "a"), k.Spawn(echo(), "b")
	p.Watch(a)
	p.Watch(b)
	p.Unwatch(b)
	k.Stop(b)
	k.Stop(a)
	if m := p.ExpectTerminated(a); !m.ExistenceConfirmed {
		t.Error("the actor did not exist")
	}
	p.ExpectNone(20 * time.Millisecond)
	p.Watch(a)
	if m := p.ExpectTerminated(a); m.ExistenceConfirmed {
		t.Error("an actor that has ended exists")
	}
	p.Watch(p.Ref()) // of no effect, and no failure
}

// Many actors tell a probe at once; the test takes while they do.
func TestProbeRace(t *testing.T) {
	k := New(t)
	p := k.NewProbe("p")
	const senders, each = 8, 500
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				p.Ref().Tell([2]int{s, i})
			}
		})
	}
	var next [senders]int
	for range senders * each {
		m := ExpectType[[2]int](p)
		if next[m[0]] != m[1] {
			t.Fatalf("message %d of sender %d where %d is next", m[1], m[0], next[m[0]])
		}
		next[m[0]]++
	}
	wg.Wait()
	p.ExpectNone(0)
}

func TestEqual(t *testing.T) {
	k := New(t)
	a, b := k.Spawn(echo(), "a"), k.Spawn(echo(), "b")
	type node struct {
		Next *node
		V    any
	}
	ring := func(v any) *node { n := &node{V: v}; n.Next = &node{n, 1}; return n }
	type secret struct {
		m map[string][]int
		f func()
		r *actor.Ref
	}
	backing, other := []int{1, 2, 3}, []int{1, 2, 4}
	for i, c := range []struct {
		a, b any
		want bool
	}{
		{1, 1, true}, {1, int64(1), false}, {nil, nil, true}, {nil, 1, false}, {1, nil, false},
		{a, a, true}, {a, b, false}, {actor.Terminated{Ref: a}, actor.Terminated{Ref: a}, true},
		{actor.Terminated{Ref: a}, actor.Terminated{Ref: b}, false}, {(*actor.Ref)(nil), a, false},
		{[]int{1, 2}, []int{1, 2}, true}, {[]int{1, 2}, []int{1, 3}, false}, {[]int(nil), []int{}, false}, {[2]int{1, 2}, [2]int{1, 2}, true},
		{map[string]any{"a": []any{a}}, map[string]any{"a": []any{a}}, true}, {map[string]any{"a": a}, map[string]any{"b": a}, false},
		{map[string]any{"a": a}, map[string]any{"a": b}, false}, {map[string]any(nil), map[string]any{}, false},
		{&node{V: 1}, &node{V: 1}, true}, {&node{V: 1}, &node{V: 2}, false}, {&node{}, (*node)(nil), false},
		{ring(1), ring(1), true}, {ring(1), ring(2), false},
		{secret{m: map[string][]int{"x": {1}}, r: a}, secret{m: map[string][]int{"x": {1}}, r: a}, true},
		{secret{r: a}, secret{r: b}, false}, {secret{f: func() {}}, secret{f: func() {}}, false},
		{[][]int{backing[:2], backing}, [][]int{other[:2], other}, false},
	} {
		if got := equal(c.a, c.b); got != c.want {
			t.Errorf("case %d: equal(%s, %s) is %v", i, show(c.a), show(c.b), got)
		}
	}
}

func ExampleNew() {
	// In a test, t is its *testing.T.
	test := func(t testing.TB) {
		k := New(t, Options{Time: NewVirtualTime(time.Unix(0, 0))})
		p := k.NewProbe("p")
		k.Spawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
			if msg == "alarm" {
				ctx.Tell(p.Ref(), "late")
				return
			}
			ctx.Timers().StartSingleTimer("t", "alarm", time.Hour)
		}), "clock").Tell("start")
		p.ExpectNone(59 * time.Minute)
		k.Advance(time.Minute)
		p.Expect("late")
	}
	fmt.Println(failureOf(func(t *fakeT) { test(t) }) == "")
	// Output: true
}
