package akkanode

import (
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// Reading is the message class that both nodes agree on; it travels as JSON.
type Reading struct {
	Tag     string
	Value   float64
	Quality int32
	Ticks   int64
	Labels  []string
	ReplyTo *actor.Ref
}

// Order is a record of another namespace.
type Order struct {
	Name    string
	Qty     int32
	ID      int64 `net:"Id"`
	ReplyTo *actor.Ref
}

// DayOfWeek is System.DayOfWeek.
type DayOfWeek int32

// Numbers has a member of each type that JSON needs care for.
type Numbers struct {
	I  int32
	NI *int32
	L  int64
	NL *int64
	S  int16
	B  byte
	U  uint32
	UL uint64
	F  float32
	D  float64
	M  serial.Decimal
	E  DayOfWeek
	O  any
	OL any
	OD any
	T  time.Duration
	DT time.Time
	DO time.Time `net:"DO,offset"`
	G  serial.GUID
	By []byte
	C  serial.Char
}

// Inner is what Outer holds.
type Inner struct{ A int32 }

// Outer has objects within objects.
type Outer struct {
	Inner *Inner
	Same  *Inner
	Items []*Inner `net:"Items,list"`
	Map   map[string]*Inner
	Any   any
}

// Classes that other nodes may have made here, and that this one asks others for.
const (
	echoClass      = "AkkaPeer.EchoActor, akka-peer"
	collectorClass = "AkkaPeer.Collector, akka-peer"
	sinkClass      = "AkkaPeer.OrderSink, akka-peer"
)

// newRegistry has all message types, under the names that they have in .NET.
func newRegistry() (*serial.Registry, error) {
	r := serial.NewRegistry(serial.Options{})
	days := map[string]DayOfWeek{"Sunday": 0, "Monday": 1, "Tuesday": 2, "Wednesday": 3, "Thursday": 4, "Friday": 5, "Saturday": 6}
	for _, err := range []error{
		serial.RegisterJSON[Reading](r, "AkkaPeer.Reading, akka-peer"),
		serial.RegisterJSON[stop](r, "AkkaPeer.Stop, akka-peer"),
		serial.RegisterJSON[Numbers](r, "AkkaPeer.Numbers, akka-peer"),
		serial.RegisterJSON[Inner](r, "AkkaPeer.Inner, akka-peer"),
		serial.RegisterJSON[Outer](r, "AkkaPeer.Outer, akka-peer"),
		serial.RegisterJSON[Order](r, "Shop.Order, akka-peer"),
		serial.RegisterEnum(r, "System.DayOfWeek, System.Private.CoreLib", days),
		serial.RegisterJSON[treeWanted](r, "Actua.TreeWanted, actua"),
		serial.RegisterJSON[treeNext](r, "Actua.TreeNext, actua"),
		serial.RegisterJSON[treePage](r, "Actua.TreePage, actua"),
	} {
		if err != nil {
			return nil, err
		}
	}
	return r, r.Seal()
}
