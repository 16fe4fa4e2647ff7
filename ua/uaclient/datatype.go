package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// maxSupertypes bounds the way up a type hierarchy, against circles.
const maxSupertypes = 64

// BuiltInType finds the built-in type that values of a data type have in a Variant (Part 6, 5.1.5): it
// follows the supertypes up to namespace 0. Structures are TypeExtensionObject, enumerations
// TypeInt32. Abstract types such as Number and BaseDataType, of which values have one of several
// built-in types, give TypeVariant.
func (c *Client) BuiltInType(ctx context.Context, dataType ua.NodeID) (ua.BuiltInType, error) {
	at := dataType
	for range maxSupertypes {
		if t := knownType(at); t != ua.TypeNull {
			return t, nil
		}
		super := ua.NodeID{}
		for ref, err := range c.References(ctx, at, BrowseOptions{
			Direction: ua.BrowseDirectionInverse, ReferenceType: ua.ID(uaid.HasSubtype),
		}) {
			if err != nil {
				return ua.TypeNull, err
			}
			super = ref.NodeID.NodeID
		}
		if super.IsNull() {
			break
		}
		at = super
	}
	return ua.TypeNull, nodeError("BuiltInType", dataType, reason(ua.BadDataTypeIdUnknown, "no supertype of it is a built-in type"))
}

// knownType is the built-in type of data types that need no browsing, TypeNull for others.
func knownType(id ua.NodeID) ua.BuiltInType {
	if id.Namespace() != 0 || id.Type() != ua.IDTypeNumeric {
		return ua.TypeNull
	}
	switch n := id.Numeric(); n {
	case uaid.BaseDataType, uaid.Number, uaid.Integer, uaid.UInteger:
		return ua.TypeVariant
	case uaid.Enumeration:
		return ua.TypeInt32
	case uaid.Structure:
		return ua.TypeExtensionObject
	default:
		if n >= uint32(ua.TypeBoolean) && n <= uint32(ua.TypeDiagnosticInfo) {
			return ua.BuiltInType(n)
		}
		if e := ua.EnumOf(n); e != nil {
			return e.Type
		}
		if ua.StructureOf(n) != nil {
			return ua.TypeExtensionObject
		}
	}
	return ua.TypeNull
}
