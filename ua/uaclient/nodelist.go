package uaclient

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/actua/actua/ua"
)

// NodeList is nodes that a program names once and uses in one session after another. A server may have
// its namespaces at other indexes after it was restarted or its program was downloaded; the list finds
// out where its nodes are in each session anew, and in a running session when a node has become unknown
// (T02). A node that the server does not have keeps a status of its own and disturbs no other (T03).
//
// It is safe for use by several goroutines, but for one session at a time: each change of the session looks
// all nodes up. Sessions that are used side by side have a list each.
type NodeList struct {
	ids      []ua.ExpandedNodeID
	register bool
	patience time.Duration

	mu    sync.Mutex // of bound alone
	bound *binding   // never changed, only replaced
}

// NodeListOptions are for NewNodeList.
type NodeListOptions struct {
	// Register has the server register the nodes (Part 4, 5.9.5), in each session anew.
	Register bool
	// Recheck is how often at most, because of nodes that the server does not have, the list is
	// looked up anew; default 10 s.
	Recheck time.Duration
}

// BoundNode is what a node of a NodeList is in a session.
type BoundNode struct {
	NodeID ua.NodeID
	Status ua.StatusCode // BadNodeIdUnknown: the server does not have the namespace; BadServerUriInvalid: it is on another server
}

// binding is a list in a session.
type binding struct {
	client     *Client
	nodes      []BoundNode
	registered []ua.NodeID
	at         time.Time
}

// NewNodeList makes a list. Name the namespaces by their URIs: ids with an index are used as they are.
func NewNodeList(options NodeListOptions, ids ...ua.ExpandedNodeID) *NodeList {
	l := &NodeList{ids: slices.Clone(ids), register: options.Register, patience: options.Recheck}
	if l.patience <= 0 {
		l.patience = 10 * time.Second
	}
	return l
}

// Bind returns what the nodes are in the session of c, in the order of the list.
func (l *NodeList) Bind(ctx context.Context, c *Client) ([]BoundNode, error) {
	b, err := l.bind(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.nodes), nil
}

// Read reads the values of the nodes in the order of the list, each with its own status. The error is
// about the reading as a whole.
func (l *NodeList) Read(ctx context.Context, c *Client) ([]ua.DataValue, error) {
	b, err := l.bind(ctx, c)
	if err != nil {
		return nil, err
	}
	values := make([]ua.DataValue, len(l.ids))
	all := make([]int, len(l.ids))
	for i := range all {
		all[i] = i
	}
	if err := b.read(ctx, values, all); err != nil {
		return nil, err
	}
	unknown := slices.DeleteFunc(all, func(i int) bool { return !isUnknown(values[i].Status) })
	if len(unknown) == 0 || time.Since(b.at) < l.patience {
		return values, nil
	}
	if b, err = l.rebind(ctx, c, b); err != nil {
		return nil, err
	}
	return values, b.read(ctx, values, unknown)
}

func isUnknown(s ua.StatusCode) bool {
	return s.Base() == ua.BadNodeIdUnknown || s.Base() == ua.BadNodeIdInvalid
}

// read fills the values with these indexes.
func (b *binding) read(ctx context.Context, values []ua.DataValue, indexes []int) error {
	var nodes []ua.NodeID
	var asked []int
	for _, i := range indexes {
		if n := &b.nodes[i]; n.Status.IsBad() {
			values[i] = ua.DataValue{Status: n.Status}
		} else {
			nodes, asked = append(nodes, n.NodeID), append(asked, i)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	read, err := b.client.ReadValues(ctx, nodes...)
	if err != nil {
		return err
	}
	for k, i := range asked {
		values[i] = read[k]
	}
	return nil
}

// bind is the list in the session of c.
func (l *NodeList) bind(ctx context.Context, c *Client) (*binding, error) {
	l.mu.Lock()
	b := l.bound
	l.mu.Unlock()
	if b != nil && b.client == c {
		return b, nil
	}
	uris, err := c.NamespaceArray(ctx)
	if err != nil {
		return nil, err
	}
	return l.bindTo(ctx, c, uris)
}

// rebind looks the list up once more in the same session.
func (l *NodeList) rebind(ctx context.Context, c *Client, old *binding) (*binding, error) {
	uris, err := c.namespacesAgain(ctx)
	if err != nil {
		return nil, err
	}
	if len(old.registered) > 0 {
		if err := c.UnregisterNodes(ctx, old.registered...); err != nil {
			c.settings.Log.Debug("unregistering nodes", "error", err)
		}
	}
	return l.bindTo(ctx, c, uris)
}

func (l *NodeList) bindTo(ctx context.Context, c *Client, uris []string) (*binding, error) {
	b := &binding{client: c, nodes: make([]BoundNode, len(l.ids))}
	var known []int
	var ids []ua.NodeID
	for i, id := range l.ids {
		switch local, ok := id.Resolve(uris); {
		case id.ServerIndex != 0:
			b.nodes[i].Status = ua.BadServerUriInvalid
		case !ok:
			b.nodes[i].Status = ua.BadNodeIdUnknown
		default:
			b.nodes[i].NodeID = local
			known, ids = append(known, i), append(ids, local)
		}
	}
	if l.register && len(ids) > 0 {
		registered, err := c.RegisterNodes(ctx, ids...)
		switch {
		case err == nil:
			b.registered = registered
			for k, i := range known {
				b.nodes[i].NodeID = registered[k]
			}
		case ctx.Err() != nil || c.Err() != nil:
			return nil, err
		default: // it only makes reading faster
			c.settings.Log.Debug("registering nodes", "error", err)
		}
	}
	b.at = time.Now()
	l.mu.Lock()
	l.bound = b
	l.mu.Unlock()
	return b, nil
}
