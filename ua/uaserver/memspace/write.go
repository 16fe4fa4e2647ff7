package memspace

import (
	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaserver"
)

// Write implements uaserver.NodeManager (Part 4, 5.11.4).
func (s *Space) Write(ctx *uaserver.Context, items []uaserver.WriteItem) {
	for i := range items {
		it := &items[i]
		n := s.nodes.find(it.NodeID)
		switch {
		case n == nil:
			*it.Result = ua.BadNodeIdUnknown
		case it.Attribute == ua.AttributeValue && n.class == uint8(ua.NodeClassVariable):
			*it.Result = s.writeValue(ctx, n.variable, it)
		default:
			*it.Result = n.writeAttribute(ctx, it)
		}
	}
}

// writeValue checks and stores a value. A bad status leaves the old one as it was.
func (s *Space) writeValue(ctx *uaserver.Context, v *Variable, it *uaserver.WriteItem) ua.StatusCode {
	w := it.Value
	switch {
	case v.access&ua.AccessLevelTypeCurrentWrite == 0:
		return ua.BadNotWritable
	case !v.allowed(ctx, ua.PermissionTypeWrite):
		return ua.BadUserAccessDenied
	case w.Status != ua.Good && v.access&ua.AccessLevelTypeStatusWrite == 0,
		(w.SourceTimestamp != 0 || w.ServerTimestamp != 0) && v.access&ua.AccessLevelTypeTimestampWrite == 0:
		return ua.BadWriteNotSupported
	}
	// A value of bad quality may be missing; no value of good quality may.
	value, rank, dims := w.Value, v.rank, v.rare().dims
	if value.Type() != ua.TypeNull || !w.Status.IsBad() {
		if !it.Range.IsWhole() {
			rank, dims = RankAny, nil // of the part; the whole keeps those it has
		}
		fit, ok := s.accept(value, v.dataType, v.accepts, rank, dims)
		if !ok {
			return ua.BadTypeMismatch
		}
		value = fit
	}
	if v.hooks != nil && v.hooks.onWrite != nil {
		return s.offer(ctx, v, it, value)
	}
	return v.put(ctx, it, value)
}

// put stores what a client wrote.
func (v *Variable) put(ctx *uaserver.Context, it *uaserver.WriteItem, value ua.Variant) ua.StatusCode {
	v.mu.Lock()
	defer v.mu.Unlock()
	stored, status := written(ctx, it, v.load().Value, value)
	if status == ua.Good {
		v.store(stored)
	}
	return status
}

// written is the value that a write makes out of the old one.
func written(ctx *uaserver.Context, it *uaserver.WriteItem, old, value ua.Variant) (ua.DataValue, ua.StatusCode) {
	if !it.Range.IsWhole() {
		var status ua.StatusCode
		if value, status = it.Range.Into(old, value); status != ua.Good {
			return ua.DataValue{}, status
		}
	}
	d := ua.DataValue{
		Value: value, Status: it.Value.Status,
		SourceTimestamp: it.Value.SourceTimestamp, SourcePicoseconds: it.Value.SourcePicoseconds,
	}
	if d.SourceTimestamp == 0 {
		d.SourceTimestamp, d.SourcePicoseconds = ctx.Now, 0
	}
	return d, ua.Good
}

// offer asks the callback of OnWrite and stores the value if that agrees. The callback runs without a
// lock; a part is put into the value as it is afterwards.
func (s *Space) offer(ctx *uaserver.Context, v *Variable, it *uaserver.WriteItem, value ua.Variant) ua.StatusCode {
	old := v.Value()
	d, status := written(ctx, it, old.Value, value)
	if status != ua.Good {
		return status
	}
	if !v.hooks.nonBlocking && !ctx.MayBlock {
		it.Blocked = true
		return ua.Good
	}
	status = s.callWrite(Write{Context: ctx, Variable: v, Old: old, New: d})
	if status.IsBad() {
		return status
	}
	if late := v.put(ctx, it, value); late != ua.Good {
		return late
	}
	return status
}

// writable are the attributes other than Value that can be written, where WriteMask says so.
func (n *Node) writeAttribute(ctx *uaserver.Context, it *uaserver.WriteItem) ua.StatusCode {
	if _, status := n.attribute(ctx, it.Attribute); status == ua.BadAttributeIdInvalid {
		return status
	}
	bit := ua.WriteMaskNone
	switch it.Attribute {
	case ua.AttributeDisplayName:
		bit = ua.WriteMaskDisplayName
	case ua.AttributeDescription:
		bit = ua.WriteMaskDescription
	}
	if n.writeMask()&bit == 0 {
		return ua.BadNotWritable
	}
	if !n.allowed(ctx, ua.PermissionTypeWriteAttribute) {
		return ua.BadUserAccessDenied
	}
	text, ok := ua.As[ua.LocalizedText](it.Value.Value)
	switch {
	case !it.Range.IsWhole():
		return ua.BadIndexRangeNoData
	case !ok:
		return ua.BadTypeMismatch
	case it.Value.Status != ua.Good || it.Value.SourceTimestamp != 0 || it.Value.ServerTimestamp != 0:
		return ua.BadWriteNotSupported
	case bit == ua.WriteMaskDisplayName:
		n.SetDisplayName(text)
	default:
		n.SetDescription(text)
	}
	return ua.Good
}
