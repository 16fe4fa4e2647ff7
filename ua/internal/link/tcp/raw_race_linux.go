//go:build race

package tcp

import (
	"errors"
	"syscall"
)

// The race detector must see that what was sent comes before what is received, as it does with the
// functions of package syscall.

func receive(fd int, b []byte) (int, syscall.Errno) {
	n, err := syscall.Read(fd, b)
	return n, number(err)
}

func transmit(fd int, b []byte) (int, syscall.Errno) {
	n, err := syscall.Write(fd, b)
	return n, number(err)
}

func number(err error) syscall.Errno {
	var e syscall.Errno
	errors.As(err, &e)
	return e
}

func pollNow(ep int, events []syscall.EpollEvent) int {
	n, _ := syscall.EpollWait(ep, events, 0)
	return max(n, 0)
}

func receiveCount(fd int, b *[8]byte) (int, syscall.Errno) {
	n, err := syscall.Read(fd, b[:])
	return n, number(err)
}
