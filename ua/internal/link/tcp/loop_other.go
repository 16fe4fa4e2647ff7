//go:build !linux

package tcp

import "net"

// Loops serve connections with few threads, on Linux. Elsewhere there are none, and each connection has
// a goroutine.
type Loops struct{}

// NewLoops returns nil.
func NewLoops(int) (*Loops, error) { return nil, nil }

// Close does nothing.
func (*Loops) Close() {}

func (*Loops) take(net.Conn, *ServerConfig) *ServerConn { return nil }
