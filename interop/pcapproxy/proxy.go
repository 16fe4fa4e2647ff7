// Package pcapproxy is a TCP proxy that records what passes through it as a pcap file, so that Wireshark can
// judge a conversation without the rights that real capturing needs.
//
// The frames are made up from the byte streams: a handshake, segments of at most 1460 bytes with running sequence
// numbers and true checksums, and the end. Addresses are those of a documentation network; ports are the real
// ones of client and proxy.
package pcapproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Proxy forwards connections to one target and records them. Close completes the file.
type Proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex // guards what follows, and with it the order of the records
	out   *bufio.Writer
	err   error // the first failure to write
	conns map[net.Conn]bool
	done  bool

	running sync.WaitGroup
}

// Start listens on address ("127.0.0.1:0") and forwards to target. The pcap file goes to w, which stays the caller's.
func Start(address, target string, w io.Writer) (*Proxy, error) {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, out: bufio.NewWriterSize(w, 1<<16), conns: map[net.Conn]bool{}}
	p.err = writeFileHeader(p.out)
	p.running.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() netip.AddrPort {
	return p.listener.Addr().(*net.TCPAddr).AddrPort()
}

// drain is how long Close lets connections end by themselves.
const drain = 2 * time.Second

// Close stops listening, lets what is under way come to its end, cuts what lasts longer than two seconds, and writes
// out the rest of the file. It returns the first error of writing the file.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	ended := make(chan struct{})
	go func() {
		p.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(drain):
	}
	p.mu.Lock()
	p.done = true
	for c := range p.conns {
		err = errors.Join(err, ignoreClosed(c.Close()))
	}
	p.mu.Unlock()
	<-ended
	return errors.Join(err, p.err, p.out.Flush())
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// hold remembers a connection so that Close can end it. It closes it at once when the proxy is closing already.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

func (p *Proxy) serve(client net.Conn) {
	if !p.hold(client) {
		return
	}
	defer p.drop(client)
	dialer := net.Dialer{Timeout: 5 * time.Second}
	server, err := dialer.DialContext(context.Background(), "tcp", p.target)
	if err != nil || !p.hold(server) {
		return
	}
	defer p.drop(server)

	c := p.open(client)
	var both sync.WaitGroup
	both.Go(func() { c.copy(server, client, &c.client, &c.server) })
	both.Go(func() { c.copy(client, server, &c.server, &c.client) })
	both.Wait()
}

// conversation is one recorded connection.
type conversation struct {
	proxy          *Proxy
	client, server side
	scratch        []byte // for one record; guarded by proxy.mu
}

// open records the handshake of a connection that was accepted.
func (p *Proxy) open(client net.Conn) *conversation {
	remote := client.RemoteAddr().(*net.TCPAddr).AddrPort()
	c := &conversation{proxy: p}
	c.client = side{
		mac:     [6]byte{0x02, 0, 0, 0, 0, 1},
		address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), remote.Port()),
		next:    uint32(remote.Port()) << 8,
	}
	c.server = side{
		mac:     [6]byte{0x02, 0, 0, 0, 0, 2},
		address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 2}), p.Address().Port()),
		next:    uint32(remote.Port()) << 9,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.record(&c.client, &c.server, flagSYN, nil)
	c.record(&c.server, &c.client, flagSYN|flagACK, nil)
	c.record(&c.client, &c.server, flagACK, nil)
	return c
}

// copy forwards one direction until it ends, and records each piece before it goes on: the answer to it cannot be
// recorded earlier then.
func (c *conversation) copy(to, from net.Conn, sender, receiver *side) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			c.data(sender, receiver, buffer[:n])
			if _, werr := to.Write(buffer[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			break
		}
	}
	c.proxy.mu.Lock()
	c.record(sender, receiver, flagFIN|flagACK, nil)
	c.record(receiver, sender, flagACK, nil)
	c.proxy.mu.Unlock()
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}

func (c *conversation) data(sender, receiver *side, payload []byte) {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	for i := 1; len(payload) > maxSegment; i++ {
		c.record(sender, receiver, flagACK, payload[:maxSegment])
		payload = payload[maxSegment:]
		if i%ackEvery == 0 {
			c.record(receiver, sender, flagACK, nil)
		}
	}
	c.record(sender, receiver, flagPSH|flagACK, payload)
	c.record(receiver, sender, flagACK, nil)
}

// record writes one segment; proxy.mu is held.
func (c *conversation) record(from, to *side, flags byte, payload []byte) {
	c.scratch = segment(c.scratch[:0], time.Now(), from, to, flags, payload)
	if _, err := c.proxy.out.Write(c.scratch); err != nil && c.proxy.err == nil {
		c.proxy.err = fmt.Errorf("pcap file: %w", err)
	}
}
