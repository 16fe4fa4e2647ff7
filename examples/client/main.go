// Command client browses a server, reads and writes a variable and calls a method: those of
// examples/server, unless an address is given.
//
//	go run ./examples/client opc.tcp://localhost:4840
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
	objects := ua.ID(uaid.ObjectsFolder)
	for ref, err := range client.References(ctx, objects, uaclient.BrowseOptions{}) {
		if err != nil {
			return err
		}
		fmt.Printf("%-10v %s\n", ref.NodeClass, ref.BrowseName.Name)
	}
	speed, err := client.Resolve(ctx, ua.ExpandedNodeID{
		NodeID: ua.NewStringNodeID(0, "Speed"), NamespaceURI: "urn:example:plant",
	})
	if err != nil {
		return err
	}
	if err := client.WriteValue(ctx, speed, ua.Double(42)); err != nil {
		return err
	}
	value, err := client.ReadValue(ctx, speed)
	if err != nil {
		return err
	}
	fmt.Println("Speed is", value.Value, "since", value.SourceTimestamp.Time())
	outputs, err := client.CallMethod(ctx, objects, ua.NewStringNodeID(speed.Namespace(), "Double"), ua.Double(21))
	if err != nil {
		return err
	}
	fmt.Println("Double(21) is", outputs[0])
	return nil
}
