package serial

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/actua/actua/actor"
)

// The names of Akka.NET's surrogates.
const (
	refName       = "Akka.Actor.ActorRefBase+Surrogate, Akka"
	pathName      = "Akka.Actor.ActorPath+Surrogate, Akka"
	addressName   = "Akka.Actor.Address+AddressSurrogate, Akka"
	nobodyName    = "Akka.Actor.Nobody+NobodySurrogate, Akka"
	ignoreName    = "Akka.Actor.IgnoreActorRef+IgnoreActorRefSurrogate, Akka"
	localName     = "Akka.Actor.LocalScope+LocalScopeSurrogate, Akka"
	propsName     = "Akka.Actor.Props+PropsSurrogate, Akka"
	deployName    = "Akka.Actor.Deploy+DeploySurrogate, Akka"
	mostTypeBytes = 4096 // of a name that a peer sends
)

var refType = []byte(`"$type":"` + refName + `"`)

// jsonTypes is all that serializer 1 can make and write.
type jsonTypes struct {
	names  netNames
	byGo   map[reflect.Type]*jsonType
	byName map[string]*jsonType

	// What is being built.
	known   map[reflect.Type]netName // registered structs
	structs map[reflect.Type]*structCodec
	enums   map[reflect.Type]*enumType
	late    []finisher
	depth   int
}

// jsonType is a Go type that may stand where .NET has an object of any type.
type jsonType struct {
	t         reflect.Type
	c         codec
	elem      codec // of what t points to, if t is a pointer
	direct    bool  // an any holds the value itself
	preferred bool  // objects of the name become this type
	alias     bool  // they do not, if there is another
	raw       bool  // the object stays text
	surrogate func(r *jsonReader, h *head) any
	typ       unsafe.Pointer // the first word of an any of t
}

// finisher is a codec that needs the names of others.
type finisher interface{ finish(n *netNames) }

func newJSONTypes() *jsonTypes {
	return &jsonTypes{
		byGo: map[reflect.Type]*jsonType{}, byName: map[string]*jsonType{},
		known: map[reflect.Type]netName{}, structs: map[reflect.Type]*structCodec{}, enums: map[reflect.Type]*enumType{},
	}
}

// box makes an any of the value at p, which is not used otherwise from then on.
func (t *jsonType) box(p unsafe.Pointer) any {
	if t.direct {
		return reflect.NewAt(t.t, p).Elem().Interface()
	}
	var v any
	*(*eface)(unsafe.Pointer(&v)) = eface{t.typ, p}
	return v
}

// typeOf finds a type by its .NET name, nil if there is none.
func (j *jsonTypes) typeOf(name []byte) *jsonType {
	if t := j.byName[string(name)]; t != nil {
		return t
	}
	if len(name) > mostTypeBytes {
		return nil
	}
	var buf [256]byte
	return j.byName[string(normalName(buf[:0], name))]
}

// add makes t one of the types that may stand anywhere.
func (j *jsonTypes) add(t reflect.Type, o options) (*jsonType, error) {
	if known := j.byGo[t]; known != nil {
		return known, nil
	}
	c, err := j.codec(t, o)
	if err != nil {
		return nil, err
	}
	// An any of a zero value points to it, unless it holds the value itself: then it is a nil pointer.
	zero := reflect.Zero(t).Interface()
	e := (*eface)(unsafe.Pointer(&zero))
	jt := &jsonType{t: t, c: c, direct: e.data == nil, typ: e.typ}
	if p, ok := c.(*pointerCodec); ok {
		jt.elem = p.c
	}
	j.byGo[t] = jt
	return jt, nil
}

// leaves are the Go types that .NET knows by itself.
var leaves = []leaf{
	leafOf[string](), leafOf[bool](), leafOf[int8](), leafOf[int16](), leafOf[int32](), leafOf[int64](), leafOf[int](), leafOf[uint8](),
	leafOf[uint16](), leafOf[uint32](), leafOf[uint64](), leafOf[uint](), leafOf[float32](), leafOf[float64](), leafOf[Decimal](),
	leafOf[GUID](), leafOf[Char](), leafOf[time.Time](), leafOf[time.Duration](), leafOf[any](), leafOf[[]byte](), leafOf[*actor.Ref](),
	leafOf[actor.Address](), leafOf[actor.Path](),
}

// leaf is a type with the collections of it.
type leaf struct{ one, array, list, dictionary reflect.Type }

func leafOf[T any]() leaf {
	return leaf{reflect.TypeFor[T](), reflect.TypeFor[[]T](), reflect.TypeFor[List[T]](), reflect.TypeFor[map[string]T]()}
}

