package main

import (
	"fmt"
	"strings"
)

// elem is the Go type of a value, or of an element of an array.
func (f *field) elem() string {
	switch {
	case f.structure != nil:
		return f.structure.goName
	case f.enum != nil && !f.enum.external:
		return f.enum.goName
	case f.enum != nil:
		return f.enum.base.goType
	}
	return f.builtin.goType
}

func (f *field) goType() string {
	switch {
	case f.array:
		return "[]" + f.elem()
	case f.optional:
		return "*" + f.elem()
	}
	return f.elem()
}

// put is the statement that appends the value v.
func (f *field) put(v string) string {
	switch {
	case f.structure != nil:
		return "b = " + v + ".AppendBinary(b)"
	case f.enum != nil:
		return "b = " + fmt.Sprintf(f.enum.base.put, f.enum.base.goType+"("+v+")")
	}
	return "b = " + fmt.Sprintf(f.builtin.put, v)
}

// get is the statement that reads the value v.
func (f *field) get(v string) string {
	switch {
	case f.structure != nil || f.builtin != nil && f.builtin.get == "":
		return v + ".DecodeBinary(r)"
	case f.enum != nil:
		return v + " = " + f.elem() + "(" + f.enum.base.get + ")"
	case strings.Contains(f.builtin.get, "%s"):
		return v + " = " + fmt.Sprintf(f.builtin.get, v)
	}
	return v + " = " + f.builtin.get
}

// value is how a field that is there is spoken of: an optional value is a pointer. Methods take the
// pointer as it is.
func (f *field) value() string {
	x := "x." + f.goName
	if f.optional && !f.array && (f.builtin == nil && f.structure == nil || f.builtin != nil && f.builtin.get != "") {
		return "*" + x
	}
	return x
}

// byteArray reports whether the field is an array of Byte, which has the form of a ByteString.
func (f *field) byteArray() bool { return f.array && f.builtin != nil && f.builtin.name == "Byte" }

func (f *field) writePut(s *source) {
	x := "x." + f.goName
	switch {
	case f.byteArray():
		s.line("b = uabin.AppendBytes(b, %s)", x)
	case f.array && f.builtin != nil:
		s.line("b = appendArrayOf%s(b, %s)", f.builtin.name, x)
	case f.array:
		s.line("b = uabin.AppendLen(b, len(%s), %s == nil)", x, x)
		s.line("for i := range %s {", x)
		s.line("%s", f.put(x+"[i]"))
		s.line("}")
	default:
		s.line("%s", f.put(f.value()))
	}
}

func (f *field) writeGet(s *source) {
	x := "x." + f.goName
	switch {
	case f.byteArray():
		s.line("%s = r.Bytes(%s)", x, x)
	case f.array && f.builtin != nil:
		s.line("%s = decodeArrayOf%s(r, %s)", x, f.builtin.name, x)
	case f.array:
		s.line("%s = uabin.Slice(r, %s, %d)", x, x, f.size())
		s.line("for i := range %s {", x)
		s.line("%s", f.get(x+"[i]"))
		s.line("}")
	default:
		s.line("%s", f.get(f.value()))
	}
}

// quick are the structures of which a request has hundreds; package ua has a decodeQuick for each, which
// does the usual form at once.
var quick = map[string]bool{"ReadValueID": true, "WriteValue": true}

// write writes a structure and its methods.
func (t *structure) write(s *source) {
	s.line("")
	doc := t.doc
	switch {
	case t.kind == union:
		doc += " It is a union: Switch is the number of the field that is set, from 1 on, or 0 for none."
	case t.kind == withOptionalFields:
		doc += " Fields that are nil are absent; an array that is present but null cannot be told from one that is absent."
	case t.abstract:
		doc += " It is abstract: values are of its subtypes."
	}
	s.comment("", doc)
	s.line("type %s struct {", t.goName)
	if t.kind == union {
		s.line("Switch uint32")
	}
	for _, f := range t.fields {
		if f.doc != "" {
			s.comment("\t", strings.Join(strings.Fields(f.doc), " "))
		}
		s.line("%s %s", f.goName, f.goType())
	}
	s.line("}")
	s.line("")
	recv := "x *" + t.goName
	if len(t.fields) == 0 {
		recv = "*" + t.goName
	}
	section := map[kind]string{plain: "5.2.6", withOptionalFields: "5.2.7", union: "5.2.8"}[t.kind]
	s.line("// AppendBinary appends all fields (Part 6, %s).", section)
	s.line("func (%s) AppendBinary(b []byte) []byte {", recv)
	t.writePuts(s)
	s.line("return b")
	s.line("}")
	s.line("")
	s.line("// DecodeBinary overwrites all fields with what it reads.")
	arg := "r *uabin.Reader"
	if len(t.fields) == 0 && t.kind == plain {
		arg = "*uabin.Reader"
	}
	s.line("func (%s) DecodeBinary(%s) {", recv, arg)
	if t.recursive {
		s.line("if !r.Enter() {")
		s.line("*x = %s{}", t.goName)
		s.line("return")
		s.line("}")
		s.line("defer r.Leave()")
	}
	if quick[t.goName] {
		s.line("if x.decodeQuick(r) {")
		s.line("return")
		s.line("}")
	}
	t.writeGets(s)
	s.line("}")
	s.line("")
	s.line("// DataTypeID is the node of the data type.")
	s.line("func (*%s) DataTypeID() ExpandedNodeID { return %s }", t.goName, nodeLiteral(t.id))
	s.line("")
	if t.binary == 0 {
		s.line("// BinaryID is null: the standard has no encoding node for the type.")
	} else {
		s.line("// BinaryID is the node of the encoding Default Binary.")
	}
	s.line("func (*%s) BinaryID() ExpandedNodeID { return %s }", t.goName, nodeLiteral(t.binary))
}

