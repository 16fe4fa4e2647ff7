package filter

import (
	"cmp"
	"strings"

	"github.com/actua/actua/ua"
)

// element is one operator of a where clause.
type element struct {
	op       ua.FilterOperator
	cast     ua.BuiltInType // target of a Cast whose type is a literal
	slot     int            // where its result is kept
	operands []operand
}

// operand is a literal, the result of a later element, or a field of the event.
type operand struct {
	kind  operandKind
	index int // slot of an element, or index of a clause
	value ua.Variant
}

type operandKind uint8

const (
	literalOperand operandKind = iota
	elementOperand
	fieldOperand
)

// Scratch is memory for the evaluation of filters. One serves any number of filters, one after the
// other; each goroutine has its own.
type Scratch struct {
	results []ua.Variant
}

// evaluation is one event before one filter.
type evaluation struct {
	f       *EventFilter
	event   Event
	typ     ua.NodeID
	results []ua.Variant
	owners  ownerSet
}

// Matches reports whether the where clause is true of the event; without one every event matches. A
// clause that comes out as null, because a field is not there, is not true (Part 4, 7.7.3). Each
// element is evaluated at most once. Nothing is allocated but what casts to String and to structures
// such as NodeId take.
func (f *EventFilter) Matches(event Event, s *Scratch) bool {
	if len(f.elements) == 0 {
		return f.always
	}
	matches := f.run(event, s).Bool()
	clear(s.results) // the event is not kept alive
	return matches
}

// run evaluates a where clause that has elements.
func (f *EventFilter) run(event Event, s *Scratch) ua.Variant {
	if cap(s.results) < len(f.elements) {
		s.results = make([]ua.Variant, len(f.elements))
	}
	s.results = s.results[:len(f.elements)]
	e := evaluation{f: f, event: event, typ: event.Type(), results: s.results}
	// Operands refer to later elements only, and f.elements has those first.
	for i := range f.elements {
		x := &f.elements[i]
		e.results[x.slot] = e.evaluate(x)
	}
	return e.results[f.elements[len(f.elements)-1].slot]
}

// operand is the value of operand i; null if there is none.
func (e *evaluation) operand(x *element, i int) ua.Variant {
	switch o := &x.operands[i]; o.kind {
	case elementOperand:
		return e.results[o.index]
	case fieldOperand:
		v, status := e.f.clauses[o.index].value(e)
		if !status.IsGood() {
			return ua.Variant{} // the event does not have it for this client
		}
		return v
	default:
		return o.value
	}
}

// Results of operators: true, false, or null where that is not known.
var (
	yes  = ua.Boolean(true)
	no   = ua.Boolean(false)
	null = ua.Variant{}
)

func (e *evaluation) evaluate(x *element) ua.Variant {
	a := e.operand(x, 0)
	switch x.op {
	case ua.FilterOperatorIsNull:
		return ua.Boolean(isNull(a))
	case ua.FilterOperatorAnd, ua.FilterOperatorOr:
		return combine(x.op, logical(a), logical(e.operand(x, 1)))
	case ua.FilterOperatorNot:
		if a = logical(a); a != null {
			return ua.Boolean(!a.Bool())
		}
		return null
	case ua.FilterOperatorInList:
		return e.inList(x, a)
	}
	// All others are null when an operand is (Part 4, 7.7.3).
	if a.Type() == ua.TypeNull {
		return null
	}
	if x.op == ua.FilterOperatorOfType {
		id, ok := nodeID(a)
		return ua.Boolean(ok && e.f.types.IsSubtype(e.typ, id))
	}
	b := e.operand(x, 1)
	if b.Type() == ua.TypeNull {
		return null
	}
	switch x.op {
	case ua.FilterOperatorEquals:
		return ua.Boolean(equals(a, b))
	case ua.FilterOperatorLike:
		return ua.Boolean(likeValues(a, b))
	case ua.FilterOperatorBetween:
		c := e.operand(x, 2)
		if c.Type() == ua.TypeNull {
			return null
		}
		return ua.Boolean(between(a, b, c))
	case ua.FilterOperatorCast:
		to := x.cast
		if id, ok := nodeID(b); ok && to == 0 {
			to = builtInType(id, e.f.types)
		}
		if to == 0 {
			return null
		}
		return castTo(a, to)
	case ua.FilterOperatorBitwiseAnd, ua.FilterOperatorBitwiseOr:
		return bitwise(x.op, a, b)
	}
	n, ok := order(a, b)
	switch x.op {
	case ua.FilterOperatorGreaterThan:
		ok = ok && n > 0
	case ua.FilterOperatorLessThan:
		ok = ok && n < 0
	case ua.FilterOperatorGreaterThanOrEqual:
		ok = ok && n >= 0
	case ua.FilterOperatorLessThanOrEqual:
		ok = ok && n <= 0
	}
	return ua.Boolean(ok)
}

