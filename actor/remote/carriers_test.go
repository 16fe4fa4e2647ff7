package remote

import (
	"context"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote/remotetest"
)

// TestRow37AskOverEveryCarrier has two systems talk over all that the transport can be.
func TestRow37AskOverEveryCarrier(t *testing.T) {
	a := newAuthority(t)
	net := remotetest.NewNetwork(remotetest.Options{Seed: 1})
	faults := remotetest.NewFaults(remotetest.Options{Seed: 1})
	faults.Set("", remotetest.Both, remotetest.Mode{Delay: time.Millisecond, Jitter: time.Millisecond})
	over := func(host string) func(*Config) {
		return func(c *Config) {
			c.Settings.Hostname, c.Dial, c.Listen = host, net.Host(host).Dial, net.Host(host).Listen
		}
	}
	tls := func(c *Config) { a.tls(c.Settings) }
	for name, x := range map[string][2]func(*Config){
		"TCP":         {func(*Config) {}, func(*Config) {}},
		"TLS":         {tls, tls},
		"in memory":   {over("a"), over("b")},
		"with faults": {func(c *Config) { c.Dial, c.Listen = faults.Dial, faults.Listen }, func(*Config) {}},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes [2]*Remoting
			var systems [2]*actor.System
			for i, change := range x {
				c := Config{Settings: carrierSettings()}
				change(&c)
				nodes[i] = New(c)
				s, err := actor.NewSystem("S", actor.Config{Provider: nodes[i]})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Shutdown(soon(t)); err != nil {
						t.Error(err)
					}
				})
				s.MustSpawn(actor.FromFunc(func(ctx *actor.Context, msg any) { ctx.Reply(msg) }), "echo")
				systems[i] = s
			}
			for i := range systems {
				to, err := nodes[i].Resolve(nodes[1-i].Address().String() + "/user/echo")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				if got, err := actor.Ask[string](ctx, to, "hello"); err != nil || got != "hello" {
					t.Errorf("node %d got %q and %v", i, got, err)
				}
			}
		})
	}
}
