package ua

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// endless is a type whose single field is the type itself.
func endless() *StructureInfo {
	info := &StructureInfo{Name: "Endless", DataTypeID: NewNodeID(2, 1).Expanded(), BinaryID: NewNodeID(2, 2).Expanded()}
	info.New = func() Structure { return NewDynamicStructure(info) }
	info.Fields = []Field{{Name: "Again", Type: TypeExtensionObject, Struct: info}}
	return info
}

// doubling is a type of two fields of a type of two fields and so on, with nothing in the last one: a
// description of a few lines for more structures than there is memory, and of no bytes on the wire.
func doubling(levels int) *StructureInfo {
	var inner *StructureInfo
	for n := range levels {
		info := &StructureInfo{Name: fmt.Sprint("Level", n), DataTypeID: NewNodeID(2, uint32(2*n+1)).Expanded(), BinaryID: NewNodeID(2, uint32(2*n+2)).Expanded()}
		info.New = func() Structure { return NewDynamicStructure(info) }
		if inner != nil {
			info.Fields = []Field{{Name: "A", Type: TypeExtensionObject, Struct: inner}, {Name: "B", Type: TypeExtensionObject, Struct: inner}}
		}
		inner = info
	}
	return inner
}

// TestHostileDescriptions: what a server says of its types cannot exhaust a client, neither its memory
// nor its time or stack.
func TestHostileDescriptions(t *testing.T) {
	for name, info := range map[string]*StructureInfo{"endless": endless(), "doubling": doubling(40)} {
		d := NewDynamicStructure(info)
		if _, ok := d.Get(info.Fields[0].Name); !ok {
			t.Errorf("%s: no field", name)
		}
		if n := allocated(func() { _ = d.AppendBinary(nil) }); n > 16<<20 {
			t.Errorf("%s: %d bytes allocated to encode it", name, n)
		}
		r := uabin.NewReader(make([]byte, 100))
		if n := allocated(func() { d.DecodeBinary(r) }); n > 16<<20 || !errors.Is(r.Err(), BadEncodingLimitsExceeded) {
			t.Errorf("%s: %d bytes allocated to decode it, %v", name, n, r.Err())
		}
		_ = ExtensionObject{Value: d}.Variant().String() // after an error it may be anything but a panic
		if err := new(JSONOptions).DecodeStructure([]byte("{}"), NewDynamicStructure(info)); !errors.Is(err, BadEncodingLimitsExceeded) {
			t.Errorf("%s: JSON gives %v", name, err)
		}
	}
}

// A nested structure is made on demand and kept, so that its fields can be set.
func TestDynamicNested(t *testing.T) {
	inner := pump()
	outer := &StructureInfo{Name: "Outer", Fields: []Field{{Name: "Pump", Type: TypeExtensionObject, Struct: inner}}}
	d := NewDynamicStructure(outer)
	zero := d.AppendBinary(nil)
	if want := inner.New().AppendBinary(nil); !bytes.Equal(zero, want) {
		t.Errorf("unset: %x, want %x", zero, want)
	}
	v, _ := d.Get("Pump")
	if err := v.Structure().(*DynamicStructure).Set("Name", String("P7")); err != nil {
		t.Fatal(err)
	}
	into := NewDynamicStructure(outer)
	r := uabin.NewReader(d.AppendBinary(nil))
	into.DecodeBinary(r)
	v, _ = into.Get("Pump")
	if name, _ := v.Structure().(*DynamicStructure).Get("Name"); r.Err() != nil || name.Str() != "P7" {
		t.Errorf("came back as %v, %v", name, r.Err())
	}
}

// An optional field that is there and holds a null stays there.
func TestDynamicOptionalNull(t *testing.T) {
	info := &StructureInfo{Name: "O", Kind: StructureWithOptionalFields, Fields: []Field{{Name: "V", Type: TypeVariant, Optional: true}, {Name: "S", Type: TypeString, Optional: true}}}
	d := NewDynamicStructure(info)
	wire := []byte{3, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}
	r := uabin.NewReader(wire)
	if d.DecodeBinary(r); r.Err() != nil || !bytes.Equal(d.AppendBinary(nil), wire) {
		t.Errorf("% x came back as % x, %v", wire, d.AppendBinary(nil), r.Err())
	}
	if err := d.Set("V", Variant{}); err != nil || d.AppendBinary(nil)[0] != 2 {
		t.Errorf("set to null it is still there: %v", err)
	}
}

// A structure that failed to decode holds no arrays that are longer than their memory.
func TestDynamicAfterFailure(t *testing.T) {
	info := &StructureInfo{Name: "A", Fields: []Field{{Name: "N", Type: TypeDouble, Array: true}, {Name: "M", Type: TypeString}}}
	d := NewDynamicStructure(info)
	r := new(uabin.Reader)
	b := append(uabin.AppendInt32(nil, 100), make([]byte, 800)...)
	r.Reset(b, uabin.Limits{MaxMemory: 10})
	d.DecodeBinary(r)
	if v, _ := d.Get("N"); !errors.Is(r.Err(), BadEncodingLimitsExceeded) || v.Len() != 0 {
		t.Errorf("%d elements, %v", v.Len(), r.Err())
	}
	d.AppendBinary(nil)
}

