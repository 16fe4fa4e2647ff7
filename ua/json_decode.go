package ua

import (
	"math"

	"github.com/actua/actua/ua/uabin"
)

// DecodeVariant reads a Variant: the compact and the verbose form, and the reversible form of older
// senders, {"Type":11,"Body":21.5} (Part 6, 5.4.2.17 and H.8). Errors of all functions that read JSON
// name the place in the text and are BadDecodingError or BadEncodingLimitsExceeded.
func (o *JSONOptions) DecodeVariant(data []byte) (Variant, error) {
	d, n, err := o.reader(data)
	if err != nil {
		return Variant{}, err
	}
	return d.variant(&n)
}

// DecodeDataValue reads a DataValue, also in the reversible form of older senders (Part 6, 5.4.2.18).
func (o *JSONOptions) DecodeDataValue(data []byte) (DataValue, error) {
	d, n, err := o.reader(data)
	if err != nil {
		return DataValue{}, err
	}
	return d.dataValue(&n)
}

// DecodeExtensionObject reads a structure with its data type, also in the reversible form of older
// senders (Part 6, 5.4.2.16).
func (o *JSONOptions) DecodeExtensionObject(data []byte) (ExtensionObject, error) {
	d, n, err := o.reader(data)
	if err != nil {
		return ExtensionObject{}, err
	}
	return d.extensionObject(&n)
}

// DecodeStructure reads an object of fields into a structure that has a description: all of namespace
// 0 and those with a method StructureInfo. Fields that are not in the text get the default of their
// type; a field that the structure does not have is an error (Part 6, 5.4.6 to 5.4.8).
func (o *JSONOptions) DecodeStructure(data []byte, into Structure) error {
	d, n, err := o.reader(data)
	if err != nil {
		return err
	}
	info := describe(into)
	if info == nil {
		return badJSON("the fields of %v are not known", into.DataTypeID())
	}
	return d.structure(&n, into, info)
}

// DecodeNodeID reads a NodeId as a string, or as an object of older senders (Part 6, 5.4.2.10).
func (o *JSONOptions) DecodeNodeID(data []byte) (NodeID, error) {
	v, err := o.DecodeValue(data, TypeNodeID, nil, -1)
	return v.NodeID(), err
}

// DecodeValue reads a value without its type, as AppendValue writes it. The type has to be known: a
// built-in one, with the description of a structure for TypeExtensionObject or nil when the text has
// "UaTypeId". rank is that of the variable: -1 for a scalar, n > 0 for an array of n dimensions, 0 for
// an array of any number of dimensions, -2 for anything, -3 for a scalar or an array of one dimension
// (Part 3, 5.6.2). null is a null array, or the null of the type of a scalar; for types that cannot be
// null, the null Variant.
func (o *JSONOptions) DecodeValue(data []byte, t BuiltInType, info *StructureInfo, rank int) (Variant, error) {
	d, n, err := o.reader(data)
	if err != nil {
		return Variant{}, err
	}
	if t > TypeDiagnosticInfo {
		return Variant{}, badJSON("%v is no built-in type", t)
	}
	if t == TypeNull {
		t = TypeVariant
	}
	if info != nil {
		t = TypeExtensionObject
	}
	return d.value(&n, t, info, rank)
}

// jsonReader makes values out of the tree of a text.
type jsonReader struct {
	*JSONOptions
	limits uabin.Limits // with the defaults set; MaxMemory is what is left of it
	depth  int          // of structures that are fields of structures
	absent int          // nested structures that may still be left out
}

func (o *JSONOptions) reader(data []byte) (*jsonReader, jsonNode, error) {
	depth := o.MaxDepth
	if depth <= 0 {
		depth = uabin.DefaultMaxDepth
	}
	d := &jsonReader{JSONOptions: o, limits: o.Limits.OrDefault(len(data)), absent: minAbsent + len(data)}
	n, left, err := parseJSON(data, depth, d.limits.MaxMemory)
	d.limits.MaxMemory = left
	return d, n, err
}

func (d *jsonReader) value(n *jsonNode, t BuiltInType, info *StructureInfo, rank int) (Variant, error) {
	if n.kind == jsonNull {
		switch {
		case rank > 0 || rank == 0:
			return Variant{typ: t, shape: array}, nil
		case t == TypeVariant:
			return Variant{}, nil
		}
		if v := zeroOf(t); v.isNullValue() {
			return v, nil
		}
		return Variant{}, nil
	}
	if n.kind != jsonArray {
		if rank >= 0 {
			return Variant{}, badJSON("%v where an array is due", n.kind)
		}
		return d.scalar(n, t, info)
	}
	if rank == -1 {
		return Variant{}, badJSON("an array where a scalar is due")
	}
	dims := nestedDims(n)
	switch {
	case rank > 0 && len(dims) != rank:
		if len(n.items) == 0 {
			break // an empty array of any number of dimensions
		}
		return Variant{}, badJSON("an array of %d dimensions where %d are due", len(dims), rank)
	case rank == -3 && len(dims) != 1:
		return Variant{}, badJSON("an array of %d dimensions where one is due", len(dims))
	}
	return d.nested(n, t, info, dims)
}

// nestedDims are the lengths of arrays nested in each other, by the first element of each.
func nestedDims(n *jsonNode) (dims []uint32) {
	for n.kind == jsonArray {
		dims = append(dims, uint32(len(n.items)))
		if len(n.items) == 0 {
			break
		}
		n = &n.items[0]
	}
	return dims
}

