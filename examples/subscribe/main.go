// Command subscribe shows a variable as it changes, and the server's events, for two seconds: the Speed of
// examples/server, unless an address is given.
//
//	go run ./examples/subscribe opc.tcp://localhost:4840
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
	"github.com/actua/actua/ua/uaid"
)

func main() {
	address := "opc.tcp://localhost:4840"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := run(ctx, address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	client, err := uaclient.Dial(ctx, address, &uaclient.Config{SecurityPolicy: "None"})
	if err != nil {
		return err
	}
	defer client.Close(ctx)
	speed, err := client.ResolvePath(ctx, "/Objects/Speed")
	if err != nil {
		return err
	}
	fields, err := uaclient.EventFields(ua.NodeID{}, "SourceName", "Message")
	if err != nil {
		return err
	}
	sub, err := client.Subscribe(ctx, uaclient.SubscriptionConfig{
		Interval: 200 * time.Millisecond,
		OnData: func(n *uaclient.DataNotification) {
			for item, v := range n.All() {
				fmt.Println(item.Config().Data, "is", v.Value, "since", v.SourceTimestamp.Time())
			}
		},
		OnEvents: func(n *uaclient.EventNotification) {
			for _, f := range n.All() {
				fmt.Println("event of", f[0], f[1])
			}
		},
		OnStatus: func(s uaclient.SubscriptionStatus) { fmt.Println(s.Kind, s.Err) },
	})
	if err != nil {
		return err
	}
	items, err := sub.Add(ctx,
		uaclient.ItemConfig{Node: speed, Data: "Speed", Sampling: uaclient.FastestSampling, Queue: 10}, // every change
		uaclient.ItemConfig{Node: ua.ID(uaid.Server), Filter: &ua.EventFilter{SelectClauses: fields}})
	if err != nil {
		return err
	}
	for _, item := range items {
		fmt.Println(item.Node(), "every", item.Sampling(), item.Err())
	}
	time.Sleep(2 * time.Second)
	return sub.Close(ctx)
}
