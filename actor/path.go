package actor

import (
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// Path names an actor by where it is in the tree of its system: an address, the names from the root downwards,
// and, where it is known, the uid that tells one incarnation of an actor from the next of the same name
// (Akka.NET 1.5, ActorPath). It is a value of 64 bytes that never changes. The zero Path is no path: it
// renders as "", and everything made of it is the zero Path.
//
// Equal, Compare and Hash ignore the uid; == does not, so a Path is also a key of a map that tells incarnations apart.
type Path struct {
	addr Address
	// Names above the last one, joined by '/', and the last one; both are empty for a root. A leaf apart makes
	// the child of a root, and its child, without copying anything.
	body, leaf string
	uid        int32
}

// RootPath is the path of the root of the system at a.
func RootPath(a Address) Path { return Path{addr: a} }

// makePath is the path of an actor whose elements ("/user/a/b"; "/" or "" for the root) are known to be
// well formed. It allocates nothing.
func makePath(a Address, elements string, uid int32) Path {
	if len(elements) <= 1 {
		return Path{addr: a, uid: uid}
	}
	p := Path{addr: a, uid: uid}
	p.setElements(elements[1:])
	return p
}

// setElements takes names joined by '/', without one before them.
func (p *Path) setElements(names string) {
	i := len(names) - 1
	for i >= 0 && names[i] != '/' {
		i--
	}
	p.body, p.leaf = names[:max(i, 0)], names[i+1:]
}

// IsZero reports whether p is no path.
func (p Path) IsZero() bool { return p.addr.text == "" }

// IsRoot reports whether p has no elements.
func (p Path) IsRoot() bool { return p.leaf == "" && !p.IsZero() }

// Address is where the system of p is, as far as the path knows.
func (p Path) Address() Address { return p.addr }

// UID is the number of the actor's incarnation, 0 if it is not known.
func (p Path) UID() int32 { return p.uid }

// Name is the last element, "/" for a root, as in Akka.NET.
func (p Path) Name() string {
	if p.leaf == "" && !p.IsZero() {
		return "/"
	}
	return p.leaf
}

// WithUID is p with another uid; 0 is none.
func (p Path) WithUID(uid int32) Path {
	if !p.IsZero() {
		p.uid = uid
	}
	return p
}

// WithAddress is p at another address. The path of the reference that ignores everything,
// "akka://local/ignore", stays what it is: it means the same everywhere.
func (p Path) WithAddress(a Address) Path {
	switch {
	case p.IsZero(), p.isIgnore():
		return p
	case a.IsZero():
		return Path{}
	}
	p.addr = a
	return p
}

func (p *Path) isIgnore() bool {
	return p.leaf == "ignore" && p.body == "" && p.addr.text == "akka://local"
}

// Child is the path of the child with that name, without a uid. The name is one element, whatever it holds:
// '/' and '#' are written as %2F and %23, so that nobody leaves a subtree by a name and every path parses
// back. An empty name gives p without its uid. It copies at most once: the names above.
func (p Path) Child(name string) Path {
	// Small enough to be inlined: a Path that travels through registers or a result is written in words and then
	// copied in wider pieces, which makes the processor wait.
	p.body, p.leaf = p.child(name)
	p.uid = 0
	return p
}

// child is body and leaf of the child.
func (p *Path) child(name string) (body, leaf string) {
	for i := 0; i < len(name); i++ {
		if name[i] == '/' || name[i] == '#' {
			name = escapeName(name)
			break
		}
	}
	switch {
	case name == "" || p.addr.text == "":
		return p.body, p.leaf
	case p.leaf == "":
		return "", name
	case p.body == "":
		return p.leaf, name
	}
	above := make([]byte, 0, len(p.body)+1+len(p.leaf))
	return ownedString(p.appendNames(above)), name
}

func escapeName(name string) string {
	return strings.NewReplacer("/", "%2F", "#", "%23").Replace(name)
}

// Join is the path of the child of the child and so on, each name as in Child; empty names are left out. Without a
// name it is p without its uid.
func (p Path) Join(names ...string) Path {
	p.uid = 0
	if p.IsZero() {
		return p
	}
	special := func(name string) bool { return strings.ContainsAny(name, "/#") }
	if slices.ContainsFunc(names, special) {
		names = slices.Clone(names)
		for i := range names {
			names[i] = escapeName(names[i])
		}
	}
	size := 0
	for _, name := range names {
		size += len(name) + 1
	}
	all := make([]byte, 0, len(p.body)+len(p.leaf)+1+size)
	all = p.appendNames(all)
	for _, name := range names {
		all = appendName(all, name)
	}
	p.setElements(ownedString(all))
	return p
}

// appendNames appends the elements joined by '/', nothing for a root.
func (p *Path) appendNames(dst []byte) []byte {
	if p.body != "" {
		dst = append(append(dst, p.body...), '/')
	}
	return append(dst, p.leaf...)
}

// appendName appends an element to names.
func appendName(names []byte, name string) []byte {
	if name == "" {
		return names
	}
	if len(names) > 0 {
		names = append(names, '/')
	}
	return append(names, name...)
}

// Parent is the path one element shorter, without a uid; that of a root is the root.
func (p Path) Parent() Path {
	q := Path{addr: p.addr}
	q.setElements(p.body)
	return q
}

// Root is the path of the root of the same system.
func (p Path) Root() Path { return Path{addr: p.addr} }

// Depth is the number of elements, 0 for a root.
func (p Path) Depth() int {
	switch {
	case p.leaf == "":
		return 0
	case p.body == "":
		return 1
	}
	return strings.Count(p.body, "/") + 2
}

// All goes through the elements from the root downwards, without allocating.
func (p Path) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := p.body; rest != ""; {
			var name string
			name, rest, _ = strings.Cut(rest, "/")
			if !yield(name) {
				return
			}
		}
		if p.leaf != "" {
			yield(p.leaf)
		}
	}
}