// build makes the plans of all registered types. After it nothing changes.
func (j *jsonTypes) build(registered []registeredType, core string) error {
	j.names.coreLib = core
	for _, one := range []struct {
		name string
		read func(r *jsonReader, h *head) any
	}{
		{refName, readRef}, {pathName, readPath}, {addressName, readAddress},
		{nobodyName, func(r *jsonReader, h *head) any {
			r.end(h)
			if r.x.Nobody != nil {
				return r.x.Nobody
			}
			return Nobody{}
		}},
		{ignoreName, func(r *jsonReader, h *head) any { r.end(h); return IgnoreRef{} }},
		{localName, func(r *jsonReader, h *head) any { r.end(h); return LocalScope{} }},
	} {
		j.byName[one.name] = &jsonType{surrogate: one.read}
	}
	j.byName[propsName] = &jsonType{raw: true}
	j.byName[deployName] = &jsonType{raw: true}
	var errs []error
	for _, l := range leaves {
		if l.one.Kind() != reflect.Interface {
			_, err := j.add(l.one, options{})
			errs = append(errs, err)
		}
		errs = append(errs, j.addCollections(l, l.one.Kind() == reflect.Int || l.one.Kind() == reflect.Uint))
	}
	for _, t := range []reflect.Type{
		reflect.TypeFor[JObject](), reflect.TypeFor[JArray](), reflect.TypeFor[Nobody](), reflect.TypeFor[IgnoreRef](), reflect.TypeFor[LocalScope](),
	} {
		_, err := j.add(t, options{})
		errs = append(errs, err)
	}
	for _, r := range registered {
		if err := j.addRegistered(r); err != nil {
			errs = append(errs, fmt.Errorf("serial: %s (%s): %w", r.name, r.one, err))
		}
	}
	for _, f := range j.late {
		f.finish(&j.names)
	}
	for _, t := range j.byGo {
		j.name(t)
	}
	return errors.Join(errs...)
}

func readRef(r *jsonReader, h *head) any {
	at := r.i
	path := r.pathText(h)
	if r.err != nil {
		return nil
	}
	ref, err := r.x.ref(path)
	if err != nil {
		r.failAt(at, "no reference", err)
		return nil
	}
	return ref
}

// name makes a type known by the name that is written for it.
func (j *jsonTypes) name(t *jsonType) {
	if _, ok := t.c.(bodyReader); !ok {
		return
	}
	n := t.c.net(&j.names)
	if n.typ == "" {
		return
	}
	key := string(normalName(nil, []byte(n.String())))
	if have := j.byName[key]; have == nil || t.preferred || have.alias {
		j.byName[key] = t
		j.byName[n.String()] = t
	}
}

// addCollections adds arrays, lists and dictionaries of a type. Aliases are Go types for which .NET has no name of
// their own: int, a pointer where the struct is registered.
func (j *jsonTypes) addCollections(l leaf, alias bool) error {
	var errs []error
	for _, t := range []reflect.Type{l.array, l.list, l.dictionary} {
		jt, err := j.add(t, options{})
		if errs = append(errs, err); err == nil {
			jt.alias = alias
		}
	}
	return errors.Join(errs...)
}

// registeredType is a type that the user has registered.
type registeredType struct {
	leaf         // without collections if only the type itself was registered
	pointer leaf // pointers to it, if it is a struct
	name    netName
	raw     bool
}

func (j *jsonTypes) addRegistered(r registeredType) error {
	if r.raw {
		t := &jsonType{raw: true}
		j.byName[r.name.String()] = t
		j.byName[string(normalName(nil, []byte(r.name.String())))] = t
		return nil
	}
	t, err := j.add(r.one, options{})
	if err != nil {
		return err
	}
	t.preferred = true
	if r.one.Kind() == reflect.Pointer {
		elem, err := j.add(r.one.Elem(), options{})
		if err != nil {
			return err
		}
		elem.alias = true
	}
	if r.pointer.one != nil {
		p, err := j.add(r.pointer.one, options{})
		if err != nil {
			return err
		}
		p.alias = true
		if err := j.addCollections(r.pointer, true); err != nil {
			return err
		}
	}
	if r.array == nil {
		return nil
	}
	return j.addCollections(r.leaf, false)
}

// codec makes the plan of a type.
func (j *jsonTypes) codec(t reflect.Type, o options) (codec, error) {
	if c := j.special(t, o); c != nil {
		return c, nil
	}
	if j.depth++; j.depth > maxDepth {
		return nil, fmt.Errorf("%s contains itself without a struct between", t)
	}
	defer func() { j.depth-- }()
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int64, reflect.Int, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint, reflect.Float64:
		return &numberCodec{kind: t.Kind(), enum: j.enums[t]}, nil
	case reflect.Int32:
		if e := j.enums[t]; e != nil {
			return &numberCodec{kind: t.Kind(), enum: e}, nil
		}
		return &numberCodec{kind: t.Kind(), wrap: 'I'}, nil
	case reflect.Float32:
		return &numberCodec{kind: t.Kind(), wrap: 'F'}, nil
	case reflect.String:
		return &stringCodec{null: o.null}, nil
	case reflect.Interface:
		return &anyCodec{t}, nil
	case reflect.Struct:
		return j.structOf(t)
	case reflect.Pointer:
		return j.pointer(t, o)
	case reflect.Slice:
		return j.slice(t, o)
	case reflect.Map:
		return j.dictionary(t, o)
	}
	return nil, fmt.Errorf("a %s has no form in JSON", t)
}

