// Command actor-ask asks a thermostat: from plain goroutines, which wait, and from an actor, which does not.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/actua/actua/actor"
)

// Messages of the thermostat.
type (
	setPoint struct{ Celsius float64 }
	status   struct{}
	answer   struct {
		Celsius float64
		Changes int
	}
)

// thermostat handles each type of message with a function of its own.
func thermostat() actor.Actor {
	now := answer{Celsius: 20}
	return actor.Behavior(
		actor.OnIf(func(m setPoint) bool { return m.Celsius > 30 }, func(ctx *actor.Context, m setPoint) {
			ctx.Reply(actor.StatusFailure{Cause: fmt.Errorf("%.0f degrees are too hot", m.Celsius)})
		}),
		actor.On(func(ctx *actor.Context, m setPoint) {
			now = answer{m.Celsius, now.Changes + 1}
			ctx.Reply(now)
		}),
		actor.On(func(ctx *actor.Context, _ status) { ctx.Reply(now) }),
	)
}

// display asks each time that it is told to, and goes on with its messages until the answer is there.
func display(of *actor.Ref, shown chan<- string) *actor.Props {
	return actor.FromFunc(func(ctx *actor.Context, _ any) {
		actor.AskThen(ctx, of, status{}, time.Second, func(ctx *actor.Context, a answer, err error) {
			shown <- fmt.Sprintf("display: %.1f degrees, %d changes, error %v", a.Celsius, a.Changes, err)
		})
	})
}

func main() {
	system, err := actor.NewSystem("house", actor.Config{})
	if err != nil {
		panic(err)
	}
	ref := system.MustSpawn(actor.NewProps(thermostat), "thermostat")
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	for _, celsius := range []float64{21.5, 99} {
		a, err := actor.Ask[answer](ctx, ref, setPoint{celsius})
		fmt.Printf("set %.1f: %.1f degrees, error %v\n", celsius, a.Celsius, err)
	}
	shown := make(chan string)
	system.MustSpawn(display(ref, shown), "display").Tell("refresh")
	fmt.Println(<-shown)

	if err := actor.GracefulStop(ctx, ref, nil); err != nil {
		panic(err)
	}
	_, err = actor.Ask[answer](ctx, ref, status{})
	fmt.Println("after its end:", err)
	if err := system.Shutdown(ctx); err != nil {
		panic(err)
	}
}
