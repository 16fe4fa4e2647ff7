// Package filter decides what a monitored item reports: which values differ enough (DataChangeFilter,
// Part 4, 7.22.2; Part 8, 7.2), which events match and what is taken from them (EventFilter, Part 4,
// 7.22.3 with the content filter of 7.7). Filters are compiled once, with a status for each part that
// is wrong, and evaluated without allocation. Compiled filters are immutable and may be shared.
//
// The package has no I/O, clock or goroutine.
package filter

import (
	"github.com/actua/actua/ua"
)

// DataChangeOf is the DataChangeFilter of a monitored item's filter parameter for an attribute: nil
// when the parameter is null. The status is BadFilterNotAllowed for another filter than the attribute
// takes, BadMonitoredItemFilterUnsupported for an aggregate and for an unknown type,
// BadMonitoredItemFilterInvalid for what is no filter or could not be decoded (Part 4, 5.13.2).
func DataChangeOf(filter *ua.ExtensionObject, attribute ua.AttributeID) (*ua.DataChangeFilter, ua.StatusCode) {
	if filter.IsNull() {
		return nil, ua.Good
	}
	if f, ok := filter.Value.(*ua.DataChangeFilter); ok && f != nil {
		if attribute == ua.AttributeEventNotifier {
			return nil, ua.BadFilterNotAllowed
		}
		return f, ua.Good
	}
	return nil, otherFilter(filter)
}

// EventFilterOf is the EventFilter of a monitored item's filter parameter for the attribute
// EventNotifier; statuses as of DataChangeOf, and BadEventFilterInvalid for a null parameter, since an
// item without select clauses would report nothing.
func EventFilterOf(filter *ua.ExtensionObject) (*ua.EventFilter, ua.StatusCode) {
	if filter.IsNull() {
		return nil, ua.BadEventFilterInvalid
	}
	if f, ok := filter.Value.(*ua.EventFilter); ok && f != nil {
		return f, ua.Good
	}
	return nil, otherFilter(filter)
}

// otherFilter is the status of a filter that is not the one that the attribute takes.
func otherFilter(filter *ua.ExtensionObject) ua.StatusCode {
	switch filter.Value.(type) {
	case *ua.DataChangeFilter, *ua.EventFilter:
		return ua.BadFilterNotAllowed
	case *ua.AggregateFilter:
		return ua.BadMonitoredItemFilterUnsupported
	case nil:
		// The body was kept: a type that nobody knows, or one that we know and could not read.
		if ua.StructureOfEncoding(filter.TypeID.Numeric()) == nil || filter.TypeID.Namespace() != 0 {
			return ua.BadMonitoredItemFilterUnsupported
		}
	}
	return ua.BadMonitoredItemFilterInvalid
}
