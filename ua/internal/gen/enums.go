package main

import (
	"fmt"
	"sort"
)

func enumSource(in *inputs, m *model) *source {
	s := in.newSource("ua/enums_gen.go", "ua", typesFile, nodeSetFile, nodeIDsFile)
	for _, e := range m.enums {
		if !e.external {
			s.line("")
			s.comment("", e.doc)
			s.line("type %s %s", e.goName, e.base.goType)
			s.line("")
			what := "values"
			if e.optionSet {
				what = "bits"
			}
			s.line("// The %s of %s.", what, e.goName)
			s.line("const (")
			for _, v := range e.values {
				if v.doc != "" {
					s.comment("\t", e.goName+goName(v.name)+": "+sentence(v.doc))
				}
				s.line("\t%s%s %s = %s", e.goName, goName(v.name), e.goName, e.literal(v))
			}
			s.line(")")
			s.line("")
			if e.optionSet {
				s.line("// String is the standard's names of the bits that are set, joined by '|'.")
			} else {
				s.line("// String is the standard's name of the value, or the number.")
			}
			s.line("func (v %s) String() string { return enum%s.text(int64(v)) }", e.goName, e.goName)
		}
		s.line("")
		s.line("var enum%s = EnumInfo{", e.goName)
		s.line("Name: %q, DataTypeID: %s, Type: %s, OptionSet: %t,", e.name, nodeLiteral(e.id), e.base.constant, e.optionSet)
		s.line("Values: []EnumValue{")
		for _, v := range e.values {
			s.line("{%d, %q},", int64(v.value), v.name)
		}
		s.line("},")
		s.line("}")
	}
	sorted := append([]*enum(nil), m.enums...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].id < sorted[j].id })
	s.line("")
	s.line("// enumsByDataType is sorted by the number of the data type.")
	s.line("var enumsByDataType = [...]*EnumInfo{")
	for _, e := range sorted {
		s.line("&enum%s,", e.goName)
	}
	s.line("}")
	return s
}

func (e *enum) literal(v enumValue) string {
	if e.optionSet && v.value != 0 {
		return fmt.Sprintf("0x%X", v.value)
	}
	return fmt.Sprint(v.value)
}
