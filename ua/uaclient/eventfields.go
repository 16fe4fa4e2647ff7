package uaclient

import (
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// EventFields are select clauses for fields of an event type (Part 4, 7.22.3): browse paths such as
// "Message" or "2:Pump/2:Speed", whose names without an index are of namespace 0. The null NodeId stands for
// BaseEventType. A path that cannot be read is BadSyntaxError.
func EventFields(eventType ua.NodeID, paths ...string) ([]ua.SimpleAttributeOperand, error) {
	if eventType.IsNull() {
		eventType = ua.ID(uaid.BaseEventType)
	}
	list := make([]ua.SimpleAttributeOperand, len(paths))
	for i, text := range paths {
		path, err := ua.ParseRelativePath("/"+strings.TrimPrefix(text, "/"), nil)
		if err != nil {
			return nil, &Error{Step: StepService, Op: "EventFields", Err: err}
		}
		o := ua.SimpleAttributeOperand{TypeDefinitionID: eventType, AttributeID: uint32(ua.AttributeValue)}
		for _, e := range path.Elements {
			o.BrowsePath = append(o.BrowsePath, e.TargetName)
		}
		list[i] = o
	}
	return list, nil
}
