package main

const (
	subs     = "./ua/internal/subs"
	messageF = "ua/internal/subs/message.go"
	sentF    = "ua/internal/subs/sent.go"
	storeF   = "ua/internal/subs/store.go"
	recycleF = "ua/internal/subs/recycle.go"
	poolF    = "internal/lease/pool.go"
)

// table lists the mutations. Names are what the script prints.
var table = []mutation{
	// Ownership of messages.
	{
		name: "messages are released on acknowledge only", pkg: subs, cases: `^TestLease[^/]*$`,
		edits: []edit{
			{messageF, "func (r *Ref) Acquire(m *Message) { r.Adopt(m.Retain()) }", "func (r *Ref) Acquire(m *Message) { r.Adopt(m) }"},
			{messageF, "	if m := r.m.Swap(nil); m != nil {\n		m.release()", "	if m := r.m.Swap(nil); m != nil {\n		_ = m"},
		},
	},
	{
		name: "messages are released on acknowledge only (lifetime)", pkg: subs, cases: `^TestLifetimeMatrix/[^/]+/[^/]+/[^/]+/[^/]+$`,
		edits: []edit{
			{messageF, "func (r *Ref) Acquire(m *Message) { r.Adopt(m.Retain()) }", "func (r *Ref) Acquire(m *Message) { r.Adopt(m) }"},
			{messageF, "	if m := r.m.Swap(nil); m != nil {\n		m.release()", "	if m := r.m.Swap(nil); m != nil {\n		_ = m"},
		},
	},
	{
		name: "the queue has no reference of its own", pkg: subs, cases: `^TestLeaseRepublish[^/]*$`,
		edits: []edit{{sentF, "	if m != nil {\n		out.Acquire(m)", "	if m != nil {\n		out.Adopt(m)"}},
	},
	{
		name: "republish takes no reference", pkg: subs, cases: `^TestLifetimeMatrix/[^/]+/republish/[^/]+/[^/]+$`,
		edits: []edit{{sentF, "out.Acquire(q.messages[i])", "out.Adopt(q.messages[i])"}},
	},
	{
		name: "a queued message is handed out without a reference", pkg: subs, cases: `^TestLifetimeMatrix/[^/]+/queued/[^/]+/[^/]+$`,
		edits: []edit{{sentF, "	out.Acquire(m)\n	q.removed = q.removed[:0]", "	out.Adopt(m)\n	q.removed = q.removed[:0]"}},
	},
	{
		name: "a copy of a response has a claim", pkg: subs, cases: `^TestLeaseFailedSendReleasesTwice$`,
		edits: []edit{{messageF, "func (r *Ref) Release() {\n	if r.self != r {", "func (r *Ref) Release() {\n	if r.self == nil {"}},
	},
	{
		name: "a second release of one owner counts", pkg: subs, cases: `^TestLease(FailedSendReleasesTwice)$|^TestRefReleaseRace$`,
		edits: []edit{{messageF, "	if m := r.m.Swap(nil); m != nil {\n		m.release()", "	if m := r.m.Load(); m != nil {\n		m.release()"}},
	},
	{
		name: "messages are never recycled", pkg: subs, cases: `^TestLifetimeMatrix/[^/]+/[^/]+/[^/]+/[^/]+$`,
		edits: []edit{{messageF, "		m.last.note()\n		m.recycle()", "		m.last.note()"}},
	},
	{
		name: "slices of events stay out", pkg: subs, cases: `^TestLifetimeMatrix/[^/]+/[^/]+/[^/]+/events$`,
		edits: []edit{{recycleF, "		p.events.Return(m.events)\n", ""}},
	},
	{
		name: "dropped messages are not released", pkg: subs, cases: `^TestLeaseOverflowReturnsAtOnce$`,
		edits: []edit{{sentF, "			m.release()\n		}\n		q.dropped,", "			_ = m\n		}\n		q.dropped,"}},
	},
	{
		name: "the mirror keeps messages without a reference", pkg: subs, cases: `^TestMirrorKeepsMessages/[^/]+$`,
		edits: []edit{
			{storeF, "	for _, m := range state.Messages { // before the old ones are released: most are the same\n		m.Retain()\n	}\n", ""},
			{storeF, "	for _, m := range d.Added { // before others are released: they may be the same\n		m.Retain()\n	}\n", ""},
		},
	},
	// Pools.
	{
		name: "pools have no bound", pkg: "./internal/lease", cases: `^Test(PoolBound|PoolRaise)$`,
		edits: []edit{{poolF, "	limit := p.bound.Load() - 1 // one is first", "	limit := int64(MaxBound)"}},
	},
	{
		name: "a second return of an object is taken", pkg: "./internal/lease", cases: `^TestPoolDoubleReturn/remembered_by_the_object$`,
		edits: []edit{{poolF, "		if !p.opt.Idle(x).CompareAndSwap(0, 1) {", "		if p.opt.Idle(x).Swap(1) > 1 {"}},
	},
	{
		name: "an object in the pool keeps others alive", pkg: "./internal/lease", cases: `^TestPoolFieldsReset$`,
		edits: []edit{{poolF, "	p.returns.Add(1)\n	if p.opt.Clear != nil {", "	p.returns.Add(1)\n	if false {"}},
	},
	{
		name: "bounds are lowered", pkg: "./internal/lease", cases: `^TestPoolRaise$`,
		edits: []edit{{poolF, "		if int64(bound) <= old || p.bound", "		if p.bound"}},
	},
	// The retransmission queue.
	{
		name: "eviction makes room for all new messages", pkg: subs, cases: `^TestSentEnqueue/(evicts_only_the_excess|room_for_all_evicts_none)$`,
		edits: []edit{{sentF, "	if n := len(q.messages) + len(new) - q.max; n > 0 {", "	if n := min(len(new), len(q.messages)); n > 0 {"}},
	},
	{
		name: "available numbers name unsent messages", pkg: subs, cases: `^TestSent(Enqueue|Dequeue|Acknowledge)$`,
		edits: []edit{{sentF, "	for _, m := range q.messages[:q.firstUnsent] {\n		dst", "	for _, m := range q.messages {\n		dst"}},
	},
	{
		name: "unsent messages can be acknowledged and republished", pkg: subs, cases: `^TestSent(Acknowledge|Republish)/unsent$`,
		edits: []edit{{sentF, "	for i, m := range q.messages[:q.firstUnsent] {\n		if m.SequenceNumber", "	for i, m := range q.messages {\n		if m.SequenceNumber"}},
	},
	{
		name: "a keep-alive announces the next new number", pkg: subs, cases: `^TestSent(Dequeue/in_order,_then_none|Numbers/never_0)$`,
		edits: []edit{{sentF, "		return q.messages[q.firstUnsent].SequenceNumber\n", "		return q.next\n"}},
	},
	{
		name: "sequence number 0 is used", pkg: subs, cases: `^TestSent(Numbers/never_0|Restore/next_skips_0)$`,
		edits: []edit{{sentF, "	if n++; n == 0 {\n		n = 1\n	}\n", "	n++\n"}},
	},
	{
		name: "a restored queue repeats unsent numbers", pkg: subs, cases: `^TestSentRestore/(next_kept|more_than_fit)$`,
		edits: []edit{{sentF, "	q.firstUnsent = min(max(s.FirstUnsent, 0), len(q.messages))", "	q.firstUnsent = len(q.messages)"}},
	},
}
