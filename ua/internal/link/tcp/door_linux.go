package tcp

import (
	"os"
	"syscall"
	"time"
)

// door lets a loop wait in Go's scheduler. It is an epoll set that Go's poller knows, and that contains
// the loop's own set while it is open; shut, events of the loop wake nobody but the loop.
type door struct {
	loop  *loop
	set   int
	file  *os.File // of set
	raw   syscall.RawConn
	look  func(uintptr) bool
	ajar  bool
	got   int
	until time.Time // the deadline of file
}

func (d *door) open(l *loop) error {
	set, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	d.loop, d.set, d.look = l, set, d.poll
	if err := syscall.SetNonblock(set, true); err != nil { // without it Go's poller would not take the file
		_ = syscall.Close(set)
		return err
	}
	d.file = os.NewFile(uintptr(set), "epoll")
	d.raw, err = d.file.SyscallConn()
	return err
}

func (d *door) close() {
	if d.file != nil {
		_ = d.file.Close()
	}
}

func (d *door) shut() {
	if d.ajar {
		d.ajar = false
		_ = syscall.EpollCtl(d.set, syscall.EPOLL_CTL_DEL, d.loop.ep, nil)
	}
}

// wait is EpollWait of the loop's set until a time, the zero one for ever.
func (d *door) wait(until time.Time) (int, error) {
	if !d.ajar {
		d.ajar = syscall.EpollCtl(d.set, syscall.EPOLL_CTL_ADD, d.loop.ep, &syscall.EpollEvent{Events: syscall.EPOLLIN}) == nil
	}
	d.got = 0
	if d.ajar && d.limit(until) {
		if err := d.raw.Read(d.look); err == nil || os.IsTimeout(err) {
			return d.got, nil
		}
	}
	// The kernel has no memory for another watch, or Go's poller does not take the file.
	return syscall.EpollWait(d.loop.ep, d.loop.events[:], d.loop.timeout())
}

// limit sets the deadline, if it is another one than before.
func (d *door) limit(until time.Time) bool {
	if until.Equal(d.until) {
		return true
	}
	d.until = until
	return d.file.SetReadDeadline(until) == nil
}

// poll looks without waiting and reports whether there was something.
func (d *door) poll(uintptr) bool {
	d.got = pollNow(d.loop.ep, d.loop.events[:])
	return d.got > 0
}
