package ua

import (
	"github.com/actua/actua/ua/uabin"
)

// GUID is a 16-byte identifier, in the order of its text form (Part 6, 5.1.3).
type GUID [16]byte

// AppendBinary appends the 16 bytes; the first three groups go least significant byte first
// (Part 6, 5.2.2.6).
func (g GUID) AppendBinary(b []byte) []byte {
	return append(b, g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6],
		g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15])
}

// DecodeBinary reads the 16 bytes.
func (g *GUID) DecodeBinary(r *uabin.Reader) {
	s := r.Borrow(16)
	if s == nil {
		*g = GUID{}
		return
	}
	*g = GUID{s[3], s[2], s[1], s[0], s[5], s[4], s[7], s[6],
		s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15]}
}

// IDType is the kind of a NodeID's identifier (Part 3, 8.2.3).
type IDType uint8

// The kinds of identifiers.
const (
	IDTypeNumeric IDType = iota
	IDTypeString
	IDTypeGUID
	IDTypeOpaque
)

// NodeID identifies a node within a server (Part 3, 8.2). It is comparable and may be a map key. The
// zero value is the null NodeId.
type NodeID struct {
	namespace uint16
	kind      IDType
	numeric   uint32
	text      string // identifier of the other kinds; 16 bytes for a GUID
}

// NewNodeID returns a NodeID with a numeric identifier.
func NewNodeID(namespace uint16, id uint32) NodeID { return NodeID{namespace: namespace, numeric: id} }

// NewStringNodeID returns a NodeID with a string identifier.
func NewStringNodeID(namespace uint16, id string) NodeID {
	return NodeID{namespace: namespace, kind: IDTypeString, text: id}
}

// NewGUIDNodeID returns a NodeID with a GUID as identifier.
func NewGUIDNodeID(namespace uint16, id GUID) NodeID {
	return NodeID{namespace: namespace, kind: IDTypeGUID, text: string(id[:])}
}

// NewOpaqueNodeID returns a NodeID with bytes as identifier.
func NewOpaqueNodeID(namespace uint16, id []byte) NodeID {
	return NodeID{namespace: namespace, kind: IDTypeOpaque, text: string(id)}
}

// ID returns the NodeID of a node of namespace 0; package uaid has the numbers by name.
func ID(id uint32) NodeID { return NodeID{numeric: id} }

// Namespace is the index into the server's NamespaceArray.
func (n NodeID) Namespace() uint16 { return n.namespace }

// WithNamespace is the same identifier under another namespace index.
func (n NodeID) WithNamespace(index uint16) NodeID {
	n.namespace = index
	return n
}

// Type is the kind of the identifier.
func (n NodeID) Type() IDType { return n.kind }

// Numeric is the numeric identifier, 0 for other kinds.
func (n NodeID) Numeric() uint32 { return n.numeric }

// Text is the string identifier, "" for other kinds.
func (n NodeID) Text() string {
	if n.kind == IDTypeString {
		return n.text
	}
	return ""
}

// GUID is the GUID identifier, zero for other kinds.
func (n NodeID) GUID() (g GUID) {
	if n.kind == IDTypeGUID {
		copy(g[:], n.text)
	}
	return g
}

// Opaque is a copy of the bytes identifier, nil for other kinds.
func (n NodeID) Opaque() []byte {
	if n.kind == IDTypeOpaque {
		return []byte(n.text)
	}
	return nil
}

// IsNull reports whether n is a null NodeId: namespace 0 with an identifier that is 0, empty or all
// zero (Part 3, 8.2.4).
func (n NodeID) IsNull() bool {
	if n.namespace != 0 {
		return false
	}
	switch n.kind {
	case IDTypeNumeric:
		return n.numeric == 0
	case IDTypeGUID:
		return n.GUID() == GUID{}
	}
	return n.text == ""
}

// Encoding bytes of a NodeId and flags of an ExpandedNodeId (Part 6, 5.2.2.9 and 5.2.2.10).
const (
	nodeIDTwoByte    = 0
	nodeIDFourByte   = 1
	nodeIDNumeric    = 2
	nodeIDString     = 3
	nodeIDGUID       = 4
	nodeIDByteString = 5

	hasNamespaceURI = 0x80
	hasServerIndex  = 0x40
)

// AppendBinary appends the shortest binary form (Part 6, 5.2.2.9).
func (n NodeID) AppendBinary(b []byte) []byte { return n.append(b, 0) }

