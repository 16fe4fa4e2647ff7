package ua

// Kind tells how structures of the type are encoded (Part 3, 8.49).
func (t StructureType) Kind() StructureKind {
	switch t {
	case StructureTypeStructureWithOptionalFields:
		return StructureWithOptionalFields
	case StructureTypeUnion, StructureTypeUnionWithSubtypedValues:
		return StructureUnion
	}
	return StructurePlain
}

// Field is what a definition by itself says of field i: its name, and whether it is an array or optional.
// Its type takes the data type's node to find. subtypes tells that the field takes values of subtypes,
// so that a structure in it is an ExtensionObject (Part 3, 8.48 and 8.49).
func (x *StructureDefinition) Field(i int) (f Field, subtypes bool) {
	d := &x.Fields[i]
	f = Field{
		Name: d.Name, Array: d.ValueRank == 1,
		Optional: d.IsOptional && x.StructureType.Kind() == StructureWithOptionalFields,
	}
	return f, d.IsOptional && x.StructureType >= StructureTypeStructureWithSubtypedValues
}

// Endless reports whether every value of the structure would hold one of the same type, or a structure of
// which that is true: no value of such a type can exist. Arrays, optional fields and unions end it.
func (i *StructureInfo) Endless() bool { return i.endless(map[*StructureInfo]bool{}) }

// endless has in visited what is known: false while a structure is being looked at.
func (i *StructureInfo) endless(visited map[*StructureInfo]bool) bool {
	if i.Kind == StructureUnion {
		return false
	}
	if done, seen := visited[i]; seen {
		return !done
	}
	visited[i] = false
	for n := range i.Fields {
		f := &i.Fields[n]
		if f.Struct != nil && !f.Array && !f.Optional && f.Struct.endless(visited) {
			return true // and stays marked so
		}
	}
	visited[i] = true
	return false
}
