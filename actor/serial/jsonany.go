package serial

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/actua/actua/actor"
)

// anyCodec is for interfaces: members whose .NET type is object, an interface or a base class.
type anyCodec struct{ t reflect.Type }

func (c *anyCodec) write(w *jsonWriter, p unsafe.Pointer) { w.any(c.load(p)) }
func (c *anyCodec) zero(p unsafe.Pointer) bool            { return c.load(p) == nil }

func (c *anyCodec) load(p unsafe.Pointer) any {
	if c.t.NumMethod() == 0 {
		return *(*any)(p)
	}
	return reflect.NewAt(c.t, p).Elem().Interface()
}

func (c *anyCodec) net(n *netNames) netName {
	if c.t.NumMethod() == 0 {
		return n.core("System.Object")
	}
	return netName{}
}

func (c *anyCodec) read(r *jsonReader, p unsafe.Pointer) {
	at := r.i
	v := r.any(false)
	switch {
	case v == nil || r.err != nil:
	case c.t.NumMethod() == 0:
		*(*any)(p) = v
	case !reflect.TypeOf(v).Implements(c.t):
		r.failAt(at, fmt.Sprintf("a %T is no %s", v, c.t), nil)
	default:
		reflect.NewAt(c.t, p).Elem().Set(reflect.ValueOf(v))
	}
}

// eface is how Go keeps an any: what points to a value is itself in data if it is no pointer already.
type eface struct{ typ, data unsafe.Pointer }

// any writes a value whose type .NET learns from what is written.
func (w *jsonWriter) any(v any) {
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
		return
	case string:
		w.string(v)
		return
	case bool:
		w.buf = strconv.AppendBool(w.buf, v)
		return
	case int32:
		w.wrap('I')
		w.buf = strconv.AppendInt(w.buf, int64(v), 10)
		w.wrapEnd()
		return
	case int64:
		w.buf = strconv.AppendInt(w.buf, v, 10)
		return
	case float64:
		w.double(v, 64)
		return
	}
	t := w.types.byGo[reflect.TypeOf(v)]
	if t == nil {
		w.fail(&UnknownTypeError{Type: reflect.TypeOf(v).String(), Go: true})
		return
	}
	if t.direct {
		// The value is a pointer: keep it where something can point to it.
		w.held = append(w.held, v)
		t.c.write(w, unsafe.Pointer(&(*eface)(unsafe.Pointer(&w.held[len(w.held)-1])).data))
		return
	}
	t.c.write(w, (*eface)(unsafe.Pointer(&v)).data)
}

// any reads a value that says itself what it is. At the root of a document a text that looks like a date is one.
func (r *jsonReader) any(root bool) any {
	switch c := r.peek(); c {
	case '"':
		text := r.string()
		if root && looksLikeDate(text) {
			if t, ok := parseDateTime(text); ok {
				return t
			}
		}
		return string(text)
	case 't':
		if r.word("true") {
			return true
		}
	case 'f':
		if r.word("false") {
			return false
		}
	case 'n':
		if r.null() {
			return nil
		}
	case '[':
		return r.raw(func() { r.skip() }, func(s string) any { return JArray(s) })
	case '{':
		return r.anyObject()
	default:
		return r.anyNumber()
	}
	r.fail("a value cannot start like this")
	return nil
}

// raw keeps the text of a value.
func (r *jsonReader) raw(skip func(), is func(string) any) any {
	start := r.i
	skip()
	if r.err != nil {
		return nil
	}
	if text := r.b[start:r.i]; json.Valid(text) {
		return is(string(text))
	}
	r.failAt(start, "no valid JSON", nil)
	return nil
}

func (r *jsonReader) anyNumber() any {
	at := r.i
	text := r.token()
	if r.err != nil {
		return nil
	}
	if v, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return v
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		r.failAt(at, fmt.Sprintf("%q is no number", clip(string(text))), nil)
	}
	return v
}

