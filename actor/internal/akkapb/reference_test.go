package akkapb

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// schema is what sections 1.4, 2.1, 3.3 and 4 of the description say, in the words of a .proto file. A
// string is declared as bytes, for its content is not looked at here; the entries of a map are messages.
const schema = `
AkkaProtocolMessage: 1 payload bytes, 2 instruction AkkaControlMessage
AkkaControlMessage: 1 commandType int32, 2 handshakeInfo AkkaHandshakeInfo
AkkaHandshakeInfo: 1 origin AddressData, 2 uid fixed64
AddressData: 1 system bytes, 2 hostname bytes, 3 port uint32, 4 protocol bytes
AckAndEnvelopeContainer: 1 ack AcknowledgementInfo, 2 envelope RemoteEnvelope
RemoteEnvelope: 1 recipient ActorRefData, 2 message Payload, 4 sender ActorRefData, 5 seq fixed64
AcknowledgementInfo: 1 cumulativeAck fixed64, 2 nacks repeated fixed64
ActorRefData: 1 path bytes
Payload: 1 message bytes, 2 serializerId int32, 3 messageManifest bytes
SelectionEnvelope: 1 payload Payload, 2 pattern repeated Selection
Selection: 1 type int32, 2 matcher bytes
Identify: 1 messageId Payload
ActorIdentity: 1 correlationId Payload, 2 path bytes
RemoteWatcherHeartbeatResponse: 1 uid uint64
StatusSuccess: 1 status Payload
StatusFailure: 1 cause ExceptionData, 2 state Payload
ExceptionData: 1 typeName bytes, 2 message bytes, 3 stackTrace bytes, 4 source bytes, 5 innerException ExceptionData, 6 customFields repeated Entry, 7 typeForwardedFrom bytes
Entry: 1 key bytes, 2 value Payload
RemoteScope: 1 node AddressData
FromConfig: 1 resizer Payload, 2 routerDispatcher bytes
DefaultResizer: 1 lowerBound uint32, 2 upperBound uint32, 3 pressureThreshold uint32, 4 rampupRate double, 5 backoffThreshold double, 6 backoffRate double, 7 messagesPerResize uint32
GenericRoutingPool: 1 nrOfInstances uint32, 2 routerDispatcher bytes, 3 usePoolDispatcher bool, 4 resizer Payload
TailChoppingPool: 1 generic GenericRoutingPool, 2 within Duration, 3 interval Duration
Duration: 1 seconds int64, 2 nanos int32
RemoteRouterConfig: 1 local Payload, 2 nodes repeated AddressData
CauseData: 1 cause ExceptionData
SuperviseData: 1 child ActorRefData, 2 async bool
WatchData: 1 watchee ActorRefData, 2 watcher ActorRefData
FailedData: 1 child ActorRefData, 2 cause ExceptionData, 3 uid uint64
DeathWatchNotificationData: 1 actor ActorRefData, 2 existenceConfirmed bool, 3 addressTerminated bool
DaemonMsgCreateData: 1 props PropsData, 2 deploy DeployData, 3 path bytes, 4 supervisor ActorRefData
PropsData: 2 deploy DeployData, 3 clazz bytes, 4 args repeated bytes, 5 manifests repeated bytes, 6 serializerIds repeated int32, 7 hasManifest repeated bool
DeployData: 1 path bytes, 2 config bytes, 3 routerConfig bytes, 4 scope bytes, 5 dispatcher bytes, 6 scopeSerializerId int32, 7 scopeManifest bytes, 8 configSerializerId int32, 9 configManifest bytes, 10 routerConfigSerializerId int32, 11 routerConfigManifest bytes, 12 stashCapacity int32
`

// reference makes the schema readable for the protobuf library.
func reference(t testing.TB) protoreflect.MessageDescriptors {
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("a.proto"), Package: proto.String("p"), Syntax: proto.String("proto3")}
	for line := range strings.Lines(strings.TrimSpace(schema)) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		d := &descriptorpb.DescriptorProto{Name: &name}
		for _, f := range strings.Split(list, ", ") {
			w := strings.Fields(f)
			n, err := strconv.Atoi(w[0])
			if err != nil {
				t.Fatal(err)
			}
			label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
			if w[2] == "repeated" {
				label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
			}
			fd := &descriptorpb.FieldDescriptorProto{Name: &w[1], Number: proto.Int32(int32(n)), Label: &label}
			typ := w[len(w)-1]
			if k, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(typ)]; ok {
				fd.Type = descriptorpb.FieldDescriptorProto_Type(k).Enum()
			} else {
				fd.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
				fd.TypeName = proto.String(".p." + typ)
			}
			d.Field = append(d.Field, fd)
		}
		file.MessageType = append(file.MessageType, d)
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages()
}

var lengths = []int{0, 0, 1, 2, 3, 10, 126, 127, 128, 300}

