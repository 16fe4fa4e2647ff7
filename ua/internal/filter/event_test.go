package filter

import (
	"slices"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

func qn(names ...string) (path []ua.QualifiedName) {
	for _, n := range names {
		q, err := ua.ParseQualifiedName(n)
		if err != nil {
			panic(err)
		}
		path = append(path, q)
	}
	return path
}

// sao is a SimpleAttributeOperand for the Value under a path.
func sao(typ ua.NodeID, names ...string) ua.SimpleAttributeOperand {
	return ua.SimpleAttributeOperand{TypeDefinitionID: typ, BrowsePath: qn(names...), AttributeID: uint32(ua.AttributeValue)}
}

func conditionID(typ ua.NodeID) ua.SimpleAttributeOperand {
	return ua.SimpleAttributeOperand{TypeDefinitionID: typ, AttributeID: uint32(ua.AttributeNodeID)}
}

// wrapped makes operands: a Variant is a literal, an int refers to an element, a string is a field of
// the vendor's type or of BaseEventType, a structure is itself.
func wrapped(t testing.TB, operands ...any) (out []ua.ExtensionObject) {
	t.Helper()
	for _, o := range operands {
		switch x := o.(type) {
		case ua.Variant:
			out = append(out, ua.NewExtensionObject(&ua.LiteralOperand{Value: x}))
		case int:
			out = append(out, ua.NewExtensionObject(&ua.ElementOperand{Index: uint32(x)}))
		case string:
			f := sao(ua.ID(uaid.BaseEventType), x)
			out = append(out, ua.NewExtensionObject(&f))
		case ua.SimpleAttributeOperand:
			out = append(out, ua.NewExtensionObject(&x))
		case ua.ExtensionObject:
			out = append(out, x)
		case ua.Structure:
			out = append(out, ua.NewExtensionObject(x))
		default:
			t.Fatalf("operand %T", o)
		}
	}
	return out
}

type op struct {
	operator ua.FilterOperator
	operands []any
}

func where(t testing.TB, elements ...op) *ua.EventFilter {
	t.Helper()
	f := &ua.EventFilter{SelectClauses: []ua.SimpleAttributeOperand{sao(ua.ID(uaid.BaseEventType), "EventId")}}
	for _, e := range elements {
		f.WhereClause.Elements = append(f.WhereClause.Elements,
			ua.ContentFilterElement{FilterOperator: e.operator, FilterOperands: wrapped(t, e.operands...)})
	}
	return f
}

func compileEvents(t testing.TB, f *ua.EventFilter) *EventFilter {
	t.Helper()
	c, result, status := CompileEvents(f, testTypes, Options{Diagnostics: true})
	if status != ua.Good || result != nil {
		t.Fatalf("%v, %+v", status, result)
	}
	return c
}

var (
	theCondition = ua.NewStringNodeID(2, "Plant.Mixer.Alarm")
	theSource    = ua.NewStringNodeID(2, "Plant.Mixer")
)

// vendorEvent has a value in every standard field and some of its own.
func vendorEvent() *BaseEvent {
	e := NewBaseEvent(Base{
		EventID: []byte{1, 2, 3}, EventType: vendorType, SourceNode: theSource, SourceName: "Mixer", Time: 1000, ReceiveTime: 1001,
		LocalTime: &ua.TimeZoneDataType{Offset: 60}, Message: ua.LocalizedText{Locale: "en", Text: "too hot"}, Severity: 700,
		ConditionClassID: ua.ID(uaid.ProcessConditionClassType), ConditionClassName: ua.Text("Process"),
		ConditionSubClassID: []ua.NodeID{ua.ID(1)}, ConditionSubClassName: []ua.LocalizedText{ua.Text("sub")}, ConditionID: theCondition,
	})
	e.Set(ua.String("abc"), ua.Good, qn("2:Text")...)
	e.Set(ua.Double(41), ua.Good, qn("2:Number")...)
	e.Set(ua.Double(42.5), ua.Good, qn("2:Number")...)
	e.Set(ua.Array([]int32{1, 2, 3, 4}), ua.Good, qn("2:List")...)
	e.Set(ua.Boolean(true), ua.Good, qn("2:Flag")...)
	e.Set(vendorType.Variant(), ua.Good, qn("2:Node")...)
	e.Set(ua.Variant{}, ua.BadUserAccessDenied, qn("2:Denied")...)
	e.Set(ua.Double(1), ua.UncertainInitialValue, qn("2:Unsure")...)
	e.Set(ua.Text("Enabled").Variant(), ua.Good, qn("EnabledState")...)
	e.Set(ua.Boolean(true), ua.Good, qn("EnabledState", "Id")...)
	return e
}

func selected(t testing.TB, e Event, clauses ...ua.SimpleAttributeOperand) []ua.Variant {
	t.Helper()
	c := compileEvents(t, &ua.EventFilter{SelectClauses: clauses})
	out := make([]ua.Variant, c.Fields())
	for i := range out {
		out[i] = ua.String("left from before")
	}
	c.Select(e, out)
	return out
}

func expectValues(t *testing.T, got []ua.Variant, want ...ua.Variant) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Type() != want[i].Type() || !Equal(got[i], want[i]) {
			t.Errorf("value %d is %v %v, want %v %v", i, got[i].Type(), got[i], want[i].Type(), want[i])
		}
	}
}

