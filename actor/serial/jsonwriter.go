package serial

import (
	"math"
	"reflect"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// jsonWriter writes one document in the form of Newtonsoft.Json with Akka.NET's settings. The first error stays.
type jsonWriter struct {
	buf   []byte
	x     *Exchange
	types *jsonTypes
	err   error
	ids   int // last $id
	depth int
	limit int // length of buf that is too much
	seen  []seenObject
	index map[seenKey]int // of seen, once it is long
	held  []any           // values that something points into
}

type seenKey struct {
	p unsafe.Pointer
	t reflect.Type
}

type seenObject struct {
	seenKey
	id int
}

func (w *jsonWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// ok reports whether there is reason to go on: no error, and the size within bounds.
func (w *jsonWriter) ok() bool {
	if len(w.buf) > w.limit {
		w.fail(ErrTooLarge)
	}
	return w.err == nil
}

// down goes a level deeper; up has to follow where it returns true.
func (w *jsonWriter) down() bool {
	if w.depth >= maxDepth {
		w.fail(ErrTooDeep)
		return false
	}
	w.depth++
	return w.ok()
}

func (w *jsonWriter) up() { w.depth-- }

// object starts an object with the next $id and, unless it is empty, its type: `"$type":"X, Y"`.
func (w *jsonWriter) object(typ []byte) {
	w.ids++
	w.buf = append(w.buf, `{"$id":"`...)
	w.buf = strconv.AppendInt(w.buf, int64(w.ids), 10)
	w.buf = append(w.buf, '"')
	if len(typ) > 0 {
		w.buf = append(append(w.buf, ','), typ...)
	}
}

// repeated writes a reference to an object that has been written already. Otherwise it notes the object, which has to
// be started next.
func (w *jsonWriter) repeated(p unsafe.Pointer, t reflect.Type) bool {
	const few = 16
	k := seenKey{p, t}
	id := 0
	if w.index != nil {
		id = w.index[k]
	} else {
		for i := range w.seen {
			if w.seen[i].seenKey == k {
				id = w.seen[i].id
				break
			}
		}
	}
	if id != 0 {
		w.buf = append(w.buf, `{"$ref":"`...)
		w.buf = strconv.AppendInt(w.buf, int64(id), 10)
		w.buf = append(w.buf, `"}`...)
		return true
	}
	w.seen = append(w.seen, seenObject{k, w.ids + 1})
	switch {
	case w.index != nil:
		w.index[k] = w.ids + 1
	case len(w.seen) > few:
		w.index = make(map[seenKey]int, 4*few)
		for _, s := range w.seen {
			w.index[s.seenKey] = s.id
		}
	}
	return false
}

// string writes a JSON string with the escapes of Newtonsoft.Json. What is no UTF-8 becomes U+FFFD.
func (w *jsonWriter) string(s string) { w.buf = appendJSONString(w.buf, s) }

func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if !(r == utf8.RuneError && n == 1) && r != 0x85 && r != 0x2028 && r != 0x2029 {
				i += n
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscaped(dst, r)
		i += n
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	}
	return appendUnit(dst, uint16(r))
}

// appendUnit writes \uXXXX.
func appendUnit(dst []byte, u uint16) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}

// char writes a System.Char.
func (w *jsonWriter) char(c Char) {
	w.buf = append(w.buf, '"')
	r := rune(c)
	switch {
	case r < 0x20, r == '"', r == '\\', r == 0x85, r == 0x2028, r == 0x2029:
		w.buf = appendEscaped(w.buf, r)
	case r >= 0xd800 && r < 0xe000:
		w.buf = appendUnit(w.buf, uint16(r)) // half of a pair has no UTF-8
	default:
		w.buf = utf8.AppendRune(w.buf, r)
	}
	w.buf = append(w.buf, '"')
}

// float writes a number as .NET does with format R: the shortest digits, exponents of two digits, and always a
// point or an exponent. bits is 32 or 64.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	large := 1e17 // more than 17 digits, for float more than 9
	if bits == 32 {
		large = 1e9
	}
	if a := math.Abs(v); a != 0 && (a >= large || a < 1e-4) {
		return strconv.AppendFloat(dst, v, 'E', -1, bits)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// double writes a float64; what is no number goes as text.
func (w *jsonWriter) double(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.buf = append(appendFloat(append(w.buf, '"'), v, bits), '"')
		return
	}
	w.buf = appendFloat(w.buf, v, bits)
}

// wrap writes a number with its kind: {"$":"I42"}.
func (w *jsonWriter) wrap(kind byte) { w.buf = append(w.buf, '{', '"', '$', '"', ':', '"', kind) }

func (w *jsonWriter) wrapEnd() { w.buf = append(w.buf, '"', '}') }