// isNull is the operator IsNull: no value, or the null value of a type that has one (Part 6, 5.1.2).
func isNull(v ua.Variant) bool {
	if v.IsNull() {
		return true
	}
	if v.IsArray() {
		return false
	}
	switch v.Type() {
	case ua.TypeNodeID:
		return v.NodeID().IsNull()
	case ua.TypeExpandedNodeID:
		x, _ := ua.As[ua.ExpandedNodeID](v)
		return x.IsNull()
	case ua.TypeQualifiedName:
		x, _ := ua.As[ua.QualifiedName](v)
		return x.IsNull()
	case ua.TypeLocalizedText:
		x, _ := ua.As[ua.LocalizedText](v)
		return x == ua.LocalizedText{}
	case ua.TypeExtensionObject:
		x, _ := ua.As[ua.ExtensionObject](v)
		return x.IsNull()
	}
	return false
}

// logical is a value as an operand of And, Or and Not: a Boolean, or null for what is none.
func logical(v ua.Variant) ua.Variant {
	v = single(v)
	if v.Type() == ua.TypeBoolean && !v.IsArray() {
		return ua.Boolean(v.Bool())
	}
	if v.Type() == ua.TypeString && !v.IsArray() {
		if b, ok := toBoolean(v); ok {
			return b
		}
	}
	return null
}

// combine is And and Or with null for what is not known (Part 4, 7.7.3, tables of AND and OR).
func combine(op ua.FilterOperator, a, b ua.Variant) ua.Variant {
	decides := no
	if op == ua.FilterOperatorOr {
		decides = yes
	}
	switch {
	case a == decides || b == decides:
		return decides
	case a == null || b == null:
		return null
	}
	return a
}

// inList is true when a equals one of the others, null when it does not and one of them, or a itself,
// is null.
func (e *evaluation) inList(x *element, a ua.Variant) ua.Variant {
	if a.Type() == ua.TypeNull {
		return null
	}
	result := no
	for i := 1; i < len(x.operands); i++ {
		switch b := e.operand(x, i); {
		case b.Type() == ua.TypeNull:
			result = null
		case equals(a, b):
			return yes
		}
	}
	return result
}

// single is the element of an array that has but one, which stands for a scalar (Part 4, 7.7.3).
func single(v ua.Variant) ua.Variant {
	if v.IsArray() && v.Len() == 1 {
		return v.Index(0)
	}
	return v
}