// special is the plan of types with a form of their own.
func (j *jsonTypes) special(t reflect.Type, o options) codec {
	switch t {
	case reflect.TypeFor[*actor.Ref]():
		return refCodec{}
	case reflect.TypeFor[actor.Address]():
		return addressCodec{}
	case reflect.TypeFor[actor.Path]():
		return pathCodec{}
	case reflect.TypeFor[GUID]():
		return guidCodec{}
	case reflect.TypeFor[Decimal]():
		return &decimalCodec{}
	case reflect.TypeFor[Char]():
		return charCodec{}
	case reflect.TypeFor[time.Duration]():
		return durationCodec{}
	case reflect.TypeFor[time.Time]():
		return &timeCodec{offset: o.offset}
	case reflect.TypeFor[JObject]():
		return &rawCodec{'{'}
	case reflect.TypeFor[JArray]():
		return &rawCodec{'['}
	case reflect.TypeFor[Nobody]():
		return fixedCodec(nobodyName)
	case reflect.TypeFor[IgnoreRef]():
		return fixedCodec(ignoreName)
	case reflect.TypeFor[LocalScope]():
		return fixedCodec(localName)
	}
	return nil
}

// fixedCodec is for surrogates without members.
type fixedCodec string

func (c fixedCodec) write(w *jsonWriter, _ unsafe.Pointer) {
	w.object([]byte(`"$type":"` + string(c) + `"`))
	w.buf = append(w.buf, '}')
}
func (c fixedCodec) read(r *jsonReader, _ unsafe.Pointer) { r.skip() }
func (c fixedCodec) zero(unsafe.Pointer) bool             { return false }
func (c fixedCodec) net(*netNames) netName                { return netName{} }

func (j *jsonTypes) pointer(t reflect.Type, o options) (codec, error) {
	elem := t.Elem()
	c, err := j.codec(elem, o)
	if err != nil {
		return nil, err
	}
	p := &pointerCodec{elem: elem, c: c}
	switch c := c.(type) {
	case *structCodec:
		p.object = c
	case *numberCodec:
		bare := *c
		bare.wrap = 0 // int? is read as a bare number only
		p.c = &bare
	case *decimalCodec:
		p.c = &decimalCodec{bare: true}
	case *sliceCodec, *mapCodec, *bytesCodec, *anyCodec, *pointerCodec, *rawCodec, refCodec, addressCodec, pathCodec:
		return nil, fmt.Errorf("a %s may be null by itself: no pointer to it", elem)
	}
	return p, nil
}

func (j *jsonTypes) slice(t reflect.Type, o options) (codec, error) {
	elem := t.Elem()
	if elem == reflect.TypeFor[byte]() && !o.list && !isList(t) {
		c := &bytesCodec{}
		j.late = append(j.late, c)
		return c, nil
	}
	c := &sliceCodec{t: t, size: elem.Size()}
	switch {
	case o.bare:
		c.kind = asBare
	case o.set:
		c.kind = asSet
	case o.list || isList(t):
		c.kind = asList
	}
	o.bare, o.set, o.list = false, false, false
	var err error
	if c.c, err = j.codec(elem, o); err != nil {
		return nil, err
	}
	j.late = append(j.late, c)
	return c, nil
}

func isList(t reflect.Type) bool { return t.Implements(reflect.TypeFor[interface{ netList() }]()) }

func (j *jsonTypes) dictionary(t reflect.Type, o options) (codec, error) {
	key, err := j.codec(t.Key(), options{})
	if err != nil {
		return nil, err
	}
	c := &mapCodec{t: t, key: key}
	switch k := key.(type) {
	case *stringCodec:
		c.text = true
	case *numberCodec:
		bare := *k
		bare.wrap = 0
		c.key = &bare
		defer func() { c.key = &keyCodec{&bare, k} }()
	case guidCodec:
	default:
		return nil, fmt.Errorf("a %s cannot be the key of a dictionary: strings, numbers and GUIDs can", t.Key())
	}
	if c.c, err = j.codec(t.Elem(), o); err != nil {
		return nil, err
	}
	j.late = append(j.late, c)
	return c, nil
}

// keyCodec is a number as the key of a dictionary: written without its kind.
type keyCodec struct {
	*numberCodec
	named *numberCodec
}

func (c *keyCodec) net(n *netNames) netName { return c.named.net(n) }
