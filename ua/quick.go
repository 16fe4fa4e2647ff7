package ua

import (
	"encoding/binary"

	"github.com/actua/actua/ua/uabin"
)

// Nearly all items of Read and Write name a node by number and a whole attribute. What follows does
// such an item with one look at the length; everything else takes the long way.

// quickItem reads a numeric NodeId, an AttributeId and an IndexRange that is null, which begin the items
// of Read, Write and CreateMonitoredItems. It returns how many bytes that were, 0 if they are something
// else.
func quickItem(b []byte) (id NodeID, attribute uint32, n int) {
	if len(b) < 15 { // the longest form
		return id, 0, 0
	}
	switch b[0] {
	case nodeIDFourByte:
		id = NodeID{namespace: uint16(b[1]), numeric: uint32(binary.LittleEndian.Uint16(b[2:]))}
		n = 4
	case nodeIDNumeric:
		id = NodeID{namespace: binary.LittleEndian.Uint16(b[1:]), numeric: binary.LittleEndian.Uint32(b[3:])}
		n = 7
	default:
		return id, 0, 0
	}
	rest := binary.LittleEndian.Uint64(b[n:])
	if rest>>32 != 0xFFFFFFFF {
		return id, 0, 0
	}
	return id, uint32(rest), n + 8
}

// decodeQuick reports whether it could read the item.
func (x *ReadValueID) decodeQuick(r *uabin.Reader) bool {
	b := r.Rest()
	id, attribute, n := quickItem(b)
	// A DataEncoding that is null: namespace 0, no name.
	if n == 0 || len(b) < n+6 || binary.LittleEndian.Uint16(b[n:]) != 0 || binary.LittleEndian.Uint32(b[n+2:]) != 0xFFFFFFFF {
		return false
	}
	x.NodeID = id
	x.AttributeID = attribute
	x.IndexRange = uabin.NullString
	x.DataEncoding.NamespaceIndex, x.DataEncoding.Name = 0, uabin.NullString
	r.Skip(n + 6)
	return true
}

// decodeQuick reports whether it could read the item.
func (x *WriteValue) decodeQuick(r *uabin.Reader) bool {
	id, attribute, n := quickItem(r.Rest())
	if n == 0 {
		return false
	}
	x.NodeID = id
	x.AttributeID = attribute
	x.IndexRange = uabin.NullString
	r.Skip(n)
	x.Value.DecodeBinary(r)
	return true
}
