package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/internal/nodeset"
	"github.com/actua/actua/ua/internal/ns0"
)

// encoder collects the parts of the file; package ns0 describes its form.
type encoder struct {
	strings    map[string]uint64
	lengths    []byte
	text       []byte
	roles      map[string]uint64
	roleSets   []byte
	roleCount  int
	dimensions int
}

func encode(set *nodeset.Set) ([]byte, error) {
	references, total, err := bothDirections(set)
	if err != nil {
		return nil, err
	}
	nodes := append([]*nodeset.Node(nil), set.Nodes...)
	sort.Slice(nodes, func(i, j int) bool { return nodes[i].ID.Numeric() < nodes[j].ID.Numeric() })
	e := &encoder{strings: map[string]uint64{}, roles: map[string]uint64{}}
	var body []byte
	var last uint32
	for _, n := range nodes {
		if body, err = e.node(body, set, n, last, references[n.ID]); err != nil {
			return nil, fmt.Errorf("line %d: node %d: %w", n.Line, n.ID.Numeric(), err)
		}
		last = n.ID.Numeric()
	}
	b := []byte(ns0.Magic)
	b = binary.AppendUvarint(b, uint64(len(e.strings)))
	b = append(append(b, e.lengths...), e.text...)
	b = binary.AppendUvarint(b, uint64(len(e.roles)))
	b = binary.AppendUvarint(b, uint64(e.roleCount))
	b = append(b, e.roleSets...)
	b = binary.AppendUvarint(b, uint64(len(nodes)))
	b = binary.AppendUvarint(b, uint64(total))
	b = binary.AppendUvarint(b, uint64(e.dimensions))
	return append(b, body...), nil
}

// bothDirections gives each node all its references: those of the file, which may stand at either
// end or at both, seen from both ends.
func bothDirections(set *nodeset.Set) (map[ua.NodeID][]nodeset.Reference, int, error) {
	type edge struct {
		node ua.NodeID
		nodeset.Reference
	}
	out := map[ua.NodeID][]nodeset.Reference{}
	seen := map[edge]bool{}
	add := func(node ua.NodeID, r nodeset.Reference) {
		if e := (edge{node, r}); !seen[e] {
			seen[e] = true
			out[node] = append(out[node], r)
		}
	}
	for _, n := range set.Nodes {
		for _, r := range n.References {
			if set.Find(r.Target) == nil || set.Find(r.Type) == nil {
				return nil, 0, fmt.Errorf("line %d: node %d: a reference leads out of the file", n.Line, n.ID.Numeric())
			}
			add(n.ID, r)
		}
	}
	for _, n := range set.Nodes {
		for _, r := range n.References {
			add(r.Target, nodeset.Reference{Type: r.Type, Target: n.ID, Forward: !r.Forward})
		}
	}
	return out, len(seen), nil
}

// str appends the number of a string.
func (e *encoder) str(b []byte, s string) []byte {
	i, ok := e.strings[s]
	if !ok {
		i = uint64(len(e.strings))
		e.strings[s] = i
		e.lengths = binary.AppendUvarint(e.lengths, uint64(len(s)))
		e.text = append(e.text, s...)
	}
	return binary.AppendUvarint(b, i)
}

// rolePermissions appends the number of a set.
func (e *encoder) rolePermissions(b []byte, set []ua.RolePermissionType) []byte {
	data := binary.AppendUvarint(nil, uint64(len(set)))
	for _, p := range set {
		data = binary.AppendUvarint(data, uint64(p.RoleID.Numeric()))
		data = binary.AppendUvarint(data, uint64(p.Permissions))
	}
	i, ok := e.roles[string(data)]
	if !ok {
		i = uint64(len(e.roles))
		e.roles[string(data)] = i
		e.roleSets = append(e.roleSets, data...)
		e.roleCount += len(set)
	}
	return binary.AppendUvarint(b, i)
}

func signed(b []byte, v int64) []byte { return binary.AppendUvarint(b, uint64(v)<<1^uint64(v>>63)) }

// text is the one text of an attribute, which has no locale.
func text(t []ua.LocalizedText) (string, error) {
	switch {
	case len(t) == 0:
		return "", nil
	case len(t) > 1 || t[0].Locale != "":
		return "", fmt.Errorf("texts of namespace 0 are expected to have no locale")
	}
	return t[0].Text, nil
}

