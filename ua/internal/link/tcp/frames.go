package tcp

import (
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

const (
	// firstBuffer is what a connection that has not said anything costs; thousands may do that.
	firstBuffer = 4 << 10
	// bulkBuffer is how far the buffer grows for a peer that fills it at each read.
	bulkBuffer = 64 << 10
)

// source is the reading half of a socket.
type source interface{ Read([]byte) (int, error) }

// frames cuts what is read from a connection into chunks. The buffer follows what really arrives, not
// what a header promises: a peer that announces 64 KiB and sends ten bytes costs ten bytes.
type frames struct {
	src     source
	limit   uint32 // largest chunk
	budget  *uasc.Budget
	trusted bool

	buf      []byte
	shared   bool // buf belongs to the loop, until settle
	r, w     int
	need     int // bytes of the chunk at r; 0 when not known
	full     bool
	reserved int
	partial  time.Time // when the chunk at r began to arrive; zero when there is none
}

// next returns the next chunk that is complete, nil when more must be read. The chunk is a part of the
// buffer and valid until fill. A header that is wrong, or too large, fails before its body is there.
func (f *frames) next() (h uacp.Header, chunk []byte, err error) {
	f.need = 0
	if f.w-f.r < uacp.HeaderSize {
		return h, nil, nil
	}
	if h, err = uacp.ParseHeader(f.buf[f.r:f.w]); err == nil {
		err = h.CheckSize(f.limit)
	}
	if err != nil {
		return h, nil, err
	}
	f.need = int(h.Size)
	if f.w-f.r < f.need {
		return h, nil, nil
	}
	chunk = f.buf[f.r : f.r+f.need : f.r+f.need]
	f.r += f.need
	f.need = 0
	f.partial = time.Time{}
	return h, chunk, nil
}

// begun notes the time at which a chunk began to arrive that is still not complete.
func (f *frames) begun(now time.Time) {
	if f.r < f.w && f.partial.IsZero() {
		f.partial = now
	}
}

// putBack makes next return the chunk again.
func (f *frames) putBack(chunk []byte) { f.r -= len(chunk) }

// borrow has the next fill read into memory that other connections use, too. It must be settled before
// they do. A connection that has nothing unfinished needs no memory of its own between two reads.
func (f *frames) borrow(buf []byte) {
	if f.buf == nil {
		f.buf, f.shared = buf, true
	}
}

// settle takes what is left of a borrowed buffer into one of the connection's own, and drops one of its
// own that is empty.
func (f *frames) settle() error {
	switch {
	case f.r == f.w && f.shared:
		f.buf, f.shared, f.r, f.w = nil, false, 0, 0
	case f.r == f.w:
		f.release()
	case f.shared:
		rest := f.buf[f.r:f.w]
		f.buf, f.shared = nil, false
		size := firstBuffer
		for size < len(rest) {
			size *= 2
		}
		if err := f.reserve(size - firstBuffer); err != nil {
			f.r, f.w = 0, 0
			return err
		}
		f.buf = make([]byte, size)
		f.r, f.w = 0, copy(f.buf, rest)
	}
	f.full = false
	return nil
}

// reserve takes n bytes out of the Budget.
func (f *frames) reserve(n int) error {
	if n > 0 && !f.budget.Reserve(n, f.trusted) {
		return uacp.Errorf(ua.BadTcpNotEnoughResources, "too many unfinished messages, no memory for a chunk of %d bytes", f.need)
	}
	f.reserved += n
	return nil
}

// fill reads once, behind what is left of the earlier reads.
func (f *frames) fill() error {
	if f.r > 0 {
		f.w = copy(f.buf, f.buf[f.r:f.w])
		f.r = 0
	}
	if err := f.grow(); err != nil {
		return err
	}
	n, err := f.src.Read(f.buf[f.w:])
	f.w += n
	f.full = f.w == len(f.buf)
	if n > 0 {
		return nil
	}
	return err
}

// grow doubles the buffer when the last read filled it. For the sake of a chunk that does not fit it
// must; for speed it only does so while there is Budget.
func (f *frames) grow() error {
	if f.buf == nil {
		f.buf = make([]byte, firstBuffer)
		return nil
	}
	must := f.w == len(f.buf)
	if !must && !(f.full && len(f.buf) < bulkBuffer && !f.shared) {
		return nil
	}
	size := 2 * len(f.buf)
	if err := f.reserve(size - len(f.buf)); err != nil {
		if !must {
			return nil
		}
		return err
	}
	buf := make([]byte, size)
	copy(buf, f.buf[:f.w])
	f.buf = buf
	f.full = false
	return nil
}

// release gives the buffer back.
func (f *frames) release() {
	f.budget.Release(f.reserved)
	f.reserved, f.buf, f.shared, f.r, f.w = 0, nil, false, 0, 0
}