func TestSelectStandardFields(t *testing.T) {
	base := ua.ID(uaid.BaseEventType)
	var clauses []ua.SimpleAttributeOperand
	for f := EventID; f < ConditionID; f++ {
		clauses = append(clauses, sao(base, f.String()))
	}
	expectValues(t, selected(t, vendorEvent(), clauses...),
		ua.ByteString([]byte{1, 2, 3}), vendorType.Variant(), theSource.Variant(), ua.String("Mixer"), ua.DateTime(1000).Variant(),
		ua.DateTime(1001).Variant(), ua.NewExtensionObject(&ua.TimeZoneDataType{Offset: 60}).Variant(),
		ua.LocalizedText{Locale: "en", Text: "too hot"}.Variant(), ua.UInt16(700), ua.ID(uaid.ProcessConditionClassType).Variant(),
		ua.Text("Process").Variant(), ua.Array([]ua.NodeID{ua.ID(1)}), ua.Array([]ua.LocalizedText{ua.Text("sub")}))
	// What an event does not say is null; the type and the severity are always there.
	got := selected(t, NewBaseEvent(Base{}), clauses...)
	for i, f := 0, EventID; f < ConditionID; i, f = i+1, f+1 {
		switch f {
		case EventType:
			expectValues(t, got[i:i+1], base.Variant())
		case Severity:
			expectValues(t, got[i:i+1], ua.UInt16(1))
		default:
			if !isNull(got[i]) && f != Time && f != ReceiveTime {
				t.Errorf("%v is %v", f, got[i])
			}
		}
	}
}

// Report V19: a client may name BaseEventType, the exact type or one between for a field, and gets the
// ConditionId by an empty path with the attribute NodeId; in select and in where.
func TestReportV19ConditionIDAndOperandTypes(t *testing.T) {
	e := vendorEvent()
	number, message := ua.Double(42.5), ua.LocalizedText{Locale: "en", Text: "too hot"}.Variant()
	for _, typ := range []ua.NodeID{ua.ID(uaid.BaseEventType), ua.ID(uaid.ConditionType), vendorType, {}} {
		expectValues(t, selected(t, e, sao(typ, "Message"), conditionID(typ)), message, theCondition.Variant())
		c := compileEvents(t, where(t,
			op{ua.FilterOperatorAnd, []any{1, 2}},
			op{ua.FilterOperatorEquals, []any{conditionID(typ), theCondition.Variant()}},
			op{ua.FilterOperatorEquals, []any{sao(typ, "SourceNode"), theSource.Variant()}}))
		if !c.Matches(e, new(Scratch)) {
			t.Errorf("%v: the where clause does not match", typ)
		}
	}
	expectValues(t, selected(t, e, sao(ua.ID(uaid.BaseEventType), "2:Number"), sao(vendorType, "2:Number"), sao(vendorType, "EnabledState", "Id"),
		sao(ua.ID(uaid.BaseEventType), "EnabledState", "Id")), number, number, ua.Boolean(true), ua.Boolean(true))
	// A type that the event is not of gives null, also for fields that it has; so do plain events.
	expectValues(t, selected(t, e, sao(ua.ID(uaid.SystemEventType), "Message"), conditionID(ua.ID(uaid.SystemEventType))), ua.Variant{}, ua.Variant{})
	odd := NewBaseEvent(Base{EventType: vendorType})
	odd.Set(ua.Int32(1), ua.Good) // without a path: not the condition
	expectValues(t, selected(t, odd, conditionID(vendorType)), ua.Variant{})
	plain := NewBaseEvent(Base{EventType: ua.ID(uaid.DeviceFailureEventType), SourceName: "x"})
	expectValues(t, selected(t, plain, conditionID(ua.ID(uaid.BaseEventType)), conditionID(ua.ID(uaid.ConditionType)), sao(ua.ID(uaid.SystemEventType), "SourceName"),
		sao(vendorType, "2:Number")), ua.Variant{}, ua.Variant{}, ua.String("x"), ua.Variant{})
}

