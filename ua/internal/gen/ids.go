package main

import (
	"fmt"
	"go/token"
	"strings"
)

// idFiles makes the node id constants, one file a node class.
func idFiles(in *inputs) ([]output, error) {
	all, err := in.allIDs()
	if err != nil {
		return nil, err
	}
	var files []output
	for _, group := range []struct{ class, what string }{
		{"DataType", "Data types"},
		{"ReferenceType", "Reference types"},
		{"ObjectType", "Object types"},
		{"VariableType", "Variable types"},
		{"Object", "Objects, among them the encodings of data types"},
		{"Method", "Methods"},
		{"Variable", "Variables"},
	} {
		s := in.newSource("ua/uaid/"+strings.ToLower(group.class)+"_gen.go", "uaid", nodeIDsFile, nodeSetFile)
		s.line("// %s of namespace 0 (Part 6, A.3).", group.what)
		s.line("const (")
		for _, id := range all {
			if id.class == group.class {
				s.line("\t%s = %d", id.name, id.id)
			}
		}
		s.line(")")
		f, err := s.file()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// allIDs is NodeIds.csv with the nodes behind it that only the NodeSet has. Their names are made as
// those of the list are: the names of the parents in front, joined by '_'.
func (in *inputs) allIDs() ([]namedID, error) {
	names := map[uint32]string{}
	for _, id := range in.ids {
		names[id.id] = id.name
	}
	byID := map[uint32]*setNode{}
	for _, n := range in.nodes {
		byID[n.id] = n
	}
	var nameOf func(n *setNode, depth int) (string, error)
	nameOf = func(n *setNode, depth int) (string, error) {
		if names[n.id] != "" {
			return names[n.id], nil
		}
		parent, between := n.ParentNodeID, "_"
		for _, r := range n.References {
			if r.Type == "HasEncoding" && r.IsForward == "false" {
				parent, between = r.Target, "_Encoding_"
			}
		}
		if parent == "" {
			return n.name(), nil
		}
		id, err := nodeNumber(parent)
		if err != nil || byID[id] == nil || depth > 100 {
			return "", fmt.Errorf("%s: the parent of node %d is not there", nodeSetFile, n.id)
		}
		name, err := nameOf(byID[id], depth+1)
		return name + between + n.name(), err
	}
	all := append([]namedID(nil), in.ids...)
	for _, n := range in.nodes {
		if names[n.id] != "" {
			continue
		}
		name, err := nameOf(n, 0)
		if err != nil {
			return nil, err
		}
		if _, dup := in.byID[name]; dup || !token.IsIdentifier(name) {
			return nil, fmt.Errorf("%s: node %d has the name %s, which is not one or there already", nodeSetFile, n.id, name)
		}
		all = append(all, namedID{name, n.id, n.class()})
	}
	return all, nil
}
