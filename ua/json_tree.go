package ua

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unsafe"
)

type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

func (k jsonKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// jsonNode is a value of JSON. Numbers keep their text, since a float64 cannot hold all of 64 bits.
type jsonNode struct {
	kind      jsonKind
	text      string // of a string or number; "true" or "false"
	*jsonNest        // of an array or object; nil for all else
}

// jsonNest is what an array or object holds. It stands apart since most values are neither, and a text
// of two bytes a value should not take many times its size in memory.
type jsonNest struct {
	items []jsonNode
	keys  []string // of an object, one for each item
}

// get is the value of a key of an object; nil if there is none.
func (n *jsonNode) get(key string) *jsonNode {
	if n.kind != jsonObject {
		return nil
	}
	for i := range n.keys {
		if n.keys[i] == key {
			return &n.items[i]
		}
	}
	return nil
}

// jsonError says where in the text which value is wrong.
type jsonError struct {
	code   StatusCode
	path   string
	reason string
}

func (e *jsonError) Error() string {
	if e.path == "" {
		return e.code.String() + ": " + e.reason
	}
	return e.code.String() + ": " + e.path + ": " + e.reason
}

// Unwrap is BadDecodingError or BadEncodingLimitsExceeded.
func (e *jsonError) Unwrap() error { return e.code }

func badJSON(format string, args ...any) error {
	return &jsonError{code: BadDecodingError, reason: fmt.Sprintf(format, args...)}
}

func jsonLimit(format string, args ...any) error {
	return &jsonError{code: BadEncodingLimitsExceeded, reason: fmt.Sprintf(format, args...)}
}

// inField puts the name of the field in front of where an error happened.
func inField(err error, name string) error {
	if e, ok := err.(*jsonError); ok {
		switch {
		case e.path == "":
			e.path = name
		case e.path[0] == '[':
			e.path = name + e.path
		default:
			e.path = name + "." + e.path
		}
	}
	return err
}

func inElement(err error, i int) error { return inField(err, "["+strconv.Itoa(i)+"]") }

// jsonParser makes a tree of a text.
type jsonParser struct {
	*json.Decoder
	memory int // bytes that the tree may still take
}

// parseJSON reads one value that takes all of data. memory is what the tree and the values made of it
// may take in bytes; left is what the tree leaves of that.
func parseJSON(data []byte, maxDepth, memory int) (n jsonNode, left int, err error) {
	d := &jsonParser{json.NewDecoder(bytes.NewReader(data)), memory}
	d.UseNumber()
	if n, err = d.value(maxDepth); err != nil {
		return jsonNode{}, 0, err
	}
	if _, err := d.Token(); err != io.EOF {
		return jsonNode{}, 0, badJSON("more text behind the value at byte %d", d.InputOffset())
	}
	return n, d.memory, nil
}

func (d *jsonParser) value(depth int) (n jsonNode, err error) {
	t, err := d.Token()
	if err != nil {
		return n, d.failed(err)
	}
	switch t := t.(type) {
	case bool:
		return jsonNode{kind: jsonBool, text: strconv.FormatBool(t)}, nil
	case json.Number:
		return jsonNode{kind: jsonNumber, text: string(t)}, nil
	case string:
		return jsonNode{kind: jsonString, text: t}, nil
	case json.Delim:
		if depth <= 0 {
			return n, jsonLimit("values are nested too deep at byte %d", d.InputOffset())
		}
		n.jsonNest = new(jsonNest)
		if t == '{' {
			n.kind = jsonObject
			err = d.fields(&n, depth-1)
		} else {
			n.kind = jsonArray
			err = d.elements(&n, depth-1)
		}
	}
	return n, err
}

// add appends an item to an array or object.
func (d *jsonParser) add(n *jsonNode, item jsonNode) error {
	if d.memory -= int(unsafe.Sizeof(item)); d.memory < 0 {
		return jsonLimit("too much memory wanted at byte %d", d.InputOffset())
	}
	n.items = append(n.items, item)
	return nil
}

func (d *jsonParser) elements(n *jsonNode, depth int) error {
	for d.More() {
		item, err := d.value(depth)
		if err != nil {
			return err
		}
		if err := d.add(n, item); err != nil {
			return err
		}
	}
	return d.end()
}

func (d *jsonParser) fields(n *jsonNode, depth int) error {
	var seen map[string]bool
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return badJSON("%v at byte %d", err, d.InputOffset())
		}
		key, ok := t.(string)
		if !ok {
			return badJSON("a key is no string at byte %d", d.InputOffset())
		}
		// The standard wants an error for a name that comes twice (Part 6, 5.4.2.16). A map is
		// worth its cost only for objects of many fields.
		double := seen[key]
		if seen == nil {
			double = n.get(key) != nil
			if len(n.keys) == 16 {
				seen = make(map[string]bool)
				for _, k := range n.keys {
					seen[k] = true
				}
			}
		}
		if seen != nil {
			seen[key] = true
		}
		if double {
			return badJSON("field %q comes twice at byte %d", key, d.InputOffset())
		}
		item, err := d.value(depth)
		if err != nil {
			return inField(err, key)
		}
		n.keys = append(n.keys, key)
		if err := d.add(n, item); err != nil {
			return err
		}
	}
	return d.end()
}

// end reads the end of an array or object.
func (d *jsonParser) end() error {
	if _, err := d.Token(); err != nil {
		return d.failed(err)
	}
	return nil
}

func (d *jsonParser) failed(err error) error {
	if errors.Is(err, io.EOF) {
		return badJSON("the text ends too early")
	}
	return badJSON("%v at byte %d", err, d.InputOffset())
}
