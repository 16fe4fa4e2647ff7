// Command nodeset imports an information model from a NodeSet2 file, works with its nodes, and writes
// them to a file again.
//
//	go run ./examples/nodeset
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"log"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver/memspace"
)

//go:embed pump.xml
var pump []byte

func main() {
	space := memspace.New("urn:example:plant")
	report, err := space.Import(memspace.ImportOptions{}, memspace.NodeSetSource{Name: "pump.xml", Data: pump})
	if err != nil {
		log.Fatal(err) // names file, line and node
	}
	for _, m := range report.Models {
		fmt.Println(m.URI, m.Version, "from", m.File)
	}
	// The namespaces of nodesets come behind those of New, the first of which has the index 2.
	pumps := space.Namespace() + 1
	speed := space.Variable(ua.NewStringNodeID(pumps, "Pump.Speed"))
	fmt.Println("Speed was", speed.Get())
	if err := speed.Set(ua.Double(30)); err != nil {
		log.Fatal(err)
	}
	limits := space.Variable(ua.NewStringNodeID(pumps, "Pump.Limits")).Get().Structure().(*ua.DynamicStructure)
	high, _ := limits.Get("High")
	fmt.Println("High is", high)

	// What is written now has the new speed.
	var file bytes.Buffer
	if err := space.Export(&file, space.Node(ua.NewStringNodeID(pumps, "Pump"))); err != nil {
		log.Fatal(err)
	}
	other := memspace.New("urn:example:other")
	if _, err := other.Import(memspace.ImportOptions{}, memspace.NodeSetSource{Name: "export", Data: file.Bytes()}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("Speed is", other.Variable(speed.ID()).Get())
}
