package actor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// pool runs the cells that are ready on a fixed number of workers. A worker is a queue of ready cells and the
// goroutine that serves it. What an actor makes ready goes to its own worker: the first into the slot next,
// which is served before the queue, because sender and receiver then share a warm cache and no goroutine
// has to be woken. Workers without work take from the common queue, and then half of another's.
//
// An actor that blocks would hold up what waits in its worker's queue. So a watchman looks at the workers while
// any of them runs, about every 2 ms, and gives the queue of one that is stuck to a fresh goroutine.
type pool struct {
	workers []*worker

	mu     sync.Mutex // the common queue, and who is idle
	common ring
	idle   []*worker
	ended  bool
	stuck  map[lostTurn]turnInfo // in turns whose worker has been given away

	waiting  atomic.Int32 // cells in the common queue
	idlers   atomic.Int32 // len(idle)
	spinning atomic.Int32 // workers that look for work before they sleep: 0 or 1
	watch    watchman
	woken    *atomic.Bool // a goroutine was made ready that wants this processor
	readers  atomic.Pointer[[]*worker]
}

// worker is one queue of a pool. Its goroutine holds mu just to take a cell out or put one in.
type worker struct {
	pool *pool
	wake chan struct{}

	mu    sync.Mutex
	next  *cell
	queue ring
	hops  int // how often in a row next was served

	epoch     uint32 // of the goroutine that serves the queue; another epoch means it was given away
	started   bool
	now       *cell // in its turn; nil between turns
	turns     uint32
	goroutine uint64
	written   []Flusher // by the present turn
	toSend    bool      // there was something in written at the end of the last turn; its goroutine's
	seen      uint32    // turns at the watchman's last look; the watchman's
	source    Source    // of a worker that reads a connection
	lingers   time.Time // until then its cells get more turns in one batch; its goroutine's

	patience atomic.Uint32 // of spin; the goroutine that the worker was taken from may still write it
}

// lostTurn is the turn of a goroutine whose worker was given away at the end of its epoch.
type lostTurn struct {
	w     *worker
	epoch uint32
}

const (
	maxHops    = 128 // after so many, next waits behind the queue once
	fewRead    = 4   // so many cells are not taken away from a goroutine that reads
	commonEach = 61  // after so many turns the common queue goes first

	minSpins  = 8    // looks for work before a worker sleeps, where it was in vain lately
	maxSpins  = 1024 // and where it was not: about 20 microseconds
	spinYield = 64   // looks between two offers of the processor to others
)

func newPool(n int, woken *atomic.Bool) *pool {
	p := &pool{woken: woken, stuck: make(map[lostTurn]turnInfo)}
	for range n {
		w := &worker{pool: p, wake: make(chan struct{}, 1)}
		w.patience.Store(minSpins)
		p.workers = append(p.workers, w)
		p.idle = append(p.idle, w)
	}
	p.idlers.Store(int32(n))
	p.watch.pool = p
	return p
}

// schedule puts a cell that has become ready where it will be found.
func (p *pool) schedule(c *cell, w *worker) {
	if w != nil && w.pool == p {
		switch w.add(c) {
		case addedNext:
			return
		case addedQueue:
			if p.idlers.Load() > 0 && p.spinning.Load() == 0 {
				p.wakeOne()
			}
			return
		}
	}
	p.mu.Lock()
	p.common.push(c)
	p.waiting.Store(int32(p.common.len()))
	if len(p.idle) == 0 || p.spinning.Load() != 0 {
		p.mu.Unlock()
		return
	}
	w = p.popIdle()
	p.mu.Unlock()
	w.rouse()
}

// added is where a worker has put a cell.
type added uint8

const (
	notAdded added = iota
	addedNext
	addedQueue
)

// add takes a cell that became ready in a turn of this worker. It refuses where the worker is in no turn: then
// it was given away during the one that calls, and may be asleep.
func (w *worker) add(c *cell) (where added) {
	w.mu.Lock()
	switch {
	case w.now == nil:
	case w.next == nil:
		w.next = c
		where = addedNext
	default:
		w.queue.push(c)
		where = addedQueue
	}
	w.mu.Unlock()
	return where
}

// popIdle takes an idle worker off the list, under mu.
func (p *pool) popIdle() *worker {
	n := len(p.idle) - 1
	w := p.idle[n]
	p.idle = p.idle[:n]
	p.idlers.Store(int32(n))
	return w
}

