package memspace

import (
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
	"github.com/actua/actua/ua/uaserver"
)

// samples has a scalar of each built-in type that a variable can have.
func samples() map[ua.BuiltInType]ua.Variant {
	return map[ua.BuiltInType]ua.Variant{
		ua.TypeBoolean: ua.Boolean(true), ua.TypeSByte: ua.SByte(-1), ua.TypeByte: ua.Byte(1),
		ua.TypeInt16: ua.Int16(-2), ua.TypeUInt16: ua.UInt16(2), ua.TypeInt32: ua.Int32(-3),
		ua.TypeUInt32: ua.UInt32(3), ua.TypeInt64: ua.Int64(-4), ua.TypeUInt64: ua.UInt64(4),
		ua.TypeFloat: ua.Float(1.5), ua.TypeDouble: ua.Double(2.5), ua.TypeString: ua.String("s"),
		ua.TypeDateTime: ua.Now().Variant(), ua.TypeGUID: ua.GUID{1}.Variant(),
		ua.TypeByteString: ua.ByteString([]byte{1}), ua.TypeXMLElement: ua.XMLElement("<a/>").Variant(),
		ua.TypeNodeID: ua.ID(85).Variant(), ua.TypeExpandedNodeID: ua.ID(85).Expanded().Variant(),
		ua.TypeStatusCode: ua.BadTimeout.Variant(), ua.TypeQualifiedName: ua.QualifiedName{Name: "q"}.Variant(),
		ua.TypeLocalizedText:   ua.Text("t").Variant(),
		ua.TypeExtensionObject: ua.NewExtensionObject(&ua.Range{High: 1}).Variant(),
		ua.TypeDataValue:       ua.DataValue{Value: ua.Int32(1)}.Variant(),
		ua.TypeDiagnosticInfo:  ua.DiagnosticInfo{}.Variant(),
	}
}

