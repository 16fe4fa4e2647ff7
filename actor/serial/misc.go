package serial

import (
	"errors"
	"math"
	"reflect"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// Heartbeat asks the remote-watcher of another node whether it lives.
type Heartbeat struct{}

// HeartbeatRsp is its answer, with the UID of its system.
type HeartbeatRsp struct{ UID int32 }

var miscTypes = []reflect.Type{
	reflect.TypeFor[actor.Identify](), reflect.TypeFor[actor.ActorIdentity](), reflect.TypeFor[*actor.Ref](), reflect.TypeFor[Nobody](),
	reflect.TypeFor[actor.PoisonPill](), reflect.TypeFor[actor.Kill](), reflect.TypeFor[Heartbeat](), reflect.TypeFor[HeartbeatRsp](),
	reflect.TypeFor[actor.StatusSuccess](), reflect.TypeFor[actor.StatusFailure](), reflect.TypeFor[RemoteScope](), reflect.TypeFor[Config](),
	reflect.TypeFor[FromConfig](), reflect.TypeFor[DefaultResizer](), reflect.TypeFor[RoundRobinPool](), reflect.TypeFor[BroadcastPool](),
	reflect.TypeFor[RandomPool](), reflect.TypeFor[ConsistentHashingPool](), reflect.TypeFor[ScatterGatherPool](),
	reflect.TypeFor[TailChoppingPool](), reflect.TypeFor[RemoteRouterConfig](),
}

// miscSerializer is serializer 16: what Akka.NET's own actors send each other. LocalScope it reads only: .NET sends that
// as JSON.
type miscSerializer struct{}

func (*miscSerializer) ID() int32 { return miscID }

func (*miscSerializer) Manifest(msg any) string {
	switch msg.(type) {
	case actor.Identify:
		return "ID"
	case actor.ActorIdentity:
		return "AID"
	case *actor.Ref, Nobody:
		return "AR"
	case actor.PoisonPill:
		return "PP"
	case actor.Kill:
		return "K"
	case Heartbeat:
		return "RWHB"
	case HeartbeatRsp:
		return "RWHR"
	case actor.StatusSuccess:
		return "STS"
	case actor.StatusFailure:
		return "STF"
	case RemoteScope:
		return "RS"
	case Config:
		return "CF"
	case FromConfig:
		return "FC"
	case DefaultResizer:
		return "DR"
	case RoundRobinPool:
		return "RORRP"
	case BroadcastPool:
		return "ROBP"
	case RandomPool:
		return "RORP"
	case ConsistentHashingPool:
		return "ROCHP"
	case ScatterGatherPool:
		return "ROSGP"
	case TailChoppingPool:
		return "ROTCP"
	case RemoteRouterConfig:
		return "RORRC"
	}
	return ""
}

// nobodyPath stands for nobody where a reference is a message.
const nobodyPath = "nobody"

func (*miscSerializer) Append(dst []byte, msg any, x *Exchange) ([]byte, error) {
	switch m := msg.(type) {
	case actor.PoisonPill, actor.Kill, Heartbeat:
		return dst, nil
	case actor.Identify:
		if m.MessageID == nil {
			return dst, nil
		}
		return x.appendPayload(dst, 1, m.MessageID)
	case actor.ActorIdentity:
		return x.appendIdentity(dst, m)
	case *actor.Ref:
		if m == nil || m == x.Nobody {
			return (&akkapb.ActorRefData{Path: []byte(nobodyPath)}).Append(dst), nil
		}
		start := len(dst)
		return akkapb.EndField(x.appendRef(akkapb.BeginField(dst, 1, 64), m), start, 64), nil
	case Nobody:
		return (&akkapb.ActorRefData{Path: []byte(nobodyPath)}).Append(dst), nil
	case HeartbeatRsp:
		return (&akkapb.RemoteWatcherHeartbeatResponse{UID: uint64(int64(m.UID))}).Append(dst), nil
	case actor.StatusSuccess:
		return x.appendPayload(dst, 1, m.Status)
	case actor.StatusFailure:
		return x.appendFailure(dst, m)
	case RemoteScope:
		return (&akkapb.RemoteScope{Node: addressData(m.Node), HasNode: true}).Append(dst), nil
	case Config:
		return append(dst, m...), nil
	}
	return x.appendRouter(dst, msg)
}

func (x *Exchange) appendRouter(dst []byte, msg any) ([]byte, error) {
	switch m := msg.(type) {
	case FromConfig:
		return x.appendFromConfig(dst, m)
	case DefaultResizer:
		d := akkapb.DefaultResizer(m)
		return d.Append(dst), nil
	case RoundRobinPool:
		return x.appendPool(dst, &m.Pool)
	case BroadcastPool:
		return x.appendPool(dst, &m.Pool)
	case RandomPool:
		return x.appendPool(dst, &m.Pool)
	case ConsistentHashingPool:
		return x.appendPool(dst, &m.Pool)
	case ScatterGatherPool:
		return x.appendTimedPool(dst, &m.Pool, m.Within, nil)
	case TailChoppingPool:
		return x.appendTimedPool(dst, &m.Pool, m.Within, &m.Interval)
	case RemoteRouterConfig:
		return x.appendRemoteRouter(dst, m)
	}
	return dst, wrongType(miscID, msg)
}

func (x *Exchange) appendIdentity(dst []byte, m actor.ActorIdentity) ([]byte, error) {
	dst, err := x.appendPayload(dst, 1, m.MessageID)
	if err != nil || m.Subject == nil || m.Subject == x.Nobody {
		return dst, err
	}
	start := len(dst)
	return akkapb.EndField(x.appendRef(akkapb.BeginField(dst, 2, 64), m.Subject), start, 64), nil
}

func (x *Exchange) appendFailure(dst []byte, m actor.StatusFailure) ([]byte, error) {
	cause, err := exceptionData(m.Cause)
	if err != nil {
		return dst, err
	}
	// The cause alone, then the state behind it.
	d := akkapb.StatusFailure{Cause: cause, HasCause: true}
	return x.appendPayload(d.Append(dst), 2, m.State)
}

func (*miscSerializer) Decode(b, manifest []byte, x *Exchange) (any, error) {
	var msg any
	var err error
	switch string(manifest) {
	case "PP":
		return actor.PoisonPill{}, nil
	case "K":
		return actor.Kill{}, nil
	case "RWHB":
		return Heartbeat{}, nil
	case "LS":
		return LocalScope{}, nil
	case "CF":
		return Config(b), nil
	case "ID", "AID", "AR", "RWHR", "STS", "STF", "RS":
		msg, err = x.decodeMisc(manifest, b)
	case "FC", "DR", "RORRP", "ROBP", "RORP", "ROCHP", "ROSGP", "ROTCP", "RORRC":
		msg, err = x.decodeRouter(manifest, b)
	default:
		return nil, &ManifestError{miscID, string(manifest)}
	}
	if err != nil {
		return nil, badBytes(miscID, string(manifest), "cannot be read", err)
	}
	return msg, nil
}

func (x *Exchange) decodeMisc(manifest, b []byte) (any, error) {
	switch string(manifest) {
	case "ID":
		var d akkapb.Identify
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		id, err := x.decodeOrKeep(&d.MessageID)
		return actor.Identify{MessageID: id}, err
	case "AID":
		return x.decodeIdentity(b)
	case "AR":
		return x.decodeRef(b)
	case "RWHR":
		var d akkapb.RemoteWatcherHeartbeatResponse
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		if d.UID > math.MaxInt32 && int64(d.UID) != int64(int32(d.UID)) {
			return nil, errors.New("the UID does not fit into 32 bits")
		}
		return HeartbeatRsp{int32(d.UID)}, nil
	case "STS":
		var d akkapb.StatusSuccess
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		status, err := x.decodePayload(&d.Status)
		return actor.StatusSuccess{Status: status}, err
	case "STF":
		return x.decodeFailure(b)
	}
	var d akkapb.RemoteScope
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	if !d.HasNode {
		return nil, errors.New("no address")
	}
	a, err := address(&d.Node)
	return RemoteScope{a}, err
}

func (x *Exchange) decodeIdentity(b []byte) (any, error) {
	var d akkapb.ActorIdentity
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	id, err := x.decodeOrKeep(&d.CorrelationID)
	if err != nil {
		return nil, err
	}
	subject, err := x.ref(d.Path)
	return actor.ActorIdentity{MessageID: id, Subject: subject}, err
}

func (x *Exchange) decodeRef(b []byte) (any, error) {
	var d akkapb.ActorRefData
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	if string(d.Path) != nobodyPath {
		return x.needRef(d.Path)
	}
	if x.Nobody != nil {
		return x.Nobody, nil
	}
	return Nobody{}, nil
}

func (x *Exchange) decodeFailure(b []byte) (any, error) {
	var d akkapb.StatusFailure
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	cause, err := errorOf(&d.Cause)
	if err != nil {
		return nil, err
	}
	state, err := x.decodeOrKeep(&d.State)
	return actor.StatusFailure{Cause: cause, State: state}, err
}

func (x *Exchange) decodeRouter(manifest, b []byte) (any, error) {
	switch string(manifest) {
	case "FC":
		return x.decodeFromConfig(b)
	case "DR":
		var d akkapb.DefaultResizer
		err := d.Decode(b)
		return DefaultResizer(d), err
	case "RORRC":
		return x.decodeRemoteRouter(b)
	case "ROSGP":
		p, within, _, err := x.decodeTimedPool(b)
		return ScatterGatherPool{p, within}, err
	case "ROTCP":
		p, within, interval, err := x.decodeTimedPool(b)
		return TailChoppingPool{p, within, interval}, err
	}
	p, err := x.decodePool(b)
	switch string(manifest) {
	case "RORRP":
		return RoundRobinPool{p}, err
	case "ROBP":
		return BroadcastPool{p}, err
	case "RORP":
		return RandomPool{p}, err
	}
	return ConsistentHashingPool{p}, err
}
