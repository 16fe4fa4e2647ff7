package ua

import "testing"

func TestStructureKinds(t *testing.T) {
	for typ, want := range map[StructureType]StructureKind{
		StructureTypeStructure: StructurePlain, StructureTypeStructureWithOptionalFields: StructureWithOptionalFields,
		StructureTypeUnion: StructureUnion, StructureTypeStructureWithSubtypedValues: StructurePlain,
		StructureTypeUnionWithSubtypedValues: StructureUnion, 99: StructurePlain,
	} {
		if got := typ.Kind(); got != want {
			t.Errorf("%v: %v, want %v", typ, got, want)
		}
	}
}

// IsOptional means an optional field in one kind of structure, and a field that takes subtypes in others.
func TestFieldOfDefinition(t *testing.T) {
	for typ, want := range map[StructureType][2]bool{
		StructureTypeStructure: {false, false}, StructureTypeStructureWithOptionalFields: {true, false},
		StructureTypeUnion: {false, false}, StructureTypeStructureWithSubtypedValues: {false, true},
		StructureTypeUnionWithSubtypedValues: {false, true},
	} {
		d := &StructureDefinition{StructureType: typ, Fields: []StructureField{{Name: "A", ValueRank: 1, IsOptional: true}}}
		f, subtypes := d.Field(0)
		if f.Name != "A" || !f.Array || f.Optional != want[0] || subtypes != want[1] {
			t.Errorf("%v: %+v, %v", typ, f, subtypes)
		}
	}
}

func TestEndless(t *testing.T) {
	info := func(kind StructureKind, f Field) (*StructureInfo, *StructureInfo) {
		a, b := &StructureInfo{Name: "A"}, &StructureInfo{Name: "B", Kind: kind}
		a.Fields = []Field{{Name: "B", Struct: b}}
		f.Struct = a
		b.Fields = []Field{f}
		return a, b
	}
	for name, c := range map[string]struct {
		kind StructureKind
		f    Field
		want bool
	}{
		"plain": {StructurePlain, Field{}, true}, "array": {StructurePlain, Field{Array: true}, false},
		"optional": {StructureWithOptionalFields, Field{Optional: true}, false}, "union": {StructureUnion, Field{}, false},
	} {
		a, b := info(c.kind, c.f)
		if a.Endless() != c.want || b.Endless() != c.want {
			t.Errorf("%s: %v, %v", name, a.Endless(), b.Endless())
		}
		if outer := (&StructureInfo{Fields: []Field{{Struct: a}}}); outer.Endless() != c.want {
			t.Errorf("%s: what holds it is %v", name, outer.Endless())
		}
	}
}
