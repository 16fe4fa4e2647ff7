package tcp

import (
	"errors"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/secpol"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// step is how a turn of advance ended.
type step uint8

const (
	drained  step = iota // everything that is complete has been handled
	closed               // the client closed the channel
	mustWait             // what comes next takes long, and mayWait is false
	dammed               // the peer must read answers before more requests are handled
)

// advance handles all chunks that have been read; c.last is when.
func (c *ServerConn) advance() (step, error) {
	if c.again.body != nil {
		if !c.mayWait {
			return mustWait, nil
		}
		body := c.again.body
		c.again.body = nil
		c.cfg.Handler.ServeMessage(c, c.last, c.again.requestID, body)
	}
	for {
		if c.leaving.Load() {
			return drained, nil
		}
		if c.sock.stuck() && c.out.full() {
			return dammed, nil
		}
		h, chunk, err := c.in.next()
		if err != nil {
			return drained, err
		}
		if err := c.expect(h, chunk); err != nil {
			return drained, err
		}
		if chunk == nil {
			c.in.begun(c.last)
			return drained, nil
		}
		if h.Type == uacp.TypeOpen && !c.mayWait && takesLong(chunk) {
			c.in.putBack(chunk)
			return mustWait, nil
		}
		switch c.phase {
		case greeting:
			err = c.hello(chunk)
		case opening:
			err = c.open(chunk)
		default:
			var s step
			if s, err = c.serveChunk(h, chunk); s != drained {
				return s, err
			}
		}
		if err != nil {
			return drained, err
		}
	}
}

// expect refuses a chunk that is out of order, before all of it is there: the handshake has a strict
// order (Part 6, 7.1.3).
func (c *ServerConn) expect(h uacp.Header, chunk []byte) error {
	if c.phase >= serving || h.Type == 0 {
		return nil
	}
	if h.Type == uacp.TypeError {
		if chunk == nil {
			return nil
		}
		return peerError(chunk)
	}
	want, what := uacp.TypeHello, "Hello"
	if c.phase == opening {
		want, what = uacp.TypeOpen, "OpenSecureChannel"
	}
	if h.Type != want {
		return uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v message where %s is expected", h.Type, what)
	}
	return nil
}

// serveChunk handles a chunk on an open channel.
func (c *ServerConn) serveChunk(h uacp.Header, chunk []byte) (step, error) {
	switch h.Type {
	case uacp.TypeMessage, uacp.TypeClose:
		m, complete, err := c.conv.Open(chunk, c.last)
		switch {
		case err != nil:
			return drained, err
		case !complete:
		case m.Type == uacp.TypeClose:
			return closed, nil
		case m.Err != nil:
			c.cfg.Log.Debug("opcua: a client aborted its request", "remote", c.remote, "request", m.RequestID, "err", m.Err)
		case !c.cfg.Handler.ServeMessage(c, c.last, m.RequestID, m.Body):
			c.again.requestID, c.again.body = m.RequestID, m.Body
			return mustWait, nil
		}
		return drained, nil
	case uacp.TypeOpen:
		return drained, c.renew(chunk)
	case uacp.TypeError:
		return drained, peerError(chunk)
	}
	return drained, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v message on an open channel", h.Type)
}

// peerError is what an ERR chunk says.
func peerError(chunk []byte) error {
	e, err := uacp.DecodeError(chunk[uacp.HeaderSize:])
	if err != nil {
		return err
	}
	return e
}

// takesLong reports whether a request for a token needs operations with private keys.
func takesLong(chunk []byte) bool {
	h, err := uasc.ParseAsymmetricHeader(chunk)
	return err == nil && h.PolicyURI != secpol.None.URI
}

// enter begins the next phase.
func (c *ServerConn) enter(p phase) { c.phase, c.since, c.retime = p, c.cfg.Now(), true }

// reason is why a connection ends at its deadline.
type reason uint8

const (
	tokenDied reason = iota
	idled
	unfinished
	silent
)

// due is when the connection ends if nothing more arrives, and why. In the handshake it is absolute: a
// peer that sends a byte every second does not move it.
func (c *ServerConn) due() (due time.Time, why reason) {
	if c.phase < serving {
		return c.since.Add(c.cfg.HandshakeTimeout), silent
	}
	due = c.conv.Dies()
	sooner := func(t time.Time, r reason) {
		if t.Before(due) {
			due, why = t, r
		}
	}
	if c.cfg.IdleTimeout > 0 {
		sooner(c.last.Add(c.cfg.IdleTimeout), idled)
	}
	if since, ok := c.conv.Unfinished(); ok {
		sooner(since.Add(c.patience()), unfinished)
	}
	if !c.in.partial.IsZero() {
		sooner(c.in.partial.Add(c.patience()), unfinished)
	}
	return due, why
}

// unfinished reports whether chunks of a message are awaited.
func (c *ServerConn) unfinished() bool {
	if c.conv == nil {
		return false
	}
	_, ok := c.conv.Unfinished()
	return ok
}

// patience is how long the peer may take for a message.
func (c *ServerConn) patience() time.Duration {
	if c.trusted.Load() {
		return trustedMessage
	}
	return c.cfg.HandshakeTimeout
}

// overdue is the error of a deadline that has passed.
func (c *ServerConn) overdue(why reason) error {
	switch why {
	case silent:
		what := "Hello"
		if c.phase == opening {
			what = "OpenSecureChannel"
		}
		return uacp.Errorf(ua.BadTimeout, "no %s within %v", what, c.cfg.HandshakeTimeout)
	case idled:
		return uacp.Errorf(ua.BadTimeout, "nothing was received for %v", c.cfg.IdleTimeout)
	case unfinished:
		return uacp.Errorf(ua.BadTimeout, "a message was not finished within %v", c.patience())
	}
	return uacp.Errorf(ua.BadSecureChannelClosed, "the security token was not renewed in time")
}

// refusal is the error of one of the functions of ServerConfig as the peer hears of it: with its own
// status code if it has a bad one.
func refusal(err error, otherwise ua.StatusCode) *uacp.Error {
	var e *uacp.Error
	if errors.As(err, &e) {
		return e
	}
	status := ua.StatusOf(err)
	if !status.IsBad() || status == ua.BadUnexpectedError {
		status = otherwise
	}
	return &uacp.Error{Status: status, Reason: err.Error()}
}
