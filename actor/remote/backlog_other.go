//go:build !unix

package remote

import "net"

// setBacklog leaves the backlog as package net has set it.
func setBacklog(net.Listener, int) {}
