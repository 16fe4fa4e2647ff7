package serial

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/actua/actua/actor"
)

// GUID is System.Guid, its bytes in the order of the text.
type GUID [16]byte

// String is the usual text, "01020304-0506-0708-090a-0b0c0d0e0f10".
func (g GUID) String() string { return string(g.append(nil)) }

func (g GUID) append(dst []byte) []byte {
	dst = hex.AppendEncode(dst, g[:4])
	for _, part := range [][]byte{g[4:6], g[6:8], g[8:10], g[10:]} {
		dst = hex.AppendEncode(append(dst, '-'), part)
	}
	return dst
}

// ParseGUID reads 32 hexadecimal digits, with hyphens or without, and with braces or without (.NET: formats N, D, B).
func ParseGUID(s string) (GUID, error) {
	var g GUID
	t := s
	if len(t) == 38 && t[0] == '{' && t[37] == '}' {
		t = t[1:37]
	}
	if len(t) == 36 && t[8] == '-' && t[13] == '-' && t[18] == '-' && t[23] == '-' {
		t = t[:8] + t[9:13] + t[14:18] + t[19:23] + t[24:]
	}
	if len(t) != 32 {
		return g, fmt.Errorf("serial: %q is no GUID", clip(s))
	}
	if _, err := hex.Decode(g[:], []byte(t)); err != nil {
		return GUID{}, fmt.Errorf("serial: %q is no GUID", clip(s))
	}
	return g, nil
}

// Decimal is System.Decimal as text: a sign, digits, and digits after a point, which .NET keeps as they are ("9.90").
// The empty Decimal is 0.
type Decimal string

// valid reports whether d is what .NET can read: at most 29 digits.
func (d Decimal) valid() bool {
	s := strings.TrimPrefix(string(d), "-")
	digits, point := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '.' && !point && i > 0 && i < len(s)-1:
			point = true
		case s[i]-'0' <= 9:
			digits++
		default:
			return false
		}
	}
	return d == "" || digits > 0 && digits <= 29
}

func (d Decimal) isZero() bool { return strings.Trim(string(d), "-0.") == "" }

// Char is System.Char, a UTF-16 unit.
type Char uint16

// List is System.Collections.Generic.List<T>; a plain slice is an array.
type List[T any] []T

func (List[T]) netList() {}

// Unspecified is the location of a System.DateTime whose kind is Unspecified: it is written without a zone.
var Unspecified = time.FixedZone("unspecified", 0)

// JObject is a JSON object that names no type: its text, which is sent again as it is (Newtonsoft.Json: JObject).
type JObject string

// JArray is a JSON array that names no type: its text, which is sent again as it is (Newtonsoft.Json: JArray).
type JArray string

// Unmarshal reads the object into v as [json.Unmarshal] does.
func (o JObject) Unmarshal(v any) error { return json.Unmarshal([]byte(o), v) }

// Unmarshal reads the array into v as [json.Unmarshal] does.
func (a JArray) Unmarshal(v any) error { return json.Unmarshal([]byte(a), v) }

// Nobody is the reference to nobody (Akka.NET: ActorRefs.Nobody) as a message.
type Nobody struct{}

// IgnoreRef is the reference that ignores all it is told (Akka.NET: IgnoreActorRef) inside a message.
type IgnoreRef struct{}

// RemoteScope says on which node an actor is to be made.
type RemoteScope struct{ Node actor.Address }

// LocalScope says that an actor is to be made on the node of its parent.
type LocalScope struct{}

// Config is a configuration as HOCON text.
type Config string

// Payload is a message that has not been decoded: where a peer's own types travel through (the id of an
// [actor.Identify], the fields of an exception), so that they can go back as they came.
type Payload struct {
	SerializerID int32
	Manifest     string
	Message      []byte
}

// Decode makes the message of the payload.
func (p Payload) Decode(x *Exchange) (any, error) {
	return x.Registry.Decode(p.SerializerID, []byte(p.Manifest), p.Message, x)
}
