package nodeset

import (
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
)

// nodeID reads a NodeId or an alias and translates its namespace.
func (p *parser) nodeID(text string) (ua.NodeID, error) {
	text = strings.TrimSpace(text)
	if target, ok := p.aliases[text]; ok {
		text = target
	}
	id, err := ua.ParseNodeID(text)
	if err != nil {
		return id, err
	}
	return p.translate(id)
}

func (p *parser) translate(id ua.NodeID) (ua.NodeID, error) {
	ns, err := p.namespace(id.Namespace())
	return id.WithNamespace(ns), err
}

// namespace translates an index of the file to one of the server.
func (p *parser) namespace(index uint16) (uint16, error) {
	if int(index) >= len(p.namespaces) {
		return 0, fmt.Errorf("namespace index %d, but the file has %d NamespaceUris", index, len(p.namespaces)-1)
	}
	return p.namespaces[index], nil
}

// browseName reads a QualifiedName such as 1:Name (Part 6, F.3).
func (p *parser) browseName(text string) (ua.QualifiedName, error) {
	q, err := ua.ParseQualifiedName(text)
	if err != nil {
		return q, err
	}
	q.NamespaceIndex, err = p.namespace(q.NamespaceIndex)
	return q, err
}
