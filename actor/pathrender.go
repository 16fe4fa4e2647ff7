package actor

import (
	"unsafe"

	"github.com/actua/actua/internal/digits"
)

// The forms of a path (Akka.NET 1.5, ActorPath.ToString and its kin). Each has an Append twin that writes the same
// bytes behind dst and allocates only where dst has to grow.

// maxUID is the longest that '#' and an int32 get, in bytes.
const maxUID = 1 + 11

// String is the whole path without its uid: "akka.tcp://system@host:2552/user/a". A root ends with '/'.
func (p Path) String() string { return p.text(p.addr.text, 0) }

// StringWithoutAddress is the path in its system, without its uid: "/user/a", or "/" for a root.
func (p Path) StringWithoutAddress() string {
	if p.IsZero() {
		return ""
	}
	return p.text("", 0)
}

// StringWithAddress is String with the address a, unless the path's own one has a host and a port: that is
// where the actor is, then, whoever renders its path. The zero Address changes nothing.
func (p Path) StringWithAddress(a Address) string { return p.text(p.addressOr(a), 0) }

// StringWithUID is String and, if there is one, '#' and the uid.
func (p Path) StringWithUID() string { return p.text(p.addr.text, p.uid) }

// SerializationFormat is the form inside messages to the same system: own address, and the uid if there is one.
func (p Path) SerializationFormat() string { return p.text(p.addr.text, p.uid) }

// SerializationFormatWithAddress is the form inside messages to other systems: as StringWithAddress, and the uid if
// there is one. a is the address under which the system is reached by those.
func (p Path) SerializationFormatWithAddress(a Address) string { return p.text(p.addressOr(a), p.uid) }

// Append appends what String returns.
func (p Path) Append(dst []byte) []byte { return p.append(dst, p.addr.text, 0) }

// AppendWithoutAddress appends what StringWithoutAddress returns.
func (p Path) AppendWithoutAddress(dst []byte) []byte {
	if p.IsZero() {
		return dst
	}
	return p.append(dst, "", 0)
}

// AppendWithAddress appends what StringWithAddress returns.
func (p Path) AppendWithAddress(dst []byte, a Address) []byte {
	return p.append(dst, p.addressOr(a), 0)
}

// AppendWithUID appends what StringWithUID returns.
func (p Path) AppendWithUID(dst []byte) []byte { return p.append(dst, p.addr.text, p.uid) }

// AppendSerializationFormat appends what SerializationFormat returns.
func (p Path) AppendSerializationFormat(dst []byte) []byte { return p.append(dst, p.addr.text, p.uid) }

// AppendSerializationFormatWithAddress appends what SerializationFormatWithAddress returns.
func (p Path) AppendSerializationFormatWithAddress(dst []byte, a Address) []byte {
	return p.append(dst, p.addressOr(a), p.uid)
}

// addressOr is the text of the address to render the path with.
func (p *Path) addressOr(a Address) string {
	if p.addr.complete() || a.text == "" || p.addr.text == "" || p.isIgnore() {
		return p.addr.text
	}
	return a.text
}

// append writes address, names and uid in one pass.
func (p *Path) append(dst []byte, address string, uid int32) []byte {
	if p.addr.text == "" {
		return dst
	}
	dst = append(dst, address...)
	dst = append(dst, '/')
	if p.body != "" {
		dst = append(dst, p.body...)
		dst = append(dst, '/')
	}
	dst = append(dst, p.leaf...)
	if uid != 0 {
		dst = appendUID(dst, uid)
	}
	return dst
}

// text is what append writes, as a string of its own.
func (p *Path) text(address string, uid int32) string {
	const small = 128
	if len(address)+len(p.body)+len(p.leaf)+2+maxUID <= small {
		var buf [small]byte
		return string(p.append(buf[:0], address, uid))
	}
	return ownedString(p.append(make([]byte, 0, len(address)+len(p.body)+len(p.leaf)+2+maxUID), address, uid))
}

// appendUID appends '#' and the uid: what follows the prefix of a reference's path on the wire.
func appendUID(dst []byte, uid int32) []byte {
	return digits.Append(append(dst, '#'), int64(uid))
}

// ownedString is b as a string, without a copy: the caller made b and forgets it.
func ownedString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
