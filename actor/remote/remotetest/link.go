package remotetest

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/actua/actua/actor"
)

const (
	window   = 256 << 10 // bytes on their way, and not read yet, before who sends waits
	maxFrame = 64 << 20  // a length above that is none
)

// link carries bytes one way, as its mode wants.
type link struct {
	clock     actor.Clock
	bigEndian bool
	first     func(body []byte) // gets the body of the first frame, without the lock

	mu      sync.Mutex
	changed sync.Cond
	alarm   actor.Alarm
	mode    Mode
	luck    *rand.Rand
	raw     bool     // there are no frames
	partial []byte   // of a frame that is not whole yet
	queue   []parcel // on their way, in order
	queued  int      // bytes of them
	ready   []byte   // arrived
	last    time.Time
	free    time.Time // when all that was sent is through, by Rate
	frames  int
	dropped int

	sealed  bool  // nothing is written any more
	ended   bool  // and the reader may know
	deaf    bool  // nothing is read any more
	failure error // the connection was reset

	readBy, writeBy time.Time // deadlines, on the clock
	touched         bool      // somebody reads
	waiting         int       // how many of them wait
	told            bool      // the reader knows of the end
}

// parcel is a frame on its way; without bytes it is the end.
type parcel struct {
	at    time.Time
	bytes []byte
}

func newLink(o *Options, name string, m Mode) *link {
	l := &link{clock: o.Clock, bigEndian: o.BigEndian, raw: o.NoFrames, mode: m, luck: chance(o.Seed, name)}
	l.changed.L = &l.mu
	l.alarm = l.clock.NewAlarm(l.wake)
	return l
}

func (l *link) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
}

// settle lets arrive what is due, wakes who waits, and sets the alarm for what comes next.
func (l *link) settle() {
	now := l.clock.Now()
	for len(l.queue) > 0 && !l.held() && !l.queue[0].at.After(now) {
		p := l.queue[0]
		l.queue[0] = parcel{}
		l.queue = l.queue[1:]
		l.queued -= len(p.bytes)
		l.ready = append(l.ready, p.bytes...)
		l.ended = l.ended || p.bytes == nil
	}
	l.changed.Broadcast()
	var next time.Time
	sooner := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if len(l.queue) > 0 && !l.held() {
		sooner(l.queue[0].at)
	}
	sooner(l.readBy)
	sooner(l.writeBy)
	if next.IsZero() || l.failure != nil || (l.deaf && l.sealed) {
		l.alarm.Stop()
		return
	}
	l.alarm.Set(next)
}

// held reports whether the first of the queue has to stay. The end is held where all else is lost.
func (l *link) held() bool {
	return l.mode.Hold || (l.queue[0].bytes == nil && !l.mode.through())
}

// open reports whether anything comes through.
func (l *link) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mode.through()
}

func (l *link) setMode(m Mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mode = m
	l.settle()
}

func (l *link) late(t time.Time) bool { return !t.IsZero() && !t.After(l.clock.Now()) }

// write takes bytes. If there is no room for more it waits, or takes none.
func (l *link) write(p []byte, wait bool) (int, error) {
	l.mu.Lock()
	for {
		switch {
		case l.failure != nil:
			l.mu.Unlock()
			return 0, l.failure
		case l.sealed:
			l.mu.Unlock()
			return 0, net.ErrClosed
		case l.deaf && l.mode.through(): // else who writes cannot know
			l.mu.Unlock()
			return 0, syscall.EPIPE
		case l.late(l.writeBy):
			l.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		}
		if l.queued+len(l.ready) < window || len(p) == 0 {
			break
		}
		if !wait {
			l.mu.Unlock()
			return 0, nil
		}
		l.changed.Wait()
	}
	first := l.take(p)
	l.settle()
	tell := l.first
	if first != nil {
		l.first = nil
	}
	l.mu.Unlock()
	if first != nil && tell != nil {
		tell(first)
	}
	return len(p), nil
}

