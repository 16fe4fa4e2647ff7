package actor

import "time"

// Reading connections. The goroutine that reads a connection also runs the actors that got its messages, so that a
// batch of messages costs one read, no wake-up and one write. It does so as a worker of the default pool: where one of
// the actors blocks, the watchman gives the worker to a fresh goroutine, which goes on with the others and with
// reading.

// A Source is read by [Port.Read].
type Source interface {
	// Fill waits for input and hands out the messages in it by b.Tell. It returns false at the end of the
	// input. One goroutine at a time calls it.
	Fill(b *Batch) bool

	// Flush sends what has been written for the source's connection. It is called after Fill and the turns of the
	// actors that it made ready.
	Flush()

	// Ended is called after Fill has returned false.
	Ended()
}

// A Batch is the messages of one Fill.
type Batch struct{ w *worker }

// Tell is [Ref.TellFrom], where the receiver's turn comes with those of the batch.
func (b *Batch) Tell(to *Ref, msg any, sender *Ref) {
	c := to.c
	if c == nil || msg == nil || c.disp.runner != runner(b.w.pool) {
		to.TellFrom(msg, sender)
		return
	}
	if c.enqueue(msg, sender) {
		b.w.mu.Lock()
		b.w.queue.push(c)
		b.w.mu.Unlock()
	}
}

// Read reads src until its end, on goroutines of its own. It returns at once.
func (p *Port) Read(src Source) {
	pool, ok := p.sys.standard.runner.(*pool)
	if !ok { // the default dispatcher was replaced by one without workers
		pool = newPool(1, &p.sys.standard.woken)
	}
	w := &worker{pool: pool, source: src, started: true}
	pool.addReader(w)
	w.run(0)
}

// turnsEach is how many turns of actors that were not told anything by the batch itself come with it.
const turnsEach = 32

// lingerFor is for how long cells that have not handled all their messages in one turn get others in the same batch. Then
// other workers have them, and the answers leave in more writes.
const lingerFor = 500 * time.Microsecond

// linger reports whether a cell gets another turn in this batch.
func (w *worker) linger() bool {
	now := time.Now()
	if w.lingers.IsZero() {
		w.lingers = now.Add(lingerFor)
	}
	return now.Before(w.lingers)
}

// read is the goroutine of a worker that reads.
func (w *worker) read(epoch uint32) {
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
	batch := &Batch{w}
	for {
		w.lingers = time.Time{}
		for left := w.waits() + turnsEach; ; left-- {
			if c = w.takeRead(left > 0 || !w.lingers.IsZero() && w.linger()); c == nil {
				break
			}
			w.pool.watch.rouse()
			if !w.turned(c, epoch, c.turn(w)) {
				normal = true
				return
			}
		}
		w.flush()
		w.source.Flush()
		if !w.source.Fill(batch) {
			normal = true
			w.pool.removeReader(w)
			w.source.Ended()
			return
		}
		w.share()
	}
}

// waits is how many cells the last Fill has made ready.
func (w *worker) waits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.len()
}

// takeRead is the next cell to run; what is left when the batch has had its turns goes to the other workers.
func (w *worker) takeRead(more bool) *cell {
	w.mu.Lock()
	w.turns++
	c := w.next
	if c != nil {
		w.next = nil
	} else {
		c = w.queue.pop()
	}
	if c != nil && !more {
		w.mu.Unlock()
		w.pool.schedule(c, nil)
		return w.takeRead(false)
	}
	w.now = c
	w.mu.Unlock()
	return c
}

// share wakes another worker where there is much to do.
func (w *worker) share() {
	const much = 64
	p := w.pool
	if len(p.workers) > 2 && p.idlers.Load() > 0 && w.waits() > much {
		p.wakeOne()
	}
}

// flush sends what the last turns have written for other connections.
func (w *worker) flush() {
	w.mu.Lock()
	fs := w.written
	w.written = nil
	w.mu.Unlock()
	for i, f := range fs {
		f.Flush()
		fs[i] = nil
	}
	if fs != nil {
		w.mu.Lock()
		if w.written == nil {
			w.written = fs[:0]
		}
		w.mu.Unlock()
	}
}

func (p *pool) addReader(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setReaders(append(p.listReaders(nil), w))
}

func (p *pool) removeReader(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setReaders(p.listReaders(w))
}

// listReaders copies the list, without one.
func (p *pool) listReaders(without *worker) (out []*worker) {
	for _, r := range p.readersNow() {
		if r != without {
			out = append(out, r)
		}
	}
	return out
}

func (p *pool) setReaders(ws []*worker) { p.readers.Store(&ws) }

// readersNow are the workers that read connections.
func (p *pool) readersNow() []*worker {
	if l := p.readers.Load(); l != nil {
		return *l
	}
	return nil
}

// stopTimeout is how long the end of a system waits for its provider.
const stopTimeout = 10 * time.Second
