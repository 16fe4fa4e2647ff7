package nodeset

import "github.com/actua/actua/ua"

// Nodes of namespace 0 that definitions refer to (Part 6, A.3).
const (
	hasSubtype    = 45
	hasEncoding   = 38
	structureType = 22
	enumeration   = 29
)

func (p *parser) definition(e *element) (*Definition, error) {
	a := attributes{p: p, e: e}
	d := &Definition{IsUnion: a.bool("IsUnion", false), IsOptionSet: a.bool("IsOptionSet", false)}
	if a.err != nil {
		return nil, a.err
	}
	for _, c := range e.children {
		if c.name != "Field" {
			continue
		}
		a := attributes{p: p, e: c}
		_, hasValue := c.lookup("Value")
		f := DefinitionField{
			Name:            c.attr("Name"),
			DataType:        a.id("DataType", ua.ID(baseDataType)),
			ValueRank:       int32(a.int("ValueRank", -1, 32)),
			ArrayDimensions: a.dimensions("ArrayDimensions"),
			MaxStringLength: a.uint("MaxStringLength", 0, 32),
			Value:           a.int("Value", 0, 64),
			HasValue:        hasValue,
			IsOptional:      a.bool("IsOptional", false),
			AllowSubTypes:   a.bool("AllowSubTypes", false),
		}
		if a.err != nil {
			return nil, at(c, a.err)
		}
		if t := c.child("DisplayName"); t != nil {
			f.DisplayName = localized(t)
		}
		if t := c.child("Description"); t != nil {
			f.Description = localized(t)
		}
		d.Fields = append(d.Fields, f)
	}
	return d, nil
}

// Base is the supertype of a type, null if the file does not say.
func (s *Set) Base(n *Node) ua.NodeID {
	for _, r := range n.References {
		if r.Type == ua.ID(hasSubtype) && !r.Forward {
			return r.Target
		}
	}
	return ua.NodeID{}
}

// Encoding is the node of an encoding of a data type, such as "Default Binary"; null if the file has
// none.
func (s *Set) Encoding(n *Node, name string) ua.NodeID {
	for _, r := range n.References {
		if r.Type == ua.ID(hasEncoding) && r.Forward {
			if t := s.byID[r.Target]; t != nil && t.BrowseName.Name == name {
				return t.ID
			}
		}
	}
	// The reference may stand at the encoding only: those are few, and far from the type.
	if s.encodings == nil {
		s.encodings = map[encodingKey]ua.NodeID{}
		for _, e := range s.Nodes {
			if e.Class != ua.NodeClassObject {
				continue
			}
			for _, r := range e.References {
				if r.Type == ua.ID(hasEncoding) && !r.Forward {
					s.encodings[encodingKey{r.Target, e.BrowseName.Name}] = e.ID
				}
			}
		}
	}
	return s.encodings[encodingKey{n.ID, name}]
}

type encodingKey struct {
	dataType ua.NodeID
	name     string
}

// DataTypeDefinition is the value of the attribute of that name (Part 3, 5.8.3): a StructureDefinition
// or an EnumDefinition; nil for a data type without a definition. Fields of a structure begin with
// those of its base types (Part 3, 8.48); others gives the definitions of base types that are not in
// the file, and may be nil.
func (s *Set) DataTypeDefinition(n *Node, others func(dataType ua.NodeID) *ua.StructureDefinition) ua.Structure {
	switch {
	case n.Definition == nil:
		return nil
	case s.isStructure(n, others):
		return s.structureDefinition(n, others)
	}
	def := &ua.EnumDefinition{Fields: []ua.EnumField{}}
	for _, f := range n.Definition.Fields {
		name := f.DisplayName
		if name.Text == "" {
			name.Text = f.Name
		}
		def.Fields = append(def.Fields, ua.EnumField{
			Value: f.Value, Name: f.Name, DisplayName: name, Description: f.Description,
		})
	}
	return def
}

// isStructure tells structures from enumerations and option sets. A type whose bases are not all in
// the file is judged by its fields.
func (s *Set) isStructure(n *Node, others func(ua.NodeID) *ua.StructureDefinition) bool {
	if n.Definition.IsOptionSet {
		return false
	}
	for id, steps := n.ID, 0; steps < maxDepth; steps++ {
		switch {
		case id == ua.ID(structureType):
			return true
		case id == ua.ID(enumeration):
			return false
		}
		t := s.byID[id]
		if t == nil {
			if others != nil && others(id) != nil {
				return true
			}
			break
		}
		id = s.Base(t)
	}
	for _, f := range n.Definition.Fields {
		return !f.HasValue
	}
	return true
}

func (s *Set) structureDefinition(n *Node, others func(ua.NodeID) *ua.StructureDefinition) *ua.StructureDefinition {
	def := &ua.StructureDefinition{BaseDataType: s.Base(n), Fields: []ua.StructureField{}}
	if !n.IsAbstract { // of an abstract type it is null (Part 3, 8.48)
		def.DefaultEncodingID = s.Encoding(n, "Default Binary")
	}
	def.Fields = s.appendFields(def.Fields, n, others, 0)
	optional, subtypes := false, false
	for base, steps := n, 0; base != nil && base.Definition != nil && steps < maxDepth; steps++ {
		for _, f := range base.Definition.Fields {
			optional = optional || f.IsOptional
			subtypes = subtypes || f.AllowSubTypes
		}
		id := s.Base(base)
		if base = s.byID[id]; base == nil && others != nil {
			if d := others(id); d != nil {
				optional = optional || d.StructureType == ua.StructureTypeStructureWithOptionalFields
				subtypes = subtypes || d.StructureType == ua.StructureTypeStructureWithSubtypedValues
			}
		}
	}
	switch {
	case n.Definition.IsUnion && subtypes:
		def.StructureType = ua.StructureTypeUnionWithSubtypedValues
	case n.Definition.IsUnion:
		def.StructureType = ua.StructureTypeUnion
	case subtypes:
		def.StructureType = ua.StructureTypeStructureWithSubtypedValues
	case optional:
		def.StructureType = ua.StructureTypeStructureWithOptionalFields
	}
	return def
}

// appendFields appends the fields of n behind those of its base types.
func (s *Set) appendFields(out []ua.StructureField, n *Node, others func(ua.NodeID) *ua.StructureDefinition, depth int) []ua.StructureField {
	if depth > maxDepth { // types that are their own base
		return out
	}
	base := s.Base(n)
	if b := s.byID[base]; b != nil {
		if b.Definition != nil {
			out = s.appendFields(out, b, others, depth+1)
		}
	} else if others != nil {
		if d := others(base); d != nil {
			out = append(out, d.Fields...)
		}
	}
	for _, f := range n.Definition.Fields {
		out = append(out, ua.StructureField{
			Name: f.Name, Description: f.Description, DataType: f.DataType, ValueRank: f.ValueRank,
			ArrayDimensions: f.ArrayDimensions, MaxStringLength: f.MaxStringLength,
			// Where subtypes are allowed, the flag means that (Part 3, 8.51).
			IsOptional: f.IsOptional || f.AllowSubTypes,
		})
	}
	return out
}
