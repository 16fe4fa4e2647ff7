package tcp

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// task is work that a loop does from time to time, between events: where it touches what events touch,
// memory stays with one processor.
type task struct {
	do     func() time.Duration
	timer  int         // timerfd; -1 without a task
	wanted atomic.Bool // Wake was called
	inside atomic.Bool // the loop is not waiting, and looks at wanted before it does
}

// timerSlot is the slot of an event of the task's timer.
const timerSlot = -2

// SetTask has the first loop call do soon, and from then on each time when as much time has passed as do
// returned, at the longest for ever for a negative one, or when WakeTask is called. It reports whether there
// is a loop that does. It may be called once, before there are connections.
func (l *Loops) SetTask(do func() time.Duration) bool {
	if l == nil {
		return false
	}
	one := l.all[0]
	fd, _, e := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, 1, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0) // CLOCK_MONOTONIC
	if e != 0 {
		return false
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: timerSlot}
	if syscall.EpollCtl(one.ep, syscall.EPOLL_CTL_ADD, int(fd), &event) != nil {
		_ = syscall.Close(int(fd))
		return false
	}
	one.mu.Lock()
	one.task.timer, one.task.do = int(fd), do
	one.mu.Unlock()
	l.WakeTask()
	return true
}

// WakeTask has the task done soon. Any goroutine may call it; it does not wait.
func (l *Loops) WakeTask() {
	t := &l.all[0].task
	if !t.wanted.Swap(true) && !t.inside.Load() {
		one := l.all[0]
		one.mu.Lock() // the bell may be shut meanwhile
		one.ring()
		one.mu.Unlock()
	}
}

// turns is how often the task is done at most, one time after the other, before events have their turn.
const turns = 4

// runTask does the task while it is wanted, and sets its timer. It reports whether the task is wanted still:
// events are not to wait for one that always is.
func (l *loop) runTask() (more bool) {
	t := &l.task
	for range turns {
		if !t.wanted.Swap(false) {
			return false
		}
		l.mu.Lock() // do may just have been set
		do := t.do
		l.mu.Unlock()
		if do == nil {
			return false
		}
		t.arm(do())
	}
	return t.wanted.Load()
}

// arm sets the timer.
func (t *task) arm(wait time.Duration) {
	var spec struct{ interval, value syscall.Timespec }
	if wait >= 0 {
		spec.value = syscall.NsecToTimespec(max(int64(wait), 1)) // zero would disarm it
	}
	// The only failures are wrong arguments.
	_, _, _ = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, uintptr(t.timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// rang takes the event of the timer.
func (t *task) rang() {
	var sink [8]byte
	_, _ = receiveCount(t.timer, &sink)
	t.wanted.Store(true)
}

func (t *task) close() {
	if t.do != nil {
		_ = syscall.Close(t.timer)
	}
}
