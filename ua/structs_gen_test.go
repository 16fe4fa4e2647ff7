package ua

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// randomValue appends a value of a built-in type, made by the types' own encoders.
func randomValue(b []byte, t BuiltInType, rnd *rand.Rand) []byte {
	text := func() string { return []string{"", "a", "Grüße", "a longer text"}[rnd.IntN(4)] }
	switch t {
	case TypeBoolean:
		return uabin.AppendBool(b, rnd.IntN(2) == 1)
	case TypeSByte, TypeByte:
		return append(b, byte(rnd.Uint32()))
	case TypeInt16, TypeUInt16:
		return uabin.AppendUint16(b, uint16(rnd.Uint32()))
	case TypeInt32, TypeUInt32, TypeFloat, TypeStatusCode:
		return uabin.AppendUint32(b, rnd.Uint32())
	case TypeInt64, TypeUInt64, TypeDouble:
		return uabin.AppendUint64(b, rnd.Uint64())
	case TypeString, TypeXMLElement:
		return uabin.AppendString(b, text())
	case TypeDateTime:
		return DateTime(rnd.Int64N(int64(lastTick))).AppendBinary(b)
	case TypeGUID:
		return GUID{byte(rnd.Uint32()), 15: byte(rnd.Uint32())}.AppendBinary(b)
	case TypeByteString:
		return uabin.AppendBytes(b, [][]byte{nil, {}, {1, 2, 3}}[rnd.IntN(3)])
	case TypeNodeID:
		return NewNodeID(uint16(rnd.IntN(3)), rnd.Uint32()>>rnd.IntN(32)).AppendBinary(b)
	case TypeExpandedNodeID:
		return ExpandedNodeID{NodeID: NewStringNodeID(1, text()), ServerIndex: rnd.Uint32N(2), NamespaceURI: text()}.AppendBinary(b)
	case TypeQualifiedName:
		return QualifiedName{uint16(rnd.Uint32()), text()}.AppendBinary(b)
	case TypeLocalizedText:
		return LocalizedText{text(), text()}.AppendBinary(b)
	case TypeExtensionObject:
		e := NewExtensionObject([]Structure{nil, &Range{Low: 1, High: 2}, &Argument{Name: text()}}[rnd.IntN(3)])
		return e.AppendBinary(b)
	case TypeVariant:
		v := []Variant{{}, Scalar(text()), Scalar(rnd.Uint32()), Scalar(Text(text()))}[rnd.IntN(4)]
		return v.AppendBinary(b)
	case TypeDataValue:
		d := DataValue{Value: Scalar(rnd.Uint32()), Status: StatusCode(rnd.Uint32N(2) << 31)}
		return d.AppendBinary(b)
	case TypeDiagnosticInfo:
		d := DiagnosticInfo{Mask: DiagnosticSymbolicID, SymbolicID: rnd.Int32()}
		return d.AppendBinary(b)
	}
	panic("no such type")
}

// randomStructure appends a value of a structure as its descriptor says.
func randomStructure(b []byte, info *StructureInfo, rnd *rand.Rand) []byte {
	var mask uint32
	if info.Kind == StructureWithOptionalFields {
		n := 0
		for _, f := range info.Fields {
			if f.Optional {
				n++
			}
		}
		mask = rnd.Uint32N(1 << n)
		b = uabin.AppendUint32(b, mask)
	}
	for _, f := range info.Fields {
		if f.Optional {
			there := mask&1 != 0
			if mask >>= 1; !there {
				continue
			}
		}
		n := 1
		if f.Array {
			n = rnd.IntN(3)
			b = uabin.AppendInt32(b, int32(n))
		}
		for range n {
			if f.Struct != nil {
				b = randomStructure(b, f.Struct, rnd)
			} else {
				b = randomValue(b, f.Type, rnd)
			}
		}
	}
	return b
}

// TestStructuresAgreeWithDescriptors decodes and encodes values of all structures that were written
// field by field as the descriptors say.
func TestStructuresAgreeWithDescriptors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, info := range structuresByName {
		reused := info.New()
		for range 20 {
			wire := randomStructure(nil, info, rnd)
			r := uabin.NewReader(wire)
			reused.DecodeBinary(r)
			if r.Err() != nil || r.Remaining() != 0 {
				t.Fatalf("%s: %v, %d bytes left of %x", info.Name, r.Err(), r.Remaining(), wire)
			}
			if again := reused.AppendBinary(nil); !bytes.Equal(again, wire) {
				t.Fatalf("%s:\n got %x\nwant %x", info.Name, again, wire)
			}
		}
	}
}

// TestStructuresTruncated cuts values short at every byte.
func TestStructuresTruncated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, info := range structuresByName {
		wire := randomStructure(nil, info, rnd)
		for n := range wire {
			r := uabin.NewReader(wire[:n])
			if info.New().DecodeBinary(r); r.OK() {
				t.Fatalf("%s: %d of %d bytes are enough", info.Name, n, len(wire))
			}
		}
	}
}

