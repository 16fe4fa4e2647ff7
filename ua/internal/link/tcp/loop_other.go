//go:build !linux

package tcp

import (
	"net"
	"time"
)

// Loops serve connections with few threads, on Linux. Elsewhere there are none, and each connection has
// a goroutine.
type Loops struct{}

// NewLoops returns nil.
func NewLoops(int) (*Loops, error) { return nil, nil }

// Close does nothing.
func (*Loops) Close() {}

// SetTask returns false.
func (*Loops) SetTask(func() time.Duration) bool { return false }

// WakeTask does nothing.
func (*Loops) WakeTask() {}

func (*Loops) take(net.Conn, *ServerConfig) *ServerConn { return nil }
