package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// Variable is a variable of a Space. Its value may be read and set from any goroutine; setting a
// scalar allocates nothing.
type Variable struct {
	Node
	value    ua.DataValue   // guarded by Node.mu
	feed     *uaserver.Feed // to those who monitor it; nil: nobody has so far; guarded by Node.mu
	dataType *Node
	hooks    *hooks // callbacks and rare attributes; nil for none. Never changes
	accepts  typeSet
	rank     int32
	access   ua.AccessLevelType
}

// hooks are the callbacks and the rare attributes of a variable.
type hooks struct {
	dims        []uint32
	sampling    float64 // MinimumSamplingInterval in ms
	historizing bool
	nonBlocking bool
	onRead      ReadFunc
	onWrite     WriteFunc
	readAt      ua.DateTime // when onRead last gave a value; guarded by Node.mu
}

var noHooks hooks

// rare is the Variable's hooks; never nil.
func (v *Variable) rare() *hooks {
	if v.hooks == nil {
		return &noHooks
	}
	return v.hooks
}

func (v *Variable) set(dims []uint32, sampling float64) {
	if len(dims) > 0 || sampling != 0 {
		v.hooks = &hooks{dims: dims, sampling: sampling}
	}
}

// Set changes the value: its status becomes Good, its source time is now. A value that does not fit
// the variable's data type or rank is not stored, and gives BadTypeMismatch.
func (v *Variable) Set(value ua.Variant) error {
	return v.SetValue(ua.DataValue{Value: value, SourceTimestamp: ua.Now()})
}

// SetValue changes value, status and source time together; the server time is not kept. A value that
// does not fit the variable gives BadTypeMismatch and is not stored. The null value is allowed: a
// device that cannot be reached has no value but a status, such as BadNoCommunication.
func (v *Variable) SetValue(value ua.DataValue) error {
	if value.Value.Type() != ua.TypeNull {
		fit, ok := v.accept(value.Value)
		if !ok {
			return ua.BadTypeMismatch
		}
		value.Value = fit
	}
	value.ServerTimestamp, value.ServerPicoseconds = 0, 0
	v.mu.Lock()
	v.store(value)
	v.mu.Unlock()
	return nil
}

// store replaces the value. Node.mu is held.
func (v *Variable) store(value ua.DataValue) {
	if v.more != nil {
		v.more.pending = nil
	}
	v.value = value
	if v.feed != nil {
		v.feed.Push(value)
	}
}

// Get is the current value. It does not run the callback of OnRead.
func (v *Variable) Get() ua.Variant { return v.Value().Value }

// Value is the current value with status and source time. It does not run the callback of OnRead.
func (v *Variable) Value() ua.DataValue {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.load()
}

// load is the value. Node.mu is held.
func (v *Variable) load() ua.DataValue {
	v.unfold()
	return v.value
}

// unfold decodes a value that was not wanted so far. Node.mu is held.
func (v *Variable) unfold() {
	if v.more != nil && v.more.pending != nil {
		v.value.Value, v.more.pending = decode(v.more.pending), nil
	}
}

// DataType is the id of the variable's data type (Part 3, 5.6.2).
func (v *Variable) DataType() ua.NodeID {
	if v.dataType == nil {
		return ua.NodeID{}
	}
	return v.dataType.id
}

// ValueRank is the number of dimensions of the value, or one of the negative numbers of Part 3, 5.6.2.
func (v *Variable) ValueRank() int32 { return v.rank }