func TestSelectStatusAndRange(t *testing.T) {
	ranged := func(r, name string) ua.SimpleAttributeOperand {
		c := sao(vendorType, name)
		c.IndexRange = r
		return c
	}
	expectValues(t, selected(t, vendorEvent(), sao(vendorType, "2:Denied"), ranged("1:2", "2:List"), ranged("9", "2:List"),
		ranged("1", "2:Text"), ranged("0", "2:Any"), sao(vendorType, "2:Unsure")),
		ua.BadUserAccessDenied.Variant(), ua.Array([]int32{2, 3}), ua.BadIndexRangeNoData.Variant(), ua.String("b"), ua.Variant{}, ua.UncertainInitialValue.Variant())
	// A value may be withdrawn from a standard field as well, and come back.
	e := vendorEvent()
	e.Set(ua.Variant{}, ua.BadNotReadable, qn("Message")...)
	expectValues(t, selected(t, e, sao(vendorType, "Message")), ua.BadNotReadable.Variant())
	e.Set(ua.Text("again").Variant(), ua.Good, qn("Message")...)
	expectValues(t, selected(t, e, sao(vendorType, "Message")), ua.Text("again").Variant())
}

func TestSelectErrors(t *testing.T) {
	base := ua.ID(uaid.BaseEventType)
	change := func(f func(*ua.SimpleAttributeOperand)) ua.SimpleAttributeOperand {
		c := sao(base, "Message")
		f(&c)
		return c
	}
	attribute := func(a ua.AttributeID, path ...string) ua.SimpleAttributeOperand {
		c := sao(base, path...)
		c.AttributeID = uint32(a)
		return c
	}
	cases := []struct {
		name   string
		clause ua.SimpleAttributeOperand
		want   ua.StatusCode
	}{
		{"good", sao(base, "Message"), ua.Good},
		{"type unknown", sao(ua.NewNodeID(7, 7), "Message"), ua.BadTypeDefinitionInvalid},
		{"type of no event", sao(ua.ID(uaid.FolderType), "Message"), ua.BadTypeDefinitionInvalid},
		{"type above", sao(ua.ID(uaid.BaseObjectType), "Message"), ua.BadTypeDefinitionInvalid},
		{"null name", change(func(c *ua.SimpleAttributeOperand) { c.BrowsePath = make([]ua.QualifiedName, 1) }), ua.BadBrowseNameInvalid},
		{"null name with namespace", change(func(c *ua.SimpleAttributeOperand) { c.BrowsePath = []ua.QualifiedName{{NamespaceIndex: 2}} }), ua.BadBrowseNameInvalid},
		{"path unknown", sao(base, "Nothing"), ua.BadNodeIdUnknown},
		{"path of another type", sao(ua.ID(uaid.SystemEventType), "2:Number"), ua.BadNodeIdUnknown},
		{"namespace differs", sao(base, "1:Message"), ua.BadNodeIdUnknown},
		{"path too deep", sao(base, "Message", "Message"), ua.BadNodeIdUnknown},
		{"attribute 0", attribute(0, "Message"), ua.BadAttributeIdInvalid},
		{"attribute beyond", attribute(1000, "Message"), ua.BadAttributeIdInvalid},
		{"attribute of a field", attribute(ua.AttributeDataType, "Message"), ua.BadAttributeIdInvalid},
		{"value of an object", sao(vendorType, "2:Box"), ua.BadAttributeIdInvalid},
		{"value of the event", sao(base), ua.BadAttributeIdInvalid},
		{"range", change(func(c *ua.SimpleAttributeOperand) { c.IndexRange = "2:1" }), ua.BadIndexRangeInvalid},
		{"range of a NodeId", func() ua.SimpleAttributeOperand { c := conditionID(base); c.IndexRange = "1"; return c }(), ua.BadIndexRangeInvalid},
	}
	all := &ua.EventFilter{}
	for _, c := range cases {
		all.SelectClauses = append(all.SelectClauses, c.clause)
	}
	f, result, status := CompileEvents(all, testTypes, Options{Diagnostics: true})
	if status != ua.Good || f == nil || result == nil {
		t.Fatalf("wrong select clauses cost the item: %v", status)
	}
	out := make([]ua.Variant, f.Fields())
	f.Select(vendorEvent(), out)
	for i, c := range cases {
		if got := result.SelectClauseResults[i]; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if (result.SelectClauseDiagnosticInfos[i].AdditionalInfo != "") != (c.want != ua.Good) {
			t.Errorf("%s: diagnostics %+v", c.name, result.SelectClauseDiagnosticInfos[i])
		}
		if (out[i] != ua.Variant{}) != (c.want == ua.Good) {
			t.Errorf("%s: the field is %v", c.name, out[i])
		}
	}
	if _, quiet, _ := CompileEvents(all, testTypes, Options{}); quiet.SelectClauseDiagnosticInfos != nil {
		t.Error("diagnostics that nobody asked for")
	}
	// Without a right clause there is no item.
	f, result, status = CompileEvents(&ua.EventFilter{SelectClauses: all.SelectClauses[1:3]}, testTypes, Options{})
	if f != nil || status != ua.BadEventFilterInvalid || !slices.Equal(result.SelectClauseResults, []ua.StatusCode{ua.BadTypeDefinitionInvalid, ua.BadTypeDefinitionInvalid}) {
		t.Errorf("no right clause: %v, %+v", status, result)
	}
	if f, _, status := CompileEvents(&ua.EventFilter{}, testTypes, Options{}); f != nil || status != ua.BadEventFilterInvalid {
		t.Errorf("no clause: %v", status)
	}
}

