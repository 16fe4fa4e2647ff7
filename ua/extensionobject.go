package ua

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/actua/actua/ua/uabin"
)

// Structure is a value of a structured data type (Part 3, 8.49): all generated structures, and those
// that users write or generate.
type Structure interface {
	// AppendBinary appends the binary form of all fields (Part 6, 5.2.6).
	AppendBinary(b []byte) []byte
	// DecodeBinary overwrites all fields with what it reads; errors stick to the Reader.
	DecodeBinary(r *uabin.Reader)
	// DataTypeID is the node of the data type, with a namespace URI unless in namespace 0.
	DataTypeID() ExpandedNodeID
	// BinaryID is the node of its encoding "Default Binary", with a namespace URI unless in
	// namespace 0.
	BinaryID() ExpandedNodeID
}

// BodyEncoding tells the form of an ExtensionObject's Body (Part 6, 5.2.2.15).
type BodyEncoding uint8

// The forms of a body.
const (
	BodyNone BodyEncoding = iota
	BodyBinary
	BodyXML
)

// ExtensionObject carries a structure together with its type (Part 6, 5.2.2.15). Value holds the
// structure when its type is known. Otherwise TypeID, Encoding and Body hold what was received, and
// are written back unchanged.
type ExtensionObject struct {
	TypeID   NodeID // of the encoding; null: taken from Value, whose type must be in namespace 0
	Value    Structure
	Body     []byte
	Encoding BodyEncoding
}

// NewExtensionObject wraps a structure of namespace 0; TypeTable.Wrap does it for all namespaces.
func NewExtensionObject(s Structure) ExtensionObject {
	if s == nil {
		return ExtensionObject{}
	}
	return ExtensionObject{TypeID: s.BinaryID().NodeID, Value: s}
}

// IsNull reports whether there is neither a type nor a body.
func (e *ExtensionObject) IsNull() bool {
	return e.Value == nil && e.Encoding == BodyNone && e.TypeID.IsNull()
}

// AppendBinary appends the type, the form and the body (Part 6, 5.2.2.15).
func (e *ExtensionObject) AppendBinary(b []byte) []byte {
	if e.Value == nil {
		b = append(e.TypeID.AppendBinary(b), byte(e.Encoding))
		if e.Encoding != BodyNone {
			b = uabin.AppendBytes(b, e.Body)
		}
		return b
	}
	id := e.TypeID
	if id.IsNull() {
		id = e.Value.BinaryID().NodeID
	}
	b = append(id.AppendBinary(b), byte(BodyBinary), 0, 0, 0, 0)
	at := len(b)
	b = e.Value.AppendBinary(b)
	binary.LittleEndian.PutUint32(b[at-4:], uint32(len(b)-at))
	return b
}

// DecodeBinary reads an ExtensionObject. A structure that was in Value before is used again when the
// type is the same. A body that cannot be decoded as its type says is kept as it is, so that it does
// no harm to the rest of the message.
func (e *ExtensionObject) DecodeBinary(r *uabin.Reader) {
	old, oldID := e.Value, e.TypeID
	body := e.Body
	*e = ExtensionObject{}
	if !r.Enter() {
		return
	}
	defer r.Leave()
	e.TypeID.DecodeBinary(r)
	e.Encoding = BodyEncoding(r.Uint8())
	switch e.Encoding {
	case BodyNone:
		return
	case BodyBinary:
		if old == nil || oldID != e.TypeID {
			old = newValue(r, e.TypeID)
		}
		if old != nil && e.decodeValue(r, old) {
			return
		}
	case BodyXML:
	default:
		r.Fail("ExtensionObject with an unknown encoding")
		return
	}
	e.Body = r.Bytes(body)
}

// decodeValue tries to decode the body into s and leaves the Reader before it when it cannot.
func (e *ExtensionObject) decodeValue(r *uabin.Reader, s Structure) bool {
	at := r.Offset()
	n := int(r.Int32())
	if n < 0 || !r.OK() {
		r.Rewind(at)
		return false
	}
	w := r.Narrow(n)
	s.DecodeBinary(r)
	if r.Widen(w) != nil {
		r.Rewind(at)
		return false
	}
	e.Value, e.Encoding = s, BodyNone
	return true
}

