package akkapb

import "slices"

// AddressData is the address of an actor system. In a handshake the protocol stands without "akka.".
type AddressData struct {
	System   []byte
	Hostname []byte
	Port     uint32
	Protocol []byte
}

// Size is the number of bytes that Append adds.
func (m *AddressData) Size() int {
	return sizeBytes(len(m.System)) + sizeBytes(len(m.Hostname)) + sizeUint(uint64(m.Port)) + sizeBytes(len(m.Protocol))
}

// Append adds the message to dst.
func (m *AddressData) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendBytes(dst, 1, m.System)
	dst = appendBytes(dst, 2, m.Hostname)
	dst = appendUint(dst, 3, uint64(m.Port))
	return appendBytes(dst, 4, m.Protocol)
}

// Decode reads the message from b, see the package comment.
func (m *AddressData) Decode(b []byte) error {
	*m = AddressData{}
	return m.merge(b)
}

func (m *AddressData) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.System = f.body
		case 2<<3 | blob:
			m.Hostname = f.body
		case 3<<3 | vint:
			m.Port = uint32(f.num)
		case 4<<3 | blob:
			m.Protocol = f.body
		}
	}
	return f.err("AddressData")
}

// ActorRefData is the path of an actor, in its serialization form. An actor reference as a message
// (manifest AR of serializer 16) is one.
type ActorRefData struct {
	Path []byte
}

// Size is the number of bytes that Append adds.
func (m *ActorRefData) Size() int { return sizeBytes(len(m.Path)) }

// Append adds the message to dst.
func (m *ActorRefData) Append(dst []byte) []byte {
	return appendBytes(slices.Grow(dst, m.Size()), 1, m.Path)
}

// Decode reads the message from b, see the package comment.
func (m *ActorRefData) Decode(b []byte) error {
	*m = ActorRefData{}
	return m.merge(b)
}

func (m *ActorRefData) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|blob {
			m.Path = f.body
		}
	}
	return f.err("ActorRefData")
}

// RemoteScope (manifest RS of serializer 16) says on which node an actor is to be created. Here the
// protocol is the whole "akka.tcp".
type RemoteScope struct {
	Node    AddressData
	HasNode bool
}

// Size is the number of bytes that Append adds.
func (m *RemoteScope) Size() int {
	if !m.HasNode {
		return 0
	}
	return sizeMessage(m.Node.Size())
}

// Append adds the message to dst.
func (m *RemoteScope) Append(dst []byte) []byte {
	if !m.HasNode {
		return dst
	}
	dst = slices.Grow(dst, m.Size())
	return m.Node.Append(appendHead(dst, 1, m.Node.Size()))
}

// Decode reads the message from b, see the package comment.
func (m *RemoteScope) Decode(b []byte) error {
	*m = RemoteScope{}
	f := fields{rest: b}
	for f.next() {
		if f.tag == 1<<3|blob {
			m.HasNode = true
			if err := m.Node.merge(f.body); err != nil {
				return err
			}
		}
	}
	return f.err("RemoteScope")
}
