package filter

import (
	"slices"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Base is what every event says (Part 5, 6.4.2). Fields left zero are null, but for the type, which is
// then BaseEventType, and the severity, which is at least 1.
type Base struct {
	EventID               []byte // unique on the server
	EventType             ua.NodeID
	SourceNode            ua.NodeID
	SourceName            string
	Time                  ua.DateTime
	ReceiveTime           ua.DateTime
	LocalTime             *ua.TimeZoneDataType
	Message               ua.LocalizedText
	Severity              uint16 // 1 to 1000
	ConditionClassID      ua.NodeID
	ConditionClassName    ua.LocalizedText
	ConditionSubClassID   []ua.NodeID
	ConditionSubClassName []ua.LocalizedText
	ConditionID           ua.NodeID // of the condition that the event is about; null for other events
}

// BaseEvent is an Event with the fields of BaseEventType and any others. It is made and completed by
// one goroutine; once handed on it does not change.
type BaseEvent struct {
	typ      ua.NodeID
	standard [standardFields]ua.Variant
	more     []extraField
}

type extraField struct {
	path   []ua.QualifiedName
	value  ua.Variant
	status ua.StatusCode
}

// NewBaseEvent makes an event. What b refers to must not change any more.
func NewBaseEvent(b Base) *BaseEvent {
	if b.EventType.IsNull() {
		b.EventType = baseEventType
	}
	e := &BaseEvent{typ: b.EventType}
	s := &e.standard
	s[EventID] = ua.ByteString(b.EventID)
	s[EventType] = b.EventType.Variant()
	s[SourceNode] = b.SourceNode.Variant()
	s[SourceName] = ua.Null(ua.TypeString)
	if b.SourceName != "" {
		s[SourceName] = ua.String(b.SourceName)
	}
	s[Time] = b.Time.Variant()
	s[ReceiveTime] = b.ReceiveTime.Variant()
	if b.LocalTime != nil {
		s[LocalTime] = ua.NewExtensionObject(b.LocalTime).Variant()
	}
	s[Message] = b.Message.Variant()
	s[Severity] = ua.UInt16(min(max(b.Severity, 1), 1000))
	if !b.ConditionClassID.IsNull() {
		s[ConditionClassID] = b.ConditionClassID.Variant()
		s[ConditionClassName] = b.ConditionClassName.Variant()
	}
	if b.ConditionSubClassID != nil {
		s[ConditionSubClassID] = ua.Array(b.ConditionSubClassID)
		s[ConditionSubClassName] = ua.Array(b.ConditionSubClassName)
	}
	if !b.ConditionID.IsNull() {
		s[ConditionID] = b.ConditionID.Variant()
	}
	return e
}

// Set adds or replaces the field under a browse path, with its value, or with a status that is not
// Good in place of one. It copies the path.
func (e *BaseEvent) Set(value ua.Variant, status ua.StatusCode, path ...ua.QualifiedName) {
	if f := standard(path, ua.AttributeValue); f != 0 && status.IsGood() {
		e.standard[f] = value
		return
	} else if f != 0 {
		e.standard[f] = ua.Variant{} // shadowed by what follows
	}
	x := extraField{path: slices.Clone(path), value: value, status: status}
	for i := range e.more {
		if slices.Equal(e.more[i].path, path) {
			e.more[i] = x
			return
		}
	}
	e.more = append(e.more, x)
}

// Type implements Event.
func (e *BaseEvent) Type() ua.NodeID { return e.typ }

// Source is the SourceNode of the event.
func (e *BaseEvent) Source() ua.NodeID { return e.standard[SourceNode].NodeID() }

// Field implements Event.
func (e *BaseEvent) Field(f *Field) (ua.Variant, ua.StatusCode) {
	if f.Standard != 0 && f.Standard < standardFields {
		if v := e.standard[f.Standard]; v.Type() != ua.TypeNull {
			return v, ua.Good
		}
	}
	if f.Attribute != ua.AttributeValue {
		return ua.Variant{}, ua.Good
	}
	for i := range e.more {
		if x := &e.more[i]; slices.Equal(x.path, f.Path) {
			return x.value, x.status
		}
	}
	return ua.Variant{}, ua.Good
}

// overflowSeverity is in the middle of the range: something was lost, nothing is broken.
const overflowSeverity = 500

// NewQueueOverflow makes the event that stands in a queue for those that were lost (Part 4, 5.13.1.5;
// Part 5, 6.4.34). It passes every where clause: put it into the queue without asking the filter.
func NewQueueOverflow(id []byte, now ua.DateTime) *BaseEvent {
	return NewBaseEvent(Base{
		EventID: id, EventType: ua.ID(uaid.EventQueueOverflowEventType),
		SourceNode: serverNode, SourceName: "Internal/EventQueueOverflow",
		Time: now, ReceiveTime: now, Severity: overflowSeverity,
		Message: ua.LocalizedText{Locale: "en", Text: "Events were lost because the queue of the monitored item was full."},
	})
}
