package serial

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// protoSerializer is serializer 2: protocol buffers messages under the names of their C# classes.
type protoSerializer struct {
	names  map[reflect.Type]string
	byName map[string]func() proto.Message
}

func newProtoSerializer() *protoSerializer {
	return &protoSerializer{map[reflect.Type]string{}, map[string]func() proto.Message{}}
}

// RegisterProto makes T, a generated message type such as *shop.Order, the Go type of a C# message class. The name
// is that of the class and its assembly: "Shop.Messages.Order, Shop.Contracts" (the file's csharp_namespace and the
// message; a message within a message is "Outer+Types+Inner"). The well-known types of Google.Protobuf are registered.
func RegisterProto[T proto.Message](r *Registry, name string) error {
	n, err := parseName(name)
	if err != nil {
		return r.note(err)
	}
	return r.change(func() error {
		t := reflect.TypeFor[T]()
		if t.Kind() != reflect.Pointer {
			return fmt.Errorf("serial: %s (%s): a generated message type is a pointer", name, t)
		}
		key := string(normalName(nil, []byte(n.String())))
		if r.proto.byName[key] != nil {
			return fmt.Errorf("serial: %s is registered already", n)
		}
		if have, ok := r.proto.names[t]; ok {
			return fmt.Errorf("serial: %s is registered already, as %s", t, have)
		}
		kind := (*new(T)).ProtoReflect().Type()
		r.proto.names[t] = n.String()
		r.proto.byName[key] = func() proto.Message { return kind.New().Interface() }
		return nil
	})
}

func registerWellKnown(r *Registry) {
	const space = "Google.Protobuf.WellKnownTypes."
	const assembly = ", Google.Protobuf"
	for _, err := range []error{
		RegisterProto[*wrapperspb.StringValue](r, space+"StringValue"+assembly),
		RegisterProto[*wrapperspb.BytesValue](r, space+"BytesValue"+assembly),
		RegisterProto[*wrapperspb.BoolValue](r, space+"BoolValue"+assembly),
		RegisterProto[*wrapperspb.Int32Value](r, space+"Int32Value"+assembly),
		RegisterProto[*wrapperspb.Int64Value](r, space+"Int64Value"+assembly),
		RegisterProto[*wrapperspb.UInt32Value](r, space+"UInt32Value"+assembly),
		RegisterProto[*wrapperspb.UInt64Value](r, space+"UInt64Value"+assembly),
		RegisterProto[*wrapperspb.FloatValue](r, space+"FloatValue"+assembly),
		RegisterProto[*wrapperspb.DoubleValue](r, space+"DoubleValue"+assembly),
		RegisterProto[*timestamppb.Timestamp](r, space+"Timestamp"+assembly),
		RegisterProto[*durationpb.Duration](r, space+"Duration"+assembly),
		RegisterProto[*emptypb.Empty](r, space+"Empty"+assembly),
		RegisterProto[*structpb.Struct](r, space+"Struct"+assembly),
		RegisterProto[*structpb.Value](r, space+"Value"+assembly),
		RegisterProto[*structpb.ListValue](r, space+"ListValue"+assembly),
		RegisterProto[*anypb.Any](r, space+"Any"+assembly),
	} {
		if err != nil {
			panic(err)
		}
	}
}

func (*protoSerializer) ID() int32 { return protoID }

func (s *protoSerializer) Manifest(msg any) string { return s.names[reflect.TypeOf(msg)] }

func (s *protoSerializer) Append(dst []byte, msg any, _ *Exchange) ([]byte, error) {
	m, ok := msg.(proto.Message)
	if !ok || s.names[reflect.TypeOf(msg)] == "" {
		return dst, &UnknownTypeError{Type: fmt.Sprintf("%T", msg), Go: true}
	}
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	if err != nil {
		return dst, badBytes(protoID, s.names[reflect.TypeOf(msg)], "cannot be written", err)
	}
	return out, nil
}

func (s *protoSerializer) Decode(b, manifest []byte, _ *Exchange) (any, error) {
	if len(manifest) == 0 {
		return nil, &ManifestError{protoID, ""}
	}
	makeOne := s.byName[string(manifest)]
	if makeOne == nil && len(manifest) <= mostTypeBytes {
		makeOne = s.byName[string(normalName(nil, manifest))]
	}
	if makeOne == nil {
		return nil, &UnknownTypeError{Type: string(manifest)}
	}
	m := makeOne()
	if err := (proto.UnmarshalOptions{RecursionLimit: maxDepth}).Unmarshal(b, m); err != nil {
		return nil, badBytes(protoID, string(manifest), "no such message", err)
	}
	return m, nil
}
