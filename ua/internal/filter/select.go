package filter

import (
	"slices"

	"github.com/actua/actua/ua"
)

// EventFilter is a compiled EventFilter (Part 4, 7.22.3). It is immutable, refers to nothing of the
// request it came in, and may be used by several goroutines at once.
type EventFilter struct {
	types    TypeTree
	clauses  []clause
	selects  []int       // clause of each field; -1: the clause was wrong, the field is null
	owners   []ua.NodeID // the event types that clauses restrict themselves to
	elements []element   // the where clause, an element behind those that it refers to
	always   bool        // the outcome when there are no elements
}

// clause is a field as a select clause or an operand names it.
type clause struct {
	field Field
	owner int // index of its type in owners; -1: of every event
	part  ua.NumericRange
}

// ownerSet remembers which of the first 64 owners an event's type is derived from.
type ownerSet struct{ known, derived uint64 }

// Fields is the number of select clauses, and so of values that Select fills.
func (f *EventFilter) Fields() int { return len(f.selects) }

// Select fills the fields of an EventFieldList; out has room for Fields values. A field that the event
// does not have is null. One that has a value which this client cannot have at the moment is the
// StatusCode that says why (Part 4, 7.22.3). Nothing is allocated, unless an IndexRange cuts a matrix.
func (f *EventFilter) Select(event Event, out []ua.Variant) {
	e := evaluation{f: f, event: event, typ: event.Type()}
	out = out[:len(f.selects)]
	for i, at := range f.selects {
		if at < 0 {
			out[i] = ua.Variant{}
			continue
		}
		v, status := f.clauses[at].value(&e)
		if !status.IsGood() {
			v = status.Variant()
		}
		out[i] = v
	}
}

// value is the field of the event; null if the event has none.
func (c *clause) value(e *evaluation) (ua.Variant, ua.StatusCode) {
	if c.owner >= 0 && !e.derived(c.owner) {
		return ua.Variant{}, ua.Good
	}
	v, status := e.event.Field(&c.field)
	if status.IsGood() && !c.part.IsWhole() && v.Type() != ua.TypeNull {
		return c.part.Of(v)
	}
	return v, status
}

// derived reports whether the event is of the type that an owner names.
func (e *evaluation) derived(owner int) bool {
	bit := uint64(1) << (owner & 63)
	if owner < 64 && e.owners.known&bit != 0 {
		return e.owners.derived&bit != 0
	}
	is := e.f.types.IsSubtype(e.typ, e.f.owners[owner])
	if owner < 64 {
		e.owners.known |= bit
		if is {
			e.owners.derived |= bit
		}
	}
	return is
}

// problem is what is wrong with a part of a filter.
type problem struct {
	status ua.StatusCode
	text   string
}

func wrong(status ua.StatusCode, text string) problem { return problem{status, text} }

func (p problem) bad() bool { return p.status != ua.Good }

// add compiles a field, copying what belongs to the request, and returns its index.
func (f *EventFilter) add(op *ua.SimpleAttributeOperand) (int, problem) {
	c, p := f.check(op)
	if p.bad() {
		return -1, p
	}
	if t := c.field.Type; t != baseEventType {
		if c.owner = slices.Index(f.owners, t); c.owner < 0 {
			c.owner = len(f.owners)
			f.owners = append(f.owners, t)
		}
	}
	c.field.Path = slices.Clone(c.field.Path)
	f.clauses = append(f.clauses, c)
	return len(f.clauses) - 1, problem{}
}

// check compiles a field (Part 4, 7.7.4.5 and 7.22.3). A null type means BaseEventType.
func (f *EventFilter) check(op *ua.SimpleAttributeOperand) (clause, problem) {
	t := op.TypeDefinitionID
	if t.IsNull() {
		t = baseEventType
	}
	attribute := ua.AttributeID(op.AttributeID)
	c := clause{field: Field{Type: t, Path: op.BrowsePath, Attribute: attribute}, owner: -1}
	if t != baseEventType && !f.types.IsSubtype(t, baseEventType) {
		return c, wrong(ua.BadTypeDefinitionInvalid, "TypeDefinitionId is not BaseEventType nor derived from it")
	}
	for i := range op.BrowsePath {
		if op.BrowsePath[i].Name == "" {
			return c, wrong(ua.BadBrowseNameInvalid, "a name in BrowsePath is null")
		}
	}
	if !attribute.IsValid() {
		return c, wrong(ua.BadAttributeIdInvalid, "AttributeId is not one of the standard's")
	}
	part, err := ua.ParseNumericRange(op.IndexRange)
	if err != nil {
		return c, wrong(ua.BadIndexRangeInvalid, "IndexRange is no range of indexes")
	}
	c.part = part
	if len(op.BrowsePath) == 0 {
		switch {
		case attribute != ua.AttributeNodeID:
			return c, wrong(ua.BadAttributeIdInvalid, "with an empty BrowsePath only the NodeId can be selected, which is the ConditionId")
		case !part.IsWhole():
			return c, wrong(ua.BadIndexRangeInvalid, "a NodeId has no elements")
		}
		c.field.Standard = ConditionID
		return c, problem{}
	}
	switch class := f.types.FieldClass(t, op.BrowsePath); {
	case class == 0:
		return c, wrong(ua.BadNodeIdUnknown, "no event of this type has such a BrowsePath")
	case class != ua.NodeClassVariable || attribute != ua.AttributeValue:
		return c, wrong(ua.BadAttributeIdInvalid, "of the fields of events only the Value can be selected")
	}
	c.field.Standard = standard(op.BrowsePath, attribute)
	return c, problem{}
}
