package actor

import (
	"iter"
	"math"
	"strings"
)

// ParsePath reads an absolute path: an address as in ParseAddress, "/", elements separated by "/", and perhaps
// "#" and a uid, a decimal int32. Protocol and host become lower case, system and elements keep theirs; empty elements
// are skipped; which characters an element has is not checked (see ValidName). A '#' anywhere but before the uid is an
// error, and so is a uid that is no int32.
//
// It allocates nothing if s is in canonical form, and once if something has to be rewritten (upper case in
// protocol or host, leading zeros of the port, an empty element between others). In the first case the path
// keeps s alive, whole: give it a copy of what is a small part of something large. The error is a *PathError.
func ParsePath(s string) (Path, error) {
	if len(s) > maxPath {
		return Path{}, pathFailure(pathKind, s, maxPath, "longer than 2 GiB")
	}
	h, reason := scanAddress(s)
	if reason != "" {
		return Path{}, pathFailure(pathKind, s, h.end, reason)
	}
	t, reason := scanNames(s, h.end)
	if reason != "" {
		return Path{}, pathFailure(pathKind, s, t.end, reason)
	}
	p := Path{uid: t.uid}
	if !h.rewrite && !t.collapse {
		p.addr = h.address(s[:h.end])
		p.body, p.leaf = s[t.start:max(t.leaf-1, t.start)], s[t.leaf:t.end]
		return p, nil
	}
	// One buffer for the address and the names behind it.
	buf := make([]byte, 0, t.end)
	buf = h.append(buf, s)
	n := len(buf)
	buf = t.append(buf, s)
	text := ownedString(buf)
	p.addr = h.address(text[:n])
	p.setElements(text[n:])
	return p, nil
}

// namesScan is what scanNames found: the first byte of the first name, that of the last one, and the end of that.
type namesScan struct {
	start, leaf, end int // with a reason, end is where the trouble is
	uid              int32
	collapse         bool // there are empty elements between others
}

// scanNames reads elements and uid from position i to the end of s. A reason that is not empty says what is
// wrong at t.end.
func scanNames(s string, i int) (t namesScan, reason string) {
	for i < len(s) && s[i] == '/' {
		i++
	}
	t.start, t.leaf, t.end = i, i, i
	for ; i < len(s); i++ {
		switch s[i] {
		case '/':
			continue
		case '#':
			t.uid, t.end, reason = scanUID(s, i+1, t.end)
			return t, reason
		}
		// i is in a name: that of t.leaf if it goes on, else a new one.
		if i != t.end {
			t.collapse = t.collapse || i != t.end+1
			t.leaf = i
		}
		t.end = i + 1
	}
	return t, ""
}

// append appends the names joined by single slashes.
func (t *namesScan) append(dst []byte, s string) []byte {
	for i := t.start; i < t.end; i++ {
		if s[i] != '/' || s[i-1] != '/' {
			dst = append(dst, s[i])
		}
	}
	return dst
}

// scanUID reads the uid from position i to the end of s; it returns end unless there is trouble.
func scanUID(s string, i, end int) (uid int32, at int, reason string) {
	digits := i
	if i < len(s) && s[i] == '-' {
		digits++
	}
	if digits == len(s) {
		return 0, i, "the uid after '#' is missing"
	}
	v := int64(0)
	for j := digits; j < len(s); j++ {
		c := s[j] - '0'
		if c > 9 {
			if strings.IndexByte(s[j:], '/') >= 0 {
				return 0, i - 1, "a '#' before the last element"
			}
			return 0, j, "the uid after '#' is not a decimal number"
		}
		if v = v*10 + int64(c); v > math.MaxInt32+1 {
			return 0, i, "the uid after '#' does not fit into 32 bits"
		}
	}
	if digits > i {
		v = -v
	}
	if v > math.MaxInt32 {
		return 0, i, "the uid after '#' does not fit into 32 bits"
	}
	return int32(v), end, ""
}

// RelativePath is a path without an address, as a selection takes it: names from where one is ("a/b", "../x") or
// from the root of the system ("/user/a"), and perhaps a uid. The zero RelativePath leads nowhere else.
type RelativePath struct {
	names string // joined by '/'
	uid   int32
	root  bool
}

// ParseRelative reads a relative path: "user/a", "../x", "/user/a#7". Empty elements are skipped. An absolute one
// is an error, as is a uid that is no int32. It allocates nothing, or once if there are empty elements between
// others. The error is a *PathError (Akka.NET 1.5, RelativeActorPath).
func ParseRelative(s string) (RelativePath, error) {
	if len(s) > maxPath {
		return RelativePath{}, pathFailure(relativeKind, s, maxPath, "longer than 2 GiB")
	}
	t, reason := scanNames(s, 0)
	if reason != "" {
		return RelativePath{}, pathFailure(relativeKind, s, t.end, reason)
	}
	if i := strings.Index(s, ":/"); i >= 0 && i < strings.IndexByte(s, '/') {
		return RelativePath{}, pathFailure(relativeKind, s, i, "this is the start of an absolute path")
	}
	r := RelativePath{uid: t.uid, root: strings.HasPrefix(s, "/"), names: s[t.start:t.end]}
	if t.collapse {
		r.names = ownedString(t.append(make([]byte, 0, t.end-t.start), s))
	}
	return r, nil
}

// FromRoot reports whether the path starts at the root of the system: it was written with a slash first.
func (r RelativePath) FromRoot() bool { return r.root }

// UID is the uid of the last element, 0 if none was written.
func (r RelativePath) UID() int32 { return r.uid }

// All goes through the elements, without allocating; ".." is one of them.
func (r RelativePath) All() iter.Seq[string] {
	return Path{body: r.names}.All()
}

// Elements are the names in order, ".." among them, without the uid.
func (r RelativePath) Elements() []string {
	var out []string
	for name := range r.All() {
		out = append(out, name)
	}
	return out
}

// ElementsWithUID are the names in order, the last one followed by '#' and the uid if there is one.
func (r RelativePath) ElementsWithUID() []string {
	out := r.Elements()
	if n := len(out); n > 0 && r.uid != 0 {
		out[n-1] = string(appendUID([]byte(out[n-1]), r.uid))
	}
	return out
}

// String is the text of the path: empty elements gone, the uid behind it if there is one.
func (r RelativePath) String() string { return string(r.Append(nil)) }

// Append appends what String returns. It allocates only where dst has to grow.
func (r RelativePath) Append(dst []byte) []byte {
	if r.root {
		dst = append(dst, '/')
	}
	dst = append(dst, r.names...)
	if r.uid != 0 {
		dst = appendUID(dst, r.uid)
	}
	return dst
}

// Resolve follows r from p, or from the root of p if r starts there. ".." is one up, and the root where there is
// nothing above. The uid is that of r: p's own one names another actor, unless r is empty.
func (p Path) Resolve(r RelativePath) Path {
	if p.IsZero() || r == (RelativePath{}) {
		return p
	}
	if r.root {
		p = p.Root()
	}
	names := make([]byte, 0, len(p.body)+len(p.leaf)+2+len(r.names))
	names = p.appendNames(names)
	for name := range r.All() {
		if name != ".." {
			names = appendName(names, name)
			continue
		}
		i := len(names) - 1
		for i >= 0 && names[i] != '/' {
			i--
		}
		names = names[:max(i, 0)]
	}
	p.setElements(ownedString(names))
	p.uid = r.uid
	return p
}
