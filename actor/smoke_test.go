package actor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	s, err := NewSystem("t", Config{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Add(100)
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) {
		if m == 13 {
			ctx.Fail(errors.New("unlucky"))
		}
		if m == 14 {
			panic("x")
		}
		wg.Done()
	}), "a")
	for i := range 102 {
		r.Tell(i)
	}
	wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := GracefulStop(ctx, r, nil); err != nil {
		t.Fatal(err)
	}
	fmt.Println(s.Tree(), s.Tree().Children[1])
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

type ping struct{}

func pairs(s *System, n, window, repeat int) time.Duration {
	var wg sync.WaitGroup
	wg.Add(n)
	var cs []*Ref
	for range n {
		d := s.MustSpawn(FromFunc(func(ctx *Context, m any) { ctx.Reply(m) }), "")
		sent, got := 0, 0
		cs = append(cs, s.MustSpawn(FromFunc(func(ctx *Context, m any) {
			switch m := m.(type) {
			case string:
				p := &ping{}
				for range window {
					sent++
					ctx.Tell(d, p)
				}
			case *ping:
				got++
				if sent < repeat {
					sent++
					ctx.Tell(d, m)
				} else if got == repeat {
					wg.Done()
				}
			}
		}), ""))
	}
	t := time.Now()
	for _, c := range cs {
		c.Tell("go")
	}
	wg.Wait()
	return time.Since(t)
}

func TestPairs(t *testing.T) {
	s, _ := NewSystem("t", Config{})
	for _, x := range [][3]int{{2, 1000, 1000000}, {4, 1000, 1000000}, {8, 1000, 1000000}, {1, 1, 200000}, {4, 1, 200000}, {50000, 10, 100}} {
		d := pairs(s, x[0], min(x[1], x[2]), x[2])
		fmt.Printf("%v: %.1f M/s %.1f ns\n", x, float64(2*x[0]*x[2])/d.Seconds()/1e6, float64(d)/float64(2*x[0]*x[2]))
	}
}

func TestAskSpeed(t *testing.T) {
	s, _ := NewSystem("t", Config{})
	r := s.MustSpawn(FromFunc(func(ctx *Context, m any) { ctx.Reply(m) }), "")
	for _, n := range []int{1, 1, 64, 64} {
		var wg sync.WaitGroup
		t0 := time.Now()
		m := &ping{}
		for range n {
			wg.Go(func() {
				for range 400000 / n {
					if _, err := AskFor[*ping](r, m, 5*time.Second); err != nil {
						panic(err)
					}
				}
			})
		}
		wg.Wait()
		d := time.Since(t0)
		fmt.Printf("ask %d: %.2f M/s %.0f ns\n", n, 0.4/d.Seconds(), float64(d)/400000)
	}
}
