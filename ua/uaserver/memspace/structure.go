package memspace

import (
	"fmt"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// AddStructure adds the data type of a structure with its DataTypeDefinition and the node of its
// encoding "Default Binary" (Part 3, 5.8.3 and 5.8.4). The server then decodes such structures in what
// clients write. The ids in info are in a namespace of the Space, given by its URI. Without New values
// are ua.DynamicStructures.
func (s *Space) AddStructure(info *ua.StructureInfo, options ...Option) *Node {
	id, known := s.local(info.DataTypeID)
	encoding, known2 := s.local(info.BinaryID)
	def := &ua.StructureDefinition{DefaultEncodingID: encoding, BaseDataType: ua.ID(uaid.Structure)}
	super := s.zero(uaid.Structure)
	var err error
	switch info.Kind {
	case ua.StructureWithOptionalFields:
		def.StructureType = ua.StructureTypeStructureWithOptionalFields
	case ua.StructureUnion:
		def.StructureType, super = ua.StructureTypeUnion, s.zero(uaid.Union)
		def.BaseDataType = super.id
	}
	for _, f := range info.Fields {
		field := ua.StructureField{Name: f.Name, DataType: ua.ID(uint32(f.Type)), ValueRank: RankScalar, IsOptional: f.Optional}
		if f.Array {
			field.ValueRank = 1
		}
		of := ua.ExpandedNodeID{}
		switch {
		case f.Struct != nil:
			of = f.Struct.DataTypeID
		case f.Enum != nil:
			of = f.Enum.DataTypeID
		}
		if !of.IsNull() {
			var ok bool
			if field.DataType, ok = s.local(of); !ok {
				err = fmt.Errorf("field %s: no namespace %q: %w", f.Name, of.NamespaceURI, ua.BadDataTypeIdUnknown)
			}
		}
		def.Fields = append(def.Fields, field)
	}
	if !known || !known2 {
		err = fmt.Errorf("the ids of %s are in no namespace of the Space: %w", info.Name, ua.BadNodeIdRejected)
	}
	options = append([]Option{WithNodeID(id), WithDefinition(def), failing(err)}, options...)
	n := s.AddType(super, info.Name, options...)
	if n.Err() != nil {
		return n
	}
	s.AddObject(n, "Default Binary", WithNodeID(encoding), WithBrowseName(ua.QualifiedName{Name: "Default Binary"}),
		WithReference(ua.ID(uaid.HasEncoding)), WithTypeDefinition(ua.ID(uaid.DataTypeEncodingType)))
	f := info.New
	if f == nil {
		f = func() ua.Structure { return ua.NewDynamicStructure(info) }
	}
	s.mu.Lock()
	n.more.typ.structure = info
	s.types = append(s.types, f)
	s.mu.Unlock()
	if server := s.server.Load(); server != nil {
		server.Types().Register(f)
	}
	return n
}

// AddEnumeration adds an enumeration whose values are 0, 1 and so on, with these names: the data type,
// its EnumDefinition and the property EnumStrings (Part 3, 5.8.3).
func (s *Space) AddEnumeration(name string, values []string, options ...Option) *Node {
	def := new(ua.EnumDefinition)
	for i, v := range values {
		def.Fields = append(def.Fields, ua.EnumField{Value: int64(i), DisplayName: ua.Text(v), Name: v})
	}
	n := s.AddType(s.zero(uaid.Enumeration), name, append([]Option{WithDefinition(def)}, options...)...)
	if n.Err() == nil {
		s.AddProperty(n, "EnumStrings", ua.Array(texts(values)), WithBrowseName(ua.QualifiedName{Name: "EnumStrings"}))
	}
	return n
}

func failing(err error) Option {
	return func(s *settings) {
		if err != nil {
			s.err = err
		}
	}
}

// local is a node id with the index of its namespace; false when the Space does not have that.
func (s *Space) local(id ua.ExpandedNodeID) (ua.NodeID, bool) {
	if id.NamespaceURI == "" {
		return id.NodeID, s.owns(id.NodeID.Namespace())
	}
	i, ok := s.index(id.NamespaceURI)
	return id.NodeID.WithNamespace(i), ok
}
