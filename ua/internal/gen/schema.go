package main

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// The XML of the type dictionary, as far as it is needed.
type bsdDictionary struct {
	Opaque     []bsdType `xml:"OpaqueType"`
	Enums      []bsdType `xml:"EnumeratedType"`
	Structures []bsdType `xml:"StructuredType"`
}

type bsdType struct {
	Name          string     `xml:",attr"`
	BaseType      string     `xml:",attr"`
	LengthInBits  int        `xml:",attr"`
	IsOptionSet   bool       `xml:",attr"`
	Documentation string     `xml:"Documentation"`
	Fields        []bsdField `xml:"Field"`
	Values        []bsdField `xml:"EnumeratedValue"`
}

type bsdField struct {
	Name          string `xml:",attr"`
	TypeName      string `xml:",attr"`
	LengthField   string `xml:",attr"`
	SwitchField   string `xml:",attr"`
	SwitchValue   string `xml:",attr"`
	Value         uint64 `xml:",attr"`
	Documentation string `xml:"Documentation"`
}

// The XML of the NodeSet, as far as it is needed.
type nodeSet struct {
	Nodes []*setNode `xml:",any"`
}

// setNode is a node of the NodeSet; other elements are read as one too, and have no NodeId.
type setNode struct {
	XMLName       xml.Name
	NodeID        string      `xml:"NodeId,attr"`
	BrowseName    string      `xml:",attr"`
	SymbolicName  string      `xml:",attr"`
	ParentNodeID  string      `xml:"ParentNodeId,attr"`
	IsAbstract    bool        `xml:",attr"`
	Description   string      `xml:"Description"`
	Documentation string      `xml:"Documentation"`
	References    []reference `xml:"References>Reference"`
	Definition    *definition `xml:"Definition"`
	id            uint32
	base          *setNode // of a data type
}

type reference struct {
	Type      string `xml:"ReferenceType,attr"`
	IsForward string `xml:",attr"`
	Target    string `xml:",chardata"`
}

type definition struct {
	IsUnion     bool              `xml:",attr"`
	IsOptionSet bool              `xml:",attr"`
	Fields      []definitionField `xml:"Field"`
}

type definitionField struct {
	Name          string `xml:",attr"`
	DataType      string `xml:",attr"`
	ValueRank     *int   `xml:",attr"`
	Value         uint64 `xml:",attr"`
	IsOptional    bool   `xml:",attr"`
	AllowSubTypes bool   `xml:",attr"`
	Description   string `xml:"Description"`
}

// class is the node class, "" for an element that is no node.
func (d *setNode) class() string {
	class, _ := strings.CutPrefix(d.XMLName.Local, "UA")
	if d.NodeID == "" {
		return ""
	}
	return class
}

// name is the name that the schema files use, which may begin with no digit.
func (d *setNode) name() string {
	if d.SymbolicName != "" {
		return d.SymbolicName
	}
	return d.BrowseName
}

// is reports whether d is the data type with this id or one of its subtypes.
func (d *setNode) is(id uint32) bool {
	for ; d != nil; d = d.base {
		if d.id == id {
			return true
		}
	}
	return false
}

func nodeNumber(s string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "i="), 10, 32)
	return uint32(n), err
}

// Data types that the generator must know (Part 6, A.3).
const (
	idStructure    = 22
	idBaseDataType = 24
	idNumber       = 26
	idEnumeration  = 29
	idUnion        = 12756
)
