package actor

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Benchmarks of the core. Figures beside those of other libraries come from scripts/bench-actors.sh.

type ball struct{}

// pinger keeps so many balls in the air until repeat have come back.
type pinger struct {
	to                     *Ref
	window, sent, received int
	repeat                 int
	done                   *sync.WaitGroup
	_                      [64]byte // of its own cache line
}

func (p *pinger) Receive(ctx *Context, msg any) {
	switch m := msg.(type) {
	case string:
		b := &ball{}
		for range min(p.window, p.repeat) {
			p.sent++
			ctx.Tell(p.to, b)
		}
	case *ball:
		p.received++
		if p.sent < p.repeat {
			p.sent++
			ctx.Tell(p.to, m)
		} else if p.received == p.repeat {
			p.done.Done()
		}
	}
}

// echo sends every message back.
type echo struct{}

func (echo) Receive(ctx *Context, msg any) { ctx.Reply(msg) }

// quietSystem is a system for benchmarks and budgets.
func quietSystem(t testing.TB) *System {
	t.Helper()
	s, err := NewSystem("bench", Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Terminate()
		<-s.WhenTerminated()
	})
	return s
}

// startPingPong has pairs of actors play; the returned function waits for the end.
func startPingPong(s *System, pairs, window, repeat int) (wait func()) {
	var done sync.WaitGroup
	done.Add(pairs)
	for range pairs {
		d := s.MustSpawn(NewProps(func() Actor { return echo{} }), "")
		p := &pinger{to: d, window: window, repeat: repeat, done: &done}
		s.MustSpawn(NewProps(func() Actor { return p }), "").Tell("go")
	}
	return done.Wait
}

func BenchmarkPingPong(b *testing.B) {
	for _, c := range []struct{ pairs, window int }{{1, 1}, {4, 1}, {2, 1000}, {4, 1000}, {8, 1000}, {10000, 10}} {
		b.Run(fmt.Sprintf("pairs=%d/window=%d", c.pairs, c.window), func(b *testing.B) {
			s := quietSystem(b)
			repeat := max(b.N/c.pairs, 1)
			b.ReportAllocs()
			b.ResetTimer()
			startPingPong(s, c.pairs, c.window, repeat)()
			b.ReportMetric(float64(2*repeat*c.pairs)/b.Elapsed().Seconds(), "msgs/s")
		})
	}
}

func BenchmarkTell(b *testing.B) {
	s := quietSystem(b)
	done := make(chan struct{})
	n := 0
	r := s.MustSpawn(FromFunc(func(*Context, any) {
		if n++; n == b.N {
			close(done)
		}
	}), "")
	m := &ball{}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r.Tell(m)
	}
	<-done
}

func BenchmarkAsk(b *testing.B) {
	for _, c := range []struct {
		name  string
		props *Props
	}{{"handed over", NewProps(func() Actor { return echo{} })}, {"non-blocking", NewProps(func() Actor { return echo{} }).WithNonBlocking()}} {
		b.Run(c.name, func(b *testing.B) {
			s := quietSystem(b)
			r := s.MustSpawn(c.props, "")
			m := &ball{}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := AskFor[*ball](r, m, 5*time.Second); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSpawn(b *testing.B) {
	s := quietSystem(b)
	var started sync.WaitGroup
	started.Add(b.N)
	p := NewProps(func() Actor { return &starter{&started} })
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s.MustSpawn(p, "")
	}
	started.Wait()
}

// starter says when it has started.
type starter struct{ started *sync.WaitGroup }

func (s *starter) PreStart(*Context)     { s.started.Done() }
func (s *starter) Receive(*Context, any) {}
