package uaserver

import (
	"sync"

	"github.com/actua/actua/ua"
)

// maxResponse is the size of a response in bytes that server and client both take.
func (k *call) maxResponse() int {
	limit := k.server.cfg.Limits.MaxMessageSize
	if m := k.conn.channel.MaxResponse(); m > 0 {
		limit = min(limit, m)
	}
	if m := k.session.maxResponse; m > 0 {
		limit = min(limit, m)
	}
	return limit
}

// valueSize is the least that a value takes in a message, in bytes, and close to what it does take. It is
// there to refuse a response before it is built, when a short request asks for large values again and
// again. Whatever a client can make long must be counted.
func valueSize(v ua.Variant) int {
	n := v.Len()
	switch v.Type() {
	case ua.TypeBoolean, ua.TypeSByte, ua.TypeByte:
		return n
	case ua.TypeInt16, ua.TypeUInt16:
		return 2 * n
	case ua.TypeInt32, ua.TypeUInt32, ua.TypeFloat, ua.TypeStatusCode:
		return 4 * n
	case ua.TypeInt64, ua.TypeUInt64, ua.TypeDouble, ua.TypeDateTime:
		return 8 * n
	case ua.TypeGUID:
		return 16 * n
	case ua.TypeString:
		return lengths(v, func(s string) int { return 4 + len(s) })
	case ua.TypeXMLElement:
		return lengths(v, func(x ua.XMLElement) int { return 4 + len(x) })
	case ua.TypeByteString:
		return lengths(v, func(b []byte) int { return 4 + len(b) })
	case ua.TypeNodeID:
		return lengths(v, func(id ua.NodeID) int { return 2 + textSize(id) })
	case ua.TypeExpandedNodeID:
		return lengths(v, func(id ua.ExpandedNodeID) int { return 2 + textSize(id.NodeID) + len(id.NamespaceURI) })
	case ua.TypeQualifiedName:
		return lengths(v, func(q ua.QualifiedName) int { return 6 + len(q.Name) })
	case ua.TypeLocalizedText:
		return lengths(v, func(t ua.LocalizedText) int { return 1 + len(t.Locale) + len(t.Text) })
	case ua.TypeExtensionObject:
		return lengths(v, structureSize)
	case ua.TypeDataValue:
		return lengths(v, func(d ua.DataValue) int { return 1 + valueSize(d.Value) })
	case ua.TypeVariant:
		return lengths(v, func(e ua.Variant) int { return 1 + valueSize(e) })
	case ua.TypeDiagnosticInfo:
		return lengths(v, diagnosticSize)
	}
	return n
}

// structureSize is valueSize of a structure. One that is decoded is encoded to find out, since only
// its own type knows what is in it.
func structureSize(e ua.ExtensionObject) int {
	if e.Value == nil {
		return 3 + len(e.Body)
	}
	b := scratch.Get().(*[]byte)
	*b = e.Value.AppendBinary((*b)[:0])
	n := 3 + len(*b)
	if cap(*b) <= reusable {
		scratch.Put(b)
	}
	return n
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}

func diagnosticSize(d ua.DiagnosticInfo) int {
	n := 1 + len(d.AdditionalInfo)
	if d.Inner != nil {
		n += diagnosticSize(*d.Inner)
	}
	return n
}

// lengths adds up the lengths of a scalar or of the elements of an array.
func lengths[T ua.Element](v ua.Variant, length func(T) int) (n int) {
	if !v.IsArray() {
		x, _ := ua.As[T](v)
		return length(x)
	}
	list, _ := ua.ArrayOf[T](v)
	for i := range list {
		n += length(list[i])
	}
	return n
}