// TestStructuresGarbage decodes noise: nothing may panic.
func TestStructuresGarbage(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, info := range structuresByName {
		for range 50 {
			wire := make([]byte, rnd.IntN(200))
			for i := range wire {
				if wire[i] = byte(rnd.Uint32()); rnd.IntN(2) == 0 {
					wire[i] = 0
				}
			}
			s := info.New()
			s.DecodeBinary(uabin.NewReader(wire))
			s.AppendBinary(nil)
		}
	}
}

func TestStructureLookups(t *testing.T) {
	for _, info := range structuresByName {
		if info.New().DataTypeID() != info.DataTypeID || info.New().BinaryID() != info.BinaryID {
			t.Errorf("%s: the descriptor and the type have different ids", info.Name)
		}
		if StructureNamed(info.Name) != info {
			t.Errorf("%s is not found by name", info.Name)
		}
		if id := info.DataTypeID.NodeID.Numeric(); id != 0 && StructureOf(id) != info {
			t.Errorf("%s is not found by data type", info.Name)
		}
		for _, e := range []ExpandedNodeID{info.BinaryID, info.XMLID, info.JSONID} {
			if id := e.NodeID.Numeric(); id != 0 && StructureOfEncoding(id) != info {
				t.Errorf("%s is not found by encoding %d", info.Name, id)
			}
		}
		made := newStructure(info.BinaryID.NodeID.Numeric())
		switch {
		case info.BinaryID.IsNull():
		case made == nil || made.DataTypeID() != info.DataTypeID:
			t.Errorf("%s is not made by its encoding", info.Name)
		}
	}
	if newStructure(0) != nil || StructureOf(0) != nil || StructureOfEncoding(1) != nil || StructureNamed("x") != nil || EnumOf(1) != nil {
		t.Error("something is found that does not exist")
	}
	if got := StructureOf(629); got == nil || got.Name != "ReadRequest" || got.BinaryID.NodeID != ID(631) {
		t.Errorf("ReadRequest: %+v", got)
	}
}

func TestLogRecordOptionalFields(t *testing.T) {
	name := "boiler"
	in := LogRecord{Severity: 7, SourceName: &name, AdditionalData: []NameValuePair{{Name: "a", Value: Scalar(int32(1))}}}
	wire := in.AppendBinary(nil)
	if wire[0] != 0x14 {
		t.Errorf("mask %#x, want 0x14", wire[0])
	}
	out := LogRecord{EventType: new(NodeID), TraceContext: new(TraceContextDataType)}
	out.DecodeBinary(uabin.NewReader(wire))
	if out.EventType != nil || out.TraceContext != nil || out.SourceName == nil || *out.SourceName != name || len(out.AdditionalData) != 1 {
		t.Errorf("got %+v", out)
	}
	wire[1] = 0x80
	r := uabin.NewReader(wire)
	if out.DecodeBinary(r); r.OK() {
		t.Error("an unknown bit in the mask is accepted")
	}
}

func TestEnumNames(t *testing.T) {
	for want, got := range map[string]string{
		"Object":                  NodeClassObject.String(),
		"99":                      NodeClass(99).String(),
		"None":                    AccessLevelTypeNone.String(),
		"CurrentRead|HistoryRead": (AccessLevelTypeCurrentRead | AccessLevelTypeHistoryRead).String(),
		"CurrentRead|0x80":        (AccessLevelTypeCurrentRead | 0x80).String(),
		"NodeId":                  WriteMaskNodeID.String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, e := range enumsByDataType {
		if id := e.DataTypeID.NodeID.Numeric(); id != 0 && EnumOf(id) != e {
			t.Errorf("%s is not found", e.Name)
		}
	}
}

func TestStatusNames(t *testing.T) {
	for i := range statusTable {
		s := statusTable[i]
		if i > 0 && statusTable[i-1].code >= s.code {
			t.Errorf("%s is out of order", s.name)
		}
		if got, err := ParseStatusCode(s.code.String()); err != nil || got != s.code || s.code.Text() == "" {
			t.Errorf("%s: %v, %v, %q", s.name, got, err, s.code.Text())
		}
	}
	if got := BadNodeIdUnknown.String(); got != "BadNodeIdUnknown" {
		t.Error(got)
	}
}

func TestAttributeNames(t *testing.T) {
	for a := AttributeNodeID; a <= AttributeAccessLevelEx; a++ {
		if got, err := ParseAttributeID(a.String()); err != nil || got != a {
			t.Errorf("%v: %v, %v", a, got, err)
		}
	}
	if a, err := ParseAttributeID("13"); err != nil || a != AttributeValue || a.String() != "Value" {
		t.Error(a, err)
	}
	for _, bad := range []string{"", "0", "28", "Nonsense"} {
		if _, err := ParseAttributeID(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if AttributeID(99).String() != "99" || AttributeID(0).IsValid() {
		t.Error("unknown attributes")
	}
}
