package ua

import (
	"sort"
	"strconv"
	"strings"
)

// Field describes one field of a structure to code that works on structures of any type, such as the
// JSON codec and the readers of XML values (Part 3, 8.51).
type Field struct {
	Name     string         // the standard's name, such as "NodeId"
	Type     BuiltInType    // built-in type of the value; TypeExtensionObject where subtypes are allowed
	Struct   *StructureInfo // of a nested structure of known type, which is encoded inline
	Enum     *EnumInfo      // of an enumeration; Type is TypeInt32
	Array    bool           // a one-dimensional array, encoded with its length in front
	Optional bool           // may be absent; only in structures of kind StructureWithOptionalFields
}

// StructureKind tells how the fields of a structure are encoded (Part 3, 8.49).
type StructureKind uint8

// The kinds of structures.
const (
	StructurePlain              StructureKind = iota // all fields one after the other (Part 6, 5.2.6)
	StructureWithOptionalFields                      // behind a mask (Part 6, 5.2.7)
	StructureUnion                                   // one field, behind its number (Part 6, 5.2.8)
)

// StructureInfo describes a structured data type: how its value is laid out on the wire, in which
// order and under which names. Structures of namespace 0 come with one; users' types may have one.
// It must not be changed once it is in use.
type StructureInfo struct {
	Name       string // the standard's name, such as "ReadValueId"
	DataTypeID ExpandedNodeID
	BinaryID   ExpandedNodeID // encoding "Default Binary"; null if there is none
	XMLID      ExpandedNodeID // encoding "Default XML"; null if there is none
	JSONID     ExpandedNodeID // encoding "Default JSON"; null if there is none
	Kind       StructureKind
	Fields     []Field // those of the base types first
	New        func() Structure
}

// EnumInfo describes an enumeration, or an option set, which is a number whose bits have names.
type EnumInfo struct {
	Name       string // the standard's name, such as "NodeClass"
	DataTypeID ExpandedNodeID
	Type       BuiltInType // TypeInt32; an unsigned type for an option set
	OptionSet  bool        // Values are masks, most of a single bit
	Values     []EnumValue
}

// EnumValue is a named value of an enumeration.
type EnumValue struct {
	Value int64
	Name  string // the standard's name, such as "Object"
}

// ValueName is the standard's name of a value, or "" if it has none.
func (e *EnumInfo) ValueName(value int64) string {
	for i := range e.Values {
		if e.Values[i].Value == value {
			return e.Values[i].Name
		}
	}
	return ""
}

// text renders a value: its name or the number; for an option set, the names of the bits joined by
// '|' with the rest as a number.
func (e *EnumInfo) text(value int64) string {
	if name := e.ValueName(value); name != "" {
		return name
	}
	if !e.OptionSet || value == 0 {
		return strconv.FormatInt(value, 10)
	}
	var names []string
	for _, v := range e.Values {
		if v.Value != 0 && value&v.Value == v.Value {
			names = append(names, v.Name)
			value &^= v.Value
		}
	}
	if value != 0 {
		names = append(names, "0x"+strconv.FormatUint(uint64(value), 16))
	}
	return strings.Join(names, "|")
}

// infoByID is an entry of a table that is sorted by id.
type infoByID struct {
	id   uint32
	info *StructureInfo
}

func findInfo(table []infoByID, id uint32) *StructureInfo {
	i := sort.Search(len(table), func(i int) bool { return table[i].id >= id })
	if i < len(table) && table[i].id == id {
		return table[i].info
	}
	return nil
}

// StructureOf describes the structure of namespace 0 with this data type; nil if there is none.
func StructureOf(dataTypeID uint32) *StructureInfo {
	return findInfo(structuresByDataType[:], dataTypeID)
}

// StructureOfEncoding describes the structure of namespace 0 one of whose encodings, Default Binary,
// XML or JSON, is this node; nil if there is none.
func StructureOfEncoding(encodingID uint32) *StructureInfo {
	return findInfo(structuresByEncoding[:], encodingID)
}

// StructureNamed describes the structure of namespace 0 with the standard's name, such as
// "ReadValueId"; nil if there is none.
func StructureNamed(name string) *StructureInfo {
	i := sort.Search(len(structuresByName), func(i int) bool { return structuresByName[i].Name >= name })
	if i < len(structuresByName) && structuresByName[i].Name == name {
		return structuresByName[i]
	}
	return nil
}

// EnumOf describes the enumeration or option set of namespace 0 with this data type; nil if there is
// none.
func EnumOf(dataTypeID uint32) *EnumInfo {
	i := sort.Search(len(enumsByDataType), func(i int) bool {
		return enumsByDataType[i].DataTypeID.NodeID.numeric >= dataTypeID
	})
	if i < len(enumsByDataType) && enumsByDataType[i].DataTypeID.NodeID.numeric == dataTypeID {
		return enumsByDataType[i]
	}
	return nil
}
