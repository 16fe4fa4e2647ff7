package actor

import "sync"

// A mailbox that fills faster than it is emptied does not grow as slices do: doubling would copy what is there again
// and again with the cell's lock held, and give the garbage collector large pieces of memory to clear and to look
// through, for which the actor then has to wait, while its mailbox fills further. So a slice of envelopes grows up to
// one piece; more of them wait in line, and when they are empty all mailboxes lend them to each other.

// piece is how many envelopes are in one: 24 KiB, which is small enough for the allocator not to treat it as large.
const piece = 1 << 10

// keep is how much room for envelopes the other kinds of mailboxes hold on to after a burst.
const keep = 1 << 11

// overflow are full pieces, in order.
type overflow struct {
	full [][]envelope
	head int
}

func (o *overflow) len() int { return len(o.full) - o.head }

func (o *overflow) pop() []envelope {
	e := o.full[o.head]
	o.full[o.head] = nil
	if o.head++; o.head > 64 && 2*o.head > len(o.full) { // a backlog that never ends must not keep its past
		n := copy(o.full, o.full[o.head:])
		clear(o.full[n:])
		o.full, o.head = o.full[:n], 0
	}
	return e
}

// pieces are empty. Those that nobody has used for two collections are given up.
var pieces = sync.Pool{New: func() any { return new([piece]envelope) }}

// spill puts in, which is full, in line. It is called with the lock held.
func (c *cell) spill() {
	if c.over == nil {
		c.over = &overflow{}
	}
	c.over.full = append(c.over.full, c.in)
	c.in = pieces.Get().(*[piece]envelope)[:0]
}

// lend gives up a slice of envelopes, which have all been cleared.
func lend(e []envelope) {
	if cap(e) >= piece {
		pieces.Put((*[piece]envelope)(e[:piece]))
	}
}
