package serial_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// The classes of the program that the recordings come from.

type Reading struct {
	Tag     string
	Value   float64
	Quality int32
	Ticks   int64
	Labels  []string
	ReplyTo *actor.Ref
}

type DayOfWeek int32

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

type Inner struct{ A int32 }

type Outer struct {
	Inner *Inner
	Same  *Inner
	Items []*Inner `net:"Items,list"`
	Map   map[string]*Inner
	Any   any
}

type Order struct {
	Name    string
	Qty     int32
	ID      int64 `net:"Id"`
	ReplyTo *actor.Ref
}

// register makes a registry that knows them.
func register(t testing.TB, o serial.Options) *serial.Registry {
	t.Helper()
	r := serial.NewRegistry(o)
	serial.RegisterJSON[Reading](r, "AkkaPeer.Reading, akka-peer")
	serial.RegisterJSON[Numbers](r, "AkkaPeer.Numbers, akka-peer")
	serial.RegisterJSON[Inner](r, "AkkaPeer.Inner, akka-peer")
	serial.RegisterJSON[Outer](r, "AkkaPeer.Outer, akka-peer")
	serial.RegisterJSON[Order](r, "Shop.Order, akka-peer")
	serial.RegisterEnum(r, "System.DayOfWeek, System.Private.CoreLib", map[string]DayOfWeek{"Sunday": 0, "Monday": 1, "Friday": 5})
	if err := r.Seal(); err != nil {
		t.Fatal(err)
	}
	return r
}

const recordedUID = "1731426696"

// node is a system that stands for the one of the recordings.
type node struct {
	sys     *actor.System
	echo    *actor.Ref
	nobody  *actor.Ref
	address actor.Address
}

// theNode is made once: its actor has the name of the recorded one, and a uid of as many digits.
var theNode = sync.OnceValue(func() *node {
	a, err := actor.ParseAddress("akka.tcp://NetSys@127.0.0.1:9000")
	if err != nil {
		panic(err)
	}
	for {
		sys, err := actor.NewSystem("NetSys", actor.Config{})
		if err != nil {
			panic(err)
		}
		echo, err := sys.Spawn(actor.FromFunc(func(*actor.Context, any) {}), "echo")
		if err != nil {
			panic(err)
		}
		if len(strconv.Itoa(int(echo.UID()))) == len(recordedUID) {
			return &node{sys: sys, echo: echo, nobody: sys.DeadLetters(), address: a}
		}
		if err := sys.Shutdown(context.Background()); err != nil {
			panic(err)
		}
	}
})

// resolve finds the one actor, whatever its address.
func (n *node) resolve(path []byte) *actor.Ref {
	p, err := actor.ParsePath(string(path))
	if err != nil || p.IsRoot() {
		return nil
	}
	return n.echo
}

func exchange(r *serial.Registry) *serial.Exchange {
	n := theNode()
	return &serial.Exchange{Registry: r, Address: n.address, Resolve: n.resolve}
}

// golden is a line of the recording.
type golden struct {
	Name, Type   string
	SerializerID int32
	Manifest     string
	Payload      string
	bytes        []byte
}

// goldens are all recorded messages; the uid in them is that of the actor of theNode.
func goldens(t testing.TB) []golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	for line := range bytes.Lines(text) {
		var g golden
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		if g.bytes, err = hex.DecodeString(g.Payload); err != nil {
			t.Fatal(err)
		}
		g.bytes = bytes.ReplaceAll(g.bytes, []byte(recordedUID), []byte(strconv.Itoa(int(theNode().echo.UID()))))
		out = append(out, g)
	}
	if len(out) != 61 {
		t.Fatalf("%d recorded messages, 61 are expected", len(out))
	}
	return out
}

func decode(t testing.TB, r *serial.Registry, id int32, manifest, body string) any {
	t.Helper()
	msg, err := r.Decode(id, []byte(manifest), []byte(body), exchange(r))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return msg
}

func encode(t testing.TB, r *serial.Registry, msg any) (id int32, manifest, body string) {
	t.Helper()
	b, id, manifest, err := r.Append(nil, msg, exchange(r))
	if err != nil {
		t.Fatalf("%T: %v", msg, err)
	}
	return id, manifest, string(b)
}
