package filter

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uabin"
	"github.com/actua/actua/ua/uaid"
)

// countingTree counts how often a type is asked for, which is what an evaluation costs.
type countingTree struct {
	*typeTable
	asked int
}

func (c *countingTree) IsSubtype(t, super ua.NodeID) bool {
	c.asked++
	return c.typeTable.IsSubtype(t, super)
}

// A hundred elements, each of which refers twice to the next: without memory of results 2^100 steps.
func TestHostileDiamonds(t *testing.T) {
	types := &countingTree{typeTable: testTypes}
	var elements []op
	const depth = 900
	for i := range depth {
		elements = append(elements, op{ua.FilterOperatorAnd, []any{i + 1, i + 1}})
	}
	elements = append(elements, op{ua.FilterOperatorOfType, []any{vendorType.Variant()}})
	f, _, status := CompileEvents(where(t, elements...), types, Options{})
	if status != ua.Good {
		t.Fatal(status)
	}
	types.asked = 0
	if !f.Matches(vendorEvent(), new(Scratch)) {
		t.Error("no match")
	}
	if types.asked != 1 {
		t.Errorf("the last element was evaluated %d times", types.asked)
	}
}

func TestHostileSizes(t *testing.T) {
	many := func(n int, e op) (out []op) {
		for range n {
			out = append(out, e)
		}
		return out
	}
	one := op{ua.FilterOperatorIsNull, []any{ua.Int32(1)}}
	list := op{ua.FilterOperatorInList, []any{"Severity"}}
	for range 3999 {
		list.operands = append(list.operands, ua.Int32(1))
	}
	longList := op{list.operator, append(append([]any{}, list.operands...), ua.Int32(1))}
	for name, c := range map[string]struct {
		f    *ua.EventFilter
		o    Options
		want ua.StatusCode
	}{
		"10,000 elements":          {where(t, many(10_000, one)...), Options{}, ua.BadTooManyOperations},
		"1,000 elements":           {where(t, many(1_000, one)...), Options{}, ua.Good},
		"4,000 operands":           {where(t, list), Options{}, ua.Good},
		"4,001 operands":           {where(t, longList), Options{}, ua.BadTooManyOperations},
		"own limit of elements":    {where(t, many(3, one)...), Options{MaxWhereElements: 2}, ua.BadTooManyOperations},
		"own limit of operands":    {where(t, many(3, one)...), Options{MaxWhereOperands: 2}, ua.BadTooManyOperations},
		"own limit of clauses":     {&ua.EventFilter{SelectClauses: make([]ua.SimpleAttributeOperand, 3)}, Options{MaxSelectClauses: 2}, ua.BadTooManyOperations},
		"10,000 clauses":           {&ua.EventFilter{SelectClauses: make([]ua.SimpleAttributeOperand, 10_000)}, Options{}, ua.BadTooManyOperations},
		"1,000 clauses, all wrong": {&ua.EventFilter{SelectClauses: make([]ua.SimpleAttributeOperand, 1_000)}, Options{}, ua.BadEventFilterInvalid},
	} {
		if f, _, status := CompileEvents(c.f, testTypes, c.o); status != c.want || (f != nil) != (status == ua.Good) {
			t.Errorf("%s: %v, want %v", name, status, c.want)
		}
	}
}

