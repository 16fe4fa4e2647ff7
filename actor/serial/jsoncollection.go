package serial

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// Kinds of collections that a slice can be.
const (
	asArray = iota
	asList
	asSet
	asBare // no type on the wire, which suits every collection
)

// sliceCodec is for slices: arrays, lists and sets.
type sliceCodec struct {
	t    reflect.Type
	c    codec // of the elements
	size uintptr
	kind int
	open []byte // `{"$type":"..","$values":[` or `[`
}

type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (c *sliceCodec) write(w *jsonWriter, p unsafe.Pointer) {
	s := (*sliceHeader)(p)
	if s.data == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	if !w.down() {
		return
	}
	w.buf = append(w.buf, c.open...)
	for i := range s.len {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		c.c.write(w, unsafe.Add(s.data, uintptr(i)*c.size))
		if !w.ok() {
			break
		}
	}
	w.buf = append(w.buf, ']')
	if c.open[0] == '{' {
		w.buf = append(w.buf, '}')
	}
	w.up()
}

func (c *sliceCodec) zero(p unsafe.Pointer) bool { return (*sliceHeader)(p).data == nil }

func (c *sliceCodec) net(n *netNames) netName {
	name := c.c.net(n)
	switch {
	case name.typ == "" || c.kind == asBare:
		return netName{}
	case c.kind == asList:
		return n.generic("System.Collections.Generic.List`1", name)
	case c.kind == asSet:
		return n.generic("System.Collections.Generic.HashSet`1", name)
	}
	return netName{name.typ + "[]", name.assembly}
}

func (c *sliceCodec) finish(n *netNames) {
	c.open = []byte{'['}
	if name := c.net(n); name.typ != "" {
		c.open = append(append([]byte{'{'}, typeMember(name)...), `,"$values":[`...)
	}
}

func (c *sliceCodec) read(r *jsonReader, p unsafe.Pointer) {
	switch {
	case r.peek() == '[':
		c.elements(r, p)
	case r.peek() == '{':
		h := r.object()
		if h.ref != nil {
			r.copyOf(h.ref, c.t, p)
			r.end(&h)
			return
		}
		n := r.define(&h, c.t, p, false)
		c.body(r, &h, p)
		r.close(n)
	case !r.null():
		r.fail("no collection where one should be")
	}
}

// body reads the object around the elements.
func (c *sliceCodec) body(r *jsonReader, h *head, p unsafe.Pointer) {
	found := false
	for ok := h.more; ok; ok = r.next(h) {
		if string(h.key) == "$values" && !found {
			found = true
			c.elements(r, p)
		} else {
			r.skip()
		}
	}
	if !found {
		r.fail("a collection without $values")
	}
}

func (c *sliceCodec) elements(r *jsonReader, p unsafe.Pointer) {
	if !r.down() {
		return
	}
	v := reflect.NewAt(c.t, p).Elem()
	v.Set(reflect.MakeSlice(c.t, 0, 0))
	s := (*sliceHeader)(p)
	r.elements(func() {
		if s.len == s.cap {
			more := max(2, s.cap)
			if !r.take(more * int(c.size)) {
				return
			}
			v.Grow(more)
		}
		v.SetLen(s.len + 1)
		c.c.read(r, unsafe.Add(s.data, uintptr(s.len-1)*c.size))
	})
	r.up()
}

// mapCodec is for maps: dictionaries.
type mapCodec struct {
	t    reflect.Type
	key  codec
	c    codec
	typ  []byte
	text bool // keys are strings
}

func (c *mapCodec) write(w *jsonWriter, p unsafe.Pointer) {
	m := *(*unsafe.Pointer)(p)
	if m == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	if w.repeated(m, c.t) || !w.down() {
		return
	}
	w.object(c.typ)
	type entry struct {
		key  string
		k, v reflect.Value
	}
	v := reflect.NewAt(c.t, p).Elem()
	entries := make([]entry, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		k := reflect.New(c.t.Key())
		k.Elem().Set(i.Key())
		e := reflect.New(c.t.Elem())
		e.Elem().Set(i.Value())
		entries = append(entries, entry{c.keyText(w, k.UnsafePointer()), k, e})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		w.buf = append(w.buf, ',')
		w.string(e.key)
		w.buf = append(w.buf, ':')
		c.c.write(w, e.v.UnsafePointer())
		if !w.ok() {
			break
		}
	}
	w.buf = append(w.buf, '}')
	w.up()
}

// keyText is a key as the name of a member.
func (c *mapCodec) keyText(w *jsonWriter, p unsafe.Pointer) string {
	if c.text {
		return *(*string)(p)
	}
	at := len(w.buf)
	c.key.write(w, p)
	text := strings.Trim(string(w.buf[at:]), `"`)
	w.buf = w.buf[:at]
	return text
}

func (c *mapCodec) zero(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }

func (c *mapCodec) net(n *netNames) netName {
	k, v := c.key.net(n), c.c.net(n)
	if k.typ == "" || v.typ == "" {
		return netName{}
	}
	return n.generic("System.Collections.Generic.Dictionary`2", k, v)
}

func (c *mapCodec) finish(n *netNames) { c.typ = typeMember(c.net(n)) }

func (c *mapCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	h := r.object()
	if h.ref != nil {
		r.copyOf(h.ref, c.t, p)
		r.end(&h)
		return
	}
	n := r.define(&h, c.t, p, false)
	c.body(r, &h, p)
	r.close(n)
}

func (c *mapCodec) body(r *jsonReader, h *head, p unsafe.Pointer) {
	if !r.down() {
		return
	}
	m := reflect.NewAt(c.t, p).Elem()
	m.Set(reflect.MakeMap(c.t))
	// An entry takes its room in a table that is half empty.
	room := 64 + 3*int(c.t.Key().Size()+c.t.Elem().Size())
	for ok := h.more; ok; ok = r.next(h) {
		if !r.take(room) {
			break
		}
		k := reflect.New(c.t.Key())
		if !c.readKey(r, h.key, k.UnsafePointer()) {
			break
		}
		v := reflect.New(c.t.Elem())
		c.c.read(r, v.UnsafePointer())
		m.SetMapIndex(k.Elem(), v.Elem())
	}
	r.up()
}

// readKey makes a key of the name of a member.
func (c *mapCodec) readKey(r *jsonReader, name []byte, p unsafe.Pointer) bool {
	if c.text {
		*(*string)(p) = string(name)
		return true
	}
	// What a key is as text, a member of its type can be.
	one := jsonReader{b: appendJSONString(nil, string(name)), x: r.x, types: r.types, room: 256}
	c.key.read(&one, p)
	if one.err != nil {
		r.fail(fmt.Sprintf("%q is no key of the dictionary", clip(string(name))))
	}
	return r.err == nil
}
