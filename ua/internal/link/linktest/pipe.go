// Package linktest has what tests of both sides need in place of a network: in-memory connections
// that buffer, split, stall and break as told, a listener for them, a peer that follows a script, and
// certificates of all key sizes. Only tests import it.
package linktest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// ErrCut is what both ends get from a connection that was cut.
var ErrCut = errors.New("linktest: the connection was cut")

// Faults say how a connection misbehaves. The zero value is a good one.
type Faults struct {
	Buffer   int           // bytes that fit into each direction before writing blocks; default 256 KiB
	MaxRead  int           // most bytes that one Read returns; 0: as many as there are
	MaxWrite int           // most bytes that go through at once; a Write passes more in several pieces
	Delay    time.Duration // before each Write passes anything
	CutAfter int           // bytes, both directions together, after which the connection breaks; 0: never
}

// Pipe returns the two ends of a connection in memory. Both are *Conn.
func Pipe(f Faults) (a, b *Conn) {
	if f.Buffer == 0 {
		f.Buffer = 256 << 10
	}
	l := &line{faults: f, left: f.CutAfter}
	l.changed.L = &l.mu
	a = &Conn{line: l, out: &l.ab, in: &l.ba, name: "client"}
	b = &Conn{line: l, out: &l.ba, in: &l.ab, name: "server"}
	return a, b
}

// line is what both ends share.
type line struct {
	mu      sync.Mutex
	changed sync.Cond
	faults  Faults
	left    int // until the cut
	cut     bool
	ab, ba  flow
}

// flow is one direction.
type flow struct {
	data   []byte
	ended  bool // the writer will not write again
	closed bool // the reader will not read again
	writes int
}

// Conn is one end of a Pipe.
type Conn struct {
	line    *line
	in, out *flow
	name    string
	read    deadline
	write   deadline
	closed  bool
}

type deadline struct {
	passed bool
	timer  *time.Timer
}

// Read returns bytes of the other end, MaxRead of them at most.
func (c *Conn) Read(b []byte) (int, error) {
	l := c.line
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case l.cut:
			return 0, ErrCut
		case c.read.passed:
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(c.in.data) > 0:
			n := len(b)
			if l.faults.MaxRead > 0 {
				n = min(n, l.faults.MaxRead)
			}
			n = copy(b[:n], c.in.data)
			c.in.data = append(c.in.data[:0], c.in.data[n:]...)
			l.changed.Broadcast()
			return n, nil
		case c.in.ended:
			return 0, io.EOF
		}
		l.changed.Wait()
	}
}

// Write passes all of b to the other end, in pieces if so told, and blocks while its buffer is full.
func (c *Conn) Write(b []byte) (n int, err error) {
	l := c.line
	if l.faults.Delay > 0 {
		time.Sleep(l.faults.Delay)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.out.writes++
	for n < len(b) || n == 0 {
		switch {
		case c.closed || c.out.ended:
			return n, net.ErrClosed
		case l.cut:
			return n, ErrCut
		case c.write.passed:
			return n, os.ErrDeadlineExceeded
		case c.out.closed:
			return n, errors.New("linktest: broken pipe")
		case len(b) == 0:
			return 0, nil
		}
		piece := min(len(b)-n, l.faults.Buffer-len(c.out.data))
		if l.faults.MaxWrite > 0 {
			piece = min(piece, l.faults.MaxWrite)
		}
		if l.faults.CutAfter > 0 && piece >= l.left {
			piece, l.cut = l.left, true
		}
		l.left -= piece
		if piece > 0 {
			c.out.data = append(c.out.data, b[n:n+piece]...)
			n += piece
		}
		l.changed.Broadcast()
		if n < len(b) && !l.cut {
			l.changed.Wait()
		}
	}
	return n, nil
}

// Writes is how many Writes this end has made.
func (c *Conn) Writes() int {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	return c.out.writes
}

// Buffered is how many bytes of this end the other has not read yet.
func (c *Conn) Buffered() int {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	return len(c.out.data)
}

// Cut breaks the connection for both ends; what was not read is lost.
func (c *Conn) Cut() {
	c.line.mu.Lock()
	c.line.cut = true
	c.line.changed.Broadcast()
	c.line.mu.Unlock()
}

// CloseWrite ends this end's direction; the other reads what is left, then io.EOF.
func (c *Conn) CloseWrite() error {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.out.ended = true
	c.line.changed.Broadcast()
	return nil
}

// Close closes this end.
func (c *Conn) Close() error {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed, c.out.ended, c.in.closed = true, true, true
	c.line.changed.Broadcast()
	return nil
}

// SetDeadline sets both deadlines.
func (c *Conn) SetDeadline(t time.Time) error {
	c.setDeadline(&c.write, t)
	return c.setDeadline(&c.read, t)
}

// SetReadDeadline sets when Read gives up, also one that waits.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.read, t) }

// SetWriteDeadline sets when Write gives up, also one that waits.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.write, t) }

func (c *Conn) setDeadline(d *deadline, t time.Time) error {
	l := c.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	wait := time.Until(t)
	d.passed = !t.IsZero() && wait <= 0
	if d.passed {
		l.changed.Broadcast()
	} else if !t.IsZero() {
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if d.timer == timer {
				d.passed = true
				l.changed.Broadcast()
			}
		})
		d.timer = timer
	}
	return nil
}

type addr string

func (addr) Network() string  { return "linktest" }
func (a addr) String() string { return string(a) }

// LocalAddr names this end.
func (c *Conn) LocalAddr() net.Addr { return addr(c.name) }

// RemoteAddr names the other end.
func (c *Conn) RemoteAddr() net.Addr {
	if c.name == "client" {
		return addr("server")
	}
	return addr("client")
}
