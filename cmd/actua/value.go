package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// appendJSONValue writes the Compact form with NodeIds by index, as NODE arguments have it.
func appendJSONValue(b []byte, v ua.Variant) []byte { return new(ua.JSONOptions).AppendValue(b, v) }

// readKnown reads attributes; structures whose types are not known yet are read again once their
// descriptions were loaded from the server.
func readKnown(ctx context.Context, c *uaclient.Client, items []ua.ReadValueID) ([]ua.DataValue, error) {
	values, err := c.ReadAttributes(ctx, items)
	if err != nil {
		return nil, err
	}
	if added, err := c.LoadTypes(ctx, values...); err != nil || added == 0 {
		return values, err
	}
	return c.ReadAttributes(ctx, items)
}

// typeName is the built-in type of a value with its dimensions, "" for null.
func typeName(v ua.Variant) string {
	if v.Type() == ua.TypeNull {
		return ""
	}
	return v.Type().String() + brackets(len(v.Dimensions()))
}

// maxShownDimensions keeps the text of a type short, whatever ValueRank a server sends.
const maxShownDimensions = 16

// brackets are the dimensions of a type: "", "[]", "[,]".
func brackets(dimensions int) string {
	if dimensions == 0 {
		return ""
	}
	if dimensions > maxShownDimensions {
		return fmt.Sprintf("[%d dimensions]", dimensions)
	}
	return "[" + strings.Repeat(",", dimensions-1) + "]"
}

// longest is how many characters of a value people get to see.
const longest = 2000

// valueText is a value for people.
func valueText(v ua.Variant) string {
	if v.IsNull() {
		return "-"
	}
	if text, ok := argumentsText(v); ok {
		return text
	}
	switch x := v.Structure().(type) {
	case *ua.EUInformation:
		return clean(x.DisplayName.Text)
	case *ua.Range:
		return fmt.Sprintf("%g to %g", x.Low, x.High)
	}
	return shorten(clean(v.String()), longest)
}

// argumentsText shows the descriptions of a method's arguments as people write them.
func argumentsText(v ua.Variant) (string, bool) {
	list, _ := ua.ArrayOf[ua.ExtensionObject](v)
	var names []string
	for i := range list {
		a, ok := list[i].Value.(*ua.Argument)
		if !ok {
			return "", false
		}
		names = append(names, argumentText(a))
	}
	return "(" + strings.Join(names, ", ") + ")", len(names) > 0
}

func argumentText(a *ua.Argument) string {
	name := dataTypeName(a.DataType)
	if name == "" {
		name = a.DataType.String()
	}
	return clean(a.Name) + " " + clean(name) + brackets(int(max(a.ValueRank, 0)))
}

// attributeText shows attributes that are numbers by their names.
func attributeText(id ua.AttributeID, v ua.Variant) string {
	switch id {
	case ua.AttributeDisplayName, ua.AttributeDescription, ua.AttributeInverseName, ua.AttributeBrowseName:
		if text := clean(v.Str()); text != "" && id != ua.AttributeBrowseName {
			return text
		}
		if v.Str() == "" {
			return "-"
		}
	case ua.AttributeNodeClass:
		if v.Type() == ua.TypeInt32 {
			return ua.NodeClass(v.Int()).String()
		}
	case ua.AttributeAccessLevel, ua.AttributeUserAccessLevel:
		if v.Type() == ua.TypeByte {
			return ua.AccessLevelType(v.Uint()).String()
		}
	case ua.AttributeDataType:
		if n := v.NodeID(); n.Namespace() == 0 {
			if name := dataTypeName(n); name != "" {
				return name + " (" + n.String() + ")"
			}
		}
	}
	return valueText(v)
}

// dataTypeName is the standard's name of a data type of namespace 0, or "".
func dataTypeName(id ua.NodeID) string {
	n := id.Numeric()
	if id.Namespace() != 0 || id.Type() != ua.IDTypeNumeric {
		return ""
	}
	if n > 0 && n <= uint32(ua.TypeDiagnosticInfo) {
		return ua.BuiltInType(n).String()
	}
	if s := ua.StructureOf(n); s != nil {
		return s.Name
	}
	if e := ua.EnumOf(n); e != nil {
		return e.Name
	}
	return ""
}

// valueType is what a text is to be parsed as.
type valueType struct {
	builtIn ua.BuiltInType
	rank    int               // ValueRank (Part 3, 5.6.2)
	info    *ua.StructureInfo // of a structure whose type is known; may be nil
	types   *ua.TypeTable
}

func (t valueType) String() string {
	if t.info != nil {
		return t.info.Name + brackets(max(t.rank, 0))
	}
	return t.builtIn.String() + brackets(max(t.rank, 0))
}

