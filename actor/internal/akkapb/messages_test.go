package akkapb

import (
	"reflect"
	"testing"
)

// message is what all messages have in common.
type message interface {
	Size() int
	Append(dst []byte) []byte
	Decode(b []byte) error
}

// messages makes one of each kind, by the name of the .proto files.
var messages = map[string]func() message{
	"AkkaProtocolMessage":            func() message { return new(AkkaProtocolMessage) },
	"AkkaControlMessage":             func() message { return new(AkkaControlMessage) },
	"AkkaHandshakeInfo":              func() message { return new(AkkaHandshakeInfo) },
	"AddressData":                    func() message { return new(AddressData) },
	"AckAndEnvelopeContainer":        func() message { return new(AckAndEnvelopeContainer) },
	"AcknowledgementInfo":            func() message { return new(AcknowledgementInfo) },
	"ActorRefData":                   func() message { return new(ActorRefData) },
	"Payload":                        func() message { return new(Payload) },
	"SelectionEnvelope":              func() message { return new(SelectionEnvelope) },
	"Identify":                       func() message { return new(Identify) },
	"ActorIdentity":                  func() message { return new(ActorIdentity) },
	"RemoteWatcherHeartbeatResponse": func() message { return new(RemoteWatcherHeartbeatResponse) },
	"StatusSuccess":                  func() message { return new(StatusSuccess) },
	"StatusFailure":                  func() message { return new(StatusFailure) },
	"ExceptionData":                  func() message { return new(ExceptionData) },
	"RemoteScope":                    func() message { return new(RemoteScope) },
	"FromConfig":                     func() message { return new(FromConfig) },
	"DefaultResizer":                 func() message { return new(DefaultResizer) },
	"GenericRoutingPool":             func() message { return new(GenericRoutingPool) },
	"TailChoppingPool":               func() message { return new(TimedPool) },
	"RemoteRouterConfig":             func() message { return new(RemoteRouterConfig) },
	"CauseData":                      func() message { return new(CauseData) },
	"SuperviseData":                  func() message { return new(SuperviseData) },
	"WatchData":                      func() message { return new(WatchData) },
	"FailedData":                     func() message { return new(FailedData) },
	"DeathWatchNotificationData":     func() message { return new(DeathWatchNotificationData) },
	"DaemonMsgCreateData":            func() message { return new(DaemonMsgCreateData) },
	"PropsData":                      func() message { return new(PropsData) },
	"DeployData":                     func() message { return new(DeployData) },
}

// payloadMessage is the message that a serializer id and a manifest stand for, nil where the payload is
// none of ours or has no bytes.
func payloadMessage(id int32, manifest string) message {
	name := ""
	switch id {
	case 3:
		name = "DaemonMsgCreateData"
	case 6:
		name = "SelectionEnvelope"
	case 16:
		name = map[string]string{"ID": "Identify", "AID": "ActorIdentity", "AR": "ActorRefData", "RWHR": "RemoteWatcherHeartbeatResponse",
			"STS": "StatusSuccess", "STF": "StatusFailure", "RS": "RemoteScope", "FC": "FromConfig", "DR": "DefaultResizer",
			"RORRP": "GenericRoutingPool", "ROBP": "GenericRoutingPool", "RORP": "GenericRoutingPool", "ROCHP": "GenericRoutingPool",
			"ROSGP": "TailChoppingPool", "ROTCP": "TailChoppingPool", "RORRC": "RemoteRouterConfig"}[manifest]
	case 22:
		name = map[string]string{"Create": "CauseData", "Recreate": "CauseData", "Resume": "CauseData", "Supervise": "SuperviseData",
			"Watch": "WatchData", "Unwatch": "WatchData", "Failed": "FailedData", "DeathWatchNotification": "DeathWatchNotificationData",
		}[systemName(manifest)]
	}
	if name == "" {
		return nil
	}
	return messages[name]()
}

func systemName(manifest string) string {
	const before, after = "Akka.Dispatch.SysMsg.", ", Akka"
	if len(manifest) < len(before)+len(after) {
		return ""
	}
	return manifest[len(before) : len(manifest)-len(after)]
}

// again decodes b as a message of this kind and encodes it, checks Size and that nothing of an earlier
// message stays behind, and returns the bytes.
func again(t testing.TB, m message, b []byte) []byte {
	t.Helper()
	if err := m.Decode(b); err != nil {
		t.Fatalf("%T: %v\n%x", m, err, b)
	}
	out := m.Append([]byte("before"))[len("before"):]
	if m.Size() != len(out) {
		t.Fatalf("%T: Size is %d, Append wrote %d bytes", m, m.Size(), len(out))
	}
	if err := m.Decode(nil); err != nil {
		t.Fatalf("%T: empty: %v", m, err)
	}
	if n := m.Size(); n != 0 {
		t.Fatalf("%T: %d bytes of the last message stayed behind: %x", m, n, m.Append(nil))
	}
	fresh := reflect.New(reflect.TypeOf(m).Elem()).Interface().(message)
	if err := fresh.Decode(b); err != nil || string(fresh.Append(nil)) != string(out) {
		t.Fatalf("%T: a fresh one decodes differently: %v", m, err)
	}
	return out
}
