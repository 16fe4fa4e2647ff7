//go:build !unix

package remote

import "syscall"

// writeFD is left to the goroutine that may wait.
func writeFD(uintptr, []byte) (int, error) { return 0, syscall.EAGAIN }

func again(err error) bool { return err == syscall.EAGAIN }

// readFD is left to who waits.
func readFD(uintptr, []byte) (int, bool) { return 0, false }
