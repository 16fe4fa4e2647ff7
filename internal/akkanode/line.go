package akkanode

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Lines are written as .NET's System.Text.Json does, to the byte.

// An Event is one line: a name and fields in their order.
type Event struct {
	Name   string
	Fields []Field
}

// Field is a string, a bool, or a number.
type Field struct {
	Name  string
	Value any
}

// Text is the field of that name as text, "" if there is none.
func (e Event) Text(name string) string {
	for _, f := range e.Fields {
		if s, ok := f.Value.(string); ok && f.Name == name {
			return s
		}
	}
	return ""
}

// Append adds the event as a JSON object, without the end of the line.
func (e Event) Append(dst []byte) []byte {
	dst = appendText(append(dst, `{"event":`...), e.Name)
	for _, f := range e.Fields {
		dst = append(appendText(append(dst, ','), f.Name), ':')
		switch v := f.Value.(type) {
		case string:
			dst = appendText(dst, v)
		case bool:
			dst = strconv.AppendBool(dst, v)
		case int:
			dst = strconv.AppendInt(dst, int64(v), 10)
		case int32:
			dst = strconv.AppendInt(dst, int64(v), 10)
		default:
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}

// appendText is a JSON string: all but plain ASCII is escaped, and what could end a string in HTML.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '\\':
			dst = append(dst, '\\', '\\')
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r < 0x20 || r == 0x7f || strings.ContainsRune("\"&'+<>`", r), r > 0x7f && r <= 0xffff:
			dst = appendUnit(dst, uint16(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			dst = appendUnit(appendUnit(dst, uint16(high)), uint16(low))
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func appendUnit(dst []byte, u uint16) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
}

// floatText is a double as .NET shows it: the shortest digits that are the same number, with an exponent from 1E+15 on and
// below 1E-05.
func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if a := math.Abs(v); a != 0 && (a >= 1e15 || a < 1e-4) {
		return strings.Replace(strconv.FormatFloat(v, 'e', -1, 64), "e", "E", 1)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
