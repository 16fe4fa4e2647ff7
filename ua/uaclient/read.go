package uaclient

import (
	"context"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Read sends one Read request (Part 4, 5.11.2). Results stand in the order of NodesToRead, each with
// its own status. Request headers may be left zero here and in all other services.
func (c *Client) Read(ctx context.Context, req *ua.ReadRequest) (*ua.ReadResponse, error) {
	r := *req
	resp := new(ua.ReadResponse)
	if err := c.send(ctx, "Read", &r.RequestHeader, &r, resp, &resp.ResponseHeader); err != nil {
		return nil, err
	}
	return resp, results("Read", len(resp.Results), len(r.NodesToRead))
}

// ReadValue reads the Value attribute of a node with both timestamps. A bad status of the value is an
// error; the DataValue holds it too.
func (c *Client) ReadValue(ctx context.Context, node ua.NodeID) (ua.DataValue, error) {
	return c.ReadAttribute(ctx, node, ua.AttributeValue)
}

// ReadAttribute reads one attribute of a node; a bad status is an error.
func (c *Client) ReadAttribute(ctx context.Context, node ua.NodeID, attribute ua.AttributeID) (ua.DataValue, error) {
	values, err := c.ReadAttributes(ctx, []ua.ReadValueID{{NodeID: node, AttributeID: uint32(attribute)}})
	if err != nil {
		return ua.DataValue{}, nodeError("Read", node, err)
	}
	return values[0], nodeError("Read", node, values[0].Status.Err())
}

// ReadValues reads the Value attributes of any number of nodes, in as many requests as the server's
// limits ask for. Each result has its own status; the error is about the reading as a whole.
func (c *Client) ReadValues(ctx context.Context, nodes ...ua.NodeID) ([]ua.DataValue, error) {
	items := make([]ua.ReadValueID, len(nodes))
	for i, n := range nodes {
		items[i] = ua.ReadValueID{NodeID: n, AttributeID: uint32(ua.AttributeValue)}
	}
	return c.ReadAttributes(ctx, items)
}

// ReadAttributes is ReadValues for any attributes, ranges and data encodings. Of several items, one whose
// value is too large for an answer has that as its status.
func (c *Client) ReadAttributes(ctx context.Context, items []ua.ReadValueID) ([]ua.DataValue, error) {
	values := make([]ua.DataValue, 0, len(items))
	limit := c.limit(ctx, len(items), func(l *Limits) uint32 { return l.MaxNodesPerRead })
	err := batches(len(items), limit, func(from, to int) error {
		resp, err := c.Read(ctx, &ua.ReadRequest{
			TimestampsToReturn: ua.TimestampsToReturnBoth, NodesToRead: items[from:to],
		})
		if err == nil {
			values = append(values, resp.Results...)
		} else if tooLarge(err) && to-from == 1 && len(items) > 1 {
			values = append(values, ua.DataValue{Status: ua.StatusOf(err)})
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// NamespaceArray reads the server's namespace URIs, once a session and when Resolve or a NodeList misses one
// (Part 5, 6.3.1). The index of a URI is the namespace index of NodeIds.
func (c *Client) NamespaceArray(ctx context.Context) ([]string, error) {
	return c.spaces.get(func() ([]string, error) {
		v, err := c.ReadValue(ctx, ua.ID(uaid.Server_NamespaceArray))
		if err != nil {
			return nil, err
		}
		uris, ok := ua.ArrayOf[string](v.Value)
		if !ok {
			return nil, nodeError("Read", ua.ID(uaid.Server_NamespaceArray), reason(ua.BadTypeMismatch, "an array of String wanted"))
		}
		c.settings.Types.SetNamespaces(uris)
		return uris, nil
	})
}

// namespacesAgain reads the namespaces anew: a server may add some while it runs.
func (c *Client) namespacesAgain(ctx context.Context) ([]string, error) {
	c.spaces.forget()
	return c.NamespaceArray(ctx)
}

// Resolve turns an ExpandedNodeId into the NodeId of this server: a namespace URI becomes its index.
// A URI that the server does not have gives BadNodeIdUnknown, a node of another server
// BadServerUriInvalid.
func (c *Client) Resolve(ctx context.Context, id ua.ExpandedNodeID) (ua.NodeID, error) {
	if id.ServerIndex != 0 {
		return ua.NodeID{}, &Error{Step: StepService, Op: "Resolve", Node: id.String(), Err: ua.BadServerUriInvalid}
	}
	if id.NamespaceURI == "" {
		return id.NodeID, nil
	}
	uris, err := c.NamespaceArray(ctx)
	if err != nil {
		return ua.NodeID{}, err
	}
	if local, ok := id.Resolve(uris); ok {
		return local, nil
	}
	if uris, err = c.namespacesAgain(ctx); err != nil {
		return ua.NodeID{}, err
	}
	if local, ok := id.Resolve(uris); ok {
		return local, nil
	}
	return ua.NodeID{}, &Error{Step: StepService, Op: "Resolve", Node: id.String(),
		Err: reason(ua.BadNodeIdUnknown, "the server has no namespace %q", id.NamespaceURI)}
}
