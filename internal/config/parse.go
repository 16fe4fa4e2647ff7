package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Hint gives the end of a sentence about a wrong word: the valid one that was probably meant, or a list.
type Hint func(word string, valid []string) string

// Error is something wrong in a file.
type Error struct {
	File string
	Line int // from 1; 0 when it is in none
	Text string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Text)
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// Parse reads a file; keys that it leaves out are those of the empty profile. All errors are *Error.
func Parse(file string, text []byte, hint Hint) (*Config, error) {
	c := Profile("empty")
	c.file, c.lines, c.hint = file, map[string]int{}, hint
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF): // an empty file says nothing
		return c, c.check()
	case err != nil:
		return nil, c.syntax(err)
	}
	if err := c.decode(doc.Content[0], reflect.ValueOf(c).Elem(), ""); err != nil {
		return nil, err
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return c, c.check()
	case err != nil:
		return nil, c.syntax(err)
	}
	return nil, &Error{file, second.Line, "the file has a second document; one is wanted"}
}

// syntax tells what is wrong with the YAML itself.
func (c *Config) syntax(err error) error {
	e := &Error{File: c.file, Text: strings.TrimPrefix(err.Error(), "yaml: ")}
	if m := yamlLine.FindStringSubmatchIndex(e.Text); m != nil {
		e.Line, _ = strconv.Atoi(e.Text[m[2]:m[3]])
		e.Text = e.Text[:m[0]] + e.Text[m[1]:]
	}
	e.Text = "this is no YAML: " + e.Text
	return e
}

// at is an error about a key, with the line of it or of the nearest key around it that the file has.
func (c *Config) at(path, format string, args ...any) error {
	e := &Error{File: c.file, Text: path + ": " + fmt.Sprintf(format, args...)}
	for e.Line = c.lines[path]; e.Line == 0 && path != ""; e.Line = c.lines[path] {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return e
}

// Line is the line of a key, such as "application.uri"; 0 when the file does not have it.
func (c *Config) Line(path string) int { return c.lines[path] }

// decode stores a node of the file in the field at path.
func (c *Config) decode(n *yaml.Node, v reflect.Value, path string) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return &Error{c.file, n.Line, "anchors and aliases are not used here: write the value itself"}
	}
	if path != "" {
		c.lines[path] = n.Line
	}
	empty := n.Kind == yaml.ScalarNode && n.Tag == "!!null"
	switch v.Kind() {
	case reflect.Struct:
		if empty {
			return nil
		}
		return c.decodeStruct(n, v, path)
	case reflect.Slice:
		if empty {
			v.SetZero()
			return nil
		}
		return c.decodeList(n, v, path)
	}
	if n.Kind != yaml.ScalarNode || empty {
		return c.at(path, "%s is wanted, not %s", wanted(v, path), given(n))
	}
	return c.decodeScalar(n, v, path)
}

func (c *Config) decodeStruct(n *yaml.Node, v reflect.Value, path string) error {
	if n.Kind != yaml.MappingNode {
		if path == "" {
			return &Error{c.file, n.Line, fmt.Sprintf("keys with values are wanted, not %s", given(n))}
		}
		return c.at(path, "keys with values are wanted, not %s", given(n))
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		fail := func(format string, args ...any) error {
			return &Error{c.file, name.Line, fmt.Sprintf(format, args...)}
		}
		f := fieldOf(v, name.Value)
		where := ""
		if path != "" {
			where = " in " + path
		}
		switch first := seen[name.Value]; {
		case !f.IsValid():
			return fail("there is no key %q%s%s", name.Value, where, c.hint(name.Value, keys(v.Type())))
		case first != 0:
			return fail("the key %s%s is there already, in line %d", name.Value, where, first)
		}
		seen[name.Value] = name.Line
		if err := c.decode(value, f, join(path, name.Value)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) decodeList(n *yaml.Node, v reflect.Value, path string) error {
	if n.Kind != yaml.SequenceNode {
		return c.at(path, "a list is wanted, not %s", given(n))
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, x := range n.Content {
		if d, ok := list.Index(i).Addr().Interface().(*Variable); ok {
			*d = newVariable()
		}
		if err := c.decode(x, list.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func (c *Config) decodeScalar(n *yaml.Node, v reflect.Value, path string) error {
	limit := isLimit(path)
	wrong := func() error { return c.at(path, "%s is wanted, not %s", wanted(v, path), given(n)) }
	if limit && n.Value == "none" {
		v.SetInt(-1)
		return nil
	}
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x = n.Value
	case *bool:
		if n.Tag != "!!bool" || n.Decode(x) != nil {
			return wrong()
		}
	case *float64:
		if n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(x) != nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
			return wrong()
		}
	case *int:
		if n.Tag != "!!int" || n.Decode(x) != nil || *x < 0 || *x > math.MaxInt32 {
			return wrong()
		}
	case *time.Duration:
		d, err := time.ParseDuration(n.Value)
		if err != nil || d < 0 || d == 0 && !limit {
			return wrong()
		}
		*x = d
	}
	return nil
}

// isLimit reports whether a key may be "none", for no limit.
func isLimit(path string) bool { return strings.HasPrefix(path, "limits.") }

// wanted says what a key takes.
func wanted(v reflect.Value, path string) string {
	none := ""
	if isLimit(path) {
		none = ", or none for no limit"
	}
	switch v.Interface().(type) {
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case int:
		return "a whole number from 0 to 2147483647" + none
	case time.Duration:
		return "a duration such as 500ms, 10s or 1h" + none
	}
	return "a text"
}

func given(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// keyOf is the key of a field: "MaxNodesPerRead" is max-nodes-per-read.
func keyOf(field string) string {
	var b strings.Builder
	before := 'A'
	for _, r := range field {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// keys are the keys of a structure in the order of its fields.
func keys(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			list = append(list, keyOf(f.Name))
		}
	}
	return list
}

// fieldOf is the field of a key; invalid when there is none.
func fieldOf(v reflect.Value, key string) reflect.Value {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && keyOf(f.Name) == key {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
