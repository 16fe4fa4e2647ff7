// Command actor-supervised is a driver for a device that fails now and then. Where the device fails the driver panics:
// after a glitch it is restarted, and requests that wait stay in its mailbox; when the device is gone it is stopped.
package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/actua/actua/actor"
)

var errGlitch, errGone = errors.New("checksum wrong"), errors.New("device does not answer")

type request struct{ N int }

// device is simulated: its third reading is a glitch, and after the sixth it is gone.
type device struct{ readings int }

func (d *device) read() (celsius float64, err error) {
	if d.readings++; d.readings == 3 {
		return 0, errGlitch
	} else if d.readings > 6 {
		return 0, errGone
	}
	return 20 + float64(d.readings)/2, nil
}

// driver is the actor. Only it touches the device, so there is no lock.
type driver struct{ dev *device }

func (d *driver) PreStart(*actor.Context) { fmt.Println("driver: connected") }
func (d *driver) PostStop(*actor.Context) { fmt.Println("driver: disconnected") } // at a restart, too

func (d *driver) Receive(ctx *actor.Context, msg any) {
	celsius, err := d.dev.read()
	fmt.Printf("driver: request %d gives %.1f, error %v\n", msg.(request).N, celsius, err)
	if err != nil {
		panic(err)
	}
	ctx.Reply(celsius)
}

// plant supervises the driver, and watches it.
type plant struct{ values []float64 }

func (*plant) SupervisorStrategy() actor.Strategy {
	return actor.Strategy{MaxRetries: 5, Decide: func(cause error) actor.Directive {
		if errors.Is(cause, errGone) {
			return actor.Stop
		}
		return actor.Restart
	}}
}

func (p *plant) PreStart(ctx *actor.Context) {
	dev := &device{} // it outlives the driver
	ref := ctx.MustSpawn(actor.NewProps(func() actor.Actor { return &driver{dev} }), "driver")
	ctx.Watch(ref)
	for n := range 8 {
		ctx.Tell(ref, request{n + 1}) // all at once: the mailbox keeps them
	}
}

func (p *plant) Receive(ctx *actor.Context, msg any) {
	switch msg := msg.(type) {
	case float64:
		p.values = append(p.values, msg)
	case actor.Terminated:
		fmt.Printf("plant: %s has ended after %.1f\n", msg.Ref.Name(), p.values)
		ctx.System().Terminate()
	}
}

func main() {
	system, _ := actor.NewSystem("plant", actor.Config{Logger: slog.New(slog.DiscardHandler)}) // nil logs failures
	system.MustSpawn(actor.NewProps(func() actor.Actor { return &plant{} }), "plant")
	<-system.WhenTerminated()
}