func (n NodeID) append(b []byte, flags byte) []byte {
	switch n.kind {
	case IDTypeString:
		b = append(b, nodeIDString|flags, byte(n.namespace), byte(n.namespace>>8))
		return uabin.AppendString(b, n.text)
	case IDTypeGUID:
		b = append(b, nodeIDGUID|flags, byte(n.namespace), byte(n.namespace>>8))
		return n.GUID().AppendBinary(b)
	case IDTypeOpaque:
		b = append(b, nodeIDByteString|flags, byte(n.namespace), byte(n.namespace>>8))
		return uabin.AppendString(b, n.text)
	}
	switch {
	case n.namespace == 0 && n.numeric <= 0xFF:
		return append(b, nodeIDTwoByte|flags, byte(n.numeric))
	case n.namespace <= 0xFF && n.numeric <= 0xFFFF:
		return append(b, nodeIDFourByte|flags, byte(n.namespace), byte(n.numeric), byte(n.numeric>>8))
	}
	b = append(b, nodeIDNumeric|flags, byte(n.namespace), byte(n.namespace>>8))
	return uabin.AppendUint32(b, n.numeric)
}

// DecodeBinary reads a NodeId. Flags of an ExpandedNodeId are an error here.
func (n *NodeID) DecodeBinary(r *uabin.Reader) {
	if flags := n.decode(r); flags != 0 {
		r.Fail("NodeId with the flags of an ExpandedNodeId")
		*n = NodeID{}
	}
}

func (n *NodeID) decode(r *uabin.Reader) (flags byte) {
	*n = NodeID{}
	code := r.Uint8()
	flags = code & (hasNamespaceURI | hasServerIndex)
	switch code &^ flags {
	case nodeIDTwoByte:
		n.numeric = uint32(r.Uint8())
	case nodeIDFourByte:
		n.namespace = uint16(r.Uint8())
		n.numeric = uint32(r.Uint16())
	case nodeIDNumeric:
		n.namespace = r.Uint16()
		n.numeric = r.Uint32()
	case nodeIDString:
		n.namespace = r.Uint16()
		n.kind, n.text = IDTypeString, r.String()
	case nodeIDGUID:
		n.namespace = r.Uint16()
		n.kind, n.text = IDTypeGUID, guidText(r)
	case nodeIDByteString:
		n.namespace = r.Uint16()
		n.kind, n.text = IDTypeOpaque, r.String()
	default:
		r.Fail("unknown form of a NodeId")
	}
	return flags
}

func guidText(r *uabin.Reader) string {
	var g GUID
	g.DecodeBinary(r)
	if r.Intern != nil {
		return r.Intern.String(g[:])
	}
	return string(g[:])
}

// ExpandedNodeID identifies a node of this or another server, with its namespace as index or URI
// (Part 3, 8.2; Part 6, 5.2.2.10). It is comparable.
type ExpandedNodeID struct {
	NodeID       NodeID
	NamespaceURI string // in place of the index in NodeID, which is then ignored; "" for none
	ServerIndex  uint32 // index into the ServerArray; 0 is the server itself
}

// Expanded is the same node as an ExpandedNodeID.
func (n NodeID) Expanded() ExpandedNodeID { return ExpandedNodeID{NodeID: n} }

// IsNull reports whether the identifier is null.
func (e ExpandedNodeID) IsNull() bool { return e.NamespaceURI == "" && e.NodeID.IsNull() }

// IsLocal reports whether the node is one of the server itself, given by index.
func (e ExpandedNodeID) IsLocal() bool { return e.NamespaceURI == "" && e.ServerIndex == 0 }

// AppendBinary appends the binary form (Part 6, 5.2.2.10).
func (e ExpandedNodeID) AppendBinary(b []byte) []byte {
	var flags byte
	if e.NamespaceURI != "" || uabin.IsEmptyString(e.NamespaceURI) {
		flags |= hasNamespaceURI
	}
	if e.ServerIndex != 0 {
		flags |= hasServerIndex
	}
	b = e.NodeID.append(b, flags)
	if flags&hasNamespaceURI != 0 {
		b = uabin.AppendString(b, e.NamespaceURI)
	}
	if flags&hasServerIndex != 0 {
		b = uabin.AppendUint32(b, e.ServerIndex)
	}
	return b
}

// DecodeBinary reads an ExpandedNodeId.
func (e *ExpandedNodeID) DecodeBinary(r *uabin.Reader) {
	*e = ExpandedNodeID{}
	flags := e.NodeID.decode(r)
	if flags&hasNamespaceURI != 0 {
		e.NamespaceURI = r.String()
	}
	if flags&hasServerIndex != 0 {
		e.ServerIndex = r.Uint32()
	}
}
