package plant

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver/memspace"
)

// addAllTypes adds a folder where every built-in type can be read and written: as a scalar, an array
// and a matrix. Clients may write status and times there too.
func addAllTypes(s *memspace.Space) error {
	root := s.AddFolder(s.Objects(), "AllTypes", memspace.WithDescription("Every built-in type, to read and write"))
	a := allTypes{
		space:   s,
		scalars: s.AddFolder(root, "Scalars"), arrays: s.AddFolder(root, "Arrays"), matrices: s.AddFolder(root, "Matrices"),
	}
	guid := ua.GUID{0x09, 0x08, 0x7e, 0x75, 0x8e, 0x5e, 0x49, 0x9b, 0x95, 0x4f, 0xf2, 0xa9, 0x60, 0x3d, 0xb2, 0x8a}
	day := ua.DateTime(133_485_408_000_000_000) // 2024-01-01
	add(&a, true, false)
	add[int8](&a, -1, 2)
	add[uint8](&a, 1, 2)
	add[int16](&a, -1000, 2000)
	add[uint16](&a, 1000, 2000)
	add[int32](&a, -100_000, 200_000)
	add[uint32](&a, 100_000, 200_000)
	add[int64](&a, -10_000_000_000, 20_000_000_000)
	add[uint64](&a, 10_000_000_000, 20_000_000_000)
	add[float32](&a, 1.5, -2.25)
	add(&a, 3.141592653589793, -2.5)
	add(&a, "actua", "Grüße")
	add(&a, day, day+864_000_000_000)
	add(&a, guid, ua.GUID{15: 1})
	add(&a, []byte{1, 2, 3}, []byte{4})
	add[ua.XMLElement](&a, "<a>1</a>", "<b/>")
	add(&a, ua.ID(uaid.Server), ua.NewStringNodeID(s.Namespace(), "Plant"))
	add(&a, ua.ID(uaid.Server).Expanded(), ua.ExpandedNodeID{NodeID: ua.ID(1), NamespaceURI: "urn:elsewhere"})
	add(&a, ua.Good, ua.BadTimeout)
	add(&a, ua.QualifiedName{Name: "Server"}, ua.QualifiedName{NamespaceIndex: s.Namespace(), Name: "Plant"})
	add(&a, ua.LocalizedText{Locale: "en", Text: "hello"}, ua.LocalizedText{Locale: "de", Text: "hallo"})
	add(&a, ua.NewExtensionObject(&ua.Range{Low: 0, High: 100}), ua.NewExtensionObject(&ua.Range{Low: -1, High: 1}))
	add(&a, ua.DataValue{Value: ua.Int32(1), SourceTimestamp: day}, ua.DataValue{Status: ua.BadNoCommunication})
	add(&a, ua.Int32(1), ua.String("two")) // Variant
	add(&a, ua.DiagnosticInfo{}, ua.DiagnosticInfo{Mask: ua.DiagnosticAdditionalInfo, AdditionalInfo: "more"})
	return a.err
}

// allTypes collects what addAllTypes has made so far.
type allTypes struct {
	space                     *memspace.Space
	scalars, arrays, matrices *memspace.Node
	err                       error
}

// add adds the variables of one type, named after it. The data type of a Variant is BaseDataType.
func add[T ua.Element](a *allTypes, x, y T) {
	array := ua.Array([]T{x, y, x})
	matrix, err := ua.Matrix([]T{x, y, x, y, x, y}, 2, 3)
	if err != nil {
		a.err = err
	}
	name, options := array.Type().String(), []memspace.Option{
		memspace.Writable(),
		memspace.WithAccess(ua.AccessLevelTypeCurrentRead | ua.AccessLevelTypeCurrentWrite |
			ua.AccessLevelTypeStatusWrite | ua.AccessLevelTypeTimestampWrite),
	}
	switch array.Type() {
	case ua.TypeExtensionObject:
		name = "Structure"
		options = append(options, memspace.WithDataType(ua.ID(uaid.Structure)))
	case ua.TypeVariant:
		options = append(options, memspace.WithDataType(ua.ID(uaid.BaseDataType)))
	}
	a.space.AddVariable(a.scalars, name, ua.Scalar(x), options...)
	a.space.AddVariable(a.arrays, name, array, options...)
	a.space.AddVariable(a.matrices, name, matrix, options...)
}