// random fills a message; the deeper, the less.
func random(r *rand.Rand, m protoreflect.Message, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if r.IntN(4) == 0 {
			continue
		}
		switch {
		case f.IsList():
			l := m.Mutable(f).List()
			for range r.IntN(4) {
				if f.Message() == nil {
					l.Append(scalar(r, f.Kind()))
				} else if depth < 6 {
					e := l.AppendMutable().Message()
					random(r, e, depth+1)
				}
			}
		case f.Message() != nil:
			if depth < 6 {
				random(r, m.Mutable(f).Message(), depth+1)
			}
		default:
			m.Set(f, scalar(r, f.Kind()))
		}
	}
}

func scalar(r *rand.Rand, k protoreflect.Kind) protoreflect.Value {
	v := r.Uint64() >> r.IntN(64)
	if r.IntN(4) == 0 {
		v = -v
	}
	switch k {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(v&1 == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(v))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(v))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(v))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(v)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(int64(v)) / 8)
	case protoreflect.BytesKind:
		b := make([]byte, lengths[r.IntN(len(lengths))])
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return protoreflect.ValueOfBytes(b)
	}
	panic(k)
}

// without drops what a message has of unknown fields, at all depths.
func without(m protoreflect.Message) {
	m.SetUnknown(nil)
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if f.Message() == nil {
			return true
		}
		if f.IsList() {
			for i := range v.List().Len() {
				without(v.List().Get(i).Message())
			}
		} else {
			without(v.Message())
		}
		return true
	})
}

// agree compares what we and the protobuf library make of the same bytes.
func agree(t testing.TB, name string, d protoreflect.MessageDescriptor, b []byte) {
	want := dynamicpb.NewMessage(d)
	theirs := proto.UnmarshalOptions{RecursionLimit: 1000}.Unmarshal(b, want)
	m := messages[name]()
	ours := m.Decode(b)
	if ours != nil {
		if theirs == nil && !strings.Contains(ours.Error(), badNesting) && !strings.Contains(ours.Error(), badTag) {
			t.Fatalf("%s: the library takes it, we do not: %v\n%x", name, ours, b)
		}
		return
	}
	if theirs != nil {
		// Parts of two messages are decoded later.
		if c, ok := m.(*AkkaProtocolMessage); ok && new(AkkaControlMessage).Decode(c.Instruction) != nil {
			return
		}
		t.Fatalf("%s: we take it, the library does not: %v\n%x", name, theirs, b)
	}
	out := m.Append(nil)
	if len(out) != m.Size() {
		t.Fatalf("%s: Size is %d, Append wrote %d bytes", name, m.Size(), len(out))
	}
	got := dynamicpb.NewMessage(d)
	if err := proto.Unmarshal(out, got); err != nil {
		t.Fatalf("%s: the library does not take what we wrote: %v\n%x", name, err, out)
	}
	without(want)
	without(got)
	if !proto.Equal(want, got) {
		wb, _ := proto.MarshalOptions{Deterministic: true}.Marshal(want)
		gb, _ := proto.MarshalOptions{Deterministic: true}.Marshal(got)
		if bytes.Equal(wb, gb) {
			return // not-a-number differs from itself
		}
		t.Fatalf("%s: %x means\n%v to the library, and\n%v to us", name, b, want, got)
	}
}

// TestReference has random messages written by the protobuf library: we read them, and write the same
// bytes. Then fields are repeated, split, and mixed with unknown ones: both must make the same of them.
func TestReference(t *testing.T) {
	all := reference(t)
	r := rand.New(rand.NewPCG(1, 2))
	for name := range messages {
		d := all.ByName(protoreflect.Name(name))
		if d == nil {
			t.Fatalf("%s is not in the schema", name)
		}
		var last []byte
		m := messages[name]()
		for range 300 {
			ref := dynamicpb.NewMessage(d)
			random(r, ref, 0)
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(ref)
			if err != nil {
				t.Fatal(err)
			}
			if got := again(t, m, b); !bytes.Equal(got, b) {
				t.Fatalf("%s: became\n%x\n%x", name, got, b)
			}
			agree(t, name, d, append(slices.Clone(b), last...))
			agree(t, name, d, disturbed(r, b))
			last = b
		}
	}
}

// disturbed puts unknown fields and old values between the fields of a message, and cuts some bytes out.
func disturbed(r *rand.Rand, b []byte) []byte {
	odd := []string{"\xf8\x01\x05", "\xf9\x01abcdefgh", "\xfa\x01\x03abc", "\xfd\x01abcd", "\x0d1234", "\x78\x01", "\xfb\x01\x08\x01\x0b\x0c\xfc\x01", "\x08\x05",
		"\x0a\x00", "\x12\x00", "\x2a\x00", "\x11abcdefgh", "\x8a\x00\x00", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x32\x02\x81\x01", "\x3a\x02\x00\x05"}
	var out []byte
	f := fields{rest: b}
	for {
		for r.IntN(3) == 0 {
			out = append(out, odd[r.IntN(len(odd))]...)
		}
		before := f.rest
		if !f.next() {
			break
		}
		piece := before[:len(before)-len(f.rest)]
		out = append(out, piece...)
		if r.IntN(3) == 0 {
			out = append(out, piece...)
		}
	}
	if len(out) > 0 && r.IntN(4) == 0 {
		i := r.IntN(len(out))
		out = append(out[:i], out[min(len(out), i+1+r.IntN(3)):]...)
	}
	return out
}
