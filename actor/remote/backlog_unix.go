//go:build unix

package remote

import (
	"net"
	"syscall"
)

// setBacklog sets how many connections may wait to be accepted. Package net has no option for it and takes what the
// kernel allows; to listen once more on a socket that listens sets it anew. Where that fails, the kernel's stays.
func setBacklog(l net.Listener, n int) {
	t, ok := l.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := t.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { syscall.Listen(int(fd), n) })
	}
}
