package memspace

import (
	"sync/atomic"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// typeInfo is what only types have.
type typeInfo struct {
	super      atomic.Pointer[Node] // what the type is a subtype of
	kind       kind                 // of a reference type
	abstract   bool
	symmetric  bool
	inverse    ua.LocalizedText  // InverseName of a reference type
	definition ua.Variant        // DataTypeDefinition
	encoded    []byte            // definition as a binary Variant, of namespace 0
	structure  *ua.StructureInfo // of a structure; nil for those of package ua, and when nobody described it
}

// info is the node's typeInfo; nil when it is not a type.
func (n *Node) info() *typeInfo {
	switch ua.NodeClass(n.class) {
	case ua.NodeClassObjectType, ua.NodeClassVariableType, ua.NodeClassReferenceType, ua.NodeClassDataType:
		return n.more.typ
	}
	return nil
}

// deepest is how many supertypes a type may have; a circle ends there too.
const deepest = 100

// isSubtype reports whether t is super or derived from it.
func isSubtype(t, super *Node) bool {
	for range deepest {
		if t == super {
			return t != nil
		}
		if t == nil || t.info() == nil {
			return false
		}
		t = t.info().super.Load()
	}
	return false
}

// IsSubtype implements uaserver.TypeTree: it reports whether a type is the same as super or derived
// from it by HasSubtype (Part 3, 7.10). It is false when one of them is not known.
func (s *Space) IsSubtype(t, super ua.NodeID) bool {
	n := s.nodes.find(t)
	return n != nil && n.info() != nil && isSubtype(n, s.nodes.find(super))
}

// typeSet is a set of built-in types, as bits.
type typeSet uint32

func setOf(types ...ua.BuiltInType) (s typeSet) {
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

func (s typeSet) has(t ua.BuiltInType) bool { return s&(1<<t) != 0 }

var (
	anyType  = ^setOf(ua.TypeNull)
	signed   = setOf(ua.TypeSByte, ua.TypeInt16, ua.TypeInt32, ua.TypeInt64)
	unsigned = setOf(ua.TypeByte, ua.TypeUInt16, ua.TypeUInt32, ua.TypeUInt64)
	numbers  = signed | unsigned | setOf(ua.TypeFloat, ua.TypeDouble)
)

// decimal is the data type Decimal, a number that is encoded as an ExtensionObject (Part 6, 5.1.10).
const decimal = 50

// builtIn says which built-in types a value of a data type may have: the one that it is derived from,
// or several for an abstract one (Part 3, 8.2 to 8.40). A type that is not known accepts all.
func builtIn(dataType *Node) typeSet {
	for range deepest {
		if dataType == nil || dataType.info() == nil {
			break
		}
		if id := dataType.id; id.Namespace() == 0 && id.Type() == ua.IDTypeNumeric {
			switch n := id.Numeric(); n {
			case uaid.BaseDataType:
				return anyType
			case uaid.Number:
				return numbers
			case uaid.Integer:
				return signed
			case uaid.UInteger:
				return unsigned
			case uaid.Enumeration:
				return setOf(ua.TypeInt32)
			case decimal:
				return setOf(ua.TypeExtensionObject)
			default:
				if n <= uint32(ua.TypeDiagnosticInfo) {
					return setOf(ua.BuiltInType(n))
				}
			}
		}
		dataType = dataType.info().super.Load()
	}
	return anyType
}

// definitionOf is the DataTypeDefinition of a data type (Part 3, 5.8.3); null if there is none.
func (t *typeInfo) definitionOf() (v ua.Variant) {
	if t.encoded == nil {
		return t.definition
	}
	return decode(t.encoded)
}

func decode(b []byte) (v ua.Variant) {
	r := uabin.NewReader(b)
	v.DecodeBinary(r)
	return v
}

// dataTypeOf finds the data type of a structure: that of its Go type, or of its encoding node.
func (s *Space) dataTypeOf(e *ua.ExtensionObject) *Node {
	if e.Value != nil {
		id := e.Value.DataTypeID()
		if id.NamespaceURI != "" {
			i, ok := s.index(id.NamespaceURI)
			if !ok {
				return nil
			}
			id.NodeID = id.NodeID.WithNamespace(i)
		}
		return s.nodes.find(id.NodeID)
	}
	var found *Node
	if n := s.nodes.find(e.TypeID); n != nil {
		n.eachOf(inverse, 0, func(r ref) bool {
			if r.kind() == s.known.hasEncoding {
				found = r.target
			}
			return found == nil
		})
	}
	return found
}

// index is the namespace index of one of the Space's URIs.
func (s *Space) index(uri string) (uint16, bool) {
	if uri == uaserver.NamespaceURI0 {
		return 0, true
	}
	for i, u := range *s.uris.Load() {
		if u == uri {
			return (*s.indexes.Load())[i], true
		}
	}
	return 0, false
}
