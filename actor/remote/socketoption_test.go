//go:build unix

package remote

import (
	"net"
	"syscall"
)

func socketOption(nc net.Conn, level, option int) (v int, err error) {
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	raw.Control(func(fd uintptr) { v, err = syscall.GetsockoptInt(int(fd), level, option) })
	return v, err
}
