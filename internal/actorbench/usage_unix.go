//go:build unix

package actorbench

import (
	"syscall"
	"time"
)

// processorTime is what all threads of this process have used so far, user and system.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