// take cuts what was written into frames and decides on each. It returns the body of the connection's first one.
func (l *link) take(p []byte) (first []byte) {
	if l.raw {
		l.judge(append([]byte(nil), p...))
		return nil
	}
	l.partial = append(l.partial, p...)
	for len(l.partial) >= 4 {
		n := binary.LittleEndian.Uint32(l.partial)
		if l.bigEndian {
			n = binary.BigEndian.Uint32(l.partial)
		}
		if n > maxFrame {
			l.raw = true // let the other side say what it thinks of that
			l.judge(l.partial)
			l.partial = nil
			return first
		}
		size := 4 + int(n)
		if len(l.partial) < size {
			return first
		}
		frame := append([]byte(nil), l.partial[:size]...)
		l.partial = append(l.partial[:0], l.partial[size:]...)
		if l.frames == 0 {
			first = frame[4:]
		}
		l.judge(frame)
	}
	return first
}

// judge decides what becomes of a frame.
func (l *link) judge(frame []byte) {
	if len(frame) == 0 {
		return
	}
	l.frames++
	m := &l.mode
	if m.Blackhole || (m.Drop > 0 && l.luck.Float64() < m.Drop) {
		l.dropped++
		return
	}
	at := l.clock.Now()
	if m.Rate > 0 {
		cost := func(n int) time.Duration { return time.Duration(float64(n) / float64(m.Rate) * float64(time.Second)) }
		if earliest := at.Add(-cost(m.Burst)); l.free.Before(earliest) {
			l.free = earliest
		}
		if l.free = l.free.Add(cost(len(frame))); l.free.After(at) {
			at = l.free
		}
	}
	at = at.Add(m.Delay)
	if m.Jitter > 0 {
		at = at.Add(time.Duration(l.luck.Int64N(int64(m.Jitter) + 1)))
	}
	l.send(at, frame)
}

func (l *link) send(at time.Time, bytes []byte) {
	if at.Before(l.last) {
		at = l.last
	}
	l.last = at
	if l.deaf {
		return
	}
	l.queue = append(l.queue, parcel{at, bytes})
	l.queued += len(bytes)
}

func (l *link) read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.touched = true
	for {
		switch {
		case l.deaf:
			return 0, net.ErrClosed
		case l.late(l.readBy):
			return 0, os.ErrDeadlineExceeded
		case l.failure != nil:
			l.told = true
			return 0, l.failure
		case len(l.ready) > 0:
			n := copy(p, l.ready)
			if l.ready = l.ready[n:]; len(l.ready) == 0 {
				l.ready = nil
			}
			l.changed.Broadcast()
			return n, nil
		case l.ended:
			l.told = true
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		l.waiting++
		l.changed.Wait()
		l.waiting--
	}
}

// seal ends writing: what was written arrives, and then the end.
func (l *link) seal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sealed {
		return
	}
	l.sealed = true
	if len(l.partial) > 0 {
		l.judge(l.partial)
		l.partial = nil
	}
	// The end comes in its turn, and is never lost.
	l.send(l.clock.Now().Add(l.mode.Delay), nil)
	l.settle()
}

// stopReading ends reading, and reports whether something was left unread.
func (l *link) stopReading() (unread bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	unread = len(l.ready) > 0 && !l.deaf
	l.deaf = true
	l.ready, l.queue, l.queued = nil, nil, 0
	l.settle()
	return unread
}

// fail ends both at once, and loses what is on its way.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		return
	}
	l.failure = err
	l.ready, l.queue, l.queued, l.partial = nil, nil, 0, nil
	l.settle()
}

// onClock is a deadline of the machine's time on the link's clock. One that has passed has passed there too.
func (l *link) onClock(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	now := l.clock.Now()
	if left := time.Until(t); left > 0 {
		return now.Add(left)
	}
	return now
}

func (l *link) readDeadline(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readBy = l.onClock(t)
	l.settle()
}

func (l *link) writeDeadline(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeBy = l.onClock(t)
	l.settle()
}

// quiet reports whether all that has arrived is read, and its reader waits for more.
func (l *link) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf || l.told {
		return true
	}
	return len(l.ready) == 0 && !l.ended && l.failure == nil && !l.late(l.readBy) && (l.waiting > 0 || !l.touched)
}

// over reports whether nothing can happen on it any more.
func (l *link) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure != nil || (l.deaf && l.sealed)
}

func (l *link) counts() (frames, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frames, l.dropped
}