// Elements are the names from the root downwards; a root has none.
func (p Path) Elements() []string {
	out := make([]string, 0, p.Depth())
	for name := range p.All() {
		out = append(out, name)
	}
	return out
}

// ElementsWithUID are the names from the root downwards, the last one followed by '#' and the uid if there is
// one; a root has none (Akka.NET regression 2151).
func (p Path) ElementsWithUID() []string {
	out := p.Elements()
	if n := len(out); n > 0 && p.uid != 0 {
		out[n-1] = string(appendUID(append(make([]byte, 0, len(p.leaf)+maxUID), p.leaf...), p.uid))
	}
	return out
}

// Equal reports whether both paths have the same address and the same names. The uid is ignored; references
// compare it too.
func (p Path) Equal(q Path) bool {
	// The leaf differs most often, the address hardly ever.
	return sameString(p.leaf, q.leaf) && sameString(p.body, q.body) && sameString(p.addr.text, q.addr.text)
}

// sameString is ==, without a call where both strings are the same memory, as the addresses of most paths are and
// the empty parts of short ones.
func sameString(a, b string) bool {
	return len(a) == len(b) && (unsafe.StringData(a) == unsafe.StringData(b) || a == b)
}

// Compare orders paths by their names from the last one upwards, byte by byte; where one path ends first, the longer
// one comes first. Roots are ordered by their text. The uid is ignored: 0 means Equal (Akka.NET 1.5, ActorPath.CompareTo).
func (p Path) Compare(q Path) int {
	for p.leaf != "" && q.leaf != "" {
		if c := strings.Compare(p.leaf, q.leaf); c != 0 {
			return c
		}
		if p.body == q.body {
			return strings.Compare(p.addr.text, q.addr.text)
		}
		p.setElements(p.body)
		q.setElements(q.body)
	}
	switch {
	case p.leaf != "":
		return -1
	case q.leaf != "":
		return 1
	}
	return strings.Compare(p.addr.text, q.addr.text)
}

// pathSeed makes the hash of a path unknown to whoever chooses names, as that of .NET's strings is.
var pathSeed = maphash.MakeSeed()

// Hash is equal for equal paths, so the uid has no part in it: 17, then times 23 and exclusive or for the address
// and for every name from the last one upwards (Akka.NET 1.5, ActorPath.GetHashCode). It differs from process to process.
func (p Path) Hash() uint64 {
	h := uint64(17)*23 ^ maphash.String(pathSeed, p.addr.text)
	for p.leaf != "" {
		h = h*23 ^ maphash.String(pathSeed, p.leaf)
		p.setElements(p.body)
	}
	return h
}

// maxPath bounds the text of a path, in bytes: 2 GiB.
const maxPath = math.MaxInt32
