package serial

import (
	"fmt"
	"reflect"
)

// RegisterJSON makes T the Go type of a .NET class that travels as JSON (serializer 1). The name is that of the class
// and its assembly, without version: "Shop.Order, Shop". T is a struct, or a pointer to one; that is what an
// incoming object becomes. Both can be sent.
//
// The members of the class are T's exported fields, in this order, under their Go name or that of the tag net:"Name".
// A field net:"-" is left out; the fields of an embedded struct are members of T. Behind the name, after commas:
//
//	list     the member is a List<T>, not an array (or use [List])
//	set      the member is a HashSet<T>
//	bare     write the collection without its type, which suits members of every collection type
//	offset   a time.Time is a DateTimeOffset, not a DateTime
//	null     the empty string stands for null; otherwise it is an empty string, as in .NET
//
// What .NET has for a Go type:
//
//	bool int8 uint8 int16 uint16   bool sbyte byte short ushort
//	int32 uint32 int64 uint64      int uint long ulong; Go's int is a long
//	float32 float64 [Decimal]      float double decimal
//	string [Char] [GUID]           string char Guid
//	time.Duration time.Time        TimeSpan DateTime
//	[]byte []T [List] map[K]V      byte[] T[] List<T> Dictionary<K,V>
//	*int32 and other pointers      int? and so on; a pointer to a struct is a reference to an object
//	any, an interface              object, an interface, a base class: what it holds has to be registered
//	*actor.Ref actor.Path actor.Address   IActorRef ActorPath Address
//	a type of [RegisterEnum]       the enumeration
//
// A struct that is not registered may be the type of a field, if it is exactly the member's class.
//
// The error says what is wrong with the name; [Registry.Seal] tells which types have no form.
func RegisterJSON[T any](r *Registry, name string) error {
	t := reflect.TypeFor[T]()
	n, err := parseName(name)
	if err != nil {
		return r.note(err)
	}
	s := t
	if s.Kind() == reflect.Pointer {
		s = s.Elem()
	}
	if s.Kind() != reflect.Struct {
		return r.note(fmt.Errorf("serial: %s (%s): only structs can be registered as classes", name, t))
	}
	one := registeredType{leaf: leafOf[T](), name: n}
	if s == t {
		one.pointer = leafOf[*T]()
	}
	return r.registerJSON(one, s)
}

// RegisterEnum makes T, a type made of integers, the Go type of a .NET enumeration. Values are written as numbers, as
// .NET does, and may come as names.
func RegisterEnum[T ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint](r *Registry, name string, values map[string]T) error {
	n, err := parseName(name)
	if err != nil {
		return r.note(err)
	}
	e := &enumType{name: n, values: make(map[string]int64, len(values))}
	for k, v := range values {
		e.values[k] = int64(v)
	}
	return r.change(func() error {
		t := reflect.TypeFor[T]()
		if t.PkgPath() == "" {
			return fmt.Errorf("serial: %s (%s): an enumeration needs a type of its own", name, t)
		}
		r.json.enums[t] = e
		r.jsonTypes = append(r.jsonTypes, registeredType{leaf: leafOf[T](), name: n})
		return nil
	})
}

// RegisterCollection lets a slice or map stand alone: as a message, or in a member of type object. Those of the types
// that .NET knows, and of registered classes, can do so already if they are []T, [List] or map[string]T.
func RegisterCollection[T any](r *Registry) error {
	t := reflect.TypeFor[T]()
	if k := t.Kind(); k != reflect.Slice && k != reflect.Map {
		return r.note(fmt.Errorf("serial: %s is no collection", t))
	}
	return r.change(func() error {
		r.jsonTypes = append(r.jsonTypes, registeredType{leaf: leaf{one: t}})
		return nil
	})
}

// RegisterJSONText takes objects of a .NET class as text: as a [JObject], which is written again as it came.
func RegisterJSONText(r *Registry, name string) error {
	n, err := parseName(name)
	if err != nil {
		return r.note(err)
	}
	return r.registerJSON(registeredType{name: n, raw: true}, nil)
}

func (r *Registry) registerJSON(one registeredType, s reflect.Type) error {
	return r.change(func() error {
		for _, have := range r.jsonTypes {
			if have.name == one.name {
				return fmt.Errorf("serial: %s is registered already", one.name)
			}
		}
		if s != nil {
			if have, ok := r.json.known[s]; ok {
				return fmt.Errorf("serial: %s is registered already, as %s", s, have)
			}
			r.json.known[s] = one.name
		}
		r.jsonTypes = append(r.jsonTypes, one)
		return nil
	})
}
