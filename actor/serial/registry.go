package serial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// The ids of Akka.NET's serializers.
const (
	nullID      = 0
	jsonID      = 1
	protoID     = 2
	daemonID    = 3
	bytesID     = 4
	selectionID = 6
	miscID      = 16
	primitiveID = 17
	systemID    = 22
	// lastReserved is the last id that Akka.NET keeps for itself.
	lastReserved = 100
)

// Options are those of a [Registry]. The zero value is what Akka.NET 1.5 on today's .NET does.
type Options struct {
	// ShortPrimitives names strings and integers S, I and L, as Akka.NET does with
	// akka.actor.serialization-settings.primitive.use-legacy-behavior = off. Versions before 1.4.20 do not know these.
	ShortPrimitives bool
	// Mscorlib names the assembly of .NET's own types mscorlib, which .NET Framework needs and .NET understands.
	Mscorlib bool
}

// A Registry holds the serializers of one system. It is filled first, then used: from its first use, or [Registry.Seal],
// on it does not change any more, and may be used by any number of goroutines.
type Registry struct {
	opts   Options
	sealed atomic.Bool
	usable atomic.Bool // sealed, and nothing was wrong

	mu   sync.Mutex // of all below, until it is sealed
	errs []error

	byID       map[int32]Serializer
	byGo       map[reflect.Type]Serializer
	interfaces []interfaceBinding // those of users first
	found      sync.Map           // reflect.Type to Serializer: what interfaces has led to
	bound      bool               // users have bound types
	json       *jsonTypes
	jsonTypes  []registeredType
	proto      *protoSerializer
	primitive  *primitiveSerializer
	err        error // of sealing
}

type interfaceBinding struct {
	t reflect.Type
	s Serializer
}

// NewRegistry makes a registry with the serializers of Akka.NET.
func NewRegistry(o Options) *Registry {
	r := &Registry{opts: o, byID: map[int32]Serializer{}, byGo: map[reflect.Type]Serializer{}, json: newJSONTypes(), proto: newProtoSerializer()}
	r.primitive = newPrimitiveSerializer(o)
	misc, system := &miscSerializer{}, &systemSerializer{}
	for _, s := range []Serializer{nullSerializer{}, &jsonSerializer{r.json}, r.proto, daemonSerializer{}, bytesSerializer{}, selectionSerializer{}, misc, r.primitive, system} {
		r.byID[s.ID()] = s
	}
	for _, t := range []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[int]()} {
		r.byGo[t] = r.primitive
	}
	r.byGo[reflect.TypeFor[[]byte]()] = bytesSerializer{}
	r.byGo[reflect.TypeFor[DaemonMsgCreate]()] = daemonSerializer{}
	r.byGo[reflect.TypeFor[Selection]()] = selectionSerializer{}
	for _, t := range miscTypes {
		r.byGo[t] = misc
	}
	for _, t := range systemTypes {
		r.byGo[t] = system
	}
	r.interfaces = []interfaceBinding{{reflect.TypeFor[proto.Message](), r.proto}}
	registerWellKnown(r)
	return r
}

// note keeps an error for Seal.
func (r *Registry) note(err error) error {
	if err != nil {
		r.mu.Lock()
		r.errs = append(r.errs, err)
		r.mu.Unlock()
	}
	return err
}

// change runs f, which changes the registry, unless that is sealed.
func (r *Registry) change(f func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed.Load() {
		return ErrSealed
	}
	err := f()
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return err
}

// Seal ends the registration. Its error tells all that was wrong with it, also what the functions that register have
// returned; as long as there is one, nothing is read or written.
func (r *Registry) Seal() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sealed.Load() {
		core := coreLib
		if r.opts.Mscorlib {
			core = "mscorlib"
		}
		r.err = errors.Join(append(r.errs, r.json.build(r.jsonTypes, core))...)
		r.sealed.Store(true)
		r.usable.Store(r.err == nil)
	}
	return r.err
}

// ready seals the registry if nobody has.
func (r *Registry) ready() error {
	if r.usable.Load() {
		return nil
	}
	return r.Seal()
}

