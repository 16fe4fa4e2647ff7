package actor

// How a Ref is written. The whole form that goes into messages never changes for one Ref, so it is kept from its
// first use on.

// address is where the actor is: the system's own address, or that of another node.
func (r *Ref) address() Address {
	if t, ok := r.t.(interface{ address() Address }); ok {
		return t.address()
	}
	return r.sys.addr
}

// Path is the path of the actor, with its uid.
func (r *Ref) Path() Path { return makePath(r.address(), r.elements(), r.uid) }

// String is the path with its uid, in brackets: [akka://system/user/a#123] (Akka.NET: ActorRef.ToString).
func (r *Ref) String() string {
	if r == nil {
		return "[no sender]"
	}
	b := append(make([]byte, 0, 64), '[')
	return string(append(r.AppendWire(b), ']'))
}

// AppendWire appends the form that stands for the actor inside messages: address, path and uid, akka://system/user/a#123
// (Akka.NET: Serialization.SerializedActorPath without a transport's address).
func (r *Ref) AppendWire(dst []byte) []byte {
	if w := r.wire.Load(); w != nil {
		return append(dst, *w...)
	}
	return append(dst, r.renderWire()...)
}

// renderWire makes the wire form and keeps it.
func (r *Ref) renderWire() []byte {
	w := r.Path().AppendSerializationFormat(nil)
	r.wire.Store(&w)
	return w
}
