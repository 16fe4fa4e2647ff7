package serial

import (
	"fmt"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// DaemonMsgCreate asks the daemon of a node (/remote) to make an actor (serializer 3).
type DaemonMsgCreate struct {
	Props      Props
	Deploy     Deploy
	Path       string     // whole path that the actor is to have
	Supervisor *actor.Ref // its parent, on the node that asks
}

// Props is the recipe of an actor as it travels: its class, and what its constructor takes.
type Props struct {
	Class  string // "Shop.Clerk, Shop"
	Args   []any
	Deploy Deploy
}

// Deploy says where and how an actor is to be made. Parts that are nil are not given.
type Deploy struct {
	Path         string
	Config       any // a [Config]
	RouterConfig any // a [RoundRobinPool] or another one
	Scope        any // a [RemoteScope] or [LocalScope]
	Dispatcher   string
	// StashCapacity 0 and below is no bound; it is sent as -1, as Akka.NET does.
	StashCapacity int32
}

// daemonSerializer is serializer 3.
type daemonSerializer struct{}

func (daemonSerializer) ID() int32           { return daemonID }
func (daemonSerializer) Manifest(any) string { return "" }

func (daemonSerializer) Append(dst []byte, msg any, x *Exchange) ([]byte, error) {
	m, ok := msg.(DaemonMsgCreate)
	if !ok {
		return dst, wrongType(daemonID, msg)
	}
	if m.Supervisor == nil || m.Path == "" || m.Props.Class == "" {
		return dst, badBytes(daemonID, "DaemonMsgCreate", "class, path and supervisor are needed", nil)
	}
	d := akkapb.DaemonMsgCreateData{
		HasProps: true, HasDeploy: true, HasSupervisor: true,
		Path: []byte(m.Path), Supervisor: x.appendRef(nil, m.Supervisor),
	}
	d.Props.HasDeploy = true
	d.Props.Class = []byte(m.Props.Class)
	var err error
	if d.Props.Deploy, err = x.deployData(&m.Props.Deploy); err != nil {
		return dst, err
	}
	if d.Deploy, err = x.deployData(&m.Deploy); err != nil {
		return dst, err
	}
	for i, a := range m.Props.Args {
		p, err := x.payload(a)
		if err != nil {
			return dst, badBytes(daemonID, "DaemonMsgCreate", fmt.Sprintf("argument %d", i+1), err)
		}
		d.Props.Args = append(d.Props.Args, p.Message)
		d.Props.Manifests = append(d.Props.Manifests, p.Manifest)
		d.Props.SerializerIDs = append(d.Props.SerializerIDs, p.SerializerID)
		d.Props.HasManifest = append(d.Props.HasManifest, len(p.Manifest) > 0)
	}
	return d.Append(dst), nil
}

// payload is a message as a Payload of its own.
func (x *Exchange) payload(msg any) (akkapb.Payload, error) {
	if p, ok := msg.(Payload); ok {
		return akkapb.Payload{Message: p.Message, SerializerID: p.SerializerID, Manifest: []byte(p.Manifest)}, nil
	}
	if err := x.enter(); err != nil {
		return akkapb.Payload{}, err
	}
	defer x.leave()
	b, id, manifest, err := x.Registry.Append(nil, msg, x)
	return akkapb.Payload{Message: b, SerializerID: id, Manifest: []byte(manifest)}, err
}

func (x *Exchange) deployData(d *Deploy) (akkapb.DeployData, error) {
	out := akkapb.DeployData{Path: []byte(d.Path), Dispatcher: []byte(d.Dispatcher), StashCapacity: d.StashCapacity}
	if out.StashCapacity <= 0 {
		out.StashCapacity = -1
	}
	config := d.Config
	if config == nil {
		config = Config("") // .NET sends the empty one
	}
	for _, part := range []struct {
		msg any
		to  *akkapb.Payload
	}{{config, &out.Config}, {d.RouterConfig, &out.RouterConfig}, {d.Scope, &out.Scope}} {
		if part.msg == nil {
			continue
		}
		var err error
		if *part.to, err = x.payload(part.msg); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (daemonSerializer) Decode(b, _ []byte, x *Exchange) (any, error) {
	var d akkapb.DaemonMsgCreateData
	if err := d.Decode(b); err != nil {
		return nil, badBytes(daemonID, "DaemonMsgCreate", "malformed", err)
	}
	p := &d.Props
	if n := len(p.Args); len(p.Manifests) != n || len(p.SerializerIDs) != n || len(p.HasManifest) != n {
		return nil, badBytes(daemonID, "DaemonMsgCreate", "the lists of the arguments are not equally long", nil)
	}
	if len(p.Class) == 0 || len(d.Path) == 0 || len(d.Supervisor) == 0 {
		return nil, badBytes(daemonID, "DaemonMsgCreate", "class, path or supervisor is missing", nil)
	}
	m := DaemonMsgCreate{Path: string(d.Path), Props: Props{Class: string(p.Class)}}
	var err error
	if m.Supervisor, err = x.ref(d.Supervisor); err != nil {
		return nil, err
	}
	if m.Props.Deploy, err = x.deploy(&p.Deploy); err != nil {
		return nil, err
	}
	if m.Deploy, err = x.deploy(&d.Deploy); err != nil {
		return nil, err
	}
	for i := range p.Args {
		a := akkapb.Payload{Message: p.Args[i], SerializerID: p.SerializerIDs[i]}
		if p.HasManifest[i] {
			a.Manifest = p.Manifests[i]
		}
		v, err := x.decodePayload(&a)
		if err != nil {
			return nil, badBytes(daemonID, "DaemonMsgCreate", fmt.Sprintf("argument %d", i+1), err)
		}
		m.Props.Args = append(m.Props.Args, v)
	}
	return m, nil
}

func (x *Exchange) deploy(d *akkapb.DeployData) (Deploy, error) {
	out := Deploy{Path: string(d.Path), Dispatcher: string(d.Dispatcher), StashCapacity: d.StashCapacity}
	if out.StashCapacity <= 0 {
		out.StashCapacity = -1
	}
	for _, part := range []struct {
		p  *akkapb.Payload
		to *any
	}{{&d.Config, &out.Config}, {&d.RouterConfig, &out.RouterConfig}, {&d.Scope, &out.Scope}} {
		if part.p.SerializerID <= 0 {
			continue
		}
		var err error
		if *part.to, err = x.decodePayload(part.p); err != nil {
			return out, err
		}
	}
	return out, nil
}
