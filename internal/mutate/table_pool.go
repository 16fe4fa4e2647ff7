package main

// The mutations of the pool and of the other dispatchers: lost wake-ups.
func init() {
	mailboxTable = append(mailboxTable, []mutation{
		{
			name: "a ready cell wakes nobody", pkg: actors, cases: `^TestPool(ScheduleWakes|ScheduleFromLostTurn|BlockedActor/1_workers)$`,
			edits: []edit{{workersF, "	w = p.popIdle()\n	p.mu.Unlock()\n	w.rouse()\n}\n\n// added is", "	w = p.idle[0]\n	p.mu.Unlock()\n}\n\n// added is"}},
		},
		{
			name: "a full worker wakes nobody", pkg: actors, cases: `^TestPoolScheduleInTurn$`,
			edits: []edit{{workersF, "			if p.idlers.Load() > 0 && p.spinning.Load() == 0 {\n				p.wakeOne()\n			}\n", ""}},
		},
		{
			name: "a worker that sleeps takes cells", pkg: actors, cases: `^TestPoolScheduleFromLostTurn$`,
			edits: []edit{{workersF, "	case w.now == nil:\n	case w.next == nil:", "	case w.next == nil:"}},
		},
		{
			name: "a worker of another pool takes cells", pkg: actors, cases: `^TestPoolScheduleFromLostTurn$`,
			edits: []edit{{workersF, "	if w != nil && w.pool == p {", "	if w != nil {"}},
		},
		{
			name: "a worker sleeps without a last look", pkg: actors, cases: `^TestPoolLastLook$`,
			edits: []edit{{workersF, "		if p.anywhere() {", "		if false {"}},
		},
		{
			name: "a worker that found something at last still counts as idle", pkg: actors, cases: `^TestPoolLastLook$`,
			edits: []edit{{workersF, "					p.idle = append(p.idle[:i], p.idle[i+1:]...)\n					p.idlers.Store(int32(len(p.idle)))\n", "					_ = i\n"}},
		},
		{
			name: "a worker that has looked for work wakes nobody for the rest", pkg: actors, cases: `^TestPoolSpinWakesForTheRest$`,
			edits: []edit{{workersF, "	if c != nil && p.waiting.Load() > 0 && p.idlers.Load() > 0 {", "	if false {"}},
		},
		{
			name: "the last look of a spinning worker wakes nobody", pkg: actors, cases: `^TestPoolSpinWakesForTheRest$`,
			edits: []edit{{workersF, "		c = w.look() // nobody was woken while this one was spinning\n", "		return w.look()\n"}},
		},
		{
			name: "a worker with more to do wakes nobody", pkg: actors, cases: `^TestPoolTurnedWakes$`,
			edits: []edit{{workersF, "		if more && p.idlers.Load() > 0 && p.spinning.Load() == 0 {", "		if more && false {"}},
		},
		{
			name: "a given-away turn's cell is dropped", pkg: actors, cases: `^TestPool(TurnedAfterLoss|BlockedActor/1_workers)$`, atLeast: 1,
			edits: []edit{{workersF, "	if again {\n		p.schedule(c, nil)\n	}\n	return false", "	return false"}},
		},
		{
			name: "a cell with more to do is dropped", pkg: actors, cases: `^TestPool(Turned|MovesEachCellOnce|QueueDoesNotStarveCommon)$`, atLeast: 1,
			edits: []edit{{workersF, "				w.queue.push(c)\n			}\n		}\n	}\n	w.mu.Unlock()\n	if mine {\n", "			}\n		}\n	}\n	w.mu.Unlock()\n	if mine {\n"}},
		},
		{
			name: "nobody watches for workers that are stuck", pkg: actors, cases: `^TestPool(BlockedActor/(1|2)_workers|WatchmanStays)$`,
			edits: []edit{{watchmanF, "		go m.run()\n	}\n}", "		_ = m\n		m.awake.Store(false)\n	}\n}"}},
		},
		{
			name: "the watchman leaves a worker that was just woken", pkg: actors, cases: `^TestPoolWatchmanStays$`,
			edits: []edit{{watchmanF, "	return p.ended || len(p.idle) == len(p.workers)", "	for _, w := range p.workers {\n		if w.now != nil {\n			return false\n		}\n	}\n	return true"}},
		},
		{
			name: "the watchman never leaves", pkg: actors, cases: `^TestPool(WatchmanStays|Ends)$`,
			edits: []edit{{watchmanF, "		if m.pool.quiet() || !m.awake.CompareAndSwap(false, true) {", "		if !m.awake.CompareAndSwap(false, true) {"}},
		},
		{
			name: "the watchman does not see that the pool has ended", pkg: actors, cases: `^TestPoolEnds$`,
			edits: []edit{{watchmanF, "	return p.ended || len(p.idle) == len(p.workers)", "	return len(p.idle) == len(p.workers)"}},
		},
		{
			name: "a worker whose goroutine an actor ended gets no other", pkg: actors, cases: `^TestDispatcherGoexit/pool$`,
			edits: []edit{{workersF, "	if w.turned(c, epoch, true) {\n		w.run(epoch)\n	}", "	w.turned(c, epoch, true)"}},
		},
		{
			name: "an actor that ended its goroutine gets no other", pkg: actors, cases: `^TestDispatcherGoexit/goroutine$`,
			edits: []edit{{runnersF, "			g.end(c)\n			go g.run(c)", "			g.end(c)"}},
		},
		{
			name: "an actor that ended its thread gets no other", pkg: actors, cases: `^TestDispatcherGoexit/pinned$`,
			edits: []edit{{pinnedF, "			wake <- struct{}{}\n			go p.run(c, wake)", "			_ = wake"}},
		},
		{
			name: "the calling thread forgets an actor that ended it", pkg: actors, cases: `^TestDispatcherGoexit/calling_thread$`,
			edits: []edit{{pinnedF, "			d.ready.push(c)\n			d.mu.Unlock()\n			d.drain()", "			d.mu.Unlock()\n			d.drain()"}},
		},
		{
			name: "an ask forgets what the actor has to do after it", pkg: actors, cases: `^TestAskRunsActorOnce/(pool|goroutine)$`,
			edits: []edit{{runnersF, "	normal = true\n	if again {\n		d.schedule(c, nil)\n	}", "	normal = again || !again"}},
		},
		{
			name: "an ask forgets an actor that ended the asker", pkg: actors, cases: `^TestAskRunsActorOnce/(pool|goroutine)$`,
			edits: []edit{{runnersF, "		if !normal { // the actor's code has ended this goroutine: the cell needs another\n			d.schedule(c, nil)", "		if !normal { // the actor's code has ended this goroutine: the cell needs another\n			_ = c"}},
		},
		{
			name: "next goes first for ever", pkg: actors, cases: `^TestPoolNextDoesNotStarveQueue$`,
			edits: []edit{{workersF, "	case w.next != nil && (w.hops < maxHops || w.queue.len() == 0):", "	case w.next != nil:"}},
		},
		{
			name: "the common queue goes last for ever", pkg: actors, cases: `^TestPoolQueueDoesNotStarveCommon$`,
			edits: []edit{{workersF, "	if w.turns%commonEach == 0 && w.pool", "	if w.turns == 0 && w.pool"}},
		},
	}...)
}

