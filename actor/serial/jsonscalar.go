package serial

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// codec writes and reads the values of one Go type as JSON. The pointers are to values of that type.
type codec interface {
	write(w *jsonWriter, p unsafe.Pointer)
	// read sets a value that was the zero value before. null leaves it so.
	read(r *jsonReader, p unsafe.Pointer)
	// zero reports whether .NET leaves a member of this value out.
	zero(p unsafe.Pointer) bool
	// net is the .NET type, the zero netName if it has none.
	net(n *netNames) netName
}

// numberCodec is for all numbers and bool.
type numberCodec struct {
	kind reflect.Kind
	wrap byte // I, F: written with its kind. 0: bare
	enum *enumType
}

// enumType is a registered enumeration.
type enumType struct {
	name   netName
	values map[string]int64
}

func (c *numberCodec) integer(p unsafe.Pointer) (v int64, unsigned bool) {
	switch c.kind {
	case reflect.Int8:
		return int64(*(*int8)(p)), false
	case reflect.Int16:
		return int64(*(*int16)(p)), false
	case reflect.Int32:
		return int64(*(*int32)(p)), false
	case reflect.Int64:
		return *(*int64)(p), false
	case reflect.Int:
		return int64(*(*int)(p)), false
	case reflect.Uint8:
		return int64(*(*uint8)(p)), true
	case reflect.Uint16:
		return int64(*(*uint16)(p)), true
	case reflect.Uint32:
		return int64(*(*uint32)(p)), true
	case reflect.Uint:
		return int64(*(*uint)(p)), true
	}
	return int64(*(*uint64)(p)), true
}

func (c *numberCodec) write(w *jsonWriter, p unsafe.Pointer) {
	if c.wrap != 0 {
		w.wrap(c.wrap)
		defer w.wrapEnd()
	}
	switch c.kind {
	case reflect.Bool:
		w.buf = strconv.AppendBool(w.buf, *(*bool)(p))
	case reflect.Float64:
		w.double(*(*float64)(p), 64)
	case reflect.Float32:
		if c.wrap != 0 {
			w.buf = appendWrappedFloat(w.buf, *(*float32)(p))
		} else {
			w.double(float64(*(*float32)(p)), 32)
		}
	default:
		if v, unsigned := c.integer(p); unsigned {
			w.buf = strconv.AppendUint(w.buf, uint64(v), 10)
		} else {
			w.buf = strconv.AppendInt(w.buf, v, 10)
		}
	}
}

// appendWrappedFloat writes a float as its ToString does: without ".0".
func appendWrappedFloat(dst []byte, v float32) []byte {
	return bytes.TrimSuffix(appendFloat(dst, float64(v), 32), []byte(".0"))
}

func (c *numberCodec) zero(p unsafe.Pointer) bool {
	switch c.kind {
	case reflect.Bool:
		return !*(*bool)(p)
	case reflect.Float64:
		return *(*float64)(p) == 0
	case reflect.Float32:
		return *(*float32)(p) == 0
	}
	v, _ := c.integer(p)
	return v == 0
}

// bits is the width of the number; 0 is that of int.
var bits = map[reflect.Kind]int{
	reflect.Int8: 8, reflect.Int16: 16, reflect.Int32: 32, reflect.Int64: 64, reflect.Int: strconv.IntSize,
	reflect.Uint8: 8, reflect.Uint16: 16, reflect.Uint32: 32, reflect.Uint64: 64, reflect.Uint: strconv.IntSize,
}

func (c *numberCodec) read(r *jsonReader, p unsafe.Pointer) {
	switch r.peek() {
	case 'n':
		if r.null() {
			return
		}
	case 't', 'f':
		if c.kind == reflect.Bool {
			*(*bool)(p) = r.word("true")
			if !*(*bool)(p) && !r.word("false") {
				r.fail("a value cannot start like this")
			}
			return
		}
	}
	at := r.i
	text, kind := r.number()
	if r.err != nil {
		return
	}
	bad := func(err error) { r.failAt(at, fmt.Sprintf("%q is no %s", clip(string(text)), c.kind), err) }
	switch c.kind {
	case reflect.Bool:
		v, err := strconv.ParseBool(strings.ToLower(string(text)))
		if err != nil || kind != 's' {
			bad(nil)
			return
		}
		*(*bool)(p) = v
	case reflect.Float64, reflect.Float32:
		c.readFloat(p, text, bad)
	default:
		if c.enum != nil && kind == 's' {
			if v, ok := c.enum.parse(text); ok {
				c.set(p, v)
				return
			}
		}
		c.readInteger(p, text, bad)
	}
}

func (c *numberCodec) readFloat(p unsafe.Pointer, text []byte, bad func(error)) {
	if c.kind == reflect.Float32 {
		v, err := strconv.ParseFloat(string(text), 32)
		if err != nil {
			bad(err)
			return
		}
		*(*float32)(p) = float32(v)
		return
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		bad(err)
		return
	}
	*(*float64)(p) = v
}

