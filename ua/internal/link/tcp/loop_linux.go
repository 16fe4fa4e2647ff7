package tcp

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Loops serve connections with few threads: each waits for events of many connections, reads, handles
// what was read, and sends the answers, without a goroutine a connection and without handing anything
// over. What takes long goes to a goroutine for as long as it does. A nil Loops is a goroutine a
// connection. It is safe for use by several goroutines.
type Loops struct {
	all  []*loop
	next atomic.Uint32
	done sync.WaitGroup
}

// NewLoops starts n event loops; the error is the system's. On systems without them it returns nil.
func NewLoops(n int) (*Loops, error) {
	l := &Loops{}
	for range max(n, 1) {
		one, err := newLoop()
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("event loop: %w", err)
		}
		l.all = append(l.all, one)
		l.done.Go(one.run)
	}
	return l, nil
}

// Close ends the loops. Their connections must have ended.
func (l *Loops) Close() {
	if l == nil {
		return
	}
	for _, one := range l.all {
		one.stop()
	}
	l.done.Wait()
}

// take makes a connection of a socket that a loop can watch; nil for other kinds of net.Conn.
func (l *Loops) take(nc net.Conn, cfg *ServerConfig) *ServerConn {
	t, ok := nc.(*net.TCPConn)
	if l == nil || !ok {
		return nil
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	// A descriptor of its own, which Go's poller does not know, else each packet would wake that, too.
	fd := -1
	if raw.Control(func(old uintptr) {
		if r, _, e := syscall.Syscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0); e == 0 {
			fd = int(r)
		}
	}) != nil || fd < 0 {
		return nil
	}
	c := newServerConn(nc.RemoteAddr(), cfg)
	_ = t.Close() // the other descriptor keeps the connection
	p := &polled{c: c, fd: fd, loop: l.all[int(l.next.Add(1))%len(l.all)]}
	c.sock, c.in.src = p, p
	c.out.init(p, c.cfg.MaxOutbound, c.cfg.Now)
	return c
}

// loop is one event loop. All fields but those under mu are its goroutine's.
type loop struct {
	ep     int
	bell   int // eventfd that wakes it
	slots  []*polled
	free   []int32
	events [128]syscall.EpollEvent
	buf    []byte // what all connections read into
	next   time.Time
	door   door
	calm   bool // little is going on
	soon   int  // how many events came soon, one after the other, while calm
	batch  int  // how many came together last
	task   task

	mu      sync.Mutex
	posted  []*polled
	spare   []*polled
	stopped bool
	closed  bool // the descriptors are, and may be somebody else's by now
}

// bellSlot is the slot of an event of the bell.
const bellSlot = -1

func newLoop() (*loop, error) {
	ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	bell, _, e := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if e != 0 {
		_ = syscall.Close(ep)
		return nil, e
	}
	l := &loop{ep: ep, bell: int(bell), buf: make([]byte, bulkBuffer)}
	if err := l.door.open(l); err != nil {
		l.close()
		return nil, err
	}
	err = syscall.EpollCtl(ep, syscall.EPOLL_CTL_ADD, l.bell, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: bellSlot})
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	_ = syscall.Close(l.bell)
	_ = syscall.Close(l.ep)
	l.door.close()
	l.task.close()
}

func (l *loop) stop() {
	l.mu.Lock()
	l.stopped = true
	l.ring()
	l.mu.Unlock()
}

// ring wakes the loop, under mu.
func (l *loop) ring() {
	if l.closed {
		return
	}
	one := [8]byte{1}
	// The only failure is a counter that is full, of a bell that rings.
	_, _ = syscall.Write(l.bell, one[:])
}

// post has the loop look at a connection. Any goroutine may call it.
func (l *loop) post(p *polled) {
	l.mu.Lock()
	first := len(l.posted) == 0
	if !p.posted {
		p.posted = true
		l.posted = append(l.posted, p)
	}
	if first {
		l.ring()
	}
	l.mu.Unlock()
}

