package remotetest

import (
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// addr is "host:port".
type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

// conn is one end of a connection.
type conn struct {
	in, out       *link
	local, remote net.Addr
	closed        func() // when it is, once
	once          sync.Once
}

func (c *conn) Read(p []byte) (int, error) { n, err := c.in.read(p); return n, c.wrap("read", err) }
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p, true)
	return n, c.wrap("write", err)
}

// TryWrite takes all or, if it would have to wait, nothing. Remoting writes by it from within an actor's turn, as it does
// with TCP, so that nothing of what an actor has sent is left to a goroutine.
func (c *conn) TryWrite(p []byte) (int, error) {
	n, err := c.out.write(p, false)
	return n, c.wrap("write", err)
}

// wrap is an error as package net gives it. io.EOF is itself.
func (c *conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions. With something unread it is a reset, as with TCP.
func (c *conn) Close() error {
	if c.in.stopReading() && c.out.open() {
		c.out.fail(syscall.ECONNRESET)
	} else {
		c.out.seal()
	}
	if c.closed != nil {
		c.once.Do(c.closed)
	}
	return nil
}

// CloseWrite ends the way out.
func (c *conn) CloseWrite() error {
	c.out.seal()
	return nil
}

func (c *conn) reset() {
	c.in.fail(syscall.ECONNRESET)
	c.out.fail(syscall.ECONNRESET)
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.readDeadline(t)
	c.out.writeDeadline(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.readDeadline(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writeDeadline(t)
	return nil
}