func (t *structure) writePuts(s *source) {
	switch t.kind {
	case plain:
		for _, f := range t.fields {
			f.writePut(s)
		}
	case withOptionalFields:
		s.line("var mask uint32")
		bit := 0
		for _, f := range t.fields {
			if f.optional {
				s.line("if x.%s != nil {", f.goName)
				s.line("mask |= 0x%X", 1<<bit)
				s.line("}")
				bit++
			}
		}
		s.line("b = uabin.AppendUint32(b, mask)")
		for _, f := range t.fields {
			if f.optional {
				s.line("if x.%s != nil {", f.goName)
			}
			f.writePut(s)
			if f.optional {
				s.line("}")
			}
		}
	case union:
		s.line("b = uabin.AppendUint32(b, x.Switch)")
		s.line("switch x.Switch {")
		for i, f := range t.fields {
			s.line("case %d:", i+1)
			f.writePut(s)
		}
		s.line("}")
	}
}

func (t *structure) writeGets(s *source) {
	switch t.kind {
	case plain:
		for _, f := range t.fields {
			f.writeGet(s)
		}
	case withOptionalFields:
		s.line("mask := r.Uint32()")
		bit := 0
		for _, f := range t.fields {
			if f.optional {
				bit++
			}
		}
		s.line("if mask >= 0x%X {", 1<<bit)
		s.line("r.Fail(%q)", t.name+" with an unknown bit in its mask")
		s.line("}")
		bit = 0
		for _, f := range t.fields {
			if !f.optional {
				f.writeGet(s)
				continue
			}
			if f.array {
				s.line("if mask&0x%X == 0 {", 1<<bit)
				s.line("x.%s = nil", f.goName)
				s.line("} else {")
			} else {
				s.line("if x.%s = nil; mask&0x%X != 0 {", f.goName, 1<<bit)
				s.line("x.%s = new(%s)", f.goName, f.elem())
			}
			f.writeGet(s)
			s.line("}")
			bit++
		}
	case union:
		s.line("*x = %s{Switch: r.Uint32()}", t.goName)
		s.line("switch x.Switch {")
		s.line("case 0:")
		for i, f := range t.fields {
			s.line("case %d:", i+1)
			f.writeGet(s)
		}
		s.line("default:")
		s.line("r.Fail(%q)", t.name+" with an unknown switch")
		s.line("}")
	}
}

// arraySource makes the functions for arrays of built-in types, as far as fields need them.
func arraySource(in *inputs, m *model) *source {
	used := map[string]bool{}
	for _, t := range m.structures {
		for _, f := range t.fields {
			if f.array && f.builtin != nil && !f.byteArray() {
				used[f.builtin.name] = true
			}
		}
	}
	s := in.newSource("ua/arrays_gen.go", "ua", typesFile, nodeSetFile)
	s.line(`import "github.com/actua/actua/ua/uabin"`)
	for i := range builtins {
		f := field{builtin: &builtins[i]}
		if !used[f.builtin.name] {
			continue
		}
		s.line("")
		s.line("func appendArrayOf%s(b []byte, v []%s) []byte {", f.builtin.name, f.elem())
		s.line("b = uabin.AppendLen(b, len(v), v == nil)")
		s.line("for i := range v {")
		s.line("%s", f.put("v[i]"))
		s.line("}")
		s.line("return b")
		s.line("}")
		s.line("")
		s.line("func decodeArrayOf%s(r *uabin.Reader, v []%s) []%s {", f.builtin.name, f.elem(), f.elem())
		s.line("v = uabin.Slice(r, v, %d)", f.size())
		s.line("for i := range v {")
		s.line("%s", f.get("v[i]"))
		s.line("}")
		s.line("return v")
		s.line("}")
	}
	return s
}