// newValue makes a structure of the type whose binary encoding has this id; nil if nobody knows it.
func newValue(r *uabin.Reader, id NodeID) Structure {
	if id.namespace == 0 && id.kind == IDTypeNumeric {
		return newStructure(id.numeric)
	}
	if t, ok := r.Types.(*TypeTable); ok && t != nil {
		return t.New(id)
	}
	return nil
}

// TypeTable knows the structures of namespaces other than 0. Types are registered by namespace URI;
// SetNamespaces binds them to the indexes of a server. It is safe for use by several goroutines.
type TypeTable struct {
	mu         sync.RWMutex
	makers     []*maker
	namespaces []string
	byBinary   map[NodeID]*maker // by the binary encoding
	byDataType map[NodeID]*maker
}

type maker struct {
	id       ExpandedNodeID // of the binary encoding
	dataType ExpandedNodeID
	new      func() Structure
	bound    NodeID // id with the index that its namespace has now
}

// Register adds a type; new returns a new value of it. A type with a numeric index but no URI keeps
// that index whatever the namespaces are. Of two types with the same id the later one holds.
func (t *TypeTable) Register(new func() Structure) {
	s := new()
	m := &maker{id: s.BinaryID(), dataType: s.DataTypeID(), new: new}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.makers = append(t.makers, m)
	if t.byBinary == nil {
		t.byBinary, t.byDataType = map[NodeID]*maker{}, map[NodeID]*maker{}
	}
	t.bind(m)
}

// SetNamespaces tells the NamespaceArray of the server that values come from or go to.
func (t *TypeTable) SetNamespaces(uris []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.namespaces = append([]string(nil), uris...)
	t.byBinary, t.byDataType = map[NodeID]*maker{}, map[NodeID]*maker{}
	for _, m := range t.makers {
		t.bind(m)
	}
}

func (t *TypeTable) bind(m *maker) {
	id, ok := resolve(m.id, t.namespaces)
	if !ok {
		return
	}
	m.bound = id
	t.byBinary[id] = m
	if id, ok := resolve(m.dataType, t.namespaces); ok {
		t.byDataType[id] = m
	}
}

func resolve(id ExpandedNodeID, namespaces []string) (NodeID, bool) {
	if id.NamespaceURI == "" {
		return id.NodeID, true
	}
	i := slices.Index(namespaces, id.NamespaceURI)
	if i < 0 || i > math.MaxUint16 {
		return NodeID{}, false
	}
	return id.NodeID.WithNamespace(uint16(i)), true
}

// New makes a value of the type whose binary encoding has this id; nil if it is not registered.
func (t *TypeTable) New(binaryID NodeID) Structure {
	t.mu.RLock()
	m := t.byBinary[binaryID]
	t.mu.RUnlock()
	if m == nil {
		return nil
	}
	return m.new()
}

// find makes a value of the type that has this node as its data type or as its binary encoding.
func (t *TypeTable) find(id ExpandedNodeID) (s Structure, binaryID NodeID, ok bool) {
	t.mu.RLock()
	local, ok := resolve(id, t.namespaces)
	m := t.byDataType[local]
	if m == nil {
		m = t.byBinary[local]
	}
	if m != nil {
		binaryID = m.bound
	}
	t.mu.RUnlock()
	if !ok || m == nil {
		return nil, NodeID{}, false
	}
	return m.new(), binaryID, true
}

// Wrap returns an ExtensionObject for a structure of any namespace. It returns
// BadDataTypeIdUnknown when the namespace URI of its type is not among the namespaces.
func (t *TypeTable) Wrap(s Structure) (ExtensionObject, error) {
	t.mu.RLock()
	namespaces := t.namespaces // never changed, only replaced
	t.mu.RUnlock()
	id, ok := resolve(s.BinaryID(), namespaces)
	if !ok {
		return ExtensionObject{}, fmt.Errorf("%w: the server has no namespace %q", BadDataTypeIdUnknown, s.BinaryID().NamespaceURI)
	}
	return ExtensionObject{TypeID: id, Value: s}, nil
}
