// Command values shows the types of package ua: values of all shapes, identifiers, times, ranges,
// structures, and their binary and JSON forms.
//
//	go run ./examples/values
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	// A Variant is a scalar, an array or a matrix of a built-in type.
	speed := ua.Double(21.5)
	samples := ua.Array([]int32{1, 2, 3, 4})
	grid, err := ua.Matrix([]int32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		return err
	}
	fmt.Println(speed, speed.Float(), samples, grid, grid.Dimensions())

	// Reading a value of another type gives zero, never a panic; As tells.
	_, isText := ua.As[string](speed)
	fmt.Println(speed.Str() == "", isText)

	// Identifiers have a text form.
	id, err := ua.ParseNodeID("ns=2;s=Line1.Speed")
	if err != nil {
		return err
	}
	fmt.Println(id, id.Namespace(), id.Text())

	// Part of an array, as IndexRange of a Read asks for it.
	middle, err := ua.ParseNumericRange("1:2")
	if err != nil {
		return err
	}
	part, status := middle.Of(samples)
	fmt.Println(part, status)

	// A structure, in binary and back.
	limits := &ua.Range{Low: 0, High: 100}
	value := ua.DataValue{Value: ua.NewExtensionObject(limits).Variant(), SourceTimestamp: ua.NewDateTime(time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC))}
	var back ua.DataValue
	r := uabin.NewReader(value.AppendBinary(nil))
	if back.DecodeBinary(r); r.Err() != nil {
		return r.Err()
	}
	fmt.Println(back.Value.Structure().(*ua.Range).High)

	// The same as JSON.
	var json ua.JSONOptions
	fmt.Printf("%s\n", json.AppendDataValue(nil, back))
	return nil
}
