// Command actor-remote has two systems, which talk over TCP as two programs would, or one and an Akka.NET node: an office
// asks a sensor in a plant, has a log kept there, and hears of its end.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
	"github.com/actua/actua/actor/serial"
)

// Reading is a message class of both. In C#: public sealed record Reading(string Tag, double Value);
type Reading struct {
	Tag   string
	Value float64
}

// open makes a system that others reach.
func open(name string, deployable map[string]func([]any) (*actor.Props, error)) (*actor.System, *remote.Remoting) {
	registry := serial.NewRegistry(serial.Options{})
	must(serial.RegisterJSON[Reading](registry, "Plant.Reading, Plant"))
	settings := remote.DefaultSettings()
	settings.Hostname, settings.Port = "127.0.0.1", 0 // any port
	r := remote.New(remote.Config{Settings: &settings, Registry: registry, Deployable: deployable})
	system, err := actor.NewSystem(name, actor.Config{Provider: r})
	must(err)
	return system, r
}

// logbook counts readings, and says where.
func logbook() actor.Actor {
	n := 0
	return actor.Behavior(actor.On(func(ctx *actor.Context, m Reading) {
		n++
		ctx.Reply(fmt.Sprintf("%d. %s is %.1f, noted by %s", n, m.Tag, m.Value, ctx.System().Name()))
	}))
}

var logbooks = actor.NewProps(logbook).WithClass("Plant.Logbook, Plant")

func main() {
	plant, there := open("Plant", map[string]func([]any) (*actor.Props, error){
		logbooks.Class(): func([]any) (*actor.Props, error) { return logbooks, nil },
	})
	plant.MustSpawn(actor.Receive(func(ctx *actor.Context, tag string) { ctx.Reply(Reading{tag, 71.5}) }), "sensor")

	office, _ := open("Office", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	selection, err := office.Select(there.Address().String() + "/user/sensor")
	must(err)
	sensor, err := selection.ResolveOne(ctx) // asks the other node
	must(err)
	reading, err := actor.Ask[Reading](ctx, sensor, "temperature")
	fmt.Printf("%v, error %v\n", reading, err)

	book := office.MustSpawn(logbooks.WithScope(there.Address()), "book") // a child of ours, in the plant
	for range 2 {
		line, err := actor.Ask[string](ctx, book, reading)
		fmt.Printf("%s, error %v\n", line, err)
	}

	inbox := office.NewInbox()
	inbox.Watch(sensor)
	must(plant.Shutdown(ctx))
	msg, err := inbox.Receive(ctx)
	fmt.Printf("%T, error %v\n", msg, err)
	must(office.Shutdown(ctx))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