// The decoder uses the slices of a request again: a compiled filter must not look at them.
func TestFilterOutlivesItsRequest(t *testing.T) {
	f := where(t, op{ua.FilterOperatorAnd, []any{1, 2}},
		op{ua.FilterOperatorEquals, []any{"2:Text", ua.String("abc")}},
		op{ua.FilterOperatorOfType, []any{vendorType.Variant()}})
	f.SelectClauses = []ua.SimpleAttributeOperand{sao(vendorType, "2:Number")}
	c := compileEvents(t, f)
	f.SelectClauses[0].BrowsePath[0].Name = "Text"
	for i := range f.WhereClause.Elements {
		e := &f.WhereClause.Elements[i]
		e.FilterOperator = ua.FilterOperatorIsNull
		for j := range e.FilterOperands {
			switch x := e.FilterOperands[j].Value.(type) {
			case *ua.SimpleAttributeOperand:
				x.BrowsePath[0].Name = "Nothing"
			case *ua.LiteralOperand:
				x.Value = ua.Variant{}
			case *ua.ElementOperand:
				x.Index = 0
			}
			e.FilterOperands[j] = ua.ExtensionObject{}
		}
	}
	out := make([]ua.Variant, 1)
	c.Select(vendorEvent(), out)
	expectValues(t, out, ua.Double(42.5))
	if !c.Matches(vendorEvent(), new(Scratch)) {
		t.Error("the where clause changed with the request")
	}
}