// And double runs.
func init() {
	mailboxTable = append(mailboxTable, []mutation{
		{
			name: "a turn's end puts back an idle cell", pkg: actors, cases: `^Test(PoolTurned|PoolMovesEachCellOnce|MailboxRest/pool)$`,
			edits: []edit{{workersF, "		if again {\n			if away = w.source", "		if again || true {\n			if away = w.source"}},
		},
		{
			name: "a given-away turn's end puts back an idle cell", pkg: actors, cases: `^TestPoolTurnedAfterLoss$`,
			edits: []edit{{workersF, "	if again {\n		p.schedule(c, nil)\n	}\n	return false", "	p.schedule(c, nil)\n	return false"}},
		},
		{
			name: "two goroutines serve a worker that was given away", pkg: actors, cases: `^TestPoolTurnedAfterLoss$`,
			edits: []edit{{workersF, "	mine := w.epoch == epoch\n", "	mine := w.epoch == epoch || again || !again\n"}},
		},
		{
			name: "next is run twice", pkg: actors, cases: `^TestPool(MovesEachCellOnce|NextDoesNotStarveQueue)$`, atLeast: 1,
			edits: []edit{{workersF, "		c, w.next = w.next, nil\n", "		c = w.next\n"}},
		},
		{
			name: "what is stolen stays", pkg: actors, cases: `^TestPoolMovesEachCellOnce$`,
			edits: []edit{{workersF, "		got[i] = v.queue.pop()\n", "		got[i] = v.queue.pop()\n		v.queue.push(got[i])\n"}},
		},
		{
			name: "the first of what is stolen is queued too", pkg: actors, cases: `^TestPoolMovesEachCellOnce$`,
			edits: []edit{{workersF, "	for _, c := range got[1:n] {", "	for _, c := range got[:n] {"}},
		},
		{
			name: "what is taken from the common queue stays", pkg: actors, cases: `^TestPool(MovesEachCellOnce|SpinWakesForTheRest)$`, atLeast: 1,
			edits: []edit{{workersF, "	c := p.common.pop()\n", "	c := p.common.pop()\n	if c != nil {\n		p.common.push(c)\n	}\n"}},
		},
		{
			name: "the calling thread runs an actor within another's turn", pkg: actors, cases: `^TestCallingThreadOrder$`,
			edits: []edit{{pinnedF, "	if d.active {\n		d.mu.Unlock()\n		return\n	}\n	d.active", "	d.active"}},
		},
	}...)
}
