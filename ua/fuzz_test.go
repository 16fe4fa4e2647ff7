package ua

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/actua/actua/ua/uabin"
)

// binaryValue is what the fuzz targets decode and encode.
type binaryValue interface {
	AppendBinary(b []byte) []byte
	DecodeBinary(r *uabin.Reader)
}

// fuzzBinary holds a type against the three promises of its decoder: it does not panic, it allocates no
// more than the input justifies, and what it read is written so that it reads the same.
func fuzzBinary(t *testing.T, b []byte, newValue func() binaryValue) {
	v := newValue()
	r := uabin.NewReader(b)
	if n := allocated(func() { v.DecodeBinary(r) }); n > uint64(400*len(b)+2<<20) {
		t.Fatalf("%d bytes allocated for an input of %d", n, len(b))
	}
	if err := r.Err(); err != nil {
		if !errors.Is(err, BadDecodingError) && !errors.Is(err, BadEncodingLimitsExceeded) {
			t.Fatal(err)
		}
		return
	}
	first := v.AppendBinary(nil)
	w := newValue()
	r = uabin.NewReader(first)
	w.DecodeBinary(r)
	if r.Err() != nil || r.Remaining() != 0 {
		t.Fatalf("% x: written as % x, which gives %v and leaves %d bytes", b, first, r.Err(), r.Remaining())
	}
	if second := w.AppendBinary(nil); !bytes.Equal(first, second) {
		t.Fatalf("% x: written as % x, then as % x", b, first, second)
	}
	// Decoding into a value that was used must give the same as into a new one.
	r = uabin.NewReader(first)
	v.DecodeBinary(r)
	if again := v.AppendBinary(nil); r.Err() != nil || !bytes.Equal(first, again) {
		t.Fatalf("% x: read again into the same value it is % x, %v", first, again, r.Err())
	}
}

func seedValues(f *testing.F, types ...BuiltInType) {
	for _, t := range types {
		s := samples()[t]
		for i := range s.many.Len() {
			v := s.many.Index(i)
			f.Add(appendBuiltIn(nil, t, v))
		}
	}
}

type nodeIDBox struct{ NodeID }

func (n *nodeIDBox) AppendBinary(b []byte) []byte { return n.NodeID.AppendBinary(b) }

func FuzzVariant(f *testing.F) {
	for _, v := range values() {
		f.Add(v.AppendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzBinary(t, b, func() binaryValue { return new(Variant) })
		var v Variant
		r := uabin.NewReader(b)
		if v.DecodeBinary(r); r.OK() {
			if !v.Equal(decodeVariant(t, v.AppendBinary(nil))) {
				t.Fatal("not equal to itself")
			}
			_ = v.String()
			_ = v.Any()
			for i := range min(v.Len(), 100) {
				_ = v.Index(i)
			}
		}
	})
}

func FuzzDataValue(f *testing.F) {
	seedValues(f, TypeDataValue)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(DataValue) }) })
}

func FuzzNodeID(f *testing.F) {
	seedValues(f, TypeNodeID)
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzBinary(t, b, func() binaryValue { return new(nodeIDBox) })
		var n NodeID
		if n.DecodeBinary(uabin.NewReader(b)); !n.IsNull() {
			if back, err := ParseNodeID(n.String()); err != nil || back != n {
				t.Fatalf("%q: %v, %v", n, back, err)
			}
		}
	})
}

func FuzzExpandedNodeID(f *testing.F) {
	seedValues(f, TypeExpandedNodeID)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(ExpandedNodeID) }) })
}

func FuzzExtensionObject(f *testing.F) {
	seedValues(f, TypeExtensionObject)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(ExtensionObject) }) })
}

func FuzzDiagnosticInfo(f *testing.F) {
	seedValues(f, TypeDiagnosticInfo)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(DiagnosticInfo) }) })
}

func FuzzLocalizedText(f *testing.F) {
	seedValues(f, TypeLocalizedText)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(LocalizedText) }) })
}

func FuzzQualifiedName(f *testing.F) {
	seedValues(f, TypeQualifiedName)
	f.Fuzz(func(t *testing.T, b []byte) { fuzzBinary(t, b, func() binaryValue { return new(QualifiedName) }) })
}

// FuzzStructures covers all structures and service messages: the first two bytes choose one, by the
// number of its binary encoding or, when there is none of that number, by its place in the table.
func FuzzStructures(f *testing.F) {
	fill := func(info *StructureInfo, round int) []byte {
		id := binary.LittleEndian.AppendUint16(nil, uint16(info.BinaryID.NodeID.numeric))
		return (&filler{round: round}).structure(id, info, 0)
	}
	for _, name := range []string{"ReadRequest", "ReadResponse", "PublishResponse", "CreateSessionResponse", "HistoryReadRequest", "CreateMonitoredItemsRequest",
		"LogRecord", "Argument", "ContentFilter", "DataSetMetaDataType", "ServiceFault", "BrowseResponse", "CallRequest", "WriteRequest"} {
		f.Add(fill(StructureNamed(name), 1))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 {
			return
		}
		n := int(binary.LittleEndian.Uint16(b))
		info := StructureOfEncoding(uint32(n))
		if info == nil {
			info = structuresByName[n%len(structuresByName)]
		}
		fuzzBinary(t, b[2:], func() binaryValue { return info.New() })
		s := info.New()
		r := uabin.NewReader(b[2:])
		if s.DecodeBinary(r); !r.OK() || info.DataTypeID.IsNull() {
			return
		}
		o := new(JSONOptions)
		text := o.AppendStructure(nil, s)
		back := info.New()
		if err := o.DecodeStructure(text, back); errors.Is(err, BadEncodingLimitsExceeded) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v in %s", info.Name, err, text)
		}
		if again := o.AppendStructure(nil, back); !bytes.Equal(text, again) {
			t.Fatalf("%s became %s", text, again)
		}
	})
}

// FuzzJSON: what can be read can be written and read again.
func FuzzJSON(f *testing.F) {
	for _, v := range values() {
		f.Add(string(new(JSONOptions).AppendVariant(nil, v)))
	}
	f.Add(`{"Type":22,"Body":{"TypeId":{"Id":886},"Encoding":1,"Body":"AAAAAAAA8D8AAAAAAAAAQA=="}}`)
	f.Add(`{"Type":17,"Body":{"IdType":1,"Id":"x","Namespace":2}}`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, o := range jsonForms {
			v, err := o.DecodeVariant([]byte(s))
			if err != nil {
				if !errors.Is(err, BadDecodingError) && !errors.Is(err, BadEncodingLimitsExceeded) {
					t.Fatal(err)
				}
				return
			}
			first := o.AppendVariant(nil, v)
			w, err := o.DecodeVariant(first)
			if errors.Is(err, BadEncodingLimitsExceeded) {
				return // a body in base64 may be nested deeper when it is shown by its fields
			}
			if err != nil {
				t.Fatalf("%s: %v", first, err)
			}
			if second := o.AppendVariant(nil, w); !bytes.Equal(first, second) {
				t.Fatalf("%s became %s", first, second)
			}
			if !v.Equal(w) {
				t.Fatalf("%s: % x became % x", first, v.AppendBinary(nil), w.AppendBinary(nil))
			}
			_ = v.String()
		}
		for typ := TypeBoolean; typ <= TypeDiagnosticInfo; typ++ {
			if v, err := ParseVariant(typ, s); err == nil {
				_ = v.String()
			}
		}
	})
}
