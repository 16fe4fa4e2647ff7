package nodeset

import (
	"fmt"
	"strings"

	"github.com/actua/actua/ua"
)

// nodeID reads a NodeId or an alias and translates its namespace.
func (p *parser) nodeID(text string) (ua.NodeID, error) {
	text, err := p.resolve(text)
	if err != nil {
		return ua.NodeID{}, err
	}
	id, err := ua.ParseNodeID(text)
	if err != nil {
		return id, unknownAlias(text, err)
	}
	return p.translate(id)
}

// resolve replaces an alias, and one that stands for another, by what it stands for.
func (p *parser) resolve(text string) (string, error) {
	text = strings.TrimSpace(text)
	first := text
	for range maxDepth {
		target, ok := p.aliases[text]
		if !ok {
			return text, nil
		}
		text = target
	}
	return "", fmt.Errorf("alias %q stands for itself", first)
}

// unknownAlias says what a text that is no NodeId may have been meant to be.
func unknownAlias(text string, err error) error {
	if text == "" || strings.ContainsAny(text, "=;") {
		return err
	}
	return fmt.Errorf("%q is neither a NodeId nor an alias of the file", text)
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
