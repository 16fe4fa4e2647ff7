//go:build unix

package remote

import (
	"errors"
	"syscall"
)

func writeFD(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func again(err error) bool { return errors.Is(err, syscall.EAGAIN) }

func readFD(fd uintptr, b []byte) (n int, ok bool) {
	n, err := syscall.Read(int(fd), b)
	return n, err == nil && n > 0
}
