package ua

import "github.com/actua/actua/ua/uabin"

// describe is the description of a structure: its own, if it has a method StructureInfo, or that of
// namespace 0; nil if there is none.
func describe(s Structure) *StructureInfo {
	if d, ok := s.(interface{ StructureInfo() *StructureInfo }); ok {
		return d.StructureInfo()
	}
	if id := s.DataTypeID(); id.IsLocal() && id.NodeID.namespace == 0 && id.NodeID.kind == IDTypeNumeric {
		return StructureOf(id.NodeID.numeric)
	}
	return nil
}

// each calls f for all fields in their order, and tells which are present in a value that begins with
// head: the mask of optional fields, or the number of a union's field (Part 6, 5.2.7 and 5.2.8).
func (i *StructureInfo) each(head uint32, f func(field *Field, present bool)) {
	bit := uint32(1)
	for n := range i.Fields {
		field := &i.Fields[n]
		present := true
		switch {
		case i.Kind == StructureUnion:
			present = int64(head) == int64(n)+1
		case i.Kind == StructureWithOptionalFields && field.Optional:
			present = head&bit != 0
			bit <<= 1
		}
		f(field, present)
	}
}

// optionalBit is the bit of field n in the mask of optional fields; 0 if it has none. The bits are
// given to the optional fields in their order (Part 6, 5.2.7).
func (i *StructureInfo) optionalBit(n int) uint32 {
	bit := uint32(1)
	for _, f := range i.Fields[:n] {
		if f.Optional {
			bit <<= 1
		}
	}
	return bit
}

// optionalBits are the bits of all optional fields.
func (i *StructureInfo) optionalBits() uint32 { return i.optionalBit(len(i.Fields)) - 1 }

// readHead reads what stands in front of the fields of a value: see each.
func (i *StructureInfo) readHead(r *uabin.Reader) uint32 {
	if i.Kind == StructurePlain {
		return 0
	}
	return r.Uint32()
}

// readBuiltIn reads a value of a built-in type that has no type in front of it, as a field of a
// structure or an element of an array has not.
func readBuiltIn(r *uabin.Reader, t BuiltInType) (v Variant) {
	if t == TypeVariant {
		v.DecodeBinary(r)
	} else {
		v.decodeScalar(r, t)
	}
	return v
}

// readArray reads an array of a built-in type that has no type in front of it.
func readArray(r *uabin.Reader, t BuiltInType) (v Variant) {
	v.decodeArray(r, t, false)
	return v
}

// appendBuiltIn appends a scalar without its type in front.
func appendBuiltIn(b []byte, t BuiltInType, v Variant) []byte {
	at := len(b)
	b = v.AppendBinary(b)
	if t == TypeVariant {
		return b
	}
	return append(b[:at], b[at+1:]...)
}

// fieldReader returns a Reader for a value that this program has encoded itself, so that no limits
// apply beyond the length; only the depth has one, since the description of a type may contain itself.
func fieldReader(b []byte, types *TypeTable) *uabin.Reader {
	r := new(uabin.Reader)
	r.Reset(b, uabin.Limits{MaxString: -1, MaxByteString: -1, MaxArray: -1, MaxMemory: -1, MaxDepth: maxFieldDepth})
	if types != nil {
		r.Types = types
	}
	return r
}

// isNullValue reports whether a scalar is the null of its type: the default of a type that can be
// null (Part 6, 5.1.2). Types that cannot be null are never.
func (v Variant) isNullValue() bool {
	switch v.typ {
	case TypeNull:
		return true
	case TypeString, TypeXMLElement:
		return v.isNullString()
	case TypeByteString:
		return v.ptr == nil
	case TypeDateTime:
		return DateTime(v.num).IsZero()
	case TypeGUID:
		return *(*GUID)(v.ptr) == GUID{}
	case TypeNodeID:
		return *(*NodeID)(v.ptr) == NodeID{}
	case TypeExpandedNodeID:
		return *(*ExpandedNodeID)(v.ptr) == ExpandedNodeID{}
	case TypeQualifiedName:
		q := (*QualifiedName)(v.ptr)
		return q.NamespaceIndex == 0 && !present(q.Name)
	case TypeLocalizedText:
		t := (*LocalizedText)(v.ptr)
		return !present(t.Locale) && !present(t.Text)
	case TypeExtensionObject:
		return (*ExtensionObject)(v.ptr).IsNull()
	case TypeDataValue:
		d := (*DataValue)(v.ptr)
		return d.Value.typ == TypeNull && d.Status == Good && d.SourceTimestamp == 0 && d.ServerTimestamp == 0
	case TypeDiagnosticInfo:
		return (*DiagnosticInfo)(v.ptr).Mask == 0
	}
	return false
}

// zeroOf is the scalar that is the default of a type; the null Variant for TypeVariant.
func zeroOf(t BuiltInType) Variant {
	switch t {
	case TypeNull, TypeVariant:
		return Variant{}
	case TypeString, TypeByteString, TypeXMLElement:
		return Null(t)
	case TypeDateTime, TypeStatusCode:
		return Variant{typ: t}
	}
	if t < TypeString {
		return Variant{typ: t}
	}
	return Variant{typ: t, ptr: codecs[t].alloc(1)}
}
