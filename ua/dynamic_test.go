package ua

import (
	"bytes"
	"errors"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// pump is the structure of report C27: identifiers, text, time, an array of structures, an array of
// numbers.
func pump() *StructureInfo {
	inner := &StructureInfo{Name: "Inner", DataTypeID: NewNodeID(2, 10).Expanded(), BinaryID: NewNodeID(2, 11).Expanded(),
		Fields: []Field{{Name: "A", Type: TypeInt32}, {Name: "B", Type: TypeString}}}
	inner.New = func() Structure { return NewDynamicStructure(inner) }
	outer := &StructureInfo{Name: "Pump", DataTypeID: NewNodeID(2, 20).Expanded(), BinaryID: NewNodeID(2, 21).Expanded(),
		Fields: []Field{
			{Name: "Id", Type: TypeNodeID}, {Name: "Name", Type: TypeString}, {Name: "Since", Type: TypeDateTime},
			{Name: "Parts", Type: TypeExtensionObject, Struct: inner, Array: true},
			{Name: "Speeds", Type: TypeFloat, Array: true}, {Name: "Any", Type: TypeVariant},
		}}
	outer.New = func() Structure { return NewDynamicStructure(outer) }
	return outer
}

func TestReportC27DynamicStructure(t *testing.T) {
	info := pump()
	d := NewDynamicStructure(info)
	part := info.Fields[3].Struct.New().(*DynamicStructure)
	for _, err := range []error{
		part.Set("A", Int32(7)), part.Set("B", String("seal")),
		d.Set("Id", NewStringNodeID(2, "P1").Variant()), d.Set("Name", String("P1")), d.Set("Since", Now().Variant()),
		d.Set("Parts", Array([]ExtensionObject{{Value: part}})), d.Set("Speeds", Array([]float32{1, 2, 3})),
		d.Set("Any", Array([]string{"x"})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	types := new(TypeTable)
	types.Register(info.New)
	b := (&ExtensionObject{Value: d}).AppendBinary(nil)

	r := uabin.NewReader(b)
	r.Types = types
	var e ExtensionObject
	if e.DecodeBinary(r); r.Err() != nil || e.Value == nil {
		t.Fatalf("decoding: %v, %v", r.Err(), e)
	}
	got := e.Value.(*DynamicStructure)
	if v, _ := got.Get("Name"); v.Str() != "P1" {
		t.Errorf("Name is %v", v)
	}
	parts, _ := got.Get("Parts")
	if v, _ := parts.Index(0).Structure().(*DynamicStructure).Get("A"); v.Int() != 7 {
		t.Errorf("Parts[0].A is %v", v)
	}
	if again := e.AppendBinary(nil); !bytes.Equal(again, b) {
		t.Errorf("written back %x, read %x", again, b)
	}
	for n := range b { // cut anywhere: raw body or an error, never a panic
		r.Reset(b[:n], uabin.Limits{})
		e.DecodeBinary(r)
	}
}

func TestDynamicStructureRefuses(t *testing.T) {
	d := NewDynamicStructure(pump())
	for name, v := range map[string]Variant{"Name": Int32(1), "Speeds": Float(1), "Parts": Array([]ExtensionObject{{}}), "Id": {}} {
		if err := d.Set(name, v); !errors.Is(err, BadTypeMismatch) {
			t.Errorf("%s = %v gives %v", name, v.Type(), err)
		}
	}
	if err := d.Set("Nothing", Int32(1)); !errors.Is(err, BadNoMatch) {
		t.Errorf("unknown field gives %v", err)
	}
}

func TestDynamicOptionalFieldsAndUnion(t *testing.T) {
	fields := []Field{{Name: "A", Type: TypeInt32}, {Name: "B", Type: TypeGUID, Optional: true}, {Name: "C", Type: TypeString, Array: true, Optional: true}}
	optional := &StructureInfo{Name: "O", Kind: StructureWithOptionalFields, Fields: fields}
	d := NewDynamicStructure(optional)
	if err := d.Set("C", Array([]string{"x"})); err != nil {
		t.Fatal(err)
	}
	want := []byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 'x'}
	if b := d.AppendBinary(nil); !bytes.Equal(b, want) {
		t.Errorf("optional fields: %x, want %x", b, want)
	}
	r := uabin.NewReader(want)
	if d.DecodeBinary(r); r.Err() != nil || !bytes.Equal(d.AppendBinary(nil), want) {
		t.Errorf("optional fields come back as %x, %v", d.AppendBinary(nil), r.Err())
	}
	r = uabin.NewReader([]byte{4, 0, 0, 0, 0, 0, 0, 0})
	if d.DecodeBinary(r); r.OK() {
		t.Error("an unknown bit of the mask is accepted")
	}

	union := &StructureInfo{Name: "U", Kind: StructureUnion, Fields: fields[:2]}
	u := NewDynamicStructure(union)
	if b := u.AppendBinary(nil); !bytes.Equal(b, []byte{0, 0, 0, 0}) {
		t.Errorf("empty union: %x", b)
	}
	if err := u.Set("A", Int32(5)); err != nil {
		t.Fatal(err)
	}
	want = []byte{1, 0, 0, 0, 5, 0, 0, 0}
	if b := u.AppendBinary(nil); !bytes.Equal(b, want) {
		t.Errorf("union: %x, want %x", b, want)
	}
	r = uabin.NewReader([]byte{3, 0, 0, 0})
	if u.DecodeBinary(r); r.OK() {
		t.Error("a switch beyond the fields is accepted")
	}
}
