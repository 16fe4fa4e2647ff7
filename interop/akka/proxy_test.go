package akka

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// proxy is a cable: a TCP proxy in front of a node, that can be pulled. While it is pulled nothing passes and nobody is told:
// connections stay open, new ones are accepted and lead nowhere until the cable is back.
type proxy struct {
	listener net.Listener
	port     int
	target   string

	mu     sync.Mutex
	pulled chan struct{} // closed while the cable is in
	open   map[net.Conn]bool
	closed bool
}

// startProxy starts a cable to a port at which the node need not listen yet.
func startProxy(t *testing.T, target int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	in := make(chan struct{})
	close(in)
	p := &proxy{listener: l, port: l.Addr().(*net.TCPAddr).Port, target: fmt.Sprintf("127.0.0.1:%d", target), pulled: in, open: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(p.close)
	return p
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.serve(c)
	}
}

func (p *proxy) serve(c net.Conn) {
	if !p.add(c) {
		return
	}
	p.wait()
	out, err := net.DialTimeout("tcp4", p.target, 10*time.Second)
	if err != nil || !p.add(out) {
		p.drop(c)
		return
	}
	go p.copy(out, c)
	p.copy(c, out)
}

// copy passes bytes on while the cable is in. An end of one direction is passed on as such.
func (p *proxy) copy(to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		p.wait()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				p.drop(from)
				return
			}
		}
		if err == io.EOF {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
		if err != nil {
			p.drop(to)
			return
		}
	}
}

func (p *proxy) wait() {
	p.mu.Lock()
	in := p.pulled
	p.mu.Unlock()
	<-in
}

func (p *proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	c.Close()
}

// pull takes the cable out, plug puts it in again. They alternate.
func (p *proxy) pull() {
	p.mu.Lock()
	p.pulled = make(chan struct{})
	p.mu.Unlock()
}

func (p *proxy) plug() {
	p.mu.Lock()
	close(p.pulled)
	p.mu.Unlock()
}

// cut closes what is open, with a reset, as a router that restarts.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.(*net.TCPConn).SetLinger(0) // for all first: the end of one lets the other end too
	}
	for c := range p.open {
		c.Close()
		delete(p.open, c)
	}
}

func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	select {
	case <-p.pulled:
	default:
		close(p.pulled)
	}
	for c := range p.open {
		c.Close()
	}
}