// Register adds a serializer of the user's. Its id has to be above 100: the others are Akka.NET's.
func (r *Registry) Register(s Serializer) error {
	return r.change(func() error {
		id := s.ID()
		if id <= lastReserved {
			return fmt.Errorf("serial: serializer id %d is not above 100: those up to there are Akka.NET's own", id)
		}
		if _, twice := r.byID[id]; twice {
			return fmt.Errorf("serial: there are two serializers with id %d", id)
		}
		r.byID[id] = s
		return nil
	})
}

// Bind sends messages of type T with the serializer of that id, which has been registered. T may be an interface:
// then it is for all types that have its methods and are not bound themselves. Of several interfaces the one that was
// bound first counts; Akka.NET's own bindings come last.
func Bind[T any](r *Registry, id int32) error {
	return r.change(func() error {
		t := reflect.TypeFor[T]()
		s := r.byID[id]
		if s == nil {
			return fmt.Errorf("serial: %s cannot be bound to serializer %d: there is none", t, id)
		}
		r.bound = true
		if t.Kind() != reflect.Interface {
			r.byGo[t] = s
			return nil
		}
		if t.NumMethod() == 0 {
			return fmt.Errorf("serial: %s is every type, which cannot be bound", t)
		}
		last := len(r.interfaces) - 1
		r.interfaces = append(r.interfaces[:last:last], interfaceBinding{t, s}, r.interfaces[last])
		return nil
	})
}

// Find is the serializer for a message: that of its type, else that of the first interface that it has, else JSON.
// The error is that of Seal.
func (r *Registry) Find(msg any) (Serializer, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	if !r.bound {
		switch msg.(type) {
		case string, int32, int64, int:
			return r.primitive, nil
		case []byte:
			return bytesSerializer{}, nil
		}
	}
	if msg == nil {
		return nullSerializer{}, nil
	}
	t := reflect.TypeOf(msg)
	if s := r.byGo[t]; s != nil {
		return s, nil
	}
	if s, ok := r.found.Load(t); ok {
		return s.(Serializer), nil
	}
	s := r.byID[jsonID]
	for _, i := range r.interfaces {
		if t.Implements(i.t) {
			s = i.s
			break
		}
	}
	r.found.Store(t, s)
	return s, nil
}

// ByID is the serializer with that id, nil if there is none.
func (r *Registry) ByID(id int32) Serializer {
	if r.ready() != nil {
		return nil
	}
	return r.byID[id]
}

// Append adds the bytes of a message to dst, and tells the serializer and the manifest. After an error dst is as long
// as before.
func (r *Registry) Append(dst []byte, msg any, x *Exchange) (out []byte, id int32, manifest string, err error) {
	if r.usable.Load() && !r.bound {
		// What most messages are in programs that count them.
		switch v := msg.(type) {
		case string:
			return append(dst, v...), primitiveID, r.primitive.text, nil
		case int32:
			return binary.LittleEndian.AppendUint32(dst, uint32(v)), primitiveID, r.primitive.small, nil
		}
	}
	s, err := r.Find(msg)
	if err != nil {
		return dst, 0, "", err
	}
	if x.Registry == nil {
		x.Registry = r
	}
	id = s.ID()
	if id > lastReserved {
		return appendUser(dst, s, msg, x)
	}
	manifest = s.Manifest(msg)
	if out, err = s.Append(dst, msg, x); err != nil {
		return dst, id, manifest, err
	}
	if len(out)-len(dst) > x.maxSize() {
		return dst, id, manifest, ErrTooLarge
	}
	return out, id, manifest, nil
}

// SizeHint is about how many bytes a message will have, exactly for strings, bytes and integers: what to make room for.
func SizeHint(msg any) int {
	switch v := msg.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	case int32:
		return 4
	case int64, int:
		return 8
	case actor.PoisonPill, actor.Kill, Heartbeat, Suspend, Terminate:
		return 0
	}
	return 120 // most are below 128, the next length of a length
}

// appendUser calls a serializer that is not ours: it may panic.
func appendUser(dst []byte, s Serializer, msg any, x *Exchange) (out []byte, id int32, manifest string, err error) {
	id = s.ID()
	depth := x.depth
	defer func() {
		if p := recover(); p != nil {
			x.depth = depth
			out, err = dst, fmt.Errorf("serial: serializer %d panicked with a %T: %v", id, msg, p)
		}
	}()
	manifest = s.Manifest(msg)
	if out, err = s.Append(dst, msg, x); err != nil {
		return dst, id, manifest, err
	}
	return out, id, manifest, nil
}

