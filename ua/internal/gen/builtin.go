package main

// A builtin is a built-in type: how its values are named, written and read in Go. In put, %s is the
// value; in get, an empty string stands for a method DecodeBinary of the value.
type builtin struct {
	name     string // of the standard
	constant string // of package ua
	goType   string
	size     int // least bytes on the wire
	put, get string
}

// builtins stands in the order of their numbers (Part 6, 5.1.2).
var builtins = []builtin{
	{"Boolean", "TypeBoolean", "bool", 1, "uabin.AppendBool(b, %s)", "r.Bool()"},
	{"SByte", "TypeSByte", "int8", 1, "uabin.AppendInt8(b, %s)", "r.Int8()"},
	{"Byte", "TypeByte", "uint8", 1, "append(b, %s)", "r.Uint8()"},
	{"Int16", "TypeInt16", "int16", 2, "uabin.AppendInt16(b, %s)", "r.Int16()"},
	{"UInt16", "TypeUInt16", "uint16", 2, "uabin.AppendUint16(b, %s)", "r.Uint16()"},
	{"Int32", "TypeInt32", "int32", 4, "uabin.AppendInt32(b, %s)", "r.Int32()"},
	{"UInt32", "TypeUInt32", "uint32", 4, "uabin.AppendUint32(b, %s)", "r.Uint32()"},
	{"Int64", "TypeInt64", "int64", 8, "uabin.AppendInt64(b, %s)", "r.Int64()"},
	{"UInt64", "TypeUInt64", "uint64", 8, "uabin.AppendUint64(b, %s)", "r.Uint64()"},
	{"Float", "TypeFloat", "float32", 4, "uabin.AppendFloat32(b, %s)", "r.Float32()"},
	{"Double", "TypeDouble", "float64", 8, "uabin.AppendFloat64(b, %s)", "r.Float64()"},
	{"String", "TypeString", "string", 4, "uabin.AppendString(b, %s)", "r.String()"},
	{"DateTime", "TypeDateTime", "DateTime", 8, "%s.AppendBinary(b)", ""},
	{"Guid", "TypeGUID", "GUID", 16, "%s.AppendBinary(b)", ""},
	{"ByteString", "TypeByteString", "[]byte", 4, "uabin.AppendBytes(b, %s)", "r.Bytes(%s)"},
	{"XmlElement", "TypeXMLElement", "XMLElement", 4, "uabin.AppendString(b, string(%s))", "XMLElement(r.String())"},
	{"NodeId", "TypeNodeID", "NodeID", 2, "%s.AppendBinary(b)", ""},
	{"ExpandedNodeId", "TypeExpandedNodeID", "ExpandedNodeID", 2, "%s.AppendBinary(b)", ""},
	{"StatusCode", "TypeStatusCode", "StatusCode", 4, "uabin.AppendUint32(b, uint32(%s))", "StatusCode(r.Uint32())"},
	{"QualifiedName", "TypeQualifiedName", "QualifiedName", 6, "%s.AppendBinary(b)", ""},
	{"LocalizedText", "TypeLocalizedText", "LocalizedText", 1, "%s.AppendBinary(b)", ""},
	{"ExtensionObject", "TypeExtensionObject", "ExtensionObject", 3, "%s.AppendBinary(b)", ""},
	{"DataValue", "TypeDataValue", "DataValue", 1, "%s.AppendBinary(b)", ""},
	{"Variant", "TypeVariant", "Variant", 1, "%s.AppendBinary(b)", ""},
	{"DiagnosticInfo", "TypeDiagnosticInfo", "DiagnosticInfo", 1, "%s.AppendBinary(b)", ""},
}

func builtinNamed(name string) *builtin {
	if name == "CharArray" {
		name = "String"
	}
	for i := range builtins {
		if builtins[i].name == name {
			return &builtins[i]
		}
	}
	return nil
}
