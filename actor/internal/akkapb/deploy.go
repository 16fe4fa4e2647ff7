package akkapb

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// DeployData says where and how an actor is to be created. Of its three parts, config, router config and
// scope, each is there only if its serializer id is above 0.
type DeployData struct {
	Path         []byte
	Config       Payload // fields 2, 8 and 9
	RouterConfig Payload // fields 3, 10 and 11
	Scope        Payload // fields 4, 6 and 7
	Dispatcher   []byte
	// StashCapacity as on the wire: 0 and less mean unbounded, .NET writes -1.
	StashCapacity int32
}

// Size is the number of bytes that Append adds.
func (m *DeployData) Size() int {
	return sizeBytes(len(m.Path)) + m.Config.Size() + m.RouterConfig.Size() + m.Scope.Size() +
		sizeBytes(len(m.Dispatcher)) + sizeInt(m.StashCapacity)
}

// Append adds the message to dst.
func (m *DeployData) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	dst = appendBytes(dst, 1, m.Path)
	dst = appendBytes(dst, 2, m.Config.Message)
	dst = appendBytes(dst, 3, m.RouterConfig.Message)
	dst = appendBytes(dst, 4, m.Scope.Message)
	dst = appendBytes(dst, 5, m.Dispatcher)
	dst = appendInt(dst, 6, m.Scope.SerializerID)
	dst = appendBytes(dst, 7, m.Scope.Manifest)
	dst = appendInt(dst, 8, m.Config.SerializerID)
	dst = appendBytes(dst, 9, m.Config.Manifest)
	dst = appendInt(dst, 10, m.RouterConfig.SerializerID)
	dst = appendBytes(dst, 11, m.RouterConfig.Manifest)
	return appendInt(dst, 12, m.StashCapacity)
}

// Decode reads the message from b, see the package comment.
func (m *DeployData) Decode(b []byte) error {
	*m = DeployData{}
	return m.merge(b)
}

func (m *DeployData) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 1<<3 | blob:
			m.Path = f.body
		case 2<<3 | blob:
			m.Config.Message = f.body
		case 3<<3 | blob:
			m.RouterConfig.Message = f.body
		case 4<<3 | blob:
			m.Scope.Message = f.body
		case 5<<3 | blob:
			m.Dispatcher = f.body
		case 6<<3 | vint:
			m.Scope.SerializerID = int32(f.num)
		case 7<<3 | blob:
			m.Scope.Manifest = f.body
		case 8<<3 | vint:
			m.Config.SerializerID = int32(f.num)
		case 9<<3 | blob:
			m.Config.Manifest = f.body
		case 10<<3 | vint:
			m.RouterConfig.SerializerID = int32(f.num)
		case 11<<3 | blob:
			m.RouterConfig.Manifest = f.body
		case 12<<3 | vint:
			m.StashCapacity = int32(f.num)
		}
	}
	return f.err("DeployData")
}

// PropsData is a class and the arguments of its constructor. The four lists run in parallel.
type PropsData struct {
	Deploy        DeployData
	Class         []byte
	Args          [][]byte
	Manifests     [][]byte // empty ones included
	SerializerIDs []int32
	HasManifest   []bool
	HasDeploy     bool
}

// Size is the number of bytes that Append adds.
func (m *PropsData) Size() int {
	n := sizeBytes(len(m.Class))
	if m.HasDeploy {
		n += sizeMessage(m.Deploy.Size())
	}
	for _, a := range m.Args {
		n += sizeMessage(len(a))
	}
	for _, a := range m.Manifests {
		n += sizeMessage(len(a))
	}
	return n + sizeBytes(sizePacked(m.SerializerIDs)) + sizeBytes(len(m.HasManifest))
}

func sizePacked(ids []int32) (n int) {
	for _, id := range ids {
		n += protowire.SizeVarint(uint64(int64(id)))
	}
	return n
}

