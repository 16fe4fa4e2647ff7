package nodeset

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
)

// maxDepth bounds how deep elements may be nested, since they are read recursively.
const maxDepth = 200

// element is an XML element with all that it contains.
type element struct {
	name     string
	attrs    []xml.Attr
	text     string // all character data
	children []*element
	line     int
	inner    []byte // the source between the tags
}

// document reads elements from a source that is in memory.
type document struct {
	source []byte
	dec    *xml.Decoder
}

func newDocument(source []byte) *document {
	return &document{source, xml.NewDecoder(bytes.NewReader(source))}
}

// start returns the next start of an element, or nil at the end of the one around it.
func (d *document) start() (*element, error) {
	for {
		line, _ := d.dec.InputPos()
		tok, err := d.dec.Token()
		if err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			return &element{name: t.Name.Local, attrs: t.Attr, line: line}, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

// read reads what e contains, up to its end.
func (d *document) read(e *element, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("line %d: elements nested deeper than %d", e.line, maxDepth)
	}
	begin := d.dec.InputOffset()
	var text []byte
	for {
		end := d.dec.InputOffset()
		line, _ := d.dec.InputPos()
		tok, err := d.dec.Token()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			child := &element{name: t.Name.Local, attrs: t.Attr, line: line}
			if err := d.read(child, depth+1); err != nil {
				return err
			}
			e.children = append(e.children, child)
		case xml.CharData:
			text = append(text, t...)
		case xml.EndElement:
			e.text = string(text)
			e.inner = d.source[begin:end]
			return nil
		}
	}
}

// attr is the value of an attribute, "" if it is not there.
func (e *element) attr(name string) string {
	v, _ := e.lookup(name)
	return v
}

func (e *element) lookup(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// child is the first child with this name, or nil.
func (e *element) child(name string) *element {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// isNil reports whether the element is absent or says that it is null.
func (e *element) isNil() bool {
	return e == nil || e.attr("nil") == "true" || e.attr("nil") == "1"
}
