package uaserver

import (
	"math"

	"github.com/actua/actua/ua"
)

// Bits of BrowseDescription.ResultMask (Part 4, 5.9.2).
const (
	resultReferenceType  = 1
	resultIsForward      = 2
	resultNodeClass      = 4
	resultBrowseName     = 8
	resultDisplayName    = 16
	resultTypeDefinition = 32
)

// browser is the memory that Browse and BrowseNext work in.
type browser struct {
	k       *call
	item    BrowseItem
	targets []DescribeItem // of local references, by the order of batch
	budget  int            // bytes left in the response
	serial  uint64         // of the request, so that its own points are told from older ones
}

// Pages of references that are asked of a manager at a time, so that a response can end before it is
// too large, and the bytes that a reference is guessed to take before it is known.
const (
	browsePage    = 500
	referenceSize = 120
)

// browse is the service Browse (Part 4, 5.9.2).
func browse(k *call, q *ua.BrowseRequest, p *ua.BrowseResponse) outcome {
	switch n := len(q.NodesToBrowse); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "NodesToBrowse is empty")
	case n > k.server.cfg.Limits.MaxNodesPerBrowse:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerBrowse")
	}
	if status := k.checkView(&q.View); status.IsBad() {
		return k.fail(status, "")
	}
	p.Results = results(p.Results, len(q.NodesToBrowse))
	b := &k.browse
	b.begin(len(p.Results))
	for i := range q.NodesToBrowse {
		d := &q.NodesToBrowse[i]
		r := &p.Results[i]
		if r.StatusCode = k.checkBrowse(d); r.StatusCode.IsBad() {
			continue
		}
		b.page(point{desc: *d, max: q.RequestedMaxReferencesPerNode}, r, i == 0)
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), browseStatus)
	return answered
}

func browseStatus(k *call, i int) ua.StatusCode {
	return k.resp.(*ua.BrowseResponse).Results[i].StatusCode
}

// browseNext is the service BrowseNext (Part 4, 5.9.3).
func browseNext(k *call, q *ua.BrowseNextRequest, p *ua.BrowseNextResponse) outcome {
	switch n := len(q.ContinuationPoints); {
	case n == 0:
		return k.fail(ua.BadNothingToDo, "ContinuationPoints is empty")
	case n > k.server.cfg.Limits.MaxNodesPerBrowse:
		return k.fail(ua.BadTooManyOperations, "more items than MaxNodesPerBrowse")
	}
	p.Results = results(p.Results, len(q.ContinuationPoints))
	b := &k.browse
	b.begin(len(p.Results))
	for i, id := range q.ContinuationPoints {
		r := &p.Results[i]
		pt, ok := k.session.points.take(id)
		switch {
		case !ok:
			r.StatusCode = ua.BadContinuationPointInvalid
		case !q.ReleaseContinuationPoints:
			b.page(pt, r, i == 0)
		}
	}
	p.DiagnosticInfos = k.diagnose(p.DiagnosticInfos, len(p.Results), browseNextStatus)
	return answered
}

func browseNextStatus(k *call, i int) ua.StatusCode {
	return k.resp.(*ua.BrowseNextResponse).Results[i].StatusCode
}

// results is n empty results in the memory of others.
func results(old []ua.BrowseResult, n int) []ua.BrowseResult {
	old = old[:min(n, cap(old))]
	for len(old) < n {
		old = append(old, ua.BrowseResult{})
	}
	for i := range old {
		old[i] = ua.BrowseResult{References: old[i].References[:0]}
	}
	return old
}

func (k *call) checkView(v *ua.ViewDescription) ua.StatusCode {
	if v.ViewID.IsNull() {
		return ua.Good
	}
	m := k.server.NodeManagerOf(v.ViewID.Namespace())
	if m == nil {
		return ua.BadViewIdUnknown
	}
	view := []DescribeItem{{NodeID: v.ViewID}}
	if m.Describe(&k.ctx, view); view[0].Class != ua.NodeClassView {
		return ua.BadViewIdUnknown
	}
	if v.Timestamp != 0 && v.ViewVersion != 0 {
		return ua.BadViewParameterMismatch
	}
	if v.Timestamp != 0 {
		return ua.BadViewTimestampInvalid // there is no history of a view
	}
	return ua.Good
}

func (k *call) checkBrowse(d *ua.BrowseDescription) ua.StatusCode {
	switch {
	case d.NodeID.IsNull() || k.server.managerOf(d.NodeID.Namespace()) < 0:
		return nodeStatus(d.NodeID)
	case d.BrowseDirection < ua.BrowseDirectionForward || d.BrowseDirection > ua.BrowseDirectionBoth:
		return ua.BadBrowseDirectionInvalid
	case d.NodeClassMask&^0xFF != 0:
		return ua.BadNodeClassInvalid
	case !d.ReferenceTypeID.IsNull() && !k.isReferenceType(d.ReferenceTypeID):
		return ua.BadReferenceTypeIdInvalid
	}
	return ua.Good
}

