package filter

import (
	"math"
	"testing"
	"unsafe"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

func compiled(t testing.TB, f ua.DataChangeFilter, v Variable) DataChange {
	t.Helper()
	if v.Attribute == 0 {
		v.Attribute = ua.AttributeValue
	}
	if v.DataType.IsNull() {
		v.DataType = ua.ID(uaid.Double)
	}
	c, status := CompileDataChange(&f, v, testTypes)
	if status != ua.Good {
		t.Fatal(status)
	}
	return c
}

func absolute(deadband float64) ua.DataChangeFilter {
	return ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: uint32(ua.DeadbandTypeAbsolute), DeadbandValue: deadband}
}

func percent(deadband float64) ua.DataChangeFilter {
	return ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue, DeadbandType: uint32(ua.DeadbandTypePercent), DeadbandValue: deadband}
}

func TestDataChangeFilterErrors(t *testing.T) {
	number := Variable{Attribute: ua.AttributeValue, DataType: ua.ID(uaid.Double), EURange: &ua.Range{Low: 0, High: 10}}
	with := func(change func(*Variable)) Variable {
		v := number
		change(&v)
		return v
	}
	status := func(trigger int32, kind uint32) ua.DataChangeFilter {
		return ua.DataChangeFilter{Trigger: ua.DataChangeTrigger(trigger), DeadbandType: kind}
	}
	text := with(func(v *Variable) { v.DataType = ua.ID(uaid.String) })
	noRange := with(func(v *Variable) { v.EURange = nil })
	for name, c := range map[string]struct {
		f    ua.DataChangeFilter
		v    Variable
		want ua.StatusCode
	}{
		"good absolute":                 {absolute(1), number, ua.Good},
		"good absolute of 0":            {absolute(0), noRange, ua.Good},
		"good percent":                  {percent(100), number, ua.Good},
		"good on a subtype of Number":   {absolute(1), with(func(v *Variable) { v.DataType = ua.ID(uaid.Duration) }), ua.Good},
		"good on Number itself":         {absolute(1), with(func(v *Variable) { v.DataType = ua.ID(uaid.Number) }), ua.Good},
		"no deadband on a String":       {status(2, 0), text, ua.Good},
		"no deadband on an attribute":   {status(1, 0), with(func(v *Variable) { v.Attribute = ua.AttributeDisplayName }), ua.Good},
		"unused value that is wrong":    {ua.DataChangeFilter{DeadbandValue: math.NaN()}, text, ua.Good},
		"trigger beyond the last":       {status(3, 0), number, ua.BadMonitoredItemFilterInvalid},
		"negative trigger":              {status(-1, 0), number, ua.BadMonitoredItemFilterInvalid},
		"deadband type beyond the last": {status(1, 3), number, ua.BadMonitoredItemFilterUnsupported},
		"deadband type far beyond":      {status(1, math.MaxUint32), number, ua.BadMonitoredItemFilterUnsupported},
		// Report U25: a deadband is refused where there is no number.
		"absolute on a String":          {absolute(1), text, ua.BadFilterNotAllowed},
		"percent on a String":           {percent(1), text, ua.BadFilterNotAllowed},
		"absolute on an enumeration":    {absolute(1), with(func(v *Variable) { v.DataType = ua.ID(uaid.ServerState) }), ua.BadFilterNotAllowed},
		"absolute on an unknown type":   {absolute(1), with(func(v *Variable) { v.DataType = ua.NewNodeID(9, 9) }), ua.BadFilterNotAllowed},
		"absolute on another attribute": {absolute(1), with(func(v *Variable) { v.Attribute = ua.AttributeValueRank }), ua.BadFilterNotAllowed},
		"negative":                      {absolute(-1), number, ua.BadDeadbandFilterInvalid},
		"NaN":                           {absolute(math.NaN()), number, ua.BadDeadbandFilterInvalid},
		"infinite":                      {absolute(math.Inf(1)), number, ua.BadDeadbandFilterInvalid},
		"percent above 100":             {percent(100.1), number, ua.BadDeadbandFilterInvalid},
		"negative percent":              {percent(-0.1), number, ua.BadDeadbandFilterInvalid},
		"percent without a range":       {percent(1), noRange, ua.BadDeadbandFilterInvalid},
		"percent of an empty range":     {percent(1), with(func(v *Variable) { v.EURange = &ua.Range{Low: 5, High: 5} }), ua.BadDeadbandFilterInvalid},
		"percent of a reversed range":   {percent(1), with(func(v *Variable) { v.EURange = &ua.Range{Low: 5, High: 1} }), ua.BadDeadbandFilterInvalid},
		"percent of an infinite range":  {percent(1), with(func(v *Variable) { v.EURange = &ua.Range{Low: 5, High: math.Inf(1)} }), ua.BadDeadbandFilterInvalid},
		"percent of a NaN range":        {percent(1), with(func(v *Variable) { v.EURange = &ua.Range{Low: math.NaN(), High: 1} }), ua.BadDeadbandFilterInvalid},
		"the widest range":              {percent(10), with(func(v *Variable) { v.EURange = &ua.Range{Low: -math.MaxFloat64, High: math.MaxFloat64} }), ua.Good},
	} {
		got, result := CompileDataChange(&c.f, c.v, testTypes)
		if result != c.want {
			t.Errorf("%s: %v, want %v", name, result, c.want)
		}
		if result != ua.Good && got != (DataChange{}) {
			t.Errorf("%s: something came with the error", name)
		}
	}
	if c, status := CompileDataChange(nil, text, testTypes); status != ua.Good || c != (DataChange{}) {
		t.Errorf("no filter: %v, %v", c, status)
	}
}

