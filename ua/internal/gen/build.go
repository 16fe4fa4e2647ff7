package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

// handWritten are enumerations that package ua defines itself, with a note why.
var handWritten = map[string]bool{
	"IdType": true, // ua.IDType is the kind of an identifier in a NodeID, one byte
}

// renamed are data types whose name would be that of something else.
var renamed = map[string]string{
	"AttributeWriteMask": "WriteMask", // AttributeWriteMask is the attribute
}

// builder makes a model.
type builder struct {
	in         *inputs
	model      model
	structures map[string]*structure
	enums      map[string]*enum
	dataTypes  map[string]*setNode // by name
	byID       map[uint32]*setNode
	// encodings holds the encoding nodes of the NodeSet by data type and name, "Default Binary".
	encodings map[encodingKey]uint32
}

type encodingKey struct {
	dataType uint32
	name     string
}

func buildModel(in *inputs) (*model, error) {
	var bsd bsdDictionary
	if err := xml.Unmarshal(in.data[typesFile], &bsd); err != nil {
		return nil, fmt.Errorf("%s: %w", typesFile, err)
	}
	b := &builder{
		in:         in,
		structures: map[string]*structure{}, enums: map[string]*enum{},
		dataTypes: map[string]*setNode{}, byID: map[uint32]*setNode{},
		encodings: map[encodingKey]uint32{},
	}
	var dataTypes []*setNode
	for _, n := range in.nodes {
		if n.class() == "DataType" {
			dataTypes = append(dataTypes, n)
		}
	}
	if err := b.index(dataTypes); err != nil {
		return nil, err
	}
	if err := b.indexEncodings(); err != nil {
		return nil, err
	}
	// Names first, so that fields can refer to types that stand further down.
	var fromBSD []bsdType
	for _, t := range bsd.Enums {
		if t.LengthInBits%8 == 0 { // the others are bits inside a built-in type
			b.addEnum(t)
		}
	}
	for _, t := range bsd.Structures {
		if t.BaseType != "" { // the others are built-in types
			b.addStructure(t.Name, t.Documentation)
			fromBSD = append(fromBSD, t)
		}
	}
	var fromNodeSet []*setNode
	for _, d := range dataTypes {
		switch {
		case d.Definition == nil || b.structures[d.name()] != nil || b.enums[d.name()] != nil:
		case d.is(idStructure):
			b.addStructure(d.name(), "")
			fromNodeSet = append(fromNodeSet, d)
		default:
			if err := b.addDefinedEnum(d); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range fromBSD {
		if err := b.bsdFields(b.structures[t.Name], t); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", typesFile, t.Name, err)
		}
	}
	for _, d := range fromNodeSet {
		if err := b.definedFields(b.structures[d.name()], d); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", nodeSetFile, d.name(), err)
		}
	}
	for _, s := range b.model.structures {
		s.recursive = s.reaches(s, map[*structure]bool{})
	}
	return &b.model, nil
}

// index finds the base of each data type.
func (b *builder) index(all []*setNode) error {
	for _, d := range all {
		b.dataTypes[d.name()], b.byID[d.id] = d, d
	}
	for _, d := range all {
		for _, r := range d.References {
			if r.Type != "HasSubtype" {
				continue
			}
			target, err := nodeNumber(r.Target)
			if err != nil {
				return err
			}
			if r.IsForward == "false" {
				d.base = b.byID[target]
			} else if t := b.byID[target]; t != nil {
				t.base = d
			}
		}
	}
	return nil
}

// indexEncodings finds the encodings of the data types. References stand on either side.
func (b *builder) indexEncodings() error {
	byID := map[uint32]*setNode{}
	for _, n := range b.in.nodes {
		byID[n.id] = n
	}
	for _, n := range b.in.nodes {
		for _, r := range n.References {
			if r.Type != "HasEncoding" {
				continue
			}
			target, err := nodeNumber(r.Target)
			if err != nil {
				return err
			}
			dataType, encoding := n, byID[target]
			if r.IsForward == "false" {
				dataType, encoding = encoding, dataType
			}
			if dataType == nil || encoding == nil {
				return fmt.Errorf("%s: an encoding of node %d leads nowhere", nodeSetFile, n.id)
			}
			b.encodings[encodingKey{dataType.id, encoding.BrowseName}] = encoding.id
		}
	}
	return nil
}

// idOf is the number of a data type; the NodeSet is newer than the list of ids.
func (b *builder) idOf(name string) uint32 {
	if d := b.dataTypes[name]; d != nil {
		return d.id
	}
	return b.in.byID[name]
}

