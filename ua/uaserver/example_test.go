package uaserver_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// A server with a variable that clients may write and a method that they may call.
func Example() {
	space := memspace.New("urn:example:plant")
	speed := space.AddVariable(space.Objects(), "Speed", ua.Double(0), memspace.Writable())
	space.AddMethod(space.Objects(), "Reset", memspace.Func0(func(memspace.Call) (string, error) {
		speed.Set(ua.Double(0)) // from any goroutine
		return "done", nil
	}, "Result"))
	server, err := uaserver.New(uaserver.Config{
		URLs:  []string{"opc.tcp://localhost:0"},
		Nodes: []uaserver.NodeManager{space},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	fmt.Println(server.ListenAndServe(ctx))
	// Output: <nil>
}
