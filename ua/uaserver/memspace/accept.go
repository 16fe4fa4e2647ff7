package memspace

import (
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Special value ranks (Part 3, 5.6.2); from 1 on a rank is the number of dimensions.
const (
	RankScalarOrOneDimension int32 = -3
	RankAny                  int32 = -2
	RankScalar               int32 = -1
	RankOneOrMoreDimensions  int32 = 0
)

// accept checks that a value fits the variable's data type, rank and dimensions. It returns the value
// to store: an array of Byte and a ByteString stand for each other (Part 4, 5.11.4).
func (v *Variable) accept(x ua.Variant) (ua.Variant, bool) {
	return v.space.accept(x, v.dataType, v.accepts, v.rank, v.rare().dims)
}

func (s *Space) accept(x ua.Variant, dataType *Node, types typeSet, rank int32, dims []uint32) (ua.Variant, bool) {
	t := x.Type()
	switch {
	case t == ua.TypeNull:
		return x, types == anyType
	case types.has(t):
	case t == ua.TypeByteString && !x.IsArray() && types == setOf(ua.TypeByte):
		x = ua.Array(x.Bytes())
	case t == ua.TypeByte && x.IsArray() && types == setOf(ua.TypeByteString):
		b, _ := ua.ArrayOf[byte](x)
		x = ua.ByteString(b)
	case t == ua.TypeVariant && types&(types-1) != 0:
		if !s.acceptEach(x, dataType, types) {
			return x, false
		}
	default:
		return x, false
	}
	if !rankFits(x, rank, dims) {
		return x, false
	}
	if t != ua.TypeExtensionObject {
		return x, true
	}
	return s.named(x), s.structuresFit(x, dataType)
}

// named makes sure that a structure whose type is in a namespace of the application goes out with the
// id of its encoding; see ua.ExtensionObject.TypeID.
func (s *Space) named(x ua.Variant) ua.Variant {
	e, ok := ua.As[ua.ExtensionObject](x)
	if ok && e.Value != nil && e.TypeID.IsNull() && e.Value.BinaryID().NamespaceURI != "" {
		if w, err := s.Wrap(e.Value); err == nil {
			return w
		}
	}
	list, _ := ua.ArrayOf[ua.ExtensionObject](x)
	if len(x.Dimensions()) != 1 || len(list) == 0 || list[0].Value == nil || list[0].Value.BinaryID().NamespaceURI == "" {
		return x
	}
	list = slices.Clone(list)
	for i := range list {
		w := s.named(list[i].Variant())
		list[i], _ = ua.As[ua.ExtensionObject](w)
	}
	return ua.Array(list)
}

// acceptEach checks the elements of an array of Variant, which holds values of an abstract type.
func (s *Space) acceptEach(x ua.Variant, dataType *Node, types typeSet) bool {
	elements, _ := ua.ArrayOf[ua.Variant](x)
	for _, e := range elements {
		if _, ok := s.accept(e, dataType, types, RankScalar, nil); !ok {
			return false
		}
	}
	return true
}

// rankFits checks the number of dimensions and their lengths; a length in dims is the largest that is
// allowed, 0 means any.
func rankFits(x ua.Variant, rank int32, dims []uint32) bool {
	if !x.IsArray() {
		return rank < RankOneOrMoreDimensions
	}
	if rank == RankScalar {
		return false
	}
	have := x.Dimensions()
	switch n := len(have); {
	case rank == RankScalarOrOneDimension && n != 1,
		rank > 0 && n != int(rank):
		return false
	}
	for i := range min(len(dims), len(have)) {
		if dims[i] != 0 && have[i] > dims[i] {
			return false
		}
	}
	return true
}

// structuresFit checks that structures are of the data type or of one derived from it.
func (s *Space) structuresFit(x ua.Variant, dataType *Node) bool {
	if dataType == nil || dataType.info() == nil || dataType == s.known.baseDataType ||
		dataType.id == ua.ID(uaid.Structure) || dataType.id == ua.ID(decimal) {
		return true
	}
	if e, ok := ua.As[ua.ExtensionObject](x); ok {
		return isSubtype(s.dataTypeOf(&e), dataType)
	}
	list, _ := ua.ArrayOf[ua.ExtensionObject](x)
	for i := range list {
		if !isSubtype(s.dataTypeOf(&list[i]), dataType) {
			return false
		}
	}
	return true
}
