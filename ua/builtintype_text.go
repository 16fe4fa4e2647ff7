package ua

import (
	"fmt"
	"strings"
)

var builtInNames = [...]string{
	TypeNull: "Null", TypeBoolean: "Boolean", TypeSByte: "SByte", TypeByte: "Byte", TypeInt16: "Int16",
	TypeUInt16: "UInt16", TypeInt32: "Int32", TypeUInt32: "UInt32", TypeInt64: "Int64",
	TypeUInt64: "UInt64", TypeFloat: "Float", TypeDouble: "Double", TypeString: "String",
	TypeDateTime: "DateTime", TypeGUID: "Guid", TypeByteString: "ByteString",
	TypeXMLElement: "XmlElement", TypeNodeID: "NodeId", TypeExpandedNodeID: "ExpandedNodeId",
	TypeStatusCode: "StatusCode", TypeQualifiedName: "QualifiedName",
	TypeLocalizedText: "LocalizedText", TypeExtensionObject: "ExtensionObject",
	TypeDataValue: "DataValue", TypeVariant: "Variant", TypeDiagnosticInfo: "DiagnosticInfo",
}

// String is the standard's name of the type, such as "Double" (Part 6, 5.1.2).
func (t BuiltInType) String() string {
	if int(t) < len(builtInNames) {
		return builtInNames[t]
	}
	return fmt.Sprintf("BuiltInType(%d)", uint8(t))
}

// ParseBuiltInType reads the standard's name of a type in upper or lower case. "Structure" is
// ExtensionObject. The error is BadDataTypeIdUnknown.
func ParseBuiltInType(name string) (BuiltInType, error) {
	for t, n := range builtInNames {
		if strings.EqualFold(n, name) {
			return BuiltInType(t), nil
		}
	}
	if strings.EqualFold(name, "Structure") {
		return TypeExtensionObject, nil
	}
	return TypeNull, &textError{BadDataTypeIdUnknown, fmt.Sprintf("%.100q is not the name of a built-in type", name)}
}
