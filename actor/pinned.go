package actor

import (
	"runtime"
	"sync"
)

// pinned gives each cell a goroutine on a thread of its own, from its first message to its end.
type pinned struct {
	turns
	mu      sync.Mutex
	threads map[*cell]chan struct{}
}

func (p *pinned) schedule(c *cell, _ *worker) {
	p.mu.Lock()
	wake := p.threads[c]
	if wake == nil {
		if p.threads == nil {
			p.threads = make(map[*cell]chan struct{})
		}
		wake = make(chan struct{}, 1)
		p.threads[c] = wake
		go p.run(c, wake)
	}
	p.mu.Unlock()
	wake <- struct{}{} // one at most is under way: the cell is busy until its turn
}

func (p *pinned) run(c *cell, wake chan struct{}) {
	runtime.LockOSThread() // the thread ends with the goroutine
	again, normal := false, false
	defer func() {
		p.end(c)
		if !normal { // the actor's code has ended this goroutine: the cell needs another
			wake <- struct{}{}
			go p.run(c, wake)
		}
	}()
	for {
		if !again {
			<-wake
		}
		p.begin(c)
		again = c.turn(nil)
		p.end(c)
		if !again && c.isClosed() {
			normal = true
			p.mu.Lock()
			delete(p.threads, c)
			p.mu.Unlock()
			return
		}
	}
}

func (p *pinned) stop() {}

// calling runs cells on the goroutine that makes them ready. While it runs one, it runs those that become ready
// meanwhile afterwards, whoever made them so: one goroutine at a time runs actors.
type calling struct {
	turns
	mu     sync.Mutex
	ready  ring
	active bool
}

func (d *calling) schedule(c *cell, _ *worker) {
	d.mu.Lock()
	d.ready.push(c)
	if d.active {
		d.mu.Unlock()
		return
	}
	d.active = true
	d.mu.Unlock()
	d.drain()
}

func (d *calling) drain() {
	var c *cell
	normal := false
	defer func() {
		if !normal { // the actor's code has ended the caller's goroutine
			d.end(c)
			d.mu.Lock()
			d.ready.push(c)
			d.mu.Unlock()
			d.drain()
		}
	}()
	for {
		d.mu.Lock()
		if c = d.ready.pop(); c == nil {
			d.active = false
			d.mu.Unlock()
			normal = true
			return
		}
		d.mu.Unlock()
		d.begin(c)
		again := c.turn(nil)
		d.end(c)
		if again {
			d.mu.Lock()
			d.ready.push(c)
			d.mu.Unlock()
		}
	}
}

func (d *calling) stop() {}
