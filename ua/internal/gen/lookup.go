package main

import (
	"fmt"
	"sort"
	"strings"
)

// nodeLiteral is a node of namespace 0 as static data.
func nodeLiteral(id uint32) string {
	if id == 0 {
		return "ExpandedNodeID{}"
	}
	return fmt.Sprintf("ExpandedNodeID{NodeID: NodeID{numeric: %d}}", id)
}

// infoSource makes the descriptors: static data that refers to each other.
func infoSource(in *inputs, m *model) *source {
	s := in.newSource("ua/structinfo_gen.go", "ua", typesFile, nodeSetFile, nodeIDsFile)
	kinds := map[kind]string{plain: "StructurePlain", withOptionalFields: "StructureWithOptionalFields", union: "StructureUnion"}
	for _, t := range m.structures {
		s.line("")
		s.line("var info%s = StructureInfo{", t.goName)
		s.line("Name: %q,", t.name)
		for _, id := range []struct {
			field string
			id    uint32
		}{{"DataTypeID", t.id}, {"BinaryID", t.binary}, {"XMLID", t.xml}, {"JSONID", t.json}} {
			if id.id != 0 {
				s.line("%s: %s,", id.field, nodeLiteral(id.id))
			}
		}
		if t.kind != plain {
			s.line("Kind: %s,", kinds[t.kind])
		}
		if len(t.fields) > 0 {
			s.line("Fields: []Field{")
			for _, f := range t.fields {
				s.line("{%s},", f.info())
			}
			s.line("},")
		}
		s.line("New: func() Structure { return new(%s) },", t.goName)
		s.line("}")
	}
	return s
}

func (f *field) info() string {
	parts := []string{fmt.Sprintf("Name: %q", f.name)}
	switch {
	case f.structure != nil:
		parts = append(parts, "Type: TypeExtensionObject", "Struct: &info"+f.structure.goName)
	case f.enum != nil && f.enum.optionSet:
		parts = append(parts, "Type: "+f.enum.base.constant)
	case f.enum != nil:
		parts = append(parts, "Type: "+f.enum.base.constant, "Enum: &enum"+f.enum.goName)
	default:
		parts = append(parts, "Type: "+f.builtin.constant)
	}
	if f.array {
		parts = append(parts, "Array: true")
	}
	if f.optional {
		parts = append(parts, "Optional: true")
	}
	return strings.Join(parts, ", ")
}

// lookupSource makes the tables and switches that find types.
func lookupSource(in *inputs, m *model) *source {
	s := in.newSource("ua/structlookup_gen.go", "ua", typesFile, nodeSetFile, nodeIDsFile)
	binary := sortedByID(m.structures, func(t *structure) uint32 { return t.binary })
	s.line("// newStructure makes a value of the structure whose encoding Default Binary is this node of")
	s.line("// namespace 0; nil if there is none.")
	s.line("func newStructure(binaryID uint32) Structure {")
	s.line("switch binaryID {")
	for _, t := range binary {
		s.line("case %d:", t.binary)
		s.line("return new(%s)", t.goName)
	}
	s.line("}")
	s.line("return nil")
	s.line("}")
	s.line("")
	s.line("// structuresByDataType is sorted by the number of the data type.")
	s.line("var structuresByDataType = [...]infoByID{")
	for _, t := range sortedByID(m.structures, func(t *structure) uint32 { return t.id }) {
		s.line("{%d, &info%s},", t.id, t.goName)
	}
	s.line("}")
	s.line("")
	s.line("// structuresByEncoding is sorted by the number of the encoding.")
	s.line("var structuresByEncoding = [...]infoByID{")
	type entry struct {
		id uint32
		t  *structure
	}
	var entries []entry
	for _, t := range m.structures {
		for _, id := range []uint32{t.binary, t.xml, t.json} {
			if id != 0 {
				entries = append(entries, entry{id, t})
			}
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].id < entries[j].id })
	for _, e := range entries {
		s.line("{%d, &info%s},", e.id, e.t.goName)
	}
	s.line("}")
	s.line("")
	sorted := append([]*structure(nil), m.structures...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].name < sorted[j].name })
	s.line("// structuresByName is sorted by the standard's name.")
	s.line("var structuresByName = [...]*StructureInfo{")
	for _, t := range sorted {
		s.line("&info%s,", t.goName)
	}
	s.line("}")
	return s
}
