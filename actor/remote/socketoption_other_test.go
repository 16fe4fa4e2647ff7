//go:build !unix

package remote

import (
	"errors"
	"net"
)

func socketOption(net.Conn, int, int) (int, error) { return 0, errors.ErrUnsupported }
