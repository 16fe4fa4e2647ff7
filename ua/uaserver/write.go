package uaserver

import (
	"slices"

	"github.com/actua/actua/ua"
)

// write is the service Write (Part 4, 5.11.4).
func write(k *call, q *ua.WriteRequest, p *ua.WriteResponse) outcome {
	switch n := len(q.NodesToWrite); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "NodesToWrite is empty")
	case n > k.server.cfg.Limits.MaxNodesPerWrite:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerWrite")
	}
	n := len(q.NodesToWrite)
	p.Results = slices.Grow(p.Results[:0], n)[:n]
	clear(p.Results)
	k.batch.reset(n)
	for i := range q.NodesToWrite {
		w := &q.NodesToWrite[i]
		owner := k.server.managerOf(w.NodeID.Namespace())
		switch {
		case w.NodeID.IsNull() || owner < 0:
			p.Results[i], owner = nodeStatus(w.NodeID), -1
		case !ua.AttributeID(w.AttributeID).IsValid():
			p.Results[i], owner = ua.BadAttributeIdInvalid, -1
		case w.IndexRange != "":
			if _, err := ua.ParseNumericRange(w.IndexRange); err != nil {
				p.Results[i], owner = ua.BadIndexRangeInvalid, -1
			}
		}
		k.batch.owner[i] = int32(owner)
	}
	k.batch.sort(len(k.server.cfg.Nodes))
	n = k.batch.len()
	k.writes = slices.Grow(k.writes[:0], n)[:n]
	for i := range k.writes {
		at := k.batch.at(i)
		w, it := &q.NodesToWrite[at], &k.writes[i]
		it.NodeID = w.NodeID
		it.Attribute = ua.AttributeID(w.AttributeID)
		if it.Range = (ua.NumericRange{}); w.IndexRange != "" {
			it.Range, _ = ua.ParseNumericRange(w.IndexRange) // was checked above
		}
		it.Value, it.Result, it.Blocked = &w.Value, &p.Results[at], false
	}
	if k.writeItems() {
		return k.background(func(k *call) {
			k.writeItems()
			finishWrite(k, p)
		})
	}
	finishWrite(k, p)
	return answered
}

func finishWrite(k *call, p *ua.WriteResponse) {
	p.DiagnosticInfos = k.diagnoseStatuses(p.DiagnosticInfos, p.Results)
}

// writeItems is readItems for Write.
func (k *call) writeItems() (blocked bool) {
	for i := range k.batch.runs {
		run := &k.batch.runs[i]
		if run.from == run.to {
			continue
		}
		items := k.writes[run.from:run.to]
		k.server.cfg.Nodes[run.manager].Write(&k.ctx, items)
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