func TestQueueOverflowEvent(t *testing.T) {
	e := NewQueueOverflow([]byte{9}, 5000)
	base := ua.ID(uaid.BaseEventType)
	got := selected(t, e, sao(base, "EventId"), sao(base, "EventType"), sao(base, "SourceNode"), sao(base, "SourceName"), sao(base, "Time"), sao(base, "Severity"), sao(base, "Message"))
	expectValues(t, got[:6], ua.ByteString([]byte{9}), ua.ID(uaid.EventQueueOverflowEventType).Variant(), ua.ID(uaid.Server).Variant(),
		ua.String("Internal/EventQueueOverflow"), ua.DateTime(5000).Variant(), ua.UInt16(500))
	if got[6].Str() == "" {
		t.Error("no message")
	}
	if e.Source() != ua.ID(uaid.Server) {
		t.Errorf("source %v", e.Source())
	}
}

func TestManyOwnerTypes(t *testing.T) {
	// More types than one machine word has bits.
	types := newTypeTable()
	var f ua.EventFilter
	for i := range 150 {
		id := ua.NewNodeID(3, uint32(i+1))
		super := ua.NewNodeID(3, uint32(i))
		if i == 0 {
			super = ua.ID(uaid.BaseEventType)
		}
		types.super[id], types.class[id] = super, ua.NodeClassObjectType
		f.SelectClauses = append(f.SelectClauses, sao(id, "SourceName"), sao(id, "SourceName"))
	}
	c, _, status := CompileEvents(&f, types, Options{})
	if status != ua.Good {
		t.Fatal(status)
	}
	for _, n := range []int{1, 64, 65, 100, 150} {
		e := NewBaseEvent(Base{EventType: ua.NewNodeID(3, uint32(n)), SourceName: "x"})
		out := make([]ua.Variant, c.Fields())
		c.Select(e, out)
		for i, v := range out {
			if (v.Str() == "x") != (i/2 < n) {
				t.Fatalf("event of type %d: clause %d gives %v", n, i, v)
			}
		}
	}
}

func budgetFilter(t testing.TB) *EventFilter {
	f := where(t,
		op{ua.FilterOperatorAnd, []any{1, 2}},
		op{ua.FilterOperatorOfType, []any{ua.ID(uaid.ConditionType).Variant()}},
		op{ua.FilterOperatorOr, []any{3, 4}},
		op{ua.FilterOperatorGreaterThanOrEqual, []any{"Severity", ua.Int32(500)}},
		op{ua.FilterOperatorLike, []any{"Message", ua.String("%hot%")}})
	base := ua.ID(uaid.BaseEventType)
	f.SelectClauses = []ua.SimpleAttributeOperand{sao(base, "EventId"), sao(base, "EventType"), sao(base, "SourceNode"), sao(base, "SourceName"),
		sao(base, "Time"), sao(base, "Message"), sao(ua.ID(uaid.ConditionType), "EnabledState", "Id"), conditionID(ua.ID(uaid.ConditionType))}
	return compileEvents(t, f)
}

func TestEventFilterDoesNotAllocate(t *testing.T) {
	c, e := budgetFilter(t), vendorEvent()
	out := make([]ua.Variant, c.Fields())
	var s Scratch
	if !c.Matches(e, &s) {
		t.Fatal("no match")
	}
	if n := testing.AllocsPerRun(100, func() {
		if c.Matches(e, &s) {
			c.Select(e, out)
		}
	}); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkEventFilter(b *testing.B) {
	c, e := budgetFilter(b), vendorEvent()
	out := make([]ua.Variant, c.Fields())
	var s Scratch
	b.Run("where of 5", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !c.Matches(e, &s) {
				b.Fatal("no match")
			}
		}
	})
	b.Run("select of 8", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Select(e, out)
		}
	})
	b.Run("NewBaseEvent", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewBaseEvent(Base{EventID: []byte{1}, SourceNode: theSource, SourceName: "x", Severity: 1})
		}
	})
}
