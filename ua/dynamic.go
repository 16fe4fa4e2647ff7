package ua

import (
	"fmt"
	"unsafe"

	"github.com/actua/actua/ua/uabin"
)

// DynamicStructure is a structure whose type is known at run time only, by its description: what a
// client reads from a server's DataTypeDefinition, for example. It holds a Variant a field. A nested
// structure is a Variant of type ExtensionObject; an optional field that is absent is a null Variant.
// Goroutines that only read may share one, once all its nested structures have been set or decoded.
type DynamicStructure struct {
	info   *StructureInfo
	values []Variant // null for a field that is absent, and for a nested structure that nobody asked for
	head   uint32    // see StructureInfo.each
}

// NewDynamicStructure returns a structure of the described type, all fields zero or absent.
func NewDynamicStructure(info *StructureInfo) *DynamicStructure {
	d := &DynamicStructure{info: info, values: make([]Variant, len(info.Fields))}
	for i := range info.Fields {
		// Nested structures are made when somebody asks for them: a description that comes from a
		// peer may contain itself, or name so many that making them all would never end.
		if f := &info.Fields[i]; info.mandatory(f) && !f.nested() {
			d.values[i] = f.zero()
		}
	}
	return d
}

// mandatory reports whether every value of the type has the field.
func (i *StructureInfo) mandatory(f *Field) bool {
	return i.Kind == StructurePlain || i.Kind == StructureWithOptionalFields && !f.Optional
}

// nested reports whether the field holds a single structure of known type.
func (f *Field) nested() bool { return f.Struct != nil && !f.Array }

// StructureInfo is the description of the type.
func (d *DynamicStructure) StructureInfo() *StructureInfo { return d.info }

// DataTypeID is the node of the data type.
func (d *DynamicStructure) DataTypeID() ExpandedNodeID { return d.info.DataTypeID }

// BinaryID is the node of its encoding "Default Binary".
func (d *DynamicStructure) BinaryID() ExpandedNodeID { return d.info.BinaryID }

