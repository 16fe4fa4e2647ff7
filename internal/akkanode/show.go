package akkanode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// listOfStrings is how .NET names a generic type in full; the version is that of the runtime.
const listOfStrings = "System.Collections.Generic.List`1[[System.String, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e]]"

// netTypes are the full names of message types in .NET.
var netTypes = map[reflect.Type]string{
	reflect.TypeFor[string]():              "System.String",
	reflect.TypeFor[int]():                 "System.Int64",
	reflect.TypeFor[int8]():                "System.SByte",
	reflect.TypeFor[int16]():               "System.Int16",
	reflect.TypeFor[int32]():               "System.Int32",
	reflect.TypeFor[int64]():               "System.Int64",
	reflect.TypeFor[uint8]():               "System.Byte",
	reflect.TypeFor[uint16]():              "System.UInt16",
	reflect.TypeFor[uint32]():              "System.UInt32",
	reflect.TypeFor[uint64]():              "System.UInt64",
	reflect.TypeFor[float32]():             "System.Single",
	reflect.TypeFor[float64]():             "System.Double",
	reflect.TypeFor[bool]():                "System.Boolean",
	reflect.TypeFor[[]byte]():              "System.Byte[]",
	reflect.TypeFor[[]string]():            "System.String[]",
	reflect.TypeFor[[]int32]():             "System.Int32[]",
	reflect.TypeFor[serial.List[string]](): listOfStrings,
	reflect.TypeFor[serial.GUID]():         "System.Guid",
	reflect.TypeFor[serial.Decimal]():      "System.Decimal",
	reflect.TypeFor[serial.Char]():         "System.Char",
	reflect.TypeFor[time.Time]():           "System.DateTime",
	reflect.TypeFor[time.Duration]():       "System.TimeSpan",
	reflect.TypeFor[serial.JObject]():      "Newtonsoft.Json.Linq.JObject",
	reflect.TypeFor[serial.JArray]():       "Newtonsoft.Json.Linq.JArray",
	reflect.TypeFor[Reading]():             "AkkaPeer.Reading",
	reflect.TypeFor[stop]():                "AkkaPeer.Stop",
	reflect.TypeFor[Numbers]():             "AkkaPeer.Numbers",
	reflect.TypeFor[Inner]():               "AkkaPeer.Inner",
	reflect.TypeFor[Outer]():               "AkkaPeer.Outer",
	reflect.TypeFor[Order]():               "Shop.Order",
	reflect.TypeFor[DayOfWeek]():           "System.DayOfWeek",
	reflect.TypeFor[actor.StatusSuccess](): "Akka.Actor.Status+Success",
	reflect.TypeFor[actor.StatusFailure](): "Akka.Actor.Status+Failure",
	reflect.TypeFor[actor.ActorIdentity](): "Akka.Actor.ActorIdentity",
	reflect.TypeFor[serial.Nobody]():       "Akka.Actor.Nobody",
}

// typeName is the .NET name of a message's type.
func typeName(msg any) string {
	switch m := msg.(type) {
	case *actor.Ref:
		if m.Path().Address() == m.System().Address() {
			return "Akka.Actor.RepointableActorRef"
		}
		return "Akka.Remote.RemoteActorRef"
	case proto.Message:
		if d := m.ProtoReflect().Descriptor(); d.ParentFile().Package() == "google.protobuf" {
			return "Google.Protobuf.WellKnownTypes." + string(d.Name())
		}
	}
	if name := netTypes[reflect.TypeOf(msg)]; name != "" {
		return name
	}
	return fmt.Sprintf("%T", msg)
}

// show is a message as text, as the node of .NET shows it.
func show(msg any) string {
	switch m := msg.(type) {
	case nil:
		return ""
	case string:
		return m
	case []byte:
		return fmt.Sprintf("hex:%x", m)
	case bool:
		if m {
			return "True"
		}
		return "False"
	case float64:
		return floatText(m)
	case float32:
		return strconv.FormatFloat(float64(m), 'g', -1, 32)
	case Reading:
		return m.text()
	case Order:
		return fmt.Sprintf("Order { Name = %s, Qty = %d, Id = %d, ReplyTo = %s }", m.Name, m.Qty, m.ID, orEmpty(m.ReplyTo))
	case *actor.Ref:
		return pathOf(m)
	case actor.StatusFailure:
		return "failure:" + causeText(m.Cause)
	case actor.StatusSuccess:
		return "success:" + show(m.Status)
	case actor.ActorIdentity:
		subject := "null"
		if m.Subject != nil {
			subject = pathOf(m.Subject)
		}
		return "identity:" + show(m.MessageID) + ":" + subject
	case serial.List[string]:
		return "System.Collections.Generic.List`1[System.String]"
	case serial.Decimal:
		return string(m)
	case serial.Char:
		return string(rune(m))
	case serial.JObject:
		return indented(string(m))
	case serial.JArray:
		return indented(string(m))
	case proto.Message:
		if b, err := protojson.Marshal(m); err == nil {
			return string(b)
		}
	case fmt.Stringer:
		return m.String()
	}
	if v := reflect.ValueOf(msg); v.CanInt() || v.CanUint() {
		return fmt.Sprint(msg)
	}
	return typeName(msg)
}

// text is the Reading as JSON.
func (r Reading) text() string {
	b := appendText([]byte(`{"Tag":`), r.Tag)
	b = append(append(b, `,"Value":`...), floatText(r.Value)...)
	b = fmt.Appendf(b, `,"Quality":%d,"Ticks":%d,"Labels":`, r.Quality, r.Ticks)
	if r.Labels == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i, l := range r.Labels {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, l)
		}
		b = append(b, ']')
	}
	b = append(b, `,"ReplyTo":`...)
	if r.ReplyTo == nil {
		return string(append(b, "null}"...))
	}
	return string(append(appendText(b, pathOf(r.ReplyTo)), '}'))
}

func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

func orEmpty(r *actor.Ref) string {
	if r == nil {
		return ""
	}
	return r.String()
}

// pathOf is the path of a reference with its uid.
func pathOf(r *actor.Ref) string { return r.Path().SerializationFormat() }

// causeText is the message of an exception, without its type.
func causeText(err error) string {
	switch e := err.(type) {
	case nil:
		return ""
	case *serial.RemoteError:
		return e.Message
	}
	return err.Error()
}
