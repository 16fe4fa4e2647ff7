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
	return string(append(r.Path().AppendSerializationFormat(b), ']'))
}

// AppendWire appends the form that stands for the actor inside messages: address, path and uid, with the address by
// which other nodes reach the system: akka.tcp://system@host:port/user/a#123, akka://system/user/a#123 where there
// is none (Akka.NET: Serialization.SerializedActorPath).
func (r *Ref) AppendWire(dst []byte) []byte { return append(dst, r.wireForm().Path...) }

// wireForm is how the Ref is written in messages. It is made once.
func (r *Ref) wireForm() *Wire {
	if w := r.wire.Load(); w != nil {
		return w
	}
	p := r.Path()
	if p.addr == r.sys.addr {
		p.addr = r.sys.wireAddr
	}
	w := &Wire{Path: p.AppendSerializationFormat(nil)}
	if f := r.sys.wireFields; f != nil {
		w.Sender, w.Recipient = f(w.Path)
	}
	r.wire.Store(w)
	return w
}