func (p *pool) wakeOne() {
	p.mu.Lock()
	if len(p.idle) == 0 {
		p.mu.Unlock()
		return
	}
	w := p.popIdle()
	p.mu.Unlock()
	w.rouse()
}

// rouse wakes the goroutine of a worker that was idle, or makes it.
func (w *worker) rouse() {
	w.pool.watch.rouse()
	w.mu.Lock()
	if w.started {
		w.mu.Unlock()
		w.wake <- struct{}{}
		return
	}
	w.started = true
	epoch := w.epoch
	w.mu.Unlock()
	w.run(epoch)
}

// serve runs cells until the worker is given to another goroutine or the pool ends.
func (w *worker) serve(epoch uint32) {
	normal := false
	var c *cell
	defer func() {
		if !normal {
			w.abandoned(c, epoch)
		}
	}()
	w.mu.Lock()
	w.goroutine = goroutineID()
	w.mu.Unlock()
	w.flush() // of a turn in which another goroutine lost the worker
	for {
		if c = w.find(epoch); c == nil {
			normal = true
			return
		}
		if !w.turned(c, epoch, c.turn(w)) {
			normal = true
			return
		}
		if w.toSend {
			w.flush()
		}
	}
}

// turned ends a turn of c. It reports false when this goroutine does not serve the worker any more.
func (w *worker) turned(c *cell, epoch uint32, again bool) bool {
	p := w.pool
	w.mu.Lock()
	mine := w.epoch == epoch
	more, away := false, false
	if mine {
		w.now = nil
		w.toSend = len(w.written) > 0
		if again {
			if away = w.source != nil && !w.linger(); !away {
				more = w.source == nil && (w.next != nil || w.queue.len() > 0)
				w.queue.push(c)
			}
		}
	}
	w.mu.Unlock()
	if mine {
		if away {
			p.schedule(c, nil) // the time of this batch is used up
		}
		if more && p.idlers.Load() > 0 && p.spinning.Load() == 0 {
			p.wakeOne()
		}
		return true
	}
	p.mu.Lock()
	delete(p.stuck, lostTurn{w, epoch})
	p.mu.Unlock()
	if again {
		p.schedule(c, nil)
	}
	return false
}

// abandoned goes on after the code of an actor has ended the goroutine. c has failed already and needs a turn.
func (w *worker) abandoned(c *cell, epoch uint32) {
	if w.turned(c, epoch, true) {
		w.run(epoch)
	}
}

// run makes a goroutine for the worker's present epoch.
func (w *worker) run(epoch uint32) {
	if w.source != nil {
		go w.read(epoch)
	} else {
		go w.serve(epoch)
	}
}

// find waits for a cell to run. It returns nil when the pool has ended.
func (w *worker) find(epoch uint32) *cell {
	p := w.pool
	if c := w.take(); c != nil {
		return c
	}
	for {
		if c := w.spin(); c != nil {
			return c
		}
		// To sleep. Whoever brings work after this looks at idlers; what came before is seen by the last look.
		p.mu.Lock()
		if p.common.len() > 0 {
			p.mu.Unlock()
			continue
		}
		if p.ended {
			p.mu.Unlock()
			return nil
		}
		p.idle = append(p.idle, w)
		p.idlers.Store(int32(len(p.idle)))
		p.mu.Unlock()
		if p.anywhere() {
			p.mu.Lock()
			for i, x := range p.idle {
				if x == w {
					p.idle = append(p.idle[:i], p.idle[i+1:]...)
					p.idlers.Store(int32(len(p.idle)))
					p.mu.Unlock()
					goto awake
				}
			}
			p.mu.Unlock() // somebody has woken this worker meanwhile
		}
		<-w.wake
	awake:
		if c := w.take(); c != nil {
			return c
		}
	}
}

// take is the next cell of the worker's own.
func (w *worker) take() *cell {
	w.mu.Lock()
	w.turns++
	var c *cell
	if w.turns%commonEach == 0 && w.pool.waiting.Load() > 0 {
		w.mu.Unlock()
		if c = w.pool.takeCommon(w); c != nil {
			return c
		}
		w.mu.Lock()
	}
	switch {
	case w.next != nil && (w.hops < maxHops || w.queue.len() == 0):
		c, w.next = w.next, nil
		w.hops++
	default:
		c = w.queue.pop()
		w.hops = 0
	}
	w.now = c
	w.mu.Unlock()
	return c
}