func (c *numberCodec) readInteger(p unsafe.Pointer, text []byte, bad func(error)) {
	width := bits[c.kind]
	if c.kind >= reflect.Uint {
		v, err := strconv.ParseUint(string(text), 10, width)
		if err != nil {
			if f, ok := whole(text); ok && f >= 0 && f < math.Ldexp(1, width) {
				v, err = uint64(f), nil
			}
		}
		if err != nil {
			bad(nil)
			return
		}
		c.set(p, int64(v))
		return
	}
	v, err := strconv.ParseInt(string(text), 10, width)
	if err != nil {
		if f, ok := whole(text); ok && f >= -math.Ldexp(1, width-1) && f < math.Ldexp(1, width-1) {
			v, err = int64(f), nil
		}
	}
	if err != nil {
		bad(nil)
		return
	}
	c.set(p, v)
}

// whole reads a number such as 2.0 or 1e3.
func whole(text []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	return f, err == nil && f == math.Trunc(f)
}

func (c *numberCodec) set(p unsafe.Pointer, v int64) {
	switch c.kind {
	case reflect.Int8, reflect.Uint8:
		*(*uint8)(p) = uint8(v)
	case reflect.Int16, reflect.Uint16:
		*(*uint16)(p) = uint16(v)
	case reflect.Int32, reflect.Uint32:
		*(*uint32)(p) = uint32(v)
	case reflect.Int, reflect.Uint:
		*(*uint)(p) = uint(v)
	default:
		*(*uint64)(p) = uint64(v)
	}
}

// parse reads a value's name, or several with commas between them.
func (e *enumType) parse(text []byte) (v int64, ok bool) {
	for len(text) > 0 {
		var name []byte
		name, text, _ = bytes.Cut(text, []byte(","))
		name = bytes.TrimSpace(name)
		n, ok := e.values[string(name)]
		if !ok {
			for k, one := range e.values {
				if strings.EqualFold(k, string(name)) {
					n, ok = one, true
				}
			}
		}
		if !ok {
			return 0, false
		}
		v |= n
	}
	return v, true
}

var numberNames = map[reflect.Kind]string{
	reflect.Bool: "Boolean", reflect.Int8: "SByte", reflect.Int16: "Int16", reflect.Int32: "Int32", reflect.Int64: "Int64", reflect.Int: "Int64",
	reflect.Uint8: "Byte", reflect.Uint16: "UInt16", reflect.Uint32: "UInt32", reflect.Uint64: "UInt64", reflect.Uint: "UInt64",
	reflect.Float32: "Single", reflect.Float64: "Double",
}

func (c *numberCodec) net(n *netNames) netName {
	if c.enum != nil {
		return c.enum.name
	}
	return n.core("System." + numberNames[c.kind])
}

// number reads a number: bare, with its kind in front ({"$":"I42"}), or as text. kind is the letter of the second
// form, 's' for text, else 0.
func (r *jsonReader) number() (text []byte, kind byte) {
	switch r.peek() {
	case '"':
		return r.string(), 's'
	case '{':
		h := r.object()
		if r.err == nil && (!h.more || string(h.key) != "$" || r.peek() != '"') {
			r.fail("an object where a number should be")
			return nil, 0
		}
		text = r.string()
		if r.err != nil {
			return nil, 0
		}
		if len(text) < 2 || text[0] != 'I' && text[0] != 'F' && text[0] != 'M' {
			r.fail(`a number with its kind has to be like "I42"`)
			return nil, 0
		}
		if !r.eat('}') {
			r.fail("more behind a number with its kind")
		}
		return text[1:], text[0]
	}
	return r.token(), 0
}

// stringCodec is for strings and types made of them.
type stringCodec struct{ null bool } // null: "" stands for null

func (c *stringCodec) write(w *jsonWriter, p unsafe.Pointer) { w.string(*(*string)(p)) }
func (c *stringCodec) zero(p unsafe.Pointer) bool            { return c.null && *(*string)(p) == "" }
func (c *stringCodec) net(n *netNames) netName               { return n.core("System.String") }

func (c *stringCodec) read(r *jsonReader, p unsafe.Pointer) {
	switch b := r.peek(); {
	case b == '"':
		*(*string)(p) = string(r.string())
	case r.null():
	case b == 't' || b == 'f':
		start := r.i
		r.skip()
		*(*string)(p) = string(r.b[start:r.i])
	case b == '{' || b == '[':
		r.fail("no text where one should be")
	default:
		*(*string)(p) = string(r.token()) // Newtonsoft.Json takes numbers as text
	}
}

// charCodec is for Char, which .NET writes even if it is 0.
type charCodec struct{}

