package tcp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/uacp"
	"github.com/actua/actua/ua/internal/uasc"
)

// defaultPort is that of opc.tcp (Part 6, 7.2).
const defaultPort = "4840"

// maxClientOutbound bounds the requests, in bytes, that wait for a server that does not read.
const maxClientOutbound = 4 * DefaultMaxOutbound

// Dial connects to the server of an opc.tcp URL and opens a secure channel. The context ends with the
// dial: the connection lives until Close or until it fails. The error is a *StepError that names the
// step and wraps the cause: the status code of a server's ERR message, BadConnectionClosed, the
// error of the network or of the context.
func Dial(ctx context.Context, endpointURL string, cfg *ClientConfig) (*ClientConn, error) {
	cfg = cfg.withDefaults()
	addr, err := address(endpointURL)
	if err != nil {
		return nil, &StepError{StepTCP, err}
	}
	dialing, cancel := context.WithTimeout(ctx, cfg.HandshakeTimeout)
	defer cancel()
	nc, err := cfg.Dialer(dialing, "tcp", addr)
	if err != nil {
		if ctx.Err() == nil {
			status := ua.BadConnectionRejected
			if dialing.Err() != nil {
				status = ua.BadTimeout
			}
			err = &uacp.Error{Status: status, Reason: err.Error(), Cause: err}
		} else {
			err = ctx.Err()
		}
		return nil, &StepError{StepTCP, err}
	}
	cfg.Done(StepTCP)
	return Handshake(ctx, nc, endpointURL, cfg)
}

// address is the host and port of an opc.tcp URL.
func address(endpointURL string) (string, error) {
	u, err := url.Parse(endpointURL)
	switch {
	case err != nil:
		return "", uacp.Errorf(ua.BadTcpEndpointUrlInvalid, "%v", err)
	case u.Scheme != "opc.tcp" || u.Hostname() == "":
		return "", uacp.Errorf(ua.BadTcpEndpointUrlInvalid, "%q is not of the form opc.tcp://host:port/path", endpointURL)
	case len(endpointURL) > uacp.MaxURLLength:
		return "", uacp.Errorf(ua.BadTcpEndpointUrlInvalid, "a URL of %d bytes, at most %d are allowed", len(endpointURL), uacp.MaxURLLength)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// Handshake opens a secure channel over a connection that is there already, such as one that a server
// has made. It owns nc, and closes it when it fails; otherwise it is as Dial.
func Handshake(ctx context.Context, nc net.Conn, endpointURL string, cfg *ClientConfig) (*ClientConn, error) {
	cfg = cfg.withDefaults()
	c := &ClientConn{cfg: cfg, nc: nc, url: endpointURL, pending: make(map[uint32]*call), done: make(chan struct{})}
	c.out.init(&netSocket{nc: nc, timeout: cfg.WriteTimeout}, maxClientOutbound, cfg.Now)
	c.in = frames{src: nc, limit: cfg.Limits.ReceiveBufferSize, trusted: true}
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	step, err := StepHello, c.hello()
	if err == nil {
		cfg.Done(StepHello)
		step, err = StepChannel, c.open()
	}
	if !stop() && err == nil {
		err = ctx.Err() // the deadline of the past is set, or about to be
	}
	if err != nil {
		nc.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &StepError{step, err}
	}
	nc.SetDeadline(time.Time{})
	c.start()
	cfg.Done(StepChannel)
	return c, nil
}

// exchange sends a chunk of the handshake and waits for the answer.
func (c *ClientConn) exchange(ctx string, t uacp.MessageType, chunk []byte) ([]byte, error) {
	timeout := func(err error, doing string) error {
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return uacp.Errorf(ua.BadTimeout, "no answer to %s within %v", ctx, c.cfg.HandshakeTimeout)
		case errors.Is(err, io.EOF):
			return &uacp.Error{Status: ua.BadConnectionClosed, Reason: "the server closed the connection during " + ctx + " without giving a reason", Cause: err}
		}
		e := lost(err, doing+" "+ctx)
		return e
	}
	c.nc.SetDeadline(time.Now().Add(c.cfg.HandshakeTimeout))
	_, broken := c.nc.Write(chunk)
	for {
		h, chunk, err := c.in.next()
		switch {
		case err != nil:
			return nil, err
		case chunk == nil:
		case h.Type == uacp.TypeError:
			return nil, peerError(chunk)
		case h.Type != t:
			return nil, uacp.Errorf(ua.BadTcpMessageTypeInvalid, "a %v message in answer to %s", h.Type, ctx)
		default:
			return chunk, nil
		}
		// Even if writing has failed: the server may have said why before it closed.
		if err := c.in.fill(); err != nil {
			var e *uacp.Error
			switch {
			case errors.As(err, &e):
				return nil, err
			case broken != nil && !errors.Is(err, io.EOF):
				return nil, timeout(broken, "writing")
			}
			return nil, timeout(err, "reading the answer to")
		}
	}
}

// hello negotiates the sizes (Part 6, 7.1.3).
func (c *ClientConn) hello() error {
	h := c.cfg.Limits.Hello(c.url)
	chunk, err := c.exchange("Hello", uacp.TypeAcknowledge, h.Append(nil))
	if err != nil {
		return err
	}
	var a uacp.Acknowledge
	if err := a.Decode(chunk[uacp.HeaderSize:]); err != nil {
		return err
	}
	n, err := uacp.Confirm(c.cfg.Limits, &a)
	if err != nil {
		return err
	}
	c.in.limit = n.ReceiveChunk
	c.limits = n
	return nil
}

// open opens the secure channel.
func (c *ClientConn) open() (err error) {
	c.conv, err = uasc.New(uasc.Config{
		Side:        uasc.Client,
		Limits:      c.limits,
		Identity:    c.cfg.Identity,
		Policy:      c.cfg.Policy,
		Mode:        c.cfg.Mode,
		ServerChain: c.cfg.ServerChain,
	})
	if err != nil {
		return err
	}
	c.out.conv = c.conv
	request, err := c.conv.RequestOpen(nil, c.nextID(), c.cfg.Lifetime, c.cfg.Now())
	if err != nil {
		return err
	}
	chunk, err := c.exchange("OpenSecureChannel", uacp.TypeOpen, request)
	if err != nil {
		return err
	}
	return c.conv.CompleteOpen(chunk, c.cfg.Now())
}
