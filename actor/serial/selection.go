package serial

import (
	"github.com/actua/actua/actor/internal/akkapb"
)

// Selection is a message to what a path leads to from the actor that gets it (Akka.NET: ActorSelectionMessage,
// serializer 6).
type Selection struct {
	Message  any
	Elements []SelectionElement
}

// SelectionElement is one step of a [Selection].
type SelectionElement struct {
	Kind    SelectionKind
	Matcher string // the name or pattern; empty for SelectParent
}

// SelectionKind says what a step of a [Selection] does.
type SelectionKind int32

// The kinds of steps, with their numbers on the wire.
const (
	SelectParent       SelectionKind = 1
	SelectChildName    SelectionKind = 2
	SelectChildPattern SelectionKind = 3 // * and ? in a name
)

// selectionSerializer is serializer 6.
type selectionSerializer struct{}

func (selectionSerializer) ID() int32           { return selectionID }
func (selectionSerializer) Manifest(any) string { return "" }

func (selectionSerializer) Append(dst []byte, msg any, x *Exchange) ([]byte, error) {
	m, ok := msg.(Selection)
	if !ok {
		return dst, wrongType(selectionID, msg)
	}
	out, err := x.appendPayload(dst, 1, m.Message)
	if err != nil {
		return dst, err
	}
	var e akkapb.SelectionEnvelope
	var few [8]akkapb.Selection
	e.Pattern = few[:0]
	for _, s := range m.Elements {
		if s.Kind < SelectParent || s.Kind > SelectChildPattern {
			return dst, badBytes(selectionID, "", "an element of an unknown kind", nil)
		}
		e.Pattern = append(e.Pattern, akkapb.Selection{Type: akkapb.SelectionType(s.Kind), Matcher: []byte(s.Matcher)})
	}
	return e.AppendPattern(out), nil
}

func (selectionSerializer) Decode(b, _ []byte, x *Exchange) (any, error) {
	var e akkapb.SelectionEnvelope
	if err := e.Decode(b); err != nil {
		return nil, badBytes(selectionID, "", "malformed", err)
	}
	if !e.HasPayload {
		return nil, badBytes(selectionID, "", "no message in it", nil)
	}
	m := Selection{Elements: make([]SelectionElement, len(e.Pattern))}
	for i, p := range e.Pattern {
		if p.Type < akkapb.SelectionParent || p.Type > akkapb.SelectionChildPattern {
			return nil, badBytes(selectionID, "", "an element of an unknown kind", nil)
		}
		m.Elements[i] = SelectionElement{SelectionKind(p.Type), string(p.Matcher)}
	}
	var err error
	if m.Message, err = x.decodePayload(&e.Payload); err != nil {
		return nil, err
	}
	return m, nil
}
