package remote

import "sync"

// outBuffer is what is on its way out of a connection: whole frames, in pieces that are written one by one. So what a
// slow peer leaves lying is never copied into something larger. The connection's lock guards it.
type outBuffer struct {
	last  []byte   // is added to
	full  [][]byte // came before it
	spare []byte   // to go on with
	bytes int      // in full and being written
}

// pieceSize is when a piece is full. A frame that is larger has one of its own.
const pieceSize = 256 << 10

// keepOut bounds what is kept of a piece that append has made larger.
const keepOut = 2 * pieceSize

// pieces are those that connections with much to send have done with.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

func (o *outBuffer) empty() bool { return len(o.last) == 0 && len(o.full) == 0 }

// small reports whether all fits into one piece.
func (o *outBuffer) small() bool { return len(o.full) == 0 }

// waiting is how many bytes have not been written.
func (o *outBuffer) waiting() int { return o.bytes + len(o.last) }

// makeRoom begins a new piece where n more bytes are too many for the last. One that is not full yet is left to
// append, which makes it larger step by step: most connections need little.
func (o *outBuffer) makeRoom(n int) {
	if len(o.last) == 0 || len(o.last)+n <= pieceSize {
		return
	}
	o.full = append(o.full, o.last)
	o.bytes += len(o.last)
	if o.last, o.spare = o.spare, nil; o.last == nil {
		o.last = pieces.Get().(*[pieceSize]byte)[:0]
	}
}

// take is the next piece to write; there is one.
func (o *outBuffer) take() (buf []byte) {
	if len(o.full) > 0 {
		buf = o.full[0]
		o.full[0] = nil
		if o.full = o.full[1:]; len(o.full) == 0 {
			o.full = nil
		}
		return buf
	}
	buf = o.last
	o.bytes += len(buf)
	o.last, o.spare = o.spare, nil
	return buf
}

// giveBack is what take has returned, after it was written.
func (o *outBuffer) giveBack(buf []byte) {
	o.bytes -= len(buf)
	switch {
	case cap(buf) > keepOut: // a frame that was larger than expected
	case o.last == nil:
		o.last = buf[:0]
	case o.spare == nil:
		o.spare = buf[:0]
	case cap(buf) >= pieceSize:
		pieces.Put((*[pieceSize]byte)(buf[:pieceSize]))
	}
}