func (r *jsonReader) anyObject() any {
	start := r.i
	h := r.object()
	switch {
	case r.err != nil:
		return nil
	case h.ref != nil:
		r.end(&h)
		return r.shared(h.ref)
	case len(h.typ) == 0 && h.more && string(h.key) == "$" && r.peek() == '"':
		r.i = start
		return r.wrapped()
	case len(h.typ) == 0:
		r.i = start
		return r.raw(r.skip, func(s string) any { return JObject(s) })
	}
	t := r.types.typeOf(h.typ)
	switch {
	case t == nil:
		r.failErr(&UnknownTypeError{Type: string(h.typ)})
		return nil
	case t.raw:
		r.i = start
		return r.raw(r.skip, func(s string) any { return JObject(s) })
	case t.surrogate != nil:
		return t.surrogate(r, &h)
	}
	if !r.take(int(t.t.Size())) {
		return nil
	}
	p := reflect.New(t.t).UnsafePointer()
	n := -1
	if t.elem == nil {
		n = r.define(&h, t.t, p, false)
	}
	t.c.(bodyReader).body(r, &h, p)
	r.close(n)
	if r.err != nil {
		return nil
	}
	return t.box(p)
}

// bodyReader is a codec of values that are JSON objects with a $type.
type bodyReader interface {
	body(r *jsonReader, h *head, p unsafe.Pointer)
}

// wrapped reads a number with its kind.
func (r *jsonReader) wrapped() any {
	at := r.i
	text, kind := r.number()
	if r.err != nil {
		return nil
	}
	switch kind {
	case 'I':
		if v, err := strconv.ParseInt(string(text), 10, 32); err == nil {
			return int32(v)
		}
	case 'F':
		if v, err := strconv.ParseFloat(string(text), 32); err == nil {
			return float32(v)
		}
	case 'M':
		if d := Decimal(text); d.valid() {
			return d
		}
	}
	r.failAt(at, fmt.Sprintf("%q is no number of kind %c", clip(string(text)), kind), nil)
	return nil
}

// shared is the object with that id.
func (r *jsonReader) shared(id []byte) any {
	o := r.find(id)
	if o == nil {
		return nil
	}
	t := r.types.byGo[o.t]
	if o.shared {
		if ptr := r.types.byGo[reflect.PointerTo(o.t)]; ptr != nil && ptr.preferred {
			return reflect.NewAt(o.t, o.p).Interface()
		}
	}
	if t == nil || !r.take(int(o.t.Size())) {
		r.fail("$ref to an object of another type")
		return nil
	}
	p := reflect.New(o.t).UnsafePointer()
	r.copyOf(id, o.t, p)
	if r.err != nil {
		return nil
	}
	return t.box(p)
}

// rawCodec is for JObject and JArray.
type rawCodec struct{ first byte }

func (c *rawCodec) write(w *jsonWriter, p unsafe.Pointer) {
	text := *(*string)(p)
	if text == "" || text[0] != c.first || !json.Valid([]byte(text)) {
		w.fail(fmt.Errorf("serial: the text of a JObject or JArray is no valid JSON: %q", clip(text)))
		return
	}
	w.buf = append(w.buf, text...)
}
func (c *rawCodec) zero(p unsafe.Pointer) bool { return *(*string)(p) == "" }
func (c *rawCodec) net(*netNames) netName      { return netName{} }

func (c *rawCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	if r.peek() != c.first {
		r.fail(fmt.Sprintf("no value that starts with %q", c.first))
		return
	}
	if text, ok := r.raw(r.skip, func(s string) any { return s }).(string); ok {
		*(*string)(p) = text
	}
}

// refCodec is for *actor.Ref.
type refCodec struct{}

func (refCodec) write(w *jsonWriter, p unsafe.Pointer) {
	switch r := *(**actor.Ref)(p); r {
	case nil:
		w.buf = append(w.buf, "null"...)
	case w.x.Nobody:
		w.object([]byte(`"$type":"` + nobodyName + `"`))
		w.buf = append(w.buf, '}')
	default:
		w.object(refType)
		w.buf = append(w.buf, `,"Path":"`...)
		at := len(w.buf)
		w.buf = append(w.x.appendRef(w.buf, r), '"')
		w.escape(at)
	}
}

// escape makes a string of the text from at to the closing quote, if there is something to escape in it.
func (w *jsonWriter) escape(at int) {
	text := w.buf[at : len(w.buf)-1]
	for _, c := range text {
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			w.buf = appendJSONString(w.buf[:at-1], string(text))
			w.buf = append(w.buf, '}')
			return
		}
	}
	w.buf = append(w.buf, '}')
}

func (refCodec) zero(p unsafe.Pointer) bool { return *(**actor.Ref)(p) == nil }
func (refCodec) net(*netNames) netName      { return netName{"Akka.Actor.IActorRef", "Akka"} }

