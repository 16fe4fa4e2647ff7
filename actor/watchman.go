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
	seen := make([]uint32, len(m.pool.workers))
	pause, quiet := watchEach, 0
	for {
		time.Sleep(pause)
		stuck, moved, busy := m.look(seen)
		switch {
		case stuck > 0:
			pause = watchStuck
		case moved || pause < watchEach:
			pause = watchEach
		default:
			pause = min(2*pause, watchRarely)
		}
		if quiet++; busy {
			quiet = 0
		}
		if quiet < watchLinger {
			continue
		}
		m.awake.Store(false)
		if _, _, busy := m.look(seen); !busy || !m.awake.CompareAndSwap(false, true) {
			return
		}
		quiet = 0
	}
}

// look gives away the queues of workers that have been in the same turn since the last look, where something
// waits. It reports how many, whether any worker has gone on since, and whether any has something to do.
func (m *watchman) look(seen []uint32) (stuck int, moved, busy bool) {
	p := m.pool
	behind := p.waiting.Load() > 0 && p.idlers.Load() == 0
	for i, w := range p.workers {
		w.mu.Lock()
		switch {
		case w.now == nil:
			w.mu.Unlock()
			continue
		case w.turns == seen[i] && (behind || w.next != nil || w.queue.len() > 0):
			p.mu.Lock()
			p.stuck[lostTurn{w, w.epoch}] = turnInfo{w.now, w.goroutine, time.Now()}
			p.mu.Unlock()
			w.epoch++
			epoch := w.epoch
			w.now = nil
			w.mu.Unlock()
			go w.serve(epoch)
			stuck++
		default:
			moved = moved || seen[i] != w.turns
			seen[i] = w.turns
			w.mu.Unlock()
		}
		busy = true
	}
	return stuck, moved, busy
}
