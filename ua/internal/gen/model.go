package main

import "sort"

// kind tells how a structure is encoded.
type kind int

const (
	plain kind = iota
	withOptionalFields
	union
)

// structure is a structured data type.
type structure struct {
	name, goName  string
	id            uint32 // data type
	binary        uint32 // encodings
	xml, json     uint32
	doc           string // what it is and where it stands
	kind          kind
	abstract      bool
	fields        []field
	recursive     bool   // contains itself without an ExtensionObject in between
	file          string // the kind of file it goes to
	minSize       int
	sizing, sized bool
}

// field is a field of a structure: exactly one of builtin, enum and structure is set.
type field struct {
	name, goName string
	doc          string
	builtin      *builtin
	enum         *enum
	structure    *structure
	array        bool
	optional     bool
}

// enum is an enumeration or an option set.
type enum struct {
	name, goName string
	id           uint32
	doc          string
	base         *builtin
	optionSet    bool
	external     bool // written by hand in package ua
	values       []enumValue
}

type enumValue struct {
	name  string
	value uint64
	doc   string
}

// model holds all data types.
type model struct {
	structures []*structure // in the order of the schema files
	enums      []*enum
}

// reaches reports whether a value of s may hold a value of t inline.
func (s *structure) reaches(t *structure, seen map[*structure]bool) bool {
	for _, f := range s.fields {
		if f.structure == nil {
			continue
		}
		if f.structure == t {
			return true
		}
		if !seen[f.structure] {
			seen[f.structure] = true
			if f.structure.reaches(t, seen) {
				return true
			}
		}
	}
	return false
}

// size is the least number of bytes that a value takes on the wire.
func (s *structure) size() int {
	if s.sized || s.sizing || s.kind != plain {
		if s.kind != plain {
			return 4 // mask or switch
		}
		return s.minSize
	}
	s.sizing = true
	for _, f := range s.fields {
		if f.array {
			s.minSize += 4
		} else {
			s.minSize += f.size()
		}
	}
	s.sized = true
	return s.minSize
}

// size is the least number of bytes that one element takes.
func (f *field) size() int {
	switch {
	case f.structure != nil:
		return f.structure.size()
	case f.enum != nil:
		return f.enum.base.size
	}
	return f.builtin.size
}

// sortedByID returns the structures with an id, in the order of it.
func sortedByID(all []*structure, id func(*structure) uint32) []*structure {
	var out []*structure
	for _, s := range all {
		if id(s) != 0 {
			out = append(out, s)
		}
	}
	sort.Slice(out, func(i, j int) bool { return id(out[i]) < id(out[j]) })
	return out
}
