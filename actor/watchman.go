package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// watchman finds the workers of a pool that are stuck in an actor's code, and gives their queues to fresh
// goroutines. Its goroutine exists while workers run; an idle pool has none.
type watchman struct {
	pool *pool

	awake atomic.Bool
	mu    sync.Mutex // against two goroutines of it
}

const (
	watchEach   = 2 * time.Millisecond   // between two looks
	watchRarely = 16 * time.Millisecond  // at most, while the same turns go on and nothing waits behind them
	watchStuck  = 100 * time.Microsecond // the same while workers are stuck one after the other
	watchLinger = 20                     // looks without any work before it ends
)

// rouse is called when a worker that was idle gets work.
func (m *watchman) rouse() {
	if !m.awake.Load() && m.awake.CompareAndSwap(false, true) {
		go m.run()
	}
}

func (m *watchman) run() {
	m.mu.Lock()
	defer m.mu.Unlock()
	pause, quiet := watchEach, 0
	for {
		time.Sleep(pause)
		stuck, moved := m.look()
		switch {
		case stuck > 0:
			pause = watchStuck
		case moved || pause < watchEach:
			pause = watchEach
		default:
			pause = min(2*pause, watchRarely)
		}
		if quiet++; !m.pool.quiet() {
			quiet = 0
		}
		if quiet < watchLinger {
			continue
		}
		// Whoever wakes a worker after this sees that nobody watches; what was woken before is seen here.
		m.awake.Store(false)
		if m.pool.quiet() || !m.awake.CompareAndSwap(false, true) {
			return
		}
		quiet = 0
	}
}

// quiet reports whether all workers are idle: then no turn begins without one being woken. A worker that is
// awake counts also where it is in no turn yet; one that reads a connection only in a turn.
func (p *pool) quiet() bool {
	for _, w := range p.readersNow() {
		w.mu.Lock()
		turn := w.now != nil
		w.mu.Unlock()
		if turn {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended || len(p.idle) == len(p.workers)
}

// look gives away the queues of workers that have been in the same turn since the last look, where something
// waits. It reports how many, and whether any worker has gone on since.
func (m *watchman) look() (stuck int, moved bool) {
	p := m.pool
	behind := p.waiting.Load() > 0 && p.idlers.Load() == 0
	for _, w := range p.workers {
		lost, went := m.lookAt(w, behind)
		stuck, moved = stuck+lost, moved || went
	}
	for _, w := range p.readersNow() {
		lost, went := m.lookAt(w, true) // a connection always waits to be read
		stuck, moved = stuck+lost, moved || went
	}
	return stuck, moved
}

func (m *watchman) lookAt(w *worker, behind bool) (lost int, moved bool) {
	w.mu.Lock()
	switch {
	case w.now == nil:
		w.mu.Unlock()
		return 0, false
	case w.turns != w.seen || !behind && w.next == nil && w.queue.len() == 0 && len(w.written) == 0:
		moved = w.turns != w.seen
		w.seen = w.turns
		w.mu.Unlock()
		return 0, moved
	}
	p := m.pool
	p.mu.Lock()
	p.stuck[lostTurn{w, w.epoch}] = turnInfo{w.now, w.goroutine, time.Now()}
	p.mu.Unlock()
	w.epoch++
	epoch := w.epoch
	w.now = nil
	w.mu.Unlock()
	w.run(epoch)
	return 1, false
}
