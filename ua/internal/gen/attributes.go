package main

import (
	"fmt"
	"strconv"
)

// attributeFiles makes the attribute ids.
func attributeFiles(in *inputs) ([]output, error) {
	rows, err := in.rows(attributeFile, 2)
	if err != nil {
		return nil, err
	}
	s := in.newSource("ua/attributes_gen.go", "ua", attributeFile)
	s.line(`import (`)
	s.line(`	"fmt"`)
	s.line(`	"strconv"`)
	s.line(`)`)
	s.line("")
	s.line("// AttributeID names an attribute of a node (Part 6, A.1).")
	s.line("type AttributeID uint32")
	s.line("")
	s.line("// The attributes (Part 3, 5; the numbers are those of Part 6, A.1).")
	s.line("const (")
	names := map[uint64]string{}
	var last uint64
	for i, row := range rows {
		n, err := strconv.ParseUint(row[1], 10, 8)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", attributeFile, i+1, err)
		}
		if names[n] != "" {
			return nil, fmt.Errorf("%s:%d: %s and %s have the same number", attributeFile, i+1, names[n], row[0])
		}
		names[n], last = row[0], max(last, n)
		s.line("\tAttribute%s AttributeID = %d", goName(row[0]), n)
	}
	s.line(")")
	s.line("")
	s.line("// attributeNames holds the names at the place of their number.")
	s.line("var attributeNames = [...]string{")
	for n := uint64(1); n <= last; n++ {
		if name := names[n]; name != "" {
			s.line("\t%d: %q,", n, name)
		}
	}
	s.line("}")
	s.WriteString(`
// String is the standard's name, such as "NodeId", or the number.
func (a AttributeID) String() string {
	if a.IsValid() {
		return attributeNames[a]
	}
	return strconv.FormatUint(uint64(a), 10)
}

// IsValid reports whether the standard knows the attribute.
func (a AttributeID) IsValid() bool {
	return uint64(a) < uint64(len(attributeNames)) && attributeNames[a] != ""
}

// ParseAttributeID reads the standard's name of an attribute, or its number.
func ParseAttributeID(text string) (AttributeID, error) {
	for i, name := range attributeNames {
		if name == text && name != "" {
			return AttributeID(i), nil
		}
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil && AttributeID(n).IsValid() {
		return AttributeID(n), nil
	}
	return 0, fmt.Errorf("%q is not an attribute", text)
}
`)
	return s.files()
}