// equals is the operator Equals of two values that are there. What cannot be converted to a common
// type is not equal.
func equals(a, b ua.Variant) bool {
	if a.Type() == b.Type() && a.IsArray() == b.IsArray() {
		return Equal(a, b)
	}
	if a.IsArray() != b.IsArray() {
		if a, b = single(a), single(b); a.IsArray() || b.IsArray() {
			return false
		}
	}
	if !a.IsArray() {
		return equalConverted(a, b)
	}
	if common(a.Type(), b.Type()) == 0 || !a.SameShape(b) {
		return false
	}
	for i := range a.Len() {
		if !equalConverted(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func equalConverted(a, b ua.Variant) bool {
	t := common(a.Type(), b.Type())
	if t == 0 {
		return false
	}
	a, ok := convert(a, t)
	b, ok2 := convert(b, t)
	return ok && ok2 && Equal(a, b)
}

// order compares two values of ordered types after a conversion to the one that goes first; false
// when they have no order: another type, or NaN.
func order(a, b ua.Variant) (int, bool) {
	a, b = single(a), single(b)
	if a.IsArray() || b.IsArray() {
		return 0, false
	}
	t := common(a.Type(), b.Type())
	if t == 0 {
		return 0, false
	}
	a, ok := convert(a, t)
	b, ok2 := convert(b, t)
	if !ok || !ok2 {
		return 0, false
	}
	return compare(t, a, b)
}

// ordered are the types whose values have an order.
var ordered = numbers | setOf(ua.TypeDateTime, ua.TypeString)

// compare orders two scalars of one type. A NaN is equal to a NaN and has no order to numbers.
func compare(t ua.BuiltInType, a, b ua.Variant) (int, bool) {
	switch {
	case floats.has(t):
		x, y := a.Float(), b.Float()
		return cmp.Compare(x, y), (x != x) == (y != y)
	case t == ua.TypeUInt64:
		return cmp.Compare(a.Uint(), b.Uint()), true
	case t == ua.TypeString:
		return strings.Compare(a.Str(), b.Str()), true
	case ordered.has(t):
		return cmp.Compare(a.Int(), b.Int()), true
	}
	return 0, false
}

// between converts all three to one type first (Part 4, 7.7.3).
func between(v, low, high ua.Variant) bool {
	v, low, high = single(v), single(low), single(high)
	if v.IsArray() || low.IsArray() || high.IsArray() {
		return false
	}
	t := common(v.Type(), low.Type())
	if t != 0 {
		t = common(t, high.Type())
	}
	if t == 0 {
		return false
	}
	v, ok := convert(v, t)
	low, ok2 := convert(low, t)
	high, ok3 := convert(high, t)
	if !ok || !ok2 || !ok3 {
		return false
	}
	n, ok := compare(t, v, low)
	m, ok2 := compare(t, v, high)
	return ok && ok2 && n >= 0 && m <= 0
}

// likeValues is the operator Like of two values that are there; false when one of them is no text.
func likeValues(a, b ua.Variant) bool {
	a, b = single(a), single(b)
	if a.IsArray() || b.IsArray() || !texts.has(a.Type()) || !texts.has(b.Type()) {
		return false
	}
	return like(textOf(a), textOf(b))
}

// bitwise combines two integers in the size of the larger one; null when one is no integer or does not
// fit, as a negative number in an unsigned type. Of two types of one size the one of higher precedence
// is taken.
func bitwise(op ua.FilterOperator, a, b ua.Variant) ua.Variant {
	a, b = single(a), single(b)
	if a.IsArray() || b.IsArray() || !integers.has(a.Type()) || !integers.has(b.Type()) {
		return null
	}
	t := a.Type()
	if s := integerSize(b.Type()); s > integerSize(t) || s == integerSize(t) && precedence[b.Type()] < precedence[t] {
		t = b.Type()
	}
	a, ok := convert(a, t)
	b, ok2 := convert(b, t)
	if !ok || !ok2 {
		return null
	}
	n := a.Int() & b.Int()
	if op == ua.FilterOperatorBitwiseOr {
		n = a.Int() | b.Int()
	}
	if t == ua.TypeUInt64 {
		return ua.UInt64(uint64(n))
	}
	v, _ := fit(n, t)
	return v
}

func integerSize(t ua.BuiltInType) int {
	switch t {
	case ua.TypeSByte, ua.TypeByte:
		return 1
	case ua.TypeInt16, ua.TypeUInt16:
		return 2
	case ua.TypeInt32, ua.TypeUInt32:
		return 4
	}
	return 8
}

// nodeID is the local node that a value names.
func nodeID(v ua.Variant) (ua.NodeID, bool) {
	v = single(v)
	n := v.NodeID()
	return n, !n.IsNull()
}
