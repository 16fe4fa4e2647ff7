package akkanode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/remote"
)

// A Client is a node for a command or two to another one.
type Client struct {
	n    *Node
	mu   sync.Mutex
	dial error // why the last connection could not be made
}

// ConnectError is a node that cannot be reached, with the step that failed: resolve, tcp, or associate.
type ConnectError struct {
	Step string
	Node actor.Address
	Err  error
}

// Error names the step and the node.
func (e *ConnectError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Step, e.Node, e.Err) }

// Unwrap is what went wrong.
func (e *ConnectError) Unwrap() error { return e.Err }

// Connect makes a node that others can answer, for commands to the node of that address.
func Connect(ctx context.Context, cfg Config, to actor.Address) (*Client, error) {
	c := &Client{}
	var err error
	if cfg.Host, err = LocalHost(ctx, to); err != nil {
		return nil, err
	}
	var d net.Dialer
	cfg.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := d.DialContext(ctx, network, address)
		c.mu.Lock()
		c.dial = err
		c.mu.Unlock()
		return nc, err
	}
	if c.n, err = Open(cfg, io.Discard); err != nil {
		return nil, err
	}
	return c, nil
}

// LocalHost is the address of this machine that the other node sees, which is the one to tell it.
func LocalHost(ctx context.Context, to actor.Address) (string, error) {
	var d net.Dialer
	way, err := d.DialContext(ctx, "udp", net.JoinHostPort(bareHost(to.Host()), strconv.Itoa(to.Port()))) // sends nothing
	if err != nil {
		return "", &ConnectError{"resolve", to, err}
	}
	defer way.Close()
	ip := way.LocalAddr().(*net.UDPAddr).IP
	if ip.To4() == nil {
		return "[" + ip.String() + "]", nil
	}
	return ip.String(), nil
}

func bareHost(host string) string {
	if len(host) > 1 && host[0] == '[' {
		return host[1 : len(host)-1]
	}
	return host
}

// Close ends the client in good order.
func (c *Client) Close() error { return c.n.Close() }

// reach finds who is at a path. Errors: a *ConnectError; actor.ErrActorNotFound.
func (c *Client) reach(ctx context.Context, path string) (*actor.Ref, error) {
	p, err := actor.ParsePath(path)
	if err != nil {
		return nil, err
	}
	to, err := c.n.sys.Select(path)
	if err != nil {
		return nil, err
	}
	within, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	connected := make(chan struct{})
	once := sync.OnceFunc(func() { close(connected) })
	node := p.Address()
	failed := func(at actor.Address, text string) {
		if at != node {
			return
		}
		e := &ConnectError{"associate", node, errors.New(text)}
		c.mu.Lock()
		if c.dial != nil {
			e.Step, e.Err = "tcp", c.dial
		}
		c.mu.Unlock()
		fail(e)
	}
	for _, cancel := range []func(){
		actor.SubscribeFunc(c.n.sys, func(e remote.AssociatedEvent) {
			if e.Remote == node {
				once()
			}
		}),
		actor.SubscribeFunc(c.n.sys, func(e remote.AssociationErrorEvent) { failed(e.Remote, e.Cause) }),
		actor.SubscribeFunc(c.n.sys, func(e remote.DisassociatedEvent) { failed(e.Remote, "the node ended the connection: "+e.Reason) }),
		actor.SubscribeFunc(c.n.sys, func(e remote.QuarantinedEvent) { failed(e.Remote, "the node is quarantined: "+e.Reason) }),
	} {
		defer cancel()
	}
	ref, err := to.ResolveOne(within)
	if err == nil {
		return ref, nil
	}
	var e *ConnectError
	if errors.As(context.Cause(within), &e) {
		return nil, e
	}
	select {
	case <-connected:
		return nil, err
	default:
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, &ConnectError{"associate", node, errors.New("no answer")}
	}
	return nil, err
}

// Identify asks who is there.
func (c *Client) Identify(ctx context.Context, path string) (Event, error) {
	ref, err := c.reach(ctx, path)
	if err != nil {
		return Event{"identify-failed", []Field{{"id", ""}, {"error", exceptionName(err)}}}, err
	}
	return Event{"identified", []Field{{"id", ""}, {"path", pathOf(ref)}}}, nil
}

// Tell sends a message to whoever is there; the sender is the client's collector.
func (c *Client) Tell(ctx context.Context, path, typ string, value json.RawMessage) (Event, error) {
	if _, err := c.reach(ctx, path); err != nil {
		return failed(err), err
	}
	e, err := c.n.do(ctx, &command{Cmd: ptr("tell"), To: &path, Type: &typ, Value: value})
	if err != nil {
		return failed(err), err
	}
	return e, nil
}

// Ask sends a message, and waits for the answer until ctx ends. The error is that of the question, or what the answer
// says.
func (c *Client) Ask(ctx context.Context, path, typ string, value json.RawMessage) (Event, error) {
	id := []Field{{"id", ""}}
	if _, err := c.reach(ctx, path); err != nil {
		return askFailed(id, err), err
	}
	to, err := c.n.sys.Select(path)
	if err != nil {
		return askFailed(id, err), err
	}
	msg, err := c.n.value(ctx, typ, value)
	if err != nil {
		return askFailed(id, err), err
	}
	limit := closeTime
	if end, ok := ctx.Deadline(); ok {
		limit = time.Until(end)
	}
	reply, err := c.n.askSelection(ctx, to, msg, limit)
	if err != nil {
		return askFailed(id, err), err
	}
	return Event{"reply", append(id, Field{"type", typeName(reply)}, Field{"value", show(reply)})}, nil
}

// Tree reads the actors of a node of ours, from the root down.
func (c *Client) Tree(ctx context.Context, node actor.Address, f func(TreeActor) error) error {
	if _, err := c.reach(ctx, node.String()+"/system"); err != nil {
		return err
	}
	return c.n.Tree(ctx, node, f)
}

func ptr[T any](v T) *T { return &v }
