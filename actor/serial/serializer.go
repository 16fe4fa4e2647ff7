package serial

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/actua/actua/actor"
)

// A Serializer turns the messages of some types into bytes and back. It is used by many goroutines at a time.
type Serializer interface {
	// ID tells the serializers apart on the wire. Those of users are above 100.
	ID() int32
	// Manifest says of which kind the bytes of msg are, for Decode. It may be empty.
	Manifest(msg any) string
	// Append adds the bytes of msg to dst. After an error what it has added is to be forgotten.
	Append(dst []byte, msg any, x *Exchange) ([]byte, error)
	// Decode makes the message of b. Neither b nor manifest may be kept or changed: they are overwritten later.
	Decode(b, manifest []byte, x *Exchange) (any, error)
}

// An Exchange is what serializers have to know about the system and its peer. It keeps working memory, so it
// is used by one goroutine at a time; one that reads a connection and one that writes to it each have their own.
type Exchange struct {
	// Registry finds the serializers of messages within messages.
	Registry *Registry
	// Address is where others reach the system: references to its own actors are written with it. The zero
	// Address leaves them as they are.
	Address actor.Address
	// Resolve finds the reference that a path stands for, uid included; nil if it is no path. The bytes may not be
	// kept. Without it messages with references in them fail.
	Resolve func(path []byte) *actor.Ref
	// Nobody is the reference that stands for Akka.NET's Nobody, if there is one. Otherwise Nobody is nil inside of
	// messages, and [Nobody] as a message.
	Nobody *actor.Ref
	// MaxSize bounds the bytes that one message is written as; 0 is 64 MiB.
	MaxSize int

	depth int // of messages within messages
	out   *jsonWriter
	in    *jsonReader
}

const (
	// maxDepth bounds messages within messages, and values within values (Newtonsoft.Json: MaxDepth).
	maxDepth = 64
	// maxInner bounds the chain of inner exceptions that is written.
	maxInner       = 32
	defaultMaxSize = 64 << 20
)

// ErrSealed is why something cannot be registered: the registry is in use.
var ErrSealed = errors.New("the registry is in use already: register before the system starts")

// ErrTooDeep is a message with too many levels: others within it, or a value that contains itself.
var ErrTooDeep = errors.New("more than 64 levels deep")

// ErrTooLarge is a message whose bytes, or what they would become in memory, are above the limit.
var ErrTooLarge = errors.New("the message is too large")

// UnknownTypeError is a type that the registry does not have: a .NET type that a peer has sent, or a Go type that
// is to be sent.
type UnknownTypeError struct {
	Type string // the .NET name as it came, or the Go type
	Go   bool   // Type is a Go type
}

// Error names the type and what to do.
func (e *UnknownTypeError) Error() string {
	if e.Go {
		return "serial: Go type " + e.Type + " is not registered: it has no .NET name"
	}
	return "serial: .NET type " + strconv.Quote(clip(e.Type)) + " is not registered"
}

// UnknownSerializerError is a serializer id that the registry does not have.
type UnknownSerializerError struct{ ID int32 }

// Error names the id.
func (e *UnknownSerializerError) Error() string {
	return "serial: there is no serializer with id " + strconv.Itoa(int(e.ID))
}

// ManifestError is a manifest that a serializer does not have.
type ManifestError struct {
	ID       int32
	Manifest string
}

// Error names both.
func (e *ManifestError) Error() string {
	return fmt.Sprintf("serial: serializer %d has no manifest %q", e.ID, clip(e.Manifest))
}

// FormatError is bytes that are not what their serializer and manifest say.
type FormatError struct {
	ID     int32
	What   string // the manifest or type
	Offset int    // where in the bytes; -1 if it is not known
	Reason string
	Err    error // may be nil
}

// Error says what is wrong and where.
func (e *FormatError) Error() string {
	s := "serial: serializer " + strconv.Itoa(int(e.ID))
	if e.What != "" {
		s += ", " + clip(e.What)
	}
	if e.Offset >= 0 {
		s += ", byte " + strconv.Itoa(e.Offset)
	}
	s += ": " + e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap is the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func badBytes(id int32, what, reason string, err error) error {
	return &FormatError{ID: id, What: what, Offset: -1, Reason: reason, Err: err}
}

// wrongType is the error of a serializer that gets what is not its own.
func wrongType(id int32, msg any) error {
	return fmt.Errorf("serial: serializer %d cannot write a %T", id, msg)
}

// clip shortens what comes from a peer, for a log.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// enter counts a level; leave has to follow where it returns nil.
func (x *Exchange) enter() error {
	if x.depth >= maxDepth {
		return ErrTooDeep
	}
	x.depth++
	return nil
}

func (x *Exchange) leave() { x.depth-- }

func (x *Exchange) maxSize() int {
	if x.MaxSize > 0 {
		return x.MaxSize
	}
	return defaultMaxSize
}

// appendRef adds the path of a reference as others see it.
func (x *Exchange) appendRef(dst []byte, r *actor.Ref) []byte {
	if x.Address.IsZero() {
		return r.AppendWire(dst)
	}
	p := r.Path()
	return p.AppendSerializationFormatWithAddress(dst, x.Address)
}

// ref finds the reference of a path. nil stands for no reference: an empty path.
func (x *Exchange) ref(path []byte) (*actor.Ref, error) {
	if len(path) == 0 {
		return nil, nil
	}
	if x.Resolve != nil {
		if r := x.Resolve(path); r != nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("serial: %q is no reference to an actor", clip(string(path)))
}
