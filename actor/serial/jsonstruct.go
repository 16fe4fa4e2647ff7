package serial

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// structCodec is the plan of a struct type: a .NET class or struct.
type structCodec struct {
	t       reflect.Type
	name    netName // zero: not registered, which does where .NET knows the type of the member
	typ     []byte
	members []member
	byName  map[string]int
}

// member is a field of a struct.
type member struct {
	name   string
	key    []byte // `,"Name":`
	offset uintptr
	c      codec
}

func (c *structCodec) write(w *jsonWriter, p unsafe.Pointer) {
	if !w.down() {
		return
	}
	w.object(c.typ)
	for i := range c.members {
		m := &c.members[i]
		at := unsafe.Add(p, m.offset)
		if m.c.zero(at) {
			continue
		}
		w.buf = append(w.buf, m.key...)
		m.c.write(w, at)
		if !w.ok() {
			break
		}
	}
	w.buf = append(w.buf, '}')
	w.up()
}

// zero: a struct is an object, which is never null.
func (c *structCodec) zero(unsafe.Pointer) bool { return false }

func (c *structCodec) net(*netNames) netName { return c.name }

func (c *structCodec) finish(*netNames) { c.typ = typeMember(c.name) }

func (c *structCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	h := r.object()
	if h.ref != nil {
		r.copyOf(h.ref, c.t, p)
		r.end(&h)
		return
	}
	if c.check(r, &h) {
		n := r.define(&h, c.t, p, false)
		c.body(r, &h, p)
		r.close(n)
	}
}

// check compares the type that an object names with this one.
func (c *structCodec) check(r *jsonReader, h *head) bool {
	if len(h.typ) == 0 || c.name.typ == "" {
		return r.err == nil
	}
	t := r.types.typeOf(h.typ)
	switch {
	case t == nil:
		r.failErr(&UnknownTypeError{Type: string(h.typ)})
	case t.c != codec(c) && t.elem != codec(c):
		r.fail(fmt.Sprintf("a %s where a %s should be", clip(string(h.typ)), c.name))
	}
	return r.err == nil
}

// body reads the members.
func (c *structCodec) body(r *jsonReader, h *head, p unsafe.Pointer) {
	if !r.down() {
		return
	}
	likely := 0
	for ok := h.more; ok; ok = r.next(h) {
		m := c.find(h.key, &likely)
		if m == nil {
			r.skip()
			continue
		}
		m.c.read(r, unsafe.Add(p, m.offset))
	}
	r.up()
}

// find looks up a member by its name, without regard to letter case where nothing else fits. Members mostly come in
// order: likely is the one that would be next.
func (c *structCodec) find(name []byte, likely *int) *member {
	for i := *likely; i < len(c.members) && i < *likely+4; i++ {
		if c.members[i].name == string(name) {
			*likely = i + 1
			return &c.members[i]
		}
	}
	i, ok := c.byName[string(name)]
	if !ok {
		const longest = 256
		if len(name) > longest {
			return nil
		}
		for j := range c.members {
			if len(c.members[j].name) == len(name) && strings.EqualFold(c.members[j].name, string(name)) {
				i, ok = j, true
				break
			}
		}
	}
	if !ok {
		return nil
	}
	*likely = i + 1
	return &c.members[i]
}

// pointerCodec is for pointers: to a struct, an object that may be there several times; to a number or text, a
// value that may be null.
type pointerCodec struct {
	elem   reflect.Type
	c      codec
	object *structCodec // c, if it is one
}

func (c *pointerCodec) write(w *jsonWriter, p unsafe.Pointer) {
	to := *(*unsafe.Pointer)(p)
	switch {
	case to == nil:
		w.buf = append(w.buf, "null"...)
	case c.object == nil || !w.repeated(to, c.elem):
		c.c.write(w, to)
	}
}

func (c *pointerCodec) zero(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }

func (c *pointerCodec) net(n *netNames) netName {
	name := c.c.net(n)
	if c.object != nil || name.typ == "" || name.typ == "System.String" {
		return name
	}
	return n.generic("System.Nullable`1", name)
}

func (c *pointerCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	if c.object == nil {
		if to := c.fresh(r); to != nil {
			c.c.read(r, to)
			*(*unsafe.Pointer)(p) = to
		}
		return
	}
	h := r.object()
	if h.ref != nil {
		c.share(r, h.ref, p)
		r.end(&h)
		return
	}
	if c.object.check(r, &h) {
		c.body(r, &h, p)
	}
}

// body reads the members of a new object.
func (c *pointerCodec) body(r *jsonReader, h *head, p unsafe.Pointer) {
	to := c.fresh(r)
	if to == nil {
		return
	}
	*(*unsafe.Pointer)(p) = to
	n := r.define(h, c.elem, to, true)
	c.object.body(r, h, to)
	r.close(n)
}

func (c *pointerCodec) fresh(r *jsonReader) unsafe.Pointer {
	if !r.take(int(c.elem.Size())) {
		return nil
	}
	return reflect.New(c.elem).UnsafePointer()
}

// share points to an object that is there already.
func (c *pointerCodec) share(r *jsonReader, id []byte, p unsafe.Pointer) {
	o := r.find(id)
	if o == nil {
		return
	}
	if o.t == c.elem && o.shared {
		*(*unsafe.Pointer)(p) = o.p
		return
	}
	if to := c.fresh(r); to != nil {
		*(*unsafe.Pointer)(p) = to
		r.copyOf(id, c.elem, to)
	}
}