// nested reads arrays nested in each other; a single one as an array of one dimension.
func (d *jsonReader) nested(n *jsonNode, t BuiltInType, info *StructureInfo, dims []uint32) (Variant, error) {
	if len(dims) <= 1 {
		return d.array(n.items, t, info)
	}
	var flat []*jsonNode
	var collect func(n *jsonNode, dims []uint32) error
	collect = func(n *jsonNode, dims []uint32) error {
		if n.kind != jsonArray || len(n.items) != int(dims[0]) {
			return badJSON("the rows of a matrix are not all of the same length")
		}
		for i := range n.items {
			if len(dims) == 1 {
				flat = append(flat, &n.items[i])
			} else if err := collect(&n.items[i], dims[1:]); err != nil {
				return inElement(err, i)
			}
		}
		return nil
	}
	if err := collect(n, dims); err != nil {
		return Variant{}, err
	}
	v, err := d.elements(len(flat), func(i int) *jsonNode { return flat[i] }, t, info)
	if err != nil {
		return Variant{}, err
	}
	if !dimsFit(dims, len(flat)) {
		return Variant{}, badJSON("a dimension of 0")
	}
	return newMatrix(v, dims), nil
}

func (d *jsonReader) array(items []jsonNode, t BuiltInType, info *StructureInfo) (Variant, error) {
	return d.elements(len(items), func(i int) *jsonNode { return &items[i] }, t, info)
}

func (d *jsonReader) elements(n int, item func(int) *jsonNode, t BuiltInType, info *StructureInfo) (Variant, error) {
	if n > d.limits.MaxArray {
		return Variant{}, jsonLimit("array of %d elements, the limit is %d", n, d.limits.MaxArray)
	}
	c := &codecs[t]
	if uint64(n)*uint64(c.stride) > uint64(d.limits.MaxMemory) {
		return Variant{}, jsonLimit("too much memory wanted for an array of %d elements", n)
	}
	d.limits.MaxMemory -= n * int(c.stride)
	p := c.alloc(n)
	for i := range n {
		v, err := d.element(item(i), t, info)
		if err != nil {
			return Variant{}, inElement(err, i)
		}
		c.set(p, i, v)
	}
	return Variant{typ: t, shape: array, ptr: p, num: uint64(n)}, nil
}

// element reads a scalar of which null is the default.
func (d *jsonReader) element(n *jsonNode, t BuiltInType, info *StructureInfo) (Variant, error) {
	if n.kind == jsonNull {
		return zeroOf(t), nil
	}
	return d.scalar(n, t, info)
}

func (d *jsonReader) variant(n *jsonNode) (Variant, error) {
	if n.kind == jsonNull {
		return Variant{}, nil
	}
	if n.kind != jsonObject {
		return Variant{}, badJSON("%v where a Variant is due: an object with UaType and Value", n.kind)
	}
	for _, key := range n.keys {
		switch key {
		case "UaType", "Value", "Dimensions", "Type", "Body":
		default:
			return Variant{}, badJSON("a Variant has no field %q", key)
		}
	}
	return d.typed(n)
}

// typed reads the fields of a Variant, in the form of today or in the older one.
func (d *jsonReader) typed(n *jsonNode) (Variant, error) {
	typ, value, typeKey, valueKey := n.get("UaType"), n.get("Value"), "UaType", "Value"
	if typ == nil {
		typ, value, typeKey, valueKey = n.get("Type"), n.get("Body"), "Type", "Body"
	}
	if typ == nil {
		if value != nil || n.get("Value") != nil {
			return Variant{}, badJSON("a value without its type: UaType is missing")
		}
		return Variant{}, nil
	}
	number, err := integer(typ, 0, uint64(TypeDiagnosticInfo))
	if err != nil {
		return Variant{}, inField(err, typeKey)
	}
	t := BuiltInType(number)
	if t == TypeNull {
		return Variant{}, nil
	}
	dims, err := d.dimensions(n.get("Dimensions"))
	if err != nil {
		return Variant{}, inField(err, "Dimensions")
	}
	v, err := d.typedValue(value, t, dims)
	return v, inField(err, valueKey)
}

func (d *jsonReader) typedValue(value *jsonNode, t BuiltInType, dims []uint32) (Variant, error) {
	switch {
	case value == nil && len(dims) == 0:
		if t == TypeVariant {
			return Variant{}, badJSON("a Variant within a Variant that is no array")
		}
		return zeroOf(t), nil
	case value == nil || value.kind == jsonNull:
		return Variant{typ: t, shape: array}, nil
	case value.kind != jsonArray:
		if t == TypeVariant {
			return Variant{}, badJSON("a Variant within a Variant that is no array")
		}
		if len(dims) > 0 {
			return Variant{}, badJSON("dimensions of a value that is no array")
		}
		return d.scalar(value, t, nil)
	case len(dims) == 0:
		return d.nested(value, t, nil, nestedDims(value))
	}
	v, err := d.array(value.items, t, nil)
	if err != nil {
		return Variant{}, err
	}
	if !dimsFit(dims, len(value.items)) {
		return Variant{}, badJSON("dimensions %v do not fit %d elements", dims, len(value.items))
	}
	return newMatrix(v, dims), nil
}

func (d *jsonReader) dimensions(n *jsonNode) ([]uint32, error) {
	if n == nil || n.kind == jsonNull {
		return nil, nil
	}
	if n.kind != jsonArray {
		return nil, badJSON("%v where an array is due", n.kind)
	}
	dims := make([]uint32, len(n.items))
	for i := range dims {
		size, err := integer(&n.items[i], 0, math.MaxInt32)
		if err != nil {
			return nil, inElement(err, i)
		}
		dims[i] = uint32(size)
	}
	return dims, nil
}