func (charCodec) write(w *jsonWriter, p unsafe.Pointer) { w.char(*(*Char)(p)) }
func (charCodec) zero(unsafe.Pointer) bool              { return false }
func (charCodec) net(n *netNames) netName               { return n.core("System.Char") }

func (charCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	at := r.i
	if r.peek() == '"' && loneUnit(r.b[r.i:]) {
		r.i += len(`"\u`)
		*(*Char)(p) = Char(r.unit())
		r.want('"')
		return
	}
	t := []rune(string(r.string()))
	if r.err == nil && (len(t) != 1 || t[0] > 0xffff) {
		r.failAt(at, "a Char is one UTF-16 unit", nil)
		return
	}
	if len(t) == 1 {
		*(*Char)(p) = Char(t[0])
	}
}

// loneUnit reports whether b starts with "\uXXXX", quotes included: it may be half of a pair.
func loneUnit(b []byte) bool {
	return len(b) >= 8 && string(b[1:3]) == `\u` && b[7] == '"'
}

// guidCodec is for GUID.
type guidCodec struct{}

func (guidCodec) write(w *jsonWriter, p unsafe.Pointer) {
	w.buf = append((*GUID)(p).append(append(w.buf, '"')), '"')
}
func (guidCodec) zero(p unsafe.Pointer) bool { return *(*GUID)(p) == GUID{} }
func (guidCodec) net(n *netNames) netName    { return n.core("System.Guid") }

func (guidCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	at := r.i
	g, err := ParseGUID(string(r.string()))
	if err != nil {
		r.failAt(at, "no Guid", err)
		return
	}
	*(*GUID)(p) = g
}

// decimalCodec is for Decimal.
type decimalCodec struct{ bare bool }

func (c *decimalCodec) write(w *jsonWriter, p unsafe.Pointer) {
	d := *(*Decimal)(p)
	if !d.valid() {
		w.fail(fmt.Errorf("serial: %q is no Decimal", clip(string(d))))
		return
	}
	if d == "" {
		d = "0"
	}
	if c.bare {
		w.buf = append(w.buf, d...)
		return
	}
	w.wrap('M')
	w.buf = append(w.buf, d...)
	w.wrapEnd()
}
func (c *decimalCodec) zero(p unsafe.Pointer) bool { return (*(*Decimal)(p)).isZero() }
func (c *decimalCodec) net(n *netNames) netName    { return n.core("System.Decimal") }

func (c *decimalCodec) read(r *jsonReader, p unsafe.Pointer) {
	if r.null() {
		return
	}
	at := r.i
	text, _ := r.number()
	d := Decimal(text)
	if r.err == nil && !d.valid() {
		f, err := strconv.ParseFloat(string(text), 64)
		d = Decimal(strconv.FormatFloat(f, 'f', -1, 64))
		if err != nil || !d.valid() {
			r.failAt(at, fmt.Sprintf("%q is no Decimal", clip(string(text))), err)
			return
		}
	}
	*(*Decimal)(p) = d
}

// bytesCodec is for []byte.
type bytesCodec struct{ typ []byte } // `{"$type":"..","$value":"`

func (c *bytesCodec) write(w *jsonWriter, p unsafe.Pointer) {
	b := *(*[]byte)(p)
	if b == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.buf = append(append(append(w.buf, '{'), c.typ...), `,"$value":"`...)
	w.buf = append(base64.StdEncoding.AppendEncode(w.buf, b), `"}`...)
}
func (c *bytesCodec) zero(p unsafe.Pointer) bool { return *(*[]byte)(p) == nil }
func (c *bytesCodec) net(n *netNames) netName    { return n.core("System.Byte[]") }
func (c *bytesCodec) finish(n *netNames)         { c.typ = typeMember(c.net(n)) }

func (c *bytesCodec) read(r *jsonReader, p unsafe.Pointer) {
	switch r.peek() {
	case '{':
		h := r.object()
		c.body(r, &h, p)
		return
	case '"':
		at := r.i
		text := r.string()
		b, err := base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))), text)
		if err != nil {
			r.failAt(at, "no base64", err)
			return
		}
		*(*[]byte)(p) = b
		return
	case '[':
		*(*[]byte)(p) = []byte{}
		one := numberCodec{kind: reflect.Uint8}
		r.elements(func() {
			var b byte
			one.read(r, unsafe.Pointer(&b))
			*(*[]byte)(p) = append(*(*[]byte)(p), b)
		})
		return
	}
	if !r.null() {
		r.fail("no bytes where they should be")
	}
}

func (c *bytesCodec) body(r *jsonReader, h *head, p unsafe.Pointer) {
	for ok := h.more; ok; ok = r.next(h) {
		if k := string(h.key); (k == "$value" || k == "$values") && r.peek() != '{' {
			c.read(r, p)
		} else {
			r.skip()
		}
	}
}