func TestFilterParameter(t *testing.T) {
	data, event := ua.NewExtensionObject(&ua.DataChangeFilter{}), ua.NewExtensionObject(&ua.EventFilter{})
	aggregate, other := ua.NewExtensionObject(&ua.AggregateFilter{}), ua.NewExtensionObject(&ua.Range{})
	broken, unknown := raw(data.TypeID.Numeric(), 1, 2), raw(424242, 1, 2)
	vendor := ua.ExtensionObject{TypeID: ua.NewNodeID(3, 724), Encoding: ua.BodyBinary}
	for name, c := range map[string]struct {
		filter                ua.ExtensionObject
		onValue, onEvents, on ua.StatusCode // on: a data change filter of EventNotifier
	}{
		"null":        {ua.ExtensionObject{}, ua.Good, ua.BadEventFilterInvalid, ua.Good},
		"data change": {data, ua.Good, ua.BadFilterNotAllowed, ua.BadFilterNotAllowed},
		"event":       {event, ua.BadFilterNotAllowed, ua.Good, ua.BadFilterNotAllowed},
		"aggregate":   {aggregate, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported},
		"no filter":   {other, ua.BadMonitoredItemFilterInvalid, ua.BadMonitoredItemFilterInvalid, ua.BadMonitoredItemFilterInvalid},
		"broken":      {broken, ua.BadMonitoredItemFilterInvalid, ua.BadMonitoredItemFilterInvalid, ua.BadMonitoredItemFilterInvalid},
		"unknown":     {unknown, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported},
		"vendor's":    {vendor, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported, ua.BadMonitoredItemFilterUnsupported},
	} {
		if f, got := DataChangeOf(&c.filter, ua.AttributeValue); got != c.onValue || (f != nil) != (name == "data change") {
			t.Errorf("%s on Value: %v, %v, want %v", name, f, got, c.onValue)
		}
		if f, got := EventFilterOf(&c.filter); got != c.onEvents || (f != nil) != (name == "event") {
			t.Errorf("%s on events: %v, %v, want %v", name, f, got, c.onEvents)
		}
		if f, got := DataChangeOf(&c.filter, ua.AttributeEventNotifier); got != c.on || f != nil {
			t.Errorf("%s for data changes of EventNotifier: %v, %v, want %v", name, f, got, c.on)
		}
	}
}

// follow counts what is reported, with the last reported value as the one to compare with.
func follow(c DataChange, values ...ua.DataValue) (reported []int) {
	last := &values[0]
	reported = append(reported, 0)
	for i := range values[1:] {
		if next := &values[i+1]; c.Accept(last, next) {
			reported = append(reported, i+1)
			last = next
		}
	}
	return reported
}

func wantReports(t *testing.T, what string, got []int, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: reported %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: reported %v, want %v", what, got, want)
		}
	}
}