func (d *DynamicStructure) field(name string) int {
	for i := range d.info.Fields {
		if d.info.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Get is the value of a field; false when the type has no such field. A field that is absent, or not
// the chosen one of a union, is the null Variant.
func (d *DynamicStructure) Get(name string) (Variant, bool) {
	i := d.field(name)
	if i < 0 {
		return Variant{}, false
	}
	f := &d.info.Fields[i]
	if d.values[i].Type() == TypeNull && f.nested() && d.info.mandatory(f) {
		d.values[i] = f.zero()
	}
	return d.values[i], true
}

// Set changes a field; in a union it becomes the chosen one. A null Variant makes an optional field
// absent. It returns BadNoMatch when there is no such field, BadTypeMismatch when the value does not
// fit it.
func (d *DynamicStructure) Set(name string, v Variant) error {
	i := d.field(name)
	if i < 0 {
		return fmt.Errorf("%w: %s has no field %q", BadNoMatch, d.info.Name, name)
	}
	f := &d.info.Fields[i]
	switch {
	case v.Type() == TypeNull && f.Optional && d.info.Kind == StructureWithOptionalFields:
	case f.Type == TypeVariant && !f.Array:
	case !f.fits(v):
		return fmt.Errorf("%w: field %s of %s holds %s", BadTypeMismatch, name, d.info.Name, f.describe())
	}
	switch {
	case d.info.Kind == StructureUnion:
		clear(d.values)
		d.head = uint32(i + 1)
	case !d.info.mandatory(f):
		bit := d.info.optionalBit(i)
		d.head |= bit
		if v.Type() == TypeNull {
			d.head &^= bit
		}
	}
	d.values[i] = v
	return nil
}

func (f *Field) describe() string {
	name := f.Type.String()
	if f.Struct != nil {
		name = f.Struct.Name
	}
	if f.Array {
		return "an array of " + name
	}
	return "a " + name
}

// fits reports whether a value may stand in the field.
func (f *Field) fits(v Variant) bool {
	if v.Type() != f.Type || v.shape == multi || f.Array != v.IsArray() {
		return false
	}
	if f.Struct == nil {
		return true
	}
	objects, _ := ArrayOf[ExtensionObject](v)
	if !f.Array {
		objects = []ExtensionObject{*(*ExtensionObject)(v.ptr)}
	}
	for i := range objects {
		if s := objects[i].Value; s == nil || s.DataTypeID() != f.Struct.DataTypeID {
			return false
		}
	}
	return true
}

// zero is the value of a field that nobody set.
func (f *Field) zero() Variant {
	switch {
	case f.Array:
		return Variant{typ: f.Type, shape: array}
	case f.Struct != nil:
		return ExtensionObject{Value: f.Struct.New()}.Variant()
	case f.Type == TypeVariant:
		return Variant{}
	case f.Type == TypeString, f.Type == TypeXMLElement, f.Type == TypeByteString:
		return Null(f.Type)
	case f.Type >= TypeGUID && f.Type != TypeStatusCode:
		return Variant{typ: f.Type, ptr: codecs[f.Type].alloc(1)}
	}
	return Variant{typ: f.Type}
}

// maxUnset is how many nested structures that nobody set are written for one value: more than any type
// of use has, so that one that contains itself comes to an end.
const maxUnset = 10_000

// AppendBinary appends the fields in the order of the description (Part 6, 5.2.6 to 5.2.8).
func (d *DynamicStructure) AppendBinary(b []byte) []byte {
	unset := maxUnset
	return d.append(b, &unset)
}

func (d *DynamicStructure) append(b []byte, unset *int) []byte {
	if d.info.Kind != StructurePlain {
		b = uabin.AppendUint32(b, d.head)
	}
	i := 0
	d.info.each(d.head, func(f *Field, present bool) {
		if present {
			b = f.append(b, d.values[i], unset)
		}
		i++
	})
	return b
}

// append writes the value of a field without the byte that a Variant has in front. unset counts down
// the nested structures that may still be written although nobody set them.
func (f *Field) append(b []byte, v Variant, unset *int) []byte {
	switch {
	case f.Array:
		p, n := v.elements()
		b = uabin.AppendLen(b, n, p == nil)
		if f.Struct == nil {
			return codecs[f.Type].append(b, p, n)
		}
		objects, _ := ArrayOf[ExtensionObject](v)
		for i := range objects {
			b = objects[i].Value.AppendBinary(b)
		}
		return b
	case f.Struct != nil && v.Type() != TypeNull:
		return (*ExtensionObject)(v.ptr).Value.AppendBinary(b)
	case f.Struct != nil:
		if *unset--; *unset < 0 {
			return b
		}
		s := f.Struct.New()
		if d, ok := s.(*DynamicStructure); ok {
			return d.append(b, unset)
		}
		return s.AppendBinary(b)
	case f.Type != TypeVariant && v.Type() == TypeNull:
		v = f.zero()
	}
	return appendBuiltIn(b, f.Type, v)
}

// DecodeBinary reads the fields in the order of the description. Bits of absent fields that the type
// does not have, or a switch beyond its fields, are errors.
func (d *DynamicStructure) DecodeBinary(r *uabin.Reader) {
	clear(d.values)
	d.head = 0
	if !r.Enter() {
		return
	}
	defer r.Leave()
	head := d.info.readHead(r)
	switch {
	case d.info.Kind == StructureUnion && head > uint32(len(d.info.Fields)):
		r.Fail("union with an unknown switch value")
	case d.info.Kind == StructureWithOptionalFields && head&^d.info.optionalBits() != 0:
		r.Fail("structure with optional fields that its type does not have")
	}
	if !r.OK() {
		return
	}
	d.head = head
	i := 0
	d.info.each(head, func(f *Field, present bool) {
		if present && r.OK() {
			d.values[i] = f.decode(r)
		}
		i++
	})
}

// decode reads the value of a field; null when that fails.
func (f *Field) decode(r *uabin.Reader) Variant {
	switch {
	case f.Struct != nil && f.Array:
		n := r.ArrayLen(1)
		if n < 0 {
			return f.zero()
		}
		return Array(f.decodeStructures(r, n))
	case f.Struct != nil:
		if s := f.decodeStructures(r, 1); r.OK() {
			return Variant{typ: TypeExtensionObject, ptr: unsafe.Pointer(&s[0])}
		}
		return Variant{}
	case f.Array:
		return readArray(r, f.Type)
	}
	return readBuiltIn(r, f.Type)
}

// decodeStructures reads n structures. They count as memory whatever their size on the wire, since a
// structure may consist of nothing but others that are empty.
func (f *Field) decodeStructures(r *uabin.Reader, n int) []ExtensionObject {
	objects := uabin.Resize[ExtensionObject](r, nil, n)
	for i := range objects {
		s := f.Struct.New()
		if s.DecodeBinary(r); !r.OK() {
			return nil
		}
		objects[i].Value = s
	}
	return objects
}
