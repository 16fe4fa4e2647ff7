package filter

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Options of CompileEvents.
type Options struct {
	MaxSelectClauses int  // 0: 1,000. ServerCapabilities.MaxSelectClauseParameters
	MaxWhereElements int  // 0: 1,000
	MaxWhereOperands int  // of all elements; 0: 4,000. ServerCapabilities.MaxWhereClauseParameters
	MaxLiteralBytes  int  // memory of all literals and of what is computed of them; 0: 256 KiB
	Diagnostics      bool // the client asked for diagnostics of operations: say in words what is wrong
}

// Limits of a filter without others.
const (
	DefaultSelectClauses = 1000
	DefaultWhereOperands = 4000

	defaultWhereElements = 1000
	defaultLiteralBytes  = 256 << 10
)

func limit(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// CompileEvents checks and compiles an EventFilter. What it keeps is bounded by the options, and
// whatever its form, an evaluation costs at most one evaluation of each element.
//
// The result lists what is wrong, clause by clause and operand by operand (Part 4, 7.22.3 and 7.7.1);
// it is nil when nothing is. A select clause that is wrong costs only its field, which is null in all
// events; the compiled filter is nil, and the status not Good, when
//
//   - BadEventFilterInvalid: no select clause is right, or something in the where clause is wrong;
//   - BadTooManyOperations: the filter exceeds the limits; it was not looked into.
//
// Elements of the where clause that the first one does not lead to are ignored (Part 4, 7.7.1).
func CompileEvents(filter *ua.EventFilter, types TypeTree, o Options) (*EventFilter, *ua.EventFilterResult, ua.StatusCode) {
	operands := 0
	elements := filter.WhereClause.Elements
	for i := range elements {
		operands += len(elements[i].FilterOperands)
	}
	switch {
	case len(filter.SelectClauses) > limit(o.MaxSelectClauses, DefaultSelectClauses),
		len(elements) > limit(o.MaxWhereElements, defaultWhereElements),
		operands > limit(o.MaxWhereOperands, DefaultWhereOperands):
		return nil, nil, ua.BadTooManyOperations
	case len(filter.SelectClauses) == 0:
		return nil, nil, ua.BadEventFilterInvalid
	}
	f := &EventFilter{types: types, selects: make([]int, len(filter.SelectClauses))}
	selects := make([]problem, len(f.selects))
	wrongSelects := 0
	for i := range filter.SelectClauses {
		if f.selects[i], selects[i] = f.add(&filter.SelectClauses[i]); selects[i].bad() {
			wrongSelects++
		}
	}
	w := whereClause{f: f, source: elements, results: make([]elementResult, len(elements)),
		room: limit(o.MaxLiteralBytes, defaultLiteralBytes)}
	whereWrong := !w.check() || !w.build()
	if wrongSelects == 0 && !whereWrong {
		return f, nil, ua.Good
	}
	result := &ua.EventFilterResult{WhereClauseResult: w.result(whereWrong, o.Diagnostics)}
	result.SelectClauseResults, result.SelectClauseDiagnosticInfos = report(selects, wrongSelects > 0 && o.Diagnostics)
	if whereWrong || wrongSelects == len(f.selects) {
		return nil, result, ua.BadEventFilterInvalid
	}
	return f, result, ua.Good
}

// report turns problems into statuses, and into diagnostics when they are wanted.
func report(problems []problem, diagnostics bool) (statuses []ua.StatusCode, infos []ua.DiagnosticInfo) {
	statuses = make([]ua.StatusCode, len(problems))
	if diagnostics {
		infos = make([]ua.DiagnosticInfo, len(problems))
	}
	for i, p := range problems {
		statuses[i] = p.status
		if diagnostics {
			infos[i] = p.info()
		}
	}
	return statuses, infos
}

func (p problem) info() (d ua.DiagnosticInfo) {
	if p.text != "" {
		d.Mask, d.AdditionalInfo = ua.DiagnosticAdditionalInfo, p.text
	}
	return d
}

// whereClause is a where clause while it is compiled.
type whereClause struct {
	f       *EventFilter
	source  []ua.ContentFilterElement
	results []elementResult
	room    int // bytes that literals may still take
}

// fits takes the memory of a literal from what there is room for. An array takes more than its encoded
// form, which has a byte for an empty LocalizedText.
func (w *whereClause) fits(v ua.Variant) bool {
	const scalar, element = 24, 64
	n := scalar
	if v.IsArray() {
		n += element * v.Len()
	}
	if n <= w.room { // else its encoded form need not be known
		n += len(v.AppendBinary(nil))
	}
	w.room -= n
	return w.room >= 0
}

// elementResult is what was found out about an element.
type elementResult struct {
	problem
	reached  bool
	operands []problem
	compiled []operand // of an element operand: the index in the source
}

// check looks at every element that the first one leads to, and reports whether all is well.
// References go forward only, so one pass meets each element after all that refer to it.
func (w *whereClause) check() bool {
	bad := false
	for i := range w.source {
		r := &w.results[i]
		if i > 0 && !r.reached {
			continue
		}
		r.reached = true
		w.checkElement(i, r)
		bad = bad || r.bad()
	}
	return !bad
}

func (w *whereClause) checkElement(i int, r *elementResult) {
	x := &w.source[i]
	if x.FilterOperator < 0 || int(x.FilterOperator) >= len(operators) {
		r.problem = wrong(ua.BadFilterOperatorInvalid, "the standard has no such operator")
		return
	}
	rule := &operators[x.FilterOperator]
	n := len(x.FilterOperands)
	switch {
	case rule.operands == nil:
		r.problem = wrong(ua.BadFilterOperatorUnsupported, x.FilterOperator.String()+" is not allowed in filters of events")
		return
	case n < len(rule.operands) || n > len(rule.operands) && !rule.more:
		r.problem = wrong(ua.BadFilterOperandCountMismatch, "the operator has another number of operands")
		return
	}
	r.operands = make([]problem, n)
	r.compiled = make([]operand, n)
	for j := range r.operands {
		want := rule.operands[min(j, len(rule.operands)-1)]
		if r.compiled[j], r.operands[j] = w.checkOperand(i, &x.FilterOperands[j], want); r.operands[j].bad() {
			r.problem = wrong(ua.BadFilterOperandInvalid, "an operand is wrong")
		}
	}
}

// checkOperand compiles an operand of element i.
func (w *whereClause) checkOperand(i int, source *ua.ExtensionObject, want demand) (operand, problem) {
	switch x := source.Value.(type) {
	case *ua.LiteralOperand:
		if !w.fits(x.Value) {
			return operand{}, wrong(ua.BadFilterLiteralInvalid, "the literals of the filter take too much memory")
		}
		return operand{kind: literalOperand, value: x.Value}, w.checkLiteral(x.Value, want)
	case *ua.ElementOperand:
		if int64(x.Index) <= int64(i) || int64(x.Index) >= int64(len(w.source)) {
			return operand{}, wrong(ua.BadFilterElementInvalid, "Index is not that of a later element")
		}
		w.results[x.Index].reached = true
		return operand{kind: elementOperand, index: int(x.Index)}, checkOutcome(w.source[x.Index].FilterOperator, want)
	case *ua.SimpleAttributeOperand:
		at, p := w.f.add(x)
		return operand{kind: fieldOperand, index: at}, p
	case *ua.AttributeOperand:
		return operand{}, wrong(ua.BadFilterOperandInvalid, "an AttributeOperand is not allowed in filters of events")
	}
	return operand{}, wrong(ua.BadFilterOperandInvalid, "the operand is of a type that is none of operands, or could not be decoded")
}

// demand is what an operator can do something with.
type demand uint8

const (
	anything demand = iota
	truth           // Boolean
	sortable        // of a type with an order
	integral
	text
	pattern  // of Like
	nodeType // an ObjectType or VariableType
	dataType
)

// operators are the operands of each operator (Part 4, 7.7.3). Those without are not allowed in
// filters of events.
var operators = [...]struct {
	operands []demand
	more     bool // the last one may be repeated
}{
	ua.FilterOperatorEquals:             {operands: []demand{anything, anything}},
	ua.FilterOperatorIsNull:             {operands: []demand{anything}},
	ua.FilterOperatorGreaterThan:        {operands: []demand{sortable, sortable}},
	ua.FilterOperatorLessThan:           {operands: []demand{sortable, sortable}},
	ua.FilterOperatorGreaterThanOrEqual: {operands: []demand{sortable, sortable}},
	ua.FilterOperatorLessThanOrEqual:    {operands: []demand{sortable, sortable}},
	ua.FilterOperatorLike:               {operands: []demand{text, pattern}},
	ua.FilterOperatorNot:                {operands: []demand{truth}},
	ua.FilterOperatorBetween:            {operands: []demand{sortable, sortable, sortable}},
	ua.FilterOperatorInList:             {operands: []demand{anything, anything}, more: true},
	ua.FilterOperatorAnd:                {operands: []demand{truth, truth}},
	ua.FilterOperatorOr:                 {operands: []demand{truth, truth}},
	ua.FilterOperatorCast:               {operands: []demand{anything, dataType}},
	ua.FilterOperatorInView:             {},
	ua.FilterOperatorOfType:             {operands: []demand{nodeType}},
	ua.FilterOperatorRelatedTo:          {},
	ua.FilterOperatorBitwiseAnd:         {operands: []demand{integral, integral}},
	ua.FilterOperatorBitwiseOr:          {operands: []demand{integral, integral}},
}

// sortableTypes can be put in order, if need be after a conversion.
var sortableTypes = ordered | texts | setOf(ua.TypeBoolean, ua.TypeStatusCode)

// checkLiteral finds literals that the operator can never make anything of. A null is allowed: it makes
// the element null.
func (w *whereClause) checkLiteral(v ua.Variant, want demand) problem {
	if want == anything || v.Type() == ua.TypeNull {
		return problem{}
	}
	ok, due := false, ""
	if v = single(v); !v.IsArray() {
		switch want {
		case truth:
			ok, due = logical(v) != null, "a Boolean is due"
		case sortable:
			ok, due = sortableTypes.has(v.Type()), "a value of a type with an order is due"
		case integral:
			ok, due = integers.has(v.Type()), "an integer is due"
		case text:
			ok, due = texts.has(v.Type()), "a String is due"
		case pattern:
			ok, due = texts.has(v.Type()) && validPattern(textOf(v)), "a pattern is due, with lists that are closed and at most 1024 bytes"
		case nodeType:
			return w.checkNode(v, ua.NodeClassObjectType|ua.NodeClassVariableType)
		case dataType:
			return w.checkNode(v, ua.NodeClassDataType)
		}
	}
	if !ok {
		return wrong(ua.BadFilterLiteralInvalid, "the literal does not suit the operator: "+due)
	}
	return problem{}
}

func (w *whereClause) checkNode(v ua.Variant, classes ua.NodeClass) problem {
	id, ok := nodeID(v)
	if !ok {
		return wrong(ua.BadFilterLiteralInvalid, "the literal does not suit the operator: the NodeId of a type is due")
	}
	class := w.f.types.NodeClass(id)
	switch {
	case class == 0:
		return wrong(ua.BadNodeIdUnknown, "there is no such node")
	case class&classes == 0:
		return wrong(ua.BadFilterOperandInvalid, "the node is not of the class that the operator is for")
	case classes == ua.NodeClassDataType && builtInType(id, w.f.types) == 0:
		return wrong(ua.BadFilterOperandInvalid, "no value has this data type itself, since it is abstract")
	}
	return problem{}
}

// checkOutcome finds references to elements whose outcome the operator can never make anything of.
func checkOutcome(op ua.FilterOperator, want demand) problem {
	ok := true
	switch op {
	case ua.FilterOperatorCast: // may be anything
	case ua.FilterOperatorBitwiseAnd, ua.FilterOperatorBitwiseOr:
		ok = want == anything || want == sortable || want == integral
	default: // true, false or null
		ok = want == anything || want == sortable || want == truth
	}
	if !ok {
		return wrong(ua.BadFilterOperandInvalid, "the element it refers to gives a value that does not suit the operator")
	}
	return problem{}
}

// builtInType is the type that values of a data type have; 0 for an abstract type and for what is no
// data type.
func builtInType(id ua.NodeID, types SubtypeTree) ua.BuiltInType {
	concrete := func(n uint32) bool {
		return n >= uint32(ua.TypeBoolean) && n <= uint32(ua.TypeDiagnosticInfo) && n != uaid.BaseDataType
	}
	if n := id.Numeric(); id == ua.ID(n) && concrete(n) {
		return ua.BuiltInType(n) // the numbers are the same (Part 6, 5.1.2)
	}
	for n := range uint32(ua.TypeDiagnosticInfo + 1) {
		if concrete(n) && types.IsSubtype(id, ua.ID(n)) {
			return ua.BuiltInType(n)
		}
	}
	if types.IsSubtype(id, ua.ID(uaid.Enumeration)) {
		return ua.TypeInt32
	}
	return 0
}

// build puts the elements in the order of their evaluation. What does not depend on the event is
// evaluated here, once. It reports whether there was room for that.
func (w *whereClause) build() bool {
	w.f.always = true
	constant := make([]bool, len(w.source))
	value := make([]ua.Variant, len(w.source))
	slot := make([]int, len(w.source))
	for i := len(w.source) - 1; i >= 0; i-- {
		r := &w.results[i]
		if !r.reached {
			continue
		}
		x := element{op: w.source[i].FilterOperator, operands: r.compiled}
		constant[i] = x.op != ua.FilterOperatorOfType
		for j := range x.operands {
			o := &x.operands[j]
			if o.kind == elementOperand {
				if at := o.index; constant[at] {
					*o = operand{kind: literalOperand, value: value[at]}
				} else {
					o.index = slot[at]
				}
			}
			constant[i] = constant[i] && o.kind == literalOperand
		}
		if x.op == ua.FilterOperatorCast && x.operands[1].kind == literalOperand {
			if id, ok := nodeID(x.operands[1].value); ok {
				x.cast = builtInType(id, w.f.types)
			}
		}
		if constant[i] {
			e := evaluation{f: w.f}
			if value[i] = e.evaluate(&x); !w.fits(value[i]) {
				r.problem = wrong(ua.BadFilterOperandInvalid, "what the operator makes of its literals takes too much memory")
				return false
			}
			continue
		}
		slot[i] = len(w.f.elements)
		x.slot = slot[i]
		w.f.elements = append(w.f.elements, x)
	}
	if len(w.source) > 0 && constant[0] {
		w.f.elements, w.f.always = nil, value[0].Bool()
	}
	return true
}

// result is the ContentFilterResult: an entry for each element and operand, those that were ignored
// among them.
func (w *whereClause) result(bad, diagnostics bool) (c ua.ContentFilterResult) {
	if len(w.source) == 0 {
		return c
	}
	diagnostics = diagnostics && bad
	c.ElementResults = make([]ua.ContentFilterElementResult, len(w.source))
	if diagnostics {
		c.ElementDiagnosticInfos = make([]ua.DiagnosticInfo, len(w.source))
	}
	for i := range w.results {
		r := &w.results[i]
		e := &c.ElementResults[i]
		e.StatusCode = r.status
		operandsWrong := false
		for _, p := range r.operands {
			operandsWrong = operandsWrong || p.bad()
		}
		if r.operands == nil {
			r.operands = make([]problem, len(w.source[i].FilterOperands))
		}
		e.OperandStatusCodes, e.OperandDiagnosticInfos = report(r.operands, diagnostics && operandsWrong)
		if diagnostics {
			c.ElementDiagnosticInfos[i] = r.info()
		}
	}
	return c
}