// Report U24: with a deadband, a change of status is reported although the value is stable.
func TestReportU24StatusInsideDeadband(t *testing.T) {
	values := []ua.DataValue{
		{Value: ua.Double(5)},
		{Value: ua.Double(5), Status: ua.BadCommunicationError},
		{Value: ua.Double(6)},
		{Value: ua.Double(7)},
	}
	wantReports(t, "absolute", follow(compiled(t, absolute(10), Variable{}), values...), 0, 1, 2)
	wantReports(t, "percent", follow(compiled(t, percent(10), Variable{EURange: &ua.Range{High: 100}}), values...), 0, 1, 2)
	arrays := make([]ua.DataValue, len(values))
	for i, v := range values {
		arrays[i] = ua.DataValue{Value: ua.Array([]float64{v.Value.Float(), 0}), Status: v.Status}
	}
	wantReports(t, "array", follow(compiled(t, absolute(10), Variable{}), arrays...), 0, 1, 2)
}

// Report U25: every sample of a String is reported when its time is new, though the text is the same.
func TestReportU25TimestampWithoutDeadband(t *testing.T) {
	f := ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValueTimestamp}
	c := compiled(t, f, Variable{DataType: ua.ID(uaid.String)})
	at := func(source, server ua.DateTime) ua.DataValue {
		return ua.DataValue{Value: ua.String("same"), SourceTimestamp: source, ServerTimestamp: server}
	}
	wantReports(t, "timestamps", follow(c, at(1, 1), at(2, 2), at(3, 3), at(3, 4), at(4, 4)), 0, 1, 2, 4)
	picos := at(4, 4)
	picos.SourcePicoseconds = 1
	wantReports(t, "picoseconds", follow(c, at(4, 4), picos), 0, 1)
	var none DataChange
	wantReports(t, "without the trigger", follow(none, at(1, 1), at(2, 2), at(3, 3)), 0)
	// With a deadband the trigger is that of StatusValue (Part 4, 7.10).
	banded := absolute(1)
	banded.Trigger = ua.DataChangeTriggerStatusValueTimestamp
	wantReports(t, "with a deadband", follow(compiled(t, banded, Variable{}),
		ua.DataValue{Value: ua.Double(1), SourceTimestamp: 1}, ua.DataValue{Value: ua.Double(1), SourceTimestamp: 2}), 0)
}

func TestTriggers(t *testing.T) {
	values := []ua.DataValue{
		{Value: ua.Int32(1), SourceTimestamp: 1},
		{Value: ua.Int32(1), SourceTimestamp: 2},                                               // time
		{Value: ua.Int32(2), SourceTimestamp: 2},                                               // value
		{Value: ua.Int32(2), SourceTimestamp: 2, Status: ua.UncertainInitialValue},             // status
		{Value: ua.Int32(2), SourceTimestamp: 2, Status: ua.UncertainInitialValue | 0x0480},    // a queue's overflow bit
		{Value: ua.Int32(2), SourceTimestamp: 2, Status: ua.UncertainInitialValue | 0x4000},    // semantics changed
		{Value: ua.String("2"), SourceTimestamp: 2, Status: ua.UncertainInitialValue | 0x4000}, // type
		{SourceTimestamp: 2, Status: ua.UncertainInitialValue | 0x4000},                        // null
	}
	wantReports(t, "Status", follow(compiled(t, ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatus}, Variable{}), values...), 0, 3, 5)
	wantReports(t, "StatusValue", follow(compiled(t, ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValue}, Variable{}), values...), 0, 2, 3, 5, 6, 7)
	wantReports(t, "none", follow(DataChange{}, values...), 0, 2, 3, 5, 6, 7)
	wantReports(t, "StatusValueTimestamp", follow(compiled(t, ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValueTimestamp}, Variable{}), values...), 0, 1, 2, 3, 5, 6, 7)
}