func (e *encoder) node(b []byte, set *nodeset.Set, n *nodeset.Node, last uint32, references []nodeset.Reference) ([]byte, error) {
	display, err1 := text(n.DisplayName)
	description, err2 := text(n.Description)
	inverse, err3 := text(n.InverseName)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return nil, err
		}
	}
	if n.ID.Namespace() != 0 || n.ID.Type() != ua.IDTypeNumeric || n.ID.Numeric() <= last || n.BrowseName.NamespaceIndex != 0 {
		return nil, fmt.Errorf("not a node of namespace 0, or there twice")
	}
	if n.UserAccessLevel != n.AccessLevel || n.UserWriteMask != n.WriteMask {
		return nil, fmt.Errorf("the attributes for the user are expected to be those for all")
	}
	variable := n.Class == ua.NodeClassVariable
	var flags uint64
	var data []byte
	// with notes a flag and its data; calls must be in the order of the flags.
	with := func(flag uint64, present bool, put func([]byte) []byte) {
		if present {
			flags |= flag
			if put != nil {
				data = put(data)
			}
		}
	}
	number := func(v uint64) func([]byte) []byte {
		return func(b []byte) []byte { return binary.AppendUvarint(b, v) }
	}
	sized := func(v []byte) func([]byte) []byte {
		return func(b []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(v))), v...) }
	}
	with(ns0.FlagDisplayName, display != n.BrowseName.Name, func(b []byte) []byte { return e.str(b, display) })
	with(ns0.FlagDescription, description != "", func(b []byte) []byte { return e.str(b, description) })
	with(ns0.FlagInverseName, inverse != "", func(b []byte) []byte { return e.str(b, inverse) })
	with(ns0.FlagWriteMask, n.WriteMask != 0, number(uint64(n.WriteMask)))
	with(ns0.FlagRolePermissions, len(n.RolePermissions) > 0, func(b []byte) []byte {
		return e.rolePermissions(b, n.RolePermissions)
	})
	with(ns0.FlagAccessRestrictions, n.HasAccessRestrictions, number(uint64(n.AccessRestrictions)))
	with(ns0.FlagEventNotifier, n.EventNotifier != 0, number(uint64(n.EventNotifier)))
	with(ns0.FlagDataType, !n.DataType.IsNull(), func(b []byte) []byte {
		return signed(binary.AppendUvarint(b, uint64(n.DataType.Numeric())), int64(n.ValueRank))
	})
	with(ns0.FlagArrayDimensions, len(n.ArrayDimensions) > 0, func(b []byte) []byte {
		b = binary.AppendUvarint(b, uint64(len(n.ArrayDimensions)))
		for _, d := range n.ArrayDimensions {
			b = binary.AppendUvarint(b, uint64(d))
		}
		e.dimensions += len(n.ArrayDimensions)
		return b
	})
	with(ns0.FlagAccessLevel, variable, number(uint64(n.AccessLevel)))
	with(ns0.FlagSamplingInterval, n.MinimumSamplingInterval != 0, func(b []byte) []byte {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(n.MinimumSamplingInterval))
	})
	with(ns0.FlagValue, !n.Value.IsNull(), sized(n.Value.AppendBinary(nil)))
	definition := set.DataTypeDefinition(n, nil)
	with(ns0.FlagDefinition, definition != nil, func(b []byte) []byte {
		v := ua.Scalar(ua.NewExtensionObject(definition))
		return sized(v.AppendBinary(nil))(b)
	})
	with(ns0.FlagIsAbstract, n.IsAbstract, nil)
	with(ns0.FlagSymmetric, n.Symmetric, nil)
	with(ns0.FlagContainsNoLoops, n.ContainsNoLoops, nil)
	with(ns0.FlagHistorizing, n.Historizing, nil)
	with(ns0.FlagExecutable, n.Class == ua.NodeClassMethod && n.Executable, nil)
	with(ns0.FlagUserExecutable, n.Class == ua.NodeClassMethod && n.UserExecutable, nil)

	b = binary.AppendUvarint(b, uint64(n.ID.Numeric()-last))
	b = binary.AppendUvarint(b, uint64(n.Class))
	b = binary.AppendUvarint(b, flags)
	b = e.str(b, n.BrowseName.Name)
	b = append(b, data...)
	b = binary.AppendUvarint(b, uint64(len(references)))
	for _, r := range references {
		t := uint64(r.Type.Numeric()) << 1
		if r.Forward {
			t |= 1
		}
		b = binary.AppendUvarint(b, t)
		b = signed(b, int64(r.Target.Numeric())-int64(n.ID.Numeric()))
	}
	return b, nil
}
