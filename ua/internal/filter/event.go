package filter

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Event is what happened, as filters see it. It does not change once it is handed to a filter and may
// be asked by several goroutines at once. An implementation that should not allocate holds its
// Variants ready, since those of node ids and texts are allocated when they are made.
type Event interface {
	// Type is the event type, one derived from BaseEventType.
	Type() ua.NodeID
	// Field is the value of a field, the null Variant if the event has no such field. A status that
	// is not Good says why the value is not available to this client; it is sent in its place
	// (Part 4, 7.22.3).
	Field(f *Field) (ua.Variant, ua.StatusCode)
}

// Field names a field of events: the Value of the variable under a browse path, or with an empty path
// and the attribute NodeId the condition itself, its ConditionId (Part 9, 5.5.2.13).
type Field struct {
	// Type is where the client found the field: the event is of this type or of one derived from
	// it, unless Type is BaseEventType, which does not restrict (Part 4, 7.22.3).
	Type      ua.NodeID
	Path      []ua.QualifiedName
	Attribute ua.AttributeID
	Standard  StandardField // which field of BaseEventType it is, if any: faster than the path
}

// StandardField numbers the fields of BaseEventType (Part 5, 6.4.2) and the ConditionId.
type StandardField uint8

// The standard fields; 0 is any other one.
const (
	EventID StandardField = 1 + iota
	EventType
	SourceNode
	SourceName
	Time
	ReceiveTime
	LocalTime
	Message
	Severity
	ConditionClassID
	ConditionClassName
	ConditionSubClassID
	ConditionSubClassName
	ConditionID // the NodeId of the condition
	standardFields
)

var standardNames = [standardFields]string{
	EventID: "EventId", EventType: "EventType", SourceNode: "SourceNode", SourceName: "SourceName", Time: "Time",
	ReceiveTime: "ReceiveTime", LocalTime: "LocalTime", Message: "Message", Severity: "Severity",
	ConditionClassID: "ConditionClassId", ConditionClassName: "ConditionClassName",
	ConditionSubClassID: "ConditionSubClassId", ConditionSubClassName: "ConditionSubClassName", ConditionID: "ConditionId",
}

// String is the browse name of the field.
func (s StandardField) String() string {
	if s < standardFields {
		return standardNames[s]
	}
	return ""
}

// standard finds the standard field with this path and attribute.
func standard(path []ua.QualifiedName, attribute ua.AttributeID) StandardField {
	switch {
	case len(path) == 0 && attribute == ua.AttributeNodeID:
		return ConditionID
	case len(path) != 1 || attribute != ua.AttributeValue || path[0].NamespaceIndex != 0:
		return 0
	}
	for f := EventID; f < ConditionID; f++ {
		if standardNames[f] == path[0].Name {
			return f
		}
	}
	return 0
}

// TypeTree is what event filters ask about the types of the address space.
type TypeTree interface {
	SubtypeTree
	// NodeClass is the class of a node, 0 when there is none.
	NodeClass(id ua.NodeID) ua.NodeClass
	// FieldClass is the class of the node that events of a type have under a browse path, inherited
	// ones included; 0 when no event will ever have one. For BaseEventType it is that of any event
	// type, since a filter that names BaseEventType means the path alone (Part 4, 7.22.3).
	FieldClass(eventType ua.NodeID, path []ua.QualifiedName) ua.NodeClass
}

var (
	baseEventType = ua.ID(uaid.BaseEventType)
	serverNode    = ua.ID(uaid.Server)
)
