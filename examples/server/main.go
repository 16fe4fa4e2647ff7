// Command server is an OPC UA server with one variable, whose value moves and can be written, and one
// method. It offers no security. Try it:
//
//	go run ./examples/server
//	go run ./examples/client
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

func main() {
	space := memspace.New("urn:example:plant")
	speed := space.AddVariable(space.Objects(), "Speed", ua.Double(0), memspace.Writable(func(w memspace.Write) ua.StatusCode {
		log.Printf("Speed from %v to %v", w.Old.Value, w.New.Value)
		return ua.Good // a bad status refuses the write
	}))
	double := func(_ memspace.Call, x float64) (float64, error) { return 2 * x, nil }
	space.AddMethod(space.Objects(), "Double", memspace.Func1(double, "x", "result"))
	go func() {
		for range time.Tick(time.Second) {
			speed.Set(ua.Double(speed.Get().Float() + 0.1)) // from any goroutine
		}
	}()
	server, err := uaserver.New(uaserver.Config{URLs: os.Args[1:], Nodes: []uaserver.NodeManager{space}})
	if err == nil {
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
		err = server.ListenAndServe(ctx)
	}
	log.Println("stopped:", err)
}
