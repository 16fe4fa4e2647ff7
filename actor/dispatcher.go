package actor

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Names of the dispatchers that every system has.
const (
	DefaultDispatcher  = "default-dispatcher"             // a pool of one goroutine a processor
	BlockingDispatcher = "default-blocking-io-dispatcher" // a goroutine for each actor that has mail: 1 message a turn
	PinnedDispatcher   = "pinned-dispatcher"              // an operating system thread for each actor
)

// A DispatcherConfig describes what runs actors. The zero value is Akka.NET's default dispatcher.
type DispatcherConfig struct {
	// Kind is how goroutines are used.
	Kind DispatcherKind

	// Throughput is how many messages an actor handles before others get their turn; 0 is 30.
	Throughput int

	// ThroughputDeadline ends a turn earlier; 0 is no deadline.
	ThroughputDeadline time.Duration

	// Parallelism is how many actors a pool runs at the same time, those that block not counted; 0 is the
	// number of processors (GOMAXPROCS). Pool only.
	Parallelism int
}

// DispatcherKind is how a dispatcher uses goroutines.
type DispatcherKind uint8

const (
	// Pool shares a few goroutines among all actors that have mail. Where an actor blocks, another goroutine
	// takes over what waits behind it, after some milliseconds.
	Pool DispatcherKind = iota

	// Goroutine gives each actor that has mail a goroutine, until its mailbox is empty: for actors that block.
	Goroutine

	// Pinned gives each actor a goroutine of its own that is locked to a thread (runtime.LockOSThread), for
	// as long as the actor lives: for C libraries that want to be called from one thread.
	Pinned

	// CallingThread runs an actor on the goroutine that sent it a message: for tests that want no concurrency.
	CallingThread
)

// dispatcher is a DispatcherConfig at work.
type dispatcher struct {
	runner
	name       string
	throughput int
	deadline   time.Duration
	meters     *meters      // nil without Config.Meter
	askTrust   atomic.Int32 // see promise.spin
	woken      atomic.Bool  // an asker that slept has its reply
}

// runner finds a goroutine for a cell that has become ready.
type runner interface {
	// schedule has c run. w is the worker of the goroutine that calls, nil if it has none.
	schedule(c *cell, w *worker)

	// stop ends the goroutines that have nothing to do. It is called when all cells have ended.
	stop()

	// running reports the cells that are in a turn now, each with the goroutine that runs it.
	running(report func(c *cell, goroutine uint64, since time.Duration))
}

// runHere runs a cell that has become ready on the calling goroutine, for one message, and leaves the rest to
// others. Dispatchers that promise a certain goroutine run it there all the same.
func (d *dispatcher) runHere(c *cell) {
	switch d.runner.(type) {
	case *pool, *goroutines:
	default:
		d.schedule(c, nil)
		return
	}
	normal := false
	defer func() {
		if !normal { // the actor's code has ended this goroutine: the cell needs another
			d.schedule(c, nil)
		}
	}()
	again := c.turnOf(nil, 1)
	normal = true
	if again {
		d.schedule(c, nil)
	}
}

// spinningNow reports whether a goroutine looks for work at this moment, and would run a cell at once.
func (d *dispatcher) spinningNow() bool {
	p, ok := d.runner.(*pool)
	return ok && p.spinning.Load() != 0
}

const defaultThroughput = 30

func (d DispatcherConfig) make(name string) (*dispatcher, error) {
	if d.Throughput < 0 || d.ThroughputDeadline < 0 || d.Parallelism < 0 {
		return nil, fmt.Errorf("actor: dispatcher %q: a number is negative", name)
	}
	out := &dispatcher{name: name, throughput: d.Throughput, deadline: d.ThroughputDeadline}
	out.askTrust.Store(askTrust)
	if out.throughput == 0 {
		out.throughput = defaultThroughput
	}
	n := d.Parallelism
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	switch d.Kind {
	case Pool:
		out.runner = newPool(n, &out.woken)
	case Goroutine:
		out.runner = &goroutines{}
	case Pinned:
		out.runner = &pinned{}
	case CallingThread:
		out.runner = &calling{}
	default:
		return nil, fmt.Errorf("actor: dispatcher %q: there is no kind %d", name, d.Kind)
	}
	return out, nil
}

// turns keeps which cells are in a turn, for dispatchers whose goroutines come and go.
type turns struct {
	mu  sync.Mutex
	now map[*cell]turnInfo
}

type turnInfo struct {
	c         *cell
	goroutine uint64
	since     time.Time
}

func (t *turns) begin(c *cell) {
	t.mu.Lock()
	if t.now == nil {
		t.now = make(map[*cell]turnInfo)
	}
	t.now[c] = turnInfo{c, goroutineID(), time.Now()}
	t.mu.Unlock()
}

func (t *turns) end(c *cell) {
	t.mu.Lock()
	delete(t.now, c)
	t.mu.Unlock()
}

func (t *turns) running(report func(*cell, uint64, time.Duration)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c, i := range t.now {
		report(c, i.goroutine, time.Since(i.since))
	}
}

// goroutines runs each cell on a goroutine of its own while it has mail.
type goroutines struct{ turns }

func (g *goroutines) schedule(c *cell, _ *worker) { go g.run(c) }

func (g *goroutines) run(c *cell) {
	normal := false
	defer func() {
		if !normal { // the actor's code has ended this goroutine: the cell needs another
			g.end(c)
			go g.run(c)
		}
	}()
	g.begin(c)
	for c.turn(nil) {
	}
	normal = true
	g.end(c)
}

func (g *goroutines) stop() {}

// goroutineID is the number that runtime/debug.Stack and a dump of all goroutines give the calling one.
func goroutineID() (id uint64) {
	b := idBuffers.Get().(*[40]byte)
	defer idBuffers.Put(b)
	n := runtime.Stack(b[:], false)
	for _, ch := range b[len("goroutine "):n] {
		if ch < '0' || ch > '9' {
			break
		}
		id = id*10 + uint64(ch-'0')
	}
	return id
}

// idBuffers are for goroutineID: what runtime.Stack writes to is allocated.
var idBuffers = sync.Pool{New: func() any { return new([40]byte) }}