// Decode makes the message of its bytes. The error is an *UnknownSerializerError, *ManifestError, *UnknownTypeError or
// *FormatError, ErrTooDeep or ErrTooLarge, or that of a user's serializer: the message is lost, nothing else is.
func (r *Registry) Decode(id int32, manifest, b []byte, x *Exchange) (any, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	if id == primitiveID {
		return r.primitive.Decode(b, manifest, x)
	}
	if x.Registry == nil {
		x.Registry = r
	}
	s := r.byID[id]
	if s == nil {
		return nil, &UnknownSerializerError{id}
	}
	if id > lastReserved {
		return decodeUser(s, b, manifest, x)
	}
	return s.Decode(b, manifest, x)
}

func decodeUser(s Serializer, b, manifest []byte, x *Exchange) (msg any, err error) {
	depth := x.depth
	defer func() {
		if p := recover(); p != nil {
			x.depth = depth
			msg, err = nil, fmt.Errorf("serial: serializer %d panicked: %v", s.ID(), p)
		}
	}()
	return s.Decode(b, manifest, x)
}

// appendPayload adds a message within a message: a Payload as field of the one around it. nil is the empty Payload.
func (x *Exchange) appendPayload(dst []byte, field byte, msg any) ([]byte, error) {
	const guess = 64
	start := len(dst)
	if err := x.enter(); err != nil {
		return dst, err
	}
	defer x.leave()
	dst = akkapb.BeginField(dst, field, guess)
	dst, err := x.appendPayloadBody(dst, msg)
	if err != nil {
		return dst[:start], err
	}
	return akkapb.EndField(dst, start, guess), nil
}

func (x *Exchange) appendPayloadBody(dst []byte, msg any) ([]byte, error) {
	if p, ok := msg.(Payload); ok {
		raw := akkapb.Payload{Message: p.Message, SerializerID: p.SerializerID, Manifest: []byte(p.Manifest)}
		return raw.Append(dst), nil
	}
	if msg == nil {
		return dst, nil
	}
	const guess = 64
	start := len(dst)
	dst = akkapb.BeginField(dst, 1, guess)
	body := len(dst)
	dst, id, manifest, err := x.Registry.Append(dst, msg, x)
	if err != nil {
		return dst, err
	}
	if len(dst) == body {
		dst = dst[:start] // no bytes, no field
	} else {
		dst = akkapb.EndField(dst, start, guess)
	}
	if id != 0 {
		dst = protowire.AppendVarint(append(dst, 2<<3), uint64(int64(id)))
	}
	if manifest != "" {
		dst = protowire.AppendVarint(append(dst, 3<<3|2), uint64(len(manifest)))
		dst = append(dst, manifest...)
	}
	return dst, nil
}

// decodePayload makes the message within a message. The empty Payload is nil.
func (x *Exchange) decodePayload(p *akkapb.Payload) (any, error) {
	if p.SerializerID == nullID {
		return nil, nil
	}
	if err := x.enter(); err != nil {
		return nil, err
	}
	defer x.leave()
	return x.Registry.Decode(p.SerializerID, p.Manifest, p.Message, x)
}

// decodeOrKeep is decodePayload for what only goes back to where it came from: what cannot be decoded stays a [Payload].
func (x *Exchange) decodeOrKeep(p *akkapb.Payload) (any, error) {
	msg, err := x.decodePayload(p)
	if err == nil || errors.Is(err, ErrTooDeep) || errors.Is(err, ErrTooLarge) {
		return msg, err
	}
	return keepPayload(p), nil
}

func keepPayload(p *akkapb.Payload) Payload {
	return Payload{SerializerID: p.SerializerID, Manifest: string(p.Manifest), Message: append([]byte(nil), p.Message...)}
}

// address makes an address of its parts.
func address(a *akkapb.AddressData) (actor.Address, error) {
	return actor.NewAddress(string(a.Protocol), string(a.System), string(a.Hostname), int(a.Port))
}

func addressData(a actor.Address) akkapb.AddressData {
	return akkapb.AddressData{System: []byte(a.System()), Hostname: []byte(a.Host()), Port: uint32(max(a.Port(), 0)), Protocol: []byte(a.Protocol())}
}
