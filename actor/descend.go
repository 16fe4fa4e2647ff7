package actor

import "strings"

// Descendant is the actor below another one of this system: names is the way from there, "a/b", and uid 0 any incarnation of
// the last. For one that is not there it returns nil.
func (p *Port) Descendant(of *Ref, names string, uid int32) *Ref {
	for at := of; ; {
		name, rest, more := strings.Cut(names, "/")
		want := uid
		if more {
			want = 0
		}
		if at = at.child(name, want); at == nil || !more {
			return at
		}
		names = rest
	}
}