// look is a cell from the common queue, or another worker's.
func (w *worker) look() *cell {
	p := w.pool
	if p.waiting.Load() > 0 {
		if c := p.takeCommon(w); c != nil {
			return c
		}
	}
	for _, v := range p.workers {
		if v != w {
			if c := w.steal(v); c != nil {
				return c
			}
		}
	}
	for _, v := range p.readersNow() {
		if c := w.steal(v); c != nil {
			return c
		}
	}
	return nil
}

// takeCommon takes a cell out of the common queue, and some more for the worker's own.
func (p *pool) takeCommon(w *worker) *cell {
	var more [16]*cell
	p.mu.Lock()
	c := p.common.pop()
	n := min(p.common.len()/len(p.workers), len(more))
	for i := range n {
		more[i] = p.common.pop()
	}
	p.waiting.Store(int32(p.common.len()))
	p.mu.Unlock()
	if c != nil {
		w.mu.Lock()
		for _, m := range more[:n] {
			w.queue.push(m)
		}
		w.now = c
		w.mu.Unlock()
		if n > 0 && p.idlers.Load() > 0 {
			p.wakeOne()
		}
	}
	return c
}

// steal takes half of what waits in the queue of v.
func (w *worker) steal(v *worker) *cell {
	var got [32]*cell
	v.mu.Lock()
	n := v.queue.len()
	if v.source == nil || n >= fewRead {
		n = min((n+1)/2, len(got))
	} else {
		n = 0 // its own goroutine has them run before another could
	}
	for i := range n {
		got[i] = v.queue.pop()
	}
	v.mu.Unlock()
	if n == 0 {
		return nil
	}
	w.mu.Lock()
	for _, c := range got[1:n] {
		w.queue.push(c)
	}
	w.now = got[0]
	w.mu.Unlock()
	if n > 1 && w.pool.idlers.Load() > 0 {
		w.pool.wakeOne()
	}
	return got[0]
}

// spin looks for work for some microseconds more: often it comes just then, and to wake a goroutine is dearer. How
// long depends on whether that was of use lately.
func (w *worker) spin() *cell {
	p := w.pool
	if len(p.workers) < 2 || !p.spinning.CompareAndSwap(0, 1) {
		return w.look()
	}
	c := w.look()
	if c == nil && p.woken.Load() {
		p.woken.Store(false)
		runtime.Gosched()
	}
	patience := w.patience.Load()
	for i := uint32(1); i < patience && c == nil; i++ {
		if i%spinYield == 0 {
			runtime.Gosched()
		}
		pause()
		if p.waiting.Load() > 0 || i%spinYield == 0 {
			c = w.look()
		}
	}
	p.spinning.Store(0)
	if c == nil {
		w.patience.Store(max(patience/2, minSpins))
		c = w.look() // nobody was woken while this one was spinning
	} else {
		w.patience.Store(min(2*patience, maxSpins))
	}
	if c != nil && p.waiting.Load() > 0 && p.idlers.Load() > 0 {
		p.wakeOne() // for what came meanwhile and this one does not take
	}
	return c
}

// anywhere reports whether there is work to take.
func (p *pool) anywhere() bool {
	if p.waiting.Load() > 0 {
		return true
	}
	for _, v := range p.workers {
		v.mu.Lock()
		n := v.queue.len()
		v.mu.Unlock()
		if n > 0 {
			return true
		}
	}
	for _, v := range p.readersNow() {
		if v.waits() >= fewRead {
			return true
		}
	}
	return false
}

// stop ends the goroutines.
func (p *pool) stop() {
	p.mu.Lock()
	p.ended = true
	idle := p.idle
	p.idle = nil
	p.idlers.Store(0)
	p.mu.Unlock()
	for _, w := range idle {
		if w.started {
			w.rouse()
		}
	}
}

func (p *pool) running(report func(*cell, uint64, time.Duration)) {
	for _, ws := range [][]*worker{p.workers, p.readersNow()} {
		for _, w := range ws {
			w.mu.Lock()
			if w.now != nil {
				report(w.now, w.goroutine, 0)
			}
			w.mu.Unlock()
		}
	}
	p.mu.Lock()
	for _, i := range p.stuck {
		report(i.c, i.goroutine, time.Since(i.since))
	}
	p.mu.Unlock()
}

// pause passes about a tenth of a microsecond.
func pause() {
	for range 30 {
		pauseSink.Load()
	}
}

var pauseSink atomic.Uint32
