package uaclient

import (
	"context"
	"errors"
	"sync"

	"github.com/actua/actua/ua"
	"github.com/actua/actua/ua/uaid"
)

// Bounds of what a server's type descriptions may make the client load.
const (
	maxTypesLoaded = 1000
	maxTypeDepth   = 50
)

// LoadTypes looks through values for structures whose types are not known here, reads the descriptions
// of those types from the server (Part 3, 8.48) and registers them, so that the next read returns them
// as *ua.DynamicStructure. It returns how many types it added. A type that the server does not
// describe, or describes in a way that cannot be followed, is left as it is: such values keep their
// bodies, and can be written back unchanged.
func (c *Client) LoadTypes(ctx context.Context, values ...ua.DataValue) (int, error) {
	unknown := map[ua.NodeID]bool{}
	for i := range values {
		findUnknown(values[i].Value, unknown)
	}
	added := 0
	for encoding := range unknown {
		dataType, err := c.dataTypeOf(ctx, encoding)
		if err == nil {
			_, err = c.LoadDataType(ctx, dataType)
		}
		switch {
		case err == nil:
			added++
		case !isAnswer(err):
			return added, err
		}
	}
	return added, nil
}

// Types are the structures of other namespaces that this client knows: Config.Types, or what LoadTypes
// found.
func (c *Client) Types() *ua.TypeTable { return c.settings.Types }

// isAnswer reports whether an error is about one node and not about the connection.
func isAnswer(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Node != ""
}

func findUnknown(v ua.Variant, found map[ua.NodeID]bool) {
	switch v.Type() {
	case ua.TypeExtensionObject:
		list, _ := ua.ArrayOf[ua.ExtensionObject](v)
		if e, ok := ua.As[ua.ExtensionObject](v); ok {
			list = []ua.ExtensionObject{e}
		}
		for i := range list {
			if e := &list[i]; e.Value == nil && e.Encoding == ua.BodyBinary && len(found) < maxTypesLoaded {
				found[e.TypeID] = true
			}
		}
	case ua.TypeVariant:
		list, _ := ua.ArrayOf[ua.Variant](v)
		for i := range list {
			if list[i].Type() != ua.TypeVariant {
				findUnknown(list[i], found)
			}
		}
	}
}

// dataTypeOf is the data type that an encoding belongs to.
func (c *Client) dataTypeOf(ctx context.Context, encoding ua.NodeID) (ua.NodeID, error) {
	for ref, err := range c.References(ctx, encoding, BrowseOptions{
		Direction: ua.BrowseDirectionInverse, ReferenceType: ua.ID(uaid.HasEncoding),
	}) {
		if err != nil {
			return ua.NodeID{}, err
		}
		if ref.NodeID.IsLocal() {
			return ref.NodeID.NodeID, nil
		}
	}
	return ua.NodeID{}, nodeError("LoadTypes", encoding, reason(ua.BadDataTypeIdUnknown, "the server does not say which data type it encodes"))
}

// LoadDataType reads the description of a structured data type, registers the type in Config.Types and
// returns the description. Types of namespace 0 and types loaded before cost nothing. An enumeration
// or a type without a description gives BadNotSupported.
func (c *Client) LoadDataType(ctx context.Context, dataType ua.NodeID) (*ua.StructureInfo, error) {
	uris, err := c.NamespaceArray(ctx)
	if err != nil {
		return nil, err
	}
	l := loader{c: c, uris: uris, mine: map[ua.NodeID]*ua.StructureInfo{}}
	info, err := l.load(ctx, dataType, 0)
	if err != nil {
		return nil, err
	}
	for id, info := range l.mine {
		if info.Endless() {
			return nil, nodeError("LoadDataType", id, reason(ua.BadDataTypeIdUnknown, "it contains itself without end"))
		}
	}
	for id, info := range l.mine {
		if c.types.add(id, info) && info.New != nil {
			c.settings.Types.Register(info.New)
		}
	}
	return info, nil
}

// loader follows a type's fields to all types that it needs.
type loader struct {
	c    *Client
	uris []string
	mine map[ua.NodeID]*ua.StructureInfo
}

