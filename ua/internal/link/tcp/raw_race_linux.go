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
