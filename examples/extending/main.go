// Command extending is a server with a monitored item of its own, and with an interceptor that counts the
// values that leave. Watch the variable Pulses with any client.
//
//	go run ./examples/extending
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync/atomic"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// plant is a node manager that leaves all to a Space but the monitored items of one variable.
type plant struct {
	*memspace.Space
	pulses ua.NodeID
}

func (p *plant) Monitor(ctx *uaserver.Context, item *uaserver.MonitorItem) {
	if item.NodeID == p.pulses && item.Attribute == ua.AttributeValue {
		item.Item = &counter{closed: make(chan struct{})}
		return
	}
	p.Space.Monitor(ctx, item)
}

func main() {
	space := memspace.New("urn:example:plant")
	pulses := space.AddVariable(space.Objects(), "Pulses", ua.Int64(0))
	var sent atomic.Int64
	server, err := uaserver.New(uaserver.Config{
		URLs:  os.Args[1:],
		Nodes: []uaserver.NodeManager{&plant{space, pulses.ID()}},
		InterceptPublish: func(_ *uaserver.SessionInfo, r *ua.PublishResponse) {
			for _, data := range r.NotificationMessage.NotificationData {
				if changes, ok := data.Value.(*ua.DataChangeNotification); ok {
					sent.Add(int64(len(changes.MonitoredItems))) // a number: nothing of the message is kept
				}
			}
		},
	})
	if err == nil {
		ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
		err = server.ListenAndServe(ctx)
	}
	log.Println("stopped:", err, "values sent:", sent.Load() > 0)
}