func TestDeadbandOfEveryNumber(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		deadband float64
		a, b     ua.Variant
		want     bool
	}{
		"SByte on the edge":        {255, ua.SByte(-128), ua.SByte(127), false},
		"SByte beyond":             {254, ua.SByte(-128), ua.SByte(127), true},
		"Byte":                     {1, ua.Byte(254), ua.Byte(255), false},
		"Byte beyond":              {0.5, ua.Byte(255), ua.Byte(254), true},
		"Int16":                    {65534, ua.Int16(math.MinInt16), ua.Int16(math.MaxInt16), true},
		"UInt16":                   {65535, ua.UInt16(0), ua.UInt16(math.MaxUint16), false},
		"Int32":                    {math.MaxUint32 - 1, ua.Int32(math.MaxInt32), ua.Int32(math.MinInt32), true},
		"UInt32":                   {math.MaxUint32, ua.UInt32(0), ua.UInt32(math.MaxUint32), false},
		"Int64 without loss":       {1, ua.Int64(1<<60 + 2), ua.Int64(1 << 60), true},
		"Int64 without loss, edge": {2, ua.Int64(1<<60 + 2), ua.Int64(1 << 60), false},
		"Int64 whole range":        {1<<64 - 1<<11, ua.Int64(math.MinInt64), ua.Int64(math.MaxInt64), true},
		"Int64 deadband 2^64":      {1 << 64, ua.Int64(math.MinInt64), ua.Int64(math.MaxInt64), false},
		"Int64 fraction":           {1.5, ua.Int64(1), ua.Int64(2), false},
		"Int64 fraction beyond":    {1.5, ua.Int64(1), ua.Int64(3), true},
		"Int64 deadband 0":         {0, ua.Int64(math.MaxInt64), ua.Int64(math.MaxInt64 - 1), true},
		"UInt64 without loss":      {0, ua.UInt64(math.MaxUint64), ua.UInt64(math.MaxUint64 - 1), true},
		"UInt64 edge":              {1, ua.UInt64(math.MaxUint64), ua.UInt64(math.MaxUint64 - 1), false},
		"UInt64 across the sign":   {10, ua.UInt64(1<<63 - 1), ua.UInt64(1 << 63), false},
		"Float":                    {0.5, ua.Float(1), ua.Float(1.5), false},
		"Float beyond":             {0.5, ua.Float(1), ua.Float(1.5000001), true},
		"Double":                   {10, ua.Double(-5), ua.Double(5), false},
		"Double beyond":            {10, ua.Double(-5), ua.Double(5.1), true},
		"Double overflow":          {1, ua.Double(-math.MaxFloat64), ua.Double(math.MaxFloat64), true},
		"Double deadband 0, same":  {0, ua.Double(0), ua.Double(math.Copysign(0, -1)), false},
		"into NaN":                 {10, ua.Double(1), ua.Double(nan), true},
		"still NaN":                {10, ua.Double(nan), ua.Double(math.Float64frombits(0x7FF8000000000123)), false},
		"out of NaN":               {10, ua.Float(float32(nan)), ua.Float(1), true},
		"into infinity":            {1e308, ua.Double(1), ua.Double(inf), true},
		"still infinite":           {10, ua.Double(inf), ua.Double(inf), false},
		"other infinity":           {1e308, ua.Double(inf), ua.Double(-inf), true},
		"another type":             {10, ua.Double(1), ua.Float(1), true},
		"null":                     {10, ua.Double(1), ua.Variant{}, true},
		"both null":                {10, ua.Variant{}, ua.Variant{}, false},
		"no numbers":               {10, ua.String("a"), ua.String("b"), true},
		"the same text":            {10, ua.String("a"), ua.String("a"), false},
	} {
		d := compiled(t, absolute(c.deadband), Variable{})
		a, b := ua.DataValue{Value: c.a}, ua.DataValue{Value: c.b}
		if got := d.Accept(&a, &b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := d.Accept(&b, &a); got != c.want {
			t.Errorf("%s, the other way: %v", name, got)
		}
	}
}

func matrix[T ua.Element](v []T, dims ...uint32) ua.Variant {
	m, err := ua.Matrix(v, dims...)
	if err != nil {
		panic(err)
	}
	return m
}

