package main

import (
	"fmt"
	"strings"
)

// fieldName is the Go name of a field. DataTypeID is a method of every structure.
func fieldName(name string) string {
	if name == "DataTypeId" {
		return "DataType"
	}
	return goName(name)
}

// bsdFields adds the fields as the type dictionary has them: with those of the base types in front.
func (b *builder) bsdFields(s *structure, t bsdType) error {
	lengths := map[string]bool{}
	for _, f := range t.Fields {
		if f.LengthField != "" {
			lengths[f.LengthField] = true
		}
	}
	docs := map[string]string{}
	for d := b.dataTypes[t.Name]; d != nil; d = d.base {
		if d.Definition != nil {
			for _, f := range d.Definition.Fields {
				docs[f.Name] = f.Description
			}
		}
	}
	for _, f := range t.Fields {
		if lengths[f.Name] {
			continue
		}
		if f.SwitchField != "" || f.TypeName == "opc:Bit" {
			return fmt.Errorf("field %s: bits and switches are not known here", f.Name)
		}
		_, name, _ := strings.Cut(f.TypeName, ":")
		var out field
		switch {
		case builtinNamed(name) != nil:
			out.builtin = builtinNamed(name)
		case b.enums[name] != nil:
			out.enum = b.enums[name]
		case b.structures[name] != nil:
			out.structure = b.structures[name]
		case b.dataTypes[name] != nil:
			var err error
			if out, err = b.typeOf(b.dataTypes[name]); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		default:
			return fmt.Errorf("field %s has the unknown type %s", f.Name, f.TypeName)
		}
		out.name, out.goName = f.Name, fieldName(f.Name)
		out.array = f.LengthField != ""
		if out.doc = f.Documentation; out.doc == "" {
			out.doc = docs[f.Name]
		}
		s.fields = append(s.fields, out)
	}
	return nil
}

// typeOf is the type of a field whose data type is d.
func (b *builder) typeOf(d *setNode) (field, error) {
	for ; d != nil; d = d.base {
		switch {
		case b.enums[d.name()] != nil:
			return field{enum: b.enums[d.name()]}, nil
		case b.structures[d.name()] != nil:
			if d.IsAbstract {
				return field{builtin: builtinNamed("ExtensionObject")}, nil
			}
			return field{structure: b.structures[d.name()]}, nil
		case d.id == idStructure || d.id == idUnion:
			return field{builtin: builtinNamed("ExtensionObject")}, nil
		case d.id == idEnumeration:
			return field{builtin: builtinNamed("Int32")}, nil
		case d.id == idBaseDataType || d.id >= idNumber && d.id < idEnumeration:
			return field{builtin: builtinNamed("Variant")}, nil
		case int(d.id) <= len(builtins):
			return field{builtin: &builtins[d.id-1]}, nil
		}
	}
	return field{}, fmt.Errorf("a data type that is no subtype of a built-in type")
}

// definedFields adds the fields of a Definition of the NodeSet, those of the base types in front.
func (b *builder) definedFields(s *structure, d *setNode) error {
	if d.base != nil && d.base.Definition != nil && d.base.id != idStructure {
		if err := b.definedFields(s, d.base); err != nil {
			return err
		}
	}
	for _, f := range d.Definition.Fields {
		id, err := uint32(idBaseDataType), error(nil)
		if f.DataType != "" {
			if id, err = nodeNumber(f.DataType); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
		out, err := b.typeOf(b.byID[id])
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if f.AllowSubTypes {
			out = field{builtin: builtinNamed("ExtensionObject")}
		}
		if f.ValueRank != nil && *f.ValueRank > 1 {
			return fmt.Errorf("field %s is an array of several dimensions", f.Name)
		}
		out.name, out.goName, out.doc = f.Name, fieldName(f.Name), f.Description
		out.array = f.ValueRank != nil && *f.ValueRank == 1
		if out.optional = f.IsOptional; f.IsOptional {
			s.kind = withOptionalFields
		}
		s.fields = append(s.fields, out)
	}
	if d.Definition.IsUnion {
		s.kind = union
	}
	return nil
}
