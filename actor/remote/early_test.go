package remote

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/actua/actua/actor"
)

type plainTCP struct{ l net.Listener }

func (p *plainTCP) listen(s *Settings, system string) (actor.Address, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return actor.Address{}, err
	}
	p.l = l
	return actor.NewAddress("akka.tcp", system, "127.0.0.1", l.Addr().(*net.TCPAddr).Port)
}
func (p *plainTCP) accept() (net.Conn, error) { return p.l.Accept() }
func (p *plainTCP) dial(ctx context.Context, to actor.Address) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", to.Host(), to.Port()))
}
func (p *plainTCP) close() error { return p.l.Close() }

func node(t *testing.T, name string) (*Remoting, *actor.System) {
	t.Helper()
	r := New(Config{transport: &plainTCP{}})
	s, err := actor.NewSystem(name, actor.Config{Provider: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return r, s
}

func TestEarlyAsk(t *testing.T) {
	_, a := node(t, "A")
	rb, b := node(t, "B")
	b.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), "echo")
	sel, err := a.Select(rb.Address().String() + "/user/echo")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ref, err := sel.ResolveOne(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []any{"hit", int32(5), int64(6), []byte("x")} {
		v, err := actor.Ask[any](ctx, ref, m)
		fmt.Println(v, err)
	}
}

func TestEarlySpeed(t *testing.T) {
	_, a := node(t, "A")
	rb, b := node(t, "B")
	for _, clients := range []int{1, 10, 30} {
		done := make(chan struct{}, clients)
		const repeat = 100000
		var cs []*actor.Ref
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for i := range clients {
			name := fmt.Sprintf("echo%d-%d", clients, i)
			b.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), name)
			sel, _ := a.Select(rb.Address().String() + "/user/" + name)
			ref, err := sel.ResolveOne(ctx)
			if err != nil {
				t.Fatal(err)
			}
			n, over := 0, false
			cs = append(cs, a.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) {
				if n < repeat {
					n++
					ctx.Tell(ref, msg)
				} else if !over {
					over = true
					done <- struct{}{}
				}
			}), ""))
		}
		start := time.Now()
		for _, c := range cs {
			for range 50 {
				c.Tell("hit")
			}
		}
		for range clients {
			<-done
		}
		d := time.Since(start)
		fmt.Printf("%d clients: %.0f k msgs/s\n", clients, float64(2*clients*repeat)/d.Seconds()/1e3)
	}
}
