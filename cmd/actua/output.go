package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/actua/actua/ua"
)

// line is one JSON object whose keys keep their order.
type line struct{ b []byte }

func (l *line) key(name string) {
	if len(l.b) == 0 {
		l.b = append(l.b, '{')
	} else {
		l.b = append(l.b, ',')
	}
	l.b = append(append(append(l.b, '"'), name...), '"', ':')
}

// set adds a key with anything that package json can write.
func (l *line) set(name string, value any) *line {
	l.key(name)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // paths have & in them
	if enc.Encode(value) != nil {
		text.Reset()
		text.WriteString("null")
	}
	l.b = append(l.b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
	return l
}

// value adds a key with an OPC UA value in the Compact form of Part 6, 5.4; null for none.
func (l *line) value(name string, v ua.Variant) *line {
	l.key(name)
	l.b = appendJSONValue(l.b, v)
	return l
}

// time adds a key with a time, null for none.
func (l *line) time(name string, t ua.DateTime) *line {
	if t.IsZero() {
		return l.set(name, nil)
	}
	return l.set(name, t.String())
}

// text adds a key with a string, null for "".
func (l *line) text(name, value string) *line {
	if value == "" {
		return l.set(name, nil)
	}
	return l.set(name, value)
}

// object is the line as a value inside another one.
func (l *line) object() json.RawMessage {
	if len(l.b) == 0 {
		return json.RawMessage("{}")
	}
	return append(append(json.RawMessage{}, l.b...), '}')
}

// print writes the line.
func (a *app) print(l *line) error {
	_, err := a.out.Write(append(l.object(), '\n'))
	return outputError(err)
}

// printf writes text for people.
func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format, args...)
	return outputError(err)
}

func outputError(err error) error {
	if err == nil {
		return nil
	}
	return ourPart(err, "the output could not be written: %v", err)
}

// table aligns columns; the last one is not padded.
type table struct{ rows [][]string }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// columns are the widths of the columns.
func (t *table) columns() (width []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	return width
}

// width is that of the whole table.
func (t *table) width() (sum int) {
	for _, w := range t.columns() {
		sum += w + 2
	}
	return max(sum-2, 0)
}

func (t *table) String() string {
	width := t.columns()
	var b strings.Builder
	for _, row := range t.rows {
		var text strings.Builder
		for i, cell := range row {
			text.WriteString(cell)
			if i < len(row)-1 {
				text.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// Colours of the output on a terminal.
const (
	dim    = "\x1b[2m"
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

// paint colours text on a terminal.
func (a *app) paint(color, text string) string {
	if !a.color || text == "" {
		return text
	}
	return color + text + reset
}

// clean replaces control characters: names and values come from the other side and must not steer the
// terminal.
func clean(s string) string {
	if !strings.ContainsFunc(s, steers) && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case steers(r) || r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, s)
}

// steers reports whether a character does something to a terminal instead of being shown there: control
// characters, and those that change the direction of the text around them.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// cleanLines is clean for text of several lines.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// shorten cuts text to at most n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
