package serial

import (
	"errors"
	"reflect"

	"github.com/actua/actua/actor"
	"github.com/actua/actua/actor/internal/akkapb"
)

// The system messages of Akka.NET (serializer 22), which travel between nodes with sequence numbers.
type (
	// Create starts an actor. It is not sent between nodes of today.
	Create struct{ Cause error }
	// Recreate restarts an actor.
	Recreate struct{ Cause error }
	// Suspend stops the handling of ordinary messages.
	Suspend struct{}
	// Resume goes on with it.
	Resume struct{ Cause error }
	// Terminate stops an actor.
	Terminate struct{}
	// Supervise tells a parent of a child on another node.
	Supervise struct {
		Child *actor.Ref
		Async bool
	}
	// Watch asks for a DeathWatchNotification when Watchee ends.
	Watch struct{ Watchee, Watcher *actor.Ref }
	// Unwatch takes Watch back.
	Unwatch struct{ Watchee, Watcher *actor.Ref }
	// Failed tells a parent that a child has failed. UID is that of the child.
	Failed struct {
		Child *actor.Ref
		Cause error
		UID   uint64
	}
	// DeathWatchNotification says that Actor has ended, or was never there.
	DeathWatchNotification struct {
		Actor              *actor.Ref
		ExistenceConfirmed bool
		AddressTerminated  bool
	}
)

var systemTypes = []reflect.Type{
	reflect.TypeFor[Create](), reflect.TypeFor[Recreate](), reflect.TypeFor[Suspend](), reflect.TypeFor[Resume](), reflect.TypeFor[Terminate](),
	reflect.TypeFor[Supervise](), reflect.TypeFor[Watch](), reflect.TypeFor[Unwatch](), reflect.TypeFor[Failed](), reflect.TypeFor[DeathWatchNotification](),
}

// IsSystemMessage reports whether msg is one of the system messages, which have to be delivered reliably.
func IsSystemMessage(msg any) bool {
	switch msg.(type) {
	case Create, Recreate, Suspend, Resume, Terminate, Supervise, Watch, Unwatch, Failed, DeathWatchNotification:
		return true
	}
	return false
}

// systemSerializer is serializer 22.
type systemSerializer struct{}

func (*systemSerializer) ID() int32 { return systemID }

func (*systemSerializer) Manifest(msg any) string {
	switch msg.(type) {
	case Create:
		return "Akka.Dispatch.SysMsg.Create, Akka"
	case Recreate:
		return "Akka.Dispatch.SysMsg.Recreate, Akka"
	case Suspend:
		return "Akka.Dispatch.SysMsg.Suspend, Akka"
	case Resume:
		return "Akka.Dispatch.SysMsg.Resume, Akka"
	case Terminate:
		return "Akka.Dispatch.SysMsg.Terminate, Akka"
	case Supervise:
		return "Akka.Dispatch.SysMsg.Supervise, Akka"
	case Watch:
		return "Akka.Dispatch.SysMsg.Watch, Akka"
	case Unwatch:
		return "Akka.Dispatch.SysMsg.Unwatch, Akka"
	case Failed:
		return "Akka.Dispatch.SysMsg.Failed, Akka"
	case DeathWatchNotification:
		return "Akka.Dispatch.SysMsg.DeathWatchNotification, Akka"
	}
	return ""
}

func (*systemSerializer) Append(dst []byte, msg any, x *Exchange) ([]byte, error) {
	switch m := msg.(type) {
	case Create:
		return appendCause(dst, m.Cause)
	case Recreate:
		return appendCause(dst, m.Cause)
	case Resume:
		return appendCause(dst, m.Cause)
	case Suspend, Terminate:
		return dst, nil
	case Supervise:
		child, err := x.path("Supervise", m.Child)
		return (&akkapb.SuperviseData{Child: child, HasChild: true, Async: m.Async}).Append(dst), err
	case Watch:
		return x.appendWatch(dst, "Watch", m.Watchee, m.Watcher)
	case Unwatch:
		return x.appendWatch(dst, "Unwatch", m.Watchee, m.Watcher)
	case Failed:
		child, err := x.path("Failed", m.Child)
		if err != nil {
			return dst, err
		}
		cause, err := exceptionData(m.Cause)
		if err != nil {
			return dst, err
		}
		return (&akkapb.FailedData{Child: child, HasChild: true, Cause: cause, HasCause: true, UID: m.UID}).Append(dst), nil
	case DeathWatchNotification:
		path, err := x.path("DeathWatchNotification", m.Actor)
		return (&akkapb.DeathWatchNotificationData{
			Actor: path, HasActor: true, ExistenceConfirmed: m.ExistenceConfirmed, AddressTerminated: m.AddressTerminated,
		}).Append(dst), err
	}
	return dst, wrongType(systemID, msg)
}

