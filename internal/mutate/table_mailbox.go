package main

const (
	actors    = "./actor"
	cellF     = "actor/cell.go"
	mailboxF  = "actor/mailbox.go"
	workersF  = "actor/pool.go"
	watchmanF = "actor/watchman.go"
	pinnedF   = "actor/pinned.go"
	runnersF  = "actor/dispatcher.go"
)

// mailboxTests are the tests of the scheduling.
const mailboxTests = "^Test(Mailbox|Pool|Dispatcher|CallingThread|AskRuns)"

// mailboxTable lists the mutations of the mailbox's and the pool's scheduling. They make one of two mistakes: a cell
// with something to do that nobody runs (a lost wake-up), or a cell that two goroutines run.
var mailboxTable = []mutation{
	// The mailbox: lost wake-ups.
	{
		name: "a message schedules nobody", pkg: actors, cases: `^TestMailbox(Model|Throughput)$`,
		edits: []edit{{mailboxF, "	c.in = append(c.in, envelope{msg, sender})\n	ready := c.status&(busy|suspended) == 0\n", "	c.in = append(c.in, envelope{msg, sender})\n	ready := false\n"}},
	},
	{
		name: "a system message schedules nobody", pkg: actors, cases: `^TestMailbox(Model|SystemFirst)$`,
		edits: []edit{{mailboxF, "	ready := c.status&busy == 0\n	c.status |= busy\n	c.mu.Unlock()\n	if ready {\n		c.disp", "	ready := false\n	c.mu.Unlock()\n	if ready {\n		c.disp"}},
	},
	{
		name: "a cell rests without looking", pkg: actors, cases: `^TestMailbox(Model|Throughput)$`,
		edits: []edit{{mailboxF, "c.pos == len(c.out) && !c.refillLocked():", "c.pos == len(c.out):"}},
	},
	{
		name: "a cell rests without a second look under the lock", pkg: actors, cases: `^TestMailboxRest/(pool|goroutine)$`,
		edits: []edit{{mailboxF, "func (c *cell) rest() (idle bool) {\n	c.mu.Lock()\n	switch {\n	case c.sysHead != nil:\n	case c.status&(suspended|closed) != 0, c.pos == len(c.out) && !c.refillLocked():",
			"func (c *cell) rest() (idle bool) {\n	c.mu.Lock()\n	empty := c.pos == len(c.out) && !c.refillLocked()\n	c.mu.Unlock()\n	time.Sleep(1)\n	c.mu.Lock()\n	switch {\n	case c.sysHead != nil:\n	case c.status&(suspended|closed) != 0, empty:"}},
	},
	{
		name: "a cell rests with system messages left", pkg: actors, cases: `^TestMailboxSystemRest$`,
		edits: []edit{{mailboxF, "func (c *cell) rest() (idle bool) {\n	c.mu.Lock()\n	switch {\n	case c.sysHead != nil:\n	case", "func (c *cell) rest() (idle bool) {\n	time.Sleep(1)\n	c.mu.Lock()\n	switch {\n	case"}},
	},
	{
		name: "a cell stays busy when it rests", pkg: actors, cases: `^TestMailbox(Model|Throughput)$`,
		edits: []edit{{mailboxF, "		c.status &^= busy\n", ""}},
	},
	{
		name: "a system message takes those behind it along", pkg: actors, cases: `^TestMailbox(Model|SystemFirst)$`, atLeast: 1,
		edits: []edit{{mailboxF, "		c.sysHead, m.next = m.next, nil\n", "		c.sysHead, m.next = nil, nil\n"}},
	},
	{
		name: "a resumed cell does not see that it may go on", pkg: actors, cases: `^TestMailboxModel$`,
		edits: []edit{{mailboxF, "		c.status &^= suspended\n", ""}},
	},
	{
		name: "a new cell is not scheduled", pkg: actors, cases: `^TestMailbox(Model|NewCell)$`,
		edits: []edit{{cellF, "func (c *cell) startOn(w *worker) { c.disp.schedule(c, w) }", "func (c *cell) startOn(w *worker) { _ = w }"}},
	},
	// The mailbox: double runs.
	{
		name: "a message does not make the cell busy", pkg: actors, cases: `^TestMailbox(Model|Throughput)$`,
		edits: []edit{{mailboxF, "	c.in = append(c.in, envelope{msg, sender})\n	ready := c.status&(busy|suspended) == 0\n	if ready {\n		c.status |= busy\n	}\n", "	c.in = append(c.in, envelope{msg, sender})\n	ready := c.status&(busy|suspended) == 0\n"}},
	},
	{
		name: "a message schedules a busy cell", pkg: actors, cases: `^TestMailbox(Model|Throughput)$`,
		edits: []edit{{mailboxF, "	c.in = append(c.in, envelope{msg, sender})\n	ready := c.status&(busy|suspended) == 0\n", "	c.in = append(c.in, envelope{msg, sender})\n	ready := c.status&suspended == 0\n"}},
	},
	{
		name: "a system message schedules a busy cell", pkg: actors, cases: `^TestMailbox(Model|SystemFirst)$`,
		edits: []edit{{mailboxF, "	ready := c.status&busy == 0\n	c.status |= busy\n	c.mu.Unlock()\n	if ready {\n		c.disp", "	ready := true\n	c.status |= busy\n	c.mu.Unlock()\n	if ready {\n		c.disp"}},
	},
	{
		name: "a system message does not make the cell busy", pkg: actors, cases: `^TestMailboxModel$`,
		edits: []edit{{mailboxF, "	ready := c.status&busy == 0\n	c.status |= busy\n	c.mu.Unlock()\n	if ready {\n		c.disp", "	ready := c.status&busy == 0\n	c.mu.Unlock()\n	if ready {\n		c.disp"}},
	},
	{
		name: "a new cell is not busy", pkg: actors, cases: `^TestMailboxNewCell$`,
		edits: []edit{{cellF, "disp: sys.dispatcher(props), status: busy}", "disp: sys.dispatcher(props)}"}},
	},
	{
		name: "a cell that rests is looked at", pkg: actors, cases: `^TestMailboxRace/(pool|goroutine)$`, atLeast: 1, race: true,
		edits: []edit{{cellF, "		if end == broken {", "		if true {"}},
	},
	{
		name: "a turn has no end", pkg: actors, cases: `^TestMailboxThroughput$`,
		edits: []edit{{cellF, "		if *left <= 0 || (", "		if false || ("}},
	},
	{
		name: "a turn has no deadline", pkg: actors, cases: `^TestMailboxDeadline$`,
		edits: []edit{{cellF, "(!until.IsZero() && !time.Now().Before(until))", "(!until.IsZero() && time.Now().Before(time.Time{}))"}},
	},
	{
		name: "system messages wait for user messages", pkg: actors, cases: `^TestMailboxSystemFirst$`,
		edits: []edit{{cellF, "		if c.sysWaiting.Load() {\n			c.handleSystem()", "		if c.pos == len(c.out) && c.sysWaiting.Load() {\n			c.handleSystem()"}},
	},
}
