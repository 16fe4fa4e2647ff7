package nodeset

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
)

// Values are read by writing their binary form, field by field as the descriptors of the structures
// say, and decoding that. So there is no code for a particular structure here.

// builtinTypes are the built-in types by the name of their XML element (Part 6, 5.3.1).
var builtinTypes = map[string]ua.BuiltInType{
	"Boolean": ua.TypeBoolean, "SByte": ua.TypeSByte, "Byte": ua.TypeByte,
	"Int16": ua.TypeInt16, "UInt16": ua.TypeUInt16, "Int32": ua.TypeInt32, "UInt32": ua.TypeUInt32,
	"Int64": ua.TypeInt64, "UInt64": ua.TypeUInt64, "Float": ua.TypeFloat, "Double": ua.TypeDouble,
	"String": ua.TypeString, "DateTime": ua.TypeDateTime, "Guid": ua.TypeGUID,
	"ByteString": ua.TypeByteString, "XmlElement": ua.TypeXMLElement, "NodeId": ua.TypeNodeID,
	"ExpandedNodeId": ua.TypeExpandedNodeID, "StatusCode": ua.TypeStatusCode,
	"QualifiedName": ua.TypeQualifiedName, "LocalizedText": ua.TypeLocalizedText,
	"ExtensionObject": ua.TypeExtensionObject, "DataValue": ua.TypeDataValue,
	"Variant": ua.TypeVariant, "DiagnosticInfo": ua.TypeDiagnosticInfo,
}

const (
	variantArray = 0x80
	variantDims  = 0x40
)

// at adds the line of an element to an error that has none.
func at(e *element, err error) error {
	if err == nil || e == nil {
		return err
	}
	if _, ok := err.(*lineError); ok {
		return err
	}
	return &lineError{e.line, fmt.Errorf("%s: %w", e.name, err)}
}

type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

// DecodeValue is the value of a variable or variable type of a file that was read with LaterValues. The
// options' Structure and Types are asked now. Errors are of type *Error.
func (s *Set) DecodeValue(n *Node) (ua.Variant, error) {
	if n.value == nil {
		return n.Value, nil
	}
	v, err := s.parser.variant(n.value)
	if err != nil {
		return v, wrap(n.Line, n.Label, at(n.value, err))
	}
	return v, nil
}

// variant reads the element inside a Value.
func (p *parser) variant(e *element) (ua.Variant, error) {
	b, err := p.appendVariant(nil, e)
	if err != nil {
		return ua.Variant{}, err
	}
	r := uabin.NewReader(b)
	if p.options.Types != nil {
		r.Types = p.options.Types
	}
	var v ua.Variant
	if v.DecodeBinary(r); r.Err() != nil {
		return v, at(e, r.Err())
	}
	return v, nil
}

// appendVariant appends a value with its type (Part 6, 5.3.1.17); e is its element.
func (p *parser) appendVariant(b []byte, e *element) ([]byte, error) {
	if e == nil {
		return append(b, 0), nil
	}
	if t, ok := builtinTypes[e.name]; ok {
		if t == ua.TypeVariant { // a scalar Variant is what it holds
			return p.appendBuiltin(b, t, e)
		}
		return p.appendBuiltin(append(b, byte(t)), t, e)
	}
	if name, ok := strings.CutPrefix(e.name, "ListOf"); ok {
		if t, ok := builtinTypes[name]; ok {
			return p.appendArray(append(b, byte(t)|variantArray), e, func(b []byte, e *element) ([]byte, error) {
				return p.appendBuiltin(b, t, e)
			})
		}
	}
	if e.name == "Matrix" {
		return p.appendMatrix(b, e)
	}
	// A structure without the ExtensionObject around it, as some tools write it.
	return b, at(e, fmt.Errorf("not the name of a built-in type"))
}

func (p *parser) appendMatrix(b []byte, e *element) ([]byte, error) {
	elems, dims := e.child("Elements"), e.child("Dimensions")
	if elems == nil || dims == nil || len(elems.children) == 0 {
		return b, at(e, fmt.Errorf("a matrix needs Dimensions and Elements"))
	}
	t, ok := builtinTypes[elems.children[0].name]
	if !ok {
		return b, at(elems, fmt.Errorf("%s is not a built-in type", elems.children[0].name))
	}
	b, err := p.appendArray(append(b, byte(t)|variantArray|variantDims), elems, func(b []byte, e *element) ([]byte, error) {
		return p.appendBuiltin(b, t, e)
	})
	if err != nil {
		return b, err
	}
	return p.appendArray(b, dims, func(b []byte, e *element) ([]byte, error) {
		return p.appendBuiltin(b, ua.TypeUInt32, e)
	})
}