// path is the path of a reference that has to be there.
func (x *Exchange) path(what string, r *actor.Ref) ([]byte, error) {
	if r == nil {
		return nil, badBytes(systemID, what, "a reference is nil", nil)
	}
	return x.appendRef(make([]byte, 0, 96), r), nil
}

func appendCause(dst []byte, cause error) ([]byte, error) {
	d, err := exceptionData(cause)
	if err != nil {
		return dst, err
	}
	return (&akkapb.CauseData{Cause: d, HasCause: true}).Append(dst), nil
}

func (x *Exchange) appendWatch(dst []byte, what string, watchee, watcher *actor.Ref) ([]byte, error) {
	a, err := x.path(what, watchee)
	if err != nil {
		return dst, err
	}
	b, err := x.path(what, watcher)
	if err != nil {
		return dst, err
	}
	return (&akkapb.WatchData{Watchee: a, HasWatchee: true, Watcher: b, HasWatcher: true}).Append(dst), nil
}

func (*systemSerializer) Decode(b, manifest []byte, x *Exchange) (any, error) {
	what, ok := systemName(manifest)
	if !ok {
		return nil, &ManifestError{systemID, string(manifest)}
	}
	msg, err := x.decodeSystem(what, b)
	if err != nil {
		return nil, badBytes(systemID, what, "malformed", err)
	}
	return msg, nil
}

// systemName is the class of a manifest without its namespace.
func systemName(manifest []byte) (string, bool) {
	switch string(manifest) {
	case "Akka.Dispatch.SysMsg.Create, Akka":
		return "Create", true
	case "Akka.Dispatch.SysMsg.Recreate, Akka":
		return "Recreate", true
	case "Akka.Dispatch.SysMsg.Suspend, Akka":
		return "Suspend", true
	case "Akka.Dispatch.SysMsg.Resume, Akka":
		return "Resume", true
	case "Akka.Dispatch.SysMsg.Terminate, Akka":
		return "Terminate", true
	case "Akka.Dispatch.SysMsg.Supervise, Akka":
		return "Supervise", true
	case "Akka.Dispatch.SysMsg.Watch, Akka":
		return "Watch", true
	case "Akka.Dispatch.SysMsg.Unwatch, Akka":
		return "Unwatch", true
	case "Akka.Dispatch.SysMsg.Failed, Akka":
		return "Failed", true
	case "Akka.Dispatch.SysMsg.DeathWatchNotification, Akka":
		return "DeathWatchNotification", true
	}
	return "", false
}

func (x *Exchange) decodeSystem(what string, b []byte) (any, error) {
	switch what {
	case "Suspend":
		return Suspend{}, nil
	case "Terminate":
		return Terminate{}, nil
	case "Watch", "Unwatch":
		return x.decodeWatch(what, b)
	case "Supervise":
		var d akkapb.SuperviseData
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		child, err := x.needRef(d.Child)
		return Supervise{child, d.Async}, err
	case "Failed":
		var d akkapb.FailedData
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		child, err := x.needRef(d.Child)
		if err != nil {
			return nil, err
		}
		cause, err := errorOf(&d.Cause)
		return Failed{child, cause, d.UID}, err
	case "DeathWatchNotification":
		var d akkapb.DeathWatchNotificationData
		if err := d.Decode(b); err != nil {
			return nil, err
		}
		of, err := x.needRef(d.Actor)
		return DeathWatchNotification{of, d.ExistenceConfirmed, d.AddressTerminated}, err
	}
	var d akkapb.CauseData
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	cause, err := errorOf(&d.Cause)
	switch what {
	case "Create":
		return Create{cause}, err
	case "Recreate":
		return Recreate{cause}, err
	}
	return Resume{cause}, err
}

func (x *Exchange) decodeWatch(what string, b []byte) (any, error) {
	var d akkapb.WatchData
	if err := d.Decode(b); err != nil {
		return nil, err
	}
	watchee, err := x.needRef(d.Watchee)
	if err != nil {
		return nil, err
	}
	watcher, err := x.needRef(d.Watcher)
	if what == "Watch" {
		return Watch{watchee, watcher}, err
	}
	return Unwatch{watchee, watcher}, err
}

// needRef is ref where there has to be one.
func (x *Exchange) needRef(path []byte) (*actor.Ref, error) {
	if len(path) == 0 {
		return nil, errNoRef
	}
	return x.ref(path)
}

var errNoRef = errors.New("a reference is missing")