// encodingOf is the number of an encoding of a data type; form is Binary, XML or JSON.
func (b *builder) encodingOf(name, form string) uint32 {
	if d := b.dataTypes[name]; d != nil {
		if id := b.encodings[encodingKey{d.id, "Default " + form}]; id != 0 {
			return id
		}
	}
	return b.in.byID[name+"_Encoding_Default"+form[:1]+strings.ToLower(form[1:])]
}

// docURL finds the part and the section in the link of a node; a fragment names the section itself.
var docURL = regexp.MustCompile(`/docs/Part(\d+)/([A-Z0-9.]+)(?:/#([A-Z0-9.]+))?`)

// describe makes the doc comment of a data type: the schema's text and the place in the standard,
// which is section or, if that is "", what the NodeSet says.
func (b *builder) describe(name, goName, what, text, section string) string {
	if d := b.dataTypes[name]; d != nil {
		if text == "" {
			text = d.Description
		}
		if m := docURL.FindStringSubmatch(d.Documentation); m != nil && section == "" {
			section = fmt.Sprintf("Part %s, %s", m[1], strings.TrimSuffix(cmp.Or(m[3], m[2]), "."))
		}
	}
	doc := goName
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		doc += " is " + what
		if goName != name && !strings.Contains(what, " service ") {
			doc += ", called " + name + " in the standard"
		}
	} else {
		doc += ": " + strings.TrimSuffix(text, ".")
	}
	if section != "" {
		doc += " (" + section + ")"
	}
	return doc + "."
}

func (b *builder) addStructure(name, text string) {
	s := &structure{
		name: name, goName: goName(name),
		id:     b.idOf(name),
		binary: b.encodingOf(name, "Binary"),
		xml:    b.encodingOf(name, "XML"),
		json:   b.encodingOf(name, "JSON"),
	}
	d := b.dataTypes[name]
	if d != nil {
		s.abstract = d.IsAbstract
	}
	what, section := serviceType(name)
	s.doc = b.describe(name, s.goName, what, text, section)
	switch {
	case strings.HasPrefix(name, "Json") || d != nil && strings.Contains(d.Documentation, "/Part14/"):
		s.file = "pubsub"
	case d == nil:
		s.file = "service"
	default:
		s.file = "model"
	}
	b.structures[name] = s
	b.model.structures = append(b.model.structures, s)
}

func (b *builder) newEnum(name string, base *builtin, optionSet bool, text string) *enum {
	e := &enum{
		name: name, goName: goName(name), id: b.idOf(name),
		base: base, optionSet: optionSet, external: handWritten[name],
	}
	if r := renamed[name]; r != "" {
		e.goName = r
	}
	what := "an enumeration"
	if optionSet {
		what = "an option set: a number whose bits have names"
	}
	_, section := serviceType(name)
	e.doc = b.describe(name, e.goName, what, text, section)
	b.enums[name] = e
	b.model.enums = append(b.model.enums, e)
	return e
}

func (b *builder) addEnum(t bsdType) {
	base := builtinNamed("Int32")
	if t.IsOptionSet {
		base = builtinNamed(map[int]string{8: "Byte", 16: "UInt16", 32: "UInt32", 64: "UInt64"}[t.LengthInBits])
	}
	e := b.newEnum(t.Name, base, t.IsOptionSet, t.Documentation)
	docs := map[string]string{}
	if d := b.dataTypes[t.Name]; d != nil && d.Definition != nil {
		for _, f := range d.Definition.Fields {
			docs[f.Name] = f.Description
		}
	}
	for _, v := range t.Values {
		e.values = append(e.values, enumValue{v.Name, v.Value, docs[v.Name]})
	}
}

// addDefinedEnum adds an enumeration or option set that only the NodeSet has.
func (b *builder) addDefinedEnum(d *setNode) error {
	base, optionSet := builtinNamed("Int32"), d.Definition.IsOptionSet
	if optionSet {
		f, err := b.typeOf(d.base)
		if err != nil {
			return err
		}
		base = f.builtin
	}
	e := b.newEnum(d.name(), base, optionSet, d.Description)
	if optionSet {
		e.values = append(e.values, enumValue{"None", 0, ""})
	}
	for _, f := range d.Definition.Fields {
		v := f.Value
		if optionSet {
			v = 1 << v // the NodeSet has the number of the bit
		}
		e.values = append(e.values, enumValue{f.Name, v, f.Description})
	}
	return nil
}