// Inner DiagnosticInfos count as memory: each is a single byte on the wire.
func TestDiagnosticMemory(t *testing.T) {
	const n = 20_000
	b := uabin.AppendInt32([]byte{byte(TypeDiagnosticInfo) | variantArray}, n)
	for range n {
		b = append(append(b, bytes.Repeat([]byte{byte(DiagnosticInner)}, 90)...), 0)
	}
	var v Variant
	r := new(uabin.Reader)
	r.Reset(b, uabin.Limits{MaxMemory: 4 << 20})
	if got := allocated(func() { v.DecodeBinary(r) }); got > 5<<20 || !errors.Is(r.Err(), BadEncodingLimitsExceeded) {
		t.Errorf("%d bytes allocated, %v", got, r.Err())
	}
}

// The memory limit holds for JSON too, and the default one lets all values of two bytes through.
func TestJSONMemory(t *testing.T) {
	text := []byte(`{"UaType":3,"Value":[` + strings.Repeat("0,", 100_000) + `0]}`)
	if v, err := new(JSONOptions).DecodeVariant(text); err != nil || v.Len() != 100_001 {
		t.Errorf("%d elements, %v", v.Len(), err)
	}
	for _, element := range []string{"null", "{}"} {
		for _, typ := range []BuiltInType{TypeExpandedNodeID, TypeExtensionObject, TypeDataValue, TypeDiagnosticInfo, TypeVariant} {
			text := fmt.Appendf(nil, `{"UaType":%d,"Value":[%s%s]}`, typ, strings.Repeat(element+",", 20_000), element)
			if _, err := new(JSONOptions).DecodeVariant(text); err != nil && (element == "null" || typ != TypeExpandedNodeID) {
				t.Errorf("%v of %s: %v", typ, element, err)
			}
		}
	}
	o := &JSONOptions{Limits: uabin.Limits{MaxMemory: 1 << 20}}
	if _, err := o.DecodeVariant(text); !errors.Is(err, BadEncodingLimitsExceeded) {
		t.Errorf("with a limit: %v", err)
	}
	o.Limits.MaxMemory = 40 * 1_000 // enough for the tree, not for the values
	text = []byte(`{"UaType":18,"Value":[` + strings.Repeat("null,", 1000) + `null]}`)
	if _, err := o.DecodeVariant(text); !errors.Is(err, BadEncodingLimitsExceeded) {
		t.Errorf("values beyond the limit: %v", err)
	}
}