// Value ranks of the standard (Part 3, 5.6.2).
const (
	rankScalar = -1
	rankAny    = -2
)

// parseType reads --type, such as Double, Int32[] or Int16[,].
func parseType(text string) (valueType, error) {
	name, dims, isArray := strings.Cut(text, "[")
	t := valueType{rank: rankScalar}
	if isArray {
		inner, closed := strings.CutSuffix(dims, "]")
		if !closed || strings.Trim(inner, ",") != "" {
			return t, usage("--type %s is no type; arrays are written Int32[] and Int32[,]", text)
		}
		t.rank = len(inner) + 1
	}
	var err error
	if t.builtIn, err = ua.ParseBuiltInType(name); err == nil && t.builtIn != ua.TypeNull {
		return t, nil
	}
	var names []string
	for b := ua.TypeBoolean; b <= ua.TypeDiagnosticInfo; b++ {
		names = append(names, b.String())
	}
	return t, usage("--type %s is no built-in type%s", text, didYouMean(name, names))
}

// typeOfNode asks the server what a node's value is: its data type and rank, and for abstract types
// the value that it has now.
func typeOfNode(ctx context.Context, c *uaclient.Client, node ua.NodeID) (valueType, error) {
	var items []ua.ReadValueID
	for _, at := range []ua.AttributeID{ua.AttributeDataType, ua.AttributeValueRank, ua.AttributeValue} {
		items = append(items, ua.ReadValueID{NodeID: node, AttributeID: uint32(at)})
	}
	read, err := c.ReadAttributes(ctx, items)
	if err != nil {
		return valueType{}, err
	}
	if read[0].Status.IsBad() {
		return valueType{}, &uaclient.Error{Step: uaclient.StepService, Op: "Write", Node: node.String(), Err: read[0].Status}
	}
	rank := rankAny
	if read[1].Value.Type() == ua.TypeInt32 {
		rank = int(read[1].Value.Int())
	}
	t, err := typeOf(ctx, c, read[0].Value.NodeID(), rank)
	if now := read[2].Value; t.builtIn == ua.TypeVariant && now.Type() != ua.TypeNull {
		t.builtIn = now.Type()
	}
	if err == nil && t.builtIn == ua.TypeVariant && t.rank < 0 {
		return t, usage("node %v may hold values of any type: say which with --type", node)
	}
	return t, err
}

// typeOf finds the built-in type of a data type, and its description where it is a structure.
func typeOf(ctx context.Context, c *uaclient.Client, dataType ua.NodeID, rank int) (t valueType, err error) {
	t.rank, t.types = rank, c.Types()
	if t.builtIn, err = c.BuiltInType(ctx, dataType); err != nil || t.builtIn != ua.TypeExtensionObject {
		return t, err
	}
	// Without a description the text has to name the type itself.
	if info, err := c.LoadDataType(ctx, dataType); err == nil {
		t.info = info
	}
	return t, nil
}

// parseValue reads VALUE: plain text for scalars, JSON for arrays and structures. What "read --json"
// printed is read back as it is.
func parseValue(what, text string, t valueType) (ua.Variant, error) {
	v, err := decodeValue(text, t)
	if err != nil {
		return v, usage("%s as %v: %s", what, t, why(err))
	}
	return v, nil
}

func decodeValue(text string, t valueType) (ua.Variant, error) {
	json := strings.TrimSpace(text)
	form := &ua.JSONOptions{Types: t.types}
	if t.rank >= 0 || !hasText(t.builtIn) || t.rank != rankScalar && strings.HasPrefix(json, "[") || json == "null" && t.builtIn != ua.TypeString {
		return form.DecodeValue([]byte(json), t.builtIn, t.info, t.rank)
	}
	// A string in quotes and an object are the forms in which "read --json" prints scalars.
	quoted := len(json) > 1 && strings.HasPrefix(json, `"`) && strings.HasSuffix(json, `"`)
	object := strings.HasPrefix(json, "{") && t.builtIn != ua.TypeString && t.builtIn != ua.TypeXMLElement
	if quoted || object {
		if v, err := form.DecodeValue([]byte(json), t.builtIn, nil, t.rank); err == nil {
			return v, nil
		}
	}
	return ua.ParseVariant(t.builtIn, text)
}

// hasText reports whether scalars of the type have a plain text form.
func hasText(t ua.BuiltInType) bool {
	switch t {
	case ua.TypeExtensionObject, ua.TypeDataValue, ua.TypeVariant, ua.TypeDiagnosticInfo:
		return false
	}
	return true
}

func lower(s string) string { return strings.ToLower(s) }