func (refCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	h := r.object()
	if len(h.typ) == 0 {
		r.fail("no reference to an actor where one should be")
	}
	if r.err != nil {
		return
	}
	t := r.types.typeOf(h.typ)
	if t == nil {
		r.failErr(&UnknownTypeError{Type: string(h.typ)})
		return
	}
	if t.surrogate == nil {
		r.fail("no reference to an actor where one should be")
		return
	}
	switch v := t.surrogate(r, &h).(type) {
	case *actor.Ref:
		*(**actor.Ref)(p) = v
	case Nobody, IgnoreRef, nil: // a Go program tests for nil
	default:
		r.fail("no reference to an actor where one should be")
	}
}

// pathText reads the member Path of a surrogate.
func (r *jsonReader) pathText(h *head) []byte {
	var path []byte
	for ok := h.more; ok; ok = r.next(h) {
		if string(h.key) == "Path" && r.peek() == '"' {
			path = append(path[:0], r.string()...)
		} else {
			r.skip()
		}
	}
	if len(path) == 0 {
		r.fail("a reference without a path")
	}
	return path
}

// addressCodec is for actor.Address, pathCodec for actor.Path.
type addressCodec struct{}

func (addressCodec) write(w *jsonWriter, p unsafe.Pointer) {
	a := (*actor.Address)(p)
	if a.IsZero() {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.object([]byte(`"$type":"` + addressName + `"`))
	w.buf = append(w.buf, `,"Protocol":`...)
	w.string(a.Protocol())
	w.buf = append(w.buf, `,"System":`...)
	w.string(a.System())
	if a.Host() != "" {
		w.buf = append(w.buf, `,"Host":`...)
		w.string(a.Host())
	}
	if a.Port() != actor.NoPort {
		w.buf = append(w.buf, `,"Port":`...)
		w.buf = strconv.AppendInt(w.buf, int64(a.Port()), 10)
	}
	w.buf = append(w.buf, '}')
}
func (addressCodec) zero(p unsafe.Pointer) bool { return (*actor.Address)(p).IsZero() }
func (addressCodec) net(*netNames) netName      { return netName{"Akka.Actor.Address", "Akka"} }

func (addressCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	h := r.object()
	if a, ok := readAddress(r, &h).(actor.Address); ok {
		*(*actor.Address)(p) = a
	}
}

func readAddress(r *jsonReader, h *head) any {
	var protocol, system, host string
	port, text := int32(actor.NoPort), stringCodec{}
	for ok := h.more; ok; ok = r.next(h) {
		switch string(h.key) {
		case "Protocol":
			text.read(r, unsafe.Pointer(&protocol))
		case "System":
			text.read(r, unsafe.Pointer(&system))
		case "Host":
			text.read(r, unsafe.Pointer(&host))
		case "Port":
			(&numberCodec{kind: reflect.Int32}).read(r, unsafe.Pointer(&port))
		default:
			r.skip()
		}
	}
	if r.err != nil {
		return nil
	}
	if port < actor.NoPort || port > math.MaxUint16 {
		r.fail("no port of an address")
		return nil
	}
	a, err := actor.NewAddress(protocol, system, host, int(port))
	if err != nil {
		r.failAt(r.i, "no address", err)
		return nil
	}
	return a
}

type pathCodec struct{}

func (pathCodec) write(w *jsonWriter, p unsafe.Pointer) {
	path := (*actor.Path)(p)
	if path.IsZero() {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.object([]byte(`"$type":"` + pathName + `"`))
	w.buf = append(w.buf, `,"Path":"`...)
	at := len(w.buf)
	w.buf = append(path.AppendSerializationFormatWithAddress(w.buf, w.x.Address), '"')
	w.escape(at)
}
func (pathCodec) zero(p unsafe.Pointer) bool { return (*actor.Path)(p).IsZero() }
func (pathCodec) net(*netNames) netName      { return netName{"Akka.Actor.ActorPath", "Akka"} }

func (pathCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	h := r.object()
	if path, ok := readPath(r, &h).(actor.Path); ok {
		*(*actor.Path)(p) = path
	}
}

func readPath(r *jsonReader, h *head) any {
	text := r.pathText(h)
	if r.err != nil {
		return nil
	}
	p, err := actor.ParsePath(string(text))
	if err != nil {
		r.failAt(r.i, "no path", err)
		return nil
	}
	return p
}