// TestTypeTableConcurrent registers, rebinds, decodes and reads JSON at the same time (for -race), with
// a constructor that uses the table itself.
func TestTypeTableConcurrent(t *testing.T) {
	types := new(TypeTable)
	info := func(n uint32) *StructureInfo {
		id := func(n uint32) ExpandedNodeID { return ExpandedNodeID{NodeID: ID(n), NamespaceURI: "urn:types"} }
		i := &StructureInfo{Name: fmt.Sprint("T", n), DataTypeID: id(n), BinaryID: id(n + 1), Fields: []Field{{Name: "X", Type: TypeInt32}}}
		i.New = func() Structure {
			types.New(NewNodeID(1, 99)) // a type may look at its neighbours
			return NewDynamicStructure(i)
		}
		return i
	}
	types.Register(info(10).New)
	types.SetNamespaces([]string{"", "urn:types"})
	wire := (&ExtensionObject{TypeID: NewNodeID(1, 11), Value: info(10).New()}).AppendBinary(nil)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 50 {
				switch n {
				case 0:
					types.Register(info(uint32(100 + 2*i)).New)
				case 1:
					types.SetNamespaces([]string{"", "urn:types", fmt.Sprint("urn:", i)})
				case 2:
					r := uabin.NewReader(wire)
					r.Types = types
					var e ExtensionObject
					if e.DecodeBinary(r); e.Value == nil || r.Err() != nil {
						t.Error("a registered type was not found")
					}
				case 3:
					o := JSONOptions{Types: types, Namespaces: []string{"", "urn:types"}}
					for _, id := range []string{"nsu=urn:types;i=10", "nsu=urn:types;i=11", "ns=1;i=10"} {
						if e, err := o.DecodeExtensionObject([]byte(`{"UaTypeId":"` + id + `","X":5}`)); err != nil || e.TypeID != NewNodeID(1, 11) {
							t.Errorf("%s: %v, %v", id, e, err)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}

// A namespace beyond the range of an index is none at all, instead of another one.
func TestNamespaceBeyondRange(t *testing.T) {
	uris := make([]string, math.MaxUint16+3)
	uris[math.MaxUint16], uris[math.MaxUint16+2] = "urn:last", "urn:beyond"
	e := ExpandedNodeID{NodeID: ID(5), NamespaceURI: "urn:beyond"}
	if n, ok := e.Resolve(uris); ok {
		t.Errorf("resolved to %v", n)
	}
	e.NamespaceURI = "urn:last"
	if n, ok := e.Resolve(uris); !ok || n != NewNodeID(math.MaxUint16, 5) {
		t.Errorf("resolved to %v, %t", n, ok)
	}
}

// NaN is written in the one form of the standard, wherever it stands (Part 6, 5.2.2.3).
func TestNaN(t *testing.T) {
	odd := math.Float64frombits(0x7FF0000000000001)
	oddFloat := math.Float32frombits(0x7F800001)
	for want, got := range map[string][]byte{
		"\x0b\x00\x00\x00\x00\x00\x00\xf8\xff":                             new(Variant).with(Double(odd)).AppendBinary(nil),
		"\x0a\x00\x00\xc0\xff":                                             new(Variant).with(Float(oddFloat)).AppendBinary(nil),
		"\x8b\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\xf8\xff":             new(Variant).with(Array([]float64{math.NaN()})).AppendBinary(nil),
		"\x00\x00\x00\x00\x00\x00\xf8\xff\x00\x00\x00\x00\x00\x00\xf8\xff": (&Range{Low: odd, High: -math.NaN()}).AppendBinary(nil),
	} {
		if string(got) != want {
			t.Errorf("written as % x, want % x", got, want)
		}
	}
	if !Double(odd).Equal(Double(math.NaN())) || !Float(oddFloat).Equal(Float(float32(math.NaN()))) || Double(odd).Equal(Double(1)) {
		t.Error("a NaN does not equal another one, or equals a number")
	}
}

// with makes a literal addressable.
func (v *Variant) with(w Variant) *Variant {
	*v = w
	return v
}

// TestReusedValues decodes shorter and failing input into values that held more: nothing stays.
func TestReusedValues(t *testing.T) {
	full := DataValue{Value: Array([]string{"a"}), SourceTimestamp: 5, ServerTimestamp: 6, Status: BadTimeout, SourcePicoseconds: 7, ServerPicoseconds: 8}
	for name, wire := range map[string]string{
		"nothing": "\x00", "null": "\x01\x00", "unknown bit": "\x40", "no value": "\x01", "half a time": "\x04\x01\x02",
		"number": "\x01\x03\x07", "half a number": "\x01\x0b\x07", "picoseconds alone": "\x10\x09\x00", "unknown type": "\x01\x3f",
	} {
		var fresh DataValue
		fresh.DecodeBinary(uabin.NewReader([]byte(wire)))
		used := full
		used.DecodeBinary(uabin.NewReader([]byte(wire)))
		if !used.Value.Equal(fresh.Value) {
			t.Errorf("%s: value %v, in a new one %v", name, used.Value, fresh.Value)
		}
		used.Value, fresh.Value = Variant{}, Variant{}
		if used != fresh {
			t.Errorf("%s: %+v, in a new one %+v", name, used, fresh)
		}
	}
}

// Every number decodes the same whether much or nothing stands behind it, and cut off it fails.
func TestNumbersAtTheEnd(t *testing.T) {
	for typ, s := range samples() {
		for i := range s.many.Len() {
			v := s.many.Index(i)
			if typ == TypeVariant {
				continue
			}
			wire := v.AppendBinary(nil)
			got := decodeVariant(t, wire)
			var long Variant
			r := uabin.NewReader(append(wire[:len(wire):len(wire)], make([]byte, 32)...))
			if long.DecodeBinary(r); !long.Equal(got) || r.Offset() != len(wire) {
				t.Errorf("%v: %v at the end, %v before other bytes, %d of %d bytes read", typ, got, long, r.Offset(), len(wire))
			}
		}
	}
}

// The null ExtensionObject: {} as a field of the verbose form, nothing in the compact one, null in
// arrays (Part 6, 5.4.2.1 and 5.4.2.16).
func TestJSONNullExtensionObject(t *testing.T) {
	x := &NotificationMessage{NotificationData: []ExtensionObject{{}}}
	y := &RequestHeader{}
	verbose := &JSONOptions{Encoding: JSONVerbose}
	for _, c := range []struct{ got, want string }{
		{string(verbose.AppendStructure(nil, y)), `"AdditionalHeader":{}}`},
		{string(new(JSONOptions).AppendStructure(nil, y)), `{}`},
		{string(verbose.AppendStructure(nil, x)), `"NotificationData":[null]}`},
	} {
		if !strings.HasSuffix(c.got, c.want) {
			t.Errorf("%s does not end in %s", c.got, c.want)
		}
	}
	if err := verbose.DecodeStructure([]byte(`{"AdditionalHeader":{}}`), y); err != nil || !y.AdditionalHeader.IsNull() {
		t.Error(err)
	}
}
