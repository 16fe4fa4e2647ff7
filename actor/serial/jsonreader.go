package serial

import (
	"bytes"
	"fmt"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// jsonReader reads one document. The first error stays, and moves it to the end.
type jsonReader struct {
	b     []byte
	i     int
	x     *Exchange
	types *jsonTypes
	err   error
	depth int
	room  int // bytes that may still be allocated
	refs  []readObject
	index map[string]int // of refs, once there are many
	text  []byte         // working memory for strings with escapes
}

// readObject is an object that has an $id.
type readObject struct {
	id     []byte
	t      reflect.Type   // of what p points to
	p      unsafe.Pointer // nil until there is something to share
	shared bool           // p may be kept; otherwise what it points to has to be copied
	open   bool           // not read to its end
}

func (r *jsonReader) fail(reason string) { r.failAt(r.i, reason, nil) }

func (r *jsonReader) failErr(err error) {
	if r.err == nil {
		r.err = err
		r.i = len(r.b)
	}
}

func (r *jsonReader) failAt(at int, reason string, err error) {
	if r.err == nil {
		r.err = &FormatError{ID: jsonID, Offset: at, Reason: reason, Err: err}
		r.i = len(r.b)
	}
}

// take books memory that is about to be allocated.
func (r *jsonReader) take(n int) bool {
	if r.room -= n; r.room < 0 {
		r.failErr(ErrTooLarge)
	}
	return r.err == nil
}

func (r *jsonReader) down() bool {
	if r.depth >= maxDepth {
		r.failErr(ErrTooDeep)
		return false
	}
	r.depth++
	return r.err == nil
}

func (r *jsonReader) up() { r.depth-- }

// peek skips white space and returns the byte that follows, 0 at the end.
func (r *jsonReader) peek() byte {
	for r.i < len(r.b) {
		switch c := r.b[r.i]; c {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return c
		}
	}
	return 0
}

// eat takes the byte c, if it is next.
func (r *jsonReader) eat(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.i++
	return true
}

// want is eat that fails.
func (r *jsonReader) want(c byte) bool {
	if r.eat(c) {
		return true
	}
	if r.i == len(r.b) {
		r.fail("the document ends too early")
	} else {
		r.fail(fmt.Sprintf("%q where %q should be", r.b[r.i], c))
	}
	return false
}

// word takes a literal such as null.
func (r *jsonReader) word(s string) bool {
	r.peek()
	if !bytes.HasPrefix(r.b[r.i:], []byte(s)) {
		return false
	}
	r.i += len(s)
	return true
}

// null takes null, if it is next.
func (r *jsonReader) null() bool { return r.peek() == 'n' && r.word("null") }

// string reads a string. The bytes are those of the document or of working memory, which the next string with
// escapes overwrites.
func (r *jsonReader) string() []byte {
	if !r.want('"') {
		return nil
	}
	start := r.i
	plain := true
	for i := start; i < len(r.b); i++ {
		switch c := r.b[i]; {
		case c == '"':
			r.i = i + 1
			if plain || utf8.Valid(r.b[start:i]) {
				return r.b[start:i:i]
			}
			r.text = append(r.text[:0], bytes.ToValidUTF8(r.b[start:i], []byte("\uFFFD"))...)
			return r.text
		case c == '\\':
			r.i = i
			return r.escaped(start)
		case c < 0x20:
			// Newtonsoft.Json takes them as they are.
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	r.failAt(len(r.b), "a string without an end", nil)
	return nil
}

// escaped goes on with a string at its first escape.
func (r *jsonReader) escaped(start int) []byte {
	t := append(r.text[:0], r.b[start:r.i]...)
	for r.i < len(r.b) {
		c := r.b[r.i]
		r.i++
		switch c {
		case '"':
			if !utf8.Valid(t) {
				t = bytes.ToValidUTF8(t, []byte("\uFFFD"))
			}
			r.text = t
			return t
		case '\\':
			t = r.escape(t)
		default:
			t = append(t, c)
		}
	}
	r.failAt(len(r.b), "a string without an end", nil)
	return nil
}

// escape reads what follows a backslash.
func (r *jsonReader) escape(t []byte) []byte {
	if r.i == len(r.b) {
		return t
	}
	c := r.b[r.i]
	r.i++
	switch c {
	case '"', '\\', '/', '\'':
		return append(t, c)
	case 'b':
		return append(t, '\b')
	case 'f':
		return append(t, '\f')
	case 'n':
		return append(t, '\n')
	case 'r':
		return append(t, '\r')
	case 't':
		return append(t, '\t')
	case 'u':
		u := r.unit()
		if utf16.IsSurrogate(u) && bytes.HasPrefix(r.b[r.i:], []byte(`\u`)) {
			at := r.i
			r.i += 2
			if both := utf16.DecodeRune(u, r.unit()); both != utf8.RuneError {
				return utf8.AppendRune(t, both)
			}
			if r.err == nil {
				r.i = at
			}
		}
		return utf8.AppendRune(t, u)
	}
	r.failAt(r.i-1, fmt.Sprintf("an unknown escape \\%c", c), nil)
	return t
}

// unit reads four hexadecimal digits.
func (r *jsonReader) unit() (u rune) {
	if len(r.b)-r.i < 4 {
		r.failAt(len(r.b), "the document ends too early", nil)
		return 0
	}
	for _, c := range r.b[r.i : r.i+4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			r.fail(`four hexadecimal digits have to follow \u`)
			return 0
		}
		u = u<<4 | rune(c)
	}
	r.i += 4
	return u
}

// token reads what a number is made of.
func (r *jsonReader) token() []byte {
	r.peek()
	start := r.i
	for r.i < len(r.b) {
		c := r.b[r.i]
		if c-'0' > 9 && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			break
		}
		r.i++
	}
	if start == r.i {
		if r.i == len(r.b) {
			r.fail("the document ends too early")
		} else {
			r.fail("a value cannot start like this")
		}
	}
	return r.b[start:r.i]
}

// head is the start of an object: what Newtonsoft.Json keeps in front of the members.
type head struct {
	id, typ, ref []byte
	key          []byte // first member, whose value is next
	more         bool   // there is one
}

// object reads the start of an object up to its first ordinary member.
func (r *jsonReader) object() (h head) {
	if !r.want('{') {
		return h
	}
	if r.eat('}') {
		return h
	}
	for r.err == nil {
		key := r.string()
		if !r.want(':') {
			return h
		}
		var to *[]byte
		switch string(key) {
		case "$id":
			to = &h.id
		case "$type":
			to = &h.typ
		case "$ref":
			to = &h.ref
		}
		if to == nil || r.peek() != '"' {
			h.key, h.more = key, r.err == nil
			return h
		}
		at := r.i
		*to = r.string()
		if bytes.IndexByte(r.b[at:r.i], '\\') >= 0 {
			*to = bytes.Clone(*to)
		}
		if r.eat('}') {
			return h
		}
		r.want(',')
	}
	return h
}

// next goes to the next member. The value of the one before has to have been read.
func (r *jsonReader) next(h *head) bool {
	if r.err != nil || r.eat('}') {
		return false
	}
	if !r.want(',') {
		return false
	}
	h.key = r.string()
	return r.want(':')
}

// end reads over what is left of an object.
func (r *jsonReader) end(h *head) {
	for ok := h.more; ok; ok = r.next(h) {
		r.skip()
	}
}

// elements calls f for each element of an array.
func (r *jsonReader) elements(f func()) {
	if !r.want('[') || r.eat(']') {
		return
	}
	for r.err == nil {
		f()
		if r.eat(']') {
			return
		}
		r.want(',')
	}
}

// skip reads over a value.
func (r *jsonReader) skip() {
	switch c := r.peek(); c {
	case '"':
		r.string()
	case '{':
		if !r.down() {
			return
		}
		h := r.object()
		r.end(&h)
		r.up()
	case '[':
		if !r.down() {
			return
		}
		r.elements(r.skip)
		r.up()
	case 't', 'f', 'n':
		if !r.word("true") && !r.word("false") && !r.word("null") {
			r.fail("a value cannot start like this")
		}
	default:
		r.token()
	}
}

// define notes an object that has an $id. close has to be called with the result.
func (r *jsonReader) define(h *head, t reflect.Type, p unsafe.Pointer, shared bool) int {
	const few = 32
	if len(h.id) == 0 || !r.take(int(unsafe.Sizeof(readObject{}))) {
		return -1
	}
	r.refs = append(r.refs, readObject{id: h.id, t: t, p: p, shared: shared, open: true})
	switch n := len(r.refs) - 1; {
	case r.index != nil:
		r.index[string(h.id)] = n
	case n > few:
		r.index = make(map[string]int, 4*few)
		for i := range r.refs {
			r.index[string(r.refs[i].id)] = i
		}
	}
	return len(r.refs) - 1
}

// close says that the object of define is complete.
func (r *jsonReader) close(n int) {
	if n >= 0 {
		r.refs[n].open = false
	}
}

// find looks up a $ref.
func (r *jsonReader) find(id []byte) *readObject {
	if r.index != nil {
		if i, ok := r.index[string(id)]; ok {
			return &r.refs[i]
		}
	} else {
		for i := len(r.refs) - 1; i >= 0; i-- {
			if bytes.Equal(r.refs[i].id, id) {
				return &r.refs[i]
			}
		}
	}
	r.fail(fmt.Sprintf("$ref to %q, which has not been seen", clip(string(id))))
	return nil
}

// copyOf writes a copy of the object with that id, of type t, to p.
func (r *jsonReader) copyOf(id []byte, t reflect.Type, p unsafe.Pointer) {
	o := r.find(id)
	switch {
	case o == nil:
	case o.t != t:
		r.fail(fmt.Sprintf("$ref to a %s where a %s should be", o.t, t))
	case o.open:
		r.fail("$ref to an object around it: its Go type has to be a pointer")
	case r.take(int(t.Size())):
		reflect.NewAt(t, p).Elem().Set(reflect.NewAt(t, o.p).Elem())
	}
}