func (k *call) isReferenceType(id ua.NodeID) bool {
	m := k.server.NodeManagerOf(id.Namespace())
	if m == nil {
		return false
	}
	b := &k.browse
	b.targets = append(b.targets[:0], DescribeItem{NodeID: id})
	m.Describe(&k.ctx, b.targets)
	return b.targets[0].Class == ua.NodeClassReferenceType
}

func (b *browser) begin(n int) {
	// Of the limit, some is for the header, and for each result its own fields and a point.
	b.budget = b.k.maxResponse() - 256 - 32*n
	b.serial = b.k.session.points.begin()
}

// page fills r with the next references of pt. What does not fit stays behind a continuation point.
// When the response is full, a point with no references is all a node gets, unless it is the first.
func (b *browser) page(pt point, r *ua.BrowseResult, first bool) {
	if b.budget < referenceSize && !first {
		b.leave(pt, r)
		return
	}
	count := b.k.server.cfg.Limits.MaxReferencesPerNode
	if pt.max > 0 {
		count = min(count, int(min(pt.max, math.MaxInt32)))
	}
	manager := b.k.server.NodeManagerOf(pt.desc.NodeID.Namespace())
	it := &b.item
	it.NodeID, it.Direction, it.ReferenceType = pt.desc.NodeID, pt.desc.BrowseDirection, pt.desc.ReferenceTypeID
	it.IncludeSubtypes, it.ClassMask, it.Cursor = pt.desc.IncludeSubtypes, pt.desc.NodeClassMask, pt.cursor
	for {
		it.Max = max(1, min(browsePage, count-len(r.References), b.budget/referenceSize))
		it.Status, it.References = ua.Good, it.References[:0]
		manager.Browse(&b.k.ctx, it)
		if it.Status.IsBad() {
			r.StatusCode, r.References = it.Status, r.References[:0]
			return
		}
		b.budget -= b.describe(r, pt.desc.ResultMask)
		if it.Cursor == 0 {
			return
		}
		if len(r.References) >= count || b.budget < referenceSize {
			break
		}
	}
	pt.cursor = it.Cursor
	b.leave(pt, r)
}

// leave puts what remains of pt behind a continuation point. Without room for one, the references
// found so far are of no use either.
func (b *browser) leave(pt point, r *ua.BrowseResult) {
	id, ok := b.k.session.points.put(pt, b.serial, b.k.server.cfg.Limits.MaxBrowseContinuationPoint)
	if !ok {
		r.StatusCode, r.References = ua.BadNoContinuationPoints, r.References[:0]
		return
	}
	r.ContinuationPoint = id
}

// describe appends the references that the manager has found to r and returns their size in bytes.
func (b *browser) describe(r *ua.BrowseResult, mask uint32) (size int) {
	k, refs := b.k, b.item.References
	k.batch.reset(len(refs))
	for i := range refs {
		owner := -1
		if refs[i].Target.IsLocal() {
			owner = k.server.managerOf(refs[i].Target.NodeID.Namespace())
		}
		k.batch.owner[i] = int32(owner)
	}
	k.batch.sort(len(k.server.cfg.Nodes))
	b.targets = b.targets[:0]
	for i := range k.batch.len() {
		b.targets = append(b.targets, DescribeItem{NodeID: refs[k.batch.at(i)].Target.NodeID})
	}
	if mask&^(resultReferenceType|resultIsForward) != 0 {
		for _, run := range k.batch.runs {
			k.server.cfg.Nodes[run.manager].Describe(&k.ctx, b.targets[run.from:run.to])
		}
	}
	first := len(r.References)
	for i := range refs {
		d := ua.ReferenceDescription{NodeID: refs[i].Target}
		if mask&resultReferenceType != 0 {
			d.ReferenceTypeID = refs[i].Type
		}
		if mask&resultIsForward != 0 {
			d.IsForward = refs[i].Forward
		}
		size += 40 + len(d.NodeID.NamespaceURI) + textSize(d.NodeID.NodeID)
		r.References = append(r.References, d)
	}
	for j := range b.targets {
		d, t := &r.References[first+k.batch.at(j)], &b.targets[j]
		if mask&resultNodeClass != 0 {
			d.NodeClass = t.Class
		}
		if mask&resultBrowseName != 0 {
			d.BrowseName = t.BrowseName
		}
		if mask&resultDisplayName != 0 {
			d.DisplayName = t.DisplayName
		}
		if mask&resultTypeDefinition != 0 && (t.Class == ua.NodeClassObject || t.Class == ua.NodeClassVariable) {
			d.TypeDefinition = t.TypeDefinition
		}
		size += len(d.BrowseName.Name) + len(d.DisplayName.Locale) + len(d.DisplayName.Text) + textSize(d.TypeDefinition.NodeID)
	}
	return size
}

// textSize is what a NodeId takes beyond a numeric one.
func textSize(id ua.NodeID) int {
	switch id.Type() {
	case ua.IDTypeNumeric:
		return 0
	case ua.IDTypeGUID:
		return 12
	case ua.IDTypeOpaque:
		return 4 + len(id.Opaque())
	}
	return 4 + len(id.Text())
}