// appendArray appends the children of e with their number in front; null if e is absent.
func (p *parser) appendArray(b []byte, e *element, each func([]byte, *element) ([]byte, error)) ([]byte, error) {
	if e.isNil() {
		return uabin.AppendInt32(b, -1), nil
	}
	b = uabin.AppendInt32(b, int32(len(e.children)))
	for _, c := range e.children {
		var err error
		if b, err = each(b, c); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendBuiltin appends the value of a built-in type; an absent element is its default.
func (p *parser) appendBuiltin(b []byte, t ua.BuiltInType, e *element) ([]byte, error) {
	out, err := p.builtin(b, t, e)
	return out, at(e, err)
}

func (p *parser) builtin(b []byte, t ua.BuiltInType, e *element) ([]byte, error) {
	text := ""
	if e != nil {
		text = strings.TrimSpace(e.text)
	}
	switch t {
	case ua.TypeBoolean:
		v, err := parseBool(text)
		return uabin.AppendBool(b, v), err
	case ua.TypeSByte:
		v, err := parseInt(text, 8)
		return uabin.AppendInt8(b, int8(v)), err
	case ua.TypeByte:
		v, err := parseUint(text, 8)
		return uabin.AppendUint8(b, uint8(v)), err
	case ua.TypeInt16:
		v, err := parseInt(text, 16)
		return uabin.AppendInt16(b, int16(v)), err
	case ua.TypeUInt16:
		v, err := parseUint(text, 16)
		return uabin.AppendUint16(b, uint16(v)), err
	case ua.TypeInt32:
		// An enumeration is written as Name_1 (Part 6, 5.3.2).
		v, err := parseInt(text[strings.LastIndexByte(text, '_')+1:], 32)
		return uabin.AppendInt32(b, int32(v)), err
	case ua.TypeUInt32:
		v, err := parseUint(text, 32)
		return uabin.AppendUint32(b, uint32(v)), err
	case ua.TypeInt64:
		v, err := parseInt(text, 64)
		return uabin.AppendInt64(b, v), err
	case ua.TypeUInt64:
		v, err := parseUint(text, 64)
		return uabin.AppendUint64(b, v), err
	case ua.TypeFloat:
		v, err := parseFloat(text, 32)
		return uabin.AppendFloat32(b, float32(v)), err
	case ua.TypeDouble:
		v, err := parseFloat(text, 64)
		return uabin.AppendFloat64(b, v), err
	case ua.TypeString:
		return appendText(b, e), nil
	case ua.TypeXMLElement:
		if e.isNil() {
			return uabin.AppendInt32(b, -1), nil
		}
		return uabin.AppendBytes(b, append([]byte{}, e.inner...)), nil
	case ua.TypeDateTime:
		v, err := parseTime(text)
		return v.AppendBinary(b), err
	case ua.TypeGUID:
		if s := e.child("String"); s != nil && strings.TrimSpace(s.text) != "" {
			v, err := ua.ParseGUID(strings.TrimSpace(s.text))
			return v.AppendBinary(b), err
		}
		return ua.GUID{}.AppendBinary(b), nil
	case ua.TypeByteString:
		if e.isNil() {
			return uabin.AppendInt32(b, -1), nil
		}
		v, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		return uabin.AppendBytes(b, append([]byte{}, v...)), err
	case ua.TypeNodeID:
		id, err := p.identifier(e)
		return id.AppendBinary(b), err
	case ua.TypeExpandedNodeID:
		id, err := p.expanded(e)
		return id.AppendBinary(b), err
	case ua.TypeStatusCode:
		v := uint64(0)
		var err error
		if c := e.child("Code"); c != nil {
			v, err = parseUint(strings.TrimSpace(c.text), 32)
		}
		return uabin.AppendUint32(b, uint32(v)), err
	case ua.TypeQualifiedName:
		return p.appendQualifiedName(b, e)
	case ua.TypeLocalizedText:
		return localizedText(e).AppendBinary(b), nil
	case ua.TypeExtensionObject:
		return p.appendExtensionObject(b, e)
	case ua.TypeDataValue:
		return p.appendDataValue(b, e)
	case ua.TypeVariant:
		if v := e.child("Value"); v != nil && len(v.children) > 0 {
			return p.appendVariant(b, v.children[0])
		}
		return append(b, 0), nil
	case ua.TypeDiagnosticInfo:
		return p.appendDiagnosticInfo(b, e)
	}
	return b, fmt.Errorf("not a built-in type")
}
