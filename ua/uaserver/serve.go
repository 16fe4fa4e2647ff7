package uaserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
)

// DefaultPort is the port of opc.tcp when a URL names none.
const DefaultPort = "4840"

// Listen listens on the host and port of a URL such as "opc.tcp://:4840". Serve serves the listener.
func (s *Server) Listen(rawURL string) (net.Listener, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "opc.tcp" {
		return nil, fmt.Errorf("uaserver: %q is not an address like opc.tcp://host:4840", rawURL)
	}
	port := u.Port()
	if port == "" {
		port = DefaultPort
	}
	return net.Listen("tcp", net.JoinHostPort(u.Hostname(), port))
}

// ListenAndServe listens on the ports of Config.URLs, on all of the machine's addresses, or on port
// 4840 without any, and serves until ctx is done or the server is closed. When ctx is done it shuts the
// server down, for which clients get a second, and returns nil.
func (s *Server) ListenAndServe(ctx context.Context) error {
	ports := []string{}
	for _, u := range s.cfg.URLs {
		p, err := url.Parse(u)
		if err != nil {
			return fmt.Errorf("uaserver: %w", err)
		}
		port := p.Port()
		if port == "" {
			port = DefaultPort
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		ports = append(ports, DefaultPort)
	}
	errs := make(chan error, len(ports))
	for _, port := range ports {
		l, err := s.Listen("opc.tcp://:" + port)
		if err != nil {
			s.closeListeners()
			return fmt.Errorf("uaserver: %w", err)
		}
		go func() { errs <- s.Serve(l) }()
	}
	select {
	case err := <-errs:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return s.Shutdown(grace)
	}
}

// Serve accepts connections of opc.tcp until the listener is closed, whose error it returns, or the
// server is, when it returns ErrServerClosed. Errors that pass are waited out. It closes the listener.
// Several calls may run at a time.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	defer s.forget(l)
	s.eventLoops() // with no lock held: it may log
	s.mu.Lock()
	if s.closed || s.stopping.Load() {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	if len(s.cfg.URLs) == 0 {
		s.listening = append(s.listening, addressOf(l))
	}
	if !s.timed { // before there are connections
		s.timed = true
		s.startPublishing()
		go s.keepTime()
	}
	s.mu.Unlock()
	for wait := time.Duration(0); ; {
		nc, err := l.Accept()
		switch {
		case err == nil:
			wait = 0
			s.admit(nc)
			continue
		case s.stopping.Load():
			return ErrServerClosed
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("uaserver: %w", err)
		}
		// What remains are mostly errors that pass, such as too many open files.
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.log.Error("cannot accept a connection", "error", err, "again in", wait)
		select {
		case <-time.After(wait):
		case <-s.ctx.Done():
			return ErrServerClosed
		}
	}
}

// keepTime sweeps sessions until the server is closed. The first Serve starts it.
func (s *Server) keepTime() {
	period := min(max(s.cfg.Limits.MinSessionTimeout/4, 20*time.Millisecond), time.Second)
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.sweep(s.now())
		case <-s.ctx.Done():
			return
		}
	}
}

// forget takes a listener and its address back.
func (s *Server) forget(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	if i := slices.Index(s.listening, addressOf(l)); i >= 0 {
		s.listening = slices.Delete(s.listening, i, i+1)
	}
}

// addressOf is the URL of a listener; one for all addresses gets the machine's name.
func addressOf(l net.Listener) string {
	addr := l.Addr().String()
	if t, ok := l.Addr().(*net.TCPAddr); ok && t.IP.IsUnspecified() {
		addr = net.JoinHostPort(hostName(), fmt.Sprint(t.Port))
	}
	return "opc.tcp://" + addr
}

// admit takes a new connection in, if need be in place of one that nobody is logged in on.
func (s *Server) admit(nc net.Conn) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		_ = nc.Close()
		return
	}
	var gone *peer
	if len(s.peers)+s.joining >= s.cfg.Limits.MaxChannels {
		if gone = s.dispensable(); gone == nil {
			s.mu.Unlock()
			s.stats.channelsRejected.Add(1)
			s.log.Warn("connection refused: there are as many as Limits.MaxChannels allows", "remote", nc.RemoteAddr())
			s.turnAway(nc)
			return
		}
		delete(s.peers, gone)
	}
	s.joining++
	s.serving.Add(1)
	s.mu.Unlock()
	if gone != nil {
		s.stats.channelsRejected.Add(1)
		s.log.Warn("connection ended to make room", "remote", gone.link.RemoteAddr())
		go gone.link.Close(ua.BadTcpNotEnoughResources, "too many connections, and nobody is logged in here")
	}
	p := s.newPeer(nc)
	s.mu.Lock()
	s.joining--
	s.peers[p] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	if closed { // meanwhile, by somebody who did not see it
		p.link.Close(ua.BadShutdown, "the server is being stopped")
	}
	p.start()
}

// dispensable is the connection to end when there are too many: the oldest without a channel, else the
// oldest where nobody is logged in (Part 4, 5.6.2). s.mu is held.
func (s *Server) dispensable() (worst *peer) {
	for p := range s.peers {
		rank := p.rank()
		if rank == 2 {
			continue
		}
		if worst == nil || rank < worst.rank() || rank == worst.rank() && p.since.Before(worst.since) {
			worst = p
		}
	}
	return worst
}

// maxTurnedAway is how many connections that are too many are told so at a time; others are just closed.
const maxTurnedAway = 64

// turnAway ends a connection that there is no place for.
func (s *Server) turnAway(nc net.Conn) {
	if s.turnedAway.Add(1) > maxTurnedAway {
		s.turnedAway.Add(-1)
		_ = nc.Close()
		return
	}
	go func() {
		defer s.turnedAway.Add(-1)
		tcp.Refuse(nc, ua.BadTcpNotEnoughResources, "too many connections")
	}()
}