// Append adds the message to dst.
func (m *PropsData) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	if m.HasDeploy {
		dst = m.Deploy.Append(appendHead(dst, 2, m.Deploy.Size()))
	}
	dst = appendBytes(dst, 3, m.Class)
	for _, a := range m.Args {
		dst = append(appendHead(dst, 4, len(a)), a...)
	}
	for _, a := range m.Manifests {
		dst = append(appendHead(dst, 5, len(a)), a...)
	}
	if n := sizePacked(m.SerializerIDs); n != 0 {
		dst = appendHead(dst, 6, n)
		for _, id := range m.SerializerIDs {
			dst = protowire.AppendVarint(dst, uint64(int64(id)))
		}
	}
	if len(m.HasManifest) != 0 {
		dst = appendHead(dst, 7, len(m.HasManifest))
		for _, has := range m.HasManifest {
			dst = append(dst, byte(protowire.EncodeBool(has)))
		}
	}
	return dst
}

// Decode reads the message from b, see the package comment.
func (m *PropsData) Decode(b []byte) error {
	m.reset()
	return m.merge(b)
}

func (m *PropsData) reset() {
	*m = PropsData{Args: m.Args[:0], Manifests: m.Manifests[:0], SerializerIDs: m.SerializerIDs[:0], HasManifest: m.HasManifest[:0]}
}

func (m *PropsData) merge(b []byte) error {
	f := fields{rest: b}
	for f.next() {
		switch f.tag {
		case 2<<3 | blob:
			m.HasDeploy = true
			if err := m.Deploy.merge(f.body); err != nil {
				return err
			}
		case 3<<3 | blob:
			m.Class = f.body
		case 4<<3 | blob:
			m.Args = append(m.Args, f.body)
		case 5<<3 | blob:
			m.Manifests = append(m.Manifests, f.body)
		case 6<<3 | vint:
			m.SerializerIDs = append(m.SerializerIDs, int32(f.num))
		case 7<<3 | vint:
			m.HasManifest = append(m.HasManifest, f.num != 0)
		case 6<<3 | blob, 7<<3 | blob:
			for p := f.body; len(p) > 0; {
				v, n := uvarint(p)
				if n < 0 {
					f.fail(badVarint)
					break
				}
				p = p[n:]
				if f.tag == 6<<3|blob {
					m.SerializerIDs = append(m.SerializerIDs, int32(v))
				} else {
					m.HasManifest = append(m.HasManifest, v != 0)
				}
			}
		}
	}
	return f.err("PropsData")
}

// DaemonMsgCreateData (serializer 3) asks a node to create an actor.
type DaemonMsgCreateData struct {
	Props         PropsData
	Deploy        DeployData
	Path          []byte // whole path of the new actor
	Supervisor    []byte // path
	HasProps      bool
	HasDeploy     bool
	HasSupervisor bool
}

// Size is the number of bytes that Append adds.
func (m *DaemonMsgCreateData) Size() int {
	n := sizeBytes(len(m.Path)) + sizeRef(m.HasSupervisor, m.Supervisor)
	if m.HasProps {
		n += sizeMessage(m.Props.Size())
	}
	if m.HasDeploy {
		n += sizeMessage(m.Deploy.Size())
	}
	return n
}

// Append adds the message to dst.
func (m *DaemonMsgCreateData) Append(dst []byte) []byte {
	dst = slices.Grow(dst, m.Size())
	if m.HasProps {
		dst = m.Props.Append(appendHead(dst, 1, m.Props.Size()))
	}
	if m.HasDeploy {
		dst = m.Deploy.Append(appendHead(dst, 2, m.Deploy.Size()))
	}
	dst = appendBytes(dst, 3, m.Path)
	return appendRef(dst, 4, m.HasSupervisor, m.Supervisor)
}

// Decode reads the message from b, see the package comment.
func (m *DaemonMsgCreateData) Decode(b []byte) error {
	m.Props.reset()
	*m = DaemonMsgCreateData{Props: m.Props}
	f := fields{rest: b}
	for f.next() {
		var err error
		switch f.tag {
		case 1<<3 | blob:
			m.HasProps = true
			err = m.Props.merge(f.body)
		case 2<<3 | blob:
			m.HasDeploy = true
			err = m.Deploy.merge(f.body)
		case 3<<3 | blob:
			m.Path = f.body
		case 4<<3 | blob:
			m.HasSupervisor = true
			err = mergeRef(&m.Supervisor, f.body)
		}
		if err != nil {
			return err
		}
	}
	return f.err("DaemonMsgCreateData")
}
