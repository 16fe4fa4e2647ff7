package uaserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/link/tcp"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
	"github.com/actua/actua/ua/uapki"
)

// peer is a connection of opc.tcp.
type peer struct {
	server *Server
	link   *tcp.ServerConn
	since  time.Time

	mu     sync.Mutex
	opened bool
	conn   *conn // nil before the first request
}

func (s *Server) newPeer(nc net.Conn) *peer {
	p := &peer{server: s, since: s.now()}
	cfg := s.link
	cfg.Loops = s.eventLoops()
	cfg.Handler, cfg.Open = p, p.open
	p.link = tcp.NewServerConn(nc, &cfg)
	return p
}

// tcpChannel is a connection as the services see it.
type tcpChannel struct{ *tcp.ServerConn }

// ClientCertificate implements channel.
func (c tcpChannel) ClientCertificate() []byte { return bytes.Join(c.ClientChain(), nil) }

// eventLoops are the threads that serve connections, made for the first one; nil where the system has no
// such thing.
func (s *Server) eventLoops() *tcp.Loops {
	s.loopsOnce.Do(func() {
		if s.cfg.EventLoops < 0 {
			return
		}
		var err error
		if s.loops, err = tcp.NewLoops(s.cfg.EventLoops); err != nil {
			s.log.Warn("connections are served by a goroutine each", "error", err)
		}
	})
	return s.loops
}

// linkConfig is what all connections have in common.
func (s *Server) linkConfig() tcp.ServerConfig {
	l := &s.cfg.Limits
	cfg := tcp.ServerConfig{
		Limits: uacp.Limits{
			ReceiveBufferSize: uint32(l.MaxBufferSize), SendBufferSize: uint32(l.MaxBufferSize),
			MaxMessageSize: uint32(l.MaxMessageSize), MaxChunkCount: advertised(l.MaxChunkCount),
		},
		HandshakeTimeout: l.HandshakeTimeout,
		IdleTimeout:      max(l.IdleTimeout, 0),
		MinLifetime:      l.MinTokenLifetime,
		MaxLifetime:      l.MaxTokenLifetime,
		Budget:           uasc.NewBudget(int64(l.MaxReceiveMemory)),
		Gate:             s.gate,
		Log:              s.log,
		Now:              s.cfg.Now,
	}
	if id := s.cfg.Identity; id != nil {
		own := &uasc.Identity{Chain: id.Chain, Key: id.Key}
		cfg.Identity = func() *uasc.Identity { return own }
	}
	return cfg
}

// start serves the connection until it ends.
func (p *peer) start() {
	p.server.stats.channels.Add(1)
	p.link.Start(p.gone)
}

// gone is called when the connection has ended.
func (p *peer) gone() {
	s := p.server
	s.stats.channels.Add(^uint64(0))
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	s.serving.Done()
}

// open decides about a new channel. Without security it is always let in, since discovery needs none
// (Part 4, 5.5); sessions then are refused unless policy None is offered.
func (p *peer) open(o *tcp.OpenRequest) error {
	if err := p.server.checkOpen(o); err != nil {
		p.server.log.Warn("secure channel refused", "remote", o.RemoteAddr, "policy", o.Policy.Name, "mode", o.Mode, "error", err)
		return ua.StatusOf(err) // the rest would tell a stranger whom the server trusts
	}
	p.mu.Lock()
	p.opened = true
	p.mu.Unlock()
	return nil
}

func (s *Server) checkOpen(o *tcp.OpenRequest) error {
	if o.Policy.IsNone() {
		if o.Mode != ua.MessageSecurityModeNone {
			return fmt.Errorf("%w: policy None has no mode %v", ua.BadSecurityModeRejected, o.Mode)
		}
		return nil
	}
	if !s.cfg.offers(o.Policy, o.Mode) {
		for _, sec := range s.cfg.secure {
			if sec.policy == o.Policy {
				return fmt.Errorf("%w: mode %v is not offered with %s", ua.BadSecurityModeRejected, o.Mode, o.Policy.Name)
			}
		}
		return fmt.Errorf("%w: %s is not offered", ua.BadSecurityPolicyRejected, o.Policy.Name)
	}
	return s.verifyClient(o.ClientChain, o.Policy.URI)
}

// verifyClient decides whether a client's certificate is trusted (Part 4, 6.1.3).
func (s *Server) verifyClient(chain [][]byte, policyURI string) error {
	var err error
	switch {
	case s.cfg.VerifyClient != nil:
		err = s.cfg.VerifyClient(chain, policyURI)
	case s.cfg.Store != nil:
		err = s.cfg.Store.Validate(chain, uapki.ValidateOptions{SecurityPolicyURI: policyURI, Now: s.now()})
	default:
		return fmt.Errorf("%w: neither Config.VerifyClient nor Config.Store trusts anybody", ua.BadCertificateUntrusted)
	}
	if err == nil {
		return nil
	}
	if s.cfg.Store != nil && len(chain) > 0 {
		if certs, e := uapki.ParseChain(chain[0]); e == nil {
			if e := s.cfg.Store.Reject(certs[0]); e != nil {
				s.log.Error("cannot record a refused certificate", "error", e)
			}
		}
	}
	var status ua.StatusCode
	if !errors.As(err, &status) || !status.IsBad() {
		err = fmt.Errorf("%w: %v", ua.BadCertificateUntrusted, err)
	}
	return err
}

// ServeMessage implements tcp.Handler.
func (p *peer) ServeMessage(c *tcp.ServerConn, at time.Time, requestID uint32, body []byte) bool {
	if p.conn == nil {
		p.mu.Lock()
		p.conn = p.server.newConn(tcpChannel{c})
		p.mu.Unlock()
	}
	return p.conn.dispatch(at, requestID, body, c.MayWait())
}

// Closed implements tcp.Handler.
func (p *peer) Closed(*tcp.ServerConn, error) {
	p.mu.Lock()
	c := p.conn
	p.mu.Unlock()
	if c != nil {
		c.closed()
	}
}

// rank is 0 without a channel, 1 with one, 2 when somebody is logged in.
func (p *peer) rank() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.conn != nil && p.conn.logins.Load() > 0:
		return 2
	case p.opened:
		return 1
	}
	return 0
}