// Constants cost nothing per event: a cast of an array is done once.
func TestHostileConstants(t *testing.T) {
	large := ua.Array(make([]int32, 1000))
	f := compileEvents(t, where(t,
		op{ua.FilterOperatorOr, []any{1, 2}},
		op{ua.FilterOperatorEquals, []any{3, 3}},
		op{ua.FilterOperatorIsNull, []any{"Message"}},
		op{ua.FilterOperatorCast, []any{large, ua.ID(uaid.String).Variant()}}))
	e := vendorEvent()
	var s Scratch
	if !f.Matches(e, &s) {
		t.Fatal("no match")
	}
	if n := testing.AllocsPerRun(10, func() { f.Matches(e, &s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What literals and casts of literals take is bounded, however few bytes the request had for them.
func TestHostileLiterals(t *testing.T) {
	is := ua.FilterOperatorIsNull
	literals := func(n int, v ua.Variant) *ua.EventFilter {
		list := op{ua.FilterOperatorInList, []any{"Severity"}}
		for range n {
			list.operands = append(list.operands, v)
		}
		return where(t, list)
	}
	casts := where(t, op{ua.FilterOperatorInList, []any{"Severity"}})
	const n = 100
	for i := range n {
		first := &casts.WhereClause.Elements[0]
		first.FilterOperands = append(first.FilterOperands, wrapped(t, i+1)...)
		e := where(t, op{ua.FilterOperatorCast, []any{n + 1, ua.ID(uaid.String).Variant()}}).WhereClause.Elements
		casts.WhereClause.Elements = append(casts.WhereClause.Elements, e...)
	}
	casts.WhereClause.Elements = append(casts.WhereClause.Elements,
		where(t, op{ua.FilterOperatorCast, []any{ua.Array(make([]uint8, 1000)), ua.ID(uaid.Int32).Variant()}}).WhereClause.Elements...)
	for name, c := range map[string]struct {
		f       *ua.EventFilter
		o       Options
		element ua.StatusCode
	}{
		"3,000 texts":     {literals(3000, ua.String("a text of some length")), Options{}, ua.Good},
		"long text":       {where(t, op{is, []any{ua.String(strings.Repeat("x", 300_000))}}), Options{}, ua.BadFilterOperandInvalid},
		"own limit":       {where(t, op{is, []any{ua.String(strings.Repeat("x", 1000))}}), Options{MaxLiteralBytes: 1000}, ua.BadFilterOperandInvalid},
		"empty texts":     {where(t, op{is, []any{ua.Array(make([]ua.LocalizedText, 5000))}}), Options{}, ua.BadFilterOperandInvalid},
		"many casts":      {casts, Options{}, ua.BadFilterOperandInvalid},
		"many, allowed":   {casts, Options{MaxLiteralBytes: 20 << 20}, ua.Good},
		"ignored element": {where(t, op{is, []any{"Message"}}, op{is, []any{ua.String(strings.Repeat("x", 300_000))}}), Options{}, ua.Good},
	} {
		var got ua.StatusCode
		var results []ua.ContentFilterElementResult
		used := allocated(func() {
			_, r, status := CompileEvents(c.f, testTypes, c.o)
			if r != nil {
				results = r.WhereClauseResult.ElementResults
			}
			got = status
		})
		if (got == ua.Good) != (c.element == ua.Good) {
			t.Errorf("%s: %v", name, got)
		}
		if got != ua.Good && !slices.ContainsFunc(results, func(r ua.ContentFilterElementResult) bool { return r.StatusCode == c.element }) {
			t.Errorf("%s: no element is %v", name, c.element)
		}
		if c.o.MaxLiteralBytes == 0 && used > 4<<20 {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

// allocated is the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func fromText(t testing.TB, text string) (x ua.ExtensionObject) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	r := uabin.NewReader(b)
	if x.DecodeBinary(r); r.Err() != nil || r.Remaining() != 0 {
		t.Fatalf("%v, %d bytes left", r.Err(), r.Remaining())
	}
	return x
}

func recordedFilter(t testing.TB) (filter ua.ExtensionObject, lists []string) {
	text, err := os.ReadFile("testdata/net-events.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			lists = append(lists, line)
		}
	}
	return fromText(t, lists[0]), lists[1:]
}

// The filter of a real client over the events of a real server gives the bytes that the server sent.
func TestRecordedEvents(t *testing.T) {
	x, lists := recordedFilter(t)
	source, status := EventFilterOf(&x)
	if status != ua.Good {
		t.Fatal(status)
	}
	f := compileEvents(t, source)
	if len(lists) != 3 {
		t.Fatalf("%d lists", len(lists))
	}
	for _, text := range lists {
		list := fromText(t, text).Value.(*ua.EventNotificationList)
		for i := range list.Events {
			sent := &list.Events[i]
			id := sent.EventFields[0].Bytes()
			message, _ := ua.As[ua.LocalizedText](sent.EventFields[4])
			e := NewBaseEvent(Base{EventID: id, EventType: sent.EventFields[1].NodeID(), SourceName: sent.EventFields[2].Str(),
				Time: sent.EventFields[3].DateTime(), Message: message, Severity: uint16(sent.EventFields[5].Uint())})
			if !f.Matches(e, new(Scratch)) {
				t.Error("no match")
			}
			ours := ua.EventFieldList{ClientHandle: sent.ClientHandle, EventFields: make([]ua.Variant, f.Fields())}
			f.Select(e, ours.EventFields)
			if got, want := ours.AppendBinary(nil), sent.AppendBinary(nil); !bytes.Equal(got, want) {
				t.Errorf("fields %v, want %v", ours.EventFields, sent.EventFields)
			}
		}
	}
}

func seedFilters(t testing.TB) (seeds []*ua.EventFilter) {
	x, _ := recordedFilter(t)
	seeds = append(seeds, x.Value.(*ua.EventFilter))
	for operator, rule := range operators {
		var fields, literals []any
		for i := range max(len(rule.operands), 1) {
			fields = append(fields, []any{"Severity", "Message", "2:Number"}[i%3])
			literals = append(literals, []ua.Variant{ua.Int32(1), ua.String("%[a-c]_\\x"), ua.ID(uaid.Double).Variant()}[i%3])
		}
		o := ua.FilterOperator(operator)
		seeds = append(seeds, where(t, op{ua.FilterOperatorNot, []any{1}}, op{o, fields}), where(t, op{o, literals}, op{o, fields}))
	}
	seeds = append(seeds, where(t, op{ua.FilterOperatorAnd, []any{1, 2}}, op{ua.FilterOperatorOfType, []any{vendorType.Variant()}},
		op{ua.FilterOperatorBetween, []any{"Severity", ua.Byte(1), ua.Double(900)}}))
	f := where(t, op{ua.FilterOperatorCast, []any{"2:List", "2:Node"}})
	f.SelectClauses = append(f.SelectClauses, conditionID(vendorType), ua.SimpleAttributeOperand{BrowsePath: qn("2:List"), AttributeID: 13, IndexRange: "1:2"})
	return append(seeds, f)
}

// FuzzEventFilter compiles and evaluates whatever decodes as an EventFilter.
func FuzzEventFilter(f *testing.F) {
	for _, s := range seedFilters(f) {
		f.Add(s.AppendBinary(nil))
	}
	events := []Event{vendorEvent(), NewBaseEvent(Base{}), NewQueueOverflow([]byte{1}, 1)}
	f.Fuzz(func(t *testing.T, b []byte) {
		var source ua.EventFilter
		r := uabin.NewReader(b)
		if source.DecodeBinary(r); r.Err() != nil {
			return
		}
		types := &countingTree{typeTable: testTypes}
		c, result, status := CompileEvents(&source, types, Options{Diagnostics: len(b)%2 == 0})
		if (c != nil) != (status == ua.Good) {
			t.Fatalf("%v with the filter %v", status, c)
		}
		if result != nil {
			checkResult(t, &source, result)
		}
		if c == nil {
			return
		}
		var s Scratch
		out, again := make([]ua.Variant, c.Fields()), make([]ua.Variant, c.Fields())
		for _, e := range events {
			types.asked = 0
			matches := c.Matches(e, &s)
			c.Select(e, out)
			if most := 30*len(c.elements) + 5*len(c.clauses) + len(c.selects); types.asked > most {
				t.Fatalf("%d questions for %d elements", types.asked, len(c.elements))
			}
			c.Select(e, again)
			for i := range out {
				if !Equal(out[i], again[i]) {
					t.Fatalf("field %d is %v, then %v", i, out[i], again[i])
				}
			}
			if c.Matches(e, &s) != matches {
				t.Fatal("another outcome the second time")
			}
		}
	})
}

// checkResult holds a result to the sizes of the filter (Part 4, 7.22.3).
func checkResult(t *testing.T, f *ua.EventFilter, r *ua.EventFilterResult) {
	w := &r.WhereClauseResult
	if len(r.SelectClauseResults) != len(f.SelectClauses) || len(w.ElementResults) != len(f.WhereClause.Elements) {
		t.Fatalf("%d and %d results for %d clauses and %d elements", len(r.SelectClauseResults), len(w.ElementResults), len(f.SelectClauses), len(f.WhereClause.Elements))
	}
	bad := 0
	for _, s := range r.SelectClauseResults {
		if s != ua.Good {
			bad++
		}
	}
	for i := range w.ElementResults {
		if len(w.ElementResults[i].OperandStatusCodes) != len(f.WhereClause.Elements[i].FilterOperands) {
			t.Fatalf("element %d: %d results of operands", i, len(w.ElementResults[i].OperandStatusCodes))
		}
		if w.ElementResults[i].StatusCode != ua.Good {
			bad++
		}
	}
	if bad == 0 {
		t.Fatal("a result without an error")
	}
}

// pair decodes two values from one input.
func pair(b []byte) (x, y ua.DataValue, ok bool) {
	r := uabin.NewReader(b)
	x.DecodeBinary(r)
	y.DecodeBinary(r)
	return x, y, r.OK()
}

// FuzzAccept holds the comparison of values to what follows from its meaning.
func FuzzAccept(f *testing.F) {
	for _, vs := range different() {
		for i := range vs {
			a, b := ua.DataValue{Value: vs[0], SourceTimestamp: 1}, ua.DataValue{Value: vs[i], Status: ua.StatusCode(i)}
			f.Add(b.AppendBinary(a.AppendBinary(nil)), 1.5)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, deadband float64) {
		x, y, ok := pair(b)
		if !ok {
			return
		}
		if !Equal(x.Value, decoded(t, x.Value)) {
			t.Fatalf("%v is not equal to itself", x.Value)
		}
		same := Equal(x.Value, y.Value)
		if same != Equal(y.Value, x.Value) {
			t.Fatalf("%v and %v: equal one way only", x.Value, y.Value)
		}
		if x.Value.Equal(y.Value) && !same {
			t.Fatalf("%v and %v are the same bytes", x.Value, y.Value)
		}
		v := Variable{Attribute: ua.AttributeValue, DataType: ua.ID(uaid.Number), EURange: &ua.Range{High: 100}}
		for kind := range uint32(3) {
			c, status := CompileDataChange(&ua.DataChangeFilter{Trigger: 1, DeadbandType: kind, DeadbandValue: deadband}, v, testTypes)
			if status != ua.Good {
				continue
			}
			reports := c.Accept(&x, &y)
			if reports != c.Accept(&y, &x) {
				t.Fatalf("%v and %v: reported one way only", x, y)
			}
			if reports && same && (x.Status^y.Status)&changeMask == 0 {
				t.Fatalf("%v and %v are the same and reported", x, y)
			}
			if c.Accept(&x, &x) {
				t.Fatalf("%v is reported after itself", x)
			}
		}
	})
}

// reference is a pattern of Like as a regular expression.
func reference(p string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	rs := []rune(p)
	one := func(i int) (string, int) { // a literal, escaped
		if rs[i] == '\\' {
			i++
		}
		return regexp.QuoteMeta(string(rs[i])), i + 1
	}
	for i := 0; i < len(rs); {
		switch rs[i] {
		case '%':
			b.WriteString(".*")
			i++
		case '_':
			b.WriteString(".")
			i++
		case '[':
			i++
			b.WriteString("[")
			if rs[i] == '^' {
				b.WriteString("^")
				i++
			}
			for rs[i] != ']' {
				var low string
				low, i = one(i)
				low = strings.ReplaceAll(low, "-", `\-`)
				b.WriteString(low)
				if rs[i] == '-' && rs[i+1] != ']' {
					var high string
					high, i = one(i + 1)
					b.WriteString("-" + strings.ReplaceAll(high, "-", `\-`))
				}
			}
			b.WriteString("]")
			i++
		default:
			var c string
			c, i = one(i)
			b.WriteString(c)
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

// FuzzLike compares with regular expressions.
func FuzzLike(f *testing.F) {
	for _, p := range []string{"%", "a%b_c", "Th[ia][ts]%", "[^13-5]", `\%[\]a-z-]`, "[", "[a", `\`} {
		f.Add("This 1%]-", p)
	}
	f.Fuzz(func(t *testing.T, s, p string) {
		if len(s) > 1000 || len(p) > 200 {
			return
		}
		got := like(s, p)
		valid := validPattern(p)
		if got && !valid {
			t.Fatalf("%q matches the malformed %q", s, p)
		}
		// Regular expressions read broken UTF-8 differently.
		if !valid || strings.ToValidUTF8(s+p, "") != s+p {
			return
		}
		if want := reference(p).MatchString(s); got != want {
			t.Fatalf("%q like %q: %v, %v", s, p, got, reference(p))
		}
	})
}