// run waits and handles what has happened, until stop.
func (l *loop) run() {
	defer l.close()
	for {
		var n int
		var err error
		l.task.inside.Store(false)
		if l.task.wanted.Load() {
			l.task.inside.Store(true)
			if !l.runTask() {
				continue
			}
			n = pollNow(l.ep, l.events[:])
		} else {
			n, err = l.wait()
			l.task.inside.Store(true)
		}
		if err != nil && err != syscall.EINTR {
			panic("opcua: waiting for connections: " + err.Error()) // a descriptor that is none: a fault of this file
		}
		for i := range max(n, 0) {
			e := &l.events[i]
			if e.Fd == timerSlot {
				l.task.rang()
				continue
			}
			if e.Fd == bellSlot {
				if l.answerBell() {
					return
				}
				continue
			}
			if p := l.slots[e.Fd]; p != nil && p.generation == e.Pad {
				p.happened(e.Events)
			}
		}
		if !l.next.IsZero() {
			if now := time.Now(); !now.Before(l.next) {
				l.sweep(now)
			}
		}
	}
}

// patient is how long a loop has to wait in the kernel to think that little is going on, and quick how soon
// the next event comes when much is.
const (
	patient = time.Millisecond
	quick   = 200 * time.Microsecond
)

// wait waits for events: in the kernel while much is going on, which costs least and is fastest, otherwise in
// Go's scheduler (door). A thread that waits in the kernel keeps a processor of the scheduler, whose watchman
// then runs every 20 µs until he has taken it away: that is nothing beside many events, but many times what
// one event costs. And while private keys are at work, others want the processor.
func (l *loop) wait() (int, error) {
	if keyWork.Load() > 0 {
		return l.door.wait(l.next)
	}
	if l.calm {
		before := time.Now()
		n, err := l.door.wait(l.next)
		if l.soon++; time.Since(before) > quick {
			l.soon = 0
		}
		l.calm = l.soon < 4
		return n, err
	}
	l.door.shut()
	if l.batch > 3 { // so many came together that no clock is needed to see that there is work
		n, err := syscall.EpollWait(l.ep, l.events[:], l.timeout())
		l.batch = n
		return n, err
	}
	before := time.Now()
	n, err := syscall.EpollWait(l.ep, l.events[:], l.timeout())
	if l.batch = n; time.Since(before) > patient {
		l.calm, l.soon = true, 0
	}
	return n, err
}

// timeout is how long to wait, in milliseconds; -1 for ever.
func (l *loop) timeout() int {
	if l.next.IsZero() {
		return -1
	}
	d := time.Until(l.next)
	return int(min(max(d+time.Millisecond-1, 0), time.Hour) / time.Millisecond)
}

// answerBell looks at the connections that were posted, and reports whether the loop is to end.
func (l *loop) answerBell() bool {
	var sink [8]byte
	_, _ = receiveCount(l.bell, &sink)
	l.mu.Lock()
	list, stopped := l.posted, l.stopped
	l.posted, l.spare = l.spare[:0], nil
	for _, p := range list {
		p.posted = false
	}
	l.mu.Unlock()
	for i, p := range list {
		p.visited()
		list[i] = nil
	}
	l.mu.Lock()
	l.spare = list
	l.mu.Unlock()
	return stopped
}

// sweep looks at the connections whose time has come, and finds the next.
func (l *loop) sweep(now time.Time) {
	l.next = time.Time{}
	for _, p := range l.slots {
		if p == nil || p.busy {
			continue
		}
		if !p.wakeAt.IsZero() && !now.Before(p.wakeAt) {
			p.expired(now)
		}
		l.sooner(p.wakeAt)
	}
}

// sooner has the next sweep at t, if that is earlier.
func (l *loop) sooner(t time.Time) {
	if !t.IsZero() && (l.next.IsZero() || t.Before(l.next)) {
		l.next = t
	}
}

// add gives a connection a slot.
func (l *loop) add(p *polled) {
	n := len(l.free)
	if n == 0 {
		l.slots = append(l.slots, p)
		p.slot = int32(len(l.slots) - 1)
		return
	}
	p.slot = l.free[n-1]
	l.free = l.free[:n-1]
	l.slots[p.slot] = p
}

// remove takes a connection out.
func (l *loop) remove(p *polled) {
	l.slots[p.slot] = nil
	l.free = append(l.free, p.slot)
}
