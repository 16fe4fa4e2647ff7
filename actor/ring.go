package actor

// ring is a queue of cells.
type ring struct {
	buf        []*cell
	head, size int
}

func (r *ring) len() int { return r.size }

func (r *ring) push(c *cell) {
	if r.size == len(r.buf) {
		buf := make([]*cell, max(16, 2*len(r.buf)))
		n := copy(buf, r.buf[r.head:])
		copy(buf[n:], r.buf[:r.head])
		r.buf, r.head = buf, 0
	}
	r.buf[(r.head+r.size)&(len(r.buf)-1)] = c
	r.size++
}

func (r *ring) pop() *cell {
	if r.size == 0 {
		return nil
	}
	c := r.buf[r.head]
	r.buf[r.head] = nil
	r.head = (r.head + 1) & (len(r.buf) - 1)
	if r.size--; r.size == 0 && len(r.buf) > 1<<14 {
		*r = ring{}
	}
	return c
}
