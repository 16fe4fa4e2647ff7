package nodeset

import (
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// appendExtensionObject appends a structure with its type. A structure that nobody knows keeps its
// XML as body.
func (p *parser) appendExtensionObject(b []byte, e *element) ([]byte, error) {
	id, err := p.identifier(e.child("TypeId"))
	if err != nil {
		return b, err
	}
	body := e.child("Body")
	if body == nil || len(body.children) == 0 {
		return append(id.AppendBinary(b), byte(ua.BodyNone)), nil
	}
	inner := body.children[0]
	if inner.name == "ByteString" {
		return p.appendBuiltin(append(id.AppendBinary(b), byte(ua.BodyBinary)), ua.TypeByteString, inner)
	}
	info := p.structure(id)
	if info == nil {
		b = append(id.AppendBinary(b), byte(ua.BodyXML))
		return uabin.AppendBytes(b, append([]byte{}, body.inner...)), nil
	}
	value, err := p.appendStructure(nil, info, inner)
	if err != nil {
		return b, err
	}
	b = append(info.BinaryID.NodeID.AppendBinary(b), byte(ua.BodyBinary))
	return uabin.AppendBytes(b, append([]byte{}, value...)), nil
}

// structure finds the descriptor of a structure by the id of an encoding or of the data type.
func (p *parser) structure(id ua.NodeID) *ua.StructureInfo {
	if p.options.Structure != nil {
		if s := p.options.Structure(id); s != nil {
			return s
		}
	}
	if id.Namespace() != 0 || id.Type() != ua.IDTypeNumeric {
		return nil
	}
	if s := ua.StructureOfEncoding(id.Numeric()); s != nil {
		return s
	}
	return ua.StructureOf(id.Numeric())
}

// appendStructure appends the fields of a structure (Part 6, 5.3.5 to 5.3.7). Absent fields have
// their default; fields of other names are an error.
func (p *parser) appendStructure(b []byte, info *ua.StructureInfo, e *element) ([]byte, error) {
	if e != nil {
		for _, c := range e.children {
			if !hasField(info, c.name) && c.name != "SwitchField" && c.name != "EncodingMask" {
				return b, at(c, fmt.Errorf("%s has no such field", info.Name))
			}
		}
	}
	switch info.Kind {
	case ua.StructureUnion:
		for i := range info.Fields {
			if c := e.child(info.Fields[i].Name); c != nil {
				return p.appendField(uabin.AppendUint32(b, uint32(i+1)), &info.Fields[i], c)
			}
		}
		return uabin.AppendUint32(b, 0), nil
	case ua.StructureWithOptionalFields:
		var mask, bit uint32 = 0, 1
		for i := range info.Fields {
			if f := &info.Fields[i]; f.Optional {
				if e.child(f.Name) != nil {
					mask |= bit
				}
				bit <<= 1
			}
		}
		b = uabin.AppendUint32(b, mask)
	}
	for i := range info.Fields {
		f := &info.Fields[i]
		c := e.child(f.Name)
		if f.Optional && c == nil {
			continue
		}
		var err error
		if b, err = p.appendField(b, f, c); err != nil {
			return b, err
		}
	}
	return b, nil
}

func hasField(info *ua.StructureInfo, name string) bool {
	for i := range info.Fields {
		if info.Fields[i].Name == name {
			return true
		}
	}
	return false
}

func (p *parser) appendField(b []byte, f *ua.Field, e *element) ([]byte, error) {
	one := func(b []byte, e *element) ([]byte, error) {
		if f.Struct != nil {
			return p.appendStructure(b, f.Struct, e)
		}
		return p.appendBuiltin(b, f.Type, e)
	}
	if f.Array {
		return p.appendArray(b, e, one)
	}
	return one(b, e)
}

// appendDataValue appends a mask and what is there (Part 6, 5.3.1.18 and 5.2.2.17).
func (p *parser) appendDataValue(b []byte, e *element) ([]byte, error) {
	fields := []struct {
		name string
		t    ua.BuiltInType
		mask byte
	}{
		{"Value", ua.TypeVariant, 0x01}, {"StatusCode", ua.TypeStatusCode, 0x02},
		{"SourceTimestamp", ua.TypeDateTime, 0x04}, {"SourcePicoseconds", ua.TypeUInt16, 0x10},
		{"ServerTimestamp", ua.TypeDateTime, 0x08}, {"ServerPicoseconds", ua.TypeUInt16, 0x20},
	}
	start := len(b)
	b = append(b, 0)
	for _, f := range fields {
		c := e.child(f.name)
		if c == nil {
			continue
		}
		b[start] |= f.mask
		var err error
		if f.t == ua.TypeVariant && c.child("Value") == nil {
			// The value stands in Value itself, without a Variant's own Value around it.
			var inner *element
			if len(c.children) > 0 {
				inner = c.children[0]
			}
			b, err = p.appendVariant(b, inner)
		} else {
			b, err = p.appendBuiltin(b, f.t, c)
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendDiagnosticInfo appends a mask and what is there (Part 6, 5.3.1.13 and 5.2.2.12).
func (p *parser) appendDiagnosticInfo(b []byte, e *element) ([]byte, error) {
	fields := []struct {
		name string
		t    ua.BuiltInType
		mask ua.DiagnosticMask
	}{
		{"SymbolicId", ua.TypeInt32, ua.DiagnosticSymbolicID},
		{"NamespaceUri", ua.TypeInt32, ua.DiagnosticNamespaceURI},
		{"Locale", ua.TypeInt32, ua.DiagnosticLocale},
		{"LocalizedText", ua.TypeInt32, ua.DiagnosticLocalizedText},
		{"AdditionalInfo", ua.TypeString, ua.DiagnosticAdditionalInfo},
		{"InnerStatusCode", ua.TypeStatusCode, ua.DiagnosticInnerStatusCode},
		{"InnerDiagnosticInfo", ua.TypeDiagnosticInfo, ua.DiagnosticInner},
	}
	start := len(b)
	b = append(b, 0)
	for _, f := range fields {
		c := e.child(f.name)
		if c == nil {
			continue
		}
		b[start] |= byte(f.mask)
		var err error
		if b, err = p.appendBuiltin(b, f.t, c); err != nil {
			return b, err
		}
	}
	return b, nil
}
