package akkanode

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/serial"
)

// mostText bounds the message of type big.
const mostText = 256 << 20

// Types are the names of message types in commands, in the order in which they are told.
func Types() []string {
	return []string{"string", "int", "long", "double", "bool", "bytes", "big", "list", "reading", "ref", "protobuf", "success", "failure", "identify", "poison", "kill"}
}

// A TypeError is a message type that there is not.
type TypeError struct{ Type string }

// Error names the types that there are.
func (e *TypeError) Error() string {
	return fmt.Sprintf("there is no message type %q: there is %s", e.Type, strings.Join(Types(), ", "))
}

// A ValueError is a value that is not one of its type.
type ValueError struct {
	Type string
	Err  error
}

// Error says what is wrong.
func (e *ValueError) Error() string { return fmt.Sprintf("no value of type %s: %v", e.Type, e.Err) }

// Unwrap is what is wrong.
func (e *ValueError) Unwrap() error { return e.Err }

var errMissing = errors.New("it is missing")

// readJSON reads a value that may be neither missing nor null.
func readJSON[T any](text json.RawMessage) (v T, err error) {
	if len(text) == 0 || string(text) == "null" {
		return v, errMissing
	}
	return v, json.Unmarshal(text, &v)
}

// typed makes a message of a value of type T.
func typed[T any](text json.RawMessage, make func(T) (any, error)) (any, error) {
	v, err := readJSON[T](text)
	if err != nil {
		return nil, err
	}
	return make(v)
}

// value makes the message of a command.
func (n *Node) value(ctx context.Context, typ string, text json.RawMessage) (any, error) {
	if typ == "" {
		typ = "string"
	}
	if !slices.Contains(Types(), typ) {
		return nil, &TypeError{typ}
	}
	if typ == "ref" {
		path, err := readJSON[string](text)
		if err != nil {
			return nil, &ValueError{typ, err}
		}
		return n.resolve(ctx, path, 3*time.Second)
	}
	msg, err := Value(typ, text)
	if err != nil {
		return nil, &ValueError{typ, err}
	}
	if r, ok := msg.(Reading); ok && r.ReplyTo == nil {
		var more struct{ ReplyToSelf json.RawMessage }
		if json.Unmarshal(text, &more) == nil && len(more.ReplyToSelf) > 0 && string(more.ReplyToSelf) != "null" {
			r.ReplyTo = n.collector
			msg = r
		}
	}
	return msg, nil
}

// Value makes a message of those types that need no node: all but ref.
func Value(typ string, text json.RawMessage) (any, error) {
	switch typ {
	case "", "string":
		return typed(text, func(v string) (any, error) { return v, nil })
	case "int":
		return typed(text, func(v int32) (any, error) { return v, nil })
	case "long":
		return typed(text, func(v int64) (any, error) { return v, nil })
	case "double":
		return typed(text, func(v float64) (any, error) { return v, nil })
	case "bool":
		return typed(text, func(v bool) (any, error) { return v, nil })
	case "bytes":
		return typed(text, func(v string) (any, error) { return hex.DecodeString(v) })
	case "big":
		return typed(text, func(v int32) (any, error) {
			if v < 0 || v > mostText {
				return nil, fmt.Errorf("%d is no length of 0 to %d", v, mostText)
			}
			return strings.Repeat("x", int(v)), nil
		})
	case "list":
		return typed(text, func(v []string) (any, error) { return serial.List[string](v), nil })
	case "reading":
		return reading(text)
	case "protobuf":
		return typed(text, func(v string) (any, error) { return wrapperspb.String(v), nil })
	case "success":
		return typed(text, func(v string) (any, error) { return actor.StatusSuccess{Status: v}, nil })
	case "failure":
		return typed(text, func(v string) (any, error) { return actor.StatusFailure{Cause: invalidOperation(v)}, nil })
	case "identify":
		return typed(text, func(v string) (any, error) { return actor.Identify{MessageID: v}, nil })
	case "poison":
		return actor.PoisonPill{}, nil
	case "kill":
		return actor.Kill{}, nil
	}
	return nil, &TypeError{typ}
}

func reading(text json.RawMessage) (any, error) {
	var v struct {
		Tag, Value, Quality, Ticks json.RawMessage
		Labels                     []string
	}
	if len(text) == 0 {
		return nil, errMissing
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	r := Reading{Labels: v.Labels}
	if r.Labels == nil {
		r.Labels = []string{}
	}
	var errs [4]error
	r.Tag, errs[0] = readJSON[string](v.Tag)
	r.Value, errs[1] = readJSON[float64](v.Value)
	r.Quality, errs[2] = readJSON[int32](v.Quality)
	r.Ticks, errs[3] = readJSON[int64](v.Ticks)
	for i, name := range []string{"tag", "value", "quality", "ticks"} {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: %w", name, errs[i])
		}
	}
	return r, nil
}

// invalidOperation is the exception that the node of .NET fails with.
func invalidOperation(text string) error {
	return &serial.RemoteError{TypeName: "System.InvalidOperationException, System.Private.CoreLib", Message: text, ForwardedFrom: "mscorlib"}
}
