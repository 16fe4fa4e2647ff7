package uaserver

import (
	"slices"

	"github.com/actua/actua/ua"
)

// read is the service Read (Part 4, 5.11.2).
func read(k *call, q *ua.ReadRequest, p *ua.ReadResponse) outcome {
	switch n := len(q.NodesToRead); {
	case !(q.MaxAge >= 0):
		return k.fail(ua.BadMaxAgeInvalid, "MaxAge is negative or no number")
	case q.TimestampsToReturn < ua.TimestampsToReturnSource || q.TimestampsToReturn > ua.TimestampsToReturnNeither:
		return k.fail(ua.BadTimestampsToReturnInvalid, "")
	case n == 0:
		return k.fail(ua.BadNothingToDo, "NodesToRead is empty")
	case n > k.server.cfg.Limits.MaxNodesPerRead:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerRead")
	}
	n := len(q.NodesToRead)
	p.Results = slices.Grow(p.Results[:0], n)[:n]
	clear(p.Results)
	k.batch.reset(n)
	for i := range q.NodesToRead {
		r := &q.NodesToRead[i]
		owner := k.server.managerOf(r.NodeID.Namespace())
		if owner < 0 || r.AttributeID != uint32(ua.AttributeValue) || r.IndexRange != "" || !r.DataEncoding.IsNull() || r.NodeID.IsNull() {
			if status := checkRead(r, owner); status != ua.Good {
				p.Results[i].Status, owner = status, -1
			}
		}
		k.batch.owner[i] = int32(owner)
	}
	k.batch.sort(len(k.server.cfg.Nodes))
	n = k.batch.len()
	k.reads = slices.Grow(k.reads[:0], n)[:n]
	for i := range k.reads {
		at := k.batch.at(i)
		r, it := &q.NodesToRead[at], &k.reads[i]
		// Field by field: a composite literal would be built elsewhere and copied.
		it.NodeID = r.NodeID
		it.Attribute = ua.AttributeID(r.AttributeID)
		it.DataEncoding = r.DataEncoding
		it.MaxAge = q.MaxAge
		it.Result = &p.Results[at]
		it.Blocked = false
	}
	if k.readItems() {
		return k.background(func(k *call) {
			k.readItems()
			finishRead(k, q, p)
		})
	}
	finishRead(k, q, p)
	return answered
}

// checkRead is what is wrong with an item before any manager is asked; owner is the node's manager.
func checkRead(r *ua.ReadValueID, owner int) ua.StatusCode {
	switch id := ua.AttributeID(r.AttributeID); {
	case r.NodeID.IsNull() || owner < 0:
		return nodeStatus(r.NodeID)
	case !id.IsValid():
		return ua.BadAttributeIdInvalid
	case !r.DataEncoding.IsNull():
		switch {
		case id != ua.AttributeValue:
			return ua.BadDataEncodingInvalid
		case r.DataEncoding.NamespaceIndex != 0 || r.DataEncoding.Name != "Default Binary":
			return ua.BadDataEncodingUnsupported
		}
	}
	if r.IndexRange != "" {
		if _, err := ua.ParseNumericRange(r.IndexRange); err != nil {
			return ua.BadIndexRangeInvalid
		}
	}
	return ua.Good
}

// readItems lets the managers read and reports whether items are left that need to block. Those are
// then all that is left.
func (k *call) readItems() (blocked bool) {
	for i := range k.batch.runs {
		run := &k.batch.runs[i]
		if run.from == run.to {
			continue
		}
		items := k.reads[run.from:run.to]
		k.server.cfg.Nodes[run.manager].Read(&k.ctx, items)
		n := 0
		for j := range items {
			if items[j].Blocked && !k.ctx.MayBlock {
				items[n], items[n].Blocked = items[j], false
				n++
			}
		}
		run.to = run.from + n
		blocked = blocked || n > 0
	}
	return blocked
}

// finishRead applies what is the same for all managers: ranges, encodings and timestamps.
func finishRead(k *call, q *ua.ReadRequest, p *ua.ReadResponse) {
	source := q.TimestampsToReturn == ua.TimestampsToReturnSource || q.TimestampsToReturn == ua.TimestampsToReturnBoth
	var serverTime ua.DateTime
	if q.TimestampsToReturn == ua.TimestampsToReturnServer || q.TimestampsToReturn == ua.TimestampsToReturnBoth {
		serverTime = k.ctx.Now
	}
	size, limit := 0, k.maxResponse()
	for i := range p.Results {
		r, v := &q.NodesToRead[i], &p.Results[i]
		if r.IndexRange != "" && !v.Status.IsBad() {
			v.Value = cut(v, r.IndexRange)
		}
		if r.DataEncoding.Name != "" && !v.Status.IsBad() && v.Value.Type() != ua.TypeExtensionObject {
			*v = ua.DataValue{Status: ua.BadDataEncodingInvalid}
		}
		if !source || r.AttributeID != uint32(ua.AttributeValue) {
			v.SourceTimestamp, v.SourcePicoseconds = 0, 0
		}
		v.ServerTimestamp, v.ServerPicoseconds = serverTime, 0
		if t := v.Value.Type(); t <= ua.TypeDouble && !v.Value.IsArray() {
			size++ // the least, without a call
		} else {
			size += valueSize(v.Value)
		}
		if size > limit {
			clear(p.Results)
			k.fail(ua.BadResponseTooLarge, "the values are larger than a response may be; read fewer at a time")
			return
		}
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), readStatus)
}

// cut is the part of a value that an index range names; without one the value's status says why.
func cut(v *ua.DataValue, text string) ua.Variant {
	rng, err := ua.ParseNumericRange(text)
	if err != nil {
		v.Status = ua.BadIndexRangeInvalid
		return ua.Variant{}
	}
	part, status := rng.Of(v.Value)
	if status.IsBad() {
		v.Status = status
		return ua.Variant{}
	}
	return part
}

func readStatus(k *call, i int) ua.StatusCode { return k.resp.(*ua.ReadResponse).Results[i].Status }
