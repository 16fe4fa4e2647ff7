package filter

import (
	"math"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// DataChange is a compiled DataChangeFilter (Part 4, 7.22.2). It is a small value; the zero value is
// the rule of an item without a filter: report changes of status and value.
type DataChange struct {
	deadband float64 // how far a number may move unreported; only with banded
	trigger  trigger
	banded   bool
}

type trigger uint8

const (
	statusValue trigger = iota // the default comes first
	statusOnly
	statusValueTimestamp
)

// Variable is what a DataChangeFilter depends on in the monitored node.
type Variable struct {
	Attribute ua.AttributeID // that is monitored
	DataType  ua.NodeID      // of the Value attribute
	EURange   *ua.Range      // nil: the variable has no such property
}

// SubtypeTree is what compiling a DataChangeFilter asks about types.
type SubtypeTree interface {
	// IsSubtype reports whether a type is the same as super or derived from it.
	IsSubtype(t, super ua.NodeID) bool
}

// CompileDataChange checks a DataChangeFilter against the variable; nil is an item without a filter.
// The ValueRank does not matter: a deadband applies to each element of an array. The status is
//
//   - BadMonitoredItemFilterInvalid: a trigger that the standard does not have;
//   - BadMonitoredItemFilterUnsupported: a type of deadband that the standard does not have;
//   - BadFilterNotAllowed: a deadband for another attribute than Value or for a data type that is no
//     Number (Part 4, 7.22.2);
//   - BadDeadbandFilterInvalid: a deadband that is negative or not finite, a percentage above 100 or
//     of a variable without an EURange of some width (Part 8, 7.3.2).
func CompileDataChange(f *ua.DataChangeFilter, v Variable, types SubtypeTree) (DataChange, ua.StatusCode) {
	var c DataChange
	if f == nil {
		return c, ua.Good
	}
	switch f.Trigger {
	case ua.DataChangeTriggerStatus:
		c.trigger = statusOnly
	case ua.DataChangeTriggerStatusValue:
	case ua.DataChangeTriggerStatusValueTimestamp:
		c.trigger = statusValueTimestamp
	default:
		return DataChange{}, ua.BadMonitoredItemFilterInvalid
	}
	kind := ua.DeadbandType(f.DeadbandType)
	switch {
	case f.DeadbandType > uint32(ua.DeadbandTypePercent):
		return DataChange{}, ua.BadMonitoredItemFilterUnsupported
	case kind == ua.DeadbandTypeNone:
		return c, ua.Good // whatever the value of the deadband
	case v.Attribute != ua.AttributeValue || !types.IsSubtype(v.DataType, ua.ID(uaid.Number)):
		return DataChange{}, ua.BadFilterNotAllowed
	case !(f.DeadbandValue >= 0) || math.IsInf(f.DeadbandValue, 0):
		return DataChange{}, ua.BadDeadbandFilterInvalid
	}
	c.banded, c.deadband = true, f.DeadbandValue
	if kind == ua.DeadbandTypePercent {
		if f.DeadbandValue > 100 || v.EURange == nil {
			return DataChange{}, ua.BadDeadbandFilterInvalid
		}
		// Divided first, so that the widest ranges do not overflow.
		part := f.DeadbandValue / 100
		c.deadband = v.EURange.High*part - v.EURange.Low*part
		if !(v.EURange.High > v.EURange.Low) || math.IsInf(c.deadband, 0) || math.IsNaN(c.deadband) {
			return DataChange{}, ua.BadDeadbandFilterInvalid
		}
	}
	if c.trigger == statusValueTimestamp {
		c.trigger = statusValue // so the standard has it with a deadband (Part 4, 7.10)
	}
	return c, ua.Good
}

// changeMask leaves out what a queue and not the source puts into a status: the overflow bit, with the
// info type that makes it valid (Part 4, 7.39).
const changeMask = ^ua.StatusCode(0x0480)

// Accept decides whether next is reported after last, the value that was last accepted for the
// item's queue (the "last cached value" of Part 8, 7.2). The first value of an item is always
// reported, without asking. Timestamps are compared where the trigger says so; the server's never.
//
// A change of status is reported whatever the deadband. A number is reported when it moved by more
// than the deadband: integers exactly, in all of 64 bits. A number that becomes NaN is reported once,
// and again when it is a number; infinities are equal to themselves and beyond any deadband of
// everything else. Of an array one element suffices, and so does another length or shape. A value of
// another type is a change; where a type is no number, so is any difference.
func (c DataChange) Accept(last, next *ua.DataValue) bool {
	if (last.Status^next.Status)&changeMask != 0 {
		return true
	}
	switch c.trigger {
	case statusOnly:
		return false
	case statusValueTimestamp:
		if last.SourceTimestamp != next.SourceTimestamp || last.SourcePicoseconds != next.SourcePicoseconds && next.SourceTimestamp != 0 {
			return true
		}
	}
	if c.banded {
		return c.exceeds(last.Value, next.Value)
	}
	return !Equal(last.Value, next.Value)
}

// exceeds reports whether two values differ by more than the deadband.
func (c DataChange) exceeds(a, b ua.Variant) bool {
	if a == b {
		return false
	}
	t := a.Type()
	if t != b.Type() || !a.SameShape(b) {
		return true
	}
	if a.IsArray() {
		return c.arrayExceeds(t, a, b)
	}
	switch t {
	case ua.TypeSByte, ua.TypeByte, ua.TypeInt16, ua.TypeUInt16, ua.TypeInt32, ua.TypeUInt32, ua.TypeInt64:
		return apart(a.Int(), b.Int(), c.deadband)
	case ua.TypeUInt64:
		return apart(a.Uint(), b.Uint(), c.deadband)
	case ua.TypeFloat, ua.TypeDouble:
		return floatsApart(a.Float(), b.Float(), c.deadband)
	}
	return !Equal(a, b)
}

func (c DataChange) arrayExceeds(t ua.BuiltInType, a, b ua.Variant) bool {
	switch t {
	case ua.TypeSByte:
		return anyApart(a, b, c.deadband, apart[int8])
	case ua.TypeByte:
		return anyApart(a, b, c.deadband, apart[uint8])
	case ua.TypeInt16:
		return anyApart(a, b, c.deadband, apart[int16])
	case ua.TypeUInt16:
		return anyApart(a, b, c.deadband, apart[uint16])
	case ua.TypeInt32:
		return anyApart(a, b, c.deadband, apart[int32])
	case ua.TypeUInt32:
		return anyApart(a, b, c.deadband, apart[uint32])
	case ua.TypeInt64:
		return anyApart(a, b, c.deadband, apart[int64])
	case ua.TypeUInt64:
		return anyApart(a, b, c.deadband, apart[uint64])
	case ua.TypeFloat:
		return anyApart(a, b, c.deadband, floatsApart[float32])
	case ua.TypeDouble:
		return anyApart(a, b, c.deadband, floatsApart[float64])
	case ua.TypeVariant: // an array of Number may have elements of different types
		x, _ := ua.ArrayOf[ua.Variant](a)
		y, _ := ua.ArrayOf[ua.Variant](b)
		for i := range x {
			if c.exceeds(x[i], y[i]) {
				return true
			}
		}
		return false
	}
	return !Equal(a, b)
}

func anyApart[T ua.Element](a, b ua.Variant, deadband float64, apart func(x, y T, deadband float64) bool) bool {
	x, _ := ua.ArrayOf[T](a)
	y, _ := ua.ArrayOf[T](b)
	for i := range x {
		if apart(x[i], y[i], deadband) {
			return true
		}
	}
	return false
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// apart reports whether two integers differ by more than the deadband, without rounding either.
func apart[T integer](x, y T, deadband float64) bool {
	if x < y {
		x, y = y, x
	}
	distance := uint64(x) - uint64(y) // right for signed integers too, since it wraps
	// An integer is above the deadband when it is above its whole part.
	return deadband < 1<<64 && distance > uint64(deadband)
}

func floatsApart[T float32 | float64](x, y T, deadband float64) bool {
	switch {
	case x == y:
		return false
	case x != x || y != y:
		return x == x || y == y // one of them only
	}
	return math.Abs(float64(x)-float64(y)) > deadband
}