// V08: each built-in type refuses all others, the wrong rank and null, and keeps its value.
func TestWriteTypeMatrix(t *testing.T) {
	s := newSpace(t)
	all := samples()
	for typ, value := range all {
		v := s.AddVariable(s.Objects(), typ.String(), value, Writable())
		refuse := func(what string, x ua.Variant) {
			if status := write(s, v.ID(), x); status != ua.BadTypeMismatch {
				t.Errorf("%v: %s: %v", typ, what, status)
			}
			if !v.Get().Equal(value) {
				t.Errorf("%v: %s changed the value to %v", typ, what, v.Get())
			}
		}
		for other, x := range all {
			if other != typ {
				refuse("a "+other.String(), x)
			}
		}
		refuse("null", ua.Variant{})
		if typ != ua.TypeByteString {
			refuse("an array", ua.Array([]uint8{1, 2}))
		}
		refuse("an array of Variant", ua.Array([]ua.Variant{value}))
		if status := write(s, v.ID(), value); status != ua.Good {
			t.Errorf("%v: its own type: %v", typ, status)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// V08: what differs but is allowed, and what looks alike but is not.
func TestWriteRelatedTypes(t *testing.T) {
	s := newSpace(t)
	level := s.AddType(s.zero(uaid.Enumeration), "Level", WithDefinition(&ua.EnumDefinition{}))
	bytes, text := ua.Array([]uint8{1, 2}), ua.ByteString([]byte{1, 2})
	matrix, _ := ua.Matrix([]int16{1, 2, 3, 4}, 2, 2)
	tall, _ := ua.Matrix([]int16{1, 2, 3, 4, 5, 6}, 3, 2)
	argument := ua.NewExtensionObject(&ua.Argument{Name: "a"}).Variant()
	foreign := ua.ExtensionObject{TypeID: ua.NewNodeID(7, 7), Encoding: ua.BodyBinary, Body: []byte{1}}.Variant()
	encoded := ua.ExtensionObject{TypeID: ua.ID(uaid.Argument_Encoding_DefaultBinary), Encoding: ua.BodyBinary, Body: []byte{1}}.Variant()
	for _, c := range []struct {
		name  string
		first ua.Variant
		opts  []Option
		write ua.Variant
		want  ua.StatusCode
		store ua.Variant // zero: write
	}{
		{"ByteString takes Byte[]", text, nil, ua.Array([]uint8{9}), ua.Good, ua.ByteString([]byte{9})},
		{"Byte[] takes ByteString", bytes, nil, ua.ByteString([]byte{9}), ua.Good, ua.Array([]uint8{9})},
		{"Byte takes no ByteString", ua.Byte(1), nil, text, ua.BadTypeMismatch, ua.Variant{}},
		{"SByte[] takes no ByteString", ua.Array([]int8{1}), nil, text, ua.BadTypeMismatch, ua.Variant{}},
		{"enumeration takes Int32", ua.Int32(0), []Option{WithDataType(level.ID())}, ua.Int32(1), ua.Good, ua.Variant{}},
		{"enumeration takes no UInt32", ua.Int32(0), []Option{WithDataType(level.ID())}, ua.UInt32(1), ua.BadTypeMismatch, ua.Variant{}},
		{"Duration takes Double", ua.Double(0), []Option{WithDataType(ua.ID(uaid.Duration))}, ua.Double(1), ua.Good, ua.Variant{}},
		{"Number takes Byte", ua.Double(0), []Option{WithDataType(ua.ID(uaid.Number))}, ua.Byte(1), ua.Good, ua.Variant{}},
		{"Number takes no String", ua.Double(0), []Option{WithDataType(ua.ID(uaid.Number))}, ua.String("1"), ua.BadTypeMismatch, ua.Variant{}},
		{"Number takes no Boolean", ua.Double(0), []Option{WithDataType(ua.ID(uaid.Number))}, ua.Boolean(true), ua.BadTypeMismatch, ua.Variant{}},
		{"Integer takes Int64", ua.Int16(0), []Option{WithDataType(ua.ID(uaid.Integer))}, ua.Int64(1), ua.Good, ua.Variant{}},
		{"Integer takes no Byte", ua.Int16(0), []Option{WithDataType(ua.ID(uaid.Integer))}, ua.Byte(1), ua.BadTypeMismatch, ua.Variant{}},
		{"UInteger takes Byte", ua.UInt16(0), []Option{WithDataType(ua.ID(uaid.UInteger))}, ua.Byte(1), ua.Good, ua.Variant{}},
		{"BaseDataType takes all", ua.UInt16(0), []Option{WithDataType(ua.ID(uaid.BaseDataType))}, ua.String("x"), ua.Good, ua.Variant{}},
		{"BaseDataType takes null", ua.UInt16(0), []Option{WithDataType(ua.ID(uaid.BaseDataType)), WithRank(RankAny)}, ua.Variant{}, ua.Good, ua.Variant{}},
		{"Number[] takes Variant[] of numbers", ua.Array([]float64{1}), []Option{WithDataType(ua.ID(uaid.Number))},
			ua.Array([]ua.Variant{ua.Byte(1), ua.Double(2)}), ua.Good, ua.Variant{}},
		{"Number[] takes no Variant[] with a String", ua.Array([]float64{1}), []Option{WithDataType(ua.ID(uaid.Number))},
			ua.Array([]ua.Variant{ua.Byte(1), ua.String("2")}), ua.BadTypeMismatch, ua.Variant{}},
		{"Structure takes a subtype", argument, []Option{WithDataType(ua.ID(uaid.Structure))},
			ua.NewExtensionObject(&ua.Range{}).Variant(), ua.Good, ua.Variant{}},
		{"Argument takes no Range", argument, nil, ua.NewExtensionObject(&ua.Range{}).Variant(), ua.BadTypeMismatch, ua.Variant{}},
		{"Argument takes no unknown structure", argument, nil, foreign, ua.BadTypeMismatch, ua.Variant{}},
		{"Argument takes an Argument that is not decoded", argument, nil, encoded, ua.Good, ua.Variant{}},
		{"EnumValueType takes its subtype", ua.NewExtensionObject(&ua.EnumValueType{}).Variant(), nil,
			ua.NewExtensionObject(&ua.EnumField{}).Variant(), ua.Good, ua.Variant{}},
		{"String takes a null String", ua.String("a"), nil, ua.String(uabin.NullString), ua.Good, ua.Variant{}},
		{"matrix takes no array", matrix, nil, ua.Array([]int16{1, 2, 3, 4}), ua.BadTypeMismatch, ua.Variant{}},
		{"matrix takes no scalar", matrix, nil, ua.Int16(1), ua.BadTypeMismatch, ua.Variant{}},
		{"matrix keeps within its dimensions", matrix, []Option{WithDimensions(2, 2)}, tall, ua.BadTypeMismatch, ua.Variant{}},
		{"matrix without bounds grows", matrix, nil, tall, ua.Good, ua.Variant{}},
		{"array takes no matrix", ua.Array([]int16{1}), nil, matrix, ua.BadTypeMismatch, ua.Variant{}},
		{"array keeps within its dimension", ua.Array([]int16{1}), []Option{WithDimensions(2)}, ua.Array([]int16{1, 2, 3}), ua.BadTypeMismatch, ua.Variant{}},
		{"any rank takes a scalar", ua.Array([]int16{1}), []Option{WithRank(RankAny)}, ua.Int16(1), ua.Good, ua.Variant{}},
		{"scalar or one dimension takes no matrix", ua.Int16(1), []Option{WithRank(RankScalarOrOneDimension)}, matrix, ua.BadTypeMismatch, ua.Variant{}},
		{"one or more dimensions takes no scalar", matrix, []Option{WithRank(RankOneOrMoreDimensions)}, ua.Int16(1), ua.BadTypeMismatch, ua.Variant{}},
	} {
		v := s.AddVariable(s.Objects(), c.name, c.first, append(c.opts, Writable())...)
		if err := v.Err(); err != nil {
			t.Fatal(c.name, err)
		}
		want := c.write
		if c.want != ua.Good {
			want = c.first
		} else if c.store.Type() != ua.TypeNull {
			want = c.store
		}
		if got := write(s, v.ID(), c.write); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if !v.Get().Equal(want) {
			t.Errorf("%s: value is %v, want %v", c.name, v.Get(), want)
		}
	}
}

// V10: status and times only with the access bits for them.
func TestWriteStatusAndTimes(t *testing.T) {
	s := newSpace(t)
	plain := s.AddVariable(s.Objects(), "Plain", ua.Int32(1), Writable())
	status := s.AddVariable(s.Objects(), "Status", ua.Int32(1), Writable(), WithAccess(3|ua.AccessLevelTypeStatusWrite))
	times := s.AddVariable(s.Objects(), "Times", ua.Int32(1), Writable(), WithAccess(3|ua.AccessLevelTypeTimestampWrite))
	uncertain := ua.DataValue{Value: ua.Int32(2), Status: ua.UncertainLastUsableValue}
	dated := ua.DataValue{Value: ua.Int32(3), SourceTimestamp: 1000}
	expect(t, "status without StatusWrite", writeRange(s, plain.ID(), "", uncertain), ua.BadWriteNotSupported)
	expect(t, "source time without TimestampWrite", writeRange(s, plain.ID(), "", dated), ua.BadWriteNotSupported)
	expect(t, "server time without TimestampWrite",
		writeRange(s, plain.ID(), "", ua.DataValue{Value: ua.Int32(3), ServerTimestamp: 5}), ua.BadWriteNotSupported)
	expect(t, "time with StatusWrite only", writeRange(s, status.ID(), "", dated), ua.BadWriteNotSupported)
	expect(t, "value after refusals", plain.Get().Int(), 1)
	expect(t, "status with StatusWrite", writeRange(s, status.ID(), "", uncertain), ua.Good)
	expect(t, "status", status.Value().Status, ua.UncertainLastUsableValue)
	expect(t, "a value without status makes it Good", write(s, status.ID(), ua.Int32(9)), ua.Good)
	expect(t, "status", status.Value().Status, ua.Good)
	expect(t, "time with TimestampWrite", writeRange(s, times.ID(), "", dated), ua.Good)
	expect(t, "time", times.Value().SourceTimestamp, 1000)
	expect(t, "a bad status needs no value",
		writeRange(s, status.ID(), "", ua.DataValue{Status: ua.BadNoCommunication}), ua.Good)
	expect(t, "read of a bad value", read(s, status.ID(), ua.AttributeValue).Status, ua.BadNoCommunication)
}

// C32: a cell of a matrix; and ranges that do not fit.
func TestWriteRanges(t *testing.T) {
	s := newSpace(t)
	cells, _ := ua.Matrix([]int16{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	v := s.AddVariable(s.Objects(), "Matrix", cells, Writable())
	text := s.AddVariable(s.Objects(), "Text", ua.String("hello"), Writable())
	one, _ := ua.Matrix([]int16{40}, 1, 1)
	wrong, _ := ua.Matrix([]int32{40}, 1, 1)
	put := func(n *Variable, rng string, x ua.Variant) ua.StatusCode {
		return writeRange(s, n.ID(), rng, ua.DataValue{Value: x})
	}
	expect(t, "wrong type", put(v, "1,0", wrong), ua.BadTypeMismatch)
	expect(t, "null", put(v, "1,0", ua.Variant{}), ua.BadTypeMismatch)
	expect(t, "beyond the end", put(v, "5,0", one), ua.BadIndexRangeNoData)
	expect(t, "one dimension too few", put(v, "1", ua.Array([]int16{1})), ua.BadIndexRangeNoData)
	expect(t, "too many elements", put(v, "1,0:1", one), ua.BadIndexRangeDataMismatch)
	if !v.Get().Equal(cells) {
		t.Errorf("refused writes changed the value: %v", v.Get())
	}
	expect(t, "one cell", put(v, "1,0", one), ua.Good)
	want, _ := ua.Matrix([]int16{1, 2, 3, 40, 5, 6, 7, 8, 9}, 3, 3)
	if !v.Get().Equal(want) {
		t.Errorf("value is %v", v.Get())
	}
	expect(t, "characters", put(text, "1:2", ua.String("EL")), ua.Good)
	expect(t, "text", text.Get().Str(), "hELlo")
}

func TestWriteAccess(t *testing.T) {
	s := newSpace(t)
	nobody := Allow(func(*uaserver.SessionInfo, ua.PermissionType) bool { return false })
	fixed := s.AddVariable(s.Objects(), "Fixed", ua.Int32(1))
	secret := s.AddVariable(s.Objects(), "Secret", ua.Int32(1), Writable(), nobody, WithWriteMask(ua.WriteMaskDisplayName))
	named := s.AddVariable(s.Objects(), "Named", ua.Int32(1), WithWriteMask(ua.WriteMaskDisplayName|ua.WriteMaskDescription))
	expect(t, "unknown node", write(s, ua.NewNodeID(2, 77), ua.Int32(1)), ua.BadNodeIdUnknown)
	expect(t, "read only", write(s, fixed.ID(), ua.Int32(2)), ua.BadNotWritable)
	expect(t, "no permission to write", write(s, secret.ID(), ua.Int32(2)), ua.BadUserAccessDenied)
	expect(t, "no permission to read", read(s, secret.ID(), ua.AttributeValue).Status, ua.BadUserAccessDenied)
	button := s.AddVariable(s.Objects(), "Button", ua.Int32(1), WithAccess(ua.AccessLevelTypeCurrentWrite))
	expect(t, "write only", read(s, button.ID(), ua.AttributeValue).Status, ua.BadNotReadable)
	expect(t, "write only", write(s, button.ID(), ua.Int32(2)), ua.Good)
	expect(t, "AccessLevel", read(s, secret.ID(), ua.AttributeAccessLevel).Value.Int(), 3)
	expect(t, "UserAccessLevel", read(s, secret.ID(), ua.AttributeUserAccessLevel).Value.Int(), 0)
	expect(t, "UserWriteMask", read(s, secret.ID(), ua.AttributeUserWriteMask).Value.Int(), 0)
	attribute := func(v *Variable, a ua.AttributeID, x ua.Variant) (status ua.StatusCode) {
		s.Write(session(""), []uaserver.WriteItem{{NodeID: v.ID(), Attribute: a, Value: &ua.DataValue{Value: x}, Result: &status}})
		return status
	}
	text := ua.Text("new").Variant()
	expect(t, "no WriteMask", attribute(fixed, ua.AttributeDisplayName, text), ua.BadNotWritable)
	expect(t, "no such attribute", attribute(fixed, ua.AttributeExecutable, ua.Boolean(true)), ua.BadAttributeIdInvalid)
	expect(t, "an attribute that is fixed", attribute(named, ua.AttributeDataType, ua.ID(1).Variant()), ua.BadNotWritable)
	expect(t, "no permission", attribute(secret, ua.AttributeDisplayName, text), ua.BadUserAccessDenied)
	expect(t, "wrong type", attribute(named, ua.AttributeDisplayName, ua.String("x")), ua.BadTypeMismatch)
	expect(t, "DisplayName", attribute(named, ua.AttributeDisplayName, text), ua.Good)
	expect(t, "Description", attribute(named, ua.AttributeDescription, text), ua.Good)
	expect(t, "DisplayName", named.DisplayName().Text, "new")
	expect(t, "BrowseName", named.BrowseName().Name, "Named")
}
