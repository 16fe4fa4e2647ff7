package serial_test

import (
	"fmt"
	"log"
	"time"

	"github.com/actua/actua/actor/serial"
)

// The classes of docs/serialization.md.
type (
	Size     int32
	ShopLine struct {
		Article string
		Qty     int32
		Price   serial.Decimal
	}
	ShopOrder struct {
		Name     string
		Discount *int32
		Size     Size
		Lines    serial.List[ShopLine]
		At       time.Time `net:"At,offset"`
	}
)

// A message class of C#:
//
//	public enum Size { Small, Large }
//	public sealed record Line(string Article, int Qty, decimal Price);
//	public sealed record Order(string Name, int? Discount, Size Size, List<Line> Lines, DateTimeOffset At);
func ExampleRegisterJSON() {
	reg := serial.NewRegistry(serial.Options{})
	serial.RegisterJSON[ShopOrder](reg, "Shop.Order, Shop")
	serial.RegisterJSON[ShopLine](reg, "Shop.Line, Shop")
	serial.RegisterEnum(reg, "Shop.Size, Shop", map[string]Size{"Small": 0, "Large": 1})
	if err := reg.Seal(); err != nil {
		log.Fatal(err)
	}

	x := &serial.Exchange{Registry: reg}
	order := ShopOrder{Name: "tea", Size: 1, Lines: serial.List[ShopLine]{{"green", 2, "9.90"}}, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	body, id, _, err := reg.Append(nil, order, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id, string(body))

	back, err := reg.Decode(id, nil, body, x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(back.(ShopOrder).Lines[0].Price)
	// Output:
	// 1 {"$id":"1","$type":"Shop.Order, Shop","Name":"tea","Size":1,"Lines":{"$type":"System.Collections.Generic.List`1[[Shop.Line, Shop]], System.Private.CoreLib","$values":[{"$id":"2","$type":"Shop.Line, Shop","Article":"green","Qty":{"$":"I2"},"Price":{"$":"M9.90"}}]},"At":"2026-01-02T03:04:05+00:00"}
	// 9.90
}