func (l *loader) load(ctx context.Context, id ua.NodeID, depth int) (*ua.StructureInfo, error) {
	if id.Namespace() == 0 && id.Type() == ua.IDTypeNumeric {
		if info := ua.StructureOf(id.Numeric()); info != nil {
			return info, nil
		}
	}
	if info := l.c.types.find(id); info != nil {
		return info, nil
	}
	if depth >= maxTypeDepth || len(l.mine) >= maxTypesLoaded {
		return nil, nodeError("LoadDataType", id, reason(ua.BadEncodingLimitsExceeded, "it needs too many other types"))
	}
	read, err := l.c.ReadAttributes(ctx, []ua.ReadValueID{
		{NodeID: id, AttributeID: uint32(ua.AttributeDataTypeDefinition)}, {NodeID: id, AttributeID: uint32(ua.AttributeBrowseName)},
		{NodeID: id, AttributeID: uint32(ua.AttributeIsAbstract)},
	})
	if err != nil {
		return nil, err
	}
	if err := read[0].Status.Err(); err != nil {
		return nil, nodeError("LoadDataType", id, err)
	}
	def, ok := read[0].Value.Structure().(*ua.StructureDefinition)
	if !ok {
		return nil, nodeError("LoadDataType", id, reason(ua.BadNotSupported, "the server does not describe it as a structure"))
	}
	info := &ua.StructureInfo{Name: read[1].Value.Str(), Kind: def.StructureType.Kind(), DataTypeID: l.expanded(id), BinaryID: l.expanded(def.DefaultEncodingID)}
	if !read[2].Value.Bool() {
		info.New = func() ua.Structure { return ua.NewDynamicStructure(info) }
	}
	l.mine[id] = info
	fields := make([]ua.Field, len(def.Fields))
	for i := range def.Fields {
		if fields[i], err = l.field(ctx, def, i, depth); err != nil {
			return nil, nodeError("LoadDataType", id, err)
		}
	}
	info.Fields = fields
	return info, nil
}

// expanded names the namespace by its URI, so that the type stays right when a server changes its
// indexes; the index is kept for the time being.
func (l *loader) expanded(id ua.NodeID) ua.ExpandedNodeID {
	e := id.Expanded()
	if n := int(id.Namespace()); n > 0 && n < len(l.uris) {
		e.NamespaceURI = l.uris[n]
	}
	return e
}

func (l *loader) field(ctx context.Context, def *ua.StructureDefinition, i, depth int) (ua.Field, error) {
	d := &def.Fields[i]
	f, subtypes := def.Field(i)
	if d.ValueRank != 1 && d.ValueRank != -1 {
		return f, reason(ua.BadNotSupported, "field %s is an array of more than one dimension", d.Name)
	}
	var err error
	if f.Type, err = l.c.BuiltInType(ctx, d.DataType); err != nil {
		return f, err
	}
	if f.Type != ua.TypeExtensionObject || subtypes || d.DataType == ua.ID(uaid.Structure) {
		if n := d.DataType; n.Namespace() == 0 && f.Type == ua.TypeInt32 {
			f.Enum = ua.EnumOf(n.Numeric())
		}
		return f, nil
	}
	s := l.mine[d.DataType]
	if s == nil {
		if s, err = l.load(ctx, d.DataType, depth+1); err != nil {
			return f, err
		}
	}
	if s.New != nil { // of an abstract type each value names its own
		f.Struct = s
	}
	return f, nil
}

// knownTypes are the types that a session has loaded.
type knownTypes struct {
	mu   sync.Mutex
	list map[ua.NodeID]*ua.StructureInfo
}

func (k *knownTypes) find(id ua.NodeID) *ua.StructureInfo {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list[id]
}

// add reports whether the type is new.
func (k *knownTypes) add(id ua.NodeID, info *ua.StructureInfo) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list == nil {
		k.list = map[ua.NodeID]*ua.StructureInfo{}
	}
	if k.list[id] != nil {
		return false
	}
	k.list[id] = info
	return true
}
