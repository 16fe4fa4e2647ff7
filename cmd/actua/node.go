package main

import (
	"context"
	"strings"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaclient"
)

// nodeRef is a node as the user named it: a NodeId or a browse path.
type nodeRef struct {
	text string
	path bool
	id   ua.ExpandedNodeID
}

// parseNode reads a NODE argument without asking the server.
func parseNode(text string) (nodeRef, error) {
	if strings.HasPrefix(text, "/") {
		if _, err := ua.ParseRelativePath(strings.TrimRight(text, "/"), nil); err != nil {
			return nodeRef{}, usage("NODE: %s", why(err))
		}
		return nodeRef{text: text, path: true}, nil
	}
	id, err := ua.ParseExpandedNodeID(text)
	if err == nil {
		return nodeRef{text: text, id: id}, nil
	}
	if !strings.Contains(text, "=") {
		path := "/Objects"
		if !strings.EqualFold(text, "Objects") {
			path += "/" + text
		}
		return nodeRef{}, usage("NODE %q is neither a NodeId such as i=2258 or ns=2;s=Pump nor a browse path; did you mean %s?", text, path)
	}
	return nodeRef{}, usage("NODE: %s", why(err))
}

func parseNodes(texts []string) ([]nodeRef, error) {
	nodes := make([]nodeRef, len(texts))
	for i, t := range texts {
		var err error
		if nodes[i], err = parseNode(t); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// find asks the server for the NodeId. A node that is not there is a bad status.
func (n nodeRef) find(ctx context.Context, c *uaclient.Client) (ua.NodeID, error) {
	if n.path {
		return c.ResolvePath(ctx, n.text)
	}
	return c.Resolve(ctx, n.id)
}
