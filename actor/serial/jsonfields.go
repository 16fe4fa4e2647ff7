package serial

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// options are those of the tag of a field.
type options struct{ list, set, bare, offset, null bool }

func parseTag(tag string) (name string, o options, err error) {
	parts := strings.Split(tag, ",")
	for _, p := range parts[1:] {
		switch p {
		case "list":
			o.list = true
		case "set":
			o.set = true
		case "bare":
			o.bare = true
		case "offset":
			o.offset = true
		case "null":
			o.null = true
		default:
			return "", o, fmt.Errorf("unknown option %q in the tag net:%q", p, tag)
		}
	}
	return parts[0], o, nil
}

// structOf makes the plan of a struct. A struct may contain itself: it is known before its fields are.
func (j *jsonTypes) structOf(t reflect.Type) (codec, error) {
	if c := j.structs[t]; c != nil {
		return c, nil
	}
	c := &structCodec{t: t, name: j.known[t], byName: map[string]int{}}
	j.structs[t] = c
	j.late = append(j.late, c)
	return c, j.fields(c, t, 0)
}

// fields adds those of t, which is at offset in the struct of c.
func (j *jsonTypes) fields(c *structCodec, t reflect.Type, offset uintptr) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("net")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct && j.special(f.Type, options{}) == nil {
			// A base class: its members are members of this one.
			if err := j.fields(c, f.Type, offset+f.Offset); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		name, o, err := parseTag(tag)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if name == "" {
			name = f.Name
		}
		m := member{name: name, key: append(appendJSONString([]byte{','}, name), ':'), offset: offset + f.Offset}
		if m.c, err = j.codec(f.Type, o); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if slices.Contains([]string{"$", "$id", "$ref", "$type", "$value", "$values"}, name) {
			return fmt.Errorf("field %s: %q means something else in Akka.NET's JSON", f.Name, name)
		}
		if _, twice := c.byName[name]; twice {
			return fmt.Errorf("field %s: there are two members %q", f.Name, name)
		}
		c.byName[name] = len(c.members)
		c.members = append(c.members, m)
	}
	return nil
}
