package main

const (
	readyF    = "ua/internal/subs/ready.go"
	produceF  = "ua/internal/subs/produce.go"
	subF      = "ua/internal/subs/subscription.go"
	sessionF  = "ua/internal/subs/session.go"
	transferF = "ua/internal/subs/transfer.go"
)

// The mutations of the ready list and of the pairing of requests.
func init() {
	table = append(table, []mutation{
		{
			name: "items do not signal", pkg: subs, cases: `^TestReadyEquivalence/[^/]+$`, atLeast: 5,
			edits: []edit{{readyF, "	if i.signal.Load() == free && i.signal.CompareAndSwap(free, held) {", "	if i == nil {"}},
		},
		{
			name: "subscriptions do not mark", pkg: subs, cases: `^TestReadyEquivalence/BacklogLeftReporting$`,
			edits: []edit{{readyF, "	if i.signal.CompareAndSwap(free, held) {\n		i.place = candidate", "	if i == nil {\n		i.place = candidate"}},
		},
		{
			name: "nobody looks again after the signal was given back", pkg: subs, cases: `^TestReadyLooksAgain$`,
			edits: []edit{{readyF, "	return i.judge(at) == idle || !i.signal.CompareAndSwap(free, held)", "	return true"}},
		},
		{
			name: "signals do not rouse", pkg: subs, cases: `^TestRandomOperations$`,
			edits: []edit{{subF, "		s.m.schedule.poke(s)", "		_ = s"}},
		},
		{
			name: "idle items stay candidates", pkg: subs, cases: `^TestReadyIdleItemIsNotTracked$`,
			edits: []edit{{subF, "		case idle:\n			i.place = nowhere", "		case idle:\n			i.place = nowhere\n			kept = append(kept, i)"}, {produceF, "\ti.signal.Store(free) // and nothing can have come: the item is locked\n\ti.mu.Unlock()", "\ti.mu.Unlock()\n\ti.sub.candidates = append(i.sub.candidates, i)"}},
		},
		{
			name: "the newest request is served first", pkg: subs, cases: `^TestPublishQueue/requests_are_used_in_their_order$`,
			edits: []edit{{sessionF, "		ok := sub.produce(now, &s.parked[0].Answer)", "		slices.Reverse(s.parked)\n		ok := sub.produce(now, &s.parked[0].Answer)"}},
		},
		{
			name: "priorities do not count", pkg: subs, cases: `^TestPublishQueue/(the_highest_priority_is_served_first|priority_holds_among_those_that_become_ready_together)$`,
			edits: []edit{{sessionF, "p > q || p == q && (sub.turn < best.turn || sub.turn == best.turn && sub.id < best.id)", "p == q && sub.turn < best.turn"}},
		},
		{
			name: "a claimed subscription publishes", pkg: subs, cases: `^TestTransfer/a_request_does_not_take_what_is_claimed$`,
			edits: []edit{{produceF, "	case s.closed || s.claimed:", "	case s.closed:"}},
		},
		{
			name: "a transfer takes a number", pkg: subs, cases: `^TestTransfer/numbers_go_on_without_a_gap,_only_sent_ones_are_listed$`,
			edits: []edit{{transferF, "sub.sent.Announced(), ua.GoodSubscriptionTransferred", "sub.sent.TakeNumber(), ua.GoodSubscriptionTransferred"}},
		},
	}...)
}