func TestDeadbandOfArrays(t *testing.T) {
	for name, c := range map[string]struct {
		a, b ua.Variant
		want bool
	}{
		"all inside":       {ua.Array([]float64{1, 2, 3}), ua.Array([]float64{2, 1, 4}), false},
		"the last beyond":  {ua.Array([]float64{1, 2, 3}), ua.Array([]float64{1, 2, 4.1}), true},
		"the first beyond": {ua.Array([]float64{1, 2, 3}), ua.Array([]float64{2.1, 2, 3}), true},
		"longer":           {ua.Array([]float64{1, 2}), ua.Array([]float64{1, 2, 3}), true},
		"empty, null":      {ua.Array([]float64{}), ua.Array[float64](nil), false},
		"to empty":         {ua.Array([]float64{1}), ua.Array[float64](nil), true},
		"to scalar":        {ua.Array([]float64{1}), ua.Double(1), true},
		"matrix inside":    {matrix([]int16{1, 2, 3, 4}, 2, 2), matrix([]int16{2, 3, 4, 5}, 2, 2), false},
		"matrix beyond":    {matrix([]int16{1, 2, 3, 4}, 2, 2), matrix([]int16{1, 2, 3, 6}, 2, 2), true},
		"another matrix":   {matrix([]int16{1, 2, 3, 4, 5, 6}, 2, 3), matrix([]int16{1, 2, 3, 4, 5, 6}, 3, 2), true},
		"NaN inside":       {ua.Array([]float32{float32(math.NaN())}), ua.Array([]float32{float32(math.NaN())}), false},
		"to NaN":           {ua.Array([]float32{1}), ua.Array([]float32{float32(math.NaN())}), true},
		"SByte":            {ua.Array([]int8{1}), ua.Array([]int8{3}), true},
		"Byte":             {ua.Array([]uint8{3}), ua.Array([]uint8{1}), true},
		"UInt16":           {ua.Array([]uint16{3}), ua.Array([]uint16{1}), true},
		"Int32":            {ua.Array([]int32{-1}), ua.Array([]int32{1}), true},
		"UInt32":           {ua.Array([]uint32{0}), ua.Array([]uint32{2}), true},
		"Int64":            {ua.Array([]int64{1 << 60}), ua.Array([]int64{1<<60 + 2}), true},
		"UInt64":           {ua.Array([]uint64{1<<63 - 1}), ua.Array([]uint64{1<<63 + 1}), true},
		"UInt64 inside":    {ua.Array([]uint64{1<<63 - 1}), ua.Array([]uint64{1 << 63}), false},
		"Variants inside":  {ua.Array([]ua.Variant{ua.Int32(1), ua.Double(1)}), ua.Array([]ua.Variant{ua.Int32(2), ua.Double(2)}), false},
		"Variants beyond":  {ua.Array([]ua.Variant{ua.Int32(1), ua.Double(1)}), ua.Array([]ua.Variant{ua.Int32(2), ua.Double(2.1)}), true},
		"Variants, type":   {ua.Array([]ua.Variant{ua.Int32(1)}), ua.Array([]ua.Variant{ua.Double(1)}), true},
		"texts":            {ua.Array([]string{"a"}), ua.Array([]string{"b"}), true},
	} {
		d := compiled(t, absolute(1), Variable{})
		a, b := ua.DataValue{Value: c.a}, ua.DataValue{Value: c.b}
		if got := d.Accept(&a, &b); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if n := testing.AllocsPerRun(20, func() { d.Accept(&a, &b) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestPercentDeadband(t *testing.T) {
	d := compiled(t, percent(10), Variable{EURange: &ua.Range{Low: -50, High: 150}}) // 20 wide
	values := []ua.DataValue{{Value: ua.Double(0)}, {Value: ua.Double(20)}, {Value: ua.Double(20.5)}, {Value: ua.Double(1)}, {Value: ua.Double(0.4)}}
	wantReports(t, "scalars", follow(d, values...), 0, 2, 4)
	whole := compiled(t, percent(0), Variable{EURange: &ua.Range{Low: -50, High: 150}})
	wantReports(t, "of 0 percent", follow(whole, values...), 0, 1, 2, 3, 4)
}

func TestDataChangeIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(DataChange{}); n > 16 {
		t.Errorf("%d bytes", n)
	}
}

func BenchmarkAccept(b *testing.B) {
	values := [2]ua.DataValue{{Value: ua.Double(1), SourceTimestamp: 1}, {Value: ua.Double(1.5), SourceTimestamp: 2}}
	for name, c := range map[string]DataChange{"none": {}, "absolute": compiled(b, absolute(1), Variable{})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i, n := 0, 0
			for b.Loop() {
				if c.Accept(&values[i&1], &values[(i+1)&1]) {
					n++
				}
				i++
			}
		})
	}
	many := [2]ua.DataValue{{Value: ua.Array(make([]float64, 1000))}, {Value: ua.Array(make([]float64, 1000))}}
	c := compiled(b, absolute(1), Variable{})
	b.Run("array of 1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if c.Accept(&many[0], &many[1]) {
				b.Fatal("reported")
			}
		}
	})
}
